//! `ldp compare` on tiny studies: what it finds, what it keeps, and what it refuses.

mod common;

use common::{Folder, ldp, number};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A study of a second at most: six points, one of them in both grids.
const TINY: &str = r#"kind = "comparison"
title = "A tiny study"
seed = 7
replications = 300
models = ["gaussian"]

[[estimators]]
label = "two"
spec = "two-stage:start=0"
[[estimators]]
spec = "one-stage:start=0"
replications = 200

[[grid]]
users = [100, 1e3]
first-stage = 20
theta = 0.5
epsilon = 1
[[grid]]
users = [1000, 2000]
first-stage = [20]
theta = 0.5
epsilon = 1

[figure]
x = "users"
y = "scaled_mse"
x_scale = "log"
lines = ["bound", "one-stage", "non-private"]
one_stage_distance = 0.5
"#;

/// Everything in a folder but `run.json`, by name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .filter(|(name, _)| name != "run.json")
        .collect();
    all.sort();
    all
}

fn record(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("record.json")).unwrap()).unwrap()
}

/// A study with one text in place of another is refused, at once and saying this; nothing is written.
fn refused(from: &str, to: &str, said: &str) {
    assert!(TINY.contains(from), "{from}");
    let folder = Folder::new();
    let study = folder.file("study.toml", TINY.replacen(from, to, 1));
    let out = folder.path("out");
    let ran = ldp("compare").on(&study).on("--out").on(&out).must_be_refused();
    assert!(ran.stderr.contains("study.toml"), "{ran:#?}");
    ran.saying(said);
    assert!(!out.exists());
}

