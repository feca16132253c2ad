//! The information about a mean vector.

use crate::{BlackBox, Information, Method, black_box_with};
use ldp_core::error::require;
use ldp_core::special::{beta, gamma, normal};
use ldp_core::{Error, Mechanism, Model, Result, UnbiasedVector};
use ldp_mechanisms::{DuchiL2, DuchiLinf, PrivUnitG};
use std::f64::consts::PI;

/// The information about each coordinate of the mean of $N(\theta, \sigma^2 I_d)$ at θ = 0, through the cube of
/// [`DuchiLinf`].
///
/// By symmetry the information matrix is a multiple of the identity. With ρ the radius of the cube and B the size of a
/// coordinate of the report it is
///
/// $$I = \Bigl(\frac{2\Phi(\rho/\sigma) - 1}{B}\Bigr)^2$$
///
/// times the identity. At θ = 0 every vertex is equally likely, and the score of vertex v in a coordinate is
/// $v_j (2\Phi(\rho/\sigma) - 1)/B^2$: the mean report says all that the reports say.
/// The smaller the cube, the larger the information.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_mechanisms::DuchiLinf;
/// let information = ldp_fisher::cube(&DuchiLinf::new(Epsilon::new(1.0)?, 1, 1e-6)?, 1.0)?;
/// // A small cube on the line is the sign mechanism.
/// assert!((information.value - 2.0 / std::f64::consts::PI * 0.5f64.tanh().powi(2)).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
///
/// Rounded coordinates are fair signs with $\partial_{\theta_1} P(\tilde x_1 = +) = a = (2\Phi(\rho/\sigma)-1)/2\rho$,
/// so $\partial_{\theta_1} m(v) = \pm a \Delta$ with Δ the mean of $q(v \mid \tilde x)$ over the $\tilde x$ that agree
/// in the first coordinate less that over the others, and $I = (2^d a \Delta)^2$. The mean agreement of a coordinate is
/// $2^{d-1}\Delta = \rho/B$, from the weights that are drawn with.
pub fn cube(mechanism: &DuchiLinf, sigma: f64) -> Result<Information> {
    check_sigma(sigma)?;
    let reach = mechanism.radius() / sigma;
    closed((normal::mass(-reach, reach) / mechanism.bound()).powi(2), 1e-13)
}

/// The information about each coordinate of the mean of $N(\theta, \sigma^2 I_d)$ at θ = 0, through the ball of
/// [`DuchiL2`].
///
/// With $R = \lVert X\rVert/\sigma$, ρ the radius of the ball and B that of the sphere of reports, it is
///
/// $$I = \frac1d \Bigl(\frac{E[R\min(R, \rho/\sigma)]}{B}\Bigr)^2,$$
///
/// and with P, Q the regularised incomplete gamma functions, $r = \rho/\sigma$,
///
/// $$E[R\min(R, r)] = d P(\tfrac d2 + 1, \tfrac{r^2}2)
///   + r \sqrt2 \frac{\Gamma(\frac{d+1}2)}{\Gamma(\frac d2)} Q(\tfrac{d+1}2, \tfrac{r^2}2).$$
///
/// It is the larger the smaller the ball, and has the limit $(2/\pi)\tau^2/d\sigma^2$ in every dimension: the same as
/// the sign of one random coordinate.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_fisher::{cube, sphere};
/// use ldp_mechanisms::{DuchiL2, DuchiLinf};
/// let epsilon = Epsilon::new(1.0)?;
/// // On the line ball and cube are one mechanism.
/// let ball = sphere(&DuchiL2::new(epsilon, 1, 2.0)?, 1.5)?;
/// let other = cube(&DuchiLinf::new(epsilon, 1, 2.0)?, 1.5)?;
/// assert!((ball.value / other.value - 1.0).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
///
/// At θ = 0 reports are uniform on their sphere, and $q(z \mid x)$ relative to that is
/// $1 \pm (1 - 2\mathrm{lie})\min(\lVert x\rVert/\rho, 1)$, plus on the side of x. So the score $E[X/\sigma^2 \mid z]$
/// is a multiple of the direction of z, the same for every z: its squared length, spread over d coordinates, is the
/// information. Length and direction of X are independent, and the mean of $|U_1|$ of a uniform direction is in B
/// already.
pub fn sphere(mechanism: &DuchiL2, sigma: f64) -> Result<Information> {
    check_sigma(sigma)?;
    let (d, reach) = (mechanism.dimension() as f64, mechanism.radius() / sigma);
    // Γ((d + 1)/2)/Γ(d/2), which the radius of the reports is made of: logarithms would lose it in high dimensions.
    let ratio = mechanism.bound() / mechanism.radius() * (1.0 - 2.0 * mechanism.lie()) / PI.sqrt();
    let half = 0.5 * reach * reach;
    let inside = d * gamma::regularized(0.5 * d + 1.0, half).0;
    // Where nothing lies beyond the ball its radius may be infinite in units of σ.
    let tail = gamma::regularized(0.5 * (d + 1.0), half).1;
    let outside = if tail > 0.0 { reach * 2f64.sqrt() * ratio * tail } else { 0.0 };
    // As accurate as the incomplete gamma functions.
    closed(((inside + outside) / mechanism.bound()).powi(2) / d, if d <= 1e6 { 1e-11 } else { 1e-8 })
}

