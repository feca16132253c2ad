//! `ldp completions` and `ldp man`: made from the same table of flags as the help.

use crate::args::{Args, Common};
use crate::output::Folder;
use crate::report;
use clap::CommandFactory;
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "ldp", &mut script);
    Ok(report::write(&String::from_utf8(script)?)?)
}

/// Prints the man page, or writes one page per command into `folder`.
pub fn man(common: &Common, folder: Option<&Path>) -> anyhow::Result<()> {
    // The help command has no page of its own.
    let command = Args::command().disable_help_subcommand(true);
    match folder {
        Some(folder) => {
            let mut pages = Vec::new();
            let mut command = command;
            // What every command has is in the pages of all.
            command.build();
            gather(&command, &mut pages)?;
            Folder::open("--out", folder)?.write(&pages, common.overwrite, &[])
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            Ok(report::write(&String::from_utf8(page)?)?)
        }
    }
}

/// The pages of a command and of those below it, by the names of their files.
fn gather(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        gather(inner, pages)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((page.get_filename(), text));
    Ok(())
}
