//! Moments of clipped values through Laplace noise.

use crate::clipped_mean::decoded;
use crate::one_stage::one;
use crate::{MeanEstimate, Remark};
use ldp_core::error::require;
use ldp_core::special::normal;
use ldp_core::{
    Averages, Either, Epsilon, Error, Group, Inference, Interval, IntervalKind, Result, Round, StagedEstimator, Step,
    StepOf, Sum, Tally, Unbiased,
};
use ldp_mechanisms::{Laplace, Range, Squared};
use serde::{Deserialize, Serialize};

/// The mean of $N(\theta, \sigma^2)$ from values clipped to ±t, with θ known to lie in a range and σ known.
///
/// $$y = \mathrm{clip}(x, \pm t) + \frac{2t}{\varepsilon}\mathrm{Lap}(1),\qquad
///   t = \sigma\sqrt{2\ln n} + \max|range|,$$
///
/// and $\hat\theta$ solves $m(\hat\theta) = \bar y$, where, with $\Psi(z) = z\Phi(z) + \varphi(z)$,
///
/// $$m(\theta) = E\mathrm{clip}(X, \pm t) = -t + \sigma\Bigl[\Psi\Bigl(\frac{\theta + t}{\sigma}\Bigr) -
///   \Psi\Bigl(\frac{\theta - t}{\sigma}\Bigr)\Bigr].$$
///
/// Inverting m and not the identity takes the bias of clipping away. A mean report beyond what the range explains gives
/// the end of the range.
///
/// - n·MSE ≈ $(\mathrm{Var}\mathrm{clip}(X) + 8t^2/\varepsilon^2)/m^{\prime}(\theta)^2$. It grows with the logarithm
///   of n: consistent, and not efficient. The noise is proportional to t, so move the origin into the range.
/// - Rounds: 1. Questions: [`Laplace`] on $[-t, t]$.
///
/// Theorem 4.3 of [S24].
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::ClippedMoments;
/// use ldp_mechanisms::Range;
/// let estimator = ClippedMoments::new(Epsilon::new(1.0)?, 3.0, Range::new(-2.0, 4.0)?)?;
/// let (model, users) = (Gaussian::new(3.0)?, 50_000);
/// let estimate = run(&estimator, users, &mut Users::new(&model, 1.5, users, 7)?)?;
/// assert!((estimate.value() - 1.5).abs() < 5.0 * estimate.standard_error().unwrap());
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [S24]: https://arxiv.org/abs/2301.10600
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippedMoments {
    epsilon: Epsilon,
    sigma: f64,
    range: Range,
}

/// What the protocols of clipped moments remember: the clipping point follows from the number of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MomentsState {
    /// All users of the protocol.
    pub users: u64,
}

impl ClippedMoments {
    /// At level ε, for values with standard deviation `sigma` and a mean in `range`.
    pub fn new(epsilon: Epsilon, sigma: f64, range: Range) -> Result<Self> {
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)?;
        let estimator = Self { epsilon, sigma, range };
        // Whatever the number of users, the clipping point is a number.
        estimator.question(u64::MAX).map(|_| estimator)
    }

    fn question(&self, users: u64) -> Result<Laplace> {
        let end = clipping_point(self.sigma, self.range, users);
        Laplace::new(self.epsilon, Range::new(-end, end)?)
    }

    fn estimate(&self, users: u64, answers: &Sum) -> Result<MeanEstimate> {
        check_answers(users, answers.users())?;
        let (low, high) = (self.range.low(), self.range.high());
        let question = self.question(users)?;
        let end = question.range().1;
        let Some(mean) = answers.mean().map(|mean| question.decode(mean)) else {
            return MeanEstimate::new(low / 2.0 + high / 2.0, None, Some(Remark::NobodyAnswered));
        };
        let Some(value) = invert(mean, self.sigma, end, low, high) else {
            let value = if mean < clipped_mean(low, self.sigma, end).0 { low } else { high };
            return MeanEstimate::new(value, None, Some(Remark::Boundary));
        };
        let slope = clipped_mean(value, self.sigma, end).1;
        let error = decoded(&question, answers)?.standard_error().map(|error| error / slope);
        MeanEstimate::new(value, error.filter(|error| error.is_finite()), None)
    }
}

/// t. A single user is counted as two: √(2 ln 1) would clip at the end of the range itself.
fn clipping_point(sigma: f64, range: Range, users: u64) -> f64 {
    sigma * (2.0 * (users.max(2) as f64).ln()).sqrt() + range.low().abs().max(range.high().abs())
}

