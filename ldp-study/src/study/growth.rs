//! What the study of the growth of the first stage asks.

use super::{Count, Kind, StudyError};
use serde::{Deserialize, Serialize};

/// How the best first stage of the two-stage sign estimator grows with the number of users.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Always the same.
    pub kind: Kind,
    /// What it is about.
    pub title: String,
    /// Privacy levels.
    pub epsilon: Vec<f64>,
    /// Distance of the start from the mean, in σ.
    pub distance: f64,
    /// Numbers of users, increasing.
    pub users: Vec<Count>,
    /// Replications of the simulation with which sizes are told apart.
    pub plateau_replications: Count,
    /// The curve that is drawn.
    pub curve: Curve,
}

/// n·MSE along the size of the first stage.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// One of the study's.
    pub epsilon: f64,
    /// One of the study's.
    pub users: Count,
    /// The smallest size.
    pub from: Count,
    /// The largest size.
    pub to: Count,
    /// Number of sizes, in equal ratios.
    pub sizes: Count,
}

/// The number of replications that [`ldp_estimators::plan::BestFirstStage::plateau`] is about.
const REPLICATIONS: u64 = 50_000;

impl Growth {
    /// Finds what makes no sense.
    pub(super) fn check(&self) -> Result<(), StudyError> {
        let require = |holds: bool, key, wanted, found: String| {
            if holds { Ok(()) } else { Err(StudyError::Value { key, wanted, found }) }
        };
        let private = |&epsilon: &f64| ldp_core::Epsilon::new(epsilon).is_ok();
        let (epsilons, users) = (&self.epsilon, &self.users);
        let different = epsilons.windows(2).all(|pair| pair[0] < pair[1]);
        let levels = !epsilons.is_empty() && different && epsilons.iter().all(private);
        require(levels, "epsilon", "increasing privacy levels", format!("{epsilons:?}"))?;
        let distance = self.distance;
        require(distance >= 0.0 && distance.is_finite(), "distance", "at least 0, finite", distance.to_string())?;
        let growing = users.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let counts = || users.iter().map(Count::to_string).collect::<Vec<_>>().join(", ");
        let several = users.first().is_some_and(|users| users.0 >= 10);
        require(several && growing, "users", "increasing, at least 10", counts())?;
        let replications = self.plateau_replications;
        require(replications.0 == REPLICATIONS, "plateau_replications", "50000", replications.to_string())?;
        let curve = &self.curve;
        require(epsilons.contains(&curve.epsilon), "curve.epsilon", "one of epsilon", curve.epsilon.to_string())?;
        require(users.contains(&curve.users), "curve.users", "one of users", curve.users.to_string())?;
        let inside = curve.from.0 < curve.to.0 && curve.to.0 < curve.users.0;
        require(inside, "curve.to", "above curve.from and below curve.users", curve.to.to_string())?;
        require((2..=10_000).contains(&curve.sizes.0), "curve.sizes", "from 2 to 10000", curve.sizes.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Study;
    use super::*;
    use ldp_catalog::Catalog;

    #[test]
    fn the_bundled_one_is_sound() {
        let catalog = Catalog::builtin();
        let study = Study::parse(&catalog, catalog.study("first-stage-growth").unwrap().source).unwrap();
        let Study::FirstStageGrowth(growth) = study else { panic!("of another kind") };
        assert_eq!(growth.epsilon, [0.5, 1.0, 2.0]);
        assert_eq!((growth.users.len(), growth.users[8], growth.distance), (9, Count(1_000_000_000), 0.5));
    }

    /// What is said of the bundled study with one text in place of another.
    fn refused(from: &str, to: &str) -> String {
        let catalog = Catalog::builtin();
        let text = catalog.study("first-stage-growth").unwrap().source;
        assert!(text.contains(from), "{from}");
        Study::parse(&catalog, &text.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to}")).to_string()
    }

    #[test]
    fn unknown_keys_are_refused_with_their_line() {
        let message = refused("distance = 0.5", "distance = 0.5\ndistanse = 1");
        assert!(message.contains("no key 'distanse'") && message.contains("line 8"), "{message}");
        let message = refused("from = 20", "form = 20");
        assert!(message.contains("no key 'form'"), "{message}");
        let message = refused("\"first-stage-growth\"", "\"first-stage-grwoth\"");
        assert!(message.contains("'first-stage-grwoth' (did you mean 'first-stage-growth'?)"), "{message}");
        assert!(refused("distance = 0.5", "").contains("the key 'distance' is missing"));
        assert!(refused("title =", "title").contains("line 4"));
    }

    #[test]
    fn senseless_values_are_refused_by_name() {
        for (from, to, message) in [
            ("[0.5, 1, 2]", "[0.5, -1, 2]", "epsilon must be increasing privacy levels"),
            ("[0.5, 1, 2]", "[]", "epsilon must be increasing privacy levels"),
            ("distance = 0.5", "distance = -0.5", "distance must be at least 0, finite, not -0.5"),
            ("distance = 0.5", "distance = nan", "distance must be at least 0, finite, not NaN"),
            ("1e3, 3e3", "3e3, 1e3", "users must be increasing"),
            ("1e3, 3e3", "1e3, 3000.5", "expected a whole number from 1 to 2^53, not 3000.5"),
            ("= 50000", "= 1000", "plateau_replications must be 50000, not 1000"),
            ("epsilon = 1\n", "epsilon = 3\n", "curve.epsilon must be one of epsilon, not 3"),
            ("users = 1e4", "users = 2e4", "curve.users must be one of users, not 20000"),
            ("to = 3000", "to = 10", "curve.to must be above curve.from"),
            ("sizes = 120", "sizes = 1", "curve.sizes must be from 2 to 10000, not 1"),
        ] {
            let said = refused(from, to);
            assert!(said.contains(message), "{said}");
        }
    }
}
