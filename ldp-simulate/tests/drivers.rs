//! Tests of whatever drives protocols, on a protocol without statistics: laws, pairing, streams, errors, pinned values.
//!
//! Every statistical test has a fixed seed and α = 1e-6, says what it would catch, and rejects a mutant.

use ldp_core::conformance::{ALPHA, Dummy, Seen, check_replay, check_wire_round_trip, goodness_of_fit};
use ldp_core::model::Gaussian;
use ldp_core::special::{binomial, normal};
use ldp_core::staged::advance_checked;
use ldp_core::{
    Bits, Counts, Cuts, Dense, Epsilon, Error, Finite, FiniteChannel, Group, Inference, Kernel, Mechanism, Partition,
    Population, Result, StagedEstimator, Step, SystemRng, Tally, run, wire,
};
use ldp_simulate::conformance::check_simulation_is_wire;
use ldp_simulate::seed::{BLOCK, Purpose, stream};
use ldp_simulate::{Audit, Order, RowNoise, Rows, Tallies, Users, in_batches};
use ldp_simulate::{Fidelity, Setting, erase};
use rand::Rng;

const THETA: f64 = 0.4;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn model() -> Gaussian {
    Gaussian::new(1.0).unwrap()
}

/// A sign question at threshold 0.
fn question(level: f64) -> FiniteChannel {
    FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(epsilon(level), 2).unwrap()).unwrap()
}

fn ternary() -> FiniteChannel {
    let cuts = Partition::Cuts(Cuts::new(vec![-0.5, 0.5]).unwrap());
    FiniteChannel::new(cuts, Kernel::response(epsilon(1.0), 3).unwrap()).unwrap()
}

/// P(report 1) of [`question`] under the model.
fn probability(level: f64) -> f64 {
    let mut law = [0.0; 2];
    question(level).marginal(&model(), THETA, &mut law);
    law[1]
}

/// The count of ones in every tally, in order.
fn ones(seen: &Seen) -> Vec<u64> {
    seen.rounds.iter().flatten().map(|tally| tally.counts()[1]).collect()
}

/// The counts of ones of many replications.
fn replicate<P>(
    dummy: &Dummy,
    users: u64,
    population: &mut P,
    replications: u64,
    restart: impl Fn(&mut P, u64),
) -> Vec<Vec<u64>>
where
    P: Population<FiniteChannel, Counts>,
{
    (0..replications)
        .map(|replication| {
            restart(population, replication);
            ones(&run(dummy, users, population).unwrap())
        })
        .collect()
}

/// The p-value of counts that should be binomial.
fn binomial_fit(counts: impl Iterator<Item = u64>, users: u64, p: f64) -> f64 {
    let mut seen = vec![0; users as usize + 1];
    counts.for_each(|count| seen[count as usize] += 1);
    let law: Vec<f64> = (0..=users).map(|k| binomial::pmf(k, users, p)).collect();
    goodness_of_fit(&seen, &law)
}

/// One by one, in blocks and as drawn tallies, the count of every group is Binomial(users, P(report 1)).
///
/// 20,000 replications, chi-square over the counts: catches a fidelity with another law, users answering twice or
/// not at all, and p off by 2 %.
#[test]
fn three_ways_to_answer_have_one_law() {
    let model = model();
    let sizes: [&[u64]; 2] = [&[7], &[5, 40]];
    let (dummy, users, p) = (Dummy::asking(&question(1.0), &sizes), 52, probability(1.0));
    let replications = 20_000;
    let mut one_by_one = Users::new(&model, THETA, users, 1).unwrap();
    let mut in_blocks = Users::new(&model, THETA, users, 2).unwrap().in_blocks();
    let mut tallies = Tallies::new(&model, THETA, 3).unwrap();
    let ways = [
        replicate(&dummy, users, &mut one_by_one, replications, |p, r| p.restart(r)),
        replicate(&dummy, users, &mut in_blocks, replications, |p, r| p.restart(r)),
        replicate(&dummy, users, &mut tallies, replications, |p, r| p.restart(r)),
    ];
    for (way, counts) in ways.iter().enumerate() {
        for (group, size) in [7, 5, 40].into_iter().enumerate() {
            let fit = |p| binomial_fit(counts.iter().map(|c| c[group]), size, p);
            assert!(fit(p) > ALPHA, "way {way}, group {group}: p = {:e}", fit(p));
            assert!(size < 40 || fit(1.02 * p) < ALPHA, "way {way}: the mutant passes");
        }
    }
}

