//! Merging the answers of several people.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use udeed::data::Labels;
use udeed::labeling::{Answer, Entry, Reply, Session};

use crate::answers::{Answers, Damaged, Line, Reading};
use crate::cells::Rows;
use crate::desk::check_rows;
use crate::error::Result;

/// A row that two people gave different labels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The row, counted from 0.
    pub row: usize,
    /// The labels and the files in which they are.
    pub labels: Vec<(String, PathBuf)>,
}

/// Merged answers.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The label of each answered row, by its number from 0; none where nobody was sure.
    pub answered: BTreeMap<usize, Option<String>>,
    /// The rows with different labels. They are not among the others.
    pub conflicts: Vec<Conflict>,
    /// Number of answers that were added to the file.
    pub added: usize,
}

/// What a file says.
struct Said {
    session: Session,
    fingerprints: HashMap<usize, u32>,
}

impl Said {
    fn of(reading: &Reading, n_rows: usize) -> Self {
        let mut session = Session::new(Labels::unlabeled(n_rows), Some(&[]));
        reading.lines.iter().for_each(|(_, line)| session.apply(&line.entry));
        let fingerprints = reading.lines.iter().map(|(_, line)| (line.row(), line.fingerprint)).collect();
        Said { session, fingerprints }
    }

    fn line(&self, entry: Entry, row: usize) -> Line {
        Line { entry, fingerprint: self.fingerprints.get(&row).copied().unwrap_or_default() }
    }

    /// What takes all answers to a row back.
    fn taken_back(&mut self, row: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        while self.session.answer(row).is_some() {
            let undo = Entry::Undo { row };
            self.session.apply(&undo);
            lines.push(self.line(undo, row));
        }
        lines
    }
}

/// The number of a file, and a place in it.
type Place = (usize, usize);

/// An answer, and where it stands.
type Given<'a> = (Place, &'a Answer);

/// Merges answers to the same rows into a file of answers, which may have some already. With conflicts nothing is written,
/// unless these rows are to stay without a label.
///
/// # Errors
/// If a file cannot be used, see [`crate::Error`].
pub fn merge(
    into: &Path,
    files: &[PathBuf],
    name: &str,
    rows: &dyn Rows,
    label_column: Option<usize>,
    n_rows: usize,
    leave_conflicts: bool,
) -> Result<Merged> {
    let (mut answers, own) = Answers::open(into, Damaged::Refused)?;
    let mut paths = vec![into.to_path_buf()];
    check_rows(&own, name, rows, label_column, n_rows, into)?;
    let mut said = vec![Said::of(&own, n_rows)];
    for path in files {
        let reading = Reading::of_file(path)?;
        check_rows(&reading, name, rows, label_column, n_rows, path)?;
        said.push(Said::of(&reading, n_rows));
        paths.push(path.clone());
    }
    let (mut merged, mut added) = of_rows(&said, &paths);
    if merged.conflicts.is_empty() || leave_conflicts {
        // In the order in which they were given.
        added.sort_by_key(|(place, _)| *place);
        let mut lines: Vec<Line> = added.into_iter().map(|(_, line)| line).collect();
        merged.added = lines.len();
        // What the file itself says of conflicts is taken back.
        lines.extend(merged.conflicts.iter().flat_map(|conflict| said[0].taken_back(conflict.row)));
        answers.append(&lines)?;
    }
    Ok(merged)
}

/// What the files say of each row together, and the lines that the first of them lacks, with their places.
fn of_rows(said: &[Said], paths: &[PathBuf]) -> (Merged, Vec<(Place, Line)>) {
    let mut by_row: BTreeMap<usize, Vec<Given<'_>>> = BTreeMap::new();
    for (file, own) in said.iter().enumerate() {
        let answers = own.session.answers().enumerate().filter(|(_, answer)| answer.reply != Reply::Skip);
        answers.for_each(|(place, answer)| by_row.entry(answer.row).or_default().push(((file, place), answer)));
    }
    let mut merged = Merged { answered: BTreeMap::new(), conflicts: Vec::new(), added: 0 };
    let mut added = Vec::new();
    for (row, answers) in by_row {
        let labels = labels_of(&answers, paths);
        if labels.len() > 1 {
            merged.conflicts.push(Conflict { row, labels });
            continue;
        }
        // A label counts more than none; of equal ones the first.
        let best = answers.iter().find(|(_, answer)| label_of(answer).is_some()).or_else(|| answers.first());
        let Some((at, answer)) = best else { continue };
        merged.answered.insert(row, label_of(answer).map(str::to_owned));
        if at.0 > 0 {
            added.push((*at, said[at.0].line(Entry::Answer((*answer).clone()), row)));
        }
    }
    (merged, added)
}

/// The different labels of a row, each with the first file that has it.
fn labels_of(answers: &[Given<'_>], paths: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let mut labels: Vec<(String, PathBuf)> = Vec::new();
    for ((file, _), answer) in answers {
        if let Some(label) = label_of(answer)
            && !labels.iter().any(|(known, _)| known == label)
        {
            labels.push((label.to_owned(), paths[*file].clone()));
        }
    }
    labels
}

fn label_of(answer: &Answer) -> Option<&str> {
    match &answer.reply {
        Reply::Class(name) => Some(name),
        _ => None,
    }
}
