//! `ldp list`: what there is.

use crate::args::{Common, Format, Kind};
use crate::report;
use ldp_catalog::{Catalog, Entry, Key, StudyEntry};
use ldp_study::study::Study;
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;

/// Prints every name with its keys and defaults.
pub fn run(catalog: &Catalog, common: &Common, what: Option<Kind>) -> anyhow::Result<()> {
    let sections = [
        (Kind::Estimators, "estimators", rows(catalog.estimators())),
        (Kind::Models, "models", rows(catalog.models())),
        (Kind::Mechanisms, "mechanisms", rows(catalog.mechanisms())),
        (Kind::Studies, "studies", studies(catalog)?),
    ];
    let wanted = || sections.iter().filter(|(kind, ..)| what.is_none_or(|wanted| wanted == *kind));
    let text = match common.format {
        Format::Human => wanted().map(|(_, title, rows)| format!("{title}\n{}\n\n", table(rows))).collect(),
        Format::Json => {
            let record: serde_json::Map<_, _> =
                wanted().map(|(_, title, rows)| ((*title).into(), json!(rows))).collect();
            serde_json::to_string_pretty(&record)? + "\n"
        }
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["kind", "name", "keys", "summary", "required_on_data"])?;
            for (_, title, rows) in wanted() {
                for row in rows {
                    let keys: Vec<_> = row.keys.iter().map(|key| format!("{}={}", key.name, key.default)).collect();
                    let of_data: Vec<_> = row.keys.iter().filter(|key| key.of_data).map(|key| key.name).collect();
                    writer.write_record([title, row.name, &keys.join(","), &*row.summary, &of_data.join(",")])?;
                }
            }
            String::from_utf8(writer.into_inner()?)?
        }
    };
    Ok(report::write(&text)?)
}

/// What is shown of an entry, whatever it builds.
#[derive(Serialize)]
struct Row<'c> {
    name: &'static str,
    summary: Cow<'static, str>,
    keys: &'c [Key],
}

fn rows<B: ?Sized>(table: &[Entry<B>]) -> Vec<Row<'_>> {
    table.iter().map(|entry| Row { name: entry.name(), summary: entry.summary().into(), keys: entry.keys() }).collect()
}

/// The title of a study is in its file.
fn studies(catalog: &Catalog) -> anyhow::Result<Vec<Row<'static>>> {
    let row = |entry: &StudyEntry| {
        let title = Study::parse(catalog, entry.source)?.title().to_owned();
        Ok(Row { name: entry.name, summary: title.into(), keys: &[] })
    };
    catalog.studies().iter().map(row).collect()
}

/// A key with its default, whether data may do with it, and what it means.
fn explained(key: &Key) -> String {
    let demand = if key.of_data { ", required on data" } else { "" };
    format!("{} ({}){demand}: {}", key.name, key.default, key.help)
}

fn table(rows: &[Row<'_>]) -> String {
    let mut table = report::table(&["name", "keys (default)", "what it is"]);
    for row in rows {
        let keys: Vec<_> = row.keys.iter().map(explained).collect();
        table.add_row([row.name, &keys.join("\n"), &*row.summary]);
    }
    table.to_string()
}
