//! Vectors in a cube, through one half of its vertices.

use crate::bernoulli::{complement, largest_weight, level};
use crate::sphere::{check_dimension, check_radius, check_square, coordinates, gamma_ratio};
use ldp_core::channel::two_64;
use ldp_core::steady::{Divisor, choose, mask};
use ldp_core::{Density, Epsilon, Error, Mechanism, Numerics, Result, UnbiasedVector, json};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Up to this dimension the vertices of a half are counted as they are.
const COUNTED: usize = 60;

/// Duchi, Jordan and Wainwright's mechanism for the cube $[-\rho, \rho]^d$.
///
/// Every coordinate is rounded to a sign $\tilde x_j = \pm1$, plus with probability $\frac12 + x_j/2\rho$. The report
/// is a vertex $v \in \lbrace -B, B\rbrace^d$, a factor $e^\varepsilon$ likelier if it agrees with $\tilde x$ in at
/// least half of the coordinates:
///
/// $$q(v \mid \tilde x) = \frac{e^\varepsilon}{N}\ \text{if}\ \langle v, \tilde x\rangle \ge 0,\quad
///   \frac1N\ \text{else,}\qquad N = (e^\varepsilon - 1)C + 2^d,$$
///
/// where C vertices agree with a given one in at least half of the coordinates: $2^{d-1}$ for odd d,
/// $2^{d-1} + \frac12\binom{d}{d/2}$ for even d.
///
/// $$B = \rho\frac{e^\varepsilon+1}{e^\varepsilon-1} \cdot \frac{2^{d-1}}{\binom{d-1}{(d-1)/2}}\ \text{(odd d)},\qquad
///   B = \rho\frac{2^d + C(e^\varepsilon-1)}{\binom{d-1}{d/2}(e^\varepsilon-1)}\ \text{(even d)}$$
///
/// - ε: of the ratio $W(2^d - C)/((2^{64} - W)C)$, in integers, with $W/2^{64}$ the probability of the near half; never
///   above the claim, and below it by about $1/(2^{64} - W)$. For even d > 60, where C is not counted one by one, it
///   includes a margin: the level of the sampler itself is up to 2e-14 below it.
/// - Report size: d bits. Inputs are clipped to the cube. Radii from 1e-150 to 1e150.
/// - Variance: $E\lVert Z - x\rVert^2 = dB^2 - \lVert x\rVert^2$, with B of the weight actually used.
/// - Sampling: exact, by integer weights. d + 1 words and d random bits, for even d anew until both halves were met.
///
/// For even d both halves must not be closed: a vertex between them would belong to both, and the level would be
/// $\ln(1 + e^\varepsilon)$. See [DJW18].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, UnbiasedVector};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::DuchiLinf;
/// let cube = DuchiLinf::new(Epsilon::new(1.0)?, 4, 1.0)?;
/// assert!(cube.epsilon().value() <= 1.0);
/// let report = cube.privatize(&[0.3, -1.0, 0.0, 0.9], &mut stream(1, Purpose::Noise, 0, 0));
/// assert!(report.iter().all(|z| z.abs() == cube.bound()));
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [DJW18]: https://arxiv.org/abs/1604.02390
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct DuchiLinf {
    dimension: usize,
    radius: f64,
    weight: u64,
    // Computed from the numbers above.
    bound: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dimension: usize,
    radius: f64,
    #[serde(with = "json::weight")]
    weight: u64,
}

impl TryFrom<Raw> for DuchiLinf {
    type Error = Error;
    fn try_from(Raw { dimension, radius, weight }: Raw) -> Result<Self> {
        check_dimension(dimension)?;
        check_radius(radius)?;
        let (far, near) = Halves::cautious(dimension).sizes();
        level(weight, far, near)?;
        let agreement = agreement(dimension, weight);
        // Where halves are counted with a margin, nothing may be left of a small level.
        if !(agreement > 0.0) {
            return Err(Error::Uninformative);
        }
        let bound = radius / agreement;
        check_square(dimension, bound, radius)?;
        Ok(Self { dimension, radius, weight, bound })
    }
}

impl From<DuchiLinf> for Raw {
    fn from(DuchiLinf { dimension, radius, weight, .. }: DuchiLinf) -> Self {
        Self { dimension, radius, weight }
    }
}

