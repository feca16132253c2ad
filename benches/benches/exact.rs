//! Exact risk: sums over all tallies, thinned sums, whole evaluations, the law of a pilot.
//!
//! Times are of one call, on all threads of the pool. First stages are of the size that the law gives for half a σ.

use benches::epsilon;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ldp_core::model::Gaussian;
use ldp_estimators::{BitwisePilot, Share, ThreeStage, TwoStage};
use ldp_simulate::exact::{Errors, Exact, Wanted, evaluate};
use std::hint::black_box;
use std::time::Duration;

const THETA: f64 = 0.5;

fn model() -> Gaussian {
    Gaussian::new(1.0).expect("a valid sigma")
}

/// A fixed first stage: one that is tuned anew at every step takes more than half as long again.
fn two_stage(users: u64) -> TwoStage {
    let of = |epsilon| TwoStage::new(epsilon, 0.0, TwoStage::tuned_first_stage(epsilon, users));
    epsilon().and_then(of).expect("valid numbers")
}

fn two_stages(c: &mut Criterion) {
    let model = model();
    let exact = Exact::new(&model, THETA).expect("a valid theta");
    let mut group = c.benchmark_group("exact two-stage risk");
    for users in [10_000, 200_000, 10_000_000] {
        let estimator = two_stage(users);
        group.bench_function(BenchmarkId::new("sum", users), |b| {
            b.iter(|| exact.sum(&estimator, black_box(users), || Errors::new(THETA)).map(|summed| summed.gather.mse()));
        });
    }
    for users in [200_000, 10_000_000, 1_000_000_000] {
        let estimator = two_stage(users);
        group.bench_function(BenchmarkId::new("thinned", users), |b| {
            b.iter(|| {
                exact.thinned(&estimator, black_box(users), || Errors::new(THETA)).map(|summed| summed.gather.mse())
            });
        });
    }
    let wanted = Wanted { truth: THETA, level: 0.95, quantiles: vec![0.5, 0.9, 0.95] };
    let estimator = two_stage(200_000);
    group.bench_function(BenchmarkId::new("evaluate", 200_000), |b| {
        b.iter(|| evaluate(&exact, &estimator, black_box(200_000), &wanted).map(|risk| risk.mse));
    });
    group.finish();
}

fn three_stages(c: &mut Criterion) {
    let (model, theta) = (model(), 84.5);
    let pilot = epsilon().and_then(|epsilon| BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::Count(15_000)));
    let pilot = pilot.expect("valid numbers");
    let mut group = c.benchmark_group("exact three-stage risk");
    group.bench_function(BenchmarkId::new("law of the pilot, users per scale", 2142), |b| {
        b.iter(|| pilot.law(black_box(2142), &model, theta).map(|law| law.found.len()));
    });
    let estimator = epsilon().and_then(|epsilon| ThreeStage::three_rounds(epsilon, pilot.clone(), 1.0, Some(700)));
    let estimator = estimator.expect("valid numbers");
    let exact = Exact::new(&model, theta).expect("a valid theta");
    group.bench_function(BenchmarkId::new("best", 200_000), |b| {
        b.iter(|| exact.best(&estimator, black_box(200_000), || Errors::new(theta)).map(|summed| summed.gather.mse()));
    });
    group.finish();
}

criterion_group! {
    name = exact;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = two_stages, three_stages
}
criterion_main!(exact);
