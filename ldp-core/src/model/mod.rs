//! Parametric families $\lbrace P_\theta \rbrace$: where simulated values come from and what a report can say about them.
//!
//! A family implements [`Model`] (it can be sampled) and whichever capabilities it has: [`Cdf`] gives every
//! finite mechanism its exact report law, [`Score`] gives the likelihood. The built-in families have all three,
//! with observations in `f64` (categories and counts are whole numbers). They come with the feature `families`.
//!
//! ```
//! use ldp_core::model::{Cdf, Gaussian, Model};
//! use ldp_simulate::seed::{Purpose, stream};
//! let model = Gaussian::new(2.0)?;
//! let x = model.sample(5.0, &mut stream(7, Purpose::Data, 0, 0));
//! assert!(x.is_finite());
//! assert_eq!(model.cdf(5.0, 5.0), 0.5);
//! # Ok::<(), ldp_core::Error>(())
//! ```

#[cfg(feature = "families")]
mod bernoulli;
#[cfg(feature = "families")]
mod categorical;
#[cfg(feature = "families")]
mod exponential;
#[cfg(feature = "families")]
mod gaussian;
#[cfg(feature = "families")]
mod gaussian_mean_scale;
#[cfg(feature = "families")]
mod gaussian_scale;
#[cfg(feature = "families")]
mod laplace;
#[cfg(feature = "families")]
mod location;
#[cfg(feature = "families")]
mod logistic;
#[cfg(feature = "families")]
mod poisson;
#[cfg(feature = "families")]
mod student_t;
mod symmetry;

#[cfg(feature = "families")]
pub use bernoulli::Bernoulli;
#[cfg(feature = "families")]
pub use categorical::Categorical;
#[cfg(feature = "families")]
pub use exponential::Exponential;
#[cfg(feature = "families")]
pub use gaussian::Gaussian;
#[cfg(feature = "families")]
pub use gaussian_mean_scale::GaussianMeanScale;
#[cfg(feature = "families")]
pub use gaussian_scale::GaussianScale;
#[cfg(feature = "families")]
pub use laplace::Laplace;
#[cfg(feature = "families")]
pub use location::Location;
#[cfg(feature = "families")]
pub use logistic::Logistic;
#[cfg(feature = "families")]
pub use poisson::Poisson;
#[cfg(feature = "families")]
pub use student_t::StudentT;
pub use symmetry::Symmetry;

use crate::error::{Result, require};
use crate::special::least;
use rand::Rng;
use std::fmt;

/// A parametric family $\lbrace P_\theta \rbrace$ that can be sampled.
pub trait Model {
    /// What one user holds.
    type Observation;

    /// One draw from $P_\theta$. `theta` must pass [`check`](Self::check).
    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> Self::Observation;

    /// The mean and the standard deviation, where $P_\theta$ is Gaussian: simulations draw such values many at a time.
    fn gaussian(&self, _theta: f64) -> Option<[f64; 2]> {
        None
    }

    /// Whether `theta` lies in the parameter space. By default: any finite number.
    fn check(&self, theta: f64) -> Result<()> {
        require(theta.is_finite(), "theta", "finite", theta)
    }
}

/// The distribution function of a family, strict: $F_\theta(x) = P_\theta(X < x)$.
///
/// Strict, because cells are closed on the left: $P_\theta(a \le X < b) = F_\theta(b) - F_\theta(a)$ also for
/// families with atoms. Arguments may be infinite. Object safe.
pub trait Cdf {
    /// $P_\theta(X < x)$.
    fn cdf(&self, theta: f64, x: f64) -> f64;

    /// Whether `theta` lies in the parameter space. By default: any finite number.
    fn admits(&self, theta: f64) -> Result<()> {
        require(theta.is_finite(), "theta", "finite", theta)
    }

    /// $\partial_\theta P_\theta(X < x)$.
    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64;

