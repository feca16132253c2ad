//! Mutants of mechanisms with real reports: their law, decoding, bias and variance.

use super::{epsilon, rejected};
use ldp_core::conformance::{check_draws, check_real_sampler, check_unbiased, check_unbiased_finite};
use ldp_core::error::require;
use ldp_core::{Cdf, Density, Epsilon, Error, Finite, Mechanism, RealReports, Result, Tally, Unbiased};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The range of the values, which is [−1, 1] in the unit of reports.
const RANGE: (f64, f64) = (3.0, 7.0);

/// Laplace noise on clipped values, with reports cut at ±`limit`, where they have atoms; right or wrong in one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Raw", try_from = "Raw")]
pub(super) struct Noisy {
    scale: f64,
    limit: f64,
    defect: Defect,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Defect {
    None,
    /// Noise 5 % too large.
    SamplerScale,
    /// Does not cut its reports.
    SamplerUncut,
    /// A NaN now and then.
    SamplerNan,
    /// One noise for all users of a slice.
    BulkSharesNoise,
    /// The right law in every slice, hardly any scatter; and so many idle breaks that no cell between two of them has
    /// its share of a slice.
    BulkTooRegular,
    /// The cdf of noise 5 % larger.
    CdfScale,
    /// A cdf that falls for a while.
    CdfDips,
    /// A cdf that ends below one.
    CdfEndsLow,
    /// A cdf that begins above zero.
    CdfStartsHigh,
    /// A density of twice the mass.
    DensityTwice,
    /// Does not tell of its atoms.
    AtomsMissing,
    /// Tells of an atom at zero.
    AtomInvented,
    /// Half of the probability of its atoms.
    AtomsHalved,
    /// All of the law shifted by 0.01.
    Shifted,
    /// Values outside the range are not clipped.
    Unclipped,
    /// Decodes 0.01 too high.
    DecodeHigh,
    /// Decodes with a millionth of a square.
    DecodeBends,
    /// Variance in the unit of reports.
    VarianceUnit,
    /// Variance a millionth too large.
    VarianceLarge,
    /// Crosses the wire with its scale in single precision.
    WireSingle,
    /// Crosses the wire with half its scale.
    WireHalves,
}

/// How a [`Noisy`] crosses the wire.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    scale: f64,
    #[serde(with = "ldp_core::json::extended")]
    limit: f64,
    defect: Defect,
}

impl From<Noisy> for Raw {
    fn from(Noisy { scale, limit, defect }: Noisy) -> Self {
        let scale = match defect {
            Defect::WireSingle => f64::from(scale as f32),
            Defect::WireHalves => scale / 2.0,
            _ => scale,
        };
        Self { scale, limit, defect }
    }
}

impl TryFrom<Raw> for Noisy {
    type Error = Error;
    fn try_from(Raw { scale, limit, defect }: Raw) -> Result<Self> {
        require(scale > 0.0, "scale", "positive", scale)?;
        Ok(Self { scale, limit, defect })
    }
}

impl Noisy {
    pub(super) fn new(scale: f64, defect: Defect) -> Self {
        Self { scale, limit: f64::INFINITY, defect }
    }

    fn cut(scale: f64, limit: f64, defect: Defect) -> Self {
        Self { scale, limit, defect }
    }

    fn centre(&self, input: f64) -> f64 {
        let (low, high) = RANGE;
        let unit = (input - f64::midpoint(low, high)) / (0.5 * (high - low));
        match self.defect {
            Defect::Unclipped => unit,
            Defect::Shifted => unit.clamp(-1.0, 1.0) + 0.01,
            _ => unit.clamp(-1.0, 1.0),
        }
    }

    fn noise<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let (size, sign): (f64, bool) = (rng.random(), rng.random());
        let scale = if self.defect == Defect::SamplerScale { 1.05 * self.scale } else { self.scale };
        let noise = -scale * (-size).ln_1p();
        if self.defect == Defect::SamplerNan && size < 0.001 {
            return f64::NAN;
        }
        if sign { noise } else { -noise }
    }

    fn report(&self, input: f64, noise: f64) -> f64 {
        let report = self.centre(input) + noise;
        if self.defect == Defect::SamplerUncut { report } else { report.clamp(-self.limit, self.limit) }
    }
}

impl Mechanism for Noisy {
    type Input = f64;
    type Report = f64;

