//! How the users of a protocol are best split.

use super::gauss::GAUSS;
use super::outlook::{Effort, Outlook};
use super::pilots::Pilots;
use super::prior::{Criterion, Prior};
use super::protocol::{Ground, Kind, Protocol};
use super::worst::{FINELY, worst};
use crate::one_stage_variance;
use ldp_core::special::normal;
use ldp_core::{Error, Result};
use std::f64::consts::PI;

/// Places on one side of the start of a protocol without a pilot.
const SIDE: i32 = 16;

/// Means over which a piloted protocol is averaged.
const EVENLY: i32 = 32;

/// Allocations of a piloted protocol that are compared by what they promise, at first.
const CANDIDATES: usize = 6;

/// A plan avoids infinite ends of intervals: at most this probability, or as little as its users allow.
pub(super) const MOST_INFINITE: f64 = 0.01;

/// Where protocols are tried out, over all means of a prior interval.
pub(super) struct Trial {
    pub ground: Ground,
    pub prior: Prior,
    pub criterion: Criterion,
    pub pilots: Pilots,
}

impl Trial {
    /// The quantile that makes a half-width of a standard deviation.
    pub fn z(&self) -> f64 {
        -normal::quantile((1.0 - self.ground.level) / 2.0)
    }

    /// The asymptotic variance of the best sign protocol, in the unit of the data.
    pub fn bound(&self) -> f64 {
        self.ground.sigma.powi(2) * one_stage_variance(self.ground.epsilon, 0.0)
    }

    /// The standard deviation that the best sign protocol has with so many users who have values of this σ.
    pub fn bound_at(&self, sigma: f64, users: u64) -> f64 {
        sigma * (one_stage_variance(self.ground.epsilon, 0.0) / users as f64).sqrt()
    }

    /// The means at which a protocol is tried, from low to high: the worst lies at one of them or between two.
    fn places(&self, kind: Kind) -> Vec<f64> {
        let (centre, radius) = (self.prior.centre(), self.prior.radius());
        match kind {
            Kind::Joseph | Kind::ThreeStage => self.pilots.places().to_vec(),
            // These are the same on both sides of the middle.
            _ => (0..=SIDE).map(|i| centre + f64::from(i) / f64::from(SIDE) * radius).collect(),
        }
    }

    /// Means that stand for all of them, with weights.
    fn spread_out(&self, kind: Kind) -> Vec<(f64, f64)> {
        let (centre, radius) = (self.prior.centre(), self.prior.radius());
        match kind {
            // Multiples of the golden ratio fill the range evenly, and keep step with no scale of a pilot.
            Kind::Joseph | Kind::ThreeStage => (1..=EVENLY)
                .map(|i| (f64::from(i) * 0.618_033_988_749_894_9).fract())
                .map(|share| (1.0 / f64::from(EVENLY), centre + (2.0 * share - 1.0) * radius))
                .collect(),
            _ => GAUSS.map(|(weight, share)| (weight, centre + share * radius)).to_vec(),
        }
    }

    /// What a protocol promises over all means, and the mean at which its intervals are widest. Errors may be largest at
    /// another: the mean squared error is the largest of all.
    pub fn outlook(&self, protocol: &Protocol, users: u64, effort: Effort) -> Result<(Outlook, f64)> {
        let kind = protocol.kind();
        let at = |theta: f64, effort| self.ground.outlook(protocol, users, theta, effort, &self.pilots);
        let mut places = self.places(kind);
        let last = places.len().saturating_sub(1);
        if effort == Effort::Glance {
            let some = places.iter().enumerate().filter(|(index, _)| index % 4 == 0 || *index == last);
            places = some.map(|(_, &place)| place).collect();
        }
        // The chance that a pilot fails has peaks a tenth of a σ wide: without a look between the places it is missed.
        let halvings = match effort {
            Effort::Glance => 0,
            Effort::Rough => FINELY / 2,
            Effort::Fine => FINELY,
        };
        let none = || Error::Unsupported { what: "a plan", needs: "a mean to plan for" };
        let (theta, rough) = worst(&places, halvings, |theta| at(theta, Effort::Rough), |outlook| self.rank(outlook))?
            .ok_or_else(none)?;
        let outlook = match self.criterion {
            Criterion::Worst => {
                let (far, large) = worst(&places, halvings, |theta| at(theta, Effort::Rough), |outlook| outlook.mse)?
                    .ok_or_else(none)?;
                match effort {
                    Effort::Glance | Effort::Rough => Outlook { mse: large.mse.max(rough.mse), ..rough },
                    Effort::Fine => {
                        let widest = at(theta, Effort::Fine)?;
                        Outlook { mse: at(far, Effort::Fine)?.mse.max(widest.mse), ..widest }
                    }
                }
            }
            Criterion::Average => {
                let mut all = Outlook::default();
                for (weight, theta) in self.spread_out(kind) {
                    // Rough is to a thousandth, and exact laws at so many means take seconds.
                    all.add(weight, &at(theta, Effort::Rough)?);
                }
                all
            }
        };
        Ok((outlook, theta))
    }

