//! What one user does: turn a private value into a randomised report.
//!
//! A [`Mechanism`] is at once what the analyst publishes, what the user runs and what ε is computed from.
//! Capabilities are separate traits: [`Density`] (its law is known), [`Finite`] (finitely many reports, with an
//! exact law under any model that has a cdf), [`RealReports`] (reports on the line), [`Unbiased`] (reports whose mean tells the mean of clipped values) and
//! [`Publish`] (it lowers to the universal question).

use crate::channel::FiniteChannel;
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
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

/// Whether real data may meet a mechanism: only one whose sampler is exact.
pub fn check_deployable<Q: Mechanism>() -> Result<()> {
    match Q::NUMERICS {
        Numerics::Exact => Ok(()),
        Numerics::Idealized => {
            Err(Error::Unsupported { what: "privatising real data", needs: "a mechanism whose sampler is exact" })
        }
    }
}

/// [`check_deployable`], decided when the program is compiled.
pub const fn assert_exact<Q: Mechanism + ?Sized>() {
    assert!(matches!(Q::NUMERICS, Numerics::Exact), "privatising real data needs a mechanism whose sampler is exact");
}

/// A randomised answer to one question, ε-private for one user.
///
/// # Laws
/// - `privatize` follows a channel $q(\cdot\mid x)$ with $q(z\mid x) \le e^{\varepsilon} q(z\mid y)$ for all
///   $x, y, z$, where ε is [`epsilon`](Self::epsilon): computed from the channel's own numbers, not stored.
/// - The number of random words drawn does not depend on `input`; for an exact sampler, it also says nothing that the
///   report does not say, so that who can count words, or time them, learns no more.
/// - An exact sampler takes the same time for every value and for truth and lie: see [`steady`](crate::steady).
///
/// The generator of `privatize` and `simulate_all` is the caller's. Real data take a generator that only the system can seed, as the
/// client of [`wire`](crate::wire) does with [`SystemRng`](crate::SystemRng). A third party's mechanism in full:
/// `examples/custom-mechanism`.
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

    /// Privatises every simulated input into `tally`: the same law as one by one, possibly from other random words.
    fn simulate_all<R, T>(&self, inputs: &[Self::Input], rng: &mut R, tally: &mut T) -> Result<()>
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

/// Tails that repeat themselves, as those of noise do beyond the range of the values.
///
/// Whatever the input, $q(z + period \mid x) = e^{-decay} q(z \mid x)$ for $z \ge from$, and likewise downwards for
/// $z \le -from$. So an integral over all reports is one over the middle and one period on either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Where they begin, on either side of zero.
    pub from: f64,
    /// After what distance they repeat.
    pub period: f64,
    /// Minus the logarithm of what is left after a period.
    pub decay: f64,
}

/// A mechanism with real reports whose law is known in closed form.
///
/// With [`Density::ln_density`] it is all that quadrature and goodness-of-fit tests need.
pub trait RealReports: Density + Mechanism<Input = f64, Report = f64> {
    /// $P(Z \le z \mid x)$.
    fn report_cdf(&self, report: f64, input: f64) -> f64;

    /// The points at which $z \mapsto q(z \mid x)$ has a jump or a kink, increasing. Outside them it decays at least
    /// exponentially, or is zero.
    fn breaks(&self, input: f64) -> Vec<f64>;

    /// The inputs at which $x \mapsto q(z \mid x)$ has a jump or a kink, increasing; those outside of `window` may be left
    /// out. By default none are known, and quadrature has to find them.
    fn input_breaks(&self, _report: f64, _window: (f64, f64)) -> Vec<f64> {
        Vec::new()
    }

    /// How the tails repeat themselves, if they do.
    fn tails(&self) -> Option<Tails> {
        None
    }

    /// Reports of positive probability, increasing, the same for every input. There `ln_density` is the logarithm of
    /// that probability, elsewhere of the density.
    fn atoms(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// A mechanism on a range whose mean report tells the mean of the values, clipped to the range.
///
/// # Laws
/// With $\bar x$ the value clipped to [`range`](Self::range): $E[\mathrm{decode}(Z) \mid x] = \bar x$ and
/// $\mathrm{Var}[\mathrm{decode}(Z) \mid x]$ = [`variance`](Self::variance). `decode` is affine, so that it can be applied to the
/// mean of many reports. A value outside the range is clipped and not refused: an error would tell.
pub trait Unbiased: Mechanism<Input = f64> {
    /// The low and high end of the range.
    fn range(&self) -> (f64, f64);

    /// The value that a mean of reports stands for, in the unit of the data.
    fn decode(&self, mean_report: f64) -> f64;

    /// $\mathrm{Var}[\mathrm{decode}(Z) \mid x]$, in the squared unit of the data.
    fn variance(&self, input: f64) -> f64;
}

/// A mechanism on vectors whose report is itself an unbiased estimate of the value it can see.
///
/// # Laws
/// With $\bar x$ the vector brought into the mechanism's domain (projected or normalised, never refused): the report has
/// [`dimension`](Self::dimension) coordinates, $E[Z \mid x] = \bar x$, and $E\lVert Z - \bar x\rVert^2$ is
/// [`total_variance`](Self::total_variance). Missing coordinates of an input count as zero, further ones are not
/// looked at, and one that is not a number counts as zero.
pub trait UnbiasedVector: Mechanism<Input = [f64], Report = Vec<f64>> {
    /// The number of coordinates.
    fn dimension(&self) -> usize;

    /// $E\lVert Z - \bar x\rVert^2$ at an input.
    fn total_variance(&self, input: &[f64]) -> f64;
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
