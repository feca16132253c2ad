//! What a comparison found, as it is kept: `record.json`. docs/record.md describes it.

use crate::bounded;
use crate::study::{Comparison, Fidelity, Identity, Value, hash};
use anyhow::Context;
use ldp_core::IntervalKind;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::Path;
use std::str::FromStr;

/// The version of the form of a record.
pub const SCHEMA: u32 = 2;
/// The one before, which had no digest and is still read.
const BARE: u32 = 1;
/// The most bytes of a record: 5 kB for each of the most points that a study can have.
pub const MOST_BYTES: u64 = 1 << 29;
/// The command that records are of.
pub const COMMAND: &str = "compare";

/// A study, or a shard of it, with what was found.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`SCHEMA`], or that of the file it was read from.
    pub schema: u32,
    /// The command that made the record, always [`COMMAND`].
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// What the study is called.
    pub study: String,
    /// Fingerprint of the version and of what the numbers depend on: records of the same study have the same.
    pub fingerprint: String,
    /// Digest of what was found, as [`Record::json`] writes it; null before schema 2.
    #[serde(default)]
    pub digest: Option<String>,
    /// Which part of the study this is; the whole where null.
    pub shard: Option<Shard>,
    /// What was asked.
    pub settings: Comparison,
    /// What was found, in the order of the study.
    pub points: Vec<Point>,
    /// Where a protocol refused.
    pub skipped: Vec<Skipped>,
}

/// What was found at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its number in the study.
    pub index: u64,
    /// The label of the protocol.
    pub label: String,
    /// The canonical spec of the protocol.
    pub estimator: String,
    /// The canonical spec of the family.
    pub model: String,
    /// The true parameter.
    pub theta: f64,
    /// Users per replication.
    pub users: u64,
    /// The privacy level.
    pub epsilon: f64,
    /// What the grid sets besides.
    pub keys: BTreeMap<String, Value>,
    /// What is estimated.
    pub target: String,
    /// The true value of what is estimated.
    pub truth: f64,
    /// How it was worked out.
    pub fidelity: Fidelity,
    /// Number of replications; null where nothing was drawn.
    pub replications: Option<u64>,
    /// The seed with which `ldp simulate` makes it again.
    pub seed: u64,
    /// Mean squared error times the number of users.
    pub scaled_mse: f64,
    /// The 95 % bootstrap interval of n·MSE over replications.
    pub scaled_mse_interval: Option<[f64; 2]>,
    /// How far a sum may be off.
    pub scaled_mse_error: Option<f64>,
    /// The mean error.
    pub bias: f64,
    /// Variance of the estimate.
    pub variance: f64,
    /// Limit of n·MSE for regular estimators, 1 / sup I.
    pub bound: Option<f64>,
    /// Why it is not known.
    pub bound_reason: Option<String>,
    /// The bound over n·MSE.
    pub efficiency: Option<f64>,
    /// n·MSE of the best estimate from the values themselves, asymptotically.
    pub nonprivate: Option<f64>,
    /// The asymptotic variance of one sign stage at the distance of the figure; null until the figure is known.
    pub one_stage: Option<f64>,
    /// Coverage of the protocol's own interval, the first of `intervals`.
    pub coverage: Option<f64>,
    /// The mean width of its finite intervals.
    pub width: Option<f64>,
    /// How intervals behaved, by kind.
    pub intervals: Vec<Intervals>,
    /// The share of estimates that came with a note, such as a fallback.
    pub fallbacks: Option<f64>,
    /// The mean squared error over that of the paired protocol, on the same users.
    pub ratio: Option<f64>,
    /// The 95 % bootstrap interval of the ratio.
    pub ratio_interval: Option<[f64; 2]>,
}

/// How the intervals of one kind behaved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    /// The kind of the intervals.
    pub kind: IntervalKind,
    /// The share that covers the truth.
    pub coverage: f64,
    /// The share of replications without an interval.
    pub missing: f64,
    /// The share with an infinite end.
    pub infinite: f64,
    /// The mean width of the others.
    pub mean_finite_width: Option<f64>,
}

/// A point where a protocol refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// Its number in the study.
    pub index: u64,
    /// The label of the protocol.
    pub label: String,
    /// The setting of the point, in words.
    pub at: String,
    /// The reason of the protocol.
    pub reason: String,
}

/// A part of a study: the `index`-th of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u64,
    /// The number of parts.
    pub of: u64,
}

impl Shard {
    /// Whether the n-th of the points to be run, counted from 0, belongs to it.
    pub fn has(self, n: u64) -> bool {
        n % self.of == self.index - 1
    }
}

