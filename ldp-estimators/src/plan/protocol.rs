//! The protocols a plan can choose from.

use super::outlook::{Effort, Outlook};
use super::pilots::Pilots;
use super::stages::Stages;
use ldp_core::{Epsilon, Error, Result};

/// A kind of protocol, before its users are allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`OneStage`](crate::OneStage) at the middle of the prior interval.
    OneStage,
    /// [`DuchiRogers`](crate::DuchiRogers), which also uses that the mean is in the interval.
    DuchiRogers,
    /// [`TwoStage`](crate::TwoStage) from the middle.
    TwoStage,
    /// [`Joseph`](crate::Joseph): a bitwise pilot, then one stage.
    Joseph,
    /// [`ThreeStage`](crate::ThreeStage): a bitwise pilot, then two.
    ThreeStage,
}

impl Kind {
    /// All of them, those with fewer rounds first.
    pub const ALL: [Self; 5] = [Self::OneStage, Self::DuchiRogers, Self::TwoStage, Self::Joseph, Self::ThreeStage];

    /// How often users are asked.
    #[must_use]
    pub fn rounds(self) -> u32 {
        match self {
            Self::OneStage | Self::DuchiRogers => 1,
            Self::TwoStage | Self::Joseph => 2,
            Self::ThreeStage => 3,
        }
    }
}

/// A protocol with its users allocated, in the unit of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Protocol {
    /// Everybody answers at `start`.
    OneStage {
        /// The threshold.
        start: f64,
    },
    /// Everybody answers at `start`, and the estimate is within `range` of it.
    DuchiRogers {
        /// The threshold.
        start: f64,
        /// How far the mean may be from it.
        range: f64,
    },
    /// Some users first.
    TwoStage {
        /// The first threshold.
        start: f64,
        /// How many.
        first_stage: u64,
    },
    /// A pilot, then one stage.
    Joseph {
        /// The smallest mean.
        low: f64,
        /// The largest mean.
        high: f64,
        /// Users of the pilot.
        pilot: u64,
    },
    /// A pilot, then two stages.
    ThreeStage {
        /// The smallest mean.
        low: f64,
        /// The largest mean.
        high: f64,
        /// Users of the pilot.
        pilot: u64,
        /// Users of the first stage after it.
        first_stage: u64,
    },
}

impl Protocol {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::OneStage { .. } => Kind::OneStage,
            Self::DuchiRogers { .. } => Kind::DuchiRogers,
            Self::TwoStage { .. } => Kind::TwoStage,
            Self::Joseph { .. } => Kind::Joseph,
            Self::ThreeStage { .. } => Kind::ThreeStage,
        }
    }

    /// The users of its pilot and of its first stage.
    #[must_use]
    pub fn spent(&self) -> [u64; 2] {
        match *self {
            Self::OneStage { .. } | Self::DuchiRogers { .. } => [0, 0],
            Self::TwoStage { first_stage, .. } => [0, first_stage],
            Self::Joseph { pilot, .. } => [pilot, 0],
            Self::ThreeStage { pilot, first_stage, .. } => [pilot, first_stage],
        }
    }
}

/// Where protocols are tried out: everything but the protocol and the mean.
pub(super) struct Ground {
    pub epsilon: Epsilon,
    pub sigma: f64,
    pub level: f64,
    pub stages: Stages,
}

impl Ground {
    pub fn new(epsilon: Epsilon, sigma: f64, level: f64) -> Result<Self> {
        Ok(Self { epsilon, sigma, level, stages: Stages::new(epsilon, level)? })
    }

    /// What a protocol promises with so many users at one mean.
    pub fn outlook(
        &self,
        protocol: &Protocol,
        users: u64,
        theta: f64,
        effort: Effort,
        pilots: &Pilots,
    ) -> Result<Outlook> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        let away = |start: f64| (theta - start) / self.sigma;
        let unit = match *protocol {
            Protocol::OneStage { start } => self.stages.one(users, away(start), effort)?,
            Protocol::DuchiRogers { start, range } => {
                self.stages.cut(users, away(start), range / self.sigma, effort)?
            }
            Protocol::TwoStage { start, first_stage } => {
                let rest = users.saturating_sub(first_stage);
                if rest == 0 {
                    return Err(Error::TooMany {
                        name: "first-stage",
                        most: users.saturating_sub(1),
                        value: first_stage,
                    });
                }
                self.stages.two(first_stage, rest, away(start), effort)?
            }
            Protocol::Joseph { pilot, .. } => return pilots.outlook(self, pilot, None, users, theta, effort),
            Protocol::ThreeStage { pilot, first_stage, .. } => {
                return pilots.outlook(self, pilot, Some(first_stage), users, theta, effort);
            }
        };
        Ok(unit.in_unit(self.sigma))
    }
}
