//! The weights of a finite channel: which report, given the cell.

use crate::epsilon::{Epsilon, exp_floor};
use crate::error::{Error, Result};
use crate::steady::{choose, divide, mask};
use serde::{Deserialize, Serialize};

/// 2⁶⁴, the sum of the weights of a cell, as a number.
#[must_use]
pub const fn two_64() -> f64 {
    18_446_744_073_709_551_616.0
}

/// How a report is drawn from the cell of a value: for every cell, positive integer weights that add to 2⁶⁴.
///
/// Integer weights make the channel exact: what is sampled is what ε is computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kernel {
    /// m-ary randomised response: the cell itself, or each other report with weight `lie`.
    Response {
        /// The number of reports, and of cells.
        reports: u32,
        /// The weight of every false report.
        #[serde(with = "crate::json::weight")]
        lie: u64,
    },
    /// Any weights.
    Dense(Dense),
}

/// A full table of weights, a column per cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawDense")]
pub struct Dense {
    #[serde(with = "crate::json::weights")]
    columns: Vec<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDense {
    #[serde(with = "crate::json::weights")]
    columns: Vec<Vec<u64>>,
}

impl TryFrom<RawDense> for Dense {
    type Error = Error;
    fn try_from(raw: RawDense) -> Result<Self> {
        Self::new(raw.columns)
    }
}

impl Dense {
    /// `columns[cell][report]`: positive weights, every column adding up to 2⁶⁴, not all columns equal.
    pub fn new(columns: Vec<Vec<u64>>) -> Result<Self> {
        let reports = columns.first().map_or(0, Vec::len);
        least("cells of a kernel", 2, columns.len())?;
        least("reports of a kernel", 2, reports)?;
        for (cell, column) in columns.iter().enumerate() {
            if column.len() != reports {
                return Err(Error::Length { what: "weights of a cell", expected: reports, found: column.len() });
            }
            let sum: u128 = column.iter().map(|&w| u128::from(w)).sum();
            if let Some(report) = column.iter().position(|&weight| weight == 0) {
                return Err(Error::ZeroWeight { cell, report });
            }
            if sum != 1 << 64 {
                return Err(Error::Weights { cell, sum });
            }
        }
        if columns.iter().all(|column| column == &columns[0]) {
            return Err(Error::Uninformative);
        }
        Ok(Self { columns })
    }

    /// The first report up to which the weights of a cell add to more than the word. All columns are gone through, so that
    /// no address tells the cell: this takes as long as there are weights.
    #[inline]
    fn report(&self, cell: u32, word: u64) -> u32 {
        let mut report = 0u64;
        for (column, number) in self.columns.iter().zip(0u32..) {
            let (mut sum, mut said) = (0u64, 0);
            for weight in &column[..column.len() - 1] {
                sum += weight;
                said += u64::from(word >= sum);
            }
            report |= said & mask(number == cell);
        }
        report as u32
    }

    /// The largest ratio of two weights of the same report, as (large, small).
    fn extreme_ratio(&self) -> (u64, u64) {
        let mut extreme = (1u64, 1u64);
        for report in 0..self.columns[0].len() {
            let weights = || self.columns.iter().map(|column| column[report]);
            let (Some(large), Some(small)) = (weights().max(), weights().min()) else {
                continue;
            };
            if u128::from(large) * u128::from(extreme.1) > u128::from(extreme.0) * u128::from(small) {
                extreme = (large, small);
            }
        }
        extreme
    }
}

fn least(name: &'static str, least: u64, value: usize) -> Result<()> {
    if value as u64 >= least { Ok(()) } else { Err(Error::TooFew { name, least, value: value as u64 }) }
}

impl Kernel {
    /// m-ary randomised response at level ε: truth with probability $e^\varepsilon/(e^\varepsilon+m-1)$.
    ///
    /// The weight of a lie is ⌈2⁶⁴/(E + m − 1)⌉ with E a rational lower bound of e^ε, so the realised level never
    /// exceeds ε. What rounding loses is at most one unit of each lie, in all about m/truth + 1/lie: below 10⁻¹⁰ for ε
    /// from 10⁻³ to 20 and m ≤ 1000.
    pub fn response(epsilon: Epsilon, reports: u32) -> Result<Self> {
        if reports < 2 {
            return Err(Error::TooFew { name: "reports", least: 2, value: u64::from(reports) });
        }
        // lie · (E + m − 1) ≥ 2^64 is the same as truth ≤ E · lie. Both sides in units of 2^-63.
        let denominator = exp_floor(epsilon.value()) + (u128::from(reports - 1) << 63);
        let lie = (1u128 << 127).div_ceil(denominator) as u64;
        let kernel = Self::Response { reports, lie };
        match kernel.check() {
            Ok(()) => Ok(kernel),
            Err(_) => Err(Error::EpsilonTooSmall { value: epsilon.value(), reports }),
        }
    }

