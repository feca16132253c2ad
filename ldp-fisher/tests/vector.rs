//! Informations about a mean vector against brute force and samples.

use ldp_core::special::normal;
use ldp_core::{Density, Epsilon, Mechanism, UnbiasedVector};
use ldp_fisher::{BlackBox, Information, Method, black_box_vector, black_box_with, cube, direction, sphere};
use ldp_mechanisms::{DuchiL2, DuchiLinf, PrivUnitG, ProjUnit};
use ldp_simulate::seed::SimulationRng;
use rand::RngExt;
use std::f64::consts::PI;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// E clip(X, ±ρ) of N(θ, σ²).
fn clipped_mean(theta: f64, sigma: f64, radius: f64) -> f64 {
    let psi = |z: f64| z * normal::cdf(z) + normal::pdf(z);
    -radius + sigma * (psi((theta + radius) / sigma) - psi((theta - radius) / sigma))
}

/// All vertices: the law of a report is affine in every coordinate of the clipped value, so its mean under the model is
/// its law at the mean.
#[test]
fn the_cube_by_enumeration() {
    for (d, level, radius, sigma) in [
        (1, 1.0, 1.0, 1.0),
        (2, 0.3, 0.7, 1.0),
        (3, 1.0, 2.0, 1.5),
        (4, 2.0, 1.0, 0.4),
        (5, 4.0, 1.0, 1.0),
        (6, 8.0, 3.0, 2.0),
    ] {
        let mechanism = DuchiLinf::new(epsilon(level), d, radius).unwrap();
        let law = |theta: &[f64], vertex: u32| {
            let mean: Vec<f64> = theta.iter().map(|&t| clipped_mean(t, sigma, radius)).collect();
            let report = (0..d).map(|j| if vertex >> j & 1 == 1 { mechanism.bound() } else { -mechanism.bound() });
            mechanism.ln_density(&report.collect(), &mean).exp()
        };
        let step = 1e-4;
        let slope = |vertex: u32, j: usize| {
            let mut theta = vec![0.0; d];
            theta[j] = step;
            let above = law(&theta, vertex);
            theta[j] = -step;
            (above - law(&theta, vertex)) / (2.0 * step)
        };
        let entry = |i: usize, j: usize| -> f64 {
            (0..1 << d).map(|v| slope(v, i) * slope(v, j) / law(&vec![0.0; d], v)).sum()
        };
        let found = cube(&mechanism, sigma).unwrap().value;
        for (i, j) in (0..d).flat_map(|i| (0..d).map(move |j| (i, j))) {
            let expected = if i == j { found } else { 0.0 };
            assert!((entry(i, j) - expected).abs() < 1e-6 * found, "d = {d}: {} for {expected}", entry(i, j));
        }
    }
}

/// Directions of a value around an axis: cosine and weight, by the midpoint rule in the angle.
fn angles(d: usize, nodes: u32) -> Vec<(f64, f64)> {
    let places = (0..nodes).map(|i| PI * (f64::from(i) + 0.5) / f64::from(nodes));
    let raw: Vec<(f64, f64)> = places.map(|angle| (angle.cos(), angle.sin().powi(d as i32 - 2))).collect();
    let total: f64 = raw.iter().map(|a| a.1).sum();
    raw.iter().map(|&(cosine, weight)| (cosine, weight / total)).collect()
}

/// Lengths of a standard Gaussian vector, with weights.
fn lengths(d: usize, nodes: u32) -> Vec<(f64, f64)> {
    let far = (d as f64).sqrt() + 9.0;
    let places = (1..nodes).map(|i| far * f64::from(i) / f64::from(nodes));
    let raw: Vec<(f64, f64)> = places
        .map(|r| (r, ((d as f64 - 1.0) * r.ln() - 0.5 * r * r + 0.5 * d as f64 * (1.0 - (d as f64).ln())).exp()))
        .collect();
    let total: f64 = raw.iter().map(|a| a.1).sum();
    raw.iter().map(|&(length, weight)| (length, weight / total)).collect()
}

/// A vector of the given length at an angle to the first axis.
fn tilted(d: usize, length: f64, cosine: f64) -> Vec<f64> {
    let mut x = vec![0.0; d];
    (x[0], x[1]) = (length * cosine, length * (1.0 - cosine * cosine).sqrt());
    x
}

