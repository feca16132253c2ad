//! Arithmetic that takes the same time whatever its operands are.
//!
//! A client's processor is seldom its own: who shares it can time an answer to a few cycles, and the answer itself is public.
//! So between a value and its report there is no branch, no address and no division that depends on either: choices are masks,
//! tables are gone through whole, quotients are products with what was made of the divisor, which is public.
//! Additions, multiplications and comparisons take the same time on the processors of today.
//!
//! A compiler turns a mask back into a branch where it thinks that faster, as it did in a loop around an answer: hence
//! [`mask`] hides from it where a mask comes from, and every choice between numbers that depends on a private value goes
//! through it. A comparison that is the report of one bit, or is added to a report, is used as the number it is: there is nothing
//! to choose. That no compiler makes a branch of that either is measured, by the timing of `benches`.
//!
//! ```
//! use ldp_core::steady::{Divisor, choose};
//! assert_eq!([choose(true, 3, 7), choose(false, 3, 7)], [3, 7]);
//! // The quotient 5/0.3, rounded as a processor does, is 16.666…; its floor modulo 4 is 0.
//! assert_eq!(Divisor::new(0.3).residue(5.0, 4), 0);
//! assert_eq!(Divisor::new(2.0).share(-0.5), 1 << 61);
//! ```

use std::array::from_fn;
use std::hint::black_box;

/// All bits set where the condition holds, else none; the compiler is not told that it is one of the two.
#[inline(always)]
#[must_use]
pub fn mask(condition: bool) -> u64 {
    black_box(u64::from(condition)).wrapping_neg()
}

/// `yes` where the condition holds, else `no`.
#[inline(always)]
#[must_use]
pub fn choose(condition: bool, yes: u64, no: u64) -> u64 {
    no ^ ((no ^ yes) & mask(condition))
}

/// The smaller of two numbers.
#[inline(always)]
#[must_use]
pub fn least(a: u64, b: u64) -> u64 {
    choose(a < b, a, b)
}

/// The entry at a private place, zero beyond the end: all entries are read.
#[inline]
#[must_use]
pub fn look_up(table: &[u32], place: u32) -> u32 {
    let (eights, rest) = table.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut found = [0; 8];
    for (entries, first) in eights.iter().chain([&last]).zip((0u32..).step_by(8)) {
        // Several masks are hidden at once, so that they are made and used side by side.
        let here = black_box(from_fn::<u32, 8, _>(|i| u32::from(first + i as u32 == place).wrapping_neg()));
        found = from_fn(|i| found[i] | (entries[i] & here[i]));
    }
    found.into_iter().fold(0, |all, one| all | one)
}

/// The high half of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// `number` / `divisor` in whole numbers, and what is left; the divisor is public, and zero counts as one.
///
/// With r = ⌊(2⁶⁴ − 1)/divisor⌋ the high half of number · r is the quotient or one less.
#[inline(always)]
#[must_use]
pub fn divide(number: u64, divisor: u64) -> (u64, u64) {
    let divisor = divisor.max(1);
    let quotient = high(number, u64::MAX / divisor);
    let left = number - quotient * divisor;
    let more = mask(left >= divisor);
    (quotient.wrapping_sub(more), left - (divisor & more))
}

/// Bits of the fraction of an `f64`.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent that infinities and NaN have, before it is moved.
const NO_NUMBER: u64 = 0x7FF;

/// The magnitude of a number as mantissa · 2^exponent with 2⁵² ≤ mantissa < 2⁵³; the mantissa of zero is zero.
#[inline(always)]
fn parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits() & (u64::MAX >> 1);
    let (biased, fraction) = (bits >> FRACTION, bits & ((1 << FRACTION) - 1));
    // Below 2⁻¹⁰²² numbers have leading zeros. The last bit is set so that there is an end to them.
    let normal = (biased + NO_NUMBER) >> 11;
    let mantissa = fraction | (normal << FRACTION);
    let zeros = (mantissa | 1).leading_zeros() - (63 - FRACTION);
    (mantissa << zeros, (biased + (1 - normal)) as i32 - 1075 - zeros as i32)
}

/// A public, positive and finite number that private ones are divided by.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    mantissa: u64,
    exponent: i32,
    /// 2¹¹⁵/mantissa, off by 2⁹ at most.
    inverse: u64,
}

/// The magnitude of a quotient, mantissa · 2^exponent, rounded to 53 bits as a processor does.
#[derive(Clone, Copy)]
struct Quotient {
    mantissa: u64,
    exponent: i32,
    /// Of what a processor does below 2⁻¹⁰²² only this is kept: whether it is zero.
    is_zero: bool,
}

