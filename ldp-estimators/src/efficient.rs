//! Efficient estimation at every ε: one bit finds the place, the best mechanism there does the rest.

use crate::again::{Again, again, enough};
use crate::first_stage::FirstStage;
use crate::placing::{Placed, place};
use crate::questions::Questions;
use crate::space::Space;
use crate::{EfficientEstimate, Fallback, ScoreCurve, StartAt, maximum_likelihood};
use ldp_core::model::{Cdf, Score, Symmetry};
use ldp_core::{
    Bits, Counts, Epsilon, Error, Finite, FiniteChannel, Kernel, Partition, Result, Round, StagedEstimator, Step,
    StepOf, Tally,
};
use ldp_fisher::{exact, one_bit, optimal};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The least loss that [`Efficient::tuned`] reckons with, per squared unit of score: a question that does not change within
/// half a unit of the start may still change further out.
const LEAST_LOSS: f64 = 0.25;

/// The odds at which a parameter is ruled out where nothing more is to be asked: two standard errors.
const EASED: f64 = 7.4;

/// Informations that differ by less than this are the same.
const ALIKE: f64 = 1.0 - 1e-9;

/// The efficient estimator of a parameter, for every family with a cdf and a score and at every ε.
///
/// 1. `first_stage` users tell through randomised response whether their value lies in the set A that is best at the
///    start $\theta_0$ ([`one_bit`]), or above its median where $P_\theta(A)$ does not tell θ; θ̃ is where $P_\theta(A)$ is
///    the share that they report.
/// 2. If they do not point to one place, others are asked once more, by randomised response over up to eight cells, which of a
///    range of parameters it is: from where the first have ruled out the parameters on one side, 14 units of score
///    far at eight cells; θ̃ is their maximum-likelihood estimate. If they do not point to one place either, the answers cannot
///    tell, and nobody else is asked.
/// 3. All others answer the most informative mechanism at θ̃ ([`optimal::response`]).
/// 4. θ̂ is the [maximum-likelihood estimate](maximum_likelihood) from these answers, and its interval their [`ScoreCurve`].
///
/// Answers point to one place if the parameters whose likelihood is within a factor n of the largest span at most four units of
/// score $1/\sqrt{I_0}$: then the last question loses little. A location moves by its scale in such a unit, a scale by its
/// own size, a Poisson mean by its root. The factor is n because a wrong place costs in the order of n times as much as a right one;
/// it is $e^2$ where no more can be asked, because that place is better than none.
///
/// - n·MSE → $1/I^*_\theta(\varepsilon)$ when $n_1 \to \infty$ and $n_1/n \to 0$, with $I^*$ the information of the best
///   mechanism ([S24]). For a Gaussian mean at ε = 4 that is 1.3301 σ², where two sign stages have 1.690 σ²; up to
///   ε = 2.007 the best mechanism is the sign, and this is [`TwoStage`](crate::TwoStage).
/// - Rounds: 2, or 3 where the first answers are not enough. The second of three takes $100 q/\tau^2$ users, with m cells of
///   contrast $\tau = (E-1)/(E+m-1)$ and $q = 1/(E+m-1) + \tau/2$: for 8 cells 612 at ε = 1 and 60 at ε = 4, and up to two
///   and a half times as many where that is at most a twentieth of all. There are 8 cells, or 4 where 8 would take more than a
///   tenth of the users and the first answers do not speak of a place so far off, or 2: as many as need at most a third of the
///   users who are left, and 2 take at most half of them.
/// - Questions: [`FiniteChannel`], with two reports in the first round.
///
/// In a location or scale family the best mechanism is worked out once and moved to θ̃; in others θ̃ is rounded to a grid of a
/// tenth of a unit of score, and what is worked out is kept.
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::{Exponential, Score};
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::Efficient;
/// use std::sync::Arc;
/// // The mean of 100,000 exponential values, of which 1000 answer at the start 1.
/// let estimator = Efficient::new(Arc::new(Exponential), Epsilon::new(2.0)?, 1.0, 1000)?;
/// let estimate = run(&estimator, 100_000, &mut Tallies::new(&Exponential, 1.5, 7)?)?;
/// let error = estimate.standard_error().unwrap();
/// assert!((estimate.value() - 1.5).abs() < 3.0 * error && error < 0.01);
/// // From a start that is a hundred times too small too: three rounds.
/// let far = run(&estimator, 100_000, &mut Tallies::new(&Exponential, 100.0, 7)?)?;
/// assert!((far.value() / 100.0 - 1.0).abs() < 0.03);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [S24]: https://arxiv.org/abs/2301.10600
pub struct Efficient<M: ?Sized> {
    model: Arc<M>,
    epsilon: Epsilon,
    space: Space,
    start: f64,
    size: FirstStage,
    /// The question of the first round.
    first: FiniteChannel,
    firsts: Arc<Questions<M>>,
    seconds: Arc<Questions<M>>,
}

