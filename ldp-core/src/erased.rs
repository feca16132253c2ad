//! Protocols behind one object-safe face, for registries and servers.
//!
//! Erasure happens once per protocol and batch of replications, never per report: inside, everything is generic.

use crate::drive::{Audit, Order, RowStore, Rows, Tallies, Users, Vectors};
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::inference::{Inference, IntervalKind};
use crate::mechanism::{DrawTally, Mechanism, check_deployable};
use crate::model::AnyModel;
use crate::staged::{StagedEstimator, Step, StepOf, advance_checked, run};
use crate::wire;
use rand::rngs::ChaCha12Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::Range;

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

    /// Simulates a range of replications and shows each estimate to `visit`, in order.
    fn replicate(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&dyn Inference),
    ) -> Result<()>;

    /// Runs the protocol on real rows. The generator is a cryptographic one by type.
    fn collect(&self, rows: &mut dyn RowStore, order: Order, rng: ChaCha12Rng) -> Result<Collected>;

    /// The first step as JSON.
    fn begin(&self, users: u64) -> Result<String>;

    /// The next step as JSON, from the last one and the list of its groups' tallies.
    fn advance(&self, step: &str, answers: &str) -> Result<String>;
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

/// Hides the types of a protocol whose tallies can be drawn: every fidelity, and real rows.
pub fn erase<E>(estimator: E) -> Box<dyn AnyEstimator>
where
    E: Wired<Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq + Clone>,
{
    let tally: Replicate<E> = Box::new(|estimator, setting, replications, visit| {
        let &Setting { model, theta, users, seed, .. } = setting;
        let mut population = Tallies::new(model, theta, seed)?;
        for replication in replications {
            population.restart(replication);
            visit(&run(estimator, users, &mut population)?);
        }
        Ok(())
    });
    Box::new(Erased { estimator, users: on_users(), tally: Some(tally), collect: Some(on_rows()) })
}

/// Hides the types of a protocol with other reports, such as real ones: every user is simulated.
pub fn erase_real<E>(estimator: E) -> Box<dyn AnyEstimator>
where
    E: Wired<Question: Mechanism<Input = f64>>,
{
    Box::new(Erased { estimator, users: on_users(), tally: None, collect: Some(on_rows()) })
}

/// Hides the types of a protocol for vectors: simulated users hold `dimension` independent values of the model.
pub fn erase_vectors<E>(estimator: E, dimension: usize) -> Box<dyn AnyEstimator>
where
    E: Wired<Question: Mechanism<Input = [f64]>>,
{
    let users: Replicate<E> = Box::new(move |estimator, setting, replications, visit| {
        let &Setting { model, theta, users, seed, .. } = setting;
        let mut population = Vectors::new(model, &vec![theta; dimension], users, seed)?;
        for replication in replications {
            population.restart(replication);
            visit(&run(estimator, users, &mut population)?);
        }
        Ok(())
    });
    Box::new(Erased { estimator, users, tally: None, collect: None })
}

type Visit<'v> = &'v mut dyn FnMut(&dyn Inference);
type Replicate<E> = Box<dyn Fn(&E, &Setting<'_>, Range<u64>, Visit<'_>) -> Result<()> + Send + Sync>;
type Collect<E> = fn(&E, &mut dyn RowStore, Order, ChaCha12Rng) -> Result<Collected>;

/// A protocol and what can be done with it beyond its messages.
struct Erased<E> {
    estimator: E,
    users: Replicate<E>,
    tally: Option<Replicate<E>>,
    collect: Option<Collect<E>>,
}

fn on_users<E: Wired<Question: Mechanism<Input = f64>>>() -> Replicate<E> {
    Box::new(|estimator, setting, replications, visit| {
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
    |estimator, rows, order, rng| {
        let users = rows.rows();
        let mut population = Audit::new(Rows::new(rows, order, rng)?);
        let estimate = Box::new(run(estimator, users, &mut population)?);
        Ok(Collected { estimate, rounds: population.rounds(), epsilon: population.epsilon() })
    }
}

impl<E> Erased<E> {
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

    fn replicate(&self, setting: &Setting<'_>, replications: Range<u64>, visit: Visit<'_>) -> Result<()> {
        let population = match (setting.fidelity, &self.tally) {
            (Fidelity::Users, _) => &self.users,
            (Fidelity::Tally, Some(tally)) => tally,
            (Fidelity::Tally, None) => {
                return Err(Error::Unsupported {
                    what: "tally fidelity",
                    needs: "questions with finitely many reports",
                });
            }
        };
        population(&self.estimator, setting, replications, visit)
    }

    fn collect(&self, rows: &mut dyn RowStore, order: Order, rng: ChaCha12Rng) -> Result<Collected> {
        self.on_rows()?(&self.estimator, rows, order, rng)
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
