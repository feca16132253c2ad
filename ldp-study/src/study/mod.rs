//! Studies: what they ask, as TOML files. Those that come with the program are in `studies/`.
//!
//! ```text
//! form (the file) ──▶ Comparison (checked) ──▶ Outline ──▶ a Setup per point ──▶ commands::compare
//! ```

mod comparison;
mod figure;
mod fingerprint;
mod form;
mod grid;
mod growth;
mod outline;
mod words;

pub use comparison::{Comparison, Contestant, Fidelity, Infeasible};
pub use figure::{ESTIMATOR, Figure, Line, MODEL, Quantity, START_MINUS_THETA};
pub use fingerprint::{Identity, hash};
pub use form::MOST_REPLICATIONS;
pub use grid::{Axis, Grid, SETTING, Value};
#[cfg(test)]
pub use growth::Curve;
pub use growth::Growth;
pub use outline::{Outline, Setup};

use ldp_catalog::Catalog;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is wrong with a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// It is not TOML, or has a key too many, too few, or of another kind: the line, and what is wrong there.
    #[error("{0}")]
    Form(String),
    /// A value is not one that makes sense.
    #[error("{key} must be {wanted}, not {found}")]
    Value {
        /// The key, with its table.
        key: &'static str,
        /// What would make sense.
        wanted: &'static str,
        /// What there is.
        found: String,
    },
    /// Something on this line makes no sense.
    #[error("line {line}: {cause:#}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        cause: anyhow::Error,
    },
}

/// A study, by its kind.
pub enum Study {
    /// The growth of the best first stage.
    FirstStageGrowth(Growth),
    /// Protocols side by side.
    Comparison(Box<Comparison>),
}

impl Study {
    /// Reads the text of a study file, in which names are those of a catalog.
    pub fn parse(catalog: &Catalog, text: &str) -> Result<Self, StudyError> {
        // The kind first, alone: what other keys there may be depends on it, and their errors should name a line.
        let Head { kind } = read(text)?;
        match kind {
            Kind::FirstStageGrowth => {
                let growth: Growth = read(text)?;
                growth.check()?;
                Ok(Self::FirstStageGrowth(growth))
            }
            Kind::Comparison => Ok(Self::Comparison(Box::new(form::read(catalog, text)?))),
        }
    }

    /// What it is about.
    pub fn title(&self) -> &str {
        match self {
            Self::FirstStageGrowth(growth) => &growth.title,
            Self::Comparison(comparison) => &comparison.title,
        }
    }
}

/// Reads TOML.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, StudyError> {
    toml::from_str(text).map_err(|error| StudyError::Form(words::told(&error, text)))
}

#[derive(Deserialize)]
struct Head {
    kind: Kind,
}

/// The kinds of studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A [`Growth`].
    FirstStageGrowth,
    /// A [`Comparison`].
    Comparison,
}

/// A whole number, which may be written 1e9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "f64")]
pub struct Count(pub u64);

impl TryFrom<f64> for Count {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        // Beyond, not every whole number is one of floating point.
        const MOST: f64 = 9_007_199_254_740_992.0;
        if (1.0..=MOST).contains(&value) && value.fract() == 0.0 {
            Ok(Self(value as u64))
        } else {
            Err(format!("expected a whole number from 1 to 2^53, not {value}"))
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(name: &str) -> Comparison {
        let catalog = Catalog::builtin();
        let Study::Comparison(study) = Study::parse(&catalog, catalog.study(name).unwrap().source).unwrap() else {
            panic!("{name}")
        };
        *study
    }

    #[test]
    fn what_is_bundled_is_sound() {
        let catalog = Catalog::builtin();
        for bundled in catalog.studies() {
            let study =
                Study::parse(&catalog, bundled.source).unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
            assert!(!study.title().is_empty());
        }
    }

    #[test]
    fn the_settings_of_the_paper() {
        let setups = |name: &str| Outline::new(&Catalog::builtin(), &comparison(name)).setups().collect::<Vec<_>>();
        let left = setups("figure-1-left");
        assert!(left.iter().all(|setup| (setup.theta, setup.epsilon, setup.replications) == (0.5, 1.0, 50_000)));
        let ends = |users: u64| {
            let sizes = left.iter().filter(|setup| setup.users == users).filter_map(|setup| setup.keys[0].1.number());
            (sizes.clone().fold(f64::INFINITY, f64::min), sizes.fold(0.0, f64::max))
        };
        assert_eq!([1000, 3000, 10_000].map(ends), [(10.0, 500.0), (10.0, 1500.0), (10.0, 3000.0)]);
        // The best sizes of the left figure, for a start half a σ off.
        let right = setups("figure-1-right");
        let sizes = |users: u64| {
            let of = right.iter().filter(|setup| setup.users == users).flat_map(|setup| &setup.keys);
            of.filter(|(key, _)| key == "first-stage").map(|(_, value)| value.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            (sizes(1000), sizes(3000), sizes(10_000)),
            (vec!["134".to_owned(); 41], vec!["186".into(); 41], vec!["306".into(); 41])
        );
        let two = comparison("figure-2");
        assert_eq!((two.figure.one_stage_distance, two.seed, two.level), (Some(0.5), 1, 0.95));
        let shown: Vec<_> = (Outline::new(&Catalog::builtin(), &two).setups())
            .map(|setup| (setup.estimator, setup.users, setup.theta, setup.replications, setup.spec.to_string()))
            .collect();
        assert_eq!(shown.len(), 16);
        let three = |first: u64| format!("three-stage:low=0,high=128,pilot=15000,first-stage={first}");
        for (users, first) in [(30_000, 400), (50_000, 500), (100_000, 700), (200_000, 700)] {
            assert!(shown.contains(&(0, users, 84.5, 50_000, three(first))), "{users}");
            assert!(shown.contains(&(1, users, 84.5, 50_000, "joseph:low=0,high=128,pilot=half".into())));
            assert!(shown.contains(&(2, users, 84.5, 50_000, "joseph:low=0,high=128,pilot=15000".into())));
            assert!(shown.contains(&(3, users, 84.5, 10_000, "liu:pilot=15000,low=0,high=128".into())));
        }
    }
}
