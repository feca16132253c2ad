//! A thin type against the channel it publishes, word by word.

use super::{Repeating, Violation, ensure, generator, thinned};
use crate::channel::{FiniteChannel, Kernel, Partition};
use crate::mechanism::{Mechanism, Publish};
use rand::Rng;

const LAW: &str = "thin equals published";

/// Random words tried beside the extreme ones.
const WORDS: usize = 4096;
/// Boundaries of weights, and cuts of the partition, that are tried at most.
const MOST: usize = 64;

/// From the same word, a mechanism and its published channel give the same report, and both take one word.
///
/// Words: 0, 1, the largest ones, those around every boundary between two reports, and 4096 random ones. Inputs: the
/// given ones, those at and next to the cuts of the partition, zeros of both signs, infinities and NaN.
pub fn check_channel<Q: Publish>(mechanism: &Q, inputs: &[f64], seed: u64) -> Result<(), Violation> {
    let channel = mechanism.publish();
    let mut all = inputs.to_vec();
    for cut in cuts(channel.partition()) {
        all.extend([cut.next_down(), cut, cut.next_up()]);
    }
    all.extend([0.0, -0.0, f64::MIN_POSITIVE, -f64::MIN_POSITIVE, f64::MAX, f64::MIN]);
    all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    let mut words = vec![0, 1, u64::MAX - 1, u64::MAX];
    for boundary in boundaries(&channel) {
        words.extend([boundary.wrapping_sub(1), boundary, boundary.wrapping_add(1)]);
    }
    let mut rng = generator(seed, 0, 0);
    words.extend((0..WORDS).map(|_| rng.next_u64()));
    for &word in &words {
        for input in &all {
            let (mut thin, mut wide) = (Repeating::new(word), Repeating::new(word));
            let (found, published) = (mechanism.privatize(input, &mut thin), channel.privatize(input, &mut wide));
            ensure(found == published, LAW, || {
                format!("word {word}, input {input}: {found}, but published {published}")
            })?;
            ensure(thin.drawn() == wide.drawn(), LAW, || {
                format!("input {input}: {} words drawn, published {}", thin.drawn(), wide.drawn())
            })?;
        }
    }
    Ok(())
}

/// Where cells begin, at most 16 places.
fn cuts(partition: &Partition) -> Vec<f64> {
    match partition {
        &Partition::Threshold(cut) => vec![cut],
        &Partition::Periodic { origin, width, .. } => (-8..8).map(|k| origin + f64::from(k) * width).collect(),
        Partition::Cuts(cuts) => thinned(cuts.points(), 16),
    }
}

/// The words at which the report changes.
fn boundaries(channel: &FiniteChannel) -> Vec<u64> {
    match channel.kernel() {
        &Kernel::Response { reports, lie } => {
            let all: Vec<u64> = (1..u64::from(reports)).map(|k| k * lie).collect();
            thinned(&all, MOST)
        }
        Kernel::Dense(_) => {
            let reports = crate::Finite::reports(channel);
            let column = |cell| {
                (0..reports - 1).scan(0u64, move |sum, report| {
                    *sum += channel.weight(cell, report);
                    Some(*sum)
                })
            };
            let all: Vec<u64> = (0..channel.cells()).flat_map(column).collect();
            thinned(&all, MOST)
        }
    }
}
