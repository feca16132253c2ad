//! Binomial counts, drawn.

use ldp_core::error::{Result, require};
use ldp_core::special::binomial::ln_pmf;
use rand::Rng;

/// The most trials that are drawn at once: up to here the probabilities that decide are known to twelve digits.
const MOST: u64 = 1 << 40;

/// The fewest expected successes, and failures, for which the hat lies above the probabilities. Below, inversion takes few
/// steps.
const LEAST: f64 = 10.0;

/// A binomial law, ready to be drawn from.
///
/// Exact in law to twelve digits, for any number of trials: by transformed rejection (algorithm BTRD of [H93]), mostly with one
/// random word and no logarithm (of 306 trials three times of five, of many four), and by inversion where few successes or
/// failures are expected. A kept law gives the same counts as a new one.
///
/// ```
/// use ldp_simulate::Binomial;
/// use ldp_simulate::seed::{Purpose, stream};
/// let law = Binomial::new(1_000_000, 0.25)?;
/// let count = law.draw(&mut stream(1, Purpose::Tally, 0, 0));
/// assert!(count.abs_diff(250_000) < 3000);
/// # Ok::<(), ldp_core::Error>(())
/// ```
///
/// # Design
/// Of 9,694 trials a draw took 22 ns of a kept law and 36 of a new one, against 44 and 56 with `rand_distr`; of 306 trials 37 and
/// 59 against 64 and 78. Its squeeze also compares logarithms of the size of n: at 10¹² trials its comparisons are noise in their
/// fourth digit.
///
/// [H93]: https://doi.org/10.1080/00949659308811496
#[derive(Clone, Debug)]
pub struct Binomial {
    trials: u64,
    p: f64,
    method: Method,
    /// What a kept law knows: f(k)/f(m) near the mode m.
    near: Option<Box<Near>>,
}

/// f(k)/f(m) for the counts from m − [`NEAR`] to m + [`NEAR`].
type Near = [f64; 2 * NEAR as usize + 1];

#[derive(Clone, Copy, Debug)]
enum Method {
    /// One trial is one word; anything else would cost a whole set-up.
    One,
    Few(Few),
    Hat(Hat),
    /// A sum of counts of at most [`MOST`] trials.
    Parts,
}

impl Binomial {
    /// The law of the number of successes in `trials` trials of probability `p`.
    #[inline]
    pub fn new(trials: u64, p: f64) -> Result<Self> {
        require((0.0..=1.0).contains(&p), "report probability", "between 0 and 1", p)?;
        let method = if trials > MOST {
            Method::Parts
        } else if trials as f64 * p.min(1.0 - p) >= LEAST {
            Method::Hat(Hat::new(trials, p))
        } else if trials == 1 {
            Method::One
        } else {
            Method::Few(Few::new(trials, p))
        };
        Ok(Self { trials, p, method, near: None })
    }

    /// The same law, to be drawn from many times: the same counts, for less of the time.
    ///
    /// ```
    /// use ldp_simulate::{Binomial, draw_binomial};
    /// use ldp_simulate::seed::{Purpose, stream};
    /// let (mut one, mut other) = (stream(1, Purpose::Tally, 0, 0), stream(1, Purpose::Tally, 0, 0));
    /// let law = Binomial::new(306, 0.58)?.kept();
    /// assert!((0..100).all(|_| law.draw(&mut one) == draw_binomial(306, 0.58, &mut other).unwrap()));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    #[must_use]
    pub fn kept(mut self) -> Self {
        if let Method::Hat(hat) = &self.method {
            let mode = hat.mode();
            let counts = 0..2 * NEAR + 1;
            // Counts below zero or above the number of trials do not come up.
            let ratio = |i: u64| (mode + i).checked_sub(NEAR).map_or(0.0, |count| hat.ratio(count));
            let ratios: Vec<f64> = counts.map(ratio).collect();
            self.near = ratios.try_into().ok();
        }
        self
    }

