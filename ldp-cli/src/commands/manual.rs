//! `ldp completions` and `ldp man`: made from the same table of flags as the help.

use crate::args::Args;
use crate::exit::OutputError;
use crate::report;
use anyhow::Context;
use clap::CommandFactory;
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "ldp", &mut script);
    Ok(report::write(&String::from_utf8(script)?)?)
}

/// Prints the man page, or writes one page per command into `folder`.
pub fn man(folder: Option<&Path>) -> anyhow::Result<()> {
    // The help command has no page of its own.
    let command = Args::command().disable_help_subcommand(true);
    match folder {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder))
            .map_err(OutputError)
            .with_context(|| format!("man pages in {}", folder.display())),
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            Ok(report::write(&String::from_utf8(page)?)?)
        }
    }
}
