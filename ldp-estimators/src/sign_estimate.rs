//! The estimate that sign protocols end with.

use crate::SignStage;
use ldp_core::inference::wald_interval;
use ldp_core::{Diagnostic, Error, Inference, Interval, IntervalKind, Rescale, Result, Tally};
use serde::{Deserialize, Serialize};

/// A mean from the last sign stage, or where that falls back, from the stage before it.
///
/// The exact interval is that of the last stage, up to the value where that is a fallback beside it.
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
            IntervalKind::Exact => {
                // A fallback may lie beside the half-line that its count leaves: the interval then reaches up to it.
                let (stage, value) = (self.last.exact_interval(level)?, self.value());
                Interval::new(kind, level, stage.low.min(value), stage.high.max(value))
            }
            IntervalKind::Wald => wald_interval(self.value(), self.standard_error(), level),
            kind => Err(Error::NoInterval { kind, reason: "a sign protocol has exact and wald intervals" }),
        }
    }

    fn diagnostics(&self, range: Option<[f64; 2]>) -> Vec<Diagnostic> {
        let range = Diagnostic::of_range(self.value(), self.standard_error(), range);
        let contradiction = self.before.and_then(|before| self.last.contradicts(&before));
        [self.last.diagnostic(), contradiction, range].into_iter().flatten().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::special::normal;
    use ldp_core::{Bits, Epsilon};
    use ldp_mechanisms::Sign;

    fn stage(threshold: f64, plus: u64, users: u64) -> SignStage {
        let question = Sign::new(Epsilon::new(1.0).unwrap(), threshold).unwrap();
        SignStage::new(question, Bits::new(plus, users).unwrap())
    }

    #[test]
    fn the_standard_error_is_the_delta_method() {
        let estimate = SignEstimate::new(stage(2.0, 6000, 10_000), None);
        // d(offset)/dp = 1/(τ φ(offset)), and Var p̂ = p(1 − p)/n.
        let slope = 1.0 / (0.5f64.tanh() * normal::pdf(estimate.value() - 2.0));
        let expected = slope * (0.6f64 * 0.4 / 10_000.0).sqrt();
        assert!((estimate.standard_error().unwrap() / expected - 1.0).abs() < 1e-14);
        // From both intervals: the Wald one is value ± 1.96 of it, the exact one about as wide.
        let wald = estimate.interval(IntervalKind::Wald, 0.95).unwrap();
        assert!((wald.width() / (2.0 * 1.959_963_984_540_054 * expected) - 1.0).abs() < 1e-13);
        assert!((wald.low + wald.high - 2.0 * estimate.value()).abs() < 1e-13);
        let exact = estimate.interval(IntervalKind::Exact, 0.95).unwrap();
        assert!((exact.width() / wald.width() - 1.0).abs() < 0.02);
        assert_eq!(estimate.note(), None);
    }

    #[test]
    fn a_fallback_has_the_value_and_error_of_the_stage_before() {
        let before = stage(0.0, 60, 100);
        let threshold = before.estimate().unwrap();
        let fallen = SignEstimate::new(stage(threshold, 1000, 1000), Some(before));
        assert_eq!(fallen.value(), threshold);
        assert_eq!(fallen.standard_error(), before.standard_error());
        assert!(fallen.note().unwrap().contains("beyond what any mean explains"));
        // Without a stage before there is no standard error, and so no Wald interval.
        let first = SignEstimate::new(stage(0.0, 1000, 1000), None);
        assert_eq!((first.value(), first.standard_error()), (0.0, None));
        let refused = first.interval(IntervalKind::Wald, 0.95);
        assert!(matches!(refused, Err(Error::NoInterval { kind: IntervalKind::Wald, .. })));
        let unknown = first.interval(IntervalKind::SelfNormalised, 0.95);
        assert!(matches!(unknown, Err(Error::NoInterval { kind: IntervalKind::SelfNormalised, .. })));
    }

    #[test]
    fn silence_is_told_from_a_boundary() {
        let silent = SignEstimate::new(stage(1.0, 0, 0), None);
        assert_eq!(silent.value(), 1.0);
        assert!(silent.note().unwrap().contains("nobody answered"));
    }
}
