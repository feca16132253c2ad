//! The number of random words says nothing that the report does not say.
//!
//! What the check catches, in samplers with the right law: words until all bits of a set are decided, k − 1 or k numbers
//! for a set with the true category or without it, and retries until a vertex lies in the half that a coin has chosen.
//! There the count gives away the very coin that hides the input: its ratio is that of the coin, or infinite.

use ldp_core::Epsilon;
use ldp_core::conformance::check_draws_beyond_report;
use ldp_mechanisms::{CategorySet, DuchiLinf, SubsetSelection, UnaryEncoding};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn bits(set: &CategorySet) -> u64 {
    set.members().map(|v| 1 << v).sum()
}

#[test]
fn sets_of_categories() {
    for (seed, level) in (0..).zip([0.2, 1.0, 3.0]) {
        for categories in [2, 3, 5] {
            let inputs: Vec<f64> = (0..categories).map(f64::from).collect();
            let unary = UnaryEncoding::new(epsilon(level), categories).unwrap();
            check_draws_beyond_report(&unary, &inputs, bits, seed).unwrap();
            for size in 1..categories {
                let subsets = SubsetSelection::with_size(epsilon(level), categories, size).unwrap();
                check_draws_beyond_report(&subsets, &inputs, bits, seed).unwrap();
            }
        }
    }
    // Many categories, by whether the true one is in the set.
    let subsets = SubsetSelection::new(epsilon(1.0), 100).unwrap();
    check_draws_beyond_report(&subsets, &[70.0], |set| set.contains(70), 1).unwrap();
}

#[test]
fn vertices_of_a_cube() {
    for (seed, level) in (0..).zip([0.2, 1.0, 3.0]) {
        for dimension in [1, 2, 3, 4, 6] {
            let cube = DuchiLinf::new(epsilon(level), dimension, 1.0).unwrap();
            let inputs: [&[f64]; 3] = [&[1.0; 6], &[-1.0, 1.0, 1.0, -1.0], &[0.3, -0.2, 0.0, 0.9]];
            let signs = |report: &Vec<f64>| report.iter().fold(0, |bits, z| bits << 1 | u32::from(*z > 0.0));
            check_draws_beyond_report(&cube, inputs, signs, seed).unwrap();
        }
    }
}
