//! Sets of categories: levels and moments by enumeration of all reports, samplers and drawn tallies against their laws.
//!
//! Statistical tests have fixed seeds and α = 1e-6, and each shows a mutant that it rejects.

use ldp_core::conformance::{
    ALPHA, check_draws, check_epsilon_density, check_merge_laws, check_wire_round_trip, goodness_of_fit,
};
use ldp_core::model::{Categorical, Poisson};
use ldp_core::{Cdf, Density, Epsilon, Error, Group, Mechanism, Numerics, Population, Tally};
use ldp_mechanisms::{CategorySet, SetCounts, SubsetSelection, UnaryEncoding};
use ldp_simulate::DrawTally;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use ldp_simulate::{Tallies, Users, draw_binomial};
use std::collections::BTreeMap;
use std::fmt::Debug;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

/// All sets out of 0..d, the set with the bits of i at place i.
fn all_sets(categories: u32) -> Vec<CategorySet> {
    let members = |bits: u32| (0..categories).filter(|v| bits >> v & 1 == 1).collect::<Vec<_>>();
    (0..1 << categories).map(|bits| CategorySet::new(categories, &members(bits)).unwrap()).collect()
}

fn place(set: &CategorySet) -> usize {
    set.members().map(|v| 1 << v).sum()
}

/// The probability of every set for a user who holds this category.
fn law<Q: Density<Input = f64, Report = CategorySet>>(mechanism: &Q, categories: u32, input: f64) -> Vec<f64> {
    all_sets(categories).iter().map(|set| mechanism.ln_density(set, &input).exp()).collect()
}

/// What both mechanisms have beside their traits.
trait Frequencies: Density<Input = f64, Report = CategorySet> + DrawTally<SetCounts> + Clone + PartialEq + Debug {
    fn estimate(&self, counts: &SetCounts) -> Vec<f64>;
    fn spread(&self, frequency: f64) -> f64;
}

impl Frequencies for UnaryEncoding {
    fn estimate(&self, counts: &SetCounts) -> Vec<f64> {
        self.frequencies(counts).unwrap()
    }
    fn spread(&self, frequency: f64) -> f64 {
        self.variance(frequency)
    }
}

impl Frequencies for SubsetSelection {
    fn estimate(&self, counts: &SetCounts) -> Vec<f64> {
        self.frequencies(counts).unwrap()
    }
    fn spread(&self, frequency: f64) -> f64 {
        self.variance(frequency)
    }
}

/// Level, unbiasedness and variance, over all reports and inputs.
fn check_exact<Q: Frequencies>(mechanism: &Q, claim: f64, categories: u32) {
    assert_eq!(Q::NUMERICS, Numerics::Exact);
    let level = mechanism.epsilon().value();
    assert!(level <= claim && level >= claim - 1e-12, "{mechanism:?}: {level} for {claim}");
    let inputs: Vec<f64> = (0..categories).map(f64::from).collect();
    let possible: Vec<CategorySet> =
        all_sets(categories).into_iter().filter(|set| mechanism.ln_density(set, &0.0) > f64::MIN).collect();
    check_epsilon_density(mechanism, epsilon(claim), &inputs, &possible).unwrap();

    let laws: Vec<Vec<f64>> = inputs.iter().map(|&x| law(mechanism, categories, x)).collect();
    let estimates: Vec<Vec<f64>> = all_sets(categories)
        .into_iter()
        .map(|set| {
            let mut counts = SetCounts::new(categories);
            counts.push(set, 1).unwrap();
            mechanism.estimate(&counts)
        })
        .collect();
    let scale = mechanism.spread(0.0).max(1.0);
    for (x, law) in laws.iter().enumerate() {
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{mechanism:?}");
        for v in 0..inputs.len() {
            let mean: f64 = law.iter().zip(&estimates).map(|(p, estimate)| p * estimate[v]).sum();
            let expected = if v == x { 1.0 } else { 0.0 };
            assert!((mean - expected).abs() < 1e-12 * scale.sqrt(), "{mechanism:?}, {x}, {v}: {mean}");
        }
    }
    // Users who hold category v with probability 2(v + 1)/(d(d + 1)).
    let triangle = f64::from(categories * (categories + 1)) / 2.0;
    let frequency = |v: usize| (v + 1) as f64 / triangle;
    for v in 0..inputs.len() {
        let second: f64 = laws
            .iter()
            .enumerate()
            .map(|(x, law)| {
                frequency(x) * law.iter().zip(&estimates).map(|(p, estimate)| p * estimate[v].powi(2)).sum::<f64>()
            })
            .sum();
        let variance = second - frequency(v).powi(2);
        assert!((variance / mechanism.spread(frequency(v)) - 1.0).abs() < 1e-11, "{mechanism:?}, {v}: {variance}");
    }
}