impl Divisor {
    /// Division by `divisor`.
    #[inline]
    #[must_use]
    pub fn new(divisor: f64) -> Self {
        let (mantissa, exponent) = parts(divisor);
        let inverse = (2f64.powi(115) / mantissa.max(1) as f64) as u64;
        Self { mantissa, exponent, inverse }
    }

    /// |x| divided.
    #[inline(always)]
    fn divide(self, x: f64) -> Quotient {
        let (mantissa, exponent) = parts(x);
        // So many places that the quotient N has 54 bits, one more than are kept.
        let less = u64::from(mantissa < self.mantissa);
        let wide = mantissa << less;
        let guess = ((u128::from(wide) * u128::from(self.inverse)) >> 62) as u64;
        // Off by three at most, because N < 2⁵⁴. Differences are small, so that they are right modulo 2⁶⁴.
        let left = (wide << 53).wrapping_sub(guess.wrapping_mul(self.mantissa)).cast_signed();
        let mut quotient = guess.wrapping_sub(3);
        for times in -2..=3 {
            quotient = quotient.wrapping_add(u64::from(left >= times * self.mantissa.cast_signed()));
        }
        // A quotient of 54 bits without remainder does not end in 1, so that there is no tie.
        let rounded = (quotient >> 1) + (quotient & 1);
        let carry = rounded >> f64::MANTISSA_DIGITS;
        let place = exponent - self.exponent - less as i32;
        // At or below half of the smallest number, 2⁻¹⁰⁷⁵, it is rounded to zero.
        let at_end = (place == -1075) & (mantissa == self.mantissa);
        Quotient {
            mantissa: rounded >> carry,
            exponent: place - FRACTION as i32 + carry as i32,
            is_zero: (mantissa == 0) | (place < -1075) | at_end,
        }
    }

    /// ⌊x/divisor⌋ modulo `cells` with the quotient of a processor, which is rounded; zero where that is no number. `cells` is
    /// public.
    #[inline]
    #[must_use]
    pub fn residue(self, x: f64, cells: u32) -> u32 {
        let Quotient { mantissa, exponent, is_zero } = self.divide(x);
        let cells = u64::from(cells).max(1);
        // To the right or to the left by so many places, one of the two being none.
        let (down, right) = (i64::from(-exponent).cast_unsigned(), mask(exponent < 0));
        let (up, down) = (down.wrapping_neg() & !right, down & right);
        let whole = (mantissa >> (down % 64)) & mask(down < 64);
        let is_negative = x.to_bits() >> 63;
        // Downwards: of a negative number the next whole one.
        let whole = whole + (is_negative & u64::from(whole << (down % 64) != mantissa));
        let sign = mask(is_negative != 0);
        let residue = if cells.is_power_of_two() {
            // Modulo 2⁶⁴ too.
            let whole = (whole ^ sign).wrapping_sub(sign);
            ((whole << (up % 64)) & mask(up < 64)) & (cells - 1)
        } else {
            let residue = divide(divide(whole, cells).1 * power_of_two(up, cells), cells).1;
            // The opposite of zero is zero.
            residue ^ ((residue ^ divide(cells - residue, cells).1) & sign)
        };
        let biased = (x.to_bits() >> FRACTION) & NO_NUMBER;
        (residue & mask((biased != NO_NUMBER) & (exponent + (FRACTION as i32) < 1024) & !is_zero)) as u32
    }

    /// ⌊2⁶³ · min(|x|/divisor, 1)⌋ with the quotient of a processor; of a NaN zero.
    #[inline]
    #[must_use]
    pub fn share(self, x: f64) -> u64 {
        let Quotient { mantissa, exponent, is_zero } = self.divide(x);
        // The quotient is mantissa/2⁵² · 2^place, and at least one from place 0 on.
        let place = exponent + FRACTION as i32;
        let down = i64::from(-place).cast_unsigned();
        let share = ((mantissa << 11) >> (down % 64)) & mask(down < 64);
        let share = choose((place >= 0) | (x.abs() == f64::INFINITY), 1 << 63, share);
        share & mask(!x.is_nan() & !is_zero)
    }
}

