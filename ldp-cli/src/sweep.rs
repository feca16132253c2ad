//! `key=from:to:count[:log]`, a parameter that takes several values.

use std::fmt;
use std::str::FromStr;

/// The most points of a sweep.
const MOST: usize = 10_000;

/// A key and the values it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The key.
    pub key: String,
    /// From the first value to the last, evenly or in equal ratios.
    pub values: Vec<f64>,
    /// Whether in equal ratios.
    pub log: bool,
    text: String,
}

/// A text that is not a sweep.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sweep is key=from:to:count, or key=from:to:count:log with positive ends, count from 2 to {MOST}: {0}")]
pub struct SweepError(&'static str);

impl FromStr for Sweep {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let (key, range) = text.split_once('=').ok_or(SweepError("there is no '='"))?;
        let parts: Vec<&str> = range.split(':').collect();
        let (log, parts) = match parts[..] {
            [_, _, _] => (false, &parts[..]),
            [_, _, _, "log"] => (true, &parts[..3]),
            _ => return Err(SweepError("expected three numbers")),
        };
        let number = |text: &str| text.trim().parse().ok().filter(|v: &f64| v.is_finite());
        let from = number(parts[0]).ok_or(SweepError("the first end is not a finite number"))?;
        let to = number(parts[1]).ok_or(SweepError("the last end is not a finite number"))?;
        let count: usize = parts[2].trim().parse().map_err(|_| SweepError("the count is not a whole number"))?;
        if !(2..=MOST).contains(&count) {
            return Err(SweepError("the count is out of range"));
        }
        if from >= to {
            return Err(SweepError("the ends do not increase"));
        }
        if log && from <= 0.0 {
            return Err(SweepError("the ends are not positive"));
        }
        if key.trim().is_empty() {
            return Err(SweepError("the key is missing"));
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

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_is_not_a_sweep_is_refused() {
        for bad in [
            "",
            "epsilon",
            "epsilon=1",
            "epsilon=1:2",
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
    }
}
