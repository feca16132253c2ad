//! The piecewise mechanism: bounded reports, most of them near the value.

use crate::{Range, noise};
use ldp_core::{Density, Epsilon, Error, Mechanism, Numerics, RealReports, Rescale, Result, Unbiased, error::require};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The piecewise mechanism: a report in $[-C, C]$, with a high density on an interval around the value.
///
/// With u in $[-1, 1]$ as in [`Range`], $h = e^{\varepsilon/2}$, $C = (h+1)/(h-1)$, $\ell = (hu-1)/(h-1)$ and
/// $r = (hu+1)/(h-1)$:
///
/// $$q(z \mid x) = \frac{h(h-1)}{2(h+1)}\ \text{if } \ell \le z \le r,\qquad
/// \frac{h-1}{2h(h+1)}\ \text{elsewhere in } [-C, C].$$
///
/// - ε: $2 \ln h$, from the stored $h - 1$; rounded up.
/// - Report size: a real number, 64 bits, in units of half the width w of the range.
/// - Variance of the decoded report: $\frac{w^2}{4}\left[\frac{u^2}{h-1} + \frac{h+3}{3(h-1)^2}\right]$.
/// - Sampling: idealised, by the inverse cdf in floating point. One random word per report.
/// - Levels from 1e-7 to 40. See [WXYZ19].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, Unbiased};
/// use ldp_mechanisms::{Piecewise, Range};
/// let piecewise = Piecewise::new(Epsilon::new(4.0)?, Range::new(-1.0, 1.0)?)?;
/// assert!(piecewise.epsilon().value() <= 4.0);
/// let h = 2f64.exp();
/// assert!((piecewise.bound() - (h + 1.0) / (h - 1.0)).abs() < 1e-14);
/// assert!((piecewise.variance(0.0) - (h + 3.0) / (3.0 * (h - 1.0).powi(2))).abs() < 1e-14);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [WXYZ19]: https://arxiv.org/abs/1907.00782
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Piecewise {
    range: Range,
    /// h − 1.
    growth: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    range: Range,
    growth: f64,
}

impl TryFrom<Raw> for Piecewise {
    type Error = Error;
    fn try_from(Raw { range, growth }: Raw) -> Result<Self> {
        Self::with_growth(range, growth)
    }
}

impl From<Piecewise> for Raw {
    fn from(Piecewise { range, growth }: Piecewise) -> Self {
        Self { range, growth }
    }
}

impl Piecewise {
    /// The piecewise mechanism at level ε on values in a range.
    pub fn new(epsilon: Epsilon, range: Range) -> Result<Self> {
        noise::check_level(epsilon)?;
        // Doubling is exact, so a level within ε/2 is a level within ε.
        Self::with_growth(range, noise::growth(epsilon.value() / 2.0))
    }

    /// The mechanism with this h − 1.
    pub(crate) fn with_growth(range: Range, growth: f64) -> Result<Self> {
        // Reports are at most C = 1 + 2/growth; above, the interval around the value is too short for its numbers.
        let (least, most) = (f64::from(1 << 25).recip(), f64::from(1 << 30));
        require(growth >= least && growth <= most, "growth", "between 2^-25 and 2^30", growth)?;
        Ok(Self { range, growth })
    }

    /// h − 1.
    pub(crate) fn growth(self) -> f64 {
        self.growth
    }

    /// C, the largest report, in units of half the width of the range.
    #[must_use]
    pub fn bound(self) -> f64 {
        self.interval(1.0).1
    }

    /// ℓ and r. At u = −1 and u = 1 they are −C and C to the last bit.
    fn interval(self, unit: f64) -> (f64, f64) {
        let middle = (1.0 + self.growth) * unit;
        ((middle - 1.0) / self.growth, (middle + 1.0) / self.growth)
    }

    /// The density inside the interval and outside of it.
    fn densities(self) -> (f64, f64) {
        let half = self.growth / (2.0 * (2.0 + self.growth));
        (half * (1.0 + self.growth), half / (1.0 + self.growth))
    }

    /// The probabilities to the left and to the right of the interval.
    fn sides(self, unit: f64) -> (f64, f64) {
        let half = 0.5 / (2.0 + self.growth);
        (half * (1.0 + unit), half * (1.0 - unit))
    }
}

