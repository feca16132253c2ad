//! Column generation: the prices that prove a mechanism optimal, and the few reports that it needs.

use super::cells::Cells;
use super::pricing::{Peak, Sweep, pattern};
use super::simplex::Simplex;
use ldp_core::{Error, Result};

/// The relative gap between information and bound at which the search stops.
const GAP: f64 = 1e-10;

/// Weights of the box below this are rounding: the columns of a mechanism need not add up better.
const FREE: f64 = 1e-12;

/// Rounds before giving up, several times what any family tried has needed.
const MOST_ROUNDS: usize = 3000;

/// Families with more cells than this are first solved with half as many.
const COARSEST: usize = 16;

/// How far prices may first move from the best ones known, relatively: without and with a coarser solution.
const RADII: [f64; 2] = [0.5, 0.02];

/// So many rounds without much progress before the box is halved.
const PATIENCE: usize = 5;

/// Reports that so many solutions have neither used nor wanted are forgotten.
const AGE: u32 = 5;

/// Steps towards feasible prices; more than a handful have not been seen but for rounding.
const MOST_STEPS: usize = 20;

/// A report is worth adding if it is worth more than its price by this part of both.
const VIOLATED: f64 = 1e-13;

/// Column generation under way.
///
/// The master program knows some of the reports, and for every price a lower and an upper limit: a box around the best
/// prices known. Each round prices all reports at the master's solution, adds those that are undervalued, and moves the
/// box if the solution, once made feasible, is better than its centre. The limits are columns like any others, $\pm e_j$;
/// when the solution gives them no weight it is one of the program without a box.
pub(super) struct Search<'a> {
    cells: &'a Cells,
    /// E − 1.
    growth: f64,
    /// The first 2k columns are the box, the others reports divided by E: then all weights are of one size.
    master: Simplex,
    /// Feasible prices with the smallest sum so far, and that sum.
    pub(super) best: Vec<f64>,
    pub(super) bound: f64,
    pub(super) rounds: usize,
    radius: f64,
    sweep: Sweep,
    peaks: Vec<Peak>,
    trial: Vec<f64>,
}

impl<'a> Search<'a> {
    pub(super) fn run(cells: &'a Cells, growth: f64) -> Result<Self> {
        let mut search = Self::start(cells, growth)?;
        let mut waited = 0;
        while search.rounds < MOST_ROUNDS {
            search.rounds += 1;
            search.master.solve()?;
            let (value, before) = (search.master.value(), search.bound);
            if search.is_free() && (before - search.information()).abs() <= GAP * before {
                return Ok(search);
            }
            if before - value <= GAP * before {
                search.radius *= 4.0;
                search.centre();
                continue;
            }
            search.trial.copy_from_slice(search.master.prices());
            search.try_prices(true)?;
            let progress = (before - search.bound) / (before - value);
            waited = if progress >= 0.1 { 0 } else { waited + 1 };
            if progress >= 0.5 && !search.is_free() {
                search.radius *= 2.0;
            } else if waited == PATIENCE {
                search.radius *= 0.5;
                waited = 0;
            }
            search.centre();
            search.master.prune(2 * cells.len(), AGE);
        }
        let (value, error) = (search.master.value(), search.bound - search.master.value());
        Err(Error::Unsettled { what: "the linear program of all mechanisms", value, error })
    }

    /// What the reports of the solution are worth.
    fn information(&self) -> f64 {
        let reports = self.master.weights().filter(|&(index, _)| index >= 2 * self.cells.len());
        reports.map(|(index, weight)| weight * self.master.cost(index)).sum()
    }

    /// The reports of the solution, as patterns with weights.
    pub(super) fn reports(&self) -> Vec<(Vec<bool>, f64)> {
        let used = self.master.weights().filter(|&(index, weight)| index >= 2 * self.cells.len() && weight > 0.0);
        used.map(|(index, weight)| {
            (self.master.column(index).iter().map(|&x| x == 1.0).collect(), weight / (1.0 + self.growth))
        })
        .collect()
    }

