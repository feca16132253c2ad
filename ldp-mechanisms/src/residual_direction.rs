//! The direction in which a vector lies from a centre.

use crate::PrivUnitG;
use crate::sphere::coordinates;
use ldp_core::error::require;
use ldp_core::{Density, Epsilon, Error, Mechanism, Result, UnbiasedVector};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// [`PrivUnitG`] on the direction of the residual from a published centre c: $(x - c)/\lVert x - c\rVert$.
///
/// - ε: that of the mechanism for unit vectors. Sampling: idealised, as there.
/// - Report size: 64 d bits. At the centre itself the direction is the first axis.
/// - A coordinate that is missing or not a number counts as zero.
///
/// The report is an unbiased estimate of the direction. Under $N(\theta, \sigma^2 I_d)$ its mean is
/// $\psi_d(\lVert\delta\rVert)\delta/\lVert\delta\rVert$ with $\delta = (\theta - c)/\sigma$: its length increases
/// with the distance and can be inverted.
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::{PrivUnitG, ResidualDirection};
/// let unit = PrivUnitG::new(Epsilon::new(1.0)?, 2)?;
/// let question = ResidualDirection::new(vec![10.0, -5.0], unit.clone())?;
/// let rng = || stream(1, Purpose::Noise, 0, 0);
/// assert_eq!(question.privatize(&[13.0, -1.0], &mut rng()), unit.privatize(&[3.0, 4.0], &mut rng()));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct ResidualDirection {
    centre: Vec<f64>,
    unit: PrivUnitG,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    centre: Vec<f64>,
    unit: PrivUnitG,
}

impl TryFrom<Raw> for ResidualDirection {
    type Error = Error;
    fn try_from(Raw { centre, unit }: Raw) -> Result<Self> {
        Self::new(centre, unit)
    }
}

impl ResidualDirection {
    /// The direction from `centre`, which has as many finite coordinates as the mechanism has.
    pub fn new(centre: Vec<f64>, unit: PrivUnitG) -> Result<Self> {
        let (expected, found) = (unit.dimension(), centre.len());
        if expected != found {
            return Err(Error::Length { what: "coordinates of the centre", expected, found });
        }
        centre.iter().try_for_each(|&c| require(c.is_finite(), "a coordinate of the centre", "finite", c))?;
        Ok(Self { centre, unit })
    }

    /// Where the direction is seen from.
    #[must_use]
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The mechanism that the direction goes through.
    #[must_use]
    pub fn unit(&self) -> &PrivUnitG {
        &self.unit
    }

    fn residual(&self, input: &[f64]) -> Vec<f64> {
        // Halves, because the difference of two numbers may be none; a direction has no length.
        coordinates(input, self.centre.len()).zip(&self.centre).map(|(x, c)| x / 2.0 - c / 2.0).collect()
    }
}

impl Mechanism for ResidualDirection {
    type Input = [f64];
    type Report = Vec<f64>;

    fn epsilon(&self) -> Epsilon {
        self.unit.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> Vec<f64> {
        self.unit.privatize(&self.residual(input), rng)
    }
}

impl Density for ResidualDirection {
    fn ln_density(&self, report: &Vec<f64>, input: &[f64]) -> f64 {
        self.unit.ln_density(report, &self.residual(input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::{check_draws, check_epsilon_density};
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn the_level_is_that_of_its_densities() {
        let claim = Epsilon::new(1.0).unwrap();
        let question = ResidualDirection::new(vec![1.0, -2.0], PrivUnitG::new(claim, 2).unwrap()).unwrap();
        let inputs: [&[f64]; 4] = [&[2.0, -2.0], &[-7.0, -2.0], &[1.0, 0.0], &[f64::NAN]];
        check_epsilon_density(&question, claim, inputs, &[vec![9.0, 0.0], vec![-3.0, 0.1]]).unwrap();
        check_draws(&question, inputs).unwrap();
    }

    #[test]
    fn any_input_has_a_residual() {
        let unit = PrivUnitG::new(Epsilon::new(1.0).unwrap(), 2).unwrap();
        let question = ResidualDirection::new(vec![1.0, -2.0], unit.clone()).unwrap();
        assert_eq!(question.epsilon().value(), unit.epsilon().value());
        let large = f64::MAX;
        for (input, residual) in [
            (vec![1.0, -2.0], [0.0, 0.0]),
            (vec![f64::NAN], [-1.0, 2.0]),
            (vec![4.0, 2.0, f64::NAN], [3.0, 4.0]),
            (vec![f64::INFINITY, 0.0], [1.0, 0.0]),
            (vec![large, -large], [1.0, -1.0]),
        ] {
            let rng = || stream(3, Purpose::Noise, 0, 0);
            let (found, expected) = (question.privatize(&input, &mut rng()), unit.privatize(&residual, &mut rng()));
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{input:?}");
            assert!((question.ln_density(&found, &input) - unit.ln_density(&found, &residual)).abs() < 1e-12);
        }
        // A centre at the end of the numbers.
        let far = ResidualDirection::new(vec![large, 0.0], unit).unwrap();
        let report = far.privatize(&[-large, 0.0], &mut stream(4, Purpose::Noise, 0, 0));
        assert!(report.iter().all(|z| z.is_finite()));
    }

    #[test]
    fn a_centre_is_finite_and_fits_and_json_is_checked() {
        let unit = PrivUnitG::new(Epsilon::new(1.0).unwrap(), 2).unwrap();
        let new = |centre: &[f64]| ResidualDirection::new(centre.to_vec(), unit.clone());
        assert!(matches!(new(&[1.0]), Err(Error::Length { expected: 2, found: 1, .. })));
        assert!(matches!(new(&[1.0, f64::NAN]), Err(Error::Parameter { .. })));
        assert!(matches!(new(&[1.0, f64::INFINITY]), Err(Error::Parameter { .. })));
        let json = serde_json::to_string(&new(&[1.0, -2.5]).unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<ResidualDirection>(&json).unwrap(), new(&[1.0, -2.5]).unwrap());
        let coin = format!(r#""probability":{}"#, unit.probability());
        for (from, to) in [
            ("1.0,-2.5", "1.0"),
            ("-2.5", "null"),
            ("-2.5]", r#"-2.5],"scale":1.0"#),
            (coin.as_str(), r#""probability":0.49"#),
            (coin.as_str(), r#""probability":1e-100"#),
        ] {
            assert!(json.contains(from), "{json}");
            assert!(serde_json::from_str::<ResidualDirection>(&json.replace(from, to)).is_err(), "{to}");
        }
    }
}
