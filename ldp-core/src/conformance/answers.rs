//! Answers at the edges: nobody, everybody alike, one who differs.

use super::thinned;
use crate::error::{Error, Result};
use crate::mechanism::Mechanism;
use crate::staged::{Group, StagedEstimator};
use crate::tally::Tally;

/// A few possible reports of a question, extremes included.
pub(super) type Examples<'a, E> = &'a dyn Fn(&<E as StagedEstimator>::Question) -> Vec<ReportOf<E>>;

/// What the users of a protocol send.
pub(super) type ReportOf<E> = <<E as StagedEstimator>::Question as Mechanism>::Report;

/// How the users of every group of a round answer. A number is the place of a report among the examples of the
/// question, modulo how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answers {
    /// Nobody answers.
    Nobody,
    /// Everybody gives this report.
    All(usize),
    /// Everybody but one user, who gives the next report.
    AllButOne(usize),
    /// One user gives this report, and nobody else answers.
    One(usize),
    /// Every report equally often, as far as that goes.
    Mixed,
    /// All groups but the first one answer mixed, the first not at all.
    FirstEmpty,
}

/// The answers tried on questions with this many examples.
pub(super) fn all(examples: usize) -> Vec<Answers> {
    let some = thinned(&(0..examples).collect::<Vec<_>>(), 4);
    let mut answers = vec![Answers::Mixed, Answers::Nobody, Answers::FirstEmpty];
    for place in some {
        answers.extend([Answers::All(place), Answers::AllButOne(place), Answers::One(place)]);
    }
    answers
}

/// The tallies of a round answered this way.
pub(super) fn tallies<E>(
    estimator: &E,
    groups: &[Group<E::Question>],
    examples: Examples<'_, E>,
    answers: Answers,
) -> Result<Vec<E::Tally>>
where
    E: StagedEstimator + ?Sized,
    ReportOf<E>: Clone,
{
    (0..)
        .zip(groups)
        .map(|(group_number, group)| {
            let mut tally = estimator.tally(&group.question);
            let (users, reports) = (group.users, examples(&group.question));
            if reports.is_empty() {
                return Err(Error::TooFew { name: "examples of reports", least: 1, value: 0 });
            }
            let mut push = |place: usize, times| tally.push(reports[place % reports.len()].clone(), times);
            match answers {
                Answers::Nobody => {}
                Answers::FirstEmpty if group_number == 0 => {}
                Answers::All(place) => push(place, users)?,
                Answers::AllButOne(place) => {
                    push(place, users.saturating_sub(1))?;
                    push(place + 1, users.min(1))?;
                }
                Answers::One(place) => push(place, users.min(1))?,
                Answers::Mixed | Answers::FirstEmpty => {
                    let share = users / reports.len() as u64;
                    (0..reports.len()).try_for_each(|place| push(place, share))?;
                    push(0, users - share * reports.len() as u64)?;
                }
            }
            Ok(tally)
        })
        .collect()
}
