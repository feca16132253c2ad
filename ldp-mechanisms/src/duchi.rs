//! One bit whose probability is linear in the value.

use crate::{Range, clipped};
use ldp_core::{
    Cdf, Density, Epsilon, Error, Finite, FiniteChannel, Kernel, Mechanism, Numerics, Partition, Rescale, Result,
    Unbiased, channel::two_64, json, steady::mask,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The one-bit mechanism of Duchi, Jordan and Wainwright: report 1 with a probability linear in the value.
///
/// With u in $[-1, 1]$ as in [`Range`] and $\tau = \tanh(\varepsilon/2)$:
///
/// $$q(1 \mid x) = \frac{1 + \tau u}{2}, \qquad \hat u = \frac{2Z - 1}{\tau}.$$
///
/// - ε: $\ln(2^{64}/\mathrm{lie} - 1)$, from the integer weight of a 0 at the high end. In between, weights are rounded
///   values of a linear function, never outside the two ends: privacy is exact.
/// - Report size: 1 bit.
/// - Variance of the decoded report: $\frac{w^2}{4}(1/\tau^2 - u^2)$, with w the width of the range.
/// - Sampling: exact, by comparing one random word with a weight. One random word per report.
/// - Under a model, $P_\theta(Z = 1) = \frac12 + \frac{\tau}{2} E_\theta[u(X)]$.
///
/// From [DJW18], in one dimension. [`Ding`] is another name.
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, Unbiased};
/// use ldp_mechanisms::{Duchi, Range};
/// let duchi = Duchi::new(Epsilon::new(1.0)?, Range::new(0.0, 10.0)?)?;
/// assert!(duchi.epsilon().value() <= 1.0);
/// // A mean report of ½ stands for the middle.
/// assert_eq!(duchi.decode(0.5), 5.0);
/// assert!((duchi.variance(5.0) - 25.0 / 0.5f64.tanh().powi(2)).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [DJW18]: https://arxiv.org/abs/1604.02390
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Duchi {
    range: Range,
    lie: u64,
}

/// The one-bit mechanism of Ding, Kulkarni and Yekhanin for telemetry: [`Duchi`], under the name of [DKY17].
///
/// Their definition is that of the same channel:
///
/// $$q(1 \mid x) = \frac{1}{e^\varepsilon+1} + \frac{\bar x - low}{high - low} \cdot
/// \frac{e^\varepsilon-1}{e^\varepsilon+1}.$$
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_mechanisms::{Ding, Duchi, Range};
/// let (epsilon, range) = (Epsilon::new(1.0)?, Range::new(0.0, 10.0)?);
/// assert_eq!(Ding::new(epsilon, range)?, Duchi::new(epsilon, range)?);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [DKY17]: https://arxiv.org/abs/1712.01524
pub type Ding = Duchi;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    range: Range,
    #[serde(with = "json::weight")]
    lie: u64,
}

impl TryFrom<Raw> for Duchi {
    type Error = Error;
    fn try_from(Raw { range, lie }: Raw) -> Result<Self> {
        Self::with_lie(range, lie)
    }
}

impl From<Duchi> for Raw {
    fn from(Duchi { range, lie }: Duchi) -> Self {
        Self { range, lie }
    }
}

impl Duchi {
    /// The one-bit mechanism at level ε on values in a range.
    pub fn new(epsilon: Epsilon, range: Range) -> Result<Self> {
        match Kernel::response(epsilon, 2)? {
            Kernel::Response { lie, .. } => Self::with_lie(range, lie),
            Kernel::Dense(_) => Err(Error::Uninformative),
        }
    }

    /// The mechanism with this weight of a lie.
    pub(crate) fn with_lie(range: Range, lie: u64) -> Result<Self> {
        // At the two ends it is randomised response, whose own checks are the only ones.
        FiniteChannel::new(Partition::Threshold(0.0), Kernel::Response { reports: 2, lie })?;
        Ok(Self { range, lie })
    }

    /// The weight of a 0 at the high end and of a 1 at the low end, in units of 2⁻⁶⁴.
    #[inline]
    #[must_use]
    pub fn lie(self) -> u64 {
        self.lie
    }

    /// $\tau$, the slope of $E[2Z - 1]$ in u.
    #[inline]
    #[must_use]
    pub fn tau(self) -> f64 {
        self.contrast() as f64 / two_64()
    }

    /// 2⁶⁴ − 2 · lie.
    #[inline]
    fn contrast(self) -> u64 {
        (2 * self.lie).wrapping_neg()
    }

    /// The weight of a 1, in units of 2⁻⁶⁴: from `lie` at the low end to 2⁶⁴ − `lie` at the high end, increasing.
    #[inline]
    #[must_use]
    pub fn weight(self, input: f64) -> u64 {
        // |u| in units of 2^-63; the product is below 2^127. Both roundings are towards zero: the weights of u and −u add
        // up to 2^64, and nothing lies beyond the ends, which are exact because the contrast is even.
        let (unit, is_low) = self.range.steady_unit(input);
        let lean = ((u128::from(self.contrast()) * u128::from(unit)) >> 64) as u64;
        let sign = mask(is_low);
        (1u64 << 63).wrapping_add((lean ^ sign).wrapping_sub(sign))
    }
}

