//! The efficient protocol: its risk against the information of the best mechanism, family by family.
//!
//! Simulations: 40,000 replications of fixed seeds at tally fidelity, so that n·MSE is known to 0.7 % and a coverage to
//! 0.11 %. The bands below are at least three of these errors away from what is expected; every test shows that a limit which
//! is off by six percent is rejected.

use ldp_core::conformance::{check_edges, check_epsilon, check_inference, check_replay, check_wire_round_trip};
use ldp_core::model::{
    Bernoulli, Categorical, Cdf, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, Score, StudentT,
};
use ldp_core::special::normal;
use ldp_core::{
    Bits, Counts, Epsilon, Error, Inference, IntervalKind, Mechanism, Partition, Population, Round, StagedEstimator,
    Step, Tally, run,
};
use ldp_estimators::{
    Efficient, EfficientEstimate, EfficientState, Fallback, Rescaled, StartAt, TwoStage, TwoStageState,
};
use ldp_fisher::optimal;
use ldp_simulate::AnyModel;
use ldp_simulate::Tallies;
use ldp_simulate::conformance::check_simulation_is_wire;
use ldp_simulate::exact::{Errors, Exact};
use rayon::prelude::*;
use std::sync::Arc;

const REPLICATIONS: u64 = 40_000;
const PIECES: u64 = 64;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// n·MSE and the coverage of 95 % intervals.
fn simulate<M: AnyModel + ?Sized>(estimator: &Efficient<M>, model: &M, theta: f64, users: u64) -> (f64, f64) {
    let piece = |piece: u64| {
        let mut population = Tallies::new(model, theta, 20_260).unwrap();
        let (mut squares, mut covered) = (0.0, 0u64);
        for replication in (piece..REPLICATIONS).step_by(PIECES as usize) {
            population.restart(replication);
            let estimate = run(estimator, users, &mut population).unwrap();
            squares += estimate.squared_error(theta);
            covered +=
                u64::from(estimate.interval(IntervalKind::Score, 0.95).is_ok_and(|interval| interval.contains(theta)));
        }
        (squares, covered)
    };
    let sums: Vec<(f64, u64)> = (0..PIECES).into_par_iter().map(piece).collect();
    let (squares, covered) = sums.iter().fold((0.0, 0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1));
    let replications = REPLICATIONS as f64;
    (users as f64 * squares / replications, covered as f64 / replications)
}

/// Whether n·MSE is what a protocol with this information per user can have: a user in a hundred is in the first stage, and
/// the second question stands a little off.
fn efficient(scaled_mse: f64, information: f64) -> bool {
    (0.975..1.04).contains(&(scaled_mse * information))
}

fn check<M: AnyModel + 'static>(model: M, level: f64, start: f64, theta: f64, users: u64) {
    let model: Arc<dyn AnyModel> = Arc::new(model);
    let best = optimal::response(&*model, theta, epsilon(level)).unwrap();
    let estimator = Efficient::new(Arc::clone(&model), epsilon(level), start, users / 100).unwrap();
    let (scaled_mse, coverage) = simulate(&estimator, &*model, theta, users);
    let ratio = scaled_mse * best.information;
    println!(
        "ε {level}, start {start}, θ {theta}: n·MSE {scaled_mse:.5}, times I {ratio:.4}, coverage {coverage:.4}, {} reports",
        best.reports()
    );
    assert!(efficient(scaled_mse, best.information), "ε {level}, θ {theta}: n·MSE·I {ratio}");
    for wrong in [0.94, 1.065] {
        assert!(!efficient(scaled_mse, wrong * best.information), "six percent off is not seen: {ratio}");
    }
    assert!((coverage - 0.95).abs() < 0.01, "ε {level}, θ {theta}: coverage {coverage}");
}

#[test]
fn gaussian_beyond_the_sign() {
    check(Gaussian::new(1.0).unwrap(), 4.0, 0.0, 0.5, 100_000);
    // Its own limit, known to all digits, and what two sign stages reach.
    let best = optimal::response(&Gaussian::new(1.0).unwrap(), 0.5, epsilon(4.0)).unwrap();
    assert!((best.information - 0.751847).abs() < 1e-6);
    check(Gaussian::new(0.3).unwrap(), 2.9, -2.0, -2.1, 100_000);
    check(Gaussian::new(3.0).unwrap(), 6.0, 7.0, 5.5, 100_000);
}

