//! Everything that can be named by a spec: one table per kind.
//!
//! An entry holds name, summary, keys with defaults and help, and how to build the thing; `ldp list`, error messages
//! and canonical specs are all made from it.

mod estimators;
mod informative;
#[cfg(test)]
mod laws;
mod meaning;
mod mechanisms;
mod models;
mod on_data;
mod values;

pub use estimators::{BuiltEstimator, ESTIMATORS, Known, Target, build_estimator, check_used, estimator};
pub use meaning::Meaning;
pub use mechanisms::{MECHANISMS, mechanism};
pub use models::{BuiltModel, MODELS, build_model, model};
pub use on_data::{OnData, Untold, on_data};
pub use values::{Values, count, number};

use crate::nearest::nearest;
use crate::spec::Spec;

/// A key of a spec.
#[derive(Debug, serde::Serialize)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its value when not given.
    pub default: &'static str,
    /// What it means.
    pub help: &'static str,
    /// Whether it states what is known about the data: `ldp estimate` takes no default for it.
    #[serde(rename = "required_on_data")]
    pub of_data: bool,
}

impl Key {
    /// A key whose default does for any data.
    pub const fn new(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { name, default, help, of_data: false }
    }

    /// A key that states what is known about the data, in their unit; its default is for demonstrations.
    pub const fn of_data(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { of_data: true, ..Self::new(name, default, help) }
    }
}

/// Something that can be named; `B` is what builds it.
pub struct Entry<B> {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// How it is made.
    pub build: B,
}

/// A spec that names nothing.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    /// No such name.
    #[error("unknown {kind} '{name}'{}, there are: {}", did_you_mean(*.nearest), .known.join(", "))]
    Name {
        /// Mechanism, model or estimator.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// No such key.
    #[error("{name} has no key '{key}'{}, {}", did_you_mean(*.nearest), listed(.known))]
    Key {
        /// The entry.
        name: &'static str,
        /// The key given.
        key: String,
        /// The most similar key.
        nearest: Option<&'static str>,
        /// All keys of the entry.
        known: Vec<&'static str>,
    },
    /// A key that plays no part beside the others.
    #[error("{name} does not use the key '{key}'{}; leave it out", beside(.choices))]
    Unused {
        /// The entry.
        name: &'static str,
        /// The key given.
        key: &'static str,
        /// The values that choose a variant without it.
        choices: Vec<String>,
    },
}

fn beside(choices: &[String]) -> String {
    if choices.is_empty() { String::new() } else { format!(" with {}", choices.join(" and ")) }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default()
}

fn listed(keys: &[&str]) -> String {
    if keys.is_empty() { "it has none".into() } else { format!("its keys: {}", keys.join(", ")) }
}

/// The entry that a spec names, with the spec's values and the defaults of the keys it leaves out.
pub fn resolve<'t, B>(
    kind: &'static str,
    table: &'t [Entry<B>],
    spec: &Spec,
) -> Result<(&'t Entry<B>, Values), NameError> {
    let entry = table.iter().find(|entry| entry.name == spec.name).ok_or_else(|| {
        let known: Vec<_> = table.iter().map(|entry| entry.name).collect();
        NameError::Name { kind, name: spec.name.clone(), nearest: nearest(&spec.name, known.iter().copied()), known }
    })?;
    if let Some((key, _)) = spec.pairs.iter().find(|(key, _)| entry.keys.iter().all(|known| known.name != key)) {
        let known: Vec<_> = entry.keys.iter().map(|key| key.name).collect();
        let nearest = nearest(key, known.iter().copied());
        return Err(NameError::Key { name: entry.name, key: key.clone(), nearest, known });
    }
    let given = |key: &Key| spec.pairs.iter().find(|(name, _)| name == key.name).map(|(_, value)| value.as_str());
    Ok((entry, Values::new(entry.name, entry.keys.iter().map(|key| (key, given(key))))))
}
