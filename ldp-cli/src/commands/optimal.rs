//! `ldp optimal`: the most informative mechanism at a privacy level, with the proof.

use super::optimal_verify::{self, Certified};
use super::{optimal_sweep, optimal_switches, pool};
use crate::args::{Common, Optimal};
use crate::output::{OBJECT, Output};
use crate::progress::Clock;
use crate::registry::{self, BuiltModel};
use crate::report::{self, significant};
use anyhow::Context;
use ldp_core::{Epsilon, Finite, FiniteChannel, Partition};
use ldp_fisher::one_bit;
use ldp_fisher::optimal::{Certificate, MOST_EPSILON, certify};
use serde::Serialize;
use std::path::PathBuf;

/// The mechanism, what is known about it, and how that was come by.
#[derive(Serialize)]
pub struct Record {
    command: &'static str,
    version: &'static str,
    model: String,
    #[serde(flatten)]
    found: Found,
    /// The cell of each interval between the cuts, from the left.
    labels: Vec<u32>,
    /// Of a certificate from a file: it was recomputed, and holds.
    verified: Option<bool>,
}

/// What is known about the best mechanism at one point.
#[derive(Clone, Serialize)]
pub struct Found {
    pub theta: f64,
    pub epsilon: f64,
    /// That of the mechanism.
    pub information: f64,
    /// What no mechanism at this level exceeds: proved.
    pub upper_bound: f64,
    /// How far the two are apart, relative to the information.
    pub relative_gap: f64,
    /// Of the value itself.
    pub nonprivate: f64,
    /// Of the best mechanism with two reports: for a Gaussian mean, of the sign.
    pub one_bit: f64,
    /// How many reports the mechanism has.
    pub outputs: u32,
    /// Where the cells of the mechanism begin and end.
    pub cuts: Vec<f64>,
}

/// Finds and certifies the mechanism, or checks a certificate, and prints the record.
pub fn run(common: &Common, args: &Optimal) -> anyhow::Result<()> {
    if let Some(path) = &args.verify {
        return optimal_verify::run(common, path);
    }
    let built = registry::model(&args.model)?;
    let theta = args.theta.unwrap_or_else(|| built.usual_theta());
    if let Some(sweep) = &args.sweep {
        return optimal_sweep::run(common, args, sweep, &built, theta);
    }
    if let Some(until) = args.switches {
        return optimal_switches::run(common, &built, theta, until);
    }
    let epsilon = args.epsilon.context("--epsilon is missing")?;
    let open = |flag, path: &Option<PathBuf>| {
        path.as_ref().map(|path| Output::open(flag, path, common.overwrite, OBJECT)).transpose()
    };
    let (export, written) = (open("--export", &args.export)?, open("--certificate", &args.certificate)?);
    let clock = Clock::start(common);
    let certificate = pool(common)?.install(|| certified(&built, theta, epsilon))?;
    let found = Found::new(&certificate, &built)?;
    let record = Record::new(&built, found, &certificate.mechanism, None);
    if let Some(export) = export {
        let question = serde_json::to_string(&certificate.mechanism)?;
        export.write(|out| writeln!(out, "{question}"))?;
    }
    if let Some(written) = written {
        let text = serde_json::to_string_pretty(&Certified { model: built.spec.clone(), certificate })?;
        written.write(|out| writeln!(out, "{text}"))?;
    }
    report::record(common.format, &record, || human(&record))?;
    clock.tell();
    Ok(())
}

/// The certificate of a model at a point.
pub fn certified(built: &BuiltModel, theta: f64, epsilon: Epsilon) -> anyhow::Result<Certificate> {
    let BuiltModel { model, spec, .. } = built;
    model.check_theta(theta).with_context(|| format!("--theta {theta} for {spec}"))?;
    anyhow::ensure!(
        epsilon.value() <= MOST_EPSILON,
        "--epsilon {epsilon}: at most {MOST_EPSILON}, beyond that double precision cannot carry the proof"
    );
    certify(&**model, theta, epsilon).with_context(|| format!("{spec} at theta {theta}, epsilon {epsilon}"))
}

impl Found {
    pub fn new(certificate: &Certificate, built: &BuiltModel) -> anyhow::Result<Self> {
        let &Certificate { theta, epsilon, information, upper_bound, ref mechanism, .. } = certificate;
        Ok(Self {
            theta,
            epsilon,
            information,
            upper_bound,
            relative_gap: certificate.relative_gap(),
            nonprivate: built.model.information(theta),
            one_bit: one_bit(&*built.model, theta, Epsilon::new(epsilon)?)?.information,
            outputs: mechanism.reports(),
            cuts: cells(mechanism).0,
        })
    }
}

/// Cuts and the cells between them.
fn cells(mechanism: &FiniteChannel) -> (Vec<f64>, Vec<u32>) {
    match mechanism.partition() {
        Partition::Threshold(cut) => (vec![*cut], vec![0, 1]),
        Partition::Cuts(cuts) => (cuts.points().to_vec(), cuts.labels().to_vec()),
        Partition::Periodic { .. } => (Vec::new(), Vec::new()),
    }
}

impl Record {
    pub fn new(built: &BuiltModel, found: Found, mechanism: &FiniteChannel, verified: Option<bool>) -> Self {
        Self {
            command: "optimal",
            version: env!("CARGO_PKG_VERSION"),
            model: built.spec.clone(),
            labels: cells(mechanism).1,
            found,
            verified,
        }
    }
}

/// The record in words for people.
pub fn human(record: &Record) -> String {
    let Found { theta, epsilon, information, upper_bound, relative_gap, nonprivate, one_bit, outputs, ref cuts } =
        record.found;
    let mut table = report::table(&[]);
    let best = format!("1/information {}", significant(information.recip(), 6));
    table.add_row(["information", &significant(information, 10), &best]);
    let proved = format!("no mechanism at this epsilon exceeds it: proved; {} above", relative(relative_gap));
    table.add_row(["upper bound", &significant(upper_bound, 10), &proved]);
    table.add_row([
        "best one bit",
        &significant(one_bit, 10),
        &format!("{} of the information", report::percent(one_bit / information)),
    ]);
    table.add_row([
        "no privacy",
        &significant(nonprivate, 10),
        &format!("the mechanism keeps {}", report::percent(information / nonprivate)),
    ]);
    table.add_row(["reports", &outputs.to_string(), "told through randomised response"]);
    let mut intervals = report::table(&["values from", "to", "report"]);
    let shown = ends(cuts);
    for (ends, label) in shown.windows(2).zip(&record.labels) {
        intervals.add_row([&ends[0], &ends[1], &label.to_string()]);
    }
    let about = format!("{} at theta {theta}, epsilon {epsilon}", record.model);
    let head = match record.verified {
        Some(_) => format!("The certificate holds: {about}; every number below is recomputed from the model"),
        None => format!("The most informative mechanism for {about}"),
    };
    format!("{head}\n{table}\n{intervals}\n")
}

/// The ends of intervals: with a few digits, or all where a few do not tell neighbours apart.
fn ends(cuts: &[f64]) -> Vec<String> {
    let mut few: Vec<String> = cuts.iter().map(|&cut| significant(cut, 7)).collect();
    if few.windows(2).any(|pair| pair[0] == pair[1]) {
        few = cuts.iter().map(ToString::to_string).collect();
    }
    [vec!["-inf".into()], few, vec!["inf".into()]].concat()
}

/// A gap, in words for people.
pub fn relative(gap: f64) -> String {
    format!("{gap:.1e} relative")
}
