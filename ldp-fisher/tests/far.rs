//! The best mechanism far from zero, at the ends of the parameter space and at the ends of ε: a proved bound is never below what
//! a mechanism is known to have.

use ldp_core::model::{
    Bernoulli, Categorical, Cdf, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, Score, StudentT,
    Support, Symmetry,
};
use ldp_core::{Epsilon, Error};
use ldp_fisher::optimal::{Cells, Certificate, certify, largest};
use ldp_fisher::{exact, one_bit};
use ldp_simulate::AnyModel;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Ten to a random power.
fn decades(rng: &mut SimulationRng, low: f64, high: f64) -> f64 {
    10f64.powf(rng.random_range(low..high))
}

/// A certificate that holds in itself: the mechanism is as informative and as private as is said, and the bound above it.
fn sound(model: &(impl Cdf + Score + ?Sized), certificate: &Certificate, what: &str) {
    certificate.verify(model).unwrap_or_else(|error| panic!("{what}: {error}"));
    let Certificate { theta, information, upper_bound, ref mechanism, .. } = *certificate;
    assert_eq!(exact(mechanism, model, theta).unwrap().value, information, "{what}");
    assert!(information > 0.0 && information <= upper_bound, "{what}: {information:e} above {upper_bound:e}");
    assert!(upper_bound <= model.information(theta), "{what}");
}

/// How many settings chosen by nobody: a sample, or the full grid.
fn settings(quick: u64, full: u64) -> u64 {
    if std::env::var_os("LDP_FULL").is_some() { full } else { quick }
}

/// A family of locations whose parameter lies anywhere within 30 decades of its scale, on both sides.
fn location(rng: &mut SimulationRng) -> (Box<dyn AnyModel>, f64, f64) {
    let scale = decades(rng, -60.0, 60.0);
    let model: Box<dyn AnyModel> = match rng.random_range(0..4) {
        0 => Box::new(Gaussian::new(scale).unwrap()),
        1 => Box::new(Logistic::new(scale).unwrap()),
        2 => Box::new(Laplace::new(scale).unwrap()),
        _ => Box::new(StudentT::new(decades(rng, -0.3, 2.0), scale).unwrap()),
    };
    let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
    (model, scale, sign * scale * decades(rng, -12.0, 18.0))
}

#[test]
fn locations_are_as_informative_everywhere_or_refused() {
    let (mut kept, mut refused, mut far) = (0, 0, 0);
    for case in 0..settings(60, 600) {
        let mut rng = stream(14, Purpose::Data, case, 0);
        let (model, scale, theta) = location(&mut rng);
        let level = rng.random_range(0.05..6.0);
        let home = certify(&*model, 0.0, epsilon(level)).unwrap();
        let what = format!("case {case}: theta {theta:e}, scale {scale:e}, epsilon {level}");
        sound(&*model, &home, &what);
        let known = largest(&*model, theta, epsilon(level)).unwrap();
        assert!((known / home.information - 1.0).abs() < 1e-14, "{what}: {known:e}");
        let bit = one_bit(&*model, theta, epsilon(level)).map_or(0.0, |bit| bit.information);
        match certify(&*model, theta, epsilon(level)) {
            Ok(certificate) => {
                sound(&*model, &certificate, &what);
                assert!((certificate.information / home.information - 1.0).abs() <= 1e-9, "{what}: {certificate:?}");
                assert!((certificate.upper_bound / home.upper_bound - 1.0).abs() <= 1e-14, "{what}");
                assert!(certificate.upper_bound >= home.information && certificate.upper_bound >= bit, "{what}");
                kept += 1;
                far += u32::from(theta.abs() > 1e12 * scale);
            }
            Err(Error::Coarse { lost, .. }) => {
                assert!(theta.abs() > 1e10 * scale && lost > 1e-9, "{what} is not so far");
                refused += 1;
            }
            Err(other) => panic!("{what}: {other}"),
        }
    }
    println!("{kept} certified, {far} of them beyond 1e12 scales; {refused} refused");
    assert!(kept > 30 && refused > 4 && far > 2);
}

