//! Errors in words.

use super::Error;
use std::fmt;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epsilon { value } => write!(f, "epsilon must be positive and finite, got {}", Short(*value)),
            Self::EpsilonTooSmall { value, reports } => {
                write!(
                    f,
                    "epsilon {} is too small for {reports} reports: with weights in units of 2^-64 every report is equally likely",
                    Short(*value)
                )
            }
            Self::AboveCap { epsilon, cap } => {
                write!(f, "the question has epsilon {}, above the client's cap of {}", Short(*epsilon), Short(*cap))
            }
            Self::Parameter { name, requirement, value } => {
                write!(f, "{name} must be {requirement}, got {}", Short(*value))
            }
            Self::TooFew { name, least, value } => write!(f, "{name} must be at least {least}, got {value}"),
            Self::TooMany { name, most, value } => write!(f, "{name} must be at most {most}, got {value}"),
            Self::CutsNotIncreasing { left, right } => {
                write!(f, "cuts must be finite and strictly increasing, got {} before {}", Short(*left), Short(*right))
            }
            Self::Length { what, expected, found } => write!(f, "expected {expected} {what}, got {found}"),
            Self::ZeroWeight { cell, report } => {
                write!(f, "the weight of report {report} in cell {cell} must be at least 1, got 0")
            }
            Self::Weights { cell, sum } => write!(f, "the weights of cell {cell} must add up to 2^64, got {sum}"),
            Self::Uninformative => {
                write!(f, "every cell has the same weights: the report would say nothing about the value")
            }
            Self::Report { report, reports } => {
                write!(f, "report {report} is impossible: the question has reports 0..{reports}")
            }
            Self::RealReport { report, limit } => {
                write!(f, "report must be finite and at most {limit} in absolute value, got {}", Short(*report))
            }
            Self::TallyOverflow { users, times } => {
                write!(f, "the tally overflows: {users} users cannot take {times} more reports")
            }
            Self::TallyAlphabet { expected, found } => {
                write!(f, "a tally over {found} reports does not fit a question with {expected}")
            }
            Self::TallyCount { expected, found } => write!(f, "the round has {expected} groups, got {found} tallies"),
            Self::TooManyAnswers { asked, answered } => {
                write!(f, "a group of {asked} users cannot have {answered} answers")
            }
            Self::RoundSize { asked, left } => {
                write!(f, "a round must ask between 1 and the {left} users left, got {asked}")
            }
            Self::Inconsistent { what, count, limit } => write!(f, "{what}: {count} is larger than {limit}"),
            other => other.fmt_others(f),
        }
    }
}

impl Error {
    /// Errors that are not about a parameter, a report or a round.
    fn fmt_others(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coarse { theta, apart, lost, most } => {
                write!(
                    f,
                    "theta {} is too far from zero for the cuts of the mechanism: numbers there are {} apart, and rounding to them would \
         change its information by a part of {lost:.1e}, more than {most:e}",
                    Short(*theta),
                    Short(*apart)
                )
            }
            Self::NotRegular { theta, mean_score } => write!(
                f,
                "the family is not regular at theta {}: its score has mean {} instead of 0",
                Short(*theta),
                Short(*mean_score)
            ),
            Self::NotIdentified { low, high } => write!(
                f,
                "the reports do not identify theta: at {} and at {} they have the same law, or nearly",
                Short(*low),
                Short(*high)
            ),
            Self::Integral { what, value, error } => write!(
                f,
                "{what} is infinite or could not be computed: the integral reached {} with an error of {}",
                Short(*value),
                Short(*error)
            ),
            Self::Unsettled { what, value, error } => {
                write!(f, "{what} did not settle: it reached {} with an error of {}", Short(*value), Short(*error))
            }
            Self::Sum { what, expected, found } => {
                write!(f, "{what} must add up to {}, got {}", Short(*expected), Short(*found))
            }
            Self::Refused { inequality, left, right } => write!(
                f,
                "the certificate is refused: {inequality} does not hold, the left side is {}, the right side {}",
                Short(*left),
                Short(*right)
            ),
            Self::Changed { field, claimed, recomputed } => write!(
                f,
                "the certificate is refused: {field} is {} in it, and {} when it is recomputed",
                Short(*claimed),
                Short(*recomputed)
            ),
            Self::WireVersion { found, supported } => {
                write!(f, "wire version {found} is not understood, this library speaks {supported}")
            }
            Self::Json { what, source } => write!(f, "malformed {what}: {source}"),
            Self::NoInterval { kind, reason } => write!(f, "no {kind} interval: {reason}"),
            Self::Unsupported { what, needs } => write!(f, "{what} needs {needs}"),
            Self::SystemRandomness { source } => write!(f, "the system's random generator failed: {source}"),
            Self::Source(source) => write!(f, "{source}"),
            // Its name and its numbers, should it have no words yet.
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json { source, .. } => Some(source),
            Self::SystemRandomness { source } => Some(source),
            Self::Source(source) => source.source(),
            _ => None,
        }
    }
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
