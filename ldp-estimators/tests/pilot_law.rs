//! The exact law of the bitwise pilot against the pilot itself: on every tally, on one tally of every kind, and on
//! drawn ones (fixed seeds, 40,000 replications, α = 1e-6).

use ldp_core::conformance::{ALPHA, goodness_of_fit};
use ldp_core::model::Gaussian;
use ldp_core::special::binomial;
use ldp_core::{Counts, Epsilon, Error, Finite, StagedEstimator, Step, Tally, run};
use ldp_estimators::{BitwisePilot, PilotEstimate, PilotLaw, Share};
use ldp_simulate::Tallies;
use std::collections::BTreeMap;

fn pilot(level: f64, range: [f64; 2], sigma: f64, beta: f64) -> BitwisePilot {
    BitwisePilot::new(Epsilon::new(level).unwrap(), range, sigma, Share::HALF).unwrap().with_beta(beta).unwrap()
}

fn law(pilot: &BitwisePilot, group: u64, sigma: f64, theta: f64) -> PilotLaw {
    let law = pilot.law(group, &Gaussian::new(sigma).unwrap(), theta).unwrap();
    let mass: f64 = law.found.iter().map(|entry| entry.0).sum();
    assert!((mass - 1.0).abs() < 1e-12 && (0.0..1e-22).contains(&law.lost), "{mass} and {} lost", law.lost);
    let key = |entry: &(f64, PilotEstimate)| (entry.1.value(), entry.1.scale());
    assert!(law.found.is_sorted_by(|a, b| key(a) < key(b)), "{law:?}");
    law
}

/// Tallies of one scale with their probabilities.
type Weighed = Vec<(f64, Counts)>;

/// Every tally of every scale, finest first. At most 170 users, whose factorial is still a number.
fn tallies(pilot: &BitwisePilot, group: u64, sigma: f64, theta: f64) -> Vec<Weighed> {
    let factorial: Vec<f64> = (0..=group).map(|n| (1..=n).map(|i| i as f64).product()).collect();
    let Step::Ask { round, .. } = pilot.begin(1 << 40).unwrap() else { panic!("it asks first") };
    let scale = |question: &ldp_mechanisms::Residue| {
        let mut p = [0.0; 4];
        question.marginal(&Gaussian::new(sigma).unwrap(), theta, &mut p);
        let mut all = vec![];
        for a in 0..=group {
            for b in 0..=group - a {
                for c in 0..=group - a - b {
                    let counts = [a, b, c, group - a - b - c];
                    let (mut tally, mut mass) = (Counts::new(4), factorial[group as usize]);
                    for (report, (&count, p)) in (0..).zip(counts.iter().zip(p)) {
                        tally.push(report, count).unwrap();
                        mass *= p.powi(count as i32) / factorial[count as usize];
                    }
                    all.push((mass, tally));
                }
            }
        }
        all
    };
    round.groups().iter().map(|group| scale(&group.question)).collect()
}

/// The law by running the pilot on every combination of tallies: value and scale with their probability. The sums have a
/// hundred million terms, so what each addition rounds off is kept.
fn enumerated(pilot: &BitwisePilot, scales: &[Weighed]) -> BTreeMap<(u64, i32), f64> {
    let (mut law, mut at) = (BTreeMap::<_, [f64; 2]>::new(), vec![0; scales.len()]);
    let mut answers: Vec<Counts> = scales.iter().map(|scale| scale[0].1.clone()).collect();
    loop {
        let Step::Done(found) = pilot.advance((), &answers).unwrap() else { panic!("one round") };
        let mass: f64 = scales.iter().zip(&at).map(|(scale, &index): (_, &usize)| scale[index].0).product();
        let [sum, rounded] = law.entry((found.value().to_bits(), found.scale())).or_default();
        let next = *sum + (mass + *rounded);
        *rounded += mass - (next - *sum);
        *sum = next;
        // The next combination, as an odometer counts.
        let Some(place) = (0..at.len()).find(|&place| at[place] + 1 < scales[place].len()) else {
            return law.into_iter().map(|(end, [sum, rounded])| (end, sum + rounded)).collect();
        };
        at[place] += 1;
        at[..place].fill(0);
        for place in 0..=place {
            answers[place].clone_from(&scales[place][at[place]].1);
        }
    }
}

fn worst(law: &PilotLaw, expected: &BTreeMap<(u64, i32), f64>, error: impl Fn(f64, f64) -> f64) -> f64 {
    let found: BTreeMap<_, _> = law.found.iter().map(|(p, end)| ((end.value().to_bits(), end.scale()), *p)).collect();
    let at = |law: &BTreeMap<_, f64>, key| law.get(key).copied().unwrap_or(0.0);
    found.keys().chain(expected.keys()).map(|key| error(at(&found, key), at(expected, key))).fold(0.0, f64::max)
}