/// What an [`Efficient`] remembers between rounds: counts alone. Questions are the protocol's own, so a state from outside
/// cannot change what users are asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EfficientState {
    /// The first stage is out.
    First {
        /// All users of the protocol.
        users: u64,
    },
    /// The question that is asked once more is out.
    Again {
        /// All users of the protocol.
        users: u64,
        /// What the first stage brought.
        first: Bits,
    },
    /// The last stage is out.
    Second {
        /// All users of the protocol.
        users: u64,
        /// What the first stage brought.
        first: Bits,
        /// What asking once more brought, if that was needed.
        #[serde(default)]
        again: Option<Vec<u64>>,
    },
}

/// What to do after some answers.
enum Plan {
    /// To ask the last question, the best at this place.
    Last(f64, FiniteChannel),
    /// To ask once more.
    Again(Again),
    /// Nothing: the answers cannot tell, and this is where they point.
    Lost(f64),
}

impl<M: Cdf + Score + ?Sized> Efficient<M> {
    /// At level ε from `start`, with `first_stage` ≥ 1 users in the first stage.
    ///
    /// Refused where no first question identifies the parameter: $P_\theta(A)$ must be monotone in θ, which is tried on a
    /// grid over the parameter space.
    pub fn new(model: Arc<M>, epsilon: Epsilon, start: f64, first_stage: u64) -> Result<Self> {
        Self::sized(model, epsilon, start, FirstStage::fixed(first_stage)?)
    }

