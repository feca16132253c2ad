//! The layouts of data files, as they are typed.

use clap::ValueEnum;
use ldp_study::input;

/// How the values lie in the file.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// Comma-separated cells, quoted as in RFC 4180
    Csv,
    /// The same with tabs
    Tsv,
    /// One number a line, no header
    Lines,
    /// Apache Parquet
    Parquet,
    /// Cells separated by semicolons, quoted as in CSV
    Semicolon,
}

impl From<Layout> for input::Layout {
    fn from(layout: Layout) -> Self {
        match layout {
            Layout::Csv => Self::Csv,
            Layout::Tsv => Self::Tsv,
            Layout::Lines => Self::Lines,
            Layout::Parquet => Self::Parquet,
            Layout::Semicolon => Self::Semicolon,
        }
    }
}
