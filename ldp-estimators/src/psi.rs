//! The mean direction of a Gaussian vector, and its inverse.
//!
//! For $X \sim N(\delta, I_d)$ with $\rho = \lVert\delta\rVert$ the mean of $X/\lVert X\rVert$ is
//! $\psi_d(\rho)\delta/\rho$,
//!
//! $$\psi_d(\rho) = \kappa_d \rho \cdot {}_1F_1\Bigl(\tfrac12; \tfrac d2 + 1; -\tfrac{\rho^2}{2}\Bigr)
//!   = \frac{\rho}{\sqrt2} E\Bigl[\frac{\Gamma(\frac{d+1}{2} + K)}{\Gamma(\frac d2 + 1 + K)}\Bigr],\qquad
//!   K \sim \mathrm{Poisson}(\rho^2/2).$$
//!
//! The second form, Kummer's transformation, has positive terms: nothing cancels at any ρ. On the line it is
//! $2\Phi(\rho) - 1$.
//!
//! ```
//! use ldp_estimators::psi;
//! assert!((psi::mean_length(1, 1.0) - 0.682_689_492_137_085_9).abs() < 1e-15);
//! let distance = psi::distance(3, psi::mean_length(3, 0.7)).unwrap();
//! assert!((distance - 0.7).abs() < 1e-12);
//! // No Gaussian vector has a mean direction of length one.
//! assert_eq!(psi::distance(3, 1.0), None);
//! ```

use std::f64::consts::SQRT_2;

/// $\psi_d(\rho)$, from 0 at ρ = 0 increasing to 1. Relative accuracy 1e-13, `dimension` ≥ 1, `distance` ≥ 0.
#[must_use]
pub fn mean_length(dimension: usize, distance: f64) -> f64 {
    with_slope(dimension, distance).0
}

/// $\kappa_d = \sqrt2 \Gamma(\frac{d+1}{2})/(d\Gamma(\frac d2))$, the slope of $\psi_d$ at zero and its largest one.
///
/// ```
/// use ldp_estimators::psi;
/// assert!((psi::slope_at_zero(1) - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-15);
/// ```
#[must_use]
pub fn slope_at_zero(dimension: usize) -> f64 {
    inverse_ratio(dimension as f64 / 2.0 + 0.5) / SQRT_2
}

/// The ρ with $\psi_d(\rho)$ = `mean_length`, which is not negative; `None` if there is none: from 1 on, and so close
/// to it that ρ is beyond $10^8\sqrt d$.
#[must_use]
pub fn distance(dimension: usize, mean_length: f64) -> Option<f64> {
    if !(0.0..1.0).contains(&mean_length) {
        return None;
    }
    // ψ(ρ) ≤ κρ, so the root is not below the first guess.
    let mut low = mean_length / slope_at_zero(dimension);
    let mut high = low.max(1.0);
    while with_slope(dimension, high).0 < mean_length {
        low = high;
        high *= 2.0;
        if high > 1e8 * (dimension as f64).sqrt() {
            return None;
        }
    }
    // ψ is concave: from the left Newton's steps do not pass the root, except by rounding.
    let mut at = low;
    for _ in 0..100 {
        let (value, slope) = with_slope(dimension, at);
        if value < mean_length {
            low = at
        } else {
            high = at
        }
        let newton = at + (mean_length - value) / slope;
        let next = if newton >= low && newton <= high { newton } else { low + (high - low) / 2.0 };
        if (next - at).abs() <= 1e-15 * next {
            return Some(next);
        }
        at = next;
    }
    Some(at)
}

/// $\psi_d$ and its derivative.
pub(crate) fn with_slope(dimension: usize, distance: f64) -> (f64, f64) {
    let d = dimension as f64;
    let z = distance * distance / 2.0;
    if z >= f64::max(1000.0, 20.0 * d) { far(d, distance, z) } else { near(d, distance, z) }
}

