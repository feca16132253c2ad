//! `ldp optimal --sweep`: the best mechanism along a parameter, and the phase diagram.

use super::optimal::{Found, certified, relative};
use super::pool;
use crate::args::{Common, Format, Optimal};
use crate::output::{FIGURE, Output};
use crate::progress::Steps;
use crate::report::{self, significant};
use anyhow::Context;
use ldp_catalog::BuiltModel;
use ldp_core::Epsilon;
use ldp_study::plot::{Axis, Band, Chart, Scale, Series, panels};
use ldp_study::sweep::Sweep;
use rayon::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Curve {
    command: &'static str,
    version: &'static str,
    model: String,
    sweep: String,
    points: Vec<Found>,
}

/// A point as a line of CSV: the cuts, of which there may be any number, are a list in one cell as in a spec.
#[derive(Serialize)]
struct Line<'a> {
    theta: f64,
    epsilon: f64,
    information: f64,
    upper_bound: f64,
    relative_gap: f64,
    nonprivate: f64,
    one_bit: f64,
    outputs: u32,
    cuts: &'a str,
}

/// Certifies every point and prints them.
pub fn run(common: &Common, args: &Optimal, sweep: &Sweep, built: &BuiltModel, theta: f64) -> anyhow::Result<()> {
    anyhow::ensure!(
        ["epsilon", "theta"].contains(&sweep.key.as_str()),
        "--sweep {sweep}: epsilon or theta can be swept, not {}",
        sweep.key
    );
    let figure = args.svg.as_ref();
    let figure = figure.map(|path| Output::open("--svg", path, common.overwrite, FIGURE)).transpose()?;
    let progress = Steps::new("certifying", sweep.values.len() as u64, common.quiet);
    let at = |&value: &f64| -> anyhow::Result<Found> {
        let (theta, epsilon) = match sweep.key.as_str() {
            "theta" => {
                (value, args.epsilon.context("--epsilon is missing: only a sweep of epsilon can do without it")?)
            }
            _ => (theta, Epsilon::new(value)?),
        };
        let found = Found::new(&certified(built, theta, epsilon)?, built);
        progress.step();
        found
    };
    let work = || {
        let all = sweep.values.par_iter();
        all.map(|value| at(value).with_context(|| format!("--sweep {sweep} at {value}"))).collect::<anyhow::Result<_>>()
    };
    let points: Vec<Found> = pool(common)?.install(work)?;
    drop(progress);
    let record = Curve {
        command: "optimal",
        version: env!("CARGO_PKG_VERSION"),
        model: built.spec.clone(),
        sweep: sweep.to_string(),
        points,
    };
    if let Some(figure) = figure {
        let title = match (sweep.key.as_str(), args.epsilon) {
            ("theta", Some(epsilon)) => format!("{}, ε = {epsilon}", record.model),
            _ => format!("{}, θ = {theta}", record.model),
        };
        figure.figure(&phases(&title, sweep, &record.points))?;
    }
    match common.format {
        Format::Csv => Ok(report::write(&lines(&record.points)?)?),
        _ => report::record(common.format, &record, || table(&record.points)),
    }
}

/// The line whose colour shades phases: the palest.
const PALE: usize = 4;

