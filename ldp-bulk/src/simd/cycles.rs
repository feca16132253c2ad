//! The processor's own clock.

/// A time in ticks of the finest clock there is, for measuring what takes some ten nanoseconds.
///
/// On x86-64 it is the time stamp counter, read when all before is done and before anything after begins; elsewhere
/// nanoseconds since the first call.
///
/// ```
/// let before = ldp_bulk::simd::cycles();
/// assert!(ldp_bulk::simd::cycles() >= before);
/// ```
#[inline]
#[must_use]
pub fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: every x86-64 has both instructions.
        unsafe {
            _mm_lfence();
            let now = _rdtsc();
            _mm_lfence();
            now
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
    }
}
