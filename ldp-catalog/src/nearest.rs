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

/// The fewest letters to insert, delete, replace or swap with their neighbour.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // rows[i][j]: from the first i letters to the first j.
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let replace = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                    let best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                        best.min(rows[i - 2][j - 2] + 1)
                    } else {
                        best
                    }
                }
            };
        }
    }
    rows[from.len()][to.len()]
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
        assert_eq!(nearest("strat", ["start", "first-stage"]), Some("start"));
        assert_eq!(edits("kit", "sits"), 2);
        assert_eq!(edits("sgima", "sigma"), 1);
    }
}
