//! Tests of the conformance suite itself: every law has a mutant that its check rejects, and what is right passes.
//!
//! A check that accepts everything would look like a check that finds nothing. All sampling here has fixed seeds
//! and α = 1e-6.

use ldp_core::conformance::{
    Violation, check_channel, check_draws, check_edges, check_epsilon, check_epsilon_density, check_inference,
    check_marginal, check_merge_laws, check_replay, check_sampler, check_simulation_is_wire, check_wire_round_trip,
};
use ldp_core::inference::check_level;
use ldp_core::model::{Categorical, Gaussian, Poisson};
use ldp_core::{
    Bits, Cdf, Counts, Cuts, Dense, Density, Epsilon, Error, Finite, FiniteChannel, Group, Inference, Interval,
    IntervalKind, Kernel, Mechanism, Partition, Publish, Result, Round, StagedEstimator, Step, StepOf, Sum, Tally,
};
use rand::{Rng, RngExt};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::Cell;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// The check found a violation of exactly this law.
#[track_caller]
fn rejected(found: std::result::Result<(), Violation>, law: &str) {
    match found {
        Ok(()) => panic!("a mutant passed the law «{law}»"),
        Err(violation) => assert_eq!(violation.law, law, "{violation}"),
    }
}

#[test]
fn every_law_of_the_table_has_a_mutant_here() {
    let table = include_str!("../src/conformance/mod.rs");
    let laws: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next()).collect();
    assert_eq!(laws.len(), 25);
    for law in laws {
        let rejects = format!("\"{law}\"");
        assert!(include_str!("mutants.rs").contains(&rejects), "no mutant for «{law}»");
    }
}

/// A thin sign mechanism, right or wrong in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Thin {
    threshold: f64,
    lie: u64,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    /// Lies 10 % too often.
    FlipsTooOften,
    /// Density of a channel without the lies.
    DensityForgetsLies,
    /// `<=` for `<` with the weight of a lie: one word in 2⁶⁴.
    LieIncluded,
    /// sgn(0) = −1.
    Strict,
    /// A second word for inputs above the threshold only.
    SecondWordAbove,
    /// ε as it was claimed, though the weights give more.
    StoredEpsilon,
    /// ε a little above what the weights give, and above the claim.
    AboveClaim,
    /// P(X ≤ c) instead of P(X < c).
    MarginalIncludesCut,
    /// Both places of the marginal are P(Z = 1).
    MarginalTwice,
    /// Leaves the place of report 0 as it was.
    MarginalUnwritten,
    /// The marginal changes from call to call.
    MarginalWanders,
    /// One lie for all users of a slice.
    BulkSharesNoise,
    /// The right share of lies in every slice, hardly any scatter.
    BulkTooRegular,
    /// The last user of a slice is not counted.
    BulkDropsLast,
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

impl Thin {
    fn new(level: f64, threshold: f64, fault: Fault) -> Self {
        match Kernel::response(epsilon(level), 2).unwrap() {
            Kernel::Response { lie, .. } => Self { threshold, lie, fault },
            Kernel::Dense(_) => unreachable!("a response is asked for"),
        }
    }
}

impl Mechanism for Thin {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        match self.fault {
            Fault::StoredEpsilon => epsilon(0.9),
            Fault::AboveClaim => epsilon(1.0 + 1e-14),
            _ => self.publish().epsilon(),
        }
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        let above = match self.fault {
            Fault::Strict => *input > self.threshold,
            _ => *input >= self.threshold,
        };
        let word = rng.next_u64();
        if self.fault == Fault::SecondWordAbove && above {
            rng.next_u64();
        }
        let lies = match self.fault {
            Fault::LieIncluded => word <= self.lie,
            Fault::FlipsTooOften => word < self.lie + self.lie / 10,
            _ => word < self.lie,
        };
        u32::from(above ^ lies)
    }

    fn privatize_all<R, T>(&self, inputs: &[f64], rng: &mut R, tally: &mut T) -> Result<()>
    where
        R: Rng + ?Sized,
        T: Tally<Report = u32>,
    {
        let shared = rng.next_u64();
        for (place, input) in inputs.iter().enumerate() {
            let lies = match self.fault {
                Fault::BulkSharesNoise => shared < self.lie,
                Fault::BulkDropsLast if place + 1 == inputs.len() => continue,
                // A systematic sample: one random start, then equal steps.
                Fault::BulkTooRegular => {
                    let step = u64::MAX / inputs.len() as u64;
                    shared.wrapping_add(step.wrapping_mul(place as u64)) < self.lie
                }
                _ => rng.next_u64() < self.lie,
            };
            tally.push(u32::from((*input >= self.threshold) ^ lies), 1)?;
        }
        Ok(())
    }
}

