//! Staircase noise on a clipped value.

use crate::{Range, noise};
use ldp_core::{
    Density, Epsilon, Error, Mechanism, Numerics, RealReports, Rescale, Result, Tails, Unbiased, error::require,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The width of the range in its own unit: how far apart two values can be.
const SENSITIVITY: f64 = 2.0;
/// Steps that [`Staircase::breaks`] lists on either side, at most.
const MOST_STEPS: f64 = 8192.0;

/// The staircase mechanism: the clipped value plus noise whose density falls in steps of $e^{-\varepsilon}$.
///
/// With u in $[-1, 1]$ as in [`Range`], $\Delta = 2$, $b = e^{-\varepsilon}$ and $\gamma \in (0, 1)$:
///
/// $$q(z \mid x) = a b^j, \qquad j = \text{the number of } k \ge 0 \text{ with } (k + \gamma)\Delta \le |z - u|,
/// \qquad a = \frac{1 - b}{2\Delta(\gamma + b(1-\gamma))}.$$
///
/// - ε: $-\ln b$, from the stored $1/b - 1$; rounded up.
/// - Report size: a real number, 64 bits, in units of half the width w of the range.
/// - Variance of the decoded report:
///   $w^2 \left[ b(1+b)/(1-b)^2 + 2 m_1 b/(1-b) + m_2 \right]$ with $c = \gamma/(\gamma + b(1-\gamma))$,
///   $m_1 = c\gamma/2 + (1-c)(1+\gamma)/2$, $m_2 = c\gamma^2/3 + (1-c)(1+\gamma+\gamma^2)/3$; the same for every input.
///   At the default γ no noise that is added to the value has a smaller one: [GV16].
/// - Sampling: idealised, by inverse cdfs in floating point. Two random words per report.
/// - Levels from 1e-7 to 40.
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, Unbiased};
/// use ldp_mechanisms::{Laplace, Range, Staircase};
/// let (epsilon, range) = (Epsilon::new(4.0)?, Range::new(0.0, 1.0)?);
/// let staircase = Staircase::new(epsilon, range)?;
/// assert!(staircase.epsilon() <= epsilon);
/// assert!(staircase.variance(0.3) < 0.6 * Laplace::new(epsilon, range)?.variance(0.3));
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [GV16]: https://arxiv.org/abs/1212.1186
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Staircase {
    range: Range,
    growth: f64,
    gamma: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    range: Range,
    growth: f64,
    gamma: f64,
}

impl TryFrom<Raw> for Staircase {
    type Error = Error;
    fn try_from(Raw { range, growth, gamma }: Raw) -> Result<Self> {
        // No report is further than 37/ε widths away: below 2^32, what a tally can add.
        let (least, most) = (f64::from(1 << 25).recip(), (1u64 << 60) as f64);
        require(growth >= least && growth <= most, "growth", "between 2^-25 and 2^60", growth)?;
        require(gamma > 0.0 && gamma < 1.0, "gamma", "between 0 and 1", gamma)?;
        Ok(Self { range, growth, gamma })
    }
}

impl From<Staircase> for Raw {
    fn from(Staircase { range, growth, gamma }: Staircase) -> Self {
        Self { range, growth, gamma }
    }
}

impl Staircase {
    /// Staircase noise at level ε on values in a range, with the γ of the smallest variance,
    ///
    /// $$\gamma = -\frac{b}{1-b} + \frac{(b - 2b^2 + 2b^4 - b^5)^{1/3}}{2^{1/3}(1-b)^2}.$$
    pub fn new(epsilon: Epsilon, range: Range) -> Result<Self> {
        noise::check_level(epsilon)?;
        let growth = noise::growth(epsilon.value());
        Raw { range, growth, gamma: best_gamma(growth) }.try_into()
    }

    /// Staircase noise with any γ between 0 and 1, the share of a step that is high.
    pub fn with_gamma(epsilon: Epsilon, range: Range, gamma: f64) -> Result<Self> {
        noise::check_level(epsilon)?;
        Raw { range, growth: noise::growth(epsilon.value()), gamma }.try_into()
    }

    /// γ, the share of a step that is high.
    #[must_use]
    pub fn gamma(self) -> f64 {
        self.gamma
    }

