//! Adaptive Gauss–Kronrod quadrature of several functions at once.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Nodes of a panel: 21 of the rule, and one beside either end.
pub(crate) const NODES: usize = 23;
/// How far beside, as a share of half the panel.
const BESIDE: f64 = 1e-12;

/// Node, Kronrod weight and Gauss weight on [−1, 0], of the rule with 10 and 21 points.
const HALF: [(f64, f64, f64); 11] = [
    (-0.995_657_163_025_808_1, 0.011_694_638_867_371_874, 0.0),
    (-0.973_906_528_517_171_7, 0.032_558_162_307_964_725, 0.066_671_344_308_688_14),
    (-0.930_157_491_355_708_2, 0.054_755_896_574_351_995, 0.0),
    (-0.865_063_366_688_984_5, 0.075_039_674_810_919_96, 0.149_451_349_150_580_6),
    (-0.780_817_726_586_416_9, 0.093_125_454_583_697_6, 0.0),
    (-0.679_409_568_299_024_4, 0.109_387_158_802_297_64, 0.219_086_362_515_982_04),
    (-0.562_757_134_668_604_7, 0.123_491_976_262_065_84, 0.0),
    (-0.433_395_394_129_247_2, 0.134_709_217_311_473_34, 0.269_266_719_309_996_35),
    (-0.294_392_862_701_460_2, 0.142_775_938_577_060_09, 0.0),
    (-0.148_874_338_981_631_22, 0.147_739_104_901_338_49, 0.295_524_224_714_752_87),
    (0.0, 0.149_445_554_002_916_9, 0.0),
];

/// What a node counts for.
#[derive(Clone, Copy)]
struct Weights {
    node: f64,
    kronrod: f64,
    gauss: f64,
    /// The polynomial through the nodes of the rule beside the low and beside the high end, minus what is found there.
    low: f64,
    high: f64,
}

const RULE: [Weights; NODES] = {
    let mut rule = [Weights { node: 0.0, kronrod: 0.0, gauss: 0.0, low: 0.0, high: 0.0 }; NODES];
    let last = NODES - 1;
    rule[0].node = -1.0;
    rule[0].low = -1.0;
    rule[last].node = 1.0;
    rule[last].high = -1.0;
    let mut i = 0;
    while i < 11 {
        let (node, kronrod, gauss) = HALF[i];
        rule[last - 1 - i] = Weights { node: -node, kronrod, gauss, low: 0.0, high: 0.0 };
        rule[1 + i] = Weights { node, kronrod, gauss, low: 0.0, high: 0.0 };
        i += 1;
    }
    let mut i = 1;
    while i < last {
        let (mut low, mut high, mut j) = (1.0, 1.0, 1);
        while j < last {
            if j != i {
                low *= (BESIDE - 1.0 - rule[j].node) / (rule[i].node - rule[j].node);
                high *= (1.0 - BESIDE - rule[j].node) / (rule[i].node - rule[j].node);
            }
            j += 1;
        }
        rule[i].low = low;
        rule[i].high = high;
        i += 1;
    }
    rule
};

/// Where a panel is looked at, increasing.
pub(crate) fn nodes(low: f64, high: f64) -> [f64; NODES] {
    // Halves first: the ends may be as far apart as numbers can be.
    let (half, middle) = (high / 2.0 - low / 2.0, low / 2.0 + high / 2.0);
    let mut nodes = RULE.map(|weights| middle + half * weights.node);
    // Never the end itself: there the function may jump to the panel beside.
    let beside = |end: f64| (BESIDE * half).max(4.0 * f64::EPSILON * end.abs());
    nodes[0] = low + beside(low);
    nodes[NODES - 1] = high - beside(high);
    nodes
}

/// The integrals over one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel<const N: usize> {
    pub low: f64,
    pub high: f64,
    pub value: [f64; N],
    /// How far the 10 points are from the 21, and twice how far the polynomial through the 21 is from the function beside
    /// the ends. For one jump or one kink, wherever it lies in the panel, that is more than the error of the value; the
    /// first alone can be a thousandth of it, and does not see what lies beyond the outermost node.
    pub error: [f64; N],
    /// The integrals of the absolute values.
    pub size: [f64; N],
    /// How urgent it is to halve it.
    urgency: f64,
}

