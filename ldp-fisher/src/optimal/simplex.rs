//! A linear program whose columns arrive while it is being solved.

use super::inverse::{Inverse, dot};
use ldp_core::{Error, Result};

/// A column is worth entering if its gain exceeds this part of the numbers it is a difference of.
const ATTRACTIVE: f64 = 1e-13;

/// Images of the entering column below this part of the largest do not leave, since as pivots they would ruin the
/// inverse; the second number counts if there is none above the first.
const PIVOTS: [f64; 2] = [1e-7, 1e-12];

/// How far below zero an infinitesimal part may get, beside parts between a half and one, for the sake of a better pivot.
const SLACK: f64 = 0.02;

/// Weights below this part of the largest one are zero.
const ZERO: f64 = 1e-13;

/// So many columns are looked at between two looks at all of them.
const SHORT_LIST: usize = 32;

/// So many exchanges between two corrections of rounding.
const CORRECTION: usize = 64;

/// The inverse is computed anew if weights or prices are further than this from what they should be, relatively.
const WORN: f64 = 1e-6;

/// Maximise $\sum_v c_v x_v$ over $x \ge 0$ with $\sum_v x_v a_v = b$, by the primal simplex method.
///
/// Columns $a_v$ can be added at any time; [`solve`](Self::solve) goes on from the last solution. The prices β of the
/// rows prove it optimal: $\beta \cdot a_v \ge c_v$ for every column, with equality for those used, so that no
/// feasible x is worth more than $\beta \cdot b$.
///
/// # Design
///
/// The inverse of the basis is dense and explicit, and changed by one rank-one update an exchange. Rounding is corrected
/// by a step of iterative refinement of weights and prices, which costs as much as an exchange; the inverse is computed
/// anew only when such a step would be a large one.
///
/// Optimal mechanisms have few reports, so nearly all weights of a basis are zero and the textbook method stalls. Here
/// every weight has a second, infinitesimal part: at a weight of zero it is positive, random at first, and it decides
/// which of the zero weights leaves. That is an infinitesimal perturbation of b, under which no exchange is in vain, and
/// nothing has to be removed at the end. Should it stall all the same, Bland's rule takes over.
pub(crate) struct Simplex {
    rhs: Vec<f64>,
    /// All columns, one after the other.
    columns: Vec<f64>,
    costs: Vec<f64>,
    /// One over the length of each column: gains are compared per unit of length.
    scales: Vec<f64>,
    basic: Vec<bool>,
    /// The last call of `solve` that found the column in the basis, or wanted it there.
    wanted: Vec<u32>,
    solved: u32,
    /// The columns in use, and for each its weight and the infinitesimal part of that.
    basis: Vec<usize>,
    weights: Vec<f64>,
    shadows: Vec<f64>,
    inverse: Inverse,
    prices: Vec<f64>,
    short_list: Vec<usize>,
    image: Vec<f64>,
    row: Vec<f64>,
    /// Exchanges since a weight last changed.
    stalled: usize,
    random: u64,
}

impl Simplex {
    /// A program with as many columns as rows, which must be independent and give `rhs` with weights that are not negative.
    pub(crate) fn new(rhs: Vec<f64>, basis: Vec<f64>, costs: Vec<f64>) -> Result<Self> {
        let rows = rhs.len();
        if costs.len() != rows {
            return Err(Error::Length { what: "costs of starting columns", expected: rows, found: costs.len() });
        }
        if basis.len() != rows * rows {
            let (expected, found) = (rows * rows, basis.len());
            return Err(Error::Length { what: "entries of starting columns", expected, found });
        }
        let mut simplex = Self {
            inverse: Inverse::new(rows, basis.clone())?,
            scales: basis.chunks_exact(rows).map(scale).collect(),
            basic: vec![true; rows],
            wanted: vec![0; rows],
            basis: (0..rows).collect(),
            weights: vec![0.0; rows],
            shadows: vec![0.0; rows],
            prices: vec![0.0; rows],
            image: vec![0.0; rows],
            row: vec![0.0; rows],
            columns: basis,
            short_list: Vec::new(),
            solved: 0,
            stalled: 0,
            random: 1,
            rhs,
            costs,
        };
        simplex.correct();
        let least = simplex.weights.iter().copied().fold(f64::INFINITY, f64::min);
        // NaN fails: `settle` would call it zero.
        if !(least >= -1e-9 * largest(&simplex.weights)) || simplex.weights.iter().any(|weight| weight.is_nan()) {
            return Err(Error::Parameter {
                name: "the weight of a starting column",
                requirement: "at least 0",
                value: least,
            });
        }
        simplex.settle();
        Ok(simplex)
    }

