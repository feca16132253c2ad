//! What can be wrong with a user's file, in words that are enough to mend it.
//!
//! What a cell holds is shown on a terminal alone, to the person who owns the file. In a log or a pipe there is its line and
//! column, and no more.

use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use ldp_catalog::text::counted;
use thiserror::Error;

/// How many characters of a cell or name a message shows.
const SHOWN: usize = 40;
/// How many column names a message lists.
const LISTED: usize = 20;

/// What can be wrong with a user's file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file is missing, is a folder, or may not be read.
    #[error("cannot open {file}: {source}")]
    Open {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Reading stopped in the middle.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The temporary file could not be made, written or read.
    #[error("cannot use a temporary file in {}: {source}", folder.display())]
    Spool {
        /// Where temporary files go.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A row that the column does not have.
    #[error("row {row} does not exist: there are {rows}, counted from 0")]
    NoSuchRow {
        /// The row asked for.
        row: u64,
        /// How many there are.
        rows: u64,
    },
    /// A cell that is not a finite number.
    #[error("{file}: {place}{column}: expected a finite number, found {found} (--skip-invalid skips such rows)")]
    Cell {
        /// The file.
        file: String,
        /// The line or row.
        place: Place,
        /// The column.
        column: Label,
        /// What is there instead.
        found: Found,
    },
    /// A number that the model does not have. It is not shown: it may be anybody's.
    #[error("{file}: {place}{column}: a value of {model} must be {support} (--skip-invalid skips others)")]
    Impossible {
        /// The file.
        file: String,
        /// The line or row.
        place: Place,
        /// The column.
        column: Label,
        /// The model.
        model: String,
        /// What its values are.
        support: String,
    },
    /// Nothing to read: an empty file, a header only, or nothing but invalid rows.
    #[error("{file}: {}", no_rows(*skipped))]
    NoRows {
        /// The file.
        file: String,
        /// How many invalid rows were skipped.
        skipped: u64,
    },
    /// Bytes that are no text in UTF-8, nor Parquet where that was expected.
    #[error("{file}: this is {what}: {hint}")]
    Foreign {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// Something that the first line explains.
    #[error("{error}; {hint}")]
    Hinted {
        /// What is wrong.
        error: Box<InputError>,
        /// Why, perhaps, and what to do.
        hint: &'static str,
    },
    /// Several columns, and none was asked for.
    #[error("{file}: choose one column with --column, available: {available}")]
    ColumnNeeded {
        /// The file.
        file: String,
        /// The columns there are.
        available: Names,
    },
    /// A column that is not in the file.
    #[error("{file}: no column \"{}\"{}, available: {available}", shown(column), did_you_mean(nearest.as_deref()))]
    UnknownColumn {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
        /// The columns there are.
        available: Names,
        /// The most similar name, if one is close.
        nearest: Option<String>,
    },
    /// A name that several columns share.
    #[error("{file}: {count} columns are named \"{}\": give the number of one, counted from 1", shown(column))]
    AmbiguousColumn {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
        /// How many have that name.
        count: usize,
    },
    /// A header that looks like data. It would silently lose the first row.
    #[error(
        "{file}: the header of column {number} is {}: give --no-header if the first line is data, or --column {} if it is a name",
        numeric(header, "the number ", "a number"),
        numeric(header, "", "with it")
    )]
    NumericHeader {
        /// The file.
        file: String,
        /// The column, counted from 1.
        number: usize,
        /// Its header.
        header: String,
    },
    /// A first line too long to be a row of a table.
    #[error("{file}: the first line must be at most {limit} bytes, found more")]
    LongFirstLine {
        /// The file.
        file: String,
        /// The largest length accepted.
        limit: usize,
    },
    /// A line with another number of cells than the first.
    #[error("{file}: line {line}: expected {} as in the first line, found {found}", counted(*expected as u64, "cell"))]
    Ragged {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// How many cells the first line has.
        expected: usize,
        /// How many this one has.
        found: usize,
    },
    /// A quote that hides the rest of the file.
    #[error("{file}: line {line}: a quote is opened and never closed")]
    OpenQuote {
        /// The file.
        file: String,
        /// The line where the record begins, counted from 1.
        line: u64,
    },
    /// A file without the Parquet signature.
    #[error("{file}: not a Parquet file: it does not begin with PAR1")]
    NotParquet {
        /// The file.
        file: String,
    },
    /// A Parquet file that is damaged, or that uses an unsupported compression.
    #[error("{file}: cannot decode the Parquet file: {source}")]
    Parquet {
        /// The file.
        file: String,
        /// Why decoding stopped.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A Parquet file or row group with another number of rows than it announces.
    #[error("{file}: damaged Parquet file: {expected} rows were announced, found {found}")]
    RowCount {
        /// The file.
        file: String,
        /// The rows announced.
        expected: i64,
        /// The rows that could be read.
        found: u64,
    },
    /// A Parquet column of a type that is not a number.
    #[error(
        "{file}: column \"{}\" has type {found}: expected DOUBLE, FLOAT, or INT32 or INT64 as integer or decimal",
        shown(column)
    )]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A Parquet column inside a group or list.
    #[error("{file}: column \"{}\" is nested or repeated: expected one value per row", shown(column))]
    NestedColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A Parquet file, and a program without Parquet.
    #[error("{file}: this program was built without Parquet support (feature \"parquet\")")]
    WithoutParquet {
        /// The file.
        file: String,
    },
}

