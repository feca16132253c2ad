//! `ldp merge`: the shards of a study, joined.

use super::compare::print;
use super::warn;
use crate::args::{Common, Merge};
use ldp_catalog::Catalog;
use ldp_study::compare::{JOURNAL, join, store};
use ldp_study::record::Record;
use std::path::Path;

/// Joins shards, writes the files of the whole and prints it.
pub fn run(catalog: &Catalog, common: &Common, args: &Merge) -> anyhow::Result<()> {
    let read = |path: &Path| {
        anyhow::ensure!(
            path.is_file() || path.join("record.json").exists() || !path.join(JOURNAL).exists(),
            "{}: this shard is not finished; the command that began it goes on",
            path.display()
        );
        let record = Record::read(path)?;
        if let Some(warning) = record.warning() {
            warn(common.quiet, &format!("{}: {warning}", path.display()));
        }
        Ok(record)
    };
    let records = args.shards.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<String> = args.shards.iter().map(|path| path.display().to_string()).collect();
    let mut whole = join(records, &names)?;
    let drawn = store(catalog, &mut whole, &args.out, common.overwrite)?;
    print(common, &whole, args.markdown)?;
    drawn
}