    /// $-\ln b$ to the nearest number, for formulas; [`epsilon`](Mechanism::epsilon) rounds it up.
    fn decay(self) -> f64 {
        self.growth.ln_1p()
    }

    /// The probability that the noise falls in the high and in the low part of its step: c and 1 − c.
    fn parts(self) -> (f64, f64) {
        let whole = 1.0 + self.gamma * self.growth;
        (self.gamma * (1.0 + self.growth) / whole, (1.0 - self.gamma) / whole)
    }
}

/// The γ of the smallest variance.
///
/// The polynomial under the root is b(1−b)³(1+b), so γ = (r − b)/(1 − b) with r³ = b(1+b)/2. Multiplied by r² + rb + b²
/// the difference becomes r³ − b³ = b(1−b)(1+2b)/2, and nothing is left that cancels: as it is printed the formula has
/// no digit right at ε = 1e-6.
fn best_gamma(growth: f64) -> f64 {
    let b = (1.0 + growth).recip();
    let root = (b * (1.0 + b) / 2.0).cbrt();
    b * (1.0 + 2.0 * b) / (2.0 * (root * root + root * b + b * b))
}

impl Mechanism for Staircase {
    type Input = f64;
    type Report = f64;
    const NUMERICS: Numerics = Numerics::Idealized;

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(noise::level(self.growth)).expect("checked on construction")
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        let (first, second) = (rng.next_u64(), noise::uniform(rng.next_u64()));
        // P(G ≥ k) = P(uniform ≤ b^k) = b^k.
        let steps = (-noise::uniform(first).ln() / self.decay()).floor();
        let (high, low) = self.parts();
        let within = if second < high {
            self.gamma * (second / high)
        } else {
            1.0 - (1.0 - self.gamma) * ((1.0 - second) / low)
        };
        let distance = SENSITIVITY * (steps + within);
        // The lowest bit is none of those that made the uniform number.
        self.range.unit(*input) + if first & 1 == 0 { distance } else { -distance }
    }
}

impl Density for Staircase {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        let distance = (report - self.range.unit(*input)).abs() / SENSITIVITY;
        let steps = (distance + (1.0 - self.gamma)).floor();
        let top = self.growth / (2.0 * SENSITIVITY * (1.0 + self.gamma * self.growth));
        top.ln() - self.decay() * steps
    }
}

impl RealReports for Staircase {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        let difference = report - self.range.unit(input);
        // An infinite report is beyond every step, but has no place within one.
        let distance = (difference.abs() / SENSITIVITY).min(f64::MAX);
        let (steps, within) = (distance.floor(), distance.fract());
        let (high, low) = self.parts();
        let share = if within < self.gamma {
            high * within / self.gamma
        } else {
            high + low * (within - self.gamma) / (1.0 - self.gamma)
        };
        // 1 − b = growth/(1 + growth).
        let beyond = (-self.decay() * steps).exp() * (1.0 - self.growth / (1.0 + self.growth) * share);
        if difference < 0.0 { beyond / 2.0 } else { 1.0 - beyond / 2.0 }
    }

    /// The ends of the steps $u \pm (k + \gamma)\Delta$, until less than 1e-18 of the probability lies outside, and at
    /// most 8192 on either side: below ε = 0.005 further steps, each of relative height ε, follow.
    fn breaks(&self, input: f64) -> Vec<f64> {
        let unit = self.range.unit(input);
        let steps = (1e18f64.ln() / self.decay()).ceil().min(MOST_STEPS) as i32;
        let end = |k: i32| SENSITIVITY * (f64::from(k) + self.gamma);
        (0..steps).rev().map(|k| unit - end(k)).chain((0..steps).map(|k| unit + end(k))).collect()
    }

    /// The values that are $(k + \gamma)\Delta$ away from the report.
    fn input_breaks(&self, report: f64, _window: (f64, f64)) -> Vec<f64> {
        let mut units = Vec::new();
        for side in [-1.0, 1.0] {
            // Of all k the ones around this can be within the range, which is as wide as a step.
            let near = (side * -report / SENSITIVITY - self.gamma).floor();
            let ends = [near - 1.0, near, near + 1.0].into_iter().filter(|&k| k >= 0.0);
            units.extend(ends.map(|k| report + side * SENSITIVITY * (k + self.gamma)).filter(|u| u.abs() < 1.0));
        }
        units.sort_by(f64::total_cmp);
        units.into_iter().map(|u| self.range.decode(u)).collect()
    }

    fn tails(&self) -> Option<Tails> {
        Some(Tails { from: 1.0, period: SENSITIVITY, decay: self.decay() })
    }
}

