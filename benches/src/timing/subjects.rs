//! The finite mechanisms whose answers are timed, each with values that lie far apart in what has to be done for them.

use super::Seen;
use ldp_bulk::simd::cycles;
use ldp_core::{
    Cuts, Dense, Either, Epsilon, FiniteChannel, Kernel, Mechanism, Mixed, Partition, Result, SystemRng, wire,
};
use ldp_mechanisms::{
    CategorySet, CoordinateSign, Duchi, DuchiLinf, IntervalResponse, RandomizedResponse, Range, Residue, Sign, Squared,
    SubsetSelection, UnaryEncoding,
};
use rand::rngs::{ChaCha12Rng, Xoshiro256PlusPlus};
use rand::{Rng, RngExt, SeedableRng, TryRng};
use std::cell::RefCell;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

/// Something that is timed.
pub struct Subject {
    /// What it is called.
    pub name: &'static str,
    /// How many values it is asked about.
    pub inputs: usize,
    /// What it answers.
    pub answers: Box<dyn Answers>,
}

/// Answers about values in random order, with noise from a seed.
pub trait Answers {
    /// Times each of so many answers.
    fn time(&self, answers: usize, seed: u64) -> Vec<Seen>;

    /// Nanoseconds per answer when so many are given one after another.
    fn pace(&self, answers: usize, seed: u64) -> f64;
}

/// Values in other cells, near and at the ends: time must not grow with them.
const VALUES: [f64; 4] = [-0.3, 0.6, 1e300, -7.25e17];

/// Vectors in the middle, in corners and with coordinates of all sizes.
const VECTORS: [[f64; 4]; 4] = [[0.0; 4], [1.0; 4], [-1.0; 4], [-0.3, 1e-300, 0.9, 1e300]];

/// Words drawn beforehand, so that making them is not timed.
struct Drawn {
    words: Vec<u64>,
    next: usize,
}

/// How many; a power of two, and more than are drawn in a run: answers that share words are not independent, and limits for
/// counts of them say too much.
const WORDS: usize = 1 << 22;

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        Self { words: (0..WORDS).map(|_| rng.next_u64()).collect(), next: 0 }
    }
}

impl TryRng for Drawn {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.next = (self.next + 1) & (WORDS - 1);
        Ok(self.words[self.next])
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.chunks_mut(8).try_for_each(|chunk| {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
            Ok(())
        })
    }
}

/// Everything that is timed at one level.
pub fn subjects(epsilon: Epsilon) -> Result<Vec<Subject>> {
    let response = |reports| Kernel::response(epsilon, reports);
    let threshold = FiniteChannel::new(Partition::Threshold(0.0), response(2)?)?;
    let periodic = |cells| FiniteChannel::new(Partition::Periodic { origin: 0.1, width: 0.3, cells }, response(cells)?);
    let many: Vec<f64> = (-150..150).map(|i| f64::from(i) / 100.0).collect();
    let union = Cuts::labelled(vec![-0.5, 0.5], vec![0, 1, 0])?;
    let union = FiniteChannel::new(Partition::Cuts(union), response(2)?)?;
    let labels = (0..=many.len() as u32).map(|i| i % 4).collect();
    let stripes = FiniteChannel::new(Partition::Cuts(Cuts::labelled(many.clone(), labels)?), response(4)?)?;
    let residues = Partition::Periodic { origin: 0.0, width: 1.0, cells: 4 };
    let dense = FiniteChannel::new(residues, Kernel::Dense(dense(epsilon)?))?;
    let categories = [0.0, 3.0, 6.0, 7.0];
    let range = Range::new(-1.0, 1.0)?;
    let (sign, residue) = (Sign::new(epsilon, 0.0)?, Residue::new(epsilon, 0.0, 0.5, 4)?);
    Ok(vec![
        on_values("sign", sign, VALUES),
        on_values("threshold channel", threshold.clone(), VALUES),
        on_values("interval, 3 reports", IntervalResponse::new(epsilon, vec![-0.48, 0.48])?, VALUES),
        on_values("interval, 301 reports", IntervalResponse::new(epsilon, many)?, VALUES),
        on_values("union of intervals", union, VALUES),
        on_values("300 stripes, 4 reports", stripes, VALUES),
        on_values("residue, 4 cells", residue.clone(), VALUES),
        on_values("residue, 5 cells", periodic(5)?, VALUES),
        on_values("dense, 4 x 4", dense.clone(), VALUES),
        on_values("randomised response, 8", RandomizedResponse::new(epsilon, 8)?, categories),
        on_values("duchi, one bit", Duchi::new(epsilon, range)?, [-1.0, -0.3, 1e-9, 1e300]),
        on_values("duchi of the square", Squared::new(Duchi::new(epsilon, Range::new(0.0, 1.0)?)?), VALUES),
        on_values("either, residue", Either::<_, Sign>::First(residue.clone()), VALUES),
        on_values("either, sign", Either::<Residue, _>::Second(sign), VALUES),
        on_kinds("mixed, residue", Mixed::First(residue.clone())),
        on_kinds("mixed, sign", Mixed::Second(sign)),
        on_sets("unary, 8", UnaryEncoding::new(epsilon, 8)?, categories),
        on_sets("subset selection, 8", SubsetSelection::new(epsilon, 8)?, categories),
        on_coordinate("coordinate sign, 2 of 4", CoordinateSign::new(1, sign)),
        on_vectors("duchi-linf, 3", DuchiLinf::new(epsilon, 3, 1.0)?),
        on_vectors("duchi-linf, 4", DuchiLinf::new(epsilon, 4, 1.0)?),
        on_wire("answer, threshold", &threshold, epsilon)?,
        on_wire("answer, residues", &periodic(4)?, epsilon)?,
        on_wire("answer, dense", &dense, epsilon)?,
        on_type("typed answer, residue", &residue, epsilon)?,
    ])
}

