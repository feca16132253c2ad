//! The bitwise pilot and what begins with it, wherever the range lies and wherever in it the mean is.
//!
//! Ranges [a, a + w] with w from 0.3 to 1000 σ, a of both signs, zero, and on multiples of powers of two, far from zero too;
//! σ of any size; means at the ends, next to them, in the middle and anywhere. A seeded sample by default, thousands with
//! `LDP_FULL=1`, and a row per cell with `--nocapture`.
//!
//! What is asked is theory and no measured number:
//! - With endless users the pilot ends within $D = \Phi^{-1}(0.76) = 0.706$ σ. A scale is not passed only if no cell holds
//!   more than 0.52 of the values, and then the nearest end of the mean's own cell is at most D away: else more than
//!   $2\Phi(D) - 1 = 0.52$ would be in it. That end is the larger of the two commonest cells. The finest cells are σ at most.
//! - With few users no mean is found worse than the worst one in the middle of a wider range.
//! - With k users a cell passes that holds 0.52 + 2ψ/k, so that one stage starts within $\Phi^{-1}(0.76 + ψ/k)$ σ, and has
//!   the variance of such a start.

use ldp_core::model::Gaussian;
use ldp_core::special::normal;
use ldp_core::{
    Counts, Epsilon, Error, Finite, Inference, IntervalKind, Mixed, StagedEstimator, Step, Tally, Unbiased, run,
};
use ldp_estimators::{
    BitwisePilot, Efficient, Joseph, JosephOneRound, JosephOneRoundUnknownVariance, JosephUnknownVariance, Piloted,
    Share, one_stage_variance,
};
use ldp_mechanisms::Residue;
use ldp_simulate::exact::{Errors, Exact};
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use ldp_simulate::{Summary, Tallies, Users};
use rand::RngExt;
use std::sync::Arc;

/// How many cells: a sample, or all of them.
fn cells(sample: usize, all: usize) -> usize {
    if std::env::var_os("LDP_FULL").is_some() { all } else { sample }
}

fn between(rng: &mut SimulationRng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    level: f64,
    sigma: f64,
    range: [f64; 2],
    theta: f64,
}

impl Cell {
    /// Number `index` of a stream: kinds of ranges and of means take turns, all else is random.
    fn new(rng: &mut SimulationRng, index: usize) -> Self {
        let level = [0.5, 1.0, 2.0, 4.0][index % 4];
        let sigma = if rng.random::<bool>() { 1.0 } else { between(rng, -6.0, 6.0).exp2() };
        let width = sigma * 0.3 * (1000f64 / 0.3).powf(rng.random());
        let far = width * between(rng, -1.0, 1.0) * 10f64.powf(between(rng, 0.0, 3.0));
        // Powers of two from below the finest scale to above the range.
        let unit = between(rng, sigma.log2() - 1.0, width.log2() + 2.0).floor().exp2();
        let low = match index % 5 {
            0 => 0.0,
            1 => far,
            2 => (far / unit).round() * unit,
            // The upper end on a multiple.
            3 => (far / unit).round() * unit - width,
            _ => -width * rng.random::<f64>(),
        };
        let high = low + width;
        let theta = match index % 7 {
            0 => low,
            1 => (low + sigma / 4.0).min(high),
            2 => low + width / 2.0,
            3 => high,
            4 => (high - sigma / 4.0).max(low),
            // Next to a boundary of some scale, if there is one in the range.
            5 => {
                (between(rng, low, high) / unit).round().mul_add(unit, between(rng, -1.0, 1.0) * sigma).clamp(low, high)
            }
            _ => between(rng, low, high),
        };
        Self { level, sigma, range: [low, high], theta }
    }

    fn many(seed: u64, count: usize) -> Vec<Self> {
        let mut rng = stream(seed, Purpose::Data, 0, 0);
        (0..count).map(|index| Self::new(&mut rng, index)).collect()
    }

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(self.level).unwrap()
    }

    fn model(&self) -> Gaussian {
        Gaussian::new(self.sigma).unwrap()
    }

    fn pilot(&self, share: Share) -> BitwisePilot {
        BitwisePilot::new(self.epsilon(), self.range, self.sigma, share).unwrap()
    }

    /// The distance of a place in σ.
    fn off(&self, place: f64) -> f64 {
        (place - self.theta).abs() / self.sigma
    }
}

