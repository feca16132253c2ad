//! The vector mechanisms: levels and moments by enumeration where reports are finite, samplers against their laws.
//!
//! Statistical tests have fixed seeds and α = 1e-6, and each shows a mutant that it rejects.

use ldp_core::conformance::{ALPHA, check_draws, check_epsilon_density, check_wire_round_trip, goodness_of_fit};
use ldp_core::special::normal;
use ldp_core::{Density, Epsilon, Error, Mechanism, Numerics, Tally, UnbiasedVector, VectorSum};
use ldp_mechanisms::{DuchiL2, DuchiLinf, PrivUnitG, ProjUnit};
use ldp_simulate::seed::{Purpose, stream};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// All vertices of the cube of this size.
fn vertices(dimension: usize, size: f64) -> Vec<Vec<f64>> {
    let vertex = |bits: u32| (0..dimension).map(|j| if bits >> j & 1 == 1 { size } else { -size }).collect();
    (0..1 << dimension).map(vertex).collect()
}

/// Inputs of every shape, for mechanisms of up to five dimensions.
fn strange_inputs() -> Vec<Vec<f64>> {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    vec![
        vec![],
        vec![0.0; 5],
        vec![-0.0, 0.0],
        vec![0.3, -0.4, 0.1, 0.2, 0.5],
        vec![nan; 5],
        vec![nan, 1.0, nan],
        vec![inf, -inf, 3.0, nan, 1.0],
        vec![-inf; 9],
        vec![f64::MAX; 5],
        vec![-1e300, 1e300, 1e-300],
        vec![5e-324; 5],
        (0..100).map(f64::from).collect(),
    ]
}

/// Every input gets a report of finite numbers from the same number of words.
fn check_total<Q: UnbiasedVector>(mechanism: &Q) {
    let inputs = strange_inputs();
    check_draws(mechanism, inputs.iter().map(Vec::as_slice)).unwrap();
    let mut rng = stream(1, Purpose::Noise, 0, 0);
    let mut sum = VectorSum::new(mechanism.dimension());
    for input in &inputs {
        for _ in 0..100 {
            sum.push(mechanism.privatize(input, &mut rng), 1).unwrap();
        }
        assert!(mechanism.total_variance(input) > 0.0);
    }
}

#[test]
fn any_input_is_answered_from_the_same_number_of_words() {
    for (level, dimension) in [0.2, 4.0].into_iter().flat_map(|level| [1, 2, 3, 5].map(|d| (epsilon(level), d))) {
        check_total(&PrivUnitG::new(level, dimension).unwrap());
        check_total(&ProjUnit::new(level, dimension, dimension.div_ceil(2)).unwrap());
        check_total(&DuchiL2::new(level, dimension, 0.7).unwrap());
        check_total(&DuchiLinf::new(level, dimension, 0.7).unwrap());
    }
    check_total(&DuchiLinf::new(epsilon(1.0), 200, 1.0).unwrap());
    assert_eq!(DuchiLinf::NUMERICS, Numerics::Exact);
    assert_eq!([PrivUnitG::NUMERICS, ProjUnit::NUMERICS, DuchiL2::NUMERICS], [Numerics::Idealized; 3]);
}

