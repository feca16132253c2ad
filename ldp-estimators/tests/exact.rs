//! Exact finite-sample risk: the walk over all tallies against a naive recursion, literal values, and itself.
//!
//! The naive recursion takes every count of every round, so it is for few users; it shares nothing with the walk but the
//! state machine and the binomial probabilities.

use ldp_core::model::Gaussian;
use ldp_core::special::binomial;
use ldp_core::{Bits, Epsilon, Finite, Inference, StagedEstimator, Step, StepOf};
use ldp_estimators::{DuchiRogers, OneStage, Rescaled, TwoStage};
use ldp_mechanisms::Sign;
use ldp_simulate::exact::{Countable, Errors, Exact, Method, Summed, Wanted, evaluate};
use ldp_simulate::seed::{Purpose, stream};
use rand::RngExt;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn one(level: f64) -> OneStage {
    OneStage::new(epsilon(level), 0.0).unwrap()
}

fn two(level: f64, first_stage: u64) -> TwoStage {
    TwoStage::new(epsilon(level), 0.0, first_stage).unwrap()
}

fn tuned(level: f64) -> TwoStage {
    TwoStage::tuned(epsilon(level), 0.0).unwrap()
}

/// A sign protocol whose every tally can be looked at.
trait Signs: Countable + StagedEstimator<Question = Sign, Tally = Bits> {}

impl<E: Countable + StagedEstimator<Question = Sign, Tally = Bits>> Signs for E {}

/// E[error], E[error²] and E[error⁴], the probability that was summed, and the ends of what was estimated.
#[derive(Clone, Copy, Debug)]
struct Naive {
    mass: f64,
    bias: f64,
    mse: f64,
    fourth: f64,
    range: [f64; 2],
}

/// The risk by the recursion. At most 60 users: it takes every count.
fn naive<E: Signs>(estimator: &E, sigma: f64, theta: f64, users: u64) -> Naive {
    assert!(users <= 60);
    let model = Gaussian::new(sigma).unwrap();
    let mut risk = Naive { mass: 0.0, bias: 0.0, mse: 0.0, fourth: 0.0, range: [f64::INFINITY, f64::NEG_INFINITY] };
    recurse(estimator, estimator.begin(users).unwrap(), 1.0, &model, theta, &mut risk);
    assert!((risk.mass - 1.0).abs() < 1e-13, "{risk:?}");
    risk
}

fn recurse<E: Signs>(estimator: &E, step: StepOf<E>, weight: f64, model: &Gaussian, theta: f64, risk: &mut Naive) {
    let (round, state) = match step {
        Step::Done(estimate) => {
            let error = estimate.value() - theta;
            risk.mass += weight;
            risk.bias += weight * error;
            risk.mse += weight * error.powi(2);
            risk.fourth += weight * error.powi(4);
            risk.range = [risk.range[0].min(estimate.value()), risk.range[1].max(estimate.value())];
            return;
        }
        Step::Ask { round, state } => (round, state),
    };
    let [group] = round.groups() else { panic!("a sign round has one group") };
    let mut law = [0.0; 2];
    group.question.marginal(model, theta, &mut law);
    for ones in 0..=group.users {
        let tally = Bits::new(ones, group.users).unwrap();
        let next = estimator.advance(state.clone(), &[tally]).unwrap();
        recurse(estimator, next, weight * binomial::pmf(ones, group.users, law[1]), model, theta, risk);
    }
}

fn summed<E: Signs>(estimator: &E, sigma: f64, theta: f64, users: u64) -> Summed<Errors> {
    let model = Gaussian::new(sigma).unwrap();
    Exact::new(&model, theta).unwrap().sum(estimator, users, || Errors::new(theta)).unwrap()
}

/// The largest relative difference of the moments; of the bias, which may be zero, relative to the error's size.
fn apart(a: &Errors, bias: f64, mse: f64, fourth: f64) -> f64 {
    let relative = |a: f64, b: f64| (a - b).abs() / b;
    relative(a.mse(), mse).max(relative(a.fourth(), fourth)).max((a.bias() - bias).abs() / mse.sqrt())
}

/// How far the walk is from the recursion, and whether what the recursion saw lies in the range that is promised.
fn compared<E: Signs>(estimator: &E, sigma: f64, theta: f64, users: u64) -> (f64, bool) {
    let Naive { bias, mse, fourth, range, .. } = naive(estimator, sigma, theta, users);
    let [low, high] = estimator.range(users).unwrap();
    let found = summed(estimator, sigma, theta, users);
    assert_eq!(found.method, Method::Exact);
    assert!(found.mse_error.unwrap() < 1e-10 && (found.gather.mass() - 1.0).abs() < 1e-12, "{found:?}");
    (apart(&found.gather, bias, mse, fourth), low <= range[0] && range[1] <= high)
}

