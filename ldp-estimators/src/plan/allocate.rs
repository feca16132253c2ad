//! How the users of a protocol are best split.

use super::gauss::GAUSS;
use super::outlook::{Effort, Outlook};
use super::pilots::Pilots;
use super::prior::{Criterion, Prior};
use super::protocol::{Ground, Kind, Protocol};
use crate::one_stage_variance;
use ldp_core::special::normal;
use ldp_core::{Error, Result};
use rayon::prelude::*;
use std::f64::consts::PI;

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

    /// The means at which a protocol is judged, with weights. One that starts in the middle is the worse the farther away
    /// the mean is, and the same on both sides.
    fn places(&self, kind: Kind, effort: Effort) -> Vec<(f64, f64)> {
        let (centre, radius) = (self.prior.centre(), self.prior.radius());
        match (kind, self.criterion, effort) {
            (Kind::Joseph | Kind::ThreeStage, ..) => {
                let places = self.pilots.places();
                places.iter().map(|&theta| (1.0 / places.len() as f64, theta)).collect()
            }
            (_, Criterion::Average, _) => GAUSS.map(|(weight, share)| (weight, centre + share * radius)).to_vec(),
            // An interval that is cut at the end of the range is narrow there: the worst mean is somewhere inside.
            (Kind::DuchiRogers, Criterion::Worst, _) => {
                [0.75, 1.0, 0.5, 0.0].map(|share| (1.0, centre + share * radius)).to_vec()
            }
            (_, Criterion::Worst, Effort::Rough) => vec![(1.0, self.prior.high())],
            // The end first: of equal ones it is the first that counts.
            (_, Criterion::Worst, Effort::Fine) => {
                vec![(1.0, self.prior.high()), (1.0, centre + 0.5 * radius), (1.0, centre)]
            }
        }
    }

    /// What a protocol promises over all means, and the mean at which it promises least.
    pub fn outlook(&self, protocol: &Protocol, users: u64, effort: Effort) -> Result<(Outlook, f64)> {
        let places = self.places(protocol.kind(), effort);
        let at = |&(_, theta): &(f64, f64)| self.ground.outlook(protocol, users, theta, effort, &self.pilots);
        let outlooks = places.par_iter().map(at).collect::<Result<Vec<_>>>()?;
        let z = self.z();
        let worst = (0..places.len())
            .fold(0, |worst, i| if outlooks[i].spread(z) > outlooks[worst].spread(z) { i } else { worst });
        let outlook = match self.criterion {
            Criterion::Worst => outlooks[worst],
            Criterion::Average => {
                let mut all = Outlook::default();
                places.iter().zip(&outlooks).for_each(|(&(weight, _), outlook)| all.add(weight, outlook));
                all
            }
        };
        Ok((outlook, places[worst].1))
    }

    /// What a protocol promises at one mean, roughly.
    pub fn rough(&self, protocol: &Protocol, users: u64, theta: f64) -> Result<Outlook> {
        self.ground.outlook(protocol, users, theta, Effort::Rough, &self.pilots)
    }

    /// The protocol of a kind with its users split as well as can be.
    pub fn allocate(&self, kind: Kind, users: u64) -> Result<Protocol> {
        let start = self.prior.centre();
        match kind {
            Kind::OneStage => Ok(Protocol::OneStage { start }),
            Kind::DuchiRogers => Ok(Protocol::DuchiRogers { start, range: self.prior.radius() }),
            Kind::TwoStage => self.two_stage(start, users),
            Kind::Joseph => self.pilots.allocate(&self.ground, users, false),
            Kind::ThreeStage => self.pilots.allocate(&self.ground, users, true),
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
        let all = sizes.par_iter().map(|&size| Ok((spread(size)?, size))).collect::<Result<Vec<_>>>()?;
        let lowest = |all: &[(f64, u64)]| all.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = lowest(&all).unwrap_or((f64::INFINITY, size(law)));
        for step in [1.3f64, 1.14, 1.07] {
            let near = [best.1 as f64 / step, best.1 as f64 * step].map(size);
            let all = near.par_iter().map(|&size| Ok((spread(size)?, size))).collect::<Result<Vec<_>>>()?;
            best = lowest(&all).filter(|other| other.0 < best.0).unwrap_or(best);
        }
        Ok(protocol(best.1))
    }
}
