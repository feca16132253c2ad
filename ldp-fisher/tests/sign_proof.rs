//! The executable proof of Theorem 1 of Kalinin and Steinberger, and that its checks refuse what is wrong.

use ldp_core::special::normal;
use ldp_core::{Epsilon, Error};
use ldp_fisher::optimal::sign_proof::{
    Face, Refusal, SignInequality, SignProgram, coarse_margin, coarse_until, exact_until,
};
use ldp_fisher::{Optimum, gaussian_mean, sign_optimal_until};
use std::f64::consts::PI;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// β for any t, written again.
fn guess(program: &SignProgram, t: f64, tau: f64) -> Vec<f64> {
    let pairs = program.cells().masses().iter().zip(program.cells().slopes());
    pairs.map(|(mass, slope)| 2.0 * t * tau * slope.abs() - t * t * mass).collect()
}

#[test]
fn cells_are_those_of_the_gaussian() {
    let program = SignProgram::new(10, epsilon(1.0)).unwrap();
    for (j, (&mass, &slope)) in program.cells().masses().iter().zip(program.cells().slopes()).enumerate() {
        let [low, high] = [j, j + 1].map(|i| normal::quantile(i as f64 / 10.0));
        assert!((normal::mass(low, high) - mass).abs() < 1e-15);
        let step = 1e-5;
        let moved = normal::mass(low - step, high - step) - normal::mass(low + step, high + step);
        assert!((moved / (2.0 * step) - slope).abs() < 1e-9, "cell {j}");
    }
}

#[test]
fn both_solutions_have_the_value_of_the_theorem() {
    for level in [0.1, 0.5, 1.0, 1.048] {
        let Optimum::Known { information } = gaussian_mean(epsilon(level), 1.0) else { panic!("known") };
        for cells in [2, 4, 16, 256] {
            let program = SignProgram::new(cells, epsilon(level)).unwrap();
            assert!((program.primal_value() / information - 1.0).abs() < 1e-13, "{cells} cells");
            assert!((program.dual_value() / information - 1.0).abs() < 1e-13, "{cells} cells");
            // The sign itself is one of the constraints, and tight.
            assert!(program.worst().excess.abs() < 1e-13, "{cells} cells");
        }
    }
}

#[test]
fn pricing_finds_what_enumeration_finds() {
    for level in [0.1, 1.0, 1.6, 1.8, 2.2, 4.0] {
        for cells in [2, 4, 8, 14, 16] {
            let program = SignProgram::new(cells, epsilon(level)).unwrap();
            let uneven =
                program.dual().iter().enumerate().map(|(j, beta)| beta * (0.9 + 0.03 * (j % 5) as f64)).collect();
            for program in [program.clone(), program.with_dual(uneven).unwrap()] {
                let (all, priced) = (program.worst_of_all().unwrap().excess, program.worst().excess);
                assert!((all - priced).abs() < 1e-13, "{all} {priced} at {level}, {cells} cells");
            }
        }
    }
}

#[test]
fn wrong_duals_are_refused() {
    for level in [0.1, 1.0] {
        for cells in [2, 12, 64] {
            let program = SignProgram::new(cells, epsilon(level)).unwrap();
            let tau = epsilon(level).tau();
            let t = tau * (2.0 / PI).sqrt();
            let again = program.clone().with_dual(guess(&program, t, tau)).unwrap();
            assert!(again.worst().excess < 1e-14);
            let small = program.dual().iter().map(|beta| 0.999 * beta).collect();
            let mutants = [small, guess(&program, 0.99 * t, tau), guess(&program, 1.01 * t, tau)];
            for mutant in mutants {
                let mutant = program.clone().with_dual(mutant).unwrap();
                assert!(mutant.dual_value() < program.primal_value());
                assert!(mutant.worst().excess > 1e-8, "{}", mutant.worst().excess);
            }
        }
    }
    let program = SignProgram::new(4, epsilon(1.0)).unwrap();
    assert!(matches!(program.clone().with_dual(vec![f64::NAN; 4]), Err(Error::Parameter { .. })));
    assert!(matches!(program.with_dual(vec![0.1; 3]), Err(Error::Length { expected: 4, found: 3, .. })));
}

#[test]
fn bad_numbers_of_cells_are_refused() {
    for cells in [0, 1, 7] {
        let refusal = SignProgram::new(cells, epsilon(1.0)).unwrap_err();
        assert!(matches!(refusal, Error::Parameter { .. }));
        assert_eq!(refusal.to_string(), format!("the number of cells must be even and at least 2, got {cells}"));
    }
    let many = SignProgram::new(18, epsilon(1.0)).unwrap().worst_of_all();
    assert!(matches!(many, Err(Error::TooMany { most: 16, value: 18, .. })));
}

