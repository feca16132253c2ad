//! Mutants of protocols with real and with vector reports: edges, replay and the typed wire.

use super::protocols::Outcome;
use super::reals::{Defect, Noisy};
use super::{epsilon, rejected};
use ldp_core::conformance::{Violation, check_edges_judged, check_edges_with, check_replay_with};
use ldp_core::model::Gaussian;
use ldp_core::{
    Averages, Epsilon, Error, Group, Mechanism, Population, Result, Round, StagedEstimator, Step, StepOf, Sum, Tally,
    VectorSum,
};
use ldp_simulate::conformance::{check_simulation_is_wire_typed, check_simulation_is_wire_with};
use ldp_simulate::seed::SimulationRng;
use ldp_simulate::wire::Source;
use ldp_simulate::{Users, Vectors};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    NanWhenEmpty,
    AsksTooMany,
    CountsCalls,
    EstimateHidesField,
}

/// A round of one group, then one of two; the value is a mean of their means. Right or wrong in one way.
struct Mean {
    question: Noisy,
    flaw: Flaw,
    calls: Cell<u64>,
}

impl Mean {
    fn new(defect: Defect, flaw: Flaw) -> Self {
        // A scale that single precision does not hold.
        Self { question: Noisy::new(2.1, defect), flaw, calls: Cell::new(0) }
    }
}

impl StagedEstimator for Mean {
    type Question = Noisy;
    type Tally = Sum;
    type State = (u64, Option<f64>);
    type Estimate = Outcome;

    fn tally(&self, _: &Noisy) -> Sum {
        Sum::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users < 3 {
            let (name, least, value) = ("users", 3, users);
            return Err(Error::TooFew { name, least, value });
        }
        let first = users / 3;
        Ok(Step::Ask { round: Round::one(self.question, first), state: (users - first, None) })
    }

    fn advance(&self, (left, first): (u64, Option<f64>), answers: &[Sum]) -> Result<StepOf<Self>> {
        self.calls.set(self.calls.get() + 1);
        let mean = |tally: &Sum| match self.flaw {
            Flaw::NanWhenEmpty => tally.total() / tally.users() as f64,
            _ => tally.mean().unwrap_or(0.0),
        };
        let value = answers.iter().map(mean).sum::<f64>() / answers.len() as f64;
        let Some(first) = first else {
            let users = if self.flaw == Flaw::AsksTooMany { left } else { left / 2 };
            let group = |users| Group { question: self.question, users };
            let round = Round::Many(vec![group(users), group(left - left / 2)]);
            // State is JSON: a NaN would be null there.
            return Ok(Step::Ask { round, state: (0, Some(if value.is_nan() { 0.0 } else { value })) });
        };
        let wander = if self.flaw == Flaw::CountsCalls { self.calls.get() as f64 } else { 0.0 };
        let error = answers.iter().find_map(Averages::standard_error);
        let hidden = self.flaw == Flaw::EstimateHidesField;
        Ok(Step::Done(Outcome {
            value: value + first + wander,
            error,
            reach: 1.0,
            any_level: false,
            aside: 0.0,
            hidden,
        }))
    }
}

const USERS: [u64; 4] = [3, 4, 10, 1000];

/// Reports near the middle and larger than any noise, but a thousand of them still fit a tally with their squares.
fn examples(_: &Noisy) -> Vec<f64> {
    vec![-1e9, -1.0, 0.3, 1e9]
}

#[test]
fn real_protocols_pass_and_mutants_are_rejected() {
    let good = Mean::new(Defect::None, Flaw::None);
    check_edges_with(&good, &USERS, &examples).unwrap();
    check_replay_with(&good, &USERS, &examples).unwrap();
    // A question without reports cannot be answered.
    rejected(check_edges_with(&good, &USERS, &|_| vec![]), "tallies must fit");
    let edges = |flaw| check_edges_with(&Mean::new(Defect::None, flaw), &USERS, &examples);
    rejected(edges(Flaw::NanWhenEmpty), "estimate is finite");
    rejected(edges(Flaw::AsksTooMany), "round within users");
    let wanders = Mean::new(Defect::None, Flaw::CountsCalls);
    rejected(check_replay_with(&wanders, &USERS, &examples), "step is pure");
}

#[test]
fn real_protocols_are_the_same_over_the_typed_wire_and_mutants_are_not() {
    let law = "simulation is wire";
    let model = Gaussian::new(1.0).unwrap();
    let check = |protocol: &Mean, users| check_simulation_is_wire_typed(protocol, &model, 4.5, users, 37);
    // Too few users: the same error on both ways.
    for users in [1, 3, 10, 1000] {
        check(&Mean::new(Defect::None, Flaw::None), users).unwrap();
    }
    rejected(check(&Mean::new(Defect::None, Flaw::EstimateHidesField), 100), law);
    // A question that is another one on arrival: a little, and with a level that clients refuse.
    for defect in [Defect::WireSingle, Defect::WireHalves] {
        rejected(check(&Mean::new(defect, Flaw::None), 100), law);
    }
    // Users who are others when asked again.
    let asked = Cell::new(0);
    let population = |replication| {
        let mut users = Users::new(&model, 4.5, 100, asked.replace(asked.get() + 1))?;
        users.restart(replication);
        Ok(users)
    };
    rejected(check_simulation_is_wire_with(&Mean::new(Defect::None, Flaw::None), 100, population), law);
}

