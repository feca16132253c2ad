//! The curve against a search through all parameters, and its order against the law of a normal number.

use super::*;
use ldp_core::model::{Bernoulli, Exponential, Gaussian, GaussianScale, Poisson};
use ldp_core::{Cuts, Epsilon, Kernel, Partition};

fn question(epsilon: f64, cuts: &[f64]) -> FiniteChannel {
    let kernel = Kernel::response(Epsilon::new(epsilon).unwrap(), cuts.len() as u32 + 1).unwrap();
    FiniteChannel::new(Partition::Cuts(Cuts::new(cuts.to_vec()).unwrap()), kernel).unwrap()
}

/// Whether a parameter is in the interval, by its definition: limits of Z that hold a normal number with this probability and
/// have the same likelihood ratio, by halving.
fn accepts<M: Cdf + Score>(question: &FiniteChannel, model: &M, counts: &[u64], theta: f64, level: f64) -> bool {
    let m = counts.len();
    let users: f64 = counts.iter().map(|&count| count as f64).sum();
    let law = |theta: f64| {
        let mut law = vec![0.0; m];
        question.marginal(model, theta, &mut law);
        law
    };
    let (here, mut slopes) = (law(theta), vec![0.0; m]);
    let mut masses = vec![0.0; m];
    question.partition().masses_dtheta(model, theta, &mut masses);
    let truth = (question.weight(0, 0) - question.weight(0, 1)) as f64 / 2f64.powi(64);
    slopes.iter_mut().zip(&masses).for_each(|(slope, mass)| *slope = truth * mass);
    let score: f64 = (0..m).map(|z| counts[z] as f64 * slopes[z] / here[z]).sum();
    let information: f64 = (0..m).map(|z| users * slopes[z] * slopes[z] / here[z]).sum();
    let space = Space::around(model, theta);
    let [low, high] = [space.low, space.high].map(|end| {
        let there = law(end.inside);
        (users * (0..m).map(|z| (here[z] - there[z]).powi(2) / here[z]).sum::<f64>()).sqrt().max(1e-12)
    });
    // The interval of Z in which t is at most c.
    let limits = |c: f64| {
        let limit = |distance: f64| {
            let root = c.sqrt();
            if root <= distance { root } else { (distance * distance + c) / (2.0 * distance) }
        };
        (-limit(low), limit(high))
    };
    let (mut least, mut most) = (0.0, 100.0);
    for _ in 0..200 {
        let c = 0.5 * (least + most);
        let (from, to) = limits(c);
        if normal::mass(from, to) < level { least = c } else { most = c }
    }
    let (from, to) = limits(most);
    let z = score / information.sqrt();
    from <= z && z <= to
}

/// An end of the interval, from a fine search outwards from the value.
fn search<M: Cdf + Score>(
    question: &FiniteChannel,
    model: &M,
    counts: &[u64],
    value: f64,
    level: f64,
    places: &dyn Fn(f64) -> Option<f64>,
) -> f64 {
    let (mut inside, mut k) = (value, 1);
    loop {
        // The end of the parameter space.
        let Some(next) = places(f64::from(k)) else { return f64::NAN };
        if next == inside {
            return f64::NAN;
        }
        if !accepts(question, model, counts, next, level) {
            let (mut a, mut b) = (inside, next);
            for _ in 0..100 {
                let middle = 0.5 * a + 0.5 * b;
                if accepts(question, model, counts, middle, level) { a = middle } else { b = middle }
            }
            return a;
        }
        inside = next;
        k += 1;
    }
}

fn check<M: Cdf + Score>(model: &M, question: &FiniteChannel, counts: &[u64], from: f64) -> ScoreCurve {
    let curve = ScoreCurve::new(question, model, counts, from).unwrap().unwrap();
    let (value, space) = (curve.value(), Space::around(model, from));
    let unit = 0.05 / model.information(if model.admits(value).is_ok() { value } else { from }).sqrt();
    for level in [0.5, 0.8, 0.95, 0.99, 0.9999] {
        let interval = curve.interval(level).unwrap();
        assert!(interval.contains(value));
        let width = interval.width();
        for (outwards, found) in [(-1.0, interval.low), (1.0, interval.high)] {
            let places = |k: f64| {
                let next = value + outwards * k * unit.min(0.1 * width);
                let (low, high) = (space.low.inside, space.high.inside);
                ((next - value).abs() < 160.0 * unit).then_some(next.clamp(low, high))
            };
            let expected = search(question, model, counts, value, level, &places);
            if expected.is_nan() {
                assert!(model.admits(found).is_err(), "{found} at {level} of {counts:?}");
            } else {
                let tolerance = 0.02 * (expected - value).abs();
                assert!((found - expected).abs() < tolerance, "{found} {expected} at {level} of {counts:?}");
            }
        }
    }
    curve
}

