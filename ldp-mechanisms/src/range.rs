//! The range that values are clipped to, and the unit in which reports about them are sent.

use ldp_core::steady::{Divisor, mask};
use ldp_core::{Error, Rescale, Result, error::require};
use serde::{Deserialize, Serialize};

/// The range $[low, high]$ that values are clipped to, mapped onto $[-1, 1]$.
///
/// $$u(x) = \frac{2\bar x - low - high}{high - low}, \qquad \bar x = \min(\max(x, low), high).$$
///
/// The mechanisms on a range work on u, half the width of the range being one: then noise, reports and their sum are
/// of the same order whatever the data measure. What lies outside is clipped and not refused, because an error would
/// tell; a NaN counts as the middle.
///
/// ```
/// use ldp_mechanisms::Range;
/// let range = Range::new(10.0, 30.0)?;
/// assert_eq!([5.0, 10.0, 25.0, 30.0, f64::NAN].map(|x| range.unit(x)), [-1.0, -1.0, 0.5, 1.0, 0.0]);
/// assert_eq!((range.decode(0.5), range.scale_variance(2.0)), (25.0, 200.0));
/// assert!(Range::new(1.0, 1.0).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Range {
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    low: f64,
    high: f64,
}

impl TryFrom<Raw> for Range {
    type Error = Error;
    fn try_from(Raw { low, high }: Raw) -> Result<Self> {
        Self::new(low, high)
    }
}

/// The square of half of it is a normal number, with room for the smallest variance of a mechanism, 2⁻⁶².
const LEAST_WIDTH: f64 = 1e-150;

impl Range {
    /// The range from `low` to `high`: finite numbers, `low` < `high`, with a difference that is finite and at least
    /// 1e-150, so that variances in the unit of the data are not lost.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        require(low.is_finite(), "low end of the range", "finite", low)?;
        require(high.is_finite() && high > low, "high end of the range", "finite and above the low end", high)?;
        let width = high - low;
        require(width.is_finite() && width >= LEAST_WIDTH, "width of the range", "finite and at least 1e-150", width)?;
        Ok(Self { low, high })
    }

    /// The low end.
    #[inline]
    #[must_use]
    pub fn low(self) -> f64 {
        self.low
    }

    /// The high end.
    #[inline]
    #[must_use]
    pub fn high(self) -> f64 {
        self.high
    }

    /// The distance between the ends.
    #[inline]
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// u(x), in $[-1, 1]$: increasing in x, with the ends exactly at −1 and 1.
    #[inline]
    #[must_use]
    pub fn unit(self, x: f64) -> f64 {
        if x.is_nan() {
            return 0.0;
        }
        // Differences from both ends: near an end one of them is exact, while 2x − low − high has cancelled.
        let x = x.clamp(self.low, self.high);
        ((x - self.low) - (self.high - x)) / self.width()
    }

    /// |u(x)| in units of 2⁻⁶³, rounded down, and whether u is negative: in the same time for every x.
    #[inline]
    #[must_use]
    pub(crate) fn steady_unit(self, x: f64) -> (u64, bool) {
        // Of a NaN it is the low end at first.
        let inside = x.max(self.low).min(self.high);
        let lean = (inside - self.low) - (self.high - inside);
        let unit = Divisor::new(self.width()).share(lean);
        (unit & mask(!x.is_nan()), lean < 0.0)
    }

    /// The value that u stands for, $(low + high)/2 + u (high - low)/2$, for any real u. The ends are exact, and what
    /// is too large for a number is the largest one.
    #[must_use]
    pub fn decode(self, u: f64) -> f64 {
        if u == -1.0 {
            self.low
        } else if u == 1.0 {
            self.high
        } else {
            // Halves first: the sum of two ends can overflow though their difference does not.
            let middle = self.low / 2.0 + self.high / 2.0;
            (middle + self.width() / 2.0 * u).clamp(f64::MIN, f64::MAX)
        }
    }

    /// The variance of a decoded u with variance `variance`: $w^2/4$ times as large, with w the width.
    #[must_use]
    pub fn scale_variance(self, variance: f64) -> f64 {
        let half = self.width() / 2.0;
        (variance * half * half).min(f64::MAX)
    }
}

