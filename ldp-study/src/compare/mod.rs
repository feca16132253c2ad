//! The engine of comparisons: a study is run into a folder, can be stopped at any moment, and goes on from there.

mod dress;
mod folder;
mod forecast;
mod foresee;
mod measure;
mod merge;
mod own;
mod picture;
mod show;
mod squares;
mod work;

use crate::error::NotDrawn;
use crate::record::{Record, Shard, Skipped};
use crate::study::{Comparison, Infeasible, Outline};
use anyhow::Context;
use folder::{FILES, Files, Found, publish};
use ldp_catalog::Catalog;
use measure::Measurer;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Instant;
use work::Job;

pub use folder::JOURNAL;
pub use merge::join;
pub use show::{csv, markdown, notes, table};
pub use work::Desk;

/// The most points of a study that are run without being asked.
const UNASKED: u64 = 10_000;

/// How a study is to be run.
pub struct Order<'a> {
    /// What the study is called.
    pub name: &'a str,
    /// The folder for its results.
    pub out: &'a Path,
    /// The part of the study to run; the whole if `None`.
    pub shard: Option<Shard>,
    /// Whether to run it also if it is large.
    pub yes: bool,
    /// Whether to run it also if another study is in the folder.
    pub overwrite: bool,
}

/// Who watches a run. Every method may be left as it is.
pub trait Observer: Sync {
    /// Takes a warning about the study, before the first draw.
    fn warn(&self, text: &str) {
        let _ = text;
    }

    /// The points begin: so many in total, so many of them done already; the others take `work` together.
    fn begin(&self, total: usize, done: usize, work: f64) {
        let _ = (total, done, work);
    }

    /// So much more of the work is done.
    fn advance(&self, work: f64) {
        let _ = work;
    }

    /// So many points are done by now.
    fn done(&self, done: usize) {
        let _ = done;
    }

    /// No more points are worked out.
    fn end(&self) {}
}

/// Nobody watches.
impl Observer for () {}

/// What became of a run.
pub struct Outcome {
    /// What was found; its numbers are on disk.
    pub record: Record,
    /// Whether all of its figures could be drawn.
    pub drawn: anyhow::Result<()>,
}

/// Runs a study into its folder, or goes on with it there. The threads are those of `pool`.
///
/// # Errors
///
/// If the study is too large or nowhere feasible, a protocol refuses a point, or the folder is not one of this study or cannot
/// be written.
pub fn carry_out(
    catalog: &Catalog,
    study: &Comparison,
    order: &Order<'_>,
    pool: &rayon::ThreadPool,
    desk: &Desk,
    observer: &dyn Observer,
) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let name = order.name;
    let mut record = Record::new(name, study.clone(), order.shard)?;
    let outline = Outline::new(catalog, study);
    let measurer = Measurer::new(&outline);
    foresee::size(name, &outline)?;
    if outline.size() > UNASKED && !order.yes {
        let forecast = pool.install(|| forecast::forecast(&outline, &measurer, pool.current_num_threads()));
        anyhow::bail!("{name}: the study has up to {} points{forecast}; --yes runs it", outline.size());
    }
    let jobs = jobs(observer, name, &outline, &measurer, &mut record)?;
    foresee::figure(&record, &outline, &jobs).with_context(|| format!("{name}: [figure]"))?;
    let mut journal = match folder::open(order.out, &record, order.overwrite)? {
        Found::Finished(mut known) => {
            // The same numbers; what is drawn of them, and how it is called, is what the study says now.
            (known.study, known.settings) = (record.study, study.clone());
            let drawn = put(catalog, &mut known, order.out, order.overwrite)?;
            return Ok(Outcome { record: *known, drawn });
        }
        Found::Open(journal) => journal,
    };
    if !order.overwrite {
        own::check_begun(catalog, order.out)?;
    }
    let done: HashSet<u64> = journal.begin(&record)?.into_iter().collect();
    desk.take(journal, done.len(), jobs.len());
    work::work(pool, &outline, &measurer, &jobs, &done, desk, observer)?;
    journal = desk.give()?;
    record.points = journal.points()?;
    dress::dress(catalog, &mut record)?;
    let mut files = show::numbers(&mut record)?;
    let run = json!({
        "seconds": started.elapsed().as_secs_f64(),
        "threads": pool.current_num_threads(),
        "points": jobs.len() - done.len(),
        "resumed_from": done.len(),
    });
    files.push((FILES[5], (serde_json::to_string_pretty(&run)? + "\n").into_bytes()));
    // The numbers first: whatever comes of the figure, they are not lost.
    journal.keep(&files)?;
    let drawn = draw(show::drawings(catalog, &record), order.out);
    journal.finish()?;
    Ok(Outcome { record, drawn })
}