/// Probability, √(2π)·E[|X|; A] right of zero, and the same left of it.
fn halves(set: &[(f64, f64)]) -> [(f64, f64); 2] {
    let height = |x: f64| (-0.5 * x * x).exp();
    let sum = |f: &dyn Fn(f64, f64) -> f64| set.iter().map(|&(low, high)| f(low, high)).sum::<f64>();
    let right = |low: f64, high: f64| (low.max(0.0), high.max(0.0));
    let left = |low: f64, high: f64| right(-high, -low);
    [&right as &dyn Fn(f64, f64) -> (f64, f64), &left].map(|side| {
        let mass = sum(&|low, high| normal::mass(side(low, high).0, side(low, high).1));
        (mass, sum(&|low, high| height(side(low, high).0) - height(side(low, high).1)))
    })
}

/// β·v − μ(v) for the v that is E on a set, from integrals over the set.
fn covered(level: f64, set: &[(f64, f64)]) -> f64 {
    let (gain, tau) = (level.exp_m1(), epsilon(level).tau());
    let t = tau * (2.0 / PI).sqrt();
    let sum = |f: &dyn Fn(f64) -> f64| set.iter().map(|&(low, high)| f(high) - f(low)).sum::<f64>();
    let mass = 1.0 + gain * sum(&normal::cdf);
    let slope = gain * sum(&|x| -normal::pdf(x));
    // ∫|x|φ has the antiderivative sgn(x)(φ(0) − φ(x)).
    let absolute = sum(&|x| x.signum() * (normal::pdf(0.0) - normal::pdf(x)));
    let beta = t * t + gain * (2.0 * t * tau * absolute - t * t * sum(&normal::cdf));
    beta - slope * slope / mass
}

#[test]
fn the_inequality_is_feasibility() {
    // Sets of all shapes, none of them on a face but the last.
    let infinity = f64::INFINITY;
    let sets: [&[(f64, f64)]; 5] = [
        &[(-2.0, -1.0), (0.5, 0.9), (1.3, infinity)],
        &[(-infinity, 0.3)],
        &[(-0.4, 1.1)],
        &[(-infinity, -1.0), (1.0, 2.0)],
        &[(-0.3, 0.0), (0.7, infinity)],
    ];
    for level in [0.2, 1.0, 3.0f64] {
        let p = 1.0 / level.exp_m1();
        for set in sets {
            let [right, left] = halves(set);
            let difference = SignInequality::new(epsilon(level)).difference(right, left);
            // As step 3 has it.
            let [s, sigma] = [right.0 + left.0, right.1 + left.1];
            let sides = (p + s) * (p + sigma - s) - ((p + 0.5) * (right.1 - left.1)).powi(2);
            assert!((difference - sides).abs() < 1e-12 * (1.0 + p * p));
            let tau = epsilon(level).tau();
            let scale = 2.0 / PI * (tau * level.exp_m1()).powi(2) / (1.0 + level.exp_m1() * s);
            assert!((covered(level, set) - scale * difference).abs() < 1e-13);
        }
    }
}

#[test]
fn faces_are_the_least_of_all_sets() {
    // Step 4: whatever the set, one of the two faces, at the set or reflected, is at least as bad.
    let inequality = SignInequality::new(epsilon(1.0));
    for i in 0..20_000u32 {
        let mut cuts: Vec<f64> = (1..=4u32).map(|j| (f64::from(i) * f64::from(j * j).sqrt().exp()).fract()).collect();
        cuts.sort_by(f64::total_cmp);
        let cuts: Vec<f64> = cuts.into_iter().map(normal::quantile).collect();
        let [mut right, mut left] = halves(&[(cuts[0], cuts[1]), (cuts[2], cuts[3])]);
        if right.1 < left.1 {
            (right, left) = (left, right);
        }
        let delta = 0.5 - right.0;
        let place = normal::quantile(0.5 - left.0);
        let least = 1.0 - (-0.5 * place * place).exp();
        let inner = if right.0 >= left.0 {
            inequality.on(Face::Inner, delta, left.0)
        } else {
            inequality.difference((right.0, least), (left.0, least))
        };
        let faces = inequality.on(Face::Outer, delta, left.0).min(inner);
        assert!(inequality.difference(right, left) >= faces - 1e-12, "{cuts:?}");
    }
}

#[test]
fn the_inequality_is_proved_at_and_below_the_theorem() {
    for level in [1e-3, 0.1, 0.5, 1.0, 1.04, 1.048, sign_optimal_until(), 1.5, 1.7, 1.70998] {
        let rectangles = SignInequality::new(epsilon(level)).check();
        assert!(rectangles.as_ref().is_ok_and(|&count| count < 500_000), "{rectangles:?} at {level}");
    }
}

