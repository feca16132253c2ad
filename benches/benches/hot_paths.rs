//! The hot paths: one normal value, one privatised value, one simulated user, one round, one step in lanes. Packed reports and
//! drawn tallies have files of their own.
//!
//! Read them as ratios within one run. Every name says which generator drew.

use benches::{Drawn, epsilon, liu_by_hand, question};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ldp_core::model::{Gaussian, Model};
use ldp_core::{Bits, Epsilon, Group, Mechanism, Population, Publish, run};
use ldp_estimators::{BitwisePilot, Liu, LiuFromPilot, Rescaled, Share};
use ldp_mechanisms::IntervalResponse;
use ldp_simulate::Users;
use ldp_simulate::{Fidelity, Setting, erase, erase_in_lanes};
use rand::rngs::{ChaCha12Rng, Xoshiro256PlusPlus};
use rand::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Duration;

/// The seed of everything drawn here.
const SEED: u64 = 20_250_501;
const VALUES: usize = 1 << 16;

fn values() -> Vec<f64> {
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    (0..VALUES).map(|_| model.sample(0.5, &mut rng)).collect()
}

fn privatize<R: Rng + SeedableRng>(c: &mut Criterion, generator: &str) {
    let values = values();
    let mut group = c.benchmark_group("privatized value");
    group.throughput(Throughput::Elements(VALUES as u64));
    let mut rng = R::seed_from_u64(SEED);
    let sign = question();
    let ternary = Epsilon::new(1.0).and_then(|epsilon| IntervalResponse::new(epsilon, vec![-0.5, 0.5]));
    let ternary = ternary.expect("valid cuts");
    group.bench_function(BenchmarkId::new("sign one by one", generator), |b| {
        b.iter(|| values.iter().map(|x| sign.privatize(x, &mut rng)).sum::<u32>());
    });
    group.bench_function(BenchmarkId::new("sign in bulk", generator), |b| {
        b.iter(|| {
            let mut tally = Bits::default();
            sign.simulate_all(&values, &mut rng, &mut tally).map(|()| tally)
        });
    });
    let channel = sign.publish();
    group.bench_function(BenchmarkId::new("sign as a published channel", generator), |b| {
        b.iter(|| values.iter().map(|x| channel.privatize(x, &mut rng)).sum::<u32>());
    });
    group.bench_function(BenchmarkId::new("interval response of 3", generator), |b| {
        b.iter(|| values.iter().map(|x| ternary.privatize(x, &mut rng)).sum::<u32>());
    });
    group.finish();
}

fn normal_value(c: &mut Criterion) {
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut values = [0.0; 1024];
    let mut group = c.benchmark_group("normal value");
    group.throughput(Throughput::Elements(values.len() as u64));
    group.bench_function(BenchmarkId::new("one by one, rand_distr", "Xoshiro256++"), |b| {
        b.iter(|| {
            // A copy, which stays in registers.
            let mut local = rng.clone();
            values.iter_mut().for_each(|x| *x = model.sample(0.5, &mut local));
            rng = local;
            values[0]
        });
    });
    group.bench_function(BenchmarkId::new("in bulk", "Xoshiro256++"), |b| {
        b.iter(|| {
            ldp_simulate::Draw::draw(&model, 0.5, &mut rng, &mut values);
            values[0]
        });
    });
    group.finish();
}

fn privatized_value(c: &mut Criterion) {
    privatize::<ChaCha12Rng>(c, "ChaCha12");
    privatize::<Xoshiro256PlusPlus>(c, "Xoshiro256++");
}

fn simulated_user(c: &mut Criterion) {
    const USERS: u64 = 1 << 16;
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let asked = Group { question: question(), users: USERS };
    let mut group = c.benchmark_group("simulated user");
    group.throughput(Throughput::Elements(USERS));
    let mut users = Users::new(&model, 0.5, USERS, SEED).expect("a valid theta");
    let answer = |users: &mut Users<'_, Gaussian>| {
        users.restart(0);
        let mut tally = Bits::default();
        users.answer(black_box(&asked), &mut tally).map(|()| tally)
    };
    group.bench_function(BenchmarkId::new("one by one", "Xoshiro256++"), |b| b.iter(|| answer(&mut users)));
    let mut users = Users::new(&model, 0.5, USERS, SEED).expect("a valid theta").in_blocks();
    group.bench_function(BenchmarkId::new("in blocks", "Xoshiro256++"), |b| b.iter(|| answer(&mut users)));
    group.finish();
}

