//! The protocols by name.

use super::{BuiltModel, Entry, Key, Values, resolve};
use crate::report::plain;
use crate::spec::Spec;
use anyhow::Context;
use ldp_core::Epsilon;
use ldp_core::error::require;
use ldp_estimators::{
    BitwisePilot, ClippedMean, ClippedMoments, ClippedMomentsUnknownVariance, DuchiRogers, Efficient, Joseph,
    JosephOneRound, JosephOneRoundUnknownVariance, JosephUnknownVariance, Liu, Method, OneStage, Piloted, Rescaled,
    ThreeStage, TwoStage, VectorGaussian, VectorMean, mean_direction,
};
use ldp_mechanisms::{Duchi, DuchiL2, DuchiLinf, Hybrid, Laplace, Piecewise, PrivUnitG, ProjUnit, Range, Staircase};
use ldp_simulate::AnyModel;
use ldp_simulate::{AnyEstimator, Fidelity, erase, erase_in_lanes, erase_real, erase_vectors};
use std::sync::Arc;

/// What a protocol is told besides its own keys.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The privacy level.
    pub epsilon: Epsilon,
    /// The known standard deviation of the values.
    pub sigma: f64,
    /// The family of the values, for protocols that are made for it.
    pub model: &'a Arc<dyn AnyModel>,
    /// A parameter of the family, for protocols that are told no start.
    pub theta: f64,
    /// Whether the values are Gaussian with this standard deviation beyond doubt: simulated ones are, data never.
    pub certain: bool,
}

impl<'a> Known<'a> {
    /// At this level, and what the model tells.
    pub fn new(epsilon: Epsilon, built: &'a BuiltModel) -> Self {
        let (sigma, theta) = (built.scale, built.usual_theta());
        Self { epsilon, sigma, model: &built.model, theta, certain: built.gaussian }
    }

    /// The same on data, of which the model is what somebody takes them for.
    pub fn on_data(self) -> Self {
        Self { certain: false, ..self }
    }

    /// Whether the parameter is confined to probabilities, where one start is as near as any to all of them.
    fn confined(&self) -> bool {
        [-1.0, 2.0].iter().all(|&theta| self.model.admits(theta).is_err())
    }
}

/// What a protocol estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The parameter of the model.
    Parameter,
    /// The mean of the values.
    Mean,
    /// This quantile of the values.
    Quantile(f64),
    /// The parameter of each of several coordinates.
    Vector,
    /// The mean of each of several coordinates.
    VectorMean,
    /// The mean of each of so many coordinates of the direction x/|x|.
    Directions(usize),
}

impl Target {
    /// Its value under a model at `theta`.
    pub fn value(self, built: &BuiltModel, theta: f64) -> anyhow::Result<f64> {
        Ok(match self {
            Self::Parameter | Self::Vector => theta,
            Self::Mean | Self::VectorMean => (built.mean)(theta),
            Self::Quantile(level) => built.model.quantile(theta, level),
            Self::Directions(dimension) => mean_direction(&*built.model, theta, dimension)
                .with_context(|| format!("the mean of x/|x| under {}", built.spec))?,
        })
    }

    /// In a word, for records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameter => "theta",
            Self::Mean => "mean",
            Self::Quantile(_) => "quantile",
            Self::Vector => "theta of every coordinate",
            Self::VectorMean => "mean of every coordinate",
            Self::Directions(_) => "mean of x/|x|, every coordinate",
        }
    }
}

/// A protocol, and what the commands need to know about it.
pub struct BuiltEstimator {
    /// The protocol.
    pub estimator: Box<dyn AnyEstimator>,
    /// The canonical spec, of the keys that play a part.
    pub spec: String,
    /// The same with every key: the name of its random streams in studies.
    pub full: String,
    /// What has to be told about the data and was not.
    pub untold: Vec<&'static Key>,
    /// The range that its keys name: of the mean, or of what values are clipped to.
    pub range: Option<[f64; 2]>,
    /// What it estimates.
    pub target: Target,
    /// The unit of its steps, where it takes steps.
    pub steps: Option<f64>,
    /// Whether it takes the values to be Gaussian.
    pub gaussian: bool,
    /// How it is simulated unless told otherwise.
    pub fidelity: Fidelity,
    /// What its user should know, whatever the values.
    pub warning: Option<&'static str>,
}