#[test]
fn location_families() {
    check(Logistic::new(1.0).unwrap(), 4.0, 0.0, -0.9, 100_000);
    check(StudentT::new(3.0, 1.0).unwrap(), 4.0, 0.0, 0.5, 100_000);
    // Its information falls like |δ| beside the kink, not like δ²: the loss is of the order of n^(-1/3), 6 % at 100,000.
    check(Laplace::new(2.0).unwrap(), 3.0, 0.0, 0.7, 2_000_000);
}

#[test]
fn scale_families() {
    check(Exponential, 4.0, 1.0, 1.5, 100_000);
    check(Exponential, 2.0, 10.0, 7.0, 100_000);
    check(GaussianScale, 4.0, 1.0, 1.4, 100_000);
}

#[test]
fn families_without_symmetry() {
    check(Poisson, 4.0, 1.0, 2.5, 100_000);
    check(Poisson, 1.0, 2.0, 2.5, 400_000);
    check(Bernoulli, 3.0, 0.5, 0.3, 100_000);
    check(Categorical::new(5).unwrap(), 4.0, 0.5, 0.3, 100_000);
}

#[test]
fn small_epsilon_needs_more_users() {
    check(Gaussian::new(1.0).unwrap(), 0.2, 0.0, 0.5, 2_000_000);
    check(Exponential, 0.5, 1.0, 1.3, 2_000_000);
}

fn counts(counts: &[u64]) -> Counts {
    let mut tally = Counts::new(counts.len() as u32);
    (0u32..).zip(counts).for_each(|(report, &count)| tally.push(report, count).unwrap());
    tally
}

/// The estimate from first answers (ones, users) and the counts of the second round.
fn finish<M: AnyModel + ?Sized>(
    estimator: &Efficient<M>,
    users: u64,
    first: (u64, u64),
    second: &[u64],
) -> EfficientEstimate {
    let state = EfficientState::Second { users, first: Bits::new(first.0, first.1).unwrap(), again: None };
    match estimator.advance(state, &[counts(second)]).unwrap() {
        Step::Done(estimate) => estimate,
        step => panic!("it is over: {step:?}"),
    }
}

#[test]
fn with_two_reports_it_is_the_two_stage_sign_estimator() {
    for (level, sigma, start) in [(1.0, 1.0, 0.0), (0.2, 3.0, -5.0), (2.0, 0.3, 7.7)] {
        let model = Arc::new(Gaussian::new(sigma).unwrap());
        let efficient = Efficient::new(model, epsilon(level), start, 20_000).unwrap();
        let sign = Rescaled::new(TwoStage::new(epsilon(level), start / sigma, 20_000).unwrap(), sigma).unwrap();
        for ones in [9700, 9870, 10_000, 10_081, 10_400] {
            let first = Bits::new(ones, 20_000).unwrap();
            let state = EfficientState::First { users: 30_000 };
            let Step::Ask { round, .. } = efficient.advance(state, &[counts(&[20_000 - ones, ones])]).unwrap() else {
                panic!("asks twice")
            };
            let Step::Ask { round: of_signs, .. } =
                sign.advance(TwoStageState::First { users: 30_000 }, &[first]).unwrap()
            else {
                panic!("asks twice")
            };
            let (Round::One([asked]), Round::One([of_sign])) = (&round, &of_signs) else { panic!("one group") };
            let &Partition::Threshold(cut) = asked.question.partition() else { panic!("one cut") };
            let threshold = of_sign.question.threshold();
            assert!((cut - threshold).abs() < 1e-12 * (sigma + threshold.abs()));
            for plus in [0, 2690, 4000, 4999, 5000, 7000, 7311, 10_000] {
                let state = TwoStageState::Second { users: 30_000, first };
                let Step::Done(expected) = sign.advance(state, &[Bits::new(plus, 10_000).unwrap()]).unwrap() else {
                    panic!("two rounds")
                };
                let found = finish(&efficient, 30_000, (ones, 20_000), &[10_000 - plus, plus]);
                let scale = sigma + expected.value().abs();
                assert_eq!(found.note().is_some(), expected.note().is_some(), "{ones} {plus}");
                // Beyond what any parameter explains the other falls back to its first stage.
                assert!(
                    found.note().is_some() || (found.value() - expected.value()).abs() < 1e-12 * scale,
                    "{ones} {plus}: {found:?} {expected:?}"
                );
                match (found.standard_error(), expected.standard_error()) {
                    (Some(found), Some(expected)) => assert!((found / expected - 1.0).abs() < 1e-9, "{ones} {plus}"),
                    (found, _) => assert_eq!((found, expected.note().is_some()), (None, true), "{ones} {plus}"),
                }
            }
            // The comparison sees one user who answers otherwise.
            let [one, other] =
                [5000, 5001].map(|plus| finish(&efficient, 30_000, (ones, 20_000), &[10_000 - plus, plus]));
            assert!((one.value() - other.value()).abs() > 1e-5 * sigma);
        }
    }
}

