//! Mutants of mechanisms: privacy, sampler, the words a channel draws, and marginals.

use super::{dense, epsilon, rejected, ternary};
use ldp_core::conformance::{
    check_channel, check_draws, check_draws_beyond_report, check_epsilon, check_epsilon_density, check_sampler,
};
use ldp_core::model::{Categorical, Gaussian, Poisson};
use ldp_core::{Cdf, Density, Epsilon, Finite, FiniteChannel, Kernel, Mechanism, Partition, Publish, Result, Tally};
use ldp_simulate::conformance::check_marginal;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// A thin sign mechanism, right or wrong in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thin {
    pub(super) threshold: f64,
    pub(super) lie: u64,
    pub(super) fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Fault {
    None,
    /// Lies 10 % too often.
    FlipsTooOften,
    /// Density of a channel without the lies.
    DensityForgetsLies,
    /// `<=` for `<` with the weight of a lie: one word in 2⁶⁴.
    LieIncluded,
    /// sgn(0) = −1.
    Strict,
    /// A second word for inputs above the threshold only.
    SecondWordAbove,
    /// A second word for lies only: the same number of words for all inputs, which tells whether a report is true.
    SecondWordForLies,
    /// ε as it was claimed, though the weights give more.
    StoredEpsilon,
    /// ε a little above what the weights give, and above the claim.
    AboveClaim,
    /// P(X ≤ c) instead of P(X < c).
    MarginalIncludesCut,
    /// Both places of the marginal are P(Z = 1).
    MarginalTwice,
    /// Leaves the place of report 0 as it was.
    MarginalUnwritten,
    /// The marginal changes from call to call.
    MarginalWanders,
    /// One lie for all users of a slice.
    BulkSharesNoise,
    /// The right share of lies in every slice, hardly any scatter.
    BulkTooRegular,
    /// The last user of a slice is not counted.
    BulkDropsLast,
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

impl Thin {
    pub(super) fn new(level: f64, threshold: f64, fault: Fault) -> Self {
        match Kernel::response(epsilon(level), 2).unwrap() {
            Kernel::Response { lie, .. } => Self { threshold, lie, fault },
            Kernel::Dense(_) => unreachable!("a response is asked for"),
        }
    }
}

impl Mechanism for Thin {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        match self.fault {
            Fault::StoredEpsilon => epsilon(0.9),
            Fault::AboveClaim => epsilon(1.0 + 1e-14),
            _ => self.publish().epsilon(),
        }
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        let above = match self.fault {
            Fault::Strict => *input > self.threshold,
            _ => *input >= self.threshold,
        };
        let word = rng.next_u64();
        if self.fault == Fault::SecondWordAbove && above {
            rng.next_u64();
        }
        let lies = match self.fault {
            Fault::LieIncluded => word <= self.lie,
            Fault::FlipsTooOften => word < self.lie + self.lie / 10,
            _ => word < self.lie,
        };
        if self.fault == Fault::SecondWordForLies && lies {
            rng.next_u64();
        }
        u32::from(above ^ lies)
    }

    fn simulate_all<R, T>(&self, inputs: &[f64], rng: &mut R, tally: &mut T) -> Result<()>
    where
        R: Rng + ?Sized,
        T: Tally<Report = u32>,
    {
        let shared = rng.next_u64();
        for (place, input) in inputs.iter().enumerate() {
            let lies = match self.fault {
                Fault::BulkSharesNoise => shared < self.lie,
                Fault::BulkDropsLast if place + 1 == inputs.len() => continue,
                // A systematic sample: one random start, then equal steps.
                Fault::BulkTooRegular => {
                    let step = u64::MAX / inputs.len() as u64;
                    shared.wrapping_add(step.wrapping_mul(place as u64)) < self.lie
                }
                _ => rng.next_u64() < self.lie,
            };
            tally.push(u32::from((*input >= self.threshold) ^ lies), 1)?;
        }
        Ok(())
    }
}

impl Density for Thin {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        let honest = self.publish().ln_density(report, input);
        match self.fault {
            Fault::DensityForgetsLies if (*input >= self.threshold) == (*report == 1) => 0.0,
            _ => honest,
        }
    }
}