#[test]
fn proved_means_positive_on_a_grid() {
    let inequality = SignInequality::new(epsilon(1.7));
    assert!(inequality.check().is_ok());
    for (i, j) in (0..=200).flat_map(|i| (0..=200).map(move |j| (i, j))) {
        let [delta, b] = [i, j].map(|n| f64::from(n) / 400.0);
        let reaches = |face| match face {
            Face::Outer => normal::pdf(normal::quantile(0.5 - delta)) + normal::pdf(normal::quantile(0.5 - b)),
            Face::Inner => 2.0 * normal::pdf(0.0) * f64::from(u8::from(delta + b <= 0.5)),
        };
        for face in [Face::Outer, Face::Inner] {
            // Only where ξ₊ ≥ ξ₋.
            if reaches(face) >= normal::pdf(0.0) {
                assert!(inequality.on(face, delta, b) >= -1e-15, "{face:?} {delta} {b}");
            }
        }
    }
}

#[test]
fn a_violation_is_one() {
    for level in [1.71, 1.72, 1.9, 2.2, 3.0, 6.0] {
        let Err(Refusal::Violated { set, difference }) = SignInequality::new(epsilon(level)).check() else {
            panic!("refused at {level}");
        };
        assert!(difference < 0.0);
        let direct = covered(level, &set);
        assert!((direct - difference).abs() < 1e-14 + 1e-9 * difference.abs(), "{direct} {difference} at {level}");
    }
    // Fine cells see it too, and see nothing of the kind just below the limit.
    assert!(SignProgram::new(400, epsilon(2.2)).unwrap().worst().excess > 1e-3);
    assert!(SignProgram::new(400, epsilon(1.7)).unwrap().worst().excess < 1e-13);
}

#[test]
fn at_the_limit_itself_nothing_is_claimed() {
    assert_eq!(SignInequality::new(epsilon(exact_until())).check(), Err(Refusal::Undecided));
}

#[test]
fn the_number_of_the_theorem_is_a_consequence() {
    assert!((coarse_until() - sign_optimal_until()).abs() < 1e-12);
    // It is the lower end that binds, at b = 1/(4π).
    assert!(coarse_margin(epsilon(sign_optimal_until()), 0.25 / PI).abs() < 1e-14);
    assert!(coarse_margin(epsilon(sign_optimal_until() + 1e-6), 0.25 / PI) < 0.0);
    // (E − 1)² = π(E + 1), solved.
    let root = 0.5 * (2.0 + PI + (PI * PI + 8.0 * PI).sqrt());
    assert!((exact_until() - root.ln()).abs() < 1e-12);
}

#[test]
fn the_normal_is_accurate_next_to_the_sign() {
    // What the margin of the check relies on: R(b) = πb²(1 + πb²/6 + O(b⁴)).
    for b in (12..30).map(|n| 0.5f64.powi(n)) {
        let place = normal::quantile(0.5 - b);
        let series = PI * b * b * (1.0 + PI * b * b / 6.0);
        assert!((-(-0.5 * place * place).exp_m1() / series - 1.0).abs() < 1e-13, "{b}");
    }
}

#[test]
fn parabolas_lie_below() {
    for i in 1..=1000 {
        let b = f64::from(i) / 2000.0;
        let place = normal::quantile(0.5 - b);
        assert!(-(-0.5 * place * place).exp_m1() >= PI * b * b * (1.0 - 1e-12), "{b}");
    }
}

#[test]
fn the_coarse_upper_end_is_positive() {
    // The polynomial of the proof by hand, at its own limit, wherever ξ₊ ≥ ξ₋.
    let inequality = SignInequality::new(epsilon(sign_optimal_until()));
    for (i, j) in (0..=300).flat_map(|i| (0..=300).map(move |j| (i, j))) {
        let [delta, b] = [i, j].map(|n| f64::from(n) / 600.0);
        if PI * (delta * delta + b * b) <= 1.0 {
            let value = inequality.difference((0.5 - delta, 1.0 - PI * delta * delta), (b, PI * b * b));
            let polar = {
                let (r, angle) = (delta.hypot(b), b.atan2(delta));
                let half = 0.5 / epsilon(sign_optimal_until()).tau();
                let flat = PI * half * half * (2.0 - PI * r * r) - PI * half * (2.0 * angle).cos();
                r * r * (flat + (1.0 - (2.0 * angle).sin()) * (PI * r - 1.0))
            };
            assert!(value >= polar - 1e-14 && polar >= -1e-14, "{delta} {b}: {value} {polar}");
        }
    }
}