type Build = fn(&Values, Known<'_>) -> anyhow::Result<BuiltEstimator>;

/// A protocol for the mean of Gaussian values, simulated in the cheapest way it can be.
fn gaussian(estimator: Box<dyn AnyEstimator>) -> anyhow::Result<BuiltEstimator> {
    let fidelity = estimator.fidelities().first().copied().unwrap_or(Fidelity::Users);
    Ok(BuiltEstimator {
        estimator,
        spec: String::new(),
        full: String::new(),
        untold: Vec::new(),
        range: None,
        target: Target::Parameter,
        steps: None,
        gaussian: true,
        fidelity,
        warning: None,
    })
}

const START: Key = Key::of_data("start", "0", "where the first threshold stands, in units of the data");
const FIRST_STAGE: Key =
    Key::new("first-stage", "auto", "users in the first stage; auto: about the best size for a start half a sigma off");
const LOW: Key = Key::of_data("low", "0", "the mean is known to be at least this");
const HIGH: Key = Key::of_data("high", "128", "the mean is known to be at most this");
const HALF: Key = Key::new("pilot", "half", "users of the pilot: a number, a share such as 0.3, or half");
const COUNT: Key = Key { name: "pilot", default: "15000", ..HALF };
const PILOT_OR_NONE: Key =
    Key::new("pilot", "none", "users of a bitwise pilot that finds the start of a Gaussian mean, or none");
const SCALES: Key =
    Key::new("scales", "auto", "scales of the pilot, from sigma upwards; auto: as few as the range needs");
const BETA: Key = Key::new("beta", "0.05", "failure probability in the pilot's thresholds");
const DIMENSION: Key = Key::new("dimension", "2", "number of coordinates");
const SIGMA_LOW: Key = Key::of_data("sigma-low", "0.25", "the standard deviation is at least this");
const SIGMA_HIGH: Key = Key::of_data("sigma-high", "4", "the standard deviation is at most this");

/// All protocols.
pub const ESTIMATORS: &[Entry<Build>] = &[
    Entry {
        name: "one-stage",
        summary: "mean, sigma known: the sign of x - start by randomised response, one round",
        keys: &[START],
        build: |values, known| {
            let unit = OneStage::new(known.epsilon, values.number("start")? / known.sigma)?;
            gaussian(erase(Rescaled::new(unit, known.sigma)?))
        },
    },
    Entry {
        name: "two-stage",
        summary: "mean, sigma known: a sign stage at the start, the rest where it points; optimal for epsilon <= 1.048",
        keys: &[START, FIRST_STAGE],
        build: |values, known| {
            let start = values.number("start")? / known.sigma;
            let unit = match values.count_or_auto("first-stage")? {
                Some(first_stage) => TwoStage::new(known.epsilon, start, first_stage)?,
                None => TwoStage::tuned(known.epsilon, start)?,
            };
            gaussian(erase(Rescaled::new(unit, known.sigma)?))
        },
    },
    Entry {
        name: "efficient",
        summary: "the parameter of any model: one bit finds the place, a second question looks farther where that is not \
                  enough, the rest answer the best mechanism there; efficient at every epsilon",
        keys: &[
            Key::of_data(
                "start",
                "auto",
                "a guess of the parameter; auto: 0 for a location, 1 for a scale or a Poisson mean, 1/2 for a probability",
            ),
            Key::new(
                "first-stage",
                "auto",
                "users who find the place; auto: about the best number for a start half a sigma off",
            ),
            PILOT_OR_NONE,
            LOW,
            HIGH,
            SCALES,
            BETA,
        ],
        build: |values, known| {
            let model = Arc::clone(known.model);
            // From a pilot the start is where that points.
            let piloted = values.share_or_none("pilot")?.is_some();
            let start = if piloted { None } else { values.number_or_auto("start")? };
            if known.confined() {
                values.settle("start");
            }
            let start = start.unwrap_or(known.theta);
            let estimator = match values.count_or_auto("first-stage")? {
                Some(first_stage) => Efficient::new(model, known.epsilon, start, first_stage),
                None => Efficient::tuned(model, known.epsilon, start),
            };
            let main = estimator.with_context(|| format!("start {}", plain(start)))?;
            match values.share_or_none("pilot")? {
                None => Ok(BuiltEstimator { gaussian: false, ..gaussian(erase(main))? }),
                // The pilot is one for a Gaussian mean.
                Some(_) => gaussian(erase(Piloted::new(pilot(values, known.epsilon, known.sigma)?, main))),
            }
        },
    },
    Entry {
        name: "three-stage",
        summary: "mean in a known range, sigma known: a bitwise pilot finds the start of a two-stage",
        keys: &[LOW, HIGH, COUNT, Key { default: "700", ..FIRST_STAGE }, SCALES, BETA],
        build: |values, known| {
            let first_stage = values.count_or_auto("first-stage")?;
            let pilot = pilot(values, known.epsilon, known.sigma)?;
            gaussian(erase(ThreeStage::three_rounds(known.epsilon, pilot, known.sigma, first_stage)?))
        },
    },
    Entry {
        name: "joseph",
        summary: "mean in a known range, sigma known: a bitwise pilot, then one sign stage (Joseph et al. 2019)",
        keys: &[LOW, HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, known.sigma)?;
            gaussian(erase(Joseph::two_rounds(known.epsilon, pilot, known.sigma)?))
        },
    },
    Entry {
        name: "joseph-one-round",
        summary: "joseph in one round: a sign question for every lattice at once, one of them used",
        keys: &[LOW, HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, known.sigma)?;
            gaussian(erase(JosephOneRound::new(known.epsilon, pilot, known.sigma)?))
        },
    },
    Entry {
        name: "joseph-unknown-variance",
        summary: "mean in a known range, sigma unknown: a bitwise pilot for both, then clipped values with Laplace noise",
        keys: &[LOW, HIGH, SIGMA_LOW, SIGMA_HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, positive(values, "sigma-low")?)?;
            let sigma_high = values.number("sigma-high")?;
            gaussian(erase_real(JosephUnknownVariance::new(known.epsilon, pilot, sigma_high)?))
        },
    },
    Entry {
        name: "joseph-one-round-unknown-variance",
        summary: "joseph-unknown-variance in one round: the distance to the nearest point of every lattice, one used",
        keys: &[LOW, HIGH, SIGMA_LOW, SIGMA_HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, positive(values, "sigma-low")?)?;
            let sigma_high = values.number("sigma-high")?;
            gaussian(erase_real(JosephOneRoundUnknownVariance::new(known.epsilon, pilot, sigma_high)?))
        },
    },
    Entry {
        name: "liu",
        summary: "median or quantile, one step per user (Liu et al. 2023); its interval is widened, or there is none, where \
                  the path of its guesses has not settled",
        keys: &[
            START,
            Key::new(
                "scale",
                "auto",
                "the unit of the steps: about the spread of the values, better too large than too small; auto: the sigma or \
                 scale of the model, known where Gaussian values are simulated and a guess elsewhere",
            ),
            Key::new("quantile", "0.5", "the level of the quantile"),
            Key::new("batch", "1", "users per round; best below about 100"),
            PILOT_OR_NONE,
            LOW,
            HIGH,
            SCALES,
            BETA,
        ],
        build: |values, known| {
            let level = values.number("quantile")?;
            let told = values.number_or_auto("scale")?;
            let scale = told.unwrap_or(known.sigma);
            require(scale > 0.0, "scale", "positive", scale)?;
            // From a pilot the start is where that points.
            let piloted = values.share_or_none("pilot")?.is_some();
            let start = if piloted { 0.0 } else { values.number("start")? };
            let unit = Liu::new(known.epsilon, start / scale)?;
            let unit = unit.quantile(level)?.batch(values.count("batch")?)?;
            let published = told.is_none() && known.certain;
            let main = Rescaled::new(if published { unit } else { unit.guessed_scale() }, scale)?;
            let estimator = match values.share_or_none("pilot")? {
                None => erase_in_lanes(main),
                Some(_) => erase_in_lanes(Piloted::new(pilot(values, known.epsilon, known.sigma)?, main)),
            };
            let target = Target::Quantile(level);
            Ok(BuiltEstimator { target, gaussian: false, steps: Some(scale), ..gaussian(estimator)? })
        },
    },
    Entry {
        name: "duchi-rogers",
        summary: "mean within range of start, sigma known: one sign stage, clipped to what the range allows",
        keys: &[START, Key::of_data("range", "1", "the mean is known to be within this of start")],
        build: |values, known| {
            let (start, range) = (values.number("start")? / known.sigma, values.number("range")? / known.sigma);
            gaussian(erase(Rescaled::new(DuchiRogers::new(known.epsilon, start, range)?, known.sigma)?))
        },
    },
    Entry {
        name: "clipped-mean",
        summary: "mean of values clipped to low..high, of any distribution, through a bounded mechanism",
        keys: &[
            Key::new("mechanism", "duchi", "laplace, duchi (or ding), piecewise, hybrid or staircase"),
            Key::of_data("low", "-4", "smaller values count as this"),
            Key::of_data("high", "4", "larger values count as this"),
        ],
        build: |values, known| {
            let (epsilon, range) = (known.epsilon, Range::new(values.number("low")?, values.number("high")?)?);
            let names = ["duchi", "ding", "laplace", "piecewise", "hybrid", "staircase"];
            let estimator = match values.word("mechanism", &names)? {
                "laplace" => erase_real(ClippedMean::new(Laplace::new(epsilon, range)?)),
                "piecewise" => erase_real(ClippedMean::new(Piecewise::new(epsilon, range)?)),
                "hybrid" => erase_real(ClippedMean::new(Hybrid::new(epsilon, range)?)),
                "staircase" => erase_real(ClippedMean::new(Staircase::new(epsilon, range)?)),
                _ => erase(ClippedMean::new(Duchi::new(epsilon, range)?)),
            };
            Ok(BuiltEstimator { gaussian: false, target: Target::Mean, ..gaussian(estimator)? })
        },
    },
    Entry {
        name: "clipped-moments",
        summary: "mean in a known range, sigma known: clipped values with Laplace noise, the clipping inverted",
        keys: &[Key { default: "-1", ..LOW }, Key { default: "1", ..HIGH }],
        build: |values, known| {
            let range = Range::new(values.number("low")?, values.number("high")?)?;
            gaussian(erase_real(ClippedMoments::new(known.epsilon, known.sigma, range)?))
        },
    },
    Entry {
        name: "clipped-moments-unknown-variance",
        summary: "mean and variance, mean in a known range: half of the users each with Laplace noise",
        keys: &[Key { default: "-1", ..LOW }, Key { default: "1", ..HIGH }, SIGMA_HIGH],
        build: |values, known| {
            let range = Range::new(values.number("low")?, values.number("high")?)?;
            let sigma_high = values.number("sigma-high")?;
            gaussian(erase_real(ClippedMomentsUnknownVariance::new(known.epsilon, sigma_high, range)?))
        },
    },
    Entry {
        name: "vector-mean",
        summary: "mean of vectors through a vector mechanism; every user holds dimension values of the model",
        keys: &[
            Key::new(
                "mechanism",
                "duchi-linf",
                "duchi-linf, duchi-l2; privunit or projunit for the mean of directions x/|x|",
            ),
            DIMENSION,
            Key::of_data("radius", "4", "of the cube or ball that vectors are clipped to (duchi)"),
            Key::new("projection", "auto", "dimensions of projunit; auto: at most 20"),
        ],
        build: |values, known| {
            let (epsilon, dimension) = (known.epsilon, values.dimension("dimension")?);
            let names = ["duchi-linf", "duchi-l2", "privunit", "projunit"];
            let estimator = match values.word("mechanism", &names)? {
                "duchi-l2" => erase_vectors(
                    VectorMean::new(DuchiL2::new(epsilon, dimension, values.number("radius")?)?),
                    dimension,
                ),
                "privunit" => erase_vectors(VectorMean::new(PrivUnitG::new(epsilon, dimension)?), dimension),
                "projunit" => {
                    let projection = match values.count_or_auto("projection")? {
                        Some(projection) => usize::try_from(projection).unwrap_or(usize::MAX),
                        None => dimension.min(20),
                    };
                    erase_vectors(VectorMean::new(ProjUnit::new(epsilon, dimension, projection)?), dimension)
                }
                _ => erase_vectors(
                    VectorMean::new(DuchiLinf::new(epsilon, dimension, values.number("radius")?)?),
                    dimension,
                ),
            };
            let directions = values.word("mechanism", &["privunit", "projunit"]).is_ok();
            let warning = directions
                .then_some("privunit and projunit see directions: what is estimated is the mean of x/|x|, not of x");
            let target = if directions { Target::Directions(dimension) } else { Target::VectorMean };
            Ok(BuiltEstimator { gaussian: false, target, warning, ..gaussian(estimator)? })
        },
    },
    Entry {
        name: "vector-gaussian",
        summary: "mean of Gaussian vectors in stages, sigma known: signs of coordinates or the direction of the residual",
        keys: &[
            DIMENSION,
            START,
            Key::new("first-stage", "0", "users that move the start first; 0: the start stays"),
            Key::new("method", "auto", "coordinate, direction, or auto: the better at this dimension"),
        ],
        build: |values, known| {
            let dimension = values.dimension("dimension")?;
            let method = match values.word("method", &["auto", "coordinate", "direction"])? {
                "coordinate" => Method::Coordinate,
                "direction" => Method::Direction,
                _ => Method::Auto,
            };
            let (start, first_stage) = (values.number("start")?, values.count("first-stage")?);
            let estimator = VectorGaussian::new(known.epsilon, dimension, known.sigma, &[start], first_stage, method)?;
            Ok(BuiltEstimator { target: Target::Vector, ..gaussian(erase_vectors(estimator, dimension))? })
        },
    },
];

