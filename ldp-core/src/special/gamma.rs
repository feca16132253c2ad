//! The gamma function's logarithm and the regularised incomplete gamma function.

use super::normal;
use super::saddle::deviance;

/// From this shape on the uniform expansion is used, as far as [`REACH`].
const LARGE: f64 = 500.0;

/// How far from the middle, in η: at shape 500 thirteen standard deviations, at shape 7000 where numbers end.
const REACH: f64 = 0.6;

/// $\ln|\Gamma(x)|$, to 7e-16 relative away from its zeros at 1 and 2.
///
/// ```
/// assert!((ldp_core::special::gamma::ln_gamma(5.0) - 24f64.ln()).abs() < 1e-15);
/// ```
#[must_use]
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Both tails $(P(a, x), Q(a, x))$ of a gamma variable with shape $a > 0$ at $x \ge 0$.
///
/// $Q(k + 1, \theta)$ is the probability that a Poisson variable with mean $\theta$ is at most $k$, and
/// $Q(d/2, t/2)$ that a chi-square variable with $d$ degrees of freedom is at least $t$.
/// NaN where $a$ or $x$ is NaN or negative. Relative accuracy 1.5e-14 within six standard deviations of the mean, whatever
/// the shape: for $a \ge 500$ by Temme's uniform expansion from the exact difference $a - x$, because the quotient of the two
/// has $\sqrt a$ times the rounding of either.
///
/// ```
/// let (below, above) = ldp_core::special::gamma::regularized(1.0, 2.0);
/// assert!((above - (-2f64).exp()).abs() < 1e-15);
/// assert!((below + above - 1.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn regularized(a: f64, x: f64) -> (f64, f64) {
    if !(a >= 0.0 && x >= 0.0) {
        return (f64::NAN, f64::NAN);
    }
    // The mass at shape 0 is all at zero, at infinite shape all at infinity.
    if x == f64::INFINITY || a == 0.0 {
        return if a == f64::INFINITY { (0.0, 1.0) } else { (1.0, 0.0) };
    }
    if x == 0.0 || a == f64::INFINITY {
        return (0.0, 1.0);
    }
    // Beyond, sums of the two overflow; the variable is normal to within 1/√a.
    if a > 1e300 {
        let z = (x - a) / a.sqrt();
        return (normal::cdf(z), normal::sf(z));
    }
    if a >= LARGE
        && let Some(tails) = expansion(a, x)
    {
        return tails;
    }
    cdflib::special::try_gamma_inc(a, x).unwrap_or((f64::NAN, f64::NAN))
}

/// N. M. Temme's expansion «The asymptotic expansion of the incomplete gamma functions» (1979): with
/// $\tfrac12\eta^2 = \lambda - 1 - \ln\lambda$, $\lambda = x/a$ and $z = \eta\sqrt a$
///
/// $$Q(a, x) = \Phi(-z) + \frac{\varphi(z)}{\sqrt a} \sum_k \frac{c_k(\eta)}{a^k}.$$
///
/// `None` where η is too large for the series of the $c_k$.
fn expansion(a: f64, x: f64) -> Option<(f64, f64)> {
    // Both are at most 1e300, or x is far beyond.
    let square = 2.0 * deviance(a, x, a - x);
    if !(square <= REACH * REACH * a) {
        return (a > 1e30).then_some(if x < a { (0.0, 1.0) } else { (1.0, 0.0) });
    }
    let z = square.sqrt().copysign(x - a);
    let eta = z / a.sqrt();
    let series = |row: &[f64]| row.iter().rev().fold(0.0, |sum, &coefficient| sum * eta + coefficient);
    let sum = COEFFICIENTS.iter().rev().fold(0.0, |sum, row| sum / a + series(row));
    let more = normal::pdf(z) / a.sqrt() * sum;
    Some((normal::cdf(z) - more, normal::sf(z) + more))
}

/// The Taylor coefficients of $c_0, \dots, c_4$ in η, from $c_0 = 1/\mu - 1/\eta$ and
/// $c_k = c_{k-1}'/\eta + (-1)^k g_k/\mu$ with $\mu = \lambda - 1$ and Stirling's coefficients $g_k$, in rational numbers.
const COEFFICIENTS: [&[f64]; 5] = [
    &[
        -0.3333333333333333,
        0.08333333333333333,
        -0.014814814814814815,
        0.0011574074074074073,
        0.0003527336860670194,
        -0.0001787551440329218,
        3.919263178522438e-05,
        -2.185448510679992e-06,
        -1.85406221071516e-06,
        8.296711340953087e-07,
        -1.7665952736826078e-07,
        6.707853543401498e-09,
        1.0261809784240309e-08,
        -4.382036018453353e-09,
        9.14769958223679e-10,
        -2.5514193994946248e-11,
        -5.830772132550426e-11,
        2.4361948020667415e-11,
        -5.0276692801141755e-12,
        1.1004392031956135e-13,
    ],
    &[
        -0.001851851851851852,
        -0.003472222222222222,
        0.0026455026455026454,
        -0.0009902263374485596,
        0.00020576131687242798,
        -4.018775720164609e-07,
        -1.8098550334489977e-05,
        7.64916091608111e-06,
        -1.6120900894563446e-06,
        4.647127802807434e-09,
        1.378633446915721e-07,
        -5.752545603517705e-08,
        1.1951628599778148e-08,
        -1.7543241719747647e-11,
    ],
    &[
        0.004133597883597883,
        -0.0026813271604938273,
        0.0007716049382716049,
        2.0093878600823047e-06,
        -0.0001073665322636516,
        5.2923448829120125e-05,
        -1.2760635188618728e-05,
        3.423578734096138e-08,
        1.3721957309062934e-06,
    ],
    &[
        0.0006494341563786008,
        0.00022947209362139917,
        -0.0004691894943952557,
        0.00026772063206283885,
        -7.561801671883977e-05,
        -2.396505113867297e-07,
    ],
    &[-0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902],
];
