//! The mean of a clipped value under a model.

use crate::Range;
use ldp_core::Cdf;

/// $E_\theta[u(X)]$ with u as in [`Range`], to about 1e-13.
///
/// By parts, $E[\bar X] = high - \int_{low}^{high} F_\theta(x) dx$: only the cdf is needed, and atoms do no harm. The
/// integral is adaptive. Where it has to cut it prefers a whole number, because there the built-in families have their
/// jumps: counts and categories are then done as soon as every step has been found, and not by bisecting each jump.
pub(crate) fn mean_unit<M: Cdf + ?Sized>(range: Range, model: &M, theta: f64) -> f64 {
    let integral = Integral { cdf: |x| model.cdf(theta, x), width: range.width() };
    (1.0 - 2.0 * integral.over(range.low(), range.high())).clamp(-1.0, 1.0)
}

/// The mean of a function over an interval of this width, piece by piece.
struct Integral<F> {
    cdf: F,
    width: f64,
}

/// How far rules may differ on a piece: the best of them is then far closer still.
const TOLERANCE: f64 = 1e-14;
/// The most that a piece may contribute unseen. A jump of one is bisected fifty times.
const NEGLIGIBLE: f64 = 1e-15;

impl<F: Fn(f64) -> f64> Integral<F> {
    /// The part of the mean between `low` and `high`.
    fn over(&self, low: f64, high: f64) -> f64 {
        let share = (high - low) / self.width;
        // The cdf is strict and so continuous from the left: a jump at `low` belongs to the piece before.
        let (first, last) = ((self.cdf)(low.next_up()), (self.cdf)(high));
        // It increases: between nearly equal ends it is nearly constant. Neighbouring numbers end here too, and so does
        // a family that answers NaN.
        if !(share * (last - first).abs() > NEGLIGIBLE) {
            return share * (first + last) / 2.0;
        }
        let middle = low + (high - low) / 2.0;
        // If any whole number is inside, so is the one nearest to the middle.
        let whole = middle.round();
        let cut = if low < whole && whole < high { whole } else { middle };
        let (fine, rough) = self.rules(low, high);
        if share * (fine - rough).abs() <= TOLERANCE {
            // Two rules can agree by chance on a kink, as they did once at a Laplace median, 2e-12 off: ask the halves.
            let part = |low: f64, high: f64| (high - low) / self.width * self.rules(low, high).0;
            let halves = part(low, cut) + part(cut, high);
            if (share * fine - halves).abs() <= TOLERANCE {
                return halves;
            }
        }
        self.over(low, cut) + self.over(cut, high)
    }

    /// The mean over a piece by the rule of Clenshaw and Curtis with 17 points, and with 9 of them.
    ///
    /// The ends are among the points, where rules of Gauss would save a few: a step just inside of an end would
    /// otherwise not be seen at all.
    fn rules(&self, low: f64, high: f64) -> (f64, f64) {
        let half = (high - low) / 2.0;
        let middle = low + half;
        let (ends, centre) = ((self.cdf)(low.next_up()) + (self.cdf)(high), (self.cdf)(middle));
        let (mut fine, mut rough) = (ENDS.0 * ends + CENTRE.0 * centre, ENDS.1 * ends + CENTRE.1 * centre);
        for (node, heavy, light) in NODES {
            let pair = (self.cdf)(middle - half * node) + (self.cdf)(middle + half * node);
            fine += heavy * pair;
            rough += light * pair;
        }
        (fine, rough)
    }
}

