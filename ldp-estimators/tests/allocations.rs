//! A replication allocates nothing, once the first ones have made room.
//!
//! One test, because the counter is that of the whole process.

use ldp_core::model::Gaussian;
use ldp_core::{Epsilon, Inference, IntervalKind, run};
use ldp_estimators::{BitwisePilot, JosephOneRound, Liu, OneStage, Piloted, Rescaled, Share, ThreeStage, TwoStage};
use ldp_simulate::{Fidelity, Setting, erase, erase_in_lanes};
use ldp_simulate::{Summary, Tallies};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::hint::black_box;

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations and reallocations during `work`.
fn allocations(work: impl FnOnce()) -> usize {
    let region = Region::new(COUNTED);
    work();
    let change = region.change();
    change.allocations + change.reallocations
}

#[test]
fn replications_allocate_nothing() {
    let level = Epsilon::new(1.0).unwrap();
    let model = Gaussian::new(1.0).unwrap();
    let two_stage = TwoStage::new(level, 0.0, 306).unwrap();
    let mut tallies = Tallies::new(&model, 0.5, 1).unwrap();
    let mut replicate = |replications: std::ops::Range<u64>| {
        for replication in replications {
            tallies.restart(replication);
            black_box(run(&two_stage, 10_000, &mut tallies).unwrap().value());
        }
    };
    // The first makes room for the laws of its questions.
    assert!(allocations(|| replicate(0..1)) > 0);
    assert_eq!(allocations(|| replicate(1..1000)), 0);

    // Behind a `dyn`, with the sums and intervals of a simulation: as much for a thousand replications as for one. After a
    // first stage the next step is kept for every count that comes up, so that each of its 307 may allocate once.
    let liu = Rescaled::new(Liu::new(level, 0.0).unwrap(), 1.0).unwrap();
    let pilot = BitwisePilot::new(level, [0.0, 16.0], 1.0, Share::HALF).unwrap();
    let three_stage = ThreeStage::three_rounds(level, pilot.clone(), 1.0, Some(306)).unwrap();
    let one_round = JosephOneRound::new(level, pilot.clone(), 1.0).unwrap();
    let joseph = Piloted::new(pilot, OneStage::new(level, 0.0).unwrap());
    let sign = || vec![IntervalKind::Exact, IntervalKind::Wald];
    use Fidelity::{Tally, Users};
    for (name, estimator, fidelity, kinds, few, many, kept) in [
        ("two stages", erase(two_stage), Tally, sign(), 1, 4000, 307),
        ("one stage", erase(OneStage::new(level, 0.0).unwrap()), Tally, sign(), 1, 1000, 0),
        ("three stages", erase(three_stage.clone()), Tally, sign(), 1, 1000, 0),
        ("Joseph et al.", erase(joseph), Tally, sign(), 1, 1000, 0),
        ("Joseph et al., one round", erase(one_round), Tally, vec![IntervalKind::Wald], 1, 1000, 0),
        ("liu", erase_in_lanes(liu), Tally, vec![IntervalKind::SelfNormalised], 16, 64, 0),
        ("two stages, users", erase(two_stage), Users, sign(), 1, 20, 0),
        ("liu, users", erase(liu), Users, vec![IntervalKind::SelfNormalised], 1, 20, 0),
    ] {
        let setting = Setting { model: &model, theta: 0.5, users: 10_000, seed: 1, fidelity };
        let mut summary = Summary::new(0.5, 0.95, &kinds);
        let mut simulate = |replications| {
            allocations(|| {
                estimator.replicate(&setting, 0..replications, &mut |estimate| summary.push(estimate)).unwrap();
            })
        };
        // Tables that are made once in a process.
        simulate(few);
        let (few, many) = (simulate(few), simulate(many));
        assert!((few..=few + kept).contains(&many), "{name}: {few} allocations, {many} for many");
    }
    // The counter counts.
    assert!(allocations(|| drop(black_box(vec![1, 2, 3]))) > 0);
}
