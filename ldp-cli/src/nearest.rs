//! «Did you mean …?»

/// The candidate most similar to `word`, ignoring case, if at most a third of its letters (or one) differ.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edits(&word, &candidate.to_lowercase()), candidate))
        // A name of one letter is one change away from every other: that is no similarity.
        .filter(|(changes, candidate)| *changes <= limit && *changes < candidate.chars().count())
        .min_by_key(|(changes, _)| *changes)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance: the fewest letters to insert, delete or replace.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replace = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_name() {
        let names = ["one-stage", "two-stage", "gaussian", "a"];
        assert_eq!(nearest("twostage", names), Some("two-stage"));
        assert_eq!(nearest("tow-stage", names), Some("two-stage"));
        assert_eq!(nearest("GAUSIAN", names), Some("gaussian"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("b", names), None);
        assert_eq!(edits("kit", "sits"), 2);
    }
}
