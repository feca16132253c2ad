//! Generators that do as they are told.

use rand::{Rng, TryRng};
use std::convert::Infallible;

/// Gives the same word over and over, and counts how often it was asked.
///
/// ```
/// use ldp_core::conformance::Repeating;
/// use rand::Rng;
/// let mut rng = Repeating::new(5);
/// assert_eq!((rng.next_u64(), rng.next_u64(), rng.drawn()), (5, 5, 2));
/// ```
#[derive(Clone, Debug)]
pub struct Repeating {
    word: u64,
    drawn: u64,
}

impl Repeating {
    /// A generator of this word.
    #[must_use]
    pub fn new(word: u64) -> Self {
        Self { word, drawn: 0 }
    }

    /// How many times a word was drawn; bytes count in started words.
    #[must_use]
    pub fn drawn(&self) -> u64 {
        self.drawn
    }
}

impl TryRng for Repeating {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.drawn += 1;
        Ok((self.word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.drawn += 1;
        Ok(self.word)
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        for chunk in dst.chunks_mut(8) {
            self.drawn += 1;
            chunk.copy_from_slice(&self.word.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Passes another generator's numbers on, and counts calls and bits.
#[derive(Clone, Debug)]
pub struct Counting<R> {
    rng: R,
    calls: u64,
    bits: u64,
}

impl<R> Counting<R> {
    /// Nothing drawn yet.
    pub fn new(rng: R) -> Self {
        Self { rng, calls: 0, bits: 0 }
    }

    /// How many calls were made, and how many bits they asked for.
    pub fn drawn(&self) -> (u64, u64) {
        (self.calls, self.bits)
    }

    fn count(&mut self, bits: u64) -> &mut R {
        self.calls += 1;
        self.bits += bits;
        &mut self.rng
    }
}

impl<R: Rng> TryRng for Counting<R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.count(32).next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.count(64).next_u64())
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.count(8 * dst.len() as u64).fill_bytes(dst);
        Ok(())
    }
}
