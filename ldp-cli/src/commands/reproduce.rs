//! `ldp reproduce`: runs a bundled study again.

use super::compare::carry_out;
use super::pool;
use crate::args::{Common, Format, Reproduce};
use crate::output::Folder;
use crate::progress::Steps;
use crate::report;
use anyhow::Context;
use ldp_catalog::Catalog;
use ldp_study::bounded;
use ldp_study::compare::Order;
use ldp_study::growth;
use ldp_study::record::MOST_BYTES;
use ldp_study::study::Study;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// The version of the form of `record.json`.
const SCHEMA: u32 = 1;

/// What is in the folder.
const FILES: [&str; 5] = ["record.json", "data.csv", "growth.svg", "curve.svg", "run.json"];

const COMMAND: &str = "reproduce";

/// What `record.json` holds.
#[derive(Serialize)]
struct Record<'a, S, P> {
    schema: u32,
    command: &'static str,
    version: &'static str,
    study: &'static str,
    settings: &'a S,
    points: &'a [P],
}

/// Runs the study, fills the folder and prints the table.
pub fn run(catalog: &Catalog, common: &Common, args: &Reproduce) -> anyhow::Result<()> {
    let bundled = catalog.study(&args.name)?;
    let study = Study::parse(catalog, bundled.source).with_context(|| format!("study {}", bundled.name))?;
    match study {
        Study::Comparison(study) => {
            let (out, overwrite) = (args.out.as_path(), common.overwrite);
            let order = Order { name: bundled.name, out, shard: None, yes: true, overwrite };
            carry_out(catalog, common, *study, &order, false)
        }
        Study::FirstStageGrowth(settings) => {
            let folder = Folder::open("--out", &args.out)?;
            if !common.overwrite {
                check(&args.out, bundled.name)?;
            }
            let started = Instant::now();
            let pool = pool(common)?;
            let progress = Steps::new("summing", growth::Found::steps(&settings) as u64, common.quiet);
            let found = pool.install(|| growth::Found::new(&settings, &|| progress.step()))?;
            drop(progress);
            let record = Record {
                schema: SCHEMA,
                command: COMMAND,
                version: env!("CARGO_PKG_VERSION"),
                study: bundled.name,
                settings: &settings,
                points: &found.points,
            };
            let data = report::lines(&found.points)?;
            let run = json!({ "seconds": started.elapsed().as_secs_f64(), "threads": pool.current_num_threads() });
            let texts = [
                serde_json::to_string_pretty(&record)? + "\n",
                data.clone(),
                found.growth_chart(&settings).svg(),
                found.curve_chart(&settings).svg(),
                serde_json::to_string_pretty(&run)? + "\n",
            ];
            let files: Vec<_> =
                FILES.iter().zip(texts).map(|(name, text)| ((*name).to_owned(), text.into_bytes())).collect();
            folder.write(&files, common.overwrite, &FILES[4..])?;
            match common.format {
                Format::Csv => Ok(report::write(&data)?),
                _ => report::record(common.format, &record, || {
                    let (table, legend) = (report::laid_out(found.table()), found.legend(&settings));
                    format!("{}\n{table}\n{legend}\n", settings.title)
                }),
            }
        }
    }
}

/// Refuses a folder that holds anything else than this study, before the work begins.
fn check(out: &Path, name: &str) -> anyhow::Result<()> {
    let taken = FILES.iter().find(|file| out.join(file).exists());
    let same = || {
        let text = bounded::text_of_file(&out.join(FILES[0]), MOST_BYTES).ok()?;
        let record: Value = serde_json::from_str(&text).ok()?;
        Some(record["command"] == COMMAND && record["study"] == name && record["version"] == env!("CARGO_PKG_VERSION"))
    };
    anyhow::ensure!(
        taken.is_none() || same() == Some(true),
        "--out {}: {} is there already, and not from this study; take another folder, or --overwrite",
        out.display(),
        taken.copied().unwrap_or_default()
    );
    Ok(())
}