/// The mean over a Poisson variable, from its mode outwards. Dividing by the sum of the weights spares their
/// normalising constant, which would cost digits at large z.
fn near(d: f64, distance: f64, z: f64) -> (f64, f64) {
    let mode = z.floor();
    let middle = (d + 1.0) / 2.0 + mode;
    let first = inverse_ratio(middle);
    let (mut weights, mut value, mut slope) = (0.0, 0.0, 0.0);
    // At x = (d+1)/2 + k the term of ψ is Γ(x)/Γ(x+½), and that of its derivative is (1 − z/(x+½)) times as large.
    let mut add = |weight: f64, term: f64, x: f64| {
        weights += weight;
        value += weight * term;
        slope += weight * term * (1.0 - z / (x + 0.5));
    };
    let (mut weight, mut term, mut k, mut x) = (1.0, first, mode, middle);
    while weight > 1e-18 {
        add(weight, term, x);
        term *= x / (x + 0.5);
        (k, x) = (k + 1.0, x + 1.0);
        weight *= z / k;
    }
    (weight, term, k, x) = (1.0, first, mode, middle);
    while k > 0.0 && weight > 1e-18 {
        weight *= k / z;
        (k, x) = (k - 1.0, x - 1.0);
        term *= (x + 0.5) / x;
        add(weight, term, x);
    }
    (distance / SQRT_2 * (value / weights), slope / weights / SQRT_2)
}

/// The expansion $\sum_k (\frac12)_k (\frac{1-d}{2})_k / (k! z^k)$; from z = 20 d on its terms fall by 40 each, and
/// what it leaves out is of the order of $e^{-z}$.
fn far(d: f64, distance: f64, z: f64) -> (f64, f64) {
    let (mut value, mut slope, mut term) = (1.0, 0.0, 1.0);
    for k in (0..14).map(f64::from) {
        term *= (0.5 + k) * ((1.0 - d) / 2.0 + k) / ((k + 1.0) * z);
        value += term;
        slope -= (k + 1.0) * term;
    }
    // d/dρ of z^(-k) is −k z^(-k) · 2/ρ.
    (value, slope * 2.0 / distance)
}

