//! The laws of a commutative monoid.

use super::{Violation, ensure, expect};
use crate::tally::Tally;
use std::fmt::Debug;

const PUSH: &str = "push counts users";
const UNCHANGED: &str = "failed call changes nothing";

/// The laws of [`Tally`] on these reports, from an `empty` tally; `impossible` is a report it must refuse.
///
/// ```
/// use ldp_core::conformance::check_merge_laws;
/// use ldp_core::{Bits, Counts, Sum};
/// check_merge_laws(&Bits::default(), &[0, 1, 1, 0, 1], 2).unwrap();
/// check_merge_laws(&Counts::new(4), &[3, 0, 1, 1, 2], 4).unwrap();
/// check_merge_laws(&Sum::default(), &[0.1, -3.5, 1e9, 1e-9], f64::NAN).unwrap();
/// ```
pub fn check_merge_laws<T>(empty: &T, reports: &[T::Report], impossible: T::Report) -> Result<(), Violation>
where
    T: Tally<Report: Clone> + Clone + PartialEq + Debug,
{
    let same = |law, found: &T, expected: &T| {
        ensure(found == expected && found.users() == expected.users(), law, || format!("{found:?} is not {expected:?}"))
    };
    let push = |tally: &mut T, report: &T::Report, times| expect(tally.push(report.clone(), times), PUSH);
    let count = |reports: &[T::Report]| {
        let mut tally = empty.clone();
        reports.iter().try_for_each(|report| push(&mut tally, report, 1))?;
        let (counted, users) = (tally.users(), reports.len() as u64);
        ensure(counted == users, PUSH, || format!("{users} reports were counted as {counted}"))?;
        Ok::<_, Violation>(tally)
    };
    let merge = |law, left: &T, right: &T| {
        let mut sum = left.clone();
        expect(sum.merge(right.clone()), law)?;
        Ok::<_, Violation>(sum)
    };

    for report in reports {
        let (mut at_once, mut one_by_one, mut never) = (empty.clone(), empty.clone(), empty.clone());
        push(&mut at_once, report, 3)?;
        (0..3).try_for_each(|_| push(&mut one_by_one, report, 1))?;
        same(PUSH, &at_once, &one_by_one)?;
        ensure(at_once.users() == 3, PUSH, || format!("3 users were counted as {}", at_once.users()))?;
        push(&mut never, report, 0)?;
        same(PUSH, &never, empty)?;
    }

    let law = "merge commutes";
    for cut in 0..=reports.len() {
        let (a, b) = (count(&reports[..cut])?, count(&reports[cut..])?);
        same(law, &merge(law, &a, &b)?, &merge(law, &b, &a)?)?;
    }
    let law = "empty is neutral";
    for end in 0..=reports.len() {
        let a = count(&reports[..end])?;
        same(law, &merge(law, &a, empty)?, &a)?;
        same(law, &merge(law, empty, &a)?, &a)?;
    }
    // Every cut into three shards, empty ones too.
    let law = "merge associates";
    let whole = count(reports)?;
    for first in 0..=reports.len() {
        for second in first..=reports.len() {
            let (a, b, c) = (count(&reports[..first])?, count(&reports[first..second])?, count(&reports[second..])?);
            let left = merge(law, &merge(law, &a, &b)?, &c)?;
            let right = merge(law, &a, &merge(law, &b, &c)?)?;
            same(law, &left, &right)?;
            same(law, &left, &whole)?;
        }
    }

    let mut tally = whole.clone();
    let refused = tally.push(impossible, 1).is_err();
    ensure(refused, "impossible report is refused", || format!("it was counted: {tally:?}"))?;
    same(UNCHANGED, &tally, &whole)?;

    // A tally so full that the next user does not fit, where it can be filled at all.
    for report in reports {
        let mut full = empty.clone();
        if full.push(report.clone(), u64::MAX).is_err() {
            same(UNCHANGED, &full, empty)?;
            continue;
        }
        let before = full.clone();
        let fits = full.push(report.clone(), 1).is_ok();
        ensure(!fits, PUSH, || "more users than a u64 can count".to_owned())?;
        same(UNCHANGED, &full, &before)?;
        if whole.users() > 0 {
            let fits = full.merge(whole.clone()).is_ok();
            ensure(!fits, PUSH, || "more users than a u64 can count".to_owned())?;
            same(UNCHANGED, &full, &before)?;
        }
    }
    Ok(())
}