impl Density for Thin {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        let honest = self.publish().ln_density(report, input);
        match self.fault {
            Fault::DensityForgetsLies if (*input >= self.threshold) == (*report == 1) => 0.0,
            _ => honest,
        }
    }
}

impl Finite for Thin {
    fn reports(&self) -> u32 {
        2
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        let cut = match self.fault {
            Fault::MarginalIncludesCut => self.threshold.next_up(),
            _ => self.threshold,
        };
        let floor = self.lie as f64 / ldp_core::channel::two_64();
        let below = floor + (1.0 - 2.0 * floor) * model.cdf(theta, cut);
        match self.fault {
            Fault::MarginalTwice => out.fill(1.0 - below),
            Fault::MarginalUnwritten => out[1] = 1.0 - below,
            Fault::MarginalWanders => {
                let calls = CALLS.replace(CALLS.get() + 1);
                let wrong = below + 0.02 * f64::from(calls % 2);
                out.copy_from_slice(&[wrong, 1.0 - wrong]);
            }
            _ => out.copy_from_slice(&[below, 1.0 - below]),
        }
    }
}

impl Publish for Thin {
    fn publish(&self) -> FiniteChannel {
        let kernel = Kernel::Response { reports: 2, lie: self.lie };
        FiniteChannel::new(Partition::Threshold(self.threshold), kernel).unwrap()
    }
}

/// Ternary response that never says 2.
#[derive(Clone, PartialEq)]
struct NeverTwo(FiniteChannel);

impl Mechanism for NeverTwo {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        self.0.privatize(input, rng).min(1)
    }
}

impl Density for NeverTwo {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        self.0.ln_density(report, input)
    }
}

impl Finite for NeverTwo {
    fn reports(&self) -> u32 {
        self.0.reports()
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        self.0.marginal(model, theta, out);
    }
}

/// Laplace noise of scale 1/ε on values clipped to [0, 1], with an ε that may be wrong.
struct Laplace {
    scale: f64,
    level: f64,
}

impl Mechanism for Laplace {
    type Input = f64;
    type Report = f64;

    fn epsilon(&self) -> Epsilon {
        epsilon(self.level)
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        let (size, sign): (f64, bool) = (rng.random(), rng.random());
        let noise = -self.scale * (1.0 - size).ln();
        input.clamp(0.0, 1.0) + if sign { noise } else { -noise }
    }
}

impl Density for Laplace {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        -(report - input.clamp(0.0, 1.0)).abs() / self.scale - (2.0 * self.scale).ln()
    }
}

fn ternary() -> FiniteChannel {
    let cuts = Partition::Cuts(Cuts::new(vec![-0.5, 0.5]).unwrap());
    FiniteChannel::new(cuts, Kernel::response(epsilon(1.0), 3).unwrap()).unwrap()
}

fn dense() -> FiniteChannel {
    let (quarter, half) = (1 << 62, 1 << 63);
    let columns = vec![vec![quarter, half, quarter], vec![half, quarter, quarter]];
    let residues = Partition::Periodic { origin: 0.1, width: 0.7, cells: 2 };
    FiniteChannel::new(residues, Kernel::Dense(Dense::new(columns).unwrap())).unwrap()
}

