//! Counting packed reports.

use super::{first, planes};
use crate::error::{Error, Result};
use crate::tally::{Bits, Counts, Tally};

impl Bits {
    /// The tally of packed reports of one bit.
    ///
    /// Refuses words that `users` users do not fill, and bits beyond the last user.
    pub fn of_packed(words: &[u64], users: u64) -> Result<Self> {
        check(words, users, 1)?;
        Self::new(words.iter().map(|word| u64::from(word.count_ones())).sum(), users)
    }
}

impl Counts {
    /// The tally of packed reports over an alphabet of `reports`.
    ///
    /// Refuses words that `users` users do not fill, bits beyond the last user, and reports that there are not.
    pub fn of_packed(reports: u32, words: &[u64], users: u64) -> Result<Self> {
        let planes = planes(reports);
        check(words, users, planes)?;
        let mut counts = vec![0; reports as usize];
        let mut left = users;
        for group in words.chunks_exact(planes) {
            let here = first(left.min(64) as usize);
            for (report, count) in (0u32..).zip(&mut counts) {
                // All users whose every digit is that of this report.
                let matches = |(j, plane): (usize, &u64)| plane ^ u64::from(report >> j & 1).wrapping_sub(1);
                let said = group.iter().enumerate().map(matches).fold(here, |said, plane| said & plane);
                *count += u64::from(said.count_ones());
            }
            left -= left.min(64);
        }
        let counted: u64 = counts.iter().sum();
        if counted != users {
            return Err(Error::Inconsistent {
                what: "possible reports among packed ones",
                count: counted,
                limit: users,
            });
        }
        let mut tally = Self::new(reports);
        (0u32..).zip(counts).try_for_each(|(report, count)| tally.push(report, count))?;
        Ok(tally)
    }
}

fn check(words: &[u64], users: u64, planes: usize) -> Result<()> {
    let expected = usize::try_from(users.div_ceil(64)).unwrap_or(usize::MAX).saturating_mul(planes);
    if words.len() != expected {
        return Err(Error::Length { what: "words of packed reports", expected, found: words.len() });
    }
    let beyond = if users.is_multiple_of(64) { 0 } else { !first((users % 64) as usize) };
    let last = &words[words.len() - planes.min(words.len())..];
    let bits: u64 = last.iter().map(|word| u64::from((word & beyond).count_ones())).sum();
    if bits > 0 {
        return Err(Error::Inconsistent { what: "bits beyond the last user", count: bits, limit: 0 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_and_odd_words_refused() {
        let tally = Bits::of_packed(&[u64::MAX, 0b101], 67).unwrap();
        assert_eq!((tally.ones(), tally.users()), (66, 67));
        assert_eq!(Bits::of_packed(&[], 0).unwrap(), Bits::default());
        assert!(matches!(Bits::of_packed(&[0], 65), Err(Error::Length { expected: 2, found: 1, .. })));
        assert!(matches!(Bits::of_packed(&[0, 0], 64), Err(Error::Length { .. })));
        assert!(matches!(Bits::of_packed(&[0, 0b1000], 67), Err(Error::Inconsistent { count: 1, limit: 0, .. })));
    }

    #[test]
    fn planes_are_counted_and_odd_words_refused() {
        // Users 0, 1, 2 say 2, 1, 0; user 64 says 2.
        let tally = Counts::of_packed(3, &[0b010, 0b001, 0b0, 0b1], 65).unwrap();
        assert_eq!((tally.counts(), tally.users()), (&[62, 1, 2][..], 65));
        // A user who says 3.
        assert!(matches!(Counts::of_packed(3, &[1, 1], 5), Err(Error::Inconsistent { count: 4, limit: 5, .. })));
        assert!(matches!(Counts::of_packed(4, &[1, 32], 5), Err(Error::Inconsistent { count: 1, limit: 0, .. })));
        assert!(matches!(Counts::of_packed(5, &[0, 0], 5), Err(Error::Length { expected: 3, found: 2, .. })));
        let two = Counts::of_packed(2, &[0b101], 3).unwrap();
        assert_eq!(two.counts(), [1, 2]);
    }
}