/// Each cell has the weights of a response over four, with what the lies next to it have less the others have more.
fn dense(epsilon: Epsilon) -> Result<Dense> {
    let kernel = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(epsilon, 4)?)?;
    let (truth, lie) = (kernel.weight(0, 0), kernel.weight(0, 1));
    let shade = lie / 16;
    let column = |cell: usize| {
        let mut column = vec![lie; 4];
        column[cell] = truth - 2 * shade;
        column[(cell + 1) % 4] += shade;
        column[(cell + 2) % 4] += shade;
        column
    };
    Dense::new((0..4).map(column).collect())
}

fn on_values<Q>(name: &'static str, question: Q, values: [f64; 4]) -> Subject
where
    Q: Mechanism<Input = f64, Report = u32> + 'static,
{
    let answer = move |value: &f64, rng: &mut Drawn| question.privatize(value, rng);
    subject(name, Vec::from(values), answer, |&report| report.into())
}

fn on_kinds(name: &'static str, question: Mixed<Residue, Sign>) -> Subject {
    let answer = move |value: &f64, rng: &mut Drawn| question.privatize(value, rng);
    subject(name, VALUES.into(), answer, |report| match report {
        &Either::First(report) | &Either::Second(report) => report.into(),
    })
}

fn on_coordinate(name: &'static str, question: CoordinateSign) -> Subject {
    let answer = move |vector: &Vec<f64>, rng: &mut Drawn| question.privatize(vector, rng);
    subject(name, VECTORS.map(Vec::from).into(), answer, |&report| report.into())
}

fn on_sets<Q>(name: &'static str, question: Q, categories: [f64; 4]) -> Subject
where
    Q: Mechanism<Input = f64, Report = CategorySet> + 'static,
{
    let answer = move |value: &f64, rng: &mut Drawn| question.privatize(value, rng);
    subject(name, Vec::from(categories), answer, |set| set.members().map(|v| 1 << v).sum())
}

fn on_vectors(name: &'static str, question: DuchiLinf) -> Subject {
    let answer = move |vector: &Vec<f64>, rng: &mut Drawn| question.privatize(vector, rng);
    let signs = |report: &Vec<f64>| report.iter().fold(0, |bits, z| bits << 1 | u64::from(*z > 0.0));
    subject(name, VECTORS.map(Vec::from).into(), answer, signs)
}

fn on_wire(name: &'static str, question: &FiniteChannel, cap: Epsilon) -> Result<Subject> {
    let text = wire::write("question", question)?;
    let answer = move |value: &f64, rng: &mut Drawn| wire::simulate_answer(&text, *value, cap, rng);
    Ok(subject(name, VALUES.into(), answer, |report| report.as_ref().map_or(u64::MAX, |&report| report.into())))
}

/// A client of a type of its own. It takes the generator for real data alone.
fn on_type(name: &'static str, question: &Residue, cap: Epsilon) -> Result<Subject> {
    let (text, rng) = (wire::publish_typed(question)?, RefCell::new(SystemRng::new()?));
    let answer =
        move |value: &f64, _: &mut Drawn| wire::answer_typed::<Residue>(&text, value, cap, &mut rng.borrow_mut());
    Ok(subject(name, VALUES.into(), answer, |report| report.as_ref().map_or(u64::MAX, |&report| report.into())))
}

fn subject<I: Clone + 'static, Z: 'static>(
    name: &'static str,
    inputs: Vec<I>,
    answer: impl Fn(&I, &mut Drawn) -> Z + 'static,
    number: fn(&Z) -> u64,
) -> Subject {
    Subject { name, inputs: inputs.len(), answers: Box::new(Asked { inputs, answer, number }) }
}

/// Values, how they are answered, and the number of a report.
struct Asked<I, Z, A> {
    inputs: Vec<I>,
    answer: A,
    number: fn(&Z) -> u64,
}

impl<I, Z, A> Asked<I, Z, A> {
    fn order(&self, answers: usize, seed: u64) -> Vec<usize> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..answers).map(|_| rng.random_range(0..self.inputs.len())).collect()
    }
}

impl<I: Clone, Z, A: Fn(&I, &mut Drawn) -> Z> Answers for Asked<I, Z, A> {
    fn time(&self, answers: usize, seed: u64) -> Vec<Seen> {
        let mut noise = Drawn::new(seed);
        // Every value is asked about at the same place in memory: where it lies is no part of it.
        let mut held = self.inputs[0].clone();
        let each = self.order(answers, seed).into_iter().map(|input| {
            held.clone_from(&self.inputs[input]);
            let value = black_box(&held);
            let before = cycles();
            let report = black_box((self.answer)(value, &mut noise));
            let cycles = cycles() - before;
            Seen { input, report: (self.number)(&report), cycles }
        });
        each.collect()
    }

    fn pace(&self, answers: usize, seed: u64) -> f64 {
        let (mut noise, order) = (Drawn::new(seed), self.order(answers, seed));
        let start = Instant::now();
        for input in order {
            black_box((self.answer)(black_box(&self.inputs[input]), &mut noise));
        }
        start.elapsed().as_secs_f64() * 1e9 / answers.max(1) as f64
    }
}
