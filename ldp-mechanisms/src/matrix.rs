//! A mechanism from a table of probabilities or whole numbers.

mod error;
mod read;

pub use error::MatrixError;

use ldp_core::{AsChannel, Cuts, Dense, FiniteChannel, Kernel, Partition};
use serde::{Deserialize, Serialize};

/// How far the probabilities of a row may add up from one.
const WHOLE: f64 = 1e-9;

/// A mechanism on categories given by its table: row x holds the probabilities of the reports of category x.
///
/// $$q(z \mid x) = w_{xz} / 2^{64}, \qquad w_{xz} = \mathrm{round}\left(2^{64} \frac{a_{xz}}{\sum_y a_{xy}}\right)$$
///
/// - ε: $\ln \max_z \max_{x,y} w_{xz}/w_{yz}$, from the rounded weights that are drawn from. So what is reported is what is
///   realised, also where rounding made it a little more, or less, than the table says.
/// - Report size: ⌈log₂ m⌉ bits with m columns. One random word per report.
/// - A category is a whole number 0..k as `f64`; what lies outside counts as the nearest one, as in
///   [`RandomizedResponse`](crate::RandomizedResponse).
/// - Rounding: every entry downwards, and one unit more for those with the largest rests. An entry below 2⁻⁶⁴ has weight one.
/// - Refused: a zero beside a positive entry of the same column, because ε would be infinite. See [`MatrixError`].
///
/// ```
/// use ldp_core::{Finite, Mechanism};
/// use ldp_mechanisms::Matrix;
/// // Three categories, four reports, in whole numbers: every row adds up to ten.
/// let mechanism = Matrix::from_integers(&[vec![4, 2, 2, 2], vec![2, 4, 2, 2], vec![2, 2, 4, 2]])?;
/// assert_eq!((mechanism.categories(), mechanism.reports()), (3, 4));
/// assert!((mechanism.epsilon().value() - 2f64.ln()).abs() < 1e-15);
/// # Ok::<(), ldp_mechanisms::MatrixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FiniteChannel", into = "FiniteChannel")]
pub struct Matrix {
    channel: FiniteChannel,
}

impl TryFrom<FiniteChannel> for Matrix {
    type Error = MatrixError;
    fn try_from(channel: FiniteChannel) -> Result<Self, MatrixError> {
        let cells = channel.cells() as usize;
        match (channel.partition(), channel.kernel()) {
            (Partition::Cuts(cuts), Kernel::Dense(_)) if *cuts == categories(cells)? => Ok(Self { channel }),
            _ => Err(MatrixError::NotAMatrix),
        }
    }
}

impl From<Matrix> for FiniteChannel {
    fn from(matrix: Matrix) -> Self {
        matrix.channel
    }
}

impl Matrix {
    /// The most rows and the most columns: a client goes through all entries for each report.
    pub const MOST: usize = 1024;

    /// A mechanism from probabilities, `rows[category][report]`; every row adds up to one within 1e-9.
    ///
    /// ```
    /// use ldp_core::Mechanism;
    /// use ldp_mechanisms::{Matrix, MatrixError};
    /// let mechanism = Matrix::from_probabilities(&[vec![0.75, 0.25], vec![0.25, 0.75]])?;
    /// assert!((mechanism.epsilon().value() - 3f64.ln()).abs() < 1e-15);
    /// let refused = Matrix::from_probabilities(&[vec![0.75, 0.25], vec![1.0, 0.0]]);
    /// assert!(matches!(refused, Err(MatrixError::Zero { row: 1, column: 1, other: 0, .. })));
    /// # Ok::<(), MatrixError>(())
    /// ```
    pub fn from_probabilities(rows: &[Vec<f64>]) -> Result<Self, MatrixError> {
        check_shape(rows)?;
        for (row, entries) in rows.iter().enumerate() {
            for (column, &value) in entries.iter().enumerate() {
                if !(0.0..=1.0).contains(&value) {
                    return Err(MatrixError::Probability { row, column, value });
                }
            }
            let sum: f64 = entries.iter().sum();
            if !((sum - 1.0).abs() <= WHOLE) {
                return Err(MatrixError::Sum { row, sum, expected: 1.0, within: WHOLE });
            }
        }
        check_zeros(rows)?;
        // Exact in units of 2^-63; what is smaller than a unit counts as one.
        let unit = f64::from(1u32 << 31) * f64::from(1u32 << 31) * 2.0;
        let exact = |&p: &f64| ((p * unit) as u128).max(1);
        Self::from_shares(rows.iter().map(|row| row.iter().map(exact).collect()))
    }

    /// A mechanism from whole numbers, `rows[category][report]`; all rows have the same sum, and a probability is an entry
    /// over that sum.
    ///
    /// ```
    /// use ldp_mechanisms::{Matrix, MatrixError};
    /// let refused = Matrix::from_integers(&[vec![3, 1], vec![1, 2]]);
    /// assert!(matches!(refused, Err(MatrixError::Sum { row: 1, .. })));
    /// assert_eq!(refused.unwrap_err().to_string(), "row 1 must add up to 4, got 3");
    /// ```
    pub fn from_integers(rows: &[Vec<u64>]) -> Result<Self, MatrixError> {
        check_shape(rows)?;
        let sum = |row: &Vec<u64>| row.iter().map(|&entry| u128::from(entry)).sum::<u128>();
        let expected = sum(&rows[0]);
        for (row, entries) in rows.iter().enumerate() {
            let found = sum(entries);
            if found != expected || found == 0 {
                let expected = if expected == 0 { 1 } else { expected };
                return Err(MatrixError::Sum { row, sum: found as f64, expected: expected as f64, within: 0.0 });
            }
        }
        check_zeros(rows)?;
        Self::from_shares(rows.iter().map(|row| row.iter().map(|&entry| u128::from(entry)).collect()))
    }

