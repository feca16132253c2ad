//! The generator that real data meet in bulk: seeded by the system and by nobody else.

use crate::CipherRng;
use crate::simd::wipe;
use ldp_core::{Error, Result};
use rand::rand_core::{TryCryptoRng, TryRng};
use rand::rngs::SysRng;
use rand::{Rng, SeedableRng};
use std::convert::Infallible;
use std::fmt;

/// The generator for real data in bulk: the words of ChaCha12, sixteen blocks at a time, with a key from the operating system.
///
/// It is to [`CipherRng`] what [`ldp_core::SystemRng`] is to any generator: nobody can seed, copy or print it, and it is wiped when it
/// is dropped. The entries for real values, [`privatize_slice`](crate::privatize_slice), [`Pack::privatize_packed`](crate::Pack) and
/// [`Packer::new`](crate::Packer::new), take this type. Those for simulated values take any generator and begin with `simulate`.
///
/// ```
/// use rand::Rng;
/// let mut rng = ldp_bulk::BulkRng::new()?;
/// // Equal by chance once in 2⁶⁴.
/// assert_ne!(rng.next_u64(), rng.next_u64());
/// # Ok::<(), ldp_core::Error>(())
/// ```
// In a box, so that moving it leaves no copy behind.
pub struct BulkRng(Box<CipherRng>);

impl BulkRng {
    /// A generator with a key of its own; fails where the operating system has no random numbers to give.
    pub fn new() -> Result<Self> {
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed).map_err(|source| Error::SystemRandomness { source })?;
        let rng = Box::new(CipherRng::from_seed(seed));
        wipe(&mut seed);
        Ok(Self(rng))
    }
}

impl TryRng for BulkRng {
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

impl TryCryptoRng for BulkRng {}

// By hand: whoever knows the state knows the noise.
impl fmt::Debug for BulkRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkRng").finish_non_exhaustive()
    }
}

/// A seeded generator does not reach a real value. All of these compile with `BulkRng::new()?` in its place:
///
/// ```
/// use ldp_bulk::{BulkRng, Pack, Packer, privatize_slice};
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Partition};
/// let level = Epsilon::new(1.0)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(level, 2)?)?;
/// let (values, mut tally, mut words) = ([0.5, -0.5], Bits::default(), Vec::new());
/// let mut rng = BulkRng::new()?;
/// privatize_slice(&question, &values, &mut rng, &mut tally)?;
/// question.privatize_packed(&values, &mut rng, &mut words);
/// Packer::new(question, rng).finish(&mut words);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_bulk::privatize_slice;
/// # use ldp_core::{Bits, FiniteChannel};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// fn real(question: &FiniteChannel) {
///     privatize_slice(question, &[0.5], &mut ChaCha12Rng::seed_from_u64(1), &mut Bits::default());
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_bulk::{CipherRng, Pack};
/// # use ldp_core::FiniteChannel;
/// # use rand::SeedableRng;
/// fn real(question: &FiniteChannel) {
///     question.privatize_packed(&[0.5], &mut CipherRng::seed_from_u64(1), &mut Vec::new());
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use ldp_bulk::{CipherRng, Packer};
/// # use ldp_core::FiniteChannel;
/// # use rand::SeedableRng;
/// fn real(question: FiniteChannel) {
///     Packer::new(question, CipherRng::seed_from_u64(1));
/// }
/// ```
///
/// Nor can it be made from a seed, or copied:
///
/// ```compile_fail,E0277
/// fn seeded<R: rand::SeedableRng>() {}
/// seeded::<ldp_bulk::BulkRng>();
/// ```
///
/// ```compile_fail,E0277
/// fn copied<R: Clone>() {}
/// copied::<ldp_bulk::BulkRng>();
/// ```
///
/// A mechanism that samples in floating point does not meet a real value either, whatever the generator:
///
/// ```compile_fail,E0080
/// use ldp_bulk::{BulkRng, privatize_slice};
/// use ldp_core::{Bits, Epsilon, Mechanism};
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
/// privatize_slice(&Floating, &[0.5], &mut BulkRng::new().unwrap(), &mut Bits::default());
/// ```
#[cfg(doctest)]
struct SeededNoiseIsRefused;