/// Whoever asks, in whatever rounds and groups, user i holds the same value: protocols are compared on the same
/// users. The noise is paired as well, because every question takes one word.
#[test]
fn user_i_is_the_same_whichever_protocol_asks() {
    let model = model();
    // Across chunks of 1024 and across a block of 65,536 users.
    let scripts: [&[&[u64]]; 3] = [&[&[70_000]], &[&[1], &[1023, 64_512], &[4464]], &[&[3000], &[67_000]]];
    // At ε = 44 every report is the truth.
    for level in [44.0, 1.0] {
        let total = |script: &[&[u64]], extra: u64| {
            let mut users = Users::new(&model, THETA, 70_000 + extra, 5).unwrap();
            users.restart(3);
            ones(&run(&Dummy::asking(&question(level), script), 70_000, &mut users).unwrap()).iter().sum::<u64>()
        };
        let first = total(scripts[0], 0);
        assert!(scripts.iter().all(|script| total(script, 0) == first));
        // Also if there are more users, who are not asked.
        assert_eq!(total(scripts[1], 999), first);
    }
    // Another mechanism meets the same values: at ε = 44 a count at the same cut is the same count.
    let cut = FiniteChannel::new(
        Partition::Cuts(Cuts::new(vec![0.0, 9.0]).unwrap()),
        Kernel::response(epsilon(44.0), 3).unwrap(),
    );
    let dummies = [question(44.0), cut.unwrap()].map(|question| Dummy::asking(&question, &[&[5000]]));
    let below = dummies.map(|dummy| {
        let mut users = Users::new(&model, THETA, 5000, 5).unwrap();
        run(&dummy, 5000, &mut users).unwrap().rounds[0][0].counts()[0]
    });
    assert_eq!(below[0], below[1]);
}

/// A population that starts its streams again in every round: the mistake that the streams are there to prevent.
struct Restarting<'a>(Users<'a, Gaussian>, u64);

impl Population<FiniteChannel, Counts> for Restarting<'_> {
    fn answer(&mut self, group: &Group<FiniteChannel>, tally: &mut Counts) -> Result<()> {
        self.0.answer(group, tally)
    }

    fn round(&mut self, _groups: &[Group<FiniteChannel>]) -> Result<()> {
        self.0.restart(self.1);
        Ok(())
    }
}

fn correlation(pairs: impl Iterator<Item = (u64, u64)>) -> f64 {
    let (mut n, mut x, mut y, mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a as f64, b as f64);
        (n, x, y) = (n + 1.0, x + a, y + b);
        (xx, yy, xy) = (xx + a * a, yy + b * b, xy + a * b);
    }
    (n * xy - x * y) / ((n * xx - x * x) * (n * yy - y * y)).sqrt()
}

