use super::*;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;

/// A random family of k cells; some slopes are zero, some scores equal.
fn family(k: usize, rng: &mut SimulationRng) -> Cells {
    loop {
        let mut masses: Vec<f64> = (0..k).map(|_| rng.random_range(0.01..1.0)).collect();
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|mass| *mass /= total);
        let scores: Vec<f64> =
            (0..k).map(|_| f64::from(rng.random_range(-3..4)) * rng.random_range(0.9..1.1)).collect();
        let mean: f64 = scores.iter().zip(&masses).map(|(score, mass)| score * mass).sum();
        let centre = if rng.random() { mean } else { 0.0 };
        let mut slopes: Vec<f64> = scores.iter().zip(&masses).map(|(score, mass)| (score - centre) * mass).collect();
        let rest: f64 = slopes.iter().sum();
        slopes[0] -= rest;
        if let Ok(cells) = Cells::new(masses, slopes) {
            return cells;
        }
    }
}

fn prices(kind: u32, cells: &Cells, growth: f64, rng: &mut SimulationRng) -> Vec<f64> {
    let scale = cells.information() * growth.min(1.0).powi(2) / cells.len() as f64;
    let draw = |_| match kind % 6 {
        0 => 0.0,
        1 => scale,
        2 => rng.random_range(-1.0..1.0) * scale,
        // Ties, and parabolas that touch zero.
        3 => f64::from(rng.random_range(-1..3)) * scale,
        4 => rng.random_range(0.0..20.0) * scale,
        _ => -scale * rng.random_range(0.0..1.0),
    };
    (0..cells.len()).map(draw).collect()
}

/// The largest μ(v) − v·β, by trying all reports, and the numbers it is a difference of.
fn exhaustive(cells: &Cells, growth: f64, beta: &[f64]) -> (f64, f64) {
    let mut best = (f64::NEG_INFINITY, 0.0);
    for set in 0u32..1 << cells.len() {
        let factor = |j: usize| if set >> j & 1 == 1 { 1.0 + growth } else { 1.0 };
        let sum = |numbers: &[f64]| numbers.iter().enumerate().map(|(j, x)| factor(j) * x).sum::<f64>();
        let worth = sum(cells.slopes()).powi(2) / sum(cells.masses());
        let size: f64 = beta.iter().enumerate().map(|(j, x)| factor(j) * x.abs()).sum();
        let violation = worth - sum(beta);
        if violation > best.0 {
            best = (violation, worth + size);
        }
    }
    best
}

#[test]
fn pricing_agrees_with_all_reports() {
    let mut rng = stream(1, Purpose::Data, 0, 0);
    for round in 0..600 {
        let cells = family(rng.random_range(2..if round % 20 == 0 { 13 } else { 9 }), &mut rng);
        for level in [0.01, 0.5, 2.0, 10.0] {
            let growth = f64::exp_m1(level);
            let beta = prices(round, &cells, growth, &mut rng);
            let priced = cells.price(Epsilon::new(level).unwrap(), &beta).unwrap();
            let (best, size) = exhaustive(&cells, growth, &beta);
            let tolerance = 1e-13 * size + f64::MIN_POSITIVE;
            assert!((priced.violation - best).abs() <= tolerance, "{round} {level}: {} {best}", priced.violation);
        }
    }
}

#[test]
fn every_local_maximum_is_found_once() {
    let mut rng = stream(2, Purpose::Data, 0, 0);
    let (mut sweep, mut peaks, mut most) = (Sweep::default(), Vec::new(), 0);
    for round in 0..200 {
        let cells = family(rng.random_range(2..12), &mut rng);
        let growth = [0.1, 3.0, 50.0][round as usize % 3];
        let beta = prices(round, &cells, growth, &mut rng);
        let g = |t: f64| {
            let c = (0..cells.len()).map(|j| t * (2.0 * cells.slopes()[j] - t * cells.masses()[j]) - beta[j]);
            c.map(|c| c + growth * c.max(0.0)).sum::<f64>()
        };
        let best = sweep.highest(cells.masses(), cells.slopes(), &beta, growth).unwrap();
        sweep.maxima(cells.masses(), cells.slopes(), &beta, growth, &mut peaks);
        most = most.max(peaks.len());
        assert!(peaks.windows(2).all(|pair| pair[0].t < pair[1].t));
        let step = 1e-3;
        let grid: Vec<f64> = (-6000..=6000).map(|i| g(f64::from(i) * step)).collect();
        let mut found = 0;
        for i in 1..grid.len() - 1 {
            if grid[i] > grid[i - 1] && grid[i] >= grid[i + 1] {
                let t = (i as f64 - 6000.0) * step;
                assert!(peaks.iter().any(|peak| (peak.t - t).abs() <= step), "{round}: a maximum near {t}");
                found += 1;
            }
        }
        assert!(found > 0);
        for peak in &peaks {
            assert!((g(peak.t) - peak.value).abs() <= 1e-12 * (1.0 + growth));
            assert!(peak.value <= best.value + 1e-13 * (1.0 + growth));
            // A slope of 1e-6 would show. At t = 0 a price of zero has a root, and the rounding of Σy decides on which
            // side of it the vertex is.
            let (near, rounding) = (1e-7, 1e-14 * (1.0 + growth));
            let around = g(peak.t - near).max(g(peak.t + near));
            assert!(peak.value >= around - rounding || peak.t.abs() < 1e-15, "{round}");
        }
    }
    assert!(most > 3, "the cases are too easy: never more than {most} maxima");
}

#[test]
fn bad_prices_are_refused() {
    let cells = Cells::new(vec![0.5, 0.5], vec![-0.5, 0.5]).unwrap();
    let level = |value| Epsilon::new(value).unwrap();
    assert!(matches!(cells.price(level(1.0), &[0.1]), Err(Error::Length { expected: 2, found: 1, .. })));
    assert!(matches!(cells.price(level(1.0), &[0.1, f64::NAN]), Err(Error::Parameter { name: "price", .. })));
    assert!(matches!(cells.price(level(1000.0), &[0.1, 0.1]), Err(Error::Parameter { name: "epsilon", .. })));
}
