//! Real data, one row per user.
//!
//! Rows are assigned to users, and so to rounds, at random without replacement: a file sorted by value must not
//! put its smallest values into the first round. The assignment is a permutation that is computed, not stored,
//! so memory does not grow with the number of rows.

use ldp_bulk::BulkRng;
use ldp_bulk::simd::wipe;
use ldp_core::error::{Error, Result, require};
use ldp_core::mechanism::{Mechanism, check_deployable};
use ldp_core::staged::{Group, Population};
use ldp_core::tally::Tally;
use rand::rand_core::TryRng;
use rand::rngs::ChaCha12Rng;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::StandardNormal;
use std::convert::Infallible;
use std::ops::Range;

/// Rows of real data, one private value each.
pub trait RowStore {
    /// How many rows there are.
    fn rows(&self) -> u64;

    /// The value of one row.
    fn value(&mut self, row: u64) -> Result<f64>;

    /// Every value, in the order of rows.
    fn scan(&mut self, visit: &mut dyn FnMut(u64, f64) -> Result<()>) -> Result<()>;
}

impl<S: RowStore + ?Sized> RowStore for &mut S {
    fn rows(&self) -> u64 {
        (**self).rows()
    }

    fn value(&mut self, row: u64) -> Result<f64> {
        (**self).value(row)
    }

    fn scan(&mut self, visit: &mut dyn FnMut(u64, f64) -> Result<()>) -> Result<()> {
        (**self).scan(visit)
    }
}

impl RowStore for &[f64] {
    fn rows(&self) -> u64 {
        self.len() as u64
    }

    fn value(&mut self, row: u64) -> Result<f64> {
        Ok(self[row as usize])
    }

    fn scan(&mut self, visit: &mut dyn FnMut(u64, f64) -> Result<()>) -> Result<()> {
        (0u64..).zip(self.iter()).try_for_each(|(row, &value)| visit(row, value))
    }
}

/// Rows to which Gaussian noise is added, anew whenever a row is read.
///
/// Values with a larger σ need a coarser search: a protocol for a Gaussian mean is then told $\sqrt{\sigma^2 + s^2}$ as the
/// standard deviation. Answers are as private as without, because a question is ε-private for whatever value it is asked about. A row
/// answers once, so it has noise once.
///
/// ```
/// use ldp_simulate::{Blurred, RowNoise, RowStore};
/// let mut rows = Blurred::new(&[1.5, 2.5][..], 0.1, RowNoise::system()?)?;
/// assert_eq!(rows.rows(), 2);
/// assert!((rows.value(1)? - 2.5).abs() < 2.0);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Blurred<S> {
    rows: S,
    deviation: f64,
    noise: RowNoise,
}

impl<S: RowStore> Blurred<S> {
    /// Rows with noise of this standard deviation.
    pub fn new(rows: S, deviation: f64, noise: RowNoise) -> Result<Self> {
        require(deviation > 0.0 && deviation.is_finite(), "blur", "positive and finite", deviation)?;
        Ok(Self { rows, deviation, noise })
    }
}

impl<S: RowStore> RowStore for Blurred<S> {
    fn rows(&self) -> u64 {
        self.rows.rows()
    }

    fn value(&mut self, row: u64) -> Result<f64> {
        let normal: f64 = self.noise.sample(StandardNormal);
        Ok(self.rows.value(row)? + self.deviation * normal)
    }

    fn scan(&mut self, visit: &mut dyn FnMut(u64, f64) -> Result<()>) -> Result<()> {
        let Self { rows, deviation, noise } = self;
        rows.scan(&mut |row, value| {
            let normal: f64 = noise.sample(StandardNormal);
            visit(row, value + *deviation * normal)
        })
    }
}

/// Which row is which user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A random permutation: right for every file.
    Random,
    /// The order of the file: right only if the rows are exchangeable.
    File,
}

/// Groups up to this size are read row by row, larger ones in one pass over the file.
const FEW: u64 = 1 << 16;

/// Where the noise of rows comes from.
///
/// A seeded generator does not pass for the system's:
///
/// ```compile_fail,E0308
/// # use ldp_simulate::{Order, RowNoise, Rows};
/// # use rand::{SeedableRng, rngs::ChaCha12Rng};
/// Rows::new(&[0.5][..], Order::Random, RowNoise::System(ChaCha12Rng::seed_from_u64(1)));
/// ```
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one per run, and never moved in a loop")]
pub enum RowNoise {
    /// From the system: nobody can repeat it.
    System(BulkRng),
    /// From a seed, to show how a run goes: whoever knows the seed sees every value, so the result is not private.
    Demonstration(ChaCha12Rng),
}

impl RowNoise {
    /// Noise for real data.
    pub fn system() -> Result<Self> {
        BulkRng::new().map(Self::System)
    }

