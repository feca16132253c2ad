//! `ldp estimate` takes nothing for granted that the data cannot tell, and says what it takes for granted all the same.

mod common;

use std::fmt::Write;

use common::{Folder, ldp, number};
use ldp_core::special::normal;
use serde_json::Value;

/// The quantiles of a law at the middle of `rows` equal steps, one a line, under a header.
fn column(rows: usize, quantile: impl Fn(f64) -> f64) -> String {
    (0..rows).fold("x\n".to_owned(), |mut text, row| {
        writeln!(text, "{}", quantile((row as f64 + 0.5) / rows as f64)).expect("a string grows");
        text
    })
}

fn heights(rows: usize) -> String {
    column(rows, |p| 171.4 + 9.0 * normal::quantile(p))
}

/// Log-normal, with a median of 32,860 and a mean of 41,980.
fn incomes(rows: usize) -> String {
    column(rows, |p| (10.4 + 0.7 * normal::quantile(p)).exp())
}

fn kinds(record: &Value) -> Vec<&str> {
    let list = record["diagnostics"].as_array().expect("a list");
    list.iter().map(|found| found["kind"].as_str().expect("a kind")).collect()
}

#[test]
fn what_the_data_cannot_tell_is_required_and_the_command_shown_can_be_filled_in() {
    let folder = Folder::new();
    let file = folder.file("heights.csv", heights(20_000));
    for (spec, model, missing) in [
        ("one-stage", "", "start sigma"),
        ("two-stage:first-stage=300", "--model gaussian", "start sigma"),
        ("two-stage", "--model gaussian:sigma=9", "start"),
        ("two-stage:start=165", "", "sigma"),
        ("three-stage:pilot=0.5,first-stage=auto", "", "low high sigma"),
        ("joseph:low=100", "", "high sigma"),
        ("joseph:high=250", "", "low sigma"),
        // Beside the default of low, 0, this high is no range: what is missing is told first all the same.
        ("joseph:high=-5", "", "low sigma"),
        ("joseph-one-round", "--model gaussian:sigma=9", "low high"),
        ("duchi-rogers:start=165", "", "range sigma"),
        ("clipped-mean:low=200", "", "high"),
        ("clipped-mean", "", "low high"),
        ("efficient", "", "start sigma"),
        ("efficient", "--model laplace", "start scale"),
        ("efficient:start=170", "--model student-t", "degrees scale"),
        ("efficient:pilot=0.5", "", "low high sigma"),
        ("liu:pilot=0.5", "", "low high sigma"),
    ] {
        let call = format!("estimate --epsilon 1 --seed 1 --format json --estimator {spec} {model}");
        // Nothing is read before.
        let refused = ldp(&call).on("/no/such/file.csv").must_be_refused();
        let named = refused.stderr.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(" of --"));
        let named: Vec<_> = named.map(|(name, _)| name).collect();
        assert_eq!(named.join(" "), missing, "{refused:#?}");
        let mut command = refused.stderr.lines().last().expect("a command").trim().to_owned();
        for (place, value) in [
            ("START", "165"),
            ("LOW", if spec == "joseph:high=-5" { "-300" } else { "100" }),
            ("HIGH", "250"),
            ("RANGE", "30"),
            ("SIGMA", "9"),
            ("SCALE", "6"),
            ("DEGREES", "5"),
        ] {
            command = command.replace(&format!("={place}"), &format!("={value}"));
        }
        let command = command.strip_prefix("ldp ").expect("the command").replace("/no/such/file.csv", "");
        let record = ldp(&command).with("--quiet").on(&file).succeeds().json();
        if spec != "joseph:high=-5" && spec != "clipped-mean:low=200" {
            assert!((number(&record, "estimate") - 171.4).abs() < 20.0, "{record:#}");
        }
    }
}

