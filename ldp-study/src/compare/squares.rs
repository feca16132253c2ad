//! Squared errors as resampling needs them, in memory that does not grow with the replications.

/// The most values that are resampled.
const MOST: u64 = 1 << 20;

/// Squared errors in the order of replications. Of more than a million of them successive ones are added up in groups.
///
/// What is resampled are then the means of k of n values. They have the mean of the values, 1/k of their variance and 1/√k of
/// their skewness. The interval is made from the variance over the number and from the skewness over its root, and both are
/// what they were.
pub struct Squares {
    sums: Vec<f64>,
    group: u64,
    count: u64,
}

impl Squares {
    /// An empty list for at most `most` values. Two lists of the same `most` have the same replications in a group.
    pub fn new(most: u64) -> Self {
        Self { sums: Vec::new(), group: most.div_ceil(MOST).max(1), count: 0 }
    }

    /// The next ones.
    pub fn extend(&mut self, squares: &[f64]) {
        for &square in squares {
            if self.count.is_multiple_of(self.group) {
                self.sums.push(0.0);
            }
            if let Some(sum) = self.sums.last_mut() {
                *sum += square;
            }
            self.count += 1;
        }
    }

    /// Values whose average is that of all squares: the squares themselves where every one is its own group.
    pub fn values(mut self) -> Vec<f64> {
        let share = self.sums.len() as f64 / self.count as f64;
        self.sums.iter_mut().for_each(|sum| *sum *= share);
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap;
    use ldp_simulate::seed::{Purpose, stream};
    use rand::RngExt;

    fn values(most: u64, squares: &[f64]) -> Vec<f64> {
        let mut kept = Squares::new(most);
        squares.chunks(1000).for_each(|chunk| kept.extend(chunk));
        kept.values()
    }

    #[test]
    fn few_are_kept_as_they_are_and_many_in_flat_memory() {
        let few = [0.1, 0.7, 3e-9];
        assert_eq!(values(3, &few), few);
        assert_eq!(values(MOST, &few), few);
        let (mut kept, chunk) = (Squares::new(100 * MOST), vec![1.5; 1 << 20]);
        (0..100).for_each(|_| kept.extend(&chunk));
        let kept = kept.values();
        assert!(kept.len() as u64 == MOST && kept.iter().all(|&value| value == 1.5));
        // The average is that of all also where the last group is not full.
        let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let ramp: Vec<f64> = (0..10_000).map(f64::from).collect();
        let grouped = values(7 * MOST, &ramp);
        assert!(grouped.len() == 1429 && (average(&grouped) - average(&ramp)).abs() < 1e-9, "{}", average(&grouped));
    }

    /// Of 40,000 skewed values the ends of the interval are known to 2 % of its width with 1,000 resamples: with the shift
    /// and the skewness of groups of eight they stay within 15 %.
    #[test]
    fn groups_have_the_interval_of_their_members() {
        let mut rng = stream(1, Purpose::Data, 0, 0);
        let squares: Vec<f64> = (0..40_000).map(|_| rng.random::<f64>().ln().powi(2)).collect();
        let [low, high] = bootstrap::mean(&squares, 1).unwrap();
        let [grouped_low, grouped_high] = bootstrap::mean(&values(8 * MOST, &squares), 1).unwrap();
        let reach = 0.15 * (high - low);
        assert!((low - grouped_low).abs() < reach && (high - grouped_high).abs() < reach);
    }
}
