//! `ldp optimal --switches`: the levels at which one more report begins to pay.

use super::pool;
use crate::args::{Common, Format};
use crate::report::{self, significant};
use anyhow::Context;
use ldp_catalog::BuiltModel;
use ldp_core::Epsilon;
use ldp_fisher::optimal::{self, MOST_EPSILON};
use serde::Serialize;

#[derive(Serialize)]
struct Record {
    command: &'static str,
    version: &'static str,
    model: String,
    theta: f64,
    until: f64,
    switches: Vec<Switch>,
}

/// A level at which another number of reports becomes the best.
#[derive(Serialize)]
struct Switch {
    epsilon: f64,
    from: u32,
    to: u32,
    information: f64,
}

/// Finds the switches and prints them.
pub fn run(common: &Common, built: &BuiltModel, theta: f64, until: Epsilon) -> anyhow::Result<()> {
    let BuiltModel { model, spec, .. } = built;
    model.check_theta(theta).with_context(|| format!("--theta {theta} for {spec}"))?;
    anyhow::ensure!(until.value() <= MOST_EPSILON, "--switches {until}: at most {MOST_EPSILON}");
    let found = pool(common)?.install(|| optimal::switches(&**model, theta, until));
    let found = found.with_context(|| format!("{spec} at theta {theta}"))?;
    let switches = found
        .into_iter()
        .map(|optimal::Switch { epsilon, from, to, information }| Switch { epsilon, from, to, information })
        .collect();
    let (command, version, until) = ("optimal", env!("CARGO_PKG_VERSION"), until.value());
    let record = Record { command, version, model: spec.clone(), theta, until, switches };
    match common.format {
        Format::Csv => Ok(report::write(&report::lines(&record.switches)?)?),
        _ => report::record(common.format, &record, || human(&record)),
    }
}

fn human(record: &Record) -> String {
    let mut table = report::table(&["epsilon", "reports below", "above", "information there"]);
    for switch in &record.switches {
        table.add_row([
            format!("{:.10}", switch.epsilon),
            switch.from.to_string(),
            switch.to.to_string(),
            significant(switch.information, 9),
        ]);
    }
    let head = format!("{} at theta {}, up to epsilon {}", record.model, record.theta, record.until);
    if record.switches.is_empty() {
        return format!("{head}: the best number of reports never changes\n");
    }
    format!("Where the best number of reports changes: {head}\n{table}\n")
}