    /// The protocol of a kind with its users split as well as can be; with a pilot, as far as this effort tells.
    pub fn allocate(&self, kind: Kind, users: u64, effort: Effort) -> Result<Protocol> {
        let start = self.prior.centre();
        match kind {
            Kind::OneStage => Ok(Protocol::OneStage { start }),
            Kind::DuchiRogers => Ok(Protocol::DuchiRogers { start, range: self.prior.radius() }),
            Kind::TwoStage => self.two_stage(start, users),
            Kind::Joseph => self.piloted(users, false, effort),
            Kind::ThreeStage => self.piloted(users, true, effort),
        }
    }

    /// The pilot that promises most of those that are likely to.
    fn piloted(&self, users: u64, two_stages: bool, effort: Effort) -> Result<Protocol> {
        let all = self.pilots.candidates(&self.ground, users, two_stages)?;
        let mut ranks: Vec<Option<f64>> = vec![None; all.len()];
        let mut rank = |index: usize| -> Result<f64> {
            if let Some(known) = ranks[index] {
                return Ok(known);
            }
            let found = match self.outlook(&all[index], users, effort) {
                Ok((outlook, _)) => self.rank(&outlook),
                Err(Error::TooFew { .. }) => f64::INFINITY,
                Err(error) => return Err(error),
            };
            ranks[index] = Some(found);
            Ok(found)
        };
        let fewest = self.pilots.fewest()?.saturating_add(3);
        let none = Error::TooFew { name: "users", least: fewest.max(users + 1), value: users };
        let last = all.len().checked_sub(1).ok_or(none)?;
        // Some of them first, then the neighbours of the best, as long as one is better.
        let mut best = (f64::INFINITY, 0);
        for index in (0..CANDIDATES).map(|i| i * last / (CANDIDATES - 1)) {
            best = lower(best, (rank(index)?, index));
        }
        loop {
            let mut next = best;
            for near in [best.1.saturating_sub(1), (best.1 + 1).min(last)] {
                next = lower(next, (rank(near)?, near));
            }
            if next.1 == best.1 {
                return Ok(all[best.1]);
            }
            best = next;
        }
    }

    /// How bad a promise is: more infinite ends than a plan may have are worse than any width.
    fn rank(&self, outlook: &Outlook) -> f64 {
        match outlook.infinite > MOST_INFINITE {
            true => f64::MAX.sqrt() * (1.0 + outlook.infinite),
            false => outlook.shown(self.z()),
        }
    }

    /// Half of the users to each round: what one would do without a plan.
    pub fn naive(&self, kind: Kind, users: u64) -> Protocol {
        let (start, low, high) = (self.prior.centre(), self.prior.low(), self.prior.high());
        match kind {
            Kind::OneStage | Kind::DuchiRogers | Kind::TwoStage => {
                Protocol::TwoStage { start, first_stage: (users / 2).max(1) }
            }
            Kind::Joseph | Kind::ThreeStage => Protocol::Joseph { low, high, pilot: users / 2 },
        }
    }

    /// The first stage with the smallest spread: a grid around the law of the best size, then halving steps.
    fn two_stage(&self, start: f64, users: u64) -> Result<Protocol> {
        if users < 2 {
            return Err(Error::TooFew { name: "users", least: 2, value: users });
        }
        let z = self.z();
        let protocol = |first_stage: u64| Protocol::TwoStage { start, first_stage };
        let spread = |first_stage: u64| {
            let (outlook, _) = match self.outlook(&protocol(first_stage), users, Effort::Rough) {
                // One size that cannot be summed is no reason to give up the others.
                Err(Error::TooMany { .. }) => return Ok(f64::INFINITY),
                found => found?,
            };
            // An infinite end is no accuracy at all: a size that avoids it is better, whatever the others' widths.
            Ok(outlook.spread(z) * (1.0 + 10.0 * outlook.infinite))
        };
        let tau = self.ground.epsilon.tau();
        let c = 1.0 - 2.0 * tau * tau / PI;
        let variance = one_stage_variance(self.ground.epsilon, self.prior.radius() / self.ground.sigma);
        let law = (c * variance * users as f64).sqrt().clamp(1.0, (users / 2).max(1) as f64);
        let size = |x: f64| (x.round().max(1.0) as u64).min(users - 1);
        let mut sizes: Vec<u64> = [0.25, 0.5, 1.0, 1.5, 2.25, 4.0].map(|factor| size(law * factor)).to_vec();
        sizes.extend([size(users as f64 / 2.0), size(users as f64 / 4.0)]);
        sizes.sort_unstable();
        sizes.dedup();
        let all = sizes.iter().map(|&size| Ok((spread(size)?, size))).collect::<Result<Vec<_>>>()?;
        let lowest = |all: &[(f64, u64)]| all.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = lowest(&all).unwrap_or((f64::INFINITY, size(law)));
        for step in [1.3f64, 1.14, 1.07] {
            let near = [best.1 as f64 / step, best.1 as f64 * step].map(size);
            let all = near.iter().map(|&size| Ok((spread(size)?, size))).collect::<Result<Vec<_>>>()?;
            best = lowest(&all).filter(|other| other.0 < best.0).unwrap_or(best);
        }
        Ok(protocol(best.1))
    }
}

/// The one with the lower rank; the first of equal ones.
fn lower(first: (f64, usize), second: (f64, usize)) -> (f64, usize) {
    if second.0 < first.0 { second } else { first }
}