/// Weights with 17 and with 9 points, that add up to one.
const ENDS: (f64, f64) = (0.001_960_784_313_725_49, 0.007_936_507_936_507_936);
const CENTRE: (f64, f64) = (0.098_205_062_910_945_27, 0.196_825_396_825_396_83);
/// The points between, of either sign, with the same weights.
const NODES: [(f64, f64, f64); 7] = [
    (0.980_785_280_403_230_4, 0.018_684_351_418_602_805, 0.0),
    (0.923_879_532_511_286_7, 0.037_741_165_771_575_92, 0.073_109_324_608_009_08),
    (0.831_469_612_302_545_2, 0.054_452_776_290_945_465, 0.0),
    (0.707_106_781_186_547_5, 0.069_478_234_184_116_54, 0.139_682_539_682_539_68),
    (0.555_570_233_019_602_2, 0.081_586_332_140_851_65, 0.0),
    (0.382_683_432_365_089_8, 0.090_736_892_118_246_68, 0.180_858_929_360_244_9),
    (0.195_090_322_016_128_27, 0.096_256_932_306_462_82, 0.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::Score;
    use ldp_core::model::{Bernoulli, Categorical, Exponential, Gaussian, Laplace, Poisson};
    use ldp_core::special::normal::{cdf, pdf};
    use std::cell::Cell;

    fn assert_mean<M: Cdf + ?Sized>(low: f64, high: f64, model: &M, theta: f64, clipped: f64) {
        let range = Range::new(low, high).unwrap();
        let expected = (2.0 * clipped - low - high) / (high - low);
        let found = mean_unit(range, model, theta);
        assert!((found - expected).abs() < 1e-12, "[{low}, {high}], θ = {theta}: {found} for {expected}");
    }

    #[test]
    fn gaussian_means_are_the_closed_form() {
        // Ψ(z) = zΦ(z) + φ(z), the integral of Φ.
        let psi = |z: f64| z * cdf(z) + pdf(z);
        for (low, high, theta, sigma) in [
            (-1.0, 1.0, 0.0, 1.0),
            (0.0, 1.0, 0.3, 1.0),
            (-3.0, 3.0, 10.0, 2.0),
            (-128.5, -3.0, -40.2, 0.01),
            (-1e3, 1e3, 0.3, 0.1),
            (0.0, 128.0, 84.5, 1.0),
        ] {
            let model = Gaussian::new(sigma).unwrap();
            let mean = low + sigma * (psi((theta - low) / sigma) - psi((theta - high) / sigma));
            assert_mean(low, high, &model, theta, mean);
        }
    }

    #[test]
    fn kinks_and_atoms_are_found() {
        // Between θ − t and θ + t by symmetry the mean is θ; off centre by an elementary integral.
        assert_mean(-1.3, 2.7, &Laplace::new(0.7).unwrap(), 0.7, 0.7);
        let (low, high, theta, b) = (-1.3f64, 5.1f64, 0.7f64, 0.3f64);
        let tails = b / 2.0 * ((-(theta - low) / b).exp() - (-(high - theta) / b).exp());
        assert_mean(low, high, &Laplace::new(b).unwrap(), theta, theta + tails);
        assert_mean(-2.0, 3.0, &Exponential, 1.5, 1.5 * (1.0 - (-2f64).exp()));
        assert_mean(0.25, 0.75, &Bernoulli, 0.3, 0.25 * 0.7 + 0.75 * 0.3);
        assert_mean(0.5, 7.5, &Categorical::new(4).unwrap(), 0.2, {
            let model = Categorical::new(4).unwrap();
            (0..4).map(|k| model.ln_density(0.2, f64::from(k)).exp() * f64::from(k).max(0.5)).sum()
        });
        for (low, high, theta) in [(0.0, 10.0, 3.3), (1.5, 4.2, 2.0), (-5.0, 400.0, 200.0), (9.0, 12.0, 1e-3)] {
            let atom = |k: u32| Poisson.ln_density(theta, f64::from(k)).exp() * (f64::from(k).clamp(low, high) - low);
            assert_mean(low, high, &Poisson, theta, low + (0..800).map(atom).sum::<f64>());
        }
    }

    /// A family with one atom at θ.
    struct Point;
    impl Cdf for Point {
        fn cdf(&self, theta: f64, x: f64) -> f64 {
            f64::from(u8::from(x > theta))
        }
        fn cdf_dtheta(&self, _: f64, _: f64) -> f64 {
            0.0
        }
    }

    #[test]
    fn jumps_anywhere_are_found_by_bisection() {
        for theta in [0.123_456_789, 1.0 / 3.0, 2.0, -7.0, 6.99] {
            assert_mean(-7.0, 7.0, &Point, theta, theta);
        }
        let low = 2e6f64;
        // Four numbers apart; the third of them.
        let theta = low.next_up().next_up();
        assert_eq!(mean_unit(Range::new(low, low + 1e-9).unwrap(), &Point, theta), 0.0);
        assert_mean(-1e300, 1e300, &Point, 1e299, 1e299);
    }

    #[test]
    fn a_nan_is_passed_on() {
        assert!(mean_unit(Range::new(0.0, 1.0).unwrap(), &Gaussian::new(1.0).unwrap(), f64::NAN).is_nan());
    }

    #[test]
    fn the_cost_is_bounded() {
        let calls = Cell::new(0u32);
        let counted = |cdf: &dyn Fn(f64) -> f64, low: f64, high: f64| {
            calls.set(0);
            let counting = |x| {
                calls.set(calls.get() + 1);
                cdf(x)
            };
            Integral { cdf: counting, width: high - low }.over(low, high);
            calls.get()
        };
        assert!(counted(&|x| Poisson.cdf(200.0, x), 0.0, 400.0) < 10_000);
        assert!(counted(&|x| Point.cdf(0.123, x), -3.0, 3.0) < 2_000);
        let gaussian = Gaussian::new(1.0).unwrap();
        assert!(counted(&|x| gaussian.cdf(0.3, x), -1e6, 1e6) < 2_000);
    }
}
