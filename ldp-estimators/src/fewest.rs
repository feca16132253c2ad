//! The smallest number of users of a protocol with several groups.

use ldp_core::{Error, Result};

/// Steps after which the search is given up, within a second.
const MOST_STEPS: u32 = 1_000_000;

/// The error of too few users with the smallest number that is enough for all groups, not for one of them.
pub(crate) fn too_few(error: Error, users: u64, fewest: impl Fn() -> u64) -> Error {
    match error {
        Error::TooFew { name: "users", .. } => Error::TooFew { name: "users", least: fewest(), value: users },
        other => other,
    }
}

/// The fewest users, at least `users`, of whom as many are left as are needed, by `left_and_needed`.
///
/// One user more leaves at most one more, so every step is one that has to be taken.
pub(crate) fn fewest(mut users: u64, left_and_needed: impl Fn(u64) -> Result<(u64, u64)>) -> u64 {
    // Where nearly everybody is taken, one more user leaves next to nobody: then there is no number worth naming.
    for _ in 0..MOST_STEPS {
        let missing = match left_and_needed(users) {
            Ok((left, needed)) => needed.saturating_sub(left),
            Err(Error::TooFew { name: "users", least, .. }) => least.saturating_sub(users),
            Err(_) => 0,
        };
        match users.checked_add(missing) {
            Some(_) if missing == 0 => return users,
            Some(more) => users = more,
            None => return u64::MAX,
        }
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_is_enough_is_found() {
        // Whole sevens of a third of the users are taken; one more than the logarithm of the rest is needed.
        let rule = |users: u64| {
            let taken = users / 3 / 7 * 7;
            Ok((users - taken, 40 + u64::from(users.ilog2())))
        };
        let enough = |users: u64| rule(users).is_ok_and(|(left, needed)| left >= needed);
        let found = fewest(1, rule);
        assert!(enough(found) && (1..found).all(|users| !enough(users)), "{found}");
        assert_eq!(fewest(1, |_| Ok((0, 1))), u64::MAX);
        assert_eq!(
            fewest(5, |users| if users < 9 {
                Err(Error::TooFew { name: "users", least: 9, value: users })
            } else {
                Ok((1, 1))
            }),
            9
        );
    }
}
