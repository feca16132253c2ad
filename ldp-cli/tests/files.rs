//! Files that flags ask for: never lost to a second run, and there as a whole or not at all.

mod common;

use common::{Folder, ldp};
use std::fs;
use std::path::Path;

/// Every flag that names a file, with a command and the same with another result.
const FLAGS: [(&str, &str, &str, &str); 7] = [
    (
        "--svg",
        "curve.svg",
        "fisher --mechanism sign --sweep epsilon=1:2:3",
        "fisher --mechanism sign --sweep epsilon=1:3:3",
    ),
    (
        "--svg",
        "curve.png",
        "fisher --mechanism sign --sweep epsilon=1:2:3",
        "fisher --mechanism sign --sweep epsilon=1:3:3",
    ),
    (
        "--svg",
        "risk.svg",
        "risk --estimator one-stage --theta 0 --users 50 --epsilon 1 --sweep theta=0:1:3",
        "risk --estimator one-stage --theta 0 --users 60 --epsilon 1 --sweep theta=0:1:3",
    ),
    ("--svg", "phases.svg", "optimal --sweep epsilon=1:2:3", "optimal --sweep epsilon=1:3:3"),
    (
        "--atoms",
        "atoms.csv",
        "risk --estimator one-stage --theta 0 --users 50 --epsilon 1",
        "risk --estimator one-stage --theta 0 --users 60 --epsilon 1",
    ),
    ("--export", "mechanism.json", "optimal --epsilon 2.5", "optimal --epsilon 2.6"),
    ("--certificate", "certificate.json", "optimal --epsilon 2.5", "optimal --epsilon 2.6"),
];

fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_of_a_flag_is_never_lost_unasked() {
    for (flag, name, call, other) in FLAGS {
        let folder = Folder::new();
        let path = folder.path(name);
        let run = |call: &str| ldp(call).on(flag).on(&path);
        run(call).succeeds();
        let first = fs::read(&path).unwrap();
        // The same command again, as one does, has nothing to lose.
        run(call).succeeds();
        assert!(fs::read(&path).unwrap() == first, "{call}");
        // Another result under the same name would.
        run(other).runs().failed_with(2).saying(flag).saying(name).saying("--overwrite");
        assert!(fs::read(&path).unwrap() == first, "{other}");
        run(other).with("--overwrite").succeeds();
        assert!(fs::read(&path).unwrap() != first, "{other}");
        run(call).with("--force").succeeds();
        assert!(fs::read(&path).unwrap() == first, "{call}");
        // Something of another kind is refused before the work.
        for mine in ["mine", "# a letter\n", "id,x\n1,2\n"] {
            fs::write(&path, mine).unwrap();
            run(call).must_be_refused().saying(flag).saying("not from this command").saying("--overwrite");
            assert_eq!(fs::read_to_string(&path).unwrap(), mine);
        }
        // An empty file, as of mktemp, has nothing in it.
        fs::write(&path, "").unwrap();
        run(call).succeeds();
        assert!(fs::read(&path).unwrap() == first, "{call}");
        assert_eq!(names(&folder), [name], "{call}");
    }
}

#[test]
fn a_run_that_fails_leaves_no_file() {
    let folder = Folder::new();
    for call in [
        "fisher --mechanism sign --sweep width=1:2:3 --epsilon 1 --svg",
        "optimal --epsilon 900 --export",
        "risk --estimator liu --theta 0 --users 100000 --epsilon 1 --atoms",
        "risk --estimator two-stage --theta 0 --users 2000000 --epsilon 1 --atoms",
    ] {
        ldp(call).on(folder.path("never")).runs().failed_with(2);
        assert!(names(&folder).is_empty(), "{call}: {:?}", names(&folder));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_written_to_as_it_is() {
    let call = "risk --estimator one-stage --theta 0 --users 5 --epsilon 1 --quiet --atoms";
    let folder = Folder::new();
    let path = folder.path("atoms.csv");
    ldp(call).on(&path).succeeds();
    let atoms = fs::read_to_string(path).unwrap();
    let ran = ldp(call).with("/dev/stdout").succeeds();
    assert!(ran.stdout.starts_with(&atoms), "{ran:#?}");
    ldp(call).with("/dev/full").ends_at_once().failed_with(1).saying("--atoms /dev/full").saying("No space left");
    assert!(Path::new("/dev/full").exists() && fs::metadata("/dev/stdout").is_ok());
}

#[test]
fn man_pages_are_not_lost_either() {
    let folder = Folder::new();
    let man = || ldp("man --out").on(folder.path("man"));
    man().succeeds();
    man().succeeds();
    let page = folder.path("man/ldp-plan.1");
    let before = fs::read(&page).unwrap();
    fs::write(&page, "mine").unwrap();
    fs::remove_file(folder.path("man/ldp-list.1")).unwrap();
    man().must_be_refused().saying("ldp-plan.1").saying("--overwrite");
    // All or nothing.
    assert!(!folder.path("man/ldp-list.1").exists() && fs::read_to_string(&page).unwrap() == "mine");
    man().with("--overwrite").succeeds();
    assert!(fs::read(&page).unwrap() == before && folder.path("man/ldp-list.1").exists());
}

/// The table of the README, row by row.
#[test]
fn exit_codes_are_those_of_the_table() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let table: Vec<&str> = readme.lines().skip_while(|line| !line.starts_with("| exit code")).skip(2).take(4).collect();
    let codes: Vec<&str> = table.iter().map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    assert_eq!(codes, ["0", "1", "2", "130"], "{table:#?}");
    let folder = Folder::new();
    let data = folder.file("data.csv", "x\n1\n2\n");
    let estimate = || ldp("estimate --estimator clipped-mean:low=0,high=3 --epsilon 1");
    assert_eq!(estimate().on(&data).runs().code, Some(0));
    assert_eq!(estimate().on(&data).with("--format json").runs().code, Some(0));
    for (call, code) in [
        // A flag, a spec, a file, a cell.
        ("--column y", 2),
        ("--layout tsv --no-header --column 7", 2),
        ("--model gaussian:sigma=-1", 2),
    ] {
        assert_eq!(estimate().on(&data).with(call).runs().code, Some(code), "{call}");
    }
    assert_eq!(estimate().on(folder.path("missing.csv")).runs().code, Some(2));
    assert_eq!(estimate().on(folder.file("bad.csv", "x\nabc\n")).runs().code, Some(2));
    // What was asked for is in order; the system cannot write it.
    let nowhere = folder.path("nowhere/curve.svg");
    let sweep = ldp("fisher --mechanism sign --sweep epsilon=1:2:3 --svg").on(nowhere);
    sweep.runs().failed_with(1).saying("cannot write the output");
    estimate().on(&data).under("TMPDIR", folder.path("gone")).runs().failed_with(1);
}
