//! The desk: rows, session and answers, and a thread that learns while questions are answered.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use udeed::data::{Labels, TrainSet};
use udeed::labeling::{Entry, Progress, Question, Reply, Round, Rounds, Session};
use udeed::method::Method;
use udeed::model::Model;
use udeed::observer::Observer;

use crate::answers::{Answers, Damaged, Line, Reading, fingerprint};
use crate::cells::{Rows, cells_of};
use crate::distribution::Distributions;
use crate::error::{Error, Result};
use crate::media::Media;
use crate::server::Ending;

/// Number of random rows for which predictions are kept ready.
const UPCOMING: usize = 20;
/// After this time without a request another window may label: a browser may wake a hidden one only once a minute.
const SILENCE: Duration = Duration::from_secs(150);

/// A share of the rows, for one of several people: part 2 of 3 are the rows 2, 5, 8 and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which of the parts, counted from 1.
    pub number: usize,
    /// How many parts there are.
    pub of: usize,
}

impl Part {
    /// Whether a row, counted from 0, belongs to it.
    ///
    /// ```
    /// let part = udeed_label::Part { number: 2, of: 3 };
    /// assert_eq!((0..9).filter(|&row| part.has(row)).collect::<Vec<_>>(), [1, 4, 7]);
    /// ```
    pub fn has(self, row: usize) -> bool {
        row % self.of == self.number - 1
    }
}

/// What is to be labeled.
pub struct Project {
    /// The name of the rows.
    pub name: String,
    /// The rows, and the labels that some of them have.
    pub train: TrainSet,
    /// The same rows as people read them.
    pub rows: Box<dyn Rows>,
    /// The column of the labels among those.
    pub label_column: Option<usize>,
    /// The folder in which, or below which, the files lie that cells name.
    pub folder: Option<PathBuf>,
    /// The method of the models.
    pub method: Method,
    /// Random seed.
    pub seed: u64,
    /// The part of the rows to ask for; none for all.
    pub part: Option<Part>,
    /// The label that marks unlabeled rows in their file, if there is one: no class can have this name.
    pub unlabeled_mark: Option<String>,
    /// Classes that are meant although their names are words for a missing label.
    pub meant: Vec<String>,
    /// Receives the warnings of the fits.
    pub observer: Box<dyn Observer>,
}

impl Project {
    /// All of some rows.
    pub fn new(name: &str, train: TrainSet, rows: Box<dyn Rows>, method: impl Into<Method>) -> Self {
        let method = method.into();
        let observer = Box::new(());
        let name = name.to_owned();
        let (label_column, folder, part, unlabeled_mark, meant) = (None, None, None, None, Vec::new());
        Project { name, train, rows, label_column, folder, method, seed: 0, part, unlabeled_mark, meant, observer }
    }
}

/// Where rows are labeled: by [`Desk::reply`], or on the page of a [`Server`](crate::Server).
pub struct Desk {
    shared: Arc<Shared>,
    learner: Option<JoinHandle<()>>,
}

/// What was labeled, and the model of it.
#[non_exhaustive]
pub struct Finished {
    /// The labels of all rows.
    pub labels: Labels,
    /// The label of each row that was answered here, by its number from 0; none for rows whose class could not be told.
    pub answered: HashMap<usize, Option<String>>,
    /// The model of all labels, or of fewer where there is a problem; none if they are of fewer than two classes.
    pub model: Option<Model>,
    /// What kept the last fit from giving a model of all labels, if anything did.
    pub problem: Option<String>,
    /// The progress of labeling.
    pub progress: Progress,
}

/// What threads share.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) rows: Box<dyn Rows>,
    pub(crate) label_column: Option<usize>,
    pub(crate) n_rows: usize,
    pub(crate) media: Option<Media>,
    pub(crate) distributions: Distributions,
    state: Mutex<State>,
    changed: Condvar,
    /// Ends fits that are under way.
    stop: AtomicBool,
}

