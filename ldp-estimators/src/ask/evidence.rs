//! What the counts of one question say about a parameter.

use super::brent;
use super::law::Law;
use super::places::Places;
use ldp_core::Finite;
use ldp_core::model::{Cdf, Score};

/// Maxima that are looked at closely.
const TOP: usize = 4;
/// How far from an end of the places a slope is looked at, as a share of the way to the next.
const BESIDE: f64 = 1e-3;

/// The counts of a question beside the law of its reports.
pub(super) struct Evidence<'a, Q, M: ?Sized> {
    pub(super) law: Law<'a, Q, M>,
    pub(super) places: &'a Places,
    /// The shares of the reports.
    shares: Vec<f64>,
    pub(super) users: f64,
}

/// Where the likelihood is largest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Top {
    pub(super) theta: f64,
    /// Minus the divergence of the shares from the law there: the mean logarithm of the likelihood.
    pub(super) fit: f64,
    /// Whether it is an end of the places: −1 the lower, 1 the upper.
    pub(super) end: i8,
}

impl<'a, Q: Finite, M: Cdf + Score + ?Sized> Evidence<'a, Q, M> {
    /// From counts, at least one of them positive.
    pub(super) fn new(law: Law<'a, Q, M>, places: &'a Places, counts: &[u64]) -> Self {
        let users: f64 = counts.iter().map(|&count| count as f64).sum();
        Self { law, places, shares: counts.iter().map(|&count| count as f64 / users).collect(), users }
    }

    /// The mean logarithm of the likelihood at a parameter, less the largest that any law could have.
    pub(super) fn fit(&self, theta: f64) -> f64 {
        match self.places.cubic(theta) {
            Some((law, _)) => fit(&self.shares, &law),
            None => fit(&self.shares, &self.law.at(theta)),
        }
    }

    /// The law of the reports, and its derivative.
    fn moving(&self, theta: f64) -> (Vec<f64>, Vec<f64>) {
        self.places.cubic(theta).unwrap_or_else(|| (self.law.at(theta), self.law.slope(theta)))
    }

    /// The derivative of [`fit`](Self::fit).
    pub(super) fn score(&self, theta: f64) -> f64 {
        let (here, slope) = self.moving(theta);
        // The slopes add up to zero, so that a share counts by what it has more than expected.
        let terms = self.shares.iter().zip(here.iter().zip(slope)).filter(|(_, (m, _))| **m > 0.0);
        terms.map(|(share, (m, d))| (share - m) / m * d).sum()
    }

    /// The fit at each place.
    pub(super) fn fits(&self) -> Vec<f64> {
        self.places.laws.iter().map(|law| fit(&self.shares, law)).collect()
    }

    /// The maxima of the likelihood that may be the largest, the largest first.
    pub(super) fn tops(&self, fits: &[f64]) -> Vec<Top> {
        let last = fits.len() - 1;
        let local = |&i: &usize| (i == 0 || fits[i - 1] <= fits[i]) && (i == last || fits[i + 1] <= fits[i]);
        let mut peaks: Vec<usize> = (0..=last).filter(local).collect();
        peaks.sort_by(|&i, &j| fits[j].total_cmp(&fits[i]));
        let mut tops: Vec<Top> = peaks.into_iter().take(TOP).map(|i| self.top(i, fits)).collect();
        tops.sort_by(|a, b| b.fit.total_cmp(&a.fit));
        tops
    }

    /// The maximum around a place.
    fn top(&self, i: usize, fits: &[f64]) -> Top {
        let (thetas, last) = (&self.places.thetas, fits.len() - 1);
        let (mut from, mut to) = (thetas[i.saturating_sub(1)], thetas[(i + 1).min(last)]);
        if i == 0 || i == last {
            // Is it the end itself?
            let inwards = thetas[i] + BESIDE * if i == 0 { to - from } else { from - to };
            if !(self.fit(inwards) > fits[i]) {
                return Top { theta: thetas[i], fit: fits[i], end: if i == 0 { -1 } else { 1 } };
            }
            if self.score(inwards) * (inwards - thetas[i]) > 0.0 {
                if i == 0 { from = inwards } else { to = inwards }
            }
        }
        let found = brent::root(|theta| self.score(theta), from, to);
        let found = found.into_iter().chain([thetas[i]]).map(|theta| (theta, self.fit(theta)));
        let best = found.fold((thetas[i], f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
        if best.0 != thetas[i] || self.score(thetas[i]) == 0.0 {
            return Top { theta: best.0, fit: best.1, end: 0 };
        }
        // The slope does not turn where the likelihood does: by its values alone.
        let theta = brent::largest(|theta| self.fit(theta), from, to).unwrap_or(thetas[i]);
        let other = self.fit(theta);
        if other > best.1 { Top { theta, fit: other, end: 0 } } else { Top { theta: best.0, fit: best.1, end: 0 } }
    }

    /// The information of all answers at a maximum, next to it where it is an end.
    pub(super) fn information(&self, top: Top) -> f64 {
        let thetas = &self.places.thetas;
        let last = thetas.len() - 1;
        let theta = match top.end {
            0 => top.theta,
            -1 => thetas[0] + BESIDE * BESIDE * (thetas[1] - thetas[0]),
            _ => thetas[last] - BESIDE * BESIDE * (thetas[last] - thetas[last - 1]),
        };
        let (law, slope) = self.moving(theta);
        self.users * law.into_iter().zip(slope).filter(|(m, _)| *m > 0.0).map(|(m, d)| d / m * d).sum::<f64>()
    }
}

/// Minus the divergence of the shares from a law.
fn fit(shares: &[f64], law: &[f64]) -> f64 {
    let term = |(&share, &m): (&f64, &f64)| {
        if share == 0.0 {
            return -m;
        }
        // With x = m/share − 1 it is share · (ln(1 + x) − x): what would cancel in the sum is left out.
        let x = (m.max(f64::MIN_POSITIVE) - share) / share;
        share * log_less(x)
    };
    shares.iter().zip(law).map(term).sum()
}

/// $\ln(1 + x) - x$.
fn log_less(x: f64) -> f64 {
    if x.abs() > 0.02 {
        return x.ln_1p() - x;
    }
    // Nine terms leave out less than 2e-17 of the first.
    let mut sum = 0.0;
    for k in (2..=11).rev() {
        sum = (if k % 2 == 0 { -1.0 } else { 1.0 }) / f64::from(k) + x * sum;
    }
    x * x * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_keep_their_digits() {
        for x in [0.019f64, -0.019, 1e-3, -1e-5, 1e-9] {
            let exact: f64 = (2..40).map(|k: i32| -(-x).powi(k) / f64::from(k)).sum();
            assert!((log_less(x) / exact - 1.0).abs() < 1e-14, "{x}: {} {exact}", log_less(x));
        }
        assert!((log_less(0.5) - (1.5f64.ln() - 0.5)).abs() < 1e-16);
    }
}
