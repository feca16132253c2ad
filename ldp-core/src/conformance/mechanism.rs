//! Privacy, proved on the channel's own numbers, and the number of random words.

use super::{Counting, Violation, ensure};
use crate::channel::FiniteChannel;
use crate::epsilon::Epsilon;
use crate::mechanism::{Density, Mechanism, Publish};
use crate::seed::{Purpose, stream};

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
            let mut rng = Counting::new(stream(0, Purpose::Noise, replication, 0));
            mechanism.privatize(input, &mut rng);
            let (drawn, expected) = (rng.drawn(), *first.get_or_insert(rng.drawn()));
            ensure(drawn == expected, "draws do not depend on the input", || {
                format!("(calls, bits) are {expected:?} for the first input, {drawn:?} for number {place}")
            })?;
        }
    }
    Ok(())
}