#[test]
fn levels_and_moments_by_enumeration() {
    for claim in [0.01, 1.0, 5.0] {
        for categories in 2..=6 {
            check_exact(&UnaryEncoding::new(epsilon(claim), categories).unwrap(), claim, categories);
            for size in 1..categories {
                let subsets = SubsetSelection::with_size(epsilon(claim), categories, size).unwrap();
                check_exact(&subsets, claim, categories);
            }
        }
    }
}

/// The claim is used up but for about a unit of the smallest weight.
#[test]
fn levels_at_extreme_claims() {
    let unit = |weight: u64| 3.0 / weight as f64;
    for claim in [1e-6, 1e-3, 0.2, 4.0, 10.0, 20.0, 30.0] {
        for categories in [2, 3, 1000] {
            let unary = UnaryEncoding::new(epsilon(claim), categories).unwrap();
            let lost = claim - unary.epsilon().value();
            assert!((0.0..=1e-15 + unit(unary.lie())).contains(&lost), "ε = {claim}: lost {lost}");
            for size in [1, categories / 2, categories - 1] {
                let subsets = SubsetSelection::with_size(epsilon(claim), categories, size).unwrap();
                let lost = claim - subsets.epsilon().value();
                let smaller = subsets.weight().min(subsets.weight().wrapping_neg());
                assert!((0.0..=1e-15 + unit(smaller)).contains(&lost), "ε = {claim}, k = {size}: lost {lost}");
            }
        }
    }
}

fn check_sampled<Q: Frequencies>(mechanism: &Q, categories: u32, seed: u64) {
    let other = f64::from(categories - 1);
    for input in [0.0, 1.0, other] {
        let mut rng = stream(seed, Purpose::Noise, input as u64, 0);
        let mut counts = vec![0u64; 1 << categories];
        for _ in 0..100_000 {
            counts[place(&mechanism.privatize(&input, &mut rng))] += 1;
        }
        let p = goodness_of_fit(&counts, &law(mechanism, categories, input));
        assert!(p > ALPHA, "{mechanism:?}, {input}: p = {p:e}");
        // The law of a user of whom one in ten holds another category.
        let wrong = law(mechanism, categories, if input == 0.0 { other } else { 0.0 });
        let mixed: Vec<f64> =
            law(mechanism, categories, input).iter().zip(wrong).map(|(p, q)| 0.9 * p + 0.1 * q).collect();
        assert!(goodness_of_fit(&counts, &mixed) < ALPHA, "{mechanism:?}, {input}: the mutant passes");
    }
}

#[test]
fn sets_are_sampled_exactly() {
    for (seed, level) in (0..).zip([1.0, 3.0]) {
        for categories in 2..=5 {
            check_sampled(&UnaryEncoding::new(epsilon(level), categories).unwrap(), categories, seed);
            for size in 1..categories {
                let subsets = SubsetSelection::with_size(epsilon(level), categories, size).unwrap();
                check_sampled(&subsets, categories, seed);
            }
        }
    }
}

/// Beyond one word of bits: how often each category is in the set.
#[test]
fn many_categories() {
    const DRAWS: u64 = 20_000;
    const CATEGORIES: u32 = 130;
    let unary = UnaryEncoding::new(epsilon(1.0), CATEGORIES).unwrap();
    let subsets = SubsetSelection::new(epsilon(1.0), CATEGORIES).unwrap();
    let mut rng = stream(7, Purpose::Noise, 0, 0);
    for (x, category) in [0u32, 63, 64, 129].into_iter().map(|x| (x as usize, f64::from(x))) {
        let (mut some, mut fixed) = (SetCounts::new(CATEGORIES), SetCounts::new(CATEGORIES));
        for _ in 0..DRAWS {
            some.push(unary.privatize(&category, &mut rng), 1).unwrap();
            let report = subsets.privatize(&category, &mut rng);
            assert_eq!(report.len(), subsets.size());
            fixed.push(report, 1).unwrap();
        }
        let k = f64::from(subsets.size());
        let g = k * 1f64.exp() / (k * 1f64.exp() + 130.0 - k);
        for (counts, truth, lie) in [(some, 0.5, 1.0 / (1f64.exp() + 1.0)), (fixed, g, (k - g) / 129.0)] {
            let score = |v: usize, p: f64| {
                let n = DRAWS as f64;
                (counts.counts()[v] as f64 - n * p) / (n * p * (1.0 - p)).sqrt()
            };
            let largest = (0..130).map(|v| score(v, if v == x { truth } else { lie }).abs()).fold(0.0, f64::max);
            // 130 categories at α = 1e-6 together.
            assert!(largest < 5.77, "category {x}: z = {largest}");
            assert!(score(x, lie).abs() > 5.77, "category {x}: the mutant passes");
        }
    }
}

