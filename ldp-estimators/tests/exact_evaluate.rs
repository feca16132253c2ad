//! The evaluation of an estimator against sorted lists of all its estimates, and known coverages.

use ldp_core::model::Gaussian;
use ldp_core::special::binomial;
use ldp_core::{Bits, Epsilon, Finite, Inference, IntervalKind, StagedEstimator, Step, StepOf};
use ldp_estimators::{DuchiRogers, OneStage, Rescaled, TwoStage};
use ldp_mechanisms::Sign;
use ldp_simulate::exact::{Atoms, Countable, Evaluation, Exact, Method, Wanted, evaluate};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Every estimate with its probability, by plain recursion over all counts.
fn leaves<E>(
    estimator: &E,
    step: StepOf<E>,
    weight: f64,
    model: &Gaussian,
    theta: f64,
    all: &mut Vec<(f64, E::Estimate)>,
) where
    E: Countable + StagedEstimator<Question = Sign, Tally = Bits>,
{
    let (round, state) = match step {
        Step::Done(estimate) => return all.push((weight, estimate)),
        Step::Ask { round, state } => (round, state),
    };
    let [group] = round.groups() else { panic!("a sign round has one group") };
    let mut law = [0.0; 2];
    group.question.marginal(model, theta, &mut law);
    for ones in 0..=group.users {
        let next = estimator.advance(state.clone(), &[Bits::new(ones, group.users).unwrap()]).unwrap();
        leaves(estimator, next, weight * binomial::pmf(ones, group.users, law[1]), model, theta, all);
    }
}

/// The smallest number with at least `level` of the weight up to it. Where the weight up to a number is the level itself
/// but for rounding, the next one would do as well: both are returned.
fn quantiles(mut atoms: Vec<(f64, f64)>, level: f64) -> [f64; 2] {
    atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at = |level: f64| {
        let mut sum = 0.0;
        let found = atoms.iter().find(|(_, weight)| {
            sum += weight;
            sum >= level
        });
        found.or(atoms.last()).unwrap().0
    };
    [at(level - 1e-11), at(level + 1e-11)]
}

const LEVELS: [f64; 7] = [0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.9999];

fn check<E>(estimator: &E, sigma: f64, theta: f64, users: u64)
where
    E: Countable + StagedEstimator<Question = Sign, Tally = Bits>,
{
    let model = Gaussian::new(sigma).unwrap();
    let wanted = Wanted { truth: theta, level: 0.9, quantiles: LEVELS.to_vec() };
    let exact = Exact::new(&model, theta).unwrap();
    let found = evaluate(&exact, estimator, users, &wanted).unwrap();
    let mut all = Vec::new();
    leaves(estimator, estimator.begin(users).unwrap(), 1.0, &model, theta, &mut all);
    let sum =
        |of: &dyn Fn(&E::Estimate) -> f64| all.iter().map(|(weight, estimate)| weight * of(estimate)).sum::<f64>();
    let near = |found: f64, expected: f64| {
        let close = (found - expected).abs() <= 1e-11 * (1.0 + expected.abs());
        assert!(close, "{found} is not {expected}: σ = {sigma}, θ = {theta}, n = {users}");
    };
    near(found.bias, sum(&|e| e.value() - theta));
    near(found.mse, sum(&|e| (e.value() - theta).powi(2)));
    near(found.fourth, sum(&|e| (e.value() - theta).powi(4)));
    near(found.variance, found.mse - found.bias.powi(2));
    near(found.notes, sum(&|e| f64::from(e.note().is_some())));
    let sizes = || all.iter().map(|(weight, e)| ((e.value() - theta).abs(), *weight)).collect::<Vec<_>>();
    let from_atoms = || {
        let atoms = exact.sum(estimator, users, || Atoms::new(theta, 1 << 20)).unwrap().gather.sorted().unwrap();
        atoms.into_iter().map(|(value, weight)| ((value - theta).abs(), weight)).collect::<Vec<_>>()
    };
    for (level, quantile) in &found.quantiles {
        for list in [sizes(), from_atoms()] {
            let expected = quantiles(list, *level);
            assert!(expected.contains(quantile), "{level}: {quantile} is not in {expected:?}, n = {users}");
        }
    }
    for (risk, &kind) in found.intervals.iter().zip(E::Estimate::interval_kinds()) {
        assert_eq!(risk.kind, kind);
        let width = |e: &E::Estimate| e.interval(kind, 0.9).map_or(f64::INFINITY, |interval| interval.width());
        near(risk.coverage, sum(&|e| f64::from(e.interval(kind, 0.9).is_ok_and(|interval| interval.contains(theta)))));
        near(risk.missing, sum(&|e| f64::from(e.interval(kind, 0.9).is_err())));
        let infinite = |e: &E::Estimate| e.interval(kind, 0.9).is_ok_and(|interval| !interval.width().is_finite());
        near(risk.infinite, sum(&|e| f64::from(infinite(e))));
        let finite = sum(&|e| f64::from(width(e).is_finite()));
        let mean = sum(&|e| if width(e).is_finite() { width(e) } else { 0.0 }) / finite;
        match risk.mean_finite_width {
            Some(width) => near(width, mean),
            None => assert_eq!(finite, 0.0),
        }
        let expected = quantiles(all.iter().map(|(weight, e)| (width(e), *weight)).collect(), 0.5);
        let median = risk.median_width;
        assert!(expected.contains(&median), "{kind:?}: {median} is not in {expected:?}, n = {users}");
    }
}

