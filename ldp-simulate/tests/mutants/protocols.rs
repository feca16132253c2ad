//! Mutants of protocols: edges, replay, wire and inference.

use super::mechanisms::{Fault, Thin};
use super::{dense, rejected, ternary};
use ldp_core::conformance::{check_edges, check_inference, check_replay, check_wire_round_trip};
use ldp_core::inference::check_level;
use ldp_core::model::{Gaussian, Poisson};
use ldp_core::{
    Bits, Counts, Error, Finite, FiniteChannel, Group, Inference, Interval, IntervalKind, Result, Round,
    StagedEstimator, Step, StepOf, Sum, Tally,
};
use ldp_simulate::conformance::check_simulation_is_wire;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::Cell;

/// A number that crosses the wire in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Single(f64);

impl Serialize for Single {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        (self.0 as f32).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        f32::deserialize(deserializer).map(|value| Self(f64::from(value)))
    }
}

/// A list that is read as empty where it cannot be read.
#[derive(Debug, PartialEq, Serialize)]
struct Lenient(Vec<u32>);

impl<'de> Deserialize<'de> for Lenient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Ok(Self(Vec::deserialize(deserializer).unwrap_or_default()))
    }
}

#[test]
fn messages_round_trip_and_mutants_are_rejected() {
    check_wire_round_trip(&ternary()).unwrap();
    check_wire_round_trip(&dense()).unwrap();
    check_wire_round_trip(&Bits::new(3, u64::MAX).unwrap()).unwrap();
    check_wire_round_trip(&Group { question: ternary(), users: 7 }).unwrap();
    let mut sum = Sum::default();
    sum.push(0.1, u64::MAX).unwrap();
    check_wire_round_trip(&sum).unwrap();
    check_wire_round_trip(&[0.1, -0.0, 5e-324, f64::MAX]).unwrap();
    check_wire_round_trip(&Single(0.5)).unwrap();
    rejected(check_wire_round_trip(&Single(0.1)), "round trip");
    rejected(check_wire_round_trip(&Lenient(vec![1, 2])), "truncation is refused");
}

/// Two rounds of a thin sign, the second at the share of ones in the first; right or wrong in one way.
struct Protocol {
    question: Thin,
    flaw: Flaw,
    calls: Cell<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    NanWhenEmpty,
    InfiniteWhenAllAlike,
    NegativeError,
    EmptyInterval,
    AnyLevel,
    AsksTooMany,
    AsksNobody,
    AsksForEver,
    ForgetsUsers,
    AlwaysFails,
    CountsCalls,
    StateInSinglePrecision,
    EstimateHidesField,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Memory {
    left: u64,
    first: Option<Share>,
}

/// A share of ones that may cross the wire in single precision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Share {
    Double(f64),
    Single(Single),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) value: f64,
    pub(super) error: Option<f64>,
    pub(super) reach: f64,
    pub(super) any_level: bool,
    /// How far the interval is moved away from the value.
    pub(super) aside: f64,
    #[serde(skip)]
    pub(super) hidden: bool,
}

impl Inference for Outcome {
    fn value(&self) -> f64 {
        self.value
    }

    fn standard_error(&self) -> Option<f64> {
        self.error
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::Wald]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        if !self.any_level {
            check_level(level)?;
        }
        if kind != IntervalKind::Wald {
            let reason = "only this kind";
            return Err(Error::NoInterval { kind, reason });
        }
        let (low, high) = (self.value - self.reach, self.value + self.reach);
        Ok(Interval { kind, level, low: low + self.aside, high: high + self.aside })
    }
}

/// Bits that may forget to count their users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answers {
    bits: Bits,
    forgets: bool,
}

impl Tally for Answers {
    type Report = u32;

    fn push(&mut self, report: u32, times: u64) -> Result<()> {
        self.bits.push(report, times)
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.bits.merge(other.bits)
    }

    fn users(&self) -> u64 {
        if self.forgets { 0 } else { self.bits.users() }
    }
}

impl Protocol {
    fn new(flaw: Flaw) -> Self {
        Self { question: Thin::new(1.0, 0.0, Fault::None), flaw, calls: Cell::new(0) }
    }

