//! The point nearest to the origin that satisfies linear inequalities, which may arrive one after the other.

use super::inverse::dot;

/// A direction counts as dependent on the active ones if this part of its length or less is left.
const DEPENDENT: f64 = 1e-9;

/// Minimise $|x|^2$ subject to $a_i \cdot x \ge b_i$, by the dual method of Goldfarb and Idnani (1983).
///
/// The dual method starts from the origin and takes in violated inequalities one by one, so that after more of them have been
/// added it goes on from where it was. Among near-parallel inequalities it keeps few: the answer changes little where a
/// vertex of a linear program would jump.
pub(super) struct Nearest {
    size: usize,
    /// Left sides, one after the other, each of length one, and right sides.
    rows: Vec<f64>,
    bounds: Vec<f64>,
    /// The inequalities that hold with equality, with their multipliers.
    active: Vec<usize>,
    multipliers: Vec<f64>,
    /// An orthonormal basis of the active left sides, and the triangle that makes them of it, both by columns.
    basis: Vec<Vec<f64>>,
    triangle: Vec<Vec<f64>>,
    point: Vec<f64>,
}

/// No point satisfies the inequalities, or rounding hides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Infeasible;

impl Nearest {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            rows: Vec::new(),
            bounds: Vec::new(),
            active: Vec::new(),
            multipliers: Vec::new(),
            basis: Vec::new(),
            triangle: Vec::new(),
            point: vec![0.0; size],
        }
    }

    /// Adds the inequality `row` · x ≥ `bound`.
    pub(super) fn add(&mut self, row: &[f64], bound: f64) {
        let length = dot(row, row).sqrt().max(f64::MIN_POSITIVE);
        self.rows.extend(row.iter().map(|entry| entry / length));
        self.bounds.push(bound / length);
    }

    /// Changes the right side of an inequality and forgets the solution.
    pub(super) fn relax(&mut self, index: usize, row: &[f64], bound: f64) {
        self.bounds[index] = bound / dot(row, row).sqrt().max(f64::MIN_POSITIVE);
        self.active.clear();
        self.multipliers.clear();
        self.basis.clear();
        self.triangle.clear();
        self.point.fill(0.0);
    }

    /// The answer of the last [`solve`](Self::solve).
    pub(super) fn point(&self) -> &[f64] {
        &self.point
    }

    fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.size..(index + 1) * self.size]
    }

    /// By how much the inequality holds.
    fn slack(&self, index: usize) -> f64 {
        dot(self.row(index), &self.point) - self.bounds[index]
    }

    /// Finds the nearest point at which no inequality is violated by more than `tolerance`, measured as a distance.
    pub(super) fn solve(&mut self, tolerance: f64) -> Result<(), Infeasible> {
        // Every step brings the point further from the origin; the limit is for rounding.
        for _ in 0..100 + 20 * self.bounds.len() {
            let worst = (0..self.bounds.len()).min_by(|&i, &j| self.slack(i).total_cmp(&self.slack(j)));
            match worst {
                Some(entering) if self.slack(entering) < -tolerance => self.enter(entering)?,
                _ => return Ok(()),
            }
        }
        Err(Infeasible)
    }

    /// Makes a violated inequality hold with equality, dropping those that hinder.
    fn enter(&mut self, entering: usize) -> Result<(), Infeasible> {
        let row = self.row(entering).to_vec();
        let mut multiplier = 0.0;
        loop {
            let (projections, rest) = self.split(&row);
            let changes = self.solve_triangle(&projections);
            let left = dot(&rest, &rest);
            // How far until a multiplier reaches zero, and until the inequality holds.
            let hindering = (0..changes.len())
                .filter(|&j| changes[j] > 0.0)
                .map(|j| (self.multipliers[j] / changes[j], j))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let whole = if left > DEPENDENT * DEPENDENT { -self.slack(entering) / left } else { f64::INFINITY };
            let (step, dropped) = match hindering {
                Some((step, j)) if step < whole => (step, Some(j)),
                _ if whole.is_finite() => (whole, None),
                _ => return Err(Infeasible),
            };
            if left > DEPENDENT * DEPENDENT {
                self.point.iter_mut().zip(&rest).for_each(|(x, z)| *x += step * z);
            }
            self.multipliers.iter_mut().zip(&changes).for_each(|(u, change)| *u -= step * change);
            multiplier += step;
            match dropped {
                Some(j) => self.leave(j),
                None => {
                    self.append(entering, multiplier);
                    return Ok(());
                }
            }
        }
    }

    /// The coordinates of a row in the basis of the active ones, and what is left of it.
    fn split(&self, row: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rest = row.to_vec();
        let mut projections = vec![0.0; self.basis.len()];
        // Twice, because once leaves rounding behind where little is left.
        for _ in 0..2 {
            for (direction, projection) in self.basis.iter().zip(&mut projections) {
                let part = dot(direction, &rest);
                *projection += part;
                rest.iter_mut().zip(direction).for_each(|(x, d)| *x -= part * d);
            }
        }
        (projections, rest)
    }

    /// The triangle's inverse times a vector.
    fn solve_triangle(&self, vector: &[f64]) -> Vec<f64> {
        let mut solution = vector.to_vec();
        for j in (0..solution.len()).rev() {
            solution[j] /= self.triangle[j][j];
            let value = solution[j];
            for (entry, x) in self.triangle[j][..j].iter().zip(&mut solution) {
                *x -= value * entry;
            }
        }
        solution
    }

    fn append(&mut self, index: usize, multiplier: f64) {
        let row = self.row(index).to_vec();
        let (mut column, rest) = self.split(&row);
        let length = dot(&rest, &rest).sqrt().max(f64::MIN_POSITIVE);
        column.push(length);
        self.basis.push(rest.iter().map(|x| x / length).collect());
        self.triangle.push(column);
        self.active.push(index);
        self.multipliers.push(multiplier);
    }

    fn leave(&mut self, place: usize) {
        let (active, multipliers) = (self.active.split_off(place), self.multipliers.split_off(place));
        self.basis.truncate(place);
        self.triangle.truncate(place);
        for (index, multiplier) in active.into_iter().zip(multipliers).skip(1) {
            self.append(index, multiplier);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_simulate::seed::{Purpose, stream};
    use rand::RngExt;

    /// Nearest by trying every set of active inequalities.
    fn exhaustive(rows: &[[f64; 3]], bounds: &[f64]) -> Option<f64> {
        let mut best: Option<f64> = None;
        for set in 0u32..1 << rows.len() {
            let chosen: Vec<usize> = (0..rows.len()).filter(|i| set >> i & 1 == 1).collect();
            if chosen.len() > 3 {
                continue;
            }
            // x = Σ u_i a_i with a_j · x = b_j, by elimination.
            let n = chosen.len();
            let mut matrix: Vec<Vec<f64>> = chosen
                .iter()
                .map(|&i| chosen.iter().map(|&j| dot(&rows[i], &rows[j])).chain([bounds[i]]).collect())
                .collect();
            for k in 0..n {
                let pivot = matrix[k][k];
                let row = matrix[k].clone();
                for (i, other) in matrix.iter_mut().enumerate() {
                    if i != k {
                        let factor = other[k] / pivot;
                        other.iter_mut().zip(&row).for_each(|(a, b)| *a -= factor * b);
                    }
                }
            }
            let mut x = [0.0; 3];
            for (k, &i) in chosen.iter().enumerate() {
                let u = matrix[k][n] / matrix[k][k];
                x.iter_mut().zip(rows[i]).for_each(|(x, a)| *x += u * a);
            }
            let feasible = rows.iter().zip(bounds).all(|(row, bound)| dot(row, &x) >= bound - 1e-9);
            let distance = dot(&x, &x);
            if feasible && best.is_none_or(|best| distance < best) {
                best = Some(distance);
            }
        }
        best
    }

    #[test]
    fn every_set_of_active_inequalities_tried() {
        let mut solved = 0;
        for number in 0..300 {
            let mut rng = stream(3, Purpose::Data, number, 0);
            let rows: Vec<[f64; 3]> = (0..6).map(|_| [(); 3].map(|()| rng.random_range(-1.0..1.0))).collect();
            let bounds: Vec<f64> = (0..6).map(|_| rng.random_range(-0.5..0.8)).collect();
            let mut nearest = Nearest::new(3);
            // Half of them at first, the others later: warm.
            for (i, (row, bound)) in rows.iter().zip(&bounds).enumerate() {
                nearest.add(row, *bound);
                if i == 2 && nearest.solve(1e-12).is_err() {
                    break;
                }
            }
            let found = nearest.solve(1e-12).map(|()| dot(nearest.point(), nearest.point()));
            match exhaustive(&rows, &bounds) {
                Some(expected) => {
                    let found = found.unwrap();
                    assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{number}: {found} {expected}");
                    solved += 1;
                }
                None => assert_eq!(found, Err(Infeasible), "{number}"),
            }
        }
        assert!((50..290).contains(&solved), "both kinds should occur: {solved}");
    }

    #[test]
    fn near_parallel_inequalities_do_no_harm() {
        let mut nearest = Nearest::new(2);
        for i in 0..200 {
            nearest.add(&[1.0, 1e-9 * f64::from(i)], 1.0);
        }
        nearest.add(&[0.0, 1.0], 0.5);
        nearest.solve(1e-12).unwrap();
        assert!((nearest.point()[0] - 1.0).abs() < 1e-8 && (nearest.point()[1] - 0.5).abs() < 1e-12);
        nearest.add(&[-1.0, 0.0], -0.9);
        assert_eq!(nearest.solve(1e-12), Err(Infeasible));
    }
}
