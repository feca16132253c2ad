//! What binomial and Poisson probabilities are made of: Stirling's error and the deviance, after C. Loader,
//! «Fast and accurate computation of binomial probabilities» (2000).
//!
//! Differences of log-gammas lose ten digits at $n = 10^9$; here every term is small when the probability is not.

use super::gamma::ln_gamma;

/// $\ln\sqrt{2\pi}$.
pub(crate) const LN_SQRT_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// The product and what rounding took from it: the sum of the two is `left * right` to 106 bits.
///
/// By splitting, because `mul_add` is a library call on processors without the instruction.
#[inline]
pub(crate) fn two_product(left: f64, right: f64) -> (f64, f64) {
    let product = left * right;
    let (left_high, left_low) = split(left);
    let (right_high, right_low) = split(right);
    let rest =
        ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low;
    (product, rest)
}

/// A number as its upper 26 bits and the rest.
#[inline]
fn split(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & !0x7FF_FFFF);
    (high, x - high)
}

/// $\ln\Gamma(n+1) - (n+\tfrac12)\ln n + n - \ln\sqrt{2\pi}$ for $n > 0$, to 1e-15 absolute.
pub(crate) fn stirling_error(n: f64) -> f64 {
    const SMALL: [f64; 15] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_3,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_093,
        0.016_644_691_189_821_193,
        0.013_876_128_823_070_748,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_096,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
        0.007_573_675_487_951_841,
        0.006_942_840_107_209_53,
        0.006_408_994_188_004_207,
        0.005_951_370_112_758_848,
        0.005_554_733_551_962_801,
    ];
    if n > 15.0 {
        let square = n * n;
        let tail = 1.0 / 1188.0 - 691.0 / 360_360.0 / square;
        let tail = 1.0 / 1680.0 - tail / square;
        let tail = 1.0 / 1260.0 - tail / square;
        let tail = 1.0 / 360.0 - tail / square;
        (1.0 / 12.0 - tail / square) / n
    } else if n >= 1.0 && n == (n as usize) as f64 {
        SMALL[n as usize - 1]
    } else {
        ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - LN_SQRT_TWO_PI
    }
}

/// $x\ln(x/m) + m - x$ for $x, m > 0$, given `difference` $= x - m$ more accurately than the two rounded numbers
/// would give it.
pub(crate) fn deviance(x: f64, mean: f64, difference: f64) -> f64 {
    let v = difference / (x + mean);
    // Loader's limit is 0.1, beyond which the logarithm cancels to 2 % of its size; at 0.35 to 30 %.
    if v.abs() < 0.35 {
        let square = v * v;
        let mut sum = difference * v;
        let mut power = 2.0 * x * v;
        let mut odd = 3.0;
        loop {
            power *= square;
            let next = sum + power / odd;
            if next == sum {
                return sum;
            }
            sum = next;
            odd += 2.0;
        }
    }
    let ratio = x / mean;
    let log = if ratio.is_finite() && ratio > 0.0 { ratio.ln() } else { x.ln() - mean.ln() };
    x * log - difference
}