    /// The next count.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        match &self.method {
            Method::Hat(hat) => hat.draw(self.near.as_deref(), rng),
            _ => self.draw_otherwise(rng),
        }
    }

    #[inline(never)]
    fn draw_otherwise<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        match &self.method {
            Method::Hat(hat) => hat.draw(None, rng),
            Method::One => u64::from(falls_below(rng.next_u64(), self.p)),
            Method::Few(few) => few.draw(rng),
            Method::Parts => {
                let mut draw = |trials| Self::new(trials, self.p).map_or(0, |law| law.draw(rng));
                let rest = draw(self.trials % MOST);
                (0..self.trials / MOST).fold(rest, |sum, _| sum + draw(MOST))
            }
        }
    }
}

/// A binomial count; [`Binomial`] for a law that is drawn from once.
///
/// ```
/// use ldp_simulate::draw_binomial;
/// use ldp_simulate::seed::{Purpose, stream};
/// let count = draw_binomial(1_000_000, 0.25, &mut stream(1, Purpose::Tally, 0, 0))?;
/// assert!(count.abs_diff(250_000) < 3000);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[inline]
pub fn draw_binomial<R: Rng + ?Sized>(trials: u64, p: f64, rng: &mut R) -> Result<u64> {
    Ok(Binomial::new(trials, p)?.draw(rng))
}

/// Whether a random word, as a number in [0, 1) of 53 digits, falls below `p`: one trial of probability p.
///
/// ```
/// use ldp_simulate::falls_below;
/// assert!(falls_below(0, 1e-300) && !falls_below(0, 0.0));
/// assert!(falls_below(u64::MAX, 1.0) && !falls_below(1 << 63, 0.5));
/// ```
#[inline]
#[must_use]
pub fn falls_below(word: u64, p: f64) -> bool {
    unit(word) < p
}

/// A random word as a number in [0, 1).
#[inline]
fn unit(word: u64) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    (word >> 11) as f64 * UNIT
}

/// Transformed rejection for p ≤ 1/2.
///
/// A point (u, v) is uniform on [−1/2, 1/2] × [0, 1]. The count is k = ⌊(2a/(1/2 − |u|) + b) u + c⌋, taken if v lies below
/// f(k)/f(m) · (a/(1/2 − |u|)² + b)/α, with m the mode: the hat in the coordinate u is nearly flat. The box |u| ≤ 0.43, v ≤ `box_height`
/// lies below that for every k, so points in it are taken unseen, and a point of the box takes one word.
#[derive(Clone, Copy, Debug)]
struct Hat {
    trials: u64,
    p: f64,
    flipped: bool,
    variance: f64,
    a: f64,
    b: f64,
    c: f64,
    alpha: f64,
    box_height: f64,
    per_height: f64,
}

/// Half the width of the box.
const BOX: f64 = 0.43;

impl Hat {
    #[inline]
    fn new(trials: u64, p: f64) -> Self {
        let flipped = p > 0.5;
        let p = if flipped { 1.0 - p } else { p };
        let mean = trials as f64 * p;
        let variance = mean * (1.0 - p);
        let deviation = variance.sqrt();
        let b = 1.15 + 2.53 * deviation;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let per_b = 1.0 / b;
        let box_height = 0.92 - 4.2 * per_b;
        let alpha = (2.83 + 5.1 * per_b) * deviation;
        Self { trials, p, flipped, variance, a, b, c: mean + 0.5, alpha, box_height, per_height: 1.0 / box_height }
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, near: Option<&Near>, rng: &mut R) -> u64 {
        let v = unit(rng.next_u64());
        let count = if v <= 2.0 * BOX * self.box_height {
            self.place(v * self.per_height - BOX) as u64
        } else {
            self.draw_outside(v, near, rng)
        };
        if self.flipped { self.trials - count } else { count }
    }

    /// Where u is on the line of counts.
    #[inline]
    fn place(&self, u: f64) -> f64 {
        (2.0 * self.a / (0.5 - u.abs()) + self.b) * u + self.c
    }

