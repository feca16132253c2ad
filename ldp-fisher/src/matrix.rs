//! Several parameters at once: the information is a matrix.

use ldp_core::channel::two_64;
use ldp_core::model::{Cdf, ManyParameters};
use ldp_core::{AsChannel, Error, Finite, Result};
use serde::Serialize;
use std::cell::RefCell;

/// A share of a diagonal entry below which what is left of it is rounding.
const SINGULAR: f64 = 1e-12;

/// The Fisher information about several parameters in one report: a symmetric matrix, none of whose quadratic forms is
/// negative.
///
/// ```
/// use ldp_core::{Epsilon, model::GaussianMeanScale};
/// use ldp_fisher::matrix;
/// use ldp_mechanisms::IntervalResponse;
/// // Mean 0 and standard deviation 2, three intervals.
/// let response = IntervalResponse::new(Epsilon::new(2.0)?, vec![-1.0, 1.5])?;
/// let information = matrix(&response, &GaussianMeanScale, &[0.0, 2.0])?;
/// // Not to know the standard deviation costs something, because the intervals are not symmetric.
/// assert!(information.efficient(0) < information.get(0, 0));
/// assert_eq!(information.get(0, 1), information.get(1, 0));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InformationMatrix {
    size: usize,
    /// Row by row.
    entries: Vec<f64>,
}

impl InformationMatrix {
    /// The number of parameters.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The entry of parameters i and j, $E[\partial_i \ln m(Z) \partial_j \ln m(Z)]$.
    ///
    /// # Panics
    /// If there is no such parameter.
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.size && j < self.size, "parameters {i} and {j} of {}", self.size);
        self.entries[i * self.size + j]
    }

    /// The sum of the diagonal, to which bounds for many parameters apply.
    #[must_use]
    pub fn trace(&self) -> f64 {
        (0..self.size).map(|i| self.get(i, i)).sum()
    }

    /// The information about parameter i when the others are not known either.
    ///
    /// $$\frac{1}{(I^{-1})_{ii}} = I_{ii} - I_{iN} I_{NN}^{-1} I_{Ni} = \min_a (e_i - a)^\top I (e_i - a),$$
    ///
    /// the minimum being over the a that are zero at i. So it is also defined where the matrix has no inverse, and zero
    /// where the reports cannot tell parameter i from the others.
    ///
    /// # Panics
    /// If there is no such parameter.
    #[must_use]
    pub fn efficient(&self, i: usize) -> f64 {
        let whole = self.get(i, i);
        let mut left = self.entries.clone();
        let mut others: Vec<usize> = (0..self.size).filter(|k| *k != i).collect();
        // The largest pivot first; what is then below rounding was a combination of those before.
        while let Some(place) = (0..others.len()).max_by(|a, b| {
            let diagonal = |k: usize| left[others[k] * self.size + others[k]];
            diagonal(*a).total_cmp(&diagonal(*b))
        }) {
            let k = others.swap_remove(place);
            let pivot = left[k * self.size + k];
            if !(pivot > SINGULAR * self.get(k, k)) {
                continue;
            }
            for &row in others.iter().chain([&i]) {
                let factor = left[row * self.size + k] / pivot;
                for &column in others.iter().chain([&i]) {
                    left[row * self.size + column] -= factor * left[k * self.size + column];
                }
            }
        }
        let found = left[i * self.size + i];
        if found > SINGULAR * whole { found } else { 0.0 }
    }
}

/// The information about all parameters of a family in a report about cells of the line.
///
/// $$I_{ij} = \sum_z \frac{\partial_i m_z \partial_j m_z}{m_z}$$
///
/// as [`exact`](crate::exact) has it for one parameter, with differences of integer weights too.
///
/// # Errors
/// Those of [`ManyParameters::check_all`], and [`Error::Integral`] if an entry is not finite.
///
/// ```
/// use ldp_core::{Epsilon, model::Categorical};
/// use ldp_fisher::matrix;
/// use ldp_mechanisms::RandomizedResponse;
/// let (epsilon, model) = (Epsilon::new(1.0)?, Categorical::new(3)?);
/// let information = matrix(&RandomizedResponse::new(epsilon, 3)?, &model, &[0.5, 0.3])?;
/// assert_eq!(information.size(), 2);
/// assert!(information.get(0, 1) > 0.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn matrix<C, M>(channel: &C, model: &M, theta: &[f64]) -> Result<InformationMatrix>
where
    C: AsChannel + ?Sized,
    M: ManyParameters + ?Sized,
{
    model.check_all(theta)?;
    let (channel, size) = (channel.as_channel(), model.parameters());
    let (cells, reports) = (channel.cells() as usize, channel.reports());
    let mut masses = vec![0.0; cells];
    let scratch = RefCell::new(vec![0.0; size]);
    let along = |parameter| Along { model, theta, parameter, scratch: &scratch };
    channel.partition().masses(&along(0), 0.0, &mut masses);
    let mut slopes = vec![vec![0.0; cells]; size];
    for (parameter, slopes) in slopes.iter_mut().enumerate() {
        channel.partition().masses_dtheta(&along(parameter), 0.0, slopes);
    }
    let mut entries = vec![0.0; size * size];
    let mut gradient = vec![0.0; size];
    for report in 0..reports {
        let base = channel.weight(0, report);
        gradient.fill(0.0);
        let mut m = 0.0;
        for (cell, mass) in masses.iter().enumerate() {
            let weight = channel.weight(cell as u32, report);
            m += weight as f64 / two_64() * mass;
            let distance = weight.abs_diff(base) as f64 / two_64();
            let difference = if weight < base { -distance } else { distance };
            if difference != 0.0 {
                gradient.iter_mut().zip(&slopes).for_each(|(sum, slopes)| *sum += difference * slopes[cell]);
            }
        }
        if m > 0.0 {
            for i in 0..size {
                for j in 0..size {
                    // The product first: it is the same for (i, j) and (j, i).
                    entries[i * size + j] += gradient[i] * gradient[j] / m;
                }
            }
        }
    }
    match entries.iter().find(|entry| !entry.is_finite()) {
        Some(&value) => Err(Error::Integral { what: "the Fisher information", value, error: f64::INFINITY }),
        None => Ok(InformationMatrix { size, entries }),
    }
}

/// A family as one of a single parameter, the others being fixed.
struct Along<'a, M: ?Sized> {
    model: &'a M,
    theta: &'a [f64],
    parameter: usize,
    scratch: &'a RefCell<Vec<f64>>,
}

impl<M: ManyParameters + ?Sized> Cdf for Along<'_, M> {
    fn cdf(&self, _theta: f64, x: f64) -> f64 {
        self.model.cdf_all(self.theta, x)
    }

    fn mass(&self, _theta: f64, low: f64, high: f64) -> f64 {
        self.model.mass_all(self.theta, low, high)
    }

    fn cdf_dtheta(&self, _theta: f64, x: f64) -> f64 {
        let mut gradient = self.scratch.borrow_mut();
        self.model.cdf_gradient(self.theta, x, &mut gradient);
        gradient[self.parameter]
    }
}
