//! Sign stages coordinate by coordinate.

use crate::{SignStage, VectorEstimate, VectorRemark};
use ldp_core::error::require;
use ldp_core::{Bits, Epsilon, Error, Group, Result, Round, StagedEstimator, Step, StepOf, Tally};
use ldp_mechanisms::{CoordinateSign, Sign};
use serde::{Deserialize, Serialize};

/// The most coordinates, as of the mechanisms for vectors.
const MOST_COORDINATES: u64 = 1 << 24;

/// The two-stage sign estimator of the mean of $N(\theta, \sigma^2 I_d)$, every user asked about one coordinate.
///
/// `first_stage` users in d groups answer at the start and give θ̃; the others, again in d groups, answer at θ̃. Each
/// coordinate is a [`TwoStage`](crate::TwoStage) of its own and falls back like one: to θ̃, or to the start. Without a
/// first stage the start is θ̃. Groups are of equal size, the first ones get the rest.
///
/// - n·MSE → $\sigma^2 d^2 V$, [`coordinate_variance`], $V = \frac{\pi}{2}\tau^{-2}$, when $n_1 \to \infty$ and
///   $n_1/n \to 0$; MSE is that of all coordinates together.
/// - Rounds: 2, or 1 without a first stage. Questions: [`CoordinateSign`], which is exact to the last bit;
///   [`VectorGaussian`](crate::VectorGaussian) may do better but samples in floating point.
///
/// The stages are those of [KS25].
///
/// ```
/// use ldp_simulate::Vectors;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, run};
/// use ldp_estimators::VectorSign;
/// let estimator = VectorSign::new(Epsilon::new(1.0)?, 2, 3.0, &[0.0], 600)?;
/// let (model, users) = (Gaussian::new(3.0)?, 20_000);
/// let estimate = run(&estimator, users, &mut Vectors::new(&model, &[1.0, -2.0], users, 5)?)?;
/// for (j, mean) in [1.0, -2.0].into_iter().enumerate() {
///     assert!((estimate.values()[j] - mean).abs() < 5.0 * estimate.standard_errors()[j].unwrap());
/// }
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Debug, PartialEq)]
pub struct VectorSign {
    /// The response, its threshold moved for every question.
    sign: Sign,
    sigma: f64,
    start: Vec<f64>,
    first_stage: u64,
}

/// What a protocol in two stages for vectors remembers between rounds: counts alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VectorState {
    /// The first stage is out.
    First {
        /// All users of the protocol.
        users: u64,
    },
    /// The second stage is out.
    Second {
        /// All users of the protocol.
        users: u64,
        /// What the first brought, by coordinate; empty without a first stage.
        first: Vec<Bits>,
    },
}

/// The limit of n·MSE with one coordinate per user, σ = 1: $d^2 V$ with $V = \frac{\pi}{2}\tau^{-2}$.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_estimators::coordinate_variance;
/// assert!((coordinate_variance(Epsilon::new(1.0)?, 5) / 25.0 - 7.355559).abs() < 1e-6);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[must_use]
pub fn coordinate_variance(epsilon: Epsilon, dimension: usize) -> f64 {
    (dimension as f64).powi(2) * crate::one_stage_variance(epsilon, 0.0)
}

/// A coordinate after a stage: where it is, how well that is known, and whether the stage said so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) value: f64,
    pub(crate) error: Option<f64>,
    fallback: Option<VectorRemark>,
}

