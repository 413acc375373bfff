//! Sinks: where the rows of a file go, chunk by chunk, in little more memory than they take in the end.

use std::path::Path;
use std::sync::Arc;

use crate::data::{
    Blocks, ClassNames, Column, Csr, Dense, Dictionary, DiskRowsWriter, DiskTable, HeldTable, Kind, Labels, Matrix,
    Naming, Renumbering, Table, dense_size, sparse_size, two_spellings,
};
use crate::error::{Error, Hint, Place, Result};
use crate::format::{HeldSheet, Layout, PartedSheet, Sheet};
use crate::memory::{FEW_WORDS, MUCH_MEMORY, Room, half_of_memory, too_many_rows};
use crate::text::quoted;

/// Description of the rows of a file, known once all of them are in a sink.
#[derive(Clone)]
pub(super) struct Schema {
    pub(super) columns: Vec<Column>,
    pub(super) naming: Naming,
    /// The columns that are kept, if not all are.
    pub(super) kept: Option<Vec<Column>>,
    /// New codes for what the rows in the sink hold.
    pub(super) renumbering: Renumbering,
    /// The classes by code; `None` if the file has no labels.
    pub(super) classes: Option<Vec<String>>,
    pub(super) class_names: ClassNames,
    /// Name of the label column.
    pub(super) label: Option<String>,
}

impl Schema {
    /// Refuses two names of one class: whether they are meant to be, only who wrote them knows.
    pub(super) fn check_classes(&self, source: &str) -> Result<()> {
        let names = self.classes.iter().filter(|_| self.class_names == ClassNames::Any);
        let Some([one, other]) = names.flat_map(|names| two_spellings(names)).next() else { return Ok(()) };
        let column = self.label.as_deref().unwrap_or_default();
        let found = format!("the labels {} and {}, which are one number", quoted(one), quoted(other));
        Err(Error::input(Place::new(source).column(column), found, "one way to write each class")
            .with_hint(Hint::Spellings { column: column.into() }))
    }
}

/// A sink for the rows of a file.
pub(super) trait RowSink {
    /// Appends the rows of the next chunk with their labels. `share` of the file was read so far, if that is known.
    fn push(&mut self, rows: Matrix, labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()>;

    /// Whether the next chunk, if its rows are dense, is to be a table of its own, with columns as far as they are known.
    fn takes_tables(&self) -> bool {
        false
    }

    /// Takes the next chunk as a table of its own, in place of [`RowSink::push`].
    fn push_table(&mut self, table: Table) -> Result<()> {
        self.push(table.into(), Vec::new(), None)
    }

    /// Refuses the rows if the words of their columns and labels, which the reader holds, take too much memory with them.
    fn count_words(&mut self, bytes: u64) -> Result<()>;

    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of stored values of sparse rows.
    fn n_stored(&self) -> usize;

    /// The columns of sparse rows with a stored value, ascending.
    fn used_columns(&self) -> Result<Vec<u32>>;
}

/// Keeps rows in memory: dense, until the first sparse chunk makes all of them sparse.
#[derive(Default)]
pub(super) struct MemorySink {
    n_rows: usize,
    /// Where the rows come from, and how many bytes they may take, if that is checked here.
    limit: Option<(String, Option<u64>)>,
    /// Bytes of words, which count where that is checked here.
    words: u64,
    dense: Vec<f64>,
    sparse: Option<Csr>,
    labels: Vec<Option<u32>>,
}

impl MemorySink {
    /// Refuses more rows than fit into the given number of bytes, or into half of the memory.
    pub(super) fn within(source: &str, most: Option<u64>) -> Self {
        MemorySink { limit: Some((source.to_owned(), most)), ..MemorySink::default() }
    }

