//! Lines and their marks.

use super::style::Style;
use super::{Chart, Frame, Series, pieces};
use std::fmt::Write;

/// Lines in a chart, above which dashes and colours are not enough and all get some marks.
const FEW: usize = 3;
/// As many marks on such a line, about.
const SOME: usize = 4;

/// A line as it is drawn.
pub struct Line<'a> {
    pub series: &'a Series,
    pub style: Style,
    /// Its uninterrupted pieces.
    pub pieces: Vec<Vec<(f64, f64)>>,
    /// The same up to where they leave the frame: a line that shoots out of the picture is seen to.
    strokes: Vec<Vec<(f64, f64)>>,
    /// Where its marks are.
    marks: Vec<(f64, f64)>,
}

impl Chart {
    /// All lines, in the order in which they were given.
    pub(super) fn lines(&self, frame: &Frame) -> Vec<Line<'_>> {
        let many = self.series.iter().filter(|series| !series.reference).count() > FEW;
        let (mut references, mut others) = (0, 0);
        let mut all = Vec::with_capacity(self.series.len());
        for series in &self.series {
            let pieces = pieces(series.points.iter().map(|point| self.at(frame, point)));
            let strokes = self.strokes(frame, &series.points);
            let mut marks: Vec<(f64, f64)> =
                pieces.iter().filter(|piece| series.marks || piece.len() == 1).flatten().copied().collect();
            let style = if series.reference {
                // Those without a name share one with the first that has it: lines of one kind.
                let named = !series.label.is_empty();
                references += usize::from(named);
                Style::reference(if named { references - 1 } else { 0 })
            } else {
                if many && !series.marks {
                    marks.extend(some(frame, &pieces, others));
                }
                others += 1;
                Style::of(others - 1)
            };
            all.push(Line { series, style, pieces, strokes, marks });
        }
        all
    }

    /// The pieces of a line, each with the places where it enters the frame and leaves it.
    fn strokes(&self, frame: &Frame, points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let mut walk = Vec::new();
        for (i, point) in points.iter().enumerate() {
            let here = self.at(frame, point);
            let neighbour = |other: Option<&(f64, f64)>| other.and_then(|other| self.edge(frame, here, *other));
            walk.push(if i == 0 { None } else { neighbour(points.get(i - 1)) }.filter(|_| here.is_some()));
            walk.push(here);
            walk.push(neighbour(points.get(i + 1)));
        }
        // Three places per point, of which only the one in the middle can be a gap.
        let shown = walk.iter().enumerate().filter(|(i, place)| place.is_some() || i % 3 == 1);
        pieces(shown.map(|(_, &place)| place))
    }

    /// Where the way from a point inside to one above or below crosses the frame.
    fn edge(&self, frame: &Frame, inside: Option<(f64, f64)>, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let (from_x, from_y) = inside?;
        let (across, up) = (self.x.place(x)?, self.y.place(y)?);
        if (0.0..=1.0).contains(&up) || !(0.0..=1.0).contains(&across) {
            return None;
        }
        let (to_x, to_y, edge) = (frame.x(across), frame.y(up), frame.y(up.clamp(0.0, 1.0)));
        Some((from_x + (to_x - from_x) * (edge - from_y) / (to_y - from_y), edge))
    }
}

/// Some points of a line, spread over the width, for every line at other places: marks of lines that run together do not
/// cover each other.
fn some(frame: &Frame, pieces: &[Vec<(f64, f64)>], index: usize) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = pieces.iter().filter(|piece| piece.len() > 1).flatten().copied().collect();
    // Multiples of the golden ratio are far from each other, however many there are.
    let phase = (0.5 + 0.618_034 * index as f64).fract();
    let places = (0..SOME).map(|k| frame.left + frame.width * (k as f64 + phase) / SOME as f64);
    let near = |x: f64| points.iter().copied().min_by(|a, b| (a.0 - x).abs().total_cmp(&(b.0 - x).abs()));
    let mut found: Vec<(f64, f64)> = places.filter_map(near).collect();
    found.dedup();
    found
}

