//! What a plan says.

use super::outlook::Outlook;
use super::protocol::{Kind, Protocol};

/// What to do, and what it promises.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many users.
    pub users: u64,
    /// Which protocol, allocated.
    pub protocol: Protocol,
    /// The standard deviation of the Gaussian noise that every user adds to the value before answering; the protocol takes the
    /// values to have the standard deviation $\sqrt{\sigma^2 + \text{noise}^2}$. Zero for most plans.
    pub noise: f64,
    /// What it promises: widths, coverage and infinite ends at the worst mean of the prior interval and the largest mean squared
    /// error at any, or all of it on average.
    pub outlook: Outlook,
    /// The mean at which its intervals are widest.
    pub worst_mean: f64,
    /// The half-width that the asymptotic formula promises, $z\sigma\sqrt{V/n}$.
    pub asymptotic_half_width: f64,
    /// Where the width comes from.
    pub shares: Shares,
    /// The probability that its pilot ends more than two σ off, at the worst place; `None` without a pilot.
    pub pilot_failure: Option<f64>,
    /// The same users, half and half.
    pub naive: Option<Naive>,
    /// The other protocols.
    pub alternatives: Vec<Alternative>,
    /// What to keep in mind.
    pub warnings: Vec<Warning>,
}

/// Where the squared half-width comes from, as shares that add up to one.
///
/// With $n_2$ users in the last round, $n(w/z)^2 = \frac{n}{n_2}(V + \text{off centre})\sigma^2$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The values' own spread: it would be there without privacy.
    pub sample: f64,
    /// What an optimal ε-private protocol adds to it.
    pub privacy: f64,
    /// The users of the pilot.
    pub pilot: f64,
    /// The users of the first stage.
    pub first_stage: f64,
    /// The last threshold's distance from the mean, and what finite numbers cost beyond the asymptotic formula.
    pub off_centre: f64,
}

/// A part of the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The values' own spread.
    Sample,
    /// Privacy.
    Privacy,
    /// The pilot.
    Pilot,
    /// The first stage.
    FirstStage,
    /// The last threshold's distance from the mean.
    OffCentre,
}

impl Shares {
    /// Of the squared half-width per user, in units of σ² and z², and the bound in the same.
    pub(super) fn new(whole: f64, bound: f64, users: f64, pilot: f64, first_stage: f64) -> Self {
        if !(whole > 0.0 && whole.is_finite()) {
            // No finite interval: no threshold was near enough to the mean.
            return Self { sample: 0.0, privacy: 0.0, pilot: 0.0, first_stage: 0.0, off_centre: 1.0 };
        }
        // An interval that is cut by what is known beforehand can be narrower than the bound, even than the sample.
        let last = whole * (users - pilot - first_stage) / users;
        let sample = last.min(1.0);
        Self {
            sample: sample / whole,
            privacy: (last.min(bound) - sample) / whole,
            pilot: pilot / users,
            first_stage: first_stage / users,
            off_centre: (last - bound).max(0.0) / whole,
        }
    }

    /// The largest.
    #[must_use]
    pub fn dominant(&self) -> Part {
        let parts = [
            (self.sample, Part::Sample),
            (self.privacy, Part::Privacy),
            (self.pilot, Part::Pilot),
            (self.first_stage, Part::FirstStage),
            (self.off_centre, Part::OffCentre),
        ];
        parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(Part::Sample, |part| part.1)
    }
}

/// What half of the users in each round would bring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Naive {
    /// The protocol.
    pub protocol: Protocol,
    /// What it promises.
    pub outlook: Outlook,
    /// By how much its spread is larger than the plan's, 0.1 for a tenth: the standard deviation that its intervals show, or
    /// the root of its mean squared error, whichever is larger. `None` where more than one in a hundred of its intervals have
    /// an infinite end.
    pub margin: Option<f64>,
}

/// Another protocol for the same request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternative {
    /// Its kind.
    pub kind: Kind,
    /// Users, protocol and promise; `None` where it cannot do it, or not with a hundred times the users of the plan.
    pub plan: Option<(u64, Protocol, Outlook)>,
}

/// Something to keep in mind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warning {
    /// The asymptotic formula promises more than there is.
    Asymptotics {
        /// How much larger the expected half-width is, 0.1 for a tenth.
        excess: f64,
    },
    /// Ends of intervals can be infinite.
    Infinite {
        /// With this probability.
        probability: f64,
    },
    /// The number of users is what finite intervals need, not the half-width asked for.
    FiniteEnds {
        /// The half-width that was asked for.
        wanted: f64,
    },
    /// Intervals cover more than asked for, as exact ones do for few users.
    Conservative {
        /// With this probability.
        coverage: f64,
    },
    /// The pilot can fail.
    Pilot {
        /// With this probability.
        failure: f64,
    },
    /// Rare events rule the mean squared error.
    RareErrors {
        /// How much larger the root of the mean squared error is than the standard deviation that intervals show.
        ratio: f64,
    },
}
