//! One question through any mechanism: the estimate against closed forms, its variance against the information, and how often its
//! intervals cover.
//!
//! Seeds are fixed. Variances are over 4000 replications: a relative standard error of 2.2 %, and 10 % off fails (α = 1e-5 a
//! setting). Coverage is over 10,000: a standard error of 0.22 %, and more than 1 % off fails (α = 5e-6 a cell).

mod asking;

use asking::{KINDS, check_variance, deviance, epsilon, family, gaussian, read, simulate};
use ldp_core::conformance::{check_edges, check_inference, check_replay};
use ldp_core::model::{Bernoulli, Categorical, Exponential, GaussianScale, Logistic, Poisson};
use ldp_core::special::normal;
use ldp_core::{Cuts, Error, FiniteChannel, Inference, IntervalKind, Kernel, Partition, Publish, StagedEstimator};
use ldp_estimators::{Ask, AskEstimate, Fallback};
use ldp_fisher::{exact, of_finite};
use ldp_mechanisms::{Duchi, IntervalResponse, Matrix, RandomizedResponse, Range, Residue, Sign};
use ldp_simulate::AnyModel;
use ldp_simulate::conformance::check_simulation_is_wire;
use ldp_simulate::exact::Wanted;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use ldp_simulate::{Fidelity, Setting, erase, replicate_tallies};
use ldp_simulate::{Moments, Summary};
use rand::RngExt;
use std::sync::Arc;

/// The share of ones without the lies.
fn debiased(ones: u64, users: u64, lie: f64) -> f64 {
    (ones as f64 / users as f64 - lie) / (1.0 - 2.0 * lie)
}

fn lie(channel: &FiniteChannel) -> f64 {
    channel.weight(0, 1) as f64 / 2f64.powi(64)
}

#[test]
fn a_sign_has_its_closed_form() {
    for (level, threshold, sigma) in [(1.0, 0.0, 1.0), (0.1, 2.0, 0.5), (4.0, -30.0, 7.0), (0.01, 0.0, 1.0)] {
        let sign = Sign::new(epsilon(level), threshold).unwrap();
        let ask = Ask::new(sign, gaussian(sigma), threshold + 0.7 * sigma).unwrap();
        let lie = lie(&sign.publish());
        for users in [1000u64, 1_000_000, 1_000_000_000_000] {
            for share in [0.02, 0.3, 0.5, 0.77, 0.95] {
                let ones = ((lie + (1.0 - 2.0 * lie) * share) * users as f64) as u64;
                let estimate = read(&ask, &[users - ones, ones]);
                let share = debiased(ones, users, lie);
                if !(share > 0.0 && share < 1.0) {
                    // Few answers at a small level may lie beyond every mean.
                    assert!(estimate.fallback().is_some() && users == 1000);
                    continue;
                }
                let exact = threshold + sigma * normal::quantile(share);
                let miss = (estimate.value() - exact).abs() / sigma;
                // Numbers of size one have sixteen digits, of which a small level takes as many as it has zeros.
                assert!(miss < 1e-12 / level, "ε {level}, {ones} of {users}: {} for {exact}", estimate.value());
                let information = ask.information(exact).unwrap();
                let expected = (users as f64 * information).sqrt().recip();
                assert!((estimate.standard_error().unwrap() / expected - 1.0).abs() < 1e-6);
                check_inference(&estimate).unwrap();
            }
        }
        // A mutant that forgets to take the lies out is told from it.
        let naive = threshold + sigma * normal::quantile(0.6);
        assert!((read(&ask, &[400, 600]).value() - naive).abs() > 1e-3 * sigma);
    }
}

#[test]
fn randomised_response_has_its_closed_form_clipped_to_the_unit_interval() {
    for level in [0.05, 1.0, 5.0] {
        let response = RandomizedResponse::new(epsilon(level), 2).unwrap();
        let ask = Ask::new(response.clone(), Arc::new(Bernoulli), 0.5).unwrap();
        let lie = lie(&response.publish());
        for users in [10u64, 1000, 123_457] {
            for ones in [0, 1, users / 3, users / 2, 2 * users / 3, users - 1, users] {
                let estimate = read(&ask, &[users - ones, ones]);
                let exact = debiased(ones, users, lie).clamp(0.0, 1.0);
                assert!((estimate.value() - exact).abs() < 1e-12 / level, "{ones} of {users}: {estimate:?}");
                let is_end = exact == 0.0 || exact == 1.0;
                assert_eq!(estimate.fallback(), is_end.then_some(Fallback::End));
                check_inference(&estimate).unwrap();
                for kind in KINDS {
                    let interval = estimate.interval(kind, 0.95).unwrap();
                    assert!(0.0 <= interval.low && interval.high <= 1.0, "{interval:?}");
                }
            }
        }
    }
}