/// Puts what could be drawn into a folder.
fn draw(drawings: show::Drawings, out: &Path) -> anyhow::Result<()> {
    let show::Drawings { files, missing } = drawings;
    publish(out, &files)?;
    let Some((name, error)) = missing else { return Ok(()) };
    // One that was drawn before is not of what the folder holds now.
    folder::remove(out, &[name]);
    let place = out.join(name);
    Err(NotDrawn { file: place.display().to_string(), cause: format!("{error:#}") }.into())
}

/// Looks at every point before the first draw, and says which are to be run.
fn jobs(
    observer: &dyn Observer,
    name: &str,
    outline: &Outline<'_>,
    measurer: &Measurer<'_>,
    record: &mut Record,
) -> anyhow::Result<Vec<Job>> {
    let (mut jobs, mut warnings, mut feasible) = (Vec::new(), BTreeSet::new(), 0);
    for setup in outline.setups() {
        let label = &outline.study().estimators[setup.estimator].label;
        match measurer.check(&setup) {
            Ok(checked) => {
                warnings.extend(checked.warnings);
                if record.shard.is_none_or(|shard| shard.has(feasible)) {
                    jobs.push(Job { index: setup.index, work: checked.work });
                }
                feasible += 1;
            }
            Err(error) if outline.study().infeasible == Infeasible::Skip => {
                let (label, at, reason) = (label.clone(), setup.shown(), format!("{error:#}"));
                record.skipped.push(Skipped { index: setup.index, label, at, reason });
            }
            Err(error) => {
                let [spec, grid] = setup.lines;
                return Err(error.context(format!(
                    "{name}: line {spec}: '{label}' at {} (of the grid at line {grid})",
                    setup.shown()
                )));
            }
        }
    }
    anyhow::ensure!(feasible > 0, "{name}: no protocol can be run anywhere: {}", first_reason(record));
    warnings.iter().for_each(|warning| observer.warn(warning));
    Ok(jobs)
}

fn first_reason(record: &Record) -> String {
    record.skipped.first().map_or_else(String::new, |skipped| format!("{} at {}", skipped.reason, skipped.at))
}

/// Writes the files of a record into a folder. Whether it could be drawn is the inner result: the numbers are there.
///
/// # Errors
///
/// If the folder holds something else, or cannot be written.
pub fn store(
    catalog: &Catalog,
    record: &mut Record,
    out: &Path,
    overwrite: bool,
) -> anyhow::Result<anyhow::Result<()>> {
    let place = || format!("--out {}", out.display());
    let same = || {
        Record::read(out)
            .is_ok_and(|known| (known.fingerprint, known.shard) == (record.fingerprint.clone(), record.shard))
    };
    let taken = FILES.iter().chain([&JOURNAL]).find(|file| out.join(file).exists());
    if let Some(file) = taken
        && !overwrite
    {
        let begun = out.join(JOURNAL).exists();
        anyhow::ensure!(
            same() && !begun,
            "{}: {file} is there already, and not of this record; take another folder, or --overwrite",
            place()
        );
    }
    put(catalog, record, out, overwrite)
}

/// Writes them into a folder that is of this record or empty. The record comes last: until then it tells what the other
/// files were made from.
fn put(catalog: &Catalog, record: &mut Record, out: &Path, overwrite: bool) -> anyhow::Result<anyhow::Result<()>> {
    dress::dress(catalog, record)?;
    let numbers: Files = show::numbers(record)?;
    let drawings = show::drawings(catalog, record);
    if !overwrite {
        let coming = numbers.iter().chain(&drawings.files).cloned().collect();
        own::check(catalog, out, &coming)?;
    }
    folder::make(out)?;
    let drawn = draw(drawings, out);
    publish(out, &numbers.into_iter().rev().collect())?;
    Ok(drawn)
}
