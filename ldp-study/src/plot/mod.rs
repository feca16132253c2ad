//! Line charts as SVG, from nothing but text.
//!
//! They are made for a column of a journal: all texts are at least a forty-fifth of the width. Lines are told apart by
//! colour, for colour-blind readers too, by dashes and by marks; every line is named where it ends, so that no legend can
//! cover data.

mod axis;
mod band;
mod grid;
mod labels;
mod line;
mod png;
mod stack;
mod style;
mod text;

pub use axis::{Axis, Scale};
pub use band::Band;
pub use labels::Mark;
pub use png::{PngError, SCALE, TALLEST, png};
pub use stack::panels;

use std::fmt::Write;
use style::Style;

/// What the reader's machine may have, all of the same widths.
const FONT: &str = "Helvetica, Arial, Arimo, Liberation Sans, sans-serif";
const WIDTH: f64 = 540.0;
/// The least height of the area of the lines: many labels need more.
const AREA: f64 = 260.0;

/// A line of a chart.
pub struct Series {
    /// What it is called.
    pub label: String,
    /// Its points; one that cannot be shown interrupts it.
    pub points: Vec<(f64, f64)>,
    /// Whether it is a reference, drawn thin and grey, behind the others.
    pub reference: bool,
    /// Whether each of its points is marked, so that few of them do not pass for a curve. A point without neighbours is
    /// always marked, because no line would show it; and where there are many lines, all have some marks.
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
        self.sized(self.left(), self.right(), AREA, true)
    }

    /// How tall [`Self::svg`] will be.
    pub fn height(&self) -> f64 {
        self.above() + AREA.max(self.labels_height()).ceil() + Self::below(true)
    }

    /// The chart with given margins and a least height of its area; the name of the horizontal axis may be left out.
    fn sized(&self, left: f64, right: f64, area: f64, named: bool) -> String {
        let frame = Frame {
            left,
            top: self.above(),
            width: WIDTH - left - right,
            height: area.max(self.labels_height()).ceil(),
            named,
        };
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.draw(&frame, &mut out);
        out
    }

    fn draw(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        let (height, size) = (frame.bottom() + Self::below(frame.named), text::SIZE);
        write!(out, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}""#)?;
        write!(out, r#" width="{WIDTH}" height="{height}" role="img""#)?;
        writeln!(out, r##" font-family="{FONT}" font-size="{size}" fill="#222">"##)?;
        writeln!(out, r##"<rect width="{WIDTH}" height="{height}" fill="#fff"/>"##)?;
        self.heading(out)?;
        self.grid(frame, out)?;
        for band in &self.bands {
            self.band(frame, band, out)?;
        }
        let lines = self.lines(frame);
        // References behind the others.
        for line in lines.iter().filter(|line| line.series.reference) {
            line.draw(out)?;
        }
        for line in lines.iter().filter(|line| !line.series.reference) {
            line.draw(out)?;
        }
        self.labels(frame, &lines, out)?;
        writeln!(out, "</svg>")
    }

    /// Where a point is drawn, if it can be shown.
    fn at(&self, frame: &Frame, &(x, y): &(f64, f64)) -> Option<(f64, f64)> {
        let shown = |place: &f64| (0.0..=1.0).contains(place);
        Some((frame.x(self.x.place(x).filter(shown)?), frame.y(self.y.place(y).filter(shown)?)))
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
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    /// Whether the horizontal axis is named.
    named: bool,
}

impl Frame {
    fn x(&self, place: f64) -> f64 {
        self.left + place * self.width
    }

    fn y(&self, place: f64) -> f64 {
        self.top + (1.0 - place) * self.height
    }

    fn end(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A text inside XML. What XML cannot hold is shown as a replacement character.
pub fn escape(text: &str) -> String {
    let legal = |letter: char| match letter {
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ => letter,
    };
    let text: String = text.chars().map(legal).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::style::COLOURS;
    use super::text::{LINE, SIZE};
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
        assert_eq!(numbers(&svg, "<svg", "height"), [chart().height()]);
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
        // One for each point that is shown, and one before the name.
        let circles: Vec<&str> = svg.lines().filter(|line| line.starts_with("<circle")).collect();
        assert!(circles.len() == 20 && circles.iter().all(|circle| circle.contains(COLOURS[0])), "{circles:?}");
        // No line leads to a point between two gaps.
        chart.series[0].marks = false;
        chart.series[0].points[3].1 = f64::NAN;
        let svg = chart.svg();
        let (x, y) = (numbers(&svg, "<circle", "cx"), numbers(&svg, "<circle", "cy"));
        // The other one stands before the name.
        assert_eq!((x.len(), y.len()), (2, 2));
        assert!(svg.contains(&format!("M{:.2} {:.2}M", x[0], y[0])));
    }

    #[test]
    fn texts_of_ticks_keep_apart_and_titles_fit() {
        let mut chart = chart();
        chart.title = "long ".repeat(50);
        chart.x = Axis::new("users", Scale::Log, [9.1e3, 6.8e4].into_iter());
        chart.y = Axis::new("y", Scale::Log, [7.2, 48.0].into_iter());
        let svg = chart.svg();
        let titles: Vec<&str> = svg.lines().filter(|line| line.contains("font-weight")).collect();
        assert!(titles.len() == 2 && titles[1].contains('…'), "{titles:?}");
        for title in titles {
            let text = title.split(['<', '>']).nth(2).unwrap();
            assert!(10.0 + png::drawn_width(text, 13.0, true) <= WIDTH - 10.0 && text.len() > 60, "{text}");
        }
        // The full text is still there for machines.
        assert!(svg.contains(&format!("<title>{}</title>", chart.title)));
        let xs = numbers(&svg, "text-anchor=\"middle\"", "x");
        let ys = numbers(&svg, "text-anchor=\"end\"", "y");
        // The last of the first is the name of the axis.
        assert!(xs[..xs.len() - 1].windows(2).all(|pair| pair[1] - pair[0] > 2.0 * SIZE), "{xs:?}");
        assert!(ys.len() >= 4 && ys.windows(2).all(|pair| pair[0] - pair[1] >= LINE), "{ys:?}");
    }
}
