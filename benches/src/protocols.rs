//! Protocols as `ldp simulate` runs them: ε = 1, σ = 1.

use crate::epsilon;
use ldp_core::Result;
use ldp_core::model::Gaussian;
use ldp_estimators::{BitwisePilot, Liu, Share, ThreeStage, TwoStage};
use ldp_simulate::in_batches;
use ldp_simulate::{AnyEstimator, Fidelity, Setting, Simulation, erase, erase_in_lanes};
use std::ops::Range;

/// The mean of the values where the protocol starts at 0.
const THETA: f64 = 0.5;
/// The mean that a pilot has to find, and where it looks.
const FAR: f64 = 84.5;
const RANGE: [f64; 2] = [0.0, 128.0];

/// A protocol, and how its users are simulated.
pub struct Protocol {
    /// The protocol.
    pub estimator: Box<dyn AnyEstimator>,
    /// The mean of the values.
    pub theta: f64,
    fidelity: Fidelity,
    model: Gaussian,
}

impl Protocol {
    /// Two stages, the first of so many users.
    pub fn two_stage(first: u64, fidelity: Fidelity) -> Result<Self> {
        Self::new(erase(TwoStage::new(epsilon()?, 0.0, first)?), fidelity, THETA)
    }

    /// A pilot and two stages, the counts of every round drawn.
    pub fn three_stage(pilot: u64, first: u64) -> Result<Self> {
        let pilot = BitwisePilot::new(epsilon()?, RANGE, 1.0, Share::Count(pilot))?;
        Self::new(erase(ThreeStage::three_rounds(epsilon()?, pilot, 1.0, Some(first))?), Fidelity::Tally, FAR)
    }

    /// The sequential median, one user per round; replications side by side where reports are drawn without values.
    pub fn liu(fidelity: Fidelity) -> Result<Self> {
        Self::new(erase_in_lanes(Liu::new(epsilon()?, 0.0)?), fidelity, THETA)
    }

    fn new(estimator: Box<dyn AnyEstimator>, fidelity: Fidelity, theta: f64) -> Result<Self> {
        Ok(Self { estimator, theta, fidelity, model: Gaussian::new(1.0)? })
    }

    /// What is simulated, with so many users.
    pub fn setting(&self, users: u64, seed: u64) -> Setting<'_> {
        Setting { model: &self.model, theta: self.theta, users, seed, fidelity: self.fidelity }
    }

    /// The sums of squared errors and of their squares over some replications, on this thread.
    pub fn replicate(&self, users: u64, replications: Range<u64>, seed: u64) -> Result<[f64; 2]> {
        self.sums(&*self.estimator.simulation(&self.setting(users, seed))?, replications)
    }

    /// The same sums over so many replications, in batches on the current pool.
    pub fn in_batches(&self, users: u64, replications: u64, seed: u64) -> Result<[f64; 2]> {
        let mut total = [0.0; 2];
        let simulation = self.estimator.simulation(&self.setting(users, seed))?;
        in_batches(
            replications,
            |batch| self.sums(&*simulation, batch),
            |part| total = [total[0] + part[0], total[1] + part[1]],
        )?;
        Ok(total)
    }

    fn sums(&self, simulation: &dyn Simulation, replications: Range<u64>) -> Result<[f64; 2]> {
        let mut sums = [0.0; 2];
        simulation.replicate(replications, &mut |estimate| {
            let square = (estimate.value() - self.theta).powi(2);
            sums = [sums[0] + square, sums[1] + square * square];
        })?;
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_all_replications() {
        let protocol = Protocol::two_stage(306, Fidelity::Tally).unwrap();
        let (batches, whole) =
            (protocol.in_batches(10_000, 1000, 7).unwrap(), protocol.replicate(10_000, 0..1000, 7).unwrap());
        for (batches, whole) in batches.into_iter().zip(whole) {
            assert!((batches / whole - 1.0).abs() < 1e-12, "{batches} {whole}");
        }
    }
}
