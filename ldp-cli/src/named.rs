//! What flags name, looked up in the catalog: messages say which flag it was.

use anyhow::{Context, anyhow};
use ldp_catalog::{AnyMechanism, BuildContext, BuiltEstimator, BuiltModel, Catalog, Error, Key, OnData, Spec, Untold};
use ldp_core::Epsilon;

/// The model of `--model`.
pub fn model(catalog: &Catalog, spec: &Spec) -> anyhow::Result<BuiltModel> {
    catalog.model(spec).with_context(|| format!("--model {spec}"))
}

/// The mechanism of `--mechanism`, and the canonical spec.
pub fn mechanism(catalog: &Catalog, spec: &Spec, epsilon: Epsilon) -> anyhow::Result<(Box<dyn AnyMechanism>, String)> {
    catalog.mechanism(spec, epsilon).with_context(|| format!("--mechanism {spec}"))
}

/// The protocol of `--estimator`.
pub fn estimator(catalog: &Catalog, spec: &Spec, context: BuildContext<'_>) -> anyhow::Result<BuiltEstimator> {
    catalog.estimator(spec, context).with_context(|| format!("--estimator {spec}"))
}

/// The protocol and the model of the flags, if they can be asked of real data: [`Untold`] names what is missing.
pub fn on_data(catalog: &Catalog, spec: &Spec, of_model: &Spec, epsilon: Epsilon) -> anyhow::Result<OnData> {
    catalog.on_data(spec, model(catalog, of_model)?, epsilon).map_err(|error| match error {
        Error::Untold(untold) => untold.into(),
        Error::NoUnit { scale, .. } => {
            let or = if scale { ", or scale=SCALE in --estimator" } else { "" };
            anyhow!("{error}: on data give --model gaussian:sigma=SIGMA{or}")
        }
        error @ Error::ForSimulations { .. } => error.into(),
        error => anyhow::Error::from(error).context(format!("--estimator {spec}")),
    })
}

/// What was not told, by flag and key.
pub fn untold(Untold { estimator, model }: &Untold) -> String {
    let line = |flag: &str, key: &Key| format!("\n  {} of {flag}: {}", key.name, key.help);
    let estimator = estimator.iter().map(|key| line("--estimator", key));
    let lines: String = estimator.chain(model.iter().map(|key| line("--model", key))).collect();
    format!("on data there are no defaults for what the data cannot tell; missing, in the unit of the data:{lines}")
}
