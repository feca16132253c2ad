//! Tallies of finite reports.

use super::{Averages, Tally, add_users};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A count of ones among reports 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawBits")]
pub struct Bits {
    ones: u64,
    users: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBits {
    ones: u64,
    users: u64,
}

impl TryFrom<RawBits> for Bits {
    type Error = Error;
    fn try_from(raw: RawBits) -> Result<Self> {
        Self::new(raw.ones, raw.users)
    }
}

impl Bits {
    /// `ones` ones among `users` reports.
    pub fn new(ones: u64, users: u64) -> Result<Self> {
        if ones > users {
            return Err(Error::Inconsistent { what: "ones in a tally of bits", count: ones, limit: users });
        }
        Ok(Self { ones, users })
    }

    /// How many reports were 1.
    #[must_use]
    pub fn ones(self) -> u64 {
        self.ones
    }
}

impl Tally for Bits {
    type Report = u32;

    #[inline]
    fn push(&mut self, report: u32, times: u64) -> Result<()> {
        if report > 1 {
            return Err(Error::Report { report, reports: 2 });
        }
        self.users = add_users(self.users, times)?;
        self.ones += u64::from(report) * times;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.users = add_users(self.users, other.users)?;
        self.ones += other.ones;
        Ok(())
    }

    #[inline]
    fn users(&self) -> u64 {
        self.users
    }
}

/// A count per report of a finite alphabet.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawCounts")]
pub struct Counts {
    counts: Vec<u64>,
    #[serde(skip)]
    users: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCounts {
    counts: Vec<u64>,
}

impl TryFrom<RawCounts> for Counts {
    type Error = Error;
    fn try_from(raw: RawCounts) -> Result<Self> {
        let users = raw.counts.iter().try_fold(0, |users, &count| add_users(users, count))?;
        Ok(Self { counts: raw.counts, users })
    }
}

// By hand, so that copying into a tally of the same alphabet takes no new memory.
impl Clone for Counts {
    fn clone(&self) -> Self {
        Self { counts: self.counts.clone(), users: self.users }
    }

    fn clone_from(&mut self, other: &Self) {
        self.counts.clone_from(&other.counts);
        self.users = other.users;
    }
}

impl Counts {
    /// An empty tally over `reports` reports.
    #[must_use]
    pub fn new(reports: u32) -> Self {
        Self { counts: vec![0; reports as usize], users: 0 }
    }

    /// The count of every report.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Tally for Counts {
    type Report = u32;

    fn push(&mut self, report: u32, times: u64) -> Result<()> {
        let reports = self.counts.len() as u32;
        let count = self.counts.get_mut(report as usize).ok_or_else(|| Error::Report { report, reports })?;
        self.users = add_users(self.users, times)?;
        *count += times;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let (expected, found) = (self.counts.len(), other.counts.len());
        if expected != found {
            return Err(Error::TallyAlphabet { expected, found });
        }
        self.users = add_users(self.users, other.users)?;
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        Ok(())
    }

    fn users(&self) -> u64 {
        self.users
    }
}

/// The report 0 or 1 as a number.
impl Averages for Bits {
    fn mean(&self) -> Option<f64> {
        (self.users > 0).then(|| self.ones as f64 / self.users as f64)
    }

    fn variance(&self) -> Option<f64> {
        let (ones, users) = (self.ones as f64, self.users as f64);
        (self.users > 1).then(|| ones / users * ((self.users - self.ones) as f64 / (users - 1.0)))
    }
}
