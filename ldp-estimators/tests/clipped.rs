//! Protocols that clip: means of clipped values and clipped moments.
//!
//! Simulations have fixed seeds and are judged at five standard errors of what they average (α = 6e-7 each, two-sided);
//! the standard errors are those of the simulation. Every comparison is shown to reject a mutant.

#[allow(dead_code, reason = "shared: not every test uses all of it")]
mod seen;

use ldp_core::conformance::{
    check_edges, check_edges_with, check_inference, check_replay, check_replay_with, check_wire_round_trip,
};
use ldp_core::model::Gaussian;
use ldp_core::special::normal;
use ldp_core::{Epsilon, Error, Inference, IntervalKind, Mechanism, StagedEstimator, Step, Sum, Tally, Unbiased, run};
use ldp_estimators::{
    Averaged, ClippedMean, ClippedMoments, ClippedMomentsUnknownVariance, MeanEstimate, MomentsState, Remark,
};
use ldp_mechanisms::{Duchi, Hybrid, Laplace, Piecewise, Range, Staircase};
use ldp_simulate::conformance::check_simulation_is_wire_typed;
use ldp_simulate::{Fidelity, erase, erase_real};
use ldp_simulate::{Tallies, Users};
use rand::Rng;
use seen::Seen;

const LEVELS: [f64; 3] = [0.2, 1.0, 4.0];
const REPLICATIONS: u64 = 4000;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// The mean of `f` under N(θ, σ²), by the trapezoidal rule over sixteen standard deviations, cut where clipping kinks.
fn expectation(theta: f64, sigma: f64, range: (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let ends = [theta - 8.0 * sigma, range.0, range.1, theta + 8.0 * sigma];
    let mut cuts = ends.to_vec();
    cuts.retain(|x| (ends[0]..=ends[3]).contains(x));
    cuts.sort_by(f64::total_cmp);
    let mut total = 0.0;
    for pair in cuts.windows(2) {
        let (pieces, width) = (2000, pair[1] - pair[0]);
        for k in 0..=pieces {
            // Simpson's weights.
            let weight = if k == 0 || k == pieces { 1.0 } else { f64::from(2 + 2 * (k % 2)) } / 3.0;
            let x = pair[0] + width * f64::from(k) / f64::from(pieces);
            total += weight * width / f64::from(pieces) * normal::pdf((x - theta) / sigma) / sigma * f(x);
        }
    }
    total
}

/// Where a [`ClippedMean`] is tried: θ, σ and the range, most of the values inside, half of them outside, all above.
const PLACES: [(f64, f64, f64, f64); 4] =
    [(0.7, 1.0, -4.0, 6.0), (-13.1, 3.0, -15.0, -12.0), (2.45, 0.3, 2.0, 2.9), (-0.37, 0.3, -2.0, 7.3)];

/// A simulation of [`ClippedMean`] and n·MSE as it should be.
fn clipped<Q>(question: Q, place: (f64, f64, f64, f64), seed: u64) -> (Seen, f64)
where
    Q: Unbiased<Report: Averaged> + Clone,
{
    let (theta, sigma, low, high) = place;
    let clip = |x: f64| x.clamp(low, high);
    let mean = expectation(theta, sigma, (low, high), clip);
    let expected = expectation(theta, sigma, (low, high), |x| (clip(x) - mean).powi(2) + question.variance(x));
    // So many that the mean report hardly ever lies beyond the range, where the estimate is cut.
    let room = (mean - low).min(high - mean);
    let users = (25.0 * expected / (room * room)).ceil().max(200.0) as u64;
    let estimator = ClippedMean::new(question);
    let model = Gaussian::new(sigma).unwrap();
    let mut population = Users::new(&model, theta, users, seed).unwrap();
    let mut seen = Seen::default();
    for replication in 0..REPLICATIONS {
        population.restart(replication);
        let estimate = run(&estimator, users, &mut population).unwrap();
        let covered = estimate.interval(IntervalKind::Wald, 0.95).is_ok_and(|interval| interval.contains(mean));
        seen.add(estimate.value() - mean, covered);
    }
    (seen, expected / users as f64)
}

/// Catches a wrong unit, a forgotten debiasing, noise of the wrong scale by 4 %, and a standard error off by 10 %.
#[test]
fn clipped_means_have_the_stated_risk() {
    for (seed, place) in (0..).zip(PLACES) {
        let range = Range::new(place.2, place.3).unwrap();
        for level in LEVELS {
            let epsilon = epsilon(level);
            for (name, (seen, expected)) in [
                ("duchi", clipped(Duchi::new(epsilon, range).unwrap(), place, seed)),
                ("laplace", clipped(Laplace::new(epsilon, range).unwrap(), place, seed)),
                ("staircase", clipped(Staircase::new(epsilon, range).unwrap(), place, seed)),
                ("piecewise", clipped(Piecewise::new(epsilon, range).unwrap(), place, seed)),
                ("hybrid", clipped(Hybrid::new(epsilon, range).unwrap(), place, seed)),
            ] {
                let found = seen.distances(expected);
                assert!(seen.agrees(expected), "{name}, ε = {level}, {place:?}: {found:?}");
                let coverage = seen.coverage();
                assert!((coverage - 0.95).abs() < 0.02, "{name}, ε = {level}, {place:?}: covers {coverage}");
            }
        }
    }
}

/// Duchi's bit decoded without dividing by τ.
#[derive(Clone)]
struct Forgetful(Duchi, Range);

impl Mechanism for Forgetful {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        self.0.privatize(input, rng)
    }
}

