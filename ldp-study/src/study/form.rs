//! The file of a comparison: read, with the line of everything, and checked as a whole.

use super::comparison::Named;
use super::grid::{SETTING, Written};
use super::{Axis, Comparison, Contestant, Count, Fidelity, Figure, Grid, Infeasible, Kind, StudyError};
use anyhow::Context;
use ldp_catalog::{BuildContext, Catalog, Spec, nearest};
use ldp_core::Epsilon;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The most replications of a point: their errors are kept until its interval is known, 8 bytes each.
pub const MOST_REPLICATIONS: u64 = 100_000_000;
/// The level of the protocols' own intervals, unless a study says otherwise.
const LEVEL: f64 = 0.95;

/// What can be written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    kind: Kind,
    title: String,
    seed: Seed,
    replications: Spanned<Count>,
    level: Option<Spanned<f64>>,
    fidelity: Option<Fidelity>,
    #[serde(default)]
    infeasible: Infeasible,
    paired: Option<Spanned<String>>,
    models: Option<Spanned<Vec<Spanned<String>>>>,
    estimators: Spanned<Vec<Entrant>>,
    grid: Spanned<Vec<Table>>,
    figure: Spanned<Figure>,
}

/// A grid: the values of every key.
type Table = Spanned<BTreeMap<String, Spanned<Written>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entrant {
    label: Option<Spanned<String>>,
    spec: Spanned<String>,
    replications: Option<Spanned<Count>>,
    fidelity: Option<Fidelity>,
}

/// A seed: any whole number that every reader of JSON has.
#[derive(Deserialize)]
#[serde(try_from = "f64")]
struct Seed(u64);

impl TryFrom<f64> for Seed {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        match value {
            0.0 => Ok(Self(0)),
            value => Count::try_from(value).map(|count| Self(count.0)),
        }
    }
}

/// Reads and checks a file.
pub fn read(catalog: &Catalog, text: &str) -> Result<Comparison, StudyError> {
    let form: Form = super::read(text)?;
    let lines = Lines { text, catalog };
    let models = match &form.models {
        Some(models) => {
            let line = lines.of(models);
            lines.some(line, models.get_ref(), "there are no models")?;
            models.get_ref().iter().map(|model| named(lines, model)).collect::<Result<Vec<_>, _>>()?
        }
        None => vec![Named { spec: Spec { name: "gaussian".into(), pairs: Vec::new() }, line: lines.of(&form.grid) }],
    };
    for model in &models {
        // The rest of it is looked at with every point: a grid may set more of its keys.
        lines.at(model.line, || Ok(catalog.find_model(&model.spec).map(drop)?))?;
    }
    let estimators = contestants(&form, lines)?;
    let grids = form.grid.get_ref().iter().map(|grid| read_grid(grid, lines)).collect::<Result<Vec<_>, _>>()?;
    lines.some(lines.of(&form.grid), &grids, "the grid is empty")?;
    let level = form.level.as_ref().map_or(LEVEL, |level| *level.get_ref());
    let level_line = form.level.as_ref().map_or(1, |level| lines.of(level));
    lines.at(level_line, || Ok(ldp_core::inference::check_level(level)?))?;
    let comparison = Comparison {
        kind: form.kind,
        title: form.title,
        seed: form.seed.0,
        level,
        infeasible: form.infeasible,
        paired: form.paired.as_ref().map(|label| label.get_ref().clone()),
        models,
        estimators,
        grids,
        figure: form.figure.get_ref().clone(),
    };
    check_keys(&comparison, lines)?;
    if let Some(label) = &form.paired {
        lines.at(lines.of(label), || check_paired(&comparison, label.get_ref()))?;
    }
    lines.at(lines.of(&form.figure), || {
        let keys: Vec<&str> = SETTING.into_iter().chain(comparison.keys()).collect();
        let starts = comparison.estimators.iter().any(|contestant| has(catalog, &contestant.spec.spec, "start"));
        comparison.figure.check(&keys, starts, comparison.paired.is_some()).context("[figure]")
    })?;
    Ok(comparison)
}

/// Tells lines from places in the text, and what names mean.
#[derive(Clone, Copy)]
struct Lines<'t> {
    text: &'t str,
    catalog: &'t Catalog,
}

impl Lines<'_> {
    fn of<T>(self, spanned: &Spanned<T>) -> usize {
        let upto = self.text.as_bytes().get(..spanned.span().start).unwrap_or_default();
        1 + upto.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// What is wrong is wrong on this line.
    fn at<T>(self, line: usize, check: impl FnOnce() -> anyhow::Result<T>) -> Result<T, StudyError> {
        check().map_err(|cause| StudyError::Line { line, cause })
    }

    /// There must be something.
    fn some<T>(self, line: usize, list: &[T], otherwise: &'static str) -> Result<(), StudyError> {
        if list.is_empty() { Err(StudyError::Line { line, cause: anyhow::anyhow!(otherwise) }) } else { Ok(()) }
    }
}

fn named(lines: Lines<'_>, text: &Spanned<String>) -> Result<Named, StudyError> {
    let line = lines.of(text);
    lines.at(line, || Ok(Named { spec: text.get_ref().parse()?, line }))
}