impl Mechanism for Duchi {
    type Input = f64;
    type Report = u32;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        Epsilon::of_ratio(self.lie.wrapping_neg(), self.lie).expect("checked on construction")
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        u32::from(rng.next_u64() < self.weight(*input))
    }
}

impl Density for Duchi {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        let weight = match report {
            0 => self.weight(*input).wrapping_neg(),
            1 => self.weight(*input),
            _ => 0,
        };
        (weight as f64 / two_64()).ln()
    }
}

impl Finite for Duchi {
    fn reports(&self) -> u32 {
        2
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        let lean = self.tau() * clipped::mean_unit(self.range, model, theta);
        out[0] = (1.0 - lean) / 2.0;
        out[1] = (1.0 + lean) / 2.0;
    }
}

impl Unbiased for Duchi {
    fn range(&self) -> (f64, f64) {
        (self.range.low(), self.range.high())
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.range.decode((2.0 * mean_report - 1.0) / self.tau())
    }

    fn variance(&self, input: f64) -> f64 {
        let (unit, contrast) = (self.range.unit(input), self.contrast() as f64);
        // 1/τ² − u² in parts that are not negative: at large ε and the ends both terms are close to one.
        let around = 4.0 * (self.lie as f64 / contrast) * (self.lie.wrapping_neg() as f64 / contrast);
        self.range.scale_variance(around + (1.0 - unit) * (1.0 + unit))
    }
}

impl Rescale for Duchi {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { range: self.range.rescale(factor)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::Repeating;
    use proptest::prelude::*;

    fn duchi(level: f64, low: f64, high: f64) -> Duchi {
        Duchi::new(Epsilon::new(level).unwrap(), Range::new(low, high).unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn weights_increase_between_the_ends_and_are_antisymmetric(
            lie in 1u64..1 << 63, u in -1.0..=1.0f64, log_u in -40.0..0.0f64,
        ) {
            let duchi = Duchi::with_lie(Range::new(-1.0, 1.0).unwrap(), lie).unwrap();
            prop_assert_eq!((duchi.weight(-1.0), duchi.weight(1.0)), (lie, lie.wrapping_neg()));
            for u in [u, log_u.exp2()] {
                let weight = duchi.weight(u);
                prop_assert!(duchi.weight(u.next_down()) <= weight && weight <= duchi.weight(u.next_up()));
                prop_assert!((lie..=lie.wrapping_neg()).contains(&weight));
                prop_assert_eq!(weight.wrapping_add(duchi.weight(-u)), 0);
            }
        }
    }

    #[test]
    fn the_definition_of_ding_is_the_same_channel() {
        for (level, low, high) in [(0.01, 0.0, 1.0), (1.0, -3.0, 3.0), (4.0, 10.0, 35.0)] {
            let (ding, e): (Ding, f64) = (duchi(level, low, high), f64::exp(level));
            for t in [0.0, 0.1, 0.5, 0.77, 1.0] {
                let x = low + t * (high - low);
                let theirs = 1.0 / (e + 1.0) + (x - low) / (high - low) * (e - 1.0) / (e + 1.0);
                assert!((ding.ln_density(&1, &x).exp() - theirs).abs() < 1e-15);
                // A slip such as the slope E/(E + 1) is not.
                let slip = 1.0 / (e + 1.0) + (x - low) / (high - low) * e / (e + 1.0);
                assert!(t == 0.0 || (ding.ln_density(&1, &x).exp() - slip).abs() > 1e-3);
            }
        }
    }

    #[test]
    fn as_many_words_give_a_one_as_its_weight_says() {
        let duchi = duchi(1.0, 0.0, 1.0);
        for x in [0.0, 0.3, 1.0, f64::NAN] {
            let report = |word| duchi.privatize(&x, &mut Repeating::new(word));
            assert_eq!((report(duchi.weight(x) - 1), report(duchi.weight(x))), (1, 0));
        }
        assert_eq!(duchi.weight(f64::NAN), 1 << 63);
    }

    #[test]
    fn a_report_that_cannot_be_has_no_density() {
        assert_eq!(duchi(1.0, 0.0, 1.0).ln_density(&2, &0.3), f64::NEG_INFINITY);
    }

    #[test]
    fn tampered_json_is_refused() {
        let json = |range: &str, lie: &str| format!(r#"{{"range":{{{range}}},"lie":{lie}}}"#);
        let unit = r#""low":0.0,"high":1.0"#;
        assert!(serde_json::from_str::<Duchi>(&json(unit, r#""4611686018427387904""#)).is_ok());
        for (range, lie) in [
            (unit, r#""0""#),
            (unit, r#""9223372036854775808""#),
            (unit, "1"),
            (unit, r#""1","tau":0.5"#),
            (r#""low":1.0,"high":0.0"#, r#""1""#),
        ] {
            assert!(serde_json::from_str::<Duchi>(&json(range, lie)).is_err(), "{range} {lie}");
        }
    }
}
