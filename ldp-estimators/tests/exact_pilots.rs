//! Exact risk of protocols that begin with a bitwise pilot: known values, the law of the pilot, and ranges.

use ldp_core::drive::exact::{Countable, Errors, Exact, Method, Summed};
use ldp_core::drive::{Tallies, in_batches};
use ldp_core::model::Gaussian;
use ldp_core::seed::{Purpose, stream};
use ldp_core::{Counts, Epsilon, Inference, StagedEstimator, Step, Tally, run};
use ldp_estimators::{BitwisePilot, Joseph, Share, ThreeStage};
use rand::RngExt;

fn epsilon() -> Epsilon {
    Epsilon::new(1.0).unwrap()
}

fn pilot(share: Share) -> BitwisePilot {
    BitwisePilot::new(epsilon(), [0.0, 128.0], 1.0, share).unwrap()
}

fn joseph(share: Share) -> Joseph {
    Joseph::two_rounds(epsilon(), pilot(share), 1.0).unwrap()
}

fn three(first_stage: u64) -> ThreeStage {
    ThreeStage::three_rounds(epsilon(), pilot(Share::Count(15_000)), 1.0, Some(first_stage)).unwrap()
}

fn best<E: Countable>(estimator: &E, theta: f64, users: u64) -> Summed<Errors> {
    let model = Gaussian::new(1.0).unwrap();
    let summed = Exact::new(&model, theta).unwrap().best(estimator, users, || Errors::new(theta)).unwrap();
    assert_eq!(summed.method, Method::Exact);
    assert!((summed.gather.mass() - 1.0).abs() < 1e-11, "{summed:?}");
    summed
}

/// n·MSE, to `digits` after the point.
fn check<E: Countable>(what: &str, estimator: &E, theta: f64, users: u64, expected: f64, digits: i32) {
    let found = users as f64 * best(estimator, theta, users).gather.mse();
    assert!((found - expected).abs() < 0.6 * 0.1f64.powi(digits), "{what}, θ = {theta}, n = {users}: {found}");
}

const USERS: [u64; 4] = [30_000, 50_000, 100_000, 200_000];

#[test]
fn known_values_of_three_stages() {
    for (first_stage, expected) in [(400, [15.446, 10.859, 8.881, 8.140]), (700, [15.622, 10.851, 8.829, 8.077])] {
        for (users, expected) in USERS.into_iter().zip(expected) {
            check("three stages", &three(first_stage), 84.5, users, expected, 3);
        }
    }
    check("three stages", &three(500), 100.25, 50_000, 10.812, 3);
}

#[test]
fn known_values_of_joseph() {
    let tuned = joseph(Share::Count(15_000));
    for (users, expected) in USERS.into_iter().zip([18.3, 13.1, 10.8, 9.9]) {
        check("Joseph", &tuned, 84.5, users, expected, 1);
    }
    check("Joseph", &tuned, 100.25, 50_000, 11.095, 3);
    check("Joseph, half", &joseph(Share::HALF), 100.25, 50_000, 15.535, 3);
}
