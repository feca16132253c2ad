//! The values of a spec's keys, read as what the builder wants.

use super::error::{Error, Result};
use super::{Key, KeyType, Spec, nearest};
use ldp_estimators::Share;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Read;

/// A key and value that names of streams leave out: they are older than this key.
const UNNAMED: (&str, &str) = ("scale", "auto");

/// The value of a file key that names none.
pub(super) const NO_FILE: &str = "none";

/// The keys that a spec gives for the mechanism that this key names.
fn nested(key: &Key, spec: &Spec) -> Vec<(String, String)> {
    if key.takes != KeyType::Mechanism {
        return Vec::new();
    }
    let own = |(name, value): &(String, String)| {
        let name = name.strip_prefix(key.name)?.strip_prefix('.')?;
        Some((name.to_owned(), value.clone()))
    };
    spec.pairs.iter().filter_map(own).collect()
}

/// The value of every key of an entry, given or default, and what a builder made of it.
///
/// Which keys play a part depends on the variant that others choose: without a pilot nobody asks where the mean may lie.
/// A builder reads what it uses, so what it has not read plays no part.
pub struct Values {
    name: &'static str,
    slots: Vec<Slot>,
}

/// A key with its value.
struct Slot {
    key: Key,
    value: String,
    given: bool,
    read: Cell<bool>,
    /// Whether its value chose a variant.
    choice: Cell<bool>,
    /// Whether its default does for these data after all.
    settled: Cell<bool>,
    /// The keys of the mechanism that it names: those given, and all of them once it is made.
    nested: RefCell<Vec<(String, String)>>,
}

impl Values {
    pub(super) fn new(name: &'static str, keys: &[Key], spec: &Spec) -> Self {
        let slot = |key: &Key| {
            let given = spec.pairs.iter().find(|(name, _)| name == key.name).map(|(_, value)| value.as_str());
            Slot {
                key: *key,
                value: given.unwrap_or(key.default).to_owned(),
                given: given.is_some(),
                read: Cell::new(false),
                choice: Cell::new(false),
                settled: Cell::new(false),
                nested: RefCell::new(nested(key, spec)),
            }
        };
        Self { name, slots: keys.iter().map(slot).collect() }
    }