#[test]
fn wrong_parameters_are_refused_by_type() {
    let one = epsilon(1.0);
    let errors = [
        PrivUnitG::new(one, 0).unwrap_err(),
        ProjUnit::new(one, 0, 0).unwrap_err(),
        DuchiL2::new(one, 0, 1.0).unwrap_err(),
        DuchiLinf::new(one, 0, 1.0).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::TooFew { name: "dimension", least: 1, value: 0 }), "{error}");
    }
    assert!(matches!(PrivUnitG::new(one, usize::MAX), Err(Error::TooMany { name: "dimension", .. })));
    assert!(matches!(ProjUnit::new(one, 3, 0), Err(Error::TooFew { name: "projection", least: 1, value: 0 })));
    assert!(matches!(ProjUnit::new(one, 3, 4), Err(Error::TooMany { name: "projection", most: 3, value: 4 })));
    assert!(matches!(ProjUnit::new(one, 1 << 20, 1 << 10), Err(Error::TooMany { .. })));
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY, 1.7e308, 9.9e-151, 1.1e150] {
        assert!(matches!(DuchiL2::new(one, 2, radius), Err(Error::Parameter { name: "radius", .. })), "{radius}");
        assert!(matches!(DuchiLinf::new(one, 2, radius), Err(Error::Parameter { name: "radius", .. })), "{radius}");
    }
    // A level that stretches reports beyond what can be squared.
    let low = epsilon(1e-9);
    assert!(matches!(DuchiL2::new(low, 2, 1e150), Err(Error::Parameter { name: "radius", .. })));
    assert!(matches!(DuchiLinf::new(low, 2, 1e150), Err(Error::Parameter { name: "radius", .. })));
    // Weights of one, and halves that are counted with a margin.
    for (level, dimension) in [(1e-25, 2), (1e-15, 62)] {
        let refused = DuchiLinf::new(epsilon(level), dimension, 1.0);
        assert!(matches!(refused, Err(Error::EpsilonTooSmall { .. })), "d = {dimension}: {refused:?}");
    }
}

/// Radii at both ends have variances that are numbers, and reports with a density.
#[test]
fn the_smallest_and_the_largest_radius() {
    fn check<Q: UnbiasedVector + Density>(mechanism: &Q, radius: f64) {
        let mut rng = stream(1, Purpose::Noise, 0, 0);
        for input in [vec![], vec![radius], vec![0.3 * radius; 3]] {
            let relative = mechanism.total_variance(&input) / radius.powi(2);
            assert!(relative > 1e-3 && relative < 1e9, "{radius:e}: {relative}");
            let report = mechanism.privatize(&input, &mut rng);
            assert!(mechanism.ln_density(&report, &input).is_finite(), "{radius:e}: {report:?}");
        }
    }
    for (radius, dimension) in [1e-150, 1e150].into_iter().flat_map(|radius| [1, 2, 3].map(|d| (radius, d))) {
        for level in [0.01, 1.0, 5.0].map(epsilon) {
            check(&DuchiL2::new(level, dimension, radius).unwrap(), radius);
            check(&DuchiLinf::new(level, dimension, radius).unwrap(), radius);
        }
    }
}

#[test]
fn questions_survive_the_wire() {
    for level in [1e-3, 0.2, 1.0, 4.0, 30.0].map(epsilon) {
        check_wire_round_trip(&PrivUnitG::new(level, 7).unwrap()).unwrap();
        check_wire_round_trip(&ProjUnit::new(level, 7, 3).unwrap()).unwrap();
        check_wire_round_trip(&DuchiL2::new(level, 7, 0.1).unwrap()).unwrap();
        check_wire_round_trip(&DuchiLinf::new(level, 7, 0.1).unwrap()).unwrap();
    }
}

#[test]
fn the_level_of_the_cube_by_enumeration() {
    for (claim, dimension) in [0.01, 1.0, 5.0].into_iter().flat_map(|claim| (1..=8).map(move |d| (claim, d))) {
        let cube = DuchiLinf::new(epsilon(claim), dimension, 0.7).unwrap();
        let level = cube.epsilon().value();
        assert!(level <= claim && level >= claim - 1e-12, "d = {dimension}: {level} for {claim}");
        let mut inputs = vertices(dimension, 0.7);
        inputs.extend([vec![0.0; dimension], vec![0.3; dimension], vec![9.0; dimension], vec![-0.1, 0.6]]);
        let reports = vertices(dimension, cube.bound());
        check_epsilon_density(&cube, epsilon(claim), inputs.iter().map(Vec::as_slice), &reports).unwrap();
        let ratio = |report: &Vec<f64>| {
            let densities: Vec<f64> = inputs.iter().map(|input| cube.ln_density(report, input)).collect();
            densities.iter().fold(f64::MIN, |a, b| a.max(*b)) - densities.iter().fold(f64::MAX, |a, b| a.min(*b))
        };
        let largest = reports.iter().map(ratio).fold(0.0, f64::max);
        // Logarithms of numbers of size 2^-d in floating point: their rounding and no more.
        assert!((claim - 1e-12..=claim + 1e-14).contains(&largest), "d = {dimension}: {largest} for {claim}");
    }
}

