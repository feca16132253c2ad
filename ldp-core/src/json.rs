//! How numbers that JSON cannot hold are written: `#[serde(with = "…")]` helpers.

/// 64-bit weights as strings: many JSON readers keep only 53 bits of a number.
pub mod weight {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the weight as a decimal string.
    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads a decimal string.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        // One number, one spelling: a signature over the question must not depend on a leading + or 0.
        let weight = text.parse().ok().filter(|weight: &u64| weight.to_string() == text);
        weight.ok_or_else(|| D::Error::custom(format_args!("expected a 64-bit weight as a string, got {text:?}")))
    }
}

/// Columns of 64-bit weights as strings.
pub mod weights {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Weight(#[serde(with = "super::weight")] u64);

    /// Writes each weight as a decimal string.
    pub fn serialize<S: Serializer>(columns: &[Vec<u64>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(columns.iter().map(|c| c.iter().map(|&w| Weight(w)).collect::<Vec<_>>()))
    }

    /// Reads decimal strings.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u64>>, D::Error> {
        let columns = Vec::<Vec<Weight>>::deserialize(deserializer)?;
        Ok(columns.into_iter().map(|c| c.into_iter().map(|w| w.0).collect()).collect())
    }
}

/// A 128-bit integer as a string.
pub mod wide {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the integer as a decimal string.
    pub fn serialize<S: Serializer>(value: &i128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads a decimal string.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
        let text = String::deserialize(deserializer)?;
        let integer = text.parse().ok().filter(|integer: &i128| integer.to_string() == text);
        integer.ok_or_else(|| D::Error::custom(format_args!("expected an integer as a string, got {text:?}")))
    }
}

/// A real number or one of the strings `"inf"` and `"-inf"`.
pub mod extended {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Extended {
        Finite(f64),
        Named(String),
    }

    /// Writes a finite number as it is, an infinite one by name.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        match *value {
            f64::INFINITY => serializer.serialize_str("inf"),
            f64::NEG_INFINITY => serializer.serialize_str("-inf"),
            finite => serializer.serialize_f64(finite),
        }
    }

    /// Reads either form.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Extended::deserialize(deserializer)? {
            Extended::Finite(value) => Ok(value),
            Extended::Named(name) if name == "inf" => Ok(f64::INFINITY),
            Extended::Named(name) if name == "-inf" => Ok(f64::NEG_INFINITY),
            Extended::Named(name) => {
                Err(D::Error::custom(format_args!("expected a number, \"inf\" or \"-inf\", got {name:?}")))
            }
        }
    }
}
