//! The linear program of all mechanisms on finitely many cells: every optimum is proved, report by report.

use ldp_core::special::normal;
use ldp_core::{Epsilon, Error};
use ldp_fisher::optimal::{Cells, Program};
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// A random family: masses within a factor of fifty, scores with or without outliers, ties and zeros.
fn family(k: usize, rng: &mut SimulationRng) -> Cells {
    let masses: Vec<f64> = (0..k).map(|_| rng.random_range(0.02..1.0)).collect();
    let total: f64 = masses.iter().sum();
    let masses: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
    let kind = rng.random_range(0..3);
    let score = |_| match kind {
        0 => rng.random_range(-2.0..2.0),
        1 => normal::quantile(rng.random_range(1e-6..1.0)).powi(3),
        _ => f64::from(rng.random_range(-2..3)),
    };
    let scores: Vec<f64> = (0..k).map(score).collect();
    let mean: f64 = masses.iter().zip(&scores).map(|(mass, score)| mass * score).sum();
    let slopes = masses.iter().zip(&scores).map(|(mass, score)| mass * (score - mean)).collect();
    Cells::new(masses, slopes).unwrap_or_else(|_| family(k, rng))
}

/// A standard normal in k equally likely cells.
fn gaussian(k: usize) -> Cells {
    let density = |i: usize| if i.is_multiple_of(k) { 0.0 } else { normal::pdf(normal::quantile(i as f64 / k as f64)) };
    Cells::new(vec![1.0 / k as f64; k], (0..k).map(|j| density(j) - density(j + 1)).collect()).unwrap()
}

/// That the mechanism is ε-private, has the information claimed, and that its prices cover every report: then nothing is
/// better than the sum of the prices, by weak duality, whatever found them.
fn prove(cells: &Cells, program: &Program) {
    let (k, factor) = (cells.len(), program.epsilon.value().exp());
    let matrix = program.matrix();
    let mut information = 0.0;
    for row in &matrix {
        let (least, most) = row.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
        assert!(least > 0.0 && most <= least * factor * (1.0 + 1e-14));
        let sum = |numbers: &[f64]| row.iter().zip(numbers).map(|(x, y)| x * y).sum::<f64>();
        information += sum(cells.slopes()).powi(2) / sum(cells.masses());
    }
    for j in 0..k {
        let total: f64 = matrix.iter().map(|row| row[j]).sum();
        assert!((total - 1.0).abs() < 1e-11, "{total}");
    }
    assert!((information - program.information).abs() <= 1e-12 * information);
    let bound: f64 = program.prices.iter().sum();
    assert!((bound - program.upper_bound).abs() <= 1e-14 * bound);
    // Feasible but for rounding, which is relative to the worth of a report: up to E times the information.
    let rounding = 1e-12 * factor * bound;
    if k <= 14 {
        for set in 0u32..1 << k {
            let (mut price, mut mass, mut slope) = (0.0, 0.0, 0.0);
            for j in 0..k {
                let x = if set >> j & 1 == 1 { factor } else { 1.0 };
                (price, mass, slope) =
                    (price + x * program.prices[j], mass + x * cells.masses()[j], slope + x * cells.slopes()[j]);
            }
            assert!(price >= slope * slope / mass - rounding, "report {set} of {k} cells is undervalued");
        }
    }
    assert!(cells.price(program.epsilon, &program.prices).unwrap().violation <= rounding);
    assert!((bound - information).abs() <= 1e-9 * information, "{information} {bound}");
}

#[test]
fn optima_are_proved_report_by_report() {
    let mut rng = stream(1, Purpose::Data, 0, 0);
    for k in 2..=14usize {
        for _ in 0..[40, 10, 2][k.saturating_sub(8).div_ceil(3)] {
            let cells = family(k, &mut rng);
            for level in [0.2, 1.0, 2.5, 4.0] {
                prove(&cells, &cells.program(epsilon(level)).unwrap());
            }
        }
    }
}

#[test]
fn many_cells_and_extreme_levels() {
    let mut rng = stream(2, Purpose::Data, 0, 0);
    for level in [0.001, 0.01, 0.1, 1.0, 3.0, 6.0, 10.0, 15.0, 20.0] {
        for k in [2, 7, 12, 16, 17, 33, 60] {
            let cells = family(k, &mut rng);
            prove(&cells, &cells.program(epsilon(level)).unwrap());
        }
        let cells = gaussian(60);
        let program = cells.program(epsilon(level)).unwrap();
        prove(&cells, &program);
        // The sign of 60 cells is that of the value: optimal where it is for the Gaussian.
        if level <= 1.0 {
            let sign = std::f64::consts::FRAC_2_PI * epsilon(level).tau().powi(2);
            assert!((program.information - sign).abs() < 1e-9 * sign);
        }
    }
}

/// The best randomised response on intervals of the score, over all ways to cut them, and its number of reports.
fn intervals(cells: &Cells, level: f64) -> (f64, u32) {
    let (order, growth, k) = (cells.by_score(), level.exp_m1(), cells.len());
    let mut best = (0.0, 0);
    for cuts in 1u32..1 << (k - 1) {
        let (mut sum, mut mass, mut slope) = (0.0, 0.0, 0.0);
        for (i, &j) in order.iter().enumerate() {
            (mass, slope) = (mass + cells.masses()[j], slope + cells.slopes()[j]);
            if i + 1 == k || cuts >> i & 1 == 1 {
                sum += slope * slope / (1.0 + growth * mass);
                (mass, slope) = (0.0, 0.0);
            }
        }
        let reports = cuts.count_ones() + 1;
        let information = growth * growth / (growth + f64::from(reports)) * sum;
        if information > best.0 {
            best = (information, reports);
        }
    }
    best
}

