//! A session of labeling: which question comes next, what was answered, and how accurate the models are.

use std::collections::HashMap;

use crate::data::{Labels, means_missing, same_number};
use crate::ensemble::wilson;
use crate::error::{Error, Result};
use crate::format::is_missing;
use crate::random::{Purpose, Stream};
use crate::text::quoted;

/// One question in this many is a random row.
const EVERY: usize = 5;
/// Longest name of a class, in characters.
const LONGEST_CLASS: usize = 100;

/// Where a question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The row was suggested: its label tells much about the others.
    Chosen,
    /// The row was drawn at random: the accuracy is estimated on such rows only.
    Random,
    /// The row was found by a search.
    Searched,
}

impl Origin {
    const ALL: [(Origin, &'static str); 3] =
        [(Origin::Chosen, "chosen"), (Origin::Random, "random"), (Origin::Searched, "searched")];

    /// Its name, such as `chosen`.
    pub fn name(self) -> &'static str {
        Origin::ALL[self as usize].1
    }

    /// The origin of that name.
    pub fn named(name: &str) -> Option<Self> {
        Origin::ALL.into_iter().find(|(_, known)| *known == name).map(|(origin, _)| origin)
    }
}

/// A reply to the question for the class of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Its class.
    Class(String),
    /// Not sure: the row is not asked again.
    NotSure,
    /// Skipped: the row is asked again when nothing else is left.
    Skip,
}

/// A row to label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The row, counted from 0.
    pub row: usize,
    /// Where the question comes from.
    pub origin: Origin,
}

/// A reply, and what the model of that moment expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The row, counted from 0.
    pub row: usize,
    /// The reply.
    pub reply: Reply,
    /// Where the question came from.
    pub origin: Origin,
    /// The class that a model predicted which had not seen the label; none where there was no model yet.
    pub predicted: Option<String>,
}

/// A change of a session. Applying all entries in order gives the session again: whoever keeps them can continue later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A row was answered.
    Answer(Answer),
    /// The last answer to a row was taken back: the one before it counts again, if there was one.
    Undo {
        /// The row, counted from 0.
        row: usize,
    },
}

/// The accuracy on random rows, each judged by the model that had not seen its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Number of rows whose prediction was right.
    pub right: usize,
    /// Number of rows.
    pub of: usize,
}

impl Estimate {
    /// The share of right predictions.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.of.max(1) as f64
    }

    /// Wilson's 95 % confidence interval.
    ///
    /// ```
    /// let [low, high] = udeed::labeling::Estimate { right: 15, of: 148 }.interval();
    /// // As published by Newcombe, 1998.
    /// assert_eq!((format!("{low:.4}"), format!("{high:.4}")), ("0.0624".into(), "0.1605".into()));
    /// ```
    pub fn interval(&self) -> [f64; 2] {
        wilson(self.share(), self.of)
    }
}

/// The estimate after some labels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// Number of labels, those of the file among them.
    pub labels: usize,
    /// The estimate.
    pub estimate: Estimate,
}

/// How far labeling is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Number of rows with a label, those of the file among them.
    pub labeled: usize,
    /// Number of rows that were given a label here.
    pub answered: usize,
    /// Number of rows of whose class the person was not sure.
    pub not_sure: usize,
    /// Number of rows that were skipped.
    pub skipped: usize,
    /// Number of rows that are still to be asked for.
    pub open: usize,
    /// The classes: how many rows have each, and how many of these are random ones, whose shares are those of all rows.
    pub classes: Vec<(String, usize, usize)>,
    /// Number of random rows without a label or without a prediction, which the estimate leaves out.
    pub unjudged: usize,
    /// The estimate after each random row, in the order of the answers; the last is that of now.
    pub curve: Vec<Point>,
}

impl Progress {
    /// The estimate of now.
    pub fn estimate(&self) -> Option<Estimate> {
        self.curve.last().map(|point| point.estimate)
    }
}

