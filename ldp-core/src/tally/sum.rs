//! A sum of real reports.

use super::{Averages, Tally, add_users};
use crate::error::{Error, Result, require};
use serde::{Deserialize, Serialize};

/// A sum of real reports and of their squares, in fixed point.
///
/// Floating sums are not associative, so two shardings of the same reports would differ; integers are. A report is
/// kept in units of 2⁻⁶⁰, its square in units of 2⁻⁴⁰, and may be at most [`Sum::LIMIT`] in absolute value: reports
/// should be of the order of one, which is why mechanisms on a range send theirs in units of half its width.
///
/// ```
/// use ldp_core::tally::{Averages, Sum, Tally};
/// let mut sum = Sum::default();
/// for report in [1.0, 2.0, 6.0] {
///     sum.push(report, 1)?;
/// }
/// assert_eq!(sum.mean(), Some(3.0));
/// assert!((sum.variance().unwrap() - 7.0).abs() < 1e-11);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawSum")]
pub struct Sum {
    #[serde(with = "crate::json::wide")]
    total: i128,
    #[serde(with = "crate::json::wide")]
    squares: i128,
    users: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSum {
    #[serde(with = "crate::json::wide")]
    total: i128,
    #[serde(with = "crate::json::wide")]
    squares: i128,
    users: u64,
}

impl TryFrom<RawSum> for Sum {
    type Error = Error;
    fn try_from(RawSum { total, squares, users }: RawSum) -> Result<Self> {
        // A report is at most 2^32 of 2^60 units.
        let most = u128::from(users).saturating_mul(1 << 92);
        if total.unsigned_abs() > most {
            let report = total as f64 * Self::UNIT / users as f64;
            return Err(Error::RealReport { report, limit: Self::LIMIT });
        }
        let sum = Self { total, squares, users };
        let mean_square = squares as f64 * Self::SQUARE_UNIT / users.max(1) as f64;
        let possible = squares >= 0 && squares.unsigned_abs() <= u128::from(users).saturating_mul(1 << 104);
        require(possible, "the mean square of a tally", "within the limit of a report", mean_square)?;
        // Cauchy-Schwarz, with room for the rounding of every square to its unit.
        let least = sum.mean().unwrap_or(0.0).powi(2) * (1.0 - 1e-12) - Self::SQUARE_UNIT;
        require(mean_square >= least, "the mean square of a tally", "at least the square of its mean", mean_square)?;
        Ok(sum)
    }
}

impl Sum {
    /// The largest absolute value of a report.
    pub const LIMIT: f64 = (1u64 << 32) as f64;
    const UNIT: f64 = 1.0 / (1u64 << 60) as f64;
    const SQUARE_UNIT: f64 = 1.0 / (1u64 << 40) as f64;

    /// The sum of all reports.
    #[must_use]
    pub fn total(self) -> f64 {
        self.total as f64 * Self::UNIT
    }

    /// The sum with `times` more reports; the sum itself stays as it is.
    #[inline]
    pub(super) fn with(self, report: f64, times: u64) -> Result<Self> {
        if !(report.abs() <= Self::LIMIT) {
            return Err(Error::RealReport { report, limit: Self::LIMIT });
        }
        let more = Self {
            total: (report / Self::UNIT).round() as i128,
            squares: (report * report / Self::SQUARE_UNIT).round() as i128,
            users: 1,
        };
        let overflow = || Error::TallyOverflow { users: self.users, times };
        if times == 1 {
            return self.plus(more);
        }
        let total = more.total.checked_mul(i128::from(times)).ok_or_else(overflow)?;
        let squares = more.squares.checked_mul(i128::from(times)).ok_or_else(overflow)?;
        self.plus(Self { total, squares, users: times })
    }

    #[inline]
    fn plus(self, other: Self) -> Result<Self> {
        let overflow = || Error::TallyOverflow { users: self.users, times: other.users };
        let total = self.total.checked_add(other.total).ok_or_else(overflow)?;
        let squares = self.squares.checked_add(other.squares).ok_or_else(overflow)?;
        Ok(Self { total, squares, users: add_users(self.users, other.users)? })
    }
}

impl Tally for Sum {
    type Report = f64;

    #[inline]
    fn push(&mut self, report: f64, times: u64) -> Result<()> {
        *self = self.with(report, times)?;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        *self = self.plus(other)?;
        Ok(())
    }

    #[inline]
    fn users(&self) -> u64 {
        self.users
    }
}

impl Averages for Sum {
    fn mean(&self) -> Option<f64> {
        (self.users > 0).then(|| self.total() / self.users as f64)
    }

    fn variance(&self) -> Option<f64> {
        let mean = self.mean()?;
        let users = self.users as f64;
        let mean_square = self.squares as f64 * Self::SQUARE_UNIT / users;
        // Rounding may leave a difference just below zero.
        (self.users > 1).then(|| (mean_square - mean * mean).max(0.0) * (users / (users - 1.0)))
    }
}