/// Laplace noise on every coordinate of a vector, clipped to [−1, 1].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Coordinates {
    dimension: usize,
    scale: f64,
}

impl Mechanism for Coordinates {
    type Input = [f64];
    type Report = Vec<f64>;

    fn epsilon(&self) -> Epsilon {
        epsilon(2.0 * self.dimension as f64 / self.scale)
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> Vec<f64> {
        let noisy = |j: usize| {
            let (size, sign): (f64, bool) = (rng.random(), rng.random());
            let noise = -self.scale * (-size).ln_1p();
            input.get(j).copied().unwrap_or(0.0).clamp(-1.0, 1.0) + if sign { noise } else { -noise }
        };
        (0..self.dimension).map(noisy).collect()
    }
}

/// One round of two groups; the estimate is the mean of every coordinate. Right or wrong in one way.
struct VectorMean {
    flaw: Flaw,
    calls: Cell<u64>,
}

impl VectorMean {
    fn new(flaw: Flaw) -> Self {
        Self { flaw, calls: Cell::new(0) }
    }
}

/// More than one number: no `Inference`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    coordinates: Vec<f64>,
    #[serde(skip)]
    hidden: bool,
}

impl StagedEstimator for VectorMean {
    type Question = Coordinates;
    type Tally = VectorSum;
    type State = ();
    type Estimate = Point;

    fn tally(&self, question: &Coordinates) -> VectorSum {
        VectorSum::new(question.dimension)
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users < 2 {
            let (name, least, value) = ("users", 2, users);
            return Err(Error::TooFew { name, least, value });
        }
        let group = |users| Group { question: Coordinates { dimension: 3, scale: 2.0 }, users };
        Ok(Step::Ask { round: Round::Many(vec![group(users / 2), group(users - users / 2)]), state: () })
    }

    fn advance(&self, (): (), answers: &[VectorSum]) -> Result<StepOf<Self>> {
        self.calls.set(self.calls.get() + 1);
        let mut all = VectorSum::new(3);
        answers.iter().try_for_each(|tally| all.merge(tally.clone()))?;
        let empty = if self.flaw == Flaw::NanWhenEmpty { f64::NAN } else { 0.0 };
        let mut coordinates = all.mean().unwrap_or_else(|| vec![empty; 3]);
        if self.flaw == Flaw::CountsCalls {
            coordinates[0] += self.calls.get() as f64;
        }
        Ok(Step::Done(Point { coordinates, hidden: self.flaw == Flaw::EstimateHidesField }))
    }
}

/// Users with vectors, one by one.
struct Points<'m>(Vectors<'m, Gaussian>);

impl Source<[f64]> for Points<'_> {
    fn next(&mut self, with: &mut dyn FnMut(&[f64], &mut SimulationRng) -> Result<()>) -> Result<()> {
        let (vector, noise) = self.0.next_user()?;
        with(vector, noise)
    }
}

impl Population<Coordinates, VectorSum> for Points<'_> {
    fn answer(&mut self, group: &Group<Coordinates>, tally: &mut VectorSum) -> Result<()> {
        self.0.answer(group, tally)
    }
}

#[test]
fn vector_protocols_pass_and_mutants_are_rejected() {
    let examples = |_: &Coordinates| vec![vec![-1e9; 3], vec![0.0, 1.0, -1.0], vec![1e9; 3]];
    let finite = |point: &Point| match point.coordinates.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(Violation { law: "estimate is finite", detail: format!("a coordinate is {x}") }),
    };
    let edges = |flaw| check_edges_judged(&VectorMean::new(flaw), &USERS, &examples, &finite);
    edges(Flaw::None).unwrap();
    rejected(edges(Flaw::NanWhenEmpty), "estimate is finite");
    let replay = |flaw| check_replay_with(&VectorMean::new(flaw), &USERS, &examples);
    replay(Flaw::None).unwrap();
    rejected(replay(Flaw::CountsCalls), "step is pure");

    let model = Gaussian::new(1.0).unwrap();
    let population = |replication| {
        let mut vectors = Vectors::new(&model, &[0.3, -0.2, 0.9], 200, 41)?;
        vectors.restart(replication);
        Ok(Points(vectors))
    };
    let wire = |flaw| check_simulation_is_wire_with(&VectorMean::new(flaw), 200, population);
    wire(Flaw::None).unwrap();
    rejected(wire(Flaw::EstimateHidesField), "simulation is wire");
    // 300 users are asked where there are 200: the same error on both ways.
    check_simulation_is_wire_with(&VectorMean::new(Flaw::None), 300, population).unwrap();
}
