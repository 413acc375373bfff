//! Observing a fit while it runs: losses, stages, steps, warnings.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::{byte_size, listed, quoted};

/// The losses of an ensemble: `total = empirical + gamma * diversity`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Empirical loss V_emp: the mean loss of the members on the labeled rows.
    pub empirical: f64,
    /// Diversity loss V_div: the mean product of the outputs of two members. The smaller it is, the more they differ.
    pub diversity: f64,
    /// Total loss V.
    pub total: f64,
}

/// A stage of the descent, named after the rows on which diversity is measured.
///
/// ```
/// assert_eq!(udeed::observer::Stage::Unlabeled.to_string(), "diversity on unlabeled rows");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// No diversity: the empirical loss only.
    Empirical,
    /// Diversity on the labeled rows, ignoring their labels.
    Labeled,
    /// Diversity on the unlabeled rows.
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
/// assert_eq!(udeed::observer::Stop::Steps.to_string(), "all steps taken");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// All steps were taken.
    Steps,
    /// The total loss V no longer decreased.
    Loss,
    /// The diversity loss V_div no longer decreased.
    Diversity,
    /// The observer ended it.
    Observer,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Steps => "all steps taken",
            Stop::Loss => "no lower V",
            Stop::Diversity => "no lower V_div",
            Stop::Observer => "stopped from outside",
        })
    }
}

/// Summary of one stage of the descent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageSummary {
    /// The stage.
    pub stage: Stage,
    /// Number of accepted steps.
    pub steps: usize,
    /// Losses before the first step.
    pub first: Losses,
    /// Losses after the last accepted step.
    pub last: Losses,
    /// Why the stage ended.
    pub stop: Stop,
}

/// One step of the descent.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The stage.
    pub stage: Stage,
    /// Number of the step within the stage; 0 is the starting point.
    pub step: usize,
    /// Losses after the step.
    pub losses: Losses,
    /// Whether the step was accepted.
    pub accepted: bool,
}

/// A problem that does not prevent a fit or a prediction.
///
/// ```
/// assert!(udeed::observer::Warning::NoUnlabeledRows.to_string().contains("`lcd`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Warning {
    /// There are no unlabeled rows: variant `lcud` becomes `lcd`.
    NoUnlabeledRows,
    /// Boosting kept no member: the model is logistic regression on the labels alone.
    NothingBoosted,
    /// Boosting ended with its first member, which learned from the labels alone.
    OneMember,
    /// Boosting ended with less than half of the members.
    FewMembers {
        /// Number of members that were asked for.
        of: usize,
    },
    /// Boosting gave some classes, each against the rest, no more than their baseline.
    HeadsNotBoosted {
        /// Number of these classes.
        heads: usize,
        /// Number of all classes.
        of: usize,
    },
    /// Every member was without error and discarded: the model is undecided on every row.
    NothingLeft,
    /// The method learns from unlabeled rows, and there are none.
    NothingUnlabeled,
    /// The votes on held-out rows do not rise with the share of their class: probabilities are not calibrated.
    NotCalibrated,
    /// No labeled row of a class was held out: probabilities are not calibrated.
    NothingToCalibrateBy {
        /// The class.
        class: String,
    },
    /// Labeled rows have copies in every bootstrap: out-of-bag estimates flatter.
    CopiesInEveryBag {
        /// Number of rows.
        rows: usize,
    },
    /// The descent has taught the members the rows that their bootstraps leave out: these judge no row.
    NothingHeldOut,
    /// No unlabeled row was given a pseudo-label: the model is learned from the labels alone.
    NothingAdded,
    /// All rows are alike, so that their similarities tell nothing: the model is logistic regression on the labels alone.
    RowsAlike,
    /// The descent took no step: the model is its initial members.
    NoStep,
    /// The rows are sparse: only the linear view and trees are used.
    SparseViews,
    /// There are too few labeled rows to choose views: only the linear one is used.
    FewLabels {
        /// Number of labeled rows.
        rows: usize,
    },
    /// The neighbourhood graph of the rows has little structure: spectral views are omitted where it has none.
    NothingSpectral,
    /// All out-of-bag rows are of one class: views and lambdas keep their prior weights.
    OneClassOut,
    /// The members are so sure of the unlabeled rows that no shift of the odds gives these the class prior.
    PriorNotMet,
    /// The similarities of the rows, or their features, take much memory.
    Memory {
        /// Bytes.
        bytes: u64,
    },
    /// Many rows are suggested: after the first ones, rows that are like others are not excluded.
    ManySuggestions {
        /// Number of the first ones.
        most: usize,
    },
    /// There are fewer unlabeled rows than were to be suggested.
    FewToSuggest {
        /// Number of these rows.
        rows: usize,
        /// Number of suggestions that were asked for.
        count: usize,
    },
    /// Fewer rows were suggested than were asked for, as no more of a class are wanted.
    ClassesLimited {
        /// Number of suggestions.
        rows: usize,
        /// Number of suggestions that were asked for.
        count: usize,
        /// Largest number of suggestions of a class.
        per_class: usize,
    },
    /// The query strategy needs a model, and the labels do not allow one: rows are chosen by variance reduction.
    NoModelToAsk,
    /// Rows have weights, and the query strategy does not go by them.
    WeightsNotUsed {
        /// The strategy.
        strategy: String,
    },
    /// Rows of a class were to be limited, and without a model no class is predicted.
    NothingPredicted,
    /// Some columns have the same value in all rows.
    ConstantColumns {
        /// The first few of them.
        columns: Vec<String>,
        /// Number of all of them.
        count: usize,
    },
    /// There are nearly as many classes as labeled rows: the labels may be values, not classes.
    ClassesLikeValues {
        /// Number of classes.
        classes: usize,
        /// Number of labeled rows.
        rows: usize,
    },
    /// The decision threshold gives all training rows the same class.
    OneClassPredicted {
        /// The threshold, as text.
        threshold: String,
        /// The class.
        class: String,
    },
    /// The decision threshold does not give the share of rows above it that was asked for.
    RateNotMet {
        /// The share that was asked for, as text.
        wanted: String,
        /// The share of the training rows above the threshold, as text.
        reached: String,
        /// The second class.
        class: String,
    },
    /// Rows to predict have values in a nominal column that no training row has.
    UnseenValues {
        /// The column.
        column: String,
        /// The first few of the values.
        values: Vec<String>,
        /// Number of rows with such a value.
        rows: usize,
    },
    /// Rows to predict have numbered features that no training row has.
    UnseenFeatures {
        /// The first few of the features.
        features: Vec<String>,
        /// Number of rows with such a feature.
        rows: usize,
    },
}

