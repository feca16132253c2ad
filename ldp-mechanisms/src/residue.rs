//! Which residue of the line a value lies in, through randomised response.

use ldp_core::{AsChannel, Epsilon, Error, FiniteChannel, Kernel, Partition, Rescale, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Residue response: $\lfloor (x - origin)/width \rfloor \bmod m$ through m-ary randomised response.
///
/// $$q(z \mid x) = \frac{e^\varepsilon}{e^\varepsilon+m-1}\ \text{if z is the residue of x},\qquad
/// \frac{1}{e^\varepsilon+m-1}\ \text{else.}$$
///
/// - ε: from the integer weights, never above the claim.
/// - Report size: ⌈log₂ m⌉ bits.
/// - Variance of a [debiased](Self::debias) count over k independent users who report residue a with probability p:
///   $k p(1-p) \big(\frac{e^\varepsilon+m-1}{e^\varepsilon-1}\big)^2$.
/// - Sampling: exact, by integer weights. One random word per report.
///
/// With m = 4 and widths $2^j$ it is a question of the pilot of [JKMW19], which finds a mean digit by digit.
///
/// ```
/// use ldp_core::{Epsilon, Finite, Mechanism};
/// use ldp_mechanisms::Residue;
/// let residue = Residue::new(Epsilon::new(1.0)?, 0.0, 2.0, 4)?;
/// assert_eq!((residue.reports(), residue.width()), (4, 2.0));
/// assert!(residue.epsilon().value() <= 1.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FiniteChannel", into = "FiniteChannel")]
pub struct Residue {
    // Shared, so that a question of a protocol that also asks others is small to move and cheap to ask again.
    channel: Arc<FiniteChannel>,
}

impl TryFrom<FiniteChannel> for Residue {
    type Error = Error;
    fn try_from(channel: FiniteChannel) -> Result<Self> {
        match (channel.partition(), channel.kernel()) {
            (Partition::Periodic { cells, .. }, Kernel::Response { reports, .. }) if cells == reports => {
                Ok(Self { channel: Arc::new(channel) })
            }
            _ => Err(Error::Unsupported { what: "a residue response", needs: "m periodic cells and m reports" }),
        }
    }
}

impl From<Residue> for FiniteChannel {
    fn from(residue: Residue) -> Self {
        Arc::unwrap_or_clone(residue.channel)
    }
}

impl Residue {
    /// Response over `cells` ≥ 2 residues of intervals of this `width`, a residue 0 beginning at `origin`.
    pub fn new(epsilon: Epsilon, origin: f64, width: f64, cells: u32) -> Result<Self> {
        let kernel = Kernel::response(epsilon, cells)?;
        let channel = FiniteChannel::new(Partition::Periodic { origin, width, cells }, kernel)?;
        Ok(Self { channel: Arc::new(channel) })
    }

    /// Where a residue 0 begins.
    #[must_use]
    pub fn origin(&self) -> f64 {
        self.parts().0
    }

    /// The length of an interval.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.parts().1
    }

    /// The number of residues m.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.channel.cells()
    }

    /// Unbiased counts of the residues themselves, from the counts $C(a)$ of the reports of k users.
    ///
    /// With λ the probability of each lie, $E[C(a)] = (1 - m\lambda) H(a) + k\lambda$: every user reports a with
    /// probability λ, and those in residue a with truth minus lie, $1 - m\lambda$, more. Hence
    ///
    /// $$\hat H(a) = \frac{C(a) - k\lambda}{1 - m\lambda} = C(a) + \frac{m C(a) - k}{e^\varepsilon - 1}.$$
    ///
    /// For m = 4 it is $\frac{e^\varepsilon+3}{e^\varepsilon-1}\big(C(a) - \frac{k}{e^\varepsilon+3}\big)$, as in
    /// [JKMW19]. The estimates add up to k; single ones can be negative. Another number of counts is [`Error::Length`].
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_mechanisms::Residue;
    /// let residue = Residue::new(Epsilon::new(3f64.ln())?, 0.0, 1.0, 4)?;
    /// // E = 3, so that 3/6 of those in a residue say so, and 1/6 of the others.
    /// let counts = residue.debias(&[300, 100, 100, 100])?;
    /// assert!((counts[0] - 600.0).abs() < 1e-9 && counts[1].abs() < 1e-9);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    ///
    /// [JKMW19]: https://arxiv.org/abs/1811.08382
    pub fn debias(&self, counts: &[u64]) -> Result<Vec<f64>> {
        let mut debiased = vec![0.0; counts.len()];
        self.debias_into(counts, &mut debiased)?;
        Ok(debiased)
    }

    /// [`debias`](Self::debias) into `out`, which has a place for every count.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_mechanisms::Residue;
    /// let residue = Residue::new(Epsilon::new(3f64.ln())?, 0.0, 1.0, 4)?;
    /// let mut debiased = [0.0; 4];
    /// residue.debias_into(&[300, 100, 100, 100], &mut debiased)?;
    /// assert_eq!(debiased.to_vec(), residue.debias(&[300, 100, 100, 100])?);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn debias_into(&self, counts: &[u64], out: &mut [f64]) -> Result<()> {
        let cells = self.cells();
        for found in [counts.len(), out.len()] {
            if found != cells as usize {
                return Err(Error::Length { what: "counts of residues", expected: cells as usize, found });
            }
        }
        let (truth, lie) = (self.channel.weight(0, 0), self.channel.weight(0, 1));
        // 1/(e^ε − 1) and the excess m C − k from integers: at ε = 1e-6 differences of floats have lost six digits.
        let factor = lie as f64 / (truth - lie) as f64;
        let users: i128 = counts.iter().map(|&count| i128::from(count)).sum();
        let excess = |count: u64| to_f64(i128::from(cells) * i128::from(count) - users);
        out.iter_mut().zip(counts).for_each(|(out, &count)| *out = count as f64 + factor * excess(count));
        Ok(())
    }

    fn parts(&self) -> (f64, f64) {
        match self.channel.partition() {
            Partition::Periodic { origin, width, .. } => (*origin, *width),
            Partition::Threshold(_) | Partition::Cuts(_) => unreachable!("checked on construction"),
        }
    }
}

