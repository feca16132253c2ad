//! The bitwise pilot against its definition, written out naively, and the protocols built on it against published and
//! exact values.
//!
//! Simulations have fixed seeds. An n·MSE over R replications has a relative standard error of about √(2/R) when errors
//! are nearly normal; the tolerance is five of them (α = 6e-7), and for each law a mutant that the same test rejects.

mod naive;

use ldp_core::model::Gaussian;
use ldp_core::{Counts, Epsilon, Error, Inference, Mechanism, StagedEstimator, Step, Tally, run};
use ldp_estimators::{
    BitwisePilot, Joseph, JosephOneRound, JosephUnknownVariance, Liu, LiuFromPilot, Rescaled, Share, ThreeStage,
    one_stage_variance,
};
use ldp_simulate::DrawTally;
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Summary, Tallies, Users};
use rand::RngExt;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn pilot(level: f64, range: [f64; 2], sigma: f64, share: Share) -> BitwisePilot {
    BitwisePilot::new(epsilon(level), range, sigma, share).unwrap()
}

fn locate(pilot: &BitwisePilot, counts: &[[u64; 4]]) -> f64 {
    let tallies: Vec<Counts> = counts
        .iter()
        .map(|counts| {
            let mut tally = Counts::new(4);
            (0u32..).zip(counts).for_each(|(report, &count)| tally.push(report, count).unwrap());
            tally
        })
        .collect();
    match pilot.advance((), &tallies).unwrap() {
        Step::Done(found) => found.value(),
        Step::Ask { .. } => panic!("one round"),
    }
}

/// On counts drawn from a mean somewhere in the range, and on counts that mean nothing.
#[test]
fn the_pilot_is_its_definition() {
    let mut rng = stream(11, Purpose::Data, 0, 0);
    let (mut raw_differs, mut descents) = (0, 0);
    for (level, range, sigma, k) in [
        (1.0, [0.0, 128.0], 1.0, 2142),
        (1.0, [-128.0, 128.0], 3.0, 600),
        (4.0, [-7.7, -0.2], 0.3, 100),
        (0.2, [1000.0, 1001.0], 0.05, 20_000),
        (2.0, [-1e6, 3.0], 1.5, 300),
    ] {
        let pilot = pilot(level, range, sigma, Share::HALF);
        let finest = f64::log2(sigma).floor() as i32;
        let model = Gaussian::new(sigma).unwrap();
        for _ in 0..300 {
            let theta = range[0] + (range[1] - range[0]) * rng.random::<f64>();
            let Step::Ask { round, .. } = pilot.begin(2 * k * u64::from(pilot.scales())).unwrap() else { panic!() };
            let drawn = round.groups().iter().map(|group| {
                assert_eq!(group.users, k);
                let (mut law, mut tally) = (Vec::new(), Counts::new(4));
                DrawTally::<Counts>::law(&group.question, &model, theta, &mut law);
                group.question.draw_tally(&law, k, &mut rng, &mut tally).unwrap();
                <[u64; 4]>::try_from(tally.counts()).unwrap()
            });
            let counts: Vec<[u64; 4]> = drawn.collect();
            let found = locate(&pilot, &counts);
            assert_eq!(found, naive::mean(level, range, finest, 0.05, &counts, true), "theta {theta}");
            raw_differs += u32::from(found != naive::mean(level, range, finest, 0.05, &counts, false));
            descents += u32::from((found - theta).abs() <= 3.0 * sigma);
            // Noise: any residue may win anywhere, also one that no multiple in the interval has.
            let mut draw = |_: &[u64; 4]| std::array::from_fn(|_| rng.random_range(0..k).pow(2));
            let noise: Vec<[u64; 4]> = counts.iter().map(&mut draw).collect();
            assert_eq!(locate(&pilot, &noise), naive::mean(level, range, finest, 0.05, &noise, true));
        }
    }
    // Raw counts, a known mistake, are another estimator; and the pilot finds what it should.
    assert!(raw_differs > 300, "{raw_differs}");
    assert!(descents > 1400, "{descents}");
}

