//! `ldp estimate`: run a protocol on data.

use super::{choose_interval, warn};
use crate::args::{Common, Estimate, Format, RowOrder};
use crate::named;
use crate::progress::Progress;
use crate::report::{self, counted, percent, plain, significant};
use anyhow::Context;
use ldp_catalog::{Catalog, Meaning, OnData, Spec, Untold};
use ldp_core::{Diagnostic, Error, Interval, IntervalKind};
use ldp_simulate::{Blurred, Collected, Order, RowNoise, RowStore};
use ldp_study::input::{self, Allowed, Column, Options};
use ldp_study::scenario::unless_gaussian;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Record {
    command: &'static str,
    version: &'static str,
    estimator: String,
    /// The model, where the protocol takes anything from it.
    model: Option<String>,
    /// What the estimate is an estimate of.
    estimates: String,
    /// What the data do not tell, and is taken to be so.
    assumptions: Vec<String>,
    /// What is odd about the protocol and the model together.
    warning: Option<String>,
    estimate: f64,
    /// Why the answers cannot tell: the estimate is a guess then.
    cannot_tell: Option<&'static str>,
    standard_error: Option<f64>,
    interval: Option<Interval>,
    interval_reason: Option<String>,
    /// What should be known before the interval is trusted.
    interval_caveat: Option<&'static str>,
    users: u64,
    skipped: u64,
    rounds: u64,
    /// The standard deviation of the Gaussian noise that was added to every value.
    blur: Option<f64>,
    /// The largest ε among the questions asked, from their own weights.
    epsilon: Option<f64>,
    claimed_epsilon: f64,
    /// False if the noise can be repeated by whoever knows the seed.
    private: bool,
    seed: Option<u64>,
    note: Option<&'static str>,
    /// Where values are clipped: at most these shares were below and above the ends, as far as the reports tell.
    most_clipped_below: Option<f64>,
    most_clipped_above: Option<f64>,
    /// What the reports say against the assumptions.
    diagnostics: Vec<Finding>,
}

/// A diagnostic with its numbers, and in words.
#[derive(Serialize)]
struct Finding {
    #[serde(flatten)]
    numbers: Diagnostic,
    text: String,
}

