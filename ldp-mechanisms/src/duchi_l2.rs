//! Vectors in a Euclidean ball, through one half of a sphere.

use crate::sphere::{check_dimension, check_radius, check_square, coin, dot, gamma_ratio, polar, uniform_direction};
use ldp_core::error::require;
use ldp_core::{Density, Epsilon, Error, Mechanism, Result, UnbiasedVector};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Duchi, Jordan and Wainwright's mechanism for the Euclidean ball of radius ρ.
///
/// The vector is stretched to the sphere: $\tilde x = \pm\rho x/\lVert x\rVert$, plus with probability
/// $\frac12 + \lVert x\rVert/2\rho$. The report is uniform on the half of the sphere of radius B on the side of
/// $\tilde x$ with probability $e^\varepsilon/(e^\varepsilon+1)$, on the other half else:
///
/// $$B = \frac{\rho}{\tau} \cdot \frac{\sqrt\pi}{2} \cdot \frac{d \Gamma(\frac{d-1}{2}+1)}{\Gamma(\frac d2+1)},\qquad
///   \tau = \tanh(\varepsilon/2)$$
///
/// - ε: $\ln(1/\mathrm{lie} - 1)$, from the stored probability of the wrong half; rounded up.
/// - Report size: 64 d bits. Inputs outside the ball are projected onto it.
/// - Variance: $E\lVert Z - x\rVert^2 = B^2 - \lVert x\rVert^2$.
/// - Sampling: idealised. The sphere is sampled in floating point, which the stated law is not. A Gaussian takes a number
///   of words that depends on its value, so that this number may say more than the report.
/// - Radii from 1e-150 to 1e150. See [DJW18].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, UnbiasedVector};
/// use ldp_mechanisms::DuchiL2;
/// let ball = DuchiL2::new(Epsilon::new(1.0)?, 1, 2.0)?;
/// assert!(ball.epsilon().value() <= 1.0);
/// // On the line it is the mechanism of one bit, ±ρ/τ.
/// assert!((ball.bound() - 2.0 / 0.5f64.tanh()).abs() < 1e-14);
/// assert!((ball.total_variance(&[0.5]) - (ball.bound().powi(2) - 0.25)).abs() < 1e-13);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [DJW18]: https://arxiv.org/abs/1604.02390
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct DuchiL2 {
    dimension: usize,
    radius: f64,
    lie: f64,
    // Computed from the numbers above.
    bound: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dimension: usize,
    radius: f64,
    lie: f64,
}

impl TryFrom<Raw> for DuchiL2 {
    type Error = Error;
    fn try_from(Raw { dimension, radius, lie }: Raw) -> Result<Self> {
        check_dimension(dimension)?;
        check_radius(radius)?;
        // At the smallest normal number the level is 708.
        require((f64::MIN_POSITIVE..0.5).contains(&lie), "the probability of a lie", "positive and below 1/2", lie)?;
        let bound = radius / (1.0 - 2.0 * lie) * stretch(dimension);
        check_square(1, bound, radius)?;
        Ok(Self { dimension, radius, lie, bound })
    }
}

impl From<DuchiL2> for Raw {
    fn from(DuchiL2 { dimension, radius, lie, .. }: DuchiL2) -> Self {
        Self { dimension, radius, lie }
    }
}

impl DuchiL2 {
    /// Vectors with `dimension` ≥ 1 coordinates in the ball of this radius, at level ε.
    pub fn new(epsilon: Epsilon, dimension: usize, radius: f64) -> Result<Self> {
        // The rarer side is stored: one minus it has lost its digits at ε = 30.
        let mut lie = (1.0 + epsilon.value().exp()).recip().max(f64::MIN_POSITIVE);
        while level(lie) > epsilon.value() {
            lie = lie.next_up();
        }
        if lie >= 0.5 {
            return Err(Error::EpsilonTooSmall { value: epsilon.value(), reports: 2 });
        }
        Raw { dimension, radius, lie }.try_into()
    }

    /// ρ, the radius of the ball.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// B, the radius of the sphere of reports.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The probability of the wrong half.
    #[must_use]
    pub fn lie(&self) -> f64 {
        self.lie
    }

    /// The length of an input in units of the radius, at most one, and its direction.
    fn place(&self, input: &[f64]) -> (f64, Vec<f64>) {
        let (length, direction) = polar(input, self.dimension);
        ((length / self.radius).min(1.0), direction)
    }
}

/// Bτ/ρ: the length of the sphere's reports for that of their mean. One on the line.
fn stretch(dimension: usize) -> f64 {
    if dimension == 1 { 1.0 } else { std::f64::consts::PI.sqrt() * gamma_ratio(dimension as f64 / 2.0) }
}

