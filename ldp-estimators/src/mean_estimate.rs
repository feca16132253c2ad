//! The estimate of protocols that end with a number and its standard error.

use ldp_core::error::require;
use ldp_core::inference::wald_interval;
use ldp_core::{Diagnostic, Error, Inference, Interval, IntervalKind, Rescale, Result};
use serde::{Deserialize, Serialize};

/// Why there is no interval where value ± error lies beside the bounds.
const BESIDE: &str = "the answers are beyond what any number in the range explains at this level";

/// Something to know about how a [`MeanEstimate`] came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remark {
    /// Nobody answered the question that decides.
    NobodyAnswered,
    /// The answers are beyond what any parameter explains; the value is the end of what it can be.
    Boundary,
    /// The answers are beyond what any mean explains; the value is where they were asked.
    Fallback,
    /// The estimated variance came out below its floor.
    VarianceFloor,
}

impl Remark {
    /// The remark in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NobodyAnswered => "nobody answered the last question: the value is a guess made before it",
            Self::Boundary => "the answers are beyond what any parameter explains: the value is the end of the range",
            Self::Fallback => "the last count is beyond what any mean explains: the value is the last threshold",
            Self::VarianceFloor => "the estimated variance came out below its floor, and is the floor",
        }
    }
}

/// What an interval takes for granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caution {
    /// That a pilot found the right place.
    Pilot,
    /// That a pilot found the right place and a scale that is not too small.
    PilotAndScale,
}

impl Caution {
    /// The caution in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Pilot => {
                "the pilot had so few users that it may well have ended far from the mean, and the interval takes it to have \
                 found the right place"
            }
            Self::PilotAndScale => {
                "the interval takes the pilot to have found the right place and sigma not to be larger than it found; \
                 with little more than the smallest number of users it often is"
            }
        }
    }
}

/// A number, its standard error where the answers give one, and the interval of [`wald_interval`].
///
/// ```
/// use ldp_core::{Inference, IntervalKind};
/// use ldp_estimators::MeanEstimate;
/// let estimate = MeanEstimate::new(2.0, Some(0.5), None)?;
/// let interval = estimate.interval(IntervalKind::Wald, 0.95)?;
/// assert!((interval.high - 2.98).abs() < 0.001);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct MeanEstimate {
    value: f64,
    standard_error: Option<f64>,
    remark: Option<Remark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caution: Option<Caution>,
    /// What the estimated number certainly lies in.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<[f64; 2]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    value: f64,
    standard_error: Option<f64>,
    remark: Option<Remark>,
    #[serde(default)]
    caution: Option<Caution>,
    #[serde(default)]
    bounds: Option<[f64; 2]>,
}

impl TryFrom<Raw> for MeanEstimate {
    type Error = Error;
    fn try_from(Raw { value, standard_error, remark, caution, bounds }: Raw) -> Result<Self> {
        let estimate = Self::new(value, standard_error, remark)?;
        let estimate = bounds.map_or(Ok(estimate), |bounds| estimate.within(bounds))?;
        Ok(Self { caution, ..estimate })
    }
}

impl MeanEstimate {
    /// An estimate from its numbers, which must be finite.
    pub fn new(value: f64, standard_error: Option<f64>, remark: Option<Remark>) -> Result<Self> {
        require(value.is_finite(), "the estimate", "finite", value)?;
        if let Some(error) = standard_error {
            require(error >= 0.0 && error.is_finite(), "the standard error", "finite and not negative", error)?;
        }
        Ok(Self { value, standard_error, remark, caution: None, bounds: None })
    }

    /// The same estimate of a number that certainly lies in `[low, high]`: value and interval are cut to it.
    ///
    /// ```
    /// use ldp_core::{Inference, IntervalKind};
    /// use ldp_estimators::MeanEstimate;
    /// // A share, of which noise makes more than all.
    /// let share = MeanEstimate::new(1.02, Some(0.05), None)?.within([0.0, 1.0])?;
    /// assert_eq!((share.value(), share.interval(IntervalKind::Wald, 0.95)?.high), (1.0, 1.0));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn within(self, [low, high]: [f64; 2]) -> Result<Self> {
        require(low < high && low.is_finite() && high.is_finite(), "low", "finite and below high", low)?;
        let beyond = !(low <= self.value && self.value <= high);
        let remark = self.remark.or(beyond.then_some(Remark::Boundary));
        Ok(Self { remark, bounds: Some([low, high]), ..self })
    }

    /// The same estimate, with what its interval takes for granted.
    #[must_use]
    pub fn with_caution(self, caution: Caution) -> Self {
        Self { caution: Some(caution), ..self }
    }

    /// What is to be known about it.
    #[must_use]
    pub fn remark(&self) -> Option<Remark> {
        self.remark
    }
}

impl Inference for MeanEstimate {
    fn value(&self) -> f64 {
        self.bounds.map_or(self.value, |[low, high]| self.value.clamp(low, high))
    }

    fn standard_error(&self) -> Option<f64> {
        // Zero is what is left of an error too small for its unit.
        self.standard_error.filter(|&error| error > 0.0)
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::Wald]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        match kind {
            IntervalKind::Wald => {
                let interval = wald_interval(self.value, self.standard_error, level)?;
                self.bounds.map_or(Ok(interval), |bounds| interval.within(bounds, BESIDE))
            }
            kind => Err(Error::NoInterval { kind, reason: "this estimate has a wald interval only" }),
        }
    }

    fn note(&self) -> Option<&'static str> {
        self.remark.map(Remark::text)
    }

    fn caveat(&self, _kind: IntervalKind) -> Option<&'static str> {
        self.caution.map(Caution::text)
    }

    fn diagnostics(&self, range: Option<[f64; 2]>) -> Vec<Diagnostic> {
        let clipped = self.bounds.and_then(|bounds| Diagnostic::of_clipping(self.value, self.standard_error, bounds));
        let at_end = || Diagnostic::of_range(self.value, self.standard_error, self.bounds.or(range));
        clipped.or_else(at_end).into_iter().collect()
    }
}

impl Rescale for MeanEstimate {
    fn rescale(self, factor: f64) -> Result<Self> {
        let rescaled = Self::new(self.value * factor, self.standard_error.map(|error| error * factor), self.remark)?;
        let bounds = self.bounds.map(|bounds| bounds.map(|end| end * factor));
        let rescaled = bounds.map_or(Ok(rescaled), |bounds| rescaled.within(bounds))?;
        Ok(Self { caution: self.caution, ..rescaled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_must_be_numbers() {
        for (value, error) in [(f64::NAN, None), (f64::INFINITY, None), (0.0, Some(-1.0)), (0.0, Some(f64::NAN))] {
            assert!(MeanEstimate::new(value, error, None).is_err(), "{value} {error:?}");
        }
        let huge = MeanEstimate::new(1e300, Some(1.0), None).unwrap();
        assert!(huge.rescale(1e300).is_err());
        let none = MeanEstimate::new(1.0, None, Some(Remark::NobodyAnswered)).unwrap();
        assert!(none.interval(IntervalKind::Wald, 0.95).is_err() && none.note().is_some());
        let json = serde_json::to_string(&none).unwrap();
        assert_eq!(json, r#"{"value":1.0,"standard_error":null,"remark":"nobody-answered"}"#);
        assert_eq!(serde_json::from_str::<MeanEstimate>(&json).unwrap(), none);
        assert!(serde_json::from_str::<MeanEstimate>(&json.replace("null", "-1.0")).is_err());
    }
}
