//! The sequential quantile in lanes: the estimates of the plain protocol to the bit, and their law.
//!
//! Seeds are fixed. A mean square over R replications has a relative standard error of about √(2/R); the tolerance is
//! five of them (α = 6e-7).

use ldp_core::model::{Gaussian, Laplace, Poisson, StudentT};
use ldp_core::{Epsilon, Error, Inference, IntervalKind};
use ldp_estimators::{BitwisePilot, Liu, LiuEstimate, LiuFromPilot, Rescaled, Share};
use ldp_simulate::AnyModel;
use ldp_simulate::{Fidelity, InLanes, Setting, erase, erase_in_lanes, replicate_tallies};
use ldp_simulate::{Summary, in_batches};
use std::ops::Range;

fn liu(epsilon: f64, start: f64) -> Liu {
    Liu::new(Epsilon::new(epsilon).unwrap(), start).unwrap()
}

fn setting(model: &dyn AnyModel, theta: f64, users: u64, seed: u64) -> Setting<'_> {
    Setting { model, theta, users, seed, fidelity: Fidelity::Tally }
}

fn in_lanes<E: InLanes<Estimate: Copy>>(
    estimator: &E,
    setting: &Setting<'_>,
    replications: Range<u64>,
) -> Vec<E::Estimate> {
    let mut seen = Vec::new();
    estimator.replicate_in_lanes(setting, replications, &mut |estimate| seen.push(*estimate)).unwrap();
    seen
}

/// Families with and without atoms, near and far starts, levels, quantiles, units, sizes; more users than the steps kept.
#[test]
fn lanes_are_the_plain_protocol_to_the_bit() {
    let (gaussian, narrow) = (Gaussian::new(1.0).unwrap(), Gaussian::new(0.3).unwrap());
    let (laplace, student) = (Laplace::new(2.0).unwrap(), StudentT::new(3.0, 1.0).unwrap());
    let spike = Gaussian::new(1e-4).unwrap();
    let cases: [(&dyn AnyModel, f64, Liu, f64, u64); 20] = [
        (&gaussian, 0.5, liu(1.0, 0.0), 1.0, 3000),
        (&gaussian, 0.5, liu(1.0, 0.0), 1.0, 1),
        (&gaussian, -300.0, liu(0.2, 4.0), 1.0, 1500),
        (&gaussian, 1e17, liu(1.0, 0.0), 1.0, 700),
        (&gaussian, 0.0, liu(1.0, 1e300), 1.0, 300),
        (&gaussian, 0.5, liu(44.0, 0.0), 1.0, 2000),
        (&narrow, 7.3, liu(2.0, 24.0).quantile(0.8).unwrap(), 0.3, 2000),
        (&laplace, 3.0, liu(4.0, 1.0).quantile(0.1).unwrap(), 2.0, 2000),
        (&student, 0.0, liu(1e-3, 0.1), 1.0, 2000),
        (&Poisson, 2.5, liu(1.0, 2.0), 1.0, 4000),
        (&gaussian, 0.1, liu(1.0, 0.0).batch(10).unwrap(), 1.0, 1005),
        // Longer steps, of a guessed unit, and a batch across the end of the first quarter.
        (&gaussian, 0.5, liu(1.0, 1.0).quantile(0.99).unwrap().guessed_scale(), 3.0, 3000),
        (&narrow, 0.5, liu(4.0, 0.0).quantile(1e-9).unwrap(), 1e-3, 3000),
        (&gaussian, 0.1, liu(1.0, 0.0).quantile(0.9).unwrap().batch(150).unwrap(), 1.0, 1005),
        // Walks that leave where values are, and a table that is much too coarse, or has no width at all.
        (&gaussian, 0.0, liu(1e-6, 3.4), 1.0, 20_000),
        (&spike, 0.0, liu(1.0, 0.0), 1.0, 3000),
        (&Poisson, 1e-5, liu(1.0, 0.0), 1.0, 1000),
        // Numbers so large that moves are rounded, and lost.
        (&gaussian, 3e9, liu(4.0, 3e9 + 1.5), 1.0, 3000),
        (&gaussian, 7e13, liu(1.0, 7e13), 1.0, 1000),
        (&gaussian, 1e16, liu(1.0, 1e16 + 4.0), 1.0, 1000),
    ];
    for (model, theta, unit, sigma, users) in cases {
        let setting = setting(model, theta, users, 11);
        let estimator = Rescaled::new(unit, sigma).unwrap();
        let mut plain = Vec::new();
        replicate_tallies(&estimator, &setting, 3..50, &mut |estimate| plain.push(*estimate)).unwrap();
        assert_eq!(plain.len(), 47);
        let whole = in_lanes(&estimator, &setting, 3..50);
        assert_eq!(whole, plain, "theta {theta}, {users} users");
        if sigma == 1.0 {
            assert_eq!(in_lanes(&unit, &setting, 3..50), plain);
        }
        // In any pieces: a replication does not depend on its neighbours.
        let pieces = [3..4, 4..6, 6..9, 9..13, 13..20, 20..20, 20..29, 29..50];
        let pieces: Vec<LiuEstimate> =
            pieces.into_iter().flat_map(|piece| in_lanes(&estimator, &setting, piece)).collect();
        assert_eq!(pieces, plain);
        // Replications are not copies of each other; the steps of users at 1e17 leave no trace.
        assert!(users == 1 || plain[0] != plain[1] || theta > 1e15 || plain[0].value() > 1e15);
    }
    let long = setting(&gaussian, 0.0, (1 << 18) + 900, 5);
    let mut plain = Vec::new();
    replicate_tallies(&liu(1.0, 0.0), &long, 0..2, &mut |estimate| plain.push(*estimate)).unwrap();
    assert_eq!(in_lanes(&liu(1.0, 0.0), &long, 0..2), plain);
}

