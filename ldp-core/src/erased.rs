//! Protocols behind one object-safe face, for registries and servers.
//!
//! Erasure happens once per protocol and batch of replications, never per report: inside, everything is generic.

use crate::drive::{Audit, Order, RowStore, Rows, Tallies, Users};
use crate::epsilon::Epsilon;
use crate::error::Result;
use crate::inference::{Inference, IntervalKind};
use crate::mechanism::Finite;
use crate::model::AnyModel;
use crate::staged::{StagedEstimator, Step, StepOf, advance_checked, run};
use crate::tally::Tally;
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

/// A [`StagedEstimator`] of one parameter from finite reports, behind a `dyn`.
pub trait AnyEstimator: Send + Sync {
    /// The kinds of interval its estimates can have, the default first.
    fn interval_kinds(&self) -> &'static [IntervalKind];

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

/// Hides the types of a protocol with finite questions.
pub fn erase<E>(estimator: E) -> Box<dyn AnyEstimator>
where
    E: StagedEstimator + Send + Sync + 'static,
    E::Question: Finite + crate::Mechanism<Input = f64> + PartialEq + Clone + Serialize + DeserializeOwned,
    E::Tally: Tally<Report = u32> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Inference + Serialize + DeserializeOwned + 'static,
{
    Box::new(Erased(estimator))
}

struct Erased<E>(E);

impl<E> AnyEstimator for Erased<E>
where
    E: StagedEstimator + Send + Sync,
    E::Question: Finite + crate::Mechanism<Input = f64> + PartialEq + Clone + Serialize + DeserializeOwned,
    E::Tally: Tally<Report = u32> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Inference + Serialize + DeserializeOwned + 'static,
{
    fn interval_kinds(&self) -> &'static [IntervalKind] {
        E::Estimate::interval_kinds()
    }

    fn replicate(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&dyn Inference),
    ) -> Result<()> {
        let &Setting { model, theta, users, seed, fidelity } = setting;
        match fidelity {
            Fidelity::Users => {
                let mut population = Users::new(model, theta, users, seed)?.in_blocks();
                for replication in replications {
                    population.restart(replication);
                    visit(&run(&self.0, users, &mut population)?);
                }
            }
            Fidelity::Tally => {
                let mut population = Tallies::new(model, theta, seed)?;
                for replication in replications {
                    population.restart(replication);
                    visit(&run(&self.0, users, &mut population)?);
                }
            }
        }
        Ok(())
    }

    fn collect(&self, rows: &mut dyn RowStore, order: Order, rng: ChaCha12Rng) -> Result<Collected> {
        let users = rows.rows();
        let mut population = Audit::new(Rows::new(rows, order, rng)?);
        let estimate = Box::new(run(&self.0, users, &mut population)?);
        Ok(Collected { estimate, rounds: population.rounds(), epsilon: population.epsilon() })
    }

    fn begin(&self, users: u64) -> Result<String> {
        wire::write("step", &self.0.begin(users)?)
    }

    fn advance(&self, step: &str, answers: &str) -> Result<String> {
        let step: StepOf<E> = wire::parse("step", step)?;
        let next = match step {
            Step::Done(_) => step,
            Step::Ask { round, state } => advance_checked(&self.0, &round, state, wire::parse("tallies", answers)?)?,
        };
        wire::write("step", &next)
    }
}
