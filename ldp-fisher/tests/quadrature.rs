//! `of_real` and `of_finite` against 20-digit values, against `exact`, and against families that have no information.

use ldp_core::model::Model;
use ldp_core::model::{
    Bernoulli, Categorical, Cdf, Exponential, Gaussian, GaussianScale, Laplace as LaplaceModel, Logistic, Poisson,
    Score, StudentT, Support,
};
use ldp_core::{Density, Epsilon, Error, Finite, Mechanism, Publish, RealReports, Unbiased};
use ldp_fisher::{Information, Method, exact, of_finite, of_real};
use ldp_mechanisms::{Duchi, Hybrid, IntervalResponse, Laplace, Piecewise, Range, Sign, Staircase};
use ldp_simulate::seed::{Purpose, stream};
use rand::Rng;
use serde_json::Value;

fn level(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn range(low: f64, high: f64) -> Range {
    Range::new(low, high).unwrap()
}

fn gaussian(sigma: f64) -> Gaussian {
    Gaussian::new(sigma).unwrap()
}

fn information<M: Cdf + Score + ?Sized>(name: &str, epsilon: f64, range: Range, model: &M, theta: f64) -> Information {
    let epsilon = level(epsilon);
    match name {
        "laplace" => of_real(&Laplace::new(epsilon, range).unwrap(), model, theta),
        "piecewise" => of_real(&Piecewise::new(epsilon, range).unwrap(), model, theta),
        "hybrid" => of_real(&Hybrid::new(epsilon, range).unwrap(), model, theta),
        "staircase" => of_real(&Staircase::new(epsilon, range).unwrap(), model, theta),
        _ => of_finite(&Duchi::new(epsilon, range).unwrap(), model, theta),
    }
    .unwrap()
}

#[test]
fn reference_values_within_the_stated_error() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/reference.json")).unwrap();
    let cases: Vec<_> = cases.iter().filter(|case| case["mechanism"] != "response").collect();
    assert_eq!(cases.len(), 63);
    for case in cases {
        let number = |name: &str| case[name].as_f64().unwrap();
        let expected: f64 = case["information"].as_str().unwrap().parse().unwrap();
        let (name, range) = (case["mechanism"].as_str().unwrap(), range(number("low"), number("high")));
        let found = information(name, number("epsilon"), range, &gaussian(number("sigma")), number("theta"));
        assert_eq!(found.method, Method::Quadrature);
        assert!((found.value - expected).abs() <= found.error + 1e-15 * expected, "{case}: {found:?}");
        assert!(found.error <= 1e-9 * expected, "{case}: {found:?}");
    }
}

/// A mechanism with other input breaks than it says, or none.
struct Told<Q>(Q, fn(f64) -> Vec<f64>);

impl<Q: RealReports> Mechanism for Told<Q> {
    type Input = f64;
    type Report = f64;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        self.0.privatize(input, rng)
    }
}

impl<Q: RealReports> Density for Told<Q> {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        self.0.ln_density(report, input)
    }
}

impl<Q: RealReports> RealReports for Told<Q> {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        self.0.report_cdf(report, input)
    }

    fn breaks(&self, input: f64) -> Vec<f64> {
        self.0.breaks(input)
    }

    fn input_breaks(&self, report: f64, _window: (f64, f64)) -> Vec<f64> {
        self.1(report)
    }

    fn atoms(&self) -> Vec<f64> {
        self.0.atoms()
    }
}

#[test]
fn breaks_are_found_where_they_are_not_known() {
    // On [-3, 3] u stands for 3u.
    let laplace = Laplace::new(level(1.0), range(-3.0, 3.0)).unwrap();
    let known = of_real(&Told(laplace, |z| vec![-3.0, 3.0 * z.clamp(-1.0, 1.0), 3.0]), &gaussian(1.0), 0.3).unwrap();
    let unknown = of_real(&Told(laplace, |_| Vec::new()), &gaussian(1.0), 0.3).unwrap();
    let own = of_real(&laplace, &gaussian(1.0), 0.3).unwrap();
    for found in [known, unknown, own] {
        assert!((found.value - 0.022_974_130_952_809_167).abs() < 1e-14, "{known:?} {unknown:?} {own:?}");
    }
    let piecewise = Piecewise::new(level(4.0), range(-3.0, 3.0)).unwrap();
    let breaks = |z: f64| [1.0, -1.0].map(|side| 3.0 * (z * (2f64.exp() - 1.0) - side) / 2f64.exp()).to_vec();
    let known = of_real(&Told(piecewise, breaks), &gaussian(1.0), 0.3).unwrap();
    let unknown = of_real(&Told(piecewise, |_| Vec::new()), &gaussian(1.0), 0.3).unwrap();
    assert!((known.value - unknown.value).abs() < 1e-12, "{known:?} {unknown:?}");
}

