//! The proof that a mechanism is as informative as any, as a value that can be checked again.

use super::beta::Beta;
use super::between::between;
use super::intervals;
use super::proof::{proved, search};
use super::response::Response;
use crate::exact;
use crate::home::Home;
use crate::levels::Levels;
use ldp_core::error::require;
use ldp_core::model::{Cdf, Score, Support};
use ldp_core::{Epsilon, Error, FiniteChannel, Kernel, Mechanism, Partition, Result};
use serde::{Deserialize, Serialize};

/// The format of a serialised certificate.
pub const CERTIFICATE_VERSION: u32 = 1;

/// Above this level $e^\varepsilon$ times the rounding of a probability is no longer small.
pub const MOST_EPSILON: f64 = 30.0;

/// What a claimed number may differ from the recomputed one by rounding on another machine, relatively.
const TOLERANCE: f64 = 1e-12;

/// How far above the recomputed bound the one claimed may be, relatively.
const ROUNDED_UP: f64 = 1e-11;

/// A function is kept as the proof where it proves as much as what needs none, but for this part.
const AS_GOOD: f64 = 1e-9;

/// How far the level of a mechanism with weights of any kind may stay below the one claimed, relatively.
const LEVEL: f64 = 1e-9;

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
/// // No number can be changed.
/// read.information *= 1.0 + 1e-9;
/// assert!(matches!(read.verify(&model), Err(Error::Changed { .. })));
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
    /// The function of the score that proves the bound; without one the bound is the smaller of the information of the value
    /// itself and the product of the ends between which the score of a report lies.
    // By name, so that what is missing is not taken for null.
    #[serde(deserialize_with = "Option::deserialize")]
    pub beta: Option<Beta>,
}

impl Certificate {
    /// How much more than this mechanism a better one could have at most, relatively.
    #[must_use]
    pub fn relative_gap(&self) -> f64 {
        self.upper_bound / self.information - 1.0
    }

    /// Recomputes every number from the model, and refuses a certificate in which one is not what it should be.
    ///
    /// - ε: the weights of the mechanism are those of randomised response at the level claimed, to the unit.
    /// - The information claimed is that of the mechanism, up to 1e-12 of it. Its reports are in the order of their scores, and
    ///   where values are whole numbers its cuts are.
    /// - $G(t) \le 0$ for the function β, at every t: see the [module](super).
    /// - The bound claimed is $\int\beta p$, rounded upwards by at most 1e-11 of it, and not below the information. Without β it
    ///   is the information of the value, or the product bc where that is smaller: the score of a report has mean zero and lies
    ///   between −b and c, its smallest and largest value for any ε-private mechanism.
    ///
    /// Nothing of the search is used. What is trusted: the model's cdf, its derivative and its score (to 64 units in the
    /// last place), its symmetry, that between neighbouring points of a grid of about 200 the score is monotone, and this code.
    pub fn verify<M: Cdf + Score + ?Sized>(&self, model: &M) -> Result<Verified> {
        if self.version != CERTIFICATE_VERSION {
            return Err(Error::WireVersion { found: self.version, supported: CERTIFICATE_VERSION });
        }
        // Before any work: its cells may be a million, each of them a sum over periods. No search makes one.
        if let Partition::Periodic { .. } = self.mechanism.partition() {
            return Err(Error::Unsupported {
                what: "a periodic partition in a certificate",
                needs: "a threshold or cuts, as every mechanism on intervals of the score has",
            });
        }
        let epsilon = self.recomputed_level()?;
        let home = Home::new(model, self.theta)?;
        let information = exact(&self.mechanism, model, self.theta)?.value;
        if !((self.information - information).abs() <= TOLERANCE * information) {
            let field = "information (of the mechanism under the model at theta, by its partition and kernel)";
            return Err(Error::Changed { field, claimed: self.information, recomputed: information });
        }
        self.check_cells(model)?;
        let (levels, itself) = (home.levels()?, model.information(self.theta));
        let (bound, least) = match &self.beta {
            Some(beta) => {
                let bound = upwards(home.information(proved(&levels, beta, self.epsilon)?));
                (bound, bound)
            }
            None => {
                let bound = plain(&home, &levels, itself, self.epsilon);
                // On another machine that of the value may be rounded otherwise.
                (bound, bound * (1.0 - TOLERANCE))
            }
        };
        if !(least <= self.upper_bound && self.upper_bound <= bound * (1.0 + ROUNDED_UP)) {
            let field = match &self.beta {
                Some(_) => "upper_bound (the integral of beta under the model at theta)",
                None => "upper_bound (the integral of beta, or what holds without one, under the model at theta)",
            };
            return Err(Error::Changed { field, claimed: self.upper_bound, recomputed: bound });
        }
        if !(information <= self.upper_bound) {
            let inequality = "information <= upper_bound";
            return Err(Error::Refused { inequality, left: information, right: self.upper_bound });
        }
        Ok(Verified { epsilon, information, upper_bound: shown(bound, itself) })
    }

