//! What goes wrong with outputs. What is wrong with inputs is told by each module.

use std::io;

/// An output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output: {0}")]
pub struct OutputError(pub io::Error);

/// A figure that could not be drawn of numbers that are safe.
#[derive(Debug, thiserror::Error)]
#[error(
    "{file} cannot be drawn: {cause}; the numbers are on disk beside it, and the same command with another [figure] draws them \
     without working them out again"
)]
pub struct NotDrawn {
    /// The file.
    pub file: String,
    /// Why.
    pub cause: String,
}
