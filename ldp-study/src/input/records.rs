//! Text in records and cells, scanned byte by byte.
//!
//! # Design
//!
//! The `csv` crate would be the obvious choice. Measured on version 1.4, and each a reason against it here: after a
//! CRLF the line it reports is one too small (and another one less for each blank line), so that error messages
//! would point at the wrong line; a blank line in the middle of a one-column file, which is a missing value, is
//! dropped silently; a quote that is never closed makes the rest of the file one cell, also silently, and in
//! memory. This scanner reads the same cells (the tests compare the two), counts lines exactly, and holds nothing
//! but the current byte: the caller keeps the cells it wants.

use std::io::{self, BufRead, BufReader, Read};

use super::error::{Found, InputError, Place};
use super::sink::{LONGEST, Sink};

/// Bytes read at once.
const BUFFER: usize = 256 * 1024;

/// How cells are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// By this byte; a cell that begins with a double quote runs to the closing one, and `""` inside is a quote.
    Separated(u8),
    /// Not at all: a line is a cell, whatever is in it.
    Line,
}

/// A record that has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    /// The line on which it begins, counted from 1.
    pub line: u64,
    /// How many cells it has, at least one.
    pub cells: usize,
    /// How many blank lines are directly before it.
    pub blank: u64,
}

/// Where the scanner is inside a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a cell.
    Start,
    /// After spaces at the beginning of a cell.
    Padding,
    /// In a cell without quotes, or after the closing quote.
    Bare,
    /// Between quotes.
    Quoted,
    /// After a quote between quotes: it closes, or the next one makes it a literal quote.
    Quote,
}

/// A scanner of records. Lines end with LF, CRLF or CR.
pub(super) struct Records<R> {
    name: String,
    input: BufReader<R>,
    syntax: Syntax,
    /// The current line, counted from 1.
    line: u64,
    /// Whether the last byte was CR, so that an LF now belongs to it.
    after_return: bool,
}

impl<R: Read> Records<R> {
    /// A scanner of `input`, called `name` in messages.
    pub fn new(name: String, input: R, syntax: Syntax) -> Self {
        Self { name, input: BufReader::with_capacity(BUFFER, input), syntax, line: 1, after_return: false }
    }

    /// What messages call the input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Scans the next record that is not a blank line, giving `keep` each byte with its cell, counted from 0.
    ///
    /// Spaces at the beginning of a cell without quotes are left out. Blank lines at the end of the input are ignored.
    pub fn next(&mut self, mut keep: impl FnMut(usize, u8)) -> Result<Option<Record>, InputError> {
        let separator = match self.syntax {
            Syntax::Separated(byte) => Some(byte),
            Syntax::Line => None,
        };
        let mut record = Record { line: self.line, cells: 1, blank: 0 };
        let mut state = State::Start;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    return Err(InputError::Read { file: self.name.clone(), source });
                }
            };
            if bytes.is_empty() {
                return match state {
                    State::Quoted => Err(InputError::OpenQuote { file: self.name.clone(), line: record.line }),
                    State::Start | State::Padding if record.cells == 1 => Ok(None),
                    _ => Ok(Some(record)),
                };
            }
            let mut ended = None;
            for (index, &byte) in bytes.iter().enumerate() {
                let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
                let line_feed_of_return = byte == b'\n' && after_return;
                let cell = record.cells - 1;
                match (state, byte) {
                    (State::Quoted, b'"') => state = State::Quote,
                    (State::Quoted, _) => {
                        self.line += u64::from(matches!(byte, b'\r' | b'\n') && !line_feed_of_return);
                        keep(cell, byte);
                    }
                    (State::Quote, b'"') => {
                        state = State::Quoted;
                        keep(cell, byte);
                    }
                    (_, b'\n') if line_feed_of_return => (),
                    (_, b'\r' | b'\n') => {
                        self.line += 1;
                        if record.cells > 1 || !matches!(state, State::Start | State::Padding) {
                            ended = Some(index + 1);
                            break;
                        }
                        record.blank += 1;
                        record.line = self.line;
                        state = State::Start;
                    }
                    _ if Some(byte) == separator => {
                        record.cells += 1;
                        state = State::Start;
                    }
                    (State::Start, b'"') if separator.is_some() => state = State::Quoted,
                    (State::Start | State::Padding, b' ' | b'\t') => state = State::Padding,
                    _ => {
                        state = State::Bare;
                        keep(cell, byte);
                    }
                }
            }
            let used = ended.unwrap_or(bytes.len());
            self.input.consume(used);
            if ended.is_some() {
                return Ok(Some(record));
            }
        }
    }

    /// Gives the rest of the records to `sink`: cell `wanted`, counted from 0, of `width`.
    pub fn feed(mut self, width: usize, wanted: usize, sink: &mut Sink<'_>) -> Result<(), InputError> {
        let mut cell = Vec::with_capacity(LONGEST + 1);
        loop {
            cell.clear();
            // One byte more than allowed is kept, so that the sink sees that the cell is too long.
            let record = self.next(|index, byte| {
                if index == wanted && cell.len() <= LONGEST {
                    cell.push(byte);
                }
            })?;
            let Some(record) = record else { return Ok(()) };
            record.refuse_blank(sink)?;
            if record.cells != width {
                return Err(InputError::Ragged {
                    file: self.name,
                    line: record.line,
                    expected: width,
                    found: record.cells,
                });
            }
            sink.text(Place::Line(record.line), &cell)?;
        }
    }
}

