//! Drawn tallies of unary encoding.

use super::UnaryEncoding;
use crate::category_set::{SetCounts, cell_masses, share};
use ldp_core::{Cdf, Result};
use ldp_simulate::seed::SimulationRng;
use ldp_simulate::{DrawTally, draw_binomial};

/// Given how many users hold each category, the counts are independent sums of two binomials.
impl DrawTally<SetCounts> for UnaryEncoding {
    fn law<M: Cdf + ?Sized>(&self, model: &M, theta: f64, law: &mut Vec<f64>) {
        cell_masses(self.categories, model, theta, law);
    }

    fn draw_tally(&self, law: &[f64], users: u64, rng: &mut SimulationRng, tally: &mut SetCounts) -> Result<()> {
        let mut rest: f64 = law.iter().sum();
        let mut left = users;
        let mut counts = Vec::with_capacity(law.len());
        for (v, &mass) in law.iter().enumerate() {
            let holders = draw_binomial(left, share(mass, rest, v + 1 == law.len()), rng)?;
            let true_bits = draw_binomial(holders, 0.5, rng)?;
            counts.push(true_bits + draw_binomial(users - holders, self.false_share(), rng)?);
            left -= holders;
            rest -= mass;
        }
        tally.add(&counts, users)
    }
}