    fn epsilon(&self) -> Epsilon {
        epsilon(2.0 / self.scale)
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> f64 {
        self.report(*input, self.noise(rng))
    }

    fn simulate_all<R, T>(&self, inputs: &[f64], rng: &mut R, tally: &mut T) -> Result<()>
    where
        R: Rng + ?Sized,
        T: Tally<Report = f64>,
    {
        let (shared, start) = (self.noise(rng), rng.random::<f64>());
        inputs.iter().enumerate().try_for_each(|(place, input)| {
            let noise = match self.defect {
                Defect::BulkSharesNoise => shared,
                // A systematic sample: one random start, then equal steps.
                Defect::BulkTooRegular => {
                    let u = (start + place as f64 / inputs.len() as f64).fract() - 0.5;
                    -self.scale * u.signum() * (-2.0 * u.abs()).ln_1p()
                }
                _ => self.noise(rng),
            };
            tally.push(self.report(*input, noise), 1)
        })
    }
}

impl Density for Noisy {
    fn ln_density(&self, report: &f64, input: &f64) -> f64 {
        let away = (report - self.centre(*input)).abs() / self.scale;
        match self.defect {
            _ if report.abs() > self.limit => f64::NEG_INFINITY,
            Defect::AtomsHalved if report.abs() == self.limit => -away - 4f64.ln(),
            _ if report.abs() == self.limit => -away - 2f64.ln(),
            Defect::DensityTwice => -away - self.scale.ln(),
            _ => -away - (2.0 * self.scale).ln(),
        }
    }
}

impl RealReports for Noisy {
    fn report_cdf(&self, report: f64, input: f64) -> f64 {
        let scale = if self.defect == Defect::CdfScale { 1.05 * self.scale } else { self.scale };
        let away = (report - self.centre(input)) / scale;
        let cdf = match report {
            _ if report < -self.limit => 0.0,
            _ if report >= self.limit => 1.0,
            _ if away < 0.0 => 0.5 * away.exp(),
            _ => 1.0 - 0.5 * (-away).exp(),
        };
        match self.defect {
            Defect::CdfDips if (0.0..0.5).contains(&away) => cdf - 0.1,
            Defect::CdfEndsLow => cdf * (1.0 - 1e-9),
            Defect::CdfStartsHigh => cdf.max(1e-9),
            _ => cdf,
        }
    }

    fn breaks(&self, input: f64) -> Vec<f64> {
        let mut breaks = vec![-self.limit, self.centre(input), self.limit];
        if self.defect == Defect::BulkTooRegular {
            breaks.extend((-1000..1000).map(|k| 0.03 * f64::from(k)));
        }
        breaks.retain(|report| report.is_finite());
        breaks.sort_by(f64::total_cmp);
        breaks
    }

    fn atoms(&self) -> Vec<f64> {
        match self.defect {
            Defect::AtomsMissing => Vec::new(),
            Defect::AtomInvented => vec![0.0],
            _ if self.limit.is_finite() => vec![-self.limit, self.limit],
            _ => Vec::new(),
        }
    }
}

impl Unbiased for Noisy {
    fn range(&self) -> (f64, f64) {
        RANGE
    }

    fn decode(&self, mean_report: f64) -> f64 {
        let (low, high) = RANGE;
        let decoded = f64::midpoint(low, high) + 0.5 * (high - low) * mean_report;
        match self.defect {
            Defect::DecodeHigh => decoded + 0.01,
            Defect::DecodeBends => decoded + 1e-6 * mean_report * mean_report,
            _ => decoded,
        }
    }

    fn variance(&self, _input: f64) -> f64 {
        let (low, high) = RANGE;
        let variance = 2.0 * self.scale * self.scale;
        let unit = 0.25 * (high - low).powi(2);
        match self.defect {
            Defect::VarianceUnit => variance,
            Defect::VarianceLarge => unit * variance * (1.0 + 1e-6),
            _ => unit * variance,
        }
    }
}

/// One bit that is 1 with probability (1 + t x)/2 at x in [−1, 1]; right or wrong in one way.
struct Bit {
    slope: f64,
    defect: Defect,
}

impl Mechanism for Bit {
    type Input = f64;
    type Report = u32;

    fn epsilon(&self) -> Epsilon {
        epsilon(2.0 * self.slope.atanh())
    }

    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        u32::from(rng.random::<f64>() < self.ln_density(&1, input).exp())
    }
}

