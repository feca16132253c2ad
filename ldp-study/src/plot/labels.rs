//! Names and notes, where they cover neither each other nor, if possible, a line.

use super::band::OPACITY;
use super::line::Line;
use super::style::{GREY, Style};
use super::text::{self, LINE, width};
use super::{Chart, Frame, escape};
use std::fmt::Write;

/// From the frame to the samples before names, and how long those are.
const GAP: f64 = 9.0;
const SAMPLE: f64 = 22.0;
/// From a sample to its name, and from a name to the edge.
const AIR: f64 = 5.0;
/// The widest a line of a name may be, and the most lines of one.
const ROOM: f64 = 150.0;
const LINES: usize = 3;
/// Between names.
const APART: f64 = 2.0;
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

/// What stands before a name beside the frame.
enum Key<'a> {
    Line(&'a Line<'a>),
    Band(&'static str),
}

/// A name beside the frame.
struct End<'a> {
    x: f64,
    y: f64,
    key: Key<'a>,
    lines: Vec<String>,
}

impl End<'_> {
    fn height(&self) -> f64 {
        LINE * self.lines.len() as f64 + APART
    }
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

/// A name as it is written beside the frame.
fn written(label: &str) -> Vec<String> {
    text::wrap(label, ROOM, LINES)
}

impl Chart {
    fn names(&self) -> impl Iterator<Item = Vec<String>> {
        let names = self.series.iter().map(|series| &series.label).chain(self.bands.iter().map(|band| &band.label));
        names.filter(|name| !name.is_empty()).map(|name| written(name))
    }

    /// Room right of the frame.
    pub(super) fn right(&self) -> f64 {
        let widest = self.names().flatten().map(|line| width(&line)).fold(0.0, f64::max);
        if widest == 0.0 { 16.0 } else { (GAP + SAMPLE + widest + 2.0 * AIR).ceil() }
    }

    /// The height that all names together need.
    pub(super) fn labels_height(&self) -> f64 {
        self.names().map(|lines| LINE * lines.len() as f64 + APART).sum()
    }

