//! A comparison: protocols, models, grids, and what to draw of them.

use super::{Figure, Grid, Kind};
use ldp_catalog::Spec;

use serde::{Deserialize, Serialize};

/// Protocols side by side, over a grid of settings. It is part of the record, so that figures can be drawn again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Always the same.
    pub kind: Kind,
    /// What it is about.
    pub title: String,
    /// The seed of all streams.
    pub seed: u64,
    /// The nominal coverage of the protocols' own intervals.
    pub level: f64,
    /// What to do with points where a protocol refuses.
    pub infeasible: Infeasible,
    /// The label of the protocol that the others are compared with, on the same users.
    pub paired: Option<String>,
    /// Where values come from.
    pub models: Vec<Named>,
    /// The protocols.
    pub estimators: Vec<Contestant>,
    /// The settings: the union of the grids.
    pub grids: Vec<Grid>,
    /// What is drawn.
    pub figure: Figure,
}

/// A spec, and where it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Named {
    /// The spec, as written.
    pub spec: Spec,
    /// The line of the file; 0 where there is none.
    pub line: usize,
}

impl From<Named> for String {
    fn from(named: Named) -> Self {
        named.spec.to_string()
    }
}

impl TryFrom<String> for Named {
    type Error = ldp_catalog::SpecError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self { spec: text.parse()?, line: 0 })
    }
}

/// A protocol that takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contestant {
    /// What it is called in tables and figures.
    pub label: String,
    /// The protocol.
    pub spec: Named,
    /// How often it is run at every point.
    pub replications: u64,
    /// How it is simulated; the cheapest way the protocol allows if nothing is said.
    pub fidelity: Option<Fidelity>,
}

/// What to do with points where a protocol refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Infeasible {
    /// Refuse the study.
    #[default]
    Refuse,
    /// Leave them out, and say so.
    Skip,
}

/// How a point is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Every user drawn.
    Users,
    /// Every tally drawn from its exact law.
    Tally,
    /// Nothing drawn: every outcome weighed by its probability.
    Exact,
}

impl Fidelity {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Tally => "tally",
            Self::Exact => "exact",
        }
    }

    /// What is drawn; sums count tallies too.
    pub fn drawn(self) -> ldp_simulate::Fidelity {
        match self {
            Self::Users => ldp_simulate::Fidelity::Users,
            Self::Tally | Self::Exact => ldp_simulate::Fidelity::Tally,
        }
    }
}

impl From<ldp_simulate::Fidelity> for Fidelity {
    fn from(drawn: ldp_simulate::Fidelity) -> Self {
        match drawn {
            ldp_simulate::Fidelity::Users => Self::Users,
            ldp_simulate::Fidelity::Tally => Self::Tally,
        }
    }
}

impl Comparison {
    /// Where a protocol stands among those listed.
    pub fn position(&self, label: &str) -> Option<usize> {
        self.estimators.iter().position(|contestant| contestant.label == label)
    }

    /// The keys of the grids besides the setting, in the order in which they first appear.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys = Vec::new();
        for axis in self.grids.iter().flat_map(|grid| &grid.axes) {
            let key = axis.key.as_str();
            if !super::grid::SETTING.contains(&key) && !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }
}
