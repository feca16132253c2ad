//! Reports whose mean tells the mean of clipped values: decoding, bias and variance, without a sample.

use super::quadrature::Law;
use super::{Violation, ensure};
use crate::mechanism::{Density, Finite, RealReports, Unbiased};

/// What bias and variance may be off by, relative to the standard deviation and the variance.
const TOLERANCE: f64 = 1e-8;

/// The laws of [`Unbiased`] by quadrature over the density: `decode` is affine, its mean is the clipped value, and its
/// variance is [`Unbiased::variance`], to 1e-8 of what they are measured in.
///
/// At every given input, at the middle and the ends of the range, and a range's width beyond either end. That the
/// density is that of the sampler is for [`check_real_sampler`](super::check_real_sampler), which has an example of
/// both.
pub fn check_unbiased<Q: Unbiased + RealReports>(mechanism: &Q, inputs: &[f64]) -> Result<(), Violation> {
    let reports = [-10.0, -1.5, -0.5, 0.25, 0.5, 2.0, 30.0];
    check(
        mechanism,
        inputs,
        &reports,
        &|input, f| Ok(Law::new(mechanism, input, "report cdf is a cdf")?.expectation(f)),
    )
}

/// [`check_unbiased`] for finite reports, by the sum over them: a report stands for its own number.
///
/// ```
/// use ldp_core::conformance::check_unbiased_finite;
/// use ldp_core::model::Cdf;
/// use ldp_core::{Density, Epsilon, Finite, FiniteChannel, Kernel, Mechanism, Partition, Unbiased};
/// use rand::Rng;
///
/// /// Randomised response about a value in {0, 1}, asked as «at least one half?».
/// struct Yes(FiniteChannel);
///
/// impl Mechanism for Yes {
///     type Input = f64;
///     type Report = u32;
///     fn epsilon(&self) -> Epsilon {
///         self.0.epsilon()
///     }
///     fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
///         self.0.privatize(input, rng)
///     }
/// }
/// # impl Density for Yes {
/// #     fn ln_density(&self, report: &u32, input: &f64) -> f64 {
/// #         self.0.ln_density(report, input)
/// #     }
/// # }
/// # impl Finite for Yes {
/// #     fn reports(&self) -> u32 {
/// #         2
/// #     }
/// #     fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
/// #         self.0.marginal(model, theta, out);
/// #     }
/// # }
/// impl Unbiased for Yes {
///     fn range(&self) -> (f64, f64) {
///         (0.0, 1.0)
///     }
///     fn decode(&self, mean_report: f64) -> f64 {
///         let lie = self.ln_density(&1, &0.0).exp();
///         (mean_report - lie) / (1.0 - 2.0 * lie)
///     }
///     fn variance(&self, _input: f64) -> f64 {
///         let lie = self.ln_density(&1, &0.0).exp();
///         lie * (1.0 - lie) / (1.0 - 2.0 * lie).powi(2)
///     }
/// }
///
/// let channel = FiniteChannel::new(Partition::Threshold(0.5), Kernel::response(Epsilon::new(1.0)?, 2)?)?;
/// // It is unbiased at 0 and 1, but not between them.
/// let violation = check_unbiased_finite(&Yes(channel), &[]).unwrap_err();
/// assert_eq!(violation.law, "decode is unbiased");
/// assert!(violation.detail.starts_with("input 0.5:"));
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn check_unbiased_finite<Q>(mechanism: &Q, inputs: &[f64]) -> Result<(), Violation>
where
    Q: Unbiased + Finite + Density,
{
    // Means of reports lie between the least and the largest.
    let most = f64::from(mechanism.reports().saturating_sub(1));
    let means = [0.1, 0.25, 0.5, 0.75, 1.0].map(|share| share * most);
    check(mechanism, inputs, &means, &|input, f| {
        Ok((0..mechanism.reports()).map(|z| mechanism.ln_density(&z, &input).exp() * f(f64::from(z))).sum())
    })
}

/// E f(Z) at an input.
type Expectation<'a> = &'a dyn Fn(f64, &dyn Fn(f64) -> f64) -> Result<f64, Violation>;

fn check<Q: Unbiased>(
    mechanism: &Q,
    inputs: &[f64],
    means: &[f64],
    expectation: Expectation<'_>,
) -> Result<(), Violation> {
    let (low, high) = mechanism.range();
    let unit = low.abs().max(high.abs());

    let law = "decode is affine";
    let (start, slope) = (mechanism.decode(0.0), mechanism.decode(1.0) - mechanism.decode(0.0));
    for &mean in means {
        let (found, straight) = (mechanism.decode(mean), start + slope * mean);
        let size = unit + start.abs() + slope.abs() * (1.0 + mean.abs());
        ensure((found - straight).abs() <= 1e-13 * size, law, || {
            format!("decode({mean}) is {found}, the line through 0 and 1 has {straight}")
        })?;
    }

    let law = "decode is unbiased";
    ensure(low < high && unit.is_finite(), law, || format!("the range is [{low}, {high}]"))?;
    let width = high - low;
    let own = [f64::midpoint(low, high), low, high, low - width, high + width];
    for &input in own.iter().chain(inputs) {
        let clipped = input.clamp(low, high);
        // Around the clipped value, not around the mean found: what is lost to rounding stays small either way.
        let bias = expectation(input, &|z| mechanism.decode(z) - clipped)?;
        let variance = expectation(input, &|z| (mechanism.decode(z) - clipped).powi(2))?;
        let (deviation, rounding) = (variance.sqrt(), 1e-13 * unit);
        let limit = TOLERANCE * deviation + rounding;
        ensure(bias.abs() <= limit, law, || {
            format!("input {input}: decode(Z) has mean {} and not {clipped}", clipped + bias)
        })?;
        let stated = mechanism.variance(input);
        ensure((stated - variance).abs() <= limit * deviation, "variance is stated", || {
            format!("input {input}: decode(Z) has variance {variance}, stated {stated}")
        })?;
    }
    Ok(())
}
