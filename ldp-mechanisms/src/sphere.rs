//! What the vector mechanisms share: reading an input of any shape, directions, and a ratio of gamma functions.

use ldp_core::channel::two_64;
use ldp_core::steady::mask;
use ldp_core::{Error, Result, error::require};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// The most coordinates of a vector: a question from the wire must not make a client run out of memory.
pub(crate) const MOST_COORDINATES: u64 = 1 << 24;

/// A dimension from 1 to [`MOST_COORDINATES`].
pub(crate) fn check_dimension(dimension: usize) -> Result<()> {
    match dimension as u64 {
        0 => Err(Error::TooFew { name: "dimension", least: 1, value: 0 }),
        value if value > MOST_COORDINATES => Err(Error::TooMany { name: "dimension", most: MOST_COORDINATES, value }),
        _ => Ok(()),
    }
}

/// A radius whose square is a normal number, with room for noise and many coordinates.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    require((1e-150..=1e150).contains(&radius), "radius", "between 1e-150 and 1e150", radius)
}

/// Reports of this size whose squared length is a number; at 1e150 a small ε makes more of them.
pub(crate) fn check_square(dimension: usize, bound: f64, radius: f64) -> Result<()> {
    let square = dimension as f64 * bound.powi(2);
    require(square.is_finite(), "radius", "so small that squares of reports are finite", radius)
}

/// Exactly `dimension` coordinates: a missing one or one that is not a number is zero, further ones are not looked at.
pub(crate) fn coordinates(input: &[f64], dimension: usize) -> impl Iterator<Item = f64> + '_ {
    (0..dimension).map(|j| input.get(j).map_or(0.0, |&x| or_zero(x)))
}

/// Zero for what is not a number: in the same time for all.
#[inline]
pub(crate) fn or_zero(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & mask(!x.is_nan()))
}

/// Length and direction of an input. The zero vector has the direction of the first axis; infinite coordinates
/// outweigh all finite ones and count alike.
pub(crate) fn polar(input: &[f64], dimension: usize) -> (f64, Vec<f64>) {
    let largest = coordinates(input, dimension).fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 {
        let mut axis = vec![0.0; dimension];
        axis[0] = 1.0;
        return (0.0, axis);
    }
    // Squares of the coordinates themselves could overflow, or vanish.
    let scaled = |x: f64| match largest {
        f64::INFINITY if x.is_infinite() => x.signum(),
        f64::INFINITY => 0.0,
        _ => x / largest,
    };
    let mut direction: Vec<f64> = coordinates(input, dimension).map(scaled).collect();
    let norm = normalise(&mut direction);
    (largest * norm, direction)
}

/// Divides a vector by its Euclidean norm, and returns the norm. A zero vector stays.
pub(crate) fn normalise(vector: &mut [f64]) -> f64 {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    norm
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `vector` + `factor` · `other`, in place.
pub(crate) fn add_scaled(vector: &mut [f64], factor: f64, other: &[f64]) {
    vector.iter_mut().zip(other).for_each(|(x, y)| *x += factor * y);
}

/// A standard Gaussian vector.
pub(crate) fn gaussian<R: Rng + ?Sized>(dimension: usize, rng: &mut R) -> Vec<f64> {
    (0..dimension).map(|_| StandardNormal.sample(rng)).collect()
}

/// A uniform direction. Redrawing a zero vector depends on the noise alone.
pub(crate) fn uniform_direction<R: Rng + ?Sized>(dimension: usize, rng: &mut R) -> Vec<f64> {
    loop {
        let mut vector = gaussian(dimension, rng);
        if normalise(&mut vector) > 0.0 {
            return vector;
        }
    }
}

/// True with probability p, from one word, to 2⁻⁶⁴.
pub(crate) fn coin<R: Rng + ?Sized>(p: f64, rng: &mut R) -> bool {
    let word = rng.next_u64() as f64;
    // The rarer side is compared: close to 2⁶⁴ a word has lost its last digits.
    if p <= 0.5 { word < p * two_64() } else { word >= (1.0 - p) * two_64() }
}

/// A uniform number strictly between 0 and 1, from one word.
pub(crate) fn open_unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    const WIDTH: f64 = 1.0 / (1u64 << 52) as f64;
    ((rng.next_u64() >> 12) as f64 + 0.5) * WIDTH
}

/// $\Gamma(x + 1/2)/\Gamma(x)$ for x > 0, to about 2e-15 relative.
///
/// A difference of two logarithms of size x ln x has no digits left at x = 10⁶. From 40 on it is Tricomi and Erdélyi's
/// expansion, whose first term left out is 2e-17; below, the recursion up to there.
pub(crate) fn gamma_ratio(x: f64) -> f64 {
    let (mut x, mut factor) = (x, 1.0);
    while x < 40.0 {
        factor *= x / (x + 0.5);
        x += 1.0;
    }
    let series = [
        -1.0 / 8.0,
        1.0 / 128.0,
        5.0 / 1024.0,
        -21.0 / 32_768.0,
        -399.0 / 262_144.0,
        869.0 / 4_194_304.0,
        39_325.0 / 33_554_432.0,
    ];
    let sum = series.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) / x);
    factor * x.sqrt() * (1.0 + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_ratios_agree_with_products() {
        assert!((gamma_ratio(0.5) * std::f64::consts::PI.sqrt() - 1.0).abs() < 3e-15);
        // Γ(m + ½)/Γ(m) = √π · m · Π (j − ½)/j over j = 1..m; and the ratios at x and x + ½ have the product x.
        let mut product = std::f64::consts::PI.sqrt();
        for m in 1..5000 {
            let x = f64::from(m);
            product *= (x - 0.5) / x;
            assert!((gamma_ratio(x) / (product * x) - 1.0).abs() < 3e-13, "{x}");
            let identity = gamma_ratio(x) * gamma_ratio(x + 0.5) / x;
            assert!((identity - 1.0).abs() < 1e-13, "{x}: {identity}");
        }
    }

    #[test]
    fn any_input_has_a_direction() {
        let (large, tiny) = (f64::MAX, 5e-324);
        for (input, expected) in [
            (vec![], [1.0, 0.0]),
            (vec![0.0, -0.0], [1.0, 0.0]),
            (vec![f64::NAN, -3.0], [0.0, -1.0]),
            (vec![3.0, 4.0, f64::NAN], [0.6, 0.8]),
            (vec![large, -large], [0.5f64.sqrt(), -0.5f64.sqrt()]),
            (vec![tiny, 0.0], [1.0, 0.0]),
            (vec![f64::NEG_INFINITY, 7.0], [-1.0, 0.0]),
            (vec![f64::INFINITY, f64::NEG_INFINITY], [0.5f64.sqrt(), -0.5f64.sqrt()]),
        ] {
            let (_, direction) = polar(&input, 2);
            assert!(direction.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{input:?}: {direction:?}");
        }
        assert_eq!(polar(&[3.0, 4.0], 2).0, 5.0);
        assert_eq!(polar(&[f64::INFINITY], 2).0, f64::INFINITY);
    }
}
