//! The report that a price vector undervalues most, among all $2^k$, in O(k log k).

use super::cells::Cells;
use ldp_core::error::require;
use ldp_core::{Epsilon, Error, Result};

/// So many maxima are summed anew to find the highest.
const SUMMED_ANEW: usize = 8;

/// A local maximum of $G(t) = \sum_j c_j(t) + (E-1)\max(c_j(t), 0)$ with $c_j(t) = 2ty_j - t^2r_j - \beta_j$.
///
/// Its report has E where $c_j(t) > 0$ and 1 elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Peak {
    pub(crate) t: f64,
    /// G(t).
    pub(crate) value: f64,
}

/// Finds the local maxima of G, with buffers that can be used again.
///
/// Each $c_j$ is a concave parabola, positive between its roots if it has any. So G is a parabola between neighbouring
/// roots of all the $c_j$; at a root its slope jumps up. A maximum is therefore never at a root: it is the vertex of a
/// piece that is entered rising and left falling. There are at most 2k + 1 pieces.
#[derive(Default)]
pub(crate) struct Sweep {
    /// Where some $c_j$ becomes positive, or ceases to be: (t, j, whether it becomes positive).
    roots: Vec<(f64, usize, bool)>,
}

impl Sweep {
    /// Every local maximum of G in increasing order of t, into `out`.
    ///
    /// `growth` is E − 1. Masses must be positive.
    pub(crate) fn maxima(&mut self, masses: &[f64], slopes: &[f64], beta: &[f64], growth: f64, out: &mut Vec<Peak>) {
        self.sweep(masses, slopes, beta, growth, out);
        out.iter_mut().for_each(|peak| *peak = evaluate(masses, slopes, beta, growth, peak.t));
    }

    /// The highest of them. Of the running sums only the few highest are summed anew: near optimal prices almost every cell
    /// has a maximum of its own.
    fn highest(&mut self, masses: &[f64], slopes: &[f64], beta: &[f64], growth: f64) -> Option<Peak> {
        let mut peaks = Vec::new();
        self.sweep(masses, slopes, beta, growth, &mut peaks);
        peaks.sort_unstable_by(|a, b| b.value.total_cmp(&a.value));
        let anew = peaks.iter().take(SUMMED_ANEW).map(|peak| evaluate(masses, slopes, beta, growth, peak.t));
        anew.max_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The local maxima, their heights from running sums.
    fn sweep(&mut self, masses: &[f64], slopes: &[f64], beta: &[f64], growth: f64, out: &mut Vec<Peak>) {
        out.clear();
        self.roots.clear();
        for (j, ((&mass, &slope), &price)) in masses.iter().zip(slopes).zip(beta).enumerate() {
            let discriminant = slope * slope - mass * price;
            if discriminant > 0.0 {
                // The root further from zero first, and the other from their product: no cancellation.
                let far = slope + discriminant.sqrt().copysign(slope);
                let (a, b) = (far / mass, price / far);
                self.roots.push((a.min(b), j, true));
                self.roots.push((a.max(b), j, false));
            }
        }
        self.roots.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // The piece is 2ta − t²b − c, so half its slope is a − t·b.
        let idle = [slopes, masses, beta].map(|numbers| numbers.iter().sum::<f64>());
        let [mut a, mut b, mut c] = idle;
        let (mut positive, mut left) = (0usize, f64::NEG_INFINITY);
        let mut rising = true;
        for &(t, j, enters) in &self.roots {
            // Comparing slopes, not vertices, so that rounding at a root can move a maximum to the next piece but not lose
            // it. Equal roots have no piece between them: with β = 0 there are k roots at zero.
            if t > left && rising && a - t * b < 0.0 {
                let vertex = (a / b).clamp(left, t);
                out.push(Peak { t: vertex, value: vertex * (2.0 * a - vertex * b) - c });
                rising = false;
            }
            let more = if enters { growth } else { -growth };
            (a, b, c) = (a + more * slopes[j], b + more * masses[j], c + more * beta[j]);
            positive = if enters { positive + 1 } else { positive - 1 };
            if positive == 0 {
                // What rounding has left over ends here.
                [a, b, c] = idle;
            }
            rising = rising || a - t * b > 0.0;
            left = t;
        }
        if rising {
            let vertex = (a / b).max(left);
            out.push(Peak { t: vertex, value: vertex * (2.0 * a - vertex * b) - c });
        }
    }
}

/// G at the vertex of the piece that t lies in.
fn evaluate(masses: &[f64], slopes: &[f64], beta: &[f64], growth: f64, t: f64) -> Peak {
    let cells = || masses.iter().zip(slopes).zip(beta).map(|((&mass, &slope), &price)| (mass, slope, price));
    let (mut a, mut b) = (0.0, 0.0);
    for (mass, slope, price) in cells() {
        let factor = if t * (2.0 * slope - t * mass) > price { 1.0 + growth } else { 1.0 };
        a += factor * slope;
        b += factor * mass;
    }
    let t = a / b;
    let value = cells().map(|(mass, slope, price)| {
        let c = t * (2.0 * slope - t * mass) - price;
        c + growth * c.max(0.0)
    });
    Peak { t, value: value.sum() }
}

/// The cells where a report at this t has the factor E.
pub(crate) fn pattern<'a>(cells: &'a Cells, beta: &'a [f64], t: f64) -> impl Iterator<Item = bool> + 'a {
    let numbers = cells.masses().iter().zip(cells.slopes()).zip(beta);
    numbers.map(move |((mass, slope), price)| t * (2.0 * slope - t * mass) > *price)
}

/// What a report says and costs.
///
/// The report is a vector v with E where `pattern` is true and 1 elsewhere: the probabilities of one report of an
/// ε-private mechanism, cell by cell, up to a factor.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_fisher::optimal::Cells;
/// let cells = Cells::new(vec![0.5, 0.5], vec![-0.5, 0.5])?;
/// // At no price the most valuable report: v = (3, 1) or (1, 3), worth (3/2 − 1/2)²/2.
/// let priced = cells.price(Epsilon::new(3f64.ln())?, &[0.0, 0.0])?;
/// assert_ne!(priced.pattern[0], priced.pattern[1]);
/// assert!((priced.worth - 0.5).abs() < 1e-15 && priced.violation == priced.worth);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Priced {
    /// Where the report is more likely, by the factor E.
    pub pattern: Vec<bool>,
    /// $\mu(v) = (v\cdot y)^2/(v\cdot r)$, what it contributes to the information.
    pub worth: f64,
    /// $\mu(v) - v\cdot\beta$, by how much it is worth more than it costs. Negative if it is not.
    pub violation: f64,
}