/// The smallest number of users passes and one less does not, and the message names it.
#[test]
fn conditions_just_below_and_just_above() {
    let pilot_of = |share| pilot(1.0, [0.0, 128.0], 1.0, share);
    assert_eq!((pilot_of(Share::HALF).fewest_per_scale(), pilot_of(Share::HALF).scales()), (381, 7));
    // 0.52k + ψ < k at 381 and not at 380.
    let slack = |k: f64| 0.48 * k - 5.0 / 2f64.sqrt() * (k * 1120f64.ln()).sqrt();
    assert!(slack(381.0) > 0.0 && slack(380.0) < 0.0);
    let joseph = |share| Joseph::two_rounds(epsilon(1.0), pilot_of(share), 1.0).unwrap();
    let refused = |estimator: &Joseph, users| match estimator.begin(users) {
        Err(Error::TooFew { name, least, value }) => Some((name, least, value)),
        Err(other) => panic!("{other}"),
        Ok(_) => None,
    };
    assert_eq!(refused(&joseph(Share::HALF), 5333), Some(("users", 5334, 5333)));
    assert_eq!(refused(&joseph(Share::HALF), 5334), None);
    assert_eq!(refused(&joseph(Share::Part(0.3)), 8889), Some(("users", 8890, 8889)));
    assert_eq!(refused(&joseph(Share::Part(0.3)), 8890), None);
    assert_eq!(refused(&joseph(Share::Count(2666)), 10_000), Some(("pilot users", 2667, 2666)));
    assert_eq!(refused(&joseph(Share::Count(2667)), 10_000), None);
    // Somebody must be left.
    assert_eq!(refused(&joseph(Share::Count(2667)), 2667), Some(("users", 2668, 2667)));
    assert_eq!(refused(&joseph(Share::Count(2667)), 2668), None);
    let three = ThreeStage::three_rounds(epsilon(1.0), pilot_of(Share::Count(2667)), 1.0, Some(10)).unwrap();
    assert!(matches!(three.begin(2677), Err(Error::TooMany { name: "first-stage", most: 9, value: 10 })));
    assert!(three.begin(2678).is_ok());
    // With σ unknown, 0.03k + t < k/2.
    let unknown = JosephUnknownVariance::new(epsilon(1.0), pilot_of(Share::HALF), 8.0).unwrap();
    let t = |k: f64| (2.0 * k * 280f64.ln()).sqrt() + 5.0 * (2.0 * k * 1120f64.ln()).sqrt();
    let least = (1..).find(|&k| 0.03 * k as f64 + t(k as f64) < 0.5 * k as f64).unwrap();
    assert!(unknown.begin(14 * least).is_ok(), "{least}");
    assert!(
        matches!(unknown.begin(14 * least - 1), Err(Error::TooFew { name: "users", least: n, .. }) if n == 14 * least)
    );
}

#[test]
fn scales_must_name_one_place() {
    let scales = |range, sigma| pilot(1.0, range, sigma, Share::HALF).scales();
    assert_eq!(scales([0.0, 128.0], 1.0), 7);
    assert_eq!(scales([-128.0, 128.0], 1.0), 8);
    assert_eq!(scales([-128.0, 128.0], 3.0), 7);
    assert_eq!(scales([0.0, 1.0], 1.0), 1);
    let refused = pilot(1.0, [0.0, 128.0], 1.0, Share::HALF).with_scales(6);
    assert!(matches!(refused, Err(Error::TooFew { name: "scales", least: 7, value: 6 })));
    assert!(pilot(1.0, [-128.0, 128.0], 3.0, Share::HALF).with_scales(8).is_ok());
    let new = |range, sigma, share| BitwisePilot::new(epsilon(1.0), range, sigma, share);
    for (range, sigma) in
        [([1.0, 1.0], 1.0), ([2.0, 1.0], 1.0), ([f64::NAN, 1.0], 1.0), ([0.0, f64::INFINITY], 1.0), ([0.0, 1e300], 1.0)]
    {
        assert!(matches!(new(range, sigma, Share::HALF), Err(Error::Parameter { .. })), "{range:?}");
    }
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(new([0.0, 1.0], sigma, Share::HALF), Err(Error::Parameter { name: "sigma", .. })));
    }
    assert!(new([0.0, 1.0], 1.0, Share::Part(1.0)).is_err());
    assert!(pilot(1.0, [0.0, 1.0], 1.0, Share::HALF).with_beta(0.0).is_err());
}

