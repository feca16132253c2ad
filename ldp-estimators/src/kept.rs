//! Answers that are asked for over and over.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Places for answers; a window of counts of ten million users fits.
const SLOTS: usize = 1 << 15;

/// The latest answers to questions that name a count, per thread: a question displaces the one before it in its place.
///
/// # Design
/// What a sign stage says is a function of a few integers and takes a tenth of a microsecond to microseconds; simulations
/// and exact sums ask about the same few thousand counts millions of times. A table by count is as fast as an array, and
/// never wrong: the whole question is compared.
pub(crate) struct Kept<K, V> {
    slots: Vec<Option<(K, V)>>,
}

impl<K: Copy + PartialEq, V: Copy> Kept<K, V> {
    /// Nothing yet, and no memory taken.
    pub const fn new() -> Self {
        Self { slots: Vec::new() }
    }

    /// The answer to `key`, whose place is `count`: kept, or worked out now.
    #[inline]
    pub fn get<E>(
        table: &'static LocalKey<RefCell<Self>>,
        count: u64,
        key: K,
        answer: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let kept = table.with_borrow(|table| match table.slots.get(place(count)) {
            Some(Some((known, value))) if *known == key => Some(*value),
            _ => None,
        });
        kept.map_or_else(|| Self::keep(table, count, key, answer), Ok)
    }

    /// Out of line, so that looking up stays small.
    #[inline(never)]
    fn keep<E>(
        table: &'static LocalKey<RefCell<Self>>,
        count: u64,
        key: K,
        answer: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        // Not borrowed meanwhile: an answer may need other answers.
        let value = answer()?;
        table.with_borrow_mut(|table| {
            if table.slots.is_empty() {
                table.slots.resize(SLOTS, None);
            }
            table.slots[place(count)] = Some((key, value));
        });
        Ok(value)
    }
}

#[inline]
fn place(count: u64) -> usize {
    count as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static TABLE: RefCell<Kept<(u64, u64), u64>> = const { RefCell::new(Kept::new()) };
    }

    #[test]
    fn kept_answers_are_those_of_the_same_question() {
        let ask =
            |count: u64, other: u64, answer: Result<u64, ()>| Kept::get(&TABLE, count, (count, other), move || answer);
        assert_eq!(ask(5, 0, Ok(1)), Ok(1));
        // Known now: a wrong answer is not even looked at. Another question in the same place is.
        assert_eq!(ask(5, 0, Ok(9)), Ok(1));
        assert_eq!(ask(5, 1, Ok(2)), Ok(2));
        assert_eq!(ask(5 + SLOTS as u64, 1, Ok(3)), Ok(3));
        assert_eq!(ask(5, 1, Ok(4)), Ok(4));
        // A failure is not kept.
        assert_eq!(ask(6, 0, Err(())), Err(()));
        assert_eq!(ask(6, 0, Ok(7)), Ok(7));
    }
}
