use super::{Cdf, Model, Score, Symmetry};
use crate::error::{Result, require};
use crate::special::normal;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Gaussian observations with mean zero and unknown standard deviation $\theta > 0$.
///
/// $$p_\theta(x) = \frac{1}{\theta\sqrt{2\pi}} e^{-x^2/(2\theta^2)}$$
///
/// Information $2/\theta^2$.
///
/// ```
/// use ldp_core::model::{Cdf, GaussianScale, Score};
/// assert_eq!(GaussianScale.cdf(3.0, 0.0), 0.5);
/// assert_eq!(GaussianScale.score(2.0, 4.0), 1.5);
/// assert_eq!(GaussianScale.information(2.0), 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct GaussianScale;

impl Model for GaussianScale {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        theta * z
    }

    fn gaussian(&self, theta: f64) -> Option<[f64; 2]> {
        Some([0.0, theta])
    }

    fn check(&self, theta: f64) -> Result<()> {
        require(theta > 0.0 && theta.is_finite(), "theta", "positive and finite", theta)
    }
}

impl Cdf for GaussianScale {
    fn admits(&self, theta: f64) -> Result<()> {
        self.check(theta)
    }

    fn cdf(&self, theta: f64, x: f64) -> f64 {
        normal::cdf(x / theta)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        let z = x / theta;
        // Where z is infinite the product below would be infinity times zero.
        if z.is_finite() { -z * normal::pdf(z) / theta } else { 0.0 }
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        normal::mass(low / theta, high / theta)
    }
}

impl Score for GaussianScale {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        normal::ln_pdf(x / theta) - theta.ln()
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        let z = x / theta;
        (z * z - 1.0) / theta
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Scale
    }

    fn information(&self, theta: f64) -> f64 {
        2.0 / (theta * theta)
    }
}
