//! `ldp risk`: how precise is a protocol, without sampling?

use super::setting::{bound_rows, caveat_row, named_scenario, remark, warn_all};
use super::{choose_interval, pool, risk_sweep};
use crate::args::{Common, Risk};
use crate::named;
use crate::output::Output;
use crate::progress::Clock;
use crate::report::{self, counted, measured, percent, significant};
use anyhow::Context;
use ldp_catalog::Catalog;
use ldp_core::IntervalKind;
use ldp_simulate::Fidelity;
use ldp_simulate::exact::{Evaluation, Method, Wanted};
use ldp_study::scenario::{Bound, ResolvedScenario, check_countable, refused, scaled_error};
use serde::Serialize;
use std::io::{self, Write};

/// The seed where a round has to be drawn, when none is given.
pub const SEED: u64 = 1;
/// The replications of the simulation that the sum is compared with.
pub const REPLICATIONS: u64 = 50_000;
/// Where the quantiles of |error| are taken.
const LEVELS: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// The most values that a distribution is listed with.
const MOST_ATOMS: u64 = 1 << 22;

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
    method: &'static str,
    /// How often the first round was drawn, if it was.
    draws: Option<u64>,
    /// n·MSE.
    scaled_mse: f64,
    /// How far it may be off.
    scaled_mse_error: Option<f64>,
    bias: f64,
    variance: f64,
    #[serde(flatten)]
    bound: Bound,
    /// The standard error of n·MSE that a simulation would have.
    simulation_error: Option<f64>,
    error_quantiles: Vec<Quantile>,
    /// Of the interval that was asked for.
    coverage: Option<f64>,
    level: f64,
    intervals: Vec<IntervalRecord>,
    /// The probability of an estimate with a note, such as a fallback.
    fallbacks: f64,
    /// The probability of an estimate with a caveat about its own kind of interval.
    caveats: f64,
    /// Such a caveat.
    caveat: Option<&'static str>,
    /// At least the probability that was left out.
    lost: f64,
    tallies: u64,
}

/// A quantile of |error|.
#[derive(Serialize)]
struct Quantile {
    level: f64,
    #[serde(with = "ldp_core::json::extended")]
    value: f64,
}

#[derive(Serialize)]
struct IntervalRecord {
    kind: IntervalKind,
    coverage: f64,
    /// The probability that there is none.
    missing: f64,
    /// The probability of an infinite end.
    infinite: f64,
    #[serde(with = "ldp_core::json::extended")]
    median_width: f64,
    mean_finite_width: Option<f64>,
}

/// Sums the risk and prints its record.
pub fn run(catalog: &Catalog, common: &Common, args: &Risk) -> anyhow::Result<()> {
    let built = named::model(catalog, &args.model)?;
    if let Some(sweep) = &args.sweep {
        return risk_sweep::run(catalog, common, args, sweep, &built);
    }
    let (theta, users) = (args.theta.context("--theta is missing")?, args.users.context("--users is missing")?);
    let epsilon = args.epsilon.context("--epsilon is missing")?;
    let case = named_scenario(catalog, &built, &args.estimator, theta, users, epsilon)?;
    check_countable(&case)?;
    let kind = choose_interval(&*case.protocol.estimator, args.interval.interval)?;
    let atoms = args.atoms.as_ref();
    let atoms =
        atoms.map(|path| Output::open("--atoms", path, common.overwrite, &[b"value,probability\n"])).transpose()?;
    warn_all(&case, common.quiet);

    let setting = case.setting(common.seed.unwrap_or(SEED), Fidelity::Tally);
    let wanted = Wanted { truth: case.truth, level: args.interval.level, quantiles: LEVELS.to_vec() };
    let clock = Clock::start(common);
    let pool = pool(common)?;
    let evaluation = pool.install(|| case.protocol.estimator.evaluate(&setting, &wanted));
    let evaluation = evaluation.map_err(|error| refused(&case, error))?;
    case.check_finite(evaluation.mse, evaluation.variance)?;
    if let Some(output) = atoms {
        let place = || format!("--atoms {}", args.atoms.as_deref().unwrap_or("".as_ref()).display());
        let values = pool.install(|| distribution(&case, &evaluation, common)).with_context(place)?;
        output.write(|out| table_of(&values, out))?;
    }
    let record = record(&case, evaluation, kind, args.interval.level);
    report::record(common.format, &record, || human(&record, common.seed.unwrap_or(SEED)))?;
    clock.tell();
    Ok(())
}

/// How a sum was done, in a word, and how often its first round was drawn.
pub fn named(method: Method) -> (&'static str, Option<u64>) {
    match method {
        Method::Exact => ("exact", None),
        Method::Thinned => ("thinned", None),
        Method::Sampled { draws } => ("sampled", Some(draws)),
    }
}

/// The standard error of n·MSE over [`REPLICATIONS`], where the fourth power of the error can be told from nothing and
/// infinity.
pub fn simulation_error(users: u64, mse: f64, fourth: f64) -> Option<f64> {
    let spread = (fourth - mse * mse).max(0.0);
    let known = fourth.is_normal() || mse == 0.0;
    Some(users as f64 * (spread / REPLICATIONS as f64).sqrt()).filter(|error| known && error.is_finite())
}