#[test]
fn scales_are_as_informative_in_every_unit() {
    for case in 0..settings(20, 200) {
        let mut rng = stream(15, Purpose::Data, case, 0);
        let model: Box<dyn AnyModel> = if case % 2 == 0 { Box::new(Exponential) } else { Box::new(GaussianScale) };
        let (theta, level) = (decades(&mut rng, -139.0, 139.0), decades(&mut rng, -1.5, 0.8));
        let what = format!("case {case}: theta {theta:e}, epsilon {level}");
        let home = certify(&*model, 1.0, epsilon(level)).unwrap();
        let certificate = certify(&*model, theta, epsilon(level)).unwrap();
        sound(&*model, &certificate, &what);
        for (there, here) in [
            (certificate.information, home.information),
            (certificate.upper_bound, home.upper_bound),
            (
                one_bit(&*model, theta, epsilon(level)).unwrap().information,
                one_bit(&*model, 1.0, epsilon(level)).unwrap().information,
            ),
        ] {
            assert!((there * theta * theta / here - 1.0).abs() < 1e-9, "{what}: {there:e} {here:e}");
        }
    }
    // Beyond, squares leave the range of numbers.
    for theta in [1e-300, 1e-145, 1e145, 1e300] {
        for model in [&Exponential as &dyn AnyModel, &GaussianScale] {
            let refused = certify(model, theta, epsilon(1.0));
            assert!(
                matches!(refused, Err(Error::Parameter { name: "the information of a value at theta", .. })),
                "{refused:?}"
            );
        }
    }
}

/// The information of Poisson counts in cells of one count each, from their probabilities alone: a mechanism on these cells is
/// one on the counts, but for what lies beyond them.
fn counts(theta: f64, level: f64) -> f64 {
    let spread = 12.0 * theta.sqrt() + 30.0;
    let (first, last) = ((theta - spread).floor().max(0.0), (theta + spread).ceil());
    let edges = (0..=(last - first) as u32).map(|i| first + f64::from(i));
    let (mut masses, mut slopes) = (Vec::new(), Vec::new());
    for k in edges {
        let low = if k == first { f64::NEG_INFINITY } else { k };
        let high = if k == last { f64::INFINITY } else { k + 1.0 };
        let mass = Poisson.mass(theta, low, high);
        if mass > 1e-30 {
            masses.push(mass);
            slopes.push(Poisson.mass_dtheta(theta, low, high));
        }
    }
    let cells = Cells::new(masses, slopes).unwrap();
    cells.grouping(epsilon(level)).unwrap().information
}

#[test]
fn bounds_of_counts_hold_at_every_mean() {
    for case in 0..settings(24, 240) {
        let mut rng = stream(16, Purpose::Data, case, 0);
        let (theta, level) = (decades(&mut rng, -12.0, 19.0), decades(&mut rng, -1.0, 0.75));
        let what = format!("case {case}: theta {theta:e}, epsilon {level}");
        let certificate = certify(&Poisson, theta, epsilon(level)).unwrap();
        sound(&Poisson, &certificate, &what);
        if theta < 2000.0 {
            let known = counts(theta, level);
            assert!(certificate.upper_bound >= known * (1.0 - 1e-12), "{what}: {known:e} {certificate:?}");
        }
        if theta > 1e3 {
            // The law is normal, but for a skewness of 1/√θ, which has no effect to first order by symmetry.
            let normal = largest(&Gaussian::new(1.0).unwrap(), 0.0, epsilon(level)).unwrap();
            for value in [certificate.information, certificate.upper_bound] {
                let off = value * theta / normal - 1.0;
                assert!(off.abs() < 4.0 / theta + 1e-6, "{what}: {off:e}");
            }
            assert!((certificate.information * theta / normal - 1.0).abs() < 40.0 / theta + 2e-11, "{what}");
        }
    }
}