impl Unbiased for Forgetful {
    fn range(&self) -> (f64, f64) {
        self.0.range()
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.1.decode(2.0 * mean_report - 1.0)
    }

    fn variance(&self, input: f64) -> f64 {
        self.0.variance(input)
    }
}

/// Laplace noise that says its variance is a quarter larger than it is.
#[derive(Clone)]
struct Boastful(Laplace);

impl Mechanism for Boastful {
    type Input = f64;
    type Report = f64;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        self.0.privatize(input, rng)
    }
}

impl Unbiased for Boastful {
    fn range(&self) -> (f64, f64) {
        self.0.range()
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.0.decode(mean_report)
    }

    fn variance(&self, input: f64) -> f64 {
        1.25 * self.0.variance(input)
    }
}

#[test]
fn mutants_have_another_risk() {
    let place = PLACES[0];
    let range = Range::new(place.2, place.3).unwrap();
    let duchi = Duchi::new(epsilon(1.0), range).unwrap();
    let (seen, expected) = clipped(Forgetful(duchi, range), place, 1);
    assert!(!seen.agrees(expected), "no debiasing: {:?}", seen.distances(expected));
    let (seen, expected) = clipped(Boastful(Laplace::new(epsilon(1.0), range).unwrap()), place, 1);
    assert!(!seen.agrees(expected), "another variance: {:?}", seen.distances(expected));
}

/// σ, the range and θ, in units that matter.
const MOMENTS: [(f64, f64, f64, f64); 4] =
    [(1.0, -3.0, 3.0, 0.4), (0.3, -5.0, -4.0, -4.31), (3.0, -2.0, 7.0, 5.5), (0.3, 0.0, 1.0, 0.05)];

/// E clip(X, ±t) as it is written in the documentation.
fn clipped_mean(theta: f64, sigma: f64, end: f64) -> f64 {
    let psi = |z: f64| z * normal::cdf(z) + normal::pdf(z);
    -end + sigma * (psi((theta + end) / sigma) - psi((theta - end) / sigma))
}

#[test]
fn clipped_moments_return_the_parameter_from_its_expectation() {
    for (sigma, low, high, _) in MOMENTS {
        let estimator = ClippedMoments::new(epsilon(1.0), sigma, Range::new(low, high).unwrap()).unwrap();
        for users in [1, 2, 10, 100_000] {
            let Step::Ask { round, state } = estimator.begin(users).unwrap() else { panic!("asks first") };
            let question = round.groups()[0].question;
            let end = question.range().1;
            let stated = sigma * (2.0 * (users.max(2) as f64).ln()).sqrt() + low.abs().max(high.abs());
            assert!((end / stated - 1.0).abs() < 1e-14);
            let digest = |mean: f64| {
                let mut tally = Sum::default();
                tally.push(mean / end, users).unwrap();
                let Step::Done(estimate) = estimator.advance(state, &[tally]).unwrap() else { panic!("one round") };
                estimate
            };
            for i in 0..=10 {
                let theta = low + (high - low) * (0.01 + 0.098 * f64::from(i));
                let mean = clipped_mean(theta, sigma, end);
                let estimate = digest(mean);
                assert!((estimate.value() - theta).abs() < 1e-10, "{sigma} {users} {theta}: {estimate:?}");
                assert_eq!(estimate.remark(), None);
                // Taking the mean as it is misses by the bias of clipping, which two users and the far end show.
                if users == 2 && i == 10 && high > 0.0 {
                    assert!((mean - theta).abs() > 1e-3 * sigma);
                }
            }
            for (mean, end) in [(2.0 * low.min(-low) - sigma, low), (2.0 * high.abs() + sigma, high)] {
                let estimate = digest(mean);
                assert_eq!((estimate.value(), estimate.remark()), (end, Some(Remark::Boundary)));
                assert_eq!(estimate.standard_error(), None);
            }
        }
    }
}

