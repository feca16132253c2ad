//! The best randomised response on intervals of the score, on the continuum.

use super::cells::Cells;
use super::dynamic::Grouping;
use crate::law::{ScoreLaw, Tail};
use crate::levels::Levels;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Cuts, Epsilon, Error, FiniteChannel, Kernel, Partition, Result};

/// Into how many cells the range of the cuts is divided for the dynamic program.
const CELLS: u32 = 400;

/// What the dynamic program finds worse than this part of the best is not polished: a cell moves the information less.
const NEAR: f64 = 0.999;

/// Newton's steps: a handful settle from where the dynamic program ends.
const STEPS: u32 = 60;

/// No more reports are tried. About $1.25\,e^{\varepsilon/3}$ are best for a Gaussian mean: to ε = 11.6 it is no limit.
const MOST_REPORTS: u32 = 64;

/// Randomised response on intervals of the score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Intervals {
    /// $E - 1$.
    pub growth: f64,
    /// The levels of the score between which the intervals lie, in units, increasing.
    pub cuts: Vec<f64>,
    /// Mass and slope of the intervals, from the lowest scores.
    pub pieces: Vec<Tail>,
    /// The information, in units squared.
    pub information: f64,
}

impl Intervals {
    fn new<L: ScoreLaw + ?Sized>(levels: &L, growth: f64, cuts: Vec<f64>) -> Self {
        let mut pieces = Vec::with_capacity(cuts.len() + 1);
        let mut above = Tail { mass: 1.0, slope: 0.0 };
        for &cut in &cuts {
            let tail = levels.tail(cut);
            pieces.push(Tail { mass: above.mass - tail.mass, slope: above.slope - tail.slope });
            above = tail;
        }
        pieces.push(above);
        let reports = pieces.len() as f64;
        let sum: f64 = pieces.iter().map(|piece| piece.slope * piece.slope / (1.0 + growth * piece.mass)).sum();
        Self { growth, cuts, pieces, information: growth * (growth / (growth + reports)) * sum }
    }

    /// The scores of the reports: $t_z = (E-1)D_z/(1+(E-1)P_z)$.
    pub fn scores(&self) -> impl Iterator<Item = f64> {
        self.pieces.iter().map(|piece| self.growth * piece.slope / (1.0 + self.growth * piece.mass))
    }

    /// The mechanism: the label of an interval of the line is the number of cuts its score is above.
    pub fn channel<M: Cdf + Score + ?Sized>(&self, levels: &Levels<'_, M>, epsilon: Epsilon) -> Result<FiniteChannel> {
        let sets: Vec<Vec<(f64, f64)>> = self.cuts.iter().map(|&cut| levels.set(cut)).collect();
        let kernel = Kernel::response(epsilon, self.pieces.len() as u32)?;
        if let [set] = &sets[..]
            && let [(low, f64::INFINITY)] = set[..]
            && low.is_finite()
        {
            return FiniteChannel::new(Partition::Threshold(low), kernel);
        }
        let mut cuts: Vec<f64> = sets.iter().flatten().flat_map(|&(low, high)| [low, high]).collect();
        cuts.retain(|cut| cut.is_finite());
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
        let label =
            |x: f64| sets.iter().filter(|set| set.iter().any(|&(low, high)| low <= x && x < high)).count() as u32;
        // The leftmost interval begins at minus infinity, every other one at a cut.
        let labels = std::iter::once(f64::NEG_INFINITY).chain(cuts.iter().copied()).map(label).collect();
        FiniteChannel::new(Partition::Cuts(Cuts::labelled(cuts, labels)?), kernel)
    }
}

/// Where the score of a report can lie: the smallest and the largest $E[sv]/E[v]$ with $1 \le v \le E$.
///
/// The largest t solves $(E-1)E[(s-t)_+] = t$: for any such v, $E[v(s-t)] \le E[s-t] + (E-1)E[(s-t)_+]$.
pub(crate) fn report_scores<L: ScoreLaw + ?Sized>(levels: &L, growth: f64) -> (f64, f64) {
    let above = |t: f64| {
        let Tail { mass, slope } = levels.tail(t);
        growth * (slope - t * mass) > t
    };
    let below = |t: f64| {
        let slope = levels.tail(-t).slope;
        growth * (slope - t * levels.rest(-t)) > t
    };
    (-root(below), root(above))
}

