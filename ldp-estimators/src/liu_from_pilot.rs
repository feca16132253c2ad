//! The sequential quantile from a pilot, over many replications side by side.
//!
//! The pilots of a group of replications are drawn one after another, then all go on in lanes, each from its own start and with
//! its own generator as the pilot has left it. These generators are stepped one by one, which takes about a nanosecond a user and
//! nothing more to understand.

use crate::LiuEstimate;
use crate::liu::{Liu, LiuFromPilot};
use crate::liu_lanes::{Group, in_groups};
use crate::liu_walk::{LANES, Walk};
use crate::piloted::Pilot;
use crate::{BitwisePilot, PilotedEstimate, Rescaled, StartAt};
use ldp_core::{Error, Rescale, Result, StagedEstimator};
use ldp_simulate::AnyModel;
use ldp_simulate::Replay;
use ldp_simulate::seed::SimulationRng;
use ldp_simulate::{InLanes, Setting, replicate_tallies};
use rand::Rng;
use std::ops::Range;

/// What a pilot found, and the estimate from there.
type Found = <BitwisePilot as StagedEstimator>::Estimate;
type Estimate = PilotedEstimate<Found, LiuEstimate>;

impl InLanes for LiuFromPilot {
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&Estimate),
    ) -> Result<()> {
        // Too few users are refused here.
        self.begin(setting.users)?;
        let pilots = Replay::new(self.pilot(), setting.model, setting.theta, setting.users, setting.seed)?;
        let (unit, sigma) = self.main().parts();
        let walk = if unit.batch == 1 { Walk::new(unit, sigma, setting, &[]) } else { None };
        match walk {
            Some(walk) => {
                let lanes = Vec::with_capacity(LANES);
                let mut group = FromPilots { protocol: self, setting, pilots, lanes, walk, visit };
                in_groups(replications, &mut group)
            }
            None => replicate_tallies(self, setting, replications, visit),
        }
    }
}

struct FromPilots<'a> {
    protocol: &'a LiuFromPilot,
    setting: &'a Setting<'a>,
    pilots: Replay<'a, BitwisePilot, dyn AnyModel + 'a>,
    /// What each pilot found, the protocol from there, and the generator as the pilot has left it.
    lanes: Vec<(Found, Rescaled<Liu>, SimulationRng)>,
    /// From where values are, as nearly all pilots find.
    walk: Walk<'a>,
    visit: &'a mut dyn FnMut(&Estimate),
}

impl Group for FromPilots<'_> {
    fn replicate<const N: usize>(&mut self, first: u64) -> Result<()> {
        let (pilot, main) = (self.protocol.pilot(), self.protocol.main());
        let users = self.setting.users;
        let Self { lanes, pilots, .. } = self;
        lanes.clear();
        for replication in (first..).take(N) {
            let mut found = None;
            pilots.replicate(replication..replication + 1, &mut |estimate| found = Some(*estimate))?;
            let found: Found = found.ok_or(Error::Uninformative)?;
            lanes.push((found, main.start_at(pilot.start(&found))?, pilots.generator().clone()));
        }
        let starts: [f64; N] = std::array::from_fn(|lane| lanes[lane].1.parts().0.question.threshold());
        // One that was led astray has a coarser table made for it and its neighbours.
        let wider;
        let walk = if self.walk.covers(&starts) {
            &self.walk
        } else {
            let (unit, sigma) = main.parts();
            wider = Walk::new(unit, sigma, self.setting, &starts);
            match &wider {
                Some(wider) => wider,
                None => return replicate_tallies(self.protocol, self.setting, first..first + N as u64, self.visit),
            }
        };
        let states = walk.run(
            starts,
            #[inline(always)]
            |rows| {
                for (lane, (.., kept)) in lanes.iter_mut().enumerate() {
                    // A copy, which can stay in registers.
                    let mut generator = kept.clone();
                    for row in rows.iter_mut() {
                        row[lane] = generator.next_u64();
                    }
                    *kept = generator;
                }
            },
            users - pilot.users(users)?,
        )?;
        for (state, (found, main, _)) in states.into_iter().zip(lanes.iter()) {
            let (unit, sigma) = main.parts();
            (self.visit)(&PilotedEstimate::new(*found, unit.estimate(state)?.rescale(sigma)?));
        }
        Ok(())
    }
}
