//! The cells of a finite channel: which part of the line a value lies in.

use super::periodic::Periodic;
use crate::error::{Error, Result, require};
use crate::mechanism::Rescale;
use crate::model::Cdf;
use crate::steady::look_up;
use serde::{Deserialize, Serialize};

/// A partition of the line into finitely many labelled cells, every interval closed on the left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Partition {
    /// Cell 1 is $x \ge c$, cell 0 the rest: sgn(0) counts as plus.
    Threshold(f64),
    /// Cell $\lfloor (x - origin)/width \rfloor \bmod cells$.
    Periodic {
        /// Where a cell 0 begins.
        origin: f64,
        /// The length of an interval.
        width: f64,
        /// How many cells before they repeat.
        cells: u32,
    },
    /// Intervals between cuts, each with the label of its cell.
    Cuts(Cuts),
}

/// Cut points and, for each interval between them, the cell it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawCuts")]
pub struct Cuts {
    cuts: Vec<f64>,
    labels: Vec<u32>,
    /// Whether every interval is a cell of its own, numbered from the left.
    #[serde(skip)]
    in_order: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCuts {
    cuts: Vec<f64>,
    labels: Vec<u32>,
}

impl TryFrom<RawCuts> for Cuts {
    type Error = Error;
    fn try_from(raw: RawCuts) -> Result<Self> {
        Self::labelled(raw.cuts, raw.labels)
    }
}

impl Cuts {
    /// Strictly increasing cuts, each interval a cell of its own, numbered from the left.
    pub fn new(cuts: Vec<f64>) -> Result<Self> {
        let labels = (0..=cuts.len() as u32).collect();
        Self::labelled(cuts, labels)
    }

    /// Strictly increasing cuts with a label per interval, so that a cell can be a union of intervals.
    pub fn labelled(cuts: Vec<f64>, labels: Vec<u32>) -> Result<Self> {
        if cuts.is_empty() {
            return Err(Error::TooFew { name: "cuts", least: 1, value: 0 });
        }
        if labels.len() != cuts.len() + 1 {
            return Err(Error::Length { what: "labels of intervals", expected: cuts.len() + 1, found: labels.len() });
        }
        require(cuts[0].is_finite(), "cut", "finite", cuts[0])?;
        // The largest label is one less than the number of cells, which has to fit as well.
        if labels.contains(&u32::MAX) {
            return Err(Error::TooMany { name: "label", most: u64::from(u32::MAX - 1), value: u64::from(u32::MAX) });
        }
        for pair in cuts.windows(2) {
            if !(pair[0] < pair[1] && pair[1].is_finite()) {
                return Err(Error::CutsNotIncreasing { left: pair[0], right: pair[1] });
            }
        }
        let in_order = labels.iter().zip(0u32..).all(|(&label, i)| label == i);
        Ok(Self { cuts, labels, in_order })
    }

    /// The cut points.
    #[must_use]
    pub fn points(&self) -> &[f64] {
        &self.cuts
    }

    /// The cell of each interval between them, from the left: one more than cuts.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The cell of a value. Not by bisection, whose steps tell where the value lies: the cuts at or below it are counted, and
    /// the label is looked for in all places.
    #[inline]
    fn label(&self, x: f64) -> u32 {
        let below: u64 = self.cuts.iter().map(|&cut| u64::from(cut <= x)).sum();
        if self.in_order { below as u32 } else { look_up(&self.labels, below as u32) }
    }

    /// Whether every interval is a cell of its own, numbered from the left.
    pub fn in_order(&self) -> bool {
        self.in_order
    }

