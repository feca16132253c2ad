//! Vectors in stages: by coordinate, or by the direction of the residual.

use crate::vector_mean::{check_coordinates, only};
use crate::vector_sign::{finished, round};
use crate::{VectorEstimate, VectorRemark, VectorSign, VectorState, coordinate_variance, psi};
use ldp_core::{
    Averages, Bits, Epsilon, Error, Group, Mixed, Result, Round, StagedEstimator, Step, StepOf, Tally, VectorSum,
};
use ldp_mechanisms::{CoordinateSign, PrivUnitG, ResidualDirection};
use serde::{Deserialize, Serialize};

/// How the second stage of a [`VectorGaussian`] asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The one with the smaller limit at this level and dimension.
    #[default]
    Auto,
    /// Everybody about one coordinate.
    Coordinate,
    /// Everybody for the direction of the residual.
    Direction,
}

/// The mean of $N(\theta, \sigma^2 I_d)$ in two stages, by coordinate or by direction.
///
/// The first stage is that of [`VectorSign`] and gives θ̃; without it the start is θ̃. In the second, either every user
/// is asked about one coordinate, as there, or all for the direction of the residual: with $\bar Z$ the mean of the
/// reports, each [`PrivUnitG`] of $(x - \tilde\theta)/\lVert x - \tilde\theta\rVert$,
///
/// $$\hat\theta = \tilde\theta + \sigma\psi_d^{-1}(\lVert\bar Z\rVert)\frac{\bar Z}{\lVert\bar Z\rVert}\quad
///   \text{if}\ \lVert\bar Z\rVert < 1,\ \text{else}\ \tilde\theta,$$
///
/// with $\psi_d$ the mean length of [`psi`].
///
/// - n·MSE → σ² times [`coordinate_variance`] or [`direction_variance`], when $n_1 \to \infty$ and $n_1/n \to 0$; MSE
///   is that of all coordinates together. Per d² at ε = 1: by coordinate 7.356, by direction 8.696 for d = 2, 7.212
///   for d = 5, 6.372 for d = 100.
/// - Rounds: 2, or 1 without a first stage. Questions: [`CoordinateSign`] and [`ResidualDirection`].
/// - Sampling: idealised, because the direction is. Where every bit counts, [`VectorSign`] is the coordinate method
///   alone, and exact.
///
/// Standard errors by direction are those of the mean report through the slope of the inversion; correlations between
/// coordinates of a report, zero when θ̃ = θ, are left out.
///
/// ```
/// use ldp_simulate::Vectors;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, run};
/// use ldp_estimators::{Method, VectorGaussian};
/// let theta = [0.5, -0.25, 0.0, 0.25, -0.5];
/// let estimator = VectorGaussian::new(Epsilon::new(1.0)?, 5, 1.0, &[0.0], 0, Method::Auto)?;
/// assert_eq!(estimator.method(), Method::Direction);
/// let (model, users) = (Gaussian::new(1.0)?, 20_000);
/// let estimate = run(&estimator, users, &mut Vectors::new(&model, &theta, users, 5)?)?;
/// for (j, mean) in theta.into_iter().enumerate() {
///     assert!((estimate.values()[j] - mean).abs() < 5.0 * estimate.standard_errors()[j].unwrap());
/// }
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorGaussian {
    coordinates: VectorSign,
    /// The mechanism of the second stage, if it goes by direction.
    direction: Option<PrivUnitG>,
}

/// The limit of n·MSE by the direction of the residual, σ = 1: $s^2(d - 1 + E a^2)/\kappa_d^2$, with s and a those of
/// [`PrivUnitG`] and $\kappa_d$ the slope of $\psi_d$ at zero.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_estimators::direction_variance;
/// for (dimension, expected) in [(2, 8.696), (5, 7.212), (20, 6.541), (100, 6.372)] {
///     let limit = direction_variance(Epsilon::new(1.0)?, dimension)? / (dimension * dimension) as f64;
///     assert!((limit - expected).abs() < 5e-4, "{dimension}: {limit}");
/// }
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn direction_variance(epsilon: Epsilon, dimension: usize) -> Result<f64> {
    let unit = PrivUnitG::new(epsilon, dimension)?;
    let report = unit.scale().powi(2) * (dimension as f64 - 1.0 + unit.second_moment());
    Ok(report / psi::slope_at_zero(dimension).powi(2))
}

