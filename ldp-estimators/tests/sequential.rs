//! The sequential quantile against its asymptotic variance, and its interval against what is said about it.
//!
//! Seeds are fixed. A mean square over R replications has a relative standard error of about √(2/R); the tolerance is
//! five of them (α = 6e-7).

use ldp_core::model::Gaussian;
use ldp_core::special::normal;
use ldp_core::{Epsilon, IntervalKind, run};
use ldp_estimators::{Liu, Rescaled, one_stage_variance};
use ldp_simulate::{Summary, Users};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// n·MSE, bias in standard deviations of the estimate, and coverage of the 95 % interval.
fn simulate(estimator: Liu, sigma: f64, theta: f64, target: f64, users: u64, replications: u64) -> (f64, f64, f64) {
    let model = Gaussian::new(sigma).unwrap();
    let estimator = Rescaled::new(estimator, sigma).unwrap();
    let mut population = Users::new(&model, theta, users, 77).unwrap();
    let mut summary = Summary::new(target, 0.95, &[IntervalKind::SelfNormalised]);
    for replication in 0..replications {
        population.restart(replication);
        summary.push(&run(&estimator, users, &mut population).unwrap());
    }
    let covered = summary.coverage()[0].covered as f64 / replications as f64;
    (users as f64 * summary.mse(), summary.bias() / summary.variance().sqrt(), covered)
}

fn close(found: f64, expected: f64, replications: u64) -> bool {
    (found / expected - 1.0).abs() < 5.0 * (2.0 / replications as f64).sqrt()
}

#[test]
fn the_median_is_efficient_and_its_interval_too_short_at_ten_thousand() {
    const REPLICATIONS: u64 = 3000;
    let (mse, _, covered) = simulate(Liu::new(epsilon(1.0), 0.0).unwrap(), 1.0, 0.0, 0.0, 10_000, REPLICATIONS);
    // 7.17 at this size: a perfect start is information. The limit is 7.356.
    assert!(close(mse, 7.17, REPLICATIONS), "{mse}");
    // What the documentation prints: .91, and not .95. Five standard errors of a share are .026.
    assert!((covered - 0.91).abs() < 0.026 && (covered - 0.95).abs() > 0.026, "{covered}");
    let (mse, _, covered) = simulate(Liu::new(epsilon(1.0), 0.5).unwrap(), 1.0, 0.0, 0.0, 10_000, REPLICATIONS);
    assert!(close(mse, 9.65, REPLICATIONS), "{mse}");
    assert!((covered - 0.94).abs() < 0.022, "{covered}");
    // The two settings are told apart by the same tolerance.
    assert!(!close(mse, 7.17, REPLICATIONS));
}

#[test]
fn a_batch_of_fifty_costs_little() {
    const REPLICATIONS: u64 = 3000;
    let liu = Liu::new(epsilon(1.0), 0.5).unwrap().batch(50).unwrap();
    let (mse, _, _) = simulate(liu, 1.0, 0.0, 0.0, 10_000, REPLICATIONS);
    assert!(close(mse, 9.65, REPLICATIONS), "{mse}");
}

/// Any level of quantile, in other units, with the asymptotic variance (1 − r²(2p − 1)²)/(4r²f(Q)²).
#[test]
fn any_quantile_has_its_asymptotic_variance() {
    const REPLICATIONS: u64 = 1000;
    for (level, p, sigma, theta) in [(1.0, 0.5, 3.0, -40.0), (2.0, 0.8, 0.3, 7.3), (4.0, 0.1, 3.0, -5.5)] {
        let z = normal::quantile(p);
        let target = theta + sigma * z;
        let liu = |start: f64| Liu::new(epsilon(level), start / sigma).unwrap().quantile(p).unwrap();
        let (mse, bias, _) = simulate(liu(target), sigma, theta, target, 60_000, REPLICATIONS);
        let r = epsilon(level).tau();
        let limit = (1.0 - (r * (2.0 * p - 1.0)).powi(2)) / (2.0 * r * normal::pdf(z)).powi(2) * sigma * sigma;
        // Within the error of the simulation and a few percent of its limit at this n.
        assert!(
            (mse / limit - 1.0).abs() < 5.0 * (2.0f64 / REPLICATIONS as f64).sqrt() + 0.05,
            "p = {p}: {mse}, {limit}"
        );
        assert!(bias.abs() < 0.5, "p = {p}: {bias}");
        // Another level of the quantile is another place: the bias shows it.
        let mutant = Liu::new(epsilon(level), target / sigma).unwrap().quantile(p + 0.05).unwrap();
        let (_, bias, _) = simulate(mutant, sigma, theta, target, 60_000, 50);
        assert!(bias.abs() > 3.0, "{bias}");
        if p == 0.5 {
            assert!((limit / (sigma * sigma * one_stage_variance(epsilon(level), 0.0)) - 1.0).abs() < 1e-12);
        }
    }
}