#[test]
fn ends_of_the_parameter_space_and_of_the_level() {
    let small = Categorical::new(5).unwrap();
    let large = Categorical::new(4_000_000_000).unwrap();
    for theta in [1e-200, 1e-30, 1e-12, 1e-4, 0.5, 1.0 - 1e-6, 1.0 - 2f64.powi(-53)] {
        for level in [1e-6, 1e-3, 1.0, 6.0, 30.0] {
            let what = format!("theta {theta:e}, epsilon {level}");
            // Two outcomes: all that can be told is which, and the response of one bit is the best.
            let [none, one] = [1.0 - theta, theta];
            let growth = f64::exp_m1(level);
            let response =
                growth * growth / (growth + 2.0) * (1.0 / (1.0 + growth * none) + 1.0 / (1.0 + growth * one));
            for (number, model) in [&Bernoulli as &dyn AnyModel, &small, &large].into_iter().enumerate() {
                let certificate =
                    certify(model, theta, epsilon(level)).unwrap_or_else(|error| panic!("{what}: {error}"));
                sound(model, &certificate, &what);
                assert!(certificate.upper_bound >= response * (1.0 - 1e-14), "{what}: {response:e} {certificate:?}");
                // Where not every outcome can be looked at, a score below rounding, 1e-15 units, is not told from zero.
                if number < 2 || theta > 1e-25 {
                    assert!(certificate.upper_bound <= response * (1.0 + 1e-6), "{what}: {response:e} {certificate:?}");
                }
                assert!(
                    (certificate.information / response - 1.0).abs() < 1e-6,
                    "{what}: {response:e} {certificate:?}"
                );
            }
        }
    }
    let families: [(Box<dyn AnyModel>, f64); 7] = [
        (Box::new(Gaussian::new(1e-12).unwrap()), 1.0),
        (Box::new(Gaussian::new(1.0).unwrap()), 1e9),
        (Box::new(StudentT::new(3.0, 1.0).unwrap()), -1e6),
        (Box::new(Logistic::new(1e30).unwrap()), 1e-30),
        (Box::new(Laplace::new(1e-30).unwrap()), 1e10),
        (Box::new(GaussianScale), 1e-100),
        (Box::new(Poisson), 1e16),
    ];
    for (model, theta) in families {
        for level in [1e-6, 30.0] {
            let certificate = certify(&*model, theta, epsilon(level));
            if let Err(Error::Coarse { .. }) = certificate {
                continue;
            }
            let certificate = certificate.unwrap();
            sound(&*model, &certificate, &format!("theta {theta:e}, epsilon {level}: {certificate:?}"));
            assert!(certificate.upper_bound >= one_bit(&*model, theta, epsilon(level)).unwrap().information);
        }
    }
}

/// A family that does not say what it is: it is worked out where it stands.
struct Silent<M>(M);

impl<M: Cdf> Cdf for Silent<M> {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.0.cdf(theta, x)
    }
    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        self.0.cdf_dtheta(theta, x)
    }
    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.0.mass(theta, low, high)
    }
    fn mass_dtheta(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.0.mass_dtheta(theta, low, high)
    }
}

impl<M: Score> Score for Silent<M> {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        self.0.ln_density(theta, x)
    }
    fn score(&self, theta: f64, x: f64) -> f64 {
        self.0.score(theta, x)
    }
    fn information(&self, theta: f64) -> f64 {
        self.0.information(theta)
    }
    fn support(&self, theta: f64) -> Support {
        self.0.support(theta)
    }
    fn symmetry(&self) -> Symmetry {
        Symmetry::None
    }
}

#[test]
fn the_allowance_for_coarse_numbers_is_true() {
    let mut loose = 0;
    for exponent in [0, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17] {
        for level in [0.5, 1.0, 2.1, 3.0, 4.0] {
            let theta = 10f64.powi(exponent);
            let silent = Silent(Gaussian::new(1.0).unwrap());
            let truth = largest(&silent.0, 0.0, epsilon(level)).unwrap();
            match certify(&silent, theta, epsilon(level)) {
                Ok(certificate) => {
                    sound(&silent, &certificate, &format!("theta {theta:e}, epsilon {level}"));
                    let over = certificate.upper_bound / truth - 1.0;
                    assert!(over >= -1e-13, "theta {theta:e}, epsilon {level}: {over:e} below the truth");
                    assert!(exponent > 10 || over < 1e-6, "theta {theta:e}, epsilon {level}: {over:e}");
                    loose += u32::from(over > 1e-3);
                }
                Err(error) => assert!(exponent > 14, "{error}"),
            }
        }
    }
    assert!(loose > 4, "{loose}");
}

/// Rare events: the bound is near what the mechanism has, however far both are below the information of a value. Where there
/// are two outcomes it is that; of counts two and more say a little more than one.
#[test]
fn bounds_of_rare_events_are_near() {
    for (model, theta) in [
        (&Bernoulli as &dyn AnyModel, 1e-8),
        (&Bernoulli, 1e-5),
        (&Bernoulli, 1.0 - 1e-5),
        (&Poisson, 1e-9),
        (&Poisson, 1e-4),
        (&Poisson, 1e-2),
    ] {
        for level in [0.01, 1.0, 3.0, 8.0, 12.0] {
            let certificate = certify(model, theta, epsilon(level)).unwrap();
            let what = format!("theta {theta:e}, epsilon {level}");
            sound(model, &certificate, &what);
            assert!(certificate.relative_gap() < 1e-2, "{what}: {:e}", certificate.relative_gap());
        }
    }
}
