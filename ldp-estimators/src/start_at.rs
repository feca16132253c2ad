//! Protocols that can be started anywhere.

use ldp_core::Result;

/// A protocol whose first threshold can be moved, so that a pilot can say where it starts.
pub trait StartAt: Sized {
    /// The same protocol from `start`, in the unit of the data.
    fn start_at(&self, start: f64) -> Result<Self>;
}
