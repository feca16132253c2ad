//! The bitwise pilot: where in a known range is the mean? One residue per user and scale.

use crate::bitwise_law::PilotLaw;
use crate::pilot_estimate::PilotEstimate;
use crate::piloted::{Answers, Pilot};
use ldp_core::error::require;
use ldp_core::{
    Cdf, Counts, Epsilon, Error, Finite, Group, Outcomes, Result, Round, StagedEstimator, Step, StepOf, Tally,
};
use ldp_mechanisms::Residue;
use std::ops::{ControlFlow, Range};

/// Multiples of a scale are told apart modulo this.
const RESIDUES: usize = 4;

/// Multiples of the finest scale are exact integers below this.
const MOST_CELLS: f64 = (1u64 << 50) as f64;

/// How many users a pilot takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// This part of all users, strictly between 0 and 1.
    Part(f64),
    /// This many.
    Count(u64),
}

impl Share {
    /// Half of the users, as in [JKMW19].
    ///
    /// [JKMW19]: https://arxiv.org/abs/1811.08382
    pub const HALF: Self = Self::Part(0.5);

    /// How many of `users`.
    fn of(self, users: u64) -> u64 {
        match self {
            Self::Part(part) => (users as f64 * part).floor() as u64,
            Self::Count(count) => count,
        }
    }
}

/// The first round of [JKMW19]: the mean of a Gaussian in a known range, roughly.
///
/// For every scale $2^j$ a group of k users reports the residue $\lfloor x/2^j \rfloor \bmod 4$ through 4-ary response
/// ([`Residue`]). With the debiased counts $H^j(a)$ and $\psi = \frac{\varepsilon+4}{\varepsilon\sqrt 2}\sqrt{k\ln(8L/\beta)}$,
/// the analyst descends from the coarsest scale while one residue holds $\max_a H^j(a) \ge 0.52k + \psi$, halving the
/// interval each time; where it stops, the largest multiple of $2^j$ in the interval with one of the two commonest
/// residues is the pilot estimate.
///
/// - The finest scale is $2^{\lfloor\log_2\sigma\rfloor}$. At the coarsest, $W$, the range is rounded outwards to multiples
///   of it, $[aW, bW]$, and $b - a \le 2$: of a mean near `low` half of the values lie in the cell below $aW$, of one near
///   `high` half may lie in the cell above $bW$, and the residues of all these cells, $a-1, \dots, b$, must differ. Every
///   finer scale has such an interval of two of its cells.
/// - What is found beyond the range is moved to its end, which is nearer to every mean in it.
/// - No scale can pass unless $0.52k + \psi < k$: fewer users are refused, with the smallest number that would do. That is
///   where a scale *can* pass, not where the pilot is good: at ε = 1 in [0, 128] it takes about twice as many users
///   before it rarely ends far off. How rarely, [`law`](Self::law) says.
/// - «Within 2σ with probability 1 − β» is proved for much larger k only; ties go to the lowest residue.
/// - Rounds: 1. Questions: [`Residue`].
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, run};
/// use ldp_estimators::{BitwisePilot, Share};
/// let pilot = BitwisePilot::new(Epsilon::new(1.0)?, [0.0, 128.0], 1.0, Share::Count(15_000))?;
/// assert_eq!(pilot.scales(), 7);
/// let found = run(&pilot, 15_000, &mut Tallies::new(&Gaussian::new(1.0)?, 100.25, 1)?)?;
/// assert!((found.value() - 100.25).abs() <= 2.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
#[derive(Clone, Debug, PartialEq)]
pub struct BitwisePilot {
    epsilon: Epsilon,
    range: [f64; 2],
    finest: i32,
    scales: u32,
    beta: f64,
    share: Share,
    /// Whether the number of scales was asked for.
    fixed: bool,
    questions: Vec<Residue>,
    /// [`enough_per_scale`](Self::enough_per_scale), which is looked at in every replication.
    enough: u64,
}

impl BitwisePilot {
    /// A pilot for a mean in `[low, high]` of values with standard deviation `sigma`, with as few scales as the range
    /// allows and β = 0.05.
    pub fn new(epsilon: Epsilon, [low, high]: [f64; 2], sigma: f64, share: Share) -> Result<Self> {
        require(low.is_finite(), "low", "finite", low)?;
        require(high.is_finite() && high > low, "high", "finite and above low", high)?;
        require(sigma > 0.0 && sigma.is_finite(), "sigma", "positive and finite", sigma)?;
        if let Share::Part(part) = share {
            require(part > 0.0 && part < 1.0, "the pilot's share", "strictly between 0 and 1", part)?;
        }
        let finest = floor_log2(sigma);
        let cells = low.abs().max(high.abs()) / sigma;
        require(cells < MOST_CELLS, "the range in units of sigma", "below 2^50", cells)?;
        let range = [low, high];
        let pilot = Self {
            epsilon,
            range,
            finest,
            scales: fewest_scales(range, finest),
            beta: 0.05,
            share,
            fixed: false,
            questions: vec![],
            enough: u64::MAX,
        };
        pilot.with_questions()
    }

