//! Two sign stages: the second asks where the first points.

use crate::first_stage::{FirstStage, tuned_size};
use crate::one_stage::{around, one};
use crate::{SignEstimate, SignStage, StartAt, one_stage_variance};
use ldp_core::{Bits, Epsilon, Error, Result, Round, StagedEstimator, Step, StepOf, Tally};
use ldp_mechanisms::Sign;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The two-stage sign estimator of a Gaussian mean, σ = 1.
///
/// `first_stage` users answer at the start θ₀ and give θ̃; the others answer at θ̃ and give θ̂, falling back to θ̃.
///
/// - n·MSE → $V = \frac{\pi}{2}\tau^{-2}$ when $n_1 \to \infty$ and $n_1/n \to 0$: for ε ≤ 1.048 no regular
///   ε-private estimator does better asymptotically (Theorems 1 and 2 of [KS25]).
/// - Rounds: 2. Questions: [`Sign`].
///
/// For σ ≠ 1 wrap it in [`Rescaled`](crate::Rescaled). A running example opens the crate's documentation.
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStage {
    question: Sign,
    size: FirstStage,
}

/// What a [`TwoStage`] remembers between rounds: counts alone. Thresholds and weights are the protocol's own, so a
/// state from outside cannot change what users are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TwoStageState {
    /// The first stage is out.
    First {
        /// All users of the protocol.
        users: u64,
    },
    /// The second stage is out.
    Second {
        /// All users of the protocol.
        users: u64,
        /// What the first brought.
        first: Bits,
    },
}

impl TwoStage {
    /// At level ε from `start`, with `first_stage` ≥ 1 users in the first stage.
    pub fn new(epsilon: Epsilon, start: f64, first_stage: u64) -> Result<Self> {
        Ok(Self { question: Sign::new(epsilon, start)?, size: FirstStage::fixed(first_stage)? })
    }

    /// At level ε from `start`, with a first stage of the size that [`tuned_first_stage`](Self::tuned_first_stage)
    /// gives for the number of users.
    pub fn tuned(epsilon: Epsilon, start: f64) -> Result<Self> {
        Ok(Self { question: Sign::new(epsilon, start)?, size: FirstStage::Tuned(tuned_factor(epsilon)) })
    }

    /// A good size of the first stage for a start about half a σ off: $n_1 = \sqrt{c V_1(1/2) n}$, $c = 1 - 2\tau^2/\pi$.
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
        tuned_size(tuned_factor(epsilon), users)
    }

    /// How many of `users` are in the first stage: at least one, and at least one is left.
    fn first_stage(&self, users: u64) -> Result<u64> {
        self.size.of(users)
    }

    /// The first stage, and the question of the second: where the first points, or where it stood.
    fn second(&self, answers: Bits) -> Result<(SignStage, Sign)> {
        let first = SignStage::new(self.question, answers);
        Ok((first, self.question.at(first.estimate().unwrap_or(self.question.threshold()))?))
    }
}

/// $cV_1(1/2)$.
fn tuned_factor(epsilon: Epsilon) -> f64 {
    (1.0 - 2.0 * epsilon.tau().powi(2) / PI) * one_stage_variance(epsilon, 0.5)
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
        let first_stage = self.first_stage(users)?;
        Ok(Step::Ask { round: Round::one(self.question, first_stage), state: TwoStageState::First { users } })
    }

    fn advance(&self, state: TwoStageState, answers: &[Bits]) -> Result<StepOf<Self>> {
        let answers = one(answers)?;
        Ok(match state {
            TwoStageState::First { users } => {
                let second_stage = users - self.first_stage(users)?;
                let (_, question) = self.second(answers)?;
                let state = TwoStageState::Second { users, first: answers };
                Step::Ask { round: Round::one(question, second_stage), state }
            }
            TwoStageState::Second { users, first } => {
                let (answered, asked) = (first.users(), self.first_stage(users)?);
                if answered > asked {
                    return Err(Error::TooManyAnswers { asked, answered });
                }
                let (first, question) = self.second(first)?;
                Step::Done(SignEstimate::new(SignStage::new(question, answers), Some(first)))
            }
        })
    }

    fn range(&self, users: u64) -> Option<[f64; 2]> {
        // Each of the two stages has fewer users, and so less reach.
        Some(around(self.question.threshold(), 2.0 * SignStage::reach(self.question, users)))
    }
}

impl StartAt for TwoStage {
    fn start_at(&self, start: f64) -> Result<Self> {
        Ok(Self { question: self.question.at(start)?, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_from_outside_is_checked() {
        let estimator = TwoStage::new(Epsilon::new(1.0).unwrap(), 0.0, 10).unwrap();
        let state = serde_json::from_str::<TwoStageState>;
        let good = state(r#"{"second":{"users":100,"first":{"ones":6,"users":10}}}"#).unwrap();
        assert!(estimator.advance(good, &[Bits::new(50, 90).unwrap()]).is_ok());
        for bad in [
            r#"{"second":{"users":100,"first":{"ones":11,"users":10}}}"#,
            r#"{"second":{"users":100,"first":{"ones":6,"users":10},"question":{}}}"#,
            r#"{"first":{"users":-1}}"#,
            r#"{"third":{"users":100}}"#,
            r#"{"first":{"users":100}"#,
        ] {
            assert!(state(bad).is_err(), "{bad}");
        }
        let advance = |json| estimator.advance(state(json).unwrap(), &[Bits::default()]);
        let many = advance(r#"{"second":{"users":100,"first":{"ones":6,"users":11}}}"#);
        assert!(matches!(many, Err(Error::TooManyAnswers { asked: 10, answered: 11 })));
        assert!(matches!(advance(r#"{"first":{"users":10}}"#), Err(Error::TooMany { name: "first-stage", .. })));
        assert!(matches!(advance(r#"{"first":{"users":1}}"#), Err(Error::TooFew { name: "users", .. })));
    }
}
