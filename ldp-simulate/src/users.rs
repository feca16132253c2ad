//! Simulated users: every value drawn, every report privatised.

use crate::draw::Draw;
use crate::seed::{BLOCK, Purpose, SimulationRng, stream};
use ldp_core::error::{Error, Result};
use ldp_core::mechanism::Mechanism;
use ldp_core::staged::{Group, Population};
use ldp_core::tally::Tally;

/// Values drawn ahead, so that the model is asked once per chunk and not once per user.
const CHUNK: usize = 1024;

/// The users of one replication at `users` fidelity.
///
/// User i holds the same value whichever protocol asks. One by one (the default) a report takes the user's own
/// word of the noise stream, which makes a run bit-equal to a run over the wire; [`in_blocks`](Self::in_blocks)
/// lets the mechanism privatise many values at once: the same law, faster.
///
/// ```
/// use ldp_simulate::Users;
/// use ldp_core::model::Gaussian;
/// let model = Gaussian::new(1.0)?;
/// let mut users = Users::new(&model, 0.5, 2, 42)?;
/// let (first, _) = users.next_user()?;
/// users.restart(0);
/// assert_eq!(users.next_user()?.0, first);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Users<'m, M: ?Sized> {
    model: &'m M,
    theta: f64,
    users: u64,
    seed: u64,
    replication: u64,
    in_blocks: bool,
    next: u64,
    data: SimulationRng,
    noise: SimulationRng,
    buffer: Vec<f64>,
}

impl<'m, M: Draw + ?Sized> Users<'m, M> {
    /// `users` users with values from the model at `theta`, replication 0 of `seed`.
    pub fn new(model: &'m M, theta: f64, users: u64, seed: u64) -> Result<Self> {
        model.check_theta(theta)?;
        let (data, noise) = (stream(seed, Purpose::Data, 0, 0), stream(seed, Purpose::Noise, 0, 0));
        let buffer = Vec::with_capacity(CHUNK);
        Ok(Self { model, theta, users, seed, replication: 0, in_blocks: false, next: 0, data, noise, buffer })
    }

    /// Privatises whole slices of users instead of one by one.
    #[must_use]
    pub fn in_blocks(mut self) -> Self {
        self.in_blocks = true;
        self
    }

    /// Fresh users: those of another replication.
    pub fn restart(&mut self, replication: u64) {
        self.replication = replication;
        self.next = 0;
        self.buffer.clear();
    }

    /// The next user: its value, and the generator its report takes its words from.
    #[inline]
    pub fn next_user(&mut self) -> Result<(f64, &mut SimulationRng)> {
        let at = self.refill(1)?;
        if at >= self.buffer.len() {
            return Err(Error::RoundSize { asked: 1, left: 0 });
        }
        self.next += 1;
        Ok((self.buffer[at], &mut self.noise))
    }

    /// Makes the next user's value available and returns its place in the buffer.
    #[inline]
    fn refill(&mut self, wanted: u64) -> Result<usize> {
        let at = (self.next % CHUNK as u64) as usize;
        if at == 0 {
            self.draw_chunk(wanted)?;
        }
        Ok(at)
    }

    #[inline(never)]
    fn draw_chunk(&mut self, wanted: u64) -> Result<()> {
        if self.next >= self.users {
            return Err(Error::RoundSize { asked: wanted, left: 0 });
        }
        if self.next.is_multiple_of(BLOCK) {
            let block = self.next / BLOCK;
            self.data = stream(self.seed, Purpose::Data, self.replication, block);
            self.noise = stream(self.seed, Purpose::Noise, self.replication, block);
        }
        self.buffer.resize((self.users - self.next).min(CHUNK as u64) as usize, 0.0);
        self.model.draw(self.theta, &mut self.data, &mut self.buffer);
        Ok(())
    }
}

impl<Q, T, M> Population<Q, T> for Users<'_, M>
where
    Q: Mechanism<Input = f64>,
    T: Tally<Report = Q::Report>,
    M: Draw + ?Sized,
{
    /// Inlined for a single user, so that a strictly sequential protocol keeps its question and tally in registers.
    #[inline(always)]
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        if group.users == 1 {
            let (value, noise) = self.next_user()?;
            return tally.push(group.question.privatize(&value, noise), 1);
        }
        self.answer_many(group, tally)
    }
}

impl<M: Draw + ?Sized> Users<'_, M> {
    #[inline(never)]
    fn answer_many<Q, T>(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()>
    where
        Q: Mechanism<Input = f64>,
        T: Tally<Report = Q::Report>,
    {
        let mut left = group.users;
        while left > 0 {
            let from = self.refill(left)?;
            let to = self.buffer.len().min(from.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
            if from >= to {
                return Err(Error::RoundSize { asked: left, left: 0 });
            }
            let values = &self.buffer[from..to];
            if self.in_blocks {
                group.question.simulate_all(values, &mut self.noise, tally)?;
            } else {
                for value in values {
                    tally.push(group.question.privatize(value, &mut self.noise), 1)?;
                }
            }
            left -= values.len() as u64;
            self.next += values.len() as u64;
        }
        Ok(())
    }
}
