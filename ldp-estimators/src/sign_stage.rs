//! One sign stage: a count of pluses turned into a mean.

use crate::clopper_pearson;
use crate::kept::Kept;
use ldp_core::channel::two_64;
use ldp_core::error::require;
use ldp_core::special::normal;
use ldp_core::{Bits, Diagnostic, Epsilon, Error, Interval, IntervalKind, Rescale, Result, Tally};
use ldp_mechanisms::Sign;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::convert::Infallible;

/// A sign question at threshold c and what came back: enough for an estimate of a Gaussian mean with known σ.
///
/// With $\bar Z$ the mean of the reports as ±1 and τ the contrast, the estimate is
/// $$\tilde\theta = c - \sigma\Phi^{-1}\Bigl(\tfrac12 - \frac{\bar Z}{2\tau}\Bigr)\quad\text{if } |\bar Z| < \tau,$$
/// else there is none and the stage falls back to c. The one-stage protocol of [KS25].
///
/// ```
/// use ldp_core::{Bits, Epsilon};
/// use ldp_estimators::SignStage;
/// use ldp_mechanisms::Sign;
/// let question = Sign::new(Epsilon::new(1.0)?, 2.0)?;
/// // As many pluses as minuses: the mean is at the threshold.
/// assert_eq!(SignStage::new(question, Bits::new(50, 100)?).estimate(), Some(2.0));
/// // All pluses: more than any mean can explain.
/// assert_eq!(SignStage::new(question, Bits::new(100, 100)?).estimate(), None);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct SignStage {
    question: Sign,
    /// σ, the standard deviation of the values.
    scale: f64,
    answers: Bits,
    /// What the count says, worked out once.
    unit: Option<Unit>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    question: Sign,
    scale: f64,
    answers: Bits,
}

impl TryFrom<Raw> for SignStage {
    type Error = Error;
    fn try_from(Raw { question, scale, answers }: Raw) -> Result<Self> {
        require(scale > 0.0 && scale.is_finite(), "scale", "positive and finite", scale)?;
        Ok(Self { scale, ..Self::new(question, answers) })
    }
}

impl From<SignStage> for Raw {
    fn from(SignStage { question, scale, answers, .. }: SignStage) -> Self {
        Self { question, scale, answers }
    }
}

/// The level of the interval whose ends are looked at.
const USUAL: f64 = 0.95;
/// How many standard deviations from the threshold an estimate rests on the tail.
const FAR: f64 = 2.0;
/// The level beyond which a contradiction is not chance.
const CERTAIN: f64 = 0.9999;

impl SignStage {
    /// The stage of values with unit variance.
    #[inline]
    #[must_use]
    pub fn new(question: Sign, answers: Bits) -> Self {
        let key = [answers.ones(), answers.users(), question.lie()];
        let unit = Kept::get(&UNITS, key[0], key, || Ok::<_, Infallible>(Unit::new(question, answers)));
        Self { question, scale: 1.0, answers, unit: unit.unwrap_or(None) }
    }

    /// What came back.
    #[must_use]
    pub fn answers(&self) -> Bits {
        self.answers
    }

