//! What is shown of a record: files, tables, a page. Everything is made from the record alone.

use super::folder::{FILES, Files};
use super::picture::{chart, value};
use crate::bootstrap;
use crate::page::{Figure, Page, Table};
use crate::plot::{SCALE, png};
use crate::record::{Point, Record};
use crate::study::{MODEL, SETTING};
use ldp_catalog::Catalog;
use ldp_catalog::text::{counted, measured, percent, significant};

/// What was found, as files: the same bytes for the same record.
pub fn numbers(record: &mut Record) -> anyhow::Result<Files> {
    let contents = [record.json()?.into_bytes(), csv(record)?.into_bytes()];
    Ok(FILES.into_iter().zip(contents).collect())
}

/// What is drawn of it.
pub struct Drawings {
    /// The files, the same bytes for the same record.
    pub files: Files,
    /// Those that could not be made, and why.
    pub missing: Option<(&'static str, anyhow::Error)>,
}

/// Draws everything that can be drawn.
pub fn drawings(catalog: &Catalog, record: &Record) -> Drawings {
    let svg = chart(catalog, record).svg();
    let page = page(record, svg.clone()).html();
    let [.., vector, dots, report, _] = FILES;
    let drawn = png(&svg, SCALE);
    let mut files = vec![(vector, svg.into_bytes()), (report, page.into_bytes())];
    match drawn {
        Ok(bytes) => {
            files.push((dots, bytes));
            Drawings { files, missing: None }
        }
        Err(error) => Drawings { files, missing: Some((dots, error.into())) },
    }
}

/// A column of `data.csv`: its name, and what it holds of a point.
type Column = (&'static str, fn(&Point) -> String);

/// A number, or nothing.
fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

const COLUMNS: [Column; 27] = [
    ("index", |point| point.index.to_string()),
    ("label", |point| point.label.clone()),
    ("estimator", |point| point.estimator.clone()),
    ("model", |point| point.model.clone()),
    ("theta", |point| point.theta.to_string()),
    ("users", |point| point.users.to_string()),
    ("epsilon", |point| point.epsilon.to_string()),
    ("target", |point| point.target.clone()),
    ("truth", |point| point.truth.to_string()),
    ("fidelity", |point| point.fidelity.name().into()),
    ("replications", |point| point.replications.map_or_else(String::new, |count| count.to_string())),
    ("seed", |point| point.seed.to_string()),
    ("scaled_mse", |point| point.scaled_mse.to_string()),
    ("scaled_mse_low", |point| cell(point.scaled_mse_interval.map(|ends| ends[0]))),
    ("scaled_mse_high", |point| cell(point.scaled_mse_interval.map(|ends| ends[1]))),
    ("scaled_mse_error", |point| cell(point.scaled_mse_error)),
    ("bias", |point| point.bias.to_string()),
    ("variance", |point| point.variance.to_string()),
    ("bound", |point| cell(point.bound)),
    ("efficiency", |point| cell(point.efficiency)),
    ("nonprivate", |point| cell(point.nonprivate)),
    ("one_stage", |point| cell(point.one_stage)),
    ("coverage", |point| cell(point.coverage)),
    ("width", |point| cell(point.width)),
    ("ratio", |point| cell(point.ratio)),
    ("ratio_low", |point| cell(point.ratio_interval.map(|ends| ends[0]))),
    ("ratio_high", |point| cell(point.ratio_interval.map(|ends| ends[1]))),
];

/// A line per point; the other keys of the grids come last.
pub fn csv(record: &Record) -> anyhow::Result<String> {
    let keys = record.settings.keys();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().map(|(name, _)| *name).chain(keys.iter().copied()))?;
    for point in &record.points {
        let set = keys.iter().map(|key| point.keys.get(*key).map_or_else(String::new, ToString::to_string));
        writer.write_record(COLUMNS.iter().map(|(_, of)| of(point)).chain(set))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Makes the table for people: what changes, and what was found.
pub fn table(record: &Record) -> Table {
    let settings = &record.settings;
    let several = |key: &str| {
        let mut values = record.points.iter().map(|point| value(point, key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let keys: Vec<&str> =
        [MODEL].into_iter().chain(SETTING).chain(settings.keys()).filter(|key| several(key)).collect();
    let level = percent(bootstrap::LEVEL);
    let mut header = vec!["estimator".to_owned()];
    header.extend(keys.iter().map(|key| (*key).to_owned()));
    header.extend(["n·MSE".to_owned(), format!("{level} interval"), "bias".into(), "variance".into()]);
    header.extend(["coverage", "width", "efficiency"].map(String::from));
    if let Some(label) = &settings.paired {
        header.extend([format!("MSE / {label}"), format!("{level} interval")]);
    }
    let shown = |value: Option<f64>, digits| value.map_or_else(|| "–".into(), |value| significant(value, digits));
    let ends = |ends: Option<[f64; 2]>| {
        ends.map_or_else(|| "–".into(), |[low, high]| format!("{} to {}", significant(low, 4), significant(high, 4)))
    };
    let row = |point: &Point| {
        let mut row = vec![point.label.clone()];
        row.extend(keys.iter().map(|key| value(point, key).unwrap_or_else(|| "–".into())));
        row.extend([significant(point.scaled_mse, 4), ends(point.scaled_mse_interval)]);
        row.extend([significant(point.bias, 2), significant(point.variance, 3)]);
        row.push(point.coverage.map_or_else(|| "–".into(), |share| measured(share, 1)));
        row.extend([shown(point.width, 3), shown(point.efficiency, 3)]);
        if settings.paired.is_some() {
            row.extend([shown(point.ratio, 4), ends(point.ratio_interval)]);
        }
        row
    };
    Table { header, rows: record.points.iter().map(row).collect() }
}

/// Sentences for what the table does not say.
pub fn notes(record: &Record) -> Vec<String> {
    let mut notes = vec![format!(
        "n·MSE has a {} bootstrap interval over replications, which cannot know of events too rare to have been seen; \
         coverage and width are those of the protocol's own {} interval; efficiency is the bound over n·MSE.",
        percent(bootstrap::LEVEL),
        percent(record.settings.level)
    )];
    if let Some(shard) = record.shard {
        notes.push(format!("This is shard {shard} of the study; ldp merge joins all of them."));
    }
    // One line for all points that a protocol refused for the same reason.
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for skipped in &record.skipped {
        let reason = format!("'{}' was left out: {}", skipped.label, skipped.reason);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, places)) => places.push(&skipped.at),
            None => reasons.push((reason, vec![&skipped.at])),
        }
    }
    notes.extend(reasons.into_iter().map(|(reason, places)| match places[..] {
        [place] => format!("{reason} (at {place})"),
        _ => format!("{reason} (at {}, from {})", counted(places.len() as u64, "point"), places[0]),
    }));
    notes
}

/// Writes the same table in Markdown.
pub fn markdown(record: &Record) -> String {
    let Table { header, rows } = table(record);
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(header.len()));
    [line(&header), rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

fn page(record: &Record, svg: String) -> Page {
    let settings = &record.settings;
    let figure = &settings.figure;
    let lead = format!(
        "{} of {} under {}, at {}.",
        figure.y.label(),
        counted(settings.estimators.len() as u64, "protocol"),
        settings.models.iter().map(|model| model.spec.to_string()).collect::<Vec<_>>().join(", "),
        counted(record.points.len() as u64, "point")
    );
    let mut listed: Vec<(String, String)> = (settings.estimators.iter())
        .map(|contestant| (contestant.label.clone(), format!("{}, {}", contestant.spec.spec, contestant.replications)))
        .collect();
    for (number, grid) in (1..).zip(&settings.grids) {
        for axis in &grid.axes {
            let values: Vec<String> = axis.values.iter().map(ToString::to_string).collect();
            let name = if settings.grids.len() > 1 { format!("grid {number}, {}", axis.key) } else { axis.key.clone() };
            listed.push((name, values.join(", ")));
        }
    }
    listed.push(("seed".into(), settings.seed.to_string()));
    listed.push(("level of intervals".into(), settings.level.to_string()));
    listed.push(("version of ldp".into(), record.version.clone()));
    listed.push(("fingerprint".into(), record.fingerprint.clone()));
    let caption = format!(
        "{} against {}; shaded: the {} interval over replications.",
        figure.y.label(),
        figure.x,
        percent(bootstrap::LEVEL)
    );
    Page {
        title: settings.title.clone(),
        lead,
        command: format!("ldp compare {} --out DIR", record.study),
        figures: vec![Figure { caption, svg }],
        settings: listed,
        table: table(record),
        notes: notes(record),
    }
}