fn contestants(form: &Form, lines: Lines<'_>) -> Result<Vec<Contestant>, StudyError> {
    let mut all: Vec<Contestant> = Vec::new();
    for entrant in form.estimators.get_ref() {
        let spec = named(lines, &entrant.spec)?;
        lines.at(spec.line, || {
            lines.catalog.find_estimator(&spec.spec)?;
            let (model, epsilon) = (lines.catalog.model(&"gaussian".parse()?)?, Epsilon::new(1.0)?);
            Ok(lines.catalog.check_used(&spec.spec, BuildContext::new(epsilon, &model))?)
        })?;
        let written = entrant.replications.as_ref().unwrap_or(&form.replications);
        let replications = written.get_ref().0;
        lines.at(lines.of(written), || {
            anyhow::ensure!(
                replications <= MOST_REPLICATIONS,
                "replications must be at most {MOST_REPLICATIONS}, not {replications}"
            );
            Ok(())
        })?;
        let label = entrant.label.as_ref().unwrap_or(&entrant.spec);
        lines.at(lines.of(label), || {
            let label = label.get_ref();
            anyhow::ensure!(!label.trim().is_empty(), "a label is empty");
            anyhow::ensure!(all.iter().all(|known| known.label != *label), "the label '{label}' is there twice");
            Ok(())
        })?;
        let fidelity = entrant.fidelity.or(form.fidelity);
        all.push(Contestant { label: label.get_ref().clone(), spec, replications, fidelity });
    }
    lines.some(lines.of(&form.estimators), &all, "there are no estimators")?;
    Ok(all)
}

fn read_grid(grid: &Table, lines: Lines<'_>) -> Result<Grid, StudyError> {
    let line = lines.of(grid);
    // In the order of the file, which the map does not keep.
    let mut written: Vec<_> = grid.get_ref().iter().collect();
    written.sort_by_key(|(_, values)| values.span().start);
    let mut axes = Vec::new();
    for (key, values) in written {
        let line = lines.of(values);
        axes.push(lines.at(line, || Axis::new(key, values.get_ref().clone(), line))?);
    }
    lines.at(line, || {
        for key in SETTING {
            anyhow::ensure!(axes.iter().any(|axis| axis.key == key), "the grid has no {key}");
        }
        Ok(())
    })?;
    Ok(Grid { axes, line })
}

/// Whether the thing of this spec has a key of this name.
fn has(catalog: &Catalog, spec: &Spec, key: &str) -> bool {
    keys_of(catalog, spec).contains(&key)
}

fn keys_of(catalog: &Catalog, spec: &Spec) -> Vec<&'static str> {
    catalog.estimator_keys(&spec.name).iter().chain(catalog.model_keys(&spec.name)).map(|key| key.name).collect()
}

/// Every key of a grid must change something.
fn check_keys(comparison: &Comparison, lines: Lines<'_>) -> Result<(), StudyError> {
    let estimators = comparison.estimators.iter().map(|contestant| &contestant.spec.spec);
    let specs: Vec<&Spec> = estimators.chain(comparison.models.iter().map(|model| &model.spec)).collect();
    for axis in comparison.grids.iter().flat_map(|grid| &grid.axes) {
        let key = axis.key.as_str();
        if SETTING.contains(&key) {
            continue;
        }
        lines.at(axis.line, || {
            let mut owners = specs.iter().filter(|spec| has(lines.catalog, spec, key)).peekable();
            if owners.peek().is_none() {
                let known: Vec<&str> =
                    SETTING.into_iter().chain(specs.iter().flat_map(|spec| keys_of(lines.catalog, spec))).collect();
                let hint = nearest(key, known.iter().copied()).map(|name| format!(" (did you mean '{name}'?)"));
                anyhow::bail!("no estimator and no model has a key '{key}'{}", hint.unwrap_or_default());
            }
            let free = owners.any(|spec| spec.pairs.iter().all(|(set, _)| set != key));
            anyhow::ensure!(free, "'{key}' changes nothing: every spec that has it sets it itself");
            Ok(())
        })?;
    }
    Ok(())
}

fn check_paired(comparison: &Comparison, label: &str) -> anyhow::Result<()> {
    let labels = || comparison.estimators.iter().map(|contestant| contestant.label.as_str());
    let Some(base) = comparison.position(label).and_then(|place| comparison.estimators.get(place)) else {
        let hint = nearest(label, labels()).map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default();
        anyhow::bail!("paired is '{label}'{hint}, and the labels are: {}", labels().collect::<Vec<_>>().join(", "));
    };
    for contestant in &comparison.estimators {
        let users = contestant.fidelity == Some(Fidelity::Users);
        anyhow::ensure!(users, "paired needs fidelity = \"users\", and '{}' has another", contestant.label);
        anyhow::ensure!(
            contestant.replications == base.replications,
            "paired needs the same replications: '{}' has {}, '{label}' has {}",
            contestant.label,
            contestant.replications,
            base.replications
        );
    }
    Ok(())
}
