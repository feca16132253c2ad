//! `ldp plan` promises what `ldp simulate` then finds, and names what to change where it cannot.

mod common;

use common::{ends, ldp, number};
use serde_json::Value;

const PLAN: &str = "plan --epsilon 1 --guess 0.3 --guess-error 1 --half-width 0.1";
const FIELDS: [&str; 31] = [
    "command",
    "version",
    "epsilon",
    "sigma",
    "range",
    "guess",
    "guess_error",
    "criterion",
    "level",
    "rounds",
    "wanted_half_width",
    "wanted_users",
    "users",
    "estimator",
    "blur",
    "blurred_sigma",
    "expected_half_width",
    "expected_mse",
    "scaled_mse",
    "expected_coverage",
    "infinite",
    "worst_mean",
    "asymptotic_half_width",
    "pilot_failure",
    "dominant",
    "shares",
    "naive",
    "alternatives",
    "warnings",
    "command_line",
    "check_line",
];

fn record(arguments: &str) -> Value {
    ldp(arguments).with("--format json").succeeds().silently().json()
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_else(|| panic!("{field} is no text in {record:#}"))
}

/// What a shell would hand to the program.
fn typed(line: &str) -> &str {
    line.strip_prefix("ldp ").unwrap_or_else(|| panic!("{line}"))
}

/// The printed check, with fewer replications: half-widths within 3 %, coverage within 1.5 points.
fn check(plan: &Value) {
    let line = text(plan, "check_line").replace("--replications 20000", "--replications 4000");
    let simulated = record(typed(&line));
    let interval = &simulated["intervals"][0];
    let (half, promised) = (number(interval, "mean_finite_width") / 2.0, number(plan, "expected_half_width"));
    assert!((half / promised - 1.0).abs() < 0.03, "{half} is not {promised}: {line}");
    let (coverage, promised) = (number(&simulated, "coverage"), number(plan, "expected_coverage"));
    assert!((coverage - promised).abs() < 0.015, "{coverage} is not {promised}: {line}");
}

#[test]
fn the_record_has_every_field_in_its_order() {
    let plan = record(PLAN);
    let names: Vec<&str> = plan.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, FIELDS);
    assert_eq!((text(&plan, "command"), text(&plan, "version")), ("plan", env!("CARGO_PKG_VERSION")));
    assert_eq!((text(&plan, "criterion"), text(&plan, "dominant")), ("worst", "privacy"));
    assert_eq!(ends(&plan, "range"), [-0.7, 1.3]);
    for (field, value) in [("guess", 0.3), ("guess_error", 1.0), ("level", 0.95), ("rounds", 3.0), ("sigma", 1.0)] {
        assert_eq!(number(&plan, field), value, "{field}");
    }
    assert!(plan["wanted_users"].is_null() && plan["pilot_failure"].is_null());
    assert!(number(&plan, "expected_half_width") <= number(&plan, "wanted_half_width"));
    // The bound of two rounds is V z² / W² = 2826 users.
    let users = number(&plan, "users");
    assert!((3000.0..3600.0).contains(&users), "{users}");
    assert!((number(&plan, "scaled_mse") - users * number(&plan, "expected_mse")).abs() < 1e-9);
    let shares = &plan["shares"];
    let all = ["sample", "privacy", "pilot", "first_stage", "off_centre"].map(|part| number(shares, part));
    assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9 && all.iter().all(|share| (0.0..1.0).contains(share)));
    let naive = &plan["naive"];
    assert!(number(naive, "margin") > 0.1 && number(naive, "expected_half_width") > 0.1, "{naive:#}");
    let other = &plan["alternatives"][0];
    assert_eq!(text(other, "estimator"), "one-stage:start=0.3");
    assert!((number(other, "cost") - number(other, "users") / users).abs() < 1e-12 && number(other, "cost") > 1.5);
    let spec = text(&plan, "estimator");
    let line = format!("ldp estimate FILE --column COLUMN --estimator {spec} --model gaussian:sigma=1 --epsilon 1");
    assert_eq!(text(&plan, "command_line"), line);
    assert_eq!(
        text(&plan, "check_line"),
        format!(
            "ldp simulate --estimator {spec} --model gaussian:sigma=1 --theta 1.3 --users {users} --epsilon 1 \
             --replications 20000 --level 0.95"
        )
    );
    check(&plan);
}

