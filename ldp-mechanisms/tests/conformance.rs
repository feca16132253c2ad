//! Every mechanism against the laws of `ldp-core`, and the published questions against their golden JSON.
//!
//! Sampling checks have fixed seeds and α = 1e-6; what they catch is shown by the mutants in `ldp-core`.

use ldp_core::conformance::{
    check_channel, check_draws, check_epsilon, check_epsilon_density, check_sampler, check_wire_round_trip,
};
use ldp_core::model::{Categorical, Gaussian, Laplace, Poisson};
use ldp_core::{
    Bits, Cuts, Dense, Density, Epsilon, Finite, FiniteChannel, Kernel, Mechanism, Numerics, Partition, Publish,
    Rescale,
};
use ldp_mechanisms::{IntervalResponse, RandomizedResponse, Sign};
use ldp_simulate::conformance::check_marginal;
use ldp_simulate::seed::{Purpose, stream};
use rand::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

const LEVELS: [f64; 7] = [1e-6, 1e-3, 0.2, 1.0, 4.0, 10.0, 30.0];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// All laws of one mechanism; `inputs` must meet the first and the last cell.
fn check_all<Q>(mechanism: &Q, claimed: Epsilon, inputs: &[f64], seed: u64)
where
    Q: Publish + Density + Finite + Clone + PartialEq + Debug,
{
    let reports: Vec<u32> = (0..mechanism.reports()).collect();
    assert_eq!(Q::NUMERICS, Numerics::Exact);
    check_epsilon(mechanism, claimed).unwrap();
    check_epsilon(&mechanism.publish(), claimed).unwrap();
    check_epsilon_density(mechanism, claimed, inputs, &reports).unwrap();
    check_channel(mechanism, inputs, seed).unwrap();
    check_draws(mechanism, inputs).unwrap();
    check_sampler(mechanism, inputs, seed).unwrap();
}

fn check_wire<Q>(mechanism: &Q)
where
    Q: Publish + Serialize + DeserializeOwned + PartialEq + Debug,
{
    check_wire_round_trip(mechanism).unwrap();
    check_wire_round_trip(&mechanism.publish()).unwrap();
}

#[test]
fn sign() {
    let gaussian = Gaussian::new(1.0).unwrap();
    let thresholds = [0.0, -0.0, 0.5, -3.7, 1e-300, -1e18, 1.0 / 3.0];
    for (seed, level) in (0..).zip(LEVELS) {
        for threshold in thresholds {
            let sign = Sign::new(epsilon(level), threshold).unwrap();
            let inputs = [f64::MIN, threshold.next_down(), threshold, threshold + 1.0];
            check_all(&sign, epsilon(level), &inputs, seed);
            check_wire(&sign);
            // Near the threshold and far from it; not around 1e18, where values of a double are 128 apart.
            for theta in [threshold - 2.5, threshold + 0.3, 40.0].into_iter().filter(|theta| theta.abs() < 1e9) {
                check_marginal(&sign, &gaussian, theta, seed).unwrap();
            }
        }
        // Atoms on the threshold: sgn(0) counts as plus.
        let at_two = Sign::new(epsilon(level), 2.0).unwrap();
        check_marginal(&at_two, &Poisson, 2.3, seed).unwrap();
        check_marginal(&at_two.rescale(0.5).unwrap(), &Categorical::new(3).unwrap(), 0.4, seed).unwrap();
    }
}

#[test]
fn interval_response() {
    let models = (Gaussian::new(2.0).unwrap(), Laplace::new(0.7).unwrap());
    let ten = (0..10).map(|i| f64::from(i) * 0.37 - 2.0).collect();
    for (seed, level) in (0..).zip(LEVELS) {
        for cuts in [vec![0.25], vec![-0.48, 0.48], vec![-1e300, 0.0, 5e-324, 1e300], Vec::clone(&ten)] {
            let response = IntervalResponse::new(epsilon(level), cuts.clone()).unwrap();
            let inputs = [f64::MIN, cuts[0], cuts[cuts.len() - 1], f64::MAX];
            check_all(&response, epsilon(level), &inputs, seed);
            check_wire(&response);
            check_marginal(&response, &models.0, -0.4, seed).unwrap();
            check_marginal(&response, &models.1, 0.9, seed).unwrap();
            check_marginal(&response, &Poisson, 0.9, seed).unwrap();
        }
    }
    // A thousand intervals, at levels where truth is rare and where lies are.
    let thousand: Vec<f64> = (1..1000).map(|i| f64::from(i) * 0.01 - 5.0).collect();
    for (seed, level) in [(1, 0.2), (2, 4.0), (3, 10.0)] {
        let response = IntervalResponse::new(epsilon(level), thousand.clone()).unwrap();
        check_all(&response, epsilon(level), &[-9.0, 0.005, 9.0], seed);
        check_marginal(&response, &models.0, 0.3, seed).unwrap();
    }
    check_wire(&IntervalResponse::new(epsilon(1.0), thousand[..100].to_vec()).unwrap());
}

