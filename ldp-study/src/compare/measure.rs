//! What is worked out at one point of a comparison.

use super::squares::Squares;
use crate::bootstrap;
use crate::record::{Intervals, Point};
use crate::scenario::{Bound, ResolvedScenario, check_countable, refused, scaled_error};
use crate::study::{Comparison, Fidelity, Outline, Setup};
use anyhow::Context;
use ldp_catalog::BuiltModel;
use ldp_core::Epsilon;
use ldp_fisher::Optimum;
use ldp_simulate::{MOST_DRAWN, Summary, in_batches};
use std::collections::HashMap;
use std::sync::Mutex;

/// What one user costs, in units of one replication of tallies.
const USER: f64 = 0.01;
/// What a sum over all tallies costs, in the same units.
const SUM: f64 = 1e5;

/// Squares of larger values, times as many users as there may be, overflow double precision.
const HUGE: f64 = 1e140;
/// How often a point with such values is tried.
const TRIAL: u64 = 8;

/// What checking a point tells of it.
pub struct Checked {
    /// About how long, in units of its own.
    pub work: f64,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

/// Works points out.
pub struct Measurer<'s> {
    outline: &'s Outline<'s>,
    /// Optima found so far: where they have no closed form they take a second, and many points share one.
    optima: Mutex<HashMap<String, Optimum>>,
}

/// The replications of a protocol at a point.
struct Replicated {
    summary: Summary,
    /// Squared errors in the order of replications, or means of groups of them.
    squares: Vec<f64>,
}

/// How replications are drawn and kept.
struct Drawn {
    fidelity: Fidelity,
    seed: u64,
    /// Largest number of replications of the point and of what it is compared with.
    most: u64,
}

impl<'s> Measurer<'s> {
    /// Of the points of a study.
    pub fn new(outline: &'s Outline<'s>) -> Self {
        Self { outline, optima: Mutex::default() }
    }