/// $\Gamma(x)/\Gamma(x + 1/2)$ to about 1e-15 relative, x ≥ ½: stepped up to where Tricomi and Erdélyi's expansion is
/// exact to rounding.
fn inverse_ratio(mut x: f64) -> f64 {
    let mut steps = 1.0;
    while x < 60.0 {
        steps *= (x + 0.5) / x;
        x += 1.0;
    }
    let series = [-1.0 / 8.0, 1.0 / 128.0, 5.0 / 1024.0, -21.0 / 32_768.0, -399.0 / 262_144.0, 869.0 / 4_194_304.0];
    let sum = series.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) / x);
    steps / (x.sqrt() * (1.0 + sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::special::normal;

    const DISTANCES: [f64; 9] = [1e-8, 1e-3, 0.1, 0.5, 1.0, 2.5, 7.0, 20.0, 50.0];

    /// From the first form with 60 digits (mpmath).
    const TABLE: [(usize, [f64; 9]); 7] = [
        (
            1,
            [
                7.978845608028653e-9,
                0.0007978844278221252,
                0.07965567455405796,
                0.3829249225480262,
                0.6826894921370859,
                0.9875806693484477,
                0.9999999999974404,
                1.0,
                1.0,
            ],
        ),
        (
            2,
            [
                6.266570686577501e-9,
                0.0006266569903256264,
                0.06258747254545399,
                0.3038352052634791,
                0.5571794683822479,
                0.9047827852438964,
                0.9896309420965558,
                0.9987476414387684,
                0.9997999399398947,
            ],
        ),
        (
            3,
            [
                5.319230405352436e-9,
                0.0005319229873429452,
                0.05313916868849698,
                0.2594865394131193,
                0.4839414490382867,
                0.8435904026475509,
                0.9795918367347964,
                0.9975,
                0.9996,
            ],
        ),
        (
            5,
            [
                4.255384324281949e-9,
                0.0004255384020325951,
                0.04252347295099555,
                0.20904744683989748,
                0.3974960861975984,
                0.7546928235682298,
                0.9604331528529697,
                0.99501875,
                0.99920048,
            ],
        ),
        (
            20,
            [
                2.2083025622736223e-9,
                0.00022083025120849293,
                0.022078008321170683,
                0.10979263170270333,
                0.21596335203543826,
                0.48640805601150106,
                0.8461741417403811,
                0.9769840304630999,
                0.9962192835391548,
            ],
        ),
        (
            100,
            [
                9.97503163955105e-10,
                9.975031590653838e-5,
                0.0099745427026715,
                0.0498141466592589,
                0.09926484299845877,
                0.2420638557440143,
                0.5734407532753621,
                0.8950546560893394,
                0.9807585093564858,
            ],
        ),
        (
            1000,
            [
                3.161487189698008e-10,
                3.1614871881204196e-5,
                0.003161471413931675,
                0.01580546433116546,
                0.03159910778782038,
                0.07879182648282596,
                0.21608332987636347,
                0.5345087591301926,
                0.8452232567570054,
            ],
        ),
    ];

    #[test]
    fn values_agree_with_the_hypergeometric_function() {
        for (dimension, row) in TABLE {
            for (distance, expected) in DISTANCES.into_iter().zip(row) {
                let found = mean_length(dimension, distance);
                assert!((found / expected - 1.0).abs() < 1e-13, "d = {dimension}, ρ = {distance}: {found}");
            }
            // The slope at zero 3 % off would not pass.
            assert!((slope_at_zero(dimension) * 1e-8 / row[0] - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn on_the_line_it_is_the_mean_sign() {
        for i in 0..400 {
            let distance = f64::from(i) * 0.25;
            let expected = normal::mass(-distance, distance);
            assert!((mean_length(1, distance) - expected).abs() < 1e-14, "{distance}");
        }
    }

    #[test]
    fn slopes_are_derivatives() {
        for (dimension, distance, expected) in [
            (1, 0.5, 0.7041306535285989),
            (2, 3.0, 0.0477608708289267),
            (5, 0.7, 0.383746160533678),
            (20, 50.0, 0.00015046115780461023),
            (1000, 10.0, 0.027409887245940047),
        ] {
            let slope = with_slope(dimension, distance).1;
            assert!((slope / expected - 1.0).abs() < 1e-10, "d = {dimension}, ρ = {distance}: {slope}");
        }
        for dimension in [2, 3, 7, 40, 3000] {
            // On both sides of the change of form.
            let change = f64::max(2000.0, 40.0 * dimension as f64).sqrt();
            let (below, above) = (with_slope(dimension, change * (1.0 - 1e-12)), with_slope(dimension, change));
            assert!((below.0 - above.0).abs() < 1e-13, "{dimension}: {below:?} {above:?}");
            assert!((below.1 / above.1 - 1.0).abs() < 1e-6, "{dimension}: {below:?} {above:?}");
        }
    }

    #[test]
    fn inversion_returns_the_distance() {
        for dimension in [1, 2, 3, 5, 20, 100, 1000, 1 << 24] {
            for distance in [0.0, 1e-12, 1e-3, 0.3, 1.0, 2.0, 5.0, 40.0, 3000.0] {
                let (value, slope) = with_slope(dimension, distance);
                // Where ψ is flat the distance is known as well as ψ is.
                let known = 1e-12 * distance + 2e-15 / slope.max(1e-300);
                match super::distance(dimension, value) {
                    Some(found) => assert!((found - distance).abs() <= known, "{dimension}: {found} for {distance}"),
                    None => assert!(known > 0.1, "{dimension}: none for {distance}"),
                }
            }
            for beyond in [1.0, 1.5, f64::INFINITY, f64::NAN, -0.1] {
                assert_eq!(super::distance(dimension, beyond), None);
            }
            assert!(super::distance(dimension, 1.0f64.next_down()).is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn it_increases_and_stays_below_its_tangent() {
        for dimension in [1, 2, 4, 33] {
            let values: Vec<f64> = (0..2000).map(|i| mean_length(dimension, f64::from(i) / 20.0)).collect();
            assert!(values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-14 && pair[1] <= 1.0 + 1e-14));
            let kappa = slope_at_zero(dimension);
            assert!((1..2000).all(|i| values[i] <= kappa * i as f64 / 20.0));
        }
    }
}