impl<const N: usize> PartialEq for Panel<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<const N: usize> Eq for Panel<N> {}

impl<const N: usize> PartialOrd for Panel<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for Panel<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.urgency.total_cmp(&other.urgency)
    }
}

/// The integrals over a panel from what was found at its [`nodes`].
pub(crate) fn combine<const N: usize>(low: f64, high: f64, found: impl IntoIterator<Item = [f64; N]>) -> Panel<N> {
    let half = high / 2.0 - low / 2.0;
    let (mut value, mut size, mut error) = ([0.0; N], [0.0; N], [0.0; N]);
    let (mut apart, mut ends) = ([0.0; N], [[0.0; N]; 2]);
    for (weights, found) in RULE.iter().zip(found) {
        for k in 0..N {
            value[k] += weights.kronrod * found[k];
            size[k] += weights.kronrod * found[k].abs();
            apart[k] += (weights.kronrod - weights.gauss) * found[k];
            ends[0][k] += weights.low * found[k];
            ends[1][k] += weights.high * found[k];
        }
    }
    for k in 0..N {
        // At an end the function may be infinite.
        let at = |end: f64| if end.is_finite() { 2.0 * end.abs() } else { 0.0 };
        error[k] = half * (apart[k].abs() + at(ends[0][k]) + at(ends[1][k]));
        if !error[k].is_finite() {
            error[k] = f64::INFINITY;
        }
        value[k] *= half;
        size[k] *= half;
    }
    Panel { low, high, value, error, size, urgency: 0.0 }
}

/// One panel, without looking whether it is enough.
pub(crate) fn panel<const N: usize>(low: f64, high: f64, f: &mut impl FnMut(f64) -> [f64; N]) -> Panel<N> {
    combine(low, high, nodes(low, high).map(f))
}

/// What an integral has to reach before it is left alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal<const N: usize> {
    /// Good enough whatever the value; infinite for an integral that is only carried along.
    pub absolute: [f64; N],
    /// Good enough as a share of the integral of the absolute value.
    pub relative: f64,
    /// The most evaluations of the function after the first of every piece.
    pub most: usize,
}

/// Integrals, and how far they may be off.
#[derive(Clone, Debug)]
pub(crate) struct Integral<const N: usize> {
    pub value: [f64; N],
    /// Estimated, with an allowance for rounding; large if the goal was not reached.
    pub error: [f64; N],
    /// The intervals it was cut into, from the left.
    pub panels: Vec<(f64, f64)>,
}

