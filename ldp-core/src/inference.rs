//! What an estimate says about itself: value, standard error, intervals.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result, require};
use serde::{Deserialize, Serialize};
#[cfg(feature = "special")]
use std::cell::Cell;
use std::fmt;

/// How a confidence interval is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// Exact limits for a probability, mapped to the parameter. Covers at any sample size; ends may be infinite.
    Exact,
    /// Value ± quantile × standard error. Covers asymptotically.
    Wald,
    /// From the path of a sequential estimate, without a variance estimate.
    SelfNormalised,
    /// All parameters that a score test does not refuse, ordered by the likelihood ratio to the best parameter of the space. Covers
    /// also next to the ends of the parameter space, and where the likelihood is not normal; ends may be infinite.
    Score,
    /// All parameters whose likelihood is not too far below the largest: the deviance at most the quantile of χ² with one degree
    /// of freedom. Covers asymptotically; ends may be infinite.
    LikelihoodRatio,
}

impl IntervalKind {
    /// Every kind.
    ///
    /// ```
    /// use ldp_core::IntervalKind;
    /// let names = ["exact", "wald", "self-normalised", "score", "likelihood-ratio"];
    /// assert_eq!(IntervalKind::ALL.map(|kind| kind.to_string()), names);
    /// ```
    pub const ALL: [Self; 5] = [Self::Exact, Self::Wald, Self::SelfNormalised, Self::Score, Self::LikelihoodRatio];
}

impl fmt::Display for IntervalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Exact => "exact",
            Self::Wald => "wald",
            Self::SelfNormalised => "self-normalised",
            Self::Score => "score",
            Self::LikelihoodRatio => "likelihood-ratio",
        })
    }
}

/// A confidence interval; an end is infinite where the data cannot bound the parameter.
///
/// ```
/// use ldp_core::{Interval, IntervalKind};
/// let interval = Interval { kind: IntervalKind::Exact, level: 0.95, low: f64::NEG_INFINITY, high: 1.0 };
/// assert!(interval.contains(-1e9) && !interval.contains(1.1));
/// assert_eq!(interval.width(), f64::INFINITY);
/// assert_eq!(Interval { low: -1.5, ..interval }.width(), 2.5);
/// assert_eq!(interval.kind.to_string(), "exact");
/// let json = serde_json::to_string(&interval).unwrap();
/// assert_eq!(json, r#"{"kind":"exact","level":0.95,"low":"-inf","high":1.0}"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawInterval")]
pub struct Interval {
    /// How it was made.
    pub kind: IntervalKind,
    /// Its nominal coverage.
    pub level: f64,
    /// Its lower end.
    #[serde(with = "crate::json::extended")]
    pub low: f64,
    /// Its upper end.
    #[serde(with = "crate::json::extended")]
    pub high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInterval {
    kind: IntervalKind,
    level: f64,
    #[serde(with = "crate::json::extended")]
    low: f64,
    #[serde(with = "crate::json::extended")]
    high: f64,
}

impl TryFrom<RawInterval> for Interval {
    type Error = Error;
    fn try_from(RawInterval { kind, level, low, high }: RawInterval) -> Result<Self> {
        check_level(level)?;
        require(low < high, "the lower end of an interval", "below the upper end", low)?;
        Ok(Self { kind, level, low, high })
    }
}

impl Interval {
    /// An interval between two ends that differ, or [`Error::NoInterval`].
    ///
    /// Ends agree where an interval is narrower than the distance of neighbouring `f64`: a point is not an interval, and
    /// covers nothing.
    ///
    /// ```
    /// use ldp_core::{Error, Interval, IntervalKind};
    /// assert_eq!(Interval::new(IntervalKind::Wald, 0.95, 1.0, 2.0)?.width(), 1.0);
    /// let point = Interval::new(IntervalKind::Wald, 0.95, 1.0, 1.0);
    /// assert!(matches!(point, Err(Error::NoInterval { .. })));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn new(kind: IntervalKind, level: f64, low: f64, high: f64) -> Result<Self> {
        check_level(level)?;
        if low < high {
            Ok(Self { kind, level, low, high })
        } else {
            Err(Error::NoInterval { kind, reason: "its two ends are the same number in double precision" })
        }
    }

    /// The part within [`low`, `high`], or [`Error::NoInterval`] with `reason` where there is none.
    ///
    /// Coverage stays what it is for every parameter that lies there.
    ///
    /// ```
    /// use ldp_core::{Interval, IntervalKind};
    /// let wald = Interval::new(IntervalKind::Wald, 0.95, -0.1, 0.3)?;
    /// assert_eq!(wald.within([0.0, 1.0], "no share is so small")?.low, 0.0);
    /// assert!(wald.within([0.5, 1.0], "the share is at least a half").is_err());
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn within(self, [low, high]: [f64; 2], reason: &'static str) -> Result<Self> {
        let cut = Self { low: self.low.max(low), high: self.high.min(high), ..self };
        if cut.low < cut.high { Ok(cut) } else { Err(Error::NoInterval { kind: self.kind, reason }) }
    }

