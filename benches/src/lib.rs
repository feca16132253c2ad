//! What the benchmarks share: the sequential median, written out by hand; [`protocols`] to simulate; how time grows,
//! [`scaling`]; whether time tells what was answered, [`timing`]; and the comparison with other software, [`peers`].
//!
//! One user per round, 200,000 rounds: whatever the framework costs per round shows here undiluted.

#![forbid(unsafe_code)]

mod numbers;
pub mod peers;
pub mod protocols;
pub mod scaling;
pub mod timing;

use ldp_core::{Epsilon, Group, Mechanism, Population, Result, Tally};
use ldp_estimators::Liu;
use ldp_mechanisms::Sign;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::StandardNormal;

/// The sum of a slice in sixteen parts: how fast it can be read at all.
#[must_use]
pub fn unrolled_sum(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut parts = [0.0; 16];
    for chunk in chunks {
        parts.iter_mut().zip(chunk).for_each(|(part, x)| *part += x);
    }
    parts.iter().chain(rest).sum()
}

/// Users drawn one at a time from one generator, as a hand-written loop would.
pub struct Drawn {
    rng: Xoshiro256PlusPlus,
}

impl Drawn {
    /// Users with values from N(0.5, 1).
    pub fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

impl<T: Tally<Report = u32>> Population<Sign, T> for Drawn {
    #[inline(always)]
    fn answer(&mut self, group: &Group<Sign>, tally: &mut T) -> Result<()> {
        if group.users == 1 {
            return self.one(group, tally);
        }
        (0..group.users).try_for_each(|_| self.one(group, tally))
    }
}

impl Drawn {
    #[inline(always)]
    fn one<T: Tally<Report = u32>>(&mut self, group: &Group<Sign>, tally: &mut T) -> Result<()> {
        let x = 0.5 + self.rng.sample::<f64, _>(StandardNormal);
        tally.push(group.question.privatize(&x, &mut self.rng), 1)
    }
}

/// The sequential median of [`Liu`] over the users of [`Drawn`], with the running sums of its interval: the value and
/// the measure of its spread.
pub fn liu_by_hand(start: f64, lie: u64, users: u64, seed: u64) -> (f64, f64) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut q, mut path, mut squares, mut cross) = (start, 0.0, 0.0, 0.0);
    for m in 1..=users {
        let x = 0.5 + rng.sample::<f64, _>(StandardNormal);
        let above = (x >= q) ^ (rng.next_u64() < lie);
        let step = Liu::step(m);
        q += if above { 0.5 * step } else { -0.5 * step };
        path += q - start;
        squares += path * path;
        cross += m as f64 * path;
    }
    let n = users as f64;
    let away = path / n;
    let weights = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
    (start + away, (squares - 2.0 * away * cross + away * away * weights) / (n * n * n))
}

/// The sign question all benchmarks ask: ε = 1 at 0.
pub fn question() -> Sign {
    epsilon().and_then(|epsilon| Sign::new(epsilon, 0.0)).expect("valid numbers")
}

/// ε = 1.
pub fn epsilon() -> Result<Epsilon> {
    Epsilon::new(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::{Inference, IntervalKind};

    #[test]
    fn the_sum_leaves_nothing_out() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        for n in [0, 1, 15, 16, 17, 100] {
            assert_eq!(unrolled_sum(&values[..n]), (n * n.saturating_sub(1) / 2) as f64);
        }
    }

    #[test]
    fn both_loops_take_the_same_path() {
        let liu = Liu::new(epsilon().unwrap(), 0.0).unwrap();
        let estimate = ldp_core::run(&liu, 10_000, &mut Drawn::new(7)).unwrap();
        let (value, spread) = liu_by_hand(0.0, question().lie(), 10_000, 7);
        assert_eq!(estimate.value(), value);
        let interval = estimate.interval(IntervalKind::SelfNormalised, 0.95).unwrap();
        assert!((interval.width() / (2.0 * 6.747_30 * spread.sqrt()) - 1.0).abs() < 1e-5);
        assert!((value - 0.5).abs() < 0.3);
    }
}
