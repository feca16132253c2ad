//! One sign stage at a fixed start.

use crate::{SignEstimate, SignStage, StartAt};
use ldp_core::{Bits, Epsilon, Error, Result, Round, StagedEstimator, Step, StepOf};
use ldp_mechanisms::Sign;

/// The one-stage sign estimator of a Gaussian mean, σ = 1: every user answers at the start θ₀.
///
/// - Estimate: [`SignStage::estimate`], falling back to θ₀.
/// - n·MSE → $V_1(\delta)$, [`one_stage_variance`](crate::one_stage_variance): efficient only from a perfect start.
/// - Rounds: 1. Questions: [`Sign`]. The one-stage protocol of [KS25].
///
/// For σ ≠ 1 wrap it in [`Rescaled`](crate::Rescaled).
///
/// ```
/// use ldp_core::{Bits, Epsilon, Inference, StagedEstimator, Step};
/// use ldp_estimators::OneStage;
/// let estimator = OneStage::new(Epsilon::new(1.0)?, 2.0)?;
/// let Step::Ask { round, state } = estimator.begin(100)? else { panic!("asks first") };
/// assert_eq!(round.groups()[0].users, 100);
/// let Step::Done(estimate) = estimator.advance(state, &[Bits::new(50, 100)?])? else { panic!("one round") };
/// assert_eq!(estimate.value(), 2.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneStage {
    question: Sign,
}

impl OneStage {
    /// At level ε, starting from `start`.
    pub fn new(epsilon: Epsilon, start: f64) -> Result<Self> {
        Ok(Self { question: Sign::new(epsilon, start)? })
    }
}

impl StagedEstimator for OneStage {
    type Question = Sign;
    type Tally = Bits;
    /// Nothing to remember: the question is the protocol's own.
    type State = ();
    type Estimate = SignEstimate;

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
        Ok(Step::Done(SignEstimate::new(SignStage::new(self.question, one(answers)?), None)))
    }

    fn range(&self, users: u64) -> Option<[f64; 2]> {
        Some(around(self.question.threshold(), SignStage::reach(self.question, users)))
    }
}

impl StartAt for OneStage {
    fn start_at(&self, start: f64) -> Result<Self> {
        Ok(Self { question: self.question.at(start)? })
    }
}

/// What lies within `reach` of a place.
pub(crate) fn around(place: f64, reach: f64) -> [f64; 2] {
    [place - reach, place + reach]
}

/// The only tally of a round of one group.
#[inline]
pub(crate) fn one<T: Copy>(answers: &[T]) -> Result<T> {
    match answers {
        [answer] => Ok(*answer),
        _ => Err(Error::TallyCount { expected: 1, found: answers.len() }),
    }
}
