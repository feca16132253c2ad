//! Exact risk against simulations: the same state machine, read once by the walk and once by drawn tallies.
//!
//! A million replications at `tally` fidelity each, fixed seeds, α = 1e-6 over all settings, mean squared errors and biases.
//!
//! The limits are Bernstein's: a mean of N numbers with variance v, none of them further than b from its mean, is further
//! than t from its expectation with probability at most $2\exp(-\frac{Nt^2}{2v + 2bt/3})$. The variances are exact, from
//! the second and fourth moments of the error. A normal limit would not hold everywhere: where a handful of replications
//! in a million make up most of the mean squared error, as with 20 to 40 users in the first stage, its law is that of
//! a Poisson count. Where no replication matters alone, Bernstein's limit is the normal one but for a tenth.

use ldp_core::conformance::ALPHA;
use ldp_core::model::Gaussian;
use ldp_core::{Bits, Epsilon, Group, Inference, Population, run};
use ldp_estimators::{OneStage, Rescaled, TwoStage};
use ldp_mechanisms::Sign;
use ldp_simulate::exact::{Atoms, Countable, Errors, Exact};
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Tallies, in_batches};
use rand::RngExt;

const REPLICATIONS: u64 = 1_000_000;
const SETTINGS: usize = 20;

/// A protocol of one or two stages, and the values it meets.
#[derive(Clone, Copy, Debug)]
struct Setting {
    epsilon: f64,
    sigma: f64,
    /// In units of σ, like the start.
    theta: f64,
    start: f64,
    /// `None` for a protocol of one stage.
    first_stage: Option<u64>,
    users: u64,
}

/// Settings on purpose: first stages so small that rare ones rule the risk, extreme ε, far starts. The others are drawn.
fn settings() -> Vec<Setting> {
    let near = Setting { epsilon: 1.0, sigma: 1.0, theta: 0.5, start: 0.0, first_stage: None, users: 10_000 };
    let mut settings = vec![
        Setting { first_stage: Some(20), ..near },
        Setting { first_stage: Some(26), ..near },
        Setting { first_stage: Some(33), ..near },
        Setting { first_stage: Some(40), ..near },
        Setting { epsilon: 0.2, first_stage: Some(3000), users: 40_000, ..near },
        Setting { epsilon: 4.0, first_stage: Some(30), ..near },
        Setting { theta: 2.5, ..near },
        Setting { theta: -2.5, first_stage: Some(306), ..near },
    ];
    let mut rng = stream(20_260_102, Purpose::Data, 0, 0);
    while settings.len() < SETTINGS {
        let users = (300.0 * 100f64.powf(rng.random::<f64>())) as u64;
        let start = 2.0 * rng.random::<f64>() - 1.5;
        settings.push(Setting {
            epsilon: 0.2 * 20f64.powf(rng.random::<f64>()),
            sigma: [0.3, 1.0, 3.0][rng.random_range(0..3)],
            theta: start + 3.0 * rng.random::<f64>() - 1.5,
            start,
            first_stage: (settings.len() % 4 > 0).then(|| rng.random_range(users / 50 + 1..users / 3)),
            users,
        });
    }
    settings
}

/// The moments of the error, and how large it may be in a million replications.
struct Law {
    errors: Errors,
    /// All replications together have a larger error with probability 1e-9.
    largest: f64,
}

fn law<E: Countable>(estimator: &E, sigma: f64, theta: f64, truth: f64, users: u64) -> Law {
    let model = Gaussian::new(sigma).unwrap();
    let exact = Exact::new(&model, theta).unwrap();
    let errors = exact.sum(estimator, users, || Errors::new(truth)).unwrap().gather;
    let mut atoms = exact.sum(estimator, users, || Atoms::new(truth, 1 << 24)).unwrap().gather.sorted().unwrap();
    atoms.iter_mut().for_each(|atom| atom.0 = (atom.0 - truth).abs());
    atoms.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut beyond = 0.0;
    let largest = atoms.iter().find(|(_, probability)| {
        beyond += probability;
        beyond * REPLICATIONS as f64 > 1e-9
    });
    Law { errors, largest: largest.unwrap().0 }
}

/// The simulated bias and mean squared error.
fn simulate<E: Countable<Question = Sign, Tally = Bits>>(
    estimator: &E,
    sigma: f64,
    theta: f64,
    users: u64,
    seed: u64,
) -> (f64, f64) {
    let model = Gaussian::new(sigma).unwrap();
    let (mut first, mut second) = (0.0, 0.0);
    let batch = |replications: std::ops::Range<u64>| {
        let mut population = Tallies::new(&model, theta, seed)?;
        let (mut first, mut second) = (0.0, 0.0);
        for replication in replications {
            population.restart(replication);
            let error = run(estimator, users, &mut population)?.value() - theta;
            (first, second) = (first + error, second + error * error);
        }
        Ok((first, second))
    };
    in_batches(REPLICATIONS, batch, |(a, b)| (first, second) = (first + a, second + b)).unwrap();
    (first / REPLICATIONS as f64, second / REPLICATIONS as f64)
}

