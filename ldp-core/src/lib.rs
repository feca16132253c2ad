//! The framework in which local differential privacy (LDP) estimators are written, compared and run.
//!
//! ```text
//! value ──Mechanism──▶ report ──Tally──▶ counts ──StagedEstimator──▶ next round, or estimate
//! (user)               (wire)   (collector, mergeable)  (analyst, pure function)
//! ```
//!
//! Three nouns: a [`Mechanism`] is the question a user answers, and carries its own ε; a [`StagedEstimator`] says
//! what to ask next, from tallies alone; a [`Model`] is the family of distributions the values are thought to come
//! from. A [`Population`] answers: simulated users, drawn tallies, or rows of real data ([`drive`]).
//!
//! Every user answers exactly one question, so the guarantee of a protocol is the largest ε among its questions.
//!
//! ```
//! use ldp_core::drive::{Tallies, Users};
//! use ldp_core::model::Gaussian;
//! use ldp_core::{Bits, Epsilon, FiniteChannel, Group, Kernel, Mechanism, Partition, Population, Tally};
//!
//! // A question: is your value at least 0.5? Answered by randomised response at ε = 1.
//! let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
//! let question = FiniteChannel::new(Partition::Threshold(0.5), kernel)?;
//! assert!(question.epsilon().value() <= 1.0);
//!
//! // The same hundred thousand users, simulated one by one and as one draw of their tally.
//! let model = Gaussian::new(1.0)?;
//! let group = Group { question, users: 100_000 };
//! let (mut one_by_one, mut at_once) = (Bits::default(), Bits::default());
//! Users::new(&model, 0.5, 100_000, 1)?.answer(&group, &mut one_by_one)?;
//! Tallies::new(&model, 0.5, 1)?.answer(&group, &mut at_once)?;
//! assert!(one_by_one.ones().abs_diff(50_000) < 1000);
//! assert!(at_once.ones().abs_diff(50_000) < 1000);
//! # Ok::<(), ldp_core::Error>(())
//! ```
//!
//! Features: `conformance` exports the `check_*` functions that every mechanism and estimator runs in its tests.

pub mod channel;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod diagnostic;
pub mod drive;
pub mod either;
pub mod epsilon;
pub mod erased;
pub mod error;
pub mod inference;
pub mod json;
pub mod mechanism;
pub mod mixed;
pub mod model;
pub mod packed;
pub mod seed;
pub mod special;
pub mod staged;
pub mod steady;
mod system;
pub mod tally;
#[expect(unsafe_code, reason = "wider instruction sets, for a measured gain: see the module")]
pub mod wide;
pub mod wire;

pub use channel::{AsChannel, Cuts, Dense, FiniteChannel, Kernel, Partition};
pub use diagnostic::Diagnostic;
pub use either::Either;
pub use epsilon::Epsilon;
pub use error::{Error, Result};
pub use inference::{Inference, Interval, IntervalKind};
pub use mechanism::{
    Density, DrawTally, Finite, Mechanism, Numerics, Publish, RealReports, Rescale, Tails, Unbiased, UnbiasedVector,
};
pub use mixed::Mixed;
pub use model::{Cdf, Model, Score};
pub use packed::Pack;
pub use staged::{Group, Outcomes, Population, Round, StagedEstimator, Step, StepOf, run};
pub use system::SystemRng;
pub use tally::{Averages, Bits, Counts, Sum, Tally, VectorSum};
