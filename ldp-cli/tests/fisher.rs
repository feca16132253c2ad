//! `ldp fisher` says how much a report says, ranks, sweeps and draws.

mod common;

use common::{Folder, ldp, number};
use serde_json::Value;
use std::fs;

fn record(arguments: &str) -> Value {
    ldp(arguments).with("--format json").succeeds().json()
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() < relative, "{found} is not {expected}");
}

#[test]
fn known_values_and_every_field() {
    let record = record("fisher --model gaussian --mechanism sign:threshold=0 --epsilon 1 --theta 0.5");
    close(number(&record, "information"), 0.109301830750, 1e-10);
    assert!(number(&record, "error") < 1e-13 && record["method"] == "exact");
    assert_eq!(number(&record, "nonprivate"), 1.0);
    close(number(&record, "optimal"), 0.135951595627812, 1e-12);
    close(number(&record, "efficiency"), 0.109301830750 / 0.135951595627812, 1e-9);
    close(number(&record, "asymptotic_variance"), 9.148978, 1e-6);
    for (field, expected) in [("command", "fisher"), ("model", "gaussian:sigma=1"), ("mechanism", "sign:threshold=0")] {
        assert_eq!(record[field], expected);
    }
    for bound in ["nonprivate", "sinh", "barnes", "one_bit", "smallest"] {
        assert!(number(&record["bounds"], bound) >= number(&record, "information"), "{bound}");
    }
}

/// Independent values: the two of the reference, and the optimum of a Gaussian at its own mean in another unit.
#[test]
fn other_mechanisms_models_and_units() {
    let at = |rest: &str| number(&record(&format!("fisher --epsilon 1 {rest}")), "information");
    close(at("--theta 0.3 --mechanism laplace:low=-3,high=3"), 0.022974130952809167, 1e-9);
    close(at("--theta 0.3 --mechanism duchi:low=-3,high=3"), 0.023590995932992843, 1e-9);
    close(at("--theta 0.3 --mechanism ding:low=-3,high=3"), 0.023590995932992843, 1e-9);
    let tau = 0.5f64.tanh();
    let sign = at("--theta -7 --model gaussian:sigma=3 --mechanism sign:threshold=-7");
    close(sign, 2.0 / std::f64::consts::PI * tau * tau / 9.0, 1e-14);
    close(at("--theta 2 --model laplace:scale=0.5 --mechanism sign:threshold=2"), 4.0 * tau * tau, 1e-14);
    // One set of two categories, both ways of saying it: the same as randomised response.
    let response = at("--theta 0.3 --model bernoulli --mechanism randomized-response:categories=2");
    close(at("--theta 0.3 --model bernoulli --mechanism subset-selection:categories=2"), response, 1e-12);
    assert!(at("--theta 0.3 --model categorical:size=5 --mechanism unary:categories=5") > 0.0);
    // One dimension of the cube is a sign whose probability is linear in the value: Duchi's one bit.
    let cube = at("--mechanism duchi-linf:dimension=1,radius=2");
    close(cube, at("--mechanism duchi:low=-2,high=2"), 1e-9);
}

#[test]
fn several_mechanisms_are_ranked() {
    let record = record(
        "fisher --epsilon 3 --mechanism duchi:low=-3,high=3 --mechanism interval:cuts=-0.48398/0.48398 --mechanism sign",
    );
    let ranked = record["mechanisms"].as_array().unwrap();
    let values: Vec<f64> = ranked.iter().map(|entry| number(entry, "information")).collect();
    assert_eq!(values.len(), 3);
    assert!(values.windows(2).all(|pair| pair[0] > pair[1]), "{values:?}");
    assert_eq!(record["mechanism"], ranked[0]["mechanism"]);
    // The ternary response on these cuts is the best known at this level.
    close(values[0], 0.593651361, 1e-8);
    close(number(&record, "optimal"), values[0], 1e-9);
    close(number(&record, "efficiency"), 1.0, 1e-9);
    assert!(record["optimal_reason"].is_null());
}

#[test]
fn a_black_box_says_less_than_there_is() {
    for spec in ["sign:threshold=0.5", "laplace:low=-2,high=2", "interval:cuts=-1/1"] {
        let exact = number(&record(&format!("fisher --epsilon 2 --mechanism {spec}")), "information");
        let limit = record(&format!("fisher --epsilon 2 --mechanism {spec} --black-box 1e6 --seed 5"));
        assert_eq!(limit["method"], "black-box");
        let value = number(&limit, "information");
        assert!(value < exact && value > 0.9 * exact, "{spec}: {value} of {exact}");
        assert!(number(&limit, "binned") > value);
    }
    // Where nothing else is known.
    let projected = record("fisher --epsilon 4 --mechanism projunit:dimension=6,projection=3 --black-box 2e5");
    assert!(number(&projected, "information") > 0.0);
}

