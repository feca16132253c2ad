//! `ldp compare`: which protocol should I use, and what does it cost me?

mod dress;
mod folder;
mod forecast;
mod foresee;
mod measure;
mod own;
mod picture;
mod show;
mod squares;
mod work;

use super::{pool, warn};
use crate::args::{Common, Compare, Format};
use crate::input;
use crate::record::{Record, Shard, Skipped};
use crate::report;
use crate::study::{BUNDLED, Bundled, Comparison, Infeasible, MOST_REPLICATIONS, Outline, Study};
use anyhow::Context;
use folder::{FILES, Files, Found, publish};
use measure::Measurer;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Instant;
use work::{Desk, Job};

pub use folder::JOURNAL;

/// The study that is run if none is named.
const DEFAULT: &str = "default";
/// The most points of a study that are run without being asked.
const UNASKED: u64 = 10_000;

/// The most bytes of a study file.
const LARGEST_FILE: u64 = 1 << 20;

/// How a study is to be run.
pub struct Order<'a> {
    /// The folder for its results.
    pub out: &'a Path,
    /// Which part of it.
    pub shard: Option<Shard>,
    /// Also if it is large.
    pub yes: bool,
    /// Also if another study is there.
    pub overwrite: bool,
    /// Print a Markdown table.
    pub markdown: bool,
}

/// Runs a study, or draws a record again.
pub fn run(common: &Common, args: &Compare) -> anyhow::Result<()> {
    if let Some(from) = &args.from {
        let mut record = Record::read(from).with_context(|| "--from")?;
        if let Some(warning) = record.warning() {
            warn(common.quiet, &format!("{}: {warning}", from.display()));
        }
        return redraw(common, &mut record, &args.out, common.overwrite, args.markdown);
    }
    let (name, mut study) = find(args.study.as_deref().unwrap_or(DEFAULT))?;
    if let Some(replications) = args.replications {
        anyhow::ensure!(
            replications <= MOST_REPLICATIONS,
            "--replications {replications}: must be at most {MOST_REPLICATIONS}"
        );
        study.estimators.iter_mut().for_each(|contestant| contestant.replications = replications);
    }
    let order = Order {
        out: &args.out,
        shard: args.shard,
        yes: args.yes,
        overwrite: common.overwrite,
        markdown: args.markdown,
    };
    carry_out(common, &name, study, &order)
}

/// The study that a name or a path means, and what it is called. A bundled name is that study whatever lies around: its
/// results may well be in a folder of the same name.
fn find(text: &str) -> anyhow::Result<(String, Comparison)> {
    let path = Path::new(text);
    let bundled = BUNDLED.iter().any(|bundled| bundled.name == text);
    let named = bundled || (!path.exists() && path.extension().is_none());
    let (name, source) = if named {
        let bundled = Bundled::find(text).context("this is no file either")?;
        (bundled.name.to_owned(), bundled.source.to_owned())
    } else {
        let source = read(path).with_context(|| text.to_owned())?;
        (path.file_name().map_or_else(|| text.into(), |name| name.to_string_lossy().into_owned()), source)
    };
    match Study::parse(&source).with_context(|| text.to_owned())? {
        Study::Comparison(study) => Ok((name, *study)),
        Study::FirstStageGrowth(_) => anyhow::bail!("{text} is not a comparison; ldp reproduce runs it"),
    }
}

/// The text of a study file, which is never endless.
fn read(path: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    anyhow::ensure!(
        bytes.len() as u64 <= LARGEST_FILE,
        "a study file has at most {LARGEST_FILE} bytes, and this has more"
    );
    if let Some((what, hint)) = input::foreign(&bytes) {
        anyhow::bail!("this is {what}: {hint}");
    }
    String::from_utf8(bytes).map_err(|error| {
        let upto = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + upto.iter().filter(|&&byte| byte == b'\n').count();
        anyhow::anyhow!("line {line}: this is not text in UTF-8")
    })
}

