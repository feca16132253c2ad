//! What a sequential quantile says about itself: an interval from its path, and whether the path can be trusted.

use crate::self_normalised::critical_value;
use ldp_core::error::require;
use ldp_core::{Error, Inference, Interval, IntervalKind, Rescale, Result};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// How often the walk has to have forgotten where it was, or there is no interval. A walk that nothing pulls back, which is far from
/// having arrived, looks like that once in ten times.
const LEAST_SETTLED: f64 = 11.0;
/// The same for an interval as published, whose walk is known to be long: less than once, and it has not arrived.
const ARRIVED: f64 = 1.0;
/// Where the interval is twice as wide as published; the excess falls with the third power.
const DOUBLED: f64 = 20.0;
/// The share of values beyond the quantile in standard errors of a share, at least.
const LEAST_RESOLVED: f64 = 8.0;

/// From which τ Σ d on how many of the published 95 % intervals cover at a Gaussian median of known σ, in per cent: measured
/// from a perfect start, where fewest do.
const PUBLISHED: [(f64, u8); 5] = [(45.0, 90), (54.0, 91), (75.0, 92), (110.0, 93), (200.0, 94)];

/// A quantile from a sequential run, with its self-normalised interval.
///
/// The published interval is $\bar Q_n \pm c \sqrt N$ with $N = n^{-3} \sum m^2 (\bar Q_m - \bar Q_n)^2$. It covers less than it says
/// where the walk is short, and does not see what bends the distribution at the quantile: 0 to 80 % away from the median. So:
///
/// - *As published* at a median with steps in units of a known σ, from where on at least 90 % of 95 % intervals cover; the
///   caveat says how many.
/// - *Widened* else, to $\bar Q_n \pm (c \sqrt N (1 + (20/\Lambda)^3) + b)$. Λ says how often the walk has forgotten where
///   it was: with steps d, noise $v = (1 - r^2(2p-1)^2)/4$ and W the variance of the guesses of the last three quarters it is
///   $\sum d^2 v / (2W)$, because a walk that is pulled back with the slope g swings with $W = dv/(2g)$.
///   And $b = \bar d v / (4 r \min(p, 1-p))$ bounds what the bend of the distribution does to the mean of the guesses,
///   $|f'| \bar d v/(4 r f^2)$, for every density with a concave logarithm.
/// - *None* where Λ is below 11, or min(p, 1−p) below 8 standard errors $\sqrt{v/n}/r$ of a share.
///
/// A walk that nothing pulls back, with steps far too short for so few users, has $1/(2\Lambda)$ distributed as
/// $\int (B - \bar B)^2$ of a Brownian motion, which is the law of Cramér and von Mises: 11 is passed in 10 % of the runs.
///
/// The numbers 20, 11 and 8 are chosen by simulation so that at most one run in ten has a 95 % interval that misses, and that of
/// the intervals at least 90 % cover wherever half of the runs have one, also with steps many times too short or too long; it is
/// checked over six families, quantiles from 0.01 to 0.99 and any start. They hold for smooth distributions: at a value that many
/// users share, or in a gap, fewer cover.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawEstimate")]
pub struct LiuEstimate {
    value: f64,
    /// $\sqrt N$, $N = n^{-3} \sum m^2 (\bar Q_m - \bar Q_n)^2$: N itself would be zero in small units.
    spread: f64,
    users: u64,
    /// How often the walk has forgotten where it was, Λ.
    settled: f64,
    /// What the bend of the distribution may do, b.
    bend: f64,
    trust: Trust,
}

/// What the interval rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Trust {
    /// So many of a hundred published 95 % intervals cover.
    Published(u8),
    /// The path alone.
    Path,
    /// Nothing: the quantile is too near the end of the distribution for so few users.
    Unresolved,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEstimate {
    value: f64,
    spread: f64,
    users: u64,
    settled: f64,
    bend: f64,
    trust: Trust,
}

impl TryFrom<RawEstimate> for LiuEstimate {
    type Error = Error;
    fn try_from(RawEstimate { value, spread, users, settled, bend, trust }: RawEstimate) -> Result<Self> {
        Self { value, spread, users, settled, bend, trust }.checked()
    }
}

/// What a path says about itself.
pub(crate) struct Walked {
    /// The contrast of the questions.
    pub(crate) tau: f64,
    /// The share of values beyond the quantile, on the side where they are fewer.
    pub(crate) tail: f64,
    /// The variance of a report at the quantile, v.
    pub(crate) noise: f64,
    /// The variance of the guesses while they were measured.
    pub(crate) swing: f64,
    /// The users of these guesses.
    pub(crate) measured: f64,
    /// Their mean step.
    pub(crate) step: f64,
    /// The mean step of all users, and how many there are.
    pub(crate) mean_step: f64,
    /// Whether the interval is published for this quantile and this unit of steps.
    pub(crate) published: bool,
}