/// The nearest number; of 128 bits that is a call, of 64 an instruction.
#[inline]
fn to_f64(whole: i128) -> f64 {
    i64::try_from(whole).map_or_else(|_| whole as f64, |whole| whole as f64)
}

impl AsChannel for Residue {
    fn as_channel(&self) -> &FiniteChannel {
        &self.channel
    }
}

impl Rescale for Residue {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { channel: Arc::new(FiniteChannel::from(self).rescale(factor)?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::Density;

    fn residue(level: f64, cells: u32) -> Residue {
        Residue::new(Epsilon::new(level).unwrap(), 0.0, 1.0, cells).unwrap()
    }

    /// The mean of `estimate` over all answers of these users, each answer weighed by its probability.
    fn mean(residue: &Residue, users: &[f64], estimate: impl Fn(&[u64]) -> Vec<f64>) -> Vec<f64> {
        let cells = residue.cells() as usize;
        let mut mean = vec![0.0; cells];
        for answers in 0..cells.pow(users.len() as u32) {
            let (mut left, mut counts, mut probability) = (answers, vec![0; cells], 1.0);
            for user in users {
                probability *= residue.ln_density(&((left % cells) as u32), user).exp();
                counts[left % cells] += 1;
                left /= cells;
            }
            for (sum, value) in mean.iter_mut().zip(estimate(&counts)) {
                *sum += probability * value;
            }
        }
        mean
    }

    #[test]
    fn debiased_counts_have_the_mean_of_the_counts_by_enumeration() {
        for (level, cells) in [(0.2, 4), (1.0, 2), (1.0, 3), (4.0, 5), (1e-3, 4)] {
            let residue = residue(level, cells);
            let users = [0.5f64, 1.5, 1.2, 7.9, -0.1];
            let mut truth = vec![0.0; cells as usize];
            for user in users {
                truth[(user.floor() as i64).rem_euclid(i64::from(cells)) as usize] += 1.0;
            }
            let close = |found: &[f64]| truth.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-13 / level.min(1.0));
            let found = mean(&residue, &users, |counts| residue.debias(counts).unwrap());
            assert!(close(&found), "ε = {level}, m = {cells}: {found:?} for {truth:?}");
            // Raw counts are biased, and so is the formula for one residue more.
            assert!(!close(&mean(&residue, &users, |counts| counts.iter().map(|&c| c as f64).collect())));
            let e = level.exp();
            let other = |&c: &u64| c as f64 + (f64::from(cells + 1) * c as f64 - 5.0) / (e - 1.0);
            assert!(!close(&mean(&residue, &users, |counts| counts.iter().map(other).collect())));
        }
    }

    #[test]
    fn four_cells_have_the_closed_form() {
        let counts = [120u64, 340, 95, 1045];
        for level in [0.2f64, 1.0, 4.0] {
            let (e, k) = (level.exp(), 1600.0);
            for (found, count) in residue(level, 4).debias(&counts).unwrap().into_iter().zip(counts) {
                let expected = (e + 3.0) / (e - 1.0) * (count as f64 - k / (e + 3.0));
                assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
            }
        }
        let sum: f64 = residue(1e-6, 4).debias(&counts).unwrap().iter().sum();
        assert!((sum - 1600.0).abs() < 1e-6);
    }

    #[test]
    fn other_questions_and_other_counts_are_refused() {
        let good = residue(1.0, 4);
        let json = serde_json::to_string(&good).unwrap();
        for (from, to) in [
            (r#""reports":4"#, r#""reports":5"#),
            (r#""width":1.0"#, r#""width":0.0"#),
            (r#"{"periodic":{"origin":0.0,"width":1.0,"cells":4}}"#, r#"{"threshold":0.5}"#),
        ] {
            assert!(json.contains(from), "{json}");
            assert!(serde_json::from_str::<Residue>(&json.replace(from, to)).is_err(), "{to}");
        }
        assert!(matches!(good.debias(&[1, 2, 3]), Err(Error::Length { expected: 4, found: 3, .. })));
        let one = Epsilon::new(1.0).unwrap();
        assert!(matches!(Residue::new(one, 0.0, -1.0, 4), Err(Error::Parameter { .. })));
        assert!(matches!(Residue::new(one, 0.0, 1.0, 1), Err(Error::TooFew { .. })));
        assert_eq!((good.origin(), good.width(), good.cells()), (0.0, 1.0, 4));
    }
}