#[test]
fn people_see_the_recommendation_first_and_the_commands_last() {
    let (plan, human) = (record(PLAN), ldp(PLAN).succeeds().silently().stdout);
    let first = format!("Ask {} users in 2 rounds: {}\n", plan["users"], text(&plan, "estimator"));
    assert!(human.starts_with(&first), "{human}");
    let rows = ["expected half-width", "asymptotic half-width", "n·MSE", "coverage", "infinite ends", "largest share"];
    for row in rows.iter().chain(&["privacy, ", "one-stage:start=0.3", "Half and half, two-stage:"]) {
        assert!(human.contains(row), "no {row} in\n{human}");
    }
    for warning in plan["warnings"].as_array().unwrap() {
        assert!(human.contains(&format!("Note: {}\n", warning.as_str().unwrap())), "{human}");
    }
    for line in ["command_line", "check_line"] {
        assert!(human.contains(&format!("\n{}\n", text(&plan, line))), "no {line} in\n{human}");
    }
    assert!(!human.contains("NaN") && !human.contains("inf "), "{human}");
}

#[test]
fn csv_has_the_same_numbers() {
    let (plan, csv) = (record(PLAN), ldp(PLAN).with("--format csv").succeeds().silently().stdout);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let lines: Vec<_> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(lines.len(), 1);
    let cell = |name: &str| {
        let place = header.iter().position(|known| known == name).unwrap_or_else(|| panic!("no {name} in {csv}"));
        lines[0][place].to_owned()
    };
    for field in ["users", "expected_half_width", "expected_mse", "expected_coverage", "worst_mean"] {
        assert_eq!(cell(field).parse::<f64>().unwrap(), number(&plan, field), "{field}");
    }
    assert_eq!(cell("naive.margin").parse::<f64>().unwrap(), number(&plan["naive"], "margin"));
    assert_eq!((cell("wanted_users"), cell("pilot_failure")), (String::new(), String::new()));
    assert_eq!(cell("estimator"), text(&plan, "estimator"));
    assert!(lines[0].iter().all(|cell| !["NaN", "inf", "-inf"].contains(&cell)), "{csv}");
}

#[test]
fn users_and_half_width_are_each_other_turned_round() {
    for known in ["--epsilon 1 --guess 0 --guess-error 0.5", "--epsilon 2 --range -1:1 --level 0.9"] {
        let wanted = record(&format!("plan {known} --half-width 0.12"));
        let users = number(&wanted, "users");
        let turned = record(&format!("plan {known} --users {users}"));
        assert!(number(&wanted, "expected_half_width") <= 0.12);
        assert!(number(&turned, "expected_half_width") <= 0.12 * 1.01, "{turned:#}");
        assert_eq!(turned["users"], wanted["users"]);
        assert!(turned["wanted_half_width"].is_null() && turned["wanted_users"] == wanted["users"]);
    }
}

#[test]
fn promises_hold_in_every_unit_and_at_every_privacy_level() {
    for (known, half) in [
        ("--epsilon 1 --sigma 0.3 --guess -3 --guess-error 0.3", 0.04),
        ("--epsilon 1 --sigma 3 --range -5:-1", 0.4),
        ("--epsilon 0.2 --guess 0 --guess-error 1", 0.4),
        ("--epsilon 4 --guess 0 --guess-error 1 --level 0.8", 0.1),
    ] {
        let plan = record(&format!("plan {known} --half-width {half}"));
        assert!(number(&plan, "expected_half_width") <= half, "{plan:#}");
        check(&plan);
    }
    let level = record("plan --epsilon 4 --guess 0 --guess-error 1 --level 0.8 --users 1000");
    assert!(text(&level, "command_line").ends_with(" --level 0.8"), "{level:#}");
}

