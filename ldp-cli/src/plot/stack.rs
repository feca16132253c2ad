//! Several charts as one picture, one below the other.

use std::fmt::Write;

/// One SVG of several: each keeps its own size and is moved down by the heights of those before it.
pub fn stack(charts: &[String]) -> String {
    let number = |svg: &str, name: &str| -> Option<f64> {
        svg.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.parse().ok()
    };
    let sizes: Vec<(f64, f64)> = charts
        .iter()
        .map(|svg| (number(svg, "width").unwrap_or_default(), number(svg, "height").unwrap_or_default()))
        .collect();
    let width = sizes.iter().fold(0.0, |most: f64, size| most.max(size.0));
    let height: f64 = sizes.iter().map(|size| size.1).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n"
    );
    let mut top = 0.0;
    for (svg, size) in charts.iter().zip(&sizes) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{}", svg.replacen("<svg ", &format!("<svg y=\"{top}\" "), 1));
        top += size.1;
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chart, numbers};
    use super::*;

    #[test]
    fn charts_follow_each_other() {
        let one = chart().svg();
        let height = numbers(&one, "<svg", "height")[0];
        let three = stack(&[one.clone(), one.clone(), one.clone()]);
        assert_eq!(numbers(&three, "<svg", "height"), [3.0 * height, height, height, height]);
        assert_eq!(numbers(&three, "<svg y=", "y"), [0.0, height, 2.0 * height]);
        assert_eq!((three.matches("<svg").count(), three.matches("</svg>").count()), (4, 4));
    }
}