/// The probability of every set for a user with this law of categories.
fn mixture<Q: Frequencies>(mechanism: &Q, frequencies: &[f64]) -> Vec<f64> {
    let categories = frequencies.len() as u32;
    let mut sum = vec![0.0; 1 << categories];
    for (x, frequency) in (0u32..).zip(frequencies) {
        for (sum, p) in sum.iter_mut().zip(law(mechanism, categories, x.into())) {
            *sum += frequency * p;
        }
    }
    sum
}

/// A model of categories with any law.
struct Table(Vec<f64>);

impl Cdf for Table {
    fn cdf(&self, _theta: f64, x: f64) -> f64 {
        (0u32..).zip(&self.0).filter(|(v, _)| f64::from(*v) < x).map(|(_, p)| p).sum()
    }
    fn cdf_dtheta(&self, _theta: f64, _x: f64) -> f64 {
        0.0
    }
}

fn draw<Q: Frequencies>(mechanism: &Q, frequencies: &[f64], users: u64, rng: &mut SimulationRng) -> Vec<u64> {
    let mut law = Vec::new();
    mechanism.law(&Table(frequencies.to_vec()), 0.0, &mut law);
    let mut tally = SetCounts::new(frequencies.len() as u32);
    mechanism.draw_tally(&law, users, rng, &mut tally).unwrap();
    assert_eq!(tally.users(), users);
    tally.counts().to_vec()
}

/// The whole law of the counts of three users, against sums of three independent reports.
fn check_three_users<Q: Frequencies>(mechanism: &Q, frequencies: &[f64], seed: u64) {
    let categories = frequencies.len();
    let one = mixture(mechanism, frequencies);
    let mut law = BTreeMap::from([(vec![0u64; categories], 1.0)]);
    for _ in 0..3 {
        let mut next = BTreeMap::new();
        for (counts, p) in &law {
            for (bits, q) in one.iter().enumerate().filter(|(_, q)| **q > 0.0) {
                let sum: Vec<u64> = (0..categories).map(|v| counts[v] + (bits >> v & 1) as u64).collect();
                *next.entry(sum).or_insert(0.0) += p * q;
            }
        }
        law = next;
    }
    let places: BTreeMap<Vec<u64>, usize> = law.keys().cloned().zip(0..).collect();
    let probabilities: Vec<f64> = law.values().copied().collect();
    let mut rng = stream(seed, Purpose::Tally, 0, 0);
    let mut drawn = vec![0u64; law.len()];
    for _ in 0..100_000 {
        drawn[places[&draw(mechanism, frequencies, 3, &mut rng)]] += 1;
    }
    let p = goodness_of_fit(&drawn, &probabilities);
    assert!(p > ALPHA, "{mechanism:?}, {frequencies:?}: p = {p:e}");
    // Counts with the right marginals, but drawn for every category on its own.
    let share = |v: usize| one.iter().enumerate().filter(|(bits, _)| bits >> v & 1 == 1).map(|(_, p)| p).sum::<f64>();
    let mut mutant = vec![0u64; law.len() + 1];
    for _ in 0..100_000 {
        let counts: Vec<u64> =
            (0..categories).map(|v| draw_binomial(3, share(v).min(1.0), &mut rng).unwrap()).collect();
        mutant[places.get(&counts).copied().unwrap_or(law.len())] += 1;
    }
    let p = goodness_of_fit(&mutant, &[probabilities, vec![0.0]].concat());
    assert!(p < ALPHA, "{mechanism:?}, {frequencies:?}: the mutant passes with p = {p:e}");
}

#[test]
fn drawn_tallies_have_the_law_of_three_users() {
    for frequencies in [vec![0.5, 0.3, 0.2], vec![0.0, 0.9, 0.1], vec![0.4, 0.3, 0.2, 0.1], vec![0.1, 0.0, 0.9, 0.0]] {
        let categories = frequencies.len() as u32;
        check_three_users(&UnaryEncoding::new(epsilon(4.0), categories).unwrap(), &frequencies, 50);
        for size in 1..categories {
            let subsets = SubsetSelection::with_size(epsilon(2.0), categories, size).unwrap();
            check_three_users(&subsets, &frequencies, 51);
        }
    }
}

