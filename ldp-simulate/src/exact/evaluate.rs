//! All there is to say about an estimator at one setting.

use super::quantiles::{self, Histogram};
use super::{Countable, Exact, Gather, Method, Risk, Summed};
use crate::draw::Draw;
use ldp_core::error::{Result, require};
use ldp_core::inference::{Inference, IntervalKind, check_level};
use ldp_core::model::Cdf;

/// Up to so many tallies quantiles are atoms of the distribution; beyond, they are right to four digits.
const FEW_TALLIES: u64 = 1 << 21;

/// Points per standard deviation of a lattice on which coverage is right to a thousandth.
const FINE: f64 = 48.0;

/// What is wanted of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The true value of what is estimated.
    pub truth: f64,
    /// The nominal level of the intervals.
    pub level: f64,
    /// The levels at which quantiles of |error| are taken.
    pub quantiles: Vec<f64>,
}

/// What the intervals of one kind do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalRisk {
    /// The kind of interval.
    pub kind: IntervalKind,
    /// The probability that it contains the truth.
    pub coverage: f64,
    /// The probability that there is none.
    pub missing: f64,
    /// The probability of an infinite end.
    pub infinite: f64,
    /// The median width: infinite if half of them have an infinite end. No interval counts as an infinite one.
    pub median_width: f64,
    /// The mean width of those with finite ends.
    pub mean_finite_width: Option<f64>,
}

/// The exact risk of an estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// How the sums were done.
    pub method: Method,
    /// The mean error.
    pub bias: f64,
    /// The variance of the estimate.
    pub variance: f64,
    /// The mean squared error.
    pub mse: f64,
    /// The mean fourth power of the error.
    pub fourth: f64,
    /// How far the mean squared error may be off, see [`Summed::mse_error`].
    pub mse_error: Option<f64>,
    /// At least the probability that was left out.
    pub lost: f64,
    /// How many tallies were looked at.
    pub tallies: u64,
    /// The levels asked for, and the quantiles of |error|.
    pub quantiles: Vec<(f64, f64)>,
    /// The intervals by kind, the estimator's default first.
    pub intervals: Vec<IntervalRisk>,
    /// The probability of an estimate with a note, such as a fallback.
    pub notes: f64,
    /// The probability of an estimate with a caveat about its first kind of interval, and one of those caveats.
    pub caveats: (f64, Option<&'static str>),
}

