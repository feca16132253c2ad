//! Tables of text: the first line names or numbers the columns, the others hold one row each.

use std::io::Read;

use super::Options;
use super::columns::choose;
use super::error::{InputError, Label, Names, Place};
use super::records::{Record, Records, Syntax};
use super::sink::Sink;
use super::source::Source;

/// The largest length of the first line in bytes, quotes aside: it alone is held in memory whole.
const LONGEST_FIRST: usize = 1 << 20;

/// Reads the wanted column of `source`.
///
/// A header that is a number is refused unless it was asked for by name: taken as a header, the first row of a file
/// without one would be lost silently.
pub(super) fn read(source: Source, separator: u8, options: &Options, sink: &mut Sink<'_>) -> Result<(), InputError> {
    let name = source.name().to_owned();
    let mut records = Records::new(name, source.into_text(), Syntax::Separated(separator));
    let Some((record, cells)) = first(&mut records)? else {
        return Ok(());
    };

    let available = if options.header { Names::Named(cells.clone()) } else { Names::Numbered(record.cells) };
    let choice = choose(records.name(), options.column.as_deref(), &available)?;
    let cell = &cells[choice.index];
    if options.header {
        if !choice.by_name && cell.parse::<f64>().is_ok_and(f64::is_finite) {
            let file = records.name().to_owned();
            return Err(InputError::NumericHeader { file, number: choice.index + 1, header: cell.clone() });
        }
        sink.set_column(if cell.is_empty() { Label::Number(choice.index + 1) } else { Label::Name(cell.clone()) });
    } else {
        sink.set_column(Label::Number(choice.index + 1));
        record.refuse_blank(sink)?;
        sink.text(Place::Line(record.line), cell.as_bytes())?;
    }
    records.feed(record.cells, choice.index, sink)
}

/// The first record and its cells, trimmed.
fn first<R: Read>(records: &mut Records<R>) -> Result<Option<(Record, Vec<String>)>, InputError> {
    let mut cells: Vec<Vec<u8>> = Vec::new();
    let mut length = 0;
    let record = records.next(|index, byte| {
        length += 1;
        // Cells count as well as bytes: a line of commas is long, too.
        if length + index <= LONGEST_FIRST {
            cells.resize(cells.len().max(index + 1), Vec::new());
            cells[index].push(byte);
        }
    })?;
    let Some(record) = record else { return Ok(None) };
    if length + record.cells > LONGEST_FIRST {
        return Err(InputError::LongFirstLine { file: records.name().to_owned(), limit: LONGEST_FIRST });
    }
    cells.resize(record.cells, Vec::new());
    let cells = cells.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect();
    Ok(Some((record, cells)))
}

#[cfg(test)]
mod tests {
    use super::super::error::Found;
    use super::super::tests::{named, values};
    use super::super::{InputError, Layout, Options};
    use super::*;

    fn no_header(column: Option<&str>) -> Options {
        Options { column: column.map(str::to_owned), header: false, ..Options::default() }
    }

    #[test]
    fn a_column_is_found_by_name_or_number() {
        let text = b"id, x ,y\n1,0.5,7\n2,-1e3,8\n";
        for (options, expected) in
            [(named("x"), [0.5, -1000.0]), (named("2"), [0.5, -1000.0]), (named("y"), [7.0, 8.0])]
        {
            assert_eq!(values("a.csv", text, &options).unwrap(), (expected.to_vec(), 0));
        }
        assert_eq!(values("a.csv", b"x\n1\n2\n", &Options::default()).unwrap().0, [1.0, 2.0]);
        assert_eq!(values("a.csv", b"1,2\n3,4\n", &no_header(Some("2"))).unwrap().0, [2.0, 4.0]);
        assert_eq!(values("a.csv", b"1\n3\n", &no_header(None)).unwrap().0, [1.0, 3.0]);
    }

    #[test]
    fn quotes_marks_and_line_ends_do_not_matter() {
        let text = b"\xef\xbb\xbf\"x\",\"a \"\"note\"\"\"\r\n\" 1 \",\"two, with\r\nbreak\"\r\n 2 ,\r\n\"3\",z";
        assert_eq!(values("a.csv", text, &named("x")).unwrap().0, [1.0, 2.0, 3.0]);
        assert_eq!(values("a.tsv", b"a\tb\n1\t2\n\t4\n", &named("b")).unwrap().0, [2.0, 4.0]);
        let tabs = Options { layout: Some(Layout::Tsv), ..named("b") };
        assert_eq!(values("standard input", b"a\tb\n1\t2\n", &tabs).unwrap().0, [2.0]);
    }

