//! Exact risk of protocols that begin with a bitwise pilot: known values, the law of the pilot, and ranges.

use ldp_core::model::Gaussian;
use ldp_core::{Counts, Epsilon, Finite, Group, Inference, Round, StagedEstimator, Step, Tally, run};
use ldp_estimators::{BitwisePilot, Joseph, PilotEstimate, Share, ThreeStage};
use ldp_mechanisms::Residue;
use ldp_simulate::exact::{Countable, Errors, Exact, Method, Summed};
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Tallies, in_batches};
use rand::RngExt;

fn epsilon() -> Epsilon {
    Epsilon::new(1.0).unwrap()
}

fn pilot(share: Share) -> BitwisePilot {
    BitwisePilot::new(epsilon(), [0.0, 128.0], 1.0, share).unwrap()
}

fn joseph(share: Share) -> Joseph {
    Joseph::two_rounds(epsilon(), pilot(share), 1.0).unwrap()
}

fn three(first_stage: u64) -> ThreeStage {
    ThreeStage::three_rounds(epsilon(), pilot(TUNED), 1.0, Some(first_stage)).unwrap()
}

fn best<E: Countable>(estimator: &E, theta: f64, users: u64) -> Summed<Errors> {
    let model = Gaussian::new(1.0).unwrap();
    let summed = Exact::new(&model, theta).unwrap().best(estimator, users, || Errors::new(theta)).unwrap();
    assert_eq!(summed.method, Method::Exact);
    assert!((summed.gather.mass() - 1.0).abs() < 1e-11, "{summed:?}");
    summed
}

/// n·MSE, to `digits` after the point.
///
/// The values come from where the users whom the pilot's groups of equal size leave over stay idle; here they join the
/// rounds that follow. So the protocol that gave them is this one with so many users fewer.
fn check<E: Countable>(what: &str, estimator: &E, theta: f64, (users, idle): (u64, u64), expected: f64, digits: i32) {
    let found = users as f64 * best(estimator, theta, users - idle).gather.mse();
    assert!((found - expected).abs() < 0.6 * 0.1f64.powi(digits), "{what}, θ = {theta}, n = {users}: {found}");
    let busy = users as f64 * best(estimator, theta, users).gather.mse();
    assert!(busy < found && found < 1.0005 * busy, "{what}, θ = {theta}, n = {users}: {found} and {busy}");
}

/// 15,000 are seven groups of 2142, and six.
const TUNED: Share = Share::Count(15_000);
const USERS: [(u64, u64); 4] = [(30_000, 6), (50_000, 6), (100_000, 6), (200_000, 6)];

#[test]
fn known_values_of_three_stages() {
    for (first_stage, expected) in [(400, [15.446, 10.859, 8.881, 8.140]), (700, [15.622, 10.851, 8.829, 8.077])] {
        for (users, expected) in USERS.into_iter().zip(expected) {
            check("three stages", &three(first_stage), 84.5, users, expected, 3);
        }
    }
    check("three stages", &three(500), 100.25, (50_000, 6), 10.812, 3);
}

#[test]
fn known_values_of_joseph() {
    for (users, expected) in USERS.into_iter().zip([18.3, 13.1, 10.8, 9.9]) {
        check("Joseph", &joseph(TUNED), 84.5, users, expected, 1);
    }
    check("Joseph", &joseph(TUNED), 100.25, (50_000, 6), 11.095, 3);
    // 25,000 are seven groups of 3571, and three.
    check("Joseph, half", &joseph(Share::HALF), 100.25, (50_000, 3), 15.535, 3);
}

