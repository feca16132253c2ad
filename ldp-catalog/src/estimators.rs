//! The protocols by name.

use super::catalog::Builtin;
use super::error::{Error, Result};
use super::informative::Asked;
use super::{BuildContext, BuiltEstimator, Key, KeyType, Target, Values};
use ldp_core::Epsilon;
use ldp_core::error::require;
use ldp_estimators::{
    BitwisePilot, ClippedMean, ClippedMoments, ClippedMomentsUnknownVariance, DuchiRogers, Efficient, Joseph,
    JosephOneRound, JosephOneRoundUnknownVariance, JosephUnknownVariance, Liu, Method, OneStage, Piloted, Rescaled,
    ThreeStage, TwoStage, VectorGaussian, VectorMean,
};
use ldp_mechanisms::{Duchi, DuchiL2, DuchiLinf, Hybrid, Laplace, Piecewise, PrivUnitG, ProjUnit, Range, Staircase};
use ldp_simulate::{AnyEstimator, erase, erase_in_lanes, erase_real, erase_vectors};
use std::sync::Arc;

type Build = fn(&Values, BuildContext<'_>) -> Result<BuiltEstimator>;

fn gaussian(estimator: Box<dyn AnyEstimator>) -> Result<BuiltEstimator> {
    Ok(BuiltEstimator::gaussian(estimator))
}

const START: Key =
    Key::of_data("start", KeyType::Number, "0", "where the first threshold stands, in units of the data");
const FIRST_STAGE: Key = Key::new(
    "first-stage",
    KeyType::CountOrAuto,
    "auto",
    "users in the first stage; auto: about the best size for a start half a sigma off",
);
const LOW: Key = Key::of_data("low", KeyType::Number, "0", "the mean is known to be at least this");
const HIGH: Key = Key::of_data("high", KeyType::Number, "128", "the mean is known to be at most this");
const HALF: Key =
    Key::new("pilot", KeyType::ShareOrNone, "half", "users of the pilot: a number, a share such as 0.3, or half");
const COUNT: Key = Key { name: "pilot", default: "15000", ..HALF };
const PILOT_OR_NONE: Key = Key::new(
    "pilot",
    KeyType::ShareOrNone,
    "none",
    "users of a bitwise pilot that finds the start of a Gaussian mean, or none",
);
const SCALES: Key = Key::new(
    "scales",
    KeyType::CountOrAuto,
    "auto",
    "scales of the pilot, from sigma upwards; auto: as few as the range needs",
);
const BETA: Key = Key::new("beta", KeyType::Number, "0.05", "failure probability in the pilot's thresholds");
const DIMENSION: Key = Key::new("dimension", KeyType::Count, "2", "number of coordinates");
const SIGMA_LOW: Key = Key::of_data("sigma-low", KeyType::Number, "0.25", "the standard deviation is at least this");
const SIGMA_HIGH: Key = Key::of_data("sigma-high", KeyType::Number, "4", "the standard deviation is at most this");

/// All protocols.
pub(crate) const ESTIMATORS: &[Builtin<Build>] = &[
    Builtin {
        name: "one-stage",
        summary: "mean, sigma known: the sign of x - start by randomised response, one round",
        keys: &[START],
        build: |values, known| {
            let unit = OneStage::new(known.epsilon, values.number("start")? / known.sigma)?;
            gaussian(erase(Rescaled::new(unit, known.sigma)?))
        },
    },
    Builtin {
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
    Builtin {
        name: "ask",
        summary: "the parameter of any model: everyone answers one question through any mechanism, read by maximum likelihood",
        keys: &[
            Key::new(
                "mechanism",
                KeyType::Mechanism,
                "sign",
                "what everyone is asked; its own keys follow as mechanism.KEY, such as mechanism.threshold=0.5",
            ),
            Key::of_data(
                "start",
                KeyType::NumberOrAuto,
                "auto",
                "a guess of the parameter; auto: 0 for a location, 1 for a scale or a Poisson mean, 1/2 for a probability",
            ),
        ],
        build: |values, known| {
            if known.confined() {
                values.settle("start");
            }
            let start = values.number_or_auto("start")?.unwrap_or(known.theta);
            let catalog = known.catalog.ok_or(Error::NoCatalog)?;
            let mechanism = values.mechanism("mechanism", |spec| catalog.mechanism(spec, known.epsilon))?;
            let Asked { estimator, kept } = mechanism.ask(Arc::clone(known.model), start)?;
            let warning = kept.filter(|&kept| kept < 0.999).map(|kept| {
                format!("real reports are counted in 256 cells, which keep {:.1} % of their information", 100.0 * kept)
            });
            Ok(BuiltEstimator { gaussian: false, warning, ..gaussian(estimator)? })
        },
    },
    Builtin {
        name: "efficient",
        summary: "the parameter of any model: one bit finds the place, a second question looks farther where that is not \
                  enough, the rest answer the best mechanism there; efficient at every epsilon",
        keys: &[
            Key::of_data(
                "start",
                KeyType::NumberOrAuto,
                "auto",
                "a guess of the parameter; auto: 0 for a location, 1 for a scale or a Poisson mean, 1/2 for a probability",
            ),
            Key::new(
                "first-stage",
                KeyType::CountOrAuto,
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
            let main = estimator.map_err(|source| Error::Start { start, source })?;
            match values.share_or_none("pilot")? {
                None => Ok(BuiltEstimator { gaussian: false, ..gaussian(erase(main))? }),
                // The pilot is one for a Gaussian mean.
                Some(_) => gaussian(erase(Piloted::new(pilot(values, known.epsilon, known.sigma)?, main))),
            }
        },
    },
    Builtin {
        name: "three-stage",
        summary: "mean in a known range, sigma known: a bitwise pilot finds the start of a two-stage",
        keys: &[LOW, HIGH, COUNT, Key { default: "700", ..FIRST_STAGE }, SCALES, BETA],
        build: |values, known| {
            let first_stage = values.count_or_auto("first-stage")?;
            let pilot = pilot(values, known.epsilon, known.sigma)?;
            gaussian(erase(ThreeStage::three_rounds(known.epsilon, pilot, known.sigma, first_stage)?))
        },
    },
    Builtin {
        name: "joseph",
        summary: "mean in a known range, sigma known: a bitwise pilot, then one sign stage (Joseph et al. 2019)",
        keys: &[LOW, HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, known.sigma)?;
            gaussian(erase(Joseph::two_rounds(known.epsilon, pilot, known.sigma)?))
        },
    },
    Builtin {
        name: "joseph-one-round",
        summary: "joseph in one round: a sign question for every lattice at once, one of them used",
        keys: &[LOW, HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, known.sigma)?;
            gaussian(erase(JosephOneRound::new(known.epsilon, pilot, known.sigma)?))
        },
    },
    Builtin {
        name: "joseph-unknown-variance",
        summary: "mean in a known range, sigma unknown: a bitwise pilot for both, then clipped values with Laplace noise",
        keys: &[LOW, HIGH, SIGMA_LOW, SIGMA_HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, positive(values, "sigma-low")?)?;
            let sigma_high = values.number("sigma-high")?;
            gaussian(erase_real(JosephUnknownVariance::new(known.epsilon, pilot, sigma_high)?))
        },
    },
    Builtin {
        name: "joseph-one-round-unknown-variance",
        summary: "joseph-unknown-variance in one round: the distance to the nearest point of every lattice, one used",
        keys: &[LOW, HIGH, SIGMA_LOW, SIGMA_HIGH, HALF, SCALES, BETA],
        build: |values, known| {
            let pilot = pilot(values, known.epsilon, positive(values, "sigma-low")?)?;
            let sigma_high = values.number("sigma-high")?;
            gaussian(erase_real(JosephOneRoundUnknownVariance::new(known.epsilon, pilot, sigma_high)?))
        },
    },
    Builtin {
        name: "liu",
        summary: "median or quantile, one step per user (Liu et al. 2023); its interval is widened, or there is none, where \
                  the path of its guesses has not settled",
        keys: &[
            START,
            Key::new(
                "scale",
                KeyType::NumberOrAuto,
                "auto",
                "the unit of the steps: about the spread of the values, better too large than too small; auto: the sigma or \
                 scale of the model, known where Gaussian values are simulated and a guess elsewhere",
            ),
            Key::new("quantile", KeyType::Number, "0.5", "the level of the quantile"),
            Key::new("batch", KeyType::Count, "1", "users per round; best below about 100"),
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
    Builtin {
        name: "duchi-rogers",
        summary: "mean within range of start, sigma known: one sign stage, clipped to what the range allows",
        keys: &[START, Key::of_data("range", KeyType::Number, "1", "the mean is known to be within this of start")],
        build: |values, known| {
            let (start, range) = (values.number("start")? / known.sigma, values.number("range")? / known.sigma);
            gaussian(erase(Rescaled::new(DuchiRogers::new(known.epsilon, start, range)?, known.sigma)?))
        },
    },
    Builtin {
        name: "clipped-mean",
        summary: "mean of values clipped to low..high, of any distribution, through a bounded mechanism",
        keys: &[
            Key::new(
                "mechanism",
                KeyType::Word(&["duchi", "ding", "laplace", "piecewise", "hybrid", "staircase"]),
                "duchi",
                "laplace, duchi (or ding), piecewise, hybrid or staircase",
            ),
            Key::of_data("low", KeyType::Number, "-4", "smaller values count as this"),
            Key::of_data("high", KeyType::Number, "4", "larger values count as this"),
        ],
        build: |values, known| {
            let (epsilon, range) = (known.epsilon, Range::new(values.number("low")?, values.number("high")?)?);
            let estimator = match values.word("mechanism")? {
                "laplace" => erase_real(ClippedMean::new(Laplace::new(epsilon, range)?)),
                "piecewise" => erase_real(ClippedMean::new(Piecewise::new(epsilon, range)?)),
                "hybrid" => erase_real(ClippedMean::new(Hybrid::new(epsilon, range)?)),
                "staircase" => erase_real(ClippedMean::new(Staircase::new(epsilon, range)?)),
                _ => erase(ClippedMean::new(Duchi::new(epsilon, range)?)),
            };
            Ok(BuiltEstimator { gaussian: false, target: Target::Mean, ..gaussian(estimator)? })
        },
    },
    Builtin {
        name: "clipped-moments",
        summary: "mean in a known range, sigma known: clipped values with Laplace noise, the clipping inverted",
        keys: &[Key { default: "-1", ..LOW }, Key { default: "1", ..HIGH }],
        build: |values, known| {
            let range = Range::new(values.number("low")?, values.number("high")?)?;
            gaussian(erase_real(ClippedMoments::new(known.epsilon, known.sigma, range)?))
        },
    },
    Builtin {
        name: "clipped-moments-unknown-variance",
        summary: "mean and variance, mean in a known range: half of the users each with Laplace noise",
        keys: &[Key { default: "-1", ..LOW }, Key { default: "1", ..HIGH }, SIGMA_HIGH],
        build: |values, known| {
            let range = Range::new(values.number("low")?, values.number("high")?)?;
            let sigma_high = values.number("sigma-high")?;
            gaussian(erase_real(ClippedMomentsUnknownVariance::new(known.epsilon, sigma_high, range)?))
        },
    },
    Builtin {
        name: "vector-mean",
        summary: "mean of vectors through a vector mechanism; every user holds dimension values of the model",
        keys: &[
            Key::new(
                "mechanism",
                KeyType::Word(&["duchi-linf", "duchi-l2", "privunit", "projunit"]),
                "duchi-linf",
                "duchi-linf, duchi-l2; privunit or projunit for the mean of directions x/|x|",
            ),
            DIMENSION,
            Key::of_data("radius", KeyType::Number, "4", "of the cube or ball that vectors are clipped to (duchi)"),
            Key::new("projection", KeyType::CountOrAuto, "auto", "dimensions of projunit; auto: at most 20"),
        ],
        build: |values, known| {
            let (epsilon, dimension) = (known.epsilon, values.dimension("dimension")?);
            let estimator = match values.word("mechanism")? {
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
            let directions = ["privunit", "projunit"].contains(&values.word("mechanism")?);
            let warning = directions.then(|| {
                "privunit and projunit see directions: what is estimated is the mean of x/|x|, not of x".to_owned()
            });
            let target = if directions { Target::Directions(dimension) } else { Target::VectorMean };
            Ok(BuiltEstimator { gaussian: false, target, warning, ..gaussian(estimator)? })
        },
    },
    Builtin {
        name: "vector-gaussian",
        summary: "mean of Gaussian vectors in stages, sigma known: signs of coordinates or the direction of the residual",
        keys: &[
            DIMENSION,
            START,
            Key::new("first-stage", KeyType::Count, "0", "users that move the start first; 0: the start stays"),
            Key::new(
                "method",
                KeyType::Word(&["auto", "coordinate", "direction"]),
                "auto",
                "coordinate, direction, or auto: the better at this dimension",
            ),
        ],
        build: |values, known| {
            let dimension = values.dimension("dimension")?;
            let method = match values.word("method")? {
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
fn positive(values: &Values, key: &'static str) -> Result<f64> {
    let value = values.number(key)?;
    require(value > 0.0, key, "positive and finite", value)?;
    Ok(value)
}

/// The pilot that the keys describe, down to the scale of `sigma`.
fn pilot(values: &Values, epsilon: Epsilon, sigma: f64) -> Result<BitwisePilot> {
    let range = [values.number("low")?, values.number("high")?];
    let share = values.share_or_none("pilot")?.ok_or(Error::PilotUsers)?;
    let pilot = BitwisePilot::new(epsilon, range, sigma, share)?.with_beta(values.number("beta")?)?;
    Ok(match values.count_or_auto("scales")? {
        Some(scales) => pilot.with_scales(u32::try_from(scales).unwrap_or(u32::MAX))?,
        None => pilot,
    })
}
