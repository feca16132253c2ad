//! A user's file becomes a column of numbers, one row per user.
//!
//! ```text
//! path or standard input ─ source ─┬─ csv ───┬─ records ─┐
//!                                  ├─ lines ─┘           ├─ sink ── spool
//!                                  └─ parquet ───────────┘
//! ```
//!
//! Whatever the layout, every cell passes through one `Sink`, which decides what a number is, and ends in one
//! [`Spool`], a temporary file of 8-byte values that a protocol can read in any order. Nothing grows with the number
//! of rows: text is scanned byte by byte and only the wanted cell is kept (at most 2 KiB of it), Parquet is
//! decoded page by page.
//!
//! # Which layout
//!
//! 1. the one asked for in [`Options::layout`];
//! 2. else by extension: `.csv`, `.tsv`, `.parquet`, `.pq`;
//! 3. else (standard input, `.txt`, anything) by the first line: Parquet if it begins with `PAR1`, CSV if a column
//!    was asked for, the line has a comma or it is a name, and otherwise one number a line.

#![cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "only Parquet has nulls, types and row groups"))]

mod columns;
mod csv;
mod error;
mod hints;
mod lines;
mod records;
mod sink;
mod source;
mod spool;

#[cfg(feature = "parquet")]
mod guard;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

use ldp_core::model::Support;

pub use error::InputError;
pub use hints::foreign;
pub use spool::Spool;

use sink::Sink;
use source::Source;

/// How much of the first line is looked at for hints.
const HINTING: usize = 1000;

/// How the values lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Comma-separated cells, quoted as in RFC 4180
    Csv,
    /// The same with tabs
    Tsv,
    /// One number a line, no header
    Lines,
    /// Apache Parquet
    Parquet,
    /// Cells separated by semicolons, quoted as in CSV
    Semicolon,
}

/// What to read, and how to treat what is not a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The column's name, or its number counted from 1; `None` is enough if there is only one.
    ///
    /// A name wins over a number.
    pub column: Option<String>,
    /// Whether the first line of a CSV file holds the names (`--no-header` says no).
    pub header: bool,
    /// The layout, if it is not to be guessed.
    pub layout: Option<Layout>,
    /// Count and skip cells that are not finite numbers, or not values that can be, instead of refusing the file.
    pub skip_invalid: bool,
    /// What a value can be; `None` for any finite number.
    pub values: Option<Allowed>,
}

/// What a value can be, and who says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Allowed {
    /// The model.
    pub model: String,
    /// Where its values lie.
    pub support: Support,
}

impl Default for Options {
    /// The only column of a file with a header, every cell a number.
    fn default() -> Self {
        Self { column: None, header: true, layout: None, skip_invalid: false, values: None }
    }
}

/// A column that was read to its end.
#[derive(Debug)]
pub struct Column {
    /// The values, in the order of the file. At least one.
    pub spool: Spool,
    /// How many rows were left out under [`Options::skip_invalid`].
    pub skipped: u64,
}