fn check_answers(asked: u64, answered: u64) -> Result<()> {
    if answered > asked { Err(Error::TooManyAnswers { asked, answered }) } else { Ok(()) }
}

/// m(θ) and its derivative, the probability of not being clipped.
///
/// Written by $\Psi(z) = z + \Psi(-z)$: what is added to θ is only what lies beyond the two ends, so that nothing of
/// the size of t cancels.
fn clipped_mean(theta: f64, sigma: f64, end: f64) -> (f64, f64) {
    let (below, above) = ((end + theta) / sigma, (end - theta) / sigma);
    let beyond = |distance: f64| normal::pdf(distance) - distance * normal::sf(distance);
    (theta + sigma * (beyond(below) - beyond(above)), normal::mass(-below, above))
}

/// The θ in [low, high] with m(θ) = `mean`, if there is one: Newton's steps, bisection where they leave the bracket.
fn invert(mean: f64, sigma: f64, end: f64, low: f64, high: f64) -> Option<f64> {
    let m = |theta| clipped_mean(theta, sigma, end);
    if !(m(low).0 <= mean && mean <= m(high).0) {
        return None;
    }
    let (mut below, mut above) = (low, high);
    let mut theta = mean.clamp(low, high);
    for _ in 0..200 {
        let (value, slope) = m(theta);
        if value <= mean {
            below = theta;
        }
        if value >= mean {
            above = theta;
        }
        let newton = theta - (value - mean) / slope;
        let next = if newton >= below && newton <= above { newton } else { below + (above - below) / 2.0 };
        if (next - theta).abs() <= 1e-15 * (next.abs() + sigma) {
            return Some(next);
        }
        theta = next;
    }
    Some(theta)
}

impl StagedEstimator for ClippedMoments {
    type Question = Laplace;
    type Tally = Sum;
    type State = MomentsState;
    type Estimate = MeanEstimate;

    fn tally(&self, _: &Laplace) -> Sum {
        Sum::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        Ok(Step::Ask { round: Round::one(self.question(users)?, users), state: MomentsState { users } })
    }

    fn advance(&self, MomentsState { users }: MomentsState, answers: &[Sum]) -> Result<StepOf<Self>> {
        Ok(Step::Done(self.estimate(users, &one(answers)?)?))
    }
}

/// Mean and variance of $N(\theta, \sigma^2)$ from clipped values and their squares, with θ known to lie in a range and
/// σ below a bound.
///
/// Every user answers one question, so half of them report $\mathrm{clip}(x, \pm t)$, the other half
/// $\min(x^2, t^2)$, each with Laplace noise for its own width; $t = \sigma_{\max}\sqrt{2\ln n} + \max|range|$ and
///
/// $$\tilde\theta = \bar y_1\ \text{clamped to the range},\qquad
///   \tilde\sigma^2 = \bar y_2 - \tilde\theta^2\ \text{clamped to}\ [floor, \sigma_{\max}^2].$$
///
/// - Clipping leaves a bias below σ/n in θ̃, next to a standard error of the order of t/√n.
/// - n·MSE ≈ $v = 2(\sigma^2 + 8t^2/\varepsilon^2)$ for θ̃, and
///   $2(2\sigma^4 + 4\theta^2\sigma^2 + 2t^4/\varepsilon^2) + 4\theta^2 v$ for σ̃²: a crude first guess of σ, good for
///   what comes after it.
/// - Rounds: 1. Questions: [`Laplace`] on $[-t, t]$ and, [`Squared`], on $[0, t^2]$.
///
/// Theorem 4.3 of [S24].
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::ClippedMomentsUnknownVariance;
/// use ldp_mechanisms::Range;
/// let estimator = ClippedMomentsUnknownVariance::new(Epsilon::new(1.0)?, 4.0, Range::new(-2.0, 4.0)?)?;
/// let (model, users) = (Gaussian::new(3.0)?, 200_000);
/// let estimate = run(&estimator, users, &mut Users::new(&model, 1.5, users, 7)?)?;
/// assert!((estimate.value() - 1.5).abs() < 5.0 * estimate.standard_error().unwrap());
/// let variance = estimate.variance();
/// assert!((variance.value() - 9.0).abs() < 5.0 * variance.standard_error().unwrap());
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [S24]: https://arxiv.org/abs/2301.10600
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippedMomentsUnknownVariance {
    epsilon: Epsilon,
    sigma_max: f64,
    range: Range,
    floor: Option<f64>,
}