/// Where a cell is, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The line of a text file on which the record begins.
    Line(u64),
    /// The row of a Parquet file.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Row(number) => write!(f, "row {number}"),
        }
    }
}

/// The column a cell is in, as the file calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// One number a line: there are no columns.
    Only,
    /// A column without a name, counted from 1.
    Number(usize),
    /// A column with a name.
    Name(String),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only => Ok(()),
            Self::Number(number) => write!(f, ", column {number}"),
            Self::Name(name) => write!(f, ", column \"{}\"", shown(name)),
        }
    }
}

/// What is in a cell instead of a finite number.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nothing, or only spaces.
    Empty,
    /// A Parquet null.
    Null,
    /// Text that is not a number or overflows; its beginning, with control characters escaped.
    Text(String),
    /// NaN or an infinity.
    NotFinite(f64),
    /// An integer with more digits than a 64-bit real number holds.
    Integer(i128),
}

impl Found {
    /// What a text cell holds.
    pub(super) fn text(cell: &[u8]) -> Self {
        // Four bytes at most per character shown, so that a huge cell is not converted whole.
        let beginning = &cell[..cell.len().min(4 * (SHOWN + 1))];
        if cell.is_empty() { Self::Empty } else { Self::Text(shown(&String::from_utf8_lossy(beginning))) }
    }
}

impl Found {
    /// In words; with the value only for the one who may see it.
    fn told(&self, openly: bool) -> String {
        match self {
            Self::Empty => "an empty cell".into(),
            Self::Null => "null".into(),
            Self::Text(text) if openly => format!("\"{text}\""),
            Self::Text(_) => "something else".into(),
            Self::NotFinite(value) if openly => value.to_string(),
            Self::NotFinite(_) => "one that is not finite".into(),
            Self::Integer(value) if openly => format!("{value}, above 2^53 in absolute value and so not exact"),
            Self::Integer(_) => "an integer above 2^53 in absolute value, and so not exact".into(),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(openly()))
    }
}

/// Whether messages are read by a person at a terminal, rather than kept in a log.
fn openly() -> bool {
    io::stderr().is_terminal()
}

/// A header that may be the value of a user.
fn numeric(header: &str, before: &str, otherwise: &str) -> String {
    if openly() { format!("{before}{}", shown(header)) } else { otherwise.to_owned() }
}

/// The columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// Names, in order.
    Named(Vec<String>),
    /// This many without names.
    Numbered(usize),
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // They may be the first user's values, of a file without names.
            Self::Named(names) if !openly() && names.iter().any(|name| name.parse::<f64>().is_ok()) => {
                write!(f, "1 to {}, not shown here because there is a number among the names", names.len())
            }
            Self::Named(names) => {
                for (index, name) in names.iter().take(LISTED).enumerate() {
                    write!(f, "{}\"{}\"", if index == 0 { "" } else { ", " }, shown(name))?;
                }
                if names.len() > LISTED { write!(f, " and {} more", names.len() - LISTED) } else { Ok(()) }
            }
            Self::Numbered(1) => f.write_str("1, without a name"),
            Self::Numbered(count) => write!(f, "1 to {count}, without names"),
        }
    }
}

/// The beginning of a text, safe to print: a cell may hold terminal control sequences.
pub(super) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean \"{}\"?)", shown(name))).unwrap_or_default()
}

fn no_rows(skipped: u64) -> String {
    match skipped {
        0 => "expected at least one row of data, found none".to_owned(),
        1 => "expected at least one finite number, found none: the only row was skipped as invalid".to_owned(),
        _ => format!("expected at least one finite number, found none: all {skipped} rows were skipped as invalid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_cell_is_named_by_file_line_and_column() {
        let error = InputError::Cell {
            file: "data.csv".to_owned(),
            place: Place::Line(17),
            column: Label::Name("x".to_owned()),
            found: Found::text(b"abc"),
        };
        assert_eq!(
            error.to_string().replace("\"abc\"", "something else"),
            "data.csv: line 17, column \"x\": expected a finite number, found something else (--skip-invalid skips such rows)"
        );
    }

    #[test]
    fn only_the_owner_sees_what_a_cell_holds() {
        for (found, value) in
            [(Found::text(b"secret"), "secret"), (Found::NotFinite(f64::INFINITY), "inf"), (Found::Integer(77), "77")]
        {
            assert!(found.told(true).contains(value) && !found.told(false).contains(value), "{found:?}");
        }
    }

    #[test]
    fn a_cell_is_shortened_and_cannot_control_the_terminal() {
        assert_eq!(Found::text(b"\x1b[31mred\n").told(true), r#""\u{1b}[31mred\n""#);
        assert_eq!(Found::text("é".repeat(1000).as_bytes()), Found::Text("é".repeat(40) + "…"));
        assert_eq!(Found::text(b"\xff"), Found::Text("\u{fffd}".to_owned()));
    }

    #[test]
    fn a_long_list_of_columns_is_cut() {
        let names = Names::Named((0..25).map(|index| format!("c{index}")).collect());
        assert!(names.to_string().ends_with("\"c19\" and 5 more"), "{names}");
    }
}
