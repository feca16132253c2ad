//! The largest private information, where it is known in closed form.

use ldp_core::Epsilon;
use std::f64::consts::PI;

/// The largest private Fisher information, where it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimum {
    /// A closed form.
    Known {
        /// $\sup_Q I_\theta(QP)$.
        information: f64,
    },
    /// No closed form.
    Unknown {
        /// Why, in words for the user.
        reason: &'static str,
    },
}

/// The level up to which the sign mechanism is proved optimal for a Gaussian mean: $\ln\frac{1+12\pi}{1+4\pi} = 1.0482$.
///
/// Theorem 1 of [KS25].
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[must_use]
pub fn sign_optimal_until() -> f64 {
    ((1.0 + 12.0 * PI) / (1.0 + 4.0 * PI)).ln()
}

/// The mean of $N(\theta, \sigma^2)$: $\frac{2}{\pi}\tau^2/\sigma^2$ for ε up to [`sign_optimal_until`].
#[must_use]
pub fn gaussian_mean(epsilon: Epsilon, sigma: f64) -> Optimum {
    if !(sigma > 0.0 && sigma.is_finite()) {
        return Optimum::Unknown { reason: "sigma must be positive and finite" };
    }
    if epsilon.value() > sign_optimal_until() {
        return Optimum::Unknown {
            reason: "the optimal mechanism for a Gaussian mean has a closed form only up to epsilon 1.048",
        };
    }
    Optimum::Known { information: 2.0 / PI * (epsilon.tau() / sigma).powi(2) }
}

/// The location of a Laplace distribution with the given scale: $\tau^2/scale^2$ at every ε.
///
/// Its score is ± 1/scale, a sign already: nothing is lost but by the randomised response.
#[must_use]
pub fn laplace_location(epsilon: Epsilon, scale: f64) -> Optimum {
    if !(scale > 0.0 && scale.is_finite()) {
        return Optimum::Unknown { reason: "the scale must be positive and finite" };
    }
    Optimum::Known { information: (epsilon.tau() / scale).powi(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants() {
        assert!((sign_optimal_until() - 1.048223).abs() < 5e-7);
        let at = |epsilon| gaussian_mean(Epsilon::new(epsilon).unwrap(), 2.0);
        assert!(matches!(at(1.0482), Optimum::Known { .. }));
        assert!(matches!(at(1.0483), Optimum::Unknown { .. }));
        // Four times the variance, and τ(1) from the definition.
        let tau = (1f64.exp() - 1.0) / (1f64.exp() + 1.0);
        assert_eq!(at(1.0), Optimum::Known { information: 2.0 / PI * (tau / 2.0).powi(2) });
        let laplace = laplace_location(Epsilon::new(3.0).unwrap(), 0.5);
        assert!(
            matches!(laplace, Optimum::Known { information } if (information - 4.0 * 1.5f64.tanh().powi(2)).abs() < 1e-15)
        );
    }
}
