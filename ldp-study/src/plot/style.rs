//! What tells lines apart: colour, dashes and the shape of their marks.

use std::fmt::Write;

/// Okabe and Ito's palette without its yellow, too light for lines on white.
pub const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];
/// Of references.
pub const GREY: &str = "#777777";
const DASHES: [&str; 5] = ["", "7 2.5", "2 2.2", "8 2.5 2 2.5", "13 3"];
/// Of references, where there are several.
const REFERENCES: [&str; 3] = ["4 3", "1.5 2.5", "9 3 1.5 3"];
const SHAPES: [Shape; 8] = [
    Shape { outline: Outline::Circle, hollow: false },
    Shape { outline: Outline::Square, hollow: false },
    Shape { outline: Outline::Triangle, hollow: false },
    Shape { outline: Outline::Diamond, hollow: false },
    Shape { outline: Outline::Circle, hollow: true },
    Shape { outline: Outline::Square, hollow: true },
    Shape { outline: Outline::Triangle, hollow: true },
    Shape { outline: Outline::Diamond, hollow: true },
];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    pub colour: &'static str,
    pub dash: &'static str,
    pub width: f64,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    outline: Outline,
    hollow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outline {
    Circle,
    Square,
    Triangle,
    Diamond,
}

impl Style {
    /// Of a line, counted without references. The lengths of the three lists have no common factor, so that among the first
    /// sixteen lines any two differ in at least two respects: without colour they can still be told apart.
    pub fn of(index: usize) -> Self {
        Self {
            colour: COLOURS[index % COLOURS.len()],
            dash: DASHES[index % DASHES.len()],
            width: 1.8,
            shape: SHAPES[index % SHAPES.len()],
        }
    }

    /// Of a reference, counted among references.
    pub fn reference(index: usize) -> Self {
        Self { colour: GREY, dash: REFERENCES[index % REFERENCES.len()], width: 1.0, shape: SHAPES[0] }
    }

    /// Of a path: from here to there, or along many points.
    pub fn path(&self, path: &str, out: &mut String) -> std::fmt::Result {
        let Self { colour, dash, width, .. } = self;
        write!(out, r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}""#)?;
        writeln!(out, r#" stroke-dasharray="{dash}" stroke-linejoin="round"/>"#)
    }

    /// A mark.
    pub fn mark(&self, x: f64, y: f64, out: &mut String) -> std::fmt::Result {
        let paint = if self.shape.hollow {
            format!(r##"fill="#fff" stroke="{}" stroke-width="1.3""##, self.colour)
        } else {
            format!(r#"fill="{}""#, self.colour)
        };
        let size = 0.9 + 1.1 * self.width;
        // Of about the same area.
        let path = match self.shape.outline {
            Outline::Circle => return writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{size:.1}" {paint}/>"#),
            Outline::Square => {
                let half = 0.89 * size;
                format!("M{:.2} {:.2}h{:.2}v{:.2}h-{:.2}Z", x - half, y - half, 2.0 * half, 2.0 * half, 2.0 * half)
            }
            Outline::Triangle => {
                let half = 1.3 * size;
                format!("M{:.2} {:.2}l{half:.2} {:.2}h-{:.2}Z", x, y - half, 1.9 * half, 2.0 * half)
            }
            Outline::Diamond => {
                let half = 1.3 * size;
                format!("M{:.2} {y:.2}l{half:.2} -{half:.2}l{half:.2} {half:.2}l-{half:.2} {half:.2}Z", x - half)
            }
        };
        writeln!(out, r#"<path class="mark" d="{path}" {paint}/>"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_lines_differ_in_two_respects_and_the_first_is_plain() {
        for i in 0..16 {
            for j in 0..i {
                let (a, b) = (Style::of(i), Style::of(j));
                let differences = [a.colour != b.colour, a.dash != b.dash, a.shape != b.shape];
                assert!(differences.into_iter().filter(|&differ| differ).count() >= 2, "{a:?} {b:?}");
            }
        }
        assert_eq!((Style::of(0).dash, Style::reference(0).colour), ("", GREY));
    }

    #[test]
    fn marks_are_shapes_around_their_point() {
        let drawn: Vec<String> = (0..8)
            .map(|index| {
                let mut out = String::new();
                Style::of(index).mark(10.0, 20.0, &mut out).unwrap();
                out
            })
            .collect();
        assert_eq!(drawn[0], "<circle cx=\"10.00\" cy=\"20.00\" r=\"2.9\" fill=\"#0072B2\"/>\n");
        assert!(drawn[1].contains("M7.44 17.44h5.13v5.13h-5.13Z"), "{}", drawn[1]);
        assert!(drawn[3].contains("M6.26 20.00l3.74 -3.74l3.74 3.74l-3.74 3.74Z"), "{}", drawn[3]);
        assert!((4..8).all(|index| drawn[index].contains("fill=\"#fff\"")));
        for i in 0..8 {
            assert!((0..i).all(|j| drawn[i] != drawn[j]));
        }
    }
}
