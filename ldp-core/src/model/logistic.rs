use super::Model;
use super::location::{Location, check_scale};
use crate::error::Result;
use rand::Rng;
use rand_distr::{Distribution, Open01};

/// Logistic observations with unknown centre $\theta$ and known scale $s$.
///
/// $$P_\theta(X < x) = \frac{1}{1 + e^{-(x-\theta)/s}}$$
///
/// Information $1/(3s^2)$, standard deviation $s\pi/\sqrt3$.
///
/// ```
/// use ldp_core::model::{Cdf, Logistic, Score};
/// let model = Logistic::new(1.0)?;
/// assert!((model.cdf(0.0, 3f64.ln()) - 0.75).abs() < 1e-15);
/// assert!((model.score(0.0, 3f64.ln()) - 0.5).abs() < 1e-15);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic {
    scale: f64,
}

impl Logistic {
    /// The family with scale `scale`, positive and finite.
    pub fn new(scale: f64) -> Result<Self> {
        Ok(Self { scale: check_scale("scale", scale)? })
    }

    /// The known scale $s$.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

impl Location for Logistic {
    fn scale(&self) -> f64 {
        self.scale
    }

    fn ln_density_at(&self, z: f64) -> f64 {
        -z.abs() - 2.0 * (-z.abs()).exp().ln_1p()
    }

    fn density_at(&self, z: f64) -> f64 {
        let tail = (-z.abs()).exp();
        tail / ((1.0 + tail) * (1.0 + tail))
    }

    fn slope_at(&self, z: f64) -> f64 {
        (0.5 * z).tanh()
    }

    fn below(&self, z: f64) -> f64 {
        // With e^z in the lower half: e^-z overflows before the probability underflows.
        if z < 0.0 { z.exp() / (1.0 + z.exp()) } else { 1.0 / (1.0 + (-z).exp()) }
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        // F(high) - F(low) as a product, without a difference of probabilities.
        -self.below(high) * self.below(-low) * (low - high).exp_m1()
    }

    fn information_at_unit_scale(&self) -> f64 {
        1.0 / 3.0
    }
}

impl Model for Logistic {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        // Open on both sides: a uniform of 0 or 1 would be an infinite observation.
        let u: f64 = Open01.sample(rng);
        theta + self.scale * (u / (1.0 - u)).ln()
    }
}
