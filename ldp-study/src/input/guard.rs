//! A decoder that panics becomes an error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use thiserror::Error;

/// The decoder met data that its authors thought impossible.
#[derive(Debug, Error)]
#[error("the decoder met impossible data and gave up")]
pub(super) struct Panicked;

thread_local! {
    /// Whether a panic on this thread is expected, and not worth a message.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and turns a panic into an error, without the usual message on standard error.
///
/// Only for code of others that is documented, or known, to panic on bad input. `work` should own what it changes,
/// or the caller should drop it after an error: it may be left half-changed.
///
/// # Design
///
/// The panic hook belongs to the whole process. Replacing it for the duration of a call would also silence other
/// threads, so one hook is installed once, which passes everything on except what a guarded thread does.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_quiet_ends_with_it() {
        assert!(guarded(|| -> u8 { panic!("this message must not appear") }).is_err());
        assert!(!QUIET.get());
        assert_eq!(guarded(|| 7).unwrap(), 7);
    }
}
