//! Reading rows from a file.

use std::io::Read;
use std::path::Path;

use crate::data::{Column, Naming, Table};
use crate::error::{Error, Hint, Place, Result};
use crate::format::chunks::LARGEST_CELL;
use crate::format::column_plan::{LabelColumn, UnlabeledMark};
use crate::format::options::ReadOptions;
use crate::format::sink::{BoundedSink, MemorySink, PartingSink, RowSink, Schema, TableSink, UnitedSink};
use crate::format::source::{Source, read_file};
use crate::format::{Format, HeldSheet, Layout, PartedSheet, Sheet};
use crate::memory::Room;

/// Reads rows from a file. The defaults suit a CSV file with a header.
///
/// ```
/// use udeed::format::{Format, Reader};
///
/// let text = "age;colour;ok\n31;red;yes\n;blue;\n40;red;no\n";
/// let sheet = Reader::new().format(Format::Csv).delimiter(b';').label("ok").read_from("text", text.as_bytes())?;
/// assert_eq!(sheet.table.columns().len(), 2);
/// assert_eq!(sheet.labels.name(0), Some("yes"));
/// assert_eq!(sheet.labels.name(1), None);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Reader {
    format: Option<Format>,
    options: ReadOptions,
}

impl Reader {
    /// A reader with the defaults.
    pub fn new() -> Self {
        Reader::default()
    }

    /// Whether a label column was chosen.
    pub(super) fn has_label(&self) -> bool {
        self.options.columns.label != LabelColumn::None
    }

