//! A study that is stopped at any moment goes on where it was, and ends with the same bytes.

#![cfg(unix)]

mod common;

use common::{Folder, ldp};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Some tens of points of some milliseconds each.
const STUDY: &str = r#"kind = "comparison"
title = "A study to be stopped"
seed = 3
replications = 4000

[[estimators]]
spec = "two-stage"
[[estimators]]
spec = "one-stage"

[[grid]]
users = [300, 1000]
start = "-1:1:12"
theta = 0
epsilon = [0.5, 1]

[figure]
x = "start"
lines = ["bound"]
"#;

/// Everything in a folder but `run.json`, by name: what is left over would be seen.
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

fn command(study: &Path, out: &Path) -> Command {
    ldp("compare --threads 2 --format csv").on(study).on("--out").on(out).into_command()
}

fn begin(study: &Path, out: &Path) -> Child {
    command(study, out).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn killed_twenty_times_and_the_same_bytes() {
    let folder = Folder::new();
    let study = folder.file("study.toml", STUDY);
    let (whole, out) = (folder.path("whole"), folder.path("out"));
    let started = Instant::now();
    assert!(command(&study, &whole).output().unwrap().status.success());
    let whole_time = started.elapsed();
    // Delays of a fixed generator; on the way the whole study is done about twice.
    let (mut state, mut killed) = (1u64, 0);
    for _ in 0..20 {
        let mut child = begin(&study, &out);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(whole_time.mul_f64((state >> 40) as f64 / f64::from(1 << 24) / 5.0));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        if out.join("record.json").exists() && !out.join("points.jsonl").exists() {
            assert_eq!(files(&out), files(&whole));
            fs::remove_dir_all(&out).unwrap();
        }
    }
    assert!(killed >= 10, "only {killed} of 20 runs were stopped before they ended");
    assert!(command(&study, &out).output().unwrap().status.success());
    assert!(files(&out) == files(&whole));
}

#[test]
fn a_torn_line_is_worked_out_again() {
    let folder = Folder::new();
    let study = folder.file("study.toml", STUDY);
    let (whole, out) = (folder.path("whole"), folder.path("out"));
    assert!(command(&study, &whole).output().unwrap().status.success());
    let journal = out.join("points.jsonl");
    let mut child = begin(&study, &out);
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();
    let started = Instant::now();
    while lines() < 5 {
        assert!(started.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let text = fs::read(&journal).unwrap();
    // In the middle of the last line, of the header, and before anything.
    for cut in [text.len() - 7, 20, 0] {
        fs::remove_dir_all(&out).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(&journal, &text[..cut]).unwrap();
        assert!(command(&study, &out).output().unwrap().status.success());
        assert!(files(&out) == files(&whole), "cut after {cut} bytes");
    }
    // What is no torn line, but no point either, is not overwritten.
    fs::remove_dir_all(&out).unwrap();
    fs::create_dir(&out).unwrap();
    let header = text.split(|&byte| byte == b'\n').next().unwrap();
    fs::write(&journal, [header, b"\n{}\n"].concat()).unwrap();
    let ran = ldp("compare").on(&study).on("--out").on(&out).must_be_refused();
    ran.saying("points.jsonl line 2");
    // Another study in the same folder neither.
    fs::write(&journal, &text).unwrap();
    let other = ldp("compare --seed 4").on(&study).on("--out").on(&out).must_be_refused();
    other.saying("points.jsonl holds another study");
    assert_eq!(fs::read(&journal).unwrap(), text);
}

#[test]
fn control_c_says_what_is_on_disk() {
    let folder = Folder::new();
    let study = folder.file("study.toml", STUDY.replace("replications = 4000", "replications = 40000"));
    let out = folder.path("out");
    let child = begin(&study, &out);
    let started = Instant::now();
    while fs::read_to_string(out.join("points.jsonl")).unwrap_or_default().lines().count() < 3 {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8(ended.stderr).unwrap();
    let done = fs::read_to_string(out.join("points.jsonl")).unwrap().lines().count() - 1;
    let wanted = format!("interrupted: {done} of 96 points are on disk; the same command goes on from there");
    assert_eq!(said.trim_end(), wanted);
    // A shard that is not finished cannot be joined, and its folder not be taken by a record.
    ldp("merge").on(&out).on("--out").on(folder.path("merged")).must_be_refused().saying("not finished");
}

#[test]
fn two_runs_in_one_folder_are_refused() {
    let folder = Folder::new();
    let study = folder.file("study.toml", STUDY.replace("replications = 4000", "replications = 4000000"));
    let out = folder.path("out");
    let mut child = begin(&study, &out);
    let started = Instant::now();
    while fs::read_to_string(out.join("points.jsonl")).unwrap_or_default().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    ldp("compare").on(&study).on("--out").on(&out).must_be_refused().saying("another run is writing there");
    child.kill().unwrap();
    child.wait().unwrap();
}
