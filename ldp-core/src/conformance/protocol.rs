//! Protocols at the edges, and replayed.

use super::answers::{self, Answers, Examples, ReportOf};
use super::{Violation, ensure, expect};
use crate::error::{Error, Result};
use crate::inference::{Inference, IntervalKind};
use crate::mechanism::Finite;
use crate::staged::{Round, StagedEstimator, Step, StepOf, advance_checked};
use crate::tally::Tally;
use crate::wire;
use serde::Serialize;

/// Rounds of one run in which ill-fitting tallies are tried, and after which a run is broken off as endless.
const TRIED: u64 = 4;
const LONGEST: u64 = 10_000;

/// Whatever comes back, a protocol answers with a typed error or with an estimate made of numbers.
///
/// For 0 users, 1 user and every number in `users`, rounds are answered by nobody, by everybody alike, by everybody
/// but one, by one user, by every report in equal parts, and with an empty first group: one way in the even rounds
/// and another, or the same, in the odd ones, so every such path of a two-stage protocol is walked. On the way:
/// - rounds ask at least one user and no more than are left;
/// - one answer too many is [`Error::TooManyAnswers`], one tally too many or too few [`Error::TallyCount`];
/// - every estimate passes [`check_inference`];
/// - the largest number of users brings an estimate when answers are mixed.
pub fn check_edges<E>(estimator: &E, users: &[u64]) -> Result<(), Violation>
where
    E: StagedEstimator<Question: Finite> + ?Sized,
    E::Tally: Tally<Report = u32> + Clone,
    E::State: Clone,
    E::Estimate: Inference,
{
    check_edges_with(estimator, users, &all_reports)
}

/// [`check_edges`] for questions of any kind: `examples` gives a few possible reports of a question, and at least
/// one. Put the extremes first, last and in between: everybody alike is tried with four of them, evenly spread.
///
/// ```
/// use ldp_core::conformance::{Dummy, check_edges_with};
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[10], &[20, 30]]);
/// let found = check_edges_with(&dummy, &[60], &|_| vec![0, 1]);
/// // It asks ten users also where there are none.
/// assert_eq!(found.unwrap_err().law, "round within users");
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn check_edges_with<E>(
    estimator: &E,
    users: &[u64],
    examples: &dyn Fn(&E::Question) -> Vec<ReportOf<E>>,
) -> Result<(), Violation>
where
    E: StagedEstimator + ?Sized,
    ReportOf<E>: Clone,
    E::Tally: Clone,
    E::State: Clone,
    E::Estimate: Inference,
{
    check_edges_judged(estimator, users, examples, &check_inference)
}

/// [`check_edges_with`] for estimates that are more than one number: `judge` stands in for [`check_inference`].
pub fn check_edges_judged<E>(
    estimator: &E,
    users: &[u64],
    examples: &dyn Fn(&E::Question) -> Vec<ReportOf<E>>,
    judge: &dyn Fn(&E::Estimate) -> Result<(), Violation>,
) -> Result<(), Violation>
where
    E: StagedEstimator + ?Sized,
    ReportOf<E>: Clone,
    E::Tally: Clone,
    E::State: Clone,
{
    let most = users.iter().copied().max().unwrap_or(1);
    for &users in [0, 1].iter().chain(users) {
        let mut estimates = 0;
        for (number, path) in (0u64..).zip(paths(estimator, users, examples)) {
            estimates += u64::from(walk(estimator, users, path, examples, judge, number == 0)?);
            let mixed = number == 0 && users == most;
            ensure(!mixed || estimates == 1, "protocol ends", || {
                format!("{users} users with mixed answers bring no estimate")
            })?;
        }
    }
    Ok(())
}

/// `begin` and `advance` are pure: from the same state and tallies, the same step, twice in a row and when the whole
/// run is repeated. Steps are compared as JSON, errors by their text.
pub fn check_replay<E>(estimator: &E, users: &[u64]) -> Result<(), Violation>
where
    E: StagedEstimator<Question: Finite + Serialize> + ?Sized,
    E::Tally: Tally<Report = u32>,
    E::State: Clone + Serialize,
    E::Estimate: Serialize,
{
    check_replay_with(estimator, users, &all_reports)
}

