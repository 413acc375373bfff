//! Work while the interpreter is free: heard of while it runs, and stopped by Ctrl-C.

use std::any::Any;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use udeed::observer::{Observer, Step};

use crate::error::bug;

/// How long signals are not looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Keeps every step, and says of what how much is done, of how much if that is known.
struct Reporter<F> {
    steps: Vec<Step>,
    tell: F,
}

impl<F: FnMut(&dyn Display, usize, Option<usize>) -> ControlFlow<()> + Send> Observer for Reporter<F> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        (self.tell)(&"members", done, Some(total))
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        self.steps.push(*step);
        (self.tell)(&step.stage, step.step, None)
    }

    fn candidate(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        (self.tell)(&"candidates", done, Some(total))
    }
}

/// What came of work, and every step it told of; or with what it panicked.
type Done<T> = Result<(T, Vec<Step>), Box<dyn Any + Send>>;

impl<F: FnMut(&dyn Display, usize, Option<usize>) -> ControlFlow<()> + Send> Reporter<F> {
    fn new(tell: F) -> Self {
        Reporter { steps: Vec::new(), tell }
    }

    fn watch<T>(mut self, work: impl FnOnce(&mut dyn Observer) -> T) -> Done<T> {
        let made = catch_unwind(AssertUnwindSafe(|| work(&mut self)))?;
        Ok((made, self.steps))
    }
}

/// Runs work while the interpreter is free. Returns what it made and every step it told of.
///
/// There are never more threads than processors: what comes out does not depend on their number. Where one is enough, work
/// that is short, or at least never silent for long, runs on the interpreter's main thread: to start another takes longer than
/// many a fit.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    n_jobs: usize,
    is_short: bool,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> T + Send + 'static,
) -> PyResult<(T, Vec<Step>)> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs.clamp(1, processors) {
        1 if is_short && is_main(py)? => here(py, progress, work),
        threads => beside(py, threads, progress, work),
    }
}

/// Whether this is the main thread of Python.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threads = py.import("threading")?;
    Ok(threads.call_method0("current_thread")?.is(&threads.call_method0("main_thread")?))
}

thread_local! {
    /// A pool of the main thread and no other. No thread can leave its pool, which is never freed: so there is one, kept, and
    /// none for threads that come and go.
    static OWN: Result<ThreadPool, ThreadPoolBuildError> =
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
}

/// Runs work on this very thread. Ctrl-C ends it with its next word to the observer.
fn here<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> T + Send,
) -> PyResult<(T, Vec<Step>)> {
    let progress = progress.map(|progress| progress.clone().unbind());
    let (mut looked, mut failed) = (Instant::now(), None);
    let reporter = Reporter::new(|what: &dyn Display, done: usize, total: Option<usize>| {
        if failed.is_some() {
            return ControlFlow::Break(());
        }
        if progress.is_none() && looked.elapsed() < PATIENCE {
            return ControlFlow::Continue(());
        }
        looked = Instant::now();
        let told = Python::attach(|py| {
            tell(progress.as_ref().map(|progress| progress.bind(py)), what, done, total)?;
            py.check_signals()
        });
        failed = told.err();
        if failed.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let done =
        py.detach(|| OWN.with(|own| own.as_ref().map(|own| own.install(|| reporter.watch(work))).map_err(no_threads)))?;
    match failed {
        Some(error) => Err(error),
        None => done.map_err(|panic| bug(&*panic)),
    }
}

/// What work on other threads tells while it runs, and its end.
enum News<T> {
    Progress(String, usize, Option<usize>),
    End(Done<T>),
}

/// Ends work that is not waited for any more, whatever the reason.
struct Abandon(Arc<AtomicBool>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on a pool of threads of its own.
///
/// The pool is made for this call: none outlives it, so that a process that is forked later finds no threads missing. After
/// Ctrl-C the call returns at once; the work itself ends at its next word to the observer, of which there are several a second.
fn beside<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> T + Send + 'static,
) -> PyResult<(T, Vec<Step>)> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("udeed-{i}"));
    let pool = builder.build().map_err(|error| no_threads(&error))?;
    let (sender, mut receiver) = channel();
    let abandoned = Arc::new(AtomicBool::new(false));
    let _abandon = Abandon(abandoned.clone());
    // To wake the interpreter where nobody wants to hear how far it is takes longer than many a fit.
    let (shows_progress, end) = (progress.is_some(), sender.clone());
    let reporter = Reporter::new(move |what: &dyn Display, done: usize, total: Option<usize>| {
        let heard = || sender.send(News::Progress(what.to_string(), done, total)).is_ok();
        let goes_on = !abandoned.load(Ordering::Relaxed) && (!shows_progress || heard());
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    pool.spawn(move || {
        // Nobody may be there to hear it.
        let _ = end.send(News::End(reporter.watch(work)));
    });
    loop {
        let news;
        (receiver, news) = py.detach(move || listen(receiver));
        match news {
            Ok(News::Progress(what, done, total)) => tell(progress, &what, done, total)?,
            Ok(News::End(done)) => return done.map_err(|panic| bug(&*panic)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(bug(&"the work ended without a word")),
        }
        py.check_signals()?;
    }
}

fn no_threads(error: &ThreadPoolBuildError) -> PyErr {
    PyRuntimeError::new_err(format!("no threads to work on: {error}"))
}

/// A receiver cannot be shared between threads, only handed on.
type Listened<T> = (Receiver<News<T>>, Result<News<T>, RecvTimeoutError>);

fn listen<T>(receiver: Receiver<News<T>>) -> Listened<T> {
    let news = receiver.recv_timeout(PATIENCE);
    (receiver, news)
}

fn tell(progress: Option<&Bound<'_, PyAny>>, what: &dyn Display, done: usize, total: Option<usize>) -> PyResult<()> {
    if let Some(progress) = progress {
        progress.call1((what.to_string(), done, total))?;
    }
    Ok(())
}
