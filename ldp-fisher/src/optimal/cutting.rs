//! A better dual function than the tent: a piecewise linear correction by cutting planes.

use super::beta::Beta;
use super::dual::Dual;
use super::intervals::Intervals;
use super::nearest::Nearest;
use crate::law::ScoreLaw;

/// Steps of a climb.
const STEPS: u32 = 6;

/// Pieces of the correction per interval of the score, by the number of intervals: 8 reach a gap of 2e-7, 4 about 2e-6 and 2
/// about 1e-5, in a tenth of the time each.
fn pieces(intervals: usize) -> u32 {
    match intervals {
        0..=6 => 48u32.div_ceil(intervals.max(1) as u32),
        7..=24 => 8,
        25..=36 => 4,
        _ => 2,
    }
}

/// Rounds after which the best function so far has to do.
const ROUNDS: u32 = 60;

/// What a number of rounds came to.
pub(crate) struct Corrected {
    /// The best function found, raised so that its G has no maximum above zero.
    pub beta: Beta,
    /// Its integral: about the bound that it proves.
    pub bound: f64,
}

/// A function β that is linear between knots, with $G \le 0$ and an integral of at most about `goal`.
///
/// The constraint of a report v is linear in β: $\int v\beta p \ge \mu(v)$. Every local maximum of G is such a report, so
/// constraints are added where G is positive until it is not. Of all functions that satisfy those found so far, the trial is
/// the one nearest to the tent: the minimiser of the integral, a vertex, would jump about. Half a dozen rounds suffice where
/// Kelley's method takes hundreds.
pub(crate) fn correct<L: ScoreLaw + ?Sized>(
    levels: &L,
    found: &Intervals,
    tent: &Beta,
    epsilon: f64,
    goal: f64,
) -> Corrected {
    let mut search = Search::new(levels, epsilon, tent.refined(knots(levels, found)));
    let mut allowance = 0.5 * (goal - search.integral);
    search.limit(allowance);
    let mut best = search.price(&search.tent.clone(), 1e-3 * search.integral);
    for _ in 0..ROUNDS {
        while search.nearest.solve(1e-12 * search.integral).is_err() {
            // No function on these knots has so small an integral.
            allowance *= 2.0;
            if !(search.integral + allowance < best.bound) {
                return best;
            }
            search.limit(allowance);
        }
        let tolerance = (0.1 * (best.bound - search.integral)).max(0.2 * allowance);
        let trial = search.price(&search.trial(), tolerance);
        if trial.bound < best.bound {
            best = trial;
        }
        if best.bound <= search.integral + 2.0 * allowance {
            break;
        }
    }
    best
}

/// Where the correction may bend: at equal pieces per interval, the outermost of which reach twice as far as their mean. Where
/// there are only so many scores, at some of these: every one where an interval has few, for nothing lies between them.
fn knots<L: ScoreLaw + ?Sized>(levels: &L, found: &Intervals) -> Vec<f64> {
    let last = found.pieces.len() - 1;
    let pieces = pieces(found.pieces.len());
    let all = if levels.enumerated() { levels.scores() } else { Vec::new() };
    let mut knots = Vec::new();
    for (z, piece) in found.pieces.iter().enumerate() {
        let mean = piece.slope / piece.mass;
        let (low, high) = match z {
            0 => (2.0 * mean - found.cuts[0], found.cuts[0]),
            _ if z == last => (found.cuts[z - 1], 2.0 * mean - found.cuts[z - 1]),
            _ => (found.cuts[z - 1], found.cuts[z]),
        };
        if all.is_empty() {
            knots.extend((0..=pieces).map(|i| low + (high - low) * f64::from(i) / f64::from(pieces)));
            continue;
        }
        let from = if z == 0 { 0 } else { all.partition_point(|&score| score < low) };
        let to = if z == last { all.len() } else { all.partition_point(|&score| score < high) };
        let (inside, steps) = (&all[from..to], pieces as usize);
        match inside.len() {
            few if few <= steps + 1 => knots.extend(inside),
            many => knots.extend((0..=steps).map(|i| inside[i * (many - 1) / steps])),
        }
    }
    knots
}