    fn slot(&self, key: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.key.name == key)
    }

    fn raw(&self, key: &'static str) -> &str {
        self.slot(key).map_or("", |slot| {
            slot.read.set(true);
            &slot.value
        })
    }

    fn chosen(&self, key: &'static str) {
        if let Some(slot) = self.slot(key) {
            slot.choice.set(true);
        }
    }

    /// Says that the default of a key does for any data that the model allows.
    pub fn settle(&self, key: &'static str) {
        if let Some(slot) = self.slot(key) {
            slot.settled.set(true);
        }
    }

    /// The first key that was given and that the builder had no use for.
    pub(super) fn check_used(&self) -> Result<()> {
        let Some(unused) = self.slots.iter().find(|slot| slot.given && !slot.read.get()) else {
            return Ok(());
        };
        let choices = self.slots.iter().filter(|slot| slot.choice.get());
        let choices = choices.map(|slot| format!("{}={}", slot.key.name, slot.value)).collect();
        Err(Error::UnusedKey { name: self.name, key: unused.key.name, choices })
    }

    /// The keys that state what is known about the data, that play a part and that were left out.
    pub(super) fn untold(&self) -> Vec<Key> {
        let untold = |slot: &&Slot| slot.key.of_data && slot.read.get() && !slot.given && !slot.settled.get();
        self.slots.iter().filter(untold).map(|slot| slot.key).collect()
    }

    /// Both values as numbers, if the builder has used both.
    pub(super) fn both(&self, low: &'static str, high: &'static str) -> Option<[f64; 2]> {
        let used = |key| self.slot(key).filter(|slot| slot.read.get()).and_then(|slot| number(&slot.value));
        Some([used(low)?, used(high)?])
    }

    /// The canonical spec with every key spelled out, those without a part too. Studies name their streams by it.
    pub(super) fn full(&self) -> String {
        self.spelled(|slot| (slot.key.name, slot.value.as_str()) != UNNAMED)
    }

    fn spelled(&self, shown: impl Fn(&Slot) -> bool) -> String {
        let mut pairs = Vec::new();
        for slot in self.slots.iter().filter(|slot| shown(slot)) {
            let name = slot.key.name;
            pairs.push(format!("{name}={}", slot.value));
            pairs.extend(slot.nested.borrow().iter().map(|(key, value)| format!("{name}.{key}={value}")));
        }
        if pairs.is_empty() { self.name.to_owned() } else { format!("{}:{}", self.name, pairs.join(",")) }
    }

    fn error(&self, key: &'static str, wanted: &'static str) -> Error {
        Error::Value { name: self.name, key, wanted, value: self.raw(key).to_owned() }
    }

    /// A finite number.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn number(&self, key: &'static str) -> Result<f64> {
        number(self.raw(key)).ok_or_else(|| self.error(key, "a finite number"))
    }

    /// Finite numbers separated by /.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn numbers(&self, key: &'static str) -> Result<Vec<f64>> {
        let all = self.raw(key).split('/').map(|text| number(text.trim())).collect::<Option<Vec<_>>>();
        all.ok_or_else(|| self.error(key, "finite numbers separated by /"))
    }

    /// A whole number.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn count(&self, key: &'static str) -> Result<u64> {
        count(self.raw(key)).map_err(|wanted| self.error(key, wanted))
    }

    /// A whole number of 32 bits.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn small_count(&self, key: &'static str) -> Result<u32> {
        u32::try_from(self.count(key)?).map_err(|_| self.error(key, "at most 4294967295"))
    }

    /// A whole number, or `None` for the word `auto`.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn count_or_auto(&self, key: &'static str) -> Result<Option<u64>> {
        if self.raw(key) == "auto" {
            return Ok(None);
        }
        count(self.raw(key)).map(Some).map_err(|_| self.error(key, "a whole number or 'auto'"))
    }

    /// A finite number, or `None` for the word `auto`.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn number_or_auto(&self, key: &'static str) -> Result<Option<f64>> {
        if self.raw(key) == "auto" {
            return Ok(None);
        }
        number(self.raw(key)).map(Some).ok_or_else(|| self.error(key, "a finite number or 'auto'"))
    }

    /// A number of coordinates.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn dimension(&self, key: &'static str) -> Result<usize> {
        usize::try_from(self.count(key)?).map_err(|_| self.error(key, "a number of coordinates"))
    }

    /// One of the words that the key takes.
    ///
    /// # Errors
    ///
    /// If it is none of them, or the key does not take words.
    pub fn word(&self, key: &'static str) -> Result<&'static str> {
        self.chosen(key);
        let given = self.raw(key);
        let words = match self.slot(key).map(|slot| slot.key.takes) {
            Some(KeyType::Word(words)) => words,
            _ => &[],
        };
        words.iter().find(|&&word| word == given).copied().ok_or_else(|| Error::Word {
            name: self.name,
            key,
            words,
            value: given.to_owned(),
            nearest: nearest(given, words.iter().copied()),
        })
    }

    /// The mechanism that a key names, from its spec; `make` returns it with its canonical spec.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn mechanism<T>(&self, key: &'static str, make: impl FnOnce(&Spec) -> Result<(T, String)>) -> Result<T> {
        self.chosen(key);
        let name = self.raw(key).to_owned();
        let Some(slot) = self.slot(key) else { return Err(self.error(key, "a mechanism")) };
        let pairs = slot.nested.borrow().clone();
        let (made, canonical) = make(&Spec { name, pairs })?;
        if let Ok(spec) = canonical.parse::<Spec>() {
            *slot.nested.borrow_mut() = spec.pairs;
        }
        Ok(made)
    }

    /// The value as it was given.
    pub fn text(&self, key: &'static str) -> String {
        self.raw(key).to_owned()
    }

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// If no file was given, it cannot be read, or has more than `most` bytes.
    pub fn file(&self, key: &'static str, most: u64) -> Result<String> {
        let path = self.raw(key);
        if path == NO_FILE {
            return Err(self.error(key, "the path of a file"));
        }
        let failed = |source| Error::File { path: path.to_owned(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        let read = file.take(most.saturating_add(1)).read_to_string(&mut text).map_err(failed)?;
        if read as u64 > most {
            return Err(Error::LargeFile { path: path.to_owned(), most });
        }
        Ok(text)
    }

    /// A number of users or a part of them; `None` for the word `none`.
    ///
    /// # Errors
    ///
    /// If it is something else.
    pub fn share_or_none(&self, key: &'static str) -> Result<Option<Share>> {
        self.chosen(key);
        match self.raw(key) {
            "none" => Ok(None),
            "half" => Ok(Some(Share::HALF)),
            text => {
                let part = number(text).filter(|&part| part > 0.0 && part < 1.0).map(Share::Part);
                let share = part.or_else(|| count(text).ok().map(Share::Count));
                share
                    .map(Some)
                    .ok_or_else(|| self.error(key, "a number of users, a share between 0 and 1, 'half' or 'none'"))
            }
        }
    }
}

/// The canonical spec: every key that plays a part, spelled out. To be asked once everything is built.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(|slot| slot.read.get()))
    }
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A whole number: `10000`, `10_000`, or `1e4`.
///
/// # Errors
///
/// What it should have been.
pub fn count(text: &str) -> Result<u64, &'static str> {
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if let Ok(value) = plain.parse() {
        return Ok(value);
    }
    match plain.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.fract() == 0.0 && value < u64::MAX as f64 => Ok(value as u64),
        Ok(value) if value >= u64::MAX as f64 && value.is_finite() => Err("at most 18446744073709551615"),
        _ => Err("a whole number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, value) in [("0", 0), ("10_000", 10_000), ("1e12", 1_000_000_000_000), ("2.5e3", 2500)] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for bad in ["", "-1", "1.5", "nan", "inf", "-inf", "ten", "_"] {
            assert_eq!(count(bad), Err("a whole number"), "{bad}");
        }
        for large in ["1e30", "18446744073709551616"] {
            assert_eq!(count(large), Err("at most 18446744073709551615"), "{large}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(number("-1e3"), Some(-1000.0));
        for bad in ["", "nan", "inf", "-inf", "1e999", "1,5", "x"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
