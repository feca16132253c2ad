//! How much faster more threads are.

use super::options::Options;
use super::rounds::{Call, smallest};
use crate::numbers::duration;
use ldp_core::Result;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::error::Error;
use std::iter::successors;
use std::thread::available_parallelism;

/// Something that spreads over the threads of the current pool.
pub type Batch = Box<dyn Fn() -> Result<()> + Sync>;

/// Measures the batches that are wanted on one thread, two, four, …, all, and prints speed-ups and efficiencies.
pub fn speed_up(batches: &[(&str, Batch)], options: &Options) -> Result<(), Box<dyn Error>> {
    let wanted: Vec<&(&str, Batch)> = batches.iter().filter(|(name, _)| options.wants(name)).collect();
    let Some(pace) = &options.pace else {
        return Ok(wanted.into_iter().try_for_each(|(_, batch)| batch())?);
    };
    if !wanted.is_empty() {
        println!("{}", row(["case", "threads", "time", "speed-up", "efficiency"]));
    }
    let counts = counts(available_parallelism()?.get());
    let pool = |&threads: &usize| ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = counts.iter().map(pool).collect::<Result<Vec<ThreadPool>, _>>()?;
    for (name, batch) in wanted {
        let call = |pool| -> Call<'_> { Box::new(move || ThreadPool::install(pool, batch)) };
        let times = smallest(&mut pools.iter().map(call).collect::<Vec<_>>(), pace)?;
        for (threads, time) in counts.iter().zip(&times) {
            let factor = times[0] / time;
            let efficiency = format!("{:.0} %", 100.0 * factor / *threads as f64);
            println!("{}", row([name, &threads.to_string(), &duration(*time), &format!("{factor:.2}"), &efficiency]));
        }
    }
    Ok(())
}

/// Doubled up to all there are, and not one by one: a large machine would take long, and say no more.
fn counts(all: usize) -> Vec<usize> {
    successors(Some(1), |threads| Some(2 * threads)).take_while(|&threads| threads < all).chain([all]).collect()
}

fn row([name, threads, time, factor, efficiency]: [&str; 5]) -> String {
    format!("{name:<44} {threads:>7} {time:>10} {factor:>10} {efficiency:>11}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_and_all_are_among_the_counts() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        assert_eq!(counts(8), [1, 2, 4, 8]);
    }
}