impl VectorSign {
    /// At level ε for `dimension` coordinates with standard deviation `sigma`, from `start`: a number for every
    /// coordinate, or one for all. The first stage has `first_stage` users, none or at least one per coordinate.
    pub fn new(epsilon: Epsilon, dimension: usize, sigma: f64, start: &[f64], first_stage: u64) -> Result<Self> {
        let count = dimension as u64;
        match count {
            0 => return Err(Error::TooFew { name: "dimension", least: 1, value: 0 }),
            value if value > MOST_COORDINATES => {
                return Err(Error::TooMany { name: "dimension", most: MOST_COORDINATES, value });
            }
            _ => {}
        }
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)?;
        start.iter().try_for_each(|&c| require(c.is_finite(), "start", "finite", c))?;
        let start = match start {
            [all] => vec![*all; dimension],
            each if each.len() == dimension => each.to_vec(),
            other => {
                let found = other.len();
                return Err(Error::Length { what: "coordinates of the start", expected: dimension, found });
            }
        };
        if first_stage > 0 && first_stage < count {
            return Err(Error::TooFew { name: "first-stage", least: count, value: first_stage });
        }
        Ok(Self { sign: Sign::new(epsilon, 0.0)?, sigma, start, first_stage })
    }

    /// The number of coordinates.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.start.len()
    }

    /// σ.
    pub(crate) fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The users of the second stage, at least `least` of them, and what is asked first: the round of the first stage,
    /// or nothing if there is none.
    pub(crate) fn opening(&self, users: u64, least: u64) -> Result<(u64, Option<Vec<Group<CoordinateSign>>>)> {
        let needed = self.first_stage.checked_add(least).ok_or(Error::TooMany {
            name: "first-stage",
            most: u64::MAX - least,
            value: self.first_stage,
        })?;
        if users < needed {
            return Err(Error::TooFew { name: "users", least: needed, value: users });
        }
        let round = (self.first_stage > 0).then(|| self.groups(&self.start, self.first_stage)).transpose()?;
        Ok((users - self.first_stage, round))
    }

    /// One group per coordinate, each asked where `places` says.
    fn groups(&self, places: &[f64], users: u64) -> Result<Vec<Group<CoordinateSign>>> {
        let count = places.len() as u64;
        (0u64..)
            .zip(places)
            .map(|(j, &place)| {
                let question = CoordinateSign::new(j as usize, self.sign.at(place)?);
                Ok(Group { question, users: users / count + u64::from(j < users % count) })
            })
            .collect()
    }

    /// Where the first stage points, from its counts, which are checked: they may come from outside.
    pub(crate) fn pilot(&self, first: &[Bits]) -> Result<Vec<Place>> {
        let here = |&value: &f64| Place { value, error: None, fallback: None };
        let start: Vec<Place> = self.start.iter().map(here).collect();
        if self.first_stage == 0 {
            return if first.is_empty() { Ok(start) } else { Err(tally_count(0, first.len())) };
        }
        self.stage(&start, self.first_stage, first)
    }

    /// A stage of `users` users at these places, each coordinate falling back to its place.
    fn stage(&self, places: &[Place], users: u64, answers: &[Bits]) -> Result<Vec<Place>> {
        if answers.len() != places.len() {
            return Err(tally_count(places.len(), answers.len()));
        }
        let count = places.len() as u64;
        let mut after = Vec::with_capacity(places.len());
        for ((j, place), &bits) in (0u64..).zip(places).zip(answers) {
            let (asked, answered) = (users / count + u64::from(j < users % count), bits.users());
            if answered > asked {
                return Err(Error::TooManyAnswers { asked, answered });
            }
            // The sign question sits at zero: the stage's own numbers are offsets in units of σ.
            let stage = SignStage::new(self.sign, bits);
            after.push(match stage.estimate() {
                Some(offset) => Place {
                    value: place.value + self.sigma * offset,
                    error: stage.standard_error().map(|error| self.sigma * error),
                    fallback: None,
                },
                None if answered == 0 => Place { fallback: Some(VectorRemark::NobodyAnswered), ..*place },
                None => Place { fallback: Some(VectorRemark::Boundary), ..*place },
            });
        }
        Ok(after)
    }

    /// The end, from the counts of both stages.
    fn finish(&self, users: u64, first: &[Bits], answers: &[Bits]) -> Result<VectorEstimate> {
        let (second_stage, _) = self.opening(users, self.dimension() as u64)?;
        let places = self.stage(&self.pilot(first)?, second_stage, answers)?;
        let remark = places.iter().find_map(|place| place.fallback);
        finished(&places, remark)
    }

    /// What follows the counts `first` of the first stage: a group per coordinate where they point.
    fn second(&self, users: u64, first: &[Bits]) -> Result<Vec<Group<CoordinateSign>>> {
        let (second_stage, _) = self.opening(users, self.dimension() as u64)?;
        let places: Vec<f64> = self.pilot(first)?.iter().map(|place| place.value).collect();
        self.groups(&places, second_stage)
    }
}

/// The estimate that places make.
pub(crate) fn finished(places: &[Place], remark: Option<VectorRemark>) -> Result<VectorEstimate> {
    let values = places.iter().map(|place| place.value).collect();
    let errors = places.iter().map(|place| place.error.filter(|error| error.is_finite())).collect();
    VectorEstimate::new(values, errors, remark)
}

fn tally_count(expected: usize, found: usize) -> Error {
    Error::TallyCount { expected, found }
}

/// A round of these groups, as it comes back from JSON too.
pub(crate) fn round<Q>(groups: Vec<Group<Q>>) -> Round<Q> {
    <[Group<Q>; 1]>::try_from(groups).map_or_else(Round::Many, Round::One)
}

impl StagedEstimator for VectorSign {
    type Question = CoordinateSign;
    type Tally = Bits;
    type State = VectorState;
    type Estimate = VectorEstimate;

    fn tally(&self, _: &CoordinateSign) -> Bits {
        Bits::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        Ok(match self.opening(users, self.dimension() as u64)? {
            (_, Some(groups)) => Step::Ask { round: round(groups), state: VectorState::First { users } },
            (_, None) => {
                let state = VectorState::Second { users, first: Vec::new() };
                Step::Ask { round: round(self.second(users, &[])?), state }
            }
        })
    }

    fn advance(&self, state: VectorState, answers: &[Bits]) -> Result<StepOf<Self>> {
        Ok(match state {
            VectorState::First { users } => {
                let groups = self.second(users, answers)?;
                let state = VectorState::Second { users, first: answers.to_vec() };
                Step::Ask { round: round(groups), state }
            }
            VectorState::Second { users, first } => Step::Done(self.finish(users, &first, answers)?),
        })
    }
}