    /// At level ε from `start`, with a first stage of the size that is about best if the start is half a unit of score off.
    ///
    /// With $u = 1/\sqrt{I_0}$ the unit of score at the start, $V_1$ the asymptotic variance of the first stage and c the loss
    /// of a second question that stands off by δ, relative and per δ²,
    /// $$n\,\mathrm{MSE}\cdot I^* \approx 1 + \frac{n_1}{n} + \frac{cV_1}{n_1}, \qquad n_1 = \sqrt{cV_1n}.$$
    /// Both are taken at δ = u/2, on the mean of both sides, c no less than $u^{-2}/4$; $n_1$ is at least 1 and at most n/2.
    ///
    /// ```
    /// use ldp_core::{Epsilon, model::Gaussian};
    /// use ldp_estimators::Efficient;
    /// use std::sync::Arc;
    /// let estimator = Efficient::tuned(Arc::new(Gaussian::new(1.0)?), Epsilon::new(1.0)?, 0.0)?;
    /// // The best that exact sums find for a start half a σ off is 306.
    /// assert_eq!(estimator.first_stage(10_000)?, 299);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn tuned(model: Arc<M>, epsilon: Epsilon, start: f64) -> Result<Self> {
        Self::sized(model, epsilon, start, FirstStage::Tuned(f64::NAN))
    }

    fn sized(model: Arc<M>, epsilon: Epsilon, start: f64, size: FirstStage) -> Result<Self> {
        model.admits(start)?;
        let firsts = Arc::new(Questions::new(Arc::clone(&model), epsilon, first)?);
        let seconds = Arc::new(Questions::new(Arc::clone(&model), epsilon, response)?);
        let (space, first, at_start) = (Space::around(&*model, start), firsts.at(start)?, seconds.at(start)?);
        let mut estimator = Self { model, epsilon, space, start, size, first, firsts, seconds };
        estimator.settle(&at_start)?;
        Ok(estimator)
    }

    /// What depends on the start beyond a change of place or unit.
    fn settle(&mut self, at_start: &FiniteChannel) -> Result<()> {
        if !identifies(&*self.model, self.start, &self.first) {
            return Err(Error::Unsupported {
                what: "a first stage from this start",
                needs: "a question that identifies the parameter: neither the probability of the best set here nor that of \
                        the values above the median is monotone in it",
            });
        }
        if let FirstStage::Tuned(factor) = &mut self.size {
            *factor = tuned_factor(&*self.model, self.start, &self.first, at_start, &self.seconds)?;
        }
        Ok(())
    }

    /// How many of `users` are in the first stage: at least one, and at least one is left.
    pub fn first_stage(&self, users: u64) -> Result<u64> {
        self.size.of(users)
    }

    /// What to do after the first stage.
    fn after_first(&self, users: u64, first: Bits) -> Result<Plan> {
        let (answered, asked) = (first.users(), self.first_stage(users)?);
        if answered > asked {
            return Err(Error::TooManyAnswers { asked, answered });
        }
        let counts = [first.users() - first.ones(), first.ones()];
        let place = |odds: f64| place(&self.first, &*self.model, self.space, &counts, &[self.start], odds);
        let (placed, left) = (place(users as f64)?, users - asked);
        if let Some(last) = self.last(&placed) {
            return Ok(last);
        }
        // Where there are too few to be asked once more, what there is has to do.
        if !enough(self.epsilon, left)
            && let Some(last) = self.last(&place(EASED)?)
        {
            return Ok(last);
        }
        let again = again(&*self.model, &self.firsts, self.epsilon, self.start, placed, left)?;
        Ok(again.map_or(Plan::Lost(placed.theta), Plan::Again))
    }

    /// What to do after asking once more.
    fn after_again(&self, users: u64, again: &Again, counts: &[u64]) -> Result<Plan> {
        let place = |odds: f64| place(&again.question, &*self.model, self.space, counts, &again.rungs, odds);
        let placed = place(users as f64)?;
        if let Some(last) = self.last(&placed) {
            return Ok(last);
        }
        Ok(self.last(&place(EASED)?).unwrap_or(Plan::Lost(placed.theta)))
    }

    /// The last question, if what was found is one place and there is a question for it.
    fn last(&self, placed: &Placed) -> Option<Plan> {
        let question = if placed.bounded { self.seconds.near(placed.theta) } else { None };
        question.map(|question| Plan::Last(placed.theta, question))
    }

    /// The next step of a plan, with so many users left.
    fn step(&self, plan: Plan, users: u64, first: Bits, again: Option<Vec<u64>>, left: u64) -> Result<StepOf<Self>> {
        Ok(match plan {
            Plan::Last(_, question) => {
                Step::Ask { round: Round::one(question, left), state: EfficientState::Second { users, first, again } }
            }
            Plan::Again(again) => Step::Ask {
                round: Round::one(again.question, again.users),
                state: EfficientState::Again { users, first },
            },
            Plan::Lost(theta) => Step::Done(EfficientEstimate::fallen(theta, Fallback::Unplaced)?),
        })
    }

    /// What was asked once more, after these first answers.
    fn asked_again(&self, users: u64, first: Bits) -> Result<Again> {
        match self.after_first(users, first)? {
            Plan::Again(again) => Ok(again),
            _ => Err(Error::TallyCount { expected: 0, found: 1 }),
        }
    }

    /// Where the last question stood, and the question.
    fn last_asked(&self, users: u64, first: Bits, again: Option<&[u64]>) -> Result<(f64, FiniteChannel)> {
        let plan = match again {
            None => self.after_first(users, first)?,
            Some(counts) => {
                let again = self.asked_again(users, first)?;
                let answered = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
                if answered.is_none_or(|answered| answered > again.users) {
                    return Err(Error::TooManyAnswers { asked: again.users, answered: answered.unwrap_or(u64::MAX) });
                }
                self.after_again(users, &again, counts)?
            }
        };
        match plan {
            Plan::Last(theta, question) => Ok((theta, question)),
            _ => Err(Error::TallyCount { expected: 0, found: 1 }),
        }
    }

    /// The estimate from the answers to the last question, which stood at `first`.
    fn finish(&self, first: f64, question: &FiniteChannel, counts: &[u64]) -> Result<EfficientEstimate> {
        let model = &*self.model;
        match maximum_likelihood(question, model, counts, first)? {
            Some(last) => {
                let curve = ScoreCurve::around(question, model, self.space, counts, last);
                EfficientEstimate::new(last, first, curve)
            }
            None if counts.iter().all(|&count| count == 0) => {
                EfficientEstimate::fallen(first, Fallback::NobodyAnswered)
            }
            None => {
                if let Some((end, curve)) = ScoreCurve::at_end(question, model, self.space, counts, first) {
                    return EfficientEstimate::at_end(end, first, curve);
                }
                match ScoreCurve::beyond(question, model, self.space, counts, first) {
                    Some(curve) => EfficientEstimate::beyond(first, curve),
                    None => EfficientEstimate::fallen(first, Fallback::Beyond),
                }
            }
        }
    }
}

