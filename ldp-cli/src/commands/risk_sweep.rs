//! `ldp risk --sweep`: the risk along a parameter.

use super::pool;
use super::risk::{REPLICATIONS, SEED, named, simulation_error};
use super::setting::{named_scenario, warn_all};
use crate::args::{Common, Format, Risk};
use crate::output::{FIGURE, Output};
use crate::progress::Steps;
use crate::report::{self, significant};
use anyhow::Context;
use ldp_catalog::text::grouped;
use ldp_catalog::{BuiltModel, Catalog, Spec, nearest};
use ldp_core::Epsilon;
use ldp_simulate::Fidelity;
use ldp_study::plot::{Axis, Band, Chart, Mark, Scale, Series};
use ldp_study::scenario::{ResolvedScenario, check_countable, refused, scaled_error};
use ldp_study::sweep::{COUNTS, Sweep};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;

/// What can be swept besides the keys of a protocol.
const FLAGS: [&str; 3] = ["users", "theta", "epsilon"];

/// What the swept key was.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Value {
    Whole(u64),
    Real(f64),
}

impl Value {
    fn number(self) -> f64 {
        match self {
            Self::Whole(count) => count as f64,
            Self::Real(value) => value,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(count) => count.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

#[derive(Serialize)]
struct Point {
    value: Value,
    users: u64,
    theta: f64,
    epsilon: f64,
    /// n·MSE.
    scaled_mse: f64,
    scaled_mse_error: Option<f64>,
    bias: f64,
    variance: f64,
    bound: Option<f64>,
    efficiency: Option<f64>,
    simulation_error: Option<f64>,
    method: &'static str,
}

/// The point with the smallest n·MSE.
#[derive(Serialize)]
struct Best {
    value: Value,
    scaled_mse: f64,
}

#[derive(Serialize)]
struct Curve {
    command: &'static str,
    version: &'static str,
    /// The canonical spec, without the swept key.
    estimator: String,
    model: String,
    /// Null where it is swept, as the next two are.
    theta: Option<f64>,
    users: Option<u64>,
    epsilon: Option<f64>,
    sweep: String,
    points: Vec<Point>,
    best: Best,
}

/// Sums the risk at every point and prints the record.
pub fn run(catalog: &Catalog, common: &Common, args: &Risk, sweep: &Sweep, built: &BuiltModel) -> anyhow::Result<()> {
    check_key(catalog, &args.estimator, sweep)?;
    let values = values(sweep).context("--sweep")?;
    // All of them are checked before the first is worked out.
    let cases = values
        .iter()
        .map(|&value| case(catalog, args, sweep, built, value).with_context(|| format!("--sweep {sweep} at {value}")))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let figure = args.svg.as_ref();
    let figure = figure.map(|path| Output::open("--svg", path, common.overwrite, FIGURE)).transpose()?;
    if let Some(case) = cases.first() {
        warn_all(case, common.quiet);
    }
    let progress = Steps::new("summing", cases.len() as u64, common.quiet);
    let at = |(case, &value): (&ResolvedScenario<'_>, &Value)| {
        let found = point(case, value, common.seed.unwrap_or(SEED));
        progress.step();
        found.with_context(|| format!("--sweep {sweep} at {value}"))
    };
    let work = || cases.par_iter().zip(&values).map(at).collect::<anyhow::Result<Vec<_>>>();
    let points = pool(common)?.install(work)?;
    drop(progress);
    let least = points.iter().min_by(|a, b| a.scaled_mse.total_cmp(&b.scaled_mse)).context("--sweep has no points")?;
    let swept = |key| sweep.key == key;
    let estimator = cases.first().map_or_else(|| Ok(String::new()), |case| without(&case.protocol.spec, sweep))?;
    let record = Curve {
        command: "risk",
        version: env!("CARGO_PKG_VERSION"),
        estimator,
        model: built.spec.clone(),
        theta: args.theta.filter(|_| !swept("theta")),
        users: args.users.filter(|_| !swept("users")),
        epsilon: args.epsilon.filter(|_| !swept("epsilon")).map(|epsilon| epsilon.value()),
        sweep: sweep.to_string(),
        best: Best { value: least.value, scaled_mse: least.scaled_mse },
        points,
    };
    if let Some(figure) = figure {
        figure.figure(&chart(sweep, &record).svg())?;
    }
    match common.format {
        Format::Csv => Ok(report::write(&report::lines(&record.points)?)?),
        _ => report::record(common.format, &record, || human(sweep, &record)),
    }
}

/// Refuses a name that is no flag and no key of the protocol.
fn check_key(catalog: &Catalog, spec: &Spec, sweep: &Sweep) -> anyhow::Result<()> {
    let entry = catalog.find_estimator(spec).with_context(|| format!("--estimator {spec}"))?;
    let known: Vec<&str> = FLAGS.into_iter().chain(entry.keys().iter().map(|key| key.name)).collect();
    if !known.contains(&sweep.key.as_str()) {
        let hint = nearest(&sweep.key, known.iter().copied()).map(|name| format!(" (did you mean '{name}'?)"));
        anyhow::bail!(
            "--sweep {sweep}: {} has no key '{}'{}, there are: {}",
            entry.name(),
            sweep.key,
            hint.unwrap_or_default(),
            known.join(", ")
        );
    }
    Ok(())
}

/// The canonical spec without the swept key.
fn without(canonical: &str, sweep: &Sweep) -> anyhow::Result<String> {
    let mut canonical: Spec = canonical.parse()?;
    canonical.pairs.retain(|(key, _)| *key != sweep.key);
    Ok(canonical.to_string())
}

/// The values of the key: whole numbers where it counts something. A pilot may also be a share of the users.
fn values(sweep: &Sweep) -> anyhow::Result<Vec<Value>> {
    let share = sweep.key == "pilot" && sweep.values.iter().all(|&value| value > 0.0 && value < 1.0);
    if COUNTS.contains(&sweep.key.as_str()) && !share {
        return Ok(sweep.whole()?.into_iter().map(Value::Whole).collect());
    }
    Ok(sweep.values.iter().copied().map(Value::Real).collect())
}

/// The protocol at one value of the key.
fn case<'m>(
    catalog: &Catalog,
    args: &Risk,
    sweep: &Sweep,
    built: &'m BuiltModel,
    value: Value,
) -> anyhow::Result<ResolvedScenario<'m>> {
    let (mut theta, mut users, mut epsilon, mut spec) = (args.theta, args.users, args.epsilon, args.estimator.clone());
    match (sweep.key.as_str(), value) {
        ("theta", value) => theta = Some(value.number()),
        ("epsilon", value) => epsilon = Some(Epsilon::new(value.number())?),
        ("users", Value::Whole(count)) => {
            anyhow::ensure!(count > 0, "users must be at least 1");
            users = Some(count);
        }
        (key, value) => spec.set(key, value.number()),
    }
    let missing = |flag: &str| format!("--{flag} is missing: only a sweep of {flag} can do without it");
    let theta = theta.with_context(|| missing("theta"))?;
    let users = users.with_context(|| missing("users"))?;
    let case = named_scenario(catalog, built, &spec, theta, users, epsilon.with_context(|| missing("epsilon"))?)?;
    check_countable(&case)?;
    Ok(case)
}

fn point(case: &ResolvedScenario<'_>, value: Value, seed: u64) -> anyhow::Result<Point> {
    let summed = case.protocol.estimator.errors(&case.setting(seed, Fidelity::Tally), case.truth);
    let summed = summed.map_err(|error| refused(case, error))?;
    let errors = summed.gather;
    case.check_finite(errors.mse(), errors.variance())?;
    let scaled_mse = case.users as f64 * errors.mse();
    let bound = case.bound(scaled_mse);
    Ok(Point {
        value,
        users: case.users,
        theta: case.theta,
        epsilon: case.epsilon.value(),
        scaled_mse,
        scaled_mse_error: scaled_error(case.users, summed.mse_error),
        bias: errors.bias(),
        variance: errors.variance(),
        bound: bound.bound,
        efficiency: bound.efficiency,
        simulation_error: simulation_error(case.users, errors.mse(), errors.fourth()),
        method: named(summed.method).0,
    })
}

/// What stays the same along the sweep.
fn fixed(record: &Curve) -> String {
    let parts = [
        record.theta.map(|theta| format!("θ = {theta}")),
        record.users.map(|users| format!("n = {users}")),
        record.epsilon.map(|epsilon| format!("ε = {epsilon}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// n·MSE along the sweep, the bound below it, and around it what a simulation would see.
fn chart(sweep: &Sweep, record: &Curve) -> Chart {
    let points = &record.points;
    let along = |y: fn(&Point) -> f64| points.iter().map(|point| (point.value.number(), y(point))).collect::<Vec<_>>();
    // Between two counts the risk need not lie between theirs: the eye should see which were summed, while it can.
    let few = points.len() <= 60;
    let line =
        |label: &str, points, reference| Series { label: label.into(), points, reference, marks: few && !reference };
    let mut series = vec![line("n·MSE", along(|point| point.scaled_mse), false)];
    if points.iter().any(|point| point.bound.is_some()) {
        series.push(line("bound", along(|point| point.bound.unwrap_or(f64::NAN)), true));
    }
    let band = points.iter().map(|point| {
        let reach = point.simulation_error.map_or(f64::NAN, |error| 2.0 * error);
        (point.value.number(), point.scaled_mse - reach, point.scaled_mse + reach)
    });
    let label = format!("what {} replications see", grouped(REPLICATIONS));
    let ys = || series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    // Over more than a decade ratios are what the eye should compare.
    let (least, most) =
        ys().filter(|y| *y > 0.0).fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), y| (a.min(y), b.max(y)));
    let scale = if most > 10.0 * least { Scale::Log } else { Scale::Linear };
    let xs = points.iter().map(|point| point.value.number());
    Chart {
        title: format!("n·MSE of {}, {}, {}", record.estimator, record.model, fixed(record)),
        x: Axis::new(sweep.symbol(), if sweep.log { Scale::Log } else { Scale::Linear }, xs),
        y: Axis::new("n·MSE", scale, ys()),
        bands: vec![Band { label, points: band.collect(), of: 0 }],
        marks: vec![Mark {
            x: record.best.value.number(),
            y: record.best.scaled_mse,
            label: format!("best: {}", shown(record.best.value)),
        }],
        series,
    }
}

/// A value of the key for people.
fn shown(value: Value) -> String {
    match value {
        Value::Whole(count) => count.to_string(),
        Value::Real(value) => {
            let short: f64 = format!("{value:.3e}").parse().unwrap_or(value);
            short.to_string()
        }
    }
}

fn human(sweep: &Sweep, record: &Curve) -> String {
    let mut table = report::table(&[
        &sweep.key,
        "n·MSE",
        "error",
        "bias",
        "variance",
        "bound",
        "efficiency",
        "simulation error",
        "method",
    ]);
    let unknown =
        |value: Option<f64>, digits| value.map_or_else(|| "unknown".into(), |value| significant(value, digits));
    for point in &record.points {
        table.add_row([
            point.value.to_string(),
            significant(point.scaled_mse, 7),
            unknown(point.scaled_mse_error, 2),
            significant(point.bias, 3),
            significant(point.variance, 4),
            unknown(point.bound, 5),
            unknown(point.efficiency, 4),
            unknown(point.simulation_error, 3),
            point.method.to_owned(),
        ]);
    }
    format!(
        "{} on {}, {}\n{table}\nbest: {} = {} with n·MSE {}; the simulation error is that of {} replications\n",
        record.estimator,
        record.model,
        fixed(record),
        sweep.key,
        record.best.value,
        significant(record.best.scaled_mse, 7),
        grouped(REPLICATIONS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_for_people() {
        assert_eq!(shown(Value::Real(0.523_456)), "0.5235");
        assert_eq!(shown(Value::Whole(306)), "306");
    }

    #[test]
    fn values_are_counts_shares_or_numbers() {
        let texts = |text: &str| -> Vec<String> {
            values(&text.parse().unwrap()).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(texts("users=1:1000:4:log"), ["1", "10", "100", "1000"]);
        assert_eq!(texts("pilot=0.2:0.4:2"), ["0.2", "0.4"]);
        assert_eq!(texts("pilot=0.2:3.4:2"), ["0", "3"]);
        assert_eq!(texts("start=-1:1:3"), ["-1", "0", "1"]);
        assert!(values(&"users=-3:4:2".parse().unwrap()).is_err());
    }
}
