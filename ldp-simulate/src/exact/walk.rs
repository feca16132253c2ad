//! The walk over all tallies of a protocol.

use super::children::Children;
use super::tallies::{self, Enumerated};
use super::{Countable, Gather};
use crate::draw::DrawTally;
use ldp_core::error::{Error, Result};
use ldp_core::mechanism::Finite;
use ldp_core::model::Cdf;
use ldp_core::special::binomial::{Law, Probabilities, Window};
use ldp_core::staged::{Group, Round, Step, StepOf};
use ldp_core::tally::Tally;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted, in the error that there are too many.
pub(super) const TALLIES: &str = "tallies of an exact sum";
/// Pieces of a round that are summed in parallel: fixed, so that the result does not depend on threads.
const PIECES: u64 = 32;
/// Rounds of other than one binary question are gone through up to this many tallies, drawn beyond.
const MOST_PRODUCT: f64 = (1u64 << 22) as f64;

/// What a round of several groups is taken to end in when the size of a sum is estimated.
const FEW: f64 = 64.0;

/// One of the two lattices of a thinned sum.
#[derive(Clone, Copy)]
pub(super) struct Lattice {
    /// Points per standard deviation.
    pub points: f64,
    /// Whether it is the one half a step further.
    pub second: bool,
}

/// What a part of the walk has brought.
pub(super) struct Part<G> {
    pub gather: G,
    pub lost: f64,
    /// Whether counts were passed over.
    pub thinned: bool,
    /// The standard error of the mean squared error, where a round was drawn.
    pub sampled: Option<f64>,
}

impl<G: Gather> Part<G> {
    pub fn new(gather: G) -> Self {
        Self { gather, lost: 0.0, thinned: false, sampled: None }
    }

    fn merge(&mut self, other: Self) {
        self.gather.merge(other.gather);
        self.lost += other.lost;
        self.thinned |= other.thinned;
        self.sampled = self.sampled.or(other.sampled);
    }
}

/// What the walk needs to know at every step.
pub(super) struct Walk<'w, E, M: ?Sized> {
    pub estimator: &'w E,
    pub model: &'w M,
    pub theta: f64,
    pub lattice: Option<Lattice>,
    pub most: u64,
    /// Tallies looked at so far.
    pub seen: &'w AtomicU64,
    pub seed: u64,
    pub draws: u64,
}

type Empty<'e, G> = &'e (dyn Fn() -> G + Sync);

