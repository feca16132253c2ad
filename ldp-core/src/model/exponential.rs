use super::{Cdf, Model, Score, Support, Symmetry};
use crate::error::{Result, require};
use rand::Rng;
use rand_distr::{Distribution, Exp1};

/// Exponential observations with unknown mean $\theta > 0$.
///
/// $$p_\theta(x) = \frac1\theta e^{-x/\theta}, \qquad x \ge 0$$
///
/// Information $1/\theta^2$.
///
/// ```
/// use ldp_core::model::{Cdf, Exponential, Score};
/// assert!((Exponential.cdf(2.0, 2.0) - (1.0 - (-1f64).exp())).abs() < 1e-15);
/// assert_eq!(Exponential.score(2.0, 6.0), 1.0);
/// assert_eq!(Exponential.information(2.0), 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Exponential;

impl Model for Exponential {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        let z: f64 = Exp1.sample(rng);
        theta * z
    }

    fn check(&self, theta: f64) -> Result<()> {
        require(theta > 0.0 && theta.is_finite(), "theta", "positive and finite", theta)
    }
}

impl Cdf for Exponential {
    fn admits(&self, theta: f64) -> Result<()> {
        self.check(theta)
    }

    fn cdf(&self, theta: f64, x: f64) -> f64 {
        -(-x.max(0.0) / theta).exp_m1()
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        let z = x.max(0.0) / theta;
        // Where z is infinite the product below would be infinity times zero.
        if z < f64::INFINITY { -z * (-z).exp() / theta } else { 0.0 }
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        let (low, high) = (low.max(0.0) / theta, high.max(0.0) / theta);
        if low < high { -(-low).exp() * (low - high).exp_m1() } else { 0.0 }
    }
}

impl Score for Exponential {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        if x < 0.0 { f64::NEG_INFINITY } else { -x / theta - theta.ln() }
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        (x / theta - 1.0) / theta
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Scale
    }

    fn information(&self, theta: f64) -> f64 {
        (theta * theta).recip()
    }

    fn support(&self, _theta: f64) -> Support {
        Support::Interval { low: 0.0, high: f64::INFINITY, kinks: Vec::new() }
    }
}