    /// The level of the mechanism, which must be the one claimed as far as integer weights can have it.
    fn recomputed_level(&self) -> Result<f64> {
        let (claimed, realised) = (usable(self.epsilon)?, self.mechanism.epsilon());
        let same = match self.mechanism.kernel() {
            kernel @ &Kernel::Response { reports, .. } => *kernel == Kernel::response(claimed, reports)?,
            Kernel::Dense(_) => realised <= claimed && realised.value() >= claimed.value() * (1.0 - LEVEL),
        };
        if !same {
            let field = "epsilon (of the weights in mechanism.kernel)";
            return Err(Error::Changed { field, claimed: self.epsilon, recomputed: realised.value() });
        }
        Ok(realised.value())
    }

    /// Many partitions are the same question; a certificate has the one in which report z means that the score lies in
    /// interval z, and which is cut where values are.
    fn check_cells<M: Cdf + Score + ?Sized>(&self, model: &M) -> Result<()> {
        let (partition, cells) = (self.mechanism.partition(), self.mechanism.cells() as usize);
        if matches!(model.support(self.theta), Support::Whole { .. }) {
            let cuts = match partition {
                Partition::Threshold(cut) => std::slice::from_ref(cut),
                Partition::Cuts(cuts) => cuts.points(),
                Partition::Periodic { .. } => &[],
            };
            for &cut in cuts {
                require(cut == cut.trunc(), "cut of mechanism.partition", "a whole number, as values are", cut)?;
            }
        }
        if let &Kernel::Response { lie, .. } = self.mechanism.kernel() {
            let (mut masses, mut slopes) = (vec![0.0; cells], vec![0.0; cells]);
            partition.masses(model, self.theta, &mut masses);
            partition.masses_dtheta(model, self.theta, &mut slopes);
            // 1/(E − 1), by which the score of a report is D/(P + 1/(E − 1)).
            let floor = lie as f64 / (self.mechanism.weight(0, 0) - lie) as f64;
            let scores: Vec<f64> = masses.iter().zip(&slopes).map(|(mass, slope)| slope / (mass + floor)).collect();
            if let Some(pair) = scores.windows(2).find(|pair| !(pair[0] < pair[1])) {
                let inequality = "score of a report < score of the next, in mechanism.partition.labels";
                return Err(Error::Refused { inequality, left: pair[0], right: pair[1] });
            }
        }
        Ok(())
    }
}

/// What [`Certificate::verify`] recomputes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// The level of the mechanism, from its integer weights.
    pub epsilon: f64,
    /// The information of the mechanism, from its cuts and weights.
    pub information: f64,
    /// What no mechanism at the level claimed exceeds, from β.
    pub upper_bound: f64,
}

/// A level that the arithmetic carries.
pub(super) fn usable(epsilon: f64) -> Result<Epsilon> {
    require(!(epsilon > MOST_EPSILON), "epsilon", "at most 30 for a certificate", epsilon)?;
    Epsilon::new(epsilon)
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
    let home = Home::new(model, theta)?;
    let levels = home.levels()?;
    let found = intervals::best(&levels, epsilon)?;
    let response = Response::new(&home, &levels, &found, epsilon)?;
    let beta = search(&levels, &found, epsilon)?;
    let bound = |beta: &Beta| Some(upwards(home.information(proved(&levels, beta, epsilon.value()).ok()?)));
    let proof = beta.and_then(|beta| Some((bound(&beta)?, beta)));
    let itself = model.information(theta);
    let plain = plain(&home, &levels, itself, epsilon.value());
    let (bound, beta) = match proof {
        Some((bound, beta)) if bound < itself && bound <= plain * (1.0 + AS_GOOD) => (bound, Some(beta)),
        _ => (plain, None),
    };
    Ok(Certificate {
        version: CERTIFICATE_VERSION,
        epsilon: epsilon.value(),
        theta,
        information: response.information,
        upper_bound: shown(bound, itself),
        mechanism: response.channel,
        beta,
    })
}

/// The bound without a function: that of the value `itself`, or that between the ends of the scores of reports.
fn plain<M: Cdf + Score + ?Sized>(home: &Home<'_, M>, levels: &Levels<'_, M>, itself: f64, epsilon: f64) -> f64 {
    itself.min(upwards(home.information(between(levels, epsilon))))
}

/// A bound with room for rounding on another machine, but not above that of the value itself.
fn shown(bound: f64, itself: f64) -> f64 {
    (bound * (1.0 + TOLERANCE)).min(itself)
}

/// A bound that was multiplied by the information of a value, rounded upwards.
fn upwards(bound: f64) -> f64 {
    (bound * (1.0 + 4.0 * f64::EPSILON)).next_up()
}
