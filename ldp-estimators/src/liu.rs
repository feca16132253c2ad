//! The sequential median: one bit per user, one step per bit.

use crate::StartAt;
use crate::brackets::FOLLOWED;
use crate::liu_estimate::{LiuEstimate, Walked};
use crate::one_stage::one;
use ldp_core::error::require;
use ldp_core::{Bits, Epsilon, Error, Result, Round, StagedEstimator, Step, StepOf, Tally};
use ldp_mechanisms::Sign;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The largest batch. Already one of a thousand takes steps that overshoot.
const MOST_BATCH: u64 = 1_000_000;

/// How many times longer than at the median steps are, at most.
const LONGER: f64 = 10.0;

/// The sequential quantile estimator of [LHDK23]: every user answers whether x lies above the current guess q, and
/// q moves a step up or down.
///
/// With $r = \tau$, level p and step $d_m = 2/(m^{0.51} + 100)$, a report 1 moves q by $+d_m(1-r+2pr)/2$, a report 0 by
/// $-d_m(1+r-2pr)/2$. The estimate is the running average of q.
///
/// - n·MSE → $(1 - r^2(2p-1)^2)/(4r^2 f(Q)^2)$, f the density at the quantile Q: for a Gaussian median the optimum
///   $V = \frac{\pi}{2}\tau^{-2}$.
/// - Scale: steps have the unit of the values. As published they are those of values with σ = 1: wrap it in
///   [`Rescaled`](crate::Rescaled) with σ, or with a [guess](Self::guessed_scale) of the spread, and start within a few of
///   them. Away from the median steps are $1/(2\sqrt{p(1-p)})$ times as long (at most ten times): there density is scarce.
/// - Interval: self-normalised, in constant memory, without knowing the distribution; as published it covers too little
///   where the walk is short. So it is [widened or refused](LiuEstimate) by what the path itself shows.
/// - Rounds: as many as users, or one per batch. Users of a batch answer at the same q, and the batch then takes its
///   steps at once: nearly the same path while a batch moves q by less than σ, so for batches up to about 100.
/// - Questions: [`Sign`].
/// - Simulated in lanes at `tally` fidelity ([`InLanes`](ldp_simulate::InLanes)): seven times as fast as drawing
///   every value.
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, IntervalKind, run};
/// use ldp_estimators::Liu;
/// let estimator = Liu::new(Epsilon::new(1.0)?, 0.0)?;
/// let model = Gaussian::new(1.0)?;
/// let estimate = run(&estimator, 100_000, &mut Users::new(&model, 0.5, 100_000, 1)?)?;
/// assert!((estimate.value() - 0.5).abs() < 0.05);
/// assert!(estimate.interval(IntervalKind::SelfNormalised, 0.95)?.contains(0.5));
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [LHDK23]: https://arxiv.org/abs/2306.10260
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liu {
    pub(crate) question: Sign,
    /// How far q moves in units of the step, by the report: down for 0, up for 1. Looked up and not branched on, because
    /// a report is as good as a coin to a branch predictor.
    pub(crate) moves: [f64; 2],
    pub(crate) batch: u64,
    quantile: f64,
    /// Whether the unit of the steps is a guess.
    guessed: bool,
}

impl Liu {
    /// The median at level ε, from `start`, one user per round.
    pub fn new(epsilon: Epsilon, start: f64) -> Result<Self> {
        Ok(Self { question: Sign::new(epsilon, start)?, moves: [-0.5, 0.5], batch: 1, quantile: 0.5, guessed: false })
    }

    /// The quantile of this level, strictly between 0 and 1.
    pub fn quantile(self, quantile: f64) -> Result<Self> {
        require(quantile > 0.0 && quantile < 1.0, "quantile", "strictly between 0 and 1", quantile)?;
        let lean = self.question.tau() * (2.0 * quantile - 1.0);
        // 1 at the median, to the bit.
        let size = (0.25 / (quantile * (1.0 - quantile))).sqrt().min(LONGER);
        Ok(Self { moves: [-0.5 * (1.0 - lean) * size, 0.5 * (1.0 + lean) * size], quantile, ..self })
    }

    /// The unit of the steps is a guess and no known σ: intervals then trust the path alone.
    #[must_use]
    pub fn guessed_scale(self) -> Self {
        Self { guessed: true, ..self }
    }

    /// Rounds of this many users instead of one.
    pub fn batch(self, batch: u64) -> Result<Self> {
        if batch == 0 {
            return Err(Error::TooFew { name: "batch", least: 1, value: 0 });
        }
        if batch > MOST_BATCH {
            return Err(Error::TooMany { name: "batch", most: MOST_BATCH, value: batch });
        }
        Ok(Self { batch, ..self })
    }

