//! The steps of the efficient protocol: what it asks after which answers, what it says when they explain nothing, and which
//! states it takes from outside.

use ldp_core::model::{Bernoulli, Exponential, Gaussian};
use ldp_core::{
    Bits, Counts, Epsilon, Error, Group, Inference, IntervalKind, Mechanism, Partition, StagedEstimator, Step, Tally,
};
use ldp_estimators::{Efficient, EfficientEstimate, EfficientState, Fallback};
use ldp_simulate::AnyModel;
use std::sync::Arc;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn counts(counts: &[u64]) -> Counts {
    let mut tally = Counts::new(counts.len() as u32);
    (0u32..).zip(counts).for_each(|(report, &count)| tally.push(report, count).unwrap());
    tally
}

/// The estimate from first answers (ones, users) and the counts of the second round.
fn finish<M: AnyModel + ?Sized>(
    estimator: &Efficient<M>,
    users: u64,
    first: (u64, u64),
    second: &[u64],
) -> EfficientEstimate {
    let state = EfficientState::Second { users, first: Bits::new(first.0, first.1).unwrap(), again: None };
    match estimator.advance(state, &[counts(second)]).unwrap() {
        Step::Done(estimate) => estimate,
        step => panic!("it is over: {step:?}"),
    }
}

#[test]
fn answers_that_nothing_explains_cannot_tell() {
    let estimator = Efficient::new(Arc::new(Gaussian::new(1.0).unwrap()), epsilon(4.0), 0.5, 1000).unwrap();
    let asked = (600, 1000);
    let first = finish(&estimator, 2000, asked, &[200; 5]).first();
    assert!(first > 0.5 && first < 1.0);
    let silent = finish(&estimator, 2000, asked, &[0; 5]);
    assert_eq!((silent.value(), silent.fallback()), (first, Some(Fallback::NobodyAnswered)));
    assert!(silent.cannot_tell().is_some() && silent.interval(IntervalKind::Score, 0.95).is_err());
    // All alike at either end: a half-line, which grows with the level and holds the value.
    for (second, above) in [([0, 0, 0, 0, 1000], true), ([1000, 0, 0, 0, 0], false)] {
        let open = finish(&estimator, 2000, asked, &second);
        assert_eq!((open.fallback(), open.standard_error()), (Some(Fallback::Beyond), None));
        assert!(open.cannot_tell().is_none() && open.note().is_some());
        let mut before = 0.0;
        for level in [0.6, 0.8, 0.95, 0.999] {
            let interval = open.interval(IntervalKind::Score, level).unwrap();
            let (edge, end) = if above { (interval.low, interval.high) } else { (interval.high, interval.low) };
            assert!(interval.contains(open.value()) && end == if above { f64::INFINITY } else { f64::NEG_INFINITY });
            assert!(before == 0.0 || (edge < before) == above, "{level}: {interval:?}");
            before = edge;
        }
        assert!(open.interval(IntervalKind::Score, 0.3).is_err());
    }
    // All in the middle are explained by the middle.
    let middle = finish(&estimator, 2000, asked, &[0, 0, 1000, 0, 0]);
    assert!((middle.value() - first).abs() < 1e-9 && middle.note().is_none());
    // A share that no user has: the end of the space is the value, and the interval begins there.
    let shares = Efficient::new(Arc::new(Bernoulli), epsilon(1.0), 0.5, 100).unwrap();
    let none = finish(&shares, 1100, (40, 100), &[740, 260]);
    assert_eq!((none.value(), none.fallback(), none.cannot_tell()), (0.0, Some(Fallback::End), None));
    let interval = none.interval(IntervalKind::Score, 0.95).unwrap();
    assert!(interval.low == 0.0 && interval.high > 0.02 && interval.high < 0.1, "{interval:?}");
}

/// The step after first answers with so many ones of 1000.
fn after<M: AnyModel + ?Sized>(estimator: &Efficient<M>, ones: u64) -> ldp_core::StepOf<Efficient<M>> {
    estimator.advance(EfficientState::First { users: 100_000 }, &[counts(&[1000 - ones, ones])]).unwrap()
}

