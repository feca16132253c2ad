//! What the functions of this crate return: a number, how it was come by, and how far it may be off.

use serde::Serialize;

/// How an [`Information`] was come by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "method")]
pub enum Method {
    /// From masses of cells: exact up to rounding.
    Exact,
    /// By integrals, with an estimate of their error.
    Quadrature,
    /// From samples alone: the value is a lower confidence limit, and what is lost by binning counts as lost.
    BlackBox {
        /// The probability with which the limit is below the information.
        level: f64,
        /// How many reports were drawn.
        draws: u64,
        /// The unbiased estimate of the information in the binned reports, to which the limit belongs.
        binned: f64,
    },
}

/// The Fisher information about θ in one private report, $I_\theta(QP) = E[(\partial_\theta \ln m_\theta(Z))^2]$.
///
/// ```
/// use ldp_fisher::{Information, Method};
/// let information = Information { value: 0.125, error: 1e-12, method: Method::Quadrature };
/// assert_eq!(information.asymptotic_variance(), 8.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Information {
    /// The information; a lower limit if the method is a black box.
    pub value: f64,
    /// How far the value may be off: a bound on rounding, an estimate for quadrature, zero for a limit.
    pub error: f64,
    /// How it was come by.
    #[serde(flatten)]
    pub method: Method,
}

impl Information {
    /// The reciprocal: n·Var of an efficient estimator from such reports, for one user.
    #[must_use]
    pub fn asymptotic_variance(&self) -> f64 {
        self.value.recip()
    }
}
