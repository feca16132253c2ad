//! The sign stage of a mean in a range: the formula, the exact risk, simulations, the laws.
//!
//! Simulations have fixed seeds and are judged at five standard errors of what they average (α = 6e-7 each, two-sided).

#[allow(dead_code, reason = "shared: not every test uses all of it")]
mod seen;

use ldp_core::conformance::{check_edges, check_inference, check_replay, check_wire_round_trip};
use ldp_core::model::Gaussian;
use ldp_core::special::{binomial, normal};
use ldp_core::{Bits, Epsilon, Error, Finite, Inference, IntervalKind, StagedEstimator, Step, run};
use ldp_estimators::{DuchiRogers, OneStage, RangeEstimate, Rescaled};
use ldp_mechanisms::Sign;
use ldp_simulate::Tallies;
use ldp_simulate::conformance::check_simulation_is_wire;
use seen::Seen;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// The estimate as it is written in the paper.
fn duchi_rogers(centre: f64, radius: f64, tau: f64, plus: u64, users: u64) -> f64 {
    let mean = (2.0 * plus as f64 - users as f64) / users as f64;
    let most = 1.0 - 2.0 * normal::cdf(-radius);
    centre + normal::quantile((1.0 + (mean / tau).clamp(-most, most)) / 2.0)
}

fn digest(estimator: &DuchiRogers, plus: u64, users: u64) -> RangeEstimate {
    let Step::Done(estimate) = estimator.advance((), &[Bits::new(plus, users).unwrap()]).unwrap() else {
        panic!("one round")
    };
    estimate
}

#[test]
fn duchi_rogers_is_the_formula_at_every_count() {
    for (level, centre, radius) in [(1.0, 0.0, 2.0), (0.2, -3.5, 0.4), (4.0, 100.0, 3.0), (1.0, 1.0, 30.0)] {
        let estimator = DuchiRogers::new(epsilon(level), centre, radius).unwrap();
        let one_stage = OneStage::new(epsilon(level), centre).unwrap();
        for users in [1, 2, 3, 9, 40] {
            for plus in 0..=users {
                let estimate = digest(&estimator, plus, users);
                check_inference(&estimate).unwrap();
                let value = estimate.value();
                assert!((value - centre).abs() <= radius);
                if radius < 6.0 {
                    let expected = duchi_rogers(centre, radius, (level / 2.0f64).tanh(), plus, users);
                    assert!((value - expected).abs() < 1e-10, "{plus} of {users}: {value} is not {expected}");
                }
                let Step::Done(plain) = one_stage.advance((), &[Bits::new(plus, users).unwrap()]).unwrap() else {
                    panic!("one round")
                };
                let fell_back = plain.note().is_some();
                if !fell_back && (plain.value() - centre).abs() < radius {
                    assert_eq!((value, estimate.note()), (plain.value(), None));
                    assert_eq!(estimate.standard_error(), plain.standard_error());
                } else {
                    // At an end of the range, and on the side of the majority.
                    let end = if 2 * plus > users { centre + radius } else { centre - radius };
                    assert_eq!((value, estimate.standard_error()), (end, None), "{plus} of {users}");
                    assert!(estimate.note().is_some());
                }
            }
        }
    }
}

/// The exact bias, MSE and coverage of the exact interval, summed over all counts.
fn exact(estimator: &DuchiRogers, theta: f64, users: u64, level: f64) -> (f64, f64, f64) {
    let Step::Ask { round, .. } = estimator.begin(users).unwrap() else { panic!("asks first") };
    let question: Sign = round.groups()[0].question;
    let mut law = [0.0; 2];
    question.marginal(&Gaussian::new(1.0).unwrap(), theta, &mut law);
    let (mut bias, mut mse, mut covered) = (0.0, 0.0, 0.0);
    for plus in 0..=users {
        let mass = binomial::pmf(plus, users, law[1]);
        let estimate = digest(estimator, plus, users);
        let error = estimate.value() - theta;
        bias += mass * error;
        mse += mass * error * error;
        // Where the answers contradict the range there is no interval, and none covers.
        let interval = estimate.interval(IntervalKind::Exact, level);
        if mass > 1e-12 && interval.is_ok_and(|interval| interval.contains(theta)) {
            covered += mass;
        }
    }
    (bias, mse, covered)
}

