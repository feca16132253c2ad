//! `ldp plan`: how many users, asked in which rounds, for the accuracy wanted?

use crate::args::{self, Common};
use crate::progress::{Clock, meanwhile};
use crate::report::{self, counted, measured, percent, significant};
use crate::table::Table;
use anyhow::Context;
use ldp_catalog::{plan_name, plan_spec};
use ldp_core::Error;
use ldp_estimators::plan::{Alternative, Criterion, Naive, Outlook, Part, Plan, Prior, Request, Shares, Warning};
use serde::Serialize;

/// The replications of the simulation that checks a promise: half-widths to a thousandth, coverage to two.
const REPLICATIONS: u64 = 20_000;
/// The level that commands have when none is given.
const USUAL_LEVEL: f64 = 0.95;

#[derive(Serialize)]
struct Record {
    command: &'static str,
    version: &'static str,
    epsilon: f64,
    sigma: f64,
    range: [f64; 2],
    guess: Option<f64>,
    guess_error: Option<f64>,
    criterion: &'static str,
    level: f64,
    /// The most there may be.
    rounds: u32,
    wanted_half_width: Option<f64>,
    wanted_users: Option<u64>,
    users: u64,
    estimator: String,
    /// The standard deviation of the Gaussian noise that every user adds to the value before answering.
    blur: f64,
    /// The standard deviation of values with that noise.
    blurred_sigma: f64,
    /// Over the intervals with finite ends.
    expected_half_width: Option<f64>,
    expected_mse: Option<f64>,
    /// n·MSE.
    scaled_mse: Option<f64>,
    expected_coverage: f64,
    /// The probability of an infinite end.
    infinite: f64,
    /// The mean at which the plan promises least.
    worst_mean: f64,
    asymptotic_half_width: f64,
    /// The probability that the pilot ends more than two σ off.
    pilot_failure: Option<f64>,
    dominant: &'static str,
    shares: SharesRecord,
    naive: Option<NaiveRecord>,
    alternatives: Vec<AlternativeRecord>,
    warnings: Vec<String>,
    command_line: String,
    check_line: String,
}

/// Where the squared half-width comes from; unknown where no interval is finite.
#[derive(Serialize)]
struct SharesRecord {
    sample: Option<f64>,
    privacy: Option<f64>,
    pilot: Option<f64>,
    first_stage: Option<f64>,
    off_centre: Option<f64>,
}

/// The same users, half and half.
#[derive(Serialize)]
struct NaiveRecord {
    estimator: String,
    expected_half_width: Option<f64>,
    expected_mse: Option<f64>,
    infinite: f64,
    /// By how much its spread is larger, 0.1 for a tenth.
    margin: Option<f64>,
}

/// Another protocol, and what it would take; only its name where it cannot do it.
#[derive(Serialize)]
struct AlternativeRecord {
    estimator: String,
    rounds: u32,
    users: Option<u64>,
    expected_half_width: Option<f64>,
    expected_mse: Option<f64>,
    infinite: Option<f64>,
    /// Its users over those of the plan.
    cost: Option<f64>,
}

/// Plans and prints the record.
pub fn run(common: &Common, args: &args::Plan) -> anyhow::Result<()> {
    let request = request(args)?;
    let clock = Clock::start(common);
    let plan = || match (args.half_width, args.users) {
        (Some(half_width), Some(users)) => request.for_both(users, half_width),
        (Some(half_width), None) => request.for_half_width(half_width),
        (None, Some(users)) => request.for_users(users),
        // Neither is refused before it comes to this.
        (None, None) => Err(Error::TooFew { name: "users", least: 1, value: 0 }),
    };
    let planned = meanwhile("planning, seconds:", common.quiet, plan);
    let plan = planned.map_err(|error| refused(args, error))?;
    // Protocols could not be told apart by squares that are all infinite, or all zero.
    anyhow::ensure!(
        plan.outlook.mse.is_normal() && plan.asymptotic_half_width.is_normal(),
        "the squared errors are beyond double precision: --sigma {:e}; use another unit",
        args.sigma
    );
    let record = record(args, prior(args)?, &plan);
    report::record(common.format, &record, || human(&record, plan.shares.dominant(), plan.protocol.kind().rounds()))?;
    clock.tell();
    Ok(())
}

