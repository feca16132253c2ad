//! How often the interval of the efficient protocol covers, under every family, wherever the parameter and the start are.
//!
//! By default a seeded sample of settings that nobody chose; with `LDP_FULL=1` a grid as well, printed as a table. Seeds are
//! fixed. Coverage is that of the runs that answered. A cell fails if it is more than 1.5 % from 95 %, by more than 4.5 standard
//! errors (α = 7e-6 a cell); all cells together may be 0.5 % off.

use ldp_core::model::{
    Bernoulli, Categorical, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, StudentT,
};
use ldp_core::{Counts, Epsilon, FiniteChannel, Group, Inference, IntervalKind, Population, StagedEstimator, Step};
use ldp_estimators::{BitwisePilot, Efficient, Piloted, Share, maximum_likelihood};
use ldp_fisher::optimal;
use ldp_simulate::AnyModel;
use ldp_simulate::seed::{Purpose, stream};
use ldp_simulate::{Fidelity, Setting, replicate_tallies};
use ldp_simulate::{Summary, Tallies};
use rand::RngExt;
use rayon::prelude::*;
use std::sync::Arc;

const LEVEL: f64 = 0.95;
const KIND: IntervalKind = IntervalKind::Score;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    Gaussian,
    Laplace,
    Logistic,
    StudentT,
    Exponential,
    GaussianScale,
    Poisson,
    Bernoulli,
    Categorical,
}

use Family::{Bernoulli as Share01, Poisson as Rate};

const FAMILIES: [Family; 9] = [
    Family::Gaussian,
    Family::Laplace,
    Family::Logistic,
    Family::StudentT,
    Family::Exponential,
    Family::GaussianScale,
    Rate,
    Share01,
    Family::Categorical,
];

/// What a parameter is like.
enum Space {
    Line,
    HalfLine,
    Unit,
}

impl Family {
    fn model(self) -> Arc<dyn AnyModel> {
        match self {
            Self::Gaussian => Arc::new(Gaussian::new(1.0).unwrap()),
            Self::Laplace => Arc::new(Laplace::new(1.0).unwrap()),
            Self::Logistic => Arc::new(Logistic::new(1.0).unwrap()),
            Self::StudentT => Arc::new(StudentT::new(3.0, 1.0).unwrap()),
            Self::Exponential => Arc::new(Exponential),
            Self::GaussianScale => Arc::new(GaussianScale),
            Self::Poisson => Arc::new(Poisson),
            Self::Bernoulli => Arc::new(Bernoulli),
            Self::Categorical => Arc::new(Categorical::new(5).unwrap()),
        }
    }

    fn space(self) -> Space {
        match self {
            Self::Gaussian | Self::Laplace | Self::Logistic | Self::StudentT => Space::Line,
            Self::Exponential | Self::GaussianScale | Self::Poisson => Space::HalfLine,
            Self::Bernoulli | Self::Categorical => Space::Unit,
        }
    }

