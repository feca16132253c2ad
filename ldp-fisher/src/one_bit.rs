//! The best mechanism with two reports.

use ldp_core::model::{Cdf, Score, Support};
use ldp_core::{Cuts, Epsilon, Error, FiniteChannel, Kernel, Partition, Result};

/// How often an interval is halved: 2⁻⁸⁰ of a cell of the grid is below rounding.
const HALVINGS: u32 = 80;

/// Up to so many whole numbers are looked at one by one.
const ENUMERATED: f64 = 2048.0;

/// The most informative mechanism with two reports: whether the value lies in a set, through randomised response.
///
/// ```
/// use ldp_core::{Epsilon, model::Exponential};
/// // For an exponential mean the threshold is above the mean.
/// let best = ldp_fisher::one_bit(&Exponential, 1.0, Epsilon::new(2.0)?)?;
/// let [(low, high)] = best.set[..] else { panic!("one piece") };
/// assert!((low - 1.17625).abs() < 1e-5 && high == f64::INFINITY);
/// // Where the score is at least t: it is x − 1.
/// assert!((best.score - (low - 1.0)).abs() < 1e-12);
/// assert!((best.probability - (-low).exp()).abs() < 1e-12);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OneBit {
    /// Its information.
    pub information: f64,
    /// The set is where the score is at least this.
    pub score: f64,
    /// The probability of the set.
    pub probability: f64,
    /// The set, as intervals closed on the left and open on the right, increasing.
    pub set: Vec<(f64, f64)>,
}

impl OneBit {
    /// The mechanism, with integer weights: report 1 means «in the set».
    ///
    /// ```
    /// use ldp_core::{Epsilon, Mechanism, model::GaussianScale};
    /// use ldp_fisher::{exact, one_bit};
    /// let epsilon = Epsilon::new(1.0)?;
    /// // The score of a scale is large in both tails: the set has two pieces.
    /// let best = one_bit(&GaussianScale, 2.0, epsilon)?;
    /// let channel = best.channel(epsilon)?;
    /// assert!(channel.epsilon() <= epsilon);
    /// assert!((exact(&channel, &GaussianScale, 2.0)?.value - best.information).abs() < 1e-15);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn channel(&self, epsilon: Epsilon) -> Result<FiniteChannel> {
        let ends = self.set.iter().flat_map(|&(low, high)| [low, high]);
        let cuts: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
        let first = u32::from(self.set.first().is_some_and(|piece| piece.0 == f64::NEG_INFINITY));
        let labels = (0..=cuts.len() as u32).map(|i| (i + first) % 2).collect();
        FiniteChannel::new(Partition::Cuts(Cuts::labelled(cuts, labels)?), Kernel::response(epsilon, 2)?)
    }
}

/// The best mechanism with two reports for a family at θ and level ε.
///
/// Every such mechanism is at best the randomised response of a set A. With S the score, $P = P_\theta(A)$,
/// $D = E[S; A] = \partial_\theta P_\theta(A)$ and $\tau = \tanh(\varepsilon/2)$ its information is
///
/// $$I = \frac{4\tau^2 D^2}{1 - \tau^2(1 - 2P)^2}.$$
///
/// Among the sets of probability P the one with the largest D is a level set $\lbrace S \ge t\rbrace$, so t is all
/// there is to find. Both P and D come from the cdf and its derivative: the result is exact for the set returned. Level
/// sets are found on a grid of 128 equally likely cells, finer in the tails: a score that turns twice within one of
/// them can be missed. For families of whole numbers the sets are unions of them.
///
/// The threshold at the mean for a Gaussian, with $(2/\pi)\tau^2/\sigma^2$ at every ε:
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// let best = ldp_fisher::one_bit(&Gaussian::new(2.0)?, 5.0, Epsilon::new(4.0)?)?;
/// assert!((best.set[0].0 - 5.0).abs() < 1e-12);
/// assert!((best.information - 2.0 / std::f64::consts::PI * (2f64.tanh() / 2.0).powi(2)).abs() < 1e-15);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
///
/// On level sets $dD/dP = t$, so the information rises in t exactly where $t < 2D\tau^2(1-2P)/(1-\tau^2(1-2P)^2)$. The
/// best t of the grid is improved by halving on that sign, to full precision, where comparing informations would stop
/// at half the digits.
pub fn one_bit<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<OneBit> {
    model.admits(theta)?;
    let family = Family::new(model, theta, epsilon);
    let mut levels: Vec<f64> = family.scores.iter().copied().filter(|score| score.is_finite()).collect();
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
    let worth: Vec<f64> = levels.iter().map(|&level| family.response(level).information).collect();
    let largest = worth.iter().copied().fold(0.0, f64::max);
    if !(largest > 0.0 && largest.is_finite()) {
        return Err(Error::Integral { what: "the information of one bit", value: largest, error: 0.0 });
    }
    // Halving may end at a set that differs from one of the grid by rounding alone: that one has the simpler ends.
    let better = |best: OneBit, other: OneBit| {
        if other.information > best.information * (1.0 + 1e-15) { other } else { best }
    };
    let promising = (0..levels.len()).filter(|&i| {
        let (before, after) = (i.saturating_sub(1), (i + 1).min(levels.len() - 1));
        worth[i] > 0.9 * largest && worth[i] >= worth[before] && worth[i] >= worth[after]
    });
    let found = promising.map(|i| {
        let (low, high) = (levels[i.saturating_sub(1)], levels[(i + 1).min(levels.len() - 1)]);
        better(family.response(levels[i]), family.improve(low, high))
    });
    found.reduce(better).ok_or(Error::Uninformative)
}