/// θ̃ and σ̃², and the floor that σ̃² was not to fall below; as an [`Inference`] it speaks for θ̃.
///
/// ```
/// use ldp_core::Inference;
/// use ldp_estimators::{MeanEstimate, MomentsEstimate, Remark};
/// let variance = MeanEstimate::new(0.01, None, Some(Remark::VarianceFloor))?;
/// let estimate = MomentsEstimate::new(MeanEstimate::new(1.0, Some(0.1), None)?, variance, 0.01)?;
/// assert_eq!((estimate.value(), estimate.variance().value(), estimate.floor()), (1.0, 0.01, 0.01));
/// assert!(estimate.note().unwrap().contains("floor"));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawMoments")]
pub struct MomentsEstimate {
    mean: MeanEstimate,
    variance: MeanEstimate,
    floor: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMoments {
    mean: MeanEstimate,
    variance: MeanEstimate,
    floor: f64,
}

impl TryFrom<RawMoments> for MomentsEstimate {
    type Error = Error;
    fn try_from(RawMoments { mean, variance, floor }: RawMoments) -> Result<Self> {
        Self::new(mean, variance, floor)
    }
}

impl MomentsEstimate {
    /// From both estimates; that of the variance is not below the floor, which is positive.
    pub fn new(mean: MeanEstimate, variance: MeanEstimate, floor: f64) -> Result<Self> {
        require(floor > 0.0 && floor.is_finite(), "floor", "positive and finite", floor)?;
        require(variance.value() >= floor, "the variance", "at least its floor", variance.value())?;
        Ok(Self { mean, variance, floor })
    }

    /// θ̃.
    #[must_use]
    pub fn mean(&self) -> MeanEstimate {
        self.mean
    }

    /// σ̃².
    #[must_use]
    pub fn variance(&self) -> MeanEstimate {
        self.variance
    }

    /// The floor of σ̃²; whether it was used is the [`Remark`] of [`variance`](Self::variance).
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.floor
    }
}

impl Inference for MomentsEstimate {
    fn value(&self) -> f64 {
        self.mean.value()
    }

    fn standard_error(&self) -> Option<f64> {
        self.mean.standard_error()
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        MeanEstimate::interval_kinds()
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        self.mean.interval(kind, level)
    }

    fn note(&self) -> Option<&'static str> {
        self.mean.note().or_else(|| self.variance.note())
    }
}

impl ClippedMomentsUnknownVariance {
    /// At level ε, for values with a standard deviation of at most `sigma_max` and a mean in `range`. The floor of the
    /// variance is $\sigma_{\max}^2/n$.
    pub fn new(epsilon: Epsilon, sigma_max: f64, range: Range) -> Result<Self> {
        require(sigma_max > 0.0 && sigma_max.is_finite(), "sigma-high", "positive and finite", sigma_max)?;
        let least = sigma_max * sigma_max / u64::MAX as f64;
        require(least > 0.0, "sigma-high", "so large that its square is a number", sigma_max)?;
        let estimator = Self { epsilon, sigma_max, range, floor: None };
        estimator.questions(u64::MAX).map(|_| estimator)
    }

    /// The same with another floor of the variance: positive, at most the square of `sigma_max`.
    pub fn with_floor(self, floor: f64) -> Result<Self> {
        let most = self.sigma_max * self.sigma_max;
        require(floor > 0.0 && floor <= most, "floor", "positive and at most the square of sigma-high", floor)?;
        Ok(Self { floor: Some(floor), ..self })
    }

    fn questions(&self, users: u64) -> Result<(Laplace, Squared<Laplace>)> {
        let end = clipping_point(self.sigma_max, self.range, users);
        let first = Laplace::new(self.epsilon, Range::new(-end, end)?)?;
        Ok((first, Squared::new(Laplace::new(self.epsilon, Range::new(0.0, end * end)?)?)))
    }

    /// How many of `users` are asked for the first and for the second moment.
    fn halves(users: u64) -> Result<(u64, u64)> {
        if users < 2 {
            return Err(Error::TooFew { name: "users", least: 2, value: users });
        }
        Ok((users - users / 2, users / 2))
    }

