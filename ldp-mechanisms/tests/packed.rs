//! Packed reports: the law of one by one, draws that do not depend on the values, and the same words however cut.
//!
//! Seeds are fixed and α = 1e-6.

use ldp_bulk::Pack;
use ldp_bulk::{BLOCK, Packer, bits_of_packed, counts_of_packed, planes};
use ldp_core::conformance::{ALPHA, Counting, goodness_of_fit};
use ldp_core::{Counts, Cuts, Dense, Epsilon, FiniteChannel, Kernel, Mechanism, Partition, Publish, Tally};
use ldp_mechanisms::{IntervalResponse, RandomizedResponse, Residue, Sign};
use ldp_simulate::seed::{Purpose, stream};
use rand::{SeedableRng, rngs::ChaCha12Rng};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn sign(level: f64, threshold: f64) -> Sign {
    Sign::new(epsilon(level), threshold).unwrap()
}

/// Channels of every kind that is packed in its own way, with an input per cell.
fn channels(level: f64) -> Vec<(FiniteChannel, Vec<f64>)> {
    let response = |cuts: Vec<f64>| IntervalResponse::new(epsilon(level), cuts).unwrap().publish();
    let categories = |k: u32| RandomizedResponse::new(epsilon(level), k).unwrap().publish();
    let whole = |k: u32| (0..k).map(f64::from).collect::<Vec<f64>>();
    let kernel = |m| Kernel::response(epsilon(level), m).unwrap();
    // Two intervals that are one cell.
    let labelled = Partition::Cuts(Cuts::labelled(vec![-1.0, 1.0, 2.0], vec![0, 1, 0, 2]).unwrap());
    let (quarter, half) = (1u64 << 62, 1u64 << 63);
    let dense = Dense::new(vec![vec![quarter, half, quarter], vec![half, quarter, quarter]]).unwrap();
    vec![
        (sign(level, 0.0).publish(), vec![-1.0, 0.0]),
        (response(vec![0.5]), vec![0.0, 0.5]),
        (response(vec![-0.5, 0.5]), vec![-1.0, -0.5, 0.5]),
        (categories(4), whole(4)),
        (categories(5), whole(5)),
        (categories(6), whole(6)),
        (categories(17), whole(17)),
        (categories(23), whole(23)),
        (FiniteChannel::new(labelled, kernel(3)).unwrap(), vec![1.5, 0.0, 2.0]),
        (FiniteChannel::new(Partition::Periodic { origin: 0.0, width: 1.0, cells: 4 }, kernel(4)).unwrap(), whole(4)),
        // A kernel with more reports than there are cells.
        (FiniteChannel::new(Partition::Threshold(0.0), kernel(3)).unwrap(), vec![-1.0, 1.0]),
        (FiniteChannel::new(Partition::Threshold(0.0), Kernel::Dense(dense)).unwrap(), vec![-1.0, 1.0]),
    ]
}

/// The reports of packed words, one by one.
fn unpack(words: &[u64], reports: u32, users: usize) -> Vec<u32> {
    let width = planes(reports);
    let report = |i: usize| (0..width).map(|j| ((words[i / 64 * width + j] >> (i % 64) & 1) as u32) << j).sum();
    (0..users).map(report).collect()
}

fn reports(channel: &FiniteChannel) -> u32 {
    ldp_core::Finite::reports(channel)
}

/// Every cell in turn, 60,000 users each, in every place of a word: counts against the integer weights.
#[test]
fn reports_have_the_weights_of_the_channel() {
    for (seed, level) in (1..).zip([0.2, 1.0, 4.0]) {
        for (channel, inputs) in channels(level) {
            let (cells, m) = (inputs.len(), reports(&channel));
            // Neighbours of every other cell, and a number of users that fills no word.
            let users = 60_000 * cells + 1;
            let values: Vec<f64> = (0..users).map(|i| inputs[i % cells]).collect();
            let mut words = Vec::new();
            channel.simulate_packed(&values, &mut ChaCha12Rng::seed_from_u64(seed), &mut words);
            let said = unpack(&words, m, users);
            for (cell, &input) in inputs.iter().enumerate() {
                let mut counts = vec![0u64; m as usize];
                said.iter().skip(cell).step_by(cells).for_each(|&report| counts[report as usize] += 1);
                let at = channel.partition().cell(input);
                let law = |report| channel.weight(at, report) as f64 / 2f64.powi(64);
                let right: Vec<f64> = (0..m).map(law).collect();
                let p = goodness_of_fit(&counts, &right);
                assert!(p > ALPHA, "{channel:?} in cell {cell}: p = {p:e}, {counts:?}");
                // Mutants: a tenth more of one report at the cost of another.
                let (mut wrong, shift) = (right.clone(), 0.1 * right[0].min(right[1]));
                (wrong[0], wrong[1]) = (right[0] + shift, right[1] - shift);
                if 60_000.0 * shift * shift / right[0].max(right[1]) > 100.0 {
                    assert!(goodness_of_fit(&counts, &wrong) < ALPHA, "{channel:?} in cell {cell}: the mutant passes");
                }
            }
            // The tally counts the same reports.
            let mut one_by_one = Counts::new(m);
            said.iter().for_each(|&report| one_by_one.push(report, 1).unwrap());
            assert_eq!(counts_of_packed(m, &words, users as u64).unwrap(), one_by_one);
            if m == 2 {
                assert_eq!(bits_of_packed(&words, users as u64).unwrap().ones(), one_by_one.counts()[1]);
            }
        }
    }
}