/// By the cdf alone: the range in equal cells, the report by Simpson's rule between breaks.
fn by_cells<Q: RealReports>(mechanism: &Q, (low, high): (f64, f64), model: &dyn Cdf, theta: f64, reach: f64) -> f64 {
    let cells = 3000;
    let cut = |k: usize| low + (high - low) * k as f64 / cells as f64;
    let ends = [f64::NEG_INFINITY].into_iter().chain((0..=cells).map(cut)).chain([f64::INFINITY]).collect::<Vec<_>>();
    let law: Vec<(f64, f64, f64)> = ends
        .windows(2)
        .map(|pair| {
            // Beyond the range every value is clipped to its end.
            let x = f64::midpoint(pair[0].clamp(low, high), pair[1].clamp(low, high));
            (x, model.mass(theta, pair[0], pair[1]), model.mass_dtheta(theta, pair[0], pair[1]))
        })
        .collect();
    let term = |z: f64| {
        let sum = law.iter().fold((0.0, 0.0), |(m, d), (x, p, dp)| {
            let q = mechanism.ln_density(&z, x).exp();
            (m + q * p, d + q * dp)
        });
        if sum.0 > 0.0 { sum.1 * sum.1 / sum.0 } else { 0.0 }
    };
    let mut edges = [
        mechanism.breaks(low),
        mechanism.breaks(high),
        mechanism.breaks(theta),
        vec![-reach, -8.0, -3.0, 3.0, 8.0, reach],
    ]
    .concat();
    edges.retain(|z| z.abs() <= reach);
    edges.sort_by(f64::total_cmp);
    edges.dedup_by(|b, a| *b - *a < 1e-12);
    let simpson = |pair: &[f64]| {
        let (steps, inset) = (60, 1e-10 * (pair[1] - pair[0]));
        let (from, width) = (pair[0] + inset, pair[1] - pair[0] - 2.0 * inset);
        let weight = |k: usize| if k == 0 || k == steps { 1.0 } else { 2.0 + 2.0 * (k % 2) as f64 };
        let step = width / steps as f64;
        (0..=steps).map(|k| weight(k) * term(from + step * k as f64)).sum::<f64>() * step / 3.0
    };
    edges.windows(2).map(simpson).sum::<f64>() + mechanism.atoms().into_iter().map(term).sum::<f64>()
}

fn check_family<M: Cdf + Score>(name: &str, model: &M, theta: f64, low: f64, high: f64) {
    let (epsilon, range) = (level(1.5), range(low, high));
    let compare = |what: &str, found: Information, expected: f64| {
        assert!((found.value / expected - 1.0).abs() < 2e-4, "{what}, {name}: {found:?} for {expected}");
        assert!(found.error < 1e-8 * found.value && found.value < model.information(theta), "{what}: {found:?}");
    };
    let laplace = Laplace::new(epsilon, range).unwrap();
    compare("laplace", of_real(&laplace, model, theta).unwrap(), by_cells(&laplace, (low, high), model, theta, 25.0));
    let hybrid = Hybrid::new(epsilon, range).unwrap();
    compare("hybrid", of_real(&hybrid, model, theta).unwrap(), by_cells(&hybrid, (low, high), model, theta, 10.0));
}

#[test]
fn other_families_agree_with_a_sum_over_cells() {
    check_family("gaussian", &gaussian(1.0), 0.4, -2.0, 2.5);
    check_family("gaussian scale", &GaussianScale, 1.3, -3.0, 3.0);
    check_family("logistic", &Logistic::new(0.8).unwrap(), 0.4, -3.0, 3.0);
    check_family("student", &StudentT::new(3.0, 1.0).unwrap(), 0.4, -3.0, 3.0);
    check_family("cauchy", &StudentT::new(1.0, 0.7).unwrap(), -0.6, -3.0, 3.0);
    check_family("laplace", &LaplaceModel::new(1.0).unwrap(), 0.4, -3.0, 3.0);
    check_family("exponential", &Exponential, 1.7, 0.5, 5.0);
}

