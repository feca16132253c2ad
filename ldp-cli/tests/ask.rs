//! One question through any mechanism, from a name, a table or a published question.

mod common;

use common::{Folder, ldp, number};
use serde_json::Value;

fn simulate(estimator: &str, model: &str, theta: f64) -> Value {
    let users = "--users 100000 --epsilon 1 --replications 1000 --format json --quiet";
    ldp(&format!("simulate --estimator {estimator} --model {model} --theta {theta} {users}")).succeeds().json()
}

/// n·MSE is one over the information that `fisher` has, within five standard errors of a thousand squares (22 %), and each interval
/// covers 95 % within five of its own (3.4 points). Half of the information, or intervals of 1.5 standard errors, would not pass.
#[test]
fn every_mechanism_that_fits_has_an_estimate_as_precise_as_its_information() {
    for (mechanism, own, model, theta) in [
        ("sign", ",mechanism.threshold=0.5", "gaussian", 0.2),
        ("interval", ",mechanism.cuts=-1/0.5", "logistic", 0.3),
        ("duchi", ",mechanism.low=-3,mechanism.high=3", "gaussian", 0.5),
        ("laplace", ",mechanism.low=-3,mechanism.high=3", "gaussian", 0.5),
        ("piecewise", ",mechanism.low=0,mechanism.high=4", "exponential", 1.2),
        ("randomized-response", ",mechanism.categories=4", "categorical", 0.4),
    ] {
        let found = simulate(&format!("ask:mechanism={mechanism}{own}"), model, theta);
        let keys = own.trim_start_matches(',').replace("mechanism.", "");
        let call =
            format!("fisher --mechanism {mechanism}:{keys} --model {model} --theta {theta} --epsilon 1 --format json");
        let fisher = ldp(&call).succeeds().json();
        let information = number(&fisher, "information");
        let ratio = number(&found, "scaled_mse") * information;
        assert!((ratio - 1.0).abs() < 0.22, "{mechanism} on {model}: {ratio}");
        let intervals = found["intervals"].as_array().expect("a list");
        assert_eq!(intervals.len(), 2, "{found:#}");
        for interval in intervals {
            let coverage = number(interval, "coverage");
            assert!((coverage - 0.95).abs() < 0.034, "{mechanism} on {model}: {coverage}");
        }
        // The canonical spec has the keys of the mechanism.
        let spec = found["estimator"].as_str().expect("a text");
        assert!(spec.starts_with(&format!("ask:mechanism={mechanism}{own}")), "{spec}");
    }
}

/// A table of one's own in every command: three categories, four reports.
#[test]
fn a_table_is_a_mechanism() {
    let folder = Folder::new();
    let file = folder.file("table.csv", "4,2,2,2\n2,4,2,2\n2,2,4,2\n");
    let file = file.to_str().expect("a plain path");
    let fisher =
        ldp(&format!("fisher --mechanism matrix:file={file} --model categorical:size=3 --theta 0.3 --epsilon 1"));
    let information = number(&fisher.with("--format json").succeeds().json(), "information");
    // By hand: report 0 has probability 0.2 + 0.2 θ, reports 1 and 2 each 0.2 + 0.1 (1 − θ), report 3 always 0.2.
    let by_hand = 0.04 / 0.26 + 2.0 * 0.01 / 0.27;
    assert!((information / by_hand - 1.0).abs() < 1e-12, "{information} {by_hand}");
    let estimator = format!("ask:mechanism=matrix,mechanism.file={file}");
    let found = simulate(&estimator, "categorical:size=3", 0.3);
    assert!((number(&found, "scaled_mse") * by_hand - 1.0).abs() < 0.22, "{found:#}");
    // Two reports have few tallies, so that their risk is a sum: report 1 has probability 0.3 + 0.4 θ.
    let file = folder.file("two.csv", "0.7,0.3\n0.3,0.7\n");
    let ask = format!("ask:mechanism=matrix,mechanism.file={}", file.display());
    let risk = format!("risk --estimator {ask} --model bernoulli --theta 0.3 --users 100000 --epsilon 1 --format json");
    let scaled = number(&ldp(&risk).succeeds().json(), "scaled_mse");
    assert!((scaled * 0.16 / (0.42 * 0.58) - 1.0).abs() < 1e-3, "{scaled}");
}

#[test]
fn what_is_no_mechanism_is_refused_with_value_and_limit() {
    let folder = Folder::new();
    for (name, text, told) in [
        ("zero.csv", "0.5,0.5,0\n0.5,0.25,0.25\n", "column"),
        ("sum.csv", "3,1\n1,2\n", "4"),
        ("word.csv", "0.5,half\n0.5,0.5\n", "line 1, column 2"),
        ("ragged.csv", "0.5,0.5\n0.5,0.25,0.25\n", "2"),
        ("empty.csv", "", "rows"),
        ("steep.csv", "99,1\n1,99\n", "above the 1 asked for"),
    ] {
        let file = folder.file(name, text);
        let call = format!(
            "fisher --mechanism matrix:file={} --model categorical:size=2 --theta 0.3 --epsilon 1",
            file.display()
        );
        let refused = ldp(&call).must_be_refused();
        assert!(refused.stderr.contains(name) && refused.stderr.contains(told), "{name}: {}", refused.stderr);
    }
    let question =
        r#"{"wire":1,"partition":{"threshold":0.5},"kernel":{"response":{"reports":2,"lie":"4961093570831980854"}}}"#;
    let good = folder.file("good.json", question);
    ldp(&format!("fisher --mechanism question:file={} --theta 0.3 --epsilon 1", good.display())).succeeds();
    for (name, text, told) in [
        ("version.json", question.replace(r#""wire":1"#, r#""wire":7"#), "wire version 7"),
        ("short.json", question[..60].to_owned(), "malformed question"),
        ("lie.json", question.replace("4961093570831980854", "0"), "malformed question"),
    ] {
        let file = folder.file(name, text);
        let refused = ldp(&format!("fisher --mechanism question:file={} --theta 0.3 --epsilon 1", file.display()));
        let refused = refused.must_be_refused();
        assert!(refused.stderr.contains(name) && refused.stderr.contains(told), "{name}: {}", refused.stderr);
    }
    for (spec, told) in [("matrix", "the path of a file"), ("matrix:file=/no/such/table.csv", "/no/such/table.csv")] {
        let refused = ldp(&format!("fisher --mechanism {spec} --theta 0.3 --epsilon 1")).must_be_refused();
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    for (spec, told) in [
        ("ask:mechanism=lapalce", "did you mean 'laplace'?"),
        ("ask:mechanism=laplace,mechanism.hgih=3", "did you mean 'high'?"),
        ("ask:mechanism=unary", "whole numbers or real ones"),
        ("ask:mechanism=residue", "do not identify theta"),
        ("ask:mechanism.low=3", "no key 'low'"),
        ("two-stage:mechanism.low=3", "no key 'mechanism.low'"),
    ] {
        let call = format!("simulate --estimator {spec} --theta 0.3 --users 1000 --epsilon 1");
        let refused = ldp(&call).must_be_refused();
        assert!(refused.stderr.contains(told), "{spec}: {}", refused.stderr);
    }
}