/// Catches another law of the simulated count, another centre, and ends that are not those of the range.
#[test]
fn duchi_rogers_simulations_agree_with_the_exact_sum() {
    for (seed, (level, centre, radius, theta, users, sigma)) in (0..).zip([
        (1.0, 0.0, 1.0, 0.9, 500, 1.0),
        (0.2, -2.0, 0.5, -2.3, 300, 3.0),
        (4.0, 3.0, 2.0, 4.9, 50, 0.3),
        (1.0, 0.0, 1.0, 1.0, 200, 1.0),
    ]) {
        let unit = DuchiRogers::new(epsilon(level), centre, radius).unwrap();
        let (bias, mse, covered) = exact(&unit, theta, users, 0.9);
        assert!(covered >= 0.9, "covers {covered}");
        let simulate = |estimator: &Rescaled<DuchiRogers>| {
            let model = Gaussian::new(sigma).unwrap();
            let mut population = Tallies::new(&model, sigma * theta, seed).unwrap();
            let mut seen = Seen::default();
            for replication in 0..20_000 {
                population.restart(replication);
                let value = run(estimator, users, &mut population).unwrap().value();
                seen.add(value / sigma - theta - bias, true);
            }
            // Around its own mean: the exact variance.
            seen.agrees(mse - bias * bias)
        };
        assert!(simulate(&Rescaled::new(unit, sigma).unwrap()), "{level} {centre} {radius} {theta}");
        let wide = DuchiRogers::new(epsilon(level), centre, 1.1 * radius).unwrap();
        assert!(!simulate(&Rescaled::new(wide, sigma).unwrap()), "the mutant passes: a range a tenth wider");
        let aside = DuchiRogers::new(epsilon(level), centre + 0.1 * radius, radius).unwrap();
        assert!(!simulate(&Rescaled::new(aside, sigma).unwrap()), "the mutant passes: a range aside");
    }
}

#[test]
fn the_laws_hold() {
    const USERS: [u64; 5] = [1, 2, 3, 10, 300];
    let model = Gaussian::new(0.3).unwrap();
    for level in [0.2, 1.0, 4.0] {
        let estimator = Rescaled::new(DuchiRogers::new(epsilon(level), -1.0, 2.0).unwrap(), 0.3).unwrap();
        check_edges(&estimator, &USERS).unwrap();
        check_replay(&estimator, &USERS).unwrap();
        for (seed, users) in (0..).zip(USERS) {
            check_simulation_is_wire(&estimator, &model, -0.2, users, seed).unwrap();
        }
        check_wire_round_trip(&estimator.begin(10).unwrap()).unwrap();
        let mut population = Tallies::new(&model, -0.2, 3).unwrap();
        check_wire_round_trip(&run(&estimator, 300, &mut population).unwrap()).unwrap();
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let one = epsilon(1.0);
    let named = |error: Error| match error {
        Error::Parameter { name, .. } | Error::TooFew { name, .. } => name,
        other => panic!("{other}"),
    };
    for (centre, radius, name) in [
        (0.0, 0.0, "range"),
        (0.0, -1.0, "range"),
        (0.0, f64::NAN, "range"),
        (0.0, f64::INFINITY, "range"),
        (1e308, 1e308, "range"),
        (f64::NAN, 1.0, "centre"),
        (f64::INFINITY, 1.0, "centre"),
    ] {
        assert_eq!(named(DuchiRogers::new(one, centre, radius).unwrap_err()), name, "{centre} {radius}");
    }
    assert_eq!(named(DuchiRogers::new(one, 0.0, 1.0).unwrap().begin(0).unwrap_err()), "users");
}
