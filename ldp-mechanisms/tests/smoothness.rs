//! What quadrature is told about the real mechanisms: where densities jump, and how tails repeat.

use ldp_core::{Epsilon, RealReports};
use ldp_mechanisms::{Hybrid, Laplace, LatticeLaplace, Piecewise, Range, Staircase};

const LEVELS: [f64; 4] = [0.05, 0.7, 2.0, 6.0];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Between neighbouring input breaks x ↦ ln q(z | x) is smooth: its third differences on a fine grid are tiny, though
/// across a break left out they are not. Returns the largest.
fn roughness<Q: RealReports>(mechanism: &Q, low: f64, high: f64, report: f64, breaks: &[f64]) -> f64 {
    let mut ends = vec![low - (high - low)];
    let window = ends[0]..2.0 * high - low;
    ends.extend(breaks.iter().filter(|x| window.contains(x) && **x > window.start));
    ends.push(2.0 * high - low);
    let mut largest = 0.0f64;
    for pair in ends.windows(2) {
        let (from, width) = (pair[0], pair[1] - pair[0]);
        let at = |i: i32| mechanism.ln_density(&report, &(from + width * (f64::from(i) + 0.5) / 400.0));
        for i in 0..397 {
            largest = largest.max((at(i) - 3.0 * at(i + 1) + 3.0 * at(i + 2) - at(i + 3)).abs());
        }
    }
    largest
}

/// At reports all over, with nothing but breaks inside the range and increasing.
fn check<Q: RealReports>(mechanism: &Q, low: f64, high: f64, reports: &[f64], kinked: bool) {
    let mut seen = 0;
    for &report in reports {
        let breaks = mechanism.input_breaks(report, (low, high));
        assert!(breaks.windows(2).all(|pair| pair[0] < pair[1]), "{breaks:?}");
        assert!(breaks.iter().all(|x| (low..=high).contains(x)), "{breaks:?}");
        let told = roughness(mechanism, low, high, report, &breaks);
        assert!(told < 1e-6, "{told} at {report}, {breaks:?}");
        // What is not told is seen: without its breaks the function is rough.
        seen += u32::from(kinked && roughness(mechanism, low, high, report, &[]) > 1e-5);
    }
    assert!(!kinked || seen > 0);
}

#[test]
fn input_breaks_are_all_there_are() {
    let (low, high) = (-3.0, 5.0);
    let range = Range::new(low, high).unwrap();
    let reports: Vec<f64> = (-60..=60).map(|i| f64::from(i) * 0.137 + 0.011).collect();
    for level in LEVELS {
        check(&Laplace::new(epsilon(level), range).unwrap(), low, high, &reports, true);
        check(&Staircase::new(epsilon(level), range).unwrap(), low, high, &reports, true);
        let piecewise = Piecewise::new(epsilon(level), range).unwrap();
        let inside: Vec<f64> = reports.iter().copied().filter(|z| z.abs() < piecewise.bound()).collect();
        check(&piecewise, low, high, &inside, true);
        let hybrid = Hybrid::new(epsilon(level), range).unwrap();
        let atoms = hybrid.atoms();
        if hybrid.alpha() > 0.0 {
            let inner = Piecewise::new(epsilon(level), range).unwrap().bound();
            let inside: Vec<f64> = reports.iter().copied().filter(|z| z.abs() < inner).collect();
            check(&hybrid, low, high, &inside, true);
        }
        for &atom in &atoms {
            assert_eq!(hybrid.input_breaks(atom, (low, high)), [low, high]);
        }
    }
}

/// The breaks of a lattice, with nothing told outside of the window but what lies next to it.
#[test]
fn lattices_break_in_every_period() {
    let lattice = LatticeLaplace::new(epsilon(1.0), 0.3, 0.9).unwrap();
    for report in [-3.0, -0.71, 0.2, 0.95, 4.0] {
        let breaks = lattice.input_breaks(report, (-3.0, 5.0));
        assert!(breaks.windows(2).all(|pair| pair[0] < pair[1]), "{breaks:?}");
        let inside: Vec<f64> = breaks.into_iter().filter(|x| (-10.9..12.9).contains(x)).collect();
        let all = lattice.input_breaks(report, (-11.0, 13.0));
        assert!(roughness(&lattice, -3.0, 5.0, report, &all) < 1e-6);
        assert!(all.len() > inside.len() && roughness(&lattice, -3.0, 5.0, report, &[]) > 1e-3);
    }
    assert!(lattice.input_breaks(0.1, (f64::NEG_INFINITY, f64::INFINITY)).is_empty());
}

/// q(z ± period | x) = e^(−decay) q(z | x) outside of the middle, for values inside and outside of the range.
#[test]
fn tails_repeat_themselves() {
    fn check<Q: RealReports>(mechanism: &Q) {
        let tails = mechanism.tails().unwrap();
        for i in 1..200 {
            let z = tails.from + f64::from(i) * 0.0537 * tails.period;
            for x in [-1e3, -2.9, 0.3, 4.999, 7.0] {
                for side in [-1.0, 1.0] {
                    let here = mechanism.ln_density(&(side * z), &x);
                    let there = mechanism.ln_density(&(side * (z + tails.period)), &x);
                    assert!((here - there - tails.decay).abs() < 1e-9, "{z} {x}");
                }
            }
        }
        // In the middle they do not: from one end to the other the density about a value at that end grows.
        let inside = -0.9 * tails.from;
        let differs = [-2.9, 0.3, 4.999].into_iter().any(|x| {
            let (here, there) = (mechanism.ln_density(&inside, &x), mechanism.ln_density(&(inside + tails.period), &x));
            (here - there - tails.decay).abs() > 1e-3
        });
        assert!(differs);
    }
    let range = Range::new(-3.0, 5.0).unwrap();
    for level in LEVELS {
        check(&Laplace::new(epsilon(level), range).unwrap());
        check(&Staircase::new(epsilon(level), range).unwrap());
        check(&LatticeLaplace::new(epsilon(level), 0.3, 8.0).unwrap());
    }
    assert!(Piecewise::new(epsilon(1.0), range).unwrap().tails().is_none());
}
