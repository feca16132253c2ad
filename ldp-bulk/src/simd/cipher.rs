//! ChaCha12 for privatising in bulk.

use super::{cipher_any, wipe};
use rand::SeedableRng;
use rand::rand_core::block::{BlockRng, Generator};
use rand::rand_core::{TryCryptoRng, TryRng};
use std::convert::Infallible;
use std::fmt;

/// Blocks of 64 bytes that are made at a time.
pub(super) const BLOCKS: usize = 16;
/// What they are, in words.
pub(super) const WORDS: usize = 16 * BLOCKS;
/// «expand 32-byte k».
pub(super) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
/// Two rounds are one on the columns and one on the diagonals.
pub(super) const DOUBLE_ROUNDS: usize = 6;

/// A cryptographic generator for bulk: the words of `ChaCha12Rng` from the same seed, made sixteen blocks at a time.
///
/// Key and words are wiped when it is dropped. Real data take it from the system alone, as [`BulkRng`](crate::BulkRng).
///
/// # Design
/// With `ChaCha12Rng`, which makes four blocks at a time with AVX2 and is not wiped, the generator is more than half of the time
/// of a packed sign report. Where the processor has AVX-512 a random word takes half as long here.
///
/// ```
/// use ldp_bulk::CipherRng;
/// use rand::rngs::ChaCha12Rng;
/// use rand::{Rng, SeedableRng};
/// let (mut wide, mut narrow) = (CipherRng::from_seed([7; 32]), ChaCha12Rng::from_seed([7; 32]));
/// assert_eq!(wide.next_u64(), narrow.next_u64());
/// ```
pub struct CipherRng(BlockRng<Source>);

/// Where the blocks come from: a key, and the number of the next block.
struct Source {
    key: [u32; 8],
    next: u64,
    #[cfg(target_arch = "x86_64")]
    wide: Option<super::cipher_512::Wide>,
}

impl Source {
    fn new(seed: &[u8; 32]) -> Self {
        Self {
            key: std::array::from_fn(|i| u32::from_le_bytes(seed.as_chunks::<4>().0[i])),
            next: 0,
            #[cfg(target_arch = "x86_64")]
            wide: super::cipher_512::Wide::new(),
        }
    }
}

impl Generator for Source {
    type Output = [u32; WORDS];

    fn generate(&mut self, words: &mut [u32; WORDS]) {
        let next = self.next;
        self.next = next.wrapping_add(BLOCKS as u64);
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = self.wide {
            return wide.blocks(&self.key, next, words);
        }
        cipher_any::blocks(&self.key, next, words);
    }

    /// Called when the generator is dropped: whoever knows the key or the words to come knows the noise.
    fn drop(&mut self, words: &mut [u32; WORDS]) {
        wipe(words);
        wipe(&mut self.key);
    }
}

impl CipherRng {
    /// Of the same words, as processors without AVX-512 make them.
    #[cfg(test)]
    fn narrow(seed: [u8; 32]) -> Self {
        let mut source = Source::new(&seed);
        #[cfg(target_arch = "x86_64")]
        {
            source.wide = None;
        }
        Self(BlockRng::new(source))
    }
}

impl SeedableRng for CipherRng {
    type Seed = [u8; 32];

    fn from_seed(seed: [u8; 32]) -> Self {
        Self(BlockRng::new(Source::new(&seed)))
    }
}

impl TryRng for CipherRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_word())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64_from_u32())
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for CipherRng {}

// By hand: whoever knows the state knows the noise.
impl fmt::Debug for CipherRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CipherRng").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rand::rngs::ChaCha12Rng;
    use std::mem::{ManuallyDrop, size_of};

    /// Of both forms, where the processor has AVX-512; else of the narrow one twice.
    #[test]
    fn the_words_are_those_of_chacha12() {
        let mut seed = [0; 32];
        Rng::fill_bytes(&mut ChaCha12Rng::seed_from_u64(3), &mut seed);
        for mut rng in [CipherRng::from_seed(seed), CipherRng::narrow(seed)] {
            let mut expected = ChaCha12Rng::from_seed(seed);
            for round in 0..3000usize {
                assert_eq!(rng.next_u64(), expected.next_u64(), "{round}");
                if round.is_multiple_of(7) {
                    assert_eq!(rng.next_u32(), expected.next_u32(), "{round}");
                }
                if round.is_multiple_of(31) {
                    let (mut bytes, mut others) = ([0; 300], [0; 300]);
                    rng.fill_bytes(&mut bytes[..round % 300]);
                    expected.fill_bytes(&mut others[..round % 300]);
                    assert_eq!(bytes, others, "{round}");
                }
            }
        }
    }

    /// The bytes of a generator before and after it is dropped, where it was.
    #[test]
    fn nothing_of_the_key_and_the_words_is_left() {
        let seed: [u8; 32] = std::array::from_fn(|i| i as u8 + 1);
        let mut rng = ManuallyDrop::new(Box::new(CipherRng::from_seed(seed)));
        rng.next_u64();
        let place = (&raw mut **rng).cast::<u8>();
        // SAFETY: the memory is not given back, and volatile reads of what a number or a padding byte holds are of no consequence.
        let bytes =
            || (0..size_of::<CipherRng>()).map(|i| unsafe { place.add(i).read_volatile() }).collect::<Vec<u8>>();
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        let words: Vec<u8> = rng.0.remaining_results().iter().flat_map(|word| word.to_le_bytes()).collect();
        let before = bytes();
        assert!(has(&before, &seed) && has(&before, &words));
        // SAFETY: dropped once, and not used as a generator again.
        unsafe { std::ptr::drop_in_place(place.cast::<CipherRng>()) };
        let after = bytes();
        assert!(seed.chunks(4).all(|part| !has(&after, part)) && words.chunks(8).all(|part| !has(&after, part)));
    }

    #[test]
    fn nothing_of_the_state_is_shown() {
        assert_eq!(format!("{:?}", CipherRng::from_seed([1; 32])), "CipherRng { .. }");
    }
}
