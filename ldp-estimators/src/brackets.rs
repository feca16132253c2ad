//! Bounds on the probability of a report, so that most random words decide it without the distribution function.

use ldp_core::Result;
use std::cell::Cell;

/// Cells of the line: at eight bytes each they fit the first-level cache.
const CELLS: usize = 1 << 12;

/// The unit of a place: a cell has 32 binary digits after the point.
const CELL: f64 = (1u64 << 32) as f64;

/// Moves after which a place has to be taken anew.
pub(crate) const FOLLOWED: usize = 64;

/// The longest move, in units of the line: ten times that of a median.
const LONGEST: f64 = 0.2;

/// Cells per unit, at most: [`FOLLOWED`] moves then stay far away from where a place is clamped.
const FINEST: f64 = (1u64 << 20) as f64;

/// The largest number in cells, at most: what rounding a number so large costs is then 2⁻¹³ of a cell at a move.
const FARTHEST: f64 = (1u64 << 40) as f64;

/// 1.5 · 2⁵²: the low bits of what it is added to hold the nearest whole number.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// What rounding may cost a probability that should fall from one threshold to the next; far more than it does.
const SLACK: f64 = 1e-12;

/// For every cell of the line, between which random words a report at a threshold in it is still open.
///
/// The probability p of a report 1 falls with the threshold, so within a cell it lies between its values at the ends.
/// A random word well below the smaller one is a 1, well above the larger one a 0; only between them, a time in two
/// thousand, p itself is needed. Whatever the cells, the report is the one that p decides. Cells are filled when first
/// visited: a walk sees a few hundred of them.
///
/// # Places
/// A threshold that moves is followed as a whole number, its place: an integer is moved and looked up in a third of the
/// time, and a report is on the way to the next question. A place drifts from its threshold by rounding, within
/// [`FOLLOWED`] moves by at most a hundredth of a cell: 2⁻³³ at a move, and 2⁻¹³ where numbers are so large that they round. So a cell
/// vouches for a quarter more on either side.
pub(crate) struct Brackets {
    low: f64,
    per_unit: f64,
    cells: Box<Table>,
    empty: Box<[Cell<bool>; CELLS]>,
}

/// The brackets of all cells. They are filled through a shared reference, so that a loop that looks up and may have to fill
/// one keeps the address of this in a register: a twentieth of the time of a user.
pub(crate) struct Table([Cell<Bracket>; CELLS]);

/// By the upper half of a random word: below `one` it is a 1, and open as far as `open` above that.
#[derive(Clone, Copy)]
struct Bracket {
    one: u32,
    open: u32,
}

/// Decides nothing.
const EMPTY: Bracket = Bracket { one: 0, open: u32::MAX };

impl Brackets {
    /// Equal cells from `low` to `high` at least; what lies beyond is open. `None` where these are no interval.
    pub(crate) fn new(low: f64, high: f64) -> Option<Self> {
        let width = high - low;
        if !(width > 0.0 && width.is_finite()) {
            return None;
        }
        let per_unit = (CELLS as f64 / width).min(FINEST).min(FARTHEST / low.abs().max(high.abs()));
        Some(Self {
            low,
            per_unit,
            cells: Box::new(Table([const { Cell::new(EMPTY) }; CELLS])),
            empty: Box::new([const { Cell::new(true) }; CELLS]),
        })
    }

    /// Whether a threshold lies in a cell.
    pub(crate) fn covers(&self, threshold: f64) -> bool {
        (0..CELLS as i64).contains(&(self.place(threshold) >> 32))
    }

    /// The place of a threshold. Far beyond the cells it is clamped, so far that no moves lead back.
    #[inline(always)]
    pub(crate) fn place(&self, threshold: f64) -> i64 {
        const FAR: f64 = (1u64 << 62) as f64;
        ((threshold - self.low) * (self.per_unit * CELL)).clamp(-FAR, FAR) as i64
    }

