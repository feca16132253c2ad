//! What goes to standard output and to standard error, and how the process ends.

mod common;

use std::fs;
use std::process::Stdio;

use common::{Folder, ldp};
use serde_json::Value;

const SIMULATE: &str = "simulate --estimator one-stage --theta 0.5 --users 1000 --epsilon 1 --replications 100";
const COMMANDS: [&str; 8] = ["list", "simulate", "risk", "plan", "estimate", "reproduce", "completions", "man"];

/// Exit code and standard error of a run whose standard output goes to `stdout`.
fn run_into(arguments: &str, stdout: impl Into<Stdio>) -> (Option<i32>, String) {
    let output = ldp(arguments)
        .into_command()
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
        .wait_with_output()
        .expect("the program ends");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in ["list", "list --format json", "man", "completions bash", "--help", "--version"] {
        assert_eq!(run_into(arguments, closed_pipe()), (Some(0), String::new()), "{arguments}");
    }
    for format in ["human", "json", "csv"] {
        let arguments = format!("{SIMULATE} --format {format}");
        assert_eq!(run_into(&arguments, closed_pipe()), (Some(0), String::new()), "{arguments}");
    }
}

/// A pipe whose reader has gone before the program starts, so that the first byte finds it broken.
fn closed_pipe() -> std::io::PipeWriter {
    std::io::pipe().expect("a pipe").1
}