    /// Refuses rows of this number of bytes, if they may not take them.
    fn check(&self, size: u64) -> Result<()> {
        let Some((source, most)) = &self.limit else { return Ok(()) };
        let size = size.saturating_add(self.words);
        // Few rows fit into any machine, and asking it takes longer than to read them.
        if most.is_none() && size < MUCH_MEMORY {
            return Ok(());
        }
        let most = most.unwrap_or_else(half_of_memory);
        if size <= most { Ok(()) } else { Err(too_many_rows(source, most, Hint::RowsOfFile)) }
    }
}

impl RowSink for MemorySink {
    fn push(&mut self, rows: Matrix, mut labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()> {
        self.check(self.size().saturating_add(rows.size()))?;
        let n_columns = rows.rows().n_columns();
        let n_rows = rows.rows().n_rows();
        match (rows, &mut self.sparse) {
            (Matrix::Dense(rows), None) => {
                let source = self.limit.as_ref().map_or("the rows", |(source, _)| source);
                reserve(&mut self.dense, rows.values().len(), share, source)?;
                self.dense.extend_from_slice(rows.values());
            }
            (rows, None) => {
                let above = Dense::new(self.n_rows, n_columns, std::mem::take(&mut self.dense))?;
                let mut all = Matrix::Dense(above).to_sparse();
                all.append(&into_sparse(rows));
                self.sparse = Some(all);
            }
            (rows, Some(all)) => {
                let rows = into_sparse(rows);
                if all.is_full(rows.n_stored())
                    && let Some(share) = share
                {
                    all.reserve_rest(share);
                }
                all.append(&rows);
            }
        }
        self.n_rows += n_rows;
        self.labels.append(&mut labels);
        Ok(())
    }

    fn count_words(&mut self, bytes: u64) -> Result<()> {
        self.words = if bytes > FEW_WORDS { bytes } else { 0 };
        self.check(self.size())
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_stored(&self) -> usize {
        self.sparse.as_ref().map_or(0, Csr::n_stored)
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        let mut used = Vec::new();
        self.sparse.iter().for_each(|rows| add_used(&mut used, rows));
        Ok(used)
    }
}

/// Keeps rows in a temporary file, and counts their labels.
struct DiskSink {
    rows: DiskRowsWriter,
    n_labeled: usize,
}

impl DiskSink {
    fn new(folder: &Path) -> Result<Self> {
        Ok(DiskSink { rows: DiskRowsWriter::new(folder)?, n_labeled: 0 })
    }
}

impl RowSink for DiskSink {
    fn push(&mut self, rows: Matrix, labels: Vec<Option<u32>>, _: Option<f64>) -> Result<()> {
        self.n_labeled += labels.iter().flatten().count();
        self.rows.push(&rows)
    }

    fn count_words(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn n_rows(&self) -> usize {
        self.rows.written().n_rows()
    }

    fn n_stored(&self) -> usize {
        self.rows.written().n_stored()
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        let rows = self.rows.written();
        let mut used = Vec::new();
        for range in rows.ranges() {
            if let Matrix::Sparse(rows) = rows.matrix(range)? {
                add_used(&mut used, &rows);
            }
        }
        Ok(used)
    }
}

/// Keeps rows in memory as long as there is room, then in a temporary file.
pub(super) struct BoundedSink<'a> {
    room: Room<'a>,
    source: &'a str,
    store: Store,
}

enum Store {
    Memory(MemorySink),
    Disk(DiskSink),
}

impl<'a> BoundedSink<'a> {
    pub(super) fn new(source: &'a str, room: Room<'a>) -> Self {
        BoundedSink { room, source, store: Store::Memory(MemorySink::default()) }
    }

    fn sink(&self) -> &dyn RowSink {
        match &self.store {
            Store::Memory(rows) => rows,
            Store::Disk(rows) => rows,
        }
    }
}

impl RowSink for BoundedSink<'_> {
    fn push(&mut self, rows: Matrix, labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()> {
        if let Store::Memory(above) = &mut self.store
            && !self.room.holds(above.n_rows + rows.rows().n_rows(), above.size() + rows.size())
        {
            self.store = Store::Disk(std::mem::take(above).into_file(self.room.folder(self.source)?)?);
        }
        match &mut self.store {
            Store::Memory(above) => above.push(rows, labels, share),
            Store::Disk(above) => above.push(rows, labels, share),
        }
    }

    /// Words stay in memory, also where the rows do not.
    fn count_words(&mut self, bytes: u64) -> Result<()> {
        if bytes <= self.room.most.max(FEW_WORDS) {
            return Ok(());
        }
        Err(too_many_rows(self.source, self.room.most, Hint::RowsOfFile))
    }

    fn n_rows(&self) -> usize {
        self.sink().n_rows()
    }

    fn n_stored(&self) -> usize {
        self.sink().n_stored()
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        self.sink().used_columns()
    }
}

impl BoundedSink<'_> {
    /// The table in the layout of the options, in memory if there is room for it.
    pub(super) fn into_sheet(self, schema: Schema, layout: Layout) -> Result<HeldSheet> {
        match self.store {
            Store::Memory(rows) if self.room.holds(rows.n_rows, rows.size_in(schema.columns.len(), layout)) => {
                let Sheet { table, labels, label, .. } = rows.into_sheet(schema, layout)?;
                Ok(HeldSheet { table: HeldTable::InMemory(table), n_labeled: labels.n_labeled(), label })
            }
            Store::Memory(rows) => Ok(rows.into_file(self.room.folder(self.source)?)?.into_sheet(schema, layout)),
            Store::Disk(rows) => Ok(rows.into_sheet(schema, layout)),
        }
    }
}

impl DiskSink {
    /// The table in the layout of the options.
    fn into_sheet(self, schema: Schema, layout: Layout) -> HeldSheet {
        let rows = self.rows.finish();
        let is_sparse = match rows.is_sparse() {
            true => !layout.makes_dense(rows.n_rows(), schema.columns.len(), rows.n_stored()),
            false => layout == Layout::Sparse,
        };
        let table = DiskTable {
            read: schema.columns.into(),
            kept: schema.kept.map(Into::into),
            naming: schema.naming,
            rows,
            renumbering: schema.renumbering,
            is_sparse,
        };
        HeldSheet { table: HeldTable::InFile(Arc::new(table)), n_labeled: self.n_labeled, label: schema.label }
    }
}

/// Keeps rows in memory as long as there is room. Then only labeled rows stay there, and unlabeled ones go to a temporary file.
pub(super) struct PartingSink<'a> {
    room: Room<'a>,
    source: &'a str,
    /// All rows, or the labeled ones.
    memory: MemorySink,
    unlabeled: Option<DiskSink>,
    /// Where the rows in memory stand in the file, once it is parted.
    positions: Vec<usize>,
}

impl<'a> PartingSink<'a> {
    pub(super) fn new(source: &'a str, room: Room<'a>, most: Option<u64>) -> Self {
        let memory = MemorySink::within(source, most);
        PartingSink { room, source, memory, unlabeled: None, positions: Vec::new() }
    }

