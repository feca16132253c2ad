//! Laws of plans, at settings that nobody chose: what is harder never costs fewer users, and no mean in the prior interval is
//! worse than what is promised.
//!
//! A seeded sample by default, hundreds with `LDP_FULL=1`, and a row per case with `--nocapture`.

use ldp_core::model::Gaussian;
use ldp_core::{Epsilon, Error, IntervalKind};
use ldp_estimators::plan::{Criterion, Outlook, Plan, Prior, Protocol, Request};
use ldp_estimators::{BitwisePilot, DuchiRogers, Joseph, OneStage, Rescaled, Share, ThreeStage, TwoStage};
use ldp_simulate::exact::{Countable, Exact, Risk};
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;

fn cases(sample: usize, all: usize) -> usize {
    if std::env::var_os("LDP_FULL").is_some() { all } else { sample }
}

/// In equal ratios.
fn log(rng: &mut SimulationRng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(rng.random())
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    epsilon: f64,
    sigma: f64,
    low: f64,
    high: f64,
    half_width: f64,
    rounds: u32,
    guess: bool,
}

impl Asked {
    /// ε from 0.2 to 6, σ from 0.01 to 100, ranges of 0.5 to 1000 σ, and half-widths from a fiftieth of σ to nearly all of
    /// the range.
    fn random(rng: &mut SimulationRng) -> Self {
        let (epsilon, sigma) = (log(rng, 0.2, 6.0), log(rng, 0.01, 100.0));
        let width = sigma * log(rng, 0.5, 1000.0);
        let low = width * 4.0 * (rng.random::<f64>() - 0.5) * f64::from(u8::from(rng.random::<bool>()));
        let half_width = log(rng, 0.02 * sigma.min(width / 2.0), 0.4 * width);
        let rounds = [3, 3, 2, 1][rng.random_range(0..4)];
        let rounds = if width > 4.0 * sigma { rounds.max(2) } else { rounds };
        Self { epsilon, sigma, low, high: low + width, half_width, rounds, guess: rng.random() }
    }

    fn request(&self) -> Request {
        let prior = match self.guess {
            true => Prior::guess(0.5 * (self.low + self.high), 0.5 * (self.high - self.low)),
            false => Prior::range(self.low, self.high),
        };
        let request = Request::new(Epsilon::new(self.epsilon).unwrap(), self.sigma, prior.unwrap()).unwrap();
        request.rounds(self.rounds).unwrap()
    }

    /// The users of the plan, or more than any if there is none.
    fn users(&self) -> u64 {
        match self.request().for_half_width(self.half_width) {
            Ok(plan) => plan.users,
            Err(Error::TooMany { .. } | Error::TooFew { name: "rounds", .. }) => u64::MAX,
            Err(error) => panic!("{error}: {self:?}"),
        }
    }

    /// A request that is harder in one way.
    fn harder(&self, way: usize, by: f64) -> Self {
        let width = self.high - self.low;
        match way {
            0 => Self { low: self.low - width * (by - 1.0), ..*self },
            1 => Self { high: self.high + width * (by - 1.0), ..*self },
            2 => Self { sigma: self.sigma * by, ..*self },
            3 => Self { epsilon: self.epsilon / by, ..*self },
            _ => Self { half_width: self.half_width / by, ..*self },
        }
    }
}

