//! Independent choices for many users at once, 64 to a word.

use rand::Rng;

/// Words whose noise is drawn together: enough that they share random words, few enough to stay in registers.
pub(super) const WORDS: usize = 8;

/// Digits that are drawn for every word apart, when there are several. After four a sixteenth of the users is undecided.
const APART: u32 = 4;

/// Independent bits, each set with probability `weight`/2⁶⁴ exactly.
///
/// For every bit a random number is compared with `weight` digit by digit from the top, one random word per digit for 64
/// of them, until all are decided. A single word takes 7.3 random words at ε = 1. Of several words few bits are
/// undecided after four digits, in different places mostly: there they share random words, each bit of which serves one
/// of them, and 5.4 are enough. How many it takes depends on the noise alone.
///
/// ```
/// use ldp_core::packed::bernoulli;
/// use rand::{SeedableRng, rngs::ChaCha12Rng};
/// let words: [u64; 8] = bernoulli(1 << 62, &mut ChaCha12Rng::seed_from_u64(1));
/// let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
/// assert!(ones.abs_diff(128) < 60);
/// ```
#[inline]
pub fn bernoulli<const N: usize, R: Rng + ?Sized>(weight: u64, rng: &mut R) -> [u64; N] {
    let (mut less, mut equal) = ([0; N], [u64::MAX; N]);
    let apart = if N == 1 { 0 } else { APART };
    for place in 0..apart {
        let digit = top_digit(weight << place);
        for (less, equal) in less.iter_mut().zip(&mut equal) {
            compare(digit, rng.next_u64(), less, equal);
        }
    }
    loop {
        // Every place goes to the first word that is undecided there; the others wait for their turn.
        let (mut taken, mut waiting) = (0, 0);
        let mut mine = [0; N];
        for (mine, equal) in mine.iter_mut().zip(&mut equal) {
            *mine = *equal & !taken;
            taken |= *mine;
            *equal &= !*mine;
            waiting |= *equal;
        }
        let decided = compare_all(weight << apart, taken, rng);
        less.iter_mut().zip(mine).for_each(|(less, mine)| *less |= decided & mine);
        if waiting == 0 {
            return less;
        }
    }
}

/// Which of the `undecided` bits draw a number below `digits`.
#[inline]
fn compare_all<R: Rng + ?Sized>(mut digits: u64, mut undecided: u64, rng: &mut R) -> u64 {
    let mut less = 0;
    while undecided != 0 && digits != 0 {
        compare(top_digit(digits), rng.next_u64(), &mut less, &mut undecided);
        digits <<= 1;
    }
    less
}

/// The first binary digit, in every bit of a word.
#[inline]
fn top_digit(digits: u64) -> u64 {
    (digits >> 63).wrapping_neg()
}

/// One digit of 64 comparisons. Without a branch on the digit, which would be as good as a coin to a predictor.
#[inline]
fn compare(digit: u64, word: u64, less: &mut u64, equal: &mut u64) {
    *less |= *equal & digit & !word;
    *equal &= !(word ^ digit);
}

