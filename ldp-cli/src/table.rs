//! Tables as wide as the terminal, in which no name is broken inside.
//!
//! A cell is broken between words, and after the marks that part a spec. Where even that is not narrow enough for all
//! columns side by side, each row becomes a few lines of its own.

use std::fmt::{self, Write};
use std::io::{self, IsTerminal};
use unicode_width::UnicodeWidthStr;

/// The width where there is no terminal: fixed, so that the same result is the same text everywhere.
const USUAL: usize = 110;
/// A terminal is taken to be at least so wide.
const LEAST: usize = 40;
/// Between two columns, with the air around.
const BETWEEN: usize = 3;
/// What begins a row of its own.
const INDENT: &str = "  ";

/// A table that is being put together.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    width: usize,
    /// Whether specs are not broken either, so that they can be copied.
    whole: bool,
}

/// How many columns of text there are: as `COLUMNS` says, as the terminal has, or the usual.
fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok()).filter(|&told: &usize| told > 0);
    let found = || {
        let stdout = io::stdout();
        let size = if stdout.is_terminal() { terminal_size::terminal_size_of(stdout) } else { None };
        size.map(|(terminal_size::Width(width), _)| usize::from(width))
    };
    told.or_else(found).unwrap_or(USUAL).clamp(LEAST, 10_000)
}