/// A wider range, a larger σ, a smaller ε or a smaller width never costs fewer users.
#[test]
fn what_is_harder_costs_no_fewer_users() {
    let mut rng = stream(40, Purpose::Data, 0, 0);
    let (mut broken, mut dearer) = (Vec::new(), 0);
    for number in 0..cases(30, 400) {
        let asked = Asked::random(&mut rng);
        let start = std::time::Instant::now();
        let easy = asked.users();
        let seconds = start.elapsed().as_secs_f64();
        let (way, by) = (number % 5, log(&mut rng, 1.005, 4.0));
        let harder = asked.harder(way, by);
        let hard = harder.users();
        let wide = if asked.half_width > 0.25 * asked.sigma { "wide" } else { "" };
        let broke = if hard < easy { "BROKEN" } else { "" };
        println!("{easy:>14} {hard:>14} {seconds:.2} s way {way} by {by:.3} {wide} {broke} {asked:?}");
        if hard < easy {
            broken.push(format!("{easy}, then {hard}: way {way} by {by}: {asked:?}"));
        }
        dearer += u32::from(hard > easy);
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(dearer > 15, "{dearer}");
}

/// What a protocol does at a mean, by the walk over its tallies.
fn exact(asked: &Asked, plan: &Plan, theta: f64) -> Outlook {
    fn walk<E: Countable>(estimator: &E, asked: &Asked, users: u64, theta: f64) -> Outlook {
        let model = Gaussian::new(asked.sigma).unwrap();
        let exact = Exact::new(&model, theta).unwrap().goal(1e-3).unwrap().most(1 << 20).resolution(5.0, 1.0);
        let summed = exact.rough(estimator, users, || Risk::new(theta, 0.95, &[IntervalKind::Exact])).unwrap();
        let (errors, sums) = (summed.gather.errors(), &summed.gather.intervals()[0]);
        let mass = errors.mass();
        Outlook {
            mse: errors.mse(),
            coverage: sums.covered / mass,
            infinite: sums.infinite / mass,
            finite: sums.finite / mass,
            finite_width: sums.finite_width / mass,
        }
    }
    let (epsilon, users) = (Epsilon::new(asked.epsilon).unwrap(), plan.users);
    let sigma = asked.sigma.hypot(plan.noise);
    let asked = &Asked { sigma, ..*asked };
    let pilot = |low, high, users| BitwisePilot::new(epsilon, [low, high], sigma, Share::Count(users)).unwrap();
    match plan.protocol {
        Protocol::OneStage { start } => {
            let unit = OneStage::new(epsilon, start / sigma).unwrap();
            walk(&Rescaled::new(unit, sigma).unwrap(), asked, users, theta)
        }
        Protocol::DuchiRogers { start, range } => {
            let unit = DuchiRogers::new(epsilon, start / sigma, range / sigma).unwrap();
            walk(&Rescaled::new(unit, sigma).unwrap(), asked, users, theta)
        }
        Protocol::TwoStage { start, first_stage } => {
            let unit = TwoStage::new(epsilon, start / sigma, first_stage).unwrap();
            walk(&Rescaled::new(unit, sigma).unwrap(), asked, users, theta)
        }
        Protocol::Joseph { low, high, pilot: taken } => {
            walk(&Joseph::two_rounds(epsilon, pilot(low, high, taken), sigma).unwrap(), asked, users, theta)
        }
        Protocol::ThreeStage { low, high, pilot: taken, first_stage } => {
            let pilot = pilot(low, high, taken);
            let estimator = ThreeStage::three_rounds(epsilon, pilot, sigma, Some(first_stage)).unwrap();
            walk(&estimator, asked, users, theta)
        }
    }
}

/// No mean has wider intervals or larger errors than the promise, but for two in a hundred of them: more than the rough sums
/// here are off. A mean that the plan calls the worst has what is promised.
#[test]
fn no_mean_is_worse_than_the_promise() {
    let mut rng = stream(41, Purpose::Data, 0, 0);
    for _ in 0..cases(8, 80) {
        let asked = Asked { epsilon: log(&mut rng, 0.7, 4.0), ..Asked::random(&mut rng) };
        let Ok(plan) = asked.request().for_half_width(asked.half_width) else { continue };
        let promised = plan.outlook;
        let half = |outlook: &Outlook| outlook.half_width().unwrap();
        let at_worst = exact(&asked, &plan, plan.worst_mean);
        let what = format!("{asked:?} {:?} {} users", plan.protocol, plan.users);
        println!(
            "{:.4} {:.4} at {} {what}",
            half(&at_worst) / half(&promised),
            at_worst.mse / promised.mse,
            plan.worst_mean
        );
        assert!((half(&at_worst) / half(&promised) - 1.0).abs() < 0.02, "{at_worst:?} {promised:?} {what}");
        assert!((at_worst.mse / promised.mse).sqrt().max(0.5) < 1.02, "{at_worst:?} {promised:?} {what}");
        for place in 0..cases(4, 20) {
            let theta = match place {
                0 => asked.low,
                1 => asked.high,
                _ => asked.low + (asked.high - asked.low) * rng.random::<f64>(),
            };
            let found = exact(&asked, &plan, theta);
            let worse = (half(&found) / half(&promised)).max((found.mse / promised.mse).sqrt());
            assert!(worse < 1.02, "{worse} at {theta}: {found:?} {promised:?} {what}");
            assert!(found.infinite <= 0.011, "{found:?} at {theta}: {what}");
        }
    }
}

/// The average half-width is that over means that the plan did not choose; the worst one is wider by far more than 2 %.
#[test]
fn an_average_is_that_of_all_means() {
    let asked = Asked { epsilon: 1.0, sigma: 1.0, low: 3.0, high: 43.0, half_width: 0.1, rounds: 2, guess: false };
    let plan = asked.request().criterion(Criterion::Average).for_users(20_000).unwrap();
    assert!(matches!(plan.protocol, Protocol::Joseph { .. }), "{:?}", plan.protocol);
    let half = |theta: f64| exact(&asked, &plan, theta).half_width().unwrap();
    // Evenly, and in step with no scale.
    let means = cases(61, 487);
    let share = |i: usize| (i as f64 + 0.5) / means as f64;
    let average = (0..means).map(|i| half(asked.low + 40.0 * share(i))).sum::<f64>() / means as f64;
    let promised = plan.outlook.half_width().unwrap();
    assert!((average / promised - 1.0).abs() < 0.02, "{average}, promised {promised}");
    assert!(half(plan.worst_mean) / promised > 1.05, "{} at worst", half(plan.worst_mean));
}
