//! The likelihood-ratio interval at every level.

use super::brent;
use super::evidence::{Evidence, Top};
use ldp_core::error::require;
use ldp_core::inference::{check_level, two_sided};
use ldp_core::model::{Cdf, Score};
use ldp_core::{Error, Finite, Interval, IntervalKind, Result};
use serde::{Deserialize, Serialize};

/// Levels at which the deviance is inverted; between them the curve is a cubic.
const LEVELS: [f64; 9] = [0.3, 0.5, OPEN, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999_999];
/// The least level of a half-line.
pub(super) const OPEN: f64 = 0.6;

/// The likelihood-ratio interval of a parameter at every level.
///
/// With ℓ the logarithm of the likelihood of n answers and θ̂ its maximum, the interval at level 1 − α is the hull of
///
/// $$\lbrace \theta : 2(\ell(\hat\theta) - \ell(\theta)) \le z^2_{1-\alpha/2} \rbrace .$$
///
/// It is worked out by Brent's method at nine levels, among them 0.6, 0.8, 0.9, 0.95, 0.99 and 0.999; between two of them an end is a
/// cubic in z through both with the slopes there, or the outer of the two where such a cubic would turn. An end that the likelihood does
/// not bound is that of the parameter space, which may be infinite.
///
/// ```
/// use ldp_core::{Bits, Counts, Epsilon, StagedEstimator, Step, Tally, model::Bernoulli};
/// use ldp_estimators::Ask;
/// use ldp_mechanisms::RandomizedResponse;
/// use std::sync::Arc;
/// let question = RandomizedResponse::new(Epsilon::new(3f64.ln())?, 2)?;
/// let ask = Ask::new(question, Arc::new(Bernoulli), 0.5)?;
/// let Step::Ask { state, .. } = ask.begin(10_000)? else { panic!("asks first") };
/// let mut answers = Counts::new(2);
/// answers.push(1, 5000)?;
/// answers.push(0, 5000)?;
/// let Step::Done(estimate) = ask.advance(state, &[answers])? else { panic!("one round") };
/// let interval = estimate.curve().expect("people answered").interval(0.95)?;
/// // Close to 1.96 standard errors of a share, over the contrast 1/2, on either side.
/// assert!((interval.width() - 2.0 * 1.96 * 0.005 / 0.5).abs() < 1e-4);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct DevianceCurve {
    low: Side,
    high: Side,
}

/// One side, from the maximum outwards: z, the place that is reached there, and by how much it moves per unit of z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    places: Vec<[f64; 3]>,
    #[serde(with = "ldp_core::json::extended")]
    end: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    low: Side,
    high: Side,
}

impl TryFrom<Raw> for DevianceCurve {
    type Error = Error;
    fn try_from(Raw { low, high }: Raw) -> Result<Self> {
        let (value, other) = (low.check(-1.0)?, high.check(1.0)?);
        require(value == other, "the value of a curve", "the same on both sides", value)?;
        Ok(Self { low, high })
    }
}

impl Side {
    /// Whether it goes outwards; the place where it begins.
    fn check(&self, outwards: f64) -> Result<f64> {
        let &[[z, value, _], ..] = &*self.places else {
            return Err(Error::TooFew { name: "places of a curve", least: 1, value: 0 });
        };
        require(value.is_finite(), "the value of a curve", "finite", value)?;
        require(z >= 0.0 && z.is_finite(), "the z of a value", "finite and not negative", z)?;
        for [_, _, slope] in &self.places {
            require(slope * outwards >= 0.0 && slope.is_finite(), "the slope of a curve", "outwards", *slope)?;
        }
        for pair in self.places.windows(2) {
            let [[z, place, _], [more, next, _]] = [pair[0], pair[1]];
            require((next - place) * outwards >= 0.0 && next.is_finite(), "a place of a curve", "farther out", next)?;
            require(more > z && more.is_finite(), "the z of a place", "larger farther out", more)?;
        }
        let last = self.places[self.places.len() - 1][1];
        require((self.end - last) * outwards >= 0.0, "the end of a curve", "beyond its places", self.end)?;
        Ok(value)
    }

    /// Where z is reached; `None` if the value itself has a larger one.
    fn at(&self, z: f64) -> Option<f64> {
        let &[least, value, _] = self.places.first()?;
        if z <= least {
            return (z == least).then_some(value);
        }
        let Some(pair) = self.places.windows(2).find(|pair| z <= pair[1][0]) else {
            return Some(self.end);
        };
        let [[from, place, slope], [to, next, steep]] = [pair[0], pair[1]];
        let (width, share) = (to - from, (z - from) / (to - from));
        let secant = (next - place) / width;
        // Slopes of at most three times the secant keep the cubic from turning.
        let turns = slope.abs() > 3.0 * secant.abs() || steep.abs() > 3.0 * secant.abs();
        if share >= 1.0 || turns {
            return Some(next);
        }
        let rest = 1.0 - share;
        let bend = rest * (slope - secant) - share * (steep - secant);
        Some(place + (next - place) * share + width * share * rest * bend)
    }
}

