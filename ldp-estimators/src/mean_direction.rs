//! The mean direction of a vector whose coordinates come from any family.

use ldp_core::error::require;
use ldp_core::model::{Cdf, Score, Support, Symmetry};
use ldp_core::{Error, Result};
use std::f64::consts::PI;

/// Nodes of a panel.
const NODES: usize = 16;

/// A coordinate of the mean of $X/\lVert X\rVert$, for X with `dimension` independent coordinates from $P_\theta$: what a
/// mechanism that sees directions tells the mean of. All coordinates have the same.
///
/// $$E\frac{X_1}{\lVert X\rVert} = \frac{2}{\sqrt\pi}\int_0^\infty E[X e^{-t^2X^2}]\, E[e^{-t^2X^2}]^{d-1} dt,$$
///
/// because $1/\lVert x\rVert$ is $\frac{2}{\sqrt\pi}\int e^{-t^2\lVert x\rVert^2} dt$; one-dimensional integrals for every
/// family with a density. Absolute error below 1e-9, as compared with [`psi`](crate::psi) for Gaussian values; refused if the
/// density does not add up to one that well, and for whole numbers, where a vector of zeros has no direction.
///
/// ```
/// use ldp_core::model::{Exponential, Gaussian};
/// use ldp_estimators::{mean_direction, psi};
/// let found = mean_direction(&Gaussian::new(1.0)?, 0.7, 4)?;
/// assert!((found - psi::mean_length(4, 1.4) / 2.0).abs() < 1e-12);
/// // Far from the mean, which is 1.
/// assert!((mean_direction(&Exponential, 1.0, 3)? - 0.4819).abs() < 1e-3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn mean_direction<M: Cdf + Score + ?Sized>(model: &M, theta: f64, dimension: usize) -> Result<f64> {
    model.admits(theta)?;
    if dimension == 0 {
        return Err(Error::TooFew { name: "dimension", least: 1, value: 0 });
    }
    let Nodes { values, fine, reach } = Nodes::new(model, theta)?;
    if values.iter().all(|&(x, _)| model.ln_density(theta, x) == model.ln_density(theta, -x)) {
        return Ok(0.0);
    }
    if dimension == 1 {
        return Ok(1.0 - 2.0 * model.cdf(theta, 0.0));
    }
    // In the logarithm of t the integrand is analytic in a strip and falls off exponentially: the trapezoidal sum is right
    // to rounding.
    const STEP: f64 = 0.1;
    let term = |i: u64| {
        let t = MOST_SHARP / fine * (-STEP * i as f64).exp();
        let (mut mean, mut mass) = (0.0, 0.0);
        for &(x, weight) in &values {
            let along = (t * x).clamp(-FAR, FAR);
            let part = weight * (-along * along).exp();
            mean += part * along;
            mass += part;
        }
        mean * mass.powf((dimension - 1) as f64)
    };
    let decades = MOST_SHARP.ln() + reach.ln() - fine.ln();
    let sum: f64 = (0..=(decades / STEP) as u64 + 1).map(term).sum();
    Ok((2.0 / PI.sqrt() * STEP * sum).clamp(-1.0, 1.0))
}

/// The largest t, in units of the finest scale of the law: beyond it is less than 1e-12 of the integral.
const MOST_SHARP: f64 = 1e8;

/// How far out, in units of where most values are, a value may be on either side of zero for all that its direction tells.
const MOST_SPREAD: f64 = 1e12;

/// A number whose square is one.
const FAR: f64 = 1e150;

/// Values, and the probability that each stands for.
struct Nodes {
    values: Vec<(f64, f64)>,
    /// The smallest scale on which the density changes.
    fine: f64,
    /// What lies farther out tells nothing.
    reach: f64,
}

