//! The most informative randomised response on intervals of the score, as a mechanism.

use super::intervals::{self, Intervals};
use crate::exact;
use crate::home::Home;
use crate::levels::Levels;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Epsilon, FiniteChannel, Result};

/// Randomised response on intervals of the score. See [`response`].
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The information of the mechanism, from its own integer weights.
    pub information: f64,
    /// The mechanism, ready to privatise and to publish: report z means that the score lies in interval z.
    pub channel: FiniteChannel,
    /// The scores at which one interval ends and the next begins, increasing.
    pub levels: Vec<f64>,
    /// The scores of the reports, $\partial_\theta \ln P_\theta(\text{report } z)$, increasing.
    pub scores: Vec<f64>,
}

impl Response {
    pub(super) fn new<M: Cdf + Score + ?Sized>(
        home: &Home<'_, M>,
        levels: &Levels<'_, M>,
        found: &Intervals,
        epsilon: Epsilon,
    ) -> Result<Self> {
        let (channel, information) = home.moved(found.channel(levels, epsilon)?)?;
        Ok(Self {
            information,
            channel,
            levels: found.cuts.iter().map(|cut| cut * home.unit()).collect(),
            scores: found.scores().map(|score| score * home.unit()).collect(),
        })
    }

    /// How many reports.
    #[must_use]
    pub fn reports(&self) -> u32 {
        self.scores.len() as u32
    }
}

/// The most informative randomised response on intervals of the score, for a family at θ and level ε.
///
/// The score $s(x) = \partial_\theta \ln p_\theta(x)$ is cut into m intervals, and which of them a value falls into is told
/// through m-ary randomised response. With $P_z$ the probability of an interval, $D_z = \partial_\theta P_z$ and
/// $E = e^\varepsilon$ the report has information
///
/// $$I = \frac{(E-1)^2}{E+m-1} \sum_z \frac{D_z^2}{1+(E-1)P_z}.$$
///
/// Cuts and m are the best there are: dynamic programming over 400 cells, then Newton's method on the continuum. A score
/// that is not monotone gives cells that are unions of intervals of the line. No ε-private mechanism is known that says
/// more, and [`certify`](super::certify) proves for a family at hand that none does.
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, model::Gaussian};
/// let (model, epsilon) = (Gaussian::new(1.0)?, Epsilon::new(2.2)?);
/// let best = ldp_fisher::optimal::response(&model, 0.0, epsilon)?;
/// // Above ε = 2.007 one bit is not enough.
/// assert_eq!(best.reports(), 3);
/// assert!((best.levels[1] - 0.391101561).abs() < 1e-9 && best.levels[0] == -best.levels[1]);
/// assert!((best.information - 0.420834478).abs() < 1e-9);
/// assert!(best.channel.epsilon() <= epsilon);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// A family of locations is solved at zero and one of scales at one, and the cuts are moved. Where numbers are so coarse that
/// this would cost more than 1e-9 of the information, [`Error::Coarse`](ldp_core::Error::Coarse) says so; what the best
/// mechanism would have there is told by [`largest`].
///
/// At large ε about $1.25\,e^{\varepsilon/3}$ reports are best for a Gaussian mean. No more than 64 are tried, which costs it
/// 0.07 % of the information at most.
pub fn response<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<Response> {
    let home = Home::new(model, theta)?;
    let levels = home.levels()?;
    Response::new(&home, &levels, &intervals::best(&levels, epsilon)?, epsilon)
}

/// The information of the best [`response`], also where numbers near θ are too coarse for its cuts.
///
/// ```
/// use ldp_core::{Epsilon, Error, model::Gaussian};
/// use ldp_fisher::optimal::{largest, response};
/// let (model, epsilon) = (Gaussian::new(1.0)?, Epsilon::new(3.0)?);
/// // Two neighbouring numbers are two standard deviations apart here.
/// assert!(matches!(response(&model, 1e16, epsilon), Err(Error::Coarse { .. })));
/// assert!((largest(&model, 1e16, epsilon)? - 0.593651361).abs() < 1e-9);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn largest<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<f64> {
    let home = Home::new(model, theta)?;
    let levels = home.levels()?;
    let channel = intervals::best(&levels, epsilon)?.channel(&levels, epsilon)?;
    Ok(home.information(exact(&channel, model, levels.theta())?.value / (levels.unit() * levels.unit())))
}

/// The most informative response on a given number of intervals of the score. See [`response`].
///
/// Between ε = 2 and 2.0074 the sign is still better than any three reports for a Gaussian mean:
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// use ldp_fisher::optimal::response_with;
/// let model = Gaussian::new(1.0)?;
/// let gain = |epsilon: f64| -> ldp_core::Result<f64> {
///     let epsilon = Epsilon::new(epsilon)?;
///     Ok(response_with(&model, 0.0, epsilon, 3)?.information - response_with(&model, 0.0, epsilon, 2)?.information)
/// };
/// assert!(gain(2.00740)? < 0.0 && gain(2.00741)? > 0.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn response_with<M: Cdf + Score + ?Sized>(
    model: &M,
    theta: f64,
    epsilon: Epsilon,
    reports: u32,
) -> Result<Response> {
    let home = Home::new(model, theta)?;
    let levels = home.levels()?;
    Response::new(&home, &levels, &intervals::with_reports(&levels, epsilon, reports)?, epsilon)
}