#[test]
fn k_ary_response_on_categories_is_the_debiased_share_of_zero() {
    // Under this family all other categories are alike, so the count of zeros is all there is.
    let response = RandomizedResponse::new(epsilon(1.5), 5).unwrap();
    let ask = Ask::new(response.clone(), Arc::new(Categorical::new(5).unwrap()), 0.2).unwrap();
    let channel = response.publish();
    let [truth, lie] = [0, 1].map(|report| channel.weight(0, report) as f64 / 2f64.powi(64));
    for counts in [[300, 200, 100, 250, 150], [400, 90, 110, 95, 105]] {
        let share = counts[0] as f64 / counts.iter().sum::<u64>() as f64;
        let exact = (share - lie) / (truth - lie);
        assert!((read(&ask, &counts).value() - exact).abs() < 1e-12);
    }
}

#[test]
fn the_ends_of_a_likelihood_ratio_interval_have_the_deviance_that_they_should() {
    let question = IntervalResponse::new(epsilon(2.0), vec![-0.6, 0.1, 0.9]).unwrap();
    let model = gaussian(1.0);
    let ask = Ask::new(question.clone(), model.clone(), 0.0).unwrap();
    for counts in [[100u64, 90, 120, 190], [5, 9, 2, 4], [40_000, 90_000, 120_000, 70_000]] {
        let estimate = read(&ask, &counts);
        for level in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
            let z = ldp_core::inference::two_sided(level);
            let interval = estimate.interval(IntervalKind::LikelihoodRatio, level).unwrap();
            for end in [interval.low, interval.high].into_iter().filter(|end| end.is_finite()) {
                let found = deviance(&question, &*model, &counts, end, estimate.value());
                assert!((found / (z * z) - 1.0).abs() < 1e-7, "{counts:?} at {level}: {end} has {found}");
            }
        }
        // Between two levels an end is interpolated.
        for level in [0.4, 0.7, 0.93, 0.97, 0.995] {
            let z = ldp_core::inference::two_sided(level);
            let interval = estimate.interval(IntervalKind::LikelihoodRatio, level).unwrap();
            for end in [interval.low, interval.high].into_iter().filter(|end| end.is_finite()) {
                let found = deviance(&question, &*model, &counts, end, estimate.value()).sqrt();
                assert!((found - z).abs() < 0.02 * z || found > z, "{counts:?} at {level}: {end} has {found} for {z}");
            }
        }
    }
}

#[test]
fn the_variance_is_one_over_the_information() {
    let normal = gaussian(1.0);
    let sign = Sign::new(epsilon(1.0), 0.0).unwrap();
    let information = exact(&sign.publish(), &*normal, 0.4).unwrap().value;
    check_variance("sign, gaussian", &Ask::new(sign, normal.clone(), 0.0).unwrap(), &*normal, 0.4, information);

    let logistic = Arc::new(Logistic::new(2.0).unwrap());
    let response = IntervalResponse::new(epsilon(3.0), vec![-1.0, 1.0]).unwrap();
    let information = exact(&response, &*logistic, 0.7).unwrap().value;
    check_variance(
        "interval, logistic",
        &Ask::new(response, logistic.clone(), 0.0).unwrap(),
        &*logistic,
        0.7,
        information,
    );

    let categories = Arc::new(Categorical::new(6).unwrap());
    let response = RandomizedResponse::new(epsilon(1.0), 6).unwrap();
    let information = exact(&response, &*categories, 0.3).unwrap().value;
    check_variance(
        "response, categories",
        &Ask::new(response, categories.clone(), 0.2).unwrap(),
        &*categories,
        0.3,
        information,
    );

    let duchi = Duchi::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let information = of_finite(&duchi, &*normal, 0.3).unwrap().value;
    check_variance("duchi, gaussian", &Ask::new(duchi, normal.clone(), 0.0).unwrap(), &*normal, 0.3, information);

    let response = IntervalResponse::new(epsilon(2.0), vec![0.5, 1.0, 2.0]).unwrap();
    let information = exact(&response, &Exponential, 1.3).unwrap().value;
    check_variance(
        "interval, exponential",
        &Ask::new(response, Arc::new(Exponential), 1.0).unwrap(),
        &Exponential,
        1.3,
        information,
    );

    let matrix = own_matrix();
    let information = exact(&matrix, &Poisson, 1.4).unwrap().value;
    check_variance("matrix, poisson", &Ask::new(matrix, Arc::new(Poisson), 1.0).unwrap(), &Poisson, 1.4, information);
}

