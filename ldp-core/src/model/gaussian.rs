use super::Model;
use super::location::{Location, check_scale};
use crate::error::Result;
use crate::special::normal;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Gaussian observations with unknown mean $\theta$ and known standard deviation $\sigma$.
///
/// $$p_\theta(x) = \frac{1}{\sigma\sqrt{2\pi}} e^{-(x-\theta)^2/(2\sigma^2)}$$
///
/// Information $1/\sigma^2$. The parameter space is the real line.
///
/// ```
/// use ldp_core::model::{Cdf, Gaussian, Score};
/// let model = Gaussian::new(2.0)?;
/// assert_eq!(model.cdf(5.0, 5.0), 0.5);
/// assert_eq!(model.information(5.0), 0.25);
/// assert_eq!(model.score(5.0, 7.0), 0.5);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    sigma: f64,
}

impl Gaussian {
    /// The family with standard deviation `sigma`, positive and finite.
    pub fn new(sigma: f64) -> Result<Self> {
        Ok(Self { sigma: check_scale("sigma", sigma)? })
    }

    /// The known standard deviation.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

impl Location for Gaussian {
    #[inline]
    fn scale(&self) -> f64 {
        self.sigma
    }

    fn ln_density_at(&self, z: f64) -> f64 {
        normal::ln_pdf(z)
    }

    fn density_at(&self, z: f64) -> f64 {
        normal::pdf(z)
    }

    fn slope_at(&self, z: f64) -> f64 {
        z
    }

    #[inline]
    fn below(&self, z: f64) -> f64 {
        normal::cdf(z)
    }

    #[inline]
    fn between(&self, low: f64, high: f64) -> f64 {
        normal::mass(low, high)
    }

    fn information_at_unit_scale(&self) -> f64 {
        1.0
    }
}

impl Model for Gaussian {
    type Observation = f64;

    #[inline]
    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        theta + self.sigma * z
    }

    fn gaussian(&self, theta: f64) -> Option<[f64; 2]> {
        Some([theta, self.sigma])
    }
}
