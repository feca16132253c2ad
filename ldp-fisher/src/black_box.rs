//! A lower limit of the information of a mechanism that can only be sampled.

use crate::{Information, Method};
use ldp_core::error::require;
use ldp_core::model::Score;
use ldp_core::special::normal;
use ldp_core::{Error, Mechanism, Result};
use ldp_simulate::Draw;
use ldp_simulate::seed::{BLOCK, Purpose, SimulationRng, stream};

/// The most reports that are kept to place the bins: a megabyte, however many are drawn.
const KEPT: u64 = 1 << 17;

/// The most reports that are drawn.
const MOST_DRAWS: u64 = 1 << 30;

/// How [`black_box`] samples: how many reports, into how many bins, at which level, from which seed.
///
/// One tenth of the draws, at most 131,072, places the bins and is not used again.
///
/// ```
/// use ldp_fisher::BlackBox;
/// let options = BlackBox::new(7).draws(200_000)?.bins(32)?.level(0.99)?;
/// assert!(options.level(1.0).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlackBox {
    draws: u64,
    bins: u32,
    level: f64,
    seed: u64,
}

impl BlackBox {
    /// A million draws, 64 bins, level 0.95.
    ///
    /// ```
    /// use ldp_fisher::BlackBox;
    /// assert_eq!(BlackBox::new(1), BlackBox::new(1).draws(1_000_000)?.bins(64)?.level(0.95)?);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { draws: 1_000_000, bins: 64, level: 0.95, seed }
    }

    /// With this many draws, from 100 to 2³⁰: minutes to hours.
    ///
    /// ```
    /// use ldp_fisher::BlackBox;
    /// assert!([99, (1 << 30) + 1].iter().all(|&draws| BlackBox::new(1).draws(draws).is_err()));
    /// ```
    pub fn draws(self, draws: u64) -> Result<Self> {
        if draws < 100 {
            return Err(Error::TooFew { name: "draws", least: 100, value: draws });
        }
        if draws > MOST_DRAWS {
            return Err(Error::TooMany { name: "draws", most: MOST_DRAWS, value: draws });
        }
        Ok(Self { draws, ..self })
    }

    /// With about this many bins, from 2 to 65,536. More bins lose less information and cost precision.
    ///
    /// ```
    /// assert!(ldp_fisher::BlackBox::new(1).bins(1).is_err());
    /// ```
    pub fn bins(self, bins: u32) -> Result<Self> {
        match bins {
            0 | 1 => Err(Error::TooFew { name: "bins", least: 2, value: bins.into() }),
            2..=65_536 => Ok(Self { bins, ..self }),
            _ => Err(Error::TooMany { name: "bins", most: 65_536, value: bins.into() }),
        }
    }

    /// With a limit that is below the information with this probability, at least one half.
    ///
    /// ```
    /// assert!(ldp_fisher::BlackBox::new(1).level(0.3).is_err());
    /// ```
    pub fn level(self, level: f64) -> Result<Self> {
        require((0.5..1.0).contains(&level), "level", "at least 0.5 and below 1", level)?;
        Ok(Self { level, ..self })
    }

    /// How many draws place the bins.
    fn pilot(&self) -> u64 {
        (self.draws / 10).min(KEPT)
    }
}