#[test]
fn intervals_cover_as_often_as_they_say_and_narrow_ones_do_not() {
    let replications = 10_000;
    let check = |name: &str, summary: &Summary| {
        for coverage in summary.coverage() {
            let share = coverage.covered as f64 / replications as f64;
            println!("{name}, {}: {share:.4}, {} missing", coverage.kind, coverage.missing);
            assert!((share - 0.95).abs() < 0.01, "{name}, {}: {share}", coverage.kind);
        }
    };
    let normal = gaussian(1.0);
    for (level, theta, users) in [(1.0, 0.3, 5000), (0.5, -0.8, 20_000), (4.0, 1.0, 1000)] {
        let ask = Ask::new(Sign::new(epsilon(level), 0.0).unwrap(), normal.clone(), 0.0).unwrap();
        check(&format!("sign at {theta}"), &simulate(&ask, &*normal, theta, users, replications, 3).1);
        // A mutant with z = 1.5, which covers 87 %.
        let setting = Setting { model: &*normal, theta, users, seed: 3, fidelity: Fidelity::Tally };
        let mut covered = 0;
        replicate_tallies(&ask, &setting, 0..replications, &mut |estimate| {
            let half = 1.5 * estimate.standard_error().unwrap_or(0.0);
            covered += u64::from((estimate.value() - theta).abs() <= half);
        })
        .unwrap();
        let share = covered as f64 / replications as f64;
        assert!((share - 0.95).abs() > 0.05, "the mutant covers {share}");
    }
    let response = RandomizedResponse::new(epsilon(1.0), 2).unwrap();
    let ask = Ask::new(response, Arc::new(Bernoulli), 0.5).unwrap();
    check("response on bits", &simulate(&ask, &Bernoulli, 0.3, 3000, replications, 4).1);
    let matrix = own_matrix();
    let ask = Ask::new(matrix, Arc::new(Poisson), 1.0).unwrap();
    check("matrix on counts", &simulate(&ask, &Poisson, 1.4, 20_000, replications, 5).1);
}

#[test]
fn next_to_an_end_intervals_cover_no_less_than_they_say() {
    let response = RandomizedResponse::new(epsilon(1.0), 2).unwrap();
    let ask = Ask::new(response, Arc::new(Bernoulli), 0.5).unwrap();
    for theta in [0.002, 0.02] {
        let (_, summary) = simulate(&ask, &Bernoulli, theta, 3000, 5000, 6);
        for coverage in summary.coverage() {
            let share = coverage.covered as f64 / 5000.0;
            println!("θ {theta}, {}: {share:.4}", coverage.kind);
            assert!(share > 0.94, "θ {theta}, {}: {share}", coverage.kind);
        }
    }
}

fn random_question(model: &dyn AnyModel, theta: f64, level: f64, rng: &mut SimulationRng) -> FiniteChannel {
    let count = rng.random_range(1..6);
    let mut cuts: Vec<f64> = (0..count).map(|_| model.quantile(theta, rng.random_range(0.05..0.95))).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let kernel = Kernel::response(epsilon(level), cuts.len() as u32 + 1).unwrap();
    FiniteChannel::new(Partition::Cuts(Cuts::new(cuts).unwrap()), kernel).unwrap()
}

