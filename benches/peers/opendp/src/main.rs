//! OpenDP's side of the comparison: randomised response of one bit per value, from its own library.
//!
//! Reads a task a line, `signs N SEED` or `flips N SEED`, and answers with JSON as the other sides do. Noise is OpenDP's own:
//! without OpenSSL it comes from ChaCha12 (`thread_rng`), which is the faster of its two generators.

#![forbid(unsafe_code)]

use opendp::error::Fallible;
use opendp::measurements::make_randomized_response_bool;
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

/// ε = 1.
fn truth() -> f64 {
    let growth = 1f64.exp();
    growth / (growth + 1.0)
}

/// «x ≥ 0» of every value through randomised response, one by one.
fn reports(values: &[f64]) -> Fallible<Vec<bool>> {
    let response = make_randomized_response_bool(truth(), false)?;
    values.iter().map(|x| response.invoke(&(*x >= 0.0))).collect()
}

/// Values evenly spread, as many of them at or above 0 as of N(1/2, 1): nothing else about them matters.
fn values(users: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..users).map(|_| next() - 0.308_537_538_725_986_9).collect()
}

fn answer(line: &str, kept: &mut Vec<f64>) -> Result<serde_json::Value, String> {
    // Whether a task is warmed up is for others to mind: `flips` is never, and `signs` always.
    let words: Vec<&str> = line.trim_start_matches("once ").split_whitespace().collect();
    let [name, users, _seed] = words[..] else { return Err("a task is a name, a size and a seed".into()) };
    let users: usize = users.parse().map_err(|error| format!("{users}: {error}"))?;
    let count = |values: &[f64], of: bool| -> Result<(f64, f64), String> {
        let start = Instant::now();
        let reports = black_box(reports(values)).map_err(|error| format!("{error:?}"))?;
        let seconds = start.elapsed().as_secs_f64();
        Ok((seconds, reports.iter().filter(|&&report| report == of).count() as f64 / users as f64))
    };
    match name {
        "signs" => {
            if kept.len() != users {
                *kept = values(users);
                count(kept, true)?;
            }
            let (seconds, ones) = count(kept, true)?;
            Ok(serde_json::json!({ "seconds": seconds, "value": [ones] }))
        }
        "flips" => {
            let (above, below) = (count(&vec![1.0; users], false)?, count(&vec![-1.0; users], true)?);
            Ok(serde_json::json!({ "seconds": above.0 + below.0, "value": [above.1, below.1] }))
        }
        _ => Err(format!("no task {name}")),
    }
}

fn main() -> std::io::Result<()> {
    let mut kept = Vec::new();
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let answer = answer(&line?, &mut kept).unwrap_or_else(|error| serde_json::json!({ "error": error }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
