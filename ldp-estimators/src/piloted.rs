//! A pilot that finds a start, and a protocol that is started there.

use crate::StartAt;
use crate::fewest::fewest;
use ldp_core::{
    Cdf, Diagnostic, Either, Error, Group, Inference, Interval, IntervalKind, Mechanism, Outcomes, Result, Round,
    StagedEstimator, Step, StepOf,
};
use serde::{Deserialize, Serialize};

/// What a pilot found.
pub trait Found {
    /// What is to be known about everything that starts there.
    fn caveat(&self) -> Option<&'static str>;
}

/// A protocol that says where another should start.
pub trait Pilot: StagedEstimator<Estimate: Found> {
    /// How many of `users` it takes.
    fn users(&self, users: u64) -> Result<u64>;

    /// The start it found.
    fn start(&self, estimate: &Self::Estimate) -> f64;

    /// [`advance`](StagedEstimator::advance) on tallies that are part of others, without copying them: a pilot is digested in
    /// every replication.
    fn digest<'a>(&self, state: Self::State, answers: impl Answers<'a, Self::Tally>) -> Result<StepOf<Self>>
    where
        Self: Sized,
        Self::Tally: 'a;
}

/// The tallies of a round, in the order of its groups.
///
/// Implemented for every such iterator; it only shortens bounds.
pub trait Answers<'a, T: 'a>: DoubleEndedIterator<Item = &'a T> + Clone {}
impl<'a, T: 'a, I: DoubleEndedIterator<Item = &'a T> + Clone> Answers<'a, T> for I {}

/// A pilot P, then the protocol E from where P points, on the users that P leaves.
///
/// Three stages, Joseph et al. and Liu et al. from a pilot are this with different parts. Questions and tallies are those
/// of the two parts; nobody is asked twice.
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{BitwisePilot, OneStage, Piloted, Share};
/// let epsilon = Epsilon::new(1.0)?;
/// let pilot = BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::HALF)?;
/// let estimator = Piloted::new(pilot, OneStage::new(epsilon, 0.0)?);
/// let estimate = run(&estimator, 50_000, &mut Tallies::new(&Gaussian::new(1.0)?, 84.5, 1)?)?;
/// assert!((estimate.value() - 84.5).abs() < 0.1);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piloted<P, E> {
    pilot: P,
    main: E,
}

impl<P, E> Piloted<P, E> {
    /// `pilot` first; the start of `main` itself is never used.
    pub fn new(pilot: P, main: E) -> Self {
        Self { pilot, main }
    }

    /// The pilot.
    pub fn pilot(&self) -> &P {
        &self.pilot
    }

    /// The main protocol, started somewhere.
    pub(crate) fn main(&self) -> &E {
        &self.main
    }
}

/// What a [`Piloted`] remembers: the part that is running, and what the pilot found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PilotedState<P, F, S> {
    /// The pilot is out.
    Pilot {
        /// All users of the protocol.
        users: u64,
        /// What the pilot remembers.
        state: P,
    },
    /// The main protocol is out.
    Main {
        /// What the pilot found.
        found: F,
        /// What the main protocol remembers.
        state: S,
    },
}

/// The estimate of the main protocol, and where its pilot had found it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotedEstimate<F, E> {
    found: F,
    main: E,
}

impl<F, E> PilotedEstimate<F, E> {
    pub(crate) fn new(found: F, main: E) -> Self {
        Self { found, main }
    }

    /// What the pilot found.
    pub fn found(&self) -> &F {
        &self.found
    }

    /// The estimate of the main protocol.
    pub fn main(&self) -> &E {
        &self.main
    }
}

/// The pilot's share of a step, then the main protocol's.
type Questions<P, E> = Either<<P as StagedEstimator>::Question, <E as StagedEstimator>::Question>;

