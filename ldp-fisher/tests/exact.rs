//! `exact` against closed forms and 20-digit values, and the laws of Fisher information on random channels.

use ldp_core::model::{Cdf, Gaussian, Laplace, Logistic, Poisson, Score};
use ldp_core::{AsChannel, Cuts, Dense, Epsilon, FiniteChannel, Kernel, Partition, Publish, Rescale};
use ldp_fisher::{Method, exact};
use ldp_mechanisms::{IntervalResponse, Residue, Sign};
use proptest::prelude::*;
use serde_json::Value;
use std::f64::consts::FRAC_2_PI;

fn level(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).unwrap()
}

fn gaussian(sigma: f64) -> Gaussian {
    Gaussian::new(sigma).unwrap()
}

#[test]
fn reference_values_within_the_stated_error() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/reference.json")).unwrap();
    let cases: Vec<_> = cases.iter().filter(|case| case["mechanism"] == "response").collect();
    assert_eq!(cases.len(), 30);
    for case in cases {
        let number = |name: &str| case[name].as_f64().unwrap();
        let cuts = case["cuts"].as_array().unwrap().iter().map(|cut| cut.as_f64().unwrap()).collect();
        let response = IntervalResponse::new(level(number("epsilon")), cuts).unwrap();
        let expected: f64 = case["information"].as_str().unwrap().parse().unwrap();
        let found = exact(&response, &gaussian(number("sigma")), number("theta")).unwrap();
        assert_eq!(found.method, Method::Exact);
        assert!((found.value - expected).abs() <= found.error, "{case}: {found:?}");
        // The bound says something: twelve digits, unless a report is so rare that a mass of 1e-16 counts.
        let digits = if expected > 1e-30 { 1e-12 } else { 1e-8 };
        assert!(found.error <= digits * found.value, "{case}: {found:?}");
    }
}

#[test]
fn the_sign_at_the_mean_has_its_closed_form() {
    for (epsilon, digits) in [(1e-3, 1e-11), (0.1, 1e-14), (1.0, 1e-14), (3.0, 1e-14), (20.0, 1e-14)] {
        let sign = Sign::new(level(epsilon), 0.7).unwrap();
        let found = exact(&sign.publish(), &gaussian(2.0), 0.7).unwrap();
        let expected = FRAC_2_PI * (epsilon / 2.0).tanh().powi(2) / 4.0;
        assert!((found.value / expected - 1.0).abs() < digits, "ε = {epsilon}: {found:?} for {expected}");
    }
    let sign = Sign::new(level(1.0), 0.0).unwrap();
    let found = exact(&sign.publish(), &gaussian(1.0), 0.5).unwrap();
    assert!((found.value - 0.109_301_830_750_078_5).abs() < 1e-15, "{found:?}");
}

#[test]
fn the_sign_of_a_laplace_variable_loses_nothing_but_privacy() {
    let model = Laplace::new(0.5).unwrap();
    for epsilon in [0.01, 1.0, 4.0] {
        let found = exact(&Sign::new(level(epsilon), 3.0).unwrap().publish(), &model, 3.0).unwrap();
        let expected = 4.0 * (epsilon / 2.0).tanh().powi(2);
        assert!((found.value / expected - 1.0).abs() < 1e-12);
    }
}

#[test]
fn fine_cells_without_noise_have_the_information_of_the_value() {
    let cuts: Vec<f64> = (-4000..=4000).map(|k| f64::from(k) / 500.0).collect();
    for (model, whole) in [(&gaussian(1.0) as &dyn Cdf, 1.0), (&Logistic::new(1.0).unwrap(), 1.0 / 3.0)] {
        // The grid loses a share of its width squared, over twelve.
        let found = exact(&IntervalResponse::new(level(44.0), cuts.clone()).unwrap(), model, 0.3).unwrap().value;
        assert!(found < whole && found > whole * (1.0 - 1e-5) - 1e-3 * f64::from(u8::from(whole < 0.5)), "{found}");
    }
}

