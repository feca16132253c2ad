//! Every estimate lies in its own interval, and no interval is a point: all protocols, after every answer that can come back
//! from one, two and three users and the extreme answers of many, at fifty settings that nobody chose.

use ldp_core::conformance::{Violation, check_edges, check_edges_with};
use ldp_core::model::{Bernoulli, Categorical, Exponential, GaussianScale, Laplace as LaplaceModel, Poisson};
use ldp_core::{Bits, StagedEstimator, Step, Tally};
use ldp_core::{Epsilon, Inference, IntervalKind};
use ldp_estimators::{
    BitwisePilot, ClippedMean, ClippedMoments, ClippedMomentsUnknownVariance, DuchiRogers, Efficient, Joseph,
    JosephOneRound, Liu, OneStage, Rescaled, Share, ThreeStage, TwoStage,
};
use ldp_mechanisms::{Duchi, Laplace, Piecewise, Range};
use ldp_simulate::AnyModel;
use ldp_simulate::seed::{Purpose, stream};
use rand::RngExt;
use std::sync::Arc;

const SETTINGS: u64 = 50;
const FEW: [u64; 4] = [1, 2, 3, 40];

/// A place, σ, a width and ε, over decades.
struct Setting {
    epsilon: Epsilon,
    place: f64,
    sigma: f64,
    width: f64,
    users: Vec<u64>,
}

fn settings() -> impl Iterator<Item = Setting> {
    (0..SETTINGS).map(|number| {
        let mut rng = stream(20_261_119, Purpose::Data, number, 0);
        let mut decades = |low: f64, high: f64| low * (high / low).powf(rng.random::<f64>());
        let (sigma, away, width) = (decades(1e-6, 1e6), decades(1e-3, 1e9), decades(1e-2, 1e4));
        let (level, many) = (decades(0.01, 20.0), decades(10.0, 1e15).round() as u64);
        let side = if number % 2 == 0 { 1.0 } else { -1.0 };
        let users = FEW.into_iter().chain([many]).collect();
        Setting {
            epsilon: Epsilon::new(level).unwrap(),
            place: side * away * sigma,
            sigma,
            width: width * sigma,
            users,
        }
    })
}

fn hold(number: usize, checks: &[Result<(), Violation>]) {
    for (protocol, check) in checks.iter().enumerate() {
        if let Err(violation) = check {
            panic!("setting {number}, protocol {protocol}: {violation}");
        }
    }
}

#[test]
fn sign_protocols_and_clipped_bits() {
    for (number, Setting { epsilon, place, sigma, width, users }) in settings().enumerate() {
        let unit = place / sigma;
        let bits = ClippedMean::new(Duchi::new(epsilon, Range::new(place, place + width).unwrap()).unwrap());
        hold(
            number,
            &[
                check_edges(&Rescaled::new(OneStage::new(epsilon, unit).unwrap(), sigma).unwrap(), &users),
                check_edges(&Rescaled::new(TwoStage::tuned(epsilon, unit).unwrap(), sigma).unwrap(), &users),
                check_edges(
                    &Rescaled::new(DuchiRogers::new(epsilon, unit, width / sigma).unwrap(), sigma).unwrap(),
                    &users,
                ),
                check_edges_with(&bits, &users, &|_| vec![0, 1]),
            ],
        );
    }
}

#[test]
fn sequential_protocols() {
    // A critical value takes a millisecond, and here every estimate needs four: a tenth of the settings unless all are wanted.
    let stride = if std::env::var_os("LDP_FULL").is_some() { 1 } else { 10 };
    for (number, Setting { epsilon, place, sigma, .. }) in settings().enumerate().step_by(stride) {
        let liu = Liu::new(epsilon, place / sigma).unwrap();
        let batches = liu.batch(2).unwrap().quantile(0.9).unwrap();
        hold(
            number,
            &[
                check_edges(&Rescaled::new(liu, sigma).unwrap(), &FEW[..3]),
                check_edges(&Rescaled::new(batches, sigma).unwrap(), &FEW[..3]),
            ],
        );
    }
}

#[test]
fn protocols_with_a_pilot() {
    for (number, Setting { epsilon, place, sigma, width, .. }) in settings().enumerate() {
        let Ok(pilot) = BitwisePilot::new(epsilon, [place, place + width], sigma, Share::HALF) else { continue };
        let users = [pilot.fewest_per_scale().saturating_mul(4 * u64::from(pilot.scales())).max(10_000)];
        hold(
            number,
            &[
                check_edges(&ThreeStage::three_rounds(epsilon, pilot.clone(), sigma, None).unwrap(), &users),
                check_edges(&Joseph::two_rounds(epsilon, pilot.clone(), sigma).unwrap(), &users),
                check_edges(&JosephOneRound::new(epsilon, pilot, sigma).unwrap(), &users),
            ],
        );
    }
}

