//! The universal question: finitely many cells of the line, finitely many reports, integer weights.
//!
//! Sign, interval response, residues and optimal mechanisms all lower to a [`FiniteChannel`]; that is what is
//! published, so a client needs one function for all of them. See [`wire`].
//!
//! ```
//! use ldp_core::{Epsilon, FiniteChannel, Kernel, Mechanism, Partition};
//! let epsilon = Epsilon::new(1.0)?;
//! let question = FiniteChannel::new(Partition::Threshold(0.5), Kernel::response(epsilon, 2)?)?;
//! assert!(question.epsilon() <= epsilon);
//! let json = serde_json::to_string(&question).unwrap();
//! assert_eq!(json, r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#);
//! assert_eq!(serde_json::from_str::<FiniteChannel>(&json).unwrap(), question);
//! # Ok::<(), ldp_core::Error>(())
//! ```

mod kernel;
mod partition;
mod periodic;

pub use kernel::{Dense, Kernel, two_64};
pub use partition::{Cuts, Partition};

use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::{Density, Finite, Mechanism, Numerics, Publish, Rescale};
use crate::model::Cdf;
use crate::wire;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The most cells and the most reports of a [`FiniteChannel`]: collector and analyst keep a number for each of them.
pub const MOST_CELLS: u32 = 1 << 20;

/// A mechanism that looks at the cell a value lies in and draws its report by integer weights.
///
/// $q(z \mid x) = w_{c(x), z} / 2^{64}$, with $c(x)$ the cell of x. ε is the logarithm of the largest ratio of two
/// weights of one report, computed from the weights. Report size ⌈log₂ m⌉ bits; one random word per report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct FiniteChannel {
    partition: Partition,
    kernel: Kernel,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    wire: u32,
    partition: Partition,
    kernel: Kernel,
}

impl TryFrom<Raw> for FiniteChannel {
    type Error = Error;
    fn try_from(raw: Raw) -> Result<Self> {
        if raw.wire != wire::VERSION {
            return Err(Error::WireVersion { found: raw.wire, supported: wire::VERSION });
        }
        Self::new(raw.partition, raw.kernel)
    }
}

impl From<FiniteChannel> for Raw {
    fn from(channel: FiniteChannel) -> Self {
        Self { wire: wire::VERSION, partition: channel.partition, kernel: channel.kernel }
    }
}

impl FiniteChannel {
    /// A channel from its parts; checks the numbers of both and that the kernel has a column for every cell.
    ///
    /// ```
    /// use ldp_core::{Error, FiniteChannel, Kernel, Partition};
    /// // A number in a message must not decide how much memory its reader needs: a place for each of four billion reports.
    /// let kernel = Kernel::Response { reports: 4_000_000_000, lie: 1 };
    /// let refused = FiniteChannel::new(Partition::Threshold(0.5), kernel);
    /// assert!(matches!(refused, Err(Error::TooMany { name: "reports of a kernel", most: 1_048_576, .. })));
    /// ```
    pub fn new(partition: Partition, kernel: Kernel) -> Result<Self> {
        partition.check()?;
        kernel.check()?;
        for (name, value) in [("reports of a kernel", kernel.reports()), ("cells of a kernel", kernel.cells())] {
            if value > MOST_CELLS {
                return Err(Error::TooMany { name, most: MOST_CELLS.into(), value: value.into() });
            }
        }
        let (cells, columns) = (u64::from(partition.cells()), u64::from(kernel.cells()));
        if cells > columns {
            return Err(Error::TooMany { name: "cells of the partition", most: columns, value: cells });
        }
        Ok(Self { partition, kernel })
    }

    /// The cells.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The weights.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The number of cells that the kernel tells apart.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.kernel.cells()
    }

    /// The same question about values moved by `by`: with the same weights, and so the same ε. For a change of unit there
    /// is [`Rescale`].
    ///
    /// ```
    /// use ldp_core::{Cuts, Epsilon, Finite, FiniteChannel, Kernel, Partition, model::Gaussian};
    /// let partition = Partition::Cuts(Cuts::new(vec![-0.4, 0.4])?);
    /// let question = FiniteChannel::new(partition, Kernel::response(Epsilon::new(2.2)?, 3)?)?;
    /// let (model, mut here, mut there) = (Gaussian::new(1.0)?, [0.0; 3], [0.0; 3]);
    /// question.marginal(&model, 0.3, &mut here);
    /// question.shifted(5.0)?.marginal(&model, 5.3, &mut there);
    /// assert!(here.iter().zip(there).all(|(a, b)| (a - b).abs() < 1e-15));
    /// # Ok::<(), ldp_core::Error>(())
    /// ```
    pub fn shifted(self, by: f64) -> Result<Self> {
        Self::new(self.partition.shifted(by)?, self.kernel)
    }

    /// The weight of `report` in `cell`, in units of 2⁻⁶⁴: zero where there is no such cell or report.
    #[must_use]
    pub fn weight(&self, cell: u32, report: u32) -> u64 {
        self.kernel.weight(cell, report)
    }
}

