//! The risk of a protocol without sampling: every tally weighed by its probability.
//!
//! A round with finitely many reports has finitely many tallies, so bias, mean squared error and coverage of a staged
//! estimator are finite sums. [`Exact`] walks the protocol's own state machine as [`run`](ldp_core::run) does, but takes every
//! tally that matters instead of one; what it meets at the ends is added up by a [`Gather`].
//!
//! ```
//! use ldp_core::conformance::Dummy;
//! use ldp_simulate::exact::{Errors, Exact};
//! use ldp_core::model::Gaussian;
//! use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
//! // The share of ones among 100 answers to «x ≥ 0», in two rounds: it has variance p(1 − p)/n.
//! let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
//! let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[30], &[70]]);
//! let model = Gaussian::new(1.0)?;
//! let summed = Exact::new(&model, 0.0)?.sum(&dummy, 100, || Errors::new(0.5))?;
//! assert!((summed.gather.mse() - 0.25 / 100.0).abs() < 1e-15);
//! assert!(summed.lost < 1e-20);
//! # Ok::<(), ldp_core::Error>(())
//! ```
//!
//! - [`Exact::sum`] takes every tally, except where Chernoff's bound proves that together they do not matter.
//! - [`Exact::thinned`] takes every h-th count of each round, for more users than can be summed: the sum of a smooth
//!   function over a coarse lattice is exact to rounding, and two interleaved lattices tell how smooth it was.
//! - [`evaluate`] chooses between the two and returns all there is to say about an estimator.

mod atoms;
mod children;
mod errors;
mod evaluate;
mod quantiles;
mod risk;
mod tallies;
mod walk;

pub use atoms::Atoms;
pub use errors::Errors;
pub use evaluate::{Evaluation, IntervalRisk, Wanted, evaluate};
pub use risk::{IntervalSums, Risk};

use crate::draw::Draw;
use ldp_core::error::{Error, Result, require};
use ldp_core::inference::Inference;
use ldp_core::mechanism::Finite;
use ldp_core::model::Cdf;
use ldp_core::staged::StagedEstimator;
use ldp_core::tally::Tally;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use walk::{Part, Walk};

/// The error of n·MSE that cutting the sums may cause, unless told otherwise.
const GOAL: f64 = 2e-11;
/// The probability that may be cut where the range of the estimates is not known.
const LEAST: f64 = 1e-22;
/// Tallies that are summed at the most, unless told otherwise: a few seconds.
pub const MOST_TALLIES: u64 = 1 << 27;
/// How closely the two lattices of a thinned sum must agree, relative to the mean squared error.
const AGREEMENT: f64 = 1e-11;
/// With more tallies than this along the likeliest path a sum is not tried: steps that turn out equal save much of it, but
/// never so much. One user per round makes 2^n of them, and a walk as deep as there are users.
const HOPELESS: f64 = (1u64 << 40) as f64;
/// Points per standard deviation of each lattice of a thinned sum, at first.
const POINTS: f64 = 4.0;

/// What is added up over the estimates of a protocol, each with its probability.
pub trait Gather: Send + Sized {
    /// Takes in an estimate that comes about with this probability.
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I);

    /// Takes in what another has gathered.
    fn merge(&mut self, other: Self);

    /// The sum of probability times squared error so far: by it a thinned sum is judged.
    fn squares(&self) -> f64;
}

/// A protocol whose tallies can be weighed: finite questions, and messages that serialise, so that equal ones are found.
///
/// Implemented for every such [`StagedEstimator`]; it only shortens bounds.
pub trait Countable:
    StagedEstimator<
        Question: Finite + Clone + Serialize + Send + Sync,
        Tally: Tally<Report = u32> + Clone + Send,
        State: Clone + Serialize + Send + Sync,
        Estimate: Inference + Send + Sync,
    > + Sync
{
}

impl<E> Countable for E where
    E: StagedEstimator<
            Question: Finite + Clone + Serialize + Send + Sync,
            Tally: Tally<Report = u32> + Clone + Send,
            State: Clone + Serialize + Send + Sync,
            Estimate: Inference + Send + Sync,
        > + Sync
{
}

/// How a sum was done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Method {
    /// Every tally that matters: what was left out is bounded.
    Exact,
    /// Every h-th count of large rounds: bias and mean squared error to rounding. The fourth moment, in which rare tallies
    /// weigh more, may be off by a millionth of itself, steps of the distribution by a fraction of a count's probability.
    Thinned,
    /// The first round was drawn so many times, the rest summed for each outcome.
    Sampled {
        /// How often it was drawn.
        draws: u64,
    },
}

