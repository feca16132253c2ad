//! `ldp reproduce` looks at its arguments before the work; the work itself is tested beside the code, on fewer points.

mod common;

use common::{Folder, ldp};
use std::fs;

const NAME: &str = "first-stage-growth";

#[test]
fn studies_are_listed_in_every_format() {
    let title = "How the best first stage of the two-stage sign estimator grows with the users";
    let human = ldp("list studies").succeeds().silently().stdout;
    assert!(human.contains(NAME) && human.contains("How the best first stage"), "{human}");
    let json = ldp("list studies --format json").succeeds().json();
    let names: Vec<&str> =
        json["studies"].as_array().unwrap().iter().map(|study| study["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "figure-1-left", "figure-1-right", "figure-2", "figure-2-extended", NAME]);
    assert_eq!(json["studies"][5]["summary"], title);
    let csv = ldp("list studies --format csv").succeeds().stdout;
    assert!(
        csv.starts_with("kind,name,keys,summary,required_on_data\n")
            && csv.ends_with(&format!("studies,{NAME},,{title},\n")),
        "{csv}"
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let folder = Folder::new();
    let out = folder.path("results");
    let refused = |name: &str| ldp(&format!("reproduce {name} --out")).on(&out).must_be_refused();
    refused("first-stage-grwoth").saying("there is no study 'first-stage-grwoth' (did you mean 'first-stage-growth'?)");
    refused("nonsense").saying("there is no study 'nonsense', there are: default, figure-1-left,");
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
    // Something else is there under one of the names.
    let out = folder.path("results");
    fs::create_dir_all(out.join("curve.svg")).unwrap();
    reproduce().on(&out).must_be_refused().saying("curve.svg is there already, and not from this study");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    let other = folder.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("record.json"), "{\"command\": \"compare\"}").unwrap();
    reproduce().on(&other).must_be_refused().saying("record.json is there already");
    assert_eq!(fs::read_to_string(other.join("record.json")).unwrap(), "{\"command\": \"compare\"}");
}