    /// The start that a specification without one has.
    fn start(self) -> f64 {
        match self.space() {
            Space::Line => 0.0,
            Space::HalfLine => 1.0,
            Space::Unit => 0.5,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    family: Family,
    theta: f64,
    start: f64,
    epsilon: f64,
    users: u64,
}

struct Measured {
    answered: u64,
    covered: u64,
    mse: f64,
}

impl Measured {
    fn of(summary: &Summary) -> Self {
        let coverage = &summary.coverage()[0];
        Self { answered: summary.replications() - coverage.missing, covered: coverage.covered, mse: summary.mse() }
    }

    /// How far the coverage is from 95 %, and the standard error of what it is.
    fn off(&self) -> (f64, f64) {
        let all = self.answered as f64;
        (self.covered as f64 / all - LEVEL, (LEVEL * (1.0 - LEVEL) / all).sqrt())
    }

    /// Whether it is more than 1.5 % off, beyond chance.
    fn wrong(&self) -> bool {
        let (off, error) = self.off();
        self.answered > 0 && off.abs() > 0.015 + 4.5 * error
    }
}

impl Cell {
    fn estimator(&self) -> Efficient<dyn AnyModel> {
        Efficient::tuned(self.family.model(), Epsilon::new(self.epsilon).unwrap(), self.start).unwrap()
    }

    fn run(&self, replications: u64) -> Measured {
        let (model, estimator) = (self.family.model(), self.estimator());
        let &Self { theta, users, .. } = self;
        let setting = Setting { model: &*model, theta, users, seed: 53, fidelity: Fidelity::Tally };
        let mut summary = Summary::new(theta, LEVEL, &[KIND]);
        replicate_tallies(&estimator, &setting, 0..replications, &mut |estimate| {
            assert_eq!(estimate.cannot_tell().is_none(), estimate.interval(KIND, LEVEL).is_ok(), "{estimate:?}");
            summary.push(estimate);
        })
        .unwrap();
        Measured::of(&summary)
    }

    /// Replications with intervals that another rule makes of the counts of the first and the last question.
    fn mutant(&self, replications: u64, rule: impl Fn(f64, Option<f64>) -> (f64, f64)) -> Measured {
        let (model, estimator) = (self.family.model(), self.estimator());
        let mut summary = Summary::new(self.theta, LEVEL, &[KIND]);
        let setting =
            Setting { model: &*model, theta: self.theta, users: self.users, seed: 53, fidelity: Fidelity::Tally };
        let (mut covered, mut answered) = (0, 0);
        replicate_tallies(&estimator, &setting, 0..replications, &mut |estimate| {
            summary.push(estimate);
            let (low, high) = rule(estimate.value(), estimate.standard_error());
            answered += u64::from(low < high);
            covered += u64::from(low <= self.theta && self.theta <= high);
        })
        .unwrap();
        Measured { answered, covered, mse: summary.mse() }
    }

    fn row(&self, measured: &Measured, replications: u64) -> String {
        let Self { family, theta, start, epsilon, users } = self;
        let best = optimal::response(&*family.model(), *theta, Epsilon::new(*epsilon).unwrap());
        let scaled = best.map_or(f64::NAN, |best| *users as f64 * measured.mse * best.information);
        let answered = 100.0 * measured.answered as f64 / replications as f64;
        let covered = 100.0 * measured.covered as f64 / measured.answered as f64;
        format!(
            "| {family:?} | {theta:.4} | {start:.4} | {epsilon:.3} | {users} | {answered:.1} | {covered:.2} | {scaled:.3} |"
        )
    }
}

const HEAD: &str = "| family | theta | start | epsilon | users | answered % | covered % | n·MSE·I |";

/// Runs all cells, prints them, and returns how many of them answered more than half of the runs.
fn check(cells: &[Cell], replications: u64) -> usize {
    let rows: Vec<_> = cells
        .par_iter()
        .map(|cell| {
            let measured = cell.run(replications);
            (cell.row(&measured, replications), cell, measured)
        })
        .collect();
    println!("{HEAD}");
    rows.iter().for_each(|(row, ..)| println!("{row}"));
    let wrong: Vec<_> = rows.iter().filter(|(_, _, measured)| measured.wrong()).map(|(row, ..)| row).collect();
    let all = Measured {
        answered: rows.iter().map(|(_, _, measured)| measured.answered).sum(),
        covered: rows.iter().map(|(_, _, measured)| measured.covered).sum(),
        mse: 0.0,
    };
    let (off, error) = all.off();
    println!("{} cells, all together {:.3} % off, standard error {:.3} %", rows.len(), 100.0 * off, 100.0 * error);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(off.abs() < 0.005 + 4.5 * error, "{off}");
    rows.iter().filter(|(_, _, measured)| 2 * measured.answered > replications).count()
}

/// Forty settings by the toss of a coin: from the usual start or another, scales and rates over three decades, shares to a
/// thousandth from the ends, locations up to twelve units off.
#[test]
fn intervals_cover_in_settings_that_nobody_chose() {
    let mut rng = stream(11, Purpose::Data, 0, 0);
    let mut between = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    let mut toss = |i: usize| {
        let family = FAMILIES[i % FAMILIES.len()];
        let epsilon = [0.5, 1.0, 4.0, between(-0.8, 1.8).exp()][(i / 9) % 4];
        let users = if between(0.0, 1.0) < 0.5 { 10_000 } else { 100_000 };
        let usual = between(0.0, 1.0) < 0.5;
        let (theta, other) = match family.space() {
            Space::Line => (between(0.0, 1.0).powi(2) * between(-12.0, 12.0), between(-3.0, 3.0)),
            Space::HalfLine => (10f64.powf(between(-1.5, 1.5)), 10f64.powf(between(-1.0, 1.0))),
            Space::Unit => {
                let odds = between(-7.0, 7.0).exp();
                (odds / (1.0 + odds), between(0.01, 0.99))
            }
        };
        Cell { family, theta, start: if usual { family.start() } else { other }, epsilon, users }
    };
    let cells: Vec<_> = (0..40).map(&mut toss).collect();
    let answered = check(&cells, 1500);
    // A rule that refuses everything would never fail.
    assert!(answered >= 34, "{answered}");
}

/// The settings at which the interval of the first version covered 23 to 77 %, the ends of the space, and from a pilot.
#[test]
fn intervals_cover_where_they_did_not() {
    let at = |family: Family, theta, epsilon, users| Cell { family, theta, start: family.start(), epsilon, users };
    let cells = [
        at(Rate, 20.0, 1.0, 100_000),
        at(Family::Exponential, 0.1, 1.0, 100_000),
        at(Family::Gaussian, 3.0, 1.0, 100_000),
        at(Family::Gaussian, -3.0, 1.0, 100_000),
        at(Family::GaussianScale, 0.2, 1.0, 100_000),
        at(Share01, 0.001, 1.0, 100_000),
        at(Share01, 0.9995, 4.0, 10_000),
        at(Rate, 0.01, 1.0, 100_000),
        at(Family::Categorical, 0.001, 0.5, 10_000),
    ];
    assert_eq!(check(&cells, 2000), cells.len());
}

/// The grid that the documentation speaks of.
#[test]
fn intervals_cover_on_the_grid() {
    if std::env::var_os("LDP_FULL").is_none() {
        return;
    }
    let mut cells = Vec::new();
    for family in FAMILIES {
        let thetas: &[f64] = match family.space() {
            Space::Line => &[-10.0, -3.0, -1.0, 0.0, 0.3, 1.0, 3.0, 10.0],
            Space::HalfLine => &[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0],
            Space::Unit => &[0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.99, 0.999],
        };
        for &theta in thetas {
            for epsilon in [0.5, 1.0, 4.0] {
                for users in [10_000, 100_000] {
                    cells.push(Cell { family, theta, start: family.start(), epsilon, users });
                }
            }
        }
    }
    check(&cells, 4000);
}

#[test]
fn intervals_cover_from_a_pilot() {
    let model = Gaussian::new(1.0).unwrap();
    for (level, theta, users) in [(1.0, 84.5, 50_000), (4.0, 3.2, 20_000), (0.5, 100.0, 200_000)] {
        let epsilon = Epsilon::new(level).unwrap();
        let pilot = BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::HALF).unwrap();
        let main: Efficient<Gaussian> = Efficient::tuned(Arc::new(model), epsilon, 0.0).unwrap();
        let setting = Setting { model: &model, theta, users, seed: 54, fidelity: Fidelity::Tally };
        let mut summary = Summary::new(theta, LEVEL, &[KIND]);
        replicate_tallies(&Piloted::new(pilot, main), &setting, 0..2000, &mut |estimate| summary.push(estimate))
            .unwrap();
        let measured = Measured::of(&summary);
        println!("ε {level}, θ {theta}: {} of {} cover", measured.covered, measured.answered);
        assert!(!measured.wrong() && measured.answered > 1900);
    }
}

/// What the protocol was before: the second question wherever the first answers point, or at the start, and a Wald interval.
fn unguarded(cell: &Cell, replications: u64) -> Measured {
    let (model, estimator) = (cell.family.model(), cell.estimator());
    let epsilon = Epsilon::new(cell.epsilon).unwrap();
    let Step::Ask { round, .. } = estimator.begin(cell.users).unwrap() else { panic!("it asks first") };
    let Group { question: first, users } = &round.groups()[0];
    let (mut covered, mut answered, mut squares) = (0, 0, 0.0);
    let mut population: Tallies<'_, dyn AnyModel, FiniteChannel> = Tallies::new(&*model, cell.theta, 55).unwrap();
    let mut ask = |question: &FiniteChannel, users| {
        let mut tally: Counts = estimator.tally(question);
        population.answer(&Group { question: question.clone(), users }, &mut tally).unwrap();
        tally.counts().to_vec()
    };
    for _ in 0..replications {
        let found = maximum_likelihood(first, &*model, &ask(first, *users), cell.start).unwrap();
        let place = found.map_or(cell.start, |found| found.theta);
        let last = optimal::response(&*model, place, epsilon).unwrap().channel;
        let counts = ask(&last, cell.users - users);
        let Some(best) = maximum_likelihood(&last, &*model, &counts, place).unwrap() else { continue };
        answered += 1;
        squares += (best.theta - cell.theta).powi(2);
        covered += u64::from((best.theta - cell.theta).abs() * best.information.sqrt() < 1.96);
    }
    Measured { answered, covered, mse: squares / replications as f64 }
}

#[test]
fn mutants_are_rejected() {
    // Without the look at the first answers.
    let (family, users) = (Family::Exponential, 100_000);
    let cell = Cell { family, theta: 0.1, start: 1.0, epsilon: 1.0, users };
    let old = unguarded(&cell, 400);
    assert!(old.wrong(), "{} of {}", old.covered, old.answered);
    // A Wald interval at the end of the parameter space: it has the width of the value's own error, whatever the end.
    let cell = Cell { family: Share01, theta: 0.001, start: 0.5, epsilon: 1.0, users };
    let wald = |value: f64, error: Option<f64>| {
        let half = 1.96 * error.unwrap_or(f64::NAN);
        (value - half, value + half)
    };
    let covering = cell.mutant(20_000, wald);
    assert!(covering.wrong(), "{} of {}", covering.covered, covering.answered);
    assert!(!cell.run(20_000).wrong());
    // One that is a tenth too short.
    let short = |value: f64, error: Option<f64>| {
        let half = 1.7 * error.unwrap_or(f64::NAN);
        (value - half, value + half)
    };
    let cell = Cell { family: Family::Gaussian, theta: 0.3, start: 0.0, epsilon: 1.0, users: 10_000 };
    assert!(cell.mutant(4000, short).wrong());
}

/// Few users, small ε and parameters that are out of reach: what answers by chance, with the last question far off, covers as well.
#[test]
fn few_users_and_far_parameters_are_covered_too() {
    let at = |family: Family, theta, epsilon, users| Cell { family, theta, start: family.start(), epsilon, users };
    let cells = [
        at(Family::Gaussian, 0.2, 0.5, 1000),
        at(Family::Gaussian, -2.0, 0.5, 1000),
        at(Family::GaussianScale, 0.2, 0.5, 1000),
        at(Family::Exponential, 8.0, 0.5, 1000),
        at(Family::Laplace, 4.0, 0.3, 2000),
        at(Rate, 12.0, 0.5, 1000),
        at(Family::Laplace, 30.0, 0.5, 10_000),
        at(Share01, 0.02, 0.3, 500),
        at(Family::Logistic, 0.5, 0.1, 10_000),
    ];
    assert!(check(&cells, 4000) >= 3);
}
