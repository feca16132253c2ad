//! What the tests of one question share.

#![allow(dead_code, reason = "each test uses a part of it")]

use ldp_core::model::{
    Bernoulli, Categorical, Cdf, Exponential, Gaussian, GaussianScale, Laplace as LaplaceModel, Logistic, Poisson,
    Score, StudentT,
};
use ldp_core::{Epsilon, Finite, Inference, IntervalKind, StagedEstimator, Step, Tally};
use ldp_estimators::{Ask, AskEstimate};
use ldp_simulate::AnyModel;
use ldp_simulate::{Fidelity, Setting, replicate_tallies};
use ldp_simulate::{Moments, Summary};
use serde::Serialize;
use std::sync::Arc;

pub const KINDS: [IntervalKind; 2] = [IntervalKind::LikelihoodRatio, IntervalKind::Wald];

pub fn epsilon(level: f64) -> Epsilon {
    Epsilon::new(level).unwrap()
}

pub fn gaussian(sigma: f64) -> Arc<Gaussian> {
    Arc::new(Gaussian::new(sigma).unwrap())
}

/// The estimate from these counts.
pub fn read<Q, M>(ask: &Ask<Q, M>, counts: &[u64]) -> AskEstimate
where
    Q: Finite + Clone,
    M: Cdf + Score + ?Sized,
{
    let mut tally = ask.tally(ask.question());
    for (report, &count) in (0u32..).zip(counts) {
        tally.push(report, count).unwrap();
    }
    match ask.advance((), &[tally]).unwrap() {
        Step::Done(estimate) => estimate,
        Step::Ask { .. } => panic!("one round"),
    }
}

/// The deviance by its definition.
pub fn deviance<Q: Finite, M: Cdf + ?Sized>(question: &Q, model: &M, counts: &[u64], theta: f64, value: f64) -> f64 {
    let log = |theta: f64| {
        let mut law = vec![0.0; counts.len()];
        question.marginal(model, theta, &mut law);
        counts.iter().zip(law).map(|(&count, m)| count as f64 * m.ln()).sum::<f64>()
    };
    2.0 * (log(value) - log(theta))
}

/// Values and coverage at `tally` fidelity.
pub fn simulate<Q, M>(
    ask: &Ask<Q, M>,
    model: &M,
    theta: f64,
    users: u64,
    replications: u64,
    seed: u64,
) -> (Moments, Summary)
where
    Q: Finite + Clone + PartialEq + Serialize + Send + Sync,
    M: AnyModel,
{
    let setting = Setting { model, theta, users, seed, fidelity: Fidelity::Tally };
    let (mut values, mut summary) = (Moments::default(), Summary::new(theta, 0.95, &KINDS));
    replicate_tallies(ask, &setting, 0..replications, &mut |estimate| {
        values.push(estimate.value());
        summary.push(estimate);
    })
    .unwrap();
    (values, summary)
}

/// n·variance against the reciprocal of an information that was worked out elsewhere.
pub fn check_variance<Q, M>(name: &str, ask: &Ask<Q, M>, model: &M, theta: f64, information: f64)
where
    Q: Finite + Clone + PartialEq + Serialize + Send + Sync,
    M: AnyModel,
{
    let users = 100_000;
    let (values, _) = simulate(ask, model, theta, users, 4000, 11);
    let ratio = users as f64 * values.variance() * information;
    println!("{name}: n·variance · I = {ratio:.4}, bias {:.2} standard errors", {
        (values.mean() - theta) / values.standard_error().unwrap()
    });
    assert!((ratio - 1.0).abs() < 0.1, "{name}: {ratio}");
    // A mutant that has half the information.
    assert!((2.0 * ratio - 1.0).abs() > 0.1);
}

/// One of the families with a parameter, and how far about it a range may reach.
pub fn family(number: u32) -> (Arc<dyn AnyModel>, f64) {
    match number % 9 {
        0 => (Arc::new(Gaussian::new(1.0).unwrap()), 0.3),
        1 => (Arc::new(LaplaceModel::new(2.0).unwrap()), -1.0),
        2 => (Arc::new(Logistic::new(0.5).unwrap()), 0.2),
        3 => (Arc::new(StudentT::new(3.0, 1.0).unwrap()), 0.5),
        4 => (Arc::new(Exponential), 1.5),
        5 => (Arc::new(GaussianScale), 0.8),
        6 => (Arc::new(Poisson), 2.5),
        7 => (Arc::new(Bernoulli), 0.4),
        _ => (Arc::new(Categorical::new(4).unwrap()), 0.3),
    }
}
