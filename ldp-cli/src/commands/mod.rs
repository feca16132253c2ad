//! The commands, one file each.

mod compare;
mod estimate;
mod fisher;
mod list;
mod manual;
mod merge;
mod optimal;
mod optimal_sweep;
mod optimal_switches;
mod optimal_verify;
mod plan;
mod reproduce;
mod risk;
mod risk_sweep;
mod setting;
mod simulate;

use crate::args::{Args, Command, Common, Optimal, Risk};
use crate::output::check_apart;
use ldp_catalog::Catalog;
use ldp_core::IntervalKind;
use ldp_simulate::AnyEstimator;
use std::io::Write;
use std::path::Path;

/// Runs what was typed.
pub fn run(catalog: &Catalog, Args { common, command }: Args) -> anyhow::Result<()> {
    check_apart(&outputs(&command))?;
    match command {
        Command::List { what } => list::run(catalog, &common, what),
        Command::Simulate(simulate) => simulate::run(catalog, &common, &simulate),
        Command::Risk(risk) => risk::run(catalog, &common, &risk),
        Command::Plan(plan) => plan::run(&common, &plan),
        Command::Fisher(fisher) => fisher::run(catalog, &common, &fisher),
        Command::Optimal(optimal) => optimal::run(catalog, &common, &optimal),
        Command::Compare(compare) => compare::run(catalog, &common, &compare),
        Command::Merge(merge) => merge::run(catalog, &common, &merge),
        Command::Estimate(estimate) => estimate::run(catalog, &common, &estimate),
        Command::Reproduce(reproduce) => reproduce::run(catalog, &common, &reproduce),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { out } => manual::man(&common, out.as_deref()),
    }
}

/// The files that a command with several of them writes, by their flags.
fn outputs(command: &Command) -> Vec<(&'static str, Option<&Path>)> {
    match command {
        Command::Risk(Risk { svg, atoms, .. }) => vec![("--svg", svg.as_deref()), ("--atoms", atoms.as_deref())],
        Command::Optimal(Optimal { export, certificate, svg, .. }) => {
            vec![("--export", export.as_deref()), ("--certificate", certificate.as_deref()), ("--svg", svg.as_deref())]
        }
        _ => Vec::new(),
    }
}

/// The threads that were asked for.
fn pool(common: &Common) -> anyhow::Result<rayon::ThreadPool> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = common.threads {
        pool = pool.num_threads(usize::from(threads));
    }
    Ok(pool.build()?)
}

/// The interval to report: the one asked for, if the protocol has it, else its own, if it has any.
fn choose_interval(estimator: &dyn AnyEstimator, wanted: Option<IntervalKind>) -> anyhow::Result<Option<IntervalKind>> {
    let has = estimator.interval_kinds();
    match wanted {
        None => Ok(has.first().copied()),
        Some(kind) if has.contains(&kind) => Ok(Some(kind)),
        Some(kind) if has.is_empty() => anyhow::bail!("--interval {kind}: this protocol has no interval"),
        Some(kind) => {
            let names: Vec<_> = has.iter().map(ToString::to_string).collect();
            anyhow::bail!("--interval {kind}: this protocol has {}", names.join(" and "))
        }
    }
}

/// Says something on standard error, unless told to be quiet.
fn warn(quiet: bool, text: &str) {
    if !quiet {
        // Nothing is lost if standard error is closed.
        let _ = writeln!(std::io::stderr(), "warning: {text}");
    }
}
