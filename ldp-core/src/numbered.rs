//! Finite reports as real numbers, beside real reports.

use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Mechanism, Numerics};
use crate::tally::{Counts, Tally};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A finite question whose report is sent as a real number, or the tally of such reports.
///
/// A protocol may ask for residues first and for a noisy value later. One question type has one report type, so the
/// residue travels as the number it is: `Either<Numbered<Residue>, Laplace>`.
///
/// ```
/// use ldp_core::{Counts, Numbered, Tally};
/// let mut tally = Numbered(Counts::new(4));
/// tally.push(3.0, 2)?;
/// assert_eq!(tally.0.counts(), [0, 0, 0, 2]);
/// assert!(tally.push(1.5, 1).is_err() && tally.push(4.0, 1).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Numbered<T>(pub T);

impl<Q: Mechanism<Report = u32>> Mechanism for Numbered<Q> {
    type Input = Q::Input;
    type Report = f64;
    const NUMERICS: Numerics = Q::NUMERICS;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &Q::Input, rng: &mut R) -> f64 {
        f64::from(self.0.privatize(input, rng))
    }
}

impl Tally for Numbered<Counts> {
    type Report = f64;

    fn push(&mut self, report: f64, times: u64) -> Result<()> {
        let limit = self.0.counts().len() as f64 - 1.0;
        if !(0.0..=limit).contains(&report) || report.fract() != 0.0 {
            return Err(Error::RealReport { report, limit });
        }
        self.0.push(report as u32, times)
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.0.merge(other.0)
    }

    fn users(&self) -> u64 {
        self.0.users()
    }
}
