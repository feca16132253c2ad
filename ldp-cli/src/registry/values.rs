//! The values of a spec's keys, read as what the builder wants.

use super::did_you_mean;
use crate::nearest::nearest;
use ldp_estimators::Share;
use std::fmt;

/// A key and value that names leave out: the random streams of studies are found under names that are older than this key.
const UNNAMED: (&str, &str) = ("scale", "auto");

/// Every key of an entry with its value, given or default.
pub struct Values {
    name: &'static str,
    pairs: Vec<(&'static str, String)>,
}

/// A value that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {key} must be {wanted}, got '{value}'")]
pub struct ValueError {
    name: &'static str,
    key: &'static str,
    wanted: &'static str,
    value: String,
}

/// A word that is none of those allowed.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {key} must be one of {words}, got '{value}'{}", did_you_mean(*.nearest))]
pub struct WordError {
    name: &'static str,
    key: &'static str,
    words: String,
    value: String,
    nearest: Option<&'static str>,
}

impl Values {
    pub(super) fn new(name: &'static str, pairs: Vec<(&'static str, String)>) -> Self {
        Self { name, pairs }
    }

    fn raw(&self, key: &'static str) -> &str {
        self.pairs.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| value)
    }

    fn error(&self, key: &'static str, wanted: &'static str) -> ValueError {
        ValueError { name: self.name, key, wanted, value: self.raw(key).to_owned() }
    }

    /// A finite number.
    pub fn number(&self, key: &'static str) -> Result<f64, ValueError> {
        number(self.raw(key)).ok_or_else(|| self.error(key, "a finite number"))
    }

    /// Finite numbers separated by /.
    pub fn numbers(&self, key: &'static str) -> Result<Vec<f64>, ValueError> {
        let all = self.raw(key).split('/').map(|text| number(text.trim())).collect::<Option<Vec<_>>>();
        all.ok_or_else(|| self.error(key, "finite numbers separated by /"))
    }

    /// A whole number.
    pub fn count(&self, key: &'static str) -> Result<u64, ValueError> {
        count(self.raw(key)).map_err(|wanted| self.error(key, wanted))
    }

    /// A whole number of 32 bits.
    pub fn small_count(&self, key: &'static str) -> Result<u32, ValueError> {
        u32::try_from(self.count(key)?).map_err(|_| self.error(key, "at most 4294967295"))
    }

    /// A whole number, or `None` for the word `auto`.
    pub fn count_or_auto(&self, key: &'static str) -> Result<Option<u64>, ValueError> {
        if self.raw(key) == "auto" {
            return Ok(None);
        }
        count(self.raw(key)).map(Some).map_err(|_| self.error(key, "a whole number or 'auto'"))
    }

    /// A finite number, or `None` for the word `auto`.
    pub fn number_or_auto(&self, key: &'static str) -> Result<Option<f64>, ValueError> {
        if self.raw(key) == "auto" {
            return Ok(None);
        }
        number(self.raw(key)).map(Some).ok_or_else(|| self.error(key, "a finite number or 'auto'"))
    }

    /// A number of coordinates.
    pub fn dimension(&self, key: &'static str) -> Result<usize, ValueError> {
        usize::try_from(self.count(key)?).map_err(|_| self.error(key, "a number of coordinates"))
    }

    /// One of several words.
    pub fn word(&self, key: &'static str, words: &[&'static str]) -> Result<&'static str, WordError> {
        let given = self.raw(key);
        words.iter().find(|&&word| word == given).copied().ok_or_else(|| WordError {
            name: self.name,
            key,
            value: given.to_owned(),
            nearest: nearest(given, words.iter().copied()),
            words: words.join(", "),
        })
    }

    /// A number of users or a part of them; `None` for the word `none`.
    pub fn share_or_none(&self, key: &'static str) -> Result<Option<Share>, ValueError> {
        match self.raw(key) {
            "none" => Ok(None),
            "half" => Ok(Some(Share::HALF)),
            text => {
                let part = number(text).filter(|&part| part > 0.0 && part < 1.0).map(Share::Part);
                let share = part.or_else(|| count(text).ok().map(Share::Count));
                share
                    .map(Some)
                    .ok_or_else(|| self.error(key, "a number of users, a share between 0 and 1, 'half' or 'none'"))
            }
        }
    }
}

/// The canonical spec: every key spelled out.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let named = self.pairs.iter().filter(|(key, value)| (*key, value.as_str()) != UNNAMED);
        for (index, (key, value)) in named.enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A whole number: `10000`, `10_000`, or `1e4`; else what it should have been.
pub fn count(text: &str) -> Result<u64, &'static str> {
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if let Ok(value) = plain.parse() {
        return Ok(value);
    }
    match plain.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.fract() == 0.0 && value < u64::MAX as f64 => Ok(value as u64),
        Ok(value) if value >= u64::MAX as f64 && value.is_finite() => Err("at most 18446744073709551615"),
        _ => Err("a whole number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, value) in [("0", 0), ("10_000", 10_000), ("1e12", 1_000_000_000_000), ("2.5e3", 2500)] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for bad in ["", "-1", "1.5", "nan", "inf", "-inf", "ten", "_"] {
            assert_eq!(count(bad), Err("a whole number"), "{bad}");
        }
        for large in ["1e30", "18446744073709551616"] {
            assert_eq!(count(large), Err("at most 18446744073709551615"), "{large}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(number("-1e3"), Some(-1000.0));
        for bad in ["", "nan", "inf", "-inf", "1e999", "1,5", "x"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
