//! The one error type of the workspace's libraries.
//!
//! Every variant carries the offending value and names the limit it broke, so that the message alone
//! is enough to mend the input.

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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A privacy level that is not a positive finite number.
    #[error("epsilon must be positive and finite, got {}", Short(*value))]
    Epsilon {
        /// The level given.
        value: f64,
    },
    /// A privacy level so small that, in integer weights, every report is equally likely.
    #[error(
        "epsilon {} is too small for {reports} reports: with weights in units of 2^-64 every report is equally likely",
        Short(*value)
    )]
    EpsilonTooSmall {
        /// The level given.
        value: f64,
        /// The number of reports of the channel.
        reports: u32,
    },
    /// A question whose computed privacy level is above what the client accepts.
    #[error("the question has epsilon {}, above the client's cap of {}", Short(*epsilon), Short(*cap))]
    AboveCap {
        /// The level computed from the question's own weights.
        epsilon: f64,
        /// The client's own limit.
        cap: f64,
    },
    /// A real-valued parameter outside its domain.
    #[error("{name} must be {requirement}, got {}", Short(*value))]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// What it has to satisfy.
        requirement: &'static str,
        /// The value given.
        value: f64,
    },
    /// A count outside its domain.
    #[error("{name} must be at least {least}, got {value}")]
    TooFew {
        /// What is counted.
        name: &'static str,
        /// The smallest allowed value.
        least: u64,
        /// The value given.
        value: u64,
    },
    /// A count outside its domain.
    #[error("{name} must be at most {most}, got {value}")]
    TooMany {
        /// What is counted.
        name: &'static str,
        /// The largest allowed value.
        most: u64,
        /// The value given.
        value: u64,
    },
    /// Cut points that do not increase.
    #[error("cuts must be finite and strictly increasing, got {} before {}", Short(*left), Short(*right))]
    CutsNotIncreasing {
        /// A cut.
        left: f64,
        /// The cut after it.
        right: f64,
    },
    /// A list of another length than its companion needs.
    #[error("expected {expected} {what}, got {found}")]
    Length {
        /// What is listed.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A report that one cell excludes: it would rule that cell out.
    #[error("the weight of report {report} in cell {cell} must be at least 1, got 0")]
    ZeroWeight {
        /// The cell.
        cell: usize,
        /// The report.
        report: usize,
    },
    /// The weights of one cell do not add up to 2^64.
    #[error("the weights of cell {cell} must add up to 2^64, got {sum}")]
    Weights {
        /// The cell.
        cell: usize,
        /// What they add up to.
        sum: u128,
    },
    /// A channel in which the report does not depend on the value.
    #[error("every cell has the same weights: the report would say nothing about the value")]
    Uninformative,
    /// A report that the question cannot produce.
    #[error("report {report} is impossible: the question has reports 0..{reports}")]
    Report {
        /// The report found.
        report: u32,
        /// How many the question has.
        reports: u32,
    },
    /// A real-valued report that the tally cannot hold.
    #[error("report must be finite and at most {limit} in absolute value, got {}", Short(*report))]
    RealReport {
        /// The report found.
        report: f64,
        /// The largest allowed absolute value.
        limit: f64,
    },
    /// A tally that would count past the range of its integers.
    #[error("the tally overflows: {users} users cannot take {times} more reports")]
    TallyOverflow {
        /// Users counted so far.
        users: u64,
        /// Reports to be added.
        times: u64,
    },
    /// A parameter so far from zero that numbers beside it are too far apart for the cuts of a mechanism.
    #[error(
        "theta {} is too far from zero for the cuts of the mechanism: numbers there are {} apart, and rounding to them would \
         change its information by a part of {lost:.1e}, more than {most:e}",
        Short(*theta), Short(*apart)
    )]
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
    #[error("the family is not regular at theta {}: its score has mean {} instead of 0", Short(*theta), Short(*mean_score))]
    NotRegular {
        /// The parameter.
        theta: f64,
        /// The mean of the score.
        mean_score: f64,
    },
    /// Reports that do not tell two parameters apart.
    #[error("the reports do not identify theta: at {} and at {} they have the same law, or nearly", Short(*low), Short(*high))]
    NotIdentified {
        /// A parameter.
        low: f64,
        /// Another one with the same law of reports.
        high: f64,
    },
    /// An integral that is infinite, or that did not settle.
    #[error("{what} is infinite or could not be computed: the integral reached {} with an error of {}", Short(*value), Short(*error))]
    Integral {
        /// What was integrated.
        what: &'static str,
        /// The value it had reached.
        value: f64,
        /// The error estimated for it.
        error: f64,
    },
    /// An iteration that did not settle within its limits, or that rounding has spoiled.
    #[error("{what} did not settle: it reached {} with an error of {}", Short(*value), Short(*error))]
    Unsettled {
        /// What was sought.
        what: &'static str,
        /// The value it had reached.
        value: f64,
        /// The error estimated for it.
        error: f64,
    },
    /// Numbers that must add up to something else.
    #[error("{what} must add up to {}, got {}", Short(*expected), Short(*found))]
    Sum {
        /// What is added up.
        what: &'static str,
        /// What it must add up to.
        expected: f64,
        /// What it adds up to.
        found: f64,
    },
    /// A certificate that does not prove what it claims.
    #[error("the certificate is refused: {inequality} does not hold, the left side is {}, the right side {}", Short(*left), Short(*right))]
    Refused {
        /// What should hold.
        inequality: &'static str,
        /// Its left side, as found.
        left: f64,
        /// Its right side, as found.
        right: f64,
    },
    /// A certificate in which a number is not what it is when it is worked out again.
    #[error("the certificate is refused: {field} is {} in it, and {} when it is recomputed", Short(*claimed), Short(*recomputed))]
    Changed {
        /// Where the number stands.
        field: &'static str,
        /// What it is there.
        claimed: f64,
        /// What it should be.
        recomputed: f64,
    },
    /// Tallies of questions with different alphabets.
    #[error("a tally over {found} reports does not fit a question with {expected}")]
    TallyAlphabet {
        /// What the question has.
        expected: usize,
        /// What the tally has.
        found: usize,
    },
    /// Another number of tallies than the round has questions.
    #[error("the round has {expected} groups, got {found} tallies")]
    TallyCount {
        /// Groups in the round.
        expected: usize,
        /// Tallies given.
        found: usize,
    },
    /// A tally with more users than were asked.
    #[error("a group of {asked} users cannot have {answered} answers")]
    TooManyAnswers {
        /// Users in the group.
        asked: u64,
        /// Users in the tally.
        answered: u64,
    },
    /// A round that asks for more users than are left, or for none.
    #[error("a round must ask between 1 and the {left} users left, got {asked}")]
    RoundSize {
        /// Users the round asks for.
        asked: u64,
        /// Users that have not answered yet.
        left: u64,
    },
    /// A state or an estimate whose numbers contradict each other.
    #[error("{what}: {count} is larger than {limit}")]
    Inconsistent {
        /// What was read.
        what: &'static str,
        /// The number that is too large.
        count: u64,
        /// What it may be at most.
        limit: u64,
    },
    /// A message of another version of the wire format.
    #[error("wire version {found} is not understood, this library speaks {supported}")]
    WireVersion {
        /// The version found.
        found: u32,
        /// The version understood.
        supported: u32,
    },
    /// Text that is not the JSON it should be.
    #[error("malformed {what}: {source}")]
    Json {
        /// What was to be read.
        what: &'static str,
        /// Where and why reading stopped.
        source: serde_json::Error,
    },
    /// An estimate that has no interval of the wanted kind.
    #[error("no {kind} interval: {reason}")]
    NoInterval {
        /// The kind wanted.
        kind: crate::IntervalKind,
        /// Why there is none.
        reason: &'static str,
    },
    /// Something a model, mechanism or estimator cannot do.
    #[error("{what} needs {needs}")]
    Unsupported {
        /// What was wanted.
        what: &'static str,
        /// The missing capability, and what to use instead.
        needs: &'static str,
    },
    /// The operating system has no random numbers to give.
    #[error("the system's random generator failed: {source}")]
    SystemRandomness {
        /// What the system said.
        source: rand::rngs::SysError,
    },
    /// The source of the users' values failed.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
}

/// A number as people write it: not with three hundred digits.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-6..1e16).contains(&size) || !size.is_finite() {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
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
