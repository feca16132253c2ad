//! Weak duality on the continuum: what a function β of the score proves.
//!
//! Let Q be ε-private, with density q(z | x) between a(z) and E·a(z), E = e^ε, against a measure ν with ∫a dν ≤ 1, and let
//! t(z) be the score of report z. Then, with $c(x, t) = 2t\,s(x) - t^2 - \beta(s(x))$,
//!
//! $$I - \int\beta p = \int\nu(dz) \int q(z|x)\, c(x, t(z))\, p(x)\,dx \le \int a(z) G(t(z))\, \nu(dz), \qquad
//! G(t) = \int p\,[c + (E-1)c_+].$$
//!
//! So if $G \le 0$, no ε-private mechanism has more information than $\int\beta p$. Where β is linear in the score on a
//! set, integrals of c over it need its probability and the slope of that alone, which every model with a cdf has.
//!
//! Level sets end at numbers, so they are those of their levels only up to a blur. β is taken to change its piece where the
//! computed sets end: weak duality holds for any function of the value. What is left is the sign of c within a blur of a
//! zero or a knot; at most growth × slope × blur × the probability of being so near, which is counted as rounding.

use super::beta::Beta;
use super::intervals::report_scores;
use crate::law::{ScoreLaw, Tail};
use ldp_core::{Error, Result};

/// What rounding may do to a probability or its slope as the models compute them, relative: 64 units in the last place.
///
/// The special functions are tested to a few; the margin is what makes a bound a bound, if they keep it.
pub(super) const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// So many values of G are taken at the most by a search.
const MOST_VALUES: u64 = 1 << 22;

/// So many pieces of β are looked at by a proof, in all values of G together, before it is given up: seconds. Of the
/// certificates of the built-in families none has needed a tenth of that.
const MOST_PIECES: u64 = 1 << 25;

/// Up to this blur, in units, being near a score is taken to be certain: the product is below rounding as it is.
const FINE: f64 = 1e-13;

/// Steps of a climb whose end need not be exact.
const CLIMB: u32 = 6;

/// Into how many parts the range of t is divided to begin with.
const PARTS: u32 = 64;

/// A function β with the family it is to prove something about.
pub(crate) struct Dual<'a, L: ?Sized> {
    levels: &'a L,
    beta: &'a Beta,
    /// $E - 1$, rounded up.
    growth: f64,
    /// The tails at the knots, between that of everything and that of nothing.
    tails: Vec<Tail>,
    /// $\int\beta p$.
    integral: Sum,
    /// How large the terms are that cancel in c, integrated: per unit of 2t, and those of β itself.
    terms: [f64; 2],
    /// What the blur of the knots may do to the positive part of c: per unit of 2t, and by the slopes of β.
    blurs: [f64; 2],
}

/// A sum and what rounding may have done to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub value: f64,
    pub rounding: f64,
}

impl Sum {
    /// Adds the integral of value + slope·(s − knot) over the scores between two levels.
    #[inline]
    fn add(&mut self, value: f64, slope: f64, knot: f64, low: Tail, high: Tail) {
        let (mass, moment) = (low.mass - high.mass, low.slope - high.slope);
        self.value += value * mass + slope * (moment - knot * mass);
        let masses = low.mass + high.mass;
        self.rounding += ROUNDING
            * (value.abs() * masses + slope.abs() * (low.slope.abs() + high.slope.abs() + knot.abs() * masses));
    }

    /// No less than the sum.
    pub fn above(&self) -> f64 {
        (self.value + self.rounding).next_up()
    }
}

impl<'a, L: ScoreLaw + ?Sized> Dual<'a, L> {
    pub fn new(levels: &'a L, beta: &'a Beta, epsilon: f64) -> Self {
        let mut tails = vec![Tail { mass: 1.0, slope: 0.0 }];
        let mut blurs = [0.0; 2];
        for (i, &knot) in beta.knots().iter().enumerate() {
            let (tail, blur) = levels.blurred(knot);
            // Within twice the blur the sign of c may be taken for that on the other side.
            let near = 2.0 * doubt(levels, knot, 2.0 * blur);
            blurs[0] += 2.0 * near;
            blurs[1] += near * (beta.piece(i).slope.abs() + beta.piece(i + 1).slope.abs());
            tails.push(tail);
        }
        tails.push(Tail::default());
        let mut integral = Sum::default();
        let mut terms = [0.0; 2];
        for i in 0..beta.pieces() {
            let piece = beta.piece(i);
            let (low, high) = (tails[i], tails[i + 1]);
            integral.add(piece.value, piece.slope, piece.knot, low, high);
            let (mass, moment) = (low.mass - high.mass, low.slope.abs() + high.slope.abs());
            let reach = moment + 2.0 * piece.knot.abs() * mass;
            terms[0] += reach;
            terms[1] += piece.value.abs() * mass + piece.slope.abs() * reach;
        }
        // One ulp for the exponential, one for good measure.
        let growth = epsilon.exp_m1().next_up().next_up();
        Self { levels, beta, growth, tails, integral, terms, blurs }
    }

