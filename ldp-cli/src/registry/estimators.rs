//! The protocols by name.

use super::{Entry, Key, Values, resolve};
use crate::spec::Spec;
use anyhow::Context;
use ldp_core::Epsilon;
use ldp_core::erased::{AnyEstimator, erase};
use ldp_estimators::{OneStage, Rescaled, TwoStage};

/// What a protocol is told besides its own keys.
#[derive(Clone, Copy)]
pub struct Known {
    /// The privacy level.
    pub epsilon: Epsilon,
    /// The known standard deviation of the values.
    pub sigma: f64,
}

type Build = fn(&Values, Known) -> anyhow::Result<Box<dyn AnyEstimator>>;

const START: Key = Key { name: "start", default: "0", help: "where the first threshold stands, in units of the data" };

/// All protocols.
pub const ESTIMATORS: &[Entry<Build>] = &[
    Entry {
        name: "one-stage",
        summary: "mean, sigma known: the sign of x - start by randomised response, one round",
        keys: &[START],
        build: |values, known| {
            let unit = OneStage::new(known.epsilon, values.number("start")? / known.sigma)?;
            Ok(erase(Rescaled::new(unit, known.sigma)?))
        },
    },
    Entry {
        name: "two-stage",
        summary: "mean, sigma known: a sign stage at the start, the rest where it points; optimal for epsilon <= 1.048",
        keys: &[
            START,
            Key {
                name: "first-stage",
                default: "auto",
                help: "users in the first stage; auto: about the best size for a start half a sigma off",
            },
        ],
        build: |values, known| {
            let start = values.number("start")? / known.sigma;
            let unit = match values.count_or_auto("first-stage")? {
                Some(first_stage) => TwoStage::new(known.epsilon, start, first_stage)?,
                None => TwoStage::tuned(known.epsilon, start)?,
            };
            Ok(erase(Rescaled::new(unit, known.sigma)?))
        },
    },
];

/// The protocol that a spec names, and the canonical spec.
pub fn estimator(spec: &Spec, known: Known) -> anyhow::Result<(Box<dyn AnyEstimator>, String)> {
    resolve("estimator", ESTIMATORS, spec)
        .map_err(anyhow::Error::from)
        .and_then(|(entry, values)| Ok(((entry.build)(&values, known)?, values.to_string())))
        .with_context(|| format!("--estimator {spec}"))
}
