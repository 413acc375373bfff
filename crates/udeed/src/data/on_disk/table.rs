//! Tables larger than memory.

use std::path::Path;
use std::sync::Arc;

use crate::data::{Column, Csr, DiskRows, DiskRowsWriter, Matrix, Naming, Renumbering, Table};
use crate::error::Result;

/// A [`Table`] larger than memory: its rows lie in a temporary file.
///
/// ```
/// use udeed::data::HeldTable;
/// use udeed::format::{Format, Reader};
/// use udeed::memory::Room;
///
/// let text = "size,colour\n1,red\n2,blue\n";
/// let room = Room { most: 0, folder: Some(&std::env::temp_dir()) };
/// let held = Reader::new().format(Format::Csv).hold_from("rows", text.as_bytes(), room)?;
/// let HeldTable::InFile(table) = held.table else { panic!("there is no room in memory") };
/// assert_eq!((table.n_rows(), table.columns().len()), (2, 2));
/// table.for_each_piece(|piece| {
///     assert_eq!(piece.columns(), table.columns());
///     Ok(())
/// })?;
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug)]
pub struct DiskTable {
    /// The columns of the rows on disk, and those of the table if they differ.
    pub(crate) read: Arc<[Column]>,
    pub(crate) kept: Option<Arc<[Column]>>,
    pub(crate) naming: Naming,
    pub(crate) rows: DiskRows,
    /// New codes for what the rows on disk hold.
    pub(crate) renumbering: Renumbering,
    /// Whether pieces are sparse, which the rows on disk need not be.
    pub(crate) is_sparse: bool,
}

impl DiskTable {
    /// Writes a table into a temporary file in a folder.
    pub(crate) fn new(table: &Table, folder: &Path) -> Result<Self> {
        let mut rows = DiskRowsWriter::new(folder)?;
        rows.push_in_pieces(table.matrix())?;
        Ok(DiskTable {
            read: Arc::clone(table.shared_columns()),
            kept: None,
            naming: table.naming(),
            rows: rows.finish(),
            renumbering: Renumbering::default(),
            is_sparse: table.matrix().is_sparse(),
        })
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        self.shared_columns()
    }

    pub(crate) fn shared_columns(&self) -> &Arc<[Column]> {
        self.kept.as_ref().unwrap_or(&self.read)
    }

    /// How the columns got their names.
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// The folder of the temporary file.
    pub fn folder(&self) -> &Path {
        self.rows.folder()
    }

    /// Whether the rows are sparse.
    pub fn is_sparse(&self) -> bool {
        self.is_sparse
    }

    /// Checks that the rows can be appended to a table.
    ///
    /// # Errors
    /// If a column is missing, or holds another kind of values.
    pub(crate) fn check_fits(&self, table: &Table) -> Result<()> {
        let none = Csr::empty(self.columns().len()).into();
        let columns = self.shared_columns();
        let empty = Table::from_reader(Arc::clone(columns), self.naming, none);
        empty.conform(&table.united(columns, self.naming)).map(|_| ())
    }

    /// Calls `visit` with consecutive pieces of the rows, each with all columns.
    ///
    /// # Errors
    /// If the file cannot be read, or `visit` fails.
    pub fn for_each_piece(&self, mut visit: impl FnMut(&Table) -> Result<()>) -> Result<()> {
        for range in self.rows.ranges() {
            let n_columns = self.read.len();
            let rows = match self.rows.matrix(range)? {
                Matrix::Dense(mut rows) => {
                    rows.rows_mut().for_each(|row| self.renumbering.recode_dense(row, n_columns));
                    Matrix::Dense(rows)
                }
                Matrix::Sparse(mut rows) => {
                    self.renumbering.renumber_sparse(&mut rows, n_columns);
                    Matrix::Sparse(rows)
                }
            };
            let rows = match (self.is_sparse, &rows) {
                (true, Matrix::Dense(_)) => rows.to_sparse().into(),
                (false, Matrix::Sparse(_)) => rows.to_dense()?.into(),
                _ => rows,
            };
            let piece = Table::from_reader(Arc::clone(&self.read), self.naming, rows);
            match &self.kept {
                Some(kept) => visit(piece.conform(kept)?.as_ref())?,
                None => visit(&piece)?,
            }
        }
        Ok(())
    }
}

/// A table in memory or in a temporary file.
///
/// See [`Room`](crate::memory::Room) for an example.
#[derive(Debug)]
pub enum HeldTable {
    /// The rows fit into memory.
    InMemory(Table),
    /// They did not. Several rows to learn from may share the file.
    InFile(Arc<DiskTable>),
}