/// Means and covariances of the counts of many users.
fn check_many_users<Q: Frequencies>(mechanism: &Q, frequencies: &[f64], seed: u64) {
    const DRAWS: usize = 20_000;
    const USERS: u64 = 1000;
    let d = frequencies.len();
    let one = mixture(mechanism, frequencies);
    let both = |v: usize, w: usize| -> f64 {
        one.iter().enumerate().filter(|(bits, _)| bits >> v & 1 == 1 && bits >> w & 1 == 1).map(|(_, p)| p).sum()
    };
    let mut rng = stream(seed, Purpose::Tally, 0, 0);
    let mean: Vec<f64> = (0..d).map(|v| USERS as f64 * both(v, v)).collect();
    let drawn: Vec<Vec<f64>> = (0..DRAWS)
        .map(|_| draw(mechanism, frequencies, USERS, &mut rng).iter().zip(&mean).map(|(t, m)| *t as f64 - m).collect())
        .collect();
    let score = |expected: f64, value: &dyn Fn(&[f64]) -> f64| {
        let n = DRAWS as f64;
        let average = drawn.iter().map(|t| value(t)).sum::<f64>() / n;
        let square = drawn.iter().map(|t| (value(t) - average).powi(2)).sum::<f64>() / n;
        (average - expected).abs() / (square / n).sqrt().max(1e-12)
    };
    for v in 0..d {
        assert!(score(0.0, &|t| t[v]) < 4.892, "{mechanism:?}: mean of {v}");
        assert!(score(0.005 * mean[v], &|t| t[v]) > 4.892, "{mechanism:?}: the mutant passes");
        for w in 0..=v {
            let covariance = USERS as f64 * (both(v, w) - both(v, v) * both(w, w));
            assert!(score(covariance, &|t| t[v] * t[w]) < 4.892, "{mechanism:?}: covariance of {v} and {w}");
        }
        let variance = USERS as f64 * both(v, v) * (1.0 - both(v, v));
        assert!(score(1.1 * variance, &|t| t[v] * t[v]) > 4.892, "{mechanism:?}: the mutant passes");
    }
}

#[test]
fn drawn_tallies_have_the_moments_of_many_users() {
    let frequencies = [0.35, 0.05, 0.3, 0.1, 0.2];
    check_many_users(&UnaryEncoding::new(epsilon(1.0), 5).unwrap(), &frequencies, 60);
    for size in 1..5 {
        check_many_users(&SubsetSelection::with_size(epsilon(1.0), 5, size).unwrap(), &frequencies, 61);
    }
}

/// The two populations of `drive`, on categories and on counts that go beyond the last one.
#[test]
fn users_and_tallies_agree() {
    const USERS: u64 = 100_000;
    fn counts<Q: Frequencies>(mechanism: &Q, poisson: bool) -> [Vec<u64>; 2] {
        let group = Group { question: mechanism.clone(), users: USERS };
        let (categorical, mut tallies) = (Categorical::new(5).unwrap(), [SetCounts::new(5), SetCounts::new(5)]);
        let [one_by_one, at_once] = &mut tallies;
        if poisson {
            Users::new(&Poisson, 3.0, USERS, 1).unwrap().answer(&group, one_by_one).unwrap();
            Tallies::new(&Poisson, 3.0, 1).unwrap().answer(&group, at_once).unwrap();
        } else {
            Users::new(&categorical, 0.4, USERS, 1).unwrap().answer(&group, one_by_one).unwrap();
            Tallies::new(&categorical, 0.4, 1).unwrap().answer(&group, at_once).unwrap();
        }
        tallies.map(|tally| tally.counts().to_vec())
    }
    fn check<Q: Frequencies>(mechanism: &Q) {
        let mut law = Vec::new();
        mechanism.law(&Poisson, 3.0, &mut law);
        assert!((law[4] - 0.352_768_111_217_768_7).abs() < 1e-12, "P(X ≥ 4) is {}", law[4]);
        for (poisson, frequencies) in [(false, vec![0.4, 0.15, 0.15, 0.15, 0.15]), (true, law)] {
            let one = mixture(mechanism, &frequencies);
            for counts in counts(mechanism, poisson) {
                for (v, count) in counts.into_iter().enumerate() {
                    let p: f64 = one.iter().enumerate().filter(|(b, _)| b >> v & 1 == 1).map(|(_, p)| p).sum();
                    let fit = |p: f64| goodness_of_fit(&[count, USERS - count], &[p, 1.0 - p]);
                    assert!(fit(p) > ALPHA, "{mechanism:?}: category {v}");
                    assert!(fit(1.05 * p) < ALPHA, "{mechanism:?}: the mutant passes");
                }
            }
        }
    }
    check(&UnaryEncoding::new(epsilon(1.0), 5).unwrap());
    check(&SubsetSelection::with_size(epsilon(1.0), 5, 2).unwrap());
}

