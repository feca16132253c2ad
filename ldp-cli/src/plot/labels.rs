//! Names and notes, where they cover neither each other nor, if possible, a line.

use super::{CHARACTER, Chart, Frame, GREY, LEFT, LINE, TOP, escape, style};
use std::fmt::Write;

/// The width of the sample of a band before its name.
pub const SWATCH: f64 = 16.0;
/// How far letters reach above and below the line they stand on.
const ABOVE: f64 = 9.0;
const BELOW: f64 = 3.0;
const WHITE: &str = r##"stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke""##;

/// A point to look at: a hollow circle with a few words beside it.
pub struct Mark {
    /// Where, horizontally.
    pub x: f64,
    /// Where, vertically.
    pub y: f64,
    /// The words; they stay inside the frame.
    pub label: String,
}

/// The width of a text.
pub fn width(text: &str) -> f64 {
    CHARACTER * text.chars().count() as f64
}

/// As much of a text as there is room for.
fn fit(text: &str, room: f64) -> String {
    let most = (room / CHARACTER).max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A name beside the frame.
struct End<'a> {
    x: f64,
    y: f64,
    colour: &'static str,
    label: &'a str,
    band: bool,
}

/// A name or note inside the frame, and the circle it belongs to.
struct Note<'a> {
    x: f64,
    y: f64,
    radius: f64,
    colour: &'static str,
    hollow: bool,
    label: &'a str,
}

impl Chart {
    /// Every line's name at its end, those of bands among them, and the notes.
    pub(super) fn labels(&self, frame: &Frame, out: &mut String) -> std::fmt::Result {
        let mut ends = Vec::new();
        let mut notes = Vec::new();
        for mark in &self.marks {
            let Some((x, y)) = self.at(frame, &(mark.x, mark.y)) else { continue };
            notes.push(Note { x, y, radius: 5.0, colour: "#222", hollow: true, label: &mark.label });
        }
        let mut index = 0;
        for series in &self.series {
            let colour = if series.reference { GREY } else { style(index).0 };
            index += usize::from(!series.reference);
            let Some((x, y)) = series.points.iter().rev().find_map(|point| self.at(frame, point)) else { continue };
            if series.reference && x < LEFT + 0.9 * frame.width {
                // A reference that ends early has its name right there: a leader to the margin would cross the others.
                notes.push(Note { x, y, radius: 2.5, colour, hollow: false, label: &series.label });
            } else {
                ends.push(End { x, y, colour, label: &series.label, band: false });
            }
        }
        for band in &self.bands {
            let Some((x, y)) = band.end(self, frame) else { continue };
            ends.push(End { x, y, colour: style(band.of).0, label: &band.label, band: true });
        }
        ends.retain(|end| !end.label.is_empty());
        beside(frame, ends, out)?;
        self.inside(frame, &notes, out)
    }