/// At ε = 44 everybody tells the truth: what one by one says is what is packed, for every odd value too.
#[test]
fn odd_values_are_answered_as_one_by_one() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 5e-324, -5e-324, 0.5, -0.5, 1e300, -1e300, 3.0];
    for (channel, _) in
        channels(44.0).into_iter().filter(|(channel, _)| matches!(channel.kernel(), Kernel::Response { .. }))
    {
        for users in [1, 12, 63, 64, 65, 600] {
            let values: Vec<f64> = (0..users).map(|i| odd[i % odd.len()]).collect();
            let mut words = Vec::new();
            let mut rng = stream(3, Purpose::Noise, 0, 0);
            channel.simulate_packed(&values, &mut rng, &mut words);
            let expected: Vec<u32> = values.iter().map(|x| channel.privatize(x, &mut rng)).collect();
            assert_eq!(unpack(&words, reports(&channel), users), expected, "{channel:?}");
        }
    }
}

/// Padding is zero, `f32` is widened `f64`, and the thin sign is its channel, word for word.
#[test]
fn words_are_whole_and_the_same_for_equal_values() {
    for (channel, _) in channels(1.0) {
        for users in [0usize, 1, 63, 64, 65, 511, 512, 513, 1100] {
            let narrow: Vec<f32> = (0..users).map(|i| (i as f32 * 0.37).sin() * 3.0).collect();
            let wide: Vec<f64> = narrow.iter().map(|&x| f64::from(x)).collect();
            let (mut words, mut others) = (Vec::new(), Vec::new());
            channel.simulate_packed(&wide, &mut ChaCha12Rng::seed_from_u64(9), &mut words);
            channel.simulate_packed(&narrow, &mut ChaCha12Rng::seed_from_u64(9), &mut others);
            assert_eq!(words, others);
            assert_eq!(words.len(), users.div_ceil(64) * planes(reports(&channel)));
            // Refuses bits beyond the last user.
            counts_of_packed(reports(&channel), &words, users as u64).unwrap();
        }
    }
    let values: Vec<f64> = (0..3000).map(|i| f64::from(i).sin()).collect();
    let (mut thin, mut wide) = (Vec::new(), Vec::new());
    sign(1.0, 0.3).simulate_packed(&values, &mut ChaCha12Rng::seed_from_u64(2), &mut thin);
    sign(1.0, 0.3).publish().simulate_packed(&values, &mut ChaCha12Rng::seed_from_u64(2), &mut wide);
    assert_eq!(thin, wide);
}

/// However a stream is cut, the words are those of the whole, and the generator is where it would be.
#[test]
fn any_pieces_give_the_same_words() {
    let values: Vec<f64> = (0..5000).map(|i| f64::from(i * i % 1009) / 100.0).collect();
    for (channel, _) in channels(1.0) {
        let mut whole = Vec::new();
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        channel.simulate_packed(&values, &mut rng, &mut whole);
        for size in [1, 63, 64, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7, 5000] {
            let mut words = Vec::new();
            let mut packer = Packer::simulated(channel.clone(), ChaCha12Rng::seed_from_u64(4));
            values.chunks(size).for_each(|piece| packer.push(piece, &mut words));
            packer.push::<f64>(&[], &mut words);
            assert_eq!(packer.finish(&mut words), rng, "{size}");
            assert_eq!(words, whole, "{size}");
        }
    }
}

/// From the same stream, a block takes the same number of words whatever the values.
#[test]
fn draws_do_not_depend_on_the_values() {
    for (channel, inputs) in channels(1.0) {
        for replication in 0..64 {
            let mut first = None;
            for kind in 0..4u32 {
                let at = |i: usize| match kind {
                    0 => inputs[0],
                    1 => inputs[inputs.len() - 1],
                    2 => inputs[i % inputs.len()],
                    _ => f64::NAN,
                };
                let values: Vec<f64> = (0..700).map(at).collect();
                let mut rng = Counting::new(stream(0, Purpose::Noise, replication, 0));
                channel.simulate_packed(&values, &mut rng, &mut Vec::new());
                assert_eq!(rng.drawn(), *first.get_or_insert(rng.drawn()), "{channel:?}");
            }
        }
    }
}

/// Same seed, same words: another number here is value-breaking.
#[test]
fn pinned_words() {
    let values: Vec<f64> = (0..70).map(|i| f64::from(i % 5) - 2.0).collect();
    let packed = |channel: FiniteChannel| {
        let mut words = Vec::new();
        channel.simulate_packed(&values, &mut ChaCha12Rng::seed_from_u64(20), &mut words);
        words
    };
    // A threshold; cuts in order, with a choice among three lies; a table of labels.
    assert_eq!(packed(sign(1.0, 0.0).publish()), PINNED_SIGN);
    assert_eq!(packed(IntervalResponse::new(epsilon(1.0), vec![-1.0, 0.0, 1.0]).unwrap().publish()), PINNED_CUTS);
    let residue = Residue::new(epsilon(1.0), 0.0, 1.0, 3);
    assert_eq!(packed(residue.unwrap().publish()), PINNED_RESIDUE);
}

const PINNED_SIGN: [u64; 2] = [14_866_910_099_985_415_102, 59];
const PINNED_CUTS: [u64; 4] = [2_312_629_878_811_725_432, 4_842_981_155_899_181_471, 53, 59];
const PINNED_RESIDUE: [u64; 4] = [1_568_141_139_340_739_337, 2_894_711_475_980_149_840, 16, 39];
