//! A protocol between processes: every message is JSON.
//!
//! The analyst publishes a question. A mechanism that is [`Publish`] goes out as a [`FiniteChannel`], and a client calls
//! [`answer`], the one function it needs for every finite mechanism there is or will be. Any other question goes out
//! as its own JSON ([`publish_typed`]), and a client that knows its type calls [`answer_typed`]. Collectors keep
//! tallies; the server keeps the [`Step`]. [`run`] and [`run_typed`] play all parts and send every message through
//! JSON.
//!
//! ```
//! use ldp_core::{Epsilon, Error, SystemRng, wire};
//! let question = r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#;
//! let mut rng = SystemRng::new()?;
//! let report = wire::answer(question, 0.7, Epsilon::new(1.0)?, &mut rng)?;
//! assert!(report < 2);
//! // A client that accepts at most ε = 0.5 does not answer.
//! let refused = wire::answer(question, 0.7, Epsilon::new(0.5)?, &mut rng);
//! assert!(matches!(refused, Err(Error::AboveCap { .. })));
//! # Ok::<(), ldp_core::Error>(())
//! ```

use crate::channel::FiniteChannel;
use crate::drive::{Users, Vectors};
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, Publish, assert_exact};
use crate::model::Draw;
use crate::seed::SimulationRng;
use crate::staged::{Round, StagedEstimator, Step, StepOf, advance_checked};
use crate::system::SystemRng;
use crate::tally::Tally;
use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the published question. Another family of questions is another version.
pub const VERSION: u32 = 1;

/// The client: reads a question, computes its ε from its integer weights, refuses it above `cap`, and answers.
///
/// The report's JSON is the number itself. Every value has an answer, infinities and NaN too: an error would tell. All of
/// them take the same time, whether the report is true or not.
pub fn answer(question: &str, value: f64, cap: Epsilon, rng: &mut SystemRng) -> Result<u32> {
    simulate_answer(question, value, cap, rng)
}

/// [`answer`] about a simulated value, with the words of any generator.
///
/// ```
/// use ldp_core::{Epsilon, wire};
/// use rand::{SeedableRng, rngs::ChaCha12Rng};
/// let question = r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#;
/// let mut same = || wire::simulate_answer(question, 0.7, Epsilon::new(1.0)?, &mut ChaCha12Rng::seed_from_u64(1));
/// assert_eq!(same()?, same()?);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn simulate_answer<R: Rng + ?Sized>(question: &str, value: f64, cap: Epsilon, rng: &mut R) -> Result<u32> {
    reply(&read_channel(question)?, &value, cap, rng)
}

/// A question of any type as it is published: its own JSON beside the wire version.
///
/// See [`answer_typed`] for the other side.
pub fn publish_typed<Q: Serialize>(question: &Q) -> Result<String> {
    write("question", &Envelope { wire: Version, question })
}

/// The client of questions that are not a [`FiniteChannel`]: reads one as its own type, computes its ε from its own
/// numbers, refuses it above `cap`, and answers.
///
/// Deserialising is constructing, so a tampered question is refused before it is asked. A mechanism whose sampler is
/// idealised is refused when the program is compiled, whatever the question: a value given here is real.
///
/// ```
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, SystemRng, wire};
/// let cap = Epsilon::new(1.0)?;
/// let text = wire::publish_typed(&FiniteChannel::new(Partition::Threshold(0.5), Kernel::response(cap, 2)?)?)?;
/// assert!(text.starts_with(r#"{"wire":1,"question":{"#));
/// let mut rng = SystemRng::new()?;
/// assert!(wire::answer_typed::<FiniteChannel>(&text, &0.7, cap, &mut rng)? < 2);
/// // Another version is not understood.
/// let other = text.replacen(r#""wire":1"#, r#""wire":2"#, 1);
/// assert!(wire::answer_typed::<FiniteChannel>(&other, &0.7, cap, &mut rng).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn answer_typed<Q>(question: &str, value: &Q::Input, cap: Epsilon, rng: &mut SystemRng) -> Result<Q::Report>
where
    Q: Mechanism + DeserializeOwned,
{
    const { assert_exact::<Q>() };
    reply(&read_typed::<Q>(question)?, value, cap, rng)
}

