//! `ldp optimal` finds, certifies, sweeps, exports, and verifies.

mod common;

use common::{Folder, ldp, number};
use ldp_core::{Epsilon, FiniteChannel, Mechanism};
use serde_json::Value;
use std::fs;

fn record(arguments: &str) -> Value {
    ldp(arguments).with("--format json").succeeds().json()
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() < relative, "{found} is not {expected}");
}

#[test]
fn known_values_and_every_field() {
    let record = record("optimal --model gaussian --epsilon 2.2");
    close(number(&record, "information"), 0.420834478, 1e-8);
    assert!(number(&record, "upper_bound") >= number(&record, "information"));
    assert!((0.0..1e-6).contains(&number(&record, "relative_gap")));
    assert_eq!(record["outputs"], 3);
    let cuts: Vec<f64> = record["cuts"].as_array().unwrap().iter().map(|cut| cut.as_f64().unwrap()).collect();
    assert!(cuts.len() == 2 && (cuts[1] - 0.391101561).abs() < 1e-8 && cuts[0] == -cuts[1], "{cuts:?}");
    assert_eq!((number(&record, "nonprivate"), &record["verified"]), (1.0, &Value::Null));
    assert!(record["seconds"].is_null() && record["model"] == "gaussian:sigma=1");
    // The middle of an odd number of cuts is zero itself, not something near it.
    let even = self::record("optimal --epsilon 3.5");
    assert_eq!((&even["outputs"], &even["cuts"][1]), (&Value::from(4), &Value::from(0.0)));
}

#[test]
fn other_families_at_their_usual_parameter() {
    for (model, theta, value) in [
        ("exponential", 1.0, 0.546677181),
        ("gaussian-scale", 1.0, 1.016251648),
        ("laplace:scale=0.5", 0.0, 4.0 * 1.5f64.tanh().powi(2)),
        ("poisson", 1.0, 0.0),
        ("bernoulli", 0.5, 4.0 * 1.5f64.tanh().powi(2)),
        ("categorical:size=5", 0.5, 0.0),
        ("student-t:degrees=3", 0.0, 0.467222482),
    ] {
        let record = record(&format!("optimal --model {model} --epsilon 3"));
        assert_eq!(number(&record, "theta"), theta, "{model}");
        assert!(number(&record, "relative_gap") < 1e-6, "{model}");
        if value > 0.0 {
            close(number(&record, "information"), value, 2e-9);
        }
    }
}

#[test]
fn certificates_are_written_and_checked() {
    let folder = Folder::new();
    let shown = |name: &str| folder.path(name).display().to_string();
    let (certificate, mechanism) = (shown("certificate.json"), shown("mechanism.json"));
    let found = record(&format!(
        "optimal --model gaussian:sigma=3 --theta -20 --epsilon 3 --certificate {certificate} --export {mechanism}"
    ));
    let verified = record(&format!("optimal --verify {certificate}"));
    assert_eq!((&verified["verified"], &verified["information"]), (&Value::Bool(true), &found["information"]));
    // What is exported is a question for clients.
    let question: FiniteChannel = serde_json::from_str(&fs::read_to_string(&mechanism).unwrap()).unwrap();
    assert!(question.epsilon() <= Epsilon::new(3.0).unwrap());
    let text = fs::read_to_string(&certificate).unwrap();
    let content: Value = serde_json::from_str(&text).unwrap();
    let bad = shown("bad.json");
    for (change, why) in [
        ("epsilon", "epsilon (of the weights in mechanism.kernel) is 2.96"),
        ("information", "information (of the mechanism under the model at theta, by its partition and kernel) is 0.06"),
        ("upper_bound", "upper_bound (the integral of beta under the model at theta) is 0.0653"),
        ("knot", "beta"),
        ("cut", "information (of the mechanism"),
    ] {
        let mut tampered = content.clone();
        let certificate = &mut tampered["certificate"];
        match change {
            "knot" => {
                let knots = certificate["beta"]["knots"].as_array_mut().unwrap();
                let middle = knots.len() / 2;
                knots[middle] = Value::from(knots[middle].as_f64().unwrap() + 1e-3);
            }
            "cut" => {
                let cut = &mut certificate["mechanism"]["partition"]["cuts"]["cuts"][0];
                *cut = Value::from(cut.as_f64().unwrap() + 0.03);
            }
            "information" => certificate[change] = Value::from(certificate[change].as_f64().unwrap() * 1.01),
            _ => certificate[change] = Value::from(certificate[change].as_f64().unwrap() * 0.99),
        }
        fs::write(&bad, tampered.to_string()).unwrap();
        let run = ldp(&format!("optimal --verify {bad}")).must_be_refused();
        run.saying("the certificate is refused").saying(why);
    }
    // Another family, no certificate, no file.
    fs::write(&bad, text.replace("gaussian:sigma=3", "logistic:scale=3")).unwrap();
    ldp(&format!("optimal --verify {bad}")).must_be_refused().saying("refused");
    fs::write(&bad, text.replace("gaussian:sigma=3", "gausian")).unwrap();
    ldp(&format!("optimal --verify {bad}")).must_be_refused().saying("did you mean 'gaussian'");
    fs::write(&bad, "{}").unwrap();
    ldp(&format!("optimal --verify {bad}")).must_be_refused().saying("model is missing");
    ldp("optimal --verify /nowhere/certificate.json").must_be_refused().saying("/nowhere/certificate.json");
}