impl Warning {
    /// Whether the model is no more than its baseline: the method learned nothing from the unlabeled rows, or kept nothing of
    /// what it learned.
    #[must_use]
    pub fn is_baseline(&self) -> bool {
        use Warning::{NoStep, NothingAdded, NothingBoosted, NothingLeft, NothingUnlabeled, OneMember, RowsAlike};
        if let Warning::HeadsNotBoosted { heads, of } = self {
            return heads == of;
        }
        matches!(self, NoStep | NothingAdded | NothingBoosted | NothingLeft | NothingUnlabeled | OneMember | RowsAlike)
    }

    /// Whether it is about the training rows alone, whatever the method.
    #[must_use]
    pub fn is_about_rows(&self) -> bool {
        matches!(self, Warning::ConstantColumns { .. } | Warning::ClassesLikeValues { .. })
    }
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
            Warning::OneMember => {
                f.write_str("boosting ended with its first member: the model is the base learner on the labels alone")
            }
            // Without their number, so that comparisons tell it once for all splits.
            Warning::FewMembers { of } => {
                write!(f, "boosting ended with less than half of {of} members: a further one would not have helped")
            }
            Warning::HeadsNotBoosted { heads, of } => {
                write!(f, "boosting kept nothing for {heads} of {of} classes: their members are learned from the labels alone")
            }
            Warning::NothingLeft => {
                f.write_str("every member was without error and discarded: the model is undecided on every row")
            }
            Warning::NothingUnlabeled => {
                f.write_str("there are no unlabeled rows: the model is learned from the labels alone")
            }
            Warning::NotCalibrated => f.write_str(
                "votes on held-out rows do not rise with the share of their class: the probabilities are not calibrated",
            ),
            Warning::NothingToCalibrateBy { class } => write!(
                f,
                "no labeled row of class {} was held out, as there are too few: the probabilities are not calibrated",
                quoted(class)
            ),
            Warning::CopiesInEveryBag { rows } => write!(
                f,
                "{rows} labeled rows have copies in every bootstrap: out-of-bag estimates, and what is chosen by them, flatter"
            ),
            Warning::NothingHeldOut => f.write_str(
                "the descent has taught the members the rows that their bootstraps leave out: none is judged by these",
            ),
            Warning::NothingAdded => {
                f.write_str("no unlabeled row was given a pseudo-label: the model is learned from the labels alone")
            }
            Warning::RowsAlike => f.write_str(
                "all rows are alike, and similarities tell nothing: the model is logistic regression on the labels alone",
            ),
            Warning::NoStep => f.write_str("the descent took no step: the model is its initial members"),
            Warning::SparseViews => f.write_str("the rows are sparse: only the linear view and trees are used"),
            Warning::FewLabels { rows } => {
                write!(f, "{rows} labeled rows are too few to choose views: only the linear one is used")
            }
            Warning::NothingSpectral => {
                f.write_str("the neighbourhood graph of the rows has little structure: spectral views are omitted where it has none")
            }
            Warning::OneClassOut => f.write_str("no two classes have out-of-bag rows: views keep their prior weights"),
            Warning::PriorNotMet => {
                f.write_str("the class prior is not met: the members are too sure of the unlabeled rows")
            }
            Warning::Memory { bytes } => write!(f, "similarities or features of the rows take {}", byte_size(*bytes)),
            Warning::ManySuggestions { most } => {
                write!(f, "after {most} suggestions, further ones may be like each other")
            }
            Warning::FewToSuggest { rows, count } => {
                write!(f, "{} to suggest, and {count} were asked for", counted(*rows))
            }
            Warning::ClassesLimited { rows, count, per_class } => {
                let rows = counted(*rows);
                write!(f, "{rows} to suggest, and {count} were asked for: {per_class} of each class that is predicted")
            }
            Warning::NoModelToAsk => {
                f.write_str("the labels are too few for a model: rows are chosen by `variance-reduction`, which needs none")
            }
            Warning::WeightsNotUsed { strategy } => {
                write!(f, "strategy `{strategy}` does not weigh rows: weights change only their shares of what is unknown")
            }
            Warning::NothingPredicted => {
                f.write_str("the labels are too few for a model, which would predict classes: these are not limited")
            }
            Warning::ConstantColumns { columns, count: 1 } => {
                write!(f, "column {} has the same value in all rows: it tells nothing", listed(columns))
            }
            Warning::ConstantColumns { columns, count } => {
                let columns = some_of(columns, *count);
                write!(f, "columns {columns} have the same value in all rows: they tell nothing")
            }
            Warning::ClassesLikeValues { classes, rows } => {
                write!(f, "{classes} classes in {rows} labeled rows: are the labels classes, or values to be estimated?")
            }
            Warning::OneClassPredicted { threshold, class } => {
                write!(f, "with a threshold of {threshold} every training row is predicted as {}", quoted(class))
            }
            Warning::RateNotMet { wanted, reached, class } => {
                let class = quoted(class);
                write!(f, "the rate of {wanted} is not met: {reached} of the training rows are predicted as {class}")
            }
            Warning::UnseenValues { column, values, rows } => {
                let (column, values) = (quoted(column), listed(values));
                let rows = counted(*rows);
                write!(f, "column {column}: values in {rows} occur in no training row, such as {values}: they count as none")
            }
            Warning::UnseenFeatures { features, rows } => {
                let (rows, features) = (counted(*rows), listed(features));
                write!(f, "features in {rows} occur in no training row, such as {features}: they are not used")
            }
        }
    }
}

