//! Real reports in cells: what the cells keep of the information, and the estimate from them.
//!
//! Seeds are fixed. Variances are over 4000 replications: a relative standard error of 2.2 %, and 10 % off fails (α = 1e-5 a
//! setting). Coverage is over 2000: a standard error of 0.5 %, and more than 2.2 % off fails (α = 7e-6 a cell).

mod asking;

use asking::{check_variance, deviance, epsilon, family, gaussian, read, simulate};
use ldp_core::conformance::{check_edges, check_inference};
use ldp_core::model::{Bernoulli, Exponential, Gaussian};
use ldp_core::{Epsilon, Finite, Inference, IntervalKind, RealReports};
use ldp_estimators::{Ask, Binned};
use ldp_fisher::of_real;
use ldp_mechanisms::{Hybrid, Laplace, Piecewise, Range, Staircase};
use ldp_simulate::AnyModel;
use ldp_simulate::Moments;
use ldp_simulate::conformance::{check_marginal, check_simulation_is_wire_typed};
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Fidelity, Setting, erase, replicate_tallies};
use rand::RngExt;
use serde::Serialize;
use std::sync::Arc;

/// What binning keeps of the information, in several settings.
fn check_kept<Q: RealReports + Clone + PartialEq>(name: &str, least: f64, make: impl Fn(Epsilon, Range) -> Q) {
    let range = Range::new(-3.0, 3.0).unwrap();
    for level in [0.1, 1.0, 3.0] {
        let mechanism = make(epsilon(level), range);
        for (model, thetas, theta) in [
            (Arc::new(Gaussian::new(1.0).unwrap()) as Arc<dyn AnyModel>, [-2.0, 2.0], 0.3),
            (Arc::new(Exponential), [0.5, 3.0], 1.2),
            (Arc::new(Bernoulli), [0.1, 0.9], 0.3),
        ] {
            let binned = Binned::new(mechanism.clone(), &*model, thetas).unwrap();
            let kept = binned.information_kept(&*model, theta).unwrap();
            println!("{name}, ε {level}: {} cells keep {kept:.6}", binned.reports());
            assert!(kept > least && kept < 1.0 + 1e-4, "{name}, ε {level}: {kept}");
            assert!(binned.reports() <= 256);
            check_marginal(&binned, &*model, theta, 5).unwrap();
        }
    }
}

#[test]
fn cells_keep_the_information_of_real_reports() {
    check_kept("laplace", 0.99, |epsilon, range| Laplace::new(epsilon, range).unwrap());
    check_kept("piecewise", 0.99, |epsilon, range| Piecewise::new(epsilon, range).unwrap());
    // With two atoms.
    check_kept("hybrid", 0.99, |epsilon, range| Hybrid::new(epsilon, range).unwrap());
    // At a small level its density jumps in every one of many periods, and cells are wider than what lies between jumps.
    check_kept("staircase", 0.8, |epsilon, range| Staircase::new(epsilon, range).unwrap());
    // A mutant: four cells instead of 256.
    let laplace = Laplace::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let coarse = Binned::with_edges(laplace, vec![-2.0, 0.0, 2.0], [-8.0, 8.0]).unwrap();
    let kept = coarse.information_kept(&*gaussian(1.0), 0.3).unwrap();
    assert!(kept < 0.99, "{kept}");
}

#[test]
fn real_reports_have_an_estimate_at_once() {
    let (normal, range) = (gaussian(1.0), Range::new(-3.0, 3.0).unwrap());
    let laplace = Laplace::new(epsilon(1.0), range).unwrap();
    let information = of_real(&laplace, &*normal, 0.3).unwrap().value;
    let binned = Binned::new(laplace, &*normal, [-2.0, 2.0]).unwrap();
    let ask = Ask::within(binned, normal.clone(), [-2.0, 2.0]).unwrap();
    check_variance("laplace, gaussian", &ask, &*normal, 0.3, information);
    check_edges(&ask, &[1, 2, 10, 1000]).unwrap();
    check_simulation_is_wire_typed(&ask, &*normal, 0.3, 200, 3).unwrap();

    let piecewise = Piecewise::new(epsilon(2.0), range).unwrap();
    let information = of_real(&piecewise, &*normal, -0.4).unwrap().value;
    let binned = Binned::new(piecewise, &*normal, [-2.0, 2.0]).unwrap();
    // On the whole line: what lies outside of the range that the cells were made for is estimated too.
    let ask = Ask::new(binned, normal.clone(), 0.0).unwrap();
    check_variance("piecewise, gaussian", &ask, &*normal, -0.4, information);
    let (_, summary) = simulate(&ask, &*normal, -0.4, 5000, 2000, 7);
    for coverage in summary.coverage() {
        let share = coverage.covered as f64 / 2000.0;
        println!("piecewise, {}: {share:.4}", coverage.kind);
        assert!((share - 0.95).abs() < 0.022, "{share}");
    }
    // Users who answer one by one bring the same law as tallies: 400 errors have a relative standard error of 7 %.
    let erased = erase(ask.clone());
    let setting = Setting { model: &*normal, theta: -0.4, users: 2000, seed: 5, fidelity: Fidelity::Users };
    let mut squares = Moments::default();
    erased.replicate(&setting, 0..400, &mut |estimate| squares.push(estimate.squared_error(-0.4))).unwrap();
    let ratio = 2000.0 * squares.mean() * information;
    assert!((ratio - 1.0).abs() < 0.32, "{ratio}");
    assert!(erased.check_rows().is_err(), "noise in floating point must not meet real data");
}