/// The integral of `f` over finite pieces, the worst of which is halved until the goal is reached.
///
/// A piece must not be so wide that all nodes miss what is in it: where that is must be known beforehand. Jumps and
/// kinks inside are found, ends may be singular. The error does not count what the rounding of x does to f(x).
pub(crate) fn integrate<const N: usize>(
    pieces: impl IntoIterator<Item = (f64, f64)>,
    goal: Goal<N>,
    mut f: impl FnMut(f64) -> [f64; N],
) -> Integral<N> {
    let mut done: Vec<Panel<N>> =
        pieces.into_iter().filter(|(low, high)| low < high).map(|(low, high)| panel(low, high, &mut f)).collect();
    let [mut error, mut size] = sums(&done);
    // An infinite size must not make an infinite error good enough.
    let share = |size: f64| if size.is_finite() { goal.relative * size } else { 0.0 };
    let enough = |size: &[f64; N], k: usize| goal.absolute[k].max(share(size[k]));
    let limits: [f64; N] = std::array::from_fn(|k| enough(&size, k).max(f64::MIN_POSITIVE));
    let rank = |mut panel: Panel<N>| {
        panel.urgency = (0..N).fold(0.0, |worst: f64, k| worst.max(panel.error[k] / limits[k]));
        panel
    };
    let mut heap: BinaryHeap<Panel<N>> = done.drain(..).map(rank).collect();
    let (mut left, mut summed) = (goal.most / (2 * NODES), error);
    while (0..N).any(|k| !(error[k] <= enough(&size, k))) {
        let Some(worst) = heap.pop() else { break };
        let middle = worst.low / 2.0 + worst.high / 2.0;
        // Neighbouring numbers have nothing between them, and rounding does not go away.
        let narrow = !(worst.low < middle && middle < worst.high);
        let rounding = (0..N).all(|k| worst.error[k] <= 32.0 * f64::EPSILON * worst.size[k].min(f64::MAX));
        if narrow || rounding {
            done.push(worst);
            continue;
        }
        if left == 0 {
            heap.push(worst);
            break;
        }
        left -= 1;
        let halves = [panel(worst.low, middle, &mut f), panel(middle, worst.high, &mut f)];
        for k in 0..N {
            error[k] += halves[0].error[k] + halves[1].error[k] - worst.error[k];
            size[k] += halves[0].size[k] + halves[1].size[k] - worst.size[k];
        }
        heap.extend(halves.map(rank));
        // A sum that has fallen by much is what rounding left of it, and an infinite one does not fall.
        if (0..N).any(|k| !(error[k].is_finite() && size[k].is_finite() && error[k] >= 1e-3 * summed[k])) {
            [error, size] = sums(heap.iter().chain(&done));
            summed = error;
        }
    }
    done.extend(heap);
    done.sort_by(|a, b| a.low.total_cmp(&b.low));
    let (mut value, mut error) = ([0.0; N], [0.0; N]);
    for panel in &done {
        for k in 0..N {
            value[k] += panel.value[k];
            // Less than what was asked for is not claimed: that the estimate fell below it may be chance.
            error[k] += panel.error[k] + (goal.relative + 2.0 * f64::EPSILON) * panel.size[k];
        }
    }
    let error = error.map(|error| if error.is_finite() { error } else { f64::INFINITY });
    Integral { value, error, panels: done.iter().map(|panel| (panel.low, panel.high)).collect() }
}

/// The sums of the errors and of the sizes.
fn sums<'a, const N: usize>(panels: impl IntoIterator<Item = &'a Panel<N>>) -> [[f64; N]; 2] {
    let (mut error, mut size) = ([0.0; N], [0.0; N]);
    for panel in panels {
        for k in 0..N {
            error[k] += panel.error[k];
            size[k] += panel.size[k];
        }
    }
    [error, size]
}

