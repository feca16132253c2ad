//! The laws of the traits as functions: every mechanism, tally and estimator runs them in its tests.
//!
//! A check returns `Ok` or the [`Violation`] it found, so that a test says `check_…(…).unwrap()` and a test of the
//! check itself says which law a broken example violates. Sampling checks are for samplers: privacy is checked in
//! integers, or on the density. Every sampling check has a fixed seed and rejects what is right with probability
//! [`ALPHA`].
//!
//! | law | what it says | check |
//! |---|---|---|
//! | `weights within the claim` | any two weights of one report have a ratio ≤ e^claim, in integers | [`check_epsilon`] |
//! | `epsilon within the claim` | `epsilon()` ≤ the claim, exactly | [`check_epsilon`], [`check_epsilon_density`] |
//! | `epsilon is computed` | `epsilon()` is the largest log ratio, to 1e-12 | [`check_epsilon`], [`check_epsilon_density`] |
//! | `density adds to one` | Σ q(z given x) = 1 | [`check_sampler`] |
//! | `report cdf is a cdf` | `report_cdf` rises from 0 to 1 | [`check_real_sampler`], [`check_unbiased`] |
//! | `cdf is that of density` | ∫ q(z given x) over a cell, and atoms, are what `report_cdf` says | [`check_real_sampler`] |
//! | `sampler follows density` | `privatize` draws from q | [`check_sampler`], [`check_real_sampler`] |
//! | `bulk follows density` | `simulate_all` draws from q, and for every user anew | [`check_sampler`], [`check_real_sampler`] |
//! | `decode is affine` | the decoded mean of reports is the mean of decoded reports | [`check_unbiased`], [`check_unbiased_finite`] |
//! | `decode is unbiased` | E decode(Z) is the value, clipped to the range | [`check_unbiased`], [`check_unbiased_finite`] |
//! | `variance is stated` | Var decode(Z) = `variance`, to 1e-8 | [`check_unbiased`], [`check_unbiased_finite`] |
//! | `thin equals published` | a mechanism and its channel answer alike from the same word | [`check_channel`] |
//! | `draws do not depend on the input` | the number of random words is the same for all inputs | [`check_draws`] |
//! | `draws say nothing beyond the report` | given the input, words drawn and report are independent | [`check_draws_beyond_report`] |
//! | `family is as symmetric as it says` | its members come from one another by a shift or a factor | [`check_symmetry`] |
//! | `push counts users` | a push of a report counts its users, one by one or at once | [`check_merge_laws`] |
//! | `merge commutes` | a + b = b + a | [`check_merge_laws`] |
//! | `merge associates` | (a + b) + c = a + (b + c), and equals one tally of all | [`check_merge_laws`] |
//! | `empty is neutral` | a + 0 = 0 + a = a | [`check_merge_laws`] |
//! | `impossible report is refused` | what the question cannot produce is not counted | [`check_merge_laws`] |
//! | `failed call changes nothing` | after an error a tally is as it was | [`check_merge_laws`] |
//! | `round trip` | JSON there and back is the same value, bit for bit | [`check_wire_round_trip`] |
//! | `truncation is refused` | no beginning of a message is a message | [`check_wire_round_trip`] |
//! | `estimate is finite` | value, error and intervals are numbers, whatever comes back | [`check_edges`], [`check_inference`] |
//! | `round within users` | a round asks at least one user and no more than are left | [`check_edges`] |
//! | `tallies must fit` | too many answers or tallies are refused by type | [`check_edges`] |
//! | `protocol ends` | enough users with mixed answers bring an estimate | [`check_edges`] |
//! | `step is pure` | the same state and tallies give the same step | [`check_replay`] |
//!
//! Questions are finite, real or vectors. [`check_edges`] and [`check_replay`] know the reports of a finite question;
//! [`check_edges_with`] and [`check_replay_with`] are told a few of any other. What has to be simulated to be checked is in
//! `ldp_simulate::conformance`.
//!
//! [`Dummy`] is a protocol without statistics, for tests of whatever drives protocols.
//!
//! ```
//! use ldp_core::conformance::{check_channel, check_draws, check_epsilon, check_sampler};
//! use ldp_core::{Epsilon, FiniteChannel, Kernel, Partition};
//! let claim = Epsilon::new(1.0)?;
//! let question = FiniteChannel::new(Partition::Threshold(0.0), Kernel::response(claim, 2)?)?;
//! check_epsilon(&question, claim).unwrap();
//! check_sampler(&question, &[-1.0, 1.0], 7).unwrap();
//! check_channel(&question, &[0.5], 7).unwrap();
//! check_draws(&question, &[-1.0, 1.0]).unwrap();
//! // Not private enough for a smaller claim.
//! let violation = check_epsilon(&question, Epsilon::new(0.9)?).unwrap_err();
//! assert_eq!(violation.law, "weights within the claim");
//! # Ok::<(), ldp_core::Error>(())
//! ```

mod answers;
mod channel;
mod dummy;
mod mechanism;
mod model;
mod protocol;
mod quadrature;
mod sampler;
mod scripted;
mod statistics;
mod tally;
mod unbiased;
mod wire;

pub use channel::check_channel;
pub use dummy::{Dummy, Seen};
pub use mechanism::{check_draws, check_draws_beyond_report, check_epsilon, check_epsilon_density};
pub use model::check_symmetry;
pub use protocol::{
    check_edges, check_edges_judged, check_edges_with, check_inference, check_replay, check_replay_with,
};
pub use sampler::{check_real_sampler, check_sampler};
pub use scripted::{Counting, Repeating};
pub use statistics::{ALPHA, chi_square, goodness_of_fit, upper_tail};
pub use tally::check_merge_laws;
pub use unbiased::{check_unbiased, check_unbiased_finite};
pub use wire::check_wire_round_trip;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// A law that does not hold, and the example that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law, by its name in the table above.
    pub law: &'static str,
    /// What was found.
    pub detail: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.law, self.detail)
    }
}

impl std::error::Error for Violation {}

/// A generator for part `part` of the check at place `place`: others for other names, and the same for the same.
fn generator(seed: u64, place: u64, part: u64) -> Xoshiro256PlusPlus {
    let mut bytes = [0; 32];
    let name = [seed, place, part, 0x6c64_702d_636f_7265];
    bytes.chunks_exact_mut(8).zip(name).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
    let mut mixed = Xoshiro256PlusPlus::from_seed(bytes);
    // The first words of names that differ little are alike.
    (0..32).for_each(|_| _ = mixed.next_u64());
    mixed
}

/// `Ok` if `holds`, else a violation of `law` with this detail.
fn ensure(holds: bool, law: &'static str, detail: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { law, detail: detail() }) }
}

/// A library call that must succeed, or a violation of `law` with its error.
fn expect<T>(result: crate::Result<T>, law: &'static str) -> Result<T, Violation> {
    result.map_err(|error| Violation { law, detail: error.to_string() })
}

/// At most `most` of the items, evenly spread, first and last among them.
fn thinned<T: Copy>(items: &[T], most: usize) -> Vec<T> {
    if items.len() <= most {
        return items.to_vec();
    }
    (0..most).map(|i| items[i * (items.len() - 1) / (most - 1)]).collect()
}
