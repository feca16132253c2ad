//! The dual function in closed form: a tent over the intervals of a response.

use super::beta::Beta;
use super::intervals::Intervals;
use crate::law::{ScoreLaw, Tail};
use ldp_core::Result;

/// The function β that complementary slackness suggests for a response on intervals of the score.
///
/// With t_z the score of report z let $u_z(s) = 2t_z s - t_z^2$: on interval z the largest of these is u_z, and with L the
/// largest of the others $\beta = L + \lambda_z(u_z - L)$ there. If the response is optimal, the constraint of each of its
/// reports is tight, which fixes the integral of β over interval z to $(\mu_z - I)/(E-1)$, where
/// $\mu_z = (E-1)^2D_z^2/(1+(E-1)P_z)$ is the worth of the report: that gives λ_z. For two reports it is the dual guess of
/// [KS25], $\lambda = E/(E+1)$.
///
/// [KS25]: https://arxiv.org/abs/2402.04840
pub(crate) fn tent<L: ScoreLaw + ?Sized>(levels: &L, found: &Intervals) -> Result<Beta> {
    let scores: Vec<f64> = found.scores().collect();
    let last = scores.len() - 1;
    let u = |z: usize, s: f64| 2.0 * scores[z] * s - scores[z] * scores[z];
    let (mut knots, mut values) = (Vec::new(), Vec::new());
    let (mut below, mut above) = (0.0, 0.0);
    for z in 0..=last {
        let piece = found.pieces[z];
        let worth = (found.growth * piece.slope).powi(2) / (1.0 + found.growth * piece.mass);
        let wanted = (worth - found.information) / found.growth;
        // Left of the crest the neighbour below is the largest of the others, right of it the one above.
        let crest = if z == 0 {
            f64::NEG_INFINITY
        } else if z == last {
            f64::INFINITY
        } else {
            0.5 * (scores[z - 1] + scores[z + 1])
        };
        let split = levels.tail(crest);
        let upper = if z == last { Tail::default() } else { levels.tail(found.cuts[z]) };
        let right = Tail { mass: split.mass - upper.mass, slope: split.slope - upper.slope };
        let left = Tail { mass: piece.mass - right.mass, slope: piece.slope - right.slope };
        let integral = |z: usize, part: Tail| 2.0 * scores[z] * part.slope - scores[z] * scores[z] * part.mass;
        let others = if z == 0 {
            integral(1, piece)
        } else if z == last {
            integral(last - 1, piece)
        } else {
            integral(z - 1, left) + integral(z + 1, right)
        };
        let share = (wanted - others) / (integral(z, piece) - others);
        let mixed = |other: usize| 2.0 * (scores[other] + share * (scores[z] - scores[other]));
        if z == 0 {
            below = mixed(1);
        }
        if z == last {
            above = mixed(last - 1);
        }
        if z > 0 {
            let cut = found.cuts[z - 1];
            knots.push(cut);
            values.push(0.5 * (u(z - 1, cut) + u(z, cut)));
            if z < last && crest > cut && crest < found.cuts[z] {
                knots.push(crest);
                let other = u(z - 1, crest);
                values.push(other + share * (u(z, crest) - other));
            }
        }
    }
    Beta::new(knots, values, below, above)
}

#[cfg(test)]
mod tests {
    use super::super::dual::Dual;
    use super::super::intervals::best;
    use super::*;
    use crate::levels::Levels;
    use ldp_core::Epsilon;
    use ldp_core::model::{Gaussian, StudentT};

    #[test]
    fn for_two_reports_it_is_the_guess_of_the_paper() {
        // β(x) = 2tτ|x| − t² with t = τ√(2/π).
        let gaussian = Gaussian::new(1.0).unwrap();
        let levels = Levels::new(&gaussian, 0.0).unwrap();
        for epsilon in [0.2, 1.0, 1.9f64] {
            let found = best(&levels, Epsilon::new(epsilon).unwrap()).unwrap();
            let beta = tent(&levels, &found).unwrap();
            let tau = (0.5 * epsilon).tanh();
            let t = tau * std::f64::consts::FRAC_2_PI.sqrt();
            for x in [-2.0, -0.3, 0.0, 0.7, 3.0f64] {
                assert!((beta.at(x) - (2.0 * t * tau * x.abs() - t * t)).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn its_integral_is_the_information() {
        // Whether or not it is feasible: that is how its shares are chosen.
        for epsilon in [0.5, 2.1, 3.0, 5.0, 7.5] {
            let student = StudentT::new(3.0, 1.0).unwrap();
            let levels = Levels::new(&student, 0.0).unwrap();
            let found = best(&levels, Epsilon::new(epsilon).unwrap()).unwrap();
            let beta = tent(&levels, &found).unwrap();
            let integral = Dual::new(&levels, &beta, epsilon).integral();
            assert!((integral.value / found.information - 1.0).abs() < 1e-13);
        }
    }
}