/// Works out the risk of an estimator.
///
/// Two passes: the first adds up moments, coverage and histograms, the second finds the quantiles in the bins that the
/// histograms point to. So nothing has to be kept, and quantiles are still atoms of the distribution. Of more than two
/// million tallies quantiles are read off the histograms instead, to four digits.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_simulate::exact::{Exact, Method, Wanted, evaluate};
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[10_000]]);
/// let model = Gaussian::new(1.0)?;
/// let wanted = Wanted { truth: 0.5, level: 0.95, quantiles: vec![0.5] };
/// let risk = evaluate(&Exact::new(&model, 0.0)?, &dummy, 10_000, &wanted)?;
/// assert_eq!(risk.method, Method::Exact);
/// assert!((risk.mse - 0.25e-4).abs() < 1e-16);
/// // The median distance of a normal variable from its mean is 0.6745 standard deviations, 0.00337 here.
/// assert!((risk.quantiles[0].1 - 0.0034).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn evaluate<E: Countable, M: Draw + Cdf + ?Sized>(
    exact: &Exact<'_, M>,
    estimator: &E,
    users: u64,
    wanted: &Wanted,
) -> Result<Evaluation> {
    check_level(wanted.level)?;
    for &level in &wanted.quantiles {
        require(level > 0.0 && level < 1.0, "the level of a quantile", "strictly between 0 and 1", level)?;
    }
    let kinds = E::Estimate::interval_kinds();
    // Coverage and quantiles jump from count to count: a lattice that is thinned for them has to be finer than for moments.
    let exact = &exact.at_least(FINE);
    let empty = || First {
        risk: Risk::new(wanted.truth, wanted.level, kinds),
        errors: Histogram::new(),
        widths: vec![Histogram::new(); kinds.len()],
    };
    let Summed { gather: first, lost, mse_error, tallies, method } = exact.best(estimator, users, empty)?;
    // Among many the histograms know quantiles well enough, and a second pass would take as long as the first.
    let second = if tallies <= FEW_TALLIES {
        let empty = || Second {
            risk: Risk::new(wanted.truth, wanted.level, kinds),
            errors: wanted.quantiles.iter().map(|&level| first.errors.find(level)).collect(),
            widths: first.widths.iter().map(|widths| widths.find(0.5)).collect(),
        };
        Some(exact.best(estimator, users, empty)?.gather)
    } else {
        None
    };
    let (quantiles, medians): (Vec<f64>, Vec<f64>) = match second {
        Some(Second { errors, widths, .. }) => {
            let atom = |atoms: quantiles::Wanted| atoms.quantile().unwrap_or(f64::INFINITY);
            (errors.into_iter().map(atom).collect(), widths.into_iter().map(atom).collect())
        }
        None => (
            wanted.quantiles.iter().map(|&level| first.errors.quantile(level)).collect(),
            first.widths.iter().map(|widths| widths.quantile(0.5)).collect(),
        ),
    };
    let errors = *first.risk.errors();
    let mass = errors.mass();
    let intervals = first.risk.intervals().iter().zip(medians).map(|(sums, median_width)| IntervalRisk {
        kind: sums.kind,
        coverage: sums.covered / mass,
        missing: sums.missing / mass,
        infinite: sums.infinite / mass,
        median_width,
        mean_finite_width: sums.mean_finite_width(),
    });
    Ok(Evaluation {
        method,
        bias: errors.bias(),
        variance: errors.variance(),
        mse: errors.mse(),
        fourth: errors.fourth(),
        mse_error,
        lost,
        tallies,
        quantiles: wanted.quantiles.iter().copied().zip(quantiles).collect(),
        intervals: intervals.collect(),
        notes: first.risk.notes(),
        caveats: first.risk.caveats(),
    })
}

/// What the first pass gathers.
struct First {
    risk: Risk,
    errors: Histogram,
    widths: Vec<Histogram>,
}

impl Gather for First {
    #[inline]
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I) {
        let Self { risk, errors, widths } = self;
        risk.take(weight, estimate, |place, width| widths[place].push(width, weight));
        errors.push(risk.distance(estimate), weight);
    }

    fn merge(&mut self, other: Self) {
        self.risk.merge(other.risk);
        self.errors.merge(&other.errors);
        self.widths.iter_mut().zip(&other.widths).for_each(|(widths, more)| widths.merge(more));
    }

    fn squares(&self) -> f64 {
        self.risk.squares()
    }
}

/// What the second pass gathers: the same risk, by which a thinned sum is judged, and the atoms of the bins that matter.
struct Second {
    risk: Risk,
    errors: Vec<quantiles::Wanted>,
    widths: Vec<quantiles::Wanted>,
}

impl Gather for Second {
    #[inline]
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I) {
        let Self { risk, errors, widths } = self;
        risk.take(weight, estimate, |place, width| widths[place].push(width, weight));
        let distance = risk.distance(estimate);
        errors.iter_mut().for_each(|wanted| wanted.push(distance, weight));
    }

    fn merge(&mut self, other: Self) {
        self.risk.merge(other.risk);
        self.errors.iter_mut().zip(other.errors).for_each(|(wanted, more)| wanted.merge(more));
        self.widths.iter_mut().zip(other.widths).for_each(|(wanted, more)| wanted.merge(more));
    }

    fn squares(&self) -> f64 {
        self.risk.squares()
    }
}
