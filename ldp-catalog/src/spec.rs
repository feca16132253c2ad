//! `name[:key=value,…]`, the way things are named.

use std::fmt;
use std::str::FromStr;

/// The longest text that is read as a spec, so that a message can show it.
const LONGEST: usize = 1000;

/// A name with keys, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// What is meant.
    pub name: String,
    /// Its keys, in the order given.
    pub pairs: Vec<(String, String)>,
}

/// A text that is not a spec.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing before the colon.
    #[error("a spec is name[:key=value,...], the name is missing")]
    NoName,
    /// A part without an equals sign, or with nothing on one side of it.
    #[error("expected key=value after the colon, got '{0}'")]
    NotAPair(String),
    /// Longer than any spec can be.
    #[error("a spec has at most {LONGEST} bytes, got {0}")]
    TooLong(usize),
    /// A key given twice.
    #[error("the key '{0}' is given twice")]
    Twice(String),
}

impl Spec {
    /// Sets a key to a number, in place of the value that it had.
    pub fn set(&mut self, key: &str, value: f64) {
        self.pairs.retain(|(known, _)| known != key);
        self.pairs.push((key.to_owned(), value.to_string()));
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        if text.len() > LONGEST {
            return Err(SpecError::TooLong(text.len()));
        }
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let name = name.trim();
        if name.is_empty() {
            return Err(SpecError::NoName);
        }
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in rest.into_iter().flat_map(|rest| rest.split(',')) {
            let pair = part.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            match pair {
                Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                    if pairs.iter().any(|(known, _)| known == key) {
                        return Err(SpecError::Twice(key.into()));
                    }
                    pairs.push((key.into(), value.into()));
                }
                _ => return Err(SpecError::NotAPair(part.into())),
            }
        }
        Ok(Self { name: name.into(), pairs })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (key, value)) in self.pairs.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_and_written_back() {
        for text in ["gaussian", "two-stage:start=0,first-stage=306", "interval:cuts=-0.48/0.48"] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
        assert_eq!(" sign : threshold = 1 ".parse::<Spec>().unwrap().to_string(), "sign:threshold=1");
    }

    #[test]
    fn what_is_not_a_spec_is_named() {
        assert_eq!("".parse::<Spec>(), Err(SpecError::NoName));
        assert_eq!("x".repeat(1001).parse::<Spec>(), Err(SpecError::TooLong(1001)));
        assert_eq!(":start=0".parse::<Spec>(), Err(SpecError::NoName));
        for bad in ["x:", "x:start", "x:start=", "x:=1", "x:a=1,"] {
            assert!(matches!(bad.parse::<Spec>(), Err(SpecError::NotAPair(_))), "{bad}");
        }
        assert_eq!("x:a=1,a=2".parse::<Spec>(), Err(SpecError::Twice("a".into())));
    }
}