impl Walked {
    /// Λ: zero where guesses did not move at all.
    fn settled(&self) -> f64 {
        let forgotten = self.measured * self.step * self.step * self.noise / (2.0 * self.swing);
        if self.swing > 0.0 && forgotten.is_finite() { forgotten } else { 0.0 }
    }

    fn trust(&self, users: f64) -> Trust {
        let pull = self.tau * self.mean_step * users;
        let known = PUBLISHED.iter().rev().find(|(from, _)| self.published && pull >= *from);
        match known {
            Some(&(_, percent)) => Trust::Published(percent),
            None if self.tail * self.tau * (users / self.noise).sqrt() < LEAST_RESOLVED => Trust::Unresolved,
            None => Trust::Path,
        }
    }
}

impl LiuEstimate {
    /// The start, where nobody answered.
    pub(crate) fn of_nobody(start: f64) -> Self {
        Self { value: start, spread: 0.0, users: 0, settled: 0.0, bend: 0.0, trust: Trust::Unresolved }
    }

    /// From N, which is not negative.
    pub(crate) fn new(value: f64, squared: f64, users: u64, walked: &Walked) -> Result<Self> {
        let spread = squared.sqrt();
        let bend = walked.mean_step * walked.noise / (4.0 * walked.tau * walked.tail);
        let trust = walked.trust(users as f64);
        Self { value, spread, users, settled: walked.settled(), bend, trust }.checked()
    }

    fn checked(self) -> Result<Self> {
        require(self.value.is_finite(), "the estimate", "finite", self.value)?;
        for (number, what) in [(self.spread, "the spread"), (self.settled, "settled"), (self.bend, "the bend")] {
            require(number >= 0.0 && number.is_finite(), what, "finite and not negative", number)?;
        }
        Ok(self)
    }

    #[cfg(test)]
    pub(crate) fn spread(&self) -> f64 {
        self.spread * self.spread
    }

    /// The interval's half width for a critical value, or why there is none.
    fn half_width(&self, critical: f64) -> std::result::Result<f64, &'static str> {
        let published = critical * self.spread;
        if self.users < 2 {
            return Err("fewer than two users answered: there is no path to measure");
        }
        match self.trust {
            Trust::Unresolved => {
                Err("so few users cannot tell this quantile from the end of the distribution at this epsilon")
            }
            Trust::Published(_) if self.settled >= ARRIVED => Ok(published),
            Trust::Path if self.settled >= LEAST_SETTLED => {
                Ok(published * (1.0 + (DOUBLED / self.settled).powi(3)) + self.bend)
            }
            _ => Err("the walk has not settled: start nearer, take a larger scale, or ask more users"),
        }
    }
}

impl Inference for LiuEstimate {
    fn value(&self) -> f64 {
        self.value
    }

    /// None: the self-normalised interval exists because the variance need not be estimated.
    fn standard_error(&self) -> Option<f64> {
        None
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::SelfNormalised]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        if kind != IntervalKind::SelfNormalised {
            return Err(Error::NoInterval {
                kind,
                reason: "a sequential quantile has a self-normalised interval only",
            });
        }
        let half = self.half_width(critical_value(level)?).map_err(|reason| Error::NoInterval { kind, reason })?;
        Interval::new(kind, level, self.value - half, self.value + half)
    }

    fn note(&self) -> Option<&'static str> {
        (self.users == 0).then_some("nobody answered: the value is the start")
    }

    fn caveat(&self, kind: IntervalKind) -> Option<&'static str> {
        static COVERED: LazyLock<Vec<String>> = LazyLock::new(|| {
            let said = |percent| {
                format!(
                    "self-normalised intervals cover less than they say at this number of users and epsilon: of 95 % intervals \
                     for a Gaussian median with known sigma about {percent} % do"
                )
            };
            (0..=100).map(said).collect()
        });
        match self.trust {
            // Without an interval there is nothing to say about it.
            _ if kind != IntervalKind::SelfNormalised || self.half_width(1.0).is_err() => None,
            Trust::Published(percent) => {
                (percent < 94).then(|| COVERED.get(usize::from(percent)).map(String::as_str)).flatten()
            }
            Trust::Path => Some(
                "the interval is widened by what the path shows, so that at most one run in ten has a 95 % interval that misses \
                 where the distribution is smooth around the quantile; whole numbers, or a gap there, are not",
            ),
            Trust::Unresolved => None,
        }
    }
}

