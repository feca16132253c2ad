//! Maximum likelihood from the counts of one finite question.

use crate::likelihood::{Likelihood, Point};
use ldp_core::model::{Cdf, Score};
use ldp_core::{Error, Finite, FiniteChannel, Kernel, Result};

/// Places that are looked at before a search is given up. Ten are usual.
const MOST: u32 = 200;
/// A likelihood that is lower by less than this part of itself is not lower: so much can be rounding.
const ROUNDING: f64 = 1e-12;
/// Every step is to reduce the score at least to this part of it. Newton's method on a score that dies out like
/// $e^{-x}$ reduces it to 0.37 for ever, and would creep to infinity.
const ENOUGH: f64 = 0.25;
/// The slope of the score is about the information; not more than this times it.
const STEEPEST: f64 = 100.0;

/// Where the likelihood of a parameter is largest, and what the answers say there. See [`maximum_likelihood`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum {
    /// The parameter.
    pub theta: f64,
    /// The Fisher information of all answers together, at that parameter.
    pub information: f64,
}

/// The maximum-likelihood estimate of θ from the counts of a question's reports, uphill of `from`.
///
/// With $P_c(\theta)$ the probability of cell c and $w_{cz}$ the weights of the question, report z has probability
/// $m_z(\theta) = 2^{-64}\sum_c w_{cz} P_c(\theta)$, and the counts $N_z$ are multinomial. The estimate is a root of
///
/// $$U(\theta) = \sum_z N_z \frac{m_z'(\theta)}{m_z(\theta)},$$
///
/// at which the likelihood is at least that of `from` and larger than nearby; its asymptotic variance is the reciprocal
/// of $n I = n\sum_z m_z'^2/m_z$. It is found to rounding. `None` where there is no such root: the likelihood grows to the
/// end of the parameter space, as it does when all users give an extreme report, or nobody has answered.
///
/// ```
/// use ldp_core::{Cuts, Epsilon, FiniteChannel, Kernel, Partition, model::Gaussian};
/// use ldp_estimators::maximum_likelihood;
/// let partition = Partition::Cuts(Cuts::new(vec![-0.5, 0.5])?);
/// let question = FiniteChannel::new(partition, Kernel::response(Epsilon::new(2.0)?, 3)?)?;
/// let model = Gaussian::new(1.0)?;
/// let best = maximum_likelihood(&question, &model, &[300, 400, 300], 0.2)?;
/// assert!(best.is_some_and(|best| best.theta.abs() < 1e-14));
/// // More large values than any mean explains.
/// assert_eq!(maximum_likelihood(&question, &model, &[0, 0, 1000], 0.0)?, None);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
/// Fisher scoring needs U and I only, and first steps of it are safe; from then on the slope of U is taken from the last two
/// places. Every place is kept on one of two sides: there the likelihood still rises and is no lower than before, or it falls
/// or is lower. A step that leaves the two, or three that hardly bring them together, are replaced by halving. So the
/// likelihood never ends lower than it began, whatever the family.
pub fn maximum_likelihood<M: Cdf + Score + ?Sized>(
    question: &FiniteChannel,
    model: &M,
    counts: &[u64],
    from: f64,
) -> Result<Option<Maximum>> {
    let (expected, found) = (question.reports() as usize, counts.len());
    if expected != found {
        return Err(Error::TallyAlphabet { expected, found });
    }
    model.admits(from)?;
    if beyond(question, counts) {
        return Ok(None);
    }
    Ok(Likelihood::new(question, model, counts).climb(from))
}

/// Whether no parameter explains two counts of a randomised response: one of them is no more than lies alone would be.
///
/// In integers, because at ε = 1e-6 a share and its limits differ in the seventh digit.
fn beyond(question: &FiniteChannel, counts: &[u64]) -> bool {
    match (question.kernel(), counts) {
        (&Kernel::Response { lie, .. }, &[zeros, ones]) => {
            let lies = (u128::from(zeros) + u128::from(ones)) * u128::from(lie);
            let few = |count: u64| u128::from(count) << 64 <= lies;
            few(zeros) || few(ones)
        }
        _ => false,
    }
}

