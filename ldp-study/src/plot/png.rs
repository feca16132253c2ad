//! Figures as PNG, from the SVG text that this module makes.
//!
//! The font is in the program (`ldp-study/fonts`), and none of the system's is looked at: what a figure looks like, to the
//! byte, depends on its text alone.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree};
use std::sync::Arc;

/// The widths of Arial and Helvetica, which the SVG asks for first.
const FONTS: [&[u8]; 2] =
    [include_bytes!("../../fonts/Arimo-Regular.ttf"), include_bytes!("../../fonts/Arimo-Bold.ttf")];
const FAMILY: &str = "Arimo";
/// The most pixels a side may have: a picture of 16384 by 16384 takes a gigabyte while it is drawn.
const MOST: f32 = 16384.0;
/// Pixels per unit of a chart in files: 300 dots per inch on a page of A4, 600 in a column of a journal.
pub const SCALE: f64 = 4.0;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The scale is no number to multiply sizes with.
    #[error("the scale of a picture must be positive and finite, got {scale}")]
    Scale {
        /// The scale.
        scale: f64,
    },
    /// A side is too long, or rounds to nothing.
    #[error("a picture must have 1 to {MOST} pixels a side, got {width} by {height}")]
    Size {
        /// Pixels across.
        width: f32,
        /// Pixels down.
        height: f32,
    },
    /// The text is not SVG.
    #[error("the figure cannot be read: {0}")]
    Svg(#[from] usvg::Error),
    /// The picture could not be packed.
    #[error("the picture cannot be encoded: {0}")]
    Encode(String),
}

/// Draws SVG text with so many pixels per unit, and packs the picture as PNG: the same bytes for the same text.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>, PngError> {
    let picture = pixels(svg, scale)?;
    picture.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

/// The tallest chart that can be drawn in files.
pub const TALLEST: f64 = MOST as f64 / SCALE;

fn pixels(svg: &str, scale: f64) -> Result<Pixmap, PngError> {
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(PngError::Scale { scale });
    }
    let tree = Tree::from_str(svg, &options())?;
    let scale = scale as f32;
    let (width, height) = ((tree.size().width() * scale).round(), (tree.size().height() * scale).round());
    let fits = |side: f32| (1.0..=MOST).contains(&side);
    let picture = if fits(width) && fits(height) { Pixmap::new(width as u32, height as u32) } else { None };
    let mut picture = picture.ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    Ok(picture)
}

/// Every family, generic or named, is ours.
fn options() -> Options<'static> {
    let mut fonts = usvg::fontdb::Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_serif_family(FAMILY);
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    fonts.set_cursive_family(FAMILY);
    fonts.set_fantasy_family(FAMILY);
    Options { fontdb: Arc::new(fonts), font_family: FAMILY.into(), ..Options::default() }
}

/// How wide a text is in the font that pictures have.
#[cfg(test)]
pub fn drawn_width(text: &str, size: f64, bold: bool) -> f64 {
    let weight = if bold { "bold" } else { "normal" };
    let width = |text: &str| {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"10\"><text y=\"5\" font-size=\"{size}\" \
             font-weight=\"{weight}\">{text}</text></svg>"
        );
        let tree = Tree::from_str(&svg, &options()).unwrap();
        let usvg::Node::Text(text) = &tree.root().children()[0] else { panic!("a text is a text") };
        f64::from(text.bounding_box().width())
    };
    // Between two bars, because a space alone is nothing.
    width(&format!("|{}|", super::escape(text))) - width("||")
}

