//! Runs `ldp` and holds it to what it says: `ldp("list models").succeeds().json()`.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The program with arguments separated by spaces.
pub fn ldp(arguments: &str) -> Ldp {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ldp"));
    // The terminal of whoever runs the tests is none of theirs.
    command.args(arguments.split_whitespace()).env_remove("COLUMNS");
    Ldp { command, shown: arguments.to_owned(), input: Vec::new() }
}

/// A call that is being put together.
pub struct Ldp {
    command: Command,
    shown: String,
    input: Vec<u8>,
}

impl Ldp {
    /// More arguments, separated by spaces.
    pub fn with(mut self, arguments: &str) -> Self {
        self.command.args(arguments.split_whitespace());
        self.shown = format!("{} {arguments}", self.shown);
        self
    }

    /// One more argument, whatever is in it.
    pub fn on(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(&argument);
        self.shown = format!("{} {}", self.shown, argument.as_ref().display());
        self
    }

    /// What standard input holds; empty unless told.
    pub fn fed(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// A variable of the environment.
    pub fn under(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs to the end, whatever it is.
    pub fn runs(self) -> Ran {
        self.runs_until(None).expect("without a limit every run ends")
    }

    /// Runs to the end, and must get there within ten seconds: for what is to be refused before the first draw. A run
    /// that is refused takes milliseconds.
    pub fn ends_at_once(self) -> Ran {
        let typed = self.shown.clone();
        self.runs_until(Some(Duration::from_secs(10))).unwrap_or_else(|| panic!("still running: ldp {typed}"))
    }

    fn runs_until(mut self, limit: Option<Duration>) -> Option<Ran> {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        let input = self.input;
        // From a thread of its own: a program that writes before it has read all would otherwise wait for us, and we
        // for it. One that refuses its flags never reads, so a broken pipe is no failure.
        let feeder = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        if let Some(limit) = limit {
            let started = Instant::now();
            while child.try_wait().expect("a child can be waited for").is_none() {
                if started.elapsed() > limit {
                    child.kill().and_then(|()| child.wait()).expect("a child can be stopped");
                    return None;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let output = child.wait_with_output().expect("the program ends");
        feeder.join().expect("the input is handed over");
        Some(Ran::new(self.shown, output))
    }

    /// Runs, and must end well.
    pub fn succeeds(self) -> Ran {
        let ran = self.runs();
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        ran
    }

    /// Runs, and must be refused at once as bad input.
    pub fn must_be_refused(self) -> Ran {
        self.ends_at_once().failed_with(2)
    }

    /// The system's command, to be spawned in an unusual way.
    pub fn into_command(self) -> Command {
        self.command
    }
}

/// A call that has ended.
#[derive(Debug)]
pub struct Ran {
    /// What was typed.
    pub typed: String,
    /// The exit code.
    pub code: Option<i32>,
    /// What standard output held.
    pub stdout: String,
    /// What standard error held.
    pub stderr: String,
}

impl Ran {
    fn new(typed: String, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self { typed, code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Standard output as one JSON object.
    pub fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"));
        assert!(value.is_object(), "{self:#?}");
        value
    }

    /// The run must have failed with this exit code, one clear message and nothing on standard output.
    pub fn failed_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert_eq!(self.stdout, "", "{self:#?}");
        assert!(self.stderr.starts_with("error: "), "{self:#?}");
        assert_eq!(self.stderr.lines().filter(|line| line.starts_with("error:")).count(), 1, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Standard error must have this in it.
    pub fn saying(self, fragment: &str) -> Self {
        assert!(self.stderr.contains(fragment), "no {fragment:?} in {self:#?}");
        self
    }

    /// Standard error must be empty, but for the time that people are told.
    pub fn silently(self) -> Self {
        let time = |line: &str| line.strip_suffix(" s").is_some_and(|seconds| seconds.parse::<f64>().is_ok());
        assert!(self.stderr.lines().all(time) && self.stderr.lines().count() <= 1, "{self:#?}");
        self
    }
}

/// A field that must be there and be a finite number.
pub fn number(record: &Value, field: &str) -> f64 {
    let value = record[field].as_f64().unwrap_or_else(|| panic!("{field} is not a number in {record:#}"));
    assert!(value.is_finite(), "{field} in {record:#}");
    value
}

/// A field that must be there and be a list of two increasing numbers.
pub fn ends(record: &Value, field: &str) -> [f64; 2] {
    let ends = record[field].as_array().unwrap_or_else(|| panic!("{field} is not a list in {record:#}"));
    let ends: Vec<f64> = ends.iter().filter_map(Value::as_f64).collect();
    let [low, high] = ends[..] else { panic!("{field} is not two numbers in {record:#}") };
    assert!(low < high, "{field} in {record:#}");
    [low, high]
}

/// A folder of files that vanishes with the test.
pub struct Folder(TempDir);

impl Folder {
    /// An empty one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Where a file of this name is, or would be.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with this content.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("the folder can be written");
        path
    }
}
