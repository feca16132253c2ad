//! Where one more report begins to pay.

use super::intervals;
use crate::home::Home;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Epsilon, Result};

/// The number of reports is looked at in steps of this: switches that are closer together, there and back, would be missed.
const STEP: f64 = 0.02;

/// How exactly a switch is found: informations are compared to 1e-13.
const EXACT: f64 = 1e-11;

/// A level at which another number of reports becomes the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Switch {
    /// The level.
    pub epsilon: f64,
    /// The best number below it.
    pub from: u32,
    /// The best number above it.
    pub to: u32,
    /// The information there, of both.
    pub information: f64,
}

/// The levels up to `until` at which the number of reports of the best [`response`](super::response) changes, increasing.
///
/// Found by looking at levels in steps of 0.02 and halving between two that differ, to about 1e-11. Computed, not proved.
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// use ldp_fisher::optimal::switches;
/// let found = switches(&Gaussian::new(1.0)?, 0.0, Epsilon::new(3.5)?)?;
/// assert_eq!(found.iter().map(|switch| (switch.from, switch.to)).collect::<Vec<_>>(), [(2, 3), (3, 4)]);
/// // Up to here the sign is the best question about a Gaussian mean.
/// assert!((found[0].epsilon - 2.0074028525).abs() < 1e-9);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn switches<M: Cdf + Score + ?Sized>(model: &M, theta: f64, until: Epsilon) -> Result<Vec<Switch>> {
    let home = Home::new(model, theta)?;
    let levels = home.levels()?;
    let best = |level: f64| -> Result<Place> {
        let found = intervals::best(&levels, Epsilon::new(level)?)?;
        let information = home.information(found.information);
        Ok(Place { level, reports: found.pieces.len() as u32, information })
    };
    let steps = (until.value() / STEP).ceil();
    let mut all = Vec::new();
    let mut left = best(until.value() / steps)?;
    for i in 2..=steps as u32 {
        let right = best(until.value() * f64::from(i) / steps)?;
        between(&best, left, right, &mut all)?;
        left = right;
    }
    Ok(all)
}

/// The best at one level.
#[derive(Clone, Copy)]
struct Place {
    level: f64,
    reports: u32,
    information: f64,
}

/// Adds the switches between two levels.
fn between(best: &dyn Fn(f64) -> Result<Place>, left: Place, right: Place, all: &mut Vec<Switch>) -> Result<()> {
    if left.reports == right.reports {
        return Ok(());
    }
    if right.level - left.level <= EXACT {
        let Place { level, information, .. } = right;
        all.push(Switch { epsilon: level, from: left.reports, to: right.reports, information });
        return Ok(());
    }
    let middle = best(left.level + 0.5 * (right.level - left.level))?;
    between(best, left, middle, all)?;
    between(best, middle, right, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Exponential, Gaussian, Laplace};

    #[test]
    fn units_do_not_matter_and_two_scores_never_switch() {
        let until = Epsilon::new(4.0).unwrap();
        let one = switches(&Gaussian::new(1.0).unwrap(), 0.0, until).unwrap();
        let other = switches(&Gaussian::new(0.3).unwrap(), -20.0, until).unwrap();
        assert_eq!(one.len(), 3);
        for (one, other) in one.iter().zip(&other) {
            assert!((one.epsilon - other.epsilon).abs() < 1e-9 && one.to == other.to);
            assert!((one.information - 0.09 * other.information).abs() < 1e-9);
        }
        assert!(switches(&Laplace::new(2.0).unwrap(), 1.0, until).unwrap().is_empty());
        assert!(switches(&Exponential, -1.0, until).is_err());
        // Below the first step there is nothing to be compared.
        assert!(switches(&Exponential, 1.0, Epsilon::new(0.01).unwrap()).unwrap().is_empty());
    }
}