    /// Repeatable noise, which hides nothing.
    ///
    /// ```
    /// use ldp_simulate::RowNoise;
    /// assert!(!RowNoise::demonstration(7).is_private() && RowNoise::system()?.is_private());
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn demonstration(seed: u64) -> Self {
        Self::Demonstration(ChaCha12Rng::seed_from_u64(seed))
    }

    /// Whether it hides anything.
    #[must_use]
    pub fn is_private(&self) -> bool {
        matches!(self, Self::System(_))
    }
}

impl TryRng for RowNoise {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(match self {
            Self::System(rng) => rng.next_u32(),
            Self::Demonstration(rng) => rng.next_u32(),
        })
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(match self {
            Self::System(rng) => rng.next_u64(),
            Self::Demonstration(rng) => rng.next_u64(),
        })
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        match self {
            Self::System(rng) => rng.fill_bytes(bytes),
            Self::Demonstration(rng) => rng.fill_bytes(bytes),
        }
        Ok(())
    }
}

/// The rows of a store as a population: the values are real.
///
/// ```
/// use ldp_simulate::{Order, RowNoise, Rows};
/// use ldp_core::{Bits, Epsilon, FiniteChannel, Group, Kernel, Partition, Population, Tally};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let group = Group { question: FiniteChannel::new(Partition::Threshold(0.0), kernel)?, users: 3 };
/// let values = [0.3, -1.0, 0.2];
/// let mut rows = Rows::new(&values[..], Order::Random, RowNoise::system()?)?;
/// let mut tally = Bits::default();
/// rows.answer(&group, &mut tally)?;
/// assert_eq!(tally.users(), 3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub struct Rows<S> {
    store: S,
    assignment: Assignment,
    noise: RowNoise,
    next: u64,
}

impl<S: RowStore> Rows<S> {
    /// A population of the store's rows, nobody asked yet.
    pub fn new(store: S, order: Order, mut noise: RowNoise) -> Result<Self> {
        let rows = store.rows();
        if rows == 0 {
            return Err(Error::TooFew { name: "rows", least: 1, value: 0 });
        }
        let assignment = match order {
            Order::File => Assignment::File,
            Order::Random if rows <= FEW => Assignment::shuffled(rows as u32, &mut noise),
            Order::Random => Assignment::Computed(Feistel::new(rows, &mut noise)),
        };
        Ok(Self { store, assignment, noise, next: 0 })
    }
}

impl<Q, T, S> Population<Q, T> for Rows<S>
where
    Q: Mechanism<Input = f64>,
    T: Tally<Report = Q::Report>,
    S: RowStore,
{
    fn answer(&mut self, group: &Group<Q>, tally: &mut T) -> Result<()> {
        check_deployable::<Q>()?;
        let left = self.store.rows() - self.next;
        if group.users > left {
            return Err(Error::RoundSize { asked: group.users, left });
        }
        let users = self.next..self.next + group.users;
        self.next = users.end;
        let noise = &mut self.noise;
        let mut reply = |value: f64, tally: &mut T| tally.push(group.question.privatize(&value, noise), 1);
        if group.users <= FEW {
            // In the order of the file, as the pass below would meet them: same reports either way.
            for row in self.assignment.rows(users) {
                reply(self.store.value(row)?, tally)?;
            }
            Ok(())
        } else {
            let assignment = &self.assignment;
            self.store.scan(&mut |row, value| {
                if users.contains(&assignment.user(row)) { reply(value, tally) } else { Ok(()) }
            })
        }
    }
}

/// A bijection between users and rows.
enum Assignment {
    File,
    /// `rows[user]`; few enough to hold.
    Shuffled(Vec<u32>),
    Computed(Feistel),
}

/// Who answered when is nobody's business: with the noise it would tell more than the reports.
impl Drop for Assignment {
    fn drop(&mut self) {
        match self {
            Self::File => (),
            Self::Shuffled(order) => wipe(order),
            Self::Computed(feistel) => wipe(&mut feistel.keys),
        }
    }
}

impl Assignment {
    fn shuffled<R: Rng>(rows: u32, rng: &mut R) -> Self {
        let mut order: Vec<u32> = (0..rows).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.random_range(0..=last));
        }
        Self::Shuffled(order)
    }

    /// The rows of a few users, in the order of the file.
    fn rows(&self, users: Range<u64>) -> Vec<u64> {
        let mut rows: Vec<u64> = match self {
            Self::File => users.collect(),
            Self::Shuffled(order) => users.map(|user| u64::from(order[user as usize])).collect(),
            Self::Computed(feistel) => users.map(|user| feistel.row(user)).collect(),
        };
        rows.sort_unstable();
        rows
    }

    /// The user of a row of a large file.
    fn user(&self, row: u64) -> u64 {
        match self {
            Self::File => row,
            Self::Computed(feistel) => feistel.user(row),
            Self::Shuffled(_) => unreachable!("a shuffled file has at most {FEW} rows, never more than a few users"),
        }
    }
}