/// Reads the data, runs the protocol and prints its record.
pub fn run(catalog: &Catalog, common: &Common, args: &Estimate) -> anyhow::Result<()> {
    // All flags are checked before the data are touched.
    let on_data = named::on_data(catalog, &args.estimator, &args.model, args.epsilon).map_err(|error| {
        with_command(error, args, std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
    })?;
    let OnData { built, protocol, .. } = &on_data;
    let blur = args.blur.map(|blur| check_blur(blur, &on_data)).transpose()?;
    let (estimator, spec) = (&*protocol.estimator, &protocol.spec);
    let kind = choose_interval(estimator, args.interval.interval)?;
    let options = Options {
        column: args.column.clone(),
        header: !args.no_header,
        layout: args.layout.map(Into::into),
        skip_invalid: args.skip_invalid,
        values: Some(Allowed { model: built.spec.clone(), support: built.model.support(built.usual_theta()) }),
    };
    let warning = unless_gaussian(protocol, built);
    warning.iter().for_each(|warning| warn(common.quiet, warning));
    let noise = noise(common)?;
    let mut progress = Progress::new("reading", None, common.quiet);
    let Column { mut spool, skipped } = input::read(&args.file, &options, &mut |rows| progress.at(rows))?;
    drop(progress);

    let (users, private) = (spool.rows(), noise.is_private());
    let order = match args.order {
        RowOrder::Random => Order::Random,
        RowOrder::File => Order::File,
    };
    let collected = match blur {
        None => estimator.collect(&mut spool, order, noise),
        Some(blur) => {
            // Of a stream of its own: with the noise of the answers it would say more than they do.
            let own = common.seed.map_or_else(RowNoise::system, |seed| Ok(RowNoise::demonstration(!seed)))?;
            estimator.collect(&mut Blurred::new(&mut spool, blur, own)?, order, noise)
        }
    };
    let collected = collected.with_context(|| format!("{spec} with {}", counted(users, "row")))?;
    let record = record(common, args, &on_data, Run { collected, kind, users, skipped, private, blur, warning })?;
    match common.format {
        Format::Csv => report::record(common.format, &columns(&record)?, String::new),
        _ => report::record(common.format, &record, || human(&record, protocol.range)),
    }
}

/// The noise of the answers.
fn noise(common: &Common) -> anyhow::Result<RowNoise> {
    Ok(match common.seed {
        Some(seed) => RowNoise::demonstration(seed),
        None => RowNoise::system()?,
    })
}

/// A protocol that was run on the rows of a file.
struct Run {
    collected: Collected,
    kind: Option<IntervalKind>,
    users: u64,
    skipped: u64,
    private: bool,
    blur: Option<f64>,
    warning: Option<String>,
}

/// What a run brought, with the warnings that go with it.
fn record(common: &Common, args: &Estimate, on_data: &OnData, run: Run) -> anyhow::Result<Record> {
    let OnData { built, protocol, uses_model } = on_data;
    let Run { collected, kind, users, skipped, private, blur, warning } = run;
    let estimate = &collected.estimate;
    let (interval, interval_reason) = match kind.map(|kind| on_data.interval(&**estimate, kind, args.interval.level)) {
        Some(Ok(interval)) => (Some(interval), None),
        Some(Err(error @ Error::NoInterval { .. })) => (None, Some(error.to_string())),
        Some(Err(error)) => return Err(error.into()),
        None => (None, Some("this protocol has no interval".into())),
    };
    let interval_caveat = kind.and_then(|kind| estimate.caveat(kind));
    let not_private = (!private).then_some("--seed makes the noise repeatable: the result is not private");
    for text in [interval_caveat, not_private, estimate.note()].into_iter().flatten() {
        warn(common.quiet, text);
    }
    let diagnostics = estimate.diagnostics(protocol.range).into_iter();
    let diagnostics: Vec<_> = diagnostics.map(|numbers| Finding { numbers, text: numbers.to_string() }).collect();
    diagnostics.iter().for_each(|finding| warn(common.quiet, &finding.text));
    let Meaning { estimates, mut assumptions } = Meaning::new(protocol, built);
    if let Some(blur) = blur {
        assumptions.push(format!("the standard deviation includes the {} of the noise that was added", plain(blur)));
    }
    let value = on_data.value(&**estimate);
    let standard_error = estimate.standard_error();
    let clipped = on_data.clipped(value, standard_error);
    Ok(Record {
        command: "estimate",
        version: env!("CARGO_PKG_VERSION"),
        estimator: protocol.spec.clone(),
        model: uses_model.then(|| built.spec.clone()),
        estimates,
        assumptions,
        warning,
        estimate: value,
        cannot_tell: estimate.cannot_tell(),
        standard_error,
        interval,
        interval_reason,
        interval_caveat,
        users,
        skipped,
        rounds: collected.rounds,
        blur,
        epsilon: collected.epsilon.map(ldp_core::Epsilon::value),
        claimed_epsilon: args.epsilon.value(),
        private,
        seed: common.seed,
        note: estimate.note(),
        most_clipped_below: clipped.map(|[below, _]| below),
        most_clipped_above: clipped.map(|[_, above]| above),
        diagnostics,
    })
}

/// The noise that is added to values, if the protocol is for values with such noise.
fn check_blur(blur: f64, on_data: &OnData) -> anyhow::Result<f64> {
    let OnData { built, protocol, .. } = on_data;
    anyhow::ensure!(
        protocol.gaussian && built.gaussian,
        "--blur {blur}: {} on {} is not for values with Gaussian noise: give --model gaussian and a protocol for its mean",
        protocol.spec,
        built.spec
    );
    anyhow::ensure!(
        blur > 0.0 && blur < built.scale,
        "--blur {blur}: must be positive and below sigma of --model, {}, which includes it",
        built.scale
    );
    Ok(blur)
}

/// The record with the same columns whatever the data: lists are one text each, and an interval that is not there is empty.
fn columns(record: &Record) -> anyhow::Result<Value> {
    let mut fields = serde_json::to_value(record)?;
    let texts: Vec<_> = record.diagnostics.iter().map(|finding| &*finding.text).collect();
    fields["assumptions"] = record.assumptions.join("; ").into();
    fields["diagnostics"] = texts.join("; ").into();
    if record.interval.is_none() {
        fields["interval"] = json!({ "kind": null, "level": null, "low": null, "high": null });
    }
    Ok(fields)
}

/// Adds to an error about what was not told the command as it should be.
fn with_command(error: anyhow::Error, args: &Estimate, typed: impl Iterator<Item = String>) -> anyhow::Error {
    let Some(untold @ Untold { estimator, model }) = error.downcast_ref() else {
        return error;
    };
    let mut flags = vec![("--estimator", Untold::completed(&args.estimator, estimator))];
    if !model.is_empty() {
        flags.push(("--model", Untold::completed(&args.model, model)));
    }
    let told = named::untold(untold);
    anyhow::anyhow!("{told}\nFill in the names in capitals:\n  {}", completed(typed, flags))
}

/// What was typed, with these flags set.
fn completed(typed: impl Iterator<Item = String>, mut flags: Vec<(&str, Spec)>) -> String {
    let mut words = vec!["ldp".to_owned()];
    let mut typed = typed.skip(1);
    while let Some(word) = typed.next() {
        let place = flags.iter().position(|(flag, _)| word == *flag || word.starts_with(&format!("{flag}=")));
        let Some(place) = place else {
            words.push(quoted(&word));
            continue;
        };
        let (flag, spec) = flags.remove(place);
        if word == flag {
            typed.next();
        }
        words.extend([flag.to_owned(), quoted(&spec.to_string())]);
    }
    words.extend(flags.iter().flat_map(|(flag, spec)| [(*flag).to_owned(), quoted(&spec.to_string())]));
    words.join(" ")
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What is to be known about an estimate, by the name of its row.
fn remarks(record: &Record) -> impl Iterator<Item = (&'static str, &str)> {
    let caveats = [record.interval_caveat, record.note].into_iter().flatten().map(|text| ("caveat", text));
    let findings = record.diagnostics.iter().map(|finding| &*finding.text);
    caveats.chain(record.warning.as_deref().into_iter().chain(findings).map(|text| ("warning", text)))
}

/// How many values may have been clipped, in words.
fn clipping(record: &Record, range: Option<[f64; 2]>) -> Option<String> {
    let ([low, high], below, above) = (range?, record.most_clipped_below?, record.most_clipped_above?);
    Some(format!(
        "the reports do not tell how many values: with this mean up to {} below {} and up to {} above {}",
        percent(below),
        plain(low),
        percent(above),
        plain(high)
    ))
}

/// The record for people; `range` is what values are clipped to, if they are.
fn human(record: &Record, range: Option<[f64; 2]>) -> String {
    // As many digits as the standard error supports, and two more.
    let digits = record.standard_error.map_or(6, |error| {
        let scale = (record.estimate.abs().max(error) / error).log10().ceil();
        (scale as usize).clamp(1, 14) + 2
    });
    let show = |value: f64| significant(value, digits);
    let mut table = report::table(&[]);
    table.add_row(["estimates", &record.estimates]);
    if !record.assumptions.is_empty() {
        table.add_row(["assumes", &record.assumptions.join("\n")]);
    }
    if let Some(clipping) = clipping(record, range) {
        table.add_row(["clipped", &clipping]);
    }
    match record.cannot_tell {
        Some(reason) => {
            table.add_row(["cannot tell", reason]);
            table.add_row(["last guess", &show(record.estimate)]);
        }
        None => {
            table.add_row(["estimate", &show(record.estimate)]);
        }
    }
    let error = record.standard_error.map_or_else(|| "none".into(), |e| significant(e, 3));
    table.add_row(["standard error", &error]);
    if let Some(interval) = record.interval {
        let ends = format!("{} to {}", show(interval.low), show(interval.high));
        table.add_row([&format!("{} {} interval", percent(interval.level), interval.kind), &ends]);
    }
    if let Some(reason) = record.interval_reason.as_ref().filter(|_| record.cannot_tell.is_none()) {
        table.add_row(["interval", reason]);
    }
    for (name, text) in remarks(record) {
        table.add_row([name, text]);
    }
    let skipped =
        if record.skipped > 0 { format!(" ({} skipped)", counted(record.skipped, "row")) } else { String::new() };
    table.add_row(["users", &format!("{}{skipped}, in {}", record.users, counted(record.rounds, "round"))]);
    let epsilon = record.epsilon.map_or_else(String::new, |epsilon| epsilon.to_string());
    let privacy = if record.private { "" } else { ", but NOT private: the seed repeats the noise" };
    table.add_row(["epsilon", &format!("{epsilon} per user, once{privacy}")]);
    let model = record.model.as_ref().map_or_else(String::new, |model| format!(" on {model}"));
    format!("{}{model}\n{table}\n", record.estimator)
}
