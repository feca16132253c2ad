//! A page that shows a study: its figures, settings and table, in one HTML file.

use std::fmt::Write;

/// What is on the page.
pub struct Page {
    /// Its heading.
    pub title: String,
    /// What it is about, in a sentence.
    pub lead: String,
    /// The command that makes it again.
    pub command: String,
    /// The figures.
    pub figures: Vec<Figure>,
    /// Names and values.
    pub settings: Vec<(String, String)>,
    /// The numbers.
    pub table: Table,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// A figure with what it shows.
pub struct Figure {
    /// What it shows.
    pub caption: String,
    /// The picture.
    pub svg: String,
}

/// A table of texts.
pub struct Table {
    /// The names of the columns.
    pub header: Vec<String>,
    /// The lines.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// The text of the file: the same bytes for the same content.
    pub fn html(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>{}</title>", escape(&self.title))?;
        writeln!(out, "<h1>{}</h1>\n<p>{}</p>", escape(&self.title), escape(&self.lead))?;
        writeln!(out, "<pre>{}</pre>", escape(&self.command))?;
        for figure in &self.figures {
            writeln!(out, "<figure>{}<figcaption>{}</figcaption></figure>", figure.svg, escape(&figure.caption))?;
        }
        let row = |cells: &[String], tag: &str| -> String {
            cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
        };
        writeln!(out, "<table>\n<tr>{}</tr>", row(&self.table.header, "th"))?;
        for cells in &self.table.rows {
            writeln!(out, "<tr>{}</tr>", row(cells, "td"))?;
        }
        writeln!(out, "</table>\n<dl>")?;
        for (name, value) in &self.settings {
            writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value))?;
        }
        writeln!(out, "</dl>")?;
        self.notes.iter().try_for_each(|note| writeln!(out, "<p>{}</p>", escape(note)))
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