impl Rescale for LiuEstimate {
    fn rescale(self, factor: f64) -> Result<Self> {
        let [value, spread, bend] = [self.value, self.spread, self.bend].map(|number| number * factor);
        Self { value, spread, bend, ..self }.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: IntervalKind = IntervalKind::SelfNormalised;

    fn walked(users: f64) -> Walked {
        // A stationary walk: W = d v/(2 g) with d = 0.01, v = 1/4, g = 0.2.
        let swing = 0.01 * 0.25 / 0.4;
        let (tau, tail, noise, measured, step, mean_step) = (0.5, 0.5, 0.25, 0.75 * users, 0.01, 0.0125);
        Walked { tau, tail, noise, swing, measured, step, mean_step, published: false }
    }

    fn width(estimate: &LiuEstimate) -> f64 {
        estimate.interval(KIND, 0.95).unwrap().width()
    }

    #[test]
    fn a_walk_forgets_once_in_a_step_times_the_slope() {
        assert!((walked(10_000.0).settled() - 7500.0 * 0.01 * 0.2).abs() < 1e-12);
        let still = Walked { swing: 0.0, ..walked(10_000.0) };
        assert_eq!(still.settled(), 0.0);
    }

    #[test]
    fn the_widening_is_the_formula() {
        let walked = walked(10_000.0);
        let estimate = LiuEstimate::new(1.0, 1e-4, 10_000, &walked).unwrap();
        let published = LiuEstimate { trust: Trust::Published(94), ..estimate };
        assert!((width(&published) - 2.0 * 0.01 * critical_value(0.95).unwrap()).abs() < 1e-12);
        // Λ = 15 and b = 0.0125 · (1/4) / (4 · 0.5 · 0.5).
        let wider = width(&published) * (1.0 + (20f64 / 15.0).powi(3)) + 2.0 * 0.003_125;
        assert!((width(&estimate) / wider - 1.0).abs() < 1e-12);
        // In other units.
        let scaled = estimate.rescale(1e3).unwrap();
        assert!((width(&scaled) / (1e3 * wider) - 1.0).abs() < 1e-12 && scaled.settled == estimate.settled);
    }

    #[test]
    fn what_cannot_tell_has_no_interval() {
        let settled = LiuEstimate::new(1.0, 1e-4, 10_000, &walked(10_000.0)).unwrap();
        assert!(settled.caveat(KIND).unwrap().contains("widened"));
        let cases = [
            LiuEstimate { settled: 10.9, ..settled },
            LiuEstimate { settled: 0.9, trust: Trust::Published(94), ..settled },
            LiuEstimate { users: 1, ..settled },
            LiuEstimate::of_nobody(3.0),
            // 1 % beyond the quantile, and a standard error of 1 %.
            LiuEstimate::new(1.0, 1e-4, 10_000, &Walked { tail: 0.01, ..walked(10_000.0) }).unwrap(),
        ];
        for estimate in cases {
            assert!(matches!(estimate.interval(KIND, 0.95), Err(Error::NoInterval { .. })), "{estimate:?}");
        }
        assert!(matches!(settled.interval(IntervalKind::Wald, 0.95), Err(Error::NoInterval { .. })));
    }

    /// In a unit of 1e-300 the square of the width is no number; beside 1e300 the width is none.
    #[test]
    fn an_interval_has_a_width_in_every_unit_or_there_is_none() {
        let settled = LiuEstimate::new(1.0, 1e-4, 10_000, &walked(10_000.0)).unwrap();
        let published = LiuEstimate { trust: Trust::Published(94), ..settled };
        let tiny = published.rescale(1e-300).unwrap();
        assert!((width(&tiny) / (1e-300 * width(&published)) - 1.0).abs() < 1e-12);
        let far = LiuEstimate { value: 1e300, ..published };
        assert!(matches!(far.interval(KIND, 0.95), Err(Error::NoInterval { .. })));
    }

    #[test]
    fn the_figure_is_that_of_the_setting() {
        // τ Σ d = 0.5 · 0.0125 n.
        for (users, said) in
            [(7000.0, None), (7300.0, Some("90 %")), (12_500.0, Some("92 %")), (20_000.0, Some("93 %"))]
        {
            // Settled enough for an interval of its own.
            let walked = Walked { published: true, swing: walked(users).swing / 2.0, ..walked(users) };
            let estimate = LiuEstimate::new(0.0, 1.0, users as u64, &walked).unwrap();
            let caveat = estimate.caveat(KIND).unwrap();
            assert!(caveat.contains(said.unwrap_or("widened")), "{users}: {caveat}");
        }
        let many = LiuEstimate::new(0.0, 1.0, 100_000, &Walked { published: true, ..walked(1e5) }).unwrap();
        assert_eq!(many.caveat(KIND), None);
    }

    #[test]
    fn a_changed_estimate_is_refused() {
        let estimate = LiuEstimate::new(1.0, 1e-4, 10_000, &walked(10_000.0)).unwrap();
        let json = serde_json::to_string(&estimate).unwrap();
        assert_eq!(serde_json::from_str::<LiuEstimate>(&json).unwrap(), estimate);
        for (from, to) in [("0.01,", "-0.01,"), ("\"users\":10000", "\"users\":-1"), ("\"path\"", "\"faith\"")] {
            assert!(json.contains(from), "{json}");
            assert!(serde_json::from_str::<LiuEstimate>(&json.replace(from, to)).is_err(), "{to}");
        }
    }
}