/// What changes.
pub(crate) struct State {
    pub(crate) session: Session,
    pub(crate) answers: Answers,
    /// Counts the changes of labels, and up to which of them the newest model has learned.
    labels: u64,
    learned: u64,
    pub(crate) round: Option<Learned>,
    model: Option<Model>,
    /// The error of the last fit.
    pub(crate) problem: Option<String>,
    window: Option<(String, Instant)>,
    pub(crate) finish: bool,
    pub(crate) ending: Option<Ending>,
}

/// What the page tells of a round.
pub(crate) struct Learned {
    pub(crate) changed: Option<(usize, usize)>,
    pub(crate) cold: bool,
    pub(crate) n_labeled: usize,
    pub(crate) reasons: HashMap<usize, [f64; 3]>,
}

impl State {
    /// Whether the newest model has not seen all labels yet.
    pub(crate) fn is_learning(&self) -> bool {
        self.labels != self.learned
    }

    /// Whether a window labels, and not only looks on. The first does; another when it takes over, or that one is gone.
    pub(crate) fn is_labeling(&mut self, window: &str) -> bool {
        let is_free = |(id, heard): &(String, Instant)| id == window || heard.elapsed() > SILENCE;
        let may = self.window.as_ref().is_none_or(is_free);
        if may {
            self.window = Some((window.to_owned(), Instant::now()));
        }
        may
    }

    pub(crate) fn take_over(&mut self, window: &str) {
        self.window = Some((window.to_owned(), Instant::now()));
    }

    pub(crate) fn leave(&mut self, window: &str) {
        self.window.take_if(|(id, _)| id == window);
    }

    /// When a window was heard of last.
    pub(crate) fn heard(&self) -> Option<Instant> {
        self.window.as_ref().map(|(_, heard)| *heard)
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked has changed nothing by halves: entries take effect one by one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    /// Waits for a change, and not for long.
    pub(crate) fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, Duration::from_millis(100));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Keeps entries in the file, and then lets them take effect.
    ///
    /// # Errors
    /// If they cannot be kept: then they have no effect.
    pub(crate) fn enter(&self, state: &mut State, entries: &[Entry]) -> Result<()> {
        let line = |entry: &Entry| {
            let row = row_of(entry);
            let cells = cells_of(self.rows.as_ref(), row);
            let cells = cells.map_err(|cause| Error::io(self.name.clone(), "read", cause))?;
            Ok(Line { entry: entry.clone(), fingerprint: fingerprint(&cells, self.label_column) })
        };
        let lines: Vec<Line> = entries.iter().map(line).collect::<Result<_>>()?;
        state.answers.append(&lines)?;
        entries.iter().for_each(|entry| state.session.apply(entry));
        state.labels += 1;
        self.notify();
        Ok(())
    }

    /// Answers the question.
    ///
    /// # Errors
    /// If there is none, the class cannot be one, or the answer cannot be kept.
    pub(crate) fn reply(&self, state: &mut State, reply: Reply) -> Result<()> {
        let entries = state.session.reply(reply)?;
        // Nothing to keep, and nothing to learn: a row was looked at.
        if entries.is_empty() { Ok(()) } else { self.enter(state, &entries) }
    }

    /// Takes the last answer back; whether there was one.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub(crate) fn undo(&self, state: &mut State) -> Result<bool> {
        let entry = state.session.undo();
        entry.map_or(Ok(false), |entry| self.enter(state, &[entry]).map(|()| true))
    }
}

fn row_of(entry: &Entry) -> usize {
    match entry {
        Entry::Answer(answer) => answer.row,
        Entry::Undo { row } => *row,
    }
}