/// A lower confidence limit of the information of a mechanism that can only be sampled.
///
/// `number` makes a real number of a report; numbers are put into bins, and what that loses counts as lost. With S the
/// score of the value and Z the report, the bins have the information
///
/// $$I_{bins} = \sum_b \frac{d_b^2}{m_b} \le I_\theta(QP),\qquad d_b = \partial_\theta P_\theta(Z \in b)
///   = E[S 1\lbrace Z \in b\rbrace],\qquad m_b = P_\theta(Z \in b).$$
///
/// So neither a density nor a derivative is needed. The plug-in of means for $d_b$ is too large by about
/// $bins \cdot I_0/n$ and is no bound. It is estimated without bias by [`black_box_with`], which also takes vectors.
///
/// The same options give the same bytes. Memory does not grow with the draws.
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// use ldp_fisher::{BlackBox, Method, black_box};
/// use ldp_mechanisms::Sign;
/// let sign = Sign::new(Epsilon::new(1.0)?, 0.0)?;
/// let limit = black_box(&sign, &Gaussian::new(1.0)?, 0.0, |&z| f64::from(z), BlackBox::new(3))?;
/// let exact = 2.0 / std::f64::consts::PI * 0.5f64.tanh().powi(2);
/// assert!(limit.value < exact && limit.value > 0.97 * exact);
/// assert!(matches!(limit.method, Method::BlackBox { draws: 1_000_000, .. }));
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn black_box<Q, M>(
    mechanism: &Q,
    model: &M,
    theta: f64,
    number: impl Fn(&Q::Report) -> f64,
    options: BlackBox,
) -> Result<Information>
where
    Q: Mechanism<Input = f64>,
    M: Draw + Score + ?Sized,
{
    model.check_theta(theta)?;
    black_box_with(
        |rng| {
            let mut x = [0.0];
            model.draw(theta, rng, &mut x);
            (model.score(theta, x[0]), number(&mechanism.privatize(&x[0], rng)))
        },
        options,
    )
}

/// [`black_box`] for anything that can be sampled: `sample` returns the score of a value and a number made of its
/// report.
///
/// Let bin b get $C_b$ of n reports, with scores of sum $W_b$ and sum of squares $Q_b$. Then
///
/// $$T = \sum_b \frac{W_b^2 - Q_b}{n(C_b - 1)} - \frac{W^2 - Q}{n(n - 1)}$$
///
/// is an unbiased estimate of $I_{bins}$. Products of different draws are independent: given the counts, every bin has
/// mean $m_b g_b^2$ with $g_b = E[S \mid b]$ once $m_b$ is its share. It is the average, over all ways to split the
/// draws in halves, of the product of two independent estimates of $d_b$. The last term has mean $(E S)^2 = 0$ and
/// takes out the noise of the mean score. A bin that one report alone fell in counts nothing, which can only lower T.
///
/// With $v_b = \mathrm{Var}[S \mid b]$ the variance of T is
///
/// $$\frac1n\Bigl(4\sum_b m_b g_b^2 v_b + \mathrm{Var}_b\lbrack g_b^2\rbrack\Bigr)
///   + \frac{2}{n^2}\Bigl(\sum_b (1 - 2m_b) v_b^2 + \bigl(\sum_b m_b v_b\bigr)^2\Bigr),$$
///
/// and the limit is T less the normal quantile times its estimated root. Where T is too large by chance so is the first
/// term of its variance, so the limit is rather too low than too high also where the information drowns in noise.
///
/// ```
/// use ldp_fisher::{BlackBox, black_box_with};
/// use rand::RngExt;
/// // A fair coin, told truly: the score of θ = ½ is ±2, the information 4.
/// let coin = |rng: &mut ldp_simulate::seed::SimulationRng| {
///     let heads = rng.random::<bool>();
///     (if heads { 2.0 } else { -2.0 }, f64::from(u8::from(heads)))
/// };
/// let limit = black_box_with(coin, BlackBox::new(1).draws(10_000)?)?;
/// assert!((limit.value - 4.0).abs() < 1e-2);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn black_box_with(
    mut sample: impl FnMut(&mut SimulationRng) -> (f64, f64),
    options: BlackBox,
) -> Result<Information> {
    let pilot = options.pilot();
    let mut kept = Vec::with_capacity(pilot as usize);
    draw(options.seed, 0, pilot, |rng| kept.push(ordered(sample(rng).1)));
    let edges = edges(kept, options.bins as usize);
    let mut bins = vec![Bin::default(); edges.len() + 1];
    draw(options.seed, 1, options.draws - pilot, |rng| {
        let (score, number) = sample(rng);
        let number = ordered(number);
        bins[edges.partition_point(|&edge| edge <= number)].push(score);
    });
    let (binned, variance) = estimate(&bins);
    if !(binned.is_finite() && variance.is_finite()) {
        return Err(Error::Integral { what: "the information in sampled reports", value: binned, error: variance });
    }
    Ok(Information {
        value: (binned - normal::quantile(options.level) * variance.sqrt()).max(0.0),
        error: 0.0,
        method: Method::BlackBox { level: options.level, draws: options.draws, binned },
    })
}

