//! The sign of one coordinate of a vector.

use crate::Sign;
use crate::sphere::or_zero;
use ldp_core::{Density, Epsilon, Mechanism, Numerics};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// [`Sign`] asked about one coordinate of a vector: report 1 means «$x_j \ge c$», kept with probability
/// $e^\varepsilon/(e^\varepsilon+1)$.
///
/// The question names its coordinate, the same for all who are asked: which one it is depends on nobody's value.
///
/// - ε: that of the sign question. Sampling: exact, one random word per report.
/// - Report size: 1 bit.
/// - A coordinate that is missing or not a number counts as zero.
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::{CoordinateSign, Sign};
/// let question = CoordinateSign::new(1, Sign::new(Epsilon::new(30.0)?, 0.5)?);
/// let mut rng = stream(1, Purpose::Noise, 0, 0);
/// assert_eq!(question.privatize(&[-9.0, 0.7, -9.0], &mut rng), 1);
/// assert_eq!(question.privatize(&[9.0, 0.3], &mut rng), 0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinateSign {
    coordinate: usize,
    sign: Sign,
}

impl CoordinateSign {
    /// The sign question about this coordinate, counted from zero.
    #[must_use]
    pub fn new(coordinate: usize, sign: Sign) -> Self {
        Self { coordinate, sign }
    }

    /// Which coordinate is asked about.
    #[must_use]
    pub fn coordinate(self) -> usize {
        self.coordinate
    }

    /// What is asked about it.
    #[must_use]
    pub fn sign(self) -> Sign {
        self.sign
    }

    fn value(self, input: &[f64]) -> f64 {
        input.get(self.coordinate).map_or(0.0, |&x| or_zero(x))
    }
}

impl Mechanism for CoordinateSign {
    type Input = [f64];
    type Report = u32;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        self.sign.epsilon()
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> u32 {
        self.sign.privatize(&self.value(input), rng)
    }
}

impl Density for CoordinateSign {
    fn ln_density(&self, report: &u32, input: &[f64]) -> f64 {
        self.sign.ln_density(report, &self.value(input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::{check_draws, check_epsilon_density};
    use ldp_simulate::seed::{Purpose, stream};

    #[test]
    fn the_level_is_that_of_its_densities() {
        for level in [1e-3, 1.0, 10.0] {
            let claim = Epsilon::new(level).unwrap();
            let question = CoordinateSign::new(1, Sign::new(claim, 0.5).unwrap());
            let inputs: [&[f64]; 3] = [&[9.0, 0.7], &[9.0, 0.3], &[f64::NAN]];
            check_epsilon_density(&question, claim, inputs, &[0, 1]).unwrap();
            check_draws(&question, inputs).unwrap();
        }
    }

    #[test]
    fn it_answers_as_the_sign_of_its_coordinate() {
        let sign = Sign::new(Epsilon::new(0.7).unwrap(), -0.3).unwrap();
        let inputs = [vec![0.1, -0.3, -2.0], vec![f64::NAN, f64::NAN], vec![], vec![f64::INFINITY, f64::NEG_INFINITY]];
        for coordinate in 0..4 {
            let question = CoordinateSign::new(coordinate, sign);
            assert_eq!(question.epsilon().value(), sign.epsilon().value());
            for input in &inputs {
                let x = match input.get(coordinate) {
                    Some(&x) if !x.is_nan() => x,
                    _ => 0.0,
                };
                for seed in 0..50 {
                    let rng = || stream(seed, Purpose::Noise, 0, 0);
                    assert_eq!(question.privatize(input, &mut rng()), sign.privatize(&x, &mut rng()));
                }
                for report in 0..3 {
                    assert_eq!(question.ln_density(&report, input), sign.ln_density(&report, &x));
                }
            }
        }
    }

    #[test]
    fn tampered_json_is_refused() {
        let question = CoordinateSign::new(2, Sign::new(Epsilon::new(1.0).unwrap(), 0.5).unwrap());
        let json = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<CoordinateSign>(&json).unwrap(), question);
        for (from, to) in [(":2", ":-2"), (":2", r#":2,"all":true"#), ("0.5", "null")] {
            assert!(json.contains(from), "{json}");
            assert!(serde_json::from_str::<CoordinateSign>(&json.replace(from, to)).is_err(), "{to}");
        }
    }
}
