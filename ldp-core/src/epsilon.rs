//! The privacy level ε, and exact statements about e^ε.
//!
//! A channel here has integer weights, so «its ε is at most 1» is a statement about integers and the number e.
//! `exp_floor` gives a lower bound of e^ε in fixed point; every comparison goes through it, never through a
//! rounded `exp` or `ln`.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A privacy level: positive and finite.
///
/// ```
/// use ldp_core::Epsilon;
/// let epsilon = Epsilon::new(1.0)?;
/// assert_eq!(epsilon.value(), 1.0);
/// assert!((epsilon.tau() - 0.46211715726000973).abs() < 1e-16);
/// assert!(Epsilon::new(0.0).is_err() && Epsilon::new(f64::NAN).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

impl Epsilon {
    /// A positive finite number, or [`Error::Epsilon`].
    pub fn new(value: f64) -> Result<Self> {
        if value > 0.0 && value.is_finite() { Ok(Self(value)) } else { Err(Error::Epsilon { value }) }
    }

    /// The level as a number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }

    /// $\tau = \tanh(\varepsilon/2) = (e^\varepsilon - 1)/(e^\varepsilon + 1)$, the contrast of a randomised bit.
    #[must_use]
    pub fn tau(self) -> f64 {
        (self.0 / 2.0).tanh()
    }

    /// Whether `large / small` ≤ e^ε, decided in integers: `true` is a proof.
    ///
    /// It can be `false` for a ratio within 2⁻⁶³ below e^ε, never `true` above it.
    #[must_use]
    pub fn covers(self, large: u64, small: u64) -> bool {
        self.covers_wide(large.into(), small.into())
    }

    /// [`covers`](Self::covers) for ratios of products of weights and counts.
    #[must_use]
    pub fn covers_wide(self, large: u128, small: u128) -> bool {
        // (high, low) halves of the two products, which order like the products.
        wide_product(large, 1 << 63) <= wide_product(small, exp_floor(self.0))
    }

    /// The smallest level that [`covers`](Self::covers) the ratio `large / small` of two weights.
    ///
    /// So the result is never below the true ln(large / small), and never above a level from which the
    /// weights were made. Fails with [`Error::Uninformative`] unless `large > small > 0`.
    pub fn of_ratio(large: u64, small: u64) -> Result<Self> {
        Self::of_wide_ratio(large.into(), small.into())
    }

    /// [`of_ratio`](Self::of_ratio) for products of weights and counts. A ratio above 2⁶⁴ is
    /// [`Error::Parameter`]: no level here is that large.
    pub fn of_wide_ratio(large: u128, small: u128) -> Result<Self> {
        if small == 0 || large <= small {
            return Err(Error::Uninformative);
        }
        if large >> 64 >= small {
            let ratio = large as f64 / small as f64;
            return Err(Error::Parameter { name: "a ratio of weights", requirement: "below 2^64", value: ratio });
        }
        let guess = ((large - small) as f64 / small as f64).ln_1p();
        // Bracket the answer, then bisect on the bit patterns, which order positive floats.
        let (mut below, mut above) = (guess, guess);
        let mut step = f64::EPSILON;
        while Self(below).covers_wide(large, small) {
            below *= 1.0 - step;
            step *= 2.0;
        }
        step = f64::EPSILON;
        while !Self(above).covers_wide(large, small) {
            above *= 1.0 + step;
            step *= 2.0;
        }
        let (mut below, mut above) = (below.to_bits(), above.to_bits());
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if Self(f64::from_bits(middle)).covers_wide(large, small) { above = middle } else { below = middle }
        }
        Ok(Self(f64::from_bits(above)))
    }
}

/// a · b as (high, low) halves of 128 bits.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = (1 << 64) - 1;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let carry = a0 * b1 + (middle & LOW);
    let high = a1 * b1 + (middle >> 64) + (carry >> 64);
    (high, (carry << 64) | (a0.wrapping_mul(b0) & LOW))
}

impl TryFrom<f64> for Epsilon {
    type Error = Error;
    fn try_from(value: f64) -> Result<Self> {
        Self::new(value)
    }
}

impl From<Epsilon> for f64 {
    fn from(epsilon: Epsilon) -> f64 {
        epsilon.0
    }
}

impl std::fmt::Display for Epsilon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A lower bound of e^x · 2⁶³ for x ≥ 0, within 1 + 2⁻¹¹⁰ e^x · 2⁶³ of it, and increasing in x.
///
/// It is capped at 2⁶⁴ · 2⁶³: no ratio of two weights is larger.
/// Method: Taylor at x/2⁷ and seven squarings, in 126 fraction bits, every rounding downwards.
pub(crate) fn exp_floor(x: f64) -> u128 {
    const CAP: u128 = 1 << 127;
    const FRACTION: u32 = 126;
    const HALVINGS: u32 = 7;
    if x >= 44.4 {
        return CAP;
    }
    let reduced = floor_scaled(x, FRACTION - HALVINGS);
    let (mut sum, mut term, mut k) = (1u128 << FRACTION, 1u128 << FRACTION, 1);
    while term > 0 {
        term = mul_shift(term, reduced) / k;
        sum += term;
        k += 1;
    }
    // e^x = mantissa · 2^exponent, mantissa in [1, 2).
    let (mut mantissa, mut exponent) = (sum, 0);
    for _ in 0..HALVINGS {
        mantissa = mul_shift(mantissa, mantissa);
        exponent *= 2;
        if mantissa >> (FRACTION + 1) != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    if exponent <= 63 { mantissa >> (63 - exponent) } else { CAP }
}

/// ⌊x · 2^shift⌋ for 0 ≤ x < 64, exactly.
fn floor_scaled(x: f64, shift: u32) -> u128 {
    if x < f64::MIN_POSITIVE {
        return 0;
    }
    let bits = x.to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | (1 << 52));
    let exponent = (bits >> 52) as i32 - 1075 + shift as i32;
    match exponent {
        0.. => mantissa << exponent,
        -127..0 => mantissa >> -exponent,
        _ => 0,
    }
}

