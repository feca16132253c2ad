//! The sequential median: one bit per user, one step per bit.

use crate::StartAt;
use crate::one_stage::one;
use crate::self_normalised::critical_value;
use ldp_core::error::require;
use ldp_core::{
    Bits, Epsilon, Error, Inference, Interval, IntervalKind, Rescale, Result, Round, StagedEstimator, Step, StepOf,
    Tally,
};
use ldp_mechanisms::Sign;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The largest batch. Already one of a thousand takes steps that overshoot.
const MOST_BATCH: u64 = 1_000_000;

/// The sequential quantile estimator of [LHDK23]: every user answers whether x lies above the current guess q, and
/// q moves a step up or down.
///
/// With $r = \tau$, level p and step $d_m = 2/(m^{0.51} + 100)$, a report 1 moves q by $+d_m(1-r+2pr)/2$, a report 0 by
/// $-d_m(1+r-2pr)/2$. The estimate is the running average of q.
///
/// - n·MSE → $(1 - r^2(2p-1)^2)/(4r^2 f(Q)^2)$, f the density at the quantile Q: for a Gaussian median the optimum
///   $V = \frac{\pi}{2}\tau^{-2}$. The steps are made for values of the order of one: wrap it in
///   [`Rescaled`](crate::Rescaled) for σ ≠ 1, and start within a few σ.
/// - Interval: self-normalised, in constant memory, without knowing the distribution. **It is not honest at small n**:
///   at ε = 1 the 95 % interval covers 94.4 % for n = 200,000, but for n = 10,000 only 91 % from a perfect start; at
///   ε = 0.2 it covers 92 % for n = 200,000. What counts is n τ².
/// - Rounds: as many as users, or one per batch. Users of a batch answer at the same q, and the batch then takes its
///   steps at once: nearly the same path while a batch moves q by less than σ, so for batches up to about 100.
/// - Questions: [`Sign`].
/// - Simulated in lanes at `tally` fidelity ([`InLanes`](ldp_core::erased::InLanes)): seven times as fast as drawing
///   every value.
///
/// ```
/// use ldp_core::drive::Users;
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
}

impl Liu {
    /// The median at level ε, from `start`, one user per round.
    pub fn new(epsilon: Epsilon, start: f64) -> Result<Self> {
        Ok(Self { question: Sign::new(epsilon, start)?, moves: [-0.5, 0.5], batch: 1 })
    }

    /// The quantile of this level, strictly between 0 and 1.
    pub fn quantile(self, quantile: f64) -> Result<Self> {
        require(quantile > 0.0 && quantile < 1.0, "quantile", "strictly between 0 and 1", quantile)?;
        let lean = self.question.tau() * (2.0 * quantile - 1.0);
        Ok(Self { moves: [-0.5 * (1.0 - lean), 0.5 * (1.0 + lean)], ..self })
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

    fn finish(&self, value: f64, spread: f64, users: u64) -> Result<LiuEstimate> {
        LiuEstimate { value, spread, users, tau: self.question.tau() }.checked()
    }

    #[inline(never)]
    pub(crate) fn estimate(&self, state: LiuState) -> Result<LiuEstimate> {
        let LiuState { answered, path, squares, cross, .. } = state;
        let start = self.question.threshold();
        let n = answered as f64;
        if answered == 0 {
            return self.finish(start, 0.0, 0);
        }
        let away = path / n;
        // Σ m²(Q̄_m − Q̄_n)² with m Q̄_m = path_m, everything measured from the start, where the sums lose least.
        let weights = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
        let spread = (squares - 2.0 * away * cross + away * away * weights) / (n * n * n);
        require(spread.is_finite(), "the spread", "finite", spread)?;
        // Rounding may leave it just below zero.
        self.finish(start + away, spread.max(0.0), answered)
    }
}

impl LiuState {
    /// One step of a user's answer.
    #[inline(always)]
    fn moved(self, towards: f64, start: f64) -> Self {
        let answered = self.answered + 1;
        let position = self.position + Liu::step(answered) * towards;
        let path = self.path + (position - start);
        let (squares, cross) = (self.squares + path * path, self.cross + answered as f64 * path);
        Self { left: self.left, answered, position, path, squares, cross }
    }
}

static KEPT: LazyLock<Vec<f64>> = LazyLock::new(|| (0..1 << 18).map(compute_step).collect());

fn compute_step(user: u64) -> f64 {
    2.0 / (libm::pow(user as f64, 0.51) + 100.0)
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
}

impl TryFrom<RawState> for LiuState {
    type Error = Error;
    fn try_from(RawState { left, answered, position, path, squares, cross }: RawState) -> Result<Self> {
        // The user numbers of the rounds to come have to be numbers.
        answered.checked_add(left).ok_or(Error::TallyOverflow { users: answered, times: left })?;
        for sum in [position, path, squares, cross] {
            require(sum.is_finite(), "a running sum", "finite", sum)?;
        }
        Ok(Self { left, answered, position, path, squares, cross })
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
        self.ask(LiuState { left: users, answered: 0, position, path: 0.0, squares: 0.0, cross: 0.0 })
    }

