//! A set of k categories that is likelier if the true one is among them.

#[cfg(feature = "simulate")]
mod draw;

use crate::bernoulli::{below, complement, largest_weight, level};
use crate::category_set::{CategorySet, SetCounts, category, check_categories, shares};
use ldp_core::channel::two_64;
use ldp_core::special::gamma::ln_gamma;
use ldp_core::steady::{choose, mask};
use ldp_core::{Density, Epsilon, Error, Mechanism, Numerics, Result, Tally, json};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Subset selection: k of d categories, with the true one among them with probability g.
///
/// $$q(S \mid x) = \frac{g}{\binom{d-1}{k-1}}\ \text{if}\ x \in S,\quad \frac{1-g}{\binom{d-1}{k}}\ \text{else},\qquad
///   g = \frac{ke^\varepsilon}{ke^\varepsilon+d-k}$$
///
/// - ε: of the ratio $G(d-k)/((2^{64}-G)k)$ with $g = G/2^{64}$, in integers; never above the claim,
///   and below it by about $1/\min(G, 2^{64}-G)$.
/// - Report size: $\lceil\log_2\binom dk\rceil$ bits, as a [`CategorySet`].
/// - Variance: with $h = (k-g)/(d-1)$, the probability of a category that is not the true one,
///   $\hat p_v = (T_v/n - h)/(g - h)$ is unbiased and $n \mathrm{Var} = \bar f(1-\bar f)/(g-h)^2$,
///   $\bar f = fg + (1-f)h$, over users who hold v with probability f.
/// - Sampling: exact, by integer weights and Floyd's uniform subsets. k + 1 words; each but the first is drawn
///   again with a probability below $d/2^{64}$.
///
/// A category is a whole number 0..d as `f64`; what lies outside counts as the nearest one. With k near
/// $d/(e^\varepsilon+1)$ it is asymptotically minimax for squared error, see [YB18]; with k = 1 it is
/// [`RandomizedResponse`](crate::RandomizedResponse).
///
/// ```
/// use ldp_core::{Epsilon, Mechanism};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::SubsetSelection;
/// let subsets = SubsetSelection::new(Epsilon::new(1.0)?, 12)?;
/// assert!(subsets.epsilon().value() <= 1.0);
/// assert_eq!(subsets.size(), 3);
/// assert_eq!(subsets.privatize(&7.0, &mut stream(1, Purpose::Noise, 0, 0)).len(), 3);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [YB18]: https://arxiv.org/abs/1702.00610
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct SubsetSelection {
    categories: u32,
    size: u32,
    weight: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    categories: u32,
    size: u32,
    #[serde(with = "json::weight")]
    weight: u64,
}

impl TryFrom<Raw> for SubsetSelection {
    type Error = Error;
    fn try_from(Raw { categories, size, weight }: Raw) -> Result<Self> {
        check_size(categories, size)?;
        level(weight, (categories - size).into(), size.into())?;
        Ok(Self { categories, size, weight })
    }
}

impl From<SubsetSelection> for Raw {
    fn from(SubsetSelection { categories, size, weight }: SubsetSelection) -> Self {
        Self { categories, size, weight }
    }
}

fn check_size(categories: u32, size: u32) -> Result<()> {
    check_categories(categories)?;
    match size {
        0 => Err(Error::TooFew { name: "size", least: 1, value: 0 }),
        _ if size >= categories => {
            Err(Error::TooMany { name: "size", most: u64::from(categories) - 1, value: size.into() })
        }
        _ => Ok(()),
    }
}

/// The better size of the two next to d/(e^ε + 1): smaller variance summed over all categories.
fn best_size(epsilon: Epsilon, categories: u32) -> u32 {
    let d = f64::from(categories);
    let wanted = d / (epsilon.value().exp() + 1.0);
    let cost = |size: u32| {
        let k = f64::from(size);
        let g = k / (k + (d - k) * (-epsilon.value()).exp());
        let h = (k - g) / (d - 1.0);
        (g * (1.0 - g) + (d - 1.0) * h * (1.0 - h)) / (g - h).powi(2)
    };
    let [low, high] = [wanted.floor(), wanted.ceil()].map(|size| (size as u32).clamp(1, categories - 1));
    if cost(high) < cost(low) { high } else { low }
}

impl SubsetSelection {
    /// Subsets out of `categories` ≥ 2 categories at level ε, of the size with the smallest variance.
    pub fn new(epsilon: Epsilon, categories: u32) -> Result<Self> {
        check_categories(categories)?;
        Self::with_size(epsilon, categories, best_size(epsilon, categories))
    }

    /// Subsets of this size, 1 ≤ k < d.
    pub fn with_size(epsilon: Epsilon, categories: u32, size: u32) -> Result<Self> {
        check_size(categories, size)?;
        let weight = largest_weight(epsilon, (categories - size).into(), size.into())?;
        Raw { categories, size, weight }.try_into()
    }

    /// d, the number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// k, the number of categories in a report.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The weight of sets with the true category, in units of 2⁻⁶⁴.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// g, the probability that the true category is in the set.
    fn true_share(&self) -> f64 {
        self.weight as f64 / two_64()
    }

    /// h, the probability that another category is in the set.
    fn false_share(&self) -> f64 {
        // k − g from integers: at k = 1 and large ε a difference of floats has no digits left.
        let others = (u128::from(self.size) << 64) - u128::from(self.weight);
        others as f64 / two_64() / f64::from(self.categories - 1)
    }

