//! The law of a value in a form that can be integrated against any channel, and finite reports of varying probability.

use crate::integrate::{Goal, NODES, combine, integrate, nodes, pieces};
use crate::{Information, Method};
use ldp_core::model::{Cdf, Score, Support};
use ldp_core::special::least;
use ldp_core::{Density, Epsilon, Error, Finite, Mechanism, Result};

/// What may lie beyond the law that is integrated, on either side, before ε is taken into account.
const BEYOND: f64 = 1e-28;
/// Probabilities at whose quantiles the line is cut, from either side.
const SHARES: [f64; 8] = [1e-18, 1e-14, 1e-10, 1e-6, 1e-3, 0.02, 0.15, 0.4];
/// The most whole numbers that are summed.
const MOST_WHOLE: f64 = (1 << 22) as f64;
/// What a mean score may be of the mean absolute score, and a total probability off from one.
const REGULAR: f64 = 1e-8;
/// A relative error that makes a value worthless.
const WORTHLESS: f64 = 1e-6;

/// The Fisher information in a report `0..m` whose probability may vary from value to value, by quadrature.
///
/// $$I_\theta = \sum_z \frac{(\partial_\theta m(z))^2}{m(z)}, \qquad m(z) = \int q(z \mid x) p_\theta(x) dx, \qquad
/// \partial_\theta m(z) = \int \lbrace q(z \mid x) - q_0(z) \rbrace s_\theta(x) p_\theta(x) dx$$
///
/// with the score s, whose mean is zero: whatever constant is subtracted from q, the integral stays, and with the least
/// value of q as that constant its digits stay too at a small ε. Families on whole numbers are summed. Jumps and kinks of
/// q are found, and the probabilities compared with [`Finite::marginal`].
///
/// # Errors
/// [`Error::NotRegular`] if the mean score is not zero, [`Error::Integral`] if the score has no variance or an integral
/// does not settle.
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// use ldp_fisher::of_finite;
/// use ldp_mechanisms::{Duchi, Range};
/// let duchi = Duchi::new(Epsilon::new(1.0)?, Range::new(-3.0, 3.0)?)?;
/// let information = of_finite(&duchi, &Gaussian::new(1.0)?, 0.3)?;
/// assert!((information.value - 0.023590995932993).abs() < 1e-12);
/// assert!(information.error < 1e-11);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn of_finite<Q, M>(mechanism: &Q, model: &M, theta: f64) -> Result<Information>
where
    Q: Density + Finite + Mechanism<Input = f64>,
    M: Cdf + Score + ?Sized,
{
    let law = Law::new(model, theta, mechanism.epsilon(), &[])?;
    let mut marginal = vec![0.0; mechanism.reports() as usize];
    mechanism.marginal(model, theta, &mut marginal);
    let (mut total, mut missed, mut scratch) = (Total::default(), 0.0f64, Vec::new());
    for (report, expected) in (0u32..).zip(marginal) {
        let moments = law.moments(|x| mechanism.ln_density(&report, &x), &[], &mut scratch);
        // A cell so narrow that no node lies in it is missed here and not there.
        let miss = (moments.mass() - expected).abs();
        missed = missed.max(miss);
        total.add(&moments);
        let score = moments.score();
        total.error += (2.0 * score.abs() * law.information.sqrt() + score * score) * miss;
    }
    if !(missed <= REGULAR) {
        return Err(Error::Integral { what: "the law of the reports", value: 1.0 - missed, error: missed });
    }
    law.conclude(mechanism.epsilon().value(), total)
}

/// A place, its share of the probability and its score.
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    p: f64,
    score: f64,
}

/// The law of a value under θ: panels on which its density and its score are smooth, or the whole numbers it can be.
pub(crate) struct Law<'a, M: ?Sized> {
    model: &'a M,
    theta: f64,
    /// Empty for whole numbers.
    panels: Vec<(f64, f64)>,
    /// The nodes of every panel, with the density; or the whole numbers with their probabilities.
    points: Vec<Point>,
    /// E s².
    pub information: f64,
    /// Values at which the law begins, ends, has a kink or an atom.
    pub corners: Vec<f64>,
    /// A few quantiles, the median in the middle.
    pub quantiles: Vec<f64>,
}

