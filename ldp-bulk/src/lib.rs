//! Many reports at once, packed: 64 users to a word.
//!
//! For whoever holds the values anyway and wants to privatise millions of them: [`Pack::privatize_packed`] takes a slice,
//! [`Packer`] a stream. A report of m possible ones takes ⌈log₂ m⌉ bits, kept in *planes*: of every 64 users first a
//! word with bit 0 of all their reports, then one with bit 1, and so on; user i is bit i. So a tally is a matter of
//! counting bits: [`bits_of_packed`] and [`counts_of_packed`].
//!
//! ```
//! use ldp_bulk::{BulkRng, Pack, bits_of_packed};
//! use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, Tally};
//! let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
//! let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
//! let values: Vec<f32> = (0..1000).map(|i| i as f32 - 250.0).collect();
//! let mut words = Vec::new();
//! question.privatize_packed(&values, &mut BulkRng::new()?, &mut words);
//! assert_eq!(words.len(), 16);
//! let tally = bits_of_packed(&words, 1000)?;
//! // 750 values lie above 0, so 615.5 ones are expected, and more than nine standard deviations away none ever come.
//! assert!(tally.users() == 1000 && tally.ones().abs_diff(615) < 130);
//! # Ok::<(), ldp_core::Error>(())
//! ```
//!
//! # Design
//! Planes and not a byte per user: the noise is drawn for 64 users by operations on whole words, a byte would have to be
//! put together from them and taken apart again to be counted, and takes up to eight times the room.
//!

mod channel;
mod noise;
mod rng;
#[expect(unsafe_code, reason = "wider instruction sets, for a measured gain: see the module")]
pub mod simd;
mod slice;
mod tally;

pub use crate::simd::cipher::CipherRng;
pub use crate::simd::compare::at_least;
pub use noise::bernoulli;
pub use rng::BulkRng;
pub use slice::{privatize_slice, simulate_slice};
pub use tally::{bits_of_packed, counts_of_packed};

use crate::simd::{wipe, with_avx2};
use ldp_core::mechanism::{Finite, assert_exact};
use noise::WORDS;
use num_traits::{AsPrimitive, Float};
use rand::Rng;
use std::fmt;

/// Users whose noise is drawn together.
pub const BLOCK: usize = 64 * WORDS;

/// A floating type of private values; each is with_avx2 exactly to `f64`.
pub trait Value: Float + AsPrimitive<f64> {}
impl<F: Float + AsPrimitive<f64>> Value for F {}

/// The bits that one of so many reports takes: how many words 64 users fill.
#[inline]
#[must_use]
pub fn planes(reports: u32) -> usize {
    (u32::BITS - reports.saturating_sub(1).leading_zeros()).max(1) as usize
}

/// A mechanism that privatises whole blocks of users into packed words.
///
/// # Laws
/// - Each report has the law of [`privatize`](ldp_core::Mechanism::privatize), independently of the others; it takes other
///   random words.
/// - How many random words a block takes does not depend on the values. It says a little about how many of the block lie,
///   all of them together: packing is for whoever holds the values anyway, a client answers one by one. So does the time of a
///   block, and among more than 128 cuts where a value lies.
/// - Bits beyond the last user are zero.
pub trait Pack: Finite<Input = f64> {
    /// Privatises one block, at most [`BLOCK`] values, and appends ⌈values/64⌉ · [`planes`] words to `out`.
    fn pack_block<F: Value, R: Rng + ?Sized>(&self, values: &[F], rng: &mut R, out: &mut Vec<u64>);

    /// Privatises all of these real values and appends their words to `out`. Compiles for exact samplers only.
    fn privatize_packed<F: Value>(&self, values: &[F], rng: &mut BulkRng, out: &mut Vec<u64>)
    where
        Self: Sized,
    {
        const { assert_exact::<Self>() };
        self.simulate_packed(values, rng, out);
    }

    /// Privatises all simulated values, with any generator, and appends their words to `out`.
    fn simulate_packed<F: Value, R: Rng + ?Sized>(&self, values: &[F], rng: &mut R, out: &mut Vec<u64>) {
        out.reserve(values.len().div_ceil(64) * planes(self.reports()));
        // A loop, because the closure of a `for_each` would not be inlined.
        with_avx2(
            #[inline(always)]
            || {
                for block in values.chunks(BLOCK) {
                    self.pack_block(block, rng, out);
                }
            },
        );
    }
}

