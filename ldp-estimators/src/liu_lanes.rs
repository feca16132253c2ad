//! The sequential quantile over many replications, several of them side by side.

use crate::LiuEstimate;
use crate::Rescaled;
use crate::liu::Liu;
use crate::liu_walk::{LANES, Walk};
use ldp_core::{Error, Rescale, Result};
use ldp_simulate::seed::{Purpose, Streams};
use ldp_simulate::{InLanes, Setting, replicate_tallies};
use std::ops::Range;

impl InLanes for Liu {
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&LiuEstimate),
    ) -> Result<()> {
        match walk(self, 1.0, setting)? {
            Some(walk) => in_groups(replications, &mut FromOneStart { unit: self, sigma: 1.0, walk, setting, visit }),
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
            Some(walk) => in_groups(replications, &mut FromOneStart { unit, sigma, walk, setting, visit }),
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
    Ok(if unit.batch == 1 { Walk::new(unit, sigma, setting, &[unit.question.threshold()]) } else { None })
}

/// What is done with replications side by side.
pub(crate) trait Group {
    /// The `N` replications from `first` on.
    fn replicate<const N: usize>(&mut self, first: u64) -> Result<()>;
}

/// All replications in order, as many side by side as there are.
pub(crate) fn in_groups(replications: Range<u64>, group: &mut impl Group) -> Result<()> {
    let mut next = replications.start;
    while next < replications.end {
        next += match replications.end - next {
            1 => group.replicate::<1>(next).map(|()| 1),
            2 | 3 => group.replicate::<2>(next).map(|()| 2),
            4..8 => group.replicate::<4>(next).map(|()| 4),
            8..16 => group.replicate::<8>(next).map(|()| 8),
            _ => group.replicate::<LANES>(next).map(|()| LANES as u64),
        }?;
    }
    Ok(())
}

struct FromOneStart<'a> {
    unit: &'a Liu,
    sigma: f64,
    walk: Walk<'a>,
    setting: &'a Setting<'a>,
    visit: &'a mut dyn FnMut(&LiuEstimate),
}

impl Group for FromOneStart<'_> {
    fn replicate<const N: usize>(&mut self, first: u64) -> Result<()> {
        let mut streams = Streams::<N>::new(self.setting.seed, Purpose::Tally, first, 0);
        let states = self.walk.run(
            [self.unit.question.threshold(); N],
            #[inline(always)]
            |rows| streams.fill(rows),
            self.setting.users,
        )?;
        for state in states {
            // At σ = 1 every bit stays.
            (self.visit)(&self.unit.estimate(state)?.rescale(self.sigma)?);
        }
        Ok(())
    }
}
