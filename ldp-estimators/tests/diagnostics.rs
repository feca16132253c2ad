//! What reports say against the assumptions: seldom where they hold, nearly always where they are far from holding.
//!
//! Counts are drawn from their exact laws with fixed seeds. Where every assumption holds, a contradiction of two intervals at
//! level 0.9999 has a probability of at most 2e-4 and is as rare as that in 10,000 runs: 2 expected, more than 12 with
//! probability 1e-6.

use ldp_core::model::Gaussian;
use ldp_core::{Bits, Diagnostic, Epsilon, Inference, StagedEstimator, Step, run};
use ldp_estimators::{ClippedMean, DuchiRogers, Rescaled, SignStage, TwoStage};
use ldp_mechanisms::{Duchi, Range, Sign};
use ldp_simulate::Tallies;
use ldp_simulate::seed::{Purpose, stream};
use rand::RngExt;

const SETTINGS: u64 = 50;
const RUNS: u64 = 200;

/// The diagnostics of two stages that are told `factor` times the true σ, at a setting that nobody chose.
fn found(number: u64, run_number: u64, factor: f64) -> Vec<Diagnostic> {
    let mut rng = stream(5, Purpose::Data, number, 0);
    let mut decades = |low: f64, high: f64| low * (high / low).powf(rng.random::<f64>());
    let (sigma, level, users) = (decades(1e-3, 1e3), decades(0.5, 5.0), decades(3e3, 1e6) as u64);
    let theta = sigma * (decades(1e-2, 1e2) - 1.0);
    // The start is at most a σ off.
    let start = theta + sigma * (2.0 * decades(0.5, 1.0) - 1.5);
    let told = sigma * factor;
    let estimator = TwoStage::tuned(Epsilon::new(level).unwrap(), start / told).unwrap();
    let model = Gaussian::new(sigma).unwrap();
    let mut population = Tallies::new(&model, theta, number << 20 | run_number).unwrap();
    run(&Rescaled::new(estimator, told).unwrap(), users, &mut population).unwrap().diagnostics(None)
}

#[test]
fn where_the_assumptions_hold_little_is_said() {
    let mut said = 0;
    for number in 0..SETTINGS {
        said += (0..RUNS).filter(|&run| !found(number, run, 1.0).is_empty()).count();
    }
    assert!(said <= 12, "{said} of {} runs", SETTINGS * RUNS);
}

/// A σ thirty times too large sends the second question far beyond all values, which their signs then contradict.
#[test]
fn a_sigma_far_too_large_is_noticed() {
    let (mut noticed, mut off) = (0, 0);
    for number in 0..SETTINGS {
        let all: Vec<_> = (0..RUNS).map(|run| found(number, run, 30.0)).collect();
        noticed += all.iter().filter(|diagnostics| !diagnostics.is_empty()).count() as u64;
        off += all.len() as u64;
    }
    assert!(10 * noticed >= 8 * off, "{noticed} of {off}");
}

#[test]
fn answers_that_agree_are_told_by_side() {
    let question = Sign::new(Epsilon::new(1.0).unwrap(), 7.0).unwrap();
    let stage = |ones, users| SignStage::new(question, Bits::new(ones, users).unwrap()).diagnostic();
    // The truth is told with probability 0.7311.
    assert_eq!(stage(7311, 10_000), Some(Diagnostic::OneSided { threshold: 7.0, above: true, share: 0.7311 }));
    assert_eq!(stage(2689, 10_000), Some(Diagnostic::OneSided { threshold: 7.0, above: false, share: 0.2689 }));
    for (ones, users) in [(5000, 10_000), (7100, 10_000), (0, 0), (1, 1), (2, 3)] {
        assert_eq!(stage(ones, users), None, "{ones} of {users}");
    }
    // 0.7205 is two standard deviations: with many users it is not the end, but it is the tail.
    assert!(matches!(
        stage(7_210_000, 10_000_000),
        Some(Diagnostic::FarFromThreshold { threshold: 7.0, deviations, .. }) if (2.0..2.1).contains(&deviations)
    ));
    assert_eq!(stage(7_195_000, 10_000_000), None);
    // No values make so many agree.
    for ones in [8000, 10_000, 0] {
        assert!(matches!(stage(ones, 10_000), Some(Diagnostic::Unexplained { .. })), "{ones}");
    }
}

#[test]
fn a_range_that_the_answers_contradict_is_told_with_the_distance() {
    let estimate = |ones| {
        let estimator = DuchiRogers::new(Epsilon::new(1.0).unwrap(), 0.0, 0.5).unwrap();
        let Step::Done(estimate) = estimator.advance((), &[Bits::new(ones, 10_000).unwrap()]).unwrap() else {
            panic!("one round")
        };
        estimate
    };
    assert!(estimate(5200).diagnostics(None).is_empty());
    assert!(matches!(estimate(5850).diagnostics(None)[..], [Diagnostic::NearEnd { end: 0.5, .. }]));
    // 0.572 is two standard errors beyond, 0.96 is fifteen.
    let beyond = estimate(6600).diagnostics(None);
    assert!(
        matches!(beyond[..], [Diagnostic::OutsideRange { end: 0.5, standard_errors: Some(errors), .. }] if errors > 10.0)
    );
}

#[test]
fn clipped_values_are_seen_in_their_mean() {
    let estimator = ClippedMean::new(Duchi::new(Epsilon::new(1.0).unwrap(), Range::new(-4.0, 4.0).unwrap()).unwrap());
    let of = |ones| {
        let Step::Done(estimate) = estimator.advance((), &[Bits::new(ones, 100_000).unwrap()]).unwrap() else {
            panic!("one round")
        };
        estimate.diagnostics(Some([-4.0, 4.0]))
    };
    assert!(matches!(of(73_100)[..], [Diagnostic::Clipped { end: 4.0, share, .. }] if share > 0.9));
    assert!(matches!(of(26_900)[..], [Diagnostic::Clipped { end: -4.0, share, .. }] if share > 0.9));
    // At 82 % of the range half of the values are in its upper third, and up to 83 % may have been clipped.
    let found = of(65_000);
    assert!(
        matches!(found[..], [Diagnostic::Clipped { end: 4.0, share, most, .. }] if share < 0.51 && (0.82..0.84).contains(&most)),
        "{found:?}"
    );
    assert!(of(50_000).is_empty() && of(58_000).is_empty());
}
