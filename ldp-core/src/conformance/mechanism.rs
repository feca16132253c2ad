//! Privacy, proved on the channel's own numbers, and the number of random words.

use super::{ALPHA, Counting, Violation, chi_square, ensure, generator, upper_tail};
use crate::channel::FiniteChannel;
use crate::epsilon::Epsilon;
use crate::mechanism::{Density, Mechanism, Publish};
use std::collections::BTreeMap;

const WITHIN: &str = "epsilon within the claim";
const COMPUTED: &str = "epsilon is computed";

/// How far `epsilon()` may be from the largest log ratio: what logarithms in floating point lose.
fn tolerance(epsilon: f64) -> f64 {
    1e-12 * epsilon.max(1.0)
}

/// Privacy in integers, from the published channel: every pair of weights of every report is within `claimed`, and
/// `epsilon()` is the level of exactly these weights.
pub fn check_epsilon<Q: Publish>(mechanism: &Q, claimed: Epsilon) -> Result<(), Violation> {
    let channel = mechanism.publish();
    let mut ratio = 0.0f64;
    for report in 0..crate::Finite::reports(&channel) {
        let (large, small) = extreme_weights(&channel, report);
        // All pairs of cells at once: the largest ratio of the report is that of its extreme weights.
        ensure(claimed.covers(large, small), "weights within the claim", || {
            format!("report {report} has weights {large} and {small}, more than e^{claimed} apart")
        })?;
        ratio = ratio.max(((large - small) as f64 / small as f64).ln_1p());
    }
    let epsilon = mechanism.epsilon();
    ensure(epsilon <= claimed, WITHIN, || format!("{epsilon} is above {claimed}"))?;
    ensure((epsilon.value() - ratio).abs() <= tolerance(epsilon.value()), COMPUTED, || {
        format!("epsilon() is {epsilon}, the weights have {ratio}")
    })
}

fn extreme_weights(channel: &FiniteChannel, report: u32) -> (u64, u64) {
    (0..channel.cells())
        .map(|cell| channel.weight(cell, report))
        .fold((0, u64::MAX), |(large, small), weight| (large.max(weight), small.min(weight)))
}

/// Privacy on the density: over the given points, the largest $\ln q(z|x) - \ln q(z|y)$ is `epsilon()`, and that is
/// at most `claimed`.
///
/// Give the points at which the ratio is largest among others: a level that no pair of points attains is a
/// violation too, because it would be a stored claim and not the channel's own number.
pub fn check_epsilon_density<'a, Q>(
    mechanism: &Q,
    claimed: Epsilon,
    inputs: impl IntoIterator<Item = &'a Q::Input> + Clone,
    reports: &[Q::Report],
) -> Result<(), Violation>
where
    Q: Density<Input: 'a>,
{
    let epsilon = mechanism.epsilon();
    ensure(epsilon <= claimed, WITHIN, || format!("{epsilon} is above {claimed}"))?;
    let mut largest = f64::NEG_INFINITY;
    for (place, report) in reports.iter().enumerate() {
        let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for input in inputs.clone() {
            let density = mechanism.ln_density(report, input);
            ensure(density.is_finite(), COMPUTED, || {
                format!("ln q = {density} at report number {place}: no finite level covers it")
            })?;
            (high, low) = (high.max(density), low.min(density));
        }
        largest = largest.max(high - low);
    }
    ensure((largest - epsilon.value()).abs() <= tolerance(epsilon.value()), COMPUTED, || {
        format!("epsilon() is {epsilon}, the largest log ratio of these points {largest}")
    })
}

/// Whether an input can be read off the number of random words drawn for it: from the same stream, every input must
/// take the same number of calls and bits. 256 streams, because a rejection loop shows itself only now and then.
pub fn check_draws<'a, Q>(
    mechanism: &Q,
    inputs: impl IntoIterator<Item = &'a Q::Input> + Clone,
) -> Result<(), Violation>
where
    Q: Mechanism<Input: 'a>,
{
    for replication in 0..256 {
        let mut first = None;
        for (place, input) in inputs.clone().into_iter().enumerate() {
            let mut rng = Counting::new(generator(0, replication, 0));
            mechanism.privatize(input, &mut rng);
            let (drawn, expected) = (rng.drawn(), *first.get_or_insert(rng.drawn()));
            ensure(drawn == expected, "draws do not depend on the input", || {
                format!("(calls, bits) are {expected:?} for the first input, {drawn:?} for number {place}")
            })?;
        }
    }
    Ok(())
}

