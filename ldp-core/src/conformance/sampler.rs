//! Samplers against the law they state.

use super::quadrature::{Cells, Law};
use super::{ALPHA, Violation, chi_square, ensure, expect, generator, goodness_of_fit, upper_tail};
use crate::mechanism::{Density, Finite, Mechanism, RealReports};
use crate::tally::{Counts, Tally};

const BULK: &str = "bulk follows density";

/// How many reports are drawn: a flip probability off by 10 % at ε = 1 is 19 standard deviations away, and of m
/// reports one that is never drawn adds 500 to a statistic with standard deviation √(2m).
fn samples(reports: u32) -> u64 {
    100_000 + 500 * u64::from(reports)
}

/// Lengths of the slices given to `simulate_all`: around multiples of 64, where packed samplers have their edges.
const LENGTHS: [usize; 8] = [1, 2, 63, 64, 65, 127, 128, 1000];
/// Slices of one length that must scatter like independent users.
const SLICES: usize = 400;
const SLICE: usize = 256;

/// `privatize` and `simulate_all` follow exp(`ln_density`) at every given input, and the density adds to one.
///
/// n = 100,000 + 500 m reports per input, chi-square at [`ALPHA`]. In bulk the counts of 400 slices must moreover
/// scatter as counts of independent users do, neither more (users sharing noise) nor less.
pub fn check_sampler<Q>(mechanism: &Q, inputs: &[Q::Input], seed: u64) -> Result<(), Violation>
where
    Q: Density + Finite,
    Q::Input: Clone,
{
    let reports = mechanism.reports();
    for (place, input) in (0u64..).zip(inputs) {
        let law: Vec<f64> = (0..reports).map(|z| mechanism.ln_density(&z, input).exp()).collect();
        let sum: f64 = law.iter().sum();
        ensure((sum - 1.0).abs() <= 1e-12, "density adds to one", || format!("{sum} at input number {place}"))?;
        let empty = || Counts::new(reports);
        Sampler { mechanism, input, place, seed, samples: samples(reports) }.check(&law, empty, Counts::counts)?;
    }
    Ok(())
}

/// How many reports [`check_real_sampler`] draws: a scale off by 5 % adds about 450 to a statistic with mean 32.
const REAL_SAMPLES: u64 = 200_000;

/// The law of real reports is one law: `report_cdf`, `ln_density`, `atoms` and both samplers agree at every input.
///
/// - `report_cdf` rises from 0 to 1.
/// - Between any two of its 32-quantiles, breaks and atoms, exp(`ln_density`) integrates to the difference of
///   `report_cdf`, to 1e-9; a jump of the latter is an atom.
/// - `privatize` and `simulate_all` follow `report_cdf` in these cells (of many breaks, in those of sixteen), an atom
///   in a cell of its own: 200,000 reports, and the scatter of slices, as in [`check_sampler`].
///
/// ```
/// use ldp_core::conformance::{check_real_sampler, check_unbiased};
/// use ldp_core::{Density, Epsilon, Mechanism, RealReports, Unbiased};
/// use rand::{Rng, RngExt};
///
/// /// Laplace noise on values clipped to [−1, 1]. The reports have scale 2/ε.
/// struct Noisy(f64);
///
/// impl Mechanism for Noisy {
///     type Input = f64;
///     type Report = f64;
///     fn epsilon(&self) -> Epsilon {
///         Epsilon::new(2.0 / self.0).unwrap()
///     }
///     fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
///         let (size, sign): (f64, bool) = (rng.random(), rng.random());
///         let noise = -self.0 * (-size).ln_1p();
///         input.clamp(-1.0, 1.0) + if sign { noise } else { -noise }
///     }
/// }
///
/// impl Density for Noisy {
///     fn ln_density(&self, report: &f64, input: &f64) -> f64 {
///         -(report - input.clamp(-1.0, 1.0)).abs() / self.0 - (2.0 * self.0).ln()
///     }
/// }
///
/// impl RealReports for Noisy {
///     fn report_cdf(&self, report: f64, input: f64) -> f64 {
///         let z = (report - input.clamp(-1.0, 1.0)) / self.0;
///         if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() }
///     }
///     fn breaks(&self, input: f64) -> Vec<f64> {
///         vec![input.clamp(-1.0, 1.0)]
///     }
/// }
///
/// impl Unbiased for Noisy {
///     fn range(&self) -> (f64, f64) {
///         (-1.0, 1.0)
///     }
///     fn decode(&self, mean_report: f64) -> f64 {
///         mean_report
///     }
///     fn variance(&self, _input: f64) -> f64 {
///         2.0 * self.0 * self.0
///     }
/// }
///
/// check_real_sampler(&Noisy(2.0), &[-1.0, 0.3], 7).unwrap();
/// check_unbiased(&Noisy(2.0), &[0.3]).unwrap();
/// ```
pub fn check_real_sampler<Q: RealReports>(mechanism: &Q, inputs: &[f64], seed: u64) -> Result<(), Violation> {
    for (place, input) in (0u64..).zip(inputs) {
        let law = Law::new(mechanism, *input, "report cdf is a cdf")?;
        // The first of the probabilities lies below all edges.
        let stated = &law.probabilities()[1..];
        for ((pair, stated), found) in law.edges.windows(2).zip(stated).zip(law.integrals(|_| 1.0)) {
            ensure((found - stated).abs() <= 1e-9, "cdf is that of density", || {
                let [from, to] = [pair[0], pair[1]];
                format!("input {input}: from {from} to {to} the density has {found}, report_cdf {stated}")
            })?;
        }
        let sampler = Sampler { mechanism, input, place, seed, samples: REAL_SAMPLES };
        let cells = law.coarse();
        sampler.check(&cells.probabilities(), || cells.cells(), Cells::counts)?;
    }
    Ok(())
}