/// The score of a report on the first axis by a double sum over the mechanism's own density.
#[test]
fn the_sphere_by_sums() {
    for (d, level, radius, sigma) in [(2, 1.0, 1.5, 1.0), (3, 0.5, 0.4, 2.0), (5, 3.0, 2.0, 1.0), (8, 2.0, 20.0, 1.5)] {
        let mechanism = DuchiL2::new(epsilon(level), d, radius).unwrap();
        let report = tilted(d, mechanism.bound(), 1.0);
        let (mut mass, mut slope) = (0.0, 0.0);
        for (cosine, share) in angles(d, 400) {
            for (length, weight) in lengths(d, 400) {
                let x = tilted(d, sigma * length, cosine);
                let q = share * weight * mechanism.ln_density(&report, &x).exp();
                mass += q;
                slope += q * x[0] / (sigma * sigma);
            }
        }
        let (found, expected) = (sphere(&mechanism, sigma).unwrap().value, (slope / mass).powi(2) / d as f64);
        assert!((found / expected - 1.0).abs() < 1e-4, "d = {d}: {found} for {expected}");
    }
}

/// The same for directions, with a sum over the lengths of reports.
#[test]
fn the_direction_by_sums() {
    let best = |level, d| PrivUnitG::new(epsilon(level), d).unwrap();
    // Not the best of its level, and with a threshold on the other side.
    let other = r#"{"dimension":4,"probability":0.9,"threshold":-0.5}"#;
    let other: PrivUnitG = serde_json::from_str(other).unwrap();
    for (mechanism, sigma) in
        [(best(1.0, 2), 1.0), (best(3.0, 3), 0.5), (best(0.2, 5), 1.0), (best(6.0, 20), 2.0), (other, 1.0)]
    {
        let d = mechanism.dimension();
        let mean_length: f64 = lengths(d, 1000).iter().map(|(r, w)| r * w).sum();
        let s = mechanism.scale();
        let mut expected = 0.0;
        for (r, weight) in lengths(d, 300) {
            let report = tilted(d, s * r, 1.0);
            // Relative to the density of s times a standard Gaussian vector.
            let plain: f64 = report.iter().map(|z| normal::ln_pdf(z / s) - s.ln()).sum();
            let (mut mass, mut slope) = (0.0, 0.0);
            for (cosine, share) in angles(d, 2000) {
                let q = share * (mechanism.ln_density(&report, &tilted(d, 1.0, cosine)) - plain).exp();
                mass += q;
                slope += q * cosine * mean_length / sigma;
            }
            expected += weight * slope * slope / mass / d as f64;
        }
        let found = direction(&mechanism, sigma).unwrap().value;
        assert!((found / expected - 1.0).abs() < 2e-3, "d = {d}: {found} for {expected}");
    }
}

/// On the line all three look at the sign, or at a clipped value: one-dimensional sums and closed forms.
#[test]
fn one_dimension() {
    for level in [1e-6, 0.01, 1.0, 4.0, 20.0] {
        let unit = PrivUnitG::new(epsilon(level), 1).unwrap();
        let (s, threshold, sigma) = (unit.scale(), unit.threshold(), 1.7);
        // Pieces between the jumps, by Simpson's rule.
        let density = |z: f64, side: f64| unit.ln_density(&vec![z], &[side]).exp();
        let ends = [-12.0, -threshold, threshold, 12.0].map(|a| s * a);
        let mut expected = 0.0;
        for piece in ends.windows(2) {
            let width = (piece[1] - piece[0]) / 2000.0;
            for i in 0..2000 {
                let (low, rule) = (piece[0] + width * f64::from(i), [(0.0, 1.0), (0.5, 4.0), (1.0, 1.0)]);
                for (place, weight) in rule {
                    // Inside the piece: at its ends the density jumps.
                    let z = (low + width * place).clamp(piece[0] + 1e-9 * width, piece[1] - 1e-9 * width);
                    let (plus, minus) = (density(z, 1.0), density(z, -1.0));
                    expected += weight / 6.0 * width * (plus - minus).powi(2) / (2.0 * (plus + minus));
                }
            }
        }
        // E[S sgn X] = √(2/π)/σ, and half the difference over half the sum.
        expected *= 2.0 / PI / (sigma * sigma);
        let found = direction(&unit, sigma).unwrap();
        assert!((found.value / expected - 1.0).abs() < 1e-8 / level.min(1.0), "{level}: {found:?} for {expected}");
        assert!(found.value <= 2.0 / PI * (0.5 * level).tanh().powi(2) / (sigma * sigma) * (1.0 + 1e-9));
        // A clipped value rounded to a sign.
        for radius in [1e-3, 1.0, 30.0] {
            let share = normal::mass(-radius / sigma, radius / sigma);
            let closed = ((0.5 * level).tanh() * share / radius).powi(2);
            let line = DuchiLinf::new(epsilon(level), 1, radius).unwrap();
            let ball = DuchiL2::new(epsilon(level), 1, radius).unwrap();
            for found in [cube(&line, sigma).unwrap().value, sphere(&ball, sigma).unwrap().value] {
                assert!((found / closed - 1.0).abs() < 1e-9, "ε = {level}, ρ = {radius}: {found} for {closed}");
            }
        }
    }
}