/// Asks for the labels of rows, one at a time: those that were suggested, and every fifth time a random one.
///
/// Labels that were chosen are no random sample, so that the accuracy is estimated on the random rows alone. They are the
/// first rows of a random order; a row of it that was chosen or searched before its turn is one of them, too, once its turn has
/// come, as the model of that moment had not seen it either. They are a random sample of all rows that had no label.
///
/// ```
/// use udeed::data::Labels;
/// use udeed::labeling::{Entry, Origin, Reply, Session};
///
/// let mut session = Session::new(Labels::new([Some("no"), None, None, None]), None);
/// session.suggest([2, 3, 1]);
/// assert_eq!(session.question().map(|question| (question.row, question.origin)), Some((2, Origin::Chosen)));
///
/// // Entries are kept, and then take effect.
/// let kept: Vec<Entry> = session.reply(Reply::Class("yes".into()))?;
/// kept.iter().for_each(|entry| session.apply(entry));
/// assert_eq!(session.labels().name(2), Some("yes"));
/// assert_eq!(session.question().unwrap().row, 3);
///
/// let undo = session.undo().unwrap();
/// session.apply(&undo);
/// assert_eq!((session.labels().name(2), session.question().unwrap().row), (None, 2));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    /// The labels of the file.
    given: Labels,
    /// The rows to ask for, in random order.
    order: Vec<usize>,
    /// The answers to each row, of which the last one counts.
    answers: HashMap<usize, Vec<Answer>>,
    /// All of them in the order in which they were given: the row, and which of its answers.
    history: Vec<(usize, usize)>,
    /// The classes that were added, as they came up, and how many answers name each.
    added: Vec<(String, usize)>,
    /// What a model predicted of a row before it saw its label: also of rows whose answer was taken back.
    judged: HashMap<usize, String>,
    suggested: Vec<usize>,
    /// What the newest model predicts of rows whose labels it has not seen.
    predictions: HashMap<usize, String>,
    question: Option<Question>,
    /// The label that marks unlabeled rows in their file.
    unlabeled_mark: Option<String>,
    /// Classes whose names are words for a missing label.
    meant: Vec<String>,
}

impl Session {
    /// A session about the rows without a label: all, or those of them that are `asked`.
    pub fn new(given: Labels, asked: Option<&[usize]>) -> Self {
        let all: Vec<usize> = (0..given.len()).collect();
        let mut order: Vec<usize> =
            asked.unwrap_or(&all).iter().copied().filter(|&row| given.get(row).is_none()).collect();
        // Always the same order: a session goes on where it was.
        Stream::new(0, Purpose::Questions, 0).shuffle(&mut order);
        Session {
            given,
            order,
            answers: HashMap::new(),
            history: Vec::new(),
            added: Vec::new(),
            judged: HashMap::new(),
            suggested: Vec::new(),
            predictions: HashMap::new(),
            question: None,
            unlabeled_mark: None,
            meant: Vec::new(),
        }
    }

    /// A label that marks unlabeled rows where they were read: no class can have this name. Default: none.
    pub fn unlabeled_mark(mut self, mark: Option<&str>) -> Self {
        self.unlabeled_mark = mark.map(str::to_owned);
        self
    }

    /// Classes that are meant although their names are words for a missing label, such as `none`. Default: none.
    pub fn meant(mut self, classes: Vec<String>) -> Self {
        self.meant = classes;
        self
    }

    /// Number of rows, labeled or not.
    pub fn n_rows(&self) -> usize {
        self.given.len()
    }

    /// Takes suggestions, the most useful first, in place of the former ones.
    pub fn suggest(&mut self, rows: impl IntoIterator<Item = usize>) {
        self.suggested = rows.into_iter().collect();
    }

    /// Takes what a model predicts of rows whose labels it has not seen, in place of the former predictions.
    pub fn predict(&mut self, predictions: HashMap<usize, String>) {
        self.predictions = predictions;
    }

