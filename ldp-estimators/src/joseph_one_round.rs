//! Joseph et al. for a known σ in one round: every possible second question is asked at once.

use crate::fewest::{fewest, too_few};
use crate::{BitwisePilot, Caution, MeanEstimate, Remark, SignStage};
use ldp_core::error::require;
use ldp_core::{
    Bits, Counts, Epsilon, Error, Finite, Group, Rescale, Result, Round, StagedEstimator, Step, StepOf, Tally,
};
use ldp_mechanisms::{Residue, Sign};
use serde::{Deserialize, Serialize};

/// Points of the lattices per σ.
const PER_SIGMA: f64 = 5.0;

/// One-round KVGausstimate of [JKMW19]: the mean of a Gaussian with known σ, in a known range, without interaction.
///
/// The first users are those of a [`BitwisePilot`]. The others are spread over the lattices $r + \rho\sigma\mathbb Z$ for
/// r = 0.2σ, 0.4σ, …, ρσ with $\rho = \lceil 2\sqrt{\ln 4n}\rceil$, and report whether x lies above the nearest point of
/// theirs, through randomised response. The analyst uses the one lattice that passes closest to the pilot's estimate.
///
/// - All but one of 5ρ groups (35 to 50 of them) are thrown away: n·MSE is about 5ρ times that of two rounds.
/// - The nearest point is the right one unless x is ρσ/2 away: the share of such values, at most $1/(4n)^{1/2}$ or so,
///   is the estimate's bias, so its interval is a Wald interval and not an exact one.
/// - Rounds: 1. Questions: [`Residue`], modulo 4 and modulo 2.
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{BitwisePilot, JosephOneRound, Share};
/// let epsilon = Epsilon::new(1.0)?;
/// let pilot = BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::HALF)?;
/// let estimator = JosephOneRound::new(epsilon, pilot, 1.0)?;
/// let estimate = run(&estimator, 200_000, &mut Tallies::new(&Gaussian::new(1.0)?, 100.25, 1)?)?;
/// assert!((estimate.value() - 100.25).abs() < 0.3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
#[derive(Clone, Debug, PartialEq)]
pub struct JosephOneRound {
    pilot: BitwisePilot,
    question: Sign,
    epsilon: Epsilon,
    sigma: f64,
}

/// What a [`JosephOneRound`] remembers: its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JosephOneRoundState {
    users: u64,
}

impl JosephOneRound {
    /// At level ε, on values with standard deviation `sigma`, with the users of `pilot` for the first guess.
    pub fn new(epsilon: Epsilon, pilot: BitwisePilot, sigma: f64) -> Result<Self> {
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)?;
        Ok(Self { pilot, question: Sign::new(epsilon, 0.0)?, epsilon, sigma })
    }

    /// The distance ρσ of the points of a lattice, and how many lattices there are.
    fn lattices(&self, users: u64) -> (f64, u64) {
        let rho = (2.0 * (4.0 * users as f64).ln().sqrt()).ceil();
        (rho * self.sigma, (PER_SIGMA * rho) as u64)
    }

    /// The groups of the pilot, then those of the lattices.
    fn groups(&self, users: u64) -> Result<Vec<Group<Residue>>> {
        let group = self.pilot.group(users, self.pilot.fewest_per_scale())?;
        let taken = group * u64::from(self.pilot.scales());
        let (period, lattices) = self.lattices(users);
        let left = users - taken;
        if left < lattices {
            return Err(Error::TooFew { name: "users", least: lattices, value: left });
        }
        let mut groups: Vec<_> = self.pilot.groups(group).collect();
        for i in 0..lattices {
            // Above the nearest point: in the first half of the period that begins at it.
            let question = Residue::new(self.epsilon, self.offset(i), period / 2.0, 2)?;
            groups.push(Group { question, users: left / lattices + u64::from(i < left % lattices) });
        }
        Ok(groups)
    }

    /// Where lattice number i begins.
    fn offset(&self, i: u64) -> f64 {
        (i + 1) as f64 / PER_SIGMA * self.sigma
    }

    /// The fewest users that give every lattice one, more than `users`.
    fn fewest(&self, users: u64) -> u64 {
        fewest(users, |users| {
            let taken = self.pilot.group(users, self.pilot.fewest_per_scale())? * u64::from(self.pilot.scales());
            Ok((users - taken, self.lattices(users).1))
        })
    }

    /// The lattice that passes closest to the guess, and its point there.
    fn closest(&self, users: u64, guess: f64) -> (usize, f64) {
        let (period, lattices) = self.lattices(users);
        let point = |i| {
            let offset = self.offset(i);
            offset + ((guess - offset) / period).round() * period
        };
        (0..lattices)
            .map(|i| (i as usize, point(i)))
            .min_by(|(_, a), (_, b)| (a - guess).abs().total_cmp(&(b - guess).abs()))
            .unwrap_or((0, guess))
    }
}

impl StagedEstimator for JosephOneRound {
    type Question = Residue;
    type Tally = Counts;
    type State = JosephOneRoundState;
    type Estimate = MeanEstimate;

    fn tally(&self, question: &Residue) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let groups = self.groups(users).map_err(|error| too_few(error, users, || self.fewest(users)))?;
        Ok(Step::Ask { round: Round::Many(groups), state: JosephOneRoundState { users } })
    }

    fn advance(&self, JosephOneRoundState { users }: JosephOneRoundState, answers: &[Counts]) -> Result<StepOf<Self>> {
        let scales = self.pilot.scales() as usize;
        let expected = scales + self.lattices(users).1 as usize;
        if answers.len() != expected {
            return Err(Error::TallyCount { expected, found: answers.len() });
        }
        let (first, second) = answers.split_at(scales);
        let found = self.pilot.read(first.iter())?;
        let (lattice, point) = self.closest(users, found.value());
        // A state from outside may name a number of users without lattices.
        let Some(answer) = second.get(lattice) else {
            return Err(Error::TallyCount { expected, found: answers.len() });
        };
        let &[above, _] = answer.counts() else {
            return Err(Error::TallyAlphabet { expected: 2, found: answer.counts().len() });
        };
        let stage = SignStage::new(self.question.at(point / self.sigma)?, Bits::new(above, answer.users())?);
        let stage = stage.rescale(self.sigma)?;
        let remark = match stage.estimate() {
            None if answer.users() == 0 => Some(Remark::NobodyAnswered),
            None => Some(Remark::Fallback),
            Some(_) => None,
        };
        let value = stage.estimate().unwrap_or(point);
        let estimate = MeanEstimate::new(value, stage.standard_error(), remark)?;
        Ok(Step::Done(if found.doubtful() { estimate.with_caution(Caution::Pilot) } else { estimate }))
    }
}
