//! Every protocol against the laws of `ldp-core`.
//!
//! Nothing here is statistical: edges, replays and the wire are compared exactly. Seeds are fixed.

use ldp_core::conformance::{check_edges, check_edges_with, check_replay, check_replay_with, check_wire_round_trip};
use ldp_core::model::{Gaussian, Poisson};
use ldp_core::{
    Bits, Either, Epsilon, Finite, Inference, Mechanism, Population, Publish, Rescale, StagedEstimator, Step, Tally,
    run,
};
use ldp_estimators::{
    BitwisePilot, Joseph, JosephOneRound, JosephOneRoundUnknownVariance, JosephUnknownVariance, Liu, OneStage, Piloted,
    Rescaled, Share, ThreeStage, TwoStage,
};
use ldp_mechanisms::Sign;
use ldp_simulate::Tallies;
use ldp_simulate::conformance::{check_simulation_is_wire, check_simulation_is_wire_typed};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

const LEVELS: [f64; 3] = [0.2, 1.0, 4.0];
const USERS: [u64; 5] = [1, 2, 3, 10, 1000];
/// θ and start in units of σ, both signs, near and far from each other.
const PLACES: [(f64, f64); 5] = [(0.5, 0.0), (-1.7, -1.2), (0.31, -2.4), (-3.3, 1.9), (17.25, 16.0)];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// All laws of one protocol with finite questions on values with standard deviation `sigma` and mean `theta`.
fn check_all<E>(estimator: &E, sigma: f64, theta: f64, users: &[u64], seed: u64)
where
    E: StagedEstimator,
    E::Question: Publish + Finite + Clone + PartialEq + Debug + Serialize + DeserializeOwned,
    E::Tally: Tally<Report = u32> + Clone + PartialEq + Debug + Serialize + DeserializeOwned,
    E::State: Clone + PartialEq + Debug + Serialize + DeserializeOwned,
    E::Estimate: Inference + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let model = Gaussian::new(sigma).unwrap();
    check_edges(estimator, users).unwrap();
    check_replay(estimator, users).unwrap();
    for &users in users {
        check_simulation_is_wire(estimator, &model, theta, users, seed).unwrap();
        // Every message on the way.
        let Ok(mut step) = estimator.begin(users) else {
            continue;
        };
        let mut population = Tallies::new(&model, theta, seed).unwrap();
        // The first messages and the last: a sequential protocol has thousands alike.
        for number in 0.. {
            if number < 4 || matches!(step, Step::Done(_)) {
                check_wire_round_trip(&step).unwrap();
            }
            let Step::Ask { round, state } = step else { break };
            let mut tallies = Vec::new();
            for group in round.groups() {
                let mut tally = estimator.tally(&group.question);
                Population::answer(&mut population, group, &mut tally).unwrap();
                tallies.push(tally);
            }
            if number < 4 {
                check_wire_round_trip(&state).unwrap();
                tallies.iter().for_each(|tally| check_wire_round_trip(tally).unwrap());
            }
            step = estimator.advance(state, &tallies).unwrap();
        }
    }
}

/// A unit-variance protocol as it is and on values with other standard deviations.
fn check_scaled<E>(estimator: E, theta: f64, seed: u64)
where
    E: StagedEstimator<Question = Sign, Tally = Bits> + Copy,
    E::State: Clone + PartialEq + Debug + Serialize + DeserializeOwned,
    E::Estimate: Inference + Rescale + PartialEq + Debug + Serialize + DeserializeOwned,
{
    check_all(&estimator, 1.0, theta, &USERS, seed);
    for sigma in [0.3, 3.0] {
        check_all(&Rescaled::new(estimator, sigma).unwrap(), sigma, sigma * theta, &USERS, seed);
    }
}

#[test]
fn one_stage() {
    for level in LEVELS {
        for (seed, (theta, start)) in (0..).zip(PLACES) {
            check_scaled(OneStage::new(epsilon(level), start).unwrap(), theta, seed);
        }
    }
}

#[test]
fn two_stage() {
    for level in LEVELS {
        for (seed, (theta, start)) in (0..).zip(PLACES) {
            // With 306 users in the first stage all but the largest number of users are too few, a typed error.
            for first_stage in [1, 7, 306] {
                check_scaled(TwoStage::new(epsilon(level), start, first_stage).unwrap(), theta, seed);
            }
        }
    }
}

#[test]
fn two_stage_tuned() {
    for level in LEVELS {
        for (seed, (theta, start)) in (0..).zip(PLACES) {
            check_scaled(TwoStage::tuned(epsilon(level), start).unwrap(), theta, seed);
        }
    }
}

/// One user per round, so few users: every edge is a path of its own through all rounds.
#[test]
fn liu() {
    for (seed, (level, (theta, start))) in (0..).zip(LEVELS.into_iter().zip(PLACES)) {
        let median = Liu::new(epsilon(level), start).unwrap();
        for estimator in [median, median.quantile(0.9).unwrap().batch(7).unwrap()] {
            check_all(&estimator, 1.0, theta, &[1, 2, 3, 40], seed);
            check_all(&Rescaled::new(estimator, 3.0).unwrap(), 3.0, 3.0 * theta, &[1, 30], seed);
        }
    }
}

