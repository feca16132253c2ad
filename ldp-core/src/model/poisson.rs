use super::{Cdf, Model, Score, Support};
use crate::error::{Result, require};
use crate::special::gamma;
use crate::special::saddle::{LN_SQRT_TWO_PI, deviance, stirling_error};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Poisson counts with unknown mean $\theta > 0$.
///
/// $$p_\theta(k) = \frac{\theta^k e^{-\theta}}{k!}, \qquad k = 0, 1, 2, \dots$$
///
/// Information $1/\theta$.
///
/// ```
/// use ldp_core::model::{Cdf, Poisson, Score};
/// assert_eq!(Poisson.cdf(2.0, 0.0), 0.0);
/// assert!((Poisson.cdf(2.0, 0.5) - (-2f64).exp()).abs() < 1e-15);
/// assert!((Poisson.mass(2.0, 1.0, 3.0) - 4.0 * (-2f64).exp()).abs() < 1e-15);
/// assert_eq!(Poisson.score(2.0, 4.0), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Poisson;

/// Up to here every whole number is an `f64`.
const NUMBERED: f64 = (1u64 << 53) as f64;

/// How many counts are possible below `x`, as an `f64`.
fn counts_below(x: f64) -> f64 {
    x.max(0.0).ceil()
}

/// $\ln p_\theta(k)$ for a whole number $k \ge 0$, by Loader's saddle-point.
fn ln_pmf(theta: f64, k: f64) -> f64 {
    if k == 0.0 { -theta } else { -stirling_error(k) - deviance(k, theta, k - theta) - 0.5 * k.ln() - LN_SQRT_TWO_PI }
}

impl Model for Poisson {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        match rand_distr::Poisson::new(theta) {
            Ok(law) => law.sample(rng),
            // Means above 1.8e19: the law is normal to ten digits, and whole numbers are all an f64 can hold.
            Err(_) => {
                let z: f64 = StandardNormal.sample(rng);
                theta + theta.sqrt() * z
            }
        }
    }

    fn check(&self, theta: f64) -> Result<()> {
        require(theta > 0.0 && theta.is_finite(), "theta", "positive and finite", theta)
    }
}

impl Cdf for Poisson {
    fn admits(&self, theta: f64) -> Result<()> {
        self.check(theta)
    }

    fn cdf(&self, theta: f64, x: f64) -> f64 {
        if x > 0.0 { gamma::regularized(counts_below(x), theta).1 } else { 0.0 }
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        let k = counts_below(x);
        if !(k > 0.0 && k < f64::INFINITY) {
            return 0.0;
        }
        // −p(k − 1). Where there is no such number beside k any more, from p(k): the quotient of the two is k/θ.
        if k <= NUMBERED {
            -ln_pmf(theta, k - 1.0).exp()
        } else {
            -((k / theta).min(f64::MAX) * ln_pmf(theta, k).exp())
        }
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        let (first, end) = (counts_below(low), counts_below(high));
        if !(first < end) {
            return 0.0;
        }
        // A few atoms are summed: the difference of two cdfs has no digits of a small atom.
        if end - first <= 8.0 {
            return (0..(end - first) as u8).map(|i| ln_pmf(theta, first + f64::from(i)).exp()).sum();
        }
        if first > theta {
            gamma::regularized(first, theta).0 - gamma::regularized(end, theta).0
        } else {
            self.cdf(theta, end) - self.cdf(theta, first)
        }
    }
}

impl Score for Poisson {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        if (0.0..f64::INFINITY).contains(&x) && x == x.trunc() { ln_pmf(theta, x) } else { f64::NEG_INFINITY }
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        // The difference first: neighbouring counts at a mean of 1e15 have quotients that are the same number.
        (x - theta) / theta
    }

    fn information(&self, theta: f64) -> f64 {
        theta.recip()
    }

    fn support(&self, _theta: f64) -> Support {
        Support::Whole { first: 0.0, last: f64::INFINITY }
    }
}