    /// Moves the unlabeled rows out of memory.
    fn part(&mut self) -> Result<()> {
        let folder = self.room.folder(self.source)?;
        let (limit, words) = (self.memory.limit.clone(), self.memory.words);
        let above = std::mem::replace(&mut self.memory, MemorySink { limit, words, ..MemorySink::default() });
        self.unlabeled = Some(DiskSink::new(folder)?);
        let (n_rows, labels) = (above.n_rows, above.labels);
        let rows = match above.sparse {
            Some(rows) => Matrix::Sparse(rows),
            None if n_rows > 0 => Dense::new(n_rows, above.dense.len() / n_rows, above.dense)?.into(),
            None => return Ok(()),
        };
        self.push_parted(&rows, labels)
    }

    fn push_parted(&mut self, rows: &Matrix, labels: Vec<Option<u32>>) -> Result<()> {
        let first = self.n_rows();
        let n = rows.rows().n_rows();
        let is_labeled = |row: &usize| labels.get(*row).copied().flatten().is_some();
        let (labeled, unlabeled): (Vec<usize>, Vec<usize>) = (0..n).partition(is_labeled);
        if !labeled.is_empty() {
            self.positions.extend(labeled.iter().map(|row| first + row));
            let labels = labeled.iter().map(|&row| labels[row]).collect();
            self.memory.push(rows.select(&labeled), labels, None)?;
        }
        match &mut self.unlabeled {
            Some(file) if !unlabeled.is_empty() => file.rows.push_in_pieces(&rows.select(&unlabeled)),
            _ => Ok(()),
        }
    }

