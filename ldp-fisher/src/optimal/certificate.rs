//! The proof that a mechanism is as informative as any, as a value that can be checked again.

use super::beta::Beta;
use super::cutting::correct;
use super::dual::{Dual, Violation};
use super::intervals::{self, Intervals};
use super::prices::priced;
use super::response::Response;
use super::tent::tent;
use crate::exact;
use crate::levels::Levels;
use ldp_core::error::require;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Epsilon, Error, FiniteChannel, Mechanism, Result};
use serde::{Deserialize, Serialize};

/// The format of a serialised certificate.
pub const CERTIFICATE_VERSION: u32 = 1;

/// Above this level $e^\varepsilon$ times the rounding of a probability is no longer small.
pub const MOST_EPSILON: f64 = 30.0;

/// Above this level a correction takes minutes and proves less than that of the value itself.
const MOST_CORRECTED: f64 = 16.0;

/// The gap that the search is content with, relative to the information.
const GOAL: f64 = 2e-7;

/// What is added to a function before its proof, relative to the information, so that rounding cannot spoil it.
const MARGIN: f64 = 1e-12;

/// What a claimed number may differ from the recomputed one by rounding on another machine, relatively.
const TOLERANCE: f64 = 1e-12;

/// A mechanism, the information it has, and a bound that no ε-private mechanism exceeds, with the function that proves it.
///
/// Made by [`certify`]. It serialises, and [`verify`](Self::verify) recomputes everything from the model alone.
///
/// ```
/// use ldp_core::{Epsilon, Error, model::Logistic};
/// use ldp_fisher::optimal::{Certificate, certify};
/// let model = Logistic::new(1.0)?;
/// let certificate = certify(&model, 0.0, Epsilon::new(4.0)?)?;
/// assert!(certificate.relative_gap() < 1e-6);
/// let json = serde_json::to_string(&certificate).unwrap();
/// let mut read: Certificate = serde_json::from_str(&json).unwrap();
/// read.verify(&model)?;
/// // Nobody can claim more than the mechanism has, nor a smaller bound than is proved.
/// read.information *= 1.0 + 1e-9;
/// assert!(matches!(read.verify(&model), Err(Error::Refused { .. })));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The format: [`CERTIFICATE_VERSION`].
    pub version: u32,
    /// The privacy level.
    pub epsilon: f64,
    /// The parameter.
    pub theta: f64,
    /// The information of the mechanism.
    pub information: f64,
    /// No ε-private mechanism has more.
    pub upper_bound: f64,
    /// The mechanism.
    pub mechanism: FiniteChannel,
    /// The function of the score that proves the bound; without one the bound is that of the value itself.
    pub beta: Option<Beta>,
}

impl Certificate {
    /// How much more than this mechanism a better one could have at most, relatively.
    #[must_use]
    pub fn relative_gap(&self) -> f64 {
        self.upper_bound / self.information - 1.0
    }

    /// Recomputes both numbers from the model, and refuses what is not proved.
    ///
    /// - The ε of the mechanism, from its integer weights, is at most the one claimed.
    /// - The information of the mechanism is at least the one claimed, up to 1e-12 of it.
    /// - $G(t) \le 0$ for the function β, at every t: see the [module](super).
    /// - The bound claimed is at least $\int\beta p$, rounded upwards.
    ///
    /// Nothing of the search is used. What is trusted: the model's cdf, its derivative and its score (to 64 units in the
    /// last place), that between neighbouring points of a grid of about 200 the score is monotone, and this code.
    pub fn verify<M: Cdf + Score + ?Sized>(&self, model: &M) -> Result<()> {
        if self.version != CERTIFICATE_VERSION {
            return Err(Error::WireVersion { found: self.version, supported: CERTIFICATE_VERSION });
        }
        let epsilon = usable(self.epsilon)?;
        let realised = self.mechanism.epsilon();
        if realised > epsilon {
            let inequality = "epsilon of the mechanism <= epsilon claimed";
            return Err(Error::Refused { inequality, left: realised.value(), right: self.epsilon });
        }
        let information = exact(&self.mechanism, model, self.theta)?.value;
        if !(self.information <= information * (1.0 + TOLERANCE)) {
            let inequality = "information claimed <= information of the mechanism";
            return Err(Error::Refused { inequality, left: self.information, right: information });
        }
        let bound = match &self.beta {
            Some(beta) => {
                let levels = Levels::new(model, self.theta)?;
                proved(&levels, beta, self.epsilon)?
            }
            None => model.information(self.theta),
        };
        if !(bound <= self.upper_bound) {
            let inequality = "bound that is proved <= upper bound claimed";
            return Err(Error::Refused { inequality, left: bound, right: self.upper_bound });
        }
        Ok(())
    }
}

