//! Line charts as SVG, from nothing but text.
//!
//! Colours are told apart by colour-blind readers and lines also by their dashes; every line is labelled where it ends, so
//! that no legend can cover data.

mod axis;
mod band;
mod labels;
mod png;
mod stack;

pub use axis::{Axis, Scale};
pub use band::Band;
pub use labels::Mark;
pub use png::png;
pub use stack::stack;

use std::fmt::Write;

/// Okabe and Ito's palette without its yellow, too light for lines on white.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];
/// Of references.
const GREY: &str = "#777777";
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

const WIDTH: f64 = 720.0;
/// The least height of the area of the lines: many labels need more.
const AREA: f64 = 338.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 56.0;
/// The height of a label.
const LINE: f64 = 15.0;
/// The width of a character of a label, on average.
const CHARACTER: f64 = 6.6;

/// A line of a chart.
pub struct Series {
    /// What it is called.
    pub label: String,
    /// Its points; one that cannot be shown interrupts it.
    pub points: Vec<(f64, f64)>,
    /// Whether it is a reference, drawn thin and grey, behind the others.
    pub reference: bool,
    /// Whether its points are marked by small circles, so that few of them do not pass for a curve. A point without
    /// neighbours is always marked: no line would show it.
    pub marks: bool,
}

/// A line chart.
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Areas behind the lines.
    pub bands: Vec<Band>,
    /// Points to look at; one outside the axes is left out.
    pub marks: Vec<Mark>,
}

impl Chart {
    /// The chart as SVG text: the same bytes for the same numbers.
    pub fn svg(&self) -> String {
        let lines = self.series.iter().map(|series| labels::width(&series.label));
        let bands = self.bands.iter().filter(|band| !band.label.is_empty());
        let widths: Vec<f64> = lines.chain(bands.map(|band| labels::SWATCH + labels::width(&band.label))).collect();
        let right = (24.0 + widths.iter().copied().fold(0.0, f64::max)).min(0.45 * WIDTH);
        let frame = Frame { width: WIDTH - LEFT - right, height: AREA.max(LINE * widths.len() as f64) };
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.draw(&frame, &mut out);
        out
    }

