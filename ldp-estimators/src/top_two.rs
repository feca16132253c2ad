//! The two largest of four multinomial counts: the exact law of which they are.

use crate::bitwise_pilot::Leaders;
use ldp_core::special::binomial::Probabilities;

/// Of a binomial count each tail is cut where its probability is proved to be below $e^{-CUT}$.
const CUT: f64 = 64.0;

/// At most this much of a law is not summed: for each of three splits two tails of three counts, $18 e^{-CUT}$.
pub(crate) const LOST: f64 = 3e-27;

/// The ways to split four residues into two pairs.
const SPLITS: [[[usize; 2]; 2]; 3] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];

/// What the leaders can be, with their probabilities.
pub(crate) type Table = Vec<(f64, Leaders)>;

/// The law of the leaders of `users` reports with these probabilities, all positive: the largest count passes if it is
/// at least `least`, and ties go to the lowest residue.
///
/// The pair of the first two, a and b, together has a binomial count, and given it the two pairs are independent:
///
/// $$P(\text{a before b before c, d}) = \sum_n P(C_a + C_b = n) \sum_{j \le n/2} P(C_b = j \mid n)\,
///   P(C_c, C_d \le j \mid n),$$
///
/// with j − 1 for j where a tie is lost. For fixed n the last factor is the probability of an interval of the binomial
/// count C_c that grows by one at either end with j: no term is ever subtracted, and small probabilities are as accurate
/// relative to themselves as large ones. Counts far out are left out, all with probability at most [`LOST`]. About
/// 1000 operations per user.
pub(crate) fn leaders(users: u64, probabilities: [f64; 4], least: u64) -> Table {
    let mut table = [[[0.0; 2]; 4]; 4];
    let (mut total, mut one, mut other) = (Count::default(), Count::default(), Count::default());
    for split in SPLITS {
        let [shares, others] = split.map(|pair| pair.map(|residue| probabilities[residue]));
        total.fill(users, [shares[0] + shares[1], others[0] + others[1]]);
        for (n, weight) in (total.first..).zip(&total.law) {
            one.fill(n, shares);
            other.fill(users - n, others);
            let [pair, rest] = split;
            for (pair, ahead, rest, behind) in [(pair, &one, rest, &other), (rest, &other, pair, &one)] {
                for [first, second] in [pair, [pair[1], pair[0]]] {
                    let sums = in_order([first, second], ahead.seen_from(second == pair[0]), rest, behind, least);
                    for (place, sum) in table[first][second].iter_mut().zip(sums) {
                        *place += weight * sum;
                    }
                }
            }
        }
    }
    let entry = |(first, second, passes): (usize, usize, bool)| {
        (table[first][second][usize::from(passes)], Leaders { first, second, passes })
    };
    let all = (0..32).map(|index| (index / 8, index / 2 % 4, index % 2 == 1));
    all.map(entry).filter(|&(probability, _)| probability > 0.0).collect()
}

/// The probability that `first` is before `second` and both of `rest` after it, given the sums of both pairs: without
/// and with `least` reports for the first. `ahead` is the count of the second, `behind` that of the first of the rest.
fn in_order([first, second]: [usize; 2], ahead: View<'_>, rest: [usize; 2], behind: &Count, least: u64) -> [f64; 2] {
    let (n, others) = (ahead.count.trials as i64, behind.trials as i64);
    // A residue below the second one would win a tie with it, so it must have one report less.
    let [gap, other_gap] = rest.map(|residue| i64::from(residue < second));
    let (low, high) = ahead.ends();
    // Two losers have room for all the others; the first one is not passed.
    let start = low.max((others + gap + other_gap + 1).div_euclid(2));
    let end = high.min((n - i64::from(second < first)).div_euclid(2));
    let mut sums = [0.0; 2];
    if start > end {
        return sums;
    }
    let mut inside = behind.between(others - start + other_gap, start - gap);
    for j in start..=end {
        if j > start {
            inside += behind.at(others - j + other_gap) + behind.at(j - gap);
        }
        sums[usize::from(n - j >= least as i64)] += ahead.at(j) * inside;
    }
    sums
}

/// The probabilities of a binomial count near its mean.
#[derive(Default)]
struct Count {
    trials: u64,
    /// The smallest count in `law`.
    first: u64,
    law: Vec<f64>,
}

/// The count itself, or what is left of the trials.
#[derive(Clone, Copy)]
struct View<'a> {
    count: &'a Count,
    itself: bool,
}

impl Count {
    /// The law of how many of `trials` have the first of two things that happen in proportion to `weights`.
    ///
    /// By Bernstein's inequality $P(\lvert C - np\rvert \ge t) \le 2e^{-t^2/(2v + 2t/3)}$ with v = np(1−p): what is left
    /// out has at most $2e^{-CUT}$. In closed form, because windows are made by the thousand: a search for the ends of
    /// Chernoff's would take longer than the law inside.
    fn fill(&mut self, trials: u64, weights: [f64; 2]) {
        let n = trials as f64;
        let [share, other] = weights.map(|weight| weight / (weights[0] + weights[1]));
        let reach = CUT / 3.0 + (CUT * CUT / 9.0 + 2.0 * CUT * n * share * other).sqrt() + 1.0;
        let (first, last) = ((n * share - reach).max(0.0) as u64, trials.min((n * share + reach) as u64));
        (self.trials, self.first) = (trials, first);
        self.law.clear();
        self.law.extend(Probabilities::new(trials, [other, share], first, last, 1).map(|(_, probability)| probability));
    }

