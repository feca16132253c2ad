//! Where answers point, and whether they point to one place.

use crate::likelihood::Likelihood;
use crate::maximum_likelihood;
use crate::space::{End, Space};
use ldp_core::model::{Cdf, Score};
use ldp_core::{FiniteChannel, Result};

/// How far places lie apart that are looked at, in units of score.
const STEP: f64 = 0.25;
/// So many of them are one place: four units of score, more than there are between 0 and 1 for a probability.
const REACH: u32 = 16;
/// So many are looked at for the limits of what is left: a family with heavy tails may be ruled out only far below the best.
const WIDEST: u32 = 64;
/// The logarithm of a likelihood ratio of three standard errors.
const UNLIKELY: f64 = 4.5;
/// Steps that are taken uphill before the rest is given up.
const MOST: u32 = 200;

/// What answers say about the place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed {
    /// The best parameter, or the first of those that are not ruled out.
    pub(crate) theta: f64,
    /// Where parameters are ruled out below; `None` where they are not within 16 units of score.
    pub(crate) low: Option<f64>,
    /// Where parameters are ruled out above, in the same way.
    pub(crate) high: Option<f64>,
    /// Whether all that is not ruled out is one place.
    pub(crate) bounded: bool,
    /// Whether on either side what is four units off is three standard errors off.
    pub(crate) near: bool,
}

/// A place so many units of score farther out, as the unit is here; `None` where the parameter space ends before, or
/// numbers do.
pub(crate) fn beside<M: Cdf + Score + ?Sized>(model: &M, theta: f64, units: f64) -> Option<f64> {
    let next = theta + units / model.information(theta).sqrt();
    (next != theta && model.admits(next).is_ok()).then_some(next)
}

/// Several quarters of a unit farther out, each with the unit of its place.
pub(crate) fn quarters<M: Cdf + Score + ?Sized>(model: &M, theta: f64, up: bool, many: u32) -> Option<f64> {
    (0..many).try_fold(theta, |theta, _| beside(model, theta, if up { STEP } else { -STEP }))
}

/// Where the answers to a question point, as seen from candidates of which one is near the best.
///
/// A parameter is ruled out whose likelihood is `odds` times smaller than the largest.
pub(crate) fn place<M: Cdf + Score + ?Sized>(
    question: &FiniteChannel,
    model: &M,
    space: Space,
    counts: &[u64],
    candidates: &[f64],
    odds: f64,
) -> Result<Placed> {
    let mut likelihood = Likelihood::new(question, model, counts);
    // What cannot be computed is ruled out.
    let mut log = |theta: f64| Some(likelihood.at(theta).log).filter(|log| log.is_finite()).unwrap_or(f64::MIN);
    let logs: Vec<f64> = candidates.iter().map(|&theta| log(theta)).collect();
    let best = (1..logs.len()).fold(0, |best, i| if logs[i] > logs[best] { i } else { best });
    let found = maximum_likelihood(question, model, counts, candidates[best])?.map(|found| found.theta);
    let ends = [space.low.inside, space.high.inside].map(&mut log);
    let from = found.unwrap_or(candidates[best]);
    let top = ends.iter().copied().fold(log(from), f64::max);
    let mut drop = |theta: f64| top - log(theta);
    let (up, end) = if ends[1] > ends[0] { (true, space.high) } else { (false, space.low) };
    let Some(theta) = uphill(model, from, up, end, &mut |theta| drop(theta) <= odds.ln()) else {
        return Ok(Placed { theta: from, low: None, high: None, bounded: false, near: false });
    };
    let [low, high] = [false, true].map(|up| Limit::of(model, theta, up, odds.ln(), &mut drop));
    let near = low.near && high.near;
    let (Some(least), Some(most)) = (low.place, high.place) else {
        return Ok(Placed { theta, low: low.place, high: high.place, bounded: false, near });
    };
    let outside = |other: f64| (other < least && !low.ended) || (other > most && !high.ended);
    let mut others = candidates.iter().copied().chain([space.low.inside, space.high.inside]);
    let elsewhere = others.any(|other| outside(other) && drop(other) <= odds.ln());
    let bounded = low.steps + high.steps <= REACH && !elsewhere;
    Ok(Placed { theta, low: low.place, high: high.place, bounded, near })
}

/// How far it is on one side to what is ruled out.
struct Limit {
    /// The first place that is; the last of the parameter space if that has ended.
    place: Option<f64>,
    steps: u32,
    ended: bool,
    /// Whether less than four units off the likelihood is that of three standard errors.
    near: bool,
}