/// `draws` steps, each from the stream of its block.
fn draw(seed: u64, part: u64, draws: u64, mut step: impl FnMut(&mut SimulationRng)) {
    for block in 0..draws.div_ceil(BLOCK) {
        let mut rng = stream(seed, Purpose::Noise, part, block);
        for _ in block * BLOCK..draws.min((block + 1) * BLOCK) {
            step(&mut rng);
        }
    }
}

/// A number with a place in the order of the line: both zeros are one, and what is no number lies on the far left.
fn ordered(number: f64) -> f64 {
    if number.is_nan() { f64::NEG_INFINITY } else { number + 0.0 }
}

/// Where bins begin, but for the first. A value with its share of a bin or more is a bin of its own, the others are cut
/// at their quantiles; where there are no more values than bins, every value is one.
fn edges(mut kept: Vec<f64>, bins: usize) -> Vec<f64> {
    kept.sort_unstable_by(f64::total_cmp);
    let values = || kept.chunk_by(|a, b| a == b);
    if values().nth(bins).is_none() {
        return values().skip(1).map(|value| value[0]).collect();
    }
    let is_atom = |value: &[f64]| value.len() >= 2 && value.len() * bins >= kept.len();
    let atoms: Vec<f64> = values().filter(|value| is_atom(value)).map(|value| value[0]).collect();
    let others: Vec<f64> = values().filter(|value| !is_atom(value)).flatten().copied().collect();
    let pieces = bins.saturating_sub(atoms.len()).max(1);
    let quantiles = (1..pieces).filter_map(|i| others.get(i * others.len() / pieces).copied());
    let mut edges: Vec<f64> = quantiles.chain(atoms.iter().flat_map(|&atom| [atom, atom.next_up()])).collect();
    edges.sort_unstable_by(f64::total_cmp);
    edges.dedup();
    edges
}

/// What is kept of the reports in a bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Bin {
    fn push(&mut self, score: f64) {
        self.count += 1.0;
        self.sum += score;
        self.squares += score * score;
    }

    /// The squared mean score, without bias.
    fn squared_mean(&self) -> f64 {
        if self.count < 2.0 { 0.0 } else { (self.sum.powi(2) - self.squares) / (self.count * (self.count - 1.0)) }
    }

    /// The variance of the score, without bias.
    fn variance(&self) -> f64 {
        if self.count < 2.0 {
            return 0.0;
        }
        ((self.squares - self.sum.powi(2) / self.count) / (self.count - 1.0)).max(0.0)
    }
}

