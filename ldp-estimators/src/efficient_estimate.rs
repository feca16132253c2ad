//! The estimate that the efficient protocol ends with.

use crate::Maximum;
use ldp_core::error::require;
use ldp_core::inference::wald_interval;
use ldp_core::{Error, Inference, Interval, IntervalKind, Result};
use serde::{Deserialize, Serialize};

/// Why a value is not that of the last stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Nobody answered the last question.
    NobodyAnswered,
    /// The likelihood of the last answers grows to the end of the parameter space.
    Beyond,
}

/// A parameter by maximum likelihood, or where that has none, the parameter at which the last question was asked.
///
/// The standard error is $1/\sqrt{nI}$, with nI the information of the answers that the value rests on, at the value.
///
/// ```
/// use ldp_core::{Inference, IntervalKind};
/// use ldp_estimators::{EfficientEstimate, Maximum};
/// let estimate = EfficientEstimate::new(Maximum { theta: 2.0, information: 400.0 }, 1.9)?;
/// assert_eq!((estimate.value(), estimate.standard_error()), (2.0, Some(0.05)));
/// assert!(estimate.interval(IntervalKind::Wald, 0.95)?.contains(2.09));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct EfficientEstimate {
    value: f64,
    information: f64,
    first: f64,
    fallback: Option<Fallback>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    value: f64,
    information: f64,
    first: f64,
    fallback: Option<Fallback>,
}

impl TryFrom<Raw> for EfficientEstimate {
    type Error = Error;
    fn try_from(Raw { value, information, first, fallback }: Raw) -> Result<Self> {
        let read = Self { value, information, first, fallback };
        require(fallback.is_none() || value == first, "the value of a fallback", "that of the first stage", value)?;
        read.checked()
    }
}

impl EfficientEstimate {
    /// From the last stage, whose question was asked at `first`.
    pub fn new(last: Maximum, first: f64) -> Result<Self> {
        Self { value: last.theta, information: last.information, first, fallback: None }.checked()
    }

    /// From the stage before the last: its information is 0 where it has said nothing either.
    pub fn fallen(first: Maximum, why: Fallback) -> Result<Self> {
        let Maximum { theta, information } = first;
        Self { value: theta, information, first: theta, fallback: Some(why) }.checked()
    }

    fn checked(self) -> Result<Self> {
        require(self.value.is_finite(), "the estimate", "finite", self.value)?;
        require(self.first.is_finite(), "the first estimate", "finite", self.first)?;
        let information = self.information;
        require(
            information >= 0.0 && information.is_finite(),
            "the information",
            "finite and not negative",
            information,
        )?;
        Ok(self)
    }

    /// Where the last question was asked: the estimate of the first stage.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.first
    }

    /// Why the value is not that of the last stage, if it is not.
    #[must_use]
    pub fn fallback(&self) -> Option<Fallback> {
        self.fallback
    }
}

impl Inference for EfficientEstimate {
    fn value(&self) -> f64 {
        self.value
    }

    fn standard_error(&self) -> Option<f64> {
        Some(self.information.sqrt().recip()).filter(|error| error.is_finite())
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::Wald]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        match kind {
            IntervalKind::Wald => wald_interval(self.value, self.standard_error(), level),
            kind => Err(Error::NoInterval { kind, reason: "a maximum-likelihood estimate has a wald interval only" }),
        }
    }

    fn note(&self) -> Option<&'static str> {
        Some(match self.fallback? {
            Fallback::NobodyAnswered => "nobody answered the last question: the value is where it was asked",
            Fallback::Beyond => {
                "the last answers are beyond what any parameter explains: the value is where they were asked"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tampered_estimates_are_refused() {
        let estimate = EfficientEstimate::new(Maximum { theta: 1.5, information: 100.0 }, 1.25).unwrap();
        let json = serde_json::to_string(&estimate).unwrap();
        assert_eq!(json, r#"{"value":1.5,"information":100.0,"first":1.25,"fallback":null}"#);
        assert_eq!(serde_json::from_str::<EfficientEstimate>(&json).unwrap(), estimate);
        for (from, to) in [
            ("100.0", "-1.0"),
            ("1.5", "1e999"),
            ("1.25", "null"),
            ("null", "\"beyond\""),
            ("null", "\"unknown\""),
            ("null", "null,\"more\":1"),
        ] {
            assert!(json.contains(from));
            assert!(serde_json::from_str::<EfficientEstimate>(&json.replacen(from, to, 1)).is_err(), "{to}");
        }
    }

    #[test]
    fn a_fallback_says_why_and_may_have_no_error() {
        let silent = Maximum { theta: 0.25, information: 0.0 };
        let fallen = EfficientEstimate::fallen(silent, Fallback::NobodyAnswered).unwrap();
        assert_eq!((fallen.value(), fallen.first(), fallen.standard_error()), (0.25, 0.25, None));
        assert!(fallen.note().unwrap().contains("nobody answered"));
        assert!(matches!(fallen.interval(IntervalKind::Wald, 0.9), Err(Error::NoInterval { .. })));
        let beyond = EfficientEstimate::fallen(Maximum { information: 4.0, ..silent }, Fallback::Beyond).unwrap();
        assert_eq!(beyond.standard_error(), Some(0.5));
        assert!(beyond.note().unwrap().contains("beyond"));
        assert!(EfficientEstimate::fallen(Maximum { theta: f64::NAN, ..silent }, Fallback::Beyond).is_err());
    }
}