/// A mechanism that is a finite channel under a name of its own.
///
/// Implement this one method and the type is a [`Mechanism`] with a [`Density`], [`Finite`] and [`Publish`]:
/// privacy level, sampling, exact law and wire form are those of the channel. A type that wants a faster sampler of its
/// own implements those traits itself, and proves by `conformance::check_channel` that it answers as its channel does.
pub trait AsChannel {
    /// The channel.
    fn as_channel(&self) -> &FiniteChannel;
}

impl AsChannel for FiniteChannel {
    #[inline]
    fn as_channel(&self) -> &FiniteChannel {
        self
    }
}

impl<C: AsChannel> Mechanism for C {
    type Input = f64;
    type Report = u32;
    const NUMERICS: Numerics = Numerics::Exact;

    fn epsilon(&self) -> Epsilon {
        self.as_channel().kernel.epsilon()
    }

    #[inline]
    fn privatize<R: Rng + ?Sized>(&self, input: &f64, rng: &mut R) -> u32 {
        let FiniteChannel { partition, kernel } = self.as_channel();
        kernel.report(partition.cell(*input), rng.next_u64())
    }
}

impl<C: AsChannel> Density for C {
    fn ln_density(&self, report: &u32, input: &f64) -> f64 {
        let FiniteChannel { partition, kernel } = self.as_channel();
        (kernel.weight(partition.cell(*input), *report) as f64 / two_64()).ln()
    }
}

impl<C: AsChannel> Finite for C {
    fn reports(&self) -> u32 {
        self.as_channel().kernel.reports()
    }

    fn marginal<M: Cdf + ?Sized>(&self, model: &M, theta: f64, out: &mut [f64]) {
        let FiniteChannel { partition, kernel } = self.as_channel();
        match kernel {
            Kernel::Response { .. } => {
                partition.masses(model, theta, out);
                kernel.mix(&[], out);
            }
            Kernel::Dense(_) => {
                let mut masses = vec![0.0; kernel.cells() as usize];
                partition.masses(model, theta, &mut masses);
                kernel.mix(&masses, out);
            }
        }
    }
}

impl<C: AsChannel> Publish for C {
    fn publish(&self) -> FiniteChannel {
        self.as_channel().clone()
    }
}

impl Rescale for FiniteChannel {
    fn rescale(self, factor: f64) -> Result<Self> {
        Self::new(self.partition.rescale(factor)?, self.kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> serde_json::Result<FiniteChannel> {
        serde_json::from_str(json)
    }

    #[test]
    fn tampered_questions_are_refused() {
        let good = r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#;
        assert!(parse(good).is_ok());
        for (from, to, word) in [
            ("\"wire\":1", "\"wire\":2", "wire version 2"),
            ("\"4961093570831980854\"", "\"0\"", "lie"),
            ("\"4961093570831980854\"", "\"9223372036854775808\"", "lie"),
            ("\"4961093570831980854\"", "4961093570831980854", "string"),
            ("\"reports\":2", "\"reports\":1", "reports"),
            ("0.5", "null", "invalid type"),
            ("0.5", "1e999", "number out of range"),
            ("\"partition\":{\"threshold\":0.5},", "", "missing field"),
            ("}}}", "}}", "EOF"),
            ("\"wire\":1", "\"wire\":1,\"extra\":0", "unknown field"),
        ] {
            let error = parse(&good.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(word), "{to}: {error}");
        }
    }

    #[test]
    fn tampered_dense_kernels_are_refused() {
        let question = |columns: &str| {
            parse(&format!(
                r#"{{"wire":1,"partition":{{"threshold":0.0}},"kernel":{{"dense":{{"columns":{columns}}}}}}}"#
            ))
        };
        assert!(question(r#"[["9223372036854775808","9223372036854775808"],["1","18446744073709551615"]]"#).is_ok());
        for bad in [
            r#"[["9223372036854775808","9223372036854775807"],["1","18446744073709551615"]]"#,
            r#"[["0","9223372036854775808"],["1","18446744073709551615"]]"#,
            r#"[["9223372036854775808","9223372036854775808"]]"#,
            r#"[["9223372036854775808","9223372036854775808"],["9223372036854775808","9223372036854775808"]]"#,
            r#"[["9223372036854775808","9223372036854775808"],["18446744073709551615"]]"#,
            "[]",
        ] {
            assert!(question(bad).is_err(), "{bad}");
        }
    }
}
