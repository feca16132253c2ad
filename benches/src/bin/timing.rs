//! Whether the time of an answer tells more than the answer: a table with a row per finite mechanism, a column per level.
//!
//! `cargo run --release -p benches --bin timing [ANSWERS]`. A number is a 99.9 % lower bound of the ε of (report, cycles),
//! the median of five runs: above its column's level, where it says so, time has told something. Times of a machine that does
//! other things too are noisy, so nothing is decided by them; run it alone.

#![forbid(unsafe_code)]

use benches::timing::{ALPHA, Subject, lower_bound, median, subjects};
use ldp_core::{Epsilon, Result};

const LEVELS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
const RUNS: u64 = 5;
/// Answers timed in a row, which a guess of the processor has to be right about.
const IN_A_ROW: usize = 50_000;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let answers = std::env::args().nth(1).map_or(Ok(400_000), |text| text.parse())?;
    println!("| what is timed | ns per report | {} |", LEVELS.map(|level| format!("ε = {level}")).join(" | "));
    println!("|---|---|{}", "---|".repeat(LEVELS.len()));
    for row in 0..at(1.0)?.len() {
        let mut cells = Vec::new();
        for level in LEVELS {
            let bound = bound(&at(level)?[row], answers)?;
            cells.push(format!("{bound:.3}{}", if bound > level { " **above**" } else { "" }));
        }
        let subject = &at(1.0)?[row];
        let pace = median((1..=RUNS).map(|seed| subject.answers.pace(IN_A_ROW, seed)).collect());
        println!("| {} | {pace:.1} | {} |", subject.name, cells.join(" | "));
    }
    Ok(())
}

fn at(level: f64) -> Result<Vec<Subject>> {
    subjects(Epsilon::new(level)?)
}

/// The bound of one subject.
fn bound(subject: &Subject, answers: usize) -> Result<f64> {
    // The first answers find cold caches.
    subject.answers.time(answers / 10, 0);
    let run = |seed| lower_bound(&subject.answers.time(answers, seed), subject.inputs, ALPHA);
    Ok(median((1..=RUNS).map(run).collect::<Result<_>>()?))
}
