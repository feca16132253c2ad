//! What a simulation adds up, in constant memory.

use ldp_core::inference::{Inference, IntervalKind};
use ldp_core::special::normal;

/// Mean and spread of a stream of numbers, mergeable: Welford's update and Chan's merge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes in one number.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let away = value - self.mean;
        self.mean += away / self.count as f64;
        self.squares += away * (value - self.mean);
    }

    /// Takes in the numbers of another.
    pub fn merge(&mut self, other: Self) {
        if other.count == 0 {
            return;
        }
        let (a, b) = (self.count as f64, other.count as f64);
        let away = other.mean - self.mean;
        self.count += other.count;
        self.mean += away * b / (a + b);
        self.squares += other.squares + away * away * a * b / (a + b);
    }

    /// How many numbers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their variance, with divisor `count`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.squares / self.count as f64
    }

    /// The standard error of the mean; `None` below two numbers.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64 / self.count as f64).sqrt())
    }
}

/// How the intervals of one kind behaved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The kind of interval.
    pub kind: IntervalKind,
    /// Replications whose interval contained the truth. One without an interval did not.
    pub covered: u64,
    /// Replications without an interval of this kind.
    pub missing: u64,
    /// Replications with an infinite end.
    pub infinite: u64,
    /// The widths of the finite intervals.
    pub width: Moments,
}

impl Coverage {
    /// The share that covers of those that have an interval, of so many replications; `None` where none has.
    #[must_use]
    pub fn of_answered(&self, replications: u64) -> Option<f64> {
        let answered = replications.saturating_sub(self.missing);
        (answered > 0).then(|| self.covered as f64 / answered as f64)
    }
}

/// The errors of an estimator over replications, against a known truth.
///
/// ```
/// use ldp_simulate::Summary;
/// let mut summary = Summary::new(1.0, 0.95, &[]);
/// for estimate in [0.9, 1.1, 1.3] {
///     summary.push_value(estimate);
/// }
/// assert!((summary.bias() - 0.1).abs() < 1e-15);
/// assert!((summary.mse() - 0.11 / 3.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    theta: f64,
    level: f64,
    error: Moments,
    squared_error: Moments,
    coverage: Vec<Coverage>,
    notes: u64,
    caveats: u64,
    caveat: Option<&'static str>,
}

impl Summary {
    /// Nothing seen yet; the truth is `theta`, intervals of these kinds are taken at `level`.
    #[must_use]
    pub fn new(theta: f64, level: f64, kinds: &[IntervalKind]) -> Self {
        let (error, squared_error) = (Moments::default(), Moments::default());
        let none = |&kind| Coverage { kind, covered: 0, missing: 0, infinite: 0, width: Moments::default() };
        let coverage = kinds.iter().map(none).collect();
        Self { theta, level, error, squared_error, coverage, notes: 0, caveats: 0, caveat: None }
    }

    /// Takes in one replication's value without its intervals.
    pub fn push_value(&mut self, value: f64) {
        self.push_errors(value - self.theta, (value - self.theta).powi(2));
    }

    fn push_errors(&mut self, error: f64, squared: f64) {
        self.error.push(error);
        self.squared_error.push(squared);
    }

    /// Takes in one replication's estimate.
    pub fn push(&mut self, estimate: &dyn Inference) {
        self.push_errors(estimate.value() - self.theta, estimate.squared_error(self.theta));
        self.notes += u64::from(estimate.note().is_some());
        if let Some(caveat) = self.coverage.first().and_then(|entry| estimate.caveat(entry.kind)) {
            (self.caveats, self.caveat) = (self.caveats + 1, Some(caveat));
        }
        for entry in &mut self.coverage {
            match estimate.interval(entry.kind, self.level) {
                Ok(interval) => {
                    entry.covered += u64::from(interval.contains(self.theta));
                    let width = interval.width();
                    if width.is_finite() { entry.width.push(width) } else { entry.infinite += 1 }
                }
                Err(_) => entry.missing += 1,
            }
        }
    }

    /// Takes in the replications of another summary of the same truth, level and kinds.
    pub fn merge(&mut self, other: Self) {
        self.error.merge(other.error);
        self.squared_error.merge(other.squared_error);
        self.notes += other.notes;
        self.caveats += other.caveats;
        self.caveat = self.caveat.or(other.caveat);
        for (entry, more) in self.coverage.iter_mut().zip(other.coverage) {
            entry.covered += more.covered;
            entry.missing += more.missing;
            entry.infinite += more.infinite;
            entry.width.merge(more.width);
        }
    }

    /// How many replications.
    #[must_use]
    pub fn replications(&self) -> u64 {
        self.error.count()
    }

