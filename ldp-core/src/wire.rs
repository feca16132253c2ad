//! A protocol between processes: every message is JSON.
//!
//! The analyst publishes a question, a [`FiniteChannel`] in JSON. A client calls [`answer`], the one function it
//! needs for every finite mechanism there is or will be. Collectors keep tallies; the server keeps the
//! [`Step`]. [`run`] plays all parts and sends every message through JSON.
//!
//! ```
//! use ldp_core::{Epsilon, Error, wire};
//! use rand::{SeedableRng, rngs::ChaCha12Rng, rngs::SysRng};
//! let question = r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#;
//! let mut rng = ChaCha12Rng::try_from_rng(&mut SysRng).unwrap();
//! let report = wire::answer(question, 0.7, Epsilon::new(1.0)?, &mut rng)?;
//! assert!(report < 2);
//! // A client that accepts at most ε = 0.5 does not answer.
//! let refused = wire::answer(question, 0.7, Epsilon::new(0.5)?, &mut rng);
//! assert!(matches!(refused, Err(Error::AboveCap { .. })));
//! # Ok::<(), ldp_core::Error>(())
//! ```

use crate::channel::FiniteChannel;
use crate::drive::Users;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, Publish};
use crate::model::Draw;
use crate::staged::{Round, StagedEstimator, Step, StepOf, advance_checked};
use crate::tally::Tally;
use rand::{CryptoRng, Rng};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the published question. Another family of questions is another version.
pub const VERSION: u32 = 1;

/// The client: reads a question, computes its ε from its integer weights, refuses it above `cap`, and answers.
///
/// The report's JSON is the number itself. Every value has an answer, infinities and NaN too: an error would tell.
pub fn answer<R: CryptoRng + ?Sized>(question: &str, value: f64, cap: Epsilon, rng: &mut R) -> Result<u32> {
    reply(question, value, cap, rng)
}

/// [`answer`] for any generator: a simulation's users take their words from its own streams.
fn reply<R: Rng + ?Sized>(question: &str, value: f64, cap: Epsilon, rng: &mut R) -> Result<u32> {
    let question: FiniteChannel = parse("question", question)?;
    let epsilon = question.epsilon();
    if epsilon > cap {
        return Err(Error::AboveCap { epsilon: epsilon.value(), cap: cap.value() });
    }
    Ok(question.privatize(&value, rng))
}

/// Reads a message; `what` names it in the error.
pub fn parse<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|source| Error::Json { what, source })
}

/// Writes a message.
pub fn write<T: Serialize + ?Sized>(what: &'static str, message: &T) -> Result<String> {
    serde_json::to_string(message).map_err(|source| Error::Json { what, source })
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
            let question = write("question", &group.question.publish())?;
            let mut tally = estimator.tally(&group.question);
            for _ in 0..group.users {
                let (value, noise) = population.next_user()?;
                let report = write("report", &reply(&question, value, cap, noise)?)?;
                tally.push(parse("report", &report)?, 1)?;
            }
            tallies.push(tally);
        }
        let tallies = parse("tallies", &write("tallies", &tallies)?)?;
        step = write("step", &advance_checked(estimator, &round, state, tallies)?)?;
    }
}