/// Catches a wrong clipping point, noise of another width and a forgotten decoding; ends of the range are five standard
/// errors away. The risk is that of the delta method: its own error is far below that of the simulation.
#[test]
fn clipped_moments_have_the_risk_of_the_delta_method() {
    for (seed, (sigma, low, high, theta)) in (0..).zip(MOMENTS) {
        let (level, users) = (4.0, 2000);
        let range = Range::new(low - 3.0 * sigma, high + 3.0 * sigma).unwrap();
        let estimator = ClippedMoments::new(epsilon(level), sigma, range).unwrap();
        let end = sigma * (2.0 * (users as f64).ln()).sqrt() + range.low().abs().max(range.high().abs());
        let mean = clipped_mean(theta, sigma, end);
        let spread = expectation(theta, sigma, (-end, end), |x| (x.clamp(-end, end) - mean).powi(2));
        let slope = normal::mass((-end - theta) / sigma, (end - theta) / sigma);
        let expected = (spread + 8.0 * (end / level).powi(2)) / slope.powi(2) / users as f64;
        let simulate = |estimator: &ClippedMoments| {
            let model = Gaussian::new(sigma).unwrap();
            let mut population = Users::new(&model, theta, users, seed).unwrap();
            let mut seen = Seen::default();
            for replication in 0..1500 {
                population.restart(replication);
                let estimate = run(estimator, users, &mut population).unwrap();
                let covered = estimate.interval(IntervalKind::Wald, 0.95).is_ok_and(|found| found.contains(theta));
                seen.add(estimate.value() - theta, covered);
            }
            seen
        };
        let seen = simulate(&estimator);
        assert!(seen.agrees(expected), "{sigma} {theta}: {:?}", seen.distances(expected));
        assert!((seen.coverage() - 0.95).abs() < 0.03, "covers {}", seen.coverage());
        let wide = Range::new(range.low() * 1.3 - 1.3 * sigma, range.high() * 1.3 + 1.3 * sigma).unwrap();
        let seen = simulate(&ClippedMoments::new(epsilon(level), sigma, wide).unwrap());
        assert!(!seen.agrees(expected), "the mutant passes: a wider range, {:?}", seen.distances(expected));
    }
}

/// Both parameters, with their own standard errors. Catches halves that are exchanged, a square that is not taken, and
/// a standard error without the part of θ̃².
#[test]
fn both_moments_have_the_stated_errors() {
    for (seed, (sigma, low, high, theta)) in (20..).zip([(1.0, -3.0, 3.0, 0.4), (0.3, -2.0, -1.0, -1.3)]) {
        let (level, users) = (16.0, 10_001);
        let range = Range::new(low, high).unwrap();
        let estimator = ClippedMomentsUnknownVariance::new(epsilon(level), 1.5 * sigma, range).unwrap();
        let end = 1.5 * sigma * (2.0 * (users as f64).ln()).sqrt() + low.abs().max(high.abs());
        let (first, second) = (5001.0, 5000.0);
        let noise = |width: f64| 2.0 * (width / level).powi(2);
        let of_mean = (sigma.powi(2) + noise(2.0 * end)) / first;
        // Var X² = 2σ⁴ + 4θ²σ², and the fourth moment is not clipped to speak of.
        let of_square = 2.0 * sigma.powi(4) + 4.0 * (theta * sigma).powi(2) + noise(end * end);
        let of_variance = of_square / second + 4.0 * theta.powi(2) * of_mean + 2.0 * of_mean.powi(2);
        let model = Gaussian::new(sigma).unwrap();
        let mut population = Users::new(&model, theta, users, seed).unwrap();
        let (mut means, mut variances) = (Seen::default(), Seen::default());
        for replication in 0..1500 {
            population.restart(replication);
            let estimate = run(&estimator, users, &mut population).unwrap();
            check_inference(&estimate).unwrap();
            let covers = |part: MeanEstimate, truth| {
                part.interval(IntervalKind::Wald, 0.95).is_ok_and(|interval| interval.contains(truth))
            };
            means.add(estimate.value() - theta, covers(estimate.mean(), theta));
            // The square of an estimate is too large by its variance.
            let error = estimate.variance().value() - sigma.powi(2) + of_mean;
            variances.add(error, covers(estimate.variance(), sigma.powi(2)));
        }
        assert!(means.agrees(of_mean), "{:?}", means.distances(of_mean));
        assert!(variances.agrees(of_variance), "{:?}", variances.distances(of_variance));
        assert!(!variances.agrees(of_variance - 4.0 * theta.powi(2) * of_mean) || theta.abs() < 1.0);
        assert!(!means.agrees(1.3 * of_mean) && !variances.agrees(1.3 * of_variance));
        for seen in [means, variances] {
            assert!((seen.coverage() - 0.95).abs() < 0.03, "covers {}", seen.coverage());
        }
    }
}

