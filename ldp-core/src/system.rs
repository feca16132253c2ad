//! The generator that real data meet: seeded by the system and by nobody else.

use crate::error::{Error, Result};
use crate::packed::CipherRng;
use crate::wide::wipe;
use rand::rand_core::{TryCryptoRng, TryRng};
use rand::rngs::SysRng;
use rand::{Rng, SeedableRng};
use std::convert::Infallible;
use std::fmt;

/// The generator for real data: ChaCha12 with a key from the operating system, wiped when it is dropped.
///
/// Whoever knows the seed of the noise knows the value behind it. So the entries for real values ([`wire::answer`],
/// [`wire::answer_typed`], [`Mechanism::privatize_all`], [`drive::privatize_slice`], [`Pack::privatize_packed`],
/// [`Packer::new`], [`RowNoise::System`]) take this type, which nobody can seed, copy or print. Simulations have entries of
/// their own that take any generator: they begin with `simulate`. What both are made of, [`Mechanism::privatize`] and
/// [`Pack::pack_block`], takes any generator as well: whoever calls it with a real value has to bring this one.
///
/// ```
/// use ldp_core::{Epsilon, SystemRng, wire};
/// # let question = r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#;
/// let report = wire::answer(question, 0.7, Epsilon::new(1.0)?, &mut SystemRng::new()?)?;
/// assert!(report < 2);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [`wire::answer`]: crate::wire::answer
/// [`wire::answer_typed`]: crate::wire::answer_typed
/// [`Mechanism::privatize`]: crate::Mechanism::privatize
/// [`Pack::pack_block`]: crate::Pack::pack_block
/// [`Mechanism::privatize_all`]: crate::Mechanism::privatize_all
/// [`drive::privatize_slice`]: crate::drive::privatize_slice
/// [`Pack::privatize_packed`]: crate::Pack::privatize_packed
/// [`Packer::new`]: crate::packed::Packer::new
/// [`RowNoise::System`]: crate::drive::RowNoise::System
// In a box, so that moving it leaves no copy behind.
pub struct SystemRng(Box<CipherRng>);

impl SystemRng {
    /// A generator with a key of its own; fails where the operating system has no random numbers to give.
    pub fn new() -> Result<Self> {
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed).map_err(|source| Error::SystemRandomness { source })?;
        let rng = Box::new(CipherRng::from_seed(seed));
        wipe(&mut seed);
        Ok(Self(rng))
    }
}

impl TryRng for SystemRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for SystemRng {}

// By hand: whoever knows the state knows the noise.
impl fmt::Debug for SystemRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemRng").finish_non_exhaustive()
    }
}

/// A seeded generator does not reach a real value. All of these compile with `SystemRng::new()?` in its place:
///
/// ```
/// use ldp_core::drive::{Order, RowNoise, Rows, privatize_slice};
/// use ldp_core::packed::Packer;
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Mechanism, Pack, Partition, SystemRng, wire};
/// let level = Epsilon::new(1.0)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(level, 2)?)?;
/// let text = wire::write("question", &question)?;
/// let (values, mut tally, mut words) = ([0.5, -0.5], Bits::default(), Vec::new());
/// let mut rng = SystemRng::new()?;
/// wire::answer(&text, 0.5, level, &mut rng)?;
/// wire::answer_typed::<FiniteChannel>(&wire::publish_typed(&question)?, &0.5, level, &mut rng)?;
/// question.privatize_all(&values, &mut rng, &mut tally)?;
/// privatize_slice(&question, &values, &mut rng, &mut tally)?;
/// question.privatize_packed(&values, &mut rng, &mut words);
/// Packer::new(question, rng).finish(&mut words);
/// Rows::new(&values[..], Order::Random, RowNoise::System(SystemRng::new()?))?;
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::{Epsilon, wire};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// wire::answer("{}", 0.5, Epsilon::new(1.0).unwrap(), &mut ChaCha12Rng::seed_from_u64(1));
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::{Epsilon, FiniteChannel, wire};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// wire::answer_typed::<FiniteChannel>("{}", &0.5, Epsilon::new(1.0).unwrap(), &mut ChaCha12Rng::seed_from_u64(1));
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::{Bits, FiniteChannel, Mechanism};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// fn real(question: &FiniteChannel) {
///     question.privatize_all(&[0.5], &mut ChaCha12Rng::seed_from_u64(1), &mut Bits::default());
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::{Bits, FiniteChannel, drive::privatize_slice};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// fn real(question: &FiniteChannel) {
///     privatize_slice(question, &[0.5], &mut ChaCha12Rng::seed_from_u64(1), &mut Bits::default());
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::{FiniteChannel, Pack, packed::CipherRng};
/// # use rand::SeedableRng;
/// fn real(question: &FiniteChannel) {
///     question.privatize_packed(&[0.5], &mut CipherRng::seed_from_u64(1), &mut Vec::new());
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::{FiniteChannel, packed::{CipherRng, Packer}};
/// # use rand::SeedableRng;
/// fn real(question: FiniteChannel) {
///     Packer::new(question, CipherRng::seed_from_u64(1));
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_core::drive::{Order, RowNoise, Rows};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// Rows::new(&[0.5][..], Order::Random, RowNoise::System(ChaCha12Rng::seed_from_u64(1)));
/// ```
///
/// Nor can it be made from a seed, or copied:
///
/// ```compile_fail,E0277
/// fn seeded<R: rand::SeedableRng>() {}
/// seeded::<ldp_core::SystemRng>();
/// ```
///
/// ```compile_fail,E0277
/// fn copied<R: Clone>() {}
/// copied::<ldp_core::SystemRng>();
/// ```
///
/// A mechanism that samples in floating point does not meet a real value either, whatever the generator:
///
/// ```compile_fail,E0080
/// use ldp_core::{Bits, Epsilon, Mechanism, SystemRng};
/// struct Floating;
/// impl Mechanism for Floating {
///     type Input = f64;
///     type Report = u32;
///     fn epsilon(&self) -> Epsilon {
///         Epsilon::new(1.0).unwrap()
///     }
///     fn privatize<R: rand::Rng + ?Sized>(&self, input: &f64, _: &mut R) -> u32 {
///         *input as u32
///     }
/// }
/// Floating.privatize_all(&[0.5], &mut SystemRng::new().unwrap(), &mut Bits::default());
/// ```
#[cfg(doctest)]
struct SeededNoiseIsRefused;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_generators_are_alike_and_none_is_shown() {
        let [mut one, mut other] = [(); 2].map(|()| SystemRng::new().unwrap());
        // Equal by chance once in 2¹²⁸.
        assert_ne!([one.next_u64(), one.next_u64()], [other.next_u64(), other.next_u64()]);
        assert_eq!(format!("{one:?}"), "SystemRng { .. }");
    }
}
