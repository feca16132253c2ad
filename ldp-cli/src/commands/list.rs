//! `ldp list`: what there is.

use crate::args::{Common, Format, Kind};
use crate::registry::{ESTIMATORS, Entry, Key, MECHANISMS, MODELS};
use crate::report;
use crate::study;
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;

/// Prints every name with its keys and defaults.
pub fn run(common: &Common, what: Option<Kind>) -> anyhow::Result<()> {
    let sections = [
        (Kind::Estimators, "estimators", rows(ESTIMATORS)),
        (Kind::Models, "models", rows(MODELS)),
        (Kind::Mechanisms, "mechanisms", rows(MECHANISMS)),
        (Kind::Studies, "studies", studies()?),
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
struct Row {
    name: &'static str,
    summary: Cow<'static, str>,
    keys: &'static [Key],
}

fn rows<B>(table: &[Entry<B>]) -> Vec<Row> {
    table.iter().map(|entry| Row { name: entry.name, summary: entry.summary.into(), keys: entry.keys }).collect()
}

/// The title of a study is in its file.
fn studies() -> anyhow::Result<Vec<Row>> {
    let row = |bundled: &study::Bundled| {
        Ok(Row { name: bundled.name, summary: bundled.study()?.title().to_owned().into(), keys: &[] })
    };
    study::BUNDLED.iter().map(row).collect()
}

/// A key with its default, whether data may do with it, and what it means.
fn explained(key: &Key) -> String {
    let demand = if key.of_data { ", required on data" } else { "" };
    format!("{} ({}){demand}: {}", key.name, key.default, key.help)
}

fn table(rows: &[Row]) -> String {
    let mut table = report::table(&["name", "keys (default)", "what it is"]);
    for row in rows {
        let keys: Vec<_> = row.keys.iter().map(explained).collect();
        table.add_row([row.name, &keys.join("\n"), &*row.summary]);
    }
    table.to_string()
}