    /// By how much a move of at most [`LONGEST`] changes a place.
    #[inline(always)]
    pub(crate) fn distance(&self, by: f64) -> i64 {
        debug_assert!(by.abs() <= LONGEST, "{by}");
        // Several at once, unlike a conversion.
        (by * (self.per_unit * CELL) + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()).cast_signed()
    }

    /// What decides reports.
    #[inline(always)]
    pub(crate) fn table(&self) -> &Table {
        &self.cells
    }

    /// Fills the cell of a place, if there is one and it is empty, from the probability of a report 1 at its ends.
    #[cold]
    pub(crate) fn fill(&self, place: i64, mut one: impl FnMut(f64) -> Result<f64>) -> Result<()> {
        let index = (place >> 32) as usize;
        if index < CELLS && self.empty[index].replace(false) {
            let end = |cells: f64| self.low + (index as f64 + cells) / self.per_unit;
            let (left, right) = (end(-0.25), end(1.25));
            let high = if left.is_finite() { one(left)? + SLACK } else { 1.0 };
            let low = if right.is_finite() { one(right)? - SLACK } else { 0.0 };
            // Rounded down, both: a word has another 32 bits. Conversions saturate.
            let [low, high] = [low, high.max(low)].map(|p| (p * CELL) as u32);
            self.cells.0[index].set(Bracket { one: low, open: high - low });
        }
        Ok(())
    }
}

