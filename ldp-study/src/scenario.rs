//! A protocol under a model: the checks before it is run, and the bound that it is compared with.

use anyhow::Context;
use ldp_catalog::text::plain;
use ldp_catalog::{BuildContext, BuiltEstimator, BuiltModel, Catalog, Spec, Target};
use ldp_core::{Epsilon, Error};
use ldp_fisher::Optimum;
use ldp_simulate::MOST_DRAWN;
use ldp_simulate::{Fidelity, Setting};
use serde::Serialize;

/// A protocol and everything its risk depends on.
pub struct ResolvedScenario<'m> {
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

impl<'m> ResolvedScenario<'m> {
    /// A protocol that has been built and can begin with so many users.
    ///
    /// # Errors
    ///
    /// If the true value of what it estimates cannot be found.
    pub fn new(
        built: &'m BuiltModel,
        protocol: BuiltEstimator,
        theta: f64,
        users: u64,
        epsilon: Epsilon,
    ) -> anyhow::Result<Self> {
        let truth = protocol.target.value(built, theta)?;
        Ok(Self { built, protocol, theta, users, epsilon, truth })
    }

    /// The protocol that a study names at one of its points.
    ///
    /// # Errors
    ///
    /// If it cannot be built, or not run there.
    pub fn of_study(
        catalog: &Catalog,
        built: &'m BuiltModel,
        spec: &Spec,
        theta: f64,
        users: u64,
        epsilon: Epsilon,
    ) -> anyhow::Result<Self> {
        let protocol = catalog.estimator_of_study(spec, BuildContext::new(epsilon, built))?;
        built.model.check_theta(theta).with_context(|| format!("theta {} for {}", plain(theta), built.spec))?;
        protocol.estimator.begin(users)?;
        Self::new(built, protocol, theta, users, epsilon)
    }

    /// Warnings about what is odd, but no reason to refuse.
    pub fn warnings(&self) -> Vec<String> {
        unless_gaussian(&self.protocol, self.built).into_iter().chain(self.protocol.warning.clone()).collect()
    }

    /// The setting as drivers see it.
    pub fn setting(&self, seed: u64, fidelity: Fidelity) -> Setting<'_> {
        Setting { model: &*self.built.model, theta: self.theta, users: self.users, seed, fidelity }
    }

    /// Refuses squares beyond double precision, which would make every number of a record infinite.
    ///
    /// # Errors
    ///
    /// If there are such squares.
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
    /// The bound that an optimum means, and how near this n·MSE comes to it.
    pub fn new(optimum: Optimum, scaled_mse: f64) -> Self {
        let (bound, bound_reason) = match optimum {
            Optimum::Known { information } if (1.0 / information).is_normal() => (Some(1.0 / information), None),
            Optimum::Known { .. } => (None, Some("the bound is beyond double precision in this unit")),
            Optimum::Unknown { reason } => (None, Some(reason)),
        };
        let efficiency = bound.map(|bound| bound / scaled_mse).filter(|efficiency| efficiency.is_normal());
        Self { bound, bound_reason, efficiency }
    }
}

/// Finds protocols whose risk is no sum before the work begins.
///
/// # Errors
///
/// If the reports of the protocol cannot be counted, or there are too many users.
pub fn check_countable(case: &ResolvedScenario<'_>) -> anyhow::Result<()> {
    anyhow::ensure!(
        case.protocol.estimator.fidelities().contains(&Fidelity::Tally),
        "{} has reports that cannot be counted, so that its risk is no finite sum; use ldp simulate",
        case.protocol.spec
    );
    anyhow::ensure!(case.users <= MOST_DRAWN, "--users {}: at most {MOST_DRAWN} can be counted", case.users);
    Ok(())
}

/// Why a sum was not done, and what to do instead.
pub fn refused(case: &ResolvedScenario<'_>, error: Error) -> anyhow::Error {
    let spec = &case.protocol.spec;
    let many = matches!(error, Error::TooMany { .. } | Error::Unsupported { .. });
    let error = anyhow::Error::from(error);
    if many {
        return error.context(format!(
            "{spec} with --users {} has more outcomes than can be summed; use ldp simulate",
            case.users
        ));
    }
    error.context(format!("{spec} with --users {}", case.users))
}

/// An error of the mean squared error as one of n·MSE.
pub fn scaled_error(users: u64, mse_error: Option<f64>) -> Option<f64> {
    mse_error.map(|error| users as f64 * error).filter(|error| error.is_finite())
}

/// Says so where a protocol takes the values to be Gaussian and the model is another.
///
/// Protocols for a Gaussian mean invert its distribution function: under any other family they are biased unless the
/// threshold happens to be at the centre.
pub fn unless_gaussian(protocol: &BuiltEstimator, built: &BuiltModel) -> Option<String> {
    let (estimator, model) = (&protocol.spec, &built.spec);
    (protocol.gaussian && !built.gaussian).then(|| {
        format!("{estimator} takes the values to be Gaussian; under {model} it need not tend to theta, nor its intervals cover it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_found_to_rounding_has_the_bound_of_the_mean() {
        let catalog = Catalog::builtin();
        let built = catalog.model(&"gaussian".parse().unwrap()).unwrap();
        let epsilon = Epsilon::new(1.0).unwrap();
        let case = |spec: &str| {
            ResolvedScenario::of_study(&catalog, &built, &spec.parse().unwrap(), 0.5, 1000, epsilon).unwrap()
        };
        let median = case("liu:start=0");
        assert_ne!(median.truth, 0.5);
        let bound = median.bound(10.0).bound.unwrap();
        assert!((bound - 7.3556).abs() < 1e-4, "{bound}");
        assert_eq!(case("liu:start=0,quantile=0.6").bound(10.0).bound, None);
    }
}
