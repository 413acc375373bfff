//! Errors of the laboratory, and what to try after them.

use std::fmt;

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

impl Error {
    pub(crate) fn of_set(name: &str, cause: udeed::Error) -> Self {
        Error::Set { name: name.to_owned(), cause: Box::new(cause) }
    }

    /// What to try, if anything helps.
    ///
    /// ```
    /// use udeed_lab::{Error, Hint};
    ///
    /// let error = Error::NoSets { folder: "data".into(), looked_for: "house".into() };
    /// assert_eq!(error.hint(), Some(Hint::FileNames));
    /// ```
    pub fn hint(&self) -> Option<Hint<'_>> {
        match self {
            Error::Udeed(cause) => cause.hint().map(Hint::Udeed),
            Error::Set { cause, .. } => cause.hint().map(Hint::Udeed),
            Error::OtherSettings { .. } => Some(Hint::Journal),
            Error::NoSets { .. } => Some(Hint::FileNames),
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

/// What to try after an [`Error`], as data: the command has words of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint<'a> {
    /// That of the library.
    Udeed(&'a udeed::Hint),
    /// The journal is that of another experiment.
    Journal,
    /// The names that files of data sets may have.
    FileNames,
}

impl Hint<'_> {
    /// The hints of this crate, for tests that each has words.
    #[doc(hidden)]
    pub const OWN: [Hint<'static>; 2] = [Hint::Journal, Hint::FileNames];
}

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Udeed(hint) => hint.fmt(f),
            Hint::Journal => f.write_str("go on with the old settings, or begin another journal"),
            Hint::FileNames => f.write_str("files may also end in `.csv`, `.arff` or `.libsvm`, with or without `.gz`"),
        }
    }
}
