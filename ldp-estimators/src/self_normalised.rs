//! Critical values of self-normalised intervals.

use ldp_core::Result;
use ldp_core::inference::check_level;
use std::cell::Cell;
use std::f64::consts::PI;

/// The c for which $|W(1)| \le c \sqrt{\int_0^1 (W(t) - tW(1))^2 dt}$ with probability `level`, W a Brownian motion.
///
/// Self-normalised intervals are value ± c √N with N the estimate's own measure of spread, so nothing about the
/// distribution of the data has to be known [S10]. The critical value is computed for any level, from
///
/// $$P(|W(1)| > c\sqrt{V}) = \frac{2}{\pi}\int_0^{\pi/2} \sqrt{\frac{s}{\sinh s}} d\varphi, \quad s = \frac{c}{\sin\varphi},$$
///
/// which is Craig's form of the normal tail, averaged over the integral V of a squared Brownian bridge: V is
/// independent of W(1) and $E e^{-uV} = \sqrt{s/\sinh s}$ at $s = \sqrt{2u}$.
///
/// ```
/// let c = ldp_estimators::self_normalised::critical_value(0.95)?;
/// assert!((c - 6.7473).abs() < 1e-4);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [S10]: https://doi.org/10.1111/j.1467-9868.2009.00737.x
pub fn critical_value(level: f64) -> Result<f64> {
    thread_local! {
        // A simulation asks for the same level in every replication.
        static LAST: Cell<(f64, f64)> = const { Cell::new((f64::NAN, f64::NAN)) };
    }
    check_level(level)?;
    let (kept, value) = LAST.get();
    if kept == level {
        return Ok(value);
    }
    let value = solve(1.0 - level);
    LAST.set((level, value));
    Ok(value)
}

/// The c whose tail is this.
fn solve(beyond: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high) > beyond {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if tail(middle) > beyond { low = middle } else { high = middle }
    }
}

/// P(|W(1)| > c√V).
///
/// With $\sin\varphi = 1/\cosh t$ the integral runs over the whole line and its integrand decays like $e^{-|t|}$ or faster: it is
/// analytic around the line, so the plain trapezoidal sum is right to rounding, for every c.
fn tail(c: f64) -> f64 {
    const STEP: f64 = 0.125;
    const STEPS: u32 = 320;
    let term = |k: u32| {
        let cosh = (STEP * f64::from(k)).cosh();
        let s = c * cosh;
        // s / sinh s without overflow, and 1 at zero.
        let ratio = if s == 0.0 { 1.0 } else { (2.0 * s / -(-2.0 * s).exp_m1()).sqrt() * (-0.5 * s).exp() };
        ratio / cosh
    };
    (term(0) + 2.0 * (1..=STEPS).map(term).sum::<f64>()) * STEP / PI
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_critical_values() {
        // [LHDK23], table 1, to the digits given there.
        for (level, value) in [(0.8, 3.87488), (0.9, 5.32268), (0.95, 6.74730), (0.98, 8.61319), (0.99, 10.0173)] {
            let found = critical_value(level).unwrap();
            assert!((found / value - 1.0).abs() < 5e-6, "{level}: {found}");
        }
    }

    #[test]
    fn the_tail_is_the_probability_it_stands_for() {
        // With 40 digits: mpmath.quad of the same integrand.
        for (c, value) in
            [(1.0, 0.709_016_365_793_952_2), (6.7473, 0.050_000_051_567_105_66), (40.0, 3.230_784_440_860_67e-9)]
        {
            assert!((tail(c) / value - 1.0).abs() < 1e-13, "{c}: {}", tail(c));
        }
    }

    #[test]
    fn levels_are_increasing_and_bad_ones_refused() {
        let values = [1e-6, 0.1, 0.5, 0.95, 1.0 - 1e-12].map(|level| critical_value(level).unwrap());
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]) && values[4].is_finite());
        // Next to zero the level is proportional to c: 0.30 c, from 40 digits at c = 1e-5.
        assert!((values[0] / 3.32e-6 - 1.0).abs() < 0.02, "{}", values[0]);
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(critical_value(bad).is_err());
        }
    }
}
