//! How much reports and the time they took tell of a value, from below.

use ldp_core::Result;
use ldp_estimators::clopper_pearson::limits;
use std::collections::BTreeMap;

/// Bins of time, with about as many answers in each.
const BINS: usize = 16;
/// Reports that are told apart; the rarer ones are one more.
const REPORTS: usize = 16;
/// Events that are chosen on one half of the answers and tried on the other.
const EVENTS: usize = 8;

/// One answer as an observer sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Which of the values was asked about.
    pub input: usize,
    /// What was reported, as a number.
    pub report: u64,
    /// How long it took.
    pub cycles: u64,
}

/// A set of (report, bin) that a value makes likelier than another.
#[derive(Clone, Copy)]
struct Event {
    /// The value that makes it likely, and the other.
    inputs: [usize; 2],
    /// One report, or any.
    report: Option<usize>,
    /// From which bin, and up to which.
    bins: (usize, usize),
}

/// A lower confidence bound of the ε of (report, cycles), α = `alpha`, for values `0..inputs`.
///
/// ε is at least $\ln P(A \mid x) - \ln P(A \mid y)$ for every event A. Bins and the likeliest events are chosen on every
/// other answer; on the rest each of them has Clopper–Pearson limits at α shared out among them, so that whatever was
/// chosen the bound holds.
pub fn lower_bound(seen: &[Seen], inputs: usize, alpha: f64) -> Result<f64> {
    let (choose, test): (Vec<_>, Vec<_>) = seen.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let strip = |half: Vec<(usize, &Seen)>| half.into_iter().map(|(_, seen)| *seen).collect::<Vec<Seen>>();
    let (choose, test) = (strip(choose), strip(test));
    let (edges, reports) = (edges(&choose), common_reports(&choose));
    let (choose, test) = (Counts::new(&choose, inputs, &edges, &reports), Counts::new(&test, inputs, &edges, &reports));
    let mut events = all_events(inputs, reports.len() + 1);
    events.sort_by(|a, b| choose.promise(b).total_cmp(&choose.promise(a)));
    // Of the two limits of an event each may fail, and on one side only.
    let level = 1.0 - alpha / EVENTS as f64;
    events.iter().take(EVENTS).try_fold(0.0, |bound: f64, event| {
        let [(count, users), (others, other_users)] = test.of(event);
        let (low, high) = (limits(count, users, level)?.0, limits(others, other_users, level)?.1);
        Ok(bound.max((low / high).ln()))
    })
}

/// Where bins begin, the first apart: quantiles, each of them once.
fn edges(seen: &[Seen]) -> Vec<u64> {
    let mut cycles: Vec<u64> = seen.iter().map(|seen| seen.cycles).collect();
    cycles.sort_unstable();
    let mut edges: Vec<u64> = (1..BINS).filter_map(|i| cycles.get(i * cycles.len() / BINS).copied()).collect();
    edges.dedup();
    edges
}

/// The commonest reports with their places.
fn common_reports(seen: &[Seen]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::<u64, u64>::new();
    seen.iter().for_each(|seen| *counts.entry(seen.report).or_default() += 1);
    let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts.into_iter().take(REPORTS).enumerate().map(|(place, (report, _))| (report, place)).collect()
}

fn all_events(inputs: usize, reports: usize) -> Vec<Event> {
    let pairs = (0..inputs).flat_map(|x| (0..inputs).filter(move |&y| y != x).map(move |y| [x, y]));
    let reports = || (0..reports).map(Some).chain([None]);
    // Single bins, all up to one and all from one.
    let bins = || (0..BINS).flat_map(|bin| [(bin, bin), (0, bin), (bin, BINS - 1)]);
    pairs
        .flat_map(|inputs| reports().flat_map(move |report| bins().map(move |bins| Event { inputs, report, bins })))
        .collect()
}

/// How many answers about each value had which report in which bin.
struct Counts {
    by_input: Vec<Vec<[u64; BINS]>>,
    users: Vec<u64>,
}

impl Counts {
    fn new(seen: &[Seen], inputs: usize, edges: &[u64], reports: &BTreeMap<u64, usize>) -> Self {
        let mut by_input = vec![vec![[0; BINS]; reports.len() + 1]; inputs];
        let mut users = vec![0; inputs];
        for &Seen { input, report, cycles } in seen {
            let place = reports.get(&report).copied().unwrap_or(reports.len());
            by_input[input][place][edges.partition_point(|&edge| edge <= cycles)] += 1;
            users[input] += 1;
        }
        Self { by_input, users }
    }

    /// How many answers about either value are in the event, and of how many.
    fn of(&self, event: &Event) -> [(u64, u64); 2] {
        event.inputs.map(|input| {
            let rows = &self.by_input[input];
            let rows = event.report.map_or(&rows[..], |report| &rows[report..=report]);
            let (from, to) = event.bins;
            (rows.iter().map(|row| row[from..=to].iter().sum::<u64>()).sum(), self.users[input])
        })
    }

    /// What its bound will be, roughly.
    fn promise(&self, event: &Event) -> f64 {
        let [(count, users), (others, other_users)] = self.of(event);
        let [a, b] = [count, others].map(|count| count as f64 + 0.5);
        (a / users as f64).ln() - (b / other_users as f64).ln() - 4.0 * (1.0 / a + 1.0 / b).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    /// Randomised response at ε = 1 on one of three values, with a time that is told (value, lie, uniform number).
    fn bound(seed: u64, time: impl Fn(usize, bool, f64) -> u64) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut answer = || {
            let (input, coin, noise) = (rng.random_range(0..3usize), rng.random::<f64>(), rng.random::<f64>());
            let lie = coin < 1.0 / (1f64.exp() + 1.0);
            Seen { input, report: u64::from((input > 0) ^ lie), cycles: time(input, lie, noise) }
        };
        let seen: Vec<Seen> = (0..60_000).map(|_| answer()).collect();
        lower_bound(&seen, 3, 1e-3).unwrap()
    }

    /// Fails by chance for a thousandth of the seeds; of these twenty none does.
    #[test]
    fn an_even_time_tells_no_more_than_the_report() {
        for seed in 0..20 {
            let even = bound(seed, |_, _, noise| 50 + (20.0 * noise * noise) as u64);
            assert!((0.85..=1.0).contains(&even), "{even}");
        }
    }

    #[test]
    fn a_branch_on_the_lie_is_found() {
        // Fifteen cycles for a guess of the processor that was wrong, beside noise that hides most of them.
        let branch = bound(1, |_, lie, noise| 50 + (40.0 * noise) as u64 + if lie { 15 } else { 0 });
        assert!(branch > 1.5, "{branch}");
        // One in ten answers about one value takes longer, of the others one in twenty: ε = 1 + ln 2.
        let rare = bound(1, |value, _, noise| if noise < if value == 2 { 0.1 } else { 0.05 } { 90 } else { 50 });
        assert!((1.1..=1.0 + 2f64.ln()).contains(&rare), "{rare}");
    }

    #[test]
    fn a_time_that_tells_the_value_has_no_level() {
        assert!(bound(1, |value, _, _| 50 + value as u64) > 6.0);
    }

    #[test]
    fn nothing_seen_is_nothing_told() {
        assert_eq!(lower_bound(&[], 2, 1e-3).unwrap(), 0.0);
    }
}
