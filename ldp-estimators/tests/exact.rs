//! Exact finite-sample risk, summed through the state machine itself, against literal values and simulations.
//!
//! The sum walks `begin` and `advance` with every tally weighted by its binomial probability, so it tests the
//! protocols as they are run. Simulations are judged by the exact variance of what they average: 40,000
//! replications at `tally` fidelity, fixed seeds, two-sided at α = 1e-6.

use ldp_core::conformance::ALPHA;
use ldp_core::drive::Tallies;
use ldp_core::model::Gaussian;
use ldp_core::special::{binomial, normal};
use ldp_core::{Bits, Epsilon, Finite, Group, Inference, Population, StagedEstimator, Step, StepOf, Tally, run};
use ldp_estimators::{OneStage, Rescaled, TwoStage};
use ldp_mechanisms::Sign;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// E[error], E[error²] and E[error⁴], and the probability that was summed.
#[derive(Clone, Copy, Debug, Default)]
struct Risk {
    mass: f64,
    bias: f64,
    mse: f64,
    fourth: f64,
}

/// The exact risk of a sign protocol.
fn exact<E>(estimator: &E, sigma: f64, theta: f64, users: u64) -> Risk
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate: Inference>,
    E::State: Clone,
{
    let mut risk = Risk::default();
    let model = Gaussian::new(sigma).unwrap();
    walk(estimator, estimator.begin(users).unwrap(), 1.0, &model, theta, &mut risk);
    assert!((risk.mass - 1.0).abs() < 1e-11, "{risk:?}");
    risk
}