impl Desk {
    /// Opens the answers, new or to go on with, and finds the first question.
    ///
    /// # Errors
    /// If the answers cannot be used, see [`Error`], no row is without a label, or the rows cannot be read.
    pub fn open(project: Project, answers: &Path, damaged: Damaged) -> Result<Self> {
        let Project { name, train, rows, label_column, folder, method, seed, part, unlabeled_mark, meant, observer } =
            project;
        let (file, reading) = Answers::open(answers, damaged)?;
        let asked: Option<Vec<usize>> =
            part.map(|part| (0..train.labels().len()).filter(|&row| part.has(row)).collect());
        let session = Session::new(train.labels().clone(), asked.as_deref());
        let mut session = session.unlabeled_mark(unlabeled_mark.as_deref()).meant(meant);
        if session.upcoming(1).is_empty() {
            let part = part.map_or_else(String::new, |part| format!(" in part {}/{}", part.number, part.of));
            return Err(Error::NothingToLabel { rows: name, part });
        }
        let unreadable = |cause| Error::io(name.clone(), "read", cause);
        check_rows(&reading, &name, rows.as_ref(), label_column, train.labels().len(), answers)?;
        reading.lines.iter().for_each(|(_, line)| session.apply(&line.entry));
        let n_rows = train.labels().len();
        let distributions = Distributions::read(rows.as_ref(), n_rows).map_err(unreadable)?;
        let mut learner = Learner::new(train, asked.as_deref(), method, seed, observer);
        let mut state = State {
            session,
            answers: file,
            labels: 0,
            learned: 0,
            round: None,
            model: None,
            problem: None,
            window: None,
            finish: false,
            ending: None,
        };
        let stop = AtomicBool::new(false);
        let round = learner.learn(state.session.labels(), &state.session.upcoming(UPCOMING), &stop);
        take(&mut state, round);
        let media = folder.as_deref().and_then(Media::below);
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { name, rows, label_column, n_rows, media, distributions, state, changed, stop });
        let thread = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || learner.work(&shared))
        };
        Ok(Desk { shared, learner: Some(thread) })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The question to answer; none if all rows are answered.
    pub fn question(&self) -> Option<Question> {
        self.shared.state().session.question()
    }

    /// Answers the question.
    ///
    /// # Errors
    /// If there is none, the class cannot be one, or the answer cannot be kept.
    pub fn reply(&self, reply: Reply) -> Result<()> {
        self.shared.reply(&mut self.shared.state(), reply)
    }

    /// How far labeling is.
    pub fn progress(&self) -> Progress {
        self.shared.state().session.progress()
    }

    /// Waits until the newest model has seen all labels, and gives it away with what was labeled. Nothing can be answered
    /// after it.
    ///
    /// # Errors
    /// If the labels cannot be learned from.
    pub fn finish(&mut self) -> Result<Finished> {
        let mut state = self.shared.state();
        state.finish = true;
        self.shared.notify();
        drop(state);
        if let Some(thread) = self.learner.take() {
            // A fit that panics does not end it.
            _ = thread.join();
        }
        let mut state = self.shared.state();
        let answered = state.session.answers().filter(|answer| answer.reply != Reply::Skip);
        let answered =
            answered.map(|answer| (answer.row, state.session.label(answer.row).map(str::to_owned))).collect();
        Ok(Finished {
            labels: state.session.labels(),
            answered,
            progress: state.session.progress(),
            model: state.model.take(),
            problem: state.problem.clone(),
        })
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let _ = self.finish();
        // A page that is still open may look on, and others may label.
        self.shared.state().answers.release();
    }
}

/// Whether the answers are to these rows.
pub(crate) fn check_rows(
    reading: &Reading,
    name: &str,
    rows: &dyn Rows,
    label: Option<usize>,
    n_rows: usize,
    path: &Path,
) -> Result<()> {
    let other = |line: u64, row: usize| Error::OtherRow {
        path: path.display().to_string(),
        line,
        row: row + 1,
        rows: name.to_owned(),
    };
    if let Some((line, beyond)) = reading.lines.iter().find(|(_, line)| line.row() >= n_rows) {
        return Err(other(*line, beyond.row()));
    }
    for some in reading.lines.chunks(200) {
        let wanted: Vec<usize> = some.iter().map(|(_, line)| line.row()).collect();
        let cells = rows.read(&wanted);
        let cells = cells.map_err(|cause| Error::io(name.to_owned(), "read", cause))?;
        let is_other = |(_, line): &&(u64, Line)| {
            cells.get(&line.row()).is_none_or(|cells| fingerprint(cells, label) != line.fingerprint)
        };
        if let Some((number, line)) = some.iter().find(is_other) {
            return Err(other(*number, line.row()));
        }
    }
    Ok(())
}