    /// $\int\beta p$.
    pub fn integral(&self) -> Sum {
        self.integral
    }

    /// The integral of β over a part of a piece is linear in the parameters of β: adds the coefficients, times `weight`.
    pub fn add_moments(&self, i: usize, weight: f64, low: Tail, high: Tail, out: &mut [f64]) {
        let (mass, slope) = (weight * (low.mass - high.mass), weight * (low.slope - high.slope));
        let knots = self.beta.knots();
        if i == 0 {
            out[0] += slope - knots[0] * mass;
            out[1] += mass;
        } else if i == knots.len() {
            out[i + 1] += slope - knots[i - 1] * mass;
            out[i] += mass;
        } else {
            let width = knots[i] - knots[i - 1];
            out[i] += (knots[i] * mass - slope) / width;
            out[i + 1] += (slope - knots[i - 1] * mass) / width;
        }
    }

    /// The coefficients of the whole integral.
    pub fn moments_of_all(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.beta.pieces() + 1];
        for (i, pair) in self.tails.windows(2).enumerate() {
            self.add_moments(i, 1.0, pair[0], pair[1], &mut all);
        }
        all
    }

    /// Calls `part` for every part of a piece of β on which $c(\cdot, t) > 0$, with the number of the piece and the tails at
    /// the ends of the part.
    pub fn positive(&self, t: f64, part: impl FnMut(usize, Tail, Tail)) {
        self.parts(t, |root, _| self.levels.tail(root), part);
    }

    /// The same with the tail at a zero of c, where its slope is given, from `tail`.
    fn parts(&self, t: f64, mut tail: impl FnMut(f64, f64) -> Tail, mut part: impl FnMut(usize, Tail, Tail)) {
        let last = self.beta.pieces() - 1;
        for i in 0..=last {
            let piece = self.beta.piece(i);
            let (at_knot, slope) = (2.0 * t * piece.knot - t * t - piece.value, 2.0 * t - piece.slope);
            let (low, high) = (self.tails[i], self.tails[i + 1]);
            // Signs at both ends: far out the slope decides.
            let (from, to) = match i {
                0 if slope == 0.0 => (at_knot, at_knot),
                0 => (-slope, at_knot),
                _ if i == last && slope == 0.0 => (at_knot, at_knot),
                _ if i == last => (at_knot, slope),
                _ => {
                    let next = self.beta.piece(i + 1);
                    (at_knot, 2.0 * t * next.knot - t * t - next.value)
                }
            };
            match (from > 0.0, to > 0.0) {
                (true, true) => part(i, low, high),
                (false, false) => {}
                (rises, _) => {
                    let root = piece.knot - at_knot / slope;
                    // A root that rounding puts beyond the piece would count a part twice.
                    let root = match i {
                        0 => root.min(piece.knot),
                        _ if i == last => root.max(piece.knot),
                        _ => root.clamp(piece.knot, self.beta.knots()[i]),
                    };
                    let there = tail(root, slope);
                    if rises { part(i, low, there) } else { part(i, there, high) }
                }
            }
        }
    }

    /// G(t), and the mass of the set where c is positive.
    pub fn at(&self, t: f64) -> (Sum, f64) {
        let (mut sum, mut set) = (Sum::default(), 0.0);
        let mut blurs = 2.0 * t.abs() * self.blurs[0] + self.blurs[1];
        let tail = |root: f64, slope: f64| {
            let (tail, blur) = self.levels.blurred(root);
            blurs += slope.abs() * doubt(self.levels, root, blur);
            tail
        };
        self.parts(t, tail, |i, low, high| {
            let piece = self.beta.piece(i);
            let (at_knot, slope) = (2.0 * t * piece.knot - t * t - piece.value, 2.0 * t - piece.slope);
            sum.add(at_knot, slope, piece.knot, low, high);
            set += low.mass - high.mass;
        });
        let size = t * t + self.integral.value.abs();
        let value = self.growth * sum.value - t * t - self.integral.value;
        // Next to its zeros c is a small difference of these terms, and its sign there is theirs to decide.
        let terms = 2.0 * t.abs() * self.terms[0] + t * t + self.terms[1];
        let cancelled = 8.0 * f64::EPSILON * self.growth * terms;
        let rounding = self.growth * (sum.rounding + blurs) + cancelled + self.integral.rounding + ROUNDING * size;
        (Sum { value, rounding }, set)
    }

    /// The local maximum of G that is reached from t, and the shift of β that would bring it to zero.
    ///
    /// G is the largest over all sets A of a parabola in t; taking the best A for t and the best t for A in turn can only
    /// rise.
    pub fn climb(&self, mut t: f64, steps: u32) -> (f64, f64) {
        for _ in 0..steps {
            let (mut mass, mut slope) = (0.0, 0.0);
            self.positive(t, |_, low, high| {
                mass += low.mass - high.mass;
                slope += low.slope - high.slope;
            });
            let next = self.growth * slope / (1.0 + self.growth * mass);
            let moved = (next - t).abs();
            t = next;
            if moved <= 1e-9 * t.abs() {
                break;
            }
        }
        let (value, set) = self.at(t);
        (t, value.value / (1.0 + self.growth * set))
    }

    /// Proves that $G \le 0$ everywhere, or returns a t where it may not be.
    ///
    /// Outside of the scores that a report can have G has no maximum. G is a supremum of parabolas with second derivative at
    /// least −2E, so on [a, b] it is at most $\max(G(a), G(b)) + E(b-a)^2/4$: halve until that is below zero.
    pub fn prove(&self) -> Result<(), Violation> {
        let mut violation = None;
        self.explore(
            MOST_PIECES / self.beta.pieces() as u64,
            |t| self.at(t).0.above(),
            |t, value| {
                violation = violation.or((!(value <= 0.0)).then_some(Violation { t, value }));
                violation.is_none()
            },
        );
        violation.map_or(Ok(()), Err)
    }

    /// Where G has hills that a shift of β by `tolerance` would not bring below zero: local maxima among the values taken by
    /// halving as in [`prove`](Self::prove).
    pub fn hills(&self, tolerance: f64) -> Vec<(f64, f64)> {
        let mut values = Vec::new();
        self.explore(
            MOST_VALUES,
            |t| {
                let (value, set) = self.at(t);
                values.push((t, value.value));
                value.value - tolerance * (1.0 + self.growth * set)
            },
            |_, _| true,
        );
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // Where a single score has the last report to itself, the last hill ends the range.
        let beside = |i: Option<usize>| i.and_then(|i| values.get(i)).map_or(f64::NEG_INFINITY, |value| value.1);
        let hill = |i: &usize| {
            let (here, before, after) = (values[*i].1, beside(i.checked_sub(1)), beside(Some(i + 1)));
            here > 0.0 && here >= before && here >= after
        };
        (0..values.len()).filter(hill).map(|i| values[i]).collect()
    }

    /// Where G has its maxima, as far as climbs from eight places per piece of β find them.
    pub fn tops(&self) -> Vec<f64> {
        let (low, high) = report_scores(self.levels, self.growth);
        let places = 8 * self.beta.pieces() as u32;
        let start = |i: u32| low + (high - low) * f64::from(i) / f64::from(places);
        let mut tops: Vec<f64> = (0..=places).map(|i| self.climb(start(i), CLIMB).0).collect();
        tops.sort_unstable_by(f64::total_cmp);
        tops.dedup_by(|next, last| *next - *last <= 1e-6 * (high - low));
        tops
    }

    /// Takes values of a function that is at most G until the parabola rule shows it to be below zero between them, as long as
    /// `go_on` says so of every value, and no more than `most`. Where a value is above zero it stops when the
    /// function cannot be much higher nearby.
    fn explore(&self, most: u64, mut value: impl FnMut(f64) -> f64, mut go_on: impl FnMut(f64, f64) -> bool) {
        let (low, high) = report_scores(self.levels, self.growth);
        // The ends solve an equation in rounded numbers, whose slope is at least one.
        let blurred = |t: f64| self.growth * doubt(self.levels, t, self.levels.blurred(t).1);
        let margin = 1e-9 * (high - low) + blurred(low) + blurred(high);
        let (low, high) = (low - margin, high + margin);
        let mut stack = Vec::new();
        let mut left = (low, value(low));
        for i in 1..=PARTS {
            let t = low + (high - low) * f64::from(i) / f64::from(PARTS);
            let right = (t, value(t));
            stack.push((left, right));
            left = right;
        }
        let mut values = 0u64;
        while let Some((left, right)) = stack.pop() {
            if !(go_on(left.0, left.1) && go_on(right.0, right.1)) {
                return;
            }
            let width = right.0 - left.0;
            let bend = 0.25 * (self.growth + 1.0) * width * width * (1.0 + 4.0 * f64::EPSILON);
            let top = left.1.max(right.1);
            if top + bend <= 0.0 || bend <= 0.25 * top {
                continue;
            }
            let middle = left.0 + 0.5 * width;
            values += 1;
            if values > most || middle <= left.0 || middle >= right.0 {
                go_on(middle, top + bend);
                return;
            }
            let middle = (middle, value(middle));
            stack.push((left, middle));
            stack.push((middle, right));
        }
    }
}

/// A blur times the probability of a score that is so near to a level.
fn doubt<L: ScoreLaw + ?Sized>(levels: &L, level: f64, blur: f64) -> f64 {
    if blur <= FINE * (1.0 + level.abs()) {
        return blur;
    }
    blur * (levels.tail(level - blur).mass - levels.tail(level + blur).mass + ROUNDING)
}

/// Where G is not proved to be at most zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Violation {
    pub t: f64,
    pub value: f64,
}

impl Violation {
    // Not `From`: one more of these on `Error` would make every `?` of a crate built on this one ambiguous in closures.
    pub fn refusal(self) -> Error {
        Error::Refused { inequality: "G(t) <= 0 for the beta given", left: self.value, right: 0.0 }
    }
}
