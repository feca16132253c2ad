//! Limits from samples against informations that are known.

use ldp_core::model::{Exponential, Gaussian, Model, Score};
use ldp_core::{Cdf, Epsilon, Mechanism, Publish};
use ldp_fisher::{BlackBox, Information, Method, black_box, black_box_with, exact};
use ldp_mechanisms::{IntervalResponse, Laplace, Range, Sign};
use ldp_simulate::Draw;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};

fn binned(information: Information) -> f64 {
    match information.method {
        Method::BlackBox { binned, .. } => binned,
        other => panic!("{other:?}"),
    }
}

fn known<Q: Publish>(mechanism: &Q, model: &impl Cdf, theta: f64) -> f64 {
    exact(&mechanism.publish(), model, theta).unwrap().value
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// How many of `seeds` limits lie above the truth, the mean of T, and its standard error.
fn above<Q, M>(q: &Q, model: &M, theta: f64, number: impl Fn(&Q::Report) -> f64, truth: f64) -> (usize, f64, f64)
where
    Q: Mechanism<Input = f64>,
    M: Draw + Score,
{
    let seeds = 200;
    let run = |seed| black_box(q, model, theta, &number, BlackBox::new(seed).draws(20_000).unwrap()).unwrap();
    let all: Vec<Information> = (0..seeds).map(run).collect();
    let mean = all.iter().map(|&i| binned(i)).sum::<f64>() / seeds as f64;
    let variance = all.iter().map(|&i| (binned(i) - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
    (all.iter().filter(|i| i.value > truth).count(), mean, (variance / seeds as f64).sqrt())
}

/// Of 200 limits at 95 % at most 14 are above the information: 7 %, and 10 are expected at most. T has no bias: within
/// 4.9 standard errors, α = 1e-6; at a truth off by a tenth the same test fails.
#[test]
fn limits_are_below_the_information() {
    let model = Gaussian::new(1.0).unwrap();
    let whole = |z: &u32| f64::from(*z);
    let sign = Sign::new(epsilon(1.0), 0.5).unwrap();
    let ternary = IntervalResponse::new(epsilon(3.0), vec![-0.484, 0.484]).unwrap();
    let exponential = IntervalResponse::new(epsilon(2.0), vec![0.3, 0.8, 1.5, 2.5]).unwrap();
    for ((count, mean, error), truth) in [
        (above(&sign, &model, 0.0, whole, known(&sign, &model, 0.0)), known(&sign, &model, 0.0)),
        (above(&ternary, &model, 0.2, whole, known(&ternary, &model, 0.2)), known(&ternary, &model, 0.2)),
        (
            above(&exponential, &Exponential, 1.0, whole, known(&exponential, &Exponential, 1.0)),
            known(&exponential, &Exponential, 1.0),
        ),
    ] {
        assert!(count <= 14, "{count} of 200 limits are above {truth}");
        assert!((mean - truth).abs() < 4.9 * error, "{mean} ± {error} for {truth}");
        assert!((mean - 1.1 * truth).abs() > 4.9 * error, "{mean} ± {error}");
    }
    // Computed by quadrature elsewhere.
    let truth = 0.022_974_130_952_809_167;
    let laplace = Laplace::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let (count, mean, error) = above(&laplace, &model, 0.3, |&z| z, truth);
    assert!(count <= 14, "{count} of 200 limits are above {truth}");
    assert!(mean < truth + 4.9 * error && mean > 0.98 * truth - 4.9 * error, "{mean} ± {error} for {truth}");
}

/// Many bins and few draws. The mutant is the plug-in with bins of the same kind, lowered by as much: its bias of
/// bins/n = 0.11 is five times the information.
#[test]
fn many_bins_and_few_draws() {
    let truth = 0.022_974_130_952_809_167;
    let (model, theta, draws, bins) = (Gaussian::new(1.0).unwrap(), 0.3, 5000, 512);
    let laplace = Laplace::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let (mut above, mut mutants_above) = (0, 0);
    for seed in 0..200 {
        let options = BlackBox::new(seed).draws(draws).unwrap().bins(bins).unwrap();
        let limit = black_box(&laplace, &model, theta, |&z| z, options).unwrap();
        let mut rng = stream(seed, Purpose::Data, 0, 0);
        let mut pairs = Vec::new();
        for _ in 0..draws {
            let x = model.sample(theta, &mut rng);
            pairs.push((laplace.privatize(&x, &mut rng), model.score(theta, x)));
        }
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let bins = pairs.chunks(pairs.len().div_ceil(bins as usize));
        let plug_in = bins.map(|bin| bin.iter().map(|pair| pair.1).sum::<f64>().powi(2) / bin.len() as f64);
        let mutant = plug_in.sum::<f64>() / draws as f64 - (binned(limit) - limit.value);
        above += u32::from(limit.value > truth);
        mutants_above += u32::from(mutant > truth);
    }
    assert!(above <= 14 && mutants_above > 190, "{above}, {mutants_above}");
}

/// At a million draws the limit is close: within 5 %, for Laplace noise too, whose 64 bins lose less than a percent.
#[test]
fn limits_at_a_million_draws_are_close() {
    let model = Gaussian::new(1.0).unwrap();
    let sign = Sign::new(epsilon(1.0), 0.5).unwrap();
    let limit = black_box(&sign, &model, 0.0, |&z| f64::from(z), BlackBox::new(1)).unwrap().value;
    let exact = known(&sign, &model, 0.0);
    assert!(limit < exact && limit > 0.97 * exact, "{limit} for {exact}");
    let laplace = Laplace::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let limit = black_box(&laplace, &model, 0.3, |&z| z, BlackBox::new(1)).unwrap().value;
    let exact = 0.022_974_130_952_809_167;
    assert!(limit < exact && limit > 0.95 * exact, "{limit} for {exact}");
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let model = Gaussian::new(2.0).unwrap();
    let laplace = Laplace::new(epsilon(2.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let run = |seed| black_box(&laplace, &model, 0.3, |&z| z, BlackBox::new(seed).draws(150_000).unwrap()).unwrap();
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
    // A model behind a dyn is the same model.
    let erased: &dyn ldp_simulate::AnyModel = &model;
    let options = BlackBox::new(5).draws(150_000).unwrap();
    assert_eq!(black_box(&laplace, erased, 0.3, |&z| z, options).unwrap(), run(5));
}

#[test]
fn corners() {
    let options = BlackBox::new(1).draws(100).unwrap();
    let constant = |_: &mut SimulationRng| (0.0, 1.0);
    assert_eq!(black_box_with(constant, options).unwrap().value, 0.0);
    let strange = |_: &mut SimulationRng| (1.0, f64::NAN);
    assert!(black_box_with(strange, options).unwrap().value.abs() < 1e-9);
    let infinite = |_: &mut SimulationRng| (f64::INFINITY, 1.0);
    assert!(black_box_with(infinite, options).is_err());
    let sign = Sign::new(epsilon(1.0), 0.0).unwrap();
    assert!(black_box(&sign, &Exponential, -1.0, |&z| f64::from(z), options).is_err());
    // As many bins as there can be, and more than reports.
    let model = Gaussian::new(1.0).unwrap();
    let laplace = Laplace::new(epsilon(1.0), Range::new(-3.0, 3.0).unwrap()).unwrap();
    let many = BlackBox::new(1).draws(1000).unwrap().bins(65_536).unwrap();
    assert!(black_box(&laplace, &model, 0.0, |&z| z, many).unwrap().value >= 0.0);
    // A higher level has a lower limit.
    let at = |level| black_box(&laplace, &model, 0.0, |&z| z, BlackBox::new(2).level(level).unwrap()).unwrap().value;
    assert!(at(0.5) > at(0.95) && at(0.95) > at(0.999));
}
