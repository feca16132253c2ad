//! Real reports: the information as an integral over the report.

use crate::Information;
use crate::density::{Law, Total};
use crate::integrate::{Goal, NODES, integrate, panel, pieces};
use ldp_core::model::{Cdf, Score};
use ldp_core::special::least;
use ldp_core::{Error, RealReports, Result, Tails};

/// Breaks of a mechanism up to which those of quantiles are edges too.
const FEW: usize = 8;
/// The most whole numbers whose breaks are edges.
const MOST_CORNERS: usize = 4096;
/// The most jumps of a mechanism within the values of a family.
const MOST_BREAKS: usize = 1000;
const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
/// The most panels of a tail.
const MOST_TAIL: usize = 200;
/// A probability that is not worth another panel.
const NEGLIGIBLE: f64 = 1e-17;
/// What the probabilities of all reports may be off from one.
const WHOLE: f64 = 1e-7;

/// The Fisher information in a real report, by quadrature over the value and over the report.
///
/// $$I_\theta = \int \frac{(\partial_\theta m(z))^2}{m(z)} dz + \sum_{\text{atoms}} \frac{(\partial_\theta m(z))^2}{m(z)},
/// \qquad m(z) = \int q(z \mid x) p_\theta(x) dx$$
///
/// with $\partial_\theta m$ as in [`of_finite`](crate::of_finite). The report is cut where $q(\cdot \mid x)$ has jumps and
/// kinks for the values that have an atom of probability after clipping (far out on either side), and where the family
/// has a kink; the value is cut at [`RealReports::input_breaks`], and where they are not known they are found, at a cost.
/// Tails that repeat themselves ([`RealReports::tails`]) are integrated over one period. The error counts that of the inner
/// integrals, and the reports must have probability one in all.
///
/// # Errors
/// [`Error::NotRegular`] if the mean score is not zero, [`Error::Integral`] if the score has no variance or an integral
/// does not settle.
///
/// ```
/// use ldp_core::{Epsilon, model::Gaussian};
/// use ldp_fisher::of_real;
/// use ldp_mechanisms::{Laplace, Range};
/// let laplace = Laplace::new(Epsilon::new(1.0)?, Range::new(-3.0, 3.0)?)?;
/// let information = of_real(&laplace, &Gaussian::new(1.0)?, 0.3)?;
/// assert!((information.value - 0.022974130952809).abs() < 1e-12);
/// assert!(information.error < 1e-10);
/// # Ok::<(), ldp_core::Error>(())
/// ```
pub fn of_real<Q, M>(mechanism: &Q, model: &M, theta: f64) -> Result<Information>
where
    Q: RealReports,
    M: Cdf + Score + ?Sized,
{
    let law = Law::new(model, theta, mechanism.epsilon(), &fixed(mechanism, theta))?;
    let mut scratch = Vec::new();
    let window = law.window();
    let most = mechanism.input_breaks(0.0, window).len();
    if most > MOST_BREAKS {
        return Err(Error::TooMany { name: "jumps of the mechanism", most: MOST_BREAKS as u64, value: most as u64 });
    }
    let mut moments =
        |z: f64| law.moments(|x| mechanism.ln_density(&z, &x), &mechanism.input_breaks(z, window), &mut scratch);
    let (mut total, mut mass) = (Total::default(), 0.0);
    let atoms = mechanism.atoms();
    for &z in &atoms {
        let found = moments(z);
        total.add(&found);
        mass += found.mass();
    }
    // Beyond the middle, one period stands for all that follow, each a little less: 1 + r + r² + … = 1/(1 − r).
    let tails = mechanism.tails();
    let repeated = |z: f64| match tails {
        Some(Tails { from, decay, .. }) if z.abs() > from => -(-decay).exp_m1().recip(),
        _ => 1.0,
    };
    let mut integrand = |z: f64| {
        let (found, times) = (moments(z), repeated(z));
        let [value, error] = found.term();
        [times * value, times * error, times * found.mass()]
    };
    let mut edges = edges(mechanism, &law)?;
    edges.extend(atoms);
    if let Some(Tails { from, period, .. }) = tails {
        let end = from + period;
        edges.retain(|z| z.abs() < end);
        edges.extend([-end, -from, from, end]);
    }
    // The width of a tail: a quarter of the reports about a value in the middle lies further out.
    let middle = law.quantiles[law.quantiles.len() / 2];
    let upper = least(|z| mechanism.report_cdf(z, middle) >= 0.75);
    let lower = least(|z| mechanism.report_cdf(z, middle) >= 0.25);
    edges.push(lower / 2.0 + upper / 2.0);
    let width = (upper - lower).max(f64::MIN_POSITIVE);
    let mut parts = pieces(edges);
    let ends = match (parts.first(), parts.last()) {
        (Some(first), Some(last)) => (first.0, last.1),
        _ => (lower, upper),
    };
    if tails.is_none() {
        tail(&mut parts, ends.0, -width, &mut integrand);
        tail(&mut parts, ends.1, width, &mut integrand);
    }
    let epsilon = mechanism.epsilon().value();
    let goal = Goal {
        absolute: [law.negligible(epsilon), f64::INFINITY, 1e-9],
        relative: 1e-10,
        most: 60_000 + 4 * NODES * parts.len(),
    };
    let found = integrate(parts, goal, integrand);
    mass += found.value[2];
    total.value += found.value[0];
    total.error += found.error[0] + found.value[1] + (mass - 1.0).abs() * total.value;
    if !((mass - 1.0).abs() <= WHOLE) {
        return Err(Error::Integral { what: "the law of the reports", value: mass, error: (mass - 1.0).abs() });
    }
    law.conclude(epsilon, total)
}

