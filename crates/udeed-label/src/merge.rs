//! Merging the answers of several people.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use udeed::labeling::{Entry, Reply};

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

/// What one file says of a row in the end.
type Final = BTreeMap<usize, (usize, Line)>;
/// The same with the number of the file.
type Said<'a> = (usize, &'a (usize, Line));

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
    let mut finals: Vec<Final> = vec![last_lines(&own)];
    check_rows(&own, name, rows, label_column, n_rows, into)?;
    for path in files {
        let reading = Reading::of_file(path)?;
        check_rows(&reading, name, rows, label_column, n_rows, path)?;
        finals.push(last_lines(&reading));
        paths.push(path.clone());
    }
    let (mut merged, mut added) = of_rows(&finals, &paths);
    if merged.conflicts.is_empty() || leave_conflicts {
        // In the order in which they were given.
        added.sort_by_key(|(place, _)| *place);
        let lines: Vec<Line> = added.into_iter().map(|(_, line)| line).collect();
        merged.added = lines.iter().filter(|line| matches!(line.entry, Entry::Answer(_))).count();
        answers.append(&lines)?;
    }
    Ok(merged)
}

/// A line to add, with the number of its file and its place in it.
type Added = ((usize, usize), Line);

/// What the files say of each row together, and the lines that the first of them lacks.
fn of_rows(finals: &[Final], paths: &[PathBuf]) -> (Merged, Vec<Added>) {
    let mut by_row: BTreeMap<usize, Vec<Said<'_>>> = BTreeMap::new();
    for (file, lines) in finals.iter().enumerate() {
        lines.iter().for_each(|(row, line)| by_row.entry(*row).or_default().push((file, line)));
    }
    let mut merged = Merged { answered: BTreeMap::new(), conflicts: Vec::new(), added: 0 };
    let mut added = Vec::new();
    for (row, lines) in by_row {
        let labels = labels_of(&lines, paths);
        if labels.len() > 1 {
            merged.conflicts.push(Conflict { row, labels });
            // What the file itself says is taken back.
            if let Some((_, line)) = finals[0].get(&row) {
                added.push(((usize::MAX, row), Line { entry: Entry::Undo { row }, ..line.clone() }));
            }
            continue;
        }
        // A label counts more than none; of equal ones the first.
        let best = lines.iter().find(|(_, (_, line))| label_of(line).is_some()).or_else(|| lines.first());
        let Some((file, (place, line))) = best else { continue };
        merged.answered.insert(row, label_of(line).map(str::to_owned));
        if *file > 0 {
            added.push(((*file, *place), line.clone()));
        }
    }
    (merged, added)
}

/// The different labels of a row, each with the first file that has it.
fn labels_of(lines: &[Said<'_>], paths: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let mut labels: Vec<(String, PathBuf)> = Vec::new();
    for (file, (_, line)) in lines {
        if let Some(label) = label_of(line)
            && !labels.iter().any(|(known, _)| known == label)
        {
            labels.push((label.to_owned(), paths[*file].clone()));
        }
    }
    labels
}

/// The last line of each row, with its place, unless it takes the answer back or skips.
fn last_lines(reading: &Reading) -> Final {
    let mut last = Final::new();
    for (place, (_, line)) in reading.lines.iter().enumerate() {
        match &line.entry {
            Entry::Answer(answer) if answer.reply != Reply::Skip => last.insert(line.row(), (place, line.clone())),
            _ => last.remove(&line.row()),
        };
    }
    last
}

fn label_of(line: &Line) -> Option<&str> {
    match &line.entry {
        Entry::Answer(answer) => match &answer.reply {
            Reply::Class(name) => Some(name),
            _ => None,
        },
        Entry::Undo { .. } => None,
    }
}