/// Whether the share of the second cell grows with the parameter, as far as a grid can tell: in steps of a tenth of the way
/// outwards to about 60,000 units of score, and by halves towards an end of the parameter space.
fn identifies<M: Cdf + Score + ?Sized>(model: &M, start: f64, first: &FiniteChannel) -> bool {
    let unit = model.information(start).sqrt().recip();
    let grows = |theta: f64| {
        let mut slopes = [0.0; 2];
        first.partition().masses_dtheta(model, theta, &mut slopes);
        // A family that is not defined so far out does not count, nor does rounding.
        !(slopes[1] < -1e-9 * model.information(theta).sqrt())
    };
    [-1.0, 1.0].into_iter().all(|side| {
        let mut inside = start;
        for k in 0..160 {
            let theta = start + side * unit * 1.1f64.powi(k) / 64.0;
            if model.admits(theta).is_ok() {
                if !grows(theta) {
                    return false;
                }
                inside = theta;
                continue;
            }
            let mut outside = theta.clamp(f64::MIN, f64::MAX);
            for _ in 0..60 {
                let middle = 0.5 * inside + 0.5 * outside;
                if model.admits(middle).is_err() {
                    outside = middle;
                } else if grows(middle) {
                    inside = middle;
                } else {
                    return false;
                }
            }
            break;
        }
        true
    })
}

/// The best question with two reports that identifies the parameter. A best set in the midst of the values does not: its
/// probability falls again when the law has moved beyond it. That of the values above a point does in every family that is
/// stochastically ordered.
fn first<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<FiniteChannel> {
    let best = set(model, theta, epsilon)?;
    if identifies(model, theta, &best) {
        return Ok(best);
    }
    FiniteChannel::new(Partition::Threshold(model.quantile(theta, 0.5)), Kernel::response(epsilon, 2)?)
}

/// The best question with two reports.
fn set<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<FiniteChannel> {
    let bit = one_bit(model, theta, epsilon)?;
    // Where both find the same set, this one has the simpler ends: the level 0 of a score that dies out in the tails is
    // found there a second time, at 1e14, by rounding alone.
    match optimal::response_with(model, theta, epsilon, 2) {
        Ok(two) if two.reports() == 2 && two.information >= ALIKE * bit.information => Ok(two.channel),
        _ => bit.channel(epsilon),
    }
}