/// From a pilot: each lane has a start of its own, and goes on with the generator as its pilot left it.
#[test]
fn lanes_from_a_pilot_are_the_plain_protocol_to_the_bit() {
    let (gaussian, wide) = (Gaussian::new(1.0).unwrap(), Gaussian::new(3.0).unwrap());
    let pilot = |low, high, sigma, users| {
        BitwisePilot::new(Epsilon::new(1.0).unwrap(), [low, high], sigma, Share::Count(users)).unwrap()
    };
    // The second pilot leads many astray, the last has σ and a range so far away that moves are rounded.
    let cases: [(&dyn AnyModel, f64, BitwisePilot, Liu, f64, u64); 5] = [
        (&gaussian, 84.5, pilot(0.0, 128.0, 1.0, 15_000), liu(1.0, 0.0), 1.0, 18_000),
        (&gaussian, 84.5, pilot(0.0, 128.0, 1.0, 4000), liu(1.0, 0.0).quantile(0.3).unwrap(), 1.0, 9000),
        (&wide, -20.0, pilot(-64.0, 64.0, 3.0, 9000), liu(2.0, 5.0), 3.0, 9001),
        (&gaussian, 84.5, pilot(0.0, 128.0, 1.0, 15_000), liu(1.0, 0.0).batch(7).unwrap(), 1.0, 16_000),
        (&wide, 2e9, pilot(2e9 - 50.0, 2e9 + 50.0, 3.0, 9000), liu(1.0, 0.0), 3.0, 11_000),
    ];
    for (model, theta, pilot, unit, sigma, users) in cases {
        let setting = setting(model, theta, users, 4);
        let estimator = LiuFromPilot::new(pilot, Rescaled::new(unit, sigma).unwrap());
        let mut plain = Vec::new();
        replicate_tallies(&estimator, &setting, 2..49, &mut |estimate| plain.push(*estimate)).unwrap();
        assert_eq!(in_lanes(&estimator, &setting, 2..49), plain, "theta {theta}");
        assert_eq!([in_lanes(&estimator, &setting, 2..9), in_lanes(&estimator, &setting, 9..49)].concat(), plain);
        let astray = plain.iter().filter(|estimate| (estimate.found().value() - theta).abs() > 6.0 * sigma).count();
        assert!(users != 9000 || (5..40).contains(&astray), "{astray} led astray");
        let few = Setting { users: 100, ..setting };
        let refused = estimator.replicate_in_lanes(&few, 0..9, &mut |_| ()).unwrap_err();
        let plainly = replicate_tallies(&estimator, &few, 0..9, &mut |_| ()).unwrap_err();
        assert_eq!(refused.to_string(), plainly.to_string());
    }
}

