//! What crosses the wire arrives unchanged.

use super::{Violation, ensure, expect};
use crate::wire;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// JSON there and back gives an equal value and the same text again, and no proper beginning of the text is read.
///
/// Truncation is tried on objects, lists and strings; of a bare number the beginning is a number too.
pub fn check_wire_round_trip<T>(value: &T) -> Result<(), Violation>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    const TRIP: &str = "round trip";
    let text = expect(wire::write("message", value), TRIP)?;
    let mut back: T = expect(wire::parse("message", &text), TRIP)?;
    for _ in 0..2 {
        ensure(&back == value, TRIP, || format!("{value:?} came back as {back:?}"))?;
        let again = expect(wire::write("message", &back), TRIP)?;
        // Equal values may differ in bits, zeros of both signs for example.
        ensure(again == text, TRIP, || format!("{text} was written again as {again}"))?;
        back = expect(wire::parse("message", &again), TRIP)?;
    }
    if text.ends_with(['}', ']', '"']) {
        for (end, _) in text.char_indices() {
            let read = wire::parse::<T>("message", &text[..end]).is_ok();
            ensure(!read, "truncation is refused", || format!("{:?} was read", &text[..end]))?;
        }
    }
    Ok(())
}