/// Packs a stream of values that need not fit into memory.
///
/// However the stream is cut into pieces, the words are those of [`Pack::privatize_packed`] on the whole. Values are wiped as
/// soon as they are answered.
///
/// ```
/// use ldp_bulk::{BulkRng, Packer, bits_of_packed};
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, Tally};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
/// let values: Vec<f64> = (0..3000).map(|i| f64::from(i).sin()).collect();
/// let mut words = Vec::new();
/// let mut packer = Packer::new(question, BulkRng::new()?);
/// for piece in values.chunks(700) {
///     packer.push(piece, &mut words);
/// }
/// packer.finish(&mut words);
/// assert_eq!(bits_of_packed(&words, 3000)?.users(), 3000);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Packer<Q, R = BulkRng> {
    question: Q,
    rng: R,
    held: Held,
}

/// Values of a block that is not complete yet; none of them is left when they are answered or dropped.
struct Held(Vec<f64>);

impl Held {
    fn wipe(&mut self) {
        wipe(&mut self.0);
        self.0.clear();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.wipe();
    }
}

// By hand: the values held are private, and so is the noise to come.
impl<Q: fmt::Debug, R> fmt::Debug for Packer<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").field("question", &self.question).finish_non_exhaustive()
    }
}

impl<Q: Pack> Packer<Q> {
    /// A stream of answers to `question` about real values. Compiles for exact samplers only.
    pub fn new(question: Q, rng: BulkRng) -> Self {
        const { assert_exact::<Q>() };
        Self::simulated(question, rng)
    }
}

impl<Q: Pack, R: Rng> Packer<Q, R> {
    /// A stream of answers about simulated values, with the noise of any generator.
    ///
    /// ```
    /// use ldp_bulk::{Pack, Packer};
    /// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
    /// use rand::{SeedableRng, rngs::ChaCha12Rng};
    /// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
    /// let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
    /// let values: Vec<f64> = (0..3000).map(|i| f64::from(i).sin()).collect();
    /// let (mut whole, mut words) = (Vec::new(), Vec::new());
    /// question.simulate_packed(&values, &mut ChaCha12Rng::seed_from_u64(7), &mut whole);
    /// let mut packer = Packer::simulated(question, ChaCha12Rng::seed_from_u64(7));
    /// values.chunks(700).for_each(|piece| packer.push(piece, &mut words));
    /// packer.finish(&mut words);
    /// assert_eq!(words, whole);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn simulated(question: Q, rng: R) -> Self {
        // Never more than a block: memory that is given back for more would keep what was in it.
        Self { question, rng, held: Held(Vec::with_capacity(BLOCK)) }
    }

    /// Takes in values and appends the words of the blocks that are complete.
    pub fn push<F: Value>(&mut self, values: &[F], out: &mut Vec<u64>) {
        let mut rest = values;
        if !self.held.0.is_empty() {
            let (first, later) = rest.split_at(rest.len().min(BLOCK - self.held.0.len()));
            self.hold(first);
            rest = later;
            if self.held.0.len() < BLOCK {
                return;
            }
            self.pack_held(out);
        }
        let whole = rest.len() - rest.len() % BLOCK;
        self.question.simulate_packed(&rest[..whole], &mut self.rng, out);
        self.hold(&rest[whole..]);
    }

    /// Appends the words of the last users and gives the generator back.
    pub fn finish(mut self, out: &mut Vec<u64>) -> R {
        self.pack_held(out);
        self.rng
    }

    fn hold<F: Value>(&mut self, values: &[F]) {
        self.held.0.extend(values.iter().map(|value| AsPrimitive::<f64>::as_(*value)));
    }

    fn pack_held(&mut self, out: &mut Vec<u64>) {
        self.question.simulate_packed(&self.held.0, &mut self.rng, out);
        self.held.wipe();
    }
}

/// The lowest `users` bits of a word: all of them from 64 users on.
///
/// ```
/// use ldp_bulk::first;
/// assert_eq!([0, 3, 64, 100].map(first), [0, 0b111, u64::MAX, u64::MAX]);
/// ```
#[inline]
#[must_use]
pub fn first(users: usize) -> u64 {
    u64::MAX.checked_shr(64 - users.min(64) as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    #[test]
    fn values_that_are_held_are_not_shown() {
        let kernel = Kernel::response(Epsilon::new(1.0).unwrap(), 2).unwrap();
        let question = FiniteChannel::new(Partition::Threshold(0.0), kernel).unwrap();
        let mut packer = Packer::simulated(question, Xoshiro256PlusPlus::seed_from_u64(1));
        packer.push(&[1234.5], &mut Vec::new());
        let shown = format!("{packer:?}");
        assert!(shown.contains("Packer") && !shown.contains("1234.5") && !shown.contains("Xoshiro"), "{shown}");
        assert_eq!(packer.held.0, [1234.5]);
        packer.pack_held(&mut Vec::new());
        assert!(packer.held.0.is_empty());
    }
}
