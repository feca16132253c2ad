//! Brent's methods, from `argmin`, between two numbers of any size.

use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::brent::{BrentOpt, BrentRoot};

/// How closely a place is found, as a share of the bracket.
const CLOSE: f64 = 1e-14;
/// Steps of Brent's method: bisection alone would take fifty.
const MOST: u64 = 120;

/// A function of the share of the way through a bracket.
struct Along<F> {
    f: F,
    from: f64,
    to: f64,
}

impl<F> Along<F> {
    fn place(&self, share: f64) -> f64 {
        self.from + (self.to - self.from) * share
    }
}

impl<F: Fn(f64) -> f64> CostFunction for Along<F> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, share: &f64) -> Result<f64, Error> {
        Ok((self.f)(self.place(*share)))
    }
}

/// A root of a function between two numbers; `None` where its signs there are not different.
pub(super) fn root(f: impl Fn(f64) -> f64, from: f64, to: f64) -> Option<f64> {
    let ends = [f(from), f(to)];
    if !(ends[0] * ends[1].signum() <= 0.0) {
        return None;
    }
    for (end, place) in ends.into_iter().zip([from, to]) {
        if end == 0.0 {
            return Some(place);
        }
    }
    let solver = BrentRoot::new(0.0, 1.0, CLOSE);
    let run = Executor::new(Along { f: &f, from, to }, solver);
    let result = run.configure(|state| state.max_iters(MOST)).timer(false).run().ok()?;
    let share = *result.state.get_param()?;
    let place = from + (to - from) * share;
    place.is_finite().then(|| place.clamp(from.min(to), from.max(to)))
}

/// Where a function is largest between two numbers, to half the digits.
pub(super) fn largest(f: impl Fn(f64) -> f64, from: f64, to: f64) -> Option<f64> {
    let solver = BrentOpt::new(0.0, 1.0).set_tolerance(f64::EPSILON.sqrt(), 1e-10);
    let run = Executor::new(Along { f: |theta| -f(theta), from, to }, solver);
    let result = run.configure(|state| state.max_iters(MOST)).timer(false).run().ok()?;
    let share = *result.state.get_best_param()?;
    Some(from + (to - from) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found_to_the_last_digits_at_every_scale() {
        for scale in [1e-200, 1.0, 1e200] {
            let found = root(|x| (x / scale).powi(3) - 2.0, 0.0, 3.0 * scale).unwrap();
            assert!((found / scale / 2f64.cbrt() - 1.0).abs() < 1e-13, "{found}");
        }
        assert_eq!(root(|x| x, 0.0, 1.0), Some(0.0));
        assert_eq!(root(|x| x + 2.0, 0.0, 1.0), None);
        assert_eq!(root(|_| f64::NAN, 0.0, 1.0), None);
    }

    #[test]
    fn the_largest_value_is_found() {
        let found = largest(|x| -(x - 0.3) * (x - 0.3), -1.0, 2.0).unwrap();
        assert!((found - 0.3).abs() < 1e-7, "{found}");
    }
}
