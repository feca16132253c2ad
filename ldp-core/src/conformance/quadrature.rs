//! The law of a real report, cut into cells of about equal probability, and integrals over it.

use super::{Violation, ensure, thinned};
use crate::error::{Error, Result};
use crate::mechanism::RealReports;
use crate::tally::Tally;
use std::sync::LazyLock;

/// Nodes of a panel.
const NODES: usize = 16;
/// Panels of a cell, doubled until its integral stands still.
const PANELS: [u32; 7] = [2, 4, 8, 16, 32, 64, 128];
/// Cells of equal probability, before breaks and atoms cut them further. Few enough for a slice of 256 reports to have
/// its share in each.
const CELLS: u32 = 32;
/// Breaks at which a sample is cut.
const MOST_BREAKS: usize = 16;
/// What may lie beyond the outermost edges, on either side.
const BEYOND: f64 = 1e-13;
/// What a cdf may be off by in its last bits.
const ROUNDING: f64 = 1e-15;

/// Nodes and weights of Gauss–Legendre quadrature on [−1, 1]: roots of the Legendre polynomial, by Newton's method.
static RULE: LazyLock<[(f64, f64); NODES]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        let n = NODES as f64;
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..10 {
            let (mut before, mut value) = (1.0, x);
            for k in 2..=NODES {
                let k = k as f64;
                (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
});

/// ∫ f from `from` to `to`.
pub(super) fn integrate(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let composite = |panels: u32| {
        let half = (to - from) / f64::from(2 * panels);
        let panel = |k: u32| {
            let centre = from + half * f64::from(2 * k + 1);
            RULE.iter().map(|(x, weight)| weight * f(centre + half * x)).sum::<f64>()
        };
        half * (0..panels).map(panel).sum::<f64>()
    };
    let mut found = composite(1);
    for panels in PANELS {
        let finer = composite(panels);
        let still = (finer - found).abs() <= 1e-14 * finer.abs();
        found = finer;
        if still {
            break;
        }
    }
    found
}

/// The law of a mechanism's reports at one input, between edges: quantiles, breaks and atoms.
pub(super) struct Law<'a, Q> {
    mechanism: &'a Q,
    input: f64,
    /// Increasing; all but 2e-13 of the probability lies between the first and the last.
    pub(super) edges: Vec<f64>,
    /// Which edges are atoms, increasing.
    atoms: Vec<usize>,
    /// The edges that are quantiles.
    quantiles: Vec<f64>,
}

impl<'a, Q: RealReports> Law<'a, Q> {
    /// Cuts the law, once `report_cdf` is seen to be the cdf of something; else a violation of `law`.
    pub(super) fn new(mechanism: &'a Q, input: f64, law: &'static str) -> Result<Self, Violation> {
        let cdf = |z| mechanism.report_cdf(z, input);
        for (z, limit) in [(-1e300, 0.0), (1e300, 1.0)] {
            let found = cdf(z);
            ensure((found - limit).abs() <= BEYOND, law, || format!("input {input}: {found} at {z:e}"))?;
        }
        let shares = (1..CELLS).map(|k| f64::from(k) / f64::from(CELLS));
        let quantiles = [BEYOND, 1.0 - BEYOND].into_iter().chain(shares).map(|p| quantile(p, cdf)).collect();
        let cut = Self::cut(mechanism, input, quantiles, &mechanism.breaks(input));
        let unreal = cut.edges.iter().find(|edge| !edge.is_finite());
        ensure(unreal.is_none(), law, || format!("input {input}: a break, atom or quantile is {unreal:?}"))?;
        let mut last = 0.0;
        for pair in cut.edges.windows(2) {
            for z in [pair[0], pair[0].midpoint(pair[1]), pair[1]] {
                let found = cdf(z);
                let rises = found >= last - ROUNDING && found <= 1.0 + ROUNDING;
                ensure(rises, law, || format!("input {input}: {found} at {z} after {last}"))?;
                last = found;
            }
        }
        Ok(cut)
    }

    fn cut(mechanism: &'a Q, input: f64, quantiles: Vec<f64>, breaks: &[f64]) -> Self {
        let atoms = mechanism.atoms();
        let mut edges = [&quantiles, breaks, &atoms].concat();
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let atoms = (0..edges.len()).filter(|&place| atoms.contains(&edges[place])).collect();
        Self { mechanism, input, edges, atoms, quantiles }
    }

    /// The same law with [`MOST_BREAKS`] breaks at most: of thousands of cells none would have its share of a sample.
    pub(super) fn coarse(&self) -> Self {
        let breaks = thinned(&self.mechanism.breaks(self.input), MOST_BREAKS);
        Self::cut(self.mechanism, self.input, self.quantiles.clone(), &breaks)
    }

