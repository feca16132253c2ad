use super::*;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;

/// A program with a known feasible basis, its first columns. The first row is positive, so it has a bound.
struct Case {
    rhs: Vec<f64>,
    columns: Vec<Vec<f64>>,
    costs: Vec<f64>,
}

impl Case {
    /// Whole-number entries make ties; weights of zero make degenerate bases.
    fn random(rows: usize, columns: usize, whole: bool, rng: &mut SimulationRng) -> Self {
        let entry = |row: usize, rng: &mut SimulationRng| match (whole, row) {
            (true, 0) => f64::from(rng.random_range(1..4)),
            (true, _) => f64::from(rng.random_range(-2..3)),
            (false, 0) => rng.random_range(0.1..1.0),
            (false, _) => rng.random_range(-1.0..1.0),
        };
        loop {
            let columns: Vec<Vec<f64>> = (0..columns).map(|_| (0..rows).map(|row| entry(row, rng)).collect()).collect();
            let weights: Vec<f64> = (0..rows).map(|_| f64::from(rng.random_range(0..3))).collect();
            let rhs: Vec<f64> =
                (0..rows).map(|row| columns.iter().zip(&weights).map(|(column, w)| column[row] * w).sum()).collect();
            let costs = columns.iter().map(|_| if whole { f64::from(rng.random_range(-3..4)) } else { rng.random() });
            let case = Self { rhs, costs: costs.collect(), columns };
            if solve(&case.columns[..rows], &case.rhs).is_some() && case.rhs[0] > 0.0 {
                return case;
            }
        }
    }

    fn start(&self) -> Simplex {
        let rows = self.rhs.len();
        Simplex::new(self.rhs.clone(), self.columns[..rows].concat(), self.costs[..rows].to_vec()).unwrap()
    }

    /// The best of all feasible bases.
    fn enumerate(&self) -> f64 {
        let (rows, count) = (self.rhs.len(), self.columns.len());
        let mut best = f64::NEG_INFINITY;
        for set in (0u32..1 << count).filter(|set| set.count_ones() as usize == rows) {
            let chosen: Vec<usize> = (0..count).filter(|j| set >> j & 1 == 1).collect();
            let basis: Vec<Vec<f64>> = chosen.iter().map(|&j| self.columns[j].clone()).collect();
            if let Some(weights) = solve(&basis, &self.rhs).filter(|weights| weights.iter().all(|&w| w >= -1e-9)) {
                best = best.max(chosen.iter().zip(weights).map(|(&j, w)| self.costs[j] * w).sum());
            }
        }
        best
    }

    /// Feasible, and proved optimal by the prices.
    fn check(&self, simplex: &Simplex) {
        assert!(simplex.residual() < 1e-10, "{}", simplex.residual());
        assert!(simplex.weights().all(|(_, weight)| weight >= 0.0));
        for (column, cost) in self.columns.iter().zip(&self.costs) {
            assert!(dot(simplex.prices(), column) >= cost - 1e-9);
        }
        let bound = dot(simplex.prices(), &self.rhs);
        assert!((bound - simplex.value()).abs() < 1e-9 * (1.0 + bound.abs()), "{bound} {}", simplex.value());
    }
}

/// Weights of columns that add up to a vector, by elimination; none if the columns depend on each other.
fn solve(columns: &[Vec<f64>], rhs: &[f64]) -> Option<Vec<f64>> {
    let size = rhs.len();
    let mut table: Vec<Vec<f64>> =
        (0..size).map(|row| columns.iter().map(|column| column[row]).chain([rhs[row]]).collect()).collect();
    for k in 0..size {
        let pivot = (k..size).max_by(|&i, &j| table[i][k].abs().total_cmp(&table[j][k].abs()))?;
        table.swap(k, pivot);
        let (row, value) = (table[k].clone(), table[k][k]);
        if value.abs() < 1e-6 {
            return None;
        }
        for (i, other) in table.iter_mut().enumerate() {
            let factor = other[k] / value;
            other.iter_mut().zip(&row).for_each(|(x, y)| *x = if i == k { *x / value } else { *x - factor * y });
        }
    }
    Some(table.iter().map(|row| row[size]).collect())
}

#[test]
fn a_program_solved_by_hand() {
    // Maximise 3x + 2y with x + y ≤ 4 and x + 3y ≤ 6, the slacks being the start: x = 4, prices 3 and 0.
    let mut simplex = Simplex::new(vec![4.0, 6.0], vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 0.0]).unwrap();
    simplex.solve().unwrap();
    assert_eq!(simplex.value(), 0.0);
    let x = simplex.add(&[1.0, 1.0], 3.0).unwrap();
    simplex.add(&[1.0, 3.0], 2.0).unwrap();
    simplex.solve().unwrap();
    assert_eq!((simplex.value(), simplex.prices()), (12.0, [3.0, 0.0].as_slice()));
    assert!(simplex.weights().any(|(index, weight)| index == x && weight == 4.0));
}

