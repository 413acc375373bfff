//! How to read a file, and what it held.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::{Column, HeldTable, Labels, Naming, Table, TrainSet, missing_column, same_number};
use crate::error::{Error, Place, Result};
use crate::format::chunks::CHUNK;
use crate::format::sink::{Gathered, InMemory, Keep, WhereRoom};
use crate::format::source::Source;
use crate::format::{arff, csv, libsvm};
use crate::memory::Room;
use crate::text::{listed, quoted};

/// A kind of file.
///
/// ```
/// use udeed::Format;
///
/// assert_eq!(Format::of("rows.arff.gz"), Some(Format::Arff));
/// assert_eq!(Format::of("rows"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Values between delimiters, one row a line.
    Csv,
    /// Weka's attribute-relation file.
    Arff,
    /// `label index:value index:value ...`, indices counted from 1.
    Libsvm,
}

impl Format {
    /// The format that the name of a file tells, whatever its case; a final `.gz` does not count.
    pub fn of(name: &str) -> Option<Format> {
        match extension(name)?.as_str() {
            "csv" | "tsv" | "tab" | "txt" | "data" => Some(Format::Csv),
            "arff" => Some(Format::Arff),
            "libsvm" | "svm" | "svmlight" | "t" => Some(Format::Libsvm),
            _ => None,
        }
    }
}

fn extension(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Some(name.rsplit_once('.')?.1.to_owned())
}

/// How the rows of a sparse file are kept.
///
/// ```
/// assert_eq!(udeed::Layout::default(), udeed::Layout::Auto);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Sparse, unless at least one value in six is stored: then dense, which is faster and can be shifted.
    #[default]
    Auto,
    /// Dense.
    Dense,
    /// Sparse. Also a dense file is then kept sparse.
    Sparse,
}

impl Layout {
    /// Whether sparse rows become dense, of which so many values are stored.
    pub(super) fn makes_dense(self, n_rows: usize, n_columns: usize, n_stored: usize) -> bool {
        match self {
            Layout::Dense => true,
            Layout::Sparse => false,
            Layout::Auto => n_stored >= n_rows.saturating_mul(n_columns).div_ceil(6),
        }
    }
}

/// How to read a file of rows. The defaults suit a CSV file with a header.
///
/// ```
/// use udeed::{Format, Reader};
///
/// let text = "age;colour;ok\n31;red;yes\n;blue;\n40;red;no\n";
/// let sheet = Reader::new().format(Format::Csv).delimiter(b';').label("ok").read_from("text", text.as_bytes())?;
/// assert_eq!(sheet.table.columns().len(), 2);
/// assert_eq!(sheet.labels.name(0), Some("yes"));
/// assert_eq!(sheet.labels.name(1), None);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reader {
    pub(super) format: Option<Format>,
    pub(super) delimiter: Option<u8>,
    pub(super) header: bool,
    pub(super) label: LabelColumn,
    pub(super) unlabeled: Option<String>,
    pub(super) nominal: Vec<String>,
    pub(super) drop: Vec<String>,
    pub(super) layout: Layout,
    pub(super) expected: Option<(Vec<Column>, Naming)>,
    pub(super) chunk: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LabelColumn {
    None,
    Required(String),
    IfPresent(String),
}

impl Default for Reader {
    fn default() -> Self {
        Reader::new()
    }
}

impl Reader {
    /// A reader with the defaults.
    pub fn new() -> Self {
        Reader {
            format: None,
            delimiter: None,
            header: true,
            label: LabelColumn::None,
            unlabeled: None,
            nominal: Vec::new(),
            drop: Vec::new(),
            layout: Layout::Auto,
            expected: None,
            chunk: CHUNK,
        }
    }

