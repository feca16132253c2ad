//! Sign reports of a slice of values, and the sum of the same slice.

use super::{Outcome, timed};
use benches::{epsilon, question, unrolled_sum};
use ldp_bulk::{Pack, bits_of_packed, counts_of_packed};
use ldp_core::model::{Gaussian, Model};
use ldp_mechanisms::RandomizedResponse;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Values from N(1/2, 1), drawn once for as long as tasks are of the same size; and categories.
#[derive(Default)]
pub struct Values {
    drawn: Vec<f64>,
    categories: (u64, Vec<f64>),
}

impl Values {
    fn of(&mut self, users: u64, seed: u64) -> Outcome<&[f64]> {
        if self.drawn.len() as u64 != users {
            let model = Gaussian::new(1.0)?;
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            self.drawn = (0..users).map(|_| model.sample(0.5, &mut rng)).collect();
        }
        Ok(&self.drawn)
    }

    /// The share of ones among the reports.
    pub fn signs(&mut self, users: u64, seed: u64) -> Outcome<(f64, Vec<f64>)> {
        let values = self.of(users, seed)?;
        let (seconds, ones) = timed(|| ones(values))?;
        Ok((seconds, vec![ones as f64 / users as f64]))
    }

    /// The share of the first category among the reports, with every category as common.
    pub fn categories(&mut self, users: u64, k: u64, seed: u64) -> Outcome<(f64, Vec<f64>)> {
        let (of, values) = &mut self.categories;
        if (*of, values.len() as u64) != (k, users) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            (*of, *values) = (k, (0..users).map(|_| rng.random_range(0..k) as f64).collect());
        }
        let (seconds, tally) = timed(|| counts(values, k))?;
        Ok((seconds, vec![tally.counts()[0] as f64 / users as f64]))
    }

    /// The mean of the values by running sums: how fast a slice can be read at all.
    pub fn sum(&mut self, users: u64, seed: u64) -> Outcome<(f64, Vec<f64>)> {
        let values = self.of(users, seed)?;
        let (seconds, sum) = timed(|| Ok(unrolled_sum(values)))?;
        Ok((seconds, vec![sum / users as f64]))
    }
}

/// How often a report is false where the value is above the threshold, and where it is below.
pub fn flips(users: u64) -> Outcome<(f64, Vec<f64>)> {
    let size = usize::try_from(users)?;
    let (above, below) = (vec![1.0; size], vec![-1.0; size]);
    let (seconds, [above, below]) = timed(|| Ok([users - ones(&above)?, ones(&below)?]))?;
    Ok((seconds, vec![above as f64 / users as f64, below as f64 / users as f64]))
}

/// How often a report is false where the value is the first category, and where it is the last.
pub fn category_lies(users: u64, k: u64) -> Outcome<(f64, Vec<f64>)> {
    let size = usize::try_from(users)?;
    let (first, last) = (vec![0.0; size], vec![(k - 1) as f64; size]);
    let (seconds, found) = timed(|| Ok([(counts(&first, k)?, 0), (counts(&last, k)?, k - 1)]))?;
    let lies = found.map(|(tally, truth)| 1.0 - tally.counts()[truth as usize] as f64 / users as f64);
    Ok((seconds, lies.to_vec()))
}

/// Randomised response over k categories in bulk: how many reports there are of each.
fn counts(values: &[f64], k: u64) -> Outcome<ldp_core::Counts> {
    let k = u32::try_from(k)?;
    let mut rng = ldp_bulk::BulkRng::new()?;
    let mut reports = Vec::new();
    RandomizedResponse::new(epsilon()?, k)?.privatize_packed(values, &mut rng, &mut reports);
    Ok(counts_of_packed(k, &reports, values.len() as u64)?)
}

/// The one place where the library privatises signs in bulk: how many reports are 1, noise from ChaCha12 seeded by the system.
fn ones(values: &[f64]) -> Outcome<u64> {
    let mut rng = ldp_bulk::BulkRng::new()?;
    let mut reports = Vec::new();
    question().privatize_packed(values, &mut rng, &mut reports);
    Ok(bits_of_packed(&reports, values.len() as u64)?.ones())
}
