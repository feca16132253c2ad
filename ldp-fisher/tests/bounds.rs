//! Bounds against exact informations.

use ldp_core::model::{
    Bernoulli, Categorical, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, Score, StudentT,
};
use ldp_core::special::normal;
use ldp_core::{Cdf, Cuts, Dense, Epsilon, Error, FiniteChannel, Kernel, Mechanism, Partition};
use ldp_fisher::{Optimum, bounds, exact, gaussian_mean, laplace_location, one_bit};
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;

trait Family: Cdf + Score {}
impl<M: Cdf + Score> Family for M {}

type Case = (&'static str, Box<dyn Family>, f64, (f64, f64));

const UNKNOWN: Optimum = Optimum::Unknown { reason: "not asked for" };

/// Families with a parameter, and the interval in which most of their values lie.
fn families() -> Vec<Case> {
    vec![
        ("gaussian", Box::new(Gaussian::new(1.5).unwrap()), 0.4, (-4.0, 5.0)),
        ("laplace", Box::new(Laplace::new(2.0).unwrap()), 1.0, (-8.0, 10.0)),
        ("logistic", Box::new(Logistic::new(1.0).unwrap()), 0.0, (-6.0, 6.0)),
        ("student", Box::new(StudentT::new(3.0, 1.0).unwrap()), -1.0, (-7.0, 5.0)),
        ("exponential", Box::new(Exponential), 2.0, (0.0, 8.0)),
        ("scale", Box::new(GaussianScale), 0.5, (-2.0, 2.0)),
        ("poisson", Box::new(Poisson), 3.0, (-0.5, 9.5)),
        ("bernoulli", Box::new(Bernoulli), 0.2, (-0.5, 1.5)),
        ("categorical", Box::new(Categorical::new(5).unwrap()), 0.3, (-0.5, 4.5)),
    ]
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Two to seven intervals with random labels, of which each of `cells` is used.
fn partition(range: (f64, f64), cells: u32, rng: &mut SimulationRng) -> Partition {
    let mut cuts: Vec<f64> = (1..cells + rng.random_range(0..3)).map(|_| rng.random_range(range.0..range.1)).collect();
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    let mut labels: Vec<u32> = (0..=cuts.len() as u32).map(|i| i % cells).collect();
    for i in (1..labels.len()).rev() {
        labels.swap(i, rng.random_range(0..=i));
    }
    Partition::Cuts(Cuts::labelled(cuts, labels).unwrap())
}

/// Random weights of level at most ε: every report has a factor between 1 and the root of e^ε in every cell, and making
/// a column add up takes another such factor at most. Every second one is a response.
fn channel(level: f64, range: (f64, f64), rng: &mut SimulationRng) -> Result<FiniteChannel, Error> {
    let cells = rng.random_range(2..=5u32);
    let partition = partition(range, cells, rng);
    if rng.random() {
        return FiniteChannel::new(partition, Kernel::response(epsilon(level), cells)?);
    }
    let reports = rng.random_range(2..=5usize);
    let base: Vec<f64> = (0..reports).map(|_| rng.random_range(0.1..1.0)).collect();
    let extreme = rng.random::<bool>();
    let column = |rng: &mut SimulationRng| {
        let factor = |rng: &mut SimulationRng| if extreme { f64::from(rng.random_range(0..2u8)) } else { rng.random() };
        let weights: Vec<f64> = base.iter().map(|b| b * (0.5 * level * factor(rng)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut column: Vec<u64> = weights.iter().map(|w| (w / total * 2f64.powi(64)) as u64).collect();
        let rest = column[1..].iter().fold(0u64, |sum, w| sum.wrapping_add(*w));
        column[0] = rest.wrapping_neg();
        column
    };
    FiniteChannel::new(partition, Kernel::Dense(Dense::new((0..cells).map(|_| column(rng)).collect())?))
}

/// Over 10,000 random channels no bound is exceeded, and no channel with two reports does better than the best one. A
/// bound computed for nine tenths of ε is exceeded, so channels come close enough to tell.
#[test]
fn no_channel_exceeds_a_bound() {
    let (mut checked, mut above_smaller) = (0, 0);
    for (i, (name, model, theta, range)) in (0..).zip(families()) {
        let rng = &mut stream(41, Purpose::Data, i, 0);
        for _ in 0..12 {
            let level = 10f64.powf(rng.random_range(-1.0..0.95));
            let found = bounds(&*model, theta, epsilon(level), UNKNOWN).unwrap();
            let smaller = bounds(&*model, theta, epsilon(0.9 * level), UNKNOWN).unwrap();
            assert!(found.sinh <= found.barnes && found.one_bit.information <= found.smallest() * (1.0 + 1e-14));
            for _ in 0..96 {
                let Ok(channel) = channel(level, range, rng) else { continue };
                // What rounding adds to a dense kernel.
                assert!(channel.epsilon().value() <= level * (1.0 + 1e-12));
                let value = exact(&channel, &*model, theta).unwrap().value;
                let slack = 1.0 + 1e-11;
                assert!(value <= found.smallest() * slack, "{name} at ε = {level}: {value} for {found:?}");
                if ldp_core::Finite::reports(&channel) == 2 {
                    let best = &found.one_bit;
                    assert!(value <= best.information * slack, "{name} at ε = {level}: {value}, {best:?}, {channel:?}");
                }
                checked += 1;
                above_smaller += u32::from(value > smaller.smallest());
            }
        }
    }
    assert!(checked >= 10_000, "{checked}");
    assert!(above_smaller > 0);
}

/// Every threshold response, on a fine grid, at levels from tiny to huge; and the channel of the best one has the
/// information that is claimed.
#[test]
fn one_bit_is_the_best_threshold() {
    for (name, model, theta, (low, high)) in families() {
        for level in [1e-3, 0.3, 1.0, 4.0, 12.0, 40.0] {
            let best = one_bit(&*model, theta, epsilon(level)).unwrap();
            let kernel = Kernel::response(epsilon(level), 2).unwrap();
            for i in 0..=400 {
                let cut = low + (high - low) * f64::from(i) / 400.0;
                let response = FiniteChannel::new(Partition::Threshold(cut), kernel.clone()).unwrap();
                let value = exact(&response, &*model, theta).unwrap().value;
                assert!(value <= best.information * (1.0 + 1e-10), "{name}, ε = {level}, {cut}: {value}, {best:?}");
            }
            let channel = best.channel(epsilon(level)).unwrap();
            let value = exact(&channel, &*model, theta).unwrap().value;
            assert!((value / best.information - 1.0).abs() < 1e-10, "{name}, ε = {level}: {value} for {best:?}");
        }
    }
}

#[test]
fn known_sets() {
    let at = |model: &dyn Family, theta, level| one_bit(model, theta, epsilon(level)).unwrap();
    for level in [0.01f64, 1.0, 5.0, 30.0] {
        let tau = (0.5 * level).tanh();
        // Far from the origin too: no scale is guessed.
        for (theta, sigma) in [(0.0, 1.0), (1e6, 1e-3), (-3.0, 1e8)] {
            let gaussian = at(&Gaussian::new(sigma).unwrap(), theta, level);
            let expected = 2.0 / std::f64::consts::PI * (tau / sigma).powi(2);
            assert!((gaussian.information / expected - 1.0).abs() < 1e-14, "{gaussian:?}");
            assert!((gaussian.set[0].0 - theta).abs() <= 1e-12 * (sigma + theta.abs()), "{gaussian:?}");
            assert_eq!((gaussian.set.len(), gaussian.set[0].1), (1, f64::INFINITY));
        }
        let laplace = at(&Laplace::new(2.0).unwrap(), 1.0, level);
        assert!((laplace.information / (tau / 2.0).powi(2) - 1.0).abs() < 1e-14);
        assert_eq!(laplace.set, [(1.0, f64::INFINITY)]);
        let coin = at(&Bernoulli, 0.2, level);
        assert_eq!(coin.set, [(1.0, f64::INFINITY)]);
        let first = at(&Categorical::new(7).unwrap(), 0.3, level);
        assert_eq!(first.set, [(f64::NEG_INFINITY, 1.0)]);
    }
    // Values of an independent prototype.
    let exponential = at(&Exponential, 1.0, 2.0);
    assert!((exponential.information - 0.333_791_574).abs() < 1e-9);
    assert!((exponential.set[0].0 - 1.17625).abs() < 1e-5);
    // A scale: both tails, symmetric.
    let scale = at(&GaussianScale, 2.0, 1.0);
    assert_eq!(scale.set.len(), 2);
    assert!((scale.set[0].1 + scale.set[1].0).abs() < 1e-12 * scale.set[1].0, "{scale:?}");
    // Whole numbers: by enumeration, and far out where there are too many of them.
    let best = (0..40).map(|k| {
        let response = Kernel::response(epsilon(1.0), 2).unwrap();
        exact(&FiniteChannel::new(Partition::Threshold(f64::from(k)), response).unwrap(), &Poisson, 7.3).unwrap().value
    });
    let poisson = at(&Poisson, 7.3, 1.0);
    assert!((poisson.information / best.fold(0.0, f64::max) - 1.0).abs() < 1e-13);
    assert_eq!(poisson.set[0].0, poisson.set[0].0.floor());
    let many = at(&Poisson, 1e9, 1.0);
    let limit = 2.0 / std::f64::consts::PI * 0.5f64.tanh().powi(2) / 1e9;
    assert!((many.information / limit - 1.0).abs() < 1e-4, "{many:?}");
}

#[test]
fn corners() {
    let model = Gaussian::new(1.0).unwrap();
    for level in [1e-9, 1e-6, 100.0, 708.0, 710.0, 1e4] {
        let found = bounds(&model, 0.0, epsilon(level), gaussian_mean(epsilon(level), 1.0)).unwrap();
        assert!(found.sinh.is_finite() && found.barnes.is_finite() && found.smallest() <= 1.0);
        assert!(found.one_bit.information <= found.smallest() * (1.0 + 1e-14), "{found:?}");
    }
    let laplace = Laplace::new(0.5).unwrap();
    let found = bounds(&laplace, 0.0, epsilon(3.0), laplace_location(epsilon(3.0), 0.5)).unwrap();
    assert!((found.smallest() / found.one_bit.information - 1.0).abs() < 1e-14);
    assert!(bounds(&model, f64::NAN, epsilon(1.0), UNKNOWN).is_err());
    assert!(bounds(&Gaussian::new(1e-200).unwrap(), 0.0, epsilon(1.0), UNKNOWN).is_err());
}

/// The best response on intervals for N(0, 1), by dynamic programming over cuts at multiples of 1/200.
fn best_known(level: f64) -> f64 {
    let growth = level.exp_m1();
    let cuts: Vec<f64> = (-800..=800).map(|i| f64::from(i) / 200.0).collect();
    let ends: Vec<f64> = [f64::NEG_INFINITY].into_iter().chain(cuts).chain([f64::INFINITY]).collect();
    let (below, peak): (Vec<f64>, Vec<f64>) = ends.iter().map(|&x| (normal::cdf(x), normal::pdf(x))).unzip();
    let worth = |a: usize, b: usize| (peak[a] - peak[b]).powi(2) / (1.0 + growth * (below[b] - below[a]));
    let mut best: Vec<f64> = (0..ends.len()).map(|b| worth(0, b)).collect();
    let mut largest = 0.0f64;
    for m in 2..22 {
        let next = |b: usize| (0..b).map(|a| best[a] + worth(a, b)).fold(0.0, f64::max);
        best = (0..ends.len()).map(next).collect();
        largest = largest.max(growth.powi(2) / (growth + f64::from(m)) * best[ends.len() - 1]);
    }
    largest
}

/// The table in the documentation of `bounds`.
#[test]
fn the_documented_table() {
    let model = Gaussian::new(1.0).unwrap();
    let mut expected = Vec::new();
    for level in [0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0] {
        let found = bounds(&model, 0.0, epsilon(level), gaussian_mean(epsilon(level), 1.0)).unwrap();
        let best = best_known(level);
        assert!(best >= found.one_bit.information - 1e-12 && best < found.smallest() + 1e-12);
        let row = [best, found.one_bit.information, found.sinh, found.barnes, found.nonprivate];
        let row: Vec<String> = row.map(|x| if x < 0.1 { format!("{x:.5}") } else { format!("{x:.4}") }).into();
        expected.push(format!("/// | {level} | {} |", row.join(" | ")));
    }
    let source = include_str!("../src/bounds.rs");
    let rows: Vec<&str> = source.lines().filter(|l| l.starts_with("/// | ") && !l.contains('ε')).collect();
    assert_eq!(rows, expected, "\n{}", expected.join("\n"));
    // Values of an independent prototype.
    for (level, information) in [(1.0, 0.135951596), (2.0, 0.369255803), (3.0, 0.593651361), (5.0, 0.85533558)] {
        assert!((best_known(level) / information - 1.0).abs() < 1e-5, "{level}");
    }
}