    /// The question to answer; none if all rows are answered. It stays the same until it is answered, whatever is suggested
    /// meanwhile.
    pub fn question(&mut self) -> Option<Question> {
        if self.question.is_none() {
            self.question = self.next();
        }
        self.question
    }

    fn next(&self) -> Option<Question> {
        let is_open = |row: &&usize| !self.answers.contains_key(*row);
        let random = || self.order.iter().find(is_open).map(|&row| Question { row, origin: Origin::Random });
        // Questions since the last random one, each counted when it was first answered.
        let first =
            self.history.iter().rev().filter(|(_, place)| *place == 0).map(|(row, _)| self.answers[row][0].origin);
        let asked = first.filter(|origin| *origin != Origin::Searched).take_while(|origin| *origin != Origin::Random);
        if asked.count() >= EVERY - 1 {
            return random().or_else(|| self.skipped());
        }
        let chosen = self.suggested.iter().find(is_open).map(|&row| Question { row, origin: Origin::Chosen });
        // Where answers come faster than suggestions, the next random row is as good as any.
        chosen.or_else(random).or_else(|| self.skipped())
    }

    /// The row that was skipped first.
    fn skipped(&self) -> Option<Question> {
        let answer = self.answers().find(|answer| answer.reply == Reply::Skip)?;
        Some(Question { row: answer.row, origin: answer.origin })
    }

    /// Asks for a row that was found by a search, also for one that has a label.
    ///
    /// # Errors
    /// If there is no such row.
    pub fn ask_for(&mut self, row: usize) -> Result<Question> {
        if row >= self.given.len() {
            // The number of the last row that can be asked for has one bit more.
            return Err(Error::setting("row", row as u128 + 1, format!("one of 1 to {}", self.given.len())));
        }
        // A row that was answered before keeps its origin: it may be one of the random ones.
        let origin = self.answer(row).map_or(Origin::Searched, |answer| answer.origin);
        let question = Question { row, origin };
        self.question = Some(question);
        Ok(question)
    }

    /// What a reply to the question changes: it takes effect by [`Session::apply`]. To skip a row that was answered, or has a
    /// label, changes nothing: it was looked at.
    ///
    /// # Errors
    /// If there is no question, or the name of the class cannot be one.
    pub fn reply(&mut self, reply: Reply) -> Result<Vec<Entry>> {
        let Some(Question { row, origin }) = self.question() else {
            return Err(Error::training("no row without an answer", "one to answer"));
        };
        let reply = match reply {
            Reply::Class(name) => Reply::Class(self.class(&name)?),
            Reply::Skip if self.is_settled(row) => {
                self.question = None;
                return Ok(Vec::new());
            }
            other => other,
        };
        let predicted = self.judged.get(&row).or_else(|| self.predictions.get(&row)).cloned();
        let mut entries = match origin {
            Origin::Random => self.drawn_before(row),
            _ => Vec::new(),
        };
        entries.push(Entry::Answer(Answer { row, reply, origin, predicted }));
        Ok(entries)
    }

    /// Whether a row has a label, or is known to get none.
    fn is_settled(&self, row: usize) -> bool {
        match self.answer(row) {
            Some(answer) if answer.reply != Reply::Skip => true,
            _ => self.given.get(row).is_some(),
        }
    }

    /// The rows that were chosen or searched although they come earlier in the random order: from now on they belong to the
    /// sample. Without them it would lack those that somebody looked for.
    fn drawn_before(&self, row: usize) -> Vec<Entry> {
        let earlier = self.order.iter().take_while(|other| **other != row);
        let drawn = earlier.filter_map(|other| self.answer(*other)).filter(|answer| answer.origin != Origin::Random);
        drawn.map(|answer| Entry::Answer(Answer { origin: Origin::Random, ..answer.clone() })).collect()
    }

