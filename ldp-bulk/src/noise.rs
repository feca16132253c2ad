//! Independent choices for many users at once, 64 to a word.

use rand::Rng;

/// Words whose noise is drawn together: enough that they share random words, few enough to stay in registers.
pub(super) const WORDS: usize = 8;

/// Digits that are drawn for every word apart, when there are several. After five a thirty-second of the users is
/// undecided: fewer digits are fewer random words, but more turns, and each of them ends in a guess of the processor.
const APART: usize = 5;

/// Independent bits, each set with probability `weight`/2⁶⁴ exactly.
///
/// For every bit a random number is compared with `weight` digit by digit from the top, one random word per digit for 64
/// of them, until all are decided. A single word takes 7.3 random words at ε = 1. Of several words few bits are
/// undecided after five digits, in different places mostly: there they share random words, each bit of which serves one
/// of them, and 5.9 are enough. How many it takes depends on the noise alone.
///
/// ```
/// use ldp_bulk::bernoulli;
/// use rand::{SeedableRng, rngs::ChaCha12Rng};
/// let words: [u64; 8] = bernoulli(1 << 62, &mut ChaCha12Rng::seed_from_u64(1));
/// let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
/// assert!(ones.abs_diff(128) < 60);
/// ```
#[inline(always)]
pub fn bernoulli<const N: usize, R: Rng + ?Sized>(weight: u64, rng: &mut R) -> [u64; N] {
    let (mut less, mut equal) = ([0; N], [u64::MAX; N]);
    let mut digits = weight;
    if N > 1 {
        // All at once: a generator of blocks looks after its buffer once and not for every word.
        let mut bytes = [[[0; 8]; N]; APART];
        rng.fill_bytes(bytes.as_flattened_mut().as_flattened_mut());
        for words in bytes {
            for ((less, equal), word) in less.iter_mut().zip(&mut equal).zip(words) {
                compare(top_digit(digits), u64::from_le_bytes(word), less, equal);
            }
            digits <<= 1;
        }
    }
    in_turns(equal, |taken, mine| {
        let decided = compare_all(digits, taken, rng);
        less.iter_mut().zip(mine).for_each(|(less, mine)| *less |= decided & mine);
    });
    less
}

/// As many random words.
#[inline]
fn draw<const N: usize, R: Rng + ?Sized>(rng: &mut R) -> [u64; N] {
    let mut bytes = [[0; 8]; N];
    rng.fill_bytes(bytes.as_flattened_mut());
    bytes.map(u64::from_le_bytes)
}

