//! The pages hold together: tables have as many cells as their headers say, and links lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages at the top and in docs, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name)).into();
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The lines that are not code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut code = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            lines.push((number, line));
        }
    }
    lines
}

/// How many cells a row of a table has: a bar in code or behind a backslash parts none.
fn cells(row: &str) -> usize {
    let (mut bars, mut code, mut hidden) = (0, false, false);
    for letter in row.chars() {
        match letter {
            '`' => code = !code,
            '|' if !code && !hidden => bars += 1,
            _ => {}
        }
        hidden = letter == '\\';
    }
    bars - 1
}

#[test]
fn every_row_has_the_cells_of_its_header() {
    let mut rows = 0;
    for (path, text) in pages() {
        let mut header = None;
        for (number, line) in prose(&text) {
            if !line.starts_with('|') {
                header = None;
                continue;
            }
            let expected = *header.get_or_insert(cells(line));
            assert_eq!(cells(line), expected, "{} line {number}: {line}", path.display());
            rows += 1;
        }
    }
    assert!(rows > 50, "{rows}");
}

/// What the links of a line lead to.
fn links(line: &str) -> Vec<&str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let (mut seen, mut broken) = (0, Vec::new());
    for (path, text) in pages() {
        for (number, line) in prose(&text) {
            for link in links(line).into_iter().filter(|link| !link.contains("://") && !link.starts_with('#')) {
                let file = link.split('#').next().unwrap_or(link);
                seen += 1;
                if !path.with_file_name(file).exists() {
                    broken.push(format!("{} line {number}: {link}", path.display()));
                }
            }
        }
    }
    assert!(seen > 15 && broken.is_empty(), "{broken:#?}");
}
