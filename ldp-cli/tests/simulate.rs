//! `ldp simulate` says what it promises to say, and its numbers are those of the theory.

mod common;

use common::{ends, ldp, number};
use serde_json::Value;

/// n·MSE of the two-stage protocol from half a σ away, 306 of 10,000 users in the first stage, ε = 1: the distribution
/// summed, nothing drawn.
const TWO_STAGE: f64 = 7.81310297818555;
/// The same for the one-stage protocol, under the convention for counts beyond what any mean explains.
const ONE_STAGE: f64 = 9.162655760845462;

const HALF_SIGMA_AWAY: &str =
    "simulate --estimator two-stage:start=0,first-stage=306 --model gaussian --theta 0.5 --users 10000 --epsilon 1";

fn record(arguments: &str) -> Value {
    ldp(arguments).with("--format json").succeeds().json()
}

fn contains([low, high]: [f64; 2], value: f64) -> bool {
    low <= value && value <= high
}

/// The entry for one kind of interval.
fn interval<'a>(record: &'a Value, kind: &str) -> &'a Value {
    let all = record["intervals"].as_array().expect("intervals is a list");
    all.iter().find(|entry| entry["kind"] == kind).unwrap_or_else(|| panic!("no {kind} interval in {record:#}"))
}

fn assert_close(left: f64, right: f64, relative: f64) {
    assert!((left - right).abs() <= relative * right.abs(), "{left} is not {right}");
}

