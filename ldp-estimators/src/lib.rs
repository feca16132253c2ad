//! Staged locally differentially private estimators, one file per protocol.
//!
//! Every protocol is a `StagedEstimator` of `ldp-core`: a pure state machine over tallies that runs unchanged in a
//! simulation, over the wire, or on rows of data, and ends with an estimate that knows its standard error and its
//! confidence intervals.
//!
//! ```
//! use ldp_core::drive::Tallies;
//! use ldp_core::model::Gaussian;
//! use ldp_core::{Epsilon, Inference, IntervalKind, run};
//! use ldp_estimators::TwoStage;
//!
//! // 10,000 users with values from N(0.5, 1); 306 of them answer at the start 0, the rest where those point.
//! let estimator = TwoStage::new(Epsilon::new(1.0)?, 0.0, 306)?;
//! let model = Gaussian::new(1.0)?;
//! let estimate = run(&estimator, 10_000, &mut Tallies::new(&model, 0.5, 1)?)?;
//! assert!((estimate.value() - 0.5).abs() < 0.15);
//! let interval = estimate.interval(IntervalKind::Exact, 0.95)?;
//! assert!(interval.low < estimate.value() && estimate.value() < interval.high);
//! # Ok::<(), ldp_core::Error>(())
//! ```

// The example of the README must run too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub mod clopper_pearson;
mod liu;
mod one_stage;
mod rescaled;
pub mod self_normalised;
mod sign_estimate;
mod sign_stage;
mod start_at;
mod two_stage;

pub use liu::{Liu, LiuEstimate, LiuState};
pub use one_stage::OneStage;
pub use rescaled::Rescaled;
pub use sign_estimate::SignEstimate;
pub use sign_stage::{SignStage, one_stage_variance};
pub use start_at::StartAt;
pub use two_stage::{TwoStage, TwoStageState};
