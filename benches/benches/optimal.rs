//! The best mechanism with its certificate: by family and level, and on cells beside the linear programs.

use benches::peers::gaussian_cells;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ldp_core::model::{Exponential, Gaussian, GaussianScale, Laplace, Logistic, StudentT};
use ldp_core::{Epsilon, Result};
use ldp_fisher::optimal::{certify, response};
use ldp_simulate::AnyModel;
use std::hint::black_box;

/// A name, a family and a parameter of it.
type Named = (&'static str, Box<dyn AnyModel>, f64);

fn families() -> Result<Vec<Named>> {
    Ok(vec![
        ("gaussian", Box::new(Gaussian::new(1.0)?), 0.0),
        ("logistic", Box::new(Logistic::new(1.0)?), 0.0),
        ("student-t(3)", Box::new(StudentT::new(3.0, 1.0)?), 0.0),
        ("laplace", Box::new(Laplace::new(1.0)?), 0.0),
        ("exponential", Box::new(Exponential), 1.0),
        ("gaussian-scale", Box::new(GaussianScale), 1.0),
    ])
}

/// Mechanism and proof; a verification is the proof alone.
fn families_and_levels(c: &mut Criterion) {
    let mut group = c.benchmark_group("certify");
    group.sample_size(10);
    for (name, model, theta) in families().expect("valid numbers") {
        for level in [1.0, 3.0, 6.0, 8.0] {
            let epsilon = Epsilon::new(level).expect("a level");
            group.bench_function(BenchmarkId::new(name, level), |b| b.iter(|| certify(&*model, theta, epsilon)));
        }
    }
    group.finish();
    let mut group = c.benchmark_group("gaussian, mechanism and verification");
    group.sample_size(10);
    let model = Gaussian::new(1.0).expect("a scale");
    for level in [3.0, 6.0] {
        let epsilon = Epsilon::new(level).expect("a level");
        let certificate = certify(&model, 0.0, epsilon).expect("a certificate");
        group.bench_function(BenchmarkId::new("response", level), |b| b.iter(|| response(&model, 0.0, epsilon)));
        group.bench_function(BenchmarkId::new("verify", level), |b| b.iter(|| certificate.verify(&model)));
    }
    group.finish();
}

/// On cells: the linear program by column generation, and groups with the few-knots proof.
fn cells(c: &mut Criterion) {
    let epsilon = Epsilon::new(3.0).expect("a level");
    let mut group = c.benchmark_group("cells, ε = 3");
    group.sample_size(10);
    for k in [16, 100, 400] {
        let cells = gaussian_cells(k).expect("a family");
        group.bench_function(BenchmarkId::new("linear program", k), |b| b.iter(|| cells.program(epsilon)));
        group.bench_function(BenchmarkId::new("certified groups", k), |b| b.iter(|| cells.certify(epsilon)));
        let prices = cells.certify(epsilon).expect("prices").prices;
        group.bench_function(BenchmarkId::new("pricing", k), |b| b.iter(|| cells.price(epsilon, black_box(&prices))));
    }
    group.finish();
}

criterion_group!(benches, families_and_levels, cells);
criterion_main!(benches);
