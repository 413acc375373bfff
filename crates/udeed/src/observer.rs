//! What can be seen of a fit while it runs.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::size;

/// The losses of an ensemble: `total = empirical + gamma * diversity`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// V_emp: the mean loss of the members on the labeled rows.
    pub empirical: f64,
    /// V_div: the mean product of the outputs of two members. The smaller, the more they differ.
    pub diversity: f64,
    /// V.
    pub total: f64,
}

/// A part of the descent: what the diversity of the members is measured on.
///
/// ```
/// assert_eq!(udeed::Stage::Unlabeled.to_string(), "diversity on unlabeled rows");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// On nothing: only the empirical loss counts.
    Empirical,
    /// On the labeled rows, their labels ignored.
    Labeled,
    /// On the unlabeled rows.
    Unlabeled,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Empirical => "empirical loss only",
            Stage::Labeled => "diversity on labeled rows",
            Stage::Unlabeled => "diversity on unlabeled rows",
        })
    }
}

/// Why a stage ended.
///
/// ```
/// assert_eq!(udeed::Stop::Steps.to_string(), "all steps taken");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// All steps were taken.
    Steps,
    /// The loss V did not decrease any more.
    Loss,
    /// The diversity loss V_div did not decrease any more.
    Diversity,
    /// The observer state for it.
    Observer,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Steps => "all steps taken",
            Stop::Loss => "V no longer decreased",
            Stop::Diversity => "V_div no longer decreased",
            Stop::Observer => "stopped from outside",
        })
    }
}

/// How one stage of the descent went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageSummary {
    /// Which one.
    pub stage: Stage,
    /// Steps that were kept.
    pub steps: usize,
    /// The losses where it began.
    pub first: Losses,
    /// The losses where it ended.
    pub last: Losses,
    /// Why it ended.
    pub stop: Stop,
}

/// One step of the descent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The stage it belongs to.
    pub stage: Stage,
    /// Its number within the stage; 0 is where the stage begins.
    pub step: usize,
    /// The losses after it.
    pub losses: Losses,
    /// Whether it was kept.
    pub accepted: bool,
}

/// Something worth knowing that is no reason to stop.
///
/// ```
/// assert!(udeed::Warning::NoUnlabeledRows.to_string().contains("`lcd`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// The variant `lcud` had no unlabeled rows and became `lcd`.
    NoUnlabeledRows,
    /// Boosting found no member to keep; the ensemble is logistic regression on the labels.
    NothingBoosted,
    /// Every member made no error and was thrown away: the model knows nothing.
    NothingLeft,
    /// The method learns from unlabeled rows, and there are none.
    NothingUnlabeled,
    /// Of sparse rows there is the linear view only.
    SparseViews,
    /// Too few labeled rows to choose views: the linear one is taken.
    FewLabels {
        /// How many there are.
        rows: usize,
    },
    /// A graph of the rows showed nothing: its views are left out.
    NothingSpectral,
    /// No row of a second class was ever out of bag: all views and lambdas count alike.
    OneClassOut,
    /// The similarities of rows take much memory.
    Memory {
        /// How much.
        bytes: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NoUnlabeledRows => {
                f.write_str("there are no unlabeled rows: variant `lcud` becomes `lcd`, which needs none")
            }
            Warning::NothingBoosted => {
                f.write_str("boosting kept no member: the model is logistic regression on the labels alone")
            }
            Warning::NothingLeft => {
                f.write_str("every member was without error and discarded: the model knows nothing")
            }
            Warning::NothingUnlabeled => {
                f.write_str("there are no unlabeled rows to learn from: the model is made of the labels alone")
            }
            Warning::SparseViews => f.write_str("the rows are sparse: the members have the linear view only"),
            Warning::FewLabels { rows } => {
                write!(f, "{rows} labeled rows are too few to choose views by: the members have the linear one only")
            }
            Warning::NothingSpectral => {
                f.write_str("a graph of the rows shows nothing: the members do without spectral views")
            }
            Warning::OneClassOut => f.write_str(
                "the rows that members were not fitted to are of one class: they cannot choose, all views count alike",
            ),
            Warning::Memory { bytes } => write!(f, "what is kept of the rows takes {}", size(*bytes)),
        }
    }
}

