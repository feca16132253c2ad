//! One question to everyone, through any mechanism, read by maximum likelihood.

mod binned;
mod brent;
mod deviance;
mod estimate;
mod evidence;
mod identified;
mod law;
mod places;

pub use binned::Binned;
pub use deviance::DevianceCurve;
pub use estimate::AskEstimate;

use crate::Fallback;
use crate::space::{End, Space};
use evidence::Evidence;
use law::Law;
use ldp_core::error::require;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Counts, Error, Finite, Result, Round, StagedEstimator, Step, StepOf};
use places::Places;
use std::fmt;
use std::sync::Arc;

/// The one-round protocol that asks everyone one question, through any mechanism with finitely many reports.
///
/// With $m_\theta(z)$ the law of the reports under the model and $T_z$ how often report z came,
///
/// $$\hat\theta = \arg\max_\theta \sum_z T_z \ln m_\theta(z).$$
///
/// - n·MSE → $1/I_\theta(Q)$, with I the Fisher information of one report: no regular estimator from the same reports is
///   better.
/// - Rounds: 1. Questions: Q. Real reports are first put into cells by [`Binned`].
/// - Intervals: likelihood-ratio and Wald; see [`AskEstimate`].
/// - The law of the reports is worked out once at some hundreds of parameters, at most a two-hundredth of the whole way apart in Fisher's
///   metric of the reports. The largest maxima among them are made exact by Brent's method (`argmin`), to 1e-14 of a gap.
/// - Refused, with [`Error::NotIdentified`], where the law of the reports does not change with the parameter, or is the same at two
///   parameters as far as these places can tell.
///
/// So a mechanism that somebody has just written has an estimate, a risk and a place in a comparison.
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::{Epsilon, Inference, IntervalKind, model::Gaussian, run};
/// use ldp_estimators::Ask;
/// use ldp_mechanisms::IntervalResponse;
/// use std::sync::Arc;
/// let model = Gaussian::new(1.0)?;
/// let question = IntervalResponse::new(Epsilon::new(2.0)?, vec![-0.5, 0.5])?;
/// let ask = Ask::new(question, Arc::new(model), 0.0)?;
/// let estimate = run(&ask, 100_000, &mut Tallies::new(&model, 0.3, 1)?)?;
/// assert!((estimate.value() - 0.3).abs() < 0.03);
/// assert!(estimate.interval(IntervalKind::LikelihoodRatio, 0.99)?.contains(0.3));
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Ask<Q, M: ?Sized> {
    question: Q,
    model: Arc<M>,
    places: Arc<Places>,
}

impl<Q: Finite, M: Cdf + Score + ?Sized> Ask<Q, M> {
    /// A question about a parameter that may be anywhere in its space. Places are looked for outwards from `start`, to 60,000 units of
    /// score on either side; `start` is the value where nobody answers.
    pub fn new(question: Q, model: Arc<M>, start: f64) -> Result<Self> {
        model.admits(start)?;
        let space = Space::around(&*model, start);
        Self::over(question, model, space, start)
    }

