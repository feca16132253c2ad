//! Every protocol against the laws of `ldp-core`.
//!
//! Nothing here is statistical: edges, replays and the wire are compared exactly. Seeds are fixed.

use ldp_core::conformance::{check_edges, check_replay, check_simulation_is_wire, check_wire_round_trip};
use ldp_core::drive::Tallies;
use ldp_core::model::{Gaussian, Poisson};
use ldp_core::{Bits, Epsilon, Rescale, Round, StagedEstimator, Step, run};
use ldp_estimators::{OneStage, Rescaled, SignEstimate, TwoStage};
use ldp_mechanisms::Sign;
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

/// All laws of one protocol on values with standard deviation `sigma` and mean `theta`.
fn check_all<E>(estimator: &E, sigma: f64, theta: f64, seed: u64)
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate = SignEstimate>,
    E::State: Clone + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let model = Gaussian::new(sigma).unwrap();
    check_edges(estimator, &USERS).unwrap();
    check_replay(estimator, &USERS).unwrap();
    for users in USERS {
        check_simulation_is_wire(estimator, &model, theta, users, seed).unwrap();
        // Every message on the way.
        let Ok(mut step) = estimator.begin(users) else {
            continue;
        };
        let mut population = Tallies::new(&model, theta, seed).unwrap();
        loop {
            check_wire_round_trip(&step).unwrap();
            let Step::Ask { round, state } = step else { break };
            check_wire_round_trip(&state).unwrap();
            let Round::One([group]) = &round else { panic!("a sign round has one group") };
            let mut tally = estimator.tally(&group.question);
            ldp_core::Population::answer(&mut population, group, &mut tally).unwrap();
            check_wire_round_trip(&tally).unwrap();
            step = estimator.advance(state, &[tally]).unwrap();
        }
    }
}

/// A unit-variance protocol as it is and on values with other standard deviations.
fn check_scaled<E>(estimator: E, theta: f64, seed: u64)
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate = SignEstimate> + Copy,
    E::State: Clone + PartialEq + Debug + Serialize + DeserializeOwned,
{
    check_all(&estimator, 1.0, theta, seed);
    for sigma in [0.3, 3.0] {
        check_all(&Rescaled::new(estimator, sigma).unwrap(), sigma, sigma * theta, seed);
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