    /// P(C = count), zero where it is cut off.
    fn at(&self, count: i64) -> f64 {
        usize::try_from(count - self.first as i64).ok().and_then(|index| self.law.get(index)).copied().unwrap_or(0.0)
    }

    /// P(low ≤ C ≤ high), without what is cut off.
    fn between(&self, low: i64, high: i64) -> f64 {
        let (first, last) = self.seen_from(true).ends();
        (low.max(first)..=high.min(last)).map(|count| self.at(count)).sum()
    }

    fn seen_from(&self, itself: bool) -> View<'_> {
        View { count: self, itself }
    }
}

impl View<'_> {
    fn at(self, count: i64) -> f64 {
        self.count.at(if self.itself { count } else { self.count.trials as i64 - count })
    }

    /// The smallest and the largest count that are not cut off.
    fn ends(self) -> (i64, i64) {
        let (first, trials) = (self.count.first as i64, self.count.trials as i64);
        let last = first + self.count.law.len() as i64 - 1;
        if self.itself { (first, last) } else { (trials - last, trials - first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::special::binomial;

    /// Every tally, weighed by its probability: factorials and powers, of which 170! is the last that is a number.
    fn enumerated(users: u64, p: [f64; 4], least: u64) -> [[[f64; 2]; 4]; 4] {
        let factorial: Vec<f64> = (0..=users).map(|n| (1..=n).map(|i| i as f64).product()).collect();
        let mut table = [[[0.0; 2]; 4]; 4];
        for a in 0..=users {
            for b in 0..=users - a {
                for c in 0..=users - a - b {
                    let counts = [a, b, c, users - a - b - c];
                    let part = |(count, share): (u64, f64)| share.powi(count as i32) / factorial[count as usize];
                    let mass = counts.into_iter().zip(p).map(part).fold(factorial[users as usize], |m, part| m * part);
                    let mut order = [0, 1, 2, 3];
                    // A stable sort keeps the lowest residue of a tie in front.
                    order.sort_by_key(|&residue| std::cmp::Reverse(counts[residue]));
                    table[order[0]][order[1]][usize::from(counts[order[0]] >= least)] += mass;
                }
            }
        }
        table
    }

    const PROBABILITIES: [[f64; 4]; 6] = [
        [0.25; 4],
        [0.1, 0.2, 0.3, 0.4],
        [0.475, 0.175, 0.175, 0.175],
        [0.2, 0.29, 0.31, 0.2],
        [1e-3, 0.9, 0.098, 1e-3],
        [1e-9, 1e-9, 1.0 - 3e-9, 1e-9],
    ];

    /// The largest relative error among all but what may be lost.
    fn error(users: u64, p: [f64; 4], least: u64, expected: &[[[f64; 2]; 4]; 4]) -> f64 {
        let found = leaders(users, p, least);
        let at = |first, second, passes| {
            found.iter().find(|(_, leaders)| *leaders == Leaders { first, second, passes }).map_or(0.0, |entry| entry.0)
        };
        let mut worst = 0f64;
        for (first, row) in expected.iter().enumerate() {
            for (second, cell) in row.iter().enumerate() {
                for (passes, &expected) in [false, true].into_iter().zip(cell) {
                    let away = (at(first, second, passes) - expected).abs() - LOST;
                    worst = worst.max(away / expected.max(LOST));
                }
            }
        }
        worst
    }

    /// Down to the rarest: the error is relative.
    #[test]
    fn every_tally_enumerated() {
        for p in PROBABILITIES {
            for users in [0, 1, 2, 5, 12, 40, 90] {
                for least in [0, users / 3, users / 2, users / 2 + 1, users * 2 / 3, users, users + 1] {
                    let worst = error(users, p, least, &enumerated(users, p, least));
                    assert!(worst < 1e-11, "{users} users, {p:?}, {least}: {worst}");
                }
            }
        }
        // A threshold one off, and ties that go to the highest residue.
        let p = PROBABILITIES[1];
        assert!(error(40, p, 15, &enumerated(40, p, 16)) > 1e-3);
        let backwards = [p[3], p[2], p[1], p[0]];
        let mut mirrored = enumerated(40, backwards, 15);
        mirrored.reverse();
        mirrored.iter_mut().for_each(|row| row.reverse());
        assert!(error(40, p, 15, &mirrored) > 1e-3);
    }

    #[test]
    fn what_is_lost_is_what_is_said() {
        assert!(18.0 * (-CUT).exp() <= LOST);
        let mut count = Count::default();
        for (trials, share) in [(1u64, 0.5), (300, 0.5), (3000, 0.02), (3000, 0.7), (200_000, 0.4), (100_000, 1e-18)] {
            count.fill(trials, [share, 1.0 - share]);
            let (first, last) = count.seen_from(true).ends();
            let below = if first > 0 { binomial::cdf(first as u64 - 1, trials, share) } else { 0.0 };
            let above = binomial::sf(last as u64 + 1, trials, share);
            assert!(below.max(above) <= (-CUT).exp(), "{trials}, {share}: {below} {above}");
            for j in (first..=last).step_by(7) {
                let expected = binomial::pmf(j as u64, trials, share);
                assert!((count.at(j) - expected).abs() <= 2e-13 * expected + 1e-300, "{trials}, {share}, {j}");
            }
        }
        // Of probabilities that round to one the complement is kept.
        count.fill(1000, [1.0, 1e-20]);
        assert!((count.at(999) / 1e-17 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn large_groups_have_total_mass_one() {
        for p in PROBABILITIES {
            for users in [400, 2142, 20_000] {
                let sum: f64 = leaders(users, p, users / 2).iter().map(|entry| entry.0).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{users} users, {p:?}: {sum}");
            }
        }
    }
}
