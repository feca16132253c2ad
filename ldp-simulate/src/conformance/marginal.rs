//! Simulated users and drawn tallies against the law of a question.

use crate::{Draw, Tallies, Users};
use ldp_core::conformance::{ALPHA, Violation, goodness_of_fit};
use ldp_core::model::Cdf;
use ldp_core::{Counts, Finite, Group, Mechanism, Population};

use super::{ensure, expect};

/// How many reports are drawn: a flip probability off by 10 % at ε = 1 is 19 standard deviations away, and of m
/// reports one that is never drawn adds 500 to a statistic with standard deviation √(2m).
fn samples(reports: u32) -> u64 {
    100_000 + 500 * u64::from(reports)
}

/// Simulated users and drawn tallies both follow `marginal` under the model at `theta`: the two fidelities have one
/// law. n = 100,000 + 500 m, chi-square at [`ALPHA`].
pub fn check_marginal<Q, M>(mechanism: &Q, model: &M, theta: f64, seed: u64) -> Result<(), Violation>
where
    Q: Finite + Mechanism<Input = f64> + Clone + PartialEq,
    M: Draw + Cdf + ?Sized,
{
    const ADDS: &str = "marginal adds to one";
    const USERS: &str = "reports follow marginal";
    const TALLIES: &str = "tallies follow marginal";
    let reports = mechanism.reports();
    // A place that is not written stays NaN.
    let mut law = vec![f64::NAN; reports as usize];
    mechanism.marginal(model, theta, &mut law);
    let sum: f64 = law.iter().sum();
    ensure((sum - 1.0).abs() <= 1e-12, ADDS, || format!("the sum is {sum}"))?;
    let negative = law.iter().find(|&&p| p < 0.0);
    ensure(negative.is_none(), ADDS, || format!("a probability is {negative:?}"))?;

    let users = samples(reports);
    let question = mechanism.clone();
    let group = Group { question, users };
    let mut counts = Counts::new(reports);
    let mut population = expect(Users::new(model, theta, users, seed), USERS)?;
    expect(population.answer(&group, &mut counts), USERS)?;
    let p = goodness_of_fit(counts.counts(), &law);
    ensure(p >= ALPHA, USERS, || format!("p = {p:e}: {}", worst(counts.counts(), &law)))?;

    let mut counts = Counts::new(reports);
    let mut population = expect(Tallies::new(model, theta, seed), TALLIES)?;
    expect(population.answer(&group, &mut counts), TALLIES)?;
    let p = goodness_of_fit(counts.counts(), &law);
    ensure(p >= ALPHA, TALLIES, || format!("p = {p:e}: {}", worst(counts.counts(), &law)))
}

/// The report that is furthest from its law, in words.
fn worst(counts: &[u64], law: &[f64]) -> String {
    let users = counts.iter().sum::<u64>() as f64;
    let away = |&z: &usize| (counts[z] as f64 - users * law[z]).abs() / (users * law[z]).max(1.0).sqrt();
    match (0..counts.len()).max_by(|a, b| away(a).total_cmp(&away(b))) {
        Some(z) => format!("report {z} came {} times, expected {:.1}", counts[z], users * law[z]),
        None => "no reports".to_owned(),
    }
}
