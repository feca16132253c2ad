//! The regularised incomplete beta function $I_x(a, b)$ and its inverse.

use super::normal;
use super::saddle::{deviance, stirling_error};

/// Both tails $(I_x(a, b), 1 - I_x(a, b))$ of a beta variable, $a, b \ge 0$ finite and not both zero,
/// $0 \le x \le 1$; NaN elsewhere.
///
/// Relative accuracy in tails down to 1e-20: 5e-13 for $a, b \le 10^3$, 3e-12 to $10^6$, 1e-10 to $10^9$ and 2e-9 to
/// $10^{12}$, about what the last bit of $x$ is worth. Probabilities below 1e-250 are wrong by many orders of
/// magnitude if the smaller of the two shapes is below 40 and not whole.
///
/// ```
/// let (below, above) = ldp_core::special::beta::regularized(2.0, 1.0, 0.5);
/// assert_eq!((below, above), (0.25, 0.75));
/// ```
#[must_use]
pub fn regularized(a: f64, b: f64, x: f64) -> (f64, f64) {
    regularized_at(a, b, x, 1.0 - x)
}

/// [`regularized`] for an `x` so near to one that only `complement` $= 1 - x$ can tell how near.
#[must_use]
pub fn regularized_at(a: f64, b: f64, x: f64, complement: f64) -> (f64, f64) {
    if a.is_nan() || b.is_nan() || x.is_nan() || complement.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    cdflib::special::try_beta_inc(a, b, x, complement).unwrap_or((f64::NAN, f64::NAN))
}

/// The pair $(x, 1 - x)$ with $I_x(a, b) = p$, each of the two with its own relative accuracy.
///
/// `p` is taken to be in $[0, 1]$, and $a, b \ge 0$; $a = 0$ gives $x = 0$ and $b = 0$ gives $x = 1$, as the
/// Clopper–Pearson limits $a = k$, $b = n - k + 1$ want it. For a level close to one pass its complement:
/// `quantile(q, b, a)` is the same pair in the other order. NaN only if an argument is NaN or negative, or a shape
/// infinite.
///
/// For $1 \le a, b \le 10^{12}$ both numbers are within 6e-14 relative where $p \ge 10^{-20}$, and within 3e-13
/// where $p \ge 10^{-250}$. An $x$ below 1e-307 is returned as about that.
///
/// ```
/// use ldp_core::special::beta::quantile;
/// // Lower limit at level 0.025 for 3 successes out of 10.
/// let (x, _) = quantile(0.025, 3.0, 8.0);
/// assert!((x / 0.066_739_511_177_734_44 - 1.0).abs() < 1e-14);
/// ```
///
/// # Design
///
/// Newton steps on the logarithm of the smaller tail, in the log odds $t$ of $x$. The density of $t$ is
/// log-concave, hence so is its distribution function: from the left of the root the steps are monotone, and from
/// the right one step leads to the left. A step multiplies the odds, so no digits of $x$ or $1 - x$ are lost
/// however near to 0 they are. A bracket takes over where the tail underflows.
#[must_use]
pub fn quantile(p: f64, a: f64, b: f64) -> (f64, f64) {
    if !(a >= 0.0 && b >= 0.0 && p >= 0.0 && a + b < f64::INFINITY) {
        return (f64::NAN, f64::NAN);
    }
    if p == 0.0 || a == 0.0 {
        return (0.0, 1.0);
    }
    if p >= 1.0 || b == 0.0 {
        return (1.0, 0.0);
    }
    if p > 0.5 {
        let (complement, x) = lower_quantile(1.0 - p, b, a);
        return (x, complement);
    }
    lower_quantile(p, a, b)
}

/// [`quantile`] for $0 < p \le 1/2$ and positive $a$, $b$.
fn lower_quantile(p: f64, a: f64, b: f64) -> (f64, f64) {
    /// Log odds beyond which the odds leave the normal numbers.
    const LIMIT: f64 = 708.0;
    let mut low = -LIMIT;
    let mut high = LIMIT;
    let start = (a / b).ln() + normal::quantile(p) * (1.0 / a + 1.0 / b).sqrt();
    let mut odds = start.clamp(-LIMIT, LIMIT).exp();
    let mut previous = f64::INFINITY;
    for _ in 0..200 {
        let (x, complement) = pair(odds);
        let tail = regularized_at(a, b, x, complement).0;
        let position = odds.ln();
        if tail < p {
            low = low.max(position);
        } else {
            high = high.min(position);
        }
        let slope = log_odds_density(a, b, x, complement) / tail;
        let step = (p / tail).ln() / slope;
        let next = position + step;
        if !(next > low && next < high) && step.abs() > 1e-14 * (1.0 + position.abs()) || !step.is_finite() {
            // Bisect: the tail underflowed, or the step left the bracket by more than its rounding.
            if high - low < 1e-15 * low.abs().max(high.abs()).max(1.0) {
                break;
            }
            odds = (0.5 * (low + high)).exp();
            continue;
        }
        odds *= step.exp();
        // What a step leaves is about its square times the slope; steps that no longer shrink are rounding noise.
        let left = step * step * slope.max(1.0);
        if left < 1e-16 || step.abs() < 1e-12 && step.abs() >= previous {
            break;
        }
        previous = step.abs();
    }
    pair(odds)
}

/// $x$ and $1 - x$ from $x/(1-x)$.
fn pair(odds: f64) -> (f64, f64) {
    (odds / (1.0 + odds), 1.0 / (1.0 + odds))
}

/// The density $x^a (1-x)^b / B(a, b)$ of the log odds of a beta variable.
fn log_odds_density(a: f64, b: f64, x: f64, complement: f64) -> f64 {
    let sum = a + b;
    let difference = a * complement - b * x;
    let log = stirling_error(sum)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, sum * x, difference)
        - deviance(b, sum * complement, -difference);
    log.exp() * (a / sum * b / std::f64::consts::TAU).sqrt()
}
