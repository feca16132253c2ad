//! The `ldp` command: simulate and run locally differentially private estimators.
//!
//! ```text
//! args ──▶ spec + registry ──▶ commands ──▶ report (human, JSON, CSV)
//! ```

#![forbid(unsafe_code)]

mod args;
mod bootstrap;
mod bounded;
mod commands;
mod exit;
mod input;
mod nearest;
mod output;
mod page;
mod plot;
mod progress;
mod record;
mod registry;
mod report;
mod spec;
mod study;
mod sweep;
mod table;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match args::Args::try_parse() {
        Ok(args) => commands::run(args),
        // Help and version come this way too; they are output like any other, and writing it can fail.
        Err(message) => match message.print().and_then(|()| std::io::stdout().flush()) {
            Ok(()) => return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2)),
            Err(error) => Err(exit::OutputError(error).into()),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::code(&error),
    }
}
