//! What a study keeps: numbers before figures, a digest of them, and looks that can change without working anything out.

mod common;

use common::{Folder, ldp};
use serde_json::Value;
use std::fs;
use std::path::Path;

const STUDY: &str = r#"kind = "comparison"
title = "Kept"
seed = 7
replications = 300

[[estimators]]
label = "two"
spec = "two-stage:start=0"
[[estimators]]
label = "one"
spec = "one-stage:start=0"

[[grid]]
users = [100, 1000]
theta = 0.5
epsilon = 1

[figure]
x = "users"
lines = ["bound"]
"#;

fn run(study: &Path, out: &Path) -> common::Ldp {
    ldp("compare").on(study).on("--out").on(out)
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What was found, without the names of protocols and the line of one stage, which belong to the looks.
fn numbers(out: &Path) -> Vec<Value> {
    let mut points = json(&out.join("record.json"))["points"].as_array().unwrap().clone();
    for point in &mut points {
        point["label"] = Value::Null;
        point["one_stage"] = Value::Null;
    }
    points
}

#[test]
fn looks_change_without_working_anything_out() {
    let folder = Folder::new();
    let out = folder.path("out");
    run(&folder.file("study.toml", STUDY), &out).succeeds();
    let (before, ran) = (numbers(&out), fs::read(out.join("run.json")).unwrap());
    for (from, to, seen) in [
        ("\"Kept\"", "\"Another title\"", "Another title"),
        ("label = \"two\"", "label = \"two rounds\"", "two rounds"),
        ("x = \"users\"", "x = \"users\"\nx_label = \"how many\"", "how many"),
        ("x = \"users\"", "x = \"users\"\ny_label = \"how far\"", "how far"),
        ("x = \"users\"", "x = \"users\"\nx_scale = \"log\"\ny_scale = \"log\"\ny_range = [1, 100]", "100"),
        ("lines = [\"bound\"]", "lines = [\"one-stage\"]\none_stage_distance = 0.25", "one stage, limit"),
        ("lines = [\"bound\"]\n", "y = \"coverage\"", "coverage"),
    ] {
        assert!(STUDY.contains(from));
        let study = folder.file("study.toml", STUDY.replacen(from, to, 1));
        run(&study, &out).succeeds();
        assert_eq!(numbers(&out), before, "{to}");
        // Written by whoever works something out.
        assert_eq!(fs::read(out.join("run.json")).unwrap(), ran, "{to}");
        let svg = fs::read_to_string(out.join("figure.svg")).unwrap();
        assert!(svg.contains(seen), "{seen} in {svg}");
        // The same bytes as if it had been asked so from the beginning.
        let fresh = folder.path("fresh");
        run(&study, &fresh).succeeds();
        for file in ["record.json", "data.csv", "figure.svg", "figure.png", "report.html"] {
            assert!(fs::read(out.join(file)).unwrap() == fs::read(fresh.join(file)).unwrap(), "{file} with {to}");
        }
        fs::remove_dir_all(fresh).unwrap();
    }
    // What the numbers depend on is another study.
    for (from, to) in [
        ("seed = 7", "seed = 8"),
        ("replications = 300", "replications = 301"),
        ("theta = 0.5", "theta = 0.6"),
        ("spec = \"one-stage:start=0\"", "spec = \"one-stage:start=0.1\""),
        ("seed = 7", "seed = 7\nlevel = 0.9"),
        ("seed = 7", "seed = 7\nmodels = [\"gaussian:sigma=2\"]"),
        ("seed = 7", "seed = 7\nfidelity = \"users\""),
    ] {
        let study = folder.file("study.toml", STUDY.replacen(from, to, 1));
        run(&study, &out).must_be_refused().saying("record.json holds another study");
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_with_other_looks() {
    let folder = Folder::new();
    let (whole, out) = (folder.path("whole"), folder.path("out"));
    run(&folder.file("study.toml", STUDY), &whole).succeeds();
    let journal = begun(&whole, 2);
    fs::create_dir(&out).unwrap();
    fs::write(out.join("points.jsonl"), journal).unwrap();
    let study = folder.file("study.toml", STUDY.replace("label = \"two\"", "label = \"renamed\""));
    run(&study, &out).succeeds();
    assert_eq!((numbers(&out), json(&out.join("run.json"))["resumed_from"].as_u64()), (numbers(&whole), Some(2)));
    assert!(fs::read_to_string(out.join("data.csv")).unwrap().contains(",renamed,"));
}

/// The journal of a study that was stopped after so many points, from its record.
fn begun(out: &Path, points: usize) -> String {
    let text = fs::read_to_string(out.join("record.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let head = serde_json::json!({
        "schema": 2, "command": "compare", "version": record["version"], "fingerprint": record["fingerprint"],
        "shard": null,
    });
    let mut lines = vec![head.to_string()];
    for point in record["points"].as_array().unwrap().iter().take(points) {
        let digest = sha256(point.to_string().as_bytes());
        lines.push(serde_json::json!({ "digest": format!("sha256:{digest}"), "point": point }).to_string());
    }
    lines.join("\n") + "\n"
}

/// By the system's program, so that it is not ours that judges ours.
fn sha256(bytes: &[u8]) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn the_digest_is_as_documented() {
    let folder = Folder::new();
    let out = folder.path("out");
    run(&folder.file("study.toml", STUDY), &out).succeeds();
    let record = json(&out.join("record.json"));
    let points: String = record["points"].as_array().unwrap().iter().map(|point| point.to_string() + "\n").collect();
    let lines = format!("{}\nwhole\n{points}", record["fingerprint"].as_str().unwrap());
    assert_eq!(record["digest"], format!("sha256:{}", sha256(lines.as_bytes())));
}

#[test]
fn a_number_that_was_changed_is_noticed() {
    let folder = Folder::new();
    let study = folder.file("study.toml", STUDY);
    let out = folder.path("out");
    run(&study, &out).succeeds();
    let path = out.join("record.json");
    let text = fs::read_to_string(&path).unwrap();
    let from = |record: &Path| ldp("compare --from").on(record).on("--out").on(folder.path("again"));
    let (mut record, mut changed): (Value, _) = (serde_json::from_str(&text).unwrap(), 0);
    // One digit anywhere in what was found; fifty places of a fixed generator.
    let places: Vec<usize> = {
        let points = text.find("\"points\"").unwrap();
        let digits: Vec<usize> =
            (points..text.find("\"skipped\"").unwrap()).filter(|&at| text.as_bytes()[at].is_ascii_digit()).collect();
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            digits[(state >> 33) as usize % digits.len()]
        };
        (0..50).map(|_| next()).collect()
    };
    for place in places {
        let mut bytes = text.clone().into_bytes();
        bytes[place] = if bytes[place] == b'9' { b'7' } else { bytes[place] + 1 };
        // The last of seventeen digits may leave the number what it is.
        if serde_json::from_slice::<Value>(&bytes).is_ok_and(|value| value == record) {
            continue;
        }
        from(&folder.file("changed.json", &bytes)).must_be_refused().saying("changed.json: ");
        changed += 1;
    }
    assert!(changed > 40);
    // What was expected is said.
    let digest = record["digest"].as_str().unwrap().to_owned();
    record["points"][1]["bias"] = Value::from(0.25);
    let changed = folder.file("changed.json", record.to_string());
    from(&changed).must_be_refused().saying("what was found has been changed").saying(&digest);
    // The settings that gave the numbers, too.
    let other = text.replacen("\"seed\": 7", "\"seed\": 8", 1);
    assert_ne!(other, text);
    from(&folder.file("other.json", other))
        .must_be_refused()
        .saying("the settings are not those that gave these numbers");
    // Where a study would go on, and where shards are joined.
    fs::write(&path, record.to_string()).unwrap();
    run(&study, &out).must_be_refused().saying("has been changed since");
    for part in [1, 2] {
        run(&study, &folder.path(&format!("part-{part}"))).with(&format!("--shard {part}/2")).succeeds();
    }
    let part = folder.path("part-2/record.json");
    let text = fs::read_to_string(&part).unwrap();
    let mut shard: Value = serde_json::from_str(&text).unwrap();
    shard["points"][0]["scaled_mse"] = Value::from(1.0);
    fs::write(&part, shard.to_string()).unwrap();
    let merge =
        || ldp("merge").on(folder.path("part-1")).on(folder.path("part-2")).on("--out").on(folder.path("whole"));
    merge().must_be_refused().saying("part-2").saying("has been changed since");
    assert!(!folder.path("whole").exists() && !folder.path("again").exists());
    // Names belong to the looks: they may be changed by hand.
    let named = fs::read_to_string(folder.path("part-1/record.json")).unwrap();
    let named = named.replace("\"title\": \"Kept\"", "\"title\": \"By hand\"");
    from(&folder.file("named.json", named)).succeeds();
}

#[test]
fn a_journal_that_was_changed_is_noticed() {
    let folder = Folder::new();
    let study = folder.file("study.toml", STUDY);
    let (whole, out) = (folder.path("whole"), folder.path("out"));
    run(&study, &whole).succeeds();
    let journal = begun(&whole, 3);
    fs::create_dir(&out).unwrap();
    let place = out.join("points.jsonl");
    fs::write(&place, journal.replacen("\"bias\":", "\"bias\":1", 1)).unwrap();
    run(&study, &out).must_be_refused().saying("points.jsonl line").saying("changed since it was written");
    fs::write(&place, journal).unwrap();
    run(&study, &out).succeeds();
    assert_eq!(numbers(&out), numbers(&whole));
}

#[test]
fn a_record_of_the_first_schema_is_drawn_with_a_warning() {
    let folder = Folder::new();
    let (study, out) = (folder.file("study.toml", STUDY), folder.path("out"));
    run(&study, &out).succeeds();
    let mut record = json(&out.join("record.json"));
    record["schema"] = 1.into();
    record.as_object_mut().unwrap().remove("digest");
    let old = folder.file("old.json", record.to_string());
    let again = folder.path("again");
    let ran = ldp("compare --from").on(&old).on("--out").on(&again).succeeds();
    assert!(ran.stderr.starts_with("warning: ") && ran.stderr.contains("without a digest"), "{ran:#?}");
    assert_eq!(fs::read(again.join("record.json")).unwrap(), fs::read(out.join("record.json")).unwrap());
    // A study does not go on from it.
    fs::copy(&old, out.join("record.json")).unwrap();
    run(&study, &out).must_be_refused().saying("a record of schema 1, and this version of ldp writes schema 2");
}

/// A study with so many lines, two points each.
fn lines(count: usize, figure: &str) -> String {
    format!(
        "kind = \"comparison\"\ntitle = \"Lines\"\nseed = 1\nreplications = 2\n[[estimators]]\nspec = \"one-stage\"\n\
         [[grid]]\nusers = 10\nstart = \"0:1:{count}\"\ntheta = [0, 1]\nepsilon = 1\n[figure]\nx = \"theta\"\n{figure}"
    )
}

#[test]
fn a_figure_that_cannot_be_drawn_is_refused_before_the_work() {
    let folder = Folder::new();
    let out = folder.path("out");
    let long = |text: String| {
        let name = "a name that takes three lines beside the figure, of which there are only so many, if any";
        let label = |spec: &str, more: &str| format!("label = \"{name}{more}\"\nspec = \"{spec}\"");
        let both = format!("{}\n[[estimators]]\n{}", label("one-stage", ""), label("two-stage", " more"));
        text.replace("spec = \"one-stage\"", &both)
    };
    for (text, said) in
        [(lines(2000, ""), "more than 250 lines"), (long(lines(60, "")), "120 lines, whose names need a height of")]
    {
        let study = folder.file("study.toml", text);
        run(&study, &out).must_be_refused().saying("[figure]: it has").saying(said);
        assert!(!out.exists());
    }
    // The same study with another figure can be drawn, and so can one of many lines.
    for (count, figure) in [(2000, "by = [\"estimator\"]"), (60, ""), (50, "lines = [\"bound\", \"non-private\"]")] {
        let study = folder.file("study.toml", lines(count, figure));
        run(&study, &out).with("--format csv").succeeds();
        assert!(out.join("figure.png").exists());
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn a_study_that_memory_cannot_hold_is_refused_before_the_work() {
    let folder = Folder::new();
    let out = folder.path("out");
    let many = lines(10_000, "").replace("theta = [0, 1]", "theta = \"0:1:11\"");
    let study = folder.file("study.toml", many);
    run(&study, &out).with("--yes").must_be_refused().saying("up to 110000 points").saying("at most 100000");
    ldp("compare /dev/zero --out").on(&out).must_be_refused().saying("at most 1048576 bytes");
    assert!(!out.exists());
}

#[test]
fn values_near_the_end_of_double_precision_are_drawn() {
    let folder = Folder::new();
    for (number, figure) in [
        "x = \"epsilon\"\nx_scale = \"log\"",
        "x = \"epsilon\"",
        "x = \"users\"\ny_range = [-1.7e308, 1.7e308]",
        "x = \"users\"\ny_range = [1e-308, 1.7e308]\ny_scale = \"log\"",
        "x = \"users\"\ny_range = [4e-324, 9e-324]",
    ]
    .into_iter()
    .enumerate()
    {
        let text = STUDY
            .replace("x = \"users\"\nlines = [\"bound\"]", figure)
            .replace("epsilon = 1", "epsilon = [1, 1.7e308]");
        assert!(text.contains(figure));
        let (study, out) = (folder.file("study.toml", text), folder.path(&format!("out-{number}")));
        run(&study, &out).succeeds();
        assert!(out.join("figure.png").exists(), "{figure}");
    }
    // Errors whose squares overflow are found before the work, not at the last of many points.
    let text = STUDY.replace("start=0\"", "start=1.7e308\"").replace("replications = 300", "replications = 1e8");
    let (study, out) = (folder.file("study.toml", text), folder.path("overflow"));
    run(&study, &out).must_be_refused().saying("overflow double precision").saying("line 8: 'two' at users 100");
    assert!(!out.exists());
}

#[test]
fn a_file_of_someone_else_in_a_finished_folder_is_left_alone() {
    let folder = Folder::new();
    let (study, out) = (folder.file("study.toml", STUDY), folder.path("out"));
    run(&study, &out).succeeds();
    let other = folder.file("other.toml", STUDY.replace("\"Kept\"", "\"Another title\""));
    let from = || ldp("compare --from").on(&out).on("--out").on(&out);
    for name in ["data.csv", "figure.svg", "figure.png", "report.html"] {
        let ours = fs::read(out.join(name)).unwrap();
        fs::write(out.join(name), "mine").unwrap();
        for call in [run(&study, &out), run(&other, &out), from()] {
            call.must_be_refused().saying(name).saying("not what the program wrote").saying("--overwrite");
            assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
        }
        run(&study, &out).with("--overwrite").succeeds();
        assert!(fs::read(out.join(name)).unwrap() == ours, "{name}");
    }
    // Also while the study is not finished.
    let (journal, begun_in) = (begun(&out, 2), folder.path("begun"));
    for name in ["record.json", "data.csv", "figure.png", "run.json"] {
        fs::create_dir(&begun_in).unwrap();
        fs::write(begun_in.join("points.jsonl"), &journal).unwrap();
        fs::write(begun_in.join(name), "mine").unwrap();
        run(&study, &begun_in).must_be_refused().saying(name).saying("--overwrite");
        assert_eq!(fs::read_to_string(begun_in.join(name)).unwrap(), "mine");
        fs::remove_dir_all(&begun_in).unwrap();
    }
    // What the program wrote is replaced, whatever it looks like now, and one that is missing is written again.
    fs::remove_file(out.join("figure.svg")).unwrap();
    run(&other, &out).succeeds();
    assert!(fs::read_to_string(out.join("figure.svg")).unwrap().contains("Another title"));
}
