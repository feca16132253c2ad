//! Every number in the tables of `docs/optimal-mechanism.md` is what the command prints.

mod common;

use common::{ldp, number};
use serde_json::Value;
use std::path::Path;

/// The tables of the page, each as rows of cells without markup, their heads first.
fn tables() -> Vec<Vec<Vec<String>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/optimal-mechanism.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut all = vec![Vec::new()];
    for line in page.lines() {
        match line.strip_prefix('|') {
            Some(row) if row.starts_with("---") => {}
            Some(row) => {
                let cells = row.trim_end_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
                all.last_mut().unwrap().push(cells.collect::<Vec<String>>());
            }
            None => all.push(Vec::new()),
        }
    }
    all.retain(|table| !table.is_empty());
    all
}

fn record(arguments: &str) -> Value {
    ldp(arguments).with("--format json").succeeds().json()
}

/// Information, gap and reports are those of the row. A gap is where a search stops, and may differ a little elsewhere.
fn check(row: &[String]) -> Value {
    let record = record(&format!("optimal --model {} --epsilon {}", row[0], row[1]));
    assert_eq!(format!("{:.9}", number(&record, "information")), row[2], "{row:?}");
    let (gap, told) = (number(&record, "relative_gap"), row[3].parse::<f64>().unwrap());
    assert!(gap > 0.5 * told && gap < 2.0 * told, "{row:?}: {gap:e}");
    assert_eq!(record["outputs"].to_string(), row[4], "{row:?}");
    record
}

#[test]
fn the_page_says_what_the_command_finds() {
    let tables = tables();
    let [families, switches, far] = &tables[..] else { panic!("{} tables", tables.len()) };
    assert_eq!((families.len(), switches.len(), far.len()), (49, 8, 5));
    for row in &families[1..] {
        let record = check(row);
        let share = |of: f64| format!("{:.1} %", 100.0 * of);
        let information = number(&record, "information");
        assert_eq!(share(information / number(&record, "nonprivate")), row[5], "{row:?}");
        assert_eq!(share(number(&record, "one_bit") / information), row[6], "{row:?}");
    }
    // Those beyond ε = 10 take seconds where nothing is optimised as for a release.
    check(&far[4]);
    for (column, model) in switches[0].iter().enumerate().skip(1) {
        let found = record(&format!("optimal --model {model} --switches 6"));
        let told: Vec<&String> =
            switches[1..].iter().map(|row| &row[column]).filter(|cell| *cell != "beyond 6").collect();
        let found: Vec<f64> =
            found["switches"].as_array().unwrap().iter().map(|switch| number(switch, "epsilon")).collect();
        assert_eq!(found.len(), told.len(), "{model}");
        for (found, told) in found.iter().zip(told) {
            assert!((found - told.parse::<f64>().unwrap()).abs() < 2e-10, "{model}: {found} {told}");
        }
    }
}
