//! The best first stage of a two-stage protocol.

use super::gauss::GAUSS;
use crate::{OneStage, TwoStage, one_stage_variance};
use ldp_core::error::require;
use ldp_core::model::Gaussian;
use ldp_core::{Epsilon, Error, Result};
use ldp_simulate::exact::{Errors, Exact};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Up to so many users the curve has ripples that matter, and neighbouring sizes are looked at in blocks.
const RIPPLES: u64 = 300_000;
/// A block: the ripples repeat after about half as many sizes.
const BLOCK: u64 = 8;

/// How many times smaller or larger than the best size the ends of its [plateau](BestFirstStage::plateau) are sought.
pub const PLATEAU_REACH: u64 = 10_000;

/// How far, in σ, a start may be from the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Distances {
    /// Weights and distances.
    places: Vec<(f64, f64)>,
    worst: bool,
}

impl Distances {
    /// Exactly `distance`.
    pub fn at(distance: f64) -> Result<Self> {
        require(distance >= 0.0 && distance.is_finite(), "the distance of the start", "at least 0, finite", distance)?;
        Ok(Self { places: vec![(1.0, distance)], worst: true })
    }

    /// Anything from `low` to `high`, the worst of which counts.
    pub fn worst(low: f64, high: f64) -> Result<Self> {
        check(low, high)?;
        // The risk grows with the distance but for ripples of small first stages: a few places see those.
        let places = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (1.0, low + share * (high - low)));
        Ok(Self { places: places.to_vec(), worst: true })
    }

    /// Anything from `low` to `high`, equally likely.
    pub fn average(low: f64, high: f64) -> Result<Self> {
        check(low, high)?;
        Ok(Self { places: GAUSS.map(|(weight, place)| (weight, low + place * (high - low))).to_vec(), worst: false })
    }

    /// One of each of the numbers that a function says of every distance.
    fn combine<const N: usize>(&self, of: impl Fn(f64) -> Result<[f64; N]>) -> Result<[f64; N]> {
        let mut all = [0f64; N];
        for &(weight, place) in &self.places {
            for (all, value) in all.iter_mut().zip(of(place)?) {
                *all = if self.worst { all.max(value) } else { *all + weight * value };
            }
        }
        Ok(all)
    }
}

fn check(low: f64, high: f64) -> Result<()> {
    require(low >= 0.0 && low.is_finite(), "the smallest distance of the start", "at least 0, finite", low)?;
    require(high > low && high.is_finite(), "the largest distance of the start", "finite, above the smallest", high)
}

/// The law of the best first stage, $n_1^* \approx \sqrt{c\,V_1 n}$ with $c = 1 - 2\tau^2/\pi$.
///
/// With $V_1(\delta) = V(1 + c\delta^2 + \dots)$ and $E\tilde\delta^2 = V_1/n_1$, n·MSE is about
/// $V(1 + n_1/n + c V_1/n_1)$: users spent on the first stage against a second one that stands off centre.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_estimators::plan::{Distances, first_stage_law};
/// let law = first_stage_law(Epsilon::new(1.0)?, 1_000_000, &Distances::at(0.5)?)?;
/// assert!((law - 2811.7).abs() < 0.1);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn first_stage_law(epsilon: Epsilon, users: u64, distances: &Distances) -> Result<f64> {
    let c = 1.0 - 2.0 * epsilon.tau().powi(2) / PI;
    let [variance] = distances.combine(|distance| Ok([one_stage_variance(epsilon, distance)]))?;
    Ok((c * variance * users as f64).sqrt())
}

/// The best size of a first stage, and what it brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestFirstStage {
    /// Its size: the best between a third of the law and half of the users.
    pub first_stage: u64,
    /// n·MSE with it, for σ = 1.
    pub scaled_mse: f64,
    /// The sizes between which 50,000 replications of a simulation cannot tell n·MSE from the smallest: two standard
    /// errors of such a simulation above it.
    pub plateau: [u64; 2],
    /// n·MSE of one stage with all users, for σ = 1. With few users and a good start it may be smaller.
    pub one_stage: f64,
    /// n·MSE with one user in the first stage, for σ = 1. His report explains no mean and the start stays: one stage with a
    /// user less, and where that is smaller than [`scaled_mse`](Self::scaled_mse) the smallest of all two-stage protocols is
    /// this.
    pub of_one_user: f64,
}

/// Finds the first stage with the smallest mean squared error, by exact sums.
///
/// At small sizes the curve is jagged: a count near the boundary of what means explain sends the second stage far away, and
/// whether there is such a count depends on the size's last digit. So blocks of neighbouring sizes are looked at from a
/// third of the [law](first_stage_law) upwards, and then every size within 15 % of the lowest; with more than 300,000 users
/// ripples are below rounding, and the minimum is that of a smooth curve, to about one part in 10⁴.
///
/// Only sizes between a third of the law and half of the users are looked at. Below, a first stage of a few users hardly ever
/// moves the threshold, and above, the second stage is an afterthought: either is one stage in disguise. With few users that is
/// better than the best of these sizes; [`of_one_user`](BestFirstStage::of_one_user) says so.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_estimators::plan::{Distances, best_first_stage};
/// let best = best_first_stage(Epsilon::new(1.0)?, 1000, &Distances::at(0.5)?)?;
/// assert_eq!(best.first_stage, 134);
/// assert!((best.scaled_mse - 9.426).abs() < 1e-3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn best_first_stage(epsilon: Epsilon, users: u64, distances: &Distances) -> Result<BestFirstStage> {
    if users < 2 {
        return Err(Error::TooFew { name: "users", least: 2, value: users });
    }
    let curve = Curve { epsilon, users, distances, model: Gaussian::new(1.0)? };
    let law = first_stage_law(epsilon, users, distances)?;
    let most = (users / 2).max(1);
    let low = (law / 3.0).clamp(1.0, most as f64);
    let high = (4.0 * law).clamp(low, most as f64);
    let ripples = users <= RIPPLES;
    let steps = ((high / low).ln() / 0.06).ceil();
    let block = if ripples { BLOCK } else { 1 };
    let sizes = (0..=steps as u64).flat_map(|i| {
        let first = (low * (high / low).powf(i as f64 / steps.max(1.0))).round() as u64;
        (first..first + block).map(|size| size.clamp(1, most))
    });
    let mut known = BTreeMap::new();
    curve.look(sizes.collect(), &mut known)?;
    let (near, value) = lowest(&known).ok_or(Error::TooFew { name: "users", least: 2, value: users })?;
    let (first_stage, value) = if ripples {
        let reach = (near as f64 * 0.15).ceil() as u64;
        curve.look((near.saturating_sub(reach).max(1)..=(near + reach).min(most)).collect(), &mut known)?;
        lowest(&known).unwrap_or((near, value))
    } else {
        curve.smooth_minimum(near, &mut known)?
    };
    let plateau = curve.plateau(first_stage, value, &mut known)?;
    let (scaled_mse, one_stage, of_one_user) = (value.mse, curve.one_stage()?, curve.at(1)?.mse);
    Ok(BestFirstStage { first_stage, scaled_mse, plateau, one_stage, of_one_user })
}

