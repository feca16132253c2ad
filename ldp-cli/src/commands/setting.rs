//! What `simulate` and `risk` have in common: a protocol under a model, the checks, and the bound.

use super::{unless_gaussian, warn};
use crate::registry::{self, BuiltEstimator, BuiltModel, Known, Target};
use crate::report::{measured, percent, plain, significant};
use crate::spec::Spec;
use crate::table::Table;
use anyhow::Context;
use ldp_core::Epsilon;
use ldp_fisher::Optimum;
use ldp_simulate::{Fidelity, Setting};
use serde::Serialize;

/// A protocol and everything its risk depends on.
pub struct Case<'m> {
    /// Where the values come from.
    pub built: &'m BuiltModel,
    /// The protocol.
    pub protocol: BuiltEstimator,
    /// The true parameter.
    pub theta: f64,
    /// How many users there are.
    pub users: u64,
    /// The privacy level.
    pub epsilon: Epsilon,
    /// The true value of what is estimated.
    pub truth: f64,
}

impl<'m> Case<'m> {
    /// Builds the protocol and finds what is wrong with the flags, before the first draw.
    pub fn new(built: &'m BuiltModel, spec: &Spec, theta: f64, users: u64, epsilon: Epsilon) -> anyhow::Result<Self> {
        let protocol = registry::estimator(spec, Known::new(epsilon, built))?;
        built.model.check_theta(theta).with_context(|| format!("--theta {} for {}", plain(theta), built.spec))?;
        protocol.estimator.begin(users).with_context(|| format!("{} with --users {users}", protocol.spec))?;
        Self::made(built, protocol, theta, users, epsilon)
    }

    /// The same of a point of a study, where there are no flags to name.
    pub fn of_study(
        built: &'m BuiltModel,
        spec: &Spec,
        theta: f64,
        users: u64,
        epsilon: Epsilon,
    ) -> anyhow::Result<Self> {
        let protocol = registry::build_estimator(spec, Known::new(epsilon, built))?;
        built.model.check_theta(theta).with_context(|| format!("theta {} for {}", plain(theta), built.spec))?;
        protocol.estimator.begin(users)?;
        Self::made(built, protocol, theta, users, epsilon)
    }

    fn made(
        built: &'m BuiltModel,
        protocol: BuiltEstimator,
        theta: f64,
        users: u64,
        epsilon: Epsilon,
    ) -> anyhow::Result<Self> {
        let truth = protocol.target.value(built, theta)?;
        Ok(Self { built, protocol, theta, users, epsilon, truth })
    }

    /// Says what is odd about it, but no reason to refuse.
    pub fn warn(&self, quiet: bool) {
        self.warnings().iter().for_each(|warning| warn(quiet, warning));
    }

    /// What is odd about it.
    pub fn warnings(&self) -> Vec<String> {
        unless_gaussian(&self.protocol, self.built).into_iter().chain(self.protocol.warning.map(Into::into)).collect()
    }

    /// It, as drivers see it.
    pub fn setting(&self, seed: u64, fidelity: Fidelity) -> Setting<'_> {
        Setting { model: &*self.built.model, theta: self.theta, users: self.users, seed, fidelity }
    }

    /// Squares beyond double precision would make every number of the record infinite.
    pub fn check_finite(&self, mse: f64, variance: f64) -> anyhow::Result<()> {
        anyhow::ensure!(
            variance.is_finite() && (self.users as f64 * mse).is_finite(),
            "the squared errors overflow double precision: theta {:e}, {}, {}",
            self.theta,
            self.protocol.spec,
            self.built.spec
        );
        Ok(())
    }

    /// What the best protocol reaches, and how near this n·MSE comes to it.
    pub fn bound(&self, scaled_mse: f64) -> Bound {
        Bound::new(self.optimum(), scaled_mse)
    }

    /// Whether what is estimated is the parameter itself. A quantile is found to rounding only: of N(0.5, 1) the median
    /// comes out as 0.5 - 6e-17.
    pub fn centred(&self) -> bool {
        (self.truth - self.theta).abs() <= 1e-12 * self.built.scale.max(self.theta.abs())
    }

    /// The largest information about what is estimated.
    pub fn optimum(&self) -> Optimum {
        match self.protocol.target {
            // A centre of symmetry is median and mean at once.
            Target::Parameter | Target::Quantile(0.5) | Target::Mean if self.centred() => {
                self.built.optimum(self.theta, self.epsilon)
            }
            Target::Parameter | Target::Mean => {
                Optimum::Unknown { reason: "the bound is that of theta, not of the mean" }
            }
            Target::Vector | Target::VectorMean | Target::Directions(_) => {
                Optimum::Unknown { reason: "the bound of a mean in several dimensions is not known" }
            }
            Target::Quantile(_) => Optimum::Unknown { reason: "the bound is that of the parameter, not of a quantile" },
        }
    }
}

