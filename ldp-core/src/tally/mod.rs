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

mod finite;
mod sum;
mod vector;

pub use finite::{Bits, Counts};
pub use sum::Sum;
pub use vector::VectorSum;

use crate::error::{Error, Result};

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

/// A tally of reports that are numbers: what a mean and its standard error are made from.
pub trait Averages: Tally {
    /// The mean report; `None` if nobody answered.
    fn mean(&self) -> Option<f64>;

    /// The variance of one report, with divisor n − 1; `None` below two reports.
    fn variance(&self) -> Option<f64>;

    /// The standard error of the mean; `None` below two reports.
    fn standard_error(&self) -> Option<f64> {
        self.variance().map(|variance| (variance / self.users() as f64).sqrt())
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
        assert!(serde_json::from_str::<Sum>(r#"{"total":"1","squares":"0","users":2}"#).is_ok());
        for bad in [
            r#"{"total":1.5,"squares":"0","users":2}"#,
            r#"{"total":"1","squares":"0","users":0}"#,
            r#"{"total":"0","squares":"1","users":0}"#,
            r#"{"total":"+1","squares":"0","users":2}"#,
            r#"{"total":"0","squares":"-3","users":2}"#,
            r#"{"total":"1152921504606846976","squares":"1099511627770","users":1}"#,
            r#"{"total":"0","squares":"20282409603651670423947251286017","users":1}"#,
            r#"{"total":"4951760157141521099596496897","squares":"20282409603651670423947251286016","users":1}"#,
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
        assert!(matches!(sum.push(4e9, u64::MAX), Err(Error::TallyOverflow { .. })));
        sum.push(0.5, u64::MAX).unwrap();
        let before = sum;
        assert!(matches!(sum.push(1.0, 1), Err(Error::TallyOverflow { .. })));
        assert_eq!(sum, before);
        for bad in [f64::NAN, f64::INFINITY, 2.0 * Sum::LIMIT] {
            assert!(matches!(sum.push(bad, 1), Err(Error::RealReport { .. })));
        }
    }
}
