//! Joseph, Kulkarni, Mao and Wu: a bitwise pilot, then one sign stage.

use crate::{BitwisePilot, OneStage, Piloted, Rescaled};
use ldp_core::{Epsilon, Result};

/// KVGausstimate of [JKMW19]: a [`BitwisePilot`], then the sign mechanism at the pilot on everybody else,
/// $\hat\mu = \mathrm{pilot} + \sigma\sqrt 2 \mathrm{erfinv}(\bar Z/\tau)$.
///
/// - The paper gives each round half of the users ([`Share::HALF`](crate::Share::HALF)); [KS25] compare with a tuned first
///   round of fixed size ([`Share::Count`](crate::Share::Count)).
/// - n·MSE → $V_1(\delta)$ times the share of the second round's inverse, δ the distance of the mean from the pilot, a
///   multiple of σ-sized steps: not efficient, because the second round never moves.
/// - Rounds: 2. Questions: [`Residue`](ldp_mechanisms::Residue), then [`Sign`](ldp_mechanisms::Sign).
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{BitwisePilot, Joseph, Share};
/// let epsilon = Epsilon::new(1.0)?;
/// let pilot = BitwisePilot::new(epsilon, [-128.0, 128.0], 3.0, Share::HALF)?;
/// let estimator = Joseph::two_rounds(epsilon, pilot, 3.0)?;
/// let estimate = run(&estimator, 100_000, &mut Tallies::new(&Gaussian::new(3.0)?, -100.3, 1)?)?;
/// assert!((estimate.value() + 100.3).abs() < 0.2);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [JKMW19]: https://arxiv.org/abs/1811.08382
/// [KS25]: https://arxiv.org/abs/2402.04840
pub type Joseph = Piloted<BitwisePilot, Rescaled<OneStage>>;

impl Joseph {
    /// At level ε, on values with standard deviation `sigma`.
    pub fn two_rounds(epsilon: Epsilon, pilot: BitwisePilot, sigma: f64) -> Result<Self> {
        Ok(Piloted::new(pilot, Rescaled::new(OneStage::new(epsilon, 0.0)?, sigma)?))
    }
}
