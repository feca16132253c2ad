//! Grids: which values the parameters take.

use crate::sweep::{COUNTS, Sweep};
use ldp_core::Epsilon;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What every point has, whatever the protocol.
pub const SETTING: [&str; 3] = ["users", "epsilon", "theta"];

/// A product of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grid {
    /// Its keys, the one that changes most slowly first.
    pub axes: Vec<Axis>,
    /// The line of the file; 0 where there is none.
    #[serde(skip)]
    pub line: usize,
}

/// A key and the values it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The key.
    pub key: String,
    /// Its values, each of them once.
    pub values: Vec<Value>,
    /// The line of the file; 0 where there is none.
    #[serde(skip)]
    pub line: usize,
}

/// A value of a key: a number, or a word such as `auto`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number; so that 1e4 is written 10000.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A word.
    Word(String),
}

impl Value {
    /// A number, as a whole one where it is.
    pub fn of(number: f64) -> Self {
        // Beyond, not every whole number is one of floating point.
        const MOST: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() <= MOST { Self::Whole(number as i64) } else { Self::Number(number) }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(whole) => Some(*whole as f64),
            Self::Number(number) => Some(*number),
            Self::Word(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// Values as they are written: one, a list, or the text of a sweep.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Written {
    /// A number.
    Number(f64),
    /// A word, or `from:to[:count][:log]`.
    Text(String),
    /// Several.
    List(Vec<Single>),
}

/// One of several values.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Single {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl Axis {
    /// Checks the values of a key.
    pub fn new(key: &str, written: Written, line: usize) -> anyhow::Result<Self> {
        let values = match written {
            Written::Number(number) => vec![finite(key, number)?],
            Written::Text(text) if text.contains(':') => swept(key, &text)?,
            Written::Text(word) => vec![Value::Word(word)],
            Written::List(list) => (list.into_iter())
                .map(|single| match single {
                    Single::Number(number) => finite(key, number),
                    Single::Word(word) => Ok(Value::Word(word)),
                })
                .collect::<anyhow::Result<_>>()?,
        };
        anyhow::ensure!(!values.is_empty(), "{key} has no values: the grid is empty");
        let mut distinct: Vec<Value> = Vec::with_capacity(values.len());
        // A long list is one of increasing numbers, made by a sweep: only neighbours can be the same there.
        let near = if values.len() > 1000 { 1 } else { usize::MAX };
        for value in values {
            if !distinct.iter().rev().take(near).any(|known| *known == value) {
                distinct.push(value);
            }
        }
        let axis = Self { key: key.to_owned(), values: distinct, line };
        axis.check()?;
        Ok(axis)
    }

    /// What belongs to the setting has limits of its own; the keys of specs are for those to judge.
    fn check(&self) -> anyhow::Result<()> {
        for value in &self.values {
            match (self.key.as_str(), value) {
                ("users", Value::Whole(1..)) => {}
                ("users", value) => anyhow::bail!("users must be a whole number from 1 to 2^53, not {value}"),
                ("epsilon", value) => {
                    let Some(epsilon) = value.number() else { anyhow::bail!("epsilon must be a number, not {value}") };
                    Epsilon::new(epsilon)?;
                }
                ("theta", Value::Word(word)) => anyhow::bail!("theta must be a number, not {word}"),
                _ => {}
            }
        }
        Ok(())
    }
}

fn finite(key: &str, number: f64) -> anyhow::Result<Value> {
    anyhow::ensure!(number.is_finite(), "{key} must be finite, not {number}");
    Ok(Value::of(number))
}

/// The values of a sweep: whole numbers where the key counts something. A pilot may also be a share of the users.
fn swept(key: &str, text: &str) -> anyhow::Result<Vec<Value>> {
    let sweep: Sweep = format!("{key}={text}").parse()?;
    let share = key == "pilot" && sweep.values.iter().all(|&value| value > 0.0 && value < 1.0);
    if COUNTS.contains(&key) && !share {
        return Ok(sweep.whole()?.into_iter().map(|count| Value::of(count as f64)).collect());
    }
    Ok(sweep.values.iter().copied().map(Value::of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(key: &str, written: Written) -> Vec<String> {
        Axis::new(key, written, 1).unwrap().values.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn values_are_numbers_words_or_sweeps_each_once() {
        assert_eq!(texts("users", Written::List(vec![Single::Number(1e4), Single::Number(10.0)])), ["10000", "10"]);
        assert_eq!(texts("users", Written::Text("1:1000:4:log".into())), ["1", "10", "100", "1000"]);
        assert_eq!(texts("pilot", Written::Text("0.2:0.4:2".into())), ["0.2", "0.4"]);
        assert_eq!(texts("first-stage", Written::Text("auto".into())), ["auto"]);
        assert_eq!(texts("start", Written::List(vec![Single::Number(0.5), Single::Number(0.5)])), ["0.5"]);
        assert_eq!(texts("users", Written::Text("1:3:100".into())), ["1", "2", "3"]);
    }

    #[test]
    fn what_a_setting_cannot_be_is_refused() {
        let refused = |key: &str, written| Axis::new(key, written, 1).err().unwrap().to_string();
        assert_eq!(refused("users", Written::List(Vec::new())), "users has no values: the grid is empty");
        assert_eq!(refused("users", Written::Number(2.5)), "users must be a whole number from 1 to 2^53, not 2.5");
        assert_eq!(refused("users", Written::Number(0.0)), "users must be a whole number from 1 to 2^53, not 0");
        assert!(refused("epsilon", Written::Number(-1.0)).contains("epsilon must be"));
        assert_eq!(refused("theta", Written::Number(f64::NAN)), "theta must be finite, not NaN");
        assert_eq!(refused("theta", Written::Text("auto".into())), "theta must be a number, not auto");
        assert!(refused("epsilon", Written::Text("2:1".into())).contains("the ends do not increase"));
    }

    #[test]
    fn values_survive_json() {
        for value in [Value::of(1e4), Value::of(0.1), Value::of(-3.0), Value::Word("auto".into())] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
        }
    }
}