/// How many vertices agree in less than half of the coordinates, and how many in at least half: in proportion.
struct Halves {
    far: u128,
    near: u128,
}

impl Halves {
    /// Exact up to 60 dimensions and for odd ones; else with a share of the far half that is rounded up, so that no
    /// level computed from it is too small.
    fn cautious(dimension: usize) -> Self {
        // The share is known to 1e-14.
        Self::with_middle(dimension, 1.0 - 1e-13)
    }

    /// The same as close as numbers allow.
    fn close(dimension: usize) -> Self {
        Self::with_middle(dimension, 1.0)
    }

    fn with_middle(dimension: usize, factor: f64) -> Self {
        if dimension % 2 == 1 {
            return Self { far: 1, near: 1 };
        }
        if dimension <= COUNTED {
            // Of the vertices in the middle, C(d, d/2), all belong to the near half. Everything divided by a half.
            let (all, middle) = (1 << dimension, central_binomial(dimension / 2));
            return Self { far: all - middle, near: all + middle };
        }
        let near = (1u128 << COUNTED) + (factor * central_share(dimension / 2) * (1u64 << COUNTED) as f64) as u128;
        Self { far: (2 << COUNTED) - near, near }
    }

    fn sizes(&self) -> (u128, u128) {
        (self.far, self.near)
    }
}

/// C(2m, m) for m ≤ 30.
fn central_binomial(m: usize) -> u128 {
    (1..=m as u128).fold(1, |product, j| product * (m as u128 + j) / j)
}

/// C(2m, m)/4^m, the probability that 2m fair signs add to zero.
fn central_share(m: usize) -> f64 {
    if m <= COUNTED / 2 {
        return central_binomial(m) as f64 / (1u64 << (2 * m)) as f64;
    }
    gamma_ratio(m as f64) / (std::f64::consts::PI.sqrt() * m as f64)
}

/// The mean of v_j x̃_j/B. Over the near half agreements exceed disagreements by C(d − 1, ⌊d/2⌋) vertices in every
/// coordinate, over the far half they fall short by as many.
fn agreement(dimension: usize, weight: u64) -> f64 {
    let Halves { far, near } = Halves::close(dimension);
    // W/near − (2⁶⁴ − W)/far, the difference in integers.
    let difference = (u128::from(weight) * far).saturating_sub(complement(weight) * near) as f64;
    let half = (far + near) as f64 / 2.0;
    central_share(dimension / 2) * (difference / two_64()) * (half / near as f64 / far as f64)
}

impl DuchiLinf {
    /// Vectors with `dimension` ≥ 1 coordinates in [−`radius`, `radius`], at level ε.
    pub fn new(epsilon: Epsilon, dimension: usize, radius: f64) -> Result<Self> {
        check_dimension(dimension)?;
        let (far, near) = Halves::cautious(dimension).sizes();
        let cube = Raw { dimension, radius, weight: largest_weight(epsilon, far, near)? }.try_into();
        cube.map_err(|error| match error {
            Error::Uninformative => Error::EpsilonTooSmall { value: epsilon.value(), reports: 2 },
            other => other,
        })
    }

    /// ρ, the largest coordinate.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// B, the size of every coordinate of a report.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The weight of the near half, in units of 2⁻⁶⁴.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The weight of rounding a coordinate up: increasing in the coordinate, 0 at −ρ and 2⁶⁴ at ρ.
    fn plus(&self, x: f64) -> u128 {
        // Added in integers: one plus a small number has lost its digits.
        let (place, sign) = (Divisor::new(self.radius).share(x), mask(x < 0.0));
        (1 << 63) + u128::from(place & !sign) - u128::from(place & sign)
    }
}

