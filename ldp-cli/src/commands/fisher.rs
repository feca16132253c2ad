//! `ldp fisher`: how much does a private report still say?

use super::pool;
use crate::args::{Common, Fisher, Format};
use crate::named;
use crate::output::{FIGURE, Output};
use crate::progress::Steps;
use crate::report::{self, significant};
use anyhow::{Context, anyhow};
use ldp_catalog::{BuiltModel, Catalog, Error, Spec};
use ldp_core::Epsilon;
use ldp_fisher::{BlackBox, Bounds, Information, Method, Optimum, bounds};
use ldp_study::plot::{Axis, Chart, Scale, Series};
use ldp_study::sweep::Sweep;
use rayon::prelude::*;
use serde::Serialize;

const NO_EPSILON: &str = "--epsilon is missing: only a sweep of epsilon can do without it";
/// The seed of a black box when none is given.
const SEED: u64 = 1;

#[derive(Serialize)]
struct Record {
    command: &'static str,
    version: &'static str,
    model: String,
    theta: f64,
    epsilon: f64,
    /// The best of the mechanisms, when there are several.
    #[serde(flatten)]
    best: Entry,
    nonprivate: f64,
    optimal: Option<f64>,
    optimal_reason: Option<&'static str>,
    /// Null where they cannot be computed.
    bounds: Option<Limits>,
    /// All of them, the most informative first.
    mechanisms: Vec<Entry>,
}

/// What no mechanism at this level exceeds, and what one bit reaches.
#[derive(Serialize)]
struct Limits {
    nonprivate: f64,
    sinh: f64,
    barnes: f64,
    one_bit: f64,
    smallest: f64,
}

impl Limits {
    /// The bounds hold for the trace of the information: for one of several alike coordinates they are divided by their
    /// number, except that no coordinate says more than its value does. One bit is then about a coordinate at random.
    fn new(bounds: &Bounds, coordinates: usize) -> Self {
        let share = |value: f64| value / coordinates as f64;
        let (nonprivate, sinh, barnes) = (bounds.nonprivate, share(bounds.sinh), share(bounds.barnes));
        let smallest = if coordinates == 1 { bounds.smallest() } else { nonprivate.min(sinh).min(barnes) };
        Self { nonprivate, sinh, barnes, one_bit: share(bounds.one_bit.information), smallest }
    }
}

/// A mechanism and its information.
#[derive(Clone, Serialize)]
struct Entry {
    mechanism: String,
    #[serde(flatten)]
    information: Shown,
    asymptotic_variance: Option<f64>,
    /// Information over that of the optimal mechanism.
    efficiency: Option<f64>,
}

/// An [`Information`] in the words of the record.
#[derive(Clone, Serialize)]
struct Shown {
    information: f64,
    error: f64,
    #[serde(flatten)]
    method: Method,
}

/// A point of a sweep.
#[derive(Serialize)]
struct Point {
    epsilon: f64,
    theta: f64,
    /// What the swept key was.
    value: f64,
    #[serde(flatten)]
    entry: Entry,
    nonprivate: f64,
    optimal: Option<f64>,
    optimal_reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Curve {
    command: &'static str,
    version: &'static str,
    model: String,
    sweep: String,
    points: Vec<Point>,
}

/// What is asked at one point.
struct Place<'a> {
    catalog: &'a Catalog,
    built: &'a BuiltModel,
    theta: f64,
    epsilon: Epsilon,
    black_box: Option<BlackBox>,
}

/// Works the information out and prints its record.
pub fn run(catalog: &Catalog, common: &Common, args: &Fisher) -> anyhow::Result<()> {
    let built = named::model(catalog, &args.model)?;
    let seed = common.seed.unwrap_or(SEED);
    let black_box = args.black_box.map(|draws| BlackBox::new(seed).draws(draws)).transpose().context("--black-box")?;
    let at = |theta, epsilon| Place { catalog, built: &built, theta, epsilon, black_box };
    if let Some(sweep) = &args.sweep {
        return curve(common, args, sweep, &at, &built);
    }
    let epsilon = args.epsilon.context(NO_EPSILON)?;
    let place = at(args.theta, epsilon);
    let coordinates = place.coordinates(&args.mechanisms)?;
    place.check()?;
    let (optimal, optimal_reason) = optimum(&place, coordinates);
    // A bound that cannot be computed is no reason to withhold the information.
    let bounds = place.bounds().ok().map(|bounds| Limits::new(&bounds, coordinates));
    let mut mechanisms = args.mechanisms.iter().map(|spec| place.entry(spec)).collect::<anyhow::Result<Vec<_>>>()?;
    mechanisms.sort_by(|a, b| b.information.information.total_cmp(&a.information.information));
    let record = Record {
        command: "fisher",
        version: env!("CARGO_PKG_VERSION"),
        model: built.spec.clone(),
        theta: args.theta,
        epsilon: epsilon.value(),
        best: mechanisms[0].clone(),
        nonprivate: built.model.information(args.theta),
        optimal,
        optimal_reason,
        bounds,
        mechanisms,
    };
    report::record(common.format, &record, || human(&record))
}

