//! The figure of a record: everything is drawn from what is kept, so that it can be drawn again.

use crate::plot::{Axis, Band, Chart, Series};
use crate::record::{Point, Record};
use crate::study::{Comparison, ESTIMATOR, Fidelity, Line, MODEL, Quantity, SETTING, START_MINUS_THETA};
use ldp_catalog::text::grouped;
use ldp_catalog::{Catalog, Spec};
use std::collections::BTreeSet;

/// More points than this on a line are a curve: no marks.
const FEW: usize = 60;

/// The figure.
pub fn chart(catalog: &Catalog, record: &Record) -> Chart {
    let settings = &record.settings;
    let figure = &settings.figure;
    let by = told_apart(record);
    let xs: Vec<f64> = record.points.iter().filter_map(|point| x(settings, point)).collect();
    let ends = [xs.iter().copied().fold(f64::INFINITY, f64::min), xs.iter().copied().fold(f64::NEG_INFINITY, f64::max)];
    let (mut series, mut bands, mut colours, mut sums) = (Vec::new(), Vec::new(), 0, false);
    for (names, points) in groups(record, &by) {
        let line = along(settings, &points, ends);
        // A sum is no simulation: a thin line beside those it explains.
        let exact = points.iter().all(|point| point.fidelity == Fidelity::Exact) && !all_exact(record);
        let label = match (exact, &names[..]) {
            (false, _) => names.join(", "),
            // One name is enough for all: each runs beside the line it explains.
            (true, [first, ..]) if !sums => first.clone(),
            (true, _) => String::new(),
        };
        sums |= exact;
        series.push(Series {
            label,
            marks: !exact && line.len() <= FEW,
            points: line.iter().map(|&(x, y, _)| (x, y)).collect(),
            reference: exact,
        });
        if exact {
            continue;
        }
        if line.iter().any(|(_, _, ends)| ends.is_some()) {
            let ends = |&(x, y, ends): &(f64, f64, Option<[f64; 2]>)| {
                let [low, high] = ends.unwrap_or([y; 2]);
                (x, low, high)
            };
            bands.push(Band { label: String::new(), points: line.iter().map(ends).collect(), of: colours });
        }
        colours += 1;
    }
    for &line in &figure.lines {
        series.extend(references(catalog, record, line, &by, ends));
    }
    let ys = || series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    let ys: Vec<f64> = figure.y_range.map_or_else(|| ys().collect(), |range| range.to_vec());
    let x_label = figure.x_label.clone().unwrap_or_else(|| name(&figure.x).to_owned());
    let y_label = figure.y_label.clone().unwrap_or_else(|| figure.y.label().to_owned());
    Chart {
        title: settings.title.clone(),
        x: Axis::new(&x_label, figure.x_scale.into(), xs.into_iter()),
        y: Axis::new(&y_label, figure.y_scale.into(), ys.into_iter()),
        series,
        bands,
        marks: Vec::new(),
    }
}

fn all_exact(record: &Record) -> bool {
    record.points.iter().all(|point| point.fidelity == Fidelity::Exact)
}

/// What tells lines apart: what the study says, or the protocols and whatever else changes.
fn told_apart(record: &Record) -> Vec<String> {
    let given = record.settings.figure.by.is_some();
    let several = |key: &String| given || key == ESTIMATOR || key == MODEL || values(record, key).len() > 1;
    apart(&record.settings).into_iter().filter(several).collect()
}

/// What may tell lines apart: of some keys only the points say whether they change.
pub fn apart(settings: &Comparison) -> Vec<String> {
    if let Some(by) = &settings.figure.by {
        return by.clone();
    }
    let x = settings.figure.x.as_str();
    // Start minus theta is made of two keys: neither tells lines apart then.
    let used = |key: &&str| *key == x || (x == START_MINUS_THETA && ["start", "theta"].contains(key));
    let keys = SETTING.into_iter().chain(settings.keys()).filter(|key| !used(key)).map(str::to_owned);
    let models = (settings.models.len() > 1).then(|| MODEL.to_owned());
    [ESTIMATOR.to_owned()].into_iter().chain(models).chain(keys).collect()
}

/// The values that a key takes, as texts.
fn values(record: &Record, key: &str) -> BTreeSet<String> {
    record.points.iter().filter_map(|point| value(point, key)).collect()
}

/// The value of a key at a point, for people.
pub fn value(point: &Point, key: &str) -> Option<String> {
    match key {
        ESTIMATOR => Some(point.label.clone()),
        MODEL => Some(point.model.clone()),
        "users" => Some(grouped(point.users)),
        "epsilon" => Some(shown(point.epsilon)),
        "theta" => Some(shown(point.theta)),
        key => point.keys.get(key).map(|value| value.number().map_or_else(|| value.to_string(), shown)),
    }
}

/// A number in full, with a power of ten where it would be long.
fn shown(number: f64) -> String {
    let plain = number.to_string();
    if plain.len() > 20 { format!("{number:e}") } else { plain }
}

/// What a key is called in a figure.
fn name(key: &str) -> &str {
    match key {
        "users" => "users n",
        "epsilon" => "ε",
        "theta" => "θ",
        START_MINUS_THETA => "start − θ",
        key => key,
    }
}