    /// Checks the numbers of a kernel built by hand.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            &Self::Response { reports, lie } => {
                least("reports of a kernel", 2, reports as usize)?;
                if lie == 0 {
                    return Err(Error::TooFew { name: "the weight of a lie", least: 1, value: 0 });
                }
                // The truth must be likelier than a lie: m · lie < 2^64.
                let most = ((1u128 << 64) - 1) / u128::from(reports);
                if u128::from(lie) > most {
                    return Err(Error::TooMany { name: "the weight of a lie", most: most as u64, value: lie });
                }
                Ok(())
            }
            Self::Dense(_) => Ok(()),
        }
    }

    /// The number of reports.
    pub(super) fn reports(&self) -> u32 {
        match self {
            Self::Response { reports, .. } => *reports,
            Self::Dense(dense) => dense.columns[0].len() as u32,
        }
    }

    /// The number of cells.
    pub(super) fn cells(&self) -> u32 {
        match self {
            Self::Response { reports, .. } => *reports,
            Self::Dense(dense) => dense.columns.len() as u32,
        }
    }

    /// The weight of `report` in `cell`, in units of 2⁻⁶⁴: zero where there is no such cell or report.
    pub(super) fn weight(&self, cell: u32, report: u32) -> u64 {
        if report >= self.reports() || cell >= self.cells() {
            return 0;
        }
        match self {
            &Self::Response { reports, lie } if cell == report => truth(reports, lie),
            Self::Response { lie, .. } => *lie,
            Self::Dense(dense) => dense.columns[cell as usize][report as usize],
        }
    }

    /// The privacy level of these weights.
    pub(super) fn epsilon(&self) -> Epsilon {
        let (large, small) = match self {
            &Self::Response { reports, lie } => (truth(reports, lie), lie),
            Self::Dense(dense) => dense.extreme_ratio(),
        };
        Epsilon::of_ratio(large, small).expect("a checked kernel has a ratio above one")
    }

    /// The report that a uniform random word selects, in the same time for every cell and word: what tells a lie from the truth,
    /// or where the value lies, is not the report alone otherwise.
    #[inline]
    pub(super) fn report(&self, cell: u32, word: u64) -> u32 {
        match self {
            &Self::Response { reports: 2, lie } => cell ^ u32::from(word < lie),
            &Self::Response { reports, lie } => {
                // The first (m − 1) · lie words are the lies, `lie` of them for each other report in order.
                let others = u64::from(reports - 1);
                let (other, cell) = (divide(word, lie).0, u64::from(cell));
                choose(other < others, other.wrapping_add(u64::from(other >= cell)), cell) as u32
            }
            Self::Dense(dense) => dense.report(cell, word),
        }
    }

    /// Report probabilities from cell masses; for a response, `out` holds the masses already.
    pub(super) fn mix(&self, masses: &[f64], out: &mut [f64]) {
        match self {
            &Self::Response { reports, lie } => {
                // The contrast truth − lie from integers: at ε = 1e-6 a difference of probabilities has lost six digits.
                let contrast = (truth(reports, lie) - lie) as f64 / two_64();
                let floor = lie as f64 / two_64();
                for p in out {
                    *p = floor + contrast * *p;
                }
            }
            Self::Dense(dense) => {
                out.fill(0.0);
                for (column, mass) in dense.columns.iter().zip(masses) {
                    for (p, &weight) in out.iter_mut().zip(column) {
                        *p += weight as f64 / two_64() * mass;
                    }
                }
            }
        }
    }
}

