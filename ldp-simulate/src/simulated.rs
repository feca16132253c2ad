//! Protocols behind one object-safe face, for registries and servers.
//!
//! Erasure happens once per protocol and batch of replications, never per report: inside, everything is generic.

use crate::draw::AnyModel;
use crate::draw::DrawTally;
use crate::exact::{Atoms, Countable, Errors, Evaluation, Exact, Summed, Wanted, evaluate};
use crate::{Audit, Order, Replay, RowNoise, RowStore, Rows, Users, Vectors, check_vectors};
use ldp_core::epsilon::Epsilon;
use ldp_core::error::{Error, Result};
use ldp_core::inference::{Inference, IntervalKind};
use ldp_core::mechanism::{Mechanism, check_deployable};
use ldp_core::staged::{StagedEstimator, Step, StepOf, advance_checked, run};
use ldp_core::wire;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How closely a simulation follows the users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Every user's value drawn and privatised.
    Users,
    /// Each tally drawn from its exact law.
    Tally,
}

/// What is simulated: a model at a parameter, and who answers how.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Where values come from.
    pub model: &'a dyn AnyModel,
    /// The true parameter.
    pub theta: f64,
    /// Users per replication.
    pub users: u64,
    /// The seed of all streams.
    pub seed: u64,
    /// Users or tallies.
    pub fidelity: Fidelity,
}

/// What a run on real data brought.
pub struct Collected {
    /// The estimate.
    pub estimate: Box<dyn Inference>,
    /// How many rounds were asked.
    pub rounds: u64,
    /// The guarantee: the largest ε among the questions asked, from their own numbers.
    pub epsilon: Option<Epsilon>,
}

/// A [`StagedEstimator`] behind a `dyn`.
pub trait AnyEstimator: Send + Sync {
    /// The kinds of interval its estimates can have, the default first.
    fn interval_kinds(&self) -> &'static [IntervalKind];

    /// How it can be simulated, the cheapest first.
    fn fidelities(&self) -> &'static [Fidelity];

    /// Whether real data may be asked: refused where a question samples noise in floating point, or about vectors.
    fn check_rows(&self) -> Result<()>;

    /// Makes ready to simulate replications of a setting, on any number of threads.
    fn simulation<'a>(&'a self, setting: &Setting<'a>) -> Result<Box<dyn Simulation + 'a>>;

