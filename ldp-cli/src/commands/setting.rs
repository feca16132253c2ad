//! What `simulate` and `risk` have in common: the protocol of the flags under a model, and rows of their tables.

use super::warn;
use crate::named;
use crate::report::{measured, percent, plain, significant};
use crate::table::Table;
use anyhow::Context;
use ldp_catalog::{BuildContext, BuiltModel, Catalog, Spec};
use ldp_core::Epsilon;
use ldp_study::scenario::{Bound, ResolvedScenario};

/// Builds the protocol and finds what is wrong with the flags, before the first draw.
pub fn named_scenario<'m>(
    catalog: &Catalog,
    built: &'m BuiltModel,
    spec: &Spec,
    theta: f64,
    users: u64,
    epsilon: Epsilon,
) -> anyhow::Result<ResolvedScenario<'m>> {
    let protocol = named::estimator(catalog, spec, BuildContext::new(epsilon, built))?;
    built.model.check_theta(theta).with_context(|| format!("--theta {} for {}", plain(theta), built.spec))?;
    protocol.estimator.begin(users).with_context(|| format!("{} with --users {users}", protocol.spec))?;
    ResolvedScenario::new(built, protocol, theta, users, epsilon)
}

/// Says what is odd about a protocol under a model, but no reason to refuse.
pub fn warn_all(case: &ResolvedScenario<'_>, quiet: bool) {
    case.warnings().iter().for_each(|warning| warn(quiet, warning));
}

/// The rows of a table for people about the bound.
pub fn bound_rows(bound: &Bound, table: &mut Table) {
    let value = bound.bound.map_or_else(|| "unknown".into(), |bound| significant(bound, 5));
    table.add_row([
        "bound",
        &value,
        bound.bound_reason.unwrap_or("1/sup I over all mechanisms: the limit for regular estimators"),
    ]);
    let efficiency = bound.efficiency.map_or_else(|| "unknown".into(), |value| significant(value, 4));
    table.add_row(["efficiency", &efficiency, "bound / n·MSE"]);
}

/// The row of what should be known before intervals are trusted, and how many estimates it is about.
pub fn caveat_row(table: &mut Table, share: f64, caveat: Option<&str>) {
    if let Some(caveat) = caveat {
        table.add_row(["caveat", &measured(share, 2), &format!("of the estimates: {caveat}")]);
    }
}

/// What there is to say beside the coverage of an interval: its level, and how often it is infinite or missing.
pub fn remark(level: f64, infinite: f64, missing: f64) -> String {
    let mut remark = format!("nominal {}", percent(level));
    for (share, what) in [(infinite, "with an infinite end"), (missing, "without an interval")] {
        if share > 0.0 {
            remark += &format!("; {} {what}", percent(share));
        }
    }
    remark
}
