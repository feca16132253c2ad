//! Unit vectors through a random projection and PrivUnitG in few dimensions.

use crate::PrivUnitG;
use crate::sphere::{add_scaled, check_dimension, dot, gamma_ratio, gaussian, normalise, polar};
use ldp_core::{Epsilon, Error, Mechanism, Result, UnbiasedVector};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The most numbers in a projection: half a gigabyte.
const MOST_ENTRIES: u64 = 1 << 26;

/// ProjUnit: [`PrivUnitG`] on the direction of a random projection to k dimensions.
///
/// $$Z = \frac{1}{\kappa} R^\top W,\qquad W = \mathrm{PrivUnitG}_k\Bigl(\frac{Rx}{\lVert Rx\rVert}\Bigr),\qquad
///   \kappa = \sqrt{\frac dk} \cdot
///   \frac{\Gamma(\frac{k+1}{2})\Gamma(\frac d2)}{\Gamma(\frac k2)\Gamma(\frac{d+1}{2})}$$
///
/// R is $\sqrt{d/k}$ times k uniformly random orthonormal rows, drawn anew for every user from noise alone. The mean of
/// $R^\top W$ is exactly κx, so that the report is an unbiased estimate of the unit vector x.
///
/// - ε: that of PrivUnitG in k dimensions. R does not depend on x.
/// - Report size: 64 d bits as sent here; W and a seed of R, 64 k bits and the seed, say the same.
/// - Variance: $E\lVert Z - x\rVert^2 = \frac dk s^2(k - 1 + E a^2)/\kappa^2 - 1$, at every input.
/// - Sampling: idealised, in floating point, $O(k^2 d)$ operations. The number of words may say more than the report, as
///   in [`PrivUnitG`].
///
/// It has no density: the report lies in the row space of R, which it carries along. See [AFNNT23].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, UnbiasedVector};
/// use ldp_mechanisms::{PrivUnitG, ProjUnit};
/// let epsilon = Epsilon::new(4.0)?;
/// let (full, few) = (PrivUnitG::new(epsilon, 1000)?, ProjUnit::new(epsilon, 1000, 50)?);
/// assert_eq!(few.epsilon(), full.epsilon());
/// // Fifty numbers in place of a thousand cost little accuracy.
/// let loss = few.total_variance(&[]) / full.total_variance(&[]);
/// assert!(loss > 1.0 && loss < 1.2);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [AFNNT23]: https://arxiv.org/abs/2306.04444
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct ProjUnit {
    dimension: usize,
    inner: PrivUnitG,
    // κ of orthonormal rows, without the factor √(d/k): the mean length of what is left of a unit vector.
    shrinkage: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dimension: usize,
    inner: PrivUnitG,
}

impl TryFrom<Raw> for ProjUnit {
    type Error = Error;
    fn try_from(Raw { dimension, inner }: Raw) -> Result<Self> {
        check_dimension(dimension)?;
        let projection = inner.dimension();
        if projection > dimension {
            return Err(Error::TooMany { name: "projection", most: dimension as u64, value: projection as u64 });
        }
        let entries = dimension as u64 * projection as u64;
        if entries > MOST_ENTRIES {
            return Err(Error::TooMany { name: "dimension times projection", most: MOST_ENTRIES, value: entries });
        }
        let shrinkage = gamma_ratio(projection as f64 / 2.0) / gamma_ratio(dimension as f64 / 2.0);
        Ok(Self { dimension, inner, shrinkage })
    }
}

impl From<ProjUnit> for Raw {
    fn from(ProjUnit { dimension, inner, .. }: ProjUnit) -> Self {
        Self { dimension, inner }
    }
}

impl ProjUnit {
    /// Unit vectors with `dimension` coordinates through a projection to `projection` of them, 1 ≤ k ≤ d.
    pub fn new(epsilon: Epsilon, dimension: usize, projection: usize) -> Result<Self> {
        check_dimension(dimension)?;
        if projection == 0 {
            return Err(Error::TooFew { name: "projection", least: 1, value: 0 });
        }
        if projection > dimension {
            return Err(Error::TooMany { name: "projection", most: dimension as u64, value: projection as u64 });
        }
        Raw { dimension, inner: PrivUnitG::new(epsilon, projection)? }.try_into()
    }

