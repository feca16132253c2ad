//! The `ldp` command: simulate, compare and run locally differentially private estimators.
//!
//! ```text
//! args ──▶ spec + registry ──▶ commands ──▶ report (human, JSON, CSV)
//! ```

mod args;
mod commands;
mod exit;
mod input;
mod nearest;
mod progress;
mod registry;
mod report;
mod spec;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(args::Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::code(&error),
    }
}
