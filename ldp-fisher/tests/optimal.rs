//! The optimal mechanism and its certificate: values, gaps, switching points, and what a certificate does not get away with.

use ldp_core::model::{Bernoulli, Cdf, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, StudentT};
use ldp_core::special::normal;
use ldp_core::{Cuts, Epsilon, Error, Finite, FiniteChannel, Kernel, Partition};
use ldp_fisher::exact;
use ldp_fisher::optimal::{Beta, Certificate, certify, response, response_with};
use ldp_simulate::AnyModel;
use ldp_simulate::seed::{Purpose, stream};
use rand::RngExt;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// Every kind of family: one at a place and in a unit that are not special.
fn families() -> Vec<(Box<dyn AnyModel>, f64)> {
    vec![
        (Box::new(Gaussian::new(1.0).unwrap()), 0.0),
        (Box::new(Gaussian::new(0.3).unwrap()), -7.1),
        (Box::new(Logistic::new(1.0).unwrap()), 0.0),
        (Box::new(StudentT::new(3.0, 1.0).unwrap()), 0.0),
        (Box::new(Laplace::new(2.0).unwrap()), 1.5),
        (Box::new(Exponential), 1.0),
        (Box::new(Exponential), 37.0),
        (Box::new(GaussianScale), 1.0),
        (Box::new(Poisson), 2.5),
        (Box::new(Poisson), 0.07),
        (Box::new(Bernoulli), 0.3),
    ]
}

#[test]
fn gaps_are_below_a_millionth_and_certificates_hold() {
    for (model, theta) in families() {
        for level in [0.01, 0.1, 0.5, 1.0, 1.5, 2.0, 2.2, 2.9, 4.0, 5.3, 6.0, 7.0, 8.0] {
            let certificate = certify(&*model, theta, epsilon(level)).unwrap();
            let gap = certificate.relative_gap();
            assert!((0.0..1e-6).contains(&gap), "{gap:e} at θ {theta}, ε {level}");
            certificate.verify(&*model).unwrap();
            let text = serde_json::to_string(&certificate).unwrap();
            assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), certificate);
        }
    }
}

#[test]
fn beyond_eight_the_gap_grows_but_a_bound_stays_a_bound() {
    let model = Gaussian::new(1.0).unwrap();
    for (level, most) in [(9.5, 1e-5), (12.0, 1e-4), (30.0, 2e-3)] {
        let certificate = certify(&model, 0.0, epsilon(level)).unwrap();
        assert!((0.0..most).contains(&certificate.relative_gap()), "{} at {level}", certificate.relative_gap());
        assert!(certificate.upper_bound <= 1.0 + 1e-11);
        certificate.verify(&model).unwrap();
    }
    let refused = certify(&model, 0.0, epsilon(30.5));
    assert!(matches!(refused, Err(Error::Parameter { name: "epsilon", value: 30.5, .. })), "{refused:?}");
}

/// From independent computations, to the digits they were given with.
#[test]
fn known_values() {
    let gaussian = Gaussian::new(1.0).unwrap();
    for (level, value) in [(2.2, 0.420834478), (3.0, 0.593651361), (4.0, 0.751847210)] {
        let best = response(&gaussian, 0.0, epsilon(level)).unwrap();
        assert!((best.information - value).abs() < 6e-10, "{} at {level}", best.information);
    }
    let ternary = response(&gaussian, 0.0, epsilon(2.2)).unwrap();
    let Partition::Cuts(cuts) = ternary.channel.partition() else { panic!("three cells") };
    assert!((cuts.points()[1] - 0.391101561).abs() < 1e-9 && cuts.points()[0] == -cuts.points()[1]);
    // The score of a Laplace variable is a sign: nothing is lost but by the response, at any level.
    for level in [0.001, 0.3, 1.0, 4.0, 11.0, 25.0f64] {
        let certificate = certify(&Laplace::new(0.5).unwrap(), -3.0, epsilon(level)).unwrap();
        let expected = 4.0 * (0.5 * level).tanh().powi(2);
        assert!((certificate.information / expected - 1.0).abs() < 1e-9, "{level}");
        assert!(certificate.upper_bound >= expected * (1.0 - 1e-15) && certificate.relative_gap() < 1e-9);
    }
}