#[test]
fn unions_of_intervals_residues_and_counts() {
    // A residue is a response on unions of intervals.
    let residue = Residue::new(level(1.0), 0.25, 1.0, 4).unwrap();
    let channel = residue.as_channel();
    let Partition::Periodic { origin, width, cells } = *channel.partition() else { panic!("a residue is periodic") };
    let cuts: Vec<f64> = (-40..=40).map(|k| origin + f64::from(k) * width).collect();
    let labels = (-41..=40).map(|k: i32| k.rem_euclid(cells as i32) as u32).collect();
    let partition = Partition::Cuts(Cuts::labelled(cuts, labels).unwrap());
    let by_hand = FiniteChannel::new(partition, channel.kernel().clone()).unwrap();
    let (a, b) = (exact(&residue, &gaussian(1.0), 0.3).unwrap(), exact(&by_hand, &gaussian(1.0), 0.3).unwrap());
    assert!((a.value - b.value).abs() <= a.error + b.error && a.error < 1e-12, "{a:?} {b:?}");
    // P(X = 0) = e^{-θ}: with τ and the two probabilities by hand.
    let (theta, tau): (f64, f64) = (1.5, 0.5f64.tanh());
    let p = (-theta).exp();
    let m = 0.5 + tau * (p - 0.5);
    let found = exact(&Sign::new(level(1.0), 0.5).unwrap().publish(), &Poisson, theta).unwrap();
    assert!((found.value - (tau * p).powi(2) / (m * (1.0 - m))).abs() <= found.error, "{found:?}");
}

#[test]
fn what_is_no_parameter_is_refused() {
    let sign = Sign::new(level(1.0), 0.0).unwrap().publish();
    for theta in [f64::NAN, f64::INFINITY] {
        assert!(matches!(exact(&sign, &gaussian(1.0), theta), Err(ldp_core::Error::Parameter { name: "theta", .. })));
    }
    // A report that no longer depends on θ has no information, which is not an error.
    assert_eq!(exact(&sign, &gaussian(1.0), 1e9).unwrap().value, 0.0);
}

/// Columns of integers that add up to 2⁶⁴, proportional to these shares.
fn columns(shares: &[Vec<f64>]) -> Vec<Vec<u64>> {
    let column = |shares: &Vec<f64>| {
        let sum: f64 = shares.iter().sum();
        let mut column: Vec<u64> =
            shares[1..].iter().map(|share| ((share / sum) * 2f64.powi(64)) as u64).map(|w| w.max(1)).collect();
        column.insert(0, column.iter().sum::<u64>().wrapping_neg());
        column
    };
    shares.iter().map(column).collect()
}

fn channel(cuts: &[f64], columns: Vec<Vec<u64>>) -> FiniteChannel {
    let partition = Partition::Cuts(Cuts::new(cuts.to_vec()).unwrap());
    FiniteChannel::new(partition, Kernel::Dense(Dense::new(columns).unwrap())).unwrap()
}

/// Probabilities of a channel, a row per cell.
fn table(channel: &FiniteChannel, reports: u32) -> Vec<Vec<f64>> {
    let row = |cell| (0..reports).map(|report| channel.weight(cell, report) as f64 / 2f64.powi(64)).collect();
    (0..channel.cells()).map(row).collect()
}

prop_compose! {
    /// Five cells and two tables of four reports.
    fn channels()(
        gaps in prop::collection::vec(0.05..1.5f64, 4),
        start in -3.0..0.0f64,
        first in prop::collection::vec(prop::collection::vec(0.05..1.0f64, 4), 5),
        second in prop::collection::vec(prop::collection::vec(0.05..1.0f64, 4), 5),
    ) -> (Vec<f64>, Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let cuts = gaps.iter().scan(start, |at, gap| { *at += gap; Some(*at) }).collect();
        (cuts, first, second)
    }
}

