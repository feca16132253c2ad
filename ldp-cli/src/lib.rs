//! The `ldp` command as a library: simulate locally differentially private estimators, and run them on data.
//!
//! ```text
//! args ──▶ named (the catalog) ──▶ commands ──▶ report (human, JSON, CSV)
//! ```
//!
//! [`main_with`] is the whole command, for the names of a catalog. The binary `ldp` passes
//! [`Catalog::builtin`](ldp_catalog::Catalog::builtin); whoever registers a mechanism, a model, an estimator or a study of
//! their own has a command that lists, simulates and compares it as well:
//!
//! ```no_run
//! use ldp_catalog::{Catalog, MechanismEntry, channel};
//! use ldp_mechanisms::Sign;
//!
//! fn main() -> std::process::ExitCode {
//!     let mut catalog = Catalog::builtin();
//!     let entry = MechanismEntry::new("positive", "the sign of x", &[], |_, epsilon| channel(&Sign::new(epsilon, 0.0)?));
//!     catalog.register_mechanism(entry).expect("the name is free");
//!     ldp_cli::main_with(catalog)
//! }
//! ```

#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit;
mod named;
mod output;
mod progress;
mod report;
mod table;

use clap::Parser;
use ldp_catalog::Catalog;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command that was typed, with the names of a catalog, and tells how it ended.
pub fn main_with(catalog: Catalog) -> ExitCode {
    let done = match args::Args::try_parse() {
        Ok(args) => commands::run(&catalog, args),
        // Help and version come this way too; they are output like any other, and writing it can fail.
        Err(message) => match message.print().and_then(|()| std::io::stdout().flush()) {
            Ok(()) => return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2)),
            Err(error) => Err(ldp_study::error::OutputError(error).into()),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::code(&error),
    }
}
