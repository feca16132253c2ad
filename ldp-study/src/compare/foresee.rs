//! What can be known of a study before the first draw: whether it can be held in memory, and whether it can be drawn.

use super::picture::{apart, chart, value};
use super::work::Job;
use crate::plot::TALLEST;
use crate::record::{Point, Record};
use crate::study::{Fidelity, Outline, Setup};
use std::collections::{BTreeMap, HashSet};

/// The most points of a study: a whole record of them, its table and its page are in memory at once, some 5 kB a point.
pub const MOST_POINTS: u64 = 100_000;
/// The most lines of a figure.
const MOST_LINES: usize = 250;

/// Refuses what cannot be held in memory.
pub fn size(name: &str, outline: &Outline<'_>) -> anyhow::Result<()> {
    let size = outline.size();
    anyhow::ensure!(
        size <= MOST_POINTS,
        "{name}: the study has up to {size} points, and one study has at most {MOST_POINTS}: make several of it"
    );
    Ok(())
}

/// Refuses a figure whose lines cannot be named.
pub fn figure(record: &Record, outline: &Outline<'_>, jobs: &[Job]) -> anyhow::Result<()> {
    let by = apart(&record.settings);
    let setups = || jobs.iter().filter_map(|job| outline.setup(job.index));
    // One point of every line stands for it: names do not depend on what is found.
    let (mut seen, mut lines) = (HashSet::new(), Vec::new());
    for setup in setups() {
        let point = blank(outline, &setup, lines.len());
        if seen.insert(by.iter().map(|key| value(&point, key)).collect::<Vec<_>>()) {
            lines.push(point);
        }
        anyhow::ensure!(
            lines.len() <= MOST_LINES,
            "it has more than {MOST_LINES} lines, the most that can be told apart by {}; fewer values, or by = [...] with \
             fewer keys, can be drawn",
            by.join(", ")
        );
    }
    let count = lines.len();
    let sketch = Record { points: lines, ..Record::new(&record.study, record.settings.clone(), None)? };
    let height = chart(outline.catalog(), &sketch).height();
    anyhow::ensure!(
        height <= TALLEST,
        "it has {count} lines, whose names need a height of {height:.0}, and at most {TALLEST} can be drawn; shorter labels, \
         fewer values, or by = [...] with fewer keys, can be drawn"
    );
    Ok(())
}

/// A point of which nothing is known but where it is. Each has a bound of its own, so that no name is left out that may
/// be needed.
fn blank(outline: &Outline<'_>, setup: &Setup, number: usize) -> Point {
    let own = Some(1.0 + number as f64);
    Point {
        index: setup.index,
        label: outline.study().estimators[setup.estimator].label.clone(),
        estimator: setup.spec.to_string(),
        model: setup.model.to_string(),
        theta: setup.theta,
        users: setup.users,
        epsilon: setup.epsilon,
        keys: setup.keys.iter().cloned().collect::<BTreeMap<_, _>>(),
        target: String::new(),
        truth: 0.0,
        fidelity: setup.fidelity.unwrap_or(Fidelity::Tally),
        replications: None,
        seed: 0,
        scaled_mse: 1.0,
        scaled_mse_interval: None,
        scaled_mse_error: None,
        bias: 0.0,
        variance: 0.0,
        bound: own,
        bound_reason: None,
        efficiency: None,
        nonprivate: own,
        one_stage: own,
        coverage: None,
        width: None,
        intervals: Vec::new(),
        fallbacks: None,
        ratio: None,
        ratio_interval: None,
    }
}
