//! Times of several calls, taken in turn.

use ldp_core::Result;
use std::time::{Duration, Instant};

/// Something to be timed.
pub type Call<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// How long calls are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Shorter calls are repeated until together they take as long, so that the clock does not matter.
    pub least: Duration,
    /// The fewest and the most rounds.
    pub rounds: [u32; 2],
    /// No round is begun after so long, but for the fewest.
    pub budget: Duration,
}

/// The smallest time of each call over rounds, in seconds.
///
/// A round takes every call once, so that a machine that is busy for a while is so for all of them; what others do on
/// it only adds, hence the smallest.
pub fn smallest(calls: &mut [Call<'_>], pace: &Pace) -> Result<Vec<f64>> {
    let repeats = calls.iter_mut().map(|call| enough(call, pace.least)).collect::<Result<Vec<u32>>>()?;
    let mut times = vec![f64::INFINITY; calls.len()];
    let start = Instant::now();
    let [fewest, most] = pace.rounds;
    for round in 0..most {
        if round >= fewest && start.elapsed() > pace.budget {
            break;
        }
        for ((call, &repeats), smallest) in calls.iter_mut().zip(&repeats).zip(&mut times) {
            *smallest = smallest.min(time(call, repeats)?.as_secs_f64() / f64::from(repeats));
        }
    }
    Ok(times)
}

/// How often to call so that it takes long enough; this also warms up.
fn enough(call: &mut Call<'_>, least: Duration) -> Result<u32> {
    let mut repeats = 1;
    while time(call, repeats)? < least {
        repeats *= 2;
    }
    Ok(repeats)
}

fn time(call: &mut Call<'_>, repeats: u32) -> Result<Duration> {
    let start = Instant::now();
    (0..repeats).try_for_each(|_| call())?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::Error;
    use std::cell::RefCell;

    #[test]
    fn calls_take_turns() {
        let order = RefCell::new(String::new());
        let call = |name| -> Call<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(())
            })
        };
        let mut calls = ['a', 'b', 'c'].map(call);
        let pace = Pace { least: Duration::ZERO, rounds: [2, 9], budget: Duration::ZERO };
        let times = smallest(&mut calls, &pace).unwrap();
        assert!(times.len() == 3 && times.iter().all(|time| time.is_finite()), "{times:?}");
        // Once to warm up, and the fewest rounds: the time was over before.
        assert_eq!(*order.borrow(), "abcabcabc");
    }

    #[test]
    fn short_calls_are_repeated_and_errors_are_told() {
        let mut calls = 0;
        let mut count: Call<'_> = Box::new(|| {
            calls += 1;
            Ok(())
        });
        let least = Duration::from_micros(200);
        let repeats = enough(&mut count, least).unwrap();
        drop(count);
        // Once, twice, four times, …
        assert_eq!(calls, 2 * repeats - 1);
        let mut broken: [Call<'_>; 1] = [Box::new(|| Err(Error::Uninformative))];
        assert!(smallest(&mut broken, &Pace { least, rounds: [1, 1], budget: least }).is_err());
    }
}