    /// The intervals [low, high) with their cells, from the left.
    fn intervals(&self) -> impl Iterator<Item = (f64, f64, u32)> {
        let low = std::iter::once(f64::NEG_INFINITY).chain(self.cuts.iter().copied());
        let high = self.cuts.iter().copied().chain(std::iter::once(f64::INFINITY));
        low.zip(high).zip(&self.labels).map(|((low, high), &label)| (low, high, label))
    }
}

impl Partition {
    /// The number of cells.
    #[must_use]
    pub fn cells(&self) -> u32 {
        match self {
            Self::Threshold(_) => 2,
            Self::Periodic { cells, .. } => *cells,
            Self::Cuts(cuts) => cuts.labels.iter().max().map_or(0, |&label| label + 1),
        }
    }

    /// The cell of a value, in the same time for every value. A NaN has a cell too (that of the far left, or cell 0):
    /// refusing it here would make the answer depend on the private value.
    #[inline]
    #[must_use]
    pub fn cell(&self, x: f64) -> u32 {
        match self {
            Self::Threshold(cut) => u32::from(x >= *cut),
            &Self::Periodic { origin, width, cells } => Periodic { origin, width, cells }.cell(x),
            Self::Cuts(cuts) => cuts.label(x),
        }
    }

    /// The same cells for values moved by `by`. An error where rounding leaves nothing between two cuts.
    ///
    /// ```
    /// use ldp_core::Partition;
    /// assert_eq!(Partition::Threshold(0.5).shifted(2.0)?, Partition::Threshold(2.5));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn shifted(self, by: f64) -> Result<Self> {
        let shifted = match self {
            Self::Threshold(cut) => Self::Threshold(cut + by),
            Self::Periodic { origin, width, cells } => Self::Periodic { origin: origin + by, width, cells },
            Self::Cuts(Cuts { cuts, labels, .. }) => {
                Self::Cuts(Cuts::labelled(cuts.into_iter().map(|cut| cut + by).collect(), labels)?)
            }
        };
        shifted.check()?;
        Ok(shifted)
    }

    /// Checks the numbers of a partition built by hand.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            &Self::Threshold(cut) => require(cut.is_finite(), "threshold", "finite", cut),
            &Self::Periodic { origin, width, cells } => {
                require(origin.is_finite(), "origin", "finite", origin)?;
                require(width > 0.0 && width.is_finite(), "width", "positive and finite", width)?;
                if cells < 2 {
                    return Err(Error::TooFew { name: "cells", least: 2, value: u64::from(cells) });
                }
                Ok(())
            }
            Self::Cuts(_) => Ok(()),
        }
    }

    /// $P_\theta(\text{cell})$ for every cell, into `out`.
    pub fn masses<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        self.fold(model, theta, out, |low, high| model.mass(theta, low, high));
    }

    /// $\partial_\theta P_\theta(\text{cell})$ for every cell, into `out`.
    pub fn masses_dtheta<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        self.fold(model, theta, out, |low, high| model.mass_dtheta(theta, low, high));
    }

    fn fold<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64], value: impl Fn(f64, f64) -> f64) {
        // A kernel may have more cells than the partition uses.
        out.fill(0.0);
        match self {
            &Self::Threshold(cut) => {
                out[0] = value(f64::NEG_INFINITY, cut);
                out[1] = value(cut, f64::INFINITY);
            }
            &Self::Periodic { origin, width, cells } => {
                Periodic { origin, width, cells }.fold(model, theta, out, value);
            }
            Self::Cuts(cuts) => {
                for (low, high, label) in cuts.intervals() {
                    out[label as usize] += value(low, high);
                }
            }
        }
    }
}