    /// Simulates a range of replications and shows each estimate to `visit`, in order; where there are several ranges,
    /// [`simulation`](Self::simulation) keeps what they have in common.
    fn replicate(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&dyn Inference),
    ) -> Result<()> {
        self.simulation(setting)?.replicate(replications, visit)
    }

    /// The risk without sampling: every tally weighed by its probability. The setting's fidelity plays no part, and its seed
    /// only where a round has to be drawn. Refused where tallies cannot be counted.
    fn evaluate(&self, setting: &Setting<'_>, wanted: &Wanted) -> Result<Evaluation>;

    /// The moments of the error alone, against `truth`: what a sweep needs, in milliseconds.
    fn errors(&self, setting: &Setting<'_>, truth: f64) -> Result<Summed<Errors>>;

    /// The values the estimate can have with their probabilities, at most `most` of them.
    fn atoms(&self, setting: &Setting<'_>, truth: f64, most: u64) -> Result<Vec<(f64, f64)>>;

    /// Runs the protocol on real rows, with noise of the system or, for a demonstration that is not private, of a seed.
    fn collect(&self, rows: &mut dyn RowStore, order: Order, noise: RowNoise) -> Result<Collected>;

    /// The first step as JSON.
    fn begin(&self, users: u64) -> Result<String>;

    /// The next step as JSON, from the last one and the list of its groups' tallies.
    fn advance(&self, step: &str, answers: &str) -> Result<String>;
}

/// The replications of a protocol in one setting.
pub trait Simulation: Sync {
    /// Simulates a range of replications and shows each estimate to `visit`, in order.
    fn replicate(&self, replications: Range<u64>, visit: &mut dyn FnMut(&dyn Inference)) -> Result<()>;
}

/// Replications that have nothing in common.
struct Apart<F>(F);

impl<F: Fn(Range<u64>, Visit<'_>) -> Result<()> + Sync> Simulation for Apart<F> {
    fn replicate(&self, replications: Range<u64>, visit: Visit<'_>) -> Result<()> {
        self.0(replications, visit)
    }
}

/// Tallies, with as many replays as there are threads: whoever has a range to simulate takes one that is idle.
struct Replays<'a, E: StagedEstimator> {
    estimator: &'a E,
    setting: Setting<'a>,
    idle: Mutex<Vec<Replay<'a, E, dyn AnyModel + 'a>>>,
}

impl<E> Simulation for Replays<'_, E>
where
    E: Countable<Question: DrawTally<E::Tally> + PartialEq>,
{
    fn replicate(&self, replications: Range<u64>, visit: Visit<'_>) -> Result<()> {
        // Whoever panicked did so outside of the lock.
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut replay = match taken {
            Some(replay) => replay,
            None => replay(self.estimator, &self.setting)?,
        };
        let result = replay.replicate(replications, &mut |estimate| visit(estimate));
        idle().push(replay);
        result
    }
}

fn replay<'a, E>(estimator: &'a E, setting: &Setting<'a>) -> Result<Replay<'a, E, dyn AnyModel + 'a>>
where
    E: Countable<Question: DrawTally<E::Tally> + PartialEq>,
{
    let &Setting { model, theta, users, seed, .. } = setting;
    Replay::new(estimator, model, theta, users, seed)
}

/// A protocol whose messages serialise and whose estimate speaks for itself.
///
/// Implemented for every such [`StagedEstimator`]; it only shortens bounds.
pub trait Wired:
    StagedEstimator<
        Question: Serialize + DeserializeOwned,
        Tally: Serialize + DeserializeOwned,
        State: Serialize + DeserializeOwned,
        Estimate: Inference + Serialize + DeserializeOwned + 'static,
    > + Send
    + Sync
    + 'static
{
}

impl<E> Wired for E where
    E: StagedEstimator<
            Question: Serialize + DeserializeOwned,
            Tally: Serialize + DeserializeOwned,
            State: Serialize + DeserializeOwned,
            Estimate: Inference + Serialize + DeserializeOwned + 'static,
        > + Send
        + Sync
        + 'static
{
}

/// Hides the types of a protocol whose tallies can be counted: every fidelity, the exact risk, and real rows.
pub fn erase<E>(estimator: E) -> Box<dyn AnyEstimator>
where
    E: Wired + Countable<Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq>,
{
    countable(
        estimator,
        Box::new(|estimator, setting| {
            let idle = Mutex::new(vec![replay(estimator, setting)?]);
            Ok(Box::new(Replays { estimator, setting: *setting, idle }))
        }),
    )
}

/// Hides the types of a protocol that simulates its replications in lanes; else as [`erase`] does.
pub fn erase_in_lanes<E>(estimator: E) -> Box<dyn AnyEstimator>
where
    E: Wired + InLanes + Countable<Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq>,
{
    countable(
        estimator,
        apart(|estimator: &E, setting, replications, visit| {
            estimator.replicate_in_lanes(setting, replications, &mut |estimate| visit(estimate))
        }),
    )
}

/// Simulates replications at `tally` fidelity, one after another.
pub fn replicate_tallies<E>(
    estimator: &E,
    setting: &Setting<'_>,
    replications: Range<u64>,
    visit: &mut dyn FnMut(&E::Estimate),
) -> Result<()>
where
    E: Countable<Question: DrawTally<E::Tally> + PartialEq>,
{
    replay(estimator, setting)?.replicate(replications, visit)
}

/// A protocol that simulates several replications side by side, faster than one after another.
///
/// # Law
/// It shows the estimates of [`replicate_tallies`], bit for bit: a replication does not depend on its neighbours.
pub trait InLanes: StagedEstimator {
    /// Simulates replications at `tally` fidelity and shows each estimate to `visit`, in order.
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&Self::Estimate),
    ) -> Result<()>;
}