/// A positive number, named by its key.
fn positive(values: &Values, key: &'static str) -> anyhow::Result<f64> {
    let value = values.number(key)?;
    require(value > 0.0, key, "positive and finite", value)?;
    Ok(value)
}

/// The pilot that the keys describe, down to the scale of `sigma`.
fn pilot(values: &Values, epsilon: Epsilon, sigma: f64) -> anyhow::Result<BitwisePilot> {
    let range = [values.number("low")?, values.number("high")?];
    let share = values.share_or_none("pilot")?.context("a pilot needs users")?;
    let pilot = BitwisePilot::new(epsilon, range, sigma, share)?.with_beta(values.number("beta")?)?;
    Ok(match values.count_or_auto("scales")? {
        Some(scales) => pilot.with_scales(u32::try_from(scales).unwrap_or(u32::MAX))?,
        None => pilot,
    })
}

/// The protocol that the flag names. Every key given must play a part.
pub fn estimator(spec: &Spec, known: Known<'_>) -> anyhow::Result<BuiltEstimator> {
    let built = build(spec, known).and_then(|(built, values)| {
        values.check_used()?;
        Ok(built)
    });
    built.with_context(|| format!("--estimator {spec}"))
}

/// The protocol that a spec names. Keys may be without a part: a study varies them for all protocols that have them.
pub fn build_estimator(spec: &Spec, known: Known<'_>) -> anyhow::Result<BuiltEstimator> {
    Ok(build(spec, known)?.0)
}

