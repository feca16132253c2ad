//! Every key of every spec is read as what it is, and refused where it plays no part.

mod common;

use common::{Folder, ldp};
use serde_json::Value;

/// The names of a kind, each with its keys.
fn listed(kind: &str) -> Vec<(String, Vec<String>)> {
    let all = ldp("list --format json").with(kind).succeeds().json();
    let text = |value: &Value| value.as_str().expect("a name").to_owned();
    let keys = |entry: &Value| entry["keys"].as_array().expect("keys").iter().map(|key| text(&key["name"])).collect();
    all[kind].as_array().expect("a list").iter().map(|entry| (text(&entry["name"]), keys(entry))).collect()
}

/// Every estimator as it is, and the variants that other keys choose.
fn variants() -> Vec<(String, Vec<String>)> {
    let mut all = listed("estimators");
    for variant in [
        "efficient:pilot=2000",
        "liu:pilot=2000",
        "clipped-mean:mechanism=laplace",
        "vector-mean:mechanism=duchi-l2",
        "vector-mean:mechanism=privunit",
        "vector-mean:mechanism=projunit",
        "vector-gaussian:method=direction",
    ] {
        let keys =
            all.iter().find(|(name, _)| variant.starts_with(&format!("{name}:"))).expect("an estimator").1.clone();
        all.push((variant.to_owned(), keys));
    }
    all
}

/// The spec with one key more.
fn with(spec: &str, key: &str, value: &str) -> String {
    format!("{spec}{}{key}={value}", if spec.contains(':') { ',' } else { ':' })
}

fn simulate(spec: &str) -> common::Ldp {
    ldp("simulate --theta 0.5 --users 20000 --epsilon 1 --replications 1 --quiet --estimator").on(spec)
}

#[test]
fn a_malformed_value_is_refused_wherever_it_stands() {
    for (spec, keys) in variants() {
        for key in keys.iter().filter(|key| !spec.contains(&format!("{key}="))) {
            for malformed in ["?!", "nan", "-inf", "1e999"] {
                simulate(&with(&spec, key, malformed)).must_be_refused().saying(key).saying(&spec);
            }
        }
    }
    for (model, keys) in listed("models") {
        for key in &keys {
            let spec = with(&model, key, "?!");
            ldp("simulate --estimator one-stage --theta 0.5 --users 10 --epsilon 1 --model")
                .on(&spec)
                .must_be_refused()
                .saying(&spec);
        }
    }
    for (mechanism, keys) in listed("mechanisms") {
        for key in &keys {
            let spec = with(&mechanism, key, "?!");
            ldp("fisher --epsilon 1 --mechanism").on(&spec).must_be_refused().saying(&spec);
        }
    }
}

#[test]
fn a_key_without_a_part_is_refused_with_the_reason() {
    let pilot: &[&str] = &["low", "high", "scales", "beta"];
    let unused = |spec: &str| match spec {
        "efficient" | "liu" => (pilot, "pilot=none"),
        "efficient:pilot=2000" | "liu:pilot=2000" => (&["start"][..], "pilot=2000"),
        "vector-mean" => (&["projection"][..], "mechanism=duchi-linf"),
        "vector-mean:mechanism=duchi-l2" => (&["projection"][..], "mechanism=duchi-l2"),
        "vector-mean:mechanism=privunit" => (&["radius", "projection"][..], "mechanism=privunit"),
        "vector-mean:mechanism=projunit" => (&["radius"][..], "mechanism=projunit"),
        _ => (&[][..], ""),
    };
    for (spec, keys) in variants() {
        let (none, reason) = unused(&spec);
        assert!(none.iter().all(|key| keys.iter().any(|known| known == key)), "{spec}");
        for key in keys.iter().filter(|key| !spec.contains(&format!("{key}="))) {
            // A number that the key could have.
            let value = if key == "quantile" || key == "beta" { "0.1" } else { "3" };
            let ran = simulate(&with(&spec, key, value)).runs();
            let refused = ran.stderr.contains(&format!("does not use the key '{key}' with {reason}"));
            assert_eq!(refused, none.contains(&key.as_str()), "{ran:#?}");
            assert!(!refused || ran.code == Some(2), "{ran:#?}");
        }
    }
}

#[test]
fn a_sweep_and_a_study_need_keys_that_play_a_part_too() {
    ldp("risk --estimator efficient:start=0 --theta 0.5 --users 100 --epsilon 1 --sweep beta=0.01:0.1:3")
        .must_be_refused()
        .saying("efficient does not use the key 'beta' with pilot=none");
    let folder = Folder::new();
    let study = |spec: &str| {
        let text = format!(
            "kind = \"comparison\"\ntitle = \"t\"\nseed = 1\nreplications = 2\n[[estimators]]\nspec = \"{spec}\"\n[[grid]]\n\
             users = [100]\ntheta = [0.5]\nepsilon = [1]\n[figure]\nx = \"users\"\n"
        );
        ldp("compare --quiet").on(folder.file("study.toml", text)).with("--out").on(folder.path("out"))
    };
    study("liu:low=-8,high=8").must_be_refused().saying("line 6").saying("does not use the key 'low' with pilot=none");
    assert!(!folder.path("out").exists());
    study("liu").succeeds();
}