/// Two rounds with the same question to different users are independent, and so are successive replications.
///
/// Correlation of the counts over 20,000 replications; under independence its standard deviation is 1/√20,000,
/// two-sided at α = 1e-6. Catches streams that are reused between rounds, groups or replications: correlation one.
#[test]
fn rounds_and_replications_do_not_share_randomness() {
    let model = model();
    let dummy = Dummy::asking(&question(1.0), &[&[20], &[20, 20]]);
    let replications = 20_000;
    let limit = -normal::quantile(ALPHA / 2.0) / (replications as f64).sqrt();
    let strongest = |counts: &[Vec<u64>]| {
        let between = |a: usize, b: usize| correlation(counts.iter().map(|c| (c[a], c[b]))).abs();
        let across = correlation(counts.windows(2).map(|pair| (pair[0][0], pair[1][0]))).abs();
        between(0, 1).max(between(0, 2)).max(between(1, 2)).max(across)
    };
    let mut users = Users::new(&model, THETA, 60, 7).unwrap();
    let mut blocks = Users::new(&model, THETA, 60, 8).unwrap().in_blocks();
    let mut tallies = Tallies::new(&model, THETA, 9).unwrap();
    let ways = [
        replicate(&dummy, 60, &mut users, replications, |p, r| p.restart(r)),
        replicate(&dummy, 60, &mut blocks, replications, |p, r| p.restart(r)),
        replicate(&dummy, 60, &mut tallies, replications, |p, r| p.restart(r)),
    ];
    for (way, counts) in ways.iter().enumerate() {
        assert!(strongest(counts) < limit, "way {way}: {}", strongest(counts));
    }
    let mut mutant = Restarting(Users::new(&model, THETA, 60, 7).unwrap(), 0);
    let counts = replicate(&dummy, 60, &mut mutant, replications, |p, r| p.1 = r);
    assert!(strongest(&counts) > 0.99, "the mutant passes: {}", strongest(&counts));
    // A replication that is not restarted with its own number is the last one again.
    let stuck = replicate(&dummy, 60, &mut users, 100, |p, r| p.restart(r / 2));
    assert_eq!(stuck[0], stuck[1]);
}

#[test]
fn batches_give_the_same_bytes_on_any_number_of_threads() {
    let model = model();
    let dummy = Dummy::asking(&question(1.0), &[&[100], &[50, 70]]);
    let simulate = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut order, mut sum) = (Vec::new(), 0.0);
            in_batches(
                3000,
                |batch| {
                    let mut population = Tallies::new(&model, THETA, 11)?;
                    batch
                        .map(|replication| {
                            population.restart(replication);
                            Ok(run(&dummy, 220, &mut population)?.value())
                        })
                        .collect::<Result<Vec<f64>>>()
                },
                |part| {
                    // Floating sums depend on their order.
                    sum = part.iter().fold(sum, |sum, value| sum + value / 3.0);
                    order.extend(part);
                },
            )
            .unwrap();
            (order, sum.to_bits())
        })
    };
    let (one, sum) = simulate(1);
    assert_eq!(one.len(), 3000);
    for threads in [2, 5] {
        assert_eq!(simulate(threads), (one.clone(), sum));
    }
    // An error in any batch is the error of the whole.
    let failed =
        in_batches(3000, |batch| if batch.contains(&2000) { Err(Error::Uninformative) } else { Ok(()) }, |()| ());
    assert!(matches!(failed, Err(Error::Uninformative)));
    in_batches(0, |_| Ok(()), |()| panic!("no replications, no batches")).unwrap();
}

#[test]
fn stepping_through_json_equals_a_run() {
    let model = model();
    let dummy = Dummy::asking(&ternary(), &[&[100], &[50, 70], &[1]]);
    let erased = erase(dummy.clone());
    let mut users = Users::new(&model, THETA, 221, 13).unwrap();
    let direct = run(&dummy, 221, &mut users).unwrap();
    users.restart(0);
    let mut step = erased.begin(221).unwrap();
    let parse = |step: &str| wire::parse::<Step<FiniteChannel, Seen, Seen>>("step", step).unwrap();
    while let Step::Ask { round, .. } = parse(&step) {
        let tallies: Vec<Counts> = round
            .groups()
            .iter()
            .map(|group| {
                let mut tally = dummy.tally(&group.question);
                users.answer(group, &mut tally).unwrap();
                tally
            })
            .collect();
        step = erased.advance(&step, &wire::write("tallies", &tallies).unwrap()).unwrap();
    }
    assert_eq!(step, format!("{{\"done\":{}}}", wire::write("estimate", &direct).unwrap()));
    // A finished protocol stays finished.
    assert_eq!(erased.advance(&step, "[]").unwrap(), step);

    // And so do its simulations.
    for (fidelity, expected) in [
        (Fidelity::Users, {
            let mut users = Users::new(&model, THETA, 221, 13).unwrap().in_blocks();
            users.restart(4);
            run(&dummy, 221, &mut users).unwrap()
        }),
        (Fidelity::Tally, {
            let mut tallies = Tallies::new(&model, THETA, 13).unwrap();
            tallies.restart(4);
            run(&dummy, 221, &mut tallies).unwrap()
        }),
    ] {
        let setting = Setting { model: &model, theta: THETA, users: 221, seed: 13, fidelity };
        let mut values = Vec::new();
        erased.replicate(&setting, 4..6, &mut |estimate| values.push(estimate.value())).unwrap();
        assert_eq!(values.len(), 2);
        assert_eq!(values[0], expected.value());
    }
}