/// The information about each coordinate of the mean of $N(\theta, \sigma^2 I_d)$ at θ = 0, through the direction of
/// the value and [`PrivUnitG`].
///
/// Let R have the law of the length of a standard Gaussian vector, T that of one coordinate of a uniform direction, and
/// w the tilt of the mechanism: $w_+ = p/(1 - \Phi(\gamma))$ above γ, $w_- = (1-p)/\Phi(\gamma)$ below. Then
///
/// $$I = \frac{(w_+ - w_-)^2}{2\pi d\sigma^2}
///   \int_{|\gamma|}^\infty \Bigl(1 - \frac{\gamma^2}{r^2}\Bigr)^{d-1} \frac{f_R(r)}{\bar w(r)} dr,\qquad
///   \bar w(r) = w_- + (w_+ - w_-) P(T > \gamma/r).$$
///
/// The sum of the variances of an efficient estimator, per $d^2$, is $1/(d I)$. For σ = 1 and ε = 1, beside the limit
/// of n·MSE/d² of the estimator that averages reports, $s^2(d - 1 + E a^2)/d^2\kappa_d^2$ with
/// $\kappa_d = \sqrt2 \Gamma(\frac{d+1}2)/d\Gamma(\frac d2)$:
///
/// | d | 1/(d I) | averaging |
/// |---|---|---|
/// | 2 | 7.4015 | 8.6962 |
/// | 3 | 6.9392 | 7.8501 |
/// | 5 | 6.6302 | 7.2122 |
/// | 20 | 6.3854 | 6.5415 |
/// | 100 | 6.3402 | 6.3718 |
///
/// See [AFT22] for the mechanism.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_mechanisms::PrivUnitG;
/// let unit = PrivUnitG::new(Epsilon::new(1.0)?, 20)?;
/// let information = ldp_fisher::direction(&unit, 1.0)?;
/// assert!(1.0 / (20.0 * information.value) < 6.541);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
///
/// The score $E[X/\sigma^2 \mid z]$ is $(E\lVert X\rVert/\sigma^2) A(r) z/\lVert z\rVert$ with $r = \lVert z\rVert/s$
/// and $A(r) = E[T w(rT)]/E[w(rT)]$; both means are known, $E(T; T > c) = \frac12 E|T| (1 - c^2)^{(d-1)/2}$, and
/// $E\lVert X\rVert E|T| = \sigma\sqrt{2/\pi}$ in every dimension. In $s = \ln(y/\sqrt d)$, $y^2 = r^2 - \gamma^2$, the
/// integrand is analytic and vanishes fast on both sides, so the trapezoidal rule converges exponentially; divided by
/// the same sum for $f_R$ it needs no gamma function. The step is halved until two sums agree.
///
/// [AFT22]: https://arxiv.org/abs/2205.02466
pub fn direction(mechanism: &PrivUnitG, sigma: f64) -> Result<Information> {
    check_sigma(sigma)?;
    let (d, p, threshold) = (mechanism.dimension() as f64, mechanism.probability(), mechanism.threshold());
    let above = p / normal::sf(threshold);
    // w₊ − w₋ = w₊(1 − e^−ε): the difference itself has no digits for a small ε.
    let jump = above * -(-mechanism.epsilon().value()).exp_m1();
    let below = (1.0 - p) / normal::cdf(threshold);
    let square = threshold * threshold;
    // Relative to the density at √d, with respect to s.
    let ln_length = |s: f64| d * (s - 0.5 * (2.0 * s).exp_m1());
    let ratio = |s: f64| {
        let y = d * (2.0 * s).exp();
        let tail = upper_tail(d, y, square);
        let tilt = below + jump * if threshold >= 0.0 { tail } else { 1.0 - tail };
        (-0.5 * square - 0.5 * d * (square / y).ln_1p()).exp() / tilt
    };
    // Beyond, both sums have lost nothing that a number can hold, also where the tilt differs by e^ε.
    let lost = 50.0 + mechanism.epsilon().value() + square;
    let low = (0..).map(|i| -2f64.powi(i) / d.sqrt()).find(|&s| ln_length(s) < -lost).unwrap_or(-lost);
    let high = (0..).map(|i| 0.1 * 1.2f64.powi(i) / d.sqrt()).find(|&s| ln_length(s) < -lost).unwrap_or(lost);
    let mean = |steps: u32| {
        let step = (high - low) / f64::from(steps);
        let nodes = (0..=steps).map(|i| low + step * f64::from(i));
        let (top, bottom) = nodes.fold((0.0, 0.0), |(top, bottom), s| {
            let weight = ln_length(s).exp();
            (top + weight * ratio(s), bottom + weight)
        });
        top / bottom
    };
    let (mut value, mut error) = (mean(64), f64::INFINITY);
    for doubling in 7..18 {
        let finer = mean(1 << doubling);
        (error, value) = ((finer - value).abs(), finer);
        if error <= 1e-13 * value {
            break;
        }
    }
    let factor = (jump / sigma).powi(2) / (2.0 * PI * d);
    let information = factor * value;
    let error = factor * error + 1e-13 * information;
    if !(information > 0.0 && information.is_finite() && error <= 1e-6 * information) {
        return Err(Error::Integral { what: "the information of a direction", value: information, error });
    }
    Ok(Information { value: information, error, method: Method::Quadrature })
}

