//! Who answers: the populations that drive a protocol, and what a simulation adds up.
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

mod audit;
mod batches;
mod binomial;
pub mod exact;
mod replay;
mod rows;
mod slice;
mod summary;
mod table;
mod tallies;
mod users;
mod vectors;

pub use audit::Audit;
pub use batches::in_batches;
pub use binomial::{Binomial, draw_binomial, falls_below};
pub use exact::Exact;
pub use replay::Replay;
pub use rows::{Blurred, Order, RowNoise, RowStore, Rows};
pub use slice::{privatize_slice, simulate_slice};
pub use summary::{Coverage, Moments, Summary};
pub use table::CountTable;
pub use tallies::{MOST_DRAWN, Tallies};
pub use users::Users;
pub use vectors::{Vectors, check_vectors};
