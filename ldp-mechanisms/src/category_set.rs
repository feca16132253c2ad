//! Sets of categories as reports, and how often each category was in one.

use ldp_core::steady::{choose, least, mask};
use ldp_core::{Error, Result, Tally};
use serde::{Deserialize, Serialize};

/// The most categories of a set: a message from the wire must not make its reader run out of memory.
pub(crate) const MOST_CATEGORIES: u32 = 1 << 24;

/// A set of categories out of 0..d: the report of [`UnaryEncoding`](crate::UnaryEncoding) and
/// [`SubsetSelection`](crate::SubsetSelection).
///
/// One bit per category in memory; in JSON the members in increasing order.
///
/// ```
/// use ldp_mechanisms::CategorySet;
/// let set = CategorySet::new(5, &[0, 3])?;
/// assert!(set.contains(3) && !set.contains(4));
/// assert_eq!(set.members().collect::<Vec<_>>(), [0, 3]);
/// assert!(CategorySet::new(5, &[5]).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawSet", into = "RawSet")]
pub struct CategorySet {
    categories: u32,
    words: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSet {
    categories: u32,
    members: Vec<u32>,
}

impl TryFrom<RawSet> for CategorySet {
    type Error = Error;
    fn try_from(RawSet { categories, members }: RawSet) -> Result<Self> {
        // One set, one spelling.
        if !members.is_sorted_by(|left, right| left < right) {
            return Err(Error::Unsupported { what: "a set of categories", needs: "members that strictly increase" });
        }
        Self::new(categories, &members)
    }
}

impl From<CategorySet> for RawSet {
    fn from(set: CategorySet) -> Self {
        Self { categories: set.categories, members: set.members().collect() }
    }
}

impl CategorySet {
    /// The set of these members out of 0..`categories`, in any order.
    pub fn new(categories: u32, members: &[u32]) -> Result<Self> {
        check_categories(categories)?;
        let mut set = Self::empty(categories);
        for &category in members {
            if category >= categories {
                return Err(Error::Report { report: category, reports: categories });
            }
            set.insert(category);
        }
        Ok(set)
    }

    fn empty(categories: u32) -> Self {
        Self { categories, words: vec![0; categories.div_ceil(64) as usize] }
    }

    /// `category` must be one of the set's categories.
    fn insert(&mut self, category: u32) {
        self.words[category as usize / 64] |= 1 << (category % 64);
    }

    /// The set of the categories for which `is_member` says so, asked in order. Takes the same time for all sets.
    pub(crate) fn collect(categories: u32, mut is_member: impl FnMut(u32) -> bool) -> Self {
        let mut set = Self::empty(categories);
        for v in 0..categories {
            set.words[v as usize / 64] |= u64::from(is_member(v)) << (v % 64);
        }
        set
    }

    /// A set of the numbers 0..`categories` − 1 made one of all categories but `without`, in order, and then `without` itself
    /// put in if `with_it`. In the same time for all of them.
    pub(crate) fn around(others: &[u64], categories: u32, without: u32, with_it: bool) -> Self {
        let mut set = Self::empty(categories);
        let mut carry = 0;
        for ((word, &others), first) in set.words.iter_mut().zip(others).zip((0u32..).step_by(64)) {
            // Bits below the place stay, the others make room for it.
            let (from, first) = (u64::from(without), u64::from(first));
            let low = choose(from < first + 64, ((1 << (from % 64)) - 1) & mask(from >= first), u64::MAX);
            let moved = ((others & !low) << 1) | carry;
            *word = (others & low) | moved;
            carry = (others & !low) >> 63;
            *word |= mask(with_it & (from / 64 == first / 64)) & (1 << (from % 64));
        }
        set
    }

    /// d, out of how many categories the set is.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// Whether a category is in the set.
    #[must_use]
    pub fn contains(&self, category: u32) -> bool {
        self.words.get(category as usize / 64).is_some_and(|word| word >> (category % 64) & 1 == 1)
    }

    /// How many categories are in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no category is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members, increasing.
    pub fn members(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).step_by(64).zip(&self.words).flat_map(|(first, &word)| {
            let rest = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
            rest.take_while(|&rest| rest != 0).map(move |rest| first + rest.trailing_zeros())
        })
    }
}

