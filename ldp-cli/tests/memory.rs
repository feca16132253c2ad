//! What memory cannot hold is refused before the work, with its size and the limit.

mod common;

use common::{Folder, ldp};
use std::fs::File;
use std::io::Write;

/// A file of so many bytes that takes no room: a beginning, and nothing.
fn large(folder: &Folder, name: &str, begin: &str, size: u64) {
    let mut file = File::create(folder.path(name)).unwrap();
    file.write_all(begin.as_bytes()).unwrap();
    file.set_len(size).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_stream_without_end_is_no_record() {
    let folder = Folder::new();
    for call in ["compare --from /dev/zero --out", "merge /dev/zero --out"] {
        ldp(call).on(folder.path("out")).must_be_refused().saying("/dev/zero: this is not text");
        assert!(!folder.path("out").exists());
    }
}

#[test]
fn a_file_that_is_too_large_is_no_record() {
    let folder = Folder::new();
    large(&folder, "record.json", "{", 1 << 30);
    let said = "the file has 1073741824 bytes, and at most 536870912 are read";
    ldp("compare --from")
        .on(folder.path("record.json"))
        .on("--out")
        .on(folder.path("out"))
        .must_be_refused()
        .saying(said);
    ldp("merge").on(folder.path("")).on("--out").on(folder.path("out")).must_be_refused().saying(said);
    // Nor are the points of a study that was begun.
    std::fs::create_dir(folder.path("begun")).unwrap();
    large(&folder, "begun/points.jsonl", "{", 1 << 30);
    ldp("compare --out").on(folder.path("begun")).must_be_refused().saying("points.jsonl: ").saying(said);
    // What a command would write is compared with what is there by its size first.
    large(&folder, "mechanism.json", "{", 1 << 40);
    ldp("optimal --epsilon 3 --export").on(folder.path("mechanism.json")).must_be_refused().saying("something else");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
    let folder = Folder::new();
    let pipe = |name: &str| {
        assert!(std::process::Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
    };
    for (name, call) in [
        ("record.json", "reproduce first-stage-growth --out"),
        ("data.csv", "reproduce first-stage-growth --out"),
        ("record.json", "compare --out"),
        ("points.jsonl", "compare --out"),
        ("figure.svg", "compare --out"),
    ] {
        pipe(name);
        ldp(call).on(folder.path("")).must_be_refused().saying("--out");
        std::fs::remove_file(folder.path(name)).unwrap();
    }
}

#[test]
fn vectors_that_memory_cannot_hold_are_refused() {
    let dimension = "must be at most 262144, got 10000000";
    for mechanism in ["duchi-linf", "privunit"] {
        let spec = format!("simulate --estimator vector-mean:dimension=1e7,mechanism={mechanism} --theta 0");
        ldp(&spec).with("--users 100 --epsilon 3 --replications 2 --quiet").must_be_refused().saying(dimension);
    }
    let sampled = "fisher --mechanism duchi-l2:dimension=1e7 --epsilon 1 --black-box 1000";
    ldp(sampled).must_be_refused().saying("must be at most 1048576, got 10000000");
    // In a study before the first point.
    let folder = Folder::new();
    let study = "kind = \"comparison\"\ntitle = \"Large\"\nseed = 1\nreplications = 2\n[[estimators]]\n\
                 spec = \"vector-mean\"\n[[grid]]\nusers = 100\ndimension = [2, 1e7]\ntheta = 0\nepsilon = 1\n[figure]\n\
                 x = \"dimension\"\n";
    let study = folder.file("study.toml", study);
    ldp("compare").on(study).on("--out").on(folder.path("out")).must_be_refused().saying(dimension);
    assert!(!folder.path("out").exists());
}
