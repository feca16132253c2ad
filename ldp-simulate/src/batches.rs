//! Replications in parallel, with the same result on any number of threads.

use ldp_core::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Runs `replications` in fixed batches on the current rayon pool and folds the results in the order of batches.
///
/// The batches depend only on the number of replications, so neither threads nor timing can change a result;
/// a wave of batches is in memory at a time, so memory is flat.
///
/// ```
/// use ldp_simulate::in_batches;
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
    let size = batch_size(replications);
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

/// Few replications are long ones and want small batches; many want the overhead spread, and in whole groups: some
/// protocols simulate several side by side.
fn batch_size(replications: u64) -> u64 {
    const GROUP: u64 = 16;
    if replications < 512 { 1 } else { (replications / 512).clamp(1, 1024).next_multiple_of(GROUP) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replication_comes_once_and_batches_are_whole_groups() {
        for replications in [0, 1, 3, 511, 512, 513, 8000, 50_000, 600_001] {
            let (mut next, mut sizes) = (0, Vec::new());
            in_batches(replications, Ok, |batch: Range<u64>| {
                assert_eq!(batch.start, next);
                next = batch.end;
                sizes.push(batch.end - batch.start);
            })
            .unwrap();
            assert_eq!(next, replications);
            let (last, others) = sizes.split_last().unwrap_or((&0, &[]));
            assert!(others.iter().all(|size| size == &others[0] && last <= size));
            assert!(others.iter().all(|size| size.is_multiple_of(16) || replications < 512), "{replications}");
        }
        // Single ones where there are few, no more than a thousand at a time where there are many.
        assert_eq!([511, 512, 50_000, 10_000_000].map(batch_size), [1, 16, 112, 1024]);
    }
}