/// Ranges on both sides of zero, with a mean and a σ in them.
const RANGES: [([f64; 2], f64, f64); 4] = [
    ([0.0, 128.0], 1.0, 84.5),
    ([-128.0, 128.0], 3.0, -100.3),
    ([-7.7, -0.2], 0.3, -2.9),
    ([1000.0, 1001.0], 0.05, 1000.3),
];

#[test]
fn three_stage_and_joseph() {
    for level in [1.0, 4.0] {
        let epsilon = epsilon(level);
        for (seed, (range, sigma, theta)) in (0..).zip(RANGES) {
            let pilot = |share| BitwisePilot::new(epsilon, range, sigma, share).unwrap();
            let least = pilot(Share::HALF).fewest_per_scale() * u64::from(pilot(Share::HALF).scales());
            let users = [1, least - 1, 2 * least, 2 * least + 17];
            let estimator = ThreeStage::three_rounds(epsilon, pilot(Share::Count(least)), sigma, Some(30)).unwrap();
            check_all(&estimator, sigma, theta, &users, seed);
            let estimator = ThreeStage::three_rounds(epsilon, pilot(Share::Count(least)), sigma, None).unwrap();
            check_all(&estimator, sigma, theta, &users[2..], seed);
            let estimator = Joseph::two_rounds(epsilon, pilot(Share::HALF), sigma).unwrap();
            check_all(&estimator, sigma, theta, &users, seed);
            let estimator = JosephOneRound::new(epsilon, pilot(Share::HALF), sigma).unwrap();
            check_all(&estimator, sigma, theta, &users[2..], seed);
        }
    }
}

#[test]
fn liu_from_a_pilot() {
    let epsilon = epsilon(4.0);
    let (range, sigma, theta) = RANGES[1];
    let pilot = BitwisePilot::new(epsilon, range, sigma, Share::Part(0.7)).unwrap();
    let liu = Rescaled::new(Liu::new(epsilon, 0.0).unwrap(), sigma).unwrap();
    check_all(&Piloted::new(pilot, liu), sigma, theta, &[1, 800, 1000], 3);
}

/// The laws of a protocol that asks for residues and for noisy values.
fn check_mixed<E>(estimator: &E, sigma: f64, theta: f64, users: &[u64], seed: u64)
where
    E: StagedEstimator<Question: Mechanism<Input = f64, Report = Either<u32, f64>> + Serialize + DeserializeOwned>,
    E::Tally: Tally<Report = Either<u32, f64>> + Clone + Serialize + DeserializeOwned,
    E::State: Clone + Serialize + DeserializeOwned,
    E::Estimate: Inference + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let examples = |question: &E::Question| {
        let mut tally = estimator.tally(question);
        let all = [0, 1, 2, 3].map(Either::First).into_iter().chain([-1e6, 0.0, 0.5, 1e6].map(Either::Second));
        all.filter(|&report| tally.push(report, 1).is_ok()).collect()
    };
    check_edges_with(estimator, users, &examples).unwrap();
    check_replay_with(estimator, users, &examples).unwrap();
    let model = Gaussian::new(sigma).unwrap();
    for &users in users {
        check_simulation_is_wire_typed(estimator, &model, theta, users, seed).unwrap();
    }
}

#[test]
fn joseph_unknown_variance() {
    let epsilon = epsilon(4.0);
    for (seed, (range, sigma, theta)) in (0..).zip(RANGES) {
        let pilot = BitwisePilot::new(epsilon, range, sigma / 2.0, Share::HALF).unwrap();
        let two = JosephUnknownVariance::new(epsilon, pilot.clone(), 2.0 * sigma).unwrap();
        check_mixed(&two, sigma, theta, &[1, 20_001], seed);
        let one = JosephOneRoundUnknownVariance::new(epsilon, pilot, 2.0 * sigma).unwrap();
        check_mixed(&one, sigma, theta, &[1, 20_001], seed);
    }
}

/// More users than a block of streams, and values on the threshold.
#[test]
fn long_runs_and_ties_are_the_same_over_the_wire() {
    let model = Gaussian::new(1.0).unwrap();
    let estimator = TwoStage::new(epsilon(1.0), 0.0, 1500).unwrap();
    check_simulation_is_wire(&estimator, &model, 0.5, 66_000, 3).unwrap();
    let at_an_atom = OneStage::new(epsilon(4.0), 2.0).unwrap();
    check_simulation_is_wire(&at_an_atom, &Poisson, 2.0, 1000, 3).unwrap();
}

/// Rescaling is a change of unit: values times σ give the estimate times σ, from the same tallies.
#[test]
fn rescaled_runs_are_runs_in_another_unit() {
    for (seed, (theta, start)) in (0..).zip(PLACES) {
        let unit = TwoStage::new(epsilon(1.0), start, 100).unwrap();
        // A power of two, so that nothing is rounded.
        for sigma in [0.25, 8.0] {
            let rescaled = Rescaled::new(unit, sigma).unwrap();
            let model = |sigma| Gaussian::new(sigma).unwrap();
            let one = run(&unit, 2000, &mut Tallies::new(&model(1.0), theta, seed).unwrap()).unwrap();
            let other = run(&rescaled, 2000, &mut Tallies::new(&model(sigma), sigma * theta, seed).unwrap()).unwrap();
            assert_eq!(one.rescale(sigma).unwrap(), other);
        }
    }
}