/// A trillion users cost as much as a thousand.
#[test]
fn tallies_of_any_size_are_drawn() {
    let mut rng = stream(70, Purpose::Tally, 0, 0);
    let frequencies = [0.2, 0.5, 0.3];
    let mut check = |counts: &mut dyn FnMut(u64, &mut SimulationRng) -> Vec<u64>, one: &[f64]| {
        assert!(
            counts(0, &mut rng).iter().all(|&count| count == 0) && counts(1, &mut rng).iter().all(|&count| count <= 1)
        );
        let n = 1_000_000_000_000;
        for (v, count) in counts(n, &mut rng).into_iter().enumerate() {
            let p: f64 = one.iter().enumerate().filter(|(bits, _)| bits >> v & 1 == 1).map(|(_, p)| p).sum();
            let score = |p: f64| (count as f64 - n as f64 * p).abs() / (n as f64 * p * (1.0 - p)).sqrt();
            assert!(score(p) < 4.892, "category {v}: z = {}", score(p));
            assert!(score(p * (1.0 + 1e-4)) > 4.892, "category {v}: the mutant passes");
        }
    };
    let unary = UnaryEncoding::new(epsilon(1.0), 3).unwrap();
    check(&mut |users, rng| draw(&unary, &frequencies, users, rng), &mixture(&unary, &frequencies));
    for size in [1, 2] {
        let subsets = SubsetSelection::with_size(epsilon(1.0), 3, size).unwrap();
        check(&mut |users, rng| draw(&subsets, &frequencies, users, rng), &mixture(&subsets, &frequencies));
    }
}

#[test]
fn any_value_is_answered_from_the_same_number_of_words() {
    let inputs = [-1.0, 0.0, 0.7, 1.0, 1e300, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 69.0];
    for level in [0.2, 4.0].map(epsilon) {
        for categories in [2, 3, 64, 70] {
            let unary = UnaryEncoding::new(level, categories).unwrap();
            let subsets = SubsetSelection::new(level, categories).unwrap();
            check_draws(&unary, &inputs).unwrap();
            check_draws(&subsets, &inputs).unwrap();
            check_draws(&SubsetSelection::with_size(level, categories, categories - 1).unwrap(), &inputs).unwrap();
            // Outside counts as the nearest, and what is not a number as the first.
            let report = |x: f64| unary.privatize(&x, &mut stream(1, Purpose::Noise, 0, 0));
            assert_eq!([report(-1.0), report(f64::NAN), report(0.9)], [0.0; 3].map(report));
            assert_eq!(report(1e300), report(f64::from(categories - 1)));
        }
    }
}

