//! The proof that a sign is all a private report of a Gaussian value can say, executable.
//!
//! Theorem 1 of [KS25]: for the mean of $N(\theta, 1)$ and $\varepsilon \le \ln\frac{1+12\pi}{1+4\pi} = 1.0482$ no
//! ε-private report has more information than the sign through randomised response, $\frac2\pi\tau^2$ with
//! $\tau = \tanh(\varepsilon/2)$. The steps, with $E = e^\varepsilon$:
//!
//! 1. **A linear program.** Cut the line at zero and elsewhere into cells with masses $r_j$ and slopes
//!    $y_j = \partial_\theta r_j$. The best mechanism on cells mixes columns $v \in \lbrace 1, E\rbrace^k$, each worth
//!    $\mu(v) = (v\cdot y)^2/(v\cdot r)$; its dual is to minimise $\sum\beta_j$ subject to $\beta\cdot v \ge \mu(v)$
//!    for all v. [`SignProgram`] has both.
//! 2. **A dual guess.** The two sign reports have scores ±t, $t = \tau\sqrt{2/\pi}$. Take
//!    $\beta_j = 2t\tau\lvert y_j\rvert - t^2 r_j$. Its sum is $\frac2\pi\tau^2$, what the sign reaches: if β is
//!    feasible, both are optimal. A cell that contains zero would break $\lvert y_j\rvert$: cells are even in number.
//! 3. **An inequality.** Let v be E on a set A. Write a, b for the probability of A right and left of zero, and
//!    $\xi_\pm = \sqrt{2\pi}\int_{A, \pm x>0}\lvert x\rvert\varphi$. Divided by $(E-1)^2$ feasibility says, with
//!    $p = 1/(E-1)$,
//!    $$(p+a+b)(p+\xi_++\xi_--a-b) \ge (p+\tfrac12)^2(\xi_+-\xi_-)^2.$$
//!    It no longer mentions cells, so it serves every even number of them, and the continuum. The difference of the two
//!    sides increases in p: what holds at one ε holds at all smaller ones.
//! 4. **Two faces.** By reflection let $\xi_+\ge\xi_-$. The difference then increases in $\xi_-$, so let A be next to
//!    zero on the left. It is concave in $\xi_+$, so let $\xi_+$ be extreme: A is a tail on the right (the
//!    [outer](Face::Outer) face) or next to zero (the [inner](Face::Inner) one). If $a < b$ the least $\xi_+$ is
//!    $\xi_-$, where the inequality says $p \ge a + b - 2\xi_-$: it follows from that at $a = b$.
//! 5. **The check.** [`SignInequality::check`] covers both faces with rectangles. It succeeds until [`exact_until`],
//!    1.7100; where 1.0482 comes from, see [`coarse_until`].
//!
//! ```
//! use ldp_core::Epsilon;
//! use ldp_fisher::{optimal::sign_proof::{SignInequality, SignProgram, coarse_until}, sign_optimal_until};
//! let epsilon = Epsilon::new(1.048)?;
//! let program = SignProgram::new(12, epsilon)?;
//! assert!((program.primal_value() - program.dual_value()).abs() < 1e-15);
//! assert!(program.worst_of_all()?.excess < 1e-15);
//! // For every number of cells, and so for the continuum:
//! assert!(SignInequality::new(epsilon).check().is_ok());
//! assert!((coarse_until() - sign_optimal_until()).abs() < 1e-12);
//! # Ok::<(), ldp_core::Error>(())
//! ```
//!
//! # What is proved by whom
//!
//! The computation proves the inequality of step 3 at a given ε, up to the rounding of `f64`: that is not interval
//! arithmetic, but each rectangle has to hold with a margin of 1e-9 of its terms, where Φ⁻¹ and exp are good to 1e-12
//! of them. Steps 2 to 4 are proved in these texts. Taken from elsewhere: that the columns $\lbrace 1, E\rbrace^k$
//! suffice for k cells (Kairouz, Oh, Viswanath 2016), and that fine cells lose nothing ([KS25]). The plan is that of
//! [KS25]; how [`coarse_until`] comes to their number is our own derivation and may not be theirs.
//!
//! [KS25]: https://arxiv.org/abs/2402.04840

use super::Cells;
use ldp_core::error::require;
use ldp_core::special::normal;
use ldp_core::{Epsilon, Error, Result};
use std::f64::consts::{FRAC_2_PI, PI};