#[test]
fn a_first_stage_at_its_end_is_asked_once_more() {
    let estimator = Efficient::new(Arc::new(Gaussian::new(1.0).unwrap()), epsilon(1.0), 0.0, 1000).unwrap();
    // In the middle the last question follows.
    let Step::Ask { round, state } = after(&estimator, 480) else { panic!("it asks") };
    assert!(matches!(state, EfficientState::Second { again: None, .. }) && round.groups()[0].users == 99_000);
    // Of 1000 users 731 would say yes if everybody were above: the mean is anywhere above the start.
    for (ones, above) in [(731, true), (760, true), (690, true), (269, false), (230, false)] {
        let Step::Ask { round, state } = after(&estimator, ones) else { panic!("it asks") };
        let [Group { question, users }] = round.groups() else { panic!("one group") };
        assert_eq!((*users, ldp_core::Finite::reports(question)), (1530, 8));
        let Partition::Cuts(cells) = question.partition() else { panic!("intervals") };
        let middle = cells.points().iter().sum::<f64>() / 7.0;
        assert!(if above { middle > 4.0 } else { middle < -4.0 }, "{ones}: {cells:?}");
        assert!(question.epsilon() <= epsilon(1.0));
        // Half of the users are in the fifth cell: there the last question stands.
        let mut clear = [110; 8];
        clear[4] += 650;
        let Step::Ask { round, state: last } = estimator.advance(state.clone(), &[counts(&clear)]).unwrap() else {
            panic!("it asks the rest")
        };
        assert_eq!(round.groups()[0].users, 100_000 - 1000 - 1530);
        let &Partition::Threshold(cut) = round.groups()[0].question.partition() else { panic!("the sign") };
        let (low, high) = (cells.points()[3], cells.points()[4]);
        assert!(low < cut && cut < high, "{cut} in {cells:?}");
        let Step::Done(estimate) = estimator.advance(last, &[counts(&[48_735, 48_735])]).unwrap() else {
            panic!("it is over")
        };
        assert!((estimate.value() - cut).abs() < 1e-9 && estimate.interval(IntervalKind::Score, 0.95).is_ok());
        // Answers that say nothing, or that everybody is beyond, end it; nobody else is asked.
        let mut beyond = [110; 8];
        beyond[if above { 7 } else { 0 }] += 650;
        for silent in [[190; 8], beyond, [0; 8]] {
            let Step::Done(estimate) = estimator.advance(state.clone(), &[counts(&silent)]).unwrap() else {
                panic!("it cannot tell")
            };
            assert_eq!((estimate.fallback(), estimate.standard_error()), (Some(Fallback::Unplaced), None));
            assert!(matches!(estimate.interval(IntervalKind::Score, 0.95), Err(Error::NoInterval { .. })));
            assert!(silent != beyond || (estimate.value() > 0.0) == above, "{estimate:?}");
        }
    }
}

#[test]
fn a_state_from_outside_is_checked() {
    let estimator = Efficient::new(Arc::new(Exponential), epsilon(2.0), 1.0, 1000).unwrap();
    let state = |json: &str| serde_json::from_str::<EfficientState>(json);
    let good = state(r#"{"second":{"users":2000,"first":{"ones":300,"users":1000}}}"#).unwrap();
    assert!(estimator.advance(good.clone(), &[counts(&[50, 40])]).is_ok());
    assert!(matches!(
        estimator.advance(good.clone(), &[counts(&[50, 40, 0])]),
        Err(Error::TallyAlphabet { expected: 2, found: 3 })
    ));
    assert!(matches!(estimator.advance(good, &[]), Err(Error::TallyCount { expected: 1, found: 0 })));
    for bad in [
        r#"{"second":{"users":2000,"first":{"ones":1001,"users":1000}}}"#,
        r#"{"second":{"users":2000,"first":{"ones":600,"users":1000},"question":{}}}"#,
        r#"{"second":{"users":2000,"first":{"ones":600,"users":1000},"again":[-1]}}"#,
        r#"{"first":{"users":-1}}"#,
        r#"{"third":{"users":100}}"#,
    ] {
        assert!(state(bad).is_err(), "{bad}");
    }
    let advance = |json: &str| estimator.advance(state(json).unwrap(), &[counts(&[0, 0])]);
    let many = advance(r#"{"second":{"users":2000,"first":{"ones":600,"users":1001}}}"#);
    assert!(matches!(many, Err(Error::TooManyAnswers { asked: 1000, answered: 1001 })));
    assert!(matches!(advance(r#"{"first":{"users":1000}}"#), Err(Error::TooMany { name: "first-stage", .. })));
    assert!(matches!(advance(r#"{"first":{"users":1}}"#), Err(Error::TooFew { name: "users", .. })));
    // Once more where the first answers are enough; not, where they are not; and answers that do not fit.
    for wrong in [
        r#"{"again":{"users":2000,"first":{"ones":300,"users":1000}}}"#,
        r#"{"second":{"users":2000,"first":{"ones":300,"users":1000},"again":[1,1]}}"#,
        r#"{"second":{"users":2000,"first":{"ones":900,"users":1000}}}"#,
        r#"{"second":{"users":2000,"first":{"ones":900,"users":1000},"again":[10,10]}}"#,
        r#"{"second":{"users":2000,"first":{"ones":900,"users":1000},"again":[100,100,100,100,100,100,100,1000]}}"#,
        r#"{"second":{"users":2000,"first":{"ones":900,"users":1000},"again":[18446744073709551615,1,1,1,1,1,1,1]}}"#,
        r#"{"second":{"users":2000,"first":{"ones":900,"users":1000},"again":[10,10,10,10,10,10,10,10]}}"#,
    ] {
        assert!(advance(wrong).is_err(), "{wrong}");
    }
}
