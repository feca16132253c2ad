//! Replications in parallel, with the same result on any number of threads.

use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Runs `replications` in fixed batches on the current rayon pool and folds the results in the order of batches.
///
/// The batches depend only on the number of replications, so neither threads nor timing can change a result;
/// a wave of batches is in memory at a time, so memory is flat.
///
/// ```
/// use ldp_core::drive::in_batches;
/// let mut sum = 0;
/// in_batches(1000, |batch| Ok(batch.sum::<u64>()), |part| sum += part)?;
/// assert_eq!(sum, 499_500);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn in_batches<A: Send>(
    replications: u64,
    batch: impl Fn(Range<u64>) -> Result<A> + Sync,
    mut fold: impl FnMut(A),
) -> Result<()> {
    // Few replications are long ones and want small batches; many want the overhead spread.
    let size = (replications / 512).clamp(1, 1024);
    let batches = replications.div_ceil(size);
    // Often enough for a progress bar; where waves end does not change what is folded.
    let wave = 8 * rayon::current_num_threads() as u64;
    for from in (0..batches).step_by(wave as usize) {
        let parts: Vec<Result<A>> = (from..batches.min(from + wave))
            .into_par_iter()
            .map(|index| batch(index * size..replications.min((index + 1) * size)))
            .collect();
        // In order, so that it is always the first error that is reported.
        for part in parts {
            fold(part?);
        }
    }
    Ok(())
}
