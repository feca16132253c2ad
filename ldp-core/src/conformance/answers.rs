//! Answers at the edges: nobody, everybody alike, one who differs.

use super::thinned;
use crate::error::Result;
use crate::mechanism::Finite;
use crate::staged::{Group, StagedEstimator};
use crate::tally::Tally;

/// How the users of every group of a round answer. A report stands for itself modulo the reports of the question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answers {
    /// Nobody answers.
    Nobody,
    /// Everybody gives this report.
    All(u32),
    /// Everybody but one user, who gives the next report.
    AllButOne(u32),
    /// One user gives this report, and nobody else answers.
    One(u32),
    /// Every report equally often, as far as that goes.
    Mixed,
    /// All groups but the first one answer mixed, the first not at all.
    FirstEmpty,
}

/// The answers tried on questions with this many reports.
pub(super) fn all(reports: u32) -> Vec<Answers> {
    let some = thinned(&(0..reports).collect::<Vec<_>>(), 4);
    let mut answers = vec![Answers::Mixed, Answers::Nobody, Answers::FirstEmpty];
    for report in some {
        answers.extend([Answers::All(report), Answers::AllButOne(report), Answers::One(report)]);
    }
    answers
}

/// The tallies of a round answered this way.
pub(super) fn tallies<E>(estimator: &E, groups: &[Group<E::Question>], answers: Answers) -> Result<Vec<E::Tally>>
where
    E: StagedEstimator<Question: Finite> + ?Sized,
    E::Tally: Tally<Report = u32>,
{
    (0..)
        .zip(groups)
        .map(|(place, group)| {
            let mut tally = estimator.tally(&group.question);
            let (users, reports) = (group.users, group.question.reports());
            match answers {
                Answers::Nobody => {}
                Answers::FirstEmpty if place == 0 => {}
                Answers::All(report) => tally.push(report % reports, users)?,
                Answers::AllButOne(report) => {
                    tally.push(report % reports, users.saturating_sub(1))?;
                    tally.push((report + 1) % reports, users.min(1))?;
                }
                Answers::One(report) => tally.push(report % reports, users.min(1))?,
                Answers::Mixed | Answers::FirstEmpty => {
                    let share = users / u64::from(reports);
                    for report in 0..reports {
                        tally.push(report, share)?;
                    }
                    tally.push(0, users - share * u64::from(reports))?;
                }
            }
            Ok(tally)
        })
        .collect()
}
