//! Writing of Parquet records, cell by cell.

use std::collections::HashMap;
use std::io::{self, Write};
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::error::{Error, Result};
use crate::format::cells::not_written;

/// Rows of a row group: few enough to be read in little memory, many enough for pages of a usual size.
const ROWS: usize = 1 << 17;

/// Largest memory of the cells of a row group. With thousands of columns it has fewer rows, which else would take gigabytes.
const BYTES: usize = 128 << 20;

/// Memory of a cell that is a number.
const NUMBER: usize = size_of::<i16>() + size_of::<f64>();

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordColumn {
    /// Text.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Count,
}

/// Writes records into a Parquet file: the cells of one after those of the other. 131 072 of them are kept in memory, fewer where
/// they take more than 128 MiB.
///
/// ```
/// use udeed::format::{Format, Reader, RecordColumn, RecordWriter};
///
/// let mut file = Vec::new();
/// let columns = [("prediction", RecordColumn::Text), ("p(yes)", RecordColumn::Number)];
/// let mut records = RecordWriter::new(&mut file, columns)?;
/// for (class, p) in [("no", 0.25), ("yes", 0.75)] {
///     records.text(Some(class))?;
///     records.number(p)?;
/// }
/// records.finish()?;
/// let sheet = Reader::new().format(Format::Parquet).label("prediction").read_from("records", &file[..])?;
/// assert_eq!(sheet.labels.classes(), ["no", "yes"]);
/// # Ok::<(), udeed::Error>(())
/// ```
pub struct RecordWriter<'a> {
    out: &'a mut dyn Write,
    /// What was written and not yet handed on.
    bytes: SharedBytes,
    file: SerializedFileWriter<SharedBytes>,
    columns: Vec<Cells>,
    /// The column of the next cell.
    next: usize,
    n_rows: usize,
    /// Memory of the cells.
    n_bytes: usize,
}

/// The cells of a column in this row group. Those that are missing have a level of 0 and no value.
struct Cells {
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Text { values: Vec<ByteArray>, known: HashMap<String, ByteArray> },
    Number(Vec<f64>),
    Count(Vec<i64>),
}

impl<'a> RecordWriter<'a> {
    /// A writer of records with these columns.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new<S: AsRef<str>>(
        out: &'a mut dyn Write,
        columns: impl IntoIterator<Item = (S, RecordColumn)>,
    ) -> Result<Self> {
        let mut fields = Vec::new();
        let mut cells = Vec::new();
        for (name, kind) in columns {
            let (physical, logical, values) = match kind {
                RecordColumn::Text => {
                    let values = Values::Text { values: Vec::new(), known: HashMap::new() };
                    (Physical::BYTE_ARRAY, Some(LogicalType::String), values)
                }
                RecordColumn::Number => (Physical::DOUBLE, None, Values::Number(Vec::new())),
                RecordColumn::Count => (Physical::INT64, None, Values::Count(Vec::new())),
            };
            let field = Type::primitive_type_builder(name.as_ref(), physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical)
                .build();
            fields.push(Arc::new(field.map_err(failed)?));
            cells.push(Cells { levels: Vec::new(), values });
        }
        let schema = Type::group_type_builder("rows").with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("udeed version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let bytes = SharedBytes::default();
        let file = SerializedFileWriter::new(bytes.clone(), Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        Ok(RecordWriter { out, bytes, file, columns: cells, next: 0, n_rows: 0, n_bytes: 0 })
    }

    /// The next cell, of a column of text; `None` for a missing one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn text(&mut self, text: Option<&str>) -> Result<()> {
        let cells = &mut self.columns[self.next];
        cells.levels.push(i16::from(text.is_some()));
        self.n_bytes += size_of::<i16>() + size_of::<ByteArray>();
        if let (Some(text), Values::Text { values, known }) = (text, &mut cells.values) {
            let value = match known.get(text) {
                Some(value) => value.clone(),
                None => {
                    let value = ByteArray::from(text.as_bytes().to_vec());
                    known.insert(text.to_owned(), value.clone());
                    self.n_bytes += 2 * text.len();
                    value
                }
            };
            values.push(value);
        }
        self.advance()
    }

    /// The next cell, of a column of numbers; `NaN` for a missing one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn number(&mut self, number: f64) -> Result<()> {
        let cells = &mut self.columns[self.next];
        cells.levels.push(i16::from(!number.is_nan()));
        self.n_bytes += NUMBER;
        if let (false, Values::Number(values)) = (number.is_nan(), &mut cells.values) {
            values.push(number);
        }
        self.advance()
    }

    /// The next cell, of a column of whole numbers.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn count(&mut self, count: usize) -> Result<()> {
        let cells = &mut self.columns[self.next];
        cells.levels.push(1);
        self.n_bytes += NUMBER;
        if let Values::Count(values) = &mut cells.values {
            values.push(count as i64);
        }
        self.advance()
    }

    /// Writes what is left, and the end of the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.write_group()?;
        self.file.finish().map_err(failed)?;
        self.hand_on()
    }

    fn advance(&mut self) -> Result<()> {
        self.next += 1;
        if self.next < self.columns.len() {
            return Ok(());
        }
        self.next = 0;
        self.n_rows += 1;
        if self.n_rows < ROWS && self.n_bytes < BYTES { Ok(()) } else { self.write_group() }
    }

    fn write_group(&mut self) -> Result<()> {
        if self.n_rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        for cells in &mut self.columns {
            let levels = take(&mut cells.levels);
            match &mut cells.values {
                Values::Text { values, known } => {
                    known.clear();
                    write_column::<ByteArrayType>(&mut group, &take(values), &levels)
                }
                Values::Number(values) => write_column::<DoubleType>(&mut group, &take(values), &levels),
                Values::Count(values) => write_column::<Int64Type>(&mut group, &take(values), &levels),
            }
            .map_err(failed)?;
        }
        group.close().map_err(failed)?;
        (self.n_rows, self.n_bytes) = (0, 0);
        self.hand_on()
    }

    fn hand_on(&mut self) -> Result<()> {
        self.out.write_all(&self.bytes.take()).map_err(not_written)
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, SharedBytes>,
    values: &[T::T],
    levels: &[i16],
) -> std::result::Result<(), ParquetError> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("fewer columns than cells".into()))?;
    column.typed::<T>().write_batch(values, Some(levels), None)?;
    column.close()
}

fn failed(error: ParquetError) -> Error {
    not_written(io::Error::other(error))
}

/// Bytes that a writer leaves to be taken: it wants to own where it writes to.
#[derive(Clone, Default)]
struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    fn take(&self) -> Vec<u8> {
        take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
