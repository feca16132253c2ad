//! What a record has of the looks of a study: nothing is worked out again when they change.

use crate::record::Record;
use crate::study::Outline;
use anyhow::Context;
use ldp_catalog::Catalog;
use ldp_core::Epsilon;
use ldp_estimators::one_stage_variance;
use std::collections::HashMap;

/// Gives every point the name of its protocol, and the line of one stage of the figure, as the settings have them now.
pub fn dress(catalog: &Catalog, record: &mut Record) -> anyhow::Result<()> {
    let Record { settings, points, skipped, .. } = record;
    let outline = Outline::new(catalog, settings);
    let label = |index: u64| {
        let setup = outline.setup(index).with_context(|| format!("point {index} is none of the study"))?;
        Ok::<_, anyhow::Error>(settings.estimators[setup.estimator].label.clone())
    };
    // Of a Gaussian family, by its spec: many points share one.
    let mut scales: HashMap<String, Option<f64>> = HashMap::new();
    for point in points {
        point.label = label(point.index)?;
        let scale = match scales.get(&point.model) {
            Some(&scale) => scale,
            None => {
                let built = catalog.model(&point.model.parse()?)?;
                *scales.entry(point.model.clone()).or_insert(built.gaussian.then_some(built.scale))
            }
        };
        let line = |scale: f64, distance: f64| -> anyhow::Result<f64> {
            Ok(scale.powi(2) * one_stage_variance(Epsilon::new(point.epsilon)?, distance))
        };
        point.one_stage = match scale.zip(settings.figure.one_stage_distance) {
            Some((scale, distance)) => Some(line(scale, distance)?).filter(|variance| variance.is_finite()),
            None => None,
        };
    }
    for left_out in skipped {
        left_out.label = label(left_out.index)?;
    }
    Ok(())
}