    fn start(cells: &'a Cells, growth: f64) -> Result<Self> {
        let k = cells.len();
        let mut unit = vec![0.0; k * k];
        (0..k).for_each(|j| unit[j * k + j] = 1.0);
        let mut master = Simplex::new(vec![1.0; k], unit.clone(), vec![0.0; k])?;
        unit.iter_mut().for_each(|x| *x = -*x);
        for column in unit.chunks_exact(k) {
            master.add(column, 0.0)?;
        }
        // Feasible by the inequality of Cauchy and Schwarz: the bound is the information of the cells themselves.
        let best: Vec<f64> =
            cells.slopes().iter().zip(cells.masses()).map(|(slope, mass)| slope * (slope / mass)).collect();
        let mut search = Self {
            cells,
            growth,
            master,
            bound: best.iter().sum(),
            trial: best.clone(),
            best,
            rounds: 0,
            radius: RADII[0],
            sweep: Sweep::default(),
            peaks: Vec::new(),
        };
        if k > COARSEST
            && let Some(coarse) = Coarse::new(cells)
        {
            let solved = Search::run(&coarse.cells, growth)?;
            for (pattern, _) in solved.reports() {
                let finer: Vec<bool> = coarse.place.iter().map(|&i| pattern[i]).collect();
                search.add(&finer)?;
            }
            search.trial = coarse.refine(cells, &solved.best);
            search.radius = RADII[1];
        }
        search.try_prices(false)?;
        search.centre();
        Ok(search)
    }

    /// Whether the solution gives the box no weight.
    fn is_free(&self) -> bool {
        self.master.weights().all(|(index, weight)| index >= 2 * self.cells.len() || weight <= FREE)
    }

    /// Puts the box around the best prices.
    fn centre(&mut self) {
        let around = || self.best.iter().zip(self.cells.masses());
        let reach = |price: f64, mass: f64| self.radius * (price.abs() + self.bound * mass);
        let lower = around().map(|(&price, &mass)| price - reach(price, mass));
        let upper = around().map(|(&price, &mass)| -price - reach(price, mass));
        self.master.reprice(lower.chain(upper));
    }

    /// Makes the trial prices feasible by the smallest multiple κ of the masses, and keeps them if they are better than the
    /// best; if asked to, adds the reports found on the way that the solution undervalues.
    ///
    /// Dinkelbach's method: κ rises to its value in a few steps, each from the report that needs it most among those that
    /// are local maxima. Only the first may be negative.
    fn try_prices(&mut self, adds: bool) -> Result<()> {
        let (masses, slopes) = (self.cells.masses(), self.cells.slopes());
        let solution = self.master.prices().to_vec();
        let first = self.master.len();
        for step in 1..=MOST_STEPS {
            self.sweep.maxima(masses, slopes, &self.trial, self.growth, &mut self.peaks);
            let mut kappa = f64::NEG_INFINITY;
            for i in 0..self.peaks.len() {
                let Peak { t, value } = self.peaks[i];
                let report: Vec<bool> = pattern(self.cells, &self.trial, t).collect();
                let more: f64 = masses.iter().zip(&report).map(|(&mass, &more)| if more { mass } else { 0.0 }).sum();
                kappa = kappa.max(value / (1.0 + self.growth * more));
                if adds {
                    self.add_if_undervalued(&report, &solution, first)?;
                }
            }
            self.trial.iter_mut().zip(masses).for_each(|(price, mass)| *price += kappa * mass);
            // Convergence is faster than linear, so after the last step only rounding can be left: at ε = 15 that was once
            // 1e-12 of the bound, and waiting for less would have waited for ever.
            if (step > 1 && kappa <= 1e-13 * self.bound) || step == MOST_STEPS {
                let bound: f64 = self.trial.iter().sum();
                if bound < self.bound {
                    self.bound = bound;
                    self.best.clone_from(&self.trial);
                }
                break;
            }
        }
        Ok(())
    }

    /// Adds a report if it is worth more than it costs at these prices, and not among the columns from `first` on.
    fn add_if_undervalued(&mut self, report: &[bool], prices: &[f64], first: usize) -> Result<()> {
        let worth = self.cells.worth(self.growth, report);
        let factor = |more: bool| if more { 1.0 + self.growth } else { 1.0 };
        let costs = prices.iter().zip(report).map(|(price, &more)| price * factor(more));
        let (cost, size) = costs.fold((0.0, worth), |(sum, size), cost| (sum + cost, size + cost.abs()));
        let same = |index: usize| self.master.column(index).iter().zip(report).all(|(&x, &more)| (x == 1.0) == more);
        if worth - cost > VIOLATED * size && !(first..self.master.len()).any(same) {
            self.add(report)?;
        }
        Ok(())
    }

    fn add(&mut self, report: &[bool]) -> Result<()> {
        let small = 1.0 / (1.0 + self.growth);
        let column: Vec<f64> = report.iter().map(|&more| if more { 1.0 } else { small }).collect();
        self.master.add(&column, small * self.cells.worth(self.growth, report))?;
        Ok(())
    }
}

/// A family with neighbours in score merged in pairs.
struct Coarse {
    cells: Cells,
    /// The pair of each cell.
    place: Vec<usize>,
}

