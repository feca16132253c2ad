//! Protocols that begin with a bitwise pilot: the law of the pilot, and what follows from where it points.

use super::outlook::{Effort, Outlook};
use super::prior::Prior;
use super::protocol::{Ground, Protocol};
use super::worst::{FINELY, worst};
use crate::bitwise_law::PilotLaw;
use crate::bitwise_pilot::exp2;
use crate::{BitwisePilot, Share, one_stage_variance};
use ldp_core::model::Gaussian;
use ldp_core::{Error, Result};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex};

/// Beyond this distance in σ a stage cannot find back: what it adds to the risk is its distance.
const LOST: f64 = 4.0;

/// Larger groups have their law worked out roughly: it takes about a microsecond per user and table, and is nearly normal.
const EXACT_GROUP: u64 = 6_000;

/// Smaller groups have the exact law always: it takes no longer, and they are far from normal.
const SMALL_GROUP: u64 = 160;

/// Places per cell of the finest scale.
const PER_CELL: i32 = 4;

/// Candidates cost at most so many times as much as the cheapest: leading terms are not all.
const NEAR: f64 = 1.4;

/// Groups of fewer users are tried in small steps.
const FEW: u64 = 400;

/// How many boundaries have their surroundings looked at.
const BOUNDARIES: usize = 2;

/// Where a pilot leaves what follows it, seen from one mean and in σ.
struct Starts {
    /// Distances of at most [`LOST`] with their probabilities.
    near: Vec<(f64, f64)>,
    /// All that is farther off: it stays where the pilot put it, and has an infinite interval.
    stray: Outlook,
}

impl Starts {
    fn new(law: &PilotLaw, theta: f64, sigma: f64) -> Self {
        let (mut near, mut stray): (Vec<(f64, f64)>, Outlook) = (Vec::new(), Outlook::default());
        for &(probability, found) in &law.found {
            // Distances that differ by rounding are the same.
            let away = ((theta - found.value()).abs() / sigma * 1e9).round() * 1e-9;
            if away > LOST {
                stray.add(probability, &Outlook { mse: away * away, infinite: 1.0, ..Outlook::default() });
            } else {
                match near.iter_mut().find(|(_, known)| *known == away) {
                    Some((known, _)) => *known += probability,
                    None => near.push((probability, away)),
                }
            }
        }
        Self { near, stray }
    }

    /// The probability of more than two σ.
    fn failure(&self) -> f64 {
        let far = self.near.iter().filter(|(_, away)| *away > 2.0).map(|(probability, _)| probability);
        (far.sum::<f64>() + self.stray.infinite).min(1.0)
    }
}

/// By the users per scale and the bits of the mean, and whether it is exact.
type Known = HashMap<(u64, u64, bool), Arc<Starts>>;

/// A pilot over a range, with what is already known about it.
pub(super) struct Pilots {
    prior: Prior,
    pilot: Option<BitwisePilot>,
    starts: Mutex<Known>,
    /// Outlooks of what follows a pilot, by its users, its first stage and the distance of the start.
    after: Mutex<HashMap<(u64, u64, u64, Effort), Outlook>>,
    places: Vec<f64>,
}

impl Pilots {
    pub fn new(ground: &Ground, prior: Prior) -> Self {
        let range = [prior.low(), prior.high()];
        let pilot = BitwisePilot::new(ground.epsilon, range, ground.sigma, Share::HALF).ok();
        let places = places(prior, ground.sigma, pilot.as_ref());
        Self { prior, pilot, starts: Mutex::default(), after: Mutex::default(), places }
    }

    /// The means that stand for the range.
    ///
    /// What a pilot does depends on where the mean lies in the cells of the fine scales, and on how many coarse scales have
    /// a boundary near it: at each of those it may fail. So the surroundings of the boundaries that most scales share are
    /// looked at and those of the ends of the range, over four cells of the finest scale on either side.
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

    /// Where a pilot of so many users leaves what follows, seen from one mean.
    fn starts(&self, ground: &Ground, users: u64, theta: f64, effort: Effort) -> Result<Arc<Starts>> {
        let group = users / self.scales()?;
        let exact = group <= SMALL_GROUP || effort == Effort::Fine && group <= EXACT_GROUP;
        let key = (group, theta.to_bits(), exact);
        if let Some(starts) = self.starts.lock().ok().and_then(|known| known.get(&key).cloned()) {
            return Ok(starts);
        }
        let (pilot, model) = (self.pilot()?, Gaussian::new(ground.sigma)?);
        let law = if exact { pilot.law(group, &model, theta)? } else { pilot.rough_law(group, &model, theta)? };
        let starts = Arc::new(Starts::new(&law, theta, ground.sigma));
        if let Ok(mut known) = self.starts.lock() {
            known.insert(key, starts.clone());
        }
        Ok(starts)
    }

    /// The largest probability, over all places, that the pilot ends more than two σ off.
    pub fn failure(&self, ground: &Ground, users: u64) -> Result<f64> {
        let failure = |theta: f64, effort| Ok::<_, Error>(self.starts(ground, users, theta, effort)?.failure());
        let found = worst(&self.places, FINELY, |theta| failure(theta, Effort::Rough), |&failure| failure)?;
        found.map_or(Ok(0.0), |(theta, _)| failure(theta, Effort::Fine))
    }

