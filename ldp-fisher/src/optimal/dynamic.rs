//! The best randomised response on groups of cells with neighbouring scores, by dynamic programming.

use super::cells::Cells;
use ldp_core::{Epsilon, Error, Result};

/// More cells than these would take minutes.
const MOST_CELLS: usize = 1 << 15;

/// So many numbers of reports in a row that are worse than the best end the search for the best.
const PATIENCE: usize = 3;

/// Randomised response on groups of cells. See [`Cells::grouping`].
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// The information of the report.
    pub information: f64,
    /// The number of groups, which is the number of reports.
    pub reports: u32,
    /// The group of every cell, 0 for the lowest scores.
    pub labels: Vec<u32>,
}

impl Cells {
    /// The best randomised response on groups of cells, each group the cells with scores in an interval.
    ///
    /// With $P_z$ and $D_z$ the masses and slopes of the groups, m of them, and $E = e^\varepsilon$,
    ///
    /// $$I = \frac{(E-1)^2}{E+m-1} \sum_z \frac{D_z^2}{1+(E-1)P_z}.$$
    ///
    /// Given m the sum is additive over groups, so dynamic programming over the cells in the order of their scores finds the
    /// largest, in $O(k^2)$ for each m; m is increased until the information has fallen three times. That no other
    /// private mechanism is better is not assumed: [`Cells::program`] finds out.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_fisher::optimal::Cells;
    /// // A fair coin with a known bias of its slope: one bit, randomised.
    /// let coin = Cells::new(vec![0.5, 0.5], vec![-1.0, 1.0])?;
    /// let best = coin.grouping(Epsilon::new(1.0)?)?;
    /// assert_eq!(best.labels, [0, 1]);
    /// assert!((best.information - 4.0 * 0.5f64.tanh().powi(2)).abs() < 1e-15);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn grouping(&self, epsilon: Epsilon) -> Result<Grouping> {
        let promising = self.promising(self.by_score(), epsilon, u32::MAX)?;
        let better = |best: Grouping, next: Grouping| if next.information > best.information { next } else { best };
        promising.into_iter().reduce(better).ok_or(Error::Uninformative)
    }

    /// The best response on groups of cells that are neighbours in this order, for every number of reports until the
    /// information has fallen three times.
    pub(crate) fn promising(&self, order: Vec<usize>, epsilon: Epsilon, most: u32) -> Result<Vec<Grouping>> {
        let mut found: Vec<Grouping> = Vec::new();
        let (mut largest, mut worse) = (0.0, 0);
        for grouping in Search::new(self, order, epsilon)?.take((most as usize).saturating_sub(1)) {
            worse = if grouping.information > largest { 0 } else { worse + 1 };
            largest = grouping.information.max(largest);
            found.push(grouping);
            if worse == PATIENCE {
                break;
            }
        }
        Ok(found)
    }

    /// Whether dynamic programming over so many cells ends within minutes.
    pub(super) fn check_size(&self) -> Result<()> {
        let (most, value) = (MOST_CELLS as u64, self.len() as u64);
        if value > most { Err(Error::TooMany { name: "cells", most, value }) } else { Ok(()) }
    }

    /// The best response on groups for every number of reports from 2 to `most`, or to the number of cells.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_fisher::optimal::Cells;
    /// let cells = Cells::new(vec![0.25; 4], vec![-0.3, -0.1, 0.1, 0.3])?;
    /// let all = cells.groupings(Epsilon::new(2.0)?, 10)?;
    /// assert_eq!(all.iter().map(|grouping| grouping.reports).collect::<Vec<_>>(), [2, 3, 4]);
    /// assert_eq!(all[0].labels, [0, 0, 1, 1]);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn groupings(&self, epsilon: Epsilon, most: u32) -> Result<Vec<Grouping>> {
        self.groupings_in(self.by_score(), epsilon, most)
    }

    /// The same on groups of cells that are neighbours in this order.
    pub(crate) fn groupings_in(&self, order: Vec<usize>, epsilon: Epsilon, most: u32) -> Result<Vec<Grouping>> {
        Ok(Search::new(self, order, epsilon)?.take((most as usize).saturating_sub(1)).collect())
    }
}

/// The table of the program: one more report at each step.
struct Search {
    growth: f64,
    order: Vec<usize>,
    /// Sums of masses and slopes over the cells before each one, in this order.
    masses: Vec<f64>,
    slopes: Vec<f64>,
    /// The largest sum over the first j cells, with the present number of groups.
    largest: Vec<f64>,
    /// For every number of groups from 2 on, where the last group of the first j cells begins.
    begins: Vec<Vec<u32>>,
}

impl Search {
    fn new(cells: &Cells, order: Vec<usize>, epsilon: Epsilon) -> Result<Self> {
        cells.check_size()?;
        let sums = |values: &[f64]| {
            let mut sum = 0.0;
            let mut sums = vec![0.0];
            sums.extend(order.iter().map(|&j| {
                sum += values[j];
                sum
            }));
            sums
        };
        let (masses, slopes) = (sums(cells.masses()), sums(cells.slopes()));
        let mut search =
            Self { growth: epsilon.value().exp_m1(), order, masses, slopes, largest: Vec::new(), begins: Vec::new() };
        search.largest = (0..=cells.len()).map(|j| search.worth(0, j)).collect();
        Ok(search)
    }

