//! Every built-in family against its own density: distribution function, derivative, score, information, sampler.
//!
//! Statistical tests: 200,000 draws from fixed streams, chi-square at level 1e-6 over about twenty cells. Each is
//! repeated with a sampler whose parameter is off by 0.05 standard errors of one observation, which it must reject.

use ldp_core::Error;
use ldp_core::conformance::{ALPHA, check_symmetry, goodness_of_fit};
use ldp_core::model::{
    Bernoulli, Categorical, Cdf, Exponential, Gaussian, GaussianScale, Laplace, Logistic, ManyParameters, Model,
    Poisson, Score, StudentT, Symmetry,
};
use ldp_core::special::normal;
use ldp_simulate::seed::{Purpose, stream};

const DRAWS: usize = 200_000;

/// A family with all that the checks need.
trait Family: Model<Observation = f64> + Cdf + Score + Send + Sync {}
impl<M: Model<Observation = f64> + Cdf + Score + Send + Sync> Family for M {}

/// Where a law lives, so that it can be integrated and cut into cells.
#[derive(Clone, Copy)]
enum Support {
    /// The real line, with most of the mass within a few `scale` of `centre`, where the density may have a kink.
    Line { centre: f64, scale: f64 },
    /// The positive half-line.
    Positive { scale: f64 },
    /// The whole numbers `0..end`; what lies above has no mass to speak of.
    Atoms { end: u32 },
}

impl Support {
    /// Points at which to compare, infinities not among them.
    fn points(self) -> Vec<f64> {
        match self {
            Self::Line { centre, scale } => {
                [-8.0, -3.0, -1.0, -0.3, 0.0, 0.2, 1.0, 2.5, 6.0].map(|z| centre + scale * z).to_vec()
            }
            Self::Positive { scale } => [-1.0, 0.0, 0.1, 0.5, 1.0, 3.0, 10.0].map(|z| scale * z).to_vec(),
            Self::Atoms { end } => {
                let step = f64::from(end.div_ceil(12));
                (0..12).flat_map(|i| [f64::from(i) * step, f64::from(i) * step + 0.5]).chain([-0.5]).collect()
            }
        }
    }

    /// $E_\theta[f(X); X < x]$.
    fn expectation(self, model: &impl Family, theta: f64, x: f64, f: impl Fn(f64) -> f64) -> f64 {
        let term = |x: f64| {
            let density = model.ln_density(theta, x).exp();
            if density > 0.0 { density * f(x) } else { 0.0 }
        };
        let (centre, scale, from) = match self {
            Self::Atoms { end } => return (0..end).map(f64::from).filter(|&k| k < x).map(term).sum(),
            Self::Line { centre, scale } => (centre, scale, -100.0),
            Self::Positive { scale } => (0.0, scale, 0.0),
        };
        // In u = asinh(z) a tail like z^-1/2 ends at u = 100.
        let to = ((x - centre) / scale).asinh().min(100.0);
        integrate(from, to, |u| term(centre + scale * u.sinh()) * scale * u.cosh())
    }

    /// Cuts into cells for a chi-square test: twenty of equal probability, or as many as there are atoms of at
    /// least 100 expected draws.
    fn cuts(self, model: &impl Family, theta: f64) -> Vec<f64> {
        let (centre, scale) = match self {
            Self::Line { centre, scale } => (centre, scale),
            Self::Positive { scale } => (0.0, scale),
            Self::Atoms { end } => {
                let mut cuts = vec![];
                let mut last = f64::NEG_INFINITY;
                for k in (1..end).map(f64::from) {
                    let enough = 100.0 / DRAWS as f64;
                    if model.mass(theta, last, k) >= enough && model.mass(theta, k, f64::INFINITY) >= enough {
                        cuts.push(k);
                        last = k;
                    }
                }
                return cuts;
            }
        };
        let quantile = |p: f64| {
            let (mut low, mut high) = (-100.0, 100.0);
            for _ in 0..60 {
                let middle: f64 = 0.5 * (low + high);
                let below = model.cdf(theta, centre + scale * middle.sinh()) < p;
                (low, high) = if below { (middle, high) } else { (low, middle) };
            }
            centre + scale * low.sinh()
        };
        (1..20).map(|i| quantile(f64::from(i) / 20.0)).collect()
    }
}