/// Where one more report begins to pay for a Gaussian mean.
#[test]
fn switching_points_of_the_gaussian() {
    let model = Gaussian::new(1.0).unwrap();
    let gain = |reports: u32, level: f64| {
        let with = |reports| response_with(&model, 0.0, epsilon(level), reports).unwrap().information;
        with(reports + 1) - with(reports)
    };
    for (reports, expected) in
        [(2, 2.0074028525), (3, 3.1388267406), (4, 3.9181339383), (5, 4.5209684783), (6, 5.0152728252)]
    {
        let (mut low, mut high) = (expected - 0.05, expected + 0.05);
        assert!(gain(reports, low) < 0.0 && gain(reports, high) > 0.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if gain(reports, middle) > 0.0 { high = middle } else { low = middle }
        }
        assert!((low - expected).abs() < 1e-9, "{reports}: {low}");
        // Beyond it the best has one more.
        for (level, count) in [(expected - 1e-4, reports), (expected + 1e-4, reports + 1)] {
            assert_eq!(response(&model, 0.0, epsilon(level)).unwrap().reports(), count);
        }
    }
}

fn refused(certificate: &Certificate, model: &(impl Cdf + ldp_core::model::Score + ?Sized)) -> &'static str {
    match certificate.verify(model) {
        Err(Error::Refused { inequality, .. }) => inequality,
        Err(Error::Changed { field, .. }) => field.split(' ').next().unwrap(),
        outcome => panic!("not refused: {outcome:?}"),
    }
}

#[test]
fn tampered_certificates_are_refused_and_say_why() {
    for (model, theta) in families() {
        for level in [0.5, 2.2, 3.0, 4.0] {
            let good = certify(&*model, theta, epsilon(level)).unwrap();
            let mut claims = good.clone();
            claims.information *= 1.0 + 3e-12;
            assert_eq!(refused(&claims, &*model), "information");
            claims.information *= 1.0 - 6e-12;
            assert_eq!(refused(&claims, &*model), "information");
            for factor in [1.0 - 1e-9, 1.0 + 1e-9, -1.0, 1e300] {
                let mut bound = good.clone();
                bound.upper_bound *= factor;
                assert_eq!(refused(&bound, &*model), "upper_bound");
            }
            let mut private = good.clone();
            for factor in [0.99, 1.0 - 1e-9, 1.0 + 1e-9, 1.5] {
                private.epsilon = good.epsilon * factor;
                assert_eq!(refused(&private, &*model), "epsilon");
            }
            let mut low = good.clone();
            low.beta = good.beta.as_ref().map(|beta| moved(beta, |_, value| value - 1e-6));
            assert_eq!(refused(&low, &*model), "G(t) <= 0 for the beta given");
            let mut other = good.clone();
            other.version += 1;
            assert!(matches!(other.verify(&*model), Err(Error::WireVersion { .. })));
            let mut large = good.clone();
            large.epsilon = 31.0;
            assert!(matches!(large.verify(&*model), Err(Error::Parameter { .. })));
        }
    }
}

/// β with other values at its knots.
fn moved(beta: &Beta, value: impl Fn(f64, f64) -> f64) -> Beta {
    let values = beta.knots().iter().zip(beta.values()).map(|(&knot, &at)| value(knot, at)).collect();
    Beta::new(beta.knots().to_vec(), values, beta.below(), beta.above()).unwrap()
}

/// A cut moved by a hundredth with the information kept, and every knot by a thousandth with the bound kept.
#[test]
fn moved_cuts_and_knots_are_refused() {
    let models: [(Box<dyn AnyModel>, f64); 6] = [
        (Box::new(Gaussian::new(1.0).unwrap()), 0.0),
        (Box::new(Logistic::new(1.0).unwrap()), 0.0),
        (Box::new(StudentT::new(3.0, 1.0).unwrap()), 0.0),
        (Box::new(Laplace::new(1.0).unwrap()), 0.0),
        (Box::new(Exponential), 1.0),
        (Box::new(GaussianScale), 1.0),
    ];
    for (model, theta) in models {
        for level in [0.5, 1.0, 2.0, 2.2, 3.0, 4.0, 6.0] {
            let good = certify(&*model, theta, epsilon(level)).unwrap();
            let (points, labels) = match good.mechanism.partition() {
                Partition::Threshold(cut) => (vec![*cut], vec![0, 1]),
                Partition::Cuts(cuts) => (cuts.points().to_vec(), cuts.labels().to_vec()),
                Partition::Periodic { .. } => panic!("no such cells"),
            };
            for (i, step) in (0..points.len()).flat_map(|i| [(i, 0.01), (i, -0.01)]) {
                let mut cuts = points.clone();
                cuts[i] += step;
                let partition = Partition::Cuts(Cuts::labelled(cuts, labels.clone()).unwrap());
                let mechanism = FiniteChannel::new(partition, good.mechanism.kernel().clone()).unwrap();
                let tampered = Certificate { mechanism, ..good.clone() };
                assert_eq!(refused(&tampered, &*model), "information");
            }
            let beta = good.beta.as_ref().unwrap();
            for (i, step) in (0..beta.knots().len()).flat_map(|i| [(i, 1e-3), (i, -1e-3)]) {
                let mut knots = beta.knots().to_vec();
                knots[i] += step;
                // Two knots may be closer than that: then it is no function any more, and cannot even be read.
                let Ok(moved) = Beta::new(knots, beta.values().to_vec(), beta.below(), beta.above()) else { continue };
                let tampered = Certificate { beta: Some(moved), ..good.clone() };
                let why = refused(&tampered, &*model);
                assert!(why.starts_with("G(t)") || why.starts_with("upper_bound"), "{why}");
            }
        }
    }
}