/// The level is at most the claim also where halves are not counted one by one.
#[test]
fn the_level_of_the_cube_in_many_dimensions() {
    for dimension in [59, 60, 61, 62, 64, 1000, 100_000] {
        for claim in [0.01, 1.0, 5.0] {
            let cube = DuchiLinf::new(epsilon(claim), dimension, 1.0).unwrap();
            let level = cube.epsilon().value();
            assert!(level <= claim && level >= claim - 1e-12, "d = {dimension}: {level} for {claim}");
            if dimension <= 1000 {
                // A report at a corner, about that corner and about the opposite one.
                let (plus, minus) = (vec![1.0; dimension], vec![-1.0; dimension]);
                let report = vec![cube.bound(); dimension];
                let inputs = [plus.as_slice(), minus.as_slice()];
                check_epsilon_density(&cube, epsilon(claim), inputs, &[report]).unwrap();
            }
        }
    }
}

/// The claim is used up but for about a unit of the smaller weight.
#[test]
fn the_level_of_the_cube_at_extreme_claims() {
    for (claim, dimension) in
        [1e-6, 1e-3, 0.2, 10.0, 20.0, 30.0].into_iter().flat_map(|c| [1, 2, 9, 60].map(|d| (c, d)))
    {
        let cube = DuchiLinf::new(epsilon(claim), dimension, 1.0).unwrap();
        let (lost, smaller) = (claim - cube.epsilon().value(), cube.weight().wrapping_neg());
        assert!((0.0..=1e-15 + 3.0 / smaller as f64).contains(&lost), "d = {dimension}, ε = {claim}: lost {lost}");
    }
    for dimension in [1, 2, 9, 60, 1000] {
        assert!(DuchiLinf::new(epsilon(1e6), dimension, 1.0).unwrap().epsilon().value() < 44.4);
    }
}

/// For even d a vertex in the middle is in the near half and in no other: with both halves closed it would come from
/// both, and the level of the same weight would be far above the claim.
#[test]
fn two_closed_halves_have_a_larger_level() {
    for (claim, dimension) in [0.01f64, 1.0, 5.0].into_iter().flat_map(|claim| [2, 4, 6, 8].map(|d| (claim, d))) {
        let cube = DuchiLinf::new(epsilon(claim), dimension, 1.0).unwrap();
        let (corners, corner) = (vertices(dimension, 1.0), vec![1.0; dimension]);
        let level = |law: &dyn Fn(f64, &[f64]) -> f64| {
            let law: Vec<f64> = corners
                .iter()
                .map(|report| {
                    let scaled: Vec<f64> = report.iter().map(|z| z * cube.bound()).collect();
                    law(dot(report, &corner), &scaled)
                })
                .collect();
            (law.iter().fold(0.0, |a: f64, b| a.max(*b)) / law.iter().fold(1.0, |a: f64, b| a.min(*b))).ln()
        };
        let found = level(&|_, report| cube.ln_density(&report.to_vec(), &corner).exp());
        assert!((claim - 1e-12..claim + 1e-13).contains(&found), "d = {dimension}: {found} for {claim}");
        // The middle is as likely as the corner itself.
        let middle: Vec<f64> = (0..dimension).map(|j| if j % 2 == 0 { cube.bound() } else { -cube.bound() }).collect();
        let near = cube.ln_density(&vec![cube.bound(); dimension], &corner);
        assert!((cube.ln_density(&middle, &corner) - near).abs() < 1e-13);
        let truth = cube.weight() as f64 / ldp_core::channel::two_64();
        let closed = corners.iter().filter(|report| dot(report, &corner) >= 0.0).count() as f64;
        let mutant = level(&|side, _| {
            let (near, far) = (f64::from(u8::from(side >= 0.0)), f64::from(u8::from(side <= 0.0)));
            (truth * near + (1.0 - truth) * far) / closed
        });
        assert!(mutant > claim.exp().ln_1p(), "d = {dimension}: {mutant} for {claim}");
    }
}