    /// What takes the last answer back; none if there is no answer.
    pub fn undo(&self) -> Option<Entry> {
        self.history.last().map(|&(row, _)| Entry::Undo { row })
    }

    /// Lets an entry take effect, a new one or one of a session before.
    pub fn apply(&mut self, entry: &Entry) {
        match entry {
            Entry::Answer(answer) => {
                if let Some(predicted) = &answer.predicted {
                    self.judged.entry(answer.row).or_insert_with(|| predicted.clone());
                }
                let all = self.answers.entry(answer.row).or_default();
                match all.last() {
                    // It came into the sample, and keeps its place.
                    Some(last) if last.reply == answer.reply && last.origin != answer.origin => {
                        all.iter_mut().for_each(|own| own.origin = answer.origin);
                    }
                    _ => {
                        self.history.push((answer.row, all.len()));
                        all.push(answer.clone());
                        self.count_class(&answer.reply);
                    }
                }
                self.question = None;
            }
            Entry::Undo { row } => {
                let taken = self.answers.get_mut(row).and_then(Vec::pop);
                let left = self.answers.get(row).map_or(0, Vec::len);
                if let Some(at) = self.history.iter().rposition(|at| *at == (*row, left)) {
                    self.history.remove(at);
                }
                if left == 0 {
                    self.answers.remove(row);
                }
                if let Some(answer) = &taken {
                    self.uncount_class(&answer.reply);
                }
                let origin = taken.map_or(Origin::Searched, |answer| answer.origin);
                self.question = Some(Question { row: *row, origin });
            }
        }
    }

    fn count_class(&mut self, reply: &Reply) {
        let Reply::Class(name) = reply else { return };
        match self.added.iter_mut().find(|(own, _)| own == name) {
            Some((_, count)) => *count += 1,
            None if self.given.classes().contains(name) => {}
            None => self.added.push((name.clone(), 1)),
        }
    }

    /// A class that was taken back is none any more where no other came up since: the others keep their places.
    fn uncount_class(&mut self, reply: &Reply) {
        let Reply::Class(name) = reply else { return };
        if let Some((_, count)) = self.added.iter_mut().find(|(own, _)| own == name) {
            *count -= 1;
        }
        while self.added.pop_if(|(_, count)| *count == 0).is_some() {}
    }

    /// The answer to a row.
    pub fn answer(&self, row: usize) -> Option<&Answer> {
        self.answers.get(&row)?.last()
    }

    /// The answers that count, one of each row, the last one last.
    pub fn answers(&self) -> impl DoubleEndedIterator<Item = &Answer> {
        self.history.iter().filter_map(|(row, place)| {
            let all = &self.answers[row];
            all.last().filter(|_| place + 1 == all.len())
        })
    }

    /// The label of a row, of the file or of an answer.
    pub fn label(&self, row: usize) -> Option<&str> {
        match self.answer(row).map(|answer| &answer.reply) {
            Some(Reply::Class(name)) => Some(name),
            Some(Reply::NotSure) => None,
            Some(Reply::Skip) | None => self.given.name(row),
        }
    }

    /// The labels of all rows, with the answers.
    pub fn labels(&self) -> Labels {
        Labels::new((0..self.given.len()).map(|row| self.label(row)))
    }

    /// The classes: those of the file, and after them those that were added, in the order in which they came up. None loses its
    /// place, also where no row has it any more.
    pub fn classes(&self) -> Vec<String> {
        self.given.classes().iter().chain(self.added.iter().map(|(name, _)| name)).cloned().collect()
    }

