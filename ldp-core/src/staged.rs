//! A protocol as a state machine over tallies, and the loop that runs it.
//!
//! [`StagedEstimator`] says what to ask ([`Round`]), digests what came back ([`advance`](StagedEstimator::advance))
//! and never touches a user, a generator or a file. Who answers is a [`Population`].

use crate::error::{Error, Result};
use crate::mechanism::Mechanism;
use crate::model::Cdf;
use crate::tally::Tally;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::slice;

/// Users who are asked the same question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group<Q> {
    /// What they are asked.
    pub question: Q,
    /// How many they are.
    pub users: u64,
}

/// What is asked at one time; in JSON a plain list of groups.
///
/// # Design
/// A round of one group is a variant of its own so that a strictly sequential protocol, one user per round,
/// allocates nothing: a `Vec` per round would be an allocation per user.
#[derive(Clone, Debug, PartialEq)]
pub enum Round<Q> {
    /// One group.
    One([Group<Q>; 1]),
    /// Any number of groups.
    Many(Vec<Group<Q>>),
}

impl<Q> Round<Q> {
    /// A round that asks one question of `users` users.
    pub fn one(question: Q, users: u64) -> Self {
        Self::One([Group { question, users }])
    }

    /// The groups.
    pub fn groups(&self) -> &[Group<Q>] {
        match self {
            Self::One(group) => group,
            Self::Many(groups) => groups,
        }
    }

    /// The same round with other questions.
    #[inline(always)]
    pub fn try_map<P>(self, mut change: impl FnMut(Q) -> Result<P>) -> Result<Round<P>> {
        match self {
            Self::One([Group { question, users }]) => Ok(Round::one(change(question)?, users)),
            Self::Many(groups) => map_many(groups, change),
        }
    }

    /// How many users are left of `left` after this round, if it asks for at least one and no more than there are.
    pub fn left_after(&self, left: u64) -> Result<u64> {
        check_size(self.groups().iter().fold(0u64, |sum, group| sum.saturating_add(group.users)), left)
    }
}

/// Out of line, so that a protocol of one-group rounds stays small.
#[inline(never)]
fn map_many<Q, P>(groups: Vec<Group<Q>>, mut change: impl FnMut(Q) -> Result<P>) -> Result<Round<P>> {
    let group = |Group { question, users }: Group<Q>| Ok(Group { question: change(question)?, users });
    Ok(Round::Many(groups.into_iter().map(group).collect::<Result<_>>()?))
}

impl<Q: Serialize> Serialize for Round<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.groups().serialize(serializer)
    }
}

impl<'de, Q: Deserialize<'de>> Deserialize<'de> for Round<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let groups = Vec::deserialize(deserializer)?;
        Ok(<[Group<Q>; 1]>::try_from(groups).map_or_else(Self::Many, Self::One))
    }
}

/// What a protocol does next. It serialises, and is all a server has to keep between rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step<Q, S, E> {
    /// Ask this, and come back with the tallies and this state.
    Ask {
        /// What to ask whom.
        round: Round<Q>,
        /// What the protocol remembers.
        state: S,
    },
    /// The protocol is over.
    Done(E),
}

/// The [`Step`] of an estimator.
pub type StepOf<E> =
    Step<<E as StagedEstimator>::Question, <E as StagedEstimator>::State, <E as StagedEstimator>::Estimate>;

/// A sequentially interactive protocol: every user answers exactly one question, later questions may depend on
/// earlier tallies. Its guarantee is the largest ε among its questions.
///
/// # Laws
/// - `begin` and `advance` are pure functions: a protocol can be replayed from its tallies.
/// - `advance` accepts every tally that can come back, also an empty one (users drop out): it answers with a
///   value or a typed error, never with a NaN.
pub trait StagedEstimator {
    /// What users are asked.
    type Question: Mechanism;
    /// What a collector keeps of their answers.
    type Tally: Tally<Report = <Self::Question as Mechanism>::Report>;
    /// What the protocol remembers between rounds.
    type State;
    /// What it ends with.
    type Estimate;

    /// An empty tally for a question.
    fn tally(&self, question: &Self::Question) -> Self::Tally;

    /// The first step with this many users.
    fn begin(&self, users: u64) -> Result<StepOf<Self>>;

    /// The next step, from the tallies of the round, in the order of its groups.
    fn advance(&self, state: Self::State, answers: &[Self::Tally]) -> Result<StepOf<Self>>;

    /// The smallest and largest value that the estimate of `users` users can have, whatever comes back; `None` where that
    /// is not known. With it a bound on probability becomes one on the mean squared error.
    fn range(&self, _users: u64) -> Option<[f64; 2]> {
        None
    }

    /// The law of the step after a round, where it can be had more cheaply than by going through the tallies; `None`
    /// where it cannot.
    ///
    /// Law: each step has the probability that [`advance`](Self::advance) gives it when the tallies are those of
    /// users with values from the model at `theta`, who all answer.
    fn outcomes<M: Cdf + ?Sized>(
        &self,
        _round: &Round<Self::Question>,
        _state: &Self::State,
        _model: &M,
        _theta: f64,
    ) -> Result<Option<Outcomes<StepOf<Self>>>>
    where
        Self: Sized,
    {
        Ok(None)
    }
}

/// What can come next, each with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes<S> {
    /// The probabilities and what comes with them, all different.
    pub steps: Vec<(f64, S)>,
    /// At least the probability that is left out.
    pub lost: f64,
}

