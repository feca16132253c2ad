//! Title, grid, axes and their texts.

use super::text::{self, LINE};
use super::{Chart, Frame, WIDTH, escape};
use std::fmt::Write;

/// The size of titles.
const TITLE: f64 = 13.0;
const TITLE_LINE: f64 = 16.0;
/// Where titles begin.
const EDGE: f64 = 10.0;
/// Room for the name of the vertical axis.
const NAME: f64 = 24.0;
/// From the texts of the ticks to the axis.
const GAP: f64 = 7.0;
/// Room below the frame for the texts of the ticks, and for the name of the axis as well.
const TICKS: f64 = 26.0;
const NAMED: f64 = 46.0;
/// Ticks at most, about.
const ACROSS: usize = 6;
const UPWARD: usize = 6;

impl Chart {
    /// The title in lines. One that is too long for two of them is cut off.
    fn title_lines(&self) -> Vec<String> {
        let room = (WIDTH - 2.0 * EDGE) / text::bold_width("n", TITLE) * text::width("n");
        if self.title.is_empty() { Vec::new() } else { text::wrap(&self.title, room, 2) }
    }

    /// Room above the frame.
    pub(super) fn above(&self) -> f64 {
        12.0 + TITLE_LINE * self.title_lines().len() as f64 + 4.0
    }

    /// Room left of the frame.
    pub(super) fn left(&self) -> f64 {
        let widest = self.y.ticks(UPWARD).iter().map(|(_, text)| text::width(text)).fold(0.0, f64::max);
        // To a whole unit, so that hairlines are sharp.
        (NAME + widest + GAP).ceil()
    }

    /// Room below the frame.
    pub(super) fn below(named: bool) -> f64 {
        if named { NAMED } else { TICKS }
    }

    pub(super) fn heading(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "<title>{}</title>", escape(&self.title))?;
        for (line, text) in self.title_lines().iter().enumerate() {
            let y = 20.0 + TITLE_LINE * line as f64;
            writeln!(
                out,
                r#"<text x="{EDGE}" y="{y}" font-size="{TITLE}" font-weight="bold">{}</text>"#,
                escape(text)
            )?;
        }
        Ok(())
    }

    pub(super) fn grid(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        let Frame { left, top, .. } = *frame;
        let (bottom, end) = (frame.bottom(), frame.end());
        // Texts that would run into the one before are left out; their lines stay.
        let mut free = f64::NEG_INFINITY;
        for (value, text) in self.x.ticks(ACROSS) {
            let Some(x) = self.x.place(value).map(|place| frame.x(place)) else { continue };
            writeln!(out, r##"<path d="M{x:.2} {top}V{bottom}" stroke="#e6e6e6"/>"##)?;
            let half = text::width(&text) / 2.0;
            if x - half > free {
                writeln!(out, r#"<text x="{x:.2}" y="{:.2}" text-anchor="middle">{text}</text>"#, bottom + 17.0)?;
                free = x + half + 4.0;
            }
        }
        let mut free = f64::INFINITY;
        for (value, text) in self.y.ticks(UPWARD) {
            let Some(y) = self.y.place(value).map(|place| frame.y(place)) else { continue };
            writeln!(out, r##"<path d="M{left} {y:.2}H{end:.2}" stroke="#e6e6e6"/>"##)?;
            if y < free {
                writeln!(out, r#"<text x="{:.2}" y="{:.2}" text-anchor="end">{text}</text>"#, left - GAP, y + 4.0)?;
                free = y - LINE;
            }
        }
        let mut short = String::new();
        for x in self.x.between(ACROSS).into_iter().filter_map(|value| self.x.place(value)) {
            write!(short, "M{:.2} {bottom}v4", frame.x(x))?;
        }
        for y in self.y.between(UPWARD).into_iter().filter_map(|value| self.y.place(value)) {
            write!(short, "M{left} {:.2}h-4", frame.y(y))?;
        }
        if !short.is_empty() {
            writeln!(out, r##"<path d="{short}" stroke="#999"/>"##)?;
        }
        writeln!(out, r##"<path d="M{left} {top}V{bottom}H{end:.2}" fill="none" stroke="#444"/>"##)?;
        self.axis_names(frame, out)
    }

    /// The names of the axes.
    fn axis_names(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        if frame.named {
            let middle = frame.left + frame.width / 2.0;
            let name = text::cut(self.x.label(), WIDTH - 2.0 * EDGE);
            // A long one is moved to the left rather than beyond the edge.
            let middle = middle.min(WIDTH - EDGE - text::width(&name) / 2.0).max(EDGE + text::width(&name) / 2.0);
            let y = frame.bottom() + NAMED - 9.0;
            writeln!(out, r#"<text x="{middle:.2}" y="{y:.2}" text-anchor="middle">{}</text>"#, escape(&name))?;
        }
        let centre = frame.top + frame.height / 2.0;
        let name = escape(&text::cut(self.y.label(), frame.height + 30.0));
        writeln!(out, r#"<text transform="translate(16 {centre:.2}) rotate(-90)" text-anchor="middle">{name}</text>"#)
    }
}
