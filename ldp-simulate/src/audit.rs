//! A population that notes what it was asked.

use ldp_core::epsilon::Epsilon;
use ldp_core::error::Result;
use ldp_core::mechanism::Mechanism;
use ldp_core::staged::{Group, Population};

/// Wraps a population and keeps the number of rounds and the largest ε that anybody was asked at.
#[derive(Debug)]
pub struct Audit<P> {
    population: P,
    rounds: u64,
    epsilon: Option<Epsilon>,
}

impl<P> Audit<P> {
    /// Nothing asked yet.
    pub fn new(population: P) -> Self {
        Self { population, rounds: 0, epsilon: None }
    }

    /// How many rounds were asked.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The largest ε among the questions, computed from each question's own numbers: the guarantee of the run.
    pub fn epsilon(&self) -> Option<Epsilon> {
        self.epsilon
    }
}

impl<Q: Mechanism, T, P: Population<Q, T>> Population<Q, T> for Audit<P> {
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        let epsilon = group.question.epsilon();
        if self.epsilon.is_none_or(|largest| epsilon > largest) {
            self.epsilon = Some(epsilon);
        }
        self.population.answer(group, tally)
    }

    fn round(&mut self, groups: &[Group<Q>]) -> Result<()> {
        self.rounds += 1;
        self.population.round(groups)
    }
}
