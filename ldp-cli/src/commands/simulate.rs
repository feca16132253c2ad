//! `ldp simulate`: how precise is a protocol?

use super::setting::{bound_rows, caveat_row, named_scenario, remark, warn_all};
use super::{choose_interval, pool, warn};
use crate::args::{Common, Simulate};
use crate::named;
use crate::progress::{Clock, Progress};
use crate::report::{self, counted, measured, percent, significant};
use ldp_catalog::Catalog;
use ldp_core::IntervalKind;
use ldp_simulate::{AnyEstimator, Fidelity, Setting};
use ldp_simulate::{MOST_DRAWN, Summary, in_batches};
use ldp_study::scenario::Bound;
use serde::Serialize;

/// The seed when none is given: a simulation should be repeatable by default.
const SEED: u64 = 1;
/// The level of the interval for n·MSE.
const MSE_LEVEL: f64 = 0.99;

#[derive(Serialize)]
struct Record {
    command: &'static str,
    version: &'static str,
    estimator: String,
    model: String,
    theta: f64,
    /// What is estimated.
    target: &'static str,
    /// Its true value.
    truth: f64,
    users: u64,
    epsilon: f64,
    replications: u64,
    fidelity: Fidelity,
    seed: u64,
    /// n·MSE.
    scaled_mse: f64,
    scaled_mse_interval: Option<[f64; 2]>,
    scaled_mse_level: f64,
    bias: f64,
    variance: f64,
    #[serde(flatten)]
    bound: Bound,
    /// Of the interval that was asked for.
    coverage: Option<f64>,
    level: f64,
    intervals: Vec<IntervalRecord>,
    /// The share of estimates that came with a note, such as a fallback.
    fallbacks: f64,
    /// The share of estimates with a caveat about their own kind of interval.
    caveats: f64,
    /// Such a caveat.
    caveat: Option<&'static str>,
}

#[derive(Serialize)]
struct IntervalRecord {
    kind: IntervalKind,
    coverage: f64,
    /// The share of replications without an interval.
    missing: f64,
    /// Coverage among those with one.
    coverage_of_answered: Option<f64>,
    /// The share with an infinite end.
    infinite: f64,
    mean_finite_width: Option<f64>,
}

/// Runs the simulation and prints its record.
pub fn run(catalog: &Catalog, common: &Common, args: &Simulate) -> anyhow::Result<()> {
    let built = named::model(catalog, &args.model)?;
    let case = named_scenario(catalog, &built, &args.estimator, args.theta, args.users, args.epsilon)?;
    let (estimator, spec) = (&*case.protocol.estimator, &case.protocol.spec);
    let kind = choose_interval(estimator, args.interval.interval)?;
    let fidelity = args.fidelity.unwrap_or(case.protocol.fidelity);
    anyhow::ensure!(
        estimator.fidelities().contains(&fidelity),
        "--fidelity tally: {spec} has reports that cannot be counted; every user has to be drawn, --fidelity users"
    );
    anyhow::ensure!(
        fidelity == Fidelity::Users || args.users <= MOST_DRAWN,
        "--users {}: at tally fidelity at most {MOST_DRAWN}",
        args.users
    );
    warn_all(&case, common.quiet);
    let seed = common.seed.unwrap_or(SEED);
    let truth = case.truth;
    let setting = case.setting(seed, fidelity);

    let clock = Clock::start(common);
    let progress = Progress::new("simulating", Some(args.replications), common.quiet);
    let summary = pool(common)?.install(|| summarise(estimator, &setting, truth, args, progress))?;

    case.check_finite(summary.mse(), summary.variance())?;
    if args.replications > 1 && summary.variance() == 0.0 {
        warn(common.quiet, "every replication gave the same value: n*MSE and its interval say nothing about its error");
    }
    let chosen = summary.coverage().iter().find(|entry| Some(entry.kind) == kind);
    let share = |count: u64| count as f64 / summary.replications() as f64;
    let n = args.users as f64;
    let scaled_mse = n * summary.mse();
    let record = Record {
        command: "simulate",
        version: env!("CARGO_PKG_VERSION"),
        estimator: spec.clone(),
        model: built.spec.clone(),
        theta: args.theta,
        target: case.protocol.target.name(),
        truth,
        users: args.users,
        epsilon: args.epsilon.value(),
        replications: args.replications,
        fidelity,
        seed,
        scaled_mse,
        scaled_mse_interval: summary.mse_interval(MSE_LEVEL).map(|interval| interval.map(|end| n * end)),
        scaled_mse_level: MSE_LEVEL,
        bias: summary.bias(),
        variance: summary.variance(),
        bound: case.bound(scaled_mse),
        coverage: chosen.map(|entry| share(entry.covered)),
        level: args.interval.level,
        intervals: (summary.coverage().iter())
            .map(|entry| IntervalRecord {
                kind: entry.kind,
                coverage: share(entry.covered),
                missing: share(entry.missing),
                coverage_of_answered: entry.of_answered(summary.replications()),
                infinite: share(entry.infinite),
                mean_finite_width: (entry.width.count() > 0).then(|| entry.width.mean()),
            })
            .collect(),
        fallbacks: share(summary.notes()),
        caveats: share(summary.caveats().0),
        caveat: summary.caveats().1,
    };
    report::record(common.format, &record, || human(&record))?;
    clock.tell();
    Ok(())
}