fn countable<E>(estimator: E, tally: Prepare<E>) -> Box<dyn AnyEstimator>
where
    E: Wired + Countable<Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq>,
{
    let summed = Sums::<E> {
        evaluate: |estimator, setting, wanted| evaluate(&exact(setting)?, estimator, setting.users, wanted),
        errors: |estimator, setting, truth| {
            exact(setting)?.most(FEW_TALLIES).best(estimator, setting.users, || Errors::new(truth))
        },
        atoms: |estimator, setting, truth, most| {
            let summed = exact(setting)?.sum(estimator, setting.users, || Atoms::new(truth, most))?;
            summed.gather.sorted()
        },
    };
    Box::new(Erased {
        estimator,
        users: on_users(),
        tally: Some(tally),
        summed: Some(summed),
        collect: Some(on_rows()),
    })
}

/// Moments are exact to rounding on a coarse lattice too, so a sweep takes one beyond so many tallies.
const FEW_TALLIES: u64 = 1 << 20;

fn exact<'a>(setting: &Setting<'a>) -> Result<Exact<'a, dyn AnyModel + 'a>> {
    Ok(Exact::new(setting.model, setting.theta)?.sampling(setting.seed, 100_000))
}

/// Hides the types of a protocol with other reports, such as real ones: every user is simulated.
pub fn erase_real<E>(estimator: E) -> Box<dyn AnyEstimator>
where
    E: Wired<Question: Mechanism<Input = f64>>,
{
    Box::new(Erased { estimator, users: on_users(), tally: None, summed: None, collect: Some(on_rows()) })
}

/// Hides the types of a protocol for vectors: simulated users hold `dimension` independent values of the model.
pub fn erase_vectors<E>(estimator: E, dimension: usize) -> Box<dyn AnyEstimator>
where
    E: Wired<Question: Mechanism<Input = [f64]>>,
{
    let replicate = apart(move |estimator: &E, setting, replications, visit| {
        let &Setting { model, theta, users, seed, .. } = setting;
        let mut population = Vectors::new(model, &vec![theta; dimension], users, seed)?;
        for replication in replications {
            population.restart(replication);
            visit(&run(estimator, users, &mut population)?);
        }
        Ok(())
    });
    let users: Prepare<E> = Box::new(move |estimator, setting| {
        check_vectors(dimension, setting.users)?;
        replicate(estimator, setting)
    });
    Box::new(Erased { estimator, users, tally: None, summed: None, collect: None })
}

