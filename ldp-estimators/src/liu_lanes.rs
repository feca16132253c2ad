//! The sequential quantile over many replications side by side.
//!
//! One replication is a chain: the next question waits for the last answer. Several at a time keep the processor busy, and
//! the report at a guess q needs no user, only a random word and the probability of a report 1 at q: it is a tally of one
//! user, drawn from its exact law. [`Brackets`] decide most words without that probability, and those left by the very
//! number that [`Tallies`](ldp_core::drive::Tallies) would have used; so the estimates are the same to the bit.

use crate::Rescaled;
use crate::brackets::Brackets;
use crate::liu::{Liu, LiuEstimate, LiuState};
use ldp_core::drive::falls_below;
use ldp_core::erased::{InLanes, Setting, replicate_tallies};
use ldp_core::error::require;
use ldp_core::seed::{Purpose, Streams};
use ldp_core::wide::widened;
use ldp_core::{Error, Finite, Rescale, Result};
use std::ops::Range;

/// Replications side by side: enough to hide the wait for an answer, few enough for the registers.
const LANES: usize = 16;

/// Random words drawn ahead for every lane, so that the generators stay in registers.
const AHEAD: usize = 128;

impl InLanes for Liu {
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&LiuEstimate),
    ) -> Result<()> {
        if self.batch != 1 {
            return replicate_tallies(self, setting, replications, visit);
        }
        Walk::new(self, 1.0, setting)?.all(replications, &mut |estimate| {
            visit(&estimate);
            Ok(())
        })
    }
}

impl InLanes for Rescaled<Liu> {
    fn replicate_in_lanes(
        &self,
        setting: &Setting<'_>,
        replications: Range<u64>,
        visit: &mut dyn FnMut(&LiuEstimate),
    ) -> Result<()> {
        let (unit, sigma) = self.parts();
        if unit.batch != 1 {
            return replicate_tallies(self, setting, replications, visit);
        }
        Walk::new(unit, sigma, setting)?.all(replications, &mut |estimate| {
            visit(&if sigma == 1.0 { estimate } else { estimate.rescale(sigma)? });
            Ok(())
        })
    }
}

/// The replications of one setting: the protocol at unit variance, and what it is asked on.
struct Walk<'a> {
    liu: &'a Liu,
    sigma: f64,
    setting: &'a Setting<'a>,
    brackets: Brackets,
}

/// Several replications, the same thing of each side by side.
struct Lanes<const N: usize> {
    position: [f64; N],
    path: [f64; N],
    squares: [f64; N],
    cross: [f64; N],
}

impl<'a> Walk<'a> {
    fn new(liu: &'a Liu, sigma: f64, setting: &'a Setting<'a>) -> Result<Self> {
        if setting.users == 0 {
            return Err(Error::TooFew { name: "users", least: 1, value: 0 });
        }
        setting.model.check_theta(setting.theta)?;
        // Where guesses will be: from the start to nearly all values, and a little more.
        let start = liu.question.threshold();
        let quantile = |p| setting.model.quantile(setting.theta, p) / sigma;
        let (low, high) = (quantile(0.001).min(start), quantile(0.999).max(start));
        let margin = (high - low) / 16.0;
        Ok(Self { liu, sigma, setting, brackets: Brackets::new(low - margin, high + margin) })
    }

    fn all(mut self, replications: Range<u64>, visit: &mut dyn FnMut(LiuEstimate) -> Result<()>) -> Result<()> {
        let mut next = replications.start;
        while next < replications.end {
            next += match replications.end - next {
                1 => self.lanes::<1>(next, visit)?,
                2 | 3 => self.lanes::<2>(next, visit)?,
                4..8 => self.lanes::<4>(next, visit)?,
                8..16 => self.lanes::<8>(next, visit)?,
                _ => self.lanes::<LANES>(next, visit)?,
            };
        }
        Ok(())
    }

    /// The `N` replications from `first` on; returns how many they are.
    fn lanes<const N: usize>(&mut self, first: u64, visit: &mut dyn FnMut(LiuEstimate) -> Result<()>) -> Result<u64> {
        let users = self.setting.users;
        let start = self.liu.question.threshold();
        let mut streams = Streams::<N>::new(self.setting.seed, Purpose::Tally, first, 0);
        let mut lanes = Lanes { position: [start; N], path: [0.0; N], squares: [0.0; N], cross: [0.0; N] };
        let mut words = [[0u64; N]; AHEAD];
        let mut answered = 0;
        widened(
            #[inline(always)]
            || -> Result<()> {
                while answered < users {
                    let rounds = (users - answered).min(AHEAD as u64) as usize;
                    streams.fill(&mut words[..rounds]);
                    for row in &words[..rounds] {
                        answered += 1;
                        self.round(&mut lanes, answered, row)?;
                    }
                }
                Ok(())
            },
        )?;
        for lane in 0..N {
            let Lanes { position, path, squares, cross } = &lanes;
            let (position, path, squares, cross) = (position[lane], path[lane], squares[lane], cross[lane]);
            visit(self.liu.estimate(LiuState { left: 0, answered, position, path, squares, cross })?)?;
        }
        Ok(N as u64)
    }

    /// One user of every lane: [`LiuState`]'s own step, for all of them at once.
    #[inline(always)]
    fn round<const N: usize>(&mut self, lanes: &mut Lanes<N>, user: u64, words: &[u64; N]) -> Result<()> {
        let mut towards = [0.0; N];
        let mut any = false;
        for (towards, (&position, &word)) in towards.iter_mut().zip(lanes.position.iter().zip(words)) {
            let (one, open) = self.brackets.report(position, word);
            *towards = self.liu.moves[usize::from(one)];
            any |= open;
        }
        if any {
            self.decide(&lanes.position, words, &mut towards)?;
        }
        let (step, number, start) = (Liu::step(user), user as f64, self.liu.question.threshold());
        for (lane, towards) in towards.into_iter().enumerate() {
            lanes.position[lane] += step * towards;
            lanes.path[lane] += lanes.position[lane] - start;
            lanes.squares[lane] += lanes.path[lane] * lanes.path[lane];
            lanes.cross[lane] += number * lanes.path[lane];
        }
        Ok(())
    }

    /// Decides what the brackets leave open, by the probability of a report 1 itself.
    #[cold]
    #[inline(never)]
    fn decide(&mut self, positions: &[f64], words: &[u64], towards: &mut [f64]) -> Result<()> {
        let Self { liu, sigma, setting, brackets } = self;
        let one = |position: f64| {
            let question = liu.question.at(position)?;
            let question = if *sigma == 1.0 { question } else { question.rescale(*sigma)? };
            let mut law = [0.0; 2];
            question.marginal(setting.model, setting.theta, &mut law);
            let p = law[1] / (law[0] + law[1]);
            require((0.0..=1.0).contains(&p), "report probability", "between 0 and 1", p)?;
            Ok(p)
        };
        for ((&position, &word), towards) in positions.iter().zip(words).zip(towards) {
            // All lanes again: filling a cell for one may have decided the next.
            let (sure, open) = brackets.report(position, word);
            let report = if open {
                brackets.fill(position, one)?;
                falls_below(word, one(position)?)
            } else {
                sure
            };
            *towards = liu.moves[usize::from(report)];
        }
        Ok(())
    }
}