    /// A question about a parameter that is known to lie in a range, ends included; its middle is the value where nobody answers.
    ///
    /// ```
    /// use ldp_core::{Epsilon, Error, model::Gaussian};
    /// use ldp_estimators::Ask;
    /// use ldp_mechanisms::Residue;
    /// use std::sync::Arc;
    /// // Residues repeat themselves: they identify the mean in a range that is short enough, and on the line they do not.
    /// let (model, epsilon) = (Arc::new(Gaussian::new(1.0)?), Epsilon::new(1.0)?);
    /// let question = || Residue::new(epsilon, 0.0, 1.0, 4);
    /// assert!(Ask::within(question()?, model.clone(), [0.0, 2.0]).is_ok());
    /// assert!(matches!(Ask::new(question()?, model, 0.0), Err(Error::NotIdentified { .. })));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn within(question: Q, model: Arc<M>, [low, high]: [f64; 2]) -> Result<Self> {
        let start = 0.5 * low + 0.5 * high;
        require(low < high && low.is_finite(), "the low end of the range", "finite and below the high end", low)?;
        require(high.is_finite(), "the high end of the range", "finite", high)?;
        model.admits(start)?;
        let whole = Space::around(&*model, start);
        // Of an open space the range may have the ends, at which there is no law.
        let end = |value: f64, end: End| {
            if model.admits(value).is_ok() {
                Ok(End { inside: value, value })
            } else if value == end.value {
                Ok(end)
            } else {
                model.admits(value).map(|()| end)
            }
        };
        let space = Space { low: end(low, whole.low)?, high: end(high, whole.high)? };
        Self::over(question, model, space, start)
    }

    fn over(question: Q, model: Arc<M>, space: Space, start: f64) -> Result<Self> {
        let places = Arc::new(Places::new(&question, &*model, space, start)?);
        Ok(Self { question, model, places })
    }

    /// What everyone is asked.
    #[must_use]
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// The Fisher information of one report at a parameter; its reciprocal is the limit of n·MSE.
    ///
    /// ```
    /// use ldp_core::{Epsilon, Publish, model::Gaussian};
    /// use ldp_estimators::Ask;
    /// use ldp_mechanisms::Sign;
    /// use std::sync::Arc;
    /// let (sign, model) = (Sign::new(Epsilon::new(1.0)?, 0.0)?, Gaussian::new(1.0)?);
    /// let known = ldp_fisher::exact(&sign.publish(), &model, 0.5)?.value;
    /// let information = Ask::new(sign, Arc::new(model), 0.0)?.information(0.5)?;
    /// assert!((information / known - 1.0).abs() < 1e-10);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn information(&self, theta: f64) -> Result<f64> {
        self.model.admits(theta)?;
        Ok(self.law().information(theta))
    }

    fn law(&self) -> Law<'_, Q, M> {
        Law { question: &self.question, model: &*self.model, space: self.places.space }
    }

    /// The estimate from the counts of all reports.
    fn estimate(&self, counts: &[u64]) -> Result<AskEstimate> {
        let (expected, found) = (self.question.reports() as usize, counts.len());
        if expected != found {
            return Err(Error::TallyAlphabet { expected, found });
        }
        let (start, Space { low, high }) = (self.places.start, self.places.space);
        let space = [low.value, high.value];
        if counts.iter().all(|&count| count == 0) {
            return AskEstimate::fallen(start, Fallback::NobodyAnswered, space);
        }
        let evidence = Evidence::new(self.law(), &self.places, counts);
        let fits = evidence.fits();
        let tops = evidence.tops(&fits);
        let (Some(&top), Some(curve)) = (tops.first(), deviance::DevianceCurve::new(&evidence, &fits, &tops)) else {
            return AskEstimate::fallen(start, Fallback::Unplaced, space);
        };
        let why = match top.end {
            0 => None,
            end if (if end < 0 { low } else { high }).value.is_finite() => Some(Fallback::End),
            _ => Some(Fallback::Beyond),
        };
        AskEstimate::new(curve, evidence.information(top), space, why)
    }
}

impl<Q: Clone, M: ?Sized> Clone for Ask<Q, M> {
    fn clone(&self) -> Self {
        Self { question: self.question.clone(), model: Arc::clone(&self.model), places: Arc::clone(&self.places) }
    }
}

impl<Q: fmt::Debug, M: ?Sized> fmt::Debug for Ask<Q, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("question", &self.question).finish_non_exhaustive()
    }
}

impl<Q: Finite + Clone, M: Cdf + Score + ?Sized> StagedEstimator for Ask<Q, M> {
    type Question = Q;
    type Tally = Counts;
    /// Nothing to remember: the question is the protocol's own.
    type State = ();
    type Estimate = AskEstimate;

    fn tally(&self, question: &Q) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        Ok(Step::Ask { round: Round::one(self.question.clone(), users), state: () })
    }

    fn advance(&self, (): (), answers: &[Counts]) -> Result<StepOf<Self>> {
        let [answers] = answers else {
            return Err(Error::TallyCount { expected: 1, found: answers.len() });
        };
        Ok(Step::Done(self.estimate(answers.counts())?))
    }

    fn range(&self, _users: u64) -> Option<[f64; 2]> {
        let ends = [self.places.space.low.value, self.places.space.high.value];
        ends.iter().all(|end| end.is_finite()).then_some(ends)
    }
}