type Visit<'v> = &'v mut dyn FnMut(&dyn Inference);
type Prepare<E> = Box<dyn for<'a> Fn(&'a E, &Setting<'a>) -> Result<Box<dyn Simulation + 'a>> + Send + Sync>;
type Collect<E> = fn(&E, &mut dyn RowStore, Order, RowNoise) -> Result<Collected>;
/// Values and their probabilities, no more than so many.
type List<E> = fn(&E, &Setting<'_>, f64, u64) -> Result<Vec<(f64, f64)>>;

/// What can be summed instead of drawn.
struct Sums<E> {
    evaluate: fn(&E, &Setting<'_>, &Wanted) -> Result<Evaluation>,
    errors: fn(&E, &Setting<'_>, f64) -> Result<Summed<Errors>>,
    atoms: List<E>,
}

/// A protocol and what can be done with it beyond its messages.
struct Erased<E> {
    estimator: E,
    users: Prepare<E>,
    tally: Option<Prepare<E>>,
    summed: Option<Sums<E>>,
    collect: Option<Collect<E>>,
}

/// Ranges of replications that are simulated each on its own.
fn apart<E, F>(replicate: F) -> Prepare<E>
where
    E: Sync + 'static,
    F: Fn(&E, &Setting<'_>, Range<u64>, Visit<'_>) -> Result<()> + Copy + Send + Sync + 'static,
{
    Box::new(move |estimator, setting| {
        let setting = *setting;
        Ok(Box::new(Apart(move |replications: Range<u64>, visit: Visit<'_>| {
            replicate(estimator, &setting, replications, visit)
        })))
    })
}

fn on_users<E: Wired<Question: Mechanism<Input = f64>>>() -> Prepare<E> {
    apart(|estimator: &E, setting, replications, visit| {
        let &Setting { model, theta, users, seed, .. } = setting;
        let mut population = Users::new(model, theta, users, seed)?.in_blocks();
        for replication in replications {
            population.restart(replication);
            visit(&run(estimator, users, &mut population)?);
        }
        Ok(())
    })
}

fn on_rows<E: Wired<Question: Mechanism<Input = f64>>>() -> Collect<E> {
    |estimator, rows, order, noise| {
        let users = rows.rows();
        let mut population = Audit::new(Rows::new(rows, order, noise)?);
        let estimate = Box::new(run(estimator, users, &mut population)?);
        Ok(Collected { estimate, rounds: population.rounds(), epsilon: population.epsilon() })
    }
}

impl<E> Erased<E> {
    fn sums(&self) -> Result<&Sums<E>> {
        self.summed.as_ref().ok_or(Error::Unsupported {
            what: "exact risk",
            needs: "questions with finitely many reports; simulate the protocol instead",
        })
    }

    fn on_rows(&self) -> Result<Collect<E>> {
        self.collect.ok_or(Error::Unsupported { what: "a run on rows", needs: "a protocol for one number per user" })
    }
}

impl<E: Wired> AnyEstimator for Erased<E> {
    fn interval_kinds(&self) -> &'static [IntervalKind] {
        E::Estimate::interval_kinds()
    }

    fn fidelities(&self) -> &'static [Fidelity] {
        if self.tally.is_some() { &[Fidelity::Tally, Fidelity::Users] } else { &[Fidelity::Users] }
    }

    fn check_rows(&self) -> Result<()> {
        self.on_rows()?;
        check_deployable::<E::Question>()
    }

    fn simulation<'a>(&'a self, setting: &Setting<'a>) -> Result<Box<dyn Simulation + 'a>> {
        let prepare = match (setting.fidelity, &self.tally) {
            (Fidelity::Users, _) => &self.users,
            (Fidelity::Tally, Some(tally)) => tally,
            (Fidelity::Tally, None) => {
                return Err(Error::Unsupported {
                    what: "tally fidelity",
                    needs: "questions with finitely many reports",
                });
            }
        };
        prepare(&self.estimator, setting)
    }

    fn evaluate(&self, setting: &Setting<'_>, wanted: &Wanted) -> Result<Evaluation> {
        (self.sums()?.evaluate)(&self.estimator, setting, wanted)
    }

    fn errors(&self, setting: &Setting<'_>, truth: f64) -> Result<Summed<Errors>> {
        (self.sums()?.errors)(&self.estimator, setting, truth)
    }

    fn atoms(&self, setting: &Setting<'_>, truth: f64, most: u64) -> Result<Vec<(f64, f64)>> {
        (self.sums()?.atoms)(&self.estimator, setting, truth, most)
    }

    fn collect(&self, rows: &mut dyn RowStore, order: Order, noise: RowNoise) -> Result<Collected> {
        self.on_rows()?(&self.estimator, rows, order, noise)
    }

    fn begin(&self, users: u64) -> Result<String> {
        wire::write("step", &self.estimator.begin(users)?)
    }

    fn advance(&self, step: &str, answers: &str) -> Result<String> {
        let step: StepOf<E> = wire::parse("step", step)?;
        let next = match step {
            Step::Done(_) => step,
            Step::Ask { round, state } => {
                advance_checked(&self.estimator, &round, state, wire::parse("tallies", answers)?)?
            }
        };
        wire::write("step", &next)
    }
}
