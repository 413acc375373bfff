//! Reading of Parquet rows: row groups one after the other, their columns in parallel, some thousand rows at a time.

use std::sync::Arc;

use parquet::column::reader::get_column_reader;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use crate::data::{ClassNames, Column as TableColumn, Dense, Dictionary, Kind, Renumbering, Table, check_names};
use crate::error::{Error, Hint, Place, Result};
use crate::format::column_plan::{ColumnOptions, ColumnPlan, FeatureKind};
use crate::format::options::ReadOptions;
use crate::format::parquet::column::{CellError, Cells, Column, Reader, Values};
use crate::format::parquet::file::{Bytes, DAMAGED, check_start, metadata};
use crate::format::parquet::guard::guarded;
use crate::format::parquet::pages::{Batch, PageMemory, Pages, general, unknown_packing};
use crate::format::sink::{RowSink, Schema};
use crate::format::source::Source;
use crate::memory::half_of_memory;
use crate::parallel;

/// Cells of a block. Few enough for a cache, many enough for threads.
const BLOCK: usize = 1 << 18;
/// Rows of a block, at most and at least.
const ROWS: (usize, usize) = (1 << 14, 64);

pub(super) fn read(options: &ReadOptions, mut source: Source<'_>, rows: &mut dyn RowSink) -> Result<Schema> {
    let place = source.place();
    // Before a stream is copied, which may have no end.
    check_start(source.peek()?, &place)?;
    let most = options.memory.unwrap_or(0).max(half_of_memory());
    let bytes = Bytes::new(source.into_file(most)?).map_err(|error| Error::io(place.source.as_ref(), "read", error))?;
    let metadata = metadata(&bytes, &place)?;
    let names = column_names(options, &metadata, &place)?;
    let plan = options.columns.plan(&names, || place.clone())?;
    if plan.features.is_empty() {
        return Err(Error::input(place, "no column beside the labels", "at least one to learn from"));
    }
    // Who takes tables wants no labels.
    let label = plan.label.filter(|_| !rows.takes_tables());
    let mut reader = ParquetReader {
        options: &options.columns,
        memory: options.memory,
        bytes: Arc::new(bytes),
        metadata: &metadata,
        plan: &plan,
        features: Vec::new(),
        label: None,
        classes: Dictionary::default(),
        place,
    };
    reader.features = (0..plan.features.len()).map(|j| reader.feature(j)).collect::<Result<_>>()?;
    reader.label = label.map(|position| reader.label(position)).transpose()?;
    reader.read_all(rows)?;
    if rows.n_rows() == 0 {
        return Err(Error::input(reader.place, "a file without rows", "rows"));
    }
    let label_is_number = reader.label.as_ref().is_some_and(|label| label.column.values != Values::Text);
    let class_names = if label_is_number && !plan.label_is_text { ClassNames::Numbers } else { plan.class_names() };
    Ok(reader.finish(class_names, plan.label.map(|position| names[position].clone())))
}

/// The names of the columns, which are fields of the schema.
fn column_names(options: &ReadOptions, metadata: &ParquetMetaData, place: &Place) -> Result<Vec<String>> {
    let fields = metadata.file_metadata().schema_descr().root_schema().get_fields();
    options.check_width(fields.len(), || place.clone())?;
    let names: Vec<String> = fields.iter().map(|field| field.name().trim().to_owned()).collect();
    let columns: Vec<TableColumn> = names.iter().map(TableColumn::numeric).collect();
    check_names(&columns, || place.clone())?;
    Ok(names)
}

/// A column, and what its cells become.
struct Reading {
    column: Column,
    cells: Cells,
    /// Reader of the present row group.
    reader: Option<Reader>,
    /// The cells of the present block.
    block: Vec<f64>,
}

impl Reading {
    fn read(&mut self, n: usize) -> std::result::Result<(), CellError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        guarded(|| reader.read(n, &mut self.cells, &mut self.block))
            .unwrap_or_else(|| Err(CellError::damaged(&general(DAMAGED))))
    }
}

struct ParquetReader<'a> {
    options: &'a ColumnOptions,
    /// Bytes that rows may take, if that was said.
    memory: Option<u64>,
    bytes: Arc<Bytes>,
    metadata: &'a ParquetMetaData,
    plan: &'a ColumnPlan,
    features: Vec<Reading>,
    label: Option<Reading>,
    classes: Dictionary,
    place: Place,
}

