//! The hybrid of the piecewise mechanism and the one-bit mechanism.

use crate::{Duchi, Piecewise, Range, noise};
use ldp_core::{
    Density, Epsilon, Error, Mechanism, Numerics, RealReports, Rescale, Result, Unbiased, error::require, json,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The level below which the one-bit mechanism alone is better: the ε at which the two have the same worst variance.
/// $\ln\big((-5 + 2\sqrt[3]{6353 - 405\sqrt{241}} + 2\sqrt[3]{6353 + 405\sqrt{241}})/27\big)$.
const THRESHOLD: f64 = 0.609_352_493_027_309_5;

/// The hybrid mechanism: with probability α [`Piecewise`], else the one bit of [`Duchi`], sent as $\pm 1/\tau$.
///
/// $$q(z \mid x) = (1-\alpha)\frac{1 \pm \tau u}{2}\ \text{at the atoms } z = \pm 1/\tau,\qquad
/// \alpha q_{\text{piecewise}}(z \mid x)\ \text{as a density elsewhere},$$
///
/// with $\alpha = 1 - e^{-\varepsilon/2}$ above $\varepsilon^* = 0.6093$ and $\alpha = 0$ up to it, where only the two
/// atoms are left.
///
/// - ε: the larger level of its two parts, from their own numbers; α is the same for every input.
/// - Report size: a real number, 64 bits, in units of half the width w of the range; 1 bit if α = 0.
/// - Variance of the decoded report: $\alpha$ times that of the one plus $1 - \alpha$ times that of the other; above
///   $\varepsilon^*$ the same for every input.
/// - `ln_density` at an atom is the logarithm of its probability, elsewhere of the density.
/// - Sampling: idealised, by the inverse cdf in floating point. Two random words per report.
/// - Levels from 1e-7 to 40. See [WXYZ19].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, RealReports, Unbiased};
/// use ldp_mechanisms::{Hybrid, Range};
/// let hybrid = Hybrid::new(Epsilon::new(1.0)?, Range::new(-1.0, 1.0)?)?;
/// assert!(hybrid.epsilon().value() <= 1.0);
/// assert!((hybrid.variance(0.0) - hybrid.variance(1.0)).abs() < 1e-14);
/// assert!((hybrid.atoms()[1] - 1.0 / 0.5f64.tanh()).abs() < 1e-14);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [WXYZ19]: https://arxiv.org/abs/1907.00782
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Hybrid {
    range: Range,
    alpha: f64,
    piecewise: Piecewise,
    duchi: Duchi,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    range: Range,
    alpha: f64,
    growth: f64,
    #[serde(with = "json::weight")]
    lie: u64,
}

impl TryFrom<Raw> for Hybrid {
    type Error = Error;
    fn try_from(Raw { range, alpha, growth, lie }: Raw) -> Result<Self> {
        require((0.0..1.0).contains(&alpha), "alpha", "at least 0 and below 1", alpha)?;
        let (piecewise, duchi) = (Piecewise::with_growth(range, growth)?, Duchi::with_lie(range, lie)?);
        // The atoms must be within what a tally can add, as the reports of the other part are.
        require(duchi.tau() >= f64::from(1 << 25).recip(), "tau", "at least 2^-25", duchi.tau())?;
        Ok(Self { range, alpha, piecewise, duchi })
    }
}

impl From<Hybrid> for Raw {
    fn from(Hybrid { range, alpha, piecewise, duchi }: Hybrid) -> Self {
        Self { range, alpha, growth: piecewise.growth(), lie: duchi.lie() }
    }
}

impl Hybrid {
    /// The hybrid mechanism at level ε on values in a range.
    pub fn new(epsilon: Epsilon, range: Range) -> Result<Self> {
        let (piecewise, duchi) = (Piecewise::new(epsilon, range)?, Duchi::new(epsilon, range)?);
        let growth = piecewise.growth();
        // 1 − e^{−ε/2} in terms of h − 1.
        let alpha = if epsilon.value() > THRESHOLD { growth / (1.0 + growth) } else { 0.0 };
        Raw { range, alpha, growth, lie: duchi.lie() }.try_into()
    }

    /// α, the probability of a piecewise report.
    #[must_use]
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// 1/τ, the larger of the two atoms.
    fn atom(self) -> f64 {
        self.duchi.tau().recip()
    }
}

impl Mechanism for Hybrid {
    type Input = f64;
    type Report = f64;
    const NUMERICS: Numerics = Numerics::Idealized;

    fn epsilon(&self) -> Epsilon {
        let (bit, real) = (self.duchi.epsilon(), self.piecewise.epsilon());
        // A part that is never asked tells nothing.
        if self.alpha > 0.0 && real > bit { real } else { bit }
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        // Either part draws one word.
        if noise::uniform(rng.next_u64()) < self.alpha {
            self.piecewise.privatize(input, rng)
        } else if self.duchi.privatize(input, rng) == 1 {
            self.atom()
        } else {
            -self.atom()
        }
    }
}

impl Density for Hybrid {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        if report.abs() == self.atom() {
            (-self.alpha).ln_1p() + self.duchi.ln_density(&u32::from(*report > 0.0), input)
        } else {
            self.alpha.ln() + self.piecewise.ln_density(report, input)
        }
    }
}

