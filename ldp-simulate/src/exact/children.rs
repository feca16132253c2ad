//! Steps with their probabilities, equal ones merged.

use ldp_core::error::Result;
use ldp_core::staged::Step;
use ldp_core::wire;
use serde::Serialize;
use std::collections::HashMap;

/// What can come next, in the order in which it was first seen.
///
/// Two steps are equal if they serialise to the same text: that is all a server keeps between rounds, so nothing that
/// follows can tell them apart. Estimates are not merged: they cost less to add up than to compare.
pub(super) struct Children<S> {
    steps: Vec<(f64, S)>,
    places: HashMap<String, usize>,
}

impl<Q: Serialize, S: Serialize, E> Children<Step<Q, S, E>> {
    pub fn new() -> Self {
        Self { steps: Vec::new(), places: HashMap::new() }
    }

    pub fn push(&mut self, weight: f64, step: Step<Q, S, E>) -> Result<()> {
        if let Step::Ask { round, state } = &step {
            match self.places.entry(wire::write("step", &(round, state))?) {
                std::collections::hash_map::Entry::Occupied(place) => {
                    self.steps[*place.get()].0 += weight;
                    return Ok(());
                }
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(self.steps.len());
                }
            }
        }
        self.steps.push((weight, step));
        Ok(())
    }

    pub fn merge(&mut self, other: Self) -> Result<()> {
        other.steps.into_iter().try_for_each(|(weight, step)| self.push(weight, step))
    }

    pub fn into_steps(self) -> Vec<(f64, Step<Q, S, E>)> {
        self.steps
    }
}
