//! Exact limits for a probability from a binomial count.

use ldp_core::inference::check_level;
use ldp_core::special::beta;
use ldp_core::{Error, Result};

/// The Clopper–Pearson limits [low, high] for p from `count` successes among `users`.
///
/// They solve $P_p(X \ge count) = \alpha/2$ and $P_p(X \le count) = \alpha/2$ with $\alpha = 1 - level$, and cover p
/// with probability at least `level` for every n and p. See [CP34].
///
/// ```
/// use ldp_estimators::clopper_pearson::limits;
/// let (low, high) = limits(0, 10, 0.95)?;
/// assert_eq!(low, 0.0);
/// assert!((high - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-14);
/// assert_eq!(limits(0, 0, 0.95)?, (0.0, 1.0));
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [CP34]: https://doi.org/10.1093/biomet/26.4.404
pub fn limits(count: u64, users: u64, level: f64) -> Result<(f64, f64)> {
    check_level(level)?;
    if count > users {
        return Err(Error::Inconsistent { what: "successes among users", count, limit: users });
    }
    Ok(solve(count, users, level))
}

fn solve(count: u64, users: u64, level: f64) -> (f64, f64) {
    let tail = (1.0 - level) / 2.0;
    let (successes, failures) = (count as f64, (users - count) as f64);
    let low = beta::quantile(tail, successes, failures + 1.0).0;
    let high = beta::quantile(tail, failures, successes + 1.0).1;
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::special::binomial;

    #[test]
    fn the_limits_solve_their_equations() {
        // A limit next to one is only known to 1e-16, and the tail depends on its distance from one.
        let tolerance = |p: f64| 1e-10 + 4e-15 / (1.0 - p);
        for users in [1, 2, 7, 100, 10_000, 1_000_000_000] {
            for count in [0, 1, users / 3, users / 2, users - 1, users] {
                for level in [0.5, 0.95, 0.999] {
                    let (low, high) = limits(count, users, level).unwrap();
                    let tail = (1.0 - level) / 2.0;
                    if count > 0 {
                        assert!(
                            (binomial::sf(count, users, low) / tail - 1.0).abs() < tolerance(low),
                            "{count}/{users}"
                        );
                    }
                    if count < users {
                        assert!(
                            (binomial::cdf(count, users, high) / tail - 1.0).abs() < tolerance(high),
                            "{count}/{users}"
                        );
                    }
                    assert!(low < high && low <= count as f64 / users as f64 && high >= count as f64 / users as f64);
                }
            }
        }
    }

    #[test]
    fn bad_levels_and_counts_are_refused() {
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(matches!(limits(1, 2, level), Err(Error::Parameter { name: "level", .. })));
        }
        assert!(matches!(limits(3, 2, 0.9), Err(Error::Inconsistent { count: 3, limit: 2, .. })));
    }
}
