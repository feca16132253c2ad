//! The framework in which local differential privacy (LDP) estimators are written, compared and run.
//!
//! ```text
//! value ──Mechanism──▶ report ──Tally──▶ counts ──StagedEstimator──▶ next round, or estimate
//! (user)               (wire)   (collector, mergeable)  (analyst, pure function)
//! ```
//!
//! Three nouns: a [`Mechanism`] is the question a user answers, and carries its own ε; a [`StagedEstimator`] says
//! what to ask next, from tallies alone; a [`Model`] is the family of distributions the values are thought to come
//! from. A [`Population`] answers: simulated users, drawn tallies, or rows of real data (crate `ldp-simulate`).
//!
//! Every user answers exactly one question, so the guarantee of a protocol is the largest ε among its questions.
//!
//! ```
//! use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Mechanism, Partition, SystemRng, Tally};
//!
//! // A question: is your value at least 0.5? Answered by randomised response at ε = 1.
//! let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
//! let question = FiniteChannel::new(Partition::Threshold(0.5), kernel)?;
//! assert!(question.epsilon().value() <= 1.0);
//!
//! // What two users do, and what the collector keeps.
//! let (mut rng, mut tally) = (SystemRng::new()?, Bits::default());
//! for value in [0.3, 0.7] {
//!     tally.push(question.privatize(&value, &mut rng), 1)?;
//! }
//! assert_eq!(tally.users(), 2);
//! # Ok::<(), ldp_core::Error>(())
//! ```
//!
//! Features: `families` (the built-in models; a default), `special` (special functions, in `families`), and `conformance`, which exports
//! the `check_*` functions that every mechanism and estimator runs in its tests. A client that answers questions needs none of them.

#![forbid(unsafe_code)]

pub mod channel;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod diagnostic;
pub mod either;
pub mod epsilon;
pub mod error;
pub mod inference;
pub mod json;
pub mod mechanism;
pub mod mixed;
pub mod model;
pub mod special;
pub mod staged;
pub mod steady;
mod system;
pub mod tally;
pub mod wire;

pub use channel::{AsChannel, Cuts, Dense, FiniteChannel, Kernel, Partition};
pub use diagnostic::Diagnostic;
pub use either::Either;
pub use epsilon::Epsilon;
pub use error::{Error, Result};
pub use inference::{Inference, Interval, IntervalKind};
pub use mechanism::{
    Density, Finite, Mechanism, Numerics, Publish, RealReports, Rescale, Tails, Unbiased, UnbiasedVector,
};
pub use mixed::Mixed;
pub use model::{Cdf, Model, Score};
pub use staged::{Group, Outcomes, Population, Round, StagedEstimator, Step, StepOf, run};
pub use system::SystemRng;
pub use tally::{Averages, Bits, Counts, Sum, Tally, VectorSum};