    /// The step $d_m = 2/(m^{0.51} + 100)$ of user m = 1, 2, ….
    ///
    /// The first quarter of a million are kept: a power costs more than all else in a round of one user.
    #[inline]
    #[must_use]
    pub fn step(user: u64) -> f64 {
        match KEPT.get(user as usize) {
            Some(&step) => step,
            None => compute_step(user),
        }
    }

    /// The steps of consecutive users from `first` on: looked up once for all.
    pub(crate) fn steps(first: u64, steps: &mut [f64]) {
        match KEPT.get(first as usize..).and_then(|kept| kept.get(..steps.len())) {
            Some(kept) => steps.copy_from_slice(kept),
            None => (first..).zip(steps).for_each(|(user, step)| *step = Self::step(user)),
        }
    }

    #[inline(always)]
    fn ask(&self, state: LiuState) -> Result<StepOf<Self>> {
        if state.left == 0 {
            return self.estimate(state).map(Step::Done);
        }
        let round = Round::one(self.question.at(state.position)?, state.left.min(self.batch));
        Ok(Step::Ask { round, state })
    }

    /// The steps of a batch, by its mean answer: a tally does not know who said what.
    #[inline(never)]
    fn take_batch(&self, state: LiuState, answers: Bits) -> LiuState {
        let (ones, users) = (answers.ones() as f64, answers.users() as f64);
        let [down, up] = self.moves;
        let towards = (ones * up + (users - ones) * down) / users;
        (0..answers.users()).fold(state, |state, _| state.moved(towards, self.question.threshold()))
    }

    #[inline(never)]
    pub(crate) fn estimate(&self, state: LiuState) -> Result<LiuEstimate> {
        let LiuState { answered, path, squares, cross, .. } = state;
        let start = self.question.threshold();
        let n = answered as f64;
        if answered == 0 {
            return Ok(LiuEstimate::of_nobody(start));
        }
        let away = path / n;
        // Σ m²(Q̄_m − Q̄_n)² with m Q̄_m = path_m, everything measured from the start, where the sums lose least.
        let weights = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
        let spread = (squares - 2.0 * away * cross + away * away * weights) / (n * n * n);
        require(spread.is_finite(), "the spread", "finite", spread)?;
        // Rounding may leave it just below zero.
        LiuEstimate::new(start + away, spread.max(0.0), answered, &self.walked(&state))
    }

    /// What the path says about itself.
    fn walked(&self, state: &LiuState) -> Walked {
        let (n, from) = (state.answered, state.since);
        let [down, up] = self.moves;
        let size = up - down;
        let measured = (n - from) as f64;
        let mean = (state.path - state.before) / measured;
        Walked {
            tau: self.question.tau(),
            tail: self.quantile.min(1.0 - self.quantile),
            noise: -down * up / (size * size),
            swing: state.swing / measured - mean * mean,
            measured,
            step: size * (travelled(n) - travelled(from)) / measured,
            mean_step: size * travelled(n) / n as f64,
            published: self.quantile == 0.5 && !self.guessed,
        }
    }
}

impl LiuState {
    /// One step of a user's answer.
    #[inline(always)]
    fn moved(self, towards: f64, start: f64) -> Self {
        let answered = self.answered + 1;
        let position = self.position + Liu::step(answered) * towards;
        let away = position - start;
        let path = self.path + away;
        let (squares, cross) = (self.squares + path * path, self.cross + answered as f64 * path);
        Self { answered, position, path, squares, cross, swing: self.swing + away * away, ..self }
    }

    /// Begins to measure how far the path swings.
    #[inline(always)]
    pub(crate) fn measured(self) -> Self {
        Self { since: self.answered, before: self.path, swing: 0.0, ..self }
    }
}

static KEPT: LazyLock<Vec<f64>> = LazyLock::new(|| (0..1 << 18).map(compute_step).collect());

fn compute_step(user: u64) -> f64 {
    step_at(user as f64)
}

fn step_at(user: f64) -> f64 {
    2.0 / (libm::pow(user, 0.51) + 100.0)
}

/// The users after whom the swing of the path is measured: a quarter of all, in whole blocks of lanes.
///
/// The first quarter leads from the start to the quantile.
#[inline(always)]
pub(crate) fn measured_from(users: u64) -> u64 {
    const BLOCK: u64 = FOLLOWED as u64;
    users / (4 * BLOCK) * BLOCK
}

/// The steps of the first `users` users together.
fn travelled(users: u64) -> f64 {
    static KEPT_SUMS: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let mut sum = 0.0;
        let mut add = |user: u64| {
            sum += if user > 0 { compute_step(user) } else { 0.0 };
            sum
        };
        (0..1 << 18).map(&mut add).collect()
    });
    match KEPT_SUMS.get(users as usize) {
        Some(&sum) => sum,
        None => {
            let last = KEPT_SUMS.len() - 1;
            KEPT_SUMS[last] + travelled_between(last as f64 + 0.5, users as f64 + 0.5)
        }
    }
}

