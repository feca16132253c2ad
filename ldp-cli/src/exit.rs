//! What the process says when it ends.

use ldp_study::error::{NotDrawn, OutputError};
use ldp_study::input::InputError;
use std::io::{self, Write};
use std::process::ExitCode;

/// The table of exit codes, as shown by `--help`, the man page and the README.
pub const TABLE: &str = "Exit codes:
  0    success (also when the reader of the output went away)
  1    the system failed: an output or a temporary file could not be written
  2    bad input: a flag, a spec, a file, a cell, or a folder that cannot hold a study; nothing was written
  130  stopped by Ctrl-C during a study: what is done is on disk, and the same command goes on";

/// Prints the error, once, and chooses the code.
pub fn code(error: &anyhow::Error) -> ExitCode {
    let output = error.chain().find_map(|cause| cause.downcast_ref::<OutputError>());
    if output.is_some_and(|OutputError(cause)| cause.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let spool = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref::<InputError>(), Some(InputError::Spool { .. }))
    };
    let random = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref::<ldp_core::Error>(), Some(ldp_core::Error::SystemRandomness { .. }))
    };
    let system = output.is_some()
        || error.is::<NotDrawn>()
        || error.is::<rayon::ThreadPoolBuildError>()
        || error.chain().any(|cause| spool(cause) || random(cause));
    // Library errors quote their source; a cause is added only where the text so far does not have it.
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text += if text.is_empty() { "" } else { ": " };
            text += &cause;
        }
    }
    // If even standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitCode::from(if system { 1 } else { 2 })
}