    fn ask(&self, threshold: f64, users: u64, state: Memory) -> StepOf<Self> {
        let question = Thin { threshold, ..self.question.clone() };
        Step::Ask { round: Round::one(question, users), state }
    }
}

impl StagedEstimator for Protocol {
    type Question = Thin;
    type Tally = Answers;
    type State = Memory;
    type Estimate = Outcome;

    fn tally(&self, _: &Thin) -> Answers {
        Answers { bits: Bits::default(), forgets: self.flaw == Flaw::ForgetsUsers }
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users < 2 {
            let (name, least, value) = ("users", 2, users);
            return Err(Error::TooFew { name, least, value });
        }
        let asked = if self.flaw == Flaw::AsksNobody { 0 } else { users / 2 };
        let left = users - users / 2;
        Ok(self.ask(self.question.threshold, asked, Memory { left, first: None }))
    }

    fn advance(&self, state: Memory, answers: &[Answers]) -> Result<StepOf<Self>> {
        self.calls.set(self.calls.get() + 1);
        let [Answers { bits, .. }] = answers else {
            let (expected, found) = (1, answers.len());
            return Err(Error::TallyCount { expected, found });
        };
        let (ones, users) = (bits.ones() as f64, bits.users() as f64);
        let share = match self.flaw {
            Flaw::NanWhenEmpty => ones / users,
            Flaw::InfiniteWhenAllAlike if users > 0.0 => (ones / (users - ones)).ln().min(f64::INFINITY),
            _ if users > 0.0 => ones / users,
            _ => 0.5,
        };
        let Some(first) = state.first else {
            let threshold = match self.flaw {
                Flaw::CountsCalls => self.calls.get() as f64,
                _ if share.is_finite() => share,
                _ => 0.0,
            };
            let asked = match self.flaw {
                Flaw::AsksTooMany => 2 * state.left,
                Flaw::AlwaysFails => return Err(Error::Uninformative),
                _ => state.left,
            };
            let first = Some(match self.flaw {
                Flaw::StateInSinglePrecision => Share::Single(Single(threshold)),
                _ => Share::Double(threshold),
            });
            return Ok(self.ask(threshold, asked, Memory { left: 0, first }));
        };
        if self.flaw == Flaw::AsksForEver {
            return Ok(self.ask(0.0, 1, state));
        }
        let (Share::Double(first) | Share::Single(Single(first))) = first;
        Ok(Step::Done(Outcome {
            value: share + first,
            error: (users > 0.0).then_some(if self.flaw == Flaw::NegativeError { -1.0 } else { 1.0 }),
            reach: if self.flaw == Flaw::EmptyInterval { -1.0 } else { 1.0 },
            any_level: self.flaw == Flaw::AnyLevel,
            aside: 0.0,
            hidden: self.flaw == Flaw::EstimateHidesField,
        }))
    }
}

const USERS: [u64; 4] = [2, 3, 10, 1000];

#[test]
fn a_good_protocol_passes() {
    let protocol = Protocol::new(Flaw::None);
    check_edges(&protocol, &USERS).unwrap();
    check_replay(&protocol, &USERS).unwrap();
    let model = Gaussian::new(1.0).unwrap();
    for users in USERS {
        check_simulation_is_wire(&protocol, &model, 0.3, users, 19).unwrap();
    }
    // Rounds of several groups, with more than two reports.
    check_edges(&Split { guarded: true }, &USERS).unwrap();
    check_replay(&Split { guarded: true }, &USERS).unwrap();
    check_simulation_is_wire(&Split { guarded: true }, &model, 0.3, 1000, 19).unwrap();
    // Too few users: the same error on both ways.
    check_simulation_is_wire(&protocol, &model, 0.3, 1, 19).unwrap();
}