/// What is known about the mean, as the flags have it.
fn prior(args: &args::Plan) -> anyhow::Result<Prior> {
    if let Some([low, high]) = args.range {
        return Prior::range(low, high).with_context(|| format!("--range {low}:{high}"));
    }
    let guess = args.guess.context("--range or --guess is missing")?;
    let error = args.guess_error.context("--guess-error is missing")?;
    Prior::guess(guess, error).with_context(|| format!("--guess {guess} --guess-error {error}"))
}

fn request(args: &args::Plan) -> anyhow::Result<Request> {
    let criterion = if args.average { Criterion::Average } else { Criterion::Worst };
    let request =
        Request::new(args.epsilon, args.sigma, prior(args)?).with_context(|| format!("--sigma {}", args.sigma))?;
    let request = request.level(args.level).with_context(|| format!("--level {}", args.level))?;
    let request = request.rounds(args.rounds).with_context(|| format!("--rounds {}", args.rounds))?;
    Ok(request.criterion(criterion))
}

/// Why there is no plan, with the flag that would have to change.
fn refused(args: &args::Plan, error: Error) -> anyhow::Error {
    let half_width = args.half_width.map(|half_width| format!("--half-width {half_width}"));
    let users = args.users.map(|users| format!("--users {users}"));
    let flag = match &error {
        Error::TooFew { name: "rounds", .. } => Some(format!("--rounds {}", args.rounds)),
        // No number of users was found, so there is none to show.
        Error::TooMany { name: "users", most, value: u64::MAX } if args.half_width.is_some() => {
            let flag = half_width.unwrap_or_default();
            return anyhow::anyhow!("{flag}: users must be at most {most}, and even so many would not do");
        }
        Error::TooFew { name: "users", .. } | Error::TooMany { name: "users", .. } => users.or(half_width),
        _ => half_width.or(users),
    };
    let error = anyhow::Error::from(error);
    match flag {
        Some(flag) => error.context(flag),
        None => error,
    }
}

/// A number that JSON can hold.
fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

fn record(args: &args::Plan, prior: Prior, plan: &Plan) -> Record {
    let &args::Plan { sigma, level, .. } = args;
    let (epsilon, users, outlook, spec) = (args.epsilon.value(), plan.users, &plan.outlook, plan_spec(&plan.protocol));
    let blurred_sigma = sigma.hypot(plan.noise);
    let protocol = format!("--estimator {spec} --model gaussian:sigma={blurred_sigma}");
    let blur = if plan.noise > 0.0 { format!(" --blur {}", plan.noise) } else { String::new() };
    let shown_level = if level == USUAL_LEVEL { String::new() } else { format!(" --level {level}") };
    Record {
        command: "plan",
        version: env!("CARGO_PKG_VERSION"),
        epsilon,
        sigma,
        range: [prior.low(), prior.high()],
        guess: args.guess,
        guess_error: args.guess_error,
        criterion: if args.average { "average" } else { "worst" },
        level,
        rounds: args.rounds,
        wanted_half_width: args.half_width,
        wanted_users: args.users,
        users,
        blur: plan.noise,
        blurred_sigma,
        expected_half_width: outlook.half_width(),
        expected_mse: finite(outlook.mse),
        scaled_mse: finite(users as f64 * outlook.mse),
        expected_coverage: outlook.coverage,
        infinite: outlook.infinite,
        worst_mean: plan.worst_mean,
        asymptotic_half_width: plan.asymptotic_half_width,
        pilot_failure: plan.pilot_failure,
        dominant: named(plan.shares.dominant()),
        shares: shares(&plan.shares),
        naive: plan.naive.as_ref().map(naive),
        alternatives: plan.alternatives.iter().map(|other| alternative(other, users)).collect(),
        warnings: plan.warnings.iter().map(|warning| in_words(warning, args)).collect(),
        command_line: format!("ldp estimate FILE --column COLUMN {protocol}{blur} --epsilon {epsilon}{shown_level}"),
        check_line: format!(
            "ldp simulate {protocol} --theta {} --users {users} --epsilon {epsilon} --replications {REPLICATIONS} \
             --level {level}",
            plan.worst_mean
        ),
        estimator: spec,
    }
}

