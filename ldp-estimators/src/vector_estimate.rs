//! The estimate of protocols for vectors.

use ldp_core::error::require;
use ldp_core::{Error, Inference, Interval, IntervalKind, Rescale, Result};
use serde::{Deserialize, Serialize};

/// Something to know about how a [`VectorEstimate`] came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VectorRemark {
    /// Nobody answered a question of the last round.
    NobodyAnswered,
    /// Answers of the last round are beyond what any mean explains.
    Boundary,
}

impl VectorRemark {
    /// The remark in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NobodyAnswered => {
                "nobody answered a question of the last round: what it asks about is as guessed before"
            }
            Self::Boundary => "answers are beyond what any mean explains: what they are about is as guessed before",
        }
    }
}

/// A vector, with a standard error per coordinate where the answers give one.
///
/// As an [`Inference`] it is summed up: the value is the mean of the coordinates, the squared error the sum of theirs.
/// The standard error of that mean is not told from the coordinates' own, which may be correlated, unless there is one
/// coordinate; intervals there are none.
///
/// ```
/// use ldp_core::Inference;
/// use ldp_estimators::VectorEstimate;
/// let estimate = VectorEstimate::new(vec![1.0, 4.0], vec![Some(0.1), None], None)?;
/// assert_eq!((estimate.value(), estimate.squared_error(1.0)), (2.5, 9.0));
/// assert_eq!(estimate.standard_errors()[0], Some(0.1));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct VectorEstimate {
    values: Vec<f64>,
    standard_errors: Vec<Option<f64>>,
    remark: Option<VectorRemark>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    values: Vec<f64>,
    standard_errors: Vec<Option<f64>>,
    remark: Option<VectorRemark>,
}

impl TryFrom<Raw> for VectorEstimate {
    type Error = Error;
    fn try_from(Raw { values, standard_errors, remark }: Raw) -> Result<Self> {
        Self::new(values, standard_errors, remark)
    }
}

impl VectorEstimate {
    /// An estimate from its numbers, which must be finite: at least one value, and for each a standard error or none.
    pub fn new(values: Vec<f64>, standard_errors: Vec<Option<f64>>, remark: Option<VectorRemark>) -> Result<Self> {
        let (expected, found) = (values.len(), standard_errors.len());
        if expected == 0 {
            return Err(Error::TooFew { name: "dimension", least: 1, value: 0 });
        }
        if expected != found {
            return Err(Error::Length { what: "standard errors", expected, found });
        }
        for &value in &values {
            require(value.is_finite(), "a coordinate of the estimate", "finite", value)?;
        }
        for &error in standard_errors.iter().flatten() {
            require(error >= 0.0 && error.is_finite(), "a standard error", "finite and not negative", error)?;
        }
        Ok(Self { values, standard_errors, remark })
    }

    /// The coordinates.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The standard error of every coordinate, `None` where the answers give none.
    #[must_use]
    pub fn standard_errors(&self) -> &[Option<f64>] {
        &self.standard_errors
    }

    /// What is to be known about it.
    #[must_use]
    pub fn remark(&self) -> Option<VectorRemark> {
        self.remark
    }
}

impl Inference for VectorEstimate {
    fn value(&self) -> f64 {
        // Divided first: a sum of finite numbers need not be finite.
        let count = self.values.len() as f64;
        self.values.iter().map(|value| value / count).sum::<f64>().clamp(f64::MIN, f64::MAX)
    }

    fn squared_error(&self, theta: f64) -> f64 {
        self.values.iter().map(|value| (value - theta).powi(2)).sum()
    }

    fn standard_error(&self) -> Option<f64> {
        match self.standard_errors[..] {
            [error] => error,
            _ => None,
        }
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[]
    }

    fn interval(&self, kind: IntervalKind, _level: f64) -> Result<Interval> {
        Err(Error::NoInterval { kind, reason: "an estimate of a vector has standard errors only" })
    }

    fn note(&self) -> Option<&'static str> {
        self.remark.map(VectorRemark::text)
    }
}

impl Rescale for VectorEstimate {
    fn rescale(self, factor: f64) -> Result<Self> {
        let values = self.values.iter().map(|value| value * factor).collect();
        let errors = self.standard_errors.iter().map(|error| error.map(|error| error * factor)).collect();
        Self::new(values, errors, self.remark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::check_inference;

    #[test]
    fn numbers_must_be_numbers_and_fit() {
        let new = |values: &[f64], errors: &[Option<f64>]| VectorEstimate::new(values.to_vec(), errors.to_vec(), None);
        assert!(matches!(new(&[], &[]), Err(Error::TooFew { name: "dimension", .. })));
        assert!(matches!(new(&[1.0], &[]), Err(Error::Length { expected: 1, found: 0, .. })));
        for (value, error) in [(f64::NAN, None), (f64::INFINITY, None), (0.0, Some(-1.0)), (0.0, Some(f64::NAN))] {
            assert!(matches!(new(&[1.0, value], &[None, error]), Err(Error::Parameter { .. })), "{value} {error:?}");
        }
        let huge = new(&[f64::MAX, f64::MAX, f64::MAX], &[None, None, None]).unwrap();
        check_inference(&huge).unwrap();
        assert!(huge.rescale(2.0).is_err());
        let single = new(&[3.0], &[Some(0.5)]).unwrap();
        check_inference(&single).unwrap();
        assert_eq!(single.standard_error(), Some(0.5));
        assert_eq!(single.rescale(2.0).unwrap(), new(&[6.0], &[Some(1.0)]).unwrap());
    }

    #[test]
    fn deserialising_is_constructing() {
        let estimate =
            VectorEstimate::new(vec![1.0, -2.0], vec![Some(0.25), None], Some(VectorRemark::Boundary)).unwrap();
        let json = serde_json::to_string(&estimate).unwrap();
        assert_eq!(json, r#"{"values":[1.0,-2.0],"standard_errors":[0.25,null],"remark":"boundary"}"#);
        assert_eq!(serde_json::from_str::<VectorEstimate>(&json).unwrap(), estimate);
        for (from, to) in [("1.0,", ""), ("0.25", "-0.25"), ("1.0", "null"), ("boundary", "else")] {
            let bad = json.replace(from, to);
            assert!(bad != json && serde_json::from_str::<VectorEstimate>(&bad).is_err(), "{bad}");
        }
    }
}