/// n·MSE over replications at `tally` fidelity, with coverage of the default interval.
fn simulate<E>(estimator: &E, sigma: f64, theta: f64, users: u64, replications: u64) -> (f64, f64)
where
    E: StagedEstimator<Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq + Clone, Estimate: Inference>,
{
    let model = Gaussian::new(sigma).unwrap();
    let mut population = Tallies::new(&model, theta, 2024).unwrap();
    let mut summary = Summary::new(theta, 0.95, E::Estimate::interval_kinds());
    for replication in 0..replications {
        population.restart(replication);
        summary.push(&run(estimator, users, &mut population).unwrap());
    }
    (users as f64 * summary.mse(), summary.coverage()[0].covered as f64 / replications as f64)
}

fn close(found: f64, expected: f64, replications: u64) -> bool {
    (found / expected - 1.0).abs() < 5.0 * (2.0 / replications as f64).sqrt()
}

/// The paper's setting, θ = 84.5 and θ = 100.25 in [0, 128], ε = 1, 15,000 users in the pilot.
#[test]
fn published_values() {
    const REPLICATIONS: u64 = 20_000;
    let pilot_of = |share| pilot(1.0, [0.0, 128.0], 1.0, share);
    let tuned = || pilot_of(Share::Count(15_000));
    let three = |first_stage| ThreeStage::three_rounds(epsilon(1.0), tuned(), 1.0, Some(first_stage)).unwrap();
    let joseph = |pilot| Joseph::two_rounds(epsilon(1.0), pilot, 1.0).unwrap();
    for (theta, users, expected) in [
        (84.5, 50_000, [10.851, 18.3, 13.1]),
        (84.5, 200_000, [8.077, 18.3, 9.9]),
        (100.25, 50_000, [10.812, 15.535, 11.095]),
    ] {
        let first_stage = if theta == 84.5 { 700 } else { 500 };
        let found = [
            simulate(&three(first_stage), 1.0, theta, users, REPLICATIONS),
            simulate(&joseph(pilot_of(Share::HALF)), 1.0, theta, users, REPLICATIONS),
            simulate(&joseph(tuned()), 1.0, theta, users, REPLICATIONS),
        ];
        for ((mse, coverage), expected) in found.into_iter().zip(expected) {
            assert!(close(mse, expected, REPLICATIONS), "theta {theta}, {users} users: {mse}, expected {expected}");
            assert!((coverage - 0.95).abs() < 0.01, "{coverage}");
        }
        // The tolerance tells the protocols apart.
        assert!(!close(found[0].0, expected[2], REPLICATIONS) || theta == 100.25);
        assert!(!close(found[0].0, expected[1], REPLICATIONS));
    }
}

/// Other ranges and units: by a change of unit by a power of two the same numbers, elsewhere near the limit of the
/// last stage, and every user drawn agrees with drawn tallies.
#[test]
fn other_ranges_units_and_levels() {
    const REPLICATIONS: u64 = 4000;
    let three = |level, range: [f64; 2], sigma| {
        let pilot = pilot(level, range, sigma, Share::Part(0.3));
        ThreeStage::three_rounds(epsilon(level), pilot, sigma, None).unwrap()
    };
    let one = simulate(&three(1.0, [0.0, 128.0], 1.0), 1.0, 84.5, 50_000, 500).0;
    let four = simulate(&three(1.0, [0.0, 512.0], 4.0), 4.0, 338.0, 50_000, 500).0;
    assert!((four / (16.0 * one) - 1.0).abs() < 1e-9, "{one} {four}");
    for (level, range, sigma, theta, users) in [
        (1.0, [-128.0, 128.0], 3.0, -100.3, 100_000),
        (4.0, [-7.7, -0.2], 0.3, -2.9137, 20_000),
        (0.2, [-50.0, -10.0], 3.0, -37.21, 2_000_000),
        (4.0, [900.0, 1000.0], 3.0, 957.77, 20_000),
    ] {
        let estimator = three(level, range, sigma);
        let (mse, coverage) = simulate(&estimator, sigma, theta, users, REPLICATIONS);
        // 70 % of the users are in the last two stages, of which the last has the limit V σ², a little more at finite n.
        let limit = sigma * sigma * one_stage_variance(epsilon(level), 0.0) / 0.7;
        assert!((0.9..1.25).contains(&(mse / limit)), "ε = {level}, θ = {theta}: {mse} against {limit}");
        assert!((coverage - 0.95).abs() < 0.02, "{coverage}");
    }
    // Every user drawn, on fewer replications.
    let estimator = three(1.0, [-128.0, 128.0], 3.0);
    let (drawn, _) = simulate(&estimator, 3.0, -100.3, 50_000, 4000);
    let model = Gaussian::new(3.0).unwrap();
    let mut users = Users::new(&model, -100.3, 50_000, 5).unwrap().in_blocks();
    let mut summary = Summary::new(-100.3, 0.95, &[]);
    for replication in 0..1000 {
        users.restart(replication);
        summary.push(&run(&estimator, 50_000, &mut users).unwrap());
    }
    let ratio = 50_000.0 * summary.mse() / drawn;
    assert!((ratio - 1.0).abs() < 5.0 * (2.0f64 / 1000.0 + 2.0 / 4000.0).sqrt(), "{ratio}");
}

