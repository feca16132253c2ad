//! A function of the score that proves a bound: sought, and raised until it does.

use super::beta::Beta;
use super::cutting::correct;
use super::dual::{Dual, Violation};
use super::intervals::Intervals;
use super::prices::priced;
use super::tent::tent;
use super::tight::tightened;
use crate::law::ScoreLaw;
use ldp_core::{Epsilon, Result};

/// Above this level a correction takes minutes and proves less than that of the value itself.
pub(super) const MOST_CORRECTED: f64 = 16.0;

/// The gap that the search is content with, relative to the information.
pub(super) const GOAL: f64 = 2e-7;

/// What is added to a function before its proof, relative to the information, so that rounding cannot spoil it.
const MARGIN: f64 = 1e-12;

/// How often a function is raised where its proof fails, and steps to the top of what was in the way.
const ATTEMPTS: u32 = 24;
const STEPS: u32 = 40;

/// The bound that β proves, rounded upwards, in units of the information.
pub(super) fn proved<L: ScoreLaw + ?Sized>(law: &L, beta: &Beta, epsilon: f64) -> Result<f64> {
    let dual = Dual::new(law, beta, epsilon);
    dual.prove().map_err(Violation::refusal)?;
    Ok(dual.integral().above())
}

/// A function β that can be proved, if there is one: the tent, the prices of the linear program where the family has few
/// scores, else a correction of the tent.
pub(super) fn search<L: ScoreLaw + ?Sized>(law: &L, found: &Intervals, epsilon: Epsilon) -> Result<Option<Beta>> {
    let level = epsilon.value();
    let tent = tent(law, found)?;
    let near = 0.01 * GOAL * found.information;
    let simple = settled(law, tent.raised(MARGIN * found.information), level, near);
    let simple = simple.or_else(|| settled(law, priced(law, epsilon)?, level, near));
    if simple.is_some() {
        return Ok(simple);
    }
    if level > MOST_CORRECTED {
        return Ok(None);
    }
    let corrected = correct(law, found, &tent, level, found.information * (1.0 + GOAL));
    let proved = settled(law, corrected.beta, level, f64::INFINITY);
    Ok(proved.map(|beta| tightened(law, beta, level, found.information)))
}

/// β raised until it is proved, by no more than `most`, if it can be.
///
/// Hills that a search did not see are found by the proof, one by one. What is added beyond their height grows: a proof that
/// fails by rounding fails by an unknown amount.
fn settled<L: ScoreLaw + ?Sized>(law: &L, mut beta: Beta, epsilon: f64, most: f64) -> Option<Beta> {
    let mut raised = 0.0;
    let mut more = MARGIN * Dual::new(law, &beta, epsilon).integral().value;
    for _ in 0..ATTEMPTS {
        let dual = Dual::new(law, &beta, epsilon);
        let Err(violation) = dual.prove() else { return Some(beta) };
        let (_, shift) = dual.climb(violation.t, STEPS);
        let step = shift.max(0.0) + more;
        raised += step;
        if !(raised <= most) {
            return None;
        }
        more *= 2.0;
        beta = beta.raised(step);
    }
    None
}