    /// Where the line was cut.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.question.threshold()
    }

    /// The mean, unless the count lies beyond what any mean explains.
    #[inline]
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        Some(self.threshold() + self.scale * self.unit?.offset)
    }

    /// The standard error of the estimate, $\sigma\sqrt{p(1-p)/n}/(\tau\varphi((\tilde\theta - c)/\sigma))$.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        // Zero is what is left of an error too small for its unit.
        Some(self.scale * self.unit?.error).filter(|&error| error > 0.0)
    }

    /// The exact interval: Clopper–Pearson limits for P(plus), mapped through the inverse of θ ↦ P(plus).
    ///
    /// An end is infinite where the data cannot bound θ. If even the limits lie beyond what any mean explains, their
    /// image is empty; then it is the image for the nearest count that has one, a half-line: coverage only grows.
    pub fn exact_interval(&self, level: f64) -> Result<Interval> {
        let (ones, users, lie) = (self.answers.ones(), self.answers.users(), self.question.lie());
        let [low, high] = Kept::get(&ENDS, ones, [ones, users, lie, level.to_bits()], || self.ends(level))?;
        let image = |end| self.threshold() + self.scale * end;
        Interval::new(IntervalKind::Exact, level, image(low), image(high))
    }

    /// The ends of the exact interval, in units of σ from the threshold.
    fn ends(&self, level: f64) -> Result<[f64; 2]> {
        let (ones, users) = (self.answers.ones(), self.answers.users());
        let limits = |count| clopper_pearson::limits(count, users, level);
        let (low, high) = limits(ones)?;
        let floor = self.question.lie() as f64 / two_64();
        let (low, high) = if high <= floor {
            limits(first(ones, users, |count| Ok(limits(count)?.1 > floor))?)?
        } else if low >= 1.0 - floor {
            let back = first(users - ones, users, |count| Ok(limits(users - count)?.0 < 1.0 - floor))?;
            limits(users - back)?
        } else {
            (low, high)
        };
        Ok([self.probit(low), self.probit(high)])
    }

    /// The offset at which P(plus) = p, infinite where there is none.
    fn probit(&self, p: f64) -> f64 {
        let floor = self.question.lie() as f64 / two_64();
        if p <= floor {
            f64::NEG_INFINITY
        } else if p >= 1.0 - floor {
            f64::INFINITY
        } else {
            // The quotient of two numbers that differ by rounding may be just above one.
            normal::quantile(((p - floor) / self.question.tau()).min(1.0))
        }
    }

    /// What the count says against the question and the assumed distribution, if anything.
    ///
    /// ```
    /// use ldp_core::{Bits, Diagnostic, Epsilon};
    /// use ldp_estimators::SignStage;
    /// use ldp_mechanisms::Sign;
    /// let stage = |ones| Ok::<_, ldp_core::Error>(SignStage::new(Sign::new(Epsilon::new(1.0)?, 0.0)?, Bits::new(ones, 10_000)?));
    /// assert_eq!(stage(6000)?.diagnostic(), None);
    /// // As many pluses as when every value is above: the mean is large, and nobody can say how large.
    /// assert!(matches!(stage(7311)?.diagnostic(), Some(Diagnostic::OneSided { above: true, .. })));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let (ones, users) = (self.answers.ones(), self.answers.users());
        let interval = self.exact_interval(USUAL).ok().filter(|_| users > 0)?;
        let (share, least) = (ones as f64 / users as f64, self.question.lie() as f64 / two_64());
        let (low, high) = clopper_pearson::limits(ones, users, CERTAIN).ok()?;
        if high < least || low > 1.0 - least {
            return Some(Diagnostic::Unexplained { share, least, most: 1.0 - least });
        }
        match (interval.low.is_finite(), interval.high.is_finite()) {
            (true, true) => {
                let deviations = self.unit.map(|unit| unit.offset.abs()).filter(|&away| away > FAR)?;
                let (estimate, threshold) = (self.estimate()?, self.threshold());
                Some(Diagnostic::FarFromThreshold { estimate, threshold, deviations })
            }
            // Few answers bound the mean on neither side, and say nothing about the values.
            (false, false) => None,
            (above, _) => Some(Diagnostic::OneSided { threshold: self.threshold(), above, share }),
        }
    }

    /// Whether two stages that are about the same mean exclude each other, beyond chance.
    pub(crate) fn contradicts(&self, before: &Self) -> Option<Diagnostic> {
        let ends = |stage: &Self| stage.exact_interval(CERTAIN).ok().map(|interval| [interval.low, interval.high]);
        let (first, last) = (ends(before)?, ends(self)?);
        (first[1] < last[0] || last[1] < first[0]).then_some(Diagnostic::StagesDisagree { first, last })
    }

    /// How far from the threshold, in σ, the estimate of at most `users` users can be, whatever they answer.
    ///
    /// The tail that is inverted is an integer over twice the users' contrast, so it is at least one over that.
    pub(crate) fn reach(question: Sign, users: u64) -> f64 {
        let most = users.max(1) as f64 * question.contrast() as f64;
        -normal::quantile(0.5 / most) * (1.0 + 1e-9)
    }
}

/// An estimate and its standard error, in units of σ from the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    offset: f64,
    error: f64,
}

impl Unit {
    /// The condition $|\bar Z| < \tau$ and the smaller tail $(\tau - |\bar Z|)/(2\tau)$ are computed in integers:
    /// as a difference of two numbers near τ it would lose its digits exactly where Φ⁻¹ is steep.
    fn new(question: Sign, answers: Bits) -> Option<Self> {
        let (plus, users) = (u128::from(answers.ones()), u128::from(answers.users()));
        let most = users * u128::from(question.contrast());
        let away = (2 * plus).abs_diff(users) << 64;
        if away >= most {
            return None;
        }
        let tail = 0.5 * ((most - away) as f64 / most as f64);
        let size = -normal::quantile(tail);
        let offset = if 2 * plus < users { -size } else { size };
        let users = users as f64;
        let p = plus as f64 / users;
        let error = (p * (1.0 - p) / users).sqrt() / (question.tau() * normal::pdf(offset));
        Some(Self { offset, error })
    }
}

thread_local! {
    /// By count, users and lie.
    static UNITS: RefCell<Kept<[u64; 3], Option<Unit>>> = const { RefCell::new(Kept::new()) };
    /// By count, users, lie and level.
    static ENDS: RefCell<Kept<[u64; 4], [f64; 2]>> = const { RefCell::new(Kept::new()) };
}