    /// The same pilot on this many scales, counted from the finest one.
    pub fn with_scales(self, scales: u32) -> Result<Self> {
        let least = fewest_scales(self.range, self.finest);
        if scales < least {
            // Fewer would make several multiples of the coarsest scale share a residue.
            return Err(Error::TooFew { name: "scales", least: u64::from(least), value: u64::from(scales) });
        }
        // Coarser scales than this add nothing; 60 cover any range that is accepted.
        if scales > 60 {
            return Err(Error::TooMany { name: "scales", most: 60, value: u64::from(scales) });
        }
        Self { scales, fixed: true, ..self }.with_questions()
    }

    /// The same pilot with another failure probability β in its threshold.
    pub fn with_beta(self, beta: f64) -> Result<Self> {
        require(beta > 0.0 && beta < 1.0, "beta", "strictly between 0 and 1", beta)?;
        Self { beta, ..self }.with_questions()
    }

    fn with_questions(self) -> Result<Self> {
        let question = |scale| Residue::new(self.epsilon, 0.0, exp2(scale), RESIDUES as u32);
        let questions = (self.finest..).take(self.scales as usize).map(question).collect::<Result<_>>()?;
        let enough = self.find_enough();
        Ok(Self { questions, enough, ..self })
    }

    /// The same pilot on at least this many scales; an error if fewer were asked for.
    pub(crate) fn on_at_least(self, scales: u32) -> Result<Self> {
        if self.scales >= scales {
            return Ok(self);
        }
        if self.fixed {
            return Err(Error::TooFew { name: "scales", least: scales.into(), value: self.scales.into() });
        }
        self.with_scales(scales)
    }

    /// The number of scales L.
    #[must_use]
    pub fn scales(&self) -> u32 {
        self.scales
    }

    /// The exponents of the scales, finest first.
    pub(crate) fn exponents(&self) -> Range<i32> {
        self.finest..self.finest + self.scales as i32
    }

    /// ln(a L/β).
    pub(crate) fn ln_over_beta(&self, a: f64) -> f64 {
        (a * f64::from(self.scales) / self.beta).ln()
    }

    /// ε of the claim: what the thresholds of the paper are made of.
    pub(crate) fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The threshold ψ for a group of k users.
    pub(crate) fn psi(&self, users: u64) -> f64 {
        let epsilon = self.epsilon.value();
        (epsilon + 4.0) / (epsilon * 2f64.sqrt()) * (users as f64 * self.ln_over_beta(8.0)).sqrt()
    }

    /// The fewest users per scale with which any scale can pass.
    #[must_use]
    pub fn fewest_per_scale(&self) -> u64 {
        let epsilon = self.epsilon.value();
        let ratio = (epsilon + 4.0) / (0.48 * 2f64.sqrt() * epsilon);
        ((ratio * ratio * self.ln_over_beta(8.0)).floor() as u64).saturating_add(1)
    }

    /// The fewest users per scale with which [`failure_bound`](Self::failure_bound) is at most 1 %. With fewer an estimate
    /// that begins with the pilot says so.
    #[must_use]
    pub fn enough_per_scale(&self) -> u64 {
        self.enough
    }

    /// The group size k when there are `users` users in all: at least `least`, and no more are taken than there are.
    pub(crate) fn group(&self, users: u64, least: u64) -> Result<u64> {
        let scales = u64::from(self.scales);
        let taken = self.share.of(users);
        if taken / scales < least {
            let needed = least.saturating_mul(scales);
            return Err(match self.share {
                Share::Count(_) => Error::TooFew { name: "pilot users", least: needed, value: taken },
                Share::Part(part) => Error::TooFew { name: "users", least: fewest_users(part, needed), value: users },
            });
        }
        if taken > users {
            return Err(Error::TooFew { name: "users", least: taken, value: users });
        }
        Ok(taken / scales)
    }

    /// The round: a group of `group` users per scale, finest first.
    pub(crate) fn groups(&self, group: u64) -> impl Iterator<Item = Group<Residue>> {
        self.questions.iter().map(move |question| Group { question: question.clone(), users: group })
    }

