//! Intervals at every level from the score of one finite question.

use crate::Maximum;
use crate::likelihood::{Likelihood, Point};
use crate::space::{End, Space};
use ldp_core::error::require;
use ldp_core::inference::two_sided;
use ldp_core::model::{Cdf, Score};
use ldp_core::special::normal;
use ldp_core::{Error, Finite, FiniteChannel, Interval, IntervalKind, Result};
use serde::{Deserialize, Serialize};

/// How far places of the curve lie apart, in units of z.
const STRIDE: f64 = 0.6;
/// How far z may be from the straight line at the next place: a straight line between the two is off by a quarter of it.
const BENT: f64 = 0.04;
/// A step that brings less than this is taken even if it is bent.
const SMALL: f64 = 0.02;
/// Where the curve ends: at a level of 1 − 1e-10.
const FAR: f64 = 6.5;
/// So often a step may lead to where nothing can be told.
const BLIND: u32 = 60;
/// As near to the law at an end of the parameter space, in standard errors, as makes no difference.
const ARRIVED: f64 = 0.02;
/// The same where all that is known lies there.
const AT_END: f64 = 1e-3;
/// The least level of a half-line.
const OPEN: f64 = 0.6;
/// Places that are looked at before the rest is given up. Twenty are usual.
const MOST: u32 = 400;

/// The score interval of a parameter at every level, from the counts of one question.
///
/// With U the score of the counts and nI their information, $Z(\theta) = U/\sqrt{nI}$ is standard normal at the true θ,
/// whatever the question and wherever the parameter is: reports are noisy, so that no count is small. A parameter is in the
/// interval at level 1 − α unless Z is too far from zero for it.
///
/// What is too far is settled as Feldman and Cousins do, which matters next to an end of the parameter space. Let
/// $D_- , D_+$ be how far the laws at the two ends are from that at θ, in standard errors:
/// $D^2 = n \sum_z (m_z(\theta) - m_z(\mathrm{end}))^2/m_z(\theta)$. The statistic
///
/// $$t = Z^2 - \min(0, D_- + Z)^2 - \min(0, D_+ - Z)^2$$
///
/// is twice the logarithm of the likelihood ratio to the best parameter *of the space*, and θ is refused where a standard normal
/// Z has a larger t with probability at most α. So exactly 1 − α of the intervals cover wherever θ lies, none is empty, and
/// away from the ends all is $|Z| \le z_{1-\alpha/2}$. For two reports that is Wilson's interval of the share.
///
/// The curve holds z, the normal quantile of the level at which a place just comes in, at places about 0.6 apart in it; between
/// them it is straight. Beyond the last place an interval goes to the end of the parameter space, which may be infinite.
///
/// ```
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition, model::Bernoulli};
/// use ldp_estimators::{ScoreCurve, maximum_likelihood};
/// // 5000 of 10,000 say yes to «x ≥ 1», of which a quarter are lies.
/// let epsilon = Epsilon::new(3f64.ln())?;
/// let question = FiniteChannel::new(Partition::Threshold(1.0), Kernel::response(epsilon, 2)?)?;
/// let curve = ScoreCurve::new(&question, &Bernoulli, &[5000, 5000], 0.3)?.expect("a maximum");
/// assert!((curve.value() - 0.5).abs() < 1e-12);
/// // 2 · 1.96 standard errors of a share, over the contrast 1/2.
/// let interval = curve.interval(0.95)?;
/// assert!((interval.width() - 2.0 * 1.96 * 0.005 / 0.5).abs() < 1e-4);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct ScoreCurve {
    low: Side,
    high: Side,
}

/// One side of a curve: places outwards from the value, each with its z, and the end of the parameter space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    places: Vec<[f64; 2]>,
    #[serde(with = "ldp_core::json::extended")]
    end: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    low: Side,
    high: Side,
}

impl TryFrom<Raw> for ScoreCurve {
    type Error = Error;
    fn try_from(Raw { low, high }: Raw) -> Result<Self> {
        let (value, other) = (low.check(-1.0)?, high.check(1.0)?);
        require(value == other, "the value of a curve", "the same on both sides", value)?;
        Ok(Self { low, high })
    }
}

impl Side {
    /// Whether it goes outwards and z grows; the place where it begins.
    fn check(&self, outwards: f64) -> Result<f64> {
        let &[[value, z], ..] = &*self.places else {
            return Err(Error::TooFew { name: "places of a curve", least: 1, value: 0 });
        };
        require(value.is_finite(), "the value of a curve", "finite", value)?;
        require(z >= 0.0 && z.is_finite(), "the z of a value", "finite and not negative", z)?;
        for pair in self.places.windows(2) {
            let [[place, z], [next, more]] = [pair[0], pair[1]];
            require((next - place) * outwards > 0.0 && next.is_finite(), "a place of a curve", "farther out", next)?;
            require(more > z && more.is_finite(), "the z of a place", "larger farther out", more)?;
        }
        let last = self.places[self.places.len() - 1][0];
        require((self.end - last) * outwards >= 0.0, "the end of a curve", "beyond its places", self.end)?;
        Ok(value)
    }