    /// Adds a column with its cost and returns its index.
    pub(crate) fn add(&mut self, column: &[f64], cost: f64) -> Result<usize> {
        if column.len() != self.rhs.len() {
            let (expected, found) = (self.rhs.len(), column.len());
            return Err(Error::Length { what: "entries of a column", expected, found });
        }
        self.columns.extend_from_slice(column);
        self.costs.push(cost);
        self.scales.push(scale(column));
        self.basic.push(false);
        self.wanted.push(self.solved);
        Ok(self.costs.len() - 1)
    }

    /// Changes the costs of columns from the first on. The solution stays feasible, and is where `solve` goes on from.
    pub(crate) fn reprice(&mut self, costs: impl IntoIterator<Item = f64>) {
        self.costs.iter_mut().zip(costs).for_each(|(old, new)| *old = new);
        self.correct();
        self.settle();
    }

    /// Exchanges columns until none is worth entering.
    pub(crate) fn solve(&mut self) -> Result<()> {
        self.solved += 1;
        self.stalled = 0;
        self.short_list.clear();
        let most = 1000 + 100 * (self.rhs.len() + self.costs.len());
        let mut corrected = false;
        for exchange in 1..=most {
            let Some(entering) = self.entering() else {
                if corrected {
                    self.mark_basis();
                    return Ok(());
                }
                self.refresh()?;
                corrected = true;
                continue;
            };
            self.exchange(entering)?;
            corrected = false;
            if exchange % CORRECTION == 0 {
                self.refresh()?;
            }
        }
        Err(Error::Unsettled { what: "a linear program", value: self.value(), error: self.residual() })
    }

    /// β, the prices of the rows.
    pub(crate) fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// $\sum_v c_v x_v$.
    pub(crate) fn value(&self) -> f64 {
        self.basis.iter().zip(&self.weights).map(|(&index, weight)| self.costs[index] * weight).sum()
    }

    /// The columns of the basis and their weights, many of which can be zero.
    pub(crate) fn weights(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.basis.iter().copied().zip(self.weights.iter().copied())
    }

    /// The column with this index.
    pub(crate) fn column(&self, index: usize) -> &[f64] {
        let rows = self.rhs.len();
        &self.columns[index * rows..(index + 1) * rows]
    }

    /// The cost of the column with this index.
    pub(crate) fn cost(&self, index: usize) -> f64 {
        self.costs[index]
    }

