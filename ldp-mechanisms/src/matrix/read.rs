//! Tables as plain text.

use super::{Matrix, MatrixError};

/// A table from text; see [`Matrix::from_csv`].
pub(super) fn csv(text: &str) -> Result<Matrix, MatrixError> {
    let lines: Vec<(usize, &str)> = (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .map(|(number, line)| (number, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .collect();
    // Before the numbers are read: a text must not decide how much memory its reader needs.
    let (found, most) = (lines.len(), Matrix::MOST);
    if found > most {
        return Err(MatrixError::Size { what: "rows", found, least: 2, most });
    }
    let is_whole = |(_, line): &(usize, &str)| cells(line).all(|cell| cell.parse::<u64>().is_ok());
    let built = if lines.iter().all(is_whole) {
        rows(&lines, |cell| cell.parse().ok()).and_then(|rows| Matrix::from_integers(&rows))
    } else {
        rows(&lines, |cell| cell.parse().ok()).and_then(|rows| Matrix::from_probabilities(&rows))
    };
    built.map_err(|error| match error.row().and_then(|row| lines.get(row)) {
        Some(&(line, _)) => MatrixError::InLine { line, error: Box::new(error) },
        None => error,
    })
}

/// The cells of a line.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim)
}

/// Every cell read.
fn rows<T>(lines: &[(usize, &str)], read: impl Fn(&str) -> Option<T>) -> Result<Vec<Vec<T>>, MatrixError> {
    let row = |&(line, text): &(usize, &str)| {
        let found = text.split(',').count();
        if found > Matrix::MOST {
            return Err(MatrixError::Size { what: "columns", found, least: 2, most: Matrix::MOST });
        }
        (1..)
            .zip(cells(text))
            .map(|(column, cell)| read(cell).ok_or(MatrixError::NotANumber { line, column }))
            .collect()
    };
    lines.iter().map(row).collect()
}
