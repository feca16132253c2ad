//! Making secrets unreadable when they are no longer needed.

use std::ptr::write_volatile;
use std::sync::atomic::{Ordering, compiler_fence};

/// Overwrites numbers with zeros, even where nobody reads them again: a compiler leaves out a plain assignment there.
///
/// What was moved or spilled before has left copies that no program can find.
///
/// ```
/// let mut key = [7u32; 8];
/// ldp_bulk::simd::wipe(&mut key);
/// assert_eq!(key, [0; 8]);
/// ```
pub fn wipe<T: Copy + Default>(secrets: &mut [T]) {
    for secret in secrets {
        // SAFETY: a reference may be written through, and what is `Copy` has nothing to drop.
        unsafe { write_volatile(secret, T::default()) };
    }
    compiler_fence(Ordering::SeqCst);
}
