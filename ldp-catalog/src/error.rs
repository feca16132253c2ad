//! What can be wrong with a name, its keys, or with what they are asked for.

use super::Key;
use super::text::plain;
use std::fmt;

/// A `Result` with the catalog's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of things that a catalog holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// What a user can be asked.
    Mechanism,
    /// A family of distributions.
    Model,
    /// A protocol.
    Estimator,
    /// A bundled study.
    Study,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mechanism => "mechanism",
            Self::Model => "model",
            Self::Estimator => "estimator",
            Self::Study => "study",
        })
    }
}

/// What can go wrong between a spec and the thing that it names.
///
/// A variant with a `source` says where it happened; its source says what.
///
/// ```
/// use ldp_catalog::{Catalog, Error};
/// let error = Catalog::builtin().model(&"gausian".parse()?).err().unwrap();
/// assert!(matches!(error, Error::UnknownName { nearest: Some("gaussian"), .. }));
/// # Ok::<(), ldp_catalog::SpecError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that nothing has.
    #[error("unknown {kind} '{name}'{}, there are: {}", did_you_mean(*.nearest), .known.join(", "))]
    UnknownName {
        /// What was looked for.
        kind: Kind,
        /// The name given.
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A name that no study has.
    #[error("there is no study '{name}'{}, there are: {}", did_you_mean(*.nearest), .known.join(", "))]
    UnknownStudy {
        /// The name given.
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A key that the entry does not have.
    #[error("{name} has no key '{key}'{}, {}", did_you_mean(*.nearest), listed(.known))]
    UnknownKey {
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
    UnusedKey {
        /// The entry.
        name: &'static str,
        /// The key given.
        key: &'static str,
        /// The values that choose a variant without it.
        choices: Vec<String>,
    },
    /// A value that its key does not take.
    #[error("{name}: {key} must be {wanted}, got '{value}'")]
    Value {
        /// The entry.
        name: &'static str,
        /// The key.
        key: &'static str,
        /// What it takes.
        wanted: &'static str,
        /// The value given.
        value: String,
    },
    /// A word that is none of those that its key takes.
    #[error("{name}: {key} must be one of {}, got '{value}'{}", .words.join(", "), did_you_mean(*.nearest))]
    Word {
        /// The entry.
        name: &'static str,
        /// The key.
        key: &'static str,
        /// The words that it takes.
        words: &'static [&'static str],
        /// The word given.
        value: String,
        /// The most similar word.
        nearest: Option<&'static str>,
    },
    /// A name that is registered already.
    #[error("the {kind} '{name}' is registered already")]
    Registered {
        /// What was registered.
        kind: Kind,
        /// The name.
        name: &'static str,
    },
    /// A declared key that is declared twice, or whose default is not one of the values that it takes.
    #[error("the {kind} '{name}' declares the key '{key}' twice, or with a default that is not one of its values")]
    Declaration {
        /// What was registered.
        kind: Kind,
        /// The name.
        name: &'static str,
        /// The key.
        key: &'static str,
    },
    /// What was named cannot be made with these values, or cannot do what it was asked.
    #[error(transparent)]
    Library(#[from] ldp_core::Error),
    /// A start at which the protocol cannot begin.
    #[error("start {}", plain(*.start))]
    Start {
        /// The start.
        start: f64,
        /// Why.
        source: ldp_core::Error,
    },
    /// A pilot without users.
    #[error("a pilot needs users")]
    PilotUsers,
    /// A model whose mean direction cannot be found.
    #[error("the mean of x/|x| under {model}")]
    Direction {
        /// The model.
        model: String,
        /// Why.
        source: ldp_core::Error,
    },
    /// A mechanism for categories under a model of real values.
    #[error(
        "a mechanism for categories needs a model of whole numbers (categorical, bernoulli, poisson); for real values use \
         interval, duchi or another mechanism on the line"
    )]
    NotCategories,
    /// More sets of categories than can be gone through.
    #[error("all sets of {count} categories are too many, at most {most}")]
    TooManySets {
        /// The number of categories.
        count: u32,
        /// The largest number whose sets are gone through.
        most: u32,
    },
    /// A mechanism for vectors under another model than the Gaussian one.
    #[error("a mechanism for vectors needs the Gaussian model, every coordinate with mean theta")]
    NotGaussian,
    /// A mechanism for vectors away from the centre of its ball.
    #[error("the information of a vector mechanism is known at theta 0 only, got {theta}")]
    OffCentre {
        /// The parameter.
        theta: f64,
    },
    /// A mechanism whose information has no closed form.
    #[error("the information of this mechanism has no closed form")]
    NoClosedForm,
    /// A protocol that real data are refused to.
    #[error("{protocol} is for simulations")]
    ForSimulations {
        /// The protocol.
        protocol: String,
        /// Why.
        source: ldp_core::Error,
    },
    /// A mechanism whose reports are not tallied as counts.
    #[error(
        "a question through this mechanism needs reports that are whole numbers or real ones, about one value per user"
    )]
    NotAsked,
    /// A protocol that takes a mechanism, built without a catalog to look it up in.
    #[error("a protocol that takes a mechanism is built by a catalog")]
    NoCatalog,
    /// A file that cannot be read.
    #[error("{path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is too large for what it should be.
    #[error("{path} has more than {most} bytes")]
    LargeFile {
        /// The file.
        path: String,
        /// The most bytes.
        most: u64,
    },
    /// A table that is no mechanism.
    #[error("{path}")]
    Matrix {
        /// The file.
        path: String,
        /// Why.
        source: ldp_mechanisms::MatrixError,
    },
    /// A file that is no question.
    #[error("{path}")]
    Question {
        /// The file.
        path: String,
        /// Why.
        source: ldp_core::Error,
    },
    /// A mechanism that comes with its own ε, which is above the level asked for.
    #[error("{path}: its epsilon is {}, above the {} asked for", plain(*.epsilon), plain(*.cap))]
    AboveLevel {
        /// The file.
        path: String,
        /// The ε of its weights.
        epsilon: f64,
        /// The level asked for.
        cap: f64,
    },
    /// Things that the data cannot tell and that were not told.
    #[error(transparent)]
    Untold(#[from] Untold),
    /// A model without a scale, for a protocol that measures in standard deviations of the values.
    #[error("{estimator} measures in standard deviations of the values, and {model} does not tell any")]
    NoUnit {
        /// The protocol.
        estimator: String,
        /// The model.
        model: String,
        /// Whether the protocol can be told the unit itself, by its key `scale`.
        scale: bool,
    },
}

impl Error {
    /// Whether only the exact information is out of reach, while samples would give a lower limit.
    pub fn is_inexact(&self) -> bool {
        matches!(self, Self::TooManySets { .. } | Self::OffCentre { .. } | Self::NoClosedForm)
    }
}

impl From<ldp_fisher::SetError> for Error {
    fn from(error: ldp_fisher::SetError) -> Self {
        match error {
            ldp_fisher::SetError::NotWhole => Self::NotCategories,
            ldp_fisher::SetError::TooMany { count, most } => Self::TooManySets { count, most },
            ldp_fisher::SetError::Library(error) => Self::Library(error),
        }
    }
}

/// The keys that have to be told about the data before they are asked, and were not.
#[derive(Debug, thiserror::Error)]
#[error(
    "on data there are no defaults for what the data cannot tell; missing, in the unit of the data: {}",
    .estimator.iter().chain(.model).map(|key| key.name).collect::<Vec<_>>().join(", ")
)]
pub struct Untold {
    /// Keys of the protocol.
    pub estimator: Vec<Key>,
    /// Keys of the model.
    pub model: Vec<Key>,
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
