//! The ratios as a picture: horizontal bars on a logarithmic axis, from 1 (our own time) to the other's.

use super::results::{Entry, Kind, Results, Row};
use crate::numbers::ratio;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
/// Where the axis begins: names stand to its left.
const LEFT: f64 = 330.0;
/// What is left free beyond the axis for the numbers at the ends of bars.
const RIGHT: f64 = 90.0;
const TOP: f64 = 64.0;
const LINE: f64 = 20.0;
const BAR: f64 = 12.0;

/// Blue, orange and grey of a palette that the colour-blind can tell apart (Okabe and Ito), also by lightness.
const SAME: &str = "#0072b2";
const OTHER: &str = "#e69f00";
const FLOOR: &str = "#999999";

/// The axis: decades that hold every ratio with its range, and 1.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn of(results: &Results) -> Self {
        let spreads = results.rows.iter().flat_map(shown).filter_map(|entry| entry.ratio);
        let (low, high) =
            spreads.fold((1f64, 10f64), |(low, high), spread| (low.min(spread.low), high.max(spread.high)));
        Self { low: low.log10().floor(), high: high.log10().ceil() }
    }

    fn place(&self, ratio: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (ratio.log10() - self.low) / (self.high - self.low)
    }
}

/// The figure as SVG.
#[must_use]
pub fn figure(results: &Results) -> String {
    let axis = Axis::of(results);
    let mut body = String::new();
    let mut y = TOP;
    for row in &results.rows {
        let others: Vec<&Entry> = shown(row).collect();
        if others.is_empty() {
            continue;
        }
        y += 0.5 * LINE;
        text(&mut body, 12.0, y + BAR, "start", "bold", &row.short);
        y += LINE;
        for entry in others {
            bar(&mut body, &axis, y, entry);
            y += LINE;
        }
    }
    let bottom = y + 6.0;
    let height = bottom + 44.0;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>Time of other software over ours</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    let about = format!("Time over ours, one core, {} rounds, {}", results.rounds, results.date);
    text(&mut out, 12.0, 24.0, "start", "bold", &about);
    legend(&mut out);
    grid(&mut out, &axis, bottom);
    out.push_str(&body);
    let ours = axis.place(1.0);
    let _ = writeln!(
        out,
        "<line x1=\"{ours:.1}\" y1=\"{TOP}\" x2=\"{ours:.1}\" y2=\"{bottom:.1}\" stroke=\"#000000\" stroke-width=\"1.5\"/>"
    );
    text(
        &mut out,
        0.5 * (LEFT + WIDTH - RIGHT),
        bottom + 36.0,
        "middle",
        "normal",
        "times as long as ours (line at 1)",
    );
    out.push_str("</svg>\n");
    out
}

/// The entries that are bars: what others do.
fn shown(row: &Row) -> impl Iterator<Item = &Entry> {
    row.entries.iter().filter(|entry| entry.ratio.is_some() && entry.kind != Kind::Own)
}

fn bar(out: &mut String, axis: &Axis, y: f64, entry: &Entry) {
    let Some(spread) = entry.ratio else { return };
    let (colour, _) = look(entry.kind);
    let (ours, end) = (axis.place(1.0), axis.place(spread.median));
    let (low, high) = (axis.place(spread.low), axis.place(spread.high));
    let middle = y + 0.5 * BAR;
    text(out, LEFT - 8.0, y + BAR - 2.0, "end", "normal", &entry.name);
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>\n\
         <line x1=\"{low:.1}\" y1=\"{middle:.1}\" x2=\"{high:.1}\" y2=\"{middle:.1}\" stroke=\"#000000\"/>",
        ours.min(end),
        (end - ours).abs()
    );
    text(out, ours.max(high).max(end) + 6.0, y + BAR - 2.0, "start", "normal", &ratio(spread.median));
}

fn grid(out: &mut String, axis: &Axis, bottom: f64) {
    for decade in axis.low as i32..=axis.high as i32 {
        let x = axis.place(10f64.powi(decade));
        let _ = writeln!(out, "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#dddddd\"/>");
        let label = if decade < 0 {
            format!("{}", 10f64.powi(decade))
        } else {
            crate::numbers::grouped(10u64.pow(decade as u32))
        };
        text(out, x, bottom + 16.0, "middle", "normal", &label);
    }
}

fn legend(out: &mut String) {
    let mut x = 12.0;
    for kind in [Kind::Same, Kind::Other, Kind::Floor] {
        let (colour, label) = look(kind);
        let _ = writeln!(out, "<rect x=\"{x}\" y=\"36\" width=\"12\" height=\"12\" fill=\"{colour}\"/>");
        text(out, x + 18.0, 46.0, "start", "normal", label);
        x += 40.0 + 6.5 * label.len() as f64;
    }
}

fn look(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Same => (SAME, "the same work"),
        Kind::Other | Kind::Own => (OTHER, "another way to the same answer"),
        Kind::Floor => (FLOOR, "less work: a floor"),
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, weight: &str, what: &str) {
    let what = what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-weight=\"{weight}\">{what}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::example;
    use super::*;

    #[test]
    fn bars_end_at_their_ratios() {
        let results = example();
        let axis = Axis::of(&results);
        // From 0.45 to 7500: decades −1 to 4.
        assert_eq!((axis.low, axis.high), (-1.0, 4.0));
        assert_eq!(axis.place(0.1), LEFT);
        assert!((axis.place(1e4) - (WIDTH - RIGHT)).abs() < 1e-9);
        let svg = figure(&results);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        // numpy at 6, from 1: a fifth of the axis is a decade.
        let width = (WIDTH - LEFT - RIGHT) / 5.0 * 6f64.log10();
        assert!(svg.contains(&format!("width=\"{width:.1}\" height=\"12\" fill=\"{SAME}\"")), "{svg}");
        assert!(!svg.contains("shortcut"));
        assert!(svg.contains(FLOOR) && svg.contains("numpy &amp; co") && !svg.contains("NaN"));
    }
}
