//! Tables larger than memory.

use std::path::Path;
use std::sync::Arc;

use crate::data::renumbering::Renumbering;
use crate::data::{Column, Csr, Matrix, Naming, Spilled, SpilledBuilder, Table};
use crate::error::Result;

/// What a file holds whose rows are more than memory: a [`Table`] whose rows lie in a temporary file.
///
/// ```
/// use udeed::{Format, Reader};
///
/// let text = "size,colour\n1,red\n2,blue\n";
/// let folder = tempfile::tempdir().unwrap();
/// let table = Reader::new().format(Format::Csv).spill_from("rows", text.as_bytes(), folder.path())?.table;
/// assert_eq!((table.n_rows(), table.columns().len()), (2, 2));
/// table.for_each_piece(|piece| {
///     assert_eq!(piece.columns(), table.columns());
///     Ok(())
/// })?;
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug)]
pub struct SpilledTable {
    /// The columns of the file, and those of the table if they are others.
    pub(crate) read: Arc<[Column]>,
    pub(crate) kept: Option<Arc<[Column]>>,
    pub(crate) naming: Naming,
    pub(crate) rows: Spilled,
    /// What becomes of the values in the file.
    pub(crate) renumbering: Renumbering,
    /// Whether the pieces are sparse, whatever the rows in the file are.
    pub(crate) is_sparse: bool,
}

impl SpilledTable {
    /// Puts a table into a temporary file in a folder.
    pub(crate) fn new(table: Table, folder: &Path) -> Result<Self> {
        let mut rows = SpilledBuilder::new(folder)?;
        rows.push_in_pieces(table.matrix())?;
        Ok(SpilledTable {
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

    /// How many rows there are.
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

    /// Whether the rows can go below those of a table.
    ///
    /// # Errors
    /// If a column is missing, or holds another kind of values.
    pub(crate) fn check_fits(&self, table: &Table) -> Result<()> {
        let none = Csr::empty(self.columns().len()).into();
        let columns = self.shared_columns();
        let empty = Table::from_reader(Arc::clone(columns), self.naming, none);
        empty.conform(&table.united(columns, self.naming)).map(|_| ())
    }

    /// Calls `visit` with some rows at a time, in order, each time with all columns.
    ///
    /// # Errors
    /// If the file cannot be read, or `visit` fails.
    pub fn for_each_piece(&self, mut visit: impl FnMut(&Table) -> Result<()>) -> Result<()> {
        for range in self.rows.ranges() {
            let n_columns = self.read.len();
            let rows = match self.rows.matrix(range)? {
                Matrix::Dense(mut rows) => {
                    rows.rows_mut().for_each(|row| self.renumbering.dense(row, n_columns));
                    Matrix::Dense(rows)
                }
                Matrix::Sparse(mut rows) => {
                    self.renumbering.sparse(&mut rows, n_columns);
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
/// See [`Room`] for an example.
#[derive(Debug)]
pub enum HeldTable {
    /// There was room in memory.
    InMemory(Table),
    /// There was not.
    InFile(SpilledTable),
}
