use super::ManyParameters;
use crate::error::{Error, Result, require};
use crate::special::normal;

/// Gaussian observations with unknown mean $\mu$ and unknown standard deviation $\sigma > 0$: the parameters $(\mu, \sigma)$.
///
/// $$p_{\mu,\sigma}(x) = \frac{1}{\sigma\sqrt{2\pi}} e^{-(x-\mu)^2/(2\sigma^2)}$$
///
/// Information $1/\sigma^2$ about the mean and $2/\sigma^2$ about the standard deviation, and nothing in common.
///
/// ```
/// use ldp_core::model::{GaussianMeanScale, ManyParameters};
/// let mut gradient = [0.0; 2];
/// GaussianMeanScale.cdf_gradient(&[5.0, 2.0], 7.0, &mut gradient);
/// assert_eq!(GaussianMeanScale.cdf_all(&[5.0, 2.0], 5.0), 0.5);
/// // One standard deviation above the mean, either parameter moves the cdf by as much.
/// assert_eq!(gradient[0], gradient[1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct GaussianMeanScale;

impl ManyParameters for GaussianMeanScale {
    fn parameters(&self) -> usize {
        2
    }

    fn check_all(&self, theta: &[f64]) -> Result<()> {
        let &[mu, sigma] = theta else {
            return Err(Error::Length { what: "parameters", expected: 2, found: theta.len() });
        };
        require(mu.is_finite(), "mu", "finite", mu)?;
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)
    }

    fn cdf_all(&self, theta: &[f64], x: f64) -> f64 {
        normal::cdf((x - theta[0]) / theta[1])
    }

    fn mass_all(&self, theta: &[f64], low: f64, high: f64) -> f64 {
        let [low, high] = [low, high].map(|x| (x - theta[0]) / theta[1]);
        if low < high { normal::mass(low, high) } else { 0.0 }
    }

    fn cdf_gradient(&self, theta: &[f64], x: f64, gradient: &mut [f64]) {
        let z = (x - theta[0]) / theta[1];
        let density = normal::pdf(z) / theta[1];
        gradient[0] = -density;
        // Where z is infinite the product would be infinity times zero.
        gradient[1] = if z.is_finite() { -z * density } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_cdf() {
        let model = GaussianMeanScale;
        for theta in [[0.0, 1.0], [3.0, 0.25], [-2.0, 7.0]] {
            for z in [-3.0, -1.0, 0.0, 0.3, 2.5] {
                let x = theta[0] + z * theta[1];
                let mut gradient = [f64::NAN; 2];
                model.cdf_gradient(&theta, x, &mut gradient);
                for i in 0..2 {
                    let step = 1e-5 * theta[1];
                    let at = |sign: f64| {
                        let mut moved = theta;
                        moved[i] += sign * step;
                        model.cdf_all(&moved, x)
                    };
                    let slope = (at(1.0) - at(-1.0)) / (2.0 * step);
                    assert!((gradient[i] - slope).abs() * theta[1] < 1e-9, "{theta:?}, z = {z}: {gradient:?} {slope}");
                }
            }
            for x in [f64::NEG_INFINITY, f64::INFINITY] {
                let mut gradient = [f64::NAN; 2];
                model.cdf_gradient(&theta, x, &mut gradient);
                assert_eq!(gradient, [0.0; 2]);
            }
        }
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for bad in [&[0.0][..], &[0.0, 0.0], &[0.0, -1.0], &[f64::NAN, 1.0], &[0.0, f64::INFINITY], &[0.0, 1.0, 2.0]] {
            assert!(GaussianMeanScale.check_all(bad).is_err(), "{bad:?}");
        }
        assert!(GaussianMeanScale.check_all(&[0.0, 1.0]).is_ok());
    }
}