    /// A count from a point outside of the box, the first coin of which is `v`.
    #[inline(never)]
    fn draw_outside<R: Rng + ?Sized>(&self, mut v: f64, near: Option<&Near>, rng: &mut R) -> u64 {
        let end = self.trials as f64 + 1.0;
        loop {
            let (u, height) = if v >= self.box_height {
                // Above the box, at any u.
                (unit(rng.next_u64()) - 0.5, v)
            } else {
                // To the left and right of it, from 0.43 to 0.5.
                let u = v * self.per_height - BOX - 0.5;
                (0.5f64.copysign(u) - u, unit(rng.next_u64()) * self.box_height)
            };
            let place = self.place(u);
            if place >= 0.0 && place < end {
                let us = 0.5 - u.abs();
                let count = place as u64;
                if self.accepts(count, height * self.alpha / (self.a / (us * us) + self.b), near) {
                    return count;
                }
            }
            v = unit(rng.next_u64());
            if v <= 2.0 * BOX * self.box_height {
                return self.place(v * self.per_height - BOX) as u64;
            }
        }
    }

    /// The most likely count.
    #[inline]
    fn mode(&self) -> u64 {
        ((self.trials as f64 + 1.0) * self.p) as u64
    }

    /// Whether `share` is at most f(k)/f(m).
    #[inline]
    fn accepts(&self, count: u64, share: f64, near: Option<&Near>) -> bool {
        let mode = self.mode();
        let away = count.abs_diff(mode);
        if away <= NEAR {
            let kept = near.map(|near| near[(count + NEAR - mode) as usize]);
            return share <= kept.unwrap_or_else(|| self.ratio(count));
        }
        let log = share.ln();
        match self.squeeze(away as f64) {
            Some([low, _]) if log < low => true,
            Some([_, high]) if log > high => false,
            _ => log <= ln_pmf(count, self.trials, self.p) - ln_pmf(mode, self.trials, self.p),
        }
    }

    /// f(k)/f(m) near the mode m, from one count to the next.
    fn ratio(&self, count: u64) -> f64 {
        let mode = self.mode();
        let odds = self.p / (1.0 - self.p);
        let scaled = (self.trials as f64 + 1.0) * odds;
        let steps = mode.min(count) + 1..=mode.max(count);
        let product: f64 = steps.map(|k| scaled / k as f64 - odds).product();
        if count > mode { product } else { 1.0 / product }
    }

    /// Bounds on ln f(k)/f(m) at a distance from the mode of more than [`NEAR`]; they do not hold far out.
    #[inline]
    fn squeeze(&self, away: f64) -> Option<[f64; 2]> {
        let spread = self.variance;
        if away >= 0.5 * spread - 1.0 {
            return None;
        }
        let off = (away / spread) * (((away / 3.0 + 0.625) * away + 1.0 / 6.0) / spread + 0.5);
        let log = -away * away / (2.0 * spread);
        Some([log - off, log + off])
    }
}

/// Counts as near as this to the mode are compared step by step.
const NEAR: u64 = 15;

/// Few successes, or failures, found by going through the probabilities from none on.
#[derive(Clone, Copy, Debug)]
struct Few {
    trials: u64,
    /// Whether failures are counted.
    flipped: bool,
    /// The odds of what is counted.
    odds: f64,
    /// The probability of none.
    none: f64,
}

impl Few {
    /// Further than this none comes: with a mean below [`LEAST`] it has a probability below 1e-70.
    const FURTHEST: u64 = 110;

    fn new(trials: u64, p: f64) -> Self {
        let flipped = p > 0.5;
        let p = if flipped { 1.0 - p } else { p };
        // A power of the rounded 1 − p would be off by as many roundings as there are trials.
        Self { trials, flipped, odds: p / (1.0 - p), none: libm::exp(trials as f64 * libm::log1p(-p)) }
    }

    fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        loop {
            let (mut count, mut probability) = (0, self.none);
            let mut left = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            while left >= probability && count < self.trials.min(Self::FURTHEST) {
                left -= probability;
                probability *= (self.trials - count) as f64 / (count + 1) as f64 * self.odds;
                count += 1;
            }
            // What is left beyond the last is rounding: of one in 10¹⁴ draws, which is made again.
            if left < probability {
                return if self.flipped { self.trials - count } else { count };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};
    use ldp_core::conformance::{ALPHA, Repeating, goodness_of_fit};
    use ldp_core::special::binomial::{cdf, pmf, sf};

    /// Settings from the smallest mean to 10¹² trials. Shares above one half are drawn as those below, and counted down.
    fn settings() -> impl Iterator<Item = (u64, f64)> {
        let trials = [20, 21, 25, 33, 50, 99, 306, 1000, 9694, 250_000, 1 << 30, 1_000_000_000_000];
        let shares = [0.5, 0.499, 0.47, 0.4, 0.311, 0.2689, 0.1, 0.04, 3e-3, 1e-5, 2e-8, 1.1e-11];
        trials.into_iter().flat_map(move |n| {
            let least = LEAST / n as f64;
            let all = shares.into_iter().chain([least * (1.0 + 1e-9), 1.3 * least, 2.0 * least, 5.0 * least]);
            all.filter(move |&p| n as f64 * p >= LEAST && p <= 0.5).map(move |p| (n, p))
        })
    }

    /// What the law rests on, count by count and not by sampling: the box lies below the probabilities and within the
    /// counts, the hat above, and the squeezes on either side.
    #[test]
    fn the_hat_covers_and_the_box_and_the_squeezes_hold() {
        for (n, p) in settings() {
            let hat = Hat::new(n, p);
            let mode = hat.mode();
            let at_mode = ln_pmf(mode, n, p);
            let ratio = |k: u64| ln_pmf(k, n, p) - at_mode;
            // The height, in units of f(m), of the point (u, 1).
            let height = |us: f64| hat.alpha / (hat.a / (us * us) + hat.b);
            assert!(hat.place(-BOX) >= 0.0 && hat.place(BOX) < n as f64 + 1.0, "n = {n}, p = {p}");
            assert!(hat.box_height > 0.0 && hat.a > 0.0, "n = {n}, p = {p}");
            // Along u, in steps much finer than the counts of the middle where there are few of them.
            let steps = 40_000;
            for i in 1..steps {
                let u = f64::from(i) / f64::from(steps) - 0.5;
                let (us, place) = (0.5 - u.abs(), hat.place(u));
                if place < 0.0 || place >= n as f64 + 1.0 {
                    continue;
                }
                let k = place as u64;
                let share = ratio(k).exp();
                let slack = 1e-9;
                assert!(share <= height(us) * (1.0 + slack), "the hat at {k}: n = {n}, p = {p}");
                if u.abs() <= BOX {
                    assert!(hat.box_height * height(us) <= share * (1.0 + slack), "the box at {k}: n = {n}, p = {p}");
                }
                let away = k.abs_diff(mode);
                if let Some([low, high]) = hat.squeeze(away as f64).filter(|_| away > NEAR) {
                    assert!((low - slack..=high + slack).contains(&ratio(k)), "squeezes at {k}: n = {n}, p = {p}");
                }
            }
            // A step by step comparison decides as the probabilities do.
            for k in (mode.saturating_sub(NEAR)..=(mode + NEAR).min(n)).step_by(3) {
                let share = ratio(k).exp();
                assert!(
                    hat.accepts(k, share * (1.0 - 1e-9), None) && !hat.accepts(k, share * (1.0 + 1e-9), None),
                    "{k} of {n}"
                );
            }
            let far = (mode + 3 * NEAR).min(n);
            let share = ratio(far).exp();
            assert!(
                hat.accepts(far, share * (1.0 - 1e-9), None) && !hat.accepts(far, share * (1.0 + 1e-9), None),
                "{far} of {n}"
            );
        }
    }

    #[test]
    fn counts_have_their_probabilities() {
        // Chi-square over all counts, α = 1e-6, 400,000 draws; a law with a mean 2 % of a standard deviation off is rejected.
        for (i, (n, p)) in (0..).zip([
            (20, 0.5),
            (40, 0.7),
            (306, 0.58),
            (9694, 0.5),
            (2, 0.3),
            (12, 0.1),
            (300, 0.01),
            (2000, 0.992),
            (2000, 0.9965),
        ]) {
            let mut rng = stream(7, Purpose::Tally, i, 0);
            let law = Binomial::new(n, p).unwrap();
            let mut counts = vec![0u64; n as usize + 1];
            (0..400_000).for_each(|_| counts[law.draw(&mut rng) as usize] += 1);
            let right = |p: f64| (0..=n).map(|k| pmf(k, n, p)).collect::<Vec<f64>>();
            let found = goodness_of_fit(&counts, &right(p));
            assert!(found > ALPHA, "n = {n}, p = {p}: {found:e}");
            let mutant = p + 0.02 * (p * (1.0 - p) / n as f64).sqrt();
            assert!(goodness_of_fit(&counts, &right(mutant)) < ALPHA, "n = {n}, p = {p}: the mutant passes");
        }
    }

    /// Not by sampling: the end of every count among the words, which is its distribution function.
    #[test]
    fn inversion_turns_at_the_distribution_function() {
        assert!(sf(Few::FURTHEST + 1, MOST, LEAST / MOST as f64) < 1e-70);
        for (n, p) in [(2, 0.3), (30, 0.9), (300, 0.01), (1 << 30, 5e-9), (1 << 40, 2e-12), (1 << 40, 9e-12)] {
            let few = Few::new(n, p);
            for count in 0..20.min(n) {
                let end = if few.flipped { sf(n - count, n, p) } else { cdf(count, n, p) };
                let drawn = |share: f64| {
                    let found = few.draw(&mut Repeating::new((share * 2f64.powi(64)) as u64));
                    if few.flipped { n - found } else { found }
                };
                // Where what is beyond is as small as this, words of 53 digits no longer tell.
                if 1.0 - end > 1e-11 {
                    assert!(drawn(end - 1e-12) <= count && drawn(end + 1e-12) > count, "{count} of {n}, p = {p}");
                }
            }
        }
    }

    #[test]
    fn sums_follow_the_law_at_every_size() {
        // Two-sided tail of a sum of draws, α = 1e-6 each: catches a wrong p (by 3 % at n = 1, 3e-7 at 10^12),
        // a wrong number of trials, a lost part.
        for (trials, p, draws) in [
            (1, 0.3, 400_000),
            (20, 0.01, 50_000),
            (1000, 0.62, 2000),
            (1_000_000_000_000, 0.42, 3000),
            (5_000_000_000_000, 1e-11, 3000),
            (5_000_000_000_001, 0.9, 30),
        ] {
            let mut rng = stream(3, Purpose::Tally, trials, 0);
            let total: u64 = (0..draws).map(|_| draw_binomial(trials, p, &mut rng).unwrap()).sum();
            let n = trials * draws;
            assert!(cdf(total, n, p) > 5e-7 && sf(total, n, p) > 5e-7, "{trials} trials: {total}");
            let mutant = p * (1.0 + 10.0 / (n as f64 * p).sqrt());
            assert!(cdf(total, n, mutant) < 5e-7, "{trials} trials: the mutant passes");
        }
    }

    #[test]
    fn kept_laws_draw_what_new_ones_do_and_ends_are_certain() {
        for (n, p) in [(1, 0.4), (7, 0.2), (20, 0.5), (400, 0.97), (10_000, 0.3), (3 * MOST, 0.5), (0, 0.5)] {
            let law = Binomial::new(n, p).unwrap().kept();
            let (mut kept, mut new) = (stream(1, Purpose::Tally, n, 0), stream(1, Purpose::Tally, n, 0));
            for _ in 0..10_000 {
                assert_eq!(law.draw(&mut kept), draw_binomial(n, p, &mut new).unwrap());
            }
        }
        let mut rng = stream(2, Purpose::Tally, 0, 0);
        for n in [0, 1, 5, 1000, 1 << 50] {
            assert_eq!([0.0, 1.0].map(|p| draw_binomial(n, p, &mut rng).unwrap()), [0, n]);
        }
        for p in [-1e-9, 1.0 + 1e-9, f64::NAN] {
            assert!(Binomial::new(10, p).is_err(), "{p}");
        }
    }
}