impl Unbiased for Staircase {
    fn range(&self) -> (f64, f64) {
        (self.range.low(), self.range.high())
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.range.decode(mean_report)
    }

    fn variance(&self, _input: f64) -> f64 {
        let (gamma, (high, low)) = (self.gamma, self.parts());
        let first = high * gamma / 2.0 + low * (1.0 + gamma) / 2.0;
        let second = high * gamma * gamma / 3.0 + low * (1.0 + gamma + gamma * gamma) / 3.0;
        // b/(1 − b) = 1/growth, the mean number of steps.
        let steps = self.growth.recip();
        let square = (2.0 + self.growth) * steps * steps + 2.0 * first * steps + second;
        self.range.scale_variance(SENSITIVITY * SENSITIVITY * square)
    }
}

impl Rescale for Staircase {
    fn rescale(self, factor: f64) -> Result<Self> {
        Ok(Self { range: self.range.rescale(factor)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Range {
        Range::new(-1.0, 1.0).unwrap()
    }

    #[test]
    fn gamma_has_all_its_digits() {
        // The printed formula with 60 digits.
        for (level, gamma) in [
            (1e-6, 0.499_999_916_666_666_67),
            (1e-3, 0.499_916_666_666_666_7),
            (0.01, 0.499_166_666_666_674_38),
            (0.2, 0.483_333_357_936_781_43),
            (1.0, 0.416_737_434_928_882_43),
            (5.0, 0.144_482_174_864_271_54),
            (30.0, 3.603_394_803_855_368e-5),
        ] {
            let found = Staircase::new(Epsilon::new(level).unwrap(), unit()).unwrap().gamma();
            assert!((found / gamma - 1.0).abs() < 1e-14, "{found} for {gamma}");
        }
    }

    #[test]
    fn the_default_gamma_has_the_smallest_variance() {
        for level in [0.01, 0.2, 1.0, 4.0, 10.0] {
            let epsilon = Epsilon::new(level).unwrap();
            let best = Staircase::new(epsilon, unit()).unwrap();
            for factor in [0.9, 0.99, 1.01, 1.1] {
                let other = Staircase::with_gamma(epsilon, unit(), best.gamma() * factor).unwrap();
                assert!(other.variance(0.0) > best.variance(0.0), "ε = {level}, γ · {factor}");
            }
        }
    }

    #[test]
    fn breaks_increase_and_are_where_the_density_falls() {
        let staircase = Staircase::new(Epsilon::new(1.0).unwrap(), unit()).unwrap();
        let breaks = staircase.breaks(0.25);
        assert!(breaks.windows(2).all(|pair| pair[0] < pair[1]));
        for z in breaks {
            let fall = staircase.ln_density(&(z - 1e-9), &0.25) - staircase.ln_density(&(z + 1e-9), &0.25);
            assert!((fall.abs() - 1.0).abs() < 1e-12, "{fall} at {z}");
        }
    }

    #[test]
    fn bad_parameters_and_tampered_json_are_refused() {
        let one = Epsilon::new(1.0).unwrap();
        for gamma in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(matches!(Staircase::with_gamma(one, unit(), gamma), Err(Error::Parameter { .. })), "{gamma}");
        }
        for level in [1e-300, 1e-9, 41.0, 1e300] {
            let level = Epsilon::new(level).unwrap();
            assert!(matches!(Staircase::new(level, unit()), Err(Error::Parameter { .. })), "{level}");
        }
        let json = |growth: &str, gamma: &str| {
            format!(r#"{{"range":{{"low":0.0,"high":1.0}},"growth":{growth},"gamma":{gamma}}}"#)
        };
        assert!(serde_json::from_str::<Staircase>(&json("1.7", "0.4")).is_ok());
        for (growth, gamma) in
            [("0.0", "0.4"), ("-1.0", "0.4"), ("1e-12", "0.4"), ("1e30", "0.4"), ("1.7", "1.0"), ("1.7", "null")]
        {
            assert!(serde_json::from_str::<Staircase>(&json(growth, gamma)).is_err(), "{growth} {gamma}");
        }
    }
}
