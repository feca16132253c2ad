//! What the benchmarks share: a strictly sequential toy protocol, through the framework and by hand.
//!
//! One user per round, 200,000 rounds: whatever the framework costs per round shows here undiluted.

use ldp_core::{
    Bits, Epsilon, Error, Group, Mechanism, Population, Result, Round, StagedEstimator, Step, StepOf, Tally,
};
use ldp_mechanisms::Sign;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::StandardNormal;

/// Follows the median: up a little on a plus, down a little on a minus, and averages the path.
#[derive(Clone, Copy)]
pub struct Walk {
    /// The question at the start of the walk.
    pub start: Sign,
}

/// Where the walk is.
#[derive(Clone, Copy)]
pub struct Position {
    at: f64,
    sum: f64,
    step: u64,
    left: u64,
}

impl Position {
    #[inline(always)]
    fn moved(self, plus: bool) -> Self {
        let Self { at, sum, step, left } = self;
        let length = 2.0 / ((step as f64).sqrt() + 100.0);
        let at = if plus { at + length } else { at - length };
        Self { at, sum: sum + at, step: step + 1, left: left - 1 }
    }
}

impl StagedEstimator for Walk {
    type Question = Sign;
    type Tally = Bits;
    type State = Position;
    type Estimate = f64;

    #[inline]
    fn tally(&self, _: &Sign) -> Bits {
        Bits::default()
    }

    fn begin(&self, users: u64) -> Result<StepOf<Self>> {
        let state = Position { at: self.start.threshold(), sum: 0.0, step: 1, left: users };
        Ok(Step::Ask { round: Round::one(self.start, 1), state })
    }

    #[inline]
    fn advance(&self, state: Position, answers: &[Bits]) -> Result<StepOf<Self>> {
        let [answer] = answers else {
            return Err(Error::TallyCount { expected: 1, found: answers.len() });
        };
        let state = state.moved(answer.ones() == 1);
        if state.left == 0 {
            return Ok(Step::Done(state.sum / (state.step - 1) as f64));
        }
        Ok(Step::Ask { round: Round::one(self.start.at(state.at)?, 1), state })
    }
}

/// Users drawn one at a time from one generator, as a hand-written loop would.
pub struct Drawn {
    rng: Xoshiro256PlusPlus,
}

impl Drawn {
    /// Users with values from N(0.5, 1).
    pub fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

impl<T: Tally<Report = u32>> Population<Sign, T> for Drawn {
    #[inline(always)]
    fn answer(&mut self, group: &Group<Sign>, tally: &mut T) -> Result<()> {
        if group.users == 1 {
            return self.one(group, tally);
        }
        (0..group.users).try_for_each(|_| self.one(group, tally))
    }
}

impl Drawn {
    #[inline(always)]
    fn one<T: Tally<Report = u32>>(&mut self, group: &Group<Sign>, tally: &mut T) -> Result<()> {
        let x = 0.5 + self.rng.sample::<f64, _>(StandardNormal);
        tally.push(group.question.privatize(&x, &mut self.rng), 1)
    }
}

/// The same walk over the same users, written out by hand.
pub fn walk_by_hand(start: f64, lie: u64, users: u64, seed: u64) -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut position = Position { at: start, sum: 0.0, step: 1, left: users };
    for _ in 0..users {
        let x = 0.5 + rng.sample::<f64, _>(StandardNormal);
        let plus = (x >= position.at) ^ (rng.next_u64() < lie);
        position = position.moved(plus);
    }
    position.sum / users as f64
}

/// The sign question all benchmarks ask: ε = 1 at 0.
pub fn question() -> Sign {
    Epsilon::new(1.0).and_then(|epsilon| Sign::new(epsilon, 0.0)).expect("valid numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_walks_are_the_same_walk() {
        let question = question();
        let framework = ldp_core::run(&Walk { start: question }, 10_000, &mut Drawn::new(7)).unwrap();
        assert_eq!(framework, walk_by_hand(0.0, question.lie(), 10_000, 7));
        assert!((framework - 0.5).abs() < 0.3);
    }
}