/// Small groups, all of whose tallies can be gone through. Ties are common.
#[test]
fn every_combination_of_tallies() {
    let absolute = |found: f64, expected: f64| (found - expected).abs();
    for (level, range, sigma, theta, group) in [
        (0.2, [0.0, 8.0], 1.0, 3.3, 6),
        (0.01, [-4.0, 2.5], 1.5, -1.5, 7),
        (1.0, [-3.0, 0.0], 1.0, -1.9, 12),
        (20.0, [-3.0, 0.0], 1.0, -0.6, 12),
        (8.0, [10.0, 13.5], 1.0, 11.9, 16),
        (1.0, [0.0, 3.0], 1.0, 0.5, 40),
        (1.0, [0.0, 8.0], 1.0, 3.3, 0),
    ] {
        let pilot = pilot(level, range, sigma, 0.999);
        let expected = enumerated(&pilot, &tallies(&pilot, group, sigma, theta));
        let found = law(&pilot, group, sigma, theta);
        let away = worst(&found, &expected, absolute);
        assert!(away < 1e-13, "ε = {level}, {group} users: {away}");
        // Some tallies lead down to the finest scale, unless nobody answers.
        let finest = expected.keys().map(|key| key.1).min().unwrap();
        assert_eq!(finest == f64::log2(sigma).floor() as i32, group > 0, "ε = {level}, {group} users");
        // One user more, or values a little elsewhere, are another law.
        assert!(worst(&law(&pilot, group + 1, sigma, theta), &expected, absolute) > 1e-6 || group == 0);
        assert!(worst(&law(&pilot, group, sigma, theta + 1e-3), &expected, absolute) > 1e-8 || group == 0);
    }
}

/// Larger groups: tallies of one kind are one, and rare ends are as accurate as common ones.
#[test]
fn one_tally_of_every_kind() {
    for (level, range, sigma, theta, group, rare) in [
        (4.0, [0.0, 16.0], 1.0, 5.3, 100, [1e-5, 1e-4]),
        (6.0, [0.0, 12.0], 1.0, 2.2, 150, [1e-24, 1e-23]),
        (2.0, [-16.0, 16.0], 2.5, -7.9, 150, [1e-2, 1.0]),
    ] {
        let pilot = pilot(level, range, sigma, 0.05);
        let psi = (level + 4.0) / (level * 2f64.sqrt())
            * (group as f64 * (8.0 * f64::from(pilot.scales()) / 0.05).ln()).sqrt();
        let kinds = |scale: Weighed| {
            let mut kinds: BTreeMap<(usize, usize, bool), (f64, Counts)> = BTreeMap::new();
            for (mass, tally) in scale {
                let mut order = [0, 1, 2, 3];
                order.sort_by_key(|&residue| std::cmp::Reverse(tally.counts()[residue]));
                let most = tally.counts()[order[0]] as f64;
                let debiased = most + (4.0 * most - group as f64) / level.exp_m1();
                let passes = debiased >= 0.52 * group as f64 + psi;
                kinds.entry((order[0], order[1], passes)).or_insert((0.0, tally)).0 += mass;
            }
            kinds.into_values().collect()
        };
        let scales: Vec<Weighed> = tallies(&pilot, group, sigma, theta).into_iter().map(kinds).collect();
        let expected = enumerated(&pilot, &scales);
        let found = law(&pilot, group, sigma, theta);
        let relative = |a: f64, b: f64| ((a - b).abs() - found.lost) / b.max(found.lost);
        let away = worst(&found, &expected, relative);
        assert!(away < 1e-11, "ε = {level}: {away}");
        let failure = found.failure(theta, 5.0 * sigma);
        let far = |key: &(u64, i32)| (f64::from_bits(key.0) - theta).abs() > 5.0 * sigma;
        let sum: f64 = expected.iter().filter(|(key, _)| far(key)).map(|(_, mass)| mass).sum();
        assert!((failure / sum - 1.0).abs() < 1e-11, "{failure} for {sum}");
        assert!(rare[0] < failure && failure < rare[1], "ε = {level}: {failure}");
    }
}

/// At the coarsest scale of the paper's setting all values are 20σ inside one residue: the pilot ends there if that
/// residue's count is too small, which is a binomial tail of 5e-15.
#[test]
fn a_rare_end_in_closed_form() {
    let (k, truth) = (2142u64, 1f64.exp() / (1f64.exp() + 3.0));
    let threshold = 0.52 * k as f64 + 5.0 / 2f64.sqrt() * (k as f64 * 1120f64.ln()).sqrt();
    let passes = |c: u64| c as f64 + (4.0 * c as f64 - k as f64) / 1f64.exp_m1() >= threshold;
    let least = (0..=k).find(|&c| passes(c)).unwrap();
    let found = law(&pilot(1.0, [0.0, 128.0], 1.0, 0.05), k, 1.0, 84.5);
    let stopped: f64 = found.found.iter().filter(|(_, end)| end.scale() == 6).map(|entry| entry.0).sum();
    let expected = binomial::cdf(least - 1, k, truth);
    assert!((1e-15..1e-14).contains(&expected), "{expected}");
    assert!((stopped / expected - 1.0).abs() < 1e-10, "{stopped} for {expected}");
    // With the threshold one off it would be another number.
    assert!((stopped / binomial::cdf(least, k, truth) - 1.0).abs() > 0.1);
}

