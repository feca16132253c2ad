//! A bound that needs no function: the score of a report has mean zero and two ends.
//!
//! Let Q be ε-private, with density q(z | x) between a(z) and E·a(z). The score of report z is
//!
//! $$t(z) = \frac{\int s q p}{\int q p} = \frac{E[vs]}{E[v]},\qquad 1 \le v = q/a \le E,$$
//!
//! so it lies between the ends −b and c of [`report_scores`]. Its mean $\int t(z) P(z)\,\nu(dz)$ is that of the score of the
//! value, zero, and of $(c - t)(t + b) \ge 0$ the mean is $bc - I$. So no ε-private mechanism has more information than bc.
//!
//! Where values have two outcomes the randomised response of them has exactly this: both of its scores are ends. Where one
//! outcome is rare it is nearly so, however far below the information of a value that is: there is no term of that size.

use super::dual::ROUNDING;
use super::intervals::report_scores;
use crate::law::ScoreLaw;

/// So many steps, each twice the one before, lead from a place to its double.
const MOST_STEPS: i32 = 53;

/// No ε-private mechanism has more, in units of the information of a value; rounded upwards.
pub(super) fn between<L: ScoreLaw + ?Sized>(law: &L, epsilon: f64) -> f64 {
    // One ulp for the exponential, one for good measure.
    let growth = epsilon.exp_m1().next_up().next_up();
    let (low, high) = report_scores(law, growth);
    let lower = end(law, low, growth, |level| (law.tail(level).slope, law.rest(level)));
    let upper = end(law, high, growth, |level| (law.tail(level).slope, law.tail(level).mass));
    (lower * upper * (1.0 + 4.0 * f64::EPSILON)).next_up()
}

/// No less than the size of an end, which is near t. `part` tells, up to their sign, the integral of the score over the values
/// beyond a level, and their probability.
///
/// The end is the largest $(E-1)E[s; A]/(1 + (E-1)P(A))$ over all sets A. Of finitely many scores all sets that may be the one
/// are looked at. Else the end is the root of $g(t) = (E-1)E[(s-t)_+] - t$, which falls: a place where g is below zero is above
/// it. Such a place is sought from t on; what lies within a blur of it is counted as rounding.
fn end<L: ScoreLaw + ?Sized>(law: &L, t: f64, growth: f64, part: impl Fn(f64) -> (f64, f64)) -> f64 {
    let above = if law.enumerated() {
        let of = |(slope, mass): (f64, f64)| growth * slope / (1.0 + growth * mass);
        law.scores().into_iter().map(|score| of(part(score))).fold(0.0, f64::max) * (1.0 + 2.0 * ROUNDING)
    } else {
        let beyond = |level: &f64| {
            let ((slope, mass), size) = (part(*level), level.abs());
            let rounding = ROUNDING * (slope.abs() + size * mass) + doubt(law, *level, law.blurred(*level).1);
            growth * (slope - size * mass + rounding) * (1.0 + 4.0 * f64::EPSILON) <= size
        };
        let mut steps = (0..MOST_STEPS).map(|k| t * (1.0 + f64::EPSILON * 2f64.powi(k)));
        steps.find(beyond).map_or(f64::INFINITY, f64::abs)
    };
    above * (1.0 + 8.0 * f64::EPSILON)
}

/// A blur times the probability of a score that is so near to a level.
fn doubt<L: ScoreLaw + ?Sized>(law: &L, level: f64, blur: f64) -> f64 {
    let (from, to) = (law.tail(level - blur).mass, law.tail(level + blur).mass);
    blur * (from - to + ROUNDING * (from + to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::Levels;
    use ldp_core::model::{Bernoulli, Gaussian, Poisson};

    #[test]
    fn two_outcomes_have_a_closed_form() {
        for theta in [1e-200, 1e-30, 1e-8, 0.01, 0.3, 0.5, 1.0 - 1e-9] {
            for epsilon in [1e-6, 0.1, 1.0, 8.0, 30.0] {
                let levels = Levels::new(&Bernoulli, theta).unwrap();
                let growth = f64::exp_m1(epsilon);
                // Of the response, in units of 1/(θ(1 − θ)).
                let known = growth * theta / (1.0 + growth * theta) * growth * (1.0 - theta);
                let known = known / (1.0 + growth * (1.0 - theta));
                let bound = between(&levels, epsilon);
                assert!(bound >= known * (1.0 - 1e-15), "theta {theta:e}, epsilon {epsilon}: {bound:e} {known:e}");
                assert!(bound <= known * (1.0 + 1e-12), "theta {theta:e}, epsilon {epsilon}: {bound:e} {known:e}");
            }
        }
    }

    #[test]
    fn it_is_a_bound_everywhere_and_near_for_rare_events() {
        let gaussian = Gaussian::new(1.0).unwrap();
        let levels = Levels::new(&gaussian, 0.0).unwrap();
        for (epsilon, best) in [(0.5f64, 0.0), (3.0, 0.593_651_361)] {
            let bit = std::f64::consts::FRAC_2_PI * (0.5 * epsilon).tanh().powi(2);
            let bound = between(&levels, epsilon);
            assert!(bound >= bit && bound >= best && bound < 1.2 * bit.max(best) + epsilon, "{bound}");
        }
        let levels = Levels::new(&Poisson, 1e-9).unwrap();
        // One bit of whether the count is zero, in units of 1/θ.
        let growth = 3f64.exp_m1();
        let bit = 1e-9 * growth * growth / (1.0 + growth);
        let bound = between(&levels, 3.0);
        assert!((bound / bit - 1.0).abs() < 1e-6, "{bound:e} {bit:e}");
    }
}
