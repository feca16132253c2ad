//! The distribution of the estimate itself.

use super::Gather;
use ldp_core::error::{Error, Result};
use ldp_core::inference::Inference;

/// The values that an estimate can have, each with its probability.
///
/// ```
/// use ldp_core::conformance::Dummy;
/// use ldp_simulate::exact::{Atoms, Exact};
/// use ldp_core::model::Gaussian;
/// use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
/// let kernel = Kernel::response(Epsilon::new(1.0)?, 2)?;
/// let dummy = Dummy::asking(&FiniteChannel::new(Partition::Threshold(0.0), kernel)?, &[&[2]]);
/// let model = Gaussian::new(1.0)?;
/// let atoms = Exact::new(&model, 0.0)?.sum(&dummy, 2, || Atoms::new(0.5, 1000))?.gather.sorted()?;
/// assert_eq!(atoms.iter().map(|atom| atom.0).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
/// assert!((atoms[1].1 - 0.5).abs() < 1e-15);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Atoms {
    truth: f64,
    most: u64,
    seen: u64,
    squares: f64,
    atoms: Vec<(f64, f64)>,
}

impl Atoms {
    /// None seen yet; at most `most` are kept.
    #[must_use]
    pub fn new(truth: f64, most: u64) -> Self {
        Self { truth, most, seen: 0, squares: 0.0, atoms: Vec::new() }
    }

    /// Value and probability, by value, equal values merged. An error if there were more than are kept.
    pub fn sorted(mut self) -> Result<Vec<(f64, f64)>> {
        if self.seen > self.most {
            return Err(Error::TooMany { name: "values of an estimate", most: self.most, value: self.seen });
        }
        self.atoms.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        self.atoms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Ok(self.atoms)
    }
}

impl Gather for Atoms {
    fn push<I: Inference>(&mut self, weight: f64, estimate: &I) {
        self.seen += 1;
        self.squares += weight * estimate.squared_error(self.truth);
        if self.seen <= self.most {
            self.atoms.push((estimate.value(), weight));
        }
    }

    fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.squares += other.squares;
        if self.seen <= self.most {
            self.atoms.extend(other.atoms);
        }
    }

    fn squares(&self) -> f64 {
        self.squares
    }
}
