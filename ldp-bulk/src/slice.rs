//! Privatising a slice of any floating type.

use crate::BulkRng;
use crate::simd::wipe;
use ldp_core::error::Result;
use ldp_core::mechanism::{Mechanism, assert_exact};
use ldp_core::tally::Tally;
use num_traits::{AsPrimitive, Float};
use rand::Rng;

/// Privatises a slice of real `f32` or `f64` into a tally; `f32` widens exactly. Compiles for exact samplers only.
///
/// ```
/// use ldp_bulk::{BulkRng, privatize_slice};
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Partition, Tally};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
/// let mut tally = Bits::default();
/// privatize_slice(&question, &[0.5f32, -1.0, 2.0], &mut BulkRng::new()?, &mut tally)?;
/// assert_eq!(tally.users(), 3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn privatize_slice<Q, F, T>(question: &Q, values: &[F], rng: &mut BulkRng, tally: &mut T) -> Result<()>
where
    Q: Mechanism<Input = f64>,
    F: Float + AsPrimitive<f64>,
    T: Tally<Report = Q::Report>,
{
    const { assert_exact::<Q>() };
    simulate_slice(question, values, rng, tally)
}

/// [`privatize_slice`] for simulated values: any sampler, any generator.
///
/// ```
/// use ldp_bulk::simulate_slice;
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Partition, Tally};
/// use rand::{SeedableRng, rngs::ChaCha12Rng};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
/// let mut tally = Bits::default();
/// simulate_slice(&question, &[0.5f32, -1.0, 2.0], &mut ChaCha12Rng::seed_from_u64(1), &mut tally)?;
/// assert_eq!(tally.users(), 3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn simulate_slice<Q, F, R, T>(question: &Q, values: &[F], rng: &mut R, tally: &mut T) -> Result<()>
where
    Q: Mechanism<Input = f64>,
    F: Float + AsPrimitive<f64>,
    R: Rng + ?Sized,
    T: Tally<Report = Q::Report>,
{
    let mut buffer = [0.0; 1024];
    let done = values.chunks(buffer.len()).try_for_each(|chunk| {
        let wide = &mut buffer[..chunk.len()];
        wide.iter_mut().zip(chunk).for_each(|(wide, value)| *wide = value.as_());
        question.simulate_all(wide, rng, tally)
    });
    wipe(&mut buffer);
    done
}
