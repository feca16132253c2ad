//! Which column is meant by a name or a number.

use super::error::{InputError, Names};
use ldp_catalog::nearest;

/// How a column was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    /// The column, counted from 0.
    pub index: usize,
    /// Whether the user gave its name, rather than its number or nothing.
    pub by_name: bool,
}

/// The column called `wanted`: its name, else its number from 1; without `wanted`, the only one.
pub(super) fn choose(file: &str, wanted: Option<&str>, available: &Names) -> Result<Choice, InputError> {
    let (names, count) = match available {
        Names::Named(names) => (names.as_slice(), names.len()),
        Names::Numbered(count) => (&[][..], *count),
    };
    let Some(wanted) = wanted else {
        return if count == 1 {
            Ok(Choice { index: 0, by_name: false })
        } else {
            Err(InputError::ColumnNeeded { file: file.to_owned(), available: available.clone() })
        };
    };
    let wanted = wanted.trim();
    let mut same = names.iter().enumerate().filter(|(_, name)| *name == wanted);
    if let Some((index, _)) = same.next() {
        return match same.count() {
            0 => Ok(Choice { index, by_name: true }),
            more => {
                Err(InputError::AmbiguousColumn { file: file.to_owned(), column: wanted.to_owned(), count: more + 1 })
            }
        };
    }
    match wanted.parse::<usize>() {
        Ok(number) if (1..=count).contains(&number) => Ok(Choice { index: number - 1, by_name: false }),
        _ => Err(InputError::UnknownColumn {
            file: file.to_owned(),
            column: wanted.to_owned(),
            available: available.clone(),
            nearest: nearest(wanted, names.iter().map(String::as_str)).map(str::to_owned),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Names {
        Names::Named(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn index(wanted: &str, available: &Names) -> Option<usize> {
        choose("f", Some(wanted), available).ok().map(|choice| choice.index)
    }

    #[test]
    fn a_name_wins_over_a_number() {
        let names = named(&["height", "1", "weight"]);
        assert_eq!(index("height", &names), Some(0));
        assert_eq!(index("1", &names), Some(1));
        assert_eq!(index("3", &names), Some(2));
        assert_eq!(index("0", &names), None);
        assert_eq!(index("4", &names), None);
        assert_eq!(index("2", &Names::Numbered(2)), Some(1));
    }

    #[test]
    fn no_column_is_needed_if_there_is_only_one() {
        assert_eq!(choose("f", None, &named(&["x"])).unwrap(), Choice { index: 0, by_name: false });
        let error = choose("f", None, &named(&["x", "y"])).unwrap_err();
        assert!(matches!(error, InputError::ColumnNeeded { .. }));
        assert_eq!(error.to_string(), "f: choose one column with --column, available: \"x\", \"y\"");
    }

    #[test]
    fn an_unknown_name_lists_the_columns_and_suggests_the_nearest() {
        let error = choose("f", Some("Hieght"), &named(&["id", "height"])).unwrap_err();
        assert!(matches!(&error, InputError::UnknownColumn { nearest: Some(name), .. } if name == "height"));
        assert_eq!(
            error.to_string(),
            "f: no column \"Hieght\" (did you mean \"height\"?), available: \"id\", \"height\""
        );
        let error = choose("f", Some("salary"), &Names::Numbered(3)).unwrap_err();
        assert!(matches!(&error, InputError::UnknownColumn { nearest: None, .. }));
        assert_eq!(error.to_string(), "f: no column \"salary\", available: 1 to 3, without names");
    }

    #[test]
    fn a_name_used_twice_is_refused() {
        let error = choose("f", Some("x"), &named(&["x", "y", "x"])).unwrap_err();
        assert!(matches!(error, InputError::AmbiguousColumn { count: 2, .. }));
    }
}
