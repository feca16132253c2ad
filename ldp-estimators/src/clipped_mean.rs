//! The mean report of a mechanism on a range.

use crate::one_stage::one;
use crate::{MeanEstimate, Remark};
use ldp_core::{Averages, Bits, Error, Result, Round, StagedEstimator, Step, StepOf, Sum, Unbiased};

/// A report that is a number, and the tally its mean is taken from.
///
/// ```
/// use ldp_estimators::Averaged;
/// // Bits are counted, real reports are added up.
/// let _: <u32 as Averaged>::Tally = ldp_core::Bits::default();
/// let _: <f64 as Averaged>::Tally = ldp_core::Sum::default();
/// ```
pub trait Averaged: Sized {
    /// What a collector keeps.
    type Tally: Averages<Report = Self> + Default + Copy;
}

/// Reports 0 and 1; others are refused by the tally.
impl Averaged for u32 {
    type Tally = Bits;
}

impl Averaged for f64 {
    type Tally = Sum;
}

/// The mean of values on a range, through any [`Unbiased`] mechanism: the mean report, decoded and cut to the range.
///
/// $$\hat\theta = \min(\max(T, low), high),\qquad T = \mathrm{decode}\Bigl(\frac1n\sum_i Z_i\Bigr),\qquad
///   ET = E\bar X,\quad \bar x = \min(\max(x, low), high).$$
///
/// It estimates the mean of the *clipped* values, whatever their law, and T does so without bias; cutting T to the range, where
/// that mean certainly lies, only makes the error smaller. Of values outside the range only the
/// end counts: for the mean of the values themselves the range must hold them all, or nearly.
///
/// - n·MSE of T = $\mathrm{Var}\bar X + E[v(X)]$ at every n, with v the mechanism's
///   [`variance`](ldp_core::Unbiased::variance).
/// - Rounds: 1. Questions: the mechanism.
///
/// The standard error is that of the mean report; the interval is Wald's.
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::ClippedMean;
/// use ldp_mechanisms::{Duchi, Laplace, Range};
/// let (epsilon, range, model) = (Epsilon::new(1.0)?, Range::new(-4.0, 6.0)?, Gaussian::new(1.0)?);
/// // Bits or real reports alike.
/// let bits = ClippedMean::new(Duchi::new(epsilon, range)?);
/// let real = ClippedMean::new(Laplace::new(epsilon, range)?);
/// let users = 40_000;
/// let from_bits = run(&bits, users, &mut Users::new(&model, 1.5, users, 7)?)?;
/// let from_real = run(&real, users, &mut Users::new(&model, 1.5, users, 7)?)?;
/// for estimate in [from_bits, from_real] {
///     assert!((estimate.value() - 1.5).abs() < 5.0 * estimate.standard_error().unwrap());
/// }
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippedMean<Q> {
    question: Q,
}

impl<Q: Unbiased> ClippedMean<Q> {
    /// With everybody asked this question.
    #[must_use]
    pub fn new(question: Q) -> Self {
        Self { question }
    }
}

impl<Q> StagedEstimator for ClippedMean<Q>
where
    Q: Unbiased<Report: Averaged> + Clone,
{
    type Question = Q;
    type Tally = <Q::Report as Averaged>::Tally;
    /// Nothing to remember: the question is the protocol's own.
    type State = ();
    type Estimate = MeanEstimate;

    fn tally(&self, _: &Q) -> Self::Tally {
        Self::Tally::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        Ok(Step::Ask { round: Round::one(self.question.clone(), users), state: () })
    }

    fn advance(&self, (): (), answers: &[Self::Tally]) -> Result<StepOf<Self>> {
        let (low, high) = self.question.range();
        Ok(Step::Done(decoded(&self.question, &one(answers)?)?.within([low, high])?))
    }
}

/// The decoded mean report and its standard error. Where nobody answered it is the middle of the range.
pub(crate) fn decoded<Q: Unbiased>(question: &Q, answers: &impl Averages) -> Result<MeanEstimate> {
    let Some(mean) = answers.mean() else {
        let (low, high) = question.range();
        return MeanEstimate::new(low / 2.0 + high / 2.0, None, Some(Remark::NobodyAnswered));
    };
    // Decoding is affine: its slope is the difference of any two values one apart.
    let slope = (question.decode(1.0) - question.decode(0.0)).abs();
    let error = answers.standard_error().map(|error| slope * error);
    // When all bits agree their spread says nothing about the error.
    let error = error.filter(|&error| error.is_finite() && error > 0.0);
    MeanEstimate::new(question.decode(mean), error, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::{Epsilon, Inference, Tally};
    use ldp_mechanisms::{Duchi, Laplace, Range};

    #[test]
    fn silence_is_the_middle_and_one_answer_has_no_error() {
        let (epsilon, range) = (Epsilon::new(1.0).unwrap(), Range::new(-3.0, -1.0).unwrap());
        let laplace = Laplace::new(epsilon, range).unwrap();
        let duchi = Duchi::new(epsilon, range).unwrap();
        let silent = decoded(&laplace, &Sum::default()).unwrap();
        assert_eq!((silent.value(), silent.standard_error()), (-2.0, None));
        assert_eq!(silent.remark(), Some(Remark::NobodyAnswered));
        assert_eq!(decoded(&duchi, &Bits::default()).unwrap(), silent);
        let mut one = Sum::default();
        one.push(0.5, 1).unwrap();
        let one = decoded(&laplace, &one).unwrap();
        assert_eq!((one.value(), one.standard_error()), (-1.5, None));
    }

    #[test]
    fn the_error_is_that_of_the_mean_report_in_the_unit_of_the_data() {
        let (epsilon, range) = (Epsilon::new(1.0).unwrap(), Range::new(10.0, 30.0).unwrap());
        let mut sum = Sum::default();
        for report in [-1.0, 0.0, 1.0, 2.0] {
            sum.push(report, 1).unwrap();
        }
        let estimate = decoded(&Laplace::new(epsilon, range).unwrap(), &sum).unwrap();
        // Mean ½ and variance 5/3 in half widths of 10.
        assert_eq!(estimate.value(), 25.0);
        assert!((estimate.standard_error().unwrap() - 10.0 * (5.0f64 / 12.0).sqrt()).abs() < 1e-9);
        let duchi = Duchi::new(epsilon, range).unwrap();
        let estimate = decoded(&duchi, &Bits::new(60, 100).unwrap()).unwrap();
        assert!((estimate.value() - (20.0 + 2.0 / duchi.tau())).abs() < 1e-12);
        let expected = 20.0 / duchi.tau() * (0.24f64 / 99.0).sqrt();
        assert!((estimate.standard_error().unwrap() / expected - 1.0).abs() < 1e-12);
    }
}
