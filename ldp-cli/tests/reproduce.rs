//! `ldp reproduce` runs bundled studies again, and the documents show what it writes.

mod common;

use common::{Folder, ldp, number};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "first-stage-growth";

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[test]
fn studies_are_listed_in_every_format() {
    let title = "How the best first stage of the two-stage sign estimator grows with the users";
    let human = ldp("list studies").succeeds().silently().stdout;
    assert!(human.contains(NAME) && human.contains("How the best first stage"), "{human}");
    let json = ldp("list studies --format json").succeeds().json();
    assert_eq!(json["studies"][0]["name"], NAME);
    assert_eq!(json["studies"][0]["summary"], title);
    let csv = ldp("list studies --format csv").succeeds().stdout;
    assert_eq!(csv, format!("kind,name,keys,summary\nstudies,{NAME},,{title}\n"));
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let folder = Folder::new();
    let out = folder.path("results");
    let refused = |name: &str| ldp(&format!("reproduce {name} --out")).on(&out).must_be_refused();
    refused("first-stage-grwoth").saying("there is no study 'first-stage-grwoth' (did you mean 'first-stage-growth'?)");
    refused("nonsense").saying("there is no study 'nonsense', there are: first-stage-growth");
    assert!(!out.exists());
    ldp(&format!("reproduce {NAME}")).runs().failed_with(2).saying("--out");
}

#[test]
fn the_folder_is_looked_at_before_the_work() {
    let folder = Folder::new();
    let file = folder.file("taken", "what was there before");
    let reproduce = || ldp(&format!("reproduce {NAME} --out"));
    reproduce().on(&file).must_be_refused().saying("taken: this is not a folder");
    assert_eq!(fs::read_to_string(&file).unwrap(), "what was there before");
    reproduce().on(file.join("below")).ends_at_once().failed_with(1).saying("cannot write the output");
    // One of the files cannot be opened: the others are taken away again.
    let out = folder.path("results");
    fs::create_dir_all(out.join("curve.svg")).unwrap();
    reproduce().on(&out).ends_at_once().failed_with(1).saying("curve.svg");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

/// The rows of the table in the page that begin with a number, as the texts of their cells.
fn table() -> Vec<Vec<String>> {
    let page = fs::read_to_string(repository("docs/first-stage-growth.md")).unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = page.lines().filter(|line| line.starts_with('|')).map(cells);
    rows.filter(|cells| cells[0].parse::<f64>().is_ok()).collect()
}

/// Everything at once, because the study takes a while: its laws, its bytes, and the page about it.
#[test]
fn the_growth_of_the_first_stage() {
    let folder = Folder::new();
    let (once, again) = (folder.path("once"), folder.path("again"));
    let reproduce = |out: &Path, threads: u32| {
        ldp(&format!("reproduce {NAME} --threads {threads} --format json --out")).on(out).succeeds().silently()
    };
    let ran = reproduce(&once, 2);
    let read = |path: PathBuf| fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let record: Value = serde_json::from_str(&read(once.join("record.json"))).unwrap();
    assert_eq!(ran.json(), record);
    assert_eq!((&record["schema"], &record["study"]), (&1.into(), &NAME.into()));
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(record["settings"]["users"][8], 1_000_000_000);
    assert!(!ran.stdout.contains("seconds") && read(once.join("run.json")).contains("seconds"));

    let points = record["points"].as_array().unwrap();
    assert_eq!(points.len(), 27);
    for point in points {
        let (users, best, law) = (number(point, "users"), number(point, "best"), number(point, "law"));
        assert!((number(point, "ratio") - best / law).abs() < 1e-12);
        assert!((number(point, "excess") - (number(point, "scaled_mse") / number(point, "bound") - 1.0)).abs() < 1e-12);
        let plateau = &point["plateau"];
        assert!(number(plateau, "low") <= best && best <= number(plateau, "high"), "{point:#}");
        if users >= 1e6 {
            assert!(
                (best / law - 1.0).abs() < 0.02 || number(point, "epsilon") == 0.5 && (best / law - 1.0).abs() < 0.02,
                "{point:#}"
            );
        }
    }
    let at = |epsilon: f64, users: f64| {
        let fits = |point: &&Value| number(point, "epsilon") == epsilon && number(point, "users") == users;
        points.iter().find(fits).unwrap_or_else(|| panic!("no point at {epsilon}, {users}"))
    };
    assert_eq!([1e3, 1e4, 1e5].map(|users| number(at(1.0, users), "best")), [134.0, 305.0, 910.0]);
    // A million times as many users: a thousand times the law, and far more than three times, as a logarithm would have it.
    assert!(number(at(1.0, 1e9), "best") / number(at(1.0, 1e3), "best") > 600.0);

    let csv = read(once.join("data.csv"));
    assert_eq!(csv.lines().count(), 28);
    assert!(
        csv.starts_with("epsilon,users,best,law,ratio,scaled_mse,bound,excess,plateau.low,plateau.high,one_stage\n")
    );

    // The documents are what the command writes.
    for (written, committed) in [("growth.svg", "first-stage-growth.svg"), ("curve.svg", "first-stage-curve.svg")] {
        let committed = repository("docs/figures").join(committed);
        assert!(read(once.join(written)) == read(committed), "{written} differs from that of the page");
    }
    let rows = table();
    assert_eq!(rows.len(), points.len());
    for (row, point) in rows.iter().zip(points) {
        let plateau = &point["plateau"];
        let expected = [
            number(point, "epsilon").to_string(),
            format!("{:.0e}", number(point, "users")),
            point["best"].to_string(),
            format!("{:.1}", number(point, "law")),
            format!("{:.3}", number(point, "ratio")),
            format!("{:.4}", number(point, "scaled_mse")),
            format!("{:.4}", number(point, "one_stage")),
            format!("{} to {}", plateau["low"], plateau["high"]),
        ];
        assert_eq!(row[..], expected);
    }

    reproduce(&again, 1);
    for file in ["record.json", "data.csv", "growth.svg", "curve.svg"] {
        assert!(read(once.join(file)) == read(again.join(file)), "{file} depends on threads");
    }
}
