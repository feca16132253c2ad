//! The estimate that the efficient protocol ends with.

use crate::{Maximum, ScoreCurve};
use ldp_core::error::require;
use ldp_core::{Error, Inference, Interval, IntervalKind, Result};
use serde::{Deserialize, Serialize};

/// Why a value is not where the likelihood of the last answers is largest inside the parameter space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// The answers before the last question do not point to one place, so it was not asked.
    Unplaced,
    /// Nobody answered the last question.
    NobodyAnswered,
    /// The likelihood of the last answers grows to an infinite end of the parameter space: intervals are half-lines, and the
    /// value is the end of that at level 0.6.
    Beyond,
    /// The likelihood of the last answers grows to a finite end of the parameter space, and that is the value.
    End,
}

/// A parameter by maximum likelihood with its score interval, or that the answers cannot tell.
///
/// - The interval rests on the answers to the last question alone. What was asked depends on the answers before it, but of
///   other users: given those, the last answers are fresh ones to a known question, and the [`ScoreCurve`] covers
///   as often as it says wherever the question stood. Whether there is an interval is settled before.
/// - The standard error is $1/\sqrt{nI}$, with nI the information of the last answers at the value.
/// - Where the answers cannot tell, the value is the place they last pointed to, with neither error nor interval.
///
/// ```
/// use ldp_core::{Epsilon, FiniteChannel, Inference, IntervalKind, Kernel, Partition, model::Bernoulli};
/// use ldp_estimators::{EfficientEstimate, Fallback, ScoreCurve, maximum_likelihood};
/// let kernel = Kernel::response(Epsilon::new(3f64.ln())?, 2)?;
/// let question = FiniteChannel::new(Partition::Threshold(1.0), kernel)?;
/// let counts = [5000, 5000];
/// let best = maximum_likelihood(&question, &Bernoulli, &counts, 0.4)?.expect("a maximum");
/// let curve = ScoreCurve::new(&question, &Bernoulli, &counts, 0.4)?.expect("a maximum");
/// let estimate = EfficientEstimate::new(best, 0.4, curve)?;
/// assert!((estimate.standard_error().unwrap() - 0.01).abs() < 1e-6);
/// assert!(estimate.interval(IntervalKind::Score, 0.95)?.contains(0.515));
/// let silent = EfficientEstimate::fallen(0.4, Fallback::Unplaced)?;
/// assert!(silent.cannot_tell().is_some() && silent.interval(IntervalKind::Score, 0.95).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct EfficientEstimate {
    value: f64,
    information: f64,
    first: f64,
    fallback: Option<Fallback>,
    curve: Option<ScoreCurve>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    value: f64,
    information: f64,
    first: f64,
    fallback: Option<Fallback>,
    curve: Option<ScoreCurve>,
}

impl TryFrom<Raw> for EfficientEstimate {
    type Error = Error;
    fn try_from(Raw { value, information, first, fallback, curve }: Raw) -> Result<Self> {
        Self { value, information, first, fallback, curve }.checked()
    }
}

impl EfficientEstimate {
    /// From the last stage, whose question was asked at `first`.
    pub fn new(last: Maximum, first: f64, curve: ScoreCurve) -> Result<Self> {
        let Maximum { theta, information } = last;
        Self { value: theta, information, first, fallback: None, curve: Some(curve) }.checked()
    }

    /// From a last stage whose likelihood grows to a finite end of the parameter space.
    pub(crate) fn at_end(end: Maximum, first: f64, curve: ScoreCurve) -> Result<Self> {
        let Maximum { theta, information } = end;
        Self { value: theta, information, first, fallback: Some(Fallback::End), curve: Some(curve) }.checked()
    }

    /// From a last stage whose likelihood grows to an infinite end: there is no standard error.
    pub(crate) fn beyond(first: f64, curve: ScoreCurve) -> Result<Self> {
        let (value, fallback) = (curve.value(), Some(Fallback::Beyond));
        Self { value, information: 0.0, first, fallback, curve: Some(curve) }.checked()
    }

    /// Where the answers cannot tell: the place they last pointed to.
    pub fn fallen(first: f64, why: Fallback) -> Result<Self> {
        Self { value: first, information: 0.0, first, fallback: Some(why), curve: None }.checked()
    }

    fn checked(self) -> Result<Self> {
        require(self.value.is_finite(), "the estimate", "finite", self.value)?;
        require(self.first.is_finite(), "the first estimate", "finite", self.first)?;
        let (information, finite) = (self.information, "finite and not negative");
        require(information >= 0.0 && information.is_finite(), "the information", finite, information)?;
        match (&self.curve, self.fallback) {
            (Some(curve), None | Some(Fallback::End | Fallback::Beyond)) => {
                require(
                    information == 0.0 || self.fallback != Some(Fallback::Beyond),
                    "the information",
                    "0",
                    information,
                )?;
                require(curve.value() == self.value, "the value of the curve", "that of the estimate", curve.value())?;
            }
            (None, Some(Fallback::Unplaced | Fallback::NobodyAnswered | Fallback::Beyond)) => {
                require(self.value == self.first, "the value of a fallback", "that of the first stage", self.value)?;
                require(information == 0.0, "the information of a fallback", "0", information)?;
            }
            _ => return Err(Error::Unsupported { what: "an estimate", needs: "a curve, or a fallback without one" }),
        }
        Ok(self)
    }