#[test]
fn settings_that_nobody_chose_bring_numbers() {
    let mut rng = stream(97, Purpose::Noise, 0, 0);
    let (mut asked, mut refused) = (0, 0);
    for number in 0..50 {
        let (model, theta) = family(number);
        let level = 10f64.powf(rng.random_range(-3.0..1.4));
        let question = random_question(&*model, theta, level, &mut rng);
        let ask = match Ask::new(question.clone(), model.clone(), theta) {
            Ok(ask) => ask,
            Err(Error::NotIdentified { .. }) => {
                refused += 1;
                continue;
            }
            Err(other) => panic!("{number}: {other}"),
        };
        asked += 1;
        check_edges(&ask, &[1, 2, 10, 1000, 1 << 40]).unwrap();
        check_replay(&ask, &[1, 10, 1000]).unwrap();
        for users in [1u64, 2, 10, 100, 12_345] {
            for seed in 0..4 {
                let setting = Setting { model: &*model, theta, users, seed, fidelity: Fidelity::Tally };
                replicate_tallies(&ask, &setting, 0..3, &mut |estimate| {
                    check_inference(estimate).unwrap();
                    let json = serde_json::to_string(estimate).unwrap();
                    assert_eq!(&serde_json::from_str::<AskEstimate>(&json).unwrap(), estimate);
                })
                .unwrap();
            }
        }
    }
    println!("{asked} asked, {refused} refused");
    assert!(asked >= 30);
}

#[test]
fn all_answers_alike_bring_a_value_and_an_honest_interval() {
    // Beyond what any mean explains: a half-line.
    let ask = Ask::new(Sign::new(epsilon(1.0), 0.0).unwrap(), gaussian(1.0), 0.0).unwrap();
    let all = read(&ask, &[0, 1000]);
    assert_eq!((all.fallback(), all.standard_error()), (Some(Fallback::Beyond), None));
    let interval = all.interval(IntervalKind::LikelihoodRatio, 0.95).unwrap();
    assert!(interval.low > 1.0 && interval.high == f64::INFINITY && all.value() > interval.low && all.value() < 40.0);
    assert!(matches!(all.interval(IntervalKind::Wald, 0.95), Err(Error::NoInterval { .. })));
    assert!(all.note().is_some() && all.cannot_tell().is_none());
    // One answer tells next to nothing, and nobody nothing.
    let one = read(&ask, &[1, 0]);
    assert_eq!(one.fallback(), Some(Fallback::Beyond));
    let few = Ask::new(Sign::new(epsilon(0.01), 0.0).unwrap(), gaussian(1.0), 0.25).unwrap();
    let one = read(&few, &[1, 0]);
    assert_eq!((one.value(), one.fallback()), (0.25, Some(Fallback::Unplaced)));
    assert!(one.cannot_tell().is_some());
    let nobody = read(&ask, &[0, 0]);
    assert_eq!((nobody.value(), nobody.fallback()), (0.0, Some(Fallback::NobodyAnswered)));
    // In a known range the end of it.
    let known = Ask::within(Sign::new(epsilon(1.0), 0.0).unwrap(), gaussian(1.0), [-1.0, 2.0]).unwrap();
    let all = read(&known, &[0, 1000]);
    assert_eq!((all.value(), all.fallback()), (2.0, Some(Fallback::End)));
    assert_eq!(all.interval(IntervalKind::LikelihoodRatio, 0.95).unwrap().high, 2.0);
    assert_eq!(known.range(10), Some([-1.0, 2.0]));
}

#[test]
fn what_does_not_identify_the_parameter_is_refused() {
    let refused = |result: Result<(), Error>| assert!(matches!(result, Err(Error::NotIdentified { .. })), "{result:?}");
    // The sign of a value says nothing about its scale.
    refused(Ask::new(Sign::new(epsilon(1.0), 0.0).unwrap(), Arc::new(GaussianScale), 1.0).map(drop));
    // Inside or outside of an interval says the same for means on either side of its middle.
    let cuts = Cuts::labelled(vec![-1.0, 1.0], vec![0, 1, 0]).unwrap();
    let kernel = Kernel::response(epsilon(1.0), 2).unwrap();
    let inside = FiniteChannel::new(Partition::Cuts(cuts), kernel).unwrap();
    refused(Ask::new(inside.clone(), gaussian(1.0), 0.3).map(drop));
    refused(Ask::within(inside.clone(), gaussian(1.0), [-0.5, 3.0]).map(drop));
    assert!(Ask::within(inside, gaussian(1.0), [0.5, 3.0]).is_ok());
    // A lattice repeats itself.
    refused(Ask::new(Residue::new(epsilon(1.0), 0.0, 1.0, 4).unwrap(), gaussian(1.0), 0.0).map(drop));
    // A third category that is reported as the first: a share of zeros and ones that a matrix mixes.
    let blind = Matrix::from_integers(&[vec![3, 1], vec![1, 3], vec![3, 1]]).unwrap();
    let found = Ask::new(blind, Arc::new(Poisson), 1.0);
    assert!(matches!(found, Err(Error::NotIdentified { .. })), "{found:?}");
    assert!(matches!(
        Ask::within(Sign::new(epsilon(1.0), 0.0).unwrap(), gaussian(1.0), [1.0, -1.0]),
        Err(Error::Parameter { .. })
    ));
    assert!(Ask::new(Sign::new(epsilon(1.0), 0.0).unwrap(), Arc::new(Bernoulli), 2.0).is_err());
}