#[test]
fn exact_risks_are_those_of_the_sign_and_of_the_simulation() {
    let model = Gaussian::new(1.0).unwrap();
    let exact = Exact::new(&model, 0.05).unwrap();
    // Six standard errors of the first stage keep the two the same.
    let efficient = Efficient::new(Arc::new(model), epsilon(1.0), 0.0, 500).unwrap();
    let errors = exact.sum(&efficient, 800, || Errors::new(0.05)).unwrap().gather;
    let sign = TwoStage::new(epsilon(1.0), 0.0, 500).unwrap();
    let expected = exact.sum(&sign, 800, || Errors::new(0.05)).unwrap().gather;
    assert!((errors.mse() / expected.mse() - 1.0).abs() < 1e-6, "{errors:?} {expected:?}");
    assert!((errors.bias() - expected.bias()).abs() < 1e-6);
    // Three reports and now and then three rounds: sums over all tallies against drawn ones. n·MSE within four standard errors;
    // a risk that is ten percent off is rejected.
    let efficient = Efficient::new(Arc::new(model), epsilon(2.5), 0.0, 50).unwrap();
    let exact = Exact::new(&model, 0.4).unwrap();
    let errors = exact.sum(&efficient, 120, || Errors::new(0.4)).unwrap().gather;
    let (scaled_mse, _) = simulate(&efficient, &model, 0.4, 120);
    let off = |factor: f64| (scaled_mse / 120.0 - factor * errors.mse()).abs() / errors.simulation_error(REPLICATIONS);
    assert!(off(1.0) < 4.0 && off(0.9) > 4.0 && off(1.1) > 4.0, "{scaled_mse} {errors:?}");
}

#[test]
fn tuned_first_stages() {
    for (level, users, expected) in [(1.0, 10_000, 299), (1.0, 100_000, 945), (4.0, 100_000, 216), (0.2, 100, 50)] {
        let estimator = Efficient::tuned(Arc::new(Gaussian::new(2.5).unwrap()), epsilon(level), 7.0).unwrap();
        assert_eq!(estimator.first_stage(users).unwrap(), expected, "ε {level}, {users} users");
        // It does not depend on the start, and neither here nor there on the unit.
        assert_eq!(estimator.start_at(-3e3).unwrap().first_stage(users).unwrap(), expected);
        let sizes = [1.0, 1e-9, 1e9].map(|start| {
            Efficient::tuned(Arc::new(Exponential), epsilon(level), start).unwrap().first_stage(users).unwrap()
        });
        assert!(sizes.iter().all(|&size| size == sizes[0] && size >= 1 && size <= users / 2), "{sizes:?}");
    }
    let models: [(Arc<dyn AnyModel>, f64); 4] = [
        (Arc::new(Poisson), 1.0),
        (Arc::new(Poisson), 1e-3),
        (Arc::new(Bernoulli), 0.5),
        (Arc::new(Categorical::new(9).unwrap()), 0.01),
    ];
    for (model, start) in models {
        let estimator = Efficient::tuned(model, epsilon(1.0), start).unwrap();
        for users in [2, 3, 1000, 1_000_000_000_000] {
            let size = estimator.first_stage(users).unwrap();
            assert!(size >= 1 && size <= users / 2, "{size} of {users}");
        }
    }
}

