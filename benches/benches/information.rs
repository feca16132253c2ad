//! How long the information of a mechanism takes: from masses, from integrals, from samples.

use benches::{epsilon, question};
use criterion::{Criterion, criterion_group, criterion_main};
use ldp_core::model::Gaussian;
use ldp_core::{Epsilon, Publish, Result};
use ldp_fisher::{BlackBox, black_box, bounds, exact, gaussian_mean, of_finite, of_real};
use ldp_mechanisms::{Duchi, Hybrid, IntervalResponse, Laplace, Piecewise, Range, Staircase};
use std::hint;
use std::time::Duration;

fn information(c: &mut Criterion) {
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let mut group = c.benchmark_group("information");
    let sign = question().publish();
    group.bench_function("sign, exact", |b| b.iter(|| exact(hint::black_box(&sign), &model, 0.5)));
    let cuts: Vec<f64> = (1..1000).map(|i| f64::from(i) * 0.008 - 4.0).collect();
    let response = epsilon().and_then(|epsilon| IntervalResponse::new(epsilon, cuts)).expect("valid numbers");
    group.bench_function("1000 cells, exact", |b| b.iter(|| exact(hint::black_box(&response), &model, 0.5)));
    for level in [0.1, 1.0, 5.0] {
        let mechanisms = || -> Result<_> {
            let (epsilon, range) = (Epsilon::new(level)?, Range::new(-3.0, 3.0)?);
            Ok((
                Duchi::new(epsilon, range)?,
                Laplace::new(epsilon, range)?,
                Piecewise::new(epsilon, range)?,
                Hybrid::new(epsilon, range)?,
                Staircase::new(epsilon, range)?,
            ))
        };
        let (duchi, laplace, piecewise, hybrid, staircase) = mechanisms().expect("valid numbers");
        group.bench_function(format!("duchi, epsilon {level}"), |b| b.iter(|| of_finite(&duchi, &model, 0.3)));
        group.bench_function(format!("laplace, epsilon {level}"), |b| b.iter(|| of_real(&laplace, &model, 0.3)));
        group.bench_function(format!("piecewise, epsilon {level}"), |b| b.iter(|| of_real(&piecewise, &model, 0.3)));
        group.bench_function(format!("hybrid, epsilon {level}"), |b| b.iter(|| of_real(&hybrid, &model, 0.3)));
        group.bench_function(format!("staircase, epsilon {level}"), |b| b.iter(|| of_real(&staircase, &model, 0.3)));
    }
    let level = epsilon().expect("a valid level");
    group.bench_function("bounds", |b| b.iter(|| bounds(&model, 0.3, level, gaussian_mean(level, 1.0))));
    let options = BlackBox::new(1).draws(100_000).expect("enough draws");
    group.bench_function("black box, 100,000 draws", |b| {
        b.iter(|| black_box(&question(), &model, 0.3, |&report| f64::from(report), options));
    });
    group.finish();
}

criterion_group! {
    name = all;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    targets = information
}
criterion_main!(all);
