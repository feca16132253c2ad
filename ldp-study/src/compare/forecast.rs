//! How long a study will take, from a few of its points with few replications.

use super::measure::Measurer;
use crate::study::Outline;
use std::time::{Duration, Instant};

/// How many points are tried.
const TRIED: u64 = 8;
/// How many replications of each.
const REPLICATIONS: u64 = 32;
/// How long all of it may take: a forecast is to come at once.
const PATIENCE: Duration = Duration::from_secs(3);
/// How far a point is sought from where it should be: the one there may coincide with another.
const REACH: u64 = 1000;

/// «, about 3 hours on 2 threads», or nothing if no point could be tried.
pub fn forecast(outline: &Outline<'_>, measurer: &Measurer<'_>, threads: usize) -> String {
    let (size, started) = (outline.size(), Instant::now());
    let mut seconds = Vec::new();
    for number in 0..TRIED {
        let from = (u128::from(size) * u128::from(2 * number + 1) / u128::from(2 * TRIED)) as u64;
        let Some(mut setup) = (from..size.min(from.saturating_add(REACH))).find_map(|index| outline.setup(index))
        else {
            continue;
        };
        let wanted = setup.replications;
        setup.replications = wanted.min(REPLICATIONS);
        let begun = Instant::now();
        if measurer.check(&setup).is_ok() && measurer.measure(&setup, &mut |_| {}).is_ok() {
            seconds.push(begun.elapsed().as_secs_f64() * wanted as f64 / setup.replications as f64);
        }
        if started.elapsed() > PATIENCE {
            break;
        }
    }
    if seconds.is_empty() {
        return String::new();
    }
    // Each was tried on all threads already.
    let each = seconds.iter().sum::<f64>() / seconds.len() as f64;
    format!(", about {} on {threads} threads", duration(each * size as f64))
}

/// A time for people: to one digit or two, in the largest unit there is one of.
fn duration(seconds: f64) -> String {
    let units = [(365.25 * 86_400.0, "year"), (86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1.0, "second"));
    let count = (seconds / unit).round().max(1.0);
    format!("{count} {name}{}", if count > 1.0 { "s" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        let seconds = [0.0, 1.0, 59.0, 61.0, 7200.0, 200_000.0, 1e9];
        let texts = ["1 second", "1 second", "59 seconds", "1 minute", "2 hours", "2 days", "32 years"];
        assert_eq!(seconds.map(duration), texts);
    }
}
