//! Which column is meant by a name or a number.

use super::error::{InputError, Names};

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
            nearest: nearest(wanted, names).map(str::to_owned),
        }),
    }
}

/// The name most similar to `wanted` (ignoring case), if at most a third of its letters differ.
pub(super) fn nearest<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    let limit = (wanted.len() / 3).max(1);
    names
        .iter()
        .map(|name| (distance(&wanted, &name.to_lowercase().chars().collect::<Vec<_>>()), name.as_str()))
        // A name of one letter is one change away from every other: that is no similarity.
        .filter(|(changes, name)| *changes <= limit && *changes < name.chars().count())
        .min_by_key(|(changes, _)| *changes)
        .map(|(_, name)| name)
}

/// Levenshtein's distance: the fewest letters to insert, delete or replace.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replace = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
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

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["a".to_owned(), "income".to_owned(), "outcome".to_owned()];
        assert_eq!(nearest("incom", &names), Some("income"));
        assert_eq!(nearest("OUTCOME", &names), Some("outcome"));
        assert_eq!(nearest("b", &names), None);
        assert_eq!(distance(&['k', 'i', 't'], &['s', 'i', 't', 's']), 2);
    }
}
