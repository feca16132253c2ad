//! What can be drawn: values of a family, and the tally of many users at once.

use crate::normals;
use crate::seed::SimulationRng;
use ldp_core::model::{Cdf, Model, Score};
use ldp_core::{Mechanism, Result, Tally};

/// A [`Model`] of real observations with the generator fixed, so that it can stand behind a `dyn`.
///
/// The simulation drivers ask for values a block at a time: one virtual call per block, none per user.
pub trait Draw: Send + Sync {
    /// Fills `out` with independent draws from $P_\theta$, in order.
    fn draw(&self, theta: f64, rng: &mut SimulationRng, out: &mut [f64]);

    /// Whether `theta` lies in the parameter space.
    fn check_theta(&self, theta: f64) -> Result<()>;
}

impl<M: Model<Observation = f64> + Send + Sync> Draw for M {
    fn draw(&self, theta: f64, rng: &mut SimulationRng, out: &mut [f64]) {
        if let Some([mean, deviation]) = self.gaussian(theta) {
            return normals::fill(
                rng,
                out,
                #[inline(always)]
                |z| mean + deviation * z,
            );
        }
        // A local generator stays in registers.
        let mut local = rng.clone();
        out.iter_mut().for_each(|x| *x = self.sample(theta, &mut local));
        *rng = local;
    }

    fn check_theta(&self, theta: f64) -> Result<()> {
        self.check(theta)
    }
}

/// A family with everything the built-in ones have, as a registry holds it.
pub trait AnyModel: Draw + Cdf + Score {}
impl<M: Draw + Cdf + Score> AnyModel for M {}

/// A mechanism whose tally under a model can be drawn at once, without users.
///
/// Every [`Finite`](ldp_core::Finite) mechanism has it: its counts are multinomial. Implement it where reports are too many to be
/// numbered, but what the tally `T` keeps of them has a law that can be drawn.
pub trait DrawTally<T: Tally<Report = Self::Report>>: Mechanism {
    /// The probabilities that [`draw_tally`](Self::draw_tally) needs under a model, into `law`, which is empty.
    fn law<M: Cdf + ?Sized>(&self, model: &M, theta: f64, law: &mut Vec<f64>);

    /// Pushes the answers of `users` users into `tally`: exactly the law of asking them one by one.
    fn draw_tally(&self, law: &[f64], users: u64, rng: &mut SimulationRng, tally: &mut T) -> Result<()>;

    /// The first count that [`draw_tally`](Self::draw_tally) draws, as probabilities of failure and success, if it is a binomial one
    /// of all users: of two reports how many are 1, of more how many are 0. A driver may have it in a table, and calls
    /// [`draw_rest`](Self::draw_rest) instead. Implement both or neither.
    fn first_count(&self, _law: &[f64]) -> Option<[f64; 2]> {
        None
    }

    /// What [`draw_tally`](Self::draw_tally) does once the first count is known.
    fn draw_rest(&self, first: u64, law: &[f64], users: u64, rng: &mut SimulationRng, tally: &mut T) -> Result<()> {
        let _ = first;
        self.draw_tally(law, users, rng, tally)
    }
}
