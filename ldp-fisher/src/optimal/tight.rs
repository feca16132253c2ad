//! A proved function of the score without slack.

use super::beta::Beta;
use super::dual::Dual;
use crate::law::ScoreLaw;

/// Halvings of the slack of a proved function.
const LOWERINGS: u32 = 6;

/// A change of slope by less than this part of the range of slopes is rounding of a search.
const NO_BEND: f64 = 1e-6;

/// How far a knot is moved to see whether it stands where it must, in units of score.
const NUDGE: f64 = 1e-3;

/// How often all knots are looked at: a few passes settle them.
const PASSES: u32 = 10;

/// Integrals that differ by less than this part of them are the same.
const TOLERANCE: f64 = 1e-12;

/// A proved β without what it does not need: height above what can be proved, and knots that do nothing or stand wrong.
///
/// A smaller bound is not the only gain. In the end no knot can be left out or moved by [`NUDGE`] without a higher bound or
/// no proof at all, so that a certificate in which one was moved is refused.
pub(super) fn tightened<L: ScoreLaw + ?Sized>(law: &L, beta: Beta, epsilon: f64, information: f64) -> Beta {
    let scores = law.scores();
    let range = [scores.first(), scores.last()].map(|score| score.copied().unwrap_or(0.0));
    let mut tight = Tight::new(law, beta, epsilon);
    let pruned = tight.beta.pruned(range, NO_BEND);
    // Knots beyond all scores go in any case: nothing is there.
    if !tight.take(pruned, f64::INFINITY) {
        let inside = tight.beta.pruned(range, 0.0);
        tight.take(inside, f64::INFINITY);
    }
    tight.lower(information);
    tight.settle_knots();
    tight.beta
}

/// A proved β under way to one without slack.
struct Tight<'a, L: ?Sized> {
    law: &'a L,
    epsilon: f64,
    beta: Beta,
    integral: f64,
    /// Where G has its maxima: what is no proof fails there first.
    tops: Vec<f64>,
}

impl<'a, L: ScoreLaw + ?Sized> Tight<'a, L> {
    fn new(law: &'a L, beta: Beta, epsilon: f64) -> Self {
        let dual = Dual::new(law, &beta, epsilon);
        let (integral, tops) = (dual.integral().value, dual.tops());
        Self { law, epsilon, integral, tops, beta }
    }

    /// The integral of another function, if it is proved and that is at most `most`.
    fn holds(&mut self, other: &Beta, most: f64) -> Option<f64> {
        let dual = Dual::new(self.law, other, self.epsilon);
        let integral = dual.integral().value;
        if !(integral <= most) {
            return None;
        }
        if let Some(place) = self.tops.iter().position(|&t| !(dual.at(t).0.above() <= 0.0)) {
            // What failed last is most likely to fail next.
            self.tops[..=place].rotate_right(1);
            return None;
        }
        dual.prove().map_err(|violation| self.tops.insert(0, violation.t)).ok().map(|()| integral)
    }

    /// Takes another function if it is proved and its integral at most `most`.
    fn take(&mut self, other: Beta, most: f64) -> bool {
        let held = self.holds(&other, most);
        if let Some(integral) = held {
            (self.beta, self.integral) = (other, integral);
        }
        held.is_some()
    }

    /// Lowers it as far as it is proved. Its integral cannot fall below the information.
    fn lower(&mut self, information: f64) {
        let mut step = 0.5 * (self.integral - information);
        for _ in 0..LOWERINGS {
            let lowered = self.beta.raised(-step);
            self.take(lowered, f64::INFINITY);
            step *= 0.5;
        }
    }

    /// Leaves out and moves knots as long as that is a proof of a bound that is no higher.
    fn settle_knots(&mut self) {
        for _ in 0..PASSES {
            let before = self.beta.clone();
            // From the right, so that a knot left out or split does not renumber those that are still to come.
            for i in (0..self.beta.knots().len()).rev() {
                let (lower, same) = (self.integral * (1.0 - TOLERANCE), self.integral * (1.0 + 4.0 * TOLERANCE));
                if let Some(without) = self.beta.without(i)
                    && self.take(without, same)
                {
                    continue;
                }
                for step in [NUDGE, -NUDGE] {
                    let Some(moved) = self.beta.moved(i, step) else { continue };
                    if !self.take(moved.clone(), lower) && self.holds(&moved, same).is_some() {
                        self.split(i);
                        break;
                    }
                }
            }
            if self.beta == before {
                break;
            }
        }
    }

    /// Two knots instead of one that can be moved to and fro at no cost: where scores are equally likely, a tip between equal
    /// neighbours bounds the same area wherever it stands. Each of two at the same height does not.
    fn split(&mut self, i: usize) {
        let Some(flat) = self.beta.split(i, 0.0) else { return };
        let Some(steep) = self.beta.split(i, self.integral) else { return };
        let integral = |beta: &Beta| Dual::new(self.law, beta, self.epsilon).integral().value;
        let (low, high) = (integral(&flat), integral(&steep));
        let rise = self.integral * (self.integral - low) / (high - low);
        if let Some(two) = self.beta.split(i, rise) {
            self.take(two, self.integral * (1.0 + 4.0 * TOLERANCE));
        }
    }
}
