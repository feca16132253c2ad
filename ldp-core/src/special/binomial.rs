//! The binomial distribution: $X$ successes in $n$ trials of probability $p$.
//!
//! `p` outside $[0, 1]$ gives NaN. Counts are exact up to $2^{53}$.
//!
//! ```
//! use ldp_core::special::binomial::{cdf, pmf, sf};
//! assert!((pmf(2, 4, 0.5) - 0.375).abs() < 1e-15);
//! // Both tails contain k.
//! assert!((cdf(2, 4, 0.5) + sf(2, 4, 0.5) - 1.375).abs() < 1e-15);
//! ```

mod window;

pub use window::Law;
pub use window::{Probabilities, Window};

use super::beta;
use super::saddle::{LN_SQRT_TWO_PI, deviance, stirling_error, two_product};

/// $P(X = k)$: within 4e-13 relative wherever it does not underflow, for $n$ up to $10^{12}$.
#[must_use]
pub fn pmf(k: u64, n: u64, p: f64) -> f64 {
    match exponent(k, n, p) {
        Exponent::Whole(log) => log.exp(),
        Exponent::Saddle { log, spread } => log.exp() / (std::f64::consts::TAU * spread).sqrt(),
    }
}

/// $\ln P(X = k)$, minus infinity where $X = k$ is impossible.
#[must_use]
pub fn ln_pmf(k: u64, n: u64, p: f64) -> f64 {
    match exponent(k, n, p) {
        Exponent::Whole(log) => log,
        Exponent::Saddle { log, spread } => log - 0.5 * spread.ln() - LN_SQRT_TWO_PI,
    }
}

/// $P(X \le k)$, as accurate as [`beta::regularized`].
#[must_use]
pub fn cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n && (0.0..=1.0).contains(&p) {
        return 1.0;
    }
    beta::regularized(k as f64 + 1.0, n.saturating_sub(k) as f64, p).1
}

/// $P(X \ge k)$. Contains $k$, so that it is $1$ at $k = 0$ and `1 - cdf(k - 1, n, p)` above.
#[must_use]
pub fn sf(k: u64, n: u64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if k == 0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    beta::regularized(k as f64, (n - k) as f64 + 1.0, p).0
}

/// A log probability in two parts: $e^{log}$, or $e^{log}/\sqrt{2\pi spread}$.
///
/// Apart, so that the probability itself is not the exponential of a rounded sum.
enum Exponent {
    Whole(f64),
    Saddle { log: f64, spread: f64 },
}

fn exponent(k: u64, n: u64, p: f64) -> Exponent {
    if !(0.0..=1.0).contains(&p) {
        return Exponent::Whole(f64::NAN);
    }
    if k > n || (p == 0.0 && k > 0) || (p == 1.0 && k < n) {
        return Exponent::Whole(f64::NEG_INFINITY);
    }
    // At p = 0 or 1 the only possible count is certain; elsewhere n · ln would be 0 · ∞ for n = 0.
    if n == 0 || p == 0.0 || p == 1.0 {
        return Exponent::Whole(0.0);
    }
    let trials = n as f64;
    if k == 0 {
        return Exponent::Whole(trials * (-p).ln_1p());
    }
    if k == n {
        return Exponent::Whole(trials * p.ln());
    }
    let (hits, misses) = (k as f64, (n - k) as f64);
    // The deviances are quadratic in k − np, which therefore keeps the digits that rounding np would lose:
    // at n = 1e12 those are worth 1e-9 of the probability. Of n − k − n(1 − p) it is the negative.
    let (mean, rest) = two_product(trials, p);
    let difference = (hits - mean) - rest;
    let log = stirling_error(trials)
        - stirling_error(hits)
        - stirling_error(misses)
        - deviance(hits, mean, difference)
        - deviance(misses, trials * (1.0 - p), -difference);
    Exponent::Saddle { log, spread: hits * (misses / trials) }
}