    #[test]
    fn a_bad_cell_is_named_by_line_and_column() {
        for (cell, found) in [
            ("", Found::Empty),
            ("\"\"", Found::Empty),
            ("  ", Found::Empty),
            ("abc", Found::Text("abc".to_owned())),
            ("NaN", Found::Text("NaN".to_owned())),
            ("-inf", Found::Text("-inf".to_owned())),
            ("1e999", Found::Text("1e999".to_owned())),
        ] {
            let text = format!("x,y\r\n1,\"a\r\nb\"\r\n{cell},2\r\n5,6\r\n");
            let error = values("a.csv", text.as_bytes(), &named("x")).unwrap_err();
            let InputError::Cell { place, column, found: actual, .. } = error else { panic!("{error}") };
            assert_eq!((place, column, actual), (Place::Line(4), Label::Name("x".to_owned()), found));
            let skip = Options { skip_invalid: true, ..named("x") };
            assert_eq!(values("a.csv", text.as_bytes(), &skip).unwrap(), (vec![1.0, 5.0], 1));
        }
        let error = values("a.csv", b"1,2\n3,x\n", &no_header(Some("2"))).unwrap_err();
        assert_eq!(
            error.to_string().replace("\"x\"", "something else"),
            "a.csv: line 2, column 2: expected a finite number, found something else (--skip-invalid skips such rows)"
        );
    }

    #[test]
    fn a_blank_line_inside_is_a_missing_value() {
        for text in ["x\n1\n\n2\n\n\n", "x,y\n1,1\n\n2,2\n\n"] {
            let error = values("a.csv", text.as_bytes(), &named("x")).unwrap_err();
            assert!(matches!(error, InputError::Cell { place: Place::Line(3), found: Found::Empty, .. }));
            let skip = Options { skip_invalid: true, ..named("x") };
            assert_eq!(values("a.csv", text.as_bytes(), &skip).unwrap(), (vec![1.0, 2.0], 1));
        }
        let error = values("a.csv", b"\n1\n", &no_header(None)).unwrap_err();
        assert!(matches!(error, InputError::Cell { place: Place::Line(1), found: Found::Empty, .. }));
        assert_eq!(values("a.csv", b"\n\nx\n1\n", &named("x")).unwrap().0, [1.0]);
    }

    #[test]
    fn a_ragged_line_is_refused_even_when_skipping() {
        let skip = Options { skip_invalid: true, ..named("x") };
        let error = values("a.csv", b"x,y\n1,2\n3\n", &skip).unwrap_err();
        assert!(matches!(error, InputError::Ragged { line: 3, expected: 2, found: 1, .. }));
        assert_eq!(error.to_string(), "a.csv: line 3: expected 2 cells as in the first line, found 1");
        let error = values("a.csv", b"x,y\n1,2,3\n", &skip).unwrap_err();
        assert!(matches!(error, InputError::Ragged { line: 2, expected: 2, found: 3, .. }));
    }

    #[test]
    fn a_quote_that_hides_rows_is_refused() {
        let error = values("a.csv", b"x,y\n1,\"2\n3,4\n5,6\n", &named("x")).unwrap_err();
        assert!(matches!(error, InputError::OpenQuote { line: 2, .. }));
    }

    #[test]
    fn a_column_must_be_chosen_among_several() {
        assert!(matches!(values("a.csv", b"x,y\n1,2\n", &Options::default()), Err(InputError::ColumnNeeded { .. })));
        assert!(matches!(values("a.csv", b"1,2\n", &no_header(None)), Err(InputError::ColumnNeeded { .. })));
        assert!(matches!(values("a.csv", b"1,2\n", &no_header(Some("x"))), Err(InputError::UnknownColumn { .. })));
        assert!(matches!(values("a.csv", b"1,2\n", &no_header(Some("3"))), Err(InputError::UnknownColumn { .. })));
        assert!(matches!(values("a.csv", b"x,y\n1,2\n", &named("z")), Err(InputError::UnknownColumn { .. })));
        assert!(matches!(values("a.csv", b"x,x\n1,2\n", &named("x")), Err(InputError::AmbiguousColumn { .. })));
    }

    #[test]
    fn data_in_place_of_a_header_is_not_lost() {
        let error = values("a.csv", b"0.5\n0.7\n", &Options::default()).unwrap_err();
        assert!(matches!(&error, InputError::NumericHeader { number: 1, header, .. } if header == "0.5"));
        assert!(matches!(values("a.csv", b"8,9\n1,2\n", &named("2")), Err(InputError::NumericHeader { .. })));
        // Years are names.
        assert_eq!(values("a.csv", b"2019,2020\n1,2\n", &named("2020")).unwrap().0, [2.0]);
    }

    #[test]
    fn a_file_without_rows_is_refused() {
        for text in [&b""[..], b"\n", b"x\n", b"x,y\n\n\n"] {
            assert!(matches!(values("a.csv", text, &named("x")), Err(InputError::NoRows { skipped: 0, .. })));
        }
        let skip = Options { skip_invalid: true, ..named("x") };
        let error = values("a.csv", b"x\na\nb\n", &skip).unwrap_err();
        assert!(matches!(error, InputError::NoRows { skipped: 2, .. }));
    }

    #[test]
    fn an_endless_first_line_is_refused() {
        for byte in [b'a', b','] {
            let error = values("a.csv", &vec![byte; 3 << 20], &named("x")).unwrap_err();
            assert!(matches!(error, InputError::LongFirstLine { limit: LONGEST_FIRST, .. }));
        }
    }
}