/// Where U would be zero if it went on as it does here.
///
/// Its slope is that from the place before, unless it says much more than the information here. Where U has all but died
/// out between the two, such a slope would make a tiny step, and the plateau would pass for a maximum.
fn guess(point: Point, before: Option<Point>) -> f64 {
    let secant = before.map(|before| (point.score - before.score) / (point.theta - before.theta));
    match secant {
        Some(slope) if slope < 0.0 && -slope <= STEEPEST * point.information => point.theta - point.score / slope,
        _ => point.theta + point.score / point.information,
    }
}

impl<M: Cdf + Score + ?Sized> Likelihood<'_, M> {
    /// How near to the root is near enough: U is a sum of terms that are each rounded. Where hardly any information is left
    /// everything would be near enough, and a step that is cut short would pass for the last one.
    fn tolerance(&self, point: Point, unit: f64) -> f64 {
        let rounding = 2e-15 * (self.users / point.information).sqrt();
        4.0 * f64::EPSILON * point.theta.abs() + rounding.min(1e-11 * unit)
    }

    fn climb(&mut self, from: f64) -> Option<Maximum> {
        let first = self.at(from);
        // The first step stays where the family still looks as it does here.
        let reach = 2.0 / self.model.information(from).sqrt();
        if !(first.usable() && first.information > 0.0 && reach > 0.0) {
            return None;
        }
        let up = first.score.signum();
        let (mut near, mut far, mut wall) = (first, None, None);
        let (mut last, mut before): (Point, Option<Point>) = (first, None);
        let (mut stride, mut width, mut slow) = (None, f64::INFINITY, 0);
        for _ in 0..MOST {
            if last.score == 0.0 && last.information > 0.0 {
                return Some(Maximum { theta: last.theta, information: last.information });
            }
            let guess = guess(last, before);
            let (next, cut) = match far {
                Some(far) if slow < 3 && between(near.theta, guess, far) => (guess, false),
                Some(far) => {
                    slow = 0;
                    (middle(near.theta, far), false)
                }
                None => {
                    let forward = (guess - near.theta) * up;
                    let enough = before.is_some_and(|before| last.score.abs() <= ENOUGH * before.score.abs());
                    let length = match stride {
                        None => forward.min(reach),
                        Some(stride) if enough => forward.min(2.0 * stride),
                        Some(stride) => 2.0 * stride,
                    };
                    self.admitted(near.theta, near.theta + up * length, &mut wall)?
                }
            };
            if (next - last.theta).abs() <= self.tolerance(last, reach) {
                // Stopped by the end of the parameter space, not by the likelihood.
                return if cut { None } else { Some(Maximum { theta: next, information: last.information }) };
            }
            let point = self.at(next);
            if !point.usable() {
                return None;
            }
            let lower = point.log < near.log - ROUNDING * near.log.abs();
            if point.information == 0.0 {
                // Nothing can be told there, whether it lies before or behind a maximum: the space ends for us.
                match far {
                    None => wall = Some(next),
                    Some(_) if lower => far = Some(next),
                    Some(_) => return None,
                }
                continue;
            }
            if point.score * up > 0.0 && !lower {
                stride = Some((next - near.theta).abs());
                near = point;
            } else {
                far = Some(next);
            }
            if let Some(far) = far {
                let now = (far - near.theta).abs();
                slow = if now > 0.5 * width { slow + 1 } else { 0 };
                width = now;
            }
            (before, last) = (Some(last), point);
        }
        None
    }

    /// `next`, or on the way to it from `near` the middle of what lies inside the parameter space, and whether it was cut.
    /// `wall` is the nearest place known to lie outside.
    fn admitted(&self, near: f64, next: f64, wall: &mut Option<f64>) -> Option<(f64, bool)> {
        let outside =
            |place: f64, wall: Option<f64>| wall.is_some_and(|wall| (place - near).abs() >= (wall - near).abs());
        let (mut next, mut cut) = (next, false);
        while outside(next, *wall) || self.model.admits(next).is_err() {
            if !outside(next, *wall) {
                *wall = Some(next.clamp(f64::MIN, f64::MAX));
            }
            next = middle(near, (*wall)?);
            cut = true;
            if next == near {
                return None;
            }
        }
        Some((next, cut))
    }
}