impl<E: Countable, M: Cdf + Sync + ?Sized> Walk<'_, E, M> {
    /// Everything that can come after a step which has probability `weight`. Up to `budget` of it may be left out: half
    /// by this round's own window, the rest by what follows.
    pub fn node<G: Gather>(
        &self,
        step: StepOf<E>,
        weight: f64,
        budget: f64,
        empty: Empty<'_, G>,
        part: &mut Part<G>,
        parallel: bool,
    ) -> Result<()> {
        let (round, state) = match step {
            Step::Done(estimate) => {
                part.gather.push(weight, &estimate);
                return Ok(());
            }
            Step::Ask { round, state } => (round, state),
        };
        if weight <= budget {
            part.lost += weight;
            return Ok(());
        }
        let children = match round.groups() {
            [group] if group.question.reports() == 2 => {
                self.binary(group, &state, weight, budget, empty, part, parallel)?
            }
            _ => match self.several(&round, &state, weight, budget, part)? {
                Several::Summed(children) => children,
                Several::Drawn(children) => return self.drawn(children, budget, empty, part),
            },
        };
        self.below(children, budget / 2.0, empty, part, parallel)
    }

    /// The steps after the ones that were found, each with its share of the budget.
    fn below<G: Gather>(
        &self,
        children: Vec<(f64, StepOf<E>)>,
        budget: f64,
        empty: Empty<'_, G>,
        part: &mut Part<G>,
        parallel: bool,
    ) -> Result<()> {
        let share = budget / children.len().max(1) as f64;
        if !parallel || children.len() == 1 {
            return children
                .into_iter()
                .try_for_each(|(weight, step)| self.node(step, weight, share, empty, part, parallel));
        }
        let size = children.len().div_ceil(PIECES as usize);
        let mut pieces: Vec<Vec<_>> = Vec::new();
        let mut left = children.into_iter();
        loop {
            let piece: Vec<_> = left.by_ref().take(size).collect();
            if piece.is_empty() {
                break;
            }
            pieces.push(piece);
        }
        let work = |piece: Vec<(f64, StepOf<E>)>| {
            let mut part = Part::new(empty());
            for (weight, step) in piece {
                self.node(step, weight, share, empty, &mut part, false)?;
            }
            Ok(part)
        };
        merge(part, pieces.into_par_iter().map(work).collect())
    }

    /// A round of one binary question: the counts in a window.
    #[expect(clippy::too_many_arguments, reason = "one step of a recursion: all of it is the recursion's state")]
    fn binary<G: Gather>(
        &self,
        group: &Group<E::Question>,
        state: &E::State,
        weight: f64,
        budget: f64,
        empty: Empty<'_, G>,
        part: &mut Part<G>,
        parallel: bool,
    ) -> Result<Vec<(f64, StepOf<E>)>> {
        let law = self.law(group);
        let window = Window::of(&law, (budget / (4.0 * weight)).min(0.5));
        part.lost += weight * window.lost;
        let stride = self.stride(&law);
        let first = match self.lattice {
            // Multiples of the step: neighbouring steps of the walk then look at the same counts, and what is known about a
            // count need not be worked out again.
            Some(lattice) => window.first.next_multiple_of(stride) + if lattice.second { stride / 2 } else { 0 },
            None => window.first,
        };
        part.thinned |= stride > 1;
        let counts = (window.last + 1).saturating_sub(first).div_ceil(stride);
        self.spend(counts)?;
        let run = |ones: RangeInclusive<u64>, part: &mut Part<G>, children: &mut Children<StepOf<E>>| -> Result<()> {
            for (ones, probability) in Probabilities::of(law, *ones.start(), *ones.end(), stride) {
                let weight = weight * probability * stride as f64;
                let mut tally = self.estimator.tally(&group.question);
                tally.push(1, ones)?;
                tally.push(0, group.users - ones)?;
                match self.estimator.advance(state.clone(), std::slice::from_ref(&tally))? {
                    Step::Done(estimate) => part.gather.push(weight, &estimate),
                    step => children.push(weight, step)?,
                }
            }
            Ok(())
        };
        let mut children = Children::new();
        if !parallel {
            run(first..=window.last, part, &mut children)?;
            return Ok(children.into_steps());
        }
        let size = counts.div_ceil(PIECES).max(64) * stride;
        let starts: Vec<u64> = (first..=window.last).step_by(size as usize).collect();
        let work = |from: u64| {
            let (mut part, mut children) = (Part::new(empty()), Children::new());
            run(from..=window.last.min(from + size - 1), &mut part, &mut children)?;
            Ok((part, children))
        };
        let pieces: Vec<Result<_>> = starts.into_par_iter().map(work).collect();
        for piece in pieces {
            let (more, found) = piece?;
            part.merge(more);
            children.merge(found)?;
        }
        Ok(children.into_steps())
    }

    /// A round of several groups, or of a question with more than two reports.
    fn several<G>(
        &self,
        round: &Round<E::Question>,
        state: &E::State,
        weight: f64,
        budget: f64,
        part: &mut Part<G>,
    ) -> Result<Several<StepOf<E>>> {
        if let Some(outcomes) = self.estimator.outcomes(round, state, self.model, self.theta)? {
            part.lost += weight * outcomes.lost;
            let weighed = |(probability, step)| (weight * probability, step);
            return Ok(Several::Summed(outcomes.steps.into_iter().map(weighed).collect()));
        }
        let laws = self.laws(round);
        let tail = (budget / (2.0 * weight)).min(0.5);
        if tallies::size(round, &laws, tail) > MOST_PRODUCT {
            return self.draw(round, &laws, state, weight).map(Several::Drawn);
        }
        let mut children = Children::new();
        let mut visit = |probability: f64, answers: &[E::Tally]| {
            self.spend(1)?;
            children.push(weight * probability, self.estimator.advance(state.clone(), answers)?)
        };
        let empty: Vec<_> = round.groups().iter().map(|group| self.estimator.tally(&group.question)).collect();
        part.lost += weight * Enumerated::new(round, &laws, tail).each(empty, &mut visit)?;
        Ok(Several::Summed(children.into_steps()))
    }

    /// Steps after drawn tallies of a round, each as often as it came.
    fn draw(
        &self,
        round: &Round<E::Question>,
        laws: &[Vec<f64>],
        state: &E::State,
        weight: f64,
    ) -> Result<Vec<(f64, StepOf<E>)>> {
        let refused = Error::Unsupported {
            what: "an exact sum over this round",
            needs: "fewer tallies; simulate the protocol instead",
        };
        // Drawn is a round that most of the probability comes through, which is the first. Told before the draws, which may take
        // long.
        if weight < 0.5 {
            return Err(refused);
        }
        let mut children = Children::new();
        for draw in 0..self.draws {
            let mut rng = crate::seed::stream(self.seed, crate::seed::Purpose::Tally, draw, 0);
            let mut answers = Vec::with_capacity(laws.len());
            for (group, law) in round.groups().iter().zip(laws) {
                let mut tally = self.estimator.tally(&group.question);
                group.question.draw_tally(law, group.users, &mut rng, &mut tally)?;
                answers.push(tally);
            }
            children.push(weight / self.draws as f64, self.estimator.advance(state.clone(), &answers)?)?;
        }
        let steps = children.into_steps();
        // If nothing is left to be summed after the draw, it is a simulation and should be called one.
        if steps.iter().any(|(_, step)| matches!(step, Step::Ask { .. })) { Ok(steps) } else { Err(refused) }
    }

    /// What comes after a drawn round: the conditional mean squared errors, and from their spread a standard error.
    fn drawn<G: Gather>(
        &self,
        children: Vec<(f64, StepOf<E>)>,
        budget: f64,
        empty: Empty<'_, G>,
        part: &mut Part<G>,
    ) -> Result<()> {
        let share = budget / (2 * children.len()) as f64;
        let (mut mean, mut square, mut total) = (0.0, 0.0, 0.0);
        for (weight, step) in children {
            let mut own = Part::new(empty());
            self.node(step, weight, share, empty, &mut own, true)?;
            let squares = own.gather.squares();
            (total, mean, square) = (total + weight, mean + squares, square + squares * squares / weight);
            part.merge(own);
        }
        let (mean, square) = (mean / total, square / total);
        part.sampled = Some(total * ((square - mean * mean).max(0.0) / self.draws as f64).sqrt());
        Ok(())
    }

    /// About how many tallies come after a step, along the likeliest path.
    pub fn size(&self, step: StepOf<E>, budget: f64) -> Result<f64> {
        let (mut step, mut size) = (step, 1.0);
        // A protocol of more rounds than this is a sequential one, and has more tallies than numbers.
        for _ in 0..64 {
            let (round, state) = match step {
                Step::Done(_) => return Ok(size),
                Step::Ask { round, state } => (round, state),
            };
            step = match round.groups() {
                [group] if group.question.reports() == 2 => {
                    let law = self.law(group);
                    let window = Window::of(&law, (budget / 4.0).min(0.5));
                    size *= window.counts().div_ceil(self.stride(&law)) as f64;
                    let mut tally = self.estimator.tally(&group.question);
                    let ones = ((group.users as f64 * law.one) as u64).min(group.users);
                    tally.push(1, ones)?;
                    tally.push(0, group.users - ones)?;
                    self.estimator.advance(state, &[tally])?
                }
                groups => {
                    let laws = self.laws(&round);
                    // Too many to be gone through end in few different steps: that is what they are asked for.
                    let product = tallies::size(&round, &laws, budget / 2.0);
                    size *= if product > MOST_PRODUCT { FEW } else { product };
                    let likely = |(group, law): (&Group<E::Question>, &Vec<f64>)| {
                        tallies::likely(group.users, law, self.estimator.tally(&group.question))
                    };
                    let answers = groups.iter().zip(&laws).map(likely).collect::<Result<Vec<_>>>()?;
                    self.estimator.advance(state, &answers)?
                }
            };
        }
        Ok(f64::INFINITY)
    }

    /// Every how many counts of a round one is taken: a power of two.
    fn stride(&self, law: &Law) -> u64 {
        self.lattice.map_or(1, |lattice| 1 << ((law.deviation() / lattice.points) as u64).max(1).ilog2())
    }

    fn law(&self, group: &Group<E::Question>) -> Law {
        let mut law = [0.0; 2];
        group.question.marginal(self.model, self.theta, &mut law);
        Law::new(group.users, law[0], law[1])
    }

    fn laws(&self, round: &Round<E::Question>) -> Vec<Vec<f64>> {
        let law = |group: &Group<E::Question>| {
            let mut law = vec![0.0; group.question.reports() as usize];
            group.question.marginal(self.model, self.theta, &mut law);
            law
        };
        round.groups().iter().map(law).collect()
    }

    fn spend(&self, tallies: u64) -> Result<()> {
        let value = self.seen.fetch_add(tallies, Ordering::Relaxed).saturating_add(tallies);
        if value > self.most { Err(Error::TooMany { name: TALLIES, most: self.most, value }) } else { Ok(()) }
    }
}

/// The steps after a round of several groups.
enum Several<S> {
    Summed(Vec<(f64, S)>),
    Drawn(Vec<(f64, S)>),
}

/// Merges the parts in their order, so that it is always the first error that is reported.
fn merge<G: Gather>(part: &mut Part<G>, pieces: Vec<Result<Part<G>>>) -> Result<()> {
    pieces.into_iter().try_for_each(|piece| piece.map(|piece| part.merge(piece)))
}