fn summarise(
    estimator: &dyn AnyEstimator,
    setting: &Setting<'_>,
    truth: f64,
    args: &Simulate,
    mut progress: Progress,
) -> ldp_core::Result<Summary> {
    let empty = || Summary::new(truth, args.interval.level, estimator.interval_kinds());
    let mut total = empty();
    let simulation = estimator.simulation(setting)?;
    in_batches(
        args.replications,
        |batch| {
            let mut part = empty();
            simulation.replicate(batch, &mut |estimate| part.push(estimate))?;
            Ok(part)
        },
        |part| {
            total.merge(part);
            progress.at(total.replications());
        },
    )?;
    Ok(total)
}

fn human(record: &Record) -> String {
    let mut table = report::table(&[]);
    let interval = record.scaled_mse_interval.map_or_else(String::new, |[low, high]| {
        format!("{} interval {} to {}", percent(record.scaled_mse_level), significant(low, 5), significant(high, 5))
    });
    table.add_row(["n·MSE", &significant(record.scaled_mse, 5), &interval]);
    bound_rows(&record.bound, &mut table);
    // A vector has the squared error of all coordinates, but the bias and variance of their mean.
    let of = if record.target.ends_with("coordinate") { "of the mean of the coordinates" } else { "" };
    table.add_row(["bias", &significant(record.bias, 3), of]);
    table.add_row(["variance", &significant(record.variance, 4), of]);
    for entry in &record.intervals {
        let mut remark = remark(record.level, entry.infinite, entry.missing);
        if let Some(covered) = entry.coverage_of_answered.filter(|_| entry.missing > 0.0) {
            remark += &format!("; coverage {} of the {} with one", percent(covered), percent(1.0 - entry.missing));
        }
        if let Some(width) = entry.mean_finite_width {
            remark += &format!("; mean finite width {}", significant(width, 4));
        }
        table.add_row([&format!("{} coverage", entry.kind), &measured(entry.coverage, 2), &remark]);
    }
    if record.fallbacks > 0.0 {
        table.add_row(["notes", &percent(record.fallbacks), "estimates that came with a note, such as a fallback"]);
    }
    caveat_row(&mut table, record.caveats, record.caveat);
    let fidelity = match record.fidelity {
        Fidelity::Users => "users",
        Fidelity::Tally => "tally",
    };
    format!(
        "{} on {}, theta {}, {}, epsilon {}\n{table}\n{} at {fidelity} fidelity, seed {}\n",
        record.estimator,
        record.model,
        record.theta,
        counted(record.users, "user"),
        record.epsilon,
        counted(record.replications, "replication"),
        record.seed,
    )
}
