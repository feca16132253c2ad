//! The question that is asked once more, where the first answers do not point to one place.

use crate::placing::{Placed, quarters};
use crate::questions::Questions;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Cuts, Epsilon, FiniteChannel, Kernel, Partition, Result};

/// Cells of the question, more of them where there are users enough to tell them apart.
const CELLS: [u32; 3] = [8, 4, 2];
/// What decides how many users are asked: half of the values in another cell are 7 standard deviations.
const CLEAR: f64 = 100.0;
/// Quarters of a unit of score between the places that the cells are made for.
const RUNG: u32 = 8;
/// Rungs that are climbed before the rest is given up.
const MOST: usize = 100;

/// A question over a wide range of parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Again {
    pub(crate) question: FiniteChannel,
    pub(crate) users: u64,
    /// The parameters between which it tells.
    pub(crate) rungs: Vec<f64>,
}

/// How many cells, and how many of the users who are left.
///
/// With contrast $\tau = (E-1)/(E+m-1)$ and $q = 1/(E+m-1) + \tau/2$ the probability of the report of a cell that holds half of
/// the values, $100 q/\tau^2$ users tell m cells apart. So many cells as need no more than a third of the users; two cells
/// get half of them if they have to. Where it is at most a twentieth of them, up to two and a half times as many are asked, for
/// families whose values spread over several cells. Where the parameter is `near`, four cells reach far enough, and are
/// taken where eight would cost more than a tenth of the users.
fn size(epsilon: Epsilon, left: u64, near: bool) -> (u32, u64) {
    let needed = |cells: u32| needed(epsilon, left, cells);
    let cells = CELLS.into_iter().skip(usize::from(near && needed(CELLS[0]) > left / 10));
    let few = cells.map(|cells| (cells, needed(cells))).find(|&(_, users)| users <= left / 3);
    let (cells, users) = few.unwrap_or_else(|| (2, needed(2).min(left / 2)));
    (cells, users.max((users.saturating_mul(5) / 2).min(left / 20)))
}

/// How many of these users tell so many cells apart; all of them if that is not enough.
fn needed(epsilon: Epsilon, left: u64, cells: u32) -> u64 {
    let all = epsilon.value().exp_m1() + f64::from(cells);
    let contrast = epsilon.value().exp_m1() / all;
    let needed = CLEAR * (1.0 / all + 0.5 * contrast) / (contrast * contrast);
    if needed < left as f64 { needed.ceil() as u64 } else { left }
}

/// Whether a third of the users tell two cells apart.
pub(crate) fn enough(epsilon: Epsilon, left: u64) -> bool {
    needed(epsilon, left, CELLS[2]) <= left / 3
}

/// The question to be asked where the first have pointed: from where they have ruled out the parameters on one side towards the
/// other, on both sides of the start where they have ruled out nothing. `None` where there are no two cells or no users.
///
/// Its places lie on a ladder of steps of two units of score from the start, so that there are few such questions. Its cells
/// are what the best sets at these places cut the values into.
pub(crate) fn again<M: Cdf + Score + ?Sized>(
    model: &M,
    sets: &Questions<M>,
    epsilon: Epsilon,
    start: f64,
    placed: Placed,
    left: u64,
) -> Result<Option<Again>> {
    let (cells, users) = size(epsilon, left, placed.near);
    if users == 0 {
        return Ok(None);
    }
    let many = cells as usize - 1;
    let rungs = match placed {
        // From the nearer limit, if there are two.
        Placed { low: Some(low), high, theta, .. } if high.is_none_or(|high| theta - low <= high - theta) => {
            ladder(model, rung_at(model, start, low, false), true, many)
        }
        Placed { high: Some(high), .. } => ladder(model, rung_at(model, start, high, true), false, many),
        _ => {
            let below = ladder(model, start, false, 1 + (many - 1) / 2);
            ladder(model, below.last().copied().unwrap_or(start), true, many)
        }
    };
    question(sets, epsilon, rungs).map(|found| found.map(|(question, rungs)| Again { question, users, rungs }))
}

/// So many rungs from one of them on, or as many as the parameter space has.
fn ladder<M: Cdf + Score + ?Sized>(model: &M, from: f64, up: bool, many: usize) -> Vec<f64> {
    std::iter::successors(Some(from), |&rung| quarters(model, rung, up, RUNG)).take(many).collect()
}

/// The rung nearest to a place that does not lie beyond it, seen from above or from below.
fn rung_at<M: Cdf + Score + ?Sized>(model: &M, start: f64, place: f64, above: bool) -> f64 {
    let beyond = |rung: f64| if above { rung < place } else { rung > place };
    if beyond(start) {
        // Back until it does not lie beyond the place.
        let back = ladder(model, start, above, MOST);
        back.iter().copied().find(|&rung| !beyond(rung)).or(back.last().copied()).unwrap_or(start)
    } else {
        ladder(model, start, !above, MOST).into_iter().take_while(|&rung| !beyond(rung)).last().unwrap_or(start)
    }
}

