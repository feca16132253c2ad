//! The results as pages: one with everything, and a section of the README.

use super::results::{Entry, Kind, Results, Row, Spread};
use crate::numbers::{duration, ratio, relative};
use std::fmt::Write;

/// Where the section of the README begins.
pub const BEGIN: &str = "<!-- peers:begin -->";
/// Where it ends.
pub const END: &str = "<!-- peers:end -->";

/// The page with everything that was measured.
#[must_use]
pub fn page(results: &Results) -> String {
    let mut out = String::from("# Side by side with other software\n\n");
    let _ = writeln!(
        out,
        "Made by `benches/peers/run` on {}, one core of {}, {} interleaved rounds; do not edit. Times are medians over rounds with the \
         smallest and the largest in brackets. A ratio is the other's time over ours in the same round, so that what slows \
         the machine slows both; median and range again. Every program runs on one thread, is timed from inside around \
         the work alone, and has done the same task once before.\n",
        results.date, results.cpu, results.rounds
    );
    if results.quick {
        out.push_str("**A quick run on small sizes: numbers to look at, not to quote.**\n\n");
    }
    let versions: Vec<String> = results.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let _ = writeln!(out, "Versions: {}.\n\n![ratios](results.svg)", versions.join(", "));
    for row in &results.rows {
        table(&mut out, row);
    }
    agreement(&mut out, results);
    out
}

fn table(out: &mut String, row: &Row) {
    let accuracy = row.entries.iter().any(|entry| entry.accuracy.is_some());
    let _ = writeln!(out, "\n## {}\n", row.title);
    let _ = write!(out, "| who | what it does | time per {} | times ours |", row.unit);
    out.push_str(if accuracy { " relative error, proved or standard |\n" } else { "\n" });
    out.push_str(if accuracy { "|---|---|---|---|---|\n" } else { "|---|---|---|---|\n" });
    for entry in &row.entries {
        let times = entry.ratio.map_or("1".into(), |spread| ranged(spread, ratio));
        let time = ranged(entry.seconds, duration);
        let _ = write!(out, "| {} | {} | {time} | {times} |", entry.name, entry.does);
        match (accuracy, entry.accuracy) {
            (false, _) => out.push('\n'),
            (true, Some(error)) => drop(writeln!(out, " {} |", relative(error))),
            (true, None) => out.push_str(" |\n"),
        }
    }
}

fn agreement(out: &mut String, results: &Results) {
    out.push_str("\n## What all sides agreed on first\n\n| what | who | found | expected | may be off by |\n|---|---|---|---|---|\n");
    for check in &results.checks {
        let _ = writeln!(
            out,
            "| {} | {} | {:.6} | {:.6} | {:.1e} |",
            check.what, check.side, check.value, check.expected, check.tolerance
        );
    }
}

/// The section of the README, between its markers.
#[must_use]
pub fn section(results: &Results) -> String {
    let mut out = format!("{BEGIN}\n");
    let _ = writeln!(
        out,
        "How long it takes elsewhere, in multiples of our time (below 1: faster than ours): medians of {} interleaved rounds on one\n\
         core of {}, {}, made by `benches/peers/run`. Bold where the other side does the same; else it has the same\n\
         answer from other work: «every user» draws every value, «counts» draws sufficient counts.\n\
         [What each side does, ranges, accuracies and versions](benches/peers/results.md).\n",
        results.rounds, results.cpu, results.date
    );
    out.push_str("| work | ours | others, times as long |\n|---|---|---|\n");
    for row in &results.rows {
        let Some((ours, others)) = row.split() else { continue };
        let others: Vec<String> = others.iter().filter(|entry| entry.kind != Kind::Own).map(multiple).collect();
        let others = if others.is_empty() { "not compared".into() } else { others.join("; ") };
        let _ = writeln!(out, "| {} | {} per {} | {others} |", row.short, duration(ours.seconds.median), row.unit);
    }
    let _ = writeln!(out, "{END}");
    out
}

fn multiple(entry: &Entry) -> String {
    let times = entry.ratio.map_or_else(String::new, |spread| ratio(spread.median));
    match entry.kind {
        Kind::Floor => format!("({} {times})", entry.name),
        Kind::Same => format!("{} **{times}**", entry.name),
        Kind::Other | Kind::Own => format!("{} {times}", entry.name),
    }
}

fn ranged(spread: Spread, show: fn(f64) -> String) -> String {
    format!("{} ({} to {})", show(spread.median), show(spread.low), show(spread.high))
}

/// The README with its section replaced; none where the markers are missing or out of order.
#[must_use]
pub fn readme_with(readme: &str, section: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{}{after}", section.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::example;
    use super::*;

    #[test]
    fn pages_say_what_was_measured() {
        let page = page(&example());
        for part in [
            "on 2026-01-02, one core of A processor, 7 interleaved rounds",
            "Versions: numpy 2.4.6.",
            "| numpy | what numpy does | 6.00 ns (5.40 ns to 7.50 ns) | 6.00 (5.40 to 7.50) |\n",
            "| ldp | what ldp does | 2.00 ms (1.80 ms to 2.50 ms) | 1 | 1e-12 |\n",
            "| 6,000 (5,400 to 7,500) | 0.63 % |\n",
            "| shortcut | what shortcut does |",
            "| share of lies | numpy | 0.268800 | 0.268900 | 1.0e-3 |\n",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert!(!page.contains("quick"));
        assert!(super::page(&Results { quick: true, ..example() }).contains("not to quote"));
    }

    #[test]
    fn the_section_replaces_itself_alone() {
        let section = section(&example());
        assert!(section.contains("| Reports | 1.00 ns per value | numpy **6.00**; (sum 0.500) |\n"), "{section}");
        assert!(section.contains("| Risk | 2.00 ms per answer | numpy & co 6,000 |\n"), "{section}");
        let readme = format!("# ldp\n\n{BEGIN}\nyesterday\n{END}\n\nmore\n");
        let made = readme_with(&readme, &section).unwrap();
        assert!(made.starts_with("# ldp\n\n<!--") && made.ends_with("-->\n\nmore\n") && !made.contains("yesterday"));
        assert_eq!(readme_with(&made, &section), Some(made.clone()));
        assert_eq!(readme_with("# ldp\n", &section), None);
        assert_eq!(readme_with(&format!("{END} {BEGIN}"), &section), None);
    }
}
