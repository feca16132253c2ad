//! Where cells of real reports begin.

use ldp_core::error::require;
use ldp_core::model::{Cdf, Score, Support};
use ldp_core::special::least;
use ldp_core::{RealReports, Result};

/// The most cells.
const CELLS: usize = 256;
/// Parameters that the range is looked at by, and values under each.
const PARAMETERS: u32 = 9;
const VALUES: u32 = 32;
/// The most whole numbers that count as atoms.
const MOST_WHOLE: f64 = 8.0;
/// The probability that may lie beyond the window, on either side.
const BEYOND: f64 = 1e-12;

/// The edges of the cells, and the window of the values.
pub(super) fn choose<Q, M>(mechanism: &Q, model: &M, [low, high]: [f64; 2]) -> Result<(Vec<f64>, [f64; 2])>
where
    Q: RealReports,
    M: Cdf + Score + ?Sized,
{
    require(low < high && low.is_finite(), "the low end of the range", "finite and below the high end", low)?;
    require(high.is_finite(), "the high end of the range", "finite", high)?;
    let share = |i: u32, count: u32| (f64::from(i) + 0.5) / f64::from(count);
    let thetas: Vec<f64> = (0..PARAMETERS).map(|i| low + (high - low) * share(i, PARAMETERS)).collect();
    for &theta in &thetas {
        model.admits(theta)?;
    }
    let values: Vec<f64> = thetas
        .iter()
        .flat_map(|&theta| (0..VALUES).map(move |i| (theta, share(i, VALUES))))
        .map(|(theta, p)| model.quantile(theta, p))
        .collect();
    let below = |z: f64| values.iter().map(|&x| mechanism.report_cdf(z, x)).sum::<f64>() / values.len() as f64;
    let mut fixed: Vec<f64> = mechanism.atoms().into_iter().flat_map(|atom| [atom, atom.next_up()]).collect();
    fixed.extend(jumps(mechanism, model, thetas[0], below));
    fixed.retain(|edge| edge.is_finite());
    fixed.truncate(CELLS / 2);
    let cells = CELLS - fixed.len();
    let quantiles = (1..cells).map(|k| least(|z| below(z) >= k as f64 / cells as f64));
    let mut edges: Vec<f64> = quantiles.filter(|edge| edge.abs() < f64::MAX).chain(fixed).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    Ok((edges, window(mechanism, model, &thetas)))
}

/// Reports at which the density jumps for values that have an atom of probability, the clipped ones and a few whole numbers: those
/// in the middle of the reports first.
fn jumps<Q, M>(mechanism: &Q, model: &M, theta: f64, below: impl Fn(f64) -> f64) -> Vec<f64>
where
    Q: RealReports,
    M: Cdf + Score + ?Sized,
{
    let mut values = vec![f64::MIN, f64::MAX];
    if let Support::Whole { first, last } = model.support(theta) {
        let last = last.min(first + MOST_WHOLE - 1.0);
        values.extend((0..=(last - first) as u32).map(|k| first + f64::from(k)));
    }
    let mut jumps: Vec<f64> = values.into_iter().flat_map(|x| mechanism.breaks(x)).collect();
    jumps.sort_by(f64::total_cmp);
    jumps.dedup();
    let mut ranked: Vec<(f64, f64)> = jumps.into_iter().map(|z| ((below(z) - 0.5).abs(), z)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked.into_iter().map(|(_, z)| z).collect()
}

/// Where values lie under the parameters, and where the mechanism looks at them.
fn window<Q: RealReports, M: Cdf + ?Sized>(mechanism: &Q, model: &M, thetas: &[f64]) -> [f64; 2] {
    let [first, last] = [thetas[0], thetas[thetas.len() - 1]];
    let breaks = mechanism.input_breaks(0.0, (f64::NEG_INFINITY, f64::INFINITY));
    let ends = [first, last]
        .into_iter()
        .flat_map(|theta| [model.quantile(theta, BEYOND), least(|x| model.mass(theta, x, f64::INFINITY) <= BEYOND)]);
    let [low, high] = ends
        .chain(breaks)
        .filter(|x| x.abs() < f64::MAX)
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    // Half as much again, for parameters beyond the range.
    let more = 0.25 * (high - low).max(f64::MIN_POSITIVE);
    [low - more, high + more]
}