/// The values of the estimate with their probabilities.
fn distribution(
    case: &ResolvedScenario<'_>,
    evaluation: &Evaluation,
    common: &Common,
) -> anyhow::Result<Vec<(f64, f64)>> {
    const ADVICE: &str = "the distribution can be listed only where every outcome is summed, with fewer users";
    let too_many = || format!("there are more than {MOST_ATOMS} values with their probabilities to list");
    anyhow::ensure!(evaluation.method == Method::Exact, "{ADVICE}");
    // Of the tallies looked at, at most about half lead on to further rounds. So there would be more values than are
    // kept, and it is not tried, because every thread would keep as many.
    anyhow::ensure!(evaluation.tallies <= 2 * MOST_ATOMS, "{}", too_many());
    let setting = case.setting(common.seed.unwrap_or(SEED), Fidelity::Tally);
    case.protocol.estimator.atoms(&setting, case.truth, MOST_ATOMS).with_context(too_many)
}

fn table_of(values: &[(f64, f64)], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["value", "probability"])?;
    for atom in values {
        writer.serialize(atom)?;
    }
    writer.flush()
}

fn record(case: &ResolvedScenario<'_>, evaluation: Evaluation, kind: Option<IntervalKind>, level: f64) -> Record {
    let users = case.users;
    let scaled_mse = users as f64 * evaluation.mse;
    let (method, draws) = named(evaluation.method);
    let chosen = evaluation.intervals.iter().find(|entry| Some(entry.kind) == kind);
    Record {
        command: "risk",
        version: env!("CARGO_PKG_VERSION"),
        estimator: case.protocol.spec.clone(),
        model: case.built.spec.clone(),
        theta: case.theta,
        target: case.protocol.target.name(),
        truth: case.truth,
        users,
        epsilon: case.epsilon.value(),
        method,
        draws,
        scaled_mse,
        scaled_mse_error: scaled_error(users, evaluation.mse_error),
        bias: evaluation.bias,
        variance: evaluation.variance,
        bound: case.bound(scaled_mse),
        simulation_error: simulation_error(users, evaluation.mse, evaluation.fourth),
        error_quantiles: evaluation.quantiles.iter().map(|&(level, value)| Quantile { level, value }).collect(),
        coverage: chosen.map(|entry| entry.coverage),
        level,
        intervals: (evaluation.intervals.iter())
            .map(|entry| IntervalRecord {
                kind: entry.kind,
                coverage: entry.coverage,
                missing: entry.missing,
                infinite: entry.infinite,
                median_width: entry.median_width,
                mean_finite_width: entry.mean_finite_width.filter(|width| width.is_finite()),
            })
            .collect(),
        // A sum of probabilities may exceed one by rounding.
        fallbacks: evaluation.notes.min(1.0),
        caveats: evaluation.caveats.0.min(1.0),
        caveat: evaluation.caveats.1,
        lost: evaluation.lost,
        tallies: evaluation.tallies,
    }
}

/// How far n·MSE can be trusted, in words.
fn trust(record: &Record, seed: u64) -> String {
    let error = record.scaled_mse_error.map(|error| significant(error, 2));
    match (record.method, error) {
        ("exact", _) if record.lost == 0.0 => "exact: nothing was left out".into(),
        ("exact", Some(error)) => format!("exact, off by at most {error}"),
        ("exact", None) => format!("exact but for {} of the probability", significant(record.lost, 2)),
        ("thinned", error) => {
            let off = error.map_or_else(String::new, |error| format!(", here to about {error}"));
            format!("over a coarse lattice: moments are exact to rounding{off}, coverage to about a thousandth")
        }
        (_, error) => {
            let draws = record.draws.unwrap_or(0);
            let off = error.unwrap_or_else(|| "unknown".into());
            format!("standard error {off}: the first round was drawn {draws} times with seed {seed}, the rest summed")
        }
    }
}

fn human(record: &Record, seed: u64) -> String {
    let mut table = report::table(&[]);
    let digits = if record.method == "sampled" { 5 } else { 9 };
    table.add_row(["n·MSE", &significant(record.scaled_mse, digits), &trust(record, seed)]);
    bound_rows(&record.bound, &mut table);
    let replications = format!("standard error of n·MSE that {REPLICATIONS} replications would have");
    let error = record.simulation_error.map_or_else(|| "unknown".into(), |error| significant(error, 3));
    table.add_row(["simulation error", &error, &replications]);
    table.add_row(["bias", &significant(record.bias, 5), ""]);
    table.add_row(["variance", &significant(record.variance, 6), ""]);
    if let [first, rest @ ..] = &record.error_quantiles[..] {
        let more: Vec<_> = (rest.iter())
            .map(|entry| format!("{} with {}", significant(entry.value, 4), percent(entry.level)))
            .collect();
        let remark = format!("at most, with probability {}; {}", percent(first.level), more.join(", "));
        table.add_row(["|error|", &significant(first.value, 4), &remark]);
    }
    for entry in &record.intervals {
        let mut remark = remark(record.level, entry.infinite, entry.missing);
        remark += &format!("; median width {}", significant(entry.median_width, 4));
        if let Some(width) = entry.mean_finite_width {
            remark += &format!(", mean finite width {}", significant(width, 4));
        }
        table.add_row([&format!("{} coverage", entry.kind), &measured(entry.coverage, 3), &remark]);
    }
    if record.fallbacks > 0.0 {
        table.add_row(["notes", &percent(record.fallbacks), "estimates that come with a note, such as a fallback"]);
    }
    caveat_row(&mut table, record.caveats, record.caveat);
    format!(
        "{} on {}, theta {}, {}, epsilon {}\n{table}\n{}, {} of the probability left out\n",
        record.estimator,
        record.model,
        record.theta,
        counted(record.users, "user"),
        record.epsilon,
        match record.tallies {
            1 => "1 tally".to_owned(),
            tallies => format!("{tallies} tallies"),
        },
        if record.lost > 0.0 { format!("at most {}", significant(record.lost, 2)) } else { "none".into() },
    )
}