impl Rescale for Range {
    fn rescale(self, factor: f64) -> Result<Self> {
        Self::new(self.low * factor, self.high * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_simulate::seed::{Purpose, stream};
    use proptest::prelude::*;
    use rand::RngExt;

    #[test]
    fn what_is_no_range_is_refused_with_its_value() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY), (-1e308, 1e308)] {
            assert!(matches!(Range::new(low, high), Err(Error::Parameter { .. })), "[{low}, {high}]");
        }
        for width in [5e-324, 1e-200, 9.9e-151] {
            let refused = Range::new(0.0, width);
            assert!(matches!(refused, Err(Error::Parameter { name: "width of the range", .. })), "{width}");
            assert!(refused.unwrap_err().to_string().contains("1e-150"));
        }
        let narrow = Range::new(-5e-151, 5e-151).unwrap();
        assert!(narrow.scale_variance(2f64.powi(-62)) > 0.0 && narrow.rescale(0.5).is_err());
        assert!(matches!(Range::new(f64::NAN, 1.0), Err(Error::Parameter { value, .. }) if value.is_nan()));
        assert!(Range::new(-8e307, 8e307).unwrap().rescale(10.0).is_err());
        assert_eq!(Range::new(1.0, 2.0).unwrap().rescale(3.0).unwrap(), Range::new(3.0, 6.0).unwrap());
    }

    #[test]
    fn deserialising_is_constructing() {
        let range = Range::new(-0.1, 0.7).unwrap();
        let json = serde_json::to_string(&range).unwrap();
        assert_eq!(json, r#"{"low":-0.1,"high":0.7}"#);
        assert_eq!(serde_json::from_str::<Range>(&json).unwrap(), range);
        for bad in
            [r#"{"low":1.0,"high":1.0}"#, r#"{"low":1.0,"high":null}"#, r#"{"low":1.0}"#, r#"{"low":0,"high":1,"w":1}"#]
        {
            assert!(serde_json::from_str::<Range>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn large_ranges_and_means_stay_finite() {
        let range = Range::new(8e307, 1.7e308).unwrap();
        assert_eq!((range.decode(-1.0), range.decode(1.0), range.decode(0.0)), (8e307, 1.7e308, 1.25e308));
        assert_eq!(range.decode(1e6), f64::MAX);
        assert_eq!(range.scale_variance(1.0), f64::MAX);
    }

    #[test]
    fn the_steady_unit_is_the_unit() {
        let mut rng = stream(5, Purpose::Data, 0, 0);
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, 1e300];
        for (low, high) in
            [(0.0, 1.0), (-1.0, 1.0), (-3.7, 12.1), (1e9, 1e9 + 1e-3), (-1e-150, 1e-150), (-8e307, 8e307)]
        {
            let range = Range::new(low, high).unwrap();
            let inside = (0..20_000).map(|i| match i % 3 {
                0 => low + (high - low) * rng.random::<f64>(),
                1 => (low + high) / 2.0 + (high - low) * 2f64.powf(-80.0 * rng.random::<f64>()),
                _ => f64::from_bits(rng.random()),
            });
            for x in inside.chain(odd).chain([low, high, low.next_up(), high.next_down(), (low + high) / 2.0]) {
                let scaled = (range.unit(x) * 2f64.powi(63)) as i128;
                let (unit, is_low) = range.steady_unit(x);
                assert_eq!(i128::from(unit) * if is_low { -1 } else { 1 }, scaled, "{x} in [{low}, {high}]");
            }
        }
    }

    proptest! {
        #[test]
        fn unit_is_increasing_and_decode_undoes_it(
            low in -1e9..1e9f64, log_width in -20.0..20.0f64, t in 0.0..=1.0f64,
        ) {
            let high = low + 10f64.powf(log_width);
            prop_assume!(low < high);
            let range = Range::new(low, high).unwrap();
            let ends = [low, high, f64::NEG_INFINITY, f64::INFINITY];
            prop_assert_eq!(ends.map(|x| range.unit(x)), [-1.0, 1.0, -1.0, 1.0]);
            let x = (low + t * (high - low)).clamp(low, high);
            let u = range.unit(x);
            prop_assert!((-1.0..=1.0).contains(&u) && range.unit(x.next_down()) <= u && u <= range.unit(x.next_up()));
            prop_assert!((range.decode(u) - x).abs() <= 4.0 * f64::EPSILON * (low.abs() + high.abs()));
            prop_assert_eq!((range.decode(-1.0), range.decode(1.0)), (low, high));
        }
    }
}