/// A level that the arithmetic carries.
fn usable(epsilon: f64) -> Result<Epsilon> {
    require(!(epsilon > MOST_EPSILON), "epsilon", "at most 30 for a certificate", epsilon)?;
    Epsilon::new(epsilon)
}

/// The bound that β proves, rounded upwards.
fn proved<M: Cdf + Score + ?Sized>(levels: &Levels<'_, M>, beta: &Beta, epsilon: f64) -> Result<f64> {
    let dual = Dual::new(levels, beta, epsilon);
    dual.prove().map_err(Violation::refusal)?;
    Ok((dual.integral().above() * levels.unit() * levels.unit() * (1.0 + 4.0 * f64::EPSILON)).next_up())
}

/// The most informative ε-private mechanism for a family at θ, with a bound on all others.
///
/// The mechanism is the best [`response`](super::response) on intervals of the score. The bound is that of a function β of the
/// score, see the [module](super): a tent in closed form, which is exact for small ε, and elsewhere a piecewise linear
/// correction of it. The relative gap between the two is about 2e-7 or less up to ε = 8 for the built-in families.
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// let model = Gaussian::new(1.0)?;
/// let best = ldp_fisher::optimal::certify(&model, 0.0, Epsilon::new(3.0)?)?;
/// assert!((best.information - 0.593651361).abs() < 1e-9);
/// assert!(best.upper_bound >= best.information && best.relative_gap() < 1e-6);
/// best.verify(&model)?;
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// Above ε = 10 or so the correction is given up if it takes too long; then the bound is the information of the value itself,
/// which is then not far above. Levels above [`MOST_EPSILON`] are refused, and so are families whose information is zero or
/// infinite.
pub fn certify<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<Certificate> {
    usable(epsilon.value())?;
    let levels = Levels::new(model, theta)?;
    let found = intervals::best(&levels, epsilon)?;
    let response = Response::new(&levels, &found, epsilon)?;
    let beta = search(&levels, &found, epsilon)?;
    let proof = beta.and_then(|beta| Some((proved(&levels, &beta, epsilon.value()).ok()?, beta)));
    let itself = model.information(theta);
    let (bound, beta) = match proof {
        Some((bound, beta)) if bound < itself => (bound, Some(beta)),
        _ => (itself, None),
    };
    Ok(Certificate {
        version: CERTIFICATE_VERSION,
        epsilon: epsilon.value(),
        theta,
        information: response.information,
        upper_bound: bound * (1.0 + TOLERANCE),
        mechanism: response.channel,
        beta,
    })
}

/// A function β that can be proved, if there is one: the tent, the prices of the linear program where the family has few
/// scores, else a correction of the tent.
fn search<M: Cdf + Score + ?Sized>(
    levels: &Levels<'_, M>,
    found: &Intervals,
    epsilon: Epsilon,
) -> Result<Option<Beta>> {
    let level = epsilon.value();
    let tent = tent(levels, found)?;
    let near = 0.01 * GOAL * found.information;
    let simple = settled(levels, tent.raised(MARGIN * found.information), level, near);
    let simple = simple.or_else(|| settled(levels, priced(levels, epsilon)?, level, near));
    if simple.is_some() {
        return Ok(simple);
    }
    if level > MOST_CORRECTED {
        return Ok(None);
    }
    let corrected = correct(levels, found, &tent, level, found.information * (1.0 + GOAL));
    let proved = settled(levels, corrected.beta, level, f64::INFINITY);
    Ok(proved.map(|beta| tightened(levels, beta, level, found.information)))
}

/// A proved β without what it does not need: height above what can be proved, and knots that do nothing or stand wrong.
///
/// A smaller bound is not the only gain. In the end no knot can be left out or moved by [`NUDGE`] without a higher bound or
/// no proof at all, so that a certificate in which one was moved is refused.
fn tightened<M: Cdf + Score + ?Sized>(levels: &Levels<'_, M>, beta: Beta, epsilon: f64, information: f64) -> Beta {
    let scores = levels.scores();
    let range = [scores.first(), scores.last()].map(|score| score.copied().unwrap_or(0.0));
    let mut tight = Tight::new(levels, beta, epsilon);
    let pruned = tight.beta.pruned(range, NO_BEND);
    // Knots beyond all scores go in any case: nothing is there.
    if !tight.take(pruned, f64::INFINITY) {
        let inside = tight.beta.pruned(range, 0.0);
        tight.take(inside, f64::INFINITY);
    }
    tight.lower(information);
    tight.settle_knots();
    tight.beta
}

/// A proved β under way to one without slack.
struct Tight<'a, 'm, M: ?Sized> {
    levels: &'a Levels<'m, M>,
    epsilon: f64,
    beta: Beta,
    integral: f64,
    /// Where G has its maxima: what is no proof fails there first.
    tops: Vec<f64>,
}