/// A sampler at one input, and how much is drawn from it.
struct Sampler<'a, Q: Mechanism> {
    mechanism: &'a Q,
    input: &'a Q::Input,
    place: u64,
    seed: u64,
    samples: u64,
}

impl<Q: Mechanism<Input: Clone>> Sampler<'_, Q> {
    /// One by one and in bulk, the counts of an `empty` tally filled with reports have this law.
    fn check<T>(&self, law: &[f64], empty: impl Fn() -> T, counts: impl Fn(&T) -> &[u64]) -> Result<(), Violation>
    where
        T: Tally<Report = Q::Report>,
    {
        let Self { mechanism, input, place, seed, samples } = *self;
        let judge = |law_name, counts: &[u64]| {
            let p = goodness_of_fit(counts, law);
            ensure(p >= ALPHA, law_name, || format!("p = {p:e} at input number {place}: {}", worst(counts, law)))
        };

        let mut rng = generator(seed, place, 0);
        let mut tally = empty();
        for _ in 0..samples {
            expect(tally.push(mechanism.privatize(input, &mut rng), 1), "sampler follows density")?;
        }
        judge("sampler follows density", counts(&tally))?;

        let mut rng = generator(seed, place, 1);
        let mut tally = empty();
        let same = vec![input.clone(); 1000];
        for length in LENGTHS.iter().cycle() {
            if tally.users() >= samples {
                break;
            }
            let before = tally.users();
            expect(mechanism.simulate_all(&same[..*length], &mut rng, &mut tally), BULK)?;
            let counted = tally.users() - before;
            ensure(counted == *length as u64, BULK, || format!("{length} inputs, {counted} reports"))?;
        }
        judge(BULK, counts(&tally))?;

        let mut rng = generator(seed, place, 2);
        let (mut statistic, mut degrees) = (0.0, 0);
        for _ in 0..SLICES {
            let mut tally = empty();
            expect(mechanism.simulate_all(&same[..SLICE], &mut rng, &mut tally), BULK)?;
            let (more, freedom, _) = chi_square(counts(&tally), law);
            (statistic, degrees) = (statistic + more, degrees + freedom);
        }
        let p = upper_tail(statistic, degrees);
        let (low, high) = if degrees == 0 { (0.0, 1.0) } else { (ALPHA / 2.0, 1.0 - ALPHA / 2.0) };
        ensure((low..=high).contains(&p), BULK, || {
            format!("slices scatter with chi-square {statistic:.1} on {degrees} degrees of freedom, upper tail {p:e}")
        })
    }
}

/// The report that is furthest from its law, in words.
fn worst(counts: &[u64], law: &[f64]) -> String {
    let users = counts.iter().sum::<u64>() as f64;
    let away = |&z: &usize| (counts[z] as f64 - users * law[z]).abs() / (users * law[z]).max(1.0).sqrt();
    match (0..counts.len()).max_by(|a, b| away(a).total_cmp(&away(b))) {
        Some(z) => format!("report {z} came {} times, expected {:.1}", counts[z], users * law[z]),
        None => "no reports".to_owned(),
    }
}
