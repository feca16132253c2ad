//! What is drawn of a comparison.

use crate::plot::Scale;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The keys besides those of the grids that an axis can show.
pub const START_MINUS_THETA: &str = "start-theta";
/// What tells lines apart besides the keys of the grids.
pub const ESTIMATOR: &str = "estimator";
/// The word for the family among the keys that tell lines apart.
pub const MODEL: &str = "model";

/// What is drawn against what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// A key of the grids, or `start-theta`.
    pub x: String,
    /// What is measured.
    #[serde(default)]
    pub y: Quantity,
    /// How the horizontal axis is divided.
    #[serde(default)]
    pub x_scale: Division,
    /// How the vertical one is.
    #[serde(default)]
    pub y_scale: Division,
    /// The name of the horizontal axis.
    pub x_label: Option<String>,
    /// The name of the vertical one.
    pub y_label: Option<String>,
    /// What tells lines apart: `estimator`, `model` and keys of the grids.
    pub by: Option<Vec<String>>,
    /// Lines to compare with.
    #[serde(default)]
    pub lines: Vec<Line>,
    /// The distance between start and mean, in σ, of the line `one-stage`.
    pub one_stage_distance: Option<f64>,
    /// What the vertical axis shows.
    #[serde(default, deserialize_with = "two")]
    pub y_range: Option<[f64; 2]>,
}

/// Two numbers, and no third that would be lost without a word.
fn two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[f64; 2]>, D::Error> {
    let numbers: Option<Vec<f64>> = Option::deserialize(deserializer)?;
    let pair = |numbers: Vec<f64>| {
        <[f64; 2]>::try_from(numbers)
            .map_err(|numbers| D::Error::custom(format!("expected a list of 2, not of {}", numbers.len())))
    };
    numbers.map(pair).transpose()
}

/// What is measured at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Mean squared error times the number of users.
    #[default]
    ScaledMse,
    /// The bound over n·MSE.
    Efficiency,
    /// Coverage of the protocol's own intervals.
    Coverage,
    /// Their mean width.
    Width,
    /// The mean error.
    Bias,
    /// Variance of the estimate.
    Variance,
    /// Ratio of mean squared errors, on the same users.
    Ratio,
}

impl Quantity {
    /// What the axis is called.
    pub fn label(self) -> &'static str {
        match self {
            Self::ScaledMse => "n·MSE",
            Self::Efficiency => "efficiency",
            Self::Coverage => "coverage",
            Self::Width => "mean width of intervals",
            Self::Bias => "bias",
            Self::Variance => "variance",
            Self::Ratio => "ratio of mean squared errors",
        }
    }
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

impl From<Division> for Scale {
    fn from(division: Division) -> Self {
        match division {
            Division::Linear => Self::Linear,
            Division::Log => Self::Log,
        }
    }
}

/// A line to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// What no regular private estimator beats asymptotically.
    Bound,
    /// The asymptotic variance of one sign stage, a distance from the mean.
    OneStage,
    /// What the values themselves would give.
    NonPrivate,
}

impl Line {
    /// What it is called.
    pub fn label(self) -> &'static str {
        match self {
            Self::Bound => "bound",
            Self::OneStage => "one stage, limit",
            Self::NonPrivate => "without privacy",
        }
    }
}

impl Figure {
    /// What stays out of tune with itself or the keys there are.
    pub fn check(&self, keys: &[&str], starts: bool, paired: bool) -> anyhow::Result<()> {
        let known = || keys.iter().copied().chain([START_MINUS_THETA]).collect::<Vec<_>>().join(", ");
        let start_minus_theta = self.x == START_MINUS_THETA && starts;
        anyhow::ensure!(
            keys.contains(&self.x.as_str()) || start_minus_theta,
            "x must be one of {}, not '{}'{}",
            known(),
            self.x,
            if self.x == START_MINUS_THETA { ", because no estimator has a start" } else { "" }
        );
        for key in self.by.iter().flatten() {
            anyhow::ensure!(
                keys.contains(&key.as_str()) || [ESTIMATOR, MODEL].contains(&key.as_str()),
                "by has '{key}', and there are {ESTIMATOR}, {MODEL}, {}",
                keys.join(", ")
            );
        }
        anyhow::ensure!(
            self.lines.is_empty() || self.y == Quantity::ScaledMse,
            "lines are those of y = \"scaled_mse\""
        );
        let asked = self.lines.contains(&Line::OneStage);
        let distance = self.one_stage_distance;
        anyhow::ensure!(asked || distance.is_none(), "one_stage_distance is for lines with \"one-stage\"");
        anyhow::ensure!(
            !asked || distance.is_some_and(|distance| distance >= 0.0 && distance.is_finite()),
            "lines with \"one-stage\" need a one_stage_distance of at least 0, in sigma"
        );
        anyhow::ensure!(self.y != Quantity::Ratio || paired, "y = \"ratio\" needs a study with paired");
        if let Some([low, high]) = self.y_range {
            let positive = self.y_scale == Division::Linear || low > 0.0;
            anyhow::ensure!(
                low < high && high.is_finite() && low.is_finite() && positive,
                "y_range must be two increasing numbers, positive where y_scale is \"log\", not [{low}, {high}]"
            );
        }
        Ok(())
    }
}