/// The texts of a picture and where they are: left, top, right and bottom.
#[cfg(test)]
pub fn text_boxes(svg: &str) -> Vec<(String, [f64; 4])> {
    fn gather(group: &usvg::Group, found: &mut Vec<(String, [f64; 4])>) {
        for node in group.children() {
            match node {
                usvg::Node::Group(group) => gather(group, found),
                usvg::Node::Text(text) => {
                    let area = text.abs_bounding_box();
                    let words = text.chunks().iter().map(|chunk| chunk.text()).collect();
                    found.push((words, [area.left(), area.top(), area.right(), area.bottom()].map(f64::from)));
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    gather(Tree::from_str(svg, &options()).unwrap().root(), &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::super::WIDTH;
    use super::super::stack::stack;
    use super::super::style::COLOURS;
    use super::super::tests::{chart, numbers};
    use super::*;

    fn size(png: &[u8]) -> (u32, u32) {
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    }

    /// The colour of a pixel, as in SVG.
    fn colour(picture: &Pixmap, x: f64, y: f64) -> String {
        let pixel = picture.pixel(x as u32, y as u32).unwrap();
        format!("#{:02X}{:02X}{:02X}", pixel.red(), pixel.green(), pixel.blue())
    }

    #[test]
    fn a_picture_has_the_size_asked_for_and_the_same_bytes_again() {
        let svg = chart().svg();
        let (width, height) = (numbers(&svg, "<svg", "width")[0], numbers(&svg, "<svg", "height")[0]);
        for scale in [1.0, 2.5] {
            let bytes = png(&svg, scale).unwrap();
            assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert_eq!(size(&bytes), ((scale * width).round() as u32, (scale * height).round() as u32));
            assert!(bytes == png(&svg, scale).unwrap());
        }
        let both = png(&stack(&[svg.clone(), svg]), 1.0).unwrap();
        assert_eq!(size(&both), (width as u32, 2 * height as u32));
    }

    #[test]
    fn what_is_not_too_tall_is_drawn() {
        let of = |height: f64| {
            let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"540\" height=\"{height}\"/>");
            png(&svg, SCALE).map(|bytes| size(&bytes))
        };
        assert_eq!(of(TALLEST).unwrap(), (2160, 16384));
        assert!(matches!(of(TALLEST + 1.0), Err(PngError::Size { .. })));
    }

    #[test]
    fn a_column_of_a_journal_is_printed_sharply_and_can_be_read() {
        let column = 8.5 / 2.54;
        assert!(SCALE * WIDTH >= 600.0 * column && SCALE * WIDTH <= 700.0 * column);
        let svg = chart().svg();
        let sizes: Vec<f64> =
            svg.split("font-size=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
        assert!(sizes.len() == 2 && sizes.iter().all(|size| *size >= WIDTH / 45.0), "{sizes:?}");
    }

    #[test]
    fn lines_are_where_they_belong_in_their_colours() {
        let svg = chart().svg();
        let picture = pixels(&svg, 3.0).unwrap();
        let path = svg.lines().find(|line| line.contains("stroke-dasharray") && line.contains(COLOURS[0])).unwrap();
        let points = path.split('"').nth(1).unwrap().trim_start_matches('M').split('L').map(|point| {
            let (x, y) = point.split_once(' ').unwrap();
            (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap())
        });
        // Not the first and last: a round end need not reach a whole pixel.
        let inner: Vec<_> = points.skip(1).take(15).collect();
        assert_eq!(inner.len(), 15);
        for (x, y) in inner {
            assert_eq!(colour(&picture, 3.0 * x, 3.0 * y), COLOURS[0]);
        }
        assert_eq!(colour(&picture, 2.0, 2.0), "#FFFFFF");
    }

    #[test]
    fn texts_are_drawn_in_our_font_whatever_is_asked_for() {
        let mut nameless = chart();
        nameless.title = String::new();
        assert!(pixels(&nameless.svg(), 1.0).unwrap() != pixels(&chart().svg(), 1.0).unwrap());
        let asking = |family: &str| {
            let svg = chart().svg();
            assert!(svg.contains(super::super::FONT));
            pixels(&svg.replace(super::super::FONT, family), 1.0).unwrap()
        };
        for family in ["Times New Roman", "serif", "monospace", "Nobody, cursive"] {
            assert!(asking(family) == asking("sans-serif"), "{family}");
        }
        // Every character of an axis or a formula has a shape of its own, unlike one that no font has.
        let shape = |text: &str| {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"24\" height=\"24\"><text y=\"18\">{text}</text></svg>"
            );
            pixels(&svg, 2.0).unwrap()
        };
        let unknown = shape("字");
        for known in "abcxyzABCXYZ0123456789.,:;=+-()[]/%·×²³√−–—…≤≥±∞°₀₁₂₃⁰¹⁴⁵⁶⁷⁸⁹⁻αβγδεθλμσφΔΘΣΦΩ→≈≠ℓ".chars()
        {
            assert!(shape(&known.to_string()) != unknown, "{known}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        for text in ["字", "\u{1F600}", "שלום", "a\u{301}", "\u{200D}\u{FE0F}", "\u{FFFF}\u{0}"] {
            // Some of these are no XML: an error, but no panic.
            let mut odd = chart();
            odd.title = text.into();
            let _ = png(&odd.svg(), 1.0);
        }
        let svg = chart().svg();
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(png(&svg, scale), Err(PngError::Scale { .. })), "{scale}");
        }
        for scale in [1e-9, 1e3, 1e300] {
            assert!(matches!(png(&svg, scale), Err(PngError::Size { .. })), "{scale}");
        }
        assert!(matches!(png("no figure", 1.0), Err(PngError::Svg(_))));
    }
}