/// Sixteen-point Gauss–Legendre on panels of width 1/4 that end at multiples of 1/4, so that a kink at zero is on
/// the border of two.
fn integrate(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rule = gauss_legendre();
    let mut sum = 0.0;
    let mut left = from;
    while left < to {
        let right = (((left * 4.0).floor() + 1.0) / 4.0).min(to);
        let (middle, half) = (0.5 * (left + right), 0.5 * (right - left));
        sum += half * rule.iter().map(|&(node, weight)| weight * f(middle + half * node)).sum::<f64>();
        left = right;
    }
    sum
}

/// Nodes and weights on $[-1, 1]$: Newton on the Legendre polynomial of degree 16.
fn gauss_legendre() -> [(f64, f64); 16] {
    std::array::from_fn(|i| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / 16.5).cos();
        let mut slope = 0.0;
        for _ in 0..10 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=16 {
                let k = f64::from(k);
                (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
            }
            slope = 16.0 * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found:e} instead of {expected:e}");
}

/// The law: distribution function, score, information and mass all follow from the density.
fn check_law(model: &impl Family, theta: f64, support: Support) {
    model.check(theta).expect("a parameter of the family");
    let inf = f64::INFINITY;
    let information = model.information(theta);
    // In standard errors, all families have the same tolerances.
    let unit = information.sqrt();
    let score = |x: f64| model.score(theta, x);
    let moment = |f: &dyn Fn(f64) -> f64| support.expectation(model, theta, inf, f);
    assert_close(moment(&|_| 1.0), 1.0, 1e-10, &format!("total mass at {theta}"));
    assert_close(moment(&score), 0.0, 1e-9 * unit, &format!("mean score at {theta}"));
    assert_close(moment(&|x| score(x).powi(2)), information, 1e-9 * information, &format!("information at {theta}"));

    let points = support.points();
    for &x in &points {
        let place = format!("at theta {theta}, x {x}");
        let below = support.expectation(model, theta, x, |_| 1.0);
        assert_close(model.cdf(theta, x), below, 1e-10, &format!("cdf {place}"));
        let slope = support.expectation(model, theta, x, score);
        assert_close(model.cdf_dtheta(theta, x), slope, 1e-10 * unit, &format!("cdf_dtheta {place}"));

        let kink = matches!(support, Support::Line { centre, .. } if centre == x);
        if model.ln_density(theta, x).is_finite() && !kink {
            let step = 1e-3 * (1.0 / unit).min(1.0 / information);
            let log = |i: f64| model.ln_density(theta + i * step, x);
            let difference = (8.0 * (log(1.0) - log(-1.0)) - (log(2.0) - log(-2.0))) / (12.0 * step);
            // What rounding of the five logarithms leaves over.
            let noise = 1e-15 * (1.0 + log(0.0).abs()) / step;
            assert_close(score(x), difference, 1e-8 * (unit + score(x).abs()) + noise, &format!("score {place}"));
        }
        for &y in points.iter().chain([&inf]) {
            let mass = model.mass(theta, x, y);
            let difference = (model.cdf(theta, y) - model.cdf(theta, x)).max(0.0);
            assert_close(mass, difference, 1e-14, &format!("mass {place} to {y}"));
        }
    }
    assert_close(model.mass(theta, -inf, inf), 1.0, 1e-15, "mass of everything");
    assert_close(model.mass_dtheta(theta, -inf, inf), 0.0, 1e-15 * unit, "its derivative");
}

