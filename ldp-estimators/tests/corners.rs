//! The corner table: a value or a typed error in every cell, never a NaN.
//!
//! ε from 1e-6 to 30, a start up to 40 σ off on either side, 1 to 10¹² users, σ from 0.3 to 3, counts at the
//! boundary. The number of cells of each outcome is asserted, so that the table cannot shrink unnoticed.

use ldp_core::conformance::check_inference;
use ldp_core::model::Gaussian;
use ldp_core::{Bits, Epsilon, Error, Inference, Mechanism, Result, Round, StagedEstimator, Step, StepOf, run};
use ldp_estimators::{
    BitwisePilot, ClippedMean, ClippedMoments, ClippedMomentsUnknownVariance, DuchiRogers, Joseph, JosephOneRound,
    JosephUnknownVariance, Liu, OneStage, Rescaled, Share, SignEstimate, ThreeStage, TwoStage,
};
use ldp_mechanisms::{Duchi, Hybrid, Laplace, Piecewise, Range, Sign, Staircase};
use ldp_simulate::DrawTally;
use ldp_simulate::{Tallies, Users};

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
    fn note(&mut self, cell: &dyn Fn() -> String, outcome: Result<impl Inference>) {
        match outcome {
            Ok(estimate) => {
                check_inference(&estimate).unwrap_or_else(|violation| panic!("{}: {violation}", cell()));
                assert!(estimate.value().is_finite());
                self.values += 1;
            }
            Err(Error::TooFew { name: "users" | "pilot users", .. } | Error::TooMany { name: "first-stage", .. }) => {
                self.errors += 1
            }
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
        Err(error) => outcomes.note(cell, Err::<SignEstimate, _>(error)),
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

/// Where a mean may be, and σ: near zero and far from it, narrow and wide, on either side.
const PLACES: [([f64; 2], f64); 5] =
    [([0.0, 128.0], 1.0), ([-1e9, 1e9], 3.0), ([-2e-9, -1e-9], 1e-10), ([1e6, 1e6 + 1.0], 0.3), ([-5.0, 400.0], 1e3)];

/// All cells of a protocol that is made from a level, a range and σ: drawn tallies, the mean in the range and far outside.
fn places<E>(users: &[u64], protocol: impl Fn(Epsilon, [f64; 2], f64) -> Result<E>) -> Outcomes
where
    E: StagedEstimator<Question: DrawTally<E::Tally> + Mechanism<Input = f64> + PartialEq + Clone, Estimate: Inference>,
{
    let mut outcomes = Outcomes::default();
    for level in LEVELS {
        for (range, sigma) in PLACES {
            let estimator = protocol(Epsilon::new(level).unwrap(), range, sigma).unwrap();
            let model = Gaussian::new(sigma).unwrap();
            let [low, high] = range;
            for (seed, theta) in (0..).zip([low, 0.3 * low + 0.7 * high, high, high + 40.0 * sigma, low - 1e3 * sigma])
            {
                for &users in users {
                    let cell = || format!("ε = {level}, range {range:?}, σ = {sigma}, θ = {theta}, {users} users");
                    outcomes.note(&cell, run(&estimator, users, &mut Tallies::new(&model, theta, seed).unwrap()));
                }
            }
        }
    }
    outcomes
}

/// The pilot's smallest size decides which cells are errors: 10¹² users are enough but for ε = 1e-6, 5 · 5 · 5 cells; 100
/// users at ε = 30 in the three places with few scales, if no first stage takes half of them.
#[test]
fn protocols_with_a_pilot() {
    let pilot = |epsilon, range, sigma| BitwisePilot::new(epsilon, range, sigma, Share::HALF);
    let three = places(&USERS, |epsilon, range, sigma| {
        ThreeStage::three_rounds(epsilon, pilot(epsilon, range, sigma)?, sigma, Some(50))
    });
    let joseph =
        places(&USERS, |epsilon, range, sigma| Joseph::two_rounds(epsilon, pilot(epsilon, range, sigma)?, sigma));
    let one_round =
        places(&USERS, |epsilon, range, sigma| JosephOneRound::new(epsilon, pilot(epsilon, range, sigma)?, sigma));
    let values = |values| Outcomes { values, errors: 600 - values };
    assert_eq!([three, joseph, one_round], [values(125), values(140), values(140)]);
}

#[test]
fn duchi_rogers_and_duchi() {
    let rogers = places(&USERS, |epsilon, [low, high], sigma| {
        let (centre, radius) = ((low + high) / 2.0 / sigma, (high - low) / 2.0 / sigma);
        Rescaled::new(DuchiRogers::new(epsilon, centre, radius)?, sigma)
    });
    let duchi =
        places(&USERS, |epsilon, [low, high], _| Ok(ClippedMean::new(Duchi::new(epsilon, Range::new(low, high)?)?)));
    assert_eq!([rogers, duchi], [(); 2].map(|()| Outcomes { values: 600, errors: 0 }));
}

/// The same for protocols of which every user is drawn.
fn drawn<E>(protocol: impl Fn(Epsilon, [f64; 2], f64) -> Result<E>) -> Outcomes
where
    E: StagedEstimator<Question: Mechanism<Input = f64>, Estimate: Inference>,
{
    let mut outcomes = Outcomes::default();
    for level in LEVELS {
        for (range, sigma) in PLACES {
            let estimator = protocol(Epsilon::new(level).unwrap(), range, sigma).unwrap();
            let model = Gaussian::new(sigma).unwrap();
            for (seed, theta) in (0..).zip([range[0], range[1] + 40.0 * sigma]) {
                for users in [1, 2, 100] {
                    let cell = || format!("ε = {level}, range {range:?}, σ = {sigma}, θ = {theta}, {users} users");
                    outcomes.note(&cell, run(&estimator, users, &mut Users::new(&model, theta, users, seed).unwrap()));
                }
            }
        }
    }
    outcomes
}

#[test]
fn protocols_with_real_reports() {
    let values = |values| Outcomes { values, errors: 180 - values };
    let range = |[low, high]: [f64; 2]| Range::new(low, high);
    assert_eq!(drawn(|epsilon, ends, _| Ok(ClippedMean::new(Laplace::new(epsilon, range(ends)?)?))), values(180));
    assert_eq!(drawn(|epsilon, ends, _| Ok(ClippedMean::new(Staircase::new(epsilon, range(ends)?)?))), values(180));
    assert_eq!(drawn(|epsilon, ends, _| Ok(ClippedMean::new(Piecewise::new(epsilon, range(ends)?)?))), values(180));
    assert_eq!(drawn(|epsilon, ends, _| Ok(ClippedMean::new(Hybrid::new(epsilon, range(ends)?)?))), values(180));
    assert_eq!(drawn(|epsilon, ends, sigma| ClippedMoments::new(epsilon, sigma, range(ends)?)), values(180));
    // One user is too few for two moments.
    let two = drawn(|epsilon, ends, sigma| ClippedMomentsUnknownVariance::new(epsilon, 2.0 * sigma, range(ends)?));
    assert_eq!(two, values(120));
    let liu = drawn(|epsilon, [low, _], sigma| Rescaled::new(Liu::new(epsilon, low / sigma)?.batch(3)?, sigma));
    assert_eq!(liu, values(180));
    let unknown = drawn(|epsilon, ends, sigma| {
        let pilot = BitwisePilot::new(epsilon, ends, sigma / 2.0, Share::HALF)?;
        JosephUnknownVariance::new(epsilon, pilot, 2.0 * sigma)
    });
    assert_eq!(unknown, values(0));
}
