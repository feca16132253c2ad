//! Unit vectors through a Gaussian with a tilted component.

use crate::sphere::{add_scaled, check_dimension, coin, dot, gaussian, open_unit, polar};
use ldp_core::error::require;
use ldp_core::special::normal;
use ldp_core::{Density, Epsilon, Error, Mechanism, Result, UnbiasedVector};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Claims above it are served at this level: beyond, normal tails leave the range of `f64`.
const HIGHEST: f64 = 500.0;

/// Thresholds whose two tails are normal numbers with room for a uniform factor.
const FURTHEST: f64 = 35.0;

/// PrivUnitG: a Gaussian vector whose component along the private direction is likely to be large.
///
/// $$Z = s(g - \langle g, x\rangle x + a x),\qquad g \sim N(0, I_d),\qquad
///   a \sim N(0,1)\ \text{given}\ a \ge \gamma\ \text{with probability p, else given}\ a < \gamma$$
///
/// With $q = 1 - \Phi(\gamma)$ and $s = 1/\mu$, $\mu = E a = \varphi(\gamma)(p/q - (1-p)/(1-q))$, the report is an
/// unbiased estimate of the unit vector x. Among the pairs (p, γ) of level ε the one with the smallest s is chosen.
///
/// - ε: $\ln\frac{p}{1-p} + \ln\frac{1-q}{q}$, from p and γ; rounded up.
/// - Report size: 64 d bits. The input is normalised; the zero vector counts as the first axis.
/// - Variance: $E\lVert Z - x\rVert^2 = s^2(d - 1 + E a^2) - 1$ with $E a^2 = 1 + \gamma/s$, at every input.
/// - Sampling: idealised. The component a is drawn by its inverse cdf, in floating point. A Gaussian takes a number of
///   words that depends on its value, so that this number may say more than the report.
///
/// In many dimensions as good as PrivUnit, the best mechanism for unit vectors; see [AFT22].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::PrivUnitG;
/// let unit = PrivUnitG::new(Epsilon::new(1.0)?, 3)?;
/// assert!(unit.epsilon().value() <= 1.0);
/// assert!((unit.scale() - 2.515957).abs() < 1e-6);
/// let report = unit.privatize(&[0.6, 0.0, -0.8], &mut stream(1, Purpose::Noise, 0, 0));
/// assert_eq!(report.len(), 3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
///
/// In $u = \ln\frac{p}{1-p}$ the derivative of $\ln\mu$ has the sign of
/// $\gamma q/\varphi(\gamma) - p(1 - e^{-\varepsilon})$, which decreases: γ does, and with it $\gamma q/\varphi(\gamma)$,
/// while p increases. So the best p is the one root, found by bisection to the last digit.
///
/// [AFT22]: https://arxiv.org/abs/2205.02466
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct PrivUnitG {
    dimension: usize,
    probability: f64,
    threshold: f64,
    // Computed from the numbers above.
    scale: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dimension: usize,
    probability: f64,
    threshold: f64,
}

impl TryFrom<Raw> for PrivUnitG {
    type Error = Error;
    fn try_from(Raw { dimension, probability, threshold }: Raw) -> Result<Self> {
        check_dimension(dimension)?;
        // A coin cannot be rarer than 2⁻⁶⁴: with a smaller p reports above the threshold would come too often for ε.
        require((0.5..1.0).contains(&probability), "probability", "at least 1/2 and below 1", probability)?;
        require(threshold.abs() <= FURTHEST, "threshold", "between -35 and 35", threshold)?;
        let level = nearest_level(probability, threshold);
        // Reports that say the opposite, or nothing that a number can hold.
        let pull = normal::pdf(threshold) * (probability / normal::sf(threshold)) * -(-level).exp_m1();
        let scale = pull.recip();
        if !(level > 0.0 && scale.is_finite()) {
            return Err(Error::Uninformative);
        }
        Ok(Self { dimension, probability, threshold, scale })
    }
}

impl From<PrivUnitG> for Raw {
    fn from(PrivUnitG { dimension, probability, threshold, .. }: PrivUnitG) -> Self {
        Self { dimension, probability, threshold }
    }
}

impl PrivUnitG {
    /// The best mechanism of its kind at level ε for unit vectors with `dimension` ≥ 1 coordinates.
    pub fn new(epsilon: Epsilon, dimension: usize) -> Result<Self> {
        let claimed = epsilon.value().min(HIGHEST);
        let probability = best_probability(claimed);
        let mut threshold = threshold_at(claimed - ln_odds(probability));
        // Off by what the level was rounded up at most.
        while level(probability, threshold) > claimed {
            threshold = threshold.next_down();
        }
        Raw { dimension, probability, threshold }.try_into()
    }