    /// The class of that name, in its existing spelling: `1.0` is the class `1`.
    fn class(&self, name: &str) -> Result<String> {
        let name = name.trim();
        let wrong = |found: String, expected: &str| Err(Error::setting("class", found, expected));
        if let Some(mark) = &self.unlabeled_mark
            && (mark == name || same_number(mark, name))
        {
            return wrong(quoted(name), "another name: this one marks rows without a label");
        }
        let known = self.classes();
        if known.iter().any(|class| class == name) {
            return Ok(name.to_owned());
        }
        let is_meant = self.meant.iter().any(|class| class == name) && !is_missing(name);
        if means_missing(name) && !is_meant {
            return wrong(quoted(name), "a name that does not mean a missing label");
        }
        if name.chars().count() > LONGEST_CLASS || name.contains(char::is_control) {
            return wrong(quoted(name), "at most 100 characters, none of them a control character");
        }
        if known.len() == crate::data::TrainSet::MOST_CLASSES {
            return wrong(quoted(name), "one of the 255 classes that there are");
        }
        let same = known.iter().find(|class| Labels::new([Some(class.as_str()), Some(name)]).classes().len() == 1);
        Ok(same.cloned().unwrap_or_else(|| name.to_owned()))
    }

    /// The next rows of the random order, for which predictions will be wanted.
    pub fn upcoming(&self, most: usize) -> Vec<usize> {
        self.order.iter().copied().filter(|row| !self.answers.contains_key(row)).take(most).collect()
    }

