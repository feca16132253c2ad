//! A family on finitely many cells: what the search for an optimal mechanism has to know of it.

use crate::law::informative;
use ldp_core::error::require;
use ldp_core::{Error, Result};

/// How far sums may be from what they must be: rounding of the caller's own sums.
const TOLERANCE: f64 = 1e-9;

/// Masses of cells and their derivatives in the parameter.
///
/// All that the information of a private report depends on: $r_j = P_\theta(\text{cell}_j)$ and
/// $y_j = \partial_\theta r_j$, with $\sum r_j = 1$ and hence $\sum y_j = 0$. Any numbers like these will do, a model is
/// not needed. The score of a cell is $y_j/r_j$.
///
/// ```
/// use ldp_core::Error;
/// use ldp_fisher::optimal::Cells;
/// let cells = Cells::new(vec![0.2, 0.5, 0.3], vec![-0.4, 0.1, 0.3])?;
/// assert!((cells.information() - (0.16 / 0.2 + 0.01 / 0.5 + 0.09 / 0.3)).abs() < 1e-15);
/// let wrong = Cells::new(vec![0.5, 0.5], vec![0.1, 0.3]).unwrap_err();
/// assert_eq!(wrong.to_string(), "the derivatives of the masses must add up to 0, got 0.4");
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    masses: Vec<f64>,
    slopes: Vec<f64>,
}

impl Cells {
    /// Positive masses that add up to one, and derivatives that add up to zero, not all of them zero.
    ///
    /// Sums may be off by 1e-9 of the sum of absolute values.
    pub fn new(masses: Vec<f64>, slopes: Vec<f64>) -> Result<Self> {
        if masses.len() < 2 {
            return Err(Error::TooFew { name: "cells", least: 2, value: masses.len() as u64 });
        }
        if slopes.len() != masses.len() {
            let (expected, found) = (masses.len(), slopes.len());
            return Err(Error::Length { what: "derivatives of masses", expected, found });
        }
        for &mass in &masses {
            require(mass > 0.0 && mass <= 1.0, "mass of a cell", "positive and at most 1", mass)?;
        }
        for &slope in &slopes {
            require(slope.is_finite(), "derivative of a mass", "finite", slope)?;
        }
        let total: f64 = masses.iter().sum();
        if !((total - 1.0).abs() <= TOLERANCE) {
            return Err(Error::Sum { what: "the masses of the cells", expected: 1.0, found: total });
        }
        let (balance, size) = slopes.iter().fold((0.0, 0.0), |(sum, size), slope| (sum + slope, size + slope.abs()));
        if !(f64::abs(balance) <= TOLERANCE * size) {
            return Err(Error::Sum { what: "the derivatives of the masses", expected: 0.0, found: balance });
        }
        let cells = Self { masses, slopes };
        informative(cells.information())?;
        Ok(cells)
    }

    /// How many cells.
    #[expect(clippy::len_without_is_empty, reason = "there are always at least two")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.masses.len()
    }

    /// $r_j$, the probabilities of the cells.
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// $y_j$, their derivatives in the parameter.
    #[must_use]
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The information of the cell itself, $\sum y_j^2/r_j$: what no report about it can exceed.
    #[must_use]
    pub fn information(&self) -> f64 {
        self.masses.iter().zip(&self.slopes).map(|(mass, slope)| slope * (slope / mass)).sum()
    }

    /// The cells in increasing order of their scores $y_j/r_j$.
    #[must_use]
    pub fn by_score(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let score = |j: usize| self.slopes[j] / self.masses[j];
        order.sort_by(|&i, &j| score(i).total_cmp(&score(j)));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_families_are_refused() {
        let refuse = |masses: &[f64], slopes: &[f64]| Cells::new(masses.to_vec(), slopes.to_vec()).unwrap_err();
        assert!(matches!(refuse(&[1.0], &[0.0]), Error::TooFew { .. }));
        assert!(matches!(refuse(&[0.5, 0.5], &[0.1]), Error::Length { .. }));
        assert!(matches!(refuse(&[0.5, 0.6], &[0.1, -0.1]), Error::Sum { expected: 1.0, .. }));
        assert!(matches!(refuse(&[0.5, 0.5], &[0.1, -0.2]), Error::Sum { expected: 0.0, .. }));
        assert!(matches!(refuse(&[0.5, 0.5], &[0.0, 0.0]), Error::Parameter { .. }));
        assert!(matches!(refuse(&[1.0, 0.0], &[0.1, -0.1]), Error::Parameter { .. }));
        assert!(matches!(refuse(&[0.5, 0.5], &[f64::NAN, 0.1]), Error::Parameter { .. }));
        assert!(matches!(refuse(&[f64::NAN, 0.5], &[-0.1, 0.1]), Error::Parameter { .. }));
        assert!(matches!(refuse(&[0.5, 0.5], &[1e200, -1e200]), Error::Parameter { .. }));
    }
}
