use super::Model;
use super::location::{Location, check_scale};
use crate::error::Result;
use rand::Rng;
use rand_distr::{Distribution, Open01};

/// Laplace (double exponential) observations with unknown centre $\theta$ and known scale $b$.
///
/// $$p_\theta(x) = \frac{1}{2b} e^{-|x-\theta|/b}$$
///
/// Information $1/b^2$, standard deviation $b\sqrt2$. The score is $\pm1/b$, and 0 at the kink $x = \theta$.
///
/// ```
/// use ldp_core::model::{Cdf, Laplace, Score};
/// let model = Laplace::new(2.0)?;
/// assert!((model.cdf(1.0, -1.0) - 0.5 * (-1f64).exp()).abs() < 1e-16);
/// assert_eq!(model.score(1.0, 7.0), 0.5);
/// assert_eq!(model.information(1.0), 0.25);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    scale: f64,
}

impl Laplace {
    /// The family with scale `scale`, positive and finite.
    pub fn new(scale: f64) -> Result<Self> {
        Ok(Self { scale: check_scale("scale", scale)? })
    }

    /// The known scale $b$.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

impl Location for Laplace {
    fn scale(&self) -> f64 {
        self.scale
    }

    fn ln_density_at(&self, z: f64) -> f64 {
        -z.abs() - std::f64::consts::LN_2
    }

    fn density_at(&self, z: f64) -> f64 {
        0.5 * (-z.abs()).exp()
    }

    fn kink(&self) -> bool {
        true
    }

    fn slope_at(&self, z: f64) -> f64 {
        if z == 0.0 { 0.0 } else { z.signum() }
    }

    fn below(&self, z: f64) -> f64 {
        if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() }
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        if low >= 0.0 {
            -0.5 * (-low).exp() * (low - high).exp_m1()
        } else if high <= 0.0 {
            -0.5 * high.exp() * (low - high).exp_m1()
        } else {
            -0.5 * (low.exp_m1() + (-high).exp_m1())
        }
    }

    fn information_at_unit_scale(&self) -> f64 {
        1.0
    }
}

impl Model for Laplace {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        // Open on both sides: a uniform of 0 or 1 would be an infinite observation.
        let u: f64 = Open01.sample(rng);
        let z = if u < 0.5 { (2.0 * u).ln() } else { -(2.0 * (1.0 - u)).ln() };
        theta + self.scale * z
    }
}
