//! Laplace noise on the distance to the nearest point of a lattice.

use crate::{Laplace, Range};
use ldp_core::error::require;
use ldp_core::{Density, Epsilon, Error, Mechanism, Numerics, RealReports, Result, Tails};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The most periods of which the breaks are told.
const MOST_PERIODS: f64 = 4096.0;

/// The distance of x to the nearest point of a lattice, plus Laplace noise: a bounded question about an unbounded value.
///
/// The lattice is $\{\mathrm{origin} + b w\}$, b any integer. With s the nearest point (of two the lower one), the report
/// is that of [`Laplace`] on the range $[-w/2, w/2]$ about $x - s$, in units of half its width.
///
/// - ε: that of the noise on a range of width w.
/// - Report size: a real number, 64 bits.
/// - Variance of the decoded report about $x - s$: $2w^2/\varepsilon^2$.
/// - Sampling: idealised. One random word per report.
///
/// The second question of the one-round protocols for an unknown variance in [JKMW19].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_mechanisms::LatticeLaplace;
/// let question = LatticeLaplace::new(Epsilon::new(1.0)?, 0.5, 8.0)?;
/// assert!(question.epsilon().value() <= 1.0);
/// assert_eq!([16.75, 12.5, -4.0].map(|x| question.residual(x)), [0.25, 4.0, 3.5]);
/// assert_eq!(question.nearest(17.0), 16.5);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct LatticeLaplace {
    origin: f64,
    width: f64,
    noise: Laplace,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    origin: f64,
    width: f64,
    noise: Laplace,
}

impl TryFrom<Raw> for LatticeLaplace {
    type Error = Error;
    fn try_from(Raw { origin, width, noise }: Raw) -> Result<Self> {
        require(origin.is_finite(), "origin", "finite", origin)?;
        require(width > 0.0 && width.is_finite(), "width", "positive and finite", width)?;
        if ldp_core::Unbiased::range(&noise) != (-width / 2.0, width / 2.0) {
            return Err(Error::Unsupported { what: "lattice noise", needs: "a range from -width/2 to width/2" });
        }
        Ok(Self { origin, width, noise })
    }
}

impl From<LatticeLaplace> for Raw {
    fn from(LatticeLaplace { origin, width, noise }: LatticeLaplace) -> Self {
        Self { origin, width, noise }
    }
}

impl LatticeLaplace {
    /// At level ε, on the lattice through `origin` with points `width` apart.
    pub fn new(epsilon: Epsilon, origin: f64, width: f64) -> Result<Self> {
        require(width > 0.0 && width.is_finite(), "width", "positive and finite", width)?;
        let noise = Laplace::new(epsilon, Range::new(-width / 2.0, width / 2.0)?)?;
        Raw { origin, width, noise }.try_into()
    }

    /// The lattice point nearest to x; of two, the lower one.
    #[must_use]
    pub fn nearest(&self, x: f64) -> f64 {
        x - self.residual(x)
    }

    /// x minus its nearest lattice point: at most half a width.
    #[inline]
    #[must_use]
    pub fn residual(&self, x: f64) -> f64 {
        let away = (x - self.origin) / self.width;
        // The ceiling of away − ½ rounds halves down.
        (away - (away - 0.5).ceil()) * self.width
    }

    /// The noise on the residual, which decodes mean reports.
    #[must_use]
    pub fn noise(&self) -> &Laplace {
        &self.noise
    }
}

impl Mechanism for LatticeLaplace {
    type Input = f64;
    type Report = f64;
    const NUMERICS: Numerics = Numerics::Idealized;

    fn epsilon(&self) -> Epsilon {
        self.noise.epsilon()
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        self.noise.privatize(&self.residual(*input), rng)
    }
}

impl Density for LatticeLaplace {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        self.noise.ln_density(report, &self.residual(*input))
    }
}

impl RealReports for LatticeLaplace {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        self.noise.report_cdf(report, self.residual(input))
    }

    fn breaks(&self, input: f64) -> Vec<f64> {
        self.noise.breaks(self.residual(input))
    }

    /// In every period the point where the nearest lattice point changes, and the value that is reported without noise.
    fn input_breaks(&self, report: f64, (low, high): (f64, f64)) -> Vec<f64> {
        let periods = (high - low) / self.width;
        // Infinitely many, or more than anybody can use.
        if !(periods < MOST_PERIODS) {
            return Vec::new();
        }
        let first = ((low - self.origin) / self.width).floor() - 1.0;
        let middle = Some(report / 2.0).filter(|place| place.abs() < 0.5);
        let mut breaks = Vec::new();
        for k in 0..periods as u32 + 4 {
            let point = self.origin + (first + f64::from(k)) * self.width;
            breaks.extend(middle.map(|place| point + place * self.width));
            breaks.push(point + 0.5 * self.width);
        }
        breaks
    }

    fn tails(&self) -> Option<Tails> {
        self.noise.tails()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::{check_draws, check_epsilon_density, check_wire_round_trip};

    #[test]
    fn the_laws() {
        for (level, origin, width) in [(0.01, 0.0, 1.0), (1.0, -7.3, 0.2), (5.0, 1e6, 48.0)] {
            let claim = Epsilon::new(level).unwrap();
            let question = LatticeLaplace::new(claim, origin, width).unwrap();
            // Just above a midpoint the residual is −w/2, on it w/2.
            let (low, high) = ((origin + 0.5 * width).next_up(), origin - 0.5 * width + 1e-9 * width);
            assert!(question.residual(low) < 0.0 && question.residual(high) < 0.0);
            let inputs = [origin + 0.5 * width, low, origin, origin + 100.0 * width];
            check_draws(&question, &[inputs[0], f64::NAN, f64::INFINITY, -1e300]).unwrap();
            check_wire_round_trip(&question).unwrap();
            // The ends of the range differ by rounding, so the level is attained up to that.
            let exact = question.noise();
            check_epsilon_density(exact, claim, &[-width, width], &[-3.0, 3.0]).unwrap();
            for z in [-2.0, 0.3, 5.0] {
                let densities = inputs.map(|x| question.ln_density(&z, &x));
                let spread = densities.iter().fold(f64::MIN, |a, &b| a.max(b))
                    - densities.iter().fold(f64::MAX, |a, &b| a.min(b));
                assert!(spread <= level * (1.0 + 1e-12));
            }
            // No report is a NaN, whatever the value.
            let mut rng = ldp_simulate::seed::stream(1, ldp_simulate::seed::Purpose::Noise, 0, 0);
            for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -0.0] {
                assert!(question.privatize(&x, &mut rng).is_finite(), "{x}");
            }
        }
    }

    #[test]
    fn tampered_questions_are_refused() {
        let question = LatticeLaplace::new(Epsilon::new(1.0).unwrap(), 0.5, 8.0).unwrap();
        let json = serde_json::to_string(&question).unwrap();
        for (from, to) in [("\"low\":-4.0", "\"low\":-5.0"), ("\"width\":8.0", "\"width\":-8.0"), ("0.5", "1e999")] {
            assert!(json.contains(from), "{json}");
            assert!(serde_json::from_str::<LatticeLaplace>(&json.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