impl Table {
    /// The report at a place: a negative number for 1, another for 0, `None` if it is open.
    ///
    /// Numbers and no `bool`, of which the compiler would make a branch, and that is as good as a coin.
    #[inline(always)]
    pub(crate) fn report(&self, place: i64, word: u64) -> Option<i64> {
        let Bracket { one, open } = self.0.get((place >> 32) as usize)?.get();
        let beyond = (word >> 32).cast_signed() - i64::from(one);
        // Below zero, as a number without a sign, it is far above all that is open.
        if beyond as u32 <= open { None } else { Some(beyond) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::channel::two_64;
    use ldp_simulate::falls_below;

    /// The words around p, and the ends: where a bracket that is too narrow decides wrongly.
    fn words(p: f64) -> Vec<u64> {
        let middle = (p * two_64()) as u64;
        let near = [0, 1, 1 << 11, 1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 50, 1 << 54].into_iter();
        near.flat_map(|away| [middle.saturating_sub(away), middle.saturating_add(away)]).chain([0, u64::MAX]).collect()
    }

    const LAWS: [fn(f64) -> f64; 4] = [
        |x| 0.27 + 0.46 / (1.0 + (9.0 * x).exp()),
        // Steps, on cells and between them.
        |x| if x < 0.1 { 1.0 } else { 0.0 },
        |x| 0.9 - 0.2 * x.floor().clamp(-2.0, 2.0),
        |_| 0.5,
    ];

    /// How many words are decided at a threshold with this place, of how many; rightly, whichever they are.
    fn decided(brackets: &Brackets, law: impl Fn(f64) -> f64, threshold: f64, place: i64) -> [usize; 2] {
        let (mut decided, words) = (0, words(law(threshold)));
        for &word in &words {
            match brackets.table().report(place, word) {
                None => brackets.fill(place, |x| Ok(law(x))).unwrap(),
                Some(report) => {
                    assert_eq!(report < 0, falls_below(word, law(threshold)), "{word} at {threshold}");
                    decided += 1;
                }
            }
        }
        [decided, words.len()]
    }

    #[test]
    fn what_is_decided_is_what_the_probability_decides() {
        for law in LAWS {
            for (low, high) in [(-3.0, 3.0), (0.0, 0.2), (-1e9, 1e9), (-1e300, 3.0), (-3.0, 1e17), (0.1, 0.1 + 1e-15)] {
                let brackets = Brackets::new(low, high).unwrap();
                let mut sum = [0, 0];
                for i in 0..20_000 {
                    let threshold = f64::from(i % 9973) * 7.3e-4 - 3.64;
                    let place = brackets.place(threshold);
                    let [some, all] = decided(&brackets, law, threshold, place);
                    sum = [sum[0] + some, sum[1] + all];
                }
                // Brackets that leave everything open would be right too.
                assert!(low != -3.0 || high != 3.0 || sum[0] > sum[1] / 10, "{sum:?}");
            }
        }
    }

    /// Places that are moved and not taken anew, where numbers are so large that moves are rounded, or lost, as well.
    #[test]
    fn a_place_may_be_followed() {
        for (near, width) in [(0.0, 7.0), (-3e8, 0.1), (1e13, 7.0), (1e17, 700.0), (0.0, 1e-6), (5e4, 1e5)] {
            let brackets = Brackets::new(near - width / 2.0, near + width / 2.0).unwrap();
            let law = |x: f64| 0.9 - 0.8 * ((x - near) / width + 0.5).clamp(0.0, 1.0);
            let (mut furthest, mut sum): (f64, _) = (0.0, [0, 0]);
            for first in 0..400 {
                let mut threshold = near + (f64::from(first) / 333.0 - 0.6) * width;
                let mut place = brackets.place(threshold);
                for round in 0..FOLLOWED {
                    let by = LONGEST * [0.9, -0.37, 0.511, -0.99, 1.0][(first as usize + round * round / 7) % 5];
                    threshold += by;
                    place += brackets.distance(by);
                    let exact = (threshold - brackets.low) * brackets.per_unit;
                    furthest = furthest.max((place as f64 / CELL - exact).abs());
                    let [some, all] = decided(&brackets, law, threshold, place);
                    sum = [sum[0] + some, sum[1] + all];
                }
            }
            assert!(furthest < 0.01, "{furthest} cells near {near}");
            // Those of a narrow range are left at the first move; others that leave everything open would be right too.
            assert!(width < LONGEST || sum[0] > sum[1] / 10, "near {near}: {sum:?}");
        }
    }

    #[test]
    fn few_words_are_open_where_guesses_are() {
        let law = |x: f64| 0.27 + 0.46 / (1.0 + (1.7 * x).exp());
        let brackets = Brackets::new(-3.4, 3.4).unwrap();
        let mut open = 0;
        for i in 0..200_000u64 {
            let (threshold, word) = ((i % 997) as f64 / 997.0 - 0.5, i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let place = brackets.place(threshold);
            if brackets.table().report(place, word).is_none() {
                open += 1;
                brackets.fill(place, |x| Ok(law(x))).unwrap();
            }
        }
        // 0.196 · 1.5 · 6.8/4096 of the words are some 100, and one for each of 600 cells to fill it.
        assert!((600..800).contains(&open), "{open}");
    }

    #[test]
    fn what_lies_beyond_is_open() {
        let brackets = Brackets::new(-1.0, 1.0).unwrap();
        assert!([-1.0, 0.3, 0.99].iter().all(|&threshold| brackets.covers(threshold)));
        for threshold in [-1.1, 1.1, -1e300, 1e300, f64::INFINITY, f64::NEG_INFINITY] {
            let place = brackets.place(threshold);
            brackets.fill(place, |_| Ok(0.5)).unwrap();
            assert!(
                [0, 1 << 63, u64::MAX].iter().all(|&word| brackets.table().report(place, word).is_none()),
                "{threshold}"
            );
            // Nor do moves lead back from far away.
            let back = FOLLOWED as i64 * brackets.distance(-LONGEST.copysign(threshold));
            assert!(threshold.abs() < 2.0 || brackets.table().report(place + back, 0).is_none());
        }
        for (low, high) in [(5.0, 5.0), (1.0, 0.0), (f64::NEG_INFINITY, 1.0), (f64::NAN, 1.0), (-1e308, 1e308)] {
            assert!(Brackets::new(low, high).is_none());
        }
    }

    #[test]
    fn an_error_is_passed_on() {
        let brackets = Brackets::new(-1.0, 1.0).unwrap();
        let error = || ldp_core::Error::TooFew { name: "users", least: 1, value: 0 };
        let place = brackets.place(0.5);
        assert!(brackets.fill(place, |_| Err(error())).is_err());
    }
}