impl Mechanism for Piecewise {
    type Input = f64;
    type Report = f64;
    const NUMERICS: Numerics = Numerics::Idealized;

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(2.0 * noise::level(self.growth)).expect("checked on construction")
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        let (unit, place) = (self.range.unit(*input), noise::uniform(rng.next_u64()));
        let ((inside, outside), (left, right)) = (self.densities(), self.sides(unit));
        let bound = self.bound();
        let report = if place < left {
            place / outside - bound
        } else if 1.0 - place < right {
            bound - (1.0 - place) / outside
        } else {
            self.interval(unit).0 + (place - left) / inside
        };
        // A rounding must not lead to where no report can be.
        report.clamp(-bound, bound)
    }
}

impl Density for Piecewise {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        let (low, high) = self.interval(self.range.unit(*input));
        let (inside, outside) = self.densities();
        if (low..=high).contains(report) {
            inside.ln()
        } else if report.abs() <= self.bound() {
            outside.ln()
        } else {
            f64::NEG_INFINITY
        }
    }
}

impl RealReports for Piecewise {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        let unit = self.range.unit(input);
        let (low, high) = self.interval(unit);
        let (inside, outside) = self.densities();
        if report < low {
            (outside * (report + self.bound())).max(0.0)
        } else if report <= high {
            self.sides(unit).0 + inside * (report - low)
        } else {
            1.0 - (outside * (self.bound() - report)).max(0.0)
        }
    }

    fn breaks(&self, input: f64) -> Vec<f64> {
        let (low, high) = self.interval(self.range.unit(input));
        let mut breaks = vec![-self.bound(), low, high, self.bound()];
        breaks.dedup();
        breaks
    }

    /// The values whose likely interval begins or ends at the report.
    fn input_breaks(&self, report: f64, _window: (f64, f64)) -> Vec<f64> {
        // ℓ(u) = z and r(u) = z, solved for u.
        let ratio = 1.0 + self.growth;
        let ends = [-1.0, 1.0].map(|side| (report * self.growth + side) / ratio);
        ends.into_iter().filter(|u| u.abs() < 1.0).map(|u| self.range.decode(u)).collect()
    }
}

impl Unbiased for Piecewise {
    fn range(&self) -> (f64, f64) {
        (self.range.low(), self.range.high())
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.range.decode(mean_report)
    }

    fn variance(&self, input: f64) -> f64 {
        let (unit, growth) = (self.range.unit(input), self.growth);
        self.range.scale_variance(unit * unit / growth + (growth + 4.0) / (3.0 * growth * growth))
    }
}

impl Rescale for Piecewise {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { range: self.range.rescale(factor)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::Repeating;

    #[test]
    fn reports_stay_within_the_bound_from_the_extreme_words() {
        for level in [1e-6, 1e-3, 0.2, 1.0, 5.0, 30.0, 40.0] {
            let piecewise = Piecewise::new(Epsilon::new(level).unwrap(), Range::new(0.0, 1.0).unwrap()).unwrap();
            for (input, word) in [(0.0, 0), (0.0, u64::MAX), (0.3, 0), (0.3, u64::MAX), (1.0, 0), (1.0, u64::MAX)] {
                let report = piecewise.privatize(&input, &mut Repeating::new(word));
                assert!(report.abs() <= piecewise.bound(), "{report} at ε = {level}");
            }
            assert_eq!(piecewise.interval(-1.0).0, -piecewise.bound());
        }
    }

    #[test]
    fn tampered_json_is_refused() {
        let json = |growth: &str| format!(r#"{{"range":{{"low":0.0,"high":1.0}},"growth":{growth}}}"#);
        assert!(serde_json::from_str::<Piecewise>(&json("0.6")).is_ok());
        for growth in ["0.0", "-0.5", "1e-10", "1e10", "null", r#"0.6,"epsilon":1"#] {
            assert!(serde_json::from_str::<Piecewise>(&json(growth)).is_err(), "{growth}");
        }
        for level in [1e-9, 50.0] {
            let refused = Piecewise::new(Epsilon::new(level).unwrap(), Range::new(0.0, 1.0).unwrap());
            assert!(matches!(refused, Err(Error::Parameter { name: "epsilon", .. })), "{level}");
        }
    }
}