/// What as many users say as make chance negligible.
fn endless(question: &Residue, cell: &Cell) -> Counts {
    let (mut law, mut tally) = ([0.0; 4], Counts::new(4));
    question.marginal(&cell.model(), cell.theta, &mut law);
    (0u32..).zip(law).for_each(|(report, p)| tally.push(report, (p * 2f64.powi(50)).round() as u64).unwrap());
    tally
}

/// Φ⁻¹(0.76), a little more because ψ/k is 10⁻⁶ at 2⁵⁰ users and ε = 0.5.
const NEAREST: f64 = 0.7064;

#[test]
fn with_endless_users_every_mean_is_found() {
    let (mut coarse, mut fine) = (0, 0);
    for cell in Cell::many(20, cells(4000, 400_000)) {
        let pilot = cell.pilot(Share::HALF);
        let Step::Ask { round, .. } = pilot.begin(1 << 50).unwrap() else { panic!("it asks first") };
        let answers: Vec<_> = round.groups().iter().map(|group| endless(&group.question, &cell)).collect();
        let Step::Done(found) = pilot.advance((), &answers).unwrap() else { panic!("one round") };
        assert!(cell.off(found.value()) <= NEAREST, "{found:?} after {} scales: {cell:?}", pilot.scales());
        assert!(cell.range[0] <= found.value() && found.value() <= cell.range[1], "{found:?}: {cell:?}");
        // It ends high up and far down.
        coarse += u32::from(found.scale() as f64 > cell.sigma.log2() + 1.0);
        fine += u32::from(pilot.scales() > 5 && (found.scale() as f64) <= cell.sigma.log2());
        // Fewer scales are refused, with the least that works; more find it too.
        if let Some(fewer) = pilot.scales().checked_sub(1) {
            let refused = pilot.clone().with_scales(fewer);
            let least = u64::from(pilot.scales());
            assert!(matches!(refused, Err(Error::TooFew { name: "scales", least: told, .. }) if told == least));
        }
        let more = pilot.clone().with_scales(pilot.scales() + 3).unwrap();
        let Step::Ask { round, .. } = more.begin(1 << 50).unwrap() else { panic!("it asks first") };
        let answers: Vec<_> = round.groups().iter().map(|group| endless(&group.question, &cell)).collect();
        let Step::Done(found) = more.advance((), &answers).unwrap() else { panic!("one round") };
        assert!(cell.off(found.value()) <= NEAREST, "{found:?} after three scales more: {cell:?}");
    }
    assert!(coarse > 200 && fine > 500, "{coarse} {fine}");
}

/// The largest failure of a pilot with so many users per scale next to the middle of a range of two scales more, at means that are
/// so many σ away on either side.
fn worst_in_the_middle(cell: &Cell, scales: u32, group: u64, away: &[f64]) -> f64 {
    let finest = cell.sigma.log2().floor() as i32;
    // A boundary of every scale, with one cell of the coarsest on either side.
    let middle = f64::from(finest + scales as i32 + 1).exp2();
    let pilot = BitwisePilot::new(cell.epsilon(), [0.0, 2.0 * middle], cell.sigma, Share::HALF).unwrap();
    assert_eq!(pilot.scales(), scales + 2);
    let failure = |u: f64| {
        let theta = middle + u * cell.sigma;
        pilot.law(group, &cell.model(), theta).unwrap().failure(theta, 2.0 * cell.sigma)
    };
    away.iter().flat_map(|&u| [-u, u]).map(failure).fold(0.0, f64::max)
}

#[test]
fn no_mean_is_found_worse_than_one_in_the_middle() {
    let (mut noticed, mut narrow) = (0, 0);
    for (index, cell) in Cell::many(21, cells(40, 800)).into_iter().enumerate() {
        let pilot = cell.pilot(Share::HALF);
        let factor = [2, 3, 4][index % 3];
        let group = factor * pilot.fewest_per_scale();
        let law = pilot.law(group, &cell.model(), cell.theta).unwrap();
        let failure = law.failure(cell.theta, 2.0 * cell.sigma);
        // Far off it ends more rarely than is proved, and too few users are told.
        assert!(law.failure(cell.theta, 16.0 * cell.sigma) <= pilot.failure_bound(group), "{cell:?}");
        assert!(law.found.iter().all(|(_, found)| found.doubtful() == (pilot.failure_bound(group) > 0.01)), "{cell:?}");
        // The hardest places are where a scale passes as often as not: about these, and if that is not it, looked at closely.
        let mut middle = worst_in_the_middle(&cell, pilot.scales(), group, &[0.75, 1.0, 1.5, 2.5]);
        if failure > middle.max(1e-8) {
            let closely: Vec<f64> = (1..=32).map(|i| f64::from(i) / 8.0).collect();
            middle = worst_in_the_middle(&cell, pilot.scales(), group, &closely);
        }
        println!("{failure:9.2e} {middle:9.2e} {factor} × {group:5} on {:2} scales {cell:?}", pilot.scales());
        // What is rarer is worst at other places, and no matter.
        assert!(failure <= middle.max(1e-8), "{failure} and {middle}: {cell:?}");
        noticed += u32::from(failure > 1e-3 * middle);
        narrow += u32::from(pilot.scales() < 3);
    }
    assert!(noticed > 5 && narrow > 2, "{noticed} {narrow}");
}