/// The integral of the step: Simpson's rule in the logarithm of the user's number, in which it is nearly linear.
fn travelled_between(from: f64, to: f64) -> f64 {
    const HALVES: u32 = 64;
    let (low, width) = (from.ln(), (to / from).ln() / f64::from(2 * HALVES));
    let at = |i: u32| {
        let user = (low + f64::from(i) * width).exp();
        user * step_at(user)
    };
    let inner: f64 = (1..2 * HALVES).map(|i| if i % 2 == 1 { 4.0 * at(i) } else { 2.0 * at(i) }).sum();
    (at(0) + inner + at(2 * HALVES)) * width / 3.0
}

/// [`Liu`] from where a [`BitwisePilot`](crate::BitwisePilot) points, on values of known σ: the steps of [`Liu`] walk
/// a few σ only, so a mean that may be far away needs a start.
pub type LiuFromPilot = crate::Piloted<crate::BitwisePilot, crate::Rescaled<Liu>>;

/// What a [`Liu`] remembers between users: the guess, and the running sums of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawState")]
pub struct LiuState {
    /// Users not yet asked, the current round's included.
    pub(crate) left: u64,
    /// Answers so far, m.
    pub(crate) answered: u64,
    /// The guess q.
    pub(crate) position: f64,
    /// Σ (q − start): m times the running average, from the start.
    pub(crate) path: f64,
    /// Σ path².
    pub(crate) squares: f64,
    /// Σ m · path.
    pub(crate) cross: f64,
    /// The answers before the swing of the path began to be measured.
    pub(crate) since: u64,
    /// The path then.
    pub(crate) before: f64,
    /// Σ (q − start)² since then.
    pub(crate) swing: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawState {
    left: u64,
    answered: u64,
    position: f64,
    path: f64,
    squares: f64,
    cross: f64,
    since: u64,
    before: f64,
    swing: f64,
}

impl TryFrom<RawState> for LiuState {
    type Error = Error;
    fn try_from(raw: RawState) -> Result<Self> {
        let RawState { left, answered, position, path, squares, cross, since, before, swing } = raw;
        // The user numbers of the rounds to come have to be numbers.
        answered.checked_add(left).ok_or(Error::TallyOverflow { users: answered, times: left })?;
        for sum in [position, path, squares, cross, before, swing] {
            require(sum.is_finite(), "a running sum", "finite", sum)?;
        }
        if since > answered {
            return Err(Error::TooMany { name: "since", most: answered, value: since });
        }
        Ok(Self { left, answered, position, path, squares, cross, since, before, swing })
    }
}

impl StagedEstimator for Liu {
    type Question = Sign;
    type Tally = Bits;
    type State = LiuState;
    type Estimate = LiuEstimate;

    #[inline]
    fn tally(&self, _: &Sign) -> Bits {
        Bits::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        if users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        let position = self.question.threshold();
        let (path, squares, cross, before, swing) = (0.0, 0.0, 0.0, 0.0, 0.0);
        self.ask(LiuState { left: users, answered: 0, position, path, squares, cross, since: 0, before, swing })
    }