/// The p-value of drawn pilots under a law.
fn fits(law: &PilotLaw, drawn: &BTreeMap<(u64, i32), u64>) -> f64 {
    let key = |end: &PilotEstimate| (end.value().to_bits(), end.scale());
    let mut counts: Vec<u64> = law.found.iter().map(|(_, end)| drawn.get(&key(end)).copied().unwrap_or(0)).collect();
    let mut probabilities: Vec<f64> = law.found.iter().map(|entry| entry.0).collect();
    // What the law does not know is impossible.
    counts.push(drawn.values().sum::<u64>() - counts.iter().sum::<u64>());
    probabilities.push(0.0);
    goodness_of_fit(&counts, &probabilities)
}

#[test]
fn drawn_pilots_have_the_law() {
    let mut lower = 0;
    for (level, range, sigma, theta, users) in [
        (1.0, [0.0, 128.0], 1.0, 84.5, 15_000),
        (1.0, [0.0, 128.0], 1.0, 84.5, 4200),
        (1.0, [0.0, 128.0], 1.0, 100.25, 15_000),
        (1.0, [0.0, 128.0], 1.0, 100.25, 3500),
        (1.0, [-128.0, 128.0], 3.0, -100.3, 15_000),
        (1.0, [-128.0, 128.0], 3.0, -100.3, 5000),
        (4.0, [-40.0, -3.0], 0.3, -17.21, 15_000),
        (4.0, [-40.0, -3.0], 0.3, -17.21, 560),
    ] {
        let model = Gaussian::new(sigma).unwrap();
        let pilot = pilot(level, range, sigma, 0.05);
        let group = users / u64::from(pilot.scales());
        let mut population = Tallies::new(&model, theta, 71).unwrap();
        let mut drawn = BTreeMap::new();
        for replication in 0..40_000 {
            population.restart(replication);
            let found = run(&pilot, 2 * users, &mut population).unwrap();
            *drawn.entry((found.value().to_bits(), found.scale())).or_insert(0) += 1;
        }
        let at = |theta| fits(&law(&pilot, group, sigma, theta), &drawn);
        let p = at(theta);
        assert!(p > ALPHA, "θ = {theta}, {users} users: {p}");
        // Mutants. Where nearly all pilots end at one place, only one of them may show.
        let moved = at(theta + 0.05 * sigma);
        let more = fits(&law(&pilot, group + group / 20, sigma, theta), &drawn);
        assert!(moved.min(more) < ALPHA, "θ = {theta}, {users} users: {moved} and {more}");
        lower += u32::from(fits(&law(&pilot.with_beta(0.06).unwrap(), group, sigma, theta), &drawn) < ALPHA);
    }
    // A slightly lower threshold.
    assert!(lower >= 5, "{lower}");
}

#[test]
fn corners() {
    let model = Gaussian::new(1.0).unwrap();
    let wide = pilot(1.0, [0.0, 128.0], 1.0, 0.05);
    let refused = wide.law((1 << 18) + 1, &model, 3.0);
    assert!(matches!(refused, Err(Error::TooMany { name: "users per scale", most: 262_144, value: 262_145 })));
    assert!(matches!(wide.law(10, &model, f64::NAN), Err(Error::Parameter { name: "theta", .. })));
    // All values lie in [84, 85), residue 0. Nobody reports another, so by the tie rule residue 1 is second: 85. One lie
    // for residue 2 or 3, each of weight 1 in 2^64, makes it 84, though the probability of the truth rounds to one.
    let sure = law(&pilot(60.0, [0.0, 128.0], 1.0, 0.05), 1000, 1e-3, 84.5);
    let ends: Vec<_> = sure.found.iter().map(|(_, end)| (end.value(), end.scale())).collect();
    assert_eq!(ends, [(84.0, 0), (85.0, 0)]);
    assert!((sure.found[0].0 / (2000.0 * 2f64.powi(-64)) - 1.0).abs() < 1e-12, "{sure:?}");
    assert_eq!(sure.failure(84.5, 1.0), 0.0);
    // Nobody, no signal, a mean outside of the range, and all the scales there are.
    law(&wide, 0, 1.0, 3.0);
    law(&pilot(1e-9, [0.0, 128.0], 1.0, 0.05), 50, 1.0, 84.5);
    law(&wide, 1000, 1.0, -1e6);
    let many = pilot(2.0, [-1e12, 1e12], 1.0, 0.999).with_scales(60).unwrap();
    for group in [13, 40, 200, 2000] {
        let law = law(&many, group, 1.0, 0.0);
        assert_eq!(law.failure(0.0, 1e300), 0.0);
        assert!((law.failure(0.5, 0.0) - 1.0).abs() < 1e-12);
    }
}
