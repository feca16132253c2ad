//! Information from the masses of cells: no integral, no error but rounding.

use crate::{Information, Method};
use ldp_core::model::Cdf;
use ldp_core::{AsChannel, Error, FiniteChannel, Kernel, Result, channel::two_64};

/// Cells up to which nothing is allocated.
const FEW: usize = 8;

/// The Fisher information of a mechanism on finitely many cells of the line, exact up to rounding.
///
/// With $P_c$ the mass of cell c under the model and $w_{cz}$ the weights of the kernel,
///
/// $$I_\theta = \sum_z \frac{(\partial_\theta m_z)^2}{m_z}, \qquad m_z = \sum_c w_{cz} P_c, \qquad
/// \partial_\theta m_z = \sum_c (w_{cz} - w_{0z}) \partial_\theta P_c.$$
///
/// The masses have a constant sum, so that only differences of weights count; they are taken of the integers, and no
/// digit is lost however small ε is. Time: cells × reports for a dense kernel, cells for a randomised response.
///
/// A type that is not itself a channel, like `Sign`, is asked by what it publishes:
///
/// ```
/// use ldp_core::{Epsilon, Publish, model::Gaussian};
/// use ldp_fisher::exact;
/// use ldp_mechanisms::Sign;
/// let (epsilon, model) = (Epsilon::new(1.0)?, Gaussian::new(1.0)?);
/// let information = exact(&Sign::new(epsilon, 0.0)?.publish(), &model, 0.5)?;
/// assert!((information.value - 0.109301830750).abs() < 1e-11);
/// // At the mean it is (2/π) tanh²(ε/2), and nothing is better at this ε.
/// let best = exact(&Sign::new(epsilon, 0.5)?.publish(), &model, 0.5)?;
/// assert!((best.value - std::f64::consts::FRAC_2_PI * 0.5f64.tanh().powi(2)).abs() <= best.error);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn exact<C: AsChannel + ?Sized, M: Cdf + ?Sized>(channel: &C, model: &M, theta: f64) -> Result<Information> {
    model.admits(theta)?;
    let channel = channel.as_channel();
    let cells = channel.cells() as usize;
    let (value, error) = if cells <= FEW {
        let mut space = [[0.0; FEW]; 3];
        let [masses, slopes, sizes] = &mut space;
        sum(channel, model, theta, &mut masses[..cells], &mut slopes[..cells], &mut sizes[..cells])
    } else {
        let (mut masses, mut slopes, mut sizes) = (vec![0.0; cells], vec![0.0; cells], vec![0.0; cells]);
        sum(channel, model, theta, &mut masses, &mut slopes, &mut sizes)
    };
    if !(value.is_finite() && error.is_finite()) {
        return Err(Error::Integral { what: "the Fisher information", value, error });
    }
    Ok(Information { value, error, method: Method::Exact })
}

/// A model whose derivative of a mass is the size of the two numbers that it is the difference of.
struct Sizes<'a, M: ?Sized>(&'a M);

impl<M: Cdf + ?Sized> Cdf for Sizes<'_, M> {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.0.cdf(theta, x)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        self.0.cdf_dtheta(theta, x)
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.0.mass(theta, low, high)
    }

    fn mass_dtheta(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.0.cdf_dtheta(theta, low).abs() + self.0.cdf_dtheta(theta, high).abs()
    }
}

/// The sum over reports, and what rounding can have done to it.
fn sum<M: Cdf + ?Sized>(
    channel: &FiniteChannel,
    model: &M,
    theta: f64,
    masses: &mut [f64],
    slopes: &mut [f64],
    sizes: &mut [f64],
) -> (f64, f64) {
    channel.partition().masses(model, theta, masses);
    channel.partition().masses_dtheta(model, theta, slopes);
    channel.partition().masses_dtheta(&Sizes(model), theta, sizes);
    for (size, slope) in sizes.iter_mut().zip(&*slopes) {
        // A density e^{-t} computed from a t with a relative error has t times that error, and t is about the logarithm.
        *size = unit(16.0 + 2.0 * size.max(f64::MIN_POSITIVE).ln().abs()) * (*size + slope.abs());
    }
    let mut total = Total::default();
    match channel.kernel() {
        Kernel::Response { lie, .. } => {
            let (truth, lie) = (channel.weight(0, 0), *lie);
            let (contrast, floor) = ((truth - lie) as f64 / two_64(), lie as f64 / two_64());
            for ((mass, slope), size) in masses.iter().zip(&*slopes).zip(&*sizes) {
                let m = floor + contrast * mass;
                total.add(m, unit(4.0) * (m + contrast), contrast * slope, contrast * size);
            }
        }
        Kernel::Dense(_) => {
            // The heaviest cell as the reference: what is left to add is least.
            let heavy = |best: usize, cell: usize| if masses[cell] > masses[best] { cell } else { best };
            let reference = (0..masses.len()).fold(0, heavy) as u32;
            let terms = masses.len() as f64;
            for report in 0..ldp_core::Finite::reports(channel) {
                let base = channel.weight(reference, report);
                let (mut m, mut all, mut d, mut size) = (0.0, 0.0, 0.0, 0.0);
                for (cell, ((mass, slope), rounding)) in (0u32..).zip(masses.iter().zip(&*slopes).zip(&*sizes)) {
                    let weight = channel.weight(cell, report);
                    let distance = weight.abs_diff(base) as f64;
                    m += weight as f64 * mass;
                    all += weight as f64;
                    d += if weight < base { -distance * slope } else { distance * slope };
                    size += distance * (rounding + unit(terms) * slope.abs());
                }
                let m_error = unit(4.0 + terms) * m + unit(4.0) * all;
                total.add(m / two_64(), m_error / two_64(), d / two_64(), size / two_64());
            }
        }
    }
    (total.value, total.error + unit(4.0 + f64::from(total.terms)) * total.value)
}

/// So many roundings.
fn unit(count: f64) -> f64 {
    count * f64::EPSILON
}

#[derive(Default)]
struct Total {
    value: f64,
    error: f64,
    terms: u32,
}

impl Total {
    /// Adds d²/m, both known up to their errors.
    #[inline]
    fn add(&mut self, m: f64, m_error: f64, d: f64, d_error: f64) {
        if m > 0.0 {
            let score = d / m;
            self.value += d * score;
            self.error += (2.0 * score.abs() + d_error / m) * d_error + score * score * m_error;
            self.terms += 1;
        }
    }
}
