//! What crosses the wire arrives unchanged.

use super::{Violation, ensure, expect};
use crate::draw::Draw;
use crate::wire::{self, Source};
use crate::{Audit, Users};
use ldp_core::epsilon::Epsilon;
use ldp_core::mechanism::{Mechanism, Publish};
use ldp_core::staged::{Population, StagedEstimator, run};
use ldp_core::tally::Tally;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What the users of a protocol send.
type ReportOf<E> = <<E as StagedEstimator>::Question as Mechanism>::Report;

/// A run over simulated users, one by one, equals the same run with every message sent through JSON: the estimate
/// bit for bit, or the same error. Replications 0, 1 and 2.
///
/// Clients on the wire cap ε at what the run in process asked, so a question whose level grows on the way is refused.
pub fn check_simulation_is_wire<E, M>(
    estimator: &E,
    model: &M,
    theta: f64,
    users: u64,
    seed: u64,
) -> Result<(), Violation>
where
    E: StagedEstimator<Question: Publish + Serialize + DeserializeOwned> + ?Sized,
    E::Tally: Tally<Report = u32> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned + PartialEq + Debug,
    M: Draw + ?Sized,
{
    let wired = |population: &mut Users<'_, M>, cap| wire::run(estimator, users, population, cap);
    compare(estimator, users, simulated(model, theta, users, seed), wired)
}

/// [`check_simulation_is_wire`] for questions about a number that go out as their own JSON, through
/// [`wire::run_typed`].
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_simulate::conformance::check_simulation_is_wire_typed;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[10], &[20, 30]]);
/// check_simulation_is_wire_typed(&dummy, &Gaussian::new(1.0)?, 0.3, 60, 1).unwrap();
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn check_simulation_is_wire_typed<E, M>(
    estimator: &E,
    model: &M,
    theta: f64,
    users: u64,
    seed: u64,
) -> Result<(), Violation>
where
    E: StagedEstimator<Question: Mechanism<Input = f64> + Serialize + DeserializeOwned> + ?Sized,
    ReportOf<E>: Serialize + DeserializeOwned,
    E::Tally: Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned + PartialEq + Debug,
    M: Draw + ?Sized,
{
    check_simulation_is_wire_with(estimator, users, simulated(model, theta, users, seed))
}

/// [`check_simulation_is_wire_typed`] for values of any kind, vectors for example: `population` gives the users of a
/// replication, who must be the same ones whenever it is called.
pub fn check_simulation_is_wire_with<E, P>(
    estimator: &E,
    users: u64,
    population: impl Fn(u64) -> ldp_core::Result<P>,
) -> Result<(), Violation>
where
    E: StagedEstimator<Question: Serialize + DeserializeOwned> + ?Sized,
    ReportOf<E>: Serialize + DeserializeOwned,
    E::Tally: Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned + PartialEq + Debug,
    P: Population<E::Question, E::Tally> + Source<<E::Question as Mechanism>::Input>,
{
    compare(estimator, users, population, |population: &mut P, cap| wire::run_typed(estimator, users, population, cap))
}

/// The simulated users of every replication.
fn simulated<'m, M: Draw + ?Sized>(
    model: &'m M,
    theta: f64,
    users: u64,
    seed: u64,
) -> impl Fn(u64) -> ldp_core::Result<Users<'m, M>> {
    move |replication| {
        let mut population = Users::new(model, theta, users, seed)?;
        population.restart(replication);
        Ok(population)
    }
}

/// Runs in process against runs over the wire, `wired`, with the cap that the former show.
fn compare<E, P>(
    estimator: &E,
    users: u64,
    population: impl Fn(u64) -> ldp_core::Result<P>,
    wired: impl Fn(&mut P, Epsilon) -> ldp_core::Result<E::Estimate>,
) -> Result<(), Violation>
where
    E: StagedEstimator<Estimate: Serialize + PartialEq + Debug> + ?Sized,
    P: Population<E::Question, E::Tally>,
{
    const LAW: &str = "simulation is wire";
    for replication in 0..3 {
        let mut audit = Audit::new(expect(population(replication), LAW)?);
        let direct = run(estimator, users, &mut audit);
        // Nobody was asked: any cap will do.
        let cap = match audit.epsilon() {
            Some(epsilon) => epsilon,
            None => expect(Epsilon::new(1.0), LAW)?,
        };
        let wired = wired(&mut expect(population(replication), LAW)?, cap);
        let differ = |direct: &dyn Debug, wired: &dyn Debug| {
            format!("replication {replication}: {direct:?} in process, {wired:?} over the wire")
        };
        match (direct, wired) {
            (Ok(direct), Ok(wired)) => {
                ensure(direct == wired, LAW, || differ(&direct, &wired))?;
                let texts = [&direct, &wired].map(|estimate| ldp_core::wire::write("estimate", estimate).ok());
                ensure(texts[0] == texts[1], LAW, || differ(&texts[0], &texts[1]))?;
            }
            (Err(direct), Err(wired)) => {
                ensure(direct.to_string() == wired.to_string(), LAW, || differ(&direct, &wired))?;
            }
            (direct, wired) => {
                return Err(Violation { law: LAW, detail: differ(&direct, &wired) });
            }
        }
    }
    Ok(())
}