impl<'a, 'm, M: Cdf + Score + ?Sized> Tight<'a, 'm, M> {
    fn new(levels: &'a Levels<'m, M>, beta: Beta, epsilon: f64) -> Self {
        let dual = Dual::new(levels, &beta, epsilon);
        let (integral, tops) = (dual.integral().value, dual.tops());
        Self { levels, epsilon, integral, tops, beta }
    }

    /// The integral of another function, if it is proved and that is at most `most`.
    fn holds(&mut self, other: &Beta, most: f64) -> Option<f64> {
        let dual = Dual::new(self.levels, other, self.epsilon);
        let integral = dual.integral().value;
        if !(integral <= most) {
            return None;
        }
        if let Some(place) = self.tops.iter().position(|&t| !(dual.at(t).0.above() <= 0.0)) {
            // What failed last is most likely to fail next.
            self.tops[..=place].rotate_right(1);
            return None;
        }
        dual.prove().map_err(|violation| self.tops.insert(0, violation.t)).ok().map(|()| integral)
    }

    /// Takes another function if it is proved and its integral at most `most`.
    fn take(&mut self, other: Beta, most: f64) -> bool {
        let held = self.holds(&other, most);
        if let Some(integral) = held {
            (self.beta, self.integral) = (other, integral);
        }
        held.is_some()
    }

    /// Lowers it as far as it is proved. Its integral cannot fall below the information.
    fn lower(&mut self, information: f64) {
        let mut step = 0.5 * (self.integral - information);
        for _ in 0..LOWERINGS {
            let lowered = self.beta.raised(-step);
            self.take(lowered, f64::INFINITY);
            step *= 0.5;
        }
    }

    /// Leaves out and moves knots as long as that is a proof of a bound that is no higher.
    fn settle_knots(&mut self) {
        for _ in 0..PASSES {
            let before = self.beta.clone();
            // From the right, so that a knot left out or split does not renumber those that are still to come.
            for i in (0..self.beta.knots().len()).rev() {
                let (lower, same) = (self.integral * (1.0 - TOLERANCE), self.integral * (1.0 + 4.0 * TOLERANCE));
                if let Some(without) = self.beta.without(i)
                    && self.take(without, same)
                {
                    continue;
                }
                for step in [NUDGE, -NUDGE] {
                    let Some(moved) = self.beta.moved(i, step) else { continue };
                    if !self.take(moved.clone(), lower) && self.holds(&moved, same).is_some() {
                        self.split(i);
                        break;
                    }
                }
            }
            if self.beta == before {
                break;
            }
        }
    }

    /// Two knots instead of one that can be moved to and fro at no cost: where scores are equally likely, a tip between equal
    /// neighbours bounds the same area wherever it stands. Each of two at the same height does not.
    fn split(&mut self, i: usize) {
        let Some(flat) = self.beta.split(i, 0.0) else { return };
        let Some(steep) = self.beta.split(i, self.integral) else { return };
        let integral = |beta: &Beta| Dual::new(self.levels, beta, self.epsilon).integral().value;
        let (low, high) = (integral(&flat), integral(&steep));
        let rise = self.integral * (self.integral - low) / (high - low);
        if let Some(two) = self.beta.split(i, rise) {
            self.take(two, self.integral * (1.0 + 4.0 * TOLERANCE));
        }
    }
}

/// β raised until it is proved, by no more than `most`, if it can be.
///
/// Hills that a search did not see are found by the proof, one by one. What is added beyond their height grows: a proof that
/// fails by rounding fails by an unknown amount.
fn settled<M: Cdf + Score + ?Sized>(levels: &Levels<'_, M>, mut beta: Beta, epsilon: f64, most: f64) -> Option<Beta> {
    let mut raised = 0.0;
    let mut more = MARGIN * Dual::new(levels, &beta, epsilon).integral().value;
    for _ in 0..ATTEMPTS {
        let dual = Dual::new(levels, &beta, epsilon);
        let Err(violation) = dual.prove() else { return Some(beta) };
        let (_, shift) = dual.climb(violation.t, STEPS);
        let step = shift.max(0.0) + more;
        raised += step;
        if !(raised <= most) {
            return None;
        }
        more *= 2.0;
        beta = beta.raised(step);
    }
    None
}

/// How often a function is raised where its proof fails, and steps to the top of what was in the way.
const ATTEMPTS: u32 = 24;

const STEPS: u32 = 40;

/// Halvings of the slack of a proved function.
const LOWERINGS: u32 = 6;

/// A change of slope by less than this part of the range of slopes is rounding of a search.
const NO_BEND: f64 = 1e-6;

/// How far a knot is moved to see whether it stands where it must, in units of score.
const NUDGE: f64 = 1e-3;

/// How often all knots are looked at: a few passes settle them.
const PASSES: u32 = 10;
