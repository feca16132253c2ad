//! The corner table: a value or a typed error in every cell, never a NaN.
//!
//! ε from 1e-6 to 30, a start up to 40 σ off on either side, 1 to 10¹² users, σ from 0.3 to 3, counts at the
//! boundary. The number of cells of each outcome is asserted, so that the table cannot shrink unnoticed.

use ldp_core::conformance::check_inference;
use ldp_core::drive::Tallies;
use ldp_core::model::Gaussian;
use ldp_core::{Bits, Epsilon, Error, Inference, Result, Round, StagedEstimator, Step, StepOf, run};
use ldp_estimators::{OneStage, Rescaled, SignEstimate, TwoStage};
use ldp_mechanisms::Sign;

const LEVELS: [f64; 6] = [1e-6, 1e-3, 0.2, 1.0, 4.0, 30.0];
/// θ − start, in σ.
const OFFSETS: [f64; 7] = [0.0, 0.5, 3.0, 40.0, -0.5, -3.0, -40.0];
const USERS: [u64; 4] = [1, 2, 100, 1_000_000_000_000];
const SIGMAS: [f64; 3] = [0.3, 1.0, 3.0];
/// In σ, and no whole number.
const START: f64 = -1.37;

/// How many cells had a value, and how many an error.
#[derive(Debug, Default, PartialEq)]
struct Outcomes {
    values: u64,
    errors: u64,
}

impl Outcomes {
    /// Notes a cell; the only error a sign protocol may have here is that there are too few users for its stages.
    fn note(&mut self, cell: &dyn Fn() -> String, outcome: Result<SignEstimate>) {
        match outcome {
            Ok(estimate) => {
                check_inference(&estimate).unwrap_or_else(|violation| panic!("{}: {violation}", cell()));
                assert!(estimate.value().is_finite());
                self.values += 1;
            }
            Err(Error::TooFew { name: "users", .. } | Error::TooMany { name: "first-stage", .. }) => self.errors += 1,
            Err(error) => panic!("{}: {error}", cell()),
        }
    }
}

/// A protocol with every pair of boundary counts, 0, 1, n − 1 and n, and nobody, in its stages.
fn advance_all<E>(estimator: &E, step: Result<StepOf<E>>, cell: &dyn Fn() -> String, outcomes: &mut Outcomes)
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate = SignEstimate>,
    E::State: Clone,
{
    match step {
        Err(error) => outcomes.note(cell, Err(error)),
        Ok(Step::Done(estimate)) => outcomes.note(cell, Ok(estimate)),
        Ok(Step::Ask { round: Round::Many(_), .. }) => panic!("a sign round has one group"),
        Ok(Step::Ask { round: Round::One([group]), state }) => {
            let n = group.users;
            for (ones, users) in [(0, n), (1, n), (n - 1, n), (n, n), (0, 0)] {
                let cell = || format!("{}, {ones} of {users}", cell());
                let next = estimator.advance(state.clone(), &[Bits::new(ones, users).unwrap()]);
                advance_all(estimator, next, &cell, outcomes);
            }
        }
    }
}

/// Every cell of the table for one family of protocols: drawn tallies, then boundary counts.
fn table<E>(protocol: impl Fn(Epsilon) -> Result<E>) -> [Outcomes; 2]
where
    E: StagedEstimator<Question = Sign, Tally = Bits, Estimate = SignEstimate> + Copy,
    E::State: Clone,
{
    let [mut drawn, mut direct] = [Outcomes::default(), Outcomes::default()];
    for level in LEVELS {
        for sigma in SIGMAS {
            let estimator = Rescaled::new(protocol(Epsilon::new(level).unwrap()).unwrap(), sigma).unwrap();
            let model = Gaussian::new(sigma).unwrap();
            for users in USERS {
                for (seed, offset) in (0..).zip(OFFSETS) {
                    let mut population = Tallies::new(&model, sigma * (START + offset), seed).unwrap();
                    let cell = || format!("ε = {level}, σ = {sigma}, {offset} σ off, {users} users");
                    drawn.note(&cell, run(&estimator, users, &mut population));
                }
                let cell = || format!("ε = {level}, σ = {sigma}, {users} users");
                advance_all(&estimator, estimator.begin(users), &cell, &mut direct);
            }
        }
    }
    [drawn, direct]
}

#[test]
fn one_stage() {
    // 6 · 3 · 4 settings: 7 offsets each, 5 counts each, always a value.
    let expected = [Outcomes { values: 504, errors: 0 }, Outcomes { values: 360, errors: 0 }];
    assert_eq!(table(|epsilon| OneStage::new(epsilon, START)), expected);
}

#[test]
fn two_stage() {
    // One user is too few for two stages: a quarter of the cells, and one begin instead of 25 pairs of counts.
    let expected = [Outcomes { values: 378, errors: 126 }, Outcomes { values: 1350, errors: 18 }];
    assert_eq!(table(|epsilon| TwoStage::tuned(epsilon, START)), expected);
    assert_eq!(table(|epsilon| TwoStage::new(epsilon, START, 1)), expected);
    // With 50 users in the first stage, two are too few as well.
    let expected = [Outcomes { values: 252, errors: 252 }, Outcomes { values: 900, errors: 36 }];
    assert_eq!(table(|epsilon| TwoStage::new(epsilon, START, 50)), expected);
}

/// A start so far away that a threshold leaves the numbers is refused when it is built or scaled, not later.
#[test]
fn starts_without_a_number_are_refused() {
    let epsilon = Epsilon::new(1.0).unwrap();
    for start in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(OneStage::new(epsilon, start), Err(Error::Parameter { name: "threshold", .. })));
        assert!(matches!(TwoStage::new(epsilon, start, 1), Err(Error::Parameter { name: "threshold", .. })));
        assert!(matches!(TwoStage::tuned(epsilon, start), Err(Error::Parameter { name: "threshold", .. })));
    }
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let unit = OneStage::new(epsilon, 0.0).unwrap();
        assert!(matches!(Rescaled::new(unit, sigma), Err(Error::Parameter { name: "sigma", .. })));
    }
    let far = Rescaled::new(OneStage::new(epsilon, 1e300).unwrap(), 1e300).unwrap();
    assert!(matches!(far.begin(10), Err(Error::Parameter { name: "threshold", .. })));
    assert!(matches!(TwoStage::new(epsilon, 0.0, 0), Err(Error::TooFew { name: "first-stage", .. })));
}
