//! Any estimator of a unit-variance mean, run on data of known σ.

use crate::StartAt;
use ldp_core::error::require;
use ldp_core::{Rescale, Result, StagedEstimator, Step, StepOf};

/// Runs a protocol for unit variance on values with standard deviation σ.
///
/// It asks the inner protocol's questions of x/σ, by moving their thresholds, and multiplies the estimate by σ; the
/// variance and its bound scale by σ² (Theorem 3 of [KS25]). Reports, tallies and state are the
/// inner protocol's own.
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{Rescaled, TwoStage};
/// let unit = TwoStage::new(Epsilon::new(1.0)?, 0.0, 306)?;
/// let one = run(&unit, 10_000, &mut Tallies::new(&Gaussian::new(1.0)?, 0.5, 1)?)?;
/// let three = run(&Rescaled::new(unit, 3.0)?, 10_000, &mut Tallies::new(&Gaussian::new(3.0)?, 1.5, 1)?)?;
/// assert!((three.value() - 3.0 * one.value()).abs() < 1e-13);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rescaled<E> {
    unit: E,
    sigma: f64,
}

impl<E> Rescaled<E> {
    /// `unit` on values with standard deviation `sigma`. Its starts and ranges are in units of σ.
    pub fn new(unit: E, sigma: f64) -> Result<Self> {
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)?;
        Ok(Self { unit, sigma })
    }

    /// The protocol for unit variance, and σ.
    pub(crate) fn parts(&self) -> (&E, f64) {
        (&self.unit, self.sigma)
    }
}

impl<E> StagedEstimator for Rescaled<E>
where
    E: StagedEstimator<Question: Rescale, Estimate: Rescale>,
{
    type Question = E::Question;
    type Tally = E::Tally;
    type State = E::State;
    type Estimate = E::Estimate;

    #[inline]
    fn tally(&self, question: &E::Question) -> E::Tally {
        self.unit.tally(question)
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        self.scale(self.unit.begin(users)?)
    }

    #[inline(always)]
    fn advance(&self, state: E::State, answers: &[E::Tally]) -> Result<StepOf<Self>> {
        self.scale(self.unit.advance(state, answers)?)
    }

    fn range(&self, users: u64) -> Option<[f64; 2]> {
        // The change of unit rounds: a little wider, so that nothing falls out.
        let [low, high] = self.unit.range(users)?.map(|end| end * self.sigma);
        let slack = 1e-9 * (high - low);
        Some([low - slack, high + slack])
    }
}

impl<E> Rescaled<E>
where
    E: StagedEstimator<Question: Rescale, Estimate: Rescale>,
{
    #[inline(always)]
    fn scale(&self, step: StepOf<E>) -> Result<StepOf<E>> {
        // The unit of the data is σ already: an exact sum comes here for every tally.
        if self.sigma == 1.0 {
            return Ok(step);
        }
        Ok(match step {
            Step::Ask { round, state } => {
                Step::Ask { round: round.try_map(|question| question.rescale(self.sigma))?, state }
            }
            Step::Done(estimate) => Step::Done(estimate.rescale(self.sigma)?),
        })
    }
}

impl<E: StartAt> StartAt for Rescaled<E> {
    #[inline]
    fn start_at(&self, start: f64) -> Result<Self> {
        Ok(Self { unit: self.unit.start_at(start / self.sigma)?, sigma: self.sigma })
    }
}