/// The inequalities found so far and what finds more.
struct Search<'a, L: ?Sized> {
    levels: &'a L,
    epsilon: f64,
    growth: f64,
    /// Where the correction is zero.
    tent: Beta,
    /// Its integral, and how that depends on the parameters.
    integral: f64,
    moments: Vec<f64>,
    /// The length of a unit of each parameter.
    lengths: Vec<f64>,
    nearest: Nearest,
}

impl<'a, L: ScoreLaw + ?Sized> Search<'a, L> {
    fn new(levels: &'a L, epsilon: f64, tent: Beta) -> Self {
        let growth = epsilon.exp_m1();
        let dual = Dual::new(levels, &tent, epsilon);
        let moments = dual.moments_of_all();
        let integral = dual.integral().value;
        let lengths: Vec<f64> = moments.iter().map(|moment| moment.abs().max(1e-6).sqrt()).collect();
        let mut search =
            Self { levels, epsilon, growth, nearest: Nearest::new(moments.len()), tent, integral, moments, lengths };
        // The first inequality is that of the integral.
        let row = search.integral_row();
        search.nearest.add(&row, 0.0);
        search
    }

    /// Minus the change of the integral with each parameter, per unit of length.
    fn integral_row(&self) -> Vec<f64> {
        self.moments.iter().zip(&self.lengths).map(|(moment, length)| -moment / length).collect()
    }

    /// The integral may exceed that of the tent by so much.
    fn limit(&mut self, allowance: f64) {
        let row = self.integral_row();
        self.nearest.relax(0, &row, -allowance);
    }

    /// The tent with the correction found last.
    fn trial(&self) -> Beta {
        let point = self.nearest.point().iter().zip(&self.lengths);
        let parameters: Vec<f64> =
            self.tent.parameters().iter().zip(point).map(|(tent, (x, length))| tent + x / length).collect();
        self.tent.with(&parameters)
    }

    /// Adds the constraint of every hill of G above zero, and returns the function raised until none is, by more than about
    /// `tolerance`.
    fn price(&mut self, trial: &Beta, tolerance: f64) -> Corrected {
        let mut beta = trial.clone();
        let dual = Dual::new(self.levels, &beta, self.epsilon);
        let mut hills = dual.hills(tolerance);
        for (t, shift) in &mut hills {
            (*t, *shift) = dual.climb(*t, STEPS);
            if *shift > 0.0 {
                let (row, bound) = self.constraint(&dual, *t);
                self.nearest.add(&row, bound);
            }
        }
        let mut bound = dual.integral().value;
        // Raising β lowers hills by different amounts and moves them a little: a few times, for the highest.
        for _ in 0..3 {
            let shift = hills.iter().fold(0.0, |most: f64, hill| most.max(hill.1));
            hills.retain(|hill| hill.1 >= 0.9 * shift);
            bound += shift;
            beta = beta.raised(shift);
            let dual = Dual::new(self.levels, &beta, self.epsilon);
            hills.iter_mut().for_each(|(t, shift)| (*t, *shift) = dual.climb(*t, STEPS));
        }
        // Hills that are lower than the tolerance were not looked for.
        Corrected { beta: beta.raised(tolerance), bound: bound + tolerance }
    }

    /// The constraint on the correction of the report that is best at t.
    fn constraint(&self, dual: &Dual<'_, L>, t: f64) -> (Vec<f64>, f64) {
        let mut row = self.moments.clone();
        let (mut mass, mut slope) = (0.0, 0.0);
        dual.positive(t, |i, low, high| {
            dual.add_moments(i, self.growth, low, high, &mut row);
            mass += low.mass - high.mass;
            slope += low.slope - high.slope;
        });
        let size = 1.0 + self.growth * mass;
        let worth = (self.growth * slope).powi(2) / size;
        let tent: f64 = row.iter().zip(self.tent.parameters()).map(|(moment, value)| moment * value).sum();
        row.iter_mut().zip(&self.lengths).for_each(|(entry, length)| *entry /= size * length);
        (row, (worth - tent) / size)
    }
}
