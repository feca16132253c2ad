//! The protocols of Joseph et al. for one round and for an unknown σ, against their definitions written out naively.

mod naive;

use ldp_core::model::Gaussian;
use ldp_core::special::normal;
use ldp_core::{
    Averages, Epsilon, Inference, Mechanism, Mixed, Population, StagedEstimator, Step, Tally, Unbiased, run,
};
use ldp_estimators::{BitwisePilot, JosephOneRound, JosephOneRoundUnknownVariance, JosephUnknownVariance, Share};
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Summary, Users};
use rand::RngExt;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// (ε, range, smallest σ, largest σ, σ)
const SETTINGS: [(f64, [f64; 2], f64, f64, f64); 4] = [
    (4.0, [0.0, 128.0], 0.25, 8.0, 2.0),
    (4.0, [-64.0, 10.0], 0.1, 1.0, 0.3),
    (2.0, [-300.0, -200.0], 1.0, 10.0, 3.0),
    (4.0, [5.0, 6.0], 0.01, 0.5, 0.4),
];
const USERS: u64 = 60_000;

/// The finest scale of a setting, by logarithms.
fn finest(sigma_low: f64) -> i32 {
    sigma_low.log2().floor() as i32
}

#[test]
fn the_second_round_is_where_and_as_wide_as_it_should_be() {
    let mut rng = stream(3, Purpose::Data, 0, 0);
    let mut exponents = Vec::new();
    for (level, range, sigma_low, sigma_high, sigma) in SETTINGS {
        let pilot = BitwisePilot::new(epsilon(level), range, sigma_low, Share::HALF).unwrap();
        let estimator = JosephUnknownVariance::new(epsilon(level), pilot, sigma_high).unwrap();
        let model = Gaussian::new(sigma).unwrap();
        for replication in 0..12 {
            let theta = range[0] + (range[1] - range[0]) * rng.random::<f64>();
            let mut users = Users::new(&model, theta, USERS, 9).unwrap();
            users.restart(replication);
            let Step::Ask { round, state } = estimator.begin(USERS).unwrap() else { panic!() };
            let mut tallies = Vec::new();
            for group in round.groups() {
                let mut tally = estimator.tally(&group.question);
                users.answer(group, &mut tally).unwrap();
                tallies.push(tally);
            }
            let raw = tallies.iter().map(|tally| {
                let Mixed::First(counts) = tally else { panic!("residues") };
                <[u64; 4]>::try_from(counts.counts()).unwrap()
            });
            let raw: Vec<[u64; 4]> = raw.collect();
            // The coarsest scale is at least four times the largest σ.
            assert!(finest(sigma_low) + raw.len() as i32 > finest(4.0 * sigma_high));
            let Step::Ask { round, state } = estimator.advance(state, &tallies).unwrap() else { panic!() };
            let [group] = round.groups() else { panic!("one group") };
            let Mixed::Second(laplace) = group.question else { panic!("a noisy value") };
            let guess = naive::mean(level, range, finest(sigma_low), 0.05, &raw, true);
            let exponent = naive::exponent(level, finest(sigma_low), 0.05, &raw);
            exponents.push(f64::from(exponent) - sigma.log2());
            let half = 2f64.powi(exponent) * (2.0 + (4.0 * USERS as f64).ln().sqrt());
            let (low, high) = laplace.range();
            assert!((low - (guess - half)).abs() < 1e-9 && (high - (guess + half)).abs() < 1e-9, "{low} {high}");
            assert!(laplace.epsilon() <= epsilon(level));
            // The mean of the second round, decoded.
            let mut tally = estimator.tally(&group.question);
            users.answer(group, &mut tally).unwrap();
            let Mixed::Second(sum) = tally else { panic!() };
            let Step::Done(estimate) = estimator.advance(state, &[tally]).unwrap() else { panic!() };
            assert!((estimate.value() - laplace.decode(sum.mean().unwrap())).abs() < 1e-12);
            assert!((estimate.value() - theta).abs() < 6.0 * estimate.standard_error().unwrap() + 0.05 * sigma);
        }
    }
    // The scale found is near σ, mostly not below it: in between a sixteenth and eight times.
    assert!(exponents.iter().all(|&e| (-4.0..=3.0).contains(&e)), "{exponents:?}");
    assert!(exponents.iter().filter(|&&e| e >= -1.0).count() > 40, "{exponents:?}");
}

