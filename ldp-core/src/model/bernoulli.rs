use super::{Cdf, Model, Score, Support};
use crate::error::{Result, require};
use rand::{Rng, RngExt};

/// Zeros and ones, with unknown probability $\theta \in (0, 1)$ of a one.
///
/// $$p_\theta(1) = \theta, \qquad p_\theta(0) = 1 - \theta$$
///
/// Information $\frac{1}{\theta(1-\theta)}$, which is why the parameter space is open; the cdf is defined on the
/// closed interval.
///
/// ```
/// use ldp_core::model::{Bernoulli, Cdf, Score};
/// // Strict: the atom at zero is not below zero.
/// assert_eq!(Bernoulli.cdf(0.25, 0.0), 0.0);
/// assert_eq!(Bernoulli.cdf(0.25, 1.0), 0.75);
/// assert_eq!(Bernoulli.score(0.25, 1.0), 4.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Bernoulli;

impl Model for Bernoulli {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        f64::from(u8::from(rng.random::<f64>() < theta))
    }

    fn check(&self, theta: f64) -> Result<()> {
        require(theta > 0.0 && theta < 1.0, "theta", "strictly between 0 and 1", theta)
    }
}

impl Cdf for Bernoulli {
    fn admits(&self, theta: f64) -> Result<()> {
        self.check(theta)
    }

    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.mass(theta, f64::NEG_INFINITY, x)
    }

    fn cdf_dtheta(&self, _theta: f64, x: f64) -> f64 {
        if x > 0.0 && x <= 1.0 { -1.0 } else { 0.0 }
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        match (low <= 0.0 && 0.0 < high, low <= 1.0 && 1.0 < high) {
            (true, true) => 1.0,
            (true, false) => 1.0 - theta,
            (false, true) => theta,
            (false, false) => 0.0,
        }
    }
}

impl Score for Bernoulli {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        if x == 1.0 {
            theta.ln()
        } else if x == 0.0 {
            (-theta).ln_1p()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        if x == 1.0 { theta.recip() } else { -(1.0 - theta).recip() }
    }

    fn information(&self, theta: f64) -> f64 {
        theta.recip() + (1.0 - theta).recip()
    }

    fn support(&self, _theta: f64) -> Support {
        Support::Whole { first: 0.0, last: 1.0 }
    }
}
