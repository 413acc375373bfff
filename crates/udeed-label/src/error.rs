//! Errors of labeling, and hints at what to try after them.

use std::fmt;

/// The result of a function of this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of this crate.
///
/// ```
/// let error = udeed_label::Error::InUse { path: "rows.labels.csv".into(), holder: Some(7) };
/// assert_eq!(error.to_string(), "rows.labels.csv: the answers are in use by process 7");
/// assert_eq!(error.hint(), Some(udeed_label::Hint::InUse));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Answers that another process writes to.
    #[error("{path}: the answers are in use by {}", process(.holder))]
    InUse {
        /// The file of answers.
        path: String,
        /// The other process, where it can be told.
        holder: Option<u32>,
    },

    /// A file that holds something else than answers.
    #[error("{path}, line 1: {found}, expected the header of a file of answers")]
    NotAnswers {
        /// The file.
        path: String,
        /// What it begins with.
        found: String,
    },

    /// A damaged line of answers.
    #[error("{path}, line {line}: {found}, expected a line as it was written")]
    Damaged {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// What is wrong with it.
        found: String,
    },

    /// An answer to a row that is another by now.
    #[error("{path}, line {line}: an answer to row {row} of other content, expected that of {rows}")]
    OtherRow {
        /// The file of answers.
        path: String,
        /// The line.
        line: u64,
        /// The row, counted from 1.
        row: usize,
        /// The rows.
        rows: String,
    },

    /// Nothing to ask for.
    #[error("{rows}: found no row without a label{part}, expected some to label")]
    NothingToLabel {
        /// The rows.
        rows: String,
        /// The part of them, if it is not all.
        part: String,
    },

    /// A port that cannot be had.
    #[error("127.0.0.1:{port}: cannot listen: {cause}")]
    Port {
        /// The port.
        port: u16,
        /// The error of the system.
        cause: std::io::Error,
    },

    /// An error of the library.
    #[error(transparent)]
    Udeed(#[from] udeed::Error),
}

/// What to try after an [`Error`], as data: the command has words of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The answers are those of a page that is still open.
    InUse,
    /// Damaged lines of the answers can be left out.
    Damaged,
    /// The rows have changed since they were labeled.
    Changed,
    /// Another file of answers can be named.
    NotAnswers,
    /// Another port can be named.
    Port,
}

impl Hint {
    /// Every hint, for tests that each has words.
    #[doc(hidden)]
    pub const ALL: [Hint; 5] = [Hint::InUse, Hint::Damaged, Hint::Changed, Hint::NotAnswers, Hint::Port];
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hint::InUse => "answer on the page that is open, or label another part of the rows",
            Hint::Damaged => "damaged lines can be left out; their rows are asked for again",
            Hint::Changed => "go on with the rows as they were, or begin another file of answers",
            Hint::NotAnswers => "name another file for the answers",
            Hint::Port => "choose another port, or leave the choice to the system",
        })
    }
}

impl Error {
    pub(crate) fn io(path: impl Into<String>, action: &'static str, cause: std::io::Error) -> Self {
        // An error of the library says where it is by itself.
        match cause.downcast::<udeed::Error>() {
            Ok(error) => error.into(),
            Err(cause) => udeed::Error::Io { path: path.into(), action, cause, hint: None }.into(),
        }
    }

    /// The error of the library, if it is one.
    pub fn of_library(&self) -> Option<&udeed::Error> {
        match self {
            Error::Udeed(error) => Some(error),
            _ => None,
        }
    }

    /// What to try, if anything helps.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            Error::InUse { .. } => Hint::InUse,
            Error::Damaged { .. } => Hint::Damaged,
            Error::OtherRow { .. } => Hint::Changed,
            Error::NotAnswers { .. } => Hint::NotAnswers,
            Error::Port { .. } => Hint::Port,
            _ => return None,
        })
    }
}

fn process(id: &Option<u32>) -> String {
    id.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}