#[test]
fn a_sweep_has_a_line_per_point_and_a_diagram() {
    let folder = Folder::new();
    let svg = folder.path("phases.svg").display().to_string();
    let sweep = record(&format!("optimal --sweep epsilon=0.5:5:10 --svg {svg}"));
    let points = sweep["points"].as_array().unwrap();
    assert_eq!(points.len(), 10);
    let outputs: Vec<u64> = points.iter().map(|point| point["outputs"].as_u64().unwrap()).collect();
    assert_eq!(outputs, [2, 2, 2, 2, 3, 3, 4, 5, 5, 6]);
    for pair in points.windows(2) {
        assert!(number(&pair[0], "information") < number(&pair[1], "information"));
    }
    let drawn = fs::read_to_string(&svg).unwrap();
    for text in ["optimal", "best one bit", "no privacy", "Number of reports", "Cuts"] {
        assert!(drawn.contains(text), "{text}");
    }
    // Reports: level from point to point, upright between. Cuts: a curve for each cut of each phase, and dots where a phase
    // has one point.
    let curve = |title: &str| {
        let panel = &drawn[drawn.find(title).unwrap()..];
        panel.lines().find(|line| line.contains("stroke=\"#0072B2\"")).unwrap().split('"').nth(1).unwrap().to_owned()
    };
    let (steps, cuts) = (curve("Number of reports"), curve("Cuts of"));
    assert_eq!((steps.matches('M').count(), steps.matches('L').count()), (1, 9 + 2 * 4));
    let phases: Vec<&[Value]> = points.chunk_by(|a, b| a["outputs"] == b["outputs"]).collect();
    let count = |phase: &&[Value]| phase[0]["cuts"].as_array().unwrap().len();
    assert_eq!(cuts.matches('M').count(), phases.iter().map(count).sum::<usize>());
    let alone = phases.iter().filter(|phase| phase.len() == 1).map(count).sum::<usize>();
    assert_eq!(drawn.matches("<circle").count(), alone);
    // The same figure as PNG.
    let png = folder.path("phases.png");
    ldp("optimal --sweep epsilon=0.5:5:10 --svg").on(&png).succeeds();
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    let csv = ldp("optimal --sweep theta=0.5:2:4 --model exponential --epsilon 3 --format csv").succeeds().stdout;
    assert_eq!((csv.lines().count(), csv.lines().next().unwrap().ends_with("outputs,cuts")), (5, true));
}

#[test]
fn switches_are_listed() {
    let found = record("optimal --switches 4 --model gaussian:sigma=2 --theta 5");
    let switches = found["switches"].as_array().unwrap();
    assert_eq!(switches.len(), 3);
    for (switch, (level, from)) in switches.iter().zip([(2.0074028525, 2), (3.1388267406, 3), (3.9181339383, 4)]) {
        assert!((number(switch, "epsilon") - level).abs() < 1e-9);
        assert_eq!((&switch["from"], &switch["to"]), (&Value::from(from), &Value::from(from + 1)));
    }
    let table = ldp("optimal --switches 2.5").succeeds().stdout;
    assert!(table.contains("2.0074028525") && !table.contains("3.13"), "{table}");
    assert!(ldp("optimal --switches 2.5 --model laplace").succeeds().stdout.contains("never changes"));
    let csv = ldp("optimal --switches 2.5 --format csv").succeeds().stdout;
    assert_eq!((csv.lines().count(), csv.lines().next()), (2, Some("epsilon,from,to,information")));
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (arguments, why) in [
        ("optimal", "--epsilon"),
        ("optimal --epsilon 31", "at most 30"),
        ("optimal --epsilon 0", "epsilon"),
        ("optimal --epsilon 1 --model exponential --theta 0", "--theta 0 for exponential"),
        (
            "optimal --epsilon 1 --model gaussian:sigma=1e-200",
            "the information of a value at theta must be positive and finite",
        ),
        ("optimal --sweep users=1:2:2 --epsilon 1", "epsilon or theta can be swept, not users"),
        ("optimal --sweep theta=1:2:2", "--epsilon is missing"),
        ("optimal --sweep epsilon=1:40:2", "at most 30"),
        ("optimal --epsilon 1 --svg x.svg", "--sweep"),
        ("optimal --epsilon 1 --verify c.json", "cannot be used with"),
        ("optimal --switches 31", "at most 30"),
        ("optimal --switches 0", "epsilon"),
        ("optimal --switches 3 --epsilon 1", "cannot be used with"),
        ("optimal --switches 3 --model exponential --theta -1", "--theta -1 for exponential"),
        ("optimal --epsilon 1 --model logistc", "did you mean 'logistic'"),
    ] {
        ldp(arguments).must_be_refused().saying(why);
    }
}

#[test]
fn bounds_and_efficiencies_come_from_here() {
    let fisher = record("fisher --mechanism sign --epsilon 4");
    close(number(&fisher, "optimal"), 0.751847210, 1e-8);
    close(number(&fisher, "efficiency"), number(&fisher, "information") / 0.751847210, 1e-8);
    let logistic = record("fisher --mechanism sign --model logistic --epsilon 1");
    close(number(&logistic, "efficiency"), 1.0, 1e-9);
    let simulated = record(
        "simulate --estimator efficient:first-stage=100 --model exponential --theta 2 --users 5000 --epsilon 3 --replications 50",
    );
    // The information of a scale falls with its square.
    close(number(&simulated, "bound"), 4.0 / 0.546677181, 1e-8);
}