/// How many reports [`check_draws_beyond_report`] draws for an input.
const REPORTS: u64 = 100_000;

/// Whether the number of random words says more than the report: for every input, (calls, bits) and `label` of the
/// report must be independent. With [`check_draws`], ε then holds for the report and the number of words together.
///
/// 100,000 reports per input, chi-square at [`ALPHA`]. Numbers of words, and labels, that are seen fewer than 708 times
/// go together with the next, so that no cell of the table is expected to hold fewer than 5. A number that never varies passes.
///
/// Label so that what hides the input shows: whole reports where they are few, else whether the input is among them.
pub fn check_draws_beyond_report<'a, Q, L>(
    mechanism: &Q,
    inputs: impl IntoIterator<Item = &'a Q::Input>,
    label: impl Fn(&Q::Report) -> L,
    seed: u64,
) -> Result<(), Violation>
where
    Q: Mechanism<Input: 'a>,
    L: Ord,
{
    for (place, input) in (0u64..).zip(inputs) {
        let mut rng = generator(seed, place, 0);
        let mut seen = Vec::with_capacity(REPORTS as usize);
        for _ in 0..REPORTS {
            let mut counting = Counting::new(&mut rng);
            let report = mechanism.privatize(input, &mut counting);
            seen.push((counting.drawn(), label(&report)));
        }
        let (rows, labels) = (groups(seen.iter().map(|(drawn, _)| drawn)), groups(seen.iter().map(|(_, label)| label)));
        let (height, width) = (rows.sizes.len(), labels.sizes.len());
        let mut table = vec![0u64; height * width];
        for (drawn, label) in &seen {
            table[rows.places[drawn] * width + labels.places[label]] += 1;
        }
        let share = |size: u64| size as f64 / REPORTS as f64;
        let law: Vec<f64> =
            rows.sizes.iter().flat_map(|&row| labels.sizes.iter().map(move |&size| share(row) * share(size))).collect();
        // Both margins are estimated from the table itself.
        let p = upper_tail(chi_square(&table, &law).0, ((height - 1) * (width - 1)) as u64);
        ensure(p >= ALPHA, "draws say nothing beyond the report", || {
            format!("p = {p:e} at input number {place}: the number of words tells reports apart")
        })?;
    }
    Ok(())
}

/// Values in groups, each large enough that the product of two shares is expected five times or more.
struct Groups<'a, K> {
    places: BTreeMap<&'a K, usize>,
    sizes: Vec<u64>,
}

fn groups<'a, K: Ord>(values: impl Iterator<Item = &'a K>) -> Groups<'a, K> {
    let mut sizes = BTreeMap::new();
    values.for_each(|value| *sizes.entry(value).or_insert(0u64) += 1);
    let least = (5.0 * REPORTS as f64).sqrt().ceil() as u64;
    // From the rarest on, values go into one group until it is large enough.
    let mut ordered: Vec<(&K, u64)> = sizes.into_iter().collect();
    ordered.sort_by_key(|&(_, size)| size);
    let (mut places, mut sizes) = (BTreeMap::new(), vec![0]);
    for (value, size) in ordered {
        if sizes[sizes.len() - 1] >= least {
            sizes.push(0);
        }
        let last = sizes.len() - 1;
        sizes[last] += size;
        places.insert(value, last);
    }
    let last = sizes.len() - 1;
    if last > 0 && sizes[last] < least {
        places.values_mut().for_each(|place| *place = (*place).min(last - 1));
        sizes[last - 1] += sizes[last];
        sizes.pop();
    }
    Groups { places, sizes }
}