/// ln((1 − lie)/lie), rounded outwards: never below the real number.
///
/// Difference, quotient, logarithm and product are off by 2.5 · 2⁻⁵² together; the factor adds 4 · 2⁻⁵².
fn level(lie: f64) -> f64 {
    ((1.0 - 2.0 * lie) / lie).ln_1p() * (1.0 + 4.0 * f64::EPSILON)
}

impl Mechanism for DuchiL2 {
    type Input = [f64];
    type Report = Vec<f64>;

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(level(self.lie)).expect("checked on construction")
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> Vec<f64> {
        let (length, direction) = self.place(input);
        let stretched_forward = coin(0.5 + 0.5 * length, rng);
        let lies = coin(self.lie, rng);
        let mut report = uniform_direction(self.dimension, rng);
        let forward = dot(&report, &direction) >= 0.0;
        let factor = if forward == (stretched_forward != lies) { self.bound } else { -self.bound };
        report.iter_mut().for_each(|z| *z *= factor);
        report
    }
}

/// With respect to the uniform law on the sphere of radius B, on which all reports lie: the density is twice the
/// probability of the half.
impl Density for DuchiL2 {
    fn ln_density(&self, report: &Vec<f64>, input: &[f64]) -> f64 {
        let size = dot(report, report).sqrt();
        // Off the sphere by more than what rounding can do.
        if report.len() != self.dimension || !((size / self.bound - 1.0).abs() < 1e-9) {
            return f64::NEG_INFINITY;
        }
        let (length, direction) = self.place(input);
        let side = if dot(report, &direction) >= 0.0 { length } else { -length };
        ((1.0 - self.lie) * (1.0 + side) + self.lie * (1.0 - side)).ln()
    }
}

impl UnbiasedVector for DuchiL2 {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn total_variance(&self, input: &[f64]) -> f64 {
        let (place, tau) = (self.place(input).0, 1.0 - 2.0 * self.lie);
        // B² − x² in parts that are not negative: on the line both are close to ρ² at large ε.
        let stretched = stretch(self.dimension).powi(2) - 1.0 + 4.0 * self.lie * (1.0 - self.lie);
        self.radius.powi(2) * (stretched / tau.powi(2) + (1.0 - place) * (1.0 + place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_within_the_claim_and_uses_it_up() {
        let many = (0..2000).map(|i| 10f64.powf(-12.0 + 14.8 * f64::from(i) / 2000.0));
        for claim in many.chain([1.0, 2.0, 30.0, 700.0]) {
            let level = DuchiL2::new(Epsilon::new(claim).unwrap(), 2, 1.0).unwrap().epsilon().value();
            let lost = claim - level;
            assert!((0.0..=1e-12 * claim.max(1.0)).contains(&lost), "{claim} became {level}");
        }
        let high = DuchiL2::new(Epsilon::new(1e6).unwrap(), 2, 1.0).unwrap();
        assert!(high.epsilon().value() < 709.0);
        let low = DuchiL2::new(Epsilon::new(1e-18).unwrap(), 2, 1.0);
        assert!(matches!(low, Err(Error::EpsilonTooSmall { .. })));
    }

    /// With 50 digits and rounded up: the formula to the nearest number is below all of these.
    #[test]
    fn the_level_is_never_below_the_true_one() {
        for (lie, level) in [
            (0.499_999_871_474_290_9, 5.141_028_363_020_552e-7),
            (0.491_842_605_385_620_3, 0.032_632_473_950_452_47),
            (0.111_985_559_838_391_84, 2.070_618_071_334_659_6),
            (1.232_159_641_784_687_6e-56, 128.735_996_771_579_24),
        ] {
            let ball = DuchiL2::try_from(Raw { dimension: 2, radius: 1.0, lie }).unwrap();
            assert!(((1.0 - 2.0 * lie) / lie).ln_1p() < level);
            assert!(ball.epsilon().value() >= level, "{} for {level}", ball.epsilon());
        }
    }

    #[test]
    fn tampered_json_is_refused() {
        let good = r#"{"dimension":3,"radius":1.5,"lie":0.25}"#;
        assert!(serde_json::from_str::<DuchiL2>(good).is_ok());
        for (from, to) in [
            (":3", ":0"),
            ("1.5", "0.0"),
            ("1.5", "-1.0"),
            ("1.5", "1e308"),
            ("1.5", "1e-151"),
            ("1.5", "1e151"),
            ("1.5", "null"),
            ("0.25", "0.5"),
            ("0.25", "0.0"),
            ("0.25", r#"0.25,"epsilon":1.0"#),
        ] {
            assert!(good.contains(from));
            assert!(serde_json::from_str::<DuchiL2>(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
