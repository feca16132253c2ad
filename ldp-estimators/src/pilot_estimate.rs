//! Where a bitwise pilot found the mean.

use crate::piloted::Found;
use ldp_core::error::require;
use ldp_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Where a [`BitwisePilot`](crate::BitwisePilot) found the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawEstimate")]
pub struct PilotEstimate {
    value: f64,
    scale: i32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    doubtful: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEstimate {
    value: f64,
    scale: i32,
    #[serde(default)]
    doubtful: bool,
}

impl TryFrom<RawEstimate> for PilotEstimate {
    type Error = Error;
    fn try_from(RawEstimate { value, scale, doubtful }: RawEstimate) -> Result<Self> {
        require(value.is_finite(), "the pilot's estimate", "finite", value)?;
        Ok(Self { value, scale, doubtful })
    }
}

impl PilotEstimate {
    pub(crate) fn new(value: f64, scale: i32) -> Self {
        Self { value, scale, doubtful: false }
    }

    pub(crate) fn doubted(self, doubtful: bool) -> Self {
        Self { doubtful, ..self }
    }

    /// The place found: a multiple of 2 to the [`scale`](Self::scale), or the end of the range if that lies beyond it.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The exponent of the scale at which the descent ended.
    #[must_use]
    pub fn scale(&self) -> i32 {
        self.scale
    }

    /// Whether a group was smaller than [`BitwisePilot::enough_per_scale`](crate::BitwisePilot::enough_per_scale).
    #[must_use]
    pub fn doubtful(&self) -> bool {
        self.doubtful
    }
}

impl Found for PilotEstimate {
    fn caveat(&self) -> Option<&'static str> {
        self.doubtful.then_some(
            "the pilot had so few users that it may well have ended far from the mean, and the interval takes it to have \
             found the right place",
        )
    }
}