/// The best question.
fn response<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<FiniteChannel> {
    let best = optimal::response(model, theta, epsilon)?;
    // Where E − 1 has lost its digits, at ε = 1e-6, the intervals are not the best.
    let bit = one_bit(model, theta, epsilon)?;
    if best.information >= ALIKE * bit.information { Ok(best.channel) } else { bit.channel(epsilon) }
}

/// $cV_1$, see [`Efficient::tuned`].
fn tuned_factor<M: Cdf + Score + ?Sized>(
    model: &M,
    start: f64,
    first: &FiniteChannel,
    at_start: &FiniteChannel,
    seconds: &Questions<M>,
) -> Result<f64> {
    let information = model.information(start);
    let off = 0.5 / information.sqrt();
    let (mut sides, mut variance, mut loss) = (0.0, 0.0, 0.0);
    for theta in [start - off, start + off] {
        let best = model.admits(theta).ok().and_then(|()| seconds.near(theta));
        if let Some(best) = best {
            sides += 1.0;
            variance += exact(first, model, theta)?.value.recip();
            loss += exact(&best, model, theta)?.value / exact(at_start, model, theta)?.value - 1.0;
        }
    }
    if sides == 0.0 {
        return Ok(LEAST_LOSS * information / exact(first, model, start)?.value);
    }
    Ok((loss / sides / (off * off)).max(LEAST_LOSS * information) * variance / sides)
}

impl<M: Cdf + Score + ?Sized> StagedEstimator for Efficient<M> {
    type Question = FiniteChannel;
    type Tally = Counts;
    type State = EfficientState;
    type Estimate = EfficientEstimate;

    fn tally(&self, question: &FiniteChannel) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let first_stage = self.first_stage(users)?;
        Ok(Step::Ask { round: Round::one(self.first.clone(), first_stage), state: EfficientState::First { users } })
    }

    fn advance(&self, state: EfficientState, answers: &[Counts]) -> Result<StepOf<Self>> {
        let [answers] = answers else {
            return Err(Error::TallyCount { expected: 1, found: answers.len() });
        };
        match state {
            EfficientState::First { users } => {
                let &[_, ones] = answers.counts() else {
                    return Err(Error::TallyAlphabet { expected: 2, found: answers.counts().len() });
                };
                let first = Bits::new(ones, answers.users())?;
                let left = users - self.first_stage(users)?;
                self.step(self.after_first(users, first)?, users, first, None, left)
            }
            EfficientState::Again { users, first } => {
                let again = self.asked_again(users, first)?;
                let left = users - self.first_stage(users)? - again.users;
                let plan = self.after_again(users, &again, answers.counts())?;
                self.step(plan, users, first, Some(answers.counts().to_vec()), left)
            }
            EfficientState::Second { users, first, again } => {
                let (theta, question) = self.last_asked(users, first, again.as_deref())?;
                Ok(Step::Done(self.finish(theta, &question, answers.counts())?))
            }
        }
    }
}

impl<M: Cdf + Score + ?Sized> StartAt for Efficient<M> {
    fn start_at(&self, start: f64) -> Result<Self> {
        let (first, at_start) = (self.firsts.at(start)?, self.seconds.at(start)?);
        let mut moved = Self { start, first, ..self.clone() };
        // Of a symmetric family everything looks the same from every start.
        if self.model.symmetry() == Symmetry::None {
            moved.settle(&at_start)?;
        }
        Ok(moved)
    }
}

impl<M: ?Sized> Clone for Efficient<M> {
    fn clone(&self) -> Self {
        let &Self { ref model, epsilon, space, start, size, ref first, ref firsts, ref seconds } = self;
        Self {
            model: Arc::clone(model),
            epsilon,
            space,
            start,
            size,
            first: first.clone(),
            firsts: Arc::clone(firsts),
            seconds: Arc::clone(seconds),
        }
    }
}

impl<M: ?Sized> fmt::Debug for Efficient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, size, first, .. } = self;
        f.debug_struct("Efficient")
            .field("start", start)
            .field("size", size)
            .field("first", first)
            .finish_non_exhaustive()
    }
}