    /// p, the probability of a component above the threshold.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// γ, where the component's law jumps.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// s, by which the Gaussian vector is multiplied: the standard deviation of a report across the private direction.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// $E a^2 = 1 + \gamma/s$ of the component along the private direction.
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        1.0 + self.threshold / self.scale
    }

    /// The component a, by inverse cdf: always two words.
    fn component<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let (above, place) = (coin(self.probability, rng), open_unit(rng));
        // From the nearer tail, and never on the wrong side of the threshold by rounding.
        if above {
            (-normal::quantile(place * normal::sf(self.threshold))).max(self.threshold)
        } else {
            normal::quantile(place * normal::cdf(self.threshold)).min(self.threshold.next_down())
        }
    }
}

/// ln(p/(1 − p)) for p ≥ ½: both differences are exact.
fn ln_odds(p: f64) -> f64 {
    ((2.0 * p - 1.0) / (1.0 - p)).ln_1p()
}

/// ln(Φ(γ)/(1 − Φ(γ))), with relative accuracy around zero too.
fn normal_ln_odds(threshold: f64) -> f64 {
    let size = threshold.abs();
    (normal::mass(-size, size) / normal::sf(size)).ln_1p().copysign(threshold)
}

/// The level of a pair (p, γ) to the nearest number, for formulas.
fn nearest_level(probability: f64, threshold: f64) -> f64 {
    ln_odds(probability) + normal_ln_odds(threshold)
}

/// The same rounded outwards: never below the real number.
///
/// The normal probabilities are known to 1e-15 each and their ratio to 3e-15, and so are both logarithms.
fn level(probability: f64, threshold: f64) -> f64 {
    let (odds, normal_odds) = (ln_odds(probability), normal_ln_odds(threshold));
    odds + normal_odds + 1e-14 * (odds + normal_odds.abs())
}

/// The γ with ln(Φ(γ)/(1 − Φ(γ))) = `odds` ≥ 0.
fn threshold_at(odds: f64) -> f64 {
    // Next to zero 1/(1 + e^odds) has lost the odds.
    let linear = odds * (std::f64::consts::PI / 8.0).sqrt();
    let mut threshold = if odds < 1e-3 { linear } else { -normal::quantile((1.0 + odds.exp()).recip()) };
    for _ in 0..3 {
        let slope = normal::pdf(threshold) / (normal::sf(threshold) * normal::cdf(threshold));
        threshold -= (normal_ln_odds(threshold) - odds) / slope;
    }
    threshold
}

/// The p that makes the scale smallest at this level.
fn best_probability(level: f64) -> f64 {
    let logistic = |u: f64| (1.0 + (-u).exp()).recip();
    let (mut low, mut high) = (0.0, level);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        let threshold = threshold_at(level - middle);
        let mills = normal::sf(threshold) / normal::pdf(threshold);
        let rising = threshold * mills > logistic(middle) * -(-level).exp_m1();
        if rising { low = middle } else { high = middle }
    }
    let probability = logistic(low);
    // Below 1e-15 the odds of the next number after ½ would spend all of ε, or leave next to nothing of it.
    if ln_odds(probability) < 0.9 * level { probability } else { 0.5 }
}

impl Mechanism for PrivUnitG {
    type Input = [f64];
    type Report = Vec<f64>;

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(level(self.probability, self.threshold)).expect("checked on construction")
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> Vec<f64> {
        let (_, x) = polar(input, self.dimension);
        let component = self.component(rng);
        let mut report = gaussian(self.dimension, rng);
        let along = dot(&report, &x);
        add_scaled(&mut report, component - along, &x);
        report.iter_mut().for_each(|z| *z *= self.scale);
        report
    }
}

/// With respect to Lebesgue measure on $\mathbb R^d$.
impl Density for PrivUnitG {
    fn ln_density(&self, report: &Vec<f64>, input: &[f64]) -> f64 {
        if report.len() != self.dimension || report.iter().any(|z| !z.is_finite()) {
            return f64::NEG_INFINITY;
        }
        let (_, x) = polar(input, self.dimension);
        let gaussian: f64 = report.iter().map(|z| normal::ln_pdf(z / self.scale) - self.scale.ln()).sum();
        let tilt = if dot(report, &x) / self.scale >= self.threshold {
            self.probability.ln() - normal::ln_cdf(-self.threshold)
        } else {
            (-self.probability).ln_1p() - normal::ln_cdf(self.threshold)
        };
        gaussian + tilt
    }
}