#[test]
fn the_record_has_every_field_it_promises() {
    let record = record(&format!("{HALF_SIGMA_AWAY} --replications 2000 --seed 7 --threads 1"));
    for (field, expected) in [
        ("command", "simulate"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("estimator", "two-stage:start=0,first-stage=306"),
        ("model", "gaussian:sigma=1"),
        ("fidelity", "tally"),
    ] {
        assert_eq!(record[field], expected, "{field}");
    }
    for (field, expected) in [("theta", 0.5), ("epsilon", 1.0), ("level", 0.95), ("scaled_mse_level", 0.99)] {
        assert_eq!(number(&record, field), expected, "{field}");
    }
    for (field, expected) in [("users", 10_000), ("replications", 2_000), ("seed", 7)] {
        assert_eq!(record[field].as_u64(), Some(expected), "{field}");
    }
    let (mse, variance, bias) = (number(&record, "scaled_mse"), number(&record, "variance"), number(&record, "bias"));
    assert!(contains(ends(&record, "scaled_mse_interval"), mse));
    // MSE = variance + bias², whether the variance is divided by R or by R − 1.
    assert_close(mse, 1e4 * (variance + bias * bias), 1e-3);
    assert_close(number(&record, "bound"), 7.3556, 1e-5);
    assert!(record["bound_reason"].is_null());
    assert_close(number(&record, "efficiency"), number(&record, "bound") / mse, 1e-12);
    for field in ["coverage", "fallbacks"] {
        assert!((0.0..=1.0).contains(&number(&record, field)), "{field}");
    }
    for kind in ["exact", "wald"] {
        let entry = interval(&record, kind);
        for field in ["coverage", "missing", "infinite"] {
            assert!((0.0..=1.0).contains(&number(entry, field)), "{kind} {field}");
        }
        assert!(number(entry, "mean_finite_width") > 0.0, "{kind}");
    }
    // The default interval is the exact one: a binomial stage ends the protocol.
    assert_eq!(record["coverage"], interval(&record, "exact")["coverage"]);
}

#[test]
fn an_unknown_bound_is_null_with_a_reason() {
    let start = "simulate --users 1000 --replications 100 --epsilon 1";
    for unknown in [
        "--estimator vector-gaussian:dimension=2 --theta 0.1",
        "--estimator liu:quantile=0.7 --theta 0.1",
        "--estimator clipped-mean:low=0,high=9 --model gaussian-scale --theta 2",
    ] {
        let record = record(&format!("{start} {unknown}"));
        assert!(record["bound"].is_null() && record["efficiency"].is_null(), "{unknown}: {record:#}");
        assert!(record["bound_reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{unknown}: {record:#}");
        number(&record, "scaled_mse");
    }
}

/// Where there is no closed form the bound is that of the best mechanism found, here from an independent computation.
#[test]
fn every_family_and_level_has_a_bound() {
    for (setting, information) in [
        ("--theta 0.1 --epsilon 2", 0.369255803),
        ("--theta 0.1 --epsilon 5 --model gaussian:sigma=0.5", 4.0 * 0.85533558),
        ("--theta 0.1 --epsilon 1 --model logistic", 0.053388067),
        ("--theta 2 --epsilon 5 --model exponential", 0.820343528 / 4.0),
    ] {
        let record = record(&format!("simulate --estimator two-stage --users 1000 --replications 100 {setting}"));
        assert_close(number(&record, "bound"), 1.0 / information, 1e-8);
        assert_close(number(&record, "efficiency"), number(&record, "bound") / number(&record, "scaled_mse"), 1e-12);
        assert!(record["bound_reason"].is_null());
    }
}

#[test]
fn the_bounds_are_the_closed_forms() {
    let bound = |model: &str, epsilon: f64| {
        let record = record(&format!(
            "simulate --estimator one-stage --theta 0 --users 1000 --replications 10 --model {model} --epsilon {epsilon}"
        ));
        assert!(record["bound_reason"].is_null());
        number(&record, "bound")
    };
    let tanh_squared = |epsilon: f64| (epsilon / 2.0).tanh().powi(2);
    for epsilon in [0.2, 1.0, 4.0] {
        for scale in [1.0, 2.5] {
            let expected = scale * scale / tanh_squared(epsilon);
            assert_close(bound(&format!("laplace:scale={scale}"), epsilon), expected, 1e-12);
        }
    }
    for epsilon in [0.2, 1.0, 1.048] {
        let expected = 9.0 * std::f64::consts::FRAC_PI_2 / tanh_squared(epsilon);
        assert_close(bound("gaussian:sigma=3", epsilon), expected, 1e-12);
    }
}

#[test]
fn the_interval_for_the_mse_contains_the_exact_risk() {
    // Level 99 %, half-width 1.6 % of the value: one wrong constant, or a first stage of another size, falls outside.
    // All five seeds would pass by chance with probability 0.95; they are fixed, so they pass always or never.
    for seed in 1..=5 {
        let record = record(&format!("{HALF_SIGMA_AWAY} --replications 50000 --seed {seed}"));
        let interval = ends(&record, "scaled_mse_interval");
        assert!(contains(interval, TWO_STAGE), "seed {seed}: {interval:?}");
        assert!(interval[1] - interval[0] < 0.04 * TWO_STAGE, "seed {seed}: {interval:?}");
    }
}

#[test]
fn drawing_every_user_agrees_with_the_exact_risk() {
    // Level 99 %, half-width 12 %: would catch users who all draw the same value, or noise of the wrong strength. The
    // other side of the mean is the same protocol in a mirror.
    for (theta, seed) in [(0.5, 1), (-0.5, 2)] {
        let record = record(&format!(
            "simulate --estimator two-stage:start=0,first-stage=306 --theta {theta} --users 10000 --epsilon 1 \
             --replications 1000 --fidelity users --seed {seed}"
        ));
        assert_eq!(record["fidelity"], "users");
        assert!(contains(ends(&record, "scaled_mse_interval"), TWO_STAGE), "{record:#}");
    }
}

#[test]
fn one_stage_near_its_start_has_the_known_risk_and_both_intervals_cover() {
    let record =
        record("simulate --estimator one-stage --theta 0.5 --users 10000 --epsilon 1 --replications 50000 --seed 1");
    // Level 99 %, half-width 1.6 %.
    assert!(contains(ends(&record, "scaled_mse_interval"), ONE_STAGE), "{record:#}");
    // One per cent is ten standard errors of a coverage: catches limits at another level, or one-sided ones.
    for kind in ["exact", "wald"] {
        let coverage = number(interval(&record, kind), "coverage");
        assert!((coverage - 0.95).abs() < 0.01, "{kind}: {coverage}");
    }
}

#[test]
fn one_stage_far_from_its_start_keeps_the_exact_coverage_and_loses_walds() {
    // The standard error of a coverage is 0.3 % here. A wald interval that covers more has been given limits where
    // the counts have none; an exact one that covers less has lost its infinite ends.
    let record =
        record("simulate --estimator one-stage --theta 2.5 --users 10000 --epsilon 1 --replications 20000 --seed 1");
    let exact = number(interval(&record, "exact"), "coverage");
    let wald = number(interval(&record, "wald"), "coverage");
    assert!(exact >= 0.94, "{exact}");
    assert!((wald - 0.64).abs() < 0.015, "{wald}");
    assert!(number(interval(&record, "exact"), "infinite") > 0.5);
    assert!(number(&record, "fallbacks") > 0.1);
}

#[test]
fn one_stage_started_at_the_truth_attains_the_sign_bound_at_any_epsilon() {
    // n·MSE tends to (π/2) / tanh²(ε/2). Level 99 %, half-width 2.6 %: catches a lie of the wrong probability. At a
    // million users the next term of the expansion is below 0.1 % even at ε = 0.2.
    for epsilon in [0.2_f64, 1.0, 4.0] {
        let record = record(&format!(
            "simulate --estimator one-stage:start=-1.25 --theta -1.25 --users 1000000 --epsilon {epsilon} \
             --replications 20000 --seed 3"
        ));
        let expected = std::f64::consts::FRAC_PI_2 / (epsilon / 2.0).tanh().powi(2);
        assert!(contains(ends(&record, "scaled_mse_interval"), expected), "epsilon {epsilon}: {record:#}");
        // The same precision seen from the intervals: six standard errors.
        let coverage = number(&record, "coverage");
        assert!((coverage - 0.95).abs() < 0.01, "epsilon {epsilon}: {coverage}");
    }
}

#[test]
fn moving_start_and_theta_together_changes_nothing() {
    let scaled_mse = |start: f64, theta: f64| {
        let estimator = format!("two-stage:start={start},first-stage=306");
        let run = format!("simulate --estimator {estimator} --theta {theta} --users 10000 --epsilon 1 --seed 4");
        number(&record(&run), "scaled_mse")
    };
    let here = scaled_mse(0.0, 0.5);
    assert_close(scaled_mse(-2.0, -1.5), here, 1e-9);
    assert_close(scaled_mse(-0.25, 0.25), here, 1e-9);
}

#[test]
fn a_known_sigma_is_a_unit() {
    let record_of = |sigma: f64, start: f64, theta: f64| {
        record(&format!(
            "simulate --estimator two-stage:start={start},first-stage=306 --model gaussian:sigma={sigma} \
             --theta {theta} --users 10000 --epsilon 1 --replications 5000 --seed 5"
        ))
    };
    for (sigma, start, theta) in [(3.0, 0.0, 0.5), (0.3, 0.0, 0.5), (0.3, -1.0, -0.5), (1e6, 1.0, 1.5)] {
        let unit = record_of(1.0, start, theta);
        // Not `sigma * theta` in floats: 0.3 · 0.5 has to be typed 0.15.
        let typed = |value: f64| (sigma * value * 1e6).round() / 1e6;
        let scaled = record_of(sigma, typed(start), typed(theta));
        for (field, power) in [("scaled_mse", 2), ("variance", 2), ("bound", 2), ("bias", 1)] {
            // The bias is what is left of cancelling terms 500 times as large.
            let relative = if field == "bias" { 1e-6 } else { 1e-9 };
            assert_close(number(&scaled, field), sigma.powi(power) * number(&unit, field), relative);
        }
        assert_close(number(&scaled, "efficiency"), number(&unit, "efficiency"), 1e-9);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    for size in ["--users 10000 --replications 20000", "--fidelity users --users 3000 --replications 500"] {
        let bytes = |more: &str| {
            let run = format!("simulate --estimator two-stage --theta 0.5 --epsilon 1 --format json {size} {more}");
            ldp(&run).succeeds().stdout
        };
        let one = bytes("--seed 11 --threads 1");
        assert_eq!(one, bytes("--seed 11 --threads 2"), "{size}");
        assert_eq!(one, bytes("--seed 11"), "{size}");
        // Two seeds with the same sum over thousands of replications would be one chance in 2^50.
        let other = bytes("--seed 12 --threads 1");
        let scaled_mse = |text: &str| text.lines().find(|line| line.contains("\"scaled_mse\"")).map(str::to_owned);
        assert_ne!(scaled_mse(&one), scaled_mse(&other), "{size}");
    }
}

#[test]
fn a_run_without_a_seed_can_be_repeated_from_its_record() {
    let run = "simulate --estimator one-stage --theta 0.5 --users 1000 --epsilon 1 --replications 1000";
    let first = record(run);
    let seed = first["seed"].as_u64().expect("the record holds the seed that was used");
    assert_eq!(record(&format!("{run} --seed {seed}"))["scaled_mse"], first["scaled_mse"]);
}

#[test]
fn interval_and_level_choose_what_coverage_means() {
    let run = format!("{HALF_SIGMA_AWAY} --replications 20000 --seed 6");
    let wald = record(&format!("{run} --interval wald"));
    assert_eq!(wald["coverage"], interval(&wald, "wald")["coverage"]);
    let half = record(&format!("{run} --interval exact --level 0.5"));
    assert_eq!(number(&half, "level"), 0.5);
    assert_eq!(half["coverage"], interval(&half, "exact")["coverage"]);
    // Two per cent is 5.7 standard errors: the level reached the limits.
    assert!((number(&half, "coverage") - 0.5).abs() < 0.02, "{half:#}");
    // The draws do not depend on what is asked of them.
    assert_eq!(half["scaled_mse"], wald["scaled_mse"]);
}

#[test]
fn csv_and_human_show_the_numbers_of_the_json() {
    let run = format!("{HALF_SIGMA_AWAY} --replications 2000 --seed 8");
    let json = record(&run);

    let csv = ldp(&run).with("--format csv").succeeds().silently().stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1, "{csv}");
    let cell = |name: &str| {
        let index = header.iter().position(|field| field == name).unwrap_or_else(|| panic!("no {name} in {csv}"));
        rows[0][index].to_owned()
    };
    for field in ["scaled_mse", "bias", "variance", "bound", "efficiency", "coverage", "theta", "epsilon"] {
        // Every digit: a table is for computing with, too.
        assert_eq!(cell(field).parse::<f64>().unwrap(), number(&json, field), "{field}");
    }
    assert_eq!(cell("scaled_mse_interval.0").parse::<f64>().unwrap(), ends(&json, "scaled_mse_interval")[0]);
    assert_eq!(cell("scaled_mse_interval.1").parse::<f64>().unwrap(), ends(&json, "scaled_mse_interval")[1]);
    assert_eq!(cell("estimator"), "two-stage:start=0,first-stage=306");
    assert_eq!(cell("bound_reason"), "");

    let human = ldp(&run).succeeds().silently().stdout;
    let [low, high] = ends(&json, "scaled_mse_interval");
    for shown in [
        format!("{:.4}", number(&json, "scaled_mse")),
        format!("{low:.4} to {high:.4}"),
        format!("{:.4}", number(&json, "bound")),
        format!("{:.4}", number(&json, "efficiency")),
        format!("{:.2} %", 100.0 * number(&json, "coverage")),
        "two-stage:start=0,first-stage=306 on gaussian:sigma=1".to_owned(),
        "2000 replications".to_owned(),
        "seed 8".to_owned(),
    ] {
        assert!(human.contains(&shown), "no {shown:?} in\n{human}");
    }
}

#[test]
fn every_model_runs_at_both_fidelities_without_a_nan() {
    let models = ldp("list models --format json").succeeds().json();
    let models = models["models"].as_array().expect("a list of models");
    assert!(models.len() >= 9);
    for model in models {
        let name = model["name"].as_str().expect("a model has a name");
        for fidelity in ["tally", "users"] {
            for estimator in ["one-stage", "two-stage"] {
                // One half lies in the parameter space of every family.
                let record = record(&format!(
                    "simulate --estimator {estimator} --model {name} --theta 0.5 --users 500 --epsilon 1 \
                     --replications 100 --fidelity {fidelity} --quiet"
                ));
                for field in ["scaled_mse", "bias", "variance", "coverage", "fallbacks"] {
                    number(&record, field);
                }
                ends(&record, "scaled_mse_interval");
            }
        }
    }
}

#[test]
fn the_corners_give_numbers() {
    for corner in [
        "--estimator one-stage --theta 40 --users 1000 --epsilon 1",
        "--estimator two-stage --theta -40 --users 1000 --epsilon 1",
        "--estimator one-stage --theta 0.5 --users 1 --epsilon 1",
        "--estimator two-stage --theta 0.5 --users 2 --epsilon 1",
        "--estimator two-stage --theta 0.5 --users 1e12 --epsilon 1",
        "--estimator two-stage --theta 0.5 --users 10_000 --epsilon 1e-6",
        "--estimator two-stage --theta 0.5 --users 10000 --epsilon 30",
    ] {
        let record = record(&format!("simulate --replications 100 {corner}"));
        for field in ["scaled_mse", "bias", "variance", "coverage"] {
            number(&record, field);
        }
    }
}

#[test]
fn a_single_replication_has_no_interval() {
    let record = record("simulate --estimator one-stage --theta 0.5 --users 100 --epsilon 1 --replications 1");
    assert!(record["scaled_mse_interval"].is_null());
    number(&record, "scaled_mse");
}

#[test]
fn an_overflow_is_refused_or_named() {
    // Squares of these are infinite. The contract has a word for that, "inf"; null would say «does not apply».
    for overflow in ["--theta 1e308", "--theta 0.5 --model gaussian:sigma=1e300"] {
        let run = format!(
            "simulate --estimator one-stage --users 100 --epsilon 1 --replications 10 --format json {overflow}"
        );
        let ran = ldp(&run).runs();
        if ran.code == Some(0) {
            assert!(!ran.json()["scaled_mse"].is_null(), "{ran:#?}");
        } else {
            ran.failed_with(2);
        }
    }
}

#[test]
fn the_largest_number_of_users_is_simulated_or_refused_at_once() {
    let ran = ldp("simulate --estimator one-stage --theta 0.1 --epsilon 1 --replications 1 --format json")
        .with("--users 18446744073709551615")
        .ends_at_once();
    if ran.code == Some(0) {
        number(&ran.json(), "scaled_mse");
    } else {
        ran.failed_with(2).saying("users");
    }
}

#[test]
fn a_family_that_is_not_gaussian_is_run_with_a_warning() {
    let run = "simulate --estimator two-stage --theta 2 --users 1000 --epsilon 1 --replications 10";
    ldp(run).with("--model exponential").succeeds().saying("warning: ").saying("exponential");
    // Symmetric is not enough: off the centre the protocol inverts the wrong distribution function.
    ldp(run).with("--model logistic").succeeds().saying("warning: ").saying("takes the values to be Gaussian");
    ldp(run).with("--model gaussian:sigma=2").succeeds().silently();
}
