//! The moments of the error.

use super::Gather;
use ldp_core::inference::Inference;

/// Bias, variance, mean squared error and the mean fourth power of the error, against a known truth.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_simulate::exact::{Errors, Exact};
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[25]]);
/// let model = Gaussian::new(1.0)?;
/// let errors = Exact::new(&model, 0.0)?.sum(&dummy, 25, || Errors::new(0.5))?.gather;
/// assert!((errors.mse() - 0.01).abs() < 1e-15 && errors.bias().abs() < 1e-15);
/// // 3σ⁴ but for a correction of order 1/n.
/// assert!((errors.fourth() / 3e-4 - 1.0).abs() < 0.05);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    truth: f64,
    mass: f64,
    first: f64,
    second: f64,
    fourth: f64,
}

impl Errors {
    /// Nothing seen yet; the truth is `truth`.
    #[must_use]
    pub fn new(truth: f64) -> Self {
        Self { truth, mass: 0.0, first: 0.0, second: 0.0, fourth: 0.0 }
    }

    /// The probability that was summed.
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// The mean error.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.first
    }

    /// The mean squared error.
    #[must_use]
    pub fn mse(&self) -> f64 {
        self.second
    }

    /// The variance of the estimate: MSE = bias² + variance.
    #[must_use]
    pub fn variance(&self) -> f64 {
        (self.second - self.first * self.first).max(0.0)
    }

    /// The mean fourth power of the error: it says how precise a simulated mean squared error is.
    #[must_use]
    pub fn fourth(&self) -> f64 {
        self.fourth
    }

    /// The standard error of the mean squared error of so many simulated replications.
    #[must_use]
    pub fn simulation_error(&self, replications: u64) -> f64 {
        ((self.fourth - self.second * self.second).max(0.0) / replications as f64).sqrt()
    }
}

impl Gather for Errors {
    #[inline]
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I) {
        let square = estimate.squared_error(self.truth);
        self.mass += weight;
        self.first += weight * (estimate.value() - self.truth);
        self.second += weight * square;
        self.fourth += weight * square * square;
    }

    fn merge(&mut self, other: Self) {
        self.mass += other.mass;
        self.first += other.first;
        self.second += other.second;
        self.fourth += other.fourth;
    }

    fn squares(&self) -> f64 {
        self.second
    }
}