    /// The format of the file. Default: what its name tells.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// What stands between the values of a CSV file. Default: a comma, a tab in `.tsv` and `.tab` files.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// Whether the first line of a CSV file names the columns. Without names they are numbered, the label left out.
    /// Default: true.
    #[must_use]
    pub fn header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// The column with the labels, by name or by place: `3` is the third, `-1` the last. LIBSVM files need none.
    /// Default: none, in ARFF files the attribute called `class`.
    ///
    /// ```
    /// use udeed::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv).header(false).label("-1");
    /// let sheet = reader.read_from("rows", &b"1,2,yes\n3,4,no\n"[..])?;
    /// assert_eq!(sheet.labels.classes(), ["no", "yes"]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn label(mut self, column: impl Into<String>) -> Self {
        self.label = LabelColumn::Required(column.into());
        self
    }

    /// Like [`Reader::label`], but the file may be without that column.
    #[must_use]
    pub fn label_if_present(mut self, column: impl Into<String>) -> Self {
        self.label = LabelColumn::IfPresent(column.into());
        self
    }

    /// A label that marks unlabeled rows, besides an empty cell, `?`, `NA` and `NaN`. Default: none.
    #[must_use]
    pub fn unlabeled_mark(mut self, mark: impl Into<String>) -> Self {
        self.unlabeled = Some(mark.into());
        self
    }

    /// Columns of a CSV file whose values are names even where they look like numbers. Default: none.
    #[must_use]
    pub fn nominal<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.nominal = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Columns to leave out. Default: none.
    #[must_use]
    pub fn drop<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.drop = columns.into_iter().map(Into::into).collect();
        self
    }

    /// How rows are kept in memory. Default: [`Layout::Auto`].
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The columns that the rows must have, with their kinds; others are not read. [`Model::reader`](crate::Model::reader)
    /// sets this. Default: whatever the file has.
    #[must_use]
    pub fn expect(mut self, columns: &[Column], naming: Naming) -> Self {
        self.header = !matches!(naming, Naming::Position { .. });
        self.expected = Some((columns.to_vec(), naming));
        self
    }

    /// How many bytes of text a thread parses at a time. What is read does not depend on it. Default: half a mebibyte.
    ///
    /// ```
    /// use udeed::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv);
    /// let text = &b"size\n1\n2\n"[..];
    /// assert_eq!(reader.clone().chunk_size(4).read_from("rows", text)?, reader.read_from("rows", text)?);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn chunk_size(mut self, bytes: usize) -> Self {
        self.chunk = bytes;
        self
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, its format is not known, or it holds what it must not.
    ///
    /// ```
    /// use udeed::Reader;
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("rows.csv");
    /// std::fs::write(&path, "size,ok\n1,yes\nbig,no\n").unwrap();
    /// let error = Reader::new().label("ok").read(&path).unwrap_err();
    /// assert!(error.to_string().ends_with("line 3, column `size`: found `big`, expected a number, like `1` in line 2"));
    /// ```
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Sheet> {
        let path = path.as_ref();
        self.read_source(Source::open(path)?, &path.display().to_string())
    }

    /// Reads a stream, with a name for messages.
    ///
    /// # Errors
    /// As [`Reader::read`]; the format must have been set.
    pub fn read_from(&self, name: &str, bytes: impl Read) -> Result<Sheet> {
        self.read_source(Source::new(name.to_owned(), bytes)?, name)
    }

    /// Reads a file into memory as long as there is room for its rows; if they are more, all of them go into a temporary
    /// file. The table is the same as that of [`Reader::read`].
    ///
    /// # Errors
    /// As [`Reader::read`]; also if there is not enough room and no folder, or the folder cannot be written to.
    ///
    /// ```
    /// use udeed::{HeldTable, Reader, Room};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("rows.csv");
    /// std::fs::write(&path, "size,colour\n1,red\n2,blue\n").unwrap();
    /// let held = Reader::new().hold(&path, Room { most: 64, folder: Some(folder.path()) })?;
    /// assert!(matches!(held.table, HeldTable::InFile(_)));
    /// assert!(Reader::new().hold(&path, Room { most: 64, folder: None }).is_err());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn hold(&self, path: impl AsRef<Path>, room: Room<'_>) -> Result<HeldSheet> {
        let path = path.as_ref();
        let name = path.display().to_string();
        self.gather(Source::open(path)?, &name, WhereRoom::new(&name, room))?.into_held(self.layout)
    }

    /// Like [`Reader::hold`] for a stream, with a name for messages. It is read only once.
    ///
    /// # Errors
    /// As [`Reader::hold`]; the format must have been set.
    pub fn hold_from(&self, name: &str, bytes: impl Read, room: Room<'_>) -> Result<HeldSheet> {
        let source = Source::new(name.to_owned(), bytes)?;
        self.gather(source, name, WhereRoom::new(name, room))?.into_held(self.layout)
    }

    fn read_source(&self, source: Source<'_>, name: &str) -> Result<Sheet> {
        self.gather(source, name, InMemory::default())?.into_sheet(self.layout)
    }

    /// Reads all rows into where they are kept.
    fn gather<K: Keep>(&self, source: Source<'_>, name: &str, rows: K) -> Result<Gathered<K>> {
        let format = self.format.or_else(|| Format::of(name)).ok_or_else(|| {
            Error::input(
                Place::new(name),
                "a name that tells no format",
                "`.csv`, `.arff` or `.libsvm`, also with `.gz`",
            )
            .with_hint("say `--format csv`, `arff` or `libsvm`")
        })?;
        match format {
            Format::Csv => {
                let tabs = matches!(extension(name).as_deref(), Some("tsv" | "tab"));
                csv::read(self, source, self.delimiter.unwrap_or(if tabs { b'\t' } else { b',' }), rows)
            }
            Format::Arff => arff::read(self, source, rows),
            Format::Libsvm => libsvm::read(self, source, rows),
        }
    }

    /// Whether a label says that there is none.
    pub(super) fn is_unlabeled(&self, label: &str) -> bool {
        is_missing(label) || self.unlabeled.as_deref().is_some_and(|mark| mark == label || same_number(mark, label))
    }

    /// Which columns of a file with these names are read, and as what.
    pub(super) fn plan(&self, names: &[String], place: impl Fn() -> Place) -> Result<Plan> {
        let find = |column: &str| find_column(names, column);
        let unknown = |column: &str, what: &str| {
            Error::input(place(), format!("no column {}", quoted(column)), format!("a {what} among {}", listed(names)))
        };
        let label =
            match &self.label {
                LabelColumn::None => None,
                LabelColumn::Required(column) => Some(find(column).ok_or_else(|| unknown(column, "label column"))?),
                LabelColumn::IfPresent(column) => {
                    match &self.expected {
                        // Numbered columns: the label is there if there is one column more than the others.
                        Some((_, Naming::Position { width })) if !self.header => {
                            if names.len() == width.saturating_add(1) { find(column) } else { None }
                        }
                        // A label that was given by name: a number in a name is no place.
                        _ => names.iter().position(|name| name == column),
                    }
                }
            };
        let all = |columns: &[String]| -> Result<HashSet<usize>> {
            columns.iter().map(|column| find(column).ok_or_else(|| unknown(column, "column"))).collect()
        };
        let (drop, nominal) = (all(&self.drop)?, all(&self.nominal)?);
        let naming = if self.header {
            Naming::Given
        } else {
            Naming::Position { width: names.len() - usize::from(label.is_some()) }
        };
        if let (Some((_, Naming::Position { width: wanted })), Naming::Position { width }) = (&self.expected, naming)
            && *wanted != width
        {
            return Err(Error::input(
                place(),
                format!("{} columns", names.len()),
                format!("{wanted}, or {} with the labels", wanted.saturating_add(1)),
            )
            .with_hint("the model numbers its columns: the rows must have those of training, without a header"));
        }
        let features = self.features(names, label, &drop, &nominal, naming);
        self.check_expected(&features, names, naming, place)?;
        Ok(Plan { label, features, naming })
    }

    /// Whether every expected column is there.
    fn check_expected(
        &self,
        features: &[Feature],
        names: &[String],
        naming: Naming,
        place: impl Fn() -> Place,
    ) -> Result<()> {
        let Some((expected, _)) = &self.expected else { return Ok(()) };
        let present: HashSet<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
        match expected.iter().find(|column| !present.contains(column.name.as_str())) {
            None => Ok(()),
            Some(column) => Err(missing_column(&place().source, &column.name, names, expected, naming)),
        }
    }

    fn features(
        &self,
        names: &[String],
        label: Option<usize>,
        drop: &HashSet<usize>,
        nominal: &HashSet<usize>,
        naming: Naming,
    ) -> Vec<Feature> {
        let expected: Option<HashMap<&str, &Column>> =
            self.expected.as_ref().map(|(columns, _)| columns.iter().map(|c| (c.name.as_str(), c)).collect());
        let mut features = Vec::new();
        let mut number = 0;
        for (source, name) in names.iter().enumerate() {
            if Some(source) == label {
                continue;
            }
            number += 1;
            let name = if naming == Naming::Given { name.clone() } else { number.to_string() };
            let mut kind = nominal.contains(&source).then_some(Wanted::Nominal);
            if let Some(expected) = &expected {
                match expected.get(name.as_str()) {
                    None => continue,
                    Some(column) => kind = Some(Wanted::of(column)),
                }
            }
            if !drop.contains(&source) {
                features.push(Feature { source, name, kind });
            }
        }
        features
    }
}