/// The part of a client that is the same for all questions, and for any generator: a simulation's users take their
/// words from its own streams.
fn reply<Q, R>(question: &Q, value: &Q::Input, cap: Epsilon, rng: &mut R) -> Result<Q::Report>
where
    Q: Mechanism,
    R: Rng + ?Sized,
{
    let epsilon = question.epsilon();
    if epsilon > cap {
        return Err(Error::AboveCap { epsilon: epsilon.value(), cap: cap.value() });
    }
    Ok(question.privatize(value, rng))
}

fn read_channel(text: &str) -> Result<FiniteChannel> {
    parse("question", text)
}

fn read_typed<Q: DeserializeOwned>(text: &str) -> Result<Q> {
    Ok(parse::<Envelope<Q>>("question", text)?.question)
}

/// A question beside the wire version, which comes first: of another version nothing further is read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<Q> {
    wire: Version,
    question: Q,
}

/// The version that this library speaks; no other can be read.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct Version;

impl TryFrom<u32> for Version {
    type Error = Error;
    fn try_from(found: u32) -> Result<Self> {
        if found == VERSION { Ok(Self) } else { Err(Error::WireVersion { found, supported: VERSION }) }
    }
}

impl From<Version> for u32 {
    fn from(Version: Version) -> Self {
        VERSION
    }
}

/// Reads a message; `what` names it in the error.
pub fn parse<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|source| Error::Json { what, source })
}

/// Writes a message.
pub fn write<T: Serialize + ?Sized>(what: &'static str, message: &T) -> Result<String> {
    serde_json::to_string(message).map_err(|source| Error::Json { what, source })
}

/// Simulated users one by one, for a run over the wire: `f64` values, or `[f64]` for vectors.
pub trait Source<I: ?Sized> {
    /// Calls `with` once, with the next user's value and the generator that its report takes its words from.
    fn next(&mut self, with: &mut dyn FnMut(&I, &mut SimulationRng) -> Result<()>) -> Result<()>;
}

impl<M: Draw + ?Sized> Source<f64> for Users<'_, M> {
    fn next(&mut self, with: &mut dyn FnMut(&f64, &mut SimulationRng) -> Result<()>) -> Result<()> {
        let (value, noise) = self.next_user()?;
        with(&value, noise)
    }
}

impl<M: Draw + ?Sized> Source<[f64]> for Vectors<'_, M> {
    fn next(&mut self, with: &mut dyn FnMut(&[f64], &mut SimulationRng) -> Result<()>) -> Result<()> {
        let (vector, noise) = self.next_user()?;
        with(vector, noise)
    }
}

impl<I: ?Sized, S: Source<I> + ?Sized> Source<I> for &mut S {
    fn next(&mut self, with: &mut dyn FnMut(&I, &mut SimulationRng) -> Result<()>) -> Result<()> {
        (**self).next(with)
    }
}

