//! Sign reports of a slice of values, and the sum of the same slice.

use super::{Outcome, timed};
use benches::question;
use ldp_core::model::{Gaussian, Model};
use ldp_core::packed::CipherRng;
use ldp_core::{Bits, Pack};
use rand::SeedableRng;
use rand::rngs::{SysRng, Xoshiro256PlusPlus};

/// Values from N(1/2, 1), drawn once for as long as tasks are of the same size.
#[derive(Default)]
pub struct Values(Vec<f64>);

impl Values {
    fn of(&mut self, users: u64, seed: u64) -> Outcome<&[f64]> {
        if self.0.len() as u64 != users {
            let model = Gaussian::new(1.0)?;
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            self.0 = (0..users).map(|_| model.sample(0.5, &mut rng)).collect();
        }
        Ok(&self.0)
    }

    /// The share of ones among the reports.
    pub fn signs(&mut self, users: u64, seed: u64) -> Outcome<(f64, Vec<f64>)> {
        let values = self.of(users, seed)?;
        let (seconds, ones) = timed(|| ones(values))?;
        Ok((seconds, vec![ones as f64 / users as f64]))
    }

    /// The mean of the values by eight running sums: how fast a slice can be read at all.
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

/// The one place where the library privatises in bulk: how many reports are 1, noise from ChaCha12 seeded by the system.
fn ones(values: &[f64]) -> Outcome<u64> {
    let mut rng = CipherRng::try_from_rng(&mut SysRng)?;
    let mut reports = Vec::new();
    question().privatize_packed(values, &mut rng, &mut reports);
    Ok(Bits::of_packed(&reports, values.len() as u64)?.ones())
}

fn unrolled_sum(values: &[f64]) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, value) in sums.iter_mut().zip(eight) {
            *sum += value;
        }
    }
    sums.iter().chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_leaves_nothing_out() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        for n in [0, 1, 7, 8, 9, 100] {
            assert_eq!(unrolled_sum(&values[..n]), (n * n.saturating_sub(1) / 2) as f64);
        }
    }
}
