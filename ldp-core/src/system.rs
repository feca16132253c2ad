//! The generator that real data meet: seeded by the system and by nobody else.

use crate::error::{Error, Result};
use rand::rand_core::{TryCryptoRng, TryRng};
use rand::rngs::{ChaCha12Rng, SysRng};
use rand::{Rng, SeedableRng};
use std::convert::Infallible;
use std::fmt;
use zeroize::Zeroizing;

/// The generator for real data: ChaCha12 with a key from the operating system, wiped when it is dropped.
///
/// Whoever knows the seed of the noise knows the value behind it. So the entries for real values ([`wire::answer`] and
/// [`wire::answer_typed`] here, those of `ldp-bulk` for many) take a generator which nobody can seed, copy or print. Simulations have
/// entries of their own that take any generator: they begin with `simulate`. What both are made of, [`Mechanism::privatize`], takes any
/// generator as well: whoever calls it with a real value has to bring this one.
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
///
// In a box, so that moving it leaves no copy behind.
pub struct SystemRng(Box<ChaCha12Rng>);

impl SystemRng {
    /// A generator with a key of its own; fails where the operating system has no random numbers to give.
    pub fn new() -> Result<Self> {
        let mut seed = Zeroizing::new([0; 32]);
        SysRng.try_fill_bytes(&mut *seed).map_err(|source| Error::SystemRandomness { source })?;
        let rng = Box::new(ChaCha12Rng::from_seed(*seed));
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

/// A seeded generator does not reach a real value. Both of these compile with `SystemRng::new()?` in its place:
///
/// ```
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, SystemRng, wire};
/// let level = Epsilon::new(1.0)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(level, 2)?)?;
/// let text = wire::write("question", &question)?;
/// let mut rng = SystemRng::new()?;
/// wire::answer(&text, 0.5, level, &mut rng)?;
/// wire::answer_typed::<FiniteChannel>(&wire::publish_typed(&question)?, &0.5, level, &mut rng)?;
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
