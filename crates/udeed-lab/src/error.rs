//! Errors of the laboratory, and hints at what to try after them.

use std::fmt;

use std::collections::HashSet;

use udeed::format::Format;

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

    /// A damaged line of a journal.
    #[error("{path}, line {line}: {found}, expected a line as it was written")]
    DamagedJournal {
        /// The journal.
        path: String,
        /// The first damaged line.
        line: usize,
        /// What is wrong with it.
        found: String,
    },

    /// A journal of a former format.
    #[error("{path}: a journal without checksums, of a former version, whose lines cannot be verified")]
    FormerJournal {
        /// The journal.
        path: String,
    },

    /// A journal that another process writes to.
    #[error("{path}: the journal is in use by {}", process(.holder))]
    JournalInUse {
        /// The journal.
        path: String,
        /// The other process, where it can be told.
        holder: Option<u32>,
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
            Error::DamagedJournal { .. } => Some(Hint::DamagedJournal),
            Error::FormerJournal { .. } => Some(Hint::FormerJournal),
            Error::JournalInUse { .. } => Some(Hint::JournalInUse),
            Error::NoSets { .. } => Some(Hint::FileNames),
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

fn process(id: &Option<u32>) -> String {
    id.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
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

/// What to try after an [`Error`], as data: the command has words of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint<'a> {
    /// That of the library.
    Udeed(&'a udeed::Hint),
    /// The journal is that of another experiment.
    Journal,
    /// Damaged lines of the journal can be left out.
    DamagedJournal,
    /// The journal can be finished by the version that began it.
    FormerJournal,
    /// The journal is that of a run that has not ended.
    JournalInUse,
    /// The names that files of data sets may have.
    FileNames,
}

impl Hint<'_> {
    /// The hints of this crate, for tests that each has words.
    #[doc(hidden)]
    pub const OWN: [Hint<'static>; 5] =
        [Hint::Journal, Hint::DamagedJournal, Hint::FormerJournal, Hint::JournalInUse, Hint::FileNames];
}

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Udeed(hint) => hint.fmt(f),
            Hint::Journal => f.write_str("go on with the old settings, or begin another journal"),
            Hint::DamagedJournal => f.write_str("damaged lines can be left out; what they held is run again"),
            Hint::FormerJournal => f.write_str("finish it with the version that began it, or begin another journal"),
            Hint::JournalInUse => f.write_str("wait for its end, or begin another journal"),
            Hint::FileNames => {
                write!(f, "files may also end in {}, with or without `.gz`", Format::usual_extensions())
            }
        }
    }
}
