//! Counting packed reports.

use super::{first, planes};
use crate::simd::with_avx2;
use ldp_core::error::{Error, Result};
use ldp_core::tally::{Bits, Counts, Tally};

/// The tally of packed reports of one bit.
///
/// Refuses words that `users` users do not fill, and bits beyond the last user.
pub fn bits_of_packed(words: &[u64], users: u64) -> Result<Bits> {
    check(words, users, 1)?;
    Bits::new(
        with_avx2(
            #[inline(always)]
            || words.iter().map(|word| u64::from(word.count_ones())).sum(),
        ),
        users,
    )
}

/// The tally of packed reports over an alphabet of `reports`.
///
/// Refuses words that `users` users do not fill, bits beyond the last user, and reports that there are not.
pub fn counts_of_packed(reports: u32, words: &[u64], users: u64) -> Result<Counts> {
    let planes = planes(reports);
    check(words, users, planes)?;
    let mut counts = vec![0; reports as usize];
    if planes <= FEW_PLANES {
        with_avx2(
            #[inline(always)]
            || count_by_report(words, planes, users, &mut counts),
        );
    } else {
        count_by_user(words, planes, users, &mut counts);
    }
    let counted: u64 = counts.iter().sum();
    if counted != users {
        return Err(Error::Inconsistent { what: "possible reports among packed ones", count: counted, limit: users });
    }
    let mut tally = Counts::new(reports);
    (0u32..).zip(counts).try_for_each(|(report, count)| tally.push(report, count))?;
    Ok(tally)
}

/// Reports of so many bits are counted report by report; there are no more of them than users to a word.
const FEW_PLANES: usize = 6;

/// Splits the users of a word by one digit of their reports after the other, until those with the same report are left.
#[inline(always)]
fn count_by_report(words: &[u64], planes: usize, users: u64, counts: &mut [u64]) {
    let mut said = [0u64; 1 << FEW_PLANES];
    let mut left = users;
    for group in words.chunks_exact(planes) {
        said[0] = first(left.min(64) as usize);
        for (j, plane) in group.iter().rev().enumerate() {
            for i in (0..1 << j).rev() {
                (said[2 * i], said[2 * i + 1]) = (said[i] & !plane, said[i] & plane);
            }
        }
        counts.iter_mut().zip(said).for_each(|(count, said)| *count += u64::from(said.count_ones()));
        left -= left.min(64);
    }
}

/// Puts the report of every user together; one that there is not is left out.
fn count_by_user(words: &[u64], planes: usize, users: u64, counts: &mut [u64]) {
    let mut left = users;
    for group in words.chunks_exact(planes) {
        for i in 0..left.min(64) {
            let report = group.iter().rev().fold(0, |report, plane| report << 1 | (plane >> i & 1));
            if let Some(count) = counts.get_mut(report as usize) {
                *count += 1;
            }
        }
        left -= left.min(64);
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
        let tally = bits_of_packed(&[u64::MAX, 0b101], 67).unwrap();
        assert_eq!((tally.ones(), tally.users()), (66, 67));
        assert_eq!(bits_of_packed(&[], 0).unwrap(), Bits::default());
        assert!(matches!(bits_of_packed(&[0], 65), Err(Error::Length { expected: 2, found: 1, .. })));
        assert!(matches!(bits_of_packed(&[0, 0], 64), Err(Error::Length { .. })));
        assert!(matches!(bits_of_packed(&[0, 0b1000], 67), Err(Error::Inconsistent { count: 1, limit: 0, .. })));
    }

    #[test]
    fn planes_are_counted_and_odd_words_refused() {
        // Users 0, 1, 2 say 2, 1, 0; user 64 says 2.
        let tally = counts_of_packed(3, &[0b010, 0b001, 0b0, 0b1], 65).unwrap();
        assert_eq!((tally.counts(), tally.users()), (&[62, 1, 2][..], 65));
        // A user who says 3.
        assert!(matches!(counts_of_packed(3, &[1, 1], 5), Err(Error::Inconsistent { count: 4, limit: 5, .. })));
        assert!(matches!(counts_of_packed(4, &[1, 32], 5), Err(Error::Inconsistent { count: 1, limit: 0, .. })));
        assert!(matches!(counts_of_packed(5, &[0, 0], 5), Err(Error::Length { expected: 3, found: 2, .. })));
        let two = counts_of_packed(2, &[0b101], 3).unwrap();
        assert_eq!(two.counts(), [1, 2]);
    }

    #[test]
    fn both_ways_of_counting_agree() {
        // Few reports and many: words from a fixed rule, a number of users that fills no word.
        for width in 1..=FEW_PLANES {
            let users = 64 * 5 + 17;
            let words: Vec<u64> = (1..=6 * width as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let (mut by_report, mut by_user) = (vec![0; 1 << width], vec![0; 1 << width]);
            count_by_report(&words, width, users, &mut by_report);
            count_by_user(&words, width, users, &mut by_user);
            assert_eq!(by_report, by_user);
            assert_eq!(by_user.iter().sum::<u64>(), users);
        }
        // 130 reports of eight bits: user 0 says 129, user 1 says 3, and in the second case 131.
        let said = |second: [u64; 8]| [1, 0, 0, 0, 0, 0, 0, 1].iter().zip(second).map(|(a, b)| a | b << 1).collect();
        let words: Vec<u64> = said([1, 1, 0, 0, 0, 0, 0, 0]);
        let tally = counts_of_packed(130, &words, 2).unwrap();
        assert_eq!((tally.counts()[129], tally.counts()[3]), (1, 1));
        let words: Vec<u64> = said([1, 1, 0, 0, 0, 0, 0, 1]);
        assert!(matches!(counts_of_packed(130, &words, 2), Err(Error::Inconsistent { count: 1, limit: 2, .. })));
    }
}