    /// How many columns there are.
    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }

    /// The largest $|b - \sum_v x_v a_v|$ over the rows.
    pub(crate) fn residual(&self) -> f64 {
        largest(&self.missing())
    }

    /// Forgets columns that the last `age` solutions neither used nor wanted, the first `fixed` excepted. Returns the old
    /// indices of those that stay, in order: their new indices are the places in that list.
    pub(crate) fn prune(&mut self, fixed: usize, age: u32) -> Vec<usize> {
        let rows = self.rhs.len();
        let stays = |index: &usize| *index < fixed || self.basic[*index] || self.wanted[*index] + age > self.solved;
        let kept: Vec<usize> = (0..self.costs.len()).filter(stays).collect();
        let mut place = vec![0; self.costs.len()];
        for (new, &old) in kept.iter().enumerate() {
            place[old] = new;
            self.columns.copy_within(old * rows..(old + 1) * rows, new * rows);
            self.costs[new] = self.costs[old];
            self.scales[new] = self.scales[old];
            self.basic[new] = self.basic[old];
            self.wanted[new] = self.wanted[old];
        }
        self.columns.truncate(kept.len() * rows);
        self.costs.truncate(kept.len());
        self.scales.truncate(kept.len());
        self.basic.truncate(kept.len());
        self.wanted.truncate(kept.len());
        self.basis.iter_mut().for_each(|index| *index = place[*index]);
        self.short_list.clear();
        kept
    }

    fn mark_basis(&mut self) {
        for &index in &self.basis {
            self.wanted[index] = self.solved;
        }
    }

    /// What one unit of the column gains, if that is more than rounding.
    fn gain(&self, index: usize) -> Option<f64> {
        let column = self.column(index);
        let gain = self.costs[index] - dot(&self.prices, column);
        if !(gain > 0.0) || self.basic[index] {
            return None;
        }
        let size: f64 = self.prices.iter().zip(column).map(|(price, entry)| (price * entry).abs()).sum();
        (gain > ATTRACTIVE * (self.costs[index].abs() + size)).then_some(gain * self.scales[index])
    }

    /// The column to enter: the best of the short list; the list is made from all columns when nothing on it is left.
    fn entering(&mut self) -> Option<usize> {
        if self.is_stuck() {
            return (0..self.costs.len()).find(|&index| self.gain(index).is_some());
        }
        let list = std::mem::take(&mut self.short_list);
        let mut gains: Vec<(f64, usize)> = list.iter().filter_map(|&index| Some((self.gain(index)?, index))).collect();
        if gains.is_empty() {
            gains.extend((0..self.costs.len()).filter_map(|index| Some((self.gain(index)?, index))));
            if gains.len() > SHORT_LIST {
                gains.select_nth_unstable_by(SHORT_LIST, |a, b| b.0.total_cmp(&a.0));
                gains.truncate(SHORT_LIST);
            }
            for &(_, index) in &gains {
                self.wanted[index] = self.solved;
            }
        }
        self.short_list = list;
        self.short_list.clear();
        self.short_list.extend(gains.iter().map(|&(_, index)| index));
        gains.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, index)| index)
    }

    fn exchange(&mut self, entering: usize) -> Result<()> {
        let rows = self.rhs.len();
        let column = &self.columns[entering * rows..(entering + 1) * rows];
        self.inverse.apply(column, &mut self.image);
        let gain = self.costs[entering] - dot(&self.prices, column);
        let Some(place) = self.leaving() else {
            return Err(Error::Unsettled {
                what: "a linear program that may have no bound",
                value: self.value(),
                error: self.residual(),
            });
        };
        let (pivot, weight) = (self.image[place], self.weights[place]);
        let (step, shadow) = (weight / pivot, self.shadows[place] / pivot);
        for (i, &image) in self.image.iter().enumerate() {
            self.weights[i] -= step * image;
            self.shadows[i] -= shadow * image;
        }
        (self.weights[place], self.shadows[place]) = (step, shadow);
        self.inverse.exchange(place, &self.image, &mut self.row);
        for (price, entry) in self.prices.iter_mut().zip(&self.row) {
            *price += gain * entry;
        }
        self.basic[self.basis[place]] = false;
        self.basic[entering] = true;
        self.basis[place] = entering;
        self.stalled = if weight > 0.0 { 0 } else { self.stalled + 1 };
        self.settle();
        Ok(())
    }

    /// Whether Bland's rule, the first column that gains and the first of the zero weights, is needed to get on.
    fn is_stuck(&self) -> bool {
        self.stalled > 100 + 20 * self.rhs.len()
    }

    /// The place whose weight is the first to reach zero as the entering column grows.
    fn leaving(&self) -> Option<usize> {
        let largest = largest(&self.image);
        PIVOTS.iter().find_map(|pivot| self.leaving_by(pivot * largest))
    }

    /// The place to leave among those with an image above `least`. Of several that reach zero at about the same time the
    /// one with the largest image, the best pivot (Harris): `settle` mends what the others then lack.
    fn leaving_by(&self, least: f64) -> Option<usize> {
        let falling = || (0..self.image.len()).filter(|&i| self.image[i] > least);
        let zeros = || falling().filter(|&i| self.weights[i] == 0.0);
        if self.is_stuck() && zeros().next().is_some() {
            return zeros().min_by_key(|&i| self.basis[i]);
        }
        let first = |places: &mut dyn Iterator<Item = usize>, parts: &[f64], slack: f64| {
            let places: Vec<usize> = places.collect();
            let limit = places.iter().map(|&i| (parts[i] + slack) / self.image[i]).min_by(f64::total_cmp)?;
            let together = places.into_iter().filter(|&i| parts[i] / self.image[i] <= limit);
            together.max_by(|&i, &j| self.image[i].total_cmp(&self.image[j]))
        };
        // Among zero weights the infinitesimal parts decide.
        first(&mut zeros(), &self.shadows, SLACK)
            .or_else(|| first(&mut falling(), &self.weights, ZERO * largest(&self.weights)))
    }

    /// Weights that rounding has left just above or below zero become zero, and get a positive infinitesimal part.
    fn settle(&mut self) {
        let zero = ZERO * largest(&self.weights);
        for i in 0..self.weights.len() {
            if !(self.weights[i] > zero) {
                self.weights[i] = 0.0;
                if !(self.shadows[i] > 0.0) {
                    // The multiplier of Knuth's MMIX generator; any distinct numbers would do.
                    self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    self.shadows[i] = 0.5 + (self.random >> 11) as f64 / (1u64 << 54) as f64;
                }
            }
        }
    }

    /// Corrects rounding, with a new inverse if the old one is worn.
    fn refresh(&mut self) -> Result<()> {
        if !(self.correct() <= WORN) {
            let rows = self.rhs.len();
            let mut basis = Vec::with_capacity(rows * rows);
            self.basis.iter().for_each(|&index| basis.extend_from_slice(self.column(index)));
            self.inverse = Inverse::new(rows, basis)?;
            self.weights.fill(0.0);
            self.prices.fill(0.0);
            self.correct();
            let error = self.correct();
            if !(error <= WORN) {
                return Err(Error::Unsettled { what: "the basis of a linear program", value: self.value(), error });
            }
        }
        self.settle();
        Ok(())
    }

    /// One step of iterative refinement of weights and prices; returns how far off, relatively, they were.
    fn correct(&mut self) -> f64 {
        let missing = self.missing();
        self.inverse.apply(&missing, &mut self.image);
        for (weight, change) in self.weights.iter_mut().zip(&self.image) {
            *weight += change;
        }
        let gains: Vec<f64> =
            self.basis.iter().map(|&index| self.costs[index] - dot(&self.prices, self.column(index))).collect();
        self.inverse.add_transposed(&gains, &mut self.prices);
        let cost = self.basis.iter().fold(0.0, |most, &index| f64::max(most, self.costs[index].abs()));
        (largest(&missing) / largest(&self.rhs).max(f64::MIN_POSITIVE))
            .max(largest(&gains) / cost.max(f64::MIN_POSITIVE))
    }

    /// $b - \sum_v x_v a_v$.
    fn missing(&self) -> Vec<f64> {
        let mut missing = self.rhs.clone();
        for (index, weight) in self.weights() {
            if weight != 0.0 {
                for (left, entry) in missing.iter_mut().zip(self.column(index)) {
                    *left -= weight * entry;
                }
            }
        }
        missing
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| f64::max(most, value.abs()))
}

fn scale(column: &[f64]) -> f64 {
    let length = dot(column, column).sqrt();
    if length > 0.0 { 1.0 / length } else { 1.0 }
}

#[cfg(test)]
mod tests;