/// Up to so many cells all columns are looked at.
const EXHAUSTIVE: usize = 16;
/// So many rectangles take a third of a second.
const RECTANGLES: u64 = 2_000_000;
/// The part of its terms by which an inequality has to hold, against rounding.
const MARGIN: f64 = 1e-9;

/// Steps 1 and 2: the linear program on equally likely cells, the sign as its solution and β as that of its dual.
///
/// ```
/// use {ldp_core::Epsilon, ldp_fisher::optimal::sign_proof::SignProgram};
/// let program = SignProgram::new(1000, Epsilon::new(1.0)?)?;
/// assert!((program.dual_value() - 0.1359516).abs() < 1e-7 && program.worst().excess < 1e-13);
/// assert!(SignProgram::new(7, Epsilon::new(1.0)?).is_err());
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SignProgram {
    cells: Cells,
    exp: f64,
    dual: Vec<f64>,
}

/// A column of the program and by how much a dual solution misses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The cells where v is E.
    pub raised: Vec<bool>,
    /// $\mu(v) - \beta\cdot v$: β is feasible if this is at most 0 for all v.
    pub excess: f64,
}

impl SignProgram {
    /// $N(0, 1)$ in an even number of equally likely cells.
    pub fn new(cells: usize, epsilon: Epsilon) -> Result<Self> {
        let count = cells as f64;
        require(cells >= 2 && cells.is_multiple_of(2), "the number of cells", "even and at least 2", count)?;
        // The derivative of P(low ≤ X < high) in the mean is φ(low) − φ(high).
        let height = |i: usize| normal::pdf(normal::quantile(0.5 - i as f64 / count));
        let right: Vec<f64> = (0..cells / 2).map(|i| height(i) - height(i + 1)).collect();
        let slopes = right.iter().rev().map(|slope| -slope).chain(right.iter().copied()).collect();
        let cells = Cells::new(vec![1.0 / count; cells], slopes)?;
        let mut program = Self { cells, exp: epsilon.value().exp(), dual: Vec::new() };
        // The score of a sign report. As 2tτ√(2/π) − t², the sum of β, is largest there, no other t can be feasible.
        let (slopes, masses, right) = (program.cells.slopes(), program.cells.masses(), program.sign(true));
        let t = program.dot(slopes, &right) / program.dot(masses, &right);
        let beta = |(mass, slope): (&f64, &f64)| t * (2.0 * epsilon.tau() * slope.abs() - t * mass);
        program.dual = masses.iter().zip(slopes).map(beta).collect();
        Ok(program)
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// $\beta_j$, by cell.
    #[must_use]
    pub fn dual(&self) -> &[f64] {
        &self.dual
    }

    /// The same program with another β, feasible or not, but finite.
    pub fn with_dual(self, dual: Vec<f64>) -> Result<Self> {
        if dual.len() != self.cells.len() {
            return Err(Error::Length { what: "dual variables", expected: self.cells.len(), found: dual.len() });
        }
        dual.iter().try_for_each(|&beta| require(beta.is_finite(), "a dual variable", "finite", beta))?;
        Ok(Self { dual, ..self })
    }

    /// What the sign reaches: both columns that are E on one side of zero, with weight $1/(E+1)$ each.
    #[must_use]
    pub fn primal_value(&self) -> f64 {
        (self.worth(&self.sign(true)) + self.worth(&self.sign(false))) / (self.exp + 1.0)
    }

    /// $\sum\beta_j$: more than this no mechanism reaches, if β is feasible.
    #[must_use]
    pub fn dual_value(&self) -> f64 {
        self.dual.iter().sum()
    }

    /// The constraint that β misses most, among all $2^k$: for up to 16 cells.
    pub fn worst_of_all(&self) -> Result<Constraint> {
        let count = self.cells.len();
        if count > EXHAUSTIVE {
            return Err(Error::TooMany { name: "cells to enumerate", most: EXHAUSTIVE as u64, value: count as u64 });
        }
        let columns = (0..1u32 << count).map(|bits| (0..count).map(|j| bits >> j & 1 == 1).collect());
        Ok(self.most_missed(columns))
    }

    /// The constraint that β misses most, among all $2^k$, for any number of cells.
    ///
    /// As $\mu(v) = \max_t (2t\,v\cdot y - t^2\,v\cdot r)$, the worst v is E exactly where
    /// $c_j(t) = 2ty_j - t^2r_j - \beta_j$ is positive, for some t. Between the roots of all $c_j$ that set does not
    /// change, so there are at most $2k+1$ columns to look at.
    #[must_use]
    pub fn worst(&self) -> Constraint {
        let (masses, slopes) = (self.cells.masses(), self.cells.slopes());
        let pair = |j: usize| {
            let middle = slopes[j] / masses[j];
            let width = (middle * middle - self.dual[j] / masses[j]).max(0.0).sqrt();
            [middle - width, middle + width]
        };
        let mut roots: Vec<f64> = (0..masses.len()).flat_map(pair).collect();
        roots.sort_unstable_by(f64::total_cmp);
        let raised = |t: f64| (0..masses.len()).map(|j| t * (2.0 * slopes[j] - t * masses[j]) > self.dual[j]).collect();
        // Outside all roots no cell is raised.
        let between = roots.windows(2).map(|pair| raised(0.5 * (pair[0] + pair[1])));
        self.most_missed(between.chain([vec![false; masses.len()]]))
    }

    fn most_missed(&self, columns: impl Iterator<Item = Vec<bool>>) -> Constraint {
        let excess = |raised: &[bool]| self.worth(raised) - self.dot(&self.dual, raised);
        let measured = columns.map(|raised| Constraint { excess: excess(&raised), raised });
        let none = Constraint { raised: Vec::new(), excess: f64::NEG_INFINITY };
        measured.fold(none, |worst, next| if next.excess > worst.excess { next } else { worst })
    }

    /// The column of a report, «right of zero» or «left of zero».
    fn sign(&self, right: bool) -> Vec<bool> {
        (0..self.cells.len()).map(|j| (2 * j >= self.cells.len()) == right).collect()
    }

    fn dot(&self, list: &[f64], raised: &[bool]) -> f64 {
        list.iter().zip(raised).map(|(x, &raised)| if raised { x * self.exp } else { *x }).sum()
    }

    /// $\mu(v)$.
    fn worth(&self, raised: &[bool]) -> f64 {
        self.dot(self.cells.slopes(), raised).powi(2) / self.dot(self.cells.masses(), raised)
    }
}

/// Which sets A are left after step 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A tail on the right, and an interval next to zero on the left.
    Outer,
    /// An interval around zero, at least as long on the right.
    Inner,
}

