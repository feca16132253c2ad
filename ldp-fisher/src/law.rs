//! What the search for the best mechanism sees of a family: the law of its score.

use ldp_core::Result;
use ldp_core::error::require;

/// The law of a score with mean zero and variance one.
///
/// Of a family at θ nothing matters to a private report but this: with $A = \lbrace s \ge \ell\rbrace$, the probability
/// $P_\theta(A)$ and $E_\theta[s; A] = \partial_\theta P_\theta(A)$. In units of the root of the information every score has
/// variance one, whatever the family and its scale.
pub(crate) trait ScoreLaw {
    /// Probability and slope of the set where the score is at least `level`.
    fn tail(&self, level: f64) -> Tail;

    /// The same, and how far the scores at which the set was cut may be from the level, by rounding of values and scores.
    ///
    /// Zero where there are finitely many scores, all of them known.
    fn blurred(&self, level: f64) -> (Tail, f64) {
        (self.tail(level), 0.0)
    }

    /// $P(s < \ell)$, which a difference from one would lose where it is small.
    fn rest(&self, level: f64) -> f64;

    /// Different scores, increasing, over the whole range; all there are where they are [`enumerated`](Self::enumerated).
    fn scores(&self) -> Vec<f64>;

    /// Whether there are no scores but [`scores`](Self::scores).
    fn enumerated(&self) -> bool;
}

/// Of the set where the score is at least a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tail {
    /// $P(s \ge \ell)$.
    pub mass: f64,
    /// $E[s; s \ge \ell]$, in units.
    pub slope: f64,
}

/// Informations outside of these would leave the range of numbers with all their digits when they are multiplied and divided.
const USABLE: std::ops::RangeInclusive<f64> = 1e-280..=1e280;

/// The information of a value at θ, in whose root everything else is measured.
pub(crate) fn informative(information: f64) -> Result<f64> {
    const REQUIREMENT: &str = "positive and finite, from 1e-280 to 1e280";
    require(USABLE.contains(&information), "the information of a value at theta", REQUIREMENT, information)?;
    Ok(information)
}
