//! The law of the reports of a question under a model, and how it moves with the parameter.

use crate::space::Space;
use ldp_core::Finite;
use ldp_core::model::{Cdf, Score};

/// How far a law is leant over, in units of score: any distance does, because the law of reports is affine in that of values.
const LEAN: f64 = 0.05;

/// A question and the family of the values.
pub(super) struct Law<'a, Q, M: ?Sized> {
    pub(super) question: &'a Q,
    pub(super) model: &'a M,
    pub(super) space: Space,
}

impl<Q: Finite, M: Cdf + Score + ?Sized> Law<'_, Q, M> {
    /// $P_\theta(Z = z)$ for every report.
    pub(super) fn at(&self, theta: f64) -> Vec<f64> {
        let mut law = vec![0.0; self.question.reports() as usize];
        self.question.marginal(self.model, theta, &mut law);
        // What a mechanism computes as a difference may be below zero by rounding.
        law.iter_mut().for_each(|m| *m = m.max(0.0));
        law
    }

    /// $\partial_\theta P_\theta(Z = z)$ for every report.
    ///
    /// A law of reports is affine in the law of the values, so its derivative is the difference quotient along
    /// $F_\theta \pm h \partial_\theta F_\theta$, exactly and for every h; no other parameter is looked at.
    pub(super) fn slope(&self, theta: f64) -> Vec<f64> {
        let lean = self.lean(theta);
        let mut ends = [lean, -lean].map(|lean| {
            let mut law = vec![0.0; self.question.reports() as usize];
            self.question.marginal(&Leaning { model: self.model, lean }, theta, &mut law);
            law
        });
        let [up, down] = &mut ends;
        up.iter_mut().zip(&*down).for_each(|(up, down)| *up = (*up - down) / (2.0 * lean));
        std::mem::take(up)
    }

    /// The Fisher information of one report.
    pub(super) fn information(&self, theta: f64) -> f64 {
        let terms = self.at(theta).into_iter().zip(self.slope(theta)).filter(|(m, _)| *m > 0.0);
        terms.map(|(m, d)| d / m * d).sum()
    }

    /// The unit of score of a value; of the size of the parameter where the family has none.
    pub(super) fn unit(&self, theta: f64) -> f64 {
        let unit = self.model.information(theta).sqrt().recip();
        if unit > 0.0 && unit.is_finite() { unit } else { 1e-3 * theta.abs().max(1.0) }
    }

    /// Small enough that what leans over is still a law, also next to an end of the parameter space.
    fn lean(&self, theta: f64) -> f64 {
        let ends = [self.space.low.value, self.space.high.value];
        let nearest = ends.into_iter().map(|end| (theta - end).abs()).fold(f64::INFINITY, f64::min);
        let most = if nearest > 0.0 { 0.5 * nearest } else { f64::INFINITY };
        (LEAN * self.unit(theta)).min(most).max(f64::MIN_POSITIVE)
    }
}

/// The model moved along its derivative: $F_\theta + h \partial_\theta F_\theta$, a law up to signs.
struct Leaning<'a, M: ?Sized> {
    model: &'a M,
    lean: f64,
}

impl<M: Cdf + ?Sized> Cdf for Leaning<'_, M> {
    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.model.cdf(theta, x) + self.lean * self.model.cdf_dtheta(theta, x)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        self.model.cdf_dtheta(theta, x)
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.model.mass(theta, low, high) + self.lean * self.model.mass_dtheta(theta, low, high)
    }

    fn mass_dtheta(&self, theta: f64, low: f64, high: f64) -> f64 {
        self.model.mass_dtheta(theta, low, high)
    }

    fn quantile(&self, theta: f64, p: f64) -> f64 {
        self.model.quantile(theta, p)
    }
}

/// How far two laws are apart, as an arc of Fisher's metric: $\lVert 2\sqrt m - 2\sqrt{m'} \rVert$.
pub(super) fn apart(a: &[f64], b: &[f64]) -> f64 {
    let term = |(&a, &b): (&f64, &f64)| {
        let roots = a.sqrt() + b.sqrt();
        // The difference of the roots has no digits where laws are alike.
        if roots > 0.0 { 2.0 * (a - b) / roots } else { 0.0 }
    };
    a.iter().zip(b).map(term).map(|d| d * d).sum::<f64>().sqrt()
}