impl DuchiLinf {
    /// Which coordinates disagree, one bit each: uniform on the wanted half.
    ///
    /// How many words that takes must not depend on the half, which is what hides the input. So for even d vertices are
    /// drawn until there is one of either half, and for odd d one is: its opposite lies in the other half.
    fn disagreements<R: Rng + ?Sized>(&self, wants_near: bool, rng: &mut R) -> Vec<u64> {
        let unused = (64 * self.dimension.div_ceil(64) - self.dimension) as u32;
        // What is drawn first of either half, the far one first. In which order they come says nothing of the one that is taken.
        let mut halves = [None, None];
        loop {
            let mut words: Vec<u64> = (0..self.dimension.div_ceil(64)).map(|_| rng.next_u64()).collect();
            if let Some(last) = words.last_mut() {
                *last >>= unused;
            }
            let is_near = 2 * words.iter().map(|word| word.count_ones() as usize).sum::<usize>() <= self.dimension;
            if self.dimension % 2 == 1 {
                let turn = mask(is_near != wants_near);
                words.iter_mut().for_each(|word| *word ^= turn);
                return words;
            }
            halves[usize::from(is_near)].get_or_insert(words);
            if let [Some(far), Some(near)] = &mut halves {
                near.iter_mut().zip(far).for_each(|(near, far)| *near = choose(wants_near, *near, *far));
                return std::mem::take(near);
            }
        }
    }
}

impl Mechanism for DuchiLinf {
    type Input = [f64];
    type Report = Vec<f64>;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        let (far, near) = Halves::cautious(self.dimension).sizes();
        level(self.weight, far, near).expect("checked on construction")
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &[f64], rng: &mut R) -> Vec<f64> {
        let near = rng.next_u64() < self.weight;
        // Signs alone, with the bit that makes a number negative.
        let negative = |is: u64| f64::from_bits(self.bound.to_bits() | is << 63);
        let minus = |x| u64::from(u128::from(rng.next_u64()) >= self.plus(x));
        let signs: Vec<u64> = coordinates(input, self.dimension).map(minus).collect();
        let words = self.disagreements(near, rng);
        signs.into_iter().enumerate().map(|(j, sign)| negative(sign ^ (words[j / 64] >> (j % 64) & 1))).collect()
    }
}

/// With the rounding of coordinates averaged out: the number of agreements is a sum of independent indicators, whose
/// law takes $O(d^2)$ steps.
impl Density for DuchiLinf {
    fn ln_density(&self, report: &Vec<f64>, input: &[f64]) -> f64 {
        if report.len() != self.dimension || report.iter().any(|z| z.abs() != self.bound) {
            return f64::NEG_INFINITY;
        }
        // law[k]: the probability of k agreements among the coordinates so far.
        let mut law = vec![1.0];
        for (x, &z) in coordinates(input, self.dimension).zip(report) {
            let plus = self.plus(x);
            let (agree, differ) = if z > 0.0 { (plus, (1 << 64) - plus) } else { ((1 << 64) - plus, plus) };
            let [agree, differ] = [agree, differ].map(|weight| weight as f64 / two_64());
            law.push(0.0);
            for k in (0..law.len()).rev() {
                law[k] = law[k] * differ + if k > 0 { law[k - 1] * agree } else { 0.0 };
            }
        }
        let (few, many) = law.split_at(self.dimension.div_ceil(2));
        let Halves { far, near } = Halves::close(self.dimension);
        let half = (far + near) as f64 / 2.0;
        let each = |weight: u128, size: u128| weight as f64 / two_64() * (half / size as f64);
        let near = many.iter().sum::<f64>() * each(self.weight.into(), near);
        let far = few.iter().sum::<f64>() * each(complement(self.weight), far);
        // A half has 2^(d − 1) vertices in these proportions.
        (near + far).ln() - (self.dimension - 1) as f64 * std::f64::consts::LN_2
    }
}

