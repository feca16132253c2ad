//! Joseph et al. for an unknown σ in one round.

use crate::bitwise_pilot::exp2;
use crate::bitwise_spread::BitwiseSpread;
use crate::fewest::{fewest, too_few};
use crate::joseph_unknown_variance::{empty, mean};
use crate::{BitwisePilot, Caution, MeanEstimate};
use ldp_core::{Counts, Epsilon, Error, Group, Inference, Mixed, Result, Round, StagedEstimator, Step, StepOf, Sum};
use ldp_mechanisms::{LatticeLaplace, Residue};
use serde::{Deserialize, Serialize};

/// One-round UVGausstimate of [JKMW19]: the mean of a Gaussian in a known range, σ unknown, without interaction.
///
/// The first users are those of the pilot of [`JosephUnknownVariance`](crate::JosephUnknownVariance). The others are spread
/// over the scales $2^j$ and the lattices $i2^j + \rho 2^j\mathbb Z$, i = 1, …, ρ, with $\rho = \lceil\sqrt{\ln 4n}+6\rceil$,
/// and report their distance to the nearest point with Laplace noise ([`LatticeLaplace`]). The analyst uses the scale
/// $\hat\sigma$ and the lattice that passes closest to the pilot.
///
/// - All but one of Lρ groups (about 70) are thrown away, and the noise is as wide as the lattice: the most expensive of
///   the four protocols of [JKMW19] by far.
/// - Conditions and caveats of $\hat\sigma$: see [`JosephUnknownVariance`](crate::JosephUnknownVariance).
/// - Rounds: 1. Questions: [`Residue`] and [`LatticeLaplace`]. Reports are real, so every user is simulated.
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{BitwisePilot, JosephOneRoundUnknownVariance, Share};
/// let epsilon = Epsilon::new(4.0)?;
/// let pilot = BitwisePilot::new(epsilon, [0.0, 128.0], 0.5, Share::HALF)?;
/// let estimator = JosephOneRoundUnknownVariance::new(epsilon, pilot, 8.0)?;
/// let model = Gaussian::new(2.0)?;
/// let estimate = run(&estimator, 200_000, &mut Users::new(&model, 100.25, 200_000, 1)?)?;
/// assert!((estimate.value() - 100.25).abs() < 2.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
#[derive(Clone, Debug, PartialEq)]
pub struct JosephOneRoundUnknownVariance {
    spread: BitwiseSpread,
    epsilon: Epsilon,
}

/// What a [`JosephOneRoundUnknownVariance`] remembers: its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JosephOneRoundUnknownVarianceState {
    users: u64,
}

impl JosephOneRoundUnknownVariance {
    /// At level ε; the pilot's σ is the smallest that is possible, `sigma_high` the largest.
    pub fn new(epsilon: Epsilon, pilot: BitwisePilot, sigma_high: f64) -> Result<Self> {
        Ok(Self { spread: BitwiseSpread::new(pilot, sigma_high)?, epsilon })
    }

    /// ρ: lattices per scale, and the distance of their points in units of the scale.
    fn lattices(users: u64) -> u64 {
        ((4.0 * users as f64).ln().sqrt() + 6.0).ceil() as u64
    }

    /// Lattice number i = 1, …, ρ of a scale.
    fn lattice(&self, exponent: i32, i: u64, rho: u64) -> Result<LatticeLaplace> {
        let scale = exp2(exponent);
        LatticeLaplace::new(self.epsilon, i as f64 * scale, rho as f64 * scale)
    }

    /// The groups of the pilot, then those of the lattices, scale by scale, as large as they can be alike.
    fn groups(&self, users: u64) -> Result<Vec<Group<<Self as StagedEstimator>::Question>>> {
        let pilot = self.spread.pilot();
        let group = pilot.group(users, self.spread.fewest_per_scale())?;
        let taken = group * u64::from(pilot.scales());
        let (rho, scales) = (Self::lattices(users), u64::from(pilot.scales()));
        let each = (users - taken) / (scales * rho);
        if each == 0 {
            return Err(Error::TooFew { name: "users", least: scales * rho, value: users - taken });
        }
        let residues = pilot.groups(group);
        let mut groups: Vec<_> =
            residues.map(|Group { question, users }| Group { question: Mixed::First(question), users }).collect();
        for exponent in pilot.exponents() {
            for i in 1..=rho {
                groups.push(Group { question: Mixed::Second(self.lattice(exponent, i, rho)?), users: each });
            }
        }
        Ok(groups)
    }
}

impl StagedEstimator for JosephOneRoundUnknownVariance {
    type Question = Mixed<Residue, LatticeLaplace>;
    type Tally = Mixed<Counts, Sum>;
    type State = JosephOneRoundUnknownVarianceState;
    type Estimate = MeanEstimate;

    fn tally(&self, question: &Self::Question) -> Self::Tally {
        empty(question)
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let (pilot, scales) = (self.spread.pilot(), u64::from(self.spread.pilot().scales()));
        let least = || {
            fewest(users, |users| {
                let taken = pilot.group(users, self.spread.fewest_per_scale())? * scales;
                Ok((users - taken, scales * Self::lattices(users)))
            })
        };
        let groups = self.groups(users).map_err(|error| too_few(error, users, least))?;
        Ok(Step::Ask { round: Round::Many(groups), state: JosephOneRoundUnknownVarianceState { users } })
    }

    fn advance(&self, state: Self::State, answers: &[Self::Tally]) -> Result<StepOf<Self>> {
        let pilot = self.spread.pilot();
        let (rho, scales) = (Self::lattices(state.users), pilot.scales() as usize);
        let expected = scales * (1 + rho as usize);
        if answers.len() != expected {
            return Err(Error::TallyCount { expected, found: answers.len() });
        }
        let (first, second) = answers.split_at(scales);
        let counts = |tally: &Self::Tally| tally.first().cloned();
        let first = first.iter().map(counts).collect::<Result<Vec<_>>>()?;
        let debiased = pilot.debias(first.iter())?;
        let (found, sigma) = (pilot.locate(&debiased), self.spread.exponent(&debiased));
        let mut best: Option<(usize, LatticeLaplace, f64)> = None;
        for i in 1..=rho {
            let lattice = self.lattice(sigma, i, rho)?;
            let away = lattice.residual(found.value()).abs();
            if best.as_ref().is_none_or(|(.., closest)| away < *closest) {
                best = Some((i as usize - 1, lattice, away));
            }
        }
        let Some((place, lattice, _)) = best else {
            return Err(Error::TooFew { name: "lattices", least: 1, value: rho });
        };
        let place = (sigma - pilot.exponents().start) as usize * rho as usize + place;
        let sum = second[place].second()?;
        let about_point = mean(lattice.noise(), *sum, 0.0)?;
        let value = lattice.nearest(found.value()) + about_point.value();
        let estimate = MeanEstimate::new(value, about_point.standard_error(), about_point.remark())?;
        Ok(Step::Done(estimate.with_caution(Caution::PilotAndScale)))
    }
}