impl Finite for Thin {
    fn reports(&self) -> u32 {
        2
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        let cut = match self.fault {
            Fault::MarginalIncludesCut => self.threshold.next_up(),
            _ => self.threshold,
        };
        let floor = self.lie as f64 / ldp_core::channel::two_64();
        let below = floor + (1.0 - 2.0 * floor) * model.cdf(theta, cut);
        match self.fault {
            Fault::MarginalTwice => out.fill(1.0 - below),
            Fault::MarginalUnwritten => out[1] = 1.0 - below,
            Fault::MarginalWanders => {
                let calls = CALLS.replace(CALLS.get() + 1);
                let wrong = below + 0.02 * f64::from(calls % 2);
                out.copy_from_slice(&[wrong, 1.0 - wrong]);
            }
            _ => out.copy_from_slice(&[below, 1.0 - below]),
        }
    }
}

impl Publish for Thin {
    fn publish(&self) -> FiniteChannel {
        let kernel = Kernel::Response { reports: 2, lie: self.lie };
        FiniteChannel::new(Partition::Threshold(self.threshold), kernel).unwrap()
    }
}

/// Ternary response that never says 2.
#[derive(Clone, PartialEq)]
struct NeverTwo(FiniteChannel);

impl Mechanism for NeverTwo {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        self.0.privatize(input, rng).min(1)
    }
}

impl Density for NeverTwo {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        self.0.ln_density(report, input)
    }
}

impl Finite for NeverTwo {
    fn reports(&self) -> u32 {
        self.0.reports()
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        self.0.marginal(model, theta, out);
    }
}

/// Words in vain before the answer, a number of them that varies and has nothing to do with it.
struct Patient(Thin);

impl Mechanism for Patient {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        self.0.epsilon()
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        while rng.next_u64() >> 63 == 1 {}
        self.0.privatize(input, rng)
    }
}

/// Laplace noise of scale 1/ε on values clipped to [0, 1], with an ε that may be wrong.
struct Laplace {
    scale: f64,
    level: f64,
}

impl Mechanism for Laplace {
    type Input = f64;
    type Report = f64;

    fn epsilon(&self) -> Epsilon {
        epsilon(self.level)
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        let (size, sign): (f64, bool) = (rng.random(), rng.random());
        let noise = -self.scale * (1.0 - size).ln();
        input.clamp(0.0, 1.0) + if sign { noise } else { -noise }
    }
}

impl Density for Laplace {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        -(report - input.clamp(0.0, 1.0)).abs() / self.scale - (2.0 * self.scale).ln()
    }
}

#[test]
fn good_mechanisms_pass() {
    let model = Gaussian::new(1.0).unwrap();
    let inputs = [-2.0, 0.25, 1.0, 3.0];
    for (place, level) in [1e-6, 0.2, 1.0, 10.0, 30.0].into_iter().enumerate() {
        let thin = Thin::new(level, 0.25, Fault::None);
        let seed = place as u64;
        check_epsilon(&thin, epsilon(level)).unwrap();
        check_epsilon_density(&thin, epsilon(level), &inputs, &[0, 1]).unwrap();
        check_sampler(&thin, &inputs, seed).unwrap();
        check_channel(&thin, &inputs, seed).unwrap();
        check_draws(&thin, &inputs).unwrap();
        check_draws_beyond_report(&thin, &inputs, |report| *report, seed).unwrap();
        check_marginal(&thin, &model, 0.6, seed).unwrap();
        check_marginal(&thin, &Poisson, 0.6, seed).unwrap();
    }
    for (channel, level) in [(ternary(), 1.0), (dense(), 2f64.ln().next_up())] {
        check_epsilon(&channel, epsilon(level)).unwrap();
        check_epsilon_density(&channel, epsilon(level), &inputs, &[0, 1, 2]).unwrap();
        check_sampler(&channel, &inputs, 5).unwrap();
        check_channel(&channel, &inputs, 5).unwrap();
        check_draws(&channel, &inputs).unwrap();
        check_marginal(&channel, &model, 0.6, 5).unwrap();
        check_marginal(&channel, &Categorical::new(4).unwrap(), 0.3, 5).unwrap();
    }
    let laplace = Laplace { scale: 0.5, level: 2.0 };
    check_epsilon_density(&laplace, epsilon(2.0), &[0.0, 0.3, 1.0, 7.0], &[-1.0, 0.4, 2.0]).unwrap();
    check_draws(&laplace, &[0.0, 1.0]).unwrap();
    check_draws_beyond_report(&Patient(Thin::new(1.0, 0.0, Fault::None)), &[-1.0, 1.0], |report| *report, 5).unwrap();
}