/// The cells that the sets at some places cut the values into, by randomised response, with the places in order.
fn question<M: Cdf + Score + ?Sized>(
    sets: &Questions<M>,
    epsilon: Epsilon,
    mut rungs: Vec<f64>,
) -> Result<Option<(FiniteChannel, Vec<f64>)>> {
    rungs.sort_by(f64::total_cmp);
    let sets: Vec<FiniteChannel> = rungs.iter().filter_map(|&rung| sets.near(rung)).collect();
    let mut cuts: Vec<f64> = sets.iter().flat_map(|set| cuts(set.partition()).to_vec()).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    // An interval belongs to the cell numbered by how many of the sets it lies in.
    let inside = |x: f64| sets.iter().filter(|set| set.partition().cell(x) == 1).count();
    let counts: Vec<usize> = std::iter::once(f64::NEG_INFINITY).chain(cuts.iter().copied()).map(inside).collect();
    let mut present = counts.clone();
    present.sort_unstable();
    present.dedup();
    if present.len() < 2 {
        return Ok(None);
    }
    let label = |count: &usize| present.iter().filter(|&other| other < count).count() as u32;
    let cells = Cuts::labelled(cuts, counts.iter().map(label).collect())?;
    let kernel = Kernel::response(epsilon, present.len() as u32)?;
    Ok(Some((FiniteChannel::new(Partition::Cuts(cells), kernel)?, rungs)))
}

/// Where a partition cuts the line.
fn cuts(partition: &Partition) -> &[f64] {
    match partition {
        Partition::Threshold(cut) => std::slice::from_ref(cut),
        Partition::Cuts(cuts) => cuts.points(),
        Partition::Periodic { .. } => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::Finite;
    use ldp_core::model::{Exponential, Gaussian, Poisson};
    use std::sync::Arc;

    fn above<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<FiniteChannel> {
        FiniteChannel::new(Partition::Threshold(model.quantile(theta, 0.5)), Kernel::response(epsilon, 2)?)
    }

    fn asked<M: Cdf + Score>(
        model: M,
        level: f64,
        start: f64,
        (limits, near): ([Option<f64>; 2], bool),
        left: u64,
    ) -> Option<Again> {
        let (model, epsilon) = (Arc::new(model), Epsilon::new(level).unwrap());
        let sets = Questions::new(Arc::clone(&model), epsilon, above).unwrap();
        let [low, high] = limits;
        let placed = Placed { theta: start, low, high, bounded: false, near };
        again(&*model, &sets, epsilon, start, placed, left).unwrap()
    }

    #[test]
    fn cells_go_where_the_parameter_may_be() {
        let gaussian = || Gaussian::new(2.0).unwrap();
        let up = asked(gaussian(), 1.0, 0.0, ([Some(5.0), None], false), 90_000).unwrap();
        // Rungs of two units from the start, the first not beyond the limit.
        assert_eq!(up.rungs, [4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0]);
        assert_eq!(up.question.reports(), 8);
        let Partition::Cuts(cells) = up.question.partition() else { panic!("intervals") };
        assert!(cells.points().iter().zip(&up.rungs).all(|(cut, rung)| (cut - rung).abs() < 1e-9), "{cells:?}");
        assert_eq!(cells.labels(), [0, 1, 2, 3, 4, 5, 6, 7]);
        let down = asked(gaussian(), 1.0, 0.0, ([None, Some(-3.0)], false), 90_000).unwrap();
        assert_eq!(down.rungs, [-24.0, -20.0, -16.0, -12.0, -8.0, -4.0, 0.0]);
        // Where it is not far there are fewer, and where nothing is ruled out they are on both sides.
        assert_eq!(asked(gaussian(), 1.0, 0.0, ([Some(-3.0), None], true), 5000).unwrap().rungs, [-4.0, 0.0, 4.0]);
        assert_eq!(asked(gaussian(), 1.0, 1.0, ([None, None], true), 5000).unwrap().rungs, [-3.0, 1.0, 5.0]);
        assert_eq!(asked(gaussian(), 1.0, 1.0, ([None, None], true), 90_000).unwrap().rungs.len(), 7);
        // From the nearer of two limits.
        let low = asked(gaussian(), 1.0, 0.0, ([Some(-90.0), Some(5.0)], false), 90_000).unwrap();
        assert_eq!((low.rungs[0], low.rungs[6]), (-16.0, 8.0));
        // A scale moves by factors, a Poisson mean to zero and no further.
        let scale = asked(Exponential, 4.0, 1.0, ([None, Some(0.3)], false), 10_000).unwrap();
        assert!(scale.rungs[0] < 1e-3 && scale.rungs[6] >= 0.3 && scale.question.reports() == 8, "{scale:?}");
        let rate = asked(Poisson, 4.0, 4.0, ([None, Some(3.0)], false), 10_000).unwrap();
        assert!(rate.rungs.len() < 7 && rate.rungs[0] > 0.0, "{rate:?}");
    }

    #[test]
    fn as_many_cells_as_the_users_can_tell_apart() {
        let size = |level: f64, left| size(Epsilon::new(level).unwrap(), left, false);
        assert_eq!(size(1.0, 9000), (8, 612));
        // Two and a half times as many, or a twentieth of all.
        assert_eq!((size(1.0, 20_000), size(1.0, 1_000_000)), ((8, 1000), (8, 1530)));
        assert_eq!((size(0.5, 9000).0, size(0.5, 6000).0, size(0.5, 900).0), (8, 4, 2));
        assert_eq!((size(0.01, 1000), size(0.01, 3), size(0.01, 1)), ((2, 500), (2, 1), (2, 0)));
        assert_eq!(size(20.0, 10).0, 2);
        for level in [1e-6, 0.1, 1.0, 40.0] {
            for left in [0, 1, 2, 50, u64::MAX] {
                let (_, users) = size(level, left);
                assert!(users < left || left == 0, "{users} of {left} at {level}");
            }
        }
        assert_eq!(asked(Exponential, 1.0, 1.0, ([None, None], false), 1), None);
    }
}