#[test]
fn evaluations_are_those_of_the_sorted_list() {
    for (level, sigma, theta, users) in
        [(1.0, 1.0, 0.5, 1), (1.0, 1.0, 0.5, 200), (0.3, 3.0, -2.0, 77), (4.0, 0.3, 0.4, 150)]
    {
        let unit = OneStage::new(epsilon(level), -0.2).unwrap();
        check(&Rescaled::new(unit, sigma).unwrap(), sigma, theta, users);
        let unit = DuchiRogers::new(epsilon(level), 0.1, 1.5).unwrap();
        check(&Rescaled::new(unit, sigma).unwrap(), sigma, theta, users);
        if users > 1 {
            let unit = TwoStage::new(epsilon(level), 0.1, users / 4).unwrap();
            check(&Rescaled::new(unit, sigma).unwrap(), sigma, theta, users);
        }
    }
}

fn one_stage(delta: f64) -> Evaluation {
    let model = Gaussian::new(1.0).unwrap();
    let wanted = Wanted { truth: delta, level: 0.95, quantiles: vec![0.5, 0.95] };
    let one = OneStage::new(epsilon(1.0), 0.0).unwrap();
    evaluate(&Exact::new(&model, delta).unwrap(), &one, 10_000, &wanted).unwrap()
}

/// From far away the count often lies beyond what any mean explains: exact intervals have infinite ends, and Wald's,
/// which then do not exist, cover no more.
#[test]
fn known_coverages() {
    for (delta, wald, infinite) in [(0.5, 0.950, 0.0), (2.5, 0.641, 0.91), (3.0, 0.382, 1.0)] {
        let risk = one_stage(delta);
        assert_eq!(risk.method, Method::Exact);
        let [exact, simple] = &risk.intervals[..] else { panic!("two kinds") };
        assert_eq!((exact.kind, simple.kind), (IntervalKind::Exact, IntervalKind::Wald));
        // A count that explains no mean has an interval that reaches up to the fallback, and so covers more.
        assert!((0.950..0.953).contains(&exact.coverage) || delta > 2.0, "δ = {delta}: {exact:?}");
        assert!((0.950..=1.0).contains(&exact.coverage), "δ = {delta}: {exact:?}");
        assert!((simple.coverage - wald).abs() < 6e-4, "δ = {delta}: {simple:?}");
        if delta < 3.0 {
            assert!((exact.infinite - infinite).abs() < 6e-3, "δ = {delta}: {exact:?}");
        }
        assert_eq!(exact.median_width.is_finite(), exact.infinite < 0.5, "δ = {delta}: {exact:?}");
        // A count beyond any mean has no Wald interval, and is told as a note.
        assert!((simple.missing - risk.notes).abs() < 1e-12, "δ = {delta}: {risk:?}");
    }
    // Half and 95 % of the errors of a nearly normal estimate, in standard deviations.
    let risk = one_stage(0.5);
    let deviation = risk.variance.sqrt();
    assert!((risk.quantiles[0].1 / deviation - 0.6745).abs() < 0.01, "{risk:?}");
    assert!((risk.quantiles[1].1 / deviation - 1.9600).abs() < 0.02, "{risk:?}");
}

/// Thinned, moments are the same; quantiles and coverage, which jump with single counts, are close.
#[test]
fn a_thinned_evaluation_is_close() {
    let model = Gaussian::new(1.0).unwrap();
    let exact = Exact::new(&model, 0.5).unwrap();
    let wanted = Wanted { truth: 0.5, level: 0.95, quantiles: vec![0.1, 0.5, 0.95] };
    let two = TwoStage::tuned(epsilon(1.0), 0.0).unwrap();
    let full = evaluate(&exact, &two, 200_000, &wanted).unwrap();
    for (points, tolerance) in [(4.0, 2e-3), (12.0, 5e-4)] {
        let thin = evaluate(&exact.most(full.tallies / 2).resolution(points, 1e-11), &two, 200_000, &wanted).unwrap();
        assert_eq!((full.method, thin.method), (Method::Exact, Method::Thinned));
        assert!((thin.mse / full.mse - 1.0).abs() < 1e-10 && (thin.bias - full.bias).abs() < 1e-10 * full.mse.sqrt());
        for ((_, a), (_, b)) in thin.quantiles.iter().zip(&full.quantiles) {
            assert!((a - b).abs() < 0.01 * full.mse.sqrt(), "{points}: {a} {b}");
        }
        for (a, b) in thin.intervals.iter().zip(&full.intervals) {
            assert!((a.coverage - b.coverage).abs() < tolerance, "{points}: {a:?} {b:?}");
            assert!((a.median_width / b.median_width - 1.0).abs() < 1e-4, "{points}: {a:?} {b:?}");
            let [a, b] = [a, b].map(|risk| risk.mean_finite_width.unwrap());
            assert!((a / b - 1.0).abs() < 1e-10, "{points}: {a:?} {b:?}");
        }
    }
}

#[test]
fn what_cannot_be_wanted_is_refused() {
    let model = Gaussian::new(1.0).unwrap();
    let one = OneStage::new(epsilon(1.0), 0.0).unwrap();
    for (level, quantile) in [(0.0, 0.5), (1.0, 0.5), (f64::NAN, 0.5), (0.95, 0.0), (0.95, 1.0), (0.95, f64::NAN)] {
        let wanted = Wanted { truth: 0.0, level, quantiles: vec![quantile] };
        assert!(evaluate(&Exact::new(&model, 0.0).unwrap(), &one, 10, &wanted).is_err(), "{level} {quantile}");
    }
    assert!(Exact::new(&model, f64::NAN).is_err());
    assert!(Exact::new(&model, 0.0).unwrap().goal(0.0).is_err());
}