/// A uniform whole number below `end` for each of the bits of `wanted`, into planes; elsewhere the planes hold anything.
///
/// By rejection, for all that are left at a time: exact, and no words at all where there is no choice.
#[inline]
pub(super) fn below<R: Rng + ?Sized>(end: u32, wanted: u64, rng: &mut R, planes: &mut [u64]) {
    let digits = u32::BITS - (end - 1).leading_zeros();
    let mut left = wanted;
    while left != 0 && digits > 0 {
        let (mut less, mut equal) = (0, u64::MAX);
        // From the highest digit, so that what lies below `end` is known at the end.
        for (place, plane) in planes.iter_mut().enumerate().take(digits as usize).rev() {
            let word = rng.next_u64();
            *plane = (*plane & !left) | (word & left);
            compare(u64::from(end >> place & 1).wrapping_neg(), word, &mut less, &mut equal);
        }
        left &= if end.is_power_of_two() { 0 } else { !less };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{ALPHA, Counting, goodness_of_fit};
    use crate::seed::{Purpose, stream};

    /// The random words of eight numbers of seven digits, one per word and the same in all of its places.
    fn script(numbers: [u64; 8], limit: u64) -> Vec<u64> {
        let digit = |number: u64, place: u32| (number >> (6 - place) & 1).wrapping_neg();
        let mut words: Vec<u64> = (0..4).flat_map(|place| numbers.map(|number| digit(number, place))).collect();
        for number in numbers.into_iter().filter(|number| number >> 3 == limit >> 3) {
            // Until it differs, or nothing but zeros is left of the limit.
            for place in 4..7 {
                if limit << (57 + place) == 0 {
                    break;
                }
                words.push(digit(number, place));
                if number >> (6 - place) != limit >> (6 - place) {
                    break;
                }
            }
        }
        words
    }

    /// A generator that says what it is told, and then stops the test.
    struct Told(std::vec::IntoIter<u64>);
    impl rand::TryRng for Told {
        type Error = std::convert::Infallible;
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(self.0.next().expect("no more words are needed"))
        }
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            self.try_next_u64().map(|word| word as u32)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("whole words are drawn")
        }
    }

    /// Every number of seven digits, each once: exactly `limit` of 128 are below, whatever its neighbours draw.
    #[test]
    fn the_probability_is_exact_in_integers() {
        for limit in [1u64, 5, 34, 63, 64, 80, 101, 127] {
            let mut below = 0;
            for first in 0..16 {
                let numbers: [u64; 8] = std::array::from_fn(|k| (first + 16 * k as u64 * 7) % 128);
                let mut told = Told(script(numbers, limit).into_iter());
                let less: [u64; 8] = bernoulli(limit << 57, &mut told);
                assert_eq!(told.0.len(), 0, "all words are used");
                for (less, number) in less.into_iter().zip(numbers) {
                    assert_eq!(less, if number < limit { u64::MAX } else { 0 }, "{number} of {limit}");
                    below += less & 1;
                }
            }
            assert_eq!(below, limit);
        }
    }

    /// 10,000 blocks of 512. Per place of a word a chi-square against p, and the correlation of the same place in two
    /// words, α = 1e-6 each; a sampler that lets two words share a bit is rejected, and p off by 2 %.
    #[test]
    fn bits_are_independent_and_words_few() {
        const ROUNDS: u64 = 10_000;
        let weight = 4_961_093_570_831_980_854u64;
        let p = weight as f64 / crate::channel::two_64();
        let mut rng = Counting::new(stream(5, Purpose::Noise, 0, 0));
        let blocks: Vec<[u64; 8]> = (0..ROUNDS).map(|_| bernoulli(weight, &mut rng)).collect();
        // 4 digits for 8 words, then shared ones: 43.056 random words in all by summation; 0.2 is six standard errors.
        let words = rng.drawn().0 as f64 / ROUNDS as f64;
        assert!((words - 43.056).abs() < 0.2, "{words}");
        let mut places = [0u64; 512];
        for block in &blocks {
            for (i, count) in places.iter_mut().enumerate() {
                *count += block[i / 64] >> (i % 64) & 1;
            }
        }
        let fits = |count: u64, p: f64| goodness_of_fit(&[count, ROUNDS - count], &[p, 1.0 - p]) > ALPHA;
        assert!(places.iter().all(|&count| fits(count, p)), "{places:?}");
        let total = |blocks: &[[u64; 8]]| blocks.iter().flatten().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let all = |p: f64| goodness_of_fit(&[total(&blocks), 512 * ROUNDS - total(&blocks)], &[p, 1.0 - p]);
        assert!(all(p) > ALPHA && all(1.02 * p) < ALPHA);
        // The same place in two words: the products of what they are off by, uncorrelated, in standard deviations of their sum.
        let shared = |blocks: &[[u64; 8]]| {
            let mut sum = 0.0;
            for (block, place) in blocks.iter().flat_map(|block| (0..64).map(move |place| (block, place))) {
                let off = block.map(|word| (word >> place & 1) as f64 - p);
                sum += 0.5 * (off.iter().sum::<f64>().powi(2) - off.iter().map(|x| x * x).sum::<f64>());
            }
            sum / ((28 * 64 * ROUNDS) as f64).sqrt() / (p * (1.0 - p))
        };
        assert!(shared(&blocks).abs() < 4.9, "{}", shared(&blocks));
        // Undecided bits of all words that share random words without taking turns.
        let mutant = |_| {
            let (mut less, mut equal) = ([0; 8], [u64::MAX; 8]);
            for place in 0..64 {
                let shared = rng.next_u64();
                for (less, equal) in less.iter_mut().zip(&mut equal) {
                    let word = if place < 4 { rng.next_u64() } else { shared };
                    compare(top_digit(weight << place), word, less, equal);
                }
            }
            less
        };
        let mutants: Vec<[u64; 8]> = (0..ROUNDS).map(mutant).collect();
        assert!(shared(&mutants) > 4.9, "{}", shared(&mutants));
    }

    #[test]
    fn whole_numbers_are_uniform_where_they_are_wanted() {
        let mut rng = stream(6, Purpose::Noise, 0, 0);
        for end in [1u32, 2, 3, 5, 8, 11] {
            let mut counts = vec![0u64; end as usize];
            for wanted in [u64::MAX, 0x00FF_00FF_F0F0_1234, 0].repeat(400) {
                let mut planes = [0; 4];
                below(end, wanted, &mut rng, &mut planes);
                for lane in (0..64).filter(|lane| wanted >> lane & 1 == 1) {
                    let number = (0..4).map(|j| (planes[j] >> lane & 1) << j).sum::<u64>();
                    counts[number as usize] += 1;
                }
            }
            let law = vec![1.0 / f64::from(end); end as usize];
            assert!(goodness_of_fit(&counts, &law) > ALPHA, "{end}: {counts:?}");
            if end > 1 {
                counts[0] += counts[0] / 4;
                assert!(goodness_of_fit(&counts, &law) < ALPHA, "{end}: the mutant passes");
            }
        }
    }
}