/// [`check_replay`] for questions of any kind, with examples of reports as in [`check_edges_with`].
///
/// ```
/// use ldp_core::conformance::{Dummy, check_replay_with};
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[10], &[20, 30]]);
/// check_replay_with(&dummy, &[60], &|_| vec![0, 1]).unwrap();
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn check_replay_with<E>(
    estimator: &E,
    users: &[u64],
    examples: &dyn Fn(&E::Question) -> Vec<ReportOf<E>>,
) -> Result<(), Violation>
where
    E: StagedEstimator<Question: Serialize> + ?Sized,
    ReportOf<E>: Clone,
    E::State: Clone + Serialize,
    E::Estimate: Serialize,
{
    const LAW: &str = "step is pure";
    let equal = |first: &str, second: &str, users: u64, path: &dyn std::fmt::Debug| {
        ensure(first == second, LAW, || format!("{users} users, {path:?}: first {first}, then {second}"))
    };
    for &users in users {
        for path in paths(estimator, users, examples) {
            let mut log: Option<Vec<String>> = None;
            for _ in 0..2 {
                let mut texts = Vec::new();
                let mut step = estimator.begin(users);
                equal(&text(&step), &text(&estimator.begin(users)), users, &path)?;
                for round_number in 0..LONGEST {
                    texts.push(text(&step));
                    let Ok(Step::Ask { round, state }) = step else { break };
                    let answers = path[(round_number % 2) as usize];
                    let tallies = expect(answers::tallies(estimator, round.groups(), examples, answers), LAW)?;
                    step = estimator.advance(state.clone(), &tallies);
                    let again = estimator.advance(state, &tallies);
                    equal(&text(&step), &text(&again), users, &path)?;
                }
                if let Some(log) = &log {
                    equal(&log.join("\n"), &texts.join("\n"), users, &path)?;
                }
                log = Some(texts);
            }
        }
    }
    Ok(())
}

/// The examples of a finite question: every report it has.
fn all_reports<Q: Finite>(question: &Q) -> Vec<u32> {
    (0..question.reports()).collect()
}

/// A step, or its error, as text.
fn text<Q: Serialize, S: Serialize, E: Serialize>(step: &Result<Step<Q, S, E>>) -> String {
    match step {
        Ok(step) => wire::write("step", step).unwrap_or_else(|error| error.to_string()),
        Err(error) => error.to_string(),
    }
}