/// n·MSE of one stage from where the pilot points; and what the pilot calls enough is enough.
#[test]
fn one_stage_starts_close_enough() {
    for cell in Cell::many(22, cells(40, 1000)) {
        let pilot = cell.pilot(Share::HALF);
        let law = pilot.law(pilot.enough_per_scale(), &cell.model(), cell.theta).unwrap();
        let failure = law.failure(cell.theta, 2.0 * cell.sigma);
        assert!(failure < 0.01 && law.found.iter().all(|(_, found)| !found.doubtful()), "{failure}: {cell:?}");
        let group = 16 * pilot.fewest_per_scale();
        let taken = group * u64::from(pilot.scales());
        let joseph = Joseph::two_rounds(cell.epsilon(), pilot.clone(), cell.sigma).unwrap();
        let model = cell.model();
        let exact = Exact::new(&model, cell.theta).unwrap();
        let summed = exact.best(&joseph, 2 * taken, || Errors::new(cell.theta)).unwrap();
        let found = taken as f64 * summed.gather.mse() / cell.sigma.powi(2);
        // ψ = 0.48 k at the fewest users, and falls with the root of them.
        let reach = normal::quantile(0.76 + 0.48 / 16f64.sqrt());
        let limit = one_stage_variance(cell.epsilon(), reach);
        let best = one_stage_variance(cell.epsilon(), 0.0);
        println!("{:7.4} of at most {:.4}, {failure:9.2e} with enough users {cell:?}", found / best, limit / best);
        assert!(found < limit, "{found}, at most {limit}: {cell:?}");
    }
}

/// What the second round of an unknown σ is made of: the place, and $\hat\sigma$.
///
/// The scale above $\hat\sigma$ is concentrated: two of its cells hold 0.97, so $2\hat\sigma \ge \Phi^{-1}(0.985) \sigma$.
/// That of $\hat\sigma$ is not: of the mean's cell and the nearer one beside it, at least $\hat\sigma/2$ to one side and
/// $\hat\sigma$ to the other.
#[test]
fn an_unknown_sigma_is_found_with_the_mean() {
    let mut rng = stream(23, Purpose::Data, 0, 0);
    for cell in Cell::many(23, cells(1000, 100_000)) {
        let [less, more] = [-3.0, 3.0].map(|far| cell.sigma * between(&mut rng, 0.0, far).exp2());
        let pilot = BitwisePilot::new(cell.epsilon(), cell.range, less, Share::HALF).unwrap();
        let estimator = JosephUnknownVariance::new(cell.epsilon(), pilot, more).unwrap();
        let users = 1u64 << 50;
        let Step::Ask { round, state } = estimator.begin(users).unwrap() else { panic!("it asks first") };
        let answer = |question: &Mixed<Residue, _>| Mixed::First(endless(question.first().unwrap(), &cell));
        let answers: Vec<_> = round.groups().iter().map(|group| answer(&group.question)).collect();
        let Step::Ask { round, .. } = estimator.advance(state, &answers).unwrap() else { panic!("it asks twice") };
        let Mixed::Second(laplace) = round.groups()[0].question else { panic!("a noisy value") };
        let (low, high) = laplace.range();
        let sigma = (high - low) / 2.0 / (2.0 + (4.0 * users as f64).ln().sqrt()) / cell.sigma;
        assert!(cell.off((low + high) / 2.0) <= NEAREST, "[{low}, {high}]: {cell:?}");
        assert!(2.0 * sigma > 2.1700 && normal::cdf(sigma / 2.0) - normal::cdf(-sigma) < 0.9701, "{sigma}: {cell:?}");
    }
}