fn sequential_round(c: &mut Criterion) {
    const ROUNDS: u64 = 200_000;
    let lie = question().lie();
    let liu = epsilon().and_then(|epsilon| Liu::new(epsilon, 0.0)).expect("valid numbers");
    let mut group = c.benchmark_group("sequential round");
    group.throughput(Throughput::Elements(ROUNDS)).sample_size(50);
    group.bench_function(BenchmarkId::new("liu by hand", "Xoshiro256++"), |b| {
        b.iter(|| liu_by_hand(black_box(0.0), lie, ROUNDS, SEED));
    });
    group.bench_function(BenchmarkId::new("liu through run", "Xoshiro256++"), |b| {
        b.iter(|| run(&black_box(liu), ROUNDS, &mut Drawn::new(SEED)));
    });
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let mut users = Users::new(&model, 0.5, ROUNDS, SEED).expect("a valid theta");
    group.bench_function(BenchmarkId::new("liu through run, seed streams", "Xoshiro256++"), |b| {
        b.iter(|| {
            users.restart(0);
            run(&black_box(liu), ROUNDS, &mut users)
        });
    });
    let rescaled = Rescaled::new(liu, 1.0).expect("a valid sigma");
    group.bench_function(BenchmarkId::new("rescaled liu, seed streams", "Xoshiro256++"), |b| {
        b.iter(|| {
            users.restart(0);
            run(&black_box(rescaled), ROUNDS, &mut users)
        });
    });
    let pilot = LiuFromPilot::new(pilot(8000), rescaled);
    group.bench_function(BenchmarkId::new("liu from a pilot, seed streams", "Xoshiro256++"), |b| {
        b.iter(|| {
            users.restart(0);
            run(black_box(&pilot), ROUNDS, &mut users)
        });
    });
    group.finish();
}

/// One step of `liu` over replications: in lanes, one after another, and with every user drawn.
fn lane_step(c: &mut Criterion) {
    const ROUNDS: u64 = 200_000;
    let liu = epsilon().and_then(|epsilon| Liu::new(epsilon, 0.0)).expect("valid numbers");
    let model = Gaussian::new(1.0).expect("a valid sigma");
    let tally = Setting { model: &model, theta: 0.5, users: ROUNDS, seed: SEED, fidelity: Fidelity::Tally };
    let users = Setting { fidelity: Fidelity::Users, ..tally };
    let (lanes, plain) = (erase_in_lanes(liu), erase(liu));
    let rescaled = Rescaled::new(liu, 1.0).expect("a valid sigma");
    let from_pilot = erase_in_lanes(LiuFromPilot::new(pilot(8000), rescaled));
    let mut group = c.benchmark_group("liu over replications");
    for (name, estimator, setting, replications) in [
        ("users, one after another", &plain, users, 4),
        ("tally, one after another", &plain, tally, 1),
        ("tally, 1 lane", &lanes, tally, 1),
        ("tally, 4 lanes", &lanes, tally, 4),
        ("tally, 16 lanes", &lanes, tally, 16),
        ("from a pilot, users, one after another", &from_pilot, users, 4),
        ("from a pilot, tally, 1 lane", &from_pilot, tally, 1),
        ("from a pilot, tally, 16 lanes", &from_pilot, tally, 16),
    ] {
        group.throughput(Throughput::Elements(ROUNDS * replications)).sample_size(20);
        group.bench_function(BenchmarkId::new(name, "Xoshiro256++"), |b| {
            b.iter(|| {
                let mut sum = 0.0;
                estimator.replicate(&setting, 0..replications, &mut |estimate| sum += estimate.value()).map(|()| sum)
            });
        });
    }
    group.finish();
}

fn pilot(users: u64) -> BitwisePilot {
    let pilot = epsilon().and_then(|epsilon| BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::Count(users)));
    pilot.expect("valid numbers")
}

criterion_group! {
    name = hot_paths;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = normal_value, privatized_value, simulated_user, sequential_round, lane_step
}
criterion_main!(hot_paths);
