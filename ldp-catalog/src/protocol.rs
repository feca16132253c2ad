//! A protocol, what it is told and what it estimates.

use super::error::{Error, Result};
use super::{BuiltModel, Catalog, Key};
use ldp_core::Epsilon;
use ldp_estimators::mean_direction;
use ldp_simulate::AnyModel;
use ldp_simulate::{AnyEstimator, Fidelity};
use std::sync::Arc;

/// What a protocol is told besides its own keys.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
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
    /// Where a mechanism that a key names is looked up; the catalog that builds puts itself here.
    pub catalog: Option<&'a Catalog>,
}

impl<'a> BuildContext<'a> {
    /// What a model tells a protocol at a privacy level.
    pub fn new(epsilon: Epsilon, built: &'a BuiltModel) -> Self {
        let (sigma, theta) = (built.scale, built.usual_theta());
        Self { epsilon, sigma, model: &built.model, theta, certain: built.gaussian, catalog: None }
    }

    /// What it tells on data, which the model need not describe.
    pub fn on_data(self) -> Self {
        Self { certain: false, ..self }
    }

    /// Whether the parameter is confined to probabilities, where one start is as near as any to all of them.
    pub(crate) fn confined(&self) -> bool {
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
    ///
    /// # Errors
    ///
    /// If the mean direction cannot be found.
    pub fn value(self, built: &BuiltModel, theta: f64) -> Result<f64> {
        Ok(match self {
            Self::Parameter | Self::Vector => theta,
            Self::Mean | Self::VectorMean => (built.mean)(theta),
            Self::Quantile(level) => built.model.quantile(theta, level),
            Self::Directions(dimension) => mean_direction(&*built.model, theta, dimension)
                .map_err(|source| Error::Direction { model: built.spec.clone(), source })?,
        })
    }

    /// Its name in records.
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

/// A protocol, and what has to be known about it to use it.
pub struct BuiltEstimator {
    /// The protocol.
    pub estimator: Box<dyn AnyEstimator>,
    /// The canonical spec, of the keys that play a part; filled in by the catalog, as are the next three.
    pub spec: String,
    /// The spec with every key spelled out, which names its random streams in studies.
    pub full: String,
    /// What has to be told about the data and was not.
    pub untold: Vec<Key>,
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
    pub warning: Option<String>,
}

impl BuiltEstimator {
    /// A protocol for the mean of Gaussian values, simulated in the cheapest way it can be.
    pub fn gaussian(estimator: Box<dyn AnyEstimator>) -> Self {
        let fidelity = estimator.fidelities().first().copied().unwrap_or(Fidelity::Users);
        Self {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_those_of_the_model() {
        let catalog = Catalog::builtin();
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
            let built = catalog.model(&spec.parse().unwrap()).unwrap();
            let found = target.value(&built, theta).unwrap();
            assert!((found - expected).abs() < 1e-12, "{spec} {target:?}: {found}");
        }
    }
}