/// T and its estimated variance.
fn estimate(bins: &[Bin]) -> (f64, f64) {
    let all = bins.iter().fold(Bin::default(), |all, bin| Bin {
        count: all.count + bin.count,
        sum: all.sum + bin.sum,
        squares: all.squares + bin.squares,
    });
    let n = all.count;
    let over = |term: &dyn Fn(f64, &Bin) -> f64| bins.iter().map(|bin| term(bin.count / n, bin)).sum::<f64>();
    let total = over(&|m, bin| m * bin.squared_mean());
    let within = over(&|m, bin| m * bin.squared_mean() * bin.variance());
    let between = over(&|m, bin| m * bin.squared_mean().powi(2)) - total.powi(2);
    let noise = over(&|m, bin| (1.0 - 2.0 * m) * bin.variance().powi(2)) + over(&|m, bin| m * bin.variance()).powi(2);
    let variance = (4.0 * within.max(0.0) + between.max(0.0)) / n + 2.0 * noise.max(0.0) / (n * n);
    (total - all.squared_mean(), variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn bins_are_quantiles_and_atoms() {
        let spread: Vec<f64> = (0..1000).map(f64::from).collect();
        let cuts = edges(spread.clone(), 4);
        assert_eq!(cuts, [250.0, 500.0, 750.0]);
        // Few values: each is a bin, the rare ones too.
        let few = [vec![0.0; 900], vec![7.0; 99], vec![3.0]].concat();
        assert_eq!(edges(few, 64), [3.0, 7.0]);
        // Two atoms in a crowd.
        let mixed = [spread, vec![10.5; 500], vec![2000.0; 500]].concat();
        let cuts = edges(mixed, 8);
        assert!(cuts.windows(2).any(|w| w == [10.5, 10.5f64.next_up()]), "{cuts:?}");
        assert!(cuts.contains(&2000.0) && cuts.len() <= 10 && cuts.is_sorted());
        // Whatever is no number, and the two zeros, find a bin.
        assert_eq!(ordered(f64::NAN), f64::NEG_INFINITY);
        assert!(ordered(-0.0).is_sign_positive());
        assert_eq!(edges(vec![1.0; 10], 2), [0.0; 0]);
        assert_eq!(edges(Vec::new(), 2), [0.0; 0]);
    }

    /// Draws of a score of variance one that says nothing about the bin, or `signal` of it; and the limits of T and of
    /// the plug-in at 95 %.
    fn limits(seed: u64, bins: usize, draws: u64, signal: f64) -> (f64, f64, f64) {
        let mut tally = vec![Bin::default(); bins];
        draw(seed, 1, draws, |rng| {
            let bin = rng.random_range(0..bins);
            let noise: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            tally[bin].push(noise + if bin % 2 == 0 { signal } else { -signal });
        });
        let (binned, variance) = estimate(&tally);
        let reach = normal::quantile(0.95) * variance.sqrt();
        let plug_in: f64 = tally.iter().filter(|b| b.count > 0.0).map(|b| b.sum.powi(2) / b.count).sum();
        (binned, binned - reach, plug_in / draws as f64 - reach)
    }

    /// A thousand seeds: a limit of level 0.95 is above the truth more than 83 times with probability 1e-6. Over 4000
    /// seeds these are above it in 0.6 to 4.6 % of cases. The mutant is the plug-in.
    #[test]
    fn the_limit_is_one_and_the_plug_in_is_none() {
        let settings = [(64, 2_000, 0.0), (64, 2_000, 0.1), (256, 4_000, 0.2), (2, 1_000, 0.05), (4, 500, 0.3)];
        for (bins, draws, signal) in settings {
            let truth = signal * signal;
            let all: Vec<_> = (0..1000).map(|seed| limits(seed, bins, draws, signal)).collect();
            let above = all.iter().filter(|(_, limit, _)| *limit > truth).count();
            let mutant = all.iter().filter(|(_, _, limit)| *limit > truth).count();
            assert!(above <= 70, "{bins} bins, {draws} draws: {above} of 1000 limits are above {truth}");
            assert!(bins < 64 || mutant > 900, "{bins} bins, {draws} draws: the plug-in is above {mutant} times");
        }
    }

    /// T has no bias: the mean of 2000 lies within 4.9 standard errors (α = 1e-6) of the truth, that of the plug-in
    /// not.
    #[test]
    fn the_estimate_has_no_bias() {
        let all: Vec<_> = (0..2000).map(|seed| limits(seed, 16, 400, 0.15)).collect();
        let mean = |f: &dyn Fn(&(f64, f64, f64)) -> f64| all.iter().map(f).sum::<f64>() / 2000.0;
        let binned = mean(&|a| a.0);
        let spread = mean(&|a| (a.0 - binned).powi(2)).sqrt();
        let score = |estimate: f64| (estimate - 0.0225).abs() / (spread / 2000f64.sqrt());
        assert!(score(binned) < 4.9, "{binned}");
        assert!(score(binned + mean(&|a| a.2 - a.1)) > 4.9);
        // And the variance that is claimed is the one there is, within 15 %.
        let claimed = mean(&|a| (a.0 - a.1) / normal::quantile(0.95));
        assert!((claimed / spread - 1.0).abs() < 0.15, "{claimed} for {spread}");
    }
}