#[test]
fn privacy_mutants_are_rejected() {
    let weights = "weights within the claim";
    rejected(check_epsilon(&Thin::new(1.0, 0.0, Fault::None), epsilon(0.999)), weights);
    // Two units of the weight of a lie less, of 5·10¹⁸: only integers see it.
    let mut thin = Thin::new(1.0, 0.0, Fault::None);
    thin.lie -= 2;
    rejected(check_epsilon(&thin, epsilon(1.0)), weights);
    rejected(check_epsilon(&dense(), epsilon(0.69)), weights);

    let within = "epsilon within the claim";
    rejected(check_epsilon(&Thin::new(1.0, 0.0, Fault::AboveClaim), epsilon(1.0)), within);
    rejected(check_epsilon_density(&Laplace { scale: 0.5, level: 2.0 }, epsilon(1.9), &[0.0, 1.0], &[2.0]), within);

    let computed = "epsilon is computed";
    rejected(check_epsilon(&Thin::new(1.0, 0.0, Fault::StoredEpsilon), epsilon(1.0)), computed);
    // Noise of half the scale that the claim needs, and of twice that scale.
    for scale in [0.25, 1.0] {
        let laplace = Laplace { scale, level: 2.0 };
        rejected(check_epsilon_density(&laplace, epsilon(2.0), &[0.0, 1.0], &[-1.0, 2.0]), computed);
    }
    let forgetful = Thin::new(1.0, 0.0, Fault::DensityForgetsLies);
    rejected(check_epsilon_density(&forgetful, epsilon(1.0), &[-1.0, 1.0], &[0, 1]), computed);
}

#[test]
fn sampler_mutants_are_rejected() {
    let inputs = [-1.0, 1.0];
    let check = |fault| check_sampler(&Thin::new(1.0, 0.0, fault), &inputs, 11);
    rejected(check(Fault::FlipsTooOften), "sampler follows density");
    rejected(check_sampler(&NeverTwo(ternary()), &inputs, 11), "sampler follows density");
    rejected(check(Fault::DensityForgetsLies), "density adds to one");
    rejected(check(Fault::BulkSharesNoise), "bulk follows density");
    rejected(check(Fault::BulkTooRegular), "bulk follows density");
    rejected(check(Fault::BulkDropsLast), "bulk follows density");
}

#[test]
fn word_mutants_are_rejected() {
    let law = "thin equals published";
    for fault in [Fault::LieIncluded, Fault::Strict, Fault::SecondWordAbove, Fault::FlipsTooOften] {
        rejected(check_channel(&Thin::new(1.0, 0.3, fault), &[], 13), law);
    }
    // At ε = 30 one word in 10¹³ lies: random words alone would never meet it.
    rejected(check_channel(&Thin::new(30.0, 0.3, Fault::LieIncluded), &[], 13), law);
    let mutant = Thin::new(1.0, 0.0, Fault::SecondWordAbove);
    rejected(check_draws(&mutant, &[-1.0, 1.0]), "draws do not depend on the input");
    let mutant = Thin::new(1.0, 0.0, Fault::SecondWordForLies);
    check_draws(&mutant, &[-1.0, 1.0]).unwrap();
    let found = check_draws_beyond_report(&mutant, &[-1.0, 1.0], |report| *report, 13);
    rejected(found, "draws say nothing beyond the report");
}

#[test]
fn marginal_mutants_are_rejected() {
    // Poisson: the cut at 1 is an atom, so P(X ≤ 1) is another number than P(X < 1).
    let check = |fault| check_marginal(&Thin::new(1.0, 1.0, fault), &Poisson, 1.3, 17);
    check(Fault::None).unwrap();
    rejected(check(Fault::MarginalIncludesCut), "reports follow marginal");
    rejected(check(Fault::FlipsTooOften), "reports follow marginal");
    rejected(check(Fault::MarginalTwice), "marginal adds to one");
    rejected(check(Fault::MarginalUnwritten), "marginal adds to one");
    rejected(check(Fault::MarginalWanders), "tallies follow marginal");
}
