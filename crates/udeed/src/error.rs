//! Errors: where, what was found, what was expected, and a hint as data.

use crate::text::{byte_size, listed, quoted};

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
    /// What stands for a table in messages, until [`Error::in_source`] gives it a name.
    pub const TABLE: &'static str = "the table";

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

/// Declares the hints, each once: what it is for, its data with an example, and its words for users of the library. The data
/// of many are the name of a column. `@mend` stands before the words of those that no option and no parameter helps.
macro_rules! hints {
    ($(
        $(#[$doc:meta])*
        $name:ident
        $({ $($(#[$about:meta])* $field:ident: $kind:ty = $example:expr),+ $(,)? })?
        $(about $column:ident $named:literal)?
        => $(@ $mend:ident)? $words:expr;
    )+) => {
        /// What to try after an [`Error`], as data.
        ///
        /// Its `Display` names neither options of the command nor parameters of the Python package, each of which has
        /// words of its own.
        ///
        /// ```
        /// use udeed::{Error, Hint};
        /// use udeed::data::Table;
        /// use udeed::prepare::{Preparation, Scaling};
        ///
        /// let sparse = Table::from_matrix(Table::from_rows(&[[0.0], [-1.0]])?.matrix().to_sparse())?;
        /// let error = Preparation::fit(&sparse, Scaling::MinMax).unwrap_err();
        /// assert_eq!(error.hint(), Some(&Hint::NegativeSparse));
        /// assert_eq!(Hint::NegativeSparse.to_string(), "make the rows dense, or scale them to deviation 1 or not at all");
        /// # Ok::<(), Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Hint {
            $(
                $(#[$doc])*
                $name
                $({ $($(#[$about])* $field: $kind),+ })?
                $({ #[doc = concat!("Its name, such as `", $named, "`.")] $column: Box<str> })?,
            )+
        }

        impl Hint {
            /// Every hint once, for tests that each has words.
            #[doc(hidden)]
            pub fn examples() -> Vec<Hint> {
                vec![$(Hint::$name $({ $($field: $example),+ })? $({ $column: $named.into() })?),+]
            }

            /// Whether the data themselves are to be mended: no option of the command and no parameter of the Python
            /// package helps, so that the words of the library will do for both.
            pub fn is_to_mend(&self) -> bool {
                match self {
                    $(Hint::$name { .. } => false $(|| stringify!($mend) == "mend")?,)+
                }
            }
        }

        impl fmt::Display for Hint {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Hint::$name $({ $($field),+ })? $({ $column })? => f.write_str($words.as_ref()),)+
                }
            }
        }
    };
}

hints! {
    /// The name of a file does not reveal its format.
    Format => "name the format";
    /// A Parquet file, which this build cannot read.
    WithoutParquet => @mend "use the command `udeed`, or a build with the feature `parquet`";
    /// The text of a file is not UTF-8.
    Encoding => "convert the text to UTF-8: that of Excel is often in WINDOWS-1252";
    /// The text of a file is UTF-16.
    Utf16 => "the text is UTF-16: convert it to UTF-8";
    /// A quote in a CSV file never closes.
    UnclosedQuote => @mend "is there a quote that never closes? Inside a quoted cell, quotes are doubled: `\"\"`";
    /// A quoted cell is larger than cells may be.
    LongCell => "is there a quote that never closes? If not, allow longer lines, which may hold larger cells";
    /// A line is longer than lines may be.
    LongLine => "is this a file of rows? If so, allow longer lines";
    /// A file has more columns than it may have.
    ManyColumns => "is this a file of rows? If so, allow more columns";
    /// A record with the wrong number of cells has a cell that holds the end of a line.
    LineEndInCell => @mend "a cell holds the end of a line: is there a quote that never closes?";
    /// The names in the first line cannot be those of columns.
    NoHeader => "if the first line is no header, read the file without one";
    /// The names in the first line are numbers.
    NumericHeader => "the first line holds numbers: if it is no header, read the file without one";
    /// Another character separates the cells.
    Delimiter {
        /// The character, as found in the header.
        found: char = ';',
    } => match found {
        '\t' => "the header holds tabs: are they the delimiter?".to_owned(),
        other => format!("the header holds `{other}`: is it the delimiter?"),
    };
    /// The first line was read as a row, but looks like a header.
    Header => "the first line looks like a header: read it as one";
    /// The first line was read as a row; if it is a header, the model cannot use its names.
    HeaderForUnnamed => @mend "if the first line is a header, the columns have names: the model has none";
    /// Columns are wanted by name, but the rows were read without a header.
    UnnamedColumns => "the columns of these rows are numbered, those wanted have names";
    /// Columns are wanted by name, but LIBSVM rows only number them.
    IndexedColumns => @mend "the columns wanted have names, LIBSVM rows only number them";
    /// Columns are wanted by number, but the rows have names.
    NumberedColumns => "the columns wanted are numbers: if these rows have no header, read them without one";
    /// Rows without a header have another number of columns than those of training.
    WidthOfTraining => @mend "the model numbers its columns: the rows must have those of training, without a header";
    /// A column holds numbers and text.
    NominalOrDrop about column "color" =>
        format!("if column {} is nominal, read it as such; else leave it out", quoted(column));
    /// A column of numbers holds a word for a missing value, or the other way round.
    MissingWord about column "age" =>
        format!("if the word in column {} stands for a missing value, leave the cell empty", quoted(column));
    /// A blank line may be a missing cell.
    BlankLine => @mend "if the value is missing, write `?`; else remove the line";
    /// A column of numbers takes the place of a nominal one.
    Nominal about column "color" =>
        format!("if the numbers in column {} are names, read it as nominal", quoted(column));
    /// A column cannot be learned from.
    Drop about column "comment" =>
        format!("leave out column {}", quoted(column));
    /// A nominal column has too many levels: it is likely to identify the rows.
    Identifier about column "name" =>
        format!("if column {} identifies the rows, leave it out", quoted(column));
    /// A numeric ARFF attribute takes the place of a nominal one.
    DeclareLevels => @mend "declare its values in the file: `{a, b, ...}`";
    /// A LIBSVM index is 0.
    CountFromOne => @mend "LIBSVM counts from 1; add 1 to every index";
    /// Rows cannot be written in a format as they are.
    WriteAs {
        /// The formats that keep them.
        formats: &'static [&'static str] = &["CSV", "ARFF"],
    } => @mend format!("write {}", formats.join(" or "));
    /// Two labels are one number.
    Spellings {
        /// The label column.
        column: Box<str> = "class".into(),
    } => format!("write them alike; if they are two classes, read column {} as nominal", quoted(column));
    /// No row has a label.
    NoLabels => "are the labels where they were looked for?";
    /// All labels are of one class.
    OneClass => @mend "rows of another class need labels too";
    /// There are too many classes.
    ManyClasses => "are these the labels?";
    /// A class has too few rows for the shares asked for.
    Shares => "choose other shares";
    /// Feature scaling would help.
    Scaling => "scale the features";
    /// Sparse rows with negative values cannot be scaled to [0, 1].
    NegativeSparse => "make the rows dense, or scale them to deviation 1 or not at all";
    /// A model has no held-out votes.
    Calibrated => "fit it with calibrated probabilities: rows are then held out in folds";
    /// The features are too large for the arithmetic.
    LargeFeatures => "the features are too large: scale them, or use double precision";
    /// A cell is so large that it cannot be scaled as the training rows were.
    LargeCell => @mend "if the number stands for a missing value, leave the cell empty";
    /// Dense rows do not fit into memory.
    Sparse => "keep the rows sparse, or leave out columns";
    /// Rows take more memory than they may, or lie in a file, and the method needs them all at once.
    RowsInMemory => "allow more memory, or use a method that does not need all rows at once, such as `udeed` or `bagging`";
    /// The rows of a file take more memory than they may.
    RowsOfFile => "allow more memory, or leave out columns";
    /// Rows that come as a stream are more than may be copied.
    LongStream => "write the rows to a file and read that, or allow more memory";
    /// The disk for the temporary file of the rows is full.
    FullDisk => "use a folder on a larger disk, or allow more memory";
    /// Fourier features take too much memory.
    Fourier => "use fewer Fourier features, or keep the unlabeled rows in a file";
    /// Similarities of rows take too much memory.
    Similarities => "use fewer neighbours, such as 5, or allow more memory";
    /// Suggestions that exclude rows like them take too much memory.
    Suggestions => "ask for fewer suggestions";
    /// What is kept for each member takes too much memory.
    Members => "use fewer members";
    /// A model file is larger than it may be.
    LargeModel => "allow more memory for the model, or use fewer members";
    /// A device has no driver, or one that does not work.
    Driver => "install the driver of the card: `nvidia-smi` lists the card where it works";
    /// A device has no room for rows or scores.
    DeviceMemory => "use single precision, fewer rows or members, or the processor";
    /// A device takes no sparse rows.
    DenseOnDevice => "make the rows dense, or use the processor";
    /// A device cannot do what it was asked for.
    OtherDevice => "use another device, or the processor";
    /// Some views take too much memory.
    Views {
        /// The views to use in place of all.
        keep: &'static [&'static str] = &["linear", "relevance"],
    } => format!("use only these views: {}", listed(*keep));
    /// Some views, of which there is one for each member, take too much memory.
    ViewsOrMembers {
        /// The views to use in place of all.
        keep: &'static [&'static str] = &["linear", "spectral"],
    } => format!("use only these views: {}; or use fewer members", listed(*keep));
}

/// Everything that can go wrong in this crate.
///
/// A message is one line: where, what was found, what was expected. [`Error::hint`] adds what to try, if anything helps.
///
/// ```
/// use udeed::prelude::*;
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
        hint: Option<Hint>,
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
        hint: Option<Hint>,
    },

    /// A device is missing, or cannot do what it was asked for.
    #[error("{device}: found {found}, expected {expected}")]
    Device {
        /// The device, as it was asked for: `cuda:0`.
        device: String,
        /// What is there.
        found: String,
        /// What is needed.
        expected: String,
        /// What to try.
        hint: Option<Hint>,
    },

    /// Something would take more memory than it may. It is refused before the memory is asked for.
    #[error("{what} take {}, expected at most {}", byte_size(*.bytes), byte_size(*.most))]
    Memory {
        /// What would take it, in the plural: `the similarities of 1000 rows`.
        what: String,
        /// Bytes that it would take.
        bytes: u64,
        /// Bytes that it may take.
        most: u64,
        /// What to try.
        hint: Hint,
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
        hint: Option<Hint>,
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
        hint: Option<Hint>,
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

    /// A base learner from outside the library failed.
    #[error("{at}{cause}")]
    Learner {
        /// Which member it was to make, or to predict by, and when.
        at: MemberPlace,
        /// What it said. It is part of the message, so it is not given as a source again.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },

    /// An [`Observer`](crate::observer::Observer) asked for the end while no ensemble existed yet.
    #[error("stopped before the first ensemble was complete")]
    Stopped,
}

/// The member at which a base learner failed, and the round, as far as they are known; both counted from 1.
///
/// ```
/// let place = udeed::MemberPlace { member: Some(3), round: Some(2) };
/// assert_eq!(place.to_string(), "member 3, round 2: ");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberPlace {
    /// Number of the member.
    pub member: Option<usize>,
    /// Number of the round.
    pub round: Option<usize>,
}

impl fmt::Display for MemberPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.member, self.round) {
            (Some(member), Some(round)) => write!(f, "member {member}, round {round}: "),
            (Some(member), None) => write!(f, "member {member}: "),
            (None, Some(round)) => write!(f, "round {round}: "),
            (None, None) => Ok(()),
        }
    }
}

impl Error {
    /// The error of a base learner from outside the library, see [`Learner`](crate::learner::Learner).
    ///
    /// ```
    /// assert_eq!(udeed::Error::learner("no rows").to_string(), "no rows");
    /// ```
    pub fn learner(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Learner { at: MemberPlace::default(), cause: cause.into() }
    }

    /// The error of a [`Device`](crate::method::udeed::Device).
    ///
    /// ```
    /// let error = udeed::Error::device("cuda:1", "1 card", "more than 1", None);
    /// assert_eq!(error.to_string(), "cuda:1: found 1 card, expected more than 1");
    /// ```
    pub fn device(
        device: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: Option<Hint>,
    ) -> Self {
        Error::Device { device: device.into(), found: found.into(), expected: expected.into(), hint }
    }

    /// The same error with the number of the member, counted from 0, where a base learner failed and it is not known yet.
    pub(crate) fn in_member(mut self, member: usize) -> Self {
        if let Error::Learner { at, .. } = &mut self {
            at.member.get_or_insert(member + 1);
        }
        self
    }

    /// The same error where the members that it counts follow some others.
    pub(crate) fn after_members(mut self, others: usize) -> Self {
        if let Error::Learner { at: MemberPlace { member: Some(member), .. }, .. } = &mut self {
            *member += others;
        }
        self
    }

    /// The same error with the number of the round, counted from 0, where a base learner failed and it is not known yet.
    pub(crate) fn in_round(mut self, round: usize) -> Self {
        if let Error::Learner { at, .. } = &mut self {
            at.round.get_or_insert(round + 1);
        }
        self
    }

    /// Whether somebody who read what was written went away, as `head` does.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Whether the call itself was wrong, not the data it was given.
    ///
    /// ```
    /// assert!(udeed::method::Udeed::new().gamma(-1.0).validate().unwrap_err().is_usage());
    /// ```
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Setting { .. })
    }

    /// What to try, if anything helps. [`Hint`] is data: the command words it with options, the Python package with
    /// parameters, and its `Display` names neither.
    ///
    /// ```
    /// use udeed::Hint;
    /// use udeed::data::{Labels, Table, TrainSet};
    /// use udeed::method::Udeed;
    ///
    /// let table = Table::from_rows(&[[0.0], [1.0]])?;
    /// let train = TrainSet::new(table, Labels::new([Some("yes"), None]))?;
    /// let error = Udeed::new().fit(&train).unwrap_err();
    /// assert!(error.to_string().contains("one class"));
    /// assert_eq!(error.hint(), Some(&Hint::OneClass));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn hint(&self) -> Option<&Hint> {
        match self {
            Error::Input { hint, .. }
            | Error::Training { hint, .. }
            | Error::Columns { hint, .. }
            | Error::Device { hint, .. }
            | Error::Io { hint, .. } => hint.as_ref(),
            Error::Memory { hint, .. } => Some(hint),
            Error::NotConverged { .. } => Some(&Hint::Scaling),
            _ => None,
        }
    }

    /// The same error with the name of a source in place of "the table": of rows that were read from it, below some others.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let error = Table::from_rows(&[[1.0], [f64::INFINITY]]).unwrap_err();
    /// let error = error.in_source("rows.csv", 1000);
    /// assert!(error.to_string().starts_with("rows.csv, row 1002, column `1`: found inf"));
    /// ```
    #[must_use]
    pub fn in_source(mut self, name: &str, rows_above: u64) -> Self {
        match &mut self {
            Error::Input { place, .. } if place.source == Place::TABLE => {
                name.clone_into(&mut place.source);
                place.row = place.row.map(|row| row.saturating_add(rows_above));
            }
            Error::Columns { place, .. } if place == Place::TABLE => name.clone_into(place),
            _ => {}
        }
        self
    }

    /// The same error with the number of a row among all, where it is that of one among some that were selected.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let error = Table::from_rows(&[[1.0], [f64::INFINITY]]).unwrap_err().among_rows(&[3, 7]);
    /// assert!(error.to_string().starts_with("the table, row 8, column `1`: found inf"));
    /// ```
    #[must_use]
    pub fn among_rows(mut self, selected: &[usize]) -> Self {
        if let Error::Input { place, .. } = &mut self
            && place.source == Place::TABLE
            && let Some(row) = place.row.and_then(|row| selected.get(usize::try_from(row).ok()?.checked_sub(1)?))
        {
            place.row = Some(*row as u64 + 1);
        }
        self
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

    pub(crate) fn with_hint(mut self, new: Hint) -> Self {
        if let Error::Input { hint, .. }
        | Error::Training { hint, .. }
        | Error::Columns { hint, .. }
        | Error::Io { hint, .. } = &mut self
        {
            *hint = Some(new);
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

    #[test]
    fn hints_have_words_of_their_own_and_no_options() {
        let words: Vec<String> = Hint::examples().iter().map(Hint::to_string).collect();
        for (i, one) in words.iter().enumerate() {
            assert!(!one.is_empty() && !one.contains("--") && !one.contains('\n') && !one.ends_with('.'), "{one}");
            assert!(!words[..i].contains(one), "{one}");
        }
    }
}