/// ⌊a · b / 2¹²⁶⌋ for a, b < 2¹²⁷.
fn mul_shift(a: u128, b: u128) -> u128 {
    let (high, low) = wide_product(a, b);
    (high << 2) | (low >> 126)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// Exact lower bound of e^x in units of 2^-200: a Taylor sum of the exact rational x, rounded down.
    pub(crate) fn exp_rational_floor(x: f64) -> BigUint {
        const SHIFT: usize = 200;
        let bits = x.to_bits();
        let mantissa = BigUint::from(bits & ((1 << 52) - 1) | (1 << 52));
        let exponent = (bits >> 52) as i64 - 1075 + SHIFT as i64;
        let x = if exponent >= 0 { mantissa << exponent as usize } else { mantissa >> (-exponent) as usize };
        let (mut sum, mut term) = (BigUint::from(0u8), BigUint::from(1u8) << SHIFT);
        let mut k = 1u32;
        while term > BigUint::from(0u8) {
            sum += &term;
            term = (term * &x) >> SHIFT;
            term /= k;
            k += 1;
        }
        sum
    }

    proptest! {
        #[test]
        fn exp_floor_is_a_tight_lower_bound(x in prop_oneof![0.0..44.36f64, (-20.0..1.5f64).prop_map(|e: f64| 10f64.powf(e))]) {
            let exact = exp_rational_floor(x) >> (200 - 63);
            let ours = BigUint::from(exp_floor(x));
            prop_assert!(ours <= exact);
            prop_assert!(&ours + &(&ours >> 100) + 2u8 >= exact, "{ours} is far below {exact}");
        }

        #[test]
        fn wide_products_are_products(a: u128, b: u128) {
            let (high, low) = wide_product(a, b);
            prop_assert_eq!((BigUint::from(high) << 128u32) + low, BigUint::from(a) * b);
        }

        #[test]
        fn wide_ratios_are_ratios(large in 2u64.., small in 1u64.., factor in 1u64..) {
            prop_assume!(large > small);
            let (wide, factor) = ([large, small].map(u128::from), u128::from(factor));
            let level = Epsilon::of_wide_ratio(wide[0] * factor, wide[1] * factor).unwrap();
            prop_assert_eq!(level, Epsilon::of_ratio(large, small).unwrap());
        }

        #[test]
        fn of_ratio_covers_and_its_predecessor_does_not(large in 2u64.., small in 1u64..) {
            prop_assume!(large > small);
            let epsilon = Epsilon::of_ratio(large, small).unwrap();
            prop_assert!(epsilon.covers(large, small));
            prop_assert!(!Epsilon(epsilon.0.next_down()).covers(large, small));
            let float = (large as f64).ln() - (small as f64).ln();
            prop_assert!((epsilon.0 - float).abs() < 2e-14 * float.max(1.0));
        }
    }

    #[test]
    fn known_powers() {
        assert_eq!(exp_floor(0.0), 1 << 63);
        // floor(e · 2^63), from e to 40 digits.
        assert_eq!(exp_floor(1.0), 25_071_724_604_899_628_341);
        assert_eq!([44.37, 44.39, 44.4, 100.0].map(exp_floor), [1 << 127; 4]);
    }

    #[test]
    fn the_extremes_of_the_weights() {
        assert!(Epsilon::of_ratio(u64::MAX, 1).unwrap().value() < 44.4);
        let smallest = Epsilon::of_ratio((1 << 63) + 1, (1 << 63) - 1).unwrap().value();
        assert!(smallest > 2e-19 && smallest < 4e-19, "{smallest}");
        assert!(matches!(Epsilon::of_ratio(5, 5), Err(Error::Uninformative)));
        assert!(matches!(Epsilon::of_ratio(5, 0), Err(Error::Uninformative)));
    }

    #[test]
    fn deserialising_is_constructing() {
        for bad in ["0", "-1", "1e999", "null", "\"1\""] {
            assert!(serde_json::from_str::<Epsilon>(bad).is_err(), "{bad}");
        }
        assert_eq!(serde_json::from_str::<Epsilon>("0.1").unwrap(), Epsilon(0.1));
    }

    #[test]
    fn bad_levels_are_refused_with_their_value() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(Epsilon::new(bad), Err(Error::Epsilon { value }) if value.to_bits() == bad.to_bits()));
        }
    }
}
