//! Intervals from resamples: how far does a mean of replications, or a ratio of two, vary?
//!
//! The interval is BCa: percentiles of the resampled statistic, at levels moved for its bias z₀ and its skewness a
//! (Efron 1987). Squared errors are skewed, and plain percentiles then end too early above: of 10,000 samples of 40 squares
//! of normal values the 95 % interval covers the mean in 92.1 % with BCa and in 91.2 % with plain percentiles. Nothing
//! resampled can know of events too rare to have been seen.

use ldp_core::special::normal;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::Rng;
use rayon::prelude::*;

/// Number of resamples.
pub const RESAMPLES: u64 = 1000;
/// The level of the intervals.
pub const LEVEL: f64 = 0.95;

/// An interval for the mean of the law that `values` were drawn from; `None` below two of them.
pub fn mean(values: &[f64], seed: u64) -> Option<[f64; 2]> {
    let observed = average(values);
    let influence = |index: usize| values[index] - observed;
    let resample = |draws: &mut Draws| {
        let mut sums = [0.0; 2];
        draws.pairs(values.len(), |a, b| {
            sums[0] += values[a];
            sums[1] += b.map_or(0.0, |b| values[b]);
        });
        (sums[0] + sums[1]) / values.len() as f64
    };
    interval(values.len(), observed, influence, resample, seed, LEVEL)
}

/// An interval for the ratio of the means of two laws, from values drawn in pairs.
pub fn ratio(above: &[f64], below: &[f64], seed: u64) -> Option<[f64; 2]> {
    let (count, base) = (above.len().min(below.len()), average(below));
    if !(base > 0.0) {
        return None;
    }
    let observed = average(above) / base;
    let influence = |index: usize| (above[index] - observed * below[index]) / base;
    let resample = |draws: &mut Draws| {
        let mut sums = [0.0; 2];
        let mut add = |index: usize| {
            sums[0] += above[index];
            sums[1] += below[index];
        };
        draws.pairs(count, |a, b| {
            add(a);
            b.into_iter().for_each(&mut add);
        });
        // All of a resample may be without error: the ratio is then taken as it is, and not as 0/0.
        if sums[1] > 0.0 { sums[0] / sums[1] } else { observed }
    };
    interval(count, observed, influence, resample, seed, LEVEL)
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// BCa. The influence of each value gives the acceleration: that of the jackknife, to first order.
fn interval(
    count: usize,
    observed: f64,
    influence: impl Fn(usize) -> f64,
    resample: impl Fn(&mut Draws) -> f64 + Sync,
    seed: u64,
    level: f64,
) -> Option<[f64; 2]> {
    if count < 2 || !observed.is_finite() {
        return None;
    }
    let (squares, cubes) = (0..count).map(influence).fold((0.0, 0.0), |(s, c), v| (s + v * v, c + v * v * v));
    if !(squares > 0.0) {
        return Some([observed; 2]);
    }
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    // Each resample has a stream of its own, so that threads do not matter.
    let mut resampled: Vec<f64> =
        (0..RESAMPLES).into_par_iter().map(|number| resample(&mut Draws::new(seed, number))).collect();
    resampled.sort_by(f64::total_cmp);
    let below = resampled.partition_point(|&value| value < observed);
    let upto = resampled.partition_point(|&value| value <= observed);
    let most = RESAMPLES as f64;
    let share = ((below + upto) as f64 / 2.0).clamp(0.5, most - 0.5) / most;
    let shift = normal::quantile(share);
    let end = |tail: f64| {
        let moved = shift + normal::quantile(tail);
        let room = 1.0 - acceleration * moved;
        // Beyond the pole of the correction there is nothing but the most extreme resample.
        let place = if room > 0.0 { normal::cdf(shift + moved / room) } else { f64::from(moved > 0.0) };
        quantile(&resampled, place)
    };
    let tail = (1.0 - level) / 2.0;
    Some([end(tail), end(1.0 - tail)]).filter(|ends| ends.iter().all(|end| end.is_finite()))
}

/// A quantile of sorted values, between the order statistics at either side.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = ((sorted.len() + 1) as f64 * level - 1.0).clamp(0.0, last as f64);
    let (low, share) = (place.floor() as usize, place.fract());
    sorted[low] + share * (sorted[(low + 1).min(last)] - sorted[low])
}

/// Places drawn with replacement.
struct Draws(SimulationRng);

impl Draws {
    fn new(seed: u64, number: u64) -> Self {
        Self(stream(seed, Purpose::Bootstrap, number, 0))
    }