/// T and its standard error.
fn sampled(limit: Information) -> (f64, f64) {
    let Method::BlackBox { level, binned, .. } = limit.method else { panic!("{limit:?}") };
    (binned, (binned - limit.value) / normal::quantile(level))
}

/// Samples agree: within 4.9 standard errors, α = 1e-6, and 2 % that 64 bins may lose. Informations off by a factor of
/// 1.5 do not.
#[test]
fn samples_agree() {
    let options = BlackBox::new(11).draws(200_000).unwrap();
    for d in [2, 3, 5, 20] {
        let (level, sigma, centre) = (epsilon(4.0), 0.8, vec![0.0; d]);
        let mut axis = vec![0.0; d];
        axis[d / 2] = 3.0;
        let slanted: Vec<f64> = (0..d).map(|j| 1.0 + j as f64).collect();
        let radius = (d as f64).sqrt();
        let line = DuchiLinf::new(level, d, 1.0).unwrap();
        let ball = DuchiL2::new(level, d, radius).unwrap();
        let unit = PrivUnitG::new(level, d).unwrap();
        let exact = [cube(&line, sigma), sphere(&ball, sigma), direction(&unit, sigma)].map(|i| i.unwrap().value);
        // The score of a report of PrivUnitG along the first axis: all that is to be known of it.
        let nodes = angles(d, 64);
        let tilt = |above: bool| if above { level.value().exp() } else { 1.0 };
        let score = |z: &Vec<f64>| {
            let length = z.iter().map(|z| z * z).sum::<f64>().sqrt();
            let r = length / unit.scale();
            let weights = nodes.iter().map(|&(t, share)| (t, share * tilt(r * t >= unit.threshold())));
            let (top, bottom) = weights.fold((0.0, 0.0), |(top, bottom), (t, w)| (top + t * w, bottom + w));
            top / bottom * z[0] / length
        };
        let noise = rand_normal(sigma);
        let whole = black_box_with(
            |rng| {
                let x: Vec<f64> = (0..d).map(|_| noise(rng)).collect();
                (x[0] / (sigma * sigma), score(&unit.privatize(&x, rng)))
            },
            options,
        );
        let limits = [
            black_box_vector(&line, &centre, sigma, &axis, options).unwrap(),
            black_box_vector(&ball, &centre, sigma, &slanted, options).unwrap(),
            whole.unwrap(),
        ];
        for (exact, limit) in exact.into_iter().zip(limits) {
            let (binned, error) = sampled(limit);
            let agrees = |exact: f64| binned > 0.98 * exact - 4.9 * error && binned < exact + 4.9 * error;
            assert!(agrees(exact), "d = {d}: {binned} ± {error} for {exact}");
            assert!(!agrees(1.5 * exact) && !agrees(exact / 1.5), "d = {d}: {binned} ± {error} for {exact}");
            assert!(limit.value < exact);
        }
        // One component of the report says a little less than all of it.
        let (part, error) = sampled(black_box_vector(&unit, &centre, sigma, &axis, options).unwrap());
        assert!(part < exact[2] + 4.9 * error && part > 0.8 * exact[2], "d = {d}: {part} ± {error} for {}", exact[2]);
    }
}

fn rand_normal(sigma: f64) -> impl Fn(&mut SimulationRng) -> f64 {
    move |rng| sigma * normal::quantile(rng.random::<f64>().max(1e-300))
}

/// Away from the centre, and through a random projection.
#[test]
fn other_places_and_mechanisms() {
    let options = BlackBox::new(3).draws(100_000).unwrap();
    let unit = PrivUnitG::new(epsilon(4.0), 3).unwrap();
    let at = |theta: [f64; 3], along: [f64; 3]| black_box_vector(&unit, &theta, 1.0, &along, options).unwrap().value;
    let centre = at([0.0; 3], [1.0, 0.0, 0.0]);
    // Far out the direction says nothing about the length.
    assert!(at([6.0, 0.0, 0.0], [1.0, 0.0, 0.0]) < 0.1 * centre);
    assert!(at([0.5, 0.0, 0.0], [0.0, 1.0, 0.0]) > 0.5 * centre);
    // A projection to all dimensions is a rotation: nothing is lost.
    let same = ProjUnit::new(epsilon(4.0), 3, 3).unwrap();
    let turned = black_box_vector(&same, &[0.0; 3], 1.0, &[1.0, 0.0, 0.0], options).unwrap().value;
    assert!((turned / centre - 1.0).abs() < 0.1, "{turned} for {centre}");
    let less = ProjUnit::new(epsilon(4.0), 3, 1).unwrap();
    assert!(black_box_vector(&less, &[0.0; 3], 1.0, &[1.0, 0.0, 0.0], options).unwrap().value < centre);
}