    /// 1 − h, from integers too.
    fn false_absence(&self) -> f64 {
        let absent = (u128::from(self.categories - 1 - self.size) << 64) + u128::from(self.weight);
        absent as f64 / two_64() / f64::from(self.categories - 1)
    }

    /// g − h = (gd − k)/(d − 1), from integers.
    fn contrast(&self) -> f64 {
        let difference = u128::from(self.weight) * u128::from(self.categories) - (u128::from(self.size) << 64);
        difference as f64 / two_64() / f64::from(self.categories - 1)
    }

    /// $\hat p_v = (T_v/n - h)/(g - h)$ for every category; zeros if nobody answered. A tally of another
    /// number of categories is [`Error::Length`].
    pub fn frequencies(&self, counts: &SetCounts) -> Result<Vec<f64>> {
        let shares = shares(counts, self.categories)?;
        let debias = |share: f64| (share - self.false_share()) / self.contrast();
        Ok(match counts.users() {
            0 => shares,
            _ => shares.into_iter().map(debias).collect(),
        })
    }

    /// $n \mathrm{Var}[\hat p_v]$ over users who hold v with probability `frequency`.
    #[must_use]
    pub fn variance(&self, frequency: f64) -> f64 {
        let mixed = |own: f64, other: f64| frequency * own + (1.0 - frequency) * other;
        let present = mixed(self.true_share(), self.false_share());
        let absent = mixed(complement(self.weight) as f64 / two_64(), self.false_absence());
        present * absent / self.contrast().powi(2)
    }
}

impl Mechanism for SubsetSelection {
    type Input = f64;
    type Report = CategorySet;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        level(self.weight, (self.categories - self.size).into(), self.size.into()).expect("checked on construction")
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> CategorySet {
        let x = category(*input, self.categories);
        let with_truth = rng.next_u64() < self.weight;
        // Others are numbered without x: which numbers are drawn, and where they are written, depends on the noise alone.
        let (others, mut picked) = (self.categories - 1, vec![0; self.categories.div_ceil(64) as usize]);
        // Floyd's subsets: a number that was drawn before stands for the newest one, which was not. Next to the true
        // category one less is wanted, and the first number is drawn in vain: a number of words that tells whether the
        // truth is in the set would tell the truth.
        for newest in others - self.size..others {
            let drawn = below(u64::from(newest) + 1, rng) as u32;
            let wanted = !with_truth | (newest > others - self.size);
            pick_one(&mut picked, [drawn, newest], mask(wanted));
        }
        CategorySet::around(&picked, self.categories, x, with_truth)
    }
}

/// Sets bit `drawn`, or `newest` where it is set already, if `wanted` has all bits; if it has none, nothing.
///
/// In few words all are touched: the same addresses whatever was drawn. In many that would take too long.
fn pick_one(words: &mut [u64], [drawn, newest]: [u32; 2], wanted: u64) {
    let touched = |number: u32| {
        let word = number as usize / 64;
        if words.len() <= FEW_WORDS { 0..words.len() } else { word..word + 1 }
    };
    let bit = |number: u32, word: usize| mask(number as usize / 64 == word) & (1 << (number % 64));
    let is_set = touched(drawn).fold(0, |found, word| found | (words[word] & bit(drawn, word)));
    let number = choose(is_set != 0, newest.into(), drawn.into()) as u32;
    for word in touched(number) {
        words[word] |= bit(number, word) & wanted;
    }
}

/// Words of sets that are always gone through whole: those of 4,096 categories.
const FEW_WORDS: usize = 64;

impl Density for SubsetSelection {
    fn ln_density(&self, report: &CategorySet, input: &f64) -> f64 {
        if report.categories() != self.categories || report.len() != self.size {
            return f64::NEG_INFINITY;
        }
        let [d, k] = [self.categories, self.size].map(f64::from);
        // C(d − 1, k − 1) sets with the true category, (d − k)/k times as many without.
        let sets = ln_gamma(d) - ln_gamma(k) - ln_gamma(d - k + 1.0);
        if report.contains(category(*input, self.categories)) {
            self.true_share().ln() - sets
        } else {
            (complement(self.weight) as f64 / two_64() * k / (d - k)).ln() - sets
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_the_best_of_all() {
        for (categories, level) in [2, 3, 5, 12, 100].into_iter().flat_map(|d| [0.1, 1.0, 3.0, 800.0].map(|e| (d, e))) {
            let epsilon = Epsilon::new(level).unwrap();
            let cost = |subsets: SubsetSelection| {
                let [one, none] = [1.0, 0.0].map(|frequency| subsets.variance(frequency));
                one + f64::from(categories - 1) * none
            };
            let best = cost(SubsetSelection::new(epsilon, categories).unwrap());
            for size in 1..categories {
                let other = cost(SubsetSelection::with_size(epsilon, categories, size).unwrap());
                assert!(other >= best * (1.0 - 1e-12), "d = {categories}, ε = {level}, k = {size}");
            }
        }
    }

    #[test]
    fn tampered_json_is_refused() {
        let good = r#"{"categories":4,"size":1,"weight":"9223372036854775808"}"#;
        assert!(serde_json::from_str::<SubsetSelection>(good).is_ok());
        for (from, to) in [
            (":4", ":1"),
            (":4", ":4294967295"),
            (":1", ":0"),
            (":1", ":4"),
            // Half of the weight for half of the sets: no information.
            (":1", ":2"),
            ("9223372036854775808", "1"),
            (r#""9223372036854775808""#, "9223372036854775808"),
            (r#"808""#, r#"808","epsilon":1"#),
        ] {
            assert!(good.contains(from));
            assert!(serde_json::from_str::<SubsetSelection>(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
