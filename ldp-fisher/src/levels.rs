//! The law of the score: level sets, their probabilities and how these change with the parameter.

use crate::law::{ScoreLaw, Tail, informative};
use ldp_core::Result;
use ldp_core::model::{Cdf, Score, Support};
use ldp_core::special::least;

/// Steps of a golden section: it settles height, of which half the digits of the place are enough.
const SECTIONS: u32 = 80;

/// What a model may have lost of a score by rounding, in units and relative to it.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Up to so many whole numbers are looked at one by one.
const ENUMERATED: f64 = 2048.0;

/// The law of the score of a family at θ, in units of the root of the family's information.
///
/// Of a family at θ nothing matters to a private report but this: $P_\theta(s \ge \ell)$ and
/// $E_\theta[s; s \ge \ell] = \partial_\theta P_\theta(A)$ with $A = \lbrace s \ge \ell\rbrace$ held fixed, both exact
/// from the cdf and its derivative. In units of $\sqrt{I_0}$ the score has variance one, whatever the family and its scale.
///
/// # Design
///
/// A level set is found on a grid of 128 equally likely cells, finer in the tails, to which the turning points of the
/// score are added; between two points of the grid the score is taken to be monotone. For families of whole numbers the
/// sets are unions of them.
pub(crate) struct Levels<'a, M: ?Sized> {
    model: &'a M,
    theta: f64,
    /// The root of the information: one unit of score.
    unit: f64,
    whole: bool,
    kinks: Vec<f64>,
    points: Vec<f64>,
    /// The scores there, in units.
    scores: Vec<f64>,
    /// Where runs of points with monotone scores begin and end; neighbours share a point.
    runs: Vec<(usize, usize)>,
}

impl<'a, M: Cdf + Score + ?Sized> Levels<'a, M> {
    /// Checks θ and that the information is positive and finite.
    pub fn new(model: &'a M, theta: f64) -> Result<Self> {
        model.admits(theta)?;
        let information = informative(model.information(theta))?;
        let unit = information.sqrt();
        let (points, kinks) = grid(model, theta);
        let whole = matches!(model.support(theta), Support::Whole { .. });
        let mut levels = Self { model, theta, unit, whole, kinks, points, scores: Vec::new(), runs: Vec::new() };
        levels.scores = levels.points.iter().map(|&x| levels.score(x)).collect();
        if !whole {
            levels.add_turning_points();
        }
        levels.runs = runs(&levels.scores);
        Ok(levels)
    }

    /// The parameter.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// One unit of score, $\sqrt{I_0}$.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The score of a value, in units; at a kink the one on its right, because cells are closed on the left.
    #[inline]
    fn score(&self, x: f64) -> f64 {
        let x = if self.kinks.contains(&x) { beside(x, 1.0 / self.unit) } else { x };
        self.model.score(self.theta, x) / self.unit
    }

    /// The set where the score is at least `level`, as intervals closed on the left and open on the right, increasing.
    pub fn set(&self, level: f64) -> Vec<(f64, f64)> {
        let mut set = Vec::new();
        self.each(level, |low, high| set.push((low, high)));
        set
    }

    /// Calls `piece` for every interval of a level set, from the left.
    fn each(&self, level: f64, mut piece: impl FnMut(f64, f64)) {
        let inside = |score: f64| score >= level;
        let mut open: Option<f64> = None;
        let last = self.runs.len().saturating_sub(1);
        for (number, &(first, end)) in self.runs.iter().enumerate() {
            let scores = &self.scores[first..=end];
            let (from, to) = (inside(scores[0]), inside(scores[scores.len() - 1]));
            if from && open.is_none() {
                open = Some(if number == 0 { f64::NEG_INFINITY } else { self.points[first] });
            }
            if from != to {
                let i = first + scores.partition_point(|&score| inside(score) == from);
                let crossing = self.crossing(self.points[i - 1], self.points[i], |x| inside(self.score(x)) == from);
                match open.take() {
                    Some(low) => piece(low, crossing),
                    None => open = Some(crossing),
                }
            }
            if number == last
                && let Some(low) = open
            {
                piece(low, f64::INFINITY);
            }
        }
    }

