//! Our side of the comparison with other software: reads a task a line, answers with its time and what it found.
//!
//! A line is a name and whole numbers, the last of them a seed: `two-stage-users 10000 306 2000 17`. The answer is a line of
//! JSON, `{"seconds": …, "value": […]}`, or `{"error": …}`. The clock runs around the work alone, and a task of new sizes is
//! done once before it is timed; not if the line begins with `once`, for tasks whose time does not matter.

#![forbid(unsafe_code)]

mod protocols;
mod signs;

use benches::peers::gaussian_cells;
use ldp_core::Epsilon;
use serde::Serialize;
use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

/// The level of the mechanisms that are sought: three reports are best there, so that the answer is not known beforehand.
const OPTIMAL_EPSILON: f64 = 3.0;

/// What a task took, and what it found.
#[derive(Debug, Serialize)]
struct Answer {
    seconds: f64,
    value: Vec<f64>,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Does some work and takes its time.
fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let start = Instant::now();
    let done = black_box(work()?);
    Ok((start.elapsed().as_secs_f64(), done))
}

/// What is kept between tasks: values to privatise, and which tasks are warm.
#[derive(Default)]
struct Side {
    values: signs::Values,
    warm: BTreeSet<String>,
}

impl Side {
    fn answer(&mut self, line: &str) -> Outcome<Answer> {
        let (once, line) = line.trim().strip_prefix("once ").map_or((false, line.trim()), |line| (true, line));
        let (sizes, seed) = line.rsplit_once(' ').ok_or("a task is a name, sizes and a seed")?;
        let seed = seed.parse()?;
        if !once && self.warm.insert(sizes.to_owned()) {
            self.task(sizes, seed)?;
        }
        self.task(sizes, seed)
    }

    fn task(&mut self, sizes: &str, seed: u64) -> Outcome<Answer> {
        let mut words = sizes.split(' ');
        let name = words.next().unwrap_or_default();
        let sizes = words.map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let (seconds, value) = match (name, &sizes[..]) {
            ("signs", &[users]) => self.values.signs(users, seed)?,
            ("flips", &[users]) => signs::flips(users)?,
            ("categories", &[users, k]) => self.values.categories(users, k, seed)?,
            ("category-lies", &[users, k]) => signs::category_lies(users, k)?,
            ("sum", &[users]) => self.values.sum(users, seed)?,
            ("two-stage-users", &[users, first, times]) => protocols::two_stage_users(users, first, times, seed)?,
            ("two-stage-counts", &[users, first, times]) => protocols::two_stage_counts(users, first, times, seed)?,
            ("two-stage-risk", &[users, first]) => protocols::two_stage_risk(users, first)?,
            ("three-stage-counts", &[users, pilot, first, times]) => {
                protocols::three_stage_counts(users, pilot, first, times, seed)?
            }
            ("three-stage-risk", &[users, pilot, first]) => protocols::three_stage_risk(users, pilot, first)?,
            ("liu-reports", &[users, times]) => protocols::liu_reports(users, times, seed)?,
            ("liu", &[users, times]) => protocols::liu(users, times, seed)?,
            ("program", &[cells]) => {
                let (cells, epsilon) = (gaussian_cells(cells as usize)?, Epsilon::new(OPTIMAL_EPSILON)?);
                let (seconds, best) = timed(|| Ok(cells.program(epsilon)?))?;
                (seconds, vec![best.information, best.upper_bound])
            }
            ("certify", &[cells]) => {
                let (cells, epsilon) = (gaussian_cells(cells as usize)?, Epsilon::new(OPTIMAL_EPSILON)?);
                let (seconds, best) = timed(|| Ok(cells.certify(epsilon)?))?;
                (seconds, vec![best.grouping.information, best.upper_bound])
            }
            _ => return Err(format!("no task {name} with {} sizes", sizes.len()).into()),
        };
        Ok(Answer { seconds, value })
    }
}

fn main() -> Outcome<()> {
    let mut side = Side::default();
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        match side.answer(&line?) {
            Ok(answer) => writeln!(out, "{}", serde_json::to_string(&answer)?)?,
            Err(error) => writeln!(out, "{}", serde_json::json!({ "error": error.to_string() }))?,
        }
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_answers() {
        let mut side = Side::default();
        for (line, about, within) in [
            ("flips 100000 1", 1.0 / (1f64.exp() + 1.0), 0.008),
            ("once flips 100000 2", 1.0 / (1f64.exp() + 1.0), 0.008),
            ("category-lies 100000 8 1", 7.0 / (1f64.exp() + 7.0), 0.008),
            ("two-stage-users 10000 306 400 1", 7.813, 3.0),
            ("two-stage-counts 10000 306 40000 1", 7.813, 0.3),
            ("two-stage-risk 10000 306 1", 7.813_102_98, 1e-8),
            ("three-stage-counts 200000 15000 700 4000 1", 8.077, 1.0),
            ("three-stage-risk 200000 15000 700 1", 8.077, 0.01),
            ("liu 20000 50 1", 8.7, 6.0),
            ("liu-reports 20000 600 1", 8.7, 2.5),
            ("program 16 1", 0.593_640_908, 1e-8),
            ("certify 16 1", 0.593_640_908, 1e-6),
        ] {
            let answer = side.answer(line).unwrap();
            assert!((answer.value[0] - about).abs() < within, "{line}: {answer:?}");
            assert!(answer.seconds > 0.0, "{line}");
        }
        // The share of ones: τ Φ(1/2) plus that of the lies; six standard errors.
        let share = side.answer("signs 100000 1").unwrap().value[0];
        assert!((share - (0.268_941 + 0.462_117 * 0.691_462)).abs() < 0.01, "{share}");
        // Of eight categories the truth comes up with that weight, each of the others alike; the first holds an eighth.
        let share = side.answer("categories 100000 8 1").unwrap().value[0];
        assert!((share - 0.125).abs() < 0.008, "{share}");
        // The mean of as many values is θ.
        assert!((side.answer("sum 100000 1").unwrap().value[0] - 0.5).abs() < 0.02);
    }

    #[test]
    fn what_is_no_task_is_refused() {
        for line in ["", "signs", "signs 10", "dance 1 2", "signs x 1", "signs 10 -1", "two-stage-risk 1 306 1"] {
            assert!(Side::default().answer(line).is_err(), "{line}");
        }
    }
}