fn walk<E>(estimator: &E, step: StepOf<E>, weight: f64, model: &Gaussian, theta: f64, risk: &mut Risk)
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate: Inference>,
    E::State: Clone,
{
    let (round, state) = match step {
        Step::Done(estimate) => {
            let error = estimate.value() - theta;
            risk.mass += weight;
            risk.bias += weight * error;
            risk.mse += weight * error.powi(2);
            risk.fourth += weight * error.powi(4);
            return;
        }
        Step::Ask { round, state } => (round, state),
    };
    let [group] = round.groups() else { panic!("a sign round has one group") };
    let mut law = [0.0; 2];
    group.question.marginal(model, theta, &mut law);
    let (users, p) = (group.users, law[1]);
    // Beyond twelve standard deviations (and thirty counts, for skewed laws) no probability reaches 1e-18.
    let (mean, reach) = (users as f64 * p, 12.0 * (users as f64 * p * (1.0 - p)).sqrt() + 30.0);
    let first = (mean - reach).max(0.0) as u64;
    let last = ((mean + reach) as u64).min(users);
    for ones in first..=last {
        let mass = binomial::pmf(ones, users, p);
        if mass >= 1e-18 {
            let tally = Bits::new(ones, users).unwrap();
            let next = estimator.advance(state.clone(), &[tally]).unwrap();
            walk(estimator, next, weight * mass, model, theta, risk);
        }
    }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

/// n·MSE from θ = 1/2, start 0, ε = 1, n = 10,000 users.
fn scaled<E>(estimator: &E) -> f64
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate: Inference>,
    E::State: Clone,
{
    10_000.0 * exact(estimator, 1.0, 0.5, 10_000).mse
}

#[test]
fn known_values() {
    let two = |first_stage| TwoStage::new(epsilon(1.0), 0.0, first_stage).unwrap();
    close(scaled(&OneStage::new(epsilon(1.0), 0.0).unwrap()), 9.162_655_760_845_462, 1e-9);
    close(scaled(&two(306)), 7.813_102_978_185_55, 1e-9);
    // A first stage of 26 can point 3.2 σ away, from where the second cannot come back: the risk is of another size
    // than at 20, where no count can point that far.
    close(scaled(&two(26)), 1660.674, 1e-6);
    close(scaled(&two(20)), 16.4005, 1e-5);
    // One user: the answer is beyond what any mean explains, and the estimate is the start.
    let one = exact(&OneStage::new(epsilon(1.0), 0.0).unwrap(), 1.0, 0.5, 1);
    assert_eq!(one.mse, 0.25);
}

const REPLICATIONS: u64 = 40_000;

/// How many standard deviations of the simulated mean squared error, and of the simulated bias, away from exact:
/// the larger of the two. The standard deviations are exact.
fn distance(risk: Risk, theta: f64, mut replicate: impl FnMut(u64) -> f64) -> f64 {
    let (mut bias, mut mse) = (0.0, 0.0);
    for replication in 0..REPLICATIONS {
        let error = replicate(replication) - theta;
        bias += error / REPLICATIONS as f64;
        mse += error * error / REPLICATIONS as f64;
    }
    let spread = |second: f64, mean: f64| ((second - mean * mean) / REPLICATIONS as f64).sqrt();
    let of_mse = (mse - risk.mse).abs() / spread(risk.fourth, risk.mse);
    let of_bias = (bias - risk.bias).abs() / spread(risk.mse, risk.bias);
    of_mse.max(of_bias)
}

/// What a distance may be: two tests, each two-sided, α = 1e-6 together.
fn limit() -> f64 {
    -normal::quantile(ALPHA / 4.0)
}

fn simulated<E>(estimator: &E, sigma: f64, theta: f64, users: u64, seed: u64) -> f64
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate: Inference>,
    E::State: Clone,
{
    let model = Gaussian::new(sigma).unwrap();
    let mut population = Tallies::new(&model, theta, seed).unwrap();
    distance(exact(estimator, sigma, theta, users), theta, |replication| {
        population.restart(replication);
        run(estimator, users, &mut population).unwrap().value()
    })
}

/// Catches a wrong law of drawn tallies, a wrong threshold of the second stage, a wrong unit, and whatever makes
/// the estimate depend on more than its tallies: 4 % of the mean squared error, a fortieth of a standard deviation
/// of bias. The settings are not ruled by rare events: fallbacks are 4 standard deviations away or more.
#[test]
fn simulations_agree_with_the_exact_sum() {
    for (seed, (level, sigma, start, theta, users)) in (0..).zip([
        (1.0, 1.0, 0.0, 0.5, 10_000),
        (4.0, 0.3, 0.2, -0.31, 1000),
        (0.2, 3.0, -1.0, -2.2, 50_000),
        (4.0, 3.0, 0.4, -1.1, 500),
    ]) {
        let estimator = Rescaled::new(OneStage::new(epsilon(level), start).unwrap(), sigma).unwrap();
        let found = simulated(&estimator, sigma, theta, users, seed);
        assert!(found < limit(), "one stage, ε = {level}, σ = {sigma}: {found}");
    }
    for (seed, (level, sigma, start, theta, first_stage, users)) in (10..).zip([
        (1.0, 1.0, 0.0, 0.5, 306, 10_000),
        (1.0, 0.3, -0.7, -0.3, 306, 3000),
        (0.2, 3.0, -0.3, -1.2, 8000, 40_000),
        (4.0, 0.3, 0.1, 0.2, 100, 2000),
        (4.0, 3.0, -0.2, -1.7, 80, 700),
    ]) {
        let estimator = Rescaled::new(TwoStage::new(epsilon(level), start, first_stage).unwrap(), sigma).unwrap();
        let found = simulated(&estimator, sigma, theta, users, seed);
        assert!(found < limit(), "two stages, ε = {level}, σ = {sigma}: {found}");
    }
    let tuned = TwoStage::tuned(epsilon(1.0), 0.1).unwrap();
    let found = simulated(&tuned, 1.0, -0.25, 20_000, 20);
    assert!(found < limit(), "tuned: {found}");
}

/// The one-stage estimate written out, with a factor on τ and another in front of Z̄/τ, which is ½.
fn inverted(question: Sign, sigma: f64, answers: Bits, tau_factor: f64, half: f64) -> f64 {
    let users = answers.users() as f64;
    let mean = (2.0 * answers.ones() as f64 - users) / users;
    let tail = 0.5 - half * mean / (tau_factor * question.tau());
    if tail > 0.0 && tail < 1.0 { question.threshold() - sigma * normal::quantile(tail) } else { question.threshold() }
}

/// What the comparison would catch, shown on mutants of the estimate and of the simulation.
#[test]
fn mutants_are_far_from_the_exact_sum() {
    let (sigma, theta, users) = (1.0, 0.5, 10_000);
    let model = Gaussian::new(sigma).unwrap();
    let question = Sign::new(epsilon(1.0), 0.0).unwrap();
    let risk = exact(&OneStage::new(epsilon(1.0), 0.0).unwrap(), sigma, theta, users);
    let simulate = |tau_factor, half, reuse: bool| {
        let mut population = Tallies::new(&model, theta, 30).unwrap();
        distance(risk, theta, |replication| {
            population.restart(if reuse { 0 } else { replication });
            let mut answers = Bits::default();
            population.answer(&Group { question, users }, &mut answers).unwrap();
            inverted(question, sigma, answers, tau_factor, half)
        })
    };
    assert!(simulate(1.0, 0.5, false) < limit());
    for (name, mutant) in [
        ("τ 2 % too large", simulate(1.02, 0.5, false)),
        ("τ 2 % too small", simulate(0.98, 0.5, false)),
        ("no factor ½", simulate(1.0, 1.0, false)),
        ("one seed for all replications", simulate(1.0, 0.5, true)),
    ] {
        assert!(mutant > 2.0 * limit(), "the mutant passes: {name}, {mutant}");
    }

    // The unit: an estimator told another σ than the values have.
    let wrong = Rescaled::new(OneStage::new(epsilon(1.0), 0.0).unwrap(), 1.02).unwrap();
    let mut population = Tallies::new(&model, theta, 31).unwrap();
    let mutant = distance(risk, theta, |replication| {
        population.restart(replication);
        run(&wrong, users, &mut population).unwrap().value()
    });
    assert!(mutant > 2.0 * limit(), "the mutant passes: σ 2 % too large, {mutant}");

    // Two stages whose second asks at the start again: right on average, and of another spread.
    let two = exact(&TwoStage::new(epsilon(1.0), 0.0, 306).unwrap(), sigma, theta, users);
    let mut population = Tallies::new(&model, theta, 32).unwrap();
    let mutant = distance(two, theta, |replication| {
        population.restart(replication);
        let mut answers = Bits::default();
        population.answer(&Group { question, users: users - 306 }, &mut answers).unwrap();
        inverted(question, sigma, answers, 1.0, 0.5)
    });
    assert!(mutant > 2.0 * limit(), "the mutant passes: second stage at the start, {mutant}");
}