/// Lets words that have something `left` share random words: in each turn every place goes to the first word that has it left,
/// and the others wait. Shows all places of a turn, and which of them are whose.
#[inline]
fn in_turns<const N: usize>(mut left: [u64; N], mut turn: impl FnMut(u64, [u64; N])) {
    loop {
        let (mut taken, mut waiting) = (0, 0);
        let mut mine = [0; N];
        for (mine, left) in mine.iter_mut().zip(&mut left) {
            *mine = *left & !taken;
            taken |= *mine;
            *left &= !*mine;
            waiting |= *left;
        }
        turn(taken, mine);
        if waiting == 0 {
            return;
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
/// By rejection: exact, and no words at all where there is no choice. What is rejected is drawn again in turns.
#[inline]
pub(super) fn below<const N: usize, R: Rng + ?Sized>(end: u32, wanted: [u64; N], rng: &mut R, planes: &mut [[u64; N]]) {
    let digits = (u32::BITS - (end - 1).leading_zeros()) as usize;
    if digits == 0 {
        return;
    }
    let planes = &mut planes[..digits];
    let accepted: [u64; N] = candidates(end, planes, || draw(rng));
    if end.is_power_of_two() {
        return;
    }
    let mut left = wanted;
    left.iter_mut().zip(accepted).for_each(|(left, accepted)| *left &= !accepted);
    in_turns(left, |taken, mine| {
        let mut left = taken;
        while left != 0 {
            let mut again = [[0]; u32::BITS as usize];
            let [accepted] = candidates(end, &mut again[..digits], || [rng.next_u64()]);
            let found = left & accepted;
            left &= !accepted;
            for (plane, [again]) in planes.iter_mut().zip(again) {
                for (word, mine) in plane.iter_mut().zip(mine) {
                    *word = (*word & !(mine & found)) | (again & mine & found);
                }
            }
        }
    });
}

/// Random digits into planes; returns where they make a number below `end`. From the highest digit, so that this is known at
/// the end.
#[inline]
fn candidates<const N: usize>(end: u32, planes: &mut [[u64; N]], mut draw: impl FnMut() -> [u64; N]) -> [u64; N] {
    let (mut less, mut equal) = ([0; N], [u64::MAX; N]);
    for (place, plane) in planes.iter_mut().enumerate().rev() {
        *plane = draw();
        let digit = u64::from(end >> place & 1).wrapping_neg();
        for ((less, equal), word) in less.iter_mut().zip(&mut equal).zip(*plane) {
            compare(digit, word, less, equal);
        }
    }
    less
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::{ALPHA, Counting, goodness_of_fit};
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    /// The random words of eight numbers of eight digits, one per word and the same in all of its places.
    fn script(numbers: [u64; 8], limit: u64) -> Vec<u64> {
        let digit = |number: u64, place: usize| (number >> (7 - place) & 1).wrapping_neg();
        let mut words: Vec<u64> = (0..APART).flat_map(|place| numbers.map(|number| digit(number, place))).collect();
        for number in numbers.into_iter().filter(|number| number >> (8 - APART) == limit >> (8 - APART)) {
            // Until it differs, or nothing but zeros is left of the limit.
            for place in APART..8 {
                if limit << (56 + place) == 0 {
                    break;
                }
                words.push(digit(number, place));
                if number >> (7 - place) != limit >> (7 - place) {
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
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            let (words, rest) = bytes.as_chunks_mut::<8>();
            assert!(rest.is_empty(), "whole words are drawn");
            for word in words {
                *word = self.try_next_u64()?.to_le_bytes();
            }
            Ok(())
        }
    }

    /// Every number of eight digits, each once: exactly `limit` of 256 are below, whatever its neighbours draw.
    #[test]
    fn the_probability_is_exact_in_integers() {
        for limit in [1u64, 5, 34, 68, 127, 128, 160, 202, 255] {
            let mut below = 0;
            for first in 0..32 {
                let numbers: [u64; 8] = std::array::from_fn(|k| (first + 32 * k as u64 * 7) % 256);
                let mut told = Told(script(numbers, limit).into_iter());
                let less: [u64; 8] = bernoulli(limit << 56, &mut told);
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
        let p = weight as f64 / ldp_core::channel::two_64();
        let mut rng = Counting::new(Xoshiro256PlusPlus::seed_from_u64(5));
        let blocks: Vec<[u64; 8]> = (0..ROUNDS).map(|_| bernoulli(weight, &mut rng)).collect();
        // 5 digits for 8 words, then shared ones: 47.398 random words in all by summation; 0.2 is six standard errors.
        let words = rng.drawn().1 as f64 / 64.0 / ROUNDS as f64;
        assert!((words - 47.398).abs() < 0.2, "{words}");
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
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        for end in [1u32, 2, 3, 5, 8, 11] {
            let mut counts = vec![0u64; end as usize];
            for _ in 0..400 {
                let wanted = [u64::MAX, 0x00FF_00FF_F0F0_1234, 0];
                let mut planes = [[0; 3]; 4];
                below(end, wanted, &mut rng, &mut planes);
                for (word, lane) in (0..3).flat_map(|word| (0..64).map(move |lane| (word, lane))) {
                    let number = (0..4).map(|j| (planes[j][word] >> lane & 1) << j).sum::<u64>();
                    if wanted[word] >> lane & 1 == 1 {
                        counts[number as usize] += 1;
                    }
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
