//! The folder of a study: what is done is on disk at once, and what is finished replaces what was there in one step.

use crate::bounded;
use crate::error::OutputError;
use crate::record::{COMMAND, MOST_BYTES, Point, Record, SCHEMA, Shard, digest};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Points that are done, until all are: a header, then one of them a line, in the order in which they were done.
pub const JOURNAL: &str = "points.jsonl";
/// Every other file of a study.
pub const FILES: [&str; 6] = ["record.json", "data.csv", "figure.svg", "figure.png", "report.html", "run.json"];

/// Files by their names.
pub type Files = Vec<(&'static str, Vec<u8>)>;

/// The first line of a journal: whose points they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    schema: u32,
    command: String,
    version: String,
    fingerprint: String,
    shard: Option<Shard>,
}

/// Every other line: a point, and the digest of its text.
#[derive(Serialize, Deserialize)]
struct Line {
    digest: String,
    point: Point,
}

impl Line {
    fn of(point: &Point) -> anyhow::Result<Self> {
        Ok(Self { digest: digest(&serde_json::to_string(point)?), point: point.clone() })
    }

    /// The point, if it is the one that was written.
    fn read(text: &str) -> anyhow::Result<Point> {
        let line: Self = serde_json::from_str(text)?;
        let found = digest(&serde_json::to_string(&line.point)?);
        anyhow::ensure!(
            line.digest == found,
            "this point has been changed since it was written: its digest is {found}, and the line says {}",
            line.digest
        );
        Ok(line.point)
    }
}

/// What is in a folder.
pub enum Found {
    /// A finished record of the same study.
    Finished(Box<Record>),
    /// Nothing, or the same study, begun: go on.
    Open(Journal),
}

/// Opens the folder of a study, unless something else is in it. `record` says which study.
pub fn open(path: &Path, record: &Record, overwrite: bool) -> anyhow::Result<Found> {
    let place = || format!("--out {}", path.display());
    let made = !path.exists();
    make(path)?;
    let mut journal = Journal::open(path, made)?;
    let header = Header::of(record);
    const HINT: &str = "; take another folder, or --overwrite";
    match journal.header() {
        // Also under --overwrite: it was this study that was begun so.
        Ok(Some(found)) if found == header => return Ok(Found::Open(journal)),
        _ if overwrite => {
            journal.empty()?;
            return Ok(Found::Open(journal));
        }
        Ok(Some(found)) => anyhow::bail!("{}: {JOURNAL} holds {}{HINT}", place(), found.unlike(&header)),
        Ok(None) => {}
        Err(error) => return Err(error.context(format!("{}: not a study that can be gone on with{HINT}", place()))),
    }
    if !path.join(FILES[0]).exists() {
        let foreign = FILES.iter().find(|name| path.join(name).exists());
        anyhow::ensure!(
            foreign.is_none(),
            "{}: {} is there already, and not from a study{HINT}",
            place(),
            foreign.copied().unwrap_or_default()
        );
        return Ok(Found::Open(journal));
    }
    let known =
        Record::read(path).with_context(|| format!("{}: not a study that can be gone on with{HINT}", place()))?;
    let found = Header::of(&known);
    anyhow::ensure!(found == header, "{}: record.json holds {}{HINT}", place(), found.unlike(&header));
    Ok(Found::Finished(Box::new(known)))
}

impl Header {
    fn of(record: &Record) -> Self {
        Self {
            schema: record.schema,
            command: COMMAND.into(),
            version: record.version.clone(),
            fingerprint: record.fingerprint.clone(),
            shard: record.shard,
        }
    }

    /// How this one differs, in words.
    fn unlike(&self, wanted: &Self) -> String {
        if (self.schema, &self.command) != (wanted.schema, &wanted.command) {
            return format!("a record of schema {}, and this version of ldp writes schema {SCHEMA}", self.schema);
        }
        if self.version != wanted.version {
            return format!("what version {} of ldp found, and this is version {}", self.version, wanted.version);
        }
        if self.fingerprint != wanted.fingerprint {
            return "another study".into();
        }
        self.shard.map_or_else(|| "the whole study, not a shard".into(), |shard| format!("shard {shard} of this study"))
    }
}

/// The points that are done, on disk.
pub struct Journal {
    file: File,
    folder: PathBuf,
    /// Taken away again if nothing comes of it: the file, or also the folder.
    fresh: Option<bool>,
    /// The length of the lines that are whole.
    length: u64,
}

