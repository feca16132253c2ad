//! Families that claim a symmetry they do not have.

use super::rejected;
use ldp_core::conformance::check_symmetry;
use ldp_core::model::{Cdf, Exponential, Poisson, Score, Symmetry};

/// A family with another claim than its own.
struct Claims<M>(M, Symmetry);

impl<M: Cdf> Cdf for Claims<M> {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.0.cdf(theta, x)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        self.0.cdf_dtheta(theta, x)
    }
}

impl<M: Score> Score for Claims<M> {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        self.0.ln_density(theta, x)
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        self.0.score(theta, x)
    }

    fn information(&self, theta: f64) -> f64 {
        self.0.information(theta)
    }

    fn symmetry(&self) -> Symmetry {
        self.1
    }
}

/// Exponential but for a score that forgets the unit.
struct Unitless;

impl Cdf for Unitless {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        Exponential.cdf(theta, x)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        Exponential.cdf_dtheta(theta, x)
    }
}

impl Score for Unitless {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        Exponential.ln_density(theta, x)
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        theta * Exponential.score(theta, x)
    }

    fn information(&self, theta: f64) -> f64 {
        Exponential.information(theta)
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Scale
    }
}

#[test]
fn a_symmetry_that_is_not_there_is_found() {
    const LAW: &str = "family is as symmetric as it says";
    check_symmetry(&Claims(Exponential, Symmetry::Scale), &[0.7, 30.0]).unwrap();
    check_symmetry(&Claims(Poisson, Symmetry::None), &[0.7, 30.0]).unwrap();
    rejected(check_symmetry(&Claims(Poisson, Symmetry::Scale), &[1.001]), LAW);
    rejected(check_symmetry(&Unitless, &[2.0]), LAW);
    // At the member itself nothing can be told.
    check_symmetry(&Unitless, &[1.0]).unwrap();
}