/// Why [`SignInequality::check`] did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The inequality fails for a set: β is not feasible.
    Violated {
        /// The set A where v is E, as intervals.
        set: Vec<(f64, f64)>,
        /// $\beta\cdot v - \mu(v)$, below 0.
        difference: f64,
    },
    /// Neither proved nor refuted with 2 million rectangles: ε is within 1e-5 of [`exact_until`].
    Undecided,
}

/// Steps 3 to 5 at one ε.
///
/// On both faces let $\delta = \tfrac12 - a$, $\bar A = 1 - \xi_+$ and $C = \xi_-$: all vanish at the sign. With
/// $P = p + \tfrac12 = 1/(2\tau)$ and $x = b - \delta$ the difference of the two sides is
///
/// $$F = \bar A\,(P^2(2-\bar A-C) - P - x) + C\,(P^2(2-\bar A-C) + P + x) - x^2.$$
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignInequality {
    p: f64,
}

impl SignInequality {
    /// At a level.
    #[must_use]
    pub fn new(epsilon: Epsilon) -> Self {
        Self { p: 1.0 / epsilon.value().exp_m1() }
    }

    /// The difference of the two sides of step 3, from $(a, \xi_+)$ and $(b, \xi_-)$.
    #[must_use]
    pub fn difference(&self, right: (f64, f64), left: (f64, f64)) -> f64 {
        self.value(left.0 + right.0 - 0.5, 1.0 - right.1, left.1)
    }

    /// The difference on a face, at $\delta = \tfrac12 - a$ and b, both in $[0, \tfrac12]$.
    #[must_use]
    pub fn on(&self, face: Face, delta: f64, b: f64) -> f64 {
        self.value(b - delta, above(face, delta), rise(b))
    }

    /// F from what vanishes at the sign, so that nothing cancels near it.
    fn value(&self, x: f64, above: f64, below: f64) -> f64 {
        let half = self.p + 0.5;
        let shared = half * half * (2.0 - above - below);
        above * (shared - half - x) + below * (shared + half + x) - x * x
    }