impl Record {
    /// Tells `sink` of the blank lines before this record: each is a row with a missing value.
    pub fn refuse_blank(&self, sink: &mut Sink<'_>) -> Result<(), InputError> {
        (self.line - self.blank..self.line).try_for_each(|line| sink.refuse(Place::Line(line), Found::Empty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every record with its cells, read through a buffer of `capacity` bytes.
    fn scan(text: &[u8], syntax: Syntax, capacity: usize) -> Result<Vec<(Record, Vec<String>)>, InputError> {
        let mut records = Records::new("f".to_owned(), text, syntax);
        records.input = BufReader::with_capacity(capacity, text);
        let mut all = Vec::new();
        loop {
            let mut cells: Vec<Vec<u8>> = Vec::new();
            let record = records.next(|index, byte| {
                cells.resize(cells.len().max(index + 1), Vec::new());
                cells[index].push(byte);
            })?;
            let Some(record) = record else { return Ok(all) };
            cells.resize(record.cells, Vec::new());
            all.push((record, cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()));
        }
    }

    const COMMA: Syntax = Syntax::Separated(b',');

    fn lines(text: &str) -> Vec<(u64, u64)> {
        scan(text.as_bytes(), COMMA, 64).unwrap().iter().map(|(record, _)| (record.line, record.blank)).collect()
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for text in ["x\n1\n\n\nabc\n", "x\r\n1\r\n\r\n\r\nabc", "x\r1\r\r\rabc\r", "x\n1\r\n\n\r\nabc\n\n\n  \n"] {
            assert_eq!(lines(text), [(1, 0), (2, 0), (5, 2)], "{text:?}");
        }
        assert_eq!(lines("\"a\nb\",\"c\r\nd\re\"\n1,2\n"), [(1, 0), (5, 0)]);
        assert_eq!(lines("\n\n"), []);
        assert_eq!(lines(""), []);
        assert_eq!(lines(",\n"), [(1, 0)]);
        assert_eq!(lines("\"\"\n"), [(1, 0)]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_an_error() {
        let error = scan(b"x,y\n1,\"2\n3,4\n", COMMA, 64).unwrap_err();
        assert!(matches!(error, InputError::OpenQuote { line: 2, .. }));
    }

    #[test]
    fn a_line_is_a_cell_whatever_is_in_it() {
        let all = scan(b"1,2\n \"a\n\"\n", Syntax::Line, 64).unwrap();
        assert_eq!(all.iter().map(|(_, cells)| cells[0].as_str()).collect::<Vec<_>>(), ["1,2", "\"a", "\""]);
    }

    #[test]
    fn cells_are_those_of_the_csv_crate() {
        // Every text of up to six of these bytes, 56,000 cases, each through buffers of one and 64 bytes.
        const ALPHABET: [u8; 6] = *b"a \",\n\r";
        for length in 0..=6 {
            for mut code in 0..ALPHABET.len().pow(length) {
                let text: Vec<u8> = (0..length)
                    .map(|_| {
                        let byte = ALPHABET[code % ALPHABET.len()];
                        code /= ALPHABET.len();
                        byte
                    })
                    .collect();
                let ours = match scan(&text, COMMA, 64) {
                    Ok(ours) => ours,
                    // The other reader accepts what we refuse.
                    Err(InputError::OpenQuote { .. }) => continue,
                    Err(error) => panic!("{error}"),
                };
                assert_eq!(ours, scan(&text, COMMA, 1).unwrap());
                let ours: Vec<_> =
                    ours.iter().map(|(_, cells)| trimmed(cells)).filter(|cells| *cells != [""]).collect();
                assert_eq!(ours, reference(&text), "{:?}", String::from_utf8_lossy(&text));
            }
        }
    }

    fn trimmed(cells: &[String]) -> Vec<String> {
        cells.iter().map(|cell| cell.trim().to_owned()).collect()
    }

    /// The cells according to the `csv` crate. Left out, here and above: a line of nothing but spaces or an empty pair
    /// of quotes, where the two differ in what is blank.
    fn reference(text: &[u8]) -> Vec<Vec<String>> {
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let mut record = ::csv::ByteRecord::new();
        let mut all = Vec::new();
        while reader.read_byte_record(&mut record).unwrap() {
            let cells: Vec<_> = record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
            all.push(trimmed(&cells));
        }
        all.retain(|cells| *cells != [""]);
        all
    }
}
