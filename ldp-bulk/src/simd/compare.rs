//! Comparing a block of values with a cut.

use crate::{BLOCK, Value, first};

/// A word for every 64 values.
type Words = [u64; BLOCK / 64];

/// Bit i of word j says whether value 64j + i, of at most [`BLOCK`], is at least `cut`. A NaN is not; bits beyond the last value
/// are zero.
///
/// ```
/// use ldp_bulk::at_least;
/// assert_eq!(at_least(&[0.5f32, -1.0, f32::NAN, 2.0, 0.5], 0.5), [0b11001, 0, 0, 0, 0, 0, 0, 0]);
/// ```
#[inline]
#[must_use]
pub fn at_least<F: Value>(values: &[F], cut: f64) -> Words {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { four_at_a_time(values, cut) };
    }
    narrow(values, cut)
}

/// For every processor: the compiler finds what comparisons it has.
fn narrow<F: Value>(values: &[F], cut: f64) -> Words {
    each_64(values, |values| all_64(values, cut))
}

/// Four comparisons at a time, whose signs are four bits.
///
/// Left to the compiler with the same instruction set, values in the cache take four times as long; with the registers of
/// AVX-512 they are no faster, because values come from memory.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn four_at_a_time<F: Value>(values: &[F], cut: f64) -> Words {
    use std::arch::x86_64::{_CMP_GE_OQ, _mm256_cmp_pd, _mm256_movemask_pd, _mm256_set1_pd, _mm256_setr_pd};
    let cuts = _mm256_set1_pd(cut);
    each_64(values, |values| {
        let fours = values.as_chunks::<4>().0.iter().enumerate();
        fours.fold(0, |bits, (i, &[a, b, c, d])| {
            let four = _mm256_cmp_pd::<_CMP_GE_OQ>(_mm256_setr_pd(a.as_(), b.as_(), c.as_(), d.as_()), cuts);
            bits | u64::from(_mm256_movemask_pd(four).cast_unsigned()) << (4 * i)
        })
    })
}

/// A word for every 64 values; the last are made 64 by zeros whose bits are dropped.
#[inline(always)]
fn each_64<F: Value>(values: &[F], word: impl Fn(&[F; 64]) -> u64) -> Words {
    let mut words = [0; BLOCK / 64];
    let (groups, rest) = values.as_chunks::<64>();
    words.iter_mut().zip(groups).for_each(|(out, group)| *out = word(group));
    if let Some(out) = words.get_mut(groups.len()).filter(|_| !rest.is_empty()) {
        let mut group = [F::zero(); 64];
        group[..rest.len()].copy_from_slice(rest);
        *out = word(&group) & first(rest.len());
    }
    words
}

/// Eight values side by side, a bit of each in its own word, so that the compiler compares several at once; the words
/// are put together at the end. A third faster than a bit after the other.
#[inline(always)]
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

    /// What every form says of the same values; without AVX2 it is the same form twice.
    fn forms(values: &[f64], cut: f64) -> [Words; 2] {
        [at_least(values, cut), narrow(values, cut)]
    }

    #[test]
    fn every_place_has_its_own_bit() {
        for i in 0..BLOCK {
            let mut values = [0.0; BLOCK];
            values[i] = 1.0;
            let mut expected = [0; BLOCK / 64];
            expected[i / 64] = 1 << (i % 64);
            assert_eq!(forms(&values, 1.0), [expected; 2]);
            assert_eq!(forms(&values[..=i], 1.0), [expected; 2]);
            assert_eq!(forms(&values[..i], 1.0), [[0; BLOCK / 64]; 2]);
            // The zeros that fill up the last word are not counted, although they are large enough.
            let ones = |words: Words| words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            assert_eq!(forms(&values[..i], -1.0).map(ones), [i; 2]);
        }
    }

    #[test]
    fn odd_values_compare_as_one_by_one() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, -5e-324, 1e300];
        let values: [f64; 64] = std::array::from_fn(|i| odd[(i * 5 + i / 8) % 8]);
        for cut in [0.0, -0.0, 5e-324, 1e300, f64::MIN] {
            let expected = (0..64).filter(|&i| values[i] >= cut).map(|i| 1u64 << i).sum::<u64>();
            for [words, others] in [forms(&values, cut), forms(&values[..63], cut)] {
                assert_eq!(words, others, "{cut}");
                assert_eq!(words[0] & (u64::MAX >> 1), expected & (u64::MAX >> 1), "{cut}");
            }
            assert_eq!(at_least(&values, cut)[0], expected, "{cut}");
        }
    }

    #[test]
    fn narrow_values_are_with_avx2_exactly() {
        // A cut between two neighbours among the f32.
        let (value, cut) = (1.0f32, 1.0 + f64::EPSILON);
        assert_eq!((at_least(&[value; 64], cut)[0], at_least(&[value.next_up(); 64], cut)[0]), (0, u64::MAX));
        assert_eq!(at_least(&[value; 64], 1.0)[0], u64::MAX);
    }
}