#[test]
fn a_moved_start_is_a_start() {
    for (start, model) in [
        (3.7, Arc::new(Exponential) as Arc<dyn AnyModel>),
        (2.9, Arc::new(Poisson)),
        (-1.2, Arc::new(Logistic::new(0.4).unwrap())),
    ] {
        let first = if model.admits(0.0).is_ok() { 0.0 } else { 1.0 };
        let moved = Efficient::new(Arc::clone(&model), epsilon(3.0), first, 900).unwrap().start_at(start).unwrap();
        let direct = Efficient::new(Arc::clone(&model), epsilon(3.0), start, 900).unwrap();
        assert_eq!(moved.begin(1900).unwrap(), direct.begin(1900).unwrap());
        let second = [200; 5];
        let Step::Ask { round, .. } =
            direct.advance(EfficientState::First { users: 1900 }, &[counts(&[400, 500])]).unwrap()
        else {
            panic!("asks twice")
        };
        let second = &second[..ldp_core::Finite::reports(&round.groups()[0].question) as usize];
        assert_eq!(finish(&moved, 1900, (500, 900), second), finish(&direct, 1900, (500, 900), second));
    }
}

/// Every law of protocols, for a location family, a scale family and one without symmetry.
#[test]
fn conformance() {
    let models: [(Arc<dyn AnyModel>, f64, f64); 4] = [
        (Arc::new(Gaussian::new(3.0).unwrap()), -2.0, 1.5),
        (Arc::new(GaussianScale), 0.5, 0.7),
        (Arc::new(Poisson), 1.0, 2.5),
        (Arc::new(Bernoulli), 0.5, 0.05),
    ];
    for (model, start, theta) in models {
        for (level, size) in [(0.2, 7), (1.0, 306), (4.0, 1), (7.0, 40)] {
            let estimator = Efficient::new(Arc::clone(&model), epsilon(level), start, size).unwrap();
            check_edges(&estimator, &[2, 3, 10, 1000]).unwrap();
            check_replay(&estimator, &[2, 3, 1000]).unwrap();
            for users in [2, 10, 1000] {
                check_simulation_is_wire(&estimator, &*model, theta, users, 5).unwrap();
            }
            let Ok(mut step) = estimator.begin(1000) else { panic!("enough users") };
            let mut population = Tallies::new(&*model, theta, 5).unwrap();
            loop {
                check_wire_round_trip(&step).unwrap();
                let Step::Ask { round: Round::One([group]), state } = step else { break };
                // Rounded so that it holds exactly.
                assert!(group.question.epsilon() <= epsilon(level));
                check_epsilon(&group.question, epsilon(level)).unwrap();
                let mut tally = estimator.tally(&group.question);
                population.answer(&group, &mut tally).unwrap();
                step = estimator.advance(state, &[tally]).unwrap();
            }
        }
    }
}

/// The corner table: a value made of numbers or a typed error.
#[test]
fn corners() {
    let models: [(Arc<dyn AnyModel>, [f64; 4], f64); 5] = [
        (Arc::new(Gaussian::new(2.0).unwrap()), [0.0, 60.0, -60.0, 1e12], 0.3),
        (Arc::new(StudentT::new(3.0, 0.1).unwrap()), [0.0, 3.0, -3.0, 1e12], 0.3),
        (Arc::new(Exponential), [0.2, 1e-9, 1e9, 1e300], 0.3),
        (Arc::new(Poisson), [0.2, 1e-9, 300.0, 1e6], 0.3),
        (Arc::new(Bernoulli), [0.2, 1e-9, 0.5, 1.0 - 1e-9], 0.3),
    ];
    let (mut values, mut notes) = (0, 0);
    for (model, starts, theta) in models {
        for level in [1e-6, 1e-3, 0.2, 1.0, 4.0, 12.0] {
            for size in [None, Some(1), Some(50)] {
                let placed = match size {
                    Some(size) => Efficient::new(Arc::clone(&model), epsilon(level), starts[0], size).unwrap(),
                    None => Efficient::tuned(Arc::clone(&model), epsilon(level), starts[0]).unwrap(),
                };
                for start in starts {
                    let estimator = placed.start_at(start);
                    let estimator = estimator.unwrap_or_else(|error| panic!("ε {level}, start {start}: {error}"));
                    assert!(matches!(estimator.begin(1), Err(Error::TooFew { name: "users", least: 2, value: 1 })));
                    for users in [2, 51, 1000, 1_000_000_000_000] {
                        let outcome =
                            Tallies::new(&*model, theta, 3).and_then(|mut all| run(&estimator, users, &mut all));
                        match outcome {
                            Ok(estimate) => {
                                check_inference(&estimate).unwrap();
                                let inside = model.admits(estimate.value()).is_ok();
                                assert!(inside || estimate.fallback() == Some(Fallback::End), "{estimate:?}");
                                values += 1;
                                notes += u32::from(estimate.note().is_some());
                            }
                            Err(Error::TooMany { name: "first-stage", most, value: 50 }) => assert_eq!(most, users - 1),
                            Err(error) => panic!("ε {level}, start {start}, {users} users: {error}"),
                        }
                    }
                }
            }
        }
    }
    assert_eq!(values, 5 * 6 * 4 * 11);
    assert!(notes > 300 && values - notes > 200, "{notes} of {values}");
    let gaussian = || Arc::new(Gaussian::new(1.0).unwrap());
    let zero = Efficient::new(gaussian(), epsilon(1.0), 0.0, 0);
    assert!(matches!(zero, Err(Error::TooFew { name: "first-stage", least: 1, value: 0 })));
    for start in [f64::NAN, f64::INFINITY] {
        assert!(matches!(
            Efficient::new(gaussian(), epsilon(1.0), start, 5),
            Err(Error::Parameter { name: "theta", .. })
        ));
    }
    // Nothing lies between two cuts there.
    assert!(matches!(Efficient::new(gaussian(), epsilon(4.0), 1e300, 5), Err(Error::CutsNotIncreasing { .. })));
    assert!(Efficient::new(Arc::new(Exponential), epsilon(1.0), 0.0, 5).is_err());
}