#[test]
fn a_unit_is_only_a_unit() {
    let [one, ten] = ["--sigma 1 --guess 0.5 --guess-error 0.5", "--sigma 10 --guess 5 --guess-error 5"]
        .map(|known| record(&format!("plan --epsilon 1 {known} --users 2000")));
    let halves = [&one, &ten].map(|plan| number(plan, "expected_half_width"));
    assert!((halves[1] / halves[0] - 10.0).abs() < 1e-9, "{halves:?}");
    assert_eq!(text(&one, "estimator").replace("start=0.5", "start=5"), text(&ten, "estimator"));
}

#[test]
fn a_wide_range_is_searched_by_a_pilot() {
    let plan = record("plan --epsilon 2 --range -5:5 --users 8000");
    assert!(text(&plan, "estimator").contains(":low=-5,high=5,pilot="), "{plan:#}");
    assert!((0.0..0.05).contains(&number(&plan, "pilot_failure")));
    assert!(plan["guess"].is_null() && plan["guess_error"].is_null());
    check(&plan);
}

#[test]
fn the_average_promises_more_than_the_worst() {
    let known = "plan --epsilon 1 --guess 0 --guess-error 1 --users 3000";
    let (worst, average) = (record(known), record(&format!("{known} --average")));
    assert_eq!((text(&worst, "criterion"), text(&average, "criterion")), ("worst", "average"));
    assert!(number(&average, "expected_half_width") < number(&worst, "expected_half_width"));
}

