//! Results on standard output: one record, three forms.

use crate::args::Format;
use crate::table::Table;
pub use ldp_catalog::text::{counted, measured, percent, plain, significant};
use ldp_study::error::OutputError;
use ldp_study::page::Table as Rows;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// Writes text to standard output.
pub fn write(text: &str) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(OutputError)
}

/// Writes a record in the wanted form; `human` makes the text for people.
pub fn record<T: Serialize>(format: Format, record: &T, human: impl FnOnce() -> String) -> anyhow::Result<()> {
    let text = match format {
        Format::Human => human(),
        Format::Json => serde_json::to_string_pretty(record)? + "\n",
        Format::Csv => csv(&serde_json::to_value(record)?)?,
    };
    Ok(write(&text)?)
}

/// A table of a library, in the house style.
pub fn laid_out(Rows { header, rows }: Rows) -> Table {
    let mut table = table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row);
    }
    table
}

/// A table in the house style.
pub fn table(header: &[&str]) -> Table {
    Table::new(header)
}

/// A header and one line; nested fields are named `outer.inner`.
fn csv(record: &Value) -> anyhow::Result<String> {
    let mut cells = Vec::new();
    flatten(String::new(), record, &mut cells);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells.iter().map(|(name, _)| name))?;
    writer.write_record(cells.iter().map(|(_, value)| value))?;
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A header and a line per record; all have the same fields.
pub fn lines<T: Serialize>(records: &[T]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (number, record) in records.iter().enumerate() {
        let mut cells = Vec::new();
        flatten(String::new(), &serde_json::to_value(record)?, &mut cells);
        if number == 0 {
            writer.write_record(cells.iter().map(|(name, _)| name))?;
        }
        writer.write_record(cells.iter().map(|(_, value)| value))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn flatten(name: String, value: &Value, cells: &mut Vec<(String, String)>) {
    let inner = |key: &str| {
        if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| flatten(inner(key), value, cells)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| flatten(inner(&i.to_string()), value, cells))
        }
        Value::Null => cells.push((name, String::new())),
        Value::String(text) => cells.push((name, text.clone())),
        other => cells.push((name, other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_records_become_flat_lines() {
        let record = serde_json::json!({"a": 1.5, "b": {"low": "-inf", "high": null}, "c": [1, 2]});
        assert_eq!(csv(&record).unwrap(), "a,b.low,b.high,c.0,c.1\n1.5,-inf,,1,2\n");
    }
}
