//! The special functions against values computed with 50 digits: `data/special.json`, printed by `data/special.py`.
//!
//! Every tolerance is about three times the largest error measured; each test says which functions it holds to it.

use ldp_core::special::{beta, binomial, gamma, normal};
use std::collections::BTreeMap;

/// The rows of one function: its arguments, then its value or values.
fn rows(name: &str) -> Vec<Vec<f64>> {
    let mut table: BTreeMap<String, Vec<Vec<f64>>> =
        serde_json::from_str(include_str!("data/special.json")).expect("the table is valid JSON");
    table.remove(name).expect("the table has this function")
}

/// The largest relative error over the rows that `keep` keeps, and where. The function takes the first `N` columns
/// and returns what stands in the others.
fn worst<const N: usize, const V: usize>(
    name: &str,
    keep: impl Fn([f64; N]) -> bool,
    function: impl Fn([f64; N]) -> [f64; V],
) -> (f64, [f64; N]) {
    let mut worst = (0.0, [f64::NAN; N]);
    let mut kept = 0;
    for row in rows(name) {
        let arguments: [f64; N] = row[..N].try_into().expect("as many columns as arguments");
        if !keep(arguments) {
            continue;
        }
        kept += 1;
        let expected: [f64; V] = row[N..].try_into().expect("as many columns as values");
        for (found, expected) in function(arguments).into_iter().zip(expected) {
            let error = if found == expected { 0.0 } else { ((found - expected) / expected).abs() };
            // NaN must not be forgotten by the next comparison.
            let error = if error.is_nan() { f64::INFINITY } else { error };
            if error > worst.0 {
                worst = (error, arguments);
            }
        }
    }
    assert!(kept >= 10, "{name} has only {kept} rows to check");
    worst
}

fn all<const N: usize>(_: [f64; N]) -> bool {
    true
}

/// Whether `function` is as accurate as `tolerance` says, on the rows kept.
fn accurate<const N: usize, const V: usize>(
    name: &str,
    tolerance: f64,
    keep: impl Fn([f64; N]) -> bool,
    function: impl Fn([f64; N]) -> [f64; V],
) -> bool {
    let (error, place) = worst(name, keep, function);
    println!("{name}: {error:.1e} at {place:?}");
    error <= tolerance
}

const CDF: f64 = 1e-15;
const QUANTILE: f64 = 8e-16;
const PMF: f64 = 4e-13;

#[test]
fn normal() {
    assert!(accurate("normal_cdf", CDF, all, |[x]| [normal::cdf(x)]));
    assert!(accurate("normal_cdf", CDF, all, |[x]| [normal::sf(-x)]));
    assert!(accurate("normal_pdf", 7e-16, all, |[x]| [normal::pdf(x)]));
    assert!(accurate("normal_pdf", 3e-13, all, |[x]| [normal::ln_pdf(x).exp()]));
    assert!(accurate("normal_ln_cdf", 1.2e-15, all, |[x]| [normal::ln_cdf(x)]));
    assert!(accurate("normal_quantile", QUANTILE, all, |[p]| [normal::quantile(p)]));
    assert!(accurate("normal_mass", 5e-15, all, |[low, high]| [normal::mass(low, high)]));
    assert!(accurate("normal_mass", 5e-15, all, |[low, high]| [normal::mass(-high, -low)]));
}

#[test]
fn binomial() {
    let whole = |x: f64| x as u64;
    assert!(accurate("binomial_pmf", PMF, all, |[k, n, p]| [binomial::pmf(whole(k), whole(n), p)]));
    assert!(accurate("binomial_ln_pmf", 1.2e-15, all, |[k, n, p]| [binomial::ln_pmf(whole(k), whole(n), p)]));
    let tails = |[k, n, p]: [f64; 3]| [binomial::cdf(whole(k), whole(n), p), binomial::sf(whole(k), whole(n), p)];
    assert!(accurate("binomial_tails", 1e-12, |[_, n, _]| n <= 1e6, tails));
    assert!(accurate("binomial_tails", 2.5e-10, all, tails));
}

#[test]
fn beta() {
    let tails = |[a, b, x]: [f64; 3]| <[f64; 2]>::from(beta::regularized(a, b, x));
    assert!(accurate("beta_tails", 5e-13, |[a, b, _]| a + b <= 2e6, tails));
    assert!(accurate("beta_tails", 5e-10, all, tails));
    assert!(accurate("beta_quantile", 6e-14, all, |[p, a, b]| beta::quantile(p, a, b).into()));
}

#[test]
fn gamma() {
    let tails = |[a, x]: [f64; 2]| <[f64; 2]>::from(gamma::regularized(a, x));
    assert!(accurate("gamma_tails", 4e-14, all, tails));
    assert!(accurate("gamma_tails_large", 1.5e-14, all, tails));
    assert!(accurate("ln_gamma", 7e-16, all, |[x]| [gamma::ln_gamma(x)]));
}

/// The checks above would notice the implementations that come to mind first.
#[test]
fn less_accurate_functions_are_rejected() {
    assert!(!accurate("normal_quantile", QUANTILE, all, |[p]| [normal::quantile(p) * (1.0 + 1e-6)]));
    assert!(!accurate("normal_cdf", CDF, all, |[x]| [0.5 * libm::erfc(-x / 2f64.sqrt())]));
    let ln_choose = |n: f64, k: f64| libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    let by_log_gamma = |[k, n, p]: [f64; 3]| [(ln_choose(n, k) + k * p.ln() + (n - k) * (-p).ln_1p()).exp()];
    assert!(!accurate("binomial_pmf", PMF, all, by_log_gamma));
    assert!(!accurate("normal_cdf", CDF, all, |[x]| [if x < 0.0 { f64::NAN } else { normal::cdf(x) }]));
}

