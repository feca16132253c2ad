//! The answer before the data: how many users, asked in which rounds, for the accuracy wanted?
//!
//! [`Request`] says what is known and wanted; [`Request::for_users`] makes the most of a number of users and
//! [`Request::for_half_width`] finds the fewest. Both work with the exact risk of [`ldp_simulate::Exact`], not with
//! asymptotic formulas: at the sizes people plan for, those promise a tenth to a half too much.
//!
//! ```
//! use ldp_core::Epsilon;
//! use ldp_estimators::plan::{Prior, Protocol, Request};
//! // A mean within one σ of 0.3, σ = 1, to ± 0.1 at 95 %.
//! let request = Request::new(Epsilon::new(1.0)?, 1.0, Prior::guess(0.3, 1.0)?)?;
//! let plan = request.for_half_width(0.1)?;
//! assert!(plan.outlook.half_width().unwrap() <= 0.1);
//! // Two rounds, and about a fifth more users than the asymptotic formula has: 7.36 · 1.96² / 0.1² = 2826.
//! assert!(matches!(plan.protocol, Protocol::TwoStage { .. }));
//! assert!((3300..3600).contains(&plan.users), "{}", plan.users);
//! # Ok::<(), ldp_core::Error>(())
//! ```

mod allocate;
mod answer;
mod blur;
mod first_stage;
mod gauss;
mod outlook;
mod pilots;
mod prior;
mod protocol;
mod request;
mod stages;
mod worst;

pub use answer::{Alternative, Naive, Part, Plan, Shares, Warning};
pub use first_stage::{BestFirstStage, Distances, PLATEAU_REACH, best_first_stage, first_stage_law};
pub use outlook::Outlook;
pub use prior::{Criterion, Prior};
pub use protocol::{Kind, Protocol};
pub use request::Request;