    /// The first point of (`left`, `right`] that is not as `left` is: cells are closed on the left.
    fn crossing(&self, mut left: f64, mut right: f64, same: impl Fn(f64) -> bool) -> f64 {
        // Halving comes to zero only after a thousand steps, and the cuts of a symmetric law are there.
        if left < 0.0 && right > 0.0 {
            if same(0.0) { left = 0.0 } else { right = 0.0 }
        }
        // Nearer to zero than that a model cannot tell numbers from it.
        if right == 0.0 && same(-f64::EPSILON * (f64::EPSILON / self.unit)) {
            return right;
        }
        // Down to neighbouring numbers: halving ends by itself.
        loop {
            let middle = left + 0.5 * (right - left);
            let middle = if self.whole { middle.floor() } else { middle };
            if middle <= left || middle >= right {
                return right;
            }
            if same(middle) { left = middle } else { right = middle }
        }
    }

    /// Probability and slope of a level set, and a look at its ends.
    fn set_tail(&self, level: f64, mut end: impl FnMut(f64)) -> Tail {
        let mut tail = Tail::default();
        self.each(level, |low, high| {
            tail.mass += self.model.mass(self.theta, low, high);
            tail.slope += self.model.mass_dtheta(self.theta, low, high);
            [low, high].into_iter().for_each(&mut end);
        });
        Tail { mass: tail.mass.min(1.0), slope: tail.slope / self.unit }
    }

    /// How much the score changes between the end of a level set and the number before it: nothing in between was looked at.
    /// Between two whole numbers there is nothing, and a score that jumps at a kink does so there.
    fn jump(&self, end: f64) -> f64 {
        let before = end.next_down();
        let nothing = !end.is_finite() || self.kinks.contains(&end) || (self.whole && end - before <= 1.0);
        if nothing { 0.0 } else { (self.score(end) - self.score(before)).abs() }
    }

    /// Between three points of which the middle one has the highest or lowest score there may be a higher or lower one.
    fn add_turning_points(&mut self) {
        let mut found = Vec::new();
        for i in 1..self.points.len().saturating_sub(1) {
            let (before, here, after) = (self.scores[i - 1], self.scores[i], self.scores[i + 1]);
            for sign in [1.0, -1.0] {
                if sign * here >= sign * before && sign * here >= sign * after && (before != here || after != here) {
                    let height = |x: f64| sign * self.score(x);
                    let x = peak(self.points[i - 1], self.points[i + 1], &height);
                    if height(x) > sign * here {
                        found.push((x, sign * height(x)));
                    }
                }
            }
        }
        for (x, score) in found {
            let at = self.points.partition_point(|&point| point < x);
            if self.points.get(at) != Some(&x) {
                self.points.insert(at, x);
                self.scores.insert(at, score);
            }
        }
    }
}

impl<M: Cdf + Score + ?Sized> ScoreLaw for Levels<'_, M> {
    fn tail(&self, level: f64) -> Tail {
        self.set_tail(level, |_| ())
    }

    fn blurred(&self, level: f64) -> (Tail, f64) {
        let mut jump = 0.0;
        let tail = self.set_tail(level, |end| jump = self.jump(end).max(jump));
        (tail, jump + ROUNDING * (1.0 + level.abs()))
    }

    fn rest(&self, level: f64) -> f64 {
        let (mut mass, mut left) = (0.0, f64::NEG_INFINITY);
        self.each(level, |low, high| {
            mass += self.model.mass(self.theta, left, low);
            left = high;
        });
        mass + self.model.mass(self.theta, left, f64::INFINITY)
    }

    fn scores(&self) -> Vec<f64> {
        let mut scores: Vec<f64> = self.scores.iter().copied().filter(|score| score.is_finite()).collect();
        scores.sort_unstable_by(f64::total_cmp);
        scores.dedup();
        scores
    }

    fn enumerated(&self) -> bool {
        self.whole && self.points.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
    }
}