impl VectorGaussian {
    /// At level ε for `dimension` coordinates with standard deviation `sigma`, from `start`: a number for every
    /// coordinate, or one for all. The first stage has `first_stage` users, none or at least one per coordinate.
    pub fn new(
        epsilon: Epsilon,
        dimension: usize,
        sigma: f64,
        start: &[f64],
        first_stage: u64,
        method: Method,
    ) -> Result<Self> {
        let coordinates = VectorSign::new(epsilon, dimension, sigma, start, first_stage)?;
        let by_direction = match method {
            Method::Auto => direction_variance(epsilon, dimension)? < coordinate_variance(epsilon, dimension),
            Method::Coordinate => false,
            Method::Direction => true,
        };
        let direction = by_direction.then(|| PrivUnitG::new(epsilon, dimension)).transpose()?;
        Ok(Self { coordinates, direction })
    }

    /// How the second stage asks: never [`Method::Auto`], which has been decided.
    #[must_use]
    pub fn method(&self) -> Method {
        if self.direction.is_some() { Method::Direction } else { Method::Coordinate }
    }

    /// The number of coordinates.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.coordinates.dimension()
    }

    /// The second stage by direction, after the counts `first` of the first.
    fn second(&self, unit: &PrivUnitG, users: u64, first: &[Bits]) -> Result<Round<Question>> {
        let (second_stage, _) = self.coordinates.opening(users, 1)?;
        let centre = self.coordinates.pilot(first)?.iter().map(|place| place.value).collect();
        Ok(Round::one(Mixed::Second(ResidualDirection::new(centre, unit.clone())?), second_stage))
    }

    /// The end by direction.
    fn finish(&self, users: u64, first: &[Bits], answers: &VectorSum) -> Result<VectorEstimate> {
        let (asked, _) = self.coordinates.opening(users, 1)?;
        let answered = answers.users();
        if answered > asked {
            return Err(Error::TooManyAnswers { asked, answered });
        }
        check_coordinates(answers, self.dimension())?;
        let mut places = self.coordinates.pilot(first)?;
        let Some(mean) = answers.mean() else {
            return finished(&places, Some(VectorRemark::NobodyAnswered));
        };
        let sigma = self.coordinates.sigma();
        let Some(inversion) = Inversion::of(&mean) else {
            return finished(&places, Some(VectorRemark::Boundary));
        };
        let variances: Option<Vec<f64>> =
            answers.coordinates().iter().map(|sum| sum.standard_error().map(|error| error * error)).collect();
        let errors = variances.map(|variances| inversion.errors(&variances));
        for (j, place) in places.iter_mut().enumerate() {
            place.value += sigma * inversion.across * mean[j];
            place.error = errors.as_ref().map(|errors| sigma * errors[j]);
        }
        finished(&places, None)
    }
}

/// How a mean report is turned into a residual: multiplied by `across`, with slope `along` in its own direction.
struct Inversion {
    direction: Vec<f64>,
    across: f64,
    along: f64,
}

impl Inversion {
    /// Unless the mean report is longer than that of any mean.
    fn of(mean: &[f64]) -> Option<Self> {
        let dimension = mean.len();
        let length = mean.iter().map(|z| z * z).sum::<f64>().sqrt();
        let distance = psi::distance(dimension, length)?;
        if !(length > 0.0) {
            let factor = psi::slope_at_zero(dimension).recip();
            return Some(Self { direction: vec![0.0; dimension], across: factor, along: factor });
        }
        let direction = mean.iter().map(|z| z / length).collect();
        Some(Self { direction, across: distance / length, along: psi::with_slope(dimension, distance).1.recip() })
    }

    /// The standard errors of the residual from the variances of the coordinates of the mean report, taken as
    /// uncorrelated: its Jacobian is $\alpha I + \beta u u^\top$, with α across and α + β along u.
    fn errors(&self, variances: &[f64]) -> Vec<f64> {
        let (alpha, beta) = (self.across, self.along - self.across);
        let mixed: f64 = self.direction.iter().zip(variances).map(|(u, v)| u * u * v).sum();
        let variance = |(u, v): (&f64, &f64)| {
            let square = u * u;
            alpha * (alpha + 2.0 * beta * square) * v + beta * beta * square * mixed
        };
        self.direction.iter().zip(variances).map(|pair| variance(pair).max(0.0).sqrt()).collect()
    }
}

