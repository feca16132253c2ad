//! What is known about the mean beforehand.

use ldp_core::Result;
use ldp_core::error::require;

/// An interval in which the mean lies.
///
/// ```
/// use ldp_estimators::plan::Prior;
/// let (range, guess) = (Prior::range(-2.0, 6.0)?, Prior::guess(2.0, 4.0)?);
/// assert_eq!((range.centre(), range.radius()), (guess.centre(), guess.radius()));
/// assert!(range.certain() && !guess.certain());
/// assert!(Prior::range(1.0, 1.0).is_err() && Prior::guess(0.0, f64::INFINITY).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    low: f64,
    high: f64,
    centre: f64,
    radius: f64,
    certain: bool,
}

impl Prior {
    /// From `low` to `high`: finite, and not empty. With no width there would be nothing to estimate.
    pub fn range(low: f64, high: f64) -> Result<Self> {
        require(low.is_finite(), "the low end of the range", "finite", low)?;
        require(high.is_finite() && high > low, "the high end of the range", "finite and above the low end", high)?;
        require((high - low).is_finite(), "the width of the range", "finite", high - low)?;
        let radius = 0.5 * (high - low);
        Ok(Self { low, high, centre: low + radius, radius, certain: true })
    }

    /// Within `error` of `guess`, most likely: a protocol that cannot leave the interval is not planned for.
    pub fn guess(guess: f64, error: f64) -> Result<Self> {
        require(guess.is_finite(), "the guess", "finite", guess)?;
        require(error > 0.0 && error.is_finite(), "the error of the guess", "positive and finite", error)?;
        let apart = guess - error < guess && guess < guess + error;
        require(apart, "the error of the guess", "large enough to differ from zero beside the guess", error)?;
        // The guess itself and its error, without the rounding of the two ends.
        Ok(Self { centre: guess, radius: error, certain: false, ..Self::range(guess - error, guess + error)? })
    }

    /// The smallest mean there can be.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The largest mean there can be.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The middle.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// Half of the width.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether the mean cannot lie outside.
    #[must_use]
    pub fn certain(&self) -> bool {
        self.certain
    }
}

/// For which mean in the prior interval a plan is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// The one that is worst for the plan.
    #[default]
    Worst,
    /// All of them, equally likely.
    Average,
}