    /// Every line's name at its end, those of bands among them, and the notes.
    pub(super) fn labels(&self, frame: &Frame, lines: &[Line<'_>], out: &mut String) -> std::fmt::Result {
        let mut ends = Vec::new();
        let mut notes = Vec::new();
        for mark in &self.marks {
            let Some((x, y)) = self.at(frame, &(mark.x, mark.y)) else { continue };
            notes.push(Note { x, y, radius: 4.5, colour: "#222", hollow: true, label: &mark.label });
        }
        for line in lines.iter().filter(|line| !line.series.label.is_empty()) {
            let Some((x, y)) = line.end() else { continue };
            if line.series.reference && x < frame.left + 0.9 * frame.width {
                // A reference that ends early has its name right there: so it is seen where it ends.
                notes.push(Note { x, y, radius: 2.0, colour: GREY, hollow: false, label: &line.series.label });
            } else {
                ends.push(End { x, y, key: Key::Line(line), lines: written(&line.series.label) });
            }
        }
        for band in self.bands.iter().filter(|band| !band.label.is_empty()) {
            let Some((x, y)) = band.end(self, frame) else { continue };
            ends.push(End { x, y, key: Key::Band(Style::of(band.of).colour), lines: written(&band.label) });
        }
        beside(frame, ends, out)?;
        inside(frame, lines, &notes, out)
    }
}

fn inside(frame: &Frame, lines: &[Line<'_>], notes: &[Note<'_>], out: &mut String) -> std::fmt::Result {
    let mut room = Room { frame, taken: notes.iter().map(Note::circle).collect(), lines };
    for note in notes {
        let Note { x, y, radius, colour, hollow, .. } = note;
        let paint = if *hollow {
            format!(r#"fill="none" stroke="{colour}" stroke-width="1.4""#)
        } else {
            format!(r#"fill="{colour}""#)
        };
        write!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius}" {paint}/>"#)?;
        let label = text::cut(note.label, frame.width);
        let (left, line) = room.find(note, width(&label));
        let label = escape(&label);
        writeln!(out, r#"<text x="{left:.2}" y="{line:.2}" fill="{}" {WHITE}>{label}</text>"#, ink(colour))?;
    }
    Ok(())
}

/// Letters are thinner than lines, and grey ones a shade darker.
fn ink(colour: &'static str) -> &'static str {
    if colour == GREY { "#555" } else { colour }
}

/// Names beside the frame, moved apart where they would overlap.
fn beside(frame: &Frame, mut ends: Vec<End<'_>>, out: &mut String) -> std::fmt::Result {
    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
    // Their middles: down from the top, and back up from the bottom if they were pushed beyond it.
    let mut places: Vec<f64> = Vec::with_capacity(ends.len());
    let mut highest = frame.top - LINE / 2.0;
    for end in &ends {
        places.push(end.y.max(highest + end.height() / 2.0));
        highest = places[places.len() - 1] + end.height() / 2.0;
    }
    let mut lowest = frame.bottom() + LINE / 2.0;
    for (place, end) in places.iter_mut().zip(&ends).rev() {
        *place = place.min(lowest - end.height() / 2.0);
        lowest = *place - end.height() / 2.0;
    }
    for (End { x, y, key, lines }, place) in ends.into_iter().zip(places) {
        let from = frame.end() + GAP;
        let near = x >= frame.left + 0.9 * frame.width;
        let (Key::Band(colour) | Key::Line(&Line { style: Style { colour, .. }, .. })) = key;
        // From farther away the leader would cross other lines, and the sample says enough.
        if near {
            writeln!(
                out,
                r#"<path d="M{x:.2} {y:.2}L{:.2} {place:.2}" stroke="{colour}" stroke-width="0.6" opacity="0.6"/>"#,
                from - 1.0
            )?;
        }
        match key {
            Key::Line(line) => line.sample(from, from + SAMPLE, place, out)?,
            Key::Band(colour) => {
                let top = place - 4.5;
                write!(out, r#"<rect x="{from:.2}" y="{top:.2}" width="{SAMPLE}" height="9""#)?;
                writeln!(out, r#" fill="{colour}" fill-opacity="{OPACITY}"/>"#)?;
            }
        }
        let first = place + 4.0 - LINE * (lines.len() - 1) as f64 / 2.0;
        let fill = if colour == GREY { "#555" } else { "#222" };
        for (number, line) in lines.iter().enumerate() {
            let (x, y) = (from + SAMPLE + AIR, first + LINE * number as f64);
            writeln!(out, r#"<text x="{x:.2}" y="{y:.2}" fill="{fill}">{}</text>"#, escape(line))?;
        }
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
    lines: &'a [Line<'a>],
}

impl Room<'_> {
    /// Where a text begins, and the line it stands on: to the right of its circle, to the left or in the middle, above or
    /// below, and farther away the fuller it is.
    fn find(&mut self, note: &Note<'_>, width: f64) -> (f64, f64) {
        let gap = note.radius + 3.5;
        let (start, end) = (self.frame.left + 3.0, self.frame.end());
        let (top, bottom) = (self.frame.top, self.frame.bottom());
        let mut best: Option<(usize, Area)> = None;
        for row in 0..(self.frame.height / LINE) as usize {
            let away = gap + row as f64 * LINE;
            for left in [note.x + gap, note.x - gap - width, note.x - width / 2.0] {
                for line in [note.y - away, note.y + away + ABOVE] {
                    let left = left.min(end - width).max(start);
                    let line = line.min(bottom - BELOW).max(top + ABOVE);
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
        let crosses = |line: &&Line<'_>| {
            line.pieces.iter().any(|piece| piece.windows(2).any(|pair| area.crossed(pair[0], pair[1])))
        };
        1000 * texts + 3 * self.lines.iter().filter(crosses).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::png::{drawn_width, text_boxes};
    use super::super::tests::{chart, numbers};
    use super::super::text::SIZE;
    use super::super::{AREA, Axis, Band, Scale, Series, WIDTH};
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
            let (top, bottom) = (named(count).above(), height - Chart::below(true));
            assert!(heights[0] > top && heights[count - 1] <= bottom + LINE);
        }
    }

    #[test]
    fn a_long_name_is_broken_and_shortened_to_the_picture() {
        let mut chart = named(2);
        chart.series[0].label = "long ".repeat(40);
        let svg = chart.svg();
        let lines: Vec<&str> = svg.lines().filter(|line| line.contains(">long ")).collect();
        assert!(lines.len() == LINES && lines[LINES - 1].contains('…'), "{lines:?}");
        for line in lines {
            let (from, text) = (numbers(line, "", "x")[0], line.split(['>', '<']).nth(2).unwrap());
            assert!(from > WIDTH / 2.0 && from + drawn_width(text, SIZE, false) <= WIDTH && text.len() > 15, "{text}");
        }
        // The other name keeps away from all of them.
        let (long, other) = (numbers(&svg, ">long ", "y"), numbers(&svg, ">line 1<", "y")[0]);
        assert!(long.iter().all(|line| (line - other).abs() > LINE - 0.01), "{long:?} {other}");
    }

    #[test]
    fn no_text_touches_another_or_the_edge() {
        let mut everything = named(16);
        for (index, series) in everything.series.iter_mut().enumerate() {
            series.label = format!("interval:cuts=-{index}/0/{index},origin=0.125 & more");
            series.points = (1..9).map(|x| (f64::from(x), 1.0 + index as f64 * f64::from(x))).collect();
            series.reference = index % 5 == 4;
            series.marks = index % 2 == 0;
        }
        everything.series[4].points.truncate(3);
        everything.title = "n·MSE of sixteen protocols with long names, gaussian:sigma=1, θ = 0.5, n = 10000".into();
        everything.y = Axis::new("a vertical axis with a name", Scale::Linear, [1.0e6, 1.00009e6].into_iter());
        everything.x = Axis::new("a horizontal axis with a name", Scale::Log, [0.9, 9.0].into_iter());
        let band =
            |of| Band { label: format!("{of} replications cannot tell apart"), points: vec![(1.0, 0.0, 1e7)], of };
        everything.bands = (0..3).map(band).collect();
        let note = |x| Mark { x, y: 1.00005e6, label: format!("best: {x}") };
        everything.marks = [2.0, 2.1, 8.9].map(note).into();
        for chart in [everything, chart(), named(3)] {
            let svg = chart.svg();
            let (height, boxes) = (numbers(&svg, "<svg", "height")[0], text_boxes(&svg));
            assert!(boxes.len() == svg.matches("</text>").count() && boxes.len() > 12);
            for (index, (text, area)) in boxes.iter().enumerate() {
                let within = area[0] >= 0.0 && area[1] >= 0.0 && area[2] <= WIDTH && area[3] <= height;
                assert!(within, "{text}: {area:?}");
                for (other, there) in &boxes[..index] {
                    let apart =
                        area[0] >= there[2] || area[2] <= there[0] || area[1] >= there[3] || area[3] <= there[1];
                    assert!(apart, "{text} and {other}: {area:?} {there:?}");
                }
            }
        }
    }

    #[test]
    fn a_leader_does_not_cross_the_picture() {
        let leaders = |svg: &str| svg.matches("opacity=\"0.6\"").count();
        let mut chart = named(3);
        assert_eq!(leaders(&chart.svg()), 3);
        chart.series[0].points[1].0 = 4.0;
        let svg = chart.svg();
        assert!(leaders(&svg) == 2 && svg.contains(">line 0<"));
        // A reference has its name where it ends, inside the frame.
        chart.series[0].reference = true;
        let svg = chart.svg();
        assert!(numbers(&svg, ">line 0<", "x")[0] < WIDTH - chart.right());
    }

    #[test]
    fn notes_stay_inside_the_frame() {
        // The corners of the area, and its middle.
        for (x, y) in [(0.4, 0.4), (0.4, 64.0), (8.0, 0.4), (8.0, 64.0), (4.0, 10.0)] {
            let chart = Chart { marks: vec![Mark { x, y, label: "best: 306 <".into() }], ..chart() };
            let svg = chart.svg();
            assert_eq!(svg, chart.svg());
            let (left, line) = (numbers(&svg, "best", "x")[0], numbers(&svg, "best", "y")[0]);
            let top = chart.above();
            assert!(left >= chart.left() && left + width("best: 306 <") <= WIDTH - chart.right() + 0.01, "{left}");
            assert!(line - ABOVE >= top && line + BELOW <= top + AREA, "{line}");
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