/// A text that is not a shard.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is I/M, two whole numbers with 1 <= I <= M <= 10000")]
pub struct ShardError;

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, of) = text.split_once('/').ok_or(ShardError)?;
        let (index, of) = (index.parse().map_err(|_| ShardError)?, of.parse().map_err(|_| ShardError)?);
        if (1..=of).contains(&index) && of <= 10_000 { Ok(Self { index, of }) } else { Err(ShardError) }
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Record {
    /// A record of a study of which nothing has been found yet.
    pub fn new(study: &str, settings: Comparison, shard: Option<Shard>) -> anyhow::Result<Self> {
        Ok(Self {
            schema: SCHEMA,
            command: COMMAND.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            study: study.into(),
            fingerprint: fingerprint(&settings, env!("CARGO_PKG_VERSION"))?,
            digest: None,
            shard,
            settings,
            points: Vec::new(),
            skipped: Vec::new(),
        })
    }

    /// Reads a file, or the one of that name in a folder.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let (file, text) = if path.is_dir() {
            let file = path.join("record.json");
            let text = bounded::text_of_file(&file, MOST_BYTES);
            (file, text)
        } else {
            (path.to_owned(), bounded::text(path, MOST_BYTES))
        };
        text.and_then(|text| Self::parse(&text)).with_context(|| file.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
            command: String,
        }
        let head: Head = serde_json::from_str(text).context("this is not a record of ldp compare")?;
        anyhow::ensure!(head.command == COMMAND, "this is a record of ldp {}, not of ldp {COMMAND}", head.command);
        anyhow::ensure!(
            [BARE, SCHEMA].contains(&head.schema),
            "this record has schema {}, and this version of ldp reads schema {SCHEMA} and {BARE}",
            head.schema
        );
        let mut record: Self = serde_json::from_str(text)?;
        let fingerprint = fingerprint(&record.settings, &record.version)?;
        if head.schema == BARE {
            record.fingerprint = fingerprint;
            return Ok(record);
        }
        let (kept, found) = (record.digest.as_deref().unwrap_or("none"), record.digest()?);
        anyhow::ensure!(
            kept == found,
            "what was found has been changed since it was written: its digest is {found}, and the record says {kept}"
        );
        anyhow::ensure!(
            record.fingerprint == fingerprint,
            "the settings are not those that gave these numbers: their fingerprint is {fingerprint}, and the record says {}",
            record.fingerprint
        );
        Ok(record)
    }

    /// What is to be said of a record whose points cannot be checked.
    pub fn warning(&self) -> Option<String> {
        (self.schema == BARE).then(|| {
            format!("this record has schema {BARE}, without a digest: a number that was changed in it is not noticed")
        })
    }

    /// The digest of what was found: of which study, in which part of it, every point and every one that was left out, a line
    /// each.
    fn digest(&self) -> anyhow::Result<String> {
        let points = self.points.iter().map(serde_json::to_string);
        let part = self.shard.map_or_else(|| "whole".into(), |shard| shard.to_string());
        let mut hasher = Sha256::new().chain_update(format!("{}\n{part}\n", self.fingerprint));
        for line in points.chain(self.skipped.iter().map(serde_json::to_string)) {
            hasher.update(line?);
            hasher.update("\n");
        }
        Ok(shown(hasher))
    }

    /// The text of the file, with the digest of what it holds.
    pub fn json(&mut self) -> anyhow::Result<String> {
        self.schema = SCHEMA;
        self.digest = Some(self.digest()?);
        self.text()
    }

    /// The text of the file, of a record that has its digest.
    pub fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// The digest of one line.
pub fn digest(line: &str) -> String {
    shown(Sha256::new().chain_update(line))
}

fn shown(hasher: Sha256) -> String {
    hasher.finalize().iter().fold("sha256:".to_owned(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What tells a study from another: what its numbers depend on, and the version of the program that understands it.
fn fingerprint(settings: &Comparison, version: &str) -> anyhow::Result<String> {
    let text = format!("{COMMAND} {SCHEMA} {version} {}", serde_json::to_string(&Identity::of(settings))?);
    Ok(format!("{:014x}", hash(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_and_part_the_points() {
        let all: Vec<Shard> = ["1/3", "2/3", "3/3"].iter().map(|text| text.parse().unwrap()).collect();
        for n in 0..20 {
            assert_eq!(all.iter().filter(|shard| shard.has(n)).count(), 1);
        }
        assert_eq!(all[1].to_string(), "2/3");
        for bad in ["", "1", "0/3", "4/3", "1/0", "a/b", "-1/3", "1/3/2", "1/10001"] {
            assert_eq!(bad.parse::<Shard>(), Err(ShardError), "{bad}");
        }
    }

    #[test]
    fn what_is_no_record_of_this_schema_is_told_apart() {
        let said = |text: &str| format!("{:#}", Record::parse(text).err().unwrap());
        assert!(said("{}").starts_with("this is not a record of ldp compare"));
        assert!(said(r#"{"schema": 1, "command": "reproduce"}"#).contains("a record of ldp reproduce"));
        assert_eq!(
            said(r#"{"schema": 3, "command": "compare"}"#),
            "this record has schema 3, and this version of ldp reads schema 2 and 1"
        );
        assert!(said(r#"{"schema": 1, "command": "compare"}"#).contains("missing field"));
    }

    #[test]
    fn a_digest_is_that_of_the_standard() {
        // Of FIPS 180-4: the message «abc».
        let known = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest("abc"), known);
    }
}
