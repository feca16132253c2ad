//! The walk over all tallies on protocols without statistics: several reports, several groups, several rounds, against
//! plain sums over what every single user may say; and what it refuses.

use ldp_core::conformance::{Dummy, Seen};
use ldp_core::inference::{Inference, Interval, IntervalKind};
use ldp_core::model::Gaussian;
use ldp_core::special::binomial;
use ldp_core::{
    Bits, Counts, Cuts, Epsilon, Error, Finite, FiniteChannel, Group, Kernel, Partition, Result, Round,
    StagedEstimator, Step, StepOf, Tally,
};
use ldp_simulate::exact::{Atoms, Errors, Exact, Gather, Method, Risk, Summed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const THETA: f64 = 0.4;

fn model() -> Gaussian {
    Gaussian::new(1.0).unwrap()
}

fn channel(cuts: Vec<f64>) -> FiniteChannel {
    let kernel = Kernel::response(Epsilon::new(1.0).unwrap(), cuts.len() as u32 + 1).unwrap();
    FiniteChannel::new(Partition::Cuts(Cuts::new(cuts).unwrap()), kernel).unwrap()
}

fn threshold(cut: f64) -> FiniteChannel {
    FiniteChannel::new(Partition::Threshold(cut), Kernel::response(Epsilon::new(1.0).unwrap(), 2).unwrap()).unwrap()
}

fn sign() -> FiniteChannel {
    threshold(0.0)
}

fn law(question: &FiniteChannel) -> Vec<f64> {
    let mut law = vec![0.0; question.reports() as usize];
    question.marginal(&model(), THETA, &mut law);
    law
}

/// What is gathered where the order of what came matters: a number that depends on every count of every tally.
#[derive(Clone, Debug, Default)]
struct Digest {
    mass: f64,
    sum: f64,
}

impl Gather for Digest {
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I) {
        self.mass += weight;
        self.sum += weight * estimate.value();
    }

    fn merge(&mut self, other: Self) {
        self.mass += other.mass;
        self.sum += other.sum;
    }

    fn squares(&self) -> f64 {
        self.sum
    }
}

/// A [`Dummy`] whose estimate tells all tallies apart, and which shortens its second round where the first brought
/// an odd number of zeros: so what is asked depends on what came.
#[derive(Clone, Debug)]
struct Odd(Dummy);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OddEstimate(Seen);

impl StagedEstimator for Odd {
    type Question = FiniteChannel;
    type Tally = Counts;
    type State = Seen;
    type Estimate = OddEstimate;

    fn tally(&self, question: &FiniteChannel) -> Counts {
        self.0.tally(question)
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        Ok(self.step(self.0.begin(users)?))
    }

    fn advance(&self, state: Seen, answers: &[Counts]) -> Result<StepOf<Self>> {
        Ok(self.step(self.0.advance(state, answers)?))
    }
}

impl Odd {
    fn step(&self, step: StepOf<Dummy>) -> StepOf<Self> {
        match step {
            Step::Done(seen) => Step::Done(OddEstimate(seen)),
            Step::Ask { round, state } => {
                let odd = state.rounds.first().is_some_and(|round| round[0].counts()[0] % 2 == 1);
                let shorter = |group: &Group<FiniteChannel>| Group { users: group.users - 1, ..group.clone() };
                let round = if odd { Round::Many(round.groups().iter().map(shorter).collect()) } else { round };
                Step::Ask { round, state }
            }
        }
    }
}

/// A product of powers of numbers without common structure: no two different sets of tallies have the same.
fn digest(seen: &Seen) -> f64 {
    let mut value = 1.0;
    for (round, tallies) in seen.rounds.iter().enumerate() {
        for (group, tally) in tallies.iter().enumerate() {
            for (report, &count) in tally.counts().iter().enumerate() {
                let base = 1.0 + 0.1 * ((7 * round + 3 * group + report) as f64 + 0.5).sin();
                value *= base.powi(count as i32);
            }
        }
    }
    value
}