    /// Step 5: the number of rectangles that prove the inequality for all sets, or why there are none.
    ///
    /// δ and $\bar A$ increase together, and so do b and C, so the corners of a rectangle bound every factor of F: that
    /// and halving does it wherever F > 0. At the sign F = 0, and the corner $[0, w]^2$ needs an argument of its own.
    /// On both faces $\bar A \ge \pi\delta^2$ and $C \ge \pi b^2$ (see [`coarse_until`]; on the inner one even
    /// $\bar A \ge 2\delta$), and $x^2 \le \delta^2 + b^2$. So if $k_1$ and $k_2$ bound the factors from below there,
    ///
    /// $$F \ge (\pi k_1 - 1)\delta^2 + (\pi k_2 - 1)b^2,$$
    ///
    /// and $\pi k_1, \pi k_2 \ge 1$ is enough. For small w this is $\pi(2P^2 - P) > 1$, see [`exact_until`].
    /// Where $\bar A + C > 1$ there is no set with $\xi_+ \ge \xi_-$ on the outer face, and $a < b$ on the inner one.
    pub fn check(&self) -> std::result::Result<u64, Refusal> {
        let mut open = vec![(Face::Inner, [0.0, 0.5], [0.0, 0.5]), (Face::Outer, [0.0, 0.5], [0.0, 0.5])];
        let mut rectangles = 0;
        while let Some((face, delta, b)) = open.pop() {
            rectangles += 1;
            if rectangles > RECTANGLES {
                return Err(Refusal::Undecided);
            }
            if self.holds(face, delta, b) {
                continue;
            }
            let [middle, centre] = [delta, b].map(|side: [f64; 2]| 0.5 * (side[0] + side[1]));
            // Sets with b = 0 are the first to fail, so the lower edge is looked at.
            self.probe(face, middle, b[0])?;
            for delta in [[delta[0], middle], [middle, delta[1]]] {
                open.extend([[centre, b[1]], [b[0], centre]].map(|b| (face, delta, b)));
            }
        }
        Ok(rectangles)
    }

    /// Whether the corners of a rectangle prove the inequality on it.
    fn holds(&self, face: Face, delta: [f64; 2], b: [f64; 2]) -> bool {
        let [a0, a1] = delta.map(|delta| above(face, delta));
        let [c0, c1] = b.map(rise);
        if a0 + c0 > 1.0 {
            return true;
        }
        let [x0, x1] = [b[0] - delta[1], b[1] - delta[0]];
        let half = self.p + 0.5;
        let shared = half * half * (2.0 - (a1 + c1).min(1.0));
        let [k1, k2] = [shared - half - x1, shared + half + x0];
        if delta[0] == 0.0 && b[0] == 0.0 {
            return PI * k1.min(k2) >= 1.0 + MARGIN * shared;
        }
        let first = if k1 > 0.0 { a0 * k1 } else { a1 * k1 };
        let second = if k2 > 0.0 { c0 * k2 } else { c1 * k2 };
        let square = (x0 * x0).max(x1 * x1);
        first + second - square >= MARGIN * ((a1 + c1) * shared + square)
    }

    /// Fails if the inequality does, by more than rounding.
    fn probe(&self, face: Face, delta: f64, b: f64) -> std::result::Result<(), Refusal> {
        let (used, value) = (above(face, delta) + rise(b), self.on(face, delta, b));
        if used > 1.0 || value >= -MARGIN * used * (self.p + 0.5).powi(2) {
            return Ok(());
        }
        let place = |mass: f64| -normal::quantile(0.5 - mass);
        let mut set = match face {
            Face::Outer => vec![(-place(b), 0.0), (place(delta), f64::INFINITY)],
            Face::Inner => vec![(-place(b), place(0.5 - delta))],
        };
        set.retain(|piece| piece.0 < piece.1);
        // From F to β·v − μ(v): F has both divided by t² and (E − 1)², and multiplied by v·r.
        let scale = FRAC_2_PI / (2.0 * self.p + 1.0).powi(2) / self.p / (self.p + 0.5 - delta + b);
        Err(Refusal::Violated { set, difference: scale * value })
    }
}

/// $\xi$ of an interval next to zero with this probability: $1 - e^{-q^2/2}$, $q = \Phi^{-1}(\tfrac12 + b)$.
fn rise(probability: f64) -> f64 {
    -(-0.5 * normal::quantile(0.5 - probability).powi(2)).exp_m1()
}

