//! Two sign stages: the second asks where the first points.

use crate::one_stage::one;
use crate::{SignEstimate, SignStage, one_stage_variance};
use ldp_core::{Bits, Epsilon, Error, Result, Round, StagedEstimator, Step, StepOf};
use ldp_mechanisms::Sign;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The two-stage sign estimator of a Gaussian mean, σ = 1.
///
/// `first_stage` users answer at the start θ₀ and give θ̃; the others answer at θ̃ and give θ̂, falling back to θ̃.
///
/// - n·MSE → $V = \frac{\pi}{2}\tau^{-2}$ when $n_1 \to \infty$ and $n_1/n \to 0$: for ε ≤ 1.048 nothing ε-private
///   does better (Theorems 1 and 2 of [KS25]).
/// - Rounds: 2. Questions: [`Sign`].
///
/// For σ ≠ 1 wrap it in [`Rescaled`](crate::Rescaled). A running example opens the crate's documentation.
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStage {
    epsilon: Epsilon,
    question: Sign,
    first_stage: Option<u64>,
}

/// What a [`TwoStage`] remembers between rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TwoStageState {
    /// The first stage is out.
    First {
        /// What it asks.
        question: Sign,
        /// How many users are left for the second.
        second_stage: u64,
    },
    /// The second stage is out.
    Second {
        /// What it asks.
        question: Sign,
        /// What the first brought.
        first: SignStage,
    },
}

impl TwoStage {
    /// At level ε from `start`, with `first_stage` ≥ 1 users in the first stage.
    pub fn new(epsilon: Epsilon, start: f64, first_stage: u64) -> Result<Self> {
        if first_stage == 0 {
            return Err(Error::TooFew { name: "first-stage", least: 1, value: 0 });
        }
        Ok(Self { epsilon, question: Sign::new(epsilon, start)?, first_stage: Some(first_stage) })
    }

    /// At level ε from `start`, with a first stage of the size that [`tuned_first_stage`](Self::tuned_first_stage)
    /// gives for the number of users.
    pub fn tuned(epsilon: Epsilon, start: f64) -> Result<Self> {
        Ok(Self { epsilon, question: Sign::new(epsilon, start)?, first_stage: None })
    }

    /// A good size of the first stage for a start about half a σ off: $n_1 = \sqrt{c\,V_1(1/2)\,n}$, $c = 1 - 2\tau^2/\pi$.
    ///
    /// It balances the users the first stage takes, $n_1/n$, against the off-centre second threshold, $c V_1/n_1$.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_estimators::TwoStage;
    /// assert_eq!(TwoStage::tuned_first_stage(Epsilon::new(1.0)?, 10_000), 281);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn tuned_first_stage(epsilon: Epsilon, users: u64) -> u64 {
        let c = 1.0 - 2.0 * epsilon.tau().powi(2) / PI;
        let size = (c * one_stage_variance(epsilon, 0.5) * users as f64).sqrt();
        (size.round() as u64).clamp(1, (users / 2).max(1))
    }
}

impl StagedEstimator for TwoStage {
    type Question = Sign;
    type Tally = Bits;
    type State = TwoStageState;
    type Estimate = SignEstimate;

    fn tally(&self, _: &Sign) -> Bits {
        Bits::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users < 2 {
            return Err(Error::TooFew { name: "users", least: 2, value: users });
        }
        let first_stage = self.first_stage.unwrap_or_else(|| Self::tuned_first_stage(self.epsilon, users));
        if first_stage >= users {
            return Err(Error::TooMany { name: "first-stage", most: users - 1, value: first_stage });
        }
        let (question, second_stage) = (self.question, users - first_stage);
        let state = TwoStageState::First { question, second_stage };
        Ok(Step::Ask { round: Round::one(question, first_stage), state })
    }

    fn advance(&self, state: TwoStageState, answers: &[Bits]) -> Result<StepOf<Self>> {
        let answers = one(answers)?;
        Ok(match state {
            TwoStageState::First { question, second_stage } => {
                let first = SignStage::new(question, answers);
                let question = question.at(first.estimate().unwrap_or(question.threshold()))?;
                let state = TwoStageState::Second { question, first };
                Step::Ask { round: Round::one(question, second_stage), state }
            }
            TwoStageState::Second { question, first } => {
                Step::Done(SignEstimate::new(SignStage::new(question, answers), Some(first)))
            }
        })
    }
}