/// Coverage of the 95 % interval in one round: per cell 1000 replications, at all cells together within a hundredth.
///
/// Its normal approximation is worst where the lattice passes farthest from the mean, $D + 0.1$ with endless users: no cell
/// may fall below 0.91, five standard errors of 1000 replications below 0.945 (α = 3e-7).
#[test]
fn one_round_covers() {
    let (mut covered, count) = (0, cells(20, 300));
    for cell in Cell::many(24, count) {
        let pilot = cell.pilot(Share::HALF);
        let users = 40 * u64::from(pilot.scales()) * pilot.fewest_per_scale();
        let estimator = JosephOneRound::new(cell.epsilon(), pilot, cell.sigma).unwrap();
        let model = cell.model();
        let mut population = Tallies::new(&model, cell.theta, 24).unwrap();
        let mut summary = Summary::new(cell.theta, 0.95, &[IntervalKind::Wald]);
        for replication in 0..1000 {
            population.restart(replication);
            summary.push(&run(&estimator, users, &mut population).unwrap());
        }
        let own = summary.coverage()[0].covered;
        println!("{own} of 1000 {users} users {cell:?}");
        assert!(own > 910, "{own} of 1000: {cell:?}");
        covered += own;
    }
    let share = covered as f64 / (1000 * count) as f64;
    assert!((share - 0.95).abs() < 0.01, "{share}");
}

/// With an unknown σ in one round, every user drawn: no estimate is farther off than six of its standard errors.
#[test]
fn one_round_with_an_unknown_sigma() {
    let mut rng = stream(25, Purpose::Data, 0, 0);
    for cell in Cell::many(25, cells(20, 300)) {
        let [less, more] = [-1.0, 1.0].map(|far| cell.sigma * between(&mut rng, 0.0, far).exp2());
        let epsilon = Epsilon::new(4.0).unwrap();
        let pilot = BitwisePilot::new(epsilon, cell.range, less, Share::HALF).unwrap();
        let estimator = JosephOneRoundUnknownVariance::new(epsilon, pilot, more).unwrap();
        let users = 100_000;
        let model = cell.model();
        let mut population = Users::new(&model, cell.theta, users, 25).unwrap().in_blocks();
        for replication in 0..3 {
            population.restart(replication);
            let estimate = run(&estimator, users, &mut population).unwrap();
            let off = (estimate.value() - cell.theta) / estimate.standard_error().unwrap();
            println!("{off:6.2} {:.4} {cell:?}", cell.off(estimate.value()));
            assert!(off.abs() < 6.0, "{off}: {cell:?}");
        }
    }
}

/// Whatever the number of users, from hardly enough for any scale to pass: a run that ends 3 σ off says why.
#[test]
fn nothing_is_wrong_without_a_word() {
    const REPLICATIONS: u64 = 40;
    let mut rng = stream(26, Purpose::Data, 0, 0);
    let (mut wrong, mut told, mut silent) = (0, 0, 0);
    for cell in Cell::many(26, cells(60, 600)) {
        let pilot = cell.pilot(Share::HALF);
        let group = pilot.fewest_per_scale() as f64 * 8f64.powf(rng.random());
        let users = 2 * u64::from(pilot.scales()) * (group as u64 + 1);
        let model = cell.model();
        let joseph = Joseph::two_rounds(cell.epsilon(), pilot.clone(), cell.sigma).unwrap();
        let best = Efficient::tuned(Arc::new(model), cell.epsilon(), 0.0).unwrap();
        let best = Piloted::new(pilot, best);
        let mut look = |value: f64, words: bool| {
            told += u32::from(words);
            if cell.off(value) > 3.0 {
                wrong += 1;
                silent += u32::from(!words);
            }
        };
        let mut signs = Tallies::new(&model, cell.theta, 26).unwrap();
        let mut channels = Tallies::new(&model, cell.theta, 27).unwrap();
        for replication in 0..REPLICATIONS {
            signs.restart(replication);
            let estimate = run(&joseph, users, &mut signs).unwrap();
            look(estimate.value(), estimate.caveat(IntervalKind::Exact).or(estimate.note()).is_some());
            channels.restart(replication);
            let estimate = run(&best, users, &mut channels).unwrap();
            look(estimate.value(), estimate.caveat(IntervalKind::Wald).or(estimate.note()).is_some());
        }
    }
    let runs = 2 * REPLICATIONS * cells(60, 600) as u64;
    println!("{runs} runs, {wrong} wrong, {silent} of them silent, {told} with words");
    // Some are wrong, none of them without a word, and the words are not said of all.
    assert!(wrong > 50 && silent == 0 && u64::from(told) < runs * 3 / 4, "{wrong} wrong, {silent} silent, {told} told");
}
