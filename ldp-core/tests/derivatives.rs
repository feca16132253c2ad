//! Derivatives in θ of every family, against finite differences at random parameters.
//!
//! A central difference with step h is off by h²/6 of the third derivative and by rounding over h; with h about the cube
//! root of the rounding both are near 1e-10 of the function's size. A derivative that is wrong by one part in a thousand
//! is rejected, as the last test shows.

use ldp_core::model::{
    Bernoulli, Categorical, Cdf, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, Score, StudentT,
};
use proptest::prelude::*;

/// What is checked of a family at one place; θ is `scale` wide there.
fn check<M: Cdf + Score>(model: &M, theta: f64, x: f64, scale: f64, tolerance: f64) -> Result<(), TestCaseError> {
    let h = 3e-5 * scale;
    let difference = |f: &dyn Fn(f64) -> f64| (f(theta + h) - f(theta - h)) / (2.0 * h);
    let close = |what: &str, exact: f64, found: f64, size: f64| {
        prop_assert!(
            (exact - found).abs() <= tolerance * (exact.abs() + size / scale),
            "{what} at theta {theta}, x {x}: {exact}, by differences {found}"
        );
        Ok(())
    };
    close("cdf", model.cdf_dtheta(theta, x), difference(&|t| model.cdf(t, x)), 1.0)?;
    let high = x + 0.7 * scale;
    close("mass", model.mass_dtheta(theta, x, high), difference(&|t| model.mass(t, x, high)), 1.0)?;
    let density = model.ln_density(theta, x);
    if density.is_finite() {
        close("score", model.score(theta, x), difference(&|t| model.ln_density(t, x)), density.abs().max(1.0))?;
    }
    Ok(())
}

/// Families of whole numbers and counts jump in x, not in θ: x may be anywhere.
fn whole(x: f64) -> [f64; 2] {
    [x, x.floor()]
}

proptest! {
    #[test]
    fn location_families(theta in -50.0..50.0f64, z in -6.0..6.0f64, scale in 0.05..20.0f64, degrees in 0.8..40.0f64) {
        let x = theta + scale * z;
        check(&Gaussian::new(scale).unwrap(), theta, x, scale, 1e-6)?;
        check(&Logistic::new(scale).unwrap(), theta, x, scale, 1e-6)?;
        check(&StudentT::new(degrees, scale).unwrap(), theta, x, scale, 1e-6)?;
        // Next to its kink a difference of the Laplace density straddles it.
        if z.abs() > 1e-3 && (z + 0.7).abs() > 1e-3 {
            check(&Laplace::new(scale).unwrap(), theta, x, scale, 1e-6)?;
        }
    }

    #[test]
    fn scale_families(theta in 0.05..20.0f64, z in -6.0..6.0f64) {
        check(&GaussianScale, theta, theta * z, theta, 1e-6)?;
        check(&Exponential, theta, theta * z, theta, 1e-6)?;
    }

    #[test]
    fn families_of_whole_numbers(p in 0.05..0.95f64, mean in 0.2..60.0f64, x in -1.0..80.0f64, size in 2u32..9) {
        for x in whole(x) {
            check(&Bernoulli, p, x, 0.5, 1e-6)?;
            check(&Categorical::new(size).unwrap(), p, x, 0.5, 1e-6)?;
            check(&Poisson, mean, x, mean.min(1.0), 1e-6)?;
        }
    }
}

/// One part in a thousand more, in each of the derivatives, is rejected.
#[test]
fn a_wrong_derivative_is_rejected() {
    struct Off(Gaussian, [f64; 2]);
    impl Cdf for Off {
        fn cdf(&self, theta: f64, x: f64) -> f64 {
            self.0.cdf(theta, x)
        }
        fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
            self.1[0] * self.0.cdf_dtheta(theta, x)
        }
    }
    impl Score for Off {
        fn ln_density(&self, theta: f64, x: f64) -> f64 {
            self.0.ln_density(theta, x)
        }
        fn score(&self, theta: f64, x: f64) -> f64 {
            self.1[1] * self.0.score(theta, x)
        }
        fn information(&self, theta: f64) -> f64 {
            self.0.information(theta)
        }
    }
    let at = |factors| check(&Off(Gaussian::new(2.0).unwrap(), factors), 1.0, 2.5, 2.0, 1e-6);
    assert!(at([1.0, 1.0]).is_ok());
    assert!(at([1.001, 1.0]).is_err() && at([1.0, 1.001]).is_err());
}
