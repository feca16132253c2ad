//! Side by side with other software: what the comparison found, and how it is shown.
//!
//! `benches/peers/run` measures and writes `results.json`; everything that is read by people is made from that file here, so
//! that a test can hold the two together.

mod figure;
mod results;
mod tables;

pub use figure::figure;
pub use results::{Check, Entry, Kind, Malformed, Results, Row, Spread};
pub use tables::{BEGIN, END, page, readme_with, section};

use ldp_core::Result;
use ldp_core::special::normal;
use ldp_fisher::optimal::Cells;

/// A standard normal in k equally likely cells.
pub fn gaussian_cells(k: usize) -> Result<Cells> {
    let edge = |i: usize| if i.is_multiple_of(k) { 0.0 } else { normal::pdf(normal::quantile(i as f64 / k as f64)) };
    Cells::new(vec![1.0 / k as f64; k], (0..k).map(|j| edge(j) - edge(j + 1)).collect())
}
