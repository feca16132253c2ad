//! The families by name.

use super::catalog::Builtin;
use super::error::Result;
use super::{Key, KeyType, Values};
use ldp_core::Epsilon;
use ldp_core::model::{
    Bernoulli, Categorical, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, StudentT,
};
use ldp_fisher::{Optimum, gaussian_mean, laplace_location, optimal};
use ldp_simulate::AnyModel;
use std::sync::Arc;

/// A model, and what has to be known about it to use it.
pub struct BuiltModel {
    /// The family.
    pub model: Arc<dyn AnyModel>,
    /// The canonical spec, filled in by the catalog.
    pub spec: String,
    /// The unit in which protocols for a mean measure: σ, or the scale of a location family; else 1.
    pub scale: f64,
    /// Whether the model has such a unit.
    pub scaled: bool,
    /// The mean of the values at a parameter.
    pub mean: Box<dyn Fn(f64) -> f64 + Send + Sync>,
    /// What the parameter is.
    pub parameter: &'static str,
    /// What has to be told about the data and was not.
    pub untold: Vec<Key>,
    /// Whether it is what protocols for a Gaussian mean assume.
    pub gaussian: bool,
    /// The largest private information, where it has a closed form.
    pub closed_form: Box<dyn Fn(Epsilon) -> Optimum + Send + Sync>,
}

impl BuiltModel {
    /// A family of which nothing more is known: its parameter is its mean, it has no scale and no optimum in closed form.
    ///
    /// The catalog fills in the spec.
    pub fn new(model: impl AnyModel + 'static) -> Self {
        Self {
            model: Arc::new(model),
            spec: String::new(),
            scale: 1.0,
            scaled: false,
            mean: Box::new(|theta| theta),
            parameter: "mean",
            untold: Vec::new(),
            gaussian: false,
            closed_form: Box::new(|_| Optimum::Unknown { reason: NO_FORM }),
        }
    }

    /// The largest private information: in closed form, or that of the best mechanism found.
    pub fn optimum(&self, theta: f64, epsilon: Epsilon) -> Optimum {
        match (self.closed_form)(epsilon) {
            known @ Optimum::Known { .. } => known,
            Optimum::Unknown { .. } => match optimal::largest(&*self.model, theta, epsilon) {
                Ok(information) => Optimum::Known { information },
                Err(_) => Optimum::Unknown { reason: NOT_FOUND },
            },
        }
    }

    /// The ends of what the parameter can be, as far as they are at 0 or 1.
    pub fn space(&self) -> [f64; 2] {
        let admits = |theta: f64| self.model.admits(theta).is_ok();
        let low = if admits(-1.0) { f64::NEG_INFINITY } else { 0.0 };
        [low, if admits(2.0) { f64::INFINITY } else { 1.0 }]
    }

    /// A parameter for those who name none: the first of 0, 1 and 1/2 that the family has.
    pub fn usual_theta(&self) -> f64 {
        [0.0, 1.0, 0.5].into_iter().find(|&theta| self.model.admits(theta).is_ok()).unwrap_or(0.0)
    }
}

type Build = fn(&Values) -> Result<BuiltModel>;

const SCALE: Key = Key::of_data("scale", KeyType::Number, "1", "scale of the distribution");
const NO_FORM: &str = "the optimal mechanism of this family has no closed form";
const NOT_FOUND: &str = "no optimal mechanism was found: the family has no finite information here, or numbers run out";

/// All families.
pub(crate) const MODELS: &[Builtin<Build>] = &[
    Builtin {
        name: "gaussian",
        summary: "N(theta, sigma^2), its mean",
        keys: &[Key::of_data("sigma", KeyType::Number, "1", "standard deviation of the values, known to the protocol")],
        build: |values| {
            let sigma = values.number("sigma")?;
            let closed_form = Box::new(move |epsilon| gaussian_mean(epsilon, sigma));
            Ok(BuiltModel { closed_form, gaussian: true, ..location(Gaussian::new(sigma)?, sigma) })
        },
    },
    Builtin {
        name: "laplace",
        summary: "Laplace distribution, its location",
        keys: &[SCALE],
        build: |values| {
            let scale = values.number("scale")?;
            let closed_form = Box::new(move |epsilon| laplace_location(epsilon, scale));
            Ok(BuiltModel { closed_form, ..location(Laplace::new(scale)?, scale) })
        },
    },
    Builtin {
        name: "logistic",
        summary: "logistic distribution, its location",
        keys: &[SCALE],
        build: |values| {
            let scale = values.number("scale")?;
            Ok(location(Logistic::new(scale)?, scale))
        },
    },
    Builtin {
        name: "student-t",
        summary: "Student's t distribution, its location",
        keys: &[Key::of_data("degrees", KeyType::Number, "3", "degrees of freedom"), SCALE],
        build: |values| {
            let scale = values.number("scale")?;
            Ok(location(StudentT::new(values.number("degrees")?, scale)?, scale))
        },
    },
    Builtin {
        name: "exponential",
        summary: "exponential distribution, its mean",
        keys: &[],
        build: |_| Ok(other(Exponential)),
    },
    Builtin {
        name: "gaussian-scale",
        summary: "N(0, theta^2), its standard deviation",
        keys: &[],
        build: |_| Ok(BuiltModel { mean: Box::new(|_| 0.0), parameter: "standard deviation", ..other(GaussianScale) }),
    },
    Builtin {
        name: "bernoulli",
        summary: "0 or 1, the probability of 1",
        keys: &[],
        build: |_| Ok(BuiltModel { parameter: "probability of 1", ..other(Bernoulli) }),
    },
    Builtin { name: "poisson", summary: "Poisson counts, their mean", keys: &[], build: |_| Ok(other(Poisson)) },
    Builtin {
        name: "categorical",
        summary: "categories 0, 1, ..., the probability of 0; the others share the rest equally",
        keys: &[Key::of_data("size", KeyType::Count, "4", "number of categories")],
        build: |values| {
            let size = values.small_count("size")?;
            // The categories after 0 share the rest equally; their mean is half the number of all.
            let mean = Box::new(move |theta| (1.0 - theta) * f64::from(size) / 2.0);
            Ok(BuiltModel { mean, parameter: "probability of 0", ..other(Categorical::new(size)?) })
        },
    },
];

fn location(model: impl AnyModel + 'static, scale: f64) -> BuiltModel {
    BuiltModel { scale, scaled: true, ..other(model) }
}

fn other(model: impl AnyModel + 'static) -> BuiltModel {
    BuiltModel::new(model)
}
