//! The exact law of what a bitwise pilot finds, without simulation.

use crate::bitwise_pilot::{BitwisePilot, exp2};
use crate::pilot_estimate::PilotEstimate;
use crate::top_two::{self, Table};
use crate::top_two_rough;
use ldp_core::error::require;
use ldp_core::model::Cdf;
use ldp_core::{Error, Finite, Result};
use ldp_mechanisms::Residue;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The largest group: a scale of it takes about half a second.
const MOST_USERS: u64 = 1 << 18;

/// The most intervals that the descent may reach at one scale.
const MOST_INTERVALS: usize = 1 << 16;

/// An interval less likely than this is not followed. Even a hundred million of them are less than one scale may lose.
const NEGLIGIBLE: f64 = 1e-40;

/// The law of what a [`BitwisePilot`] finds: [`BitwisePilot::law`].
#[derive(Clone, Debug, PartialEq)]
pub struct PilotLaw {
    /// The estimates with their probabilities, by value and then by scale.
    pub found: Vec<(f64, PilotEstimate)>,
    /// At most this much probability was not summed. Rounding is apart from it: about 1e-12 of each probability.
    pub lost: f64,
}

impl PilotLaw {
    /// The probability that the pilot ends farther from `theta` than `distance`, but for what is lost.
    #[must_use]
    pub fn failure(&self, theta: f64, distance: f64) -> f64 {
        let far = |entry: &&(f64, PilotEstimate)| (entry.1.value() - theta).abs() > distance;
        // Not `sum`, which is −0 of nothing; and rounding must not make it more than one.
        self.found.iter().filter(far).fold(0.0, |sum, entry| sum + entry.0).min(1.0)
    }
}