impl UnbiasedVector for DuchiLinf {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn total_variance(&self, input: &[f64]) -> f64 {
        let places = coordinates(input, self.dimension).map(|x| (x / self.radius).clamp(-1.0, 1.0));
        // B² − x² = (B² − ρ²) + (ρ² − x²). On the line the first part is 4 lie(1 − lie)ρ²/τ², and the difference would
        // have lost it at large ε; elsewhere B is 2ρ or more.
        let around = if self.dimension == 1 {
            let (lie, contrast) = (complement(self.weight), u128::from(self.weight) - complement(self.weight));
            4.0 * (lie as f64 / contrast as f64) * (self.weight as f64 / contrast as f64)
        } else {
            (self.bound / self.radius).powi(2) - 1.0
        };
        self.radius.powi(2) * places.map(|place| around + (1.0 - place) * (1.0 + place)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn halves_are_counted_right() {
        // All vertices by their number of agreements.
        for dimension in 1..=16u32 {
            let near = (0..1u32 << dimension).filter(|a| 2 * a.count_ones() >= dimension).count() as u128;
            let (counted, all) = (Halves::cautious(dimension as usize), 1u128 << dimension);
            assert_eq!(counted.near * (all - near), counted.far * near, "{dimension}");
        }
        // In high dimensions, in whole numbers: the far half is never understated, and by 1e-12 at most overstated.
        for m in [31u32, 32, 50, 500, 2000] {
            let middle = (1..=m).fold(BigUint::from(1u8), |product, j| product * (m + j) / j);
            let all = BigUint::from(1u8) << (2 * m);
            let (far, near) = (&all - &middle, &all + &middle);
            let Halves { far: our_far, near: our_near } = Halves::cautious(2 * m as usize);
            assert!(&near * our_far >= &far * our_near, "{m}");
            let slack = &near * our_far - &far * our_near;
            assert!(slack * 1_000_000_000_000u64 <= &far * our_near, "{m}");
            let scaled: BigUint = (middle << 60u32) / all;
            let share = u64::try_from(scaled).unwrap();
            assert!((central_share(m as usize) / (share as f64 / (1u64 << 60) as f64) - 1.0).abs() < 1e-14, "{m}");
        }
    }

    #[test]
    fn bounds_are_those_of_the_formulas() {
        let levels = [0.01f64, 1.0, 5.0];
        for (dimension, level) in (1..=40usize).flat_map(|d| levels.map(|level| (d, level))) {
            let cube = DuchiLinf::new(Epsilon::new(level).unwrap(), dimension, 2.0).unwrap();
            let choose = |n: usize, k: usize| (1..=k).fold(1.0, |c, j| c * (n + 1 - j) as f64 / j as f64);
            let d = dimension;
            let growth = level.exp_m1();
            let expected = if d % 2 == 1 {
                2.0 / (level / 2.0).tanh() * 2f64.powi(d as i32 - 1) / choose(d - 1, (d - 1) / 2)
            } else {
                let near = 2f64.powi(d as i32 - 1) + choose(d, d / 2) / 2.0;
                2.0 * (2f64.powi(d as i32) + near * growth) / (choose(d - 1, d / 2) * growth)
            };
            assert!((cube.bound() / expected - 1.0).abs() < 1e-13, "{d}, {level}: {} for {expected}", cube.bound());
        }
    }

    #[test]
    fn rounding_weights_increase_and_reach_both_ends() {
        let cube = DuchiLinf::new(Epsilon::new(1.0).unwrap(), 2, 3.0).unwrap();
        let places = [f64::NEG_INFINITY, -4.0, -3.0, -1e-9, -1e-18, 0.0, 1e-18, 1e-9, 1.0, 3.0, 1e300, f64::INFINITY];
        let weights = places.map(|x| cube.plus(x));
        assert!(weights.is_sorted());
        assert_eq!((weights[1], weights[2], weights[5], weights[9]), (0, 0, 1 << 63, 1 << 64));
        assert!(weights[4] < weights[5] && weights[5] < weights[6]);
    }

    #[test]
    fn tampered_json_is_refused() {
        let good = r#"{"dimension":2,"radius":1.0,"weight":"16602069666338596454"}"#;
        assert!(serde_json::from_str::<DuchiLinf>(good).is_ok());
        for (from, to) in [
            (":2", ":0"),
            (":2", ":16777217"),
            ("1.0", "0.0"),
            ("1.0", "1.7e308"),
            ("1.0", "1e-151"),
            ("1.0", "1e151"),
            // Three quarters of the weight for three quarters of the vertices: no information.
            ("16602069666338596454", "13835058055282163712"),
            ("16602069666338596454", "1"),
            (r#""16602069666338596454""#, "16602069666338596454"),
            (r#"454""#, r#"454","epsilon":1"#),
        ] {
            assert!(good.contains(from));
            assert!(serde_json::from_str::<DuchiLinf>(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
