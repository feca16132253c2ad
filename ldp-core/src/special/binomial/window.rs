//! The counts that matter, and their probabilities one after the other.

use super::{deviance, pmf, two_product};

/// Probabilities are worked out afresh after so many steps of the recurrence, each of which rounds by about 2e-16.
const FRESH: u64 = 64;

/// Probabilities from here down are each worked out afresh.
const TINY: f64 = 1e-290;

/// A binomial law by both of its probabilities: next to one the other one has the digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// The number of trials.
    pub trials: u64,
    /// The probability of a zero.
    pub zero: f64,
    /// The probability of a one.
    pub one: f64,
}

impl Law {
    /// The law of two probabilities that add up to one but for rounding.
    #[must_use]
    pub fn new(trials: u64, zero: f64, one: f64) -> Self {
        let sum = zero + one;
        Self { trials, zero: zero / sum, one: one / sum }
    }

    /// The standard deviation of the number of ones.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        (self.trials as f64 * self.zero * self.one).sqrt()
    }

    fn pmf(&self, ones: u64) -> f64 {
        if self.one <= 0.5 { pmf(ones, self.trials, self.one) } else { pmf(self.trials - ones, self.trials, self.zero) }
    }

    /// $n\,\mathrm{KL}(k/n \,\|\, p)$: on its side of the mean, $P(X \text{ at least as far out as } k) \le e^{-nKL}$.
    fn divergence(&self, ones: u64) -> f64 {
        let trials = self.trials as f64;
        let part = |count: u64, p: f64| {
            let (mean, rest) = two_product(trials, p);
            match count {
                0 => mean,
                _ => deviance(count as f64, mean, (count as f64 - mean) - rest),
            }
        };
        part(ones, self.one) + part(self.trials - ones, self.zero)
    }
}

/// The counts outside of which hardly any probability lies, and a bound on how much.
///
/// By Chernoff's bound, $P(X \ge k) \le e^{-n\,\mathrm{KL}(k/n \| p)}$ for $k \ge np$ and likewise below: a count is cut only where
/// that is at most `tail`. A fixed number of standard deviations would be wrong for small p, where the upper tail is that
/// of a Poisson law.
///
/// ```
/// use ldp_core::special::binomial::{Window, cdf, sf};
/// let window = Window::new(1000, [0.99, 0.01], 1e-9);
/// assert_eq!(window.first, 0);
/// assert!(sf(window.last + 1, 1000, 0.01) <= window.lost && window.lost <= 2e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The smallest count.
    pub first: u64,
    /// The largest count.
    pub last: u64,
    /// At least the probability outside.
    pub lost: f64,
}

impl Window {
    /// The window of `trials` trials with probabilities `[zero, one]`, at most `tail` cut off on either side.
    #[must_use]
    pub fn new(trials: u64, [zero, one]: [f64; 2], tail: f64) -> Self {
        Self::of(&Law::new(trials, zero, one), tail)
    }

    /// The window of a law, at most `tail` cut off on either side.
    #[must_use]
    pub fn of(law: &Law, tail: f64) -> Self {
        if law.one <= 0.0 || law.zero <= 0.0 {
            let certain = if law.one <= 0.0 { 0 } else { law.trials };
            return Self { first: certain, last: certain, lost: 0.0 };
        }
        // A little beyond what is needed, for what rounding does to the divergence.
        let cut = -tail.ln() + 1e-6;
        let centre = ((law.trials as f64 * law.one) as u64).min(law.trials);
        let kept = |ones: u64| law.divergence(ones) < cut;
        let mut lost = 0.0;
        let mut bound = |ones: u64| lost += (1e-6 - law.divergence(ones)).exp();
        // The first count kept below the centre, the last one above: the divergence grows outwards.
        let first = boundary(centre, |out| kept(centre - out));
        let first = centre - first;
        if first > 0 {
            bound(first - 1);
        }
        let reach = law.trials - centre;
        let last = centre + boundary(reach, |out| kept(centre + out));
        if last < law.trials {
            bound(last + 1);
        }
        Self { first, last, lost }
    }

    /// How many counts.
    #[must_use]
    pub fn counts(&self) -> u64 {
        self.last - self.first + 1
    }
}

/// The largest number up to `most` for which a decreasing condition holds; zero if none does.
fn boundary(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    if holds(most) {
        return most;
    }
    let (mut yes, mut no) = (0, most);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}

/// The counts from one to another, every `stride`-th of them, with their probabilities.
///
/// Neighbours come from each other by the ratio $\frac{n-k}{k+1}\frac{p}{1-p}$, a tenth of the work of [`pmf`].
///
/// ```
/// use ldp_core::special::binomial::{Probabilities, pmf};
/// let run = Probabilities::new(50, [0.7, 0.3], 5, 40, 1);
/// assert!(run.into_iter().all(|(count, p)| (p / pmf(count, 50, 0.3) - 1.0).abs() < 1e-13));
/// ```
#[derive(Clone, Debug)]
pub struct Probabilities {
    law: Law,
    odds: f64,
    next: u64,
    last: u64,
    stride: u64,
    /// Steps until the next fresh value, and the value before it.
    fresh_in: u64,
    value: f64,
    done: bool,
}

impl Probabilities {
    /// Of `trials` trials with probabilities `[zero, one]`, the counts `first`, `first + stride`, … up to `last`.
    #[must_use]
    pub fn new(trials: u64, [zero, one]: [f64; 2], first: u64, last: u64, stride: u64) -> Self {
        Self::of(Law::new(trials, zero, one), first, last, stride)
    }

