//! m-ary randomised response on a partition of the line.

use ldp_core::{AsChannel, Cuts, Epsilon, Error, FiniteChannel, Kernel, Partition, Rescale, Result};
use serde::{Deserialize, Serialize};

/// Interval response: which of m intervals x lies in, through m-ary randomised response.
///
/// $$q(z \mid x) = \frac{e^\varepsilon}{e^\varepsilon+m-1}\ \text{if x lies in interval z},\qquad \frac{1}{e^\varepsilon+m-1}\ \text{else.}$$
///
/// - ε: from the integer weights, never above the claim.
/// - Report size: ⌈log₂ m⌉ bits. One random word per report.
/// - With one cut it is the [`Sign`](crate::Sign) mechanism. Intervals are closed on the left.
///
/// For large ε the mechanisms of greatest Fisher information have this form.
///
/// ```
/// use ldp_core::{Epsilon, Finite, Mechanism};
/// use ldp_mechanisms::IntervalResponse;
/// let ternary = IntervalResponse::new(Epsilon::new(3.0)?, vec![-0.48, 0.48])?;
/// assert_eq!(ternary.reports(), 3);
/// assert!(ternary.epsilon().value() <= 3.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FiniteChannel", into = "FiniteChannel")]
pub struct IntervalResponse {
    channel: FiniteChannel,
}

impl TryFrom<FiniteChannel> for IntervalResponse {
    type Error = Error;
    fn try_from(channel: FiniteChannel) -> Result<Self> {
        match (channel.partition(), channel.kernel()) {
            (Partition::Cuts(cuts), Kernel::Response { reports, .. })
                if *reports as usize == cuts.points().len() + 1 && Cuts::new(cuts.points().to_vec())? == *cuts =>
            {
                Ok(Self { channel })
            }
            _ => {
                Err(Error::Unsupported { what: "an interval response", needs: "m - 1 cuts, cells in order, m reports" })
            }
        }
    }
}

impl From<IntervalResponse> for FiniteChannel {
    fn from(response: IntervalResponse) -> Self {
        response.channel
    }
}

impl IntervalResponse {
    /// Response on the intervals between strictly increasing cuts.
    pub fn new(epsilon: Epsilon, cuts: Vec<f64>) -> Result<Self> {
        let cuts = Cuts::new(cuts)?;
        let kernel = Kernel::response(epsilon, cuts.points().len() as u32 + 1)?;
        Ok(Self { channel: FiniteChannel::new(Partition::Cuts(cuts), kernel)? })
    }
}

impl AsChannel for IntervalResponse {
    fn as_channel(&self) -> &FiniteChannel {
        &self.channel
    }
}

impl Rescale for IntervalResponse {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { channel: self.channel.rescale(factor)? })
    }
}
