//! What a file is instead of what was expected, and what to do about it.

use super::Layout;
use super::error::{Found, InputError, Place};

/// Something that is no text in UTF-8.
struct Foreign {
    begins: &'static [u8],
    what: &'static str,
    hint: &'static str,
}

const UNPACK: &str = "unpack it first";
const ZCAT: &str = "unpack it first, as zcat does";
const EXPORT: &str = "export it as CSV";
const CONVERT: &str = "convert it to UTF-8, as «iconv -f UTF-16 -t UTF-8» does";
const CONVERT_32: &str = "convert it to UTF-8, as «iconv -f UTF-32 -t UTF-8» does";
const UTF_32: &str = "text in UTF-32";
const UTF_16: &str = "text in UTF-16";

/// By how they begin.
const FOREIGN: [Foreign; 14] = [
    Foreign { begins: b"\x1f\x8b", what: "compressed by gzip", hint: ZCAT },
    Foreign {
        begins: b"PK\x03\x04",
        what: "a ZIP archive or an Excel workbook",
        hint: "unpack it, or export it as CSV",
    },
    Foreign { begins: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", what: "an Excel workbook", hint: EXPORT },
    Foreign { begins: b"PAR1\x15", what: "a Parquet file", hint: "--layout parquet reads it" },
    Foreign { begins: b"ARROW1\0\0", what: "an Arrow file", hint: "write it as Parquet or CSV" },
    Foreign { begins: b"\x28\xb5\x2f\xfd", what: "compressed by zstd", hint: UNPACK },
    Foreign { begins: b"\xfd7zXZ\0", what: "compressed by xz", hint: UNPACK },
    Foreign { begins: b"7z\xbc\xaf\x27\x1c", what: "a 7z archive", hint: UNPACK },
    Foreign { begins: b"SQLite format 3\0", what: "an SQLite database", hint: EXPORT },
    Foreign { begins: b"%PDF-", what: "a PDF", hint: EXPORT },
    // The mark of UTF-32 begins like that of UTF-16: it comes first.
    Foreign { begins: b"\xff\xfe\0\0", what: UTF_32, hint: CONVERT_32 },
    Foreign { begins: b"\xff\xfe", what: UTF_16, hint: CONVERT },
    Foreign { begins: b"\xfe\xff", what: UTF_16, hint: CONVERT },
    Foreign { begins: b"\0\0\xfe\xff", what: UTF_32, hint: CONVERT_32 },
];

/// What the bytes are, if they are no text that can be read, and what to do.
pub fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if let Some(known) = FOREIGN.iter().find(|known| head.starts_with(known.begins)) {
        return Some((known.what, known.hint));
    }
    if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        return Some(("compressed by bzip2", UNPACK));
    }
    // Text in UTF-16 need not have a mark, but every second byte of it is zero, in our alphabet.
    let seen = &head[..head.len().min(64)];
    let zeros = |parity: usize| seen.iter().skip(parity).step_by(2).filter(|&&byte| byte == 0).count();
    let most = zeros(0).max(zeros(1));
    (most >= 1 && 4 * most + 3 >= seen.len() && zeros(0) != zeros(1)).then_some((UTF_16, CONVERT))
}

/// Adds to an error what the first line says about it.
pub(super) fn hinted(error: InputError, layout: Layout, first_line: &[u8]) -> InputError {
    let of_layout = matches!(
        error,
        InputError::Cell { .. }
            | InputError::NoRows { .. }
            | InputError::ColumnNeeded { .. }
            | InputError::UnknownColumn { .. }
            | InputError::NumericHeader { .. }
            | InputError::Ragged { .. }
    );
    let hint = if of_layout { separators(layout, first_line) } else { None };
    let hint = hint.or_else(|| match &error {
        InputError::Cell { place: Place::Line(1), .. } if layout == Layout::Lines && is_name(first_line) => {
            Some("if the first line is the name of the column: --layout csv")
        }
        InputError::Cell { found: Found::Text(text), .. } if decimal_comma(text) => {
            Some("numbers are read with a decimal point, not with a comma")
        }
        _ => None,
    });
    match hint {
        Some(hint) => InputError::Hinted { error: Box::new(error), hint },
        None => error,
    }
}

