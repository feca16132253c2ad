//! What sign stages promise at every distance of their threshold from the mean, by sums over their counts. Here σ is 1.
//!
//! A stage is a binomial count, so what it promises is a sum over counts. Sums of smooth functions need every h-th count
//! only; the probabilities of infinite ends and of covering come from the counts at which they begin. A last stage is worked
//! out on a grid of distances, once for all first stages before it, and only where it is asked for.

use super::outlook::{Effort, Outlook};
use crate::{RangeEstimate, SignStage};
use ldp_core::channel::two_64;
use ldp_core::special::{binomial, normal};
use ldp_core::{Bits, Epsilon, Inference, IntervalKind, Result};
use ldp_mechanisms::Sign;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Grid points per σ of the distance.
const PER_SIGMA: f64 = 16.0;
/// The farthest grid point, in σ: beyond it a stage says only on which side the mean is.
const FARTHEST: f64 = 8.0;
/// First stages up to this size are summed count by count: there it matters whether a count explains a mean.
const EVERY_COUNT: u64 = 4000;
/// Rough sums take the table of a number of last users that is at most a sixteenth of an octave off.
const PER_OCTAVE: f64 = 8.0;
/// Below so many last users every number has a table of its own.
const FEW: u64 = 512;

/// Sign stages at one privacy level, with intervals at one confidence level.
pub(super) struct Stages {
    question: Sign,
    level: f64,
    last: Mutex<HashMap<(u64, Effort), Arc<LastStage>>>,
}

impl Stages {
    pub fn new(epsilon: Epsilon, level: f64) -> Result<Self> {
        Ok(Self { question: Sign::new(epsilon, 0.0)?, level, last: Mutex::default() })
    }

    /// Everybody answers `away` from the mean.
    pub fn one(&self, users: u64, away: f64, effort: Effort) -> Result<Outlook> {
        let table = self.last(users, effort);
        Ok(table.direct(away, effort)?.resized(table.users, users))
    }

    /// `first` users answer `away` from the mean, the rest where they point.
    pub fn two(&self, first: u64, rest: u64, away: f64, effort: Effort) -> Result<Outlook> {
        let table = self.last(rest, effort);
        let mut all = Outlook::default();
        let counts = Counts::of(&self.question, first, away);
        let step = if first <= EVERY_COUNT { 1 } else { counts.every(8.0) };
        for (plus, weight) in counts.weights(step) {
            // A count that explains no mean leaves the threshold where it was.
            let moved = stage(&self.question, plus, first)?.estimate().unwrap_or(0.0);
            all.add(weight, &table.at(away - moved, effort)?);
        }
        Ok(all.resized(table.users, rest))
    }

    /// Everybody answers `away` from the mean, which is within `radius` of the threshold: estimates and intervals are cut there.
    pub fn cut(&self, users: u64, away: f64, radius: f64, effort: Effort) -> Result<Outlook> {
        let counts = Counts::of(&self.question, users, away);
        let mut all = Outlook::default();
        let points = if effort == Effort::Fine { 40.0 } else { 8.0 };
        for (plus, weight) in counts.weights(counts.every(points)) {
            let estimate = RangeEstimate::new(stage(&self.question, plus, users)?, radius)?;
            all.mse += weight * (estimate.value() - away).powi(2);
            if let Ok(interval) = estimate.interval(IntervalKind::Exact, self.level) {
                all.finite += weight;
                all.finite_width += weight * interval.width();
                all.coverage += weight * f64::from(u8::from(interval.contains(away)));
            }
        }
        Ok(all)
    }

    fn last(&self, users: u64, effort: Effort) -> Arc<LastStage> {
        let octaves = (users as f64).log2();
        let near = match effort {
            Effort::Fine => users,
            Effort::Glance | Effort::Rough if users < FEW => users,
            Effort::Glance | Effort::Rough => ((octaves * PER_OCTAVE).round() / PER_OCTAVE).exp2().round() as u64,
        };
        let new = || Arc::new(LastStage::new(self.question, self.level, near));
        match self.last.lock() {
            Ok(mut last) => last.entry((near, effort)).or_insert_with(new).clone(),
            Err(_) => new(),
        }
    }
}

fn stage(question: &Sign, plus: u64, users: u64) -> Result<SignStage> {
    Ok(SignStage::new(*question, Bits::new(plus, users)?))
}

/// The counts of pluses that matter, of users whose mean is `away` above the threshold.
struct Counts {
    users: u64,
    /// The probabilities of minus and plus.
    chances: [f64; 2],
    spread: f64,
}

impl Counts {
    fn of(question: &Sign, users: u64, away: f64) -> Self {
        let lie = question.lie() as f64 / two_64();
        let chances = [-away, away].map(|at| lie + question.tau() * normal::cdf(at));
        Self { users, chances, spread: (users as f64 * chances[0] * chances[1]).sqrt() }
    }

    /// Every how many counts, for so many per standard deviation.
    fn every(&self, points: f64) -> u64 {
        ((self.spread / points) as u64).max(1)
    }

