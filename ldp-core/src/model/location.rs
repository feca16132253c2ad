//! What the location families share: $X = \theta + s Z$ with a standard variable $Z$ and a known scale $s$.

use crate::error::{Result, require};

/// The law of the standard variable, and its scale.
pub(super) trait Standard {
    /// The known scale $s$.
    fn scale(&self) -> f64;

    /// $\ln$ of the density of $Z$.
    fn ln_density(&self, z: f64) -> f64;

    /// The density of $Z$.
    fn density(&self, z: f64) -> f64 {
        self.ln_density(z).exp()
    }

    /// Minus the derivative of $\ln$ density: the score of $\theta + Z$ at $\theta = 0$.
    fn slope(&self, z: f64) -> f64;

    /// $P(Z < z)$, with relative accuracy in the lower tail.
    fn below(&self, z: f64) -> f64;

    /// $P(low \le Z < high)$ for `low < high`, with relative accuracy in both tails.
    fn between(&self, low: f64, high: f64) -> f64;

    /// The length over which the density is smooth.
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

fn standardise(law: &impl Standard, theta: f64, x: f64) -> f64 {
    (x - theta) / law.scale()
}

pub(super) fn cdf(law: &impl Standard, theta: f64, x: f64) -> f64 {
    law.below(standardise(law, theta, x))
}

pub(super) fn cdf_dtheta(law: &impl Standard, theta: f64, x: f64) -> f64 {
    -law.density(standardise(law, theta, x)) / law.scale()
}

pub(super) fn mass(law: &impl Standard, theta: f64, low: f64, high: f64) -> f64 {
    if let Some(mass) = narrow(law, theta, low, high, |z| law.density(z)) {
        return mass;
    }
    let (low, high) = (standardise(law, theta, low), standardise(law, theta, high));
    // Different ends can standardise to the same number, both infinities among them.
    if low < high { law.between(low, high) } else { 0.0 }
}

/// $\partial_\theta P_\theta(low \le X < high) = \int s_\theta p_\theta$ over the interval.
pub(super) fn mass_dtheta(law: &impl Standard, theta: f64, low: f64, high: f64) -> f64 {
    let sum = narrow(law, theta, low, high, |z| law.slope(z) * law.density(z) / law.scale());
    sum.unwrap_or_else(|| cdf_dtheta(law, theta, high) - cdf_dtheta(law, theta, low))
}

/// The integral of `f` over an interval so narrow that a difference at its ends would have few digits; else `None`.
///
/// Three-point Gauss–Legendre, exact to 1e-14 on a fiftieth of the length over which the law is smooth. The width is
/// taken before standardising, which would round it away.
fn narrow(law: &impl Standard, theta: f64, low: f64, high: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    let width = (high - low) / law.scale();
    let (begin, end) = (standardise(law, theta, low), standardise(law, theta, high));
    let kinked = law.kink() && begin < 0.0 && end > 0.0;
    if !(width > 0.0 && width < 0.02 * law.smooth()) || kinked {
        return None;
    }
    let middle = standardise(law, theta, low + 0.5 * (high - low));
    let away = 0.6f64.sqrt() * 0.5 * width;
    Some(width * (5.0 * f(middle - away) + 8.0 * f(middle) + 5.0 * f(middle + away)) / 18.0)
}

pub(super) fn ln_density(law: &impl Standard, theta: f64, x: f64) -> f64 {
    law.ln_density(standardise(law, theta, x)) - law.scale().ln()
}

pub(super) fn score(law: &impl Standard, theta: f64, x: f64) -> f64 {
    law.slope(standardise(law, theta, x)) / law.scale()
}
