//! A question about the square of a number.

use ldp_core::{Density, Epsilon, Mechanism, Numerics, Rescale, Result};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A question asked about x² instead of x.
///
/// - ε, report and sampling: those of the question.
/// - With a mechanism on the range $[0, t^2]$ the decoded mean report tells the mean of $\min(x^2, t^2)$.
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::{Laplace, Range, Squared};
/// let laplace = Laplace::new(Epsilon::new(1.0)?, Range::new(0.0, 9.0)?)?;
/// let rng = || stream(1, Purpose::Noise, 0, 0);
/// assert_eq!(Squared::new(laplace).privatize(&-2.0, &mut rng()), laplace.privatize(&4.0, &mut rng()));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Squared<Q> {
    squared: Q,
}

impl<Q: Mechanism<Input = f64>> Squared<Q> {
    /// The question about the square.
    #[must_use]
    pub fn new(question: Q) -> Self {
        Self { squared: question }
    }

    /// The question that the square goes through.
    #[must_use]
    pub fn question(&self) -> &Q {
        &self.squared
    }
}

impl<Q: Mechanism<Input = f64>> Mechanism for Squared<Q> {
    type Input = f64;
    type Report = Q::Report;
    const NUMERICS: Numerics = Q::NUMERICS;

    fn epsilon(&self) -> Epsilon {
        self.squared.epsilon()
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> Q::Report {
        self.squared.privatize(&(input * input), rng)
    }
}

impl<Q: Density + Mechanism<Input = f64>> Density for Squared<Q> {
    fn ln_density(&self, report: &Q::Report, input: &f64) -> f64 {
        self.squared.ln_density(report, &(input * input))
    }
}

/// Values times a factor have squares times the square of the factor.
impl<Q: Rescale> Rescale for Squared<Q> {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { squared: self.squared.rescale(factor * factor)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Laplace, Range};
    use ldp_core::Unbiased;
    use ldp_core::conformance::{check_draws, check_epsilon_density};
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn the_square_is_asked_about_in_its_own_unit() {
        let laplace = Laplace::new(Epsilon::new(2.0).unwrap(), Range::new(0.0, 4.0).unwrap()).unwrap();
        let squared = Squared::new(laplace);
        check_epsilon_density(&squared, Epsilon::new(2.0).unwrap(), &[0.0, -1.0, 2.0, 9.0], &[-1.5, 0.0, 3.0]).unwrap();
        check_draws(&squared, &[0.0, -1.0, f64::NAN]).unwrap();
        assert_eq!(squared.epsilon().value(), laplace.epsilon().value());
        assert_eq!(squared.rescale(3.0).unwrap().question().range(), (0.0, 36.0));
        for x in [0.0, 1.3, -1.3, 7.0, f64::MAX, f64::NAN] {
            let rng = || stream(9, Purpose::Noise, 0, 0);
            let report = squared.privatize(&x, &mut rng());
            assert_eq!(report, laplace.privatize(&(x * x), &mut rng()));
            assert_eq!(squared.ln_density(&report, &x), laplace.ln_density(&report, &(x * x)));
        }
        let json = serde_json::to_string(&squared).unwrap();
        assert_eq!(serde_json::from_str::<Squared<Laplace>>(&json).unwrap(), squared);
        assert!(serde_json::from_str::<Squared<Laplace>>(&json.replace("squared", "cubed")).is_err());
    }
}
