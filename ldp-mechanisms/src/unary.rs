//! One bit per category, each randomised on its own.

#[cfg(feature = "simulate")]
mod draw;

use crate::bernoulli::complement;
use crate::category_set::{CategorySet, SetCounts, category, check_categories, shares};
use ldp_core::channel::two_64;
use ldp_core::steady::choose;
use ldp_core::{Density, Epsilon, Error, Kernel, Mechanism, Numerics, Result, Tally, json};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Optimised unary encoding: a set that has the true category with probability ½, and each other with probability q.
///
/// $$q(S \mid x) = \frac12 q^{m}(1-q)^{d-1-m},\qquad q = \frac{1}{e^\varepsilon+1},\qquad
///   m = \text{the number of categories other than x in S}$$
///
/// - ε: $\ln(2^{64}/\mathrm{lie} - 1)$ with $q = \mathrm{lie}/2^{64}$, from the integer weight; never above the claim,
///   and below it by about 1/lie.
/// - Report size: d bits, as a [`CategorySet`].
/// - Variance: $\hat p_v = (T_v/n - q)/(\frac12 - q)$ is unbiased, and over users who hold v with probability f it has
///   $n \mathrm{Var} = \bar f(1-\bar f)/(\frac12-q)^2$, $\bar f = f/2 + (1-f)q$.
/// - Sampling: exact, by integer weights. One word per category, always.
///
/// A category is a whole number 0..d as `f64`; what lies outside counts as the nearest one, as in
/// [`RandomizedResponse`](crate::RandomizedResponse), which is better for d < 3e^ε + 2. See [WBLJ17].
///
/// ```
/// use ldp_core::{Epsilon, Mechanism, Tally};
/// use ldp_simulate::seed::{Purpose, stream};
/// use ldp_mechanisms::{SetCounts, UnaryEncoding};
/// let unary = UnaryEncoding::new(Epsilon::new(1.0)?, 10)?;
/// assert!(unary.epsilon().value() <= 1.0);
/// let (mut rng, mut counts) = (stream(1, Purpose::Noise, 0, 0), SetCounts::new(10));
/// for _ in 0..10_000 {
///     counts.push(unary.privatize(&7.0, &mut rng), 1)?;
/// }
/// let frequencies = unary.frequencies(&counts)?;
/// assert!((frequencies[7] - 1.0).abs() < 0.1 && frequencies[0].abs() < 0.1);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// [WBLJ17]: https://www.usenix.org/conference/usenixsecurity17/technical-sessions/presentation/wang-tianhao
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct UnaryEncoding {
    categories: u32,
    lie: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    categories: u32,
    #[serde(with = "json::weight")]
    lie: u64,
}

impl TryFrom<Raw> for UnaryEncoding {
    type Error = Error;
    fn try_from(Raw { categories, lie }: Raw) -> Result<Self> {
        check_categories(categories)?;
        Epsilon::of_wide_ratio(complement(lie), lie.into())?;
        Ok(Self { categories, lie })
    }
}

impl From<UnaryEncoding> for Raw {
    fn from(UnaryEncoding { categories, lie }: UnaryEncoding) -> Self {
        Self { categories, lie }
    }
}

impl UnaryEncoding {
    /// Sets out of `categories` ≥ 2 categories, at level ε.
    pub fn new(epsilon: Epsilon, categories: u32) -> Result<Self> {
        match Kernel::response(epsilon, 2)? {
            Kernel::Response { lie, .. } => Raw { categories, lie }.try_into(),
            Kernel::Dense(_) => Err(Error::Uninformative),
        }
    }

    /// d, the number of categories.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The weight of a category that is not the true one, in units of 2⁻⁶⁴.
    #[must_use]
    pub fn lie(&self) -> u64 {
        self.lie
    }

    /// q, the probability of a category that is not the true one.
    fn false_share(&self) -> f64 {
        self.lie as f64 / two_64()
    }

    /// ½ − q, from integers.
    fn contrast(&self) -> f64 {
        ((1u64 << 63) - self.lie) as f64 / two_64()
    }

    /// $\hat p_v = (T_v/n - q)/(\frac12 - q)$ for every category; zeros if nobody answered. A tally of another
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
        let share = self.false_share() + frequency * self.contrast();
        share * (1.0 - share) / self.contrast().powi(2)
    }
}

impl Mechanism for UnaryEncoding {
    type Input = f64;
    type Report = CategorySet;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        Epsilon::of_wide_ratio(complement(self.lie), self.lie.into()).expect("checked on construction")
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> CategorySet {
        let x = category(*input, self.categories);
        // A word for each: with fewer, drawn until all bits are decided, their number would depend on the bits.
        CategorySet::collect(self.categories, |v| rng.next_u64() < choose(v == x, 1 << 63, self.lie))
    }
}

impl Density for UnaryEncoding {
    fn ln_density(&self, report: &CategorySet, input: &f64) -> f64 {
        if report.categories() != self.categories {
            return f64::NEG_INFINITY;
        }
        let x = category(*input, self.categories);
        let lies = report.len() - u32::from(report.contains(x));
        let (lie, truth) = (self.false_share().ln(), (complement(self.lie) as f64 / two_64()).ln());
        0.5f64.ln() + f64::from(lies) * lie + f64::from(self.categories - 1 - lies) * truth
    }
}
