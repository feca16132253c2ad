//! The best mechanism with two reports.

use crate::home::Home;
use crate::law::{ScoreLaw, Tail};
use crate::levels::Levels;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Cuts, Epsilon, Error, FiniteChannel, Kernel, Partition, Result};

/// How often an interval is halved: 2⁻⁸⁰ of a cell of the grid is below rounding.
const HALVINGS: u32 = 80;

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
    let home = Home::new(model, theta)?;
    let family = Family::new(home.levels()?, epsilon);
    let levels = family.levels.scores();
    let worth: Vec<f64> = levels.iter().map(|&level| family.information(level)).collect();
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
    let best = found.reduce(better).ok_or(Error::Uninformative)?;
    let moved = OneBit {
        information: home.information(best.information),
        score: best.score * home.unit(),
        probability: best.probability,
        set: best.set.iter().map(|&(low, high)| (home.point(low), home.point(high))).collect(),
    };
    home.keeps(family.moved(model, theta, &moved.set, home.unit()), best.information)?;
    Ok(moved)
}

/// A family, its score in units, at a parameter and the level of the response.
struct Family<'a, M: ?Sized> {
    levels: Levels<'a, M>,
    tau: f64,
    /// $1 - \tau^2$, which a difference would lose at ε = 40.
    gap: f64,
}

impl<'a, M: Cdf + Score + ?Sized> Family<'a, M> {
    fn new(levels: Levels<'a, M>, epsilon: Epsilon) -> Self {
        Self { levels, tau: epsilon.tau(), gap: (0.5 * epsilon.value()).cosh().powi(-2) }
    }

    /// The randomised response of a level set.
    fn response(&self, level: f64) -> OneBit {
        OneBit {
            information: self.information(level),
            score: level,
            probability: self.levels.tail(level).mass,
            set: self.levels.set(level),
        }
    }

    /// Its information.
    fn information(&self, level: f64) -> f64 {
        let Tail { mass, slope } = self.levels.tail(level);
        4.0 * (self.tau * slope).powi(2) / self.spread(mass, self.levels.rest(level))
    }

    /// The information of a set at another parameter, where a unit of score is `unit`.
    fn moved(&self, model: &M, theta: f64, set: &[(f64, f64)], unit: f64) -> f64 {
        let (mut mass, mut slope, mut rest, mut left) = (0.0, 0.0, 0.0, f64::NEG_INFINITY);
        for &(low, high) in set {
            mass += model.mass(theta, low, high);
            slope += model.mass_dtheta(theta, low, high) / unit;
            rest += model.mass(theta, left, low);
            left = high;
        }
        rest += model.mass(theta, left, f64::INFINITY);
        4.0 * (self.tau * slope).powi(2) / self.spread(mass, rest)
    }

    /// $1 - \tau^2(1 - 2P)^2$ without cancellation, from P and 1 − P.
    fn spread(&self, probability: f64, rest: f64) -> f64 {
        self.gap + 4.0 * self.tau.powi(2) * probability * rest
    }

    /// The local maximum between two levels.
    fn improve(&self, mut low: f64, mut high: f64) -> OneBit {
        for _ in 0..HALVINGS {
            let level = low + 0.5 * (high - low);
            if level <= low || level >= high {
                break;
            }
            let Tail { mass, slope } = self.levels.tail(level);
            let rest = self.levels.rest(level);
            let rising = level * self.spread(mass, rest) < 2.0 * slope * self.tau.powi(2) * (rest - mass);
            if rising { low = level } else { high = level }
        }
        self.response(low + 0.5 * (high - low))
    }
}