/// Thirty settings drawn from a stream: ε from 0.2 to 4, three units, starts on both sides, up to 60 users.
#[test]
fn the_walk_is_the_naive_recursion() {
    let mut rng = stream(20_260_101, Purpose::Tally, 0, 0);
    for setting in 0..30u64 {
        let level = epsilon(0.2 * 20f64.powf(rng.random::<f64>()));
        let sigma = [0.3, 1.0, 3.0][setting as usize % 3];
        let start = 4.0 * rng.random::<f64>() - 3.0;
        let theta = sigma * (start + 5.0 * rng.random::<f64>() - 2.5);
        // The smallest first, then whatever comes.
        let least = 1 + u64::from(setting % 3 == 1);
        let users = if setting < 3 { least } else { rng.random_range(least..=60) };
        let (away, inside) = match setting % 3 {
            0 => {
                let unit = OneStage::new(level, start).unwrap();
                compared(&Rescaled::new(unit, sigma).unwrap(), sigma, theta, users)
            }
            1 => {
                let unit = TwoStage::new(level, start, rng.random_range(1..users)).unwrap();
                let sigma = [0.3, 1.0, 3.0][setting as usize / 3 % 3];
                compared(&Rescaled::new(unit, sigma).unwrap(), sigma, theta, users)
            }
            _ => {
                let unit = DuchiRogers::new(level, start, 0.2 + 3.0 * rng.random::<f64>()).unwrap();
                let sigma = [0.3, 1.0, 3.0][setting as usize / 3 % 3];
                compared(&Rescaled::new(unit, sigma).unwrap(), sigma, theta, users)
            }
        };
        let what = format!("setting {setting}: ε = {level:?}, σ = {sigma}, start {start}, θ = {theta}, n = {users}");
        assert!(away < 1e-12, "{what}: {away}");
        assert!(inside, "{what}: an estimate out of range");
    }
    // What the comparison would catch: one user more, and a mean a millionth off.
    let Naive { bias, mse, fourth, .. } = naive(&one(1.0), 1.0, 0.5, 40);
    for (theta, users) in [(0.5, 41), (0.500_001, 40)] {
        let mutant = summed(&one(1.0), 1.0, theta, users).gather;
        assert!(apart(&mutant, bias, mse, fourth) > 1e-8, "the mutant passes: {theta} {users}");
    }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn known_values() {
    // n·MSE from θ = 1/2, start 0, ε = 1, n = 10,000 users.
    let scaled = |found: Summed<Errors>| 10_000.0 * found.gather.mse();
    let two = |first_stage| scaled(summed(&two(1.0, first_stage), 1.0, 0.5, 10_000));
    close(scaled(summed(&one(1.0), 1.0, 0.5, 10_000)), 9.162_655_760_845_462, 1e-9);
    close(two(306), 7.813_102_978_185_55, 1e-9);
    // A first stage of 26 can point 3.2 σ away, from where the second cannot come back: the risk is of another size
    // than at 20, where no count can point that far.
    close(two(26), 1660.674, 1e-6);
    close(two(20), 16.4005, 1e-5);
    // One user: the answer is beyond what any mean explains, and the estimate is the start.
    assert_eq!(summed(&one(1.0), 1.0, 0.5, 1).gather.mse(), 0.25);
}

/// A loose run and a strict one: what the loose one cut is no more than it says, and it did cut something.
fn check_bound<E: Signs>(estimator: &E, theta: f64, users: u64) -> bool {
    let model = Gaussian::new(1.0).unwrap();
    let at = |goal: f64| {
        let exact = Exact::new(&model, theta).unwrap().goal(goal).unwrap();
        exact.sum(estimator, users, || Errors::new(theta)).unwrap()
    };
    let (loose, strict) = (at(1e-3), at(1e-12));
    let bound = loose.mse_error.unwrap();
    let difference = strict.gather.mse() - loose.gather.mse();
    // Both are rounded, by about 1e-15 of themselves.
    let rounding = 1e-14 * strict.gather.mse();
    assert!(difference.abs() <= bound + rounding, "n = {users}: {difference} is above {bound}");
    assert!(users as f64 * bound < 1e-3, "n = {users}: {bound}");
    assert!(1.0 - loose.gather.mass() <= loose.lost + 1e-13);
    loose.tallies < strict.tallies && bound > 0.0
}

#[test]
fn what_is_cut_is_bounded_and_does_not_matter() {
    for level in [0.2, 1.0, 4.0] {
        let mut cut = 0;
        for users in [10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000] {
            let found = summed(&one(level), 1.0, 0.5, users);
            let error = users as f64 * found.mse_error.unwrap();
            assert!(error < 1e-10, "one stage, ε = {level}, n = {users}: {error}");
            cut += u32::from(check_bound(&one(level), 0.5, users));
            if users <= 1_000_000 {
                let found = summed(&tuned(level), 1.0, 0.5, users);
                let error = users as f64 * found.mse_error.unwrap();
                assert!(error < 1e-10, "two stages, ε = {level}, n = {users}: {error}");
            }
            if users <= 100_000 {
                cut += u32::from(check_bound(&tuned(level), -0.5, users));
            }
        }
        assert!(cut >= 8, "ε = {level}: nothing was cut, and nothing tested");
    }
    let found = summed(&tuned(1.0), 1.0, 0.5, 10_000_000);
    assert!(found.mse_error.unwrap() * 1e7 < 1e-10 && found.tallies < 1 << 27, "{found:?}");
}

#[test]
fn a_thinned_sum_has_the_moments_of_the_full_one() {
    let model = Gaussian::new(1.0).unwrap();
    for level in [0.5, 1.0, 2.0] {
        for (users, stages) in [(100_000, [200, 1000, 5000]), (1_000_000, [600, 3000, 20_000])] {
            let law = TwoStage::tuned_first_stage(epsilon(level), users);
            for first_stage in stages.into_iter().chain([law]) {
                let estimator = two(level, first_stage);
                let exact = Exact::new(&model, 0.5).unwrap();
                let full = exact.sum(&estimator, users, || Errors::new(0.5)).unwrap();
                let thinned = exact.thinned(&estimator, users, || Errors::new(0.5)).unwrap();
                let what = format!("ε = {level}, n = {users}, n₁ = {first_stage}: {:?}", thinned.method);
                let (a, b) = (&thinned.gather, &full.gather);
                let away = apart(a, b.bias(), b.mse(), a.fourth());
                assert!(away < 1e-11, "{what}, {away}");
                // Refined until the mean squared error is right; rare tallies weigh more in the fourth moment.
                let away = (a.fourth() / b.fourth() - 1.0).abs();
                assert!(away < 1e-6, "{what}, {away}");
                let difference = (thinned.gather.mse() - full.gather.mse()).abs();
                let error = thinned.mse_error.unwrap() + full.mse_error.unwrap();
                assert!(difference <= error + 1e-13 * full.gather.mse(), "{what}: {difference} is above {error}");
                assert!(thinned.tallies <= full.tallies, "{what}: {} of {}", thinned.tallies, full.tallies);
            }
        }
    }
}

/// At 26 users in the first stage single counts rule the risk: to pass one over would be wrong by half of it.
#[test]
fn what_is_not_smooth_is_not_thinned() {
    let model = Gaussian::new(1.0).unwrap();
    let exact = Exact::new(&model, 0.5).unwrap();
    for first_stage in [20, 26, 33, 40, 60] {
        let estimator = two(1.0, first_stage);
        let full = exact.sum(&estimator, 10_000, || Errors::new(0.5)).unwrap().gather;
        let thinned = exact.thinned(&estimator, 10_000, || Errors::new(0.5)).unwrap();
        let away = apart(&thinned.gather, full.bias(), full.mse(), full.fourth());
        assert!(away < 1e-9, "n₁ = {first_stage}: {away}, {thinned:?}");
        assert!((thinned.gather.mse() - full.mse()).abs() <= thinned.mse_error.unwrap() + 1e-13 * full.mse());
    }
    // Two points per standard deviation and no care about agreement: what refinement saves from.
    let coarse = exact.resolution(1.0, 1e9).thinned(&two(1.0, 40), 10_000, || Errors::new(0.5)).unwrap();
    let full = summed(&two(1.0, 40), 1.0, 0.5, 10_000);
    let away = (coarse.gather.mse() / full.gather.mse() - 1.0).abs();
    assert!(coarse.method == Method::Thinned && away > 1e-9, "{away}");
}

/// All that comes out, written so that every bit shows.
fn everything() -> String {
    let model = Gaussian::new(1.0).unwrap();
    let exact = Exact::new(&model, 0.5).unwrap();
    let wanted = Wanted { truth: 0.5, level: 0.95, quantiles: vec![0.5, 0.9, 0.999] };
    let mut all = String::new();
    for (estimator, users) in [(two(1.0, 306), 10_000), (two(0.3, 50), 3000), (tuned(2.0), 50_000)] {
        all += &format!("{:?}\n", exact.sum(&estimator, users, || Errors::new(0.5)).unwrap());
        all += &format!("{:?}\n", exact.thinned(&estimator, users, || Errors::new(0.5)).unwrap());
        all += &format!("{:?}\n", evaluate(&exact, &estimator, users, &wanted).unwrap());
        // So few tallies are allowed that it has to thin.
        all += &format!("{:?}\n", evaluate(&exact.most(200_000), &estimator, users, &wanted));
    }
    all
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(everything);
    let alone = on(1);
    assert!(alone.contains("Thinned") && alone.contains("Exact"), "{alone}");
    for threads in [2, 5] {
        assert_eq!(on(threads), alone, "{threads} threads");
    }
}
