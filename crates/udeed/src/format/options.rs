//! Options of readers and writers, as formats see them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Hint, Place, Result};
use crate::format::chunks::{CHUNK, LARGEST_CELL, LONGEST_LINE};
use crate::format::column_plan::ColumnOptions;

/// The layout in memory of rows that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Sparse, unless at least one value in six is stored: then dense, which is faster and can be shifted.
    #[default]
    Auto,
    /// Dense.
    Dense,
    /// Sparse, even if the file is dense.
    Sparse,
}

impl Layout {
    /// Whether sparse rows with `n_stored` stored values become dense.
    pub(super) fn makes_dense(self, n_rows: usize, n_columns: usize, n_stored: usize) -> bool {
        match self {
            Layout::Dense => true,
            Layout::Sparse => false,
            Layout::Auto => n_stored >= n_rows.saturating_mul(n_columns).div_ceil(6),
        }
    }
}

/// Options for reading.
#[derive(Debug, Clone)]
pub(super) struct ReadOptions {
    /// Delimiter of CSV cells, if it is not the usual one.
    pub(super) delimiter: Option<u8>,
    pub(super) columns: ColumnOptions,
    pub(super) layout: Layout,
    /// Bytes of text in a chunk.
    pub(super) chunk_size: usize,
    /// Bytes of text in a line, at most.
    pub(super) longest_line: usize,
    /// Bytes of a quoted CSV cell, at most.
    pub(super) largest_cell: usize,
    /// Columns of a file, at most.
    pub(super) most_columns: usize,
    /// Bytes of rows in memory, at most; half of the machine's if none.
    pub(super) memory: Option<u64>,
}

/// Default for the largest number of columns.
const MOST_COLUMNS: usize = 1 << 20;

impl Default for ReadOptions {
    fn default() -> Self {
        let columns = ColumnOptions::default();
        ReadOptions {
            delimiter: None,
            columns,
            layout: Layout::Auto,
            chunk_size: CHUNK,
            longest_line: LONGEST_LINE,
            largest_cell: LARGEST_CELL,
            most_columns: MOST_COLUMNS,
            memory: None,
        }
    }
}

impl ReadOptions {
    /// Refuses a file with more columns than it may have.
    pub(super) fn check_width(&self, columns: usize, place: impl FnOnce() -> Place) -> Result<()> {
        if columns <= self.most_columns {
            return Ok(());
        }
        let expected = format!("at most {}", self.most_columns);
        Err(Error::input(place(), format!("{columns} columns"), expected).with_hint(Hint::ManyColumns))
    }
}

/// Options for writing.
#[derive(Debug, Clone)]
pub(super) struct WriteOptions {
    /// Delimiter of CSV cells.
    pub(super) delimiter: u8,
}
