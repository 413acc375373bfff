//! Rows larger than memory: they lie in a temporary file and are read piece by piece.

mod rows;
mod table;

pub(crate) use rows::{DiskRows, DiskRowsWriter};
pub use table::{DiskTable, HeldTable};