    /// Where the last question was asked, or would have been: what the answers before it point to.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.first
    }

    /// Why the value is not that of the last stage, if it is not, or is an end of the parameter space.
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
        &[IntervalKind::Score]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        if kind != IntervalKind::Score {
            return Err(Error::NoInterval { kind, reason: "a maximum-likelihood estimate has a score interval only" });
        }
        match (&self.curve, self.cannot_tell()) {
            (Some(curve), _) => curve.interval(level),
            (None, reason) => {
                let reason = reason.unwrap_or("the answers cannot tell");
                Err(Error::NoInterval { kind, reason })
            }
        }
    }

    fn cannot_tell(&self) -> Option<&'static str> {
        match self.fallback? {
            Fallback::Unplaced => Some(
                "the answers do not point to one place, nor did those to a second question: start nearer, or ask more users",
            ),
            Fallback::NobodyAnswered => Some("nobody answered the last question: the value is where it was asked"),
            Fallback::Beyond if self.curve.is_none() => Some(
                "the last answers are beyond what any parameter explains: the value is where they were asked; start nearer, or \
                 ask more users",
            ),
            Fallback::Beyond | Fallback::End => None,
        }
    }

    fn note(&self) -> Option<&'static str> {
        match self.fallback? {
            Fallback::End => {
                Some("the last answers are best explained by an end of the parameter space: that is the value")
            }
            Fallback::Beyond if self.curve.is_some() => Some(
                "the last answers are beyond what any parameter explains: the interval is open to one side, and the value is \
                 the end of that at level 0.6; start nearer, or ask more users",
            ),
            _ => self.cannot_tell(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maximum_likelihood;
    use ldp_core::model::Bernoulli;
    use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};

    fn estimate() -> EfficientEstimate {
        let kernel = Kernel::response(Epsilon::new(3f64.ln()).unwrap(), 2).unwrap();
        let question = FiniteChannel::new(Partition::Threshold(1.0), kernel).unwrap();
        let best = maximum_likelihood(&question, &Bernoulli, &[60, 40], 0.5).unwrap().unwrap();
        let curve = ScoreCurve::new(&question, &Bernoulli, &[60, 40], 0.5).unwrap().unwrap();
        EfficientEstimate::new(best, 0.25, curve).unwrap()
    }

    #[test]
    fn tampered_estimates_are_refused() {
        let estimate = estimate();
        let json = serde_json::to_string(&estimate).unwrap();
        assert_eq!(serde_json::from_str::<EfficientEstimate>(&json).unwrap(), estimate);
        let read = |json: &str| serde_json::from_str::<EfficientEstimate>(json).is_ok();
        let information = format!("\"information\":{:?}", estimate.information);
        let value = format!("{:?}", estimate.value);
        for (from, to) in [
            (information.as_str(), "\"information\":-1.0"),
            (&value, "1e999"),
            // Another value than that of the curve.
            (&value, "0.4"),
            ("\"first\":0.25", "\"first\":null"),
            ("\"fallback\":null", "\"fallback\":\"beyond\""),
            ("\"fallback\":null", "\"fallback\":\"unplaced\""),
            ("\"fallback\":null", "\"fallback\":\"unknown\""),
            ("\"fallback\":null", "\"fallback\":null,\"more\":1"),
            ("\"end\":0.0", "\"end\":0.9"),
            ("\"end\":1.0", "\"end\":\"-inf\""),
            ("\"low\"", "\"high\""),
        ] {
            assert!(json.contains(from), "{from} in {json}");
            assert!(!read(&json.replacen(from, to, 1)), "{to}");
        }
        // The places of a side the other way round, and none.
        let low = serde_json::to_string(&estimate.curve.as_ref().unwrap()).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&low).unwrap();
        let places = parsed["low"]["places"].as_array().unwrap();
        let reversed: Vec<_> = places.iter().rev().cloned().collect();
        for wrong in [serde_json::json!(reversed), serde_json::json!([])] {
            let mut changed: serde_json::Value = serde_json::from_str(&json).unwrap();
            changed["curve"]["low"]["places"] = wrong;
            assert!(!read(&changed.to_string()), "{changed}");
        }
    }

    #[test]
    fn what_cannot_tell_says_why() {
        for (why, said) in
            [(Fallback::NobodyAnswered, "nobody"), (Fallback::Beyond, "beyond"), (Fallback::Unplaced, "one place")]
        {
            let fallen = EfficientEstimate::fallen(0.25, why).unwrap();
            assert_eq!((fallen.value(), fallen.first(), fallen.standard_error()), (0.25, 0.25, None));
            assert!(fallen.note().unwrap().contains(said) && fallen.cannot_tell() == fallen.note());
            assert!(matches!(fallen.interval(IntervalKind::Score, 0.9), Err(Error::NoInterval { .. })));
            let json = serde_json::to_string(&fallen).unwrap();
            assert_eq!(serde_json::from_str::<EfficientEstimate>(&json).unwrap(), fallen);
            for (from, to) in [("\"value\":0.25", "\"value\":0.5"), ("0.0", "1.0"), ("null", "1")] {
                assert!(serde_json::from_str::<EfficientEstimate>(&json.replacen(from, to, 1)).is_err(), "{to}");
            }
        }
        assert!(EfficientEstimate::fallen(f64::NAN, Fallback::Beyond).is_err());
        assert!(EfficientEstimate::fallen(0.5, Fallback::End).is_err());
        assert!(matches!(estimate().interval(IntervalKind::Wald, 0.9), Err(Error::NoInterval { .. })));
    }
}
