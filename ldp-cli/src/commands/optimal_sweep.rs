//! `ldp optimal --sweep`: the best mechanism along a parameter, and the phase diagram.

use super::optimal::{Found, certified, relative};
use super::pool;
use crate::args::{Common, Format, Optimal};
use crate::output::Output;
use crate::plot::{Axis, Chart, Scale, Series, stack};
use crate::progress::Steps;
use crate::registry::BuiltModel;
use crate::report::{self, significant};
use crate::sweep::Sweep;
use anyhow::Context;
use ldp_core::Epsilon;
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
    let figure = args.svg.as_ref().map(|path| Output::open("--svg", path)).transpose()?;
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

/// The phase diagram: what is kept, in how many reports, with which cuts.
fn phases(about: &str, sweep: &Sweep, points: &[Found]) -> String {
    let place = |point: &Found| if sweep.key == "theta" { point.theta } else { point.epsilon };
    let line = |label: &str, value: &dyn Fn(&Found) -> f64, reference: bool| Series {
        label: label.into(),
        points: points.iter().map(|point| (place(point), value(point))).collect(),
        reference,
        marks: false,
    };
    let scale = if sweep.log { Scale::Log } else { Scale::Linear };
    let axis = || Axis::new(&sweep.key, scale, points.iter().map(place));
    let chart = |title: String, name: &str, series: Vec<Series>| {
        let values: Vec<f64> = series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
        let y = Axis::new(name, Scale::Linear, values.into_iter());
        Chart { title, x: axis(), y, series, bands: Vec::new(), marks: Vec::new() }.svg()
    };
    let information = vec![
        line("optimal", &|point| point.information, false),
        line("best one bit", &|point| point.one_bit, false),
        line("no privacy", &|point| point.nonprivate, true),
    ];
    // Cuts of neighbouring points are different things: dots, each on its own.
    let dots = points
        .iter()
        .flat_map(|point| point.cuts.iter().flat_map(move |&cut| [(place(point), cut), (place(point), f64::NAN)]));
    let cuts = vec![Series { label: "cuts".into(), points: dots.collect(), reference: false, marks: false }];
    stack(&[
        chart(format!("Information of one report, {about}"), "information", information),
        chart(
            "Number of reports of the optimal mechanism".into(),
            "reports",
            vec![Series { marks: true, ..line("reports", &|point| f64::from(point.outputs), false) }],
        ),
        chart("Cuts of the optimal mechanism".into(), "value", cuts),
    ])
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
