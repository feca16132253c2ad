//! The one goodness-of-fit test that every sampling check uses.

use crate::special::{binomial, gamma};

/// The probability with which a sampling check rejects what is right. Seeds are fixed, so a check that passes once
/// passes always; α says how surprising a first failure is.
pub const ALPHA: f64 = 1e-6;

/// Cells expected to hold fewer than this are pooled: below it the statistic is not yet chi-square.
const FEW: f64 = 5.0;

/// Pearson's statistic of counts against probabilities, its degrees of freedom, and the p-value of the rare cells.
///
/// Cells with an expected count below 5 are pooled. A pool that is still too small for the statistic counts with the
/// largest cell and is judged by its own exact upper tail instead: a report that should never be seen must not
/// disappear in a large cell.
#[must_use]
pub fn chi_square(observed: &[u64], probabilities: &[f64]) -> (f64, u64, f64) {
    let users: u64 = observed.iter().sum();
    let expected = |p: f64| users as f64 * p;
    let mut cells: Vec<(u64, f64)> = Vec::new();
    let mut pool = (0, 0.0);
    for (&count, &p) in observed.iter().zip(probabilities) {
        if p.is_nan() || (p <= 0.0 && count > 0) {
            return (f64::INFINITY, 1, 0.0);
        }
        if expected(p) < FEW {
            pool = (pool.0 + count, pool.1 + p);
        } else {
            cells.push((count, p));
        }
    }
    let mut rare = 1.0;
    if expected(pool.1) >= FEW {
        cells.push(pool);
    } else if let Some(largest) = cells.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        rare = binomial::sf(pool.0, users, pool.1.min(1.0));
        *largest = (largest.0 + pool.0, largest.1 + pool.1);
    }
    let statistic = cells.iter().map(|&(count, p)| (count as f64 - expected(p)).powi(2) / expected(p)).sum();
    (statistic, (cells.len() as u64).saturating_sub(1), rare)
}

/// P(chi-square with so many degrees of freedom ≥ statistic).
#[must_use]
pub fn upper_tail(statistic: f64, degrees: u64) -> f64 {
    if degrees == 0 {
        return 1.0;
    }
    gamma::regularized(degrees as f64 / 2.0, statistic / 2.0).1
}

/// The p-value of counts that should have these probabilities: [`chi_square`] and its rare cells, at half α each.
///
/// ```
/// use ldp_core::conformance::{ALPHA, goodness_of_fit};
/// assert!(goodness_of_fit(&[2510, 7490], &[0.25, 0.75]) > 0.5);
/// assert!(goodness_of_fit(&[2810, 7190], &[0.25, 0.75]) < ALPHA);
/// // Three of what happens once in a billion.
/// assert!(goodness_of_fit(&[10_000, 3], &[1.0 - 1e-9, 1e-9]) < ALPHA);
/// ```
#[must_use]
pub fn goodness_of_fit(observed: &[u64], probabilities: &[f64]) -> f64 {
    let (statistic, degrees, rare) = chi_square(observed, probabilities);
    (2.0 * upper_tail(statistic, degrees).min(rare)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::binomial::pmf;

    #[test]
    fn the_p_value_of_two_cells_is_nearly_the_exact_one() {
        // P(|X − np| ≥ d) for a binomial count, summed: what the chi-square tail stands for.
        let (n, p) = (100_000u64, 0.3);
        for away in [200u64, 400, 700] {
            let count = 30_000 + away;
            let exact: f64 = (0..=n).filter(|&k| k.abs_diff(30_000) >= away).map(|k| pmf(k, n, p)).sum();
            let (statistic, degrees, _) = chi_square(&[count, n - count], &[p, 1.0 - p]);
            let found = upper_tail(statistic, degrees);
            assert!((found / exact - 1.0).abs() < 0.05, "{found} for {exact}");
        }
    }

    #[test]
    fn small_cells_are_pooled_and_impossible_ones_are_fatal() {
        let rare = [0.9, 0.06, 0.02, 0.02];
        assert_eq!(chi_square(&[90, 6, 2, 2], &rare).1, 1);
        assert_eq!(chi_square(&[9000, 600, 200, 200], &rare).1, 3);
        assert_eq!(goodness_of_fit(&[99, 1], &[1.0, 0.0]), 0.0);
        assert_eq!(goodness_of_fit(&[100, 0], &[1.0, 0.0]), 1.0);
        assert_eq!(goodness_of_fit(&[100, 0], &[f64::NAN, 0.0]), 0.0);
    }
}