/// Which columns of a file are read, and as what.
pub(super) struct Plan {
    /// The place of the label.
    pub(super) label: Option<usize>,
    /// The other columns that are read, in order.
    pub(super) features: Vec<Feature>,
    pub(super) naming: Naming,
}

pub(super) struct Feature {
    /// The place in the file, from 0.
    pub(super) source: usize,
    pub(super) name: String,
    /// What it must be, where that is known beforehand.
    pub(super) kind: Option<Wanted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Numeric,
    Nominal,
}

impl Wanted {
    fn of(column: &Column) -> Self {
        match column.kind {
            crate::data::Kind::Numeric => Wanted::Numeric,
            crate::data::Kind::Nominal { .. } => Wanted::Nominal,
        }
    }
}

/// The place of a column given by name or by number: `3` is the third, `-1` the last.
fn find_column(names: &[String], column: &str) -> Option<usize> {
    if let Some(place) = names.iter().position(|name| name == column) {
        return Some(place);
    }
    let number: i64 = column.parse().ok()?;
    let place = usize::try_from(number.unsigned_abs()).ok()?;
    match number {
        0 => None,
        _ if place > names.len() => None,
        1.. => Some(place - 1),
        _ => Some(names.len() - place),
    }
}

/// Whether a cell says that its value is missing.
pub(super) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || cell == "?" || cell.eq_ignore_ascii_case("na") || cell.eq_ignore_ascii_case("nan")
}