impl Density for Bit {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        let x = if self.defect == Defect::Unclipped { 0.5 * input } else { input.clamp(-1.0, 1.0) };
        let one = 0.5 * (1.0 + self.slope * x);
        if *report == 1 { one.ln() } else { (-one).ln_1p() }
    }
}

impl Finite for Bit {
    fn reports(&self) -> u32 {
        2
    }

    fn marginal<M: Cdf + ?Sized>(&self, _: &M, _: f64, _: &mut [f64]) {
        unreachable!("no law under a model is asked for here")
    }
}

impl Unbiased for Bit {
    fn range(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn decode(&self, mean_report: f64) -> f64 {
        let decoded = (2.0 * mean_report - 1.0) / self.slope;
        match self.defect {
            Defect::DecodeHigh => decoded + 0.01,
            // Both reports are decoded rightly, their mean is not.
            Defect::DecodeBends => decoded + 1e-6 * mean_report * (1.0 - mean_report),
            _ => decoded,
        }
    }

    fn variance(&self, input: f64) -> f64 {
        let variance = self.slope.powi(-2) - input.clamp(-1.0, 1.0).powi(2);
        if self.defect == Defect::VarianceLarge { variance * (1.0 + 1e-6) } else { variance }
    }
}

#[test]
fn good_real_mechanisms_pass() {
    let inputs = [4.0, 5.5, 100.0];
    for (seed, scale) in (0..).zip([0.05, 2.0, 2000.0]) {
        let noisy = Noisy::new(scale, Defect::None);
        check_real_sampler(&noisy, &inputs, seed).unwrap();
        check_unbiased(&noisy, &inputs).unwrap();
        check_draws(&noisy, &inputs).unwrap();
        // An atom of nearly nothing, atoms of a fifth each, and nearly nothing else.
        for limit in [1.2, 2.0, 4000.0] {
            check_real_sampler(&Noisy::cut(scale, limit, Defect::None), &inputs, seed).unwrap();
        }
    }
    for slope in [1e-3, 0.4, 0.999] {
        check_unbiased_finite(&Bit { slope, defect: Defect::None }, &[-0.3, 0.7, 1e9]).unwrap();
    }
}

#[test]
fn law_mutants_are_rejected() {
    let check = |defect| check_real_sampler(&Noisy::new(2.0, defect), &[4.0], 31);
    for defect in [Defect::CdfDips, Defect::CdfEndsLow, Defect::CdfStartsHigh] {
        rejected(check(defect), "report cdf is a cdf");
        rejected(check_unbiased(&Noisy::new(2.0, defect), &[]), "report cdf is a cdf");
    }
    for defect in [Defect::CdfScale, Defect::DensityTwice, Defect::AtomInvented] {
        rejected(check(defect), "cdf is that of density");
    }
    rejected(check(Defect::SamplerScale), "sampler follows density");
    rejected(check(Defect::SamplerNan), "sampler follows density");
    rejected(check(Defect::BulkSharesNoise), "bulk follows density");
    rejected(check(Defect::BulkTooRegular), "bulk follows density");

    let check = |defect| check_real_sampler(&Noisy::cut(2.0, 3.0, defect), &[4.0], 31);
    check(Defect::None).unwrap();
    for defect in [Defect::AtomsMissing, Defect::AtomsHalved] {
        rejected(check(defect), "cdf is that of density");
    }
    rejected(check(Defect::SamplerUncut), "sampler follows density");
}

#[test]
fn bias_mutants_are_rejected() {
    let check = |defect| check_unbiased(&Noisy::new(2.0, defect), &[4.0]);
    rejected(check(Defect::DecodeBends), "decode is affine");
    for defect in [Defect::DecodeHigh, Defect::Shifted, Defect::Unclipped] {
        rejected(check(defect), "decode is unbiased");
    }
    for defect in [Defect::VarianceUnit, Defect::VarianceLarge] {
        rejected(check(defect), "variance is stated");
    }
    // What is cut has another mean, unless it lies in the middle.
    rejected(check_unbiased(&Noisy::cut(2.0, 3.0, Defect::None), &[]), "variance is stated");

    let check = |defect| check_unbiased_finite(&Bit { slope: 0.4, defect }, &[0.3]);
    rejected(check(Defect::DecodeBends), "decode is affine");
    rejected(check(Defect::DecodeHigh), "decode is unbiased");
    rejected(check(Defect::Unclipped), "decode is unbiased");
    rejected(check(Defect::VarianceLarge), "variance is stated");
}
