//! Staged locally differentially private estimators, one file per protocol.
//!
//! Every protocol is a `StagedEstimator` of `ldp-core`: a pure state machine over tallies that runs unchanged in a
//! simulation, over the wire, or on rows of data, and ends with an estimate that knows its standard error and its
//! confidence intervals.
//!
//! ```
//! use ldp_simulate::Tallies;
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

#![forbid(unsafe_code)]

// The example of the README must run too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod again;
mod ask;
mod bitwise_law;
mod bitwise_pilot;
mod bitwise_spread;
mod brackets;
mod clipped_mean;
mod clipped_moments;
pub mod clopper_pearson;
mod duchi_rogers;
mod efficient;
mod efficient_estimate;
mod fewest;
mod first_stage;
mod joseph;
mod joseph_one_round;
mod joseph_one_round_unknown_variance;
mod joseph_unknown_variance;
mod kept;
mod likelihood;
mod liu;
mod liu_estimate;
mod liu_from_pilot;
mod liu_lanes;
mod liu_walk;
mod maximum_likelihood;
mod mean_direction;
mod mean_estimate;
mod one_stage;
mod pilot_estimate;
mod pilot_failure;
mod piloted;
mod placing;
pub mod plan;
pub mod psi;
mod questions;
mod rescaled;
mod score_curve;
pub mod self_normalised;
mod sign_estimate;
mod sign_stage;
mod space;
mod start_at;
mod three_stage;
mod top_two;
mod top_two_rough;
mod two_stage;
mod vector_estimate;
mod vector_gaussian;
mod vector_mean;
mod vector_sign;

pub use ask::{Ask, AskEstimate, Binned, DevianceCurve};
pub use bitwise_law::PilotLaw;
pub use bitwise_pilot::{BitwisePilot, Share};
pub use clipped_mean::{Averaged, ClippedMean};
pub use clipped_moments::{ClippedMoments, ClippedMomentsUnknownVariance, MomentsEstimate, MomentsState};
pub use duchi_rogers::{DuchiRogers, RangeEstimate};
pub use efficient::{Efficient, EfficientState};
pub use efficient_estimate::{EfficientEstimate, Fallback};
pub use joseph::Joseph;
pub use joseph_one_round::{JosephOneRound, JosephOneRoundState};
pub use joseph_one_round_unknown_variance::{JosephOneRoundUnknownVariance, JosephOneRoundUnknownVarianceState};
pub use joseph_unknown_variance::{JosephUnknownVariance, JosephUnknownVarianceState};
pub use liu::{Liu, LiuFromPilot, LiuState};
pub use liu_estimate::LiuEstimate;
pub use maximum_likelihood::{Maximum, maximum_likelihood};
pub use mean_direction::mean_direction;
pub use mean_estimate::{Caution, MeanEstimate, Remark};
pub use one_stage::OneStage;
pub use pilot_estimate::PilotEstimate;
pub use piloted::{Answers, Found, Pilot, Piloted, PilotedEstimate, PilotedState};
pub use rescaled::Rescaled;
pub use score_curve::ScoreCurve;
pub use sign_estimate::SignEstimate;
pub use sign_stage::{SignStage, one_stage_variance};
pub use start_at::StartAt;
pub use three_stage::ThreeStage;
pub use two_stage::{TwoStage, TwoStageState};
pub use vector_estimate::{VectorEstimate, VectorRemark};
pub use vector_gaussian::{Method, VectorGaussian, direction_variance};
pub use vector_mean::VectorMean;
pub use vector_sign::{VectorSign, VectorState, coordinate_variance};
