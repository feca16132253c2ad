//! Whether the time of an answer tells more than the answer: what is timed, and what an observer can conclude from it.

mod leak;
mod subjects;

pub use leak::{Seen, lower_bound};
pub use subjects::{Answers, Subject, subjects};

/// α of a bound.
pub const ALPHA: f64 = 1e-3;

/// The median of an odd number of measurements.
#[must_use]
pub fn median(mut measured: Vec<f64>) -> f64 {
    measured.sort_by(f64::total_cmp);
    measured.get(measured.len() / 2).copied().unwrap_or(0.0)
}
