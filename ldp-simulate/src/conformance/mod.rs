//! Laws that have to be simulated to be checked, beside those of [`ldp_core::conformance`].
//!
//! | law | what it says | check |
//! |---|---|---|
//! | `marginal adds to one` | P(z) ≥ 0 and Σ P(z) = 1, every place written | [`check_marginal`] |
//! | `reports follow marginal` | simulated users answer with the law P | [`check_marginal`] |
//! | `tallies follow marginal` | drawn tallies have the law P | [`check_marginal`] |
//! | `simulation is wire` | a run in process equals a run through JSON | [`check_simulation_is_wire`], [`check_simulation_is_wire_typed`] |
//!
//! [`check_simulation_is_wire`] is for what is published as a channel, [`check_simulation_is_wire_typed`] for questions that go out as
//! themselves, and [`check_simulation_is_wire_with`] for any population.

mod marginal;
mod wire;

pub use marginal::check_marginal;
pub use wire::{check_simulation_is_wire, check_simulation_is_wire_typed, check_simulation_is_wire_with};

use ldp_core::conformance::Violation;

/// `Ok` if `holds`, else a violation of `law` with this detail.
fn ensure(holds: bool, law: &'static str, detail: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { law, detail: detail() }) }
}

/// A library call that must succeed, or a violation of `law` with its error.
fn expect<T>(result: ldp_core::Result<T>, law: &'static str) -> Result<T, Violation> {
    result.map_err(|error| Violation { law, detail: error.to_string() })
}