    /// Multiples of `step`, with weights that add up to one.
    fn weights(&self, step: u64) -> Vec<(u64, f64)> {
        let (mean, reach) = (self.users as f64 * self.chances[1], 8.5 * self.spread + 30.0);
        let first = ((mean - reach).max(0.0) as u64).div_ceil(step) * step;
        let last = self.users.min((mean + reach) as u64).max(first);
        let mut all: Vec<_> = binomial::Probabilities::new(self.users, self.chances, first, last, step).collect();
        let mass: f64 = all.iter().map(|(_, weight)| weight).sum();
        all.iter_mut().for_each(|(_, weight)| *weight /= mass);
        all
    }

    /// P(first ≤ C ≤ last).
    fn between(&self, first: u64, last: u64) -> f64 {
        if first > last {
            return 0.0;
        }
        let below = if first == 0 { 0.0 } else { binomial::cdf(first - 1, self.users, self.chances[1]) };
        (1.0 - below - binomial::sf(last + 1, self.users, self.chances[1])).max(0.0)
    }
}

/// The last stage of so many users, at every distance.
struct LastStage {
    question: Sign,
    level: f64,
    users: u64,
    /// The smallest count whose interval has a low end; by symmetry the high ends are known too. Beyond the users if none.
    bounded: OnceLock<u64>,
    grid: Vec<OnceLock<Outlook>>,
}

impl LastStage {
    fn new(question: Sign, level: f64, users: u64) -> Self {
        let grid = (0..=(FARTHEST * PER_SIGMA) as usize).map(|_| OnceLock::new()).collect();
        Self { question, level, users, bounded: OnceLock::new(), grid }
    }

    fn interval(&self, plus: u64) -> Result<[f64; 2]> {
        let interval = stage(&self.question, plus, self.users)?.exact_interval(self.level)?;
        Ok([interval.low, interval.high])
    }

    /// The smallest count for which something that stays true from there on is true.
    fn from(&self, holds: impl Fn([f64; 2]) -> bool) -> Result<u64> {
        let (mut fails, mut found) = (0, self.users + 1);
        while fails < found {
            let middle = fails + (found - fails) / 2;
            if holds(self.interval(middle)?) { found = middle } else { fails = middle + 1 }
        }
        Ok(found)
    }

    fn bounded(&self) -> Result<u64> {
        if let Some(&known) = self.bounded.get() {
            return Ok(known);
        }
        let found = self.from(|[low, _]| low > f64::NEG_INFINITY)?;
        Ok(*self.bounded.get_or_init(|| found))
    }

    /// The sum at one distance.
    fn direct(&self, away: f64, effort: Effort) -> Result<Outlook> {
        let counts = Counts::of(&self.question, self.users, away);
        let (first, mut sum, mut width, mut finite) = (self.bounded()?, 0.0, 0.0, 0.0);
        let ends = first..=self.users.saturating_sub(first);
        // Beside infinite ends the finite ones are at their widest: there a coarse lattice is off.
        let points = if effort == Effort::Fine { 12.0 } else { 3.0 };
        for (plus, weight) in counts.weights(counts.every(points)) {
            let estimate = stage(&self.question, plus, self.users)?.estimate().unwrap_or(0.0);
            sum += weight * (estimate - away).powi(2);
            if ends.contains(&plus) {
                let [low, high] = self.interval(plus)?;
                finite += weight;
                width += weight * (high - low);
            }
        }
        let share = if ends.is_empty() { 0.0 } else { counts.between(*ends.start(), *ends.end()) };
        let mean = if finite > 0.0 { width / finite } else { 0.0 };
        let share = if finite > 0.0 { share } else { 0.0 };
        let coverage = match effort {
            Effort::Glance | Effort::Rough => self.level,
            // Ends grow with the count.
            Effort::Fine => {
                let reached = self.from(|[_, high]| high >= away)?;
                let passed = self.from(|[low, _]| low > away)?;
                if passed > reached { counts.between(reached, passed - 1) } else { 0.0 }
            }
        };
        Ok(Outlook { mse: sum, coverage, infinite: 1.0 - share, finite: share, finite_width: share * mean })
    }

    fn grid_point(&self, index: usize, effort: Effort) -> Result<Outlook> {
        if let Some(known) = self.grid[index].get() {
            return Ok(*known);
        }
        let found = self.direct(index as f64 / PER_SIGMA, effort)?;
        Ok(*self.grid[index].get_or_init(|| found))
    }