impl Journal {
    fn open(folder: &Path, made: bool) -> anyhow::Result<Self> {
        let path = folder.join(JOURNAL);
        let place = || format!("--out {}", folder.display());
        let fresh = !path.exists();
        anyhow::ensure!(fresh || path.is_file(), "{}: {JOURNAL} is there already, and not a file", place());
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.with_context(|| format!("{}: the folder cannot be written", place()))?;
        // Two runs in one folder would write between each other's lines.
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
            anyhow::bail!("{}: another run is writing there", place());
        }
        Ok(Self { file, folder: folder.to_owned(), fresh: fresh.then_some(made), length: 0 })
    }

    fn empty(&mut self) -> anyhow::Result<()> {
        self.length = 0;
        Ok(self.file.set_len(0).map_err(OutputError)?)
    }

    /// The text so far, without a last line that was torn when the program was stopped.
    fn text(&self) -> anyhow::Result<String> {
        let place = || self.folder.join(JOURNAL).display().to_string();
        let mut file = &self.file;
        let bytes = file.seek(SeekFrom::Start(0)).map_err(OutputError).map_err(Into::into);
        let mut bytes = bytes.and_then(|_| bounded::bytes(file, MOST_BYTES)).with_context(place)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        bytes.truncate(whole);
        String::from_utf8(bytes).with_context(|| format!("{}: not text", place()))
    }

    fn header(&self) -> anyhow::Result<Option<Header>> {
        let text = self.text()?;
        let Some(first) = text.lines().next() else { return Ok(None) };
        let header = serde_json::from_str(first);
        header.map(Some).with_context(|| format!("{}: not the points of a study", self.folder.join(JOURNAL).display()))
    }

    /// Goes on where it stopped, or begins; returns the numbers of the points that are done.
    pub fn begin(&mut self, record: &Record) -> anyhow::Result<Vec<u64>> {
        let text = self.text()?;
        if text.is_empty() {
            self.length = 0;
            self.line(&Header::of(record))?;
            return Ok(Vec::new());
        }
        self.fresh = None;
        self.length = text.len() as u64;
        Ok(self.points()?.iter().map(|point| point.index).collect())
    }

    /// One more is done. It is on disk when this returns.
    pub fn append(&mut self, point: &Point) -> anyhow::Result<()> {
        self.line(&Line::of(point)?)
    }

    fn line(&mut self, content: &impl Serialize) -> anyhow::Result<()> {
        let line = serde_json::to_string(content)? + "\n";
        let mut file = &self.file;
        // From where the last whole line ends, over what may be torn.
        let written = (file.set_len(self.length))
            .and_then(|()| file.seek(SeekFrom::Start(self.length)))
            .and_then(|_| file.write_all(line.as_bytes()))
            .and_then(|()| file.sync_data());
        written.map_err(OutputError).with_context(|| self.folder.join(JOURNAL).display().to_string())?;
        self.length += line.len() as u64;
        self.fresh = None;
        Ok(())
    }

    /// All points so far, in the order of the study.
    pub fn points(&self) -> anyhow::Result<Vec<Point>> {
        let place = |number: usize| format!("{} line {}", self.folder.join(JOURNAL).display(), number + 1);
        let text = self.text()?;
        let mut points = (text.lines().enumerate().skip(1))
            .map(|(number, line)| Line::read(line).with_context(|| place(number)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        points.sort_by_key(|point| point.index);
        points.dedup_by_key(|point| point.index);
        Ok(points)
    }

    /// Puts finished files in place: from now on what was found is in them as well as here.
    pub fn keep(&mut self, files: &Files) -> anyhow::Result<()> {
        self.fresh = None;
        publish(&self.folder, files)
    }

    /// Puts the journal away: everything is in the files.
    pub fn finish(self) -> anyhow::Result<()> {
        fs::remove_file(self.folder.join(JOURNAL)).map_err(OutputError)?;
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if let Some(made) = self.fresh {
            // The run has failed already, and says why. Only an empty folder can be removed like this.
            let _ = fs::remove_file(self.folder.join(JOURNAL));
            if made {
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}

/// Makes a folder and sees whether it can be written, before there is anything to write: a wrong path is bad input.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    let place = || format!("--out {}", folder.display());
    anyhow::ensure!(!folder.exists() || folder.is_dir(), "{}: this is not a folder", place());
    fs::create_dir_all(folder).with_context(|| format!("{}: the folder cannot be made", place()))?;
    let probe = folder.join(".probe.partial");
    let probed = File::create(&probe).and_then(|_| fs::remove_file(&probe));
    probed.with_context(|| format!("{}: the folder cannot be written", place()))
}

/// Writes files so that each is there as a whole or not at all: under another name first, always the same, so that nothing
/// is left of a run that was killed just then once another has ended.
pub fn publish(folder: &Path, files: &Files) -> anyhow::Result<()> {
    let partial = |name: &str| folder.join(format!(".{name}.partial"));
    let write = |path: PathBuf, content: &[u8]| {
        let mut file = File::create(path)?;
        file.write_all(content)?;
        file.sync_all()
    };
    for (name, content) in files {
        let written = write(partial(name), content).and_then(|()| fs::rename(partial(name), folder.join(name)));
        written.map_err(OutputError).with_context(|| folder.join(name).display().to_string())?;
    }
    Ok(())
}

/// Takes files away that are no longer true, if they are there.
pub fn remove(folder: &Path, names: &[&str]) {
    for name in names {
        // What cannot be taken away is said to be missing all the same.
        let _ = fs::remove_file(folder.join(name));
    }
}