/// Runs of monotone scores: pairs of first and last index.
fn runs(scores: &[f64]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let (mut first, mut direction) = (0, 0.0);
    for i in 1..scores.len() {
        let step = scores[i] - scores[i - 1];
        if step * direction < 0.0 {
            runs.push((first, i - 1));
            first = i - 1;
            direction = step;
        } else if direction == 0.0 {
            direction = step;
        }
    }
    if !scores.is_empty() {
        runs.push((first, scores.len() - 1));
    }
    runs
}

/// Golden section: where `height` is largest between two points, to half the digits, which gives the height to all.
fn peak(mut low: f64, mut high: f64, height: &dyn Fn(f64) -> f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (height(left), height(right));
    for _ in 0..SECTIONS {
        if at_left < at_right {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = height(right);
        } else {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = height(left);
        }
    }
    low + 0.5 * (high - low)
}

/// A number just above another. Beside zero the next one is so small that a model cannot tell it from zero.
fn beside(x: f64, width: f64) -> f64 {
    x.next_up().max(x + f64::EPSILON * width)
}

/// Points of the support, increasing, and which of them are kinks.
fn grid<M: Cdf + Score + ?Sized>(model: &M, theta: f64) -> (Vec<f64>, Vec<f64>) {
    let far = (1..=10).map(|i| 0.5f64.powi(1050 - 100 * i));
    let tails = (0..22).map(|i| 0.5f64.powi(50 - 2 * i));
    let lower: Vec<f64> = far.chain(tails).chain((1..64).map(|i| f64::from(i) / 128.0)).collect();
    let below = |p: f64| model.quantile(theta, p);
    let above = |p: f64| least(|x| model.mass(theta, x, f64::INFINITY) <= p);
    let mut points: Vec<f64> = lower.iter().map(|&p| below(p)).chain(lower.iter().map(|&p| above(p))).collect();
    points.push(below(0.5));
    let kinks = match model.support(theta) {
        Support::Interval { low, high, kinks } => {
            points.extend([low, high]);
            let width = model.information(theta).sqrt().recip();
            points.extend(kinks.iter().flat_map(|&kink| [-beside(-kink, width), kink]));
            kinks
        }
        Support::Whole { first, last } => {
            points = points.iter().map(|x| x.floor().clamp(first, last)).chain([first, last]).collect();
            let (low, high) = points.iter().fold((f64::INFINITY, first), |(low, high), &x| {
                (low.min(x), if x.is_finite() { high.max(x) } else { high })
            });
            if high - low < ENUMERATED {
                points = (0..=(high - low) as u32).map(|i| low + f64::from(i)).collect();
            }
            Vec::new()
        }
    };
    points.retain(|x| x.is_finite() && model.ln_density(theta, *x) > f64::NEG_INFINITY);
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();
    (points, kinks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Categorical, Gaussian, GaussianScale, Laplace, Poisson, StudentT};

    #[test]
    fn level_sets_of_scores_that_turn() {
        // Student's score rises between ∓√ν and falls outside; its highest value is found to all digits.
        let student = StudentT::new(3.0, 2.0).unwrap();
        let levels = Levels::new(&student, 1.0).unwrap();
        let highest = levels.scores().last().copied().unwrap() * levels.unit();
        assert!((highest - student.score(1.0, 1.0 + 2.0 * 3f64.sqrt())).abs() < 1e-15);
        let set = levels.set(0.9 * highest / levels.unit());
        assert!(set.len() == 1 && set[0].0 > 1.0 && set[0].1 < 20.0);
        for end in [set[0].0, set[0].1] {
            assert!((student.score(1.0, end) - 0.9 * highest).abs() < 1e-15);
        }
        // Just below the top the set is small but there.
        let top = levels.tail(highest / levels.unit() * (1.0 - 1e-12));
        assert!(top.mass > 1e-8 && top.mass < 1e-5, "{top:?}");
        // Both tails of a scale.
        let levels = Levels::new(&GaussianScale, 2.0).unwrap();
        let set = levels.set(0.0);
        assert_eq!((set.len(), set[0].0, set[1].1), (2, f64::NEG_INFINITY, f64::INFINITY));
        assert!((set[0].1 + 2.0).abs() < 1e-14 && (set[1].0 - 2.0).abs() < 1e-14);
        let tail = levels.tail(0.0);
        assert!((tail.mass - 0.317310507862914).abs() < 1e-14);
        // 2φ(1)/θ, in units of √2/θ.
        assert!((tail.slope - 2.0 * 0.24197072451914337 / 2f64.sqrt()).abs() < 1e-14, "{tail:?}");
        assert_eq!(levels.tail(-0.8), Tail { mass: 1.0, slope: 0.0 });
    }

    #[test]
    fn jumps_and_whole_numbers() {
        let laplace = Laplace::new(3.0).unwrap();
        let levels = Levels::new(&laplace, 5.0).unwrap();
        assert_eq!(levels.set(0.3), [(5.0, f64::INFINITY)]);
        assert_eq!(levels.tail(0.3), Tail { mass: 0.5, slope: 0.5 });
        assert!(!levels.enumerated());
        // At zero half the next number rounds to zero: there are two scores nevertheless.
        for scale in [0.4, 3.0, 1e80] {
            let laplace = Laplace::new(scale).unwrap();
            let levels = Levels::new(&laplace, 0.0).unwrap();
            assert_eq!(
                (levels.scores(), levels.set(-0.3), levels.set(0.3)),
                (vec![-1.0, 1.0], vec![(0.0, f64::INFINITY)], vec![(0.0, f64::INFINITY)])
            );
            assert!(levels.blurred(0.3).1 < 1e-14);
        }
        let levels = Levels::new(&Poisson, 2.5).unwrap();
        assert!(levels.enumerated());
        // The score of k is (k/θ − 1), in units of 1/√θ.
        let level = (3.0 / 2.5 - 1.0) * 2.5f64.sqrt();
        assert_eq!(levels.set(level + 1e-9), [(4.0, f64::INFINITY)]);
        assert_eq!(levels.set(level - 1e-9), [(3.0, f64::INFINITY)]);
        let categorical = Categorical::new(5).unwrap();
        let levels = Levels::new(&categorical, 0.25).unwrap();
        assert_eq!(levels.scores().len(), 2);
        assert_eq!(levels.set(0.0), [(f64::NEG_INFINITY, 1.0)]);
    }

    #[test]
    fn families_without_information_are_refused() {
        struct Flat;
        impl ldp_core::model::Location for Flat {
            fn scale(&self) -> f64 {
                1.0
            }
            fn ln_density_at(&self, z: f64) -> f64 {
                ldp_core::special::normal::ln_pdf(z)
            }
            fn slope_at(&self, _: f64) -> f64 {
                0.0
            }
            fn below(&self, z: f64) -> f64 {
                ldp_core::special::normal::cdf(z)
            }
            fn between(&self, low: f64, high: f64) -> f64 {
                ldp_core::special::normal::mass(low, high)
            }
            fn information_at_unit_scale(&self) -> f64 {
                0.0
            }
        }
        assert!(Levels::new(&Flat, 0.0).is_err());
        let (small, large) = (Gaussian::new(1e-200).unwrap(), Gaussian::new(1e-100).unwrap());
        assert!(Levels::new(&small, 0.0).is_err());
        assert!(Levels::new(&large, 0.0).is_ok());
    }
}