/// $1 - \xi_+$. What A leaves out on the right is next to zero on the outer face and a tail on the inner one.
fn above(face: Face, delta: f64) -> f64 {
    match face {
        Face::Outer => rise(delta),
        Face::Inner => (-0.5 * normal::quantile(delta).powi(2)).exp(),
    }
}

/// $p - (a + b - 2\pi b^2)$ at $a = \tfrac12$: what has to be positive for the coarse proof, see [`coarse_until`].
#[must_use]
pub fn coarse_margin(epsilon: Epsilon, b: f64) -> f64 {
    1.0 / epsilon.value().exp_m1() - (0.5 + b - 2.0 * PI * b * b)
}

/// The largest ε of a proof without a computer, found from its inequalities: $\ln\frac{1+12\pi}{1+4\pi}$.
///
/// Put parabolas for the Gaussian. The function $R(b) = 1 - e^{-q^2/2}$, $\Phi(q) = \tfrac12 + b$, starts with
/// $R = R' = 0$ and has $R'' = 2\pi/(1-R) \ge 2\pi$, so $R(b) \ge \pi b^2$. Hence $\xi_- \ge \pi b^2$ and
/// $\xi_+ \le 1 - \pi\delta^2$. By the monotonicity and concavity of step 4 it is enough to look at $\xi_- = \pi b^2$
/// and both ends of $\pi b^2 \le \xi_+ \le 1 - \pi\delta^2$:
///
/// - *lower end*, $\xi_+ = \xi_-$: the right side is 0, and the left one is not negative if $p \ge a + b - 2\pi b^2$.
///   As $a \le \tfrac12$, it is enough that $p \ge \tfrac12 + \max_b(b - 2\pi b^2)$ ([`coarse_margin`]);
/// - *upper end*: with $\delta = r\cos\vartheta$, $b = r\sin\vartheta$ the difference is at least $r^2$ times
///   $\pi P^2(2 - \pi r^2) - \pi P\cos2\vartheta + (1 - \sin2\vartheta)(\pi r - 1)$. That is concave in r, and
///   $\pi r^2 \le 1$; at $r = 0$ it is at least $\pi(2P^2-P) - 1$, at $\pi r^2 = 1$ at least $\pi P(P-1)$.
///
/// The lower end binds: the maximum is at $b = 1/(4\pi)$, and $p \ge \tfrac12 + \tfrac1{8\pi}$ is Theorem 1's number.
/// What is lost is the room between $\xi_+ = \xi_-$ and what a set with $a = \tfrac12$ can have.
#[must_use]
pub fn coarse_until() -> f64 {
    largest(|epsilon| {
        let (mut low, mut high) = (0.0, 0.5); // Thirds, as the margin is convex in b.
        for _ in 0..100 {
            let [left, right] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
            if coarse_margin(epsilon, left) < coarse_margin(epsilon, right) { high = right } else { low = left }
        }
        let half = 0.5 / epsilon.tau();
        coarse_margin(epsilon, low) >= 0.0 && PI * (2.0 * half - 1.0) * half >= 1.0 && half >= 1.0
    })
}

/// The largest ε for which β is feasible: where $\pi(2P^2 - P) = 1$, that is $(E-1)^2 = \pi(E+1)$, 1.7100.
///
/// A threshold just right of zero has $F = (\pi(2P^2-P)-1)\delta^2 + O(\delta^3)$: above this level the guess fails.
/// That it does not fail before, [`SignInequality::check`] proves at any level below, and with it at all smaller ones.
/// From here to 2.0074 the sign is still the best mechanism known, but to show it takes another β.
///
/// ```
/// use ldp_core::Epsilon;
/// use ldp_fisher::optimal::sign_proof::{Refusal, SignInequality, exact_until};
/// assert!((exact_until() - 1.709995).abs() < 1e-6);
/// assert!(SignInequality::new(Epsilon::new(exact_until() - 0.01)?).check().is_ok());
/// let refusal = SignInequality::new(Epsilon::new(exact_until() + 0.01)?).check().unwrap_err();
/// assert!(matches!(refusal, Refusal::Violated { difference, .. } if difference < 0.0));
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[must_use]
pub fn exact_until() -> f64 {
    largest(|epsilon| PI * (1.0 / epsilon.tau() - 1.0) * 0.5 / epsilon.tau() >= 1.0)
}

/// The largest level for which a condition holds that holds below it, by halving.
fn largest(holds: impl Fn(Epsilon) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if Epsilon::new(middle).is_ok_and(&holds) { low = middle } else { high = middle }
    }
    low
}