    fn estimate(&self, users: u64, first: &Sum, second: &Sum) -> Result<MomentsEstimate> {
        let halves = Self::halves(users)?;
        check_answers(halves.0, first.users())?;
        check_answers(halves.1, second.users())?;
        let (of_value, of_square) = self.questions(users)?;
        let (low, high) = (self.range.low(), self.range.high());
        let most = self.sigma_max * self.sigma_max;
        let floor = self.floor.unwrap_or(most / users as f64);

        let raw = decoded(&of_value, first)?;
        let theta = raw.value().clamp(low, high);
        let mean = match raw.remark() {
            Some(remark) => MeanEstimate::new(low / 2.0 + high / 2.0, None, Some(remark))?,
            None if theta == raw.value() => raw,
            None => MeanEstimate::new(theta, None, Some(Remark::Boundary))?,
        };
        let square = decoded(of_square.question(), second)?;
        let variance = match (square.remark(), square.value() - mean.value().powi(2)) {
            // Nothing is known but the bound.
            (Some(remark), _) => MeanEstimate::new(most, None, Some(remark))?,
            (None, found) if found < floor => MeanEstimate::new(floor, None, Some(Remark::VarianceFloor))?,
            (None, found) if found > most => MeanEstimate::new(most, None, Some(Remark::Boundary))?,
            (None, found) => {
                // The halves are independent, and the derivative of θ² is 2θ.
                let both = mean.standard_error().zip(square.standard_error());
                let error = both.map(|(one, two)| two.hypot(2.0 * mean.value() * one));
                MeanEstimate::new(found, error.filter(|error| error.is_finite()), None)?
            }
        };
        MomentsEstimate::new(mean, variance, floor)
    }
}

impl StagedEstimator for ClippedMomentsUnknownVariance {
    type Question = Either<Laplace, Squared<Laplace>>;
    type Tally = Sum;
    type State = MomentsState;
    type Estimate = MomentsEstimate;

    fn tally(&self, _: &Self::Question) -> Sum {
        Sum::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let (first, second) = Self::halves(users)?;
        let (of_value, of_square) = self.questions(users)?;
        let groups = vec![
            Group { question: Either::First(of_value), users: first },
            Group { question: Either::Second(of_square), users: second },
        ];
        Ok(Step::Ask { round: Round::Many(groups), state: MomentsState { users } })
    }

    fn advance(&self, MomentsState { users }: MomentsState, answers: &[Sum]) -> Result<StepOf<Self>> {
        match answers {
            [first, second] => Ok(Step::Done(self.estimate(users, first, second)?)),
            _ => Err(Error::TallyCount { expected: 2, found: answers.len() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of the tests: σ, range, users.
    const SETTINGS: [(f64, f64, f64, u64); 5] = [
        (1.0, -3.0, 3.0, 1000),
        (0.3, -9.0, -4.0, 100),
        (3.0, 0.0, 20.0, 2),
        (3.0, -1.0, 0.5, 1),
        (0.3, 1.0, 2.0, 1 << 40),
    ];

    #[test]
    fn the_mean_of_clipped_values_is_an_integral() {
        for (sigma, low, high, users) in SETTINGS {
            let end = clipping_point(sigma, Range::new(low, high).unwrap(), users);
            for i in 0..=4 {
                let theta = low + (high - low) * f64::from(i) / 4.0;
                // Simpson's rule on the cdf: E clip = t − ∫ F.
                let (pieces, mut integral) = (20_000, 0.0);
                let step = 2.0 * end / f64::from(pieces);
                for k in 0..=pieces {
                    let weight = if k == 0 || k == pieces { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
                    integral += weight * normal::cdf((f64::from(k) * step - end - theta) / sigma) * step / 3.0;
                }
                let (found, slope) = clipped_mean(theta, sigma, end);
                assert!((found - (end - integral)).abs() < 1e-10 * end, "{sigma} {theta}: {found}");
                let difference = clipped_mean(theta + 1e-5, sigma, end).0 - clipped_mean(theta - 1e-5, sigma, end).0;
                assert!((difference / 2e-5 - slope).abs() < 1e-8);
                // And as it is written in the documentation.
                let psi = |z: f64| z * normal::cdf(z) + normal::pdf(z);
                let written = -end + sigma * (psi((theta + end) / sigma) - psi((theta - end) / sigma));
                assert!((found - written).abs() < 1e-13 * end);
            }
        }
    }

    #[test]
    fn the_exact_expectation_gives_the_parameter_back() {
        for (sigma, low, high, users) in SETTINGS {
            let end = clipping_point(sigma, Range::new(low, high).unwrap(), users);
            for i in 0..=20 {
                let theta = low + (high - low) * f64::from(i) / 20.0;
                let mean = clipped_mean(theta, sigma, end).0;
                let found = invert(mean, sigma, end, low, high).unwrap();
                assert!((found - theta).abs() < 1e-13 * (theta.abs() + sigma), "{sigma} {theta}: {found}");
            }
            let (least, most) = (clipped_mean(low, sigma, end).0, clipped_mean(high, sigma, end).0);
            assert_eq!(invert(least.next_down(), sigma, end, low, high), None);
            assert_eq!(invert(most.next_up(), sigma, end, low, high), None);
            assert_eq!(invert(f64::NAN, sigma, end, low, high), None);
        }
    }
}
