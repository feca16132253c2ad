//! A protocol without statistics, for tests of whatever drives protocols.

use crate::channel::FiniteChannel;
use crate::error::{Error, Result};
use crate::inference::{Inference, Interval, IntervalKind};
use crate::mechanism::Finite;
use crate::staged::{Group, Round, StagedEstimator, Step, StepOf};
use crate::tally::{Counts, Tally};
use serde::{Deserialize, Serialize};

/// Asks what its script says, whatever the answers, and ends with the tallies it has [`Seen`].
///
/// The script is not checked: a round may ask too many users, or none, so that drivers can be seen to refuse it.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, Tally, run};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
/// // First 10 users, then 20 and 30 of them side by side.
/// let dummy = Dummy::asking(&question, &[&[10], &[20, 30]]);
/// let seen = run(&dummy, 60, &mut Tallies::new(&Gaussian::new(1.0)?, 0.0, 1)?)?;
/// assert_eq!(seen.rounds[0][0].users(), 10);
/// assert_eq!(seen.rounds[1][1].users(), 30);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dummy {
    /// The groups of every round.
    pub script: Vec<Vec<Group<FiniteChannel>>>,
}

/// What a [`Dummy`] has seen: the tallies of every round so far. Both its state and its estimate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The tallies of each round, in the order of its groups.
    pub rounds: Vec<Vec<Counts>>,
}

impl Dummy {
    /// The same question for everybody, in groups of these sizes.
    #[must_use]
    pub fn asking(question: &FiniteChannel, sizes: &[&[u64]]) -> Self {
        let group = |&users: &u64| Group { question: question.clone(), users };
        Self { script: sizes.iter().map(|round| round.iter().map(group).collect()).collect() }
    }

    fn step(&self, seen: Seen) -> StepOf<Self> {
        match self.script.get(seen.rounds.len()) {
            None => Step::Done(seen),
            Some(groups) => Step::Ask {
                // One group in the form that allocates nothing, so that both forms are driven.
                round: match groups.as_slice() {
                    [one] => Round::One([one.clone()]),
                    many => Round::Many(many.to_vec()),
                },
                state: seen,
            },
        }
    }
}

impl StagedEstimator for Dummy {
    type Question = FiniteChannel;
    type Tally = Counts;
    type State = Seen;
    type Estimate = Seen;

    fn tally(&self, question: &FiniteChannel) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, _users: u64) -> Result<StepOf<Self>> {
        Ok(self.step(Seen::default()))
    }

    fn advance(&self, mut state: Seen, answers: &[Counts]) -> Result<StepOf<Self>> {
        state.rounds.push(answers.to_vec());
        Ok(self.step(state))
    }
}

impl Inference for Seen {
    /// The share of answers that are not report 0; zero if there are none.
    fn value(&self) -> f64 {
        let tallies = || self.rounds.iter().flatten();
        let zeros: u64 = tallies().map(|tally| tally.counts().first().copied().unwrap_or(0)).sum();
        let users: u64 = tallies().map(Tally::users).sum();
        if users == 0 { 0.0 } else { (users - zeros) as f64 / users as f64 }
    }

    fn standard_error(&self) -> Option<f64> {
        None
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[]
    }

    fn interval(&self, kind: IntervalKind, _level: f64) -> Result<Interval> {
        Err(Error::NoInterval { kind, reason: "a dummy estimates nothing" })
    }
}
