//! Locally differentially private mechanisms, one file each.
//!
//! Every file has the same skeleton: what it is and its channel, a checked constructor, the capabilities, tests that
//! run the conformance suite of `ldp-core`. All of them draw by integer weights, so what is sampled is what ε is
//! computed from.
//!
//! ```
//! use ldp_core::{Epsilon, Mechanism};
//! use ldp_mechanisms::Sign;
//! use rand::{SeedableRng, rngs::ChaCha12Rng, rngs::SysRng};
//! let question = Sign::new(Epsilon::new(1.0)?, 0.0)?;
//! let mut rng = ChaCha12Rng::try_from_rng(&mut SysRng).unwrap();
//! assert!(question.privatize(&0.3, &mut rng) < 2);
//! # Ok::<(), ldp_core::Error>(())
//! ```

mod interval_response;
mod randomized_response;
mod sign;

pub use interval_response::IntervalResponse;
pub use randomized_response::RandomizedResponse;
pub use sign::Sign;