/// At least 2 categories, and not too many.
pub(crate) fn check_categories(categories: u32) -> Result<()> {
    let value = u64::from(categories);
    if categories < 2 {
        return Err(Error::TooFew { name: "categories", least: 2, value });
    }
    if categories > MOST_CATEGORIES {
        return Err(Error::TooMany { name: "categories", most: MOST_CATEGORIES.into(), value });
    }
    Ok(())
}

/// The category of a value: a whole number as it is, anything else by the nearest cell of
/// $(-\infty, 1), [1, 2), \dots, [d-1, \infty)$.
pub(crate) fn category(input: f64, categories: u32) -> u32 {
    // The conversion truncates, saturates, and makes zero of what is not a number.
    least((input as u32).into(), (categories - 1).into()) as u32
}

/// The probabilities of those cells under a model, into `law`.
#[cfg(feature = "simulate")]
pub(crate) fn cell_masses<M: ldp_core::Cdf + ?Sized>(categories: u32, model: &M, theta: f64, law: &mut Vec<f64>) {
    law.extend((0..categories).map(|v| {
        let low = if v == 0 { f64::NEG_INFINITY } else { f64::from(v) };
        let high = if v + 1 == categories { f64::INFINITY } else { f64::from(v + 1) };
        model.mass(theta, low, high)
    }));
}

/// The share of the next category among those left: one for the last, and never outside [0, 1] by rounding.
#[cfg(feature = "simulate")]
pub(crate) fn share(mass: f64, rest: f64, last: bool) -> f64 {
    if last || !(rest > 0.0) { 1.0 } else { (mass / rest).clamp(0.0, 1.0) }
}

/// How many users had each category in their set.
///
/// ```
/// use ldp_core::Tally;
/// use ldp_mechanisms::{CategorySet, SetCounts};
/// let mut counts = SetCounts::new(3);
/// counts.push(CategorySet::new(3, &[0, 2])?, 1)?;
/// counts.push(CategorySet::new(3, &[2])?, 4)?;
/// assert_eq!((counts.counts(), counts.users()), (&[1, 0, 5][..], 5));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawCounts")]
pub struct SetCounts {
    counts: Vec<u64>,
    users: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCounts {
    counts: Vec<u64>,
    users: u64,
}

impl TryFrom<RawCounts> for SetCounts {
    type Error = Error;
    fn try_from(RawCounts { counts, users }: RawCounts) -> Result<Self> {
        let mut tally = Self { counts: vec![0; counts.len()], users: 0 };
        tally.add(&counts, users)?;
        Ok(tally)
    }
}

impl SetCounts {
    /// An empty tally of sets out of 0..`categories`.
    #[must_use]
    pub fn new(categories: u32) -> Self {
        Self { counts: vec![0; categories as usize], users: 0 }
    }

    /// How many sets had each category.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Adds the sets of `users` users at once: `counts[v]` of them had category v.
    pub fn add(&mut self, counts: &[u64], users: u64) -> Result<()> {
        self.check(counts.len())?;
        if let Some(&count) = counts.iter().find(|&&count| count > users) {
            return Err(Error::Inconsistent { what: "sets with a category", count, limit: users });
        }
        let sum = self.users.checked_add(users);
        self.users = sum.ok_or(Error::TallyOverflow { users: self.users, times: users })?;
        // No count is above the number of users, so none of these sums overflows.
        self.counts.iter_mut().zip(counts).for_each(|(count, more)| *count += more);
        Ok(())
    }

    fn check(&self, found: usize) -> Result<()> {
        let expected = self.counts.len();
        if expected == found { Ok(()) } else { Err(Error::TallyAlphabet { expected, found }) }
    }
}

/// The share of users with each category in their set, zeros if nobody answered; the tally must be of so many.
pub(crate) fn shares(counts: &SetCounts, categories: u32) -> Result<Vec<f64>> {
    let (expected, found) = (categories as usize, counts.counts.len());
    if expected != found {
        return Err(Error::Length { what: "counts of categories", expected, found });
    }
    let users = counts.users.max(1) as f64;
    Ok(counts.counts.iter().map(|&count| count as f64 / users).collect())
}

impl Tally for SetCounts {
    type Report = CategorySet;

    fn push(&mut self, report: CategorySet, times: u64) -> Result<()> {
        self.check(report.categories() as usize)?;
        let sum = self.users.checked_add(times);
        self.users = sum.ok_or(Error::TallyOverflow { users: self.users, times })?;
        for category in report.members() {
            self.counts[category as usize] += times;
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.add(&other.counts, other.users)
    }

    fn users(&self) -> u64 {
        self.users
    }
}
