//! tmp
mod common;
#[test]
fn x() {
    common::ldp("list").succeeds();
}