/// Runs a protocol on simulated users with every step, question, report and tally sent through JSON.
///
/// Bit-equal to [`run`](crate::run) over the same [`Users`], one by one. Clients refuse questions above `cap`.
pub fn run<E, M>(estimator: &E, users: u64, population: &mut Users<'_, M>, cap: Epsilon) -> Result<E::Estimate>
where
    E: StagedEstimator<Question: Publish + Serialize + DeserializeOwned> + ?Sized,
    E::Tally: Tally<Report = u32> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned,
    M: Draw + ?Sized,
{
    drive(
        estimator,
        users,
        population,
        |question| write("question", &question.publish()),
        |question, value, noise| reply(&read_channel(question)?, value, cap, noise),
    )
}

/// [`run`] for questions of any type: they go out as [`publish_typed`] writes them, and clients read them as
/// [`answer_typed`] does, save that simulated values may be answered by an idealised sampler.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_core::drive::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, run, wire};
/// let level = Epsilon::new(1.0)?;
/// let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(level, 2)?)?;
/// let (dummy, model) = (Dummy::asking(&question, &[&[10], &[20, 30]]), Gaussian::new(1.0)?);
/// let wired = wire::run_typed(&dummy, 60, &mut Users::new(&model, 0.0, 60, 1)?, level)?;
/// assert_eq!(wired, run(&dummy, 60, &mut Users::new(&model, 0.0, 60, 1)?)?);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn run_typed<E, S>(estimator: &E, users: u64, population: &mut S, cap: Epsilon) -> Result<E::Estimate>
where
    E: StagedEstimator<Question: Serialize + DeserializeOwned> + ?Sized,
    <E::Question as Mechanism>::Report: Serialize + DeserializeOwned,
    E::Tally: Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned,
    S: Source<<E::Question as Mechanism>::Input> + ?Sized,
{
    drive(estimator, users, population, publish_typed, |question, value, noise| {
        reply(&read_typed::<E::Question>(question)?, value, cap, noise)
    })
}

/// The loop over rounds on the wire. `publish` turns a question into text, `answer` is the client that reads it.
fn drive<E, S, I, Z>(
    estimator: &E,
    users: u64,
    population: &mut S,
    publish: impl Fn(&E::Question) -> Result<String>,
    answer: impl Fn(&str, &I, &mut SimulationRng) -> Result<Z>,
) -> Result<E::Estimate>
where
    E: StagedEstimator<Question: Mechanism<Input = I, Report = Z> + Serialize + DeserializeOwned> + ?Sized,
    E::Tally: Tally<Report = Z> + Serialize + DeserializeOwned,
    E::State: Serialize + DeserializeOwned,
    E::Estimate: Serialize + DeserializeOwned,
    S: Source<I> + ?Sized,
    I: ?Sized,
    Z: Serialize + DeserializeOwned,
{
    let mut left = users;
    let mut step = write("step", &estimator.begin(users)?)?;
    loop {
        let (round, state): (Round<E::Question>, E::State) = match parse::<StepOf<E>>("step", &step)? {
            Step::Done(estimate) => return Ok(estimate),
            Step::Ask { round, state } => (round, state),
        };
        left = round.left_after(left)?;
        let mut tallies = Vec::new();
        for group in round.groups() {
            let question = publish(&group.question)?;
            let mut tally = estimator.tally(&group.question);
            for _ in 0..group.users {
                population.next(&mut |value, noise| {
                    let report = write("report", &answer(&question, value, noise)?)?;
                    tally.push(parse("report", &report)?, 1)
                })?;
            }
            tallies.push(tally);
        }
        let tallies = parse("tallies", &write("tallies", &tallies)?)?;
        step = write("step", &advance_checked(estimator, &round, state, tallies)?)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Partition};

    fn question() -> FiniteChannel {
        let kernel = Kernel::response(Epsilon::new(1.0).unwrap(), 2).unwrap();
        FiniteChannel::new(Partition::Threshold(0.5), kernel).unwrap()
    }

    #[test]
    fn a_typed_client_refuses_what_it_must() {
        let (cap, mut rng) = (Epsilon::new(1.0).unwrap(), SystemRng::new().unwrap());
        let good = publish_typed(&question()).unwrap();
        let mut ask = |text: &str, cap| answer_typed::<FiniteChannel>(text, &0.7, cap, &mut rng);
        assert!(ask(&good, cap).is_ok());
        assert!(matches!(ask(&good, Epsilon::new(0.5).unwrap()), Err(Error::AboveCap { .. })));
        for (from, to, word) in [
            (r#"{"wire":1,"question""#, r#"{"wire":2,"question""#, "wire version 2"),
            (r#"{"wire":1,"question""#, r#"{"question""#, "missing field"),
            (r#"{"wire":1,"question""#, r#"{"wire":1,"more":0,"question""#, "unknown field"),
            // What the constructor checks is checked here too.
            (r#""reports":2"#, r#""reports":1"#, "reports"),
            ("}}}}", "}}}", "EOF"),
        ] {
            assert!(good.contains(from), "{from}");
            let error = ask(&good.replacen(from, to, 1), cap).unwrap_err().to_string();
            assert!(error.starts_with("malformed question") && error.contains(word), "{to}: {error}");
        }
    }

    #[test]
    fn of_another_version_nothing_further_is_read() {
        let error = read_typed::<FiniteChannel>(r#"{"wire":7,"question":{"a form":"to come"}}"#).unwrap_err();
        assert!(error.to_string().contains("wire version 7"), "{error}");
    }
}
