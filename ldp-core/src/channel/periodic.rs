//! How a law spreads over residue classes: the cells of a periodic partition.

use crate::model::Cdf;
use crate::steady::Divisor;

/// Intervals summed one by one on either side of the median.
const NEAR: f64 = 16_384.0;
/// Intervals are numbered exactly below this; beyond it neighbours share a number.
const NUMBERED: f64 = (1u64 << 52) as f64;
/// A tail that is not worth another term.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 60) as f64;

/// The intervals [origin + k·width, origin + (k+1)·width), with cell k mod `cells`.
#[derive(Clone, Copy)]
pub(super) struct Periodic {
    pub origin: f64,
    pub width: f64,
    pub cells: u32,
}

impl Periodic {
    /// The cell of a value: always one of them, also for infinities and NaN, and in the same time for all.
    #[inline]
    pub fn cell(self, x: f64) -> u32 {
        Divisor::new(self.width).residue(x - self.origin, self.cells)
    }

    /// Adds to each cell the sum of `value(low, high)` over its intervals, `value` being a mass under the model or its
    /// derivative in θ.
    ///
    /// Near the median every interval is a term, until the tail is negligible. A heavy tail never is, and where
    /// intervals are much narrower than the law no sum would end: beyond [`NEAR`] intervals the law is taken to be
    /// smooth over a period, and the rest of the sum is Gregory's. With T(x) the tail beyond x, P the period, g the mass
    /// of the first interval of a cell and Δg what the next one has more,
    /// Σ = (1/P) ∫ T over that interval + g/2 − Δg/12, with an error of order P³ times the third derivative of T.
    pub fn fold<M: Cdf + ?Sized>(self, model: &M, theta: f64, out: &mut [f64], value: impl Fn(f64, f64) -> f64) {
        let Self { origin, width, cells } = self;
        let (count, inf) = (f64::from(cells), f64::INFINITY);
        let median = median(model, theta);
        let first = ((median - origin) / (width * count)).floor() * count;
        let most = (NEAR / count).ceil() * count;
        if !(first.abs() + most + count < NUMBERED) {
            out[self.cell(median) as usize] += value(-inf, inf);
            return;
        }
        let at = |k: f64| origin + k * width;
        let mass = |k: f64| value(at(k), at(k + 1.0));
        let mut add = |begin: f64, share: &dyn Fn(f64) -> f64| {
            for (j, cell) in (0..cells).map(f64::from).zip(out.iter_mut()) {
                *cell += share(begin + j);
            }
        };
        // The intervals k, k + step, k + 2 step, … to the end of the line, beyond which is `tail`.
        let rest = |k: f64, step: f64, tail: &dyn Fn(f64) -> f64| {
            // By Simpson's rule; an interval is one of `cells` of a period.
            let integral = (tail(at(k)) + 4.0 * tail(at(k + 0.5)) + tail(at(k + 1.0))) / (6.0 * count);
            integral + mass(k) / 2.0 - (mass(k + step) - mass(k)) / 12.0
        };

        let mut begin = first;
        while begin < first + most && model.mass(theta, at(begin), inf) > NEGLIGIBLE {
            add(begin, &mass);
            begin += count;
        }
        if begin >= first + most {
            add(begin, &|k| rest(k, count, &|x| value(x, inf)));
        }
        let mut begin = first - count;
        while begin > first - most && model.cdf(theta, at(begin + count)) > NEGLIGIBLE {
            add(begin, &mass);
            begin -= count;
        }
        if begin <= first - most {
            add(begin, &|k| rest(k, -count, &|x| value(-inf, x)));
        }
    }
}