#[test]
fn vectors_are_told_by_coordinate() {
    let record = record("fisher --epsilon 1 --mechanism privunit:dimension=5");
    // 1/(d I) = 6.630 in five dimensions.
    close(1.0 / (5.0 * number(&record, "information")), 6.630, 1e-3);
    assert!(record["optimal"].is_null() && record["optimal_reason"].as_str().unwrap().contains("several dimensions"));
    assert!(number(&record["bounds"], "sinh") < 0.0544);
}

#[test]
fn sweeps_have_tables_lines_and_figures() {
    let folder = Folder::new();
    let figure = folder.path("curve.svg");
    let call = "fisher --mechanism sign --mechanism laplace:low=-3,high=3 --sweep epsilon=0.5:2.5:5";
    let csv = ldp(call).with("--format csv --svg").on(&figure).succeeds().stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 11, "{csv}");
    assert!(lines[0].starts_with("epsilon,theta,value,mechanism,information,error,method"));
    assert!(lines[1].starts_with("0.5,") && lines[10].starts_with("2.5,"));
    let svg = fs::read_to_string(&figure).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">sign<") && svg.contains("no privacy") && !svg.contains("NaN"));
    let picture = folder.path("curve.png");
    ldp(call).with("--svg").on(&picture).succeeds();
    let bytes = fs::read(&picture).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000);
    // The same on any number of threads, and in JSON and as a table.
    let one = ldp(call).with("--format csv --threads 1").succeeds().stdout;
    assert_eq!(one, csv);
    let json = record(call);
    assert_eq!(json["points"].as_array().unwrap().len(), 10);
    assert!(ldp(call).succeeds().stdout.contains("efficiency"));
    let threshold = record("fisher --mechanism sign --epsilon 1 --sweep threshold=-3:3:61");
    let points = threshold["points"].as_array().unwrap();
    let best = points.iter().max_by(|a, b| number(a, "information").total_cmp(&number(b, "information"))).unwrap();
    assert_eq!((points.len(), number(best, "value")), (61, 0.0));
    let theta = record("fisher --mechanism sign --epsilon 1 --sweep theta=-1:1:3");
    assert_eq!(number(&theta["points"][0], "theta"), -1.0);
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    for (call, fragment) in [
        ("--mechanism unary:categories=3 --epsilon 1", "needs a model of whole numbers"),
        ("--mechanism privunit:dimension=2 --epsilon 1 --model poisson --theta 1", "needs the Gaussian model"),
        ("--mechanism privunit:dimension=2 --epsilon 1 --theta 1", "--black-box"),
        ("--mechanism projunit:dimension=4 --epsilon 1", "--black-box"),
        ("--mechanism unary:categories=40 --epsilon 1 --model poisson --theta 1", "at most 16"),
        ("--mechanism sign --mechanism privunit --epsilon 1", "different numbers of coordinates"),
        ("--mechanism sign --epsilon 1 --model poisson --theta -1", "--theta -1 for poisson: theta must be positive"),
        ("--mechanism sing --epsilon 1", "did you mean 'sign'?"),
        ("--mechanism sign:treshold=1 --epsilon 1", "did you mean 'threshold'?"),
        ("--mechanism interval:cuts=1/x --epsilon 1", "cuts must be finite numbers separated by /, got '1/x'"),
        ("--mechanism interval:cuts=1/0 --epsilon 1", "strictly increasing"),
        ("--mechanism laplace:low=3,high=1 --epsilon 1", "--mechanism laplace:low=3,high=1"),
        ("--mechanism sign", "--epsilon is missing"),
        ("--mechanism sign --epsilon 1 --sweep threshold=1:0:5", "the ends do not increase"),
        ("--mechanism sign --epsilon 1 --sweep cuts=0:1:5", "sign has no key 'cuts'"),
        ("--mechanism sign --epsilon 1 --svg x.svg", "--sweep"),
        ("--epsilon 1", "--mechanism"),
        ("--mechanism sign --epsilon 1 --black-box 1", "--black-box"),
    ] {
        ldp(&format!("fisher {call}")).must_be_refused().saying(fragment);
    }
    let nowhere = "fisher --mechanism sign --sweep epsilon=1:2:3 --svg /nowhere/at/all.svg";
    ldp(nowhere).ends_at_once().failed_with(1).saying("/nowhere/at/all.svg");
}
