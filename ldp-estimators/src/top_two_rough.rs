//! The two largest of four multinomial counts, nearly: for any number of users, in the same time.

use crate::bitwise_pilot::Leaders;
use crate::top_two::Table;
use ldp_core::special::{binomial, normal};

/// Counts of the first per standard deviation.
const POINTS: f64 = 4.0;
/// A count that is so many standard deviations of the difference below another one is not the first: probability 1e-17.
const HOPELESS: f64 = 8.5;

/// About what [`top_two::leaders`](crate::top_two::leaders) says: likely leaders to a twentieth, the logarithm of the
/// probability of unlikely ones to three tenths.
///
/// The count x of the first is binomial and summed over a lattice. Given it the others share the rest; each is at most x as
/// independent normal numbers would be. An unlikely second that is before the likelier one of the others is before both:
///
/// $$P(\text{a before b before c, d}) \approx \sum_x P(C_a = x) \prod_{i \ne a} P(C_i \le x)
///   \frac{r_b}{\sum_i r_i},\qquad r_b = \min_{i \ne a, b} P(C_b \ge C_i).$$
pub(crate) fn leaders(users: u64, probabilities: [f64; 4], least: u64) -> Table {
    let mut table = [[[0.0; 2]; 4]; 4];
    let most = probabilities.into_iter().fold(0.0, f64::max);
    for first in 0..4 {
        let others: f64 = (0..4).filter(|&other| other != first).map(|other| probabilities[other]).sum();
        let own = probabilities[first];
        let (gap, sum) = (most - own, most + own);
        if gap * (users as f64).sqrt() > HOPELESS * (sum - gap * gap).sqrt() {
            continue;
        }
        let spread = (users as f64 * own * others).sqrt();
        let step = ((spread / POINTS) as u64).max(1);
        let (mean, reach) = (users as f64 * own, 9.0 * spread + 30.0);
        let low = ((mean - reach).max(0.0) as u64).div_ceil(step) * step;
        let high = users.min((mean + reach) as u64).max(low);
        for (count, weight) in binomial::Probabilities::new(users, [others, own], low, high, step) {
            let weight = weight * step as f64;
            if weight < 1e-40 {
                continue;
            }
            let seconds = given(first, count, users - count, probabilities.map(|p| p / others));
            for (second, share) in seconds.into_iter().enumerate() {
                table[first][second][usize::from(count >= least)] += weight * share;
            }
        }
    }
    let mass: f64 = table.iter().flatten().flatten().sum();
    let entry = |(first, second, passes): (usize, usize, bool)| {
        (table[first][second][usize::from(passes)] / mass, Leaders { first, second, passes })
    };
    let all = (0..32).map(|index| (index / 8, index / 2 % 4, index % 2 == 1));
    all.map(entry).filter(|&(probability, _)| probability > 0.0).collect()
}

/// The probability that `first` with `count` reports leads and each other one is second, of `rest` reports that the others share.
fn given(first: usize, count: u64, rest: u64, shares: [f64; 4]) -> [f64; 4] {
    let rest = rest as f64;
    // P(a normal number is positive); with no spread it is known.
    let positive = |mean: f64, variance: f64| match variance > 0.0 {
        true => normal::cdf(mean / variance.sqrt()),
        false => f64::from(u8::from(mean > 0.0)),
    };
    let mut lead = 1.0;
    let mut before = [0.0; 4];
    for second in (0..4).filter(|&other| other != first) {
        let share = shares[second];
        lead *= positive(count as f64 + 0.5 - rest * share, rest * share * (1.0 - share));
        before[second] = 1.0f64;
        for other in (0..4).filter(|&other| other != first && other != second) {
            let (gap, sum) = (share - shares[other], share + shares[other]);
            before[second] = before[second].min(positive(rest * gap + 0.5, rest * (sum - gap * gap)));
        }
    }
    let all: f64 = before.iter().sum();
    if all > 0.0 { before.map(|share| share / all * lead) } else { [0.0; 4] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top_two;

    /// Likely leaders to a twentieth, and unlikely ones to three tenths of their logarithm, next to a boundary and away from it.
    #[test]
    fn it_is_about_the_exact_law() {
        for epsilon in [0.5f64, 1.0, 3.0] {
            let lie = 1.0 / (epsilon.exp() + 3.0);
            for share in [0.5, 0.6, 0.75, 0.9] {
                let law = [share, 1.0 - share, 0.0, 0.0].map(|share: f64| lie + (1.0 - 4.0 * lie) * share);
                for users in [400, 1500, 6000] {
                    // What passes lies at 0.7 of the values.
                    let least = ((lie + (1.0 - 4.0 * lie) * 0.7) * users as f64) as u64;
                    let exact = top_two::leaders(users, law, least);
                    let rough = leaders(users, law, least);
                    let total: f64 = rough.iter().map(|entry| entry.0).sum();
                    assert!((total - 1.0).abs() < 1e-12);
                    for (p, who) in exact {
                        let found = rough.iter().find(|(_, other)| *other == who).map_or(0.0, |entry| entry.0);
                        let what = format!("ε = {epsilon}, {share}, {users}: {who:?} {p:e} {found:e}");
                        assert!((found - p).abs() < 0.05, "{what}");
                        assert!(p < 1e-9 || ((found / p).ln() / (1.0 - p.ln())).abs() < 0.3, "{what}");
                    }
                }
            }
        }
    }
}
