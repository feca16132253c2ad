//! The page of a result: one HTML file with everything in it.
//!
//! It asks nobody for anything: no scripts, fonts or pictures from elsewhere, and it forbids the browser to fetch any. So it
//! can be mailed, archived and read in ten years. The same values give the same bytes.

use crate::plot::escape;
use std::fmt::{self, Write};

const STYLE: &str = include_str!("page.css");

/// A self-contained HTML page about a study.
pub struct Page {
    /// What was studied.
    pub title: String,
    /// What was found, in a few sentences; an empty line begins a new paragraph.
    pub lead: String,
    /// What to type to make the page again.
    pub command: String,
    /// The pictures, in order.
    pub figures: Vec<Figure>,
    /// Names and values of what was asked for.
    pub settings: Vec<(String, String)>,
    /// The numbers that were found.
    pub table: Table,
    /// What the reader should know: what a column means, what was left out.
    pub notes: Vec<String>,
}

/// A picture with words below it.
pub struct Figure {
    /// The words below the picture.
    pub caption: String,
    /// The picture as `plot` draws it; it is part of the page as it stands.
    pub svg: String,
}

/// A table; its first column names the rows.
pub struct Table {
    /// The names of the columns.
    pub header: Vec<String>,
    /// The cells, row by row; missing ones at the end of a row are left empty.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let title = escape(&self.title);
        writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        let policy = "default-src 'none'; style-src 'unsafe-inline'";
        writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
        writeln!(out, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>")?;
        for paragraph in self.lead.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
            writeln!(out, "<p>{}</p>", escape(paragraph))?;
        }
        for Figure { caption, svg } in &self.figures {
            writeln!(out, "<figure>\n{}", svg.trim_end())?;
            if !caption.is_empty() {
                writeln!(out, "<figcaption>{}</figcaption>", escape(caption))?;
            }
            writeln!(out, "</figure>")?;
        }
        self.table.write(out)?;
        if !self.settings.is_empty() {
            writeln!(out, "<h2>Settings</h2>\n<dl>")?;
            for (name, value) in &self.settings {
                writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value))?;
            }
            writeln!(out, "</dl>")?;
        }
        if !self.command.is_empty() {
            writeln!(out, "<h2>Made again by</h2>\n<pre><code>{}</code></pre>", escape(&self.command))?;
        }
        if !self.notes.is_empty() {
            writeln!(out, "<h2>Notes</h2>\n<ul>")?;
            for note in &self.notes {
                writeln!(out, "<li>{}</li>", escape(note))?;
            }
            writeln!(out, "</ul>")?;
        }
        writeln!(out, "</main>\n<footer>ldp {}</footer>\n</body>\n</html>", env!("CARGO_PKG_VERSION"))
    }
}

impl Table {
    fn write(&self, out: &mut String) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).chain([self.header.len()]).max().unwrap_or(0);
        if columns == 0 {
            return Ok(());
        }
        let numbers: Vec<bool> = (0..columns).map(|column| self.numeric(column)).collect();
        let row = |out: &mut String, cells: &[String], header: bool| -> fmt::Result {
            write!(out, "<tr>")?;
            for (column, &number) in numbers.iter().enumerate() {
                let text = escape(cells.get(column).map_or("", String::as_str));
                let class = if number { " class=\"number\"" } else { "" };
                match (header, column) {
                    (true, _) => write!(out, "<th scope=\"col\"{class}>{text}</th>")?,
                    (false, 0) => write!(out, "<th scope=\"row\"{class}>{text}</th>")?,
                    (false, _) => write!(out, "<td{class}>{text}</td>")?,
                }
            }
            writeln!(out, "</tr>")
        };
        // It can be scrolled with the keyboard too.
        writeln!(out, "<h2>Numbers</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers\">")?;
        writeln!(out, "<table>\n<thead>")?;
        row(out, &self.header, true)?;
        writeln!(out, "</thead>\n<tbody>")?;
        for cells in &self.rows {
            row(out, cells, false)?;
        }
        writeln!(out, "</tbody>\n</table>\n</div>")
    }

    /// Whether a column holds numbers, some of which may be missing: those are compared from the right.
    fn numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
        let missing = |cell: &str| ["", "-", "–", "—", "unknown"].contains(&cell);
        cells().all(|cell| missing(cell) || number(cell)) && cells().any(number)
    }
}

