//! Where a question about a family is answered: at zero for a family of locations, at one for a family of scales.

use crate::exact;
use crate::law::informative;
use crate::levels::Levels;
use ldp_core::model::{Cdf, Score, Symmetry};
use ldp_core::{Error, FiniteChannel, Rescale, Result};

/// What rounding of the cuts may cost a mechanism that is moved, relative to its information.
const MOST_LOST: f64 = 1e-9;

/// A family at θ, seen from the member that all others come from.
///
/// Far from zero neighbouring numbers are far apart: at $\theta = 10^{16}\sigma$ nothing lies between one standard deviation and
/// the next, and what is worked out there is about a law on those few numbers. What a private report can say about a location
/// does not depend on where it is. So it is worked out at zero, and only the cuts are moved; likewise at one for scales.
/// A family without such a symmetry stays where it is.
pub(crate) struct Home<'a, M: ?Sized> {
    model: &'a M,
    theta: f64,
    origin: f64,
    symmetry: Symmetry,
    /// Of a value at θ.
    information: f64,
}

impl<'a, M: Cdf + Score + ?Sized> Home<'a, M> {
    /// Checks θ and that the information there is positive and finite.
    pub fn new(model: &'a M, theta: f64) -> Result<Self> {
        model.admits(theta)?;
        let information = informative(model.information(theta))?;
        let symmetry = model.symmetry();
        let origin = match symmetry {
            Symmetry::Location => 0.0,
            Symmetry::Scale => 1.0,
            _ => theta,
        };
        Ok(Self { model, theta, origin, symmetry, information })
    }

    /// The law of the score, the same at home and at θ.
    pub fn levels(&self) -> Result<Levels<'a, M>> {
        Levels::new(self.model, self.origin)
    }

    /// One unit of score at θ, $\sqrt{I_0}$.
    pub fn unit(&self) -> f64 {
        self.information.sqrt()
    }

    /// An information in units of that of a value, as one about θ.
    pub fn information(&self, units: f64) -> f64 {
        units * self.information
    }

    /// A point at home as one at θ.
    pub fn point(&self, x: f64) -> f64 {
        match self.symmetry {
            Symmetry::Location => x + self.theta,
            Symmetry::Scale => x * self.theta,
            _ => x,
        }
    }

    /// Whether what is moved still has the information that it must have.
    ///
    /// # Errors
    ///
    /// [`Error::Coarse`] where rounding costs it more than 1e-9 of that.
    pub fn keeps(&self, information: f64, expected: f64) -> Result<()> {
        let lost = 1.0 - information / expected;
        if lost.abs() <= MOST_LOST { Ok(()) } else { Err(self.coarse(lost)) }
    }

    /// A mechanism at home as one at θ, with its information there: that of the cuts as they are rounded.
    ///
    /// # Errors
    ///
    /// [`Error::Coarse`] where rounding costs it more than 1e-9 of its information, or leaves nothing between two cuts.
    pub fn moved(&self, channel: FiniteChannel) -> Result<(FiniteChannel, f64)> {
        let at_home = exact(&channel, self.model, self.origin)?.value;
        if self.theta == self.origin {
            return Ok((channel, at_home));
        }
        let moved = match self.symmetry {
            Symmetry::Location => channel.shifted(self.theta),
            _ => channel.rescale(self.theta),
        };
        let moved = moved.map_err(|_| self.coarse(1.0))?;
        let information = exact(&moved, self.model, self.theta)?.value;
        self.keeps(information, at_home * (self.information / self.model.information(self.origin)))?;
        Ok((moved, information))
    }

    fn coarse(&self, lost: f64) -> Error {
        let size = self.theta.abs();
        Error::Coarse { theta: self.theta, apart: size.next_up() - size, lost, most: MOST_LOST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Exponential, Gaussian, Poisson};
    use ldp_core::{Cuts, Epsilon, Kernel, Partition};

    fn ternary(cuts: [f64; 2]) -> FiniteChannel {
        let kernel = Kernel::response(Epsilon::new(3.0).unwrap(), 3).unwrap();
        FiniteChannel::new(Partition::Cuts(Cuts::new(cuts.to_vec()).unwrap()), kernel).unwrap()
    }

    #[test]
    fn mechanisms_keep_their_information_or_are_refused() {
        // The best cuts: there a small shift costs a square of it.
        let (best, value) = (0.4839845, 0.59365136);
        let gaussian = Gaussian::new(1.0).unwrap();
        for theta in [0.0, -0.1, 3e5, 1e10, -1e11] {
            let (moved, information) = Home::new(&gaussian, theta).unwrap().moved(ternary([-best, best])).unwrap();
            assert!((information / value - 1.0).abs() < 2e-8, "{information} at {theta}");
            assert_eq!(moved.partition(), &Partition::Cuts(Cuts::new(vec![theta - best, theta + best]).unwrap()));
        }
        for (theta, everything) in [(1e14, false), (-1e15, false), (1e16, true), (1e300, true)] {
            let refused = Home::new(&gaussian, theta).unwrap().moved(ternary([-best, best]));
            assert!(
                matches!(refused, Err(Error::Coarse { lost, .. }) if (lost == 1.0) == everything && lost > 1e-9),
                "{refused:?}"
            );
        }
        // A threshold is at home everywhere, and so is infinity.
        let far = Home::new(&gaussian, 1e300).unwrap();
        assert_eq!([0.5, f64::INFINITY].map(|x| far.point(x)), [1e300, f64::INFINITY]);
        let sign = FiniteChannel::new(Partition::Threshold(0.0), ternary_kernel()).unwrap();
        assert_eq!(far.moved(sign).unwrap().0.partition(), &Partition::Threshold(1e300));
    }

    fn ternary_kernel() -> Kernel {
        Kernel::response(Epsilon::new(3.0).unwrap(), 2).unwrap()
    }

    #[test]
    fn units_and_families_without_symmetry() {
        let home = Home::new(&Exponential, 1e-80).unwrap();
        let (moved, information) = home.moved(ternary([0.5, 1.7])).unwrap();
        let there = exact(&ternary([0.5, 1.7]), &Exponential, 1.0).unwrap().value;
        assert!((information / there * 1e-160 - 1.0).abs() < 1e-13 && (home.unit() * 1e-80 - 1.0).abs() < 1e-15);
        assert_eq!(moved.partition(), &Partition::Cuts(Cuts::new(vec![0.5e-80, 1.7e-80]).unwrap()));
        let poisson = Home::new(&Poisson, 1e15).unwrap();
        assert_eq!((poisson.point(7.0), poisson.levels().unwrap().theta()), (7.0, 1e15));
        assert!(Home::new(&Exponential, -1.0).is_err() && Home::new(&Gaussian::new(1e-150).unwrap(), 0.0).is_err());
    }
}