impl Inference for OddEstimate {
    fn value(&self) -> f64 {
        digest(&self.0)
    }

    fn standard_error(&self) -> Option<f64> {
        None
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[]
    }

    fn interval(&self, kind: IntervalKind, _level: f64) -> Result<Interval> {
        Err(Error::NoInterval { kind, reason: "there is nothing to be estimated" })
    }
}

/// The mean of the estimate and its square, by going through what every user may report, one after the other.
fn by_strings(protocol: &Odd, users: u64) -> (f64, f64) {
    fn round(protocol: &Odd, step: StepOf<Odd>, weight: f64, sums: &mut (f64, f64)) {
        match step {
            Step::Done(estimate) => {
                sums.0 += weight * estimate.value();
                sums.1 += weight * estimate.value().powi(2);
            }
            Step::Ask { round: asked, state } => {
                let laws: Vec<_> = asked.groups().iter().map(|group| law(&group.question)).collect();
                let empty: Vec<_> = asked.groups().iter().map(|group| protocol.tally(&group.question)).collect();
                let who: Vec<usize> =
                    asked.groups().iter().enumerate().flat_map(|(g, group)| vec![g; group.users as usize]).collect();
                user(protocol, &state, &laws, &who, empty, weight, sums);
            }
        }
    }
    fn user(
        protocol: &Odd,
        state: &Seen,
        laws: &[Vec<f64>],
        who: &[usize],
        tallies: Vec<Counts>,
        weight: f64,
        sums: &mut (f64, f64),
    ) {
        let Some((&group, rest)) = who.split_first() else {
            return round(protocol, protocol.advance(state.clone(), &tallies).unwrap(), weight, sums);
        };
        for (report, p) in (0u32..).zip(&laws[group]) {
            let mut tallies = tallies.clone();
            tallies[group].push(report, 1).unwrap();
            user(protocol, state, laws, rest, tallies, weight * p, sums);
        }
    }
    let mut sums = (0.0, 0.0);
    round(protocol, protocol.begin(users).unwrap(), 1.0, &mut sums);
    sums
}

fn group(question: &FiniteChannel, users: u64) -> Group<FiniteChannel> {
    Group { question: question.clone(), users }
}

