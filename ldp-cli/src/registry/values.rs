//! The values of a spec's keys, read as what the builder wants.

use std::fmt;

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

    /// A whole number.
    pub fn count(&self, key: &'static str) -> Result<u64, ValueError> {
        count(self.raw(key)).ok_or_else(|| self.error(key, "a whole number"))
    }

    /// A whole number, or `None` for the word `auto`.
    pub fn count_or_auto(&self, key: &'static str) -> Result<Option<u64>, ValueError> {
        if self.raw(key) == "auto" {
            return Ok(None);
        }
        count(self.raw(key)).map(Some).ok_or_else(|| self.error(key, "a whole number or 'auto'"))
    }
}

/// The canonical spec: every key spelled out.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (index, (key, value)) in self.pairs.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A whole number: `10000`, `10_000`, or `1e4`.
pub fn count(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if let Ok(value) = plain.parse() {
        return Some(value);
    }
    let value: f64 = plain.parse().ok()?;
    // Above 2^53 a float no longer says which whole number is meant.
    (value >= 0.0 && value.fract() == 0.0 && value <= 9_007_199_254_740_992.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, value) in [("0", 0), ("10_000", 10_000), ("1e12", 1_000_000_000_000), ("2.5e3", 2500)] {
            assert_eq!(count(text), Some(value), "{text}");
        }
        assert_eq!(count("18446744073709551615"), Some(u64::MAX));
        for bad in ["", "-1", "1.5", "1e30", "nan", "inf", "ten", "_"] {
            assert_eq!(count(bad), None, "{bad}");
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
