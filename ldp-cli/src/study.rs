//! Bundled studies: what they ask, as TOML files in `studies/`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A study that comes with the program.
pub struct Bundled {
    /// What it is called.
    pub name: &'static str,
    source: &'static str,
}

/// All of them.
pub const BUNDLED: &[Bundled] =
    &[Bundled { name: "first-stage-growth", source: include_str!("../studies/first-stage-growth.toml") }];

impl Bundled {
    /// What it asks.
    pub fn study(&self) -> Result<Study, StudyError> {
        Study::parse(self.source)
    }
}

/// What is wrong with a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// It is not TOML, or has a key too many, too few, or of another kind. The message of the parser shows the line.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// A value is not one that makes sense.
    #[error("{key} must be {wanted}, not {found}")]
    Value {
        /// The key, with its table.
        key: &'static str,
        /// What would make sense.
        wanted: &'static str,
        /// What there is.
        found: String,
    },
}

/// A study, by its kind.
pub enum Study {
    /// The growth of the best first stage.
    FirstStageGrowth(Growth),
}

impl Study {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, StudyError> {
        // The kind first, alone: what other keys there may be depends on it, and their errors should name a line.
        let Head { kind } = toml::from_str(text)?;
        match kind {
            Kind::FirstStageGrowth => {
                let growth: Growth = toml::from_str(text)?;
                growth.check()?;
                Ok(Self::FirstStageGrowth(growth))
            }
        }
    }

    /// What it is about.
    pub fn title(&self) -> &str {
        match self {
            Self::FirstStageGrowth(growth) => &growth.title,
        }
    }
}

#[derive(Deserialize)]
struct Head {
    kind: Kind,
}

/// The kinds of studies.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Of [`Growth`].
    FirstStageGrowth,
}

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
    /// Of the start from the mean, in σ.
    pub distance: f64,
    /// Numbers of users, increasing.
    pub users: Vec<Count>,
    /// Of the simulation with which sizes are told apart.
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
    /// The largest.
    pub to: Count,
    /// How many there are, in equal ratios.
    pub sizes: Count,
}

/// A whole number, which may be written 1e9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "f64")]
pub struct Count(pub u64);

impl TryFrom<f64> for Count {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        // Beyond, not every whole number is one of floating point.
        const MOST: f64 = 9_007_199_254_740_992.0;
        if (1.0..=MOST).contains(&value) && value.fract() == 0.0 {
            Ok(Self(value as u64))
        } else {
            Err(format!("expected a whole number from 1 to 2^53, not {value}"))
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of replications that [`ldp_estimators::plan::BestFirstStage::plateau`] is about.
const REPLICATIONS: u64 = 50_000;

impl Growth {
    fn check(&self) -> Result<(), StudyError> {
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
    use super::*;

    #[test]
    fn what_is_bundled_is_sound() {
        for bundled in BUNDLED {
            let study = bundled.study().unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
            assert!(!study.title().is_empty());
        }
        let Study::FirstStageGrowth(growth) = BUNDLED[0].study().unwrap();
        assert_eq!(growth.epsilon, [0.5, 1.0, 2.0]);
        assert_eq!((growth.users.len(), growth.users[8], growth.distance), (9, Count(1_000_000_000), 0.5));
    }

    /// What is said of the bundled study with one text in place of another.
    fn refused(from: &str, to: &str) -> String {
        let text = BUNDLED[0].source;
        assert!(text.contains(from), "{from}");
        Study::parse(&text.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to}")).to_string()
    }

    #[test]
    fn unknown_keys_are_refused_with_their_line() {
        let message = refused("distance = 0.5", "distance = 0.5\ndistanse = 1");
        assert!(message.contains("unknown field `distanse`") && message.contains("line 8"), "{message}");
        let message = refused("from = 20", "form = 20");
        assert!(message.contains("unknown field `form`"), "{message}");
        let message = refused("\"first-stage-growth\"", "\"first-stage-grwoth\"");
        assert!(message.contains("unknown variant `first-stage-grwoth`"), "{message}");
        assert!(refused("distance = 0.5", "").contains("missing field `distance`"));
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