    fn inside(&self, frame: &Frame, notes: &[Note<'_>], out: &mut String) -> std::fmt::Result {
        if notes.is_empty() {
            return Ok(());
        }
        let lines = self.series.iter().map(|series| self.pieces(frame, &series.points)).collect();
        let mut room = Room { frame, taken: notes.iter().map(Note::circle).collect(), lines };
        for note in notes {
            let Note { x, y, radius, colour, hollow, .. } = note;
            let paint = if *hollow {
                format!(r#"fill="none" stroke="{colour}" stroke-width="1.6""#)
            } else {
                format!(r#"fill="{colour}""#)
            };
            write!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius}" {paint}/>"#)?;
            let label = fit(note.label, frame.width);
            let (left, line) = room.find(note, width(&label));
            writeln!(out, r#"<text x="{left:.2}" y="{line:.2}" fill="{colour}" {WHITE}>{}</text>"#, escape(&label))?;
        }
        Ok(())
    }
}

/// Names beside the frame, moved apart where they would overlap.
fn beside(frame: &Frame, mut ends: Vec<End<'_>>, out: &mut String) -> std::fmt::Result {
    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut places: Vec<f64> = ends.iter().map(|end| end.y).collect();
    for i in 1..places.len() {
        places[i] = places[i].max(places[i - 1] + LINE);
    }
    // Back up from the bottom, if they were pushed beyond it.
    let mut lowest = TOP + frame.height;
    for place in places.iter_mut().rev() {
        *place = place.min(lowest);
        lowest = *place - LINE;
    }
    for (End { x, y, colour, label, band }, place) in ends.into_iter().zip(places) {
        let mut from = LEFT + frame.width + 10.0;
        writeln!(
            out,
            r#"<path d="M{x:.2} {y:.2}L{:.2} {place:.2}" stroke="{colour}" stroke-width="0.7" opacity="0.6"/>"#,
            from - 2.0
        )?;
        if band {
            let top = place - 4.5;
            writeln!(out, r#"<rect x="{from:.2}" y="{top:.2}" width="12" height="9" fill="{colour}" opacity="0.3"/>"#)?;
            from += SWATCH;
        }
        let label = fit(label, super::WIDTH - from);
        writeln!(out, r#"<text x="{from:.2}" y="{:.2}" fill="{colour}">{}</text>"#, place + 4.0, escape(&label))?;
    }
    Ok(())
}

/// A rectangle.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    /// Whether a straight line passes through.
    fn crossed(&self, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> bool {
        // The part of the way, from 0 to 1, that lies between both pairs of sides.
        let between = |from: f64, to: f64, low: f64, high: f64| {
            if from == to {
                return if (low..=high).contains(&from) { (0.0, 1.0) } else { (1.0, 0.0) };
            }
            let (a, b) = ((low - from) / (to - from), (high - from) / (to - from));
            (a.min(b), a.max(b))
        };
        let (enter, leave) = between(x, to_x, self.left, self.right);
        let (above, below) = between(y, to_y, self.top, self.bottom);
        enter.max(above).max(0.0) <= leave.min(below).min(1.0)
    }
}

impl Note<'_> {
    fn circle(&self) -> Area {
        let Self { x, y, radius, .. } = self;
        Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }
}

/// What is inside the frame already.
struct Room<'a> {
    frame: &'a Frame,
    taken: Vec<Area>,
    /// The pieces of every line.
    lines: Vec<Vec<Vec<(f64, f64)>>>,
}

impl Room<'_> {
    /// Where a text begins, and the line it stands on: to the right of its circle, to the left or in the middle, above or
    /// below, and farther away the fuller it is.
    fn find(&mut self, note: &Note<'_>, width: f64) -> (f64, f64) {
        let gap = note.radius + 3.5;
        let (end, bottom) = (LEFT + self.frame.width, TOP + self.frame.height);
        let mut best: Option<(usize, Area)> = None;
        for row in 0..(self.frame.height / LINE) as usize {
            let away = gap + row as f64 * LINE;
            for left in [note.x + gap, note.x - gap - width, note.x - width / 2.0] {
                for line in [note.y - away, note.y + away + ABOVE] {
                    let left = left.min(end - width).max(LEFT);
                    let line = line.min(bottom - BELOW).max(TOP + ABOVE);
                    let area = Area { left, top: line - ABOVE, right: left + width, bottom: line + BELOW };
                    let cost = self.cost(&area) + 2 * row;
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, area));
                    }
                }
            }
        }
        let (_, area) = best.unwrap_or((0, note.circle()));
        self.taken.push(area);
        (area.left, area.bottom - BELOW)
    }

    /// Another text is never covered while there is room; a line rather than go two rows away.
    fn cost(&self, area: &Area) -> usize {
        let texts = self.taken.iter().filter(|other| other.meets(area)).count();
        let crosses = |pieces: &&Vec<Vec<(f64, f64)>>| {
            pieces.iter().any(|piece| piece.windows(2).any(|pair| area.crossed(pair[0], pair[1])))
        };
        1000 * texts + 3 * self.lines.iter().filter(crosses).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chart, numbers};
    use super::super::{AREA, Series, WIDTH};
    use super::*;

    fn named(count: usize) -> Chart {
        let points = || vec![(0.4, 1.0), (8.0, 1.0)];
        let series = |i| Series { label: format!("line {i}"), points: points(), reference: false, marks: false };
        Chart { series: (0..count).map(series).collect(), ..chart() }
    }

    #[test]
    fn labels_do_not_overlap() {
        // The second time more of them than the area is high.
        for count in [12, 40] {
            let svg = named(count).svg();
            let mut heights = numbers(&svg, ">line ", "y");
            heights.sort_by(f64::total_cmp);
            assert_eq!(heights.len(), count);
            assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > LINE - 0.01), "{heights:?}");
            let height = numbers(&svg, "<svg", "height")[0];
            assert!(heights[0] > TOP && heights[count - 1] <= height - super::super::BOTTOM + 5.0);
        }
    }

    #[test]
    fn a_long_name_is_shortened_to_the_picture() {
        let mut chart = named(1);
        chart.series[0].label = "long ".repeat(40);
        let svg = chart.svg();
        let line = svg.lines().find(|line| line.contains('…')).unwrap();
        let text = line.split('>').nth(1).unwrap().split('<').next().unwrap();
        let from = numbers(&svg, "…", "x")[0];
        assert!(from > WIDTH / 2.0 && from + width(text) <= WIDTH && text.len() > 30);
    }

    #[test]
    fn notes_stay_inside_the_frame() {
        // The corners of the area, and its middle.
        for (x, y) in [(0.4, 0.4), (0.4, 64.0), (8.0, 0.4), (8.0, 64.0), (4.0, 10.0)] {
            let chart = Chart { marks: vec![Mark { x, y, label: "best: 306 <".into() }], ..chart() };
            let svg = chart.svg();
            assert_eq!(svg, chart.svg());
            let (left, line) = (numbers(&svg, "best", "x")[0], numbers(&svg, "best", "y")[0]);
            let right = 24.0 + width("a < b & c");
            assert!(left >= LEFT && left + width("best: 306 <") <= WIDTH - right, "{left}");
            assert!(line - ABOVE >= TOP && line + BELOW <= TOP + AREA, "{line}");
            assert!(svg.contains(r##"fill="none" stroke="#222""##));
        }
        let outside = Chart { marks: vec![Mark { x: 99.0, y: 1.0, label: "outside".into() }], ..chart() };
        assert!(!outside.svg().contains("outside"));
    }

    #[test]
    fn notes_do_not_cover_each_other_and_avoid_lines() {
        let mark = |x| Mark { x, y: 10.0, label: format!("note {x}") };
        let crowded = Chart { marks: [3.9, 4.0, 4.1, 4.2].map(mark).into(), ..chart() };
        let svg = crowded.svg();
        let (lefts, lines) = (numbers(&svg, ">note", "x"), numbers(&svg, ">note", "y"));
        assert_eq!(lefts.len(), 4);
        for i in 0..4 {
            for j in 0..i {
                let apart = (lefts[i] - lefts[j]).abs() >= width("note 4.1") || (lines[i] - lines[j]).abs() >= 12.0;
                assert!(apart, "{lefts:?} {lines:?}");
            }
        }
        // A rising line leaves the place below its points on the right, where there is no other.
        let square = Chart { marks: vec![Mark { x: 4.0, y: 16.0, label: "here".into() }], ..chart() };
        let svg = square.svg();
        let circle = numbers(&svg, ">here<", "cy")[0];
        assert!(numbers(&svg, ">here<", "y")[0] > circle);
    }

    #[test]
    fn a_line_crosses_an_area_or_passes_it() {
        let area = Area { left: 1.0, top: 1.0, right: 3.0, bottom: 2.0 };
        assert!(area.crossed((0.0, 0.0), (4.0, 3.0)) && area.crossed((2.0, 0.0), (2.0, 9.0)));
        assert!(area.crossed((1.5, 1.5), (1.6, 1.5)));
        assert!(!area.crossed((0.0, 0.0), (0.9, 1.5)) && !area.crossed((0.0, 1.8), (4.0, 4.8)));
        assert!(!area.crossed((4.0, 0.0), (4.0, 3.0)));
    }
}
