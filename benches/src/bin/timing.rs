//! Whether the time of an answer tells more than the answer: a table with a row per finite mechanism, a column per level.
//!
//! `cargo run --release -p benches --bin timing [ANSWERS]`. A number is a 99.9 % lower bound of the ε of (report, cycles),
//! the median of five runs: above its column's level the time has told something. Times of a machine that does other things
//! too are noisy, so nothing is decided by them; run it alone.

#![forbid(unsafe_code)]

use benches::timing::{ALPHA, lower_bound, median, subjects};
use ldp_core::{Epsilon, Result};

const LEVELS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
const RUNS: u64 = 5;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let answers = std::env::args().nth(1).map_or(Ok(400_000), |text| text.parse())?;
    println!("| what is timed | cycles | {} |", LEVELS.map(|level| format!("ε = {level}")).join(" | "));
    println!("|---|---|{}", "---|".repeat(LEVELS.len()));
    let names: Vec<&str> = subjects(Epsilon::new(1.0)?)?.iter().map(|subject| subject.name).collect();
    for (row, name) in names.iter().enumerate() {
        let found = LEVELS.map(|level| bound(row, level, answers));
        let mut cells = Vec::new();
        let mut typical = 0;
        for (found, level) in found.into_iter().zip(LEVELS) {
            let (bound, cycles) = found?;
            let mark = if bound > level { " **above**" } else { "" };
            cells.push(format!("{bound:.3}{mark}"));
            typical = cycles;
        }
        println!("| {name} | {typical} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// The bound of one subject at one level, and the median number of cycles.
fn bound(row: usize, level: f64, answers: usize) -> Result<(f64, u64)> {
    let subject = &subjects(Epsilon::new(level)?)?[row];
    // The first answers find cold caches.
    (subject.time)(answers / 10, 0);
    let mut typical = 0;
    let mut bounds = Vec::new();
    for seed in 1..=RUNS {
        let seen = (subject.time)(answers, seed);
        let mut cycles: Vec<u64> = seen.iter().map(|seen| seen.cycles).collect();
        cycles.sort_unstable();
        typical = cycles.get(cycles.len() / 2).copied().unwrap_or(0);
        bounds.push(lower_bound(&seen, subject.inputs, ALPHA)?);
    }
    Ok((median(bounds), typical))
}
