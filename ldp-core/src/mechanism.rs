//! What one user does: turn a private value into a randomised report.
//!
//! A [`Mechanism`] is at once what the analyst publishes, what the user runs and what ε is computed from.
//! Capabilities are separate traits: [`Density`] (its law is known), [`Finite`] (finitely many reports, with an
//! exact law under any model that has a cdf) and [`Publish`] (it lowers to the universal question).

use crate::channel::FiniteChannel;
use crate::epsilon::Epsilon;
use crate::error::Result;
use crate::model::Cdf;
use crate::tally::Tally;
use rand::Rng;

/// How far the sampler can be trusted to have the law that ε was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numerics {
    /// The sampled law is the stated one, to the last bit of its integer weights.
    Exact,
    /// The stated law is that of real numbers; the sampler works in floating point. Not for deployment.
    Idealized,
}

/// A randomised answer to one question, ε-private for one user.
///
/// # Laws
/// - `privatize` follows a channel $q(\cdot\mid x)$ with $q(z\mid x) \le e^{\varepsilon} q(z\mid y)$ for all
///   $x, y, z$, where ε is [`epsilon`](Self::epsilon): computed from the channel's own numbers, not stored.
/// - The number of random words drawn does not depend on `input`.
///
/// The generator is always the caller's. A third party's mechanism in full: `examples/custom-mechanism`.
pub trait Mechanism {
    /// What the user holds: `f64`, or `[f64]` for vectors.
    type Input: ?Sized;
    /// What the user sends.
    type Report;

    /// Whether the sampler's law is exact. Claim [`Numerics::Exact`] only with integer arithmetic.
    const NUMERICS: Numerics = Numerics::Idealized;

    /// The privacy level, from the channel's own numbers.
    fn epsilon(&self) -> Epsilon;

    /// One randomised report about `input`.
    fn privatize<R: Rng + ?Sized>(&self, input: &Self::Input, rng: &mut R) -> Self::Report;

    /// Privatises every input into `tally`: the same law as one by one, possibly from other random words.
    fn privatize_all<R, T>(&self, inputs: &[Self::Input], rng: &mut R, tally: &mut T) -> Result<()>
    where
        Self: Sized,
        Self::Input: Sized,
        R: Rng + ?Sized,
        T: Tally<Report = Self::Report>,
    {
        inputs.iter().try_for_each(|input| tally.push(self.privatize(input, rng), 1))
    }
}

/// A mechanism whose channel is known in closed form.
pub trait Density: Mechanism {
    /// $\ln q(z \mid x)$, with respect to counting measure for finite reports, else Lebesgue measure.
    fn ln_density(&self, report: &Self::Report, input: &Self::Input) -> f64;
}

/// A mechanism with reports `0..m` whose law under a model is known exactly.
pub trait Finite: Mechanism<Report = u32> {
    /// The number of reports m.
    fn reports(&self) -> u32;

    /// $P_\theta(Z = z)$ for every report z, into `out`, which has [`reports`](Self::reports) places.
    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]);
}

/// A mechanism that lowers to the universal published question.
///
/// # Law
/// From the same random word, the mechanism and its channel give the same report for every input.
pub trait Publish: Mechanism<Input = f64, Report = u32> {
    /// The question as published.
    fn publish(&self) -> FiniteChannel;
}

/// Something measured in the unit of the data, so that a unit-variance protocol can be run on data of known σ.
pub trait Rescale: Sized {
    /// The same thing for values multiplied by `factor`, which is positive and finite.
    fn rescale(self, factor: f64) -> Result<Self>;
}