#[test]
fn whole_numbers_are_summed() {
    // Categories 0 to 3 at -1, -1/3, 1/3 and 1, through the one bit that a hybrid is at this ε.
    let (model, theta) = (Categorical::new(4).unwrap(), 0.4);
    let hybrid = Hybrid::new(level(0.5), range(0.0, 3.0)).unwrap();
    let tau = 0.25f64.tanh();
    let (mean, slope) = (-theta + (1.0 - theta) / 3.0, -4.0 / 3.0);
    let expected = (tau * slope).powi(2) / (1.0 - (tau * mean).powi(2));
    let found = of_real(&hybrid, &model, theta).unwrap();
    assert!((found.value - expected).abs() <= found.error && found.error < 1e-11, "{found:?} for {expected}");
    let bit = of_finite(&Duchi::new(level(0.5), range(0.0, 3.0)).unwrap(), &model, theta).unwrap();
    assert!((bit.value - expected).abs() <= bit.error, "{bit:?}");
    // A count, through a sign: exact.
    let sign = Sign::new(level(1.0), 4.5).unwrap().publish();
    let (found, expected) = (of_finite(&sign, &Poisson, 3.7).unwrap(), exact(&sign, &Poisson, 3.7).unwrap());
    assert!((found.value - expected.value).abs() <= found.error + expected.error, "{found:?} {expected:?}");
    // The cells of a width of 0.01 have the whole numbers within half of it from their middles.
    let laplace = Laplace::new(level(2.0), range(0.0, 10.0)).unwrap();
    let (found, limit) = (of_real(&laplace, &Poisson, 3.7).unwrap(), Poisson.information(3.7));
    let expected = by_cells(&laplace, (-0.5, 29.5), &Poisson, 3.7, 16.0);
    assert!(found.value < limit && (found.value / expected - 1.0).abs() < 2e-3, "{found:?} for {expected}");
}

#[test]
fn finite_quadrature_agrees_with_exact() {
    for (epsilon, theta) in [(0.01, 0.3), (1.0, -1.2), (5.0, 0.3)] {
        for cuts in [vec![0.1], vec![-1.0, 1.0 / 3.0], vec![-2.2, -0.7, 0.05, 0.6, 1.9, 2.0]] {
            let response = IntervalResponse::new(level(epsilon), cuts).unwrap();
            let student = StudentT::new(2.5, 1.0).unwrap();
            for (found, expected) in [
                (of_finite(&response, &gaussian(1.0), theta), exact(&response, &gaussian(1.0), theta)),
                (of_finite(&response, &student, theta), exact(&response, &student, theta)),
            ] {
                let (found, expected) = (found.unwrap(), expected.unwrap());
                assert!((found.value / expected.value - 1.0).abs() < 1e-10, "{found:?} for {expected:?}");
                assert!((found.value - expected.value).abs() <= found.error + expected.error, "{found:?} {expected:?}");
            }
        }
    }
    // Cells that no node can see are an error or within it, and not a wrong number.
    let narrow = IntervalResponse::new(level(1.0), vec![0.123, 0.123_000_1]).unwrap();
    let expected = exact(&narrow, &gaussian(1.0), 0.0).unwrap().value;
    match of_finite(&narrow, &gaussian(1.0), 0.0) {
        Ok(found) => assert!((found.value - expected).abs() <= found.error, "{found:?} for {expected}"),
        Err(error) => assert!(matches!(error, Error::Integral { .. }), "{error}"),
    }
}

/// Uniform on [0, θ]: the end moves with the parameter.
struct Uniform;

impl Cdf for Uniform {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        (x / theta).clamp(0.0, 1.0)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        if (0.0..theta).contains(&x) { -x / (theta * theta) } else { 0.0 }
    }
}

impl Score for Uniform {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        if (0.0..=theta).contains(&x) { -theta.ln() } else { f64::NEG_INFINITY }
    }

    fn score(&self, theta: f64, _x: f64) -> f64 {
        -1.0 / theta
    }

    fn information(&self, theta: f64) -> f64 {
        (theta * theta).recip()
    }

    fn support(&self, theta: f64) -> Support {
        Support::Interval { low: 0.0, high: theta, kinks: Vec::new() }
    }
}

/// On [θ - 1, θ + 1] with density (1 + power) |x - θ|^power / 2: a spike or a hole at the parameter.
struct Spike(f64);

impl Cdf for Spike {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        let z = (x - theta).clamp(-1.0, 1.0);
        0.5 + 0.5 * z.signum() * z.abs().powf(1.0 + self.0)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        -self.ln_density(theta, x).exp()
    }
}

impl Score for Spike {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        let z = (x - theta).abs();
        if z <= 1.0 { ((1.0 + self.0) / 2.0).ln() + self.0 * z.ln() } else { f64::NEG_INFINITY }
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        -self.0 / (x - theta)
    }

    fn information(&self, _theta: f64) -> f64 {
        f64::INFINITY
    }

    fn support(&self, theta: f64) -> Support {
        Support::Interval { low: theta - 1.0, high: theta + 1.0, kinks: vec![theta] }
    }
}