/// 200,000 replications, fixed seed, standard error from the exact fourth moment, five of them: α = 6e-7. Two per cent
/// more users are another law.
#[test]
fn a_simulation_agrees() {
    const REPLICATIONS: u64 = 200_000;
    let (model, users) = (Gaussian::new(1.0).unwrap(), 30_000);
    let (estimator, theta) = (three(400), 84.5);
    let mut mse = 0.0;
    let batch = |replications: std::ops::Range<u64>| {
        let mut population = Tallies::new(&model, theta, 91)?;
        replications.into_iter().try_fold(0.0, |sum, replication| {
            population.restart(replication);
            Ok(sum + (run(&estimator, users, &mut population)?.value() - theta).powi(2))
        })
    };
    in_batches(REPLICATIONS, batch, |part| mse += part / REPLICATIONS as f64).unwrap();
    let distance = |users: u64| {
        let errors = best(&estimator, theta, users).gather;
        (mse - errors.mse()).abs() / errors.simulation_error(REPLICATIONS)
    };
    assert!(distance(users) < 5.0, "{}", distance(users));
    assert!(distance(users + users / 50) > 5.0, "the mutant passes: {}", distance(users + users / 50));
}

/// One user per scale more than the law of a pilot can be had for: it is drawn, and the risk is nearly the same.
#[test]
fn a_pilot_of_too_many_users_is_drawn() {
    const MOST: u64 = 1 << 18;
    // The pilot ends at 84 or 85, and where it ends matters a little.
    let (model, theta, main) = (Gaussian::new(1.0).unwrap(), 84.507, 3000);
    let sum = |group: u64| {
        let exact = Exact::new(&model, theta).unwrap();
        exact.best(&joseph(Share::Count(7 * group)), 7 * group + main, || Errors::new(theta)).unwrap()
    };
    let (exact, drawn) = (sum(MOST), sum(MOST + 1));
    assert_eq!((exact.method, drawn.method), (Method::Exact, Method::Sampled { draws: 100_000 }));
    let (difference, error) = (drawn.gather.mse() - exact.gather.mse(), drawn.mse_error.unwrap());
    assert!(difference.abs() < 5.0 * error && error < 1e-3 * exact.gather.mse(), "{exact:?} {drawn:?}");
    assert!(error > 1e-7 * exact.gather.mse() && exact.mse_error.unwrap() < 1e-15, "{exact:?} {drawn:?}");
}

/// All tallies of a few users with four reports, and their probabilities.
fn tallies(users: u64, law: [f64; 4]) -> Vec<(f64, Counts)> {
    let factorial = |n: u64| (1..=n).map(|i| i as f64).product::<f64>();
    let mut all = vec![];
    for a in 0..=users {
        for b in 0..=users - a {
            for c in 0..=users - a - b {
                let (mut tally, mut mass) = (Counts::new(4), factorial(users));
                for (report, (count, p)) in (0..).zip([a, b, c, users - a - b - c].into_iter().zip(law)) {
                    tally.push(report, count).unwrap();
                    mass *= p.powi(count as i32) / factorial(count);
                }
                all.push((mass, tally));
            }
        }
    }
    all
}

/// Every combination of one tally per scale.
fn combine(
    scales: &[Vec<(f64, Counts)>],
    weight: f64,
    chosen: &mut Vec<Counts>,
    visit: &mut dyn FnMut(f64, &[Counts]),
) {
    let Some(scale) = scales.get(chosen.len()) else { return visit(weight, chosen) };
    for (mass, tally) in scale {
        chosen.push(tally.clone());
        combine(scales, weight * mass, chosen, visit);
        chosen.pop();
    }
}