/// The smallest number in (from, to] for which an increasing condition holds; `to` if there is none.
fn first(from: u64, to: u64, holds: impl Fn(u64) -> Result<bool>) -> Result<u64> {
    let (mut fails, mut holds_at) = (from, to);
    while holds_at - fails > 1 {
        let middle = fails + (holds_at - fails) / 2;
        if holds(middle)? { holds_at = middle } else { fails = middle }
    }
    Ok(holds_at)
}

impl Rescale for SignStage {
    #[inline]
    fn rescale(self, factor: f64) -> Result<Self> {
        let (question, scale) = (self.question.rescale(factor)?, self.scale * factor);
        require(scale > 0.0 && scale.is_finite(), "scale", "positive and finite", scale)?;
        // What the count says in units of σ does not change.
        let stage = Self { question, scale, ..self };
        match stage.estimate() {
            Some(value) => require(value.is_finite(), "a rescaled estimate", "finite", value).map(|()| stage),
            None => Ok(stage),
        }
    }
}

/// The asymptotic variance of one stage at distance δ (in σ) from the mean, for σ = 1:
/// $V_1(\delta) = \frac{1 - \tau^2(1-2\Phi(-\delta))^2}{4\tau^2\varphi(\delta)^2}$.
///
/// At δ = 0 it is $V = \frac{\pi}{2}\tau^{-2}$, for ε ≤ 1.048 the smallest of any ε-private protocol.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_estimators::one_stage_variance;
/// let epsilon = Epsilon::new(1.0)?;
/// assert!((one_stage_variance(epsilon, 0.0) - 7.355559).abs() < 1e-6);
/// assert!((one_stage_variance(epsilon, 0.5) - 9.148978).abs() < 1e-6);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[must_use]
pub fn one_stage_variance(epsilon: Epsilon, delta: f64) -> f64 {
    let tau = epsilon.tau();
    let mean = tau * (1.0 - 2.0 * normal::cdf(-delta));
    (1.0 - mean * mean) / (2.0 * tau * normal::pdf(delta)).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::special::binomial;

    fn stage(epsilon: f64, threshold: f64, plus: u64, users: u64) -> SignStage {
        let question = Sign::new(Epsilon::new(epsilon).unwrap(), threshold).unwrap();
        SignStage::new(question, Bits::new(plus, users).unwrap())
    }

    #[test]
    fn the_estimate_inverts_the_mean_report() {
        // θ̃ solves τ(1 − 2Φ(c − θ̃)) = Z̄: put it back, at random settings.
        for (epsilon, threshold, plus, users) in [
            (1.0, 0.0, 6000, 10_000),
            (0.2, -3.7, 5100, 10_000),
            (4.0, 12.0, 1, 40),
            (1e-6, 0.0, 500_000_000_001, 1_000_000_000_000),
        ] {
            let stage = stage(epsilon, threshold, plus, users);
            let mean = (2.0 * plus as f64 - users as f64) / users as f64;
            let tau = (epsilon / 2.0f64).tanh();
            match stage.estimate() {
                Some(theta) => {
                    assert!((tau * (1.0 - 2.0 * normal::cdf(threshold - theta)) - mean).abs() < 2e-15, "ε = {epsilon}");
                }
                None => assert!(mean.abs() >= tau * (1.0 - 1e-9), "ε = {epsilon}"),
            }
        }
    }

    #[test]
    fn both_signs_are_mirror_images() {
        for plus in 0..=40 {
            let (a, b) = (stage(1.0, 0.0, plus, 40), stage(1.0, 0.0, 40 - plus, 40));
            assert_eq!(a.estimate().map(|x| -x + 0.0), b.estimate());
            let (i, j) = (a.exact_interval(0.9).unwrap(), b.exact_interval(0.9).unwrap());
            assert!((i.low + j.high).abs() < 1e-12 || i.low == -j.high, "{i:?} {j:?}");
        }
    }

    #[test]
    fn rescaling_is_a_change_of_unit() {
        let (one, three) = (stage(1.0, 0.5, 55, 100), stage(1.0, 0.5, 55, 100).rescale(3.0).unwrap());
        let close = |a: f64, b: f64| assert!((3.0 * a - b).abs() < 1e-14, "{a} {b}");
        close(one.estimate().unwrap(), three.estimate().unwrap());
        close(one.standard_error().unwrap(), three.standard_error().unwrap());
        let (i, j) = (one.exact_interval(0.5).unwrap(), three.exact_interval(0.5).unwrap());
        close(i.low, j.low);
        close(i.high, j.high);
    }

    #[test]
    fn a_unit_that_overflows_is_refused() {
        let refused = stage(1.0, 1.0, 70, 100).rescale(1.7e308);
        assert!(matches!(refused, Err(Error::Parameter { .. })), "{refused:?}");
    }

    #[test]
    fn an_empty_image_becomes_a_half_line_for_the_nearest_count_that_has_one() {
        let floor = 1.0 / (1.0 + 1f64.exp());
        let interval = stage(1.0, 7.0, 0, 10_000).exact_interval(0.95).unwrap();
        assert_eq!(interval.low, f64::NEG_INFINITY);
        let nearest = (0..10_000).find(|&k| clopper_pearson::limits(k, 10_000, 0.95).unwrap().1 > floor).unwrap();
        assert_eq!(interval, stage(1.0, 7.0, nearest, 10_000).exact_interval(0.95).unwrap());
        assert!(interval.high < 7.0 && interval.high.is_finite());
        let mirror = stage(1.0, 7.0, 10_000, 10_000).exact_interval(0.95).unwrap();
        assert_eq!(mirror.high, f64::INFINITY);
        assert!((mirror.low + interval.high - 14.0).abs() < 1e-9);
        // Nobody answered: the whole line.
        let nothing = stage(1.0, 7.0, 0, 0).exact_interval(0.95).unwrap();
        assert_eq!((nothing.low, nothing.high), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn ends_keep_their_digits_next_to_the_boundary() {
        // Three of a billion at ε = 30: the limits lie within 1e-8 of zero, and p − 1/(e^ε+1) must not be rounded.
        let users = 1_000_000_000;
        let floor = 1.0 / (1.0 + 30f64.exp());
        let close = |a: f64, b: f64, tolerance: f64| assert!((a / b - 1.0).abs() < tolerance, "{a} {b}");
        let (low, high) = clopper_pearson::limits(3, users, 0.9).unwrap();
        let interval = stage(30.0, 0.0, 3, users).exact_interval(0.9).unwrap();
        close(interval.low, normal::quantile((low - floor) / (1.0 - 2.0 * floor)), 1e-12);
        close(interval.high, normal::quantile((high - floor) / (1.0 - 2.0 * floor)), 1e-12);
        // Next to one a limit is itself known to 1e-16 only.
        let mirror = stage(30.0, 0.0, users - 3, users).exact_interval(0.9).unwrap();
        close(mirror.low, -interval.high, 1e-7);
        close(mirror.high, -interval.low, 1e-7);
    }

    /// Coverage of both intervals and P(infinite end) by summing over all counts: no sampling.
    fn coverage(delta: f64, users: u64) -> (f64, f64, f64) {
        let question = Sign::new(Epsilon::new(1.0).unwrap(), 0.0).unwrap();
        let floor = question.lie() as f64 / two_64();
        let p = floor + question.tau() * normal::cdf(delta);
        let (mut exact, mut wald, mut infinite) = (0.0, 0.0, 0.0);
        for plus in 0..=users {
            let mass = binomial::pmf(plus, users, p);
            if mass < 1e-18 {
                continue;
            }
            let stage = SignStage::new(question, Bits::new(plus, users).unwrap());
            let interval = stage.exact_interval(0.95).unwrap();
            exact += mass * f64::from(interval.contains(delta));
            infinite += mass * f64::from(!interval.width().is_finite());
            let error = stage.estimate().map(|value| (value - delta).abs());
            let reach = stage.standard_error().map(|se| 1.959_963_984_540_054 * se);
            wald += mass * f64::from(matches!((error, reach), (Some(e), Some(r)) if e <= r));
        }
        (exact, wald, infinite)
    }

    #[test]
    fn exact_covers_everywhere_and_wald_dies_away_from_the_mean() {
        for (delta, wald) in [(0.5, 0.950), (2.5, 0.641), (3.0, 0.382)] {
            let (exact, found, infinite) = coverage(delta, 10_000);
            assert!((0.95..0.954).contains(&exact), "δ = {delta}: {exact}");
            assert!((found - wald).abs() < 0.002, "δ = {delta}: {found}");
            if delta == 2.5 {
                assert!((infinite - 0.91).abs() < 0.005, "{infinite}");
            }
        }
    }

    #[test]
    fn tampered_stages_are_refused() {
        let good = serde_json::to_string(&stage(1.0, 0.5, 55, 100)).unwrap();
        assert!(serde_json::from_str::<SignStage>(&good).is_ok());
        for (from, to) in
            [("55", "101"), ("\"scale\":1.0", "\"scale\":0.0"), ("\"scale\":1.0", "\"scale\":-1.0"), ("0.5", "1e999")]
        {
            assert!(good.contains(from));
            assert!(serde_json::from_str::<SignStage>(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