    /// $D^2/(1+(E-1)P)$ of the cells from i to before j.
    #[inline]
    fn worth(&self, i: usize, j: usize) -> f64 {
        let (mass, slope) = (self.masses[j] - self.masses[i], self.slopes[j] - self.slopes[i]);
        slope * slope / (1.0 + self.growth * mass)
    }

    fn step(&mut self) {
        let cells = self.order.len();
        let groups = self.begins.len() + 2;
        let (mut largest, mut begins) = (vec![f64::NEG_INFINITY; cells + 1], vec![0u32; cells + 1]);
        for j in groups..=cells {
            let (mut best, mut begin) = (f64::NEG_INFINITY, 0);
            for i in groups - 1..j {
                let sum = self.largest[i] + self.worth(i, j);
                if sum > best {
                    (best, begin) = (sum, i);
                }
            }
            (largest[j], begins[j]) = (best, begin as u32);
        }
        self.largest = largest;
        self.begins.push(begins);
    }
}

impl Iterator for Search {
    type Item = Grouping;

    fn next(&mut self) -> Option<Grouping> {
        let cells = self.order.len();
        let reports = self.begins.len() + 2;
        if reports > cells {
            return None;
        }
        self.step();
        let mut labels = vec![0; cells];
        let mut end = cells;
        for (label, begins) in (1u32..).zip(&self.begins).collect::<Vec<_>>().into_iter().rev() {
            let begin = begins[end] as usize;
            self.order[begin..end].iter().for_each(|&j| labels[j] = label);
            end = begin;
        }
        // E + m − 1, and (E − 1)² divided by it without leaving the range of numbers.
        let contrast = self.growth / (self.growth + reports as f64);
        Some(Grouping { information: self.growth * contrast * self.largest[cells], reports: reports as u32, labels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by trying every grouping.
    fn exhaustive(cells: &Cells, epsilon: Epsilon, reports: u32) -> f64 {
        let growth = epsilon.value().exp_m1();
        let order = cells.by_score();
        let k = cells.len();
        let mut best = 0.0;
        for borders in 0u32..1 << (k - 1) {
            if borders.count_ones() + 1 != reports {
                continue;
            }
            let (mut sum, mut mass, mut slope) = (0.0, 0.0, 0.0);
            for (place, &j) in order.iter().enumerate() {
                mass += cells.masses()[j];
                slope += cells.slopes()[j];
                if place == k - 1 || borders >> place & 1 == 1 {
                    sum += slope * slope / (1.0 + growth * mass);
                    (mass, slope) = (0.0, 0.0);
                }
            }
            best = f64::max(best, growth * growth / (growth + f64::from(reports)) * sum);
        }
        best
    }

    #[test]
    fn every_grouping_tried() {
        let mut state = 7u64;
        let mut draw = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for k in 2..=9 {
            for epsilon in [0.2, 1.0, 2.5, 4.0] {
                let raw: Vec<f64> = (0..k).map(|_| 0.05 + draw()).collect();
                let total: f64 = raw.iter().sum();
                let masses: Vec<f64> = raw.iter().map(|r| r / total).collect();
                let mut slopes: Vec<f64> = masses.iter().map(|r| r * (draw() - 0.5)).collect();
                let mean: f64 = slopes.iter().sum();
                slopes.iter_mut().zip(&masses).for_each(|(y, r)| *y -= mean * r);
                let cells = Cells::new(masses, slopes).unwrap();
                let epsilon = Epsilon::new(epsilon).unwrap();
                let all = cells.groupings(epsilon, 99).unwrap();
                assert_eq!(all.len(), k - 1);
                for grouping in &all {
                    let naive = exhaustive(&cells, epsilon, grouping.reports);
                    assert!((grouping.information / naive - 1.0).abs() < 1e-12, "{grouping:?} {naive}");
                    // The labels have the information that is claimed for them.
                    let growth = epsilon.value().exp_m1();
                    let sum: f64 = (0..grouping.reports)
                        .map(|z| {
                            let of = |values: &[f64]| -> f64 {
                                values.iter().zip(&grouping.labels).filter(|p| *p.1 == z).map(|p| p.0).sum()
                            };
                            of(cells.slopes()).powi(2) / (1.0 + growth * of(cells.masses()))
                        })
                        .sum();
                    let claimed = growth * growth / (growth + f64::from(grouping.reports)) * sum;
                    assert!((grouping.information / claimed - 1.0).abs() < 1e-12);
                }
                let best = cells.grouping(epsilon).unwrap();
                assert!(all.iter().all(|grouping| grouping.information <= best.information));
            }
        }
    }

    #[test]
    fn too_many_cells_are_refused() {
        let k = MOST_CELLS + 2;
        let slopes = (0..k).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let cells = Cells::new(vec![1.0 / k as f64; k], slopes).unwrap();
        assert!(matches!(cells.grouping(Epsilon::new(1.0).unwrap()), Err(Error::TooMany { .. })));
    }
}