impl ParquetReader<'_> {
    /// The column at a position.
    fn column(&self, position: usize, name: &str) -> Result<Column> {
        let schema = self.metadata.file_metadata().schema_descr();
        let field = &schema.root_schema().get_fields()[position];
        let here = || self.place.clone().column(name);
        let unusable = |found: String| {
            Error::input(here(), found, "numbers, truth values or text").with_hint(Hint::Drop { column: name.into() })
        };
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == position);
        let leaf = leaf.ok_or_else(|| unusable("a column of structs".into()))?;
        let descriptor = schema.column(leaf);
        let values = Values::of(field, &descriptor).map_err(unusable)?;
        let packing = self.metadata.row_groups().iter().filter_map(|group| group.columns().get(leaf));
        if let Some(packing) = packing.map(ColumnChunkMetaData::compression).find_map(unknown_packing) {
            let found = format!("pages packed by {packing}");
            return Err(Error::input(here(), found, "Snappy, Zstandard, LZ4, gzip or none"));
        }
        Ok(Column { name: name.to_owned(), leaf, descriptor, values })
    }

    fn feature(&self, j: usize) -> Result<Reading> {
        let feature = &self.plan.features[j];
        let column = self.column(feature.source, &feature.name)?;
        let refused =
            |found: &str, expected: &str| Err(Error::input(self.place.clone().column(&column.name), found, expected));
        let cells = match feature.kind {
            Some(FeatureKind::Numeric) if column.values == Values::Text => {
                return refused("a column of text", "numbers, as in training");
            }
            Some(FeatureKind::Nominal) if !column.values.are_names() => {
                return refused("a column of fractions", "text or whole numbers, as it is nominal");
            }
            None if column.values == Values::Text => Cells::Names(Dictionary::default()),
            Some(FeatureKind::Nominal) => Cells::Names(Dictionary::default()),
            Some(FeatureKind::Carried) => column.exact_cells(),
            _ => Cells::Numbers,
        };
        Ok(Reading { column, cells, reader: None, block: Vec::new() })
    }

    fn label(&self, position: usize) -> Result<Reading> {
        let schema = self.metadata.file_metadata().schema_descr();
        let name = schema.root_schema().get_fields()[position].name().trim().to_owned();
        let column = self.column(position, &name)?;
        let cells = column.exact_cells();
        Ok(Reading { column, cells, reader: None, block: Vec::new() })
    }

    fn read_all(&mut self, rows: &mut dyn RowSink) -> Result<()> {
        let counts = self.metadata.row_groups().iter().map(|group| i128::from(group.num_rows()));
        let (counted, promised) = (counts.sum::<i128>(), i128::from(self.metadata.file_metadata().num_rows()));
        if counted != promised {
            let found = format!("{counted} rows in its row groups, {promised} in all");
            return Err(Error::input(self.place.clone(), found, "a whole Parquet file"));
        }
        let all = counted as f64;
        for group in self.metadata.row_groups() {
            let n_rows = self.open(group)?;
            let most = (BLOCK / self.features.len()).clamp(ROWS.1, ROWS.0) as u64;
            let mut left = n_rows;
            while left > 0 {
                let n = left.min(most);
                left -= n;
                self.read_block(n as usize, all, rows)?;
            }
        }
        Ok(())
    }

    /// Begins a row group, and returns the number of its rows.
    fn open(&mut self, group: &RowGroupMetaData) -> Result<u64> {
        let whole = "a whole Parquet file";
        let n_rows = u64::try_from(group.num_rows())
            .map_err(|_| Error::input(self.place.clone(), format!("{} rows", group.num_rows()), whole))?;
        let memory = Arc::new(PageMemory::new(self.bytes.length, self.memory));
        for reading in self.features.iter_mut().chain(&mut self.label) {
            let column = &reading.column;
            let refused = |found: String| Error::input(self.place.clone().column(&column.name), found, whole);
            let chunk = group.columns().get(column.leaf).ok_or_else(|| refused("a row group without it".into()))?;
            if chunk.num_values() != group.num_rows() {
                let found = format!("{} values in {n_rows} rows", chunk.num_values());
                return Err(refused(found));
            }
            let descriptor = Arc::clone(&column.descriptor);
            let batch = Arc::new(Batch::default());
            let (bytes, memory) = (Arc::clone(&self.bytes), Arc::clone(&memory));
            let pages = Pages::new(bytes, memory, Arc::clone(&batch), chunk, Arc::clone(&descriptor));
            let pages = pages.map_err(|error| refused(CellError::damaged(&error).found))?;
            reading.reader = Some(Reader::new(get_column_reader(descriptor, Box::new(pages)), column.values, batch));
        }
        Ok(n_rows)
    }

    /// Reads the next rows, of which `all` have been promised.
    fn read_block(&mut self, n: usize, all: f64, rows: &mut dyn RowSink) -> Result<()> {
        let above = rows.n_rows();
        let read = |reading: &mut Reading| reading.read(n).map_err(|error| (reading.column.name.clone(), error));
        let readings: Vec<&mut Reading> = self.features.iter_mut().chain(&mut self.label).collect();
        for result in parallel::map_owned(readings, read) {
            result.map_err(|(column, error)| {
                let place = self.place.clone().column(column);
                let row = error.row.map_or(above, |row| above + row) as u64 + 1;
                let refused = Error::input(place.row(row), error.found, error.expected);
                match error.hint {
                    Some(hint) => refused.with_hint(hint),
                    None => refused,
                }
            })?;
        }
        let values = interleaved(&self.features, n);
        let width = self.features.len();
        let rows_of_block = Dense::new(n, width, values)?.into();
        if rows.takes_tables() {
            // Each table has the levels that occur in it.
            let columns: Vec<TableColumn> = self.features.iter_mut().map(Reading::take_column).collect();
            return rows.push_table(Table::from_reader(columns.into(), self.plan.naming, rows_of_block));
        }
        let labels = self.labels()?;
        let levels: u64 = self.features.iter().map(Reading::words).sum();
        rows.count_words(levels + self.classes.size())?;
        let share = (above + n) as f64 / all;
        rows.push(rows_of_block, labels, Some(share.min(1.0)))
    }

    /// The labels of the block.
    fn labels(&mut self) -> Result<Vec<Option<u32>>> {
        let Some(label) = &mut self.label else { return Ok(Vec::new()) };
        let name =
            |text: &str, classes: &mut Dictionary| (!self.options.is_unlabeled(text)).then(|| classes.code(text));
        let Cells::Names(names) = &mut label.cells else {
            let mut cache: Vec<(u64, Option<u32>)> = Vec::new();
            let mut code = |x: f64| {
                if x.is_nan() {
                    return None;
                }
                if let Some((_, code)) = cache.iter().find(|(bits, _)| *bits == x.to_bits()) {
                    return *code;
                }
                // Adding 0 makes one of both zeros.
                let code = name(&(x + 0.0).to_string(), &mut self.classes);
                if cache.len() < 8 {
                    cache.push((x.to_bits(), code));
                }
                code
            };
            return Ok(label.block.iter().map(|&x| code(x)).collect());
        };
        // Each name once in a block: few are asked whether they mark unlabeled rows.
        let names = std::mem::take(names).into_names();
        let codes: Vec<Option<u32>> = names.iter().map(|text| name(text, &mut self.classes)).collect();
        Ok(label.block.iter().map(|&x| if x.is_nan() { None } else { codes[x as usize] }).collect())
    }

    fn finish(self, class_names: ClassNames, label: Option<String>) -> Schema {
        let mut renumbering = Renumbering::default();
        let mut columns = Vec::with_capacity(self.features.len());
        for (j, reading) in self.features.into_iter().enumerate() {
            columns.push(match reading.cells {
                Cells::Numbers => TableColumn::numeric(reading.column.name),
                Cells::Names(names) => {
                    let (levels, codes) = names.into_sorted();
                    renumbering.add_levels(j, codes);
                    TableColumn { name: reading.column.name, kind: Kind::Nominal { levels } }
                }
            });
        }
        Schema {
            columns,
            naming: self.plan.naming,
            kept: None,
            renumbering,
            classes: label.as_ref().map(|_| self.classes.into_names()),
            class_names,
            label,
        }
    }
}

