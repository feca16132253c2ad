//! Special functions to near machine accuracy, also far out in the tails.
//!
//! Each file states how accurate its functions are; `tests/special.rs` holds them to it against values computed
//! with 50 digits. Tails are never one minus a number near one: every probability has its complement beside it.
//!
//! ```
//! use ldp_core::special::normal;
//! // One minus the cdf is zero here.
//! assert_eq!(1.0 - normal::cdf(9.0), 0.0);
//! assert!((normal::sf(9.0) / 1.128_588_405_953_840_6e-19 - 1.0).abs() < 1e-15);
//! ```

#[cfg(feature = "special")]
pub mod beta;
#[cfg(feature = "special")]
pub mod binomial;
#[cfg(feature = "special")]
pub mod gamma;
mod least;
#[cfg(feature = "special")]
pub mod normal;

pub use least::least;

#[cfg(feature = "special")]
pub(crate) mod saddle;
