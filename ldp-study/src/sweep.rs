//! `key=from:to[:count][:log]`, a parameter that takes several values.

use std::fmt;
use std::str::FromStr;

/// The most points of a sweep.
const MOST: usize = 10_000;
/// The points of a sweep that does not say how many: a smooth curve.
const USUAL: usize = 50;
/// The whole numbers up to here are all numbers of their own.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Keys that count something.
pub const COUNTS: [&str; 5] = ["users", "first-stage", "pilot", "batch", "scales"];

/// A key and the values it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The key that is varied.
    pub key: String,
    /// The values from the first to the last, evenly or in equal ratios.
    pub values: Vec<f64>,
    /// Whether the values are in equal ratios.
    pub log: bool,
    text: String,
}

/// A text that is not a sweep, or a sweep of values that its key does not take.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// The text cannot be read.
    #[error(
        "a sweep is key=from:to, with :count ({USUAL} if left out, from 2 to {MOST}) and, for equal ratios between positive \
         ends, :log after it: {0}"
    )]
    Text(&'static str),
    /// A value that counts nothing.
    #[error("{key} is a count, from 0 to 2^53, and cannot be {value}")]
    Count {
        /// What was swept.
        key: String,
        /// The value.
        value: f64,
    },
}

impl FromStr for Sweep {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let wrong = |what| Err(SweepError::Text(what));
        let Some((key, range)) = text.split_once('=') else { return wrong("there is no '='") };
        let parts: Vec<&str> = range.split(':').map(str::trim).collect();
        let (from, to, count, log) = match parts[..] {
            [from, to] => (from, to, None, false),
            [from, to, "log"] => (from, to, None, true),
            [from, to, count] => (from, to, Some(count), false),
            [from, to, count, "log"] => (from, to, Some(count), true),
            [_, _, _, _] => return wrong("what follows the count is not log"),
            _ => return wrong("expected two ends"),
        };
        let number = |text: &str| text.parse().ok().filter(|v: &f64| v.is_finite());
        let Some(from) = number(from) else { return wrong("the first end is not a finite number") };
        let Some(to) = number(to) else { return wrong("the last end is not a finite number") };
        let Ok(count) = count.map_or(Ok(USUAL), str::parse) else { return wrong("the count is not a whole number") };
        if !(2..=MOST).contains(&count) {
            return wrong("the count is out of range");
        }
        if from >= to {
            return wrong("the ends do not increase");
        }
        if log && from <= 0.0 {
            return wrong("the ends are not positive");
        }
        if key.trim().is_empty() {
            return wrong("the key is missing");
        }
        let step = |i: usize| {
            let share = i as f64 / (count - 1) as f64;
            let value = if log { from * (to / from).powf(share) } else { from + (to - from) * share };
            // To twelve digits, so that 0.1 steps are the numbers people mean; the ends exactly.
            if i == 0 {
                from
            } else if i + 1 == count {
                to
            } else {
                format!("{value:.11e}").parse().unwrap_or(value)
            }
        };
        Ok(Self { key: key.trim().to_owned(), values: (0..count).map(step).collect(), log, text: text.to_owned() })
    }
}

impl Sweep {
    /// The key as it stands at an axis: by the letter that formulas have for it.
    pub fn symbol(&self) -> &str {
        match self.key.as_str() {
            "epsilon" => "ε",
            "theta" => "θ",
            key => key,
        }
    }