/// Takes over the result of a round.
fn take(state: &mut State, round: Option<std::result::Result<Round, String>>) {
    match round {
        None => {}
        Some(Ok(round)) => {
            let reasons =
                round.suggestions.iter().map(|own| (own.row, [own.undecided, own.unlike, own.share])).collect();
            state.session.suggest(round.suggestions.iter().map(|suggestion| suggestion.row));
            state.session.predict(round.predictions);
            state.round =
                Some(Learned { changed: round.changed, cold: round.cold, n_labeled: round.n_labeled, reasons });
            state.model = round.model;
            state.problem = None;
        }
        Some(Err(problem)) => state.problem = Some(problem),
    }
}

/// What learns: it has the rows for itself, and never keeps a question waiting.
struct Learner {
    rounds: Rounds,
    /// The rows it learns from, where these are not all.
    rows: Option<Vec<usize>>,
    observer: Box<dyn Observer>,
}

impl Learner {
    fn new(train: TrainSet, asked: Option<&[usize]>, method: Method, seed: u64, observer: Box<dyn Observer>) -> Self {
        let rows = asked.map(|asked| {
            let labels = train.labels();
            let is_used = |row: &usize| labels.get(*row).is_some() || asked.binary_search(row).is_ok();
            (0..labels.len()).filter(is_used).collect::<Vec<usize>>()
        });
        let train = match &rows {
            Some(rows) => train.select(rows),
            None => train,
        };
        Learner { rounds: Rounds::new(train, method, seed), rows, observer }
    }

    /// Learns from labels of all rows; none if it was stopped. A fit that panics is one that failed: the next one may not.
    fn learn(
        &mut self,
        labels: Labels,
        wanted: &[usize],
        stop: &AtomicBool,
    ) -> Option<std::result::Result<Round, String>> {
        let learned = catch_unwind(AssertUnwindSafe(|| self.try_learn(labels, wanted, stop)));
        match learned {
            Ok(Err(udeed::Error::Stopped)) => None,
            Ok(round) => Some(round.map_err(|error| error.to_string())),
            Err(_) => Some(Err("the fit ended in a panic, which is a fault of this program".into())),
        }
    }

    fn try_learn(&mut self, labels: Labels, wanted: &[usize], stop: &AtomicBool) -> udeed::Result<Round> {
        let mut watched = Stoppable { observer: self.observer.as_mut(), stop };
        match &self.rows {
            None => self.rounds.learn(labels, wanted, &mut watched),
            Some(rows) => {
                let wanted: Vec<usize> = wanted.iter().filter_map(|row| rows.binary_search(row).ok()).collect();
                let round = self.rounds.learn(labels.select(rows), &wanted, &mut watched);
                round.map(|mut round| {
                    round.suggestions.iter_mut().for_each(|suggestion| suggestion.row = rows[suggestion.row]);
                    round.predictions = round.predictions.into_iter().map(|(row, class)| (rows[row], class)).collect();
                    round
                })
            }
        }
    }

    /// Learns whenever labels have changed, until all is finished.
    fn work(mut self, shared: &Shared) {
        let mut state = shared.state();
        while !shared.stop.load(Ordering::Relaxed) {
            if !state.is_learning() {
                if state.finish {
                    return;
                }
                state = shared.wait(state);
                continue;
            }
            let (labels, now) = (state.session.labels(), state.labels);
            let wanted = state.session.upcoming(UPCOMING);
            drop(state);
            let round = self.learn(labels, &wanted, &shared.stop);
            state = shared.state();
            take(&mut state, round);
            state.learned = now;
            shared.notify();
        }
    }
}

/// Ends a fit when it is not wanted any more.
struct Stoppable<'a> {
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
}