/// The fields of a record that compare with the best that regular estimators can be.
#[derive(Serialize)]
pub struct Bound {
    /// 1 / sup I: asymptotically the n·MSE of no regular estimator is smaller.
    pub bound: Option<f64>,
    /// Why it is not known.
    pub bound_reason: Option<&'static str>,
    /// The bound over n·MSE.
    pub efficiency: Option<f64>,
}

impl Bound {
    /// What an optimum means for this n·MSE.
    pub fn new(optimum: Optimum, scaled_mse: f64) -> Self {
        let (bound, bound_reason) = match optimum {
            Optimum::Known { information } if (1.0 / information).is_normal() => (Some(1.0 / information), None),
            Optimum::Known { .. } => (None, Some("the bound is beyond double precision in this unit")),
            Optimum::Unknown { reason } => (None, Some(reason)),
        };
        let efficiency = bound.map(|bound| bound / scaled_mse).filter(|efficiency| efficiency.is_normal());
        Self { bound, bound_reason, efficiency }
    }

    /// The rows of a table for people.
    pub fn rows(&self, table: &mut Table) {
        let bound = self.bound.map_or_else(|| "unknown".into(), |bound| significant(bound, 5));
        table.add_row([
            "bound",
            &bound,
            self.bound_reason.unwrap_or("1/sup I over all mechanisms: the limit for regular estimators"),
        ]);
        let efficiency = self.efficiency.map_or_else(|| "unknown".into(), |value| significant(value, 4));
        table.add_row(["efficiency", &efficiency, "bound / n·MSE"]);
    }
}

/// The row of what should be known before intervals are trusted, and how many estimates it is about.
pub fn caveat_row(table: &mut Table, share: f64, caveat: Option<&str>) {
    if let Some(caveat) = caveat {
        table.add_row(["caveat", &measured(share, 2), &format!("of the estimates: {caveat}")]);
    }
}

/// What there is to say beside the coverage of an interval: its level, and how often it is infinite or missing.
pub fn remark(level: f64, infinite: f64, missing: f64) -> String {
    let mut remark = format!("nominal {}", percent(level));
    for (share, what) in [(infinite, "with an infinite end"), (missing, "without an interval")] {
        if share > 0.0 {
            remark += &format!("; {} {what}", percent(share));
        }
    }
    remark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_found_to_rounding_has_the_bound_of_the_mean() {
        let built = registry::model(&"gaussian".parse().unwrap()).unwrap();
        let epsilon = Epsilon::new(1.0).unwrap();
        let case = |spec: &str| Case::new(&built, &spec.parse().unwrap(), 0.5, 1000, epsilon).unwrap();
        let median = case("liu:start=0");
        assert_ne!(median.truth, 0.5);
        let bound = median.bound(10.0).bound.unwrap();
        assert!((bound - 7.3556).abs() < 1e-4, "{bound}");
        assert_eq!(case("liu:start=0,quantile=0.6").bound(10.0).bound, None);
    }
}