/// The p-values of draws with parameter `drawn` under the law with parameter `theta`: one by one, and in bulk.
fn p_values(model: &impl Family, theta: f64, drawn: f64, support: Support) -> [f64; 2] {
    let cuts = support.cuts(model, theta);
    assert!(!cuts.is_empty(), "no cells at {theta}");
    let rng = |block| stream(20_261, Purpose::Data, theta.to_bits(), block);
    let [mut single, mut bulk] = [vec![0.0; DRAWS], vec![0.0; DRAWS]];
    let mut one = rng(0);
    single.iter_mut().for_each(|x| *x = model.sample(drawn, &mut one));
    ldp_simulate::Draw::draw(model, drawn, &mut rng(1), &mut bulk);
    let low = [f64::NEG_INFINITY].into_iter().chain(cuts.iter().copied());
    let high = cuts.iter().copied().chain([f64::INFINITY]);
    let law: Vec<f64> = low.zip(high).map(|(low, high)| model.mass(theta, low, high)).collect();
    [single, bulk].map(|values| {
        let mut counts = vec![0u64; cuts.len() + 1];
        values.iter().for_each(|x| counts[cuts.partition_point(|cut| cut <= x)] += 1);
        goodness_of_fit(&counts, &law)
    })
}

/// The sampler follows the law, and the test would notice if it did not.
fn check_sampler(model: &impl Family, theta: f64, support: Support) {
    let found = p_values(model, theta, theta, support);
    assert!(found.iter().all(|&p| p > ALPHA), "draws at {theta} do not follow the law: p = {found:?}");
    let error = 0.05 / model.information(theta).sqrt();
    let mutant = if model.check(theta + error).is_ok() { theta + error } else { theta - error };
    let found = p_values(model, theta, mutant, support);
    assert!(found.iter().all(|&p| p < ALPHA), "draws at {mutant} pass for {theta}: p = {found:?}");
}

/// No NaN for any parameter of the space and any observation but NaN; the limits at infinity.
fn check_edges(model: &impl Family, thetas: &[f64]) {
    let inf = f64::INFINITY;
    let points = [-inf, -1e308, -1e160, -40.0, -1e-308, 0.0, 1e-308, 0.5, 1.0, 3.0, 40.0, 1e9, 1e17, 1e160, 1e308, inf];
    for &theta in thetas {
        model.check(theta).expect("a parameter of the family");
        assert_eq!((model.cdf(theta, -inf), model.cdf(theta, inf)), (0.0, 1.0), "cdf at {theta:e}");
        assert_eq!((model.cdf_dtheta(theta, -inf), model.cdf_dtheta(theta, inf)), (0.0, 0.0), "slope at {theta:e}");
        assert!(!model.information(theta).is_nan());
        assert!(!model.sample(theta, &mut stream(1, Purpose::Data, 0, 0)).is_nan());
        for &x in &points {
            let place = format!("at theta {theta:e}, x {x:e}");
            assert!((0.0..=1.0).contains(&model.cdf(theta, x)), "cdf {place}");
            assert!(!model.cdf_dtheta(theta, x).is_nan(), "cdf_dtheta {place}");
            assert!(!model.ln_density(theta, x).is_nan(), "ln_density {place}");
            assert!(!model.score(theta, x).is_nan(), "score {place}");
            for &y in &points {
                let mass = model.mass(theta, x, y);
                assert!((0.0..=1.0 + 1e-15).contains(&mass), "mass {place} to {y:e}: {mass:e}");
                assert!(x < y || mass == 0.0, "mass {place} to {y:e}: {mass:e}");
            }
        }
    }
}

/// Numbers outside the space are refused by name.
fn check_rejects(model: &impl Family, outside: &[f64]) {
    for &theta in outside.iter().chain(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
        let error = model.check(theta).expect_err("outside the space");
        assert!(matches!(error, Error::Parameter { name: "theta", .. }), "{error} for {theta}");
    }
}

/// The family has this symmetry, and says so.
fn check_symmetric(model: &impl Family, symmetry: Symmetry, thetas: &[f64]) {
    assert_eq!(model.symmetry(), symmetry);
    check_symmetry(model, thetas).unwrap();
}

/// All checks of one family at five parameters.
fn check(model: &impl Family, thetas: [f64; 5], support: impl Fn(f64) -> Support) {
    for theta in thetas {
        check_law(model, theta, support(theta));
        check_sampler(model, theta, support(theta));
    }
}

const LOCATIONS: [f64; 5] = [-3.5, -0.1, 0.3, 2.0, 40.0];
const PROBABILITIES: [f64; 5] = [0.01, 0.2, 0.5, 0.77, 0.99];
const FAR: [f64; 5] = [-1e308, -1e20, 0.0, 1e-300, 1e308];
const SCALES: [f64; 4] = [1e-300, 1e-9, 1e12, 1e300];
const NOT_POSITIVE: [f64; 3] = [0.0, -0.0, -1.0];