/// Same seed, same numbers, on any number of threads; what cannot be is refused as one by one.
#[test]
fn erased_lanes_are_the_erased_protocol() {
    let model = Gaussian::new(2.0).unwrap();
    let estimator = Rescaled::new(liu(1.0, 0.0), 2.0).unwrap();
    let setting = setting(&model, 0.4, 800, 3);
    let summarise = |threads: usize, lanes: bool| {
        let erased = if lanes { erase_in_lanes(estimator) } else { erase(estimator) };
        let mut total = Summary::new(0.4, 0.95, erased.interval_kinds());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            in_batches(
                1100,
                |batch| {
                    let mut part = Summary::new(0.4, 0.95, erased.interval_kinds());
                    erased.replicate(&setting, batch, &mut |estimate| part.push(estimate))?;
                    Ok(part)
                },
                |part| total.merge(part),
            )
        })
        .unwrap();
        total
    };
    let plain = summarise(1, false);
    assert_eq!(plain.replications(), 1100);
    assert_eq!(summarise(1, true), plain);
    assert_eq!(summarise(3, true), plain);
    let nobody = Setting { users: 0, ..setting };
    let refused = estimator.replicate_in_lanes(&nobody, 0..9, &mut |_| ());
    assert!(matches!(refused, Err(Error::TooFew { name: "users", .. })));
    let nowhere = Setting { theta: f64::NAN, ..setting };
    assert!(estimator.replicate_in_lanes(&nowhere, 0..9, &mut |_| ()).is_err());
    let overflow = Rescaled::new(liu(1.0, 1e300), 1e300).unwrap();
    assert!(overflow.replicate_in_lanes(&setting, 0..9, &mut |_| ()).is_err());
    assert!(replicate_tallies(&overflow, &setting, 0..9, &mut |_| ()).is_err());
}

/// n·MSE and coverage of the 95 % interval at ε = 1, σ = 1, as known from simulations of users.
#[test]
fn the_law_is_the_known_one() {
    let model = Gaussian::new(1.0).unwrap();
    for (users, replications, off, mse, covered) in [
        (200_000, 2000, 0.0, 7.42, 0.944),
        (200_000, 2000, 0.5, 7.61, 0.946),
        (10_000, 20_000, 0.0, 7.17, 0.910),
        (10_000, 20_000, 0.5, 9.65, 0.942),
    ] {
        let mut summary = Summary::new(0.0, 0.95, &[IntervalKind::SelfNormalised]);
        let setting = setting(&model, 0.0, users, 77);
        liu(1.0, off).replicate_in_lanes(&setting, 0..replications, &mut |estimate| summary.push(estimate)).unwrap();
        let found = users as f64 * summary.mse();
        // The known value has an error of its own, about a percent.
        let tolerance = 5.0 * (2.0 / replications as f64).sqrt() + 0.01;
        assert!((found / mse - 1.0).abs() < tolerance, "{users} users, {off} off: {found}");
        let share = summary.coverage()[0].covered as f64 / replications as f64;
        let error = (covered * (1.0 - covered) / replications as f64).sqrt();
        assert!((share - covered).abs() < 5.0 * error + 0.002, "{users} users, {off} off: {share}");
        // The two settings of 10,000 users are told apart by the same tolerance.
        assert!(users > 10_000 || (found / (7.17 + 9.65 - mse) - 1.0).abs() > tolerance);
    }
}

/// Same seed, same estimates: another number here is value-breaking.
#[test]
fn pinned_estimates() {
    let model = Gaussian::new(1.0).unwrap();
    let seen = in_lanes(&liu(1.0, 0.0), &setting(&model, 0.5, 1000, 20), 0..9);
    let values: Vec<f64> = [0, 7, 8].map(|i: usize| seen[i].value()).to_vec();
    assert_eq!(values, [0.447_548_647_404_669_54, 0.440_665_267_892_714_15, 0.249_419_663_567_023_47]);
}
