//! What crosses the wire arrives unchanged.

use super::{Violation, ensure, expect};
use crate::drive::{Audit, Users};
use crate::epsilon::Epsilon;
use crate::mechanism::Publish;
use crate::model::Draw;
use crate::staged::{StagedEstimator, run};
use crate::tally::Tally;
use crate::wire;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// JSON there and back gives an equal value and the same text again, and no proper beginning of the text is read.
///
/// Truncation is tried on objects, lists and strings; of a bare number the beginning is a number too.
pub fn check_wire_round_trip<T>(value: &T) -> Result<(), Violation>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    const TRIP: &str = "round trip";
    let text = expect(wire::write("message", value), TRIP)?;
    let mut back: T = expect(wire::parse("message", &text), TRIP)?;
    for _ in 0..2 {
        ensure(&back == value, TRIP, || format!("{value:?} came back as {back:?}"))?;
        let again = expect(wire::write("message", &back), TRIP)?;
        // Equal values may differ in bits, zeros of both signs for example.
        ensure(again == text, TRIP, || format!("{text} was written again as {again}"))?;
        back = expect(wire::parse("message", &again), TRIP)?;
    }
    if text.ends_with(['}', ']', '"']) {
        for (end, _) in text.char_indices() {
            let read = wire::parse::<T>("message", &text[..end]).is_ok();
            ensure(!read, "truncation is refused", || format!("{:?} was read", &text[..end]))?;
        }
    }
    Ok(())
}

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
    const LAW: &str = "simulation is wire";
    let mut population = expect(Users::new(model, theta, users, seed), LAW)?;
    for replication in 0..3 {
        population.restart(replication);
        let mut audit = Audit::new(&mut population);
        let direct = run(estimator, users, &mut audit);
        // Nobody was asked: any cap will do.
        let cap = match audit.epsilon() {
            Some(epsilon) => epsilon,
            None => expect(Epsilon::new(1.0), LAW)?,
        };
        population.restart(replication);
        let wired = wire::run(estimator, users, &mut population, cap);
        let differ = |direct: &dyn Debug, wired: &dyn Debug| {
            format!("replication {replication}: {direct:?} in process, {wired:?} over the wire")
        };
        match (direct, wired) {
            (Ok(direct), Ok(wired)) => {
                ensure(direct == wired, LAW, || differ(&direct, &wired))?;
                let texts = [&direct, &wired].map(|estimate| wire::write("estimate", estimate).ok());
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