fn line(scale: f64) -> impl Fn(f64) -> Support {
    move |centre| Support::Line { centre, scale }
}

/// A location family by its constructor from the scale.
fn check_location<M: Family>(build: impl Fn(f64) -> Result<M, Error>, name: &str) {
    for scale in [1.0, 0.25] {
        check(&build(scale).unwrap(), LOCATIONS, line(scale));
        check_symmetric(&build(scale).unwrap(), Symmetry::Location, &LOCATIONS);
    }
    for scale in [1e-300, 1.0, 1e300] {
        check_edges(&build(scale).unwrap(), &FAR);
    }
    check_rejects(&build(1.0).unwrap(), &[]);
    for scale in NOT_POSITIVE.iter().chain(&[f64::NAN, f64::INFINITY]) {
        let error = build(*scale).err().expect("not a scale");
        assert!(matches!(error, Error::Parameter { name: found, .. } if found == name), "{error}");
    }
    // Symmetric: the upper tail is as accurate as the lower.
    let model = build(1.0).unwrap();
    for (low, high) in [(0.1, 0.2), (1.0, 1.5), (9.0, 9.25), (12.0, 13.0), (20.0, 30.0), (30.0, f64::INFINITY)] {
        let (above, below) = (model.mass(0.0, low, high), model.mass(0.0, -high, -low));
        assert!(above > 0.0 && (above / below - 1.0).abs() < 1e-13, "{low} to {high}: {above:e}, {below:e}");
    }
}

#[test]
fn gaussian() {
    check_location(Gaussian::new, "sigma");
    let model = Gaussian::new(2.0).unwrap();
    assert_eq!(model.sigma(), 2.0);
    assert_eq!(model.mass(1.0, 21.0, f64::INFINITY), normal::sf(10.0));
}

#[test]
fn laplace() {
    check_location(Laplace::new, "scale");
    let model = Laplace::new(2.0).unwrap();
    assert_eq!(model.scale(), 2.0);
    assert_close(model.mass(1.0, 201.0, f64::INFINITY) / (0.5 * (-100f64).exp()), 1.0, 1e-14, "upper tail");
    // Narrower than the difference of two cdfs can see.
    assert_close(
        model.mass(0.0, 0.5, 0.5 + 2f64.powi(-52)) / (0.25 * (-0.25f64).exp() * 2f64.powi(-52)),
        1.0,
        1e-14,
        "narrow",
    );
}

#[test]
fn logistic() {
    check_location(Logistic::new, "scale");
    let model = Logistic::new(2.0).unwrap();
    assert_eq!(model.scale(), 2.0);
    assert_close(model.mass(1.0, 201.0, f64::INFINITY) / (-100f64).exp(), 1.0, 1e-14, "upper tail");
}

#[test]
fn student_t() {
    for degrees in [0.5, 1.0, 2.5, 4.0, 60.0, 1e5] {
        check_location(|scale| StudentT::new(degrees, scale), "scale");
    }
    for degrees in NOT_POSITIVE {
        assert!(matches!(StudentT::new(degrees, 1.0), Err(Error::Parameter { name: "degrees", .. })));
    }
    for degrees in [1e-3, 1e9, 1e19, 1e21, 1e300] {
        check_edges(&StudentT::new(degrees, 1.0).unwrap(), &FAR);
    }
    let model = StudentT::new(2.0, 3.0).unwrap();
    assert_eq!((model.degrees(), model.scale()), (2.0, 3.0));
}

