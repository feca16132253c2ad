//! Seed streams: which random numbers belong to whom.
//!
//! A stream is named by (seed, purpose, replication, block), never by a thread or by the order of execution.
//! So a simulation gives the same bytes on any number of threads, and user i holds the same value whichever
//! protocol asks.
//!
//! ```
//! use ldp_simulate::seed::{Purpose, stream};
//! use rand::Rng;
//! let mut a = stream(1, Purpose::Data, 3, 0);
//! let mut b = stream(1, Purpose::Data, 3, 0);
//! let mut noise = stream(1, Purpose::Noise, 3, 0);
//! let word = a.next_u64();
//! assert_eq!(word, b.next_u64());
//! assert_ne!(word, noise.next_u64());
//! ```

mod streams;

pub use streams::Streams;

/// The generator of simulations: fast, and never used on real data.
pub type SimulationRng = rand::rngs::Xoshiro256PlusPlus;

/// Users that share one data stream and one noise stream. A block can be drawn without its predecessors.
pub const BLOCK: u64 = 1 << 16;

/// What a stream is for. Streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// The users' values.
    Data = 1,
    /// The users' randomised answers.
    Noise = 2,
    /// Whole tallies, at `tally` fidelity.
    Tally = 3,
    /// Resamples of a bootstrap.
    Bootstrap = 4,
}

/// The stream of one block of one replication.
///
/// Each of the four words of the generator's state absorbs all coordinates through the finaliser of SplitMix64, so
/// that the states of different names are as good as independent; names that differ in one coordinate alone never
/// share a word, because every step is a bijection.
#[must_use]
pub fn stream(seed: u64, purpose: Purpose, replication: u64, block: u64) -> SimulationRng {
    StreamsOf::new(seed, purpose).stream(replication, block)
}

/// All streams of one seed and purpose: what their names have in common is absorbed once.
///
/// ```
/// use ldp_simulate::seed::{Purpose, StreamsOf, stream};
/// let streams = StreamsOf::new(1, Purpose::Data);
/// assert_eq!(streams.stream(3, 0), stream(1, Purpose::Data, 3, 0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StreamsOf {
    words: [u64; 4],
}

impl StreamsOf {
    /// The streams of a seed for a purpose.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let word = |lane: usize| absorb(0, [lane as u64 + 1, seed, purpose as u64]);
        Self { words: std::array::from_fn(word) }
    }

    /// The stream of one block of one replication.
    #[inline]
    #[must_use]
    pub fn stream(&self, replication: u64, block: u64) -> SimulationRng {
        let mut seed = [0; 32];
        for (bytes, word) in seed.chunks_exact_mut(8).zip(self.state(replication, block)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        rand::SeedableRng::from_seed(seed)
    }

    /// The state of the generator at the start of a stream.
    ///
    /// Its words are all different, since they start as 1, 2, 3, 4 and every step is a bijection: the one state that the
    /// generator would replace, four zeros, does not come.
    #[inline]
    fn state(&self, replication: u64, block: u64) -> [u64; 4] {
        self.words.map(|word| absorb(word, [replication, block]))
    }
}

/// Parts of a name, one after the other.
#[inline]
fn absorb<const N: usize>(word: u64, parts: [u64; N]) -> u64 {
    parts.into_iter().fold(word, |word, part| mix(word ^ part))
}

/// The finaliser of SplitMix64 after its golden-ratio increment.
#[inline]
fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn every_coordinate_names_another_stream() {
        let first = |mut rng: SimulationRng| rng.next_u64();
        let words = [
            first(stream(0, Purpose::Data, 0, 0)),
            first(stream(1, Purpose::Data, 0, 0)),
            first(stream(0, Purpose::Noise, 0, 0)),
            first(stream(0, Purpose::Tally, 0, 0)),
            first(stream(0, Purpose::Bootstrap, 0, 0)),
            first(stream(0, Purpose::Data, 1, 0)),
            first(stream(0, Purpose::Data, 0, 1)),
            first(stream(0, Purpose::Data, 1, 1)),
        ];
        for (i, a) in words.iter().enumerate() {
            assert!(words[..i].iter().all(|b| a != b), "word {i} repeats");
        }
    }
}
