//! What no private mechanism can exceed, and what one bit reaches.

use crate::law::informative;
use crate::{OneBit, Optimum, one_bit};
use ldp_core::model::{Cdf, Score};
use ldp_core::{Epsilon, Result};

/// Bounds of the largest information $\sup_Q I_\theta(QP)$ of an ε-private report. See [`bounds`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// $I_0$, that of the value itself: a report says no more than what it was made from.
    pub nonprivate: f64,
    /// $I_0 \sinh^2(\varepsilon/2)$.
    pub sinh: f64,
    /// $I_0 \min\lbrace(e^\varepsilon-1)^2, e^\varepsilon\rbrace$ of [BCO20].
    ///
    /// [BCO20]: https://arxiv.org/abs/2005.10783
    pub barnes: f64,
    /// The best mechanism with two reports: not above, but below the largest information.
    pub one_bit: OneBit,
    /// The largest information itself, where it has a closed form.
    pub closed_form: Optimum,
}

impl Bounds {
    /// The smallest number known not to be exceeded: the closed form, or the smallest of the three upper bounds.
    ///
    /// ```
    /// use ldp_core::{Epsilon, model::Gaussian};
    /// use ldp_fisher::{bounds, gaussian_mean};
    /// let (model, small, large) = (Gaussian::new(1.0)?, Epsilon::new(1.0)?, Epsilon::new(3.0)?);
    /// let known = bounds(&model, 0.0, small, gaussian_mean(small, 1.0))?;
    /// assert!((known.smallest() - known.one_bit.information).abs() < 1e-15);
    /// let open = bounds(&model, 0.0, large, gaussian_mean(large, 1.0))?;
    /// assert_eq!(open.smallest(), open.nonprivate);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn smallest(&self) -> f64 {
        let upper = self.nonprivate.min(self.sinh).min(self.barnes);
        match self.closed_form {
            Optimum::Known { information } => upper.min(information),
            Optimum::Unknown { .. } => upper,
        }
    }
}

/// Bounds of the largest private information of a family at θ.
///
/// - The value itself: $I_0$, by data processing.
/// - $I_0 \sinh^2(\varepsilon/2)$. Given the report, the likelihood $v = q(z \mid X)$ lies between a and
///   $e^\varepsilon a$, so $\mathrm{Var}(v)/(E v)^2 \le (e^\varepsilon-1)^2/4e^\varepsilon = \sinh^2(\varepsilon/2)$;
///   by Cauchy and Schwarz the squared score of the report, $(E[S v]/E v)^2 = \mathrm{Cov}(S, v)^2/(E v)^2$, is at most
///   $I_0$ times that.
/// - $I_0 \min\lbrace(e^\varepsilon-1)^2, e^\varepsilon\rbrace$, of [BCO20]: published, and never below the one before
///   it.
/// - From below, the best mechanism with two reports, see [`one_bit`].
///
/// For the mean of $N(\theta, 1)$, beside the largest information known: $(2/\pi)\tau^2$ up to ε = 2.007, above that
/// the best response on intervals of the score, which no mechanism is known to exceed.
///
/// | ε | best known | one bit | sinh | Barnes | value itself |
/// |---|---|---|---|---|---|
/// | 0.1 | 0.00159 | 0.00159 | 0.00250 | 0.01106 | 1.0000 |
/// | 0.5 | 0.03819 | 0.03819 | 0.06381 | 0.4208 | 1.0000 |
/// | 1 | 0.1360 | 0.1360 | 0.2715 | 2.7183 | 1.0000 |
/// | 2 | 0.3693 | 0.3693 | 1.3811 | 7.3891 | 1.0000 |
/// | 3 | 0.5937 | 0.5216 | 4.5338 | 20.0855 | 1.0000 |
/// | 4 | 0.7518 | 0.5916 | 13.1541 | 54.5982 | 1.0000 |
/// | 5 | 0.8553 | 0.6197 | 36.6050 | 148.4132 | 1.0000 |
/// | 6 | 0.9185 | 0.6303 | 100.3578 | 403.4288 | 1.0000 |
/// | 8 | 0.9756 | 0.6358 | 744.7396 | 2980.9580 | 1.0000 |
///
/// ```
/// use ldp_core::{Epsilon, model::Logistic};
/// use ldp_fisher::{Optimum, bounds};
/// let unknown = Optimum::Unknown { reason: "no closed form" };
/// let found = bounds(&Logistic::new(1.0)?, 0.0, Epsilon::new(1.0)?, unknown)?;
/// assert!((found.one_bit.information - 0.053388067).abs() < 1e-9);
/// assert!(found.one_bit.information < found.smallest() && found.smallest() == found.sinh);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [BCO20]: https://arxiv.org/abs/2005.10783
pub fn bounds<M: Cdf + Score + ?Sized>(
    model: &M,
    theta: f64,
    epsilon: Epsilon,
    closed_form: Optimum,
) -> Result<Bounds> {
    model.admits(theta)?;
    let nonprivate = informative(model.information(theta))?;
    // Above ε = 709 the factors leave the range of numbers: the largest number is a bound as good as any.
    let times = |factor: f64| (nonprivate * factor).min(f64::MAX);
    let growth = epsilon.value().exp_m1();
    Ok(Bounds {
        nonprivate,
        sinh: times((0.5 * epsilon.value()).sinh().powi(2)),
        barnes: times(growth.powi(2).min(growth + 1.0)),
        one_bit: one_bit(model, theta, epsilon)?,
        closed_form,
    })
}
