//! What people read of the comparison is what was measured, and its scripts can be read by who runs them.
//!
//! The comparison itself takes minutes and other people's software: `benches/peers/run`.

use benches::peers::{Results, figure, page, readme_with, section};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Fewer rounds say little about a median, and nothing about its spread.
const LEAST_ROUNDS: u32 = 7;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn results() -> Results {
    Results::parse(&read("results.json")).unwrap()
}

#[test]
fn pages_agree_with_the_results() {
    let results = results();
    assert!(!results.quick && results.rounds >= LEAST_ROUNDS, "a quick run is not for publication");
    let again = "differs from results.json: run `cargo run -p benches --bin show-peers benches/peers README.md`";
    assert!(page(&results) == read("results.md"), "results.md {again}");
    assert!(figure(&results) == read("results.svg"), "results.svg {again}");
    let readme = read("../../README.md");
    assert!(readme_with(&readme, &section(&results)).is_some_and(|made| made == readme), "README.md {again}");
}

#[test]
fn another_number_makes_another_page() {
    let mut other = results();
    let ratio = other.rows[0].entries[1].ratio.as_mut().unwrap();
    ratio.median *= 1.1;
    assert!(page(&other) != read("results.md"));
    assert!(figure(&other) != read("results.svg"));
    assert!(!read("../../README.md").contains(&section(&other)));
}

#[test]
fn all_sides_agreed() {
    let results = results();
    for check in &results.checks {
        assert!((check.value - check.expected).abs() <= check.tolerance, "{check:?}");
        assert!(check.tolerance <= 0.01 * check.expected, "{check:?} would pass too much");
    }
    for side in ["ours", "numpy", "opendp-rust", "opendp", "pure-ldp", "multi-freq-ldpy"] {
        assert!(results.checks.iter().any(|check| check.side == side), "{side} was not checked");
    }
}

#[test]
fn every_version_is_pinned() {
    let pins = read("requirements.txt");
    let pins: Vec<&str> = pins.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(pins.iter().all(|line| line.split("==").count() == 2), "{pins:?}");
    for (name, version) in &results().versions {
        let elsewhere = ["Python", "rustc", "opendp (Rust)"].contains(&&**name);
        assert!(elsewhere || pins.contains(&&*format!("{name}=={version}")), "{name} {version} is not what is pinned");
    }
}

/// Without an interpreter there is nothing to ask; who runs the comparison has one.
#[test]
fn scripts_can_be_read() {
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let python: Vec<PathBuf> = names.filter(|path| path.extension().is_some_and(|end| end == "py")).collect();
    assert!(python.len() >= 5, "{python:?}");
    let parse = "import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path, encoding='utf-8').read(), path)";
    for (program, first, files) in [
        ("python3", ["-c", parse].as_slice(), python),
        ("bash", &["-n"], vec![folder().join("run")]),
        ("bash", &["-n"], vec![folder().join("../counts/run")]),
    ] {
        match Command::new(program).args(first).args(&files).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => eprintln!("not checked, {program}: {error}"),
        }
    }
}