/// Closed forms at one and two degrees of freedom, and the normal law at very many.
#[test]
fn student_t_tails() {
    let inf = f64::INFINITY;
    let (cauchy, two) = (StudentT::new(1.0, 1.0).unwrap(), StudentT::new(2.0, 1.0).unwrap());
    for z in [0.1, 1.0, 30.0, 1e5, 1e7, 1e9, 1e100, 1e250] {
        let expected = f64::atan(1.0 / z) / std::f64::consts::PI;
        assert_close(cauchy.mass(0.0, z, inf) / expected, 1.0, 1e-13, &format!("Cauchy at {z}"));
        assert_close(cauchy.cdf(0.0, -z) / expected, 1.0, 1e-13, &format!("Cauchy at -{z}"));
        let root = 2f64.sqrt().hypot(z);
        let expected = 1.0 / root / (root + z);
        if expected > 0.0 {
            assert_close(two.mass(0.0, z, inf) / expected, 1.0, 1e-13, &format!("two degrees at {z}"));
        }
    }
    for (degrees, tolerance) in [(1e12, 1e-7), (1e16, 1e-11), (1e19, 1e-12), (1e21, 1e-13)] {
        let many = StudentT::new(degrees, 1.0).unwrap();
        for z in [0.5, 2.0, 10.0, 25.0] {
            let place = format!("{degrees:e} degrees at {z}");
            assert_close(many.cdf(0.0, -z) / normal::cdf(-z), 1.0, tolerance, &place);
            assert_close(many.ln_density(0.0, z), normal::ln_pdf(z), 1e3 * tolerance, &place);
        }
    }
}

#[test]
fn exponential() {
    check_symmetric(&Exponential, Symmetry::Scale, &[1e-9, 0.3, 1.0, 7.5, 1e12]);
    check(&Exponential, [0.01, 0.4, 1.0, 3.0, 500.0], |scale| Support::Positive { scale });
    check_edges(&Exponential, &SCALES);
    check_rejects(&Exponential, &NOT_POSITIVE);
    assert_close(Exponential.mass(2.0, 200.0, f64::INFINITY) / (-100f64).exp(), 1.0, 1e-14, "upper tail");
}

#[test]
fn gaussian_scale() {
    check_symmetric(&GaussianScale, Symmetry::Scale, &[1e-9, 0.3, 1.0, 7.5, 1e12]);
    check(&GaussianScale, [0.01, 0.4, 1.0, 3.0, 500.0], |scale| Support::Line { centre: 0.0, scale });
    check_edges(&GaussianScale, &SCALES);
    check_rejects(&GaussianScale, &NOT_POSITIVE);
    assert_eq!(GaussianScale.mass(2.0, 20.0, f64::INFINITY), normal::sf(10.0));
}

#[test]
fn bernoulli() {
    check_symmetric(&Bernoulli, Symmetry::None, &[]);
    check(&Bernoulli, PROBABILITIES, |_| Support::Atoms { end: 2 });
    check_edges(&Bernoulli, &[1e-300, 0.5, 1.0 - f64::EPSILON]);
    check_rejects(&Bernoulli, &[0.0, 1.0, -0.5, 1.5]);
    assert_eq!(Bernoulli.mass(1e-30, 1.0, 2.0), 1e-30);
    // The law itself has its limits.
    assert_eq!((Bernoulli.cdf(0.0, 0.5), Bernoulli.cdf(1.0, 0.5)), (1.0, 0.0));
}

#[test]
fn poisson() {
    check_symmetric(&Poisson, Symmetry::None, &[]);
    check(&Poisson, [0.05, 0.9, 4.0, 25.0, 1000.0], |mean| Support::Atoms {
        end: (mean + 20.0 * mean.sqrt()) as u32 + 40,
    });
    check_edges(&Poisson, &[1e-300, 1e-3, 1e6, 1e15, 1e18, 1e20, 1e40, 1e300]);
    check_rejects(&Poisson, &NOT_POSITIVE);
    // The cells start at whole numbers and between them, and the tails keep their digits.
    assert_eq!(Poisson.cdf(3.0, 2.5), Poisson.cdf(3.0, 3.0));
    let atom = |k: f64| Poisson.ln_density(3.0, k).exp();
    for (first, end) in [(40.0, 60.0), (40.0, f64::INFINITY), (40.0, 42.0), (39.5, 41.5)] {
        let sum: f64 = (40..200).map(f64::from).filter(|&k| k < end).map(atom).sum();
        assert_close(Poisson.mass(3.0, first, end) / sum, 1.0, 1e-12, &format!("upper tail to {end}"));
    }
    assert!(atom(2.5) == 0.0 && atom(-1.0) == 0.0);
}