#[test]
fn normal_edges() {
    let inf = f64::INFINITY;
    assert_eq!((normal::cdf(-inf), normal::cdf(inf)), (0.0, 1.0));
    assert_eq!((normal::cdf(-1e308), normal::cdf(1e308)), (0.0, 1.0));
    assert_eq!((normal::pdf(-inf), normal::pdf(1e308), normal::pdf(41.0)), (0.0, 0.0, 0.0));
    assert_eq!((normal::ln_cdf(-inf), normal::ln_cdf(inf)), (-inf, 0.0));
    assert_eq!((normal::quantile(0.0), normal::quantile(1.0)), (-inf, inf));
    assert!(normal::quantile(0.5) == 0.0 && normal::quantile(0.5).is_sign_positive());
    assert!([normal::quantile(-0.1), normal::quantile(1.1), normal::quantile(f64::NAN)].iter().all(|z| z.is_nan()));
    assert_eq!((normal::mass(-inf, inf), normal::mass(inf, inf), normal::mass(1.0, 1.0)), (1.0, 0.0, 0.0));
    assert_eq!(normal::mass(-inf, -1.0), normal::cdf(-1.0));
}

#[test]
fn binomial_edges() {
    assert_eq!((binomial::pmf(0, 0, 0.3), binomial::pmf(1, 0, 0.3)), (1.0, 0.0));
    assert_eq!((binomial::pmf(0, 5, 0.0), binomial::pmf(1, 5, 0.0)), (1.0, 0.0));
    assert_eq!((binomial::pmf(5, 5, 1.0), binomial::pmf(4, 5, 1.0)), (1.0, 0.0));
    assert_eq!(binomial::ln_pmf(6, 5, 0.5), f64::NEG_INFINITY);
    assert_eq!((binomial::cdf(5, 5, 0.5), binomial::sf(0, 5, 0.5), binomial::sf(6, 5, 0.5)), (1.0, 1.0, 0.0));
    assert_eq!((binomial::cdf(0, 5, 0.0), binomial::sf(1, 5, 0.0)), (1.0, 0.0));
    assert_eq!((binomial::cdf(4, 5, 1.0), binomial::sf(5, 5, 1.0)), (0.0, 1.0));
    assert!(
        binomial::pmf(1, 2, 1.5).is_nan() && binomial::cdf(2, 2, -0.5).is_nan() && binomial::sf(0, 2, 1.5).is_nan()
    );
    let total: f64 = (0..=50).map(|k| binomial::pmf(k, 50, 0.2)).sum();
    assert!((total - 1.0).abs() < 1e-14);
}

/// The quantile ends, is never NaN, and inverts the distribution function, over the whole range of its arguments.
#[test]
fn beta_quantile_inverts_everywhere() {
    let sizes = [1.0, 2.0, 3.0, 10.0, 39.0, 1e3, 1e5 + 1.0, 1e7, 1e9 + 7.0, 1e12];
    let levels = [1e-300, 1e-100, 1e-20, 1e-6, 0.025, 0.3, 0.5, 0.7, 0.975, 1.0 - 1e-6, 1.0 - f64::EPSILON];
    for (a, b) in sizes.iter().flat_map(|&a| sizes.map(|b| (a, b))) {
        let mut last = 0.0;
        for p in levels {
            let (x, rest) = beta::quantile(p, a, b);
            assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&rest), "({p}, {a}, {b}) gives {x}");
            assert!(x >= last, "not monotone at ({p}, {a}, {b})");
            last = x;
            let (below, above) = beta::regularized_at(a, b, x, rest);
            let error = if p <= 0.5 { below / p - 1.0 } else { above / (1.0 - p) - 1.0 };
            // Below 1e-300 the odds are cut off at the smallest normal number.
            let tolerance = if x > 1e-300 { 1e-14 * (a + b).sqrt() + 1e-12 } else { f64::INFINITY };
            assert!(error.abs() < tolerance, "({p}, {a}, {b}) gives {x}, off by {error:.1e}");
        }
    }
    assert_eq!(beta::quantile(0.025, 0.0, 11.0), (0.0, 1.0));
    assert_eq!(beta::quantile(0.975, 11.0, 0.0), (1.0, 0.0));
    assert_eq!((beta::quantile(0.0, 2.0, 3.0), beta::quantile(1.0, 2.0, 3.0)), ((0.0, 1.0), (1.0, 0.0)));
    assert!(beta::quantile(f64::NAN, 2.0, 3.0).0.is_nan() && beta::quantile(0.5, -1.0, 3.0).0.is_nan());
}

#[test]
fn tails_of_odd_arguments() {
    let inf = f64::INFINITY;
    assert_eq!((gamma::regularized(3.0, 0.0), gamma::regularized(3.0, inf)), ((0.0, 1.0), (1.0, 0.0)));
    assert_eq!((gamma::regularized(1e300, 5.0), gamma::regularized(5.0, 1e300)), ((0.0, 1.0), (1.0, 0.0)));
    assert_eq!(gamma::regularized(1e300, 1e300), (0.5, 0.5));
    assert!(gamma::regularized(-1.0, 1.0).0.is_nan() && gamma::regularized(1.0, f64::NAN).1.is_nan());
    assert_eq!((beta::regularized(2.0, 3.0, 0.0), beta::regularized(2.0, 3.0, 1.0)), ((0.0, 1.0), (1.0, 0.0)));
    assert!(beta::regularized(2.0, 3.0, 1.5).0.is_nan() && beta::regularized(f64::NAN, 3.0, 0.5).0.is_nan());
}