/// ∫βp and G once more, by the midpoint rule on values alone: nothing of the library's own integrals is used.
#[test]
fn the_dual_function_is_feasible_by_plain_sums() {
    let model = Gaussian::new(1.0).unwrap();
    for level in [1.0f64, 3.0, 4.0] {
        let certificate = certify(&model, 0.0, epsilon(level)).unwrap();
        let beta = certificate.beta.as_ref().unwrap();
        const STEPS: i32 = 40_000;
        let points: Vec<(f64, f64, f64)> = (0..STEPS)
            .map(|i| (f64::from(i) + 0.5) / f64::from(STEPS) * 20.0 - 10.0)
            .map(|x| (x, normal::pdf(x) * 20.0 / f64::from(STEPS), beta.at(x)))
            .collect();
        let integral: f64 = points.iter().map(|(_, mass, value)| mass * value).sum();
        assert!((integral - certificate.upper_bound).abs() < 1e-6);
        let highest = |lower: f64| {
            (-150..=150).map(|i| f64::from(i) / 100.0).fold(f64::NEG_INFINITY, |most, t| {
                let sum: f64 = points
                    .iter()
                    .map(|&(x, mass, value)| {
                        let c = 2.0 * t * x - t * t - value + lower;
                        mass * (c + level.exp_m1() * c.max(0.0))
                    })
                    .sum();
                most.max(sum)
            })
        };
        assert!(highest(0.0) < 1e-6 * level.exp(), "{} at {level}", highest(0.0));
        // Lowered by a thousandth it is not.
        assert!(highest(1e-3) > 1e-4, "{} at {level}", highest(1e-3));
    }
}

#[test]
fn no_channel_tried_exceeds_the_bound() {
    let mut rng = stream(1, Purpose::Data, 6, 0);
    for (model, theta) in families() {
        for level in [0.7, 2.5, 5.0] {
            let bound = certify(&*model, theta, epsilon(level)).unwrap().upper_bound;
            let unit = model.information(theta).sqrt().recip();
            for _ in 0..40 {
                let mut cuts: Vec<f64> =
                    (0..rng.random_range(1..6)).map(|_| theta + unit * rng.random_range(-2.0..2.0)).collect();
                cuts.sort_by(f64::total_cmp);
                let kernel = Kernel::response(epsilon(level), cuts.len() as u32 + 1).unwrap();
                let channel = FiniteChannel::new(Partition::Cuts(Cuts::new(cuts).unwrap()), kernel).unwrap();
                assert!(exact(&channel, &*model, theta).unwrap().value <= bound);
            }
        }
    }
}

#[test]
fn families_that_say_nothing_are_refused() {
    assert!(matches!(certify(&Exponential, 0.0, epsilon(1.0)), Err(Error::Parameter { name: "theta", .. })));
    // The information of so narrow a law is beyond double precision.
    let narrow = Gaussian::new(1e-200).unwrap();
    let refused = certify(&narrow, 0.0, epsilon(1.0));
    assert!(
        matches!(refused, Err(Error::Parameter { name: "the information of a value at theta", .. })),
        "{refused:?}"
    );
    let few = response_with(&Bernoulli, 0.5, epsilon(1.0), 3);
    assert!(matches!(few, Err(Error::TooMany { name: "reports", most: 2, value: 3 })), "{few:?}");
    assert!(matches!(response_with(&Bernoulli, 0.5, epsilon(1.0), 1), Err(Error::TooFew { .. })));
    assert_eq!(certify(&Bernoulli, 0.5, epsilon(1.0)).unwrap().mechanism.reports(), 2);
}
