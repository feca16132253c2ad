//! Averages over an interval.

/// Weights and places of Gauss and Legendre's rule of five points on [0, 1]: exact for polynomials up to degree nine.
pub(super) const GAUSS: [(f64, f64); 5] = [
    (0.118_463_442_528_094_54, 0.046_910_077_030_668),
    (0.239_314_335_249_683_23, 0.230_765_344_947_158_45),
    (0.284_444_444_444_444_44, 0.5),
    (0.239_314_335_249_683_23, 0.769_234_655_052_841_5),
    (0.118_463_442_528_094_54, 0.953_089_922_969_332),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_up_to_degree_nine_are_exact() {
        let mean = |power: i32| GAUSS.iter().map(|(weight, place)| weight * place.powi(power)).sum::<f64>();
        for power in 0..10 {
            assert!((mean(power) * f64::from(power + 1) - 1.0).abs() < 1e-14, "{power}: {}", mean(power));
        }
        assert!((mean(10) * 11.0 - 1.0).abs() > 1e-6);
    }
}
