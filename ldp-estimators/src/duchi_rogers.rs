//! One sign stage for a mean that is known to lie in a range.

use crate::one_stage::{around, one};
use crate::{SignStage, StartAt};
use ldp_core::error::require;
use ldp_core::inference::wald_interval;
use ldp_core::{
    Bits, Diagnostic, Epsilon, Error, Inference, Interval, IntervalKind, Rescale, Result, Round, StagedEstimator, Step,
    StepOf, Tally,
};
use ldp_mechanisms::Sign;
use serde::{Deserialize, Serialize};

/// Duchi and Rogers' estimator of a Gaussian mean within R of a centre c, σ = 1: every user answers at the centre.
///
/// $$\hat\theta = c + \Phi^{-1}\Bigl(\frac{1 + M}{2}\Bigr),\qquad
///   M = \bar Z/\tau\ \text{clipped to}\ \pm(2\Phi(R) - 1).$$
///
/// Inversion is monotone, so this is the estimate of [`OneStage`](crate::OneStage) clamped to the range; but a count
/// that no mean explains goes to the end of the range on its side, and not back to the centre.
///
/// - n·MSE → $V_1(\theta - c)$, [`one_stage_variance`](crate::one_stage_variance), inside the range. Any ε; the price
///   of one stage is a variance that grows like $e^{(\theta - c)^2}$.
/// - Rounds: 1. Questions: [`Sign`]. The one-dimensional case of [DR19].
///
/// For σ ≠ 1 wrap it in [`Rescaled`](crate::Rescaled).
///
/// ```
/// use ldp_core::{Bits, Epsilon, Inference, StagedEstimator, Step};
/// use ldp_estimators::DuchiRogers;
/// let estimator = DuchiRogers::new(Epsilon::new(1.0)?, 0.0, 2.0)?;
/// let Step::Ask { state, .. } = estimator.begin(100)? else { panic!("asks first") };
/// // All pluses: more than any mean explains, and most of all the largest.
/// let Step::Done(estimate) = estimator.advance(state, &[Bits::new(100, 100)?])? else { panic!("one round") };
/// assert_eq!(estimate.value(), 2.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [DR19]: https://arxiv.org/abs/1902.00582
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuchiRogers {
    question: Sign,
    radius: f64,
}

impl DuchiRogers {
    /// At level ε, for a mean within `radius` > 0 of `centre`.
    pub fn new(epsilon: Epsilon, centre: f64, radius: f64) -> Result<Self> {
        check_radius(centre, radius)?;
        Ok(Self { question: Sign::new(epsilon, centre)?, radius })
    }
}

/// Why there is no interval where the stage's own lies beside the range.
const BESIDE: &str = "the answers point beyond the range: no mean in it explains them at this level";

/// A range with two finite ends that differ from its centre.
fn check_radius(centre: f64, radius: f64) -> Result<()> {
    require(radius > 0.0 && radius.is_finite(), "range", "positive and finite", radius)?;
    require(centre.is_finite(), "centre", "finite", centre)?;
    let finite = (centre - radius).is_finite() && (centre + radius).is_finite();
    require(finite, "range", "so small that its ends are finite", radius)
}

impl StagedEstimator for DuchiRogers {
    type Question = Sign;
    type Tally = Bits;
    /// Nothing to remember: the question is the protocol's own.
    type State = ();
    type Estimate = RangeEstimate;

    fn tally(&self, _: &Sign) -> Bits {
        Bits::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        Ok(Step::Ask { round: Round::one(self.question, users), state: () })
    }

    fn advance(&self, (): (), answers: &[Bits]) -> Result<StepOf<Self>> {
        Ok(Step::Done(RangeEstimate { stage: SignStage::new(self.question, one(answers)?), radius: self.radius }))
    }

    fn range(&self, _: u64) -> Option<[f64; 2]> {
        Some(around(self.question.threshold(), self.radius))
    }
}

/// The centre moves, the radius stays.
impl StartAt for DuchiRogers {
    fn start_at(&self, start: f64) -> Result<Self> {
        check_radius(start, self.radius)?;
        Ok(Self { question: self.question.at(start)?, ..*self })
    }
}

/// A mean from one sign stage, clamped to the range around the stage's threshold.
///
/// The exact interval is the stage's own, cut to the range. Where they have no point in common there is none: the data
/// contradict the range.
///
/// ```
/// use ldp_core::{Bits, Epsilon, Inference, IntervalKind};
/// use ldp_estimators::{RangeEstimate, SignStage};
/// use ldp_mechanisms::Sign;
/// let stage = SignStage::new(Sign::new(Epsilon::new(1.0)?, 0.0)?, Bits::new(6000, 10_000)?);
/// // The stage alone says 0.572.
/// let estimate = RangeEstimate::new(stage, 0.55)?;
/// assert_eq!((estimate.value(), estimate.standard_error()), (0.55, None));
/// let interval = estimate.interval(IntervalKind::Exact, 0.95)?;
/// assert!(0.5 < interval.low && interval.high == 0.55);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct RangeEstimate {
    stage: SignStage,
    radius: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    stage: SignStage,
    radius: f64,
}

impl TryFrom<Raw> for RangeEstimate {
    type Error = Error;
    fn try_from(Raw { stage, radius }: Raw) -> Result<Self> {
        Self::new(stage, radius)
    }
}

impl RangeEstimate {
    /// The estimate of a stage, for a mean within `radius` of its threshold.
    pub fn new(stage: SignStage, radius: f64) -> Result<Self> {
        check_radius(stage.threshold(), radius)?;
        Ok(Self { stage, radius })
    }

    /// The stage it is made from.
    #[must_use]
    pub fn stage(&self) -> &SignStage {
        &self.stage
    }

