//! How the time of an exact sum grows: a table, and the exponent of time against √n₁·√n₂, fitted in logarithms.
//!
//! A round of n users has about √n counts that matter, so two rounds have √n₁·√n₂ tallies and the exponent should be
//! about one. Medians of seven calls.

use benches::{epsilon, median_seconds, slope};
use ldp_core::Result;
use ldp_core::drive::exact::{Errors, Exact};
use ldp_core::model::Gaussian;
use ldp_estimators::TwoStage;

const USERS: [u64; 7] = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
const CALLS: usize = 7;

fn main() -> Result<()> {
    let model = Gaussian::new(1.0)?;
    let exact = Exact::new(&model, 0.5)?;
    let mut points = Vec::new();
    println!(
        "{:>10} {:>7} {:>10} {:>12} {:>10} {:>8} {:>12}",
        "n", "n1", "√n1·√n2", "tallies", "ms", "ns each", "n·MSE"
    );
    for users in USERS {
        let first = TwoStage::tuned_first_stage(epsilon()?, users);
        let estimator = TwoStage::new(epsilon()?, 0.0, first)?;
        let size = (first as f64).sqrt() * ((users - first) as f64).sqrt();
        // Once to warm up.
        let summed = exact.sum(&estimator, users, || Errors::new(0.5))?;
        let median = median_seconds(CALLS, || exact.sum(&estimator, users, || Errors::new(0.5)))?;
        let (tallies, scaled) = (summed.tallies, users as f64 * summed.gather.mse());
        let each = median * 1e9 / tallies as f64;
        println!("{users:>10} {first:>7} {size:>10.0} {tallies:>12} {:>10.2} {each:>8.1} {scaled:>12.6}", median * 1e3);
        points.push((size.ln(), median.ln()));
    }
    println!("time ∝ (√n1·√n2)^{:.3}", slope(&points));
    Ok(())
}
