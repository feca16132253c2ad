//! The same seed gives the same bytes, of every command, on any number of threads; the time is told elsewhere.

mod common;

use common::{Folder, ldp};

/// One call of every command that has a result, small enough for a test. FILE and STUDY are put in.
const CALLS: [&str; 17] = [
    "list",
    "simulate --estimator two-stage --theta 0.5 --users 5000 --epsilon 1 --replications 3000",
    "simulate --estimator two-stage --theta 0.5 --users 300 --epsilon 1 --replications 300 --fidelity users",
    "simulate --estimator liu --theta 0.5 --users 2000 --epsilon 1 --replications 40",
    "risk --estimator two-stage:first-stage=30 --theta 0.5 --users 1000 --epsilon 1",
    "risk --estimator two-stage --theta 0.5 --users 1000 --epsilon 1 --sweep first-stage=20:300:7",
    "plan --epsilon 1 --guess 0.3 --guess-error 1 --half-width 0.2",
    "fisher --mechanism sign --mechanism laplace:low=-3,high=3 --epsilon 1",
    "fisher --mechanism sign --sweep epsilon=0.5:3:5",
    "fisher --mechanism laplace --epsilon 1 --black-box 2e4",
    "optimal --epsilon 3",
    "optimal --sweep epsilon=1:3:3",
    "optimal --switches 2.5",
    "optimal --verify CERTIFICATE",
    "estimate FILE --column x --estimator two-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 7",
    "compare STUDY --out OUT",
    "merge PARTS --out OUT",
];

const STUDY: &str = "kind = \"comparison\"\ntitle = \"t\"\nseed = 1\nreplications = 50\n[[estimators]]\nspec = \"one-stage\"\n\
                     [[grid]]\nusers = [10, 20]\ntheta = 0\nepsilon = 1\n[figure]\nx = \"users\"\n";

#[test]
fn every_command_gives_the_same_bytes_again() {
    let folder = Folder::new();
    let rows: String = (0..500).map(|row| format!("{row},{}\n", f64::from(row % 17) / 4.0 - 2.0)).collect();
    let file = folder.file("data.csv", "id,x\n".to_owned() + &rows).display().to_string();
    let study = folder.file("study.toml", STUDY).display().to_string();
    let certificate = folder.path("certificate.json").display().to_string();
    ldp(&format!("optimal --epsilon 2.5 --certificate {certificate}")).succeeds();
    let parts = ["part-1", "part-2"].map(|part| folder.path(part).display().to_string());
    for (number, part) in (1..).zip(&parts) {
        ldp(&format!("compare {study} --shard {number}/2 --out {part}")).succeeds();
    }
    let mut runs = 0;
    for call in CALLS {
        for format in ["json", "csv", "human"] {
            let mut run = |threads: &str| {
                runs += 1;
                let out = folder.path(&format!("out-{runs}")).display().to_string();
                let call = call.replace("FILE", &file).replace("STUDY", &study).replace("OUT", &out);
                let call = call.replace("CERTIFICATE", &certificate).replace("PARTS", &parts.join(" "));
                ldp(&call).with(&format!("--format {format} {threads}")).succeeds()
            };
            let once = run("--threads 1");
            // The other forms are made of the same record.
            for threads in if format == "json" { ["--threads 1", "--threads 2"].as_slice() } else { &["--threads 2"] } {
                assert_eq!(once.stdout, run(threads).stdout, "{call} as {format}");
            }
            assert!(!once.stdout.is_empty() && !once.stdout.contains("seconds"), "{call}: {}", once.stdout);
            // People are told the time, programs are not.
            let timed = once.stderr.lines().filter(|line| line.ends_with(" s")).count();
            let asked = ["simulate", "risk", "plan", "optimal"].iter().any(|name| call.starts_with(name));
            let single = asked && !["--sweep", "--switches"].iter().any(|flag| call.contains(flag));
            assert_eq!(timed, usize::from(single && format == "human"), "{once:#?}");
        }
    }
}
