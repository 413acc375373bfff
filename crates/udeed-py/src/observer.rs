//! Work while the interpreter is free: heard of while it runs, and stopped by Ctrl-C.

use std::any::Any;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use udeed::observer::{Observer, Step};

use crate::ensemble::history_of;
use crate::error::bug;

/// How long signals are not looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// What Python hears: what it is about, how much is done, of how much if that is known, and stage and losses of a step.
type Heard = (String, usize, Option<usize>, Option<(String, f64, f64, f64, bool)>);

/// Keeps every step, and tells a listener of everything, if there is one.
struct Reporter<F> {
    steps: Vec<Step>,
    listener: Option<Arc<Py<PyAny>>>,
    /// What the listener raised.
    raised: Arc<Mutex<Option<PyErr>>>,
    /// Whether the listener has ended a descent. What follows is short, and needs to be done for there to be a model.
    ended: bool,
    /// Whether the work is still waited for.
    is_wanted: F,
}

impl<F: FnMut() -> bool + Send> Observer for Reporter<F> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        self.tell(|| ("members".to_owned(), done, Some(total), None))
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        self.steps.push(*step);
        if self.ended {
            return ControlFlow::Break(());
        }
        let answer = self.tell(|| {
            let (stage, number, empirical, diversity, total, accepted) = history_of(step);
            (step.stage.to_string(), number, None, Some((stage, empirical, diversity, total, accepted)))
        });
        self.ended = answer.is_break();
        answer
    }

    fn candidate(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        self.tell(|| ("candidates".to_owned(), done, Some(total), None))
    }
}

/// What came of work, and every step it told of; or with what it panicked.
type Done<T> = Result<(T, Vec<Step>), Box<dyn Any + Send>>;

impl<F: FnMut() -> bool + Send> Reporter<F> {
    fn new(listener: Option<&Bound<'_, PyAny>>, is_wanted: F) -> Self {
        let listener = listener.map(|listener| Arc::new(listener.clone().unbind()));
        Reporter { steps: Vec::new(), listener, raised: Arc::default(), ended: false, is_wanted }
    }

    fn watch<T>(mut self, work: impl FnOnce(&mut dyn Observer) -> T) -> Done<T> {
        let made = catch_unwind(AssertUnwindSafe(|| work(&mut self)))?;
        Ok((made, self.steps))
    }

    /// Tells the listener, and asks whether to go on.
    fn tell(&mut self, heard: impl FnOnce() -> Heard) -> ControlFlow<()> {
        if !(self.is_wanted)() {
            return ControlFlow::Break(());
        }
        // To wake the interpreter where nobody listens takes longer than many a fit.
        let Some(listener) = self.listener.clone().filter(|_| !self.ended) else { return ControlFlow::Continue(()) };
        let heard = heard();
        let answer = in_python(move |py| listener.bind(py).call1(heard)?.is_truthy());
        match answer {
            Some(Ok(false)) => ControlFlow::Continue(()),
            Some(Err(error)) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                ControlFlow::Break(())
            }
            Some(Ok(true)) | None => ControlFlow::Break(()),
        }
    }
}

/// Something to be done on the thread of Python that waits for work. Fails where nothing else is to be done there, as after
/// Ctrl-C.
type Call = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

thread_local! {
    /// Who does what has to be done on the thread of Python, on threads that work for one.
    static DESK: RefCell<Option<Sender<News>>> = const { RefCell::new(None) };
}

/// Does something on the thread of Python that waits for the work: what fits, predicts or listens there sees the warnings,
/// the settings and the Ctrl-C of that thread. None if nobody waits any more.
pub fn in_python<R: Send + 'static>(f: impl FnOnce(Python<'_>) -> PyResult<R> + Send + 'static) -> Option<PyResult<R>> {
    let Some(desk) = DESK.with_borrow(Clone::clone) else { return Python::try_attach(f) };
    let (answer, answered) = channel();
    let call: Call = Box::new(move |py| {
        let made = f(py);
        let is_end = |error: &&PyErr| !error.is_instance_of::<PyException>(py);
        let end = made.as_ref().err().filter(is_end).map(|error| error.clone_ref(py));
        let _ = answer.send(made);
        end.map_or(Ok(()), Err)
    });
    desk.send(News::Call(call)).ok()?;
    answered.recv().ok()
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
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> T + Send + 'static,
) -> PyResult<(T, Vec<Step>)> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs.clamp(1, processors) {
        1 if is_short && is_main(py)? => here(py, listener, work),
        threads => beside(py, threads, listener, work),
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
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> T + Send,
) -> PyResult<(T, Vec<Step>)> {
    let (mut looked, interrupted) = (Instant::now(), Arc::new(Mutex::new(None)));
    let signal = interrupted.clone();
    let reporter = Reporter::new(listener, move || {
        let mut signal = signal.lock().unwrap_or_else(PoisonError::into_inner);
        if signal.is_none() && looked.elapsed() >= PATIENCE {
            *signal = Python::attach(|py| py.check_signals().err());
            looked = Instant::now();
        }
        signal.is_none()
    });
    let raised = reporter.raised.clone();
    let done =
        py.detach(|| OWN.with(|own| own.as_ref().map(|own| own.install(|| reporter.watch(work))).map_err(no_threads)))?;
    fail(&interrupted)?;
    fail(&raised)?;
    done.map_err(|panic| bug(&*panic))
}

/// What work on other threads asks for while it runs, and that it has ended.
enum News {
    Call(Call),
    End,
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
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut dyn Observer) -> T + Send + 'static,
) -> PyResult<(T, Vec<Step>)> {
    let (sender, mut receiver) = channel();
    let (desk, name) = (sender.clone(), |i| format!("udeed-{i}"));
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(name);
    let builder = builder.start_handler(move |_| DESK.set(Some(desk.clone())));
    let pool = builder.build().map_err(|error| no_threads(&error))?;
    let abandoned = Arc::new(AtomicBool::new(false));
    let _abandon = Abandon(abandoned.clone());
    let reporter = Reporter::new(listener, move || !abandoned.load(Ordering::Relaxed));
    let raised = reporter.raised.clone();
    let (result, results) = channel();
    pool.spawn(move || {
        // Nobody may be there to hear it.
        let _ = result.send(reporter.watch(work));
        let _ = sender.send(News::End);
    });
    loop {
        let news;
        (receiver, news) = py.detach(move || listen(receiver));
        match news {
            Ok(News::Call(call)) => call(py)?,
            Err(RecvTimeoutError::Timeout) => {}
            Ok(News::End) | Err(RecvTimeoutError::Disconnected) => break,
        }
        py.check_signals()?;
    }
    fail(&raised)?;
    let done = results.recv().map_err(|_| bug(&"the work ended without a word"))?;
    done.map_err(|panic| bug(&*panic))
}

/// Raises what was raised.
fn fail(raised: &Mutex<Option<PyErr>>) -> PyResult<()> {
    raised.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
}

fn no_threads(error: &ThreadPoolBuildError) -> PyErr {
    PyRuntimeError::new_err(format!("no threads to work on: {error}"))
}

/// A receiver cannot be shared between threads, only handed on.
type Listened = (Receiver<News>, Result<News, RecvTimeoutError>);

fn listen(receiver: Receiver<News>) -> Listened {
    let news = receiver.recv_timeout(PATIENCE);
    (receiver, news)
}
