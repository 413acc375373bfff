//! What can go wrong in the laboratory.

use std::sync::LazyLock;

use udeed::Format;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in this crate.
///
/// ```
/// let error = udeed_lab::Contender::named("boost").unwrap_err();
/// assert!(error.is_usage());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that stands for nothing.
    #[error("unknown {what} `{found}`, expected one of {known}")]
    Unknown {
        /// What it should name.
        what: &'static str,
        /// The name.
        found: String,
        /// The names there are.
        known: String,
    },

    /// A comparison of nothing.
    #[error("no {what} to compare, expected at least one")]
    Nothing {
        /// What there is none of.
        what: &'static str,
    },

    /// The same thing twice.
    #[error("the {what} `{name}` twice, expected each once")]
    Twice {
        /// What there is two of.
        what: &'static str,
        /// Its name.
        name: String,
    },

    /// Scores that cannot be compared with the others.
    #[error("`{name}` has {found} scores, expected {expected} numbers, one for each split")]
    Scores {
        /// Whose they are.
        name: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },

    /// A set cannot be used.
    #[error("{name}: {cause}")]
    Set {
        /// The set.
        name: String,
        /// Why.
        cause: Box<udeed::Error>,
    },

    /// No set was found where one was looked for.
    #[error("{folder}: found none of the paper's data sets, looked for {looked_for}")]
    NoSets {
        /// The folder.
        folder: String,
        /// The files.
        looked_for: String,
    },

    /// A journal was begun with other settings.
    #[error("{path}: the journal was begun with other settings\n  journal: {found}\n  now:     {expected}")]
    OtherSettings {
        /// The journal.
        path: String,
        /// Its settings.
        found: String,
        /// Those of this run.
        expected: String,
    },

    /// A file is no journal.
    #[error("{path}, line {line}: {found}, expected a journal of `udeed`")]
    NotAJournal {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// What is there.
        found: String,
    },

    /// The operating system refused to read or write.
    #[error("{path}: cannot {action}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        cause: std::io::Error,
    },

    /// The library refused.
    #[error(transparent)]
    Udeed(#[from] udeed::Error),
}

/// The hint where a folder has no file of a set.
static EXTENSIONS: LazyLock<String> =
    LazyLock::new(|| format!("files may also end in {}, with or without `.gz`", Format::usual_extensions()));

impl Error {
    pub(crate) fn of_set(name: &str, cause: udeed::Error) -> Self {
        Error::Set { name: name.to_owned(), cause: Box::new(cause) }
    }

    /// What to try, where there is something to try.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Udeed(cause) => cause.hint(),
            Error::Set { cause, .. } => cause.hint(),
            Error::OtherSettings { .. } => Some("go on with the old settings, or choose another `--journal`"),
            Error::NoSets { .. } => Some(&EXTENSIONS),
            _ => None,
        }
    }

    /// Whether the call itself was wrong, not the data it was given.
    pub fn is_usage(&self) -> bool {
        match self {
            Error::Unknown { .. } | Error::Nothing { .. } | Error::Twice { .. } => true,
            Error::Udeed(cause) => cause.is_usage(),
            Error::Set { cause, .. } => cause.is_usage(),
            _ => false,
        }
    }
}
