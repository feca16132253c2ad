//! Drawn tallies: one binomial count, and one replication at `tally` fidelity.
//!
//! Read them as ratios within one run. Everything is drawn with Xoshiro256++.

use benches::epsilon;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ldp_core::model::Gaussian;
use ldp_core::{Inference, Result, run};
use ldp_estimators::{BitwisePilot, Share, ThreeStage, TwoStage};
use ldp_simulate::DrawTally;
use ldp_simulate::exact::Countable;
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Binomial, CountTable, Replay, Tallies, draw_binomial};
use rand_distr::Distribution;
use std::hint::black_box;
use std::time::Duration;

const SEED: u64 = 20_250_501;

fn count(c: &mut Criterion) {
    const TIMES: u64 = 1000;
    let mut group = c.benchmark_group("binomial count");
    group.throughput(Throughput::Elements(TIMES));
    let mut rng = stream(SEED, Purpose::Tally, 0, 0);
    for (trials, p) in [(306, 0.58), (9694, 0.5), (2142, 0.3), (200_000, 0.4)] {
        let kept = Binomial::new(trials, p).expect("a probability").kept();
        let theirs = rand_distr::Binomial::new(trials, p).expect("a probability");
        // Another law for every draw.
        let share = |i: u64| p + i as f64 * 1e-9;
        // Of very many trials there is none.
        if let Some(table) = CountTable::new(trials, [1.0 - p, p]) {
            group.bench_function(BenchmarkId::new("by table", trials), |b| {
                b.iter(|| (0..TIMES).map(|_| table.draw(&mut rng)).sum::<u64>());
            });
            group.bench_function(BenchmarkId::new("a new table", trials), |b| {
                b.iter(|| CountTable::new(black_box(trials), [1.0 - p, p]));
            });
        }
        group.bench_function(BenchmarkId::new("kept law", trials), |b| {
            b.iter(|| (0..TIMES).map(|_| kept.draw(&mut rng)).sum::<u64>());
        });
        group.bench_function(BenchmarkId::new("new laws", trials), |b| {
            b.iter(|| (0..TIMES).map(|i| draw_binomial(trials, share(i), &mut rng)).sum::<Result<u64>>());
        });
        group.bench_function(BenchmarkId::new("rand_distr, kept law", trials), |b| {
            b.iter(|| (0..TIMES).map(|_| theirs.sample(&mut rng)).sum::<u64>());
        });
        group.bench_function(BenchmarkId::new("rand_distr, new laws", trials), |b| {
            let draw = |rng: &mut _, i| rand_distr::Binomial::new(trials, share(i)).map(|law| law.sample(rng));
            b.iter(|| (0..TIMES).map(|i| draw(&mut rng, i)).sum::<Result<u64, _>>());
        });
    }
    group.finish();
}

/// One replication after the other, with what repeats kept and without.
fn replications<E>(c: &mut Criterion, name: &str, estimator: &E, theta: f64, users: u64)
where
    E: Countable<Question: DrawTally<E::Tally> + PartialEq>,
{
    const TIMES: u64 = 1000;
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let mut group = c.benchmark_group("tally replication");
    group.throughput(Throughput::Elements(TIMES)).sample_size(50);
    let mut tallies = Tallies::new(&model, theta, SEED).expect("a valid theta");
    group.bench_function(BenchmarkId::new(format!("{name}, each a run"), users), |b| {
        b.iter(|| {
            let value = |replication| {
                tallies.restart(replication);
                Ok(run(estimator, users, &mut tallies)?.value())
            };
            (0..TIMES).map(value).sum::<Result<f64>>()
        });
    });
    let mut replay = Replay::new(estimator, &model, theta, users, SEED).expect("a valid setting");
    group.bench_function(BenchmarkId::new(format!("{name}, replayed"), users), |b| {
        b.iter(|| {
            let mut sum = 0.0;
            replay.replicate(0..TIMES, &mut |estimate| sum += estimate.value()).map(|()| sum)
        });
    });
    group.finish();
}

fn replication(c: &mut Criterion) {
    for users in [10_000, 1_000_000] {
        let two_stage = epsilon().and_then(|epsilon| TwoStage::new(epsilon, 0.0, 306)).expect("valid numbers");
        replications(c, "two-stage", &two_stage, 0.5, users);
    }
    let pilot = epsilon().and_then(|epsilon| BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::Count(15_000)));
    let three_stage = pilot.and_then(|pilot| ThreeStage::three_rounds(epsilon()?, pilot, 1.0, Some(700)));
    replications(c, "three-stage", &three_stage.expect("valid numbers"), 84.5, 200_000);
}

criterion_group! {
    name = tallies;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = count, replication
}
criterion_main!(tallies);
