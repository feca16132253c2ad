//! The dual variable: a function of the score, piecewise linear.

use ldp_core::error::require;
use ldp_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The most knots of a [`Beta`]: several times what any search needs.
pub const MOST_KNOTS: usize = 4096;

/// A continuous, piecewise linear function β of the score.
///
/// Given by its values at knots and its slopes before the first and after the last. Scores are in units of the root of
/// the family's information, β in units of the information: the same function serves a family at every scale.
///
/// ```
/// use ldp_fisher::optimal::Beta;
/// let tent = Beta::new(vec![-1.0, 1.0], vec![2.0, 0.0], 0.0, 3.0)?;
/// assert_eq!([-5.0, 0.0, 1.0, 2.0].map(|s| tent.at(s)), [2.0, 1.0, 0.0, 3.0]);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Beta {
    knots: Vec<f64>,
    values: Vec<f64>,
    below: f64,
    above: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    knots: Vec<f64>,
    values: Vec<f64>,
    below: f64,
    above: f64,
}

impl TryFrom<Raw> for Beta {
    type Error = Error;
    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.knots, raw.values, raw.below, raw.above)
    }
}

impl Beta {
    /// Values at strictly increasing knots, from one to [`MOST_KNOTS`], and the slopes beyond them.
    pub fn new(knots: Vec<f64>, values: Vec<f64>, below: f64, above: f64) -> Result<Self> {
        if knots.is_empty() {
            return Err(Error::TooFew { name: "knots", least: 1, value: 0 });
        }
        if knots.len() > MOST_KNOTS {
            return Err(Error::TooMany { name: "knots", most: MOST_KNOTS as u64, value: knots.len() as u64 });
        }
        if values.len() != knots.len() {
            return Err(Error::Length { what: "values at knots", expected: knots.len(), found: values.len() });
        }
        require(knots[0].is_finite(), "knot", "finite", knots[0])?;
        for pair in knots.windows(2) {
            require(pair[0] < pair[1] && pair[1].is_finite(), "knot", "finite and above the one before", pair[1])?;
        }
        for &value in values.iter().chain([&below, &above]) {
            require(value.is_finite(), "value of beta", "finite", value)?;
        }
        Ok(Self { knots, values, below, above })
    }

    /// The scores at which the slope may change.
    #[must_use]
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// The values there.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The slope before the first knot.
    #[must_use]
    pub fn below(&self) -> f64 {
        self.below
    }

    /// The slope after the last knot.
    #[must_use]
    pub fn above(&self) -> f64 {
        self.above
    }

    /// β(s).
    #[must_use]
    pub fn at(&self, s: f64) -> f64 {
        let piece = self.piece(self.knots.partition_point(|&knot| knot <= s));
        piece.value + piece.slope * (s - piece.knot)
    }

    /// How many pieces: one more than knots.
    pub(crate) fn pieces(&self) -> usize {
        self.knots.len() + 1
    }

    /// A piece, counted from the left: it ends at knot `i` and begins at the one before.
    pub(crate) fn piece(&self, i: usize) -> Piece {
        let (knots, values) = (&self.knots, &self.values);
        if i == 0 {
            Piece { knot: knots[0], value: values[0], slope: self.below }
        } else if i == knots.len() {
            Piece { knot: knots[i - 1], value: values[i - 1], slope: self.above }
        } else {
            let slope = (values[i] - values[i - 1]) / (knots[i] - knots[i - 1]);
            Piece { knot: knots[i - 1], value: values[i - 1], slope }
        }
    }

    /// The same function with more knots: these, where there is none yet.
    pub(crate) fn refined(&self, more: impl IntoIterator<Item = f64>) -> Self {
        let mut knots = self.knots.clone();
        knots.extend(more);
        knots.sort_unstable_by(f64::total_cmp);
        let least = 1e-9 * (knots[knots.len() - 1] - knots[0]);
        // A knot of ours stays, one next to it is not needed.
        let mut kept: Vec<f64> = Vec::with_capacity(knots.len());
        for knot in knots {
            match kept.last() {
                Some(&last) if knot - last <= least => {
                    if self.knots.contains(&knot) {
                        let end = kept.len() - 1;
                        kept[end] = knot;
                    }
                }
                _ => kept.push(knot),
            }
        }
        let values = kept.iter().map(|&knot| self.at(knot)).collect();
        Self { knots: kept, values, ..*self }
    }