impl BitwisePilot {
    /// The exact law of the pilot's estimate with `group` users per scale, of whom every one answers.
    ///
    /// The descent reads three things off a scale: the commonest residue a, the next one b, and whether a passes. With
    /// the smallest integer c whose debiased count reaches the threshold,
    ///
    /// $$P(a, b, \text{pass}) = P(C_a \succ C_b \succ \text{both others},\ C_a \ge c)$$
    ///
    /// for multinomial counts and an order in which ties go to the lowest residue. It is a sum of positive terms only,
    /// so that rare ends have as many digits as common ones: they rule the mean squared error of what follows. Scales
    /// are independent, and so the law of the interval is carried down from one to the next.
    ///
    /// Any number of users will do, also fewer than [`fewest_per_scale`](Self::fewest_per_scale). Cost: about 1000
    /// operations per user and scale, once for scales with the same probabilities. [`Error::TooMany`] for more than 2^18
    /// users per scale, and if more than 2^16 intervals of one scale can be reached.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_core::model::Gaussian;
    /// use ldp_estimators::{BitwisePilot, Share};
    /// let pilot = BitwisePilot::new(Epsilon::new(1.0)?, [0.0, 128.0], 1.0, Share::HALF)?;
    /// let law = pilot.law(2142, &Gaussian::new(1.0)?, 84.5)?;
    /// // It nearly always ends at 84 or 85; how rarely it does not, no simulation would tell.
    /// let failure = law.failure(84.5, 1.0);
    /// assert!(0.0 < failure && failure < 1e-3 && law.lost < 1e-22);
    /// let mass: f64 = law.found.iter().map(|(probability, _)| probability).sum();
    /// assert!((mass - 1.0).abs() < 1e-12);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn law<M: Cdf + ?Sized>(&self, group: u64, model: &M, theta: f64) -> Result<PilotLaw> {
        if group > MOST_USERS {
            return Err(Error::TooMany { name: "users per scale", most: MOST_USERS, value: group });
        }
        self.law_by(top_two::leaders, NEGLIGIBLE, group, model, theta)
    }

    /// The law with the leaders of every scale worked out [roughly](top_two_rough::leaders), for any number of users.
    pub(crate) fn rough_law<M: Cdf + ?Sized>(&self, group: u64, model: &M, theta: f64) -> Result<PilotLaw> {
        // What is left out matters to the mean squared error like the square of the range, in cells of the finest scale.
        let [low, high] = self.whole().map(|end| end / exp2(self.exponents().start));
        let negligible = (1e-10 / (high - low).powi(2)).max(NEGLIGIBLE);
        self.law_by(top_two_rough::leaders, negligible, group, model, theta)
    }

    fn law_by<M: Cdf + ?Sized>(
        &self,
        leaders: LeadersOf,
        negligible: f64,
        group: u64,
        model: &M,
        theta: f64,
    ) -> Result<PilotLaw> {
        model.admits(theta)?;
        let mut lost = 0.0;
        let mut known = Tables { leaders, known: BTreeMap::new() };
        let mut ends: BTreeMap<(u64, i32), (f64, PilotEstimate)> = BTreeMap::new();
        let mut intervals = BTreeMap::from([(self.whole().map(f64::to_bits), 1.0)]);
        for (exponent, question) in self.questions().rev() {
            let least = self.least_to_pass(question, group)?;
            let leaders = known.get(group, reports(question, model, theta)?, least);
            lost += top_two::LOST;
            let mut next = BTreeMap::new();
            for (bits, reached) in intervals {
                for &(probability, leaders) in leaders {
                    let mass = reached * probability;
                    match self.descend(bits.map(f64::from_bits), exponent, leaders) {
                        ControlFlow::Continue(interval) => {
                            *next.entry(interval.map(f64::to_bits)).or_insert(0.0) += mass
                        }
                        ControlFlow::Break(found) => {
                            let found = self.judge(found, group);
                            ends.entry((found.value().to_bits(), found.scale())).or_insert((0.0, found)).0 += mass;
                        }
                    }
                }
            }
            next.retain(|_, mass| {
                let follow = *mass >= negligible;
                lost += if follow { 0.0 } else { *mass };
                follow
            });
            if next.is_empty() {
                break;
            }
            if next.len() > MOST_INTERVALS {
                let (most, value) = (MOST_INTERVALS as u64, next.len() as u64);
                return Err(Error::TooMany { name: "intervals that a pilot can reach", most, value });
            }
            intervals = next;
        }
        let mut found: Vec<_> = ends.into_values().collect();
        found.sort_by(|(_, a), (_, b)| a.value().total_cmp(&b.value()).then(a.scale().cmp(&b.scale())));
        Ok(PilotLaw { found, lost })
    }

    /// The smallest count of a residue among the reports of k users with which a scale passes, k + 1 if none does:
    /// debiased counts increase with the counts.
    fn least_to_pass(&self, question: &Residue, users: u64) -> Result<u64> {
        let (mut holds, mut next) = (users + 1, 0);
        while next < holds {
            let middle = next + (holds - next) / 2;
            let debiased = question.debias(&[middle, users - middle, 0, 0])?;
            if self.passes(debiased[0], users) { holds = middle } else { next = middle + 1 }
        }
        Ok(holds)
    }
}

/// The probabilities of the four reports.
fn reports<M: Cdf + ?Sized>(question: &Residue, model: &M, theta: f64) -> Result<[f64; 4]> {
    let mut law = [0.0; 4];
    question.marginal(model, theta, &mut law);
    for p in law {
        require(p > 0.0 && p <= 1.0, "the probability of a report", "positive and at most 1", p)?;
    }
    Ok(law)
}

/// The law of the leaders of so many reports with these probabilities, and the smallest count that passes.
type LeadersOf = fn(u64, [f64; 4], u64) -> Table;

/// What was computed already: of scales much coarser than the spread many have the same law.
struct Tables {
    leaders: LeadersOf,
    known: BTreeMap<([u64; 4], u64), Table>,
}

impl Tables {
    fn get(&mut self, users: u64, law: [f64; 4], least: u64) -> &Table {
        self.known.entry((law.map(f64::to_bits), least)).or_insert_with(|| (self.leaders)(users, law, least))
    }
}
