//! Whether the time of an answer tells more than the answer: what is timed, and what an observer can conclude from it.

mod leak;
mod subjects;

pub use leak::{Seen, lower_bound};
pub use subjects::{Subject, subjects};

/// α of a bound.
pub const ALPHA: f64 = 1e-3;

/// The median of an odd number of bounds.
#[must_use]
pub fn median(mut bounds: Vec<f64>) -> f64 {
    bounds.sort_by(f64::total_cmp);
    bounds.get(bounds.len() / 2).copied().unwrap_or(0.0)
}
