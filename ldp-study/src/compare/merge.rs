//! The shards of a study, joined.

use crate::record::Record;
use anyhow::Context;

/// Joins all shards of a study, whose names are for messages.
///
/// # Errors
///
/// If they are of several studies, or one is missing or there twice.
pub fn join(records: Vec<Record>, names: &[String]) -> anyhow::Result<Record> {
    let mut records = records.into_iter().zip(names);
    let (mut whole, first) = records.next().context("there is nothing to join")?;
    let shard = whole.shard.with_context(|| format!("{first}: this is a whole study, not a shard"))?;
    let mut found = vec![None; usize::try_from(shard.of)?];
    let mut place = |index: u64, name| -> anyhow::Result<()> {
        let slot = found.get_mut(usize::try_from(index - 1)?).context("a shard beyond the last")?;
        match slot.replace(name) {
            None => Ok(()),
            Some(other) => anyhow::bail!("shard {index}/{} is there twice: {other} and {name}", shard.of),
        }
    };
    place(shard.index, first)?;
    for (record, name) in records {
        anyhow::ensure!(
            record.fingerprint == whole.fingerprint,
            "{name} is of another study than {first}: '{}', not '{}'{}",
            record.settings.title,
            whole.settings.title,
            if record.settings.title == whole.settings.title {
                ", with other settings or of another version"
            } else {
                ""
            }
        );
        let part = record.shard.with_context(|| format!("{name}: this is a whole study, not a shard"))?;
        anyhow::ensure!(
            part.of == shard.of,
            "{name} is shard {part}, and {first} is shard {shard}: parted differently"
        );
        place(part.index, name)?;
        whole.points.extend(record.points);
    }
    let missing: Vec<String> = (1..)
        .zip(&found)
        .filter(|(_, name)| name.is_none())
        .map(|(index, _): (u64, _)| format!("{index}/{}", shard.of))
        .collect();
    anyhow::ensure!(missing.is_empty(), "missing: shard {}", missing.join(", "));
    whole.points.sort_by_key(|point| point.index);
    whole.shard = None;
    Ok(whole)
}
