//! Packed reports from a slice, beside the plain sum of a slice larger than the cache.
//!
//! Read them as ratios within one run. Every name says which generator drew.

use benches::{epsilon, question, unrolled_sum};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ldp_bulk::Pack;
use ldp_bulk::{CipherRng, bits_of_packed, counts_of_packed};
use ldp_core::Mechanism;
use ldp_mechanisms::{IntervalResponse, RandomizedResponse};
use rand::rngs::{ChaCha12Rng, Xoshiro256PlusPlus};
use rand::{Rng, RngExt, SeedableRng};
use std::hint::black_box;
use std::time::Duration;

const SEED: u64 = 20_250_501;
/// 64 MB of `f64`.
const VALUES: usize = 1 << 23;

fn pack<R: Rng + SeedableRng>(c: &mut Criterion, generator: &str, values: &[f64]) {
    let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    let sign = question();
    let ternary = epsilon().and_then(|epsilon| IntervalResponse::new(epsilon, vec![-0.5, 0.5])).expect("valid cuts");
    let eight = epsilon().and_then(|epsilon| RandomizedResponse::new(epsilon, 8)).expect("categories");
    let mut words = Vec::new();
    let mut rng = R::seed_from_u64(SEED);
    let mut group = c.benchmark_group("packed report");
    group.throughput(Throughput::Elements(VALUES as u64)).sample_size(20);
    group.bench_function(BenchmarkId::new("unrolled sum of f64", ""), |b| b.iter(|| unrolled_sum(black_box(values))));
    group.bench_function(BenchmarkId::new("sign of f64", generator), |b| {
        b.iter(|| {
            words.clear();
            sign.simulate_packed(black_box(values), &mut rng, &mut words);
        });
    });
    group.bench_function(BenchmarkId::new("sign of f64, tallied", generator), |b| {
        b.iter(|| {
            words.clear();
            sign.simulate_packed(black_box(values), &mut rng, &mut words);
            bits_of_packed(&words, VALUES as u64)
        });
    });
    group.bench_function(BenchmarkId::new("sign of f32", generator), |b| {
        b.iter(|| {
            words.clear();
            sign.simulate_packed(black_box(&narrow), &mut rng, &mut words);
        });
    });
    group.bench_function(BenchmarkId::new("sign of f64, one by one", generator), |b| {
        b.iter(|| values.iter().map(|x| sign.privatize(x, &mut rng)).sum::<u32>());
    });
    group.bench_function(BenchmarkId::new("interval response of 3", generator), |b| {
        b.iter(|| {
            words.clear();
            ternary.simulate_packed(black_box(values), &mut rng, &mut words);
        });
    });
    group.bench_function(BenchmarkId::new("randomised response of 8, tallied", generator), |b| {
        b.iter(|| {
            words.clear();
            eight.simulate_packed(black_box(values), &mut rng, &mut words);
            counts_of_packed(8, &words, VALUES as u64)
        });
    });
    group.finish();
}

fn packed(c: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let values: Vec<f64> = (0..VALUES).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect();
    pack::<CipherRng>(c, "ChaCha12 in sixteen blocks", &values);
    pack::<ChaCha12Rng>(c, "ChaCha12", &values);
    pack::<Xoshiro256PlusPlus>(c, "Xoshiro256++", &values);
}

criterion_group! {
    name = reports;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = packed
}
criterion_main!(reports);