    fn density(&self, report: f64) -> f64 {
        self.mechanism.ln_density(&report, &self.input).exp()
    }

    /// The probability of the edge itself.
    fn at_edge(&self, place: usize) -> f64 {
        if self.atoms.binary_search(&place).is_ok() { self.density(self.edges[place]) } else { 0.0 }
    }

    /// The probability of every cell by `report_cdf`: those below, between and above the edges, then the atoms.
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let cdf = |place: usize| self.mechanism.report_cdf(self.edges[place], self.input);
        let last = self.edges.len();
        let between = (0..=last).map(|place| {
            let below = if place == 0 { 0.0 } else { cdf(place - 1) };
            let up_to = if place == last { 1.0 } else { cdf(place) - self.at_edge(place) };
            // A difference of equal numbers may come out just below zero.
            if (up_to - below).abs() < ROUNDING { 0.0 } else { up_to - below }
        });
        between.chain(self.atoms.iter().map(|&place| self.at_edge(place))).collect()
    }

    /// ∫ f q over every cell between two edges.
    pub(super) fn integrals(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let cell = |pair: &[f64]| {
            integrate(pair[0], pair[1], |z| {
                let density = self.density(z);
                if density == 0.0 { 0.0 } else { density * f(z) }
            })
        };
        self.edges.windows(2).map(cell).collect()
    }

    /// E f(Z), by quadrature and the atoms.
    pub(super) fn expectation(&self, f: &dyn Fn(f64) -> f64) -> f64 {
        let atoms: f64 = self.atoms.iter().map(|&place| self.at_edge(place) * f(self.edges[place])).sum();
        atoms + self.integrals(f).iter().sum::<f64>()
    }

    /// An empty tally of reports by cell.
    pub(super) fn cells(&self) -> Cells<'_> {
        let counts = vec![0; self.edges.len() + 1 + self.atoms.len()];
        Cells { edges: &self.edges, atoms: &self.atoms, counts }
    }
}

/// The smallest number at which a cdf reaches `p`; infinite if it does not.
fn quantile(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1.0, 1.0);
    while cdf(low) >= p && low > f64::NEG_INFINITY {
        low *= 2.0;
    }
    while cdf(high) < p && high < f64::INFINITY {
        high *= 2.0;
    }
    // Down to neighbouring numbers, so that a jump is found where it is; but around zero those are too many.
    loop {
        let middle = f64::midpoint(low, high);
        if low.is_infinite() {
            return low;
        }
        if middle <= low || middle >= high || high - low < 1e-60 {
            return high;
        }
        if cdf(middle) >= p { high = middle } else { low = middle }
    }
}

/// How many reports fell into each cell of a [`Law`].
#[derive(Clone)]
pub(super) struct Cells<'a> {
    edges: &'a [f64],
    atoms: &'a [usize],
    counts: Vec<u64>,
}

impl Cells<'_> {
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Tally for Cells<'_> {
    type Report = f64;

    fn push(&mut self, report: f64, times: u64) -> Result<()> {
        if !report.is_finite() {
            return Err(Error::RealReport { report, limit: f64::MAX });
        }
        // A cell has its upper edge, as a cdf has, unless that is an atom.
        let place = self.edges.partition_point(|&edge| edge < report);
        let atom = self.atoms.binary_search(&place).ok().filter(|_| self.edges[place] == report);
        self.counts[atom.map_or(place, |atom| self.edges.len() + 1 + atom)] += times;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        Ok(())
    }

    fn users(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_and_exponentials_are_integrated() {
        let total: f64 = RULE.iter().map(|(_, weight)| weight).sum();
        assert!((total - 2.0).abs() < 1e-14);
        assert!((integrate(0.0, 2.0, |x| x.powi(31)) / (2f64.powi(32) / 32.0) - 1.0).abs() < 1e-13);
        assert!((integrate(-40.0, 0.0, f64::exp) - 1.0).abs() < 1e-13);
        assert!(integrate(0.0, 1.0, |_| f64::NAN).is_nan());
    }

    #[test]
    fn quantiles_of_steps_are_their_places() {
        let step = |at: f64| move |z: f64| if z >= at { 1.0 } else { 0.0 };
        for at in [0.0, 0.3, -7.25, 1e9, 1e-9] {
            assert_eq!(quantile(0.5, step(at)), at);
        }
        assert!(quantile(0.5, |_| 0.4).is_infinite());
        assert!(quantile(0.5, |_| 0.6).is_infinite());
    }
}
