//! The estimate that one question ends with.

use super::deviance::DevianceCurve;
use crate::Fallback;
use ldp_core::error::require;
use ldp_core::inference::wald_interval;
use ldp_core::{Error, Inference, Interval, IntervalKind, Result};
use serde::{Deserialize, Serialize};

/// A parameter by maximum likelihood, with a likelihood-ratio and a Wald interval, or that the answers cannot tell.
///
/// - The standard error is $1/\sqrt{nI(\hat\theta)}$, with I the information of one report.
/// - The Wald interval is $\hat\theta \pm z_{1-\alpha/2}/\sqrt{nI(\hat\theta)}$, cut to the parameter space. The likelihood-ratio
///   interval is that of the [`DevianceCurve`].
/// - [`Fallback::End`]: the likelihood is largest at a finite end of the parameter space, and that is the value.
///   [`Fallback::Beyond`]: it is largest at an infinite end; likelihood-ratio intervals are half-lines, the value is the end of that at
///   level 0.6, and there is no standard error. [`Fallback::NobodyAnswered`]: the value is the start. Where the answers do not tell any
///   parameter from another, as few of them do not, the value is the start too, by [`Fallback::Unplaced`].
///
/// ```
/// use ldp_core::{Inference, IntervalKind};
/// use ldp_estimators::{AskEstimate, Fallback};
/// let silent = AskEstimate::fallen(0.4, Fallback::NobodyAnswered, [0.0, 1.0])?;
/// assert_eq!((silent.value(), silent.standard_error()), (0.4, None));
/// assert!(silent.cannot_tell().is_some() && silent.interval(IntervalKind::Wald, 0.95).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct AskEstimate {
    value: f64,
    /// Of all answers; zero where there is none.
    information: f64,
    #[serde(with = "ends")]
    space: [f64; 2],
    fallback: Option<Fallback>,
    curve: Option<DevianceCurve>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    value: f64,
    information: f64,
    #[serde(with = "ends")]
    space: [f64; 2],
    fallback: Option<Fallback>,
    curve: Option<DevianceCurve>,
}

impl TryFrom<Raw> for AskEstimate {
    type Error = Error;
    fn try_from(Raw { value, information, space, fallback, curve }: Raw) -> Result<Self> {
        Self { value, information, space, fallback, curve }.checked()
    }
}

/// Two numbers, of which any may be infinite.
mod ends {
    use ldp_core::json::extended;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct End(#[serde(with = "extended")] f64);

    pub(super) fn serialize<S: Serializer>(ends: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
        ends.map(End).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; 2], D::Error> {
        Ok(<[End; 2]>::deserialize(deserializer)?.map(|End(end)| end))
    }
}

impl AskEstimate {
    /// From the likelihood around its maximum.
    pub(super) fn new(curve: DevianceCurve, information: f64, space: [f64; 2], why: Option<Fallback>) -> Result<Self> {
        // Where the information is none or infinite there is no standard error.
        let has_error = information.sqrt().recip() > 0.0 && information.sqrt().recip().is_finite();
        let information = if has_error && why != Some(Fallback::Beyond) { information } else { 0.0 };
        Self { value: curve.value(), information, space, fallback: why, curve: Some(curve) }.checked()
    }

    /// Where the answers cannot tell: a place in the parameter space.
    pub fn fallen(value: f64, why: Fallback, space: [f64; 2]) -> Result<Self> {
        Self { value, information: 0.0, space, fallback: Some(why), curve: None }.checked()
    }

    fn checked(self) -> Result<Self> {
        let [low, high] = self.space;
        require(self.value.is_finite(), "the estimate", "finite", self.value)?;
        require(low <= self.value && self.value <= high, "the estimate", "within the parameter space", self.value)?;
        let (information, finite) = (self.information, "finite and not negative");
        require(information >= 0.0 && information.is_finite(), "the information", finite, information)?;
        match (&self.curve, self.fallback) {
            (Some(curve), None | Some(Fallback::End | Fallback::Beyond)) => {
                let none = information == 0.0 || self.fallback != Some(Fallback::Beyond);
                require(none, "the information", "0", information)?;
                require(curve.value() == self.value, "the value of the curve", "that of the estimate", curve.value())?;
            }
            (None, Some(Fallback::Unplaced | Fallback::NobodyAnswered)) => {
                require(information == 0.0, "the information of a fallback", "0", information)?;
            }
            _ => return Err(Error::Unsupported { what: "an estimate", needs: "a curve, or a fallback without one" }),
        }
        Ok(self)
    }

    /// The likelihood-ratio interval at every level; `None` where the answers cannot tell.
    #[must_use]
    pub fn curve(&self) -> Option<&DevianceCurve> {
        self.curve.as_ref()
    }

    /// Why the value is not a maximum of the likelihood inside the parameter space, where it is not.
    #[must_use]
    pub fn fallback(&self) -> Option<Fallback> {
        self.fallback
    }
}

impl Inference for AskEstimate {
    fn value(&self) -> f64 {
        self.value
    }

    fn standard_error(&self) -> Option<f64> {
        Some(self.information.sqrt().recip()).filter(|error| error.is_finite())
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::LikelihoodRatio, IntervalKind::Wald]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        match (kind, &self.curve) {
            (_, None) => {
                let reason = self.cannot_tell().unwrap_or("the answers cannot tell");
                Err(Error::NoInterval { kind, reason })
            }
            (IntervalKind::LikelihoodRatio, Some(curve)) => curve.interval(level),
            (IntervalKind::Wald, _) => wald_interval(self.value, self.standard_error(), level)?
                .within(self.space, "it lies outside of the parameter space"),
            _ => Err(Error::NoInterval { kind, reason: "one question has likelihood-ratio and Wald intervals" }),
        }
    }

    fn caveat(&self, kind: IntervalKind) -> Option<&'static str> {
        (kind == IntervalKind::Wald && self.fallback == Some(Fallback::End))
            .then_some("the value is an end of the parameter space: the likelihood-ratio interval is more reliable")
    }

    fn cannot_tell(&self) -> Option<&'static str> {
        match self.fallback? {
            Fallback::NobodyAnswered => Some("nobody answered: the value is the start"),
            Fallback::Unplaced => {
                Some("the answers do not tell any parameter from another: the value is the start; ask more users")
            }
            Fallback::Beyond | Fallback::End => None,
        }
    }

    fn note(&self) -> Option<&'static str> {
        match self.fallback? {
            Fallback::End => Some("the answers are best explained by an end of the parameter space: that is the value"),
            Fallback::Beyond => Some(
                "the answers are beyond what any parameter explains: the interval is open to one side, and the value is the end of \
                 that at level 0.6; ask more users",
            ),
            _ => self.cannot_tell(),
        }
    }
}