impl Reading {
    /// Bytes of the levels so far.
    fn words(&self) -> u64 {
        match &self.cells {
            Cells::Numbers => 0,
            Cells::Names(names) => names.size(),
        }
    }

    /// The column with the levels of the present block.
    fn take_column(&mut self) -> TableColumn {
        match &mut self.cells {
            Cells::Numbers => TableColumn::numeric(&self.column.name),
            Cells::Names(names) => TableColumn::nominal(&self.column.name, std::mem::take(names).into_names()),
        }
    }
}

/// The cells of a block row by row.
fn interleaved(features: &[Reading], n: usize) -> Vec<f64> {
    /// Rows that are filled side by side: a line of the cache is filled before it is left.
    const STRETCH: usize = 64;
    /// Rows that a thread fills at a time.
    const PIECE: usize = 8 * STRETCH;
    let width = features.len();
    let blocks: Vec<&[f64]> = features.iter().map(|feature| &feature.block[..]).collect();
    let mut values = vec![0.0; n * width];
    parallel::chunks_mut(&mut values, width * PIECE, |piece, rows| {
        for (stretch, rows) in rows.chunks_mut(width * STRETCH).enumerate() {
            let start = piece * PIECE + stretch * STRETCH;
            for (j, block) in blocks.iter().enumerate() {
                let cells = &block[start..];
                rows[j..].iter_mut().step_by(width).zip(cells).for_each(|(value, &cell)| *value = cell);
            }
        }
    });
    values
}