/// One round throws all lattices but one away: its variance is that of one stage on the share that is kept.
#[test]
fn one_round_pays_for_its_lattices() {
    let estimator = JosephOneRound::new(epsilon(1.0), pilot(1.0, [0.0, 128.0], 1.0, Share::HALF), 1.0).unwrap();
    let users = 200_000u64;
    let (mse, coverage) = simulate(&estimator, 1.0, 100.25, users, 4000);
    let lattices = 5.0 * (2.0 * (4.0 * users as f64).ln().sqrt()).ceil();
    // The lattice passes within 0.1σ of the pilot, which is a whole number near the mean.
    let limits = [0.0, 1.0].map(|delta| 2.0 * lattices * one_stage_variance(epsilon(1.0), delta));
    assert!(limits[0] * 0.9 < mse && mse < limits[1] * 1.1, "{mse}, {limits:?}");
    assert!((coverage - 0.95).abs() < 0.02, "{coverage}");
}

/// Liu from a pilot walks from a whole number near the mean instead of from the middle of the range.
#[test]
fn liu_starts_where_the_pilot_points() {
    let unit = Liu::new(epsilon(1.0), 0.0).unwrap();
    let pilot = pilot(1.0, [0.0, 128.0], 1.0, Share::Count(15_000));
    let piloted = LiuFromPilot::new(pilot, Rescaled::new(unit, 1.0).unwrap());
    let model = Gaussian::new(1.0).unwrap();
    let mut summary = Summary::new(84.5, 0.95, &[]);
    let mut users = Users::new(&model, 84.5, 60_000, 3).unwrap();
    for replication in 0..400 {
        users.restart(replication);
        summary.push(&run(&piloted, 60_000, &mut users).unwrap());
    }
    // 45,000 users from half a σ off: about 8 per user of those, against 60,000.
    let mse = 60_000.0 * summary.mse();
    assert!((8.0..14.0).contains(&mse), "{mse}");
}

/// Numbers of users beyond all numbers are an error, and a state from outside never a panic.
#[test]
fn extremes_are_errors() {
    let range = [0.0, 128.0];
    for level in [1e-8, 1e-9, 1e-12] {
        let joseph = Joseph::two_rounds(epsilon(level), pilot(level, range, 1.0, Share::HALF), 1.0).unwrap();
        assert!(matches!(joseph.begin(100_000), Err(Error::TooFew { name: "users", .. })), "{level}");
    }
    for part in [1e-300, 1e-17, 1e-5] {
        let joseph = Joseph::two_rounds(epsilon(1.0), pilot(1.0, range, 1.0, Share::Part(part)), 1.0).unwrap();
        assert!(matches!(joseph.begin(100_000), Err(Error::TooFew { name: "users", .. })), "{part}");
    }
    let all = pilot(1.0, range, 1.0, Share::Count(u64::MAX));
    let one_round = JosephOneRound::new(epsilon(1.0), all, 1.0).unwrap();
    assert!(matches!(one_round.begin(u64::MAX), Err(Error::TooFew { name: "users", least: u64::MAX, .. })));
    let state = serde_json::from_str(r#"{"users":0}"#).unwrap();
    let tallies = vec![Counts::new(4); 7];
    assert!(matches!(one_round.advance(state, &tallies), Err(Error::TallyCount { .. })));
}
