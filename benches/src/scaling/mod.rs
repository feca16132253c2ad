//! How time grows: a case does some work at several sizes, and the exponent of its time is fitted.

mod fit;
mod options;
mod rounds;
mod threads;

pub use fit::Power;
pub use options::Options;
pub use rounds::{Call, Pace, smallest};
pub use threads::{Batch, speed_up};

use crate::numbers::{duration, grouped};
use ldp_core::Result;
use std::hint::black_box;

/// An exponent with a larger error is not what there is to say: all times are shown.
const FAR_OFF: f64 = 0.1;

/// What is done at one size.
pub struct Work {
    /// In how many parts it is counted where its time is shown.
    units: f64,
    call: Call<'static>,
}

impl Work {
    /// Work of so many units; what is made before the call is not timed.
    pub fn new<T>(units: u64, mut call: impl FnMut() -> Result<T> + 'static) -> Self {
        Self { units: units as f64, call: Box::new(move || call().map(|done| drop(black_box(done)))) }
    }
}

/// Work at several sizes.
pub struct Case {
    /// What grows, a slash, what is done: `users/liu in lanes`.
    pub name: &'static str,
    /// What its work is counted in.
    pub unit: &'static str,
    /// The exponent there should be, or what bounds it.
    pub expected: &'static str,
    /// The sizes, smallest first.
    pub sizes: &'static [u64],
    /// The work at a size.
    pub at: fn(u64) -> Result<Work>,
}

/// Measures the cases that are wanted and prints a row for each.
pub fn fit_all(cases: &[Case], options: &Options) -> Result<()> {
    let wanted: Vec<&Case> = cases.iter().filter(|case| options.wants(case.name)).collect();
    let Some(pace) = &options.pace else {
        return wanted.into_iter().try_for_each(|case| ((case.at)(case.sizes[0])?.call)());
    };
    if !wanted.is_empty() {
        println!("{}", row(["case", "sizes", "time at the largest", "exponent", "expected"]));
    }
    for case in wanted {
        let (points, units) = case.measure(pace)?;
        let power = Power::fit(&points)?;
        let sizes = match case.sizes {
            [first, .., last] => format!("{} to {}", grouped(*first), grouped(*last)),
            _ => String::new(),
        };
        let each = points.last().map_or(f64::NAN, |point| point.1 / units);
        let each = format!("{} per {}", duration(each), case.unit);
        println!("{}", row([case.name, &sizes, &each, &power.to_string(), case.expected]));
        if power.error > FAR_OFF {
            let times = points.iter().map(|&(size, time)| format!("{} at {}", duration(time), grouped(size as u64)));
            println!("    {}", times.collect::<Vec<_>>().join(", "));
        }
    }
    Ok(())
}

fn row([name, sizes, time, power, expected]: [&str; 5]) -> String {
    format!("{name:<44} {sizes:<25} {time:<24} {power:<15} {expected}")
}

impl Case {
    /// The sizes and their seconds, and the units of the largest.
    fn measure(&self, pace: &Pace) -> Result<(Vec<(f64, f64)>, f64)> {
        let works = self.sizes.iter().map(|&size| (self.at)(size)).collect::<Result<Vec<Work>>>()?;
        let units = works.last().map_or(1.0, |work| work.units);
        let mut calls: Vec<Call<'_>> = works.into_iter().map(|work| work.call).collect();
        let times = smallest(&mut calls, pace)?;
        Ok((self.sizes.iter().map(|&size| size as f64).zip(times).collect(), units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::sleep;
    use std::time::Duration;

    const CASE: Case = Case {
        name: "milliseconds/sleep",
        unit: "nap",
        expected: "1",
        sizes: &[1, 2, 4],
        at: |size| {
            Ok(Work::new(2, move || {
                sleep(Duration::from_millis(size));
                Ok(())
            }))
        },
    };

    /// Sleep may take longer than asked, never less.
    #[test]
    fn every_size_is_measured() {
        let pace = Pace { least: Duration::ZERO, rounds: [1, 1], budget: Duration::ZERO };
        let (points, units) = CASE.measure(&pace).unwrap();
        assert!(units == 2.0 && points.iter().all(|(size, time)| *time >= size / 1e3), "{points:?}");
    }

    #[test]
    fn without_a_benchmark_the_smallest_size_runs_alone() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let at = |size| {
            Ok(Work::new(1, move || {
                assert_eq!(size, 1);
                RUNS.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }))
        };
        let other = |_| -> Result<Work> { panic!("not asked for") };
        let options = Options::parse(["sleep".to_owned()]).unwrap();
        fit_all(&[Case { at, ..CASE }, Case { name: "cells/certify", at: other, ..CASE }], &options).unwrap();
        assert_eq!(RUNS.load(Ordering::Relaxed), 1);
    }
}