    /// How far labeling is.
    pub fn progress(&self) -> Progress {
        let is = |answer: &&Answer, reply: &Reply| answer.reply == *reply;
        let classes = self.classes();
        let place: HashMap<&str, usize> = classes.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let mut counts = vec![(0, 0); classes.len()];
        for (class, count) in self.given.counts().into_iter().enumerate() {
            counts[class].0 += count;
        }
        let mut labeled = self.given.n_labeled();
        let (mut curve, mut unjudged, mut estimate) = (Vec::new(), 0, Estimate { right: 0, of: 0 });
        for answer in self.answers() {
            if answer.reply != Reply::Skip
                && let Some(given) = self.given.get(answer.row)
            {
                counts[given].0 -= 1;
                labeled -= 1;
            }
            let is_random = answer.origin == Origin::Random;
            match (&answer.reply, &answer.predicted) {
                (Reply::Class(name), predicted) => {
                    let count = &mut counts[place[name.as_str()]];
                    *count = (count.0 + 1, count.1 + usize::from(is_random));
                    labeled += 1;
                    match predicted {
                        Some(predicted) if is_random => {
                            estimate.of += 1;
                            estimate.right += usize::from(predicted == name);
                            curve.push(Point { labels: labeled, estimate });
                        }
                        _ => unjudged += usize::from(is_random),
                    }
                }
                _ => unjudged += usize::from(is_random),
            }
        }
        Progress {
            labeled,
            answered: self.answers().filter(|answer| matches!(answer.reply, Reply::Class(_))).count(),
            not_sure: self.answers().filter(|answer| is(answer, &Reply::NotSure)).count(),
            skipped: self.answers().filter(|answer| is(answer, &Reply::Skip)).count(),
            open: self.order.iter().filter(|row| !self.answers.contains_key(row)).count(),
            classes: classes.into_iter().zip(counts).map(|(name, (all, random))| (name, all, random)).collect(),
            unjudged,
            curve,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn session(n_rows: usize) -> Session {
        let mut session = Session::new(Labels::unlabeled(n_rows), None);
        session.suggest(0..n_rows);
        session
    }

    fn answer(session: &mut Session, reply: Reply) -> Question {
        let question = session.question().unwrap();
        for entry in session.reply(reply).unwrap() {
            session.apply(&entry);
        }
        question
    }

    fn class(name: &str) -> Reply {
        Reply::Class(name.to_owned())
    }

    #[test]
    fn every_fifth_question_is_random_and_no_row_is_asked_twice() {
        let mut session = session(23);
        let mut asked = Vec::new();
        while session.question().is_some() {
            asked.push(answer(&mut session, class("a")));
        }
        let random: Vec<usize> = (0..asked.len()).filter(|&i| asked[i].origin == Origin::Random).collect();
        assert_eq!(random, [4, 9, 14, 19]);
        let rows: HashSet<usize> = asked.iter().map(|question| question.row).collect();
        assert_eq!((asked.len(), rows.len()), (23, 23));
        assert_eq!(session.progress().open, 0);
    }

    /// What is estimated does not depend on what was chosen: the sample is the beginning of one random order.
    #[test]
    fn chosen_rows_whose_turn_would_have_come_are_in_the_sample() {
        let mut session = session(40);
        let order = session.order.clone();
        session.predict((0..40).map(|row| (row, "a".to_owned())).collect());
        // The first rows of the random order are suggested.
        session.suggest(order[..4].to_vec());
        for _ in 0..4 {
            answer(&mut session, class("b"));
        }
        assert_eq!(session.progress().estimate(), None);
        assert_eq!(answer(&mut session, class("a")).row, order[4]);
        assert_eq!(session.progress().estimate(), Some(Estimate { right: 1, of: 5 }));
        assert_eq!(session.progress().classes, [("b".into(), 4, 4), ("a".into(), 1, 1)]);
        assert_eq!(
            session.answers().map(|answer| answer.row).collect::<Vec<_>>(),
            order[..5],
            "the order of answers stays"
        );
    }

    #[test]
    fn a_session_is_what_its_entries_make_of_it() {
        let mut session = session(30);
        session.predict((0..30).map(|row| (row, ["a", "b"][row % 2].to_owned())).collect());
        let mut kept = Vec::new();
        for i in 0..25 {
            let reply = match i {
                3 => Reply::Skip,
                7 => Reply::NotSure,
                _ => class(["a", "b", "c"][i % 3]),
            };
            let entries = match i {
                11 => vec![session.undo().unwrap()],
                _ => session.reply(reply).unwrap(),
            };
            entries.iter().for_each(|entry| session.apply(entry));
            kept.extend(entries);
        }
        let mut again = Session::new(Labels::unlabeled(30), None);
        kept.iter().for_each(|entry| again.apply(entry));
        again.suggest(0..30);
        assert_eq!(again.progress(), session.progress());
        assert_eq!(again.question(), session.question());
        assert!(again.progress().estimate().unwrap().of >= 4);
    }

    /// A model that has learned from a label does not judge it, also not after it was taken back.
    #[test]
    fn a_row_is_judged_once_by_the_first_model() {
        let mut session = session(10);
        session.predict([(0, "a".to_owned())].into());
        answer(&mut session, class("b"));
        session.apply(&session.undo().unwrap());
        session.predict([(0, "b".to_owned())].into());
        answer(&mut session, class("b"));
        assert_eq!(session.answer(0).unwrap().predicted.as_deref(), Some("a"));
    }

    #[test]
    fn skipped_rows_come_last_and_unsure_ones_not_again() {
        let mut session = session(4);
        assert_eq!(answer(&mut session, Reply::Skip).row, 0);
        assert_eq!(answer(&mut session, Reply::NotSure).row, 1);
        answer(&mut session, class("a"));
        answer(&mut session, class("a"));
        assert_eq!(session.question().unwrap().row, 0);
        assert_eq!(answer(&mut session, class("b")).row, 0);
        assert_eq!(session.question(), None);
        let progress = session.progress();
        assert_eq!((progress.answered, progress.not_sure, progress.skipped), (3, 1, 0));
    }

    /// Applies entries, and applies them to a session as it was at first, too: it must be the same.
    fn again(session: &mut Session, kept: &mut Vec<Entry>, entries: Vec<Entry>) -> Session {
        entries.iter().for_each(|entry| session.apply(entry));
        kept.extend(entries);
        let mut again = Session::new(session.given.clone(), None);
        kept.iter().for_each(|entry| again.apply(entry));
        assert_eq!((again.progress(), again.classes()), (session.progress(), session.classes()));
        again
    }

    fn reply(session: &mut Session, kept: &mut Vec<Entry>, row: usize, reply: Reply) {
        session.ask_for(row).unwrap();
        let entries = session.reply(reply).unwrap();
        again(session, kept, entries);
    }

    #[test]
    fn a_row_that_was_looked_at_keeps_its_label() {
        let mut session = Session::new(Labels::new([Some("a"), None, None, None, None]), None);
        let mut kept = Vec::new();
        reply(&mut session, &mut kept, 1, class("b"));
        reply(&mut session, &mut kept, 2, Reply::NotSure);
        reply(&mut session, &mut kept, 3, Reply::Skip);
        let before = session.progress();
        for row in [0, 1, 2] {
            reply(&mut session, &mut kept, row, Reply::Skip);
            assert_ne!(session.question().unwrap().row, row, "it goes on");
        }
        assert_eq!((session.label(0), session.label(1), session.progress()), (Some("a"), Some("b"), before));
        assert_eq!(session.undo(), Some(Entry::Undo { row: 3 }));
        session.suggest([4]);
        session.ask_for(4).unwrap();
        answer(&mut session, class("a"));
        assert_eq!(session.question().unwrap().row, 3, "what was skipped is asked again, what was looked at is not");
    }

    #[test]
    fn undo_gives_back_what_was_before() {
        let mut session = Session::new(Labels::unlabeled(6), None);
        let mut kept = Vec::new();
        for (row, name) in [(1, "a"), (2, "a"), (1, "b"), (1, "c")] {
            reply(&mut session, &mut kept, row, class(name));
        }
        let counted = |session: &Session| session.answers().map(|answer| answer.row).collect::<Vec<_>>();
        assert_eq!((session.label(1), counted(&session)), (Some("c"), vec![2, 1]));
        for (label, rows) in [(Some("b"), vec![2, 1]), (Some("a"), vec![1, 2])] {
            let undo = vec![session.undo().unwrap()];
            let resumed = again(&mut session, &mut kept, undo);
            assert_eq!((session.label(1), counted(&session)), (label, rows));
            assert_eq!(session.question().unwrap().row, 1);
            assert_eq!((resumed.label(1), resumed.undo()), (label, session.undo()));
        }
        // Then the answer to the other row, and then the first.
        for (row, labels) in [(2, [Some("a"), None]), (1, [None, None])] {
            let undo = session.undo().unwrap();
            assert_eq!(undo, Entry::Undo { row });
            again(&mut session, &mut kept, vec![undo]);
            assert_eq!([1, 2].map(|row| session.label(row)), labels);
        }
        assert_eq!((session.undo(), session.progress().open), (None, 6));
    }

    #[test]
    fn classes_keep_their_places() {
        let mut session = Session::new(Labels::new([Some("z"), None, None, None, None, None]), None);
        let mut kept = Vec::new();
        for (row, name) in [(1, "b"), (2, "a"), (3, "c")] {
            reply(&mut session, &mut kept, row, class(name));
        }
        // Corrected, the only `b` is gone, and others come later.
        reply(&mut session, &mut kept, 1, class("a"));
        reply(&mut session, &mut kept, 4, class("b"));
        assert_eq!(session.classes(), ["z", "b", "a", "c"]);
        for left in [&["z", "b", "a", "c"][..], &["z", "b", "a", "c"], &["z", "b", "a"], &["z", "b"], &["z"]] {
            let undo = vec![session.undo().unwrap()];
            again(&mut session, &mut kept, undo);
            assert_eq!(session.classes(), left, "only a new class that was taken back at once is gone");
        }
    }

    /// The rows that somebody looks for are easier or harder than others: a sample without them is none.
    #[test]
    fn searched_rows_are_in_the_sample_when_their_turn_has_come() {
        let mut session = session(40);
        let order = session.order.clone();
        session.suggest(order[20..30].to_vec());
        session.predict((0..40).map(|row| (row, "a".to_owned())).collect());
        for row in [order[0], order[2], order[35]] {
            session.ask_for(row).unwrap();
            answer(&mut session, class("b"));
        }
        for _ in 0..4 {
            assert_eq!(answer(&mut session, class("a")).origin, Origin::Chosen);
        }
        assert_eq!(session.progress().estimate(), None);
        assert_eq!(answer(&mut session, class("a")).row, order[1]);
        assert_eq!(session.progress().estimate(), Some(Estimate { right: 1, of: 2 }));
        for _ in 0..4 {
            assert_eq!(answer(&mut session, class("a")).origin, Origin::Chosen, "every fifth question all the same");
        }
        assert_eq!(answer(&mut session, class("a")).row, order[3]);
        assert_eq!(session.progress().estimate(), Some(Estimate { right: 2, of: 4 }));
    }

    #[test]
    fn labels_of_the_file_can_be_corrected() {
        let mut session = Session::new(Labels::new([Some("a"), Some("b"), None]), None);
        assert_eq!(session.ask_for(0).unwrap().origin, Origin::Searched);
        answer(&mut session, class("b"));
        let counts = |session: &Session| session.progress().classes.iter().map(|class| class.1).collect::<Vec<_>>();
        assert_eq!((session.label(0), counts(&session)), (Some("b"), vec![0, 2]));
        session.apply(&session.undo().unwrap());
        assert_eq!((session.label(0), counts(&session)), (Some("a"), vec![1, 1]));
        for (row, number) in [(3, "4"), (usize::MAX, "18446744073709551616")] {
            let error = session.ask_for(row).unwrap_err().to_string();
            assert_eq!(error, format!("`row` is {number}, expected one of 1 to 3"));
        }
    }

    #[test]
    fn rows_that_were_searched_are_no_questions_and_labeled_ones_are_not_asked_for() {
        let mut session = session(40);
        for row in 30..34 {
            session.ask_for(row).unwrap();
            answer(&mut session, class("a"));
        }
        assert_eq!(session.question().unwrap().origin, Origin::Chosen, "four answers, none to a question");
        let given = Labels::new((0..10).map(|row| (row % 2 == 0).then_some("a")));
        let mut session = Session::new(given, Some(&[0, 1, 2, 3, 4]));
        let mut asked: Vec<usize> = (0..2).map(|_| answer(&mut session, class("b")).row).collect();
        asked.sort_unstable();
        assert_eq!((asked, session.question()), (vec![1, 3], None));
    }

    #[test]
    fn names_of_classes_are_checked() {
        let mut session = Session::new(Labels::new([Some("1"), Some("2"), None]), None);
        let mut class_of = |name: &str| match session.reply(class(name)).map(|entries| entries[0].clone()) {
            Ok(Entry::Answer(Answer { reply: Reply::Class(name), .. })) => Ok(name),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(class_of(" 1.0 ").unwrap(), "1");
        assert_eq!(class_of("three").unwrap(), "three");
        for bad in ["", "  ", "?", "NA", "a\nb", &"x".repeat(101)] {
            assert!(class_of(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_marks_unlabeled_rows_is_no_class_and_words_that_are_meant_are() {
        let mut session = Session::new(Labels::unlabeled(3), None);
        session.reply(class("none")).unwrap_err();
        session = session.meant(vec!["none".into(), "NA".into()]).unlabeled_mark(Some("-1"));
        session.reply(class("none")).unwrap();
        // No reader takes this one for a class.
        session.reply(class("NA")).unwrap_err();
        for name in ["-1", " -1.0"] {
            let error = session.reply(class(name)).unwrap_err().to_string();
            let name = name.trim();
            assert_eq!(
                error,
                format!("`class` is `{name}`, expected another name: this one marks rows without a label")
            );
        }
    }

    #[test]
    fn questions_stay_while_they_are_read() {
        let mut session = session(9);
        let before = session.question();
        session.suggest([8, 7]);
        assert_eq!(session.question(), before);
    }
}