    /// Mean error.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.error.mean()
    }

    /// Variance of the estimate, with divisor `replications`: MSE = bias² + variance.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.error.variance()
    }

    /// Mean squared error.
    #[must_use]
    pub fn mse(&self) -> f64 {
        self.squared_error.mean()
    }

    /// A confidence interval for the mean squared error, from the spread of the squared errors over replications;
    /// `None` below two replications. It does not know of events too rare to have been seen.
    #[must_use]
    pub fn mse_interval(&self, level: f64) -> Option<[f64; 2]> {
        let half = -normal::quantile((1.0 - level) / 2.0) * self.squared_error.standard_error()?;
        Some([(self.mse() - half).max(0.0), self.mse() + half])
    }

    /// The intervals by kind, the estimator's default first.
    #[must_use]
    pub fn coverage(&self) -> &[Coverage] {
        &self.coverage
    }

    /// Replications whose estimate carried a note, such as a fallback.
    #[must_use]
    pub fn notes(&self) -> u64 {
        self.notes
    }

    /// Replications whose estimate carried a caveat about its first kind of interval, and one of those caveats.
    #[must_use]
    pub fn caveats(&self) -> (u64, Option<&'static str>) {
        (self.caveats, self.caveat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::inference::Interval;

    #[test]
    fn merging_equals_pushing() {
        let values = [3.0, -1.0, 4.0, 1.5, -9.25, 2.0];
        let mut whole = Moments::default();
        values.iter().for_each(|&v| whole.push(v));
        let (mut a, mut b) = (Moments::default(), Moments::default());
        values[..2].iter().for_each(|&v| a.push(v));
        values[2..].iter().for_each(|&v| b.push(v));
        a.merge(b);
        a.merge(Moments::default());
        let direct = values.iter().sum::<f64>() / 6.0;
        let spread = values.iter().map(|v| (v - direct).powi(2)).sum::<f64>() / 6.0;
        for moments in [whole, a] {
            assert!((moments.mean() - direct).abs() < 1e-15);
            assert!((moments.variance() - spread).abs() < 1e-14);
        }
        assert_eq!(Moments::default().standard_error(), None);
    }

    #[test]
    fn the_interval_of_the_mse_is_mean_and_spread_of_squared_errors() {
        let mut summary = Summary::new(1.0, 0.95, &[]);
        assert_eq!(summary.mse_interval(0.99), None);
        summary.push_value(2.0);
        assert_eq!(summary.mse_interval(0.99), None);
        [0.0, 4.0, 1.5].into_iter().for_each(|value| summary.push_value(value));
        // Squared errors 1, 1, 9, 0.25: mean 2.8125, sum of squares about it 51.421875, standard error √(51.42…/3/4).
        let half = 2.575_829_303_548_901 * (51.421_875f64 / 12.0).sqrt();
        let [low, high] = summary.mse_interval(0.99).unwrap();
        assert_eq!((summary.replications(), summary.mse(), low), (4, 2.8125, 0.0));
        assert!((high - 2.8125 - half).abs() < 1e-13, "{high}");
        let [low, _] = summary.mse_interval(0.1).unwrap();
        assert!((low - (2.8125 - 0.125_661_346_855_074_16 * (51.421_875f64 / 12.0).sqrt())).abs() < 1e-13, "{low}");
        assert!((summary.bias() - 0.875).abs() < 1e-15);
        assert!((summary.bias().powi(2) + summary.variance() - summary.mse()).abs() < 1e-14);
    }

    /// An estimate that is 0 ± reach by one kind of interval, and has none of the other.
    struct Scripted {
        reach: f64,
        note: Option<&'static str>,
    }

    impl Inference for Scripted {
        fn value(&self) -> f64 {
            0.0
        }
        fn standard_error(&self) -> Option<f64> {
            None
        }
        fn interval_kinds() -> &'static [IntervalKind] {
            &[IntervalKind::Exact, IntervalKind::Wald]
        }
        fn interval(&self, kind: IntervalKind, level: f64) -> ldp_core::Result<Interval> {
            match kind {
                IntervalKind::Exact => Ok(Interval { kind, level, low: -self.reach, high: self.reach }),
                _ => Err(ldp_core::Error::NoInterval { kind, reason: "scripted" }),
            }
        }
        fn note(&self) -> Option<&'static str> {
            self.note
        }
        fn caveat(&self, kind: IntervalKind) -> Option<&'static str> {
            self.note.filter(|_| kind == IntervalKind::Exact)
        }
    }

    #[test]
    fn coverage_is_counted_by_kind_and_merges() {
        let push = |reaches: &[f64]| {
            let mut summary = Summary::new(1.0, 0.95, Scripted::interval_kinds());
            for &reach in reaches {
                summary.push(&Scripted { reach, note: (reach < 1.0).then_some("short") });
            }
            summary
        };
        let mut summary = push(&[0.5, 2.0, f64::INFINITY]);
        summary.merge(push(&[4.0, 0.25]));
        let [exact, wald] = summary.coverage() else { panic!("two kinds") };
        assert_eq!((exact.kind, exact.covered, exact.missing, exact.infinite), (IntervalKind::Exact, 3, 0, 1));
        assert_eq!((wald.kind, wald.covered, wald.missing, wald.infinite), (IntervalKind::Wald, 0, 5, 0));
        assert_eq!((exact.of_answered(5), wald.of_answered(5)), (Some(0.6), None));
        assert_eq!((exact.width.count(), exact.width.mean(), wald.width.count()), (4, 3.375, 0));
        assert_eq!(summary.caveats(), (2, Some("short")));
        assert_eq!((summary.notes(), summary.replications(), summary.mse()), (2, 5, 1.0));
    }
}