#[test]
fn messages_survive_the_wire_and_tampered_ones_are_refused() {
    check_wire_round_trip(&UnaryEncoding::new(epsilon(1.0), 7).unwrap()).unwrap();
    check_wire_round_trip(&SubsetSelection::new(epsilon(1.0), 7).unwrap()).unwrap();
    let set = CategorySet::new(130, &[0, 63, 64, 129]).unwrap();
    check_wire_round_trip(&set).unwrap();
    assert_eq!(serde_json::to_string(&set).unwrap(), r#"{"categories":130,"members":[0,63,64,129]}"#);
    for bad in [
        r#"{"categories":3,"members":[3]}"#,
        r#"{"categories":3,"members":[1,0]}"#,
        r#"{"categories":3,"members":[1,1]}"#,
        r#"{"categories":1,"members":[0]}"#,
        r#"{"categories":4294967295,"members":[]}"#,
        r#"{"categories":3,"members":[],"more":1}"#,
    ] {
        assert!(serde_json::from_str::<CategorySet>(bad).is_err(), "{bad}");
    }
    for bad in [
        r#"{"categories":3,"lie":"0"}"#,
        r#"{"categories":3,"lie":"9223372036854775808"}"#,
        r#"{"categories":1,"lie":"1"}"#,
        r#"{"categories":3,"lie":1}"#,
        r#"{"categories":3,"lie":"1","epsilon":44}"#,
    ] {
        assert!(serde_json::from_str::<UnaryEncoding>(bad).is_err(), "{bad}");
    }
    for bad in [r#"{"counts":[1,3],"users":2}"#, r#"{"counts":[1],"users":2,"more":0}"#, r#"{"counts":[1]}"#] {
        assert!(serde_json::from_str::<SetCounts>(bad).is_err(), "{bad}");
    }
}

#[test]
fn counts_are_a_tally() {
    let sets = all_sets(3);
    check_merge_laws(&SetCounts::new(3), &sets[1..6], CategorySet::new(4, &[0]).unwrap()).unwrap();
    let mut counts = SetCounts::new(3);
    counts.push(sets[5].clone(), 2).unwrap();
    check_wire_round_trip(&counts).unwrap();
    let before = counts.clone();
    assert!(matches!(counts.add(&[1, 2], 3), Err(Error::TallyAlphabet { expected: 3, found: 2 })));
    assert!(matches!(counts.add(&[1, 4, 0], 3), Err(Error::Inconsistent { count: 4, limit: 3, .. })));
    assert!(matches!(counts.add(&[0; 3], u64::MAX), Err(Error::TallyOverflow { .. })));
    assert_eq!(counts, before);
    counts.add(&[0, 1, 3], 3).unwrap();
    assert_eq!((counts.counts(), counts.users()), (&[2, 1, 5][..], 5));
    let unary = UnaryEncoding::new(epsilon(1.0), 3).unwrap();
    let subsets = SubsetSelection::new(epsilon(1.0), 3).unwrap();
    assert_eq!(
        [unary.frequencies(&SetCounts::new(3)), subsets.frequencies(&SetCounts::new(3))].map(Result::unwrap),
        [[0.0; 3]; 2]
    );
    for other in [0, 2, 4].map(SetCounts::new) {
        for refused in [unary.frequencies(&other), subsets.frequencies(&other)] {
            assert!(matches!(refused, Err(Error::Length { expected: 3, .. })), "{refused:?}");
        }
    }
}

#[test]
fn wrong_parameters_are_refused_by_type() {
    let one = epsilon(1.0);
    for few in [0, 1] {
        assert!(matches!(UnaryEncoding::new(one, few), Err(Error::TooFew { name: "categories", .. })));
        assert!(matches!(SubsetSelection::new(one, few), Err(Error::TooFew { name: "categories", .. })));
        assert!(matches!(CategorySet::new(few, &[]), Err(Error::TooFew { name: "categories", .. })));
    }
    let sized = |size| SubsetSelection::with_size(one, 5, size);
    assert!(matches!(sized(0), Err(Error::TooFew { name: "size", least: 1, value: 0 })));
    assert!(matches!(sized(5), Err(Error::TooMany { name: "size", most: 4, value: 5 })));
    assert!(matches!(UnaryEncoding::new(one, u32::MAX), Err(Error::TooMany { .. })));
    assert!(matches!(CategorySet::new(3, &[3]), Err(Error::Report { report: 3, reports: 3 })));
    assert!(matches!(SubsetSelection::new(epsilon(1e-25), 4), Err(Error::EpsilonTooSmall { .. })));
    // Far above 44 weights stay positive: the level is below the claim.
    assert!(SubsetSelection::new(epsilon(1e6), 4).unwrap().epsilon().value() < 44.4);
}

/// Same seed, same reports: another set here is value-breaking.
#[test]
fn pinned_reports() {
    let mut rng = stream(42, Purpose::Noise, 0, 0);
    let unary = UnaryEncoding::new(epsilon(1.0), 70).unwrap();
    let members = |set: CategorySet| set.members().collect::<Vec<_>>();
    let expected = [0, 3, 4, 5, 8, 9, 10, 17, 18, 24, 27, 30, 33, 36, 41, 51, 54, 58, 59, 60, 64, 65];
    assert_eq!(members(unary.privatize(&3.0, &mut rng)), expected);
    let subsets = SubsetSelection::new(epsilon(1.0), 70).unwrap();
    let expected = [3, 10, 11, 13, 14, 15, 20, 25, 26, 31, 33, 40, 46, 55, 58, 59, 60, 62, 67];
    assert_eq!(members(subsets.privatize(&3.0, &mut rng)), expected);
}