/// 2^`exponent` modulo `cells`, of exponents below 1024: five binary digits by a shift, the others by a factor each.
#[inline(always)]
fn power_of_two(exponent: u64, cells: u64) -> u64 {
    let (mut power, mut factor) = (divide(1 << (exponent % 32), cells).1, divide(1 << 32, cells).1);
    for digit in 5..10 {
        power = divide(power * choose(exponent >> digit & 1 == 1, factor, 1), cells).1;
        factor = divide(factor * factor, cells).1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{Rng, RngExt};

    /// What the cell of a value was before: the same rounding by other means.
    fn by_remainder(x: f64, width: f64, cells: u32) -> u32 {
        let position = (x / width).floor();
        (position.rem_euclid(f64::from(cells)) as u32).min(cells - 1)
    }

    fn share_by_division(x: f64, width: f64) -> u64 {
        ((x / width).clamp(-1.0, 1.0) * 2f64.powi(63)).abs() as u64
    }

    /// Numbers of every kind: any bits, any exponent with a short mantissa, whole ones, and the odd ones.
    fn number(rng: &mut Xoshiro256PlusPlus) -> f64 {
        let odd = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324, f64::MAX, f64::MIN];
        let bits = rng.next_u64();
        match rng.random_range(0..8) {
            0..=2 => f64::from_bits(bits),
            3 => f64::from_bits(bits & 0xFFF8_0000_0000_0000),
            4 => (bits.cast_signed() >> rng.random_range(0..64)) as f64,
            5 => (bits.cast_signed() >> 40) as f64 * 0.1,
            6 => f64::from_bits(bits & 0x801F_FFFF_FFFF_FFFF),
            _ => odd[(bits % 9) as usize],
        }
    }

    fn divisor(rng: &mut Xoshiro256PlusPlus) -> f64 {
        loop {
            let divisor = number(rng).abs();
            if divisor > 0.0 && divisor.is_finite() {
                return divisor;
            }
        }
    }

    /// `LDP_FULL=1` tries 10⁸ pairs instead of 10⁶.
    #[test]
    fn quotients_are_those_of_the_processor() {
        let pairs = if std::env::var_os("LDP_FULL").is_some() { 100_000_000u64 } else { 1_000_000 };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(16);
        let mut numbers = 0u64;
        for _ in 0..pairs {
            let (x, width) = (number(&mut rng), divisor(&mut rng));
            let cells = match rng.random_range(0..4) {
                0 => 4,
                1 => 1 << rng.random_range(1..32),
                2 => rng.random_range(2..100),
                _ => rng.random_range(2..=u32::MAX),
            };
            let ready = Divisor::new(width);
            assert_eq!(ready.residue(x, cells), by_remainder(x, width, cells), "{x:e} / {width:e} in {cells} cells");
            assert_eq!(ready.share(x), share_by_division(x, width), "{x:e} / {width:e}");
            // Near to each other too: in most pairs one is far larger.
            let near = x * rng.random_range(-4.0..4.0);
            if near != 0.0 && near.is_finite() {
                let ready = Divisor::new(near.abs());
                assert_eq!(
                    ready.residue(x, cells),
                    by_remainder(x, near.abs(), cells),
                    "{x:e} / {near:e}, {cells} cells"
                );
                assert_eq!(ready.share(x), share_by_division(x, near.abs()), "{x:e} / {near:e}");
                numbers += 1;
            }
        }
        assert!(numbers > pairs / 2);
    }

    #[test]
    fn quotients_next_to_a_whole_number_are_rounded_first() {
        // 0.6/0.2 is below 3 in real numbers and after rounding, 1.1/0.1 above 11, 4.35/0.01 rounded down from 435.
        for (x, width) in [(0.6, 0.2), (1.1, 0.1), (4.35, 0.01), (-4.35, 0.01), (-0.3, 0.1), (8.41, 0.29)] {
            for x in [x, f64::next_up(x), f64::next_down(x)] {
                assert_eq!(Divisor::new(width).residue(x, 1000), by_remainder(x, width, 1000), "{x} / {width}");
            }
        }
        // Around half of the smallest number, where a quotient becomes zero and its cell is no longer the last one.
        for times in [1.0, 2.0, 2.5, 3.0, 4.0, 1e300] {
            for x in [-5e-324, -1e-323, 5e-324, -f64::MIN_POSITIVE] {
                assert_eq!(Divisor::new(times).residue(x, 7), by_remainder(x, times, 7), "{x:e} / {times}");
            }
        }
    }

    #[test]
    fn whole_numbers_are_divided_exactly() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
        for _ in 0..200_000 {
            let (number, divisor) = (rng.next_u64(), (rng.next_u64() >> rng.random_range(0..64)).max(1));
            for number in [number, number - number % divisor, (number - number % divisor).wrapping_sub(1), u64::MAX, 0]
            {
                assert_eq!(divide(number, divisor), (number / divisor, number % divisor), "{number} / {divisor}");
            }
        }
    }

    #[test]
    fn every_place_of_a_table_is_found() {
        for size in 0..40u32 {
            let table: Vec<u32> = (0..size).map(|i| i * 7 + 1).collect();
            for place in (0..50).chain([u32::MAX]) {
                assert_eq!(look_up(&table, place), if place < size { place * 7 + 1 } else { 0 });
            }
        }
    }

    #[test]
    fn nothing_divided_by_is_no_panic() {
        for x in [1.0, f64::NAN, -1e300] {
            assert_eq!(Divisor::new(1.0).residue(x, 0), 0);
            assert!(Divisor::new(0.0).residue(x, 4) < 4);
        }
    }
}
