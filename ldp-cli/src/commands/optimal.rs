//! `ldp optimal`: the most informative mechanism at a privacy level, with the proof.

use super::optimal_verify::{self, Certified};
use super::{optimal_sweep, optimal_switches, pool};
use crate::args::{Common, Optimal};
use crate::named;
use crate::output::{OBJECT, Output, write_all};
use crate::progress::Clock;
use crate::report::{self, significant};
use anyhow::Context;
use ldp_catalog::{BuiltModel, Catalog};
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
pub fn run(catalog: &Catalog, common: &Common, args: &Optimal) -> anyhow::Result<()> {
    if let Some(path) = &args.verify {
        return optimal_verify::run(catalog, common, path);
    }
    let built = named::model(catalog, &args.model)?;
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
    let mut files = Vec::new();
    if let Some(export) = export {
        files.push((export, serde_json::to_string(&certificate.mechanism)? + "\n"));
    }
    if let Some(written) = written {
        let certified = Certified { model: built.spec.clone(), certificate };
        files.push((written, serde_json::to_string_pretty(&certified)? + "\n"));
    }
    write_all(files)?;
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

/// What the digits of two cuts may lack of the distance between them.
const APART: f64 = 1e-3;

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

/// The ends of intervals: with a few digits, or with as many as tell how far neighbours are apart.
fn ends(cuts: &[f64]) -> Vec<String> {
    let told = |digits: usize| {
        let texts: Vec<String> = cuts.iter().map(|&cut| significant(cut, digits)).collect();
        let off = |i: usize| (texts[i].parse().unwrap_or(f64::NAN) - cuts[i]).abs();
        let near = (1..cuts.len()).all(|i| off(i - 1) + off(i) <= APART * (cuts[i] - cuts[i - 1]));
        near.then_some(texts)
    };
    let texts = (7..=17).find_map(told).unwrap_or_else(|| cuts.iter().map(ToString::to_string).collect());
    [vec!["-inf".into()], texts, vec!["inf".into()]].concat()
}

/// A gap, in words for people.
pub fn relative(gap: f64) -> String {
    format!("{gap:.1e} relative")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_cuts_are_told_apart() {
        let middle = |cuts: &[f64]| ends(cuts)[1..=cuts.len()].to_vec();
        assert_eq!(middle(&[-0.483_984_5, 0.483_984_5]), ["-0.4839845", "0.4839845"]);
        assert_eq!(middle(&[1e10]), ["1.000000e10"]);
        for cuts in
            [[1e10 - 0.484, 1e10 + 0.484], [-1e10 - 0.484, -1e10], [1e-7, 1e-7 + 1e-15], [1.0, 1.0f64.next_up()]]
        {
            let shown: Vec<f64> = middle(&cuts).iter().map(|text| text.parse().unwrap()).collect();
            let (apart, seen) = (cuts[1] - cuts[0], shown[1] - shown[0]);
            assert!((seen / apart - 1.0).abs() < 2e-3, "{cuts:?}: {shown:?}");
        }
    }
}