#[test]
fn the_best_of_all_bases_is_found() {
    let mut rng = stream(1, Purpose::Data, 0, 0);
    for round in 0..400 {
        let rows = rng.random_range(1..5);
        let columns = rng.random_range(rows..11);
        let case = Case::random(rows, columns, round % 2 == 0, &mut rng);
        let mut simplex = case.start();
        for j in rows..columns {
            simplex.add(&case.columns[j], case.costs[j]).unwrap();
        }
        simplex.solve().unwrap();
        case.check(&simplex);
        let best = case.enumerate();
        assert!((simplex.value() - best).abs() < 1e-9 * (1.0 + best.abs()), "{round}: {} {best}", simplex.value());
    }
}

#[test]
fn columns_can_come_late_and_go() {
    let mut rng = stream(2, Purpose::Data, 0, 0);
    for round in 0..40 {
        let rows = rng.random_range(2..25);
        let columns = 12 * rows;
        let case = Case::random(rows, columns, round % 2 == 0, &mut rng);
        let mut at_once = case.start();
        let mut warm = case.start();
        let mut names: Vec<usize> = (0..rows).collect();
        for j in rows..columns {
            at_once.add(&case.columns[j], case.costs[j]).unwrap();
            assert_eq!(warm.add(&case.columns[j], case.costs[j]).unwrap(), names.len());
            names.push(j);
            if j % 7 == 0 {
                warm.solve().unwrap();
                // Half of the cases forget, and give back what the prices still want.
                if round % 4 < 2 {
                    names = warm.prune(2, 3).into_iter().map(|old| names[old]).collect();
                    assert_eq!(warm.len(), names.len());
                    for (index, &name) in names.iter().enumerate() {
                        assert_eq!(
                            (warm.column(index), warm.costs[index]),
                            (&case.columns[name][..], case.costs[name])
                        );
                    }
                }
            }
        }
        for j in 0..columns {
            if !names.contains(&j) {
                warm.add(&case.columns[j], case.costs[j]).unwrap();
            }
        }
        at_once.solve().unwrap();
        warm.solve().unwrap();
        case.check(&at_once);
        case.check(&warm);
        let (a, b) = (at_once.value(), warm.value());
        assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{round}: {a} {b}");
    }
}

#[test]
fn programs_that_cycle_under_the_plain_rule_end() {
    // Beale's example: the largest gain with ties to the first row cycles for ever.
    let mut simplex =
        Simplex::new(vec![0.0, 0.0, 1.0], vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], vec![0.0; 3]).unwrap();
    for (column, cost) in
        [([0.25, 0.5, 0.0], 0.75), ([-60.0, -90.0, 0.0], -150.0), ([-0.04, -0.02, 1.0], 0.02), ([9.0, 3.0, 0.0], -6.0)]
    {
        simplex.add(&column, cost).unwrap();
    }
    simplex.solve().unwrap();
    assert!((simplex.value() - 0.05).abs() < 1e-15);
}

#[test]
fn a_degenerate_assignment_is_solved() {
    // Doubly stochastic matrices: of the 2n − 1 weights of a basis only n are not zero. The best assignment of
    // costs (i + 1)(j + 1) is the identity, by the rearrangement inequality.
    let n = 12;
    let column = |i: usize, j: usize| -> Vec<f64> {
        (0..2 * n - 1).map(|row| f64::from(u8::from(row == i || row == n + j))).collect()
    };
    // A feasible start: the reversed assignment, and the columns that connect it.
    let start: Vec<(usize, usize)> = (0..n).map(|i| (i, n - 1 - i)).chain((1..n).map(|i| (i, n - i))).collect();
    let cost = |&(i, j): &(usize, usize)| ((i + 1) * (j + 1)) as f64;
    let basis: Vec<f64> = start.iter().flat_map(|&(i, j)| column(i, j)).collect();
    let mut simplex = Simplex::new(vec![1.0; 2 * n - 1], basis, start.iter().map(cost).collect()).unwrap();
    for pair in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|pair| !start.contains(pair)) {
        simplex.add(&column(pair.0, pair.1), cost(&pair)).unwrap();
    }
    simplex.solve().unwrap();
    let squares: usize = (1..=n).map(|i| i * i).sum();
    assert!((simplex.value() - squares as f64).abs() < 1e-9, "{}", simplex.value());
}

#[test]
fn impossible_programs_are_refused() {
    let refuse = |rhs: &[f64], basis: &[f64]| Simplex::new(rhs.to_vec(), basis.to_vec(), vec![0.0; 2]).err().unwrap();
    assert!(matches!(refuse(&[1.0, -1.0], &[1.0, 0.0, 0.0, 1.0]), Error::Parameter { value: -1.0, .. }));
    assert!(matches!(refuse(&[1.0, f64::NAN], &[1.0, 0.0, 0.0, 1.0]), Error::Parameter { .. }));
    assert!(matches!(refuse(&[1.0, 1.0], &[1.0, 1.0, 1.0, 1.0]), Error::Unsettled { .. }));
    assert!(matches!(refuse(&[1.0, 1.0], &[1.0]), Error::Length { expected: 4, found: 1, .. }));
    assert!(matches!(refuse(&[1.0], &[1.0]), Error::Length { expected: 1, found: 2, .. }));
    let mut endless = Simplex::new(vec![1.0], vec![1.0], vec![0.0]).unwrap();
    assert!(matches!(endless.add(&[1.0, 2.0], 1.0), Err(Error::Length { .. })));
    endless.add(&[-1.0], 1.0).unwrap();
    assert!(matches!(endless.solve(), Err(Error::Unsettled { .. })));
}
