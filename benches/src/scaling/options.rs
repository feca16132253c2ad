//! What is asked on the command line, as criterion's benchmarks understand it.

use super::rounds::Pace;
use std::time::Duration;

const FULL: Pace = Pace { least: Duration::from_millis(3), rounds: [5, 25], budget: Duration::from_millis(1500) };
const QUICK: Pace = Pace { least: Duration::from_micros(500), rounds: [3, 3], budget: Duration::ZERO };

/// Which cases, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// None: every case once at its smallest size, to see that it runs.
    pub pace: Option<Pace>,
    filter: String,
}

impl Options {
    /// Reads arguments: a part of the names of cases, `--quick`, `--test`, and `--bench`, which only `cargo bench`
    /// passes. Where it is missing nothing is measured, because then `cargo test` runs a benchmark.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let (mut bench, mut test, mut pace, mut filter) = (false, false, FULL, None);
        for arg in args {
            match arg.as_str() {
                "--bench" => bench = true,
                "--test" => test = true,
                "--quick" => pace = QUICK,
                part if !part.starts_with('-') && filter.is_none() => filter = Some(arg),
                _ => return Err(format!("{arg}: expected a part of a name, --quick or --test")),
            }
        }
        Ok(Self { pace: (bench && !test).then_some(pace), filter: filter.unwrap_or_default() })
    }

    /// Whether a case of this name is asked for.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &str) -> Result<Options, String> {
        Options::parse(args.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn only_a_benchmark_is_measured() {
        for (args, pace) in [
            ("--bench", Some(FULL)),
            ("--quick --bench", Some(QUICK)),
            ("", None),
            ("--quick", None),
            ("--test --bench", None),
        ] {
            assert_eq!(parse(args).unwrap().pace, pace, "{args}");
        }
    }

    #[test]
    fn a_part_of_a_name_is_enough() {
        let some = parse("users --bench").unwrap();
        assert!(some.wants("users/liu") && some.wants("threads/two-stage, users") && !some.wants("cells/pricing"));
        assert!(parse("--bench").unwrap().wants("cells/pricing"));
        for odd in ["--bench --quik", "users cells", "-x"] {
            assert!(parse(odd).is_err(), "{odd}");
        }
    }
}
