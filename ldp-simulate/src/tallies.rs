//! Tallies drawn from their exact law, without users.

use super::binomial::draw_binomial;
use super::table::CountTable;
use crate::draw::Draw;
use crate::draw::DrawTally;
use crate::seed::{Purpose, SimulationRng, StreamsOf};
use ldp_core::error::{Error, Result};
use ldp_core::mechanism::Finite;
use ldp_core::model::Cdf;
use ldp_core::staged::{Group, Population};
use ldp_core::tally::Tally;

/// Questions whose marginals are kept, by their position in the protocol: the first rounds repeat in every
/// replication, a strictly sequential protocol's later ones do not. No protocol here asks more at once.
const KEPT: usize = 128;

/// The largest group whose tally [`Tallies`] draws. A draw takes a step per 2⁴⁰ users.
pub const MOST_DRAWN: u64 = 1_000_000_000_000_000;

/// The collectors of one replication at `tally` fidelity: each tally is one multinomial draw from the question's
/// exact report probabilities.
///
/// The law is that of [`Users`](crate::Users), at a cost that hardly depends on the number of users. In the first round,
/// which is the same in every replication, the first count of a group comes from a [`CountTable`], later ones are drawn by
/// [`Binomial`](crate::Binomial).
///
/// ```
/// use ldp_simulate::Tallies;
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
    streams: StreamsOf,
    rng: SimulationRng,
    asked: usize,
    /// Whether the round that is asked is the first.
    first_round: bool,
    kept: Vec<Kept<Q>>,
}

/// What is known of a question.
struct Kept<Q> {
    question: Q,
    law: Vec<f64>,
    /// The first count of so many users.
    first: Option<(u64, CountTable)>,
}

impl<'m, M: Draw + Cdf + ?Sized, Q> Tallies<'m, M, Q> {
    /// Collectors of answers from the model at `theta`, replication 0 of `seed`.
    pub fn new(model: &'m M, theta: f64, seed: u64) -> Result<Self> {
        model.check_theta(theta)?;
        let streams = StreamsOf::new(seed, Purpose::Tally);
        Ok(Self { model, theta, streams, rng: streams.stream(0, 0), asked: 0, first_round: true, kept: Vec::new() })
    }

    /// Draws a count of the next group, whatever its law.
    #[inline]
    pub(super) fn draw(&mut self, count: impl FnOnce(&mut SimulationRng) -> u64) -> u64 {
        self.asked += 1;
        count(&mut self.rng)
    }

    /// The probabilities of a zero and a one, of a question with two reports.
    pub(super) fn binary(&self, question: &Q) -> Option<[f64; 2]>
    where
        Q: Finite,
    {
        let mut law = [0.0; 2];
        (question.reports() == 2).then(|| question.marginal(self.model, self.theta, &mut law))?;
        Some(law)
    }

    /// The collectors of another replication.
    #[inline]
    pub fn restart(&mut self, replication: u64) {
        self.rng = self.streams.stream(replication, 0);
        self.asked = 0;
        self.first_round = true;
    }

    /// The generator as the tallies so far have left it.
    pub(super) fn generator(&self) -> &SimulationRng {
        &self.rng
    }
}

impl<Q, T, M> Population<Q, T> for Tallies<'_, M, Q>
where
    Q: DrawTally<T> + PartialEq + Clone,
    T: Tally<Report = Q::Report>,
    M: Draw + Cdf + ?Sized,
{
    #[inline]
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        let question = &group.question;
        if group.users > MOST_DRAWN {
            return Err(Error::TooMany { name: "users of a drawn tally", most: MOST_DRAWN, value: group.users });
        }
        let place = self.asked.min(KEPT - 1);
        self.asked += 1;
        // More than one where groups before this one were drawn by themselves.
        while self.kept.len() <= place {
            self.kept.push(Kept { question: question.clone(), law: Vec::new(), first: None });
        }
        let kept = &mut self.kept[place];
        if kept.law.is_empty() || kept.question != *question {
            kept.question.clone_from(question);
            kept.law.clear();
            question.law(self.model, self.theta, &mut kept.law);
            kept.first = None;
        }
        // One user is one coin, and a table of that would be another one.
        if self.first_round && group.users > 1 {
            if !matches!(kept.first, Some((users, _)) if users == group.users) {
                let table = question.first_count(&kept.law).and_then(|law| CountTable::new(group.users, law));
                kept.first = table.map(|table| (group.users, table));
            }
            if let Some((_, table)) = &kept.first {
                let first = table.draw(&mut self.rng);
                return question.draw_rest(first, &kept.law, group.users, &mut self.rng, tally);
            }
        }
        question.draw_tally(&kept.law, group.users, &mut self.rng, tally)
    }

    #[inline]
    fn round(&mut self, _: &[Group<Q>]) -> Result<()> {
        self.first_round = self.asked == 0;
        Ok(())
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
        match first_share(law) {
            Some(share) => self.draw_rest(draw_binomial(users, share, rng)?, law, users, rng, tally),
            None => tally.push(0, users),
        }
    }

    #[inline]
    fn first_count(&self, law: &[f64]) -> Option<[f64; 2]> {
        match law {
            [zero, one] => Some([*zero, *one]),
            _ => first_share(law).map(|share| [1.0 - share, share]),
        }
    }

    #[inline]
    fn draw_rest(&self, first: u64, law: &[f64], users: u64, rng: &mut SimulationRng, tally: &mut T) -> Result<()> {
        // Binary questions, the bulk of the work, need no sums.
        if law.len() == 2 {
            tally.push(1, first)?;
            return tally.push(0, users - first);
        }
        draw_multinomial(first, users, law, rng, tally)
    }
}

/// The probability of the report that is counted first: of two the second, of more the first; `None` where there is but one.
#[inline]
pub(super) fn first_share(law: &[f64]) -> Option<f64> {
    match law {
        [] | [_] => None,
        [zero, one] => Some(one / (zero + one)),
        [first, ..] => Some((first / law.iter().sum::<f64>()).clamp(0.0, 1.0)),
    }
}

/// What is left of a multinomial draw after its first count, as conditional binomials.
fn draw_multinomial<T: Tally<Report = u32>>(
    first: u64,
    users: u64,
    marginal: &[f64],
    rng: &mut SimulationRng,
    tally: &mut T,
) -> Result<()> {
    let mut rest: f64 = marginal.iter().sum();
    let mut left = users;
    for (report, &p) in (0u32..).zip(marginal) {
        let count = match report {
            0 => first,
            _ if left == 0 => 0,
            _ if report as usize + 1 == marginal.len() => left,
            // What is left of one after subtractions may be off by rounding, never so far as to leave [0, 1].
            _ => draw_binomial(left, (p / rest).clamp(0.0, 1.0), rng)?,
        };
        tally.push(report, count)?;
        left -= count;
        rest -= p;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::stream;
    use ldp_core::model::Gaussian;
    use ldp_core::tally::{Bits, Counts};
    use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};

    #[test]
    fn impossible_and_certain_reports() {
        let mut rng = stream(4, Purpose::Tally, 0, 0);
        let mut tally = Counts::new(4);
        draw_multinomial(0, 1000, &[0.0, 0.5, 0.0, 0.5], &mut rng, &mut tally).unwrap();
        assert_eq!((tally.counts()[0], tally.counts()[2], tally.users()), (0, 0, 1000));
        let mut tally = Counts::new(3);
        draw_multinomial(0, 1000, &[0.0, 1.0, 0.0], &mut rng, &mut tally).unwrap();
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