/// What a file held: rows, and their labels beside them.
///
/// ```
/// use udeed::{Format, Reader, Udeed};
///
/// let rows = "+1 1:0.5 2:1\n-1 2:0.25\n? 1:0.75\n";
/// let train = Reader::new().format(Format::Libsvm).read_from("rows", rows.as_bytes())?.into_train()?;
/// assert_eq!((train.n_labeled(), train.n_unlabeled()), (2, 1));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// The rows, without the labels.
    pub table: Table,
    /// The labels; every row unlabeled where the file has none.
    pub labels: Labels,
    /// The name of the column that held them.
    pub label: Option<String>,
}

/// What a file held, with its rows where there was room for them. Their labels are not kept.
///
/// See [`Reader::hold`] for an example.
#[derive(Debug)]
pub struct HeldSheet {
    /// The rows, without the labels.
    pub table: HeldTable,
    /// How many rows had a label.
    pub n_labeled: usize,
}

impl Sheet {
    /// The given rows with their labels.
    ///
    /// # Panics
    /// If an index is not that of a row.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        Sheet { table: self.table.select(indices), labels: self.labels.select(indices), label: self.label.clone() }
    }

    /// The rows and labels to learn from.
    ///
    /// # Errors
    /// If there are more or fewer labels than rows, which no reader makes.
    pub fn into_train(self) -> Result<TrainSet> {
        Ok(TrainSet::new(self.table, self.labels)?.label(self.label))
    }
}