#[test]
fn families_without_information_are_refused() {
    let (laplace, duchi) =
        (Laplace::new(level(1.0), range(0.0, 1.0)).unwrap(), Duchi::new(level(1.0), range(0.0, 1.0)).unwrap());
    for found in [of_real(&laplace, &Uniform, 2.0), of_finite(&duchi, &Uniform, 2.0)] {
        assert!(
            matches!(found, Err(Error::NotRegular { theta: 2.0, mean_score }) if (mean_score + 0.5).abs() < 1e-9),
            "{found:?}"
        );
    }
    // The mean score is zero by symmetry; not so its variance, and for the first not even the mean absolute score is finite.
    for spike in [Spike(-0.5), Spike(0.5)] {
        for found in [of_real(&laplace, &spike, 0.3), of_finite(&duchi, &spike, 0.3)] {
            assert!(matches!(found, Err(Error::Integral { .. })), "{found:?}");
        }
    }
    let found = of_real(&laplace, &gaussian(1.0), f64::NAN);
    assert!(matches!(found, Err(Error::Parameter { name: "theta", .. })));
}

const REPLICATIONS: u64 = 3000;
const USERS: usize = 2000;

/// n·Var of the maximum likelihood estimator: the law of a report, cut into places, at every θ of a grid with this step;
/// the maximum of a parabola through the largest likelihood and its neighbours.
fn n_times_variance(centre: f64, step: f64, law: &dyn Fn(f64) -> Vec<f64>, draw: &dyn Fn(u64) -> Vec<usize>) -> f64 {
    let grid: Vec<f64> = (-40..=40).map(|k| centre + step * f64::from(k)).collect();
    let logs: Vec<Vec<f64>> = grid.iter().map(|theta| law(*theta).iter().map(|p| p.ln()).collect()).collect();
    let estimates: Vec<f64> = (0..REPLICATIONS)
        .map(|replication| {
            let mut counts = vec![0.0; logs[0].len()];
            draw(replication).into_iter().for_each(|place| counts[place] += 1.0);
            let term = |(count, log): (&f64, &f64)| if *count > 0.0 { count * log } else { 0.0 };
            let fit: Vec<f64> = logs.iter().map(|logs| counts.iter().zip(logs).map(term).sum()).collect();
            let best = (1..grid.len() - 1).max_by(|a, b| fit[*a].total_cmp(&fit[*b])).unwrap();
            let (left, middle, right) = (fit[best - 1], fit[best], fit[best + 1]);
            grid[best] + 0.5 * step * (left - right) / (left - 2.0 * middle + right)
        })
        .collect();
    let mean = estimates.iter().sum::<f64>() / REPLICATIONS as f64;
    let square = estimates.iter().map(|estimate| (estimate - mean).powi(2)).sum::<f64>();
    USERS as f64 * square / (REPLICATIONS - 1) as f64
}

fn reports<Q: Mechanism<Input = f64>>(mechanism: &Q, theta: f64, replication: u64) -> Vec<Q::Report> {
    let (mut data, mut noise) = (stream(11, Purpose::Data, replication, 0), stream(11, Purpose::Noise, replication, 0));
    let mut report = || mechanism.privatize(&gaussian(1.0).sample(theta, &mut data), &mut noise);
    (0..USERS).map(|_| report()).collect()
}

