//! The keys of a spec: what each is called, what it takes, and what it means.

use super::values::{count, number};
use serde::Serialize;

/// The values that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyType {
    /// A finite number.
    Number,
    /// A finite number, or the word `auto`.
    NumberOrAuto,
    /// Finite numbers separated by `/`.
    Numbers,
    /// A whole number.
    Count,
    /// A whole number, or the word `auto`.
    CountOrAuto,
    /// A number of users, a share of them between 0 and 1, `half`, or the word `none`.
    ShareOrNone,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of a mechanism of the catalog. Its own keys are written with this key before them: `mechanism=laplace,mechanism.low=-3`.
    Mechanism,
    /// A file.
    File,
}

impl KeyType {
    /// Whether a text is such a value.
    ///
    /// ```
    /// use ldp_catalog::KeyType;
    /// assert!(KeyType::CountOrAuto.accepts("1e6") && !KeyType::Count.accepts("auto"));
    /// ```
    pub fn accepts(self, text: &str) -> bool {
        let part = |text| number(text).is_some_and(|part| part > 0.0 && part < 1.0);
        match self {
            Self::Number => number(text).is_some(),
            Self::NumberOrAuto => text == "auto" || number(text).is_some(),
            Self::Numbers => text.split('/').all(|text| number(text.trim()).is_some()),
            Self::Count => count(text).is_ok(),
            Self::CountOrAuto => text == "auto" || count(text).is_ok(),
            Self::ShareOrNone => ["none", "half"].contains(&text) || part(text) || count(text).is_ok(),
            Self::Word(words) => words.contains(&text),
            Self::Mechanism | Self::File => !text.is_empty(),
        }
    }
}

/// A key of a spec, declared once: everything that is said of it, and every value that is read, comes from here.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    #[serde(skip)]
    pub takes: KeyType,
    /// Its value when not given.
    pub default: &'static str,
    /// What it means.
    pub help: &'static str,
    /// Whether it states what is known about the data, so that real data get no default for it.
    #[serde(rename = "required_on_data")]
    pub of_data: bool,
}

impl Key {
    /// A key whose default does for any data.
    pub const fn new(name: &'static str, takes: KeyType, default: &'static str, help: &'static str) -> Self {
        Self { name, takes, default, help, of_data: false }
    }

    /// A key that states what is known about the data, in their unit; its default is for demonstrations.
    pub const fn of_data(name: &'static str, takes: KeyType, default: &'static str, help: &'static str) -> Self {
        Self { of_data: true, ..Self::new(name, takes, default, help) }
    }
}