impl Cells {
    /// The report that is worth most above its price $v\cdot\beta$, among all $2^k$.
    ///
    /// The prices prove that no ε-private mechanism has more information than $\sum_j\beta_j$ if and only if the result
    /// has no positive violation. It is found in O(k log k), without tolerances:
    /// $\mu(v) = \max_t\,[2t\,v\cdot y - t^2\,v\cdot r]$, and given t each cell decides for itself, so
    ///
    /// $$\max_v\,[\mu(v) - v\cdot\beta] = \max_t \sum_j c_j(t) + (E-1)\max(c_j(t), 0),
    /// \qquad c_j(t) = 2ty_j - t^2r_j - \beta_j.$$
    ///
    /// ```
    /// use ldp_core::Epsilon;
    /// use ldp_fisher::optimal::Cells;
    /// // A fair coin, in units where its information is 1: the randomised bit has τ² = ((E − 1)/(E + 1))².
    /// let cells = Cells::new(vec![0.5, 0.5], vec![-0.5, 0.5])?;
    /// let epsilon = Epsilon::new(3f64.ln())?;
    /// let enough = cells.price(epsilon, &[0.125, 0.125])?;
    /// assert!(enough.violation < 1e-15 && (enough.worth - 0.5).abs() < 1e-15);
    /// // Prices that add up to less than 1/4 = τ² prove nothing: some report is worth more.
    /// let less = cells.price(epsilon, &[0.125, 0.12])?;
    /// assert_eq!(less.pattern, [false, true]);
    /// assert!((less.violation - 3.0 * 0.005).abs() < 1e-15);
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn price(&self, epsilon: Epsilon, beta: &[f64]) -> Result<Priced> {
        if beta.len() != self.len() {
            return Err(Error::Length { what: "prices", expected: self.len(), found: beta.len() });
        }
        for &price in beta {
            require(price.is_finite(), "price", "finite", price)?;
        }
        let growth = epsilon.value().exp_m1();
        // A sum of k + 1 such numbers must not overflow either.
        require(growth < 1e200, "epsilon", "at most 460", epsilon.value())?;
        let best = Sweep::default().highest(self.masses(), self.slopes(), beta, growth);
        let t = best.map_or(0.0, |peak| peak.t);
        let pattern: Vec<bool> = pattern(self, beta, t).collect();
        let worth = self.worth(growth, &pattern);
        let cost: f64 =
            beta.iter().zip(&pattern).map(|(price, &more)| price * (1.0 + if more { growth } else { 0.0 })).sum();
        Ok(Priced { pattern, worth, violation: worth - cost })
    }

    /// μ(v) of the report with E = 1 + growth in these cells.
    pub(crate) fn worth(&self, growth: f64, pattern: &[bool]) -> f64 {
        let mut sums = [0.0; 4];
        for ((&mass, &slope), &more) in self.masses().iter().zip(self.slopes()).zip(pattern) {
            let more = if more { growth } else { 0.0 };
            sums = [sums[0] + slope, sums[1] + more * slope, sums[2] + mass, sums[3] + more * mass];
        }
        let slope = sums[0] + sums[1];
        slope * (slope / (sums[2] + sums[3]))
    }
}

#[cfg(test)]
mod tests;
