//! `ldp optimal --verify` shows what it recomputed, names what was changed, and reads no more than a certificate can be.

mod common;

use common::{Folder, Ran, ldp, number};
use serde_json::{Value, json};
use std::fs;

/// A certificate as a file has it, and where to put others.
struct Given {
    folder: Folder,
    good: Value,
}

impl Given {
    fn new(arguments: &str) -> Self {
        let folder = Folder::new();
        let path = folder.path("good.json");
        ldp(&format!("optimal {arguments} --certificate")).on(&path).succeeds();
        let good = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Self { folder, good }
    }

    fn verify(&self, text: impl AsRef<[u8]>) -> Ran {
        let path = self.folder.path("other.json");
        fs::write(&path, text).unwrap();
        ldp("optimal --verify").on(&path).with("--format json").ends_at_once()
    }

    /// With another value at a place; null removes what is there.
    fn with(&self, pointer: &str, value: Value) -> String {
        let mut other = self.good.clone();
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        let parent = other.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(fields), Value::Null) => drop(fields.remove(last)),
            (Value::Object(fields), value) => drop(fields.insert(last.into(), value)),
            (Value::Array(items), value) => items[last.parse::<usize>().unwrap()] = value,
            _ => panic!("{pointer}"),
        }
        other.to_string()
    }
}

#[test]
fn what_is_shown_is_recomputed() {
    for arguments in
        ["--epsilon 3", "--model poisson --theta 700 --epsilon 2", "--model exponential --theta 1e9 --epsilon 4"]
    {
        let given = Given::new(arguments);
        let shown = given.verify(given.good.to_string()).json();
        let certificate = &given.good["certificate"];
        assert_eq!(shown["verified"], true);
        for field in ["information", "upper_bound"] {
            assert!((number(&shown, field) / number(certificate, field) - 1.0).abs() < 1e-15, "{field}");
        }
        // What is within the tolerance passes, and is not what is shown.
        let claimed = number(certificate, "information") * (1.0 + 5e-13);
        let other = given.verify(given.with("/certificate/information", claimed.into())).json();
        assert_eq!((&other["information"], other["information"] == claimed), (&shown["information"], false));
        assert!(number(&shown, "relative_gap") == number(&shown, "upper_bound") / number(&shown, "information") - 1.0);
    }
}