fn shares(shares: &Shares) -> SharesRecord {
    SharesRecord {
        sample: finite(shares.sample),
        privacy: finite(shares.privacy),
        pilot: finite(shares.pilot),
        first_stage: finite(shares.first_stage),
        off_centre: finite(shares.off_centre),
    }
}

fn naive(naive: &Naive) -> NaiveRecord {
    let outlook = &naive.outlook;
    NaiveRecord {
        estimator: plan_spec(&naive.protocol),
        expected_half_width: outlook.half_width(),
        expected_mse: finite(outlook.mse),
        infinite: outlook.infinite,
        margin: naive.margin.and_then(finite),
    }
}

fn alternative(other: &Alternative, users: u64) -> AlternativeRecord {
    let outlook = other.plan.map(|(_, _, outlook)| outlook);
    AlternativeRecord {
        estimator: other.plan.map_or_else(|| plan_name(other.kind).to_owned(), |(_, protocol, _)| plan_spec(&protocol)),
        rounds: other.kind.rounds(),
        users: other.plan.map(|(users, ..)| users),
        expected_half_width: outlook.as_ref().and_then(Outlook::half_width),
        expected_mse: outlook.and_then(|outlook| finite(outlook.mse)),
        infinite: outlook.map(|outlook| outlook.infinite),
        cost: other.plan.map(|(own, ..)| own as f64 / users as f64),
    }
}

fn named(part: Part) -> &'static str {
    match part {
        Part::Sample => "sample",
        Part::Privacy => "privacy",
        Part::Pilot => "pilot",
        Part::FirstStage => "first-stage",
        Part::OffCentre => "off-centre",
    }
}

/// What a part of the width is, and what makes it smaller.
fn advice(part: Part, narrower: &str) -> String {
    match part {
        Part::Sample => "the values' own spread: only more users make it smaller".into(),
        Part::Privacy => "the price of privacy: a larger --epsilon makes it smaller, or more users".into(),
        Part::Pilot => format!("the users of the pilot: {narrower} needs fewer"),
        Part::FirstStage => format!("the users of the first stage: {narrower} needs fewer"),
        Part::OffCentre => {
            format!("the last threshold's distance from the mean: {narrower} makes it smaller, or more --rounds")
        }
    }
}

/// Knowing more beforehand, in terms of the flag that said what is known.
fn narrower(guessed: bool) -> &'static str {
    if guessed { "a smaller --guess-error" } else { "a narrower --range" }
}

/// A warning as a sentence that names what to change.
fn in_words(warning: &Warning, args: &args::Plan) -> String {
    let narrower = narrower(args.guess.is_some());
    match *warning {
        Warning::Asymptotics { excess } if excess.is_finite() => format!(
            "The expected half-width is {} above what the asymptotic formula promises: plan with the expected one; \
             {narrower} or more users bring the two together.",
            percent(excess)
        ),
        Warning::Asymptotics { .. } => format!(
            "No interval is finite, whatever the asymptotic formula promises: ask more users, or give {narrower}."
        ),
        Warning::Infinite { probability } => format!(
            "An interval has an infinite end with probability {}: more users or {narrower} make that rarer.",
            percent(probability)
        ),
        Warning::FiniteEnds { wanted } => format!(
            "The users are as many as intervals with finite ends need, not as many as --half-width {wanted} does: a \
             smaller --half-width costs little, and {narrower} needs fewer users."
        ),
        Warning::Conservative { coverage } => format!(
            "Intervals cover with {} instead of {}, as exact ones do for few users: more users come nearer to the \
             --level, and a lower one gives narrower intervals.",
            percent(coverage),
            percent(args.level)
        ),
        Warning::Pilot { failure } => format!(
            "The pilot ends more than two sigma off with probability up to {}: more users or {narrower} make that rarer.",
            percent(failure)
        ),
        Warning::RareErrors { ratio } => format!(
            "Rare but large errors rule the mean squared error: its root is {} times the standard deviation that \
             intervals show; more users or {narrower} make them rarer.",
            significant(ratio, 3)
        ),
    }
}

/// A half-width for people.
fn shown(half_width: Option<f64>) -> String {
    half_width.map_or_else(|| "none is finite".into(), |half_width| significant(half_width, 4))
}