    fn study(&self) -> &'s Comparison {
        self.outline.study()
    }

    fn case<'m>(&self, built: &'m BuiltModel, setup: &Setup) -> anyhow::Result<ResolvedScenario<'m>> {
        let (catalog, epsilon) = (self.outline.catalog(), Epsilon::new(setup.epsilon)?);
        ResolvedScenario::of_study(catalog, built, &setup.spec, setup.theta, setup.users, epsilon)
    }

    /// Finds what is wrong with a point, without a draw.
    pub fn check(&self, setup: &Setup) -> anyhow::Result<Checked> {
        let built = self.outline.catalog().model(&setup.model)?;
        let case = self.case(&built, setup)?;
        let fidelity = self::fidelity(&case, setup)?;
        if let Some(base) = self.base(setup) {
            // Where it stands beside the point, it must be able to.
            let label = &self.study().estimators[base.estimator].label;
            let built = self.outline.catalog().model(&base.model)?;
            self.case(&built, &base).with_context(|| format!("paired with '{label}'"))?;
        }
        if fidelity == Fidelity::Users {
            // What memory cannot hold is refused by whoever would hold it.
            case.protocol.estimator.simulation(&case.setting(self.study().seed, fidelity.drawn()))?;
        }
        if huge(&case, setup) {
            // Not found out after hours.
            let mut trial = setup.clone();
            trial.replications = trial.replications.min(TRIAL);
            self.measure(&trial, &mut |_| {})?;
        }
        let replications = setup.replications as f64;
        let work = match fidelity {
            Fidelity::Users => replications * (1.0 + USER * setup.users as f64),
            Fidelity::Tally => replications,
            Fidelity::Exact => SUM,
        };
        Ok(Checked { work, warnings: case.warnings() })
    }

    /// The protocol that this one is compared with, at the same place.
    fn base(&self, setup: &Setup) -> Option<Setup> {
        let base = self.study().position(self.study().paired.as_ref()?)?;
        (base != setup.estimator).then(|| self.outline.beside(setup, base))
    }

    /// Works a point out; `advance` is told which share of it has been done, in small steps.
    pub fn measure(&self, setup: &Setup, advance: &mut dyn FnMut(f64)) -> anyhow::Result<Point> {
        let built = self.outline.catalog().model(&setup.model)?;
        let case = self.case(&built, setup)?;
        let fidelity = fidelity(&case, setup)?;
        let own = setup.own_seed(&case.protocol.full, &built.spec, fidelity, self.study().seed);
        // On the same users protocols are compared; tallies have no users, and points should not share their luck.
        let seed = if fidelity == Fidelity::Users { self.study().seed } else { own };
        let mut point = self.blank(&case, setup, fidelity, seed);
        if fidelity == Fidelity::Exact {
            self.sum(&case, &mut point)?;
            advance(1.0);
        } else {
            let base = self.base(setup);
            let share = if base.is_some() { 0.5 } else { 1.0 };
            // Pairs of replications stay pairs where they are kept in groups.
            let most = base.iter().map(|base| base.replications).fold(setup.replications, u64::max);
            let drawn = Drawn { fidelity, seed, most };
            let found = self.replicate(&case, setup, &drawn, &mut |part| advance(share * part))?;
            self.fill(&case, &found, own, &mut point)?;
            if let Some(base) = base {
                let built = self.outline.catalog().model(&base.model)?;
                let case = self.case(&built, &base)?;
                let other = self.replicate(&case, &base, &drawn, &mut |part| advance(share * part))?;
                let ratio = found.summary.mse() / other.summary.mse();
                point.ratio = Some(ratio).filter(|ratio| ratio.is_finite());
                point.ratio_interval = bootstrap::ratio(&found.squares, &other.squares, own);
            }
        }
        let optimum = self.optimum(&case);
        let Bound { bound, bound_reason, efficiency } = Bound::new(optimum, point.scaled_mse);
        point.bound = bound;
        point.bound_reason = bound_reason.map(Into::into);
        point.efficiency = efficiency;
        Ok(point)
    }

    /// What is known of a point before it is worked out.
    fn blank(&self, case: &ResolvedScenario<'_>, setup: &Setup, fidelity: Fidelity, seed: u64) -> Point {
        let information = case.built.model.information(case.theta);
        Point {
            index: setup.index,
            label: self.study().estimators[setup.estimator].label.clone(),
            estimator: case.protocol.spec.clone(),
            model: case.built.spec.clone(),
            theta: setup.theta,
            users: setup.users,
            epsilon: setup.epsilon,
            keys: setup.keys.iter().cloned().collect(),
            target: case.protocol.target.name().into(),
            truth: case.truth,
            fidelity,
            replications: (fidelity != Fidelity::Exact).then_some(setup.replications),
            seed,
            scaled_mse: 0.0,
            scaled_mse_interval: None,
            scaled_mse_error: None,
            bias: 0.0,
            variance: 0.0,
            bound: None,
            bound_reason: None,
            efficiency: None,
            // The limit is that of the parameter, like the bound.
            nonprivate: Some(1.0 / information).filter(|limit| limit.is_normal() && case.centred()),
            one_stage: None,
            coverage: None,
            width: None,
            intervals: Vec::new(),
            fallbacks: None,
            ratio: None,
            ratio_interval: None,
        }
    }

    fn sum(&self, case: &ResolvedScenario<'_>, point: &mut Point) -> anyhow::Result<()> {
        let setting = case.setting(point.seed, Fidelity::Exact.drawn());
        let summed = case.protocol.estimator.errors(&setting, case.truth).map_err(|error| refused(case, error))?;
        let errors = summed.gather;
        case.check_finite(errors.mse(), errors.variance())?;
        point.scaled_mse = case.users as f64 * errors.mse();
        point.scaled_mse_error = scaled_error(case.users, summed.mse_error);
        point.bias = errors.bias();
        point.variance = errors.variance();
        Ok(())
    }

    fn replicate(
        &self,
        case: &ResolvedScenario<'_>,
        setup: &Setup,
        drawn: &Drawn,
        advance: &mut dyn FnMut(f64),
    ) -> anyhow::Result<Replicated> {
        let (estimator, setting) = (&*case.protocol.estimator, case.setting(drawn.seed, drawn.fidelity.drawn()));
        let empty = || Summary::new(case.truth, self.study().level, estimator.interval_kinds());
        let (mut total, mut kept) = (empty(), Squares::new(drawn.most));
        let simulation = estimator.simulation(&setting)?;
        in_batches(
            setup.replications,
            |batch| {
                let (mut part, mut squares) = (empty(), Vec::new());
                simulation.replicate(batch, &mut |estimate| {
                    part.push(estimate);
                    squares.push(estimate.squared_error(case.truth));
                })?;
                Ok((part, squares))
            },
            |(part, squares)| {
                total.merge(part);
                kept.extend(&squares);
                advance(squares.len() as f64 / setup.replications as f64);
            },
        )?;
        case.check_finite(total.mse(), total.variance())?;
        Ok(Replicated { summary: total, squares: kept.values() })
    }

    fn fill(&self, case: &ResolvedScenario<'_>, found: &Replicated, own: u64, point: &mut Point) -> anyhow::Result<()> {
        let (summary, n) = (&found.summary, case.users as f64);
        let share = |count: u64| count as f64 / summary.replications() as f64;
        point.scaled_mse = n * summary.mse();
        let interval = bootstrap::mean(&found.squares, own).map(|ends| ends.map(|end| n * end));
        point.scaled_mse_interval = interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
        point.bias = summary.bias();
        point.variance = summary.variance();
        point.fallbacks = Some(share(summary.notes()));
        point.intervals = (summary.coverage().iter())
            .map(|entry| Intervals {
                kind: entry.kind,
                coverage: share(entry.covered),
                missing: share(entry.missing),
                infinite: share(entry.infinite),
                mean_finite_width: (entry.width.count() > 0).then(|| entry.width.mean()),
            })
            .collect();
        point.coverage = point.intervals.first().map(|entry| entry.coverage);
        point.width = point.intervals.first().and_then(|entry| entry.mean_finite_width);
        Ok(())
    }

    fn optimum(&self, case: &ResolvedScenario<'_>) -> Optimum {
        let name = format!(
            "{} {} {} {} {}",
            case.built.spec,
            case.theta,
            case.epsilon.value(),
            case.protocol.target.name(),
            case.truth
        );
        let known = self.optima.lock().ok().and_then(|optima| optima.get(&name).copied());
        // Not found under the lock: two threads may find the same, but none waits for the other.
        known.unwrap_or_else(|| {
            let optimum = case.optimum();
            if let Ok(mut optima) = self.optima.lock() {
                optima.insert(name, optimum);
            }
            optimum
        })
    }
}