impl UnbiasedVector for PrivUnitG {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn total_variance(&self, _input: &[f64]) -> f64 {
        (self.scale.powi(2) * ((self.dimension - 1) as f64 + self.second_moment()) - 1.0).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: f64) -> PrivUnitG {
        PrivUnitG::new(Epsilon::new(level).unwrap(), 4).unwrap()
    }

    #[test]
    fn known_optima() {
        for (level, s, p, threshold) in [(1.0, 2.515_957, 0.589_326, 0.397_463), (3.0, 0.861_713, 0.737_884, 1.160_479)]
        {
            let unit = at(level);
            let found = [unit.scale(), unit.probability(), unit.threshold()];
            assert!(found.iter().zip([s, p, threshold]).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        }
    }

    #[test]
    fn no_other_pair_of_the_same_level_has_a_smaller_scale() {
        for level in [1e-3, 0.1, 1.0, 4.0, 12.0, 30.0] {
            let best = at(level);
            for odds in (1..200).map(|i| level * f64::from(i) / 200.0) {
                let (probability, threshold) = ((1.0 + (-odds).exp()).recip(), threshold_at(level - odds));
                let other = PrivUnitG::try_from(Raw { dimension: 4, probability, threshold }).unwrap();
                assert!(other.scale() >= best.scale() * (1.0 - 1e-12), "ε = {level}, p = {probability}");
                // The textbook form of the scale.
                let (upper, lower) = (normal::sf(threshold), normal::cdf(threshold));
                let pull = normal::pdf(threshold) * (probability / upper - (1.0 - probability) / lower);
                assert!((pull * other.scale() - 1.0).abs() < 1e-14 / level.min(1.0));
            }
        }
    }

    #[test]
    fn the_level_is_within_the_claim_and_uses_it_up() {
        let many = (0..2000).map(|i| 10f64.powf(-9.0 + 11.7 * f64::from(i) / 2000.0));
        for claim in many.chain([1e-300, 1e-17, 1e-16, 3e-16, 1.0, 2.0, 30.0, 499.0, 500.0]) {
            let level = at(claim).epsilon().value();
            let lost = claim - level;
            assert!((0.0..=1e-12 * claim.max(1.0)).contains(&lost), "{claim} became {level}");
        }
        assert!(at(1e6).epsilon().value() <= 500.0);
        assert!(PrivUnitG::new(Epsilon::new(5e-324).unwrap(), 2).is_err());
    }

    /// With 50 digits and rounded up: the formula to the nearest number is below all of these.
    #[test]
    fn the_level_is_never_below_the_true_one() {
        for (probability, threshold, level) in [
            (0.500_000_006_115_420_2, 2.685_561_274_508_406e-8, 6.731_703_824_144_918e-8),
            (0.500_038_289_200_663_8, 0.000_168_145_428_972_508_2, 0.000_421_478_086_793_711_5),
            (0.638_736_613_439_908_8, 0.629_413_093_002_114_3, 1.592_392_047_407_712),
            (0.846_179_661_090_995_6, 1.998_577_556_384_506, 5.461_664_264_676_187_5),
        ] {
            let unit = PrivUnitG::try_from(Raw { dimension: 4, probability, threshold }).unwrap();
            assert!(nearest_level(probability, threshold) < level);
            assert!(unit.epsilon().value() >= level, "{} for {level}", unit.epsilon());
        }
    }

    #[test]
    fn tampered_json_is_refused() {
        let read = |text: &str| serde_json::from_str::<PrivUnitG>(text);
        assert!(read(r#"{"dimension":3,"probability":0.6,"threshold":0.5}"#).is_ok());
        for bad in [
            r#"{"dimension":0,"probability":0.6,"threshold":0.5}"#,
            r#"{"dimension":1152921504606846976,"probability":0.6,"threshold":0.5}"#,
            r#"{"dimension":3,"probability":1.0,"threshold":0.5}"#,
            r#"{"dimension":3,"probability":0.1,"threshold":0.5}"#,
            // Levels of 0.7 and 0.5 by the formula; but a coin of 1e-100 falls with probability 2⁻⁶⁴ or not at all.
            r#"{"dimension":3,"probability":0.4,"threshold":0.7}"#,
            r#"{"dimension":3,"probability":1e-100,"threshold":21.3}"#,
            r#"{"dimension":3,"probability":0.6,"threshold":36.0}"#,
            r#"{"dimension":3,"probability":0.5,"threshold":0.0}"#,
            r#"{"dimension":3,"probability":0.6,"threshold":0.5,"epsilon":1.0}"#,
            r#"{"dimension":3,"probability":0.6}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
