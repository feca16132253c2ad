//! How time grows with users, replications, cells and reports, and how it falls with threads.
//!
//! `cargo bench -p benches --bench scaling`, then `-- cells` for some cases and `-- --quick` for a glance. Exponents
//! are fitted to the smallest times of interleaved rounds on one thread; their errors are the spread around the power
//! law, so that overheads at small sizes and caches at large ones show there too.

use benches::peers::gaussian_cells;
use benches::protocols::Protocol;
use benches::scaling::{Batch, Case, Options, Work, fit_all, speed_up};
use benches::{epsilon, question};
use ldp_bulk::Pack;
use ldp_bulk::{CipherRng, bits_of_packed, counts_of_packed};
use ldp_core::model::Gaussian;
use ldp_core::{Counts, Epsilon, Group, Population, Result};
use ldp_estimators::TwoStage;
use ldp_mechanisms::RandomizedResponse;
use ldp_simulate::Fidelity;
use ldp_simulate::Tallies;
use ldp_simulate::exact::{Errors, Exact};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rayon::ThreadPoolBuilder;
use std::error::Error;

const SEED: u64 = 20_250_501;
/// Replications that `liu` simulates side by side.
const LANES: u64 = 16;
/// Values that k-ary responses are asked about.
const VALUES: u64 = 1 << 16;

const CASES: [Case; 14] = [
    Case {
        name: "users/two-stage, every user",
        unit: "user",
        expected: "1",
        sizes: &[10_000, 30_000, 100_000, 300_000, 1_000_000],
        at: |users| two_stage(users, TwoStage::tuned_first_stage(epsilon()?, users), Fidelity::Users, 1, users),
    },
    Case {
        name: "users/two-stage, tallies",
        unit: "replication",
        expected: "0",
        sizes: &[10_000, 100_000, 1_000_000, 10_000_000, 100_000_000],
        // The same first stage at all sizes, because what comes after it is kept for small ones alone.
        at: |users| two_stage(users, 306, Fidelity::Tally, 20_000, 20_000),
    },
    Case {
        name: "users/packed sign reports, ChaCha12",
        unit: "value",
        expected: "1",
        sizes: &[1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22],
        at: signs,
    },
    Case {
        // Steps are kept for 2¹⁸ users; each one beyond is computed anew.
        name: "users/liu in lanes",
        unit: "user",
        expected: "1",
        sizes: &[10_000, 20_000, 50_000, 100_000, 200_000],
        at: |users| {
            let liu = Protocol::liu(Fidelity::Tally)?;
            Ok(Work::new(LANES * users, move || liu.replicate(users, 0..LANES, SEED)))
        },
    },
    Case {
        // √n₁·√n₂ counts matter, and the first stage is about √n.
        name: "users/exact two-stage risk, every tally",
        unit: "answer",
        expected: "3/4",
        sizes: &[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000],
        at: exact_risk,
    },
    Case {
        name: "replications/two-stage, tallies",
        unit: "replication",
        expected: "1",
        sizes: &[16_000, 64_000, 256_000, 1_024_000],
        at: |replications| two_stage(10_000, 306, Fidelity::Tally, replications, replications),
    },
    // Certified groups: the dynamic program takes k² for every number of reports, the proof less.
    Case {
        name: "cells/certified groups, ε = 1",
        unit: "answer",
        expected: "at most 2",
        sizes: &CELLS,
        at: |cells| certified(cells, 1.0),
    },
    Case {
        name: "cells/certified groups, ε = 3",
        unit: "answer",
        expected: "at most 2",
        sizes: &CELLS,
        at: |cells| certified(cells, 3.0),
    },
    Case {
        name: "cells/certified groups, ε = 6",
        unit: "answer",
        expected: "at most 2",
        sizes: &CELLS,
        at: |cells| certified(cells, 6.0),
    },
    Case { name: "cells/pricing, ε = 3", unit: "answer", expected: "1 (k log k)", sizes: &CELLS, at: priced },
    Case {
        // No bound is known; it takes seconds beyond.
        name: "cells/linear program, ε = 3",
        unit: "answer",
        expected: "unknown",
        sizes: &[100, 150, 200, 300, 400],
        at: |cells| {
            let cells = gaussian_cells(cells as usize)?;
            Ok(Work::new(1, move || cells.program(Epsilon::new(3.0)?)))
        },
    },
    Case {
        // As many comparisons as cuts at first, a search among many; a report has log₂ k bits.
        name: "reports/randomised response of k, packed",
        unit: "value",
        expected: "at most 1",
        sizes: &REPORTS,
        at: packed,
    },
    Case {
        name: "reports/tally of the packed",
        unit: "value",
        expected: "at most 1.5 (k log k)",
        sizes: &REPORTS,
        at: tallied,
    },
    Case { name: "reports/multinomial tally", unit: "tally", expected: "1", sizes: &REPORTS, at: multinomial },
];
const CELLS: [u64; 6] = [100, 200, 400, 800, 1600, 3200];
const REPORTS: [u64; 6] = [2, 4, 8, 16, 32, 64];

