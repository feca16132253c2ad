//! Several sequential quantiles, step by step side by side.
//!
//! One replication is a chain: the next question waits for the last answer. Several at a time keep the processor busy, and
//! the report at a guess q needs no user, only a random word and the probability of a report 1 at q: it is a tally of one
//! user, drawn from its exact law. [`Brackets`] decide most words without that probability, and those left by the very
//! number that [`Tallies`](ldp_simulate::Tallies) would have used; so the estimates are the same to the bit.
//!
//! Reports are decided lane by lane, on whole numbers that follow the guesses: then the chain is a table look-up and six
//! operations of a cycle each. The guesses and their sums only follow, for several lanes at once. With AVX2 a user takes
//! 1.5 ns, of which the random word takes 0.3. Left to the compiler to decide for several lanes at once, reports took longer.

use crate::brackets::{Brackets, FOLLOWED, Table};
use crate::liu::{Liu, LiuState, measured_from};
use ldp_bulk::simd::with_avx2;
use ldp_core::error::require;
use ldp_core::{Finite, Rescale, Result};
use ldp_simulate::Setting;
use ldp_simulate::falls_below;

/// Replications side by side, at most: random words are drawn for all of them at once.
pub(crate) const LANES: usize = 16;

/// Lanes that go together: enough to hide the wait for the table, few enough for the registers.
const TOGETHER: usize = 4;

/// The protocol at unit variance, and what it is asked on.
pub(crate) struct Walk<'a> {
    liu: &'a Liu,
    sigma: f64,
    setting: &'a Setting<'a>,
    brackets: Brackets,
}

/// A round: the number of its user, and what a report changes.
#[derive(Clone, Copy, Default)]
struct Turn {
    number: f64,
    /// The bits of what a report 0 moves a guess by, and those that differ for a report 1.
    down: u64,
    differ: u64,
    /// A report 0 moves a place by this, a report 1 by so much more.
    back: i64,
    apart: i64,
}

/// A few lanes, the same thing of each side by side.
#[derive(Clone, Copy, Default)]
struct Group {
    start: [f64; TOGETHER],
    position: [f64; TOGETHER],
    path: [f64; TOGETHER],
    squares: [f64; TOGETHER],
    cross: [f64; TOGETHER],
    before: [f64; TOGETHER],
    swing: [f64; TOGETHER],
    /// The positions as [`Brackets`] follow them.
    places: [i64; TOGETHER],
}

impl<'a> Walk<'a> {
    /// A walk from some of these starts; `None` where it has to be made one after another.
    pub(crate) fn new(liu: &'a Liu, sigma: f64, setting: &'a Setting<'a>, starts: &[f64]) -> Option<Self> {
        // Where guesses will be: from the starts to nearly all values, and a little more.
        let quantile = |p| setting.model.quantile(setting.theta, p) / sigma;
        let (low, high) = starts
            .iter()
            .fold((quantile(0.001), quantile(0.999)), |(low, high), &start| (start.min(low), start.max(high)));
        let margin = (high - low) / 16.0;
        Some(Self { liu, sigma, setting, brackets: Brackets::new(low - margin, high + margin)? })
    }

    /// Whether all starts are where guesses were thought to be.
    pub(crate) fn covers(&self, starts: &[f64]) -> bool {
        starts.iter().all(|&start| self.brackets.covers(start))
    }

    /// Where `N` replications are after `users` users, with the next random words of each from `words`, which is to be inlined.
    pub(crate) fn run<const N: usize>(
        &self,
        start: [f64; N],
        mut words: impl FnMut(&mut [[u64; N]]),
        users: u64,
    ) -> Result<[LiuState; N]> {
        const { assert!(N <= LANES) };
        let mut groups = [Group::default(); LANES / TOGETHER];
        for (lane, start) in start.into_iter().enumerate() {
            let group = &mut groups[lane / TOGETHER];
            group.start[lane % TOGETHER] = start;
            group.position[lane % TOGETHER] = start;
        }
        with_avx2(
            #[inline(always)]
            || self.blocks(&mut groups, &mut words, users),
        )?;
        Ok(std::array::from_fn(|lane| groups[lane / TOGETHER].state(lane % TOGETHER, users)))
    }

    #[inline(always)]
    fn blocks<const N: usize>(
        &self,
        groups: &mut [Group],
        draw: &mut impl FnMut(&mut [[u64; N]]),
        users: u64,
    ) -> Result<()> {
        let mut words = [[0; N]; FOLLOWED];
        let mut turns = [Turn::default(); FOLLOWED];
        let mut steps = [0.0; FOLLOWED];
        let mut answered = 0;
        let from = measured_from(users);
        while answered < users {
            if answered == from {
                groups.iter_mut().for_each(Group::measured);
            }
            let rounds = (users - answered).min(FOLLOWED as u64) as usize;
            let (words, turns, steps) = (&mut words[..rounds], &mut turns[..rounds], &mut steps[..rounds]);
            draw(words);
            Liu::steps(answered + 1, steps);
            for ((turn, &mut step), user) in turns.iter_mut().zip(steps).zip(answered + 1..) {
                *turn = self.turn(step, user);
            }
            for (group, first) in groups.iter_mut().zip((0..N).step_by(TOGETHER)) {
                self.block(group, first, words, turns)?;
            }
            answered += rounds as u64;
        }
        Ok(())
    }