fn human(record: &Record, dominant: Part, rounds: u32) -> String {
    let mut table = report::table(&[]);
    let at = match record.criterion {
        "average" => "on average over all means in the prior interval".to_owned(),
        _ => format!("at the worst mean, {}", significant(record.worst_mean, 5)),
    };
    table.add_row(["expected half-width", &shown(record.expected_half_width), &at]);
    let formula = "z·sigma·√(V/n): what the asymptotic formula promises";
    table.add_row(["asymptotic half-width", &significant(record.asymptotic_half_width, 4), formula]);
    if let (Some(scaled), Some(mse)) = (record.scaled_mse, record.expected_mse) {
        let largest = if record.criterion == "average" { "" } else { ", the largest at any mean" };
        let root = format!("root of the mean squared error {}{largest}", significant(mse.sqrt(), 4));
        table.add_row(["n·MSE", &significant(scaled, 5), &root]);
    }
    let nominal = format!("nominal {}", percent(record.level));
    table.add_row(["coverage", &measured(record.expected_coverage, 2), &nominal]);
    table.add_row(["infinite ends", &percent(record.infinite), "probability that an interval has one"]);
    if let Some(failure) = record.pilot_failure {
        let what = "probability that it ends more than two sigma off, at the worst of several places in the range";
        table.add_row(["pilot failure", &percent(failure), what]);
    }
    let SharesRecord { sample, privacy, pilot, first_stage, off_centre } = record.shares;
    let share = match dominant {
        Part::Sample => sample,
        Part::Privacy => privacy,
        Part::Pilot => pilot,
        Part::FirstStage => first_stage,
        Part::OffCentre => off_centre,
    };
    let share = share.map_or_else(|| "unknown".into(), percent);
    let advice = advice(dominant, narrower(record.guess.is_some()));
    table.add_row(["largest share", &format!("{}, {share}", record.dominant), &advice]);

    let mut text = format!(
        "Ask {} in {}: {}\n{table}\n",
        counted(record.users, "user"),
        counted(rounds.into(), "round"),
        record.estimator
    );
    if !record.alternatives.is_empty() {
        text += &format!("{}\n", others(&record.alternatives));
    }
    if let Some(naive) = &record.naive {
        text += &halves(naive);
    }
    if record.blur > 0.0 {
        text += &format!(
            "Note: Every user adds Gaussian noise of standard deviation {} to the value before answering. That makes sigma {}, and \
             a search that need not be finer takes fewer users. The answers are as private as without.\n",
            significant(record.blur, 4),
            significant(record.blurred_sigma, 4)
        );
    }
    for warning in &record.warnings {
        text += &format!("Note: {warning}\n");
    }
    let check = match record.criterion {
        "average" => "To check it, at the mean where it promises least (less than the average):",
        _ => "To check the promise:",
    };
    text + &format!("\nTo run it:\n{}\n{check}\n{}\n", record.command_line, record.check_line)
}

fn others(alternatives: &[AlternativeRecord]) -> Table {
    // A spec that is broken over two lines could not be copied.
    let mut table =
        report::table(&["instead", "rounds", "users", "times as many", "half-width", "infinite ends"]).whole();
    for other in alternatives {
        let rounds = other.rounds.to_string();
        match (other.users, other.cost, other.infinite) {
            (Some(users), Some(cost), Some(infinite)) => table.add_row([
                &other.estimator,
                &rounds,
                &users.to_string(),
                &format!("{cost:.2}"),
                &shown(other.expected_half_width),
                &percent(infinite),
            ]),
            _ => table.add_row([other.estimator.as_str(), &rounds, "cannot do it", "", "", ""]),
        };
    }
    table
}

/// What half of the users in each round would bring.
fn halves(naive: &NaiveRecord) -> String {
    let spread = match naive.margin {
        Some(margin) if margin >= 0.0 => format!("its spread is {} larger", percent(margin)),
        Some(margin) => format!("its spread is {} smaller", percent(-margin)),
        None => format!("{} of its intervals have an infinite end", percent(naive.infinite)),
    };
    let root = naive.expected_mse.map_or_else(|| "unknown".into(), |mse| significant(mse.sqrt(), 4));
    format!(
        "Half and half, {}, has half-width {} and root of the mean squared error {root}: {spread}.\n",
        naive.estimator,
        shown(naive.expected_half_width)
    )
}