impl Limit {
    /// By how much the logarithm of the likelihood is lower at a place is what `drop` says; ruled out is `most` and more.
    fn of<M: Cdf + Score + ?Sized>(
        model: &M,
        theta: f64,
        up: bool,
        most: f64,
        drop: &mut dyn FnMut(f64) -> f64,
    ) -> Self {
        let (mut place, mut near) = (theta, false);
        for steps in 1..=WIDEST {
            let Some(next) = quarters(model, place, up, 1) else {
                return Self { place: Some(place), steps, ended: true, near: near || steps <= REACH };
            };
            let lower = drop(next);
            if lower > most {
                return Self { place: Some(next), steps, ended: false, near: near || steps <= REACH };
            }
            near |= steps == REACH && lower > UNLIKELY;
            place = next;
        }
        Self { place: None, steps: WIDEST, ended: false, near }
    }
}

/// From a place to the first that is not ruled out, towards the better end.
fn uphill<M: Cdf + Score + ?Sized>(
    model: &M,
    from: f64,
    up: bool,
    end: End,
    left: &mut dyn FnMut(f64) -> bool,
) -> Option<f64> {
    let mut theta = from;
    for _ in 0..MOST {
        if left(theta) {
            return Some(theta);
        }
        // What is left may be a small part of a unit next to a finite end.
        let halfway = || Some(0.5 * theta + 0.5 * end.inside).filter(|_| end.value.is_finite());
        theta = quarters(model, theta, up, 1).or_else(halfway)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Bernoulli, Exponential, Gaussian};
    use ldp_core::{Cuts, Epsilon, Kernel, Partition};

    fn question(cuts: &[f64]) -> FiniteChannel {
        let kernel = Kernel::response(Epsilon::new(3f64.ln()).unwrap(), cuts.len() as u32 + 1).unwrap();
        FiniteChannel::new(Partition::Cuts(Cuts::new(cuts.to_vec()).unwrap()), kernel).unwrap()
    }

    fn placed<M: Cdf + Score>(model: &M, cuts: &[f64], counts: &[u64], candidates: &[f64]) -> Placed {
        let space = Space::around(model, candidates[0]);
        place(&question(cuts), model, space, counts, candidates, 1e4).unwrap()
    }

    #[test]
    fn one_bit_points_to_one_place_or_to_one_side() {
        let gaussian = Gaussian::new(1.0).unwrap();
        // Of 1000 with a quarter of lies, give or take 16.
        let middle = placed(&gaussian, &[0.0], &[500, 500], &[0.0]);
        assert!(middle.bounded && middle.theta.abs() < 1e-9, "{middle:?}");
        // 4.3 standard errors are 0.13 of the values: at least 0.79 of them are positive.
        let above = placed(&gaussian, &[0.0], &[290, 710], &[0.0]);
        assert!(
            !above.bounded && above.high.is_none() && above.low.is_some_and(|low| low > 0.5 && low < 1.0),
            "{above:?}"
        );
        let beyond = placed(&gaussian, &[0.0], &[200, 800], &[0.0]);
        assert!(!beyond.bounded && beyond.high.is_none() && beyond.low.is_some_and(|low| low > 1.0), "{beyond:?}");
        let below = placed(&gaussian, &[0.0], &[790, 210], &[0.0]);
        assert_eq!((below.low, below.high.map(|high| high < 0.0)), (None, Some(true)));
        // A few users, or none, do not point anywhere.
        for counts in [[10, 10], [0, 0]] {
            let silent = placed(&gaussian, &[0.0], &counts, &[0.0]);
            assert_eq!((silent.low, silent.high, silent.bounded), (None, None, false), "{counts:?}");
        }
        let scale = placed(&Exponential, &[1.6], &[740, 260], &[1.0]);
        assert_eq!((scale.low, scale.bounded), (None, false));
        // A probability is within four units whatever is said.
        for counts in [[740, 260], [200, 800], [0, 0]] {
            assert!(placed(&Bernoulli, &[1.0], &counts, &[0.5]).bounded, "{counts:?}");
        }
    }

    #[test]
    fn two_places_are_not_one() {
        let gaussian = Gaussian::new(1.0).unwrap();
        let cuts = [0.0, 3.0, 6.0];
        let rungs = [0.0, 3.0, 6.0];
        let one = placed(&gaussian, &cuts, &[170, 170, 490, 170], &rungs);
        assert!(one.bounded && (one.theta - 4.5).abs() < 0.1, "{one:?}");
        // So few more in one cell than in another four units away are chance.
        let two = placed(&gaussian, &cuts, &[28, 17, 17, 27], &rungs);
        assert!(!two.bounded, "{two:?}");
        // All in the outermost cell.
        let out = placed(&gaussian, &cuts, &[170, 170, 170, 490], &rungs);
        assert!(!out.bounded && out.high.is_none() && out.low.is_some_and(|low| low > 5.0), "{out:?}");
    }
}