#[test]
fn good_mechanisms_pass() {
    let model = Gaussian::new(1.0).unwrap();
    let inputs = [-2.0, 0.25, 1.0, 3.0];
    for (place, level) in [1e-6, 0.2, 1.0, 10.0, 30.0].into_iter().enumerate() {
        let thin = Thin::new(level, 0.25, Fault::None);
        let seed = place as u64;
        check_epsilon(&thin, epsilon(level)).unwrap();
        check_epsilon_density(&thin, epsilon(level), &inputs, &[0, 1]).unwrap();
        check_sampler(&thin, &inputs, seed).unwrap();
        check_channel(&thin, &inputs, seed).unwrap();
        check_draws(&thin, &inputs).unwrap();
        check_marginal(&thin, &model, 0.6, seed).unwrap();
        check_marginal(&thin, &Poisson, 0.6, seed).unwrap();
    }
    for (channel, level) in [(ternary(), 1.0), (dense(), 2f64.ln().next_up())] {
        check_epsilon(&channel, epsilon(level)).unwrap();
        check_epsilon_density(&channel, epsilon(level), &inputs, &[0, 1, 2]).unwrap();
        check_sampler(&channel, &inputs, 5).unwrap();
        check_channel(&channel, &inputs, 5).unwrap();
        check_draws(&channel, &inputs).unwrap();
        check_marginal(&channel, &model, 0.6, 5).unwrap();
        check_marginal(&channel, &Categorical::new(4).unwrap(), 0.3, 5).unwrap();
    }
    let laplace = Laplace { scale: 0.5, level: 2.0 };
    check_epsilon_density(&laplace, epsilon(2.0), &[0.0, 0.3, 1.0, 7.0], &[-1.0, 0.4, 2.0]).unwrap();
    check_draws(&laplace, &[0.0, 1.0]).unwrap();
}

#[test]
fn privacy_mutants_are_rejected() {
    let weights = "weights within the claim";
    rejected(check_epsilon(&Thin::new(1.0, 0.0, Fault::None), epsilon(0.999)), weights);
    // Two units of the weight of a lie less, of 5·10¹⁸: only integers see it.
    let mut thin = Thin::new(1.0, 0.0, Fault::None);
    thin.lie -= 2;
    rejected(check_epsilon(&thin, epsilon(1.0)), weights);
    rejected(check_epsilon(&dense(), epsilon(0.69)), weights);

    let within = "epsilon within the claim";
    rejected(check_epsilon(&Thin::new(1.0, 0.0, Fault::AboveClaim), epsilon(1.0)), within);
    rejected(check_epsilon_density(&Laplace { scale: 0.5, level: 2.0 }, epsilon(1.9), &[0.0, 1.0], &[2.0]), within);

    let computed = "epsilon is computed";
    rejected(check_epsilon(&Thin::new(1.0, 0.0, Fault::StoredEpsilon), epsilon(1.0)), computed);
    // Noise of half the scale that the claim needs, and of twice that scale.
    for scale in [0.25, 1.0] {
        let laplace = Laplace { scale, level: 2.0 };
        rejected(check_epsilon_density(&laplace, epsilon(2.0), &[0.0, 1.0], &[-1.0, 2.0]), computed);
    }
    let forgetful = Thin::new(1.0, 0.0, Fault::DensityForgetsLies);
    rejected(check_epsilon_density(&forgetful, epsilon(1.0), &[-1.0, 1.0], &[0, 1]), computed);
}

#[test]
fn sampler_mutants_are_rejected() {
    let inputs = [-1.0, 1.0];
    let check = |fault| check_sampler(&Thin::new(1.0, 0.0, fault), &inputs, 11);
    rejected(check(Fault::FlipsTooOften), "sampler follows density");
    rejected(check_sampler(&NeverTwo(ternary()), &inputs, 11), "sampler follows density");
    rejected(check(Fault::DensityForgetsLies), "density adds to one");
    rejected(check(Fault::BulkSharesNoise), "bulk follows density");
    rejected(check(Fault::BulkTooRegular), "bulk follows density");
    rejected(check(Fault::BulkDropsLast), "bulk follows density");
}

#[test]
fn word_mutants_are_rejected() {
    let law = "thin equals published";
    for fault in [Fault::LieIncluded, Fault::Strict, Fault::SecondWordAbove, Fault::FlipsTooOften] {
        rejected(check_channel(&Thin::new(1.0, 0.3, fault), &[], 13), law);
    }
    // At ε = 30 one word in 10¹³ lies: random words alone would never meet it.
    rejected(check_channel(&Thin::new(30.0, 0.3, Fault::LieIncluded), &[], 13), law);
    let mutant = Thin::new(1.0, 0.0, Fault::SecondWordAbove);
    rejected(check_draws(&mutant, &[-1.0, 1.0]), "draws do not depend on the input");
}

