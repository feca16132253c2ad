//! How many users a bitwise pilot needs before it rarely ends far off, proved without summing its law.

use crate::bitwise_pilot::BitwisePilot;

/// What may fail more often than this is told.
const RARE: f64 = 0.01;

impl BitwisePilot {
    /// A bound on the probability that the pilot of `group` users per scale ends far from the mean: farther off than the
    /// scales of a few σ are wide.
    ///
    /// On a coarse scale values lie in two neighbouring cells, and the pilot goes on into one of them or ends at their
    /// boundary, next to the mean, unless it takes one of the two empty residues, r, for one of theirs. Then neither of
    /// their counts reaches the number c that passes, and r has at least as many as the smaller of them: so
    /// $C_1 + C_2 - C_r \le c$. The law of that number is the same wherever the values are: each user adds 1 with
    /// probability $(E+1)\lambda$, −1 with λ and 0 with λ, $\lambda = 1/(E+3)$. By Chernoff, for two residues and all
    /// L scales but the finest, whose cells are σ at most,
    ///
    /// $$P \le 2(L-1) \min_{y > 1} \Big(y^{c/k}\,\lambda\big(\tfrac{E+1}{y} + y + 1\big)\Big)^k.$$
    ///
    /// It counts twice that: an empty residue that passes is rarer still.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_core::model::Gaussian;
    /// use ldp_estimators::{BitwisePilot, Share};
    /// let pilot = BitwisePilot::new(Epsilon::new(1.0)?, [0.0, 128.0], 1.0, Share::HALF)?;
    /// let exact = pilot.law(1500, &Gaussian::new(1.0)?, 65.0)?.failure(65.0, 16.0);
    /// assert!(exact < pilot.failure_bound(1500) && pilot.failure_bound(1500) < 0.1);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn failure_bound(&self, group: u64) -> f64 {
        let (users, odds) = (group as f64, self.epsilon().value().exp_m1());
        // The share of values with which a scale passes, and of reports.
        let share = 0.52 + self.psi(group) / users;
        if group == 0 || share >= 1.0 {
            return f64::from((self.scales() - 1).min(1));
        }
        let lie = (odds + 4.0).recip();
        let reports = lie * (1.0 + odds * share);
        // y − 1 where the derivative is zero, from its own quadratic equation: at small ε y itself has no digits left.
        let (a, b, c) = (1.0 + reports, 2.0 + 3.0 * reports, odds * (1.0 - share));
        let more = 2.0 * c / (b + (b * b + 4.0 * a * c).sqrt());
        let rate = reports * more.ln_1p() + (lie * more * (1.0 - (odds + 2.0) / (1.0 + more))).ln_1p();
        (4.0 * f64::from(self.scales() - 1) * (users * rate).exp()).min(1.0)
    }

    /// The fewest users per scale that rarely fail, by doubling and then by halves.
    pub(crate) fn find_enough(&self) -> u64 {
        let mut fails = self.fewest_per_scale() - 1;
        let mut holds = self.fewest_per_scale();
        while self.failure_bound(holds) > RARE && holds < u64::MAX {
            (fails, holds) = (holds, holds.saturating_mul(2));
        }
        while holds - fails > 1 {
            let middle = fails + (holds - fails) / 2;
            if self.failure_bound(middle) > RARE { fails = middle } else { holds = middle }
        }
        holds
    }
}