/// A family at a parameter, its score on a grid, and the level of the response.
struct Family<'a, M: ?Sized> {
    model: &'a M,
    theta: f64,
    tau: f64,
    /// $1 - \tau^2$, which a difference would lose at ε = 40.
    gap: f64,
    whole: bool,
    points: Vec<f64>,
    scores: Vec<f64>,
}

impl<'a, M: Cdf + Score + ?Sized> Family<'a, M> {
    fn new(model: &'a M, theta: f64, epsilon: Epsilon) -> Self {
        let tails = (0..22).map(|i| 0.5f64.powi(50 - 2 * i));
        let lower: Vec<f64> = tails.chain((1..64).map(|i| f64::from(i) / 128.0)).collect();
        let below = |p: f64| least(|x| model.cdf(theta, x) >= p);
        let above = |p: f64| least(|x| model.mass(theta, x, f64::INFINITY) <= p);
        let mut points: Vec<f64> = lower.iter().map(|&p| below(p)).chain(lower.iter().map(|&p| above(p))).collect();
        points.push(below(0.5));
        let whole = match model.support(theta) {
            Support::Interval { kinks, .. } => {
                points.extend(kinks.iter().flat_map(|&kink| [kink.next_down(), kink, kink.next_up()]));
                false
            }
            Support::Whole { first, last } => {
                points = points.iter().map(|x| x.floor().clamp(first, last)).chain([first, last]).collect();
                let (low, high) = points.iter().fold((f64::INFINITY, first), |(low, high), &x| {
                    (low.min(x), if x.is_finite() { high.max(x) } else { high })
                });
                if high - low < ENUMERATED {
                    points = (0..=(high - low) as u32).map(|i| low + f64::from(i)).collect();
                }
                true
            }
        };
        points.retain(|x| x.is_finite() && model.ln_density(theta, *x) > f64::NEG_INFINITY);
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        let scores = points.iter().map(|&x| model.score(theta, x)).collect();
        let gap = (0.5 * epsilon.value()).cosh().powi(-2);
        Self { model, theta, tau: epsilon.tau(), gap, whole, points, scores }
    }

    /// The level set of the score, as intervals.
    fn set(&self, level: f64) -> Vec<(f64, f64)> {
        let inside = |score: f64| score >= level;
        let mut set = Vec::new();
        let mut low = self.scores.first().is_some_and(|&score| inside(score)).then_some(f64::NEG_INFINITY);
        for i in 1..self.points.len() {
            if inside(self.scores[i]) == low.is_some() {
                continue;
            }
            let end = self.crossing(self.points[i - 1], self.points[i], |x| {
                inside(self.model.score(self.theta, x)) == low.is_some()
            });
            low = match low {
                Some(low) => {
                    set.push((low, end));
                    None
                }
                None => Some(end),
            };
        }
        set.extend(low.map(|low| (low, f64::INFINITY)));
        set
    }

    /// The first point of (`left`, `right`] that is not as `left` is: cells are closed on the left.
    fn crossing(&self, mut left: f64, mut right: f64, same: impl Fn(f64) -> bool) -> f64 {
        for _ in 0..HALVINGS {
            let middle = left + 0.5 * (right - left);
            let middle = if self.whole { middle.floor() } else { middle };
            if middle <= left || middle >= right {
                break;
            }
            if same(middle) { left = middle } else { right = middle }
        }
        right
    }

    /// The randomised response of a level set.
    fn response(&self, level: f64) -> OneBit {
        let set = self.set(level);
        let sum = |f: &dyn Fn(f64, f64) -> f64| set.iter().map(|&(low, high)| f(low, high)).sum::<f64>();
        let probability = sum(&|low, high| self.model.mass(self.theta, low, high)).min(1.0);
        let slope = sum(&|low, high| self.model.mass_dtheta(self.theta, low, high));
        let information = 4.0 * (self.tau * slope).powi(2) / self.spread(probability);
        OneBit { information, score: level, probability, set }
    }

    /// $1 - \tau^2(1 - 2P)^2$ without cancellation.
    fn spread(&self, probability: f64) -> f64 {
        self.gap + 4.0 * self.tau.powi(2) * probability * (1.0 - probability)
    }

    /// The local maximum between two levels.
    fn improve(&self, mut low: f64, mut high: f64) -> OneBit {
        for _ in 0..HALVINGS {
            let level = low + 0.5 * (high - low);
            if level <= low || level >= high {
                break;
            }
            let OneBit { probability, set, .. } = self.response(level);
            let slope: f64 = set.iter().map(|&(a, b)| self.model.mass_dtheta(self.theta, a, b)).sum();
            let rising = level * self.spread(probability) < 2.0 * slope * self.tau.powi(2) * (1.0 - 2.0 * probability);
            if rising { low = level } else { high = level }
        }
        self.response(low + 0.5 * (high - low))
    }
}

/// The least number for which a condition holds, if it holds above every number for which it does: by halving the order
/// of all numbers, so that no scale has to be guessed.
fn least(holds: impl Fn(f64) -> bool) -> f64 {
    // Its own inverse: the bits of a number, in its order.
    let flip = |bits: i64| bits ^ ((bits >> 63) as u64 >> 1) as i64;
    let (mut low, mut high) = (flip(f64::MIN.to_bits() as i64), flip(f64::MAX.to_bits() as i64));
    while low < high {
        let middle = (i128::from(low) + i128::from(high)).div_euclid(2) as i64;
        if holds(f64::from_bits(flip(middle) as u64)) { high = middle } else { low = middle + 1 }
    }
    f64::from_bits(flip(low) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_numbers_of_every_size() {
        for at in [-1e300, -2.5, -1e-310, 0.0, 1e-300, 1.0, 3.7e15] {
            assert_eq!(least(|x| x >= at), at);
        }
        assert_eq!(least(|_| false), f64::MAX);
        assert_eq!(least(|_| true), f64::MIN);
    }
}