    #[inline(always)]
    fn advance(&self, state: LiuState, answers: &[Bits]) -> Result<StepOf<Self>> {
        let answers = one(answers)?;
        let state = LiuState { left: state.left - state.left.min(self.batch), ..state };
        let start = self.question.threshold();
        self.ask(if answers.users() == 1 {
            state.moved(self.moves[(answers.ones() & 1) as usize], start)
        } else {
            self.take_batch(state, answers)
        })
    }
}

impl StartAt for Liu {
    #[inline]
    fn start_at(&self, start: f64) -> Result<Self> {
        Ok(Self { question: self.question.at(start)?, ..*self })
    }
}

/// A quantile from a sequential run, with its self-normalised interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawEstimate")]
pub struct LiuEstimate {
    value: f64,
    /// $N = n^{-3} \sum m^2 (\bar Q_m - \bar Q_n)^2$.
    spread: f64,
    users: u64,
    /// The contrast of the questions.
    tau: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEstimate {
    value: f64,
    spread: f64,
    users: u64,
    tau: f64,
}

impl TryFrom<RawEstimate> for LiuEstimate {
    type Error = Error;
    fn try_from(RawEstimate { value, spread, users, tau }: RawEstimate) -> Result<Self> {
        Self { value, spread, users, tau }.checked()
    }
}

impl LiuEstimate {
    /// n τ² from which on the interval covers nearly what it says: 200,000 users at ε = 1.
    const HONEST: f64 = 42_000.0;

    fn checked(self) -> Result<Self> {
        require(self.value.is_finite(), "the estimate", "finite", self.value)?;
        require(self.tau > 0.0 && self.tau <= 1.0, "tau", "above 0 and at most 1", self.tau)?;
        require(self.spread >= 0.0 && self.spread.is_finite(), "the spread", "finite and not negative", self.spread)?;
        Ok(self)
    }
}

impl Inference for LiuEstimate {
    fn value(&self) -> f64 {
        self.value
    }

    /// None: the self-normalised interval exists because the variance need not be estimated.
    fn standard_error(&self) -> Option<f64> {
        None
    }

    fn interval_kinds() -> &'static [IntervalKind] {
        &[IntervalKind::SelfNormalised]
    }

    fn interval(&self, kind: IntervalKind, level: f64) -> Result<Interval> {
        if kind != IntervalKind::SelfNormalised {
            return Err(Error::NoInterval {
                kind,
                reason: "a sequential quantile has a self-normalised interval only",
            });
        }
        let c = critical_value(level)?;
        if self.users < 2 {
            return Err(Error::NoInterval {
                kind,
                reason: "fewer than two users answered: there is no path to measure",
            });
        }
        let half = c * self.spread.sqrt();
        Interval::new(kind, level, self.value - half, self.value + half)
    }

    fn note(&self) -> Option<&'static str> {
        (self.users == 0).then_some("nobody answered: the value is the start")
    }

    fn caveat(&self, kind: IntervalKind) -> Option<&'static str> {
        let honest = self.users as f64 * self.tau * self.tau >= Self::HONEST;
        (kind == IntervalKind::SelfNormalised && !honest).then_some(
            "self-normalised intervals cover less than they say at this number of users and epsilon: at epsilon 1, of \
             95 % intervals 91 to 94 % cover with 10,000 users and 94.4 % with 200,000; at epsilon 0.2, 81 and 92 %",
        )
    }
}

impl Rescale for LiuEstimate {
    fn rescale(self, factor: f64) -> Result<Self> {
        Self { value: self.value * factor, spread: self.spread * factor * factor, ..self }.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::drive::Users;
    use ldp_core::model::Gaussian;
    use ldp_core::run;

    fn level(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    /// The definition, with the whole path in memory.
    fn by_hand(epsilon: f64, start: f64, p: f64, bits: &[u32]) -> (f64, f64) {
        let r = (epsilon / 2.0).tanh();
        let (mut q, mut path, mut averages) = (start, 0.0, Vec::new());
        for (n, bit) in (1..).zip(bits) {
            let d = 2.0 / (f64::from(n).powf(0.51) + 100.0);
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
            assert!((estimate.spread / spread - 1.0).abs() < 1e-9, "{} {spread}", estimate.spread);
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
        let state = r#"{"left":1,"answered":0,"position":0.0,"path":0.0,"squares":0.0,"cross":0.0}"#;
        assert!(serde_json::from_str::<LiuState>(state).is_ok());
        assert!(serde_json::from_str::<LiuState>(&state.replace("\"path\":0.0", "\"path\":1e999")).is_err());
        let many = state.replace("\"answered\":0", "\"answered\":18446744073709551615");
        assert!(serde_json::from_str::<LiuState>(&many).is_err());
        // A path that no run can have: no zero-width interval, but an error.
        let far = serde_json::from_str::<LiuState>(&state.replace("\"path\":0.0", "\"path\":1e200")).unwrap();
        assert!(liu.advance(far, &[Bits::new(1, 1).unwrap()]).is_err());
        assert!(matches!(liu.batch(2_000_000), Err(Error::TooMany { name: "batch", .. })));
        assert!(serde_json::from_str::<LiuEstimate>(r#"{"value":0.0,"spread":-1.0,"users":2,"tau":0.4}"#).is_err());
    }

    #[test]
    fn the_user_is_told_when_the_interval_is_too_short() {
        let estimate =
            |users, epsilon: f64| LiuEstimate { value: 0.0, spread: 1.0, users, tau: (epsilon / 2.0).tanh() };
        assert!(estimate(10_000, 1.0).caveat(IntervalKind::SelfNormalised).unwrap().contains("91"));
        assert_eq!(estimate(200_000, 1.0).caveat(IntervalKind::SelfNormalised), None);
        assert!(estimate(200_000, 0.5).caveat(IntervalKind::SelfNormalised).is_some());
    }
}
