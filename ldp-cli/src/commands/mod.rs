//! The commands, one file each.

mod estimate;
mod list;
mod manual;
mod simulate;

use crate::args::{Args, Command};
use crate::registry::BuiltModel;
use ldp_core::IntervalKind;
use ldp_core::erased::{AnyEstimator, Fidelity, Setting};
use ldp_core::model::AnyModel;
use std::io::Write;

/// Runs what was typed.
pub fn run(Args { common, command }: Args) -> anyhow::Result<()> {
    match command {
        Command::List { what } => list::run(&common, what),
        Command::Simulate(simulate) => simulate::run(&common, &simulate),
        Command::Estimate(estimate) => estimate::run(&common, &estimate),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { out } => manual::man(out.as_deref()),
    }
}

/// Refuses, before anything is spent, an interval that the protocol does not have.
///
/// Which ones it has is known to its estimate alone, so one replication is drawn and thrown away.
fn check_interval(
    estimator: &dyn AnyEstimator,
    model: &dyn AnyModel,
    theta: f64,
    users: u64,
    kind: Option<IntervalKind>,
) -> anyhow::Result<()> {
    let Some(kind) = kind else { return Ok(()) };
    let setting = Setting { model, theta, users, seed: 0, fidelity: Fidelity::Tally };
    let mut has = Vec::new();
    estimator.replicate(&setting, 0..1, &mut |estimate| has = estimate.interval_kinds().to_vec())?;
    let names: Vec<_> = has.iter().map(ToString::to_string).collect();
    anyhow::ensure!(has.contains(&kind), "--interval {kind}: this protocol has {}", names.join(" and "));
    Ok(())
}

/// Protocols for a Gaussian mean find the centre of a symmetric family, and something else elsewhere.
fn warn_unless_symmetric(quiet: bool, estimator: &str, built: &BuiltModel) {
    if !built.symmetric {
        let model = &built.spec;
        warn(
            quiet,
            &format!("{estimator} finds the centre of a symmetric family; under {model} it may not tend to theta"),
        );
    }
}

/// Says something on standard error, unless told to be quiet.
fn warn(quiet: bool, text: &str) {
    if !quiet {
        // Nothing is lost if standard error is closed.
        let _ = writeln!(std::io::stderr(), "warning: {text}");
    }
}
