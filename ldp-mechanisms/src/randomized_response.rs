//! k-ary randomised response on categories.

use crate::IntervalResponse;
use ldp_core::channel::MOST_CELLS;
use ldp_core::{AsChannel, Epsilon, Error, FiniteChannel, Partition, Result};
use serde::{Deserialize, Serialize};

/// k-ary randomised response: the category itself, or each other with probability $1/(e^\varepsilon+k-1)$.
///
/// $$q(z \mid x) = \frac{e^\varepsilon}{e^\varepsilon+k-1}\ \text{if } z = x,\qquad \frac{1}{e^\varepsilon+k-1}\ \text{else.}$$
///
/// - ε: from the integer weights, never above the claim.
/// - Report size: ⌈log₂ k⌉ bits. One random word per report.
/// - Frequencies: $\hat p_z = (T_z/n - q)/(p - q)$ with p, q the two probabilities above is unbiased.
/// - A category is a whole number 0..k as `f64`; what lies outside counts as the nearest one, because refusing it
///   would make the answer depend on the private value. See [W65] and [KBR16].
///
/// ```
/// use ldp_core::{Epsilon, Finite, Mechanism};
/// use ldp_mechanisms::RandomizedResponse;
/// let response = RandomizedResponse::new(Epsilon::new(1.0)?, 4)?;
/// assert_eq!(response.reports(), 4);
/// assert!(response.epsilon().value() <= 1.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [W65]: https://doi.org/10.1080/01621459.1965.10480775
/// [KBR16]: https://arxiv.org/abs/1602.07387
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "IntervalResponse", into = "IntervalResponse")]
pub struct RandomizedResponse {
    // Categories are the intervals between 1, 2, …, k − 1: one implementation serves both.
    response: IntervalResponse,
}

impl TryFrom<IntervalResponse> for RandomizedResponse {
    type Error = Error;
    fn try_from(response: IntervalResponse) -> Result<Self> {
        match response.as_channel().partition() {
            Partition::Cuts(cuts) if (1..).map(f64::from).zip(cuts.points()).all(|(k, &cut)| k == cut) => {
                Ok(Self { response })
            }
            _ => Err(Error::Unsupported { what: "a randomised response", needs: "cuts at 1, 2, ..., k - 1" }),
        }
    }
}

impl From<RandomizedResponse> for IntervalResponse {
    fn from(response: RandomizedResponse) -> Self {
        response.response
    }
}

impl RandomizedResponse {
    /// Response over `categories` categories, from 2 to [`MOST_CELLS`].
    pub fn new(epsilon: Epsilon, categories: u32) -> Result<Self> {
        if categories < 2 {
            return Err(Error::TooFew { name: "categories", least: 2, value: u64::from(categories) });
        }
        // Before there is a cut for each of them.
        if categories > MOST_CELLS {
            return Err(Error::TooMany { name: "categories", most: MOST_CELLS.into(), value: categories.into() });
        }
        Ok(Self { response: IntervalResponse::new(epsilon, (1..categories).map(f64::from).collect())? })
    }
}

impl AsChannel for RandomizedResponse {
    fn as_channel(&self) -> &FiniteChannel {
        self.response.as_channel()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_categories_are_refused_before_they_have_cuts() {
        let epsilon = Epsilon::new(1.0).unwrap();
        for categories in [MOST_CELLS + 1, u32::MAX] {
            let refused = RandomizedResponse::new(epsilon, categories);
            assert!(
                matches!(refused, Err(Error::TooMany { name: "categories", value, .. }) if value == u64::from(categories))
            );
        }
        assert!(RandomizedResponse::new(epsilon, MOST_CELLS).is_ok());
    }

    #[test]
    fn another_question_is_not_read_as_a_response() {
        let good = RandomizedResponse::new(Epsilon::new(1.0).unwrap(), 3).unwrap();
        let json = serde_json::to_string(&good).unwrap();
        assert_eq!(serde_json::from_str::<RandomizedResponse>(&json).unwrap(), good);
        for (from, to) in [("1.0,2.0", "1.0,2.5"), ("[0,1,2]", "[0,2,1]"), (r#""reports":3"#, r#""reports":4"#)] {
            assert!(json.contains(from), "{json}");
            assert!(serde_json::from_str::<RandomizedResponse>(&json.replace(from, to)).is_err(), "{to}");
        }
    }
}