/// Whether a number of the setting is so large that squared errors may overflow.
fn huge(case: &ResolvedScenario<'_>, setup: &Setup) -> bool {
    let written = setup.spec.pairs.iter().chain(&setup.model.pairs).filter_map(|(_, value)| value.parse::<f64>().ok());
    [case.theta, case.truth, case.built.scale].into_iter().chain(written).any(|number| !(number.abs() < HUGE))
}

/// How a point is worked out, if it can be so.
fn fidelity(case: &ResolvedScenario<'_>, setup: &Setup) -> anyhow::Result<Fidelity> {
    let fidelity = setup.fidelity.unwrap_or(case.protocol.fidelity.into());
    match fidelity {
        Fidelity::Exact => check_countable(case)?,
        Fidelity::Users | Fidelity::Tally => anyhow::ensure!(
            case.protocol.estimator.fidelities().contains(&fidelity.drawn()),
            "fidelity tally: {} has reports that cannot be counted; every user has to be drawn, fidelity = \"users\"",
            case.protocol.spec
        ),
    }
    anyhow::ensure!(
        fidelity == Fidelity::Users || case.users <= MOST_DRAWN,
        "{} users: at {} fidelity at most {MOST_DRAWN}",
        case.users,
        fidelity.name()
    );
    Ok(fidelity)
}