#[test]
fn edge_mutants_are_rejected() {
    let check = |flaw| check_edges(&Protocol::new(flaw), &USERS);
    for flaw in
        [Flaw::NanWhenEmpty, Flaw::InfiniteWhenAllAlike, Flaw::NegativeError, Flaw::EmptyInterval, Flaw::AnyLevel]
    {
        rejected(check(flaw), "estimate is finite");
    }
    for flaw in [Flaw::AsksTooMany, Flaw::AsksNobody, Flaw::AsksForEver] {
        rejected(check(flaw), "round within users");
    }
    rejected(check(Flaw::ForgetsUsers), "tallies must fit");
    rejected(check(Flaw::AlwaysFails), "protocol ends");
    rejected(check_edges(&Split { guarded: false }, &USERS), "estimate is finite");
}

#[test]
fn estimate_mutants_are_rejected() {
    let good = Outcome { value: 0.5, error: None, reach: 1.0, any_level: false, aside: 0.0, hidden: false };
    check_inference(&good).unwrap();
    check_inference(&Outcome { reach: f64::INFINITY, ..good.clone() }).unwrap();
    for mutant in [
        Outcome { value: f64::NAN, ..good.clone() },
        Outcome { value: f64::NEG_INFINITY, ..good.clone() },
        Outcome { error: Some(f64::NAN), ..good.clone() },
        Outcome { error: Some(f64::INFINITY), ..good.clone() },
        Outcome { error: Some(-0.1), ..good.clone() },
        Outcome { reach: f64::NAN, ..good.clone() },
        Outcome { reach: -1e-9, ..good.clone() },
        Outcome { reach: f64::NEG_INFINITY, ..good.clone() },
        Outcome { any_level: true, ..good.clone() },
        // A point is not an interval, and a value has to be in its own.
        Outcome { reach: 0.0, ..good.clone() },
        Outcome { aside: 1.5, ..good.clone() },
    ] {
        rejected(check_inference(&mutant), "estimate is finite");
    }
}

/// One round of two groups with three reports each; the value is the ratio of their shares of report 2.
struct Split {
    /// Whether an empty or unanimous group is thought of.
    guarded: bool,
}

impl StagedEstimator for Split {
    type Question = FiniteChannel;
    type Tally = Counts;
    type State = ();
    type Estimate = Outcome;

    fn tally(&self, question: &FiniteChannel) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users < 2 {
            let (name, least, value) = ("users", 2, users);
            return Err(Error::TooFew { name, least, value });
        }
        let group = |users| Group { question: ternary(), users };
        let round = Round::Many(vec![group(users / 2), group(users - users / 2)]);
        Ok(Step::Ask { round, state: () })
    }

    fn advance(&self, (): (), answers: &[Counts]) -> Result<StepOf<Self>> {
        let guard = f64::from(u8::from(self.guarded));
        let share = |tally: &Counts| (tally.counts()[2] as f64 + guard) / (tally.users() as f64 + guard);
        let value = share(&answers[1]) / share(&answers[0]);
        Ok(Step::Done(Outcome { value, error: None, reach: 1.0, any_level: false, aside: 0.0, hidden: false }))
    }
}

#[test]
fn replay_and_wire_mutants_are_rejected() {
    rejected(check_replay(&Protocol::new(Flaw::CountsCalls), &USERS), "step is pure");
    let wire = "simulation is wire";
    let model = Gaussian::new(1.0).unwrap();
    for flaw in [Flaw::StateInSinglePrecision, Flaw::EstimateHidesField] {
        // 26 users: a share of thirteenths, which single precision does not hold.
        rejected(check_simulation_is_wire(&Protocol::new(flaw), &model, 0.3, 26, 23), wire);
    }
    // A client runs the published question. Counts sit on the threshold 0, so sgn(0) matters.
    let mut protocol = Protocol::new(Flaw::None);
    check_simulation_is_wire(&protocol, &Poisson, 0.5, 200, 23).unwrap();
    protocol.question.fault = Fault::Strict;
    rejected(check_simulation_is_wire(&protocol, &Poisson, 0.5, 200, 23), wire);
    // A claim below what the weights give: clients refuse the question.
    protocol.question.fault = Fault::StoredEpsilon;
    rejected(check_simulation_is_wire(&protocol, &Poisson, 0.5, 200, 23), wire);
}