#[test]
fn the_moments_of_the_cube_by_enumeration() {
    for (claim, dimension) in [0.01, 1.0, 5.0].into_iter().flat_map(|claim| (1..=6).map(move |d| (claim, d))) {
        let cube = DuchiLinf::new(epsilon(claim), dimension, 2.0).unwrap();
        for input in [vec![2.0, -2.0, 2.0, 2.0, -2.0, 2.0], vec![0.0; 6], vec![0.3, -1.9, 7.0, f64::NAN, 1.0]] {
            let clipped: Vec<f64> = (0..dimension)
                .map(|j| input.get(j).map_or(0.0, |&x| if x.is_nan() { 0.0 } else { x.clamp(-2.0, 2.0) }))
                .collect();
            let (mut sum, mut mean, mut spread) = (0.0, vec![0.0; dimension], 0.0);
            for report in vertices(dimension, cube.bound()) {
                let p = cube.ln_density(&report, &input).exp();
                sum += p;
                mean.iter_mut().zip(&report).for_each(|(mean, z)| *mean += p * z);
                spread += p * report.iter().zip(&clipped).map(|(z, x)| (z - x).powi(2)).sum::<f64>();
            }
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            for (mean, x) in mean.iter().zip(&clipped) {
                assert!((mean - x).abs() < 1e-12 * cube.bound(), "d = {dimension}, ε = {claim}: {mean} for {x}");
            }
            assert!((spread / cube.total_variance(&input) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_cube_is_sampled_exactly() {
    for (seed, (dimension, level)) in (0..).zip([(1, 1.0), (2, 3.0), (3, 0.5), (3, 2.0), (4, 0.5), (4, 2.0)]) {
        let cube = DuchiLinf::new(epsilon(level), dimension, 1.0).unwrap();
        for (place, input) in (0..).zip([vec![1.0; 4], vec![0.4, -0.9, 0.0, 1.0]]) {
            let mut rng = stream(seed, Purpose::Noise, place, 0);
            let mut counts = vec![0u64; 1 << dimension];
            for _ in 0..200_000 {
                let report = cube.privatize(&input, &mut rng);
                counts[report.iter().rev().fold(0, |bits, z| bits << 1 | usize::from(*z > 0.0))] += 1;
            }
            let reports = vertices(dimension, cube.bound());
            let law = |input: &[f64]| -> Vec<f64> {
                reports.iter().map(|report| cube.ln_density(report, input).exp()).collect()
            };
            let p = goodness_of_fit(&counts, &law(&input));
            assert!(p > ALPHA, "d = {dimension}, ε = {level}: p = {p:e}");
            // A first coordinate rounded by another probability.
            let mutant: Vec<f64> = [&[input[0] - 0.2], &input[1..]].concat();
            assert!(goodness_of_fit(&counts, &law(&mutant)) < ALPHA, "d = {dimension}: the mutant passes");
        }
    }
}

/// The largest |z| of the mean of every coordinate and of the mean squared distance, against `target` and `variance`.
fn moments<Q: UnbiasedVector>(mechanism: &Q, input: &[f64], target: &[f64], variance: f64, seed: u64) -> (f64, f64) {
    const DRAWS: u64 = 200_000;
    let mut rng = stream(seed, Purpose::Noise, 0, 0);
    // Sum and sum of squares of every coordinate's error, and of the squared distance.
    let mut errors = vec![(0.0, 0.0); target.len()];
    let mut distance = (0.0, 0.0);
    for _ in 0..DRAWS {
        let report = mechanism.privatize(input, &mut rng);
        let mut square = -variance;
        for ((z, x), sum) in report.iter().zip(target).zip(&mut errors) {
            let error = z - x;
            *sum = (sum.0 + error, sum.1 + error * error);
            square += error * error;
        }
        distance = (distance.0 + square, distance.1 + square * square);
    }
    let score = |(sum, squares): (f64, f64)| {
        let mean = sum / DRAWS as f64;
        // A squared distance may be constant up to rounding.
        let scale = (squares / DRAWS as f64 - mean * mean).max(0.0).sqrt() + 1e-9 * variance;
        mean.abs() / scale * (DRAWS as f64).sqrt()
    };
    (errors.into_iter().map(score).fold(0.0, f64::max), score(distance))
}

/// P(|N(0, 1)| > LARGEST) = 1e-6.
const LARGEST: f64 = 4.892;

fn check_moments<Q: UnbiasedVector>(mechanism: &Q, input: &[f64], target: &[f64], seed: u64, mutants: bool) {
    let variance = mechanism.total_variance(input);
    let (mean, spread) = moments(mechanism, input, target, variance, seed);
    let dimension = target.len();
    assert!(mean < LARGEST && spread < LARGEST, "d = {dimension}, seed {seed}: z = {mean} and {spread}");
    if mutants {
        let wrong: Vec<f64> = target.iter().map(|x| 1.1 * x).collect();
        assert!(moments(mechanism, input, &wrong, variance, seed).0 > LARGEST, "d = {dimension}: a bias passes");
        assert!(
            moments(mechanism, input, target, 1.15 * variance, seed).1 > LARGEST,
            "d = {dimension}: a variance passes"
        );
    }
}

/// A vector of length two, in no special position.
fn slanted(dimension: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..dimension).map(|j| (1.0 + j as f64).sin()).collect();
    let norm = dot(&raw, &raw).sqrt();
    raw.iter().map(|x| 2.0 * x / norm).collect()
}

#[test]
fn unit_vectors_come_back_without_bias() {
    for (seed, level) in (0..).zip([0.2, 1.0, 4.0]) {
        for dimension in [1, 2, 3, 5, 20] {
            let input = slanted(dimension);
            let target: Vec<f64> = input.iter().map(|x| x / 2.0).collect();
            let unit = PrivUnitG::new(epsilon(level), dimension).unwrap();
            check_moments(&unit, &input, &target, seed, level == 4.0);
        }
    }
}

#[test]
fn projected_unit_vectors_come_back_without_bias() {
    for (seed, level) in (10..).zip([0.2, 1.0, 4.0]) {
        for (dimension, projection) in [(1, 1), (2, 1), (3, 2), (5, 5), (5, 2), (20, 4)] {
            let input = slanted(dimension);
            let target: Vec<f64> = input.iter().map(|x| x / 2.0).collect();
            let unit = ProjUnit::new(epsilon(level), dimension, projection).unwrap();
            check_moments(&unit, &input, &target, seed, level == 4.0);
            let (d, k) = (dimension as f64, projection as f64);
            let square = unit.inner().scale().powi(2) * (k - 1.0 + unit.inner().second_moment());
            let expected = d / k * square / unit.kappa().powi(2) - 1.0;
            assert!((unit.total_variance(&input) / expected - 1.0).abs() < 1e-13);
        }
    }
}

#[test]
fn vectors_in_a_ball_come_back_without_bias() {
    for (seed, level) in (20..).zip([0.2, 1.0, 4.0]) {
        for dimension in [1, 2, 3, 5, 20] {
            let input = slanted(dimension);
            // Inside the ball, and on its surface after projection.
            let inside = DuchiL2::new(epsilon(level), dimension, 3.0).unwrap();
            check_moments(&inside, &input, &input, seed, level == 4.0);
            let outside = DuchiL2::new(epsilon(level), dimension, 0.5).unwrap();
            let projected: Vec<f64> = input.iter().map(|x| x / 4.0).collect();
            check_moments(&outside, &input, &projected, seed + 10, level == 4.0);
        }
    }
}

/// How many of these values of a cdf lie in each fortieth: uniform, if it is their cdf.
fn uniform_p(values: impl Iterator<Item = f64>) -> f64 {
    let mut counts = [0u64; 40];
    values.for_each(|u| counts[((u * 40.0) as usize).min(39)] += 1);
    goodness_of_fit(&counts, &[1.0 / 40.0; 40])
}

#[test]
fn the_component_of_a_unit_vector_follows_its_law() {
    for (seed, level) in (30..).zip([1e-3, 0.2, 1.0, 4.0, 30.0]) {
        for dimension in [1, 2, 3] {
            let unit = PrivUnitG::new(epsilon(level), dimension).unwrap();
            let input = slanted(dimension);
            let direction: Vec<f64> = input.iter().map(|x| x / 2.0).collect();
            let mut rng = stream(seed, Purpose::Noise, 0, 0);
            let reports: Vec<Vec<f64>> = (0..100_000).map(|_| unit.privatize(&input, &mut rng)).collect();
            let threshold = unit.threshold();
            let cdf = |p: f64, a: f64| {
                if a < threshold {
                    (1.0 - p) * normal::cdf(a) / normal::cdf(threshold)
                } else {
                    1.0 - p * normal::sf(a) / normal::sf(threshold)
                }
            };
            let components = || reports.iter().map(|report| dot(report, &direction) / unit.scale());
            let p = uniform_p(components().map(|a| cdf(unit.probability(), a)));
            assert!(p > ALPHA, "ε = {level}, d = {dimension}: p = {p:e}");
            let mutant = uniform_p(components().map(|a| cdf(unit.probability() * 0.96, a)));
            assert!(mutant < ALPHA, "ε = {level}: the mutant passes");
            if dimension > 1 {
                // Perpendicular to the direction: the first two coordinates turned, the rest zero.
                let norm = direction[0].hypot(direction[1]);
                let across = [direction[1] / norm, -direction[0] / norm];
                let sides = || reports.iter().map(|report| dot(report, &across) / unit.scale());
                let p = uniform_p(sides().map(normal::cdf));
                assert!(p > ALPHA, "ε = {level}, d = {dimension}: p = {p:e} across");
                assert!(uniform_p(sides().map(|z| normal::cdf(1.05 * z))) < ALPHA);
            }
        }
    }
}

#[test]
fn the_sphere_is_cut_in_two_halves() {
    for (seed, (level, length)) in (40..).zip([(0.2, 1.0), (1.0, 0.5), (4.0, 1.0), (4.0, 0.1)]) {
        let ball = DuchiL2::new(epsilon(level), 3, 2.0 / length).unwrap();
        let input = slanted(3);
        let mut rng = stream(seed, Purpose::Noise, 0, 0);
        let draw = |_| dot(&ball.privatize(&input, &mut rng), &input) / (2.0 * ball.bound());
        // In three dimensions the height on a sphere is uniform, so within each half too.
        let heights: Vec<f64> = (0..100_000).map(draw).collect();
        let cdf = |forward: f64, t: f64| if t < 0.0 { (1.0 - forward) * (1.0 + t) } else { 1.0 - forward * (1.0 - t) };
        let forward = 0.5 + length * (0.5 - ball.lie());
        let p = uniform_p(heights.iter().map(|&t| cdf(forward, t)));
        assert!(p > ALPHA, "ε = {level}: p = {p:e}");
        assert!(uniform_p(heights.iter().map(|&t| cdf(0.97 * forward, t))) < ALPHA, "the mutant passes");
        assert!(uniform_p(heights.iter().map(|&t| cdf(forward, 0.97 * t))) < ALPHA, "the mutant passes");
    }
}

#[test]
fn levels_of_densities() {
    for claim in [1e-3, 0.2, 1.0, 4.0, 30.0] {
        for dimension in [1, 2, 5] {
            let one: Vec<f64> = (0..dimension).map(|j| if j == 0 { 1.0 } else { 0.0 }).collect();
            let other: Vec<f64> = one.iter().map(|x| -x).collect();
            let slanted = slanted(dimension);
            let inputs = [one.as_slice(), &other, &slanted];
            let unit = PrivUnitG::new(epsilon(claim), dimension).unwrap();
            // One side of the threshold for an input, the other for its opposite.
            let far: Vec<f64> = one.iter().map(|x| x * unit.scale() * (unit.threshold() + 1.0)).collect();
            check_epsilon_density(&unit, epsilon(claim), inputs, &[far, vec![0.1; dimension]]).unwrap();
            let ball = DuchiL2::new(epsilon(claim), dimension, 1.0).unwrap();
            let pole: Vec<f64> = one.iter().map(|x| x * ball.bound()).collect();
            check_epsilon_density(&ball, epsilon(claim), inputs, &[pole]).unwrap();
            // A smaller claim is refused.
            let refused = check_epsilon_density(&unit, epsilon(0.999 * claim), inputs, &[vec![0.1; dimension]]);
            assert_eq!(refused.unwrap_err().law, "epsilon within the claim");
        }
    }
}

#[test]
fn densities_add_to_one() {
    for level in [0.2, 1.0, 4.0] {
        let unit = PrivUnitG::new(epsilon(level), 1).unwrap();
        let (s, cut) = (unit.scale(), unit.scale() * unit.threshold());
        // Simpson on both sides of the jump, the middle of the last cell a hair inside.
        let integral = |low: f64, high: f64| {
            let (cells, width) = (4000, (high - low) / 4000.0);
            let q = |z: f64| unit.ln_density(&vec![z.clamp(low, high)], &[3.0]).exp();
            let cell = |i: i32| {
                let left = low + f64::from(i) * width;
                width / 6.0 * (q(left) + 4.0 * q(left + width / 2.0) + q(left + width))
            };
            (0..cells).map(cell).sum::<f64>()
        };
        let sum = integral(-12.0 * s, cut.next_down().next_down()) + integral(cut.next_up(), 12.0 * s);
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        // On the sphere, a half has uniform measure ½.
        let ball = DuchiL2::new(epsilon(level), 2, 1.0).unwrap();
        let halves = [ball.bound(), -ball.bound()].map(|z| ball.ln_density(&vec![z, 0.0], &[0.3, 0.4]).exp());
        assert!((halves.iter().sum::<f64>() / 2.0 - 1.0).abs() < 1e-15);
        for impossible in [vec![ball.bound()], vec![0.0, 0.0], vec![f64::NAN, ball.bound()], vec![f64::INFINITY; 2]] {
            assert_eq!(ball.ln_density(&impossible, &[0.3]), f64::NEG_INFINITY, "{impossible:?}");
        }
        assert_eq!(unit.ln_density(&vec![f64::NAN], &[1.0]), f64::NEG_INFINITY);
    }
}

/// Same seed, same reports: another sign here is value-breaking.
#[test]
fn pinned_reports() {
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    let cube = DuchiLinf::new(epsilon(1.0), 8, 1.0).unwrap();
    let signs = |report: Vec<f64>| report.iter().fold(0, |bits, z| bits << 1 | u32::from(*z > 0.0));
    let reports: [u32; 4] = std::array::from_fn(|_| signs(cube.privatize(&[0.5, -0.5, 1.0, 0.0], &mut rng)));
    assert_eq!(reports, [225, 197, 63, 203]);
}