    /// The same function between two scores, with the knots that it needs for that: without those where the slope changes by
    /// no more than `least_bend` of the range of slopes.
    pub(crate) fn pruned(&self, [low, high]: [f64; 2], least_bend: f64) -> Self {
        let slopes: Vec<f64> = (0..self.pieces()).map(|i| self.piece(i).slope).collect();
        let (least, most) =
            slopes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &slope| (a.min(slope), b.max(slope)));
        let kept: Vec<usize> = (0..self.knots.len())
            .filter(|&i| {
                let bend = (slopes[i + 1] - slopes[i]).abs();
                self.knots[i] > low && self.knots[i] < high && bend > least_bend * (most - least)
            })
            .collect();
        let (Some(&first), Some(&last)) = (kept.first(), kept.last()) else { return self.clone() };
        Self {
            knots: kept.iter().map(|&i| self.knots[i]).collect(),
            values: kept.iter().map(|&i| self.values[i]).collect(),
            below: slopes[first],
            above: slopes[last + 1],
        }
    }

    /// Without a knot; beside the first and the last their slopes go on. `None` for the only one.
    pub(crate) fn without(&self, i: usize) -> Option<Self> {
        let (mut knots, mut values) = (self.knots.clone(), self.values.clone());
        knots.remove(i);
        values.remove(i);
        (!knots.is_empty()).then_some(Self { knots, values, ..*self })
    }

    /// With two knots in place of one inside, at the same height, which is `rise` above its own. `None` at the ends.
    pub(crate) fn split(&self, i: usize, rise: f64) -> Option<Self> {
        if i == 0 || i + 1 >= self.knots.len() {
            return None;
        }
        let here = self.knots[i];
        let half = 0.25 * (here - self.knots[i - 1]).min(self.knots[i + 1] - here);
        let (mut knots, mut values) = (self.knots.clone(), self.values.clone());
        knots.splice(i..=i, [here - half, here + half]);
        values.splice(i..=i, [self.values[i] + rise; 2]);
        Self::new(knots, values, self.below, self.above).ok()
    }

    /// With a knot moved and its value kept. `None` where it would meet its neighbours.
    pub(crate) fn moved(&self, i: usize, by: f64) -> Option<Self> {
        let mut knots = self.knots.clone();
        knots[i] += by;
        Self::new(knots, self.values.clone(), self.below, self.above).ok()
    }

    /// β + `shift`.
    pub(crate) fn raised(&self, shift: f64) -> Self {
        Self { knots: self.knots.clone(), values: self.values.iter().map(|value| value + shift).collect(), ..*self }
    }

    /// The numbers that determine the function once the knots are fixed: slope, values, slope.
    pub(crate) fn parameters(&self) -> Vec<f64> {
        let mut all = vec![self.below];
        all.extend(&self.values);
        all.push(self.above);
        all
    }

    /// With other [`parameters`](Self::parameters) at the same knots.
    pub(crate) fn with(&self, parameters: &[f64]) -> Self {
        let (below, above) = (parameters[0], parameters[parameters.len() - 1]);
        Self { knots: self.knots.clone(), values: parameters[1..parameters.len() - 1].to_vec(), below, above }
    }
}

/// β on a piece: value + slope·(s − knot).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub knot: f64,
    pub value: f64,
    pub slope: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_knots_change_nothing() {
        let beta = Beta::new(vec![-0.3, 0.2, 0.9], vec![1.0, -2.0, 0.5], -1.5, 0.25).unwrap();
        let fine = beta.refined([-2.0, 0.0, 0.2, 0.2 + 1e-14, 0.9 - 1e-12, 3.0]);
        assert_eq!(fine.knots(), [-2.0, -0.3, 0.0, 0.2, 0.9, 3.0]);
        for s in [-9.0, -0.31, -0.1, 0.1, 0.2, 0.5, 1.0, 4.0] {
            assert!((beta.at(s) - fine.at(s)).abs() < 1e-14);
            assert!((fine.raised(0.5).at(s) - fine.at(s) - 0.5).abs() < 1e-14);
        }
        assert_eq!(fine.with(&fine.parameters()), fine);
    }

    #[test]
    fn knots_without_a_bend_and_outside_go() {
        let beta = Beta::new(vec![-0.3, 0.2, 0.9], vec![1.0, -2.0, 0.5], -1.5, 0.25).unwrap();
        let fine = beta.refined([-2.0, -0.1, 0.5, 3.0]);
        assert_eq!(fine.knots().len(), 7);
        let pruned = fine.pruned([-9.0, 9.0], 1e-6);
        assert_eq!(pruned.knots(), beta.knots());
        // Nothing lies below zero or above a half: one knot and the slopes beside it are all.
        let inner = fine.pruned([0.0, 0.5], 0.0);
        assert_eq!(inner.knots(), [0.2]);
        for s in [-0.2, 0.0, 0.1, 0.2, 0.4, 0.5] {
            assert!((inner.at(s) - beta.at(s)).abs() < 1e-14 && (pruned.at(s) - beta.at(s)).abs() < 1e-14);
        }
    }

    #[test]
    fn one_knot_less_or_elsewhere() {
        let beta = Beta::new(vec![-0.3, 0.2, 0.9], vec![1.0, -2.0, 0.5], -1.5, 0.25).unwrap();
        let without = beta.without(1).unwrap();
        assert_eq!((without.knots(), without.values(), without.below()), (&[-0.3, 0.9][..], &[1.0, 0.5][..], -1.5));
        let moved = beta.moved(2, -0.1).unwrap();
        assert!((moved.knots()[2] - 0.8).abs() < 1e-15 && moved.values() == beta.values());
        assert_eq!(beta.moved(0, 0.5), None);
        let even = Beta::new(vec![-1.0, 0.0, 2.0], vec![1.0, -2.0, 0.5], -1.5, 0.25).unwrap();
        let two = even.split(1, 0.5).unwrap();
        assert_eq!((two.knots(), two.values()), (&[-1.0, -0.25, 0.25, 2.0][..], &[1.0, -1.5, -1.5, 0.5][..]));
        assert!(beta.split(0, 0.5).is_none() && beta.split(2, 0.5).is_none());
        assert_eq!(Beta::new(vec![0.0], vec![1.0], 0.0, 1.0).unwrap().without(0), None);
    }

    #[test]
    fn tampered_functions_are_refused() {
        let read = |json: &str| serde_json::from_str::<Beta>(json);
        assert!(read(r#"{"knots":[0.0],"values":[1.0],"below":-1.0,"above":1.0}"#).is_ok());
        for bad in [
            r#"{"knots":[],"values":[],"below":-1.0,"above":1.0}"#,
            r#"{"knots":[0.0,0.0],"values":[1.0,1.0],"below":-1.0,"above":1.0}"#,
            r#"{"knots":[0.0],"values":[1.0,2.0],"below":-1.0,"above":1.0}"#,
            r#"{"knots":[0.0],"values":[null],"below":-1.0,"above":1.0}"#,
            r#"{"knots":[0.0],"values":[1.0],"below":-1.0,"above":1.0,"extra":1}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
