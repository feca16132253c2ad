//! The mechanisms by name.

use super::{Entry, Key};

/// All mechanisms. No command builds one from its spec yet: the table feeds `ldp list`.
pub const MECHANISMS: &[Entry<()>] = &[
    Entry {
        name: "sign",
        summary: "the sign of x - threshold by randomised response, one bit",
        keys: &[Key { name: "threshold", default: "0", help: "where the line is cut" }],
        build: (),
    },
    Entry {
        name: "randomized-response",
        summary: "k-ary randomised response on categories 0, 1, ..., k - 1",
        keys: &[Key { name: "categories", default: "2", help: "number of categories k" }],
        build: (),
    },
    Entry {
        name: "interval",
        summary: "which interval x lies in, by m-ary randomised response",
        keys: &[Key { name: "cuts", default: "0", help: "increasing cut points, separated by /" }],
        build: (),
    },
];
