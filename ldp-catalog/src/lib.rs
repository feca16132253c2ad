//! Everything that can be named: mechanisms, models, protocols and studies.
//!
//! ```text
//! text ──▶ Spec ──Catalog──▶ entry + Values ──build──▶ AnyMechanism, BuiltModel, BuiltEstimator
//! ```
//!
//! A thing is named by a spec, `name[:key=value,…]`. A [`Catalog`] holds an entry per name: a summary, keys with their types,
//! defaults and help, and how the thing is made. Listings, error messages and canonical specs are made from the entries.
//! [`Catalog::builtin`] has what comes with the framework; what others [register](Catalog::register_mechanism) is on the
//! same footing.
//!
//! ```
//! use ldp_catalog::{BuildContext, Catalog};
//! use ldp_core::Epsilon;
//!
//! let catalog = Catalog::builtin();
//! let model = catalog.model(&"gaussian:sigma=2".parse()?)?;
//! let context = BuildContext::new(Epsilon::new(1.0)?, &model);
//! let protocol = catalog.estimator(&"two-stage:start=1".parse()?, context)?;
//! assert_eq!(protocol.spec, "two-stage:start=1,first-stage=auto");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod catalog;
mod error;
mod estimators;
mod informative;
mod key;
#[cfg(test)]
mod laws;
mod meaning;
mod mechanisms;
mod models;
mod nearest;
mod on_data;
mod plan;
mod protocol;
mod spec;
pub mod text;
mod values;

pub use catalog::{
    BuildEstimator, BuildMechanism, BuildModel, Catalog, Entry, EstimatorEntry, MechanismEntry, ModelEntry, StudyEntry,
};
pub use error::{Error, Kind, Result, Untold};
pub use informative::{AnyMechanism, Asked, GaussianVectors, Shared, channel, counted, real, sets, vector};
pub use key::{Key, KeyType};
pub use meaning::Meaning;
pub use models::BuiltModel;
pub use nearest::nearest;
pub use on_data::OnData;
pub use plan::{plan_name, plan_spec};
pub use protocol::{BuildContext, BuiltEstimator, Target};
pub use spec::{Spec, SpecError};
pub use values::{Values, count, number};
