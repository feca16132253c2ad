//! A protocol between processes: every message is JSON.
//!
//! The analyst publishes a question. A mechanism that is [`Publish`](crate::Publish) goes out as a [`FiniteChannel`], and a client calls
//! [`answer`], the one function it needs for every finite mechanism there is or will be. Any other question goes out
//! as its own JSON ([`publish_typed`]), and a client that knows its type calls [`answer_typed`]. Collectors keep
//! tallies; the server keeps the [`Step`](crate::Step).
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
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, assert_exact};
use crate::system::SystemRng;
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

/// [`answer_typed`] about a simulated value, with the words of any generator; an idealised sampler may answer too.
pub fn simulate_answer_typed<Q, R>(question: &str, value: &Q::Input, cap: Epsilon, rng: &mut R) -> Result<Q::Report>
where
    Q: Mechanism + DeserializeOwned,
    R: Rng + ?Sized,
{
    reply(&read_typed::<Q>(question)?, value, cap, rng)
}

/// The part of a client that is the same for all questions and for any generator.
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
