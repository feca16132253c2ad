//! A simulated run in which every message is JSON.

use crate::draw::Draw;
use crate::seed::SimulationRng;
use crate::{Users, Vectors};
use ldp_core::staged::advance_checked;
use ldp_core::wire::{parse, publish_typed, simulate_answer, simulate_answer_typed, write};
use ldp_core::{Epsilon, Mechanism, Publish, Result, Round, StagedEstimator, Step, StepOf, Tally};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Simulated users one by one, for a run over the wire: `f64` values, or `[f64]` for vectors.
pub trait Source<I: ?Sized> {
    /// Calls `with` once, with the next user's value and the generator that its report takes its words from.
    fn next(&mut self, with: &mut dyn FnMut(&I, &mut SimulationRng) -> Result<()>) -> Result<()>;
}

impl<M: Draw + ?Sized> Source<f64> for Users<'_, M> {
    fn next(&mut self, with: &mut dyn FnMut(&f64, &mut SimulationRng) -> Result<()>) -> Result<()> {
        let (value, noise) = self.next_user()?;
        with(&value, noise)
    }
}

impl<M: Draw + ?Sized> Source<[f64]> for Vectors<'_, M> {
    fn next(&mut self, with: &mut dyn FnMut(&[f64], &mut SimulationRng) -> Result<()>) -> Result<()> {
        let (vector, noise) = self.next_user()?;
        with(vector, noise)
    }
}

impl<I: ?Sized, S: Source<I> + ?Sized> Source<I> for &mut S {
    fn next(&mut self, with: &mut dyn FnMut(&I, &mut SimulationRng) -> Result<()>) -> Result<()> {
        (**self).next(with)
    }
}

/// Runs a protocol on simulated users with every step, question, report and tally sent through JSON.
///
/// Bit-equal to [`run`](ldp_core::run) over the same [`Users`], one by one. Clients refuse questions above `cap`.
pub fn run<E, M>(estimator: &E, users: u64, population: &mut Users<'_, M>, cap: Epsilon) -> Result<E::Estimate>
where
    E: StagedEstimator<Question: Publish + Serialize + DeserializeOwned> + ?Sized,
    E::Tally: Tally<Report = u32> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned,
    M: Draw + ?Sized,
{
    drive(
        estimator,
        users,
        population,
        |question| write("question", &question.publish()),
        |question, value, noise| simulate_answer(question, *value, cap, noise),
    )
}

/// [`run`] for questions of any type: they go out as [`publish_typed`] writes them, and clients read them as
/// [`answer_typed`](ldp_core::wire::answer_typed) does, save that simulated values may be answered by an idealised sampler.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, run};
/// use ldp_simulate::{Users, wire};
/// let level = Epsilon::new(1.0)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(level, 2)?)?;
/// let (dummy, model) = (Dummy::asking(&question, &[&[10], &[20, 30]]), Gaussian::new(1.0)?);
/// let wired = wire::run_typed(&dummy, 60, &mut Users::new(&model, 0.0, 60, 1)?, level)?;
/// assert_eq!(wired, run(&dummy, 60, &mut Users::new(&model, 0.0, 60, 1)?)?);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn run_typed<E, S>(estimator: &E, users: u64, population: &mut S, cap: Epsilon) -> Result<E::Estimate>
where
    E: StagedEstimator<Question: Serialize + DeserializeOwned> + ?Sized,
    <E::Question as Mechanism>::Report: Serialize + DeserializeOwned,
    E::Tally: Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned,
    S: Source<<E::Question as Mechanism>::Input> + ?Sized,
{
    drive(estimator, users, population, publish_typed, |question, value, noise| {
        simulate_answer_typed::<E::Question, _>(question, value, cap, noise)
    })
}

/// The loop over rounds on the wire. `publish` turns a question into text, `answer` is the client that reads it.
fn drive<E, S, I, Z>(
    estimator: &E,
    users: u64,
    population: &mut S,
    publish: impl Fn(&E::Question) -> Result<String>,
    answer: impl Fn(&str, &I, &mut SimulationRng) -> Result<Z>,
) -> Result<E::Estimate>
where
    E: StagedEstimator<Question: Mechanism<Input = I, Report = Z> + Serialize + DeserializeOwned> + ?Sized,
    E::Tally: Tally<Report = Z> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned,
    S: Source<I> + ?Sized,
    I: ?Sized,
    Z: Serialize + DeserializeOwned,
{
    let mut left = users;
    let mut step = write("step", &estimator.begin(users)?)?;
    loop {
        let (round, state): (Round<E::Question>, E::State) = match parse::<StepOf<E>>("step", &step)? {
            Step::Done(estimate) => return Ok(estimate),
            Step::Ask { round, state } => (round, state),
        };
        left = round.left_after(left)?;
        let mut tallies = Vec::new();
        for group in round.groups() {
            let question = publish(&group.question)?;
            let mut tally = estimator.tally(&group.question);
            for _ in 0..group.users {
                population.next(&mut |value, noise| {
                    let report = write("report", &answer(&question, value, noise)?)?;
                    tally.push(parse("report", &report)?, 1)
                })?;
            }
            tallies.push(tally);
        }
        let tallies = parse("tallies", &write("tallies", &tallies)?)?;
        step = write("step", &advance_checked(estimator, &round, state, tallies)?)?;
    }
}
