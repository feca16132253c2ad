//! Protocols, simulated as `ldp simulate` does it or summed as `ldp risk` does it: ε = 1, σ = 1.

use super::{Outcome, timed};
use benches::protocols::Protocol;
use ldp_simulate::Fidelity;

/// Seconds, and n·MSE with its standard error.
type Timed = Outcome<(f64, Vec<f64>)>;

/// Two stages, every user drawn and privatised.
pub fn two_stage_users(users: u64, first: u64, times: u64, seed: u64) -> Timed {
    simulate(&Protocol::two_stage(first, Fidelity::Users)?, users, times, seed)
}

/// Two stages, the counts of every round drawn.
pub fn two_stage_counts(users: u64, first: u64, times: u64, seed: u64) -> Timed {
    simulate(&Protocol::two_stage(first, Fidelity::Tally)?, users, times, seed)
}

/// Two stages, every count weighed by its probability.
pub fn two_stage_risk(users: u64, first: u64) -> Timed {
    risk(&Protocol::two_stage(first, Fidelity::Tally)?, users)
}

/// Three stages, the counts of every round drawn.
pub fn three_stage_counts(users: u64, pilot: u64, first: u64, times: u64, seed: u64) -> Timed {
    simulate(&Protocol::three_stage(pilot, first)?, users, times, seed)
}

/// Three stages, every count weighed by its probability.
pub fn three_stage_risk(users: u64, pilot: u64, first: u64) -> Timed {
    risk(&Protocol::three_stage(pilot, first)?, users)
}

/// The sequential median, one user per round: each report drawn from its law at the guess, replications side by side.
pub fn liu_reports(users: u64, times: u64, seed: u64) -> Timed {
    simulate(&Protocol::liu(Fidelity::Tally)?, users, times, seed)
}

/// The sequential median, every user drawn and privatised.
pub fn liu(users: u64, times: u64, seed: u64) -> Timed {
    simulate(&Protocol::liu(Fidelity::Users)?, users, times, seed)
}

fn simulate(protocol: &Protocol, users: u64, times: u64, seed: u64) -> Timed {
    let (seconds, [squares, fourths]) = timed(|| Ok(protocol.in_batches(users, times, seed)?))?;
    let (n, times) = (users as f64, times as f64);
    let mse = squares / times;
    Ok((seconds, vec![n * mse, n * ((fourths / times - mse * mse) / times).sqrt()]))
}

fn risk(protocol: &Protocol, users: u64) -> Timed {
    let setting = protocol.setting(users, 1);
    let (seconds, summed) = timed(|| Ok(protocol.estimator.errors(&setting, protocol.theta)?))?;
    let n = users as f64;
    let error = summed.mse_error.ok_or("the range of the estimates is not known")?;
    Ok((seconds, vec![n * summed.gather.mse(), n * error]))
}
