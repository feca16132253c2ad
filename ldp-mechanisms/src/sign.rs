//! The sign of x − c through randomised response.

mod bulk;

use ldp_core::{
    Cdf, Density, Epsilon, Error, Finite, FiniteChannel, Kernel, Mechanism, Numerics, Partition, Publish, Rescale,
    Result, Tally, channel::two_64, json,
};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The sign mechanism: report 1 means «x ≥ c», kept with probability $e^\varepsilon/(e^\varepsilon+1)$.
///
/// $$q(1 \mid x) = \frac{e^\varepsilon}{e^\varepsilon+1}\ \text{if } x \ge c,\qquad \frac{1}{e^\varepsilon+1}\ \text{else.}$$
///
/// - ε: $\ln(2^{64}/\mathrm{lie} - 1)$, from the integer weight of a lie.
/// - Under $N(\theta, 1)$, with $\tau = \tanh(\varepsilon/2)$: $E[2Z-1] = \tau(1-2\Phi(c-\theta))$; at $c = \theta$ the
///   report carries Fisher information $(2/\pi)\tau^2$, for ε ≤ 1.048 the most any ε-private report can.
/// - Report size: 1 bit. One random word per report; in bulk ([`Pack`](ldp_bulk::Pack)) about 47 words per 512 reports, and 7.3
///   for up to 64, a number that says a little about the lies of all of them together: bulk is for whoever holds the
///   values anyway, a client answers one by one.
/// - `sgn(0)` counts as plus: the cell is closed on the left.
///
/// The thin form of a [`FiniteChannel`], 16 bytes and `Copy`. Theorem 1 of [KS25].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_mechanisms::Sign;
/// let sign = Sign::new(Epsilon::new(1.0)?, 0.5)?;
/// assert!(sign.epsilon().value() <= 1.0);
/// assert!((sign.tau() - 0.5f64.tanh()).abs() < 1e-16);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [KS25]: https://arxiv.org/abs/2402.04840
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Sign {
    threshold: f64,
    lie: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    threshold: f64,
    #[serde(with = "json::weight")]
    lie: u64,
}

impl TryFrom<Raw> for Sign {
    type Error = Error;
    fn try_from(Raw { threshold, lie }: Raw) -> Result<Self> {
        // The channel's own checks are the only ones.
        FiniteChannel::new(Partition::Threshold(threshold), Kernel::Response { reports: 2, lie })?;
        Ok(Self { threshold, lie })
    }
}

impl From<Sign> for Raw {
    fn from(Sign { threshold, lie }: Sign) -> Self {
        Self { threshold, lie }
    }
}

impl Sign {
    /// The sign of x − `threshold` at level ε.
    pub fn new(epsilon: Epsilon, threshold: f64) -> Result<Self> {
        match Kernel::response(epsilon, 2)? {
            Kernel::Response { lie, .. } => Raw { threshold, lie }.try_into(),
            Kernel::Dense(_) => Err(Error::Uninformative),
        }
    }

    /// The same randomised response at another threshold.
    #[inline]
    pub fn at(self, threshold: f64) -> Result<Self> {
        ldp_core::error::require(threshold.is_finite(), "threshold", "finite", threshold)?;
        Ok(Self { threshold, ..self })
    }

    /// Where the line is cut.
    #[inline]
    #[must_use]
    pub fn threshold(self) -> f64 {
        self.threshold
    }

    /// The weight of a false report, in units of 2⁻⁶⁴.
    #[inline]
    #[must_use]
    pub fn lie(self) -> u64 {
        self.lie
    }

    /// Truth minus lie, 2⁶⁴ − 2 · lie: the contrast in units of 2⁻⁶⁴, exactly.
    #[inline]
    #[must_use]
    pub fn contrast(self) -> u64 {
        (2 * self.lie).wrapping_neg()
    }

    /// $\tau$, the contrast as a number: $E[2Z - 1]$ for a value above the threshold.
    #[inline]
    #[must_use]
    pub fn tau(self) -> f64 {
        self.contrast() as f64 / two_64()
    }
}

impl Mechanism for Sign {
    type Input = f64;
    type Report = u32;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        self.publish().epsilon()
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        u32::from((*input >= self.threshold) ^ (rng.next_u64() < self.lie))
    }

    #[inline]
    fn simulate_all<R, T>(&self, inputs: &[f64], rng: &mut R, tally: &mut T) -> Result<()>
    where
        R: Rng + ?Sized,
        T: Tally<Report = u32>,
    {
        let ones = self.ones_of(inputs, rng);
        tally.push(1, ones)?;
        tally.push(0, inputs.len() as u64 - ones)
    }
}

impl Density for Sign {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        self.publish().ln_density(report, input)
    }
}

impl Finite for Sign {
    fn reports(&self) -> u32 {
        2
    }

    #[inline]
    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        let (floor, tau) = (self.lie as f64 / two_64(), self.tau());
        out[0] = floor + tau * model.cdf(theta, self.threshold);
        out[1] = floor + tau * model.mass(theta, self.threshold, f64::INFINITY);
    }
}

impl Publish for Sign {
    fn publish(&self) -> FiniteChannel {
        let kernel = Kernel::Response { reports: 2, lie: self.lie };
        FiniteChannel::new(Partition::Threshold(self.threshold), kernel).expect("checked on construction")
    }
}

impl Rescale for Sign {
    #[inline]
    fn rescale(self, factor: f64) -> Result<Self> {
        self.at(self.threshold * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::Gaussian;

    #[test]
    fn tampered_json_is_refused() {
        assert!(serde_json::from_str::<Sign>(r#"{"threshold":0.0,"lie":"4611686018427387904"}"#).is_ok());
        for bad in [
            r#"{"threshold":0.0,"lie":"0"}"#,
            r#"{"threshold":0.0,"lie":"9223372036854775808"}"#,
            r#"{"threshold":null,"lie":"1"}"#,
            r#"{"threshold":0.0,"lie":1}"#,
            r#"{"threshold":0.0,"lie":"1","epsilon":1}"#,
            r#"{"threshold":0.0}"#,
        ] {
            assert!(serde_json::from_str::<Sign>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn marginal_matches_the_channel_and_the_formula() {
        let (mut thin, mut wide) = ([0.0; 2], [0.0; 2]);
        for (epsilon, threshold, theta, sigma) in [(1.0, 0.0, 0.5, 1.0), (0.2, -3.0, -2.7, 0.3), (4.0, 40.0, 0.0, 1.0)]
        {
            let sign = Sign::new(Epsilon::new(epsilon).unwrap(), threshold).unwrap();
            let model = Gaussian::new(sigma).unwrap();
            sign.marginal(&model, theta, &mut thin);
            sign.publish().marginal(&model, theta, &mut wide);
            let tau = (epsilon / 2.0f64).tanh();
            let mean = tau * (1.0 - 2.0 * ldp_core::special::normal::cdf((threshold - theta) / sigma));
            assert!((thin[1] - thin[0] - mean).abs() < 1e-15);
            assert!((thin[0] - wide[0]).abs() < 1e-16 && (thin[1] - wide[1]).abs() < 1e-16);
        }
    }
}