/// The smaller the ball or the cube the more is said, up to the sign of one random coordinate for the ball.
#[test]
fn small_balls_say_most() {
    let (level, sigma) = (1.3f64, 0.7f64);
    let limit = 2.0 / PI * ((0.5 * level).tanh() / sigma).powi(2);
    for d in [1, 2, 7, 50] {
        let ball = |radius| sphere(&DuchiL2::new(epsilon(level), d, radius).unwrap(), sigma).unwrap().value;
        let line = |radius| cube(&DuchiLinf::new(epsilon(level), d, radius).unwrap(), sigma).unwrap().value;
        let radii = [1e-6, 0.01, 0.1, 1.0, 5.0, 30.0];
        assert!(radii.windows(2).all(|r| ball(r[0]) >= ball(r[1]) * (1.0 - 1e-12) && line(r[0]) > line(r[1])));
        assert!((ball(1e-6) * d as f64 / limit - 1.0).abs() < 1e-9, "d = {d}: {}", ball(1e-6));
    }
}

#[test]
fn corners() {
    for d in [1, 2, 3, 1000, 1_000_001, 1 << 24] {
        for level in [1e-6, 1.0, 30.0] {
            let unit = PrivUnitG::new(epsilon(level), d).unwrap();
            let found = direction(&unit, 1.0).unwrap();
            let d = d as f64;
            // The averaging estimator is no better than the bound, with at least 2d/π for the squared mean length.
            let averaging = unit.scale().powi(2) * (d - 1.0 + unit.second_moment());
            let efficient = found.value.recip();
            assert!(found.error < 1e-11 * found.value && found.value < 1.0, "d = {d}, ε = {level}: {found:?}");
            assert!(efficient * 2.0 / PI < averaging * (1.0 + 1e-12), "d = {d}, ε = {level}: {efficient}, {averaging}");
            // In high dimensions they meet.
            if d > 1e6 {
                let limit = unit.scale().powi(2) * d;
                assert!((efficient / limit - 1.0).abs() < 1e-3, "d = {d}, ε = {level}: {efficient} for {limit}");
            }
        }
        let ball = DuchiL2::new(epsilon(1.0), d, 1.0).unwrap();
        for sigma in [1e-3, 1.0, 1e3] {
            assert!(sphere(&ball, sigma).unwrap().value > 0.0);
        }
        assert!(cube(&DuchiLinf::new(epsilon(1.0), d, 1.0).unwrap(), 1.0).unwrap().value > 0.0);
        assert_eq!(ball.dimension(), d);
    }
    let unit = PrivUnitG::new(epsilon(1.0), 2).unwrap();
    let options = BlackBox::new(1);
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(direction(&unit, sigma).is_err());
        assert!(black_box_vector(&unit, &[0.0; 2], sigma, &[1.0; 2], options).is_err());
    }
    assert!(black_box_vector(&unit, &[0.0; 2], 1.0, &[1.0; 3], options).is_err());
    assert!(black_box_vector(&unit, &[0.0; 2], 1.0, &[0.0; 2], options).is_err());
    assert!(black_box_vector(&unit, &[f64::NAN; 2], 1.0, &[1.0; 2], options).is_err());
}

/// The table in the documentation of `direction`.
#[test]
fn the_documented_table() {
    let mut rows = Vec::new();
    for (d, known) in [(2usize, Some(8.696)), (3, None), (5, Some(7.212)), (20, Some(6.541)), (100, Some(6.372))] {
        let unit = PrivUnitG::new(epsilon(1.0), d).unwrap();
        let efficient = (d as f64 * direction(&unit, 1.0).unwrap().value).recip();
        // κ d is the mean length.
        let mean_length: f64 = lengths(d, 2000).iter().map(|(r, w)| r * w).sum();
        let averaging = unit.scale().powi(2) * (d as f64 - 1.0 + unit.second_moment()) / mean_length.powi(2);
        assert!(efficient < averaging);
        assert!(known.is_none_or(|known: f64| (known - averaging).abs() < 5.1e-4), "d = {d}: {averaging}");
        rows.push(format!("/// | {d} | {efficient:.4} | {averaging:.4} |"));
    }
    let source = include_str!("../src/vector.rs");
    let written: Vec<&str> = source.lines().filter(|l| l.starts_with("/// | ") && !l.contains("1/(d I)")).collect();
    assert_eq!(written, rows, "\n{}", rows.join("\n"));
}
