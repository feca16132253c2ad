//! The scale of a Gaussian from the residues of a bitwise pilot.

use crate::bitwise_pilot::{BitwisePilot, Scale, exp2, floor_log2};
use ldp_core::Result;
use ldp_core::error::require;

/// The bitwise pilot for an unknown σ: besides the mean, EstVar of [JKMW19] reads the scale off the same answers.
///
/// With pair sums $G^j(a) = H^j(a) + H^j(a+1 \bmod 4)$ and
/// $t = \sqrt{2k\ln(2L/\beta)} + (1+4/\varepsilon)\sqrt{2k\ln(8L/\beta)}$, scale j is concentrated if
/// $\min_a G^j(a) \le 0.03k + t$: two neighbouring residues hold nearly all values. $\hat\sigma = 2^j$ for the smallest j
/// above which every scale is concentrated.
///
/// Below $0.03k + t < k/2$ every scale counts as concentrated, so fewer users are refused. Nothing promises
/// $\hat\sigma \ge \sigma$.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BitwiseSpread {
    pilot: BitwisePilot,
}

impl BitwiseSpread {
    /// From a pilot whose finest scale is at most the smallest σ, with scales enough for the largest: its coarsest is at
    /// least 4 `sigma_high`, because a scale near σ itself is not concentrated.
    pub fn new(pilot: BitwisePilot, sigma_high: f64) -> Result<Self> {
        require(sigma_high > 0.0 && sigma_high.is_finite(), "sigma-high", "positive and finite", sigma_high)?;
        let finest = pilot.exponents().start;
        require(sigma_high >= exp2(finest), "sigma-high", "at least the smallest sigma", sigma_high)?;
        // The exponent of the smallest power of two that is not below 4 sigma_high.
        let least = floor_log2(4.0 * sigma_high);
        let coarsest = least + i32::from(exp2(least) < 4.0 * sigma_high);
        Ok(Self { pilot: pilot.on_at_least((coarsest - finest).unsigned_abs() + 1)? })
    }

    pub fn pilot(&self) -> &BitwisePilot {
        &self.pilot
    }

    /// t/√k.
    fn slack(&self) -> f64 {
        let epsilon = self.pilot.epsilon().value();
        (2.0 * self.pilot.ln_over_beta(2.0)).sqrt()
            + (1.0 + 4.0 / epsilon) * (2.0 * self.pilot.ln_over_beta(8.0)).sqrt()
    }

    /// The fewest users per scale with which a scale can fail to be concentrated, and any can pass for the mean.
    pub fn fewest_per_scale(&self) -> u64 {
        let least = ((self.slack() / 0.47).powi(2).floor() as u64).saturating_add(1);
        least.max(self.pilot.fewest_per_scale())
    }

    /// The exponent of σ̂.
    pub fn exponent(&self, scales: &[Scale]) -> i32 {
        let spread = |scale: &&Scale| {
            let k = scale.users as f64;
            let pair = |a: usize| scale.counts[a] + scale.counts[(a + 1) % 4];
            (0..4).map(pair).fold(f64::INFINITY, f64::min) > 0.03 * k + self.slack() * k.sqrt()
        };
        let finest = self.pilot.exponents().start;
        scales.iter().rev().find(spread).map_or(finest, |scale| scale.exponent)
    }

    /// An exponent that comes from outside: one of the pilot's.
    pub fn check_exponent(&self, exponent: i32) -> Result<()> {
        let known = self.pilot.exponents().contains(&exponent);
        require(known, "the exponent of sigma", "that of a scale of the pilot", f64::from(exponent))
    }
}
