//! What can go wrong, said so that a person can mend it.

use crate::text::quoted;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a source something was found.
///
/// ```
/// use udeed::Place;
///
/// let place = Place::new("rows.csv").line(7).column("age");
/// assert_eq!(place.to_string(), "rows.csv, line 7, column `age`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// A file name, or `standard input`, or what stands for the rows in memory.
    pub source: String,
    /// The line of a text file, counted from 1.
    pub line: Option<u64>,
    /// The row of a table, counted from 1.
    pub row: Option<u64>,
    /// The name of the column.
    pub column: Option<String>,
}

impl Place {
    /// A place that is a whole source.
    pub fn new(source: impl Into<String>) -> Self {
        Place { source: source.into(), line: None, row: None, column: None }
    }

    /// The same source, at a line counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same source, at a row counted from 1.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The same line or row, at a column.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {}", quoted(column))?;
        }
        Ok(())
    }
}

/// Everything that can go wrong in this crate.
///
/// A message is one line: where, what was found, what was expected. [`Error::hint`] adds what to try, where there is
/// something to try.
///
/// ```
/// use udeed::Udeed;
///
/// let error = Udeed::new().members(1).validate().unwrap_err();
/// assert_eq!(error.to_string(), "`members` is 1, expected at least 2");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or a table holds something that it must not hold.
    #[error("{place}: found {found}, expected {expected}")]
    Input {
        /// Where it stands.
        place: Box<Place>,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
        /// What to try.
        hint: Option<String>,
    },

    /// A setting has a value that makes no sense.
    #[error("`{name}` is {found}, expected {expected}")]
    Setting {
        /// The setting, by the name of its setter.
        name: Cow<'static, str>,
        /// Its value.
        found: String,
        /// What it may be.
        expected: String,
    },

    /// The training rows cannot be learned from.
    #[error("the training rows have {found}, expected {expected}")]
    Training {
        /// What they have.
        found: String,
        /// What is needed.
        expected: String,
        /// What to try.
        hint: Option<String>,
    },

    /// Rows have other columns than the model or the table they are to be matched with.
    #[error("{place}: column {} is missing: found {found}, expected {expected}", quoted(.missing))]
    Columns {
        /// Where the rows come from.
        place: String,
        /// The first column that is not there.
        missing: String,
        /// The columns that are there.
        found: String,
        /// The columns that are needed.
        expected: String,
        /// What to try.
        hint: Option<String>,
    },

    /// A model file is not what this version can read.
    #[error("{path}: found {found}, expected {expected}")]
    Model {
        /// The file.
        path: String,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: String,
    },

    /// The operating system refused to read or write.
    #[error("{path}: cannot {action}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// What was tried: `read`, `write`, ...
        action: &'static str,
        /// What the system said. It is part of the message, so it is not given as a source again.
        cause: std::io::Error,
        /// What to try.
        hint: Option<String>,
    },

    /// A fit of logistic regression did not reach its optimum.
    #[error(
        "logistic regression did not converge in {iterations} Newton steps \
         (distance left: {distance:.1e}, expected at most {tolerance:.1e})"
    )]
    NotConverged {
        /// Steps taken.
        iterations: usize,
        /// The Newton decrement reached, a bound on the distance of the weights from their optimum.
        distance: f64,
        /// The one asked for.
        tolerance: f64,
    },

    /// An [`Observer`](crate::Observer) asked for the end while no ensemble existed yet.
    #[error("stopped before the first ensemble was complete")]
    Stopped,
}

impl Error {
    /// Whether somebody who read what was written went away, as `head` does.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Whether the call itself was wrong, not the data it was given.
    ///
    /// ```
    /// assert!(udeed::Udeed::new().gamma(-1.0).validate().unwrap_err().is_usage());
    /// ```
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Setting { .. })
    }

    /// What to try, where there is something to try.
    ///
    /// ```
    /// use udeed::{Labels, Table, TrainSet, Udeed};
    ///
    /// let table = Table::from_rows(&[[0.0], [1.0]])?;
    /// let train = TrainSet::new(table, Labels::new([Some("yes"), None]))?;
    /// let error = Udeed::new().fit(&train).unwrap_err();
    /// assert!(error.to_string().contains("one class"));
    /// assert!(error.hint().is_some());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Input { hint, .. }
            | Error::Training { hint, .. }
            | Error::Columns { hint, .. }
            | Error::Io { hint, .. } => hint.as_deref(),
            Error::NotConverged { .. } => Some("scale the features: `scaling` `minmax` or `standard`"),
            _ => None,
        }
    }

    pub(crate) fn input(place: Place, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::Input { place: Box::new(place), found: found.into(), expected: expected.into(), hint: None }
    }

    pub(crate) fn training(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::Training { found: found.into(), expected: expected.into(), hint: None }
    }

    pub(crate) fn setting(
        name: impl Into<Cow<'static, str>>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Error::Setting { name: name.into(), found: found.to_string(), expected: expected.into() }
    }

    pub(crate) fn io(path: &Path, action: &'static str, cause: std::io::Error) -> Self {
        Error::Io { path: path.display().to_string(), action, cause, hint: None }
    }

    pub(crate) fn model(path: &Path, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::Model { path: path.display().to_string(), found: found.into(), expected: expected.into() }
    }

    pub(crate) fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Error::Input { hint, .. }
        | Error::Training { hint, .. }
        | Error::Columns { hint, .. }
        | Error::Io { hint, .. } = &mut self
        {
            *hint = Some(text.into());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_says_all_it_knows() {
        assert_eq!(Place::new("a").row(3).column("b").to_string(), "a, row 3, column `b`");
    }
}
