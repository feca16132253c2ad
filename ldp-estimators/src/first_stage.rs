//! How many users are in the first of two stages.

use ldp_core::{Error, Result};

/// The size of a first stage: given, or tuned to the number of users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FirstStage {
    Fixed(u64),
    /// The root of this times the number of users. The factor is worked out once: every step asks for the size.
    Tuned(f64),
}

impl FirstStage {
    /// So many users, at least one.
    pub fn fixed(size: u64) -> Result<Self> {
        if size == 0 {
            return Err(Error::TooFew { name: "first-stage", least: 1, value: 0 });
        }
        Ok(Self::Fixed(size))
    }

    /// How many of `users` are in the first stage: at least one, and at least one is left.
    pub fn of(self, users: u64) -> Result<u64> {
        if users < 2 {
            return Err(Error::TooFew { name: "users", least: 2, value: users });
        }
        let size = match self {
            Self::Fixed(size) => size,
            Self::Tuned(factor) => tuned_size(factor, users),
        };
        if size >= users {
            return Err(Error::TooMany { name: "first-stage", most: users - 1, value: size });
        }
        Ok(size)
    }
}

/// The root of `factor` times the users, at least 1 and at most half of them.
pub(crate) fn tuned_size(factor: f64, users: u64) -> u64 {
    ((factor * users as f64).sqrt().round() as u64).clamp(1, (users / 2).max(1))
}
