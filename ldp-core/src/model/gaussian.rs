use super::location::{self, Standard};
use super::{Cdf, Model, Score};
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
        Ok(Self { sigma: location::check_scale("sigma", sigma)? })
    }

    /// The known standard deviation.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

impl Standard for Gaussian {
    fn scale(&self) -> f64 {
        self.sigma
    }

    fn ln_density(&self, z: f64) -> f64 {
        normal::ln_pdf(z)
    }

    fn density(&self, z: f64) -> f64 {
        normal::pdf(z)
    }

    fn slope(&self, z: f64) -> f64 {
        z
    }

    fn below(&self, z: f64) -> f64 {
        normal::cdf(z)
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        normal::mass(low, high)
    }
}

impl Model for Gaussian {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        theta + self.sigma * z
    }
}

impl Cdf for Gaussian {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        location::cdf(self, theta, x)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        location::cdf_dtheta(self, theta, x)
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        location::mass(self, theta, low, high)
    }

    fn mass_dtheta(&self, theta: f64, low: f64, high: f64) -> f64 {
        location::mass_dtheta(self, theta, low, high)
    }
}

impl Score for Gaussian {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        location::ln_density(self, theta, x)
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        location::score(self, theta, x)
    }

    fn information(&self, _theta: f64) -> f64 {
        (self.sigma * self.sigma).recip()
    }
}
