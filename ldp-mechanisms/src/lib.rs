//! Locally differentially private mechanisms, one file each.
//!
//! Every file has the same skeleton: what it is and its channel, a checked constructor, the capabilities, tests that
//! run the conformance suite of `ldp-core`. Those with finitely many reports draw by integer weights, so what is sampled
//! is what ε is computed from; those with real reports sample in floating point and say so
//! (`Numerics::Idealized`): they are for simulations, and real data do not meet them.
//!
//! ```
//! use ldp_core::{Epsilon, Mechanism, SystemRng};
//! use ldp_mechanisms::Sign;
//! let question = Sign::new(Epsilon::new(1.0)?, 0.0)?;
//! assert!(question.privatize(&0.3, &mut SystemRng::new()?) < 2);
//! # Ok::<(), ldp_core::Error>(())
//! ```

#![forbid(unsafe_code)]

mod bernoulli;
mod category_set;
mod clipped;
mod coordinate_sign;
mod duchi;
mod duchi_l2;
mod duchi_linf;
mod hybrid;
mod interval_response;
mod laplace;
mod lattice_laplace;
mod matrix;
mod noise;
mod piecewise;
mod priv_unit;
mod proj_unit;
mod randomized_response;
mod range;
mod residual_direction;
mod residue;
mod sign;
mod sphere;
mod squared;
mod staircase;
mod subset_selection;
mod unary;

pub use category_set::{CategorySet, SetCounts};
pub use coordinate_sign::CoordinateSign;
pub use duchi::{Ding, Duchi};
pub use duchi_l2::DuchiL2;
pub use duchi_linf::DuchiLinf;
pub use hybrid::Hybrid;
pub use interval_response::IntervalResponse;
pub use laplace::Laplace;
pub use lattice_laplace::LatticeLaplace;
pub use matrix::{Matrix, MatrixError};
pub use piecewise::Piecewise;
pub use priv_unit::PrivUnitG;
pub use proj_unit::ProjUnit;
pub use randomized_response::RandomizedResponse;
pub use range::Range;
pub use residual_direction::ResidualDirection;
pub use residue::Residue;
pub use sign::Sign;
pub use squared::Squared;
pub use staircase::Staircase;
pub use subset_selection::SubsetSelection;
pub use unary::UnaryEncoding;
