//! Privatising a slice of any floating type.

use crate::error::Result;
use crate::mechanism::Mechanism;
use crate::tally::Tally;
use num_traits::{AsPrimitive, Float};
use rand::CryptoRng;

/// Privatises a slice of `f32` or `f64` into a tally; `f32` widens exactly. The generator is a cryptographic one.
///
/// ```
/// use ldp_core::drive::privatize_slice;
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Partition, Tally};
/// use rand::{SeedableRng, rngs::StdRng};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), kernel)?;
/// let mut tally = Bits::default();
/// privatize_slice(&question, &[0.5f32, -1.0, 2.0], &mut StdRng::seed_from_u64(1), &mut tally)?;
/// assert_eq!(tally.users(), 3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn privatize_slice<Q, F, R, T>(question: &Q, values: &[F], rng: &mut R, tally: &mut T) -> Result<()>
where
    Q: Mechanism<Input = f64>,
    F: Float + AsPrimitive<f64>,
    R: CryptoRng + ?Sized,
    T: Tally<Report = Q::Report>,
{
    let mut buffer = [0.0; 1024];
    for chunk in values.chunks(buffer.len()) {
        let wide = &mut buffer[..chunk.len()];
        wide.iter_mut().zip(chunk).for_each(|(wide, value)| *wide = value.as_());
        question.privatize_all(wide, rng, tally)?;
    }
    Ok(())
}
