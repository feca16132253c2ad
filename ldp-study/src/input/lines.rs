//! One number a line.

use super::Options;
use super::columns::choose;
use super::error::{InputError, Names};
use super::records::{Records, Syntax};
use super::sink::Sink;
use super::source::Source;

/// Reads every line of `source` as a number. There is one column, without a name.
pub(super) fn read(source: Source, options: &Options, sink: &mut Sink<'_>) -> Result<(), InputError> {
    let name = source.name().to_owned();
    let wanted = choose(&name, options.column.as_deref(), &Names::Numbered(1))?;
    Records::new(name, source.into_text(), Syntax::Line).feed(1, wanted.index, sink)
}

#[cfg(test)]
mod tests {
    use super::super::error::{Found, Label, Place};
    use super::super::tests::values;
    use super::super::{InputError, Layout, Options};

    fn lines() -> Options {
        Options { layout: Some(Layout::Lines), ..Options::default() }
    }

    #[test]
    fn one_number_a_line() {
        assert_eq!(values("a.txt", b"1\n2.5\r\n -3e2 \n4", &lines()).unwrap().0, [1.0, 2.5, -300.0, 4.0]);
        assert_eq!(values("a.txt", b"\xef\xbb\xbf1\n2\n", &lines()).unwrap().0, [1.0, 2.0]);
    }

    #[test]
    fn blank_lines_are_ignored_at_the_end_only() {
        assert_eq!(values("a.txt", b"1\n2\n\n  \n\n", &lines()).unwrap().0, [1.0, 2.0]);
        let error = values("a.txt", b"1\n\n2\n", &lines()).unwrap_err();
        assert!(matches!(
            &error,
            InputError::Cell { place: Place::Line(2), found: Found::Empty, column: Label::Only, .. }
        ));
        assert_eq!(
            error.to_string(),
            "a.txt: line 2: expected a finite number, found an empty cell (--skip-invalid skips such rows)"
        );
        let skip = Options { skip_invalid: true, ..lines() };
        assert_eq!(values("a.txt", b"1\n\n\n2\nx\n\n", &skip).unwrap(), (vec![1.0, 2.0], 3));
    }

    #[test]
    fn a_comment_is_not_a_number() {
        let error = values("a.txt", b"# values\n1\n", &lines()).unwrap_err();
        assert!(
            matches!(error, InputError::Cell { place: Place::Line(1), found: Found::Text(text), .. } if text == "# values")
        );
    }

    #[test]
    fn an_empty_file_has_no_rows() {
        for bytes in [&b""[..], b"\n\n", b"\xef\xbb\xbf"] {
            assert!(matches!(values("a.txt", bytes, &lines()), Err(InputError::NoRows { skipped: 0, .. })));
        }
    }

    #[test]
    fn a_named_column_is_refused() {
        let options = Options { column: Some("x".to_owned()), ..lines() };
        assert!(matches!(values("a.txt", b"1\n", &options), Err(InputError::UnknownColumn { .. })));
    }

    #[test]
    fn a_line_without_end_is_refused_in_constant_memory() {
        let error = values("a.txt", &vec![b'7'; 1 << 22], &lines()).unwrap_err();
        assert!(
            matches!(error, InputError::Cell { place: Place::Line(1), found: Found::Text(text), .. } if text.len() < 60)
        );
    }
}
