//! The sequential quantile over many replications, several of them side by side.

use crate::Rescaled;
use crate::liu::{Liu, LiuEstimate};
use crate::liu_walk::{LANES, Walk};
use ldp_core::erased::{InLanes, Setting, replicate_tallies};
use ldp_core::seed::{Purpose, Streams};
use ldp_core::{Error, Rescale, Result};
use std::ops::Range;

impl InLanes for Liu {
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&LiuEstimate),
    ) -> Result<()> {
        match walk(self, 1.0, setting)? {
            Some(walk) => all(self, walk, setting, replications, &mut |estimate| {
                visit(&estimate);
                Ok(())
            }),
            None => replicate_tallies(self, setting, replications, visit),
        }
    }
}

impl InLanes for Rescaled<Liu> {
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&LiuEstimate),
    ) -> Result<()> {
        let (unit, sigma) = self.parts();
        match walk(unit, sigma, setting)? {
            Some(walk) => all(unit, walk, setting, replications, &mut |estimate| {
                visit(&if sigma == 1.0 { estimate } else { estimate.rescale(sigma)? });
                Ok(())
            }),
            None => replicate_tallies(self, setting, replications, visit),
        }
    }
}

/// A walk in lanes, unless it has to be made one after another.
fn walk<'a>(unit: &'a Liu, sigma: f64, setting: &'a Setting<'a>) -> Result<Option<Walk<'a>>> {
    if setting.users == 0 {
        return Err(Error::TooFew { name: "users", least: 1, value: 0 });
    }
    setting.model.check_theta(setting.theta)?;
    let start = unit.question.threshold();
    Ok(if unit.batch == 1 { Walk::new(unit, sigma, setting, [start; 2]) } else { None })
}

fn all(
    unit: &Liu,
    walk: Walk<'_>,
    setting: &Setting<'_>,
    replications: Range<u64>,
    visit: &mut dyn FnMut(LiuEstimate) -> Result<()>,
) -> Result<()> {
    let mut next = replications.start;
    while next < replications.end {
        next += match replications.end - next {
            1 => lanes::<1>(unit, &walk, setting, next, visit)?,
            2 | 3 => lanes::<2>(unit, &walk, setting, next, visit)?,
            4..8 => lanes::<4>(unit, &walk, setting, next, visit)?,
            8..16 => lanes::<8>(unit, &walk, setting, next, visit)?,
            _ => lanes::<LANES>(unit, &walk, setting, next, visit)?,
        };
    }
    Ok(())
}

/// The `N` replications from `first` on; returns how many they are.
fn lanes<const N: usize>(
    unit: &Liu,
    walk: &Walk<'_>,
    setting: &Setting<'_>,
    first: u64,
    visit: &mut dyn FnMut(LiuEstimate) -> Result<()>,
) -> Result<u64> {
    let streams = Streams::<N>::new(setting.seed, Purpose::Tally, first, 0);
    for state in walk.run([unit.question.threshold(); N], streams, setting.users)? {
        visit(unit.estimate(state)?)?;
    }
    Ok(N as u64)
}
