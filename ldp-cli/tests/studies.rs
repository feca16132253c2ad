//! What studies can ask besides plain simulations: pairs, sums, families, and the bundled ones.

mod common;

use common::{Folder, ends, ldp, number};
use serde_json::Value;
use std::fs;

/// Runs a study, with flags, and returns its points.
fn points(study: &str, flags: &str) -> Vec<Value> {
    let folder = Folder::new();
    let file = folder.file("study.toml", study);
    let ran = ldp(&format!("compare --format json {flags}")).on(file).on("--out").on(folder.path("out")).succeeds();
    ran.json()["points"].as_array().unwrap().clone()
}

const PAIRED: &str = r#"kind = "comparison"
title = "On the same users"
seed = 5
replications = 400
fidelity = "users"
paired = "base"
[[estimators]]
label = "base"
spec = "one-stage:start=0"
[[estimators]]
label = "same"
spec = "one-stage:start=0"
[[estimators]]
label = "near"
spec = "one-stage"
[[grid]]
users = 200
start = 0.1
theta = 0
epsilon = 2
[figure]
x = "users"
y = "ratio"
"#;

#[test]
fn protocols_are_compared_on_the_same_users() {
    let points = points(PAIRED, "");
    let [base, same, near] = &points[..] else { panic!("{points:#?}") };
    assert!(base["ratio"].is_null() && base["ratio_interval"].is_null());
    // The same protocol on the same users makes the same errors.
    assert_eq!((number(same, "ratio"), &same["ratio_interval"]), (1.0, &serde_json::json!([1.0, 1.0])));
    let [low, high] = ends(near, "ratio_interval");
    let ratio = number(near, "ratio");
    assert!(low < ratio && ratio < high);
    assert!((ratio - number(near, "scaled_mse") / number(base, "scaled_mse")).abs() < 1e-12);
    // On common users the ratio is known far better than from the intervals of its parts.
    let relative = |point: &Value| ends(point, "scaled_mse_interval").map(|end| end / number(point, "scaled_mse"));
    let [apart_low, apart_high] = relative(near);
    assert!(high / ratio - low / ratio < apart_high - apart_low, "{low} to {high}");
    // All of them with the seed of the study, so that user i is the same.
    assert!(points.iter().all(|point| point["seed"] == 5 && point["fidelity"] == "users"));
}

#[test]
fn sums_have_a_bound_of_their_error_and_no_interval() {
    let study = r#"kind = "comparison"
title = "Sums"
seed = 5
replications = 20000
[[estimators]]
label = "drawn"
spec = "two-stage:start=0,first-stage=134"
[[estimators]]
label = "summed"
spec = "two-stage:start=0,first-stage=134"
fidelity = "exact"
[[grid]]
users = 1000
theta = 0.5
epsilon = 1
[figure]
x = "users"
"#;
    let points = points(study, "");
    let [drawn, summed] = &points[..] else { panic!("{points:#?}") };
    assert!((number(summed, "scaled_mse") - 9.426).abs() < 1e-3, "{summed:#}");
    assert!(number(summed, "scaled_mse_error") < 1e-6);
    for field in ["scaled_mse_interval", "replications", "coverage", "width", "fallbacks"] {
        assert!(summed[field].is_null(), "{field}");
    }
    // The interval of a simulation with this seed holds the sum: 95 % of all seeds do.
    let [low, high] = ends(drawn, "scaled_mse_interval");
    assert!(low < 9.426 && 9.426 < high && drawn["scaled_mse_error"].is_null(), "{low} to {high}");
    assert_ne!(drawn["seed"], 5);
    // Real reports cannot be summed.
    let folder = Folder::new();
    let real = study
        .replace("\"two-stage:start=0,first-stage=134\"\nfidelity", "\"clipped-mean:mechanism=laplace\"\nfidelity");
    let file = folder.file("study.toml", real);
    ldp("compare")
        .on(file)
        .on("--out")
        .on(folder.path("out"))
        .must_be_refused()
        .saying("line 10: 'summed' at users 1000");
}