    #[inline(always)]
    fn turn(&self, step: f64, user: u64) -> Turn {
        let [down, up] = self.liu.moves.map(|towards| step * towards);
        let back = self.brackets.distance(down);
        let apart = self.brackets.distance(up) - back;
        Turn { number: user as f64, down: down.to_bits(), differ: down.to_bits() ^ up.to_bits(), back, apart }
    }

    /// A block of rounds of the group whose first lane is `first`.
    #[inline(always)]
    fn block<const N: usize>(&self, group: &mut Group, first: usize, words: &[[u64; N]], turns: &[Turn]) -> Result<()> {
        group.places = group.position.map(|position| self.brackets.place(position));
        let mut round = 0;
        loop {
            round += group.run(self.brackets.table(), first, &words[round..], &turns[round..]);
            if round == words.len() {
                return Ok(());
            }
            self.settle(group, &words[round][first..], &turns[round])?;
            round += 1;
        }
    }

    /// A round that the brackets leave open for some lane: decided by the probability of a report 1 itself.
    #[cold]
    #[inline(never)]
    fn settle(&self, group: &mut Group, words: &[u64], turn: &Turn) -> Result<()> {
        let Self { liu, sigma, setting, brackets } = self;
        let one = |position: f64| {
            let question = liu.question.at(position)?.rescale(*sigma)?;
            let mut law = [0.0; 2];
            question.marginal(setting.model, setting.theta, &mut law);
            let p = law[1] / (law[0] + law[1]);
            require((0.0..=1.0).contains(&p), "report probability", "between 0 and 1", p)?;
            Ok(p)
        };
        let mut reports = [0; TOGETHER];
        for (lane, (&word, report)) in words.iter().zip(&mut reports).enumerate() {
            let place = group.places[lane];
            *report = match brackets.table().report(place, word) {
                Some(sure) => sure >> 63,
                None => {
                    brackets.fill(place, one)?;
                    -i64::from(falls_below(word, one(group.position[lane])?))
                }
            };
            group.places[lane] = turn.next(place, *report);
        }
        group.advance(&reports, turn);
        Ok(())
    }
}

impl Turn {
    /// Where a report moves a place. Reports have all bits or none.
    #[inline(always)]
    fn next(&self, place: i64, report: i64) -> i64 {
        place + self.back + (report & self.apart)
    }

    /// How far a report moves a guess.
    ///
    /// Bits and no choice between two numbers, of which the compiler would make a branch where it cannot take several lanes.
    #[inline(always)]
    fn moved(&self, report: i64) -> f64 {
        f64::from_bits(self.down ^ (report.cast_unsigned() & self.differ))
    }
}

impl Group {
    /// As many rounds as the table decides for all lanes, of which there are `N` in all and here those from `first` on.
    #[inline(always)]
    fn run<const N: usize>(&mut self, table: &Table, first: usize, words: &[[u64; N]], turns: &[Turn]) -> usize {
        // A copy, which stays in registers: there is no call in this loop.
        let mut group = *self;
        let mut rounds = 0;
        'rounds: for (row, turn) in words.iter().zip(turns) {
            let mut reports = [0; TOGETHER];
            let mut places = group.places;
            for lane in 0..TOGETHER.min(N - first) {
                let Some(report) = table.report(places[lane], row[first + lane]) else { break 'rounds };
                reports[lane] = report >> 63;
                places[lane] = turn.next(places[lane], reports[lane]);
            }
            group.places = places;
            group.advance(&reports, turn);
            rounds += 1;
        }
        *self = group;
        rounds
    }

    /// [`LiuState`]'s own step, for all lanes at once.
    #[inline(always)]
    fn advance(&mut self, reports: &[i64; TOGETHER], turn: &Turn) {
        for (lane, &report) in reports.iter().enumerate() {
            self.position[lane] += turn.moved(report);
            let away = self.position[lane] - self.start[lane];
            self.path[lane] += away;
            self.squares[lane] += self.path[lane] * self.path[lane];
            self.cross[lane] += turn.number * self.path[lane];
            self.swing[lane] += away * away;
        }
    }

    /// [`LiuState::measured`], for all lanes at once.
    fn measured(&mut self) {
        (self.before, self.swing) = (self.path, [0.0; TOGETHER]);
    }

    fn state(&self, lane: usize, answered: u64) -> LiuState {
        let Self { position, path, squares, cross, before, swing, .. } = self;
        let (position, path, squares, cross) = (position[lane], path[lane], squares[lane], cross[lane]);
        let (since, before, swing) = (measured_from(answered), before[lane], swing[lane]);
        LiuState { left: 0, answered, position, path, squares, cross, since, before, swing }
    }
}
