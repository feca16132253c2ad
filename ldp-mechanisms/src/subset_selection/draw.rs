//! Drawn tallies of subset selection.

use super::SubsetSelection;
use crate::category_set::{SetCounts, cell_masses, share};
use ldp_core::{Cdf, Result};
use ldp_simulate::seed::SimulationRng;
use ldp_simulate::{DrawTally, draw_binomial};

/// Categories are gone through in order, users kept by what is still to happen to them: whether their own category is
/// yet to come, and how many of the others left they will pick. $O(dk)$ binomial draws, whatever the number of users.
impl DrawTally<SetCounts> for SubsetSelection {
    fn law<M: Cdf + ?Sized>(&self, model: &M, theta: f64, law: &mut Vec<f64>) {
        cell_masses(self.categories, model, theta, law);
    }

    fn draw_tally(&self, law: &[f64], users: u64, rng: &mut SimulationRng, tally: &mut SetCounts) -> Result<()> {
        // By the number of others still to pick. Truthful: the own category, yet to come, will be in the set.
        let places = self.size as usize + 1;
        let [mut truthful, mut lying, mut passed] = [(); 3].map(|()| vec![0u64; places]);
        truthful[places - 2] = draw_binomial(users, self.true_share(), rng)?;
        lying[places - 1] = users - truthful[places - 2];
        let mut counts = vec![0; law.len()];
        let mut rest: f64 = law.iter().sum();
        for (v, (&mass, count)) in law.iter().zip(&mut counts).enumerate() {
            let own = share(mass, rest, v + 1 == law.len());
            rest -= mass;
            // Others not yet gone through, this one among them: d − v for those whose own category has gone by, one less
            // for those whose own is yet to come.
            let ahead = law.len() - 1 - v;
            *count += pick(&mut passed, ahead + 1, rng)?;
            for (group, in_set) in [(&mut truthful, true), (&mut lying, false)] {
                for (waiting, arrived) in group.iter_mut().zip(&mut passed) {
                    let owners = draw_binomial(*waiting, own, rng)?;
                    *waiting -= owners;
                    *arrived += owners;
                    *count += if in_set { owners } else { 0 };
                }
                *count += pick(group, ahead, rng)?;
            }
        }
        tally.add(&counts, users)
    }
}

/// How many pick the next of `others` categories, each with the probability of what is left to pick; those have one
/// less to pick from then on.
fn pick(group: &mut [u64], others: usize, rng: &mut SimulationRng) -> Result<u64> {
    let mut picked = 0;
    for left in 1..group.len() {
        // Nobody has more to pick than there is; the minimum keeps that a probability where a group is empty.
        let share = left.min(others) as f64 / others.max(1) as f64;
        let now = draw_binomial(group[left], share, rng)?;
        group[left] -= now;
        group[left - 1] += now;
        picked += now;
    }
    Ok(picked)
}