#[test]
fn the_law_between_places_is_that_of_the_cells() {
    let normal = gaussian(1.0);
    let laplace = Laplace::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let binned = Binned::new(laplace, &*normal, [-2.0, 2.0]).unwrap();
    let ask = Ask::new(binned.clone(), normal.clone(), 0.0).unwrap();
    let mut law = vec![0.0; binned.reports() as usize];
    for theta in [-1.9, -0.123, 0.3, 1.77, 2.8] {
        // Counts as expected: the estimate is the parameter but for rounding of counts.
        binned.marginal(&*normal, theta, &mut law);
        let counts: Vec<u64> = law.iter().map(|p| (p * 1e14).round() as u64).collect();
        let estimate = read(&ask, &counts);
        assert!((estimate.value() - theta).abs() < 1e-8, "{theta}: {}", estimate.value());
        let expected = (1e14 * ask.information(theta).unwrap()).sqrt().recip();
        assert!((estimate.standard_error().unwrap() / expected - 1.0).abs() < 1e-5);
        let counts: Vec<u64> = law.iter().map(|p| (p * 1e5).round() as u64).collect();
        let estimate = read(&ask, &counts);
        let interval = estimate.interval(IntervalKind::LikelihoodRatio, 0.95).unwrap();
        for end in [interval.low, interval.high].into_iter().filter(|end| end.is_finite()) {
            let found = deviance(&binned, &*normal, &counts, end, estimate.value());
            let z = ldp_core::inference::two_sided(0.95);
            assert!((found / (z * z) - 1.0).abs() < 1e-5, "{theta}: {end} has {found}");
        }
    }
}

/// Mechanisms with real reports in a setting that nobody chose.
fn check_numbers<Q>(mechanism: Q, model: &Arc<dyn AnyModel>, range: [f64; 2])
where
    Q: RealReports + Clone + PartialEq + Serialize + Send + Sync,
{
    let binned = Binned::new(mechanism, &**model, range).unwrap();
    let ask = Ask::within(binned, model.clone(), range).unwrap();
    check_edges(&ask, &[1, 2, 10, 1000]).unwrap();
    for users in [1u64, 2, 10, 1000] {
        let theta = 0.5 * range[0] + 0.5 * range[1];
        let setting = Setting { model: &**model, theta, users, seed: users, fidelity: Fidelity::Tally };
        replicate_tallies(&ask, &setting, 0..3, &mut |estimate| check_inference(estimate).unwrap()).unwrap();
    }
}

#[test]
fn real_reports_bring_numbers_in_settings_that_nobody_chose() {
    let mut rng = stream(98, Purpose::Noise, 0, 0);
    for number in 0..9 {
        let (model, theta) = family(number);
        let level = epsilon(10f64.powf(rng.random_range(-1.5..0.9)));
        let ends = [0.1, 0.9].map(|p| model.quantile(theta, p));
        let clip = Range::new(ends[0].floor(), ends[1].ceil() + 1.0).unwrap();
        let range = [theta - 0.25 * theta.abs(), theta + 0.25 * theta.abs()];
        match number % 3 {
            0 => check_numbers(Laplace::new(level, clip).unwrap(), &model, range),
            1 => check_numbers(Piecewise::new(level, clip).unwrap(), &model, range),
            _ => check_numbers(Hybrid::new(level, clip).unwrap(), &model, range),
        }
    }
}

#[test]
fn tampered_cells_are_refused() {
    let laplace = Laplace::new(epsilon(1.0), Range::new(0.0, 1.0).unwrap()).unwrap();
    let binned = Binned::with_edges(laplace, vec![-1.0, 0.0, 1.5], [-0.5, 1.5]).unwrap();
    let json = serde_json::to_string(&binned).unwrap();
    assert_eq!(serde_json::from_str::<Binned<Laplace>>(&json).unwrap(), binned);
    for (from, to) in [
        ("[-1.0,0.0,1.5]", "[-1.0,-1.0,1.5]"),
        ("[-1.0,0.0,1.5]", "[]"),
        ("[-1.0,0.0,1.5]", "[-1.0,0.0,null]"),
        ("[-0.5,1.5]", "[1.5,-0.5]"),
        ("\"scale\":2.0", "\"scale\":0.0"),
        ("\"window\"", "\"more\":1,\"window\""),
    ] {
        assert!(json.contains(from), "{from} in {json}");
        assert!(serde_json::from_str::<Binned<Laplace>>(&json.replacen(from, to, 1)).is_err(), "{to}");
    }
    let range = |range| Binned::new(laplace, &*gaussian(1.0), range).map(drop);
    assert!(range([1.0, 0.0]).is_err() && range([0.0, f64::INFINITY]).is_err() && range([f64::NAN, 0.0]).is_err());
}