#[test]
fn a_protocol_without_the_key_of_the_axis_is_one_point_and_a_level_line() {
    let study = r#"kind = "comparison"
title = "Levels"
seed = 5
replications = 100
models = ["gaussian", "logistic"]
[[estimators]]
spec = "two-stage"
[[estimators]]
spec = "one-stage"
[[grid]]
users = 1000
first-stage = [50, 100, 200]
theta = 0
epsilon = 1
[figure]
x = "first-stage"
"#;
    let folder = Folder::new();
    let (file, out) = (folder.file("study.toml", study), folder.path("out"));
    let ran = ldp("compare --format json").on(file).on("--out").on(&out).succeeds();
    // The protocols are made for Gaussian values, and it is said once for each of them.
    assert_eq!(ran.stderr.matches("takes the values to be Gaussian").count(), 4, "{}", ran.stderr);
    let shown = ran.json();
    let points = shown["points"].as_array().unwrap();
    assert_eq!(points.iter().filter(|point| point["label"] == "one-stage").count(), 2);
    assert_eq!(points.len(), 8);
    let svg = fs::read_to_string(out.join("figure.svg")).unwrap();
    // Long names are set in several lines.
    let texts = svg.split("<text").skip(1).filter_map(|text| text.split('>').nth(1)?.split('<').next());
    let texts = texts.collect::<Vec<_>>().join(" ");
    for label in ["two-stage, gaussian:sigma=1", "one-stage, logistic:scale=1"] {
        assert!(texts.contains(label), "{label} in {texts}");
    }
}

#[test]
fn lines_are_told_apart_by_what_changes() {
    let study = r#"kind = "comparison"
title = "Lines"
seed = 5
replications = 50
[[estimators]]
spec = "one-stage"
[[grid]]
users = [100, 1000]
start = [-1, 0.5]
theta = 0.5
epsilon = [0.5, 1]
[figure]
x = "start-theta"
y_scale = "log"
x_label = "how far off"
lines = ["bound", "non-private"]
"#;
    let folder = Folder::new();
    let svg = |study: &str, name: &str| {
        let (file, out) = (folder.file("study.toml", study), folder.path(name));
        ldp("compare").on(file).on("--out").on(&out).succeeds();
        fs::read_to_string(out.join("figure.svg")).unwrap()
    };
    let all = svg(study, "all");
    // The bound depends on ε, what is possible without privacy on nothing here.
    for text in [
        "n = 100, ε = 0.5<",
        "n = 1,000, ε = 1<",
        "bound, ε = 0.5<",
        "bound, ε = 1<",
        ">without privacy<",
        "how far off",
    ] {
        assert!(all.contains(text), "{text} is not in {all}");
    }
    assert!(!all.contains("one-stage"));
    let some = svg(&study.replace("x_label", "by = [\"estimator\"]\nx_label"), "some");
    assert!(some.contains(">one-stage<") && !some.contains("n = 100"), "{some}");
    let covered = study.replace("lines = [\"bound\", \"non-private\"]", "y = \"coverage\"");
    assert!(svg(&covered, "covered").contains(">coverage<"));
}

#[test]
fn bundled_studies_run_by_either_command() {
    let folder = Folder::new();
    let (one, two) = (folder.path("one"), folder.path("two"));
    let shard = ldp("compare figure-2 --replications 20 --format json --shard 1/4 --out").on(&one).succeeds().json();
    let points = shard["points"].as_array().unwrap();
    assert_eq!((points.len(), &shard["shard"]), (4, &"1/4".into()));
    for point in points {
        assert!((number(point, "bound") - 7.3556).abs() < 1e-4 && (number(point, "one_stage") - 9.149).abs() < 5e-4);
    }
    ldp("reproduce figure-2 --out").on(&one).must_be_refused().saying("record.json holds another study");
    // Another number of replications is another study; the same by another command is the same.
    ldp("compare default --replications 2 --seed 3 --out").on(&two).succeeds();
    ldp("compare --replications 2 --seed 3 --out").on(&two).succeeds();
    // Results in a folder of the name of the study do not stand in its way.
    fs::rename(&one, folder.path("figure-2")).unwrap();
    let mut again = ldp("compare figure-2 --replications 20 --shard 1/4 --out figure-2").into_command();
    assert!(again.current_dir(folder.path("")).output().unwrap().status.success());
}