    /// The low and high end of what the mean can be.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.stage.threshold() - self.radius, self.stage.threshold() + self.radius)
    }

    /// The stage's estimate, if it lies in the range.
    fn inside(&self) -> Option<f64> {
        let (low, high) = self.range();
        self.stage.estimate().filter(|&value| low <= value && value <= high)
    }
}

impl Inference for RangeEstimate {
    fn value(&self) -> f64 {
        let (low, high) = self.range();
        let answers = self.stage.answers();
        match self.stage.estimate() {
            Some(value) => value.clamp(low, high),
            None if answers.users() == 0 => self.stage.threshold(),
            // No mean explains so many of one kind, the end of the range on that side most of all.
            None if answers.ones() > answers.users() / 2 => high,
            None => low,
        }
    }

    fn standard_error(&self) -> Option<f64> {
        self.inside().and_then(|_| self.stage.standard_error())
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::Exact, IntervalKind::Wald]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        match kind {
            IntervalKind::Exact => {
                let (low, high) = self.range();
                self.stage.exact_interval(level)?.within([low, high], BESIDE)
            }
            IntervalKind::Wald => wald_interval(self.value(), self.standard_error(), level),
            kind => Err(Error::NoInterval { kind, reason: "a sign protocol has exact and wald intervals" }),
        }
    }

    fn diagnostics(&self, _range: Option<[f64; 2]>) -> Vec<Diagnostic> {
        let (low, high) = self.range();
        let unclipped = self.stage.estimate();
        let range =
            unclipped.and_then(|value| Diagnostic::of_range(value, self.stage.standard_error(), Some([low, high])));
        // Where the range bounds the mean, an answer that does not is no surprise.
        let stage = self.stage.diagnostic().filter(|_| unclipped.is_none_or(|value| value < low || value > high));
        stage.into_iter().chain(range).collect()
    }

    fn note(&self) -> Option<&'static str> {
        if self.inside().is_some() {
            None
        } else if self.stage.answers().users() == 0 {
            Some("nobody answered: the value is the centre of the range")
        } else {
            Some("the count points beyond the range: the value is its end, and the range may be wrong")
        }
    }
}

impl Rescale for RangeEstimate {
    fn rescale(self, factor: f64) -> Result<Self> {
        let stage = self.stage.rescale(factor)?;
        if factor == 1.0 {
            return Self::new(stage, self.radius);
        }
        // The change of unit rounds centre and radius: a mean at the very end of the range must not fall out of it.
        let radius = self.radius * factor;
        Self::new(stage, radius + 4.0 * f64::EPSILON * radius.max(stage.threshold().abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(centre: f64, radius: f64, plus: u64, users: u64) -> RangeEstimate {
        let question = Sign::new(Epsilon::new(1.0).unwrap(), centre).unwrap();
        RangeEstimate::new(SignStage::new(question, Bits::new(plus, users).unwrap()), radius).unwrap()
    }

    #[test]
    fn there_is_no_interval_where_the_answers_contradict_the_range() {
        // Ten thousand users around -1.4, the range ends at -1.
        let beside = estimate(-0.5, 0.5, 3050, 10_000);
        let stage = beside.stage().exact_interval(0.95).unwrap();
        assert!(stage.high < -1.0, "{stage:?}");
        assert!(matches!(beside.interval(IntervalKind::Exact, 0.95), Err(Error::NoInterval { .. })));
        assert_eq!((beside.value(), beside.standard_error()), (-1.0, None));
        assert!(beside.note().unwrap().contains("beyond the range"));
        assert!(matches!(beside.interval(IntervalKind::Wald, 0.95), Err(Error::NoInterval { .. })));
    }

    #[test]
    fn silence_is_the_centre() {
        let silent = estimate(3.0, 1.0, 0, 0);
        assert_eq!((silent.value(), silent.standard_error()), (3.0, None));
        assert!(silent.note().unwrap().contains("nobody"));
        let interval = silent.interval(IntervalKind::Exact, 0.95).unwrap();
        assert_eq!((interval.low, interval.high), (2.0, 4.0));
    }

    #[test]
    fn rescaling_is_a_change_of_unit_and_json_is_checked() {
        for plus in [0, 37, 50, 90, 100] {
            let unit = estimate(0.25, 1.5, plus, 100);
            let wide = unit.rescale(4.0).unwrap();
            assert!((wide.value() - 4.0 * unit.value()).abs() < 1e-14);
            assert_eq!(wide.standard_error(), unit.standard_error().map(|error| 4.0 * error));
            let (low, high) = wide.range();
            assert!((low + 5.0).abs() < 1e-13 && (high - 7.0).abs() < 1e-13);
            assert!(unit.rescale(1.5e308).is_err());
        }
        // 0.45/0.3 times 0.3 is below 0.45: a mean at the end of the range is still in every interval that reaches it.
        let (range, sigma) = (0.45, 0.3);
        assert!(range / sigma * sigma < range);
        let end = estimate(0.0, range / sigma, 70, 100).rescale(sigma).unwrap();
        assert!(end.interval(IntervalKind::Exact, 0.95).unwrap().contains(range));
        let json = serde_json::to_string(&estimate(0.25, 1.5, 4, 9)).unwrap();
        assert_eq!(serde_json::from_str::<RangeEstimate>(&json).unwrap(), estimate(0.25, 1.5, 4, 9));
        for to in ["0.0", "-1.0", "null", r#"1.5,"low":0.0"#] {
            assert!(json.contains("1.5"), "{json}");
            assert!(serde_json::from_str::<RangeEstimate>(&json.replace("1.5", to)).is_err(), "{to}");
        }
    }
}