    /// Of a law, the counts `first`, `first + stride`, … up to `last`.
    #[must_use]
    pub fn of(law: Law, first: u64, last: u64, stride: u64) -> Self {
        let last = last.min(law.trials);
        let odds = law.one / law.zero;
        Self { law, odds, next: first, last, stride: stride.max(1), fresh_in: 0, value: 0.0, done: first > last }
    }
}

impl Iterator for Probabilities {
    type Item = (u64, f64);

    #[inline]
    fn next(&mut self) -> Option<(u64, f64)> {
        if self.done {
            return None;
        }
        let ones = self.next;
        if self.fresh_in == 0 || self.stride > 1 {
            self.value = self.law.pmf(ones);
            self.fresh_in = FRESH;
        }
        let item = (ones, self.value);
        // From a value that has underflowed, or has lost digits to it, no ratio leads on: it would stay zero or wrong also
        // where the law comes back.
        self.fresh_in = if self.value < TINY { 0 } else { self.fresh_in - 1 };
        self.value *= (self.law.trials - ones) as f64 / (ones + 1) as f64 * self.odds;
        match ones.checked_add(self.stride) {
            Some(next) if next <= self.last => self.next = next,
            _ => self.done = true,
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{cdf, sf};
    use super::*;

    const LAWS: [(u64, f64); 9] = [
        (1, 0.3),
        (7, 0.5),
        (100, 1e-3),
        (100, 0.999),
        (10_000, 0.42),
        (10_000, 1e-6),
        (1_000_000, 0.731),
        (1_000_000_000, 0.5),
        (1_000_000_000_000, 0.27),
    ];

    #[test]
    fn what_is_cut_is_bounded_and_no_more_is_kept_than_needed() {
        for (trials, p) in LAWS {
            for tail in [0.1, 1e-6, 1e-20] {
                let window = Window::new(trials, [1.0 - p, p], tail);
                let outside = if window.first > 0 { cdf(window.first - 1, trials, p) } else { 0.0 }
                    + if window.last < trials { sf(window.last + 1, trials, p) } else { 0.0 };
                assert!(outside <= window.lost && window.lost <= 2.0 * tail, "{trials} {p} {tail}: {window:?}");
                // One count further in, Chernoff's bound is above the tail.
                let law = Law::new(trials, 1.0 - p, p);
                let mean = trials as f64 * p;
                if window.first > 0 && (window.first as f64) < mean - 1.0 {
                    assert!(law.divergence(window.first) < -tail.ln() + 1e-5);
                }
                assert!(window.first as f64 <= mean && mean - 1.0 <= window.last as f64);
            }
        }
        let certain = Window::new(9, [0.0, 1.0], 1e-9);
        assert_eq!((certain.first, certain.last, certain.lost), (9, 9, 0.0));
    }

    #[test]
    fn a_run_has_the_probabilities_of_its_counts() {
        for (trials, p) in LAWS {
            let window = Window::new(trials, [1.0 - p, p], 1e-15);
            let last = window.last.min(window.first + 20_000);
            let mut count = window.first;
            for (ones, probability) in Probabilities::new(trials, [1.0 - p, p], window.first, last, 1) {
                assert_eq!(ones, count);
                let exact = pmf(ones, trials, p);
                assert!((probability / exact - 1.0).abs() < 2e-12, "{trials} {p} {ones}: {probability} {exact}");
                count += 1;
            }
            assert_eq!(count, last + 1);
            let thinned: Vec<_> = Probabilities::new(trials, [1.0 - p, p], window.first, last, 3).collect();
            assert!(thinned.iter().all(|(ones, _)| (ones - window.first).is_multiple_of(3)));
            assert_eq!(thinned.len() as u64, (last - window.first) / 3 + 1);
        }
    }

    #[test]
    fn a_run_that_begins_at_zero_finds_the_law() {
        // P(X = 60) of a hundred near-certain trials is 1e-772; that of a hundred is nearly one.
        let law = [1e-20, 1.0 - 1e-20];
        let run: Vec<_> = Probabilities::new(100, law, 60, 100, 1).collect();
        assert_eq!(run[0], (60, 0.0));
        for (ones, probability) in run {
            let exact = pmf(100 - ones, 100, 1e-20);
            let close = if exact > 1e-300 { (probability / exact - 1.0).abs() < 1e-12 } else { probability < 1e-299 };
            assert!(close, "{ones}: {probability} {exact}");
        }
    }

    /// The reason why sums may be thinned: over every h-th count a smooth function has the same mean to rounding as long
    /// as h is at most about a standard deviation, and not when h is larger.
    #[test]
    fn a_coarse_lattice_has_the_moments_of_the_fine_one() {
        let (trials, p) = (100_000, 0.42);
        let window = Window::new(trials, [1.0 - p, p], 1e-20);
        let deviation = (trials as f64 * p * (1.0 - p)).sqrt();
        let moment = |stride: u64| -> f64 {
            let run = Probabilities::new(trials, [1.0 - p, p], window.first, window.last, stride);
            run.map(|(ones, q)| stride as f64 * q * ((ones as f64 - trials as f64 * p) / deviation).powi(4)).sum()
        };
        let every = moment(1);
        assert!((every - 3.0).abs() < 1e-4);
        for stride in [2, 10, (deviation / 2.0) as u64, deviation as u64] {
            let error = (moment(stride) / every - 1.0).abs();
            assert!(error < if stride < 100 { 1e-13 } else { 1e-4 }, "{stride}: {error}");
        }
        assert!((moment(2 * deviation as u64) / every - 1.0).abs() > 1e-3);
    }
}