impl Stoppable<'_> {
    fn flow(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Observer for Stoppable<'_> {
    fn member(&mut self, _: usize, _: usize) -> ControlFlow<()> {
        self.flow()
    }

    fn candidate(&mut self, _: usize, _: usize) -> ControlFlow<()> {
        self.flow()
    }

    fn warn(&mut self, warning: &udeed::observer::Warning) {
        self.observer.warn(warning);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io;

    use udeed::data::{Labels, Table};
    use udeed::method::{Auto, Bagging};

    use super::*;

    struct Numbers(Vec<String>);

    impl Rows for Numbers {
        fn columns(&self) -> &[String] {
            &self.0
        }
        fn read(&self, wanted: &[usize]) -> io::Result<BTreeMap<usize, Vec<String>>> {
            Ok(wanted.iter().map(|&row| (row, vec![row.to_string()])).collect())
        }
        fn find(&self, _: &dyn Fn(&str) -> bool, _: usize) -> io::Result<Vec<usize>> {
            Ok(Vec::new())
        }
    }

    fn desk(folder: &Path) -> Desk {
        let table = Table::from_rows(&(0..30).map(|i| [f64::from(i)]).collect::<Vec<_>>()).unwrap();
        let train = TrainSet::new(table, Labels::unlabeled(30)).unwrap();
        let project = Project::new("sizes", train, Box::new(Numbers(vec!["size".into()])), Auto::new());
        Desk::open(project, &folder.join("sizes.labels.csv"), Damaged::Refused).unwrap()
    }

    #[test]
    fn what_is_not_kept_has_no_effect() {
        let folder = tempfile::tempdir().unwrap();
        let desk = desk(folder.path());
        desk.reply(Reply::Class("small".into())).unwrap();
        let question = desk.question();
        desk.shared.state().answers.release();
        desk.reply(Reply::Class("large".into())).unwrap_err();
        assert_eq!((desk.progress().answered, desk.question()), (1, question));
    }

    /// Panics on a warning while the flag is set.
    struct Fragile(Arc<AtomicBool>);

    impl Observer for Fragile {
        fn warn(&mut self, _: &udeed::observer::Warning) {
            assert!(!self.0.load(Ordering::Relaxed), "as a fault in a fit would");
        }
    }

    #[test]
    fn a_fit_that_panics_is_told_and_the_next_one_learns() {
        let folder = tempfile::tempdir().unwrap();
        // A column that tells nothing is warned of in each fit.
        let table = Table::from_rows(&(0..30).map(|i| [f64::from(i), 1.0]).collect::<Vec<_>>()).unwrap();
        let labels = Labels::new((0..30).map(|i| [Some("small"), None, Some("large")][i / 10].filter(|_| i % 10 < 3)));
        let (train, rows) = (TrainSet::new(table, labels).unwrap(), Box::new(Numbers(vec!["size".into()])));
        let broken = Arc::new(AtomicBool::new(false));
        let observer = Box::new(Fragile(Arc::clone(&broken)));
        let project = Project { observer, ..Project::new("sizes", train, rows, Bagging::new()) };
        let mut desk = Desk::open(project, &folder.path().join("sizes.labels.csv"), Damaged::Refused).unwrap();
        let answer = |desk: &Desk, is_broken: bool| {
            broken.store(is_broken, Ordering::Relaxed);
            desk.reply(Reply::Class("small".into())).unwrap();
        };
        let learned = |desk: &Desk| {
            let mut state = desk.shared.state();
            while state.is_learning() {
                state = desk.shared.wait(state);
            }
            (state.round.as_ref().map(|round| round.n_labeled), state.problem.is_some())
        };
        assert_eq!(learned(&desk), (Some(6), false));
        answer(&desk, true);
        assert_eq!(learned(&desk), (Some(6), true));
        answer(&desk, false);
        assert_eq!(learned(&desk), (Some(8), false));
        answer(&desk, true);
        let finished = desk.finish().unwrap();
        assert_eq!((finished.model.unwrap().training().n_labeled, finished.labels.n_labeled()), (8, 9));
        assert!(finished.problem.unwrap().contains("panic"));
    }

    #[test]
    fn a_window_that_is_silent_for_long_labels_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let desk = desk(folder.path());
        let mut state = desk.shared.state();
        assert!(state.is_labeling("first") && state.is_labeling("first") && !state.is_labeling("second"));
        // Windows that are hidden are heard of once a minute.
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        state.window = Some(("first".into(), ago(70)));
        assert!(!state.is_labeling("second"));
        state.window = Some(("first".into(), ago(160)));
        assert!(state.is_labeling("second") && !state.is_labeling("first"));
    }
}