/// What another layout would say of the first line.
fn separators(layout: Layout, first_line: &[u8]) -> Option<&'static str> {
    let line = first_line.trim_ascii();
    let has = |byte: u8| line.contains(&byte);
    match layout {
        Layout::Csv | Layout::Tsv | Layout::Lines
            if has(b';') && !(has(b',') && layout == Layout::Csv && !halves(line)) =>
        {
            Some("the cells look separated by semicolons: --layout semicolon reads them")
        }
        Layout::Csv | Layout::Semicolon | Layout::Lines if has(b'\t') => {
            Some("the cells look separated by tabs: --layout tsv reads them")
        }
        Layout::Tsv | Layout::Semicolon | Layout::Lines if has(b',') && !text_is_comma(line) => {
            Some("the cells look separated by commas: --layout csv reads them")
        }
        Layout::Csv if text_is_comma(line) => {
            Some("if the comma is a decimal one, write a point; numbers are not read with a comma")
        }
        _ => None,
    }
}

/// Whether every part between semicolons is a number with a decimal comma, or has no comma.
fn halves(line: &[u8]) -> bool {
    line.split(|&byte| byte == b';').all(|part| !part.contains(&b',') || text_is_comma(part.trim_ascii()))
}

fn text_is_comma(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(decimal_comma)
}

/// Whether a text is a number but for one comma inside.
fn decimal_comma(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.trim_start_matches(['-', '+']);
    text.split_once(',').is_some_and(|(whole, rest)| digits(whole) && digits(rest))
}

/// Whether a line that stands alone is the name of a column rather than a value, or a missing one.
pub(super) fn is_name(line: &[u8]) -> bool {
    const MISSING: [&str; 7] = ["na", "n/a", "nan", "null", "none", "inf", "infinity"];
    let text = String::from_utf8_lossy(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)).trim().to_lowercase();
    let text = text.trim_matches('"').trim();
    text.starts_with(char::is_alphabetic) && !MISSING.contains(&text) && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_by_how_it_begins() {
        let what = |head: &[u8]| foreign(head).map(|(what, _)| what);
        assert_eq!(what(b"\x1f\x8b\x08\0\0"), Some("compressed by gzip"));
        assert_eq!(what(b"PK\x03\x04\x14\0"), Some("a ZIP archive or an Excel workbook"));
        assert_eq!(what(b"BZh91AY&SY..."), Some("compressed by bzip2"));
        let wide = |text: &str, order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        for text in ["\u{feff}x\n1\n", "x\n1\n2\n", "height,weight\n171.5,80\n", "1\n", "größe\n1\n"] {
            for bytes in [wide(text, u16::to_le_bytes), wide(text, u16::to_be_bytes)] {
                assert_eq!(what(&bytes), Some(UTF_16), "{text:?}");
            }
        }
        for text in ["", "1\n", "x\n", "BZh\n", "PK,x\n", "ARROW1\n", "größe,x\n", "7z\n", "\u{feff}x\n1\n"] {
            assert_eq!(what(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn separators_are_guessed_from_the_first_line() {
        let hint =
            |layout, line: &str| separators(layout, line.as_bytes()).map(|hint| hint.split(": ").last().unwrap());
        let (semicolon, tabs, commas) =
            ("--layout semicolon reads them", "--layout tsv reads them", "--layout csv reads them");
        assert_eq!(hint(Layout::Csv, "id;height"), Some(semicolon));
        assert_eq!(hint(Layout::Csv, "1;2,5"), Some(semicolon));
        assert_eq!(hint(Layout::Lines, "1;2"), Some(semicolon));
        assert_eq!(hint(Layout::Csv, "name;first,height"), None);
        assert_eq!(hint(Layout::Csv, "id\theight"), Some(tabs));
        assert_eq!(hint(Layout::Semicolon, "id,height"), Some(commas));
        assert_eq!(hint(Layout::Tsv, "id,height"), Some(commas));
        assert!(separators(Layout::Csv, b"171,5").unwrap().contains("decimal"));
        for line in ["", "x", "id,height", "1,2,3"] {
            assert_eq!(hint(Layout::Csv, line), None, "{line}");
        }
    }

    #[test]
    fn a_name_is_no_value_and_no_missing_one() {
        for name in ["height", " Höhe ", "\"height\"", "x1", "e", "\u{feff}x", "nanometres", "information"] {
            assert!(is_name(name.as_bytes()), "{name}");
        }
        for value in
            ["", "1", "-2.5", "1e3", "nan", "NA", "n/a", "NULL", "none", "inf", "-inf", "# x", "?", "-", "0x10"]
        {
            assert!(!is_name(value.as_bytes()), "{value}");
        }
    }
}