    /// `count` of `count` places, two from each word: its halves, scaled up by Lemire's multiplication. Without his
    /// rejection some places are likelier than others by at most count/2³², evenly spread.
    #[inline]
    fn pairs(&mut self, count: usize, mut visit: impl FnMut(usize, Option<usize>)) {
        let scale = |half: u64| ((half * count as u64) >> 32) as usize;
        for _ in 0..count / 2 {
            let word = self.0.next_u64();
            visit(scale(word >> 32), Some(scale(word & 0xFFFF_FFFF)));
        }
        if !count.is_multiple_of(2) {
            visit(scale(self.0.next_u64() >> 32), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of standard normal values, by inversion: their mean is 1.
    fn squares(count: usize, seed: u64, number: u64) -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Data, number, 0);
        let normal = |word: u64| normal::quantile(((word >> 11) as f64 + 0.5) / (1u64 << 53) as f64);
        (0..count).map(|_| normal(rng.next_u64()).powi(2)).collect()
    }

    /// The share of samples whose interval covers 1.
    fn coverage(samples: u64, of: impl Fn(u64) -> [f64; 2] + Sync) -> f64 {
        let covers = |&number: &u64| {
            let [low, high] = of(number);
            low <= 1.0 && 1.0 <= high
        };
        (0..samples).into_par_iter().filter(covers).count() as f64 / samples as f64
    }

    /// The interval of the mean at another level.
    fn mean_at(values: &[f64], seed: u64, level: f64) -> Option<[f64; 2]> {
        let observed = average(values);
        let resample = |draws: &mut Draws| {
            let mut sum = 0.0;
            draws.pairs(values.len(), |a, b| sum += values[a] + b.map_or(0.0, |b| values[b]));
            sum / values.len() as f64
        };
        interval(values.len(), observed, |index| values[index] - observed, resample, seed, level)
    }

    #[test]
    fn intervals_cover_as_often_as_they_say() {
        // α = 1e-6, two-sided: of 2,000 samples the share is within 4.89 · √(.95 · .05/2000) = 2.4 % of 95 %, and BCa of 200
        // skewed values is itself off by less than a percent.
        let (samples, reach) = (2000, 0.024);
        let share = coverage(samples, |number| mean(&squares(200, 1, number), number).unwrap());
        assert!((share - 0.95).abs() < reach, "{share}");
        // An interval of the level 90 % is told apart.
        let mutant = coverage(samples, |number| mean_at(&squares(200, 1, number), number, 0.9).unwrap());
        assert!((mutant - 0.95).abs() > reach, "{mutant}");
        assert_eq!(
            mean_at(&squares(401, 1, 0), 5, LEVEL).unwrap().map(|end| (end * 1e9) as i64),
            mean(&squares(401, 1, 0), 5).unwrap().map(|end| (end * 1e9) as i64)
        );
    }

    #[test]
    fn skewness_is_corrected_for() {
        // Of 40 squares plain percentiles cover about 91.2 %, BCa about 92.1 %: the standard error of the difference is about
        // 0.15 % over 10,000 common samples.
        let sample = |number| squares(40, 2, number);
        let share = coverage(10_000, |number| mean(&sample(number), number).unwrap());
        let plain = coverage(10_000, |number| {
            let values = sample(number);
            let mut resampled: Vec<f64> = (0..RESAMPLES)
                .map(|resample| {
                    let mut sum = 0.0;
                    Draws::new(number, resample).pairs(40, |a, b| sum += values[a] + b.map_or(0.0, |b| values[b]));
                    sum / 40.0
                })
                .collect();
            resampled.sort_by(f64::total_cmp);
            [quantile(&resampled, 0.025), quantile(&resampled, 0.975)]
        });
        assert!(share > plain + 0.005 && share > 0.91, "{share} is not better than {plain}");
    }

    #[test]
    fn a_ratio_on_common_replications_is_known_better_than_its_parts() {
        let below = squares(2000, 3, 0);
        let above: Vec<f64> = below.iter().zip(squares(2000, 3, 1)).map(|(a, b)| 0.9 * a + 0.1 * b).collect();
        let [low, high] = ratio(&above, &below, 1).unwrap();
        assert!(low < 1.0 && 1.0 < high && high - low < 0.03, "{low} to {high}");
        let [apart_low, apart_high] = ratio(&squares(2000, 3, 2), &below, 1).unwrap();
        assert!(apart_high - apart_low > 0.1, "{apart_low} to {apart_high}");
        // Twice the errors are four times the squares, exactly.
        let double: Vec<f64> = below.iter().map(|square| 4.0 * square).collect();
        assert_eq!(ratio(&double, &below, 1), Some([4.0, 4.0]));
    }

    #[test]
    fn the_ratio_covers_as_often_as_it_says() {
        // As for the mean: α = 1e-6 over 2,000 samples. Both laws have mean 1, and depend on each other.
        let share = coverage(2000, |number| {
            let below = squares(200, 4, number);
            let above: Vec<f64> = below.iter().zip(squares(200, 5, number)).map(|(a, b)| 0.5 * (a + b)).collect();
            ratio(&above, &below, number).unwrap()
        });
        assert!((share - 0.95).abs() < 0.024, "{share}");
    }

    #[test]
    fn corners() {
        assert_eq!((mean(&[], 1), mean(&[2.0], 1), mean(&[2.0, 2.0], 1)), (None, None, Some([2.0, 2.0])));
        assert_eq!((ratio(&[1.0, 2.0], &[0.0, 0.0], 1), ratio(&[], &[], 1)), (None, None));
        let rare: Vec<f64> = (0..1000).map(|index| if index == 7 { 1e9 } else { 1.0 }).collect();
        let [low, high] = mean(&rare, 1).unwrap();
        assert!(low >= 1.0 && high > 3e6 && high.is_finite(), "{low} to {high}");
        assert_eq!(mean(&[f64::INFINITY, 1.0], 1), None);
        let sorted: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!([0.0, 0.1, 0.5, 0.95, 1.0].map(|level| quantile(&sorted, level)), [1.0, 1.0, 5.0, 9.0, 9.0]);
    }

    #[test]
    fn places_are_drawn_evenly_and_pinned() {
        let mut seen = Vec::new();
        Draws::new(1, 0).pairs(7, |a, b| seen.extend([Some(a), b].into_iter().flatten()));
        assert!(seen.len() == 7 && seen.iter().all(|&place| place < 7));
        // 40,000 draws of 8 places: each 5,000 times within 4.9 · √(40000/8 · 7/8) = 324, α = 1e-6 each.
        let mut counts = [0; 8];
        for number in 0..5000 {
            Draws::new(2, number)
                .pairs(8, |a, b| [Some(a), b].into_iter().flatten().for_each(|place| counts[place] += 1));
        }
        assert!(counts.iter().all(|count| (4676..=5324).contains(count)), "{counts:?}");
    }
}