type Question = Mixed<CoordinateSign, ResidualDirection>;

/// Groups of the coordinate method as groups of the joint question.
fn joint(groups: Vec<Group<CoordinateSign>>) -> Round<Question> {
    let joint = |Group { question, users }| Group { question: Mixed::First(question), users };
    round(groups.into_iter().map(joint).collect())
}

/// Tallies of the coordinate method.
fn bits(answers: &[Mixed<Bits, VectorSum>]) -> Result<Vec<Bits>> {
    answers.iter().map(|answer| answer.first().copied()).collect()
}

impl StagedEstimator for VectorGaussian {
    type Question = Question;
    type Tally = Mixed<Bits, VectorSum>;
    type State = VectorState;
    type Estimate = VectorEstimate;

    fn tally(&self, question: &Question) -> Self::Tally {
        match question {
            Mixed::First(_) => Mixed::First(Bits::default()),
            Mixed::Second(question) => Mixed::Second(VectorSum::new(question.centre().len())),
        }
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let Some(unit) = &self.direction else {
            return joined(self.coordinates.begin(users)?);
        };
        Ok(match self.coordinates.opening(users, 1)? {
            (_, Some(groups)) => Step::Ask { round: joint(groups), state: VectorState::First { users } },
            (_, None) => {
                let state = VectorState::Second { users, first: Vec::new() };
                Step::Ask { round: self.second(unit, users, &[])?, state }
            }
        })
    }

    fn advance(&self, state: VectorState, answers: &[Self::Tally]) -> Result<StepOf<Self>> {
        let Some(unit) = &self.direction else {
            return joined(self.coordinates.advance(state, &bits(answers)?)?);
        };
        Ok(match state {
            VectorState::First { users } => {
                let first = bits(answers)?;
                let round = self.second(unit, users, &first)?;
                Step::Ask { round, state: VectorState::Second { users, first } }
            }
            VectorState::Second { users, first } => Step::Done(self.finish(users, &first, only(answers)?.second()?)?),
        })
    }
}

/// A step of the coordinate method as one of the joint question.
fn joined(step: StepOf<VectorSign>) -> Result<StepOf<VectorGaussian>> {
    Ok(match step {
        Step::Ask { round, state } => Step::Ask { round: round.try_map(|question| Ok(Mixed::First(question)))?, state },
        Step::Done(estimate) => Step::Done(estimate),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jacobian_is_the_derivative_of_the_inversion() {
        let residual = |mean: &[f64]| {
            let across = Inversion::of(mean).unwrap().across;
            mean.iter().map(|z| across * z).collect::<Vec<f64>>()
        };
        for mean in [vec![0.1, -0.3, 0.2], vec![0.5, 0.6], vec![1e-9, 0.0, 0.0, 0.0]] {
            let inversion = Inversion::of(&mean).unwrap();
            let variances: Vec<f64> = (1..=mean.len()).map(|k| k as f64).collect();
            let errors = inversion.errors(&variances);
            for (j, error) in errors.into_iter().enumerate() {
                let mut expected = 0.0;
                for (k, variance) in variances.iter().enumerate() {
                    let (mut up, mut down) = (mean.clone(), mean.clone());
                    up[k] += 1e-6;
                    down[k] -= 1e-6;
                    expected += ((residual(&up)[j] - residual(&down)[j]) / 2e-6).powi(2) * variance;
                }
                assert!((error / expected.sqrt() - 1.0).abs() < 1e-6, "{mean:?}: {error} for {}", expected.sqrt());
            }
        }
        let still = Inversion::of(&[0.0, 0.0]).unwrap();
        assert!((still.errors(&[4.0, 1.0])[0] - 2.0 / psi::slope_at_zero(2)).abs() < 1e-14);
        assert!(Inversion::of(&[0.6, 0.8]).is_none() && Inversion::of(&[3.0]).is_none());
    }
}