impl<'a, M: Cdf + Score + ?Sized> Law<'a, M> {
    /// The law under θ, with edges of panels at `cuts` too.
    pub fn new(model: &'a M, theta: f64, epsilon: Epsilon, cuts: &[f64]) -> Result<Self> {
        model.admits(theta)?;
        // A report may weigh what is left out e^ε times as much as the rest, and that counts squared.
        let beyond = (BEYOND * (-2.0 * epsilon.value()).exp()).max(1e-250);
        match model.support(theta) {
            Support::Interval { low, high, kinks } => Self::on_interval(model, theta, beyond, [low, high], kinks, cuts),
            Support::Whole { first, last } => Self::on_whole(model, theta, beyond, first, last),
        }
    }

    fn on_interval(
        model: &'a M,
        theta: f64,
        beyond: f64,
        [low, high]: [f64; 2],
        kinks: Vec<f64>,
        cuts: &[f64],
    ) -> Result<Self> {
        let lower = |share| model.quantile(theta, share);
        let upper = |share| least(|x| model.mass(theta, x, f64::INFINITY) <= share);
        let (below, above) = (SHARES.map(lower), SHARES.map(upper));
        let begin = if low.is_finite() { low } else { lower(beyond) };
        let end = if high.is_finite() { high } else { upper(beyond) };
        let mut corners = kinks;
        corners.extend([low, high]);
        let inside = |x: &&f64| **x > begin && **x < end;
        let all = below.iter().chain(&above).chain(&corners).chain(cuts).chain([&theta]);
        let edges = all.filter(inside).copied().chain([begin, end]).collect();
        let moments = |x: f64| {
            let Point { p, score, .. } = point(model, theta, x);
            [p, p * score.abs(), p * score * score, p * score]
        };
        let goal = Goal { absolute: [1e-13, 0.0, 0.0, f64::INFINITY], relative: 1e-13, most: 50_000 };
        let found = integrate(pieces(edges), goal, moments);
        let [total, absolute, information, mean] = found.value;
        let check = |what: &'static str, k: usize| {
            // Tails beyond the quantiles and a density of a few digits are forgiven, but no more.
            let good = found.error[k] <= REGULAR * found.value[k].abs();
            if good { Ok(()) } else { Err(Error::Integral { what, value: found.value[k], error: found.error[k] }) }
        };
        check("the density of the model", 0)?;
        check("the mean absolute score of the model", 1)?;
        check("the information of the model", 2)?;
        regular(theta, total, absolute, mean)?;
        let points =
            found.panels.iter().flat_map(|&(low, high)| nodes(low, high)).map(|x| point(model, theta, x)).collect();
        let quantiles = vec![below[3], below[5], below[7], above[5], above[3]];
        Ok(Self { model, theta, panels: found.panels, points, information, corners, quantiles })
    }

    fn on_whole(model: &'a M, theta: f64, beyond: f64, first: f64, last: f64) -> Result<Self> {
        let (least, most) = (
            model.quantile(theta, beyond).floor().max(first) - 1.0,
            least(|x| model.mass(theta, x, f64::INFINITY) <= beyond).ceil().min(last),
        );
        let least = least.max(first);
        if !(most - least <= MOST_WHOLE) {
            return Err(Error::Integral {
                what: "a sum over whole numbers",
                value: most - least,
                error: f64::INFINITY,
            });
        }
        let points: Vec<Point> =
            (0..=(most - least) as u32).map(|k| point(model, theta, least + f64::from(k))).collect();
        let sum = |f: &dyn Fn(&Point) -> f64| points.iter().map(f).sum::<f64>();
        let (total, absolute) = (sum(&|at| at.p), sum(&|at| at.p * at.score.abs()));
        regular(theta, total, absolute, sum(&|at| at.p * at.score))?;
        let information = sum(&|at| at.p * at.score * at.score);
        let corners = points.iter().map(|at| at.x).collect();
        Ok(Self { model, theta, panels: Vec::new(), points, information, corners, quantiles: vec![least, most] })
    }

    /// Between these lies all of the law that counts.
    pub fn window(&self) -> (f64, f64) {
        let ends = |at: Option<&Point>| at.map_or(self.theta, |at| at.x);
        (ends(self.points.first()), ends(self.points.last()))
    }

    /// The integrals of a channel's column, given by its logarithm, which has jumps and kinks at `breaks`, increasing.
    pub fn moments(&self, ln_q: impl Fn(f64) -> f64, breaks: &[f64], scratch: &mut Vec<f64>) -> Moments {
        scratch.clear();
        scratch.extend(self.points.iter().map(|at| ln_q(at.x)));
        let floor = scratch.iter().copied().filter(|ln| *ln > f64::NEG_INFINITY).fold(f64::INFINITY, f64::min);
        if floor == f64::INFINITY {
            return Moments::default();
        }
        let above = |ln: f64| if ln == floor { 0.0 } else { (ln - floor).exp_m1() };
        let terms = |Point { p, score, .. }: Point, ln: f64| {
            let r = above(ln) * p;
            [r, r * score, (r * score).abs()]
        };
        let (mut sum, mut error) = ([0.0; 3], [0.0; 2]);
        if self.panels.is_empty() {
            for (at, ln) in self.points.iter().zip(&*scratch) {
                let found = terms(*at, *ln);
                (0..3).for_each(|k| sum[k] += found[k]);
            }
            error = [0, 2].map(|k| 4.0 * f64::EPSILON * sum[k]);
            return Moments { ln_floor: floor, excess: sum[0], slope: sum[1], error };
        }
        // Panels that the channel cuts, or that turn out too coarse for it, are integrated anew.
        let (mut anew, mut kept) = (Vec::new(), Vec::with_capacity(self.panels.len()));
        for (i, &(low, high)) in self.panels.iter().enumerate() {
            let first = breaks.partition_point(|x| *x <= low);
            let inside = &breaks[first..breaks.partition_point(|x| *x < high).max(first)];
            if inside.is_empty() {
                let at = i * NODES..(i + 1) * NODES;
                let found = self.points[at.clone()].iter().zip(&scratch[at]).map(|(at, ln)| terms(*at, *ln));
                kept.push(combine(low, high, found));
            } else {
                let ends = [low].into_iter().chain(inside.iter().copied()).chain([high]);
                anew.extend(pieces(ends.collect()));
            }
        }
        let size = kept.iter().fold([0.0; 2], |size, panel| [size[0] + panel.size[0], size[1] + panel.size[2]]);
        let worst = kept.iter().fold([0.0; 2], |sum, panel| [sum[0] + panel.error[0], sum[1] + panel.error[1]]);
        // The logarithms have lost what they are large by, and halving does not bring it back.
        let rounding = f64::EPSILON * (4.0 + floor.abs());
        let limit = [1e-13 * (1.0 + size[0]), 1e-13 * size[1] + rounding * self.information.sqrt()];
        let coarse = worst[0] > limit[0] || worst[1] > limit[1];
        let share = 1.0 / self.panels.len() as f64;
        for panel in kept {
            if coarse && (0..2).any(|k| !(panel.error[k] <= share * limit[k])) {
                anew.push((panel.low, panel.high));
                continue;
            }
            (0..3).for_each(|k| sum[k] += panel.value[k]);
            (0..2).for_each(|k| error[k] += panel.error[k]);
        }
        if !anew.is_empty() {
            // The slope may be small by symmetry: as many digits as there are in what cancels are enough.
            let goal = Goal { absolute: [limit[0], limit[1], f64::INFINITY], relative: 1e-13, most: 20_000 };
            let found = integrate(anew, goal, |x| terms(point(self.model, self.theta, x), ln_q(x)));
            (0..3).for_each(|k| sum[k] += found.value[k]);
            (0..2).for_each(|k| error[k] += found.error[k]);
        }
        error[0] += rounding * (1.0 + sum[0]);
        error[1] += rounding * (sum[2] + self.information.sqrt());
        Moments { ln_floor: floor, excess: sum[0], slope: sum[1], error }
    }

    /// The result, unless its error makes it worthless.
    pub fn conclude(&self, epsilon: f64, Total { value, error }: Total) -> Result<Information> {
        if !(value.is_finite() && error <= WORTHLESS * value + self.negligible(epsilon)) {
            return Err(Error::Integral { what: "the Fisher information", value, error });
        }
        // What was left out adds at most (e^ε − 1)² P E[s² there] to a sum of squares, with P = BEYOND e^(−2ε) on either
        // side: q differs from its smallest value by at most e^ε − 1 times that.
        let ends = [self.points.first(), self.points.last()].into_iter().flatten().map(|at| at.score * at.score);
        let beyond = 8.0 * BEYOND * (-epsilon).exp_m1().powi(2) * ends.fold(self.information, f64::max);
        // The panels were cut for the law itself to thirteen digits.
        let error = error + 4e-13 * value + beyond + 2.0 * (value * beyond).sqrt();
        Ok(Information { value, error, method: Method::Quadrature })
    }

    /// An information that is nothing beside the largest there can be, I₀ min(1, sinh²(ε/2)).
    pub fn negligible(&self, epsilon: f64) -> f64 {
        1e-13 * self.information * (epsilon / 2.0).min(1.0).sinh().powi(2)
    }
}