fn two_stage(users: u64, first_stage: u64, fidelity: Fidelity, replications: u64, units: u64) -> Result<Work> {
    let two_stage = Protocol::two_stage(first_stage, fidelity)?;
    Ok(Work::new(units, move || two_stage.in_batches(users, replications, SEED)))
}

fn signs(users: u64) -> Result<Work> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let values: Vec<f64> = (0..users).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect();
    let (mut rng, mut words) = (CipherRng::seed_from_u64(SEED), Vec::new());
    Ok(Work::new(users, move || {
        words.clear();
        question().simulate_packed(&values, &mut rng, &mut words);
        bits_of_packed(&words, users)
    }))
}

fn exact_risk(users: u64) -> Result<Work> {
    const THETA: f64 = 0.5;
    let estimator = TwoStage::new(epsilon()?, 0.0, TwoStage::tuned_first_stage(epsilon()?, users))?;
    let model = Gaussian::new(1.0)?;
    Ok(Work::new(1, move || {
        let summed = Exact::new(&model, THETA)?.sum(&estimator, users, || Errors::new(THETA))?;
        Ok(summed.gather.mse())
    }))
}

fn certified(cells: u64, level: f64) -> Result<Work> {
    let (cells, epsilon) = (gaussian_cells(cells as usize)?, Epsilon::new(level)?);
    Ok(Work::new(1, move || cells.certify(epsilon)))
}

fn priced(cells: u64) -> Result<Work> {
    let (cells, epsilon) = (gaussian_cells(cells as usize)?, Epsilon::new(3.0)?);
    let prices = cells.certify(epsilon)?.prices;
    Ok(Work::new(1, move || cells.price(epsilon, &prices)))
}

/// A response over k categories, and values of all of them.
fn response(k: u64) -> Result<(RandomizedResponse, Vec<f64>)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let values = (0..VALUES).map(|_| rng.random_range(0..k) as f64).collect();
    Ok((RandomizedResponse::new(epsilon()?, k as u32)?, values))
}

fn packed(k: u64) -> Result<Work> {
    let (response, values) = response(k)?;
    let (mut rng, mut words) = (CipherRng::seed_from_u64(SEED), Vec::new());
    Ok(Work::new(VALUES, move || {
        words.clear();
        response.simulate_packed(&values, &mut rng, &mut words);
        Ok(words.last().copied())
    }))
}

fn tallied(k: u64) -> Result<Work> {
    let (response, values) = response(k)?;
    let mut words = Vec::new();
    response.simulate_packed(&values, &mut CipherRng::seed_from_u64(SEED), &mut words);
    Ok(Work::new(VALUES, move || counts_of_packed(k as u32, &words, VALUES)))
}

fn multinomial(k: u64) -> Result<Work> {
    const TIMES: u64 = 1000;
    let group = Group { question: response(k)?.0, users: 1_000_000 };
    // Wide enough that no category is rare.
    let model = Gaussian::new(k as f64)?;
    Ok(Work::new(TIMES, move || {
        let mut tallies = Tallies::new(&model, k as f64 / 2.0, SEED)?;
        let mut tally = Counts::new(k as u32);
        for replication in 0..TIMES {
            tallies.restart(replication);
            tallies.answer(&group, &mut tally)?;
        }
        Ok(tally)
    }))
}

/// Replications as in a study, a few hundredths of a second on one thread.
fn batches() -> Result<[(&'static str, Batch); 4]> {
    let batch = |protocol: Protocol, users, replications| -> Batch {
        Box::new(move || protocol.in_batches(users, replications, SEED).map(drop))
    };
    Ok([
        ("threads/two-stage, tallies", batch(Protocol::two_stage(306, Fidelity::Tally)?, 10_000, 200_000)),
        ("threads/two-stage, every user", batch(Protocol::two_stage(306, Fidelity::Users)?, 10_000, 2000)),
        ("threads/three-stage, tallies", batch(Protocol::three_stage(15_000, 700)?, 200_000, 20_000)),
        ("threads/liu in lanes", batch(Protocol::liu(Fidelity::Tally)?, 20_000, 1024)),
    ])
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    // One thread for the fits: where large sizes alone are spread over several the exponent would be too small.
    ThreadPoolBuilder::new().num_threads(1).build()?.install(|| fit_all(&CASES, &options))?;
    speed_up(&batches()?, &options)
}