/// How far off a mean may be: the t at which Bernstein's bound is α, shared by all settings and both means.
fn limit(standard_error: f64, furthest: f64) -> f64 {
    let log = (2.0 * (2 * SETTINGS) as f64 / ALPHA).ln();
    let linear = furthest * log / (3.0 * REPLICATIONS as f64);
    linear + (linear * linear + 2.0 * log * standard_error * standard_error).sqrt()
}

/// The larger of the distances of bias and mean squared error from their laws, in units of what is allowed.
fn distance(Law { errors, largest }: &Law, (bias, mse): (f64, f64)) -> f64 {
    let of_mse = (mse - errors.mse()).abs() / limit(errors.simulation_error(REPLICATIONS), largest * largest);
    let spread = (errors.variance() / REPLICATIONS as f64).sqrt();
    let of_bias = (bias - errors.bias()).abs() / limit(spread, 2.0 * largest);
    of_mse.max(of_bias)
}

/// The distance of a simulation from the exact law, and from those of two mutants: ε 2 % larger, and values whose
/// mean is 2 % of its distance from the start off.
fn distances<E: Countable<Question = Sign, Tally = Bits>>(
    setting: Setting,
    seed: u64,
    estimator: impl Fn(f64) -> E,
) -> [f64; 3] {
    let Setting { epsilon, sigma, theta, start, users, .. } = setting;
    let truth = sigma * theta;
    let right = estimator(epsilon);
    let other = estimator(1.02 * epsilon);
    let moved = sigma * (start + 1.02 * (theta - start));
    let found = simulate(&right, sigma, truth, users, seed);
    [
        distance(&law(&right, sigma, truth, truth, users), found),
        distance(&law(&other, sigma, truth, truth, users), found),
        distance(&law(&right, sigma, moved, truth, users), found),
    ]
}

/// Catches a wrong law of drawn tallies, a wrong probability of a tally, a tally left out, a wrong unit.
#[test]
fn a_million_replications_agree_with_the_exact_sum() {
    let (mut epsilons, mut means) = (0, 0);
    for (seed, setting) in (100..).zip(settings()) {
        let Setting { sigma, start, first_stage, .. } = setting;
        let level = |value| Epsilon::new(value).unwrap();
        let one = |value| Rescaled::new(OneStage::new(level(value), start).unwrap(), sigma).unwrap();
        let two = |value, size| Rescaled::new(TwoStage::new(level(value), start, size).unwrap(), sigma).unwrap();
        let [right, epsilon, mean] = match first_stage {
            None => distances(setting, seed, one),
            Some(size) => distances(setting, seed, |value| two(value, size)),
        };
        assert!(right < 1.0, "{setting:?}: {right}");
        epsilons += u32::from(epsilon > 1.0);
        means += u32::from(mean > 1.0);
        assert!(epsilon.max(mean) > 1.0, "{setting:?}: the mutants pass, {epsilon} and {mean}");
    }
    assert!(epsilons >= 15 && means >= 15, "the mutants pass: {epsilons} and {means} are rejected");
}

/// Twice as far off as they may be are mutants of the simulation itself.
#[test]
fn mutants_of_the_simulation_are_far_from_the_exact_sum() {
    let (theta, users) = (0.5, 10_000);
    let model = Gaussian::new(1.0).unwrap();
    let level = Epsilon::new(1.0).unwrap();
    let question = Sign::new(level, 0.0).unwrap();
    let one = OneStage::new(level, 0.0).unwrap();
    let two = TwoStage::new(level, 0.0, 306).unwrap();
    let [of_one, of_two] = [law(&one, 1.0, theta, theta, users), law(&two, 1.0, theta, theta, users)];

    // One seed for all replications.
    let mut population = Tallies::new(&model, theta, 1).unwrap();
    let error = run(&one, users, &mut population).unwrap().value() - theta;
    assert!(distance(&of_one, (error, error * error)) > 2.0);
    // An estimator told another σ than the values have.
    let wrong = Rescaled::new(one, 1.02).unwrap();
    assert!(distance(&of_one, simulate(&wrong, 1.0, theta, users, 2)) > 2.0);
    assert!(distance(&of_one, simulate(&one, 1.0, theta, users, 2)) < 1.0);
    // Lies 3 % too frequent, which the estimator does not know of: the mean report shrinks.
    let lying = Sign::new(Epsilon::new(0.96).unwrap(), 0.0).unwrap();
    let mut sums = (0.0, 0.0);
    for replication in 0..REPLICATIONS {
        population.restart(replication);
        let mut answers = Bits::default();
        population.answer(&Group { question: lying, users }, &mut answers).unwrap();
        let stage = ldp_estimators::SignStage::new(question, answers);
        let error = stage.estimate().unwrap_or(0.0) - theta;
        sums = (sums.0 + error / REPLICATIONS as f64, sums.1 + error * error / REPLICATIONS as f64);
    }
    assert!(distance(&of_one, sums) > 2.0);
    // Two stages whose second asks at the start again: right on average, and of another spread.
    let again = simulate(&one, 1.0, theta, users - 306, 3);
    assert!(distance(&of_two, again) > 2.0);
    assert!(distance(&of_two, simulate(&two, 1.0, theta, users, 3)) < 1.0);
}
