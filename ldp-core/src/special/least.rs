//! The least number with a property, without a scale to be guessed.

/// The least number for which a condition holds, if it holds above every number for which it does.
///
/// By halving the order of all numbers, so that 1e-300 is found as exactly as 1e300, in 64 steps. The largest number if the
/// condition never holds, the smallest if it always does.
///
/// ```
/// use ldp_core::special::least;
/// assert_eq!(least(|x| x >= 2.5e-300), 2.5e-300);
/// // The square root of two, rounded upwards.
/// assert_eq!(least(|x| x > 0.0 && x * x >= 2.0), 2f64.sqrt());
/// ```
pub fn least(holds: impl Fn(f64) -> bool) -> f64 {
    // Its own inverse: the bits of a number, in its order.
    let flip = |bits: i64| bits ^ ((bits >> 63) as u64 >> 1) as i64;
    let (mut low, mut high) = (flip(f64::MIN.to_bits() as i64), flip(f64::MAX.to_bits() as i64));
    while low < high {
        let middle = (i128::from(low) + i128::from(high)).div_euclid(2) as i64;
        if holds(f64::from_bits(flip(middle) as u64)) { high = middle } else { low = middle + 1 }
    }
    f64::from_bits(flip(low) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size() {
        for at in [-1e300, -2.5, -1e-310, 0.0, 1e-300, 1.0, 3.7e15] {
            assert_eq!(least(|x| x >= at), at);
        }
        assert_eq!(least(|_| false), f64::MAX);
        assert_eq!(least(|_| true), f64::MIN);
    }
}