    /// Format of the file. Default: that of its extension.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Delimiter of the cells of a CSV file. Default: a comma, a tab in `.tsv` and `.tab` files.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.options.delimiter = Some(delimiter);
        self
    }

    /// Whether the first line of a CSV file is a header. Without one the columns are numbered, the label left out.
    /// Default: true.
    #[must_use]
    pub fn header(mut self, header: bool) -> Self {
        self.options.columns.header = header;
        self
    }

    /// Label column, by name or by position: `3` is the third, `-1` the last. LIBSVM files need none.
    /// Default: none, in ARFF files the attribute called `class`.
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv).header(false).label("-1");
    /// let sheet = reader.read_from("rows", &b"1,2,yes\n3,4,no\n"[..])?;
    /// assert_eq!(sheet.labels.classes(), ["no", "yes"]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn label(mut self, column: impl Into<String>) -> Self {
        self.options.columns.label = LabelColumn::Required(column.into());
        self
    }

    /// Like [`Reader::label`], but the file may lack that column.
    #[must_use]
    pub fn label_if_present(mut self, column: impl Into<String>) -> Self {
        self.options.columns.label = LabelColumn::IfPresent(column.into());
        self
    }

    /// A label that marks unlabeled rows, besides an empty cell, `?`, `NA` and `NaN`. Default: none.
    #[must_use]
    pub fn unlabeled_mark(mut self, mark: impl Into<String>) -> Self {
        self.options.columns.unlabeled = Some(UnlabeledMark::new(mark.into()));
        self
    }

    /// Nominal columns of a CSV file whose values look like numbers; the label column may be one, so that `1` and `1.0` are two
    /// classes. Default: none.
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv).label("code");
    /// let rows = &b"size,code\n1,1\n2,1.0\n"[..];
    /// let error = reader.read_from("rows", rows).unwrap_err();
    /// assert!(error.to_string().contains("the labels `1` and `1.0`, which are one number"));
    /// assert_eq!(reader.nominal(["code"]).read_from("rows", rows)?.labels.classes(), ["1", "1.0"]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn nominal<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.options.columns.nominal = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Columns to leave out. Default: none.
    #[must_use]
    pub fn drop<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.options.columns.drop = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Layout of the rows in memory. Default: [`Layout::Auto`].
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.options.layout = layout;
        self
    }

    /// The columns that the rows must have, with their kinds; others are not read. [`Model::reader`](crate::model::Model::reader)
    /// sets this. Default: all columns of the file.
    #[must_use]
    pub fn expect(mut self, columns: &[Column], naming: Naming) -> Self {
        self.options.columns.header = !matches!(naming, Naming::Position { .. });
        self.options.columns.expected = Some((columns.to_vec(), naming));
        self
    }

    /// Columns to read besides those of [`Reader::expect`], by their names: nominal ones, whatever they hold, except for the fractions
    /// of a Parquet file. Models take no notice of them. Default: none.
    ///
    /// ```
    /// use udeed::data::{Column, Kind, Naming};
    /// use udeed::format::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv).expect(&[Column::numeric("size")], Naming::Given);
    /// let sheet = reader.carry(&["id".into()]).read_from("rows", &b"id,size,colour\n007,1,red\n"[..])?;
    /// assert_eq!(sheet.table.columns()[0], Column::nominal("id", vec!["007".into()]));
    /// assert_eq!(sheet.table.columns().len(), 2);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn carry(mut self, columns: &[String]) -> Self {
        self.options.columns.carried = columns.to_vec();
        self
    }

    /// Chunk size: bytes of text that a thread parses at a time. The result does not depend on it. Default: half a
    /// mebibyte.
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv);
    /// let text = &b"size\n1\n2\n"[..];
    /// assert_eq!(reader.clone().chunk_size(4).read_from("rows", text)?, reader.read_from("rows", text)?);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn chunk_size(mut self, bytes: usize) -> Self {
        self.options.chunk_size = bytes;
        self
    }

    /// Longest line, or CSV record, in bytes of text, unzipped; one that ends within a chunk of 512 KiB always passes. A longer
    /// one is an error: it is most likely no text, and would take all memory. More than 16 MiB are also those of a quoted cell,
    /// at most, where otherwise the closing quote was most likely forgotten. Default: 64 MiB, 16 MiB of them in a quoted cell.
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    ///
    /// let endless = std::io::repeat(b'0');
    /// let error = Reader::new().format(Format::Csv).longest_line(1 << 20).read_from("zeros", endless).unwrap_err();
    /// assert_eq!(error.to_string(), "zeros, line 1: found a line longer than 1.0 MiB, expected a shorter one");
    /// ```
    #[must_use]
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.options.longest_line = bytes;
        self.options.largest_cell = bytes.max(LARGEST_CELL);
        self
    }

    /// Largest number of columns of a CSV or ARFF file; indices of LIBSVM files end at 2147483647. Default: 1048576.
    #[must_use]
    pub fn most_columns(mut self, columns: usize) -> Self {
        self.options.most_columns = columns;
        self
    }

    /// Most memory for the rows that [`Reader::read`] keeps, in bytes: more rows are an error. Default:
    /// [`half_of_memory`](crate::memory::half_of_memory).
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    ///
    /// let reader = Reader::new().format(Format::Csv).memory(20);
    /// assert!(reader.read_from("rows", &b"size\n1\n2\n"[..]).is_ok());
    /// assert!(reader.read_from("rows", &b"size\n1\n2\n3\n"[..]).is_err());
    /// ```
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.options.memory = Some(bytes);
        self
    }

    /// The same without a limit of one's own.
    pub(super) fn any_memory(mut self) -> Self {
        self.options.memory = None;
        self
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, changes meanwhile, its format is not known, it is not well-formed, or exceeds a limit: see
    /// [`Reader::longest_line`], [`Reader::most_columns`] and [`Reader::memory`].
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("rows.csv");
    /// std::fs::write(&path, "size,ok\n1,yes\nbig,no\n").unwrap();
    /// let error = Reader::new().label("ok").read(&path).unwrap_err();
    /// assert!(error.to_string().ends_with("line 3, column `size`: found `big`, expected a number, like `1` in line 2"));
    /// ```
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Sheet> {
        let path = path.as_ref();
        read_file(path, |source| self.read_source(source, &path.display().to_string()))
    }

    /// Reads a stream, with a name for messages.
    ///
    /// # Errors
    /// As [`Reader::read`]; the format must have been set.
    pub fn read_from(&self, name: &str, bytes: impl Read) -> Result<Sheet> {
        self.read_source(Source::new(name.to_owned(), bytes)?, name)
    }

    /// Reads a file into memory if there is room for its rows, else into a temporary file. The table is the same as that of
    /// [`Reader::read`].
    ///
    /// # Errors
    /// As [`Reader::read`]; also if there is not enough room and no folder, or the folder cannot be written to.
    ///
    /// ```
    /// use udeed::data::HeldTable;
    /// use udeed::format::Reader;
    /// use udeed::memory::Room;
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
        read_file(path, |source| self.hold_source(source, &path.display().to_string(), room))
    }

    /// Reads files one after the other, as if their rows were in one. Their columns may stand in any order; the rows must be dense.
    ///
    /// # Errors
    /// As [`Reader::hold`]; also if a file has rows that are not dense, or other columns than the first.
    ///
    /// ```
    /// use udeed::data::HeldTable;
    /// use udeed::format::Reader;
    /// use udeed::memory::Room;
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let paths = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
    /// std::fs::write(&paths[0], "size,colour\n1,red\n").unwrap();
    /// std::fs::write(&paths[1], "colour,size\nblue,2\n").unwrap();
    /// let held = Reader::new().hold_all(&paths, Room { most: 1 << 20, folder: None })?;
    /// let HeldTable::InMemory(table) = held.table else { panic!("a small table") };
    /// assert_eq!(table.columns()[1], udeed::data::Column::nominal("colour", vec!["blue".into(), "red".into()]));
    /// assert_eq!(table.matrix().to_dense()?.values(), [1.0, 1.0, 2.0, 0.0]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn hold_all<P: AsRef<Path>>(&self, paths: &[P], room: Room<'_>) -> Result<HeldSheet> {
        let names: Vec<String> = paths.iter().map(|path| path.as_ref().display().to_string()).collect();
        let first = names.first().map_or("no file", String::as_str);
        let mut all = UnitedSink::new(first, room);
        let mut label = None;
        for (path, name) in paths.iter().zip(&names) {
            all.begin(name);
            let schema = read_file(path.as_ref(), |source| self.fill(&self.options, source, name, &mut all))?;
            label = label.or(schema.label);
        }
        Ok(HeldSheet { label, ..all.into_sheet(self.options.layout)? })
    }

    /// Like [`Reader::hold`] for a stream, with a name for messages. It is read only once.
    ///
    /// # Errors
    /// As [`Reader::hold`]; the format must have been set.
    pub fn hold_from(&self, name: &str, bytes: impl Read, room: Room<'_>) -> Result<HeldSheet> {
        self.hold_source(Source::new(name.to_owned(), bytes)?, name, room)
    }

    /// Reads a file of labeled and unlabeled rows: into memory if there is room for them, else the labeled rows into memory and
    /// the unlabeled ones into a temporary file.
    ///
    /// # Errors
    /// As [`Reader::read`] for the rows in memory; also if the temporary file cannot be written.
    ///
    /// ```
    /// use udeed::format::Reader;
    /// use udeed::memory::Room;
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("rows.csv");
    /// std::fs::write(&path, "size,ok\n1,\n2,yes\n3,\n4,no\n").unwrap();
    /// let room = |most| Room { most, folder: Some(folder.path()) };
    /// let whole = Reader::new().label("ok").part(&path, room(1 << 20))?;
    /// assert!(whole.unlabeled.is_none() && whole.sheet.table.n_rows() == 4);
    /// let parted = Reader::new().label("ok").part(&path, room(64))?;
    /// assert_eq!(parted.sheet.labels.classes(), ["no", "yes"]);
    /// assert_eq!((parted.positions, parted.unlabeled.unwrap().n_rows()), (vec![1, 3], 2));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn part(&self, path: impl AsRef<Path>, room: Room<'_>) -> Result<PartedSheet> {
        let path = path.as_ref();
        read_file(path, |source| self.part_source(source, &path.display().to_string(), room))
    }

    /// Like [`Reader::part`] for a stream, with a name for messages. It is read only once.
    ///
    /// # Errors
    /// As [`Reader::part`]; the format must have been set.
    pub fn part_from(&self, name: &str, bytes: impl Read, room: Room<'_>) -> Result<PartedSheet> {
        self.part_source(Source::new(name.to_owned(), bytes)?, name, room)
    }

    /// Reads a file, and calls `visit` with one table after the other: dense rows come a few thousand at a time, so that they
    /// need not fit into memory. Sparse rows come in one table, or in several from a temporary file where there is no room.
    ///
    /// The kinds of columns are those of [`Reader::expect`], else those of the rows so far; nominal columns have the levels
    /// that occur in the table. Labels are not kept.
    ///
    /// # Errors
    /// As [`Reader::hold`]; also if `visit` fails, whose error then names the row of the file: see [`Error::in_source`].
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    /// use udeed::memory::Room;
    ///
    /// let rows: String = (0..5000).map(|i| format!("{i}\n")).collect();
    /// let reader = Reader::new().format(Format::Csv).header(false).chunk_size(1000);
    /// let (mut most, mut all) = (0, 0);
    /// reader.for_each_table_from("rows", rows.as_bytes(), Room { most: 0, folder: None }, &mut |table| {
    ///     most = most.max(table.n_rows());
    ///     all += table.n_rows();
    ///     Ok(())
    /// })?;
    /// assert!(most < 600 && all == 5000);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn for_each_table_from(
        &self,
        name: &str,
        bytes: impl Read,
        room: Room<'_>,
        visit: &mut dyn FnMut(&Table) -> Result<()>,
    ) -> Result<()> {
        self.visit_source(Source::new(name.to_owned(), bytes)?, name, room, visit)
    }

    /// Like [`Reader::for_each_table_from`] for a file.
    ///
    /// # Errors
    /// As [`Reader::for_each_table_from`].
    pub fn for_each_table(
        &self,
        path: impl AsRef<Path>,
        room: Room<'_>,
        visit: &mut dyn FnMut(&Table) -> Result<()>,
    ) -> Result<()> {
        let path = path.as_ref();
        read_file(path, |source| self.visit_source(source, &path.display().to_string(), room, visit))
    }

    fn visit_source(
        &self,
        source: Source<'_>,
        name: &str,
        room: Room<'_>,
        visit: &mut dyn FnMut(&Table) -> Result<()>,
    ) -> Result<()> {
        let mut rows = TableSink::new(name, room, self.options.layout, visit);
        let schema = self.fill(&self.options, source, name, &mut rows)?;
        rows.finish(schema)
    }

    fn read_source(&self, source: Source<'_>, name: &str) -> Result<Sheet> {
        let mut rows = MemorySink::within(name, self.options.memory);
        // A clone: what is found out about the labels of a file concerns no other.
        let options = self.options.clone();
        let schema = self.fill(&options, source, name, &mut rows)?;
        schema.check_classes(name)?;
        let sheet = rows.into_sheet(schema, options.layout)?;
        Ok(Sheet { unused_mark: options.columns.unused_mark(), ..sheet })
    }

    fn hold_source(&self, source: Source<'_>, name: &str, room: Room<'_>) -> Result<HeldSheet> {
        let mut rows = BoundedSink::new(name, room);
        let schema = self.fill(&self.options, source, name, &mut rows)?;
        rows.into_sheet(schema, self.options.layout)
    }

    fn part_source(&self, source: Source<'_>, name: &str, room: Room<'_>) -> Result<PartedSheet> {
        let mut rows = PartingSink::new(name, room, self.options.memory);
        let options = self.options.clone();
        let schema = self.fill(&options, source, name, &mut rows)?;
        schema.check_classes(name)?;
        let mut parted = rows.into_sheet(schema, options.layout)?;
        parted.sheet.unused_mark = options.columns.unused_mark();
        Ok(parted)
    }

    /// Reads all rows into a sink.
    fn fill(
        &self,
        options: &ReadOptions,
        mut source: Source<'_>,
        name: &str,
        rows: &mut dyn RowSink,
    ) -> Result<Schema> {
        #[cfg(feature = "parquet")]
        if source.peek()?.starts_with(PARQUET) {
            return (Format::Parquet.card().read)(options, source, rows);
        }
        #[cfg(not(feature = "parquet"))]
        if source.peek()?.starts_with(PARQUET) {
            return Err(Error::input(Place::new(name), "a Parquet file", "text").with_hint(Hint::WithoutParquet));
        }
        let format = self.format.or_else(|| Format::of(name)).ok_or_else(|| {
            Error::input(
                Place::new(name),
                "a name that tells no format",
                format!("{}, also with `.gz`", Format::usual_extensions()),
            )
            .with_hint(Hint::Format)
        })?;
        (format.card().read)(options, source, rows)
    }
}

/// What every Parquet file begins with, and no text: the last byte is that of the first field of a header.
const PARQUET: &[u8] = b"PAR1\x15";
