//! Joseph et al. for an unknown σ: a bitwise pilot for mean and scale, then Laplace noise on clipped values.

use crate::bitwise_pilot::exp2;
use crate::bitwise_spread::BitwiseSpread;
use crate::fewest::{fewest, too_few};
use crate::{BitwisePilot, Caution, MeanEstimate, PilotEstimate, Remark};
use ldp_core::{
    Averages, Counts, Epsilon, Error, Finite, Group, Mixed, Result, Round, StagedEstimator, Step, StepOf, Sum, Tally,
    Unbiased,
};
use ldp_mechanisms::{Laplace, Range, Residue};
use serde::{Deserialize, Serialize};

/// UVGausstimate of [JKMW19]: the mean of a Gaussian in a known range, σ known only to lie in a range of its own.
///
/// The first round is that of a [`BitwisePilot`] down to the smallest σ; EstVar reads $\hat\sigma$ off the same answers. In
/// the second, values are clipped to $\mathrm{pilot} \pm \hat\sigma(2+\sqrt{\ln 4n})$ and averaged with Laplace noise.
///
/// - EstVar: with pair sums $G^j(a) = H^j(a) + H^j(a+1 \bmod 4)$ and
///   $t = \sqrt{2k\ln(2L/\beta)} + (1+4/\varepsilon)\sqrt{2k\ln(8L/\beta)}$, scale j is concentrated if
///   $\min_a G^j(a) \le 0.03k + t$, and $\hat\sigma = 2^j$ for the smallest j above which every scale is.
/// - Unless $0.03k + t < k/2$ every scale counts as concentrated: fewer users are refused, with the smallest number that
///   would do. Even so $\hat\sigma$ may fall below σ; the mean is then that of clipped values.
/// - n·MSE is about $2\varepsilon^{-2}$ times the squared width of the clipping interval, divided by the share of users in
///   the second round: tens to hundreds of times the sign protocols, the price of not knowing σ and of Laplace noise.
/// - Rounds: 2. Questions: [`Residue`], then [`Laplace`]. Reports are real, so every user is simulated.
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{BitwisePilot, JosephUnknownVariance, Share};
/// let epsilon = Epsilon::new(1.0)?;
/// let pilot = BitwisePilot::new(epsilon, [0.0, 128.0], 0.5, Share::HALF)?;
/// let estimator = JosephUnknownVariance::new(epsilon, pilot, 8.0)?;
/// let model = Gaussian::new(2.0)?;
/// let estimate = run(&estimator, 100_000, &mut Users::new(&model, 100.25, 100_000, 1)?)?;
/// assert!((estimate.value() - 100.25).abs() < 1.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
#[derive(Clone, Debug, PartialEq)]
pub struct JosephUnknownVariance {
    spread: BitwiseSpread,
    epsilon: Epsilon,
}

/// What a [`JosephUnknownVariance`] remembers between rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JosephUnknownVarianceState {
    /// The pilot is out.
    Pilot {
        /// All users of the protocol.
        users: u64,
    },
    /// The clipped values are out.
    Clipped {
        /// All users of the protocol.
        users: u64,
        /// What the pilot found.
        found: PilotEstimate,
        /// The exponent of $\hat\sigma$.
        sigma: i32,
    },
}

impl JosephUnknownVariance {
    /// At level ε; the pilot's σ is the smallest that is possible, `sigma_high` the largest.
    pub fn new(epsilon: Epsilon, pilot: BitwisePilot, sigma_high: f64) -> Result<Self> {
        // The second question must exist before anybody is asked the first.
        Laplace::new(epsilon, Range::new(-1.0, 1.0)?)?;
        Ok(Self { spread: BitwiseSpread::new(pilot, sigma_high)?, epsilon })
    }

    /// The pilot's group size; somebody must be left for the second round.
    fn group(&self, users: u64) -> Result<u64> {
        let pilot = self.spread.pilot();
        let group = pilot.group(users, self.spread.fewest_per_scale())?;
        let taken = group * u64::from(pilot.scales());
        if taken >= users {
            return Err(Error::TooFew { name: "users", least: taken.saturating_add(1), value: users });
        }
        Ok(group)
    }

    /// The second question: Laplace noise around what the first round found.
    fn second(&self, users: u64, found: PilotEstimate, sigma: i32) -> Result<Laplace> {
        let half = exp2(sigma) * (2.0 + (4.0 * users as f64).ln().sqrt());
        Laplace::new(self.epsilon, Range::new(found.value() - half, found.value() + half)?)
    }
}

impl StagedEstimator for JosephUnknownVariance {
    type Question = Mixed<Residue, Laplace>;
    type Tally = Mixed<Counts, Sum>;
    type State = JosephUnknownVarianceState;
    type Estimate = MeanEstimate;

    fn tally(&self, question: &Self::Question) -> Self::Tally {
        empty(question)
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let (pilot, scales) = (self.spread.pilot(), u64::from(self.spread.pilot().scales()));
        let least =
            || fewest(users, |users| Ok((users - pilot.group(users, self.spread.fewest_per_scale())? * scales, 1)));
        let group = self.group(users).map_err(|error| too_few(error, users, least))?;
        let groups = pilot.groups(group);
        let groups = groups.map(|Group { question, users }| Group { question: Mixed::First(question), users });
        Ok(Step::Ask { round: Round::Many(groups.collect()), state: JosephUnknownVarianceState::Pilot { users } })
    }

    fn advance(&self, state: Self::State, answers: &[Self::Tally]) -> Result<StepOf<Self>> {
        let pilot = self.spread.pilot();
        match state {
            JosephUnknownVarianceState::Pilot { users } => {
                let counts = |tally: &Self::Tally| tally.first().cloned();
                let answers = answers.iter().map(counts).collect::<Result<Vec<_>>>()?;
                let scales = pilot.debias(answers.iter())?;
                let (found, sigma) = (pilot.locate(&scales), self.spread.exponent(&scales));
                let left = users - self.group(users)? * u64::from(pilot.scales());
                let round = Round::one(Mixed::Second(self.second(users, found, sigma)?), left);
                Ok(Step::Ask { round, state: JosephUnknownVarianceState::Clipped { users, found, sigma } })
            }
            JosephUnknownVarianceState::Clipped { users, found, sigma } => {
                self.spread.check_exponent(sigma)?;
                let question = self.second(users, found, sigma)?;
                let [answer] = answers else { return Err(Error::TallyCount { expected: 1, found: answers.len() }) };
                let sum = answer.second()?;
                Ok(Step::Done(mean(&question, *sum, found.value())?))
            }
        }
    }
}

/// An empty tally for residues, or for the noisy values that are asked after them.
pub(crate) fn empty<Q>(question: &Mixed<Residue, Q>) -> Mixed<Counts, Sum> {
    match question {
        Mixed::First(residue) => Mixed::First(Counts::new(residue.reports())),
        Mixed::Second(_) => Mixed::Second(Sum::default()),
    }
}

/// The mean of Laplace reports around an offset of zero, or `guess` if there are none.
pub(crate) fn mean(question: &Laplace, sum: Sum, guess: f64) -> Result<MeanEstimate> {
    let remark = (sum.users() == 0).then_some(Remark::NobodyAnswered);
    // One unit of a report is half the width of the range.
    let unit = question.decode(1.0) - question.decode(0.0);
    let error = sum.standard_error().map(|error| error * unit).filter(|&error| error > 0.0);
    let estimate = MeanEstimate::new(sum.mean().map_or(guess, |mean| question.decode(mean)), error, remark)?;
    Ok(estimate.with_caution(Caution::PilotAndScale))
}