    /// Whether `theta` lies inside, ends included.
    #[must_use]
    pub fn contains(&self, theta: f64) -> bool {
        self.low <= theta && theta <= self.high
    }

    /// High minus low; infinite if an end is.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// `level` strictly between 0 and 1, or an error that says so.
pub fn check_level(level: f64) -> Result<()> {
    require(level > 0.0 && level < 1.0, "level", "strictly between 0 and 1", level)
}

/// What every estimate can be asked. Object safe.
pub trait Inference {
    /// The point estimate: always a finite number.
    fn value(&self) -> f64;

    /// The squared distance to the truth. An estimate of several coordinates adds theirs up, each against `theta`; its
    /// [`value`](Self::value) is their mean.
    fn squared_error(&self, theta: f64) -> f64 {
        let error = self.value() - theta;
        error * error
    }

    /// The estimated standard deviation of [`value`](Self::value); `None` where the data give none.
    fn standard_error(&self) -> Option<f64>;

    /// The kinds of interval such an estimate can have, its default first.
    fn interval_kinds() -> &'static [IntervalKind]
    where
        Self: Sized;

    /// A confidence interval, or [`Error::NoInterval`] with the reason.
    ///
    /// Law: its ends differ, and [`value`](Self::value) lies between them or on one of them.
    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval>;

    /// Something the user should know before trusting intervals of this kind.
    fn caveat(&self, _kind: IntervalKind) -> Option<&'static str> {
        None
    }

    /// Something the user should know about how this value came about, such as a fallback.
    fn note(&self) -> Option<&'static str> {
        None
    }

    /// Why the answers cannot tell what is estimated; `None` where they can.
    ///
    /// Law: where there is a reason, the value is a guess and no more, with neither standard error nor interval.
    fn cannot_tell(&self) -> Option<&'static str> {
        None
    }

    /// What the reports say against what was assumed; `range` is where the estimated number is known to lie.
    ///
    /// Only reports are looked at, never a value, so it is as private as the estimate. By default it looks at the range.
    fn diagnostics(&self, range: Option<[f64; 2]>) -> Vec<Diagnostic> {
        Diagnostic::of_range(self.value(), self.standard_error(), range).into_iter().collect()
    }
}

/// The interval value ± z · standard error, from the estimate's own two numbers.
///
/// ```
/// use ldp_core::inference::wald_interval;
/// let interval = wald_interval(1.0, Some(0.1), 0.95)?;
/// assert!((interval.high - 1.1959963984540054).abs() < 1e-15);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[cfg(feature = "special")]
pub fn wald_interval(value: f64, standard_error: Option<f64>, level: f64) -> Result<Interval> {
    check_level(level)?;
    let reason = "the answers give no standard error";
    let error = standard_error.ok_or(Error::NoInterval { kind: IntervalKind::Wald, reason })?;
    let half = two_sided(level) * error;
    Interval::new(IntervalKind::Wald, level, value - half, value + half)
}

/// The z with $P(|Z| \le z)$ = `level`. Asked for the same level by every estimate, so the latest is kept.
///
/// ```
/// assert!((ldp_core::inference::two_sided(0.95) - 1.959963984540054).abs() < 1e-15);
/// ```
#[cfg(feature = "special")]
#[must_use]
pub fn two_sided(level: f64) -> f64 {
    thread_local! {
        static LATEST: Cell<(f64, f64)> = const { Cell::new((0.0, 0.0)) };
    }
    let (known, z) = LATEST.get();
    if known == level {
        return z;
    }
    // By the upper tail: (1 + level) / 2 would round for a level close to one.
    let z = -crate::special::normal::quantile((1.0 - level) / 2.0);
    LATEST.set((level, z));
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tampered_intervals_are_refused() {
        let read = serde_json::from_str::<Interval>;
        assert!(read(r#"{"kind":"wald","level":0.9,"low":"-inf","high":2}"#).is_ok());
        for bad in [
            r#"{"kind":"wald","level":7,"low":1,"high":2}"#,
            r#"{"kind":"wald","level":0.9,"low":3,"high":2}"#,
            r#"{"kind":"wald","level":0.9,"low":2,"high":2}"#,
            r#"{"kind":"wald","level":0.9,"low":"inf","high":2}"#,
            r#"{"kind":"wald","level":0.9,"low":"nan","high":2}"#,
            r#"{"kind":"bayes","level":0.9,"low":1,"high":2}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