    /// $P_\theta(low \le X < high)$. Families override it where the difference of two cdfs near one would cancel.
    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        (self.cdf(theta, high) - self.cdf(theta, low)).max(0.0)
    }

    /// The least x with $P_\theta(X < x) \ge p$.
    ///
    /// ```
    /// use ldp_core::model::{Cdf, Poisson};
    /// // P(X < 3) = 0.54 at mean 2.5, P(X < 2) = 0.29.
    /// assert_eq!(Poisson.quantile(2.5, 0.5), 2f64.next_up());
    /// ```
    fn quantile(&self, theta: f64, p: f64) -> f64 {
        least(|x| self.cdf(theta, x) >= p)
    }

    /// $\partial_\theta P_\theta(low \le X < high)$.
    fn mass_dtheta(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.cdf_dtheta(theta, high) - self.cdf_dtheta(theta, low)
    }
}

/// Where the observations of a family lie, and where its density is not smooth: what quadrature has to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Support {
    /// A density on an interval, whose ends may be infinite.
    Interval {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// Points inside at which the density or the score jumps or has a kink, increasing.
        kinks: Vec<f64>,
    },
    /// Probabilities of whole numbers.
    Whole {
        /// The smallest.
        first: f64,
        /// The largest; may be infinite.
        last: f64,
    },
}

impl Support {
    /// Whether an observation can be `x`.
    ///
    /// ```
    /// use ldp_core::model::{Bernoulli, Exponential, Score};
    /// assert!(Bernoulli.support(0.5).holds(1.0) && !Bernoulli.support(0.5).holds(171.4));
    /// assert!(Exponential.support(1.0).holds(0.0) && !Exponential.support(1.0).holds(-3.0));
    /// ```
    #[must_use]
    pub fn holds(&self, x: f64) -> bool {
        match *self {
            Self::Interval { low, high, .. } => low <= x && x <= high && x.is_finite(),
            Self::Whole { first, last } => first <= x && x <= last && x.is_finite() && x.fract() == 0.0,
        }
    }
}

/// What an observation must be, in words.
impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Interval { low, high, .. } => match (low.is_finite(), high.is_finite()) {
                (false, false) => f.write_str("a finite number"),
                (true, false) => write!(f, "at least {low}"),
                (false, true) => write!(f, "at most {high}"),
                (true, true) => write!(f, "from {low} to {high}"),
            },
            Self::Whole { first, last } if first + 1.0 == last => write!(f, "{first} or {last}"),
            Self::Whole { first, last } if last.is_finite() => write!(f, "a whole number from {first} to {last}"),
            Self::Whole { first, .. } => write!(f, "a whole number, at least {first}"),
        }
    }
}

/// The likelihood of a family: log density (or log probability) and its derivative in $\theta$. Object safe.
pub trait Score {
    /// $\ln p_\theta(x)$; minus infinity outside the support.
    fn ln_density(&self, theta: f64, x: f64) -> f64;

    /// $\partial_\theta \ln p_\theta(x)$ inside the support.
    fn score(&self, theta: f64, x: f64) -> f64;

    /// The information of one unsanitised observation, $E_\theta[score^2]$.
    fn information(&self, theta: f64) -> f64;

    /// Where observations lie under `theta`. By default the whole line, smoothly.
    fn support(&self, _theta: f64) -> Support {
        Support::Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, kinks: Vec::new() }
    }

    /// How the members of the family come from one of them. By default nothing is claimed.
    ///
    /// Law, for families that also have a [`Cdf`]: what [`Symmetry`] says. `conformance::check_symmetry` tries it.
    fn symmetry(&self) -> Symmetry {
        Symmetry::None
    }
}

/// A family with several parameters at once. Object safe.
pub trait ManyParameters {
    /// How many parameters.
    fn parameters(&self) -> usize;

    /// Whether `theta` lies in the parameter space.
    fn check_all(&self, theta: &[f64]) -> Result<()>;

    /// $P_\theta(X < x)$.
    fn cdf_all(&self, theta: &[f64], x: f64) -> f64;

    /// $P_\theta(low \le X < high)$. Families override it where the difference of two cdfs near one would cancel.
    fn mass_all(&self, theta: &[f64], low: f64, high: f64) -> f64 {
        (self.cdf_all(theta, high) - self.cdf_all(theta, low)).max(0.0)
    }

    /// $\partial_{\theta_i} P_\theta(X < x)$ for every $i$, into `gradient`.
    fn cdf_gradient(&self, theta: &[f64], x: f64, gradient: &mut [f64]);
}
