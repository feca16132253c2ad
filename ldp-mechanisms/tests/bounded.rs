//! The mechanisms on a range, and the residues, against their own densities.
//!
//! Privacy, unbiasedness and variance are computed from the density by quadrature, not simulated. Samplers are compared
//! with `report_cdf` by chi-square at α = 1e-6 with fixed seeds, and every such test is shown a mutant that it rejects.

use ldp_core::conformance::{
    ALPHA, check_channel, check_draws, check_epsilon, check_epsilon_density, check_sampler, check_wire_round_trip,
    goodness_of_fit,
};
use ldp_core::model::{Bernoulli, Gaussian, Laplace as LaplaceModel, Poisson};
use ldp_core::{Density, Epsilon, Error, Mechanism, Numerics, RealReports, Rescale, Sum, Tally, Unbiased};
use ldp_mechanisms::{Duchi, Hybrid, Laplace, Piecewise, Range, Residue, Staircase};
use ldp_simulate::conformance::check_marginal;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

const LEVELS: [f64; 5] = [0.01, 0.2, 1.0, 4.0, 5.0];
const CORNERS: [f64; 9] = [1e-6, 1e-3, 0.01, 0.2, 1.0, 4.0, 5.0, 10.0, 30.0];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn ranges() -> Vec<Range> {
    [(0.0, 1.0), (-3.0, 3.0), (-128.5, -3.0), (2e6, 2e6 + 1.0), (0.3, 0.3 + 1e-9)]
        .map(|(low, high)| Range::new(low, high).unwrap())
        .to_vec()
}

/// Inside, at the ends, and outside, where values are clipped.
fn inputs(range: Range) -> [f64; 7] {
    let at = |t: f64| range.low() + t * range.width();
    [range.low(), range.high(), at(0.5), at(0.3), at(0.9), at(-2.0), at(7.0)]
}

/// What no user should hold, and the ends.
fn odd_inputs(range: Range) -> [f64; 6] {
    [range.low(), range.high(), f64::NAN, f64::INFINITY, f64::NEG_INFINITY, range.decode(0.1)]
}

/// A mechanism on a range with real reports, and all that the tests need of it.
trait Real: RealReports + Unbiased + Rescale + Copy + PartialEq + Debug + Serialize + DeserializeOwned {
    fn make(epsilon: Epsilon, range: Range) -> ldp_core::Result<Self>;
    /// Reports at which two inputs have the largest ratio, all of them possible.
    fn extremes(&self) -> Vec<f64>;
    /// The length on which the tails outside the breaks decay, zero if there are none.
    fn tail(&self) -> f64 {
        0.0
    }
}

impl Real for Laplace {
    fn make(epsilon: Epsilon, range: Range) -> ldp_core::Result<Self> {
        Self::new(epsilon, range)
    }
    fn extremes(&self) -> Vec<f64> {
        vec![-2.5, -1.0, 0.0, 1.0, 1.7, 1e3]
    }
    fn tail(&self) -> f64 {
        self.scale()
    }
}

impl Real for Staircase {
    fn make(epsilon: Epsilon, range: Range) -> ldp_core::Result<Self> {
        Self::new(epsilon, range)
    }
    fn extremes(&self) -> Vec<f64> {
        vec![-4.321, 0.0, 1.0123, 2.5, 33.3]
    }
}

impl Real for Piecewise {
    fn make(epsilon: Epsilon, range: Range) -> ldp_core::Result<Self> {
        Self::new(epsilon, range)
    }
    fn extremes(&self) -> Vec<f64> {
        [-0.99, 0.0, 0.5, 0.99].map(|t| t * self.bound()).into_iter().chain([1.0 + 1e-9]).collect()
    }
}

impl Real for Hybrid {
    fn make(epsilon: Epsilon, range: Range) -> ldp_core::Result<Self> {
        Self::new(epsilon, range)
    }
    fn extremes(&self) -> Vec<f64> {
        let inside = if self.alpha() > 0.0 { self.breaks(f64::NAN).pop() } else { None };
        self.atoms().into_iter().chain(inside.map(|bound| 0.99 * bound)).collect()
    }
}