#[test]
fn a_study_is_run_kept_and_shown() {
    let folder = Folder::new();
    let (study, out) = (folder.file("study.toml", TINY), folder.path("out"));
    let ran = ldp("compare --format json").on(&study).on("--out").on(&out).succeeds().silently();
    let names: Vec<String> = files(&out).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["data.csv", "figure.png", "figure.svg", "record.json", "report.html"]);
    assert!(out.join("run.json").exists());
    let record = record(&out);
    assert_eq!(record, ran.json());
    assert_eq!(
        (&record["schema"], &record["command"], &record["study"]),
        (&2.into(), &"compare".into(), &"study.toml".into())
    );
    let points = record["points"].as_array().unwrap();
    // The union of the grids, in their order, each point once: the number of the second 1000 is missing.
    let shown: Vec<_> = points
        .iter()
        .map(|point| {
            (point["index"].as_u64().unwrap(), point["label"].as_str().unwrap(), point["users"].as_u64().unwrap())
        })
        .collect();
    let one = "one-stage:start=0";
    assert_eq!(
        shown,
        [(0, "two", 100), (1, one, 100), (2, "two", 1000), (3, one, 1000), (6, "two", 2000), (7, one, 2000)]
    );
    for point in points {
        let [low, high] = common::ends(point, "scaled_mse_interval");
        assert!(low < number(point, "scaled_mse") && number(point, "scaled_mse") < high);
        let bound = number(point, "bound");
        assert!((bound - 7.355_6).abs() < 1e-4);
        assert!((number(point, "efficiency") * number(point, "scaled_mse") / bound - 1.0).abs() < 1e-12);
        assert!((number(point, "one_stage") - 9.149).abs() < 1e-3 && number(point, "nonprivate") == 1.0);
        assert!(number(point, "coverage") > 0.85 && number(point, "width") > 0.0);
    }
    assert_eq!(points[0]["keys"], serde_json::json!({ "first-stage": 20 }));
    assert_eq!(points[1]["keys"], serde_json::json!({}));
    assert_eq!((&points[0]["replications"], &points[1]["replications"]), (&300.into(), &200.into()));
    let csv = fs::read_to_string(out.join("data.csv")).unwrap();
    assert_eq!(csv.lines().count(), 7);
    assert!(csv.starts_with("index,label,") && csv.lines().next().unwrap().ends_with(",first-stage"));
    let svg = fs::read_to_string(out.join("figure.svg")).unwrap();
    for text in ["A tiny study", "bound", "one stage, limit", "without privacy", ">two<", one] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains("ldp compare study.toml --out DIR"));
    assert!(fs::read(out.join("figure.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_point_is_made_again_by_simulate() {
    let folder = Folder::new();
    let (study, out) = (folder.file("study.toml", TINY), folder.path("out"));
    ldp("compare").on(&study).on("--out").on(&out).succeeds();
    for point in record(&out)["points"].as_array().unwrap() {
        let text = |field: &str| point[field].to_string().trim_matches('"').to_owned();
        let typed = format!(
            "simulate --format json --estimator {} --model {} --theta {} --users {} --epsilon {} --replications {} --seed {}",
            text("estimator"),
            text("model"),
            text("theta"),
            text("users"),
            text("epsilon"),
            text("replications"),
            text("seed")
        );
        let again = ldp(&typed).succeeds().json();
        for field in ["scaled_mse", "bias", "variance", "bound", "efficiency", "coverage"] {
            assert_eq!(again[field], point[field], "{field} of {typed}");
        }
    }
}

#[test]
fn threads_shards_and_drawing_again_change_no_byte() {
    let folder = Folder::new();
    let study = folder.file("study.toml", TINY);
    let run = |name: &str, flags: &str| {
        let out = folder.path(name);
        let ran = ldp(&format!("compare {flags}")).on(&study).on("--out").on(&out).succeeds();
        (files(&out), ran.stdout)
    };
    let (once, shown) = run("once", "--threads 1");
    assert_eq!(run("twice", "--threads 2"), (once.clone(), shown.clone()));
    // Shards in another order than they are joined.
    for part in [2, 3, 1] {
        run(&format!("part-{part}"), &format!("--shard {part}/3"));
    }
    let whole = folder.path("whole");
    let merge = |parts: [&str; 3]| parts.iter().fold(ldp("merge"), |call, part| call.on(folder.path(part))).on("--out");
    let joined = merge(["part-1", "part-3", "part-2"]).on(&whole).succeeds();
    assert!(files(&whole) == once && joined.stdout == shown);
    let again = folder.path("again");
    ldp("compare --from").on(folder.path("once/record.json")).on("--out").on(&again).succeeds();
    assert!(files(&again) == once);
    // A finished study is not computed again, but drawn.
    let run_json = fs::read(folder.path("once/run.json")).unwrap();
    fs::remove_file(folder.path("once/figure.svg")).unwrap();
    assert_eq!(run("once", ""), (once, shown));
    assert_eq!(fs::read(folder.path("once/run.json")).unwrap(), run_json);
    // Another seed is another study.
    let (other, _) = run("other", "--seed 8");
    assert_ne!(other, files(&whole));
}

#[test]
fn what_is_not_all_shards_of_one_study_is_refused() {
    let folder = Folder::new();
    let study = folder.file("study.toml", TINY);
    let other = folder.file("other.toml", TINY.replace("seed = 7", "seed = 8"));
    let run = |name: &str, study: &Path, flags: &str| {
        ldp(&format!("compare {flags}")).on(study).on("--out").on(folder.path(name)).succeeds();
    };
    run("a", &study, "--shard 1/2");
    run("b", &study, "--shard 2/2");
    run("c", &study, "--shard 1/3");
    run("d", &other, "--shard 2/2");
    run("e", &study, "");
    let out = folder.path("whole");
    let merge = |parts: &[&str]| {
        parts.iter().fold(ldp("merge"), |call, part| call.on(folder.path(part))).on("--out").on(&out).must_be_refused()
    };
    merge(&["a"]).saying("missing: shard 2/2");
    merge(&["a", "a"]).saying("shard 1/2 is there twice");
    merge(&["a", "c"]).saying("parted differently");
    merge(&["a", "d"]).saying("is of another study");
    merge(&["a", "e"]).saying("this is a whole study, not a shard");
    merge(&["a", "nowhere"]).saying("nowhere");
    assert!(!out.exists());
    ldp("merge").on(folder.path("a")).on(folder.path("b")).on("--out").on(folder.path("e")).succeeds();
    fs::create_dir(folder.path("mine")).unwrap();
    let taken = folder.file("mine/data.csv", "mine");
    ldp("merge").on(folder.path("a")).on(folder.path("b")).on("--out").on(taken.parent().unwrap()).must_be_refused();
    assert_eq!(fs::read_to_string(taken).unwrap(), "mine");
}

#[test]
fn faults_of_a_study_are_named_with_their_line() {
    refused("seed = 7", "seed = 7\nsede = 8", "there is no key 'sede' (did you mean 'seed'?)");
    refused("seed = 7", "seed = 7\nsede = 8", "line 4");
    refused("label = \"two\"", "lable = \"two\"", "there is no key 'lable' (did you mean 'label'?)");
    refused(
        "two-stage:start=0",
        "tow-stage:start=0",
        "line 9: unknown estimator 'tow-stage' (did you mean 'two-stage'?)",
    );
    refused("two-stage:start=0", "two-stage:strat=0", "line 9: two-stage has no key 'strat'");
    refused("two-stage:start=0", "two-stage:start", "line 9: expected key=value");
    refused("\"gaussian\"", "\"gausian\"", "line 5: unknown model 'gausian'");
    refused(
        "label = \"two\"",
        "label = \"one-stage:start=0\"",
        "line 11: the label 'one-stage:start=0' is there twice",
    );
    refused("first-stage = 20", "frist-stage = 20", "line 16: no estimator and no model has a key 'frist-stage'");
    refused("first-stage = 20", "start = 20", "line 16: 'start' changes nothing");
    refused("users = [100, 1e3]", "users = []", "line 15: users has no values: the grid is empty");
    refused("users = [100, 1e3]", "users = [0.5]", "line 15: users must be a whole number");
    refused("users = [100, 1e3]\n", "", "line 14: the grid has no users");
    refused("epsilon = 1\n", "epsilon = -1\n", "line 18: ");
    refused("theta = 0.5", "theta = nan", "line 17: theta must be finite");
    refused("replications = 200", "replications = 0", "whole number from 1");
    refused("replications = 300", "replications = 1e9", "line 4: replications must be at most 100000000");
    refused(
        "x = \"users\"",
        "x = \"user\"",
        "x must be one of users, epsilon, theta, first-stage, start-theta, not 'user'",
    );
    refused("y = \"scaled_mse\"", "y = \"mse\"", "'mse'");
    refused("one_stage_distance = 0.5\n", "", "need a one_stage_distance");
    refused("y = \"scaled_mse\"", "y = \"ratio\"", "lines are those of y = \"scaled_mse\"");
    // What a protocol refuses is known only at the point.
    refused(
        "users = [100, 1e3]",
        "users = [10, 1e3]",
        "line 9: 'two' at users 10, epsilon 1, theta 0.5, first-stage 20 (of the grid at line 14)",
    );
    refused("seed = 7", "seed = 7\npaired = \"twoo\"", "line 4: paired is 'twoo' (did you mean 'two'?)");
    refused("seed = 7", "seed = 7\npaired = \"two\"", "paired needs fidelity = \"users\"");
}

#[test]
fn points_that_a_protocol_refuses_can_be_left_out() {
    let folder = Folder::new();
    let text = TINY.replace("seed = 7", "seed = 7\ninfeasible = \"skip\"").replacen("[100, 1e3]", "[10, 1e3]", 1);
    let (study, out) = (folder.file("study.toml", text), folder.path("out"));
    let ran = ldp("compare").on(&study).on("--out").on(&out).succeeds();
    assert!(ran.stdout.contains("'two' was left out"), "{}", ran.stdout);
    let record = record(&out);
    assert_eq!((record["points"].as_array().unwrap().len(), record["skipped"].as_array().unwrap().len()), (5, 1));
    assert_eq!(record["skipped"][0]["at"], "users 10, epsilon 1, theta 0.5, first-stage 20");
}

#[test]
fn a_large_grid_is_asked_about_before_anything() {
    let folder = Folder::new();
    let many = TINY.replacen("users = [100, 1e3]", "users = \"100:1e6:100\"", 1).replacen(
        "theta = 0.5",
        "theta = \"0:1:400\"",
        1,
    );
    let (study, out) = (folder.file("study.toml", many), folder.path("out"));
    let ran = ldp("compare").on(&study).on("--out").on(&out).must_be_refused();
    ran.saying("the study has up to 80004 points, about ").saying("threads; --yes runs it");
    assert!(!out.exists());
}

#[test]
fn folders_that_hold_something_else_are_left_alone() {
    let folder = Folder::new();
    let study = folder.file("study.toml", TINY);
    let run = |out: &Path, flags: &str| ldp(&format!("compare {flags}")).on(&study).on("--out").on(out);
    let file = folder.file("taken", "what was there before");
    run(&file, "").must_be_refused().saying("taken: this is not a folder");
    assert_eq!(fs::read_to_string(&file).unwrap(), "what was there before");
    run(&file.join("below"), "").must_be_refused().saying("--out");
    for nowhere in ["/proc/nowhere", "/proc"] {
        run(Path::new(nowhere), "").must_be_refused().saying(&format!("--out {nowhere}: the folder cannot be"));
    }
    // A folder with a file of someone else.
    let mine = folder.path("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("data.csv"), "mine").unwrap();
    run(&mine, "").must_be_refused().saying("data.csv is there already");
    assert_eq!(files(&mine), [("data.csv".to_owned(), b"mine".to_vec())]);
    // A folder with another study.
    let out = folder.path("out");
    run(&out, "").succeeds();
    let before = files(&out);
    run(&out, "--seed 9").must_be_refused().saying("record.json holds another study").saying("--overwrite");
    run(&out, "--shard 1/2").must_be_refused().saying("the whole study, not a shard");
    assert_eq!(files(&out), before);
    run(&out, "--seed 9 --overwrite").succeeds();
    assert_ne!(files(&out), before);
}

#[test]
fn records_of_other_forms_are_refused() {
    let folder = Folder::new();
    let (study, out) = (folder.file("study.toml", TINY), folder.path("out"));
    ldp("compare").on(&study).on("--out").on(&out).succeeds();
    let path = out.join("record.json");
    let text = fs::read_to_string(&path).unwrap();
    let from = |text: String| {
        let record = folder.file("other.json", text);
        ldp("compare --from").on(record).on("--out").on(folder.path("again")).must_be_refused().saying("other.json")
    };
    from(text.replacen("\"schema\": 2", "\"schema\": 3", 1))
        .saying("has schema 3, and this version of ldp reads schema 2 and 1");
    from(text.replacen("\"bias\"", "\"bais\"", 1)).saying("unknown field `bais`");
    from("{}".into()).saying("not a record of ldp compare");
    from(String::new()).saying("not a record of ldp compare");
    // The same where a study would go on.
    let newer = text.replacen("\"schema\": 2", "\"schema\": 3", 1);
    fs::write(&path, &newer).unwrap();
    ldp("compare").on(&study).on("--out").on(&out).must_be_refused().saying("schema 3");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    fs::write(&path, &text).unwrap();
    ldp("compare --out /proc --from").on(&path).must_be_refused().saying("--out /proc: the folder cannot be written");
    ldp("compare --from nowhere.json --out").on(folder.path("again")).must_be_refused().saying("nowhere.json");
    assert!(!folder.path("again").exists());
}

#[test]
fn tables_come_in_every_form() {
    let folder = Folder::new();
    let study = folder.file("study.toml", TINY);
    let show =
        |flags: &str| ldp(&format!("compare {flags}")).on(&study).on("--out").on(folder.path("out")).succeeds().stdout;
    let human = show("");
    assert!(human.starts_with("A tiny study\n") && human.contains("95 % interval") && human.contains("efficiency"));
    let markdown = show("--markdown");
    let lines: Vec<&str> = markdown.lines().collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[1].matches("---").count(), lines[0].matches('|').count() - 1);
    assert!(lines[2].starts_with("| two | 100 |"), "{}", lines[2]);
    assert_eq!(show("--format csv"), fs::read_to_string(folder.path("out/data.csv")).unwrap());
}

#[test]
fn a_name_that_is_neither_file_nor_study_is_refused() {
    let folder = Folder::new();
    let run = |name: &str| ldp(&format!("compare {name} --out")).on(folder.path("out")).must_be_refused();
    run("figur-2").saying("did you mean 'figure-2'?");
    run("nowhere.toml").saying("nowhere.toml");
    run("first-stage-growth").saying("ldp reproduce runs it");
    run("figure-2 --shard 3/2").saying("a shard is I/M");
    run("figure-2 --replications 1e12").saying("--replications 1000000000000: must be at most 100000000");
    run("figure-2 --from record.json").saying("cannot be used with");
}