    fn draw(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        let height = TOP + frame.height + BOTTOM;
        writeln!(
            out,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">"##
        )?;
        writeln!(out, "<title>{}</title>", escape(&self.title))?;
        writeln!(out, r##"<rect width="{WIDTH}" height="{height}" fill="#fff"/>"##)?;
        // A long title in smaller letters, rather than cut off.
        let bold = 1.25 * labels::width(&self.title);
        let size = (14.0 * (WIDTH - LEFT - 10.0) / bold).floor().min(14.0);
        writeln!(
            out,
            r#"<text x="{LEFT}" y="24" font-size="{size}" font-weight="bold">{}</text>"#,
            escape(&self.title)
        )?;
        self.grid(frame, out)?;
        for band in &self.bands {
            self.band(frame, band, out)?;
        }
        let references = self.series.iter().filter(|series| series.reference);
        let others = self.series.iter().filter(|series| !series.reference);
        for series in references {
            self.line(frame, series, GREY, "4 4", 1.2, out)?;
        }
        for (index, series) in others.enumerate() {
            let (colour, dash) = style(index);
            self.line(frame, series, colour, dash, 2.0, out)?;
        }
        self.labels(frame, out)?;
        writeln!(out, "</svg>")
    }

    fn grid(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        let (bottom, end) = (TOP + frame.height, LEFT + frame.width);
        // Texts that would run into the one before are left out; their lines stay.
        let mut free = f64::NEG_INFINITY;
        for (value, text) in self.x.ticks(8) {
            let Some(x) = self.x.place(value).map(|place| frame.x(place)) else { continue };
            writeln!(out, r##"<path d="M{x:.2} {TOP}V{bottom}" stroke="#e4e4e4"/>"##)?;
            let half = labels::width(&text) / 2.0;
            if x - half > free {
                writeln!(out, r#"<text x="{x:.2}" y="{:.2}" text-anchor="middle">{text}</text>"#, bottom + 18.0)?;
                free = x + half;
            }
        }
        let mut free = f64::INFINITY;
        for (value, text) in self.y.ticks(7) {
            let Some(y) = self.y.place(value).map(|place| frame.y(place)) else { continue };
            writeln!(out, r##"<path d="M{LEFT} {y:.2}H{end:.2}" stroke="#e4e4e4"/>"##)?;
            if y < free {
                writeln!(out, r#"<text x="{:.2}" y="{:.2}" text-anchor="end">{text}</text>"#, LEFT - 8.0, y + 4.0)?;
                free = y - LINE;
            }
        }
        let mut short = String::new();
        for x in self.x.between(8).into_iter().filter_map(|value| self.x.place(value)) {
            write!(short, "M{:.2} {bottom}v4", frame.x(x))?;
        }
        for y in self.y.between(7).into_iter().filter_map(|value| self.y.place(value)) {
            write!(short, "M{LEFT} {:.2}h-4", frame.y(y))?;
        }
        if !short.is_empty() {
            writeln!(out, r##"<path d="{short}" stroke="#999"/>"##)?;
        }
        writeln!(out, r##"<path d="M{LEFT} {TOP}V{bottom}H{end:.2}" fill="none" stroke="#222"/>"##)?;
        let middle = LEFT + frame.width / 2.0;
        writeln!(
            out,
            r#"<text x="{middle:.2}" y="{:.2}" text-anchor="middle">{}</text>"#,
            bottom + BOTTOM - 14.0,
            escape(self.x.label())
        )?;
        let centre = TOP + frame.height / 2.0;
        writeln!(
            out,
            r#"<text transform="translate(18 {centre:.2}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape(self.y.label())
        )
    }

    fn at(&self, frame: &Frame, &(x, y): &(f64, f64)) -> Option<(f64, f64)> {
        let shown = |place: &f64| (0.0..=1.0).contains(place);
        Some((frame.x(self.x.place(x).filter(shown)?), frame.y(self.y.place(y).filter(shown)?)))
    }

    /// The uninterrupted pieces of a line, where they are drawn.
    fn pieces(&self, frame: &Frame, points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        pieces(points.iter().map(|point| self.at(frame, point)))
    }

    fn line(
        &self,
        frame: &Frame,
        series: &Series,
        colour: &str,
        dash: &str,
        width: f64,
        out: &mut String,
    ) -> std::fmt::Result {
        let pieces = self.pieces(frame, &series.points);
        let mut path = String::new();
        for piece in &pieces {
            for (index, (x, y)) in piece.iter().enumerate() {
                write!(path, "{}{x:.2} {y:.2}", if index == 0 { 'M' } else { 'L' })?;
            }
        }
        writeln!(
            out,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}" stroke-linejoin="round"/>"#
        )?;
        let radius = 0.4 + 1.2 * width;
        for (x, y) in pieces.iter().filter(|piece| series.marks || piece.len() == 1).flatten() {
            writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius:.1}" fill="{colour}"/>"#)?;
        }
        Ok(())
    }
}

/// What lies between the gaps.
fn pieces<T>(points: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut all = vec![Vec::new()];
    for point in points {
        match (point, all.last_mut()) {
            (Some(point), Some(piece)) => piece.push(point),
            _ => all.push(Vec::new()),
        }
    }
    all.retain(|piece| !piece.is_empty());
    all
}

/// The area of the lines.
struct Frame {
    width: f64,
    height: f64,
}

impl Frame {
    fn x(&self, place: f64) -> f64 {
        LEFT + place * self.width
    }

    fn y(&self, place: f64) -> f64 {
        TOP + (1.0 - place) * self.height
    }
}

fn style(index: usize) -> (&'static str, &'static str) {
    (COLOURS[index % COLOURS.len()], DASHES[index / COLOURS.len() % DASHES.len()])
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn chart() -> Chart {
        let points = |f: fn(f64) -> f64| (1..=20).map(|i| f64::from(i) * 0.4).map(|x| (x, f(x))).collect::<Vec<_>>();
        let series = |label: &str, points, reference| Series { label: label.into(), points, reference, marks: false };
        let all = vec![
            series("a < b & c", points(|x| x), false),
            series("square", points(|x| x * x), false),
            series("limit", points(|_| 30.0), true),
        ];
        let values = || all.iter().flat_map(|series| series.points.iter().copied());
        Chart {
            title: "A chart".into(),
            x: Axis::new("x", Scale::Linear, values().map(|point| point.0)),
            y: Axis::new("y", Scale::Log, values().map(|point| point.1)),
            series: all,
            bands: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The numbers of an attribute, in the lines that contain a text.
    pub fn numbers(svg: &str, text: &str, attribute: &str) -> Vec<f64> {
        let value = |line: &str| line.split(&format!(" {attribute}=\"")).nth(1)?.split('"').next()?.parse().ok();
        svg.lines().filter(|line| line.contains(text)).filter_map(value).collect()
    }

    #[test]
    fn a_chart_is_well_formed_and_repeatable() {
        let svg = chart().svg();
        assert_eq!(svg, chart().svg());
        assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN") && !svg.contains("inf"));
        // Every element is closed: as many openings as ends.
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert_eq!((svg.matches("<svg").count(), svg.matches("</svg>").count()), (1, 1));
    }

    #[test]
    fn a_value_that_cannot_be_shown_interrupts_the_line() {
        let mut chart = chart();
        chart.series[0].points[5].1 = f64::NAN;
        let svg = chart.svg();
        let line = svg.lines().find(|line| line.contains(COLOURS[0])).unwrap();
        assert_eq!(line.matches('M').count(), 2);
    }
    #[test]
    fn points_are_marked_where_asked_or_alone() {
        let mut chart = chart();
        assert!(!chart.svg().contains("<circle"));
        chart.series[0].marks = true;
        chart.series[0].points[5].1 = f64::NAN;
        let svg = chart.svg();
        let circles: Vec<&str> = svg.lines().filter(|line| line.starts_with("<circle")).collect();
        assert!(circles.len() == 19 && circles.iter().all(|circle| circle.contains(COLOURS[0])), "{circles:?}");
        // No line leads to a point between two gaps.
        chart.series[0].marks = false;
        chart.series[0].points[3].1 = f64::NAN;
        let svg = chart.svg();
        let (x, y) = (numbers(&svg, "<circle", "cx"), numbers(&svg, "<circle", "cy"));
        assert_eq!((x.len(), y.len()), (1, 1));
        assert!(svg.contains(&format!("M{:.2} {:.2}M", x[0], y[0])));
    }

    #[test]
    fn texts_of_ticks_keep_apart_and_titles_fit() {
        let mut chart = chart();
        chart.title = "long ".repeat(30);
        chart.x = Axis::new("users", Scale::Log, [9.1e3, 6.8e4].into_iter());
        chart.y = Axis::new("y", Scale::Log, [7.2, 48.0].into_iter());
        let svg = chart.svg();
        let size = numbers(&svg, "font-weight", "font-size")[0];
        assert!((6.0..11.0).contains(&size), "{size}");
        let xs = numbers(&svg, "text-anchor=\"middle\"", "x");
        let ys = numbers(&svg, "text-anchor=\"end\"", "y");
        // The last of the first is the name of the axis.
        assert!(xs[..xs.len() - 1].windows(2).all(|pair| pair[1] - pair[0] > 4.0 * CHARACTER), "{xs:?}");
        assert!(ys.len() >= 4 && ys.windows(2).all(|pair| pair[0] - pair[1] >= LINE), "{ys:?}");
    }
}
