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

/// The information of a value at θ, which must be positive and finite: in its root everything else is measured.
pub(crate) fn informative(information: f64) -> Result<f64> {
    let usable = information > 0.0 && information.is_finite();
    require(usable, "the information of a value", "positive and finite", information)?;
    Ok(information)
}