#[test]
fn maximum_likelihood_reaches_the_information() {
    let theta = 0.3;
    // A variance from 3000 replications has a relative deviation of √(2/3000) = 0.026; five of them at α = 1e-6. The
    // asymptotic variance is that of n = 2000 to about a hundredth. A third more information is refused.
    let tolerance = 5.0 * (2.0 / REPLICATIONS as f64).sqrt() + 0.01;
    let check = |name: &str, information: f64, found: f64| {
        assert!((found * information - 1.0).abs() < tolerance, "{name}: {found} for {}", information.recip());
        assert!((found * 4.0 / 3.0 * information - 1.0).abs() > tolerance, "{name} with a third more");
    };
    fn finite<Q: Finite + Mechanism<Input = f64>>(mechanism: &Q, theta: f64, information: f64) -> f64 {
        let step = 0.15 / (USERS as f64 * information).sqrt();
        let law = |theta: f64| {
            let mut law = vec![0.0; mechanism.reports() as usize];
            mechanism.marginal(&gaussian(1.0), theta, &mut law);
            law
        };
        let draw = |replication| reports(mechanism, theta, replication).iter().map(|z| *z as usize).collect();
        n_times_variance(theta, step, &law, &draw)
    }
    let sign = Sign::new(level(1.0), 0.0).unwrap().publish();
    let information = exact(&sign, &gaussian(1.0), theta).unwrap().value;
    check("sign", information, finite(&sign, theta, information));
    let intervals = IntervalResponse::new(level(2.0), vec![-1.0, 0.0, 1.0]).unwrap();
    let information = exact(&intervals, &gaussian(1.0), theta).unwrap().value;
    check("intervals", information, finite(&intervals, theta, information));
    let duchi = Duchi::new(level(2.0), range(-3.0, 3.0)).unwrap();
    let information = of_finite(&duchi, &gaussian(1.0), theta).unwrap().value;
    check("duchi", information, finite(&duchi, theta, information));

    // Laplace reports in bins so narrow that they lose nothing to speak of.
    let laplace = Laplace::new(level(2.0), range(-3.0, 3.0)).unwrap();
    let information = of_real(&laplace, &gaussian(1.0), theta).unwrap().value;
    let edges: Vec<f64> = (-160..=160).map(|k| f64::from(k) / 20.0).collect();
    let cells: Vec<f64> = (0..=300).map(|k| -3.0 + 0.02 * f64::from(k)).collect();
    let law = |theta: f64| {
        let ends =
            [f64::NEG_INFINITY].into_iter().chain(cells.iter().copied()).chain([f64::INFINITY]).collect::<Vec<_>>();
        let masses: Vec<(f64, f64)> = ends
            .windows(2)
            .map(|pair| {
                (f64::midpoint(pair[0].max(-3.0), pair[1].min(3.0)), gaussian(1.0).mass(theta, pair[0], pair[1]))
            })
            .collect();
        let cdf = |z: f64| masses.iter().map(|(x, p)| p * laplace.report_cdf(z, *x)).sum::<f64>();
        let below: Vec<f64> = [0.0].into_iter().chain(edges.iter().map(|z| cdf(*z))).chain([1.0]).collect();
        below.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let place = |z: &f64| edges.partition_point(|edge| edge < z);
    let draw = |replication| reports(&laplace, theta, replication).iter().map(place).collect();
    let step = 0.15 / (USERS as f64 * information).sqrt();
    check("laplace", information, n_times_variance(theta, step, &law, &draw));

    // The mean of the reports, told apart by its own derivative in θ, is an estimator too, and no better.
    let means: Vec<f64> = (0..REPLICATIONS)
        .map(|replication| laplace.decode(reports(&laplace, theta, replication).iter().sum::<f64>() / USERS as f64))
        .collect();
    let mean = means.iter().sum::<f64>() / REPLICATIONS as f64;
    let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (REPLICATIONS - 1) as f64;
    let slope = gaussian(1.0).mass(theta, -3.0, 3.0);
    assert!(USERS as f64 * variance / (slope * slope) * information > 1.0 - tolerance);
}

/// Far from the range a level of 40 weighs tails that no probability of 1e-18 shows: values by mpmath, 30 digits.
#[test]
fn tails_that_a_large_epsilon_weighs_are_there() {
    let model = Gaussian::new(1.0).unwrap();
    let (epsilon, range) = (Epsilon::new(40.0).unwrap(), Range::new(-1.0, 1.0).unwrap());
    let laplace = Laplace::new(epsilon, range).unwrap();
    let duchi = Duchi::new(epsilon, range).unwrap();
    for (found, expected) in [
        (of_real(&laplace, &model, 8.0), 1.572391e-18),
        (of_real(&laplace, &model, 9.0), 2.1426e-26),
        (of_finite(&duchi, &model, 9.8), 2.729e-20),
        (of_finite(&duchi, &model, 10.0), 7.48e-22),
    ] {
        let found = found.unwrap();
        assert!((found.value - expected).abs() <= found.error, "{found:?} is not {expected}");
        assert!((found.value / expected - 1.0).abs() < 0.02, "{found:?} is not {expected}");
    }
}

/// What is no parameter is an error, not a number.
#[test]
fn parameters_are_checked() {
    let sign = Sign::new(Epsilon::new(1.0).unwrap(), 0.3).unwrap().publish();
    assert!(exact(&sign, &Bernoulli, 1.5).is_err() && exact(&sign, &Poisson, -1.0).is_err());
    assert!(exact(&sign, &Exponential, 0.0).is_err() && exact(&sign, &Gaussian::new(1.0).unwrap(), f64::NAN).is_err());
    let duchi = Duchi::new(Epsilon::new(1.0).unwrap(), Range::new(-1.0, 1.0).unwrap()).unwrap();
    assert!(of_finite(&duchi, &Bernoulli, -0.5).is_err());
}