#[test]
fn the_wire_carries_rounds_of_several_groups() {
    let model = model();
    let dummy = Dummy::asking(&ternary(), &[&[1], &[50, 0, 70], &[1100]]);
    check_simulation_is_wire(&dummy, &model, THETA, 1221, 15).unwrap();
    check_replay(&dummy, &[1221]).unwrap();
    check_wire_round_trip(&dummy.begin(1221).unwrap()).unwrap();
    // What is refused in process is refused on the wire, with the same words.
    check_simulation_is_wire(&dummy, &model, THETA, 100, 15).unwrap();
}

#[test]
fn an_audit_counts_rounds_and_the_largest_level() {
    let model = model();
    let mut dummy = Dummy::asking(&question(1.0), &[&[10], &[5, 5]]);
    dummy.script[1][0].question = question(2.0);
    let mut audit = Audit::new(Tallies::new(&model, THETA, 1).unwrap());
    assert_eq!((audit.rounds(), audit.epsilon()), (0, None));
    run(&dummy, 20, &mut audit).unwrap();
    assert_eq!((audit.rounds(), audit.epsilon()), (2, Some(question(2.0).epsilon())));
}

/// Answers for one user more than were asked.
struct Eager;

impl Population<FiniteChannel, Counts> for Eager {
    fn answer(&mut self, group: &Group<FiniteChannel>, tally: &mut Counts) -> Result<()> {
        tally.push(0, group.users + 1)
    }
}

#[test]
fn bad_rounds_and_answers_are_typed_errors() {
    let model = model();
    let ask = |sizes: &[&[u64]], users| {
        let mut population = Tallies::new(&model, THETA, 1).unwrap();
        run(&Dummy::asking(&question(1.0), sizes), users, &mut population)
    };
    assert!(ask(&[&[3], &[4, 3]], 10).is_ok());
    assert!(matches!(ask(&[&[11]], 10), Err(Error::RoundSize { asked: 11, left: 10 })));
    assert!(matches!(ask(&[&[3], &[4, 4]], 10), Err(Error::RoundSize { asked: 8, left: 7 })));
    assert!(matches!(ask(&[&[0]], 10), Err(Error::RoundSize { asked: 0, left: 10 })));
    assert!(matches!(ask(&[&[]], 10), Err(Error::RoundSize { asked: 0, left: 10 })));
    let sum = ask(&[&[u64::MAX, 2]], u64::MAX - 1);
    assert!(matches!(sum, Err(Error::RoundSize { asked: u64::MAX, .. })));

    for sizes in [&[10][..], &[5, 5]] {
        let dummy = Dummy::asking(&question(1.0), &[sizes]);
        let asked = sizes[0];
        let found = run(&dummy, 10, &mut Eager);
        assert!(matches!(found, Err(Error::TooManyAnswers { asked: a, answered }) if a == asked && answered == a + 1));
    }

    // A population with fewer users than the protocol was promised.
    let mut few = Users::new(&model, THETA, 9, 1).unwrap();
    let found = run(&Dummy::asking(&question(1.0), &[&[10]]), 10, &mut few);
    assert!(matches!(found, Err(Error::RoundSize { .. })));
    let mut few = Users::new(&model, THETA, 9, 1).unwrap();
    assert!((0..9).all(|_| few.next_user().is_ok()));
    assert!(matches!(few.next_user(), Err(Error::RoundSize { asked: 1, left: 0 })));
    assert!(matches!(Users::new(&model, f64::NAN, 9, 1), Err(Error::Parameter { name: "theta", .. })));
    assert!(matches!(
        Tallies::<_, FiniteChannel>::new(&model, f64::INFINITY, 1),
        Err(Error::Parameter { name: "theta", .. })
    ));
}

