//! How much a privatised report can still say about a parameter.
//!
//! The Fisher information $I_\theta(QP)$ of the report of a mechanism Q about a value from $P_\theta$, for every mechanism:
//! exact where it looks at cells of the line, by quadrature where its law is known, as a lower confidence limit where it
//! can only be sampled. Its reciprocal is the smallest asymptotic variance n·Var that estimators can reach with Q; the
//! reciprocal of $\sup_Q I_\theta(QP)$ is the smallest that any ε-private protocol can reach.
//!
//! ```
//! use ldp_core::Epsilon;
//! use ldp_fisher::{Optimum, gaussian_mean};
//! let Optimum::Known { information } = gaussian_mean(Epsilon::new(1.0)?, 1.0) else { panic!("ε = 1 is known") };
//! assert!((1.0 / information - 7.355559).abs() < 1e-6);
//! # Ok::<(), ldp_core::Error>(())
//! ```

#![forbid(unsafe_code)]

mod black_box;
mod bounds;
mod density;
mod exact;
mod home;
mod information;
mod integrate;
mod law;
mod levels;
mod matrix;
mod one_bit;
pub mod optimal;
mod optimum;
mod real;
mod sets;
mod vector;

pub use black_box::{BlackBox, black_box, black_box_with};
pub use bounds::{Bounds, bounds};
pub use density::of_finite;
pub use exact::exact;
pub use information::{Information, Method};
pub use matrix::{InformationMatrix, matrix};
pub use one_bit::{OneBit, one_bit};
pub use optimum::{Optimum, gaussian_mean, laplace_location, sign_optimal_until};
pub use real::of_real;
pub use sets::{SetError, Sets, black_box_sets, of_sets};
pub use vector::{black_box_vector, cube, direction, sphere};