    /// By the cubic through four grid points; the same on both sides of the threshold.
    fn at(&self, away: f64, effort: Effort) -> Result<Outlook> {
        let away = away.abs();
        let last = self.grid.len() - 1;
        let place = away * PER_SIGMA;
        if place >= (last - 2) as f64 {
            let edge = self.grid_point(last, effort)?;
            return Ok(Outlook { mse: edge.mse.max(away * away), ..edge });
        }
        let (index, x) = (place as usize, place.fract());
        if x < 1e-9 {
            return self.grid_point(index, effort);
        }
        let weights = [
            -x * (x - 1.0) * (x - 2.0) / 6.0,
            (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0,
            -(x + 1.0) * x * (x - 2.0) / 2.0,
            (x + 1.0) * x * (x - 1.0) / 6.0,
        ];
        let mut all = Outlook::default();
        // Before the first point comes the one after it, mirrored: |0 − 1| = 1.
        for (weight, near) in weights.into_iter().zip([index.abs_diff(1), index, index + 1, index + 2]) {
            all.add(weight, &self.grid_point(near, effort)?);
        }
        let within = |share: f64| share.clamp(0.0, 1.0);
        Ok(Outlook {
            mse: all.mse.max(0.0),
            coverage: within(all.coverage),
            infinite: within(all.infinite),
            finite: within(all.finite),
            finite_width: all.finite_width.max(0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DuchiRogers, OneStage, TwoStage};
    use ldp_core::model::Gaussian;
    use ldp_simulate::exact::{Countable, Exact, Risk};
    use ldp_simulate::seed::{Purpose, stream};
    use rand::RngExt;

    fn exact<E: Countable>(estimator: &E, users: u64, away: f64, level: f64) -> Outlook {
        let model = Gaussian::new(1.0).unwrap();
        let exact = Exact::new(&model, away).unwrap().goal(1e-7).unwrap().most(1 << 20).resolution(20.0, 1e-3);
        let summed = exact.best(estimator, users, || Risk::new(away, level, &[IntervalKind::Exact])).unwrap();
        let (errors, sums) = (summed.gather.errors(), &summed.gather.intervals()[0]);
        let mass = errors.mass();
        Outlook {
            mse: errors.mse(),
            coverage: sums.covered / mass,
            infinite: sums.infinite / mass,
            finite: sums.finite / mass,
            finite_width: sums.finite_width / mass,
        }
    }

    /// Relative errors of the root of the mean squared error and of the half-width, absolute ones of the probabilities.
    fn off(found: &Outlook, exact: &Outlook) -> [f64; 4] {
        let ratio = |a: f64, b: f64| if a == b { 0.0 } else { (a / b - 1.0).abs() };
        let half = |outlook: &Outlook| outlook.half_width().unwrap_or(0.0);
        [
            ratio(found.mse.sqrt(), exact.mse.sqrt()),
            ratio(half(found), half(exact)),
            (found.infinite - exact.infinite).abs(),
            (found.coverage - exact.coverage).abs(),
        ]
    }

    /// Fine to a five-hundredth and rough to a fiftieth, against sums over every tally. Far from the threshold an exact interval
    /// may cover more than its stage's, because it reaches up to a fallback: by as much as there are infinite ends.
    #[test]
    fn sums_agree_with_the_walk_over_all_tallies() {
        let mut rng = stream(31, Purpose::Data, 0, 0);
        for number in 0..60 {
            let (value, away) = (0.2 * 40f64.powf(rng.random()), 2.2 * rng.random::<f64>());
            let (epsilon, level) = (Epsilon::new(value).unwrap(), [0.9, 0.95, 0.99][number % 3]);
            let users = (60.0 * 2000f64.powf(rng.random::<f64>())) as u64;
            let stages = Stages::new(epsilon, level).unwrap();
            let (first, radius) =
                (1 + (users as f64 * 0.4 * rng.random::<f64>()) as u64, away + rng.random::<f64>() + 0.1);
            let (known, of): (Outlook, Box<dyn Fn(Effort) -> Outlook>) = match number % 4 {
                0 => {
                    let known = exact(&OneStage::new(epsilon, 0.0).unwrap(), users, away, level);
                    (known, Box::new(|effort| stages.one(users, away, effort).unwrap()))
                }
                1 => {
                    let estimator = DuchiRogers::new(epsilon, 0.0, radius).unwrap();
                    (
                        exact(&estimator, users, away, level),
                        Box::new(|effort| stages.cut(users, away, radius, effort).unwrap()),
                    )
                }
                _ => {
                    let known = exact(&TwoStage::new(epsilon, 0.0, first).unwrap(), users, away, level);
                    (known, Box::new(|effort| stages.two(first, users - first, away, effort).unwrap()))
                }
            };
            let what = format!("{number}: {users} users, {first} first, {away} away, ε = {value}, {known:?}");
            let [mse, half, infinite, coverage] = off(&of(Effort::Fine), &known);
            assert!(
                mse < 2e-3 && half < 2e-3 + 0.1 * known.infinite && infinite < 2e-3,
                "{what}: {mse} {half} {infinite}"
            );
            assert!(coverage < 4e-3 + known.infinite, "{what}: {coverage}");
            let [mse, half, infinite, _] = off(&of(Effort::Rough), &known);
            // Where most ends are infinite no plan is made.
            let plannable = known.infinite < 0.05;
            assert!(
                !plannable || (mse < 0.02 && half < 0.02 && infinite < 0.02),
                "{what}: roughly {mse} {half} {infinite}"
            );
        }
    }
}