#[test]
fn responses_on_score_intervals_were_never_beaten() {
    let mut rng = stream(3, Purpose::Data, 0, 0);
    let mut seen = [0; 10];
    for _ in 0..100 {
        let cells = family(rng.random_range(2..=9), &mut rng);
        for level in [0.2, 1.0, 2.5, 4.0, 6.0] {
            let program = cells.program(epsilon(level)).unwrap();
            let (best, reports) = intervals(&cells, level);
            seen[reports as usize] += 1;
            // An observation, not a theorem: a family that fails here would be worth a paper.
            let gap = program.information - best;
            assert!(gap.abs() <= 1e-9 * best, "ε = {level}: {} instead of {best} for {cells:?}", program.information);
        }
    }
    assert!(seen[2..=5].iter().all(|&count| count > 9), "the families are too much alike: {seen:?}");
}

#[test]
fn a_price_lowered_by_a_hundredth_is_found_out() {
    let mut rng = stream(4, Purpose::Data, 0, 0);
    for k in [2, 5, 10, 40] {
        let cells = family(k, &mut rng);
        let program = cells.program(epsilon(2.0)).unwrap();
        for j in 0..k {
            let mut prices = program.prices.clone();
            let less = 0.01 * prices[j].abs();
            prices[j] -= less;
            // Some report in use costs what it is worth, and has at least one unit of every cell.
            let violation = cells.price(epsilon(2.0), &prices).unwrap().violation;
            assert!(violation >= less - 1e-9 * program.information, "cell {j} of {k}: {violation} {less}");
        }
    }
}

#[test]
fn the_unit_of_the_parameter_does_not_matter() {
    let cells = gaussian(20);
    let one = cells.program(epsilon(3.0)).unwrap();
    for unit in [1e-100, 1e-6, 1e6, 1e100] {
        let slopes = cells.slopes().iter().map(|slope| slope * unit).collect();
        let other = Cells::new(cells.masses().to_vec(), slopes).unwrap().program(epsilon(3.0)).unwrap();
        assert!((other.information / unit / unit - one.information).abs() < 1e-10, "{unit}");
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let coin = Cells::new(vec![0.5, 0.5], vec![-0.5, 0.5]).unwrap();
    for level in [1e-4, 20.1, 800.0] {
        let refused = coin.program(epsilon(level)).unwrap_err();
        assert!(
            matches!(refused, Error::Parameter { name: "epsilon of a linear program", value, .. } if value == level)
        );
    }
    let many = gaussian(2001).program(epsilon(1.0)).unwrap_err();
    assert_eq!(many.to_string(), "cells must be at most 2000, got 2001");
}

#[test]
fn certified_groups_agree_with_the_program() {
    let mut rng = stream(5, Purpose::Data, 0, 0);
    for k in [2, 3, 9, 14, 40, 90] {
        for level in [0.05, 0.5, 1.5, 3.0, 6.0] {
            let cells = family(k, &mut rng);
            let (best, program) = (cells.certify(epsilon(level)).unwrap(), cells.program(epsilon(level)).unwrap());
            let scale = program.upper_bound;
            assert!((best.grouping.information / scale - 1.0).abs() < 1e-8, "{k} {level}");
            assert!((best.upper_bound / scale - 1.0).abs() < 1e-8, "{k} {level}: {} {scale}", best.upper_bound);
            // The labels have the information that is claimed for them.
            let groups = |numbers: &[f64], z: u32| -> f64 {
                numbers.iter().zip(&best.grouping.labels).filter(|pair| *pair.1 == z).map(|pair| pair.0).sum()
            };
            let growth = level.exp_m1();
            let sum: f64 = (0..best.grouping.reports)
                .map(|z| groups(cells.slopes(), z).powi(2) / (1.0 + growth * groups(cells.masses(), z)))
                .sum();
            let claimed = growth * growth / (growth + f64::from(best.grouping.reports)) * sum;
            assert!((claimed / best.grouping.information - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn many_cells_are_certified_to_a_millionth() {
    let mut rng = stream(6, Purpose::Data, 0, 0);
    for (k, level) in [(200, 1.0), (400, 2.0), (1000, 3.0), (1000, 5.0), (400, 8.0)] {
        for cells in [gaussian(k), family(k, &mut rng)] {
            let best = cells.certify(epsilon(level)).unwrap();
            let gap = best.relative_gap();
            assert!((-1e-12..1e-6).contains(&gap), "{k} cells at ε {level}: {gap:e}");
            let rounding = 1e-12 * level.exp() * best.upper_bound;
            assert!(cells.price(epsilon(level), &best.prices).unwrap().violation <= rounding);
        }
    }
    assert!(matches!(gaussian(40_000).certify(epsilon(1.0)), Err(Error::TooMany { name: "cells", .. })));
    assert!(matches!(gaussian(4).certify(epsilon(31.0)), Err(Error::Parameter { name: "epsilon", .. })));
}