/// What is tried: a way to answer the even rounds and one for the odd ones. The first is mixed throughout.
fn paths<E>(estimator: &E, users: u64, examples: Examples<'_, E>) -> Vec<[Answers; 2]>
where
    E: StagedEstimator + ?Sized,
{
    let reports = match estimator.begin(users) {
        Ok(Step::Ask { round, .. }) => round.groups().iter().map(|group| examples(&group.question).len()).max(),
        _ => None,
    };
    let answers = answers::all(reports.unwrap_or(2));
    answers.iter().flat_map(|&even| answers.iter().map(move |&odd| [even, odd])).collect()
}

/// One run along a path; whether it ended with an estimate.
fn walk<E>(
    estimator: &E,
    users: u64,
    path: [Answers; 2],
    examples: Examples<'_, E>,
    judge: &dyn Fn(&E::Estimate) -> Result<(), Violation>,
    misfits: bool,
) -> Result<bool, Violation>
where
    E: StagedEstimator + ?Sized,
    ReportOf<E>: Clone,
    E::Tally: Clone,
    E::State: Clone,
{
    const SIZE: &str = "round within users";
    let mut left = users;
    let Ok(mut step) = estimator.begin(users) else {
        return Ok(false);
    };
    for number in 0..LONGEST {
        let (round, state) = match step {
            Step::Done(estimate) => {
                judge(&estimate).map_err(|Violation { law, detail }| Violation {
                    law,
                    detail: format!("{users} users, {path:?}: {detail}"),
                })?;
                return Ok(true);
            }
            Step::Ask { round, state } => (round, state),
        };
        left = expect(round.left_after(left), SIZE)?;
        let answers = path[(number % 2) as usize];
        let tallies = expect(answers::tallies(estimator, round.groups(), examples, answers), "tallies must fit")?;
        if misfits && number < TRIED {
            check_misfits(estimator, &round, &state, &tallies, examples)?;
        }
        match advance_checked(estimator, &round, state, tallies) {
            Ok(next) => step = next,
            Err(_) => return Ok(false),
        }
    }
    // A protocol may be longer than what is walked here, but not longer than its users.
    ensure(users > LONGEST, SIZE, || format!("{LONGEST} rounds with {users} users"))?;
    Ok(true)
}

/// Tallies that do not fit the round, and the errors they must bring.
fn check_misfits<E>(
    estimator: &E,
    round: &Round<E::Question>,
    state: &E::State,
    tallies: &[E::Tally],
    examples: Examples<'_, E>,
) -> Result<(), Violation>
where
    E: StagedEstimator + ?Sized,
    E::Tally: Clone,
    E::State: Clone,
{
    const LAW: &str = "tallies must fit";
    let advance =
        |tallies: Vec<E::Tally>| -> Result<StepOf<E>> { advance_checked(estimator, round, state.clone(), tallies) };
    for (place, group) in round.groups().iter().enumerate() {
        let mut answers = tallies.to_vec();
        let missing = (group.users - answers[place].users()).checked_add(1);
        let report = examples(&group.question).into_iter().next();
        if missing.zip(report).is_some_and(|(missing, report)| answers[place].push(report, missing).is_ok()) {
            ensure(matches!(advance(answers), Err(Error::TooManyAnswers { .. })), LAW, || {
                format!("{} users may not give one answer more", group.users)
            })?;
        }
    }
    let (mut fewer, mut more) = (tallies.to_vec(), tallies.to_vec());
    fewer.pop();
    more.extend(round.groups().first().map(|group| estimator.tally(&group.question)));
    for answers in [fewer, more] {
        let (expected, found) = (tallies.len(), answers.len());
        ensure(matches!(advance(answers), Err(Error::TallyCount { .. })), LAW, || {
            format!("{found} tallies do not fit {expected} groups")
        })?;
    }
    Ok(())
}

/// The numbers of an estimate are numbers: its value is finite, its standard error finite and not negative or none,
/// and its intervals have no NaN, low < high and the value in them, at usual and extreme levels. A kind it does
/// not have and a level outside (0, 1) are refused.
pub fn check_inference<E: Inference>(estimate: &E) -> Result<(), Violation> {
    const LAW: &str = "estimate is finite";
    let value = estimate.value();
    ensure(value.is_finite(), LAW, || format!("value {value}"))?;
    let error = estimate.standard_error();
    ensure(error.is_none_or(|error| error.is_finite() && error >= 0.0), LAW, || format!("standard error {error:?}"))?;
    let kinds = E::interval_kinds();
    let silent = kinds.iter().all(|&kind| estimate.interval(kind, 0.95).is_err()) && error.is_none();
    ensure(silent || estimate.cannot_tell().is_none(), LAW, || {
        format!("standard error {error:?} or an interval, but the answers cannot tell")
    })?;
    for kind in IntervalKind::ALL {
        for level in [1e-9, 0.5, 0.95, 1.0 - 1e-9] {
            let Ok(interval) = estimate.interval(kind, level) else {
                continue;
            };
            let (low, high) = (interval.low, interval.high);
            let sound = low < high && interval.contains(value);
            ensure(sound, LAW, || format!("{kind} interval [{low}, {high}] of {value} at level {level}"))?;
            let told = kinds.contains(&kind) && interval.kind == kind && interval.level == level;
            ensure(told, LAW, || format!("asked for {kind} at {level}, one of {kinds:?}, got {interval:?}"))?;
        }
        for level in [0.0, 1.0, -1.0, f64::NAN] {
            let refused = estimate.interval(kind, level).is_err();
            ensure(refused, LAW, || format!("{kind} interval at level {level}"))?;
        }
    }
    Ok(())
}
