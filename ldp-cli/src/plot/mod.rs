//! Line charts as SVG, from nothing but text.
//!
//! Colours are told apart by colour-blind readers and lines also by their dashes; every line is labelled where it ends, so
//! that no legend can cover data.

mod axis;

pub use axis::{Axis, Scale};

use std::fmt::Write;

/// Okabe and Ito's palette without its yellow, too light for lines on white.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
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
}

impl Chart {
    /// The chart as SVG text: the same bytes for the same numbers.
    pub fn svg(&self) -> String {
        let longest = self.series.iter().map(|series| series.label.chars().count()).max().unwrap_or(0);
        let right = (24.0 + CHARACTER * longest as f64).min(0.45 * WIDTH);
        let frame = Frame { width: WIDTH - LEFT - right, height: HEIGHT - TOP - BOTTOM };
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.draw(&frame, &mut out);
        out
    }

    fn draw(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">"##
        )?;
        writeln!(out, "<title>{}</title>", escape(&self.title))?;
        writeln!(out, r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##)?;
        writeln!(out, r#"<text x="{LEFT}" y="24" font-size="14" font-weight="bold">{}</text>"#, escape(&self.title))?;
        self.grid(frame, out)?;
        let references = self.series.iter().filter(|series| series.reference);
        let others = self.series.iter().filter(|series| !series.reference);
        for series in references {
            self.line(frame, series, "#777777", "4 4", 1.2, out)?;
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
        for (value, text) in self.x.ticks(8) {
            let Some(x) = self.x.place(value).map(|place| frame.x(place)) else { continue };
            writeln!(out, r##"<path d="M{x:.2} {TOP}V{bottom}" stroke="#e4e4e4"/>"##)?;
            writeln!(out, r#"<text x="{x:.2}" y="{:.2}" text-anchor="middle">{text}</text>"#, bottom + 18.0)?;
        }
        for (value, text) in self.y.ticks(7) {
            let Some(y) = self.y.place(value).map(|place| frame.y(place)) else { continue };
            writeln!(out, r##"<path d="M{LEFT} {y:.2}H{end:.2}" stroke="#e4e4e4"/>"##)?;
            writeln!(out, r#"<text x="{:.2}" y="{:.2}" text-anchor="end">{text}</text>"#, LEFT - 8.0, y + 4.0)?;
        }
        writeln!(out, r##"<path d="M{LEFT} {TOP}V{bottom}H{end:.2}" fill="none" stroke="#222"/>"##)?;
        let middle = LEFT + frame.width / 2.0;
        writeln!(
            out,
            r#"<text x="{middle:.2}" y="{:.2}" text-anchor="middle">{}</text>"#,
            HEIGHT - 14.0,
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

    fn line(
        &self,
        frame: &Frame,
        series: &Series,
        colour: &str,
        dash: &str,
        width: f64,
        out: &mut String,
    ) -> std::fmt::Result {
        let mut path = String::new();
        let mut pen = 'M';
        for point in &series.points {
            match self.at(frame, point) {
                Some((x, y)) => {
                    write!(path, "{pen}{x:.2} {y:.2}")?;
                    pen = 'L';
                }
                None => pen = 'M',
            }
        }
        writeln!(
            out,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}" stroke-linejoin="round"/>"#
        )
    }

    /// Every line's name at its end, moved apart where they would overlap.
    fn labels(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        let mut ends = Vec::new();
        let mut index = 0;
        for series in &self.series {
            let colour = if series.reference { "#777777" } else { style(index).0 };
            index += usize::from(!series.reference);
            let Some((x, y)) = series.points.iter().rev().find_map(|point| self.at(frame, point)) else { continue };
            if series.reference && x < LEFT + 0.9 * frame.width {
                // A reference that ends early has its name right there: a leader to the margin would cross the others.
                writeln!(
                    out,
                    r#"<circle cx="{x:.2}" cy="{y:.2}" r="2.5" fill="{colour}"/><text x="{:.2}" y="{:.2}" fill="{colour}">{}</text>"#,
                    x + 6.0,
                    y - 6.0,
                    escape(&series.label)
                )?;
            } else {
                ends.push((y, x, colour, &series.label));
            }
        }
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places: Vec<f64> = ends.iter().map(|end| end.0).collect();
        for i in 1..places.len() {
            places[i] = places[i].max(places[i - 1] + LINE);
        }
        // Back up from the bottom, if they were pushed beyond it.
        let mut lowest = TOP + frame.height;
        for place in places.iter_mut().rev() {
            *place = place.min(lowest);
            lowest = *place - LINE;
        }
        for ((y, x, colour, label), place) in ends.into_iter().zip(places) {
            let from = LEFT + frame.width + 10.0;
            writeln!(
                out,
                r#"<path d="M{x:.2} {y:.2}L{:.2} {place:.2}" stroke="{colour}" stroke-width="0.7" opacity="0.6"/>"#,
                from - 2.0
            )?;
            writeln!(out, r#"<text x="{from:.2}" y="{:.2}" fill="{colour}">{}</text>"#, place + 4.0, escape(label))?;
        }
        Ok(())
    }
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

    fn chart() -> Chart {
        let points = |f: fn(f64) -> f64| (1..=20).map(|i| f64::from(i) * 0.4).map(|x| (x, f(x))).collect::<Vec<_>>();
        let series = |label: &str, points, reference| Series { label: label.into(), points, reference };
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
        }
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
    fn labels_do_not_overlap() {
        let mut chart = chart();
        chart.series = (0..12)
            .map(|i| Series { label: format!("line {i}"), points: vec![(0.4, 1.0), (8.0, 1.0)], reference: false })
            .collect();
        let svg = chart.svg();
        let mut heights: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains(">line "))
            .map(|line| line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 12);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > LINE - 0.01), "{heights:?}");
        assert!(heights[11] <= HEIGHT - BOTTOM + 5.0);
    }

    #[test]
    fn a_value_that_cannot_be_shown_interrupts_the_line() {
        let mut chart = chart();
        chart.series[0].points[5].1 = f64::NAN;
        let svg = chart.svg();
        let line = svg.lines().find(|line| line.contains(COLOURS[0])).unwrap();
        assert_eq!(line.matches('M').count(), 2);
    }
}
