//! How the time to the best mechanism grows with the number of cells: a table, and the exponents of time against k.
//!
//! Certified groups: dynamic programming is O(k²) for every number of reports, and the proof less. Pricing is O(k log k). The
//! linear program by column generation is there for comparison, as far as it goes in reasonable time. Medians of five calls.

use benches::peers::gaussian_cells;
use benches::{median_seconds, slope};
use ldp_core::{Epsilon, Result};

const CELLS: [usize; 6] = [100, 200, 400, 800, 1600, 3200];
/// The linear program takes seconds beyond.
const MOST_PROGRAM: usize = 400;
const CALLS: usize = 5;

fn main() -> Result<()> {
    for level in [1.0, 3.0, 6.0] {
        let epsilon = Epsilon::new(level)?;
        println!("ε = {level}");
        println!(
            "{:>6} {:>8} {:>12} {:>12} {:>12} {:>10}",
            "cells", "reports", "certified ms", "program ms", "pricing µs", "gap"
        );
        let mut points = [const { Vec::new() }; 3];
        for k in CELLS {
            let cells = gaussian_cells(k)?;
            let best = cells.certify(epsilon)?;
            let certified = median_seconds(CALLS, || cells.certify(epsilon))?;
            let priced = median_seconds(CALLS, || cells.price(epsilon, &best.prices))?;
            let program = if k <= MOST_PROGRAM { median_seconds(1, || cells.program(epsilon))? } else { f64::NAN };
            for (points, time) in points.iter_mut().zip([certified, priced, program]) {
                if time.is_finite() {
                    points.push(((k as f64).ln(), time.ln()));
                }
            }
            println!(
                "{k:>6} {:>8} {:>12.3} {:>12.3} {:>12.1} {:>10.1e}",
                best.grouping.reports,
                certified * 1e3,
                program * 1e3,
                priced * 1e6,
                best.relative_gap()
            );
        }
        let [certified, priced, program] = points.map(|points| slope(&points));
        println!("time ∝ k^{certified:.2} certified, k^{priced:.2} pricing, k^{program:.2} linear program\n");
    }
    Ok(())
}
