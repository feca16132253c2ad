//! Simulations keep what repeats; every replication is still the run it would be alone, bit for bit.

use ldp_core::model::Gaussian;
use ldp_core::{Epsilon, Inference, Mechanism, run};
use ldp_estimators::{
    BitwisePilot, DuchiRogers, Efficient, JosephOneRound, OneStage, Piloted, Rescaled, Share, ThreeStage, TwoStage,
};
use ldp_simulate::DrawTally;
use ldp_simulate::{Fidelity, Setting, Wired, erase};
use ldp_simulate::{Tallies, in_batches};

const USERS: u64 = 9000;
const REPLICATIONS: u64 = 600;
const SEED: u64 = 77;

fn check<E>(name: &str, estimator: E, sigma: f64, theta: f64)
where
    E: Wired + Clone + ldp_simulate::exact::Countable,
    E::Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq,
{
    let model = Gaussian::new(sigma).unwrap();
    let mut tallies = Tallies::new(&model, theta, SEED).unwrap();
    let expected: Vec<f64> = (0..REPLICATIONS)
        .map(|replication| {
            tallies.restart(replication);
            run(&estimator, USERS, &mut tallies).unwrap().value()
        })
        .collect();
    let erased = erase(estimator);
    let setting = Setting { model: &model, theta, users: USERS, seed: SEED, fidelity: Fidelity::Tally };
    let simulation = erased.simulation(&setting).unwrap();
    // Twice, so that the second time finds all that the first has kept; on every thread there is.
    for _ in 0..2 {
        let mut found = Vec::new();
        let simulate = |batch| {
            let mut part = Vec::new();
            simulation.replicate(batch, &mut |estimate| part.push(estimate.value()))?;
            Ok(part)
        };
        in_batches(REPLICATIONS, simulate, |part| found.extend(part)).unwrap();
        assert_eq!(found, expected, "{name}");
    }
    assert!(expected.iter().any(|value| value != &expected[0]), "{name} is always the same");
}

#[test]
fn replications_do_not_depend_on_what_is_kept() {
    let level = |epsilon| Epsilon::new(epsilon).unwrap();
    let two_stage = |epsilon| TwoStage::new(level(epsilon), 0.0, 306).unwrap();
    check("two stages", two_stage(1.0), 1.0, 0.5);
    check("two stages, small ε", two_stage(0.2), 1.0, -0.9);
    check("two stages, few first", TwoStage::new(level(4.0), 0.2, 2).unwrap(), 1.0, 0.3);
    check("two stages, many first", TwoStage::new(level(4.0), 0.2, 5000).unwrap(), 1.0, 0.3);
    check("two stages, σ = 3", Rescaled::new(two_stage(2.0), 3.0).unwrap(), 3.0, -2.5);
    check("one stage", OneStage::new(level(1.0), -0.3).unwrap(), 1.0, 0.0);
    let pilot = BitwisePilot::new(level(1.0), [-8.0, 8.0], 1.0, Share::HALF).unwrap();
    check("three stages", ThreeStage::three_rounds(level(1.0), pilot.clone(), 1.0, Some(306)).unwrap(), 1.0, -3.3);
    check("Joseph et al.", Piloted::new(pilot.clone(), OneStage::new(level(1.0), 0.0).unwrap()), 1.0, 2.2);
    check("Joseph et al. in one round", JosephOneRound::new(level(1.0), pilot, 1.0).unwrap(), 1.0, 2.2);
    check("Duchi and Rogers", DuchiRogers::new(level(1.0), 0.0, 2.0).unwrap(), 1.0, 0.4);
    check(
        "efficient",
        Efficient::new(std::sync::Arc::new(Gaussian::new(1.0).unwrap()), level(3.0), 0.0, 500).unwrap(),
        1.0,
        0.4,
    );
}
