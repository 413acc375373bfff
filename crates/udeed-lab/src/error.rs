//! Errors of the laboratory.

use std::collections::HashSet;

/// The result of a function of this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of this crate.
///
/// ```
/// let error = udeed_lab::Entry::named("boost").unwrap_err();
/// assert!(error.is_usage());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unknown name.
    #[error("unknown {what} `{found}`, expected one of {known}")]
    Unknown {
        /// The kind of thing it should name.
        what: &'static str,
        /// The name.
        found: String,
        /// The known names.
        known: String,
    },

    /// A comparison of nothing.
    #[error("no {what} to compare, expected at least one")]
    Nothing {
        /// The kind of thing that is missing.
        what: &'static str,
    },

    /// Ranks of a single thing.
    #[error("1 {what} to rank, expected at least two")]
    Single {
        /// The kind of thing.
        what: &'static str,
    },

    /// A name that occurs twice.
    #[error("the {what} `{name}` twice, expected each once")]
    Twice {
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },

    /// Scores that cannot be compared with the others.
    #[error("`{name}` has {found} scores, expected {expected} finite numbers, as many as every other")]
    Scores {
        /// The name of the classifier.
        name: String,
        /// The number of its scores.
        found: usize,
        /// The number of scores of the others.
        expected: usize,
    },

    /// A data set that cannot be used.
    #[error("{name}: {cause}")]
    Set {
        /// The set.
        name: String,
        /// The cause.
        cause: Box<udeed::Error>,
    },

    /// A folder without any of the paper's data sets.
    #[error("{folder}: found none of the paper's data sets, looked for {looked_for}")]
    NoSets {
        /// The folder.
        folder: String,
        /// The names of the files.
        looked_for: String,
    },

    /// A journal of a run with other settings.
    #[error("{path}: the journal was begun with other settings\n  journal: {found}\n  now:     {expected}")]
    OtherSettings {
        /// The journal.
        path: String,
        /// Its settings.
        found: String,
        /// The settings of this run.
        expected: String,
    },

    /// A file that is not a journal.
    #[error("{path}, line {line}: {found}, expected a journal of `udeed`")]
    NotAJournal {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// Its content.
        found: String,
    },

    /// An error of the operating system while reading or writing.
    #[error("{path}: cannot {action}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The action that failed.
        action: &'static str,
        /// The error of the system.
        cause: std::io::Error,
    },

    /// An error of the library.
    #[error(transparent)]
    Udeed(#[from] udeed::Error),
}

impl Error {
    pub(crate) fn of_set(name: &str, cause: udeed::Error) -> Self {
        Error::Set { name: name.to_owned(), cause: Box::new(cause) }
    }

    /// A hint at what to try, where there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Udeed(cause) => cause.hint(),
            Error::Set { cause, .. } => cause.hint(),
            Error::OtherSettings { .. } => Some("go on with the old settings, or choose another `--journal`"),
            Error::NoSets { .. } => Some("files may also end in `.csv`, `.arff` or `.libsvm`, with or without `.gz`"),
            _ => None,
        }
    }

    /// Whether the call is wrong, not the data.
    pub fn is_usage(&self) -> bool {
        match self {
            Error::Unknown { .. } | Error::Nothing { .. } | Error::Single { .. } | Error::Twice { .. } => true,
            Error::Udeed(cause) => cause.is_usage(),
            Error::Set { cause, .. } => cause.is_usage(),
            _ => false,
        }
    }
}

/// Rejects duplicate names: results are found by them.
pub(crate) fn once<T: ToString>(what: &'static str, items: impl Iterator<Item = T>) -> Result<()> {
    let mut seen = HashSet::new();
    for item in items {
        let name = item.to_string();
        if !seen.insert(name.clone()) {
            return Err(Error::Twice { what, name });
        }
    }
    Ok(())
}