impl Nodes {
    /// Of a family of locations the nodes are those at zero, moved: far from zero values and densities lose their digits.
    fn new<M: Cdf + Score + ?Sized>(model: &M, theta: f64) -> Result<Self> {
        let (home, shift) = if model.symmetry() == Symmetry::Location { (0.0, theta) } else { (theta, 0.0) };
        let Support::Interval { low, high, kinks } = model.support(home) else {
            return Err(Error::Unsupported { what: "the mean direction", needs: "values with a density" });
        };
        let quantile = |p: f64| model.quantile(home, p);
        let spread = quantile(0.75) - quantile(0.25);
        let fine = spread.min(model.information(home).sqrt().recip());
        let reach = MOST_SPREAD * (spread + shift.abs());
        require(reach < FAR, "the spread of values, or theta,", "below 1e138", reach / MOST_SPREAD)?;
        let (least, most) = (quantile(1e-14).max(low).max(-reach), quantile(1.0 - 1e-13).min(high).min(reach));
        let tails = (1..14).flat_map(|k| [10f64.powi(-k), 1.0 - 10f64.powi(-k)]).map(quantile);
        let middle = (2..19).map(|k| quantile(f64::from(k) / 20.0));
        // Where the law has its centre, in steps that also follow a heavy tail; and where a vector is short, so that its
        // direction changes fast.
        let widths = || (-20..).map(|k| fine * 4f64.powi(k)).take_while(|&width| width < 2.0 * reach);
        let around = |centre: f64| widths().flat_map(move |width| [centre - width, centre + width]);
        let mut breaks: Vec<f64> = tails.chain(middle).chain(around(0.0)).chain(around(-shift)).collect();
        breaks.extend(kinks.into_iter().chain([0.0, -shift]));
        breaks.retain(|place| (least..most).contains(place));
        breaks.extend([least, most]);
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let rule = legendre();
        let mut values = Vec::with_capacity(NODES * breaks.len());
        for ends in breaks.windows(2) {
            let (middle, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
            values.extend(rule.map(|(place, weight)| {
                let z = middle + half * place;
                (shift + z, half * weight * model.ln_density(home, z).exp())
            }));
        }
        let outside = model.cdf(home, least) + model.mass(home, most, f64::INFINITY);
        let mass: f64 = values.iter().map(|node| node.1).sum::<f64>() + outside;
        require((mass - 1.0).abs() < 1e-9, "the integral of the density", "1, to nine digits", mass)?;
        Ok(Self { values, fine, reach })
    }
}

/// Gauss and Legendre's rule on [-1, 1]: the roots of the polynomial by Newton's method.
fn legendre() -> [(f64, f64); NODES] {
    std::array::from_fn(|i| {
        let mut x = (PI * (i as f64 + 0.75) / (NODES as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut last, mut value) = (1.0, x);
            for degree in 2..=NODES {
                let n = degree as f64;
                (last, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * last) / n);
            }
            slope = NODES as f64 * (x * value - last) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::psi;
    use ldp_core::model::{Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, StudentT};
    use ldp_simulate::Draw;
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn polynomials_are_integrated_exactly() {
        for power in 0..32 {
            let sum: f64 = legendre().iter().map(|(x, weight)| weight * x.powi(power)).sum();
            let expected = if power % 2 == 0 { 2.0 / f64::from(power + 1) } else { 0.0 };
            assert!((sum - expected).abs() < 1e-14, "{power}: {sum}");
        }
    }

    #[test]
    fn of_gaussian_vectors_it_is_psi() {
        for dimension in [1, 2, 3, 10, 100, 1000] {
            for theta in [0.0, 1e-6, -0.3, 1.0, 4.0, 300.0] {
                for sigma in [1.0, 1e-5, 1e7] {
                    let root = (dimension as f64).sqrt();
                    let found = mean_direction(&Gaussian::new(sigma).unwrap(), theta * sigma, dimension).unwrap();
                    let expected = psi::mean_length(dimension, root * theta.abs()).copysign(theta) / root;
                    assert!((found - expected).abs() < 1e-11, "{dimension} {theta} {sigma}: {found} {expected}");
                }
            }
        }
    }

    /// The angle φ of two exponential values has the density 1/(cos φ + sin φ)².
    #[test]
    fn of_two_exponential_values_it_is_an_integral_over_the_angle() {
        let steps = 20_000;
        let width = 0.5 * PI / f64::from(steps);
        let at = |i: i32| {
            let (sin, cos) = ((f64::from(i) + 0.5) * width).sin_cos();
            cos / (cos + sin).powi(2) * width
        };
        let expected: f64 = (0..steps).map(at).sum();
        for theta in [1e-4, 1.0, 50.0] {
            assert!((mean_direction(&Exponential, theta, 2).unwrap() - expected).abs() < 1e-8);
        }
    }

    #[test]
    fn of_other_families_it_is_the_mean_of_directions() {
        let (laplace, logistic) = (Laplace::new(2.0).unwrap(), Logistic::new(1.0).unwrap());
        let (student, heavy) = (StudentT::new(3.0, 1.0).unwrap(), StudentT::new(0.7, 1.0).unwrap());
        let heaviest = StudentT::new(0.15, 1.0).unwrap();
        let cases: [(&dyn ldp_simulate::AnyModel, f64, usize); 7] = [
            (&heaviest, 50.0, 3),
            (&laplace, 0.7, 3),
            (&logistic, -2.0, 2),
            (&student, 1.0, 5),
            (&heavy, 3.0, 2),
            (&Exponential, 2.0, 7),
            (&GaussianScale, 2.0, 4),
        ];
        const VECTORS: usize = 200_000;
        for (model, theta, dimension) in cases {
            let mut values = vec![0.0; VECTORS * dimension];
            Draw::draw(model, theta, &mut stream(3, Purpose::Data, 0, 0), &mut values);
            let directions = values.chunks(dimension).map(|x| x[0] / x.iter().map(|x| x * x).sum::<f64>().sqrt());
            let (sum, squares) = directions.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
            let mean = sum / VECTORS as f64;
            let error = ((squares / VECTORS as f64 - mean * mean) / VECTORS as f64).sqrt();
            let found = mean_direction(model, theta, dimension).unwrap();
            // α = 6e-7; the parameter itself, or that over the root of the dimension, is rejected.
            assert!((found - mean).abs() < 5.0 * error, "{theta} {dimension}: {found} {mean} ± {error}");
            assert!((theta - mean).abs() > 5.0 * error);
        }
    }

    /// Far from zero every direction is that of the mean; at the centre of a symmetric law there is none.
    #[test]
    fn far_from_zero_and_at_it() {
        for theta in [1e4, 1e9, -1e12, 1e100] {
            let found = mean_direction(&Gaussian::new(1.0).unwrap(), theta, 3).unwrap();
            assert!((found - theta.signum() / 3f64.sqrt()).abs() < 1e-8, "{theta:e}: {found}");
        }
        for degrees in [0.1, 0.2, 0.7, 3.0] {
            let model = StudentT::new(degrees, 2.0).unwrap();
            for dimension in [1, 2, 5] {
                assert_eq!(mean_direction(&model, 0.0, dimension).unwrap(), 0.0);
            }
        }
        assert_eq!(mean_direction(&GaussianScale, 2.0, 4).unwrap(), 0.0);
    }

    #[test]
    fn what_has_no_direction_is_refused() {
        assert!(matches!(mean_direction(&Poisson, 2.0, 3), Err(Error::Unsupported { .. })));
        assert!(mean_direction(&Exponential, -1.0, 3).is_err());
        assert!(mean_direction(&Exponential, 1.0, 0).is_err());
    }
}
