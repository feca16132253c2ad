//! `ldp compare`: which protocol should I use, and what does it cost me?

use super::{pool, warn};
use crate::args::{Common, Compare, Format};
use crate::progress::Points;
use crate::report;
use anyhow::Context;
use ldp_catalog::Catalog;
use ldp_study::compare::{self, Desk, Observer, Outcome};
use ldp_study::input;
use ldp_study::record::Record;
use ldp_study::study::{Comparison, MOST_REPLICATIONS, Study};
use std::fs;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The study that is run if none is named.
const DEFAULT: &str = "default";
/// The most bytes of a study file.
const LARGEST_FILE: u64 = 1 << 20;
/// The exit code of a run that was stopped by Ctrl-C, as shells have it: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Runs a study, or draws a record again.
pub fn run(catalog: &Catalog, common: &Common, args: &Compare) -> anyhow::Result<()> {
    if let Some(from) = &args.from {
        let mut record = Record::read(from).with_context(|| "--from")?;
        if let Some(warning) = record.warning() {
            warn(common.quiet, &format!("{}: {warning}", from.display()));
        }
        // Nothing is computed.
        let drawn = compare::store(catalog, &mut record, &args.out, common.overwrite)?;
        print(common, &record, args.markdown)?;
        return drawn;
    }
    let (name, mut study) = find(catalog, args.study.as_deref().unwrap_or(DEFAULT))?;
    if let Some(replications) = args.replications {
        anyhow::ensure!(
            replications <= MOST_REPLICATIONS,
            "--replications {replications}: must be at most {MOST_REPLICATIONS}"
        );
        study.estimators.iter_mut().for_each(|contestant| contestant.replications = replications);
    }
    let (out, overwrite) = (args.out.as_path(), common.overwrite);
    let order = compare::Order { name: &name, out, shard: args.shard, yes: args.yes, overwrite };
    carry_out(catalog, common, study, &order, args.markdown)
}

/// The study that a name or a path means, and what it is called. A bundled name is that study whatever lies around: its
/// results may well be in a folder of the same name.
fn find(catalog: &Catalog, text: &str) -> anyhow::Result<(String, Comparison)> {
    let path = Path::new(text);
    let bundled = catalog.studies().iter().any(|bundled| bundled.name == text);
    let named = bundled || (!path.exists() && path.extension().is_none());
    let (name, source) = if named {
        let bundled = catalog.study(text).context("this is no file either")?;
        (bundled.name.to_owned(), bundled.source.to_owned())
    } else {
        let source = read(path).with_context(|| text.to_owned())?;
        (path.file_name().map_or_else(|| text.into(), |name| name.to_string_lossy().into_owned()), source)
    };
    match Study::parse(catalog, &source).with_context(|| text.to_owned())? {
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
pub fn carry_out(
    catalog: &Catalog,
    common: &Common,
    mut study: Comparison,
    order: &compare::Order<'_>,
    markdown: bool,
) -> anyhow::Result<()> {
    let desk = Desk::default();
    watch(&desk)?;
    study.seed = common.seed.unwrap_or(study.seed);
    let bar = Bar { quiet: common.quiet, shown: Mutex::new(None) };
    let Outcome { record, drawn } = compare::carry_out(catalog, &study, order, &pool(common)?, &desk, &bar)?;
    print(common, &record, markdown)?;
    drawn
}

/// From now on Ctrl-C says what is on disk, and that the same command goes on from there.
fn watch(desk: &Desk) -> anyhow::Result<()> {
    let desk = desk.clone();
    let handler = move || {
        desk.interrupt(|said| {
            let mut stderr = std::io::stderr();
            // On a terminal a bar may stand in the line.
            let clear = if stderr.is_terminal() { "\r\x1b[2K" } else { "" };
            // If standard error is gone there is nobody left to tell.
            let _ = writeln!(stderr, "{clear}{said}");
            std::process::exit(INTERRUPTED);
        })
    };
    ctrlc::set_handler(handler).context("Ctrl-C cannot be watched")
}

/// What is shown of a run on standard error.
struct Bar {
    quiet: bool,
    shown: Mutex<Option<Points>>,
}

impl Bar {
    fn show(&self, show: impl FnOnce(&mut Option<Points>)) {
        // A bar that a panicking thread has left behind is no reason to stop.
        show(&mut self.shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Bar {
    fn warn(&self, text: &str) {
        warn(self.quiet, text);
    }

    fn begin(&self, total: usize, done: usize, work: f64) {
        self.show(|bar| *bar = Some(Points::new(total, done, work, self.quiet)));
    }

    fn advance(&self, work: f64) {
        self.show(|bar| bar.iter().for_each(|bar| bar.advance(work)));
    }

    fn done(&self, done: usize) {
        self.show(|bar| bar.iter().for_each(|bar| bar.done(done)));
    }

    fn end(&self) {
        self.show(|bar| *bar = None);
    }
}

/// Prints a record on standard output.
pub fn print(common: &Common, record: &Record, markdown: bool) -> anyhow::Result<()> {
    let text = match common.format {
        Format::Human if markdown => compare::markdown(record),
        Format::Human => {
            let (table, notes) = (report::laid_out(compare::table(record)), compare::notes(record).join("\n"));
            format!("{}\n{table}\n{notes}\n", record.settings.title)
        }
        // As it was completed for the file.
        Format::Json => record.text()?,
        Format::Csv => compare::csv(record)?,
    };
    Ok(report::write(&text)?)
}
