//! Simulation of locally private protocols: who answers, and what a simulation adds up.
//!
//! | population | what is drawn | for |
//! |---|---|---|
//! | [`Users`] | every value, privatised one by one or in blocks | the truth, demonstrations |
//! | [`Vectors`] | the same for users who hold vectors | means in several dimensions |
//! | [`Tallies`] | the tally of each question, from its exact law | studies |
//! | [`Rows`] | nothing but the users' noise: the values are real | running for real |
//!
//! [`Replay`] runs many replications of a protocol with [`Tallies`], and keeps what repeats.
//! [`Exact`] asks nobody: it weighs every tally with its probability, so that the risk of a protocol is a sum.
//!
//! [`in_batches`] spreads replications over threads with the same result on any number of them, [`Summary`] adds
//! them up, and [`Audit`] notes what a population was asked.

//!
//! [`AnyEstimator`] is a protocol behind a `dyn` with all of this. Streams of random numbers are named by [`seed`]: the same seed gives the
//! same bytes on any number of threads.
//!
//! ```
//! use ldp_core::model::Gaussian;
//! use ldp_core::{Bits, Epsilon, FiniteChannel, Group, Kernel, Partition, Population};
//! use ldp_simulate::{Tallies, Users};
//!
//! let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
//! let question = FiniteChannel::new(Partition::Threshold(0.5), kernel)?;
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
//! Feature `conformance`: the laws that have to be simulated to be checked.

#![forbid(unsafe_code)]

mod audit;
mod batches;
mod binomial;
#[cfg(feature = "conformance")]
pub mod conformance;
mod draw;
pub mod exact;
mod normals;
mod replay;
mod rows;
pub mod seed;
mod simulated;
mod summary;
mod table;
mod tallies;
mod users;
mod vectors;
pub mod wire;

pub use audit::Audit;
pub use batches::in_batches;
pub use binomial::{Binomial, draw_binomial, falls_below};
pub use draw::{AnyModel, Draw, DrawTally};
pub use exact::Exact;
pub use replay::Replay;
pub use rows::{Blurred, Order, RowNoise, RowStore, Rows};
pub use simulated::{
    AnyEstimator, Collected, Fidelity, InLanes, Setting, Simulation, Wired, erase, erase_in_lanes, erase_real,
    erase_vectors, replicate_tallies,
};
pub use summary::{Coverage, Moments, Summary};
pub use table::CountTable;
pub use tallies::{MOST_DRAWN, Tallies};
pub use users::Users;
pub use vectors::{Vectors, check_vectors};
