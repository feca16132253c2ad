//! Points in parallel, each on disk when it is done; and what happens when someone stops it.

use super::folder::Journal;
use super::measure::Measurer;
use crate::progress::Points;
use crate::study::Outline;
use anyhow::Context;
use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The exit code of a run that was stopped by Ctrl-C, as shells have it: 128 and the number of the signal.
pub const INTERRUPTED: i32 = 130;

/// A point to be worked out.
#[derive(Clone, Copy)]
pub struct Job {
    /// Its number in the study.
    pub index: u64,
    /// About how long it takes, in units of its own.
    pub work: f64,
}

/// What is on disk, as the one who stops a run wants to know it.
#[derive(Default)]
struct State {
    journal: Option<Journal>,
    done: usize,
    total: usize,
}

/// The points that are done, shared with the handler of Ctrl-C: while it holds this nothing is half-written.
#[derive(Clone, Default)]
pub struct Desk(Arc<Mutex<State>>);

impl Desk {
    /// From now on Ctrl-C says what is on disk, and that the same command goes on from there.
    pub fn watch(&self) -> anyhow::Result<()> {
        let desk = self.clone();
        let handler = move || {
            let state = desk.state();
            let said = match (&state.journal, state.done) {
                (None, 0) => "interrupted before the first point was begun; what is on disk is as it was".to_owned(),
                (_, done) => {
                    format!(
                        "interrupted: {done} of {} points are on disk; the same command goes on from there",
                        state.total
                    )
                }
            };
            let mut stderr = std::io::stderr();
            // On a terminal a bar may stand in the line.
            let clear = if stderr.is_terminal() { "\r\x1b[2K" } else { "" };
            // If standard error is gone there is nobody left to tell.
            let _ = writeln!(stderr, "{clear}{said}");
            std::process::exit(INTERRUPTED);
        };
        ctrlc::set_handler(handler).context("Ctrl-C cannot be watched")
    }

    /// Takes a journal with so many points done, of a total.
    pub fn take(&self, journal: Journal, done: usize, total: usize) {
        *self.state() = State { journal: Some(journal), done, total };
    }

    /// Gives the journal back.
    pub fn give(&self) -> anyhow::Result<Journal> {
        self.state().journal.take().context("the journal is not open")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panicking thread has left behind is still what is on disk.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Works out all jobs that are not done.
pub fn work(
    pool: &rayon::ThreadPool,
    outline: &Outline<'_>,
    measurer: &Measurer<'_>,
    jobs: &[Job],
    done: &HashSet<u64>,
    desk: &Desk,
    quiet: bool,
) -> anyhow::Result<()> {
    let open: Vec<Job> = jobs.iter().filter(|job| !done.contains(&job.index)).copied().collect();
    let progress = Points::new(jobs.len(), jobs.len() - open.len(), open.iter().map(|job| job.work).sum(), quiet);
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let one = |job: &Job| -> anyhow::Result<()> {
        let setup = outline.setup(job.index).context("a point that is not in the study")?;
        let measure = || measurer.measure(&setup, &mut |share| progress.advance(share * job.work));
        let place = || format!("'{}' at {}", outline.study().estimators[setup.estimator].label, setup.shown());
        let point = measure().with_context(place)?;
        let mut state = desk.state();
        let journal = state.journal.as_mut().context("the journal is not open")?;
        journal.append(&point)?;
        state.done += 1;
        progress.done(state.done);
        Ok(())
    };
    // As many points under way as there are threads, so that memory is flat. A thread of the pool goes from one to the next
    // without a pause, so that no other thread takes a part of its point and works out again what it has kept; whoever finds
    // nothing left takes parts of the last ones.
    let drive = || {
        while let Some(job) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = one(job) {
                next.store(open.len(), Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
            }
        }
    };
    pool.broadcast(|_| drive());
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