#[test]
fn several_reports_groups_and_rounds_are_what_the_users_say() {
    let (two, three, four) = (sign(), channel(vec![-0.5, 0.5]), channel(vec![-1.0, 0.2, 0.9]));
    for script in [
        // One group of three reports; of four; of two in either form of a round.
        vec![vec![group(&three, 7)]],
        vec![vec![group(&four, 5)]],
        vec![vec![group(&two, 9)]],
        // Two groups side by side, one of two reports.
        vec![vec![group(&three, 4), group(&two, 3)]],
        // Two rounds, the second shorter where the first was odd.
        vec![vec![group(&two, 4)], vec![group(&three, 4)]],
        vec![vec![group(&three, 3), group(&four, 2)], vec![group(&two, 3), group(&three, 2)]],
        vec![vec![group(&four, 2)], vec![group(&two, 3)], vec![group(&three, 2), group(&two, 2)]],
    ] {
        let users = script.iter().flatten().map(|group| group.users).sum();
        let protocol = Odd(Dummy { script });
        let expected = by_strings(&protocol, users);
        let model = model();
        let exact = Exact::new(&model, THETA).unwrap();
        let found = exact.sum(&protocol, users, Digest::default).unwrap();
        assert_eq!((found.method, found.mse_error), (Method::Exact, None));
        assert!((found.gather.mass - 1.0).abs() < 1e-13 && found.lost < 1e-20, "{found:?}");
        assert!((found.gather.sum / expected.0 - 1.0).abs() < 1e-13, "{} for {}", found.gather.sum, expected.0);
        // The error against a truth of zero is the estimate itself.
        let errors = exact.best(&protocol, users, || Errors::new(0.0)).unwrap().gather;
        assert!((errors.bias() / expected.0 - 1.0).abs() < 1e-13);
        assert!((errors.mse() / expected.1 - 1.0).abs() < 1e-13);
        let risk = exact.sum(&protocol, users, || Risk::new(0.0, 0.95, &[])).unwrap().gather;
        assert_eq!((risk.errors().mse(), risk.notes()), (errors.mse(), 0.0));
        // Atoms are all there, and add up to the same.
        let atoms = exact.sum(&protocol, users, || Atoms::new(0.0, 1 << 20)).unwrap().gather.sorted().unwrap();
        let mean: f64 = atoms.iter().map(|(value, probability)| value * probability).sum();
        assert!((mean / expected.0 - 1.0).abs() < 1e-13);
        assert!(atoms.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let few = exact.sum(&protocol, users, || Atoms::new(0.0, 3)).unwrap().gather.sorted();
        assert!(matches!(few, Err(Error::TooMany { name: "values of an estimate", most: 3, .. })), "{few:?}");
        // Values a little elsewhere are another sum.
        let moved = Exact::new(&model, THETA + 1e-6).unwrap().sum(&protocol, users, Digest::default).unwrap();
        assert!((moved.gather.sum / expected.0 - 1.0).abs() > 1e-10, "the mutant passes");
    }
}

/// Asks whether most of the first round said one, and then one of two questions: nothing else is remembered.
#[derive(Clone, Copy, Debug)]
struct Majority {
    first: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum MajorityState {
    First,
    Second { above: bool },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Share {
    above: bool,
    answers: Bits,
}

impl Inference for Share {
    fn value(&self) -> f64 {
        self.answers.ones() as f64 / self.answers.users() as f64 + f64::from(self.above)
    }

    fn standard_error(&self) -> Option<f64> {
        None
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[]
    }

    fn interval(&self, kind: IntervalKind, _level: f64) -> Result<Interval> {
        Err(Error::NoInterval { kind, reason: "it is a share" })
    }
}

impl StagedEstimator for Majority {
    type Question = FiniteChannel;
    type Tally = Bits;
    type State = MajorityState;
    type Estimate = Share;

    fn tally(&self, _: &FiniteChannel) -> Bits {
        Bits::default()
    }

    fn begin(&self, _: u64) -> Result<StepOf<Self>> {
        Ok(Step::Ask { round: Round::one(sign(), self.first), state: MajorityState::First })
    }

    fn advance(&self, state: MajorityState, answers: &[Bits]) -> Result<StepOf<Self>> {
        Ok(match state {
            MajorityState::First => {
                let above = 2 * answers[0].ones() >= answers[0].users();
                let cut = if above { 0.5 } else { -0.5 };
                Step::Ask { round: Round::one(threshold(cut), 500), state: MajorityState::Second { above } }
            }
            MajorityState::Second { above } => Step::Done(Share { above, answers: answers[0] }),
        })
    }
}

/// Two questions follow a thousand counts: the second round is summed twice, not a thousand times.
#[test]
fn equal_steps_are_merged() {
    let model = model();
    let exact = Exact::new(&model, THETA).unwrap();
    let first = 1000;
    let found: Summed<Digest> = exact.sum(&Majority { first }, first + 500, Digest::default).unwrap();
    assert!(found.tallies <= (first + 1) + 2 * 501, "{found:?}");
    assert!((found.gather.mass - 1.0).abs() < 1e-12);
    // By hand: P(majority), and the mean share of ones at either cut.
    let [zero, one] = law(&sign())[..] else { panic!("two reports") };
    let above = binomial::sf(first / 2, first, one);
    let ones = |cut: f64| law(&threshold(cut))[1];
    let expected = above * (1.0 + ones(0.5)) + (1.0 - above) * ones(-0.5);
    assert!((zero + one - 1.0).abs() < 1e-15);
    assert!((found.gather.sum / expected - 1.0).abs() < 1e-12, "{} for {expected}", found.gather.sum);
    // A dummy remembers all it has seen, so nothing can be merged.
    let apart = exact.sum(&Dummy::asking(&sign(), &[&[first], &[500]]), first + 500, Digest::default).unwrap();
    assert!(apart.tallies > 20 * found.tallies, "{} and {}", apart.tallies, found.tallies);
}

#[test]
fn more_than_may_be_looked_at_is_refused() {
    let model = model();
    let exact = Exact::new(&model, THETA).unwrap();
    for script in [&[&[1000][..], &[1000]][..], &[&[30, 30, 30]]] {
        let dummy = Dummy::asking(&sign(), script);
        let refused = exact.most(500).sum(&dummy, 2000, Digest::default).map(|summed| summed.tallies);
        assert!(
            matches!(refused, Err(Error::TooMany { name: "tallies of an exact sum", most: 500, value }) if value > 500),
            "{refused:?}"
        );
        let size = exact.size(&dummy, 2000).unwrap();
        let found = exact.sum(&dummy, 2000, Digest::default).unwrap();
        // The size is that of the likeliest path.
        assert!((0.3..3.0).contains(&(size / found.tallies as f64)), "{size} for {}", found.tallies);
        assert!(exact.most(found.tallies).sum(&dummy, 2000, Digest::default).is_ok());
        assert!(exact.most(found.tallies - 1).sum(&dummy, 2000, Digest::default).is_err());
    }
}

#[test]
fn a_round_that_would_have_to_be_simulated_is_refused() {
    let model = model();
    let exact = Exact::new(&model, THETA).unwrap();
    // Four reports of ten million users, and nothing after it; and the same in a second round.
    let four = channel(vec![-1.0, 0.2, 0.9]);
    for script in [vec![vec![group(&four, 10_000_000)]], vec![vec![group(&sign(), 20)], vec![group(&four, 10_000_000)]]]
    {
        let dummy = Dummy { script };
        for refused in [
            exact.sum(&dummy, 20_000_000, Digest::default),
            exact.best(&dummy, 20_000_000, Digest::default),
            exact.thinned(&dummy, 20_000_000, Digest::default),
        ] {
            let what = refused.map(|summed| summed.method);
            assert!(matches!(what, Err(Error::Unsupported { what: "an exact sum over this round", .. })), "{what:?}");
        }
    }
    // In a second round that is told before anything is drawn: so many draws would never end.
    let dummy = Dummy { script: vec![vec![group(&sign(), 20)], vec![group(&four, 10_000_000)]] };
    let refused = exact.sampling(1, u64::MAX).sum(&dummy, 20_000_000, Digest::default).map(|summed| summed.method);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}

/// A first round of four reports, too large to be gone through; the second asks where most of the reports were.
#[derive(Clone, Debug)]
struct Drawn {
    first: u64,
    second: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum DrawnState {
    First,
    Second { cut: f64 },
}

/// The share of ones at a cut, and the cut.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cut {
    cut: f64,
    ones: f64,
}

impl Inference for Cut {
    fn value(&self) -> f64 {
        self.cut + self.ones
    }

    fn standard_error(&self) -> Option<f64> {
        None
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[]
    }

    fn interval(&self, kind: IntervalKind, _level: f64) -> Result<Interval> {
        Err(Error::NoInterval { kind, reason: "it is a share" })
    }
}

impl StagedEstimator for Drawn {
    type Question = FiniteChannel;
    type Tally = Counts;
    type State = DrawnState;
    type Estimate = Cut;

    fn tally(&self, question: &FiniteChannel) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, _: u64) -> Result<StepOf<Self>> {
        Ok(Step::Ask { round: Round::one(channel(vec![-1.0, 0.2, 0.9]), self.first), state: DrawnState::First })
    }

    fn advance(&self, state: DrawnState, answers: &[Counts]) -> Result<StepOf<Self>> {
        let users = answers[0].users() as f64;
        Ok(match state {
            // Rounded, so that steps are often equal.
            DrawnState::First => {
                let centre = (answers[0].counts()[3] as f64 - answers[0].counts()[0] as f64) / users;
                let cut = (centre * users.sqrt()).round() / users.sqrt();
                Step::Ask { round: Round::one(threshold(cut), self.second), state: DrawnState::Second { cut } }
            }
            DrawnState::Second { cut } => Step::Done(Cut { cut, ones: answers[0].counts()[1] as f64 / users }),
        })
    }

    fn range(&self, _: u64) -> Option<[f64; 2]> {
        Some([-1.0, 2.0])
    }
}

/// The standard error of a drawn first round is right: the mean squared errors of forty seeds spread by it.
///
/// The sum of squares of forty standard normal numbers is between 11 and 95 but for 1e-6 on either side; half or twice
/// the standard error would make it 160 or 10 on average.
#[test]
fn a_first_round_that_is_too_large_is_drawn() {
    let model = model();
    let truth = 0.6;
    let drawn = Drawn { first: 40_000, second: 2000 };
    let expected = by_hand(&drawn, truth);
    let exact = Exact::new(&model, THETA).unwrap();
    let small = Drawn { first: 60, second: 2000 };
    let summed = exact.sum(&small, 2060, || Errors::new(truth)).unwrap();
    assert_eq!(summed.method, Method::Exact);
    assert!((summed.gather.mse() / by_hand(&small, truth) - 1.0).abs() < 1e-7, "{summed:?}");
    type Sum<'a> = &'a dyn Fn(&Exact<'_, Gaussian>) -> Result<Summed<Errors>>;
    let sum: Sum<'_> = &|exact| exact.sum(&drawn, 42_000, || Errors::new(truth));
    let thinned: Sum<'_> = &|exact| exact.resolution(4.0, 1e-6).thinned(&drawn, 42_000, || Errors::new(truth));
    for (what, sum) in [("sum", sum), ("thinned", thinned)] {
        let runs: Vec<_> = (0..40).map(|seed| sum(&exact.sampling(seed, 400)).unwrap()).collect();
        let mean = runs.iter().map(|run| run.gather.mse()).sum::<f64>() / 40.0;
        let mut squares = 0.0;
        for run in &runs {
            assert_eq!(run.method, Method::Sampled { draws: 400 });
            assert!((run.gather.mass() - 1.0).abs() < 1e-12, "{what}: {run:?}");
            squares += ((run.gather.mse() - mean) / run.mse_error.unwrap()).powi(2);
        }
        assert!((11.0..95.0).contains(&squares), "{what}: {squares}");
        // Their mean is the exact value, within five of its standard errors, which are a fifth of a per cent.
        let error = runs[0].mse_error.unwrap() / 40f64.sqrt();
        assert!((mean - expected).abs() < 5.0 * error && error < 0.002 * expected, "{what}: {mean} for {expected}");
        // The same seed is the same sum.
        let again = sum(&exact.sampling(0, 400)).unwrap();
        assert_eq!(again.gather, runs[0].gather);
    }
}

/// The mean squared error of [`Drawn`] by hand: the two counts that matter of the first round, and the mean and variance
/// of the share in the second.
fn by_hand(Drawn { first, second }: &Drawn, truth: f64) -> f64 {
    let [low, _, _, high] = law(&channel(vec![-1.0, 0.2, 0.9]))[..] else { panic!("four reports") };
    let window = |trials: u64, p: f64| {
        let window = binomial::Window::new(trials, [1.0 - p, p], 1e-9);
        binomial::Probabilities::new(trials, [1.0 - p, p], window.first, window.last, 1)
    };
    let mut differences: BTreeMap<i64, f64> = BTreeMap::new();
    for (lows, p) in window(*first, low) {
        for (highs, q) in window(*first - lows, high / (1.0 - low)) {
            *differences.entry(highs as i64 - lows as i64).or_insert(0.0) += p * q;
        }
    }
    let users = *first as f64;
    let given = |(&difference, probability): (&i64, &f64)| {
        let cut = (difference as f64 / users * users.sqrt()).round() / users.sqrt();
        let one = law(&threshold(cut))[1];
        probability * ((cut + one - truth).powi(2) + one * (1.0 - one) / *second as f64)
    };
    differences.iter().map(given).sum()
}
