//! The likelihood of a parameter from the counts of one finite question, at one place.

use ldp_core::channel::two_64;
use ldp_core::model::{Cdf, Score};
use ldp_core::{FiniteChannel, Kernel};

/// What is known at one parameter.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) theta: f64,
    /// The logarithm of the likelihood, but for a constant.
    pub(crate) log: f64,
    /// U.
    pub(crate) score: f64,
    /// nI.
    pub(crate) information: f64,
}

impl Point {
    /// Whether its numbers can be used.
    pub(crate) fn usable(&self) -> bool {
        self.log.is_finite() && self.score.is_finite() && self.information.is_finite()
    }
}

pub(crate) struct Likelihood<'a, M: ?Sized> {
    pub(crate) question: &'a FiniteChannel,
    pub(crate) model: &'a M,
    counts: &'a [u64],
    pub(crate) users: f64,
    /// Of the cells: probabilities and their derivatives.
    masses: Vec<f64>,
    slopes: Vec<f64>,
    /// Of the reports: probabilities at the last place.
    law: Vec<f64>,
}

impl<'a, M: Cdf + Score + ?Sized> Likelihood<'a, M> {
    pub(crate) fn new(question: &'a FiniteChannel, model: &'a M, counts: &'a [u64]) -> Self {
        let cells = question.cells() as usize;
        let users = counts.iter().map(|&count| count as f64).sum();
        Self {
            question,
            model,
            counts,
            users,
            masses: vec![0.0; cells],
            slopes: vec![0.0; cells],
            law: Vec::with_capacity(counts.len()),
        }
    }

    /// The likelihood and its derivatives at a parameter.
    pub(crate) fn at(&mut self, theta: f64) -> Point {
        self.question.partition().masses(self.model, theta, &mut self.masses);
        self.question.partition().masses_dtheta(self.model, theta, &mut self.slopes);
        let mut point = Point { theta, log: 0.0, score: 0.0, information: 0.0 };
        let law = &mut self.law;
        law.clear();
        let mut add = |count: u64, m: f64, d: f64| {
            law.push(m);
            // A report that has lost its probability cannot have come.
            if count > 0 {
                point.log += count as f64 * m.ln();
                point.score += count as f64 * (d / m);
            }
            if m > 0.0 {
                point.information += self.users * (d / m) * d;
            }
        };
        match self.question.kernel() {
            &Kernel::Response { lie, .. } => {
                let contrast = (self.question.weight(0, 0) - lie) as f64 / two_64();
                let floor = lie as f64 / two_64();
                for ((&count, mass), slope) in self.counts.iter().zip(&self.masses).zip(&self.slopes) {
                    add(count, floor + contrast * mass, contrast * slope);
                }
            }
            Kernel::Dense(_) => {
                for (report, &count) in (0u32..).zip(self.counts) {
                    // The derivatives of the cells add up to zero, so only differences of weights count: of the integers.
                    let base = self.question.weight(0, report);
                    let (mut m, mut d) = (0.0, 0.0);
                    for (cell, (mass, slope)) in (0u32..).zip(self.masses.iter().zip(&self.slopes)) {
                        let weight = self.question.weight(cell, report);
                        m += weight as f64 / two_64() * mass;
                        d += (i128::from(weight) - i128::from(base)) as f64 / two_64() * slope;
                    }
                    add(count, m, d);
                }
            }
        }
        point
    }

    /// The probabilities of the reports at the place that was looked at last.
    pub(crate) fn law(&self) -> &[f64] {
        &self.law
    }
}