/// Increasing points without repetition, two that only rounding keeps apart being one, as pieces.
pub(crate) fn pieces(mut points: Vec<f64>) -> Vec<(f64, f64)> {
    points.retain(|point| point.is_finite());
    points.sort_by(f64::total_cmp);
    points.dedup_by(|b, a| *b - *a <= 4.0 * f64::EPSILON * (a.abs() + b.abs()));
    points.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{E, PI};

    const GOAL: Goal<1> = Goal { absolute: [0.0], relative: 1e-13, most: 100_000 };

    fn assert_honest(what: &str, found: &Integral<1>, expected: f64, digits: f64) {
        let miss = (found.value[0] - expected).abs();
        assert!(miss <= found.error[0], "{what}: {} ± {:e}, off by {miss:e}", found.value[0], found.error[0]);
        assert!(found.error[0] <= digits * expected.abs(), "{what}: error {:e}", found.error[0]);
    }

    #[test]
    fn the_rules_are_exact_for_polynomials() {
        for power in 0..32 {
            let found = panel(0.0, 1.0, &mut |x| [x.powi(power)]);
            assert!((found.value[0] * f64::from(power + 1) - 1.0).abs() < 4e-15, "x^{power}");
            // The coarser one has degree 19: it is right up to there and visibly wrong at 31.
            assert!(power > 19 || found.error[0] < 1e-12, "x^{power}: {:e}", found.error[0]);
        }
        assert!(panel(-1.0, 1.0, &mut |x| [(20.0 * x).cos()]).error[0] > 1e-9);
    }

    #[test]
    fn closed_forms_within_the_error() {
        assert_honest("exp", &integrate([(0.0, 1.0)], GOAL, |x| [x.exp()]), E - 1.0, 1e-12);
        assert_honest("circle", &integrate([(-1.0, 1.0)], GOAL, |x| [(1.0 - x * x).sqrt()]), PI / 2.0, 1e-12);
        assert_honest("root", &integrate([(0.0, 1.0)], GOAL, |x| [x.sqrt().recip()]), 2.0, 1e-12);
        assert_honest("log", &integrate([(0.0, 1.0)], GOAL, |x| [x.ln()]), -1.0, 1e-12);
        let heavy = integrate([(0.0, 1.0), (1.0, 1e4), (1e4, 1e10), (1e10, 1e16)], GOAL, |x| [1.0 / (1.0 + x * x)]);
        assert_honest("arctangent", &heavy, 1e16f64.atan(), 1e-12);
    }

    #[test]
    fn kinks_jumps_and_peaks_are_found() {
        let grid = (1..400).map(|k| (f64::from(k) * 0.618_033_988_75).fract());
        for at in grid.chain([0.1, 1.0 / 3.0, 0.5, 0.999, 0.999_999, 1e-7]) {
            let kink = integrate([(0.0, 1.0)], GOAL, |x| [(-(x - at).abs()).exp()]);
            assert_honest("kink", &kink, 2.0 - (-at).exp() - (at - 1.0).exp(), 1e-12);
            let jump = integrate([(0.0, 1.0)], GOAL, |x| [if x < at { 1.0 } else { 3.0 }]);
            assert_honest("jump", &jump, 3.0 - 2.0 * at, 1e-12);
            // A width of a hundredth is seen by some node; far narrower ones need an edge.
            let peak = |width: f64| move |x: f64| [width / (width * width + (x - at) * (x - at))];
            let area = |width: f64| ((1.0 - at) / width).atan() + (at / width).atan();
            assert_honest("peak", &integrate([(0.0, 1.0)], GOAL, peak(1e-2)), area(1e-2), 1e-12);
        }
        for width in [1e-3, 1e-6, 1e-9] {
            let peak = integrate(pieces(vec![-1.0, 0.0, 1.0]), GOAL, |x| [width / (width * width + x * x)]);
            assert_honest("narrow peak", &peak, 2.0 * (1.0 / width).atan(), 1e-12);
        }
    }

    #[test]
    fn what_is_infinite_does_not_settle() {
        let pole = integrate([(0.0, 1.0)], Goal { most: 2000, ..GOAL }, |x| [1.0 / x]);
        assert!(pole.error[0] > 1e-3);
        let wild = integrate([(0.0, 1.0)], Goal { most: 2000, ..GOAL }, |x| [(1.0 / x).sin() / x]);
        assert!(wild.error[0] > 1e-3);
        let broken = integrate([(0.0, 1.0)], Goal { most: 2000, ..GOAL }, |_| [f64::NAN]);
        assert!(broken.error[0].is_infinite());
    }

    #[test]
    fn one_bad_place_does_not_spoil_the_sum() {
        // The middle node of the first panel is infinite; halving moves the nodes.
        let found = integrate([(-1.0, 1.0)], GOAL, |x| [if x == 0.0 { f64::INFINITY } else { 1.0 }]);
        assert_honest("hole", &found, 2.0, 1e-12);
    }

    #[test]
    fn integrals_that_are_carried_along_are_not_waited_for() {
        let goal = Goal { absolute: [0.0, f64::INFINITY], relative: 1e-12, most: 10_000 };
        let found = integrate([(0.0, 1.0)], goal, |x| [x, 1.0 / x]);
        assert!((found.value[0] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn pieces_are_in_order() {
        let found = pieces(vec![2.0, f64::INFINITY, 1.0, 2.0f64.next_up(), -1.0, 1.0]);
        assert_eq!(found, [(-1.0, 1.0), (1.0, 2.0)]);
    }
}
