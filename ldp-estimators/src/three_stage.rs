//! Three stages: a bitwise pilot, then the two sign stages.

use crate::{BitwisePilot, Piloted, Rescaled, TwoStage};
use ldp_core::{Epsilon, Result};

/// The three-stage sign estimator of [KS25] for a mean that may be far away: a [`BitwisePilot`] finds a start in the
/// known range, a [`TwoStage`] does the rest.
///
/// - n·MSE → $V\sigma^2$, $V = \frac{\pi}{2}\tau^{-2}$: the optimum for ε ≤ 1.048, whatever the range, when pilot and first
///   stage grow without bound but slower than n, and the pilot fails so rarely that $n$ times that probability vanishes.
///   At finite n it pays for the users of the pilot, and for the rare pilot that ends far off.
/// - Rounds: 3. Questions: [`Residue`](ldp_mechanisms::Residue), then [`Sign`](ldp_mechanisms::Sign).
///
/// ```
/// use ldp_simulate::Tallies;
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, Inference, run};
/// use ldp_estimators::{BitwisePilot, Share, ThreeStage};
/// let epsilon = Epsilon::new(1.0)?;
/// let pilot = BitwisePilot::new(epsilon, [0.0, 128.0], 1.0, Share::Count(15_000))?;
/// let estimator = ThreeStage::three_rounds(epsilon, pilot, 1.0, Some(700))?;
/// let estimate = run(&estimator, 200_000, &mut Tallies::new(&Gaussian::new(1.0)?, 84.5, 1)?)?;
/// assert!((estimate.value() - 84.5).abs() < 0.03);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [KS25]: https://arxiv.org/abs/2402.04840
pub type ThreeStage = Piloted<BitwisePilot, Rescaled<TwoStage>>;

impl ThreeStage {
    /// At level ε, on values with standard deviation `sigma`, with `first_stage` users in the first sign stage; `None`:
    /// [`TwoStage::tuned`].
    pub fn three_rounds(epsilon: Epsilon, pilot: BitwisePilot, sigma: f64, first_stage: Option<u64>) -> Result<Self> {
        let unit = match first_stage {
            Some(first_stage) => TwoStage::new(epsilon, 0.0, first_stage)?,
            None => TwoStage::tuned(epsilon, 0.0)?,
        };
        Ok(Piloted::new(pilot, Rescaled::new(unit, sigma)?))
    }
}
