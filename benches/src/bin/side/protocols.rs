//! Protocols, simulated as `ldp simulate` does it or summed as `ldp risk` does it: ε = 1, σ = 1.

use super::{Outcome, timed};
use benches::epsilon;
use ldp_core::drive::in_batches;
use ldp_core::erased::{AnyEstimator, Fidelity, Setting, erase, erase_in_lanes};
use ldp_core::model::Gaussian;
use ldp_estimators::{BitwisePilot, Liu, Share, ThreeStage, TwoStage};

/// The mean of the values where the protocol starts at 0.
const THETA: f64 = 0.5;
/// The mean that a pilot has to find, and where it looks.
const FAR: f64 = 84.5;
const RANGE: [f64; 2] = [0.0, 128.0];

/// Seconds, and n·MSE with its standard error.
type Timed = Outcome<(f64, Vec<f64>)>;

/// Two stages, every user drawn and privatised.
pub fn two_stage_users(users: u64, first: u64, times: u64, seed: u64) -> Timed {
    simulate(&*two_stage(first)?, Fidelity::Users, THETA, users, times, seed)
}

/// Two stages, the counts of every round drawn.
pub fn two_stage_counts(users: u64, first: u64, times: u64, seed: u64) -> Timed {
    simulate(&*two_stage(first)?, Fidelity::Tally, THETA, users, times, seed)
}

/// Two stages, every count weighed by its probability.
pub fn two_stage_risk(users: u64, first: u64) -> Timed {
    risk(&*two_stage(first)?, THETA, users)
}

/// Three stages, the counts of every round drawn.
pub fn three_stage_counts(users: u64, pilot: u64, first: u64, times: u64, seed: u64) -> Timed {
    simulate(&*three_stage(pilot, first)?, Fidelity::Tally, FAR, users, times, seed)
}

/// Three stages, every count weighed by its probability.
pub fn three_stage_risk(users: u64, pilot: u64, first: u64) -> Timed {
    risk(&*three_stage(pilot, first)?, FAR, users)
}

/// The sequential median, one user per round: each report drawn from its law at the guess, replications side by side.
pub fn liu_reports(users: u64, times: u64, seed: u64) -> Timed {
    simulate(&*erase_in_lanes(Liu::new(epsilon()?, 0.0)?), Fidelity::Tally, THETA, users, times, seed)
}

/// The sequential median, every user drawn and privatised.
pub fn liu(users: u64, times: u64, seed: u64) -> Timed {
    simulate(&*erase(Liu::new(epsilon()?, 0.0)?), Fidelity::Users, THETA, users, times, seed)
}

fn two_stage(first: u64) -> Outcome<Box<dyn AnyEstimator>> {
    Ok(erase(TwoStage::new(epsilon()?, 0.0, first)?))
}

fn three_stage(pilot: u64, first: u64) -> Outcome<Box<dyn AnyEstimator>> {
    let pilot = BitwisePilot::new(epsilon()?, RANGE, 1.0, Share::Count(pilot))?;
    Ok(erase(ThreeStage::three_rounds(epsilon()?, pilot, 1.0, Some(first))?))
}

fn simulate(estimator: &dyn AnyEstimator, fidelity: Fidelity, theta: f64, users: u64, times: u64, seed: u64) -> Timed {
    let model = Gaussian::new(1.0)?;
    let setting = Setting { model: &model, theta, users, seed, fidelity };
    let (seconds, [squares, fourths]) = timed(|| {
        let mut total = [0.0; 2];
        let simulation = estimator.simulation(&setting)?;
        in_batches(
            times,
            |batch| {
                let mut part = [0.0; 2];
                simulation.replicate(batch, &mut |estimate| {
                    let square = (estimate.value() - theta).powi(2);
                    part = [part[0] + square, part[1] + square * square];
                })?;
                Ok(part)
            },
            |part| total = [total[0] + part[0], total[1] + part[1]],
        )?;
        Ok(total)
    })?;
    let (n, times) = (users as f64, times as f64);
    let mse = squares / times;
    Ok((seconds, vec![n * mse, n * ((fourths / times - mse * mse) / times).sqrt()]))
}

fn risk(estimator: &dyn AnyEstimator, theta: f64, users: u64) -> Timed {
    let model = Gaussian::new(1.0)?;
    let setting = Setting { model: &model, theta, users, seed: 1, fidelity: Fidelity::Tally };
    let (seconds, summed) = timed(|| Ok(estimator.errors(&setting, theta)?))?;
    let n = users as f64;
    let error = summed.mse_error.ok_or("the range of the estimates is not known")?;
    Ok((seconds, vec![n * summed.gather.mse(), n * error]))
}