/// How wide a text is on a terminal.
fn wide(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

impl Table {
    /// One with these names of columns, or without names.
    pub fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|name| (*name).to_owned()).collect(),
            rows: Vec::new(),
            width: columns(),
            whole: false,
        }
    }

    /// The same with specs in one piece, at the price of lines that may be longer than the terminal is wide.
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// One more row.
    pub fn add_row<T: ToString>(&mut self, row: impl IntoIterator<Item = T>) {
        self.rows.push(row.into_iter().map(|cell| cell.to_string()).collect());
    }

    fn all(&self) -> impl Iterator<Item = &Vec<String>> {
        [&self.header].into_iter().filter(|header| !header.is_empty()).chain(&self.rows)
    }

    /// The widths of the columns, if they can stand side by side.
    fn widths(&self) -> Option<Vec<usize>> {
        let count = self.all().map(Vec::len).max()?;
        let (mut least, mut most) = (vec![1; count], vec![1; count]);
        for row in self.all() {
            for (column, cell) in row.iter().enumerate() {
                for line in cell.lines() {
                    most[column] = most[column].max(wide(line));
                    let piece = pieces(line, self.whole).map(|piece| wide(piece.trim_end())).max();
                    least[column] = least[column].max(piece.unwrap_or(0));
                }
            }
        }
        let room = self.width.checked_sub(BETWEEN * count + 1)?;
        if most.iter().sum::<usize>() <= room {
            return Some(most);
        }
        // The widest columns give way, down to a common width.
        let cut = |level: usize| least.iter().zip(&most).map(move |(&least, &most)| most.min(level).max(least));
        let level = (1..=room).rev().find(|&level| cut(level).sum::<usize>() <= room)?;
        Some(cut(level).collect())
    }

    fn beside(&self, widths: &[usize], out: &mut impl Write) -> fmt::Result {
        let rule = |out: &mut dyn Write, [left, line, middle, right]: [char; 4]| {
            write!(out, "{left}")?;
            for (column, width) in widths.iter().enumerate() {
                let end = if column + 1 == widths.len() { right } else { middle };
                write!(out, "{}{end}", line.to_string().repeat(width + 2))?;
            }
            writeln!(out)
        };
        let row = |out: &mut dyn Write, cells: &[String]| {
            let cell = |column: usize| cells.get(column).map_or("", String::as_str);
            let broken: Vec<Vec<String>> =
                widths.iter().enumerate().map(|(column, &width)| wrapped(cell(column), width, self.whole)).collect();
            for line in 0..broken.iter().map(Vec::len).max().unwrap_or(0) {
                write!(out, "│")?;
                for (column, (lines, width)) in broken.iter().zip(widths).enumerate() {
                    let text = lines.get(line).map_or("", String::as_str);
                    let end = if column + 1 == widths.len() { '│' } else { '┆' };
                    write!(out, " {text}{} {end}", " ".repeat(width.saturating_sub(wide(text))))?;
                }
                writeln!(out)?;
            }
            Ok(())
        };
        rule(out, ['┌', '─', '┬', '┐'])?;
        if !self.header.is_empty() {
            row(out, &self.header)?;
            rule(out, ['╞', '═', '╪', '╡'])?;
        }
        self.rows.iter().try_for_each(|cells| row(out, cells))?;
        rule(out, ['└', '─', '┴', '┘'])
    }

    /// Each row by itself: its first cell, and below it the others with the names of their columns.
    fn stacked(&self, out: &mut impl Write) -> fmt::Result {
        for cells in &self.rows {
            let mut cells = cells.iter().enumerate();
            let first = cells.next().map_or("", |(_, cell)| cell.as_str());
            let width = if self.whole { usize::MAX } else { self.width };
            wrapped(first, width, self.whole).iter().try_for_each(|line| writeln!(out, "{line}"))?;
            for (column, cell) in cells.filter(|(_, cell)| !cell.is_empty()) {
                let name = self.header.get(column).map_or(String::new(), |name| format!("{name}: "));
                for (number, line) in wrapped(&format!("{name}{cell}"), self.width - 4, self.whole).iter().enumerate() {
                    writeln!(out, "{INDENT}{}{line}", if number == 0 { "" } else { INDENT })?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        match self.widths() {
            Some(widths) => self.beside(&widths, &mut out)?,
            None => self.stacked(&mut out)?,
        }
        f.write_str(out.trim_end_matches('\n'))
    }
}

/// The parts of a line that are never broken: words, and in a spec what ends in one of its marks.
fn pieces(line: &str, whole: bool) -> impl Iterator<Item = &str> {
    line.split_inclusive(' ').flat_map(move |word| {
        // A number is no spec: 50,000 stays whole, and so do times and dates.
        let spec = !whole && (word.contains('=') || word.starts_with(char::is_alphabetic));
        word.split_inclusive(move |letter| spec && [':', ',', '/'].contains(&letter))
    })
}

/// A text in lines of at most this width; only a piece that is too long for any line is broken inside.
fn wrapped(text: &str, width: usize, keep: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for whole in text.lines() {
        let (mut line, before) = (String::new(), lines.len());
        for piece in pieces(whole, keep) {
            if !line.is_empty() && wide(&line) + wide(piece.trim_end()) > width {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
            }
            line.push_str(piece);
            while wide(line.trim_end()) > width {
                let rest = line.split_off(fitting(&line, width));
                lines.push(std::mem::replace(&mut line, rest));
            }
        }
        if lines.len() == before || !line.trim_end().is_empty() {
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// How many bytes of a text fit: at least one character.
fn fitting(text: &str, width: usize) -> usize {
    let ends = text.char_indices().map(|(start, letter)| start + letter.len_utf8());
    let first = text.chars().next().map_or(0, char::len_utf8);
    ends.take_while(|&end| wide(&text[..end]) <= width).last().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "three-stage:low=0,high=128,pilot=15000,first-stage=700";

    fn table(width: usize) -> Table {
        let mut table = Table { width, ..Table::new(&["estimator", "users", "n·MSE", "95 % interval"]) };
        table.add_row([SPEC, "200,000", "7.881", "7.78 to 7.98"]);
        table.add_row(["größe 字", "30,000", "19.33", "19.1 to 19.6"]);
        table
    }

    #[test]
    fn tables_are_as_wide_as_they_may_be_and_names_stay_whole() {
        for width in 40..=200 {
            let text = table(width).to_string();
            assert!(text.lines().all(|line| wide(line) <= width), "{width}:\n{text}");
            // Every part of the spec is in one piece.
            for part in
                ["three-stage:", "low=0,", "high=128,", "pilot=15000,", "first-stage=700", "200,000", "estimator"]
            {
                assert!(
                    text.contains(part) || (part == "estimator" && !text.contains('┌')),
                    "{part} at {width}:\n{text}"
                );
            }
            // A frame is straight.
            if text.starts_with('┌') {
                let widths: Vec<usize> = text.lines().map(wide).collect();
                assert!(widths.iter().all(|&own| own == widths[0]), "{text}");
            }
        }
        assert!(table(200).to_string().contains(SPEC));
    }

    #[test]
    fn what_does_not_fit_side_by_side_is_stacked() {
        let mut many = Table { width: 40, ..Table::new(&["estimator", "a", "b", "c", "d", "e", "f", "g"]) };
        many.add_row([SPEC, "123456789", "123456789", "123456789", "1", "", "7", "8"]);
        let text = many.to_string();
        assert!(
            text.starts_with("three-stage:low=0,high=128,pilot=15000,\nfirst-stage=700\n  a: 123456789\n"),
            "{text}"
        );
        assert!(text.ends_with("  d: 1\n  f: 7\n  g: 8"), "{text}");
    }

    #[test]
    fn a_spec_to_be_copied_stays_whole() {
        for width in [40, 60, 110] {
            let text = table(width).whole().to_string();
            assert!(text.contains(SPEC), "{text}");
        }
    }

    #[test]
    fn words_are_broken_only_where_they_may_be() {
        assert_eq!(wrapped("one two three", 7, false), ["one two", "three"]);
        assert_eq!(wrapped("joseph:low=0,high=128", 13, false), ["joseph:low=0,", "high=128"]);
        assert_eq!(wrapped("50,000 users", 8, false), ["50,000", "users"]);
        assert_eq!(wrapped("a\nb", 8, false), ["a", "b"]);
        // No way around it.
        assert_eq!(wrapped("12345678901234567", 8, false), ["12345678", "90123456", "7"]);
        assert_eq!(wrapped("字字字", 1, false), ["字", "字", "字"]);
        for width in 1..40 {
            let broken = wrapped(SPEC, width, false);
            assert!(broken.concat() == SPEC && broken.iter().all(|line| wide(line) <= width), "{broken:?}");
        }
    }
}