    /// The values of a key that counts something: rounded to whole numbers, increasing, each of them once.
    ///
    /// # Errors
    ///
    /// If a value is negative or above 2^53, where not every whole number can be told.
    pub fn whole(&self) -> Result<Vec<u64>, SweepError> {
        let count = |&value: &f64| {
            let whole = value.round();
            let refused = || SweepError::Count { key: self.key.clone(), value };
            (value >= 0.0 && whole <= LARGEST).then_some(whole as u64).ok_or_else(refused)
        };
        let mut whole = self.values.iter().map(count).collect::<Result<Vec<_>, _>>()?;
        // They increase already: only neighbours can be the same.
        whole.dedup();
        Ok(whole)
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_the_letters_of_formulas() {
        let symbol = |text: &str| text.parse::<Sweep>().unwrap().symbol().to_owned();
        assert_eq!(["epsilon=1:2", "theta=1:2", "first-stage=1:2"].map(symbol), ["ε", "θ", "first-stage"]);
    }

    #[test]
    fn values_run_from_end_to_end() {
        let sweep: Sweep = "epsilon=0.1:0.5:5".parse().unwrap();
        assert_eq!((sweep.key.as_str(), sweep.log), ("epsilon", false));
        assert_eq!(sweep.values, [0.1, 0.2, 0.3, 0.4, 0.5]);
        let sweep: Sweep = "first-stage=1:1000:4:log".parse().unwrap();
        assert_eq!(sweep.values, [1.0, 10.0, 100.0, 1000.0]);
        let sweep: Sweep = "threshold=-3:3:3".parse().unwrap();
        assert_eq!(sweep.values, [-3.0, 0.0, 3.0]);
    }

    #[test]
    fn the_count_may_be_left_out() {
        let sweep: Sweep = "epsilon=0.1:8".parse().unwrap();
        assert_eq!((sweep.values.len(), sweep.values[0], sweep.values[49], sweep.log), (50, 0.1, 8.0, false));
        let sweep: Sweep = "first-stage=20:3000:log".parse().unwrap();
        assert_eq!((sweep.values.len(), sweep.values[0], sweep.values[49], sweep.log), (50, 20.0, 3000.0, true));
        assert_eq!(sweep.values, "first-stage=20:3000:50:log".parse::<Sweep>().unwrap().values);
        assert_eq!(sweep.to_string(), "first-stage=20:3000:log");
        assert_eq!("epsilon = 1 : 2 : log ".parse::<Sweep>().unwrap().key, "epsilon");
    }

    #[test]
    fn counts_are_whole_and_told_once() {
        let whole = |text: &str| text.parse::<Sweep>().unwrap().whole();
        assert_eq!(whole("users=1:1000:4:log"), Ok(vec![1, 10, 100, 1000]));
        assert_eq!(whole("pilot=0:3"), Ok(vec![0, 1, 2, 3]));
        // Half is rounded up.
        assert_eq!(whole("batch=1.5:2.4:2"), Ok(vec![2]));
        let stages = whole("first-stage=20:3000:log").unwrap();
        assert!(stages.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((stages[0], stages[stages.len() - 1], stages.len()), (20, 3000, 50));
        let refused = whole("users=-0.4:3:2").unwrap_err();
        assert_eq!(refused, SweepError::Count { key: "users".into(), value: -0.4 });
        assert_eq!(refused.to_string(), "users is a count, from 0 to 2^53, and cannot be -0.4");
        assert!(whole("users=1:1e17:log").is_err() && whole("users=1:9007199254740992:log").is_ok());
    }

    #[test]
    fn what_is_not_a_sweep_is_refused() {
        for bad in [
            "",
            "epsilon",
            "epsilon=1",
            "epsilon=1:",
            "epsilon=:2",
            "epsilon=1:log",
            "epsilon=1:2:",
            "epsilon=1:2::log",
            "epsilon=1:2:log:log",
            "epsilon=1:2:log:3",
            "epsilon=1:2:3:log:4",
            "epsilon=0:2:log",
            "epsilon=1:2:lin",
            "epsilon=1:2:2.5",
            "epsilon=1:2:x",
            "epsilon=2:1:3",
            "epsilon=1:2:1",
            "=1:2:3",
            "epsilon=0:2:3:log",
            "epsilon=1:2:3:lin",
            "epsilon=nan:2:3",
            "epsilon=1:inf:3",
            "epsilon=1:2:99999",
        ] {
            assert!(bad.parse::<Sweep>().is_err(), "{bad}");
        }
        let message = "epsilon=1:2:lin".parse::<Sweep>().unwrap_err().to_string();
        assert!(
            message.starts_with("a sweep is key=from:to, with :count (50 if left out, from 2 to 10000)"),
            "{message}"
        );
        assert!(message.ends_with(":log after it: the count is not a whole number"), "{message}");
    }
}