/// The phase diagram: what is kept, in how many reports, with which cuts.
fn phases(about: &str, sweep: &Sweep, points: &[Found]) -> String {
    let place = |point: &Found| if sweep.key == "theta" { point.theta } else { point.epsilon };
    let line = |label: &str, points, reference| Series { label: label.into(), points, reference, marks: false };
    let along = |value: fn(&Found) -> f64| points.iter().map(|point| (place(point), value(point))).collect();
    let scale = if sweep.log { Scale::Log } else { Scale::Linear };
    // Where the number of reports changes: known to lie between two points of the sweep.
    let between = |pair: &[Found]| {
        let (from, to) = (place(&pair[0]), place(&pair[1]));
        if sweep.log { (from * to).sqrt() } else { (from + to) / 2.0 }
    };
    // Every second phase is shaded.
    let mut shades = Vec::new();
    let mut start = 0;
    for (number, phase) in points.chunk_by(|a, b| a.outputs == b.outputs).enumerate() {
        let end = start + phase.len();
        if number % 2 == 1 {
            let from = between(&points[start - 1..=start]);
            let to = if end < points.len() { between(&points[end - 1..=end]) } else { place(&points[end - 1]) };
            let all = |x| (x, f64::NEG_INFINITY, f64::INFINITY);
            shades.extend([all(from), all(to), (f64::NAN, 0.0, 0.0)]);
        }
        start = end;
    }
    let chart = |title: String, name: &str, series: Vec<Series>| {
        let values: Vec<f64> = series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
        let x = Axis::new(sweep.symbol(), scale, points.iter().map(place));
        let y = Axis::new(name, Scale::Linear, values.into_iter());
        let bands = vec![Band { label: String::new(), points: shades.clone(), of: PALE }];
        Chart { title, x, y, series, bands, marks: Vec::new() }
    };
    let information = vec![
        line("optimal", along(|point| point.information), false),
        line("best one bit", along(|point| point.one_bit), false),
        line("no privacy", along(|point| point.nonprivate), true),
    ];
    let mut reports = chart(
        "Number of reports of the optimal mechanism".into(),
        "reports",
        vec![line("", steps(points, place, between), false)],
    );
    reports.y = reports.y.whole();
    panels(&[
        chart(format!("Information of one report, {about}"), "information", information),
        reports,
        chart("Cuts of the optimal mechanism".into(), "value", vec![line("", branches(points, place), false)]),
    ])
}

/// The number of reports: level, and upright where it changes.
fn steps(points: &[Found], place: impl Fn(&Found) -> f64, between: impl Fn(&[Found]) -> f64) -> Vec<(f64, f64)> {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let level = f64::from(point.outputs);
        if let Some(&(_, before)) = path.last()
            && before != level
        {
            let at = between(&points[index - 1..=index]);
            path.extend([(at, before), (at, level)]);
        }
        path.push((place(point), level));
    }
    path
}

/// The cuts: while their number stays the same each moves along a curve, and where it changes the curves end. At a point
/// that has a number of its own they are dots.
fn branches(points: &[Found], place: impl Fn(&Found) -> f64) -> Vec<(f64, f64)> {
    let mut path = Vec::new();
    for phase in points.chunk_by(|a, b| a.cuts.len() == b.cuts.len()) {
        for cut in 0..phase[0].cuts.len() {
            path.extend(phase.iter().map(|point| (place(point), point.cuts[cut])));
            path.push((f64::NAN, f64::NAN));
        }
    }
    path
}

fn joined(cuts: &[f64]) -> String {
    cuts.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

fn lines(points: &[Found]) -> anyhow::Result<String> {
    let cuts: Vec<String> = points.iter().map(|point| joined(&point.cuts)).collect();
    let rows: Vec<Line<'_>> = points
        .iter()
        .zip(&cuts)
        .map(|(point, cuts)| Line {
            theta: point.theta,
            epsilon: point.epsilon,
            information: point.information,
            upper_bound: point.upper_bound,
            relative_gap: point.relative_gap,
            nonprivate: point.nonprivate,
            one_bit: point.one_bit,
            outputs: point.outputs,
            cuts,
        })
        .collect();
    report::lines(&rows)
}

fn table(points: &[Found]) -> String {
    let mut table =
        report::table(&["epsilon", "theta", "information", "upper bound", "gap", "one bit", "reports", "cuts"]);
    for point in points {
        let cuts: Vec<String> = point.cuts.iter().map(|&cut| significant(cut, 5)).collect();
        table.add_row([
            significant(point.epsilon, 6),
            significant(point.theta, 6),
            significant(point.information, 9),
            significant(point.upper_bound, 9),
            relative(point.relative_gap),
            significant(point.one_bit, 9),
            point.outputs.to_string(),
            cuts.join(" "),
        ]);
    }
    format!("{table}\n")
}
