//! One of two questions whose reports are of different kinds.

use crate::either::Either;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, Numerics};
use crate::tally::Tally;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// One of two questions with the same input, or one of their two tallies; a report says of which kind it is.
///
/// Questions with the same report are better joined by [`Either`], which adds nothing to what users send.
///
/// ```
/// use ldp_core::{Bits, Either, Mixed, Sum, Tally};
/// let mut tally: Mixed<Bits, Sum> = Mixed::First(Bits::default());
/// tally.push(Either::First(1), 1)?;
/// assert!(tally.push(Either::Second(0.5), 1).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mixed<A, B> {
    /// The first kind.
    First(A),
    /// The second kind.
    Second(B),
}

/// What an answer of one kind is to a question of the other.
const WRONG_KIND: Error =
    Error::Unsupported { what: "a report or a tally", needs: "to be of the kind of the question that was asked" };

impl<A, B> Mixed<A, B> {
    /// The first kind, or an error.
    pub fn first(&self) -> Result<&A> {
        match self {
            Self::First(first) => Ok(first),
            Self::Second(_) => Err(WRONG_KIND),
        }
    }

    /// The second kind, or an error.
    pub fn second(&self) -> Result<&B> {
        match self {
            Self::Second(second) => Ok(second),
            Self::First(_) => Err(WRONG_KIND),
        }
    }
}

impl<A, B> Mechanism for Mixed<A, B>
where
    A: Mechanism,
    B: Mechanism<Input = A::Input>,
{
    type Input = A::Input;
    type Report = Either<A::Report, B::Report>;
    const NUMERICS: Numerics = match (A::NUMERICS, B::NUMERICS) {
        (Numerics::Exact, Numerics::Exact) => Numerics::Exact,
        _ => Numerics::Idealized,
    };

    fn epsilon(&self) -> Epsilon {
        match self {
            Self::First(question) => question.epsilon(),
            Self::Second(question) => question.epsilon(),
        }
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &A::Input, rng: &mut R) -> Self::Report {
        match self {
            Self::First(question) => Either::First(question.privatize(input, rng)),
            Self::Second(question) => Either::Second(question.privatize(input, rng)),
        }
    }
}

impl<A: Tally, B: Tally> Tally for Mixed<A, B> {
    type Report = Either<A::Report, B::Report>;

    #[inline]
    fn push(&mut self, report: Self::Report, times: u64) -> Result<()> {
        match (self, report) {
            (Self::First(tally), Either::First(report)) => tally.push(report, times),
            (Self::Second(tally), Either::Second(report)) => tally.push(report, times),
            _ => Err(WRONG_KIND),
        }
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::First(tally), Self::First(other)) => tally.merge(other),
            (Self::Second(tally), Self::Second(other)) => tally.merge(other),
            _ => Err(WRONG_KIND),
        }
    }

    #[inline]
    fn users(&self) -> u64 {
        match self {
            Self::First(tally) => tally.users(),
            Self::Second(tally) => tally.users(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Bits, Sum};

    #[test]
    fn kinds_do_not_mix() {
        let bits = || Mixed::<Bits, Sum>::First(Bits::new(1, 2).unwrap());
        let mut sum = Mixed::<Bits, Sum>::Second(Sum::default());
        assert!(sum.merge(bits()).is_err() && sum.push(Either::First(1), 1).is_err());
        assert_eq!(sum, Mixed::Second(Sum::default()));
        sum.push(Either::Second(0.5), 3).unwrap();
        assert_eq!(sum.users(), 3);
        let mut both = bits();
        both.merge(bits()).unwrap();
        assert!(both.first().is_ok() && both.second().is_err() && sum.first().is_err());
        assert_eq!(both.users(), 4);
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(json, r#"{"first":{"ones":2,"users":4}}"#);
        assert!(serde_json::from_str::<Mixed<Bits, Sum>>(&json.replace("first", "second")).is_err());
    }
}
