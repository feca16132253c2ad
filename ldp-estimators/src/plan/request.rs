//! What is asked of a plan, and the search for it.

use super::allocate::{MOST_INFINITE, Trial};
use super::answer::{Alternative, Naive, Plan, Shares, Warning};
use super::blur;
use super::outlook::{Effort, Outlook};
use super::pilots::Pilots;
use super::prior::{Criterion, Prior};
use super::protocol::{Ground, Kind, Protocol};
use crate::one_stage_variance;
use ldp_core::error::require;
use ldp_core::inference::check_level;
use ldp_core::{Epsilon, Error, Result};

/// More users than this are not planned for.
const MOST_USERS: u64 = 1_000_000_000_000;
/// Numbers of users that differ by less than one in so many are settled with one allocation.
const NARROW: u64 = 25;

/// What is known, and what the plan may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    epsilon: Epsilon,
    sigma: f64,
    /// Standard deviation of the Gaussian noise that every user adds to the value.
    noise: f64,
    prior: Prior,
    level: f64,
    rounds: u32,
    criterion: Criterion,
}

impl Request {
    /// For a mean with known σ in a prior interval, at a level of 95 %, in at most three rounds, for the worst mean.
    pub fn new(epsilon: Epsilon, sigma: f64, prior: Prior) -> Result<Self> {
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)?;
        Ok(Self { epsilon, sigma, noise: 0.0, prior, level: 0.95, rounds: 3, criterion: Criterion::Worst })
    }

    /// Intervals at this level.
    pub fn level(self, level: f64) -> Result<Self> {
        check_level(level)?;
        Ok(Self { level, ..self })
    }

    /// At most so many rounds.
    pub fn rounds(self, rounds: u32) -> Result<Self> {
        if rounds == 0 {
            return Err(Error::TooFew { name: "rounds", least: 1, value: 0 });
        }
        Ok(Self { rounds, ..self })
    }

    /// For the worst mean, or on average.
    #[must_use]
    pub fn criterion(self, criterion: Criterion) -> Self {
        Self { criterion, ..self }
    }

    /// The best plan for this many users. Values are blurred where that is better, see [`Plan::noise`].
    pub fn for_users(&self, users: u64) -> Result<Plan> {
        if users > MOST_USERS {
            return Err(Error::TooMany { name: "users", most: MOST_USERS, value: users });
        }
        let own = self.unblurred_for_users(users);
        let trial = self.trial()?;
        let z = trial.z();
        // The half-width that counts, and all that may have an infinite end come last.
        let cost = |plan: &Plan| {
            let few = plan.outlook.infinite <= MOST_INFINITE;
            if few { z * plan.outlook.spread(z) } else { f64::MAX.sqrt() * (1.0 + plan.outlook.infinite) }
        };
        let best = own.as_ref().map_or(f64::INFINITY, &cost);
        let radius = self.prior.radius();
        let above = own.as_ref().ok().and_then(|plan| plan.outlook.half_width()).unwrap_or(radius).min(radius);
        let floor = |sigma: f64| if sigma > 4.0 * radius { f64::INFINITY } else { z * trial.bound_at(sigma, users) };
        let about = |sigma: f64, _| {
            let plan = self.blurred(sigma).unblurred_for_users(users).ok();
            Ok::<_, Error>(plan.map(|plan| cost(&plan)))
        };
        let mut found = own;
        for sigma in blur::cheapest(above.max(self.sigma), best, self.rounds == 1, floor, about)? {
            if let Ok(plan) = self.blurred(sigma).unblurred_for_users(users)
                && found.as_ref().map_or(f64::INFINITY, &cost) > cost(&plan)
            {
                found = Ok(plan);
            }
        }
        found
    }

    fn unblurred_for_users(&self, users: u64) -> Result<Plan> {
        let trial = self.trial()?;
        let mut found = Vec::new();
        let mut refused = None;
        for kind in self.kinds() {
            let plan = trial.allocate(kind, users, Effort::Rough).and_then(|protocol| {
                let (outlook, worst) = trial.outlook(&protocol, users, Effort::Fine)?;
                Ok((users, protocol, outlook, worst))
            });
            match plan {
                Ok(plan) => found.push((kind, Some(plan))),
                Err(error @ Error::TooFew { .. }) => {
                    refused.get_or_insert(error);
                    found.push((kind, None));
                }
                Err(Error::Unsupported { .. } | Error::TooMany { .. }) => found.push((kind, None)),
                Err(error) => return Err(error),
            }
        }
        let z = trial.z();
        // First those whose intervals are finite, then the smallest spread.
        let rank = |outlook: &Outlook| {
            let unbounded = (outlook.infinite - MOST_INFINITE).max(0.0);
            [unbounded, outlook.spread(z), outlook.mse]
        };
        let none = refused.unwrap_or(Error::TooFew { name: "users", least: 2, value: users });
        self.choose(&trial, found, |_, outlook| rank(outlook)).ok_or(none)?
    }

    /// The plan with the fewest users whose expected half-width is at most `half_width`.
    ///
    /// The root of its mean squared error is in keeping with that: at most a tenth more than the half-width over z. And at
    /// most one in a hundred of its intervals has an infinite end. Values are blurred where that needs fewer users, see
    /// [`Plan::noise`].
    pub fn for_half_width(&self, half_width: f64) -> Result<Plan> {
        require(half_width > 0.0 && half_width.is_finite(), "half-width", "positive and finite", half_width)?;
        let least = "below the half-width of what is known already";
        require(half_width < self.prior.radius(), "half-width", least, half_width)?;
        let trial = self.trial()?;
        let floor = |sigma: f64| (trial.z() * trial.bound_at(sigma, 1) / half_width).powi(2);
        let users = |plan: &Option<Plan>| plan.as_ref().map_or(u64::MAX, |plan| plan.users);
        // Finding the place to within a σ far below the half-width is never worth its users.
        let own = if self.sigma < 0.5 * half_width { Self { rounds: 1, ..*self } } else { *self };
        let mut found = own.unblurred_for_half_width(half_width)?;
        for one_round in [true, false] {
            if self.rounds == 1 && !one_round {
                break;
            }
            let request = if one_round { Self { rounds: 1, ..*self } } else { *self };
            let best = users(&found).min(MOST_USERS) as f64;
            let about = |sigma: f64, best: f64| {
                let about = request.blurred(sigma).about(half_width, 2.0 * best)?;
                Ok::<_, Error>(about.map(|users| users as f64))
            };
            // What is about as good may turn out to be better, when it is settled.
            for sigma in blur::cheapest(self.sigma.max(half_width), best, one_round, floor, about)? {
                let blurred = self.blurred(sigma).unblurred_for_half_width(half_width)?;
                if users(&blurred) < users(&found) {
                    found = blurred;
                }
            }
        }
        // More rounds may do what these cannot.
        found.ok_or_else(|| self.hopeless(half_width))
    }

    /// About as many users as the best plan needs, if they are below `cap`.
    fn about(&self, half_width: f64, cap: f64) -> Result<Option<u64>> {
        let trial = self.trial()?;
        let mut best = None;
        let mut cap = (cap as u64).min(MOST_USERS);
        for kind in self.longest_first() {
            if let Some(users) = self.bracket(&trial, kind, half_width, cap)? {
                best = Some(best.map_or(users, |best: u64| best.min(users)));
                cap = cap.min(users.saturating_mul(2));
            }
        }
        Ok(best)
    }

    /// Those with more rounds first, which are likely to need fewer users.
    fn longest_first(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.kinds().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.rounds()));
        kinds
    }

    /// Why there is no plan.
    fn hopeless(&self, half_width: f64) -> Error {
        let more = (self.rounds + 1..=3).find(|&rounds| {
            let request = Self { rounds, ..*self };
            let plan = request.unblurred_for_half_width(half_width);
            plan.is_ok_and(|plan| plan.is_some())
        });
        match more {
            Some(rounds) => Error::TooFew { name: "rounds", least: u64::from(rounds), value: u64::from(self.rounds) },
            None => Error::TooMany { name: "users", most: MOST_USERS, value: u64::MAX },
        }
    }

    /// The plan with values as this request has them.
    fn unblurred_for_half_width(&self, half_width: f64) -> Result<Option<Plan>> {
        let trial = self.trial()?;
        let mut cap = MOST_USERS;
        let mut found = Vec::new();
        for kind in self.longest_first() {
            let plan = self.fewest(&trial, kind, half_width, cap)?;
            if let Some((users, ..)) = plan {
                // What needs many times as many is no alternative.
                cap = cap.min(users.saturating_mul(100));
            }
            found.push((kind, plan));
        }
        found.sort_by_key(|(kind, _)| Kind::ALL.iter().position(|other| other == kind));
        let chosen = self.choose(&trial, found, |users, _| [users as f64, 0.0, 0.0]).transpose()?;
        Ok(chosen.map(|mut plan| {
            if plan.outlook.half_width().is_some_and(|found| found < 0.9 * half_width) {
                plan.warnings.push(Warning::FiniteEnds { wanted: half_width });
            }
            plan
        }))
    }

    /// A plan for at most this many users whose expected half-width is at most `half_width`; else [`Error::TooFew`] with the
    /// fewest that would do.
    pub fn for_both(&self, users: u64, half_width: f64) -> Result<Plan> {
        let fewest = self.for_half_width(half_width)?;
        if fewest.users > users {
            return Err(Error::TooFew { name: "users", least: fewest.users, value: users });
        }
        let plan = self.for_users(users)?;
        // The best use of all users is judged by more than its half-width; if that is too wide, fewer users do better.
        let wide = plan.outlook.half_width().is_none_or(|found| found > half_width);
        Ok(if wide { fewest } else { plan })
    }

    /// The same with noise that makes the standard deviation of the values this one.
    fn blurred(&self, total: f64) -> Self {
        Self { noise: blur::noise(self.sigma, total), ..*self }
    }

    /// The standard deviation of the values as they are asked about.
    fn total(&self) -> f64 {
        self.sigma.hypot(self.noise)
    }

    fn trial(&self) -> Result<Trial> {
        let &Self { epsilon, prior, level, criterion, .. } = self;
        let ground = Ground::new(epsilon, self.total(), level)?;
        let pilots = Pilots::new(&ground, prior);
        Ok(Trial { ground, prior, criterion, pilots })
    }

    fn kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        let rounds = self.rounds;
        let certain = self.prior.certain();
        Kind::ALL.into_iter().filter(move |&kind| {
            kind.rounds() <= rounds
                && match kind {
                    // Outside of its range it would be wrong, and its intervals with it.
                    Kind::DuchiRogers => certain,
                    _ => true,
                }
        })
    }

    /// A number of users to begin the search with: the asymptotic one, with what the rounds before the last take.
    /// `None` if even that is beyond what is planned for.
    fn first_guess(&self, trial: &Trial, kind: Kind, half_width: f64) -> Option<u64> {
        let base = trial.bound() * (trial.z() / half_width).powi(2);
        let far = one_stage_variance(self.epsilon, self.prior.radius() / self.total());
        let guess = match kind {
            Kind::OneStage => base * far / one_stage_variance(self.epsilon, 0.0),
            Kind::DuchiRogers => base,
            // A first stage that sees nothing of a mean so far away would be no start at all.
            Kind::TwoStage => base + 2.0 * (far * base).sqrt() + far / 100.0,
            Kind::Joseph | Kind::ThreeStage => base + 2.0 * trial.pilots.fewest().ok()? as f64,
        };
        (guess < MOST_USERS as f64).then(|| guess.ceil().max(2.0) as u64)
    }

    /// The fewest users, at most `cap`, with which a kind of protocol reaches a half-width; `None` if none do.
    fn fewest(&self, trial: &Trial, kind: Kind, half_width: f64, cap: u64) -> Result<Option<Found>> {
        match self.bracket(trial, kind, half_width, cap)? {
            Some(users) => self.settle(trial, kind, half_width, users),
            None => Ok(None),
        }
    }

    /// About the fewest users, with what they promise worked out roughly.
    fn bracket(&self, trial: &Trial, kind: Kind, half_width: f64, cap: u64) -> Result<Option<u64>> {
        let Some(mut users) = self.first_guess(trial, kind, half_width) else { return Ok(None) };
        if users > cap {
            return Ok(None);
        }
        let z = trial.z();
        let (mut fails, mut works): (u64, Option<u64>) = (0, None);
        loop {
            let tried = trial.allocate(kind, users, Effort::Glance);
            let tried = tried.and_then(|protocol| Ok(trial.outlook(&protocol, users, Effort::Glance)?.0));
            let (enough, guess) = match tried {
                Ok(outlook) => {
                    let half = outlook.shown(z);
                    let enough = half <= half_width && outlook.infinite <= MOST_INFINITE;
                    if enough {
                        works = Some(users);
                    }
                    // Half-widths fall like one over the root of the number of users.
                    let ratio = (half / half_width).powi(2).clamp(0.05, 20.0);
                    // Too many infinite ends do not say how many users are missing.
                    let more = if outlook.infinite > MOST_INFINITE { ratio.max(1.5) } else { ratio.max(1.01) };
                    (enough, users as f64 * if enough { ratio.min(1.0) } else { more })
                }
                Err(Error::TooFew { name: "users", least, .. }) => (false, least as f64),
                // A pilot in whose law more intervals can be reached than are followed.
                Err(Error::TooMany { .. } | Error::Unsupported { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            if !enough {
                fails = users;
            }
            let most = works.unwrap_or(u64::MAX);
            if most <= fails + 1 + fails / NARROW {
                break;
            }
            if works.is_none() && users >= cap {
                return Ok(None);
            }
            // A little below the guess when it is enough already, so that the bracket closes from both sides.
            let guess = guess * if enough { 0.999 } else { 1.001 };
            let guess = if works.is_some() && !(guess > fails as f64 && guess < most as f64) {
                0.5 * (fails as f64 + most as f64)
            } else {
                guess
            };
            users = (guess.round().max(1.0) as u64).clamp(fails + 1, (most - 1).min(cap));
        }
        Ok(works)
    }

    /// The fewest users near a number that about does, allocated anew for each and with what they promise worked out finely.
    fn settle(&self, trial: &Trial, kind: Kind, half_width: f64, about: u64) -> Result<Option<Found>> {
        let z = trial.z();
        let (mut users, mut fails, mut found): (u64, u64, Option<Found>) = (rounded(about), 0, None);
        for _ in 0..40 {
            let protocol = trial.allocate(kind, users, Effort::Rough)?;
            let (outlook, worst) = trial.outlook(&protocol, users, Effort::Fine)?;
            let half = outlook.shown(z);
            let ratio = (half / half_width).powi(2);
            if half <= half_width && outlook.infinite <= MOST_INFINITE {
                found = Some((users, protocol, outlook, worst));
                if users - fails <= users / NARROW {
                    break;
                }
                // A hair more than would do if widths alone counted; always fewer, as another allocation may do with them.
                let fewer = (users as f64 * (1.005 * ratio).clamp(0.7, 0.96)).ceil() as u64;
                let fewer = rounded(fewer.max(fails + (users - fails) / 2));
                if fewer >= users {
                    break;
                }
                users = fewer;
            } else {
                fails = users;
                let least = if outlook.infinite > MOST_INFINITE { 1.03 } else { 1.001 };
                users = rounded(match found {
                    Some((most, ..)) if most - fails <= most / NARROW => break,
                    Some((most, ..)) => fails + (most - fails) / 2,
                    None => ((users as f64 * ratio.clamp(least, 1.1)).ceil() as u64).max(users + 1),
                });
                if users >= found.map_or(MOST_USERS, |(most, ..)| most) {
                    break;
                }
            }
        }
        let Some(found) = found else { return Ok(None) };
        self.tighten(trial, half_width, fails, found).map(Some)
    }

    /// The same allocation with fewer users, more than `fails`, if that is enough.
    fn tighten(&self, trial: &Trial, half_width: f64, fails: u64, found: Found) -> Result<Found> {
        let (mut best, z) = (found, trial.z());
        let mut fails = fails.max(best.0 - best.0 / 8).max(best.1.spent().iter().sum::<u64>() + 2);
        loop {
            let users = rounded(fails + best.0.saturating_sub(fails) / 2);
            if users <= fails || users >= best.0 {
                return Ok(best);
            }
            let (outlook, worst) = trial.outlook(&best.1, users, Effort::Fine)?;
            if outlook.shown(z) <= half_width && outlook.infinite <= MOST_INFINITE {
                best = (users, best.1, outlook, worst);
            } else {
                fails = users;
            }
        }
    }

    /// The plan of the kind that ranks first.
    fn choose(
        &self,
        trial: &Trial,
        found: Vec<(Kind, Option<Found>)>,
        rank: impl Fn(u64, &Outlook) -> [f64; 3],
    ) -> Option<Result<Plan>> {
        let ranked = found.iter().filter_map(|(kind, plan)| plan.map(|plan| (rank(plan.0, &plan.2), *kind, plan)));
        let order = |a: &[f64; 3], b: &[f64; 3]| {
            let places = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
            places.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        let (_, chosen, (users, protocol, outlook, worst_mean)) = ranked.min_by(|a, b| order(&a.0, &b.0))?;
        let others = found.into_iter().filter(|(kind, _)| *kind != chosen);
        let alternatives = others
            .map(|(kind, plan)| Alternative { kind, plan: plan.map(|(users, protocol, o, _)| (users, protocol, o)) })
            .collect();
        Some(self.plan(trial, users, protocol, outlook, worst_mean, alternatives))
    }

    fn plan(
        &self,
        trial: &Trial,
        users: u64,
        protocol: Protocol,
        outlook: Outlook,
        worst_mean: f64,
        alternatives: Vec<Alternative>,
    ) -> Result<Plan> {
        let z = trial.z();
        let n = users as f64;
        let [pilot, first_stage] = protocol.spent().map(|spent| spent as f64);
        // In units of σ², per user.
        let width = outlook.half_width().unwrap_or(f64::INFINITY);
        let whole = n * (width / z / self.sigma).powi(2);
        let bound = one_stage_variance(self.epsilon, 0.0);
        let shares = Shares::new(whole, bound, n, pilot, first_stage);
        let pilot_failure = (pilot > 0.0).then(|| trial.pilots.failure(&trial.ground, pilot as u64)).transpose()?;
        let naive = self.naive(trial, users, &protocol, &outlook);
        let asymptotic_half_width = z * self.sigma * (bound / n).sqrt();
        let mut warnings = Vec::new();
        let excess = width / asymptotic_half_width - 1.0;
        if !(excess <= 0.1) {
            warnings.push(Warning::Asymptotics { excess });
        }
        if outlook.infinite > 1e-4 {
            warnings.push(Warning::Infinite { probability: outlook.infinite });
        }
        if outlook.coverage > self.level + 0.01 {
            warnings.push(Warning::Conservative { coverage: outlook.coverage });
        }
        if let Some(failure) = pilot_failure.filter(|&failure| failure > 1e-4) {
            warnings.push(Warning::Pilot { failure });
        }
        let ratio = outlook.mse.sqrt() / (width / z);
        if ratio > 1.1 {
            warnings.push(Warning::RareErrors { ratio });
        }
        Ok(Plan {
            users,
            protocol,
            noise: self.noise,
            outlook,
            worst_mean,
            asymptotic_half_width,
            shares,
            pilot_failure,
            naive,
            alternatives,
            warnings,
        })
    }

    /// Half and half, where the rounds allow it and it can be run.
    fn naive(&self, trial: &Trial, users: u64, protocol: &Protocol, own: &Outlook) -> Option<Naive> {
        let naive = trial.naive(protocol.kind(), users);
        if naive.kind().rounds() > self.rounds {
            return None;
        }
        let (outlook, _) = trial.outlook(&naive, users, Effort::Fine).ok()?;
        // Where its ends are often infinite, the width of the others says little.
        let z = trial.z();
        let margin = (outlook.infinite <= MOST_INFINITE).then(|| outlook.spread(z) / own.spread(z) - 1.0);
        Some(Naive { protocol: naive, outlook, margin })
    }
}

/// The next number with three digits and zeros: what the last digits of a plan would say is chance.
fn rounded(users: u64) -> u64 {
    let unit = 10u64.pow(users.max(1).ilog10().saturating_sub(2));
    users.div_ceil(unit) * unit
}

/// Users, protocol, promise, and the mean at which it is least.
type Found = (u64, Protocol, Outlook, f64);
