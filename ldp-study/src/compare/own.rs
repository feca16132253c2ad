//! Which files of a folder are the program's own: those that its record draws.

use super::folder::{FILES, Files};
use super::{dress, show};
use crate::bounded::holds;
use crate::record::Record;
use ldp_catalog::Catalog;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The name of what tells how a run went.
const RUN: &str = FILES[5];
/// The most bytes of it.
const MOST_BYTES: u64 = 1 << 16;

/// Refuses to replace what someone else has put under the names of a study's files. A file is the program's own if it holds
/// what is `coming`, or what is made from the record in the folder.
pub fn check(catalog: &Catalog, out: &Path, coming: &Files) -> anyhow::Result<()> {
    let there = |name: &&str| fs::symlink_metadata(out.join(name)).is_ok();
    // The record is read, with its digest, by whoever goes on from it.
    let made = || FILES[1..5].iter().copied().filter(there);
    let changed =
        |files: &Files, name: &str| !files.iter().any(|(known, bytes)| *known == name && holds(&out.join(name), bytes));
    let mut foreign: Vec<&str> = made().filter(|name| changed(coming, name)).collect();
    if !foreign.is_empty()
        && let Ok(mut record) = Record::read(out)
    {
        let known = all(catalog, &mut record)?;
        foreign.retain(|name| changed(&known, name));
    }
    refuse(out, &foreign)
}

/// The same before a run is begun, of which nothing is known yet but that it will be told how it went.
pub fn check_begun(catalog: &Catalog, out: &Path) -> anyhow::Result<()> {
    let there = |name: &str| fs::symlink_metadata(out.join(name)).is_ok();
    let no_record = there(FILES[0]) && Record::read(out).is_err();
    let no_run = there(RUN) && !is_run(&out.join(RUN));
    let foreign: Vec<&str> =
        [(no_record, FILES[0]), (no_run, RUN)].iter().filter(|(no, _)| *no).map(|file| file.1).collect();
    refuse(out, &foreign)?;
    check(catalog, out, &Files::new())
}

fn refuse(out: &Path, foreign: &[&str]) -> anyhow::Result<()> {
    anyhow::ensure!(
        foreign.is_empty(),
        "--out {}: {} is not what the program wrote there; take another folder, or --overwrite",
        out.display(),
        foreign.join(", ")
    );
    Ok(())
}

/// Everything that is made from a record.
fn all(catalog: &Catalog, record: &mut Record) -> anyhow::Result<Files> {
    dress::dress(catalog, record)?;
    let mut files = show::numbers(record)?;
    files.extend(show::drawings(catalog, record).files);
    Ok(files)
}

fn is_run(path: &Path) -> bool {
    let text = crate::bounded::text_of_file(path, MOST_BYTES);
    let run = text.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    run.is_some_and(|run| ["seconds", "threads", "points", "resumed_from"].iter().all(|key| run[key].is_number()))
}