/// The mean score of a regular family is zero, and its total probability one.
fn regular(theta: f64, total: f64, absolute: f64, mean_score: f64) -> Result<()> {
    if !((total - 1.0).abs() <= REGULAR) {
        return Err(Error::Integral { what: "the density of the model", value: total, error: (total - 1.0).abs() });
    }
    if !(mean_score.abs() <= REGULAR * absolute) {
        return Err(Error::NotRegular { theta, mean_score });
    }
    Ok(())
}

fn point<M: Score + ?Sized>(model: &M, theta: f64, x: f64) -> Point {
    let p = model.ln_density(theta, x).exp();
    // Outside the support the score is not defined, and counts nothing.
    Point { x, p, score: if p > 0.0 { model.score(theta, x) } else { 0.0 } }
}

/// What a report z says: with q its density given the value and q₀ the least of them,
/// $m = q_0 (1 + A)$ with $A = E[q/q_0 - 1]$, and $\partial_\theta m = q_0 B$ with $B = E[(q/q_0 - 1) s]$.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// ln q₀.
    ln_floor: f64,
    /// A.
    excess: f64,
    /// B.
    slope: f64,
    /// How far A and B may be off.
    error: [f64; 2],
}

impl Default for Moments {
    /// A report that is impossible.
    fn default() -> Self {
        Self { ln_floor: f64::NEG_INFINITY, excess: 0.0, slope: 0.0, error: [0.0; 2] }
    }
}

impl Moments {
    /// m.
    pub fn mass(&self) -> f64 {
        self.ln_floor.exp() * (1.0 + self.excess)
    }

    /// ∂m/m.
    pub fn score(&self) -> f64 {
        self.slope / (1.0 + self.excess)
    }

    /// (∂m)²/m, and how far it may be off.
    pub fn term(&self) -> [f64; 2] {
        let (floor, score) = (self.ln_floor.exp(), self.score());
        let [excess, slope] = self.error;
        let error = (2.0 * score.abs() + slope / (1.0 + self.excess)) * slope + score * score * excess;
        [floor * self.slope * score, floor * error]
    }
}

/// A sum over reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub value: f64,
    pub error: f64,
}

impl Total {
    pub fn add(&mut self, moments: &Moments) {
        let [value, error] = moments.term();
        self.value += value;
        self.error += error;
    }
}
