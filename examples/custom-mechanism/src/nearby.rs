//! «Is your value within a distance of the centre?», through randomised response: the whole mechanism.

use ldp_core::{AsChannel, Cuts, Epsilon, FiniteChannel, Kernel, Partition, Result};

/// Report 1 means «within `distance` of `centre`», kept with probability e^ε/(e^ε+1).
#[derive(Clone, Debug, PartialEq)]
pub struct Nearby {
    channel: FiniteChannel,
}

impl Nearby {
    /// At level ε. The middle interval is one cell, the two outside are the other.
    pub fn new(epsilon: Epsilon, centre: f64, distance: f64) -> Result<Self> {
        let cuts = Cuts::labelled(vec![centre - distance, centre + distance], vec![0, 1, 0])?;
        Ok(Self { channel: FiniteChannel::new(Partition::Cuts(cuts), Kernel::response(epsilon, 2)?)? })
    }
}

// This one method makes it a Mechanism with its ε, a density, exact report laws and a wire form.
impl AsChannel for Nearby {
    fn as_channel(&self) -> &FiniteChannel {
        &self.channel
    }
}