/// What was gathered, and how far it can be trusted.
#[derive(Clone, Debug)]
pub struct Summed<G> {
    /// What was gathered.
    pub gather: G,
    /// At least the probability that was left out.
    pub lost: f64,
    /// How far the mean squared error may be off: what was left out is proved to be less; what thinning adds is estimated
    /// from two lattices, and what drawing adds is a standard error. `None` where the range of the estimates is not known.
    pub mse_error: Option<f64>,
    /// How many tallies were looked at.
    pub tallies: u64,
    /// How the sum was done.
    pub method: Method,
}

/// The reader that weighs every tally: users with values from a model at a parameter, who all answer.
#[derive(Debug)]
pub struct Exact<'m, M: ?Sized> {
    model: &'m M,
    theta: f64,
    goal: f64,
    most: u64,
    points: f64,
    agreement: f64,
    seed: u64,
    draws: u64,
}

// By hand: a derived copy would ask the model to be one, and it is only referred to.
impl<M: ?Sized> Clone for Exact<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ?Sized> Copy for Exact<'_, M> {}

impl<'m, M: Draw + Cdf + ?Sized> Exact<'m, M> {
    /// Under the model at `theta`.
    pub fn new(model: &'m M, theta: f64) -> Result<Self> {
        model.check_theta(theta)?;
        let (points, agreement) = (POINTS, AGREEMENT);
        Ok(Self { model, theta, goal: GOAL, most: MOST_TALLIES, points, agreement, seed: 1, draws: 100_000 })
    }

    /// Cuts so little that n·MSE is off by at most `goal`.
    pub fn goal(self, goal: f64) -> Result<Self> {
        require(goal > 0.0 && goal < 1.0, "goal", "strictly between 0 and 1", goal)?;
        Ok(Self { goal, ..self })
    }

