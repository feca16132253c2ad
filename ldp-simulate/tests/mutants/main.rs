//! Tests of the conformance suite itself: every law has a mutant that its check rejects, and what is right passes.
//!
//! A check that accepts everything would look like a check that finds nothing. All sampling here has fixed seeds
//! and α = 1e-6.

mod means;
mod mechanisms;
mod models;
mod protocols;
mod reals;
mod tallies;

use ldp_core::conformance::Violation;
use ldp_core::{Cuts, Dense, Epsilon, FiniteChannel, Kernel, Partition};

/// The sources in which the mutants are looked for.
const SOURCES: [&str; 7] = [
    include_str!("main.rs"),
    include_str!("means.rs"),
    include_str!("mechanisms.rs"),
    include_str!("models.rs"),
    include_str!("protocols.rs"),
    include_str!("reals.rs"),
    include_str!("tallies.rs"),
];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// The check found a violation of exactly this law.
#[track_caller]
fn rejected(found: std::result::Result<(), Violation>, law: &str) {
    match found {
        Ok(()) => panic!("a mutant passed the law «{law}»"),
        Err(violation) => assert_eq!(violation.law, law, "{violation}"),
    }
}

fn ternary() -> FiniteChannel {
    let cuts = Partition::Cuts(Cuts::new(vec![-0.5, 0.5]).unwrap());
    FiniteChannel::new(cuts, Kernel::response(epsilon(1.0), 3).unwrap()).unwrap()
}

fn dense() -> FiniteChannel {
    let (quarter, half) = (1 << 62, 1 << 63);
    let columns = vec![vec![quarter, half, quarter], vec![half, quarter, quarter]];
    let residues = Partition::Periodic { origin: 0.1, width: 0.7, cells: 2 };
    FiniteChannel::new(residues, Kernel::Dense(Dense::new(columns).unwrap())).unwrap()
}

#[test]
fn every_law_of_the_table_has_a_mutant_here() {
    let table =
        concat!(include_str!("../../../ldp-core/src/conformance/mod.rs"), include_str!("../../src/conformance/mod.rs"));
    let laws: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next()).collect();
    assert_eq!(laws.len(), 32);
    for law in laws {
        let rejects = format!("\"{law}\"");
        assert!(SOURCES.iter().any(|source| source.contains(&rejects)), "no mutant for «{law}»");
    }
}
