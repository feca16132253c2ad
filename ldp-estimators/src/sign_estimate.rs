//! The estimate that sign protocols end with.

use crate::SignStage;
use ldp_core::inference::wald_interval;
use ldp_core::{Error, Inference, Interval, IntervalKind, Rescale, Result, Tally};
use serde::{Deserialize, Serialize};

/// A mean from the last sign stage, or where that falls back, from the stage before it.
///
/// ```
/// use ldp_core::{Bits, Epsilon, Inference, IntervalKind};
/// use ldp_estimators::{SignEstimate, SignStage};
/// use ldp_mechanisms::Sign;
/// let question = Sign::new(Epsilon::new(1.0)?, 0.0)?;
/// let estimate = SignEstimate::new(SignStage::new(question, Bits::new(6000, 10_000)?), None);
/// assert!((estimate.value() - 0.572166298153107).abs() < 1e-14);
/// assert!(estimate.interval(IntervalKind::Exact, 0.95)?.contains(0.58));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignEstimate {
    last: SignStage,
    before: Option<SignStage>,
}

impl SignEstimate {
    /// From the last stage and the one that chose its threshold, if any.
    #[must_use]
    pub fn new(last: SignStage, before: Option<SignStage>) -> Self {
        Self { last, before }
    }

    /// The last stage.
    #[must_use]
    pub fn last(&self) -> &SignStage {
        &self.last
    }
}

impl Inference for SignEstimate {
    fn value(&self) -> f64 {
        self.last.estimate().unwrap_or(self.last.threshold())
    }

    fn standard_error(&self) -> Option<f64> {
        // Fallen back to the threshold, the value is the earlier stage's estimate and has its error.
        self.last.standard_error().or_else(|| self.before?.standard_error())
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::Exact, IntervalKind::Wald]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        match kind {
            IntervalKind::Exact => self.last.exact_interval(level),
            IntervalKind::Wald => wald_interval(self.value(), self.standard_error(), level),
            kind => Err(Error::NoInterval { kind, reason: "a sign protocol has exact and wald intervals" }),
        }
    }

    fn note(&self) -> Option<&'static str> {
        match self.last.estimate() {
            Some(_) => None,
            None if self.last.answers().users() == 0 => {
                Some("nobody answered the last question: the value is its threshold")
            }
            None => Some("the last count is beyond what any mean explains: the value is the last threshold"),
        }
    }
}

impl Rescale for SignEstimate {
    fn rescale(self, factor: f64) -> Result<Self> {
        let before = self.before.map(|stage| stage.rescale(factor)).transpose()?;
        Ok(Self { last: self.last.rescale(factor)?, before })
    }
}
