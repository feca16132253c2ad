//! Many cells: the best response on groups of them, with a bound for all mechanisms, in O(k²).

use super::beta::Beta;
use super::cells::Cells;
use super::certificate::usable;
use super::cutting::correct;
use super::dynamic::Grouping;
use super::intervals::{self, Intervals};
use super::proof::{GOAL, MOST_CORRECTED};
use super::tent::tent;
use crate::law::{ScoreLaw, Tail};
use ldp_core::{Epsilon, Result};

/// Steps towards feasible prices: each has a larger shift, and a handful settle it but for rounding.
const STEPS: u32 = 20;

/// A relative gap at which the tent is optimal but for rounding.
const NEAR: f64 = 1e-9;

/// With so many scores the linear program takes milliseconds.
const FEW: usize = 150;

/// Scores that differ by less than this part of their range are one: rounding of a tie.
const TIE: f64 = 1e-9;

/// Randomised response on groups of cells, and a bound that no ε-private mechanism on these cells exceeds.
///
/// See [`Cells::certify`].
#[derive(Clone, Debug, PartialEq)]
pub struct CertifiedGrouping {
    /// The mechanism.
    pub grouping: Grouping,
    /// What the information of no ε-private mechanism exceeds, but for rounding: $\sum_j\beta_j$.
    pub upper_bound: f64,
    /// β, the prices of the cells that prove it: [`Cells::price`] finds no report worth more than it costs.
    pub prices: Vec<f64>,
}

impl CertifiedGrouping {
    /// How much more than this mechanism a better one could have at most, relatively.
    #[must_use]
    pub fn relative_gap(&self) -> f64 {
        self.upper_bound / self.grouping.information - 1.0
    }
}

impl Cells {
    /// The best randomised response on groups of cells with neighbouring scores, and the proof how good it is.
    ///
    /// Where [`program`](Self::program) solves the linear program of all mechanisms to ten digits, at a cost that grows faster
    /// than k³, this one takes prices $\beta_j = r_j\,\beta(s_j)$ from a function β of the score with few knots, as
    /// [`certify`](super::certify) does, and makes them feasible by exact pricing. The cost is that of the dynamic program,
    /// O(k²) for each number of reports; the relative gap is about 2e-7 for families with many cells, and zero
    /// but for rounding where the linear program is small.
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_fisher::optimal::Cells;
    /// // Scores −500, …, 500, equally likely.
    /// let k = 1001;
    /// let cells = Cells::new(vec![1.0 / f64::from(k); k as usize], (0..k).map(|j| f64::from(j - k / 2)).collect())?;
    /// let best = cells.certify(Epsilon::new(2.5)?)?;
    /// assert!(best.relative_gap() < 1e-6 && best.grouping.reports == 3);
    /// assert!(cells.price(Epsilon::new(2.5)?, &best.prices)?.violation < 1e-9 * best.upper_bound);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    ///
    /// Levels are at most [`MOST_EPSILON`](super::MOST_EPSILON), cells at most 32,768.
    pub fn certify(&self, epsilon: Epsilon) -> Result<CertifiedGrouping> {
        usable(epsilon.value())?;
        self.check_size()?;
        let law = Sorted::new(self);
        let found = intervals::best(&law, epsilon)?;
        let group = |score: f64| found.cuts.partition_point(|&cut| cut <= score) as u32;
        let labels = law.places.iter().map(|&place| group(law.scores[place])).collect();
        let information = found.information * law.unit * law.unit;
        let (prices, upper_bound) = self.proof(&law, &found, epsilon)?;
        let grouping = Grouping { information, reports: found.pieces.len() as u32, labels };
        Ok(CertifiedGrouping { grouping, upper_bound, prices })
    }

    /// The lowest feasible prices of those of the tent, of the linear program where it is small, and of a correction of the
    /// tent; and their sum.
    fn proof(&self, law: &Sorted, found: &Intervals, epsilon: Epsilon) -> Result<(Vec<f64>, f64)> {
        let priced = |prices: Vec<f64>| -> Result<(Vec<f64>, f64)> {
            let prices = self.feasible(epsilon, prices)?;
            let sum = prices.iter().sum();
            Ok((prices, sum))
        };
        let at_scores = |beta: &Beta| -> Vec<f64> {
            let by_score: Vec<f64> = law.scores.iter().map(|&score| law.unit * law.unit * beta.at(score)).collect();
            self.masses().iter().zip(&law.places).map(|(mass, &place)| mass * by_score[place]).collect()
        };
        let tent = tent(law, found)?;
        let closed = priced(at_scores(&tent))?;
        if closed.1 <= found.information * law.unit * law.unit * (1.0 + NEAR) {
            return Ok(closed);
        }
        if law.scores.len() <= FEW
            && let Ok(program) = self.program(epsilon)
        {
            return priced(program.prices);
        }
        let mut best = closed;
        if epsilon.value() <= MOST_CORRECTED {
            let corrected = correct(law, found, &tent, epsilon.value(), found.information * (1.0 + GOAL));
            best = lower(best, priced(at_scores(&corrected.beta))?);
        }
        // Feasible by the inequality of Cauchy and Schwarz: the bound is the information of the cells themselves.
        let itself = self.slopes().iter().zip(self.masses()).map(|(slope, mass)| slope * (slope / mass)).collect();
        Ok(lower(best, priced(itself)?))
    }