#[test]
fn a_variance_outside_its_bounds_is_told() {
    let range = Range::new(-1.0, 2.0).unwrap();
    let plain = ClippedMomentsUnknownVariance::new(epsilon(1.0), 2.0, range).unwrap();
    let floored = plain.with_floor(0.5).unwrap();
    let digest = |estimator: &ClippedMomentsUnknownVariance, mean: f64, square: f64| {
        let Step::Ask { round, state } = estimator.begin(1000).unwrap() else { panic!("asks first") };
        let end = 2.0 * (2.0 * 1000f64.ln()).sqrt() + 2.0;
        let (mut first, mut second) = (Sum::default(), Sum::default());
        first.push(mean / end, round.groups()[0].users).unwrap();
        second.push(2.0 * square / (end * end) - 1.0, round.groups()[1].users).unwrap();
        let Step::Done(estimate) = estimator.advance(state, &[first, second]).unwrap() else { panic!("one round") };
        estimate
    };
    let fine = digest(&plain, 1.5, 3.25);
    assert!((fine.value() - 1.5).abs() < 1e-12 && (fine.variance().value() - 1.0).abs() < 1e-12);
    assert_eq!((fine.note(), fine.floor()), (None, 4.0 / 1000.0));
    let low = digest(&plain, 1.5, 2.0);
    assert_eq!((low.variance().value(), low.variance().remark()), (0.004, Some(Remark::VarianceFloor)));
    let low = digest(&floored, 1.5, 2.5);
    assert_eq!((low.variance().value(), low.floor()), (0.5, 0.5));
    assert!(low.note().unwrap().contains("floor"));
    let high = digest(&plain, 0.0, 7.0);
    assert_eq!((high.variance().value(), high.variance().remark()), (4.0, Some(Remark::Boundary)));
    // A mean beyond the range is cut before it is squared.
    let beyond = digest(&plain, 3.0, 5.0);
    assert_eq!((beyond.value(), beyond.mean().remark()), (2.0, Some(Remark::Boundary)));
    assert!((beyond.variance().value() - 1.0).abs() < 1e-12);
}

/// Reports of a real question at the edges.
fn real(_: &impl Mechanism<Report = f64>) -> Vec<f64> {
    vec![-60.0, -0.5, 0.0, 0.9, 1.1, 60.0]
}

const USERS: [u64; 5] = [1, 2, 3, 10, 300];

#[test]
fn protocols_with_real_reports_keep_the_laws() {
    let model = Gaussian::new(3.0).unwrap();
    for level in LEVELS {
        let (epsilon, range) = (epsilon(level), Range::new(-7.0, 2.0).unwrap());
        macro_rules! check {
            ($estimator:expr) => {{
                let estimator = $estimator;
                check_edges_with(&estimator, &USERS, &real).unwrap();
                check_replay_with(&estimator, &USERS, &real).unwrap();
                for (seed, users) in (0..).zip(USERS) {
                    check_simulation_is_wire_typed(&estimator, &model, -1.3, users, seed).unwrap();
                }
                check_wire_round_trip(&estimator.begin(300).unwrap()).unwrap();
                let mut population = Users::new(&model, -1.3, 300, 3).unwrap();
                check_wire_round_trip(&run(&estimator, 300, &mut population).unwrap()).unwrap();
            }};
        }
        check!(ClippedMean::new(Laplace::new(epsilon, range).unwrap()));
        check!(ClippedMean::new(Staircase::new(epsilon, range).unwrap()));
        check!(ClippedMean::new(Piecewise::new(epsilon, range).unwrap()));
        check!(ClippedMean::new(Hybrid::new(epsilon, range).unwrap()));
        check!(ClippedMoments::new(epsilon, 3.0, range).unwrap());
        check!(ClippedMomentsUnknownVariance::new(epsilon, 4.0, range).unwrap());
    }
}

