//! Laplace noise on a clipped value.

use crate::{Range, noise};
use ldp_core::{
    Density, Epsilon, Error, Mechanism, Numerics, RealReports, Rescale, Result, Tails, Unbiased, error::require,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The Laplace mechanism: the clipped value plus Laplace noise.
///
/// With u in $[-1, 1]$ as in [`Range`] and noise scale b:
///
/// $$q(z \mid x) = \frac{1}{2b} e^{-|z - u|/b}.$$
///
/// - ε: $2/b$, the distance of the ends of the range over the scale; rounded up.
/// - Report size: a real number, 64 bits, in units of half the width w of the range.
/// - Variance of the decoded report: $2 b^2 w^2/4 = 2 w^2/\varepsilon^2$, the same for every input.
/// - Sampling: idealised, by the inverse cdf in floating point. One random word per report.
/// - Levels from 1e-7 to 40. See [DMNS06].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, Unbiased};
/// use ldp_mechanisms::{Laplace, Range};
/// let laplace = Laplace::new(Epsilon::new(1.0)?, Range::new(0.0, 10.0)?)?;
/// assert!(laplace.epsilon().value() <= 1.0);
/// assert!((laplace.variance(3.0) - 200.0).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [DMNS06]: https://doi.org/10.1007/11681878_14
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Laplace {
    range: Range,
    scale: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    range: Range,
    scale: f64,
}

impl TryFrom<Raw> for Laplace {
    type Error = Error;
    fn try_from(Raw { range, scale }: Raw) -> Result<Self> {
        // No report is further than 37 scales away: below 2^32, what a tally can add.
        let (least, most) = (f64::from(1 << 30).recip(), f64::from(1 << 26));
        require(scale >= least && scale <= most, "scale", "between 2^-30 and 2^26", scale)?;
        Ok(Self { range, scale })
    }
}

impl From<Laplace> for Raw {
    fn from(Laplace { range, scale }: Laplace) -> Self {
        Self { range, scale }
    }
}

impl Laplace {
    /// Laplace noise at level ε on values in a range.
    pub fn new(epsilon: Epsilon, range: Range) -> Result<Self> {
        noise::check_level(epsilon)?;
        let mut scale = 2.0 / epsilon.value();
        while level(scale) > epsilon.value() {
            scale = scale.next_up();
        }
        Raw { range, scale }.try_into()
    }

    /// The scale b of the noise, in units of half the width of the range.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.scale
    }
}

/// 2/scale, rounded up.
fn level(scale: f64) -> f64 {
    let nearest = 2.0 / scale;
    // The fused product has one rounding, so its sign is that of the exact remainder.
    if nearest.mul_add(scale, -2.0) < 0.0 { nearest.next_up() } else { nearest }
}

impl Mechanism for Laplace {
    type Input = f64;
    type Report = f64;
    const NUMERICS: Numerics = Numerics::Idealized;

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(level(self.scale)).expect("checked on construction")
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        let word = rng.next_u64();
        // An exponential distance from the top bits, its sign from the lowest.
        let distance = -self.scale * noise::uniform(word).ln();
        self.range.unit(*input) + if word & 1 == 0 { distance } else { -distance }
    }
}

impl Density for Laplace {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        -(report - self.range.unit(*input)).abs() / self.scale - (2.0 * self.scale).ln()
    }
}

impl RealReports for Laplace {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        let distance = (report - self.range.unit(input)) / self.scale;
        let tail = (-distance.abs()).exp() / 2.0;
        if distance < 0.0 { tail } else { 1.0 - tail }
    }

    fn breaks(&self, input: f64) -> Vec<f64> {
        vec![self.range.unit(input)]
    }

    /// The ends of the range, and the value that is reported without noise.
    fn input_breaks(&self, report: f64, _window: (f64, f64)) -> Vec<f64> {
        let (low, high) = (self.range.low(), self.range.high());
        let middle = Some(self.range.decode(report)).filter(|&x| low < x && x < high);
        [low].into_iter().chain(middle).chain([high]).collect()
    }

    fn tails(&self) -> Option<Tails> {
        Some(Tails { from: 1.0, period: self.scale, decay: 1.0 })
    }
}

impl Unbiased for Laplace {
    fn range(&self) -> (f64, f64) {
        (self.range.low(), self.range.high())
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.range.decode(mean_report)
    }

    fn variance(&self, _input: f64) -> f64 {
        self.range.scale_variance(2.0 * self.scale * self.scale)
    }
}

impl Rescale for Laplace {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { range: self.range.rescale(factor)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn the_level_is_never_below_two_over_the_scale() {
        // level · scale ≥ 2 in integers: both are a whole mantissa times a power of two.
        let mantissa =
            |x: f64| (BigUint::from(x.to_bits() & ((1 << 52) - 1) | (1 << 52)), (x.to_bits() >> 52) as i64 - 1075);
        for claim in [1e-6, 1e-3, 0.01, 0.2, 0.7, 1.0, 1.1, 3.3, 4.0, 5.0, 10.0, 30.0] {
            let laplace = Laplace::new(Epsilon::new(claim).unwrap(), Range::new(0.0, 1.0).unwrap()).unwrap();
            let realised = laplace.epsilon().value();
            assert!(realised <= claim && realised >= claim * (1.0 - 1e-15), "{realised} for {claim}");
            let ((a, i), (b, j)) = (mantissa(realised), mantissa(laplace.scale()));
            assert!(a * b >= BigUint::from(1u8) << (1 - i - j), "{claim}");
        }
    }

    #[test]
    fn tampered_json_is_refused() {
        let json = |range: &str, scale: &str| format!(r#"{{"range":{{{range}}},"scale":{scale}}}"#);
        let unit = r#""low":0.0,"high":1.0"#;
        assert!(serde_json::from_str::<Laplace>(&json(unit, "2.0")).is_ok());
        for (range, scale) in [
            (unit, "0.0"),
            (unit, "-2.0"),
            (unit, "1e10"),
            (unit, "null"),
            (unit, r#"2.0,"epsilon":1.0"#),
            (r#""low":0.0,"high":0.0"#, "2.0"),
        ] {
            assert!(serde_json::from_str::<Laplace>(&json(range, scale)).is_err(), "{range} {scale}");
        }
    }
}