/// Refuses a key that plays no part, whatever the level and the model.
pub fn check_used(spec: &Spec, known: Known<'_>) -> anyhow::Result<()> {
    // What cannot be built is told elsewhere, and with what it depends on.
    build(spec, known).map_or(Ok(()), |(_, values)| Ok(values.check_used()?))
}

fn build(spec: &Spec, known: Known<'_>) -> anyhow::Result<(BuiltEstimator, Values)> {
    let (entry, values) = resolve("estimator", ESTIMATORS, spec)?;
    let built = (entry.build)(&values, known)?;
    let around = values.both("start", "range").map(|[start, range]| [start - range, start + range]);
    let range = values.both("low", "high").or(around);
    let (spec, full, untold) = (values.to_string(), values.full(), values.untold());
    Ok((BuiltEstimator { spec, full, untold, range, ..built }, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::model;

    #[test]
    fn targets_are_those_of_the_model() {
        for (spec, target, theta, expected) in [
            ("gaussian:sigma=2", Target::Quantile(0.5), 3.0, 3.0),
            ("gaussian:sigma=2", Target::Quantile(0.975), 3.0, 6.919_927_969_080_108),
            ("exponential", Target::Quantile(0.5), 1.0, std::f64::consts::LN_2),
            ("exponential", Target::Quantile(0.1), 2.0, 0.210_721_031_315_652_6),
            ("gaussian-scale", Target::Quantile(0.5), 2.0, 0.0),
            ("gaussian-scale", Target::Mean, 2.0, 0.0),
            ("gaussian-scale", Target::Parameter, 2.0, 2.0),
            // 0 with probability .2, else 1, 2, 3 alike.
            ("categorical:size=4", Target::Mean, 0.2, 1.6),
            ("poisson", Target::VectorMean, 2.5, 2.5),
            // On the line the direction is the sign: 2 Φ(1/2) - 1.
            ("gaussian:sigma=2", Target::Directions(1), 1.0, 0.382_924_922_548_026),
            // ψ₃(√3)/√3.
            ("gaussian", Target::Directions(3), 1.0, ldp_estimators::psi::mean_length(3, 3f64.sqrt()) / 3f64.sqrt()),
        ] {
            let built = model(&spec.parse().unwrap()).unwrap();
            let found = target.value(&built, theta).unwrap();
            assert!((found - expected).abs() < 1e-12, "{spec} {target:?}: {found}");
        }
    }
}