    /// A mechanism from plain text: a row per line, numbers between commas, blank lines and lines that begin with `#` left out.
    ///
    /// Whole numbers throughout are read as such, else all are probabilities. Errors name the line and the column of the text,
    /// both from one.
    ///
    /// ```
    /// use ldp_core::Mechanism;
    /// use ldp_mechanisms::{Matrix, MatrixError};
    /// let mechanism = Matrix::from_csv("# yes, no, no answer\n0.6,0.2,0.2\n0.2,0.6,0.2\n")?;
    /// assert!((mechanism.epsilon().value() - 3f64.ln()).abs() < 1e-15);
    /// let refused = Matrix::from_csv("0.6,0.2,0.2\n\n0.2,maybe,0.2").unwrap_err();
    /// assert_eq!(refused.to_string(), "line 3, column 2: not a number");
    /// # Ok::<(), MatrixError>(())
    /// ```
    pub fn from_csv(text: &str) -> Result<Self, MatrixError> {
        read::csv(text)
    }

    /// The number of categories: rows of the table.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.channel.cells()
    }

    /// From rows of positive shares, each below 2⁶⁴.
    fn from_shares(rows: impl Iterator<Item = Vec<u128>>) -> Result<Self, MatrixError> {
        let columns: Vec<Vec<u64>> = rows.map(|row| weights(&row)).collect();
        let cuts = categories(columns.len())?;
        let kernel = Kernel::Dense(Dense::new(columns).map_err(MatrixError::Channel)?);
        let channel = FiniteChannel::new(Partition::Cuts(cuts), kernel).map_err(MatrixError::Channel)?;
        Ok(Self { channel })
    }
}

impl AsChannel for Matrix {
    fn as_channel(&self) -> &FiniteChannel {
        &self.channel
    }
}

/// The categories 0..k as intervals between 1, 2, …, k − 1.
fn categories(count: usize) -> Result<Cuts, MatrixError> {
    Cuts::new((1..count).map(|k| k as f64).collect()).map_err(MatrixError::Channel)
}

/// Positive weights in the ratio of positive shares, that add up to 2⁶⁴.
fn weights(shares: &[u128]) -> Vec<u64> {
    let total: u128 = shares.iter().sum();
    let (mut weights, mut rests) = (Vec::with_capacity(shares.len()), Vec::with_capacity(shares.len()));
    for (place, share) in shares.iter().enumerate() {
        let (whole, rest) = ((share << 64) / total, (share << 64) % total);
        // An entry that is not zero is possible.
        weights.push(whole.max(1));
        rests.push((if whole == 0 { 0 } else { rest }, place));
    }
    // Largest rest first, and of equal ones the leftmost.
    rests.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let sum: u128 = weights.iter().sum();
    // Rounding downwards takes less than one unit from each.
    let missing = (1u128 << 64).saturating_sub(sum) as usize;
    for &(_, place) in rests.iter().take(missing) {
        weights[place] += 1;
    }
    if let Some(largest) = weights.iter_mut().max() {
        *largest -= sum.saturating_sub(1 << 64);
    }
    weights.into_iter().map(|weight| weight as u64).collect()
}

/// At least two rows and two columns, not too many, and all rows as long as the first.
fn check_shape<T>(rows: &[Vec<T>]) -> Result<(), MatrixError> {
    let columns = rows.first().map_or(0, Vec::len);
    for (what, found) in [("rows", rows.len()), ("columns", columns)] {
        if !(2..=Matrix::MOST).contains(&found) {
            return Err(MatrixError::Size { what, found, least: 2, most: Matrix::MOST });
        }
    }
    match rows.iter().position(|row| row.len() != columns) {
        Some(row) => Err(MatrixError::Length { row, found: rows[row].len(), expected: columns }),
        None => Ok(()),
    }
}

/// No zeros: beside a positive entry one would make ε infinite, and a column of zeros is no report.
fn check_zeros<T: Copy + Default + PartialEq + Into<Entry>>(rows: &[Vec<T>]) -> Result<(), MatrixError> {
    let zero = T::default();
    for (row, entries) in rows.iter().enumerate() {
        if let Some(column) = entries.iter().position(|entry| *entry == zero) {
            let Some(other) = rows.iter().position(|other| other[column] != zero) else {
                return Err(MatrixError::EmptyColumn { column });
            };
            let Entry(value) = rows[other][column].into();
            return Err(MatrixError::Zero { row, column, other, value });
        }
    }
    Ok(())
}

/// An entry as it is told in an error.
struct Entry(f64);

impl From<f64> for Entry {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl From<u64> for Entry {
    fn from(value: u64) -> Self {
        Self(value as f64)
    }
}
