//! Signs of many users at once.

use super::Sign;
use ldp_bulk::simd::with_avx2;
use ldp_bulk::{BLOCK, Pack, Value, at_least, bernoulli, first};
use rand::Rng;

impl Sign {
    /// How many of these inputs are reported as 1, each with noise of its own.
    #[inline]
    pub(super) fn ones_of<R: Rng + ?Sized>(&self, inputs: &[f64], rng: &mut R) -> u64 {
        let mut ones = 0;
        with_avx2(
            #[inline(always)]
            || {
                for block in inputs.chunks(BLOCK) {
                    ones += self.reports_of(block, rng).iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                }
            },
        );
        ones
    }

    /// The reports of at most a block, 64 to a word.
    #[inline(always)]
    fn reports_of<F: Value, R: Rng + ?Sized>(&self, values: &[F], rng: &mut R) -> [u64; BLOCK / 64] {
        let mut words = [0; BLOCK / 64];
        if values.len() <= 64 {
            // A few users, as a batch of a sequential protocol, do not pay for a whole block.
            [words[0]] = bernoulli(self.lie, rng);
        } else {
            words = bernoulli(self.lie, rng);
        }
        let above = at_least(values, self.threshold);
        for (i, (word, above)) in words.iter_mut().zip(above).enumerate() {
            *word = (*word ^ above) & first(values.len().saturating_sub(64 * i));
        }
        words
    }
}

impl Pack for Sign {
    #[inline(always)]
    fn pack_block<F: Value, R: Rng + ?Sized>(&self, values: &[F], rng: &mut R, out: &mut Vec<u64>) {
        out.extend_from_slice(&self.reports_of(values, rng)[..values.len().div_ceil(64)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::channel::two_64;
    use ldp_core::conformance::Counting;
    use ldp_core::{Bits, Epsilon, Mechanism, Tally};
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn bulk_lies_are_exact_bit_by_bit() {
        let sign = Sign::new(Epsilon::new(1.0).unwrap(), 0.0).unwrap();
        let mut rng = Counting::new(stream(5, Purpose::Noise, 0, 0));
        let rounds = 40_000u64;
        let mut per_lane = [0u64; 64];
        for _ in 0..rounds {
            let [lies] = bernoulli(sign.lie(), &mut rng);
            for (lane, count) in per_lane.iter_mut().enumerate() {
                *count += lies >> lane & 1;
            }
        }
        // Words until all 64 lanes are decided: the mean of the largest of 64 geometric waiting times is 7.344, its
        // standard deviation 1.86; over 40,000 rounds 0.05 is five standard errors.
        let words = rng.drawn().0 as f64 / rounds as f64;
        assert!((words - 7.344).abs() < 0.05, "{words}");
        // Per lane a two-sided binomial test at α = 1e-6; a lane that never lies, or p off by 10 %, fails it.
        let p = sign.lie() as f64 / two_64();
        let accepts = |count: u64, p: f64| {
            use ldp_core::special::binomial::{cdf, sf};
            cdf(count, rounds, p) > 5e-7 && sf(count, rounds, p) > 5e-7
        };
        assert!(per_lane.iter().all(|&count| accepts(count, p)), "{per_lane:?}");
        assert!(!accepts(per_lane[63], 1.1 * p) && !accepts(0, p));
    }

    #[test]
    fn a_short_last_chunk_counts_its_own_users_only() {
        let sign = Sign::new(Epsilon::new(44.0).unwrap(), 0.0).unwrap();
        let mut rng = stream(6, Purpose::Noise, 0, 0);
        for n in [0, 1, 63, 64, 65, 130] {
            let mut tally = Bits::default();
            sign.simulate_all(&vec![1.0; n], &mut rng, &mut tally).unwrap();
            assert_eq!((tally.ones(), tally.users()), (n as u64, n as u64));
        }
    }
}
