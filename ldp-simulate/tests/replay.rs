//! What is kept between replications changes nothing: every replay is a run, bit for bit.

use ldp_core::conformance::{Dummy, Seen};
use ldp_core::model::Gaussian;
use ldp_core::{Cuts, Epsilon, Error, FiniteChannel, Kernel, Partition, run};
use ldp_simulate::{MOST_DRAWN, Replay, Tallies};

fn question(reports: u32) -> FiniteChannel {
    let cuts = (1..reports).map(|i| f64::from(i) / 2.0 - 0.7).collect();
    let kernel = Kernel::response(Epsilon::new(0.7).unwrap(), reports).unwrap();
    FiniteChannel::new(Partition::Cuts(Cuts::new(cuts).unwrap()), kernel).unwrap()
}

fn dummy(reports: u32, sizes: &[&[u64]]) -> Dummy {
    Dummy::asking(&question(reports), sizes)
}

#[test]
fn replays_are_runs() {
    let model = Gaussian::new(2.0).unwrap();
    // One user first, few, many, more than steps are kept for; of two reports and three; groups side by side; rounds in turn.
    let scripts: [&[&[u64]]; 9] = [
        &[&[1], &[1], &[5]],
        &[&[7]],
        &[&[300], &[700]],
        &[&[300], &[1]],
        &[&[40], &[3, 5], &[50]],
        &[&[40], &[50], &[60], &[1], &[2]],
        &[&[5000], &[100]],
        &[&[20, 30], &[400], &[10]],
        &[&[4095], &[1_000_000]],
    ];
    for (script, reports) in scripts.into_iter().flat_map(|script| [(script, 2), (script, 3)]) {
        let dummy = dummy(reports, script);
        let users = script.iter().copied().flatten().sum();
        let mut tallies = Tallies::new(&model, 0.3, 9).unwrap();
        let expected: Vec<Seen> = (0..60)
            .map(|replication| {
                tallies.restart(replication);
                run(&dummy, users, &mut tallies).unwrap()
            })
            .collect();
        let mut replay = Replay::new(&dummy, &model, 0.3, users, 9).unwrap();
        // In order, again now that steps are kept, and one from the middle.
        for range in [0..60, 0..60, 31..32] {
            let mut seen = Vec::new();
            replay.replicate(range.clone(), &mut |estimate| seen.push(estimate.clone())).unwrap();
            assert_eq!(seen, expected[range.start as usize..range.end as usize], "{script:?}");
        }
        // Another setting is another run.
        let mut others = Vec::new();
        let mut replay = Replay::new(&dummy, &model, 0.3, users, 10).unwrap();
        replay.replicate(0..60, &mut |estimate| others.push(estimate.clone())).unwrap();
        assert_ne!(others, expected, "{script:?}");
    }
}

#[test]
fn scripts_that_cannot_be_asked_are_refused_as_by_a_run() {
    let model = Gaussian::new(1.0).unwrap();
    let replicate = |script: &[&[u64]], users| {
        let dummy = dummy(2, script);
        let mut replay = Replay::new(&dummy, &model, 0.0, users, 1)?;
        replay.replicate(0..3, &mut |_| ())
    };
    for (script, users) in [
        (&[&[10u64][..], &[20]][..], 25),
        (&[&[10], &[0]], 25),
        (&[&[30]], 25),
        (&[&[0], &[5]], 25),
        (&[&[10], &[10, 20]], 25),
        (&[&[10, 20], &[5]], 25),
    ] {
        assert!(matches!(replicate(script, users), Err(Error::RoundSize { .. })), "{script:?}");
    }
    // More than can be drawn, after a first round whose steps are kept.
    let drawn = replicate(&[&[10], &[MOST_DRAWN + 1]], MOST_DRAWN + 11);
    assert!(matches!(drawn, Err(Error::TooMany { most: MOST_DRAWN, .. })), "{drawn:?}");
    // A protocol that asks nothing has its estimate.
    assert!(replicate(&[], 5).is_ok());
    assert!(Replay::new(&dummy(2, &[&[5]]), &model, f64::NAN, 5, 1).is_err());
}