fn middle(a: f64, b: f64) -> f64 {
    0.5 * a + 0.5 * b
}

/// Strictly between two numbers, whichever is larger.
fn between(a: f64, x: f64, b: f64) -> bool {
    (a < x && x < b) || (b < x && x < a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Bernoulli, Exponential, Gaussian, GaussianScale, Logistic, Poisson, StudentT};
    use ldp_core::{Cuts, Dense, Epsilon, Partition};
    use ldp_simulate::seed::{Purpose, SimulationRng, stream};
    use rand::RngExt;

    fn question(epsilon: f64, cuts: &[f64]) -> FiniteChannel {
        let kernel = Kernel::response(Epsilon::new(epsilon).unwrap(), cuts.len() as u32 + 1).unwrap();
        FiniteChannel::new(Partition::Cuts(Cuts::new(cuts.to_vec()).unwrap()), kernel).unwrap()
    }

    /// The same with a full table of weights.
    fn dense(channel: &FiniteChannel) -> FiniteChannel {
        let column = |cell| (0..channel.reports()).map(|report| channel.weight(cell, report)).collect();
        let table = Dense::new((0..channel.cells()).map(column).collect()).unwrap();
        FiniteChannel::new(channel.partition().clone(), Kernel::Dense(table)).unwrap()
    }

    fn log<M: Cdf + Score>(question: &FiniteChannel, model: &M, counts: &[u64], theta: f64) -> f64 {
        let mut law = vec![0.0; counts.len()];
        question.marginal(model, theta, &mut law);
        counts.iter().zip(law).map(|(&count, p)| count as f64 * p.ln()).sum()
    }

    /// Random counts: of users at a random parameter, or of no parameter at all.
    fn draw<M: Cdf>(question: &FiniteChannel, model: &M, theta: f64, rng: &mut SimulationRng, wild: bool) -> Vec<u64> {
        let mut law = vec![0.0; question.reports() as usize];
        question.marginal(model, theta, &mut law);
        let users = rng.random_range(20..2000);
        let mut counts = vec![0; law.len()];
        for _ in 0..users {
            let mut left = rng.random::<f64>();
            let report = law.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            let report = if wild { rng.random_range(0..law.len()).pow(2) % law.len() } else { report.unwrap_or(0) };
            counts[report] += 1;
        }
        counts
    }

    /// Against the largest of 4001 values of the likelihood, from everywhere.
    fn check<M: Cdf + Score>(model: &M, question: &FiniteChannel, range: [f64; 2], ratio: bool, seed: u64) {
        let mut rng = stream(seed, Purpose::Data, 0, 0);
        let place = |share: f64| match ratio {
            true => range[0] * (range[1] / range[0]).powf(share),
            false => range[0] + (range[1] - range[0]) * share,
        };
        let grid: Vec<f64> = (0..=4000).map(|i| place(f64::from(i) / 4000.0)).collect();
        let (mut differing, mut all, mut nowhere) = (0, 0, 0);
        for number in 0..60 {
            let truth = place(rng.random_range(0.2..0.8));
            let counts = draw(question, model, truth, &mut rng, number % 3 == 0);
            let logs: Vec<f64> = grid.iter().map(|&theta| log(question, model, &counts, theta)).collect();
            let best = (0..grid.len()).max_by(|&i, &j| logs[i].total_cmp(&logs[j])).unwrap();
            let inside = best > 0 && best < 4000 && logs[best] > logs[0].max(logs[4000]) + 1e-6;
            let slack = 1e-9 * logs[best].abs();
            if inside {
                let found = maximum_likelihood(question, model, &counts, grid[best]).unwrap().unwrap();
                let near = grid[best - 1] <= found.theta && found.theta <= grid[best + 1];
                assert!(near && log(question, model, &counts, found.theta) >= logs[best] - 1e-12 * slack, "{counts:?}");
            }
            let from = place(rng.random_range(0.3..0.7));
            let begin = log(question, model, &counts, from);
            let found = maximum_likelihood(question, model, &counts, from).unwrap();
            assert_eq!(found.is_some(), maximum_likelihood(&dense(question), model, &counts, from).unwrap().is_some());
            match found {
                Some(found) => {
                    let end = log(question, model, &counts, found.theta);
                    assert!(end >= begin - slack, "{counts:?} from {from}: {begin}, then {end}");
                    // The likelihood falls on either side.
                    let unit = model.information(found.theta).sqrt().recip();
                    let step = (0.3 / found.information.sqrt()).min(0.05 * unit);
                    let fall = [-step, step].map(|step| end - log(question, model, &counts, found.theta + step));
                    assert!(fall[0] > 0.0 && fall[1] > 0.0, "{counts:?} from {from}: {found:?} {fall:?}");
                    let same = maximum_likelihood(&dense(question), model, &counts, from).unwrap().unwrap();
                    assert!((same.theta - found.theta).abs() < 1e-8 * step, "{same:?} {found:?}");
                    // A mutant that forgets the last report is told from it.
                    let forgetful =
                        maximum_likelihood(question, model, &[&counts[..counts.len() - 1], &[0]].concat(), from);
                    let forgetful = forgetful.unwrap().map_or(f64::INFINITY, |other| other.theta);
                    differing += u32::from((forgetful - found.theta).abs() > step);
                    all += 1;
                }
                // Uphill it never turns.
                None => {
                    let slope = log(question, model, &counts, from + 1e-6 * from.abs().max(1e-3)) - begin;
                    let uphill: Vec<f64> = match slope > 0.0 {
                        true => (0..=4000).filter(|&i| grid[i] > from).map(|i| logs[i]).collect(),
                        false => (0..=4000).rev().filter(|&i| grid[i] < from).map(|i| logs[i]).collect(),
                    };
                    assert!(uphill.windows(2).all(|pair| pair[1] >= pair[0] - slack), "{counts:?} from {from}");
                    nowhere += 1;
                }
            }
        }
        assert!(all >= 30 && 4 * differing > all, "{differing} of {all}, {nowhere} without");
    }

    #[test]
    fn it_is_the_largest_value_of_the_likelihood() {
        check(&Gaussian::new(1.0).unwrap(), &question(4.0, &[-1.3, -0.4, 0.4, 1.3]), [-9.0, 9.0], false, 1);
        check(&Gaussian::new(0.2).unwrap(), &question(1.0, &[4.9, 5.0]), [3.0, 7.0], false, 2);
        check(&Logistic::new(1.0).unwrap(), &question(3.0, &[-1.0, 0.3, 1.0]), [-20.0, 20.0], false, 3);
        check(&StudentT::new(3.0, 1.0).unwrap(), &question(3.0, &[-1.0, 0.0, 1.0]), [-15.0, 15.0], false, 4);
        check(&Exponential, &question(2.5, &[0.4, 1.0, 2.0]), [1e-3, 1e3], true, 5);
        check(&GaussianScale, &question(2.5, &[0.4, 1.0, 2.0]), [1e-3, 1e3], true, 6);
        check(&Poisson, &question(2.5, &[1.0, 3.0, 5.0]), [1e-2, 60.0], true, 7);
        check(&Bernoulli, &question(1.5, &[1.0]), [1e-6, 1.0 - 1e-6], false, 8);
    }
}