    #[inline(always)]
    fn advance(&self, state: LiuState, answers: &[Bits]) -> Result<StepOf<Self>> {
        let answers = one(answers)?;
        let from = measured_from(state.answered + state.left);
        let unmeasured = state.answered < from;
        let state = LiuState { left: state.left - state.left.min(self.batch), ..state };
        let start = self.question.threshold();
        let next = if answers.users() == 1 {
            state.moved(self.moves[(answers.ones() & 1) as usize], start)
        } else {
            self.take_batch(state, answers)
        };
        self.ask(if unmeasured && next.answered >= from { next.measured() } else { next })
    }
}

impl StartAt for Liu {
    #[inline]
    fn start_at(&self, start: f64) -> Result<Self> {
        Ok(Self { question: self.question.at(start)?, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::Gaussian;
    use ldp_core::{Inference, run};
    use ldp_simulate::Users;

    fn level(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    /// The definition, with the whole path in memory.
    fn by_hand(epsilon: f64, start: f64, p: f64, bits: &[u32]) -> (f64, f64) {
        let (r, size) = ((epsilon / 2.0).tanh(), 0.5 / (p * (1.0 - p)).sqrt());
        let (mut q, mut path, mut averages) = (start, 0.0, Vec::new());
        for (n, bit) in (1..).zip(bits) {
            let d = 2.0 * size / (f64::from(n).powf(0.51) + 100.0);
            q += if *bit == 1 { d * (1.0 - r + 2.0 * p * r) / 2.0 } else { -d * (1.0 + r - 2.0 * p * r) / 2.0 };
            path += q;
            averages.push(path / f64::from(n));
        }
        let (n, last) = (bits.len() as f64, averages[averages.len() - 1]);
        let spread = (1..).zip(&averages).map(|(m, q)| (f64::from(m) * (q - last)).powi(2)).sum::<f64>();
        (last, spread / n.powi(3))
    }

    #[test]
    fn the_running_sums_are_the_definition() {
        for (epsilon, start, p) in [(1.0, 0.0, 0.5), (0.2, -103.7, 0.9), (4.0, 2.5, 0.05)] {
            let estimator = Liu::new(level(epsilon), start).unwrap().quantile(p).unwrap();
            let bits: Vec<u32> = (0..3000u32).map(|i| (i * i / 7 + i / 3) % 2).collect();
            let mut step = estimator.begin(3000).unwrap();
            let mut asked = bits.iter();
            let estimate = loop {
                match step {
                    Step::Done(estimate) => break estimate,
                    Step::Ask { round, state } => {
                        assert_eq!(round.groups()[0].users, 1);
                        let answer = Bits::new(u64::from(*asked.next().unwrap()), 1).unwrap();
                        step = estimator.advance(state, &[answer]).unwrap();
                    }
                }
            };
            let (value, spread) = by_hand(epsilon, start, p, &bits);
            assert!((estimate.value() - value).abs() < 1e-12 * value.abs().max(1.0), "{} {value}", estimate.value());
            assert!((estimate.spread() / spread - 1.0).abs() < 1e-9, "{} {spread}", estimate.spread());
        }
    }

    #[test]
    fn a_batch_moves_by_its_mean_answer() {
        let one = Liu::new(level(1.0), 0.0).unwrap();
        let many = one.batch(10).unwrap();
        let Step::Ask { round, state } = many.begin(25).unwrap() else { panic!("asks") };
        assert_eq!(round.groups()[0].users, 10);
        // Six ones of ten: every step is up by (6 − 4)/10 · ½.
        let Step::Ask { round, state } = many.advance(state, &[Bits::new(6, 10).unwrap()]).unwrap() else { panic!() };
        let expected: f64 = (1..=10).map(|m| 0.1 * compute_step(m)).sum();
        assert!((round.groups()[0].question.threshold() - expected).abs() < 1e-15);
        let Step::Ask { round, .. } = many.advance(state, &[Bits::default()]).unwrap() else { panic!() };
        assert_eq!((round.groups()[0].users, state.answered), (5, 10));
        // A batch of one is the protocol itself.
        let model = Gaussian::new(1.0).unwrap();
        let mut users = Users::new(&model, 0.3, 500, 9).unwrap();
        let direct = run(&one, 500, &mut users).unwrap();
        users.restart(0);
        assert_eq!(run(&one.batch(1).unwrap(), 500, &mut users).unwrap(), direct);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let liu = Liu::new(level(1.0), 0.0).unwrap();
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(matches!(liu.quantile(bad), Err(Error::Parameter { name: "quantile", .. })));
        }
        assert!(matches!(liu.batch(0), Err(Error::TooFew { .. })));
        let state = r#"{"left":1,"answered":0,"position":0.0,"path":0.0,"squares":0.0,"cross":0.0,
            "since":0,"before":0.0,"swing":0.0}"#;
        assert!(serde_json::from_str::<LiuState>(state).is_ok());
        assert!(serde_json::from_str::<LiuState>(&state.replace("\"path\":0.0", "\"path\":1e999")).is_err());
        assert!(serde_json::from_str::<LiuState>(&state.replace("\"since\":0", "\"since\":1")).is_err());
        let many = state.replace("\"answered\":0", "\"answered\":18446744073709551615");
        assert!(serde_json::from_str::<LiuState>(&many).is_err());
        // A path that no run can have: no zero-width interval, but an error.
        let far = serde_json::from_str::<LiuState>(&state.replace("\"path\":0.0", "\"path\":1e200")).unwrap();
        assert!(liu.advance(far, &[Bits::new(1, 1).unwrap()]).is_err());
        assert!(matches!(liu.batch(2_000_000), Err(Error::TooMany { name: "batch", .. })));
    }

    #[test]
    fn the_way_travelled_is_the_sum_of_the_steps() {
        let mut sum = 0.0;
        for user in 1..=1_000_000 {
            sum += Liu::step(user);
            if [1, 64, 10_000, (1 << 18) - 1, 1 << 18, 300_000, 1_000_000].contains(&user) {
                assert!((travelled(user) / sum - 1.0).abs() < 1e-9, "{user}: {} {sum}", travelled(user));
            }
        }
    }
}