    /// k, to how many dimensions vectors are projected.
    #[must_use]
    pub fn projection(&self) -> usize {
        self.inner.dimension()
    }

    /// The mechanism in k dimensions.
    #[must_use]
    pub fn inner(&self) -> &PrivUnitG {
        &self.inner
    }

    /// κ, by which the report is divided.
    #[must_use]
    pub fn kappa(&self) -> f64 {
        (self.dimension as f64 / self.projection() as f64).sqrt() * self.shrinkage
    }

    /// k uniformly random orthonormal rows: Gaussian vectors, orthogonalised in turn.
    fn rows<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(self.projection());
        while rows.len() < self.projection() {
            let mut row = gaussian(self.dimension, rng);
            let before = normalise(&mut row);
            // A second pass takes away what rounding left of the first.
            let mut left = 1.0;
            for _ in 0..2 {
                for other in &rows {
                    let along = dot(&row, other);
                    add_scaled(&mut row, -along, other);
                }
                left *= normalise(&mut row);
            }
            // A row in the span of the others, which never happens, is drawn again: that depends on noise alone.
            if before > 0.0 && left > f64::EPSILON {
                rows.push(row);
            }
        }
        rows
    }
}

impl Mechanism for ProjUnit {
    type Input = [f64];
    type Report = Vec<f64>;

    fn epsilon(&self) -> Epsilon {
        self.inner.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> Vec<f64> {
        let (_, x) = polar(input, self.dimension);
        let rows = self.rows(rng);
        let projected: Vec<f64> = rows.iter().map(|row| dot(row, &x)).collect();
        let answer = self.inner.privatize(&projected, rng);
        let mut report = vec![0.0; self.dimension];
        for (row, z) in rows.iter().zip(answer) {
            // The factors √(d/k) of R and of κ cancel.
            add_scaled(&mut report, z / self.shrinkage, row);
        }
        report
    }
}

impl UnbiasedVector for ProjUnit {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn total_variance(&self, input: &[f64]) -> f64 {
        (self.inner.total_variance(input) + 1.0) / self.shrinkage.powi(2) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn rows_are_orthonormal() {
        let mut rng = stream(1, Purpose::Noise, 0, 0);
        for (dimension, projection) in [(1, 1), (5, 5), (50, 50), (200, 7)] {
            let rows = ProjUnit::new(Epsilon::new(1.0).unwrap(), dimension, projection).unwrap().rows(&mut rng);
            assert_eq!(rows.len(), projection);
            for (i, a) in rows.iter().enumerate() {
                for (j, b) in rows.iter().enumerate() {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((dot(a, b) - expected).abs() < 1e-14, "{dimension}, {projection}: rows {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn all_dimensions_lose_nothing() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let (full, all) = (PrivUnitG::new(epsilon, 9).unwrap(), ProjUnit::new(epsilon, 9, 9).unwrap());
        assert_eq!(all.kappa(), 1.0);
        assert!((full.total_variance(&[]) / all.total_variance(&[]) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn tampered_json_is_refused() {
        let good = r#"{"dimension":3,"inner":{"dimension":2,"probability":0.6,"threshold":0.5}}"#;
        assert!(serde_json::from_str::<ProjUnit>(good).is_ok());
        for (from, to) in [
            (r#"{"dimension":3"#, r#"{"dimension":1"#),
            (r#"{"dimension":3"#, r#"{"dimension":16777217"#),
            ("0.6", "1.6"),
            (r#"0.6,"threshold":0.5"#, r#"0.4,"threshold":0.7"#),
            (r#"0.6,"threshold":0.5"#, r#"1e-100,"threshold":21.3"#),
            (r#""dimension":2"#, r#""dimension":0"#),
            (r#"0.5}"#, r#"0.5},"kappa":1.0"#),
        ] {
            assert!(good.contains(from));
            assert!(serde_json::from_str::<ProjUnit>(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