/// $P(T > |\gamma|/r)$ for a coordinate T of a uniform direction, with $r^2 = y + \gamma^2$.
fn upper_tail(d: f64, y: f64, square: f64) -> f64 {
    if d == 1.0 {
        return 0.5;
    }
    let sum = y + square;
    0.5 * beta::regularized_at(0.5 * (d - 1.0), 0.5, y / sum, square / sum).0
}

/// The most coordinates of vectors that are sampled: half a dozen of them are held at once.
const MOST_COORDINATES: u64 = 1 << 20;

/// A lower confidence limit of the information about the mean of $N(\theta, \sigma^2 I_d)$ along a direction, at any θ,
/// for any mechanism on vectors: [`black_box_with`] on the component of the report in that direction.
///
/// With u the direction, of length one, the limit is one of $u^\top I_\theta u$: the score of a step along u is
/// $\langle x - \theta, u\rangle/\sigma^2$, the number $\langle z, u\rangle$. What the other components of the report
/// say counts as lost. A direction of another length than one is normalised.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_fisher::{BlackBox, black_box_vector};
/// use ldp_mechanisms::ProjUnit;
/// let unit = ProjUnit::new(Epsilon::new(4.0)?, 6, 3)?;
/// let options = BlackBox::new(1).draws(100_000)?;
/// let limit = black_box_vector(&unit, &[0.0; 6], 1.0, &[1.0; 6], options)?;
/// assert!(limit.value > 0.01 && limit.value < 1.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn black_box_vector<Q>(
    mechanism: &Q,
    theta: &[f64],
    sigma: f64,
    direction: &[f64],
    options: BlackBox,
) -> Result<Information>
where
    Q: Mechanism<Input = [f64], Report = Vec<f64>>,
{
    check_sigma(sigma)?;
    if theta.len() as u64 > MOST_COORDINATES {
        let (name, value) = ("dimension of sampled vectors", theta.len() as u64);
        return Err(Error::TooMany { name, most: MOST_COORDINATES, value });
    }
    if direction.len() != theta.len() {
        let (expected, found) = (theta.len(), direction.len());
        return Err(Error::Length { what: "coordinates of the direction", expected, found });
    }
    for &x in theta {
        require(x.is_finite(), "theta", "finite", x)?;
    }
    let size = direction.iter().map(|u| u * u).sum::<f64>().sqrt();
    require(size > 0.0 && size.is_finite(), "the length of the direction", "positive and finite", size)?;
    let unit: Vec<f64> = direction.iter().map(|u| u / size).collect();
    let along = |vector: &[f64]| vector.iter().zip(&unit).map(|(x, u)| x * u).sum::<f64>();
    let noise = ldp_core::model::Gaussian::new(sigma)?;
    let (mut away, mut x) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
    black_box_with(
        |rng| {
            for ((away, x), centre) in away.iter_mut().zip(&mut x).zip(theta) {
                *away = noise.sample(0.0, rng);
                *x = centre + *away;
            }
            // Divided twice: the square of a tiny σ is zero.
            (along(&away) / sigma / sigma, along(&mechanism.privatize(&x, rng)))
        },
        options,
    )
}

fn check_sigma(sigma: f64) -> Result<()> {
    require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)
}

/// A closed form, known to `relative`.
fn closed(value: f64, relative: f64) -> Result<Information> {
    let error = relative * value;
    if !(value > 0.0 && value.is_finite()) {
        return Err(Error::Integral { what: "the information of a vector", value, error });
    }
    Ok(Information { value, error, method: Method::Exact })
}