/// Reads one column of the file at `path`, or of standard input if `path` is `-`.
///
/// `progress` is called every 65,536 rows, and at the end, with the number of rows seen so far.
///
/// # Errors
///
/// If the file cannot be read, has no such column, has a cell that is not a finite number, or has no rows; see
/// [`InputError`]. Nothing is kept of a file that failed.
pub fn read(path: &Path, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Column, InputError> {
    column_of(Source::open(path)?, options, progress)
}

fn column_of(source: Source, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Column, InputError> {
    let layout = options.layout.unwrap_or_else(|| source.layout(options.column.is_some(), options.header));
    if layout != Layout::Parquet
        && let Some((what, hint)) = source.foreign()
    {
        return Err(InputError::Foreign { file: source.name().to_owned(), what, hint });
    }
    // As far as it may say what is wrong with the rest.
    let first_line = source.first_line()[..source.first_line().len().min(HINTING)].to_vec();
    column_in(source, layout, options, progress).map_err(|error| hints::hinted(error, layout, &first_line))
}

fn column_in(
    source: Source,
    layout: Layout,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Column, InputError> {
    // The temporary file comes first: a full disk should not wait for the end of the input to show.
    let mut sink = Sink::new(source.name().to_owned(), options, progress)?;
    match layout {
        Layout::Csv => csv::read(source, b',', options, &mut sink)?,
        Layout::Tsv => csv::read(source, b'\t', options, &mut sink)?,
        Layout::Semicolon => csv::read(source, b';', options, &mut sink)?,
        Layout::Lines => lines::read(source, options, &mut sink)?,
        #[cfg(feature = "parquet")]
        Layout::Parquet => parquet::read(source, options, &mut sink)?,
        #[cfg(not(feature = "parquet"))]
        Layout::Parquet => {
            return Err(InputError::WithoutParquet { file: source.name().to_owned() });
        }
    }
    sink.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ldp_simulate::RowStore;

    use super::*;

    /// The values of a stream named `name`, and how many were skipped.
    pub(super) fn values(name: &str, bytes: &[u8], options: &Options) -> Result<(Vec<f64>, u64), InputError> {
        let source = Source::stream(name, std::io::Cursor::new(bytes.to_vec()))?;
        // What the first line adds to an error has tests of its own.
        let plain = |error| if let InputError::Hinted { error, .. } = error { *error } else { error };
        column_of(source, options, &mut |_| ()).map(all).map_err(plain)
    }

    /// The values of a file.
    pub(super) fn values_at(path: &Path, options: &Options) -> Result<(Vec<f64>, u64), InputError> {
        read(path, options, &mut |_| ()).map(all)
    }

    fn all(mut column: Column) -> (Vec<f64>, u64) {
        let mut values = Vec::new();
        column
            .spool
            .scan(&mut |row, value| {
                assert_eq!(row, values.len() as u64);
                values.push(value);
                Ok(())
            })
            .unwrap();
        (values, column.skipped)
    }

    pub(super) fn named(column: &str) -> Options {
        Options { column: Some(column.to_owned()), ..Options::default() }
    }

    #[test]
    fn the_layout_follows_the_extension_then_the_first_line() {
        let layout =
            |name: &str, bytes: &'static [u8], column| Source::stream(name, bytes).unwrap().layout(column, true);
        assert_eq!(layout("a.csv", b"1\n2\n", false), Layout::Csv);
        assert_eq!(layout("a.CSV", b"1\n2\n", false), Layout::Csv);
        assert_eq!(layout("a.tsv", b"1\n2\n", false), Layout::Tsv);
        assert_eq!(layout("a.parquet", b"1\n2\n", false), Layout::Parquet);
        assert_eq!(layout("a.pq", b"1\n2\n", false), Layout::Parquet);
        for name in ["a.txt", "a.dat", "a", "standard input"] {
            assert_eq!(layout(name, b"1\n2,3\n", false), Layout::Lines);
            assert_eq!(layout(name, b"1\n2\n", true), Layout::Csv);
            assert_eq!(layout(name, b"x,y\n2,3\n", false), Layout::Csv);
            assert_eq!(layout(name, b"PAR1\x15\x04", false), Layout::Parquet);
            assert_eq!(layout(name, b"", false), Layout::Lines);
            assert_eq!(layout(name, b"height\n2\n", false), Layout::Csv);
            assert_eq!(layout(name, b"n/a\n2\n", false), Layout::Lines);
            assert_eq!(Source::stream(name, &b"height\n2\n"[..]).unwrap().layout(false, false), Layout::Lines);
        }
    }

    #[test]
    fn what_cannot_be_read_comes_with_a_hint() {
        let said = |name: &str, bytes: &[u8], options: &Options| {
            let source = Source::stream(name, std::io::Cursor::new(bytes.to_vec())).unwrap();
            column_of(source, options, &mut |_| ()).err().unwrap().to_string()
        };
        let usual = Options::default();
        for name in ["a.csv", "a.txt", "standard input"] {
            assert!(said(name, b"\x1f\x8b\x08rest", &usual).contains("compressed by gzip: unpack it first"));
            assert!(said(name, b"id;height\n1;171,5\n", &named("height")).contains("--layout semicolon reads them"));
            assert!(said(name, b"x;\n1;\n", &usual).contains("--layout semicolon"));
            assert!(said(name, b"171,5\n", &Options { header: false, ..usual.clone() }).contains("decimal one"));
            assert!(said(name, b"x\n\"1,5\"\n", &usual).contains("a decimal point, not with a comma"));
        }
        let lines = Options { layout: Some(Layout::Lines), ..usual.clone() };
        assert!(said("-", b"height\n1\n", &lines).contains("--layout csv"));
        let semicolon = Options { layout: Some(Layout::Semicolon), ..named("height") };
        assert_eq!(values("a.csv", b"id;height\n1;171.5\n", &semicolon).unwrap().0, [171.5]);
        assert!(said("a.csv", b"id;height\n1;171,5\n", &semicolon).contains("a decimal point"));
        assert_eq!(values("standard input", b"height\n171\n172\n", &usual).unwrap().0, [171.0, 172.0]);
    }

    #[test]
    fn the_layout_asked_for_wins() {
        let options = Options { layout: Some(Layout::Lines), ..Options::default() };
        assert_eq!(values("a.csv", b"1\n2\n", &options).unwrap().0, [1.0, 2.0]);
    }

    #[test]
    fn progress_counts_every_row_and_ends_with_the_total() {
        let text = "1\n".repeat(200_000);
        let source = Source::stream("a.txt", std::io::Cursor::new(text)).unwrap();
        let mut seen = Vec::new();
        column_of(source, &Options::default(), &mut |rows| seen.push(rows)).unwrap();
        assert_eq!(seen, [65_536, 131_072, 196_608, 200_000]);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.csv");
        let error = read(&missing, &Options::default(), &mut |_| ()).unwrap_err();
        assert!(matches!(&error, InputError::Open { source, .. } if source.kind() == std::io::ErrorKind::NotFound));
        assert!(error.to_string().starts_with(&format!("cannot open {}: ", missing.display())), "{error}");

        let error = read(folder.path(), &Options::default(), &mut |_| ()).unwrap_err();
        assert!(matches!(&error, InputError::Open { source, .. } if source.kind() == std::io::ErrorKind::IsADirectory));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_permission_is_named_with_the_reason() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.csv");
        fs::write(&path, "x\n1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        // Root may read everything, so that there is nothing to see for it.
        if fs::File::open(&path).is_err() {
            let error = read(&path, &Options::default(), &mut |_| ()).unwrap_err();
            assert!(
                matches!(&error, InputError::Open { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied)
            );
        }
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn parquet_needs_its_feature() {
        let error = values("a.parquet", b"PAR1", &Options::default()).unwrap_err();
        assert!(matches!(error, InputError::WithoutParquet { .. }));
    }

    #[test]
    fn a_file_is_read_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "id,x\n1,0.5\n2,-3\n").unwrap();
        assert_eq!(values_at(&path, &named("x")).unwrap(), (vec![0.5, -3.0], 0));
    }
}
