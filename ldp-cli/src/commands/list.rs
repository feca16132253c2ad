//! `ldp list`: what there is.

use crate::args::{Common, Kind};
use crate::registry::{ESTIMATORS, Entry, MECHANISMS, MODELS};
use crate::report;
use serde_json::{Value, json};

/// Prints every name with its keys and defaults.
pub fn run(common: &Common, what: Option<Kind>) -> anyhow::Result<()> {
    let mut record = serde_json::Map::new();
    let mut human = String::new();
    let mut section = |kind, title: &str, (rows, text): (Vec<Value>, String)| {
        if what.is_none_or(|wanted| wanted == kind) {
            record.insert(title.into(), rows.into());
            human += &format!("{title}\n{text}\n\n");
        }
    };
    section(Kind::Estimators, "estimators", entries(ESTIMATORS));
    section(Kind::Models, "models", entries(MODELS));
    section(Kind::Mechanisms, "mechanisms", entries(MECHANISMS));
    report::record(common.format, &Value::Object(record), || human)
}

fn entries<B>(table: &[Entry<B>]) -> (Vec<Value>, String) {
    let mut text = report::table(&["name", "keys (default)", "what it is"]);
    let mut rows = Vec::new();
    for entry in table {
        let keys: Vec<_> =
            entry.keys.iter().map(|key| format!("{} ({}): {}", key.name, key.default, key.help)).collect();
        text.add_row([entry.name, &keys.join("\n"), entry.summary]);
        let keys: Vec<_> =
            entry.keys.iter().map(|key| json!({"name": key.name, "default": key.default, "help": key.help})).collect();
        rows.push(json!({"name": entry.name, "summary": entry.summary, "keys": keys}));
    }
    (rows, text.to_string())
}
