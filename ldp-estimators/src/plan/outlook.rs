//! What a protocol promises at one mean.

use ldp_core::drive::exact::{Countable, Exact, Risk};
use ldp_core::model::Gaussian;
use ldp_core::{IntervalKind, Result};

/// The exact risk of a protocol, as far as plans need it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// The mean squared error.
    pub mse: f64,
    /// The probability that the exact interval contains the mean.
    pub coverage: f64,
    /// The probability of an infinite end.
    pub infinite: f64,
    /// The probability of a finite interval.
    pub finite: f64,
    /// Probability times width over the finite ones.
    pub finite_width: f64,
}

/// How much work an outlook is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effort {
    /// For comparing allocations: half-widths to a thousandth.
    Rough,
    /// For what is promised.
    Fine,
}

impl Outlook {
    /// The expected half-width of the intervals with finite ends; `None` if there are none.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        (self.finite > 0.0).then(|| 0.5 * self.finite_width / self.finite)
    }

    /// A standard deviation that is honest about both: that of the estimate, and the one its intervals show, `z` of which
    /// make a half-width.
    pub(super) fn spread(&self, z: f64) -> f64 {
        self.half_width().map_or(f64::INFINITY, |half| half / z).max(self.mse.sqrt())
    }

    /// This with a weight, added to what there is.
    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        self.mse += weight * other.mse;
        self.coverage += weight * other.coverage;
        self.infinite += weight * other.infinite;
        self.finite += weight * other.finite;
        self.finite_width += weight * other.finite_width;
    }

    /// Of a protocol that is run on values from `model` at `theta`.
    pub(super) fn of<E: Countable>(
        estimator: &E,
        model: &Gaussian,
        theta: f64,
        users: u64,
        level: f64,
        effort: Effort,
    ) -> Result<Self> {
        let empty = || Risk::new(theta, level, &[IntervalKind::Exact]);
        let exact = Exact::new(model, theta)?;
        let summed = match effort {
            Effort::Rough => exact.goal(1e-3)?.resolution(5.0, 1.0).most(1 << 20).rough(estimator, users, empty)?,
            Effort::Fine => exact.goal(1e-7)?.most(1 << 20).resolution(20.0, 1e-3).best(estimator, users, empty)?,
        };
        let (errors, intervals) = (summed.gather.errors(), &summed.gather.intervals()[0]);
        // Divided by what was summed: on a lattice the probabilities add up to one only to its resolution.
        let mass = errors.mass();
        Ok(Self {
            mse: errors.mse(),
            coverage: intervals.covered / mass,
            infinite: intervals.infinite / mass,
            finite: intervals.finite / mass,
            finite_width: intervals.finite_width / mass,
        })
    }
}