/// Where the cdf passes one half, to the precision of a float.
fn median<M: Cdf + ?Sized>(model: &M, theta: f64) -> f64 {
    let beyond = |x: f64| model.cdf(theta, x) >= 0.5;
    let (mut below, mut above) = (-1.0, 1.0);
    while beyond(below) && below > -1e300 {
        below *= 2.0;
    }
    while !beyond(above) && above < 1e300 {
        above *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * below + 0.5 * above;
        if middle <= below || middle >= above {
            break;
        }
        if beyond(middle) { above = middle } else { below = middle }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Cdf, Exponential, Gaussian, Laplace, StudentT};

    fn masses(model: &(impl Cdf + ?Sized), theta: f64, width: f64) -> [f64; 4] {
        let mut out = [0.0; 4];
        let periodic = Periodic { origin: 0.0, width, cells: 4 };
        periodic.fold(model, theta, &mut out, |low, high| model.mass(theta, low, high));
        out
    }

    fn assert_close(found: [f64; 4], expected: [f64; 4], tolerance: f64, what: &str) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() <= tolerance, "{what}: {found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn light_tails_are_a_plain_sum() {
        let model = Gaussian::new(1.0).unwrap();
        for (theta, width) in [(0.3f64, 1.0), (1e6 + 0.25, 0.5), (-84.5, 16.0)] {
            let centre = (theta / width).floor() as i64;
            let mut direct = [0.0; 4];
            for k in centre - 60..=centre + 60 {
                direct[k.rem_euclid(4) as usize] += model.mass(theta, k as f64 * width, (k + 1) as f64 * width);
            }
            assert_close(masses(&model, theta, width), direct, 1e-14, "gaussian");
        }
    }

    #[test]
    fn heavy_tails_are_not_cut() {
        // Cauchy wrapped on a circle of circumference P has density (1/P) sinh a / (cosh a − cos(2π(x−θ)/P)),
        // a = 2πs/P; its distribution function is an arctangent.
        let (theta, period) = (0.5, 4.0);
        let a = std::f64::consts::TAU / period;
        let wrapped = |x: f64| {
            let half = std::f64::consts::PI * (x - theta) / period;
            (half.sin().atan2(half.cos() * (a / 2.0).tanh())) / std::f64::consts::PI
        };
        let turn = |low: f64, high: f64| (wrapped(high) - wrapped(low)).rem_euclid(1.0);
        let expected = [turn(0.0, 1.0), turn(1.0, 2.0), turn(2.0, 3.0), turn(3.0, 4.0)];
        assert_close(masses(&StudentT::new(1.0, 1.0).unwrap(), theta, 1.0), expected, 1e-12, "cauchy");
        // And ten times the terms change nothing for other degrees of freedom.
        for degrees in [0.7, 2.0, 3.0] {
            let model = StudentT::new(degrees, 1.0).unwrap();
            let mut direct = [0.0; 4];
            for k in -400_000i64..400_000 {
                direct[k.rem_euclid(4) as usize] += model.mass(theta, k as f64, (k + 1) as f64);
            }
            let rest = (1.0 - direct.iter().sum::<f64>()) / 4.0;
            let direct = direct.map(|p| p + rest);
            assert_close(masses(&model, theta, 1.0), direct, 1e-8, "student-t");
        }
    }

    #[test]
    fn narrow_intervals_share_alike_around_a_kink() {
        for (width, tolerance) in [(1e-3, 1e-6), (1e-6, 1e-12), (1e-9, 1e-12)] {
            let laplace = Laplace::new(1.0).unwrap();
            assert_close(masses(&laplace, 0.0, width), [0.25; 4], tolerance, "laplace");
            let sum: f64 = masses(&laplace, 0.3, width).iter().sum();
            // Thousands of equal small terms round the same way.
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
        // Half-line laws have a geometric sum: P(cell j) = e^{-jw}(1 − e^{-w})/(1 − e^{-4w}).
        let w: f64 = 1e-4;
        let expected = [0.0, 1.0, 2.0, 3.0].map(|j: f64| (-j * w).exp() * (-w).exp_m1() / (-4.0 * w).exp_m1());
        assert_close(masses(&Exponential, 1.0, w), expected, 1e-13, "exponential");
    }

    #[test]
    fn derivatives_are_those_of_the_masses() {
        let (theta, step) = (0.4, 1e-5);
        for model in [StudentT::new(1.0, 1.0).unwrap(), StudentT::new(3.0, 2.0).unwrap()] {
            let mut slope = [0.0; 4];
            let periodic = Periodic { origin: 0.0, width: 1.0, cells: 4 };
            periodic.fold(&model, theta, &mut slope, |low, high| model.mass_dtheta(theta, low, high));
            let (up, down) = (masses(&model, theta + step, 1.0), masses(&model, theta - step, 1.0));
            let difference = std::array::from_fn(|j| (up[j] - down[j]) / (2.0 * step));
            assert_close(slope, difference, 1e-9, "derivative");
        }
    }

    #[test]
    fn what_cannot_be_numbered_is_one_cell() {
        let model = Gaussian::new(1.0).unwrap();
        for (theta, width) in [(0.3, 1e-308), (1e20, 1.0), (-1e17, 0.1), (1e300, 1.0), (0.0, 1e300)] {
            assert!(
                (masses(&model, theta, width).iter().sum::<f64>() - 1.0).abs() < 1e-14,
                "θ = {theta}, width = {width}"
            );
        }
    }
}