proptest! {
    #[test]
    fn no_channel_tells_more_than_the_value((cuts, shares, _) in channels(), theta in -2.0..2.0f64) {
        for (model, whole) in [
            (&gaussian(1.0) as &dyn Cdf, gaussian(1.0).information(theta)),
            (&Logistic::new(0.5).unwrap(), Logistic::new(0.5).unwrap().information(theta)),
        ] {
            let found = exact(&channel(&cuts, columns(&shares)), model, theta).unwrap();
            prop_assert!(found.value >= 0.0 && found.value <= whole && found.error < 1e-11);
        }
    }

    #[test]
    fn processing_a_report_tells_less(
        (cuts, shares, after) in channels(), theta in -2.0..2.0f64,
    ) {
        let before = channel(&cuts, columns(&shares));
        let second: Vec<Vec<f64>> =
            after[..4].iter().map(|row| row.iter().map(|w| w / row.iter().sum::<f64>()).collect()).collect();
        let mixed: Vec<Vec<f64>> = table(&before, 4)
            .iter()
            .map(|row| (0..4).map(|z| row.iter().zip(&second).map(|(p, to)| p * to[z]).sum()).collect())
            .collect();
        let (before, after) = (
            exact(&before, &gaussian(1.0), theta).unwrap(),
            exact(&channel(&cuts, columns(&mixed)), &gaussian(1.0), theta).unwrap(),
        );
        prop_assert!(after.value <= before.value + 1e-14);
    }

    #[test]
    fn information_is_convex_in_the_channel(
        (cuts, first, second) in channels(), theta in -2.0..2.0f64, share in 0.0..1.0f64,
    ) {
        let (a, b) = (channel(&cuts, columns(&first)), channel(&cuts, columns(&second)));
        let (rows, others) = (table(&a, 4), table(&b, 4));
        let mix: Vec<Vec<f64>> = rows.iter().zip(&others).map(|(p, q)| {
            p.iter().zip(q).map(|(p, q)| share * p + (1.0 - share) * q).collect()
        }).collect();
        let value = |channel: &FiniteChannel| exact(channel, &gaussian(1.0), theta).unwrap().value;
        let chord = share * value(&a) + (1.0 - share) * value(&b);
        prop_assert!(value(&channel(&cuts, columns(&mix))) <= chord + 1e-14);
    }

    #[test]
    fn information_scales_with_the_unit((cuts, shares, _) in channels(), theta in -2.0..2.0f64, sigma in 1e-3..1e3f64) {
        let one = channel(&cuts, columns(&shares));
        let scaled = one.clone().rescale(sigma).unwrap();
        let (one, scaled) = (exact(&one, &gaussian(1.0), theta).unwrap(),
                             exact(&scaled, &gaussian(sigma), theta * sigma).unwrap());
        let error = one.error + scaled.error * sigma * sigma;
        prop_assert!((scaled.value * sigma * sigma - one.value).abs() <= error.max(1e-12 * one.value));
    }

    #[test]
    fn two_independent_reports_add_up((cuts, first, second) in channels(), theta in -2.0..2.0f64) {
        // Both about the same value: not additive. About two independent values: the sum over pairs is.
        let (a, b) = (channel(&cuts, columns(&first)), channel(&cuts, columns(&second)));
        let law = |channel: &FiniteChannel| -> (Vec<f64>, Vec<f64>) {
            let mut cells = vec![0.0; 5];
            channel.partition().masses(&gaussian(1.0), theta, &mut cells);
            let rows = table(channel, 4);
            let m = (0..4).map(|z| rows.iter().zip(&cells).map(|(row, p)| row[z] * p).sum()).collect();
            channel.partition().masses_dtheta(&gaussian(1.0), theta, &mut cells);
            (m, (0..4).map(|z| rows.iter().zip(&cells).map(|(row, d)| row[z] * d).sum()).collect())
        };
        let ((m, d), (n, e)) = (law(&a), law(&b));
        let pair = |i: usize, j: usize| (d[i] * n[j] + m[i] * e[j]).powi(2) / (m[i] * n[j]);
        let both: f64 = (0..16).map(|k| pair(k / 4, k % 4)).sum();
        let sum = exact(&a, &gaussian(1.0), theta).unwrap().value + exact(&b, &gaussian(1.0), theta).unwrap().value;
        prop_assert!((both - sum).abs() < 1e-13);
    }

    #[test]
    fn digits_survive_a_small_epsilon(log_epsilon in -13.0..0.0f64, theta in -2.0..2.0f64) {
        // The dense form of a response has the same weights, and the same information.
        let response = IntervalResponse::new(level(log_epsilon.exp()), vec![-0.5, 0.25, 1.0]).unwrap();
        let channel = response.as_channel();
        let columns = (0..4).map(|cell| (0..4).map(|report| channel.weight(cell, report)).collect()).collect();
        let dense = FiniteChannel::new(channel.partition().clone(), Kernel::Dense(Dense::new(columns).unwrap())).unwrap();
        let (a, b) = (exact(channel, &gaussian(1.0), theta).unwrap(), exact(&dense, &gaussian(1.0), theta).unwrap());
        prop_assert!((a.value - b.value).abs() <= a.error + b.error);
        prop_assert!(a.error < 1e-12 * a.value && b.error < 1e-12 * b.value);
    }
}