#[test]
fn a_changed_part_is_named() {
    let given = Given::new("--model gaussian:sigma=3 --theta -20 --epsilon 3");
    assert_eq!(given.verify(given.good.to_string()).code, Some(0));
    for (pointer, value, said) in [
        (
            "/certificate/information",
            json!(-5),
            "information (of the mechanism under the model at theta, by its partition and kernel) is -5 in it, and 0.0659",
        ),
        (
            "/certificate/upper_bound",
            json!(1e308),
            "upper_bound (the integral of beta under the model at theta) is 1e308 in it, and 0.0659",
        ),
        ("/certificate/information", json!("x"), "certificate.information is not a number"),
        ("/certificate/information", Value::Null, "certificate.information is missing"),
        ("/certificate/version", json!(2), "wire version 2"),
        ("/certificate/version", json!(1.5), "certificate.version is not a whole number of 32 bits"),
        ("/certificate/epsilon", json!(3.003), "epsilon (of the weights in mechanism.kernel) is 3.003 in it"),
        ("/certificate/epsilon", json!(-3), "epsilon must be positive"),
        ("/certificate/epsilon", json!(300), "epsilon must be at most 30"),
        ("/certificate/theta", json!(-20.02), "at theta"),
        ("/certificate/theta", json!("near"), "certificate.theta is not a number"),
        ("/certificate/gap", json!(0), "certificate.gap is not known"),
        (
            "/certificate/mechanism/kernel",
            json!({"response": {"reports": 4_000_000_000u32, "lie": "1"}}),
            "reports of a kernel must be at most 1048576, got 4000000000",
        ),
        (
            "/certificate/mechanism/kernel/response/reports",
            json!(4_000_000_000u32),
            "the weight of a lie must be at most",
        ),
        (
            "/certificate/mechanism/kernel/response/reports",
            json!(4e20),
            "certificate.mechanism.kernel.response.reports is not a whole number",
        ),
        (
            "/certificate/mechanism/kernel/response/lie",
            json!(7),
            "certificate.mechanism.kernel.response.lie is not text",
        ),
        ("/certificate/mechanism/kernel/response/lie", json!("7"), "mechanism.kernel"),
        (
            "/certificate/mechanism/kernel",
            json!({"dense": {"columns": [["1", 2]]}}),
            "certificate.mechanism.kernel.dense.columns[0][1] is not text",
        ),
        ("/certificate/mechanism/partition/cuts/labels", json!([2, 1, 0]), "mechanism.partition.labels"),
        ("/certificate/mechanism/partition/cuts/labels/1", json!(4_294_967_295u32), "label must be at most"),
        (
            "/certificate/mechanism/partition/cuts/cuts/0",
            json!(true),
            "certificate.mechanism.partition.cuts.cuts[0] is not a number",
        ),
        ("/certificate/mechanism/partition", json!({"threshold": -20.0}), "partition"),
        // Its million cells are not looked at.
        (
            "/certificate/mechanism",
            json!({
                "wire": 1,
                "partition": {"periodic": {"origin": 0, "width": 1e-9, "cells": 1_000_000}},
                "kernel": {"response": {"reports": 1_000_000, "lie": "1000"}},
            }),
            "a periodic partition in a certificate",
        ),
        ("/certificate/beta", json!([]), "certificate.beta is not an object"),
        ("/certificate/beta", Value::Null, "certificate.beta is missing"),
        ("/certificate/beta/values/3", json!([0]), "certificate.beta.values[3] is not a number"),
        ("/certificate/beta/knots/2", json!(1e308), "knot must be finite and above the one before"),
        ("/certificate/beta/knots", json!(vec![0.5; 5000]), "knots must be at most 4096, got 5000"),
        ("/certificate/beta/above", json!(0), "G(t) <= 0 for the beta given"),
        ("/model", json!("gaussian:sigma=3.003"), "under the model"),
        ("/model", json!("gaussian:sigma=-3"), "model"),
        ("/model", json!("gausian"), "did you mean 'gaussian'"),
        ("/model", json!(3), "model is not text"),
        ("/model", json!("categorical:size=4294967295"), "theta must be strictly between 0 and 1"),
    ] {
        given.verify(given.with(pointer, value)).failed_with(2).saying(said);
    }
    // The mechanism and β of a certificate at another level, and no upper bound but that of the value.
    let other = Given::new("--model gaussian:sigma=3 --theta -20 --epsilon 4");
    for part in ["mechanism", "beta"] {
        let text = given.with(&format!("/certificate/{part}"), other.good["certificate"][part].clone());
        given.verify(text).failed_with(2).saying("the certificate is refused");
    }
    let mut without = given.good.clone();
    without["certificate"]["beta"] = Value::Null;
    given.verify(without.to_string()).failed_with(2).saying("upper_bound (the integral of beta");
}

#[test]
fn what_is_read_is_bounded() {
    let given = Given::new("--epsilon 1");
    let huge = " ".repeat(1 << 20) + &given.good.to_string();
    given.verify(huge).failed_with(2).saying("larger than 1048576 bytes");
    ldp("optimal --verify /dev/zero").must_be_refused().saying("larger than 1048576 bytes");
    given.verify("[".repeat(1 << 19)).failed_with(2).saying("--verify");
    given.verify(b"\xff\xfe").failed_with(2).saying("--verify");
    given.verify("").failed_with(2).saying("--verify");
    given.verify("[]").failed_with(2).saying("the file is not an object");
}

#[test]
fn sizes_are_refused_before_anything_is_allocated() {
    for (arguments, said) in [
        (
            "fisher --mechanism randomized-response:categories=1e8 --model categorical:size=1e8 --theta 0.5 --epsilon 1",
            "categories must be at most 1048576, got 100000000",
        ),
        (
            "fisher --mechanism randomized-response:categories=1e9 --model categorical:size=1e9 --theta 0.5 --epsilon 1",
            "categories must be at most 1048576, got 1000000000",
        ),
        (
            "fisher --mechanism residue:cells=4294967295 --epsilon 1",
            "reports of a kernel must be at most 1048576, got 4294967295",
        ),
        ("fisher --mechanism sign --epsilon 1 --black-box 1e12", "draws must be at most 1073741824, got 1000000000000"),
        ("optimal --sweep epsilon=1:2:1e9", "the count is not a whole number"),
        ("optimal --sweep epsilon=1:2:1000000000", "the count is out of range"),
        ("optimal --switches 1e9", "at most 30"),
    ] {
        ldp(arguments).must_be_refused().saying(said);
    }
}
