//! Variances at large ε, where what is left of them is the difference of numbers close to one.
//!
//! Values from the integer weights, with 60 digits.

use ldp_core::{Epsilon, Unbiased, UnbiasedVector};
use ldp_mechanisms::{Duchi, DuchiL2, DuchiLinf, Range, SubsetSelection};

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found:e} for {expected:e}");
}

/// The level, the weight of a lie, 1/τ² − 1 and 1/τ² − 1/4.
const BITS: [(f64, u64, f64, f64); 3] = [
    (30.0, 1_726_177, 3.743_049_706_990_072e-13, 0.750_000_000_000_374_3),
    (35.0, 11_631, 2.522_071_093_635_785e-15, 0.750_000_000_000_002_6),
    (40.0, 79, 1.713_039_432_527_097e-17, 0.75),
];

#[test]
fn one_bit() {
    for (level, lie, end, half) in BITS {
        let epsilon = Epsilon::new(level).unwrap();
        let duchi = Duchi::new(epsilon, Range::new(-3.0, 3.0).unwrap()).unwrap();
        assert_eq!(duchi.lie(), lie);
        for (x, expected) in [(3.0, end), (-3.0, end), (7.0, end), (1.5, half), (-1.5, half)] {
            close(duchi.variance(x), 9.0 * expected);
        }
        // What a difference of squares leaves: noise.
        assert!(((1.0 / duchi.tau().powi(2) - 1.0) / end - 1.0).abs() > 1e-5);
        let cube = DuchiLinf::new(epsilon, 1, 3.0).unwrap();
        assert_eq!(cube.weight().wrapping_neg(), lie);
        for (x, expected) in [(3.0, end), (-7.0, end), (1.5, half)] {
            close(cube.total_variance(&[x]), 9.0 * expected);
        }
    }
}

#[test]
fn one_direction() {
    // Lies of 2^-43, 2^-50 and 2^-58: levels of 29.8, 34.7 and 40.2.
    for (lie, end) in [
        ("1.1368683772161603e-13", 4.547_473_508_866_192e-13),
        ("8.881784197001252e-16", 3.552_713_678_800_510_4e-15),
        ("3.469446951953614e-18", 1.387_778_780_781_445_7e-17),
    ] {
        let json = format!(r#"{{"dimension":1,"radius":3.0,"lie":{lie}}}"#);
        let ball: DuchiL2 = serde_json::from_str(&json).unwrap();
        close(ball.total_variance(&[3.0]), 9.0 * end);
        close(ball.total_variance(&[-8.0]), 9.0 * end);
        close(ball.total_variance(&[1.5]), 9.0 * (0.75 + end));
    }
    // In more dimensions nothing cancels: B²/ρ² is (π/2)² and more.
    let ball = DuchiL2::new(Epsilon::new(35.0).unwrap(), 2, 1.0).unwrap();
    close(ball.total_variance(&[1.0, 0.0]), std::f64::consts::FRAC_PI_2.powi(2) - 1.0);
}

#[test]
fn subsets() {
    // ε, d, k, the weight, and the variance at frequencies 0, 1/4 and 1.
    for (level, categories, size, weight, variances) in [
        (
            30.0,
            10,
            1,
            18_446_744_073_694_016_025,
            [9.357_623_062_820_11e-14, 0.187_500_000_000_280_72, 8.421_860_756_531_794e-13],
        ),
        (
            30.0,
            10,
            9,
            18_446_744_073_709_359_818,
            [8.000_000_000_001_59, 6.187_500_000_001_403, 8.421_886_235_275_842e-13],
        ),
        (
            30.0,
            5,
            2,
            18_446_744_073_706_962_350,
            [0.333_333_333_333_520_5, 0.437_500_000_000_202_7, 2.495_366_953_194_463_4e-13],
        ),
        (
            35.0,
            10,
            1,
            18_446_744_073_709_446_938,
            [6.305_117_500_635_5e-16, 0.187_500_000_000_001_9, 5.674_605_750_571_921e-15],
        ),
        (
            35.0,
            10,
            9,
            18_446_744_073_709_550_323,
            [8.000_000_000_000_01, 6.187_500_000_000_01, 5.677_587_306_546_224e-15],
        ),
        (
            35.0,
            5,
            2,
            18_446_744_073_709_534_169,
            [0.333_333_333_333_334_6, 0.437_500_000_000_001_4, 1.681_428_915_853_745_7e-15],
        ),
        (40.0, 10, 1, 18_446_744_073_709_550_910, [4.252_481_854_304_257e-18, 0.187_5, 3.827_233_668_873_831e-17]),
        (40.0, 10, 9, 18_446_744_073_709_551_607, [8.0, 6.187_5, 3.951_916_918_709_664e-17]),
        (40.0, 5, 2, 18_446_744_073_709_551_498, [1.0 / 3.0, 0.437_5, 1.137_207_612_029_24e-17]),
    ] {
        let subsets = SubsetSelection::with_size(Epsilon::new(level).unwrap(), categories, size).unwrap();
        assert_eq!(subsets.weight(), weight, "ε = {level}, d = {categories}, k = {size}");
        for (frequency, variance) in [0.0, 0.25, 1.0].into_iter().zip(variances) {
            close(subsets.variance(frequency), variance);
        }
    }
}
