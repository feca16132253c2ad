//! Protocols that begin with a bitwise pilot: the law of the pilot, and what follows from where it points.

use super::outlook::{Effort, Outlook};
use super::prior::Prior;
use super::protocol::{Ground, Protocol};
use crate::bitwise_law::PilotLaw;
use crate::{BitwisePilot, Share, one_stage_variance};
use ldp_core::model::Gaussian;
use ldp_core::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::f64::consts::PI;
use std::sync::Mutex;

/// Beyond this distance in σ a stage cannot find back: what it adds to the risk is its distance.
const LOST: f64 = 3.0;

/// No two stages end farther than this from where they start, in σ: each inverts a tail of at least 1e-32, 11.9 σ out.
const FARTHEST: f64 = 25.0;

/// A pilot over a range, with what is already known about it.
pub(super) struct Pilots {
    prior: Prior,
    pilot: Option<BitwisePilot>,
    /// Laws by users per scale, one per place.
    laws: Mutex<HashMap<u64, std::sync::Arc<Vec<PilotLaw>>>>,
    /// Outlooks of what follows a pilot, by its users, its first stage and the distance of the start.
    after: Mutex<HashMap<(u64, u64, u64, Effort), Outlook>>,
    places: Vec<f64>,
}

impl Pilots {
    pub fn new(ground: &Ground, prior: Prior) -> Self {
        let range = [prior.low(), prior.high()];
        let pilot = BitwisePilot::new(ground.epsilon, range, ground.sigma, Share::HALF).ok();
        let places = places(prior, pilot.as_ref());
        Self { prior, pilot, laws: Mutex::default(), after: Mutex::default(), places }
    }

    /// The means that stand for the range: its ends, its middle, places next to boundaries of the coarse scales, where a
    /// pilot has the hardest time, and a few more spread over it.
    pub fn places(&self) -> &[f64] {
        &self.places
    }

    fn pilot(&self) -> Result<&BitwisePilot> {
        let needs = "a range that the pilot can number";
        self.pilot.as_ref().ok_or(Error::Unsupported { what: "a bitwise pilot", needs })
    }

    fn scales(&self) -> Result<u64> {
        Ok(u64::from(self.pilot()?.scales()))
    }

    /// The fewest users with which the pilot can do anything.
    pub fn fewest(&self) -> Result<u64> {
        Ok(self.pilot()?.fewest_per_scale().saturating_mul(self.scales()?))
    }

    /// The laws of a pilot of so many users at all places.
    fn laws(&self, ground: &Ground, users: u64) -> Result<std::sync::Arc<Vec<PilotLaw>>> {
        let group = users / self.scales()?;
        if let Some(laws) = self.laws.lock().ok().and_then(|laws| laws.get(&group).cloned()) {
            return Ok(laws);
        }
        let (pilot, model) = (self.pilot()?, Gaussian::new(ground.sigma)?);
        let laws = self.places.par_iter().map(|&theta| pilot.law(group, &model, theta)).collect::<Result<Vec<_>>>()?;
        let laws = std::sync::Arc::new(laws);
        if let Ok(mut known) = self.laws.lock() {
            known.insert(group, laws.clone());
        }
        Ok(laws)
    }

    /// The largest probability, over all places, that the pilot ends more than two σ off.
    pub fn failure(&self, ground: &Ground, users: u64) -> Result<f64> {
        let laws = self.laws(ground, users)?;
        let each = self.places.iter().zip(laws.iter()).map(|(&theta, law)| law.failure(theta, 2.0 * ground.sigma));
        Ok(each.fold(0.0, f64::max))
    }

    /// What a protocol promises at one of the places.
    pub fn outlook(
        &self,
        ground: &Ground,
        pilot: u64,
        first_stage: Option<u64>,
        users: u64,
        theta: f64,
        effort: Effort,
    ) -> Result<Outlook> {
        let scales = self.scales()?;
        let taken = pilot / scales * scales;
        let left = users.saturating_sub(taken);
        if left < 2 || first_stage.is_some_and(|first| first >= left) {
            return Err(Error::TooFew { name: "users", least: taken + first_stage.unwrap_or(1) + 1, value: users });
        }
        let place = self.places.iter().position(|&place| place == theta);
        let laws = self.laws(ground, pilot)?;
        let place = place.ok_or(Error::Parameter { name: "theta", requirement: "one of the places", value: theta })?;
        let mut outlook = Outlook::default();
        let scale = ground.sigma * ground.sigma / users as f64;
        for (probability, found) in &laws[place].found {
            let away = theta - found.value();
            // What is so rare that it does not matter to a ten-thousandth counts as if it stayed where the pilot put it,
            // with an infinite interval: both are worse than what would follow.
            if probability * (away.abs() + FARTHEST * ground.sigma).powi(2) < 1e-5 * scale && *probability < 1e-6 {
                let worst = (away.abs() + FARTHEST * ground.sigma).powi(2);
                outlook.add(*probability, &Outlook { mse: worst, infinite: 1.0, ..Outlook::default() });
                continue;
            }
            outlook.add(*probability, &self.after(ground, left, first_stage, away, effort)?);
        }
        Ok(outlook)
    }

