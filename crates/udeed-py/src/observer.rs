//! Work beside the interpreter: on threads of its own, heard of while it runs, and stopped by Ctrl-C.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use udeed::{Observer, Step};

use crate::error::bug;

/// How long the interpreter waits for news before it looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// What work tells while it runs, and its end.
enum News<T> {
    Member { done: usize, total: usize },
    Step(Step),
    Candidate { done: usize, total: usize },
    End(std::thread::Result<T>),
}

/// Tells the interpreter's thread what it sees, and stops the work when nobody listens any more.
pub struct Reporter<T> {
    news: Sender<News<T>>,
    abandoned: Arc<AtomicBool>,
    /// Whether anybody wants to hear how far it is: to wake the interpreter for nothing takes longer than many a fit.
    shows_progress: bool,
}

impl<T> Reporter<T> {
    fn tell(&self, news: News<T>) -> ControlFlow<()> {
        let heard = !self.abandoned.load(Ordering::Relaxed) && self.news.send(news).is_ok();
        if heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

impl<T: Send> Observer for Reporter<T> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        match (self.shows_progress, self.abandoned.load(Ordering::Relaxed)) {
            (true, _) => self.tell(News::Member { done, total }),
            (false, false) => ControlFlow::Continue(()),
            (false, true) => ControlFlow::Break(()),
        }
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        self.tell(News::Step(*step))
    }

    fn candidate(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        self.tell(News::Candidate { done, total })
    }
}

/// Ends work that is not waited for any more, whatever the reason.
struct Abandon(Arc<AtomicBool>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on a pool of threads of its own while the interpreter is free. Returns what it made and every step it told of.
///
/// The pool is made for this call: none outlives it, so that a process that is forked later finds no threads missing. After
/// Ctrl-C the call returns at once; the work itself ends at its next word to the observer, of which there are several a second. There are never more threads than
/// processors: what comes out does not depend on their number.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    n_jobs: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Reporter<T>) -> T + Send + 'static,
) -> PyResult<(T, Vec<Step>)> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_jobs.clamp(1, processors))
        .thread_name(|i| format!("udeed-{i}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("no threads to work on: {error}")))?;
    let (sender, mut receiver) = channel();
    let shows_progress = progress.is_some();
    let abandoned = Arc::new(AtomicBool::new(false));
    let _abandon = Abandon(abandoned.clone());
    pool.spawn(move || {
        let mut reporter = Reporter { news: sender, abandoned, shows_progress };
        let end = catch_unwind(AssertUnwindSafe(|| work(&mut reporter)));
        // Nobody may be there to hear it.
        let _ = reporter.news.send(News::End(end));
    });
    let mut steps = Vec::new();
    loop {
        let news;
        (receiver, news) = py.detach(move || listen(receiver));
        match news {
            Ok(News::Member { done, total }) => tell(progress, "members", done, Some(total))?,
            Ok(News::Candidate { done, total }) => tell(progress, "candidates", done, Some(total))?,
            Ok(News::Step(step)) => {
                tell(progress, &step.stage.to_string(), step.step, None)?;
                steps.push(step);
            }
            Ok(News::End(Ok(made))) => return Ok((made, steps)),
            Ok(News::End(Err(panic))) => return Err(bug(&*panic)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(bug(&"the work ended without a word")),
        }
        py.check_signals()?;
    }
}

/// A receiver cannot be shared between threads, only handed on.
type Listened<T> = (Receiver<News<T>>, Result<News<T>, RecvTimeoutError>);

fn listen<T>(receiver: Receiver<News<T>>) -> Listened<T> {
    let news = receiver.recv_timeout(PATIENCE);
    (receiver, news)
}

fn tell(progress: Option<&Bound<'_, PyAny>>, what: &str, done: usize, total: Option<usize>) -> PyResult<()> {
    if let Some(progress) = progress {
        progress.call1((what, done, total))?;
    }
    Ok(())
}