    pub(super) fn into_sheet(self, schema: Schema, layout: Layout) -> Result<PartedSheet> {
        let whole = |sheet| PartedSheet { sheet, unlabeled: None, positions: Vec::new() };
        let Some(file) = self.unlabeled else { return self.memory.into_sheet(schema, layout).map(whole) };
        let HeldTable::InFile(unlabeled) = file.into_sheet(schema.clone(), layout).table else {
            return self.memory.into_sheet(schema, layout).map(whole);
        };
        let mut sheet = self.memory.into_sheet(schema, layout)?;
        // Few rows may look dense: all are of one layout.
        if unlabeled.is_sparse() {
            sheet.table = sheet.table.into_sparse();
        }
        Ok(PartedSheet { sheet, unlabeled: Some(unlabeled), positions: self.positions })
    }
}

impl RowSink for PartingSink<'_> {
    fn push(&mut self, rows: Matrix, labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()> {
        let all = self.memory.n_rows + rows.rows().n_rows();
        if self.unlabeled.is_none() && !self.room.holds(all, self.memory.size() + rows.size()) {
            self.part()?;
        }
        match self.unlabeled {
            Some(_) => self.push_parted(&rows, labels),
            None => self.memory.push(rows, labels, share),
        }
    }

    fn count_words(&mut self, bytes: u64) -> Result<()> {
        self.memory.count_words(bytes)
    }

    fn n_rows(&self) -> usize {
        self.memory.n_rows() + self.unlabeled.as_ref().map_or(0, RowSink::n_rows)
    }

    fn n_stored(&self) -> usize {
        self.memory.n_stored() + self.unlabeled.as_ref().map_or(0, RowSink::n_stored)
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        let mut used = self.memory.used_columns()?;
        if let Some(file) = &self.unlabeled {
            used.extend(file.used_columns()?);
        }
        used.sort_unstable();
        used.dedup();
        Ok(used)
    }
}

/// Hands out dense rows chunk by chunk as tables, and keeps none. Sparse rows are held until the last one is there: only
/// then are their columns and their layout known.
pub(super) struct TableSink<'a> {
    visit: &'a mut dyn FnMut(&Table) -> Result<()>,
    source: &'a str,
    layout: Layout,
    /// Number of rows that were handed out.
    visited: usize,
    held: BoundedSink<'a>,
}

impl<'a> TableSink<'a> {
    pub(super) fn new(
        source: &'a str,
        room: Room<'a>,
        layout: Layout,
        visit: &'a mut dyn FnMut(&Table) -> Result<()>,
    ) -> Self {
        TableSink { visit, source, layout, visited: 0, held: BoundedSink::new(source, room) }
    }

    fn hand_out(&mut self, table: &Table) -> Result<()> {
        if table.n_rows() == 0 {
            return Ok(());
        }
        (self.visit)(table).map_err(|error| error.in_source(self.source, self.visited as u64))?;
        self.visited += table.n_rows();
        Ok(())
    }

    /// Hands out the rows that were held.
    pub(super) fn finish(mut self, schema: Schema) -> Result<()> {
        let source = self.source;
        let held = std::mem::replace(&mut self.held, BoundedSink::new(source, Room { most: 0, folder: None }));
        if held.n_rows() == 0 {
            return Ok(());
        }
        match held.into_sheet(schema, self.layout)?.table {
            HeldTable::InMemory(table) => self.hand_out(&table),
            HeldTable::InFile(table) => table.for_each_piece(|piece| self.hand_out(piece)),
        }
    }
}

impl RowSink for TableSink<'_> {
    fn push(&mut self, rows: Matrix, _: Vec<Option<u32>>, share: Option<f64>) -> Result<()> {
        self.held.push(rows, Vec::new(), share)
    }

    fn takes_tables(&self) -> bool {
        self.held.n_rows() == 0
    }

    fn push_table(&mut self, table: Table) -> Result<()> {
        if self.layout == Layout::Sparse {
            return self.hand_out(&table.into_sparse());
        }
        self.hand_out(&table)
    }

    fn count_words(&mut self, bytes: u64) -> Result<()> {
        self.held.count_words(bytes)
    }

    fn n_rows(&self) -> usize {
        self.visited + self.held.n_rows()
    }

    fn n_stored(&self) -> usize {
        self.held.n_stored()
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        self.held.used_columns()
    }
}

/// Unites the rows of several files, whose columns may have other levels and another order each.
pub(super) struct UnitedSink<'a> {
    held: BoundedSink<'a>,
    /// The file that is read, and the number of rows above it.
    file: String,
    above: usize,
    /// The columns of the first file, and the levels of all.
    columns: Vec<(String, Option<Dictionary>)>,
    naming: Naming,
    /// Whether any of the rows are dense.
    some_dense: bool,
}

impl<'a> UnitedSink<'a> {
    pub(super) fn new(source: &'a str, room: Room<'a>) -> Self {
        let held = BoundedSink::new(source, room);
        UnitedSink {
            held,
            file: String::new(),
            above: 0,
            columns: Vec::new(),
            naming: Naming::Given,
            some_dense: false,
        }
    }