#[test]
fn protocols_with_real_reports() {
    for (number, Setting { epsilon, place, sigma, width, users }) in settings().enumerate() {
        let range = Range::new(place, place + width).unwrap();
        let laplace = Laplace::new(epsilon, range).unwrap();
        let reports = [-3.0, -1.0, 0.0, 1.0, 40.0];
        hold(
            number,
            &[
                check_edges_with(&ClippedMean::new(laplace), &users, &|_| reports.to_vec()),
                check_edges_with(&ClippedMean::new(Piecewise::new(epsilon, range).unwrap()), &users, &|_| {
                    reports.to_vec()
                }),
                check_edges_with(&ClippedMoments::new(epsilon, sigma, range).unwrap(), &users, &|_| reports.to_vec()),
            ],
        );
        if let Ok(both) = ClippedMomentsUnknownVariance::new(epsilon, sigma, range) {
            let wrapped = |question: &_| match question {
                ldp_core::Either::First(_) => reports.to_vec(),
                ldp_core::Either::Second(_) => reports.to_vec(),
            };
            hold(number, &[check_edges_with(&both, &users, &wrapped)]);
        }
    }
}

#[test]
fn the_efficient_protocol_under_every_family() {
    let families: [(Arc<dyn AnyModel>, f64); 6] = [
        (Arc::new(Bernoulli), 0.5),
        (Arc::new(Categorical::new(5).unwrap()), 0.3),
        (Arc::new(Exponential), 2.0),
        (Arc::new(GaussianScale), 0.4),
        (Arc::new(Poisson), 3.0),
        (Arc::new(LaplaceModel::new(2.0).unwrap()), -7.0),
    ];
    for (model, start) in families {
        for level in [0.3, 1.0, 4.0] {
            let estimator = Efficient::new(Arc::clone(&model), Epsilon::new(level).unwrap(), start, 1).unwrap();
            check_edges(&estimator, &FEW).unwrap_or_else(|violation| panic!("start {start}, ε = {level}: {violation}"));
        }
    }
}

/// The mean of values in a range lies in the range, whatever noise says; before, its estimate and interval left it.
#[test]
fn the_mean_of_clipped_values_stays_where_they_are() {
    let range = Range::new(0.0, 1.0).unwrap();
    for level in [0.1, 1.0, 5.0] {
        let estimator = ClippedMean::new(Duchi::new(Epsilon::new(level).unwrap(), range).unwrap());
        for users in [1, 2, 3, 10, 1000] {
            for ones in 0..=users {
                let Step::Done(estimate) = estimator.advance((), &[Bits::new(ones, users).unwrap()]).unwrap() else {
                    panic!("one round")
                };
                assert!((0.0..=1.0).contains(&estimate.value()));
                if let Ok(interval) = estimate.interval(IntervalKind::Wald, 0.95) {
                    assert!(
                        0.0 <= interval.low && interval.low < interval.high && interval.high <= 1.0,
                        "{interval:?}"
                    );
                }
            }
        }
    }
}

/// A count of either kind alone: a value that is a fallback lies in the interval, which still covers what it did.
#[test]
fn a_fallback_lies_in_its_interval() {
    let estimator = OneStage::new(Epsilon::new(4.0).unwrap(), 0.0).unwrap();
    let Step::Done(all) = estimator.advance((), &[Bits::new(12, 12).unwrap()]).unwrap() else { panic!("one round") };
    let (stage, interval) =
        (all.last().exact_interval(0.95).unwrap(), all.interval(IntervalKind::Exact, 0.95).unwrap());
    assert!(stage.low > all.value() && stage.high == f64::INFINITY);
    assert_eq!((interval.low, interval.high), (all.value(), f64::INFINITY));
}

/// Two users who disagree leave a batch where it was: no path, and no interval that is a point.
#[test]
fn a_path_that_does_not_move_has_no_interval() {
    let estimator = Liu::new(Epsilon::new(1.0).unwrap(), 3.0).unwrap().batch(2).unwrap();
    let Step::Ask { state, .. } = estimator.begin(2).unwrap() else { panic!("asks first") };
    let mut tally = Bits::default();
    tally.push(1, 1).unwrap();
    tally.push(0, 1).unwrap();
    let Step::Done(estimate) = estimator.advance(state, &[tally]).unwrap() else { panic!("one batch") };
    assert_eq!(estimate.value(), 3.0);
    assert!(estimate.interval(IntervalKind::SelfNormalised, 0.95).is_err());
}