impl<S> Outcomes<S> {
    /// The same probabilities of something else.
    pub fn try_map<T>(self, mut change: impl FnMut(S) -> Result<T>) -> Result<Outcomes<T>> {
        let change = |(probability, step)| Ok((probability, change(step)?));
        Ok(Outcomes { steps: self.steps.into_iter().map(change).collect::<Result<_>>()?, lost: self.lost })
    }
}

/// Who answers: simulated users, drawn tallies, rows of a file.
pub trait Population<Q, T> {
    /// Lets the users of `group`, who have not answered before, answer into the empty `tally`.
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()>;

    /// Called once before the groups of a round are asked.
    fn round(&mut self, _groups: &[Group<Q>]) -> Result<()> {
        Ok(())
    }
}

impl<Q, T, P: Population<Q, T> + ?Sized> Population<Q, T> for &mut P {
    #[inline]
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        (**self).answer(group, tally)
    }

    #[inline]
    fn round(&mut self, groups: &[Group<Q>]) -> Result<()> {
        (**self).round(groups)
    }
}

/// Runs a protocol to its estimate: the only in-process loop over rounds.
///
/// It checks for every protocol that a round asks at least one user and no more than are left, and that no group
/// has more answers than users.
pub fn run<E, P>(estimator: &E, users: u64, population: &mut P) -> Result<E::Estimate>
where
    E: StagedEstimator + ?Sized,
    P: Population<E::Question, E::Tally> + ?Sized,
{
    run_on(estimator, users, estimator.begin(users)?, population)
}

/// Runs a protocol on from a step, with so many users left.
#[inline]
pub fn run_on<E, P>(estimator: &E, mut left: u64, mut step: StepOf<E>, population: &mut P) -> Result<E::Estimate>
where
    E: StagedEstimator + ?Sized,
    P: Population<E::Question, E::Tally> + ?Sized,
{
    loop {
        let (mut group, mut state) = match step {
            Step::Done(estimate) => return Ok(estimate),
            Step::Ask { round: Round::Many(groups), state } => {
                let round = Round::Many(groups);
                left = round.left_after(left)?;
                step = advance_many(estimator, population, round.groups(), state)?;
                continue;
            }
            Step::Ask { round: Round::One([group]), state } => (group, state),
        };
        // A strictly sequential protocol stays in this loop, where group and state can live in registers; through
        // `step`, which the call above keeps in memory, a round of one simulated user takes a fifth longer.
        step = loop {
            left = check_size(group.users, left)?;
            population.round(slice::from_ref(&group))?;
            let tally = ask(estimator, population, &group)?;
            match estimator.advance(state, slice::from_ref(&tally))? {
                Step::Ask { round: Round::One([next]), state: remembered } => (group, state) = (next, remembered),
                other => break other,
            }
        };
    }
}

/// One group's answers, no more than it has users.
///
/// Always inlined: as a call, question and tally go through memory, a tenth of the time of a round of one user.
#[inline(always)]
fn ask<E, P>(estimator: &E, population: &mut P, group: &Group<E::Question>) -> Result<E::Tally>
where
    E: StagedEstimator + ?Sized,
    P: Population<E::Question, E::Tally> + ?Sized,
{
    let mut tally = estimator.tally(&group.question);
    population.answer(group, &mut tally)?;
    check_answers(group.users, tally.users())?;
    Ok(tally)
}

/// A round of several groups. Out of line, so that the loop of a strictly sequential protocol stays small.
#[inline(never)]
fn advance_many<E, P>(
    estimator: &E,
    population: &mut P,
    groups: &[Group<E::Question>],
    state: E::State,
) -> Result<StepOf<E>>
where
    E: StagedEstimator + ?Sized,
    P: Population<E::Question, E::Tally> + ?Sized,
{
    population.round(groups)?;
    let tallies = groups.iter().map(|group| ask(estimator, population, group)).collect::<Result<Vec<_>>>()?;
    estimator.advance(state, &tallies)
}

/// How many users are left after a round, if it asks for at least one and no more than there are.
#[inline]
pub fn check_size(asked: u64, left: u64) -> Result<u64> {
    if asked == 0 || asked > left { Err(Error::RoundSize { asked, left }) } else { Ok(left - asked) }
}

/// Digests tallies that come from outside: checks that they fit the round (number, alphabet, users) first.
pub fn advance_checked<E>(
    estimator: &E,
    round: &Round<E::Question>,
    state: E::State,
    answers: Vec<E::Tally>,
) -> Result<StepOf<E>>
where
    E: StagedEstimator + ?Sized,
{
    let groups = round.groups();
    if answers.len() != groups.len() {
        return Err(Error::TallyCount { expected: groups.len(), found: answers.len() });
    }
    let fitted = groups.iter().zip(answers).map(|(group, answer)| {
        check_answers(group.users, answer.users())?;
        // Merging into an empty tally of this question refuses another alphabet.
        let mut tally = estimator.tally(&group.question);
        tally.merge(answer)?;
        Ok(tally)
    });
    estimator.advance(state, &fitted.collect::<Result<Vec<_>>>()?)
}

#[inline]
fn check_answers(asked: u64, answered: u64) -> Result<()> {
    if answered > asked { Err(Error::TooManyAnswers { asked, answered }) } else { Ok(()) }
}
