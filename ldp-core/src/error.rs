//! The one error type of the workspace's libraries.
//!
//! Every variant carries the offending value and names the limit it broke, so that the message alone
//! is enough to mend the input.

mod display;

/// A `Result` with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong in a library call. No variant depends on a private value.
///
/// ```
/// use ldp_core::{Epsilon, Error};
/// let error = Epsilon::new(-1.0).unwrap_err();
/// assert!(matches!(error, Error::Epsilon { value } if value == -1.0));
/// assert_eq!(error.to_string(), "epsilon must be positive and finite, got -1");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A privacy level that is not a positive finite number.
    Epsilon {
        /// The level given.
        value: f64,
    },
    /// A privacy level so small that, in integer weights, every report is equally likely.
    EpsilonTooSmall {
        /// The level given.
        value: f64,
        /// The number of reports of the channel.
        reports: u32,
    },
    /// A question whose computed privacy level is above what the client accepts.
    AboveCap {
        /// The level computed from the question's own weights.
        epsilon: f64,
        /// The client's own limit.
        cap: f64,
    },
    /// A real-valued parameter outside its domain.
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// What it has to satisfy.
        requirement: &'static str,
        /// The value given.
        value: f64,
    },
    /// A count outside its domain.
    TooFew {
        /// What is counted.
        name: &'static str,
        /// The smallest allowed value.
        least: u64,
        /// The value given.
        value: u64,
    },
    /// A count outside its domain.
    TooMany {
        /// What is counted.
        name: &'static str,
        /// The largest allowed value.
        most: u64,
        /// The value given.
        value: u64,
    },
    /// Cut points that do not increase.
    CutsNotIncreasing {
        /// A cut.
        left: f64,
        /// The cut after it.
        right: f64,
    },
    /// A list of another length than its companion needs.
    Length {
        /// What is listed.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A report that one cell excludes: it would rule that cell out.
    ZeroWeight {
        /// The cell.
        cell: usize,
        /// The report.
        report: usize,
    },
    /// The weights of one cell do not add up to 2^64.
    Weights {
        /// The cell.
        cell: usize,
        /// What they add up to.
        sum: u128,
    },
    /// A channel in which the report does not depend on the value.
    Uninformative,
    /// A report that the question cannot produce.
    Report {
        /// The report found.
        report: u32,
        /// How many the question has.
        reports: u32,
    },
    /// A real-valued report that the tally cannot hold.
    RealReport {
        /// The report found.
        report: f64,
        /// The largest allowed absolute value.
        limit: f64,
    },
    /// A tally that would count past the range of its integers.
    TallyOverflow {
        /// Users counted so far.
        users: u64,
        /// Reports to be added.
        times: u64,
    },
    /// A parameter so far from zero that numbers beside it are too far apart for the cuts of a mechanism.
    Coarse {
        /// The parameter.
        theta: f64,
        /// How far it is to the next number.
        apart: f64,
        /// What rounding costs, relative to the information; 1 where nothing is left between two cuts.
        lost: f64,
        /// What it may cost.
        most: f64,
    },
    /// A family whose score does not average to zero: it has no Fisher information in the usual sense.
    NotRegular {
        /// The parameter.
        theta: f64,
        /// The mean of the score.
        mean_score: f64,
    },
    /// Reports that do not tell two parameters apart.
    NotIdentified {
        /// A parameter.
        low: f64,
        /// Another one with the same law of reports.
        high: f64,
    },
    /// An integral that is infinite, or that did not settle.
    Integral {
        /// What was integrated.
        what: &'static str,
        /// The value it had reached.
        value: f64,
        /// The error estimated for it.
        error: f64,
    },
    /// An iteration that did not settle within its limits, or that rounding has spoiled.
    Unsettled {
        /// What was sought.
        what: &'static str,
        /// The value it had reached.
        value: f64,
        /// The error estimated for it.
        error: f64,
    },
    /// Numbers that must add up to something else.
    Sum {
        /// What is added up.
        what: &'static str,
        /// What it must add up to.
        expected: f64,
        /// What it adds up to.
        found: f64,
    },
    /// A certificate that does not prove what it claims.
    Refused {
        /// What should hold.
        inequality: &'static str,
        /// Its left side, as found.
        left: f64,
        /// Its right side, as found.
        right: f64,
    },
    /// A certificate in which a number is not what it is when it is worked out again.
    Changed {
        /// Where the number stands.
        field: &'static str,
        /// What it is there.
        claimed: f64,
        /// What it should be.
        recomputed: f64,
    },
    /// Tallies of questions with different alphabets.
    TallyAlphabet {
        /// What the question has.
        expected: usize,
        /// What the tally has.
        found: usize,
    },
    /// Another number of tallies than the round has questions.
    TallyCount {
        /// Groups in the round.
        expected: usize,
        /// Tallies given.
        found: usize,
    },
    /// A tally with more users than were asked.
    TooManyAnswers {
        /// Users in the group.
        asked: u64,
        /// Users in the tally.
        answered: u64,
    },
    /// A round that asks for more users than are left, or for none.
    RoundSize {
        /// Users the round asks for.
        asked: u64,
        /// Users that have not answered yet.
        left: u64,
    },
    /// A state or an estimate whose numbers contradict each other.
    Inconsistent {
        /// What was read.
        what: &'static str,
        /// The number that is too large.
        count: u64,
        /// What it may be at most.
        limit: u64,
    },
    /// A message of another version of the wire format.
    WireVersion {
        /// The version found.
        found: u32,
        /// The version understood.
        supported: u32,
    },
    /// Text that is not the JSON it should be.
    Json {
        /// What was to be read.
        what: &'static str,
        /// Where and why reading stopped.
        source: serde_json::Error,
    },
    /// An estimate that has no interval of the wanted kind.
    NoInterval {
        /// The kind wanted.
        kind: crate::IntervalKind,
        /// Why there is none.
        reason: &'static str,
    },
    /// Something a model, mechanism or estimator cannot do.
    Unsupported {
        /// What was wanted.
        what: &'static str,
        /// The missing capability, and what to use instead.
        needs: &'static str,
    },
    /// The operating system has no random numbers to give.
    SystemRandomness {
        /// What the system said.
        source: rand::rngs::SysError,
    },
    /// The source of the users' values failed.
    Source(Box<dyn std::error::Error + Send + Sync>),
}

/// `Ok` if `holds`, else an [`Error::Parameter`] with these words. Write the condition so that NaN fails it.
pub fn require(holds: bool, name: &'static str, requirement: &'static str, value: f64) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Parameter { name, requirement, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_has_hundreds_of_digits() {
        let (small, large) = (5e-324, 6e278);
        let name = "start";
        for error in [
            Error::EpsilonTooSmall { value: small, reports: 2 },
            Error::AboveCap { epsilon: large, cap: small },
            Error::Sum { what: "masses", expected: small, found: large },
            Error::Parameter { name, requirement: "finite", value: large },
            Error::CutsNotIncreasing { left: small, right: -large },
            Error::Coarse { theta: large, apart: large, lost: small, most: 1e-9 },
        ] {
            let text = error.to_string();
            assert!(text.len() < 250 && !text.contains("000000"), "{text}");
        }
    }
}
