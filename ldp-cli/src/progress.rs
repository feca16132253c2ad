//! Progress on standard error, for work that takes longer than a second, and the time taken.

use crate::args::{Common, Format};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A bar or counter that shows itself only after a second, and only on a terminal.
pub struct Progress {
    bar: ProgressBar,
    shown_from: Option<Instant>,
}

impl Progress {
    /// A bar over `total` steps, or a plain counter without a total.
    pub fn new(what: &'static str, total: Option<u64>, quiet: bool) -> Self {
        let target = ProgressDrawTarget::hidden();
        let (bar, template) = match total {
            Some(total) => (ProgressBar::with_draw_target(Some(total), target), "{msg} {wide_bar} {percent}% {eta}"),
            None => (ProgressBar::with_draw_target(None, target), "{msg} {human_pos} {spinner}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self { bar, shown_from: (!quiet).then(|| Instant::now() + Duration::from_secs(1)) }
    }

    /// So many steps are done.
    pub fn at(&mut self, position: u64) {
        if self.shown_from.is_some_and(|from| Instant::now() > from) {
            // Hides itself again where standard error is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown_from = None;
        }
        self.bar.set_position(position);
    }
}

/// Does work that cannot tell how far it is, and counts its seconds meanwhile.
pub fn meanwhile<T>(what: &'static str, quiet: bool, work: impl FnOnce() -> T) -> T {
    /// Wakes the counter up, however the work ends.
    struct Ended<'a>(&'a AtomicBool, Thread);
    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
            self.1.unpark();
        }
    }
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let counter = scope.spawn(|| {
            let (mut progress, begun) = (Progress::new(what, None, quiet), Instant::now());
            while !ended.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_millis(200));
                progress.at(begun.elapsed().as_secs());
            }
        });
        let _ended = Ended(&ended, counter.thread().clone());
        work()
    })
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar over steps that are done in any order, by several threads.
pub struct Steps {
    inner: Mutex<(Progress, u64)>,
}

impl Steps {
    /// A bar over `total` steps.
    pub fn new(what: &'static str, total: u64, quiet: bool) -> Self {
        Self { inner: Mutex::new((Progress::new(what, Some(total), quiet), 0)) }
    }

    /// One more is done.
    pub fn step(&self) {
        // A bar that a panicking thread has left behind is no reason to stop.
        if let Ok(mut inner) = self.inner.lock() {
            inner.1 += 1;
            let done = inner.1;
            inner.0.at(done);
        }
    }
}

/// A bar over points that take unequal time: how many are done, and how much time is left.
pub struct Points {
    inner: Mutex<(Progress, f64)>,
    total: usize,
    work: f64,
}

impl Points {
    /// A bar over `total` points, of which `done` are there already; the others take `work` together.
    pub fn new(total: usize, done: usize, work: f64, quiet: bool) -> Self {
        let progress = Progress::new("", Some(Self::STEPS), quiet);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta} left") {
            progress.bar.set_style(style);
        }
        let points = Self { inner: Mutex::new((progress, 0.0)), total, work };
        points.done(done);
        points
    }

    /// Of the bar.
    const STEPS: u64 = 10_000;

    /// So much of the work is done.
    pub fn advance(&self, work: f64) {
        if let Ok(mut inner) = self.inner.lock() {
            inner.1 += work;
            let share = (inner.1 / self.work).clamp(0.0, 1.0);
            inner.0.at((share * Self::STEPS as f64) as u64);
        }
    }

    /// So many points are done.
    pub fn done(&self, done: usize) {
        if let Ok(inner) = self.inner.lock() {
            inner.0.bar.set_message(format!("{done} of {} points", self.total));
        }
    }
}

/// How long a command works. It is no part of the result, which is the same bytes every time.
pub struct Clock {
    started: Instant,
    quiet: bool,
}

impl Clock {
    /// Begins now.
    pub fn start(common: &Common) -> Self {
        Self { started: Instant::now(), quiet: common.quiet || common.format != Format::Human }
    }

    /// Says it on standard error, to people.
    pub fn tell(&self) {
        if !self.quiet {
            // Nothing is lost if standard error is closed.
            let _ = writeln!(std::io::stderr(), "{:.2} s", self.started.elapsed().as_secs_f64());
        }
    }
}
