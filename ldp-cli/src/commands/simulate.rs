//! `ldp simulate`: how precise is a protocol?

use super::{choose_interval, pool, warn, warn_unless_gaussian};
use crate::args::{Common, Simulate};
use crate::progress::Progress;
use crate::registry::{self, Known, Target};
use crate::report::{self, counted, percent, significant};
use anyhow::Context;
use ldp_core::IntervalKind;
use ldp_core::drive::{MOST_DRAWN, Summary, in_batches};
use ldp_core::erased::{AnyEstimator, Fidelity, Setting};
use ldp_fisher::Optimum;
use serde::Serialize;
use std::time::Instant;

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
    /// 1 / sup I: what n·MSE tends to for the best protocol there can be.
    bound: Option<f64>,
    bound_reason: Option<&'static str>,
    efficiency: Option<f64>,
    /// Of the interval that was asked for.
    coverage: Option<f64>,
    level: f64,
    intervals: Vec<IntervalRecord>,
    /// The share of estimates that came with a note, such as a fallback.
    fallbacks: f64,
    seconds: f64,
}

#[derive(Serialize)]
struct IntervalRecord {
    kind: IntervalKind,
    coverage: f64,
    /// The share of replications without an interval.
    missing: f64,
    /// The share with an infinite end.
    infinite: f64,
    mean_finite_width: Option<f64>,
}

