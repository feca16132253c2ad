//! Bounds on the probability of a report, so that most random words decide it without the distribution function.

use ldp_core::Result;
use ldp_core::channel::two_64;

/// Cells of the line: a power of two, so that a place is found without a check.
const CELLS: usize = 1 << 12;

/// 1.5 · 2⁵²: the low bits of what it is added to hold the nearest whole number.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// What rounding may cost a probability that should fall from one threshold to the next; far more than it does.
const SLACK: f64 = 1e-12;

/// For every cell of the line, between which random words a report at a threshold in it is still open.
///
/// The probability p of a report 1 falls with the threshold, so within a cell it lies between its values at the ends.
/// A random word well below the smaller one is a 1, well above the larger one a 0; only between them, a time in a
/// thousand, p itself is needed. Whatever the cells, the report is the one that p decides.
///
/// Cells are filled when first visited: a walk sees a few hundred of them.
pub(crate) struct Brackets {
    low: f64,
    per_unit: f64,
    /// Words below the first are ones, above the second zeros. Empty cells decide nothing.
    cells: Box<[(u64, u64); CELLS]>,
    empty: Box<[bool; CELLS]>,
}

impl Brackets {
    /// Equal cells from `low` to `high`; the first and the last also hold what lies beyond.
    pub(crate) fn new(low: f64, high: f64) -> Self {
        let width = high - low;
        // Without a finite width everything falls into one cell, which is slow and still right.
        let per_unit = if width > 0.0 && width.is_finite() { CELLS as f64 / width } else { 0.0 };
        Self { low, per_unit, cells: Box::new([(0, u64::MAX); CELLS]), empty: Box::new([true; CELLS]) }
    }

    /// The cell of a threshold.
    #[inline(always)]
    fn cell(&self, threshold: f64) -> usize {
        const LAST: f64 = (CELLS - 1) as f64;
        let place = (threshold - self.low) * self.per_unit;
        // Comparisons and not `clamp`, whose care for NaN costs more; a NaN goes to the first cell.
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < LAST { place } else { LAST };
        // Rounds to the nearest whole number.
        ((place + WHOLE).to_bits() as usize) % CELLS
    }

    /// Whether the report is surely 1, and whether it is open.
    #[inline(always)]
    pub(crate) fn report(&self, threshold: f64, word: u64) -> (bool, bool) {
        let (one, open) = self.cells[self.cell(threshold)];
        (word < one, (word >= one) & (word <= open))
    }

    /// Fills the cell of a threshold, if it is empty, from the probability of a report 1 at its ends.
    #[cold]
    pub(crate) fn fill(&mut self, threshold: f64, mut one: impl FnMut(f64) -> Result<f64>) -> Result<()> {
        let cell = self.cell(threshold);
        if std::mem::replace(&mut self.empty[cell], false) && self.per_unit > 0.0 {
            // Half a cell on either side, and a quarter for rounding.
            let end = |cells: f64| self.low + (cell as f64 + cells) / self.per_unit;
            let (left, right) = (end(-0.75), end(0.75));
            let high = if cell == 0 || !left.is_finite() { 1.0 } else { one(left)? + SLACK };
            let low = if cell + 1 == CELLS || !right.is_finite() { 0.0 } else { one(right)? - SLACK };
            // Conversions saturate, a NaN becomes zero.
            self.cells[cell] = ((low * two_64()) as u64, if high < 1.0 { (high * two_64()) as u64 } else { u64::MAX });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::drive::falls_below;

    /// The words around p, and the ends: where a bracket that is too narrow decides wrongly.
    fn words(p: f64) -> Vec<u64> {
        let middle = (p * two_64()) as u64;
        let near = [0, 1, 1 << 11, 1 << 20, 1 << 40, 1 << 50, 1 << 54].into_iter();
        near.flat_map(|away| [middle.saturating_sub(away), middle.saturating_add(away)]).chain([0, u64::MAX]).collect()
    }

    #[test]
    fn what_is_decided_is_what_the_probability_decides() {
        let laws: [fn(f64) -> f64; 4] = [
            |x| 0.27 + 0.46 / (1.0 + (9.0 * x).exp()),
            // Steps, on cells and between them.
            |x| if x < 0.1 { 1.0 } else { 0.0 },
            |x| 0.9 - 0.2 * x.floor().clamp(-2.0, 2.0),
            |_| 0.5,
        ];
        for law in laws {
            for (low, high) in [(-3.0, 3.0), (0.0, 0.2), (-1e9, 1e9), (5.0, 5.0), (f64::NEG_INFINITY, 1.0)] {
                let mut brackets = Brackets::new(low, high);
                let (mut decided, mut seen) = (0, 0);
                for i in 0..20_000 {
                    let threshold = f64::from(i % 9973) * 7.3e-4 - 3.64;
                    for word in words(law(threshold)) {
                        let (one, open) = brackets.report(threshold, word);
                        let exact = falls_below(word, law(threshold));
                        assert!(open || one == exact, "{word} at {threshold}, cells from {low} to {high}");
                        if open {
                            brackets.fill(threshold, |x| Ok(law(x))).unwrap();
                        }
                        (seen, decided) = (seen + 1, decided + usize::from(!open));
                    }
                }
                // Brackets that leave everything open would be right too; the words 0 and 2⁶⁴ − 1 are two of sixteen.
                assert!(low != -3.0 || decided > seen / 10, "{decided} of {seen}");
            }
        }
    }

    #[test]
    fn few_words_are_open_where_guesses_are() {
        let law = |x: f64| 0.27 + 0.46 / (1.0 + (1.7 * x).exp());
        let mut brackets = Brackets::new(-3.4, 3.4);
        let mut open = 0;
        for i in 0..200_000u64 {
            let (threshold, word) = ((i % 997) as f64 / 997.0 - 0.5, i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            if brackets.report(threshold, word).1 {
                open += 1;
                brackets.fill(threshold, |x| Ok(law(x))).unwrap();
            }
        }
        // 0.196 · 1.5 · 6.8/4096 of the words are some 100, and one for each of 600 cells to fill it.
        assert!((600..800).contains(&open), "{open}");
    }

    #[test]
    fn an_error_is_passed_on() {
        let mut brackets = Brackets::new(-1.0, 1.0);
        let error = || ldp_core::Error::TooFew { name: "users", least: 1, value: 0 };
        assert!(brackets.fill(0.5, |_| Err(error())).is_err());
    }
}