/// The points of each line with the parts of its name, in the order in which lines begin.
fn groups<'r>(record: &'r Record, by: &[String]) -> Vec<(Vec<String>, Vec<&'r Point>)> {
    let several: Vec<bool> = by.iter().map(|key| values(record, key).len() > 1).collect();
    let mut all: Vec<(Vec<Option<String>>, Vec<&Point>)> = Vec::new();
    for point in &record.points {
        let key: Vec<Option<String>> = by.iter().map(|key| value(point, key)).collect();
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, points)) => points.push(point),
            None => all.push((key, vec![point])),
        }
    }
    let named = |key: Vec<Option<String>>| {
        // What is the same for all needs no word, unless there would be none.
        let shown = by.iter().zip(key).zip(&several).filter(|(_, several)| **several || by.len() == 1);
        shown.filter_map(|((key, value), _)| Some(part(key, &value?))).collect()
    };
    all.into_iter().map(|(key, points)| (named(key), points)).collect()
}

/// One part of the name of a line.
fn part(key: &str, value: &str) -> String {
    match key {
        ESTIMATOR | MODEL => value.to_owned(),
        "users" => format!("n = {value}"),
        key => format!("{} = {value}", name(key)),
    }
}

/// Where a point stands on the horizontal axis, if its protocol has what is shown there.
fn x(settings: &Comparison, point: &Point) -> Option<f64> {
    match settings.figure.x.as_str() {
        "users" => Some(point.users as f64),
        "epsilon" => Some(point.epsilon),
        "theta" => Some(point.theta),
        START_MINUS_THETA => {
            let spec: Spec = point.estimator.parse().ok()?;
            let (_, start) = spec.pairs.into_iter().find(|(key, _)| key == "start")?;
            Some(start.parse::<f64>().ok()? - point.theta)
        }
        key => point.keys.get(key).and_then(|value| value.number()),
    }
}

/// What is shown of a point, and its interval where it has one.
fn y(quantity: Quantity, point: &Point) -> Option<(f64, Option<[f64; 2]>)> {
    match quantity {
        Quantity::ScaledMse => Some((point.scaled_mse, point.scaled_mse_interval)),
        Quantity::Efficiency => {
            let bound = point.bound?;
            let turned = |[low, high]: [f64; 2]| [bound / high, bound / low];
            Some((point.efficiency?, point.scaled_mse_interval.filter(|ends| ends[0] > 0.0).map(turned)))
        }
        Quantity::Coverage => point.coverage.map(|coverage| (coverage, None)),
        Quantity::Width => point.width.map(|width| (width, None)),
        Quantity::Bias => Some((point.bias, None)),
        Quantity::Variance => Some((point.variance, None)),
        Quantity::Ratio => point.ratio.map(|ratio| (ratio, point.ratio_interval)),
    }
}

/// A line: x, y and the interval, from left to right. A protocol without the key of the axis is the same all along it.
fn along(settings: &Comparison, points: &[&Point], ends: [f64; 2]) -> Vec<(f64, f64, Option<[f64; 2]>)> {
    let mut line = Vec::new();
    for point in points {
        let Some((y, interval)) = y(settings.figure.y, point) else { continue };
        match x(settings, point) {
            Some(x) => line.push((x, y, interval)),
            None => line.extend(ends.map(|x| (x, y, interval))),
        }
    }
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    line
}

/// The places that a line goes through.
type Places = Vec<(f64, f64)>;

/// The lines to compare with: one, unless what tells lines apart makes them differ.
fn references(catalog: &Catalog, record: &Record, line: Line, by: &[String], ends: [f64; 2]) -> Vec<Series> {
    let of = |point: &Point| match line {
        Line::Bound => point.bound,
        Line::OneStage => point.one_stage,
        Line::NonPrivate => point.nonprivate,
    };
    let settings = &record.settings;
    // Only the family and the level matter for them.
    let of_model = |key: &str| catalog.models().iter().flat_map(|entry| entry.keys()).any(|known| known.name == key);
    let matters = |key: &&String| [MODEL, "epsilon", "theta"].contains(&key.as_str()) || of_model(key);
    let others: Vec<String> = by.iter().filter(matters).cloned().collect();
    let mut all: Vec<(Vec<String>, Places)> = Vec::new();
    for (names, points) in groups(record, &others) {
        let mut places = Places::new();
        for point in points {
            let Some(y) = of(point) else { continue };
            match x(settings, point) {
                Some(x) => places.push((x, y)),
                None => places.extend(ends.map(|x| (x, y))),
            }
        }
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        places.dedup();
        // A constant goes from end to end.
        if let Some(&(_, first)) = places.first()
            && places.iter().all(|place| place.1 == first)
        {
            places = ends.map(|x| (x, first)).to_vec();
        }
        if !places.is_empty() && all.iter().all(|(_, known)| *known != places) {
            all.push((names, places));
        }
    }
    let several = all.len() > 1;
    (all.into_iter())
        .map(|(names, points)| {
            let parts = [line.label().to_owned()].into_iter().chain(names.into_iter().filter(|_| several));
            Series { label: parts.collect::<Vec<_>>().join(", "), points, reference: true, marks: false }
        })
        .collect()
}