#[test]
fn both_are_refused_with_the_number_that_is_then_enough() {
    let known = "plan --epsilon 1 --guess 0 --guess-error 1 --half-width 0.15";
    // The fewest have to be found first, so this is not refused at once.
    let ran = ldp(known).with("--users 100").runs().failed_with(2).saying("--users 100: users must be at least ");
    let least = ran.stderr.split("at least ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
    let plan = record(&format!("{known} --users {least}"));
    assert_eq!(plan["users"].to_string(), least);
    assert!(number(&plan, "expected_half_width") <= 0.15);
    ldp(known).with(&format!("--users {}", number(&plan, "users") - 1.0)).runs().failed_with(2).saying(&least);
}

#[test]
fn too_few_rounds_are_named() {
    ldp("plan --epsilon 1 --guess 0 --guess-error 1000 --half-width 0.0001 --rounds 1")
        .runs()
        .failed_with(2)
        .saying("--rounds 1: rounds must be at least 2, got 1");
    let plan = record("plan --epsilon 1 --guess 0 --guess-error 0.5 --users 2000 --rounds 1");
    assert_eq!(text(&plan, "estimator"), "one-stage:start=0");
    assert!(plan["naive"].is_null());
}

#[test]
fn no_finite_interval_is_no_number() {
    let arguments = "plan --epsilon 1 --guess 0 --guess-error 1 --users 1";
    let plan = record(arguments);
    assert!(plan["expected_half_width"].is_null());
    assert_eq!(number(&plan, "infinite"), 1.0);
    let human = ldp(arguments).succeeds().stdout;
    assert!(human.starts_with("Ask 1 user in 1 round: ") && human.contains("No interval is finite"), "{human}");
    assert!(!human.contains("NaN"), "{human}");
}

#[test]
fn threads_change_nothing() {
    for known in ["--guess 0.3 --guess-error 1 --half-width 0.2", "--range -4:4 --users 6000"] {
        let [one, two] = ["1", "2"]
            .map(|threads| ldp("plan --epsilon 1 --format json --threads").with(threads).with(known).succeeds().stdout);
        assert_eq!(one, two, "{known}");
    }
}

#[test]
fn bad_input_is_refused_by_the_name_of_its_flag() {
    const GUESS: &str = "--epsilon 1 --guess 0 --guess-error 1";
    for (arguments, fragment) in [
        ("--guess 0 --guess-error 1 --users 100".to_owned(), "--epsilon"),
        ("--epsilon 0 --guess 0 --guess-error 1 --users 100".to_owned(), "--epsilon"),
        ("--epsilon -1 --guess 0 --guess-error 1 --users 100".to_owned(), "--epsilon"),
        (GUESS.to_owned(), "--half-width"),
        ("--epsilon 1 --users 100".to_owned(), "--range"),
        ("--epsilon 1 --users 100 --guess 0".to_owned(), "--guess-error"),
        ("--epsilon 1 --users 100 --guess-error 1".to_owned(), "--guess"),
        (format!("{GUESS} --users 100 --range 0:1"), "--range"),
        ("--epsilon 1 --users 100 --range 0:1 --guess-error 1".to_owned(), "--range"),
        ("--epsilon 1 --users 100 --range 1:1".to_owned(), "--range 1:1: the high end"),
        ("--epsilon 1 --users 100 --range 2:-1".to_owned(), "--range 2:-1: the high end"),
        ("--epsilon 1 --users 100 --range -1e308:1e308".to_owned(), "--range"),
        ("--epsilon 1 --users 100 --range 0:inf".to_owned(), "expected two finite numbers, LOW:HIGH"),
        ("--epsilon 1 --users 100 --range 0".to_owned(), "LOW:HIGH"),
        ("--epsilon 1 --users 100 --range 0:1:2".to_owned(), "LOW:HIGH"),
        ("--epsilon 1 --users 100 --guess nan --guess-error 1".to_owned(), "--guess"),
        ("--epsilon 1 --users 100 --guess 0 --guess-error 0".to_owned(), "--guess-error 0"),
        ("--epsilon 1 --users 100 --guess 0 --guess-error -1".to_owned(), "--guess-error -1"),
        ("--epsilon 1 --users 100 --guess 1e20 --guess-error 1".to_owned(), "--guess-error 1"),
        (format!("{GUESS} --users 100 --sigma 0"), "--sigma 0"),
        (format!("{GUESS} --users 100 --sigma -2"), "--sigma -2"),
        (format!("{GUESS} --users 100 --sigma inf"), "--sigma"),
        ("--epsilon 1 --users 100 --sigma 1e300 --guess 0 --guess-error 1e300".to_owned(), "--sigma 1e300"),
        ("--epsilon 1 --users 100 --sigma 1e-300 --guess 0 --guess-error 1e-300".to_owned(), "--sigma 1e-300"),
        (format!("{GUESS} --half-width 0"), "--half-width 0"),
        (format!("{GUESS} --half-width -0.1"), "--half-width -0.1"),
        (format!("{GUESS} --half-width 1"), "--half-width 1: half-width must be below"),
        (format!("{GUESS} --half-width 1e-7"), "--half-width 0.0000001: users must be at most 1000000000000"),
        (format!("{GUESS} --users 0"), "--users"),
        (format!("{GUESS} --users 1.5"), "--users"),
        (format!("{GUESS} --users 1000000000001"), "--users 1000000000001: users must be at most 1000000000000"),
        (format!("{GUESS} --users 100 --level 1"), "--level"),
        (format!("{GUESS} --users 100 --level 0"), "--level"),
        (format!("{GUESS} --users 100 --rounds 0"), "must be 1, 2 or 3"),
        (format!("{GUESS} --users 100 --rounds 4"), "must be 1, 2 or 3"),
        (format!("{GUESS} --users 100 --rounds -1"), "--rounds"),
    ] {
        ldp("plan").with(&arguments).must_be_refused().saying(fragment);
    }
}

/// A σ far below the half-width is made larger by noise: the same plan for every such σ, and it keeps its promise.
#[test]
fn small_deviations_are_blurred_and_the_promise_holds() {
    let plans = [0.01, 0.4, 1.0].map(|sigma| {
        let plan = record(&format!("plan --epsilon 1 --sigma {sigma} --range 0:40 --half-width 1"));
        let (blur, total) = (number(&plan, "blur"), number(&plan, "blurred_sigma"));
        assert!(blur > sigma && (total / blur.hypot(sigma) - 1.0).abs() < 1e-12, "{plan:#}");
        for line in ["command_line", "check_line"] {
            assert!(text(&plan, line).contains(&format!("gaussian:sigma={total}")), "{plan:#}");
        }
        assert!(text(&plan, "command_line").contains(&format!("--blur {blur} ")), "{plan:#}");
        plan
    });
    assert!(plans.windows(2).all(|two| two[0]["users"] == two[1]["users"]), "{plans:#?}");
    check(&plans[1]);
    // Where σ is large beside the half-width there is nothing to gain.
    assert_eq!(number(&record("plan --epsilon 1 --range 0:40 --half-width 0.03"), "blur"), 0.0);
}
