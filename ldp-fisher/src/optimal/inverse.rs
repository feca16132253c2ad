//! The inverse of a basis of columns, kept explicitly and changed a column at a time.

use ldp_core::{Error, Result};

/// $B^{-1}$ for a square matrix B that is given, and exchanged, by columns.
///
/// Stored by columns too: then every operation is a sum of multiples of contiguous columns or a product of two of them,
/// and the zeros of a sparse vector cost nothing.
pub(super) struct Inverse {
    size: usize,
    columns: Vec<f64>,
}

impl Inverse {
    /// The inverse of the matrix with these columns, one after the other, by Gauss–Jordan elimination with row pivots.
    pub(super) fn new(size: usize, basis: Vec<f64>) -> Result<Self> {
        let mut inverse = Self { size, columns: basis };
        // Columns of B one after the other are the rows of its transpose; the rows of the inverse of that are the
        // columns of the inverse of B.
        let rows = &mut inverse.columns;
        let mut swaps = Vec::with_capacity(size);
        let mut pivot_row = vec![0.0; size];
        for k in 0..size {
            let size_of = |i: usize| f64::abs(rows[i * size + k]);
            let pivot = (k..size).max_by(|&i, &j| size_of(i).total_cmp(&size_of(j))).unwrap_or(k);
            let value = rows[pivot * size + k];
            // Written so that NaN fails.
            if !(value.abs() > 1e-300 && value.is_finite()) {
                return Err(Error::Unsettled { what: "the inverse of a basis", value, error: 0.0 });
            }
            swap_rows(rows, size, k, pivot);
            swaps.push(pivot);
            let row = &mut rows[k * size..(k + 1) * size];
            row[k] = 1.0;
            row.iter_mut().for_each(|x| *x /= value);
            pivot_row.copy_from_slice(row);
            for (i, row) in rows.chunks_exact_mut(size).enumerate() {
                let factor = row[k];
                if i != k && factor != 0.0 {
                    row[k] = 0.0;
                    add_multiple(row, -factor, &pivot_row);
                }
            }
        }
        for (k, &pivot) in swaps.iter().enumerate().rev() {
            if pivot != k {
                rows.chunks_exact_mut(size).for_each(|row| row.swap(k, pivot));
            }
        }
        Ok(inverse)
    }

    /// `out` $= B^{-1} a$.
    pub(super) fn apply(&self, vector: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (column, &factor) in self.columns.chunks_exact(self.size).zip(vector) {
            if factor != 0.0 {
                add_multiple(out, factor, column);
            }
        }
    }

    /// `out` $\mathrel{+}= c^{\mathsf T} B^{-1}$.
    pub(super) fn add_transposed(&self, vector: &[f64], out: &mut [f64]) {
        for (column, x) in self.columns.chunks_exact(self.size).zip(out) {
            *x += dot(vector, column);
        }
    }

    /// The column of B at `place` becomes one whose image $B^{-1} a$ is `image`. The new row of the inverse at that
    /// place is left in `row`.
    pub(super) fn exchange(&mut self, place: usize, image: &[f64], row: &mut [f64]) {
        let pivot = image[place];
        for (column, factor) in self.columns.chunks_exact_mut(self.size).zip(row) {
            *factor = column[place] / pivot;
            if *factor != 0.0 {
                add_multiple(column, -*factor, image);
                column[place] = *factor;
            }
        }
    }
}

fn swap_rows(rows: &mut [f64], size: usize, i: usize, j: usize) {
    if i < j {
        let (before, after) = rows.split_at_mut(j * size);
        before[i * size..(i + 1) * size].swap_with_slice(&mut after[..size]);
    }
}

/// `x` += `factor` · `y`.
fn add_multiple(x: &mut [f64], factor: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += factor * y;
    }
}

/// The product of two vectors, in four partial sums: one chain of additions would be four times slower.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (xs, ys) = (x.chunks_exact(4), y.chunks_exact(4));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 4];
    for (a, b) in xs.zip(ys) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_simulate::seed::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn inverses_and_exchanges_undo_their_matrix() {
        for size in [1, 2, 3, 7, 30] {
            let mut rng = stream(1, Purpose::Data, size as u64, 0);
            let mut draw = || (0..size).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let mut basis: Vec<Vec<f64>> = (0..size).map(|_| draw()).collect();
            // A zero where the first pivot would be: rows must be swapped.
            basis[0][0] = if size > 1 { 0.0 } else { 0.5 };
            let mut inverse = Inverse::new(size, basis.concat()).unwrap();
            let (mut image, mut row) = (vec![0.0; size], vec![0.0; size]);
            for (place, column) in basis.iter_mut().enumerate() {
                let new = draw();
                inverse.apply(&new, &mut image);
                inverse.exchange(place, &image, &mut row);
                *column = new;
            }
            let mut prices = vec![0.0; size];
            for (i, column) in basis.iter().enumerate() {
                inverse.apply(column, &mut image);
                prices.fill(0.0);
                let unit: Vec<f64> = (0..size).map(|j| f64::from(u8::from(i == j))).collect();
                inverse.add_transposed(&unit, &mut prices);
                for j in 0..size {
                    let expected = f64::from(u8::from(i == j));
                    assert!((image[j] - expected).abs() < 1e-9, "{size}: {}", image[j]);
                    assert!((dot(&prices, &basis[j]) - expected).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_dependent_basis_is_refused() {
        let dependent = Inverse::new(2, vec![1.0, 2.0, 2.0, 4.0]);
        assert!(matches!(dependent, Err(Error::Unsettled { .. })));
        assert!(matches!(Inverse::new(1, vec![f64::NAN]), Err(Error::Unsettled { .. })));
    }
}