/// 2⁶⁴ − (m − 1) · lie, the weight of the truth.
#[inline]
fn truth(reports: u32, lie: u64) -> u64 {
    (u64::from(reports - 1) * lie).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epsilon::tests::exp_rational_floor;
    use num_bigint::BigUint;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{Rng, RngExt};

    #[test]
    fn realised_epsilon_never_exceeds_the_claim_proved_in_integers() {
        let claims =
            [1e-6, 1e-5, 1e-3, 0.01, 0.1, 0.2, 0.5, 0.7, 1.0, 1.1, 2.0, 3.3, 4.0, 8.0, 12.0, 16.0, 20.0, 25.0, 30.0];
        for reports in [2, 3, 4, 16, 1000] {
            for claim in claims {
                let kernel = Kernel::response(Epsilon::new(claim).unwrap(), reports).unwrap();
                let (truth, lie) = (kernel.weight(0, 0), kernel.weight(0, 1));
                assert_eq!(u128::from(truth) + u128::from(lie) * u128::from(reports - 1), 1 << 64);
                // truth / lie ≤ a rational lower bound of e^claim, cleared of denominators.
                let bound = exp_rational_floor(claim);
                assert!(BigUint::from(truth) << 200 <= &bound * lie, "m = {reports}, ε = {claim}");
                // And not by slack: two units less of lie would break it.
                let mutant = BigUint::from(u128::from(truth) + 2 * u128::from(reports - 1)) << 200;
                assert!(
                    mutant > (&bound + 1u8) * (lie - 2),
                    "m = {reports}, ε = {claim}: the weight of a lie has slack"
                );
                let realised = kernel.epsilon().value();
                assert!(realised <= claim);
                if (1e-3..=20.0).contains(&claim) {
                    assert!(claim - realised < 1e-10, "m = {reports}, ε = {claim}: lost {}", claim - realised);
                }
            }
        }
    }

    #[test]
    fn words_select_every_report_by_its_weight() {
        let kernel = Kernel::Response { reports: 3, lie: 1 << 60 };
        let all = |word| [kernel.report(0, word), kernel.report(1, word), kernel.report(2, word)];
        assert_eq!(all(0), [1, 0, 0]);
        assert_eq!(all((1 << 60) - 1), [1, 0, 0]);
        assert_eq!(all(1 << 60), [2, 2, 1]);
        assert_eq!(all((2 << 60) - 1), [2, 2, 1]);
        assert_eq!(all(2 << 60), [0, 1, 2]);
        assert_eq!(all(u64::MAX), [0, 1, 2]);
        let dense = Kernel::Dense(Dense::new(vec![vec![1, u64::MAX], vec![1 << 63, 1 << 63]]).unwrap());
        assert_eq!([dense.report(0, 0), dense.report(0, 1), dense.report(1, 1)], [0, 1, 0]);
        assert_eq!([dense.report(1, (1 << 63) - 1), dense.report(1, 1 << 63)], [0, 1]);
    }

    /// What a report was before: by branches and a division.
    fn by_branches(kernel: &Kernel, cell: u32, word: u64) -> u32 {
        match kernel {
            &Kernel::Response { reports, lie } if word < u64::from(reports - 1) * lie => {
                let other = (word / lie) as u32;
                other + u32::from(other >= cell)
            }
            Kernel::Response { .. } => cell,
            Kernel::Dense(dense) => {
                let mut left = word;
                let column = &dense.columns[cell as usize];
                let found = column.iter().position(|&weight| {
                    let is_here = left < weight;
                    left = left.wrapping_sub(weight);
                    is_here
                });
                found.unwrap() as u32
            }
        }
    }

    #[test]
    fn the_same_words_give_the_same_reports_as_with_branches() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(18);
        for _ in 0..3000 {
            let reports = (rng.next_u64() >> rng.random_range(32..63)) as u32 % 70_000 + 2;
            let level = Epsilon::new(10f64.powf(rng.random_range(-3.0..2.0))).unwrap();
            let response = Kernel::response(level, reports).unwrap();
            let mut cuts: Vec<u64> = (0..rng.random_range(1..9)).map(|_| rng.next_u64() | 1).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let ends = cuts.iter().map(|&cut| u128::from(cut)).chain([1 << 64]);
            let starts = [0].into_iter().chain(cuts.iter().map(|&cut| u128::from(cut)));
            let column: Vec<u64> = ends.zip(starts).map(|(end, start)| (end - start) as u64).collect();
            let columns = [column.clone(), column.iter().rev().copied().collect(), column].to_vec();
            let dense = Dense::new(columns).map(Kernel::Dense);
            for kernel in [Some(response), dense.ok()].into_iter().flatten() {
                let cells = kernel.cells();
                let (truth, lie) = (kernel.weight(0, 0), kernel.weight(0, 1));
                let edges = [0, lie, lie.wrapping_mul(2), truth.wrapping_neg(), truth, rng.next_u64()];
                for edge in edges {
                    for word in [edge, edge.wrapping_sub(1), edge.wrapping_add(1)] {
                        for cell in [0, 1, cells - 1, (rng.next_u64() % u64::from(cells)) as u32] {
                            assert_eq!(kernel.report(cell, word), by_branches(&kernel, cell, word), "{cell} {word}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn there_is_no_weight_where_there_is_no_cell() {
        let response = Kernel::response(Epsilon::new(1.0).unwrap(), 2).unwrap();
        let dense = Kernel::Dense(Dense::new(vec![vec![1, u64::MAX], vec![1 << 63, 1 << 63]]).unwrap());
        for kernel in [response, dense] {
            for (cell, report) in [(7, 0), (2, 0), (u32::MAX, 1), (0, 2), (2, 2)] {
                assert_eq!(kernel.weight(cell, report), 0);
            }
            assert!(kernel.weight(1, 1) > 0);
        }
    }

    #[test]
    fn dense_epsilon_is_the_largest_ratio() {
        let (q, h) = (1u64 << 62, 1u64 << 63);
        let dense = Kernel::Dense(Dense::new(vec![vec![q, h, q], vec![h, q, q]]).unwrap());
        assert_eq!(dense.epsilon(), Epsilon::of_ratio(2, 1).unwrap());
        assert!((dense.epsilon().value() - 2f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn hopeless_levels_are_refused() {
        let tiny = Epsilon::new(1e-25).unwrap();
        assert!(matches!(Kernel::response(tiny, 2), Err(Error::EpsilonTooSmall { .. })));
        let one = Epsilon::new(1.0).unwrap();
        assert!(matches!(Kernel::response(one, 1), Err(Error::TooFew { value: 1, .. })));
        // Far above 44 a lie keeps weight one: the level stays below the claim.
        assert!(Kernel::response(Epsilon::new(1e6).unwrap(), 2).unwrap().epsilon().value() < 44.4);
    }
}