/// Nodes and weights of Gauss and Legendre on [−1, 1].
fn legendre(points: u32) -> Vec<(f64, f64)> {
    let value = |z: f64| {
        let (mut last, mut now) = (1.0, z);
        for k in 2..=points {
            let k = f64::from(k);
            (last, now) = (now, ((2.0 * k - 1.0) * z * now - (k - 1.0) * last) / k);
        }
        (now, f64::from(points) * (z * now - last) / (z * z - 1.0))
    };
    let nodes = (0..points).map(|i| {
        let mut z = (std::f64::consts::PI * (f64::from(i) + 0.75) / (f64::from(points) + 0.5)).cos();
        for _ in 0..10 {
            z -= value(z).0 / value(z).1;
        }
        (z, 2.0 / ((1.0 - z * z) * value(z).1.powi(2)))
    });
    nodes.collect()
}

/// The reports cut into pieces on which the density is smooth, tails until nothing is left.
fn pieces<Q: Real>(mechanism: &Q, input: f64) -> Vec<(f64, f64)> {
    let breaks = mechanism.breaks(input);
    assert!(breaks.windows(2).all(|pair| pair[0] < pair[1]), "{breaks:?}");
    let tail = mechanism.tail();
    let steps = if tail > 0.0 { 50 } else { 0 };
    let mut points: Vec<f64> = Vec::new();
    points.extend(breaks.first().iter().flat_map(|&z| (1..=steps).rev().map(move |i| z - f64::from(i) * tail)));
    points.extend(&breaks);
    points.extend(breaks.last().iter().flat_map(|&z| (1..=steps).map(move |i| z + f64::from(i) * tail)));
    points.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The density integrates to `report_cdf` and to one; its mean and variance are the stated ones, to 1e-9.
fn check_moments<Q: Real>(mechanism: &Q, range: Range, input: f64, rule: &[(f64, f64)]) {
    let unit = range.unit(input);
    let context = || format!("{mechanism:?} at {input}");
    let atoms: Vec<(f64, f64)> =
        mechanism.atoms().into_iter().map(|z| (z, mechanism.ln_density(&z, &input).exp())).collect();
    let (mut mass, mut mean, mut square) = (0.0, 0.0, 0.0);
    let mut add = |z: f64, p: f64| {
        mass += p;
        mean += p * (z - unit);
        square += p * (z - unit).powi(2);
    };
    for &(z, p) in &atoms {
        add(z, p);
        let jump = mechanism.report_cdf(z, input) - mechanism.report_cdf(z - 1e-9, input);
        assert!((jump - p).abs() < 1e-8, "{}: an atom of {p} where the cdf jumps by {jump}", context());
    }
    for (low, high) in pieces(mechanism, input) {
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        let mut integral = 0.0;
        for &(node, weight) in rule {
            let z = middle + half * node;
            let p = half * weight * mechanism.ln_density(&z, &input).exp();
            integral += p;
            add(z, p);
        }
        let inside: f64 = atoms.iter().filter(|(z, _)| low < *z && *z <= high).map(|(_, p)| p).sum();
        let difference = mechanism.report_cdf(high, input) - mechanism.report_cdf(low, input);
        assert!((difference - inside - integral).abs() < 1e-10, "{}: the cdf on ({low}, {high}]", context());
    }
    assert!((mass - 1.0).abs() < 1e-10, "{}: mass {mass}", context());
    assert_eq!(mechanism.report_cdf(f64::NEG_INFINITY, input), 0.0);
    assert_eq!(mechanism.report_cdf(f64::INFINITY, input), 1.0);

    let deviation = square.sqrt();
    assert!(mean.abs() <= 1e-9 * deviation, "{}: bias {mean} of {deviation}", context());
    let clipped = input.clamp(range.low(), range.high());
    let slack = 1e-9 * deviation * range.width() + 4.0 * f64::EPSILON * clipped.abs();
    assert!((mechanism.decode(unit + mean) - clipped).abs() <= slack, "{}: decodes to another value", context());
    // The affine map is measured and not assumed.
    let slope = (mechanism.decode(1.0) - mechanism.decode(-1.0)) / 2.0;
    let variance = (square - mean * mean) * slope * slope;
    let stated = mechanism.variance(input);
    assert!((stated / variance - 1.0).abs() < 1e-9, "{}: variance {variance}, stated {stated}", context());
}

/// Everything that is exact, at all levels and ranges.
fn check_exact<Q: Real>() {
    let rule = legendre(8);
    for range in ranges() {
        for level in LEVELS {
            let (mechanism, claimed) = (Q::make(epsilon(level), range).unwrap(), epsilon(level));
            assert_eq!(Q::NUMERICS, Numerics::Idealized);
            assert_eq!(mechanism.range(), (range.low(), range.high()));
            check_epsilon_density(&mechanism, claimed, &inputs(range), &mechanism.extremes()).unwrap();
            for input in inputs(range) {
                check_moments(&mechanism, range, input, &rule);
            }
            let wider = mechanism.rescale(2.0).unwrap();
            assert_eq!(
                (wider.epsilon(), wider.range()),
                (mechanism.epsilon(), (2.0 * range.low(), 2.0 * range.high()))
            );
            let (twice, once) = (wider.variance(2.0 * range.low()), mechanism.variance(range.low()));
            assert!((twice / once - 4.0).abs() < 1e-12, "{twice} and {once}");
        }
    }
    for level in CORNERS {
        let range = Range::new(-3.0, 3.0).unwrap();
        let mechanism = Q::make(epsilon(level), range).unwrap();
        let realised = mechanism.epsilon().value();
        assert!(realised <= level && realised >= level - 1e-12 * level.max(1.0), "{realised} for {level}");
        check_wire_round_trip(&mechanism).unwrap();
        check_draws(&mechanism, &odd_inputs(range)).unwrap();
        let (mut tally, mut rng) = (Sum::default(), stream(3, Purpose::Noise, 0, 0));
        for input in odd_inputs(range) {
            assert!(mechanism.variance(input).is_finite() && mechanism.variance(input) > 0.0);
            for _ in 0..1000 {
                let report = mechanism.privatize(&input, &mut rng);
                assert!(mechanism.ln_density(&report, &input).is_finite(), "{report} at {input}, ε = {level}");
                tally.push(report, 1).unwrap();
            }
        }
    }
    for level in [1e-300, 1e-12, 50.0, 1e300] {
        let refused = Q::make(epsilon(level), ranges()[0]);
        assert!(matches!(refused, Err(Error::Parameter { name: "epsilon", .. })), "{refused:?}");
    }
}

/// The report below which a share `p` of the law lies.
fn quantile(cdf: &impl Fn(f64) -> f64, p: f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    while cdf(low) >= p {
        low *= 2.0;
    }
    while cdf(high) < p {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = low + (high - low) / 2.0;
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    high
}

/// The p-value of 200,000 samples that should follow `cdf`: 40 equally likely bins and rarer ones in the tails, cut
/// again at the marks.
fn fit(cdf: impl Fn(f64) -> f64, marks: &[f64], mut sample: impl FnMut(&mut SimulationRng) -> f64, seed: u64) -> f64 {
    let shares = (1..40).map(|i| f64::from(i) / 40.0).chain([1e-2, 1e-3, 1e-4, 1.0 - 1e-2, 1.0 - 1e-3, 1.0 - 1e-4]);
    let mut edges: Vec<f64> = shares.map(|share| quantile(&cdf, share)).collect();
    // A mark is an end of a bin on both sides, so that an atom has one for itself.
    edges.extend(marks.iter().flat_map(|&mark| [mark.next_down(), mark]));
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let below: Vec<f64> = edges.iter().map(|&edge| cdf(edge)).chain([1.0]).collect();
    let law: Vec<f64> = (0..below.len()).map(|i| below[i] - if i == 0 { 0.0 } else { below[i - 1] }).collect();
    // Next to a mark lies a bin of one number: without an atom nothing is expected there, up to rounding.
    let law: Vec<f64> = law.into_iter().map(|p| p.max(1e-12)).collect();
    let mut counts = vec![0u64; law.len()];
    let mut rng = stream(seed, Purpose::Noise, 0, 0);
    for _ in 0..200_000 {
        let report = sample(&mut rng);
        counts[edges.partition_point(|&edge| edge < report)] += 1;
    }
    goodness_of_fit(&counts, &law)
}

/// A sampler against the cdf of a mechanism, at this input.
fn fit_to<Q: Real>(mechanism: &Q, input: f64, seed: u64, sample: impl FnMut(&mut SimulationRng) -> f64) -> f64 {
    let (breaks, mut marks) = (mechanism.breaks(input), mechanism.atoms());
    let middle = breaks.len() / 2;
    marks.extend(&breaks[middle.saturating_sub(6)..(middle + 6).min(breaks.len())]);
    fit(|z| mechanism.report_cdf(z, input), &marks, sample, seed)
}

/// The sampler follows the cdf at all levels; the mutants, given a mechanism, a value and noise, do not.
type Mutant<Q> = (&'static str, f64, fn(&Q, f64, &mut SimulationRng) -> f64);

fn check_samples<Q: Real>(mutants: &[Mutant<Q>]) {
    let range = Range::new(-3.0, 3.0).unwrap();
    for (seed, level) in (0..).zip(LEVELS) {
        let mechanism = Q::make(epsilon(level), range).unwrap();
        for input in [-3.0, 0.4, 2.0, 9.0, f64::NAN] {
            let p = fit_to(&mechanism, input, seed, |rng| mechanism.privatize(&input, rng));
            assert!(p >= ALPHA, "{mechanism:?} at {input}: p = {p:e}");
        }
        for (name, least, mutant) in mutants.iter().filter(|(_, least, _)| level >= *least) {
            let p = fit_to(&mechanism, 0.4, seed, |rng| mutant(&mechanism, 0.4, rng));
            assert!(p < ALPHA, "{name} from {least} passes at ε = {level}: p = {p:e}");
        }
    }
}

/// The level of a mechanism: what a mutant is made from.
fn with_level<Q: Real>(mechanism: &Q, factor: f64) -> Q {
    let (low, high) = mechanism.range();
    Q::make(epsilon(mechanism.epsilon().value() * factor), Range::new(low, high).unwrap()).unwrap()
}

fn stretched<Q: Real>(mechanism: &Q, input: f64, rng: &mut SimulationRng) -> f64 {
    1.03 * mechanism.privatize(&input, rng)
}

#[test]
fn laplace() {
    check_exact::<Laplace>();
    check_samples::<Laplace>(&[
        ("noise 3 % too large", 0.0, stretched),
        ("one-sided noise", 0.0, |m, x, rng| {
            let unit = x / 3.0;
            unit + (m.privatize(&x, rng) - unit).abs()
        }),
        ("no tail beyond four scales", 0.0, |m, x, rng| m.privatize(&x, rng).clamp(-4.0 * m.scale(), 4.0 * m.scale())),
        ("the scale 1/ε of half the width", 0.0, |m, x, rng| with_level(m, 2.0).privatize(&x, rng)),
    ]);
}

#[test]
fn staircase() {
    check_exact::<Staircase>();
    check_samples::<Staircase>(&[
        ("reports 3 % too large", 0.0, stretched),
        ("another gamma", 1.0, |m, x, rng| {
            let other =
                Staircase::with_gamma(epsilon(m.epsilon().value()), Range::new(-3.0, 3.0).unwrap(), 0.8 * m.gamma());
            other.unwrap().privatize(&x, rng)
        }),
        ("only the first step", 0.0, |m, x, rng| x / 3.0 + (m.privatize(&x, rng) - x / 3.0) % 2.0),
    ]);
    // Any other gamma is as private, and its formulas hold as well.
    let (range, rule) = (Range::new(0.0, 1.0).unwrap(), legendre(8));
    for (level, gamma) in [(0.2, 0.9), (1.0, 0.01), (1.0, 0.5), (5.0, 0.7)] {
        let other = Staircase::with_gamma(epsilon(level), range, gamma).unwrap();
        assert_eq!(other.gamma(), gamma);
        check_epsilon_density(&other, epsilon(level), &inputs(range), &other.extremes()).unwrap();
        for input in inputs(range) {
            check_moments(&other, range, input, &rule);
        }
    }
    let one = Staircase::new(epsilon(1.0), range).unwrap();
    assert!((one.gamma() - 0.416_737_435).abs() < 1e-9);
}

#[test]
fn piecewise() {
    check_exact::<Piecewise>();
    check_samples::<Piecewise>(&[
        ("reports 3 % too large", 0.0, stretched),
        ("h where its square belongs", 0.2, |m, x, rng| {
            let scale = m.bound() / with_level(m, 0.5).bound();
            scale * with_level(m, 0.5).privatize(&x, rng)
        }),
        ("no tails", 0.0, |m, x, rng| {
            let breaks = m.breaks(x);
            m.privatize(&x, rng).clamp(breaks[1], breaks[2])
        }),
    ]);
    // The formulas as printed.
    for level in LEVELS {
        let mechanism = Piecewise::new(epsilon(level), Range::new(-1.0, 1.0).unwrap()).unwrap();
        let h = (level / 2.0).exp();
        assert!((mechanism.bound() / ((h + 1.0) / (h - 1.0)) - 1.0).abs() < 1e-13);
        for u in [-1.0, 0.0, 0.7] {
            let printed = u * u / (h - 1.0) + (h + 3.0) / (3.0 * (h - 1.0).powi(2));
            assert!((mechanism.variance(u) / printed - 1.0).abs() < 1e-11);
        }
    }
}

#[test]
fn hybrid() {
    check_exact::<Hybrid>();
    check_samples::<Hybrid>(&[
        ("reports 3 % too large", 0.0, stretched),
        ("the atoms exchanged", 0.2, |m, x, rng| {
            let report = m.privatize(&x, rng);
            if m.atoms().contains(&report) { -report } else { report }
        }),
        ("always piecewise", 0.0, |m, x, rng| {
            let (low, high) = m.range();
            Piecewise::new(m.epsilon(), Range::new(low, high).unwrap()).unwrap().privatize(&x, rng)
        }),
        ("never piecewise", 1.0, |m, x, rng| m.atoms()[usize::from(m.privatize(&x, rng) > 0.0)]),
    ]);
    let range = Range::new(-1.0, 1.0).unwrap();
    for (level, constant) in [(0.2, false), (0.609_352, false), (0.609_353, true), (1.0, true), (5.0, true)] {
        let mechanism = Hybrid::new(epsilon(level), range).unwrap();
        let (middle, end) = (mechanism.variance(0.0), mechanism.variance(1.0));
        assert_eq!((middle / end - 1.0).abs() < 1e-12, constant, "ε = {level}: {middle} and {end}");
        if !constant {
            // Two atoms: the law of the one-bit mechanism.
            let duchi = Duchi::new(epsilon(level), range).unwrap();
            assert_eq!(mechanism.epsilon(), duchi.epsilon());
            assert_eq!([0, 1].map(|z: u32| duchi.ln_density(&z, &0.3)).to_vec(), {
                mechanism.atoms().iter().map(|z| mechanism.ln_density(z, &0.3)).collect::<Vec<_>>()
            });
            assert_eq!(mechanism.ln_density(&0.5, &0.3), f64::NEG_INFINITY);
        }
    }
}

#[test]
fn duchi() {
    for range in ranges() {
        for (seed, level) in (0..).zip(LEVELS) {
            let duchi = Duchi::new(epsilon(level), range).unwrap();
            assert_eq!(Duchi::NUMERICS, Numerics::Exact);
            check_epsilon_density(&duchi, epsilon(level), &inputs(range), &[0, 1]).unwrap();
            assert!(duchi.epsilon().value() >= level - 1e-12 * level.max(1.0));
            check_draws(&duchi, &odd_inputs(range)).unwrap();
            check_wire_round_trip(&duchi).unwrap();
            check_sampler(&duchi, &inputs(range), seed).unwrap();
            let (middle, width) = (range.decode(0.2), range.width());
            let gaussian = Gaussian::new(0.4 * width).unwrap();
            check_marginal(&duchi, &gaussian, middle, seed).unwrap();
            check_marginal(&duchi, &LaplaceModel::new(width).unwrap(), middle, seed).unwrap();

            // Exactly unbiased, with the stated variance.
            let tau = (level / 2.0).tanh();
            for input in inputs(range) {
                let (unit, p) = (range.unit(input), duchi.ln_density(&1, &input).exp());
                let (one, zero) = (1.0 / duchi.tau(), -1.0 / duchi.tau());
                assert!((p * one + (1.0 - p) * zero - unit).abs() < 1e-13 / tau);
                let slack = 1e-9 * width / tau + 4.0 * f64::EPSILON * range.low().abs();
                assert!((duchi.decode(p) - input.clamp(range.low(), range.high())).abs() < slack);
                let variance = (1.0 / (tau * tau) - unit * unit) * width * width / 4.0;
                assert!((duchi.variance(input) / variance - 1.0).abs() < 1e-9, "{level} {input}");
            }
        }
    }
    for level in CORNERS {
        let duchi = Duchi::new(epsilon(level), ranges()[0]).unwrap();
        // At ε = 30 a lie weighs 1.7e6 units, and rounding it up costs a millionth.
        let loss = if level > 20.0 { 1e-6 } else { 1e-12 * level.max(1.0) };
        assert!(duchi.epsilon().value() <= level && duchi.epsilon().value() >= level - loss);
        check_epsilon_density(&duchi, epsilon(level), &inputs(ranges()[0]), &[0, 1]).unwrap();
        let counts = duchi.rescale(10.0).unwrap();
        check_marginal(&counts, &Poisson, 3.3, 1).unwrap();
        check_marginal(&duchi, &Bernoulli, 0.3, 1).unwrap();
        assert_eq!((counts.range(), counts.lie()), ((0.0, 10.0), duchi.lie()));
    }
    assert!(matches!(Duchi::new(epsilon(1e-25), ranges()[0]), Err(Error::EpsilonTooSmall { .. })));
}

#[test]
fn residue() {
    let models = (Gaussian::new(2.0).unwrap(), LaplaceModel::new(0.7).unwrap());
    for (seed, level) in (0..).zip(CORNERS) {
        for (origin, width, cells) in [(0.0, 1.0, 4), (-0.3, 0.25, 2), (1e3, 64.0, 7)] {
            let residue = Residue::new(epsilon(level), origin, width, cells).unwrap();
            let inputs: Vec<f64> = (0..cells).map(|i| origin + (f64::from(i) + 0.5) * width).collect();
            let reports: Vec<u32> = (0..cells).collect();
            check_epsilon(&residue, epsilon(level)).unwrap();
            check_epsilon_density(&residue, epsilon(level), &inputs, &reports).unwrap();
            check_channel(&residue, &inputs, seed).unwrap();
            check_draws(&residue, &[origin, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300]).unwrap();
            check_sampler(&residue, &inputs, seed).unwrap();
            check_wire_round_trip(&residue).unwrap();
            check_marginal(&residue, &models.0, 0.4, seed).unwrap();
            check_marginal(&residue, &models.1, 0.9, seed).unwrap();
            check_marginal(&residue, &Poisson, 2.5, seed).unwrap();
            let double = residue.clone().rescale(2.0).unwrap();
            assert_eq!((double.origin(), double.width(), double.cells()), (2.0 * origin, 2.0 * width, cells));
        }
    }
}

/// Same seed, same reports: another number here is value-breaking.
#[test]
fn pinned_reports() {
    fn reports<Q: Real>(level: f64) -> [f64; 4] {
        let mechanism = Q::make(epsilon(level), Range::new(0.0, 1.0).unwrap()).unwrap();
        let mut rng = stream(42, Purpose::Noise, 0, 0);
        std::array::from_fn(|_| mechanism.privatize(&0.3, &mut rng))
    }
    // Logarithms may differ in their last bit from one library to another.
    let same = |found: [f64; 4], pinned: [f64; 4]| {
        assert!(found.iter().zip(pinned).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    };
    same(
        reports::<Laplace>(1.0),
        [-3.753_009_804_092_816_4, -0.387_770_013_810_801_4, -1.377_991_254_044_673_3, 7.119_063_281_573_452],
    );
    same(
        reports::<Staircase>(1.0),
        [-4.379_076_497_453_401_6, -0.429_412_183_337_552, -4.633_035_514_414_25, 0.797_569_854_231_147_8],
    );
    // To the left of the interval, to the right of it, inside.
    same(
        reports::<Piecewise>(1.0),
        [-2.192_743_355_440_682_8, 4.000_910_659_096_673, -0.081_734_219_241_305_53, -3.769_362_560_461_701_6],
    );
    // A density and two atoms; below the threshold atoms alone.
    let atom = 2.163_953_413_738_653;
    same(reports::<Hybrid>(1.0), [4.000_910_659_096_673, atom, -2.204_931_527_592_943_8, -atom]);
    let atom = 10.033_311_132_253_99;
    same(reports::<Hybrid>(0.2), [-atom, atom, atom, -atom]);
    let duchi = Duchi::new(epsilon(1.0), Range::new(0.0, 1.0).unwrap()).unwrap();
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    let bits: [u32; 12] = std::array::from_fn(|_| duchi.privatize(&0.3, &mut rng));
    assert_eq!(bits, [1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1]);
    let residue = Residue::new(epsilon(1.0), 0.0, 1.0, 4).unwrap();
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    let residues: [u32; 12] = std::array::from_fn(|_| residue.privatize(&2.3, &mut rng));
    assert_eq!(residues, [1, 2, 2, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
}
