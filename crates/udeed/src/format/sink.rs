//! The rows of a file as they come together, chunk after chunk, in little more memory than they take in the end.

use std::path::Path;

use crate::data::{
    Blocks, Column, Csr, Dense, DiskRowsWriter, DiskTable, HeldTable, Labels, Matrix, Naming, Renumbering, Table,
    dense_size, sparse_size,
};
use crate::error::Result;
use crate::format::reader::{HeldSheet, Layout, Sheet};
use crate::memory::Room;

/// What was gathered from a file.
pub(super) struct Gathered<K> {
    pub(super) columns: Vec<Column>,
    pub(super) naming: Naming,
    /// Those of the columns that are kept, where not all are.
    pub(super) kept: Option<Vec<Column>>,
    pub(super) rows: K,
    /// What becomes of the values in [`Gathered::rows`].
    pub(super) renumbering: Renumbering,
    /// The names of the classes, by the numbers in the labels; `None` where the file has no labels.
    pub(super) classes: Option<Vec<String>>,
    /// The name of the column of the labels.
    pub(super) label: Option<String>,
}

/// Where rows go while a file is read.
pub(super) trait Keep {
    /// Adds the rows of the next chunk with their labels. `share` of the file was read so far, where that is known.
    fn keep(&mut self, rows: Matrix, labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()>;

    /// How many rows were added.
    fn n_rows(&self) -> usize;

    /// How many values of sparse rows are stored.
    fn n_stored(&self) -> usize;

    /// The columns of sparse rows in which something is stored, ascending.
    fn used_columns(&self) -> Result<Vec<u32>>;
}

/// Rows kept in memory: dense, until the first sparse chunk makes them all sparse.
#[derive(Default)]
pub(super) struct InMemory {
    n_rows: usize,
    dense: Vec<f64>,
    sparse: Option<Csr>,
    labels: Vec<Option<u32>>,
}

impl Keep for InMemory {
    fn keep(&mut self, rows: Matrix, mut labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()> {
        let n_columns = rows.rows().n_columns();
        let n_rows = rows.rows().n_rows();
        match (rows, &mut self.sparse) {
            (Matrix::Dense(rows), None) => {
                reserve(&mut self.dense, rows.values().len(), share);
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

/// Rows kept in a file. Of the labels it is only counted how many there are.
pub(super) struct InFile {
    rows: DiskRowsWriter,
    n_labeled: usize,
}

impl InFile {
    pub(super) fn new(folder: &Path) -> Result<Self> {
        Ok(InFile { rows: DiskRowsWriter::new(folder)?, n_labeled: 0 })
    }
}

impl Keep for InFile {
    fn keep(&mut self, rows: Matrix, labels: Vec<Option<u32>>, _: Option<f64>) -> Result<()> {
        self.n_labeled += labels.iter().flatten().count();
        self.rows.push(&rows)
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

/// Rows kept in memory as long as there is room, then in a file.
pub(super) struct WhereRoom<'a> {
    room: Room<'a>,
    source: &'a str,
    rows: Held,
}

enum Held {
    InMemory(InMemory),
    InFile(InFile),
}

impl<'a> WhereRoom<'a> {
    pub(super) fn new(source: &'a str, room: Room<'a>) -> Self {
        WhereRoom { room, source, rows: Held::InMemory(InMemory::default()) }
    }

    fn rows(&self) -> &dyn Keep {
        match &self.rows {
            Held::InMemory(rows) => rows,
            Held::InFile(rows) => rows,
        }
    }
}

impl Keep for WhereRoom<'_> {
    fn keep(&mut self, rows: Matrix, labels: Vec<Option<u32>>, share: Option<f64>) -> Result<()> {
        if let Held::InMemory(above) = &mut self.rows
            && !self.room.holds(above.n_rows + rows.rows().n_rows(), above.size() + rows.size())
        {
            self.rows = Held::InFile(std::mem::take(above).into_file(self.room.folder(self.source)?)?);
        }
        match &mut self.rows {
            Held::InMemory(above) => above.keep(rows, labels, share),
            Held::InFile(above) => above.keep(rows, labels, share),
        }
    }

    fn n_rows(&self) -> usize {
        self.rows().n_rows()
    }

    fn n_stored(&self) -> usize {
        self.rows().n_stored()
    }

    fn used_columns(&self) -> Result<Vec<u32>> {
        self.rows().used_columns()
    }
}

impl Gathered<WhereRoom<'_>> {
    /// The table in the layout that was asked for, in memory if there is room for it.
    pub(super) fn into_held(self, layout: Layout) -> Result<HeldSheet> {
        let (all, WhereRoom { room, source, rows }) = self.replace_rows(());
        match rows {
            Held::InMemory(rows) if room.holds(rows.n_rows, rows.size_in(all.columns.len(), layout)) => {
                let Sheet { table, labels, .. } = all.replace_rows(rows).0.into_sheet(layout)?;
                Ok(HeldSheet { table: HeldTable::InMemory(table), n_labeled: labels.n_labeled() })
            }
            Held::InMemory(rows) => {
                let rows = rows.into_file(room.folder(source)?)?;
                Ok(all.replace_rows(rows).0.into_held(layout))
            }
            Held::InFile(rows) => Ok(all.replace_rows(rows).0.into_held(layout)),
        }
    }
}

impl<K> Gathered<K> {
    /// The same with other rows, and the rows that were there.
    fn replace_rows<L>(self, rows: L) -> (Gathered<L>, K) {
        let Gathered { columns, naming, kept, rows: before, renumbering, classes, label } = self;
        (Gathered { columns, naming, kept, rows, renumbering, classes, label }, before)
    }
}

impl Gathered<InFile> {
    /// The table, in the layout that was asked for.
    fn into_held(self, layout: Layout) -> HeldSheet {
        let rows = self.rows.rows.finish();
        let is_sparse = match rows.is_sparse() {
            true => !layout.makes_dense(rows.n_rows(), self.columns.len(), rows.n_stored()),
            false => layout == Layout::Sparse,
        };
        let table = DiskTable {
            read: self.columns.into(),
            kept: self.kept.map(Into::into),
            naming: self.naming,
            rows,
            renumbering: self.renumbering,
            is_sparse,
        };
        HeldSheet { table: HeldTable::InFile(table), n_labeled: self.rows.n_labeled }
    }
}

/// Adds the columns that occur in sparse rows to those that are known.
pub(super) fn add_used(used: &mut Vec<u32>, rows: &Csr) {
    used.extend_from_slice(rows.columns());
    used.sort_unstable();
    used.dedup();
}

impl Gathered<InMemory> {
    /// The table and the labels, in the layout that was asked for.
    pub(super) fn into_sheet(mut self, layout: Layout) -> Result<Sheet> {
        let n_columns = self.columns.len();
        let labels = match self.classes {
            Some(classes) => Labels::from_codes(classes, std::mem::take(&mut self.rows.labels)),
            None => Labels::unlabeled(self.rows.n_rows),
        };
        self.renumbering.recode_dense(&mut self.rows.dense, n_columns);
        self.rows.sparse.iter_mut().for_each(|rows| self.renumbering.renumber_sparse(rows, n_columns));
        let mut table = Table::from_reader(self.columns.into(), self.naming, self.rows.into_matrix(n_columns, layout)?);
        if let Some(kept) = self.kept {
            table = table.conform(&kept.into())?.into_owned();
        }
        Ok(Sheet { table, labels, label: self.label })
    }
}

impl InMemory {
    /// How many bytes the rows take.
    fn size(&self) -> u64 {
        let dense = dense_size(1, self.dense.len());
        dense + self.sparse.as_ref().map_or(0, |rows| sparse_size(self.n_rows, rows.n_stored()))
    }

    /// How many bytes the rows take in the layout that was asked for.
    fn size_in(&self, n_columns: usize, layout: Layout) -> u64 {
        match &self.sparse {
            Some(rows) if layout.makes_dense(self.n_rows, n_columns, rows.n_stored()) => {
                dense_size(self.n_rows, n_columns)
            }
            _ => self.size(),
        }
    }

    /// The same rows in a file in a folder.
    fn into_file(self, folder: &Path) -> Result<InFile> {
        let mut file = InFile::new(folder)?;
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

    /// All rows in the layout that was asked for.
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

/// The same rows with only the values stored that are not zero, or as they are if they are sparse.
fn into_sparse(rows: Matrix) -> Csr {
    match rows {
        Matrix::Sparse(rows) => rows,
        dense => dense.to_sparse(),
    }
}

/// Makes room for more values. Where it is known how much of the file is still to come, there is room for all of it at
/// once: a vector that grows by doubling would for a moment take three times the data.
fn reserve(values: &mut Vec<f64>, more: usize, share: Option<f64>) {
    let needed = values.len() + more;
    if needed <= values.capacity() {
        return;
    }
    let expected = match share {
        Some(share) if share > 0.0 => needed as f64 / share * 1.02,
        _ => needed as f64 * 1.5,
    };
    // An estimate only: if that much cannot be had, what is needed now may be.
    let _ = values.try_reserve_exact((expected as usize).max(needed) - values.len());
}