    /// Looks at no more than so many tallies.
    #[must_use]
    pub fn most(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// Begins a thinned sum with so many points per standard deviation in each of its two lattices, at least one, and
    /// ends it where the two agree to `agreement`, relative to the mean squared error.
    #[must_use]
    pub fn resolution(self, points: f64, agreement: f64) -> Self {
        Self { points: points.max(1.0), agreement, ..self }
    }

    /// The same with at least so many points per standard deviation.
    fn at_least(self, points: f64) -> Self {
        Self { points: self.points.max(points), ..self }
    }

    /// Draws a first round that has too many tallies `draws` times, from the streams of `seed`.
    #[must_use]
    pub fn sampling(self, seed: u64, draws: u64) -> Self {
        Self { seed, draws: draws.max(2), ..self }
    }

    /// Adds up over every tally. An error if they are more than [`most`](Self::most).
    pub fn sum<E: Countable, G: Gather>(
        &self,
        estimator: &E,
        users: u64,
        empty: impl Fn() -> G + Sync,
    ) -> Result<Summed<G>> {
        self.check_hope(estimator, users, None)?;
        let (part, tallies) = self.pass(estimator, users, &empty, 1.0, None)?;
        Ok(self.summed(estimator, users, part, tallies, 0.0))
    }

    /// Adds up over every h-th count of each large round, h as large as it may be.
    ///
    /// Two interleaved lattices are summed; where they disagree, as they do when the estimate is not a smooth function of
    /// the counts, h becomes a quarter, at last one.
    pub fn thinned<E: Countable, G: Gather>(
        &self,
        estimator: &E,
        users: u64,
        empty: impl Fn() -> G + Sync,
    ) -> Result<Summed<G>> {
        let mut points = self.points;
        let mut best: Option<Summed<G>> = None;
        loop {
            let lattice = |second| Some(walk::Lattice { points, second });
            if best.is_none() {
                self.check_hope(estimator, users, lattice(false))?;
            }
            let (mut first, tallies) = match (self.pass(estimator, users, &empty, 0.5, lattice(false)), best) {
                // Finer is more than can be summed: what there is has to do, and its error says how good it is.
                (Err(Error::TooMany { .. }), Some(best)) => return Ok(best),
                (pass, _) => pass?,
            };
            if !first.thinned {
                return self.sum(estimator, users, empty);
            }
            let (second, more) = self.pass(estimator, users, &empty, 0.5, lattice(true))?;
            let (a, b) = (first.gather.squares(), second.gather.squares());
            let difference = (a - b).abs();
            let agree = difference <= 0.5 * self.agreement * (a + b);
            first.gather.merge(second.gather);
            first.lost += second.lost;
            // Both lattices follow the same draws, so their errors add up.
            first.sampled = first.sampled.zip(second.sampled).map(|(one, other)| one + other);
            let summed = self.summed(estimator, users, first, tallies + more, difference);
            if agree {
                return Ok(summed);
            }
            best = Some(summed);
            points *= 4.0;
        }
    }

    /// Adds up over one lattice, for comparisons: half the work of [`thinned`](Self::thinned), and nothing tells how good
    /// it is, so that `mse_error` is `None`.
    pub fn rough<E: Countable, G: Gather>(
        &self,
        estimator: &E,
        users: u64,
        empty: impl Fn() -> G + Sync,
    ) -> Result<Summed<G>> {
        let lattice = Some(walk::Lattice { points: self.points, second: false });
        self.check_hope(estimator, users, lattice)?;
        let (part, tallies) = self.pass(estimator, users, &empty, 1.0, lattice)?;
        Ok(Summed { mse_error: None, ..self.summed(estimator, users, part, tallies, 0.0) })
    }

    /// Sums as exactly as `most` tallies allow.
    pub fn best<E: Countable, G: Gather>(
        &self,
        estimator: &E,
        users: u64,
        empty: impl Fn() -> G + Sync,
    ) -> Result<Summed<G>> {
        if self.size(estimator, users)? <= self.most as f64 {
            match self.sum(estimator, users, &empty) {
                Err(Error::TooMany { name: walk::TALLIES, .. }) => {}
                summed => return summed,
            }
        }
        self.thinned(estimator, users, empty)
    }

    /// About how many tallies [`sum`](Self::sum) would look at: the product of the windows along the likeliest path.
    pub fn size<E: Countable>(&self, estimator: &E, users: u64) -> Result<f64> {
        let (budget, seen) = (self.budget(estimator, users), AtomicU64::new(0));
        self.walk(estimator, None, &seen).size(estimator.begin(users)?, budget)
    }

    /// Refuses at once what would be refused after billions of tallies, or overflow the stack before.
    fn check_hope<E: Countable>(&self, estimator: &E, users: u64, lattice: Option<walk::Lattice>) -> Result<()> {
        let (budget, seen) = (self.budget(estimator, users), AtomicU64::new(0));
        let size = self.walk(estimator, lattice, &seen).size(estimator.begin(users)?, budget)?;
        if size > HOPELESS {
            return Err(Error::TooMany { name: walk::TALLIES, most: self.most, value: size as u64 });
        }
        Ok(())
    }

    fn pass<E: Countable, G: Gather>(
        &self,
        estimator: &E,
        users: u64,
        empty: &(dyn Fn() -> G + Sync),
        weight: f64,
        lattice: Option<walk::Lattice>,
    ) -> Result<(Part<G>, u64)> {
        let seen = AtomicU64::new(0);
        let mut part = Part::new(empty());
        let budget = weight * self.budget(estimator, users);
        let walk = self.walk(estimator, lattice, &seen);
        walk.node(estimator.begin(users)?, weight, budget, empty, &mut part, true)?;
        Ok((part, seen.load(Ordering::Relaxed)))
    }

    fn walk<'w, E: Countable>(
        &'w self,
        estimator: &'w E,
        lattice: Option<walk::Lattice>,
        seen: &'w AtomicU64,
    ) -> Walk<'w, E, M> {
        let &Self { model, theta, most, seed, draws, .. } = self;
        Walk { estimator, model, theta, lattice, most, seen, seed, draws }
    }

    /// The largest squared distance of an estimate from θ, if it is known.
    fn reach<E: Countable>(&self, estimator: &E, users: u64) -> Option<f64> {
        let [low, high] = estimator.range(users)?;
        let reach = (self.theta - low).abs().max((high - self.theta).abs());
        Some(reach * reach).filter(|square| square.is_finite())
    }

    /// The probability that may be left out.
    fn budget<E: Countable>(&self, estimator: &E, users: u64) -> f64 {
        match self.reach(estimator, users) {
            Some(reach) if reach > 0.0 => (self.goal / (users as f64 * reach)).min(1e-12),
            _ => LEAST,
        }
    }

    fn summed<E: Countable, G>(
        &self,
        estimator: &E,
        users: u64,
        part: Part<G>,
        tallies: u64,
        difference: f64,
    ) -> Summed<G> {
        let method = match (part.sampled, part.thinned) {
            (Some(_), _) => Method::Sampled { draws: self.draws },
            (None, true) => Method::Thinned,
            (None, false) => Method::Exact,
        };
        let mse_error =
            self.reach(estimator, users).map(|reach| part.lost * reach + difference + part.sampled.unwrap_or(0.0));
        Summed { gather: part.gather, lost: part.lost, mse_error, tallies, method }
    }
}