impl DevianceCurve {
    /// Around the largest of the maxima `tops`; the value of an end is that of the parameter space where it is finite. `None` where
    /// the largest is at an infinite end, and all parameters are as good.
    pub(super) fn new<Q, M>(evidence: &Evidence<'_, Q, M>, fits: &[f64], tops: &[Top]) -> Option<Self>
    where
        Q: Finite,
        M: Cdf + Score + ?Sized,
    {
        let top = *tops.first()?;
        let space = evidence.places.space;
        let [low, high] = [-1i8, 1].map(|side| {
            let end = if side < 0 { space.low.value } else { space.high.value };
            let tracer = Tracer { evidence, fits, tops, side, end };
            if top.end == side { Side { places: Vec::new(), end } } else { tracer.side(top) }
        });
        let mut curve = Self { low, high };
        let value = if top.end < 0 { space.low.value } else { space.high.value };
        if top.end == 0 {
            return Some(curve);
        }
        let (inner, outer) =
            if top.end < 0 { (&mut curve.high, &mut curve.low) } else { (&mut curve.low, &mut curve.high) };
        let first = inner.places.first_mut()?;
        if value.is_finite() {
            first[1] = value;
            outer.places = vec![[0.0, value, 0.0]];
            return Some(curve);
        }
        // An infinite end: half-lines, from the level at which the value comes in.
        let least = two_sided(OPEN);
        inner.places.retain(|place| place[0] >= least);
        let value = inner.places.first().map(|place| place[1]).filter(|value| *value != inner.end)?;
        outer.places = vec![[0.0, value, 0.0]];
        Some(curve)
    }

    /// The parameter at which the likelihood is largest, or the end of a half-line at level 0.6.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.low.places.first().map_or(f64::NAN, |place| place[1])
    }

    /// The interval at a level. [`Error::NoInterval`] where the likelihood is largest at an infinite end of the parameter space and
    /// the level is below 0.6.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        let kind = IntervalKind::LikelihoodRatio;
        check_level(level)?;
        let z = two_sided(level);
        let (Some(low), Some(high)) = (self.low.at(z), self.high.at(z)) else {
            return Err(Error::NoInterval { kind, reason: "the answers are beyond what any parameter explains" });
        };
        Interval::new(kind, level, low, high)
    }
}

/// Follows the deviance outwards.
struct Tracer<'a, 'e, Q, M: ?Sized> {
    evidence: &'a Evidence<'e, Q, M>,
    fits: &'a [f64],
    tops: &'a [Top],
    side: i8,
    end: f64,
}

impl<Q: Finite, M: Cdf + Score + ?Sized> Tracer<'_, '_, Q, M> {
    fn side(&self, top: Top) -> Side {
        let outwards = f64::from(self.side);
        let slope = match top.end {
            0 => (self.evidence.information(top)).sqrt().recip(),
            // At an end the likelihood has a slope, and the place moves as the square of z.
            _ => 0.0,
        };
        let slope = if slope.is_finite() { slope } else { 0.0 };
        let mut places = vec![[0.0, top.theta, outwards * slope]];
        for z in LEVELS.map(two_sided) {
            let before = places[places.len() - 1][1];
            let Some(place) = self.reached(top, z, before) else { break };
            // U = n · score is the slope of ℓ, and z dz = −U dθ.
            let score = self.evidence.users * self.evidence.score(place);
            let slope = -z / score;
            let slope = if slope.is_finite() && slope * outwards > 0.0 { slope } else { f64::MAX * outwards };
            places.push([z, place, slope]);
        }
        Side { places, end: self.end }
    }

    /// The outermost place where the deviance is z², if there is one; not inside of `before`.
    fn reached(&self, top: Top, z: f64, before: f64) -> Option<f64> {
        let thetas = &self.evidence.places.thetas;
        let limit = z * z / (2.0 * self.evidence.users);
        let over = |theta: f64| top.fit - self.evidence.fit(theta) - limit;
        let is_outside = |theta: f64, of: f64| if self.side < 0 { theta < of } else { theta > of };
        // The outermost place inside, of the places and of the maxima.
        let inside = (0..thetas.len()).filter(|&i| top.fit - self.fits[i] <= limit).map(|i| thetas[i]);
        let peaks = self.tops.iter().filter(|other| top.fit - other.fit <= limit).map(|other| other.theta);
        let inner = inside.chain(peaks).fold(before, |best, theta| if is_outside(theta, best) { theta } else { best });
        let mut next = thetas.iter().copied().filter(|&theta| is_outside(theta, inner));
        let outer = if self.side < 0 { next.next_back() } else { next.next() }?;
        Some(brent::root(over, inner, outer).unwrap_or(outer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_levels_a_side_is_a_cubic_that_does_not_turn() {
        let cubic = |z: f64| 1.0 + 2.0 * z + 0.3 * z * z + 0.1 * z * z * z;
        let slope = |z: f64| 2.0 + 0.6 * z + 0.3 * z * z;
        let places = [0.0, 1.0, 2.5].map(|z| [z, cubic(z), slope(z)]).to_vec();
        let side = Side { places, end: f64::INFINITY };
        for z in [0.0, 0.3, 1.0, 1.7, 2.5] {
            assert!((side.at(z).unwrap() - cubic(z)).abs() < 1e-14, "{z}");
        }
        assert_eq!(side.at(2.6), Some(f64::INFINITY));
        let steep = Side { places: vec![[0.0, 0.0, 50.0], [1.0, 1.0, 1.0]], end: 3.0 };
        assert_eq!(steep.at(0.5), Some(1.0));
    }
}
