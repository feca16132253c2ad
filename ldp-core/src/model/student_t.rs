use super::Model;
use super::location::{Location, check_scale};
use crate::error::Result;
use crate::special::{beta, gamma, normal};
use rand::Rng;
use rand_distr::Distribution;

/// Student's t with known degrees of freedom $\nu$ and scale $s$, around an unknown centre $\theta$.
///
/// $$p_\theta(x) = \frac{\Gamma(\frac{\nu+1}{2})}{s\sqrt{\nu\pi}\Gamma(\frac\nu2)}
/// \Bigl(1 + \frac{z^2}{\nu}\Bigr)^{-(\nu+1)/2}, \qquad z = \frac{x - \theta}{s}$$
///
/// Information $\frac{\nu+1}{(\nu+3)s^2}$. Degrees need not be whole; $\nu = 1$ is the Cauchy law. Draws that
/// would not fit a finite `f64` (degrees below 0.1 make them) are cut to the largest one.
///
/// ```
/// use ldp_core::model::{Cdf, Score, StudentT};
/// let cauchy = StudentT::new(1.0, 2.0)?;
/// assert!((cauchy.cdf(5.0, 3.0) - 0.25).abs() < 1e-15);
/// assert_eq!(cauchy.information(5.0), 0.125);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    degrees: f64,
    scale: f64,
    /// $\ln$ of the standard density at zero.
    ln_peak: f64,
    sampler: rand_distr::StudentT<f64>,
}

impl StudentT {
    /// The family with these degrees of freedom and this scale, both positive and finite.
    pub fn new(degrees: f64, scale: f64) -> Result<Self> {
        let degrees = check_scale("degrees", degrees)?;
        let scale = check_scale("scale", scale)?;
        let invalid =
            |_| crate::Error::Parameter { name: "degrees", requirement: "positive and finite", value: degrees };
        Ok(Self {
            degrees,
            scale,
            ln_peak: ln_gamma_ratio(0.5 * degrees) - 0.5 * (degrees.ln() + std::f64::consts::PI.ln()),
            sampler: rand_distr::StudentT::new(degrees).map_err(invalid)?,
        })
    }

    /// The known degrees of freedom $\nu$.
    #[must_use]
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// The known scale $s$.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// $P(0 < Z < z)$ and $P(Z > z)$ for $z \ge 0$.
    fn halves(&self, z: f64) -> (f64, f64) {
        // The law is then the normal one to within z⁴/ν, and ν + z² would round to ν.
        if self.degrees > 1e20 {
            return (normal::mass(0.0, z), normal::sf(z));
        }
        let ratio = z / self.degrees.sqrt();
        if ratio > 1e8 {
            // First term of the series in 1/ratio², which would underflow long before the tail does.
            let tail = (self.ln_peak + 0.5 * self.degrees.ln() - self.degrees * ratio.ln()).exp() / self.degrees;
            return (0.5 - tail, tail);
        }
        let sum = 1.0 + ratio * ratio;
        let (centre, tail) = beta::regularized_at(0.5, 0.5 * self.degrees, ratio * ratio / sum, sum.recip());
        (0.5 * centre, 0.5 * tail)
    }
}

/// $\ln\Gamma(z + \tfrac12) - \ln\Gamma(z)$.
fn ln_gamma_ratio(z: f64) -> f64 {
    if z < 20.0 {
        return gamma::ln_gamma(z + 0.5) - gamma::ln_gamma(z);
    }
    // The difference loses all digits for large z.
    let square = z * z;
    let series = 1.0 / 640.0 - (17.0 / 14336.0 - 31.0 / 18432.0 / square) / square;
    0.5 * z.ln() - (1.0 / 8.0 - (1.0 / 192.0 - series / square) / square) / z
}

impl Location for StudentT {
    fn scale(&self) -> f64 {
        self.scale
    }

    fn ln_density_at(&self, z: f64) -> f64 {
        let ratio = z / self.degrees.sqrt();
        // The square must not overflow: heavy tails are still there at z = 1e200.
        let log = if ratio.abs() > 1e8 { 2.0 * ratio.abs().ln() } else { (ratio * ratio).ln_1p() };
        self.ln_peak - 0.5 * (self.degrees + 1.0) * log
    }

    fn smooth(&self) -> f64 {
        self.degrees.sqrt().min(1.0)
    }

    fn slope_at(&self, z: f64) -> f64 {
        (self.degrees + 1.0) / (self.degrees / z + z)
    }

    fn below(&self, z: f64) -> f64 {
        if z < 0.0 { self.halves(-z).1 } else { 0.5 + self.halves(z).0 }
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        if low > 0.0 {
            self.halves(low).1 - self.halves(high).1
        } else if high < 0.0 {
            self.halves(-high).1 - self.halves(-low).1
        } else {
            self.halves(high).0 + self.halves(-low).0
        }
    }

    fn information_at_unit_scale(&self) -> f64 {
        (self.degrees + 1.0) / (self.degrees + 3.0)
    }
}

impl Model for StudentT {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        let x = theta + self.scale * self.sampler.sample(rng);
        x.clamp(f64::MIN, f64::MAX)
    }
}