#[test]
fn ends_are_where_the_test_begins_to_refuse() {
    check(&Gaussian::new(1.0).unwrap(), &question(1.0, &[0.3]), &[520, 480], 0.0);
    check(&Gaussian::new(1.0).unwrap(), &question(4.0, &[-0.7, 0.1, 0.7]), &[300, 330, 140, 230], 0.0);
    // A bound on one side only.
    let curve = check(&Gaussian::new(2.0).unwrap(), &question(1.0, &[0.0]), &[300, 700], 1.0);
    assert!(curve.interval(0.95).unwrap().high.is_finite() && curve.interval(0.99).unwrap().high == f64::INFINITY);
    check(&Exponential, &question(2.0, &[1.0, 3.0]), &[400, 300, 300], 1.0);
    check(&GaussianScale, &question(1.0, &[1.5]), &[3500, 1500], 1.0);
    check(&Poisson, &question(1.0, &[1.0]), &[7000, 3000], 0.1);
    check(&Bernoulli, &question(1.0, &[1.0]), &[7000, 3000], 0.1);
    check(&Bernoulli, &question(1.0, &[1.0]), &[2700, 7300], 0.9);
    check(&Bernoulli, &question(0.1, &[1.0]), &[51, 49], 0.5);
}

#[test]
fn next_to_an_end_no_interval_is_empty() {
    let asked = question(3f64.ln(), &[1.0]);
    // A quarter are lies: 2500 are expected at zero, give or take 43.
    let mut before = f64::INFINITY;
    for ones in [2560, 2510, 2440, 2370, 2200] {
        let curve = ScoreCurve::new(&asked, &Bernoulli, &[10_000 - ones, ones], 0.1).unwrap().unwrap();
        let interval = curve.interval(0.95).unwrap();
        assert_eq!((curve.value() == 0.0, interval.low), (ones < 2500, 0.0));
        assert!(interval.high > 0.0 && interval.high < before, "{interval:?}");
        before = interval.high;
    }
    // The other end is the same; a mutant that takes |Z| alone has nothing there.
    let curve = ScoreCurve::new(&asked, &Bernoulli, &[2370, 7630], 0.9).unwrap().unwrap();
    let interval = curve.interval(0.95).unwrap();
    assert!(interval.low < 1.0 && interval.high == 1.0);
    let z = (2370.0f64 - 2500.0) / (10_000f64 * 0.25 * 0.75).sqrt();
    assert!(z < -two_sided(0.95));
    // Far beyond, a low level has no interval, and says so.
    let curve = ScoreCurve::new(&asked, &Bernoulli, &[8500, 1500], 0.5).unwrap().unwrap();
    assert!(matches!(curve.interval(0.1), Err(Error::NoInterval { .. })));
    assert!(curve.interval(0.95).unwrap().low == 0.0);
}

#[test]
fn what_comes_in_has_the_probability_of_the_level() {
    for [low, high] in [[0.0, 9.0], [0.3, 9.0], [1.0, 40.0], [1.7, 1.2], [0.4, 0.4], [30.0, 0.0], [50.0, 60.0]] {
        for level in [0.5, 0.8, 0.95, 0.99] {
            let z = two_sided(level);
            // Midpoints of a thousand slices per unit.
            let inside = |i: i32| {
                let at = (f64::from(i) + 0.5) / 1000.0;
                if excess(at, low, high) <= z { normal::pdf(at) / 1000.0 } else { 0.0 }
            };
            let mass: f64 = (-9000..9000).map(inside).sum();
            assert!((mass - level).abs() < 1e-3, "{mass} at {level} with {low} and {high}");
        }
    }
    // Far from both ends it is the size of Z.
    for z in [-8.0, -1.0, 0.0, 0.7, 5.0, 30.0] {
        assert!((excess(z, 1e6, 1e6) - f64::abs(z)).abs() < 1e-9);
    }
}

#[test]
fn nobody_and_an_infinite_end_have_no_curve() {
    let gaussian = Gaussian::new(1.0).unwrap();
    let asked = question(1.0, &[0.0]);
    assert_eq!(ScoreCurve::new(&asked, &gaussian, &[0, 0], 0.3).unwrap(), None);
    assert_eq!(ScoreCurve::new(&asked, &gaussian, &[0, 1000], 0.3).unwrap(), None);
    assert!(matches!(ScoreCurve::new(&asked, &gaussian, &[1, 2, 3], 0.3), Err(Error::TallyAlphabet { .. })));
}
