//! Tallies drawn from their exact law, without users.

use super::binomial::draw_binomial;
use crate::error::{Error, Result};
use crate::mechanism::{DrawTally, Finite};
use crate::model::{Cdf, Draw};
use crate::seed::{Purpose, SimulationRng, stream};
use crate::staged::{Group, Population};
use crate::tally::Tally;

/// Questions whose marginals are kept, by their position in the protocol: the first rounds repeat in every
/// replication, a strictly sequential protocol's later ones do not.
const KEPT: usize = 32;

/// The largest group whose tally [`Tallies`] draws. A draw takes a step per 2⁴⁰ users.
pub const MOST_DRAWN: u64 = 1_000_000_000_000_000;

/// The collectors of one replication at `tally` fidelity: each tally is one multinomial draw from the question's
/// exact report probabilities.
///
/// The law is that of [`Users`](crate::drive::Users), at a cost that hardly depends on the number of users.
///
/// ```
/// use ldp_core::drive::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Group, Kernel, Partition, Population, Tally};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let group = Group { question: FiniteChannel::new(Partition::Threshold(0.0), kernel)?, users: 1_000_000 };
/// let model = Gaussian::new(1.0)?;
/// let mut tally = Bits::default();
/// Tallies::new(&model, 0.0, 7)?.answer(&group, &mut tally)?;
/// assert_eq!(tally.users(), 1_000_000);
/// assert!(tally.ones().abs_diff(500_000) < 3000);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Tallies<'m, M: ?Sized, Q> {
    model: &'m M,
    theta: f64,
    seed: u64,
    rng: SimulationRng,
    asked: usize,
    kept: Vec<(Q, Vec<f64>)>,
}

impl<'m, M: Draw + Cdf + ?Sized, Q> Tallies<'m, M, Q> {
    /// Collectors of answers from the model at `theta`, replication 0 of `seed`.
    pub fn new(model: &'m M, theta: f64, seed: u64) -> Result<Self> {
        model.check_theta(theta)?;
        Ok(Self { model, theta, seed, rng: stream(seed, Purpose::Tally, 0, 0), asked: 0, kept: Vec::new() })
    }

    /// The collectors of another replication.
    pub fn restart(&mut self, replication: u64) {
        self.rng = stream(self.seed, Purpose::Tally, replication, 0);
        self.asked = 0;
    }
}

impl<Q, T, M> Population<Q, T> for Tallies<'_, M, Q>
where
    Q: DrawTally<T> + PartialEq + Clone,
    T: Tally<Report = Q::Report>,
    M: Draw + Cdf + ?Sized,
{
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        let question = &group.question;
        if group.users > MOST_DRAWN {
            return Err(Error::TooMany { name: "users of a drawn tally", most: MOST_DRAWN, value: group.users });
        }
        let place = self.asked.min(KEPT - 1);
        self.asked += 1;
        if self.kept.len() <= place {
            self.kept.push((question.clone(), Vec::new()));
        }
        let (asked_before, law) = &mut self.kept[place];
        if law.is_empty() || asked_before != question {
            asked_before.clone_from(question);
            law.clear();
            question.law(self.model, self.theta, law);
        }
        question.draw_tally(law, group.users, &mut self.rng, tally)
    }
}

/// The counts of a finite question are multinomial.
impl<Q: Finite, T: Tally<Report = u32>> DrawTally<T> for Q {
    #[inline]
    fn law<M: Cdf + ?Sized>(&self, model: &M, theta: f64, law: &mut Vec<f64>) {
        law.resize(self.reports() as usize, 0.0);
        self.marginal(model, theta, law);
    }

    #[inline]
    fn draw_tally(&self, law: &[f64], users: u64, rng: &mut SimulationRng, tally: &mut T) -> Result<()> {
        draw_multinomial(users, law, rng, tally)
    }
}

/// One multinomial draw, as conditional binomials.
pub(super) fn draw_multinomial<T: Tally<Report = u32>>(
    users: u64,
    marginal: &[f64],
    rng: &mut SimulationRng,
    tally: &mut T,
) -> Result<()> {
    // Binary questions, the bulk of the work, need no sums.
    if let &[zero, one] = marginal {
        let ones = draw_binomial(users, one / (zero + one), rng)?;
        tally.push(1, ones)?;
        return tally.push(0, users - ones);
    }
    let mut rest: f64 = marginal.iter().sum();
    let mut left = users;
    for (report, &p) in (0u32..).zip(marginal) {
        let last = report as usize + 1 == marginal.len();
        // What is left of one after subtractions may be off by rounding, never so far as to leave [0, 1].
        let share = if last { 1.0 } else { (p / rest).clamp(0.0, 1.0) };
        let count = if left == 0 { 0 } else { draw_binomial(left, share, rng)? };
        tally.push(report, count)?;
        left -= count;
        rest -= p;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Gaussian;
    use crate::tally::{Bits, Counts};
    use crate::{Epsilon, FiniteChannel, Kernel, Partition};

    #[test]
    fn impossible_and_certain_reports() {
        let mut rng = stream(4, Purpose::Tally, 0, 0);
        let mut tally = Counts::new(4);
        draw_multinomial(1000, &[0.0, 0.5, 0.0, 0.5], &mut rng, &mut tally).unwrap();
        assert_eq!((tally.counts()[0], tally.counts()[2], tally.users()), (0, 0, 1000));
        let mut tally = Counts::new(3);
        draw_multinomial(1000, &[0.0, 1.0, 0.0], &mut rng, &mut tally).unwrap();
        assert_eq!(tally.counts(), [0, 1000, 0]);
    }

    #[test]
    fn kept_marginals_are_those_of_the_question_asked() {
        // At ε = 44 reports are the truth: a threshold far below all values gives ones, far above zeros. Asked in
        // turn at the same place, a marginal kept from the question before would show at once.
        let kernel = Kernel::response(Epsilon::new(44.0).unwrap(), 2).unwrap();
        let question = |cut| FiniteChannel::new(Partition::Threshold(cut), kernel.clone()).unwrap();
        let model = Gaussian::new(1.0).unwrap();
        let mut tallies = Tallies::new(&model, 0.0, 5).unwrap();
        for (replication, cut) in (0..).zip([-30.0, 30.0, 30.0, -30.0, 30.0]) {
            tallies.restart(replication);
            // More questions than are kept, the same in every replication but for the sign.
            for _ in 0..2 * KEPT {
                let mut tally = Bits::default();
                tallies.answer(&Group { question: question(cut), users: 100 }, &mut tally).unwrap();
                assert_eq!((tally.ones(), tally.users()), (if cut < 0.0 { 100 } else { 0 }, 100));
            }
        }
        let group = |users| Group { question: question(0.0), users };
        let refused = tallies.answer(&group(MOST_DRAWN + 1), &mut Bits::default());
        assert!(matches!(refused, Err(Error::TooMany { most: MOST_DRAWN, .. })));
        assert!(tallies.answer(&group(MOST_DRAWN), &mut Bits::default()).is_ok());
    }
}