/// Where a condition that holds at zero ceases to, from above.
fn root(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while holds(high) {
        (low, high) = (high, 2.0 * high);
    }
    // Down to rounding: halving a positive number ends by itself.
    loop {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            return high;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
}

/// The family in cells of equal width of score between two levels. Of a family of few whole numbers: all of them.
///
/// Returns the cells in the order of their scores, and the level at which each but the first begins.
pub(crate) fn quantised<L: ScoreLaw + ?Sized>(
    levels: &L,
    (low, high): (f64, f64),
    cells: u32,
) -> Result<(Cells, Vec<f64>)> {
    let edges: Vec<f64> = if levels.enumerated() {
        levels.scores()
    } else {
        (0..=cells).map(|i| low + (high - low) * f64::from(i) / f64::from(cells)).collect()
    };
    let (mut masses, mut slopes, mut begins) = (Vec::new(), Vec::new(), Vec::new());
    let (mut above, mut begin) = (Tail { mass: 1.0, slope: 0.0 }, f64::NEG_INFINITY);
    let mut push = |level: f64, tail: Tail| {
        if above.mass > tail.mass {
            masses.push(above.mass - tail.mass);
            slopes.push(above.slope - tail.slope);
            begins.push(begin);
            (above, begin) = (tail, level);
        }
    };
    edges.iter().for_each(|&edge| push(edge, levels.tail(edge)));
    push(f64::INFINITY, Tail::default());
    begins.remove(0);
    Ok((Cells::new(masses, slopes)?, begins))
}

/// The best response for every number of reports that may be the best of all.
fn candidates<L: ScoreLaw + ?Sized>(levels: &L, epsilon: Epsilon) -> Result<Vec<Intervals>> {
    let growth = epsilon.value().exp_m1();
    let (cells, begins) = quantised(levels, report_scores(levels, growth), CELLS)?;
    // Their order is known: by their own scores, rounding could put cells of the tails elsewhere.
    let found = cells.promising((0..cells.len()).collect(), epsilon, MOST_REPORTS)?;
    let largest = found.iter().fold(0.0, |most: f64, grouping| most.max(grouping.information));
    let promising = found.into_iter().filter(|grouping| grouping.information >= NEAR * largest);
    Ok(promising.map(|grouping| polish(levels, growth, borders(&grouping, &begins))).collect())
}

/// The best response with so many reports, if the family has as many scores.
pub(crate) fn with_reports<L: ScoreLaw + ?Sized>(levels: &L, epsilon: Epsilon, reports: u32) -> Result<Intervals> {
    if reports < 2 {
        return Err(Error::TooFew { name: "reports", least: 2, value: reports.into() });
    }
    let growth = epsilon.value().exp_m1();
    let (cells, begins) = quantised(levels, report_scores(levels, growth), CELLS.max(reports.saturating_mul(8)))?;
    let found = cells
        .groupings_in((0..cells.len()).collect(), epsilon, reports)?
        .pop()
        .filter(|grouping| grouping.reports == reports);
    let most = cells.len() as u64;
    let grouping = found.ok_or(Error::TooMany { name: "reports", most, value: reports.into() })?;
    Ok(polish(levels, growth, borders(&grouping, &begins)))
}

/// The levels at which the groups begin; the cells are in the order of their scores.
fn borders(grouping: &Grouping, begins: &[f64]) -> Vec<f64> {
    let pairs = grouping.labels.windows(2).zip(begins);
    pairs.filter(|(pair, _)| pair[0] != pair[1]).map(|(_, &begin)| begin).collect()
}

/// Cuts at which the information is stationary, from a start near them.
///
/// Moving a cut changes the information by the difference of $2t_z\ell - t_z^2$ on its two sides, which is zero at
/// $\ell = (t_z + t_{z+1})/2$. Newton's method on these equations has a tridiagonal matrix; where it does not increase the
/// information, the plain step to the midpoints does.
fn polish<L: ScoreLaw + ?Sized>(levels: &L, growth: f64, start: Vec<f64>) -> Intervals {
    let mut best = Intervals::new(levels, growth, start);
    if levels.enumerated() {
        // Between two of finitely many scores any cut is as good; the midpoint is the one that the dual function needs.
        let scores: Vec<f64> = best.scores().collect();
        let middles = scores.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        let centred = Intervals::new(levels, growth, middles);
        return if centred.information >= best.information * (1.0 - 1e-14) { centred } else { best };
    }
    for _ in 0..STEPS {
        let scores: Vec<f64> = best.scores().collect();
        let middles: Vec<f64> = scores.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        let steps = newton(levels, &best, &scores, &middles);
        let moved = best.cuts.iter().zip(&steps).map(|(cut, step)| cut + step).collect::<Vec<f64>>();
        let next = [moved, middles]
            .into_iter()
            .filter(|cuts| cuts.iter().all(|cut| cut.is_finite()) && cuts.windows(2).all(|pair| pair[0] < pair[1]))
            .map(|cuts| Intervals::new(levels, best.growth, cuts))
            .find(|next| next.information >= best.information * (1.0 - 1e-15));
        let Some(next) = next else { break };
        let size = next.cuts.iter().fold(0.0, |size: f64, cut| size.max(cut.abs()));
        let moved = next.cuts.iter().zip(&best.cuts).fold(0.0, |most: f64, (new, old)| most.max((new - old).abs()));
        best = next;
        if moved <= 1e-14 * size {
            break;
        }
    }
    tidy(levels, best)
}

/// Rounding removed where it is plain to see: cuts next to zero are at zero, and those of a symmetric law are symmetric.
fn tidy<L: ScoreLaw + ?Sized>(levels: &L, found: Intervals) -> Intervals {
    let size = found.cuts.iter().fold(0.0, |size: f64, cut| size.max(cut.abs())).max(1e-3 * found.growth);
    let mirrored = found.cuts.iter().zip(found.cuts.iter().rev());
    let cuts: Vec<f64> = mirrored
        .map(|(&cut, &other)| match cut {
            _ if cut.abs() < 1e-10 * size => 0.0,
            _ if (cut + other).abs() < 1e-10 * size => 0.5 * (cut - other),
            _ => cut,
        })
        .collect();
    let tidied = Intervals::new(levels, found.growth, cuts);
    if tidied.information >= found.information * (1.0 - 4.0 * f64::EPSILON) { tidied } else { found }
}

/// Newton's step for $\ell_z - (t_z + t_{z+1})/2 = 0$.
fn newton<L: ScoreLaw + ?Sized>(levels: &L, at: &Intervals, scores: &[f64], middles: &[f64]) -> Vec<f64> {
    let cuts = &at.cuts;
    let n = cuts.len();
    let width = scores[n] - scores[0];
    // How much the score of a report moves with the upper (or minus the lower) end of its interval.
    let density = |cut: f64| {
        let half = 1e-5 * width;
        (levels.tail(cut - half).mass - levels.tail(cut + half).mass) / (2.0 * half)
    };
    let pull = |z: usize, cut: f64| at.growth * (cut - scores[z]) / (1.0 + at.growth * at.pieces[z].mass);
    let densities: Vec<f64> = cuts.iter().map(|&cut| density(cut)).collect();
    let residual: Vec<f64> = cuts.iter().zip(middles).map(|(cut, middle)| middle - cut).collect();
    let lower = |z: usize| 0.5 * densities[z - 1] * pull(z, cuts[z - 1]);
    let diagonal = |z: usize| 1.0 - 0.5 * densities[z] * (pull(z, cuts[z]) - pull(z + 1, cuts[z]));
    let upper = |z: usize| -0.5 * densities[z + 1] * pull(z + 1, cuts[z + 1]);
    // Elimination from the top, then back.
    let (mut pivots, mut rights) = (vec![0.0; n], vec![0.0; n]);
    for z in 0..n {
        let (mut pivot, mut right) = (diagonal(z), residual[z]);
        if z > 0 {
            let factor = lower(z) / pivots[z - 1];
            pivot -= factor * upper(z - 1);
            right -= factor * rights[z - 1];
        }
        (pivots[z], rights[z]) = (pivot, right);
    }
    let mut steps = vec![0.0; n];
    for z in (0..n).rev() {
        let carried = if z + 1 < n { upper(z) * steps[z + 1] } else { 0.0 };
        steps[z] = (rights[z] - carried) / pivots[z];
    }
    steps
}

/// The best of all, the smaller number of reports where two are equal.
pub(crate) fn best<L: ScoreLaw + ?Sized>(levels: &L, epsilon: Epsilon) -> Result<Intervals> {
    let found = candidates(levels, epsilon)?;
    found
        .into_iter()
        .reduce(|best, next| if next.information > best.information * (1.0 + 1e-13) { next } else { best })
        .ok_or(Error::Uninformative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Bernoulli, Exponential, Gaussian, GaussianScale, Laplace, Logistic, StudentT};

    fn found(model: &(impl Cdf + Score), theta: f64, epsilon: f64) -> (f64, usize, Vec<f64>) {
        let levels = Levels::new(model, theta).unwrap();
        let best = best(&levels, Epsilon::new(epsilon).unwrap()).unwrap();
        let unit = levels.unit();
        (best.information * unit * unit, best.pieces.len(), best.cuts.iter().map(|cut| cut * unit).collect())
    }

    #[test]
    fn reference_values() {
        // Information, reports and one cut in units of x, from an independent computation.
        let check =
            |(information, reports, levels): (f64, usize, Vec<f64>), value: f64, m: usize, cut: (usize, f64)| {
                assert!((information - value).abs() < 1e-9, "{information} {value}");
                assert_eq!(reports, m);
                assert!((levels[cut.0] - cut.1).abs() < 1e-5, "{levels:?}");
            };
        let gaussian = Gaussian::new(1.0).unwrap();
        check(found(&gaussian, 0.3, 1.0), 0.135951596, 2, (0, 0.0));
        check(found(&gaussian, 0.3, 2.0), 0.369255803, 2, (0, 0.0));
        check(found(&gaussian, -7.0, 3.0), 0.593651361, 3, (1, 0.48398));
        check(found(&gaussian, 0.3, 5.0), 0.85533558, 6, (4, 1.19245));
        let logistic = Logistic::new(1.0).unwrap();
        check(found(&logistic, 2.0, 1.0), 0.053388067, 2, (0, 0.0));
        // The score of the logistic law is tanh(x/2).
        check(found(&logistic, 2.0, 4.0), 0.271536062, 4, (2, (0.9396f64 / 2.0).tanh()));
        check(found(&Exponential, 1.0, 2.0), 0.333791574, 2, (0, 0.17625));
        check(found(&Exponential, 1.0, 5.0), 0.820343528, 6, (4, 1.88642));
        check(found(&GaussianScale, 1.0, 3.0), 1.016251648, 3, (0, 0.88753f64.powi(2) - 1.0));
    }

    #[test]
    fn units_do_not_matter() {
        let (plain, reports, cuts) = found(&Gaussian::new(1.0).unwrap(), 0.0, 4.3);
        for (sigma, theta) in [(0.3, -20.0), (3.0, 1e3), (1e-100, 0.0), (1e80, -1e85)] {
            let (scaled, m, levels) = found(&Gaussian::new(sigma).unwrap(), theta, 4.3);
            assert!((scaled * sigma * sigma / plain - 1.0).abs() < 1e-12 && m == reports);
            assert!(cuts.iter().zip(&levels).all(|(a, b)| (a - b * sigma).abs() < 1e-7), "{cuts:?} {levels:?}");
        }
    }

    #[test]
    fn two_scores_give_one_bit() {
        for epsilon in [0.01, 0.7, 3.0, 9.0, 20.0f64] {
            let tau = (0.5 * epsilon).tanh();
            let (information, reports, _) = found(&Laplace::new(2.0).unwrap(), 1.0, epsilon);
            assert!((information / (0.25 * tau * tau) - 1.0).abs() < 1e-14 && reports == 2);
            let (information, ..) = found(&Bernoulli, 0.5, epsilon);
            assert!((information / (4.0 * tau * tau) - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn no_cut_can_be_moved_for_the_better() {
        for epsilon in [1.5, 3.3, 6.0] {
            let student = StudentT::new(3.0, 1.0).unwrap();
            let levels = Levels::new(&student, 0.0).unwrap();
            let best = best(&levels, Epsilon::new(epsilon).unwrap()).unwrap();
            for z in 0..best.cuts.len() {
                for step in [-1e-3, 1e-3] {
                    let mut cuts = best.cuts.clone();
                    cuts[z] += step;
                    assert!(Intervals::new(&levels, best.growth, cuts).information < best.information * (1.0 - 1e-9));
                }
            }
        }
    }
}
