//! Quantiles of a sum too large to be kept: a histogram first, then the atoms of the bins that matter.

/// Exponents of two that have bins of their own; what is smaller or larger falls into the first or last.
const EXPONENTS: std::ops::Range<i64> = -48..32;
/// Bins per power of two.
const PER_OCTAVE: usize = 256;
const BINS: usize = (EXPONENTS.end - EXPONENTS.start) as usize * PER_OCTAVE + 2;

/// The upper bits of the smallest number with a bin of its own.
const FIRST: i64 = (EXPONENTS.start + 1023) * PER_OCTAVE as i64;

/// The bin of a non-negative number; they increase with it.
#[inline]
fn bin(value: f64) -> usize {
    // The upper bits of a positive number increase with it: exponent, then the first eight digits.
    let place = (value.to_bits() >> 44) as i64 - FIRST + 1;
    place.clamp(0, BINS as i64 - 1) as usize
}

/// The weights of non-negative numbers by size, to one part in 256.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    bins: Vec<f64>,
}

impl Histogram {
    pub fn new() -> Self {
        Self { bins: vec![0.0; BINS] }
    }

    #[inline]
    pub fn push(&mut self, value: f64, weight: f64) {
        self.bins[bin(value)] += weight;
    }

    pub fn merge(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
    }

    /// The quantile at `level`, by interpolation in its bin: right to about one part in 256² where the law is smooth.
    pub fn quantile(&self, level: f64) -> f64 {
        let Wanted { bin, within, .. } = self.find(level);
        match bin {
            0 => 0.0,
            _ if bin == BINS - 1 => f64::INFINITY,
            _ => {
                let end = |bin: usize| f64::from_bits(((bin as i64 - 1 + FIRST) as u64) << 44);
                let (low, high) = (end(bin), end(bin + 1));
                low + (high - low) * (within / self.bins[bin]).clamp(0.0, 1.0)
            }
        }
    }

    /// Where the quantile at `level` lies: in which bin, and how much weight there must be in it up to the quantile.
    pub fn find(&self, level: f64) -> Wanted {
        let target = level * self.bins.iter().sum::<f64>();
        let mut below = 0.0;
        for (bin, weight) in self.bins.iter().enumerate() {
            if below + weight >= target && *weight > 0.0 {
                return Wanted { bin, within: target - below, atoms: Vec::new() };
            }
            below += weight;
        }
        Wanted { bin: BINS - 1, within: f64::INFINITY, atoms: Vec::new() }
    }
}

/// The atoms of one bin, kept to find a quantile in it.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    bin: usize,
    within: f64,
    atoms: Vec<(f64, f64)>,
}

impl Wanted {
    #[inline]
    pub fn push(&mut self, value: f64, weight: f64) {
        if bin(value) == self.bin {
            self.atoms.push((value, weight));
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.atoms.extend(other.atoms);
    }

    /// The smallest number with at least the wanted weight up to it.
    pub fn quantile(mut self) -> Option<f64> {
        // Equal numbers in the order of their weights, so that the sum does not depend on how they came.
        self.atoms.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut sum = 0.0;
        for (value, weight) in &self.atoms {
            sum += weight;
            // Rounding may leave the last atom a hair short.
            if sum >= self.within * (1.0 - 1e-12) {
                return Some(*value);
            }
        }
        self.atoms.last().map(|atom| atom.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_increase_with_their_numbers() {
        let numbers = [0.0, 1e-300, 1e-20, 1e-9, 0.25, 0.2501, 0.26, 1.0, 1.004, 3.0, 1e9, 1e300, f64::INFINITY];
        let bins = numbers.map(bin);
        assert!(bins.windows(2).all(|pair| pair[0] <= pair[1]), "{bins:?}");
        assert_eq!((bins[0], bins[12]), (0, BINS - 1));
        assert!(bins[7] < bins[8] && bins[4] == bins[5] && bins[5] < bins[6]);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_list() {
        // A list with repetitions, numbers in one bin, zero and infinity.
        let mut atoms: Vec<(f64, f64)> = (0..2000).map(|i| (f64::from(i * i % 997) / 500.0, 1.0 / 2100.0)).collect();
        atoms.extend([(0.0, 40.0 / 2100.0), (f64::INFINITY, 60.0 / 2100.0)]);
        let mut histogram = Histogram::new();
        atoms.iter().for_each(|&(value, weight)| histogram.push(value, weight));
        let mut sorted = atoms.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        for level in [0.001, 0.02, 0.25, 0.5, 0.9, 0.97, 0.98, 0.999] {
            let mut wanted = histogram.find(level);
            atoms.iter().for_each(|&(value, weight)| wanted.push(value, weight));
            let mut sum = 0.0;
            let expected = sorted.iter().find(|(_, weight)| {
                sum += weight;
                sum >= level - 1e-12
            });
            let quantile = expected.map(|atom| atom.0);
            assert_eq!(wanted.quantile(), quantile, "{level}");
            let rough = histogram.quantile(level);
            assert!(quantile == Some(rough) || quantile.is_some_and(|q| (rough / q - 1.0).abs() < 1.0 / 128.0));
        }
    }
}
