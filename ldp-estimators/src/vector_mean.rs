//! The mean report of a mechanism on vectors.

use crate::{VectorEstimate, VectorRemark};
use ldp_core::{Averages, Error, Result, Round, StagedEstimator, Step, StepOf, UnbiasedVector, VectorSum};

/// The mean of vectors, through any [`UnbiasedVector`] mechanism: the mean report.
///
/// $$\hat\theta = \frac1n\sum_i Z_i,\qquad E\hat\theta = E\bar X,$$
///
/// with $\bar x$ the vector that the mechanism sees: projected onto its ball, or normalised. Of that it is an unbiased
/// estimate, whatever the law of the values; of the mean of the values themselves only where they lie in the domain.
///
/// - n·MSE = $E\lVert\bar X - E\bar X\rVert^2 + E[v(X)]$ at every n, with v the mechanism's
///   [`total_variance`](ldp_core::UnbiasedVector::total_variance).
/// - Rounds: 1. Questions: the mechanism.
///
/// ```
/// use ldp_simulate::Vectors;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, run};
/// use ldp_estimators::VectorMean;
/// use ldp_mechanisms::DuchiL2;
/// // Values close to (0.3, -0.5), in the unit ball.
/// let estimator = VectorMean::new(DuchiL2::new(Epsilon::new(1.0)?, 2, 1.0)?);
/// let (model, users) = (Gaussian::new(0.05)?, 20_000);
/// let estimate = run(&estimator, users, &mut Vectors::new(&model, &[0.3, -0.5], users, 7)?)?;
/// for (j, mean) in [0.3, -0.5].into_iter().enumerate() {
///     assert!((estimate.values()[j] - mean).abs() < 5.0 * estimate.standard_errors()[j].unwrap());
/// }
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VectorMean<Q> {
    question: Q,
}

impl<Q: UnbiasedVector> VectorMean<Q> {
    /// With everybody asked this question.
    #[must_use]
    pub fn new(question: Q) -> Self {
        Self { question }
    }
}

impl<Q: UnbiasedVector + Clone> StagedEstimator for VectorMean<Q> {
    type Question = Q;
    type Tally = VectorSum;
    /// Nothing to remember: the question is the protocol's own.
    type State = ();
    type Estimate = VectorEstimate;

    fn tally(&self, _: &Q) -> VectorSum {
        VectorSum::new(self.question.dimension())
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        Ok(Step::Ask { round: Round::one(self.question.clone(), users), state: () })
    }

    fn advance(&self, (): (), answers: &[VectorSum]) -> Result<StepOf<Self>> {
        let answers = only(answers)?;
        let dimension = self.question.dimension();
        check_coordinates(answers, dimension)?;
        Ok(Step::Done(match answers.mean() {
            Some(mean) => {
                let errors = answers.coordinates().iter().map(Averages::standard_error).collect();
                VectorEstimate::new(mean, errors, None)?
            }
            None => {
                let zeros = (vec![0.0; dimension], vec![None; dimension]);
                VectorEstimate::new(zeros.0, zeros.1, Some(VectorRemark::NobodyAnswered))?
            }
        }))
    }
}

/// The only tally of a round of one group.
pub(crate) fn only<T>(answers: &[T]) -> Result<&T> {
    match answers {
        [answer] => Ok(answer),
        _ => Err(Error::TallyCount { expected: 1, found: answers.len() }),
    }
}

/// As many coordinates as the question has.
pub(crate) fn check_coordinates(answers: &VectorSum, expected: usize) -> Result<()> {
    let found = answers.coordinates().len();
    if expected == found { Ok(()) } else { Err(Error::Length { what: "coordinates of a tally", expected, found }) }
}
