//! The information matrix against one parameter at a time, closed forms and random channels.

use ldp_core::model::{Categorical, Gaussian, GaussianMeanScale, GaussianScale};
use ldp_core::{Cuts, Dense, Epsilon, Error, FiniteChannel, Kernel, Partition};
use ldp_fisher::{InformationMatrix, exact, matrix};
use ldp_mechanisms::{IntervalResponse, RandomizedResponse};
use proptest::prelude::*;

fn level(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn response(epsilon: f64, cuts: &[f64]) -> IntervalResponse {
    IntervalResponse::new(level(epsilon), cuts.to_vec()).unwrap()
}

#[test]
fn the_diagonal_is_that_of_one_parameter() {
    for (epsilon, cuts) in [(0.01, vec![-0.7, 0.2, 1.5]), (2.0, vec![-3.0, -1.0, 0.5, 0.6]), (8.0, vec![0.3])] {
        let channel = response(epsilon, &cuts);
        let found = matrix(&channel, &GaussianMeanScale, &[0.0, 1.5]).unwrap();
        let mean = exact(&channel, &Gaussian::new(1.5).unwrap(), 0.0).unwrap();
        let scale = exact(&channel, &GaussianScale, 1.5).unwrap();
        assert!((found.get(0, 0) / mean.value - 1.0).abs() < 1e-12, "{found:?} {mean:?}");
        assert!((found.get(1, 1) / scale.value - 1.0).abs() < 1e-12, "{found:?} {scale:?}");
        assert_eq!(found.trace(), found.get(0, 0) + found.get(1, 1));
    }
}

#[test]
fn symmetric_cells_do_not_mix_mean_and_scale() {
    let theta = [0.4, 2.0];
    let symmetric = matrix(&response(1.0, &[-2.6, -0.6, 1.4, 3.4]), &GaussianMeanScale, &theta).unwrap();
    assert!(symmetric.get(0, 1).abs() < 1e-16 && symmetric.get(0, 0) > 0.01);
    assert!((symmetric.efficient(0) / symmetric.get(0, 0) - 1.0).abs() < 1e-14);
    let lopsided = matrix(&response(1.0, &[-2.6, 1.4, 3.4]), &GaussianMeanScale, &theta).unwrap();
    assert!(lopsided.get(0, 1).abs() > 1e-3 && lopsided.efficient(0) < 0.999 * lopsided.get(0, 0));
}

#[test]
fn one_bit_cannot_tell_two_parameters() {
    // Two reports have one free probability: rank one.
    let found = matrix(&response(1.0, &[1.0]), &GaussianMeanScale, &[0.0, 1.0]).unwrap();
    assert!(found.get(0, 0) > 0.01 && found.get(1, 1) > 0.01);
    assert_eq!((found.efficient(0), found.efficient(1)), (0.0, 0.0));
    // At the mean itself it says nothing about the scale, which then costs nothing.
    let found = matrix(&response(1.0, &[0.0]), &GaussianMeanScale, &[0.0, 1.0]).unwrap();
    assert_eq!((found.efficient(0), found.efficient(1)), (found.get(0, 0), 0.0));
}

#[test]
fn randomised_response_on_categories_has_its_closed_form() {
    for (epsilon, theta) in [(0.01, vec![0.2, 0.5]), (1.0, vec![0.1, 0.2, 0.3]), (5.0, vec![0.25])] {
        let k = theta.len() + 1;
        let model = Categorical::new(k as u32).unwrap();
        let found = matrix(&RandomizedResponse::new(level(epsilon), k as u32).unwrap(), &model, &theta).unwrap();
        // m_z = lie + contrast · p_z, and the last probability is one minus the others.
        let lie = 1.0 / (epsilon.exp() + k as f64 - 1.0);
        let contrast = epsilon.exp_m1() * lie;
        let m = |p: f64| lie + contrast * p;
        let last = contrast * contrast / m(1.0 - theta.iter().sum::<f64>());
        for (i, p) in theta.iter().enumerate() {
            for j in 0..k - 1 {
                let own = if i == j { contrast * contrast / m(*p) } else { 0.0 };
                assert!((found.get(i, j) / (own + last) - 1.0).abs() < 1e-12, "{epsilon} {i} {j}: {found:?}");
            }
        }
        // Sherman and Morrison: with diagonal d and last entry l, (I⁻¹)_ii = 1/d_i − l d_i⁻²/(1 + l Σ 1/d).
        let d: Vec<f64> = theta.iter().map(|p| contrast * contrast / m(*p)).collect();
        let sum: f64 = d.iter().map(|d| d.recip()).sum();
        for (i, d) in d.iter().enumerate() {
            let inverse = d.recip() - last / (d * d * (1.0 + last * sum));
            assert!((found.efficient(i) * inverse - 1.0).abs() < 1e-11, "{epsilon} {i}");
        }
    }
}

#[test]
fn what_is_no_parameter_is_refused() {
    let channel = response(1.0, &[0.0]);
    let found = matrix(&channel, &GaussianMeanScale, &[0.0, -1.0]);
    assert!(matches!(found, Err(Error::Parameter { name: "sigma", .. })));
    assert!(matches!(matrix(&channel, &GaussianMeanScale, &[0.0]), Err(Error::Length { .. })));
}

fn form(matrix: &InformationMatrix, v: [f64; 2]) -> f64 {
    (0..2).flat_map(|i| (0..2).map(move |j| v[i] * v[j] * matrix.get(i, j))).sum()
}

proptest! {
    #[test]
    fn random_channels_are_positive_semidefinite_and_tell_less_than_the_value(
        first in -2.0..0.0f64, gaps in prop::collection::vec(0.05..1.5f64, 2),
        shares in prop::collection::vec(prop::collection::vec(0.05..1.0f64, 3), 4),
        mu in -1.0..1.0f64, sigma in 0.3..3.0f64, turn in 0.0..6.3f64,
    ) {
        let columns = shares.iter().map(|shares| {
            let sum: f64 = shares.iter().sum();
            let (a, b) = ((shares[0] / sum * 2f64.powi(64)) as u64, (shares[1] / sum * 2f64.powi(64)) as u64);
            vec![a, b, (a + b).wrapping_neg()]
        }).collect();
        let cuts = Cuts::new(vec![first, first + gaps[0], first + gaps[0] + gaps[1]]).unwrap();
        let channel =
            FiniteChannel::new(Partition::Cuts(cuts), Kernel::Dense(Dense::new(columns).unwrap())).unwrap();
        let found = matrix(&channel, &GaussianMeanScale, &[mu, sigma]).unwrap();
        let v = [turn.cos(), turn.sin()];
        let whole = (v[0] * v[0] + 2.0 * v[1] * v[1]) / (sigma * sigma);
        prop_assert!(form(&found, v) >= -1e-15 && form(&found, v) <= whole);
        prop_assert_eq!(found.get(0, 1), found.get(1, 0));
        for i in 0..2 {
            let efficient = found.efficient(i);
            let determinant = found.get(0, 0) * found.get(1, 1) - found.get(0, 1).powi(2);
            prop_assert!((0.0..=found.get(i, i)).contains(&efficient));
            prop_assert!((efficient * found.get(1 - i, 1 - i) - determinant).abs() <= 1e-11 * found.get(0, 0) * found.get(1, 1));
        }
    }
}

/// Both tails have the same digits: cells and their mirror image have the same information.
#[test]
fn the_upper_tail_keeps_its_digits() {
    let cells = |cuts| IntervalResponse::new(Epsilon::new(30.0).unwrap(), cuts).unwrap();
    let at = |cuts| matrix(&cells(cuts), &GaussianMeanScale, &[0.0, 1.0]).unwrap().get(0, 0);
    let (above, below) = (at(vec![6.0, 8.0]), at(vec![-8.0, -6.0]));
    assert!((above / below - 1.0).abs() < 1e-12, "{above} {below}");
}
