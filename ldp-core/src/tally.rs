//! What a collector keeps: a tally of reports, mergeable in any order.
//!
//! ```
//! use ldp_core::tally::{Bits, Tally};
//! let mut shard = Bits::default();
//! shard.push(1, 1)?;
//! let mut total = Bits::default();
//! total.push(0, 2)?;
//! total.merge(shard)?;
//! assert_eq!((total.ones(), total.users()), (1, 3));
//! assert!(total.push(2, 1).is_err());
//! # Ok::<(), ldp_core::Error>(())
//! ```

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A commutative monoid of reports.
///
/// # Laws
/// `merge` is commutative and associative, an empty tally is neutral, and pushing a report `times` times equals
/// pushing it once `times` times. A failed call leaves the tally as it was.
pub trait Tally: Sized {
    /// What is counted.
    type Report;

    /// Counts `report` as the answer of `times` users; refuses an impossible report.
    fn push(&mut self, report: Self::Report, times: u64) -> Result<()>;

    /// Takes in the answers of another collector to the same question.
    fn merge(&mut self, other: Self) -> Result<()>;

    /// How many users have answered.
    fn users(&self) -> u64;
}

/// `users + times`, or [`Error::TallyOverflow`].
#[inline]
fn add_users(users: u64, times: u64) -> Result<u64> {
    // Lazily: an error made and dropped on every push is a seventh of the time of a round of one user.
    users.checked_add(times).ok_or_else(|| Error::TallyOverflow { users, times })
}

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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// A sum of real reports, in fixed point.
///
/// Floating sums are not associative, so two shardings of the same reports would differ; integers are. The unit
/// is 2⁻⁶⁰, so a report is kept to 5·10⁻¹⁹, and may be at most [`Sum::LIMIT`] in absolute value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawSum")]
pub struct Sum {
    #[serde(with = "crate::json::wide")]
    total: i128,
    users: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSum {
    #[serde(with = "crate::json::wide")]
    total: i128,
    users: u64,
}

impl TryFrom<RawSum> for Sum {
    type Error = Error;
    fn try_from(RawSum { total, users }: RawSum) -> Result<Self> {
        // A report is at most 2^40 of 2^60 units.
        let most = u128::from(users).saturating_mul(1 << 100);
        if total.unsigned_abs() > most {
            let report = total as f64 * Self::UNIT / users as f64;
            return Err(Error::RealReport { report, limit: Self::LIMIT });
        }
        Ok(Self { total, users })
    }
}

impl Sum {
    /// The largest absolute value of a report.
    pub const LIMIT: f64 = (1u64 << 40) as f64;
    const UNIT: f64 = 1.0 / (1u64 << 60) as f64;

    /// The sum of all reports.
    #[must_use]
    pub fn total(self) -> f64 {
        self.total as f64 * Self::UNIT
    }

    /// The mean report, if there is one.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.users > 0).then(|| self.total() / self.users as f64)
    }
}

impl Tally for Sum {
    type Report = f64;

    fn push(&mut self, report: f64, times: u64) -> Result<()> {
        if !(report.abs() <= Self::LIMIT) {
            return Err(Error::RealReport { report, limit: Self::LIMIT });
        }
        let units = (report / Self::UNIT).round() as i128;
        let total = units.checked_mul(i128::from(times)).and_then(|more| self.total.checked_add(more));
        let total = total.ok_or_else(|| Error::TallyOverflow { users: self.users, times })?;
        self.users = add_users(self.users, times)?;
        self.total = total;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let overflow = || Error::TallyOverflow { users: self.users, times: other.users };
        let total = self.total.checked_add(other.total).ok_or_else(overflow)?;
        self.users = add_users(self.users, other.users)?;
        self.total = total;
        Ok(())
    }

    fn users(&self) -> u64 {
        self.users
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tampered_tallies_are_refused() {
        assert!(serde_json::from_str::<Bits>(r#"{"ones":3,"users":2}"#).is_err());
        assert!(serde_json::from_str::<Bits>(r#"{"ones":1,"users":2,"more":0}"#).is_err());
        assert!(serde_json::from_str::<Bits>(r#"{"ones":-1,"users":2}"#).is_err());
        assert!(serde_json::from_str::<Counts>(r#"{"counts":[18446744073709551615,1]}"#).is_err());
        assert!(serde_json::from_str::<Sum>(r#"{"total":"1","users":2}"#).is_ok());
        for bad in [
            r#"{"total":1.5,"users":2}"#,
            r#"{"total":"1","users":0}"#,
            r#"{"total":"+1","users":2}"#,
            r#"{"total":"1267650600228229401496703205377","users":1}"#,
        ] {
            assert!(serde_json::from_str::<Sum>(bad).is_err(), "{bad}");
        }
        let counts: Counts = serde_json::from_str(r#"{"counts":[1,2]}"#).unwrap();
        assert_eq!(counts.users(), 3);
    }

    #[test]
    fn an_overflow_is_an_error_and_changes_nothing() {
        let mut bits = Bits::new(1, u64::MAX).unwrap();
        assert!(matches!(bits.push(1, 1), Err(Error::TallyOverflow { .. })));
        assert_eq!(bits, Bits::new(1, u64::MAX).unwrap());
        let mut sum = Sum::default();
        assert!(matches!(sum.push(1e12, u64::MAX), Err(Error::TallyOverflow { .. })));
        sum.push(0.5, u64::MAX).unwrap();
        let before = sum;
        assert!(matches!(sum.push(1.0, 1), Err(Error::TallyOverflow { .. })));
        assert_eq!(sum, before);
        for bad in [f64::NAN, f64::INFINITY, 2.0 * Sum::LIMIT] {
            assert!(matches!(sum.push(bad, 1), Err(Error::RealReport { .. })));
        }
    }
}
