//! Points in parallel, each on disk when it is done; and what happens when someone stops it.

use super::Observer;
use super::folder::Journal;
use super::measure::Measurer;
use crate::study::Outline;
use anyhow::Context;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// The points that are done, shared with whoever may stop the run.
#[derive(Clone, Default)]
pub struct Desk(Arc<Mutex<State>>);

impl Desk {
    /// Tells what is on disk to somebody who ends the process. Until that returns nothing is written.
    pub fn interrupt<T>(&self, end: impl FnOnce(String) -> T) -> T {
        let state = self.state();
        let said = match (&state.journal, state.done) {
            (None, 0) => "interrupted before the first point was begun; what is on disk is as it was".to_owned(),
            (_, done) => {
                format!(
                    "interrupted: {done} of {} points are on disk; the same command goes on from there",
                    state.total
                )
            }
        };
        end(said)
    }

    /// Takes a journal with so many points done, of a total.
    pub(super) fn take(&self, journal: Journal, done: usize, total: usize) {
        *self.state() = State { journal: Some(journal), done, total };
    }

    /// Gives the journal back.
    pub(super) fn give(&self) -> anyhow::Result<Journal> {
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
    observer: &dyn Observer,
) -> anyhow::Result<()> {
    let open: Vec<Job> = jobs.iter().filter(|job| !done.contains(&job.index)).copied().collect();
    observer.begin(jobs.len(), jobs.len() - open.len(), open.iter().map(|job| job.work).sum());
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let one = |job: &Job| -> anyhow::Result<()> {
        let setup = outline.setup(job.index).context("a point that is not in the study")?;
        let measure = || measurer.measure(&setup, &mut |share| observer.advance(share * job.work));
        let place = || format!("'{}' at {}", outline.study().estimators[setup.estimator].label, setup.shown());
        let point = measure().with_context(place)?;
        let mut state = desk.state();
        let journal = state.journal.as_mut().context("the journal is not open")?;
        journal.append(&point)?;
        state.done += 1;
        observer.done(state.done);
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
    observer.end();
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
