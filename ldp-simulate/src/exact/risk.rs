//! Errors and intervals together.

use super::{Errors, Gather};
use ldp_core::inference::{Inference, IntervalKind};

/// What the intervals of one kind do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalSums {
    /// The kind of interval.
    pub kind: IntervalKind,
    /// The probability that it contains the truth. Where there is no interval it does not.
    pub covered: f64,
    /// The probability that there is none.
    pub missing: f64,
    /// The probability of an infinite end.
    pub infinite: f64,
    /// The probability of a finite one.
    pub finite: f64,
    /// Probability times width, added up over the finite ones.
    pub finite_width: f64,
}

impl IntervalSums {
    /// The mean width of those with finite ends; `None` if there are none.
    ///
    /// The mean width of all is infinite: an infinite end always has positive probability.
    #[must_use]
    pub fn mean_finite_width(&self) -> Option<f64> {
        (self.finite > 0.0).then(|| self.finite_width / self.finite)
    }
}

/// The moments of the error, and coverage and width of intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    truth: f64,
    level: f64,
    errors: Errors,
    intervals: Vec<IntervalSums>,
    notes: f64,
    /// The probability of a caveat, and one that there is.
    caveats: (f64, Option<&'static str>),
}

impl Risk {
    /// Nothing seen yet; the truth is `truth`, intervals of these kinds are taken at `level`.
    #[must_use]
    pub fn new(truth: f64, level: f64, kinds: &[IntervalKind]) -> Self {
        let none =
            |&kind| IntervalSums { kind, covered: 0.0, missing: 0.0, infinite: 0.0, finite_width: 0.0, finite: 0.0 };
        let (errors, intervals) = (Errors::new(truth), kinds.iter().map(none).collect());
        Self { truth, level, errors, intervals, notes: 0.0, caveats: (0.0, None) }
    }

    /// The moments of the error.
    #[must_use]
    pub fn errors(&self) -> &Errors {
        &self.errors
    }

    /// The intervals by kind, in the order asked for.
    #[must_use]
    pub fn intervals(&self) -> &[IntervalSums] {
        &self.intervals
    }

    /// The probability of an estimate that comes with a note, such as a fallback.
    #[must_use]
    pub fn notes(&self) -> f64 {
        self.notes
    }

    /// The probability of an estimate that comes with a caveat about its first kind of interval, and one of those caveats.
    #[must_use]
    pub fn caveats(&self) -> (f64, Option<&'static str>) {
        self.caveats
    }

    /// How far the estimate is from the truth.
    #[inline]
    pub(super) fn distance<I: Inference>(&self, estimate: &I) -> f64 {
        (estimate.value() - self.truth).abs()
    }

    /// Takes in an estimate and shows the width of each of its intervals, infinite where there is none.
    #[inline]
    pub(super) fn take<I: Inference>(&mut self, weight: f64, estimate: &I, mut width: impl FnMut(usize, f64)) {
        self.errors.push(weight, estimate);
        if estimate.note().is_some() {
            self.notes += weight;
        }
        if let Some(caveat) = self.intervals.first().and_then(|sums| estimate.caveat(sums.kind)) {
            self.caveats = (self.caveats.0 + weight, Some(caveat));
        }
        for (place, sums) in self.intervals.iter_mut().enumerate() {
            match estimate.interval(sums.kind, self.level) {
                Ok(interval) => {
                    if interval.contains(self.truth) {
                        sums.covered += weight;
                    }
                    let wide = interval.width();
                    if wide.is_finite() {
                        sums.finite += weight;
                        sums.finite_width += weight * wide;
                    } else {
                        sums.infinite += weight;
                    }
                    width(place, wide);
                }
                Err(_) => {
                    sums.missing += weight;
                    width(place, f64::INFINITY);
                }
            }
        }
    }
}

impl Gather for Risk {
    #[inline]
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I) {
        self.take(weight, estimate, |_, _| ());
    }

    fn merge(&mut self, other: Self) {
        self.errors.merge(other.errors);
        self.notes += other.notes;
        self.caveats = (self.caveats.0 + other.caveats.0, self.caveats.1.or(other.caveats.1));
        for (sums, more) in self.intervals.iter_mut().zip(other.intervals) {
            sums.covered += more.covered;
            sums.missing += more.missing;
            sums.infinite += more.infinite;
            sums.finite_width += more.finite_width;
            sums.finite += more.finite;
        }
    }

    fn squares(&self) -> f64 {
        self.errors.squares()
    }
}
