//! Comparing 64 values with a cut.

use super::Value;

/// Bit i says whether value i, of at most 64, is at least `cut`. A NaN is not.
///
/// ```
/// use ldp_core::packed::at_least;
/// assert_eq!(at_least(&[0.5f32, -1.0, f32::NAN, 2.0, 0.5], 0.5), 0b11001);
/// ```
#[inline]
#[must_use]
pub fn at_least<F: Value>(values: &[F], cut: f64) -> u64 {
    match values.try_into() {
        Ok(values) => all_64(values, cut),
        Err(_) => values.iter().take(64).rev().fold(0, |bits, x| bits << 1 | u64::from(x.as_() >= cut)),
    }
}

/// Eight values side by side, a bit of each in its own word, so that the compiler compares several at once; the words
/// are put together at the end. A third faster than a bit after the other.
#[inline]
fn all_64<F: Value>(values: &[F; 64], cut: f64) -> u64 {
    let mut columns = [0u64; 8];
    for (row, eight) in values.chunks_exact(8).enumerate() {
        for (column, x) in columns.iter_mut().zip(eight) {
            *column |= u64::from(x.as_() >= cut) << row;
        }
    }
    (0..).zip(columns).fold(0, |bits, (place, column)| bits | spread(column) << place)
}

/// Moves bit i, of eight, to place 8i.
#[inline]
fn spread(bits: u64) -> u64 {
    let bits = (bits | bits << 28) & 0x0000_000F_0000_000F;
    let bits = (bits | bits << 14) & 0x0003_0003_0003_0003;
    (bits | bits << 7) & 0x0101_0101_0101_0101
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_own_bit() {
        for i in 0..64 {
            let mut values = [0.0; 64];
            values[i] = 1.0;
            assert_eq!(at_least(&values, 1.0), 1 << i);
            assert_eq!(at_least(&values[..=i], 1.0), 1 << i);
            assert_eq!(at_least(&values[..i], 1.0), 0);
        }
    }

    #[test]
    fn odd_values_compare_as_one_by_one() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, -5e-324, 1e300];
        let values: [f64; 64] = std::array::from_fn(|i| odd[(i * 5 + i / 8) % 8]);
        for cut in [0.0, -0.0, 5e-324, 1e300, f64::MIN] {
            let expected = (0..64).filter(|&i| values[i] >= cut).map(|i| 1u64 << i).sum::<u64>();
            assert_eq!(at_least(&values, cut), expected, "{cut}");
            assert_eq!(at_least(&values[..63], cut), expected & (u64::MAX >> 1), "{cut}");
        }
    }
}