impl Place<'_> {
    fn check(&self) -> anyhow::Result<()> {
        let BuiltModel { model, spec, .. } = self.built;
        model.check_theta(self.theta).with_context(|| format!("--theta {} for {spec}", self.theta))
    }

    fn entry(&self, spec: &Spec) -> anyhow::Result<Entry> {
        self.check()?;
        let (mechanism, canonical) = named::mechanism(self.catalog, spec, self.epsilon)?;
        let information = match self.black_box {
            Some(options) => mechanism.black_box(self.built, self.theta, options),
            None => mechanism.information(self.built, self.theta),
        };
        let place = || format!("{canonical} under {} at theta {}", self.built.spec, self.theta);
        let Information { value, error, method } = match information {
            Ok(information) => information,
            Err(error @ Error::Library(_)) => {
                let error = anyhow::Error::from(error).context(place());
                return Err(error.context("--black-box DRAWS would give a lower limit"));
            }
            Err(error) if error.is_inexact() => {
                return Err(anyhow!("{error}; --black-box DRAWS gives a lower limit").context(place()));
            }
            Err(error) => return Err(anyhow::Error::from(error).context(place())),
        };
        let (optimal, _) = optimum(self, mechanism.coordinates());
        Ok(Entry {
            mechanism: canonical,
            information: Shown { information: value, error, method },
            // Where the error is as large as the value the reciprocal would be noise.
            asymptotic_variance: Some(value.recip()).filter(|variance| variance.is_finite() && value > error),
            efficiency: optimal.map(|optimal| value / optimal),
        })
    }

    /// How many coordinates all of the mechanisms have.
    fn coordinates(&self, specs: &[Spec]) -> anyhow::Result<usize> {
        let mut all = Vec::new();
        for spec in specs {
            all.push(named::mechanism(self.catalog, spec, self.epsilon)?.0.coordinates());
        }
        let differ = "mechanisms with different numbers of coordinates cannot be ranked together";
        anyhow::ensure!(all.iter().all(|&coordinates| coordinates == all[0]), "{differ}");
        Ok(all[0])
    }

    fn bounds(&self) -> anyhow::Result<Bounds> {
        self.check()?;
        Ok(bounds(&*self.built.model, self.theta, self.epsilon, (self.built.closed_form)(self.epsilon))?)
    }
}

/// The largest private information, or why it is not known.
fn optimum(place: &Place<'_>, coordinates: usize) -> (Option<f64>, Option<&'static str>) {
    if coordinates > 1 {
        return (None, Some("the optimal mechanism for a mean in several dimensions is not known"));
    }
    match place.built.optimum(place.theta, place.epsilon) {
        Optimum::Known { information } => (Some(information), None),
        Optimum::Unknown { reason } => (None, Some(reason)),
    }
}

/// The information at every point of a sweep.
fn curve<'a>(
    common: &Common,
    args: &Fisher,
    sweep: &Sweep,
    at: &(dyn Fn(f64, Epsilon) -> Place<'a> + Sync),
    built: &BuiltModel,
) -> anyhow::Result<()> {
    let figure = args.svg.as_ref();
    let figure = figure.map(|path| Output::open("--svg", path, common.overwrite, FIGURE)).transpose()?;
    let progress = Steps::new("computing", sweep.values.len() as u64, common.quiet);
    let at_value = |&value: &f64| -> anyhow::Result<Vec<Point>> {
        let (mut theta, mut epsilon, mut specs) = (args.theta, args.epsilon, args.mechanisms.clone());
        match sweep.key.as_str() {
            "theta" => theta = value,
            "epsilon" => epsilon = Some(Epsilon::new(value)?),
            key => specs.iter_mut().for_each(|spec| spec.set(key, value)),
        }
        let place = at(theta, epsilon.context(NO_EPSILON)?);
        let (coordinates, nonprivate) = (place.coordinates(&specs)?, built.model.information(theta));
        let (optimal, optimal_reason) = optimum(&place, coordinates);
        let point = |spec| {
            let entry = place.entry(spec)?;
            Ok(Point { epsilon: place.epsilon.value(), theta, value, entry, nonprivate, optimal, optimal_reason })
        };
        let points = specs.iter().map(point).collect();
        progress.step();
        points
    };
    let work = || {
        sweep
            .values
            .par_iter()
            .map(|value| at_value(value).with_context(|| format!("--sweep {sweep} at {value}")))
            .collect::<anyhow::Result<Vec<_>>>()
    };
    let points: Vec<Point> = pool(common)?.install(work)?.into_iter().flatten().collect();
    drop(progress);
    if let Some(figure) = figure {
        figure.figure(&chart(args, sweep, &points, built).svg())?;
    }
    let record = Curve {
        command: "fisher",
        version: env!("CARGO_PKG_VERSION"),
        model: built.spec.clone(),
        sweep: sweep.to_string(),
        points,
    };
    match common.format {
        Format::Csv => Ok(report::write(&report::lines(&record.points)?)?),
        _ => report::record(common.format, &record, || table(sweep, &record.points)),
    }
}

