//! What the location families share: $X = \theta + s Z$ with a standard variable $Z$ and a known scale $s$.

use super::{Cdf, Score, Support, Symmetry};
use crate::error::{Result, require};

/// A location family $X = \theta + s Z$, by the law of its standard variable $Z$, symmetric about zero or not.
///
/// Implement it, and the family has a [`Cdf`] and a [`Score`], with masses that keep their digits in both tails and on
/// narrow intervals.
///
/// ```
/// use ldp_core::model::{Cdf, Location, Score};
/// /// The hyperbolic secant law, of scale 1.
/// struct Secant;
/// impl Location for Secant {
///     fn scale(&self) -> f64 {
///         1.0
///     }
///     fn ln_density_at(&self, z: f64) -> f64 {
///         -(2.0 * (std::f64::consts::FRAC_PI_2 * z).cosh()).ln()
///     }
///     fn slope_at(&self, z: f64) -> f64 {
///         std::f64::consts::FRAC_PI_2 * (std::f64::consts::FRAC_PI_2 * z).tanh()
///     }
///     fn below(&self, z: f64) -> f64 {
///         std::f64::consts::FRAC_2_PI * (std::f64::consts::FRAC_PI_2 * z).exp().atan()
///     }
///     fn between(&self, low: f64, high: f64) -> f64 {
///         self.below(high) - self.below(low)
///     }
///     fn information_at_unit_scale(&self) -> f64 {
///         std::f64::consts::PI.powi(2) / 8.0
///     }
/// }
/// assert!((Secant.cdf(3.0, 3.0) - 0.5).abs() < 1e-15);
/// assert!((Secant.mass(3.0, 3.0, 3.0 + 1e-9) / 0.5e-9 - 1.0).abs() < 1e-6);
/// assert_eq!(Secant.score(3.0, 3.0), 0.0);
/// ```
pub trait Location {
    /// The known scale $s$.
    fn scale(&self) -> f64;

    /// $\ln$ of the density of $Z$.
    fn ln_density_at(&self, z: f64) -> f64;

    /// The density of $Z$.
    fn density_at(&self, z: f64) -> f64 {
        self.ln_density_at(z).exp()
    }

    /// Minus the derivative of $\ln$ density: the score of $\theta + Z$ at $\theta = 0$.
    fn slope_at(&self, z: f64) -> f64;

    /// $P(Z < z)$, with relative accuracy in the lower tail.
    fn below(&self, z: f64) -> f64;

    /// $P(low \le Z < high)$ for `low < high`, with relative accuracy in both tails.
    fn between(&self, low: f64, high: f64) -> f64;

    /// The information about $\theta$ in $\theta + Z$.
    fn information_at_unit_scale(&self) -> f64;

    /// The length over which the density is smooth, in units of $Z$.
    fn smooth(&self) -> f64 {
        1.0
    }

    /// Whether the density has a kink at zero.
    fn kink(&self) -> bool {
        false
    }
}

/// A scale as the constructors take it.
pub(super) fn check_scale(name: &'static str, value: f64) -> Result<f64> {
    require(value > 0.0 && value.is_finite(), name, "positive and finite", value)?;
    Ok(value)
}

#[inline]
fn standardise(law: &(impl Location + ?Sized), theta: f64, x: f64) -> f64 {
    (x - theta) / law.scale()
}

impl<L: Location + ?Sized> Cdf for L {
    #[inline]
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.below(standardise(self, theta, x))
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        -self.density_at(standardise(self, theta, x)) / self.scale()
    }

    #[inline]
    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        if let Some(mass) = narrow(self, theta, low, high, |z| self.density_at(z)) {
            return mass;
        }
        let (low, high) = (standardise(self, theta, low), standardise(self, theta, high));
        // Different ends can standardise to the same number, both infinities among them.
        if low < high { self.between(low, high) } else { 0.0 }
    }

    fn mass_dtheta(&self, theta: f64, low: f64, high: f64) -> f64 {
        let sum = narrow(self, theta, low, high, |z| self.slope_at(z) * self.density_at(z) / self.scale());
        sum.unwrap_or_else(|| self.cdf_dtheta(theta, high) - self.cdf_dtheta(theta, low))
    }
}

impl<L: Location + ?Sized> Score for L {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        self.ln_density_at(standardise(self, theta, x)) - self.scale().ln()
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        self.slope_at(standardise(self, theta, x)) / self.scale()
    }

    fn information(&self, _theta: f64) -> f64 {
        self.information_at_unit_scale() / (self.scale() * self.scale())
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Location
    }

    fn support(&self, theta: f64) -> Support {
        let kinks = if self.kink() { vec![theta] } else { Vec::new() };
        Support::Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, kinks }
    }
}

/// The integral of `f` over an interval so narrow that a difference at its ends would have few digits; else `None`.
///
/// Three-point Gauss–Legendre, exact to 1e-14 on a fiftieth of the length over which the law is smooth. The width is
/// taken before standardising, which would round it away.
#[inline]
fn narrow<L: Location + ?Sized>(law: &L, theta: f64, low: f64, high: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    let width = (high - low) / law.scale();
    if !(width > 0.0 && width < 0.02 * law.smooth()) {
        return None;
    }
    if law.kink() && low < theta && high > theta {
        return None;
    }
    let middle = standardise(law, theta, low + 0.5 * (high - low));
    let away = 0.6f64.sqrt() * 0.5 * width;
    Some(width * (5.0 * f(middle - away) + 8.0 * f(middle) + 5.0 * f(middle + away)) / 18.0)
}