/// From the tallies of one round the naive analyst gets the same number.
#[test]
fn one_round_uses_the_lattice_that_passes_closest() {
    let mut rng = stream(4, Purpose::Data, 0, 0);
    for (level, range, sigma_low, sigma_high, sigma) in SETTINGS {
        let pilot = |sigma| BitwisePilot::new(epsilon(level), range, sigma, Share::HALF).unwrap();
        let unknown = JosephOneRoundUnknownVariance::new(epsilon(level), pilot(sigma_low), sigma_high).unwrap();
        let known = JosephOneRound::new(epsilon(level), pilot(sigma), sigma).unwrap();
        let model = Gaussian::new(sigma).unwrap();
        for _ in 0..3 {
            let theta = range[0] + (range[1] - range[0]) * rng.random::<f64>();
            let mut users = Users::new(&model, theta, USERS, rng.random()).unwrap();
            let Step::Ask { round, state } = unknown.begin(USERS).unwrap() else { panic!() };
            let (mut raw, mut sums, mut tallies) = (Vec::new(), Vec::new(), Vec::new());
            for group in round.groups() {
                let mut tally = unknown.tally(&group.question);
                users.answer(group, &mut tally).unwrap();
                match &tally {
                    Mixed::First(counts) => raw.push(<[u64; 4]>::try_from(counts.counts()).unwrap()),
                    Mixed::Second(sum) => sums.push((group.users, sum.mean().unwrap())),
                }
                tallies.push(tally);
            }
            let rho = ((4.0 * USERS as f64).ln().sqrt() + 6.0).ceil();
            assert_eq!(sums.len(), raw.len() * rho as usize);
            let guess = naive::mean(level, range, finest(sigma_low), 0.05, &raw, true);
            let exponent = naive::exponent(level, finest(sigma_low), 0.05, &raw);
            let scale = 2f64.powi(exponent);
            // Every point of every lattice of that scale near the guess.
            let points =
                (1..=rho as i32).flat_map(|i| (-3000..3000).map(move |b| (i, f64::from(i) + f64::from(b) * rho)));
            let far = |(_, point): &(i32, f64)| (point * scale - guess).abs();
            let (i, point) = points.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
            let place = (exponent - finest(sigma_low)) as usize * rho as usize + i as usize - 1;
            // A mean report is in units of half a period.
            let expected = point * scale + sums[place].1 * rho * scale / 2.0;
            let Step::Done(estimate) = unknown.advance(state, &tallies).unwrap() else { panic!() };
            assert!(
                (estimate.value() - expected).abs() < 1e-9 * expected.abs().max(1.0),
                "{} {expected}",
                estimate.value()
            );

            // σ known.
            let mut users = Users::new(&model, theta, USERS, rng.random()).unwrap();
            let Step::Ask { round, state } = known.begin(USERS).unwrap() else { panic!() };
            let tally = |group: usize| {
                let mut tally = known.tally(&round.groups()[group].question);
                users.answer(&round.groups()[group], &mut tally).unwrap();
                tally
            };
            let tallies: Vec<_> = (0..round.groups().len()).map(tally).collect();
            let scales = pilot(sigma).scales() as usize;
            let raw = tallies[..scales].iter().map(|tally| <[u64; 4]>::try_from(tally.counts()).unwrap());
            let guess = naive::mean(level, range, finest(sigma), 0.05, &raw.collect::<Vec<_>>(), true);
            let rho = (2.0 * (4.0 * USERS as f64).ln().sqrt()).ceil();
            assert_eq!(tallies.len() - scales, 5 * rho as usize);
            let points = (1..=5 * rho as i32)
                .flat_map(|r| (-5000..5000).map(move |b| (r, 0.2 * f64::from(r) + f64::from(b) * rho)));
            let far = |(_, point): &(i32, f64)| (point * sigma - guess).abs();
            let (r, point) = points.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
            let tally = &tallies[scales + r as usize - 1];
            let above = tally.counts()[0] as f64 / tally.users() as f64;
            let tau = epsilon(level).tau();
            let expected = point * sigma + sigma * normal::quantile(0.5 + (2.0 * above - 1.0) / (2.0 * tau));
            let Step::Done(estimate) = known.advance(state, &tallies).unwrap() else { panic!() };
            assert!(
                (estimate.value() - expected).abs() < 1e-9 * expected.abs().max(1.0),
                "{} {expected}",
                estimate.value()
            );
        }
    }
}

/// A change of unit, and the spread that the standard error promises: 300 replications, five standard errors of a
/// variance (α = 6e-7); half the standard error is rejected.
#[test]
fn the_standard_error_is_the_spread() {
    let (level, range, sigma_low, sigma_high, sigma) = SETTINGS[0];
    let pilot = BitwisePilot::new(epsilon(level), range, sigma_low, Share::HALF).unwrap();
    let estimator = JosephUnknownVariance::new(epsilon(level), pilot, sigma_high).unwrap();
    let model = Gaussian::new(sigma).unwrap();
    let mut users = Users::new(&model, 77.7, USERS, 21).unwrap();
    let mut summary = Summary::new(77.7, 0.95, &[]);
    let mut claimed = 0.0;
    for replication in 0..300 {
        users.restart(replication);
        let estimate = run(&estimator, USERS, &mut users).unwrap();
        claimed += estimate.standard_error().unwrap().powi(2) / 300.0;
        summary.push(&estimate);
    }
    let ratio = summary.mse() / claimed;
    let tolerance = 5.0 * (2.0f64 / 300.0).sqrt();
    assert!((ratio - 1.0).abs() < tolerance, "{ratio}");
    assert!((ratio / 0.25 - 1.0).abs() > tolerance);
}