    /// The next file.
    pub(super) fn begin(&mut self, file: &str) {
        self.file = file.to_owned();
        self.above = self.held.n_rows();
    }

    /// For each column of the first file the place of that of this table, and the codes of its levels in all files.
    fn places(&mut self, table: &Table) -> Result<Vec<(usize, Option<Vec<f64>>)>> {
        let own = table.columns();
        if self.columns.is_empty() {
            let column = |column: &Column| {
                let levels = matches!(column.kind, Kind::Nominal { .. }).then(Dictionary::default);
                (column.name.clone(), levels)
            };
            self.columns = own.iter().map(column).collect();
            self.naming = table.naming();
        }
        if own.len() != self.columns.len() {
            let expected = format!("{}, as in the first file", self.columns.len());
            return Err(Error::input(Place::new(&self.file), format!("{} columns", own.len()), expected));
        }
        let mut places = Vec::with_capacity(own.len());
        for (j, (name, levels)) in self.columns.iter_mut().enumerate() {
            let here = || Place::new(&self.file).column(name.as_str());
            let place = match own.get(j).is_some_and(|column| column.name == *name) {
                true => Some(j),
                false => own.iter().position(|column| column.name == *name),
            };
            let Some(place) = place else {
                return Err(Error::input(here(), "no such column", "it, as in the first file"));
            };
            let codes = match (&own[place].kind, levels) {
                (Kind::Numeric, None) => None,
                (Kind::Nominal { levels: own }, Some(all)) => {
                    Some(own.iter().map(|level| f64::from(all.code(level))).collect())
                }
                (Kind::Numeric, Some(_)) => return Err(Error::input(here(), "numbers", "text, as in the first file")),
                (Kind::Nominal { .. }, None) => {
                    return Err(Error::input(here(), "text", "numbers, as in the first file"));
                }
            };
            places.push((place, codes));
        }
        Ok(places)
    }

    /// Sparse if all rows are.
    pub(super) fn layout(&self) -> Layout {
        if self.some_dense { Layout::Dense } else { Layout::Sparse }
    }

    /// The rows of all files.
    pub(super) fn into_sheet(self, layout: Layout) -> Result<HeldSheet> {
        let mut renumbering = Renumbering::default();
        let mut columns = Vec::with_capacity(self.columns.len());
        for (j, (name, levels)) in self.columns.into_iter().enumerate() {
            columns.push(match levels {
                None => Column::numeric(name),
                Some(levels) => {
                    let (levels, codes) = levels.into_sorted();
                    renumbering.add_levels(j, codes);
                    Column { name, kind: Kind::Nominal { levels } }
                }
            });
        }
        let schema = Schema {
            columns,
            naming: self.naming,
            kept: None,
            renumbering,
            classes: None,
            class_names: ClassNames::Any,
            label: None,
        };
        self.held.into_sheet(schema, layout)
    }
}

impl RowSink for UnitedSink<'_> {
    fn push(&mut self, _: Matrix, _: Vec<Option<u32>>, _: Option<f64>) -> Result<()> {
        Err(Error::input(Place::new(&self.file), "sparse rows in one of several files", "dense rows, or one file"))
    }

    fn takes_tables(&self) -> bool {
        true
    }

    fn push_table(&mut self, table: Table) -> Result<()> {
        let places = self.places(&table)?;
        let words = self.columns.iter().filter_map(|(_, levels)| levels.as_ref()).map(Dictionary::size).sum();
        self.held.count_words(words)?;
        let is_plain = places.iter().enumerate().all(|(j, (place, codes))| j == *place && codes.is_none());
        let mut rows = match Matrix::from(table) {
            Matrix::Dense(rows) => rows,
            sparse if is_plain => return self.held.push(sparse, Vec::new(), None),
            sparse => sparse.to_dense()?,
        };
        self.some_dense = true;
        if !is_plain {
            let width = places.len();
            let mut values = vec![0.0; rows.values().len()];
            for (from, to) in rows.values().chunks_exact(width).zip(values.chunks_exact_mut(width)) {
                for (x, (place, codes)) in to.iter_mut().zip(&places) {
                    *x = match codes {
                        Some(codes) if !from[*place].is_nan() => codes[from[*place] as usize],
                        _ => from[*place],
                    };
                }
            }
            rows = Dense::new(values.len() / width, width, values)?;
        }
        self.held.push(rows.into(), Vec::new(), None)
    }

    fn count_words(&mut self, bytes: u64) -> Result<()> {
        self.held.count_words(bytes)
    }

    /// Those of the file that is read, by which its rows are counted.
    fn n_rows(&self) -> usize {
        self.held.n_rows() - self.above
    }

    fn n_stored(&self) -> usize {
        self.held.n_stored()
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        self.held.used_columns()
    }
}