/// Four categories, three reports.
fn own_matrix() -> Matrix {
    Matrix::from_csv("5,3,2\n3,5,2\n2,3,5\n1,3,6\n").unwrap()
}

#[test]
fn a_matrix_of_ones_own_goes_through_everything() {
    let (matrix, model) = (own_matrix(), Categorical::new(4).unwrap());
    let theta = 0.35;
    let ask = Ask::new(matrix.clone(), Arc::new(model), 0.25).unwrap();
    check_simulation_is_wire(&ask, &model, theta, 300, 8).unwrap();
    let information = exact(&matrix, &model, theta).unwrap().value;
    assert!((ask.information(theta).unwrap() / information - 1.0).abs() < 1e-10);
    let erased = erase(ask.clone());
    assert_eq!(erased.fidelities(), [Fidelity::Tally, Fidelity::Users]);
    erased.check_rows().unwrap();
    let users = 400;
    let setting = |fidelity| Setting { model: &model, theta, users, seed: 1, fidelity };
    let wanted = Wanted { truth: theta, level: 0.95, quantiles: vec![0.5] };
    let risk = erased.evaluate(&setting(Fidelity::Tally), &wanted).unwrap();
    println!("exact: n·MSE · I = {}, {:?}", users as f64 * risk.mse * information, risk.intervals);
    assert!(risk.mse_error.unwrap() < 1e-6 * risk.mse && risk.intervals[0].coverage > 0.93);
    // Both fidelities agree with the sum: 4000 replications have a relative standard error of 2.2 %.
    for fidelity in [Fidelity::Tally, Fidelity::Users] {
        let mut squares = Moments::default();
        erased
            .replicate(&setting(fidelity), 0..4000, &mut |estimate| squares.push(estimate.squared_error(theta)))
            .unwrap();
        let off = (squares.mean() - risk.mse).abs() / squares.standard_error().unwrap();
        assert!(off < 4.5, "{fidelity:?}: {} for {}", squares.mean(), risk.mse);
    }
}

#[test]
fn tampered_estimates_are_refused() {
    let ask = Ask::new(Sign::new(epsilon(1.0), 0.0).unwrap(), gaussian(1.0), 0.0).unwrap();
    let estimate = read(&ask, &[400, 600]);
    let json = serde_json::to_string(&estimate).unwrap();
    assert_eq!(serde_json::from_str::<AskEstimate>(&json).unwrap(), estimate);
    let value = format!("{:?}", estimate.value());
    for (from, to) in [
        (value.as_str(), "0.1"),
        (&value, "1e999"),
        ("\"information\":", "\"information\":-"),
        ("\"fallback\":null", "\"fallback\":\"beyond\""),
        ("\"fallback\":null", "\"fallback\":\"unplaced\""),
        ("\"fallback\":null", "\"fallback\":null,\"more\":1"),
        ("\"-inf\"", "\"inf\""),
    ] {
        assert!(json.contains(from), "{from} in {json}");
        assert!(serde_json::from_str::<AskEstimate>(&json.replacen(from, to, 1)).is_err(), "{to}");
    }
}

#[test]
fn the_exact_risk_of_many_users_is_summed() {
    let normal = gaussian(1.0);
    let sign = Sign::new(epsilon(1.0), 0.0).unwrap();
    let information = exact(&sign.publish(), &*normal, 0.5).unwrap().value;
    let erased = erase(Ask::new(sign, normal.clone(), 0.0).unwrap());
    let setting = Setting { model: &*normal, theta: 0.5, users: 200_000, seed: 1, fidelity: Fidelity::Tally };
    let wanted = Wanted { truth: 0.5, level: 0.95, quantiles: vec![0.5] };
    let risk = erased.evaluate(&setting, &wanted).unwrap();
    let [ratio, coverage] = [200_000.0 * risk.mse * information, risk.intervals[0].coverage];
    println!("n·MSE · I = {ratio}, coverage {coverage}");
    assert!((ratio - 1.0).abs() < 1e-3 && (coverage - 0.95).abs() < 2e-3);
}