    /// What a protocol promises at one mean.
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
        let starts = self.starts(ground, pilot, theta, effort)?;
        let mut outlook = starts.stray;
        for &(probability, away) in &starts.near {
            // What is rare may be rough.
            let effort = if probability < 1e-3 { Effort::Rough } else { effort };
            outlook.add(probability, &self.after(ground, left, first_stage, away, effort)?);
        }
        Ok(outlook.in_unit(ground.sigma))
    }

    /// What follows a pilot that left so many users and points `away` from the mean, in σ: the same at every place.
    fn after(
        &self,
        ground: &Ground,
        left: u64,
        first_stage: Option<u64>,
        away: f64,
        effort: Effort,
    ) -> Result<Outlook> {
        let key = (left, first_stage.unwrap_or(0), away.to_bits(), effort);
        if let Some(known) = self.after.lock().ok().and_then(|known| known.get(&key).copied()) {
            return Ok(known);
        }
        let outlook = match first_stage {
            Some(first_stage) => ground.stages.two(first_stage, left - first_stage, away, effort)?,
            None => ground.stages.one(left, away, effort)?,
        };
        if let Ok(mut known) = self.after.lock() {
            known.insert(key, outlook);
        }
        Ok(outlook)
    }

    /// Pilots of about the least cost, from small to large, each with its first stage if there is one.
    ///
    /// The cost goes by leading terms: the law of the pilot with the asymptotic variance of what follows, and a pilot that is lost
    /// counted with its distance.
    pub fn candidates(&self, ground: &Ground, users: u64, two_stages: bool) -> Result<Vec<Protocol>> {
        let (scales, fewest) = (self.scales()?, self.fewest()?);
        if fewest + 2 >= users {
            return Err(Error::TooFew { name: "users", least: fewest.saturating_add(3), value: users });
        }
        let bound = one_stage_variance(ground.epsilon, 0.0);
        let mut all: Vec<(f64, Protocol)> = Vec::new();
        let (mut group, mut least) = (self.pilot()?.fewest_per_scale(), f64::INFINITY);
        loop {
            let pilot = group * scales;
            // Costs fall in steps, whenever another scale begins to pass, so no rise is the end of it: only that the users
            // left could not do better even from a perfect start.
            if pilot + 2 >= users || bound / (users - pilot) as f64 > least {
                break;
            }
            let (cost, first_stage) = self.cost(ground, users, pilot, two_stages)?;
            least = least.min(cost);
            all.push((cost, self.protocol(pilot, two_stages.then_some(first_stage))));
            // Of small groups every count matters to what passes.
            group += group.div_ceil(if group < FEW { 24 } else { 7 });
        }
        Ok(all.into_iter().filter(|(cost, _)| *cost <= NEAR * least).map(|(_, protocol)| protocol).collect())
    }

    /// A pilot of about so many users, and what follows it.
    fn protocol(&self, pilot: u64, first_stage: Option<u64>) -> Protocol {
        let (low, high) = (self.prior.low(), self.prior.high());
        match first_stage {
            Some(first_stage) => Protocol::ThreeStage { low, high, pilot, first_stage },
            None => Protocol::Joseph { low, high, pilot },
        }
    }

    /// The cost of a pilot of so many users at the worst of every other place, and the first stage that goes with it.
    fn cost(&self, ground: &Ground, users: u64, pilot: u64, two_stages: bool) -> Result<(f64, u64)> {
        let left = (users - pilot) as f64;
        let tau = ground.epsilon.tau();
        let c = 1.0 - 2.0 * tau * tau / PI;
        let bound = one_stage_variance(ground.epsilon, 0.0);
        let (mut cost, mut first) = (0f64, 0f64);
        for &theta in self.places.iter().step_by(2) {
            let starts = self.starts(ground, pilot, theta, Effort::Rough)?;
            let likely = starts.near.iter().map(|(p, away)| p * one_stage_variance(ground.epsilon, *away));
            let (variance, stray) = (likely.sum::<f64>(), starts.stray.mse);
            let size = (c * variance * left).sqrt().clamp(1.0, left / 2.0);
            let own = if two_stages { bound * (1.0 + c * variance / size) / (left - size) } else { variance / left };
            if own + stray > cost {
                (cost, first) = (own + stray, size);
            }
        }
        Ok((cost, (first.round() as u64).max(1)))
    }
}

/// See [`Pilots::places`].
fn places(prior: Prior, sigma: f64, pilot: Option<&BitwisePilot>) -> Vec<f64> {
    let (low, high) = (prior.low(), prior.high());
    let mut places = vec![low, prior.centre(), high];
    if let Some(pilot) = pilot {
        let step = exp2(pilot.exponents().start) / f64::from(PER_CELL);
        for boundary in boundaries([low - sigma, high + sigma], prior.centre(), pilot).into_iter().chain([low, high]) {
            places.extend((-4 * PER_CELL..=4 * PER_CELL).map(|i| boundary + f64::from(i) * step));
        }
    }
    places.retain(|place| (low..=high).contains(place));
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The boundaries in an interval that most scales share, the nearest to the centre of those that are alike.
fn boundaries([low, high]: [f64; 2], centre: f64, pilot: &BitwisePilot) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for exponent in pilot.exponents().rev() {
        let scale = exp2(exponent);
        let [first, last] = [(low / scale).ceil(), (high / scale).floor()];
        if first > last {
            continue;
        }
        let near = (centre / scale).round().clamp(first, last);
        for multiple in [near, near - 1.0, near + 1.0] {
            let boundary = multiple * scale;
            if (first..=last).contains(&multiple) && !found.contains(&boundary) && found.len() < BOUNDARIES {
                found.push(boundary);
            }
        }
    }
    found
}