impl Rescale for Partition {
    fn rescale(self, factor: f64) -> Result<Self> {
        let scaled = match self {
            Self::Threshold(cut) => Self::Threshold(cut * factor),
            Self::Periodic { origin, width, cells } => {
                Self::Periodic { origin: origin * factor, width: width * factor, cells }
            }
            Self::Cuts(Cuts { cuts, labels, .. }) => {
                Self::Cuts(Cuts::labelled(cuts.into_iter().map(|cut| cut * factor).collect(), labels)?)
            }
        };
        scaled.check()?;
        Ok(scaled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Gaussian, Poisson};

    #[test]
    fn cells_are_closed_on_the_left() {
        assert_eq!([-0.1, 0.0, -0.0, 0.1].map(|x| Partition::Threshold(0.0).cell(x)), [0, 1, 1, 1]);
        let cuts = Partition::Cuts(Cuts::labelled(vec![-1.0, 1.0], vec![0, 1, 0]).unwrap());
        assert_eq!([-1.5, -1.0, 0.0, 1.0].map(|x| cuts.cell(x)), [0, 1, 1, 0]);
        let residues = Partition::Periodic { origin: 0.0, width: 2.0, cells: 4 };
        assert_eq!([-2.5, -2.0, -0.1, 0.0, 1.9, 7.9, 8.0].map(|x| residues.cell(x)), [2, 3, 3, 0, 0, 3, 0]);
    }

    #[test]
    fn odd_values_have_a_cell() {
        let residues = Partition::Periodic { origin: 0.0, width: 1e-300, cells: 4 };
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, -1e-320] {
            assert!(residues.cell(x) < 4);
            assert!(Partition::Threshold(0.0).cell(x) < 2);
        }
    }

    #[test]
    fn cells_that_the_partition_does_not_have_are_empty() {
        let model = Gaussian::new(1.0).unwrap();
        let mut five = [f64::NAN; 5];
        Partition::Threshold(0.3).masses(&model, 0.3, &mut five);
        assert_eq!(five, [0.5, 0.5, 0.0, 0.0, 0.0]);
        Partition::Periodic { origin: 0.0, width: 1e-9, cells: 4 }.masses(&model, 0.3, &mut five);
        assert!(five[..4].iter().all(|p| (p - 0.25).abs() < 1e-9) && five[4] == 0.0);
    }

    #[test]
    fn atoms_on_a_cut_belong_to_the_right() {
        let mut out = [0.0; 2];
        Partition::Threshold(1.0).masses(&Poisson, 2.0, &mut out);
        assert!((out[0] - (-2f64).exp()).abs() < 1e-15);
    }

    #[test]
    fn shifted_cells_hold_the_shifted_values() {
        for partition in [
            Partition::Threshold(0.25),
            Partition::Periodic { origin: -0.5, width: 0.75, cells: 3 },
            Partition::Cuts(Cuts::labelled(vec![-1.0, 0.5, 1.0], vec![0, 1, 0, 2]).unwrap()),
        ] {
            let shifted = partition.clone().shifted(-6.5).unwrap();
            // A mutant that moves the other way puts most of these into other cells.
            for x in (-40..40).map(|i| f64::from(i) / 16.0) {
                assert_eq!(partition.cell(x), shifted.cell(x - 6.5), "{partition:?} at {x}");
            }
        }
        let cuts = || Partition::Cuts(Cuts::new(vec![0.0, 1.0]).unwrap());
        assert!(matches!(cuts().shifted(1e300), Err(Error::CutsNotIncreasing { .. })));
        for by in [f64::NAN, f64::INFINITY] {
            assert!(cuts().shifted(by).is_err() && Partition::Threshold(0.0).shifted(by).is_err());
        }
    }

    #[test]
    fn bad_cuts_are_refused() {
        assert!(matches!(Cuts::new(vec![1.0, 1.0]), Err(Error::CutsNotIncreasing { .. })));
        assert!(matches!(Cuts::new(vec![f64::NAN]), Err(Error::Parameter { .. })));
        assert!(matches!(Cuts::new(vec![0.0, f64::NAN]), Err(Error::CutsNotIncreasing { .. })));
        assert!(matches!(Cuts::new(vec![]), Err(Error::TooFew { .. })));
        assert!(matches!(Cuts::labelled(vec![0.0], vec![0]), Err(Error::Length { .. })));
        assert!(matches!(Cuts::labelled(vec![0.0], vec![0, u32::MAX]), Err(Error::TooMany { .. })));
    }
}