/// Runs the simulation and prints its record.
pub fn run(common: &Common, args: &Simulate) -> anyhow::Result<()> {
    let built = registry::model(&args.model)?;
    let known = Known { epsilon: args.epsilon, sigma: built.scale };
    let protocol = registry::estimator(&args.estimator, known)?;
    let (estimator, spec) = (&*protocol.estimator, &protocol.spec);
    // What can be wrong with the flags is found before the first draw.
    built.model.check_theta(args.theta).with_context(|| format!("--theta {} for {}", args.theta, built.spec))?;
    estimator.begin(args.users).with_context(|| format!("{spec} with --users {}", args.users))?;
    let kind = choose_interval(estimator, args.interval.interval)?;
    let fidelity = args.fidelity.unwrap_or(protocol.fidelity);
    anyhow::ensure!(
        estimator.fidelities().contains(&fidelity),
        "--fidelity tally: {spec} has reports that cannot be counted; every user has to be drawn, --fidelity users"
    );
    anyhow::ensure!(
        fidelity == Fidelity::Users || args.users <= MOST_DRAWN,
        "--users {}: at tally fidelity at most {MOST_DRAWN}",
        args.users
    );
    warn_unless_gaussian(common.quiet, &protocol, &built);
    if let Some(warning) = protocol.warning {
        warn(common.quiet, warning);
    }
    let seed = common.seed.unwrap_or(SEED);
    let (theta, users) = (args.theta, args.users);
    let truth = protocol.target.value(&built, theta);
    let setting = Setting { model: &*built.model, theta, users, seed, fidelity };

    let started = Instant::now();
    let progress = Progress::new("simulating", Some(args.replications), common.quiet);
    let summary = pool(common)?.install(|| summarise(estimator, &setting, truth, args, progress))?;
    let seconds = started.elapsed().as_secs_f64();

    anyhow::ensure!(
        summary.variance().is_finite() && (users as f64 * summary.mse()).is_finite(),
        "the squared errors overflow double precision: theta {theta:e}, {spec}, {}",
        built.spec
    );
    if args.replications > 1 && summary.variance() == 0.0 {
        warn(common.quiet, "every replication gave the same value: n*MSE and its interval say nothing about its error");
    }
    let chosen = summary.coverage().iter().find(|entry| Some(entry.kind) == kind);
    let share = |count: u64| count as f64 / summary.replications() as f64;
    let optimum = match protocol.target {
        // A centre of symmetry is median and mean at once.
        Target::Parameter | Target::Quantile(0.5) | Target::Mean if truth == theta => (built.optimum)(args.epsilon),
        Target::Parameter | Target::Mean => Optimum::Unknown { reason: "the bound is that of theta, not of the mean" },
        Target::Vector | Target::VectorMean => {
            Optimum::Unknown { reason: "the bound of a mean in several dimensions is not known" }
        }
        Target::Quantile(_) => Optimum::Unknown { reason: "the bound is that of the parameter, not of a quantile" },
    };
    let (bound, bound_reason) = match optimum {
        Optimum::Known { information } if (1.0 / information).is_normal() => (Some(1.0 / information), None),
        Optimum::Known { .. } => (None, Some("the bound is beyond double precision in this unit")),
        Optimum::Unknown { reason } => (None, Some(reason)),
    };
    let n = users as f64;
    let scaled_mse = n * summary.mse();
    let record = Record {
        command: "simulate",
        version: env!("CARGO_PKG_VERSION"),
        estimator: spec.clone(),
        model: built.spec,
        theta,
        target: protocol.target.name(),
        truth,
        users,
        epsilon: args.epsilon.value(),
        replications: args.replications,
        fidelity,
        seed,
        scaled_mse,
        scaled_mse_interval: summary.mse_interval(MSE_LEVEL).map(|interval| interval.map(|end| n * end)),
        scaled_mse_level: MSE_LEVEL,
        bias: summary.bias(),
        variance: summary.variance(),
        bound,
        bound_reason,
        efficiency: bound.map(|bound| bound / scaled_mse).filter(|efficiency| efficiency.is_normal()),
        coverage: chosen.map(|entry| share(entry.covered)),
        level: args.interval.level,
        intervals: (summary.coverage().iter())
            .map(|entry| IntervalRecord {
                kind: entry.kind,
                coverage: share(entry.covered),
                missing: share(entry.missing),
                infinite: share(entry.infinite),
                mean_finite_width: (entry.width.count() > 0).then(|| entry.width.mean()),
            })
            .collect(),
        fallbacks: share(summary.notes()),
        seconds,
    };
    report::record(common.format, &record, || human(&record))
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
    in_batches(
        args.replications,
        |batch| {
            let mut part = empty();
            estimator.replicate(setting, batch, &mut |estimate| part.push(estimate))?;
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
    let bound = record.bound.map_or_else(|| "unknown".into(), |bound| significant(bound, 5));
    table.add_row(["bound", &bound, record.bound_reason.unwrap_or("1/sup I over all mechanisms at this epsilon")]);
    let efficiency = record.efficiency.map_or_else(|| "unknown".into(), |value| significant(value, 4));
    table.add_row(["efficiency", &efficiency, "bound / n·MSE"]);
    // A vector has the squared error of all coordinates, but the bias and variance of their mean.
    let of = if record.target.ends_with("coordinate") { "of the mean of the coordinates" } else { "" };
    table.add_row(["bias", &significant(record.bias, 3), of]);
    table.add_row(["variance", &significant(record.variance, 4), of]);
    for entry in &record.intervals {
        let mut remark = format!("nominal {}", percent(record.level));
        for (share, what) in [(entry.infinite, "with an infinite end"), (entry.missing, "without an interval")] {
            if share > 0.0 {
                remark += &format!("; {} {what}", percent(share));
            }
        }
        if let Some(width) = entry.mean_finite_width {
            remark += &format!("; mean finite width {}", significant(width, 4));
        }
        table.add_row([&format!("{} coverage", entry.kind), &format!("{:.2} %", 100.0 * entry.coverage), &remark]);
    }
    if record.fallbacks > 0.0 {
        table.add_row(["notes", &percent(record.fallbacks), "estimates that came with a note, such as a fallback"]);
    }
    let fidelity = match record.fidelity {
        Fidelity::Users => "users",
        Fidelity::Tally => "tally",
    };
    format!(
        "{} on {}, theta {}, {}, epsilon {}\n{table}\n{} at {fidelity} fidelity, seed {}, {:.2} s\n",
        record.estimator,
        record.model,
        record.theta,
        counted(record.users, "user"),
        record.epsilon,
        counted(record.replications, "replication"),
        record.seed,
        record.seconds,
    )
}
