//! Binomial counts that are drawn over and over, by table.

use ldp_core::special::binomial::{Probabilities, Window};
use rand::Rng;

/// The most counts of a table: 32 kB, what a processor has at hand.
const MOST: u64 = 1 << 12;

/// The probability that may lie outside of a table, on either side: less than any random word can tell.
const TAIL: f64 = 1e-20;

/// A binomial law as a table: a count takes one random word, one look and one comparison.
///
/// Walker's alias method ([W77]) in integers. There are as many columns as a power of two, all of the same weight, and every
/// column belongs to one count up to a height and to another above it. Weights are probabilities times 2⁶⁴, rounded: exact to
/// twelve digits, and 2⁻⁶⁴.
///
/// ```
/// use ldp_simulate::CountTable;
/// use ldp_simulate::seed::{Purpose, stream};
/// let table = CountTable::new(306, [0.42, 0.58]).ok_or("too many counts")?;
/// assert!(table.draw(&mut stream(1, Purpose::Tally, 0, 0)).abs_diff(177) < 60);
/// # Ok::<(), &str>(())
/// ```
///
/// # Design
/// A kept [`Binomial`](super::Binomial) takes more than one word one time in three, and a guess of the processor each time. To make
/// a table takes longer than some hundred draws, which pays where the same law is drawn in every replication: in the first round.
///
/// [W77]: https://doi.org/10.1145/355744.355749
#[derive(Clone, Debug)]
pub struct CountTable {
    first: u64,
    /// The digits of a word that are a height and not a column.
    height: u32,
    /// The height, and in the highest digits the count above it.
    columns: Vec<u64>,
}

impl CountTable {
    /// The number of ones among `trials` with probabilities `[zero, one]`, or numbers proportional to them; `None` where there are
    /// too many different counts, or but one possible report.
    #[must_use]
    pub fn new(trials: u64, [zero, one]: [f64; 2]) -> Option<Self> {
        // What is certain needs no table.
        let possible = zero > 0.0 && one > 0.0 && zero.is_finite() && one.is_finite();
        let window = possible.then(|| Window::new(trials, [zero, one], TAIL))?;
        if window.counts() > MOST {
            return None;
        }
        let probabilities: Vec<f64> =
            Probabilities::new(trials, [zero, one], window.first, window.last, 1).map(|(_, p)| p).collect();
        Some(Self::of(window.first, &probabilities))
    }

    /// The table of probabilities for the counts from `first` on.
    fn of(first: u64, probabilities: &[f64]) -> Self {
        let size = probabilities.len().next_power_of_two().max(2);
        let bits = size.trailing_zeros();
        let height = u64::BITS - bits;
        let full = 1u128 << height;
        let mut weights = vec![0u128; size];
        for (weight, p) in weights.iter_mut().zip(probabilities) {
            *weight = (p * 2f64.powi(64)).round() as u128;
        }
        // What rounding has left or taken goes to the commonest count, where it weighs least.
        let (largest, _) = weights.iter().enumerate().max_by_key(|(_, weight)| **weight).unwrap_or((0, &0));
        let others = weights.iter().sum::<u128>() - weights[largest];
        weights[largest] = (1u128 << 64).saturating_sub(others);
        // A column that is not full is filled up by a count that has more than a column.
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..size).partition(|&k| weights[k] < full);
        let mut columns = vec![0u64; size];
        while let Some(column) = small.pop() {
            let above = large.last().copied().unwrap_or(largest);
            columns[column] = weights[column] as u64 | (above as u64) << height;
            weights[above] -= full - weights[column];
            if weights[above] < full {
                large.pop();
                small.push(above);
            }
        }
        // Full columns belong to one count alone.
        for column in large {
            columns[column] = (column as u64) << height;
        }
        Self { first, height, columns }
    }

    /// The next count.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let word = rng.next_u64();
        let column = word >> self.height;
        let mask = (1 << self.height) - 1;
        let entry = self.columns[column as usize];
        self.first + if word & mask < entry & mask { column } else { entry >> self.height }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::conformance::Repeating;
    use ldp_core::special::binomial::pmf;

    /// The weight of every count, added up over the columns.
    fn weights(table: &CountTable) -> Vec<u128> {
        let mut weights = vec![0u128; table.columns.len()];
        for (column, entry) in table.columns.iter().enumerate() {
            let below = u128::from(entry & ((1 << table.height) - 1));
            weights[column] += below;
            weights[(entry >> table.height) as usize] += (1u128 << table.height) - below;
        }
        weights
    }

    #[test]
    fn columns_add_up_to_the_probabilities() {
        for (n, p) in
            [(1, 0.3), (2, 0.5), (3, 0.999), (20, 0.01), (306, 0.58), (2142, 0.26894), (9694, 0.5), (1 << 40, 1e-11)]
        {
            let table = CountTable::new(n, [1.0 - p, p]).unwrap();
            let weights = weights(&table);
            assert_eq!(weights.iter().sum::<u128>(), 1 << 64);
            for (k, &weight) in (table.first..).zip(&weights) {
                let right = if k <= n { pmf(k, n, p) * 2f64.powi(64) } else { 0.0 };
                let off = (weight as f64 - right).abs();
                // The commonest count also has what rounding leaves.
                assert!(
                    off <= 1e-12 * right + 1.0 + weights.len() as f64 * f64::from(right > 1e14),
                    "{k} of {n}, p = {p}"
                );
            }
        }
    }

    #[test]
    fn a_word_finds_its_count() {
        // Words in the middle of the smallest parts of a table, by which counts are found again.
        let table = CountTable::new(40, [0.3, 0.7]).unwrap();
        let mut found = vec![0u128; table.columns.len()];
        for (column, entry) in (0u64..).zip(&table.columns) {
            let below = entry & ((1 << table.height) - 1);
            let at = |height: u64| table.draw(&mut Repeating::new(column << table.height | height)) - table.first;
            if below > 0 {
                assert_eq!([at(0), at(below - 1)], [column; 2]);
                found[column as usize] += u128::from(below);
            }
            assert_eq!(at(below), at((1 << table.height) - 1));
            found[at(below) as usize] += (1u128 << table.height) - u128::from(below);
        }
        assert_eq!(found, weights(&table));
    }

    #[test]
    fn what_has_no_table_is_said() {
        assert!(CountTable::new(10_000_000, [0.5, 0.5]).is_none());
        for law in [[0.0, 1.0], [1.0, 0.0], [f64::NAN, 0.5], [f64::INFINITY, 1.0]] {
            assert!(CountTable::new(10, law).is_none(), "{law:?}");
        }
    }
}
