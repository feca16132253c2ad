//! Exact random choices by integer weights of 2⁶⁴.

use ldp_core::{Epsilon, Error, Result};
use rand::Rng;

/// 2⁶⁴ − `weight`.
pub(crate) fn complement(weight: u64) -> u128 {
    (1 << 64) - u128::from(weight)
}

/// The largest weight W for which the ratio W · `large` / ((2⁶⁴ − W) · `small`) is proved to be at most e^ε.
///
/// Fails if that ratio is not above one: the report would say nothing. The factors are below 2⁶⁴.
pub(crate) fn largest_weight(epsilon: Epsilon, large: u128, small: u128) -> Result<u64> {
    let fits = |weight: u64| {
        let (above, below) = (u128::from(weight) * large, complement(weight) * small);
        // A ratio of 2⁶⁴ or more has no level.
        epsilon.covers_wide(above, below) && above >> 64 < below
    };
    let mut weight = 0;
    for bit in (0..64).rev() {
        if fits(weight | 1 << bit) {
            weight |= 1 << bit;
        }
    }
    match level(weight, large, small) {
        Ok(_) => Ok(weight),
        Err(_) => Err(Error::EpsilonTooSmall { value: epsilon.value(), reports: 2 }),
    }
}

/// The level of a weight: the smallest that covers the ratio of [`largest_weight`].
pub(crate) fn level(weight: u64, large: u128, small: u128) -> Result<Epsilon> {
    Epsilon::of_wide_ratio(u128::from(weight) * large, complement(weight) * small)
}

/// A uniform whole number below `end` > 0, exactly. How many words it takes depends on the noise alone.
pub(crate) fn below<R: Rng + ?Sized>(end: u64, rng: &mut R) -> u64 {
    // The low halves of word · end that would make some results likelier than others.
    let surplus = end.wrapping_neg() % end;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(end);
        if product as u64 >= surplus {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::{ALPHA, goodness_of_fit};
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn the_largest_weight_is_covered_and_its_successor_is_not() {
        for claim in [1e-6, 0.01, 1.0, 5.0, 30.0, 44.0] {
            for (large, small) in [(1, 1), (1, 3), (5, 2), (1 << 59, (1 << 60) - 1)] {
                let epsilon = Epsilon::new(claim).unwrap();
                let weight = largest_weight(epsilon, large, small).unwrap();
                assert!(level(weight, large, small).unwrap() <= epsilon);
                let next = u128::from(weight) + 1;
                assert!(next == 1 << 64 || !epsilon.covers_wide(next * large, complement(next as u64) * small));
            }
        }
        let tiny = Epsilon::new(1e-25).unwrap();
        assert!(matches!(largest_weight(tiny, 1, 1), Err(Error::EpsilonTooSmall { .. })));
        let high = largest_weight(Epsilon::new(1e6).unwrap(), 1 << 20, 1).unwrap();
        assert!(level(high, 1 << 20, 1).unwrap().value() < 44.4);
    }

    #[test]
    fn whole_numbers_are_uniform() {
        let mut rng = stream(3, Purpose::Noise, 0, 0);
        // An end of 3/4 · 2⁶⁴ refuses a quarter of the words; without that, every third number comes twice as often.
        let end = 3u64 << 62;
        let (mut right, mut wrong) = ([0; 3], [0; 3]);
        for _ in 0..100_000 {
            right[(below(end, &mut rng) % 3) as usize] += 1;
            wrong[((u128::from(rng.next_u64()) * u128::from(end)) >> 64) as usize % 3] += 1;
        }
        assert!(goodness_of_fit(&right, &[1.0 / 3.0; 3]) > ALPHA);
        assert!(goodness_of_fit(&wrong, &[1.0 / 3.0; 3]) < ALPHA);
        assert!((0..100).all(|_| below(1, &mut rng) == 0));
    }
}
