//! What a protocol promises at one mean.

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
    /// For about the number of users: as roughly as for comparing allocations, at every fourth place.
    Glance,
    /// For comparing allocations: half-widths to a thousandth, and coverage as it should be.
    Rough,
    /// For what is promised: half-widths to one in ten thousand, and coverage to rounding.
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

    /// The half-width that counts: that of the intervals, or what the mean squared error says if that is a tenth more. An
    /// estimate that is rarely but far off has narrow intervals and is still not what was asked for.
    pub(super) fn shown(&self, z: f64) -> f64 {
        self.half_width().unwrap_or(f64::INFINITY).max(z * self.mse.sqrt() / 1.1)
    }

    /// This with a weight, added to what there is.
    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        self.mse += weight * other.mse;
        self.coverage += weight * other.coverage;
        self.infinite += weight * other.infinite;
        self.finite += weight * other.finite;
        self.finite_width += weight * other.finite_width;
    }

    /// This of `known` users, for about as many others: widths and errors fall like the root of the number.
    pub(super) fn resized(self, known: u64, users: u64) -> Self {
        if known == users {
            return self;
        }
        let ratio = known as f64 / users as f64;
        Self { mse: self.mse * ratio, finite_width: self.finite_width * ratio.sqrt(), ..self }
    }

    /// In another unit, σ of which are one.
    pub(super) fn in_unit(self, sigma: f64) -> Self {
        Self { mse: self.mse * sigma * sigma, finite_width: self.finite_width * sigma, ..self }
    }
}
