//! The commands, one file each.

mod estimate;
mod list;
mod manual;
mod simulate;

use crate::args::{Args, Command};
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

/// Says something on standard error, unless told to be quiet.
fn warn(quiet: bool, text: &str) {
    if !quiet {
        // Nothing is lost if standard error is closed.
        let _ = writeln!(std::io::stderr(), "warning: {text}");
    }
}