fn lowest(known: &BTreeMap<u64, Value>) -> Option<(u64, Value)> {
    known.iter().min_by(|a, b| a.1.mse.total_cmp(&b.1.mse)).map(|(&size, &value)| (size, value))
}

/// n·MSE as a function of the first stage.
struct Curve<'a> {
    epsilon: Epsilon,
    users: u64,
    distances: &'a Distances,
    model: Gaussian,
}

#[derive(Clone, Copy)]
struct Value {
    mse: f64,
    /// The standard error of 50,000 replications.
    noise: f64,
}

impl Curve<'_> {
    fn at(&self, first_stage: u64) -> Result<Value> {
        let estimator = TwoStage::new(self.epsilon, 0.0, first_stage)?;
        let n = self.users as f64;
        let errors = |distance: f64| {
            let exact = Exact::new(&self.model, distance)?.most(1 << 19).resolution(4.0, 1e-9);
            let errors = exact.best(&estimator, self.users, || Errors::new(distance))?.gather;
            Ok([n * errors.mse(), n * errors.simulation_error(50_000)])
        };
        let [mse, noise] = self.distances.combine(errors)?;
        Ok(Value { mse, noise })
    }

    fn look(&self, sizes: Vec<u64>, known: &mut BTreeMap<u64, Value>) -> Result<()> {
        let new: Vec<u64> = sizes.into_iter().filter(|size| !known.contains_key(size)).collect();
        let found: Vec<_> = new.into_par_iter().map(|size| Ok((size, self.at(size)?))).collect::<Result<_>>()?;
        known.extend(found);
        Ok(())
    }

    fn one_stage(&self) -> Result<f64> {
        let estimator = OneStage::new(self.epsilon, 0.0)?;
        let [mse] = self.distances.combine(|distance| {
            let exact = Exact::new(&self.model, distance)?.most(1 << 19);
            let errors = exact.best(&estimator, self.users, || Errors::new(distance))?.gather;
            Ok([self.users as f64 * errors.mse()])
        })?;
        Ok(mse)
    }

    /// The minimum of a smooth curve: n₁/n + a/n₁ is symmetric in the logarithm of n₁, so a parabola there finds it.
    fn smooth_minimum(&self, near: u64, known: &mut BTreeMap<u64, Value>) -> Result<(u64, Value)> {
        let mut centre = near as f64;
        for reach in [0.3, 0.15, 0.1] {
            let sizes = [-reach, 0.0, reach].map(|step: f64| (centre * step.exp()).round());
            self.look(sizes.map(|size| size as u64).to_vec(), known)?;
            let [x0, x1, x2] = sizes.map(f64::ln);
            let [y0, y1, y2] = sizes.map(|size| known[&(size as u64)].mse);
            // The lowest point of the parabola through the three.
            let (left, right) = ((y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1));
            let bend = (right - left) / (x2 - x0);
            let lowest = 0.5 * (x0 + x1 - left / bend);
            if bend > 0.0 && lowest.is_finite() {
                centre = lowest.clamp(x0 - 0.5, x2 + 0.5).exp().round();
            }
        }
        let size = centre as u64;
        self.look(vec![size], known)?;
        Ok((size, known[&size]))
    }

    /// How far the curve stays within two standard errors of a simulation of its minimum, by bisection either way.
    fn plateau(&self, best: u64, value: Value, known: &mut BTreeMap<u64, Value>) -> Result<[u64; 2]> {
        let limit = value.mse + 2.0 * value.noise;
        let mut end = |mut inside: u64, mut outside: u64| -> Result<u64> {
            self.look(vec![outside], known)?;
            if known[&outside].mse <= limit {
                return Ok(outside);
            }
            // In equal ratios, to one per cent.
            while inside.abs_diff(outside) > 1 && (inside as f64 / outside as f64).ln().abs() > 0.01 {
                let middle = ((inside as f64 * outside as f64).sqrt().round() as u64)
                    .clamp(inside.min(outside) + 1, inside.max(outside) - 1);
                self.look(vec![middle], known)?;
                if known[&middle].mse <= limit { inside = middle } else { outside = middle }
            }
            Ok(inside)
        };
        let low = end(best, (best / PLATEAU_REACH).max(1))?;
        let high = end(best, best.saturating_mul(PLATEAU_REACH).min(self.users / 2).max(best))?;
        Ok([low, high])
    }
}