#[test]
fn what_is_natural_or_was_typed_is_not_required_but_said() {
    let folder = Folder::new();
    let bits = folder.file("bits.csv", column(5_000, |p| f64::from(p > 0.7)));
    let call = "estimate --estimator efficient --model bernoulli --epsilon 1 --seed 1 --format json";
    let record = ldp(call).on(&bits).succeeds().json();
    assert!(record["assumptions"].to_string().contains("searched from 0.5 on (start=auto)"), "{record:#}");
    let counts = folder.file("counts.csv", column(5_000, |p| (4.0 * p).floor()));
    let auto = "estimate --estimator efficient:start=auto --model poisson --epsilon 1 --seed 1 --format json";
    let record = ldp(auto).on(&counts).succeeds().json();
    assert!(record["assumptions"].to_string().contains("searched from 1 on (start=auto)"), "{record:#}");
    // A simulation is a demonstration.
    ldp("simulate --estimator two-stage --theta 0.5 --users 100 --epsilon 1 --replications 2").succeeds();
}

#[test]
fn the_list_says_what_is_required_on_data() {
    let human = ldp("list estimators").succeeds().stdout;
    assert!(human.contains("start (0), required on data: "), "{human}");
    let listed = ldp("list --format json").succeeds().json();
    let required = |kind: &str, name: &str| -> Vec<String> {
        let entries = listed[kind].as_array().expect("a list");
        let entry = entries.iter().find(|entry| entry["name"] == name).expect("an entry");
        let keys = entry["keys"].as_array().expect("keys").iter().filter(|key| key["required_on_data"] == true);
        keys.map(|key| key["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(required("estimators", "two-stage"), ["start"]);
    assert_eq!(required("estimators", "duchi-rogers"), ["start", "range"]);
    assert_eq!(required("estimators", "clipped-mean"), ["low", "high"]);
    assert_eq!(required("models", "gaussian"), ["sigma"]);
    assert_eq!(required("models", "categorical"), ["size"]);
    let csv = ldp("list models --format csv").succeeds().stdout;
    assert!(csv.lines().next() == Some("kind,name,keys,summary,required_on_data"), "{csv}");
}

#[test]
fn a_result_says_what_it_is_an_estimate_of() {
    let folder = Folder::new();
    let file = folder.file("heights.csv", heights(20_000));
    for (spec, model, estimates, assumption) in [
        (
            "two-stage:start=165",
            "gaussian:sigma=9",
            "the mean, if the values are Gaussian with standard deviation 9; otherwise a number near the median",
            "the values are Gaussian with standard deviation 9",
        ),
        (
            "joseph:low=100,high=250",
            "gaussian:sigma=9",
            "the mean, if the values are Gaussian",
            "their mean is in [100, 250]",
        ),
        ("duchi-rogers:start=170,range=10", "gaussian:sigma=9", "the mean, if", "their mean is in [160"),
        (
            "clipped-mean:low=0,high=300",
            "gaussian",
            "the mean of the values clipped to [0, 300]",
            "none is outside [0, 300]; clipping shows in the reports only where",
        ),
        (
            "efficient:start=170",
            "laplace:scale=6",
            "the mean of the values, if they follow laplace:scale=6",
            "follow laplace:scale=6",
        ),
        ("liu:start=170,quantile=0.9", "gaussian:sigma=9", "the 0.9 quantile of the values", "near the 0.9 quantile"),
        (
            "liu:pilot=0.5,low=100,high=250",
            "gaussian:sigma=9",
            "the median of the values",
            "for the pilot: the values are Gaussian",
        ),
    ] {
        let run = |format: &str| {
            let call =
                format!("estimate --quiet --estimator {spec} --model {model} --epsilon 1 --seed 1 --format {format}");
            ldp(&call).on(&file).succeeds()
        };
        let record = run("json").json();
        assert!(record["estimates"].as_str().expect("a text").starts_with(estimates), "{record:#}");
        assert!(record["assumptions"].to_string().contains(assumption), "{record:#}");
        assert!(record["diagnostics"].as_array().is_some_and(Vec::is_empty), "{record:#}");
        let human = run("human").stdout;
        let rows: Vec<_> = human.lines().filter(|line| line.starts_with('│')).collect();
        assert!(rows[0].starts_with("│ estimates ") && human.contains("│ assumes "), "{human}");
        // A model that plays no part is not shown as if it did.
        assert_eq!(
            human.lines().next().expect("a line").contains(" on "),
            !spec.starts_with("clipped-mean"),
            "{human}"
        );
    }
}

#[test]
fn an_assumption_that_the_reports_contradict_is_told() {
    let folder = Folder::new();
    let (tall, rich) = (folder.file("heights.csv", heights(20_000)), folder.file("incomes.csv", incomes(20_000)));
    for (file, spec, model, kind) in [
        (&rich, "clipped-mean:low=-4,high=4", "gaussian", "clipped"),
        (&rich, "clipped-mean:low=0,high=1000", "gaussian", "clipped"),
        (&rich, "one-stage:start=0", "gaussian:sigma=1", "one-sided"),
        (&tall, "two-stage:start=165", "gaussian:sigma=90", "stages-disagree"),
        (&tall, "joseph:low=0,high=160", "gaussian:sigma=9", "outside-range"),
        (&tall, "joseph:low=0,high=171.5", "gaussian:sigma=9", "near-end"),
        (&tall, "duchi-rogers:start=165,range=3", "gaussian:sigma=9", "outside-range"),
        (&tall, "clipped-mean:low=0,high=172", "gaussian", "clipped"),
    ] {
        let call = format!("estimate --estimator {spec} --model {model} --epsilon 1 --seed 2 --format json");
        let ran = ldp(&call).on(file).succeeds();
        let record = ran.json();
        assert!(kinds(&record).contains(&kind), "{spec}: {record:#}");
        for found in record["diagnostics"].as_array().expect("a list") {
            let text = found["text"].as_str().expect("a text");
            assert!(ran.stderr.contains(&format!("warning: {text}")), "{ran:#?}");
            assert!(found.as_object().expect("an object").len() > 2, "{found}");
        }
        assert!(ldp(&call).with("--quiet").on(file).succeeds().stderr.is_empty());
    }
    // Signs of incomes at a wrong start and sigma are one-sided or, by chance, far off: never passed in silence.
    for seed in 0..40 {
        let call = format!(
            "estimate --estimator two-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed {seed} --format json"
        );
        let record = ldp(&call).with("--quiet").on(&rich).succeeds().json();
        let told = |kind: &&str| ["one-sided", "far-from-threshold"].contains(kind);
        assert!(kinds(&record).iter().any(told), "{record:#}");
    }
    // Incomes between ends that hold them: nothing to say, and the mean in the interval.
    let call = "estimate --estimator clipped-mean:low=0,high=400000 --epsilon 1 --seed 2 --format json";
    let record = ldp(call).on(&rich).succeeds().json();
    assert!(kinds(&record).is_empty(), "{record:#}");
    let [low, high] = ["low", "high"].map(|end| record["interval"][end].as_f64().expect("finite"));
    assert!(low < 41_980.0 && 41_980.0 < high, "{record:#}");
}

#[test]
fn a_number_that_the_model_does_not_have_is_refused_with_its_place() {
    let folder = Folder::new();
    for (model, cell, words) in [
        ("bernoulli", "171.4", "0 or 1"),
        ("bernoulli", "-1", "0 or 1"),
        ("bernoulli", "2", "0 or 1"),
        ("categorical:size=4", "2.5", "a whole number from 0 to 3"),
        ("categorical:size=4", "4", "a whole number from 0 to 3"),
        ("categorical:size=2", "0.5", "0 or 1"),
        ("exponential", "-3", "at least 0"),
        ("poisson", "2.5", "a whole number, at least 0"),
        ("poisson", "-1", "a whole number, at least 0"),
    ] {
        let file = folder.file("data.csv", format!("id,x\n1,0\n2,1\n3,{cell}\n4,1\n5,0\n"));
        let call =
            format!("estimate --column x --estimator efficient:start=0.4,first-stage=1 --model {model} --epsilon 1");
        let refused = ldp(&call).on(&file).must_be_refused();
        let message = format!("data.csv: line 4, column \"x\": a value of {model} must be {words}");
        assert!(refused.stderr.contains(&message) && refused.stderr.contains("--skip-invalid"), "{refused:#?}");
        // The value itself may be anybody's.
        assert!(
            !refused.stderr.contains(&format!("\"{cell}\"")) && !refused.stderr.contains(&format!(" {cell} ")),
            "{refused:#?}"
        );
        let record = ldp(&call).with("--skip-invalid --quiet --format json").on(&file).succeeds().json();
        assert_eq!((record["users"].as_u64(), record["skipped"].as_u64()), (Some(4), Some(1)), "{record:#}");
    }
    // Ends belong to it, and any number is one of a location family.
    for (model, cells) in
        [("exponential", "0\n-0\n1e9\n"), ("poisson", "0\n1e9\n3\n"), ("gaussian:sigma=1", "-3\n2.5\n")]
    {
        let call =
            format!("estimate - --estimator efficient:start=1,first-stage=1 --model {model} --epsilon 1 --quiet");
        ldp(&call).fed(cells).succeeds();
    }
}

#[test]
fn a_level_next_to_one_is_not_shown_as_all() {
    let folder = Folder::new();
    let file = folder.file("heights.csv", heights(2_000));
    for (level, shown) in [
        ("0.999999", "99.9999 % exact"),
        ("0.9999999999", "99.99999999 % exact"),
        ("0.95", "95 % exact"),
        ("0.1234", "12.3 % exact"),
        ("1e-12", "1.00e-10 % exact"),
    ] {
        let call = format!(
            "estimate --quiet --estimator two-stage:start=165 --model gaussian:sigma=9 --epsilon 1 --level {level}"
        );
        let human = ldp(&call).on(&file).succeeds().stdout;
        assert!(human.contains(shown), "{human}");
    }
}

/// A protocol that measures in standard deviations takes none from a model that has none: 1 would be as good as any.
#[test]
fn a_model_without_a_scale_is_no_unit() {
    for (spec, also) in [
        ("one-stage:start=182", ""),
        ("two-stage:start=182", ""),
        ("joseph:low=100,high=250", ""),
        ("duchi-rogers:start=170,range=10", ""),
        ("liu:start=170", ", or scale=SCALE in --estimator"),
        ("liu:low=100,high=250,pilot=0.5", ""),
        ("efficient:low=100,high=250,pilot=0.5", ""),
    ] {
        for model in ["exponential", "poisson", "bernoulli", "gaussian-scale", "categorical:size=4"] {
            let call = format!("estimate /no/such/file.csv --estimator {spec} --model {model} --epsilon 1");
            let refused = ldp(&call).must_be_refused();
            let said = format!("{model} does not tell any: on data give --model gaussian:sigma=SIGMA{also}\n");
            assert!(refused.stderr.ends_with(&said), "{refused:#?}");
        }
    }
    // What measures in its own unit, or takes nothing but the family, needs no other.
    let folder = Folder::new();
    let file = folder.file("incomes.csv", incomes(5_000));
    for spec in ["liu:start=30000,scale=20000", "clipped-mean:low=0,high=400000", "efficient:start=40000"] {
        let call = format!("estimate --quiet --estimator {spec} --model exponential --epsilon 1 --seed 1");
        ldp(&call).on(&file).succeeds();
    }
}

/// A standard deviation of data is what somebody takes it for: the interval is the one for a guess, and the result says what
/// the steps are.
#[test]
fn the_unit_of_the_steps_is_a_guess_on_data() {
    let folder = Folder::new();
    let file = folder.file("heights.csv", heights(20_000));
    for (sigma, spec) in [("0.9", "liu:start=170"), ("9", "liu:start=170"), ("9", "liu:low=100,high=250,pilot=0.3")] {
        let call = format!("estimate --quiet --estimator {spec} --model gaussian:sigma={sigma} --epsilon 2 --seed 1");
        let record = ldp(&call).with("--format json").on(&file).succeeds().json();
        let unit = format!("the steps have the unit {sigma}");
        assert!(record["assumptions"].to_string().contains(&unit), "{record:#}");
        let widened = record["interval_caveat"].as_str().is_some_and(|text| text.contains("widened"));
        // Of steps ten times too short the path may say nothing.
        assert!(widened || sigma == "0.9" && record["interval"].is_null(), "{record:#}");
    }
}

/// The mean of clipped values is what is estimated, and how many were clipped it does not tell: the result says how many there
/// can be, and warns where the mean is far out.
#[test]
fn clipping_is_told_as_far_as_the_reports_know() {
    let folder = Folder::new();
    let file = folder.file("incomes.csv", incomes(20_000));
    for (clipped, warned) in [(0.05, false), (0.4, true), (0.77, true)] {
        let high = (10.4 - 0.7 * normal::quantile(clipped)).exp();
        let call = format!("estimate --quiet --estimator clipped-mean:low=0,high={high} --epsilon 1 --seed 1");
        let record = ldp(&call).with("--format json").on(&file).succeeds().json();
        assert_eq!(kinds(&record).contains(&"clipped"), warned, "{record:#}");
        assert!(number(&record, "most_clipped_above") >= clipped, "{record:#}");
        let human = ldp(&call).on(&file).succeeds().stdout;
        let [first, second, third] = [0, 1, 2].map(|row| {
            let rows = human.lines().filter(|line| line.starts_with('│') && !line.starts_with("│  "));
            rows.map(str::to_owned).nth(row).expect("a row")
        });
        assert!(first.contains("the mean of the values clipped to [0, "), "{human}");
        assert!(second.starts_with("│ assumes ") && third.starts_with("│ clipped "), "{human}");
        // The model is not used, and nobody gave it.
        assert!(record["model"].is_null(), "{record:#}");
    }
}

/// The example of the README on its file: what it assumes is true there. Of 100 seeded intervals at 95 % at least 88 hold the
/// mean of the rows, 171.414 (88 of 100 or fewer have probability 0.4 % at 95 %, and the mean of the rows is nearer to the
/// estimate than that of whoever they were drawn from); nothing is said against the assumptions, but for chance.
#[test]
fn the_example_of_the_readme_holds() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/heights.csv");
    let example =
        "estimate --column height --estimator two-stage:start=165 --model gaussian:sigma=9 --epsilon 1 --quiet";
    let (mut covered, mut quiet) = (0, 0);
    for seed in 0..100 {
        let record = ldp(example).with(&format!("--format json --seed {seed}")).on(file).succeeds().json();
        let [low, high] = ["low", "high"].map(|end| record["interval"][end].as_f64().unwrap_or(f64::NAN));
        covered += u32::from(low < 171.414 && 171.414 < high);
        quiet += u32::from(kinds(&record).is_empty());
    }
    assert!(covered >= 88 && quiet >= 99, "{covered} cover, {quiet} quiet");
}

/// With noise of standard deviation 3 values of standard deviation 1 have √10. If none were added, the share above the start would
/// say that the mean is three times as far away.
#[test]
fn blurred_values_have_the_noise_that_the_plan_counts_on() {
    let folder = Folder::new();
    let file = folder.file("values.csv", column(40_000, |p| 1.0 + normal::quantile(p)));
    let call = "estimate --estimator one-stage:start=0 --epsilon 4 --seed 5 --format json --model gaussian:sigma=";
    let total = 10f64.sqrt();
    let record = ldp(&format!("{call}{total} --blur 3")).on(&file).succeeds().json();
    let error = number(&record, "standard_error");
    // Five standard errors: α < 1e-6. The values themselves add 1/√40000.
    assert!((number(&record, "estimate") - 1.0).abs() < 5.0 * error, "{record}");
    assert_eq!(number(&record, "blur"), 3.0);
    let mutant = ldp(&format!("{call}{total}")).on(&file).succeeds().json();
    assert!(number(&mutant, "estimate") > 1.0 + 50.0 * error, "{mutant}");
    for (wrong, limit) in [
        ("--blur 4 --model gaussian:sigma=3", "below sigma of --model, 3"),
        ("--blur 0 --model gaussian:sigma=3", "positive"),
        ("--blur 1 --model laplace:scale=3", "--model gaussian"),
    ] {
        let call = format!("estimate --estimator one-stage:start=0 --epsilon 1 {wrong}");
        let refused = ldp(&call).on("/no/such/file.csv").must_be_refused();
        assert!(refused.stderr.contains(limit) && refused.stderr.contains("--blur"), "{}", refused.stderr);
    }
}
