//! A protocol for real data: nothing that the data cannot tell is taken from a default.

use super::{BuiltEstimator, BuiltModel, ESTIMATORS, Key, Known, Target, build_estimator, estimator, model};
use crate::spec::Spec;
use anyhow::Context;
use ldp_core::{Epsilon, Inference, Interval, IntervalKind};
use std::fmt;

/// A protocol that has been told all it needs to know about the data.
pub struct OnData {
    /// The model.
    pub built: BuiltModel,
    /// The protocol.
    pub protocol: BuiltEstimator,
    /// Whether the protocol takes anything from the model.
    pub uses_model: bool,
}

impl OnData {
    /// The range that the protocol clamps its estimate to.
    fn confined(&self) -> Option<[f64; 2]> {
        let clamps = self.protocol.target == Target::Mean || self.protocol.spec.starts_with("duchi-rogers");
        self.protocol.range.filter(|_| clamps)
    }

    /// The estimate. Where the protocol confines it to a range, that is the range in the unit of the data, to the last digit.
    pub fn value(&self, estimate: &dyn Inference) -> f64 {
        let value = estimate.value();
        self.confined().map_or(value, |[low, high]| value.clamp(low, high))
    }

    /// At most these shares of the values were below and above the ends of the range that they are clipped to, for any mean up to
    /// two standard errors from this one.
    pub fn clipped(&self, mean: f64, standard_error: Option<f64>) -> Option<[f64; 2]> {
        let [low, high] = self.protocol.range.filter(|_| self.protocol.target == Target::Mean)?;
        let (width, slack) = (high - low, 2.0 * standard_error.unwrap_or(high - low));
        Some([high - mean, mean - low].map(|away| ((away + slack) / width).clamp(0.0, 1.0)))
    }

    /// The interval of an estimate. Where the model confines its parameter, such as a probability, so is the interval.
    pub fn interval(&self, estimate: &dyn Inference, kind: IntervalKind, level: f64) -> ldp_core::Result<Interval> {
        let interval = estimate.interval(kind, level)?;
        if let Some(range) = self.confined() {
            interval.within(range, "it lies beside the range that was given")
        } else if self.protocol.target == Target::Parameter && !self.protocol.gaussian {
            interval.within(self.built.space(), "it lies beside all that the parameter can be")
        } else {
            Ok(interval)
        }
    }
}

/// What has to be told about the data before they are asked, and was not.
#[derive(Debug)]
pub struct Untold {
    /// Keys of the protocol.
    pub estimator: Vec<&'static Key>,
    /// Keys of the model.
    pub model: Vec<&'static Key>,
}

impl Untold {
    /// The spec with a place for each of these keys.
    pub fn completed(spec: &Spec, keys: &[&'static Key]) -> Spec {
        let place = |key: &&Key| (key.name.to_owned(), key.name.to_uppercase());
        Spec { name: spec.name.clone(), pairs: spec.pairs.iter().cloned().chain(keys.iter().map(place)).collect() }
    }
}

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("on data there are no defaults for what the data cannot tell; missing, in the unit of the data:")?;
        for (flag, keys) in [("--estimator", &self.estimator), ("--model", &self.model)] {
            for key in keys {
                write!(f, "\n  {} of {flag}: {}", key.name, key.help)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Untold {}

/// A model without a scale, for a protocol that measures in standard deviations of the values.
#[derive(Debug, thiserror::Error)]
#[error(
    "{estimator} measures in standard deviations of the values, and {model} does not tell any: on data give \
     --model gaussian:sigma=SIGMA{}",
    if *.scale { ", or scale=SCALE in --estimator" } else { "" }
)]
pub struct NoUnit {
    estimator: String,
    model: String,
    /// Whether the protocol can be told the unit itself.
    scale: bool,
}

impl NoUnit {
    fn new(protocol: &BuiltEstimator, model: BuiltModel) -> Self {
        let scale = protocol.steps.is_some() && protocol.spec.contains("pilot=none");
        Self { estimator: protocol.spec.clone(), model: model.spec, scale }
    }
}

/// The model and the protocol that the flags name, if they can be asked of real data: [`Untold`] names what is missing.
pub fn on_data(spec: &Spec, of_model: &Spec, epsilon: Epsilon) -> anyhow::Result<OnData> {
    let built = model(of_model)?;
    let known = Known::new(epsilon, &built).on_data();
    let (protocol, asked) = match estimator(spec, known) {
        Ok(protocol) => (protocol, spec.clone()),
        // Beside a default that is no value of these data a good one may look bad: what is missing is told first.
        Err(error) => match build_estimator(&without_data(spec), known) {
            Ok(bare) if !missing(&bare, spec).is_empty() => (bare, without_data(spec)),
            _ => return Err(error),
        },
    };
    protocol.estimator.check_rows().with_context(|| format!("{} is for simulations", protocol.spec))?;
    let uses_sigma = uses_sigma(&asked, known);
    if uses_sigma && !built.scaled {
        return Err(NoUnit::new(&protocol, built).into());
    }
    // Its family, or the scale of the values.
    let uses_model = uses_sigma || protocol.target == Target::Parameter && !protocol.gaussian;
    let untold = Untold {
        estimator: missing(&protocol, spec),
        model: if uses_model { built.untold.clone() } else { Vec::new() },
    };
    if untold.estimator.is_empty() && untold.model.is_empty() {
        Ok(OnData { built, protocol, uses_model })
    } else {
        Err(untold.into())
    }
}

/// The spec without what it says about the data.
fn without_data(spec: &Spec) -> Spec {
    let keys = ESTIMATORS.iter().find(|entry| entry.name == spec.name).map_or(&[][..], |entry| entry.keys);
    let of_data = |name: &str| keys.iter().any(|key| key.of_data && key.name == name);
    Spec { name: spec.name.clone(), pairs: spec.pairs.iter().filter(|(name, _)| !of_data(name)).cloned().collect() }
}

fn missing(protocol: &BuiltEstimator, spec: &Spec) -> Vec<&'static Key> {
    let given = |key: &&&Key| spec.pairs.iter().all(|(name, _)| name != key.name);
    protocol.untold.iter().filter(given).copied().collect()
}

/// Whether the protocol measures in the scale of the model. No constructor takes a NaN, so one that is told the scale cannot be
/// built from it.
fn uses_sigma(spec: &Spec, known: Known<'_>) -> bool {
    build_estimator(spec, Known { sigma: f64::NAN, ..known }).is_err()
}
