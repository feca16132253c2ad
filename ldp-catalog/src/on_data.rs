//! A protocol for real data: nothing that the data cannot tell is taken from a default.

use super::error::{Error, Result, Untold};
use super::{BuildContext, BuiltEstimator, BuiltModel, Catalog, Key, Spec, Target};
use ldp_core::{Epsilon, Inference, Interval, IntervalKind};

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

    /// Largest shares of the values that can have been below and above the range that they are clipped to, for any mean up to
    /// two standard errors from this one.
    pub fn clipped(&self, mean: f64, standard_error: Option<f64>) -> Option<[f64; 2]> {
        let [low, high] = self.protocol.range.filter(|_| self.protocol.target == Target::Mean)?;
        let (width, slack) = (high - low, 2.0 * standard_error.unwrap_or(high - low));
        Some([high - mean, mean - low].map(|away| ((away + slack) / width).clamp(0.0, 1.0)))
    }

    /// The interval of an estimate. Where the model confines its parameter, such as a probability, so is the interval.
    ///
    /// # Errors
    ///
    /// If the estimate has no such interval, or it lies beside all that is possible.
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

impl Untold {
    /// The spec with a place for each of these keys.
    pub fn completed(spec: &Spec, keys: &[Key]) -> Spec {
        let place = |key: &Key| (key.name.to_owned(), key.name.to_uppercase());
        Spec { name: spec.name.clone(), pairs: spec.pairs.iter().cloned().chain(keys.iter().map(place)).collect() }
    }
}

impl Catalog {
    /// The protocol that a spec names, if it can be asked of real data that are taken to follow a model.
    ///
    /// # Errors
    ///
    /// [`Error::Untold`] names what the data cannot tell and nobody has told. Other errors are those of
    /// [`Catalog::estimator`], or say that the protocol cannot be run on data.
    pub fn on_data(&self, spec: &Spec, built: BuiltModel, epsilon: Epsilon) -> Result<OnData> {
        let context = BuildContext::new(epsilon, &built).on_data();
        let (protocol, asked) = match self.estimator(spec, context) {
            Ok(protocol) => (protocol, spec.clone()),
            // Beside a default that is no value of these data a good one may look bad: what is missing is told first.
            Err(error) => match self.estimator_of_study(&self.without_data(spec), context) {
                Ok(bare) if !missing(&bare, spec).is_empty() => (bare, self.without_data(spec)),
                _ => return Err(error),
            },
        };
        if let Err(source) = protocol.estimator.check_rows() {
            return Err(Error::ForSimulations { protocol: protocol.spec, source });
        }
        let uses_sigma = self.uses_sigma(&asked, context);
        if uses_sigma && !built.scaled {
            let scale = protocol.steps.is_some() && protocol.spec.contains("pilot=none");
            return Err(Error::NoUnit { estimator: protocol.spec, model: built.spec, scale });
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
    fn without_data(&self, spec: &Spec) -> Spec {
        let keys = self.estimator_keys(&spec.name);
        let of_data = |name: &str| keys.iter().any(|key| key.of_data && key.name == name);
        Spec { name: spec.name.clone(), pairs: spec.pairs.iter().filter(|(name, _)| !of_data(name)).cloned().collect() }
    }

    /// Whether the protocol measures in the scale of the model. No constructor takes a NaN, so one that is told the scale cannot
    /// be built from it.
    fn uses_sigma(&self, spec: &Spec, context: BuildContext<'_>) -> bool {
        self.estimator_of_study(spec, BuildContext { sigma: f64::NAN, ..context }).is_err()
    }
}

fn missing(protocol: &BuiltEstimator, spec: &Spec) -> Vec<Key> {
    let given = |key: &&Key| spec.pairs.iter().all(|(name, _)| name != key.name);
    protocol.untold.iter().filter(given).copied().collect()
}