/// Adds the columns with a stored value to those that are known.
fn add_used(used: &mut Vec<u32>, rows: &Csr) {
    used.extend_from_slice(rows.columns());
    used.sort_unstable();
    used.dedup();
}

impl MemorySink {
    /// The table and the labels, in the layout of the options.
    pub(super) fn into_sheet(mut self, schema: Schema, layout: Layout) -> Result<Sheet> {
        let n_columns = schema.columns.len();
        self.check(self.size_in(n_columns, layout))?;
        let labels = match schema.classes {
            Some(classes) => Labels::from_codes(classes, std::mem::take(&mut self.labels), schema.class_names),
            None => Labels::unlabeled(self.n_rows),
        };
        schema.renumbering.recode_dense(&mut self.dense, n_columns);
        self.sparse.iter_mut().for_each(|rows| schema.renumbering.renumber_sparse(rows, n_columns));
        let mut table = Table::from_reader(schema.columns.into(), schema.naming, self.into_matrix(n_columns, layout)?);
        if let Some(kept) = schema.kept {
            table = table.conform(&kept.into())?.into_owned();
        }
        Ok(Sheet { table, labels, label: schema.label, unused_mark: None })
    }

    /// Size in bytes.
    fn size(&self) -> u64 {
        let dense = dense_size(1, self.dense.len());
        dense + self.sparse.as_ref().map_or(0, |rows| sparse_size(self.n_rows, rows.n_stored()))
    }

    /// Size in bytes in the layout of the options.
    fn size_in(&self, n_columns: usize, layout: Layout) -> u64 {
        match &self.sparse {
            Some(rows) if layout.makes_dense(self.n_rows, n_columns, rows.n_stored()) => {
                dense_size(self.n_rows, n_columns)
            }
            _ => self.size(),
        }
    }

    /// Moves the rows into a temporary file in a folder.
    fn into_file(self, folder: &Path) -> Result<DiskSink> {
        let mut file = DiskSink::new(folder)?;
        file.n_labeled = self.labels.iter().flatten().count();
        match self.sparse {
            Some(rows) => file.rows.push_in_pieces(&rows.into())?,
            None if self.n_rows > 0 => {
                let n_columns = self.dense.len() / self.n_rows;
                file.rows.push_in_pieces(&Dense::new(self.n_rows, n_columns, self.dense)?.into())?;
            }
            None => {}
        }
        Ok(file)
    }

    /// The rows in the layout of the options.
    fn into_matrix(self, n_columns: usize, layout: Layout) -> Result<Matrix> {
        match self.sparse {
            Some(rows) if layout.makes_dense(self.n_rows, n_columns, rows.n_stored()) => Ok(rows.into_dense()?.into()),
            Some(rows) => Ok(rows.into()),
            None => {
                let rows = Matrix::Dense(Dense::new(self.n_rows, n_columns, self.dense)?);
                Ok(if layout == Layout::Sparse { rows.to_sparse().into() } else { rows })
            }
        }
    }
}

/// The same rows, sparse.
fn into_sparse(rows: Matrix) -> Csr {
    match rows {
        Matrix::Sparse(rows) => rows,
        dense => dense.to_sparse(),
    }
}

/// Reserves memory for more values. If the share of the file that was read is known, this is enough for the whole file: a
/// vector that grows by doubling would take three times the data for a moment.
///
/// # Errors
/// If not even the memory for these can be had.
fn reserve(values: &mut Vec<f64>, more: usize, share: Option<f64>, source: &str) -> Result<()> {
    let needed = values.len() + more;
    if needed <= values.capacity() {
        return Ok(());
    }
    let expected = match share {
        Some(share) if share > 0.0 => needed as f64 / share * 1.02,
        _ => needed as f64 * 1.5,
    };
    // Only an estimate: if that much memory is not there, what is needed now may be.
    let _ = values.try_reserve_exact((expected as usize).max(needed) - values.len());
    let refused =
        |_| Error::input(Place::new(source), "more rows than there is memory for", "fewer").with_hint(Hint::RowsOfFile);
    values.try_reserve_exact(more).map_err(refused)
}