/// A family whose best set is an interval: its probability rises and falls with the location.
struct Humped;

impl ldp_core::model::Location for Humped {
    fn scale(&self) -> f64 {
        1.0
    }
    fn ln_density_at(&self, z: f64) -> f64 {
        // Two Gaussian humps at ±4 of width one.
        let hump = |centre: f64| 0.5 * normal::pdf(z - centre);
        (hump(-4.0) + hump(4.0)).ln()
    }
    fn slope_at(&self, z: f64) -> f64 {
        let hump = |centre: f64| normal::pdf(z - centre);
        ((z + 4.0) * hump(-4.0) + (z - 4.0) * hump(4.0)) / (hump(-4.0) + hump(4.0))
    }
    fn below(&self, z: f64) -> f64 {
        0.5 * (normal::cdf(z + 4.0) + normal::cdf(z - 4.0))
    }
    fn between(&self, low: f64, high: f64) -> f64 {
        0.5 * (normal::mass(low + 4.0, high + 4.0) + normal::mass(low - 4.0, high - 4.0))
    }
    fn information_at_unit_scale(&self) -> f64 {
        1.0
    }
}

/// X ~ N(θ², 1): nothing tells θ from −θ.
struct Folded;

impl Cdf for Folded {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        normal::cdf(x - theta * theta)
    }
    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        -2.0 * theta * normal::pdf(x - theta * theta)
    }
}

impl Score for Folded {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        normal::ln_pdf(x - theta * theta)
    }
    fn score(&self, theta: f64, x: f64) -> f64 {
        2.0 * theta * (x - theta * theta)
    }
    fn information(&self, theta: f64) -> f64 {
        4.0 * theta * theta
    }
}

#[test]
fn where_the_best_set_does_not_identify_the_parameter_the_median_does_or_nothing() {
    fn asked<M: Cdf + Score>(model: M, level: f64, start: f64) -> Partition {
        let estimator = Efficient::new(Arc::new(model), epsilon(level), start, 10).unwrap();
        let Step::Ask { round, .. } = estimator.begin(1000).unwrap() else { panic!("nobody was asked") };
        round.groups()[0].question.partition().clone()
    }
    // The best set of a Student with half a degree of freedom lies in its midst, next to the centre.
    for level in [1.0, 6.0] {
        let cells = asked(StudentT::new(0.5, 2.0).unwrap(), level, -7.0);
        assert!(matches!(cells, Partition::Threshold(cut) if (cut + 7.0).abs() < 1e-12), "{cells:?}");
    }
    let cells = asked(Humped, 1.0, 3.0);
    assert!(matches!(cells, Partition::Threshold(cut) if (cut - 3.0).abs() < 1e-12), "{cells:?}");
    // Where the best set does, it is asked: both tails tell a scale, the values above the median do not.
    assert!(matches!(asked(GaussianScale, 1.0, 2.0), Partition::Cuts(_)));
    let refused = Efficient::new(Arc::new(Folded), epsilon(1.0), 1.0, 10);
    assert!(matches!(refused, Err(Error::Unsupported { what: "a first stage from this start", .. })), "{refused:?}");
}
