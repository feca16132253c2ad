//! Wider instruction sets, chosen at run time: the only module with `unsafe`.
//!
//! A program is compiled for the oldest processor of its kind; what newer ones can do has to be asked for. What is computed
//! does not change: no operation is reordered or fused, so results are the same to the bit on every processor.
//!
//! # Safety, and what it buys
//! A function compiled for more than every processor has may be called only where the processor has been asked, and the
//! compiler cannot see that: this is what `unsafe` stands for here, and next to each of them stands the question. Of ten
//! million values, on one core with AVX-512, a packed sign report took 0.72 ns without this module, 0.44 with
//! [`at_least`](crate::at_least) and [`with_avx2`], and 0.37 with [`CipherRng`](crate::CipherRng) too; an
//! unrolled sum of the same values took 0.25. [`wipe`] writes what a compiler would leave out, [`cycles`] reads a register.

pub(crate) mod cipher;
#[cfg(target_arch = "x86_64")]
mod cipher_512;
mod cipher_any;
pub(crate) mod compare;
mod cycles;
mod wipe;

pub use cycles::cycles;
pub use wipe::wipe;

/// Runs `work` compiled for AVX2 and its companions (x86-64-v3) where the processor has them.
///
/// Only what is inlined into it takes part: mark the closure `#[inline(always)]`, and what it calls `#[inline]`.
///
/// ```
/// let sum = ldp_bulk::simd::with_avx2(#[inline(always)] || (0..100u64).map(|i| i * i).sum::<u64>());
/// assert_eq!(sum, 328_350);
/// ```
#[inline]
pub fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if has_v3() {
        // SAFETY: the processor has what `v3` is compiled for.
        return unsafe { v3(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_v3() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn v3<T>(work: impl FnOnce() -> T) -> T {
    work()
}
