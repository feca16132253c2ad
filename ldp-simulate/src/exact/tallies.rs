//! All tallies of a round of several groups or reports, as conditional binomials.

use ldp_core::error::Result;
use ldp_core::special::binomial::{Law, Probabilities, Window};
use ldp_core::staged::Round;
use ldp_core::tally::Tally;

/// One report of one group, given the reports before it: the rest of the group says it with probability `share`.
#[derive(Clone, Copy)]
struct Slot {
    group: usize,
    report: u32,
    share: [f64; 2],
    /// The last report of a group takes who is left.
    last: bool,
    /// Whether the group begins here.
    users: Option<u64>,
}

/// The tallies of a round, one after the other.
pub(super) struct Enumerated {
    slots: Vec<Slot>,
    tail: f64,
}

impl Enumerated {
    /// At most `tail` of the probability is left out.
    pub fn new<Q>(round: &Round<Q>, laws: &[Vec<f64>], tail: f64) -> Self {
        let slots = slots(round, laws);
        let tail = tail / (2 * slots.len()) as f64;
        Self { slots, tail }
    }

    /// Shows every tally with its probability to `visit`; returns a bound on what was left out.
    pub fn each<T: Tally<Report = u32> + Clone>(
        &self,
        empty: Vec<T>,
        visit: &mut dyn FnMut(f64, &[T]) -> Result<()>,
    ) -> Result<f64> {
        self.from(0, 0, 1.0, empty, visit)
    }

    fn from<T: Tally<Report = u32> + Clone>(
        &self,
        place: usize,
        left: u64,
        weight: f64,
        tallies: Vec<T>,
        visit: &mut dyn FnMut(f64, &[T]) -> Result<()>,
    ) -> Result<f64> {
        let Some(&Slot { group, report, share, last, users }) = self.slots.get(place) else {
            return visit(weight, &tallies).map(|()| 0.0);
        };
        let left = users.unwrap_or(left);
        let mut with = |count: u64, probability: f64| {
            let mut tallies = tallies.clone();
            tallies[group].push(report, count)?;
            self.from(place + 1, left - count, weight * probability, tallies, visit)
        };
        if last {
            return with(left, 1.0);
        }
        let law = Law::new(left, share[0], share[1]);
        let window = Window::of(&law, self.tail);
        let mut lost = weight * window.lost;
        for (count, probability) in Probabilities::of(law, window.first, window.last, 1) {
            lost += with(count, probability)?;
        }
        Ok(lost)
    }
}

fn slots<Q>(round: &Round<Q>, laws: &[Vec<f64>]) -> Vec<Slot> {
    let mut slots = Vec::new();
    for (group, (asked, law)) in round.groups().iter().zip(laws).enumerate() {
        for (report, &p) in law.iter().enumerate() {
            // What comes after, added up from its small end: one minus the sum so far would have lost its digits.
            let after: f64 = law[report + 1..].iter().rev().sum();
            let last = report + 1 == law.len();
            let users = (report == 0).then_some(asked.users);
            let share = if p + after > 0.0 { [after / (p + after), p / (p + after)] } else { [1.0, 0.0] };
            slots.push(Slot { group, report: report as u32, share, last, users });
        }
    }
    slots
}

/// About how many tallies there are that matter: the product of the windows, each at the mean of what is left.
pub(super) fn size<Q>(round: &Round<Q>, laws: &[Vec<f64>], tail: f64) -> f64 {
    let slots = slots(round, laws);
    let tail = tail / (2 * slots.len()) as f64;
    let mut left = 0.0;
    let mut size = 1.0;
    for Slot { share, last, users, .. } in slots {
        left = users.map_or(left, |users| users as f64);
        if !last {
            size *= Window::new(left as u64, share, tail).counts() as f64;
            left *= share[0];
        }
    }
    size
}

/// The tally with the mean counts, rounded.
pub(super) fn likely<T: Tally<Report = u32>>(users: u64, law: &[f64], mut tally: T) -> Result<T> {
    let mut left = users;
    for (report, &p) in law.iter().enumerate() {
        let last = report + 1 == law.len();
        let count = if last { left } else { ((users as f64 * p) as u64).min(left) };
        tally.push(report as u32, count)?;
        left -= count;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::staged::Group;
    use ldp_core::tally::Counts;

    #[test]
    fn all_tallies_of_two_groups_are_there_with_their_probabilities() {
        let round = Round::Many(vec![Group { question: (), users: 4 }, Group { question: (), users: 3 }]);
        let laws = vec![vec![0.2, 0.5, 0.3], vec![0.0, 0.75, 0.25]];
        let mut seen = Vec::new();
        let lost = Enumerated::new(&round, &laws, 1e-30)
            .each(vec![Counts::new(3), Counts::new(3)], &mut |p, tallies| {
                seen.push((p, tallies[0].counts().to_vec(), tallies[1].counts().to_vec()));
                Ok(())
            })
            .unwrap();
        assert_eq!(lost, 0.0);
        // Fifteen ways to split four users into three, four to split three into two; the impossible report never comes.
        assert_eq!(seen.len(), 15 * 4);
        assert!((seen.iter().map(|(p, ..)| p).sum::<f64>() - 1.0).abs() < 1e-14);
        let factorial = |n: u64| (1..=n).product::<u64>() as f64;
        for (p, a, b) in &seen {
            let multinomial = |law: &[f64], counts: &[u64]| {
                let ways = factorial(counts.iter().sum()) / counts.iter().map(|&c| factorial(c)).product::<f64>();
                ways * law.iter().zip(counts).map(|(p, &c)| p.powi(c as i32)).product::<f64>()
            };
            assert!((p / (multinomial(&laws[0], a) * multinomial(&laws[1], b)) - 1.0).abs() < 1e-13, "{a:?} {b:?}");
        }
        // Four users, then the three who are left on average; three users for the only two reports that can come.
        assert_eq!(size(&round, &laws, 1e-30), 5.0 * 4.0 * 4.0);
        assert_eq!(likely(10, &laws[0], Counts::new(3)).unwrap().counts(), [2, 5, 3]);
    }

    #[test]
    fn what_is_cut_is_at_most_the_tail() {
        let round = Round::one((), 300);
        let laws = vec![vec![0.1, 0.6, 0.3]];
        let mut mass = 0.0;
        let mut visit = |p: f64, _: &[Counts]| {
            mass += p;
            Ok(())
        };
        let lost = Enumerated::new(&round, &laws, 1e-6).each(vec![Counts::new(3)], &mut visit).unwrap();
        assert!(lost <= 1e-6 && 1.0 - mass <= lost && mass < 1.0 - 1e-12, "{lost} {mass}");
    }
}
