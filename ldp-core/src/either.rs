//! One of two: protocols whose rounds ask different kinds of questions.
//!
//! A pilot may ask for residues and the rounds after it for signs. [`Either`] makes one question type of the two, and
//! one tally type of their tallies; everything both can do, it can do.

use crate::channel::FiniteChannel;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Density, Finite, Mechanism, Numerics, Publish, Rescale};
use crate::model::Cdf;
use crate::tally::Tally;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// One of two questions with the same input and report, or one of their two tallies.
///
/// ```
/// use ldp_core::{Either, Epsilon, Finite, FiniteChannel, Kernel, Partition};
/// let channel = |cells| {
///     let partition = Partition::Periodic { origin: 0.0, width: 1.0, cells };
///     FiniteChannel::new(partition, Kernel::response(Epsilon::new(1.0)?, cells)?)
/// };
/// let questions: [Either<FiniteChannel, FiniteChannel>; 2] = [Either::First(channel(4)?), Either::Second(channel(2)?)];
/// assert_eq!(questions.map(|question| question.reports()), [4, 2]);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Either<A, B> {
    /// The first kind.
    First(A),
    /// The second kind.
    Second(B),
}

// By hand, so that copying into one of the same kind takes no new memory where its kind does not.
impl<A: Clone, B: Clone> Clone for Either<A, B> {
    fn clone(&self) -> Self {
        match self {
            Self::First(first) => Self::First(first.clone()),
            Self::Second(second) => Self::Second(second.clone()),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::First(first), Self::First(other)) => first.clone_from(other),
            (Self::Second(second), Self::Second(other)) => second.clone_from(other),
            (either, other) => *either = other.clone(),
        }
    }
}

/// The same call on whichever of the two it is.
macro_rules! both {
    ($either:expr, $inner:ident => $call:expr) => {
        match $either {
            Either::First($inner) => $call,
            Either::Second($inner) => $call,
        }
    };
}

impl<A, B> Either<A, B> {
    /// The first kind, or an error that says what was found instead of `what`.
    pub fn first(&self, what: &'static str) -> Result<&A> {
        match self {
            Self::First(first) => Ok(first),
            Self::Second(_) => Err(Error::Unsupported { what, needs: "a tally of the question that was asked" }),
        }
    }

    /// The second kind, or an error that says what was found instead of `what`.
    pub fn second(&self, what: &'static str) -> Result<&B> {
        match self {
            Self::Second(second) => Ok(second),
            Self::First(_) => Err(Error::Unsupported { what, needs: "a tally of the question that was asked" }),
        }
    }
}

impl<A, B> Mechanism for Either<A, B>
where
    A: Mechanism,
    B: Mechanism<Input = A::Input, Report = A::Report>,
{
    type Input = A::Input;
    type Report = A::Report;
    const NUMERICS: Numerics = match (A::NUMERICS, B::NUMERICS) {
        (Numerics::Exact, Numerics::Exact) => Numerics::Exact,
        _ => Numerics::Idealized,
    };

    fn epsilon(&self) -> Epsilon {
        both!(self, question => question.epsilon())
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &A::Input, rng: &mut R) -> A::Report {
        both!(self, question => question.privatize(input, rng))
    }

    #[inline]
    fn simulate_all<R, T>(&self, inputs: &[A::Input], rng: &mut R, tally: &mut T) -> Result<()>
    where
        A::Input: Sized,
        R: Rng + ?Sized,
        T: Tally<Report = A::Report>,
    {
        both!(self, question => question.simulate_all(inputs, rng, tally))
    }
}

impl<A, B> Density for Either<A, B>
where
    A: Density,
    B: Density + Mechanism<Input = A::Input, Report = A::Report>,
{
    fn ln_density(&self, report: &A::Report, input: &A::Input) -> f64 {
        both!(self, question => question.ln_density(report, input))
    }
}

impl<A, B> Finite for Either<A, B>
where
    A: Finite,
    B: Finite + Mechanism<Input = A::Input>,
{
    fn reports(&self) -> u32 {
        both!(self, question => question.reports())
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        both!(self, question => question.marginal(model, theta, out));
    }
}

impl<A: Publish, B: Publish> Publish for Either<A, B> {
    fn publish(&self) -> FiniteChannel {
        both!(self, question => question.publish())
    }
}

impl<A: Rescale, B: Rescale> Rescale for Either<A, B> {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(match self {
            Self::First(first) => Self::First(first.rescale(factor)?),
            Self::Second(second) => Self::Second(second.rescale(factor)?),
        })
    }
}

impl<A: Tally, B: Tally<Report = A::Report>> Tally for Either<A, B> {
    type Report = A::Report;

    #[inline]
    fn push(&mut self, report: A::Report, times: u64) -> Result<()> {
        both!(self, tally => tally.push(report, times))
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::First(a), Self::First(b)) => a.merge(b),
            (Self::Second(a), Self::Second(b)) => a.merge(b),
            _ => Err(Error::Unsupported { what: "a sum of two tallies", needs: "tallies of the same question" }),
        }
    }

    #[inline]
    fn users(&self) -> u64 {
        both!(self, tally => tally.users())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Bits, Counts};

    #[test]
    fn tallies_of_different_questions_do_not_merge() {
        let bits = || Either::<Counts, Bits>::Second(Bits::new(1, 2).unwrap());
        let mut tally = Either::First(Counts::new(2));
        assert!(tally.merge(bits()).is_err());
        assert_eq!(tally, Either::First(Counts::new(2)));
        assert!(tally.first("counts").is_ok() && tally.second("bits").is_err());
        let mut tally = bits();
        tally.merge(bits()).unwrap();
        assert_eq!(tally.users(), 4);
    }
}