impl RealReports for Hybrid {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        let bit = if report >= self.atom() {
            1.0
        } else if report >= -self.atom() {
            self.duchi.ln_density(&0, &input).exp()
        } else {
            0.0
        };
        self.alpha * self.piecewise.report_cdf(report, input) + (1.0 - self.alpha) * bit
    }

    fn breaks(&self, input: f64) -> Vec<f64> {
        if self.alpha > 0.0 { self.piecewise.breaks(input) } else { Vec::new() }
    }

    fn input_breaks(&self, report: f64, window: (f64, f64)) -> Vec<f64> {
        // The probability of an atom is linear in the value between the ends of the range.
        if report.abs() == self.atom() {
            let (low, high) = self.range();
            return vec![low, high];
        }
        self.piecewise.input_breaks(report, window)
    }

    fn atoms(&self) -> Vec<f64> {
        vec![-self.atom(), self.atom()]
    }
}

impl Unbiased for Hybrid {
    fn range(&self) -> (f64, f64) {
        (self.range.low(), self.range.high())
    }

    fn decode(&self, mean_report: f64) -> f64 {
        self.range.decode(mean_report)
    }

    fn variance(&self, input: f64) -> f64 {
        self.alpha * self.piecewise.variance(input) + (1.0 - self.alpha) * self.duchi.variance(input)
    }
}

impl Rescale for Hybrid {
    fn rescale(self, factor: f64) -> Result<Self> {
        let (range, piecewise) = (self.range.rescale(factor)?, self.piecewise.rescale(factor)?);
        Ok(Self { range, piecewise, duchi: self.duchi.rescale(factor)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hybrid(level: f64) -> Hybrid {
        Hybrid::new(Epsilon::new(level).unwrap(), Range::new(-1.0, 1.0).unwrap()).unwrap()
    }

    #[test]
    fn the_threshold_is_that_of_the_paper() {
        let root = 241f64.sqrt();
        let (minus, plus) = ((6353.0 - 405.0 * root).cbrt(), (6353.0 + 405.0 * root).cbrt());
        assert!((((-5.0 + 2.0 * minus + 2.0 * plus) / 27.0).ln() - THRESHOLD).abs() < 1e-13);
        assert!((THRESHOLD - 0.609_352_493).abs() < 1e-9);
        assert_eq!(hybrid(THRESHOLD).alpha(), 0.0);
        assert!((hybrid(THRESHOLD.next_up()).alpha() - (1.0 - (-THRESHOLD / 2.0).exp())).abs() < 1e-14);
    }

    #[test]
    fn at_the_threshold_both_choices_have_the_same_worst_variance() {
        let (below, above) = (hybrid(THRESHOLD), hybrid(THRESHOLD.next_up()));
        assert!((below.variance(0.0) / above.variance(0.0) - 1.0).abs() < 1e-12);
        // And on either side the rule takes the better one.
        for (level, alpha_is_zero) in [(0.5, true), (0.7, false)] {
            let chosen = hybrid(level);
            let alpha = if alpha_is_zero { 1.0 - (-level / 2.0).exp() } else { 0.0 };
            let other = Hybrid { alpha, ..chosen };
            assert_eq!(chosen.alpha() == 0.0, alpha_is_zero);
            assert!(chosen.variance(0.0) < other.variance(0.0), "ε = {level}");
        }
    }

    #[test]
    fn the_level_is_that_of_the_parts_in_use() {
        // Parts of levels 2 and 1, asked together and the second alone.
        let (piecewise, duchi) = (hybrid(2.0).piecewise, hybrid(1.0).duchi);
        let level = |alpha| Hybrid { alpha, piecewise, duchi, ..hybrid(1.0) }.epsilon();
        assert_eq!((level(0.5), level(0.0)), (piecewise.epsilon(), duchi.epsilon()));
    }

    #[test]
    fn tampered_json_is_refused() {
        let json = |alpha: &str, growth: &str, lie: &str| {
            format!(r#"{{"range":{{"low":0.0,"high":1.0}},"alpha":{alpha},"growth":{growth},"lie":{lie}}}"#)
        };
        let lie = r#""4611686018427387904""#;
        assert!(serde_json::from_str::<Hybrid>(&json("0.4", "0.6", lie)).is_ok());
        for (alpha, growth, lie) in [
            ("1.0", "0.6", lie),
            ("-0.1", "0.6", lie),
            ("null", "0.6", lie),
            ("0.4", "0.0", lie),
            ("0.4", "0.6", r#""0""#),
            ("0.4", "0.6", r#""9223372036854775807""#),
            ("0.4", "0.6", r#""1","epsilon":1.0"#),
        ] {
            assert!(serde_json::from_str::<Hybrid>(&json(alpha, growth, lie)).is_err(), "{alpha} {growth} {lie}");
        }
    }
}
