//! Bands: what a line is known to within.

use super::{Axis, Chart, Frame, Style, pieces};
use std::fmt::Write;

/// Light enough for the grid and other bands to show through.
pub const OPACITY: f64 = 0.18;

/// A translucent area behind the lines, in the colour of one of them.
pub struct Band {
    /// What it is called; nothing is written if empty.
    pub label: String,
    /// Its points as (x, low, high). One that is not a number, or beside the axis in x, interrupts it; ends beyond the axis
    /// in y are drawn at the edge of the frame, an infinite one or one that a logarithmic axis cannot show included.
    pub points: Vec<(f64, f64, f64)>,
    /// The line it belongs to, counted without references.
    pub of: usize,
}

impl Band {
    /// Where it ends: the last x that can be shown, and the upper edge there.
    pub(super) fn end(&self, chart: &Chart, frame: &Frame) -> Option<(f64, f64)> {
        self.points.iter().rev().find_map(|point| chart.edges(frame, point)).map(|(x, _, high)| (x, high))
    }
}

impl Chart {
    /// Where a point of a band is drawn: x, the lower and the upper edge.
    fn edges(&self, frame: &Frame, &(x, low, high): &(f64, f64, f64)) -> Option<(f64, f64, f64)> {
        let x = self.x.place(x).filter(|place| (0.0..=1.0).contains(place))?;
        Some((frame.x(x), frame.y(clamped(&self.y, low)?), frame.y(clamped(&self.y, high)?)))
    }

    /// The area, one piece after the other: there along the upper edge, back along the lower.
    pub(super) fn band(&self, frame: &Frame, band: &Band, out: &mut String) -> std::fmt::Result {
        let colour = Style::of(band.of).colour;
        let (mut area, mut alone) = (String::new(), String::new());
        for piece in pieces(band.points.iter().map(|point| self.edges(frame, point))) {
            if let [(x, low, high)] = piece[..] {
                // An area of no width would be invisible.
                write!(alone, "M{x:.2} {low:.2}V{high:.2}")?;
                continue;
            }
            let there = piece.iter().map(|&(x, _, high)| (x, high));
            let back = piece.iter().rev().map(|&(x, low, _)| (x, low));
            for (index, (x, y)) in there.chain(back).enumerate() {
                write!(area, "{}{x:.2} {y:.2}", if index == 0 { 'M' } else { 'L' })?;
            }
            area.push('Z');
        }
        if !area.is_empty() {
            writeln!(out, r#"<path d="{area}" fill="{colour}" fill-opacity="{OPACITY}"/>"#)?;
        }
        if !alone.is_empty() {
            writeln!(out, r#"<path d="{alone}" stroke="{colour}" stroke-opacity="0.3" stroke-width="5"/>"#)?;
        }
        Ok(())
    }
}

/// The place of a value, at the edge if it is beyond.
fn clamped(axis: &Axis, value: f64) -> Option<f64> {
    if value.is_nan() {
        return None;
    }
    // An infinite value, or one too low for a logarithm, has no place, but is beyond one end.
    Some(axis.place(value).unwrap_or(if value > 0.0 { 1.0 } else { 0.0 }).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::AREA;
    use super::super::style::COLOURS;
    use super::super::tests::{chart, numbers};
    use super::super::text::LINE;
    use super::*;

    /// The corners of the areas.
    fn corners(svg: &str) -> Vec<Vec<(f64, f64)>> {
        let path = svg.lines().find(|line| line.contains("fill-opacity")).unwrap().split('"').nth(1).unwrap();
        let corner = |text: &str| {
            let (x, y) = text.split_once(' ').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        path.split_terminator('Z').map(|piece| piece[1..].split('L').map(corner).collect()).collect()
    }

    fn with(points: Vec<(f64, f64, f64)>, label: &str) -> Chart {
        Chart { bands: vec![Band { label: label.into(), points, of: 1 }], ..chart() }
    }

    #[test]
    fn a_band_is_an_area_behind_its_line() {
        let chart = with(vec![(1.0, 1.0, 2.0), (2.0, 2.0, 4.0), (4.0, 3.0, 9.0)], "");
        let svg = chart.svg();
        assert_eq!(svg, chart.svg());
        let at = svg.find("fill-opacity").unwrap();
        assert!(at < svg.find("stroke-dasharray").unwrap());
        let line = svg.lines().find(|line| line.contains("fill-opacity")).unwrap();
        assert!(line.contains(COLOURS[1]));
        let pieces = corners(&svg);
        assert_eq!((pieces.len(), pieces[0].len()), (1, 6));
        // Both ends of a point at one x; the upper edge first.
        assert!(pieces[0][0].0 == pieces[0][5].0 && pieces[0][0].1 < pieces[0][5].1);
        // Without a name there is no text more than before.
        assert_eq!(svg.matches("<text").count(), super::super::tests::chart().svg().matches("<text").count());
    }

    #[test]
    fn what_is_beyond_the_axis_ends_at_the_frame() {
        let points = vec![(1.0, -3.0, 2.0), (2.0, 0.0, 1e9), (4.0, 1e-9, f64::INFINITY), (5.0, f64::NEG_INFINITY, 9.0)];
        let chart = with(points, "");
        let (pieces, top) = (corners(&chart.svg()), chart.above());
        let heights: Vec<f64> = pieces[0].iter().map(|corner| corner.1).collect();
        assert_eq!(heights[1..3], [top, top]);
        assert_eq!(heights[4..], [top + AREA; 4]);
    }

    #[test]
    fn what_cannot_be_shown_interrupts() {
        let unknown = (3.0, f64::NAN, 2.0);
        let points =
            vec![(1.0, 1.0, 2.0), (2.0, 1.0, 2.0), unknown, (4.0, 1.0, 2.0), (99.0, 1.0, 2.0), (6.0, 1.0, 2.0)];
        let svg = with(points, "").svg();
        assert_eq!(corners(&svg).len(), 1);
        // Two points alone are bars.
        let bars = svg.lines().find(|line| line.contains("stroke-opacity")).unwrap();
        assert_eq!(bars.matches('M').count(), 2);
        assert!(!with(vec![unknown], "nothing").svg().contains("nothing"));
    }

    #[test]
    fn a_name_is_written_beside_the_others() {
        let svg = with(vec![(1.0, 1.0, 64.0), (8.0, 1.0, 64.0)], "90 % of runs").svg();
        // At the same height as the end of the second line, and moved away from it.
        let (own, other) = (numbers(&svg, "90 % of runs", "y")[0], numbers(&svg, ">square<", "y")[0]);
        assert!((own - other).abs() > LINE - 0.01);
    }
}