/// The curves of a sweep, one per mechanism, with the optimum and the non-private information as references.
fn chart(args: &Fisher, sweep: &Sweep, points: &[Point], built: &BuiltModel) -> Chart {
    let count = args.mechanisms.len();
    let mut series: Vec<Series> = (args.mechanisms.iter().enumerate())
        .map(|(place, spec)| {
            let own = points.iter().skip(place).step_by(count);
            // A value that is all error is no point of a curve.
            let seen =
                |Shown { information, error, .. }: &Shown| if information > error { *information } else { f64::NAN };
            let points = own.map(|point| (point.value, seen(&point.entry.information))).collect();
            Series { label: spec.to_string(), points, reference: false, marks: false }
        })
        .collect();
    let each = || points.iter().step_by(count);
    if each().any(|point| point.optimal.is_some()) {
        let points = each().map(|point| (point.value, point.optimal.unwrap_or(f64::NAN))).collect();
        series.push(Series { label: "optimal".into(), points, reference: true, marks: false });
    }
    let nonprivate = each().map(|point| (point.value, point.nonprivate)).collect();
    series.push(Series { label: "no privacy".into(), points: nonprivate, reference: true, marks: false });
    let xs = || points.iter().map(|point| point.value);
    let ys = || series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    // Over more than a decade ratios are what the eye should compare.
    let (least, most) =
        ys().filter(|y| *y > 0.0).fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), y| (a.min(y), b.max(y)));
    let scale = if most > 10.0 * least { Scale::Log } else { Scale::Linear };
    let fixed = match (sweep.key.as_str(), args.epsilon) {
        ("epsilon", _) => format!("θ = {}", args.theta),
        ("theta", Some(epsilon)) => format!("ε = {epsilon}"),
        (_, Some(epsilon)) => format!("ε = {epsilon}, θ = {}", args.theta),
        (_, None) => String::new(),
    };
    Chart {
        title: format!("Fisher information of one report, {}, {fixed}", built.spec),
        x: Axis::new(sweep.symbol(), if sweep.log { Scale::Log } else { Scale::Linear }, xs()),
        y: Axis::new("information", scale, ys()),
        series,
        bands: Vec::new(),
        marks: Vec::new(),
    }
}

fn method(method: &Method) -> String {
    match method {
        Method::Exact => "exact".into(),
        Method::Quadrature => "quadrature".into(),
        Method::BlackBox { level, binned, .. } => {
            format!("{} lower limit; binned {}", report::percent(*level), significant(*binned, 5))
        }
    }
}

fn human(record: &Record) -> String {
    let mut table = report::table(&["mechanism", "information", "error", "1/information", "efficiency", "method"]);
    for entry in &record.mechanisms {
        let Shown { information, error, method: by } = &entry.information;
        table.add_row([
            entry.mechanism.clone(),
            significant(*information, 10),
            significant(*error, 2),
            entry.asymptotic_variance.map_or_else(|| "unknown".into(), |variance| significant(variance, 6)),
            entry.efficiency.map_or_else(|| "unknown".into(), |efficiency| significant(efficiency, 5)),
            method(by),
        ]);
    }
    let mut limits = report::table(&[]);
    let optimal = record.optimal.map_or_else(|| "unknown".into(), |optimal| significant(optimal, 10));
    limits.add_row([
        "optimal",
        &optimal,
        record.optimal_reason.unwrap_or("the most that any mechanism at this epsilon keeps"),
    ]);
    limits.add_row(["no privacy", &significant(record.nonprivate, 10), "of the value itself: an upper bound"]);
    let rows = record.bounds.iter().flat_map(|&Limits { sinh, barnes, one_bit, .. }| {
        [
            ("best one bit", one_bit, "the best mechanism with two reports: a lower bound of the optimum"),
            ("sinh bound", sinh, "no privacy times sinh(epsilon/2)^2: an upper bound"),
            ("Barnes bound", barnes, "no privacy times min((e^epsilon - 1)^2, e^epsilon): an upper bound"),
        ]
    });
    for (name, value, what) in rows {
        limits.add_row([name, &significant(value, 10), what]);
    }
    format!(
        "Fisher information of one report about theta = {} in {}, epsilon {}\n{table}\n{limits}\n",
        record.theta, record.model, record.epsilon
    )
}

fn table(sweep: &Sweep, points: &[Point]) -> String {
    let mut table = report::table(&[&sweep.key, "mechanism", "information", "error", "1/information", "efficiency"]);
    for point in points {
        let Shown { information, error, .. } = &point.entry.information;
        table.add_row([
            point.value.to_string(),
            point.entry.mechanism.clone(),
            significant(*information, 8),
            significant(*error, 2),
            point.entry.asymptotic_variance.map_or_else(|| "unknown".into(), |variance| significant(variance, 6)),
            point.entry.efficiency.map_or_else(|| "unknown".into(), |efficiency| significant(efficiency, 5)),
        ]);
    }
    format!("{table}\n")
}