/// The law that a pilot hands to the walk is the one by `advance`, and every end lies in the range that it promises.
#[test]
fn outcomes_are_those_of_advance() {
    let model = Gaussian::new(1.0).unwrap();
    for (level, range, theta, users) in [(1.0, [0.0, 8.0], 3.3, 5), (20.0, [-3.0, 0.0], -0.6, 12)] {
        let level = Epsilon::new(level).unwrap();
        let pilot = BitwisePilot::new(level, range, 1.0, Share::HALF).unwrap().with_beta(0.999).unwrap();
        // As many as any scale needs to pass are more than can be gone through: the round is made by hand.
        let Step::Ask { round, .. } = pilot.begin(1 << 40).unwrap() else { panic!("it asks first") };
        let small = |group: &Group<Residue>| Group { question: group.question.clone(), users };
        let round = Round::Many(round.groups().iter().map(small).collect());
        let outcomes = pilot.outcomes(&round, &(), &model, theta).unwrap().unwrap();
        let mass: f64 = outcomes.steps.iter().map(|(probability, _)| probability).sum();
        assert!((mass - 1.0).abs() < 1e-12 && outcomes.lost < 1e-20, "{mass}");
        let scale = |group: &Group<Residue>| {
            let mut law = [0.0; 4];
            group.question.marginal(&model, theta, &mut law);
            tallies(users, law)
        };
        let scales: Vec<_> = round.groups().iter().map(scale).collect();
        let [low, high] = pilot.range(users).unwrap();
        let mut expected: Vec<(f64, PilotEstimate)> = vec![];
        combine(&scales, 1.0, &mut vec![], &mut |weight, answers| {
            let Step::Done(end) = pilot.advance((), answers).unwrap() else { panic!("one round") };
            assert!(low <= end.value() && end.value() <= high, "{end:?} is not in [{low}, {high}]");
            match expected.iter_mut().find(|known| known.1 == end) {
                Some(known) => known.0 += weight,
                None => expected.push((weight, end)),
            }
        });
        assert!(expected.len() > 2 && expected.len() >= outcomes.steps.len(), "{expected:?}");
        for (expected, end) in expected {
            let step = outcomes.steps.iter().find(|(_, step)| *step == Step::Done(end));
            let probability = step.map_or(0.0, |step| step.0);
            assert!((probability - expected).abs() < 1e-13, "{end:?}: {probability} for {expected}");
        }
        // Another round than the pilot's own has no law.
        let uneven = Round::Many(vec![Group { users: users + 1, ..small(&round.groups()[0]) }]);
        assert_eq!(pilot.outcomes(&uneven, &(), &model, theta).unwrap(), None);
    }
}

/// Whatever comes back: extreme tallies, and tallies that no mean explains, in every round.
#[test]
fn no_estimate_leaves_its_range() {
    let mut rng = stream(20_260_103, Purpose::Data, 0, 0);
    let mut walk = |estimator: &ThreeStage, users: u64| {
        let mut step = estimator.begin(users).unwrap();
        loop {
            let (round, state) = match step {
                Step::Done(estimate) => return estimate.value(),
                Step::Ask { round, state } => (round, state),
            };
            let mut answer = |group: &Group<_>| {
                let mut tally = estimator.tally(&group.question);
                let reports = group.question.reports();
                // All say the same, or nearly half say something else.
                let (a, b) = (rng.random_range(0..reports), rng.random_range(0..reports));
                let part = match rng.random_range(0..3) {
                    0 => 0,
                    1 => rng.random_range(0..=group.users),
                    _ => group.users / 2 - group.users / 4,
                };
                tally.push(a, group.users - part).unwrap();
                tally.push(b, part).unwrap();
                tally
            };
            let answers: Vec<_> = round.groups().iter().map(&mut answer).collect();
            step = estimator.advance(state, &answers).unwrap();
        }
    };
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (range, sigma) in [([0.0, 128.0], 1.0), ([-100.0, 20.0], 3.0), ([5.0, 9.0], 0.3)] {
        let pilot = BitwisePilot::new(epsilon(), range, sigma, TUNED).unwrap();
        let estimator = ThreeStage::three_rounds(epsilon(), pilot, sigma, Some(40)).unwrap();
        let [low, high] = estimator.range(20_000).unwrap();
        for _ in 0..20_000 {
            let value = walk(&estimator, 20_000);
            assert!(low <= value && value <= high, "{value} is not in [{low}, {high}]");
            let place = (value - range[0]) / (range[1] - range[0]);
            (least, most) = (least.min(place), most.max(place));
        }
    }
    // They do leave the range of the mean.
    assert!(least < 0.0 && most > 1.0, "{least} {most}");
}
