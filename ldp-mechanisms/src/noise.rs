//! What the mechanisms with noise in floating point share: their uniform numbers and their levels.

use ldp_core::{Epsilon, Result, error::require};

/// A uniform number in (0, 1) from the top 52 bits of a word, in the middle of its cell: `u` and `1 − u` are exact and
/// never zero, so that their logarithms are finite. The lowest 12 bits are free for other use.
#[inline]
pub(crate) fn uniform(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// Levels at which noise in floating point is neither lost in the value nor beyond what a tally can add.
pub(crate) fn check_level(epsilon: Epsilon) -> Result<()> {
    let level = epsilon.value();
    require((1e-7..=40.0).contains(&level), "epsilon", "between 1e-7 and 40 for a mechanism with real reports", level)
}

/// ln(1 + growth), rounded outwards: never below the real number.
///
/// The library's `ln_1p` is within one unit in the last place; the factor adds at least one and a half.
pub(crate) fn level(growth: f64) -> f64 {
    growth.ln_1p() * (1.0 + 2.0 * f64::EPSILON)
}

/// The growth $e^\varepsilon - 1$ of a ratio, such that its [`level`] is at most ε: exactly, in `f64`.
///
/// The growth and not the ratio is what mechanisms store: at ε = 1e-6 the ratio has lost six digits of the level.
pub(crate) fn growth(epsilon: f64) -> f64 {
    let mut growth = epsilon.exp_m1();
    while level(growth) > epsilon {
        growth = growth.next_down();
    }
    growth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_numbers_are_inside_and_symmetric() {
        for word in [0, 1, 1 << 12, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef] {
            let u = uniform(word);
            assert!(u > 0.0 && u < 1.0);
            assert_eq!(1.0 - u, uniform(!word));
        }
    }

    #[test]
    fn growths_are_within_their_level_and_lose_nothing() {
        for epsilon in [1e-7, 1e-6, 1e-3, 0.01, 0.2, 1.0, 4.0, 5.0, 10.0, 30.0, 40.0] {
            let found = level(growth(epsilon));
            assert!(found <= epsilon && found >= epsilon * (1.0 - 1e-14), "{found} for {epsilon}");
        }
    }
}