    /// $\beta + \kappa r$ with the smallest κ for which no report is worth more than it costs, but for rounding.
    ///
    /// Dinkelbach's method: the report that is most undervalued needs a certain κ; with that, others may need more.
    fn feasible(&self, epsilon: Epsilon, mut prices: Vec<f64>) -> Result<Vec<f64>> {
        let growth = epsilon.value().exp_m1();
        let raise = |prices: &mut [f64], kappa: f64| {
            prices.iter_mut().zip(self.masses()).for_each(|(price, mass)| *price += kappa * mass);
        };
        for step in 1..=STEPS {
            let worst = self.price(epsilon, &prices)?;
            let more: f64 = self.masses().iter().zip(&worst.pattern).filter(|cell| *cell.1).map(|cell| cell.0).sum();
            let kappa = worst.violation / (1.0 + growth * more);
            // The first may lower prices that have slack; after that they only rise.
            if step > 1 && !(kappa > 0.0) {
                break;
            }
            raise(&mut prices, kappa);
        }
        Ok(prices)
    }
}

/// The prices with the smaller sum.
fn lower(one: (Vec<f64>, f64), other: (Vec<f64>, f64)) -> (Vec<f64>, f64) {
    if other.1 < one.1 { other } else { one }
}

/// The law of the scores of cells.
struct Sorted {
    /// The root of the information of the cells: one unit of score.
    unit: f64,
    /// The different scores, in units, increasing.
    scores: Vec<f64>,
    /// Of each cell, which of the scores it has.
    places: Vec<usize>,
    /// Of the cells from each score on; one more than scores.
    tails: Vec<Tail>,
    /// The masses before each score.
    rests: Vec<f64>,
}

impl Sorted {
    fn new(cells: &Cells) -> Self {
        let unit = cells.information().sqrt();
        let order = cells.by_score();
        let of = |j: usize| Tail { mass: cells.masses()[j], slope: cells.slopes()[j] / unit };
        let score = |tail: Tail| tail.slope / tail.mass;
        let range = score(of(order[order.len() - 1])) - score(of(order[0]));
        let (mut firsts, mut groups, mut places) = (Vec::<f64>::new(), Vec::<Tail>::new(), vec![0; cells.len()]);
        for j in order {
            let cell = of(j);
            if !firsts.last().is_some_and(|first| score(cell) - first <= TIE * range) {
                firsts.push(score(cell));
                groups.push(Tail::default());
            }
            places[j] = groups.len() - 1;
            let group = &mut groups[places[j]];
            *group = Tail { mass: group.mass + cell.mass, slope: group.slope + cell.slope };
        }
        let scores = groups.iter().map(|&group| score(group)).collect();
        let mut tails = vec![Tail::default(); groups.len() + 1];
        let mut rests = vec![0.0; groups.len() + 1];
        for i in (0..groups.len()).rev() {
            tails[i] = Tail { mass: tails[i + 1].mass + groups[i].mass, slope: tails[i + 1].slope + groups[i].slope };
        }
        // Everything, without the rounding of the sums.
        tails[0] = Tail { mass: 1.0, slope: 0.0 };
        for i in 0..groups.len() {
            rests[i + 1] = rests[i] + groups[i].mass;
        }
        Self { unit, scores, places, tails, rests }
    }

    fn place(&self, level: f64) -> usize {
        self.scores.partition_point(|&score| score < level)
    }
}

impl ScoreLaw for Sorted {
    fn tail(&self, level: f64) -> Tail {
        self.tails[self.place(level)]
    }

    fn rest(&self, level: f64) -> f64 {
        self.rests[self.place(level)]
    }

    fn scores(&self) -> Vec<f64> {
        self.scores.clone()
    }

    fn enumerated(&self) -> bool {
        true
    }
}