#[test]
fn protocols_with_bits_keep_the_laws() {
    let model = Gaussian::new(0.3).unwrap();
    for level in LEVELS {
        let epsilon = epsilon(level);
        let duchi = ClippedMean::new(Duchi::new(epsilon, Range::new(-1.0, 0.4).unwrap()).unwrap());
        check_edges(&duchi, &USERS).unwrap();
        check_replay(&duchi, &USERS).unwrap();
        for (seed, users) in (0..).zip(USERS) {
            check_simulation_is_wire_typed(&duchi, &model, -0.2, users, seed).unwrap();
        }
        check_wire_round_trip(&duchi.begin(10).unwrap()).unwrap();
        let mut bits = Tallies::new(&model, -0.2, 3).unwrap();
        check_wire_round_trip(&run(&duchi, 300, &mut bits).unwrap()).unwrap();
    }
}

#[test]
fn bits_can_be_drawn_and_real_reports_cannot() {
    let range = Range::new(-1.0, 1.0).unwrap();
    let bits = erase(ClippedMean::new(Duchi::new(epsilon(1.0), range).unwrap()));
    assert_eq!(bits.fidelities(), [Fidelity::Tally, Fidelity::Users]);
    let real = erase_real(ClippedMean::new(Laplace::new(epsilon(1.0), range).unwrap()));
    let both = erase_real(ClippedMomentsUnknownVariance::new(epsilon(1.0), 2.0, range).unwrap());
    for estimator in [real, both] {
        assert_eq!(
            (estimator.fidelities(), estimator.interval_kinds()),
            (&[Fidelity::Users][..], &[IntervalKind::Wald][..])
        );
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let one = epsilon(1.0);
    let range = Range::new(-1.0, 1.0).unwrap();
    let named = |error: Error| match error {
        Error::Parameter { name, .. } | Error::TooFew { name, .. } => name,
        other => panic!("{other}"),
    };
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(named(ClippedMoments::new(one, sigma, range).unwrap_err()), "sigma");
        assert_eq!(named(ClippedMomentsUnknownVariance::new(one, sigma, range).unwrap_err()), "sigma-high");
    }
    assert!(ClippedMoments::new(one, 1e308, range).is_err());
    assert!(ClippedMomentsUnknownVariance::new(one, 1e200, range).is_err());
    assert!(ClippedMomentsUnknownVariance::new(one, 1e-170, range).is_err());
    let both = ClippedMomentsUnknownVariance::new(one, 2.0, range).unwrap();
    for floor in [0.0, -1.0, f64::NAN, 4.1] {
        assert_eq!(named(both.with_floor(floor).unwrap_err()), "floor");
    }
    assert_eq!(named(both.begin(1).unwrap_err()), "users");
    let moments = ClippedMoments::new(one, 2.0, range).unwrap();
    assert_eq!(named(moments.begin(0).unwrap_err()), "users");
    assert_eq!(named(ClippedMean::new(Duchi::new(one, range).unwrap()).begin(0).unwrap_err()), "users");

    // A state from outside.
    let state = |json: &str| serde_json::from_str::<MomentsState>(json);
    assert!(state(r#"{"users":-1}"#).is_err() && state(r#"{"users":1,"end":2.0}"#).is_err());
    let mut tally = Sum::default();
    tally.push(0.0, 3).unwrap();
    let small = state(r#"{"users":2}"#).unwrap();
    assert!(matches!(moments.advance(small, &[tally]), Err(Error::TooManyAnswers { asked: 2, answered: 3 })));
    assert!(matches!(both.advance(small, &[tally, tally]), Err(Error::TooManyAnswers { asked: 1, answered: 3 })));
    assert!(matches!(both.advance(small, &[tally]), Err(Error::TallyCount { expected: 2, found: 1 })));
    assert!(matches!(moments.advance(small, &[]), Err(Error::TallyCount { expected: 1, found: 0 })));
    assert!(both.advance(state(r#"{"users":0}"#).unwrap(), &[Sum::default(), Sum::default()]).is_err());
}
