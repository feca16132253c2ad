//! The dual function of a family with few scores: the prices of the linear program itself.

use super::beta::Beta;
use super::cells::Cells;
use crate::law::{ScoreLaw, Tail};
use ldp_core::Epsilon;

/// So many scores at the most, far tails aside.
const MOST_SCORES: usize = 150;

/// Scores beyond which less than this lies are one cell.
const NEGLIGIBLE: f64 = 1e-12;

/// β through the prices per mass of the cells of a family of whole numbers, as a function of the score; `None` where there
/// are too many scores, or the program cannot be solved.
///
/// Between scores, and beyond those that matter, any values do: the proof looks at the scores there are.
pub(crate) fn priced<L: ScoreLaw + ?Sized>(levels: &L, epsilon: Epsilon) -> Option<Beta> {
    if !levels.enumerated() {
        return None;
    }
    let mut scores = levels.scores();
    scores.retain(|&score| levels.tail(score).mass > NEGLIGIBLE && levels.rest(score) > NEGLIGIBLE);
    if scores.len() > MOST_SCORES {
        return None;
    }
    // The scores at which cells begin; what lies below all of them is the first cell.
    let mut tails = vec![Tail { mass: 1.0, slope: 0.0 }];
    tails.extend(scores.iter().map(|&score| levels.tail(score)));
    tails.push(Tail::default());
    let (masses, slopes): (Vec<f64>, Vec<f64>) =
        tails.windows(2).map(|pair| (pair[0].mass - pair[1].mass, pair[0].slope - pair[1].slope)).unzip();
    let knots: Vec<f64> = masses.iter().zip(&slopes).map(|(mass, slope)| slope / mass).collect();
    let program = Cells::new(masses.clone(), slopes).ok()?.program(epsilon).ok()?;
    let values: Vec<f64> = program.prices.iter().zip(&masses).map(|(price, mass)| price / mass).collect();
    let slope = |i: usize, j: usize| (values[j] - values[i]) / (knots[j] - knots[i]);
    let last = knots.len().checked_sub(1).filter(|&last| last > 0)?;
    let (below, above) = (slope(0, 1), slope(last - 1, last));
    Beta::new(knots, values, below, above).ok()
}