#[test]
fn randomized_response() {
    for (seed, level) in (0..).zip(LEVELS) {
        for categories in [2, 3, 10, 257] {
            let response = RandomizedResponse::new(epsilon(level), categories).unwrap();
            // What is no category counts as the nearest one.
            let inputs = [-1.0, 0.0, 1.0, f64::from(categories - 1), 1e9];
            check_all(&response, epsilon(level), &inputs, seed);
            check_marginal(&response, &Categorical::new(categories).unwrap(), 0.3, seed).unwrap();
            check_marginal(&response, &Poisson, 3.0, seed).unwrap();
        }
        check_wire(&RandomizedResponse::new(epsilon(level), 10).unwrap());
    }
    let response = RandomizedResponse::new(epsilon(4.0), 1000).unwrap();
    check_all(&response, epsilon(4.0), &[0.0, 999.0], 9);
    check_marginal(&response, &Categorical::new(1000).unwrap(), 0.2, 9).unwrap();
}

/// Same seed, same reports: another number here is value-breaking.
#[test]
fn pinned_reports() {
    let sign = Sign::new(epsilon(1.0), 0.0).unwrap();
    // One word per report.
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    let reports: [u32; 12] = std::array::from_fn(|_| sign.privatize(&0.3, &mut rng));
    assert_eq!(reports, [0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1]);
    // In bulk, a full chunk of 64 and a part of one; then the generator has moved on by the same number of words.
    let mut tally = Bits::default();
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    sign.simulate_all(&[0.3; 100], &mut rng, &mut tally).unwrap();
    assert_eq!((tally.ones(), rng.next_u64()), (64, 12_809_488_111_150_802_533));
    // More than two reports.
    let response = RandomizedResponse::new(epsilon(1.0), 5).unwrap();
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    let reports: [u32; 12] = std::array::from_fn(|_| response.privatize(&3.0, &mut rng));
    assert_eq!(reports, [1, 3, 3, 0, 0, 1, 3, 3, 1, 0, 0, 2]);
}

/// The golden questions of wire version 1, by the name of their file.
fn golden() -> Vec<(&'static str, FiniteChannel)> {
    let (quarter, half) = (1 << 62, 1 << 63);
    let columns = vec![vec![quarter, half, quarter], vec![half, quarter, quarter]];
    let residues = Partition::Periodic { origin: -0.5, width: 2.0, cells: 2 };
    let union = Partition::Cuts(Cuts::labelled(vec![-1.0, 1.0], vec![0, 1, 0]).unwrap());
    vec![
        ("sign.json", Sign::new(epsilon(1.0), 0.5).unwrap().publish()),
        ("sign-tiny.json", Sign::new(epsilon(1e-6), -1e-300).unwrap().publish()),
        ("interval-response.json", IntervalResponse::new(epsilon(3.0), vec![-0.48, 0.48]).unwrap().publish()),
        ("randomized-response.json", RandomizedResponse::new(epsilon(0.2), 4).unwrap().publish()),
        ("residues-dense.json", FiniteChannel::new(residues, Kernel::Dense(Dense::new(columns).unwrap())).unwrap()),
        ("union.json", FiniteChannel::new(union, Kernel::response(epsilon(30.0), 2).unwrap()).unwrap()),
    ]
}

/// Malformed questions with a part of the reason they are refused for.
const MALFORMED: [(&str, &str); 20] = [
    ("another-version.json", "wire version 2 is not understood"),
    ("cells-beyond-kernel.json", "cells of the partition must be at most 2, got 3"),
    ("cuts-decrease.json", "strictly increasing, got 1 before 0.5"),
    ("cuts-empty.json", "cuts must be at least 1, got 0"),
    ("dense-column-short.json", "expected 2 weights of a cell, got 1"),
    ("dense-equal-columns.json", "every cell has the same weights"),
    ("dense-sum.json", "the weights of cell 1 must add up to 2^64"),
    ("dense-zero-weight.json", "in cell 0 must be at least 1, got 0"),
    ("epsilon-stored.json", "unknown field `epsilon`"),
    // A label that would not fit the number of cells: it once passed, with a report that no other cell can give.
    ("label-largest.json", "label must be at most 4294967294"),
    ("labels-missing.json", "missing field `labels`"),
    ("lie-number.json", "expected a string"),
    ("lie-too-large.json", "the weight of a lie must be at most 9223372036854775807"),
    ("lie-zero.json", "the weight of a lie must be at least 1, got 0"),
    ("periodic-width.json", "width must be positive and finite, got 0"),
    ("reports-one.json", "reports of a kernel must be at least 2, got 1"),
    ("threshold-null.json", "invalid type: null"),
    ("threshold-overflow.json", "number out of range"),
    ("trailing.json", "trailing characters"),
    ("truncated.json", "EOF"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/1")
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn golden_questions_are_read_and_written_to_the_byte() {
    let golden = golden();
    assert_eq!(names(&folder()), golden.iter().map(|(name, _)| (*name).to_owned()).collect());
    for (name, question) in golden {
        let text = fs::read_to_string(folder().join(name)).unwrap();
        assert_eq!(serde_json::to_string(&question).unwrap(), text.trim_end(), "{name}: wire-breaking");
        let read: FiniteChannel = serde_json::from_str(&text).unwrap();
        assert_eq!(read, question, "{name}");
        assert_eq!(read.epsilon(), question.epsilon());
        check_wire_round_trip(&question).unwrap();
    }
}

#[test]
fn malformed_questions_are_refused_with_the_reason() {
    let folder = folder().join("malformed");
    assert_eq!(names(&folder), MALFORMED.iter().map(|(name, _)| (*name).to_owned()).collect());
    for (name, reason) in MALFORMED {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let found = match serde_json::from_str::<FiniteChannel>(&text) {
            Ok(question) => panic!("{name} was read as {question:?}"),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(reason), "{name}: {found}");
    }
}