#[cfg(target_os = "linux")]
fn full_disk() -> fs::File {
    fs::File::options().write(true).open("/dev/full").expect("Linux has /dev/full")
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error_of_the_system() {
    let simulate = format!("{SIMULATE} --format json");
    for arguments in ["list", "list --format csv", "man", "completions zsh", SIMULATE, &simulate] {
        let (code, message) = run_into(arguments, full_disk());
        assert_eq!(code, Some(1), "{arguments}: {message}");
        assert!(message.starts_with("error: cannot write the output: No space left"), "{arguments}: {message}");
        assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error_of_the_system_too() {
    for arguments in ["--help", "--version", "simulate --help"] {
        let (code, message) = run_into(arguments, full_disk());
        assert_eq!(code, Some(1), "{arguments}: {message}");
        assert!(message.starts_with("error: cannot write the output"), "{arguments}: {message}");
    }
}

#[test]
fn a_temporary_folder_that_is_not_there_is_an_error_of_the_system() {
    // Nothing is wrong with what was typed.
    let folder = Folder::new();
    ldp("estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1")
        .under("TMPDIR", folder.path("gone"))
        .under("TMP", folder.path("gone"))
        .fed("1\n2\n")
        .runs()
        .failed_with(1)
        .saying("temporary file");
}

#[test]
fn warnings_go_to_standard_error_and_quiet_silences_them() {
    let skewed = SIMULATE.to_owned() + " --model exponential";
    let seeded = "estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 1";
    for arguments in [skewed.as_str(), seeded] {
        let loud = ldp(arguments).with("--format csv").fed("50\n").succeeds();
        assert!(loud.stderr.lines().count() > 0, "{loud:#?}");
        assert!(loud.stderr.lines().all(|line| line.starts_with("warning: ")), "{loud:#?}");
        assert!(!loud.stdout.contains("warning: "), "{loud:#?}");
        for quiet in ["--quiet", "-q"] {
            ldp(arguments).with(quiet).fed("50\n").succeeds().silently();
        }
    }
    // An error is not a warning.
    ldp("list nothing --quiet").must_be_refused().saying("nothing");
}

#[test]
fn progress_is_not_drawn_where_nobody_looks() {
    // More than a second of work on one core, so that a terminal would see a bar; here standard error is a pipe.
    ldp("simulate --estimator one-stage --theta 0.5 --epsilon 1 --threads 1")
        .with("--fidelity users --users 1e5 --replications 3000")
        .succeeds()
        .silently();
}

#[test]
fn success_says_nothing_on_standard_error() {
    for arguments in ["list", "man", "completions fish", "--help", "--version", SIMULATE] {
        ldp(arguments).succeeds().silently();
    }
}

#[test]
fn failure_says_nothing_on_standard_output() {
    for arguments in [
        "",
        "frobnicate",
        "simulate",
        "estimate",
        "estimate /no/such/file --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --format json",
        "simulate --estimator two-stage --theta 0 --users 1 --epsilon 1 --format json",
        "simulate --estimator two-stage --theta 0 --users 1 --epsilon 1 --format csv",
    ] {
        let ran = ldp(arguments).runs();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:#?}");
        assert!(!ran.stderr.is_empty() && !ran.stderr.contains("panicked"), "{ran:#?}");
    }
}

#[test]
fn a_call_without_a_command_shows_the_commands() {
    let ran = ldp("").runs();
    for command in COMMANDS {
        assert!(ran.stderr.contains(&format!("\n  {command} ")), "{ran:#?}");
    }
}

#[test]
fn the_version_is_that_of_the_crate() {
    let version = format!("ldp {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(ldp("--version").succeeds().stdout, version);
    assert_eq!(ldp("-V").succeeds().stdout, version);
    assert!(ldp("simulate --version").succeeds().stdout.contains(env!("CARGO_PKG_VERSION")));
}

/// The table of exit codes, as three lines that begin with the code.
fn has_exit_codes(text: &str) -> bool {
    let codes = text.lines().skip_while(|line| *line != "Exit codes:").skip(1).take(3);
    codes.map(|line| line.trim_start().chars().next()).eq(['0', '1', '2'].map(Some))
}

#[test]
fn help_shows_examples_and_exit_codes() {
    for arguments in ["--help", "help", "simulate --help", "estimate --help", "help simulate"] {
        let help = ldp(arguments).succeeds().stdout;
        assert!(help.contains("\nExamples:\n  ldp "), "{arguments}:\n{help}");
        assert!(has_exit_codes(&help), "{arguments}:\n{help}");
    }
}

#[test]
fn help_of_the_small_commands_shows_examples_and_exit_codes_too() {
    for command in COMMANDS {
        let help = ldp(command).with("--help").succeeds().stdout;
        assert!(help.contains("\nExamples:\n"), "{command}:\n{help}");
        assert!(help.contains(&format!("  ldp {command}")), "{command}:\n{help}");
        assert!(has_exit_codes(&help), "{command}:\n{help}");
    }
}

#[test]
fn the_examples_of_the_help_run_as_they_stand() {
    let help = ldp("simulate --help").succeeds().stdout;
    let after = help.split("Examples:\n").nth(1).expect("there are examples");
    let examples: Vec<_> = after.lines().take_while(|line| line.starts_with("  ")).collect();
    assert!(examples.len() >= 2, "{help}");
    for example in examples {
        // A line that is broken by the width of the terminal cannot be copied: its rest would stand alone.
        let arguments = example.trim().strip_prefix("ldp ").unwrap_or_else(|| panic!("{example:?} in\n{help}"));
        ldp(arguments).succeeds().silently();
    }
}

#[test]
fn the_man_page_is_roff_with_the_exit_codes() {
    let page = ldp("man").succeeds().stdout;
    let title = page.lines().find(|line| line.starts_with(".TH ")).expect("a title line");
    assert!(title.starts_with(".TH ldp 1"), "{title}");
    // Before the title there may only be macros.
    assert!(page.lines().take_while(|line| *line != title).all(|line| line.starts_with('.')), "{page}");
    assert!(has_exit_codes(&page), "{page}");
    assert!(page.contains("simulate") && page.contains("estimate"), "{page}");
}

#[test]
fn man_pages_are_written_one_per_command() {
    let folder = Folder::new();
    let ran = ldp("man --out").on(folder.path("")).succeeds().silently();
    assert_eq!(ran.stdout, "");
    let page = |name: &str| fs::read_to_string(folder.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let overview = page("ldp.1");
    for command in COMMANDS {
        assert!(page(&format!("ldp-{command}.1")).contains(&format!(".TH ldp-{command} 1")), "{command}");
        assert!(overview.contains(&format!("ldp\\-{command}(1)")), "{command}");
    }
    for command in ["simulate", "estimate"] {
        assert!(has_exit_codes(&page(&format!("ldp-{command}.1"))), "{command}");
    }
}

#[test]
fn every_man_page_that_is_mentioned_exists() {
    let folder = Folder::new();
    ldp("man --out").on(folder.path("")).succeeds();
    let written = fs::read_to_string(folder.path("ldp.1")).expect("the overview is written");
    for overview in [written, ldp("man").succeeds().stdout] {
        for name in overview.lines().filter_map(|line| line.strip_suffix("(1)")) {
            let file = folder.path(&format!("{}.1", name.replace("\\-", "-")));
            assert!(file.exists(), "{name}(1) is mentioned, {} is missing", file.display());
        }
    }
}

#[test]
fn man_pages_that_cannot_be_written_are_an_error() {
    let folder = Folder::new();
    let file = folder.file("not-a-folder", "");
    let place = file.display().to_string();
    ldp("man --out").on(&file).must_be_refused().saying(&place).saying("not a folder");
    #[cfg(target_os = "linux")]
    ldp("man --out /proc/nowhere").runs().failed_with(1).saying("/proc/nowhere");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ldp("completions").with(shell).succeeds().silently().stdout;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} {command}");
        }
        assert!(script.contains("first-stage") || script.contains("estimator"), "{shell}");
    }
}

/// Every entry of one kind, from the JSON.
fn listed(kind: &str) -> Vec<Value> {
    let record = ldp("list --format json").with(kind).succeeds().json();
    assert_eq!(record.as_object().map(serde_json::Map::len), Some(1), "{record:#}");
    record[kind].as_array().unwrap_or_else(|| panic!("{kind} in {record:#}")).clone()
}

#[test]
fn list_shows_every_name_with_its_keys_for_people_and_programs() {
    let human = ldp("list").succeeds().stdout;
    let all = ldp("list --format json").succeeds().json();
    for (kind, known) in [
        ("estimators", ["one-stage", "two-stage"].as_slice()),
        (
            "models",
            &[
                "gaussian",
                "laplace",
                "logistic",
                "student-t",
                "exponential",
                "gaussian-scale",
                "bernoulli",
                "poisson",
                "categorical",
            ],
        ),
        ("mechanisms", &["sign", "randomized-response", "interval"]),
    ] {
        let entries = listed(kind);
        assert_eq!(all[kind].as_array(), Some(&entries), "{kind}");
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let names: Vec<_> = entries.iter().filter_map(|entry| text(&entry["name"])).collect();
        assert!(known.iter().all(|name| names.iter().any(|listed| listed == name)), "{names:?}");
        for entry in &entries {
            assert!(text(&entry["summary"]).is_some(), "{entry:#}");
            assert!(human.contains(entry["name"].as_str().unwrap()), "{entry:#}");
            for key in entry["keys"].as_array().expect("keys is a list") {
                let [name, default, _] = ["name", "default", "help"].map(|field| text(&key[field]).expect(field));
                assert!(human.contains(&format!("{name} ({default})")), "{name} ({default}) in\n{human}");
            }
        }
        // One kind alone shows nothing else.
        let alone = ldp("list").with(kind).succeeds().stdout;
        assert!(alone.starts_with(kind), "{alone}");
        assert!(human.contains(alone.trim()), "{alone}");
    }
}

#[test]
fn list_as_csv_has_a_line_per_name() {
    for kind in ["estimators", "models", "mechanisms"] {
        let csv = ldp("list --format csv").with(kind).succeeds().stdout;
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let column = reader.headers().unwrap().iter().position(|field| field == "name");
        let column = column.unwrap_or_else(|| panic!("no column called name in {csv}"));
        let names: Vec<String> = reader.records().map(|row| row.unwrap()[column].to_owned()).collect();
        let expected: Vec<String> =
            listed(kind).iter().filter_map(|entry| entry["name"].as_str()).map(str::to_owned).collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    let optimal = "optimal --model student-t --epsilon 4";
    let fisher =
        "fisher --mechanism sign --mechanism interval:cuts=-0.48/0.48 --mechanism laplace:low=-3,high=3 --epsilon 1";
    let plan = "plan --epsilon 1 --guess 0.3 --guess-error 1 --half-width 0.2";
    for call in ["list", SIMULATE, fisher, optimal, plan] {
        let widest = |width: &str| {
            let text = ldp(call).under("COLUMNS", width).succeeds().stdout;
            // What is said around a table is left to the terminal, and so are commands to be copied.
            let framed: Vec<String> =
                text.lines().filter(|line| line.starts_with(['│', '┌'])).map(Into::into).collect();
            let spec = ["interval:", "first-stage", "three-stage", "joseph-one-round-unknown-variance"];
            let broken = |part: &str| !text.contains(part);
            assert!(call != "list" || !spec.into_iter().skip(1).any(broken), "{text}");
            assert!(call != fisher || !spec.into_iter().take(1).any(broken), "{text}");
            framed.iter().map(|line| line.chars().count()).max().unwrap_or(0)
        };
        let copied = call == plan;
        for width in [60, 80, 200] {
            let found = widest(&width.to_string());
            assert!(found <= width || copied, "{call}: {found} in {width}");
        }
        // Without a terminal and without COLUMNS, and where that is no width.
        let usual = ldp(call).succeeds().stdout;
        assert!(usual.lines().filter(|line| line.starts_with('│')).all(|line| line.chars().count() <= 110), "{usual}");
        for nonsense in ["", "0", "-7", "wide", "1e9"] {
            assert_eq!(ldp(call).under("COLUMNS", nonsense).succeeds().stdout, usual);
        }
    }
}

#[test]
fn one_is_not_a_plural() {
    let estimate =
        "estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --skip-invalid --quiet";
    let estimate = ldp(estimate).fed("1\nx\n").succeeds().stdout;
    let simulate = ldp("simulate --estimator one-stage --theta 0 --users 1 --epsilon 1 --replications 1").succeeds();
    for text in [estimate, simulate.stdout] {
        for plural in [" 1 rows", "(1 rows", " 1 rounds", " 1 users", "\n1 replications"] {
            assert!(!text.contains(plural), "{plural:?} in\n{text}");
        }
    }
}