    /// Where z is reached; `None` if the value itself has a larger one.
    fn at(&self, z: f64) -> Option<f64> {
        let &[value, least] = self.places.first()?;
        if z < least {
            return None;
        }
        if z == least {
            return Some(value);
        }
        let Some(pair) = self.places.windows(2).find(|pair| z <= pair[1][1]) else {
            return Some(self.end);
        };
        let [[place, from], [next, to]] = [pair[0], pair[1]];
        Some(place + (next - place) * ((z - from) / (to - from)))
    }
}

impl ScoreCurve {
    /// Around the maximum-likelihood estimate uphill of `from`; `None` where the likelihood grows to an infinite end of the
    /// parameter space, or nobody has answered. Where it grows to a finite one, that is the value.
    pub fn new<M: Cdf + Score + ?Sized>(
        question: &FiniteChannel,
        model: &M,
        counts: &[u64],
        from: f64,
    ) -> Result<Option<Self>> {
        let space = Space::around(model, from);
        Ok(match crate::maximum_likelihood(question, model, counts, from)? {
            Some(maximum) => Some(Self::around(question, model, space, counts, maximum)),
            None => Self::at_end(question, model, space, counts, from).map(|(_, curve)| curve),
        })
    }

    /// Around a maximum.
    pub(crate) fn around<M: Cdf + Score + ?Sized>(
        question: &FiniteChannel,
        model: &M,
        space: Space,
        counts: &[u64],
        maximum: Maximum,
    ) -> Self {
        let mut tracer = Tracer::new(question, model, space, counts);
        let from = Seen { z: 0.0, slope: maximum.information.sqrt(), left: f64::INFINITY };
        let mut side = |outwards| tracer.side(maximum.theta, maximum.theta, from, outwards);
        Self { low: side(-1.0), high: side(1.0) }
    }

    /// From the finite end of the parameter space that lies uphill of `from`, and the information of the answers there.
    pub(crate) fn at_end<M: Cdf + Score + ?Sized>(
        question: &FiniteChannel,
        model: &M,
        space: Space,
        counts: &[u64],
        from: f64,
    ) -> Option<(Maximum, Self)> {
        let mut tracer = Tracer::new(question, model, space, counts);
        let point = tracer.likelihood.at(from);
        if !(point.usable() && point.information > 0.0) {
            return None;
        }
        let (end, inwards) = if point.score > 0.0 { (space.high, -1.0) } else { (space.low, 1.0) };
        if !end.value.is_finite() {
            return None;
        }
        let (seen, there) = tracer.look(end.inside, inwards)?;
        let maximum = Maximum { theta: end.value, information: there.information };
        let inner = tracer.side(end.value, end.inside, seen, inwards);
        let outer = Side { places: vec![[end.value, seen.z]], end: end.value };
        let (low, high) = if inwards > 0.0 { (outer, inner) } else { (inner, outer) };
        Some((maximum, Self { low, high }))
    }

    /// From an infinite end of the parameter space that lies uphill of `from`: half-lines. The value is the end of the one at
    /// level 0.6, and lower levels have no interval: no parameter comes in below a level of 1/2. `None` where that is not to be found.
    pub(crate) fn beyond<M: Cdf + Score + ?Sized>(
        question: &FiniteChannel,
        model: &M,
        space: Space,
        counts: &[u64],
        from: f64,
    ) -> Option<Self> {
        let mut tracer = Tracer::new(question, model, space, counts);
        let point = tracer.likelihood.at(from);
        if !(point.usable() && point.information > 0.0) {
            return None;
        }
        let (end, outwards) = if point.score > 0.0 { (space.high, 1.0) } else { (space.low, -1.0) };
        let (mut place, mut length) = (from, STRIDE / point.information.sqrt());
        // As far out as makes a difference, or as anything can be told.
        for _ in 0..MOST {
            let next = tracer.outwards(place, outwards * length, end);
            let Some((seen, _)) = tracer.look(next, outwards) else { break };
            (place, length) = (next, 1.5 * length);
            if seen.left < AT_END {
                break;
            }
        }
        let (seen, _) = tracer.look(place, -outwards)?;
        let inner = tracer.side(place, place, seen, -outwards);
        let least = two_sided(OPEN);
        let value = inner.at(least).filter(|value| value.is_finite() && *value != inner.end)?;
        let farther = inner.places.iter().copied().filter(|place| place[1] > least && place[0] != value);
        let inner = Side { places: std::iter::once([value, least]).chain(farther).collect(), end: inner.end };
        let outer = Side { places: vec![[value, 0.0]], end: end.value };
        Some(if outwards > 0.0 { Self { low: inner, high: outer } } else { Self { low: outer, high: inner } })
    }

    /// The parameter at which the likelihood is largest.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.low.places.first().map_or(f64::NAN, |place| place[0])
    }

    /// The interval at a level. [`Error::NoInterval`] where the answers lie so far beyond what any parameter explains that none
    /// comes in at this level.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        let kind = IntervalKind::Score;
        ldp_core::inference::check_level(level)?;
        let z = two_sided(level);
        let (Some(low), Some(high)) = (self.low.at(z), self.high.at(z)) else {
            return Err(Error::NoInterval { kind, reason: "no parameter explains the answers at so low a level" });
        };
        Interval::new(kind, level, low, high)
    }
}

