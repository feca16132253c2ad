//! Simulated users who hold vectors.

use crate::draw::Draw;
use crate::seed::{BLOCK, Purpose, SimulationRng, stream};
use ldp_core::error::{Error, Result};
use ldp_core::mechanism::Mechanism;
use ldp_core::staged::{Group, Population};
use ldp_core::tally::Tally;

/// Users whose vectors are drawn ahead.
const CHUNK: u64 = 64;

/// The most numbers that are drawn ahead: 128 MB a thread.
const MOST_NUMBERS: u64 = 1 << 24;

/// The most coordinates: a tally has 48 bytes for each.
const MOST_COORDINATES: u64 = 1 << 20;

/// The users of one replication, each with a vector of independent coordinates: coordinate j from the model at
/// `theta[j]`. Every vector is drawn, every report privatised.
///
/// User i holds the same vector whichever protocol asks, and each report takes its words from the noise stream in the
/// order of users.
///
/// ```
/// use ldp_simulate::Vectors;
/// use ldp_core::model::Gaussian;
/// let model = Gaussian::new(1.0)?;
/// let mut users = Vectors::new(&model, &[0.0, 100.0], 2, 42)?;
/// let (vector, _) = users.next_user()?;
/// assert!(vector[0].abs() < 10.0 && (vector[1] - 100.0).abs() < 10.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Vectors<'m, M: ?Sized> {
    model: &'m M,
    theta: Vec<f64>,
    users: u64,
    seed: u64,
    replication: u64,
    next: u64,
    data: SimulationRng,
    noise: SimulationRng,
    /// The vectors of a chunk of users, one after another.
    buffer: Vec<f64>,
    /// One coordinate of a chunk of users.
    column: Vec<f64>,
}

/// Refuses more coordinates than memory can hold in a simulation of so many users, of whom 64 are drawn at a time.
///
/// ```
/// use ldp_simulate::check_vectors;
/// assert!(check_vectors(100_000, 1_000_000).is_ok());
/// let error = check_vectors(10_000_000, 100).unwrap_err();
/// assert!(error.to_string().ends_with("must be at most 262144, got 10000000"));
/// ```
pub fn check_vectors(dimension: usize, users: u64) -> Result<()> {
    let (name, value) = ("dimension of simulated vectors, of which 64 users are drawn at a time,", dimension as u64);
    let most = MOST_COORDINATES.min(MOST_NUMBERS / users.clamp(1, CHUNK));
    match value {
        0 => Err(Error::TooFew { name: "dimension", least: 1, value: 0 }),
        value if value > most => Err(Error::TooMany { name, most, value }),
        _ => Ok(()),
    }
}

impl<'m, M: Draw + ?Sized> Vectors<'m, M> {
    /// `users` users with as many coordinates as `theta` has, replication 0 of `seed`. [`check_vectors`] says how many that
    /// may be.
    pub fn new(model: &'m M, theta: &[f64], users: u64, seed: u64) -> Result<Self> {
        check_vectors(theta.len(), users)?;
        theta.iter().try_for_each(|&theta| model.check_theta(theta))?;
        let (data, noise) = (stream(seed, Purpose::Data, 0, 0), stream(seed, Purpose::Noise, 0, 0));
        let (buffer, column) = (Vec::new(), Vec::new());
        Ok(Self { model, theta: theta.to_vec(), users, seed, replication: 0, next: 0, data, noise, buffer, column })
    }

    /// Fresh users: those of another replication.
    pub fn restart(&mut self, replication: u64) {
        self.replication = replication;
        self.next = 0;
    }

    /// The next user: its vector, and the generator its report takes its words from.
    pub fn next_user(&mut self) -> Result<(&[f64], &mut SimulationRng)> {
        if self.next >= self.users {
            return Err(Error::RoundSize { asked: 1, left: 0 });
        }
        let at = (self.next % CHUNK) as usize;
        if at == 0 {
            self.draw_chunk();
        }
        self.next += 1;
        let dimension = self.theta.len();
        Ok((&self.buffer[at * dimension..(at + 1) * dimension], &mut self.noise))
    }

    fn draw_chunk(&mut self) {
        if self.next.is_multiple_of(BLOCK) {
            let block = self.next / BLOCK;
            self.data = stream(self.seed, Purpose::Data, self.replication, block);
            self.noise = stream(self.seed, Purpose::Noise, self.replication, block);
        }
        let (users, dimension) = ((self.users - self.next).min(CHUNK) as usize, self.theta.len());
        self.buffer.resize(users * dimension, 0.0);
        self.column.resize(users, 0.0);
        for (coordinate, &theta) in self.theta.iter().enumerate() {
            self.model.draw(theta, &mut self.data, &mut self.column);
            for (vector, &x) in self.buffer.chunks_exact_mut(dimension).zip(&self.column) {
                vector[coordinate] = x;
            }
        }
    }
}

impl<Q, T, M> Population<Q, T> for Vectors<'_, M>
where
    Q: Mechanism<Input = [f64]>,
    T: Tally<Report = Q::Report>,
    M: Draw + ?Sized,
{
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        for _ in 0..group.users {
            let (vector, noise) = self.next_user()?;
            tally.push(group.question.privatize(vector, noise), 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::Gaussian;

    #[test]
    fn users_are_the_same_again_and_others_in_another_replication() {
        let model = Gaussian::new(1.0).unwrap();
        let mut users = Vectors::new(&model, &[0.0, 10.0, -10.0], BLOCK + 70, 5).unwrap();
        let mut walk = |replication| {
            users.restart(replication);
            let mut kept = Vec::new();
            while let Ok((vector, _)) = users.next_user() {
                kept.push(vector.to_vec());
            }
            kept
        };
        let (first, second, again) = (walk(0), walk(1), walk(0));
        assert_eq!(first.len() as u64, BLOCK + 70);
        assert!(first == again && first[0] != second[0]);
        // No vector repeats, across chunks and blocks, and coordinates have their own means (six standard errors).
        assert!(first[0] != first[64] && first[0] != first[BLOCK as usize]);
        for (j, mean) in [0.0, 10.0, -10.0].into_iter().enumerate() {
            let average = first.iter().map(|vector| vector[j]).sum::<f64>() / first.len() as f64;
            assert!((average - mean).abs() < 6.0 / (first.len() as f64).sqrt(), "{average}");
        }
        assert!(Vectors::new(&model, &[], 3, 1).is_err());
        assert!(Vectors::new(&model, &[f64::NAN], 3, 1).is_err());
    }
}