impl<P, E> StagedEstimator for Piloted<P, E>
where
    P: Pilot<Question: Clone, Estimate: Copy>,
    E: StagedEstimator + StartAt,
    E::Question: Mechanism<Input = <P::Question as Mechanism>::Input, Report = <P::Question as Mechanism>::Report>,
    E::Tally: Clone,
{
    type Question = Questions<P, E>;
    type Tally = Either<P::Tally, E::Tally>;
    type State = PilotedState<P::State, P::Estimate, E::State>;
    type Estimate = PilotedEstimate<P::Estimate, E::Estimate>;

    #[inline(always)]
    fn tally(&self, question: &Self::Question) -> Self::Tally {
        match question {
            Either::First(question) => Either::First(self.pilot.tally(question)),
            Either::Second(question) => Either::Second(self.main.tally(question)),
        }
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        // Whether the rest is enough is told now, not after the pilot's users have answered.
        match self.pilot.users(users).and_then(|taken| self.main.begin(users.saturating_sub(taken))) {
            Ok(_) => self.wrap_pilot(users, self.pilot.begin(users)?),
            Err(Error::TooFew { name: "users", .. }) => {
                let least = fewest(users, |users| {
                    let left = users.saturating_sub(self.pilot.users(users)?);
                    match self.main.begin(left) {
                        Err(Error::TooFew { name: "users", least, .. }) => Ok((left, least)),
                        _ => Ok((left, left)),
                    }
                });
                Err(Error::TooFew { name: "users", least, value: users })
            }
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn advance(&self, state: Self::State, answers: &[Self::Tally]) -> Result<StepOf<Self>> {
        match (state, answers) {
            // A strictly sequential protocol comes here once per user: no allocation, and the rest is out of line.
            (PilotedState::Main { found, state }, [Either::Second(tally)]) => {
                let main = self.main.start_at(self.pilot.start(&found))?;
                Ok(self.wrap_main(found, main.advance(state, std::slice::from_ref(tally))?))
            }
            (state, answers) => self.advance_many(state, answers),
        }
    }

    fn range(&self, users: u64) -> Option<[f64; 2]> {
        // The main protocol moves with its start.
        let end = |start: f64| self.main.start_at(start).ok()?.range(users);
        let [low, high] = self.pilot.range(users)?;
        Some([end(low)?[0], end(high)?[1]])
    }

    fn outcomes<M: Cdf + ?Sized>(
        &self,
        round: &Round<Self::Question>,
        state: &Self::State,
        model: &M,
        theta: f64,
    ) -> Result<Option<Outcomes<StepOf<Self>>>> {
        match state {
            PilotedState::Pilot { users, state } => {
                let group = |Group { question, users }: &Group<Self::Question>| {
                    Ok(Group { question: question.first("the pilot's round")?.clone(), users: *users })
                };
                let round = Round::Many(round.groups().iter().map(group).collect::<Result<_>>()?);
                let outcomes = self.pilot.outcomes(&round, state, model, theta)?;
                outcomes.map(|outcomes| outcomes.try_map(|step| self.wrap_pilot(*users, step))).transpose()
            }
            // One that needs a law of its own is asked for it where it begins.
            PilotedState::Main { .. } => Ok(None),
        }
    }
}

impl<P, E> Piloted<P, E>
where
    P: Pilot<Estimate: Copy>,
    E: StagedEstimator + StartAt,
    Self: StagedEstimator<
            Question = Questions<P, E>,
            State = PilotedState<P::State, P::Estimate, E::State>,
            Estimate = PilotedEstimate<P::Estimate, E::Estimate>,
        >,
{
    #[inline(never)]
    fn advance_many<'a>(
        &self,
        state: PilotedState<P::State, P::Estimate, E::State>,
        answers: &'a [Either<P::Tally, E::Tally>],
    ) -> Result<StepOf<Self>>
    where
        E::Tally: Clone,
    {
        match state {
            PilotedState::Pilot { users, state } => {
                answers.iter().try_for_each(|tally| tally.first("the pilot's round").map(drop))?;
                let first = |tally: &'a Either<P::Tally, E::Tally>| match tally {
                    Either::First(first) => Some(first),
                    Either::Second(_) => None,
                };
                self.wrap_pilot(users, self.pilot.digest(state, answers.iter().filter_map(first))?)
            }
            PilotedState::Main { found, state } => {
                let main = self.main.start_at(self.pilot.start(&found))?;
                let answers = answers.iter().map(|tally| tally.second("a round after the pilot").cloned());
                Ok(self.wrap_main(found, main.advance(state, &answers.collect::<Result<Vec<_>>>()?)?))
            }
        }
    }

    fn wrap_pilot(&self, users: u64, step: StepOf<P>) -> Result<StepOf<Self>> {
        Ok(match step {
            Step::Ask { round, state } => Step::Ask {
                round: round.try_map(|question| Ok(Either::First(question)))?,
                state: PilotedState::Pilot { users, state },
            },
            Step::Done(found) => {
                let main = self.main.start_at(self.pilot.start(&found))?;
                self.wrap_main(found, main.begin(users - self.pilot.users(users)?)?)
            }
        })
    }

    #[inline(always)]
    fn wrap_main(&self, found: P::Estimate, step: StepOf<E>) -> StepOf<Self> {
        match step {
            Step::Ask { round, state } => {
                let group = |Group { question, users }| Group { question: Either::Second(question), users };
                let round = match round {
                    Round::One([one]) => Round::One([group(one)]),
                    Round::Many(groups) => Round::Many(groups.into_iter().map(group).collect()),
                };
                Step::Ask { round, state: PilotedState::Main { found, state } }
            }
            Step::Done(main) => Step::Done(PilotedEstimate { found, main }),
        }
    }
}

impl<F: Found, E: Inference> Inference for PilotedEstimate<F, E> {
    fn value(&self) -> f64 {
        self.main.value()
    }

    fn standard_error(&self) -> Option<f64> {
        self.main.standard_error()
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        E::interval_kinds()
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        self.main.interval(kind, level)
    }

    fn note(&self) -> Option<&'static str> {
        self.main.note()
    }

    fn cannot_tell(&self) -> Option<&'static str> {
        self.main.cannot_tell()
    }

    fn caveat(&self, kind: IntervalKind) -> Option<&'static str> {
        // A start in the wrong place matters most.
        self.found.caveat().or_else(|| self.main.caveat(kind))
    }

    fn diagnostics(&self, range: Option<[f64; 2]>) -> Vec<Diagnostic> {
        self.main.diagnostics(range)
    }
}