/// What is known of a place.
#[derive(Clone, Copy)]
struct Seen {
    /// The normal quantile of the level at which it comes in.
    z: f64,
    /// By how much z grows per unit of the parameter.
    slope: f64,
    /// How far it is to the end of the parameter space in standard errors.
    left: f64,
}

/// Looks at places.
struct Tracer<'a, M: ?Sized> {
    likelihood: Likelihood<'a, M>,
    space: Space,
    /// The laws of reports at the ends.
    laws: [Vec<f64>; 2],
}

impl<'a, M: Cdf + Score + ?Sized> Tracer<'a, M> {
    fn new(question: &'a FiniteChannel, model: &'a M, space: Space, counts: &'a [u64]) -> Self {
        let law = |end: End| {
            let mut law = vec![0.0; counts.len()];
            question.marginal(model, end.inside, &mut law);
            law
        };
        Self { likelihood: Likelihood::new(question, model, counts), space, laws: [law(space.low), law(space.high)] }
    }

    /// A place, seen on the way outwards; `None` where the answers say nothing about it.
    fn look(&mut self, theta: f64, outwards: f64) -> Option<(Seen, Point)> {
        let point = self.likelihood.at(theta);
        if !(point.usable() && point.information > 0.0) {
            return None;
        }
        let [low, high] = [0, 1].map(|end| distance(self.likelihood.users, self.likelihood.law(), &self.laws[end]));
        let z = excess(point.score / point.information.sqrt(), low, high);
        let left = if outwards < 0.0 { low } else { high };
        Some((Seen { z, slope: point.information.sqrt(), left }, point))
    }

    /// Outwards from `value`, which is looked at from `theta`: another number only at an end of the parameter space.
    fn side(&mut self, value: f64, theta: f64, from: Seen, outwards: f64) -> Side {
        let end = if outwards < 0.0 { self.space.low } else { self.space.high };
        let mut places = vec![[value, from.z]];
        let (mut place, mut seen, mut largest) = (theta, from, from.z);
        let (mut length, mut blind) = (STRIDE / from.slope, 0);
        for _ in 0..MOST {
            if seen.z >= FAR || seen.left < ARRIVED {
                break;
            }
            let next = self.outwards(place, outwards * length, end);
            if next == place {
                break;
            }
            let Some((found, _)) = self.look(next, outwards) else {
                // Too far, or as far as anything can be told.
                length = 0.5 * (next - place).abs();
                blind += 1;
                if blind > BLIND {
                    break;
                }
                continue;
            };
            let (gone, gained) = ((next - place).abs(), found.z - seen.z);
            if gained.abs() > SMALL && (gained > 2.0 * STRIDE || (gained - seen.slope * gone).abs() > BENT) {
                length = 0.5 * gone;
                continue;
            }
            if found.z > largest {
                // Behind a dip of z the levels below its last peak have their end before it.
                if seen.z < largest {
                    places.push([place, largest.next_up()]);
                }
                if found.z > largest.next_up() {
                    places.push([next, found.z]);
                    largest = found.z;
                }
            }
            let slope = (gained / gone).max(0.0);
            length = if slope * 3.0 * gone > STRIDE { STRIDE / slope } else { 3.0 * gone };
            (place, seen) = (next, Seen { slope, ..found });
        }
        Side { places, end: end.value }
    }

    /// So much farther out, or half of the way to the end of the parameter space.
    fn outwards(&self, place: f64, step: f64, end: End) -> f64 {
        let next = place + step;
        let within = if step < 0.0 { next > end.inside } else { next < end.inside };
        if within { next } else { 0.5 * place + 0.5 * end.inside }
    }
}

/// How far a law is from another, in standard errors at the first: infinite where that is not known.
fn distance(users: f64, law: &[f64], end: &[f64]) -> f64 {
    let chi: f64 = law.iter().zip(end).map(|(m, e)| (m - e) * ((m - e) / m)).sum();
    let distance = (users * chi).sqrt();
    if distance.is_nan() { f64::INFINITY } else { distance }
}

/// The normal quantile of the level at which a parameter comes in that has this Z and these distances to the ends.
fn excess(z: f64, low: f64, high: f64) -> f64 {
    // At an end itself the limit is meant.
    let (low, high) = (low.max(1e-9), high.max(1e-9));
    if z.abs() <= low.min(high) && z.abs() >= FAR {
        return z.abs();
    }
    let t = if z < -low {
        -low * (low + 2.0 * z)
    } else if z > high {
        high * (2.0 * z - high)
    } else {
        z * z
    };
    let root = t.sqrt();
    // On either side, the standard normal number that has this t.
    let reach = |distance: f64| if root <= distance { root } else { 0.5 * (distance + t / distance) };
    let tail = normal::sf(reach(low)) + normal::sf(reach(high));
    // A number beyond 37 has no tail left.
    (-normal::quantile(0.5 * tail)).clamp(0.0, 40.0)
}

#[cfg(test)]
mod tests;
