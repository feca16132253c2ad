//! Why a table is not a mechanism.

use std::fmt;

/// Why a table is refused as a mechanism: the place, the value and the limit. Rows and columns are counted from zero, lines of
/// a text and the columns in it from one.
///
/// ```
/// use ldp_mechanisms::{Matrix, MatrixError};
/// let error = Matrix::from_integers(&[vec![1, 2], vec![3, 0]]).unwrap_err();
/// assert!(matches!(error, MatrixError::Zero { row: 1, column: 1, other: 0, .. }));
/// let text = "row 1, column 1: 0 beside 2 in row 0 makes epsilon infinite; entries of a column must be all positive";
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum MatrixError {
    /// Too few or too many rows or columns.
    Size {
        /// Rows or columns.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there have to be.
        least: usize,
        /// How many there may be.
        most: usize,
    },
    /// A row of another length than the first.
    Length {
        /// The row.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// An entry that is not a probability.
    Probability {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A row with the wrong sum.
    Sum {
        /// The row.
        row: usize,
        /// What it adds up to.
        sum: f64,
        /// What it must add up to.
        expected: f64,
        /// How far off it may be.
        within: f64,
    },
    /// A zero beside a positive entry of the same column.
    Zero {
        /// The row of the zero.
        row: usize,
        /// The column.
        column: usize,
        /// The row of a positive entry.
        other: usize,
        /// That entry.
        value: f64,
    },
    /// A column of zeros: a report that nobody sends.
    EmptyColumn {
        /// The column.
        column: usize,
    },
    /// A cell of a text that is no number.
    NotANumber {
        /// The line, from one.
        line: usize,
        /// The column, from one.
        column: usize,
    },
    /// Something wrong with the row that stands in this line of a text.
    InLine {
        /// The line, from one.
        line: usize,
        /// What is wrong; its row and column count from zero.
        error: Box<MatrixError>,
    },
    /// A channel that is not one from a table: its cells are not 0, 1, …, or its kernel is not dense.
    NotAMatrix,
    /// A table that the channel refuses, because all rows are equal.
    Channel(ldp_core::Error),
}

impl MatrixError {
    /// The same as an error of the other crates: a method and not a conversion by `?`, which would make types ambiguous that
    /// were clear.
    #[must_use]
    pub fn into_error(self) -> ldp_core::Error {
        match self {
            Self::Channel(error) => error,
            other => ldp_core::Error::Source(Box::new(other)),
        }
    }

    /// The row that is to blame.
    pub(super) fn row(&self) -> Option<usize> {
        match self {
            Self::Length { row, .. }
            | Self::Probability { row, .. }
            | Self::Sum { row, .. }
            | Self::Zero { row, .. } => Some(*row),
            _ => None,
        }
    }
}

impl fmt::Display for MatrixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { what, found, least, most } => {
                write!(f, "the number of {what} must be from {least} to {most}, got {found}")
            }
            Self::Length { row, found, expected } => {
                write!(f, "row {row} must have {expected} entries as row 0 has, got {found}")
            }
            Self::Probability { row, column, value } => {
                write!(f, "row {row}, column {column}: a probability must be from 0 to 1, got {value}")
            }
            Self::Sum { row, sum, expected, within } if *within > 0.0 => {
                write!(f, "row {row} must add up to {expected} within {within:e}, got {sum}")
            }
            Self::Sum { row, sum, expected, .. } => write!(f, "row {row} must add up to {expected}, got {sum}"),
            Self::Zero { row, column, other, value } => write!(
                f,
                "row {row}, column {column}: 0 beside {value} in row {other} makes epsilon infinite; entries of a column must be \
                 all positive"
            ),
            Self::EmptyColumn { column } => write!(f, "column {column} is zero in every row: leave it out"),
            Self::NotANumber { line, column } => write!(f, "line {line}, column {column}: not a number"),
            Self::InLine { line, error } => write!(f, "line {line}: {error}"),
            Self::NotAMatrix => {
                f.write_str("the channel is not a table: its cells must be 0, 1, ..., and its kernel dense")
            }
            Self::Channel(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MatrixError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::InLine { error, .. } => Some(error),
            Self::Channel(error) => Some(error),
            _ => None,
        }
    }
}