/// Whether a text is a number, in any of the ways people write one: with a sign, an error, a power of ten or in percent.
fn number(text: &str) -> bool {
    let mark = |letter: char| letter.is_ascii_digit() || " .,eE+-−±·×%()[]≤≥<>⁻⁰¹²³⁴⁵⁶⁷⁸⁹∞".contains(letter);
    let first = text.trim_start_matches(['+', '-', '−', '±', '≤', '≥', '<', '>', '(', '[', ' ']);
    ["inf", "∞"].contains(&first)
        || (first.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Chart, Scale, Series};

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    }

    fn page() -> Page {
        let points = vec![(0.1, 1.0), (8.0, 2.0)];
        let chart = Chart {
            title: "A & B".into(),
            x: Axis::new("ε", Scale::Log, [0.1, 8.0].into_iter()),
            y: Axis::new("y", Scale::Linear, [1.0, 2.0].into_iter()),
            series: vec![Series { label: "a < b".into(), points, reference: false, marks: false }],
            bands: Vec::new(),
            marks: Vec::new(),
        };
        Page {
            title: "Which <protocol>?".into(),
            lead: "First & foremost.\n\nSecond.".into(),
            command: "ldp study run \"a b.toml\" --out <dir>".into(),
            figures: vec![Figure { caption: "One > two".into(), svg: chart.svg() }],
            settings: vec![("users".into(), "1e4, 1e6".into()), ("<key>".into(), "\"value\"".into())],
            table: Table {
                header: texts(&["protocol", "n·MSE", "kind & co"]),
                rows: vec![texts(&["two-stage:start=0", "7.81 ± 0.02", "exact"]), texts(&["<b>one", "unknown"])],
            },
            notes: vec!["A note with </li> in it.".into()],
        }
    }

    #[test]
    fn everything_is_there_and_escaped() {
        let html = page().html();
        assert_eq!(html, page().html());
        for text in [
            "<title>Which &lt;protocol&gt;?</title>",
            "<h1>Which &lt;protocol&gt;?</h1>",
            "<p>First &amp; foremost.</p>\n<p>Second.</p>",
            "<pre><code>ldp study run &quot;a b.toml&quot; --out &lt;dir&gt;</code></pre>",
            "<figcaption>One &gt; two</figcaption>",
            "<dt>&lt;key&gt;</dt><dd>&quot;value&quot;</dd>",
            "<th scope=\"col\">kind &amp; co</th>",
            "<th scope=\"row\">&lt;b&gt;one</th>",
            "<li>A note with &lt;/li&gt; in it.</li>",
            "name=\"viewport\"",
            concat!("<footer>ldp ", env!("CARGO_PKG_VERSION"), "</footer>"),
        ] {
            assert!(html.contains(text), "no {text}");
        }
        assert!(html.contains(page().figures[0].svg.trim_end()));
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let html = page().html().replace("http://www.w3.org/2000/svg", "");
        for fetched in
            ["http:", "https:", "//", "<script", "<link", "<img", "<iframe", "@import", "url(", "src=", "href="]
        {
            assert!(!html.contains(fetched), "{fetched}");
        }
        assert!(html.contains("default-src 'none'"));
    }

    #[test]
    fn every_element_is_closed() {
        // By a stack: what is opened last is closed first.
        let html = page().html();
        let mut open = Vec::new();
        for tag in html.split('<').skip(1).map(|part| part.split('>').next().unwrap()) {
            let name = tag.split([' ', '\n', '/']).find(|name| !name.is_empty()).unwrap();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') && !["meta", "!doctype"].contains(&name) {
                open.push(name);
            }
        }
        assert_eq!(open, [""; 0]);
    }

    #[test]
    fn columns_of_numbers_are_right_aligned() {
        let html = page().html();
        assert!(html.contains("<th scope=\"col\" class=\"number\">n·MSE</th>"));
        assert!(html.contains("<td class=\"number\">7.81 ± 0.02</td><td>exact</td>"));
        // A short row is filled up.
        assert!(html.contains("<td class=\"number\">unknown</td><td></td>"));
        for yes in
            ["1", "-1.5", "−2", "1e4", "1.2e-9", "95 %", "50,000", "≤ 3", "3·10⁻⁴", "[1.2, 3.4]", "inf", "-inf", "∞"]
        {
            assert!(number(yes), "{yes}");
        }
        for no in ["", "one", "exact", "1 to 2", "two-stage:start=0", "-", "e", "3 σ"] {
            assert!(!number(no), "{no}");
        }
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let none = Table { header: Vec::new(), rows: Vec::new() };
        let bare = Page {
            title: "Bare".into(),
            lead: String::new(),
            command: String::new(),
            figures: Vec::new(),
            settings: Vec::new(),
            table: none,
            notes: Vec::new(),
        };
        let html = bare.html();
        assert!(html.contains("<h1>Bare</h1>") && !html.contains("<h2>") && !html.contains("<p>"));
        // Only names, or only cells.
        for (header, rows) in [(texts(&["a"]), Vec::new()), (Vec::new(), vec![texts(&["1"])])] {
            let html = Page { table: Table { header, rows }, ..page() }.html();
            assert!(html.contains("<thead>\n<tr><th") && html.contains("</tbody>"));
        }
    }
}
