//! A sum of vector reports.

use super::{Averages, Sum, Tally};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A [`Sum`] per coordinate of vector reports.
///
/// ```
/// use ldp_core::tally::{Tally, VectorSum};
/// let mut sum = VectorSum::new(2);
/// sum.push(vec![1.0, -2.0], 1)?;
/// sum.push(vec![2.0, -2.0], 1)?;
/// assert_eq!(sum.mean(), Some(vec![1.5, -2.0]));
/// assert!(sum.push(vec![1.0], 1).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawVectorSum")]
pub struct VectorSum {
    coordinates: Vec<Sum>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVectorSum {
    coordinates: Vec<Sum>,
}

impl TryFrom<RawVectorSum> for VectorSum {
    type Error = Error;
    fn try_from(RawVectorSum { coordinates }: RawVectorSum) -> Result<Self> {
        let users = coordinates.first().map_or(0, Tally::users);
        if let Some(other) = coordinates.iter().map(Tally::users).find(|&other| other != users) {
            return Err(Error::Inconsistent { what: "users of a coordinate", count: other, limit: users });
        }
        Ok(Self { coordinates })
    }
}

impl VectorSum {
    /// An empty tally of vectors with so many coordinates.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self { coordinates: vec![Sum::default(); dimension] }
    }

    /// The sum of every coordinate.
    #[must_use]
    pub fn coordinates(&self) -> &[Sum] {
        &self.coordinates
    }

    /// The mean report; `None` if nobody answered.
    #[must_use]
    pub fn mean(&self) -> Option<Vec<f64>> {
        self.coordinates.iter().map(Averages::mean).collect()
    }

    fn check(&self, found: usize) -> Result<()> {
        let expected = self.coordinates.len();
        if expected == found { Ok(()) } else { Err(Error::Length { what: "coordinates of a report", expected, found }) }
    }
}

impl Tally for VectorSum {
    type Report = Vec<f64>;

    fn push(&mut self, report: Vec<f64>, times: u64) -> Result<()> {
        self.check(report.len())?;
        // First whether every coordinate can be added: a failed call changes nothing.
        for (sum, &x) in self.coordinates.iter().zip(&report) {
            sum.with(x, times)?;
        }
        self.coordinates.iter_mut().zip(report).try_for_each(|(sum, x)| sum.push(x, times))
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.check(other.coordinates.len())?;
        for (sum, &more) in self.coordinates.iter().zip(&other.coordinates) {
            let mut sum = *sum;
            sum.merge(more)?;
        }
        self.coordinates.iter_mut().zip(other.coordinates).try_for_each(|(sum, more)| sum.merge(more))
    }

    fn users(&self) -> u64 {
        self.coordinates.first().map_or(0, Tally::users)
    }
}