impl Line<'_> {
    pub fn draw(&self, out: &mut String) -> std::fmt::Result {
        let mut path = String::new();
        for piece in &self.strokes {
            for (index, (x, y)) in piece.iter().enumerate() {
                write!(path, "{}{x:.2} {y:.2}", if index == 0 { 'M' } else { 'L' })?;
            }
        }
        self.style.path(&path, out)?;
        self.marks.iter().try_for_each(|&(x, y)| self.style.mark(x, y, out))
    }

    /// Where it ends.
    pub fn end(&self) -> Option<(f64, f64)> {
        self.pieces.last()?.last().copied()
    }

    /// A sample of it, to stand before its name.
    pub fn sample(&self, from: f64, to: f64, y: f64, out: &mut String) -> std::fmt::Result {
        if self.strokes.iter().any(|piece| piece.len() > 1) {
            self.style.path(&format!("M{from:.2} {y:.2}H{to:.2}"), out)?;
        }
        if self.marks.is_empty() { Ok(()) } else { self.style.mark((from + to) / 2.0, y, out) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::AREA;
    use super::super::tests::chart;
    use super::*;

    fn frame() -> Frame {
        Frame { left: 0.0, top: 0.0, width: 400.0, height: AREA, named: true }
    }

    #[test]
    fn many_lines_have_some_marks_at_places_of_their_own() {
        let with = |count: usize| {
            let mut chart = chart();
            let points = chart.series[0].points.clone();
            let series = |_| Series { label: String::new(), points: points.clone(), reference: false, marks: false };
            chart.series = (0..count).map(series).collect();
            chart
        };
        let few = with(FEW);
        assert!(few.lines(&frame()).iter().all(|line| line.marks.is_empty()));
        let many = with(FEW + 1);
        let lines = many.lines(&frame());
        assert!(lines.iter().all(|line| line.marks.len() == SOME));
        // All lines are the same here, and no mark hides another.
        for i in 0..lines.len() {
            for j in 0..i {
                assert!(lines[i].marks.iter().all(|mark| !lines[j].marks.contains(mark)));
            }
        }
        // On points of the line, and nowhere between.
        let points: Vec<_> = lines[0].pieces.iter().flatten().collect();
        assert!(lines[0].marks.iter().all(|mark| points.contains(&mark)));
    }

    #[test]
    fn a_line_is_drawn_to_the_edge_that_it_crosses() {
        let mut chart = chart();
        chart.y = crate::plot::Axis::new("y", crate::plot::Scale::Linear, [0.0, 10.0].into_iter());
        chart.series[0].points = vec![(1.0, 5.0), (2.0, 15.0), (3.0, 5.0), (4.0, -15.0), (5.0, f64::NAN), (6.0, 5.0)];
        let line = &chart.lines(&frame())[0];
        assert_eq!(line.pieces.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(line.strokes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3, 1]);
        let (top, bottom) = (frame().y(1.0), frame().y(0.0));
        assert_eq!((line.strokes[0][1].1, line.strokes[1][0].1, line.strokes[1][2].1), (top, top, bottom));
        // The way up crosses the edge at the same height on both sides, and in the order of the points.
        let xs: Vec<f64> = line.strokes.iter().flatten().map(|place| place.0).collect();
        assert!(xs.windows(2).all(|pair| pair[0] < pair[1]), "{xs:?}");
    }

    #[test]
    fn references_of_one_kind_look_alike() {
        let mut chart = chart();
        let reference = |label: &str| Series { label: label.into(), points: Vec::new(), reference: true, marks: false };
        chart.series = ["", "laws", "", "bound"].map(reference).into();
        let dashes: Vec<_> = chart.lines(&frame()).iter().map(|line| line.style.dash).collect();
        assert!(dashes[0] == dashes[1] && dashes[1] == dashes[2] && dashes[2] != dashes[3], "{dashes:?}");
    }

    #[test]
    fn a_sample_shows_the_line_and_its_marks() {
        let mut chart = chart();
        let sample = |chart: &Chart| {
            let mut out = String::new();
            chart.lines(&frame())[0].sample(10.0, 30.0, 5.0, &mut out).unwrap();
            out
        };
        assert!(sample(&chart).contains("M10.00 5.00H30.00") && !sample(&chart).contains("<circle"));
        chart.series[0].marks = true;
        assert!(sample(&chart).contains("<circle cx=\"20.00\" cy=\"5.00\""));
        // Dots alone.
        chart.series[0].marks = false;
        chart.series[0].points = vec![(1.0, 1.0), (f64::NAN, 1.0), (2.0, 2.0)];
        assert!(!sample(&chart).contains("<path") && sample(&chart).contains("<circle"));
    }
}