    /// The debiased counts of every scale with the number of its answers, finest first.
    pub(crate) fn debias<'a>(&self, answers: impl ExactSizeIterator<Item = &'a Counts>) -> Result<Vec<Scale>> {
        self.check_count(answers.len())?;
        self.questions().zip(answers).map(Scale::new).collect()
    }

    fn check_count(&self, found: usize) -> Result<()> {
        let expected = self.questions.len();
        if found == expected { Ok(()) } else { Err(Error::TallyCount { expected, found }) }
    }

    /// The exponent and the question of every scale, finest first.
    pub(crate) fn questions(&self) -> impl DoubleEndedIterator<Item = (i32, &Residue)> + ExactSizeIterator {
        self.exponents().zip(&self.questions)
    }

    /// The pilot estimate from the debiased counts.
    pub(crate) fn locate(&self, scales: &[Scale]) -> PilotEstimate {
        let users = scales.iter().map(|scale| scale.users).min();
        self.judge(self.follow(scales.iter().rev().copied()), users.unwrap_or(0))
    }

    /// What groups of at least `users` found.
    pub(crate) fn judge(&self, found: PilotEstimate, users: u64) -> PilotEstimate {
        found.doubted(users < self.enough)
    }

    /// The pilot estimate from the answers: no list of scales is made.
    pub(crate) fn read<'a>(&self, answers: impl Answers<'a, Counts>) -> Result<PilotEstimate> {
        self.check_count(answers.clone().count())?;
        // Every scale is checked, also those that the descent does not reach.
        let mut users = u64::MAX;
        for answer in answers.clone() {
            let found = answer.counts().len();
            if found != RESIDUES {
                return Err(Error::TallyAlphabet { expected: RESIDUES, found });
            }
            users = users.min(answer.users());
        }
        let mut failed = None;
        let scale = |asked| Scale::new(asked).map_err(|error| failed = Some(error)).ok();
        let found = self.follow(self.questions().rev().zip(answers.rev()).map_while(scale));
        failed.map_or(Ok(self.judge(found, users)), Err)
    }

    /// The descent through the scales, coarsest first; those that it does not reach are not looked at.
    fn follow(&self, scales: impl IntoIterator<Item = Scale>) -> PilotEstimate {
        let read = |scale: &Scale| {
            let [first, second] = scale.leaders();
            Leaders { first, second, passes: self.passes(scale.counts[first], scale.users) }
        };
        let down = |interval, scale: Scale| self.descend(interval, scale.exponent, read(&scale));
        match scales.into_iter().try_fold(self.whole(), down) {
            ControlFlow::Break(found) => found,
            // Only without a finest scale, which always ends the descent.
            ControlFlow::Continue([low, _]) => self.found(low, self.finest),
        }
    }

    /// The range between multiples of the coarsest scale: values near its ends lie on both sides of them.
    pub(crate) fn whole(&self) -> [f64; 2] {
        let coarsest = self.finest + self.scales as i32 - 1;
        outwards(self.range, coarsest).map(|multiple| multiple * exp2(coarsest))
    }

    /// The estimate from a place that the descent has found.
    fn found(&self, place: f64, scale: i32) -> PilotEstimate {
        let [low, high] = self.range;
        PilotEstimate::new(place.clamp(low, high), scale)
    }

    /// Whether the largest debiased count of a scale is so large that the descent goes on.
    pub(crate) fn passes(&self, count: f64, users: u64) -> bool {
        users > 0 && count >= 0.52 * users as f64 + self.psi(users)
    }

    /// One step of the descent: the interval that a scale leaves of one, or the estimate if the descent ends there.
    pub(crate) fn descend(
        &self,
        mut interval: [f64; 2],
        exponent: i32,
        Leaders { first, second, passes }: Leaders,
    ) -> ControlFlow<PilotEstimate, [f64; 2]> {
        if passes && let Some(place) = last_multiple(interval, exponent, |residue| residue == first) {
            interval = [place, place + exp2(exponent)];
            if exponent > self.finest {
                return ControlFlow::Continue(interval);
            }
        }
        let leads = |residue| residue == first || residue == second;
        let place = last_multiple(interval, exponent, leads).unwrap_or(interval[0]);
        ControlFlow::Break(self.found(place, exponent))
    }
}

/// All that the descent reads off a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaders {
    /// The commonest residue.
    pub first: usize,
    /// The one after it.
    pub second: usize,
    /// Whether the first one is so common that the descent goes on.
    pub passes: bool,
}

/// What one scale of a pilot brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub exponent: i32,
    pub users: u64,
    pub counts: [f64; RESIDUES],
}

impl Scale {
    fn new(((exponent, question), answer): ((i32, &Residue), &Counts)) -> Result<Self> {
        let mut counts = [0.0; RESIDUES];
        question.debias_into(answer.counts(), &mut counts)?;
        Ok(Self { exponent, users: answer.users(), counts })
    }

