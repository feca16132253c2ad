//! Several charts as one picture, one below the other.

use super::Chart;
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

/// The least height of a panel: three of them fit on a page.
const PANEL: f64 = 150.0;

/// Charts over the same horizontal axis, one below the other: their frames are aligned, and the axis is named once.
pub fn panels(charts: &[Chart]) -> String {
    let most = |margin: fn(&Chart) -> f64| charts.iter().map(margin).fold(0.0, f64::max);
    let (left, right) = (most(Chart::left), most(Chart::right));
    let last = charts.len().saturating_sub(1);
    let drawn = charts.iter().enumerate().map(|(place, chart)| chart.sized(left, right, PANEL, place == last));
    stack(&drawn.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chart, numbers};
    use super::*;

    #[test]
    fn panels_are_aligned() {
        let mut second = chart();
        second.series[0].label = "a much longer name".into();
        second.y = crate::plot::Axis::new("y", crate::plot::Scale::Linear, [12_345.0, 12_346.0].into_iter());
        let svg = panels(&[chart(), second]);
        // The axes: down at the left end, and along the bottom to the right end.
        let axes: Vec<&str> = svg.lines().filter(|line| line.contains("stroke=\"#444\"")).collect();
        let (starts, ends): (Vec<&str>, Vec<&str>) =
            axes.iter().map(|axis| (axis.split(' ').nth(1).unwrap(), axis.split('H').nth(1).unwrap())).unzip();
        assert!(starts.len() == 2 && starts[0] == starts[1] && ends[0] == ends[1], "{axes:?}");
        assert_eq!(svg.matches(">x</text>").count(), 1);
        assert_eq!(panels(&[]).matches("<svg").count(), 1);
    }

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