/// Sees a fit while it runs: for progress, traces, and to end it early. `()` looks away.
///
/// ```
/// use std::ops::ControlFlow;
/// use udeed::{Observer, Step, Udeed, built_in};
///
/// struct Falling(f64);
/// impl Observer for Falling {
///     fn step(&mut self, step: &Step) -> ControlFlow<()> {
///         assert!(!step.accepted || step.step == 0 || step.losses.total < self.0);
///         if step.accepted {
///             self.0 = step.losses.total;
///         }
///         ControlFlow::Continue(())
///     }
/// }
///
/// let train = built_in("house")?.read()?.into_train()?;
/// Udeed::new().fit_observed(&train, &mut Falling(f64::INFINITY))?;
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Observer: Send {
    /// So many of the initial members are fitted. Heard again and again while they are, also when no further one is done:
    /// they are fitted together, and some are long in coming. To break ends the fit with an error.
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        let _ = (done, total);
        ControlFlow::Continue(())
    }

    /// A step was tried. To break ends the descent; the model is what was kept so far.
    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        let _ = step;
        ControlFlow::Continue(())
    }

    /// So many candidates of a choice of settings are tried, on so many folds together. To break ends the choice with an
    /// error.
    fn candidate(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        let _ = (done, total);
        ControlFlow::Continue(())
    }

    /// Something worth knowing.
    fn warn(&mut self, warning: &Warning) {
        let _ = warning;
    }
}

impl Observer for () {}

/// How long work goes on before the observer is state again.
const INTERVAL: Duration = Duration::from_millis(50);

/// An observer that hears how many members are done, and is state meanwhile whether to go on.
pub(crate) struct Watch<'a> {
    state: Mutex<State<'a>>,
    stopped: AtomicBool,
}

struct State<'a> {
    observer: &'a mut dyn Observer,
    /// How many members were done, of how many, when it was last told.
    done: (usize, usize),
    last: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer) -> Self {
        let state = Mutex::new(State { observer, done: (0, 0), last: Instant::now() });
        Watch { state, stopped: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that so many members are done, of so many that there will be.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer has seen enough.
    pub(crate) fn member(&self, done: usize, total: usize) -> Result<()> {
        let mut state = self.lock();
        state.done = (done, total);
        self.report(state)
    }

    /// Tells of a step of the descent.
    pub(crate) fn step(&self, step: &Step) -> ControlFlow<()> {
        self.lock().observer.step(step)
    }

    /// Tells something worth knowing.
    pub(crate) fn warn(&self, warning: &Warning) {
        self.lock().observer.warn(warning);
    }

    /// Asks whether to go on, unless that was state a moment ago. Cheap enough for every row that is compared with all.
    ///
    /// # Errors
    /// [`Error::Stopped`] if not.
    pub(crate) fn ask(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        // One thread that asks is enough.
        match self.state.try_lock() {
            Ok(state) if state.last.elapsed() >= INTERVAL => self.report(state),
            _ => Ok(()),
        }
    }

    fn report(&self, mut state: MutexGuard<'_, State<'a>>) -> Result<()> {
        let (done, total) = state.done;
        let answer = state.observer.member(done, total);
        state.last = Instant::now();
        if answer.is_break() {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Error::Stopped);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    struct Heard(Vec<(usize, usize)>);

    impl Observer for Heard {
        fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
            self.0.push((done, total));
            if self.0.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }

    #[test]
    fn it_is_asked_now_and_then_and_ends_all_threads() {
        let mut heard = Heard(Vec::new());
        let watch = Watch::new(&mut heard);
        watch.member(4, 9).unwrap();
        watch.ask().unwrap();
        std::thread::sleep(INTERVAL);
        watch.ask().unwrap();
        std::thread::sleep(INTERVAL);
        assert!(matches!(watch.ask(), Err(Error::Stopped)));
        // Whoever asks later is not let wait.
        std::thread::scope(|threads| {
            assert!(matches!(threads.spawn(|| watch.ask()).join().unwrap(), Err(Error::Stopped)));
        });
        assert_eq!(heard.0, [(4, 9); 3]);
    }
}
