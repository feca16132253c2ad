//! The exponent of a power law, from a few sizes.

use ldp_core::{Error, Result};
use std::fmt;

/// Two sizes have a line through them whatever they are: nothing would say how far it may be off.
const LEAST_SIZES: usize = 3;

/// A power law time ∝ size^exponent, by least squares on logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// The slope of the line through the logarithms.
    pub exponent: f64,
    /// Its standard error from the spread around the line: noise, and whatever is no power law.
    pub error: f64,
}

impl Power {
    /// Fits (size, time); refuses fewer than three different sizes, and what has no logarithm.
    pub fn fit(points: &[(f64, f64)]) -> Result<Self> {
        for (name, value) in points.iter().flat_map(|&(size, time)| [("size", size), ("time", time)]) {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Parameter { name, requirement: "positive and finite", value });
            }
        }
        let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        if sizes.len() < LEAST_SIZES {
            return Err(Error::TooFew { name: "sizes", least: LEAST_SIZES as u64, value: sizes.len() as u64 });
        }
        let n = points.len() as f64;
        let logarithms = points.iter().map(|&(size, time)| (size.ln(), time.ln()));
        let (x, y) = logarithms.clone().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / n, sum.1 + point.1 / n));
        let (mut square, mut cross) = (0.0, 0.0);
        for point in logarithms.clone() {
            square += (point.0 - x).powi(2);
            cross += (point.0 - x) * (point.1 - y);
        }
        let exponent = cross / square;
        let left: f64 = logarithms.map(|point| (point.1 - y - exponent * (point.0 - x)).powi(2)).sum();
        // The line has used up two of the points.
        Ok(Self { exponent, error: (left / (n - 2.0) / square).sqrt() })
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.exponent, self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    fn law(exponent: f64, sizes: i32, mut noise: impl FnMut() -> f64) -> Vec<(f64, f64)> {
        (0..sizes).map(|i| 100.0 * 2f64.powi(i)).map(|x| (x, 3e-9 * x.powf(exponent) * noise())).collect()
    }

    #[test]
    fn a_power_law_has_its_exponent() {
        for exponent in [-1.0, 0.0, 0.75, 1.0, 3.2] {
            let power = Power::fit(&law(exponent, 5, || 1.0)).unwrap();
            assert!((power.exponent - exponent).abs() < 1e-12 && power.error < 1e-12, "{power:?}");
        }
        assert_eq!(Power { exponent: 0.98765, error: 0.0049 }.to_string(), "0.988 ± 0.005");
    }

    /// What is no power law shows in the error.
    #[test]
    fn a_bend_is_not_hidden() {
        let bent: Vec<(f64, f64)> = law(1.0, 6, || 1.0).into_iter().map(|(x, time)| (x, time + 3e-6)).collect();
        let power = Power::fit(&bent).unwrap();
        assert!(power.exponent < 0.8 && power.error > 0.05, "{power:?}");
    }

    /// The square of the error is the variance of the exponent, within 20 %: six standard deviations. Divided by n = 8
    /// instead of n − 2 it would be 25 % too small.
    #[test]
    fn the_error_is_the_spread_of_noisy_fits() {
        const FITS: usize = 4000;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_250_501);
        let mut noise = || (0.05 * rng.sample::<f64, _>(StandardNormal)).exp();
        let fits: Vec<Power> = (0..FITS).map(|_| Power::fit(&law(1.5, 8, &mut noise)).unwrap()).collect();
        let mean = |of: &dyn Fn(&Power) -> f64| fits.iter().map(of).sum::<f64>() / FITS as f64;
        let variance = mean(&|fit| (fit.exponent - 1.5).powi(2));
        assert!((mean(&|fit| fit.exponent) - 1.5).abs() < 5.0 * (variance / FITS as f64).sqrt());
        let ratio = mean(&|fit| fit.error.powi(2)) / variance;
        assert!((ratio - 1.0).abs() < 0.2 && (0.75 * ratio - 1.0).abs() > 0.2, "{ratio}");
    }

    #[test]
    fn too_little_is_refused() {
        for sizes in 0..3 {
            let fit = Power::fit(&law(1.0, sizes, || 1.0));
            assert!(matches!(fit, Err(Error::TooFew { least: 3, value, .. }) if value == sizes as u64), "{fit:?}");
        }
        // One size measured three times is one size.
        assert!(matches!(Power::fit(&[(1.0, 1.0); 3]), Err(Error::TooFew { value: 1, .. })));
        for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            for point in [(odd, 1.0), (8.0, odd)] {
                assert!(Power::fit(&[(1.0, 1.0), (2.0, 2.0), (4.0, 4.0), point]).is_err(), "{point:?}");
            }
        }
    }
}