#[test]
fn bad_messages_are_typed_errors() {
    let dummy = Dummy::asking(&ternary(), &[&[10], &[5, 5]]);
    let Step::Ask { round, state } = dummy.begin(20).unwrap() else {
        panic!("the script has rounds");
    };
    let advance = |tallies| advance_checked(&dummy, &round, state.clone(), tallies);
    assert!(advance(vec![Counts::new(3)]).is_ok());
    assert!(matches!(advance(vec![Counts::new(2)]), Err(Error::TallyAlphabet { expected: 3, found: 2 })));
    assert!(matches!(advance(vec![Counts::new(4)]), Err(Error::TallyAlphabet { expected: 3, found: 4 })));
    assert!(matches!(advance(vec![]), Err(Error::TallyCount { expected: 1, found: 0 })));
    let mut eleven = Counts::new(3);
    eleven.push(2, 11).unwrap();
    assert!(matches!(advance(vec![eleven]), Err(Error::TooManyAnswers { asked: 10, answered: 11 })));

    let erased = erase(dummy.clone());
    let step = erased.begin(20).unwrap();
    assert!(erased.advance(&step, r#"[{"counts":[1,2,3]}]"#).is_ok());
    for bad in ["", "{}", "null", "{\"ask\":{}}", &step[1..], &step[..step.len() - 1], &format!("{step}x")] {
        let found = erased.advance(bad, r#"[{"counts":[1,2,3]}]"#);
        assert!(matches!(found, Err(Error::Json { what: "step", .. })), "{bad}");
    }
    for bad in ["", "[", "{}", "[1]", r#"[{"counts":[1,-2,3]}]"#, r#"[{"counts":[1,2,3],"users":6}]"#] {
        let found = erased.advance(&step, bad);
        assert!(matches!(found, Err(Error::Json { what: "tallies", .. })), "{bad}");
    }
    let found = erased.advance(&step, r#"[{"counts":[1,2]}]"#);
    assert!(matches!(found, Err(Error::TallyAlphabet { expected: 3, found: 2 })));
    let found = erased.advance(&step, r#"[{"counts":[1,2,3]},{"counts":[1,2,3]}]"#);
    assert!(matches!(found, Err(Error::TallyCount { expected: 1, found: 2 })));
    let found = erased.advance(&step, r#"[{"counts":[8,2,3]}]"#);
    assert!(matches!(found, Err(Error::TooManyAnswers { asked: 10, answered: 13 })));

    // The client: refuses a level above its cap, and answers for every value, because an error would tell.
    let json = wire::write("question", &ternary()).unwrap();
    let mut rng = SystemRng::new().unwrap();
    let level = ternary().epsilon();
    assert!(wire::answer(&json, 0.3, level, &mut rng).unwrap() < 3);
    let below = epsilon(level.value().next_down());
    assert!(matches!(wire::answer(&json, 0.3, below, &mut rng), Err(Error::AboveCap { .. })));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(wire::answer(&json, value, level, &mut rng).unwrap() < 3);
    }
    let found = wire::answer(&json[1..], 0.3, level, &mut rng);
    assert!(matches!(found, Err(Error::Json { what: "question", .. })));
}

/// Same seed, same values: a change of any number below is value-breaking and belongs into the changelog.
mod pinned {
    use super::*;

    #[test]
    fn streams() {
        let words = |purpose, replication, block| {
            let mut rng = stream(42, purpose, replication, block);
            [rng.next_u64(), rng.next_u64()]
        };
        // Each purpose, then another replication and another block.
        assert_eq!(words(Purpose::Data, 0, 0), [16_655_117_618_633_692_673, 18_272_440_880_796_657_974]);
        assert_eq!(words(Purpose::Noise, 0, 0), [3_450_030_183_678_338_473, 18_334_286_549_999_550_616]);
        assert_eq!(words(Purpose::Tally, 0, 0), [4_325_709_716_993_759_840, 3_057_034_139_269_681_236]);
        assert_eq!(words(Purpose::Data, 1, 0), [10_250_454_792_312_405_761, 16_554_026_848_228_651_356]);
        assert_eq!(words(Purpose::Data, 0, 1), [17_380_193_472_557_708_306, 14_557_120_840_595_286_808]);
    }

    #[test]
    fn values_of_users() {
        let model = model();
        let mut users = Users::new(&model, 0.5, BLOCK + 1, 42).unwrap();
        let values: Vec<f64> = (0..=BLOCK).map(|_| users.next_user().unwrap().0).collect();
        // The first two users, the last of a chunk, the last of a block and the first of the next one.
        for (user, value) in [
            (0, -0.17771683119942905),
            (1, -0.5760438799625154),
            (1023, 0.4127875704817049),
            (BLOCK - 1, 1.0046857428130056),
            (BLOCK, 0.548129142082978),
        ] {
            assert!((values[user as usize] - value).abs() < 1e-12, "user {user}: {}", values[user as usize]);
        }
    }

    /// Twelve reports about 0.3.
    fn reports(question: &FiniteChannel) -> [u32; 12] {
        let mut rng = stream(42, Purpose::Noise, 0, 0);
        std::array::from_fn(|_| question.privatize(&0.3, &mut rng))
    }

    #[test]
    fn reports_of_channels() {
        // Threshold and binary response.
        assert_eq!(reports(&question(1.0)), [0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1]);
        // Cuts and ternary response.
        assert_eq!(reports(&ternary()), [0, 1, 1, 0, 0, 0, 1, 1, 2, 0, 0, 2]);
        // Residues and a dense kernel.
        let (quarter, half) = (1 << 62, 1 << 63);
        let columns = vec![vec![quarter, half, quarter], vec![half, quarter, quarter]];
        let residues = Partition::Periodic { origin: 0.0, width: 1.0, cells: 2 };
        let dense = FiniteChannel::new(residues, Kernel::Dense(Dense::new(columns).unwrap())).unwrap();
        assert_eq!(reports(&dense), [0, 2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1]);
    }

    #[test]
    fn drawn_tallies() {
        let model = model();
        let draw = |users| {
            let group = Group { question: question(1.0), users };
            let mut tallies = Tallies::new(&model, THETA, 42).unwrap();
            [0, 1, 2].map(|replication| {
                let mut tally = Bits::default();
                tallies.restart(replication);
                tallies.answer(&group, &mut tally).unwrap();
                tally.ones()
            })
        };
        // One user is one word; tables; by rejection; in parts of 2^40; by inversion.
        assert_eq!(draw(1), [1, 1, 1]);
        assert_eq!(draw(12), [7, 8, 7]);
        assert_eq!(draw(10_000), [5697, 5769, 5708]);
        assert_eq!(draw(1 << 32), [2_455_977_872, 2_455_949_214, 2_455_969_740]);
        assert_eq!(draw(3 << 40), [1_886_178_223_848, 1_886_178_351_134, 1_886_177_274_012]);
        let mut rng = stream(42, Purpose::Tally, 0, 0);
        assert_eq!([(); 6].map(|()| ldp_simulate::draw_binomial(300, 0.01, &mut rng).unwrap()), [2, 1, 5, 0, 2, 4]);
        // Three reports: conditional binomials.
        let group = Group { question: ternary(), users: 1000 };
        let mut tally = Counts::new(3);
        Tallies::new(&model, THETA, 42).unwrap().answer(&group, &mut tally).unwrap();
        assert_eq!(tally.counts(), [271, 336, 393]);
    }

    #[test]
    fn assignments_of_rows() {
        // At ε = 44 reports are the truth, so the count tells which rows were asked. The file is sorted.
        let asked = |rows: u32, order| {
            let values: Vec<f64> = (0..rows).map(|row| f64::from(row) - f64::from(rows / 2)).collect();
            let mut rows = Rows::new(&values[..], order, RowNoise::demonstration(42)).unwrap();
            [100, 100].map(|users| {
                let group = Group { question: question(44.0), users };
                let mut tally = Bits::default();
                rows.answer(&group, &mut tally).unwrap();
                tally.ones()
            })
        };
        // In the order of the file; shuffled in memory; by a computed permutation.
        assert_eq!(asked(1000, Order::File), [0, 0]);
        assert_eq!(asked(1000, Order::Random), [55, 52]);
        assert_eq!(asked(100_000, Order::Random), [52, 47]);
    }
}
