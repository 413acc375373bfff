//! Writing rows into a file.

use std::io::Write;

use crate::data::Labels;
use crate::error::Result;
use crate::format::csv::usual_delimiter;
use crate::format::options::WriteOptions;
use crate::format::{Format, Sheet, cells};

/// Writes rows into a file.
///
/// ```
/// use udeed::format::{Format, Writer, built_in};
///
/// let sheet = built_in("house")?.read()?;
/// let mut text = Vec::new();
/// Writer::new(Format::Libsvm).write(&sheet, &mut text)?;
/// assert!(text.starts_with(b"-1 "));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Writer {
    format: Format,
    options: WriteOptions,
}

impl Writer {
    /// A writer of a format.
    pub fn new(format: Format) -> Self {
        Writer { format, options: WriteOptions { delimiter: b',' } }
    }

    /// The format that it writes.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The delimiter that the name of a file indicates, as a [`Reader`](crate::format::Reader) expects it: a tab for `.tsv` and
    /// `.tab`, else a comma.
    #[must_use]
    pub fn named(self, file: &str) -> Self {
        self.delimiter(usual_delimiter(file))
    }

    /// Delimiter of the cells of a CSV file. Default: a comma.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.options.delimiter = delimiter;
        self
    }

    /// Writes the rows; the labels come last, in LIBSVM first. A missing value or label is empty in CSV, `?` in ARFF and
    /// for LIBSVM's labels, `nan` for its values. LIBSVM knows only numbers: see [`Writer::class_labels`].
    ///
    /// # Errors
    /// If the format cannot hold the rows, or writing fails.
    pub fn write(&self, sheet: &Sheet, out: &mut dyn Write) -> Result<()> {
        (self.format.card().write)(sheet, &self.options, out)
    }

    /// Name of the label column in CSV and ARFF files, if there are labels to write: its own, or `class` if it has none, with
    /// underscores if another column has that name.
    ///
    /// ```
    /// use udeed::format::{Writer, built_in};
    ///
    /// assert_eq!(Writer::label_name(&built_in("vote")?.read()?).as_deref(), Some("class"));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn label_name(sheet: &Sheet) -> Option<String> {
        cells::label_name(sheet)
    }

    /// The label that stands for each class in a file: its name. LIBSVM labels are numbers: the names if all are numbers,
    /// else -1 and 1 for two classes and 0, 1, 2, ... for more.
    ///
    /// ```
    /// use udeed::data::Labels;
    /// use udeed::format::{Format, Writer};
    ///
    /// let labels = Labels::new([Some("no"), Some("yes")]);
    /// assert_eq!(Writer::new(Format::Csv).class_labels(&labels), ["no", "yes"]);
    /// assert_eq!(Writer::new(Format::Libsvm).class_labels(&labels), ["-1", "1"]);
    /// ```
    pub fn class_labels(&self, labels: &Labels) -> Vec<String> {
        (self.format.card().class_labels)(labels)
    }
}