/// Runs a study into its folder and prints what was found.
pub fn carry_out(common: &Common, name: &str, mut study: Comparison, order: &Order<'_>) -> anyhow::Result<()> {
    let started = Instant::now();
    let desk = Desk::default();
    desk.watch()?;
    study.seed = common.seed.unwrap_or(study.seed);
    let mut record = Record::new(name, study.clone(), order.shard)?;
    let outline = Outline::new(&study);
    let measurer = Measurer::new(&outline);
    let pool = pool(common)?;
    foresee::size(name, &outline)?;
    if outline.size() > UNASKED && !order.yes {
        let forecast = pool.install(|| forecast::forecast(&outline, &measurer, pool.current_num_threads()));
        anyhow::bail!("{name}: the study has up to {} points{forecast}; --yes runs it", outline.size());
    }
    let jobs = jobs(common, name, &outline, &measurer, &mut record)?;
    foresee::figure(&record, &outline, &jobs).with_context(|| format!("{name}: [figure]"))?;
    let mut journal = match folder::open(order.out, &record, order.overwrite)? {
        Found::Finished(mut known) => {
            // The same numbers; what is drawn of them, and how it is called, is what the study says now.
            (known.study, known.settings) = (record.study, study.clone());
            let drawn = put(&mut known, order.out, order.overwrite)?;
            print(common, &known, order.markdown)?;
            return drawn;
        }
        Found::Open(journal) => journal,
    };
    if !order.overwrite {
        own::check_begun(order.out)?;
    }
    let done: HashSet<u64> = journal.begin(&record)?.into_iter().collect();
    desk.take(journal, done.len(), jobs.len());
    work::work(&pool, &outline, &measurer, &jobs, &done, &desk, common.quiet)?;
    journal = desk.give()?;
    record.points = journal.points()?;
    dress::dress(&mut record)?;
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
    let drawn = draw(show::drawings(&record), order.out);
    journal.finish()?;
    print(common, &record, order.markdown)?;
    drawn
}

/// Puts what could be drawn into a folder.
fn draw(drawings: show::Drawings, out: &Path) -> anyhow::Result<()> {
    let show::Drawings { files, missing } = drawings;
    publish(out, &files)?;
    let Some((name, error)) = missing else { return Ok(()) };
    // One that was drawn before is not of what the folder holds now.
    folder::remove(out, &[name]);
    let place = out.join(name);
    Err(crate::exit::NotDrawn { file: place.display().to_string(), cause: format!("{error:#}") }.into())
}

/// Looks at every point before the first draw, and says which are to be run.
fn jobs(
    common: &Common,
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
    warnings.iter().for_each(|warning| warn(common.quiet, warning));
    Ok(jobs)
}

fn first_reason(record: &Record) -> String {
    record.skipped.first().map_or_else(String::new, |skipped| format!("{} at {}", skipped.reason, skipped.at))
}

/// Draws a record again, without computing anything.
fn redraw(common: &Common, record: &mut Record, out: &Path, overwrite: bool, markdown: bool) -> anyhow::Result<()> {
    let drawn = store(record, out, overwrite)?;
    print(common, record, markdown)?;
    drawn
}

/// Writes the files of a record into a folder. Whether it could be drawn is the inner result: the numbers are there.
pub fn store(record: &mut Record, out: &Path, overwrite: bool) -> anyhow::Result<anyhow::Result<()>> {
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
    put(record, out, overwrite)
}

/// Writes them into a folder that is of this record or empty. The record comes last: until then it tells what the other
/// files were made from.
fn put(record: &mut Record, out: &Path, overwrite: bool) -> anyhow::Result<anyhow::Result<()>> {
    dress::dress(record)?;
    let numbers: Files = show::numbers(record)?;
    let drawings = show::drawings(record);
    if !overwrite {
        let coming = numbers.iter().chain(&drawings.files).cloned().collect();
        own::check(out, &coming)?;
    }
    folder::make(out)?;
    let drawn = draw(drawings, out);
    publish(out, &numbers.into_iter().rev().collect())?;
    Ok(drawn)
}

/// Prints a record on standard output.
pub fn print(common: &Common, record: &Record, markdown: bool) -> anyhow::Result<()> {
    let text = match common.format {
        Format::Human if markdown => show::markdown(record),
        Format::Human => show::human(record),
        // As `show::numbers` has completed it for the file.
        Format::Json => record.text()?,
        Format::Csv => show::csv(record)?,
    };
    Ok(report::write(&text)?)
}
