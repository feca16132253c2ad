//! `results.json`: what was measured, checked on reading.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the file that is written and read.
const SCHEMA: u32 = 1;

/// Why a file of results cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// Not JSON of this form.
    #[error("results are not of the expected form: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by another version.
    #[error("results have schema {found}, expected {SCHEMA}")]
    Schema {
        /// The version found.
        found: u32,
    },
    /// A number that no measurement gives.
    #[error("row {row}, {entry}: median, low and high must be positive, finite and in order, got {spread:?}")]
    Spread {
        /// The row.
        row: String,
        /// Whose number.
        entry: String,
        /// The numbers found.
        spread: Spread,
    },
    /// A row does not begin with our own time, or compares it with itself.
    #[error("row {row}: the first entry is ours and has no ratio, the others have one")]
    Ratios {
        /// The row.
        row: String,
    },
}

/// A median over rounds with the smallest and the largest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Spread {
    fn holds(self) -> bool {
        self.low > 0.0 && self.low <= self.median && self.median <= self.high && self.high.is_finite()
    }
}

/// How the work of an entry compares with ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The same work.
    Same,
    /// Another way to the same answer.
    Other,
    /// Less work than ours: what nothing can be faster than.
    Floor,
    /// Another way of our own: on the page only, for it is no comparison with others.
    Own,
}

/// One program at one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Who.
    pub name: String,
    /// What it does: which part of the work is simulated, and with which generator.
    pub does: String,
    /// How that compares with ours.
    pub kind: Kind,
    /// Seconds per unit of the row.
    pub seconds: Spread,
    /// Its time over ours, round by round; none for ours.
    pub ratio: Option<Spread>,
    /// The relative error of what it found, where rows differ in it.
    pub accuracy: Option<f64>,
}

/// Programs at the same task, ours first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What is done.
    pub title: String,
    /// The same in a few words.
    pub short: String,
    /// What times are per: a value, a replication, an answer.
    pub unit: String,
    /// Who did it.
    pub entries: Vec<Entry>,
}

impl Row {
    /// Ours, and the others; none in a row that was checked on reading.
    #[must_use]
    pub fn split(&self) -> Option<(&Entry, &[Entry])> {
        self.entries.split_first()
    }

    fn check(&self) -> Result<(), Malformed> {
        let ratios = self
            .split()
            .is_some_and(|(ours, others)| ours.ratio.is_none() && others.iter().all(|other| other.ratio.is_some()));
        if !ratios {
            return Err(Malformed::Ratios { row: self.title.clone() });
        }
        for entry in &self.entries {
            for spread in [Some(entry.seconds), entry.ratio].into_iter().flatten() {
                if !spread.holds() {
                    return Err(Malformed::Spread { row: self.title.clone(), entry: entry.name.clone(), spread });
                }
            }
        }
        Ok(())
    }
}

/// A number on which all sides have to agree before anything is timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What was computed.
    pub what: String,
    /// By whom.
    pub side: String,
    /// What came out.
    pub value: f64,
    /// What it should be.
    pub expected: f64,
    /// How far it may be off.
    pub tolerance: f64,
}

/// A whole comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version of this form.
    pub schema: u32,
    /// The day of the run.
    pub date: String,
    /// How many interleaved rounds.
    pub rounds: u32,
    /// Small sizes, to see that everything runs: such numbers are not to be quoted.
    pub quick: bool,
    /// The processor.
    pub cpu: String,
    /// What was compared, with versions.
    pub versions: BTreeMap<String, String>,
    /// On what all sides agreed.
    pub checks: Vec<Check>,
    /// What was measured.
    pub rows: Vec<Row>,
}

impl Results {
    /// Reads and checks a file of results.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let results: Self = serde_json::from_str(text)?;
        if results.schema != SCHEMA {
            return Err(Malformed::Schema { found: results.schema });
        }
        results.rows.iter().try_for_each(Row::check)?;
        Ok(results)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A comparison of two rows.
    pub fn example() -> Results {
        let spread = |median| Spread { median, low: 0.9 * median, high: 1.25 * median };
        let entry = |name: &str, kind, median, ratio: Option<f64>, accuracy| Entry {
            name: name.into(),
            does: format!("what {name} does"),
            kind,
            seconds: spread(median),
            ratio: ratio.map(spread),
            accuracy,
        };
        Results {
            schema: SCHEMA,
            date: "2026-01-02".into(),
            rounds: 7,
            quick: false,
            cpu: "A processor".into(),
            versions: BTreeMap::from([("numpy".into(), "2.4.6".into())]),
            checks: vec![Check {
                what: "share of lies".into(),
                side: "numpy".into(),
                value: 0.2688,
                expected: 0.2689,
                tolerance: 0.001,
            }],
            rows: vec![
                Row {
                    title: "Sign reports".into(),
                    short: "Reports".into(),
                    unit: "value".into(),
                    entries: vec![
                        entry("ldp", Kind::Same, 1e-9, None, None),
                        entry("numpy", Kind::Same, 6e-9, Some(6.0), None),
                        entry("sum", Kind::Floor, 0.5e-9, Some(0.5), None),
                    ],
                },
                Row {
                    title: "Exact risk".into(),
                    short: "Risk".into(),
                    unit: "answer".into(),
                    entries: vec![
                        entry("ldp", Kind::Same, 2e-3, None, Some(1e-12)),
                        entry("numpy & co", Kind::Other, 12.0, Some(6000.0), Some(0.0063)),
                        entry("shortcut", Kind::Own, 1e-7, Some(5e-5), None),
                    ],
                },
            ],
        }
    }

    #[test]
    fn what_no_measurement_gives_is_refused() {
        let text = |results: &Results| serde_json::to_string(results).unwrap();
        assert_eq!(Results::parse(&text(&example())).unwrap(), example());
        let refused = |change: fn(&mut Results)| {
            let mut results = example();
            change(&mut results);
            Results::parse(&text(&results)).unwrap_err()
        };
        assert!(matches!(refused(|r| r.schema = 2), Malformed::Schema { found: 2 }));
        assert!(matches!(refused(|r| r.rows[0].entries.clear()), Malformed::Ratios { .. }));
        assert!(matches!(refused(|r| r.rows[0].entries[1].ratio = None), Malformed::Ratios { .. }));
        assert!(matches!(refused(|r| r.rows[0].entries.swap(0, 1)), Malformed::Ratios { .. }));
        assert!(matches!(refused(|r| r.rows[0].entries[0].seconds.low = 0.0), Malformed::Spread { .. }));
        assert!(matches!(refused(|r| r.rows[0].entries[0].seconds.high = 1e-10), Malformed::Spread { .. }));
        // JSON has no NaN: it is written as null.
        assert!(matches!(refused(|r| r.rows[0].entries[0].seconds.high = f64::NAN), Malformed::Json(_)));
        assert!(matches!(Results::parse("{}").unwrap_err(), Malformed::Json(_)));
    }
}