#[test]
fn marginal_mutants_are_rejected() {
    // Poisson: the cut at 1 is an atom, so P(X ≤ 1) is another number than P(X < 1).
    let check = |fault| check_marginal(&Thin::new(1.0, 1.0, fault), &Poisson, 1.3, 17);
    check(Fault::None).unwrap();
    rejected(check(Fault::MarginalIncludesCut), "reports follow marginal");
    rejected(check(Fault::FlipsTooOften), "reports follow marginal");
    rejected(check(Fault::MarginalTwice), "marginal adds to one");
    rejected(check(Fault::MarginalUnwritten), "marginal adds to one");
    rejected(check(Fault::MarginalWanders), "tallies follow marginal");
}

/// A tally of bits, right or wrong in one way.
#[derive(Clone, Debug, PartialEq)]
struct Shard {
    ones: u64,
    users: u64,
    fault: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    PushIgnoresTimes,
    MergeForgetsUsers,
    MergeSubtracts,
    MergeTakesLarger,
    MergeAddsOne,
    AcceptsAnything,
    CountsBeforeRefusing,
    WrapsAround,
}

impl Tally for Shard {
    type Report = u32;

    fn push(&mut self, report: u32, times: u64) -> Result<()> {
        let times = if self.fault == Wrong::PushIgnoresTimes { 1 } else { times };
        let users = self.users;
        let sum = match users.checked_add(times) {
            None if self.fault != Wrong::WrapsAround => return Err(Error::TallyOverflow { users, times }),
            _ => users.wrapping_add(times),
        };
        if report > 1 && self.fault != Wrong::AcceptsAnything {
            if self.fault == Wrong::CountsBeforeRefusing {
                self.users = sum;
            }
            return Err(Error::Report { report, reports: 2 });
        }
        self.users = sum;
        self.ones = self.ones.wrapping_add(u64::from(report.min(1)).wrapping_mul(times));
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let (users, times) = (self.users, other.users);
        let sum = users.checked_add(times).ok_or(Error::TallyOverflow { users, times })?;
        match self.fault {
            Wrong::MergeForgetsUsers => self.ones += other.ones,
            Wrong::MergeSubtracts => {
                (self.ones, self.users) = (self.ones.wrapping_sub(other.ones), users.wrapping_sub(times));
            }
            Wrong::MergeTakesLarger => (self.ones, self.users) = (self.ones.max(other.ones), users.max(times)),
            Wrong::MergeAddsOne => (self.ones, self.users) = (self.ones + other.ones, sum + 1),
            _ => (self.ones, self.users) = (self.ones + other.ones, sum),
        }
        Ok(())
    }

    fn users(&self) -> u64 {
        self.users
    }
}

#[test]
fn good_tallies_pass_and_mutants_are_rejected() {
    check_merge_laws(&Bits::default(), &[0, 1, 1, 0, 1, 1], 2).unwrap();
    check_merge_laws(&Counts::new(5), &[4, 0, 3, 1, 1, 2], 5).unwrap();
    for impossible in [f64::NAN, f64::INFINITY, 2.0 * Sum::LIMIT] {
        check_merge_laws(&Sum::default(), &[0.1, 0.2, -1e12, 1e-17, 7.0], impossible).unwrap();
    }
    let check = |fault| {
        let empty = Shard { ones: 0, users: 0, fault };
        check_merge_laws(&empty, &[0, 1, 1, 0, 1], 2)
    };
    check(Wrong::Nothing).unwrap();
    rejected(check(Wrong::PushIgnoresTimes), "push counts users");
    rejected(check(Wrong::WrapsAround), "push counts users");
    rejected(check(Wrong::MergeSubtracts), "merge commutes");
    rejected(check(Wrong::MergeForgetsUsers), "merge commutes");
    rejected(check(Wrong::MergeTakesLarger), "merge associates");
    rejected(check(Wrong::MergeAddsOne), "empty is neutral");
    rejected(check(Wrong::AcceptsAnything), "impossible report is refused");
    rejected(check(Wrong::CountsBeforeRefusing), "failed call changes nothing");
}

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
struct Outcome {
    value: f64,
    error: Option<f64>,
    reach: f64,
    any_level: bool,
    #[serde(skip)]
    hidden: bool,
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
        Ok(Interval { kind, level, low, high })
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
    let good = Outcome { value: 0.5, error: None, reach: 1.0, any_level: false, hidden: false };
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
        Ok(Step::Done(Outcome { value, error: None, reach: 1.0, any_level: false, hidden: false }))
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
