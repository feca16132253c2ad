//! Mutants of tallies.

use super::rejected;
use ldp_core::conformance::check_merge_laws;
use ldp_core::{Bits, Counts, Error, Result, Sum, Tally};

/// A tally of bits, right or wrong in one way.
#[derive(Clone, Debug, PartialEq)]
struct Shard {
    ones: u64,
    users: u64,
    fault: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    PushIgnoresTimes,
    MergeForgetsUsers,
    MergeSubtracts,
    MergeTakesLarger,
    MergeAddsOne,
    AcceptsAnything,
    CountsBeforeRefusing,
    WrapsAround,
}

impl Tally for Shard {
    type Report = u32;

    fn push(&mut self, report: u32, times: u64) -> Result<()> {
        let times = if self.fault == Wrong::PushIgnoresTimes { 1 } else { times };
        let users = self.users;
        let sum = match users.checked_add(times) {
            None if self.fault != Wrong::WrapsAround => return Err(Error::TallyOverflow { users, times }),
            _ => users.wrapping_add(times),
        };
        if report > 1 && self.fault != Wrong::AcceptsAnything {
            if self.fault == Wrong::CountsBeforeRefusing {
                self.users = sum;
            }
            return Err(Error::Report { report, reports: 2 });
        }
        self.users = sum;
        self.ones = self.ones.wrapping_add(u64::from(report.min(1)).wrapping_mul(times));
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let (users, times) = (self.users, other.users);
        let sum = users.checked_add(times).ok_or(Error::TallyOverflow { users, times })?;
        match self.fault {
            Wrong::MergeForgetsUsers => self.ones += other.ones,
            Wrong::MergeSubtracts => {
                (self.ones, self.users) = (self.ones.wrapping_sub(other.ones), users.wrapping_sub(times));
            }
            Wrong::MergeTakesLarger => (self.ones, self.users) = (self.ones.max(other.ones), users.max(times)),
            Wrong::MergeAddsOne => (self.ones, self.users) = (self.ones + other.ones, sum + 1),
            _ => (self.ones, self.users) = (self.ones + other.ones, sum),
        }
        Ok(())
    }

    fn users(&self) -> u64 {
        self.users
    }
}

#[test]
fn good_tallies_pass_and_mutants_are_rejected() {
    check_merge_laws(&Bits::default(), &[0, 1, 1, 0, 1, 1], 2).unwrap();
    check_merge_laws(&Counts::new(5), &[4, 0, 3, 1, 1, 2], 5).unwrap();
    for impossible in [f64::NAN, f64::INFINITY, 2.0 * Sum::LIMIT] {
        check_merge_laws(&Sum::default(), &[0.1, 0.2, -1e9, 1e-17, 7.0], impossible).unwrap();
    }
    let check = |fault| {
        let empty = Shard { ones: 0, users: 0, fault };
        check_merge_laws(&empty, &[0, 1, 1, 0, 1], 2)
    };
    check(Wrong::Nothing).unwrap();
    rejected(check(Wrong::PushIgnoresTimes), "push counts users");
    rejected(check(Wrong::WrapsAround), "push counts users");
    rejected(check(Wrong::MergeSubtracts), "merge commutes");
    rejected(check(Wrong::MergeForgetsUsers), "merge commutes");
    rejected(check(Wrong::MergeTakesLarger), "merge associates");
    rejected(check(Wrong::MergeAddsOne), "empty is neutral");
    rejected(check(Wrong::AcceptsAnything), "impossible report is refused");
    rejected(check(Wrong::CountsBeforeRefusing), "failed call changes nothing");
}