    /// The commonest residue and the one after it; ties go to the lowest.
    fn leaders(&self) -> [usize; 2] {
        let larger = |a: usize, b: usize| self.counts[a] > self.counts[b];
        let [mut first, mut second] = if larger(1, 0) { [1, 0] } else { [0, 1] };
        for residue in 2..RESIDUES {
            if larger(residue, first) {
                [first, second] = [residue, first];
            } else if larger(residue, second) {
                second = residue;
            }
        }
        [first, second]
    }
}

/// The largest multiple of $2^j$ in the interval whose number has a wanted residue modulo 4. Of any four neighbours
/// one has a given residue, so four are looked at.
fn last_multiple([low, high]: [f64; 2], exponent: i32, wanted: impl Fn(usize) -> bool) -> Option<f64> {
    let width = exp2(exponent);
    let (first, last) = ((low / width).ceil(), (high / width).floor());
    (0..4)
        .map(|back| last - f64::from(back))
        .take_while(|&c| c >= first)
        // Whole numbers below 2⁵¹.
        .find(|c| wanted((*c as i64).rem_euclid(4) as usize))
        .map(|c| c * width)
}

/// 2^exponent, exactly.
pub(crate) fn exp2(exponent: i32) -> f64 {
    libm::scalbn(1.0, exponent)
}

/// ⌊log₂ x⌋ for a positive finite number, exactly.
pub(crate) fn floor_log2(x: f64) -> i32 {
    libm::ilogb(x)
}

/// The numbers of the multiples of $2^j$ next to the range, on its outside. Division by a power of two is exact.
fn outwards([low, high]: [f64; 2], exponent: i32) -> [f64; 2] {
    let width = exp2(exponent);
    [(low / width).floor(), (high / width).ceil()]
}

/// The fewest scales at whose coarsest no two places in the range have values of the same residue.
///
/// Values of means in $[aW, bW]$ lie in the cells $a-1, \dots, b$: four different residues if $b - a \le 2$. One more, and the
/// cell below the range has the residue of its last one. A scale as wide as the range is coarse enough wherever it lies.
fn fewest_scales(range: [f64; 2], finest: i32) -> u32 {
    let ambiguous = |scales: u32| {
        let [first, last] = outwards(range, finest + scales as i32 - 1);
        last - first > 2.0
    };
    (1..).find(|&scales| !ambiguous(scales)).unwrap_or(1)
}

/// The fewest users of whom a part makes at least `needed`; the largest number there is if none do.
fn fewest_users(part: f64, needed: u64) -> u64 {
    let enough = |users| Share::Part(part).of(users) >= needed;
    let (mut fails, mut holds) = (0, u64::MAX);
    while holds - fails > 1 {
        let middle = fails + (holds - fails) / 2;
        if enough(middle) { holds = middle } else { fails = middle }
    }
    holds
}

impl StagedEstimator for BitwisePilot {
    type Question = Residue;
    type Tally = Counts;
    /// Nothing to remember: the questions are the pilot's own.
    type State = ();
    type Estimate = PilotEstimate;

    fn tally(&self, question: &Residue) -> Counts {
        Counts::new(question.reports())
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let group = self.group(users, self.fewest_per_scale())?;
        Ok(Step::Ask { round: Round::Many(self.groups(group).collect()), state: () })
    }

    fn advance(&self, (): (), answers: &[Counts]) -> Result<StepOf<Self>> {
        self.digest((), answers.iter())
    }

    fn range(&self, _: u64) -> Option<[f64; 2]> {
        Some(self.range)
    }

    fn outcomes<M: Cdf + ?Sized>(
        &self,
        round: &Round<Residue>,
        (): &(),
        model: &M,
        theta: f64,
    ) -> Result<Option<Outcomes<StepOf<Self>>>> {
        let groups = round.groups();
        let ours = groups.len() == self.questions.len()
            && groups.iter().zip(&self.questions).all(|(group, question)| group.question == *question);
        match groups {
            [first, ..] if ours && groups.iter().all(|group| group.users == first.users) => {
                match self.law(first.users, model, theta) {
                    Ok(PilotLaw { found, lost }) => {
                        let steps = found.into_iter().map(|(probability, found)| (probability, Step::Done(found)));
                        Ok(Some(Outcomes { steps: steps.collect(), lost }))
                    }
                    // More users than can be summed: whoever asks has to draw.
                    Err(Error::TooMany { .. }) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(None),
        }
    }
}

impl Pilot for BitwisePilot {
    fn users(&self, users: u64) -> Result<u64> {
        Ok(self.group(users, self.fewest_per_scale())? * u64::from(self.scales))
    }

    fn start(&self, estimate: &PilotEstimate) -> f64 {
        estimate.value()
    }

    fn digest<'a>(&self, (): (), answers: impl Answers<'a, Counts>) -> Result<StepOf<Self>> {
        self.read(answers).map(Step::Done)
    }
}