#[test]
fn categorical() {
    for size in [2, 3, 10] {
        check(&Categorical::new(size).unwrap(), PROBABILITIES, |_| Support::Atoms { end: size });
    }
    check_edges(&Categorical::new(5).unwrap(), &[1e-300, 0.5, 1.0 - f64::EPSILON]);
    check_edges(&Categorical::new(u32::MAX).unwrap(), &[1e-300, 0.5, 1.0 - f64::EPSILON]);
    check_rejects(&Categorical::new(5).unwrap(), &[0.0, 1.0, -0.5, 1.5]);
    assert!(matches!(Categorical::new(1), Err(Error::TooFew { least: 2, value: 1, .. })));
    assert_eq!(Categorical::new(7).unwrap().size(), 7);
}

#[test]
fn categorical_with_all_its_parameters() {
    let model = Categorical::new(4).unwrap();
    let theta = [0.5, 0.25, 0.125];
    assert_eq!(model.parameters(), 3);
    model.check_all(&theta).unwrap();
    assert!(matches!(model.check_all(&[0.5; 2]), Err(Error::TooFew { least: 3, value: 2, .. })));
    assert!(matches!(model.check_all(&[0.1; 4]), Err(Error::TooMany { most: 3, value: 4, .. })));
    for bad in [[0.5, 0.25, 0.25], [0.5, 0.0, 0.25], [0.5, f64::NAN, 0.25], [-0.5, 0.25, 0.25]] {
        assert!(matches!(model.check_all(&bad), Err(Error::Parameter { .. })), "{bad:?}");
    }
    let below = [f64::NEG_INFINITY, 0.0, 0.5, 1.0, 2.0, 3.0, 3.5, f64::INFINITY].map(|x| model.cdf_all(&theta, x));
    assert_eq!(below, [0.0, 0.0, 0.5, 0.5, 0.75, 0.875, 1.0, 1.0]);
    for x in [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, f64::INFINITY] {
        let mut gradient = [f64::NAN; 3];
        model.cdf_gradient(&theta, x, &mut gradient);
        for (i, slope) in gradient.into_iter().enumerate() {
            let mut moved = theta;
            moved[i] += 2f64.powi(-10);
            let difference = (model.cdf_all(&moved, x) - model.cdf_all(&theta, x)) * 2f64.powi(10);
            assert_eq!(slope, difference, "parameter {i} at {x}");
        }
    }
    // On the curve of the one-parameter family both agree.
    for x in [0.0, 1.0, 2.0, 3.0, 4.0] {
        assert_close(model.cdf_all(&[0.4, 0.2, 0.2], x), model.cdf(0.4, x), 1e-15, "curve");
    }
}

/// Far narrower than the law, an interval has the mass density × width, to all digits: not what a difference of two
/// distribution functions would leave.
#[test]
fn narrow_intervals_keep_their_digits() {
    fn check(model: &impl Family, theta: f64, x: f64, name: &str) {
        for width in [1e-4f64, 1e-8, 1e-12] {
            let high = x + width;
            // The width that the two numbers really have.
            let (width, middle) = (high - x, x + 0.5 * width);
            let density = model.ln_density(theta, middle).exp();
            let slope = model.score(theta, middle) * density;
            // The density is not constant over the interval: width² / 24 of its curvature.
            let tolerance = 1e-13 + width * width;
            let mass = model.mass(theta, x, high) / (density * width) - 1.0;
            assert!(mass.abs() < tolerance, "{name} at {x}: mass off by {mass:e}");
            let derivative = model.mass_dtheta(theta, x, high) / (slope * width) - 1.0;
            assert!(derivative.abs() < tolerance + 1e-12, "{name} at {x}: derivative off by {derivative:e}");
        }
    }
    for x in [-3.0, -0.3, 1.0, 4.0] {
        check(&Gaussian::new(1.0).unwrap(), 0.2, x, "gaussian");
        check(&Laplace::new(2.0).unwrap(), 0.2, x, "laplace");
        check(&Logistic::new(0.7).unwrap(), 0.2, x, "logistic");
        check(&StudentT::new(3.0, 1.0).unwrap(), 0.2, x, "student-t");
        check(&StudentT::new(0.5, 1.0).unwrap(), 0.2, x, "student-t");
    }
}
