//! Many replications at `tally` fidelity, with what repeats kept.

use super::binomial::Binomial;
use super::table::CountTable;
use super::tallies::{MOST_DRAWN, Tallies, first_share};
use crate::draw::Draw;
use crate::draw::DrawTally;
use crate::seed::SimulationRng;
use ldp_core::error::Result;
use ldp_core::mechanism::Finite;
use ldp_core::model::Cdf;
use ldp_core::staged::{Group, Population, Round, StagedEstimator, Step, StepOf, check_size, run_on};
use ldp_core::tally::Tally;
use std::ops::Range;
use std::slice;

/// The most users of a first round after which steps are kept, one for every count that has come up.
const MOST: u64 = 1 << 12;

/// The replications of a protocol in one setting at `tally` fidelity, one after the other.
///
/// # Law
/// The estimates are those of [`run`](ldp_core::run) with [`Tallies`], bit for bit.
///
/// # Design
/// `begin` and `advance` are pure functions, so what they say once they say always. The first step is asked for once; after a
/// first round of one binary question, of some hundred users mostly, the next step and the law of its count are kept by the number of
/// ones. Of a two-stage replication this leaves two counts and the last step.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_simulate::{Replay, Tallies};
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, run};
/// let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(Epsilon::new(1.0)?, 2)?)?;
/// let (dummy, model) = (Dummy::asking(&question, &[&[10], &[20, 30]]), Gaussian::new(1.0)?);
/// let (mut replay, mut tallies) = (Replay::new(&dummy, &model, 0.0, 60, 1)?, Tallies::new(&model, 0.0, 1)?);
/// replay.replicate(0..5, &mut |_| ())?;
/// tallies.restart(2);
/// let seen = run(&dummy, 60, &mut tallies)?;
/// replay.replicate(2..3, &mut |again| assert_eq!(*again, seen))?;
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Replay<'a, E: StagedEstimator, M: ?Sized> {
    estimator: &'a E,
    tallies: Tallies<'a, M, E::Question>,
    users: u64,
    first: StepOf<E>,
    /// The tallies of the first round: empty ones, and those that come back.
    empty: Vec<E::Tally>,
    answers: Vec<E::Tally>,
    after: Option<After<E>>,
}

/// What comes after a first round of one binary question.
struct After<E: StagedEstimator> {
    ones: CountTable,
    steps: Vec<Option<Next<E>>>,
}

/// A step, and the law of its count if it asks one binary question.
struct Next<E: StagedEstimator> {
    step: StepOf<E>,
    ones: Option<Binomial>,
}

impl<'a, E, M> Replay<'a, E, M>
where
    E: StagedEstimator<Question: Finite + DrawTally<E::Tally> + PartialEq + Clone, Tally: Clone, State: Clone>,
    M: Draw + Cdf + ?Sized,
{
    /// The replications of `seed` with `users` users from the model at `theta`.
    pub fn new(estimator: &'a E, model: &'a M, theta: f64, users: u64, seed: u64) -> Result<Self> {
        let tallies = Tallies::new(model, theta, seed)?;
        let first = estimator.begin(users)?;
        let mut empty = Vec::new();
        let mut after = None;
        if let Step::Ask { round, .. } = &first {
            round.left_after(users)?;
            empty.extend(round.groups().iter().map(|group| estimator.tally(&group.question)));
            if let Round::One([group]) = round
                && (2..=MOST).contains(&group.users)
            {
                let table = tallies.binary(&group.question).and_then(|law| CountTable::new(group.users, law));
                let mut steps = Vec::new();
                steps.resize_with(group.users as usize + 1, || None);
                after = table.map(|ones| After { ones, steps });
            }
        }
        Ok(Self { estimator, tallies, users, first, answers: empty.clone(), empty, after })
    }

    /// The generator as the last replication has left it: whoever goes on with it draws what its next tallies would have.
    pub fn generator(&self) -> &SimulationRng {
        self.tallies.generator()
    }

    /// Simulates a range of replications and shows each estimate to `visit`, in order.
    pub fn replicate(&mut self, replications: Range<u64>, visit: &mut dyn FnMut(&E::Estimate)) -> Result<()> {
        for replication in replications {
            self.tallies.restart(replication);
            self.one(visit)?;
        }
        Ok(())
    }

    #[inline]
    fn one(&mut self, visit: &mut dyn FnMut(&E::Estimate)) -> Result<()> {
        let Self { estimator, tallies, users, first, empty, answers, after } = self;
        let (round, state) = match &*first {
            Step::Done(estimate) => {
                visit(estimate);
                return Ok(());
            }
            Step::Ask { round, state } => (round, state),
        };
        let left = *users - round.groups().iter().map(|group| group.users).sum::<u64>();
        let (left, step) = match (after, round) {
            (Some(After { ones, steps }), Round::One([group])) => {
                let count = tallies.draw(|rng| ones.draw(rng));
                let kept = &mut steps[count as usize];
                let next = match kept {
                    Some(next) => next,
                    None => kept.insert(Next::new(*estimator, tallies, group, state, count)?),
                };
                match next {
                    Next { step: Step::Ask { round: Round::One([group]), state }, ones: Some(ones) } => {
                        let left = check_size(group.users, left)?;
                        let count = tallies.draw(|rng| ones.draw(rng));
                        (left, advance(*estimator, group, state, count)?)
                    }
                    Next { step: Step::Ask { round, state }, .. } => {
                        (left, Step::Ask { round: round.clone(), state: state.clone() })
                    }
                    Next { step: Step::Done(estimate), .. } => {
                        visit(estimate);
                        return Ok(());
                    }
                }
            }
            _ => {
                Population::<_, E::Tally>::round(tallies, round.groups())?;
                for ((group, tally), empty) in round.groups().iter().zip(&mut *answers).zip(&*empty) {
                    tally.clone_from(empty);
                    tallies.answer(group, tally)?;
                }
                (left, estimator.advance(state.clone(), answers)?)
            }
        };
        match step {
            Step::Done(estimate) => visit(&estimate),
            step => visit(&run_on(*estimator, left, step, tallies)?),
        }
        Ok(())
    }
}

impl<E> Next<E>
where
    E: StagedEstimator<Question: Finite + DrawTally<E::Tally> + PartialEq + Clone, State: Clone>,
{
    /// What comes after so many ones.
    fn new<M: Draw + Cdf + ?Sized>(
        estimator: &E,
        tallies: &Tallies<'_, M, E::Question>,
        group: &Group<E::Question>,
        state: &E::State,
        ones: u64,
    ) -> Result<Self> {
        let step = advance(estimator, group, state, ones)?;
        let ones = match &step {
            Step::Ask { round: Round::One([group]), .. } if (2..=MOST_DRAWN).contains(&group.users) => {
                let share = tallies.binary(&group.question).and_then(|law| first_share(&law));
                share.map(|share| Ok::<_, ldp_core::Error>(Binomial::new(group.users, share)?.kept())).transpose()?
            }
            _ => None,
        };
        Ok(Self { step, ones })
    }
}

/// The step after a round of one binary question with so many ones.
#[inline]
fn advance<E>(estimator: &E, group: &Group<E::Question>, state: &E::State, ones: u64) -> Result<StepOf<E>>
where
    E: StagedEstimator<Question: Finite, State: Clone>,
{
    let mut tally = estimator.tally(&group.question);
    tally.push(1, ones)?;
    tally.push(0, group.users - ones)?;
    estimator.advance(state.clone(), slice::from_ref(&tally))
}