    /// What follows a pilot that left so many users and points `away` from the mean: the same at every place.
    fn after(
        &self,
        ground: &Ground,
        left: u64,
        first_stage: Option<u64>,
        away: f64,
        effort: Effort,
    ) -> Result<Outlook> {
        // By symmetry the side does not matter; distances that differ by rounding are the same.
        let away = (away.abs() / ground.sigma * 1e9).round() * 1e-9 * ground.sigma;
        let key = (left, first_stage.unwrap_or(0), away.to_bits(), effort);
        if let Some(known) = self.after.lock().ok().and_then(|known| known.get(&key).copied()) {
            return Ok(known);
        }
        let protocol = match first_stage {
            Some(first_stage) => Protocol::TwoStage { start: 0.0, first_stage },
            None => Protocol::OneStage { start: 0.0 },
        };
        let outlook = ground.direct(&protocol, left, away, effort)?;
        if let Ok(mut known) = self.after.lock() {
            known.insert(key, outlook);
        }
        Ok(outlook)
    }

    /// The users of the pilot, and of the first stage after it if there is one, by leading terms: the exact law of the
    /// pilot with the asymptotic variance of what follows, a pilot that is lost counted with its distance.
    pub fn allocate(&self, ground: &Ground, users: u64, two_stages: bool) -> Result<Protocol> {
        let scales = self.scales()?;
        let fewest = self.fewest()?;
        if fewest + 2 >= users {
            return Err(Error::TooFew { name: "users", least: fewest.saturating_add(3), value: users });
        }
        let mut best: Option<(f64, u64, u64)> = None;
        let mut group = self.pilot()?.fewest_per_scale();
        let bound = one_stage_variance(ground.epsilon, 0.0);
        let fewest_group = group;
        let look = |group: u64, best: &mut Option<(f64, u64, u64)>| -> Result<bool> {
            let pilot = group * scales;
            // Costs fall in steps, whenever another scale begins to pass, so no rise is the end of it: only that the users
            // left could not do better even from a perfect start.
            let hopeless = |least: f64| pilot + 2 >= users || bound / (users - pilot) as f64 > least;
            if hopeless(best.map_or(f64::INFINITY, |(least, ..)| least)) {
                return Ok(false);
            }
            let (cost, first_stage) = match self.cost(ground, users, pilot, two_stages) {
                // More than can be summed.
                Err(Error::TooMany { .. }) if best.is_some() => return Ok(false),
                cost => cost?,
            };
            if best.is_none_or(|(least, ..)| cost < least) {
                *best = Some((cost, pilot, first_stage));
            }
            Ok(true)
        };
        while look(group, &mut best)? {
            group += group.div_ceil(3);
        }
        for factor in [0.87, 1.15, 0.93, 1.07] {
            if let Some((_, pilot, _)) = best {
                look((((pilot / scales) as f64 * factor).round() as u64).max(fewest_group), &mut best)?;
            }
        }
        let (_, pilot, first_stage) =
            best.ok_or(Error::TooFew { name: "users", least: fewest.saturating_add(3), value: users })?;
        let (low, high) = (self.prior.low(), self.prior.high());
        Ok(match two_stages {
            true => Protocol::ThreeStage { low, high, pilot, first_stage },
            false => Protocol::Joseph { low, high, pilot },
        })
    }

    /// The cost of a pilot of so many users at the worst place, and the first stage that goes with it.
    fn cost(&self, ground: &Ground, users: u64, pilot: u64, two_stages: bool) -> Result<(f64, u64)> {
        let laws = self.laws(ground, pilot)?;
        let left = (users - pilot) as f64;
        let tau = ground.epsilon.tau();
        let c = 1.0 - 2.0 * tau * tau / PI;
        let bound = one_stage_variance(ground.epsilon, 0.0);
        let (mut cost, mut first) = (0f64, 0f64);
        for (&theta, law) in self.places.iter().zip(laws.iter()) {
            let (mut variance, mut stray) = (0.0, 0.0);
            for (probability, found) in &law.found {
                let away = (theta - found.value()).abs() / ground.sigma;
                if away <= LOST {
                    variance += probability * one_stage_variance(ground.epsilon, away);
                } else {
                    stray += probability * (away + LOST).powi(2);
                }
            }
            let size = (c * variance * left).sqrt().clamp(1.0, left / 2.0);
            let own = if two_stages { bound * (1.0 + c * variance / size) / (left - size) } else { variance / left };
            if own + stray > cost {
                (cost, first) = (own + stray, size);
            }
        }
        Ok((cost, (first.round() as u64).max(1)))
    }
}

fn places(prior: Prior, pilot: Option<&BitwisePilot>) -> Vec<f64> {
    let (low, high) = (prior.low(), prior.high());
    let width = high - low;
    // The golden ratio's multiples fill the range evenly, whatever their number.
    let mut places: Vec<f64> =
        (1..=3).map(|i| low + width * (f64::from(i) * 0.618_033_988_749_894_9).fract()).collect();
    places.extend([low, prior.centre(), high]);
    if let Some(pilot) = pilot {
        let finest = crate::bitwise_pilot::exp2(pilot.exponents().start);
        for exponent in pilot.exponents().rev().take(2) {
            let scale = crate::bitwise_pilot::exp2(exponent);
            let boundary = (prior.centre() / scale).round() * scale;
            places.extend([boundary + 0.5 * finest, boundary - 0.25 * finest]);
        }
    }
    places.retain(|place| (low..=high).contains(place));
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}