/// Input breaks that are the same for every report, such as the ends of a range.
fn fixed<Q: RealReports>(mechanism: &Q, theta: f64) -> Vec<f64> {
    let at = |share: f64| mechanism.input_breaks(least(|z| mechanism.report_cdf(z, theta) >= share), EVERYWHERE);
    let (mut some, others) = (at(0.3), at(0.6));
    some.retain(|x| others.contains(x));
    some
}

/// Reports at which m has a jump or a kink, and a few around which it may be steep.
fn edges<Q: RealReports, M: Cdf + Score + ?Sized>(mechanism: &Q, law: &Law<'_, M>) -> Result<Vec<f64>> {
    if law.corners.len() > MOST_CORNERS {
        return Err(Error::TooMany {
            name: "values with an atom of probability",
            most: MOST_CORNERS as u64,
            value: law.corners.len() as u64,
        });
    }
    let mut edges = mechanism.breaks(f64::NEG_INFINITY);
    edges.extend(mechanism.breaks(f64::INFINITY));
    edges.extend(law.corners.iter().flat_map(|x| mechanism.breaks(*x)));
    let around = law.quantiles.iter().map(|x| mechanism.breaks(*x)).filter(|breaks| breaks.len() <= FEW);
    edges.extend(around.flatten());
    Ok(edges)
}

/// Panels from `from` outwards, the first as wide as `width` and the others wider, to where no probability is left.
fn tail<const N: usize>(
    parts: &mut Vec<(f64, f64)>,
    from: f64,
    width: f64,
    integrand: &mut impl FnMut(f64) -> [f64; N],
) {
    let (mut begin, mut width) = (from, width);
    for _ in 0..MOST_TAIL {
        let end = begin + width;
        let part = (begin.min(end), begin.max(end));
        // Beyond the breaks the density decays at least exponentially, or is zero: what follows is less.
        let found = panel(part.0, part.1, integrand);
        if !(found.value[N - 1] > NEGLIGIBLE) {
            return;
        }
        parts.push(part);
        (begin, width) = (end, 1.5 * width);
    }
}
