//! The channel of a binned mechanism on a grid of values, and its integral over a model.

use ldp_core::{Cdf, RealReports};

/// How far a probability may be off a straight line, relative to itself and beyond that.
const BENT: (f64, f64) = (4e-6, 1e-12);
/// Panels that there are at first, also where rows are straight: the cdf of a model is not.
const FIRST: u32 = 256;
/// A window up to which its whole numbers are values too.
const WIDE: f64 = 512.0;
/// Halvings of one of these.
const DEEPEST: u32 = 12;
/// The most values.
const MOST: usize = 2048;
/// The most values at which a row is known to have a kink.
const MOST_KINKS: usize = 1024;
/// A difference of probabilities that is no rounding.
const JUMP: f64 = 1e-9;
/// Gauss's rule with three points, on [0, 1]: points and weights.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 4.0 / 9.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// $P(Z < edge \mid x)$.
pub(super) fn below<Q: RealReports>(mechanism: &Q, edge: f64, x: f64) -> f64 {
    mechanism.report_cdf(edge.next_down(), x)
}

/// Rows of probabilities, straight between neighbouring values and constant beyond the first and the last.
#[derive(Debug)]
pub(super) struct Table {
    values: Vec<f64>,
    /// A row per value, a column per cell.
    rows: Vec<f64>,
    cells: usize,
}

impl Table {
    /// Of a mechanism for values in a window.
    pub(super) fn new<Q: RealReports>(mechanism: &Q, edges: &[f64], window: [f64; 2]) -> Self {
        let row = |x: f64| row(mechanism, edges, x);
        let [low, high] = window;
        let mut marks: Vec<f64> = (0..=FIRST).map(|i| low + (high - low) * (f64::from(i) / f64::from(FIRST))).collect();
        let everywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let mut kinks: Vec<f64> = edges.iter().flat_map(|&edge| mechanism.input_breaks(edge, everywhere)).collect();
        kinks.retain(|x| low <= *x && *x <= high);
        kinks.sort_by(f64::total_cmp);
        kinks.dedup();
        kinks.truncate(MOST_KINKS);
        // Whole numbers may have atoms: there the straight lines must be right.
        if high - low <= WIDE {
            marks.extend((low.ceil() as i64..=high.floor() as i64).map(|k| k as f64));
        }
        // A row that jumps has a value on either side.
        let jumps = |kink: f64| row(kink).iter().zip(row(kink.next_down())).any(|(a, b)| (a - b).abs() > JUMP);
        marks.extend(kinks.iter().filter(|kink| jumps(**kink)).map(|kink| kink.next_down()));
        marks.extend(kinks);
        marks.retain(|x| low <= *x && *x <= high);
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let mut left: Vec<(f64, Vec<f64>, u32)> = marks.into_iter().rev().map(|x| (x, row(x), 0)).collect();
        let mut done: Vec<(f64, Vec<f64>)> = Vec::new();
        while let Some((x, found, depth)) = left.pop() {
            let Some((from, before)) = done.last() else {
                done.push((x, found));
                continue;
            };
            let (middle, room) = (0.5 * from + 0.5 * x, done.len() + left.len() < MOST && depth < DEEPEST);
            if room && *from < middle && middle < x {
                let between = row(middle);
                if bent(before, &between, &found) {
                    left.push((x, found, depth + 1));
                    left.push((middle, between, depth + 1));
                    continue;
                }
            }
            done.push((x, found));
        }
        let (values, rows): (Vec<f64>, Vec<Vec<f64>>) = done.into_iter().unzip();
        Self { values, rows: rows.concat(), cells: edges.len() + 1 }
    }

    /// The probabilities of the cells under a model.
    ///
    /// A row that is straight over [a, b) counts at b with $\frac{1}{b-a} \int_a^b P(x \le X < b) dx$, by parts, and at a with the
    /// rest of the probability of [a, b). Three points of Gauss's rule are enough for a 256th of the window.
    pub(super) fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        out.fill(0.0);
        let mut rows = self.rows.chunks_exact(self.cells);
        let (Some(&first), Some(&last)) = (self.values.first(), self.values.last()) else {
            return;
        };
        let mut add = |weight: f64| {
            if let Some(row) = rows.next() {
                out.iter_mut().zip(row).for_each(|(p, q)| *p += weight * q);
            }
        };
        let mut weight = model.mass(theta, f64::NEG_INFINITY, first);
        for pair in self.values.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            let all = model.mass(theta, a, b);
            let far =
                GAUSS.iter().map(|(share, weight)| weight * model.mass(theta, a + (b - a) * share, b)).sum::<f64>();
            add(weight + all - far);
            weight = far;
        }
        add(weight + model.mass(theta, last, f64::INFINITY));
    }
}

/// The probabilities of the cells at a value.
fn row<Q: RealReports>(mechanism: &Q, edges: &[f64], x: f64) -> Vec<f64> {
    let mut before = 0.0;
    let ends = edges.iter().map(|&edge| below(mechanism, edge, x)).chain([1.0]);
    ends.map(|end| (end - std::mem::replace(&mut before, end)).max(0.0)).collect()
}

/// Whether a row is not straight between two others.
fn bent(before: &[f64], between: &[f64], after: &[f64]) -> bool {
    let off = |((a, m), b): ((&f64, &f64), &f64)| (0.5 * a + 0.5 * b - m).abs() > BENT.0 * m + BENT.1;
    before.iter().zip(between).zip(after).any(off)
}