/// A keyed pseudorandom permutation of 0..size: a Feistel network on the next even number of bits, repeated
/// until it lands inside (at most four times on average).
struct Feistel {
    size: u64,
    half: u32,
    keys: [u64; 8],
}

impl Feistel {
    fn new<R: Rng>(size: u64, rng: &mut R) -> Self {
        let bits = 64 - (size - 1).leading_zeros();
        Self { size, half: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    fn row(&self, user: u64) -> u64 {
        self.walk(user, |left, right, key| (right, left ^ self.round(right, key)), self.keys.iter())
    }

    fn user(&self, row: u64) -> u64 {
        self.walk(row, |left, right, key| (right ^ self.round(left, key), left), self.keys.iter().rev())
    }

    fn walk<'a>(
        &self,
        start: u64,
        step: impl Fn(u64, u64, u64) -> (u64, u64),
        keys: impl Iterator<Item = &'a u64> + Clone,
    ) -> u64 {
        let mut place = start;
        loop {
            let halves = (place >> self.half, place & self.mask());
            let (left, right) = keys.clone().fold(halves, |(left, right), &key| step(left, right, key));
            place = left << self.half | right;
            if place < self.size {
                return place;
            }
        }
    }

    fn mask(&self) -> u64 {
        (1 << self.half) - 1
    }

    fn round(&self, half: u64, key: u64) -> u64 {
        let mut z = (half ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (z >> 32) & self.mask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::{Bits, Epsilon, FiniteChannel, Kernel, Partition};

    #[test]
    fn the_computed_assignment_is_a_bijection() {
        for size in [2, 3, 5, 64, 65, 1000, 70_001] {
            let feistel = Feistel::new(size, &mut ChaCha12Rng::seed_from_u64(size));
            let mut seen = vec![false; size as usize];
            for user in 0..size {
                let row = feistel.row(user);
                assert_eq!(feistel.user(row), user);
                assert!(!std::mem::replace(&mut seen[row as usize], true));
            }
        }
    }

    /// The mean row of the first half of users: its standard deviation under a random assignment is
    /// size/√(12 size); six of them, α < 1e-8. Catches an assignment that follows the file.
    #[test]
    fn the_first_users_come_from_everywhere() {
        let size = 200_000;
        for seed in 0..20 {
            let feistel = Feistel::new(size, &mut ChaCha12Rng::seed_from_u64(seed));
            let mean = (0..size / 2).map(|user| feistel.row(user) as f64).sum::<f64>() / (size / 2) as f64;
            let limit = 6.0 * size as f64 / (12.0 * size as f64).sqrt();
            let centre = (size - 1) as f64 / 2.0;
            assert!((mean - centre).abs() < limit, "seed {seed}: {mean}");
            let mutant = (0..size / 2).map(|user| user as f64).sum::<f64>() / (size / 2) as f64;
            assert!((mutant - centre).abs() > limit);
        }
    }

    #[test]
    fn every_row_answers_exactly_once_by_either_path() {
        // At a huge ε reports are the truth, so two groups must count each positive row once. 100,001 rows, sorted:
        // the first group is read by a pass, the second row by row.
        let values: Vec<f64> = (0..100_001).map(|i| f64::from(i) - 70_000.5).collect();
        let kernel = Kernel::response(Epsilon::new(44.0).unwrap(), 2).unwrap();
        let question = FiniteChannel::new(Partition::Threshold(0.0), kernel).unwrap();
        let mut rows = Rows::new(&values[..], Order::Random, RowNoise::demonstration(9)).unwrap();
        let (mut first, mut second) = (Bits::default(), Bits::default());
        rows.answer(&Group { question: question.clone(), users: 70_000 }, &mut first).unwrap();
        rows.answer(&Group { question: question.clone(), users: 30_001 }, &mut second).unwrap();
        assert_eq!((first.users(), second.users()), (70_000, 30_001));
        assert_eq!(first.ones() + second.ones(), 30_000);
        assert!(first.ones().abs_diff(21_000) < 600, "{}", first.ones());
        let more = rows.answer(&Group { question, users: 1 }, &mut Bits::default());
        assert!(matches!(more, Err(Error::RoundSize { asked: 1, left: 0 })));
    }

    #[test]
    fn no_rows_is_an_error() {
        assert!(matches!(
            Rows::new(&[][..], Order::Random, RowNoise::demonstration(9)),
            Err(Error::TooFew { name: "rows", .. })
        ));
    }
}