impl Coarse {
    /// None if the pairs say nothing about the parameter.
    fn new(cells: &Cells) -> Option<Self> {
        let pairs = cells.len().div_ceil(2);
        let (mut masses, mut slopes, mut place) = (vec![0.0; pairs], vec![0.0; pairs], vec![0; cells.len()]);
        for (rank, j) in cells.by_score().into_iter().enumerate() {
            place[j] = rank / 2;
            masses[rank / 2] += cells.masses()[j];
            slopes[rank / 2] += cells.slopes()[j];
        }
        Some(Self { cells: Cells::new(masses, slopes).ok()?, place })
    }

    /// Prices for the cells: $\beta_j/r_j$ interpolated linearly in the score between those of the pairs.
    fn refine(&self, cells: &Cells, prices: &[f64]) -> Vec<f64> {
        let score = |cells: &Cells, j: usize| cells.slopes()[j] / cells.masses()[j];
        let level = |i: usize| prices[i] / self.cells.masses()[i];
        let refined = self.place.iter().enumerate().map(|(j, &i)| {
            let (own, centre) = (score(cells, j), score(&self.cells, i));
            let after = i == 0 || (own > centre && i + 1 < prices.len());
            let other = if after { i + 1 } else { i - 1 };
            let distance = score(&self.cells, other) - centre;
            let part = (own - centre) / distance;
            // Equal scores, and outliers, which no line through inner scores should reach, keep the price of their pair.
            let part = if part.abs() <= 2.0 { part } else { 0.0 };
            cells.masses()[j] * (level(i) + part * (level(other) - level(i)))
        });
        refined.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_simulate::seed::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn the_program_with_all_reports_has_the_same_value() {
        for case in 0..120 {
            let mut rng = stream(1, Purpose::Data, case, 0);
            let k = rng.random_range(2..=if case % 20 == 0 { 12 } else { 8 });
            let masses: Vec<f64> = (0..k).map(|_| rng.random_range(0.02..1.0)).collect();
            let total: f64 = masses.iter().sum();
            let masses: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
            let scores: Vec<f64> = (0..k).map(|_| rng.random_range(-2.0..2.0)).collect();
            let mean: f64 = masses.iter().zip(&scores).map(|(mass, score)| mass * score).sum();
            let slopes = masses.iter().zip(&scores).map(|(mass, score)| mass * (score - mean)).collect();
            let cells = Cells::new(masses, slopes).unwrap();
            for level in [0.2f64, 1.0, 2.5, 4.0] {
                let growth = level.exp_m1();
                // All 2^k reports, from k-ary randomised response.
                let column = |set: usize| -> Vec<f64> {
                    (0..k).map(|j| if set >> j & 1 == 1 { 1.0 + growth } else { 1.0 }).collect()
                };
                let worth = |set: usize| cells.worth(growth, &(0..k).map(|j| set >> j & 1 == 1).collect::<Vec<_>>());
                let start: Vec<f64> = (0..k).flat_map(|j| column(1 << j)).collect();
                let costs = (0..k).map(|j| worth(1 << j)).collect();
                let mut all = Simplex::new(vec![1.0; k], start, costs).unwrap();
                for set in 0..1usize << k {
                    all.add(&column(set), worth(set)).unwrap();
                }
                all.solve().unwrap();
                // Proved without trusting the simplex: feasible weights, feasible prices, equal values.
                assert!(all.residual() < 1e-13 && all.weights().all(|(_, weight)| weight >= 0.0));
                let value: f64 = all.weights().map(|(index, weight)| weight * all.cost(index)).sum();
                for set in 0..1usize << k {
                    let price: f64 = all.prices().iter().zip(column(set)).map(|(price, x)| price * x).sum();
                    assert!(price >= worth(set) - 1e-12);
                }
                assert!((all.prices().iter().sum::<f64>() - value).abs() <= 1e-11 * value);
                let found = Search::run(&cells, growth).unwrap();
                assert!((found.bound - value).abs() <= 1e-9 * value, "{case} {level}: {} {value}", found.bound);
            }
        }
    }

    #[test]
    fn coarse_prices_that_are_linear_in_the_score_stay_so() {
        let masses = vec![0.1, 0.2, 0.15, 0.05, 0.3, 0.2];
        let slopes = vec![0.2, -0.1, 0.0, 0.05, -0.25, 0.1];
        let cells = Cells::new(masses, slopes).unwrap();
        let coarse = Coarse::new(&cells).unwrap();
        let prices: Vec<f64> = coarse
            .cells
            .masses()
            .iter()
            .zip(coarse.cells.slopes())
            .map(|(mass, slope)| 3.0 * mass - 2.0 * slope)
            .collect();
        for (j, price) in coarse.refine(&cells, &prices).into_iter().enumerate() {
            assert!((price - (3.0 * cells.masses()[j] - 2.0 * cells.slopes()[j])).abs() < 1e-15, "{j}");
        }
    }
}
