//! One kind of question, at every parameter of a family.

use ldp_core::model::{Cdf, Score, Symmetry};
use ldp_core::{Epsilon, FiniteChannel, Rescale, Result};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What is best to be asked about a family at a parameter.
pub(crate) type Best<M> = fn(&M, f64, Epsilon) -> Result<FiniteChannel>;

/// Grid points per unit of score, where a family has no symmetry. A question that stands a twentieth of a unit off
/// has lost in the order of a thousandth of its information.
const PER_UNIT: f64 = 10.0;

/// The best question of some kind at every parameter of a family: worked out once where the family is symmetric, else once
/// for every point of a grid that is asked for.
pub(crate) struct Questions<M: ?Sized> {
    model: Arc<M>,
    epsilon: Epsilon,
    best: Best<M>,
    known: Known,
}

enum Known {
    /// At 0.
    Location(FiniteChannel),
    /// At 1.
    Scale(FiniteChannel),
    /// By the bits of the grid point; `None` where there is none.
    Grid(RwLock<HashMap<u64, Option<FiniteChannel>>>),
}

impl<M: Cdf + Score + ?Sized> Questions<M> {
    pub fn new(model: Arc<M>, epsilon: Epsilon, best: Best<M>) -> Result<Self> {
        let known = match model.symmetry() {
            Symmetry::Location => Known::Location(best(&model, 0.0, epsilon)?),
            Symmetry::Scale => Known::Scale(best(&model, 1.0, epsilon)?),
            _ => Known::Grid(RwLock::default()),
        };
        Ok(Self { model, epsilon, best, known })
    }

    /// The question at a parameter.
    pub fn at(&self, theta: f64) -> Result<FiniteChannel> {
        self.model.admits(theta)?;
        match &self.known {
            Known::Location(question) => question.clone().shifted(theta),
            Known::Scale(question) => question.clone().rescale(theta),
            Known::Grid(_) => (self.best)(&self.model, theta, self.epsilon),
        }
    }

    /// The question at a parameter or at the nearest point of the grid; `None` where there is none, as for a parameter so
    /// large that nothing lies between two cuts.
    pub fn near(&self, theta: f64) -> Option<FiniteChannel> {
        let Known::Grid(kept) = &self.known else {
            return self.at(theta).ok();
        };
        let point = self.grid_point(theta)?;
        // Whoever is first works it out, and everybody gets the same: threads can at worst do the work twice.
        if let Some(found) = kept.read().unwrap_or_else(PoisonError::into_inner).get(&point.to_bits()) {
            return found.clone();
        }
        let question = self.at(point).ok();
        kept.write().unwrap_or_else(PoisonError::into_inner).insert(point.to_bits(), question.clone());
        question
    }

    /// The nearest multiple of a power of two that is at most a tenth of a unit of score at θ, and smaller where the
    /// parameter space ends: it depends on θ alone.
    fn grid_point(&self, theta: f64) -> Option<f64> {
        let step = 1.0 / (PER_UNIT * self.model.information(theta).sqrt());
        if !(step > 0.0 && step.is_finite()) {
            return None;
        }
        let mut step = step.log2().floor().exp2();
        while step > 0.0 {
            let point = (theta / step).round() * step;
            if self.model.admits(point).is_ok() {
                return Some(point);
            }
            step *= 0.5;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::Mechanism;
    use ldp_core::model::{Bernoulli, Exponential, Gaussian, Poisson};
    use ldp_fisher::{exact, optimal};
    use std::sync::atomic::{AtomicU32, Ordering};

    fn response<M: Cdf + Score + ?Sized>(model: &M, theta: f64, epsilon: Epsilon) -> Result<FiniteChannel> {
        Ok(optimal::response(model, theta, epsilon)?.channel)
    }

    #[test]
    fn moved_questions_are_as_good_as_the_best() {
        fn check<M: Cdf + Score + 'static>(model: M, thetas: &[f64], tolerance: f64) {
            let (model, epsilon) = (Arc::new(model), Epsilon::new(3.3).unwrap());
            let questions = Questions::new(Arc::clone(&model), epsilon, response).unwrap();
            for &theta in thetas {
                let best = optimal::response(&*model, theta, epsilon).unwrap();
                let near = questions.near(theta).unwrap();
                let found = exact(&near, &*model, theta).unwrap().value;
                assert!((found / best.information - 1.0).abs() < tolerance, "{found} of {}", best.information);
                assert!(near.epsilon() <= epsilon);
                assert_eq!(questions.near(theta).unwrap(), near);
            }
        }
        check(Gaussian::new(0.3).unwrap(), &[-7.0, 0.0, 1e3], 1e-9);
        check(Exponential, &[1e-5, 0.7, 1e9], 1e-9);
        check(Poisson, &[1e-3, 0.37, 2.5, 61.3], 2e-3);
        check(Bernoulli, &[1e-6, 0.3, 0.999], 2e-3);
    }

    #[test]
    fn points_of_the_grid_are_near_and_in_the_space() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let poisson = Questions::new(Arc::new(Poisson), epsilon, response).unwrap();
        for theta in [1e-300, 0.003, 0.37, 2.5, 61.3, 1e9] {
            let point = poisson.grid_point(theta).unwrap();
            assert!(point > 0.0 && (point - theta).abs() <= theta.max(0.05 * theta.sqrt()), "{point} for {theta}");
            // Near enough to be taken for the same.
            assert_eq!(poisson.grid_point(theta * (1.0 + 1e-9)), Some(point));
        }
        let bernoulli = Questions::new(Arc::new(Bernoulli), epsilon, response).unwrap();
        for theta in [1e-12, 0.5, 1.0 - 1e-12] {
            let point = bernoulli.grid_point(theta).unwrap();
            assert!(point > 0.0 && point < 1.0, "{point} for {theta}");
        }
    }

    #[test]
    fn every_point_of_the_grid_is_worked_out_once() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let count: Best<Poisson> = |model, theta, epsilon| {
            CALLS.fetch_add(1, Ordering::Relaxed);
            response(model, theta, epsilon)
        };
        let questions = Questions::new(Arc::new(Poisson), Epsilon::new(1.0).unwrap(), count).unwrap();
        let first = questions.near(2.5).unwrap();
        for i in 0..100 {
            assert_eq!(questions.near(2.5 + 1e-4 * f64::from(i)).unwrap(), first);
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn no_question_where_numbers_run_out() {
        let epsilon = Epsilon::new(4.0).unwrap();
        let gaussian = Questions::new(Arc::new(Gaussian::new(1.0).unwrap()), epsilon, response).unwrap();
        assert!(gaussian.near(1e300).is_none() && gaussian.near(f64::NAN).is_none());
        let exponential = Questions::new(Arc::new(Exponential), epsilon, response).unwrap();
        assert!(exponential.near(1.7e308).is_none() && exponential.near(0.0).is_none());
    }
}