/// The first few names of a number of them.
fn some_of(names: &[String], count: usize) -> String {
    match count.saturating_sub(names.len()) {
        0 => listed(names),
        left => format!("{}, and {left} more", listed(names)),
    }
}

fn counted(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

/// Observes a fit while it runs: shows progress, records a trace, or ends the fit early. `()` ignores everything.
///
/// ```
/// use std::ops::ControlFlow;
/// use udeed::prelude::*;
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
    /// Reports how many members are fitted, `done` of `total`. Also called periodically without progress. Returning `Break`
    /// ends the fit with [`Error::Stopped`].
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        let _ = (done, total);
        ControlFlow::Continue(())
    }

    /// Reports a step of the descent, accepted or not. Returning `Break` ends the descent; the model has the last accepted
    /// weights.
    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        let _ = step;
        ControlFlow::Continue(())
    }

    /// Reports how many candidates are evaluated in a choice of settings, `done` of `total`, summed over the folds.
    /// Returning `Break` ends the choice with [`Error::Stopped`].
    fn candidate(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        let _ = (done, total);
        ControlFlow::Continue(())
    }

    /// Reports a warning.
    fn warn(&mut self, warning: &Warning) {
        let _ = warning;
    }
}

impl Observer for () {}

/// The observer of fits to folds: hears of members and may end the fits, but steps and warnings are not those of the model.
pub(crate) struct OfFolds<'a>(pub(crate) &'a mut dyn Observer);

impl Observer for OfFolds<'_> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        self.0.member(done, total)
    }

    fn step(&mut self, _: &Step) -> ControlFlow<()> {
        self.0.member(0, 1)
    }
}

/// Time between two periodic calls of the observer.
const INTERVAL: Duration = Duration::from_millis(50);

/// A handle on the observer for all threads of a fit: reports progress and carries a request to stop.
pub(crate) struct Watch<'a> {
    state: Mutex<State<'a>>,
    stopped: AtomicBool,
}

struct State<'a> {
    observer: &'a mut dyn Observer,
    /// Members done and their total, as last reported.
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

    /// Reports how many members are done, `done` of `total`.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer ends the fit.
    pub(crate) fn member(&self, done: usize, total: usize) -> Result<()> {
        let mut state = self.lock();
        state.done = (done, total);
        self.report(state)
    }

    /// Reports a step of the descent.
    pub(crate) fn step(&self, step: &Step) -> ControlFlow<()> {
        self.lock().observer.step(step)
    }

    /// Reports a warning.
    pub(crate) fn warn(&self, warning: &Warning) {
        self.lock().observer.warn(warning);
    }

    /// Asks the observer whether to go on, at most once per [`INTERVAL`]. Cheap enough to be called for every row.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer ends the fit.
    pub(crate) fn ask(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        // Only one thread asks at a time; the others go on.
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
        // Later calls, on any thread, fail at once.
        std::thread::scope(|threads| {
            assert!(matches!(threads.spawn(|| watch.ask()).join().unwrap(), Err(Error::Stopped)));
        });
        assert_eq!(heard.0, [(4, 9); 3]);
    }
}
